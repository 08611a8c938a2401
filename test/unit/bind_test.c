/* bind: host directories copied in and mounted live, what is refused, and a race against somebody who swaps symlinks. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "vfs/host.h"
#include "vfs/vfs.h"

static const VCred root_cred = {0, 0, 022}, agent = {1000, 1000, 022};

typedef struct {
    Budget budget;
    Gen *gen;
    Vfs *fs;
    char top[64];
} World;

static void run(const char *format, const char *top)
{
    char command[1000];
    snprintf(command, sizeof command, "cd %s && %s", top, format);
    assert_int_equal(system(command), 0);
}

static void world_open(World *w)
{
    memset(w, 0, sizeof *w);
    strcpy(w->top, "/tmp/bind_test.XXXXXX");
    assert_non_null(mkdtemp(w->top));
    run("mkdir -p src/sub out && printf hello >src/f && printf x >src/sub/g && ln -s sub/g src/l && ln -s /etc/passwd src/abs && "
        "ln src/f src/hard && mkfifo src/pipe && printf secret >out/secret && ln -s ../out/secret src/esc && chmod 640 src/sub/g", w->top);
    w->gen = gen_new(&w->budget, &w->budget, NULL);
    w->fs = vfs_new(w->gen);
}

static void world_close(World *w)
{
    const char *why;
    if (!vfs_check(w->fs, &why))
        fail_msg("%s", why);
    vfs_free(w->fs);
    gen_unref(w->gen);
    assert_int_equal(w->budget.used, 0);
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", w->top);
    assert_int_equal(system(command), 0);
}

static int bind_to(World *w, VBind b, const char *below)
{
    char source[200];
    const char *message;
    snprintf(source, sizeof source, "%s%s", w->top, below);
    b.source = source;
    b.destination = "/b";
    b.uid = b.gid = 1000;
    return vfs_bind(w->fs, &b, &message);
}

static int put(Vfs *fs, const char *path, int flags, const char *text)
{
    VFile *f;
    uint64_t at;
    int r = vfs_open(fs, &agent, NULL, path, flags, 0666, &f);
    if (r)
        return r;
    ssize_t n = vfs_write(fs, f, 0, slice_str(text), NULL, &at);
    vfs_file_unref(fs, f);
    return (int)n;
}

static int get(Vfs *fs, const char *path, char *out)
{
    VFile *f;
    Chunk *chunk;
    Slice s;
    char scratch[100];
    int r = vfs_open(fs, &agent, NULL, path, V_READ, 0, &f);
    if (r)
        return r;
    r = vfs_read(fs, f, 0, sizeof scratch, scratch, &chunk, &s);
    if (r == 0) {
        memcpy(out, s.data, s.len);
        out[s.len] = 0;
        chunk_unref(vfs_gen(fs), chunk);
    }
    vfs_file_unref(fs, f);
    return r;
}

static void test_copy(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    char text[100];
    VStat st, other;
    assert_int_equal(bind_to(&w, (VBind){.mode = VBIND_COPY}, "/src"), 0);
    assert_int_equal(get(w.fs, "/b/f", text), 0);
    assert_string_equal(text, "hello");
    assert_int_equal(get(w.fs, "/b/l", text), 0);
    assert_string_equal(text, "x");
    assert_int_equal(get(w.fs, "/b/esc", text), -ENOENT);
    assert_int_equal(get(w.fs, "/b/pipe", text), -ENOENT);
    assert_int_equal(vfs_stat(w.fs, &agent, NULL, "/b/sub/g", 0, &st), 0);
    assert_int_equal(st.mode, S_IFREG | 0640);
    assert_int_equal(st.uid, 1000);
    assert_int_equal(vfs_stat(w.fs, &agent, NULL, "/b/f", 0, &st), 0);
    assert_int_equal(vfs_stat(w.fs, &agent, NULL, "/b/hard", 0, &other), 0);
    assert_int_equal(st.ino, other.ino);
    assert_int_equal(put(w.fs, "/b/f", V_WRITE | V_TRUNC, "changed"), 7);
    run("test $(cat src/f) = hello", w.top);
    world_close(&w);
}

static void test_copy_readonly(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    assert_int_equal(vfs_mkdir(w.fs, &root_cred, NULL, "/t", 0777), 0);
    assert_int_equal(vfs_chmod(w.fs, &root_cred, NULL, "/t", 0, 0777), 0);
    assert_int_equal(bind_to(&w, (VBind){.mode = VBIND_COPY, .readonly = true}, "/src"), 0);
    VDir *d;
    assert_int_equal(vfs_dir_open(w.fs, &agent, NULL, "/b/sub", &d), 0);
    assert_int_equal(put(w.fs, "/b/f", V_WRITE, "x"), -EROFS);
    assert_int_equal(put(w.fs, "/b/new", V_WRITE | V_CREATE, "x"), -EROFS);
    assert_int_equal(vfs_unlink(w.fs, &agent, d, "g"), -EROFS);
    assert_int_equal(vfs_mkdir(w.fs, &agent, d, "new", 0777), -EROFS);
    assert_int_equal(vfs_chmod(w.fs, &agent, NULL, "/b/f", 0, 0600), -EROFS);
    assert_int_equal(vfs_rename(w.fs, &agent, NULL, "/b/f", NULL, "/b/h", false), -EROFS);
    assert_int_equal(vfs_rename(w.fs, &agent, NULL, "/b/f", NULL, "/t/h", false), -EXDEV);
    assert_int_equal(vfs_link(w.fs, &agent, NULL, "/b/f", NULL, "/t/h", 0), -EXDEV);
    assert_int_equal(vfs_rename(w.fs, &root_cred, NULL, "/b", NULL, "/c", false), -EBUSY);
    assert_int_equal(vfs_rmdir(w.fs, &root_cred, NULL, "/b"), -EBUSY);
    assert_int_equal(vfs_mkdir(w.fs, &agent, d, "../../t/new", 0777), 0);
    assert_int_equal(vfs_unmount(w.fs, "/b"), -EBUSY);
    vfs_dir_unref(w.fs, d);
    assert_int_equal(vfs_unmount(w.fs, "/b"), 0);
    assert_int_equal(put(w.fs, "/b/f", V_WRITE, "x"), 1);
    world_close(&w);
}

static void direct(bool no_openat2)
{
    World w;
    world_open(&w);
    char text[100], *path;
    VStat st;
    VDir *d;
    Mem mem;
    mem_init(&mem, NULL, NULL, NULL);
    assert_int_equal(bind_to(&w, (VBind){.mode = VBIND_DIRECT, .no_openat2 = no_openat2}, "/src"), 0);
    assert_int_equal(get(w.fs, "/b/l", text), 0);
    assert_string_equal(text, "x");
    assert_int_equal(get(w.fs, "/b/esc", text), -ENOENT);
    assert_int_equal(get(w.fs, "/b/abs", text), -ENOENT);
    assert_int_equal(get(w.fs, "/b/pipe", text), -ENXIO);
    assert_int_equal(vfs_stat(w.fs, &agent, NULL, "/b/pipe", 0, &st), 0);
    assert_true(S_ISFIFO(st.mode));
    assert_int_equal(put(w.fs, "/b/f", V_WRITE, "x"), -EPERM); /* two links */
    assert_int_equal(put(w.fs, "/b/sub/g", V_WRITE | V_TRUNC, "new"), 3);
    assert_int_equal(put(w.fs, "/b/made", V_WRITE | V_CREATE, "made"), 4);
    assert_int_equal(vfs_mkdir(w.fs, &agent, NULL, "/b/dir", 0777), 0);
    run("test $(cat src/sub/g) = new && test $(stat -c %a src/made) = 644 && test $(stat -c %a src/dir) = 755", w.top);
    assert_int_equal(vfs_chmod(w.fs, &agent, NULL, "/b/made", 0, 04755), -EPERM);
    assert_int_equal(vfs_chmod(w.fs, &agent, NULL, "/b/made", 0, 0600), 0);
    assert_int_equal(vfs_chown(w.fs, &agent, NULL, "/b/made", 0, 5, 5), -EPERM);
    assert_int_equal(vfs_mknod(w.fs, &agent, NULL, "/b/fifo", S_IFIFO | 0666, 0), -EPERM);
    assert_int_equal(vfs_symlink(w.fs, &agent, "/etc/passwd", NULL, "/b/s"), -EPERM);
    assert_int_equal(vfs_symlink(w.fs, &agent, "../x", NULL, "/b/s"), -EPERM);
    assert_int_equal(vfs_symlink(w.fs, &agent, "../x", NULL, "/b/dir/s"), 0);
    assert_int_equal(vfs_rename(w.fs, &agent, NULL, "/b/dir/s", NULL, "/b/s", false), -EPERM);
    assert_int_equal(vfs_rename(w.fs, &agent, NULL, "/b/made", NULL, "/b/sub/g", true), -EEXIST);
    assert_int_equal(vfs_rename(w.fs, &agent, NULL, "/b/made", NULL, "/b/sub/h", false), 0);
    assert_int_equal(vfs_rename(w.fs, &root_cred, NULL, "/b/sub/h", NULL, "/h", false), -EXDEV);
    assert_int_equal(vfs_link(w.fs, &root_cred, NULL, "/b/sub/h", NULL, "/h", 0), -EXDEV);
    assert_int_equal(vfs_dir_open(w.fs, &agent, NULL, "/b/sub", &d), 0);
    assert_int_equal(vfs_dir_path(w.fs, d, &mem, &path), 0);
    assert_string_equal(path, "/b/sub");
    assert_int_equal(vfs_unlink(w.fs, &agent, d, "h"), 0);
    assert_int_equal(vfs_stat(w.fs, &agent, d, "../..", 0, &st), 0);
    assert_int_equal(st.ino, 1);
    vfs_dir_unref(w.fs, d);
    VDirent *list;
    size_t count;
    assert_int_equal(vfs_list(w.fs, &agent, NULL, "/b", &mem, &list, &count), 0);
    assert_int_equal(count, 8);
    assert_string_equal(list[0].name.data, "abs");
    assert_int_equal(vfs_realpath(w.fs, &agent, NULL, "/b/l", REALPATH_EXISTING, &mem, &path), 0);
    assert_string_equal(path, "/b/sub/g");
    assert_int_equal(vfs_rmdir(w.fs, &agent, NULL, "/b/sub"), -ENOTEMPTY);
    mem_drop(&mem);
    world_close(&w);
}

