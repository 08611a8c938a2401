/* overlay: a host directory read lazily with writes kept in memory: what is seen, what is told as changed, forks, a host that
 * changes beside it, and a script over a copy of a tree whose changes, applied to another copy, give what bash made of a third. */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "include/shell.h"
#include "lib/api/internal.h"

static char top[64];

static int setup(void **state)
{
    (void)state;
    strcpy(top, "/tmp/overlay_test.XXXXXX");
    return mkdtemp(top) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command);
}

static void host(const char *script)
{
    char command[4096];
    snprintf(command, sizeof command, "cd %s && { %s; }", top, script);
    if (system(command) != 0)
        fail_msg("%s", command);
}

static shell *overlay(const char *below, uint32_t flags)
{
    char source[200];
    snprintf(source, sizeof source, "%s%s", top, below);
    shell_bind b = {.size = sizeof b, .source = source, .destination = "/w", .mode = SHELL_BIND_OVERLAY, .flags = flags};
    shell_options o;
    char message[200];
    shell_options_init(&o);
    o.binds = &b;
    o.nbinds = 1;
    o.message = message;
    o.message_size = sizeof message;
    shell *sh;
    if (shell_open(&o, &sh) != SHELL_OK)
        fail_msg("%s", message);
    return sh;
}

static void check(shell *sh)
{
    const char *why;
    if (!vfs_check(kern_vfs(sh->kernel), &why))
        fail_msg("%s", why);
}

static void says(shell *sh, const char *script, const char *out)
{
    shell_result *r;
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    if (strcmp(r->out, out) != 0)
        fail_msg("%s\nwanted %s\ngot    %s%s", script, out, r->out, r->err);
    shell_result_free(r);
    check(sh);
}

