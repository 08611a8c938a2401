/* jobs, fg, bg, disown, wait, kill. */
#include "shell.h"

#include <signal.h>

/* ---- jobs ---- */

typedef struct JobsOptions { bool pids, longer, running, stopped, changed; } JobsOptions;

static void print_job(Proc *p, const Job *j, const JobsOptions *o)
{
    if (o->pids)
        out_printf(p->out, "%d\n", (int)j->pid);
    else
        job_print(p->out, j, o->longer);
}

static bool shown(const Job *j, const JobsOptions *o)
{
    return !j->disowned && (!o->running || j->state == JOB_RUNNING) && (!o->stopped || j->state == JOB_STOPPED) &&
           (!o->changed || !j->notified);
}

static void print_and_forget(Proc *p, Job *j, const JobsOptions *o)
{
    if (!shown(j, o))
        return;
    print_job(p, j, o);
    if (j->state == JOB_DONE)
        job_remove(interp_of(p), j);
}

static Job *find(Proc *p, Args *args, const char *spec)
{
    int error = 0;
    Job *j = job_find(interp_of(p), slice_str(spec), &error);
    if (!j)
        shell_fail(p, args, error == -EINVAL ? "%s: ambiguous job spec" : "%s: no such job", spec);
    return j;
}

static int jobs_main(Proc *p, Args *args)
{
    JobsOptions o = {0};
    for (int c; (c = shell_option(p, args, "lnprsx")) != -1;) {
        switch (c) {
        case 'l': o.longer = true; break;
        case 'n': o.changed = true; break;
        case 'p': o.pids = true; break;
        case 'r': o.running = true; break;
        case 's': o.stopped = true; break;
        case 'x':
            trap_debug(interp_of(p)); /* what it runs is a command of its own */
            return args->at < args->argc ? run_words(interp_of(p), args->argc - args->at, args->argv + args->at, 0) : 0;
        default: return SHELL_USAGE;
        }
    }
    int status = 0;
    for (int i = args->at; i < args->argc; i++) {
        Job *j = find(p, args, args->argv[i]);
        if (j)
            print_and_forget(p, j, &o);
        else
            status = 1;
    }
    if (args->at < args->argc)
        return status;
    size_t count;
    Job *list = job_list(interp_of(p), &count);
    /* The list is a copy or shrinks as jobs go: numbers stay. */
    int *numbers = mem_array(&p->mem, count, int);
    for (size_t i = 0; i < count; i++)
        numbers[i] = list[i].number;
    for (size_t i = 0; i < count; i++) {
        int error;
        char *spec = mem_printf(&p->mem, "%%%d", numbers[i]);
        Job *j = job_find(interp_of(p), slice_str(spec), &error);
        if (j)
            print_and_forget(p, j, &o);
    }
    return 0;
}

/* ---- fg, bg ---- */

/* The job that a word names; without one, the current job. */
static Job *job_of_operand(Proc *p, Args *args, int at)
{
    int error;
    if (at < args->argc)
        return find(p, args, args->argv[at]);
    Job *j = job_find(interp_of(p), SLICE("%+"), &error);
    if (!j)
        shell_fail(p, args, "current: no such job");
    return j;
}

static int fg_main(Proc *p, Args *args)
{
    if (!job_control(interp_of(p)))
        return shell_fail(p, args, "no job control");
    if (shell_option(p, args, "") == '?')
        return SHELL_USAGE;
    Job *j = job_of_operand(p, args, args->at);
    if (!j)
        return 1;
    out_printf(p->out, "%s\n", j->command);
    pid_t pid = j->pid;
    job_was_fg(interp_of(p), j->number);
    j->notified = true;
    int error, status = job_wait_pid(interp_of(p), pid);
    Job *ended = job_find(interp_of(p), slice_str(mem_printf(&p->mem, "%d", (int)pid)), &error);
    if (ended && ended->state == JOB_DONE)
        job_remove(interp_of(p), ended);
    return status;
}

static int bg_main(Proc *p, Args *args)
{
    int status = 0, at;
    if (!job_control(interp_of(p)))
        return shell_fail(p, args, "no job control");
    if (shell_option(p, args, "") == '?')
        return SHELL_USAGE;
    at = args->at;
    do {
        Job *j = job_of_operand(p, args, at);
        if (j)
            shell_fail(p, args, "job %d already in background", j->number);
        else
            status = 1;
    } while (++at < args->argc);
    return status;
}

