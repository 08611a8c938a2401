/* runner: runs the cases of the files named, each in a shell of its own, and compares with the record.
 *
 * usage: runner [-v] [--only TEXT] [--confine] FILE.case...
 *   --confine  under a filter that kills the process on fork, vfork, clone of a process, execve and socket
 * Prints each difference and ends with "N passed, N failed".
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_SECCOMP
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#endif

#include "include/shell.h"
#include "test/components.h"

typedef struct {
    char *data;
    size_t len, cap;
} Text;

typedef struct {
    Text title, script, out, err;
    int status, line;
} Case;

static const char *only;
static bool verbose;
static unsigned long passed, failed;

static void add(Text *t, const char *data, size_t n)
{
    if (t->len + n + 1 > t->cap) {
        t->cap = (t->len + n + 1) * 2;
        t->data = realloc(t->data, t->cap);
        if (!t->data)
            exit(2);
    }
    memcpy(t->data + t->len, data, n);
    t->len += n;
    t->data[t->len] = 0;
}

static int hex(char c) { return c <= '9' ? c - '0' : tolower((unsigned char)c) - 'a' + 10; }

static void add_escaped(Text *t, const char *s)
{
    for (; *s; s++) {
        char c = *s;
        if (c == '\\' && s[1] == '\\') {
            s++;
        } else if (c == '\\' && s[1] == 'x' && isxdigit((unsigned char)s[2]) && isxdigit((unsigned char)s[3])) {
            c = (char)(hex(s[2]) * 16 + hex(s[3]));
            s += 3;
        }
        add(t, &c, 1);
    }
}

/* One line of expected output; `line` begins with > or !. */
static void add_expected(Text *t, const char *line)
{
    char kind = line[1];
    const char *text = kind == ' ' ? line + 2 : kind ? line + (line[2] ? 3 : 2) : line + 1;
    if (kind == '\\' || kind == '/')
        add_escaped(t, text);
    else
        add(t, text, strlen(text));
    if (kind != '-' && kind != '/')
        add(t, "\n", 1);
}

static void clear(Case *c)
{
    c->title.len = c->script.len = c->out.len = c->err.len = 0;
    add(&c->title, "", 0);
    add(&c->script, "", 0);
    add(&c->out, "", 0);
    add(&c->err, "", 0);
}

static void show(const char *what, const char *data, size_t len)
{
    printf("    %s: ", what);
    for (size_t i = 0; i < len && i < 2000; i++) {
        unsigned char b = (unsigned char)data[i];
        if (b == '\n')
            printf("\\n");
        else if (b < 32 || b == 127)
            printf("\\x%02x", b);
        else
            putchar(b);
    }
    putchar('\n');
}

static bool same(const Text *t, const char *data, uint64_t len) { return t->len == len && memcmp(t->data, data, (size_t)len) == 0; }

static void run(const char *file, const Case *c)
{
    static const char *const env[] = {"LC_ALL=C.UTF-8", NULL};
    if (only && !strstr(c->script.data, only) && !strstr(c->title.data, only))
        return;
    if (verbose) {
        printf("%s:%d: %s\n", file, c->line, c->script.data);
        fflush(stdout);
    }
    shell_options o;
    shell_options_init(&o);
    o.env = env;
    o.component = test_component;
    shell *sh;
    shell_result *r;
    if (shell_open(&o, &sh) != SHELL_OK || shell_run(sh, c->script.data, c->script.len, NULL, &r) != SHELL_OK) {
        printf("%s:%d: cannot run\n", file, c->line);
        failed++;
        return;
    }
    if (same(&c->out, r->out, r->out_len) && same(&c->err, r->err, r->err_len) && r->status == c->status) {
        passed++;
    } else {
        failed++;
        printf("%s:%d: %s\n", file, c->line, c->title.data);
        show("script", c->script.data, c->script.len);
        if (!same(&c->out, r->out, r->out_len)) {
            show("stdout wanted", c->out.data, c->out.len);
            show("stdout got   ", r->out, (size_t)r->out_len);
        }
        if (!same(&c->err, r->err, r->err_len)) {
            show("stderr wanted", c->err.data, c->err.len);
            show("stderr got   ", r->err, (size_t)r->err_len);
        }
        if (r->status != c->status)
            printf("    status wanted %d got %d\n", c->status, r->status);
    }
    shell_result_free(r);
    shell_close(sh);
}

static void run_file(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        printf("runner: cannot read %s\n", path);
        failed++;
        return;
    }
    Case c = {0};
    clear(&c);
    char *line = NULL;
    size_t cap = 0;
    int number = 0;
    for (ssize_t n; (n = getline(&line, &cap, f)) >= 0;) {
        number++;
        if (n && line[n - 1] == '\n')
            line[--n] = 0;
        if (line[0] == '#') {
            if (!c.script.len)
                c.title.len = 0;
            add(&c.title, line + 1, (size_t)n - 1);
        } else if (line[0] == '$') {
            if (c.script.len)
                add(&c.script, "\n", 1);
            else
                c.line = number;
            add(&c.script, n > 2 ? line + 2 : "", n > 2 ? (size_t)n - 2 : 0);
        } else if (line[0] == '>') {
            add_expected(&c.out, line);
        } else if (line[0] == '!') {
            add_expected(&c.err, line);
        } else if (line[0] == '?') {
            c.status = atoi(line + 1);
            run(path, &c);
            clear(&c);
        }
    }
    free(line);
    free(c.title.data);
    free(c.script.data);
    free(c.out.data);
    free(c.err.data);
    fclose(f);
}

/* clone3 gives ENOSYS, so that the C library falls back to clone, whose flags the filter can see. */
static void confine(void)
{
#ifdef HAVE_SECCOMP
    scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
    const int killed[] = {SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(ptrace)};
    bool ok = c != NULL;
    for (size_t i = 0; ok && i < sizeof killed / sizeof killed[0]; i++)
        ok = seccomp_rule_add(c, SCMP_ACT_KILL_PROCESS, killed[i], 0) == 0;
    ok = ok && seccomp_rule_add(c, SCMP_ACT_KILL_PROCESS, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)) == 0;
    ok = ok && seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 && seccomp_load(c) == 0;
    if (!ok) {
        fprintf(stderr, "runner: cannot load the filter\n");
        exit(2);
    }
    seccomp_release(c);
#else
    fprintf(stderr, "runner: built without libseccomp\n");
    exit(2);
#endif
}

int main(int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "-v") == 0)
            verbose = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--confine") == 0)
            confine();
    }
    for (; i < argc; i++)
        run_file(argv[i]);
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed != 0;
}
