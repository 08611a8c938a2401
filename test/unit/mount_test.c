/* mount: directories and files that the embedder serves: at once and later, from scripts and file calls, forks, kills; binds and
 * limits that change while a shell lives. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/api/internal.h"

/* ---------- a directory in a table ---------- */

enum { MOST = 64 };

typedef struct {
    char path[100];
    uint32_t mode;
    char *data;
    uint64_t len;
    int64_t mtime;
} Item;

typedef struct {
    shell *sh;
    Item item[MOST];
    int calls, released;
    bool later, never;
    pthread_t threads[256];
    int nthreads;
} Table;

static Item *find(Table *t, const char *path)
{
    for (int n = 0; n < MOST; n++)
        if (t->item[n].mode && strcmp(t->item[n].path, path) == 0)
            return &t->item[n];
    return NULL;
}

static Item *put(Table *t, const char *path, uint32_t mode, const char *data)
{
    for (int n = 0; n < MOST; n++)
        if (!t->item[n].mode) {
            Item *i = &t->item[n];
            snprintf(i->path, sizeof i->path, "%s", path);
            i->mode = mode;
            i->len = strlen(data);
            i->data = malloc(i->len + 1);
            memcpy(i->data, data, i->len + 1);
            return i;
        }
    abort();
}

static void table_init(Table *t)
{
    memset(t, 0, sizeof *t);
    put(t, "", S_IFDIR | 0755, "");
    put(t, "a", S_IFREG | 0644, "in a\n");
    put(t, "d", S_IFDIR | 0755, "");
    put(t, "d/b", S_IFREG | 0600, "in b\n");
    put(t, "l", S_IFLNK | 0777, "d/b");
}

static void table_free(Table *t)
{
    for (int n = 0; n < t->nthreads; n++)
        pthread_join(t->threads[n], NULL);
    for (int n = 0; n < MOST; n++)
        free(t->item[n].mode ? t->item[n].data : NULL);
}

typedef struct {
    Table *t;
    uint64_t id;
    int32_t result;
} Answer;

static void *answer(void *arg)
{
    Answer *a = arg;
    usleep(300);
    (void)shell_answer(a->t->sh, a->id, a->result);
    free(a);
    return NULL;
}

/* What a function is about to give, at once or from a thread. */
static int32_t give(Table *t, shell_mount_call *call, int32_t result)
{
    t->calls++;
    if (t->never)
        return SHELL_EAGAIN;
    if (!t->later || t->nthreads == 256)
        return result;
    Answer *a = malloc(sizeof *a);
    *a = (Answer){t, shell_mount_call_id(call), result};
    assert_int_equal(pthread_create(&t->threads[t->nthreads++], NULL, answer, a), 0);
    return SHELL_EAGAIN;
}

static int32_t t_stat(void *user, shell_mount_call *call, const char *path, uint64_t len)
{
    Table *t = user;
    Item *i = find(t, path);
    assert_int_equal(strlen(path), len);
    if (i)
        shell_mount_reply_stat(call, &(shell_stat_info){.size = sizeof(shell_stat_info), .mode = i->mode, .bytes = i->len, .mtime_ns = i->mtime});
    return give(t, call, i ? SHELL_OK : SHELL_ENOENT);
}

static int32_t t_list(void *user, shell_mount_call *call, const char *path, uint64_t len)
{
    Table *t = user;
    for (int n = MOST; n-- > 0;) {
        const char *p = t->item[n].path;
        bool below = t->item[n].mode && *p && strncmp(p, path, len) == 0 && (len == 0 || p[len] == '/');
        const char *name = p + len + (len > 0);
        if (below && !strchr(name, '/'))
            assert_int_equal(shell_mount_reply_entry(call, name, strlen(name), t->item[n].mode), SHELL_OK);
    }
    assert_int_equal(shell_mount_reply_entry(call, "x/y", 3, S_IFREG), SHELL_EINVAL);
    return give(t, call, SHELL_OK);
}

