/* archive_fuzz: the first byte chooses a tool, the rest is its file: tar, gzip, zip, bzip2, xz, zstd, a database or its script. */
#include <stdlib.h>

#include "include/shell.h"
#include "test/components.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const scripts[] = {
        "tar tvf f; mkdir d; tar xf f -C d; find d; tar df f", "gzip -lv f; zcat <f; gunzip -S '' f", "unzip -v f; unzip -t f; unzip -oq f -d d; find d", "bzcat f; xzcat f; zstdcat f; unxz <f",
        "sqlite3 f .dump; sqlite3 f 'pragma integrity_check'", "sqlite3 -bail :memory: <f", "tar xzf f; tar xJf f; tar rf f /etc/hosts; tar tf f; tar --delete -f f x",
    };
    if (size < 1 || size > 1 << 16)
        return 0;
    const char *script = scripts[data[0] % (sizeof scripts / sizeof *scripts)];
    shell_limits limits;
    shell_limits_init(&limits);
    limits.memory = 96 << 20;
    limits.steps = 2000000;
    limits.output = 1 << 20;
    limits.file_bytes = 8 << 20;
    shell_options options;
    shell_options_init(&options);
    options.limits = &limits;
    options.fixed_clock = 1;
    options.component = test_component;
    shell *sh;
    if (shell_open(&options, &sh) != SHELL_OK)
        return 0;
    shell_result *result = NULL;
    shell_run_opts run = {.size = sizeof run, .timeout = 2};
    size_t n = 0;
    while (script[n])
        n++;
    if (shell_write_file(sh, "f", (const char *)data + 1, size - 1, 0) == SHELL_OK && shell_run(sh, script, n, &run, &result) == SHELL_OK)
        shell_result_free(result);
    shell_close(sh);
    return 0;
}