static int disown_main(Proc *p, Args *args)
{
    bool all = false, keep = false;
    for (int c; (c = shell_option(p, args, "ahr")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        all |= c == 'a' || c == 'r';
        keep |= c == 'h';
    }
    if (keep)
        return 0;
    int status = 0;
    for (int i = args->at; i < args->argc; i++) {
        Job *j = find(p, args, args->argv[i]);
        if (j)
            job_remove(interp_of(p), j);
        else
            status = 1;
    }
    if (args->at < args->argc)
        return status;
    int error;
    size_t count;
    job_list(interp_of(p), &count);
    if (!count)
        return shell_fail(p, args, "current: no such job");
    for (Job *j; (j = job_find(interp_of(p), SLICE("%+"), &error)); job_remove(interp_of(p), j))
        if (!all) {
            job_remove(interp_of(p), j);
            break;
        }
    return 0;
}

/* ---- wait ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_pid(const char *s, pid_t *pid)
{
    int64_t n;
    if (!is_digit(*s) || !shell_number(s, &n) || n > INT32_MAX)
        return false;
    *pid = (pid_t)n;
    return true;
}

static void set_pid(Proc *p, const char *variable, pid_t pid)
{
    char digits[24];
    size_t n;
    const char *at = format_int(pid, digits, &n);
    if (variable)
        var_set_ref(interp_of(p), slice_str(variable), slice(at, n));
}

static int wait_word(Proc *p, Args *args, const char *word, const char *variable)
{
    pid_t pid;
    if (is_pid(word, &pid)) {
        int status = job_wait_pid(interp_of(p), pid);
        if (status == -ECHILD) {
            shell_fail(p, args, "pid %d is not a child of this shell", (int)pid);
            return 127;
        }
        set_pid(p, variable, pid);
        return status;
    }
    if (*word != '%') {
        shell_fail(p, args, "`%s': not a pid or valid job spec", word);
        return 1;
    }
    Job *j = find(p, args, word);
    if (!j)
        return 127;
    set_pid(p, variable, j->pid);
    return job_wait(interp_of(p), j);
}

static int wait_any(Proc *p, Args *args, const char *variable)
{
    size_t n = 0;
    pid_t *pids = mem_array(&p->mem, (size_t)args->argc + 1, pid_t), pid = 0;
    for (int i = args->at; i < args->argc; i++) {
        Job *j = find(p, args, args->argv[i]);
        if (j)
            pids[n++] = j->pid;
    }
    if (!n && args->at < args->argc)
        return 127;
    int status = job_wait_any(interp_of(p), pids, n, &pid);
    if (status == -ECHILD)
        return 127;
    set_pid(p, variable, pid);
    return status;
}

static int wait_all(Proc *p)
{
    return job_wait_all(interp_of(p));
}

static int wait_main(Proc *p, Args *args)
{
    const char *variable = NULL;
    bool any = false;
    for (int c; (c = shell_option(p, args, "fnp:")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        any |= c == 'n';
        variable = c == 'p' ? args->value : variable;
    }
    if (variable)
        var_unset(interp_of(p), slice_str(variable));
    if (any)
        return wait_any(p, args, variable);
    if (args->at >= args->argc)
        return wait_all(p);
    int status = 0;
    pid_t pid;
    for (int i = args->at; i < args->argc; i++) {
        const char *word = args->argv[i];
        status = wait_word(p, args, word, variable);
        if (is_digit(*word) && !is_pid(word, &pid)) /* what begins as a number and is none ends it */
            break;
    }
    return status;
}

/* ---- kill ---- */

static const char *short_name(int number)
{
    const char *name = number > 0 && number < 65 ? signal_name(number) : NULL;
    return name && strncmp(name, "SIG", 3) == 0 ? name + 3 : name;
}

static int list_signals(Proc *p)
{
    int column = 0;
    for (int n = 1; n < 65; n++) {
        const char *name = n == 32 || n == 33 ? NULL : signal_name(n);
        if (!name)
            continue;
        out_printf(p->out, "%2d) %s%c", n, name, ++column % 5 ? '\t' : '\n');
    }
    if (column % 5)
        out_char(p->out, '\n');
    return 0;
}

