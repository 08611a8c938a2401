/* files: the file calls and the variables. Allowed between runs, and from the functions that a run calls. */
#include <stdlib.h>
#include <string.h>

#include "addon.h"

/* One call: its arguments, the shell it is inside of. */
typedef struct {
    napi_env env;
    napi_value argv[MOST_ARGS];
    Arena arena;
    Reader reader;
    NShell *s;
    Current outer;
    const char *path;
} FileCall;

/* The arguments are the shell, a path, and more. */
static bool begin(FileCall *c, napi_env env, napi_callback_info info)
{
    *c = (FileCall){.env = env, .reader = {env, NULL}};
    c->reader.arena = &c->arena;
    get_args(env, info, c->argv);
    NShell *s = shell_arg(env, c->argv[0]);
    if (!s || !read_text(&c->reader, c->argv[1], &c->path) || !shell_enter(env, s, c->path)) {
        arena_free(&c->arena);
        return false;
    }
    c->s = s;
    c->outer = current;
    if (!(current.shell == s && current.direct))
        current = (Current){s, NULL, true};
    return true;
}

static napi_value end(FileCall *c, shell_err err, napi_value v)
{
    current = c->outer;
    if (err)
        shell_throw(c->env, c->s, err, c->path);
    shell_leave(c->s);
    arena_free(&c->arena);
    return err ? NULL : v;
}

static void given_finalize(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    shell_free(data);
}

enum { SHARED = 32768 };

static napi_value given(napi_env env, char *data, uint64_t len)
{
    napi_value v = NULL;
    if (len >= SHARED && napi_create_external_arraybuffer(env, data, (size_t)len, given_finalize, NULL, &v) == napi_ok)
        return v;
    v = bytes_value(env, data, (size_t)len);
    shell_free(data);
    return v;
}

static napi_value node_read_file(napi_env env, napi_callback_info info)
{
    FileCall c;
    char *data;
    uint64_t len;
    if (!begin(&c, env, info))
        return NULL;
    shell_err err = shell_read_file(c.s->sh, c.path, &data, &len);
    return end(&c, err, err ? NULL : given(env, data, len));
}

/* readRange(shell, path, offset, size) */
static napi_value node_read_range(napi_env env, napi_callback_info info)
{
    FileCall c;
    char *data;
    uint64_t len;
    if (!begin(&c, env, info))
        return NULL;
    shell_err err = shell_read_range(c.s->sh, c.path, (uint64_t)read_number(env, c.argv[2], 0), (uint64_t)read_number(env, c.argv[3], 0), &data, &len);
    return end(&c, err, err ? NULL : given(env, data, len));
}

/* What is written is borrowed, not copied: it is on the stack of the call that gave it. */
static bool borrow(FileCall *c, napi_value v, const char **data, size_t *len)
{
    napi_typedarray_type type;
    void *p;
    if (napi_get_typedarray_info(c->env, v, &type, len, &p, NULL, NULL) == napi_ok && (type == napi_uint8_array || type == napi_uint8_clamped_array)) {
        *data = p;
        return true;
    }
    return read_bytes(&c->reader, v, data, len);
}

/* writeFile(shell, path, data, flags) */
static napi_value node_write_file(napi_env env, napi_callback_info info)
{
    FileCall c;
    const char *data;
    size_t len;
    if (!begin(&c, env, info))
        return NULL;
    if (!borrow(&c, c.argv[2], &data, &len))
        return end(&c, SHELL_OK, NULL);
    shell_err err = shell_write_file(c.s->sh, c.path, data ? data : "", len, (uint32_t)read_int(env, c.argv[3], 0));
    return end(&c, err, NULL);
}

