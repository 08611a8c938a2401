/* misc: let, times, umask, ulimit, caller, exec, and what a shell without a terminal refuses. */
#include "shell.h"


/* ---- let ---- */

static int let_main(Proc *p, Args *args)
{
    int first = args->argc > 1 && strcmp(args->argv[1], "--") == 0 ? 2 : 1;
    int64_t value = 0;
    if (args->argc <= first)
        return shell_fail(p, args, "expression expected");
    for (int i = first; i < args->argc; i++)
        if (!arith_eval_text(interp_of(p), slice_str(args->argv[i]), &value))
            return 1;
    return value ? 0 : 1;
}

/* ---- times ---- */

static void put_time(Proc *p, uint64_t ns, char end)
{
    uint64_t ms = ns / 1000000;
    out_printf(p->out, "%llum%llu.%03llus%c", (unsigned long long)(ms / 60000), (unsigned long long)(ms / 1000 % 60),
               (unsigned long long)(ms % 1000), end);
}

static int times_main(Proc *p, Args *args)
{
    if (shell_option(p, args, "") == '?')
        return SHELL_USAGE;
    ProcTimes t = proc_times(p);
    put_time(p, t.user_ns, ' ');
    put_time(p, t.sys_ns, '\n');
    put_time(p, t.child_user_ns, ' ');
    put_time(p, t.child_sys_ns, '\n');
    return 0;
}

/* ---- umask ---- */

static void put_class(Proc *p, const char *name, unsigned denied)
{
    out_str(p->out, name);
    for (int bit = 0; bit < 3; bit++)
        if (!(denied & (4u >> bit)))
            out_char(p->out, "rwx"[bit]);
}

static void put_symbolic(Proc *p, unsigned mask)
{
    put_class(p, "u=", mask >> 6 & 7);
    put_class(p, ",g=", mask >> 3 & 7);
    put_class(p, ",o=", mask & 7);
    out_char(p->out, '\n');
}

/* u=rwx,go-w on what the mask allows; the mask again. */
static bool symbolic_mask(Proc *p, Args *args, const char *s, unsigned mask, unsigned *result)
{
    unsigned allowed = ~mask & 0777;
    while (*s) {
        unsigned who = 0, bits = 0;
        for (; *s && strchr("ugoa", *s); s++)
            who |= *s == 'u' ? 0700 : *s == 'g' ? 0070 : *s == 'o' ? 0007 : 0777;
        who = who ? who : 0777;
        char op = *s;
        if (op != '=' && op != '+' && op != '-') {
            shell_fail(p, args, "`%c': invalid symbolic mode operator", op);
            return false;
        }
        for (s++; *s && *s != ','; s++) {
            if (!strchr("rwxX", *s)) {
                shell_fail(p, args, "`%c': invalid symbolic mode character", *s);
                return false;
            }
            bits |= *s == 'r' ? 0444 : *s == 'w' ? 0222 : 0111;
        }
        bits &= who;
        allowed = op == '+' ? allowed | bits : op == '-' ? allowed & ~bits : (allowed & ~who) | bits;
        s += *s == ',';
    }
    *result = ~allowed & 0777;
    return true;
}

