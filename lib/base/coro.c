/* coro: stackful coroutines over a few lines of assembler, and the pool of their stacks.
 *
 * The Coro itself lies at the top of its stack, so making one takes no allocation beyond the stack. A stack goes back to the pool
 * as it is; only when it was used deeply are its lower pages handed back, which a few marker words below the usual depth tell.
 */
#include "coro.h"

#include <pthread.h>
#include <stdatomic.h>

#include "host.h"

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define TSAN 1
#endif
#endif

#ifdef ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef TSAN
#include <sanitizer/tsan_interface.h>
#endif
#ifdef HAVE_VALGRIND
#include <valgrind/valgrind.h>
#endif

struct Coro {
    void *sp;        /* where it is suspended */
    void *caller_sp; /* where its resumer is */
    void (*fn)(void *arg);
    void *arg;
    char *stack;     /* lowest usable byte */
    Coro *next;      /* in the pool */
    CoroSize size;
    bool finished;
#ifdef ASAN
    void *fake_stack, *caller_fake;
    const void *caller_bottom;
    size_t caller_size;
#endif
#ifdef TSAN
    void *fiber, *caller_fiber;
#endif
#ifdef HAVE_VALGRIND
    unsigned valgrind_id;
#endif
};

enum { GUARD = 64 * 1024, SHALLOW = 128 * 1024, MARKERS = 4, SIZES = 3 };
static const size_t stack_bytes[SIZES] = {256 * 1024, 1024 * 1024, 64 * 1024 * 1024};
static const size_t pool_most[SIZES] = {128, 64, 64};
static const uint64_t marker = 0x6c69627368656c6cu;

/* TSan keeps a shadow call stack a fiber: what switches fibers must not push on one and pop from the other. */
#ifdef TSAN
#define SWITCHES __attribute__((disable_sanitizer_instrumentation, noinline))
#define SWITCH_PART __attribute__((disable_sanitizer_instrumentation, always_inline)) inline
#else
#define SWITCHES
#define SWITCH_PART
#endif

/* ---- switching ---- */

/* Saves the callee-saved registers on the current stack, its pointer in *save, and goes on at `load`. */
void coro_swap(void **save, void *load) __attribute__((visibility("hidden")));
void coro_entry(void) __attribute__((visibility("hidden")));

#if defined(__x86_64__)
__asm__(".text\n.globl coro_swap\n.hidden coro_swap\n.type coro_swap,@function\n"
        "coro_swap:\n"
        "  endbr64\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size coro_swap,.-coro_swap\n"
        ".globl coro_entry\n.hidden coro_entry\n.type coro_entry,@function\n"
        "coro_entry:\n"
        "  movq %r12, %rdi\n"
        "  xorl %ebp, %ebp\n"
        "  callq *%r13\n"
        "  ud2\n"
        ".size coro_entry,.-coro_entry\n");

static void *first_frame(char *top, void (*start)(Coro *), Coro *c)
{
    void **sp = (void **)(void *)((uintptr_t)top & ~(uintptr_t)15);
    *--sp = NULL;               /* coro_entry starts with the stack aligned to 16, as before a call */
    *--sp = NULL;
    *--sp = (void *)coro_entry; /* where coro_swap returns to */
    *--sp = NULL;               /* rbp */
    *--sp = NULL;               /* rbx */
    *--sp = c;                  /* r12 */
    *--sp = (void *)start;      /* r13 */
    *--sp = NULL;               /* r14 */
    *--sp = NULL;               /* r15 */
    return sp;
}
#elif defined(__aarch64__)
__asm__(".text\n.globl coro_swap\n.hidden coro_swap\n.type coro_swap,%function\n"
        "coro_swap:\n"
        "  sub sp, sp, #176\n"
        "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #176\n"
        "  ret\n"
        ".size coro_swap,.-coro_swap\n"
        ".globl coro_entry\n.hidden coro_entry\n.type coro_entry,%function\n"
        "coro_entry:\n"
        "  mov x0, x19\n  mov x29, #0\n  blr x20\n  brk #1\n"
        ".size coro_entry,.-coro_entry\n");

static void *first_frame(char *top, void (*start)(Coro *), Coro *c)
{
    void **sp = (void **)(void *)(((uintptr_t)top & ~(uintptr_t)15) - 176);
    memset(sp, 0, 176);
    sp[0] = c;                  /* x19 */
    sp[1] = (void *)start;      /* x20 */
    sp[11] = (void *)coro_entry; /* x30 */
    return sp;
}
#else
#error "coro: this processor needs a coro_swap"
#endif

SWITCH_PART static void before_switch(Coro *c, bool inward)
{
#ifdef ASAN
    if (inward)
        __sanitizer_start_switch_fiber(&c->caller_fake, c->stack, stack_bytes[c->size]);
    else
        __sanitizer_start_switch_fiber(c->finished ? NULL : &c->fake_stack, c->caller_bottom, c->caller_size);
#endif
#ifdef TSAN
    if (inward)
        c->caller_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(inward ? c->fiber : c->caller_fiber, 0);
#endif
    (void)c;
    (void)inward;
}

SWITCH_PART static void after_switch(Coro *c, bool inward)
{
#ifdef ASAN
    if (inward)
        __sanitizer_finish_switch_fiber(c->fake_stack, &c->caller_bottom, &c->caller_size);
    else
        __sanitizer_finish_switch_fiber(c->caller_fake, NULL, NULL);
#endif
    (void)c;
    (void)inward;
}

