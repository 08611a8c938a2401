/* awk_fuzz: any bytes are an awk program, run over a few lines in a shell with tight limits. */
#include <stdlib.h>

#include "include/shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char input[] = "a b c\nd,e;f  10 0x1f\n\n1 2 3.5\nlast line";
    static const char script[] = "cat >in; timeout 2 awk -f prog.awk in x=1 - <in";
    if (size > 1 << 14)
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
    shell_run_opts run = {.size = sizeof run};

    run.input = input;
    run.input_len = sizeof input - 1;
    if (shell_write_file(sh, "prog.awk", (const char *)data, size, 0) == SHELL_OK && shell_run(sh, script, sizeof script - 1, &run, &result) == SHELL_OK)
        shell_result_free(result);
    shell_close(sh);
    return 0;
}