static int32_t t_read(void *user, shell_mount_call *call, const char *path, uint64_t len, uint64_t offset, uint64_t max)
{
    Table *t = user;
    Item *i = find(t, path);
    (void)len;
    if (i && offset < i->len) {
        uint64_t n = i->len - offset < max ? i->len - offset : max;
        assert_int_equal(shell_mount_reply_data(call, i->data + offset, n), SHELL_OK);
    }
    return give(t, call, i ? SHELL_OK : SHELL_ENOENT);
}

static int32_t t_readlink(void *user, shell_mount_call *call, const char *path, uint64_t len)
{
    return t_read(user, call, path, len, 0, 4000);
}

static int32_t t_create(void *user, shell_mount_call *call, const char *path, uint64_t len, uint32_t mode)
{
    (void)len;
    put(user, path, S_IFREG | mode, "");
    return give(user, call, SHELL_OK);
}

static int32_t t_write(void *user, shell_mount_call *call, const char *path, uint64_t len, uint64_t offset, const char *data, uint64_t n)
{
    Item *i = find(user, path);
    (void)len;
    if (i && offset + n > i->len) {
        i->data = realloc(i->data, offset + n + 1);
        i->len = offset + n;
    }
    if (i)
        memcpy(i->data + offset, data, n);
    return give(user, call, i ? SHELL_OK : SHELL_ENOENT);
}

static int32_t t_truncate(void *user, shell_mount_call *call, const char *path, uint64_t len, uint64_t bytes)
{
    Item *i = find(user, path);
    (void)len;
    if (bytes > i->len)
        i->data = realloc(i->data, bytes + 1);
    i->len = bytes;
    return give(user, call, SHELL_OK);
}

static int32_t t_mkdir(void *user, shell_mount_call *call, const char *path, uint64_t len, uint32_t mode)
{
    (void)len;
    put(user, path, S_IFDIR | mode, "");
    return give(user, call, SHELL_OK);
}

static int32_t t_remove(void *user, shell_mount_call *call, const char *path, uint64_t len, int32_t directory)
{
    Item *i = find(user, path);
    (void)len;
    (void)directory;
    free(i->data);
    i->mode = 0;
    return give(user, call, SHELL_OK);
}

static int32_t t_rename(void *user, shell_mount_call *call, const char *from, uint64_t len, const char *to, uint64_t to_len, int32_t no_replace)
{
    Item *i = find(user, from), *old = find(user, to);
    (void)len, (void)to_len, (void)no_replace;
    if (old) {
        free(old->data);
        old->mode = 0;
    }
    snprintf(i->path, sizeof i->path, "%s", to);
    return give(user, call, SHELL_OK);
}

static int32_t t_utimes(void *user, shell_mount_call *call, const char *path, uint64_t len, int64_t atime, int64_t mtime)
{
    (void)len, (void)atime;
    find(user, path)->mtime = mtime;
    return give(user, call, SHELL_OK);
}

static void t_release(void *user) { ((Table *)user)->released++; }

static const shell_mount_ops table_ops = {
    .size = sizeof table_ops, .stat = t_stat, .list = t_list, .read = t_read, .readlink = t_readlink, .create = t_create, .write = t_write,
    .truncate = t_truncate, .mkdir = t_mkdir, .remove = t_remove, .rename = t_rename, .utimes = t_utimes, .release = t_release,
};

static void says(shell *sh, const char *script, const char *out, const char *err)
{
    shell_result *r;
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    assert_string_equal(r->out, out);
    assert_string_equal(r->err, err);
    shell_result_free(r);
}

static shell *open_with(Table *t, uint32_t flags)
{
    shell *sh;
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    assert_int_equal(shell_mount(sh, "/mnt/t", &table_ops, t, flags), SHELL_OK);
    t->sh = sh;
    return sh;
}

/* ---------- tests ---------- */

