/* mount: directories and files that JavaScript serves. Asked by a run's thread, the answer comes by shell_answer, so that other
 * processes go on; asked by a file call or a synchronous run, it is there when dispatch returns. */
#include <stdlib.h>
#include <string.h>

#include "addon.h"

/* The names that index.js gives them, in its order. */
enum { OP_STAT, OP_LIST, OP_READ, OP_READLINK, OP_CREATE, OP_WRITE, OP_TRUNCATE, OP_MKDIR, OP_REMOVE, OP_RENAME, OP_SYMLINK, OP_CHMOD, OP_UTIMES, OP_LOAD };

typedef struct {
    Message m;
    NShell *s;
    shell_mount_call *call;
    uint64_t id, mount;
    int op;
    char *path, *other;
    size_t path_len, other_len;
    double x, y;
    bool direct, answered, counted;
    bool has_other;
    int32_t result;
} Question;

static void question_free(Question *q)
{
    free(q->path);
    free(q->other);
    free(q);
}

static void answer(Question *q, int32_t result)
{
    if (q->answered)
        return;
    q->answered = true;
    q->result = result;
    if (q->counted)
        q->s->inside--;
    if (!q->direct)
        shell_answer(q->s->sh, q->id, result);
    shell_unref(q->s);
}

/* A promise that nothing can settle any more is a failure. */
static void token_finalize(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    answer(data, SHELL_EIO);
    question_free(data);
}

/* False: the question is gone. */
static bool call_js(napi_env env, Question *q)
{
    napi_value token, direct;
    q->counted = true;
    q->s->inside++;
    if (napi_create_external(env, q, token_finalize, NULL, &token) != napi_ok) {
        token_finalize(env, q, NULL);
        return false;
    }
    napi_get_boolean(env, q->direct, &direct);
    napi_value other = q->has_other ? bytes_value(env, q->other, q->other_len) : nothing(env);
    napi_value argv[] = {number(env, SAY_MOUNT), number(env, (double)q->s->number), token, direct, number(env, (double)q->mount), number(env, q->op),
                         text_n(env, q->path ? q->path : "", q->path_len), other, number(env, q->x), number(env, q->y)};
    if (!dispatch(q->s->env, 10, argv))
        answer(q, SHELL_EIO);
    return true;
}

static void question_deliver(napi_env env, Message *m)
{
    Question *q = (Question *)m;
    if (env)
        call_js(env, q);
    else
        token_finalize(NULL, q, NULL);
}

static char *copied(const char *s, size_t n)
{
    char *to = malloc(n + 1);
    if (to && n)
        memcpy(to, s, n);
    if (to)
        to[n] = 0;
    return to;
}

static int32_t send(Question *q)
{
    NShell *s = q->s;
    if (q->direct) {
        napi_handle_scope scope;
        napi_open_handle_scope(s->env->env, &scope);
        int32_t result = SHELL_ENOMEM;
        if (call_js(s->env->env, q)) { /* q lives until its token is collected, and that is held by this scope */
            answer(q, SHELL_EIO);
            result = q->result;
        }
        napi_close_handle_scope(s->env->env, scope);
        return result;
    }
    if (say(s->env, &q->m))
        return SHELL_EAGAIN;
    atomic_fetch_sub(&s->refs, 1); /* whoever asks holds another */
    question_free(q);
    return SHELL_EIO;
}

static int32_t ask(void *user, shell_mount_call *call, int op, const char *path, uint64_t len, const char *other, uint64_t other_len, double x, double y)
{
    NShell *s = current.shell;
    Question *q = s ? calloc(1, sizeof *q) : NULL;
    if (!q)
        return SHELL_ENOMEM;
    *q = (Question){.m = {question_deliver}, .s = s, .call = call, .id = shell_mount_call_id(call), .mount = (uint64_t)(uintptr_t)user, .op = op,
                    .path = copied(path, (size_t)len), .path_len = (size_t)len, .x = x, .y = y, .direct = current.direct, .has_other = other != NULL,
                    .other = other ? copied(other, (size_t)other_len) : NULL, .other_len = (size_t)other_len};
    if (!q->path || (other && !q->other)) {
        question_free(q);
        return SHELL_ENOMEM;
    }
    shell_ref(s);
    return send(q);
}

/* ---------- shell_mount_ops ---------- */

