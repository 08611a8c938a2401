/* proc: processes: birth, the run of their main under a guard, death, waiting, signals. */
#include "host.h"
#include "internal.h"
#include "lib/base/guard.h"

enum { STACK_MARGIN = 64 * 1024, LAST_SIGNAL = 64, LAST_PID = 4194303, WARM_SPARES = 4 };

/* ---------- the table ---------- */

static void memory_failed(void *user)
{
    Proc *p = user;
    Kernel *k = p->kernel;
    if (!p->guard)
        return; /* the kernel's own work outside a run: it checks for NULL */
    proc_raise(p, k->run.ending != RAISE_NONE ? k->run.ending : RAISE_MEMORY);
}

static Proc *proc_storage(Kernel *k)
{
    Proc *p = k->spare;
    if (!p) {
        p = mem_alloc(&k->mem, sizeof *p);
        if (p) {
            mem_init(&p->mem, &k->memory, NULL, NULL);
            mem_init(&p->keep, &k->memory, NULL, NULL);
        }
    } else {
        k->spare = p->next;
        k->nwarm -= p->mem.blocks || p->keep.blocks;
    }
    return p;
}

static bool pid_taken(const Kernel *k, pid_t pid)
{
    for (const Proc *p = k->procs; p; p = p->next)
        if (p->pid == pid)
            return true;
    return false;
}

static pid_t next_pid(Kernel *k)
{
    if (k->next_pid > LAST_PID) {
        k->next_pid = 2;
        k->pids_wrapped = true;
    }
    while (k->pids_wrapped && pid_taken(k, k->next_pid))
        k->next_pid++;
    return k->next_pid++;
}

Proc *proc_new(Kernel *k)
{
    Proc *p = proc_storage(k);
    if (!p)
        return NULL;
    Mem mem = p->mem, keep = p->keep;
    memset(p, 0, sizeof *p);
    p->mem = mem;
    p->keep = keep;
    p->mem.fail = p->keep.fail = memory_failed;
    p->mem.user = p->keep.user = p;
    p->kernel = k;
    p->pid = next_pid(k);
    p->out = &p->outputs[0];
    p->err = &p->outputs[1];
    output_init(p, p->out, 1);
    output_init(p, p->err, 2);
    p->next = k->procs;
    if (p->next)
        p->next->prev = p;
    k->procs = p;
    k->nprocs++;
    return p;
}

void proc_remove(Proc *p)
{
    Kernel *k = p->kernel;
    if (p->prev)
        p->prev->next = p->next;
    else
        k->procs = p->next;
    if (p->next)
        p->next->prev = p->prev;
    k->nprocs--;
    if (k->nwarm < WARM_SPARES) {
        mem_recycle(&p->mem);
        mem_recycle(&p->keep);
        k->nwarm += p->mem.blocks || p->keep.blocks;
    } else { /* a deep recursion leaves thousands: their memory goes, the cold ones lie behind the warm */
        mem_drop(&p->mem);
        mem_drop(&p->keep);
    }
    p->next = k->spare;
    k->spare = p;
}

void proc_free_all(Kernel *k)
{
    while (k->procs) {
        Proc *p = k->procs;
        proc_close_all(p);
        proc_remove(p);
    }
    for (Proc *p = k->spare; p; p = p->next) {
        mem_drop(&p->mem);
        mem_drop(&p->keep);
    }
    k->spare = NULL;
}

/* ---------- owned things ---------- */

void proc_own(Proc *p, void (*release)(Proc *p, void *thing), void *thing)
{
    void (*fail)(void *) = p->keep.fail;
    p->keep.fail = NULL;
    Owned *o = mem_alloc(&p->keep, sizeof *o);
    p->keep.fail = fail;
    if (!o) {
        release(p, thing);
        memory_failed(p->keep.user); /* an embryo's parent */
        return;
    }
    *o = (Owned){p->owned, release, thing};
    p->owned = o;
}

