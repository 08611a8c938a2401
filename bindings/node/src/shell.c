/* shell: opening, closing, copying and configuring shells; images; errors. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "addon.h"

/* ---------- errors ---------- */

/* makeError(number, message, path) gives the error. */
napi_value throw_message(napi_env env, shell_err err, const char *message, const char *path)
{
    Env *e = env_of(env);
    napi_value function, error, argv[] = {number(env, err), text(env, message && *message ? message : shell_strerror(err)), text(env, path ? path : "")};
    bool pending = false;
    napi_is_exception_pending(env, &pending);
    if (!pending && e->make_error && napi_get_reference_value(env, e->make_error, &function) == napi_ok &&
        napi_call_function(env, nothing(env), function, 3, argv, &error) == napi_ok)
        napi_throw(env, error);
    return NULL;
}

napi_value shell_throw(napi_env env, NShell *s, shell_err err, const char *path)
{
    return throw_message(env, err, s && s->sh ? shell_message(s->sh) : "", path);
}

/* ---------- handles ---------- */

NShell *shell_new(Env *e)
{
    pthread_mutexattr_t attributes;
    NShell *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    atomic_init(&s->refs, 1);
    atomic_fetch_add(&e->refs, 1);
    s->env = e;
    s->time_ms = 30000;
    s->number = ++e->next_shell;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&s->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_cond_init(&s->turn, NULL);
    return s;
}

void shell_ref(NShell *s) { atomic_fetch_add(&s->refs, 1); }

static void end_shell(NShell *s)
{
    shell *sh = s->sh;
    Current outer = current;
    if (!sh)
        return;
    current = (Current){s, NULL, false}; /* lines of audit that closing gives are for nobody */
    s->sh = NULL;
    shell_close(sh);
    current = outer;
    free(s->audit.data);
    s->audit = (Bytes){0};
}

void shell_unref(NShell *s)
{
    int left = atomic_fetch_sub(&s->refs, 1) - 1;
    if (left == 1 && s->closed) /* the handle's: what is left is to be told that it is closed, which may be long */
        end_shell(s);
    if (left)
        return;
    end_shell(s);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->turn);
    env_unref(s->env);
    free(s);
}

/* True when nothing but the handle is left: shell_again may make another shell of it. */
static bool close_handle(NShell *s)
{
    if (s->closed)
        return false;
    s->closed = true;
    if (s->run)
        run_cancel(s->run);
    shell_unref(s);
    return atomic_load(&s->refs) == 1 && !s->run;
}

/* A shell that was closed, for a new one; NULL: it cannot be. */
static NShell *shell_again(napi_env env, napi_value v)
{
    void *data = NULL;
    NShell *s = !is_nothing(env, v) && napi_get_value_external(env, v, &data) == napi_ok ? data : NULL;
    if (!s || !s->closed || s->sh || atomic_load(&s->refs) != 1)
        return NULL;
    shell_ref(s);
    s->number = ++s->env->next_shell;
    s->time_ms = 30000;
    s->run = NULL;
    s->calls = NULL;
    s->inside = 0;
    s->closed = false;
    return s;
}

/* The handle outlives close() so that later calls find out; it holds a second reference for that. */
static void handle_finalize(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    close_handle(data);
    shell_unref(data);
}

napi_value shell_handle(napi_env env, NShell *s)
{
    napi_value v = NULL;
    shell_ref(s);
    if (napi_create_external(env, s, handle_finalize, NULL, &v) == napi_ok)
        return v;
    shell_unref(s);
    shell_unref(s);
    return NULL;
}

NShell *shell_arg(napi_env env, napi_value v)
{
    void *data = NULL;
    if (napi_get_value_external(env, v, &data) != napi_ok || !data) {
        throw_message(env, SHELL_EINVAL, "not a shell", NULL);
        return NULL;
    }
    return data;
}

