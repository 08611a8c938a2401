/* run: runs on the addon's threads and on JavaScript's own, their output and their results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addon.h"

/* From SHARED on, a stream is handed to JavaScript as it lies in the result; below, a copy is cheaper. */
enum { SHARED = 32768, HELD_MOST = 1 << 20, HELD_MOST_DIRECT = 1 << 16 };

_Thread_local Current current;

/* ---------- results ---------- */

typedef struct {
    _Atomic int refs;
    shell_result *result;
} Holder;

static void holder_unref(Holder *h)
{
    if (atomic_fetch_sub(&h->refs, 1) != 1)
        return;
    shell_result_free(h->result);
    free(h);
}

static void holder_finalize(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)data;
    holder_unref(hint);
}

static bool is_ascii(const char *s, size_t n)
{
    uint64_t all = 0, word;
    size_t i = 0;
    for (; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, s + i, sizeof word);
        all |= word;
    }
    for (; i < n; i++)
        all |= (unsigned char)s[i];
    return !(all & UINT64_C(0x8080808080808080));
}

/* A string when it is short and ASCII, else an ArrayBuffer: JavaScript decodes what it is asked for. */
static napi_value stream_value(napi_env env, Holder *h, const char *data, size_t len)
{
    napi_value v = NULL;
    if (len < SHARED && is_ascii(data, len)) {
        napi_create_string_latin1(env, data, len, &v);
        return v;
    }
    if (len >= SHARED && h) {
        atomic_fetch_add(&h->refs, 1);
        if (napi_create_external_arraybuffer(env, (void *)(uintptr_t)data, len, holder_finalize, h, &v) == napi_ok)
            return v;
        atomic_fetch_sub(&h->refs, 1);
    }
    return bytes_value(env, data, len);
}

static void fill_numbers(Env *e, const shell_result *r)
{
    double *n = e->numbers;
    n[0] = r->status;
    n[1] = r->end;
    n[2] = (r->out_truncated ? 1 : 0) | (r->err_truncated ? 2 : 0) | (r->exited ? 4 : 0);
    n[3] = (double)r->steps;
    n[4] = (double)r->peak_memory;
    n[5] = (double)r->wall_ns;
    n[6] = (double)r->limit_value;
    n[7] = r->limit != NULL;
    e->limit = r->limit;
}

/* Takes the result. Its numbers are in e->numbers. */
static void result_values(Env *e, shell_result *r, napi_value *out, napi_value *err)
{
    Holder *h = r->out_len >= SHARED || r->err_len >= SHARED ? malloc(sizeof *h) : NULL;
    fill_numbers(e, r);
    if (h)
        *h = (Holder){1, r};
    *out = stream_value(e->env, h, r->out, (size_t)r->out_len);
    *err = r->err_len ? stream_value(e->env, h, r->err, (size_t)r->err_len) : NULL;
    if (h)
        holder_unref(h);
    else
        shell_result_free(r);
}

static napi_value limit_of_newest(napi_env env, napi_callback_info info)
{
    (void)info;
    return text(env, env_of(env)->limit);
}

/* ---------- output as it comes ---------- */

/* What is left of a run that ends is not much, and nobody may ever come to read it. */
static bool is_over(const Run *r) { return atomic_load(&r->cancelled) || (r->deadline_ns && now_ns() >= r->deadline_ns); }

static int32_t on_output(void *user, int32_t stream, const char *data, uint64_t len)
{
    Run *r = user;
    pthread_mutex_lock(&r->lock);
    int32_t err = r->broken ? SHELL_EPIPE : SHELL_OK;
    bool tell = false;
    if (!err && r->held >= (size_t)(current.direct ? HELD_MOST_DIRECT : HELD_MOST) && !is_over(r)) {
        r->refused = true;
        err = SHELL_EAGAIN;
    }
    Piece *p = err ? NULL : malloc(sizeof *p + (size_t)len);
    if (p) {
        *p = (Piece){NULL, stream, (size_t)len};
        memcpy(p->data, data, (size_t)len);
        *r->last = p;
        r->last = &p->next;
        r->held += p->len;
        tell = !r->told && !current.direct;
        r->told |= tell;
    } else if (!err) {
        err = SHELL_EPIPE;
    }
    pthread_mutex_unlock(&r->lock);
    if (tell)
        say(r->shell->env, &r->output);
    return err;
}

