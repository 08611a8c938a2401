/* audit: the log file of --audit, and --verify-audit. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "value.h"

static void write_line(void *user, const char *line, uint64_t len)
{
    int fd = *(int *)user;
    while (len) {
        ssize_t n = write(fd, line, (size_t)len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) { /* what cannot be audited is not to run on */
            fprintf(stderr, "libshell: the audit cannot be written: %s\n", strerror(errno));
            _exit(125);
        }
        line += n;
        len -= (uint64_t)n;
    }
}

/* %p and %t in a name: the process, and the seconds since 1970, for a program that is started often. */
static void audit_name(const char *file, unsigned number, Text *name)
{
    for (const char *p = file; *p; p++) {
        if (p[0] == '%' && p[1] == 'p')
            text_printf(name, "%ld", (long)getpid());
        else if (p[0] == '%' && p[1] == 't')
            text_printf(name, "%lld", (long long)time(NULL));
        else
            text_add(name, p, 1);
        p += p[0] == '%' && (p[1] == 'p' || p[1] == 't');
    }
    if (number)
        text_printf(name, ".%u", number);
    text_add(name, "", 1);
}

const char *cli_audit(const char *file, unsigned number, shell_audit *out)
{
    Text name = {0};
    int *fd = malloc(sizeof *fd);
    audit_name(file, number, &name);
    if (name.failed || !fd) {
        free(fd);
        text_free(&name);
        return "out of memory";
    }
    *fd = open(name.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); /* a chain begins with its file */
    int err = errno;
    text_free(&name);
    if (*fd < 0) {
        free(fd);
        return strerror(err);
    }
    *out = (shell_audit){.size = sizeof *out, .line = write_line, .user = fd, .output = 4096};
    return NULL;
}

void cli_audit_end(shell_audit *audit)
{
    close(*(int *)audit->user);
    free(audit->user);
}

int cli_verify_audit(const char *file)
{
    FILE *f = fopen(file, "rb");
    char *text = NULL, head[65], why[128];
    size_t len = 0, cap = 0;
    if (!f) {
        fprintf(stderr, "libshell: %s: %s\n", file, strerror(errno));
        return 2;
    }
    for (size_t n = 1; n;) {
        if (len + 65536 > cap) {
            cap = cap * 2 + 131072;
            char *more = realloc(text, cap);
            if (!more) {
                fprintf(stderr, "libshell: out of memory\n");
                return 2;
            }
            text = more;
        }
        n = fread(text + len, 1, cap - len, f);
        len += n;
    }
    fclose(f);
    uint64_t lines;
    shell_err err = shell_audit_verify(text, len, &lines, head, why, sizeof why);
    free(text);
    if (err) {
        printf("%s: line %llu: %s\n", file, (unsigned long long)lines, why);
        return 1;
    }
    printf("%s: %llu lines, each in its place; the head is %s\n"
           "That no lines were cut off at the end cannot be told without a copy of the head that was kept elsewhere.\n",
           file, (unsigned long long)lines, head);
    return 0;
}
