/* xxd_fuzz: any bytes are a hex dump to be turned back, by address and plain; and bytes to be dumped and turned back. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char script[] = "xxd -r in >a; xxd -r -p in >b; xxd -c 7 in | xxd -r -c 7 | cmp - in";
    return run_over_file(data, size, "in", script, NULL, 1 << 12);
}
