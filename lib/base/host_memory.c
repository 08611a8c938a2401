/* host_memory: stack mappings and entropy, from Linux and macOS. */
#include "host.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#ifndef MAP_STACK
#define MAP_STACK 0
#endif
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

void *host_stack_map(size_t size, size_t guard)
{
    char *base = mmap(NULL, size + guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    if (mprotect(base + guard, size, PROT_READ | PROT_WRITE) != 0) {
        munmap(base, size + guard);
        return NULL;
    }
    return base + guard;
}

void host_stack_unmap(void *stack, size_t size, size_t guard) { munmap((char *)stack - guard, size + guard); }

void host_dump(void *start, size_t size, bool dumped)
{
    uintptr_t page = 4096, from = (uintptr_t)start & ~(page - 1), to = ((uintptr_t)start + size + page - 1) & ~(page - 1);
    madvise((void *)from, to - from, dumped ? MADV_DODUMP : MADV_DONTDUMP);
}

void host_discard(void *start, size_t size) { madvise(start, size, MADV_DONTNEED); }

void host_entropy(void *buf, size_t n)
{
    if (n <= 256 && getentropy(buf, n) == 0)
        return;
    /* No generator (an old kernel in a strange sandbox): the clock and an address are better than nothing. */
    unsigned char *out = buf;
    for (size_t i = 0; i < n; i++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        out[i] = (unsigned char)((unsigned long)now.tv_nsec * 2654435761u >> 13) ^ (unsigned char)((uintptr_t)&now >> 4);
    }
}

/* ---------- the process ---------- */

#ifdef MADV_WIPEONFORK
/* A page that the system clears in a child: the process id without a system call each time. NULL: not made yet. */
static _Atomic(_Atomic uint32_t *) process_page;

static _Atomic uint32_t *page_make(void)
{
    size_t size = 4096; /* the least; the system rounds up */
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    _Atomic uint32_t *none = NULL;
    if (madvise(page, size, MADV_WIPEONFORK) != 0 || !atomic_compare_exchange_strong(&process_page, &none, (_Atomic uint32_t *)page)) {
        munmap(page, size);
        return none;
    }
    return page;
}

uint32_t host_process(void)
{
    _Atomic uint32_t *page = atomic_load_explicit(&process_page, memory_order_acquire);
    if (unlikely(!page) && !(page = page_make()))
        return (uint32_t)getpid();
    uint32_t id = atomic_load_explicit(page, memory_order_relaxed);
    if (unlikely(!id))
        atomic_store_explicit(page, id = (uint32_t)getpid(), memory_order_relaxed);
    return id;
}
#else
uint32_t host_process(void) { return (uint32_t)getpid(); }
#endif