NShell *shell_idle(napi_env env, napi_value v)
{
    NShell *s = shell_arg(env, v);
    if (s && !s->closed && !s->run) {
        current = (Current){s, NULL, true}; /* mounts may be asked; dispatch puts back what was */
        return s;
    }
    if (s)
        throw_message(env, s->closed ? SHELL_EINVAL : SHELL_EBUSY, s->closed ? "the shell is closed" : "the shell is running", NULL);
    return NULL;
}

bool shell_enter(napi_env env, NShell *s, const char *path)
{
    if (s->closed || (s->run && !s->inside)) {
        throw_message(env, s->closed ? SHELL_EINVAL : SHELL_EBUSY, s->closed ? "the shell is closed" : "the shell is running", path);
        return false;
    }
    shell_ref(s); /* a mount's function may close it */
    shell_want(s);
    return true;
}

void shell_want(NShell *s)
{
    if (pthread_mutex_trylock(&s->lock) == 0)
        return;
    atomic_fetch_add(&s->wanted, 1);
    shell_yield(s->sh);
    pthread_mutex_lock(&s->lock);
    atomic_fetch_sub(&s->wanted, 1);
}

void shell_yield_back(NShell *s)
{
    pthread_cond_signal(&s->turn);
    pthread_mutex_unlock(&s->lock);
}

void shell_give_way(NShell *s)
{
    while (atomic_load(&s->wanted))
        pthread_cond_wait(&s->turn, &s->lock);
}

void shell_leave(NShell *s)
{
    shell_yield_back(s);
    shell_unref(s);
}

/* ---------- components ---------- */

/* From beside the addon; never closed, for shells hold its table. */
const shell_component *on_component(void *user, const char *name)
{
    typedef const shell_component *(*Entry)(void);
    Dl_info self;
    char path[4096], entry[64];
    (void)user;
    if (!dladdr((void *)(uintptr_t)on_component, &self) || !self.dli_fname)
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    int folder = slash ? (int)(slash - self.dli_fname) : 1;
    int n = snprintf(path, sizeof path, "%.*s/libshell-%s.so", folder, slash ? self.dli_fname : ".", name);
    void *object = n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!object)
        return NULL;
    snprintf(entry, sizeof entry, "libshell_%s", name);
    Entry function;
    *(void **)&function = dlsym(object, entry);
    return function ? function() : NULL;
}

/* ---------- opening ---------- */

typedef struct {
    Job job;
    Message done;
    Arena arena;
    Env *env;
    NShell *shell;
    double id;
    shell_options options;
    shell_err err;
    char message[256];
} Opening;

static void opening_run(Opening *o)
{
    Current outer = current;
    current = (Current){o->shell, NULL, false};
    o->options.message = o->message;
    o->options.message_size = sizeof o->message;
    o->err = shell_open(&o->options, &o->shell->sh);
    if (o->options.limits && o->options.limits->time_ms != SHELL_LIMIT_DEFAULT)
        o->shell->time_ms = o->options.limits->time_ms;
    current = outer;
}

static bool opening_read(napi_env env, Opening *o, napi_value options, NShell *again)
{
    Reader reader = {env, &o->arena};
    o->env = env_of(env);
    o->shell = again ? again : shell_new(o->env);
    if (!o->shell)
        return throw_message(env, SHELL_ENOMEM, "out of memory", NULL);
    return read_options(&reader, options, &o->options);
}

static void opening_drop(Opening *o)
{
    arena_free(&o->arena);
    if (o->shell)
        shell_unref(o->shell);
}

/* open(options, handle): in a handle that close left idle, or a new one */
static napi_value node_open(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS], v = NULL;
    Opening o = {.id = 0};
    get_args(env, info, argv);
    NShell *again = shell_again(env, argv[1]);
    if (opening_read(env, &o, argv[0], again)) {
        opening_run(&o);
        if (o.err) {
            throw_message(env, o.err, o.message, NULL);
        } else {
            v = again ? argv[1] : shell_handle(env, o.shell);
            o.shell = NULL;
        }
    }
    if (o.shell)
        o.shell->closed = true;
    opening_drop(&o);
    return v;
}

static void open_work(Job *job)
{
    Opening *o = (Opening *)job;
    Env *e = o->env;
    opening_run(o);
    say(e, &o->done);
}

