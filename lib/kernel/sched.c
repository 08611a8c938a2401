/* sched: tasks, wait queues, timers, the tick.
 *
 * One first-in first-out queue of ready tasks and nothing else decides the order, so a run repeats. A task gives way when it blocks,
 * when it ends, or in proc_tick after a slice of a fixed number of steps while others are ready.
 */
#include "host.h"
#include "internal.h"
#include "lib/base/guard.h"
#include "policy.h"

enum { SLICE = 4000 /* cost units between looks at the clock */ };

/* ---------- queues ---------- */

void task_ready(Task *t)
{
    if (t->ready || t->done)
        return;
    Kernel *k = t->kernel;
    t->ready = true;
    t->next_ready = NULL;
    if (k->ready_last)
        k->ready_last->next_ready = t;
    else
        k->ready_first = t;
    k->ready_last = t;
}

static Task *ready_pop(Kernel *k)
{
    Task *t = k->ready_first;
    if (!t)
        return NULL;
    k->ready_first = t->next_ready;
    if (!k->ready_first)
        k->ready_last = NULL;
    t->ready = false;
    return t;
}

static void queue_add(WaitQueue *q, Task *t)
{
    t->queue = q;
    t->queue_next = NULL;
    t->queue_prev = q->last;
    if (q->last)
        q->last->queue_next = t;
    else
        q->first = t;
    q->last = t;
}

static void queue_remove(Task *t)
{
    WaitQueue *q = t->queue;
    if (!q)
        return;
    if (t->queue_prev)
        t->queue_prev->queue_next = t->queue_next;
    else
        q->first = t->queue_next;
    if (t->queue_next)
        t->queue_next->queue_prev = t->queue_prev;
    else
        q->last = t->queue_prev;
    t->queue = NULL;
}

static void timer_add(Task *t, int64_t at)
{
    Task **link = &t->kernel->timers;
    while (*link && (*link)->wake_at <= at)
        link = &(*link)->timer_next;
    t->wake_at = at;
    t->timer_next = *link;
    *link = t;
    t->timed = true;
}

static void timer_remove(Task *t)
{
    if (!t->timed)
        return;
    for (Task **link = &t->kernel->timers; *link; link = &(*link)->timer_next)
        if (*link == t) {
            *link = t->timer_next;
            break;
        }
    t->timed = false;
}

static void task_wake(Task *t, WakeReason why)
{
    queue_remove(t);
    timer_remove(t);
    t->wake = why;
    task_ready(t);
}

void queue_wake_one(WaitQueue *q)
{
    if (q->first)
        task_wake(q->first, WAKE_EVENT);
}

void queue_wake_all(WaitQueue *q)
{
    while (q->first)
        task_wake(q->first, WAKE_EVENT);
}

/* ---------- blocking ---------- */

WakeReason task_block(Proc *p, WaitQueue *q, int64_t until)
{
    Task *t = p->task;
    if (unlikely(p->masked && p->kernel->run.ending != RAISE_NONE))
        return WAKE_SIGNAL; /* clearing up after the end of the run must neither wait nor raise */
    if (proc_deliver(p))
        return WAKE_SIGNAL; /* a trap ran, and may have waited: the caller looks again */
    t->wake = WAKE_NONE;
    if (q)
        queue_add(q, t);
    if (until >= 0)
        timer_add(t, until);
    coro_yield(t->coro);
    queue_remove(t);
    timer_remove(t);
    proc_deliver(p);
    return t->wake;
}

void task_yield(Proc *p)
{
    Task *t = p->task;
    t->wake = WAKE_EVENT;
    task_ready(t);
    coro_yield(t->coro);
}

/* ---------- the tick ---------- */

static void refuel(Kernel *k)
{
    k->run.steps += (uint64_t)(k->refill - k->hot.fuel);
    uint64_t limit = k->run.limits.value[LIMIT_STEPS];
    int64_t slice = SLICE;
    if (limit && limit - MIN(limit, k->run.steps) < SLICE)
        slice = (int64_t)(limit - MIN(limit, k->run.steps));
    k->refill = k->hot.fuel = slice;
    if (GUARD(RUN_STEPS, limit && k->run.steps > limit))
        run_end(k, RAISE_LIMIT, LIMIT_STEPS);
}

void kern_expire(Kernel *k)
{
    k->refill -= k->hot.fuel;
    k->hot.fuel = 0;
}