void proc_disown(Proc *p, void *thing)
{
    for (Owned **link = &p->owned; *link; link = &(*link)->next)
        if ((*link)->thing == thing) {
            Owned *o = *link;
            *link = o->next;
            o->release(p, thing);
            return;
        }
}

static void free_mem(Proc *p, void *thing)
{
    (void)p;
    mem_drop(thing);
}

Mem *proc_mem_new(Proc *p)
{
    Mem *m = mem_alloc(&p->keep, sizeof *m);
    mem_init(m, p->keep.budget, memory_failed, p);
    proc_own(p, free_mem, m);
    return m;
}

void proc_mem_drop(Proc *p, Mem *m) { proc_disown(p, m); }

static void free_regex(Proc *p, void *thing)
{
    (void)p;
    re_unref(thing);
}

Re *proc_regex(Proc *p, Slice pattern, ReSyntax syntax, unsigned flags, ReError *err)
{
    Kernel *k = p->kernel;
    if (!k->regex && !(k->regex = re_cache_new(&k->memory, 64)))
        memory_failed(p->keep.user);
    Re *re = re_cached(k->regex, &p->keep, pattern, syntax, flags, err);
    if (!re)
        return NULL;
    for (Owned *o = p->owned; o; o = o->next)
        if (o->thing == re) { /* this process holds it already */
            re_unref(re);
            return re;
        }
    proc_own(p, free_regex, re);
    return re;
}

static void tick_for_regex(void *user, uint64_t cost) { proc_tick(user, cost); }

ReEnv proc_re_env(Proc *p) { return (ReEnv){.tick = tick_for_regex, .user = p, .mem = &p->mem}; }

bool proc_stack_room(const Proc *p, size_t bytes) { return !p->task || coro_room(p->task->coro) > bytes; }

/* ---------- birth ---------- */

static int too_many(const Proc *p)
{
    const Kernel *k = p->kernel;
    uint64_t most = kern_limit(k, LIMIT_PROCESSES);
    return GUARD(RUN_PROCESSES, most && k->nprocs >= most);
}

Proc *proc_child(Proc *p, int *error)
{
    Kernel *k = p->kernel;
    *error = -EAGAIN;
    if (too_many(p))
        return NULL;
    output_flush(p->out);
    Proc *c = proc_new(k);
    *error = -ENOMEM;
    if (!c)
        return NULL;
    c->parent = p;
    c->name = p->name;
    c->fds = fds_ref(p->fds);
    c->cwd = vfs_dir_ref(p->cwd);
    c->cred = p->cred;
    c->env = p->env;
    c->pgid = p->pgid;
    c->ignored = p->ignored;
    c->depth = p->depth;
    c->mem.user = c->keep.user = p; /* until it runs, what is allocated in it is allocated by its parent */
    return c;
}

void proc_discard(Proc *child)
{
    proc_close_all(child);
    proc_remove(child);
}

void proc_discard_unborn(Kernel *k)
{
    for (Proc *p = k->procs, *next; p; p = next) {
        next = p->next;
        if (!p->started)
            proc_discard(p);
    }
}

/* ---------- death ---------- */

void proc_forget_ended(Proc *p)
{
    for (Proc *c = p->kernel->procs, *next; c; c = next) {
        next = c->next;
        if (c->parent == p && c != p && c->ended && !c->task)
            proc_remove(c);
    }
}

static void orphan_children(Proc *p)
{
    for (Proc *c = p->kernel->procs, *next; c; c = next) {
        next = c->next;
        if (c->parent != p || c == p)
            continue;
        c->parent = NULL;
        c->orphan = true;
        if (c->ended && !c->task)
            proc_remove(c);
        else if (!c->started && !c->caller && !c->ended)
            proc_discard(c);
    }
}

