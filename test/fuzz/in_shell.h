/* in_shell: one input of a fuzz target as a file of a shell with tight limits, and a script over it. */
#ifndef TEST_FUZZ_IN_SHELL_H
#define TEST_FUZZ_IN_SHELL_H

#include <stdio.h>
#include <string.h>

#include "include/shell.h"
#include "test/components.h"

/* `data` becomes the file `name`; `script` runs with `input` as its standard input (NULL: empty). Inputs of more than `most` bytes are left out. */
static inline int run_over_file(const uint8_t *data, size_t size, const char *name, const char *script, const char *input, size_t most)
{
    if (size > most)
        return 0;
    shell_limits limits;
    shell_limits_init(&limits);
    limits.memory = 96 << 20;
    limits.steps = 2000000;
    limits.output = 1 << 20;
    shell_options options;
    shell_options_init(&options);
    options.limits = &limits;
    options.fixed_clock = 2;
    options.component = test_component;
    shell *sh;
    if (shell_open(&options, &sh) != SHELL_OK)
        return 0;
    shell_result *result = NULL;
    shell_run_opts run = {.size = sizeof run, .timeout = 10, .input = input, .input_len = input ? strlen(input) : 0};
    if (shell_write_file(sh, name, (const char *)data, size, 0) == SHELL_OK && shell_run(sh, script, strlen(script), &run, &result) == SHELL_OK)
        shell_result_free(result);
    shell_close(sh);
    return 0;
}

/* The input's first line is commands with their options, separated by semicolons; the rest is the file f, and their standard input. Only
 * `tools` run (names separated by |); words are split at blanks, nothing is quoted or expanded. Beside f lie a few files of other kinds. */
static inline int run_commands(const uint8_t *data, size_t size, const char *tools, size_t most)
{
    char script[1024];
    int n = snprintf(script, sizeof script,
                     "mkdir -p d/e; echo one >d/1; echo two >d/e/2; ln -s 1 d/s; ln d/1 d/h; mkfifo d/p; set -f; IFS= read -r c <in; tail -n +2 in >f; IFS=';'; "
                     "for c in $c; do IFS=' ' c=${c# }; case ${c%%%%[ ]*} in %s) timeout 2 $c <f;; esac; done",
                     tools);
    return n > 0 && (size_t)n < sizeof script ? run_over_file(data, size, "in", script, NULL, most) : 0;
}

#endif
