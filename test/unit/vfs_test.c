/* vfs: the memory tree against the host's file system, call by call, and what only the vfs has: images, forks, base,
 * changes, quotas, and allocation failing at every point. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "vfs/vfs.h"

static const VCred root_cred = {0, 0, 022}, agent = {1000, 1000, 022};

static int64_t test_now(void *user, uint32_t *ns)
{
    *ns = 0;
    return ++*(int64_t *)user;
}

typedef struct {
    Budget budget;
    Gen *gen;
    Vfs *fs;
    int64_t time;
} World;

static void world_open(World *w)
{
    memset(w, 0, sizeof *w);
    w->gen = gen_new(&w->budget, &w->budget, NULL);
    w->fs = vfs_new(w->gen);
    vfs_set_clock(w->fs, (VClock){test_now, &w->time});
}

static void world_close(World *w)
{
    vfs_free(w->fs);
    gen_unref(w->gen);
    assert_int_equal(w->budget.used, 0);
}

static void check(Vfs *fs)
{
    const char *why;
    if (!vfs_check(fs, &why))
        fail_msg("%s", why);
}

static uint64_t seed = 88172645463325252u;
static uint32_t rnd(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 11) % n);
}

/* ---------- small helpers over vfs.h ---------- */

static int put(Vfs *fs, const VCred *c, const char *path, int flags, uint64_t off, Slice data)
{
    VFile *f;
    uint64_t at;
    int r = vfs_open(fs, c, NULL, path, flags, 0666, &f);
    if (r)
        return r;
    ssize_t n = vfs_write(fs, f, off, data, NULL, &at);
    vfs_file_unref(fs, f);
    return (int)n;
}

static int get(Vfs *fs, const VCred *c, const char *path, char *buf, size_t cap)
{
    VFile *f;
    size_t len = 0;
    int r = vfs_open(fs, c, NULL, path, V_READ, 0, &f);
    if (r)
        return r;
    for (;;) {
        Chunk *chunk;
        Slice s;
        char scratch[1000];
        r = vfs_read(fs, f, len, MIN(sizeof scratch, cap - len), scratch, &chunk, &s);
        if (r || !s.len)
            break;
        memcpy(buf + len, s.data, s.len);
        len += s.len;
        chunk_unref(vfs_gen(fs), chunk);
    }
    vfs_file_unref(fs, f);
    return r ? r : (int)len;
}

/* ---------- a text of the whole tree: paths, kinds, modes, links, contents ---------- */

static char file_data[1 << 20];

static uint64_t digest(const char *s, size_t n)
{
    uint64_t h = 1;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 1099511628211u;
    return h;
}

static void describe_vfs(Vfs *fs, const char *dir, Buf *out, bool times)
{
    VDirent *list;
    size_t count;
    assert_int_equal(vfs_list(fs, &root_cred, NULL, *dir ? dir : "/", out->mem, &list, &count), 0);
    for (size_t n = 0; n < count; n++) {
        char *path = mem_printf(out->mem, "%s/%s", dir, list[n].name.data);
        VStat st;
        assert_int_equal(vfs_stat(fs, &root_cred, NULL, path, V_NOFOLLOW, &st), 0);
        assert_int_equal(st.mode & S_IFMT, list[n].type);
        buf_printf(out, "%s %o %u", path, st.mode, st.nlink);
        if (times)
            buf_printf(out, " %ld %ld %ld", (long)st.mtime, (long)st.ctime, (long)st.ino);
        if (S_ISREG(st.mode)) {
            int len = get(fs, &root_cred, path, file_data, sizeof file_data);
            assert_int_equal(len, st.size);
            buf_printf(out, " %d %lx", len, (unsigned long)digest(file_data, (size_t)len));
        } else if (S_ISLNK(st.mode)) {
            Slice target;
            assert_int_equal(vfs_readlink(fs, &root_cred, NULL, path, out->mem, &target), 0);
            buf_printf(out, " -> %.*s", (int)target.len, target.data);
        }
        buf_char(out, '\n');
        if (S_ISDIR(st.mode))
            describe_vfs(fs, path, out, times);
    }
}

