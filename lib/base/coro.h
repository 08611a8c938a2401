/* Coroutines: a stack of its own for a process, and the process-wide pool of such stacks.
 *
 * Used by the kernel's scheduler alone. Stacks are mapped with a guard region of 64 KiB below them and
 * reused through a bounded, locked pool. Switches are annotated for ASan, TSan (clang) and Valgrind. A coroutine may
 * be resumed on another thread than before, so nothing thread-local may be held across coro_yield.
 */
#ifndef LIBSHELL_CORO_H
#define LIBSHELL_CORO_H

#include "base.h"

typedef struct Coro Coro;

typedef enum {
    CORO_SMALL, /* 256 KiB: a pipeline stage running one command */
    CORO_MEDIUM, /* 1 MiB: a stage running shell code */
    CORO_LARGE, /* 64 MiB, touched as it is used: a main script */
} CoroSize;

/* A suspended coroutine that will call fn(arg) at its first resume. NULL: no memory or no stack (EAGAIN). */
Coro *coro_new(CoroSize size, void (*fn)(void *arg), void *arg);
/* Runs it until it yields or its function returns; true while it can be resumed again. */
bool coro_resume(Coro *c);
/* On the coroutine's own stack: back to who resumed it. */
void coro_yield(Coro *c);
/* Gives the stack back. The coroutine must have finished, or never have started. */
void coro_free(Coro *c);
/* Bytes left below the caller's frame; meaningful on the coroutine's own stack. */
size_t coro_room(const Coro *c);
/* Stacks kept for reuse, over all sizes; for tests and usage reports. */
size_t coro_pool_size(void);
void coro_pool_trim(void);

#endif