static void test_direct(void **state)
{
    (void)state;
    direct(false);
}

static void test_direct_walking(void **state)
{
    (void)state;
    direct(true);
}

static void test_direct_readonly(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    char text[100];
    assert_int_equal(bind_to(&w, (VBind){.mode = VBIND_DIRECT, .readonly = true}, "/src"), 0);
    assert_int_equal(get(w.fs, "/b/f", text), 0);
    assert_int_equal(put(w.fs, "/b/sub/g", V_WRITE, "x"), -EROFS);
    assert_int_equal(put(w.fs, "/b/new", V_WRITE | V_CREATE, "x"), -EROFS);
    assert_int_equal(vfs_unlink(w.fs, &agent, NULL, "/b/f"), -EROFS);
    assert_int_equal(vfs_symlink(w.fs, &agent, "x", NULL, "/b/y"), -EROFS);
    world_close(&w);
}

static void test_single_file(void **state)
{
    (void)state;
    for (int mode = VBIND_COPY; mode <= VBIND_DIRECT; mode++) {
        World w;
        world_open(&w);
        char text[100];
        assert_int_equal(bind_to(&w, (VBind){.mode = (VBindMode)mode, .write_linked = true}, "/src/f"), 0);
        assert_int_equal(get(w.fs, "/b", text), 0);
        assert_string_equal(text, "hello");
        assert_int_equal(put(w.fs, "/b", V_WRITE, "J"), 1);
        run(mode == VBIND_COPY ? "test $(cat src/f) = hello" : "test $(cat src/f) = Jello", w.top);
        world_close(&w);
    }
}