static void open_done(napi_env env, Message *m)
{
    Opening *o = (Opening *)((char *)m - offsetof(Opening, done));
    if (env) {
        napi_value argv[] = {number(env, SAY_OPENED), number(env, o->id), number(env, o->err), text(env, o->message), nothing(env)};
        if (!o->err) {
            argv[4] = shell_handle(env, o->shell);
            o->shell = NULL;
        }
        dispatch(o->env, 5, argv);
        env_release(o->env);
    }
    opening_drop(o);
    free(o);
}

/* openAsync(id, options, image): the image is kept by JavaScript until SAY_OPENED. */
static napi_value node_open_async(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Opening *o = calloc(1, sizeof *o);
    get_args(env, info, argv);
    if (!o)
        return throw_message(env, SHELL_ENOMEM, "out of memory", NULL);
    o->id = read_number(env, argv[0], 0);
    o->job.work = open_work;
    o->done.deliver = open_done;
    bool read = opening_read(env, o, argv[1], NULL);
    if (read && env_start(o->env, &o->job)) {
        env_hold(o->env);
        return NULL;
    }
    if (read)
        throw_message(env, SHELL_ENOMEM, "no thread could be started", NULL);
    opening_drop(o);
    free(o);
    return NULL;
}

static napi_value node_close(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    get_args(env, info, argv);
    NShell *s = shell_arg(env, argv[0]);
    napi_value idle = NULL;
    napi_get_boolean(env, s && close_handle(s), &idle);
    return idle;
}

static napi_value node_number(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    get_args(env, info, argv);
    NShell *s = shell_arg(env, argv[0]);
    return s ? number(env, (double)s->number) : NULL;
}

/* ---------- copies ---------- */

static napi_value node_fork(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    NShell *to = s ? shell_new(s->env) : NULL;
    if (!s)
        return NULL;
    shell_err err = to ? shell_fork(s->sh, &to->sh) : SHELL_ENOMEM;
    if (!err) {
        to->time_ms = s->time_ms;
        return shell_handle(env, to);
    }
    shell_throw(env, s, err, NULL);
    if (to)
        shell_unref(to);
    return NULL;
}

static napi_value node_reset(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    shell_err err = s ? shell_reset(s->sh) : SHELL_OK;
    return err ? shell_throw(env, s, err, NULL) : NULL;
}

static void image_finalize(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    shell_image_free(data);
}

static napi_value image_handle(napi_env env, shell_image *image)
{
    napi_value v = NULL;
    if (napi_create_external(env, image, image_finalize, NULL, &v) != napi_ok)
        shell_image_free(image);
    return v;
}

static napi_value node_image(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    shell_image *image;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    shell_err err = s ? shell_image_of(s->sh, &image) : SHELL_EINVAL;
    if (err)
        return s ? shell_throw(env, s, err, NULL) : NULL;
    return image_handle(env, image);
}

/* imageFromDirectory(source, destination, include, exclude, flags, image) */
static napi_value node_image_from_dir(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS], v = NULL;
    Arena arena = {0};
    Reader reader = {env, &arena};
    char message[256] = "";
    void *under = NULL;
    shell_image *image;
    get_args(env, info, argv);
    shell_image_dir d = {.size = sizeof d, .flags = (uint32_t)read_int(env, argv[4], 0), .message = message, .message_size = sizeof message};
    if (!is_nothing(env, argv[5]))
        napi_get_value_external(env, argv[5], &under);
    d.image = under;
    if (read_text(&reader, argv[0], &d.source) && read_text(&reader, argv[1], &d.destination) && read_list(&reader, argv[2], &d.include) &&
        read_list(&reader, argv[3], &d.exclude)) {
        shell_err err = shell_image_from_dir(&d, &image);
        v = err ? throw_message(env, err, message, d.source) : image_handle(env, image);
    }
    arena_free(&arena);
    return v;
}