static Piece *take_pieces(Run *r)
{
    pthread_mutex_lock(&r->lock);
    Piece *first = r->first;
    bool wake = r->refused;
    r->first = NULL;
    r->last = &r->first;
    r->held = 0;
    r->told = r->refused = false;
    pthread_mutex_unlock(&r->lock);
    if (wake)
        shell_wake(r->shell->sh);
    return first;
}

/* take(shell): [stream, ArrayBuffer, stream, ArrayBuffer ...] of what has come. */
napi_value node_take(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS], array;
    get_args(env, info, argv);
    NShell *s = shell_arg(env, argv[0]);
    if (!s || napi_create_array(env, &array) != napi_ok)
        return NULL;
    uint32_t i = 0;
    for (Piece *p = s->run ? take_pieces(s->run) : NULL; p;) {
        Piece *next = p->next;
        napi_set_element(env, array, i++, number(env, p->stream));
        napi_set_element(env, array, i++, bytes_value(env, p->data, p->len));
        free(p);
        p = next;
    }
    return array;
}

/* breakOutput(shell): nobody reads any more. */
napi_value node_break_output(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    get_args(env, info, argv);
    NShell *s = shell_arg(env, argv[0]);
    if (!s || !s->run)
        return NULL;
    pthread_mutex_lock(&s->run->lock);
    s->run->broken = true;
    pthread_mutex_unlock(&s->run->lock);
    shell_wake(s->sh);
    return NULL;
}

static void free_pieces(Run *r)
{
    while (r->first) {
        Piece *p = r->first;
        r->first = p->next;
        free(p);
    }
}

/* ---------- audit ---------- */

typedef struct {
    Message m;
    uint64_t shell;
    Env *env;
    Bytes lines;
} AuditMessage;

static void audit_tell(Env *e, uint64_t of, const Bytes *lines)
{
    napi_value argv[] = {number(e->env, SAY_AUDIT), number(e->env, (double)of), text_n(e->env, lines->data, lines->len)};
    dispatch(e, 3, argv);
}

static void audit_deliver(napi_env env, Message *m)
{
    AuditMessage *a = (AuditMessage *)m;
    if (env)
        audit_tell(a->env, a->shell, &a->lines);
    free(a->lines.data);
    free(a);
}

void on_audit(void *user, const char *line, uint64_t len)
{
    (void)user;
    if (current.shell)
        bytes_add(&current.shell->audit, line, (size_t)len);
}

/* Never from within the audit's own callback, which may be on a process's stack. */
void audit_flush(NShell *s)
{
    Bytes lines = s->audit;
    if (!lines.len)
        return;
    s->audit = (Bytes){0};
    if (current.direct || !current.shell) {
        audit_tell(s->env, s->number, &lines);
        free(lines.data);
        return;
    }
    AuditMessage *a = malloc(sizeof *a);
    if (a)
        *a = (AuditMessage){{audit_deliver}, s->number, s->env, lines};
    if (!a || !say(s->env, &a->m)) {
        free(lines.data);
        free(a);
    }
}

/* ---------- runs beside JavaScript ---------- */

/* Output that was refused is offered again when a run ends, whether anybody reads or not. */
static void offer_again(Run *r)
{
    pthread_mutex_lock(&r->lock);
    bool again = r->refused && is_over(r);
    r->refused = r->refused && !again;
    pthread_mutex_unlock(&r->lock);
    if (again)
        shell_wake(r->shell->sh);
}

static void steps(Run *r)
{
    shell *sh = r->shell->sh;
    shell_pending pending = {.size = sizeof pending};
    int32_t state = SHELL_PENDING;
    if (atomic_load(&r->cancelled))
        shell_cancel(sh);
    for (;;) {
        r->err = shell_step(sh, &state, &pending);
        audit_flush(r->shell);
        if (r->err || state == SHELL_DONE)
            break;
        offer_again(r);
        shell_give_way(r->shell);
        pthread_mutex_unlock(&r->shell->lock);
        shell_pause(sh, &pending);
        pthread_mutex_lock(&r->shell->lock);
    }
    if (!r->err)
        r->err = shell_end(sh, &r->result);
}

static void run_work(Job *job)
{
    Run *r = (Run *)job;
    NShell *s = r->shell;
    Env *e = s->env;
    current = (Current){s, r, false};
    pthread_mutex_lock(&s->lock);
    r->err = shell_begin(s->sh, r->script, r->len, &r->opts);
    if (!r->err)
        steps(r);
    if (r->err)
        snprintf(r->message, sizeof r->message, "%s", shell_message(s->sh));
    audit_flush(s);
    pthread_mutex_unlock(&s->lock);
    current = (Current){0};
    say(e, &r->done);
}

