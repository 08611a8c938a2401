/* job: background jobs: the table, waiting, and finding by %spec. */
#include "interp.h"

#include <stdio.h>

typedef struct JobTable {
    Job *jobs;
    size_t count, cap;
    int next_number;
    int was_fg; /* the number of a job that fg has just waited for, or 0 */
} JobTable;

/* Only its status is remembered, for wait PID. */
static bool is_over(const Job *j) { return j->state == JOB_DONE && j->notified; }

/* ---------- how they ended, in words ---------- */

static const char *signal_words(int signal)
{
    static const char *const words[] = {
        NULL, "Hangup", "Interrupt", "Quit", "Illegal instruction", "Trace/breakpoint trap", "Aborted", "Bus error", "Floating point exception", "Killed",
        "User defined signal 1", "Segmentation fault", "User defined signal 2", "Broken pipe", "Alarm clock", "Terminated", "Stack fault", "Child exited",
        "Continued", "Stopped (signal)", "Stopped", "Stopped (tty input)", "Stopped (tty output)", "Urgent I/O condition", "CPU time limit exceeded",
        "File size limit exceeded", "Virtual timer expired", "Profiling timer expired", "Window changed", "I/O possible", "Power failure", "Bad system call",
    };
    return signal > 0 && (size_t)signal < ARRAY_LEN(words) ? words[signal] : "Unknown signal";
}

static const char *ended_words(int wstatus, char buf[40])
{
    if (wstatus & 127)
        return signal_words(wstatus & 127);
    if (!(wstatus >> 8))
        return "Done";
    snprintf(buf, 40, "Exit %d", wstatus >> 8 & 255);
    return buf;
}

/* A shell without a terminal tells of every deadly signal but those that are sent on purpose, and those it traps. */
static bool is_told(Interp *in, int signal)
{
    enum { INT = 2, PIPE = 13, TERM = 15 };
    return signal && signal != INT && signal != PIPE && signal != TERM && !trap_has(in, signal);
}

void tell_foreground(Interp *in, const pid_t *pids, const int *wstatuses, uint32_t count, const Node *const *nodes)
{
    int last = (int)count - 1, signal;
    if (!count)
        return;
    for (; OPT(in, PIPEFAIL) && last > 0 && !wstatuses[last]; last--)
        ;
    signal = wstatuses[last] & 127;
    if (!signal || signal == 2 || signal == 13 || in->substituted)
        return;
    if (!is_told(in, signal)) {
        output_flush(in->p->out);
        out_printf(in->p->err, "%s\n", signal_words(signal));
        output_flush(in->p->err);
        return;
    }
    MemMark mark = mem_mark(mem_of(in));
    Buf text;
    buf_init(&text, mem_of(in), BUF_MAX);
    for (uint32_t i = 0; i < count; i++) {
        char state[40];
        bool same = i && wstatuses[i] == wstatuses[0];
        buf_printf(&text, "%s%5d %-*s%s", i ? "\n     " : "", (int)pids[i], same ? 22 : 24, same ? "" : ended_words(wstatuses[i], state), i ? "| " : "");
        print_command_line(&text, nodes[i]);
    }
    Slice s = buf_slice(&text);
    lang_error(in, "%.*s", (int)s.len, s.data);
    mem_reset(mem_of(in), mark);
}

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
    j->wstatus = wstatus;
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
    if (t->was_fg) { /* it was the current one, and the newest before it the previous one */
        current = previous = NULL;
        for (size_t i = 0; i < t->count; i++)
            if (!is_over(&t->jobs[i]) && t->jobs[i].number < t->was_fg)
                previous = &t->jobs[i];
    }
    if (current)
        current->current = true;
    if (previous)
        previous->previous = true;
}

bool job_control(Interp *in) { return OPT(in, MONITOR) && !in->subshell_level; }

void job_print(Output *out, const Job *j, bool pid)
{
    char state[40];
    const char *words = j->state == JOB_RUNNING ? "Running" : j->state == JOB_STOPPED ? "Stopped" : ended_words(j->wstatus, state);
    out_printf(out, "[%d]%c ", j->number, j->current ? '+' : j->previous ? '-' : ' ');
    if (pid)
        out_printf(out, "%5d", (int)j->pid);
    out_char(out, ' ');
    out_printf(out, "%-23s %s%s\n", words, j->command, j->state == JOB_RUNNING ? " &" : "");
}

/* What a job's end makes the shell say: of most signals always, of the rest only under set -m. */
static void tell_end(Interp *in, const Job *j)
{
    int signal = j->wstatus & 127;
    if (is_told(in, signal)) {
        lang_error(in, "%5d %-24s%s", (int)j->pid, signal_words(signal), j->command);
    } else if (job_control(in)) {
        output_flush(in->p->out);
        job_print(in->p->err, j, false);
        output_flush(in->p->err);
    }
}

void jobs_settle(Interp *in)
{
    JobTable *t = table_of(in);
    if (!t->count) {
        t->was_fg = 0;
        return;
    }
    jobs_reap(in);
    mark_current(t);
    for (size_t i = 0; i < t->count; i++) {
        Job *j = &t->jobs[i];
        if (j->state != JOB_DONE || j->notified)
            continue;
        tell_end(in, j);
        j->notified = true;
    }
    t->was_fg = 0;
}

void job_was_fg(Interp *in, int number) { table_of(in)->was_fg = number; }

void jobs_inherit(const Interp *in, Interp *child)
{
    const JobTable *from = (const JobTable *)in->jobs;
    for (size_t i = 0; from && i < from->count; i++) {
        if (is_over(&from->jobs[i]))
            continue;
        JobTable *t = table_of(child);
        make_room(child, t);
        Job *j = &t->jobs[t->count++];
        *j = from->jobs[i];
        j->command = mem_strdup(&child->p->keep, j->command);
        j->pids = mem_array(&child->p->keep, j->npids, pid_t);
        memcpy(j->pids, from->jobs[i].pids, j->npids * sizeof *j->pids);
    }
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
        return pid == in->ended_procsub && pid ? in->ended_status : -ECHILD;
    finished(in, pid, wstatus);
    if ((j = job_of_pid(in, pid)))
        jobs_settle(in);
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
        if (j->state == JOB_RUNNING) {
            int err = wait_one(in, j->pid, &wstatus);
            if (err == -EINTR)
                return interrupted(in);
            if (!err) {
                finished(in, j->pid, wstatus);
                jobs_settle(in);
            }
        }
        forget(t, 0);
    }
    int wstatus;
    if (in->last_procsub) {
        int err = wait_one(in, in->last_procsub, &wstatus);
        if (err == -EINTR)
            return interrupted(in);
        if (!err) { /* wait $! may still ask for it */
            in->ended_procsub = in->last_procsub;
            in->ended_status = WSTATUS_TO_SHELL(wstatus);
        }
    }
    in->last_procsub = 0;
    return 0;
}