static int32_t on_stat(void *u, shell_mount_call *c, const char *p, uint64_t n) { return ask(u, c, OP_STAT, p, n, NULL, 0, 0, 0); }
static int32_t on_list(void *u, shell_mount_call *c, const char *p, uint64_t n) { return ask(u, c, OP_LIST, p, n, NULL, 0, 0, 0); }
static int32_t on_readlink(void *u, shell_mount_call *c, const char *p, uint64_t n) { return ask(u, c, OP_READLINK, p, n, NULL, 0, 0, 0); }
static int32_t on_load(void *u, shell_mount_call *c) { return ask(u, c, OP_LOAD, "", 0, NULL, 0, 0, 0); }

static int32_t on_read(void *u, shell_mount_call *c, const char *p, uint64_t n, uint64_t offset, uint64_t max)
{
    return ask(u, c, OP_READ, p, n, NULL, 0, (double)offset, (double)max);
}

static int32_t on_create(void *u, shell_mount_call *c, const char *p, uint64_t n, uint32_t mode) { return ask(u, c, OP_CREATE, p, n, NULL, 0, mode, 0); }

static int32_t on_write(void *u, shell_mount_call *c, const char *p, uint64_t n, uint64_t offset, const char *data, uint64_t data_len)
{
    return ask(u, c, OP_WRITE, p, n, data ? data : "", data_len, (double)offset, 0);
}

static int32_t on_truncate(void *u, shell_mount_call *c, const char *p, uint64_t n, uint64_t bytes)
{
    return ask(u, c, OP_TRUNCATE, p, n, NULL, 0, (double)bytes, 0);
}

static int32_t on_mkdir(void *u, shell_mount_call *c, const char *p, uint64_t n, uint32_t mode) { return ask(u, c, OP_MKDIR, p, n, NULL, 0, mode, 0); }
static int32_t on_remove(void *u, shell_mount_call *c, const char *p, uint64_t n, int32_t directory) { return ask(u, c, OP_REMOVE, p, n, NULL, 0, directory, 0); }

static int32_t on_rename(void *u, shell_mount_call *c, const char *p, uint64_t n, const char *to, uint64_t to_len, int32_t no_replace)
{
    return ask(u, c, OP_RENAME, p, n, to, to_len, no_replace, 0);
}

static int32_t on_symlink(void *u, shell_mount_call *c, const char *p, uint64_t n, const char *target, uint64_t len)
{
    return ask(u, c, OP_SYMLINK, p, n, target, len, 0, 0);
}

static int32_t on_chmod(void *u, shell_mount_call *c, const char *p, uint64_t n, uint32_t mode) { return ask(u, c, OP_CHMOD, p, n, NULL, 0, mode, 0); }

/* In milliseconds, as JavaScript counts; what is to be left as it is or set to now arrives as infinite. */
static double milliseconds(int64_t ns)
{
    return ns == SHELL_MOUNT_TIME_KEEP ? -__builtin_inf() : ns == SHELL_MOUNT_TIME_NOW ? __builtin_inf() : (double)ns / 1e6;
}

static int32_t on_utimes(void *u, shell_mount_call *c, const char *p, uint64_t n, int64_t atime, int64_t mtime)
{
    return ask(u, c, OP_UTIMES, p, n, NULL, 0, milliseconds(atime), milliseconds(mtime));
}

/* ---------- replies ---------- */

/* stat: [mode, size, mtime in ms] */
static int32_t reply_stat(napi_env env, shell_mount_call *call, napi_value v)
{
    shell_stat_info st = {.size = sizeof st, .mode = (uint32_t)read_number(env, at(env, v, 0), 0), .bytes = (uint64_t)read_number(env, at(env, v, 1), 0),
                          .mtime_ns = (int64_t)(read_number(env, at(env, v, 2), 0) * 1e6)};
    return shell_mount_reply_stat(call, &st);
}

/* list: [name, type, name, type ...] */
static int32_t reply_list(napi_env env, shell_mount_call *call, napi_value v)
{
    uint32_t n = 0;
    Arena arena = {0};
    Reader reader = {env, &arena};
    int32_t err = napi_get_array_length(env, v, &n) == napi_ok ? SHELL_OK : SHELL_EIO;
    for (uint32_t i = 0; !err && i + 1 < n; i += 2) {
        const char *name;
        size_t len;
        err = read_bytes(&reader, at(env, v, i), &name, &len) ? shell_mount_reply_entry(call, name, len, (uint32_t)read_number(env, at(env, v, i + 1), 0)) : SHELL_EIO;
        arena_free(&arena);
    }
    return err;
}