static void use(shell *sh)
{
    says(sh, "cd /mnt/t; ls -l --time-style=+ | tail -n +2 | cut -c1-10; cat a d/b l; wc -c <a", "-rw-r--r--\ndrwxr-xr-x\nlrwxrwxrwx\nin a\nin b\nin b\n5\n", "");
    says(sh, "echo one >n; echo two >>n; cat n; mv n m; cat m; cp m d/c; rm m; ls; ls d; mkdir e; rmdir e", "one\ntwo\none\ntwo\na\nd\nl\nb\nc\n", "");
    says(sh, "cat <a | tr a-z A-Z | cat >up & cat d/b | sed s/b/B/ | cat - a; wait; cat up; touch -d @5 up; stat -c %Y up", "in B\nin a\nIN A\n5\n", "");
    says(sh, "chmod 600 a; ln a b; mkfifo p; cat none; rm -r /mnt/t/d; ls", "a\nl\nup\n",
         "chmod: changing permissions of 'a': Operation not permitted\nln: failed to create hard link 'b' => 'a': Operation not permitted\n"
         "mkfifo: cannot create fifo 'p': Operation not permitted\ncat: none: No such file or directory\n");
    says(sh, "printf '#!/bin/sh\\necho from $0 $1\\n' >s; sh ./s x; . ./s; i=0; while read -r l; do i=$((i+1)); done <s; echo $i", "from ./s x\nfrom bash\n2\n", "");
    says(sh, "trap 'cat a; echo trap' USR1; (sleep 0.01; kill -USR1 $$) & cat /mnt/t/a; wait; cat a; trap - USR1", "in a\nin a\ntrap\nin a\n", "");
}

static void test_at_once(void **state)
{
    (void)state;
    Table t;
    table_init(&t);
    shell *sh = open_with(&t, 0);
    use(sh);
    assert_int_equal(shell_close(sh), SHELL_OK);
    assert_int_equal(t.released, 1);
    table_free(&t);
}

static void test_later(void **state)
{
    (void)state;
    Table t;
    table_init(&t);
    shell *sh = open_with(&t, 0);
    t.later = true;
    use(sh);
    char *data;
    uint64_t len;
    t.nthreads = t.nthreads < 200 ? t.nthreads : 200;
    t.never = true; /* a file call cannot wait */
    assert_int_equal(shell_read_file(sh, "/mnt/t/a", &data, &len), SHELL_EAGAIN);
    assert_int_equal(shell_close(sh), SHELL_OK);
    table_free(&t);
}

/* A process that is killed while its question is open; the answer comes behind. */
static void test_killed(void **state)
{
    (void)state;
    Table t;
    table_init(&t);
    shell *sh = open_with(&t, 0);
    t.never = true;
    shell_run_opts o = {.size = sizeof o, .timeout = 0.05};
    shell_result *r;
    assert_int_equal(shell_run(sh, "cat /mnt/t/a | cat", 18, &o, &r), SHELL_OK);
    assert_int_equal(r->end, SHELL_END_TIMEOUT);
    shell_result_free(r);
    assert_int_equal(shell_answer(sh, 1, SHELL_OK), SHELL_ENOENT);
    t.never = false;
    says(sh, "cat /mnt/t/a", "in a\n", "");
    t.never = true;
    assert_int_equal(shell_run(sh, "(cat /mnt/t/a) & sleep 0.01; kill $!; wait $!; echo $?", 54, NULL, &r), SHELL_OK);
    assert_string_equal(r->out, "143\n");
    shell_result_free(r);
    assert_int_equal(shell_close(sh), SHELL_OK);
    table_free(&t);
}

