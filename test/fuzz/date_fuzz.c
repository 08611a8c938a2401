/* date_fuzz: the first line is calls of date, the rest lines that are dates. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return run_commands(data, size, "date|env", 1 << 12);
}
