/* echo: bash's builtin. */
#include "shell.h"
#include "shared.h"

/* Letters n, e, E alone make an option; anything else is text. */
static bool is_options(const char *s)
{
    return s[0] == '-' && s[1] && s[1 + strspn(s + 1, "neE")] == 0;
}

static int echo_main(Proc *p, Args *args)
{
    bool newline = true, escapes = false;
    if (!args->builtin)
        return echo_program(p, args);
    shopt_get(interp_of(p), SLICE("xpg_echo"), &escapes);
    int i = 1;
    for (; i < args->argc && is_options(args->argv[i]); i++)
        for (const char *s = args->argv[i] + 1; *s; s++) {
            if (*s == 'n')
                newline = false;
            else
                escapes = *s == 'e';
        }
    Buf text = shell_buf(p);
    for (int first = i; i < args->argc; i++) {
        if (i > first)
            out_char(p->out, ' ');
        if (!escapes) {
            out_str(p->out, args->argv[i]);
            continue;
        }
        buf_clear(&text);
        bool more = unescape(&text, text_of(args->argv[i]), ESCAPE_ECHO);
        out_write(p->out, buf_slice(&text));
        if (!more)
            return 0;
    }
    if (newline)
        out_char(p->out, '\n');
    return 0;
}

BUILTIN(echo, "echo", "echo [-neE] [arg ...]", "Write arguments to the standard output.", COMMAND_SHELL | COMMAND_RAW | COMMAND_PURE);
