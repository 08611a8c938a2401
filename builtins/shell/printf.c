/* printf: bash's builtin and, spawned, the GNU program, which differ in their messages.
 *
 * The format is used again as long as arguments are left and one round took some. Output is collected whole, then written
 * or assigned (-v).
 */
#include "shell.h"
#include "shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Printf {
    Proc *proc;
    Args *args;
    Buf out;
    char **next, **end;  /* arguments left */
    int status;
    bool assigns;        /* -v: nothing is written */
    bool stop;           /* \c, or a bad format */
} Printf;

typedef struct Spec {
    bool minus, plus, space, alternate, zero, has_precision, quote;
    int width, precision;
    char conversion;
    Slice time;          /* of %(fmt)T */
    const char *text; /* behind the % */
} Spec;

static const char *next_arg(Printf *f) { return f->next < f->end ? *f->next++ : NULL; }

/* ---- numbers ---- */

/* What a message must not come before: the program's output so far, whole lines of the builtin's, as with bash's line buffer. */
static void write_before_message(Printf *f)
{
    Slice done = f->out.data ? buf_slice(&f->out) : slice("", 0);
    if (f->assigns)
        return;
    if (f->args->builtin) {
        const char *newline = done.len ? memrchr(done.data, '\n', done.len) : NULL;
        done.len = newline ? (size_t)(newline - done.data) + 1 : 0;
    }
    out_write(f->proc->out, done);
    memmove(f->out.data, f->out.data + done.len, f->out.len - done.len);
    f->out.len -= done.len;
}

/* What a number begins as. */
static const char *kind(const char *text)
{
    return *text != '0' || !text[1] ? "" : (text[1] | 32) == 'x' ? "hex" : text[1] >= '0' && text[1] <= '9' ? "octal" : "";
}

static void complain(Printf *f, const char *text, const char *rest)
{
    write_before_message(f);
    f->status = 1;
    if (f->args->builtin)
        shell_fail(f->proc, f->args, *kind(text) ? "%s: invalid %s number" : "%s: invalid %snumber", text, kind(text));
    else if (rest == text)
        warn(f->proc, "%s: expected a numeric value", quote(f->proc, text));
    else
        warn(f->proc, "%s: value not completely converted", quote(f->proc, text));
}

static void complain_range(Printf *f, const char *text)
{
    write_before_message(f);
    if (f->args->builtin) {
        shell_fail(f->proc, f->args, "warning: %s: %s", text, error_text(ERANGE));
        return;
    }
    f->status = 1;
    warn(f->proc, "%s: %s", quote(f->proc, text), error_text(ERANGE));
}

