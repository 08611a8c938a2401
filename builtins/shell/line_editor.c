/* bind, fc, history, suspend: builtins for a terminal, which is not here. Options and operands are checked as bash checks them; the
 * answers are those of a shell without a line editor whose history is empty. */
#include "shell.h"

#include <string.h>

static int bind_main(Proc *p, Args *args)
{
    static const char *const keymaps[] = {"emacs", "emacs-standard", "emacs-meta", "emacs-ctlx", "vi", "vi-move", "vi-command", "vi-insert"};
    shell_fail(p, args, "warning: line editing not enabled");
    for (int c; (c = shell_option(p, args, "lvpVPsSXf:q:u:m:r:x:")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        bool known = c != 'm';
        for (size_t i = 0; i < ARRAY_LEN(keymaps); i++)
            known |= strcmp(keymaps[i], args->value ? args->value : "") == 0;
        if (!known)
            return shell_fail(p, args, "`%s': invalid keymap name", args->value);
    }
    for (int i = args->at; i < args->argc; i++) /* what readline says of a binding without a colon */
        if (!strchr(args->argv[i], ':') && args->argv[i][0] && !strchr("$#", args->argv[i][0]) && strncmp(args->argv[i], "set ", 4) != 0)
            out_printf(p->err, "readline: %s: no key sequence terminator\n", args->argv[i]);
    output_flush(p->err);
    return 0;
}

static int fc_main(Proc *p, Args *args)
{
    bool substitute = false;
    for (int c; (c = shell_option(p, args, "e:lnrs0123456789")) != -1;) { /* -5 is a position */
        if (c == '?')
            return SHELL_USAGE;
        substitute |= c == 's' || (c == 'e' && strcmp(args->value, "-") == 0);
    }
    return substitute ? shell_fail(p, args, "no command found") : 0;
}

/* What a position out of range is called: of a range N-M, N. */
static Slice position_named(const char *position)
{
    int64_t number;
    size_t n = 1 + strcspn(position + (*position != 0), "-");
    char first[24];
    if (position[0] && position[n] == '-' && n < sizeof first && shell_number(position + n + 1, &number)) {
        memcpy(first, position, n);
        first[n] = 0;
        if (shell_number(first, &number))
            return slice(position, n);
    }
    return slice_str(position);
}

static int history_main(Proc *p, Args *args)
{
    const char *position = NULL;
    int files = 0;
    bool expand = false, store = false, empty = false;
    int64_t number;
    for (int c; (c = shell_option(p, args, "acd:npsrw")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        position = c == 'd' ? args->value : position;
        files += strchr("anrw", c) != NULL;
        expand |= c == 'p';
        store |= c == 's';
        empty |= c == 'c';
    }
    if (files > 1)
        return shell_fail(p, args, "cannot use more than one of -anrw");
    if (position) {
        Slice name = position_named(position);
        return shell_fail(p, args, "%.*s: history position out of range", (int)name.len, name.data);
    }
    if (expand && !store)
        for (int i = args->at; i < args->argc; i++)
            out_printf(p->out, "%s\n", args->argv[i]);
    if (expand || store || empty || files || args->at == args->argc)
        return 0;
    if (args->argc - args->at > 1) {
        shell_fail(p, args, "too many arguments");
        abandon_command(interp_of(p), 1);
    }
    const char *count = args->argv[args->at];
    return shell_number(count, &number) ? 0 : shell_fail(p, args, "%s: numeric argument required", count);
}

static int suspend_main(Proc *p, Args *args)
{
    for (int c; (c = shell_option(p, args, "f")) != -1;)
        if (c == '?')
            return SHELL_USAGE;
    if (args->at < args->argc) {
        shell_fail(p, args, "too many arguments");
        abandon_command(interp_of(p), 1);
    }
    return shell_fail(p, args, "cannot suspend: no job control");
}

BUILTIN(bind, "bind",
        "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] "
        "[keyseq:readline-function or readline-command]",
        "Set Readline key bindings and variables.", SHELL_FLAGS);
BUILTIN(fc, "fc", "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]",
        "Display or execute commands from the history list.", SHELL_FLAGS);
BUILTIN(history, "history", "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
        "Display or manipulate the history list.", SHELL_FLAGS);
BUILTIN(suspend, "suspend", "suspend [-f]", "Suspend shell execution.", SHELL_FLAGS);
