/* coro: switching, deep stacks, resuming on other threads, the pool. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/coro.h"

typedef struct { Coro *self; int steps, seen; size_t room; double sum; } Job;

static int deep(int n)
{
    volatile char frame[512];
    frame[0] = (char)n;
    return n ? deep(n - 1) + frame[0] * 0 + 1 : 0;
}

static void work(void *arg)
{
    Job *j = arg;
    j->room = coro_room(j->self);
    for (int i = 0; i < j->steps; i++) {
        j->sum += i * 0.5; /* floating point registers survive switches */
        j->seen++;
        coro_yield(j->self);
    }
}

static void dig(void *arg)
{
    Job *j = arg;
    j->seen = deep(j->steps);
}

static void switches(void **state)
{
    (void)state;
    enum { COUNT = 50 };
    Job jobs[COUNT];
    for (int i = 0; i < COUNT; i++) {
        jobs[i] = (Job){.steps = i};
        jobs[i].self = coro_new(i % 3 == 0 ? CORO_SMALL : CORO_MEDIUM, work, &jobs[i]);
        assert_non_null(jobs[i].self);
    }
    for (int round = 0, alive = COUNT; alive; round++)
        for (int i = 0; i < COUNT; i++)
            if (jobs[i].self && !coro_resume(jobs[i].self)) {
                assert_int_equal(jobs[i].seen, i);
                assert_true(jobs[i].sum == i * (i - 1) * 0.25);
                assert_true(jobs[i].room > 100 * 1024);
                coro_free(jobs[i].self);
                jobs[i].self = NULL;
                alive--;
            }
    assert_true(coro_pool_size() > 0);
    coro_pool_trim();
    assert_int_equal(coro_pool_size(), 0);
}

static void deep_stacks_come_back(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        Job j = {.steps = i % 2 ? 10 : 4000};
        j.self = coro_new(CORO_LARGE, dig, &j);
        assert_false(coro_resume(j.self));
        assert_int_equal(j.seen, j.steps);
        coro_free(j.self);
    }
    Coro *never = coro_new(CORO_SMALL, dig, NULL);
    coro_free(never);
    coro_pool_trim();
}

static void *resume_once(void *arg)
{
    return coro_resume(arg) ? arg : NULL;
}

static void other_threads_may_resume(void **state)
{
    (void)state;
    Job j = {.steps = 8};
    j.self = coro_new(CORO_MEDIUM, work, &j);
    for (int i = 0; i < 9; i++) {
        pthread_t thread;
        void *more;
        assert_int_equal(pthread_create(&thread, NULL, resume_once, j.self), 0);
        pthread_join(thread, &more);
        assert_int_equal(more != NULL, i < 8);
    }
    assert_int_equal(j.seen, 8);
    coro_free(j.self);
    coro_pool_trim();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switches),
        cmocka_unit_test(deep_stacks_come_back),
        cmocka_unit_test(other_threads_may_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
