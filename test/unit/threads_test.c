/* Threads through the public header: shells from one image, forks of one shell, a kept job resumed from one thread after the other.
 * Meant for TSan (preset tsan) as well as for the plain builds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/shell.h"

enum { THREADS = 8 };

static int rounds(void)
{
    const char *n = getenv("LIBSHELL_THREAD_ROUNDS");
    return n ? atoi(n) : 300;
}

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void run(shell *sh, const char *script, const char *wanted)
{
    shell_result *r;
    must(shell_run(sh, script, strlen(script), NULL, &r) == SHELL_OK);
    if (strcmp(r->out, wanted) != 0)
        fprintf(stderr, "%s: got %s%s\n", script, r->out, r->err);
    must(strcmp(r->out, wanted) == 0);
    shell_result_free(r);
}

static void *from_image(void *arg)
{
    shell_options o;
    shell_options_init(&o);
    o.image = arg;
    for (int i = 0; i < rounds(); i++) {
        shell *sh;
        must(shell_open(&o, &sh) == SHELL_OK);
        must(shell_write_file(sh, "/workspace/f", "new\n", 4, 0) == SHELL_OK);
        run(sh, "cat /workspace/f /workspace/base | sort; f() { echo $1; }; x=$(f a); echo $x | tr a b", "image\nnew\nb\n");
        must(shell_close(sh) == SHELL_OK);
    }
    return NULL;
}

static void in_threads(void *(*fn)(void *), void *arg)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&t[i], NULL, fn, arg) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

static void shells_from_one_image(void **state)
{
    (void)state;
    shell *sh;
    shell_image *image;
    must(shell_open(NULL, &sh) == SHELL_OK);
    must(shell_write_file(sh, "/workspace/base", "image\n", 6, 0) == SHELL_OK);
    must(shell_image_of(sh, &image) == SHELL_OK);
    must(shell_close(sh) == SHELL_OK);
    in_threads(from_image, image);
    shell_image_free(image);
}

static void *fork_one(void *arg)
{
    for (int i = 0; i < rounds(); i++) {
        shell *copy;
        must(shell_fork(arg, &copy) == SHELL_OK);
        run(copy, "x=$((x+1)); echo $x > f; echo \"$x $(cat f) ${a[1]}\"; f", "2 2 two\nin f\n");
        shell_change *changes;
        uint64_t count;
        must(shell_changes(copy, &changes, &count) == SHELL_OK);
        shell_free(changes);
        must(shell_close(copy) == SHELL_OK);
    }
    return NULL;
}

static void forks_of_one_shell(void **state)
{
    (void)state;
    shell *sh;
    must(shell_open(NULL, &sh) == SHELL_OK);
    run(sh, "x=1; a=(one two); f() { echo in f; }; echo 0 > f", "");
    in_threads(fork_one, sh);
    run(sh, "echo $x $(cat f)", "1 0\n");
    must(shell_close(sh) == SHELL_OK);
}

/* ---------- a storm of forks ---------- */

static int storm(void)
{
    const char *n = getenv("LIBSHELL_STORM");
    return (n ? atoi(n) : 4000) / THREADS;
}

/* Each writes, looks at what differs, and goes; now and then a fork is forked from. */
static void *fork_storm(void *arg)
{
    for (int i = 0, n = storm(); i < n; i++) {
        shell *copy, *second = NULL;
        char path[40], *text;
        uint64_t len, count;
        shell_change *changes;
        must(shell_fork(arg, &copy) == SHELL_OK);
        snprintf(path, sizeof path, "/workspace/d%d/f", i % 7);
        must(shell_write_file(copy, path, "mine", 4, SHELL_WRITE_PARENTS) == SHELL_OK);
        must(shell_write_file(copy, "/workspace/base", "changed", 7, 0) == SHELL_OK);
        if (i % 8 == 0)
            must(shell_fork(copy, &second) == SHELL_OK);
        must(shell_changes(copy, &changes, &count) == SHELL_OK && count == 4 && strcmp(changes[0].path, "/workspace/base") == 0);
        shell_free(changes);
        must(shell_close(copy) == SHELL_OK);
        if (second) {
            must(shell_read_file(second, path, &text, &len) == SHELL_OK && len == 4);
            shell_free(text);
            must(shell_close(second) == SHELL_OK);
        }
    }
    return NULL;
}

static void storm_of_forks(void **state)
{
    (void)state;
    shell *sh;
    must(shell_open(NULL, &sh) == SHELL_OK);
    must(shell_write_file(sh, "/workspace/base", "image", 5, 0) == SHELL_OK);
    must(shell_write_file(sh, "/workspace/other", "image", 5, 0) == SHELL_OK);
    in_threads(fork_storm, sh);
    run(sh, "cat /workspace/base; ls /workspace", "imagebase\nother\n");
    must(shell_close(sh) == SHELL_OK);
}

/* ---------- a kept job ---------- */

static void *one_run(void *arg)
{
    shell_run_opts o = {.size = sizeof o, .jobs = SHELL_JOBS_KEEP};
    static const char script[] = "i=0; while [ $i -lt 200 ]; do i=$((i+1)); done; sleep 0.001; echo $i";
    shell_result *r;
    must(shell_run(arg, script, sizeof script - 1, &o, &r) == SHELL_OK);
    must(strcmp(r->out, "200\n") == 0);
    shell_result_free(r);
    return NULL;
}

static void kept_job_from_many_threads(void **state)
{
    (void)state;
    shell *sh;
    must(shell_open(NULL, &sh) == SHELL_OK);
    shell_run_opts o = {.size = sizeof o, .jobs = SHELL_JOBS_KEEP};
    static const char script[] = "(n=0; while :; do n=$((n+1)); echo $n | cat > count; sleep 0.0005; done) >/dev/null 2>&1 &";
    shell_result *r;
    must(shell_run(sh, script, sizeof script - 1, &o, &r) == SHELL_OK);
    shell_result_free(r);
    for (int i = 0; i < THREADS * 4; i++) {
        pthread_t t;
        must(pthread_create(&t, NULL, one_run, sh) == 0);
        pthread_join(t, NULL);
    }
    run(sh, "[ \"$(cat count)\" -gt 3 ] && echo went on", "went on\n");
    must(shell_close(sh) == SHELL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shells_from_one_image), cmocka_unit_test(forks_of_one_shell), cmocka_unit_test(storm_of_forks), cmocka_unit_test(kept_job_from_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