static napi_value node_image_from_snapshot(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS], v = NULL;
    Arena arena = {0};
    Reader reader = {env, &arena};
    const char *data;
    size_t len;
    shell_image *image;
    get_args(env, info, argv);
    if (read_bytes(&reader, argv[0], &data, &len)) {
        shell_err err = data ? shell_image_from_snapshot(data, len, &image) : SHELL_EINVAL;
        v = err ? throw_message(env, err, "no snapshot, damaged, or of another version", NULL) : image_handle(env, image);
    }
    arena_free(&arena);
    return v;
}

static void given_finalize(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    shell_free(data);
}

/* The library's block as an ArrayBuffer, copied only where it must be. */
static napi_value given_bytes(napi_env env, char *data, uint64_t len)
{
    napi_value v = NULL;
    if (len && napi_create_external_arraybuffer(env, data, (size_t)len, given_finalize, NULL, &v) == napi_ok)
        return v;
    v = bytes_value(env, data, (size_t)len);
    shell_free(data);
    return v;
}

static napi_value node_snapshot(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    char *data;
    uint64_t len;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    if (!s)
        return NULL;
    shell_err err = shell_snapshot(s->sh, &data, &len);
    return err ? shell_throw(env, s, err, NULL) : given_bytes(env, data, len);
}

static napi_value node_restore(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    const char *data;
    size_t len;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    if (s && read_bytes(&reader, argv[1], &data, &len)) {
        shell_err err = shell_restore(s->sh, data, len);
        if (err)
            shell_throw(env, s, err, NULL);
    }
    arena_free(&arena);
    return NULL;
}

/* ---------- what may be changed ---------- */

static napi_value node_set_limits(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    const shell_limits *limits;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    if (s && read_limits(&reader, argv[1], &limits)) {
        shell_err err = shell_set_limits(s->sh, limits);
        if (err)
            shell_throw(env, s, err, NULL);
        else if (limits->time_ms != SHELL_LIMIT_DEFAULT)
            s->time_ms = limits->time_ms;
    }
    arena_free(&arena);
    return NULL;
}

static NShell *open_shell(napi_env env, napi_value v)
{
    NShell *s = shell_arg(env, v);
    if (s && s->closed)
        throw_message(env, SHELL_EINVAL, "the shell is closed", NULL);
    return s && !s->closed ? s : NULL;
}

static napi_value node_set_net(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    const shell_net *net;
    get_args(env, info, argv);
    NShell *s = open_shell(env, argv[0]);
    if (s && read_net(&reader, argv[1], &net)) {
        shell_err err = shell_set_net(s->sh, net);
        if (err)
            shell_throw(env, s, err, NULL);
    }
    arena_free(&arena);
    return NULL;
}

static napi_value node_set_policy(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    const shell_policy *policy;
    get_args(env, info, argv);
    NShell *s = open_shell(env, argv[0]);
    if (s && read_policy(&reader, argv[1], &policy)) {
        shell_err err = shell_set_policy(s->sh, policy);
        if (err)
            shell_throw(env, s, err, NULL);
    }
    arena_free(&arena);
    return NULL;
}

static napi_value node_set_audit(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    const shell_audit *audit;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    if (s && read_audit(&reader, argv[1], &audit)) {
        shell_err err = shell_set_audit(s->sh, audit);
        if (err)
            shell_throw(env, s, err, NULL);
    }
    arena_free(&arena);
    return NULL;
}

/* auditTake(shell): [text, lost] */
static napi_value node_audit_take(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS], pair;
    char *lines;
    uint64_t len, lost;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    shell_err err = s ? shell_audit_take(s->sh, &lines, &len, &lost) : SHELL_EINVAL;
    if (err)
        return s ? shell_throw(env, s, err, NULL) : NULL;
    napi_create_array_with_length(env, 2, &pair);
    napi_set_element(env, pair, 0, text_n(env, lines, (size_t)len));
    napi_set_element(env, pair, 1, number(env, (double)lost));
    shell_free(lines);
    return pair;
}

