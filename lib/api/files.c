/* files: the embedder's file calls, as the shell's user, on the shell's own file system. */
#include <stdlib.h>
#include <sys/stat.h>

#include "internal.h"

shell_err call_begin(Call *c, shell *sh, const char *path)
{
    if (!sh || !path)
        return SHELL_EINVAL;
    shell_err err = api_alive(sh);
    if (err)
        return err;
    if (atomic_load(&sh->busy) && !sh->in_callback)
        return api_fail(sh, SHELL_EBUSY, "the shell is running");
    Proc *p = kern_main(sh->kernel);
    *c = (Call){.sh = sh, .fs = kern_vfs(sh->kernel), .cred = &p->cred, .cwd = p->cwd, .outer = sh->in_callback};
    sh->in_callback = true;
    mem_init(&c->mem, NULL, NULL, NULL);
    return SHELL_OK;
}

shell_err call_end(Call *c, int error, const char *path)
{
    mem_drop(&c->mem);
    c->sh->in_callback = c->outer;
    return api_error(c->sh, error, path);
}

/* ---------- reading ---------- */

enum { PART = 1 << 20 };

/* Up to `max` bytes from off into *out (malloc'd, NUL behind); the length or -errno. */
static ssize_t read_into(Call *c, VFile *f, uint64_t off, uint64_t max, char **out)
{
    VStat st;
    int err = vfs_file_stat(c->fs, f, &st);
    if (err)
        return err;
    if ((st.mode & S_IFMT) == S_IFDIR)
        return -EISDIR;
    if ((st.mode & S_IFMT) != S_IFREG)
        return -EINVAL;
    uint64_t left = st.size > off ? MIN(st.size - off, max) : 0;
    char *buf = left < SIZE_MAX ? malloc((size_t)left + 1) : NULL, *scratch = malloc(PART);
    size_t n = 0;
    while (buf && scratch && n < left) {
        Chunk *chunk = NULL;
        Slice got;
        err = vfs_read(c->fs, f, off + n, MIN((size_t)left - n, (size_t)PART), scratch, &chunk, &got);
        if (err < 0 || got.len == 0)
            break;
        memcpy(buf + n, got.data, got.len);
        n += got.len;
        chunk_unref(vfs_gen(c->fs), chunk);
    }
    free(scratch);
    if (!buf || !scratch || err < 0) {
        free(buf);
        return err < 0 ? err : -ENOMEM;
    }
    buf[n] = 0;
    *out = buf;
    return (ssize_t)n;
}

shell_err shell_read_range(shell *sh, const char *path, uint64_t offset, uint64_t max, char **out, uint64_t *len)
{
    Call c;
    shell_err err = out && len ? call_begin(&c, sh, path) : SHELL_EINVAL;
    if (err)
        return err;
    VFile *f;
    int e = vfs_open(c.fs, c.cred, c.cwd, path, V_READ, 0, &f);
    if (e)
        return call_end(&c, e, path);
    ssize_t n = read_into(&c, f, offset, max, out);
    vfs_file_unref(c.fs, f);
    *len = n > 0 ? (uint64_t)n : 0;
    return call_end(&c, n < 0 ? (int)n : 0, path);
}

shell_err shell_read_file(shell *sh, const char *path, char **out, uint64_t *len)
{
    return shell_read_range(sh, path, 0, UINT64_MAX, out, len);
}

/* ---------- writing ---------- */

static int make_parents(Call *c, const char *path)
{
    char *copy = mem_strdup(&c->mem, path);
    if (!copy)
        return -ENOMEM;
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int e = vfs_mkdir(c->fs, c->cred, c->cwd, copy, 0777);
        *slash = '/';
        if (e && e != -EEXIST && e != -EROFS && e != -EACCES)
            return e;
    }
    return 0;
}

static int write_all(Call *c, VFile *f, Slice data)
{
    uint64_t at = 0;
    while (data.len) {
        ssize_t n = vfs_write(c->fs, f, at, data, NULL, &at);
        if (n <= 0)
            return n < 0 ? (int)n : -ENOSPC;
        data = slice_from(data, (size_t)n);
    }
    return 0;
}

