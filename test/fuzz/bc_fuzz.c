/* bc_fuzz: any bytes are a bc program, run with and without the library of functions. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char script[] = "timeout 2 bc <in; timeout 2 bc -lw <in";
    return run_over_file(data, size, "in", script, NULL, 1 << 12);
}
