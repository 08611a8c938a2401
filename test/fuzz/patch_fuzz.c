/* patch_fuzz: any bytes are a patch, applied to a few files in a shell with tight limits, and once more reversed. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char input[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10";
    static const char script[] = "cat >f; cp f t; mkdir a b; cp f a/f; timeout 2 patch -p0 <p; timeout 2 patch -p1 -R -t <p; timeout 2 patch -l -F3 t p; cmp f t; "
                                 "timeout 2 patch -D X --verbose -f -b -V numbered t p; timeout 2 patch -T -N -o o --reject-format=context t p; timeout 2 patch --dry-run -s -Z -B x/ -z .y -E f p; "
                                 "timeout 2 patch -n -N -b --backup-if-mismatch -Y y --posix --read-only=fail --quoting-style=c -o - f p; timeout 2 patch -c -d a -f -r rej --merge <p";
    return run_over_file(data, size, "p", script, input, 1 << 14);
}
