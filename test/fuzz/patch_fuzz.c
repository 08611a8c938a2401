/* patch_fuzz: any bytes are a patch, applied to a few files in a shell with tight limits, and once more reversed. */
#include <stdlib.h>

#include "include/shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char input[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10";
    static const char script[] = "cat >f; cp f t; mkdir a b; cp f a/f; timeout 2 patch -p0 <p; timeout 2 patch -p1 -R -t <p; timeout 2 patch -l -F3 t p; cmp f t";
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
    if (shell_write_file(sh, "p", (const char *)data, size, 0) == SHELL_OK && shell_run(sh, script, sizeof script - 1, &run, &result) == SHELL_OK)
        shell_result_free(result);
    shell_close(sh);
    return 0;
}