shell_err shell_write_file(shell *sh, const char *path, const char *data, uint64_t len, uint32_t flags)
{
    Call c;
    shell_err err = data || !len ? call_begin(&c, sh, path) : SHELL_EINVAL;
    if (err)
        return err;
    uint64_t most = kern_limit(sh->kernel, LIMIT_FILE_SIZE);
    if (most && len > most)
        return call_end(&c, -EFBIG, path);
    int e = flags & SHELL_WRITE_PARENTS && path[0] ? make_parents(&c, path) : 0;
    int how = V_WRITE | V_CREATE | (flags & SHELL_WRITE_APPEND ? V_APPEND : V_TRUNC) | (flags & SHELL_WRITE_EXCL ? V_EXCL : 0);
    VFile *f;
    if (!e && !(e = vfs_open(c.fs, c.cred, c.cwd, path, how, 0666, &f))) {
        e = write_all(&c, f, (Slice){data, (size_t)len});
        vfs_file_unref(c.fs, f);
    }
    return call_end(&c, e, path);
}

/* ---------- asking ---------- */

static int64_t nanoseconds(int64_t s, uint32_t ns)
{
    int64_t v;
    return __builtin_mul_overflow(s, 1000000000, &v) ? (s < 0 ? INT64_MIN : INT64_MAX) : v + ns;
}

shell_err shell_stat(shell *sh, const char *path, uint32_t flags, shell_stat_info *out)
{
    Call c;
    shell_err err = out ? call_begin(&c, sh, path) : SHELL_EINVAL;
    if (err)
        return err;
    VStat st;
    int e = vfs_stat(c.fs, c.cred, c.cwd, path, flags & SHELL_STAT_NOFOLLOW ? V_NOFOLLOW : 0, &st);
    if (!e) {
        shell_stat_info info = {.size = out->size, .bytes = st.size, .mode = st.mode, .uid = st.uid, .gid = st.gid, .nlink = st.nlink, .ino = st.ino,
                                .mtime_ns = nanoseconds(st.mtime, st.mtime_ns), .ctime_ns = nanoseconds(st.ctime, st.ctime_ns)};
        memcpy(out, &info, (size_t)MIN(out->size, (uint64_t)sizeof info));
    }
    return call_end(&c, e, path);
}

shell_err shell_exists(shell *sh, const char *path, int32_t *out)
{
    Call c;
    shell_err err = out ? call_begin(&c, sh, path) : SHELL_EINVAL;
    if (err)
        return err;
    VStat st;
    int e = vfs_stat(c.fs, c.cred, c.cwd, path, V_NOFOLLOW, &st);
    *out = e == 0;
    return call_end(&c, e == -ENOENT || e == -ENOTDIR ? 0 : e, path);
}

/* The entry's size, when it is a file that can be asked. */
static uint64_t entry_size(Call *c, const char *path, Slice name, uint32_t type)
{
    VStat st;
    char *whole = mem_printf(&c->mem, "%s/%.*s", path, (int)name.len, name.data);
    if (type != S_IFREG || !whole || vfs_stat(c->fs, c->cred, c->cwd, whole, V_NOFOLLOW, &st))
        return 0;
    return st.size;
}

shell_err shell_list(shell *sh, const char *path, shell_dirent **out, uint64_t *count)
{
    Call c;
    shell_err err = out && count ? call_begin(&c, sh, path) : SHELL_EINVAL;
    if (err)
        return err;
    VDirent *entries;
    size_t n, bytes = 1;
    int e = vfs_list(c.fs, c.cred, c.cwd, path, &c.mem, &entries, &n);
    if (e)
        return call_end(&c, e, path);
    for (size_t i = 0; i < n; i++)
        bytes += entries[i].name.len + 1;
    shell_dirent *block = malloc(n * sizeof *block + bytes);
    if (!block)
        return call_end(&c, -ENOMEM, path);
    char *text = (char *)(block + n);
    for (size_t i = 0; i < n; i++) {
        Slice name = entries[i].name;
        block[i] = (shell_dirent){text, entries[i].type, entry_size(&c, path, name, entries[i].type)};
        memcpy(text, name.data, name.len);
        text[name.len] = 0;
        text += name.len + 1;
    }
    *out = block;
    *count = n;
    return call_end(&c, 0, path);
}

