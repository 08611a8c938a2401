/* replay_main: runs a libFuzzer target over the seed files named as arguments, where no fuzzer is linked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    uint8_t *data = malloc(1 << 20);
    size_t size = data ? fread(data, 1, 1 << 20, f) : 0;
    int failed = !data || ferror(f);
    fclose(f);
    if (failed)
        perror(path); /* a folder, for one: it must not pass for a seed */
    else
        LLVMFuzzerTestOneInput(data, size);
    free(data);
    return failed;
}

int main(int argc, char **argv)
{
    int status = argc < 2;
    for (int n = 1; n < argc; n++)
        status |= replay(argv[n]);
    return status;
}