static void run_free(Run *r)
{
    free_pieces(r);
    shell_result_free(r->result);
    arena_free(&r->arena);
    pthread_mutex_destroy(&r->lock);
    shell_unref(r->shell);
    free(r);
}

static void unlink_run(Env *e, Run *r)
{
    for (Run **at = &e->runs; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            break;
        }
}

static void run_done(napi_env env, Message *m)
{
    Run *r = (Run *)((char *)m - offsetof(Run, done));
    Env *e = r->shell->env;
    unlink_run(e, r);
    if (!env) {
        r->shell->run = NULL;
        run_free(r);
        return;
    }
    napi_value argv[6] = {number(env, SAY_DONE), number(env, r->id), number(env, r->err), NULL, NULL, NULL};
    if (r->result)
        result_values(e, r->result, &argv[3], &argv[4]);
    r->result = NULL;
    argv[3] = argv[3] ? argv[3] : nothing(env);
    argv[4] = argv[4] ? argv[4] : nothing(env);
    argv[5] = r->err ? text(env, r->message) : argv[4];
    dispatch(e, 6, argv);
    r->shell->run = NULL;
    run_free(r);
    env_release(e);
}

static void run_output(napi_env env, Message *m)
{
    Run *r = (Run *)((char *)m - offsetof(Run, output));
    if (!env)
        return;
    napi_value argv[] = {number(env, SAY_OUTPUT), number(env, r->id)};
    r->shell->inside++;
    dispatch(r->shell->env, 2, argv);
    r->shell->inside--;
}

static void run_init(Run *r, NShell *s)
{
    r->shell = s;
    r->last = &r->first;
    pthread_mutex_init(&r->lock, NULL);
}

static void take_options(Run *r)
{
    if (r->wants_output) {
        r->opts.on_output = on_output;
        r->opts.user = r;
    }
    uint64_t ms = r->opts.limits && r->opts.limits->time_ms != SHELL_LIMIT_DEFAULT ? r->opts.limits->time_ms : r->shell->time_ms;
    double seconds = r->opts.timeout > 0 ? r->opts.timeout : (double)ms / 1000;
    r->deadline_ns = r->opts.timeout < 0 || seconds <= 0 || seconds > 9e8 ? 0 : now_ns() + (int64_t)(seconds * 1e9);
}

/* run(shell, id, script, options): SAY_DONE tells how it went. */
napi_value node_run(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Env *e = env_of(env);
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    Run *r = s ? calloc(1, sizeof *r) : NULL;
    if (!r)
        return s ? shell_throw(env, NULL, SHELL_ENOMEM, NULL) : NULL;
    run_init(r, s);
    shell_ref(s);
    Reader reader = {env, &r->arena};
    r->id = read_number(env, argv[1], 0);
    r->job.work = run_work;
    r->done.deliver = run_done;
    r->output.deliver = run_output;
    if (!read_bytes(&reader, argv[2], &r->script, &r->len) || !read_run(&reader, argv[3], r)) {
        run_free(r);
        return NULL;
    }
    take_options(r);
    s->run = r;
    r->next = e->runs;
    e->runs = r;
    if (env_start(e, &r->job)) {
        env_hold(e);
        return NULL;
    }
    s->run = NULL;
    unlink_run(e, r);
    run_free(r);
    return throw_message(env, SHELL_ENOMEM, "no thread could be started", NULL);
}

/* Whoever waits for JavaScript on its behalf gives up too. */
void run_cancel(Run *r)
{
    Env *e = r->shell->env;
    atomic_store(&r->cancelled, true);
    shell_cancel(r->shell->sh);
    pthread_mutex_lock(&e->lock);
    pthread_cond_broadcast(&e->reply);
    pthread_mutex_unlock(&e->lock);
}

napi_value node_cancel(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    get_args(env, info, argv);
    NShell *s = shell_arg(env, argv[0]);
    if (s && s->run)
        run_cancel(s->run);
    return NULL;
}

/* ---------- runs on JavaScript's own stack ---------- */

