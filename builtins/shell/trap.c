/* trap: actions for signals and for EXIT, DEBUG, ERR and RETURN. */
#include "shell.h"

/* With -p POSIX mode shows the default too. */
static void print_trap(Proc *p, int number, bool shown)
{
    Slice action;
    bool set = trap_get(interp_of(p), number, &action);
    if (!set && !(shown && posix_mode(interp_of(p))))
        return;
    if (!set)
        action = SLICE("-");
    Buf line = shell_buf(p);
    buf_append(&line, SLICE("trap -- "));
    if (set)
        quote_single(&line, action);
    else
        buf_append(&line, action);
    const char *name = number == 32 || number == 33 ? (number == 32 ? "32" : "33") : signal_name(number);
    buf_printf(&line, " %s\n", posix_mode(interp_of(p)) && strncmp(name, "SIG", 3) == 0 ? name + 3 : name);
    out_write(p->out, buf_slice(&line));
}

static int print_traps(Proc *p, Args *args, bool shown)
{
    int status = 0;
    if (args->at >= args->argc)
        for (int n = 0; n < TRAP_MAX; n++)
            print_trap(p, n, shown);
    for (int i = args->at; i < args->argc; i++) {
        int number = signal_number(slice_str(args->argv[i]));
        if (number < 0)
            status = shell_fail(p, args, "%s: invalid signal specification", args->argv[i]);
        else
            print_trap(p, number, shown);
    }
    return status;
}

/* The table of `trap -l` and `kill -l`, five to a line. */
static int list_signals(Proc *p)
{
    int column = 0;
    for (int n = 1; n < 65; n++) {
        const char *name = n == 32 || n == 33 ? NULL : signal_name(n);
        if (!name)
            continue;
        out_printf(p->out, "%2d) %s", n, name);
        if (++column < 5) {
            out_char(p->out, '\t');
        } else {
            out_char(p->out, '\n');
            column = 0;
        }
    }
    if (column)
        out_char(p->out, '\n');
    return 0;
}

static int set_traps(Proc *p, Args *args, const Slice *action, int first)
{
    int status = 0;
    for (int i = first; i < args->argc; i++) {
        int number = signal_number(slice_str(args->argv[i]));
        if (number < 0)
            status = shell_fail(p, args, "%s: invalid signal specification", args->argv[i]);
        else if (!trap_set(interp_of(p), number, action))
            status = 1;
    }
    return status;
}

static bool all_digits(const char *s) { return *s && s[strspn(s, "0123456789")] == 0; }

static int trap_main(Proc *p, Args *args)
{
    bool list = false, print = false;
    for (int c; (c = shell_option(p, args, "lp")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        list |= c == 'l';
        print |= c == 'p';
    }
    if (list)
        return list_signals(p);
    if (print || args->at >= args->argc)
        return print_traps(p, args, print);
    const char *first = args->argv[args->at];
    bool alone = args->at + 1 == args->argc && signal_number(slice_str(first)) >= 0;
    if (alone || (all_digits(first) && args->at + 1 < args->argc))
        return set_traps(p, args, NULL, args->at);
    if (args->at + 1 == args->argc)
        return shell_usage(p, args);
    Slice action = slice_str(first);
    return set_traps(p, args, slice_is(action, "-") ? NULL : &action, args->at + 1);
}

BUILTIN(trap, "trap", "trap [-lp] [[arg] signal_spec ...]", "Trap signals and other events.", SPECIAL_FLAGS);
