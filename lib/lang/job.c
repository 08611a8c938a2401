/* job: background jobs: the table, waiting, and finding by %spec. */
#include "interp.h"

typedef struct JobTable {
    Job *jobs;
    size_t count, cap;
    int next_number;
} JobTable;

/* Only its status is remembered, for wait PID. */
static bool is_over(const Job *j) { return j->state == JOB_DONE && j->notified; }

static JobTable *table_of(Interp *in)
{
    if (!in->jobs)
        in->jobs = (struct JobTable *)mem_new(&in->p->keep, JobTable);
    return (JobTable *)in->jobs;
}

static const char *command_text(Interp *in, const Node *node)
{
    Buf b;
    buf_init(&b, mem_of(in), 1 << 20);
    buf_reserve(&b, 16);
    print_command_line(&b, node);
    return mem_copy(&in->p->keep, buf_slice(&b));
}

static void forget(JobTable *t, size_t i)
{
    memmove(&t->jobs[i], &t->jobs[i + 1], (t->count - i - 1) * sizeof(Job));
    t->count--;
}

/* The oldest finished jobs go when a script starts many and never waits. */
enum { KEPT_FINISHED = 256 };

static void make_room(Interp *in, JobTable *t)
{
    if (t->count >= KEPT_FINISHED) {
        jobs_reap(in);
        for (size_t i = 0; i < t->count && t->count >= KEPT_FINISHED; i++)
            if (t->jobs[i].state == JOB_DONE)
                forget(t, i--);
    }
    if (t->count < t->cap)
        return;
    size_t cap = t->cap ? t->cap * 2 : 8;
    Job *jobs = mem_array(&in->p->keep, cap, Job);
    if (t->count)
        memcpy(jobs, t->jobs, t->count * sizeof(Job));
    t->jobs = jobs;
    t->cap = cap;
}

void job_add(Interp *in, const pid_t *pids, size_t n, const Node *node)
{
    MemMark mark = mem_mark(mem_of(in));
    JobTable *t = table_of(in);
    make_room(in, t);
    int number = 1;
    for (size_t i = 0; i < t->count; i++)
        if (!is_over(&t->jobs[i]))
            number = MAX(number, t->jobs[i].number + 1);
    Job *j = &t->jobs[t->count++];
    *j = (Job){.number = number, .pid = pids[0], .npids = n, .state = JOB_RUNNING};
    j->pids = mem_array(&in->p->keep, n, pid_t);
    memcpy(j->pids, pids, n * sizeof *pids);
    j->command = command_text(in, node);
    mem_reset(mem_of(in), mark);
}

static Job *job_of_pid(Interp *in, pid_t pid)
{
    JobTable *t = table_of(in);
    for (size_t i = t->count; i-- > 0;)
        if (t->jobs[i].pid == pid)
            return &t->jobs[i];
    return NULL;
}

static void finished(Interp *in, pid_t pid, int wstatus)
{
    Job *j = job_of_pid(in, pid);
    if (!j)
        return;
    j->state = JOB_DONE;
    j->status = WSTATUS_TO_SHELL(wstatus);
}

void jobs_reap(Interp *in)
{
    JobTable *t = table_of(in);
    for (size_t i = 0; i < t->count; i++) {
        int wstatus;
        if (t->jobs[i].state == JOB_RUNNING && proc_wait(in->p, t->jobs[i].pid, &wstatus, WAIT_NOHANG, -1) == t->jobs[i].pid)
            finished(in, t->jobs[i].pid, wstatus);
    }
}

void jobs_settle(Interp *in)
{
    JobTable *t = table_of(in);
    if (!t->count)
        return;
    jobs_reap(in);
    for (size_t i = 0; i < t->count; i++)
        t->jobs[i].notified |= t->jobs[i].state == JOB_DONE;
}

/* The n-th newest job that is one still. */
static Job *newest(JobTable *t, size_t n)
{
    for (size_t i = t->count; i-- > 0;)
        if (!is_over(&t->jobs[i]) && n-- == 0)
            return &t->jobs[i];
    return NULL;
}

static void mark_current(JobTable *t)
{
    for (size_t i = 0; i < t->count; i++)
        t->jobs[i].current = t->jobs[i].previous = false;
    Job *current = newest(t, 0), *previous = newest(t, 1);
    if (current)
        current->current = true;
    if (previous)
        previous->previous = true;
}

Job *job_list(Interp *in, size_t *count)
{
    JobTable *t = table_of(in);
    jobs_reap(in);
    mark_current(t);
    Job *list = mem_array(mem_of(in), t->count + 1, Job);
    *count = 0;
    for (size_t i = 0; i < t->count; i++)
        if (!is_over(&t->jobs[i]))
            list[(*count)++] = t->jobs[i];
    return list;
}

static bool contains(Slice text, Slice part)
{
    return part.len == 0 || (text.len >= part.len && memmem(text.data, text.len, part.data, part.len));
}

