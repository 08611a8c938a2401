/* mcp_fuzz: bytes as what a client sends, line by line, to a server with small limits; then the client goes. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/cli/mcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static shell *pristine(Settings *s)
{
    shell_options o;
    shell *sh;
    settings_init(s);
    settings_options(s, &o);
    o.fixed_clock = 2; /* who sleeps costs no time */
    s->limits.time_ms = 50;
    s->limits.memory = 64 << 20;
    s->limits.output = s->limits.file_size = s->limits.file_bytes = 1 << 20;
    s->limits.steps = 1000000;
    s->most_sessions = 4;
    o.component = NULL;
    if (shell_open(&o, &sh) != SHELL_OK)
        abort();
    return sh;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* the thread that ends last may look at its locks after the wait for it: the next server is another one */
    static Server servers[64];
    static unsigned turn;
    static Settings settings;
    static shell *sh;
    static int fd;
    if (!sh) {
        sh = pristine(&settings);
        fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    }
    Server *sv = &servers[turn++ % 64];
    if (!server_start(sv, sh, &settings, fd))
        return 0;
    const char *p = (const char *)data, *end = p + size;
    while (p < end) {
        const char *line = memchr(p, '\n', (size_t)(end - p));
        line = line ? line : end;
        server_line(sv, p, (size_t)(line - p));
        p = line + 1;
    }
    server_stop(sv);
    return 0;
}
