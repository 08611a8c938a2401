/* pipeline: commands that run beside others: pipelines, subshells, background jobs, coprocesses, time. */
#include "interp.h"
#include "lib/base/guard.h"

/* ---------- children ---------- */

typedef struct StageArg {
    const Node *node;
    bool async; /* standard input from /dev/null, interrupts ignored */
} StageArg;

/* The process that runs it need not come back. */
bool is_one_command(Interp *in, const Node *n)
{
    while (n && n->kind == NODE_LIST && n->list.count == 1 && !n->list.items[0].background)
        n = n->list.items[0].node;
    return n && n->kind == NODE_SIMPLE && !in->st.traps;
}

/* The simple command that ends `n` whatever happens; NULL. */
static const Node *tail_of(const Node *n)
{
    while (n && n->kind != NODE_SIMPLE) {
        if (n->kind == NODE_LIST)
            n = n->list.items[n->list.count - 1].background ? NULL : n->list.items[n->list.count - 1].node;
        else if (n->kind == NODE_GROUP)
            n = n->group.body;
        else if (n->kind == NODE_PIPELINE && n->pipeline.count == 1 && !n->timed)
            n = n->pipeline.stages[0];
        else
            n = NULL;
    }
    return n;
}

static int stage_body(Interp *in, void *arg)
{
    const StageArg *s = arg;
    const Node *n = s->node;
    if (s->async) {
        int fd = proc_open(in->p, "/dev/null", V_READ, 0);
        if (fd >= 0 && fd != 0) {
            proc_dup2(in->p, fd, 0);
            proc_close(in->p, fd);
        }
    }
    if (n->kind == NODE_SUBSHELL) { /* this process is the subshell */
        in->subshell = true;
        if (!redirs_apply_for_good(in, n->redirs))
            return 1;
        in->no_fork = is_one_command(in, n->group.body);
        in->tail = tail_of(n->group.body);
        return n->group.body ? exec_node(in, n->group.body) : 0;
    }
    in->no_fork = n->kind == NODE_SIMPLE;
    in->tail = tail_of(n);
    return exec_node(in, n);
}

static int stage_main(Proc *p, void *arg) { return shell_body(interp_of(p), stage_body, arg); }

static bool calls_function(Interp *in, const Node *n)
{
    const Word *w = n->simple.nwords ? n->simple.words[0] : NULL;
    return w && w->count == 1 && w->parts[0].kind == PART_LITERAL && function_find(in, w->parts[0].text);
}

/* An embryo that will run `node`, its argument in its own memory. */
static Proc *stage_child(Interp *in, const Node *node, bool async, StageArg **arg)
{
    Proc *child = fork_child(in);
    Interp *ci = interp_child(in, child);
    StageArg *s = mem_new(&child->keep, StageArg);
    *s = (StageArg){node, async};
    ci->exit_trap_holds = unlikely(in->st.traps != NULL) && node->kind == NODE_SIMPLE && trap_has(in, TRAP_EXIT);
    if (node->kind != NODE_SIMPLE)
        ci->dyn.loop_depth = 0;
    else if (unlikely(in->jobs != NULL) && !async && !calls_function(in, node))
        jobs_inherit(in, ci);
    *arg = s;
    if (async) {
        child->ignored |= SIGNAL_BIT(2) | SIGNAL_BIT(3);
        ci->dyn.no_errexit = ci->dyn.no_exit = 0;
    }
    return child;
}

int exec_subshell(Interp *in, const Node *n)
{
    in->dyn.line = n->line;
    StageArg arg = {n, false};
    Proc *child = fork_child(in);
    interp_child(in, child)->dyn.loop_depth = 0;
    pid_t pid = child->pid;
    int wstatus = proc_call(child, stage_main, &arg), status = WSTATUS_TO_SHELL(wstatus);
    if (unlikely(wstatus & 127))
        tell_foreground(in, &pid, &wstatus, 1, &n);
    in->status = status;
    set_pipestatus(in, &status, 1);
    if (unlikely(in->jobs != NULL))
        jobs_settle(in);
    if (unlikely(in->st.traps != NULL) && !in->trap_depth)
        in->command = n; /* BASH_COMMAND of an ERR trap */
    check_errexit(in, status);
    return status;
}

/* ---------- pipelines ---------- */

