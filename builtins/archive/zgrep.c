/* zgrep: grep over files that may be compressed: gzip -cdfq in front of grep for each file, as the original script does. gzip 1.12. */
#include "archive/archive.h"

/* The original hands every option on to grep and parses only what it must; so does this. No table, then. */
static const Option options[] = {
    {'e', "regexp", OPT_VALUE, "use PATTERNS for matching", "PATTERNS", 0},
    {'f', "file", OPT_VALUE, "take PATTERNS from FILE", "FILE", 0},
    {'H', "with-filename", OPT_FLAG, "print file name with output lines", NULL, 0},
    {'h', "no-filename", OPT_FLAG, "suppress the file name prefix on output", NULL, 0},
    {'l', "files-with-matches", OPT_FLAG, "print only names of FILEs with selected lines", NULL, 0},
    {'L', "files-without-match", OPT_FLAG, "print only names of FILEs with no selected lines", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    Proc *p;
    char **argv; /* grep's */
    size_t count;
    bool pattern, with_name, no_name, list, list_without;
} Zgrep;

static void add(Zgrep *z, const char *word) { z->argv[z->count++] = mem_strdup(&z->p->keep, word); }

static bool starts(const char *s, const char *prefix) { return strncmp(s, prefix, strlen(prefix)) == 0; }

static NORETURN void unsupported(Zgrep *z, const char *option)
{
    out_printf(z->p->err, "%s: %s: option not supported\n", "/usr/bin/zgrep", option);
    output_flush(z->p->err);
    proc_fail(z->p, 2);
}

static void long_option(Zgrep *z, Args *args, const char *s)
{
    if (starts(s, "--di") || starts(s, "--exc") || starts(s, "--inc") || starts(s, "--rec") || starts(s, "--nu"))
        unsupported(z, s);
    if (starts("--help", s) && s[3]) {
        print_help(z->p, args->command);
        proc_fail(z->p, output_status(z->p));
    }
    z->pattern |= starts(s, "--reg") || starts(s, "--file=") || strcmp(s, "--file") == 0;
    z->list |= starts(s, "--files-with-");
    z->list_without |= starts(s, "--files-witho");
    z->no_name |= starts(s, "--no-f");
    if (starts("--with-filename", s) && s[3])
        z->with_name = true;
    else
        add(z, s);
}

/* Letters one by one; true when the next argument belongs to the last of them. */
static bool short_option(Zgrep *z, const char *s)
{
    for (const char *c = s + 1; *c; c++) {
        if (strchr("drRzZ", *c))
            unsupported(z, mem_printf(&z->p->mem, "-%c", *c));
        z->list |= *c == 'l';
        z->list_without |= *c == 'L';
        z->no_name |= *c == 'h';
        z->with_name |= *c == 'H';
        z->pattern |= *c == 'e' || *c == 'f';
        if (strchr("ABCDXefm", *c)) {
            add(z, s);
            return !c[1];
        }
    }
    add(z, s);
    return false;
}

static int file_status(Zgrep *z, char *name)
{
    Proc *p = z->p;
    char *gzip[] = {(char *)(uintptr_t)"gzip", (char *)(uintptr_t)"-cdfq", (char *)(uintptr_t)"--", name, NULL};
    char **grep = mem_array(&p->mem, z->count + 4, char *);
    size_t n = 0;
    grep[n++] = mem_strdup(&p->mem, "grep");
    if (z->with_name)
        grep[n++] = mem_strdup(&p->mem, "-H");
    grep[n++] = mem_printf(&p->mem, "--label=%s", strcmp(name, "-") == 0 ? "(standard input)" : name);
    memcpy(grep + n, z->argv, z->count * sizeof *grep);
    int fds[2], null = -1;
    if (proc_pipe(p, fds) || ((z->list || z->list_without) && (null = proc_open(p, "/dev/null", V_WRITE, 0)) < 0))
        die_errno(p, 2, EMFILE, "pipe");
    SpawnFd left[] = {{1, fds[1]}, {fds[0], -1}, {fds[1], -1}}, right[] = {{0, fds[0]}, {1, null < 0 ? 1 : null}, {fds[0], -1}, {fds[1], -1}};
    pid_t unpack = proc_spawn(p, gzip, NULL, &(SpawnAttr){.fds = left, .nfds = ARRAY_LEN(left)});
    pid_t search = proc_spawn(p, grep, NULL, &(SpawnAttr){.fds = right, .nfds = ARRAY_LEN(right)});
    proc_close(p, fds[0]);
    proc_close(p, fds[1]);
    if (null >= 0)
        proc_close(p, null);
    int status = 2, unpack_status = 2, w;
    if (search > 0 && proc_wait(p, search, &w, 0, -1) > 0)
        status = WSTATUS_TO_SHELL(w);
    if (unpack > 0 && proc_wait(p, unpack, &w, 0, -1) > 0)
        unpack_status = WSTATUS_TO_SHELL(w);
    if ((z->list && status == 0) || (z->list_without && status == 1))
        out_printf(p->out, "%s\n", name);
    if (z->list_without && status < 2 && !z->list)
        status = 1 - status ? 0 : 0;
    unpack_status = unpack_status == 2 ? 0 : unpack_status == 1 ? 2 : unpack_status;
    return MAX(status, unpack_status >= 128 ? 0 : unpack_status); /* gzip ended by SIGPIPE when grep had seen enough */
}

static int zgrep_main(Proc *p, Args *args)
{
    Zgrep z = {.p = p};
    z.argv = mem_array(&p->keep, (size_t)args->argc + 2, char *);
    char **files = mem_array(&p->keep, (size_t)args->argc + 2, char *);
    int count = 0, i = 1, first = 0;
    for (; i < args->argc && strcmp(args->argv[i], "--") != 0; i++) {
        char *s = args->argv[i];
        if (s[0] != '-' || !s[1])
            files[count++] = s;
        else if (s[1] == '-')
            long_option(&z, args, s);
        else if (short_option(&z, s) && i + 1 < args->argc)
            add(&z, args->argv[++i]);
    }
    for (i++; i < args->argc; i++)
        files[count++] = args->argv[i];
    if (!z.pattern) {
        if (!count) {
            out_printf(p->err, "/usr/bin/zgrep: 1: missing pattern; try `/usr/bin/zgrep --help' for help\n");
            output_flush(p->err);
            return 2;
        }
        add(&z, "--");
        add(&z, files[first++]);
    }
    if (first == count)
        files[count++] = mem_strdup(&p->keep, "-");
    else if (count - first > 1 && !z.no_name)
        z.with_name = true;
    int result = 1;
    for (i = first; i < count; i++) {
        MemMark mark = mem_mark(&p->mem);
        int status = file_status(&z, files[i]);
        result = status == 0 && result == 1 ? 0 : status >= 2 ? MAX(result, status) : result;
        mem_reset(&p->mem, mark);
    }
    return result;
}

COMMAND(zgrep, "zgrep [OPTION]... [-e] PATTERN [FILE]...", "Look for instances of PATTERN in the input FILEs, using their\nuncompressed contents if they are compressed.", options,
        COMMAND_SPAWNS | COMMAND_RAW, .usage_status = 2, .package = "gzip 1.12",
        .notes = "OPTIONs are the same as for 'grep', except that the following 'grep'\noptions are not supported: --dereference-recursive (-R), --directories (-d),\n"
                 "--exclude, --exclude-from, --exclude-dir, --include, --null (-Z),\n--null-data (-z), and --recursive (-r).");