void proc_close_all(Proc *p)
{
    while (p->owned) {
        Owned *o = p->owned;
        p->owned = o->next;
        o->release(p, o->thing);
    }
    fds_unref(p->kernel, p->fds);
    p->fds = NULL;
    vfs_dir_unref(p->kernel->vfs, p->cwd);
    p->cwd = NULL;
}

void proc_end(Proc *p)
{
    p->wstatus = p->signal ? p->signal : WSTATUS_EXIT(p->status);
    if (p->kernels_own)
        return;
    orphan_children(p);
    proc_close_all(p);
    p->ended = true;
    if (p->parent) {
        p->parent->children_ended++;
        queue_wake_all(&p->parent->child_ended);
    }
}

static void settle(Proc *p, RaiseKind kind)
{
    switch (kind) {
    case RAISE_NONE:
    case RAISE_EXIT:
    case RAISE_COMMAND:
        break;
    case RAISE_SIGNAL:
        p->status = 128 + p->signal;
        break;
    case RAISE_DEADLINE:
        p->status = 124;
        break;
    case RAISE_CANCEL:
        p->status = 130;
        break;
    case RAISE_MEMORY:
        p->status = 137;
        break;
    case RAISE_LIMIT:
        p->status = p->kernel->run.deadlock ? 1 : 137;
        break;
    case RAISE_LANG:
        p->status = 1;
        break;
    }
}

void proc_run_main(Proc *p, ProcMain main, void *arg)
{
    Guard g;
    p->guard = NULL;
    p->mem.user = p->keep.user = p;
    RaiseKind kind = guard_enter(p, &g);
    if (!kind) {
        proc_deliver(p);
        int status = main(p, arg);
        p->status = status & 255;
        guard_leave(p, &g);
    }
    settle(p, kind);
    /* The last of its output; also at the end of the run, where it fits without waiting: what was printed before a limit is kept. */
    kind = guard_enter(p, &g);
    if (!kind) {
        p->masked++;
        if (!p->signal)
            output_flush(p->out);
        p->masked--;
        guard_leave(p, &g);
    }
    if (kind)
        settle(p, kind);
}

int proc_call(Proc *child, ProcMain main, void *arg)
{
    Proc *p = child->parent;
    Kernel *k = p->kernel;
    uint64_t most = kern_limit(k, LIMIT_DEPTH);
    if (GUARD(RUN_DEPTH, (most && p->depth >= most) || !proc_stack_room(p, STACK_MARGIN))) {
        proc_discard(child);
        proc_limit(p, LIMIT_DEPTH);
    }
    Task *t = p->task;
    child->caller = p;
    child->task = t;
    child->started = true;
    child->depth = p->depth + 1;
    if (t)
        t->top = child;
    proc_run_main(child, main, arg);
    if (t)
        t->top = p;
    proc_end(child);
    int wstatus = child->wstatus;
    child->task = NULL;
    proc_remove(child);
    if (unlikely(k->run.ending != RAISE_NONE || p->pending || p->doomed || p->caller))
        proc_deliver(p);
    return wstatus;
}

pid_t proc_start(Proc *child, ProcMain main, void *arg, StackSize stack)
{
    pid_t pid = child->pid;
    Task *t = task_new(child->kernel, child, main, arg, stack);
    if (!t) {
        proc_discard(child);
        return -EAGAIN;
    }
    child->started = true;
    task_ready(t);
    return pid;
}

/* ---------- waiting ---------- */

static bool matches(const Proc *c, const Proc *parent, pid_t pid)
{
    if (c->parent != parent || c->caller || !c->started)
        return false;
    return pid == -1 || c->pid == pid || (pid < -1 && c->pgid == -pid) || (pid == 0 && c->pgid == parent->pgid);
}

/* The child that ended first among those that match: the table is newest first. */
static Proc *ended_child(Proc *p, pid_t pid, bool *any)
{
    Proc *found = NULL;
    *any = false;
    for (Proc *c = p->kernel->procs; c; c = c->next)
        if (matches(c, p, pid)) {
            *any = true;
            if (c->ended && !c->task)
                found = c;
        }
    return found;
}

