/* What of the host a script cannot see or reach. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/shell.h"

static void expect(shell *sh, const char *script, const char *out, int status)
{
    shell_result *r;
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    if (strcmp(r->out, out) != 0 || r->status != status)
        print_message("%s: status %d out %s err %s\n", script, r->status, r->out, r->err);
    assert_string_equal(r->out, out);
    assert_int_equal(r->status, status);
    shell_result_free(r);
}

static void host_files_do_not_exist(void **state)
{
    (void)state;
    shell *sh;
    char host[] = "/tmp/libshell-confine-XXXXXX", script[200];
    int fd = mkstemp(host);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    snprintf(script, sizeof script, "cat %s 2>/dev/null; echo $?; [ -e %s ]; echo $?; echo x > %s; ls /tmp", host, host, host);
    char out[100];
    snprintf(out, sizeof out, "1\n1\n%s\n", strrchr(host, '/') + 1);
    expect(sh, script, out, 0);
    struct stat st;
    assert_int_equal(stat(host, &st), 0);
    assert_int_equal(st.st_size, 0);
    unlink(host);
    expect(sh, "cat /etc/shadow /proc/1/environ /proc/self/environ /proc/self/maps /sys/kernel/version 2>/dev/null", "", 1);
    expect(sh, "cd ../../../../../../..; pwd; ls -a | tr '\\n' ' '", "/\n. .. bin dev etc home proc root sbin tmp usr var workspace ", 0);
    shell_close(sh);
}

static void host_environment_is_not_seen(void **state)
{
    (void)state;
    shell *sh;
    setenv("LIBSHELL_TEST_SECRET", "hunter2", 1);
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    expect(sh, "echo ${LIBSHELL_TEST_SECRET-unset}; env | grep -c SECRET; printenv LIBSHELL_TEST_SECRET", "unset\n0\n", 1);
    shell_close(sh);
}

static void nothing_of_the_host_is_reached(void **state)
{
    (void)state;
    shell *sh;
    char script[100], self[40];
    snprintf(script, sizeof script, "kill -0 %d 2>/dev/null; echo $?", (int)getppid());
    snprintf(self, sizeof self, "kill -9 %d 2>/dev/null; echo $?", (int)getpid());
    assert_int_equal(shell_open(NULL, &sh), SHELL_OK);
    expect(sh, script, "1\n", 0);
    expect(sh, self, "1\n", 0);
    expect(sh, "(echo x > /dev/tcp/127.0.0.1/80) 2>/dev/null; echo $?", "1\n", 0);
    expect(sh, "id -un; hostname 2>/dev/null || echo libshell; tty 2>/dev/null || echo no", "agent\nlibshell\nnot a tty\nno\n", 0);
    shell_close(sh);
}

static void shells_do_not_see_each_other(void **state)
{
    (void)state;
    shell *a, *b;
    assert_int_equal(shell_open(NULL, &a), SHELL_OK);
    assert_int_equal(shell_open(NULL, &b), SHELL_OK);
    expect(a, "echo secret > /tmp/f; x=1; export x; echo done", "done\n", 0);
    expect(b, "cat /tmp/f 2>/dev/null; echo ${x-unset}", "unset\n", 0);
    shell_close(a);
    shell_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_files_do_not_exist), cmocka_unit_test(host_environment_is_not_seen),
        cmocka_unit_test(nothing_of_the_host_is_reached), cmocka_unit_test(shells_do_not_see_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
