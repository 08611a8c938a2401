/* host_memory: stack mappings and entropy, from Linux and macOS. */
#include "host.h"

#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

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
