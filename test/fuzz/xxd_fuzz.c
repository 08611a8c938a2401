/* xxd_fuzz: any bytes are a hex dump to be turned back, by address and plain; and bytes to be dumped and turned back. */
#include "include/shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char script[] = "xxd -r in >a; xxd -r -p in >b; xxd -c 7 in | xxd -r -c 7 | cmp - in";
    if (size > 1 << 12)
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
    if (shell_write_file(sh, "in", (const char *)data, size, 0) == SHELL_OK && shell_run(sh, script, sizeof script - 1, &run, &result) == SHELL_OK)
        shell_result_free(result);
    shell_close(sh);
    return 0;
}
