/* date_fuzz: any lines are dates, read in two zones. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char script[] = "date -f in; TZ=CET-1CEST,M3.5.0,M10.5.0/3 date -f in +%s";
    return run_over_file(data, size, "in", script, NULL, 1 << 12);
}
