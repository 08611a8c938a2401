/* Custom commands through the public header: blocking ones and machines, in pipelines, answered at once or later, killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "include/shell.h"

static void expect(shell *sh, const char *script, const char *out, int status)
{
    shell_result *r;
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    if (strcmp(r->out, out) != 0)
        print_message("%s: out %s err %s\n", script, r->out, r->err);
    assert_string_equal(r->out, out);
    assert_int_equal(r->status, status);
    shell_result_free(r);
}

static int32_t upper(void *user, shell_call *call)
{
    uint64_t n, written;
    const char *in = shell_call_input(call, &n);
    char text[256];
    for (uint64_t i = 0; i < n && i < sizeof text; i++)
        text[i] = in[i] >= 'a' && in[i] <= 'z' ? (char)(in[i] - 32) : in[i];
    shell_call_write(call, 1, text, n, &written);
    ++*(int *)user;
    return shell_call_argc(call) == 2 ? 7 : 0;
}

static int32_t quiet(void *user, shell_call *call)
{
    (void)user;
    shell_call_write(call, 1, shell_call_arg(call, 1), strlen(shell_call_arg(call, 1)), NULL);
    return 0;
}

static void blocking(void **state)
{
    (void)state;
    shell *sh;
    int calls = 0;
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    assert_int_equal(shell_command(sh, "upper", upper, &calls), SHELL_OK);
    assert_int_equal(shell_command(sh, "quiet", quiet, NULL), SHELL_OK);
    expect(sh, "echo abc | upper | cat; echo x | upper 1 | cat; echo ${PIPESTATUS[*]}", "ABC\nX\n0 7 0\n", 0);
    expect(sh, "upper <<< hi; type -t upper; x=$(echo q | upper); echo $x", "HI\nfile\nQ\n", 0);
    assert_int_equal(calls, 4);
    /* Input that a command does not ask for is not eaten. */
    expect(sh, "printf '1\\n2\\n3\\n' > f; while read l; do quiet $l; done < f", "123", 0);
    expect(sh, "echo a | upper | upper | upper", "A\n", 0);
    shell *copy;
    assert_int_equal(shell_fork(sh, &copy), SHELL_OK);
    assert_int_equal(shell_close(sh), SHELL_OK);
    expect(copy, "echo forked | upper", "FORKED\n", 0);
    shell_close(copy);
}

static int32_t busy(void *user, shell_call *call)
{
    shell *sh = user;
    shell_result *r;
    shell *copy;
    char *data;
    uint64_t len;
    (void)call;
    assert_int_equal(shell_run(sh, ":", 1, NULL, &r), SHELL_EBUSY);
    assert_int_equal(shell_fork(sh, &copy), SHELL_EBUSY);
    assert_int_equal(shell_close(sh), SHELL_EBUSY);
    assert_int_equal(shell_read_file(sh, "/etc/hostname", &data, &len), SHELL_OK);
    shell_free(data);
    return 0;
}

static void re_entry_is_refused(void **state)
{
    (void)state;
    shell *sh;
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    assert_int_equal(shell_command(sh, "busy", busy, sh), SHELL_OK);
    expect(sh, "busy && echo ok", "ok\n", 0);
    shell_close(sh);
}

/* A machine that counts its input and answers its end from another thread. */
typedef struct {
    shell *sh;
    uint64_t bytes, request;
    int killed;
    pthread_t thread;
} Counter;

static void *answer_later(void *arg)
{
    Counter *c = arg;
    usleep(20000);
    shell_answer(c->sh, c->request, 3);
    return NULL;
}

static int32_t count(void *user, shell_call *call, int32_t event, const char *data, uint64_t len)
{
    Counter *c = user;
    (void)data;
    switch (event) {
    case SHELL_CALL_INPUT:
        c->bytes += len;
        return SHELL_CALL_MORE;
    case SHELL_CALL_INPUT_END:
        shell_call_write(call, 1, "counted\n", 8, NULL);
        c->request = shell_call_id(call);
        pthread_create(&c->thread, NULL, answer_later, c);
        return SHELL_CALL_LATER;
    case SHELL_CALL_KILLED:
        c->killed++;
        return 0;
    default:
        return SHELL_CALL_MORE;
    }
}

static void machine(void **state)
{
    (void)state;
    Counter c = {0};
    assert_int_equal(shell_open(NULL, &c.sh), SHELL_OK);
    assert_int_equal(shell_command_machine(c.sh, "count", count, &c), SHELL_OK);
    expect(c.sh, "head -c 200000 /dev/zero | count | cat; echo ${PIPESTATUS[1]}", "counted\n3\n", 0);
    pthread_join(c.thread, NULL);
    assert_int_equal(c.bytes, 200000);
    assert_int_equal(c.killed, 0);
    shell_close(c.sh);
}

static int32_t never(void *user, shell_call *call, int32_t event, const char *data, uint64_t len)
{
    (void)call;
    (void)data;
    (void)len;
    if (event == SHELL_CALL_KILLED)
        ++*(int *)user;
    return event == SHELL_CALL_KILLED ? 0 : SHELL_CALL_LATER;
}

static void killed_machine_is_told(void **state)
{
    (void)state;
    shell *sh;
    int killed = 0;
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    assert_int_equal(shell_command_machine(sh, "never", never, &killed), SHELL_OK);
    expect(sh, "never & sleep 0.02; kill $!; wait $! 2>/dev/null; echo $?; timeout 0.02 never; echo $?", "143\n124\n", 0);
    assert_int_equal(killed, 2);
    shell_result *r;
    shell_run_opts o = {.size = sizeof o, .timeout = 0.05};
    assert_int_equal(shell_run(sh, "never", 5, &o, &r), SHELL_OK);
    assert_int_equal(r->end, SHELL_END_TIMEOUT);
    shell_result_free(r);
    assert_int_equal(killed, 3);
    expect(sh, "echo on", "on\n", 0);
    shell_close(sh);
}

/* A process that never rests keeps no command waiting, nor a thread that wants the shell in between. */
static void busy_processes_give_way(void **state)
{
    (void)state;
    Counter c = {0};
    assert_int_equal(shell_open(NULL, &c.sh), SHELL_OK);
    assert_int_equal(shell_command_machine(c.sh, "count", count, &c), SHELL_OK);
    expect(c.sh, "while :; do :; done & echo abc | count; kill $!; wait $! 2>/dev/null; echo over", "counted\nover\n", 0);
    pthread_join(c.thread, NULL);
    shell_pending pending = {.size = sizeof pending};
    int32_t at = SHELL_PENDING;
    assert_int_equal(shell_begin(c.sh, "while :; do :; done", 19, NULL), SHELL_OK);
    assert_int_equal(shell_yield(c.sh), SHELL_OK);
    assert_int_equal(shell_step(c.sh, &at, &pending), SHELL_OK);
    assert_int_equal(at, SHELL_PENDING);
    assert_int_equal(pending.wait_ns, 0);
    assert_int_equal(shell_cancel(c.sh), SHELL_OK);
    while (at != SHELL_DONE)
        assert_int_equal(shell_step(c.sh, &at, &pending), SHELL_OK);
    assert_int_equal(shell_end(c.sh, NULL), SHELL_OK);
    shell_close(c.sh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocking), cmocka_unit_test(re_entry_is_refused), cmocka_unit_test(machine), cmocka_unit_test(killed_machine_is_told),
        cmocka_unit_test(busy_processes_give_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
