/* xxd_fuzz: the first line is calls of xxd with their options, the rest bytes, or a dump of some. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return run_commands(data, size, "xxd", 1 << 12);
}
