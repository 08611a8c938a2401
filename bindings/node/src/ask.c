/* ask: what shell.h wants answered at once: the policy's questions, the network's. On JavaScript's own stack it is called; from a run's
 * thread the question travels and the thread waits, at most until its run is over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "addon.h"

enum { NET_DECIDE, NET_RESOLVE, NET_SECRET, NET_SIGN };

typedef struct {
    Message m;
    _Atomic int refs;      /* of the thread that waits, and of JavaScript's side */
    NShell *s;
    bool holds;            /* JavaScript's side has not answered: it keeps the shell */
    bool counted;          /* in s->inside */
    bool direct;
    int kind;              /* SAY_* */
    int32_t what;
    char *a, *b;
    double n;
    uint64_t question;     /* its number; of NET_DECIDE the length of the body */
    bool done;             /* under the Env's lock */
    int64_t result;
    Bytes reply;
    Bytes body;            /* of NET_SIGN */
    bool has_body;
} Ask;

static void ask_unref(Ask *a)
{
    if (atomic_fetch_sub(&a->refs, 1) != 1)
        return;
    free(a->a);
    free(a->b);
    free(a->body.data);
    free(a->reply.data);
    free(a);
}

static void settle(Ask *a, int64_t result, const char *words, size_t len)
{
    Env *e = a->s->env;
    pthread_mutex_lock(&e->lock);
    if (!a->done) {
        a->result = bytes_add(&a->reply, words, len) ? result : -1;
        a->done = true;
        pthread_cond_broadcast(&e->reply);
    }
    pthread_mutex_unlock(&e->lock);
}

/* JavaScript's side has said its last word. */
static void let_go(Ask *a)
{
    if (!a->holds)
        return;
    a->holds = false;
    if (a->counted)
        a->s->inside--;
    shell_unref(a->s);
}

static void token_finalize(napi_env env, void *data, void *hint)
{
    Ask *a = data;
    (void)env;
    (void)hint;
    if (a->holds) {
        settle(a, -1, "", 0);
        if (a->done && a->result == SHELL_EAGAIN) /* a promise that nothing can settle any more */
            shell_answer(a->s->sh, a->question, 1);
    }
    let_go(a);
    ask_unref(a);
}

static void call_js(napi_env env, Ask *a)
{
    napi_value token, direct;
    a->counted = true;
    a->s->inside++;
    if (napi_create_external(env, a, token_finalize, NULL, &token) != napi_ok) {
        token_finalize(env, a, NULL);
        return;
    }
    napi_get_boolean(env, a->direct, &direct);
    napi_value argv[] = {number(env, a->kind), number(env, (double)a->s->number), token, direct, number(env, a->what), text(env, a->a), text(env, a->b), number(env, a->n),
                         number(env, (double)(int64_t)a->question)};
    if (a->kind == SAY_NET && a->what == NET_SIGN)
        argv[8] = a->has_body ? bytes_value(env, a->body.data, a->body.len) : nothing(env);
    if (!dispatch(a->s->env, 9, argv)) {
        settle(a, -1, "", 0);
        let_go(a);
    }
}

static void ask_deliver(napi_env env, Message *m)
{
    Ask *a = (Ask *)m;
    if (env) {
        call_js(env, a);
        return;
    }
    token_finalize(NULL, a, NULL);
}

static void wait_for_reply(Ask *a)
{
    Env *e = a->s->env;
    const Run *r = current.run;
    struct timespec until;
    pthread_mutex_unlock(&a->s->lock);
    pthread_mutex_lock(&e->lock);
    while (!a->done && !e->closing && !(r && atomic_load(&r->cancelled))) {
        if (!r || !r->deadline_ns) {
            pthread_cond_wait(&e->reply, &e->lock);
            continue;
        }
        until = (struct timespec){.tv_sec = r->deadline_ns / 1000000000, .tv_nsec = r->deadline_ns % 1000000000};
        if (pthread_cond_timedwait(&e->reply, &e->lock, &until) != 0)
            break;
    }
    if (!a->done) {
        a->done = true;
        a->result = -1;
    }
    pthread_mutex_unlock(&e->lock);
    pthread_mutex_lock(&a->s->lock);
}

static char *copy(const char *s) { return s ? strdup(s) : NULL; }

static Ask *ask_new(int kind, int32_t what, const char *x, const char *y, double n, uint64_t question)
{
    NShell *s = current.shell;
    Ask *a = s ? calloc(1, sizeof *a) : NULL;
    if (!a)
        return NULL;
    *a = (Ask){.m = {ask_deliver}, .s = s, .holds = true, .direct = current.direct, .kind = kind, .what = what, .a = copy(x), .b = copy(y), .n = n, .question = question};
    atomic_init(&a->refs, 2);
    shell_ref(s);
    return a;
}