/* Waits for a child that this shell started, whatever signals come meanwhile. */
static int wait_foreground(Interp *in, pid_t pid)
{
    int wstatus = 0;
    pid_t got;
    do
        got = proc_wait(in->p, pid, &wstatus, 0, -1);
    while (got == -EINTR);
    return got == pid ? wstatus : WSTATUS_EXIT(127);
}

typedef struct FdUnwind {
    Unwind unwind;
    File *saved;
} FdUnwind;

static void restore_stdin(Interp *in, Unwind *u)
{
    File *f = ((FdUnwind *)u)->saved;
    if (f) {
        proc_install(in->p, 0, f);
        file_unref(in->p->kernel, f);
    } else {
        proc_close(in->p, 0);
    }
}

static void save_stdin(Interp *in)
{
    FdUnwind *u = mem_new(mem_of(in), FdUnwind);
    u->saved = proc_file(in->p, 0);
    if (u->saved)
        file_ref(u->saved);
    unwind_push(in, &u->unwind, restore_stdin);
}

/* The last stage in this shell (lastpipe). */
static int exec_last(Interp *in, const Node *stage, int input)
{
    Unwind *mark = in->unwind;
    save_stdin(in);
    proc_dup2(in->p, input, 0);
    proc_close(in->p, input);
    int status = exec_condition_free(in, stage);
    unwind_to(in, mark);
    return status;
}

typedef struct Stages {
    pid_t *pids;
    int *statuses;
    uint32_t count;
} Stages;

/* Starts one stage reading from `input` (-1: ours); *output is where its reader reads, or -1 for the last. */
static pid_t start_stage(Interp *in, const Node *pipeline, uint32_t i, int input, int *output)
{
    int fds[2] = {-1, -1};
    bool last = i + 1 == pipeline->pipeline.count;
    if (!last) {
        int err = proc_pipe(in->p, fds);
        if (err) {
            lang_error(in, "pipe error: %s", error_text(err));
            lang_fatal(in, 254);
        }
    }
    StageArg *arg;
    const Node *stage = pipeline->pipeline.stages[i];
    bool traced = unlikely(in->st.traps != NULL) && stage->kind == NODE_SIMPLE && trap_has(in, TRAP_DEBUG);
    if (traced) { /* in the parent, before the fork */
        if (!in->trap_depth)
            in->command = stage;
        trap_run(in, TRAP_DEBUG);
    }
    if (unlikely(in->flow == FLOW_EXIT)) { /* errexit, in the trap */
        if (input >= 0)
            proc_close(in->p, input);
        if (!last) {
            proc_close(in->p, fds[0]);
            proc_close(in->p, fds[1]);
        }
        return 0;
    }
    Proc *child = stage_child(in, stage, false, &arg);
    interp_of(child)->debug_done = traced;
    if (input >= 0) {
        proc_dup2(child, input, 0);
        proc_close(child, input);
    }
    if (!last) {
        proc_dup2(child, fds[1], 1);
        if (pipeline->pipeline.both && pipeline->pipeline.both[i])
            proc_dup2(child, fds[1], 2);
        proc_close(child, fds[0]);
        if (fds[1] != 1)
            proc_close(child, fds[1]);
    }
    pid_t pid = proc_start(child, stage_main, arg, STACK_MEDIUM);
    if (input >= 0)
        proc_close(in->p, input);
    if (!last)
        proc_close(in->p, fds[1]);
    *output = fds[0];
    if (pid < 0) {
        lang_error(in, "fork: %s", error_text((int)pid));
        lang_fatal(in, 254);
    }
    return pid;
}

static int pipeline_status(Interp *in, const Stages *s)
{
    int status = s->count ? s->statuses[s->count - 1] : 0;
    if (OPT(in, PIPEFAIL))
        for (uint32_t i = 0; i < s->count; i++)
            if (s->statuses[i])
                status = s->statuses[i];
    return status;
}

