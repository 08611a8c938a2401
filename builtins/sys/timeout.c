/* timeout: run a program with a time limit. GNU coreutils 9.1. The program gets a coroutine and a process group of its own. */
#include "command.h"
#include "shared.h"

enum { OPT_FOREGROUND = 256, OPT_PRESERVE, SIGNAL_TERM = 15, SIGNAL_KILL = 9, SIGNAL_CONT = 18 };

static const Option options[] = {
    {0, "preserve-status", OPT_FLAG, "exit with the same status as COMMAND, even when the command times out", NULL, OPT_PRESERVE},
    {0, "foreground", OPT_FLAG, "do not give the command a group of its own", NULL, OPT_FOREGROUND},
    {'k', "kill-after", OPT_VALUE, "also send a KILL signal if COMMAND is still running this long after the initial signal was sent", "DURATION", 0},
    {'s', "signal", OPT_VALUE, "specify the signal to be sent on timeout", "SIGNAL", 0},
    {'v', "verbose", OPT_FLAG, "diagnose to stderr any signal sent upon timeout", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    bool preserve, verbose;
    double after, kill_after;
    int signal;
} Timeout;

static double duration(Proc *p, Args *args, const char *text)
{
    double s;
    if (!parse_duration(text, &s))
        usage_fail(p, args, "invalid time interval %s", quote(p, text));
    return s;
}

static int64_t nanoseconds(double s) { return s <= 0 || s >= 9e9 ? -1 : (int64_t)(s * 1e9); }

static void send(Proc *p, const Timeout *t, pid_t pid, int signal, const char *command)
{
    if (t->verbose)
        warn(p, "sending signal %s to command %s", signal_short_name(signal), quote(p, command));
    proc_kill(p, pid, signal);
}

static int wait_for(Proc *p, const Timeout *t, pid_t pid, const char *command)
{
    int wstatus = 0;
    bool timed_out = false;
    pid_t r = proc_wait(p, pid, &wstatus, 0, nanoseconds(t->after));
    if (r == -ETIMEDOUT) {
        timed_out = true;
        send(p, t, pid, t->signal, command);
        r = proc_wait(p, pid, &wstatus, 0, nanoseconds(t->kill_after));
    }
    bool killed = r == -ETIMEDOUT;
    if (killed) {
        send(p, t, pid, SIGNAL_KILL, command);
        proc_wait(p, pid, &wstatus, 0, -1);
    }
    if (timed_out && !t->preserve)
        return killed || t->signal == SIGNAL_KILL ? 137 : 124;
    return WSTATUS_TO_SHELL(wstatus);
}

static int timeout_main(Proc *p, Args *args)
{
    Timeout t = {.signal = SIGNAL_TERM};
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == OPT_PRESERVE)
            t.preserve = true;
        else if (id == 'v')
            t.verbose = true;
        else if (id == 'k')
            t.kill_after = duration(p, args, args->value);
        else if (id == 's' && (t.signal = signal_from_name(args->value)) < 0)
            usage_fail(p, args, "%s: invalid signal", quote(p, args->value));
    }
    int n;
    char **v = args_operands(args, &n);
    if (n < 2)
        usage_hint(p, args);
    t.after = duration(p, args, v[0]);
    pid_t pid = proc_spawn(p, v + 1, NULL, NULL);
    if (pid < 0) {
        warn_errno(p, pid, "failed to run command %s", quote(p, v[1]));
        return pid == -ENOENT ? 127 : 126;
    }
    return wait_for(p, &t, pid, v[1]);
}

COMMAND(timeout, "timeout [OPTION] DURATION COMMAND [ARG]...", "Start COMMAND, and kill it if still running after DURATION.", options, COMMAND_SPAWNS | COMMAND_ORDERED, .usage_status = 125);
