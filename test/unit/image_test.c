/* image: images from host directories: what patterns and .gitignore files leave out is what git leaves out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "include/shell.h"

static char top[64];

static int setup(void **state)
{
    (void)state;
    strcpy(top, "/tmp/image_test.XXXXXX");
    return mkdtemp(top) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command);
}

static char *host(const char *script)
{
    static char out[20000];
    char command[6000];
    snprintf(command, sizeof command, "cd %s && { %s; }", top, script);
    FILE *f = popen(command, "r");
    size_t n = fread(out, 1, sizeof out - 1, f);
    out[n] = 0;
    assert_int_equal(pclose(f), 0);
    return out;
}

static char *made(const shell_image_dir *d, const char *script)
{
    static char out[20000];
    shell_image *image;
    shell_options o;
    shell *sh;
    shell_result *r;
    assert_int_equal(shell_image_from_dir(d, &image), SHELL_OK);
    shell_options_init(&o);
    o.image = image;
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    shell_image_free(image);
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    snprintf(out, sizeof out, "%s%s", r->out, r->err);
    shell_result_free(r);
    assert_int_equal(shell_close(sh), SHELL_OK);
    return out;
}

static const char files[] = "cd /workspace; find . ! -type d | sort";

static void test_plain(void **state)
{
    (void)state;
    host("mkdir -p d/e; echo one >a; echo two >d/e/b; ln -s a l; chmod 700 d; chmod 755 a");
    shell_image_dir d = {.size = sizeof d, .source = top, .destination = "/opt/x"};
    assert_string_equal(made(&d, "cd /opt/x; find . | sort; cat l d/e/b; stat -c '%a %U' a d"), ".\n./a\n./d\n./d/e\n./d/e/b\n./l\none\ntwo\n755 agent\n700 agent\n");
}

static void test_patterns(void **state)
{
    (void)state;
    host("mkdir -p src/x build/src node_modules/m; touch src/a.c src/a.o src/x/b.c src/x/b.h README build/out build/src/c.c node_modules/m/i.js");
    static const char *const exclude[] = {"*.o", "/build", "node_modules/", NULL}, *const include[] = {"*.c", "src/x", NULL};
    shell_image_dir d = {.size = sizeof d, .source = top, .exclude = exclude};
    assert_string_equal(made(&d, files), "./README\n./src/a.c\n./src/x/b.c\n./src/x/b.h\n");
    d.include = include;
    assert_string_equal(made(&d, files), "./src/a.c\n./src/x/b.c\n./src/x/b.h\n");
}

/* Many small trees, each with .gitignore files put together from pieces; git says what is not ignored. */
static void test_against_git(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "*.o", "!keep.o", "/a", "b/", "c/d", "**/deep", "x/**", "e/**/f", "*.[ch]", "!*.h", "# comment", "", "d", "/d/", "?", "??", "[a-c]", "[!a-c].o", "\\!bang", "\\#hash", "trail  ",
        "a*b", "*", "!*/", "!a", "**", "a/**/b", "c/*", "!c/k", "foo\\*", "*.o/", "/*/x", "d/e/f",
    };
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "x", "k", "deep", "keep.o", "m.o", "m.c", "m.h", "!bang", "#hash", "ab", "acb", "trail", "foo*"};
    unsigned seed = 11;
    for (int round = 0; round < 60; round++) {
        char script[6000] = "rm -rf t; mkdir t; cd t; git init -q . 2>/dev/null; ";
        for (int n = 0; n < 25; n++) {
            char path[200] = ".";
            int depth = rand_r(&seed) % 4;
            for (int k = 0; k < depth; k++)
                sprintf(path + strlen(path), "/%s", names[(size_t)rand_r(&seed) % 9]);
            const char *name = names[(size_t)rand_r(&seed) % 19];
            sprintf(script + strlen(script), "mkdir -p '%s' 2>/dev/null && [ ! -d '%s/%s' ] && : >'%s/%s'; ", path, path, name, path, name);
        }
        for (int n = 0; n < 2; n++) {
            sprintf(script + strlen(script), "d=$(find . -path ./.git -prune -o -type d -print | sort | sed -n %dp); ", n ? rand_r(&seed) % 6 + 1 : 1);
            for (int k = rand_r(&seed) % 4; k >= 0; k--)
                sprintf(script + strlen(script), "printf '%%s\\n' '%s' >>\"${d:-.}/.gitignore\"; ", lines[(size_t)rand_r(&seed) % (sizeof lines / sizeof *lines)]);
        }
        host(strcat(script, "true"));
        char *wanted = strdup(host("cd t; git -c core.quotepath=off ls-files -z -c -o --exclude-standard | tr '\\0' '\\n' | sed 's|^|./|' | LC_ALL=C sort"));
        char source[100];
        snprintf(source, sizeof source, "%s/t", top);
        shell_image_dir d = {.size = sizeof d, .source = source, .flags = SHELL_IMAGE_GITIGNORE};
        char *got = made(&d, files);
        if (strcmp(got, wanted) != 0)
            fail_msg("round %d: wanted\n%sgot\n%s%s", round, wanted, got, host("cd t; find . -name .gitignore | while read f; do echo \"$f:\"; cat $f; done; find . -path ./.git -prune -o -type f -print"));
        free(wanted);
    }
}

static void test_errors(void **state)
{
    (void)state;
    shell_image *image;
    char message[200];
    shell_image_dir d = {.size = sizeof d, .source = "/no/such", .message = message, .message_size = sizeof message};
    assert_int_equal(shell_image_from_dir(&d, &image), SHELL_ENOENT);
    assert_string_equal(message, "/no/such: the source cannot be reached");
    assert_null(image);
    d.source = "/proc";
    assert_int_equal(shell_image_from_dir(&d, &image), SHELL_EACCES);
    assert_int_equal(shell_image_from_dir(NULL, &image), SHELL_EINVAL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(test_plain), TEST(test_patterns), TEST(test_against_git), TEST(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
