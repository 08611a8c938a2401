/* time: run programs and summarize system resource usage. GNU time 1.9. What the library cannot know of a program (pages, switches) is 0. */
#include "command.h"

static const Option options[] = {
    {'a', "append", OPT_FLAG, "with -o FILE, append instead of overwriting", NULL, 0},
    {'f', "format", OPT_VALUE, "use the specified FORMAT instead of the default", "FORMAT", 0},
    {'o', "output", OPT_VALUE, "write to FILE instead of STDERR", "FILE", 0},
    {'p', "portability", OPT_FLAG, "print POSIX standard 1003.2 conformant string", NULL, 0},
    {'q', "quiet", OPT_FLAG, "do not print information about abnormal program termination (non-zero exit codes or signals)", NULL, 0},
    {'v', "verbose", OPT_FLAG, "print all resource usage information", NULL, 0},
    OPTION_VERSION('V'),
    OPTIONS_END,
};

static const char default_format[] = "%Uuser %Ssystem %Eelapsed %PCPU (%Xavgtext+%Davgdata %Mmaxresident)k\n%Iinputs+%Ooutputs (%Fmajor+%Rminor)pagefaults %Wswaps";
static const char posix_format[] = "real %e\nuser %U\nsys %S";
static const char long_format[] =
    "\tCommand being timed: \"%C\"\n\tUser time (seconds): %U\n\tSystem time (seconds): %S\n\tPercent of CPU this job got: %P\n\tElapsed (wall clock) time (h:mm:ss or m:ss): %E\n"
    "\tAverage shared text size (kbytes): %X\n\tAverage unshared data size (kbytes): %D\n\tAverage stack size (kbytes): %p\n\tAverage total size (kbytes): %K\n\tMaximum resident set size (kbytes): %M\n"
    "\tAverage resident set size (kbytes): %t\n\tMajor (requiring I/O) page faults: %F\n\tMinor (reclaiming a frame) page faults: %R\n\tVoluntary context switches: %w\n\tInvoluntary context switches: %c\n"
    "\tSwaps: %W\n\tFile system inputs: %I\n\tFile system outputs: %O\n\tSocket messages sent: %s\n\tSocket messages received: %r\n\tSignals delivered: %k\n\tPage size (bytes): %Z\n\tExit status: %x";

typedef struct {
    char **command;
    int status;
    uint64_t real, user, sys; /* nanoseconds */
} Used;

static void put_seconds(Buf *b, uint64_t ns) { buf_printf(b, "%llu.%02llu", (unsigned long long)(ns / 1000000000), (unsigned long long)(ns / 10000000 % 100)); }

static void put_elapsed(Buf *b, uint64_t ns)
{
    uint64_t s = ns / 1000000000;
    if (s >= 3600)
        buf_printf(b, "%llu:%02llu:%02llu", (unsigned long long)(s / 3600), (unsigned long long)(s / 60 % 60), (unsigned long long)(s % 60));
    else
        buf_printf(b, "%llu:%02llu.%02llu", (unsigned long long)(s / 60), (unsigned long long)(s % 60), (unsigned long long)(ns / 10000000 % 100));
}

static void put_value(Buf *b, const Used *u, char c)
{
    switch (c) {
    case '%': buf_char(b, '%'); break;
    case 'C':
        for (char **v = u->command; *v; v++)
            buf_printf(b, "%s%s", v == u->command ? "" : " ", *v);
        break;
    case 'e': put_seconds(b, u->real); break;
    case 'E': put_elapsed(b, u->real); break;
    case 'U': put_seconds(b, u->user); break;
    case 'S': put_seconds(b, u->sys); break;
    case 'P':
        if (u->real)
            buf_printf(b, "%llu%%", (unsigned long long)((u->user + u->sys) * 100 / u->real));
        else
            buf_append(b, SLICE("?%"));
        break;
    case 'Z': buf_append(b, SLICE("4096")); break;
    case 'x': buf_printf(b, "%d", u->status & 127 ? 0 : u->status >> 8 & 255); break;
    default:
        if (c && strchr("DFIKMORWXcdkprstw", c))
            buf_char(b, '0');
        else
            buf_printf(b, "?%c", c);
        break;
    }
}

static void put_report(Buf *b, const Used *u, const char *format)
{
    for (const char *s = format; *s; s++) {
        if (*s == '%' && s[1]) {
            put_value(b, u, *++s);
        } else if (*s == '%') {
            buf_char(b, '?');
            return;
        } else if (*s == '\\' && s[1]) {
            s++;
            if (*s == 't' || *s == 'n' || *s == '\\')
                buf_char(b, *s == 't' ? '\t' : *s == 'n' ? '\n' : '\\');
            else
                buf_printf(b, "?\\%c", *s);
        } else {
            buf_char(b, *s);
        }
    }
    buf_char(b, '\n');
}

static void put_ending(Buf *b, int status)
{
    if (status & 127)
        buf_printf(b, "Command terminated by signal %d\n", status & 127);
    else if (status >> 8 & 255)
        buf_printf(b, "Command exited with non-zero status %d\n", status >> 8 & 255);
}

static int open_report(Proc *p, const char *file, bool append)
{
    if (!file)
        return 2;
    int fd = proc_open(p, file, V_WRITE | V_CREATE | (append ? V_APPEND : V_TRUNC), 0666);
    if (fd < 0)
        die_errno(p, 1, fd, "%s", file);
    return fd;
}

static int time_main(Proc *p, Args *args)
{
    const char *format = proc_getenv(p, "TIME"), *file = NULL;
    bool append = false, quiet = false;
    if (!format)
        format = default_format;
    for (int id; (id = args_next(p, args)) != -1;) {
        switch (id) {
        case 'a': append = true; break;
        case 'f': format = args->value; break;
        case 'o': file = args->value; break;
        case 'p': format = posix_format; break;
        case 'q': quiet = true; break;
        case 'v': format = long_format; break;
        default: break;
        }
    }
    int n;
    char **v = args_operands(args, &n);
    if (!n)
        usage_fail(p, args, "missing program to run");
    int fd = open_report(p, file, append);
    Used u = {.command = v};
    ProcTimes before = proc_times(p);
    int64_t start = proc_monotonic(p);
    u.status = proc_run(p, v, NULL, NULL);
    u.real = (uint64_t)(proc_monotonic(p) - start);
    ProcTimes after = proc_times(p);
    u.user = after.user_ns + after.child_user_ns - before.user_ns - before.child_user_ns;
    u.sys = after.sys_ns + after.child_sys_ns - before.sys_ns - before.child_sys_ns;
    if (u.status < 0) {
        warn_errno(p, u.status, "cannot run %s", v[0]);
        u.status = WSTATUS_EXIT(u.status == -ENOENT ? 127 : 126);
    }
    Buf b;
    buf_init(&b, &p->keep, BUF_MAX);
    if (!quiet)
        put_ending(&b, u.status);
    put_report(&b, &u, format);
    output_flush(p->out);
    proc_write(p, fd, buf_slice(&b));
    return WSTATUS_TO_SHELL(u.status);
}

COMMAND(time, "time [OPTIONS] COMMAND [ARG]...", "Run COMMAND, then print system resource usage.", options, COMMAND_SPAWNS | COMMAND_ORDERED, .usage_status = 125, .package = "GNU time 1.9");
