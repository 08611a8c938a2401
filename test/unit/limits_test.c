/* Limits through the public header: each is hit once, is named, keeps what was printed, and leaves the shell usable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "include/shell.h"

typedef struct {
    const char *script, *limit, *out; /* out: what must have been kept, NULL: not looked at */
    int status;
    shell_limits limits;
} Hit;

static shell_limits none(void)
{
    shell_limits l;
    shell_limits_init(&l);
    return l;
}

static shell_result *run_in(shell *sh, const char *script, const shell_run_opts *o)
{
    shell_result *r = NULL;
    assert_int_equal(shell_run(sh, script, strlen(script), o, &r), SHELL_OK);
    return r;
}

static void still_usable(shell *sh)
{
    shell_result *r = run_in(sh, "echo a b | wc -w; x=1; echo $x", NULL);
    assert_string_equal(r->out, "2\n1\n");
    assert_string_equal(r->err, "");
    assert_int_equal(r->status, 0);
    shell_result_free(r);
}

static void hit(const char *script, const char *limit, int status, const char *out, shell_limits limits)
{
    shell *sh;
    shell_options o;
    shell_options_init(&o);
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    shell_run_opts ro = {.size = sizeof ro, .limits = &limits};
    shell_result *r = run_in(sh, script, &ro);
    if (r->status != status || !r->limit || strcmp(r->limit, limit) != 0)
        print_message("%s: status %d limit %s out %.80s err %.200s\n", script, r->status, r->limit ? r->limit : "none", r->out, r->err);
    assert_int_equal(r->status, status);
    assert_non_null(r->limit);
    assert_string_equal(r->limit, limit);
    assert_non_null(strstr(r->err, "limit of"));
    if (out)
        assert_string_equal(r->out, out);
    shell_result_free(r);
    still_usable(sh);
    shell_close(sh);
}

#define WITH(field, value) ({ shell_limits l_ = none(); l_.field = (value); l_; })

