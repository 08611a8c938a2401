/* transport: a way out of JavaScript's own. The body is collected; when the answer is wanted JavaScript is asked for its head and first piece,
 * and for each further piece when the one before it has been read. On JavaScript's own stack it must answer at once. */
#include <stdlib.h>
#include <string.h>

#include "addon.h"

enum { BEGIN, MORE, CLOSE };
enum { REPLY_PIECE, REPLY_END, REPLY_FAILED };

/* The library's handle on the thread that steps; messages and tokens on JavaScript's. The run holds the shell for as long as it is not closed. */
typedef struct {
    Message want, gone;
    _Atomic int refs;
    Env *env;
    NShell *s;
    double id, shell;
    Bytes head;             /* method, URL, addresses, header lines: each with its NUL */
    Bytes body;
    bool has_body, insecure, begun;
    double timeout_ms;
    pthread_mutex_t lock;   /* of what follows */
    Bytes in;
    size_t at;
    bool wanted, ended, failed, closed;
} Transfer;

typedef struct {
    Transfer *t;
    bool answered;
} Token;

static void transfer_unref(Transfer *t)
{
    if (atomic_fetch_sub(&t->refs, 1) != 1)
        return;
    if (t->head.data) /* credentials are among the lines */
        memset(t->head.data, 0, t->head.len);
    free(t->head.data);
    free(t->body.data);
    free(t->in.data);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static void reply(Token *token, int kind, const char *data, size_t len)
{
    Transfer *t = token->t;
    if (token->answered)
        return;
    token->answered = true;
    pthread_mutex_lock(&t->lock);
    bool closed = t->closed;
    t->wanted = false;
    t->ended |= kind == REPLY_END;
    t->failed |= kind == REPLY_FAILED || (!closed && !bytes_add(&t->in, data, len));
    pthread_mutex_unlock(&t->lock);
    if (!closed)
        shell_wake(t->s->sh);
}

static void token_finalize(napi_env env, void *data, void *hint)
{
    Token *token = data;
    (void)env;
    (void)hint;
    reply(token, REPLY_FAILED, "", 0); /* a promise that nothing can settle any more */
    transfer_unref(token->t);
    free(token);
}

/* ---------- asking ---------- */

static napi_value request_of(napi_env env, const Transfer *t)
{
    napi_value list;
    uint32_t i = 0;
    napi_create_array(env, &list);
    napi_set_element(env, list, i++, t->has_body ? bytes_value(env, t->body.data, t->body.len) : nothing(env));
    napi_set_element(env, list, i++, number(env, t->timeout_ms));
    napi_set_element(env, list, i++, number(env, t->insecure));
    for (size_t at = 0; at < t->head.len; at += strlen(t->head.data + at) + 1)
        napi_set_element(env, list, i++, text(env, t->head.data + at));
    return list;
}

static void call_js(napi_env env, Transfer *t, bool on_stack)
{
    Token *token = malloc(sizeof *token);
    napi_value external, direct;
    if (!token) {
        Token none = {t, false};
        reply(&none, REPLY_FAILED, "", 0);
        transfer_unref(t);
        return;
    }
    *token = (Token){t, false};
    if (napi_create_external(env, token, token_finalize, NULL, &external) != napi_ok) {
        token_finalize(env, token, NULL);
        return;
    }
    napi_get_boolean(env, on_stack, &direct);
    bool begins = !t->begun;
    t->begun = true;
    napi_value argv[] = {number(env, SAY_TRANSFER), number(env, t->shell), external, direct, number(env, t->id), number(env, begins ? BEGIN : MORE), begins ? request_of(env, t) : nothing(env)};
    if (!dispatch(t->env, 7, argv))
        reply(token, REPLY_FAILED, "", 0);
}

static void want_deliver(napi_env env, Message *m)
{
    Transfer *t = (Transfer *)((char *)m - offsetof(Transfer, want));
    pthread_mutex_lock(&t->lock);
    bool closed = t->closed;
    pthread_mutex_unlock(&t->lock);
    if (env && !closed)
        call_js(env, t, false);
    else
        transfer_unref(t);
}

static void gone_deliver(napi_env env, Message *m)
{
    Transfer *t = (Transfer *)((char *)m - offsetof(Transfer, gone));
    if (env && t->begun) {
        napi_value argv[] = {number(env, SAY_TRANSFER), number(env, t->shell), nothing(env), nothing(env), number(env, t->id), number(env, CLOSE), nothing(env)};
        dispatch(t->env, 7, argv);
    }
    transfer_unref(t);
}

static void ask(Transfer *t)
{
    atomic_fetch_add(&t->refs, 1);
    if (current.direct) {
        napi_handle_scope scope;
        napi_open_handle_scope(t->env->env, &scope);
        call_js(t->env->env, t, true);
        napi_close_handle_scope(t->env->env, scope);
    } else if (!say(t->env, &t->want)) {
        Token none = {t, false};
        reply(&none, REPLY_FAILED, "", 0);
        transfer_unref(t);
    }
}

/* ---------- the functions of shell.h ---------- */

static bool add_text(Bytes *b, const char *s) { return bytes_add(b, s ? s : "", strlen(s ? s : "") + 1); }

int32_t on_transfer(void *user, const shell_transfer *r, void **handle, char *why, uint64_t why_size)
{
    static _Atomic uint64_t ids;
    (void)user;
    (void)why;
    (void)why_size;
    NShell *s = current.shell;
    Transfer *t = s ? calloc(1, sizeof *t) : NULL;
    if (!t)
        return 1;
    *t = (Transfer){.want = {want_deliver}, .gone = {gone_deliver}, .env = s->env, .s = s, .id = (double)atomic_fetch_add(&ids, 1), .shell = (double)s->number, .has_body = r->body_len != -1,
                    .insecure = r->insecure != 0, .timeout_ms = (double)r->timeout_ms};
    atomic_init(&t->refs, 1);
    pthread_mutex_init(&t->lock, NULL);
    bool whole = add_text(&t->head, r->method) && add_text(&t->head, r->url) && add_text(&t->head, r->addresses);
    for (const char *const *h = r->headers; *h; h++)
        whole = whole && add_text(&t->head, *h);
    if (!whole) {
        transfer_unref(t);
        return 1;
    }
    *handle = t;
    return 0;
}

int64_t on_transfer_send(void *user, void *handle, const char *data, uint64_t len)
{
    Transfer *t = handle;
    (void)user;
    return bytes_add(&t->body, data, (size_t)len) ? (int64_t)len : -1;
}

/* Bytes, 0 at the end, -1; SHELL_EAGAIN when JavaScript is to be asked. */
static int64_t take(Transfer *t, char *out, uint64_t size)
{
    int64_t n = t->failed ? -1 : t->ended ? 0 : SHELL_EAGAIN;
    if (t->at < t->in.len) {
        size_t left = t->in.len - t->at;
        n = (int64_t)(left < size ? left : (size_t)size);
        memcpy(out, t->in.data + t->at, (size_t)n);
        t->at += (size_t)n;
        if (t->at == t->in.len)
            t->at = t->in.len = 0;
    }
    return n;
}

int64_t on_transfer_receive(void *user, void *handle, char *out, uint64_t size)
{
    Transfer *t = handle;
    (void)user;
    for (;;) {
        pthread_mutex_lock(&t->lock);
        int64_t n = take(t, out, size);
        bool asks = n == SHELL_EAGAIN && !t->wanted;
        t->wanted |= asks;
        pthread_mutex_unlock(&t->lock);
        if (n == SHELL_EAGAIN && !asks && current.direct)
            return -1; /* it did not answer at once */
        if (!asks)
            return n;
        ask(t);
        if (!current.direct)
            return SHELL_EAGAIN;
    }
}

void on_transfer_close(void *user, void *handle)
{
    Transfer *t = handle;
    (void)user;
    pthread_mutex_lock(&t->lock);
    t->closed = true;
    pthread_mutex_unlock(&t->lock);
    if (current.direct) {
        napi_handle_scope scope;
        napi_open_handle_scope(t->env->env, &scope);
        gone_deliver(t->env->env, &t->gone);
        napi_close_handle_scope(t->env->env, scope);
    } else if (!say(t->env, &t->gone)) {
        transfer_unref(t);
    }
}

/* ---------- answers ---------- */

/* transferReply(token, kind, bytes) */
static napi_value node_transfer_reply(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    void *token = NULL;
    const char *data;
    size_t len;
    get_args(env, info, argv);
    if (napi_get_value_external(env, argv[0], &token) == napi_ok && read_bytes(&reader, argv[2], &data, &len))
        reply(token, read_int(env, argv[1], REPLY_FAILED), data ? data : "", data ? len : 0);
    arena_free(&arena);
    return NULL;
}

const Export transport_exports[] = {{"transferReply", node_transfer_reply}, {NULL, NULL}};
