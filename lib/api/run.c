/* run: one run of a script: begin, step, end, and the blocking loop around them. */
#include <stdlib.h>

#include "internal.h"
#include "lib/base/guard.h"

static shell_err enter(shell *sh)
{
    if (!sh)
        return SHELL_EINVAL;
    shell_err err = api_alive(sh);
    if (err)
        return err;
    int idle = 0;
    if (sh->in_callback || !atomic_compare_exchange_strong(&sh->busy, &idle, 1))
        return SHELL_EBUSY;
    return SHELL_OK;
}

static void leave(shell *sh) { atomic_store(&sh->busy, 0); }

/* ---------- callbacks, with the shell marked so that they cannot re-enter a run ---------- */

static int on_output(void *user, int stream, Slice data)
{
    shell *sh = user;
    sh->in_callback = true;
    int32_t r = sh->run_opts.on_output(sh->run_opts.user, stream, data.data, data.len);
    sh->in_callback = false;
    return r == 0 ? 0 : r == SHELL_EAGAIN ? -EAGAIN : -EPIPE;
}

static ssize_t on_input(void *user, char *buf, size_t n)
{
    shell *sh = user;
    sh->in_callback = true;
    int64_t r = sh->run_opts.on_input(sh->run_opts.user, buf, n);
    sh->in_callback = false;
    if (r == SHELL_EAGAIN)
        return -EAGAIN;
    return r < 0 ? -EIO : r > (int64_t)n ? -EIO : (ssize_t)r;
}

/* ---------- begin ---------- */

static void copy_script(char *to, const char *script, size_t len, size_t *kept)
{
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        const char *nul = memchr(script + i, 0, len - i);
        size_t part = nul ? (size_t)(nul - (script + i)) : len - i;
        memcpy(to + n, script + i, part);
        n += part;
        i += part + 1;
    }
    to[n] = 0;
    *kept = n;
}

static int64_t timeout_ns(double seconds)
{
    if (seconds < 0)
        return -1;
    return seconds >= 9e9 ? -1 : (int64_t)(seconds * 1e9);
}

static shell_err begin(shell *sh, const char *script, size_t len)
{
    const shell_run_opts *o = &sh->run_opts;
    Kernel *k = sh->kernel;
    Limits base;
    for (int i = 0; i < LIMIT_COUNT; i++)
        base.value[i] = kern_limit(k, (LimitId)i);
    sh->run_limits = api_limits(o->limits, &base);
    uint64_t most = sh->run_limits.value[LIMIT_SCRIPT];
    if (GUARD(RUN_SCRIPT, most && len > most))
        return api_fail(sh, SHELL_EINVAL, "script limit of %llu bytes reached", (unsigned long long)most);
    char *copy = realloc(sh->script, len + 1);
    if (!copy)
        return api_fail(sh, SHELL_ENOMEM, "out of memory");
    sh->script = copy;
    size_t kept;
    copy_script(copy, script, len, &kept);
    sh->run = (LangRun){.script = {copy, kept}, .args = o->args, .env = o->env, .cwd = o->cwd, .lang = sh->lang,
                        .syntax_only = o->flags & SHELL_RUN_SYNTAX, .fresh = o->flags & SHELL_RUN_FRESH};
    RunIo io = {.input = {o->input, o->input ? o->input_len : 0}, .read_input = o->on_input ? on_input : NULL,
                .on_output = o->on_output ? on_output : NULL, .user = sh, .merge_output = o->flags & SHELL_RUN_MERGE,
                .collect = o->flags & SHELL_RUN_COLLECT};
    RunOptions ro = {.io = &io, .timeout_ns = timeout_ns(o->timeout), .limits = &sh->run_limits, .jobs = (JobsMode)o->jobs,
                     .main = lang_main, .arg = &sh->run};
    int err = net_export(sh);
    if (err)
        return api_error(sh, err, "run");
    audit_run_begin(sh, sh->run.script);
    err = kern_run_begin(k, &ro);
    if (err)
        return api_error(sh, err, "run");
    sh->begun = true;
    sh->done = false;
    return SHELL_OK;
}

shell_err shell_begin(shell *sh, const char *script, uint64_t len, const shell_run_opts *opts)
{
    shell_err err = enter(sh);
    if (err)
        return err;
    shell_run_opts none = {.size = sizeof none};
    if (sh->begun)
        err = api_fail(sh, SHELL_EBUSY, "a run is in progress");
    else if ((!script && len) || (opts && !api_copy_struct(&none, sizeof none, opts)) || none.jobs < 0 || none.jobs > SHELL_JOBS_KILL)
        err = api_fail(sh, SHELL_EINVAL, "run: bad options");
    else {
        sh->run_opts = none;
        sh->lost = false;
        err = begin(sh, script ? script : "", (size_t)len);
    }
    leave(sh);
    return err;
}

