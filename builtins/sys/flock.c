/* flock, logger: locks on files of the shell, lines for the embedder's log. util-linux 2.38. */
#include "command.h"

static const Option flock_options[] = {
    {'s', "shared", OPT_FLAG, "get a shared lock", NULL, 's'},
    {'x', "exclusive", OPT_FLAG, "get an exclusive lock (default)", NULL, 'x'},
    {'e', NULL, OPT_FLAG, NULL, NULL, 'x'},
    {'u', "unlock", OPT_FLAG, "remove a lock", NULL, 'u'},
    {'n', "nonblock", OPT_FLAG, "fail rather than wait", NULL, 'n'},
    {0, "nb", OPT_FLAG, NULL, NULL, 'n'},
    {'w', "timeout", OPT_VALUE, "wait for a limited amount of time", "secs", 'w'},
    {'E', "conflict-exit-code", OPT_VALUE, "exit code after conflict or timeout", "number", 'E'},
    {'o', "close", OPT_FLAG, "close file descriptor before running command", NULL, 'o'},
    {'c', "command", OPT_FLAG, "run a single command string through the shell", NULL, 'c'},
    {'F', "no-fork", OPT_FLAG, "execute command without forking", NULL, 'F'},
    {0, "verbose", OPT_FLAG, "increase verbosity", NULL, 256},
    OPTION_HELP('h'),
    OPTION_VERSION('V'),
    OPTIONS_END,
};

enum { NO_INPUT = 66, CANNOT_CREATE = 73, SOFTWARE = 64 };

typedef struct Flock {
    FlockMode mode;
    int64_t wait;
    int64_t conflict;
    bool close, verbose;
} Flock;

static int open_lock(Proc *p, const char *name)
{
    int fd = proc_open(p, name, V_READ | V_CREATE, 0666);
    if (fd == -EISDIR)
        fd = proc_open(p, name, V_READ, 0);
    if (fd < 0)
        die_errno(p, fd == -ENOENT || fd == -EACCES ? NO_INPUT : CANNOT_CREATE, fd, "cannot open lock file %s", name);
    return fd;
}

static int run_locked(Proc *p, const Flock *f, int fd, char **command, int n)
{
    SpawnFd closing = {fd, -1};
    SpawnAttr attr = {.fds = &closing, .nfds = f->close ? 1 : 0};
    bool text = n && (strcmp(command[0], "-c") == 0 || strcmp(command[0], "--command") == 0);
    if (text && n != 2)
        die(p, SOFTWARE, "%s requires exactly one command argument", command[0]);
    const char *shell = proc_getenv(p, "SHELL");
    char *through[] = {mem_strdup(&p->keep, shell && *shell ? shell : "/bin/sh"), mem_strdup(&p->keep, "-c"), text ? command[1] : NULL, NULL};
    int r = proc_run(p, text ? through : command, NULL, &attr);
    if (r < 0)
        die_errno(p, r == -ENOMEM ? 71 : 69, r, "failed to execute %s", text ? through[0] : command[0]);
    return WSTATUS_TO_SHELL(r);
}

static int flock_main(Proc *p, Args *args)
{
    Flock f = {.mode = FLOCK_EXCLUSIVE, .wait = -1, .conflict = 1};
    double seconds;
    for (int id; (id = args_next(p, args)) >= 0;) {
        switch (id) {
        case 's': f.mode = FLOCK_SHARED; break;
        case 'x': f.mode = FLOCK_EXCLUSIVE; break;
        case 'u': f.mode = FLOCK_UNLOCK; break;
        case 'n': f.wait = 0; break;
        case 'w':
            if (!parse_duration(args->value, &seconds))
                die(p, SOFTWARE, "invalid timeout value: '%s'", args->value);
            f.wait = seconds > 9e9 ? -1 : (int64_t)(seconds * 1e9);
            break;
        case 'E':
            if (parse_int(args->value, &f.conflict) || f.conflict < 0 || f.conflict > 255)
                die(p, SOFTWARE, "exit code out of range (expected 0 to 255)");
            break;
        case 'o': f.close = true; break;
        case 256: f.verbose = true; break;
        case 'c': die(p, SOFTWARE, "bad file descriptor: '-c'");
        default: break;
        }
    }
    int n;
    char **v = args_operands(args, &n);
    int64_t number;
    if (!n) {
        warn(p, "not enough arguments");
        usage_hint(p, args);
    }
    bool descriptor = n == 1;
    int fd;
    if (descriptor) {
        if (parse_int(v[0], &number) || number < 0 || number > INT32_MAX)
            die(p, SOFTWARE, "bad file descriptor: '%s'", v[0]);
        fd = (int)number;
    } else {
        fd = open_lock(p, v[0]);
    }
    int err = proc_flock(p, fd, f.mode, f.wait);
    if (err == -EWOULDBLOCK) {
        if (f.verbose)
            warn(p, f.wait ? "timeout while waiting to get lock" : "failed to get lock");
        return (int)f.conflict;
    }
    if (err)
        die_errno(p, 65, err, "%s", v[0]);
    return descriptor ? 0 : run_locked(p, &f, fd, v + 1, n - 1);
}

