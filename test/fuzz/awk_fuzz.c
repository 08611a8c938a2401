/* awk_fuzz: any bytes are an awk program, run over a few lines in a shell with tight limits. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char input[] = "a b c\nd,e;f  10 0x1f\n\n1 2 3.5\nlast line";
    static const char script[] = "cat >in; timeout 2 awk -f prog.awk in x=1 - <in; timeout 1 awk -L -F, -v y=2 -f prog.awk in";
    return run_over_file(data, size, "prog.awk", script, input, 1 << 14);
}
