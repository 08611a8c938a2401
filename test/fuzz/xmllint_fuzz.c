/* xmllint_fuzz: the first line is calls of xmllint with their options, the rest a document. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return run_commands(data, size, "xmllint", 1 << 13);
}