static int run_stages(Interp *in, const Node *n)
{
    uint32_t count = n->pipeline.count;
    uint64_t most = kern_limit(in->p->kernel, LIMIT_PIPELINE);
    if (GUARD(RUN_PIPELINE, most && count > most))
        proc_limit(in->p, LIMIT_PIPELINE);
    MemMark mark = mem_mark(mem_of(in));
    Stages s = {mem_array(mem_of(in), count, pid_t), mem_array(mem_of(in), count, int), count};
    bool here = SHOPT(in, LASTPIPE) && !OPT(in, MONITOR);
    int input = -1;
    for (uint32_t i = 0; i < count; i++) {
        if (here && i + 1 == count) {
            s.statuses[i] = exec_last(in, n->pipeline.stages[i], input);
            break;
        }
        s.pids[i] = start_stage(in, n, i, input, &input);
        if (unlikely(in->flow == FLOW_EXIT)) {
            mem_reset(mem_of(in), mark);
            return in->exit_status;
        }
    }
    int *wstatuses = mem_array(mem_of(in), count, int);
    for (uint32_t i = 0; i < count; i++)
        if (s.pids[i]) {
            wstatuses[i] = wait_foreground(in, s.pids[i]);
            s.statuses[i] = WSTATUS_TO_SHELL(wstatuses[i]);
        }
    tell_foreground(in, s.pids, wstatuses, count, (const Node *const *)n->pipeline.stages);
    if (unlikely(in->jobs != NULL))
        jobs_settle(in);
    set_pipestatus(in, s.statuses, count);
    int status = pipeline_status(in, &s);
    mem_reset(mem_of(in), mark);
    return status;
}

int exec_condition_free(Interp *in, const Node *n)
{
    in->dyn.no_errexit++;
    int status = exec_node(in, n);
    in->dyn.no_errexit--;
    return status;
}

/* ---------- time ---------- */

static void put_seconds(Buf *b, uint64_t ns, unsigned places, bool minutes)
{
    uint64_t ms = (ns + 500000) / 1000000, seconds = ms / 1000, fraction = ms % 1000;
    if (minutes) {
        buf_printf(b, "%llum", (unsigned long long)(seconds / 60));
        seconds %= 60;
    }
    buf_printf(b, "%llu", (unsigned long long)seconds);
    if (places) {
        fraction /= places == 3 ? 1 : places == 2 ? 10 : 100;
        buf_printf(b, ".%0*llu", (int)places, (unsigned long long)fraction);
    }
    if (minutes)
        buf_char(b, 's');
}

static void bad_time_format(Interp *in, char c) { lang_error(in, "TIMEFORMAT: `%c': invalid format character", c); }

static void print_times(Interp *in, Slice format, uint64_t real, uint64_t user, uint64_t sys)
{
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    for (size_t i = 0; i < format.len; i++) {
        if (format.data[i] != '%' || i + 1 == format.len) {
            buf_char(&b, format.data[i]);
            continue;
        }
        unsigned places = 3;
        bool minutes = false;
        char c = format.data[++i];
        if (c >= '0' && c <= '9' && i + 1 < format.len) {
            places = MIN((unsigned)(c - '0'), 3u);
            c = format.data[++i];
        }
        if (c == 'l' && i + 1 < format.len) {
            minutes = true;
            c = format.data[++i];
        }
        if (c == '%')
            buf_char(&b, '%');
        else if (c == 'R' || c == 'U' || c == 'S')
            put_seconds(&b, c == 'R' ? real : c == 'U' ? user : sys, places, minutes);
        else if (c != 'P')
            return bad_time_format(in, c);
        else
            buf_printf(&b, "%.2f", real ? (double)(user + sys) * 100.0 / (double)real : 0.0);
    }
    buf_char(&b, '\n');
    output_flush(in->p->out);
    out_write(in->p->err, buf_slice(&b));
    output_flush(in->p->err);
}

int exec_timed(Interp *in, const Node *n)
{
    int64_t start = proc_monotonic(in->p);
    ProcTimes before = proc_times(in->p);
    int status = n->pipeline.count > 1    ? run_stages(in, n)
                 : n->pipeline.count == 1 ? exec_node(in, n->pipeline.stages[0])
                                          : 0;
    ProcTimes after = proc_times(in->p);
    MemMark mark = mem_mark(mem_of(in));
    Slice format;
    Name name = name_of(SLICE("TIMEFORMAT"));
    bool posix = n->timed == 2;
    if (posix)
        format = SLICE("real %2R\nuser %2U\nsys %2S");
    else if (!lang_get(in, &name, &format))
        format = SLICE("\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS");
    if (format.len)
        print_times(in, format, (uint64_t)(proc_monotonic(in->p) - start),
                    after.user_ns + after.child_user_ns - before.user_ns - before.child_user_ns,
                    after.sys_ns + after.child_sys_ns - before.sys_ns - before.child_sys_ns);
    mem_reset(mem_of(in), mark);
    return status;
}

