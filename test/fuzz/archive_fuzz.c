/* archive_fuzz: the first line is commands with their options, the rest the file they work on: tar, zip, gzip, bzip2, xz, zstd and what goes with them. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return run_commands(data, size, "tar|zip|unzip|gzip|gunzip|zcat|zgrep|bzip2|bunzip2|bzcat|xz|unxz|xzcat|lzma|unlzma|lzcat|zstd|unzstd|zstdcat|touch|rm|ln", 1 << 16);
}
