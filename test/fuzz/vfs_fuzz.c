/* vfs_fuzz: sequences of file system calls over two file systems that fork from one another, with binds of a host directory, a
 * mount and a lazy file in them; every count is checked at the end, and the input also chooses an allocation that fails. The host
 * directory is made once and only read: overlays, copies and a read-only direct bind. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vfs/vfs.h"

typedef struct {
    const uint8_t *at, *end;
} Input;

static unsigned next(Input *in) { return in->at < in->end ? *in->at++ : 0; }

static const char *const paths[] = {
    "/a", "/b", "/a/b", "/a/b/c", "a/../b", "/l", "/l/x", "/b/.", "/b/..", "/d/", "//a//b", "", "/", ".", "..", "/e/f/g",
    "/o", "/o/file", "/o/dir", "/o/dir/deep", "/o/link", "/o/out", "/o/new", "/r/file", "/r/dir/deep", "/r/new", "/c/dir", "/c/file",
    "/m", "/m/file", "/m/dir", "/m/dir/deep", "/m/link", "/m/new", "/z", "/c/link/deep",
};

static const char *path(Input *in) { return paths[next(in) % ARRAY_LEN(paths)]; }

/* ---------- a mount: two fixed entries, and whatever else it is asked to make it accepts ---------- */

static int mounted_stat(void *user, const char *at, VStat *out)
{
    (void)user;
    bool file = strcmp(at, "file") == 0 || strcmp(at, "dir/deep") == 0, link = strcmp(at, "link") == 0;
    if (*at && !file && !link && strcmp(at, "dir") != 0)
        return -ENOENT;
    *out = (VStat){.ino = strlen(at) + 1, .mode = file ? S_IFREG | 0644 : link ? S_IFLNK | 0777 : S_IFDIR | 0755, .nlink = 1, .size = file ? 5 : 0, .uid = 1000};
    return 0;
}

static int mounted_list(void *user, const char *at, Mem *mem, VDirent **out, size_t *count)
{
    (void)user;
    VDirent *list = mem_array(mem, 3, VDirent);
    if (!list)
        return -ENOMEM;
    if (*at) {
        list[0] = (VDirent){slice_str("deep"), 8, S_IFREG};
    } else {
        list[0] = (VDirent){slice_str("file"), 5, S_IFREG};
        list[1] = (VDirent){slice_str("dir"), 4, S_IFDIR};
        list[2] = (VDirent){slice_str("link"), 6, S_IFLNK};
    }
    *out = list;
    *count = *at ? 1 : 3;
    return vfs_sort_entries(mem, list, *count);
}

static int mounted_readlink(void *user, const char *at, Mem *mem, Slice *out)
{
    (void)user, (void)at, (void)mem;
    *out = slice_str("dir/../file");
    return 0;
}

static int mounted_open(void *user, const char *at, int flags, uint32_t mode, void **file)
{
    (void)user, (void)flags, (void)mode;
    *file = strdup(at);
    return *file ? 0 : -ENOMEM;
}

static void mounted_close(void *user, void *file)
{
    (void)user;
    free(file);
}

static int mounted_fstat(void *user, void *file, VStat *out) { return mounted_stat(user, file, out) ? mounted_stat(user, "file", out) : 0; }

static ssize_t mounted_read(void *user, void *file, uint64_t off, char *buf, size_t n)
{
    (void)user, (void)file;
    size_t len = off >= 5 ? 0 : MIN(n, 5 - (size_t)off);
    if (len)
        memcpy(buf, &"bytes"[off], len);
    return (ssize_t)len;
}

static ssize_t mounted_write(void *user, void *file, uint64_t off, Slice data)
{
    (void)user, (void)file;
    return off > 1000 ? -EFBIG : (ssize_t)data.len;
}

static int mounted_truncate(void *user, void *file, uint64_t size)
{
    (void)user, (void)file;
    return size > 1000 ? -EFBIG : 0;
}

static int mounted_mkdir(void *user, const char *at, uint32_t mode)
{
    (void)user, (void)mode;
    return strlen(at) % 2 ? 0 : -EEXIST;
}

static int mounted_remove(void *user, const char *at, bool directory)
{
    (void)user, (void)at;
    return directory ? -ENOTEMPTY : 0;
}