COMMAND(flock, "flock [options] <file>|<directory> <command> [<argument>...]\nflock [options] <file>|<directory> -c <command>\nflock [options] <file descriptor number>",
        "Manage file locks from shell scripts.", flock_options, COMMAND_ORDERED | COMMAND_SPAWNS | COMMAND_WRITES, .usage_status = 64, .package = "util-linux 2.38");

static const Option logger_options[] = {
    {'i', NULL, OPT_FLAG, "log the logger command's PID", NULL, 'i'},
    {'e', "skip-empty", OPT_FLAG, "do not log empty lines when processing files", NULL, 'e'},
    {'f', "file", OPT_VALUE, "log the contents of this file", "file", 'f'},
    {'p', "priority", OPT_VALUE, "mark given message with this priority", "prio", 'p'},
    {'s', "stderr", OPT_FLAG, "output message to standard error as well", NULL, 's'},
    {'t', "tag", OPT_VALUE, "mark every line with this tag", "tag", 't'},
    {0, "no-act", OPT_FLAG, "do everything except the write the log", NULL, 256},
    OPTIONS_END,
};

/* "user.notice", "local0.err", "3"; -1: unknown. */
static int priority(const char *text)
{
    static const char *const levels[] = {"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"};
    static const char *const facilities[] = {"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "", "", "", "", "local0", "local1", "local2", "local3", "local4", "local5",
                                             "local6", "local7"};
    const char *dot = strchr(text, '.'), *level = dot ? dot + 1 : text;
    int facility = dot ? -1 : 1;
    for (int i = 0; dot && i < (int)ARRAY_LEN(facilities); i++)
        if (strlen(facilities[i]) == (size_t)(dot - text) && strncmp(facilities[i], text, (size_t)(dot - text)) == 0 && *facilities[i])
            facility = i;
    if (strcmp(level, "error") == 0 || strcmp(level, "warn") == 0 || strcmp(level, "panic") == 0)
        level = *level == 'e' ? "err" : *level == 'w' ? "warning" : "emerg";
    for (int i = 0; i < 8; i++)
        if (strcmp(level, levels[i]) == 0)
            return facility < 0 ? -1 : facility * 8 + i;
    return -1;
}

static NORETURN void die_priority(Proc *p, const char *text)
{
    const char *dot = strchr(text, '.');
    const char *facility = dot ? mem_printf(&p->mem, "%.*s.info", (int)(dot - text), text) : NULL;
    if (facility && priority(facility) < 0)
        die(p, 1, "unknown facility name: %.*s", (int)(dot - text), text);
    die(p, 1, "unknown priority name: %s", dot ? dot + 1 : text);
}

typedef struct Log {
    Proc *p;
    const char *tag;
    int priority;
    bool pid, echo, skip_empty, quiet;
} Log;

static void log_line(const Log *l, Slice line)
{
    Proc *p = l->p;
    if (l->skip_empty && !line.len)
        return;
    const char *text = mem_copy(&p->mem, line);
    const char *tag = l->pid ? mem_printf(&p->mem, "%s[%d]", l->tag, (int)p->pid) : l->tag;
    if (!l->quiet)
        proc_log(p, tag, text, l->priority);
    if (l->echo) {
        out_printf(p->err, "<%d>%s: %s\n", l->priority, tag, text);
        output_flush(p->err);
    }
}

static int logger_main(Proc *p, Args *args)
{
    const char *user = proc_getenv(p, "LOGNAME"), *file = NULL;
    Log l = {.p = p, .tag = user ? user : "agent", .priority = 13};
    for (int id; (id = args_next(p, args)) >= 0;) {
        switch (id) {
        case 'i': l.pid = true; break;
        case 'e': l.skip_empty = true; break;
        case 'f': file = args->value; break;
        case 'p':
            l.priority = priority(args->value);
            if (l.priority < 0)
                die_priority(p, args->value);
            break;
        case 's': l.echo = true; break;
        case 't': l.tag = args->value; break;
        default: l.quiet = true; break;
        }
    }
    int n;
    char **v = args_operands(args, &n);
    if (n) {
        Buf b;
        buf_init(&b, &p->keep, BUF_MAX);
        for (int i = 0; i < n; i++)
            buf_printf(&b, "%s%s", i ? " " : "", v[i]);
        log_line(&l, buf_slice(&b));
        return 0;
    }
    char *names[] = {mem_strdup(&p->keep, file ? file : "-"), NULL};
    Input in = input_files(p, names, 1);
    in.open_format = "file %s";
    Slice record;
    bool ended;
    for (; input_open(&in); input_next(&in))
        while (input_record(&in, &record, &ended)) {
            MemMark m = mem_mark(&p->mem);
            log_line(&l, record);
            mem_reset(&p->mem, m);
        }
    return input_status(&in);
}

COMMAND(logger, "logger [options] [<message>]", "Enter messages into the embedder's log.", logger_options, 0, .package = "util-linux 2.38",
        .notes = "A message is an event of the shell's audit; there is no system log.");