/* stat(shell, path, flags): [size, mode, uid, gid, nlink, ino, mtime, ctime], the times in nanoseconds as BigInt */
static napi_value node_stat(napi_env env, napi_callback_info info)
{
    FileCall c;
    napi_value list = NULL, mtime, ctime;
    if (!begin(&c, env, info))
        return NULL;
    shell_stat_info st = {.size = sizeof st};
    shell_err err = shell_stat(c.s->sh, c.path, (uint32_t)read_int(env, c.argv[2], 0), &st);
    if (!err) {
        const double numbers[] = {(double)st.bytes, st.mode, st.uid, st.gid, st.nlink, (double)st.ino};
        napi_create_array_with_length(env, 8, &list);
        for (uint32_t i = 0; i < 6; i++)
            napi_set_element(env, list, i, number(env, numbers[i]));
        napi_create_bigint_int64(env, st.mtime_ns, &mtime);
        napi_create_bigint_int64(env, st.ctime_ns, &ctime);
        napi_set_element(env, list, 6, mtime);
        napi_set_element(env, list, 7, ctime);
    }
    return end(&c, err, list);
}

/* list(shell, path): [name's bytes, type, size, ...] */
static napi_value node_list(napi_env env, napi_callback_info info)
{
    FileCall c;
    shell_dirent *entries;
    uint64_t count;
    napi_value list = NULL;
    if (!begin(&c, env, info))
        return NULL;
    shell_err err = shell_list(c.s->sh, c.path, &entries, &count);
    if (!err) {
        napi_create_array_with_length(env, (size_t)count * 3, &list);
        for (uint64_t i = 0; i < count; i++) {
            uint32_t at_index = (uint32_t)i * 3;
            napi_set_element(env, list, at_index, bytes_value(env, entries[i].name, strlen(entries[i].name)));
            napi_set_element(env, list, at_index + 1, number(env, entries[i].type));
            napi_set_element(env, list, at_index + 2, number(env, (double)entries[i].bytes));
        }
        shell_free(entries);
    }
    return end(&c, err, list);
}

static napi_value node_exists(napi_env env, napi_callback_info info)
{
    FileCall c;
    int32_t there = 0;
    napi_value v = NULL;
    if (!begin(&c, env, info))
        return NULL;
    shell_err err = shell_exists(c.s->sh, c.path, &there);
    napi_get_boolean(env, there != 0, &v);
    return end(&c, err, v);
}

static napi_value node_mkdir(napi_env env, napi_callback_info info)
{
    FileCall c;
    if (!begin(&c, env, info))
        return NULL;
    return end(&c, shell_mkdir(c.s->sh, c.path, (uint32_t)read_int(env, c.argv[2], 0777), read_int(env, c.argv[3], 0)), NULL);
}

static napi_value node_remove(napi_env env, napi_callback_info info)
{
    FileCall c;
    if (!begin(&c, env, info))
        return NULL;
    return end(&c, shell_remove(c.s->sh, c.path, read_int(env, c.argv[2], 0)), NULL);
}

static napi_value node_rename(napi_env env, napi_callback_info info)
{
    FileCall c;
    const char *to;
    if (!begin(&c, env, info))
        return NULL;
    return end(&c, read_text(&c.reader, c.argv[2], &to) ? shell_rename(c.s->sh, c.path, to) : SHELL_EINVAL, NULL);
}

static napi_value node_chmod(napi_env env, napi_callback_info info)
{
    FileCall c;
    if (!begin(&c, env, info))
        return NULL;
    return end(&c, shell_chmod(c.s->sh, c.path, (uint32_t)read_int(env, c.argv[2], 0)), NULL);
}

static napi_value node_readlink(napi_env env, napi_callback_info info)
{
    FileCall c;
    char *target;
    uint64_t len;
    if (!begin(&c, env, info))
        return NULL;
    shell_err err = shell_readlink(c.s->sh, c.path, &target, &len);
    return end(&c, err, err ? NULL : given(env, target, len));
}