static int mounted_rename(void *user, const char *from, const char *to, bool no_replace)
{
    (void)user, (void)from, (void)to;
    return no_replace ? -EEXIST : 0;
}

static int mounted_chmod(void *user, const char *at, uint32_t mode)
{
    (void)user, (void)at, (void)mode;
    return 0;
}

static int mounted_utimes(void *user, const char *at, VTime atime, VTime mtime)
{
    (void)user, (void)at, (void)atime, (void)mtime;
    return 0;
}

static void *mounted_ref(void *user) { return user; }
static void mounted_unref(void *user) { (void)user; }

static const VMountOps mounted = {
    .stat = mounted_stat, .list = mounted_list, .readlink = mounted_readlink, .open = mounted_open, .close = mounted_close, .fstat = mounted_fstat,
    .read = mounted_read, .write = mounted_write, .truncate = mounted_truncate, .mkdir = mounted_mkdir, .remove = mounted_remove,
    .rename = mounted_rename, .chmod = mounted_chmod, .utimes = mounted_utimes, .ref = mounted_ref, .unref = mounted_unref,
};

static int lazy_load(void *user, void *context, char **data, size_t *len)
{
    (void)user, (void)context;
    *data = strdup("lazy");
    *len = 4;
    return *data ? 0 : -ENOMEM;
}

static const VLazyOps lazy = {lazy_load, mounted_unref, mounted_unref};

/* ---------- the host directory ---------- */

static char host[32];

static void host_file(const char *name, const char *text)
{
    char at[64];
    snprintf(at, sizeof at, "%s/%s", host, name);
    FILE *f = fopen(at, "w");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

static void host_drop(void)
{
    static const char *const names[] = {"dir/deep", "dir", "file", "link", "out", ""};
    char at[64];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(at, sizeof at, "%s/%s", host, names[i]);
        (void)remove(at);
    }
}

static void host_make(void)
{
    char at[64];
    strcpy(host, "/tmp/vfs_fuzz.XXXXXX");
    if (!mkdtemp(host))
        abort();
    atexit(host_drop);
    snprintf(at, sizeof at, "%s/dir", host);
    (void)mkdir(at, 0755);
    host_file("file", "some text\n");
    host_file("dir/deep", "deeper\n");
    snprintf(at, sizeof at, "%s/link", host);
    (void)!symlink("dir", at);
    snprintf(at, sizeof at, "%s/out", host);
    (void)!symlink("../../etc/passwd", at);
}

/* What of the host and of callbacks is seen, by the bits of one byte of the input. */
static void furnish(Vfs *fs, unsigned bits)
{
    const VCred root = {0, 0, 022};
    const char *why;
    if (bits & 1)
        (void)vfs_bind(fs, &(VBind){.source = host, .destination = "/o", .mode = VBIND_OVERLAY, .uid = 1000, .gid = 1000, .no_openat2 = bits & 32}, &why);
    if (bits & 2)
        (void)vfs_bind(fs, &(VBind){.source = host, .destination = "/c", .mode = VBIND_COPY, .uid = 1000, .gid = 1000}, &why);
    if (bits & 4)
        (void)vfs_bind(fs, &(VBind){.source = host, .destination = "/r", .mode = VBIND_DIRECT, .readonly = true, .no_openat2 = bits & 32}, &why);
    if (bits & 8)
        (void)vfs_mount(fs, "/m", &mounted, host, bits & 64);
    if (bits & 16)
        (void)vfs_lazy_file(fs, &root, NULL, "/z", 4, 0644, &lazy, host);
}

/* ---------- the calls ---------- */

enum { FILES = 4 };

typedef struct {
    Budget budget;
    Gen *gen;
    Vfs *fs;
    VFile *file[FILES];
    VDir *cwd;
} Side;

static void check(Side *s)
{
    const char *why;
    if (vfs_check(s->fs, &why))
        return;
    fprintf(stderr, "%s\n", why);
    abort();
}

static void side_close(Side *s)
{
    for (int n = 0; n < FILES; n++)
        vfs_file_unref(s->fs, s->file[n]);
    vfs_dir_unref(s->fs, s->cwd);
    check(s);
    vfs_free(s->fs);
    gen_unref(s->gen);
}

