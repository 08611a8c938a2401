/* The seam for components: asked for once, refused when it comes from another build, digests right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "builtins/command.h"
#include "include/shell.h"
#include "lib/api/internal.h"
#include "test/components.h"

static int asked;
static shell_component stale;

static const shell_component *counting(void *user, const char *name)
{
    asked++;
    assert_string_equal(name, "crypto");
    return user ? &stale : test_component(NULL, name);
}

static const shell_component *fixed(void *user, const char *name)
{
    (void)name;
    return user;
}

/* A command of the test that looks for the component as a built-in one does. */
static int looks_main(Proc *p, Args *args)
{
    (void)args;
    const CryptoComponent *c = PROC_COMPONENT(p, "crypto", CryptoComponent);
    out_str(p->out, c ? "found\n" : "none\n");
    if (c) {
        unsigned char sum[64];
        void *d = c->digest_new("md5");
        c->digest_update(d, "hello\n", 6);
        c->digest_final(d, sum);
        c->digest_free(d);
        out_printf(p->out, "%02x%02x\n", sum[0], sum[1]);
    }
    return 0;
}

static const Command looks = {.name = "looks", .usage = "looks", .summary = "", .main = looks_main, .flags = COMMAND_RAW | COMMAND_NO_FILE};

static void expect(shell_component_fn fn, void *user, const char *script, const char *out)
{
    shell_options o;
    shell_options_init(&o);
    o.component = fn;
    o.component_user = user;
    shell *sh, *other;
    shell_result *r;
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    assert_int_equal(kern_command_set(sh->kernel, "looks", &looks, NULL), 0);
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    assert_string_equal(r->out, out);
    shell_result_free(r);
    assert_int_equal(shell_fork(sh, &other), SHELL_OK);
    shell_close(sh);
    assert_int_equal(shell_run(other, "looks | cat", 11, NULL, &r), SHELL_OK);
    assert_int_equal(strncmp(r->out, out, 5), 0);
    shell_result_free(r);
    shell_close(other);
}

static void test_found_once(void **state)
{
    (void)state;
    if (!test_component(NULL, "crypto"))
        skip();
    asked = 0;
    expect(counting, NULL, "looks; looks | cat; (looks)", "found\nb194\nfound\nb194\nfound\nb194\n");
    assert_int_equal(asked, 1);
}

static void test_refused(void **state)
{
    (void)state;
    expect(NULL, NULL, "looks", "none\n");
    static CryptoComponent table;
    stale = (shell_component){sizeof stale, "crypto", "0.0.0", &table, sizeof table};
    expect(counting, &stale, "looks", "none\n");
    stale = (shell_component){sizeof stale, "crypto", SHELL_VERSION, &table, sizeof table - 8};
    expect(counting, &stale, "looks", "none\n");
    stale = (shell_component){sizeof stale, "net", SHELL_VERSION, &table, sizeof table};
    expect(counting, &stale, "looks", "none\n");
}

/* What a command that needs a component says when there is one that does not fit. */
static void says(const shell_component *given, const char *text)
{
    static const char script[] = "echo a: 1 | yq .a; echo $?";
    shell_options o;
    shell_options_init(&o);
    o.component = fixed;
    o.component_user = (void *)(uintptr_t)given;
    shell *sh;
    shell_result *r;
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    assert_int_equal(shell_run(sh, script, sizeof script - 1, NULL, &r), SHELL_OK);
    assert_string_equal(r->out, "1\n");
    assert_string_equal(r->err, text);
    shell_result_free(r);
    shell_close(sh);
}

static void test_another_version(void **state)
{
    (void)state;
    static DataComponent table;
    static const char other[] = "yq: the component libshell-data is of another version: it has to come with this libshell\n";
    stale = (shell_component){sizeof stale, "data", "0.0.0", &table, sizeof table};
    says(&stale, other);
    stale = (shell_component){sizeof stale, "data", SHELL_VERSION, &table, sizeof table + 8};
    says(&stale, other);
    stale = (shell_component){sizeof stale, "archive", SHELL_VERSION, &table, sizeof table};
    says(&stale, "yq: needs the component libshell-data\n");
}

/* Under the virtual clock no timer fires while the host is asked. */
static void test_asked_takes_no_time(void **state)
{
    (void)state;
    static const char script[] = "timeout 2 md5sum </dev/null; echo $?";
    shell_options o;
    shell_options_init(&o);
    o.component = test_component;
    o.fixed_clock = 2;
    shell *sh;
    shell_result *r;
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    assert_int_equal(shell_run(sh, script, sizeof script - 1, NULL, &r), SHELL_OK);
    assert_null(strstr(r->out, "124"));
    shell_result_free(r);
    shell_close(sh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found_once), cmocka_unit_test(test_refused), cmocka_unit_test(test_another_version), cmocka_unit_test(test_asked_takes_no_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