/* NULL: nobody could be asked. To be given to ask_unref. */
static Ask *put_question(Ask *a)
{
    if (!a)
        return NULL;
    NShell *s = a->s;
    if (a->direct) {
        napi_handle_scope scope;
        napi_open_handle_scope(s->env->env, &scope);
        call_js(s->env->env, a);
        napi_close_handle_scope(s->env->env, scope);
        settle(a, -1, "", 0);
        return a;
    }
    if (say(s->env, &a->m)) {
        wait_for_reply(a);
        return a;
    }
    atomic_fetch_sub(&s->refs, 1); /* the run holds another */
    free(a->a);
    free(a->b);
    free(a->body.data);
    free(a);
    return NULL;
}

static Ask *ask(int kind, int32_t what, const char *x, const char *y, double n, uint64_t question) { return put_question(ask_new(kind, what, x, y, n, question)); }

/* ---------- the functions of shell.h ---------- */

static void put(char *out, uint64_t size, const Bytes *b)
{
    if (!size)
        return;
    size_t n = b->len < size ? b->len : (size_t)size - 1;
    if (n)
        memcpy(out, b->data, n);
    out[n] = 0;
}

int32_t on_ask(void *user, const shell_question *q, char *reason, uint64_t size)
{
    (void)user;
    Ask *a = ask(SAY_ASK, q->kind, q->subject, NULL, 0, q->id);
    if (!a)
        return 1;
    int32_t result = (int32_t)a->result;
    put(reason, size, &a->reply);
    ask_unref(a);
    return result;
}

int32_t on_decide(void *user, const char *method, const char *url, uint32_t hop, int64_t body_len)
{
    (void)user;
    Ask *a = ask(SAY_NET, NET_DECIDE, method, url, hop, (uint64_t)body_len);
    if (!a)
        return 1;
    int32_t result = (int32_t)a->result;
    ask_unref(a);
    return result;
}

int32_t on_resolve(void *user, const char *host, char *out, uint64_t size)
{
    (void)user;
    Ask *a = ask(SAY_NET, NET_RESOLVE, host, NULL, 0, 0);
    if (!a)
        return 1;
    int32_t result = a->result || a->reply.len >= size;
    put(out, size, &a->reply);
    ask_unref(a);
    return result;
}

/* What is secret: its length, or -1. */
static int64_t take_reply(Ask *a, char *out, uint64_t size)
{
    if (!a)
        return -1;
    int64_t result = a->result || a->reply.len > size ? -1 : (int64_t)a->reply.len;
    if (result > 0)
        memcpy(out, a->reply.data, a->reply.len);
    memset(a->reply.data ? a->reply.data : "", 0, a->reply.data ? a->reply.len : 0);
    ask_unref(a);
    return result;
}

int64_t on_secret(void *user, uint64_t index, const char *method, const char *url, char *out, uint64_t size)
{
    (void)user;
    return take_reply(ask(SAY_NET, NET_SECRET, method, url, (double)index, 0), out, size);
}

int64_t on_sign(void *user, uint64_t index, const char *method, const char *url, const char *body, uint64_t body_len, char *out, uint64_t size)
{
    (void)user;
    Ask *a = ask_new(SAY_NET, NET_SIGN, method, url, (double)index, 0);
    if (a && body) {
        a->has_body = true;
        if (!bytes_add(&a->body, body, (size_t)body_len))
            a->what = -1; /* no memory: nobody signs what was not seen */
    }
    return take_reply(put_question(a), out, size);
}

/* ---------- answers ---------- */

/* askReply(token, result, words, later): `later` when askAnswer is to follow. */
static napi_value node_ask_reply(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    void *data = NULL;
    const char *words;
    size_t len;
    get_args(env, info, argv);
    if (napi_get_value_external(env, argv[0], &data) == napi_ok && read_bytes(&reader, argv[2], &words, &len)) {
        settle(data, read_int(env, argv[1], -1), words ? words : "", len);
        if (!read_int(env, argv[3], 0))
            let_go(data);
    }
    arena_free(&arena);
    return NULL;
}

static napi_value node_ask_answer(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    void *data = NULL;
    get_args(env, info, argv);
    Ask *a = napi_get_value_external(env, argv[0], &data) == napi_ok ? data : NULL;
    if (a && a->holds) {
        shell_answer(a->s->sh, a->question, read_int(env, argv[1], 1));
        let_go(a);
    }
    return NULL;
}

const Export ask_exports[] = {{"askReply", node_ask_reply}, {"askAnswer", node_ask_answer}, {NULL, NULL}};