/* The other side becomes a fork of this one, or starts from an image of it. */
static void side_fork(Side *from, Side *to, bool image)
{
    uint64_t fail_at = from->budget.fail_at;
    from->budget.fail_at = 0;
    side_close(to);
    *to = (Side){0};
    Gen *old = from->gen;
    gen_retire(old);
    from->gen = gen_new(&from->budget, &from->budget, old);
    to->gen = gen_new(&to->budget, &to->budget, old);
    to->fs = image ? NULL : vfs_fork(from->fs, to->gen);
    vfs_move_to(from->fs, from->gen);
    if (image) {
        VfsImage *frozen = vfs_freeze(from->fs);
        to->fs = vfs_from_image(frozen, to->gen);
        vfs_image_unref(frozen);
        vfs_set_base(to->fs);
        gen_unref(old);
        from->budget.fail_at = fail_at;
        return;
    }
    for (int n = 0; n < FILES; n++)
        to->file[n] = from->file[n] ? vfs_file_fork(to->fs, from->file[n]) : NULL;
    to->cwd = from->cwd ? vfs_dir_fork(to->fs, from->cwd) : NULL;
    gen_unref(old);
    from->budget.fail_at = fail_at;
}

static VTime when(Input *in)
{
    int64_t seconds = next(in);
    return (VTime){seconds, next(in), (int)(next(in) % 3)};
}

static void use_file(Side *s, Input *in, const VCred *c)
{
    static char bytes[70000];
    unsigned n = next(in) % FILES;
    VFile **f = &s->file[n];
    uint64_t off = next(in) * (uint64_t)(1 + next(in) * 7), at;
    size_t len = next(in) * (size_t)(1 + next(in));
    if (!*f) {
        (void)vfs_open(s->fs, c, s->cwd, path(in), (int)(next(in) & 127), 0644, f);
        return;
    }
    VStat st;
    Chunk *chunk;
    Slice out;
    switch (next(in) % 9) {
    case 6: (void)vfs_file_chmod(s->fs, c, *f, next(in) << 4); break;
    case 7: (void)vfs_file_chown(s->fs, c, *f, next(in), next(in)); break;
    case 8: (void)vfs_file_utimes(s->fs, *f, when(in), when(in)); break;
    case 0: vfs_file_unref(s->fs, *f); *f = NULL; break;
    case 1: (void)vfs_write(s->fs, *f, off, slice(bytes, len), NULL, &at); break;
    case 2:
        if (vfs_read(s->fs, *f, off, len, bytes, &chunk, &out) == 0) {
            VFile *to = s->file[next(in) % FILES];
            if (to)
                (void)vfs_write(s->fs, to, off, out, chunk, &at);
            chunk_unref(vfs_gen(s->fs), chunk);
        }
        break;
    case 3: (void)vfs_file_truncate(s->fs, *f, off); break;
    case 4: (void)vfs_file_stat(s->fs, *f, &st); break;
    default: {
        VFile *to = s->file[next(in) % FILES];
        if (to)
            (void)vfs_clone(s->fs, *f, to);
    }
    }
}

static void look(Side *s, Input *in, const VCred *c)
{
    Mem mem;
    VDirent *list;
    VChange *changes;
    size_t count;
    char *text;
    mem_init(&mem, NULL, NULL, NULL);
    (void)vfs_list(s->fs, c, s->cwd, path(in), &mem, &list, &count);
    (void)vfs_realpath(s->fs, c, s->cwd, path(in), (RealpathMode)(next(in) % 3), &mem, &text);
    (void)vfs_changes(s->fs, &mem, &changes, &count);
    mem_drop(&mem);
}

/* Another look: what only answers. */
static void ask(Side *s, Input *in, const VCred *c)
{
    Mem mem;
    VStat st;
    VStatfs whole;
    Slice target;
    char *text;
    mem_init(&mem, NULL, NULL, NULL);
    (void)vfs_stat(s->fs, c, s->cwd, path(in), (int)next(in) & 1, &st);
    (void)vfs_access(s->fs, c, s->cwd, path(in), (int)next(in) & 7);
    (void)vfs_readlink(s->fs, c, s->cwd, path(in), &mem, &target);
    (void)vfs_statfs(s->fs, c, s->cwd, path(in), &whole);
    if (s->cwd)
        (void)vfs_dir_path(s->fs, s->cwd, &mem, &text);
    unsigned n = next(in) % FILES;
    if (s->file[n])
        (void)vfs_command(s->fs, s->file[n]);
    mem_drop(&mem);
}

