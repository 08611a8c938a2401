/* format: results and shells as text for models, tool definitions as JSON; what jq makes of them is what is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "include/shell.h"

static shell *sh;

static int setup(void **state)
{
    (void)state;
    return shell_open(NULL, &sh);
}

static int teardown(void **state)
{
    (void)state;
    return shell_close(sh);
}

static char *formatted(const char *script, const shell_run_opts *o, uint64_t cap)
{
    shell_result *r;
    shell_format_opts f = {.size = sizeof f, .cap = cap};
    char *text;
    uint64_t len;
    assert_int_equal(shell_run(sh, script, strlen(script), o, &r), SHELL_OK);
    assert_int_equal(shell_format_result(r, &f, &text, &len), SHELL_OK);
    assert_int_equal(strlen(text), len);
    shell_result_free(r);
    return text;
}

static void gives(const char *script, const char *wanted)
{
    char *text = formatted(script, NULL, 0);
    assert_string_equal(text, wanted);
    shell_free(text);
}

static void test_short(void **state)
{
    (void)state;
    gives("echo hi", "hi\n");
    gives("printf hi", "hi\n");
    gives(":", "(nothing was printed)\n");
    gives("false", "exit 1\n(nothing was printed)\n");
    gives("echo out; echo err >&2", "out\nstderr:\nerr\n");
    gives("echo out; echo err >&2; exit 3", "exit 3\nstderr:\nerr\nstdout:\nout\n");
    gives("nosuch", "exit 127: command not found\nstderr:\nbash: line 1: nosuch: command not found\n");
    gives("exec 2>/dev/null; (kill -9 $BASHPID)", "exit 137: ended by signal KILL\n(nothing was printed)\n");
    gives("printf 'a\\xff\\0b\\n'", "a\xef\xbf\xbd\xef\xbf\xbd" "b\n");
    gives("exec 3<> <(:); mkfifo /tmp/p; cat </tmp/p", "exit 1: stopped, every process waited for another\nstderr:\nlibshell: deadlock: every process waits for another\n");
}

static void test_limits(void **state)
{
    (void)state;
    shell_run_opts o = {.size = sizeof o, .timeout = 0.25};
    char *text = formatted("while :; do :; done", &o, 0);
    assert_string_equal(text, "exit 124: stopped, time limit 0.25 s; do less at once, or ask for more time\nstderr:\nlibshell: time limit of 0.25 s reached\n");
    shell_free(text);
    shell_limits l;
    shell_limits_init(&l);
    l.memory = 16 << 20;
    l.output = 30;
    o = (shell_run_opts){.size = sizeof o, .limits = &l};
    text = formatted("x=x; while :; do x=$x$x; done", &o, 0);
    assert_string_equal(text, "exit 137: stopped, memory limit 16 MiB; process the data in pieces\nstderr:\nlibshell: memory limit of 16 MiB reached\n");
    shell_free(text);
    text = formatted("seq 100", &o, 0);
    assert_non_null(strstr(text, "exit 137: stopped, output limit 30 bytes; print less"));
    assert_non_null(strstr(text, "[the output limit was reached: stdout ends here, what came after it is lost]"));
    shell_free(text);
}

static void test_long(void **state)
{
    (void)state;
    char *text = formatted("seq 1 10000", NULL, 1000);
    assert_true(strlen(text) < 1300);
    assert_memory_equal(text, "1\n2\n3\n", 6);
    assert_string_equal(text + strlen(text) - 11, "9999\n10000\n");
    const char *marker = strstr(text, "[... ");
    assert_non_null(marker);
    unsigned long bytes, lines, from, last, to;
    assert_int_equal(sscanf(marker, "[... %lu bytes of stdout left out here (%lu lines, from line %lu); to see them, run it again with its output in a file "
                                    "and print a part: sed -n '%lu,%lup' FILE ...]", &bytes, &lines, &from, &last, &to), 5);
    assert_int_equal(from, atoi(marker - 4) + 1);
    assert_int_equal(atol(strchr(marker, '\n')), from + lines);
    assert_int_equal(to, from + 99);
    shell_free(text);
    text = formatted("printf '%05000d' 7; printf '\\303\\251%.0s' {1..3000}", NULL, 300);
    assert_true(strlen(text) < 600);
    assert_non_null(strstr(text, "(1 lines, from line 1)"));
    shell_free(text);
}

/* ---------- descriptions ---------- */