static void look_around(Kernel *k)
{
    if (atomic_load_explicit(&k->policy_changed, memory_order_relaxed))
        policy_adopt(k);
    if (atomic_load_explicit(&k->cancelled, memory_order_relaxed))
        run_end(k, RAISE_CANCEL, LIMIT_COUNT);
    if (GUARD(RUN_TIME, k->run.deadline_ns >= 0 && host_monotonic() >= k->run.deadline_ns))
        run_end(k, RAISE_DEADLINE, LIMIT_TIME);
}

bool proc_due(Proc *p, uint64_t cost)
{
    Kernel *k = p->kernel;
    uint64_t limit = k->run.limits.value[LIMIT_STEPS];
    k->hot.fuel -= (int64_t)cost;
    return (limit && k->run.steps + (uint64_t)(k->refill - k->hot.fuel) > limit) || atomic_load_explicit(&k->cancelled, memory_order_relaxed) || (k->run.deadline_ns >= 0 && host_monotonic() >= k->run.deadline_ns);
}

static void timers_wake(Kernel *k)
{
    if (!k->timers)
        return;
    int64_t now = timer_now(k);
    while (k->timers && k->timers->wake_at <= now)
        task_wake(k->timers, WAKE_TIMER);
}

static bool output_waits(const Kernel *k) { return k->sink[0].pending_len || k->sink[1].pending_len || events_wait(k); }

/* Answers have come, or the step is to return: processes that never rest must not keep it from that. */
static bool host_waits(const Kernel *k)
{
    return atomic_load_explicit(&k->yields, memory_order_relaxed) || atomic_load_explicit(&k->woken, memory_order_relaxed);
}

void proc_tick_slow(Proc *p)
{
    Kernel *k = p->kernel;
    refuel(k);
    if (!k->current)
        return; /* outside a run: the embedder's own call */
    look_around(k);
    timers_wake(k);
    if (p->masked)
        return;
    proc_deliver(p);
    if (k->ready_first || output_waits(k) || host_waits(k)) {
        task_yield(p);
        proc_deliver(p);
    }
}

/* ---------- delivery ---------- */

/* CHLD, CONT, URG, WINCH do nothing by default; the stop signals need a terminal's job control and do nothing here. */
static bool harmless(int signal)
{
    return signal == 17 || signal == 18 || signal == 19 || signal == 20 || signal == 21 || signal == 22 || signal == 23 || signal == 28;
}

enum { SIGNAL_KILL = 9 };

/* The signal that is to end `p`, or 0. Harmless and ignored ones are dropped; caught ones are left for the hook. */
static int fatal_signal(Proc *p)
{
    uint64_t kept = p->caught | p->collected;
    for (uint64_t bits = p->pending; bits; bits &= bits - 1) {
        int n = __builtin_ctzll(bits) + 1;
        uint64_t bit = SIGNAL_BIT(n);
        if (n != SIGNAL_KILL && (kept & bit))
            continue;
        p->pending &= ~bit;
        if (n != SIGNAL_KILL && ((p->ignored & bit) || harmless(n)))
            continue;
        return n;
    }
    return 0;
}

static bool run_hooks(Proc *p)
{
    uint64_t due = p->pending & p->caught;
    const LangOps *lang = p->kernel->options.lang;
    if (!due || !p->lang || !lang || !lang->on_signal)
        return false;
    for (; due; due &= due - 1) {
        int n = __builtin_ctzll(due) + 1;
        p->pending &= ~SIGNAL_BIT(n);
        lang->on_signal(p, n);
    }
    return true;
}

bool proc_deliver(Proc *p)
{
    Kernel *k = p->kernel;
    if (unlikely(k->run.ending != RAISE_NONE))
        proc_raise(p, k->run.ending);
    for (Proc *outer = p->caller; outer; outer = outer->caller) {
        if (outer->pending && !outer->doomed && !outer->masked)
            outer->doomed = fatal_signal(outer);
        if (outer->doomed) { /* the call dies with its caller */
            p->signal = outer->doomed;
            proc_raise(p, RAISE_SIGNAL);
        }
    }
    if (p->pending && !p->doomed)
        p->doomed = fatal_signal(p);
    if (p->doomed) {
        p->signal = p->doomed;
        p->doomed = 0; /* its EXIT trap may still run */
        proc_raise(p, RAISE_SIGNAL);
    }
    return p->pending && run_hooks(p);
}

/* ---------- stepping ---------- */

static void task_entry(void *arg)
{
    Task *t = arg;
    proc_run_main(t->base, t->main, t->arg);
    proc_end(t->base);
    t->done = true;
}

