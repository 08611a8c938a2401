/* jq_fuzz: the first line is a program, the rest its input, run in a shell under limits. Whatever they are the shell must stay usable, and
 * what `jq -c .` prints must print the same again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "include/shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char script[] =
    "IFS= read -r program; cat > input\n"
    "jq -c \"$program\" input > out 2> err\n"
    "jq -c . input > zero 2> /dev/null && jq -c . zero > once && { jq -c . once > twice 2>&1; [ \"$(< once)\" = \"$(< twice)\" ] || exit 99; }\n"
    "exit 0\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    shell *sh = NULL;
    shell_result *result = NULL;
    shell_options options;
    shell_limits limits;
    if (size > 1 << 14)
        return 0;
    shell_options_init(&options);
    shell_limits_init(&limits);
    limits.steps = 2000000;
    limits.memory = 64 << 20;
    options.limits = &limits;
    if (shell_open(&options, &sh) != SHELL_OK)
        abort();
    shell_run_opts run = {.size = sizeof run, .input = (const char *)data, .input_len = size};
    if (shell_run(sh, script, sizeof script - 1, &run, &result) != SHELL_OK || result->status == 99)
        abort();
    shell_result_free(result);
    if (shell_run(sh, "jq -n 1", 7, NULL, &result) != SHELL_OK || result->status != 0)
        abort();
    shell_result_free(result);
    shell_close(sh);
    return 0;
}