/* 'c and "c are the character's number. */
static bool char_code(const char *s, uint32_t *code)
{
    if (*s != '\'' && *s != '"')
        return false;
    size_t n, len = strlen(s + 1);
    *code = len ? utf8_decode(s + 1, len, &n) : 0;
    if (*code == UTF8_BAD)
        *code = (uint8_t)s[1];
    return true;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

/* As strtoimax and strtoumax with base 0: the value modulo 2^64, saturated with *range set. */
static uint64_t read_integer(const char *s, bool is_signed, const char **rest, bool *range)
{
    const char *start = s;
    while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
        s++;
    bool negative = *s == '-', over = false;
    s += *s == '-' || *s == '+';
    int base = 10;
    if (*s == '0' && (s[1] == 'x' || s[1] == 'X') && digit_of(s[2]) < 16) {
        base = 16;
        s += 2;
    } else if (*s == '0') {
        base = 8;
    }
    uint64_t n = 0;
    const char *digits = s;
    for (; digit_of(*s) < base; s++)
        over |= __builtin_mul_overflow(n, (uint64_t)base, &n) || __builtin_add_overflow(n, (uint64_t)digit_of(*s), &n);
    *rest = s == digits ? start : s;
    if (is_signed) {
        uint64_t limit = (uint64_t)INT64_MAX + negative;
        *range = over || n > limit;
        n = *range ? limit : n;
        return negative ? 0 - n : n;
    }
    *range = over;
    return over ? UINT64_MAX : negative ? 0 - n : n;
}

/* The program tells of what follows the character, and of a quote with nothing behind it. */
static uint32_t char_arg(Printf *f, const char *s, uint32_t code)
{
    if (f->args->builtin)
        return code;
    size_t n = 0, len = strlen(s + 1);
    if (!len) {
        complain(f, s, s);
        return 0;
    }
    utf8_decode(s + 1, len, &n);
    if (n < len)
        write_before_message(f);
    if (n < len)
        warn(f->proc, "warning: %s: character(s) following character constant have been ignored", s + 1 + n);
    return code;
}

static uint64_t integer_arg(Printf *f, bool is_signed)
{
    const char *s = next_arg(f), *rest;
    uint32_t code;
    bool range = false;
    if (!s || !*s)
        return 0;
    if (char_code(s, &code))
        return char_arg(f, s, code);
    uint64_t n = read_integer(s, is_signed, &rest, &range);
    if (*rest || !*s)
        complain(f, s, rest);
    else if (range)
        complain_range(f, s);
    return n;
}

static long double float_arg(Printf *f)
{
    const char *s = next_arg(f);
    uint32_t code;
    char *rest;
    if (!s || !*s)
        return 0;
    if (char_code(s, &code))
        return char_arg(f, s, code);
    long double v = strtold(s, &rest);
    if (*rest || !*s)
        complain(f, s, rest);
    else if (isinf(v) && !strpbrk(s, "iI"))
        complain_range(f, s);
    return v;
}

static int star_arg(Printf *f)
{
    int64_t n = (int64_t)integer_arg(f, true);
    return n > 1 << 28 ? 1 << 28 : n < -(1 << 28) ? -(1 << 28) : (int)n;
}

/* ---- output ---- */

static void pad(Printf *f, size_t n, char c)
{
    if (!buf_reserve(&f->out, n))
        return;
    memset(f->out.data + f->out.len, c, n);
    f->out.len += n;
    f->out.data[f->out.len] = 0;
}

static void put_padded(Printf *f, const Spec *s, Slice text)
{
    size_t width = (size_t)(s->width < 0 ? -s->width : s->width);
    bool left = s->minus || s->width < 0;
    size_t fill = width > text.len ? width - text.len : 0;
    if (!left)
        pad(f, fill, ' ');
    buf_append(&f->out, text);
    if (left)
        pad(f, fill, ' ');
}

static void put_string(Printf *f, const Spec *s, Slice text)
{
    if (s->has_precision && s->precision >= 0 && (size_t)s->precision < text.len)
        text.len = (size_t)s->precision;
    put_padded(f, s, text);
}

/* The specification again as C knows it, with `length` before the conversion. */
static void c_format(const Spec *s, const char *length, char out[40])
{
    char *o = out;
    *o++ = '%';
    if (s->minus || s->width < 0)
        *o++ = '-';
    if (s->plus)
        *o++ = '+';
    if (s->space)
        *o++ = ' ';
    if (s->alternate)
        *o++ = '#';
    if (s->zero)
        *o++ = '0';
    *o++ = '*';
    if (s->has_precision && s->precision >= 0) {
        *o++ = '.';
        *o++ = '*';
    }
    while (*length)
        *o++ = *length++;
    *o++ = s->conversion;
    *o = 0;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_integer(Printf *f, const Spec *s, uint64_t v)
{
    char format[40];
    int width = s->width < 0 ? -s->width : s->width;
    size_t room = (size_t)width + (size_t)(s->has_precision && s->precision > 0 ? s->precision : 0) + 80;
    c_format(s, "j", format);
    if (!buf_reserve(&f->out, room))
        return;
    int n = s->has_precision && s->precision >= 0 ? snprintf(f->out.data + f->out.len, room, format, width, s->precision, (intmax_t)v)
                                                  : snprintf(f->out.data + f->out.len, room, format, width, (intmax_t)v);
    f->out.len += n > 0 ? MIN((size_t)n, room - 1) : 0;
}

static void put_float(Printf *f, const Spec *s, long double v)
{
    char format[40];
    int width = s->width < 0 ? -s->width : s->width;
    size_t room = (size_t)width + (size_t)(s->has_precision && s->precision > 0 ? s->precision : 0) + 5200;
    c_format(s, "L", format);
    if (!buf_reserve(&f->out, room))
        return;
    int n = s->has_precision && s->precision >= 0 ? snprintf(f->out.data + f->out.len, room, format, width, s->precision, v)
                                                  : snprintf(f->out.data + f->out.len, room, format, width, v);
    f->out.len += n > 0 ? MIN((size_t)n, room - 1) : 0;
}
#pragma GCC diagnostic pop

static void put_time(Printf *f, const Spec *s)
{
    Proc *p = f->proc;
    uint32_t ns;
    int64_t seconds = f->next < f->end ? (int64_t)integer_arg(f, true) : -1;
    if (seconds == -1 || seconds == -2)
        seconds = proc_now(p, &ns);
    CivilTime civil;
    Buf text = shell_buf(p);
    Slice format = s->time.len ? s->time : SLICE("%X");
    if (tz_civil(proc_zone(p), seconds, 0, &civil))
        tz_format(&text, format, &civil, seconds);
    put_string(f, s, buf_slice(&text));
}

static void put_quoted(Printf *f, Spec *s)
{
    const char *arg = next_arg(f);
    Slice text = slice_str(arg ? arg : "");
    if (s->conversion == 'Q' && s->has_precision && s->precision >= 0) {
        text.len = MIN(text.len, (size_t)s->precision);
        s->has_precision = false;
    }
    if (!f->args->builtin && !arg)
        return;
    if (!f->args->builtin) {
        put_string(f, s, slice_str(quote_if_needed(f->proc, mem_copy(&f->proc->mem, text))));
        return;
    }
    Buf quoted = shell_buf(f->proc);
    quote_in(interp_of(f->proc), &quoted, text, quote_shell);
    put_string(f, s, buf_slice(&quoted));
}

static void put_b(Printf *f, const Spec *s)
{
    const char *arg = next_arg(f);
    Buf text = shell_buf(f->proc);
    if (!unescape(&text, slice_str(arg ? arg : ""), ESCAPE_PRINTF_B))
        f->stop = true;
    put_string(f, s, buf_slice(&text));
}

static void put_count(Printf *f)
{
    const char *name = next_arg(f);
    char digits[24];
    size_t n;
    const char *at = format_int((int64_t)f->out.len, digits, &n);
    if (!name || !*name || !f->args->builtin || var_set_ref(interp_of(f->proc), slice_str(name), slice(at, n)))
        return;
    f->status = 1;
    f->stop = true;
}

/* The program ends at a bad directive, which it shows as it was written. */
static NORETURN void bad_directive(Printf *f, Slice text)
{
    out_write(f->proc->out, buf_slice(&f->out));
    die(f->proc, 1, "%.*s: invalid conversion specification", (int)text.len, text.data);
}

/* Whether the program takes these flags with the conversion. */
static bool flags_allowed(const Spec *s)
{
    char c = s->conversion;
    if (!c || !strchr("aAcdeEfFgGiosuxXbq", c))
        return false;
    if (c == 'b' || c == 'q')
        return !(s->minus || s->plus || s->space || s->alternate || s->zero || s->quote || s->width || s->has_precision);
    if (s->quote && strchr("aAceEosxX", c))
        return false;
    if (s->alternate && strchr("cdisu", c))
        return false;
    return !((s->zero && (c == 'c' || c == 's')) || (s->has_precision && c == 'c'));
}

static void bad_format(Printf *f, const Spec *s)
{
    write_before_message(f);
    f->status = 1;
    f->stop = true;
    if (s->conversion)
        shell_fail(f->proc, f->args, "`%c': invalid format character", s->conversion);
    else
        shell_fail(f->proc, f->args, "`%%%s': missing format character", s->text);
}

static void convert(Printf *f, Spec *s)
{
    const char *arg;
    switch (s->conversion) {
    case 'd':
    case 'i': put_integer(f, s, integer_arg(f, true)); break;
    case 'o':
    case 'u':
    case 'x':
    case 'X': put_integer(f, s, integer_arg(f, false)); break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': put_float(f, s, float_arg(f)); break;
    case 'c':
        arg = next_arg(f);
        if (arg && *arg)
            put_padded(f, s, slice(arg, 1));
        else
            put_padded(f, s, slice("\0", 1));
        break;
    case 's':
        arg = next_arg(f);
        put_string(f, s, slice_str(arg ? arg : ""));
        break;
    case 'b': put_b(f, s); break;
    case 'q':
    case 'Q': put_quoted(f, s); break;
    case 'T': put_time(f, s); break;
    case 'n': put_count(f); break;
    default: bad_format(f, s);
    }
}

/* ---- the format ---- */

static int read_count(const char **at)
{
    int64_t n = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        n = MIN(n * 10 + (**at - '0'), 1 << 28);
    return (int)n;
}

static const char *read_flags(const char *s, Spec *spec)
{
    for (;; s++)
        switch (*s) {
        case '-': spec->minus = true; break;
        case '+': spec->plus = true; break;
        case ' ': spec->space = true; break;
        case '#': spec->alternate = true; break;
        case '0': spec->zero = true; break;
        case '\'': spec->quote = true; break;
        default: return s;
        }
}

static const char *read_spec(Printf *f, const char *s, Spec *spec)
{
    *spec = (Spec){.text = s};
    s = read_flags(s, spec);
    if (*s == '*') {
        spec->width = star_arg(f);
        s++;
    } else {
        spec->width = read_count(&s);
    }
    if (*s == '.') {
        s++;
        spec->has_precision = true;
        if (*s == '*') {
            spec->precision = star_arg(f);
            s++;
        } else {
            spec->precision = *s == '-' ? (s++, read_count(&s), -1) : read_count(&s);
        }
    }
    while (*s && strchr("hlLjzt", *s))
        s++;
    if (*s == '(') {
        const char *close = strchr(s, ')');
        while (close && close[1] != 'T')
            close = strchr(close + 1, ')');
        if (close) {
            spec->time = slice(s + 1, (size_t)(close - s - 1));
            s = close + 1;
        }
    }
    spec->conversion = *s;
    return *s ? s + 1 : s;
}

/* In the program \c ends the output also here, and \x, \u and \U must have their digits. */
static const char *check_escapes(Printf *f, const char *s, const char *end)
{
    for (const char *start = s; (s = memchr(s, '\\', (size_t)(end - s))) && s + 1 < end; s += 2) {
        int digits = s[1] == 'x' ? 1 : s[1] == 'u' ? 4 : s[1] == 'U' ? 8 : 0;
        if (s[1] == 'c')
            return s;
        for (int i = 0; i < digits; i++)
            if (digit_of(s[2 + i]) > 15) {
                unescape(&f->out, slice(start, (size_t)(s - start)), ESCAPE_PRINTF);
                out_write(f->proc->out, buf_slice(&f->out));
                die(f->proc, 1, "missing hexadecimal number in escape");
            }
    }
    return end;
}

static void literal_text(Printf *f, const char *s, const char *end)
{
    if (!f->args->builtin) {
        const char *stop = check_escapes(f, s, end);
        f->stop = stop != end;
        end = stop;
    }
    if (!memchr(s, '\\', (size_t)(end - s)))
        buf_append(&f->out, slice(s, (size_t)(end - s)));
    else if (!unescape(&f->out, slice(s, (size_t)(end - s)), ESCAPE_PRINTF))
        f->stop = true;
}

static void one_round(Printf *f, const char *format)
{
    for (const char *s = format; *s && !f->stop;) {
        const char *percent = strchrnul(s, '%');
        literal_text(f, s, percent);
        if (!*percent || f->stop)
            return;
        if (percent[1] == '%') {
            buf_char(&f->out, '%');
            s = percent + 2;
            continue;
        }
        Spec spec;
        s = read_spec(f, percent + 1, &spec);
        if (!f->args->builtin && !flags_allowed(&spec))
            bad_directive(f, slice(percent, (size_t)(s - percent)));
        convert(f, &spec);
    }
}

static bool valid_reference(const char *s)
{
    Slice name, subscript;
    return parse_reference(slice_str(s), &name, &subscript);
}

static int no_format(Proc *p, Args *args)
{
    if (args->builtin)
        return shell_usage(p, args);
    warn(p, "missing operand");
    out_str(p->err, "Try 'printf --help' for more information.\n");
    output_flush(p->err);
    proc_fail(p, 1);
}

static int printf_main(Proc *p, Args *args)
{
    const char *variable = NULL;
    if (args->builtin)
        for (int c; (c = shell_option(p, args, "v:")) != -1;) {
            if (c == '?')
                return SHELL_USAGE;
            variable = args->value;
            if (!valid_reference(variable)) {
                shell_fail(p, args, "`%s': not a valid identifier", variable);
                return SHELL_USAGE;
            }
        }
    else if (args->argc > 1 && strcmp(args->argv[1], "--") == 0)
        args->at++;
    if (args->at >= args->argc)
        return no_format(p, args);
    const char *format = args->argv[args->at++];
    Printf f = {.proc = p, .args = args, .out = shell_buf(p), .next = args->argv + args->at, .end = args->argv + args->argc};
    f.assigns = variable != NULL;
    char **before;
    do {
        before = f.next;
        one_round(&f, format);
        proc_tick(p, 1);
        if (!variable && f.out.len > 1 << 16) {
            out_write(p->out, buf_slice(&f.out));
            buf_clear(&f.out);
        }
    } while (!f.stop && f.next < f.end && f.next > before);
    if (!args->builtin && !f.stop && f.next < f.end) {
        write_before_message(&f);
        warn(p, "warning: ignoring excess arguments, starting with %s", quote(p, *f.next));
    }
    if (variable && !var_set_ref(interp_of(p), slice_str(variable), f.out.data ? buf_slice(&f.out) : slice("", 0)))
        return 1;
    if (!variable && f.out.len)
        out_write(p->out, buf_slice(&f.out));
    return f.status;
}

BUILTIN(printf, "printf", "printf [-v var] format [arguments]", "Format and print arguments.",
        COMMAND_SHELL | COMMAND_RAW | COMMAND_PURE);