static int list_named(Proc *p, Args *args, int first)
{
    int status = 0;
    for (int i = first; i < args->argc; i++) {
        int64_t n;
        if (shell_number(args->argv[i], &n)) {
            const char *name = n == 0 ? "EXIT" : short_name((int)(n > 128 && n < 256 ? n - 128 : n));
            if (name)
                out_printf(p->out, "%s\n", name);
            else
                status = shell_fail(p, args, "%s: invalid signal specification", args->argv[i]);
            continue;
        }
        int number = signal_number(slice_str(args->argv[i]));
        if (number < 0)
            status = shell_fail(p, args, "%s: invalid signal specification", args->argv[i]);
        else
            out_printf(p->out, "%d\n", number > 64 ? (number == TRAP_DEBUG ? 65 : number == TRAP_ERR ? 66 : 67) : number);
    }
    return status;
}

static int kill_pid(Proc *p, Args *args, const char *word, int64_t pid, int number)
{
    if (p->lang)
        signal_self(interp_of(p), (pid_t)pid, number);
    int error = proc_kill(p, (pid_t)pid, number);
    if (!error)
        return 0;
    return shell_fail(p, args, "(%s) - %s", word, error_text(error));
}

static int kill_word(Proc *p, Args *args, const char *word, int number)
{
    int64_t pid;
    if (shell_number(word, &pid))
        return kill_pid(p, args, word, pid, number);
    if (*word != '%' || !p->lang)
        return shell_fail(p, args, "%s: arguments must be process or job IDs", word);
    Job *j = find(p, args, word);
    if (!j)
        return 1;
    for (size_t i = 0; i < j->npids; i++)
        proc_kill(p, j->pids[i], number);
    return 0;
}

/* -s NAME, -n N, -NAME, -N: *at moves behind. -1 after a message. */
static int signal_option(Proc *p, Args *args, int *at)
{
    int number = SIGTERM;
    while (*at < args->argc && args->argv[*at][0] == '-' && args->argv[*at][1]) {
        const char *s = args->argv[*at];
        if (strcmp(s, "--") == 0) {
            ++*at;
            break;
        }
        const char *spec = s + 1;
        if ((strcmp(s, "-s") == 0 || strcmp(s, "-n") == 0)) {
            if (++*at >= args->argc) {
                shell_fail(p, args, "%s: option requires an argument", s);
                return -1;
            }
            spec = args->argv[*at];
        } else if (s[1] == 's' || s[1] == 'n') {
            spec = signal_number(slice_str(s + 1)) >= 0 ? s + 1 : s + 2;
        }
        number = signal_number(slice_str(spec));
        if (number < 0 || number > 64) {
            shell_fail(p, args, "%s: invalid signal specification", spec);
            return -1;
        }
        ++*at;
        if (spec == s + 1)
            break;
    }
    return number;
}

static int kill_main(Proc *p, Args *args)
{
    int at = 1;
    if (args->argc == 1)
        return shell_usage(p, args);
    if (strcmp(args->argv[1], "-l") == 0 || strcmp(args->argv[1], "-L") == 0)
        return args->argc == 2 ? list_signals(p) : list_named(p, args, 2);
    int number = signal_option(p, args, &at);
    if (number < 0)
        return 1;
    if (strcmp(args->argv[at < args->argc ? at - 1 : 0], "--") != 0 && at < args->argc && strcmp(args->argv[at], "--") == 0)
        at++;
    if (at >= args->argc)
        return shell_usage(p, args);
    bool any = false;
    for (; at < args->argc; at++)
        any |= kill_word(p, args, args->argv[at], number) == 0;
    return any ? 0 : 1;
}

BUILTIN(jobs, "jobs", "jobs [-lnprs] [jobspec ...] or jobs -x command [args]", "Display status of jobs.", SHELL_FLAGS);
BUILTIN(fg, "fg", "fg [job_spec]", "Move job to the foreground.", SHELL_FLAGS);
BUILTIN(bg, "bg", "bg [job_spec ...]", "Move jobs to the background.", SHELL_FLAGS);
BUILTIN(disown, "disown", "disown [-h] [-ar] [jobspec ... | pid ...]", "Remove jobs from current shell.", SHELL_FLAGS);
BUILTIN(wait, "wait", "wait [-fn] [-p var] [id ...]", "Wait for job completion and return exit status.", SHELL_FLAGS);
BUILTIN(kill, "kill", "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]", "Send a signal to a job.",
        COMMAND_SHELL | COMMAND_RAW);