pid_t proc_wait(Proc *p, pid_t pid, int *wstatus, int flags, int64_t nanoseconds)
{
    output_flush(p->out);
    int64_t until = nanoseconds < 0 ? -1 : timer_now(p->kernel) + nanoseconds;
    for (;;) {
        bool any;
        Proc *c = ended_child(p, pid, &any);
        if (c) {
            pid_t found = c->pid;
            if (wstatus)
                *wstatus = c->wstatus;
            proc_remove(c);
            return found;
        }
        if (!any)
            return -ECHILD;
        if (flags & WAIT_NOHANG)
            return 0;
        if (p->pending & p->collected)
            return -EINTR;
        WakeReason why = task_block(p, &p->child_ended, until);
        if (why == WAKE_TIMER && !ended_child(p, pid, &any))
            return -ETIMEDOUT;
        if (why == WAKE_SIGNAL)
            return -EINTR;
    }
}

/* ---------- signals ---------- */

static void send(Proc *target, int signal)
{
    if (signal == 0 || target->ended)
        return;
    target->pending |= SIGNAL_BIT(signal);
    kern_expire(target->kernel);
    Task *t = target->task;
    if (t && t != target->kernel->current) {
        t->wake = WAKE_SIGNAL;
        if (!t->ready)
            task_ready(t);
    }
}

int proc_kill(Proc *p, pid_t pid, int signal)
{
    if (signal < 0 || signal > LAST_SIGNAL)
        return -EINVAL;
    bool any = false;
    pid_t group = pid == 0 ? p->pgid : pid < -1 ? -pid : 0;
    for (Proc *t = p->kernel->procs; t; t = t->next) {
        if (t->ended || (!t->started && !t->kernels_own))
            continue;
        if (pid > 0 ? t->pid == pid : pid == -1 ? t != p : t->pgid == group) {
            any = true;
            send(t, signal);
        }
    }
    if (!any)
        return -ESRCH;
    proc_deliver(p);
    return 0;
}

void proc_setpgid(Proc *p, pid_t pgid) { p->pgid = pgid; }

void proc_catch(Proc *p, uint64_t signals) { p->collected |= signals; }

int proc_caught(Proc *p)
{
    uint64_t bits = p->pending & p->collected;
    if (!bits)
        return 0;
    int n = __builtin_ctzll(bits) + 1;
    p->pending &= ~SIGNAL_BIT(n);
    return n;
}

static const char *args_text(Proc *p, const Proc *o)
{
    if (!o->argc)
        return o->comm ? mem_strdup(&p->mem, o->comm) : "bash";
    Buf b;
    buf_init(&b, &p->mem, BUF_MAX);
    for (int i = 0; i < o->argc; i++) {
        if (i)
            buf_char(&b, ' ');
        buf_append(&b, slice_str(o->argv[i]));
    }
    return mem_copy(&p->mem, buf_slice(&b));
}

size_t proc_list_all(Proc *p, ProcInfo **out)
{
    size_t n = 0;
    if (p->kernel->ready_first) /* what was just started becomes what it is to run */
        task_yield(p);
    for (Proc *o = p->kernel->procs; o; o = o->next)
        n += o->started && !o->ended;
    *out = mem_array(&p->mem, n + 1, ProcInfo);
    size_t at = n;
    for (Proc *o = p->kernel->procs; o && at; o = o->next) /* newest first */
        if (o->started && !o->ended)
            (*out)[--at] = (ProcInfo){o->pid, o->parent ? o->parent->pid : 1, o->pgid, o->cred.uid, o->cred.gid, o->comm ? mem_strdup(&p->mem, o->comm) : "bash", args_text(p, o), o->task == p->task};
    return n;
}