Task *task_new(Kernel *k, Proc *base, ProcMain main, void *arg, StackSize stack)
{
    static const CoroSize sizes[] = {[STACK_SMALL] = CORO_SMALL, [STACK_MEDIUM] = CORO_MEDIUM, [STACK_LARGE] = CORO_LARGE};
    Task *t = mem_alloc0(&base->keep, sizeof *t);
    if (!t)
        return NULL;
    *t = (Task){.kernel = k, .base = base, .top = base, .main = main, .arg = arg, .wake_at = -1};
    t->coro = coro_new(sizes[stack], task_entry, t);
    if (!t->coro)
        return NULL;
    base->task = t;
    k->ntasks++;
    return t;
}

static void task_finish(Kernel *k, Task *t)
{
    Proc *base = t->base;
    coro_free(t->coro);
    k->ntasks--;
    base->task = NULL;
    if (t == k->run.main_task) {
        k->run.main_task = NULL;
        k->run.main_done = true;
        run_forget_std(base); /* from here on only jobs hold the streams */
        k->run.status = base->signal ? 128 + base->signal : base->status;
    } else if (base->orphan) {
        proc_remove(base);
    }
}

static void resume(Kernel *k, Task *t)
{
    k->current = t;
    bool more = coro_resume(t->coro);
    k->current = NULL;
    if (!more)
        task_finish(k, t);
}

/* The host's own code runs here, under its own locale. */
static bool deliver_output(Kernel *k)
{
    host_locale_leave(k->host_locale);
    events_deliver(k);
    bool all = sink_deliver(k, &k->sink[0]);
    all = sink_deliver(k, &k->sink[1]) && all;
    host_locale_enter();
    return all;
}

static bool pull_input(Kernel *k)
{
    host_locale_leave(k->host_locale);
    bool came = run_pull_input(k);
    host_locale_enter();
    return came;
}

/* Libraries run here, under the host's locale. */
static bool pump_network(Kernel *k)
{
    host_locale_leave(k->host_locale);
    bool came = net_pump(k);
    host_locale_enter();
    return came;
}

static void take_answers(Kernel *k)
{
    if (!atomic_exchange_explicit(&k->woken, false, memory_order_acquire))
        return;
    pthread_mutex_lock(&k->lock);
    for (RequestNode *n = k->requests; n; n = n->next)
        if (n->answered)
            queue_wake_all(&n->queue);
    pthread_mutex_unlock(&k->lock);
    k->sink[0].stalled = k->sink[1].stalled = false;
    queue_wake_all(&k->input_queue);
}

/* The standard streams that processes still hold; the run's own three references do not count. */
static bool output_held(const Kernel *k)
{
    return k->std[1]->refs > 1 || k->std[2]->refs > 1;
}

static bool is_blocked_job(const Proc *p) { return p->task && p->task->base == p && !p->kernels_own; }

static void kill_jobs(Kernel *k)
{
    for (Proc *p = k->procs; p; p = p->next)
        if (is_blocked_job(p)) {
            p->pending |= SIGNAL_BIT(SIGNAL_KILL);
            task_wake(p->task, WAKE_SIGNAL);
        }
}

static bool jobs_left(const Kernel *k) { return k->ntasks > 0; }

static bool run_finished(Kernel *k)
{
    if (!k->run.main_done)
        return false;
    if (k->run.ending == RAISE_NONE && k->run.jobs == JOBS_WAIT && output_held(k) && jobs_left(k))
        return false;
    if (k->run.jobs == JOBS_KEEP && k->run.ending == RAISE_NONE)
        return true;
    if (jobs_left(k)) {
        kill_jobs(k);
        return false;
    }
    return true;
}

/* Everything is blocked for good: the foreground process that waits is told so. */
static void break_deadlock(Kernel *k)
{
    if (k->run.ending != RAISE_NONE || k->run.deadlock)
        return;
    k->run.deadlock = true;
    sink_message(&k->sink[k->run.io.merge_output ? 0 : 1], "libshell: deadlock: every process waits for another\n");
    k->run.ending = RAISE_LIMIT;
    k->run.limit = LIMIT_COUNT;
}

/* After the end of the run was decided every task must wake to raise. */
void tasks_wake_all(Kernel *k)
{
    for (Proc *p = k->procs; p; p = p->next)
        if (p->task && p->task->base == p)
            task_wake(p->task, WAKE_SIGNAL);
}