/* ---------- step ---------- */

static bool step_once(shell *sh, Pending *pending)
{
    for (;;) {
        StepState state = kern_step(sh->kernel, pending);
        custom_bury(sh);
        if (state == STEP_DONE)
            return true;
        if (!pending->request || !custom_serve(sh))
            return false;
    }
}

shell_err shell_step(shell *sh, int32_t *state, shell_pending *pending)
{
    shell_err err = enter(sh);
    if (err)
        return err;
    Pending p = {.wake_ns = -1};
    if (!sh->begun) {
        leave(sh);
        err = api_lost(sh);
        return err ? err : api_fail(sh, SHELL_EINVAL, "step: no run in progress");
    }
    sh->done = sh->done || step_once(sh, &p);
    *state = sh->done ? SHELL_DONE : SHELL_PENDING;
    if (pending) {
        pending->wait_ns = p.wake_ns;
        pending->request = p.request;
        pending->input = p.input;
    }
    leave(sh);
    return SHELL_OK;
}

shell_err shell_pause(shell *sh, const shell_pending *pending)
{
    if (!sh || !pending)
        return SHELL_EINVAL;
    shell_err err = api_alive(sh);
    if (!err)
        err = api_lost(sh);
    if (err)
        return err;
    kern_pause(sh->kernel, &(Pending){.wake_ns = pending->wait_ns, .input = pending->input, .request = pending->request});
    return SHELL_OK;
}

/* ---------- end ---------- */

typedef struct {
    shell_result result;
    char text[];
} ResultBlock;

static shell_err make_result(shell *sh, const RunEnd *end, Slice out, Slice err, shell_result **result)
{
    ResultBlock *b = malloc(sizeof *b + out.len + err.len + 2);
    if (!b)
        return api_fail(sh, SHELL_ENOMEM, "out of memory");
    memcpy(b->text, out.data, out.len);
    b->text[out.len] = 0;
    char *second = b->text + out.len + 1;
    memcpy(second, err.data, err.len);
    second[err.len] = 0;
    b->result = (shell_result){
        .size = sizeof(shell_result), .out = b->text, .err = second, .out_len = out.len, .err_len = err.len, .status = end->status,
        .end = (int32_t)end->kind, .out_truncated = end->truncated[0], .err_truncated = end->truncated[1], .steps = end->steps,
        .peak_memory = end->peak_memory, .wall_ns = end->wall_ns, .limit_value = end->limit_value, .exited = lang_exited(sh->lang),
        .limit = (end->kind == END_LIMIT || end->kind == END_TIMEOUT) && end->limit < LIMIT_COUNT ? limit_name(end->limit) : NULL,
    };
    *result = &b->result;
    return SHELL_OK;
}

static shell_err finish(shell *sh, shell_result **result)
{
    RunEnd end;
    Slice out, err;
    kern_run_end(sh->kernel, &end, &out, &err);
    sh->begun = false;
    audit_run_end(sh, &end, out, err);
    return result ? make_result(sh, &end, out, err, result) : SHELL_OK;
}

shell_err shell_end(shell *sh, shell_result **out)
{
    shell_err err = enter(sh);
    if (err)
        return err;
    if (out)
        *out = NULL;
    err = sh->begun ? SHELL_OK : api_lost(sh);
    if (!err)
        err = sh->begun && sh->done ? finish(sh, out) : api_fail(sh, SHELL_EINVAL, "end: the run has not ended");
    leave(sh);
    return err;
}

shell_err shell_run(shell *sh, const char *script, uint64_t len, const shell_run_opts *opts, shell_result **out)
{
    if (out)
        *out = NULL;
    shell_err err = shell_begin(sh, script, len, opts);
    if (err)
        return err;
    err = enter(sh);
    if (err)
        return err;
    Pending pending;
    while (!step_once(sh, &pending))
        kern_pause(sh->kernel, &pending);
    err = finish(sh, out);
    leave(sh);
    return err;
}

void shell_result_free(shell_result *result) { free(result); }

shell_err shell_cancel(shell *sh)
{
    if (!sh)
        return SHELL_EINVAL;
    shell_err err = api_alive(sh);
    if (!err)
        kern_cancel(sh->kernel);
    return err;
}

shell_err shell_yield(shell *sh)
{
    if (!sh)
        return SHELL_EINVAL;
    shell_err err = api_alive(sh);
    if (!err)
        kern_yield(sh->kernel);
    return err;
}

shell_err shell_wake(shell *sh)
{
    if (!sh)
        return SHELL_EINVAL;
    shell_err err = api_alive(sh);
    if (!err)
        kern_wake(sh->kernel);
    return err;
}