static napi_value change_row(napi_env env, const shell_change_info *c)
{
    napi_value row, mtime;
    const double numbers[] = {c->kind, c->mode, c->old_mode, c->nlink, (double)c->ino, (double)c->bytes, (double)c->old_bytes};
    napi_create_array_with_length(env, 12, &row);
    for (uint32_t i = 0; i < 7; i++)
        napi_set_element(env, row, i, number(env, numbers[i]));
    napi_create_bigint_int64(env, c->mtime_ns, &mtime);
    napi_set_element(env, row, 7, mtime);
    napi_set_element(env, row, 8, text(env, c->path));
    napi_set_element(env, row, 9, text(env, c->target));
    napi_set_element(env, row, 10, text(env, c->digest));
    napi_set_element(env, row, 11, text(env, c->old_digest));
    return row;
}

/* changes(shell, undefined, flags): a row each */
static napi_value node_changes(napi_env env, napi_callback_info info)
{
    FileCall c;
    shell_change_info *changes;
    uint64_t count;
    napi_value list = NULL;
    if (!begin(&c, env, info))
        return NULL;
    shell_err err = shell_changes_full(c.s->sh, (uint32_t)read_int(env, c.argv[2], 0), &changes, &count);
    if (!err) {
        napi_create_array_with_length(env, (size_t)count, &list);
        const char *row = (const char *)changes;
        for (uint32_t i = 0; i < count; i++, row += changes->size) {
            napi_handle_scope scope;
            napi_open_handle_scope(env, &scope);
            napi_set_element(env, list, i, change_row(env, (const shell_change_info *)(const void *)row));
            napi_close_handle_scope(env, scope);
        }
        shell_free(changes);
    }
    return end(&c, err, list);
}

/* ---------- variables ---------- */

static napi_value taken(napi_env env, char *words)
{
    napi_value v = text(env, words);
    shell_free(words);
    return v;
}

static napi_value node_cwd(napi_env env, napi_callback_info info)
{
    FileCall c;
    char *out;
    if (!begin(&c, env, info))
        return NULL;
    shell_err err = shell_cwd(c.s->sh, &out);
    return end(&c, err, err ? NULL : taken(env, out));
}

/* The variables are of an idle shell: the path is the name. */
static bool begin_idle(FileCall *c, napi_env env, napi_callback_info info)
{
    napi_value argv[MOST_ARGS];
    get_args(env, info, argv);
    return shell_idle(env, argv[0]) && begin(c, env, info);
}

static napi_value node_setenv(napi_env env, napi_callback_info info)
{
    FileCall c;
    const char *value;
    if (!begin_idle(&c, env, info))
        return NULL;
    return end(&c, read_text(&c.reader, c.argv[2], &value) ? shell_setenv(c.s->sh, c.path, value) : SHELL_EINVAL, NULL);
}

static napi_value node_unsetenv(napi_env env, napi_callback_info info)
{
    FileCall c;
    if (!begin_idle(&c, env, info))
        return NULL;
    return end(&c, shell_unsetenv(c.s->sh, c.path), NULL);
}

static napi_value node_getenv(napi_env env, napi_callback_info info)
{
    FileCall c;
    char *out;
    if (!begin_idle(&c, env, info))
        return NULL;
    shell_err err = shell_getenv(c.s->sh, c.path, &out);
    if (err == SHELL_ENOENT)
        return end(&c, SHELL_OK, nothing(env));
    return end(&c, err, err ? NULL : taken(env, out));
}

const Export file_exports[] = {
    {"readFile", node_read_file}, {"readRange", node_read_range}, {"writeFile", node_write_file}, {"stat", node_stat}, {"list", node_list},
    {"exists", node_exists}, {"mkdir", node_mkdir}, {"remove", node_remove}, {"rename", node_rename}, {"chmod", node_chmod},
    {"readlink", node_readlink}, {"changes", node_changes}, {"cwd", node_cwd}, {"setEnv", node_setenv}, {"unsetEnv", node_unsetenv},
    {"getEnv", node_getenv}, {NULL, NULL},
};