static void time_limit(void **state)
{
    (void)state;
    shell_limits brief = WITH(time_ms, 60);
    hit("echo k; sleep 0.5; echo l", "time", 124, "k\n", brief); /* first what would end without a limit */
    static const char *const scripts[] = {
        "echo k; while :; do :; done", "echo k; sleep 100", "echo k; (sleep 100)", "echo k; echo x | sleep 100", "echo k; sleep 100 & wait", "echo k; cat /dev/zero >/dev/null",
        "echo k; yes >/dev/null", "echo k; for ((;;)); do echo x; done >/dev/null", "echo k; f() { f | f; }; yes | tr y x >/dev/null", "echo k; yes | sort >/dev/null; sleep 9",
        "echo k; head -c 1000000 /dev/zero | tr '\\0' a > f; grep -E '(a|aa)*b' f; sleep 9", "echo k; read x < /dev/zero", "echo k; x=$(sleep 100)", "echo k; tail -f /etc/hosts >/dev/null",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        struct timespec a, b;
        shell_limits l = WITH(time_ms, 60);
        l.memory = 0;
        clock_gettime(CLOCK_MONOTONIC, &a);
        hit(scripts[i], "time", 124, "k\n", l);
        clock_gettime(CLOCK_MONOTONIC, &b);
        assert_true((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9 < 10);
    }
}

static void step_limit(void **state)
{
    (void)state;
    hit("echo k; for ((i = 0; i < 200000; i++)); do :; done; echo l", "steps", 137, "k\n", WITH(steps, 50000));
    hit("echo k; while :; do :; done", "steps", 137, "k\n", WITH(steps, 50000));
}

static void memory_limit(void **state)
{
    (void)state;
    hit("echo k; x=$(head -c 40000000 /dev/zero | tr '\\0' a); echo ${#x}", "memory", 137, "k\n", WITH(memory, 16 << 20));
    static const char *const scripts[] = {
        "echo k; x=a; while :; do x=$x$x; done", "echo k; while :; do a+=(xxxxxxxxxxxxxxxxxxxxxxxx); done", "echo k; yes | sort", "echo k; x=$(yes)", "echo k; printf '%09000000d' 1 | { read x; y=$x$x$x; }; echo {1..9000000}",
        "echo k; yes | tr -d '\\n' | wc -l; yes | tr -d '\\n' | sed s/a/b/",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        shell_limits l = WITH(memory, 16 << 20);
        l.time_ms = i == 5 ? 0 : 30000;
        if (i < 4)
            hit(scripts[i], "memory", 137, "k\n", l);
    }
}

static void output_limit(void **state)
{
    (void)state;
    hit("yes", "output", 137, "y\ny\n", WITH(output, 4));
    hit("echo abcdef", "output", 137, "abc", WITH(output, 3));
    hit("while :; do echo e >&2; done", "output", 137, "", WITH(output, 100));
}

static void depth_limit(void **state)
{
    (void)state;
    hit("f() { f; }; f", "depth", 137, NULL, WITH(depth, 100));
    hit("f() { f; }; f", "depth", 137, NULL, none());
    hit("f() { echo; (f); }; f", "depth", 137, "\n\n\n\n\n", WITH(depth, 4));
    shell_limits deep = WITH(processes, 0);
    deep.memory = 0;
    hit("f() { (f); }; f", "depth", 137, NULL, deep);
    hit("f() { x=$(f); }; f", "depth", 137, NULL, deep);
    hit("f() { eval f; }; f", "depth", 137, NULL, none());
}

static void pipeline_limit(void **state)
{
    (void)state;
    hit("echo a | cat | cat | cat | cat", "pipeline", 137, "", WITH(pipeline, 3));
}

static void expansion_limit(void **state)
{
    (void)state;
    hit("echo {1..100000}", "expansion", 137, "", WITH(expansion, 1000));
}

/* A pattern that would backtrack for ever ends within the deadline, and a later command runs. */
static void regex_limit(void **state)
{
    (void)state;
    shell *sh;
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    shell_run_opts o = {.size = sizeof o, .timeout = 5};
    shell_result *r = run_in(sh, "head -c 100000 /dev/zero | tr '\\0' a > f; grep -cE '(a+)+$' f; grep -cE '(a|aa)*b' f; grep -cP '(a+)+b' f; sed -E 's/(a|a)*c//' f | wc -c; [[ $(cat f) =~ ^(a+)+b$ ]]; echo end", &o);
    assert_true(r->end == SHELL_END_FINISHED || r->end == SHELL_END_TIMEOUT);
    shell_result_free(r);
    still_usable(sh);
    shell_close(sh);
}

/* Too many at one time. */
static void process_limit(void **state)
{
    (void)state;
    shell *sh;
    shell_options o;
    shell_limits l = WITH(processes, 8);
    shell_options_init(&o);
    o.limits = &l;
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    shell_result *r = run_in(sh, "for i in {1..5}; do sleep 0.1 & done; wait; for i in {1..20}; do sleep 0.1 & done; echo all", NULL);
    assert_int_equal(r->status, 254);
    assert_string_equal(r->out, "");
    assert_non_null(strstr(r->err, "fork: Resource temporarily unavailable\n"));
    shell_result_free(r);
    still_usable(sh);
    shell_close(sh);
}

static void script_limit(void **state)
{
    (void)state;
    shell *sh;
    shell_result *r;
    shell_limits l = WITH(script, 10);
    shell_run_opts o = {.size = sizeof o, .limits = &l};
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    assert_int_equal(shell_run(sh, "echo 45678", 10, &o, &r), SHELL_OK);
    shell_result_free(r);
    assert_int_equal(shell_run(sh, "echo 456789", 11, &o, &r), SHELL_EINVAL);
    assert_non_null(strstr(shell_message(sh), "script limit"));
    still_usable(sh);
    shell_close(sh);
}

/* A pipe holds what it holds: who writes more waits for a reader, and is told when that has gone. */
static void pipe_ceiling(void **state)
{
    (void)state;
    shell *sh;
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    shell_result *r = run_in(sh, "head -c 65536 /dev/zero > f; { cat f; echo one >&2; cat f && echo two >&2; } | sleep 0.05", NULL);
    assert_string_equal(r->err, "one\n");
    shell_result_free(r);
    still_usable(sh);
    shell_close(sh);
}

/* What a limit makes an ordinary error in the tool's own words. */
static void errors_in_words(void **state)
{
    (void)state;
    static const struct { const char *script, *err; shell_limits l; int which; } cases[] = {
        {"head -c 5000 /dev/zero > f", "File too large", {0}, 0},
        {"for ((i=0;i<100;i++)); do : > f$i; done 2>&1 | head -1 >&2", "No space left on device", {0}, 1},
        {"head -c 5000 /dev/zero > f", "No space left on device", {0}, 2},
        {"exec 3</etc/hosts 4</etc/hosts 5</etc/hosts 6</etc/hosts 7</etc/hosts 8</etc/hosts 9</etc/hosts", "Too many open files", {0}, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        shell_limits l = none();
        if (cases[i].which == 0)
            l.file_size = 1000;
        else if (cases[i].which == 1)
            l.inodes = 20;
        else if (cases[i].which == 2)
            l.file_bytes = 1000;
        else
            l.fds = 8;
        shell *sh;
        shell_options o;
        shell_options_init(&o);
        o.limits = &l;
        assert_int_equal(shell_open(&o, &sh), SHELL_OK);
        shell_result *r = run_in(sh, cases[i].script, NULL);
        if (!strstr(r->err, cases[i].err))
            print_message("%s: %s\n", cases[i].script, r->err);
        assert_non_null(strstr(r->err, cases[i].err));
        shell_result_free(r);
        r = run_in(sh, "echo on", NULL);
        assert_string_equal(r->out, "on\n");
        shell_result_free(r);
        shell_close(sh);
    }
}

static void deadlock(void **state)
{
    (void)state;
    shell *sh;
    shell_limits l = WITH(time_ms, 0);
    shell_options o;
    shell_options_init(&o);
    o.limits = &l;
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    shell_result *r = run_in(sh, "mkfifo f; echo before; cat f", NULL);
    assert_int_equal(r->end, SHELL_END_DEADLOCK);
    assert_string_equal(r->out, "before\n");
    assert_non_null(strstr(r->err, "deadlock"));
    shell_result_free(r);
    still_usable(sh);
    shell_close(sh);
}

static int32_t refuse(void *user, int32_t stream, const char *bytes, uint64_t len)
{
    (void)stream, (void)bytes, (void)len;
    ++*(int *)user;
    return SHELL_EAGAIN;
}

/* A host that takes no output past the deadline is waited for, not asked over and over. */
static void refused_output(void **state)
{
    (void)state;
    shell *sh;
    shell_options o;
    shell_options_init(&o);
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    int asked = 0;
    int32_t at = SHELL_PENDING;
    shell_pending pending;
    shell_run_opts ro = {.size = sizeof ro, .timeout = 0.02, .on_output = refuse, .user = &asked};
    assert_int_equal(shell_begin(sh, "echo x; sleep 9", 15, &ro), SHELL_OK);
    for (int n = 0; n < 20; n++) {
        assert_int_equal(shell_step(sh, &at, &pending), SHELL_OK);
        assert_int_equal(at, SHELL_PENDING);
        if (pending.wait_ns < 0)
            break;
        assert_int_equal(shell_pause(sh, &pending), SHELL_OK);
    }
    assert_true(pending.wait_ns < 0);
    assert_true(asked > 0 && asked < 20);
    shell_close(sh);
}

/* A caller that was built with a shorter struct: nothing behind it is written. */
static void older_caller(void **state)
{
    (void)state;
    union {
        shell_options o;
        shell_limits l;
        char bytes[sizeof(shell_options) + sizeof(shell_limits)];
    } u;
    const size_t part = offsetof(shell_options, fixed_clock), first = offsetof(shell_limits, memory);
    memset(&u, 'x', sizeof u);
    shell_options_init_sized(&u.o, part);
    assert_int_equal(u.o.size, part);
    assert_int_equal(u.o.umask, -1);
    assert_int_equal(u.bytes[part], 'x');
    memset(&u, 'x', sizeof u);
    shell_limits_init_sized(&u.l, first);
    assert_int_equal(u.l.size, first);
    assert_true(u.l.time_ms == SHELL_LIMIT_DEFAULT);
    assert_int_equal(u.bytes[first], 'x');
}

static void *cancel_soon(void *arg)
{
    usleep(30000);
    shell_cancel(arg);
    return NULL;
}

static void cancel(void **state)
{
    (void)state;
    static const char *const scripts[] = {"sleep 100", "while :; do :; done", "yes > /dev/null", "cat"};
    for (size_t i = 0; i < 3; i++) {
        shell *sh;
        pthread_t t;
        assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
        pthread_create(&t, NULL, cancel_soon, sh);
        shell_result *r = run_in(sh, scripts[i], NULL);
        pthread_join(t, NULL);
        assert_int_equal(r->end, SHELL_END_CANCELLED);
        assert_int_equal(r->status, 130);
        shell_result_free(r);
        still_usable(sh);
        shell_close(sh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_limit), cmocka_unit_test(step_limit), cmocka_unit_test(memory_limit), cmocka_unit_test(output_limit),
        cmocka_unit_test(depth_limit), cmocka_unit_test(regex_limit), cmocka_unit_test(pipeline_limit), cmocka_unit_test(expansion_limit), cmocka_unit_test(errors_in_words), cmocka_unit_test(process_limit),
        cmocka_unit_test(script_limit), cmocka_unit_test(pipe_ceiling), cmocka_unit_test(deadlock), cmocka_unit_test(cancel), cmocka_unit_test(refused_output), cmocka_unit_test(older_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
