/* output: what a script writes, to the descriptors of this process. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

int32_t cli_write(void *user, int32_t stream, const char *data, uint64_t len)
{
    (void)user;
    while (len) {
        ssize_t n = write(stream, data, (size_t)len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return SHELL_EPIPE;
        data += n;
        len -= (uint64_t)n;
    }
    return 0;
}

int64_t cli_read(void *user, char *buf, uint64_t cap)
{
    (void)user;
    ssize_t n;
    do
        n = read(0, buf, (size_t)cap);
    while (n < 0 && errno == EINTR);
    return n;
}

uint32_t cli_output_flags(void)
{
    struct stat out, err;
    bool one = fstat(1, &out) == 0 && fstat(2, &err) == 0 && out.st_dev == err.st_dev && out.st_ino == err.st_ino;
    return one ? SHELL_RUN_MERGE : 0;
}
