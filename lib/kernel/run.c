/* run: one run of a shell: its standard streams, its limits, its end. */
#include "host.h"
#include "internal.h"
#include "policy.h"

static void close_std(Kernel *k)
{
    for (int i = 0; i < 3; i++) {
        file_unref(k, k->std[i]);
        k->std[i] = NULL;
    }
}

static int open_std(Kernel *k, const RunIo *io)
{
    k->std[0] = file_run_input(k);
    k->std[1] = file_run_output(k, 1);
    k->std[2] = file_run_output(k, io->merge_output ? 1 : 2);
    if (!k->std[0] || !k->std[1] || !k->std[2]) {
        close_std(k);
        return -ENOMEM;
    }
    for (int i = 0; i < 3; i++) {
        int err = fds_put(k->main, i, file_ref(k->std[i]));
        if (err) {
            close_std(k);
            return err;
        }
    }
    return 0;
}

static void set_deadline(Kernel *k, int64_t timeout_ns)
{
    uint64_t ms = k->run.limits.value[LIMIT_TIME];
    if (timeout_ns == 0)
        timeout_ns = ms == 0 ? -1 : ms > INT64_MAX / 1000000 ? -1 : (int64_t)ms * 1000000;
    int64_t at;
    k->run.start_ns = host_monotonic();
    k->run.deadline_ns = timeout_ns < 0 || __builtin_add_overflow(k->run.start_ns, timeout_ns, &at) ? -1 : at;
}

static void begin_main(Proc *p)
{
    p->guard = NULL;
    p->status = p->signal = p->doomed = 0;
    p->pending = 0;
    p->ended = false;
    p->masked = 0;
    output_init(p, p->out, 1);
    output_init(p, p->err, 2);
}

void run_forget_std(Proc *p)
{
    for (int fd = 0; fd < 3; fd++)
        if (proc_file(p, fd))
            fds_put(p, fd, NULL);
}

int kern_run_begin(Kernel *k, const RunOptions *o)
{
    if (k->run.active)
        return -EBUSY;
    k->run = (Run){.active = true, .io = *o->io, .jobs = o->jobs, .limits = o->limits ? *o->limits : k->options.limits};
    for (int i = 0; i < 2; i++)
        sink_reset(&k->sink[i]);
    k->memory.limit = k->run.limits.value[LIMIT_MEMORY];
    k->memory.peak = k->memory.used;
    k->memory.refused = false;
    atomic_store(&k->cancelled, false);
    atomic_store(&k->woken, false);
    atomic_store(&k->yields, false);
    set_deadline(k, o->timeout_ns);
    k->hot.fuel = k->refill = 0;
    begin_main(k->main);
    proc_forget_ended(k->main); /* jobs of the last run: its table of them went with it */
    int err = open_std(k, o->io);
    Task *t = err ? NULL : task_new(k, k->main, o->main, o->arg, STACK_LARGE);
    if (!t) {
        run_forget_std(k->main);
        close_std(k);
        k->run.active = false;
        return err ? err : -EAGAIN;
    }
    t->foreground = true;
    if (k->policy_changed)
        policy_adopt(k);
    k->run.main_task = t;
    kern_event(k, EVENT_RUN_BEGIN, k->main->pid, "", NULL, 0);
    task_ready(t);
    return 0;
}

static EndKind end_kind(const Run *r)
{
    if (r->deadlock)
        return END_DEADLOCK;
    switch (r->ending) {
    case RAISE_DEADLINE:
        return END_TIMEOUT;
    case RAISE_CANCEL:
        return END_CANCELLED;
    case RAISE_MEMORY:
    case RAISE_LIMIT:
        return END_LIMIT;
    default:
        return END_FINISHED;
    }
}

/* A run that was ended says so, also when its script had ended before the jobs it waited for. */
static int end_status(const Run *r)
{
    switch (end_kind(r)) {
    case END_TIMEOUT:
        return 124;
    case END_CANCELLED:
        return 130;
    case END_LIMIT:
        return 137;
    case END_DEADLOCK:
        return 1;
    default:
        return r->status;
    }
}

void kern_run_end(Kernel *k, RunEnd *end, Slice *out, Slice *err)
{
    Run *r = &k->run;
    r->steps += (uint64_t)(k->refill - k->hot.fuel);
    *end = (RunEnd){.kind = end_kind(r), .limit = r->limit, .status = end_status(r), .steps = r->steps};
    if (end->kind == END_TIMEOUT)
        end->limit_value = (uint64_t)(r->deadline_ns - r->start_ns) / 1000000;
    else if (end->kind == END_LIMIT && r->limit < LIMIT_COUNT)
        end->limit_value = r->limits.value[r->limit];
    end->truncated[0] = k->sink[0].truncated;
    end->truncated[1] = k->sink[1].truncated;
    end->bytes_out = k->sink[0].total + k->sink[1].total;
    end->peak_memory = k->memory.peak;
    end->wall_ns = (uint64_t)(host_monotonic() - r->start_ns);
    *out = (Slice){k->sink[0].data ? k->sink[0].data : "", k->sink[0].len};
    *err = (Slice){k->sink[1].data ? k->sink[1].data : "", k->sink[1].len};
    kern_event(k, EVENT_RUN_END, k->main->pid, "", NULL, r->status);
    events_deliver(k);
    Proc *p = k->main;
    while (p->owned) {
        Owned *o = p->owned;
        p->owned = o->next;
        o->release(p, o->thing);
    }
    proc_discard_unborn(k);
    run_forget_std(p);
    close_std(k);
    mem_recycle(&p->mem);
    mem_recycle(&p->keep);
    if (!k->ntasks)
        net_end_run(k);
    r->active = false;
}