static void test_file_calls(void **state)
{
    (void)state;
    Table t;
    table_init(&t);
    shell *sh = open_with(&t, 0), *copy;
    char *data;
    uint64_t len, count;
    shell_dirent *list;
    assert_int_equal(shell_read_file(sh, "/mnt/t/l", &data, &len), SHELL_OK);
    assert_string_equal(data, "in b\n");
    shell_free(data);
    assert_int_equal(shell_write_file(sh, "/mnt/t/w", "wrote", 5, 0), SHELL_OK);
    assert_int_equal(shell_list(sh, "/mnt/t", &list, &count), SHELL_OK);
    assert_int_equal(count, 4);
    assert_string_equal(list[3].name, "w");
    shell_free(list);
    assert_int_equal(shell_fork(sh, &copy), SHELL_OK);
    assert_int_equal(shell_close(sh), SHELL_OK);
    assert_int_equal(t.released, 0);
    t.sh = copy;
    says(copy, "cat /mnt/t/w", "wrote", "");
    assert_int_equal(shell_unmount(copy, "/mnt/x"), SHELL_ENOENT);
    assert_int_equal(shell_unmount(copy, "/mnt/t"), SHELL_OK);
    assert_int_equal(t.released, 1);
    says(copy, "ls -A /mnt/t", "", "");
    assert_int_equal(shell_close(copy), SHELL_OK);
    table_free(&t);
}

static void test_readonly(void **state)
{
    (void)state;
    Table t;
    table_init(&t);
    shell *sh = open_with(&t, SHELL_MOUNT_READONLY);
    says(sh, "cd /mnt/t; cat a; echo x >a; rm a; mkdir z", "in a\n",
         "bash: line 1: a: Read-only file system\nrm: cannot remove 'a': Read-only file system\nmkdir: cannot create directory \xe2\x80\x98z\xe2\x80\x99: Read-only file system\n");
    assert_int_equal(shell_mount(sh, "/", &table_ops, &t, 0), SHELL_EACCES);
    assert_int_equal(shell_mount(sh, "rel", &table_ops, &t, 0), SHELL_EINVAL);
    assert_int_equal(shell_mount(sh, "/y", &(shell_mount_ops){.size = sizeof table_ops}, &t, 0), SHELL_EINVAL);
    assert_int_equal(shell_close(sh), SHELL_OK);
    assert_int_equal(t.released, 1);
    table_free(&t);
}

/* ---------- lazy files ---------- */

typedef struct {
    int reads, released;
    int32_t result;
} Lazily;

static int32_t lazy_read_fn(void *user, shell_mount_call *call)
{
    Lazily *l = user;
    l->reads++;
    if (l->result)
        return l->result;
    shell_mount_reply_data(call, "lazy ", 5);
    shell_mount_reply_data(call, "bytes\n", 6);
    return SHELL_OK;
}

static void lazy_release(void *user) { ((Lazily *)user)->released++; }

static void test_lazy(void **state)
{
    (void)state;
    Lazily l = {0};
    shell *sh, *copy;
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    assert_int_equal(shell_lazy_file(sh, "/workspace/f", 1000, 0640, lazy_read_fn, lazy_release, &l), SHELL_OK);
    says(sh, "stat -c '%s %a' /workspace/f; ls /workspace", "1000 640\nf\n", "");
    assert_int_equal(l.reads, 0);
    l.result = SHELL_EACCES;
    says(sh, "cat /workspace/f", "", "cat: /workspace/f: Permission denied\n");
    l.result = 0;
    assert_int_equal(shell_fork(sh, &copy), SHELL_OK);
    says(sh, "cat /workspace/f; cat /workspace/f; stat -c %s /workspace/f", "lazy bytes\nlazy bytes\n11\n", "");
    assert_int_equal(l.reads, 2);
    says(copy, "echo more >>/workspace/f; cat /workspace/f; echo new >/workspace/f; cat /workspace/f", "lazy bytes\nmore\nnew\n", "");
    assert_int_equal(l.reads, 3);
    assert_int_equal(shell_lazy_file(copy, "/workspace/g", -1, 0644, lazy_read_fn, lazy_release, &l), SHELL_OK);
    says(copy, "echo over >/workspace/g; cat /workspace/g", "over\n", "");
    assert_int_equal(l.reads, 3);
    char *data;
    uint64_t len;
    assert_int_equal(shell_lazy_file(copy, "/workspace/h", -1, 0644, lazy_read_fn, lazy_release, &l), SHELL_OK);
    assert_int_equal(shell_read_file(copy, "/workspace/h", &data, &len), SHELL_OK);
    assert_string_equal(data, "lazy bytes\n");
    shell_free(data);
    const char *why;
    assert_true(vfs_check(kern_vfs(copy->kernel), &why));
    assert_int_equal(shell_close(sh), SHELL_OK);
    assert_int_equal(shell_close(copy), SHELL_OK);
    assert_int_equal(l.released, 3);
}