static void test_refused(void **state)
{
    (void)state;
    World w;
    world_open(&w);
    static const char *const sources[] = {"/", "/proc", "/sys", "/dev", "/proc/self", "//", "/tmp/..", "/proc/version"};
    const char *message;
    for (size_t n = 0; n < ARRAY_LEN(sources); n++) {
        VBind b = {.source = sources[n], .destination = "/x"};
        assert_int_equal(vfs_bind(w.fs, &b, &message), -EACCES);
        assert_non_null(message);
    }
    assert_int_equal(bind_to(&w, (VBind){0}, "/none"), -ENOENT);
    assert_int_equal(bind_to(&w, (VBind){0}, "/src/pipe"), -ENXIO);
    world_close(&w);
}

/* ---------- the host's side ---------- */

/* A symlink that leads out, as one that was swapped in behind the VFS's look would be met; and what is above. */
static void below(bool no_openat2)
{
    World w;
    char source[300];
    int error;
    const char *message;
    world_open(&w);
    run("ln -s ../out src/way", w.top);
    snprintf(source, sizeof source, "%s/src", w.top);
    VBind bind = {.source = source, .destination = "/b", .mode = VBIND_DIRECT, .no_openat2 = no_openat2};
    HostTree *t = host_tree_open(&bind, &error, &message);
    assert_non_null(t);
    static const char *const paths[] = {"way/secret", "../out/secret", "sub/../../out/secret"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        assert_true(host_open(t, paths[i], O_RDONLY) < 0);
    int fd = host_open(t, "sub/g", O_RDONLY);
    assert_true(fd >= 0);
    host_close(fd);
    host_tree_unref(t);
    world_close(&w);
}

static void test_below(void **state)
{
    (void)state;
    below(false);
}

static void test_below_walking(void **state)
{
    (void)state;
    below(true);
}

/* ---------- the race ---------- */

static atomic_bool racing;

/* Swaps a directory and a symlink that leads out of the bind, all the time. */
static void *swapper(void *top)
{
    char real[200], link[200], away[200];
    snprintf(real, sizeof real, "%s/src/swap", (char *)top);
    snprintf(link, sizeof link, "%s/src/swap.link", (char *)top);
    snprintf(away, sizeof away, "%s/src/swap.real", (char *)top);
    while (atomic_load(&racing)) {
        (void)(rename(real, away) == 0 && rename(link, real) == 0);
        (void)(rename(real, link) == 0 && rename(away, real) == 0);
    }
    return NULL;
}

static void race(bool no_openat2)
{
    World w;
    world_open(&w);
    run("mkdir src/swap && printf inside >src/swap/secret && ln -s ../out src/swap.link", w.top);
    assert_int_equal(bind_to(&w, (VBind){.mode = VBIND_DIRECT, .no_openat2 = no_openat2}, "/src"), 0);
    pthread_t thread;
    atomic_store(&racing, true);
    pthread_create(&thread, NULL, swapper, w.top);
    int seen = 0;
    for (int n = 0; n < 20000; n++) {
        char text[100];
        if (get(w.fs, "/b/swap/secret", text) == 0) {
            assert_string_equal(text, "inside");
            seen++;
        }
        (void)put(w.fs, "/b/swap/new", V_WRITE | V_CREATE | V_TRUNC, "x");
        (void)vfs_unlink(w.fs, &agent, NULL, "/b/swap/new");
    }
    atomic_store(&racing, false);
    pthread_join(thread, NULL);
    assert_true(seen > 0);
    run("test $(ls out) = secret && test $(cat out/secret) = secret", w.top);
    world_close(&w);
}

static void test_race(void **state)
{
    (void)state;
    race(false);
}

static void test_race_walking(void **state)
{
    (void)state;
    race(true);
}

int main(void)
{
    umask(022);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy), cmocka_unit_test(test_copy_readonly), cmocka_unit_test(test_direct), cmocka_unit_test(test_direct_walking),
        cmocka_unit_test(test_direct_readonly), cmocka_unit_test(test_single_file), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_below), cmocka_unit_test(test_below_walking), cmocka_unit_test(test_race), cmocka_unit_test(test_race_walking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
