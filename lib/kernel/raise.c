/* raise: guards and what ends a process. */
#include "internal.h"

void guard_push(Proc *p, Guard *g)
{
    g->outer = p->guard;
    g->masked = p->masked;
    p->guard = g;
}

void guard_leave(Proc *p, Guard *g) { p->guard = g->outer; }

void proc_raise(Proc *p, RaiseKind kind)
{
    if (kind == RAISE_MEMORY)
        run_end(p->kernel, RAISE_MEMORY, LIMIT_MEMORY);
    while (!p->guard && !p->started && p->parent)
        p = p->parent; /* what fails while an embryo is made is its parent's failure */
    Guard *g = p->guard;
    if (!g)
        __builtin_trap(); /* a raise outside any process is a bug of ours: there is no state to go back to */
    p->guard = g->outer;
    p->masked = g->masked;
    longjmp(g->jump, (int)kind);
}

void proc_exit(Proc *p, int status)
{
    p->status = status & 255;
    proc_raise(p, RAISE_EXIT);
}

void proc_fail(Proc *p, int status)
{
    p->status = status & 255;
    proc_raise(p, RAISE_COMMAND);
}
