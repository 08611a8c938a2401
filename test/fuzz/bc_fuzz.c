/* bc_fuzz: the first line is calls of bc with their options, the rest a program. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return run_commands(data, size, "bc", 1 << 12);
}