/* auditVerify(text): [right, lines, head, why] */
static napi_value node_audit_verify(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS], v = NULL;
    Arena arena = {0};
    Reader reader = {env, &arena};
    const char *data;
    size_t len;
    uint64_t lines = 0;
    char head[65] = "", why[256] = "";
    get_args(env, info, argv);
    if (read_bytes(&reader, argv[0], &data, &len)) {
        shell_err err = shell_audit_verify(data ? data : "", len, &lines, head, why, sizeof why);
        napi_create_array_with_length(env, 4, &v);
        napi_set_element(env, v, 0, number(env, err == SHELL_OK));
        napi_set_element(env, v, 1, number(env, (double)lines));
        napi_set_element(env, v, 2, text(env, head));
        napi_set_element(env, v, 3, text(env, why));
    }
    arena_free(&arena);
    return v;
}

/* ---------- binds ---------- */

static napi_value node_bind_add(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    shell_bind bind;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    if (s && read_bind(&reader, argv[1], &bind)) {
        shell_err err = shell_bind_add(s->sh, &bind);
        if (err)
            shell_throw(env, s, err, bind.destination);
    }
    arena_free(&arena);
    return NULL;
}

static napi_value node_bind_remove(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    const char *destination;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    if (s && read_text(&reader, argv[1], &destination)) {
        shell_err err = shell_bind_remove(s->sh, destination ? destination : "");
        if (err)
            shell_throw(env, s, err, destination);
    }
    arena_free(&arena);
    return NULL;
}

/* ---------- for models, and about the build ---------- */

/* describe(shell or null, flags), tools(shell or null, flags, shape) */
static napi_value told(napi_env env, napi_callback_info info, bool tools)
{
    napi_value argv[MOST_ARGS];
    char *words;
    uint64_t len;
    get_args(env, info, argv);
    NShell *s = is_nothing(env, argv[0]) ? NULL : shell_idle(env, argv[0]);
    if (!s && !is_nothing(env, argv[0]))
        return NULL;
    uint32_t flags = (uint32_t)read_int(env, argv[1], 0);
    shell *sh = s ? s->sh : NULL;
    shell_err err = tools ? shell_tools(sh, read_int(env, argv[2], 0), flags, &words, &len) : shell_describe(sh, flags, &words, &len);
    if (err)
        return shell_throw(env, s, err, NULL);
    napi_value v = text_n(env, words, (size_t)len);
    shell_free(words);
    return v;
}

static napi_value node_describe(napi_env env, napi_callback_info info) { return told(env, info, false); }
static napi_value node_tools(napi_env env, napi_callback_info info) { return told(env, info, true); }

static napi_value node_version(napi_env env, napi_callback_info info)
{
    (void)info;
    return text(env, shell_version());
}

static napi_value node_feature(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    const char *name;
    get_args(env, info, argv);
    napi_value v = read_text(&reader, argv[0], &name) ? number(env, name ? shell_feature(name) : 0) : NULL;
    arena_free(&arena);
    return v;
}

static napi_value node_command_names(napi_env env, napi_callback_info info)
{
    uint64_t count;
    napi_value list;
    (void)info;
    const char *const *names = shell_command_names(&count);
    napi_create_array_with_length(env, (size_t)count, &list);
    for (uint32_t i = 0; i < count; i++)
        napi_set_element(env, list, i, text(env, names[i]));
    return list;
}

const Export shell_exports[] = {
    {"open", node_open}, {"openAsync", node_open_async}, {"close", node_close}, {"number", node_number}, {"fork", node_fork}, {"reset", node_reset},
    {"image", node_image}, {"imageFromDirectory", node_image_from_dir}, {"imageFromSnapshot", node_image_from_snapshot}, {"snapshot", node_snapshot},
    {"restore", node_restore}, {"setLimits", node_set_limits}, {"setNet", node_set_net}, {"setPolicy", node_set_policy}, {"setAudit", node_set_audit},
    {"auditTake", node_audit_take}, {"auditVerify", node_audit_verify}, {"addBind", node_bind_add}, {"removeBind", node_bind_remove},
    {"describe", node_describe}, {"tools", node_tools}, {"version", node_version}, {"feature", node_feature}, {"commandNames", node_command_names}, {NULL, NULL},
};