static void live(Side *s, Input *in)
{
    const char *why;
    switch (next(in) % 5) {
    case 0: (void)vfs_bind_live(s->fs, &(VBind){.source = host, .destination = path(in), .mode = next(in) & 1 ? VBIND_COPY : VBIND_OVERLAY, .uid = 1000}, &why); break;
    case 1: (void)vfs_unbind(s->fs, path(in), next(in) & 1); break;
    case 2: (void)vfs_mount_live(s->fs, path(in), &mounted, host, next(in) & 1); break;
    case 3: (void)vfs_unmount(s->fs, path(in)); break;
    default: (void)vfs_lazy_file(s->fs, &(VCred){1000, 1000, 022}, s->cwd, path(in), next(in), 0600, &lazy, host); break;
    }
}

static void step(Side *s, Side *other, Input *in)
{
    const VCred c = {next(in) & 1 ? 0 : 1000, 1000, 022};
    VDir *d;
    switch (next(in) % 20) {
    case 0: (void)vfs_mkdir(s->fs, &c, s->cwd, path(in), 0777); break;
    case 1: (void)vfs_rmdir(s->fs, &c, s->cwd, path(in)); break;
    case 2: (void)vfs_unlink(s->fs, &c, s->cwd, path(in)); break;
    case 3: (void)vfs_rename(s->fs, &c, s->cwd, path(in), NULL, path(in), next(in) & 1); break;
    case 4: (void)vfs_link(s->fs, &c, s->cwd, path(in), NULL, path(in), (int)next(in) & 1); break;
    case 5: (void)vfs_symlink(s->fs, &c, path(in), s->cwd, path(in)); break;
    case 6: (void)vfs_mknod(s->fs, &c, s->cwd, path(in), next(in) << 12 | 0644, next(in)); break;
    case 7: (void)vfs_chmod(s->fs, &c, s->cwd, path(in), (int)next(in) & 1, next(in) << 4); break;
    case 8: (void)vfs_chown(s->fs, &c, s->cwd, path(in), 0, next(in), next(in)); break;
    case 9: (void)vfs_truncate(s->fs, &c, s->cwd, path(in), next(in) * 1000u); break;
    case 10: look(s, in, &c); break;
    case 11:
        if (vfs_dir_open(s->fs, &c, s->cwd, path(in), &d) == 0) {
            vfs_dir_unref(s->fs, s->cwd);
            s->cwd = d;
        }
        break;
    case 12: side_fork(s, other, next(in) & 1); break;
    case 13: (void)(next(in) & 1 ? vfs_set_base(s->fs) : vfs_to_base(s->fs)); break;
    case 14: vfs_set_quota(s->fs, (VQuota){next(in) * 1000u, next(in) * 500u, next(in)}); break;
    case 15: (void)vfs_utimes(s->fs, &c, s->cwd, path(in), (int)next(in) & 1, when(in), when(in)); break;
    case 16: ask(s, in, &c); break;
    case 17: live(s, in); break;
    default: use_file(s, in, &c); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input in = {data, data + MIN(size, 4096)};
    if (!host[0])
        host_make();
    Side side[2] = {0};
    for (int n = 0; n < 2; n++) {
        side[n].gen = gen_new(&side[n].budget, &side[n].budget, NULL);
        side[n].fs = vfs_new(side[n].gen);
    }
    side[0].budget.fail_at = side[0].budget.takes + 1 + next(&in) * 4u;
    side[0].budget.fail_forever = false;
    furnish(side[0].fs, next(&in));
    vfs_set_base(side[0].fs);
    while (in.at < in.end) {
        unsigned n = next(&in) & 1;
        step(&side[n], &side[1 - n], &in);
    }
    for (int n = 0; n < 2; n++)
        check(&side[n]);
    for (int n = 0; n < 2; n++)
        side_close(&side[n]);
    return 0;
}