shell_err shell_readlink(shell *sh, const char *path, char **out, uint64_t *len)
{
    Call c;
    shell_err err = out && len ? call_begin(&c, sh, path) : SHELL_EINVAL;
    if (err)
        return err;
    Slice target;
    int e = vfs_readlink(c.fs, c.cred, c.cwd, path, &c.mem, &target);
    char *copy = e ? NULL : malloc(target.len + 1);
    if (!e && !copy)
        e = -ENOMEM;
    if (!e) {
        memcpy(copy, target.data, target.len);
        copy[target.len] = 0;
        *out = copy;
        *len = target.len;
    }
    return call_end(&c, e, path);
}

/* ---------- changing ---------- */

shell_err shell_mkdir(shell *sh, const char *path, uint32_t mode, int32_t parents)
{
    Call c;
    shell_err err = call_begin(&c, sh, path);
    if (err)
        return err;
    int e = parents && path[0] ? make_parents(&c, path) : 0;
    VStat st;
    if (!e)
        e = vfs_mkdir(c.fs, c.cred, c.cwd, path, mode);
    if (parents && e == -EEXIST && vfs_stat(c.fs, c.cred, c.cwd, path, 0, &st) == 0 && (st.mode & S_IFMT) == S_IFDIR)
        e = 0;
    return call_end(&c, e, path);
}

enum { DEEPEST = 1024 };

static int remove_tree(Call *c, const char *path, unsigned depth)
{
    VStat st;
    int e = vfs_stat(c->fs, c->cred, c->cwd, path, V_NOFOLLOW, &st);
    if (e)
        return e;
    if ((st.mode & S_IFMT) != S_IFDIR)
        return vfs_unlink(c->fs, c->cred, c->cwd, path);
    if (depth > DEEPEST)
        return -ENAMETOOLONG;
    VDirent *entries;
    size_t n;
    MemMark mark = mem_mark(&c->mem);
    e = vfs_list(c->fs, c->cred, c->cwd, path, &c->mem, &entries, &n);
    for (size_t i = 0; i < n && !e; i++) {
        char *below = mem_printf(&c->mem, "%s/%.*s", path, (int)entries[i].name.len, entries[i].name.data);
        e = below ? remove_tree(c, below, depth + 1) : -ENOMEM;
    }
    mem_reset(&c->mem, mark);
    return e ? e : vfs_rmdir(c->fs, c->cred, c->cwd, path);
}

shell_err shell_remove(shell *sh, const char *path, int32_t recursive)
{
    Call c;
    shell_err err = call_begin(&c, sh, path);
    if (err)
        return err;
    VStat st;
    int e = vfs_stat(c.fs, c.cred, c.cwd, path, V_NOFOLLOW, &st);
    if (!e && recursive)
        e = remove_tree(&c, path, 0);
    else if (!e)
        e = (st.mode & S_IFMT) == S_IFDIR ? vfs_rmdir(c.fs, c.cred, c.cwd, path) : vfs_unlink(c.fs, c.cred, c.cwd, path);
    return call_end(&c, e, path);
}

shell_err shell_rename(shell *sh, const char *from, const char *to)
{
    Call c;
    shell_err err = to ? call_begin(&c, sh, from) : SHELL_EINVAL;
    return err ? err : call_end(&c, vfs_rename(c.fs, c.cred, c.cwd, from, c.cwd, to, false), from);
}

shell_err shell_chmod(shell *sh, const char *path, uint32_t mode)
{
    Call c;
    shell_err err = call_begin(&c, sh, path);
    return err ? err : call_end(&c, vfs_chmod(c.fs, c.cred, c.cwd, path, 0, mode), path);
}