/* ---------- binds and limits of a live shell ---------- */

static void test_live_binds(void **state)
{
    (void)state;
    char top[] = "/tmp/mount_test.XXXXXX", command[300], source[100];
    assert_non_null(mkdtemp(top));
    snprintf(command, sizeof command, "mkdir -p %s/s/d && echo one >%s/s/f && echo two >%s/s/d/g", top, top, top);
    assert_int_equal(system(command), 0);
    snprintf(source, sizeof source, "%s/s", top);
    shell *sh;
    shell_change *list;
    uint64_t n;
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    for (int32_t mode = SHELL_BIND_COPY; mode <= SHELL_BIND_OVERLAY; mode++) {
        shell_bind b = {.size = sizeof b, .source = source, .destination = "/deep/er/b", .mode = mode};
        says(sh, "echo x >/workspace/kept", "", "");
        assert_int_equal(shell_bind_add(sh, &b), SHELL_OK);
        says(sh, "cd /deep/er/b; cat f d/g; cd; echo changed >/deep/er/b/f", "one\ntwo\n", "");
        assert_int_equal(shell_changes(sh, &list, &n), SHELL_OK);
        assert_int_equal(n, mode == SHELL_BIND_DIRECT ? 1 : 2);
        assert_string_equal(list[n - 1].path, "/workspace/kept");
        shell_free(list);
        assert_int_equal(shell_reset(sh), SHELL_OK);
        says(sh, "cat /deep/er/b/f", mode == SHELL_BIND_DIRECT ? "changed\n" : "one\n", "");
        says(sh, "cd /deep/er/b", "", "");
        if (mode != SHELL_BIND_COPY)
            assert_int_equal(shell_bind_remove(sh, "/deep/er/b"), SHELL_EBUSY);
        says(sh, "cd", "", "");
        assert_int_equal(shell_bind_remove(sh, "/deep/er/b"), SHELL_OK);
        assert_int_equal(shell_bind_remove(sh, "/deep/er/b"), SHELL_ENOENT);
        says(sh, "ls -A /deep/er/b", "", "");
        assert_int_equal(shell_changes(sh, &list, &n), SHELL_OK);
        assert_int_equal(n, 0);
        shell_free(list);
        const char *why;
        if (!vfs_check(kern_vfs(sh->kernel), &why))
            fail_msg("%s", why);
        snprintf(command, sizeof command, "echo one >%s/s/f", top);
        assert_int_equal(system(command), 0);
    }
    assert_int_equal(shell_close(sh), SHELL_OK);
    snprintf(command, sizeof command, "rm -r %s", top);
    assert_int_equal(system(command), 0);
}

static void test_limits(void **state)
{
    (void)state;
    shell *sh;
    shell_limits l;
    shell_limits_init(&l);
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    l.output = 5;
    l.file_size = 10;
    assert_int_equal(shell_set_limits(sh, &l), SHELL_OK);
    says(sh, "echo 12345678", "12345", "libshell: output limit of 5 bytes reached\n");
    l.output = 1000;
    assert_int_equal(shell_set_limits(sh, &l), SHELL_OK);
    says(sh, "echo 12345678; echo 12345678901234 >f", "12345678\n", "bash: line 1: echo: write error: File too large\n");
    assert_int_equal(shell_close(sh), SHELL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_once), cmocka_unit_test(test_later), cmocka_unit_test(test_killed), cmocka_unit_test(test_file_calls),
        cmocka_unit_test(test_readonly), cmocka_unit_test(test_lazy), cmocka_unit_test(test_live_binds), cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