static int by_bytes(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static void describe_host(const char *dir, Buf *out)
{
    struct dirent **list;
    int count = scandir(*dir ? dir : "/", &list, NULL, by_bytes);
    for (int n = 0; n < count; n++) {
        struct stat st;
        char *path = mem_printf(out->mem, "%s/%s", dir, list[n]->d_name);
        bool dot = !strcmp(list[n]->d_name, ".") || !strcmp(list[n]->d_name, "..");
        free(list[n]);
        if (dot)
            continue;
        assert_int_equal(lstat(path, &st), 0);
        buf_printf(out, "%s %o %u", path, st.st_mode, (unsigned)st.st_nlink);
        if (S_ISREG(st.st_mode)) {
            int fd = open(path, O_RDONLY);
            ssize_t len = read(fd, file_data, sizeof file_data);
            close(fd);
            buf_printf(out, " %ld %lx", (long)len, (unsigned long)digest(file_data, (size_t)len));
        } else if (S_ISLNK(st.st_mode)) {
            char target[4096];
            ssize_t len = readlink(path, target, sizeof target);
            buf_printf(out, " -> %.*s", (int)len, target);
        }
        buf_char(out, '\n');
        if (S_ISDIR(st.st_mode))
            describe_host(path, out);
    }
    free(list);
}

static char *describe(Vfs *fs, Mem *mem, bool times)
{
    Buf b;
    buf_init(&b, mem, BUF_MAX);
    buf_reserve(&b, 1);
    describe_vfs(fs, "", &b, times);
    return b.data;
}

/* ---------- random operations ---------- */

static const char *names[] = {"a", "b", "c", "dd", "e/", "a/..", ".", "..", "a/b", "b/a", "dd/c", "a/b/c", "c/a/b", "l", "l/a", "m/", "b/../a"};

static void random_path(char *out, size_t size)
{
    int len = snprintf(out, size, "/%s", names[rnd(ARRAY_LEN(names))]);
    if (rnd(3) == 0)
        snprintf(out + len, size - (size_t)len, "/%s", names[rnd(ARRAY_LEN(names))]);
}

typedef enum { MKDIR, RMDIR, UNLINK, RENAME, LINK, SYMLINK, WRITE, APPEND, TRUNCATE, CREATE, CHMOD, MOVE, KINDS } Kind;

typedef struct {
    Kind kind;
    char path[256], other[256];
    uint64_t off;
    Slice data;
    bool exclusive;
    uint32_t mode;
} Op;

static char bytes[200000];

static Op random_op(void)
{
    Op op = {.kind = rnd(KINDS), .off = rnd(8) ? rnd(3000) : rnd(300000), .exclusive = rnd(2), .mode = rnd(01000) | 0700};
    random_path(op.path, sizeof op.path);
    random_path(op.other, sizeof op.other);
    if (op.kind == SYMLINK && rnd(2))
        memmove(op.other, op.other + 1, strlen(op.other)); /* a relative target */
    op.data = slice(bytes + rnd(1000), rnd(10) ? rnd(500) : rnd(150000));
    return op;
}

static int do_vfs(Vfs *fs, const VCred *c, const Op *op)
{
    switch (op->kind) {
    case MKDIR: return vfs_mkdir(fs, c, NULL, op->path, 0777);
    case RMDIR: return vfs_rmdir(fs, c, NULL, op->path);
    case UNLINK: return vfs_unlink(fs, c, NULL, op->path);
    case MOVE:
    case RENAME: return vfs_rename(fs, c, NULL, op->path, NULL, op->other, false);
    case LINK: return vfs_link(fs, c, NULL, op->path, NULL, op->other, op->exclusive ? V_NOFOLLOW : 0);
    case SYMLINK: return vfs_symlink(fs, c, op->other, NULL, op->path);
    case WRITE: return put(fs, c, op->path, V_WRITE | V_CREATE, op->off, op->data);
    case APPEND: return put(fs, c, op->path, V_WRITE | V_APPEND, 0, op->data);
    case TRUNCATE: return vfs_truncate(fs, c, NULL, op->path, op->off);
    case CREATE: return put(fs, c, op->path, V_WRITE | V_CREATE | V_TRUNC | (op->exclusive ? V_EXCL : 0), 0, op->data);
    case CHMOD: return vfs_chmod(fs, c, NULL, op->path, 0, op->mode);
    default: return 0;
    }
}

static int host_put(const char *path, int flags, off_t off, Slice data)
{
    int fd = open(path, flags, 0666);
    if (fd < 0)
        return -errno;
    ssize_t n = flags & O_APPEND ? write(fd, data.data, data.len) : pwrite(fd, data.data, data.len, off);
    int r = n < 0 ? -errno : (int)n;
    close(fd);
    return r;
}

static int do_host(const Op *op)
{
    int r = 0;
    switch (op->kind) {
    case MKDIR: r = mkdir(op->path, 0777); break;
    case RMDIR: r = rmdir(op->path); break;
    case UNLINK: r = unlink(op->path); break;
    case MOVE:
    case RENAME: r = rename(op->path, op->other); break;
    case LINK: r = linkat(AT_FDCWD, op->path, AT_FDCWD, op->other, op->exclusive ? 0 : AT_SYMLINK_FOLLOW); break;
    case SYMLINK: r = symlink(op->other, op->path); break;
    case WRITE: return host_put(op->path, O_WRONLY | O_CREAT, (off_t)op->off, op->data);
    case APPEND: return host_put(op->path, O_WRONLY | O_APPEND, 0, op->data);
    case TRUNCATE: r = truncate(op->path, (off_t)op->off); break;
    case CREATE: return host_put(op->path, O_WRONLY | O_CREAT | O_TRUNC | (op->exclusive ? O_EXCL : 0), 0, op->data);
    case CHMOD: r = chmod(op->path, op->mode); break;
    default: break;
    }
    return r < 0 ? -errno : r;
}

static void compare_with_host(Vfs *fs)
{
    Mem mem;
    Buf host;
    mem_init(&mem, NULL, NULL, NULL);
    buf_init(&host, &mem, BUF_MAX);
    buf_reserve(&host, 1);
    describe_host("", &host);
    assert_string_equal(describe(fs, &mem, false), host.data);
    mem_drop(&mem);
}

/* The same random calls on the host (in a chroot, so that absolute symlinks mean the same; only as root) and here:
 * results and trees are equal. */
static void test_against_host(void **state)
{
    (void)state;
    char top[] = "/tmp/vfs_test.XXXXXX", command[100];
    if (geteuid() != 0 || !mkdtemp(top)) {
        skip();
        return;
    }
    int outside = open("/", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chroot(top), 0);
    assert_int_equal(chdir("/"), 0);
    umask(022);
    World w;
    world_open(&w);
    for (int n = 0; n < 20000; n++) {
        Op op = random_op();
        int ours = do_vfs(w.fs, &root_cred, &op), theirs = do_host(&op);
        if (ours != theirs)
            fail_msg("step %d kind %d '%s' '%s' off %lu len %zu excl %d: %d, host %d", n, op.kind, op.path, op.other,
                     (unsigned long)op.off, op.data.len, op.exclusive, ours, theirs);
        if (n % 100 == 0) {
            check(w.fs);
            compare_with_host(w.fs);
        }
    }
    check(w.fs);
    world_close(&w);
    assert_int_equal(fchdir(outside), 0);
    assert_int_equal(chroot("."), 0);
    close(outside);
    snprintf(command, sizeof command, "rm -rf %s", top);
    assert_int_equal(system(command), 0);
}

/* ---------- failing allocations ---------- */

/* Every operation with its n-th allocation failing, for all n: -ENOMEM changes nothing that can be seen. A put is two
 * operations, of which the first may have been done. */
static void test_allocation_failure(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    Mem mem;
    mem_init(&mem, NULL, NULL, NULL);
    for (int n = 0; n < 2000; n++) {
        Op op = random_op();
        if (n == 700)
            vfs_set_base(w.fs);
        char *before = describe(w.fs, &mem, false);
        uint64_t k = 0;
        int r;
        do {
            w.budget.takes = 0;
            w.budget.fail_at = ++k;
            r = do_vfs(w.fs, &root_cred, &op);
            w.budget.fail_at = 0;
            check(w.fs);
            if (r == -ENOMEM && op.kind != CREATE && op.kind != WRITE)
                assert_string_equal(describe(w.fs, &mem, false), before);
        } while (r == -ENOMEM && k < 200);
        assert_int_not_equal(r, -ENOMEM);
        mem_drop(&mem);
    }
    world_close(&w);
}

/* ---------- images and forks ---------- */

enum { SHELLS = 4 };
typedef struct {
    Budget budget[SHELLS];
    Gen *gen[SHELLS];
    Vfs *fs[SHELLS];
    char *text[SHELLS];
    Mem mem;
} Shells;

/* Shell t becomes a fork of s. */
static void fork_shell(Shells *all, int s, int t)
{
    vfs_free(all->fs[t]);
    gen_unref(all->gen[t]);
    Gen *old = all->gen[s];
    gen_retire(old);
    all->gen[t] = gen_new(&all->budget[t], &all->budget[t], old);
    all->gen[s] = gen_new(&all->budget[s], &all->budget[s], old);
    all->fs[t] = vfs_fork(all->fs[s], all->gen[t]);
    vfs_move_to(all->fs[s], all->gen[s]);
    gen_unref(old);
    all->text[t] = all->text[s];
}

static void expect_untouched(Shells *all, int but)
{
    for (int k = 0; k < SHELLS; k++) {
        check(all->fs[k]);
        if (k != but)
            assert_string_equal(describe(all->fs[k], &all->mem, true), all->text[k]);
    }
    all->text[but] = describe(all->fs[but], &all->mem, true);
}

/* As the kernel does it: the generation is closed and the file system goes on in a fresh one. */
static VfsImage *freeze(World *w)
{
    Gen *fresh = gen_new(NULL, NULL, w->gen);
    gen_retire(w->gen);
    vfs_move_to(w->fs, fresh);
    gen_unref(w->gen);
    w->gen = fresh;
    return vfs_freeze(w->fs);
}

static void test_isolation(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    for (int n = 0; n < 500; n++) {
        Op op = random_op();
        do_vfs(w.fs, &root_cred, &op);
    }
    Shells all = {0};
    mem_init(&all.mem, NULL, NULL, NULL);
    char *frozen = describe(w.fs, &all.mem, true);
    VfsImage *image = freeze(&w);
    vfs_free(w.fs);
    for (int s = 0; s < SHELLS; s++) {
        all.gen[s] = gen_new(&all.budget[s], &all.budget[s], vfs_image_gen(image));
        all.fs[s] = vfs_from_image(image, all.gen[s]);
        vfs_set_clock(all.fs[s], (VClock){test_now, &w.time});
        assert_true(all.budget[s].used < 1024);
        all.text[s] = frozen;
    }
    gen_unref(w.gen);
    vfs_image_unref(image);
    for (int round = 0; round < 300; round++) {
        int s = (int)rnd(SHELLS), t = (int)rnd(SHELLS);
        for (int n = 0; n < 12; n++) {
            Op op = random_op();
            do_vfs(all.fs[s], &root_cred, &op);
        }
        expect_untouched(&all, s);
        if (s != t && round % 3 == 0)
            fork_shell(&all, s, t);
        if (round % 20 == 0) {
            VChange *changes;
            size_t count;
            vfs_to_base(all.fs[t]);
            all.text[t] = frozen;
            assert_int_equal(vfs_usage(all.fs[t]).bytes, 0);
            assert_int_equal(vfs_changes(all.fs[t], &all.mem, &changes, &count), 0);
            assert_int_equal(count, 0);
        }
    }
    for (int s = 0; s < SHELLS; s++) {
        vfs_to_base(all.fs[s]);
        check(all.fs[s]);
        assert_string_equal(describe(all.fs[s], &all.mem, true), frozen);
        vfs_free(all.fs[s]);
        gen_unref(all.gen[s]);
        assert_int_equal(all.budget[s].used, 0);
    }
    mem_drop(&all.mem);
}

/* ---------- changes ---------- */

static void expect_changes(Vfs *fs, const char *expected)
{
    Mem mem;
    Buf b;
    VChange *list;
    size_t count;
    mem_init(&mem, NULL, NULL, NULL);
    buf_init(&b, &mem, BUF_MAX);
    buf_reserve(&b, 1);
    assert_int_equal(vfs_changes(fs, &mem, &list, &count), 0);
    for (size_t n = 0; n < count; n++)
        buf_printf(&b, "%c%s ", "AMD"[list[n].kind], list[n].path);
    assert_string_equal(b.data, expected);
    mem_drop(&mem);
}

static void test_changes(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    Vfs *fs = w.fs;
    assert_int_equal(vfs_mkdir(fs, &root_cred, NULL, "/d", 0777), 0);
    assert_int_equal(vfs_mkdir(fs, &root_cred, NULL, "/d/e", 0777), 0);
    put(fs, &root_cred, "/d/e/f", V_WRITE | V_CREATE, 0, SLICE("one"));
    put(fs, &root_cred, "/d/g", V_WRITE | V_CREATE, 0, SLICE("two"));
    vfs_set_base(fs);
    expect_changes(fs, "");
    assert_int_equal(vfs_usage(fs).bytes, 0);
    put(fs, &root_cred, "/d/e/f", V_WRITE | V_APPEND, 0, SLICE("!"));
    expect_changes(fs, "M/d/e/f ");
    assert_int_equal(vfs_usage(fs).bytes, 4);
    vfs_rename(fs, &root_cred, NULL, "/d/e", NULL, "/x", false);
    expect_changes(fs, "D/d/e D/d/e/f A/x A/x/f ");
    vfs_rename(fs, &root_cred, NULL, "/x", NULL, "/d/e", false);
    expect_changes(fs, "M/d/e/f ");
    vfs_unlink(fs, &root_cred, NULL, "/d/g");
    vfs_symlink(fs, &root_cred, "e", NULL, "/d/g");
    expect_changes(fs, "M/d/e/f M/d/g ");
    vfs_link(fs, &root_cred, NULL, "/d/e/f", NULL, "/h", 0);
    put(fs, &root_cred, "/h", V_WRITE | V_APPEND, 0, SLICE("?"));
    expect_changes(fs, "M/d/e/f M/d/g A/h ");
    VFile *f;
    Chunk *chunk;
    Slice s;
    char scratch[10];
    assert_int_equal(vfs_open(fs, &root_cred, NULL, "/h", V_READ | V_WRITE, 0, &f), 0);
    vfs_to_base(fs);
    expect_changes(fs, "");
    assert_int_equal(vfs_read(fs, f, 0, 10, scratch, &chunk, &s), 0);
    assert_true(slice_is(s, "one!?"));
    chunk_unref(vfs_gen(fs), chunk);
    assert_int_equal(get(fs, &root_cred, "/d/e/f", scratch, 10), 3);
    check(fs);
    vfs_file_unref(fs, f);
    assert_int_equal(vfs_usage(fs).bytes, 0);
    check(fs);
    world_close(&w);
}

/* ---------- permission, quotas, what stays open ---------- */

static void test_permissions(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    Vfs *fs = w.fs;
    VStat st;
    assert_int_equal(vfs_mkdir(fs, &agent, NULL, "/no", 0777), -EACCES);
    assert_int_equal(vfs_mkdir(fs, &root_cred, NULL, "/tmp", 0777), 0);
    assert_int_equal(vfs_chmod(fs, &root_cred, NULL, "/tmp", 0, 01777), 0);
    put(fs, &root_cred, "/tmp/r", V_WRITE | V_CREATE, 0, SLICE("x"));
    assert_int_equal(vfs_unlink(fs, &agent, NULL, "/tmp/r"), -EPERM);
    assert_int_equal(vfs_rename(fs, &agent, NULL, "/tmp/r", NULL, "/tmp/s", false), -EPERM);
    assert_int_equal(put(fs, &agent, "/tmp/r", V_WRITE, 0, SLICE("y")), -EACCES);
    assert_int_equal(vfs_chmod(fs, &agent, NULL, "/tmp/r", 0, 0666), -EPERM);
    assert_int_equal(vfs_chown(fs, &agent, NULL, "/tmp/r", 0, 1000, 1000), -EPERM);
    assert_int_equal(put(fs, &agent, "/tmp/a", V_WRITE | V_CREATE, 0, SLICE("y")), 1);
    assert_int_equal(vfs_stat(fs, &agent, NULL, "/tmp/a", 0, &st), 0);
    assert_int_equal(st.mode, S_IFREG | 0644);
    assert_int_equal(st.uid, 1000);
    assert_int_equal(vfs_chmod(fs, &agent, NULL, "/tmp/a", 0, 0), 0);
    assert_int_equal(vfs_access(fs, &agent, NULL, "/tmp/a", 4), -EACCES);
    assert_int_equal(vfs_access(fs, &root_cred, NULL, "/tmp/a", 6), 0);
    assert_int_equal(vfs_access(fs, &root_cred, NULL, "/tmp/a", 1), -EACCES);
    assert_int_equal(vfs_link(fs, &agent, NULL, "/tmp/r", NULL, "/tmp/l", 0), -EPERM);
    VTime now = {.how = VTIME_NOW}, set = {.seconds = 5, .how = VTIME_SET}, omit = {.how = VTIME_OMIT};
    assert_int_equal(vfs_utimes(fs, &agent, NULL, "/tmp/r", 0, now, now), -EACCES);
    assert_int_equal(vfs_utimes(fs, &agent, NULL, "/tmp/r", 0, set, set), -EPERM);
    assert_int_equal(vfs_utimes(fs, &agent, NULL, "/tmp/a", 0, omit, set), 0);
    assert_int_equal(vfs_stat(fs, &agent, NULL, "/tmp/a", 0, &st), 0);
    assert_int_equal(st.mtime, 5);
    assert_int_equal(vfs_mkdir(fs, &agent, NULL, "/tmp/d", 0700), 0);
    assert_int_equal(vfs_chmod(fs, &agent, NULL, "/tmp/d", 0, 0600), 0);
    assert_int_equal(put(fs, &agent, "/tmp/d/f", V_WRITE | V_CREATE, 0, SLICE("y")), -EACCES);
    assert_int_equal(vfs_mknod(fs, &agent, NULL, "/tmp/p", S_IFIFO | 0666, 0), 0);
    assert_int_equal(vfs_mknod(fs, &agent, NULL, "/tmp/n", S_IFCHR | 0666, VDEV_NULL), -EPERM);
    check(fs);
    world_close(&w);
}

static void test_quota(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    Vfs *fs = w.fs;
    put(fs, &root_cred, "/old", V_WRITE | V_CREATE, 0, slice(bytes, 1000));
    vfs_set_base(fs);
    vfs_set_quota(fs, (VQuota){.bytes = 100, .file_bytes = 80, .inodes = 3});
    assert_int_equal(put(fs, &root_cred, "/a", V_WRITE | V_CREATE, 0, slice(bytes, 90)), 80);
    assert_int_equal(put(fs, &root_cred, "/a", V_WRITE | V_APPEND, 0, slice(bytes, 1)), -EFBIG);
    assert_int_equal(put(fs, &root_cred, "/b", V_WRITE | V_CREATE, 0, slice(bytes, 50)), 20);
    assert_int_equal(put(fs, &root_cred, "/b", V_WRITE | V_APPEND, 0, slice(bytes, 1)), -ENOSPC);
    assert_int_equal(vfs_truncate(fs, &root_cred, NULL, "/b", 21), -ENOSPC);
    assert_int_equal(put(fs, &root_cred, "/old", V_WRITE | V_APPEND, 0, slice(bytes, 1)), -EFBIG);
    assert_int_equal(vfs_mkdir(fs, &root_cred, NULL, "/c", 0777), 0);
    assert_int_equal(vfs_mkdir(fs, &root_cred, NULL, "/d", 0777), -ENOSPC);
    assert_int_equal(vfs_unlink(fs, &root_cred, NULL, "/a"), 0);
    assert_int_equal(vfs_mkdir(fs, &root_cred, NULL, "/d", 0777), 0);
    assert_int_equal(put(fs, &root_cred, "/b", V_WRITE | V_APPEND, 0, slice(bytes, 50)), 50);
    assert_int_equal(vfs_usage(fs).bytes, 70);
    check(fs);
    world_close(&w);
}

static void test_open_unlinked(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    Vfs *fs = w.fs;
    VFile *f;
    VDir *d;
    Chunk *chunk;
    Slice s;
    uint64_t at;
    char *path, scratch[16];
    Mem mem;
    mem_init(&mem, NULL, NULL, NULL);
    assert_int_equal(vfs_mkdir(fs, &root_cred, NULL, "/d", 0777), 0);
    assert_int_equal(vfs_dir_open(fs, &root_cred, NULL, "/d", &d), 0);
    assert_int_equal(vfs_open(fs, &root_cred, d, "f", V_READ | V_WRITE | V_CREATE, 0666, &f), 0);
    assert_int_equal(vfs_write(fs, f, 0, SLICE("hello"), NULL, &at), 5);
    assert_int_equal(vfs_dir_path(fs, d, &mem, &path), 0);
    assert_string_equal(path, "/d");
    assert_int_equal(vfs_rename(fs, &root_cred, NULL, "/d", NULL, "/g", false), 0);
    assert_int_equal(vfs_dir_path(fs, d, &mem, &path), 0);
    assert_string_equal(path, "/g");
    assert_int_equal(vfs_unlink(fs, &root_cred, d, "f"), 0);
    assert_int_equal(vfs_rmdir(fs, &root_cred, NULL, "/g"), 0);
    assert_int_equal(vfs_dir_path(fs, d, &mem, &path), -ENOENT);
    assert_int_equal(vfs_mkdir(fs, &root_cred, d, "x", 0777), -ENOENT);
    assert_int_equal(vfs_usage(fs).bytes, 5);
    check(fs);

    Budget budget = {0};
    Gen *old = w.gen, *there = gen_new(&budget, &budget, old);
    gen_retire(old);
    w.gen = gen_new(&w.budget, &w.budget, old);
    Vfs *fork = vfs_fork(fs, there);
    vfs_move_to(fs, w.gen);
    gen_unref(old);
    VFile *g = vfs_file_fork(fork, f), *h = vfs_file_fork(fork, f);
    VDir *e = vfs_dir_fork(fork, d);
    assert_int_equal(vfs_write(fs, f, 5, SLICE(" here"), NULL, &at), 5);
    assert_int_equal(vfs_write(fork, g, 5, SLICE(" there"), NULL, &at), 6);
    assert_int_equal(vfs_read(fork, h, 0, 16, scratch, &chunk, &s), 0);
    assert_true(slice_is(s, "hello there"));
    chunk_unref(there, chunk);
    check(fs);
    check(fork);
    vfs_file_unref(fork, g);
    vfs_file_unref(fork, h);
    vfs_dir_unref(fork, e);
    assert_int_equal(vfs_usage(fork).bytes, 0);
    check(fork);
    vfs_free(fork);
    gen_unref(there);
    assert_int_equal(budget.used, 0);
    vfs_file_unref(fs, f);
    vfs_dir_unref(fs, d);
    assert_int_equal(vfs_usage(fs).bytes, 0);
    check(fs);
    mem_drop(&mem);
    world_close(&w);
}

static void test_command(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    Vfs *fs = w.fs;
    VFile *f, *g;
    uint64_t at;
    assert_int_equal(vfs_make_command(fs, "/ls", "ls"), 0);
    assert_int_equal(vfs_open(fs, &agent, NULL, "/ls", V_READ, 0, &f), 0);
    assert_true(slice_is(vfs_command(fs, f), "ls"));
    assert_int_equal(vfs_open(fs, &root_cred, NULL, "/dir", V_WRITE | V_CREATE, 0777, &g), 0);
    assert_int_equal(vfs_clone(fs, f, g), 0);
    assert_true(slice_is(vfs_command(fs, g), "ls"));
    assert_int_equal(vfs_write(fs, g, 0, SLICE("x"), NULL, &at), 1);
    assert_int_equal(vfs_command(fs, g).len, 0);
    assert_true(slice_is(vfs_command(fs, f), "ls"));
    vfs_file_unref(fs, f);
    vfs_file_unref(fs, g);
    check(fs);
    world_close(&w);
}

/* A reader's chunk is never changed under it, nor is the part of a passed chunk that its owner still has. */
static void test_references(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    VFile *f;
    Chunk *passed = chunk_new(w.gen, 20000), *read;
    Slice s;
    uint64_t at;
    memcpy(passed->data, bytes, 20000);
    assert_int_equal(vfs_open(w.fs, &root_cred, NULL, "/f", V_READ | V_WRITE | V_CREATE, 0666, &f), 0);
    assert_int_equal(vfs_write(w.fs, f, 0, slice(passed->data, 8000), passed, &at), 8000);
    assert_int_equal(vfs_write(w.fs, f, 8000, slice(passed->data + 8000, 8000), passed, &at), 8000);
    assert_int_equal(vfs_read(w.fs, f, 0, 30000, NULL, &read, &s), 0);
    assert_ptr_equal(read, passed);
    assert_int_equal(s.len, 16000);
    assert_int_equal(vfs_write(w.fs, f, 100, SLICE("changed"), NULL, &at), 7);
    assert_int_equal(vfs_write(w.fs, f, 16000, SLICE("more"), NULL, &at), 4);
    assert_memory_equal(passed->data, bytes, 20000);
    chunk_unref(w.gen, read);
    chunk_unref(w.gen, passed);
    assert_int_equal(vfs_read(w.fs, f, 100, 7, NULL, &read, &s), 0);
    assert_true(slice_is(s, "changed"));
    chunk_unref(w.gen, read);
    vfs_file_unref(w.fs, f);
    check(w.fs);
    world_close(&w);
}

/* ---------- paths ---------- */

static void expect_real(Vfs *fs, const char *path, RealpathMode mode, int result, const char *expected)
{
    Mem mem;
    char *out = NULL;
    mem_init(&mem, NULL, NULL, NULL);
    int r = vfs_realpath(fs, &root_cred, NULL, path, mode, &mem, &out);
    assert_int_equal(r, result);
    if (!r)
        assert_string_equal(out, expected);
    mem_drop(&mem);
}

static void test_realpath(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    Vfs *fs = w.fs;
    vfs_mkdir(fs, &root_cred, NULL, "/a", 0777);
    vfs_mkdir(fs, &root_cred, NULL, "/a/b", 0777);
    put(fs, &root_cred, "/a/f", V_WRITE | V_CREATE, 0, SLICE("x"));
    vfs_symlink(fs, &root_cred, "a/b", NULL, "/l");
    vfs_symlink(fs, &root_cred, "/gone/x", NULL, "/dangling");
    vfs_symlink(fs, &root_cred, "loop", NULL, "/loop");
    for (int n = 0; n < 60; n++) { /* a chain that ends, but is too long */
        char to[16], from[16];
        snprintf(to, sizeof to, n ? "c%d" : "a", n - 1);
        snprintf(from, sizeof from, "/c%d", n);
        vfs_symlink(fs, &root_cred, to, NULL, from);
    }
    expect_real(fs, "/c30", REALPATH_EXISTING, 0, "/a");
    expect_real(fs, "/c59", REALPATH_EXISTING, -ELOOP, "");
    expect_real(fs, "/", REALPATH_EXISTING, 0, "/");
    expect_real(fs, "l/../f", REALPATH_EXISTING, 0, "/a/f");
    expect_real(fs, "//l/.//", REALPATH_EXISTING, 0, "/a/b");
    expect_real(fs, "/l/new", REALPATH_LAST_MISSING, 0, "/a/b/new");
    expect_real(fs, "/l/new/x", REALPATH_LAST_MISSING, -ENOENT, "");
    expect_real(fs, "/l/new/x/../y", REALPATH_ANY_MISSING, 0, "/a/b/new/y");
    expect_real(fs, "/nope/../../z", REALPATH_ANY_MISSING, 0, "/z");
    expect_real(fs, "/dangling", REALPATH_EXISTING, -ENOENT, "");
    expect_real(fs, "/loop", REALPATH_EXISTING, -ELOOP, "");
    expect_real(fs, "/a/f/", REALPATH_EXISTING, -ENOTDIR, "");
    char big[5000];
    VStat st;
    memset(big, 'x', sizeof big);
    big[0] = '/';
    big[257] = 0;
    assert_int_equal(vfs_stat(fs, &root_cred, NULL, big, 0, &st), -ENAMETOOLONG);
    big[256] = 0;
    assert_int_equal(vfs_stat(fs, &root_cred, NULL, big, 0, &st), -ENOENT);
    memset(big, '/', sizeof big);
    big[4096] = 0;
    assert_int_equal(vfs_stat(fs, &root_cred, NULL, big, 0, &st), -ENAMETOOLONG);
    big[4095] = 0;
    assert_int_equal(vfs_stat(fs, &root_cred, NULL, big, 0, &st), 0);
    world_close(&w);
}

/* ---------- how fast: printed, not judged ---------- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void test_figures(void **state)
{
    (void)state;
    enum { FILES = 20000, OPENS = 100000 };
    World w;
    world_open(&w);
    double t0 = seconds();
    char path[64];
    vfs_mkdir(w.fs, &root_cred, NULL, "/d", 0777);
    for (int n = 0; n < FILES; n++) {
        snprintf(path, sizeof path, "/d/file%d", n);
        put(w.fs, &root_cred, path, V_WRITE | V_CREATE, 0, SLICE("0123456789"));
    }
    double t1 = seconds();
    print_message("%d files created: %.0f ns each, %.0f bytes each\n", FILES, (t1 - t0) / FILES * 1e9, (double)w.budget.used / FILES);
    VStat st;
    for (int n = 0; n < FILES; n++) {
        snprintf(path, sizeof path, "/d/file%d", (n * 7919) % FILES);
        vfs_stat(w.fs, &root_cred, NULL, path, 0, &st);
    }
    print_message("stat: %.0f ns\n", (seconds() - t1) / FILES * 1e9);
    VfsImage *image = freeze(&w);
    vfs_free(w.fs);
    Budget budget = {0};
    t0 = seconds();
    for (int n = 0; n < OPENS; n++) {
        Gen *g = gen_new(&budget, &budget, vfs_image_gen(image));
        Vfs *fs = vfs_from_image(image, g);
        vfs_free(fs);
        gen_unref(g);
    }
    print_message("open and close from an image: %.0f ns, %zu bytes\n", (seconds() - t0) / OPENS * 1e9, (size_t)budget.peak);
    Gen *g = gen_new(&budget, &budget, vfs_image_gen(image));
    Vfs *fs = vfs_from_image(image, g);
    put(fs, &root_cred, "/d/file77", V_WRITE | V_TRUNC, 0, SLICE("x"));
    print_message("one file rewritten: %zu bytes\n", (size_t)budget.used);
    vfs_free(fs);
    gen_unref(g);
    vfs_image_unref(image);
    gen_unref(w.gen);
}

int main(void)
{
    for (size_t n = 0; n < sizeof bytes; n++)
        bytes[n] = (char)(n * 31 + n / 251);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_host), cmocka_unit_test(test_allocation_failure), cmocka_unit_test(test_isolation),
        cmocka_unit_test(test_changes), cmocka_unit_test(test_permissions), cmocka_unit_test(test_quota),
        cmocka_unit_test(test_open_unlinked), cmocka_unit_test(test_command), cmocka_unit_test(test_references),
        cmocka_unit_test(test_realpath), cmocka_unit_test(test_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
