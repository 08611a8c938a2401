/* in_shell: one input of a fuzz target as a file of a shell with tight limits, and a script over it. */
#ifndef TEST_FUZZ_IN_SHELL_H
#define TEST_FUZZ_IN_SHELL_H

#include <string.h>

#include "include/shell.h"

/* `data` becomes the file `name`; `script` runs with `input` as its standard input (NULL: empty). Inputs of more than `most` bytes are left out. */
static inline int run_over_file(const uint8_t *data, size_t size, const char *name, const char *script, const char *input, size_t most)
{
    if (size > most)
        return 0;
    shell_limits limits;
    shell_limits_init(&limits);
    limits.memory = 64 << 20;
    limits.steps = 2000000;
    limits.output = 1 << 20;
    shell_options options;
    shell_options_init(&options);
    options.limits = &limits;
    options.fixed_clock = 2;
    shell *sh;
    if (shell_open(&options, &sh) != SHELL_OK)
        return 0;
    shell_result *result = NULL;
    shell_run_opts run = {.size = sizeof run, .input = input, .input_len = input ? strlen(input) : 0};
    if (shell_write_file(sh, name, (const char *)data, size, 0) == SHELL_OK && shell_run(sh, script, strlen(script), &run, &result) == SHELL_OK)
        shell_result_free(result);
    shell_close(sh);
    return 0;
}

#endif