/* A question whose answer does not depend on what other processes do. A custom command's may: it can wait for its input. */
static bool host_is_asked(Kernel *k)
{
    Request *r = kern_request(k, 0);
    while (r && r->kind == REQUEST_COMMAND)
        r = kern_request(k, r->id);
    return r != NULL;
}

/* The virtual clock stands still while the host owes an answer: no time passes in which a timer could overtake it. */
static bool virtual_advance(Kernel *k)
{
    if (!k->options.virtual_clock || !k->timers || host_is_asked(k))
        return false;
    int64_t ahead = k->timers->wake_at - timer_now(k);
    if (ahead > 0)
        k->virtual_ns += ahead;
    timers_wake(k);
    return true;
}

enum { TURNS = 16 /* between looks at the network */ };

static void drain_ready(Kernel *k)
{
    unsigned turns = 0;
    for (Task *t; !host_waits(k) && (t = ready_pop(k));) {
        resume(k, t);
        if (k->net && ++turns % TURNS == 0)
            pump_network(k);
        if (output_waits(k))
            deliver_output(k);
        timers_wake(k);
    }
}

StepState kern_step(Kernel *k, Pending *pending)
{
    *pending = (Pending){.wake_ns = -1};
    k->stepping = true;
    k->host_locale = host_locale_enter();
    StepState state = STEP_PENDING;
    for (;;) {
        drain_ready(k);
        take_answers(k);
        bool delivered = deliver_output(k);
        RaiseKind before = k->run.ending;
        look_around(k);
        if (k->run.ending != before)
            tasks_wake_all(k);
        if (atomic_exchange(&k->yields, false) && k->ready_first) {
            Request *asked = kern_request(k, 0);
            pending->request = asked ? asked->id : 0;
            pending->wake_ns = 0;
            break;
        }
        if (k->ready_first)
            continue;
        if (delivered && run_finished(k)) {
            state = STEP_DONE;
            break;
        }
        if (k->ready_first || (k->net && pump_network(k)) || pull_input(k))
            continue;
        if (!net_active(k) && virtual_advance(k))
            continue;
        timers_wake(k);
        if (k->ready_first)
            continue;
        pending->wake_ns = k->timers ? k->timers->wake_at - timer_now(k) + host_monotonic() : -1;
        pending->input = k->input_queue.first != NULL;
        Request *r = kern_request(k, 0);
        pending->request = r ? r->id : 0;
        bool waits = k->timers || pending->input || r || !delivered || net_active(k);
        /* Once it has passed, what the run still waits for is the host: its output is not taken. */
        bool timed = k->run.deadline_ns >= 0 && k->run.ending == RAISE_NONE;
        if (timed && (pending->wake_ns < 0 || k->run.deadline_ns < pending->wake_ns))
            pending->wake_ns = k->run.deadline_ns;
        if (!waits && k->run.main_done) { /* what is left waits for ever, as a coprocess does after its shell: it ends with the run */
            kill_jobs(k);
            continue;
        }
        if (!waits) {
            break_deadlock(k);
            tasks_wake_all(k);
            continue;
        }
        break;
    }
    host_locale_leave(k->host_locale);
    k->stepping = false;
    return state;
}

/* With transfers under way it is their sockets that are waited for. */
static void pause_network(Kernel *k, const Pending *pending)
{
    int64_t left = pending->wake_ns < 0 ? -1 : pending->wake_ns - host_monotonic();
    if (!atomic_load(&k->woken) && !atomic_load(&k->cancelled) && (pending->wake_ns < 0 || left > 0))
        net_poll(k, left);
}

void kern_pause(Kernel *k, const Pending *pending)
{
    if (net_active(k)) {
        pause_network(k, pending);
        return;
    }
    pthread_mutex_lock(&k->lock);
    while (!atomic_load(&k->woken) && !atomic_load(&k->cancelled)) {
        if (pending->wake_ns >= 0 && host_monotonic() >= pending->wake_ns)
            break;
        host_cond_wait(&k->wake, &k->lock, pending->wake_ns);
    }
    pthread_mutex_unlock(&k->lock);
}

static void wake_host(Kernel *k)
{
    pthread_mutex_lock(&k->lock);
    pthread_cond_broadcast(&k->wake);
    net_wake(k);
    pthread_mutex_unlock(&k->lock);
}

void kern_wake(Kernel *k)
{
    atomic_store(&k->woken, true);
    wake_host(k);
}

void kern_yield(Kernel *k) { atomic_store(&k->yields, true); }

void kern_cancel(Kernel *k)
{
    atomic_store(&k->cancelled, true);
    wake_host(k);
}