static int32_t custom(void *user, shell_call *call)
{
    (void)user, (void)call;
    return 0;
}

static void test_describe(void **state)
{
    (void)state;
    char *text;
    uint64_t len;
    shell_bind b = {.size = sizeof b, .source = "/tmp", .destination = "/host", .mode = SHELL_BIND_OVERLAY, .flags = SHELL_BIND_READONLY};
    assert_int_equal(shell_bind_add(sh, &b), SHELL_OK);
    assert_int_equal(shell_command(sh, "lookup", custom, NULL), SHELL_OK);
    assert_int_equal(shell_describe(sh, 0, &text, &len), SHELL_OK);
    assert_non_null(strstr(text, "State persists between calls"));
    assert_non_null(strstr(text, "Current directory: /home/agent\n"));
    assert_non_null(strstr(text, "  /host (host files, read-only)\n"));
    assert_non_null(strstr(text, " awk "));
    assert_non_null(strstr(text, "Commands of the host program: lookup\n"));
    assert_non_null(strstr(text, "time 30 s, memory 512 MiB, output 10 MiB"));
    assert_non_null(strstr(text, "Network: none.\n"));
    shell_free(text);
    const shell_url_rule rules[] = {
        {.size = sizeof rules[0], .url = "https://api.example.com/v1", .methods = "GET"}, {.size = sizeof rules[0], .url = "http://[fd00::1]:8080", .allow_private = 1},
        {.size = sizeof rules[0], .url = "https://*.example.org", .deny = 1}};
    assert_int_equal(shell_set_net(sh, &(shell_net){.size = sizeof(shell_net), .rules = rules, .nrules = 3}), SHELL_OK);
    assert_int_equal(shell_describe(sh, 0, &text, &len), SHELL_OK);
    assert_non_null(strstr(text, "Network (curl, wget): only this; a refused request says so:\n  https://api.example.com/v1 (GET)\n"
                                 "  http://[fd00::1]:8080/ (private addresses too)\n  never https://*.example.org/\n"));
    shell_free(text);
    assert_int_equal(shell_set_net(sh, NULL), SHELL_OK);
    assert_int_equal(shell_describe(NULL, SHELL_DESCRIBE_FRESH, &text, NULL), SHELL_OK);
    assert_non_null(strstr(text, "only files persist"));
    assert_null(strstr(text, "Current directory"));
    shell_free(text);
}

static void asks(int32_t shape, uint32_t flags, bool with, const char *filter, const char *wanted)
{
    char *json;
    uint64_t len;
    char script[400];
    shell_result *r;
    assert_int_equal(shell_tools(with ? sh : NULL, shape, flags, &json, &len), SHELL_OK);
    shell_run_opts o = {.size = sizeof o, .input = json, .input_len = len};
    snprintf(script, sizeof script, "jq -c '%s'", filter);
    assert_int_equal(shell_run(sh, script, strlen(script), &o, &r), SHELL_OK);
    assert_string_equal(r->err, "");
    assert_string_equal(r->out, wanted);
    shell_result_free(r);
    shell_free(json);
}

static void test_tools(void **state)
{
    (void)state;
    asks(SHELL_TOOLS_MCP, 0, false, "map(keys)", "[[\"description\",\"inputSchema\",\"name\"]]\n");
    asks(SHELL_TOOLS_OPENAI, 0, true, "map([.type, (.function|keys)])", "[[\"function\",[\"description\",\"name\",\"parameters\"]]]\n");
    asks(SHELL_TOOLS_ANTHROPIC, SHELL_TOOLS_FILES, true, "map([.name, .input_schema.required])",
         "[[\"shell\",[\"command\"]],[\"read_file\",[\"path\"]],[\"write_file\",[\"path\",\"content\"]],[\"list_dir\",[\"path\"]]]\n");
    asks(SHELL_TOOLS_ANTHROPIC, 0, true, ".[0].input_schema.properties|map_values(.type)",
         "{\"command\":\"string\",\"timeout_ms\":\"integer\",\"stdin\":\"string\"}\n");
    asks(SHELL_TOOLS_MCP, 0, true, ".[0].description|test(\"State persists\") and test(\"\\n\")", "true\n");
    char *json;
    assert_int_equal(shell_tools(sh, 3, 0, &json, NULL), SHELL_EINVAL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(test_short), TEST(test_limits), TEST(test_long), TEST(test_describe), TEST(test_tools)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