static int32_t reply_data(napi_env env, shell_mount_call *call, napi_value v)
{
    Arena arena = {0};
    Reader reader = {env, &arena};
    const char *data;
    size_t len;
    int32_t err = read_bytes(&reader, v, &data, &len) ? shell_mount_reply_data(call, data ? data : "", len) : SHELL_EIO;
    arena_free(&arena);
    return err;
}

/* mountReply(token, error, value) */
static napi_value node_mount_reply(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    void *data = NULL;
    get_args(env, info, argv);
    Question *q = napi_get_value_external(env, argv[0], &data) == napi_ok ? data : NULL;
    if (!q || q->answered)
        return NULL;
    int32_t err = read_int(env, argv[1], SHELL_EIO);
    if (!err && q->op == OP_STAT)
        err = reply_stat(env, q->call, argv[2]);
    else if (!err && q->op == OP_LIST)
        err = reply_list(env, q->call, argv[2]);
    else if (!err && (q->op == OP_READ || q->op == OP_READLINK || q->op == OP_LOAD))
        err = reply_data(env, q->call, argv[2]);
    answer(q, err);
    return NULL;
}

/* ---------- registration ---------- */

static shell_mount_ops able(uint32_t has)
{
    shell_mount_ops o = {.size = sizeof o, .stat = on_stat, .list = on_list};
    o.read = has >> OP_READ & 1 ? on_read : NULL;
    o.readlink = has >> OP_READLINK & 1 ? on_readlink : NULL;
    o.create = has >> OP_CREATE & 1 ? on_create : NULL;
    o.write = has >> OP_WRITE & 1 ? on_write : NULL;
    o.truncate = has >> OP_TRUNCATE & 1 ? on_truncate : NULL;
    o.mkdir = has >> OP_MKDIR & 1 ? on_mkdir : NULL;
    o.remove = has >> OP_REMOVE & 1 ? on_remove : NULL;
    o.rename = has >> OP_RENAME & 1 ? on_rename : NULL;
    o.symlink = has >> OP_SYMLINK & 1 ? on_symlink : NULL;
    o.chmod = has >> OP_CHMOD & 1 ? on_chmod : NULL;
    o.utimes = has >> OP_UTIMES & 1 ? on_utimes : NULL;
    return o;
}

/* mount(shell, destination, number, bits of what it can, flags) */
static napi_value node_mount(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    const char *destination;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    if (s && read_text(&reader, argv[1], &destination)) {
        shell_mount_ops ops = able((uint32_t)read_int(env, argv[3], 0));
        void *user = (void *)(uintptr_t)(uint64_t)read_number(env, argv[2], 0);
        shell_err err = shell_mount(s->sh, destination, &ops, user, (uint32_t)read_int(env, argv[4], 0));
        if (err)
            shell_throw(env, s, err, destination);
    }
    arena_free(&arena);
    return NULL;
}

static napi_value node_unmount(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    const char *destination;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    if (s && read_text(&reader, argv[1], &destination)) {
        shell_err err = shell_unmount(s->sh, destination);
        if (err)
            shell_throw(env, s, err, destination);
    }
    arena_free(&arena);
    return NULL;
}

/* lazyFile(shell, path, number, size, mode) */
static napi_value node_lazy_file(napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    Arena arena = {0};
    Reader reader = {env, &arena};
    const char *path;
    get_args(env, info, argv);
    NShell *s = shell_idle(env, argv[0]);
    if (s && read_text(&reader, argv[1], &path)) {
        void *user = (void *)(uintptr_t)(uint64_t)read_number(env, argv[2], 0);
        shell_err err = shell_lazy_file(s->sh, path, (int64_t)read_number(env, argv[3], -1), (uint32_t)read_int(env, argv[4], 0644), on_load, NULL, user);
        if (err)
            shell_throw(env, s, err, path);
    }
    arena_free(&arena);
    return NULL;
}

const Export mount_exports[] = {{"mount", node_mount}, {"unmount", node_unmount}, {"lazyFile", node_lazy_file}, {"mountReply", node_mount_reply}, {NULL, NULL}};
