/* env: one JavaScript thread's side of the addon: its threads, its messages, its end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "addon.h"

enum { IDLE_SECONDS = 10, KEPT_IDLE = 4 };

int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

Env *env_of(napi_env env)
{
    void *data = NULL;
    napi_get_instance_data(env, &data);
    return data;
}

void env_unref(Env *e)
{
    if (atomic_fetch_sub(&e->refs, 1) != 1)
        return;
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->work);
    pthread_cond_destroy(&e->reply);
    pthread_cond_destroy(&e->gone);
    free(e);
}

/* ---------- threads ---------- */

static Job *next_job(Env *e)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += IDLE_SECONDS;
    while (!e->first && !e->closing) {
        e->idle++;
        int err = pthread_cond_timedwait(&e->work, &e->lock, &until);
        e->idle--;
        if (err != ETIMEDOUT || e->first)
            continue;
        if (e->threads > KEPT_IDLE)
            return NULL;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += IDLE_SECONDS;
    }
    Job *job = e->first;
    if (job) {
        e->first = job->next;
        e->queued--;
        if (!e->first)
            e->last = &e->first;
    }
    return job;
}

static void *thread_main(void *user)
{
    Env *e = user;
    pthread_mutex_lock(&e->lock);
    for (Job *job; (job = next_job(e));) {
        pthread_mutex_unlock(&e->lock);
        job->work(job);
        pthread_mutex_lock(&e->lock);
    }
    e->threads--;
    pthread_cond_broadcast(&e->gone);
    pthread_mutex_unlock(&e->lock);
    env_unref(e);
    return NULL;
}

static bool add_thread(Env *e)
{
    pthread_t thread;
    atomic_fetch_add(&e->refs, 1);
    if (pthread_create(&thread, NULL, thread_main, e) != 0) {
        atomic_fetch_sub(&e->refs, 1);
        return false;
    }
    pthread_detach(thread);
    e->threads++;
    return true;
}

/* A job never waits for another to end, for it may be what the other waits for: there is a thread for each. */
bool env_start(Env *e, Job *job)
{
    pthread_mutex_lock(&e->lock);
    bool ok = !e->closing && (e->idle > e->queued || add_thread(e));
    if (ok) {
        job->next = NULL;
        *e->last = job;
        e->last = &job->next;
        e->queued++;
    }
    pthread_mutex_unlock(&e->lock);
    if (ok)
        pthread_cond_signal(&e->work);
    return ok;
}

void env_hold(Env *e)
{
    if (e->active++ == 0)
        napi_ref_threadsafe_function(e->env, e->tsf);
}

void env_release(Env *e)
{
    if (--e->active == 0)
        napi_unref_threadsafe_function(e->env, e->tsf);
}

/* The JavaScript thread ends: so do its runs, and no thread is left behind. What they still say is thrown away by say's other end. */
void env_close(void *user)
{
    Env *e = user;
    pthread_mutex_lock(&e->lock);
    e->closing = true;
    pthread_cond_broadcast(&e->work);
    pthread_cond_broadcast(&e->reply);
    pthread_mutex_unlock(&e->lock);
    for (Run *r = e->runs; r; r = r->next)
        run_cancel(r);
    pthread_mutex_lock(&e->lock);
    while (e->threads > 0)
        pthread_cond_wait(&e->gone, &e->lock);
    pthread_mutex_unlock(&e->lock);
}

/* ---------- messages ---------- */

bool say(Env *e, Message *m) { return napi_call_threadsafe_function(e->tsf, m, napi_tsfn_nonblocking) == napi_ok; }

static void deliver(napi_env env, napi_value function, void *context, void *data)
{
    Message *m = data;
    (void)function;
    (void)context;
    m->deliver(env, m);
}

napi_value dispatch(Env *e, size_t argc, napi_value *argv)
{
    napi_value function, receiver, result = NULL;
    Current outer = current;
    if (napi_get_reference_value(e->env, e->dispatch, &function) != napi_ok || napi_get_undefined(e->env, &receiver) != napi_ok)
        return NULL;
    bool called = napi_call_function(e->env, receiver, function, argc, argv, &result) == napi_ok;
    current = outer;
    return called ? result : NULL;
}

napi_value number(napi_env env, double d)
{
    napi_value v = NULL;
    napi_create_double(env, d, &v);
    return v;
}

napi_value text_n(napi_env env, const char *s, size_t n)
{
    napi_value v = NULL;
    napi_create_string_utf8(env, s, n, &v);
    return v;
}

napi_value text(napi_env env, const char *s) { return s ? text_n(env, s, NAPI_AUTO_LENGTH) : nothing(env); }

napi_value bytes_value(napi_env env, const char *data, size_t len)
{
    napi_value v = NULL;
    void *to = NULL;
    if (napi_create_arraybuffer(env, len, &to, &v) != napi_ok)
        return NULL;
    if (len)
        memcpy(to, data, len);
    return v;
}

napi_value nothing(napi_env env)
{
    napi_value v = NULL;
    napi_get_undefined(env, &v);
    return v;
}

napi_value null_value(napi_env env)
{
    napi_value v = NULL;
    napi_get_null(env, &v);
    return v;
}

/* ---------- set-up ---------- */

/* setup(dispatch, makeError, numbers) */
static napi_value setup(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Env *e = env_of(env);
    void *data;
    size_t n;
    napi_typedarray_type type;
    napi_ref keep;
    get_args(env, info, argv);
    if (e->dispatch || napi_get_typedarray_info(env, argv[2], &type, &n, &data, NULL, NULL) != napi_ok || n < NUMBERS)
        return throw_message(env, SHELL_EINVAL, "setup", NULL);
    napi_create_reference(env, argv[0], 1, &e->dispatch);
    napi_create_reference(env, argv[1], 1, &e->make_error);
    napi_create_reference(env, argv[2], 1, &keep); /* for as long as the addon: e->numbers is its memory */
    e->numbers = data;
    return NULL;
}

static void env_finalize(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    env_unref(data);
}

static Env *env_new(napi_env env)
{
    pthread_condattr_t attributes;
    Env *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    atomic_init(&e->refs, 1);
    e->env = env;
    e->last = &e->first;
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&e->work, &attributes);
    pthread_cond_init(&e->reply, &attributes);
    pthread_cond_init(&e->gone, &attributes);
    pthread_condattr_destroy(&attributes);
    return e;
}

static void export_all(napi_env env, napi_value exports, const Export *list)
{
    for (; list->name; list++) {
        napi_value f;
        if (napi_create_function(env, list->name, NAPI_AUTO_LENGTH, list->function, NULL, &f) == napi_ok)
            napi_set_named_property(env, exports, list->name, f);
    }
}

NAPI_MODULE_INIT()
{
    static const Export own[] = {{"setup", setup}, {NULL, NULL}};
    const Export *const lists[] = {own, run_exports, shell_exports, file_exports, ask_exports, command_exports, mount_exports, transport_exports};
    napi_value name = text(env, "libshell");
    Env *e = env_new(env);
    if (!e)
        return NULL;
    napi_set_instance_data(env, e, env_finalize, NULL);
    if (napi_create_threadsafe_function(env, NULL, NULL, name, 0, 1, NULL, NULL, NULL, deliver, &e->tsf) != napi_ok)
        return NULL;
    napi_unref_threadsafe_function(env, e->tsf);
    napi_add_env_cleanup_hook(env, env_close, e); /* after the function's own, so it comes before that */
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        export_all(env, exports, lists[i]);
    return exports;
}