static shell_err direct_steps(Run *r)
{
    shell *sh = r->shell->sh;
    shell_pending pending = {.size = sizeof pending};
    int32_t state = SHELL_PENDING;
    shell_err err = shell_begin(sh, r->script, r->len, &r->opts);
    while (!err && state != SHELL_DONE) {
        err = shell_step(sh, &state, &pending);
        if (r->first) {
            napi_handle_scope scope;
            napi_env env = r->shell->env->env;
            napi_open_handle_scope(env, &scope);
            napi_value argv[] = {number(env, SAY_OUTPUT), number(env, r->id)};
            r->shell->inside++;
            dispatch(r->shell->env, 2, argv);
            r->shell->inside--;
            napi_close_handle_scope(env, scope);
        } else if (!err && state == SHELL_PENDING)
            shell_pause(sh, &pending);
    }
    return err ? err : shell_end(sh, &r->result);
}

static shell_err run_direct(NShell *s, Run *r)
{
    Current outer = current;
    current = (Current){s, r, true};
    s->run = r;
    shell_ref(s);
    shell_err err = r->wants_output ? direct_steps(r) : shell_run(s->sh, r->script, r->len, &r->opts, &r->result);
    audit_flush(s);
    s->run = NULL;
    current = outer;
    return err;
}

/* Most scripts are short strings with no options: they take no memory. */
static bool short_script(napi_env env, napi_value v, char *small, size_t room, size_t *len)
{
    return napi_get_value_string_utf8(env, v, small, room, len) == napi_ok && *len + 4 < room;
}

/* runSync(shell, script, options, id): stdout, or [stdout, stderr] when there is a stderr. */
napi_value node_run_sync(napi_env env, napi_callback_info info)
{
    char small[2048];
    napi_value argv[MOST_ARGS], out = NULL, err_out = NULL, pair;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    if (!s)
        return NULL;
    Run r = {.id = read_number(env, argv[3], 0)};
    Reader reader = {env, &r.arena};
    run_init(&r, s);
    if (short_script(env, argv[1], small, sizeof small, &r.len))
        r.script = small;
    else if (!read_bytes(&reader, argv[1], &r.script, &r.len)) {
        arena_free(&r.arena);
        return NULL;
    }
    if (!read_run(&reader, argv[2], &r)) {
        arena_free(&r.arena);
        return NULL;
    }
    if (r.wants_output) {
        r.opts.on_output = on_output;
        r.opts.user = &r;
    }
    shell_err err = run_direct(s, &r);
    if (!err)
        result_values(s->env, r.result, &out, &err_out);
    else
        shell_throw(env, s, err, NULL);
    free_pieces(&r);
    arena_free(&r.arena);
    pthread_mutex_destroy(&r.lock);
    shell_unref(s);
    if (err || !err_out)
        return out;
    napi_create_array_with_length(env, 2, &pair);
    napi_set_element(env, pair, 0, out);
    napi_set_element(env, pair, 1, err_out);
    return pair;
}

/* formatResult(out, err, numbers, limit, cap) */
napi_value node_format_result(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS], v = NULL;
    Arena arena = {0};
    Reader reader = {env, &arena};
    size_t out_len, err_len;
    char *formatted;
    uint64_t len;
    get_args(env, info, argv);
    shell_result r = {.size = sizeof r, .status = (int32_t)read_number(env, at(env, argv[2], 0), 0), .end = (int32_t)read_number(env, at(env, argv[2], 1), 0),
                      .limit_value = (uint64_t)read_number(env, at(env, argv[2], 6), 0)};
    int truncated = (int)read_number(env, at(env, argv[2], 2), 0);
    r.out_truncated = truncated & 1;
    r.err_truncated = truncated >> 1 & 1;
    shell_format_opts opts = {.size = sizeof opts, .cap = (uint64_t)read_number(env, argv[4], 0)};
    if (read_bytes(&reader, argv[0], &r.out, &out_len) && read_bytes(&reader, argv[1], &r.err, &err_len) && read_text(&reader, argv[3], &r.limit)) {
        r.out = r.out ? r.out : "";
        r.err = r.err ? r.err : "";
        r.out_len = out_len;
        r.err_len = err_len;
        shell_err err = shell_format_result(&r, &opts, &formatted, &len);
        v = err ? throw_message(env, err, "formatResult: cap is at least 200", NULL) : text_n(env, formatted, (size_t)len);
        if (!err)
            shell_free(formatted);
    }
    arena_free(&arena);
    return v;
}

const Export run_exports[] = {
    {"run", node_run}, {"runSync", node_run_sync}, {"take", node_take}, {"breakOutput", node_break_output},
    {"cancel", node_cancel}, {"limit", limit_of_newest}, {"formatResult", node_format_result}, {NULL, NULL},
};
