/* sort_fuzz: the first line is sort's options, words by blanks; the rest is what is sorted: as it is, unique, merged, checked, and through a pipe. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char script[] = "{ IFS= read -r k; cat >t; } <in; set -f; timeout 2 sort $k t; timeout 2 sort -u $k t t; timeout 2 sort -s -o m $k t; "
                                 "timeout 2 sort -m $k m t; timeout 2 sort -c $k m; timeout 2 sort -C $k t; timeout 2 sort -z $k <t; export LC_ALL=C.UTF-8; timeout 2 sort -r $k t | tail -1";
    return run_over_file(data, size, "in", script, NULL, 1 << 13);
}