static void changed(shell *sh, const char *wanted)
{
    shell_change *list;
    uint64_t n;
    char text[4000] = "";
    size_t len = 0;
    assert_int_equal(shell_changes(sh, &list, &n), SHELL_OK);
    for (uint64_t i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%c%s %o\n", "AMD"[list[i].kind], list[i].path, list[i].mode);
    shell_free(list);
    assert_string_equal(text, wanted);
    check(sh);
}

static void test_reading(void **state)
{
    (void)state;
    host("mkdir -p src/a/b; printf hello >src/f; printf x >src/a/b/g; ln -s a/b/g src/l; ln -s /etc/passwd src/abs; mkfifo src/pipe; chmod 640 src/f");
    shell *sh = overlay("/src", 0);
    says(sh, "cd /w; ls; cat f l; stat -c '%a %s %U' f; find . | sort; [ -e pipe ] || echo none",
         "a\nabs\nf\nl\nhellox640 5 agent\n.\n./a\n./a/b\n./a/b/g\n./abs\n./f\n./l\nnone\n");
    changed(sh, "");
    host("printf 'longer text' >src/f");
    says(sh, "cat f; wc -c <f", "longer text11\n");
    changed(sh, "");
    says(sh, "head -c 2 f; exec 3>>f; exec 3>&-; cat f", "lolonger text"); /* brought in for writing, not written */
    changed(sh, "");
    assert_int_equal(shell_close(sh), SHELL_OK);
}

static void test_changes(void **state)
{
    (void)state;
    host("mkdir -p src/d/e src/gone/x; printf 1 >src/d/e/1; printf 2 >src/d/2; printf 3 >src/gone/x/3; printf k >src/keep; printf m >src/m; ln -s m src/s");
    shell *sh = overlay("/src", 0);
    says(sh, "cd /w; mv d D; rm -r gone; echo more >>m; chmod 600 keep; ln m hard; echo n >new; rm s; mkdir s; echo y >D/e/1", "");
    changed(sh, "A/w/D 40755\nA/w/D/2 100644\nA/w/D/e 40755\nA/w/D/e/1 100644\nD/w/d 40755\nD/w/d/2 100644\nD/w/d/e 40755\nD/w/d/e/1 100644\n"
                "D/w/gone 40755\nD/w/gone/x 40755\nD/w/gone/x/3 100644\nA/w/hard 100644\nM/w/keep 100600\nM/w/m 100644\nA/w/new 100644\nM/w/s 40755\n");
    host("test $(cat src/d/e/1)$(cat src/m)$(stat -c %a src/keep) = 1m644");
    shell *copy;
    assert_int_equal(shell_fork(sh, &copy), SHELL_OK);
    says(copy, "cat D/2 D/e/1 m keep", "2y\nmmore\nk");
    says(copy, "echo in the copy >keep", "");
    says(sh, "cat keep", "k");
    assert_int_equal(shell_close(copy), SHELL_OK);
    assert_int_equal(shell_reset(sh), SHELL_OK);
    changed(sh, "");
    says(sh, "cd /w; find . -type f | sort", "./d/2\n./d/e/1\n./gone/x/3\n./keep\n./m\n");
    assert_int_equal(shell_close(sh), SHELL_OK);
}

/* The host's links are files of their own, links made in the shell are links. */
static void test_links(void **state)
{
    (void)state;
    host("mkdir -p src/d; printf 1 >src/a; ln src/a src/d/b");
    shell *sh = overlay("/src", 0);
    says(sh, "cd /w; stat -c %h a d/b; echo 2 >>a; cat a d/b; ln d/b c; echo 3 >>c; cat d/b; stat -c %h c d/b", "1\n1\n12\n113\n2\n2\n");
    changed(sh, "M/w/a 100644\nA/w/c 100644\nM/w/d/b 100644\n");
    host("test $(cat src/a src/d/b) = 11 && test $(stat -c %h src/a) = 2");
    assert_int_equal(shell_close(sh), SHELL_OK);
}

static void test_full(void **state)
{
    (void)state;
    host("mkdir src; printf old >src/f; printf gone >src/g; printf same >src/s");
    shell *sh = overlay("/src", 0);
    shell_change_info *list;
    uint64_t n;
    says(sh, "cd /w; printf newer >f; rm g; printf gone >h; ln h i; ln -s f l; chmod 600 s; cat s", "same");
    assert_int_equal(shell_changes_full(sh, SHELL_CHANGES_DIGESTS, &list, &n), SHELL_OK);
    assert_int_equal(n, 6);
    assert_string_equal(list[0].path, "/w/f");
    assert_int_equal(list[0].bytes, 5);
    assert_int_equal(list[0].old_bytes, 3);
    assert_string_not_equal(list[0].digest, list[0].old_digest);
    assert_string_equal(list[1].path, "/w/g");
    assert_string_equal(list[1].digest, "");
    assert_string_equal(list[2].digest, list[1].old_digest); /* both hold "gone" */
    assert_string_equal(list[2].old_digest, "");
    assert_int_equal(list[2].ino, list[3].ino);
    assert_int_equal(list[3].nlink, 2);
    assert_string_equal(list[4].target, "f");
    assert_string_equal(list[5].path, "/w/s");
    assert_int_equal(list[5].mode, 0100600);
    assert_int_equal(list[5].old_mode, 0100644);
    assert_string_equal(list[5].digest, list[5].old_digest);
    shell_free(list);
    host("printf x >src/f");
    assert_int_equal(shell_changes_full(sh, SHELL_CHANGES_DIGESTS, &list, &n), SHELL_EIO);
    assert_int_equal(shell_changes_full(sh, 0, &list, &n), SHELL_OK);
    assert_string_equal(list[0].digest, "");
    shell_free(list);
    assert_int_equal(shell_close(sh), SHELL_OK);
}

/* A directory that was moved before anybody looked into it. */
static void test_moved_unseen(void **state)
{
    (void)state;
    host("mkdir -p src/d/e; printf 1 >src/d/e/1");
    shell *sh = overlay("/src", 0);
    says(sh, "mv /w/d /w/E", "");
    changed(sh, "A/w/E 40755\nA/w/E/e 40755\nA/w/E/e/1 100644\nD/w/d 40755\nD/w/d/e 40755\nD/w/d/e/1 100644\n");
    says(sh, "cat /w/E/e/1; rmdir /w/E", "1");
    shell *copy;
    assert_int_equal(shell_fork(sh, &copy), SHELL_OK);
    assert_int_equal(shell_close(sh), SHELL_OK);
    says(copy, "cat /w/E/e/1", "1");
    assert_int_equal(shell_close(copy), SHELL_OK);
}

static void test_readonly(void **state)
{
    (void)state;
    host("mkdir src; printf 1 >src/f");
    shell *sh = overlay("/src", SHELL_BIND_READONLY);
    says(sh, "cat /w/f; echo x >/w/f || echo refused; rm /w/f || echo kept; mv /w /v || echo stays; touch /w/n || echo no", "1refused\nkept\nstays\nno\n");
    changed(sh, "");
    assert_int_equal(shell_close(sh), SHELL_OK);
}

static void test_single_file(void **state)
{
    (void)state;
    host("printf one >file");
    shell *sh = overlay("/file", 0);
    says(sh, "cat /w; echo two >/w; cat /w", "onetwo\n");
    changed(sh, "M/w 100644\n");
    host("test $(cat file) = one");
    assert_int_equal(shell_close(sh), SHELL_OK);
}

/* ---------- no memory ---------- */

/* Every allocation fails in its turn while directories are read in, files brought in, binds added and removed. */
static void test_memory(void **state)
{
    (void)state;
    host("mkdir -p src/d/e; for n in 1 2 3 4 5; do echo $n >src/d/$n; echo $n >src/d/e/$n; done; ln -s d src/l");
    char source[200];
    snprintf(source, sizeof source, "%s/src", top);
    shell_bind b = {.size = sizeof b, .source = source, .destination = "/deep/w", .mode = SHELL_BIND_OVERLAY};
    int failures = 0;
    for (uint64_t n = 1;; n++) {
        shell *sh;
        char *data;
        uint64_t len, count;
        shell_change *list;
        assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
        Budget *budget = kern_budget(sh->kernel);
        budget->fail_at = budget->takes + n;
        shell_err err = shell_bind_add(sh, &b);
        if (!err && !(err = shell_read_file(sh, "/deep/w/l/e/3", &data, &len)))
            shell_free(data);
        if (!err)
            err = shell_write_file(sh, "/deep/w/d/e/4", "more", 4, SHELL_WRITE_APPEND);
        if (!err)
            err = shell_rename(sh, "/deep/w/d", "/deep/w/D");
        if (!err && !(err = shell_changes(sh, &list, &count)))
            shell_free(list);
        if (!err)
            err = shell_bind_remove(sh, "/deep/w");
        bool reached = budget->fail_at <= budget->takes;
        budget->fail_at = 0;
        check(sh);
        assert_true(err == SHELL_OK || err == SHELL_ENOMEM);
        assert_int_equal(shell_reset(sh), SHELL_OK);
        check(sh);
        assert_int_equal(shell_close(sh), SHELL_OK);
        failures += err != SHELL_OK;
        if (!reached)
            break;
    }
    assert_true(failures > 50);
}

/* ---------- a host that changes ---------- */

static void test_host_changes(void **state)
{
    (void)state;
    host("mkdir -p src/d; head -c 300000 /dev/zero >src/shrinks; printf 1 >src/goes; printf 1 >src/turns; printf 1 >src/d/x; printf 1 >src/unseen");
    shell *sh = overlay("/src", 0);
    says(sh, "cd /w; ls | wc -l; exec 3<shrinks; head -c 1000 <&3 | wc -c", "5\n1000\n");
    host("printf 1 >src/shrinks; rm src/goes; rm src/turns; mkdir src/turns; rm -r src/d; printf 1 >src/d; mkfifo src/p; mv src/p src/unseen");
    says(sh, "cat <&3 >/dev/null || echo cut; cat goes || echo gone; cat turns || echo turned; ls d/x || echo none; cat unseen || echo fifo", "cut\ngone\nturned\nnone\nfifo\n");
    says(sh, "rm goes; echo new >goes; cat goes", "new\n");
    assert_int_equal(shell_close(sh), SHELL_OK);
}

static atomic_bool racing;

static void *host_writer(void *arg)
{
    (void)arg;
    char a[200], b[200], d[200];
    snprintf(a, sizeof a, "%s/src/a", top);
    snprintf(b, sizeof b, "%s/src/b", top);
    snprintf(d, sizeof d, "%s/src/d", top);
    for (unsigned n = 0; atomic_load(&racing); n++) {
        FILE *f = fopen(a, n & 1 ? "w" : "a");
        for (unsigned k = 0; f && k < n % 5000; k++)
            fputs("0123456789\n", f);
        if (f)
            fclose(f);
        (void)(rename(a, b) + unlink(b) + mkdir(a, 0755) + rmdir(a) + mkdir(d, 0755) + (n & 1 ? rmdir(d) : 0));
    }
    return NULL;
}

static void test_host_writer(void **state)
{
    (void)state;
    host("mkdir src");
    pthread_t t;
    atomic_store(&racing, true);
    assert_int_equal(pthread_create(&t, NULL, host_writer, NULL), 0);
    for (int n = 0; n < 150; n++) {
        shell *sh = overlay("/src", 0);
        static const char script[] = "cd /w; ls -lR; cat a b | tail -1; cp a c; mv a z; echo x >>b; grep -rc 5 .; rm -rf d; sort a z; ls";
        shell_result *r;
        assert_int_equal(shell_run(sh, script, sizeof script - 1, NULL, &r), SHELL_OK);
        shell_result_free(r);
        shell_change *list;
        uint64_t count;
        assert_int_equal(shell_changes(sh, &list, &count), SHELL_OK);
        shell_free(list);
        check(sh);
        assert_int_equal(shell_close(sh), SHELL_OK);
    }
    atomic_store(&racing, false);
    pthread_join(t, NULL);
}

/* ---------- live directories ---------- */

static shell *direct(void)
{
    char source[200];
    snprintf(source, sizeof source, "%s/src", top);
    shell_bind b = {.size = sizeof b, .source = source, .destination = "/w", .mode = SHELL_BIND_DIRECT};
    shell *sh;
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    assert_int_equal(shell_bind_add(sh, &b), SHELL_OK);
    return sh;
}

static void test_large_direct(void **state)
{
    (void)state;
    host("mkdir src; yes 0123456789abcde | head -c 5000000 >src/large; sha1sum <src/large >sum; wc -l <src/large >lines");
    shell *sh = direct();
    char *data;
    uint64_t len;
    says(sh, "cd /w; wc -c <large; cat large | wc -c; tail -c 5 large; head -c 3000000 large | tail -c 3; grep -c e large; cp large copy; cmp large copy; sort -u large | wc -l", "5000000\n5000000\nbcde\nde\n312500\n1\n");
    assert_int_equal(shell_read_file(sh, "/w/large", &data, &len), SHELL_OK);
    assert_int_equal(len, 5000000);
    shell_free(data);
    assert_int_equal(shell_close(sh), SHELL_OK);
    host("cmp src/large src/copy");
}

/* A descriptor below a live directory is the copy's as well, at its own place. */
static void test_direct_descriptors(void **state)
{
    (void)state;
    host("mkdir src; printf 'one\\ntwo\\nthree\\n' >src/f");
    shell *sh = direct(), *copy;
    says(sh, "exec 5</w/f 6>>/w/log; read -u 5 x; echo $x; echo first >&6", "one\n");
    assert_int_equal(shell_fork(sh, &copy), SHELL_OK);
    says(copy, "read -u 5 x; echo $x; echo copy >&6; exec 6>&-", "two\n");
    says(sh, "read -u 5 x; echo $x; read -u 5 x; echo $x; echo last >&6", "two\nthree\n");
    assert_int_equal(shell_close(sh), SHELL_OK);
    says(copy, "read -u 5 x; echo $x", "three\n");
    assert_int_equal(shell_close(copy), SHELL_OK);
    host("test \"$(cat src/log | tr '\\n' ' ')\" = 'first copy last '");
}

/* ---------- a script over a whole tree ---------- */

static void apply(shell *sh, const char *to)
{
    shell_change *list;
    uint64_t n;
    assert_int_equal(shell_changes(sh, &list, &n), SHELL_OK);
    char path[5000];
    for (uint64_t i = n; i-- > 0;) { /* what lies below first */
        snprintf(path, sizeof path, "%s%s", to, list[i].path + 2);
        struct stat st;
        bool replaced = list[i].kind == SHELL_MODIFIED && lstat(path, &st) == 0 && (st.st_mode & S_IFMT) != (list[i].mode & S_IFMT);
        if (list[i].kind == SHELL_DELETED || replaced)
            assert_int_equal(remove(path), 0);
    }
    struct { uint64_t ino; char path[5000]; } *seen = calloc(n + 1, sizeof *seen);
    uint64_t nseen = 0;
    for (uint64_t i = 0; i < n; i++) {
        shell_stat_info st = {.size = sizeof st};
        if (list[i].kind == SHELL_DELETED)
            continue;
        snprintf(path, sizeof path, "%s%s", to, list[i].path + 2);
        assert_int_equal(shell_stat(sh, list[i].path, SHELL_STAT_NOFOLLOW, &st), SHELL_OK);
        uint64_t k = 0;
        while (k < nseen && seen[k].ino != st.ino)
            k++;
        if (k < nseen) {
            unlink(path);
            assert_int_equal(link(seen[k].path, path), 0);
            continue;
        }
        if (st.nlink > 1 && S_ISREG(st.mode)) {
            seen[nseen].ino = st.ino;
            strcpy(seen[nseen++].path, path);
        }
        char *data;
        uint64_t len;
        if (S_ISDIR(st.mode)) {
            (void)mkdir(path, 0755);
        } else if (S_ISLNK(st.mode)) {
            unlink(path);
            assert_int_equal(shell_readlink(sh, list[i].path, &data, &len), SHELL_OK);
            assert_int_equal(symlink(data, path), 0);
            shell_free(data);
        } else {
            assert_int_equal(shell_read_file(sh, list[i].path, &data, &len), SHELL_OK);
            FILE *f = fopen(path, "w");
            assert_non_null(f);
            assert_int_equal(fwrite(data, 1, len, f), len);
            fclose(f);
            shell_free(data);
        }
        if (!S_ISLNK(st.mode))
            assert_int_equal(chmod(path, st.mode & 07777), 0);
    }
    free(seen);
    shell_free(list);
}

static const char tree_script[] =
    "for f in $(find . -name '*.h' | sort); do sed -i 's/include/INCLUDE/; 3d' \"$f\"; done\n"
    "mv vfs VFS; mv lib/base lib/lang/base2; rm -r builtins/text; mkdir -p new/deep/er; cp -r lib/kernel new/deep/er\n"
    "for f in README.md LICENSE; do wc \"$f\" >>new/counts; done; chmod 755 README.md; chmod 700 examples; ln README.md new/hard\n"
    "ln new/counts new/deep/counts; ln -s ../README.md new/link; ln -s nowhere broken; rm LICENSE; mkdir LICENSE; echo inside >LICENSE/file\n"
    "grep -rl static lib | sort | head -40 | while read -r f; do echo '/* more */' >>\"$f\"; done\n"
    "find . -name '*.c' | sort | tail -20 | xargs rm; cat lib/api/*.c | sort | uniq -c | sort -rn | head -50 >new/common; mv SECURITY.md new/s; mv new/s SECURITY.md\n"
    "head -c 100 COMMANDS.md >cut; mv cut COMMANDS.md; : >test/run.sh; printf 'a\\0b' >new/bytes; touch new/empty; rmdir new/deep/er/kernel 2>/dev/null; find . -type d -empty | sort >new/empties\n";

static void test_tree(void **state)
{
    (void)state;
    char command[4096];
    snprintf(command, sizeof command, "cd %s && mkdir a && (cd '%s' && find . -path ./build -prune -o -path ./.git -prune -o -type f -print0 -o -type l -print0 | tar -c --null -T - ) | tar -x -C a && cp -a a b && cp -a a c",
             top, LIBSHELL_SOURCE);
    assert_int_equal(system(command), 0);
    shell *sh = overlay("/a", 0);
    shell_result *r;
    assert_int_equal(shell_run(sh, tree_script, sizeof tree_script - 1, NULL, &r), SHELL_OK);
    assert_string_equal(r->err, "");
    shell_result_free(r);
    check(sh);
    char script[400], to[200];
    snprintf(script, sizeof script, "%s/script", top);
    FILE *f = fopen(script, "w");
    fputs(tree_script, f);
    fclose(f);
    host("cp -a a before; cd c; umask 022; LC_ALL=C.UTF-8 bash ../script; cd ..; diff -r a before");
    snprintf(to, sizeof to, "%s/b", top);
    apply(sh, to);
    host("for d in b c; do (cd $d; find . -mindepth 1 -printf '%P %y %m %n %l\\n' | awk '{if ($2==\"d\") $4=\"-\"; print}' | sort) >$d.list; done; diff -r --no-dereference b c; diff b.list c.list");
    assert_int_equal(shell_close(sh), SHELL_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_reading), TEST(test_changes), TEST(test_links), TEST(test_full), TEST(test_moved_unseen), TEST(test_readonly), TEST(test_single_file), TEST(test_memory), TEST(test_host_changes),
        TEST(test_host_writer), TEST(test_large_direct), TEST(test_direct_descriptors), TEST(test_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