SWITCHES static void coro_start(Coro *c)
{
    after_switch(c, true);
    c->fn(c->arg);
    c->finished = true;
    before_switch(c, false);
    coro_swap(&c->sp, c->caller_sp);
}

SWITCHES bool coro_resume(Coro *c)
{
    before_switch(c, true);
    coro_swap(&c->caller_sp, c->sp);
    after_switch(c, false);
    return !c->finished;
}

SWITCHES void coro_yield(Coro *c)
{
    before_switch(c, false);
    coro_swap(&c->sp, c->caller_sp);
    after_switch(c, true);
}

/* ---- the pool ---- */

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static Coro *pool[SIZES];
static size_t pool_count[SIZES];
static _Atomic uint32_t pool_process; /* whose pool it is; ADOPTING while that changes */
enum { ADOPTING = 1 };

/* After the host forked the lock may be held by a thread that is not here, and the lists half changed: the child begins an empty pool. */
static void pool_adopt(uint32_t seen, uint32_t now)
{
    while (seen != now) {
        if (seen != ADOPTING && atomic_compare_exchange_strong(&pool_process, &seen, ADOPTING)) {
            if (seen) {
                pthread_mutex_init(&pool_lock, NULL);
                memset(pool, 0, sizeof pool);
                memset(pool_count, 0, sizeof pool_count);
            }
            atomic_store(&pool_process, now);
            return;
        }
        seen = atomic_load(&pool_process);
    }
}

static void pool_enter(void)
{
    uint32_t now = host_process(), seen = atomic_load_explicit(&pool_process, memory_order_acquire);
    if (unlikely(seen != now))
        pool_adopt(seen, now);
    pthread_mutex_lock(&pool_lock);
}

static char *stack_top(const char *stack, CoroSize size)
{
    return (char *)(((uintptr_t)stack + stack_bytes[size] - sizeof(Coro)) & ~(uintptr_t)63);
}

static uint64_t *marker_at(const Coro *c, int i)
{
    return (uint64_t *)(void *)(c->stack + stack_bytes[c->size] - SHALLOW - 1024u * (unsigned)i);
}

static void markers_set(Coro *c)
{
    for (int i = 0; i < MARKERS; i++)
        *marker_at(c, i) = marker;
}

static bool used_deeply(const Coro *c)
{
    for (int i = 0; i < MARKERS; i++)
        if (*marker_at(c, i) != marker)
            return true;
    return false;
}

static Coro *pool_take(CoroSize size)
{
    pool_enter();
    Coro *c = pool[size];
    if (c) {
        pool[size] = c->next;
        pool_count[size]--;
    }
    pthread_mutex_unlock(&pool_lock);
    return c;
}

static void stack_release(Coro *c)
{
#ifdef HAVE_VALGRIND
    VALGRIND_STACK_DEREGISTER(c->valgrind_id);
#endif
#ifdef ASAN
    __lsan_unregister_root_region(c->stack, stack_bytes[c->size]);
#endif
    host_stack_unmap(c->stack, stack_bytes[c->size], GUARD);
}

static Coro *stack_make(CoroSize size)
{
    char *stack = host_stack_map(stack_bytes[size], GUARD);
    if (!stack)
        return NULL;
    Coro *c = (Coro *)(void *)stack_top(stack, size);
    c->stack = stack;
    c->size = size;
    markers_set(c);
#ifdef HAVE_VALGRIND
    c->valgrind_id = VALGRIND_STACK_REGISTER(stack, stack + stack_bytes[size]);
#endif
#ifdef ASAN
    __lsan_register_root_region(stack, stack_bytes[size]);
#endif
    return c;
}

Coro *coro_new(CoroSize size, void (*fn)(void *arg), void *arg)
{
    Coro *c = pool_take(size);
    if (!c)
        c = stack_make(size);
    if (!c)
        return NULL;
    c->fn = fn;
    c->arg = arg;
    c->finished = false;
#ifdef ASAN
    c->fake_stack = NULL;
#endif
#ifdef TSAN
    c->fiber = __tsan_create_fiber(0);
#endif
    c->sp = first_frame((char *)c, coro_start, c);
    return c;
}

void coro_free(Coro *c)
{
#ifdef TSAN
    __tsan_destroy_fiber(c->fiber);
#endif
    bool deep = used_deeply(c);
#ifdef ASAN /* only what was used: the shadow of all of a large stack is megabytes to write */
    char *used = deep ? c->stack : (char *)marker_at(c, MARKERS);
    __asan_unpoison_memory_region(used, (size_t)((char *)c - used));
#endif
    if (deep) {
        host_discard(c->stack, stack_bytes[c->size] - SHALLOW - 1024 * MARKERS);
        markers_set(c);
    }
    pool_enter();
    bool keep = pool_count[c->size] < pool_most[c->size];
    if (keep) {
        c->next = pool[c->size];
        pool[c->size] = c;
        pool_count[c->size]++;
    }
    pthread_mutex_unlock(&pool_lock);
    if (!keep)
        stack_release(c);
}

size_t coro_room(const Coro *c)
{
    char here;
    const char *at = &here;
    return at > c->stack ? (size_t)(at - c->stack) : 0;
}

size_t coro_pool_size(void)
{
    pool_enter();
    size_t n = pool_count[0] + pool_count[1] + pool_count[2];
    pthread_mutex_unlock(&pool_lock);
    return n;
}

void coro_pool_trim(void)
{
    for (int size = 0; size < SIZES; size++)
        for (Coro *c; (c = pool_take((CoroSize)size));)
            stack_release(c);
}
