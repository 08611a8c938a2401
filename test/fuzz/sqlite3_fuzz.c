/* sqlite3_fuzz: the first line is calls of sqlite3 with their options, the rest their script, or a database. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return run_commands(data, size, "sqlite3|rm", 1 << 15);
}