static int umask_main(Proc *p, Args *args)
{
    bool symbolic = false, reusable = false;
    for (int c; (c = shell_option(p, args, "Sp")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        symbolic |= c == 'S';
        reusable |= c == 'p';
    }
    unsigned mask = p->cred.umask;
    if (args->at >= args->argc) {
        if (reusable)
            out_str(p->out, symbolic ? "umask -S " : "umask ");
        if (symbolic)
            put_symbolic(p, mask);
        else
            out_printf(p->out, "%04o\n", mask);
        return 0;
    }
    const char *s = args->argv[args->at];
    if (*s >= '0' && *s <= '9') {
        unsigned value = 0;
        const char *e = s;
        for (; *e >= '0' && *e <= '7' && value <= 0777; e++)
            value = value * 8 + (unsigned)(*e - '0');
        if (*e || value > 0777)
            return shell_fail(p, args, "%s: octal number out of range", s);
        mask = value;
    } else if (!symbolic_mask(p, args, s, mask, &mask)) {
        return 1;
    }
    p->cred.umask = mask;
    if (symbolic)
        put_symbolic(p, mask);
    return 0;
}

/* ---- ulimit ---- */

typedef struct Resource {
    char letter;
    const char *what, *unit;
    int limit;           /* LimitId, or -1: reported as unlimited */
    uint64_t scale;
} Resource;

static const Resource resources[] = {
    {'R', "real-time non-blocking time", "microseconds, -R", -1, 1}, {'c', "core file size", "blocks, -c", -1, 1},
    {'d', "data seg size", "kbytes, -d", -1, 1},     {'e', "scheduling priority", "-e", -1, 1},
    {'f', "file size", "blocks, -f", LIMIT_FILE_SIZE, 1024}, {'i', "pending signals", "-i", -1, 1},
    {'l', "max locked memory", "kbytes, -l", -1, 1}, {'m', "max memory size", "kbytes, -m", -1, 1},
    {'n', "open files", "-n", LIMIT_FDS, 1},         {'p', "pipe size", "512 bytes, -p", -1, 1},
    {'q', "POSIX message queues", "bytes, -q", -1, 1}, {'r', "real-time priority", "-r", -1, 1},
    {'s', "stack size", "kbytes, -s", -1, 1},        {'t', "cpu time", "seconds, -t", -1, 1},
    {'u', "max user processes", "-u", LIMIT_PROCESSES, 1}, {'v', "virtual memory", "kbytes, -v", LIMIT_MEMORY, 1024},
    {'x', "file locks", "-x", -1, 1},
};

static void put_limit(Proc *p, const Resource *r)
{
    uint64_t value = r->letter == 'p' ? 8 : r->limit >= 0 ? kern_limit(p->kernel, (LimitId)r->limit) / r->scale : 0;
    if (value)
        out_printf(p->out, "%llu\n", (unsigned long long)value);
    else
        out_str(p->out, "unlimited\n");
}

/* Limits are the embedder's: they can be read here, not changed. */
static int ulimit_main(Proc *p, Args *args)
{
    char which = 'f';
    bool all = false;
    for (int c; (c = shell_option(p, args, "SHabcdefiklmnpqrstuvxPRT")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        all |= c == 'a';
        if (c != 'S' && c != 'H' && c != 'a')
            which = (char)c;
    }
    for (size_t i = 0; all && i < ARRAY_LEN(resources); i++) {
        char unit[40];
        size_t n = strlen(resources[i].unit);
        unit[0] = '(';
        memcpy(unit + 1, resources[i].unit, n);
        memcpy(unit + 1 + n, ") ", 3);
        out_printf(p->out, "%-28s%*s", resources[i].what, 14, unit);
        put_limit(p, &resources[i]);
    }
    if (all)
        return 0;
    const Resource *r = NULL;
    for (size_t i = 0; i < ARRAY_LEN(resources); i++)
        if (resources[i].letter == which)
            r = &resources[i];
    if (!r)
        return shell_fail(p, args, "-%c: invalid option", which);
    if (args->at < args->argc) {
        if (strcmp(args->argv[args->at], "unlimited") == 0)
            return 0;
        return shell_fail(p, args, "%s: cannot modify limit: %s", r->what, error_text(EPERM));
    }
    put_limit(p, r);
    return 0;
}

/* ---- caller ---- */

static int caller_main(Proc *p, Args *args)
{
    int64_t level = 0;
    if (shell_option(p, args, "") == '?')
        return SHELL_USAGE;
    bool numbered = args->at < args->argc;
    if (!in_function(interp_of(p)) && !in_sourced_file(interp_of(p)))
        return 1;
    if (numbered && (!shell_number(args->argv[args->at], &level) || level < 0)) {
        shell_fail(p, args, "%s: invalid number", args->argv[args->at]);
        return shell_usage(p, args);
    }
    Slice function, source, ignored;
    uint32_t line, other;
    if (!frame_info(interp_of(p), (size_t)level, &ignored, &source, &line))
        return 1;
    if (!frame_info(interp_of(p), (size_t)level + 1, &function, &source, &other)) {
        if (numbered)
            return 1;
        source = slice_str("NULL");
    }
    if (numbered)
        out_printf(p->out, "%u %.*s %.*s\n", line, (int)function.len, function.data, (int)source.len, source.data);
    else
        out_printf(p->out, "%u %.*s\n", line, (int)source.len, source.data);
    return 0;
}

/* ---- exec ---- */

static int exec_main(Proc *p, Args *args)
{
    bool empty = false, login = false;
    const char *argv0 = NULL;
    for (int c; (c = shell_option(p, args, "cla:")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        empty |= c == 'c';
        login |= c == 'l';
        argv0 = c == 'a' ? args->value : argv0;
    }
    if (args->at >= args->argc) {
        keep_redirections(interp_of(p));
        return 0;
    }
    if (shell_restricted(p, args, NULL))
        return 1;
    char **words = args->argv + args->at;
    if (login)
        argv0 = mem_printf(&p->mem, "-%s", argv0 ? argv0 : words[0]);
    int status = exec_words(interp_of(p), args->argc - args->at, words, empty, argv0);
    bool stay = false;
    shopt_get(interp_of(p), SLICE("execfail"), &stay);
    if (!stay && strchr(words[0], '/')) /* it was as good as started: the traps are gone */
        trap_set(interp_of(p), TRAP_EXIT, NULL);
    if (!stay)
        control_exit(interp_of(p), status);
    return status;
}

BUILTIN(let, "let", "let arg [arg ...]", "Evaluate arithmetic expressions.", SHELL_FLAGS);
BUILTIN(times, "times", "times", "Display process times.", SPECIAL_FLAGS);
BUILTIN(umask, "umask", "umask [-p] [-S] [mode]", "Display or set file mode mask.", SHELL_FLAGS);
BUILTIN(ulimit, "ulimit", "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]", "Modify shell resource limits.", SHELL_FLAGS);
BUILTIN(caller, "caller", "caller [expr]", "Return the context of the current subroutine call.", SHELL_FLAGS);
BUILTIN(exec, "exec", "exec [-cl] [-a name] [command [argument ...]] [redirection ...]",
        "Replace the shell with the given command.", SPECIAL_FLAGS);
