/* options: option letters and messages as bash's builtins have them. */
#include "shell.h"

#include <stdarg.h>
#include <stdio.h>

Buf shell_buf(Proc *p)
{
    Buf b;
    buf_init(&b, &p->mem, BUF_MAX);
    return b;
}

int shell_usage(Proc *p, Args *args)
{
    output_flush(p->out);
    out_printf(p->err, "%s: usage: %s\n", args->command->name, args->command->usage);
    output_flush(p->err);
    if (args->command->flags & COMMAND_SPECIAL)
        set_special_error(interp_of(p), false);
    return SHELL_USAGE;
}

bool shell_restricted(Proc *p, Args *args, const char *what)
{
    if (likely(!option_on(interp_of(p), 'r')))
        return false;
    shell_fail(p, args, what ? "%s: restricted" : "%srestricted", what ? what : "");
    return true;
}

int shell_fail(Proc *p, Args *args, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = NULL;
    va_list again;
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, list);
    if (n >= 0 && (text = mem_alloc(&p->mem, (size_t)n + 1)))
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(list);
    output_flush(p->out);
    if (p->lang)
        shell_error(interp_of(p), args->command->name, "%s", text ? text : "");
    else
        warn(p, "%s", text ? text : "");
    return 1;
}

static int bad_option(Proc *p, Args *args, char sign, char letter, const char *what)
{
    shell_fail(p, args, "%c%c: %s", sign, letter, what);
    shell_usage(p, args);
    return '?';
}

/* To the next cluster of letters; false at the first operand. */
static bool next_cluster(Args *args, bool plus)
{
    if (args->at >= args->argc)
        return false;
    char *word = args->argv[args->at];
    if ((word[0] != '-' && !(plus && word[0] == '+')) || !word[1])
        return false;
    args->at++;
    if (word[0] == '-' && word[1] == '-' && !word[2])
        return false;
    args->cluster = word + 1;
    args->failed = word[0] == '+'; /* the sign of this cluster */
    return true;
}

int shell_option(Proc *p, Args *args, const char *letters)
{
    bool plus = *letters == '+';
    letters += plus;
    args->at = MAX(args->at, 1);
    args->value = NULL;
    if (!args->cluster || !*args->cluster) {
        args->cluster = NULL;
        if (args->no_more || !next_cluster(args, plus)) {
            args->no_more = true;
            return -1;
        }
    }
    char letter = *args->cluster++, sign = args->failed ? '+' : '-';
    const char *at = letter == ':' ? NULL : strchr(letters, letter);
    if (!at)
        return bad_option(p, args, sign, letter, "invalid option");
    if (at[1] == ':') {
        if (*args->cluster)
            args->value = args->cluster;
        else if (args->at < args->argc)
            args->value = args->argv[args->at++];
        else
            return bad_option(p, args, sign, letter, "option requires an argument");
        args->cluster = NULL;
    }
    return sign == '+' ? -letter : letter;
}

bool shell_number(const char *s, int64_t *value)
{
    while (*s == ' ' || *s == '\t' || *s == '\n')
        s++;
    bool negative = *s == '-';
    s += *s == '-' || *s == '+';
    if (*s < '0' || *s > '9')
        return false;
    int64_t n = 0;
    for (; *s >= '0' && *s <= '9'; s++)
        if (__builtin_mul_overflow(n, (int64_t)10, &n) ||
            (negative ? __builtin_sub_overflow(n, (int64_t)(*s - '0'), &n) : __builtin_add_overflow(n, (int64_t)(*s - '0'), &n)))
            return false;
    while (*s == ' ' || *s == '\t' || *s == '\n')
        s++;
    *value = n;
    return *s == 0;
}
