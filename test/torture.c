/* torture: the scripts of case files, with the Nth allocation of a run failing once, or that and every later one.
 *
 * usage: torture [--every | --sample N] FILE.case...
 * --every: of a script with more than EVERY_MOST allocations (loops, which pass the same places again) that many, evenly spread.
 * After each run the file system must be whole, and the next run of the same shell must be right. What the failing run printed is not looked at:
 * it may have failed anywhere. Ends with "N passed, N failed".
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/api/internal.h"
#include "test/components.h"

enum { EVERY_MOST = 2000 };

static unsigned long passed, failed;
static uint64_t sample = 8;

static shell *open_shell(void)
{
    static const char *const env[] = {"LC_ALL=C.UTF-8", NULL};
    shell_options o;
    shell_options_init(&o);
    o.component = test_component;
    o.env = env;
    o.seeded = 1;
    shell *sh;
    if (shell_open(&o, &sh) != SHELL_OK) {
        fprintf(stderr, "torture: cannot open a shell\n");
        exit(2);
    }
    return sh;
}

static bool run(shell *sh, const char *script, size_t len, const char *wanted)
{
    shell_limits l;
    shell_limits_init(&l);
    l.time_ms = 20000;
    shell_run_opts o = {.size = sizeof o, .limits = &l};
    shell_result *r;
    if (shell_run(sh, script, len, &o, &r) != SHELL_OK)
        return wanted == NULL;
    bool ok = !wanted || (strcmp(r->out, wanted) == 0 && r->status == 0);
    if (!ok)
        printf("    next run: status %d out %.200s err %.200s\n", r->status, r->out, r->err);
    shell_result_free(r);
    return ok;
}

static uint64_t takes_of(const char *script, size_t len)
{
    shell *sh = open_shell();
    uint64_t before = kern_budget(sh->kernel)->takes;
    run(sh, script, len, NULL);
    uint64_t takes = kern_budget(sh->kernel)->takes - before;
    shell_close(sh);
    return takes;
}

/* The options that a script may leave set (errexit, nounset, noexec ...) and functions of these names must not decide the probe. */
static const char probe[] = "command echo a b | command wc -w";

static void fail_at(const char *file, const char *script, size_t len, uint64_t nth, bool for_ever)
{
    shell *sh = open_shell();
    Budget *b = kern_budget(sh->kernel);
    b->fail_at = b->takes + nth;
    b->fail_forever = for_ever;
    run(sh, script, len, NULL);
    b->fail_at = 0;
    b->fail_forever = false;
    const char *why = "";
    bool whole = vfs_check(kern_vfs(sh->kernel), &why);
    bool right = shell_reset(sh) == SHELL_OK && run(sh, probe, sizeof probe - 1, "2\n");
    if (whole && right) {
        passed++;
    } else {
        failed++;
        printf("%s: allocation %llu%s: %s\n    %s\n", file, (unsigned long long)nth, for_ever ? " and on" : "", whole ? "the next run is wrong" : why, script);
    }
    shell_close(sh);
}

static void torture(const char *file, const char *script, size_t len)
{
    uint64_t takes = takes_of(script, len), step = takes > sample ? takes / sample : 1;
    for (uint64_t n = 1; n <= takes; n += step) {
        fail_at(file, script, len, n, false);
        fail_at(file, script, len, n, true);
    }
}

static void torture_file(const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL, *script = NULL;
    size_t cap = 0, len = 0;
    if (!f) {
        failed++;
        return;
    }
    for (ssize_t n; (n = getline(&line, &cap, f)) >= 0;) {
        if (line[0] == '$') {
            size_t skip = n > 2 ? 2 : (size_t)n;
            script = realloc(script, len + (size_t)n + 1);
            memcpy(script + len, line + skip, (size_t)n - skip);
            len += (size_t)n - skip;
            script[len] = 0;
        } else if (line[0] == '?' && len) {
            torture(path, script, len);
            len = 0;
        }
    }
    free(line);
    free(script);
    fclose(f);
}

int main(int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--every") == 0)
            sample = EVERY_MOST;
        else if (strcmp(argv[i], "--sample") == 0 && i + 1 < argc)
            sample = strtoull(argv[++i], NULL, 10);
    }
    sample += sample == 0;
    for (; i < argc; i++)
        torture_file(argv[i]);
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed != 0;
}
