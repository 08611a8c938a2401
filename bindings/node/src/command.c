/* command: commands that are functions of JavaScript.
 *
 * Each is a machine: its standard input is collected, then the function is called, and what it writes goes out whenever the process
 * comes by. A Call belongs to the shell until its process has the status, and to JavaScript until its token is collected.
 */
#include <stdlib.h>
#include <string.h>

#include "addon.h"

struct Call {
    Message start, killed;
    _Atomic int refs;
    Call *next;              /* of the shell's; under the shell's lock */
    NShell *s;
    uint64_t command;
    const char *const *argv;
    int32_t argc;
    const char *cwd;
    Arena arena;
    Bytes input;
    bool direct, holds, counted; /* as in ask.c */
    bool told;               /* start was sent; of the thread that steps */
    napi_ref token;          /* weak */
    pthread_mutex_t lock;    /* of what follows */
    shell_call *call;        /* NULL: it is over */
    uint64_t id;             /* to answer when `waits` */
    bool waits, done, input_used;
    int32_t status;
    Bytes out[2];
};

static void call_unref(Call *c)
{
    if (atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    arena_free(&c->arena);
    free(c->input.data);
    free(c->out[0].data);
    free(c->out[1].data);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static void let_go(Call *c)
{
    if (!c->holds)
        return;
    c->holds = false;
    if (c->counted)
        c->s->inside--;
    shell_unref(c->s);
}

/* With the call's lock. */
static void proceed(Call *c)
{
    if (!c->call || !c->waits)
        return;
    c->waits = false;
    shell_answer(c->s->sh, c->id, SHELL_CALL_MORE);
}

static void finish(Call *c, int32_t status)
{
    pthread_mutex_lock(&c->lock);
    if (!c->done) {
        c->done = true;
        c->status = status;
        proceed(c);
    }
    pthread_mutex_unlock(&c->lock);
}

/* A function whose promise nothing can settle any more ends as one that failed. */
static void token_finalize(napi_env env, void *data, void *hint)
{
    Call *c = data;
    (void)hint;
    if (env && c->token)
        napi_delete_reference(env, c->token);
    c->token = NULL;
    if (c->holds)
        finish(c, 1);
    let_go(c);
    call_unref(c);
}

static napi_value call_array(napi_env env, const Call *c)
{
    napi_value list;
    napi_create_array_with_length(env, (size_t)c->argc, &list);
    for (int32_t i = 0; i < c->argc; i++)
        napi_set_element(env, list, (uint32_t)i, text(env, c->argv[i]));
    return list;
}

static void call_js(napi_env env, Call *c)
{
    napi_value token, direct;
    c->counted = true;
    c->s->inside++;
    if (napi_create_external(env, c, token_finalize, NULL, &token) != napi_ok) {
        token_finalize(NULL, c, NULL);
        return;
    }
    napi_create_reference(env, token, 0, &c->token);
    napi_get_boolean(env, c->direct, &direct);
    napi_value argv[] = {number(env, SAY_CALL), number(env, (double)c->s->number), token, direct, number(env, (double)c->command), call_array(env, c), text(env, c->cwd)};
    if (!dispatch(c->s->env, 7, argv)) {
        finish(c, 1);
        let_go(c);
    }
}

static void start_deliver(napi_env env, Message *m)
{
    Call *c = (Call *)((char *)m - offsetof(Call, start));
    if (env)
        call_js(env, c);
    else
        token_finalize(NULL, c, NULL);
}

static void killed_deliver(napi_env env, Message *m)
{
    Call *c = (Call *)((char *)m - offsetof(Call, killed));
    napi_value token = NULL;
    if (env && c->token && napi_get_reference_value(env, c->token, &token) == napi_ok && token) {
        napi_value argv[] = {number(env, SAY_KILLED), number(env, (double)c->s->number), token};
        dispatch(c->s->env, 3, argv);
        let_go(c);
    }
    call_unref(c);
}

/* ---------- events, on the thread that steps, with the shell's lock ---------- */

static Call *call_of(NShell *s, const shell_call *call)
{
    Call *c = s->calls;
    while (c && c->call != call)
        c = c->next;
    return c;
}

static void forget(NShell *s, Call *c)
{
    for (Call **at_call = &s->calls; *at_call; at_call = &(*at_call)->next)
        if (*at_call == c) {
            *at_call = c->next;
            break;
        }
    pthread_mutex_lock(&c->lock);
    c->call = NULL;
    c->waits = false;
    pthread_mutex_unlock(&c->lock);
}

static const char *keep(Arena *a, const char *s)
{
    size_t n = strlen(s) + 1;
    char *to = arena_alloc(a, n);
    return to ? memcpy(to, s, n) : NULL;
}

static Call *call_new(NShell *s, shell_call *call, uint64_t command)
{
    Call *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    atomic_init(&c->refs, 1);
    c->start.deliver = start_deliver;
    c->killed.deliver = killed_deliver;
    c->s = s;
    c->call = call;
    c->command = command;
    pthread_mutex_init(&c->lock, NULL);
    c->argc = shell_call_argc(call);
    const char **argv = arena_alloc(&c->arena, ((size_t)c->argc + 1) * sizeof *argv);
    bool whole = argv && (c->cwd = keep(&c->arena, shell_call_cwd(call)));
    for (int32_t i = 0; whole && i < c->argc; i++)
        whole = (argv[i] = keep(&c->arena, shell_call_arg(call, i))) != NULL;
    c->argv = argv;
    if (!whole) {
        call_unref(c);
        return NULL;
    }
    c->next = s->calls;
    s->calls = c;
    return c;
}

/* Gives out what was written, then the status if there is one. */
static int32_t pump(NShell *s, Call *c)
{
    pthread_mutex_lock(&c->lock);
    bool rest = false;
    for (int i = 0; i < 2; i++) {
        Bytes *b = &c->out[i];
        uint64_t written = 0;
        if (b->len && shell_call_write(c->call, i + 1, b->data, b->len, &written) != SHELL_OK)
            written = b->len;
        b->len -= (size_t)written;
        if (b->len && written)
            memmove(b->data, b->data + written, b->len);
        rest |= b->len > 0;
    }
    bool over = c->done && !rest;
    c->waits = !over && !rest;
    c->id = shell_call_id(c->call);
    int32_t status = c->status & 255;
    bool waits = c->waits;
    if (over && !c->input_used)
        shell_call_unread(c->call);
    pthread_mutex_unlock(&c->lock);
    if (!over)
        return waits ? SHELL_CALL_LATER : SHELL_CALL_MORE;
    bool unknown = c->status == SHELL_CALL_UNKNOWN;
    forget(s, c);
    call_unref(c);
    return unknown ? SHELL_CALL_UNKNOWN : status;
}

static int32_t call_start(NShell *s, Call *c)
{
    c->holds = true;
    c->direct = current.direct;
    atomic_fetch_add(&c->refs, 1);
    shell_ref(s);
    if (!c->direct) {
        pthread_mutex_lock(&c->lock);
        c->waits = true;
        c->id = shell_call_id(c->call);
        pthread_mutex_unlock(&c->lock);
        c->told = say(s->env, &c->start);
        if (c->told)
            return SHELL_CALL_LATER;
        atomic_fetch_sub(&s->refs, 1); /* the run holds another */
        c->holds = false;
        call_unref(c);
        finish(c, 1);
        return pump(s, c);
    }
    napi_handle_scope scope;
    napi_open_handle_scope(s->env->env, &scope);
    call_js(s->env->env, c);
    napi_close_handle_scope(s->env->env, scope);
    finish(c, 1);
    return pump(s, c);
}

static int32_t killed(NShell *s, Call *c)
{
    forget(s, c);
    if (!c->told || !say(s->env, &c->killed))
        call_unref(c);
    return 0;
}

static int32_t on_command(void *user, shell_call *call, int32_t event, const char *data, uint64_t len)
{
    NShell *s = current.shell;
    if (!s)
        return 1;
    Call *c = event == SHELL_CALL_START ? call_new(s, call, (uint64_t)(uintptr_t)user) : call_of(s, call);
    if (!c)
        return 1;
    switch (event) {
    case SHELL_CALL_START: return SHELL_CALL_MORE;
    case SHELL_CALL_INPUT:
        if (bytes_add(&c->input, data, (size_t)len))
            return SHELL_CALL_MORE;
        forget(s, c);
        call_unref(c);
        return 1;
    case SHELL_CALL_INPUT_END: return call_start(s, c);
    case SHELL_CALL_WRITABLE: return pump(s, c);
    default: return killed(s, c);
    }
}

/* ---------- functions of JavaScript ---------- */

static Call *call_arg(napi_env env, napi_value v)
{
    void *data = NULL;
    return napi_get_value_external(env, v, &data) == napi_ok ? data : NULL;
}

/* callWrite(token, stream, data) */
static napi_value node_call_write(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    const char *data;
    size_t len;
    get_args(env, info, argv);
    Call *c = call_arg(env, argv[0]);
    if (c && read_bytes(&reader, argv[2], &data, &len)) {
        pthread_mutex_lock(&c->lock);
        bool ok = !c->call || c->done || bytes_add(&c->out[read_int(env, argv[1], 1) == 2], data, len);
        if (len)
            proceed(c);
        pthread_mutex_unlock(&c->lock);
        if (!ok)
            throw_message(env, SHELL_ENOMEM, "out of memory", NULL);
    }
    arena_free(&arena);
    return NULL;
}

/* callFinish(token, status) */
static napi_value node_call_finish(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    get_args(env, info, argv);
    Call *c = call_arg(env, argv[0]);
    if (c) {
        finish(c, read_int(env, argv[1], 1));
        let_go(c);
    }
    return NULL;
}

static napi_value node_call_input(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    get_args(env, info, argv);
    Call *c = call_arg(env, argv[0]);
    if (!c)
        return NULL;
    pthread_mutex_lock(&c->lock);
    c->input_used = true;
    pthread_mutex_unlock(&c->lock);
    return bytes_value(env, c->input.data, c->input.len);
}

/* callGetenv(token, name) */
static napi_value node_call_getenv(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS], v = nothing(env);
    Arena arena = {0};
    Reader reader = {env, &arena};
    const char *name;
    get_args(env, info, argv);
    Call *c = call_arg(env, argv[0]);
    if (c && c->holds && read_text(&reader, argv[1], &name) && name) {
        shell_want(c->s);
        pthread_mutex_lock(&c->lock);
        const char *value = c->call ? shell_call_getenv(c->call, name) : NULL;
        if (value)
            v = text(env, value);
        pthread_mutex_unlock(&c->lock);
        shell_yield_back(c->s);
    }
    arena_free(&arena);
    return v;
}

/* command(shell, name, number) */
static napi_value node_command(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    const char *name;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    if (s && read_text(&reader, argv[1], &name)) {
        void *user = (void *)(uintptr_t)(uint64_t)read_number(env, argv[2], 0);
        shell_err err = shell_command_machine(s->sh, name ? name : "", on_command, user);
        if (err)
            shell_throw(env, s, err, name);
    }
    arena_free(&arena);
    return NULL;
}

/* unknownCommand(shell, number); 0: none */
static napi_value node_unknown_command(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    uint64_t n = (uint64_t)read_number(env, argv[1], 0);
    shell_err err = s ? shell_unknown_command(s->sh, n ? on_command : NULL, (void *)(uintptr_t)n) : SHELL_OK;
    return err ? shell_throw(env, s, err, NULL) : NULL;
}

const Export command_exports[] = {
    {"callWrite", node_call_write}, {"callFinish", node_call_finish}, {"callInput", node_call_input}, {"callGetenv", node_call_getenv},
    {"command", node_command}, {"unknownCommand", node_unknown_command}, {NULL, NULL},
};
