/* jq stops where it is told to: a deadline, a cancel and the memory limit end any program, soon, and the shell goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "include/shell.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { SLACK_MS = 500 };
#else
enum { SLACK_MS = 50 };
#endif
enum { LIMIT_MS = 60, TRIES = 5 };

static const char *const programs[] = {
    "jq -n '[range(1e12)]|length'", "jq -n '[repeat(1)]'", "jq -n 'def f: f; f'", "jq -n '[limit(1e9;repeat(1))]'", "jq -n 'reduce range(1e9) as $i (0; [.])'",
    "jq -n 'reduce range(1e12) as $i (\"\"; . + \"xxxxxxxxxxxxxxxx\")|length'", "{ echo '['; yes '[[[[1]]]],'; } | jq length", "{ echo '['; yes '[1,[2]],'; } | jq . >/dev/null", "jq -n '[recurse(.)]'",
    "jq -n 'def f: 1 + f; f'", "jq -n 'last(range(1e12))'", "jq -n '\"x\" * 1e8 | [scan(\"x\")] | length'", "jq -n '[range(1e7)] | combinations(9)'",
};

enum { PROGRAMS = sizeof programs / sizeof *programs };

static double spent_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void *cancel_soon(void *sh)
{
    nanosleep(&(struct timespec){.tv_nsec = LIMIT_MS * 1000000}, NULL);
    shell_cancel(sh);
    return NULL;
}

static shell *opened(void)
{
    shell *sh;
    shell_options o;
    shell_options_init(&o);
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    return sh;
}

static void goes_on(shell *sh)
{
    shell_result *r;
    assert_int_equal(shell_run(sh, "jq -n 1+1", 9, NULL, &r), SHELL_OK);
    assert_string_equal(r->out, "2\n");
    shell_result_free(r);
}

/* The processor time until the call returned: what the limit allows at the most, since other programs' share does not count. */
static double run_once(const char *script, const shell_limits *limits, bool cancelled, const char *limit)
{
    shell *sh = opened();
    shell_result *r;
    pthread_t t;
    shell_run_opts o = {.size = sizeof o, .limits = limits};
    double before = spent_ms();
    if (cancelled)
        pthread_create(&t, NULL, cancel_soon, sh);
    assert_int_equal(shell_run(sh, script, strlen(script), &o, &r), SHELL_OK);
    double spent = spent_ms() - before;
    if (cancelled)
        pthread_join(t, NULL);
    if (cancelled ? r->end != SHELL_END_CANCELLED : !r->limit || strcmp(r->limit, limit) != 0)
        fail_msg("%s: status %d limit %s err %.200s", script, r->status, r->limit ? r->limit : "none", r->err);
    shell_result_free(r);
    goes_on(sh);
    shell_close(sh);
    return spent;
}

static void in_time(const char *script, const shell_limits *limits, bool cancelled)
{
    double spent = 0;
    for (int i = 0; i < TRIES; i++) {
        spent = run_once(script, limits, cancelled, "time");
        if (spent <= LIMIT_MS + SLACK_MS)
            return;
    }
    fail_msg("%s: stopped only after %.0f ms of the processor", script, spent);
}

static void deadline(void **state)
{
    (void)state;
    shell_limits l;
    shell_limits_init(&l);
    l.time_ms = LIMIT_MS;
    l.memory = l.steps = 0;
    for (size_t i = 0; i < PROGRAMS; i++)
        in_time(programs[i], &l, false);
}

static void cancel(void **state)
{
    (void)state;
    shell_limits l;
    shell_limits_init(&l);
    l.time_ms = l.memory = l.steps = 0;
    for (size_t i = 0; i < PROGRAMS; i++)
        in_time(programs[i], &l, true);
}

static void memory(void **state)
{
    (void)state;
    static const char *const growing[] = {
        "jq -n '[range(1e12)]|length'", "jq -n '[repeat(1)]'", "jq -n '[limit(1e9;repeat(1))]'", "jq -n 'reduce range(1e9) as $i (0; [.])'", "{ echo '['; yes '[[[[1]]]],'; } | jq length",
        "jq -n '\"x\" * 1e9'", "jq -n '[[range(1e6)]] * 1 | .[0]' 2>/dev/null; jq -n 'reduce range(40) as $i ([1]; . + .) | length'", "jq -n 'def f: 1 + f; f'",
    };
    shell_limits l;
    shell_limits_init(&l);
    l.memory = 32 << 20;
    l.time_ms = l.steps = 0;
    for (size_t i = 0; i < sizeof growing / sizeof *growing; i++)
        run_once(growing[i], &l, false, "memory");
}

/* What jq itself refuses ends with its own message, without a limit. */
static void refused(void **state)
{
    (void)state;
    shell *sh = opened();
    shell_result *r;
    const char *script = "jq -n '\"x\" * 1e10 | length'";
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    assert_int_equal(r->status, 5);
    assert_non_null(strstr(r->err, "too long"));
    shell_result_free(r);
    goes_on(sh);
    shell_close(sh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(deadline), cmocka_unit_test(cancel), cmocka_unit_test(memory), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