/* What ! stands before does not end the shell, whatever fails in it; a trap on ERR takes no notice of that one command alone. */
static bool traps_within(const Node *n)
{
    return n->pipeline.count == 1 && n->pipeline.stages[0]->kind != NODE_SIMPLE && n->pipeline.stages[0]->kind != NODE_SUBSHELL &&
           n->pipeline.stages[0]->kind != NODE_COND && n->pipeline.stages[0]->kind != NODE_ARITH;
}

int exec_pipeline(Interp *in, const Node *n)
{
    bool within = n->negated && traps_within(n);
    if (within)
        in->dyn.no_exit++;
    else if (n->negated)
        in->dyn.no_errexit++;
    in->dyn.negated = n->negated && !within && n->pipeline.count == 1;
    int status = n->timed                 ? exec_timed(in, n)
                 : n->pipeline.count == 1 ? exec_node(in, n->pipeline.stages[0])
                                          : run_stages(in, n);
    in->dyn.negated = false;
    if (n->negated) {
        if (within)
            in->dyn.no_exit--;
        else
            in->dyn.no_errexit--;
        if (!in->flow)
            status = !status;
    }
    in->status = status;
    if (n->pipeline.count > 1 && !n->negated)
        check_errexit(in, status);
    return status;
}

/* ---------- & and coproc ---------- */

/* The DEBUG trap of simple commands that start in the background runs in the parent. */
static void debug_background(Interp *in, const Node *n)
{
    if (n->kind == NODE_PIPELINE)
        for (uint32_t i = 0; i < n->pipeline.count; i++)
            debug_background(in, n->pipeline.stages[i]);
    if (n->kind != NODE_SIMPLE)
        return;
    in->dyn.line = n->line;
    if (!in->trap_depth)
        in->command = n;
    trap_run(in, TRAP_DEBUG);
}

int exec_background(Interp *in, const Node *n)
{
    StageArg *arg;
    bool debug = unlikely(in->st.traps != NULL) && trap_has(in, TRAP_DEBUG) && !OPT(in, FUNCTRACE);
    if (debug)
        debug_background(in, n);
    Proc *child = stage_child(in, n, !OPT(in, MONITOR), &arg);
    pid_t pid = proc_start(child, stage_main, arg, STACK_MEDIUM);
    if (pid < 0) {
        lang_error(in, "fork: %s", error_text((int)pid));
        lang_fatal(in, 254);
    }
    in->last_job = pid;
    job_add(in, &pid, 1, n);
    in->status = 0;
    set_pipestatus(in, &in->status, 1);
    return 0;
}

static void set_coproc_variables(Interp *in, Slice name, const int fds[2], pid_t pid)
{
    char buf[24];
    size_t len;
    var_make_array(in, name);
    for (int i = 0; i < 2; i++) {
        char *text = format_int(fds[i], buf, &len);
        array_put(in, name, i, slice(text, len));
    }
    var_set_int(in, slice_str(mem_printf(mem_of(in), "%.*s_PID", (int)name.len, name.data)), pid);
}

int exec_coproc(Interp *in, const Node *n)
{
    int to[2], from[2];
    in->dyn.line = n->line;
    int err = proc_pipe(in->p, to);
    if (!err && (err = proc_pipe(in->p, from))) {
        proc_close(in->p, to[0]);
        proc_close(in->p, to[1]);
    }
    if (err) {
        lang_error(in, "pipe error: %s", error_text(err));
        return in->status = 1;
    }
    StageArg *arg;
    Proc *child = stage_child(in, n->coproc.body, false, &arg);
    proc_dup2(child, to[0], 0);
    proc_dup2(child, from[1], 1);
    for (int i = 0; i < 2; i++) {
        proc_close(child, to[i]);
        proc_close(child, from[i]);
    }
    pid_t pid = proc_start(child, stage_main, arg, STACK_MEDIUM);
    proc_close(in->p, to[0]);
    proc_close(in->p, from[1]);
    int fds[2] = {move_high(in, from[0], 63), move_high(in, to[1], 60)}; /* bash's numbers */
    if (pid < 0) {
        lang_error(in, "fork: %s", error_text((int)pid));
        lang_fatal(in, 254);
    }
    MemMark mark = mem_mark(mem_of(in));
    in->coproc_pid = in->last_job = pid;
    memcpy(in->coproc_fds, fds, sizeof fds);
    set_coproc_variables(in, n->coproc.named ? n->coproc.name.text : SLICE("COPROC"), fds, pid);
    job_add(in, &pid, 1, n);
    mem_reset(mem_of(in), mark);
    return in->status = 0;
}
