/* in_data: what the targets of jq and yq share: a shell under limits, a script over the input as the file f, and that the shell stays usable. */
#ifndef TEST_FUZZ_IN_DATA_H
#define TEST_FUZZ_IN_DATA_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/shell.h"
#include "test/components.h"

/* Status 99 of the script: what it checks does not hold. */
static inline int run_over_data(const uint8_t *data, size_t size, const char *script, size_t most)
{
    shell_limits limits;
    shell_options options;
    shell *sh;
    shell_result *result = NULL;
    if (size > most)
        return 0;
    shell_limits_init(&limits);
    limits.steps = 2000000;
    limits.memory = 64 << 20;
    limits.output = 4 << 20;
    shell_options_init(&options);
    options.limits = &limits;
    options.fixed_clock = 2;
    options.component = test_component;
    if (shell_open(&options, &sh) != SHELL_OK)
        abort();
    if (shell_write_file(sh, "f", (const char *)data, size, 0) != SHELL_OK)
        abort();
    if (shell_run(sh, script, strlen(script), NULL, &result) == SHELL_OK) {
        if (result->status == 99) {
            fprintf(stderr, "the script's check failed\n");
            abort();
        }
        shell_result_free(result);
    }
    if (shell_run(sh, "jq -n 1", 7, NULL, &result) != SHELL_OK || result->status != 0)
        abort();
    shell_result_free(result);
    shell_close(sh);
    return 0;
}

#endif
