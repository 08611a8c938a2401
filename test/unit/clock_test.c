/* The virtual and the fixed clock: sleeping takes no time, and a run repeats to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "include/shell.h"

static void run(int kind, const char *script, char *out, size_t size, uint64_t *wall)
{
    shell_options o;
    shell *sh;
    shell_result *r;
    shell_options_init(&o);
    o.fixed_clock = kind;
    o.clock_seconds = 1000000000;
    o.seeded = 1;
    o.seed = 7;
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    assert_int_equal(r->end, SHELL_END_FINISHED);
    snprintf(out, size, "%s|%s|%d", r->out, r->err, r->status);
    *wall = r->wall_ns;
    shell_result_free(r);
    shell_close(sh);
}

static void test_virtual_time_is_exact(void **state)
{
    (void)state;
    char out[512];
    uint64_t wall;
    run(2, "date +%s.%N; sleep 5; date +%s.%N; sleep 3600 & sleep 0.25; date +%s.%N; wait; date +%s.%N; read -t 2 x < <(sleep 9); date +%s.%N; timeout 7 sleep 100; echo $?; date +%s.%N", out, sizeof out, &wall);
    assert_string_equal(out, "1000000000.000000000\n1000000005.000000000\n1000000005.250000000\n1000003605.000000000\n1000003607.000000000\n124\n1000003614.000000000\n||0");
    assert_true(wall < 5000000000u);
}

static void test_runs_repeat(void **state)
{
    (void)state;
    static const char script[] = "for i in 1 2 3; do echo $RANDOM $(date +%N) $SECONDS; sleep 0.$i; done; (sleep 1; echo late) & sleep 0.5; echo soon; wait; mktemp -u; stat -c %y /tmp";
    char first[1024], again[1024];
    uint64_t wall;
    run(2, script, first, sizeof first, &wall);
    for (int i = 0; i < 50; i++) {
        run(2, script, again, sizeof again, &wall);
        assert_string_equal(first, again);
    }
}

static void test_fixed_time_stands(void **state)
{
    (void)state;
    char out[256];
    uint64_t wall;
    run(1, "date +%s.%N; sleep 0.05; date +%s.%N; echo $SECONDS", out, sizeof out, &wall);
    assert_string_equal(out, "1000000000.000000000\n1000000000.000000000\n0\n||0");
    assert_true(wall >= 50000000u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_virtual_time_is_exact), cmocka_unit_test(test_runs_repeat), cmocka_unit_test(test_fixed_time_stands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