static Job *job_by_text(JobTable *t, Slice part, bool anywhere, int *error)
{
    Job *found = NULL;
    for (size_t i = 0; i < t->count; i++) {
        Slice command = slice_str(t->jobs[i].command);
        if (is_over(&t->jobs[i]) || !(anywhere ? contains(command, part) : slice_starts(command, part)))
            continue;
        if (found) {
            *error = -EINVAL;
            return NULL;
        }
        found = &t->jobs[i];
    }
    return found;
}

Job *job_find(Interp *in, Slice spec, int *error)
{
    JobTable *t = table_of(in);
    int64_t n;
    *error = -ENOENT;
    jobs_reap(in);
    mark_current(t);
    if (!spec.len || spec.data[0] != '%')
        return parse_int(mem_copy(mem_of(in), spec), &n) ? NULL : job_of_pid(in, (pid_t)n);
    Slice rest = slice_from(spec, 1);
    if (!rest.len || slice_is(rest, "%") || slice_is(rest, "+"))
        return newest(t, 0);
    if (slice_is(rest, "-"))
        return newest(t, 1) ? newest(t, 1) : newest(t, 0);
    if (!parse_int(mem_copy(mem_of(in), rest), &n)) {
        for (size_t i = 0; i < t->count; i++)
            if (t->jobs[i].number == n && !is_over(&t->jobs[i]))
                return &t->jobs[i];
        return NULL;
    }
    if (rest.data[0] == '?')
        return job_by_text(t, slice_from(rest, 1), true, error);
    return job_by_text(t, rest, false, error);
}

void job_remove(Interp *in, Job *job)
{
    JobTable *t = table_of(in);
    forget(t, (size_t)(job - t->jobs));
}

/* 128 + n when a trapped signal interrupts the wait. */
static int interrupted(Interp *in) { return in->due ? 128 + __builtin_ctzll(in->due) + 1 : 128; }

static int wait_one(Interp *in, pid_t pid, int *wstatus)
{
    for (;;) {
        pid_t got = proc_wait(in->p, pid, wstatus, 0, -1);
        if (got == pid)
            return 0;
        if (got != -EINTR)
            return (int)got;
        if (in->due)
            return -EINTR;
    }
}

int job_wait_pid(Interp *in, pid_t pid)
{
    Job *j = job_of_pid(in, pid);
    if (j && j->state == JOB_DONE) {
        int status = j->status;
        j->notified = true;
        return status;
    }
    int wstatus = 0, err = wait_one(in, pid, &wstatus);
    if (err == -EINTR)
        return interrupted(in);
    if (err)
        return -ECHILD;
    finished(in, pid, wstatus);
    if ((j = job_of_pid(in, pid)))
        j->notified = true;
    if (in->due) /* its signal came before its end */
        return interrupted(in);
    return WSTATUS_TO_SHELL(wstatus);
}

int job_wait(Interp *in, Job *job) { return job_wait_pid(in, job->pid); }

static bool wanted(const Job *j, const pid_t *pids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pids[i] == j->pid)
            return true;
    return n == 0;
}

int job_wait_any(Interp *in, const pid_t *pids, size_t n, pid_t *pid)
{
    JobTable *t = table_of(in);
    jobs_reap(in);
    for (;;) {
        bool running = false;
        for (size_t i = 0; i < t->count; i++) {
            Job *j = &t->jobs[i];
            if (!wanted(j, pids, n) || j->notified)
                continue;
            if (j->state == JOB_DONE) {
                int status = j->status;
                *pid = j->pid;
                forget(t, i);
                return status;
            }
            running = true;
        }
        int wstatus;
        if (!running && n == 0 && in->last_procsub) {
            *pid = in->last_procsub;
            in->last_procsub = 0;
            if (wait_one(in, *pid, &wstatus) == 0)
                return WSTATUS_TO_SHELL(wstatus);
        }
        if (!running || (in->due && in->wait_told))
            return in->wait_told = false, -ECHILD;
        pid_t got = proc_wait(in->p, -1, &wstatus, 0, -1);
        if (got == -EINTR && in->due) {
            in->wait_told = true; /* who asks again is told that there is nothing more: the trap is to run */
            return interrupted(in);
        }
        if (got > 0)
            finished(in, got, wstatus);
        else if (got != -EINTR)
            return -ECHILD;
    }
}

int job_wait_all(Interp *in)
{
    JobTable *t = table_of(in);
    while (t->count) {
        Job *j = &t->jobs[0];
        int wstatus;
        if (j->state == JOB_RUNNING && wait_one(in, j->pid, &wstatus) == -EINTR)
            return interrupted(in);
        forget(t, 0);
    }
    int wstatus;
    if (in->last_procsub && wait_one(in, in->last_procsub, &wstatus) == -EINTR)
        return interrupted(in);
    in->last_procsub = 0;
    return 0;
}
