/* echo as a program (the shell's own is in builtins/shell/echo.c). GNU coreutils 9.1: \NNN needs no 0, \u is unknown, and under
 * POSIXLY_CORRECT escapes are always taken and -n is an option only when it comes first. */
#include "shared.h"

static bool is_options(const char *s) { return s[0] == '-' && s[1] && s[1 + strspn(s + 1, "neE")] == 0; }

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What a backslash at s[-1] stands for; false for \c, the end of all output. */
static bool escape(Output *out, const char **s)
{
    static const char from[] = "abefnrtv\\", to[] = "\a\b\033\f\n\r\t\v\\";
    char c = *(*s)++;
    const char *known = c ? strchr(from, c) : NULL;
    int value = 0;
    if (known) {
        out_char(out, to[known - from]);
    } else if (c == 'c') {
        return false;
    } else if (c == 'x' && hex_digit(**s) >= 0) {
        for (int n = 0; n < 2 && hex_digit(**s) >= 0; n++)
            value = value * 16 + hex_digit(*(*s)++);
        out_char(out, (char)value);
    } else if (c >= '0' && c <= '7') {
        value = c - '0';
        for (int n = c == '0' ? 0 : 1; n < 3 && **s >= '0' && **s <= '7'; n++)
            value = value * 8 + (*(*s)++ - '0');
        out_char(out, (char)value);
    } else {
        out_char(out, '\\');
        if (c)
            out_char(out, c);
        else
            --*s;
    }
    return true;
}

int echo_program(Proc *p, Args *args)
{
    bool posix = proc_getenv(p, "POSIXLY_CORRECT") != NULL, newline = true, escapes = false;
    int i = 1;
    if (!posix || (args->argc > 1 && strcmp(args->argv[1], "-n") == 0))
        for (; i < args->argc && is_options(args->argv[i]); i++)
            for (const char *s = args->argv[i] + 1; *s; s++) {
                newline &= *s != 'n';
                escapes = *s == 'n' ? escapes : *s == 'e';
            }
    for (int first = i; i < args->argc; i++) {
        if (i > first)
            out_char(p->out, ' ');
        for (const char *s = args->argv[i]; *s;) {
            char c = *s++;
            if (c != '\\' || !(escapes || posix))
                out_char(p->out, c);
            else if (!escape(p->out, &s))
                return 0;
        }
    }
    if (newline)
        out_char(p->out, '\n');
    return 0;
}
