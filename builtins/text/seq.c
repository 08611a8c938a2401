/* seq: print numbers. GNU coreutils 9.1: whole numbers by digit arithmetic, others in long double. */
#include <math.h>
#include <stdlib.h>

#include "command.h"

static const Option options[] = {
    {'f', "format", OPT_VALUE, "use printf style floating-point FORMAT", "FORMAT", 0},
    {'s', "separator", OPT_VALUE, "use STRING to separate numbers (default: \\n)", "STRING", 0},
    {'w', "equal-width", OPT_FLAG, "equalize width by padding with leading zeroes", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    long double value;
    size_t width;     /* of the text, as printed with `precision` digits */
    int precision;    /* digits behind the point; INT_MAX when it cannot be told */
} Operand;

typedef struct {
    const char *separator, *format;
    bool equal_width;
} Seq;

enum { NO_PRECISION = 0x7fffffff };

static Operand parse_operand(Proc *p, Args *args, const char *text)
{
    char *end;
    Operand o = {.value = strtold(text, &end)};
    if (end == text || *end)
        usage_fail(p, args, "invalid floating point argument: %s", quote(p, text));
    if (isnan(o.value))
        usage_fail(p, args, "invalid %s argument: %s", quote(p, "not-a-number"), quote(p, text));
    while (*text == ' ' || *text == '+')
        text++;
    o.precision = NO_PRECISION;
    if (text[strcspn(text, "xX")] || !isfinite(o.value)) {
        o.precision = isfinite(o.value) && !strchr(text, 'p') ? 0 : NO_PRECISION;
        return o;
    }
    o.width = strlen(text);
    o.precision = 0;
    const char *point = strchr(text, '.');
    if (point) {
        size_t fraction = strcspn(point + 1, "eE");
        o.precision = (int)MIN(fraction, (size_t)4096);
        o.width -= fraction == 0 ? 1 : 0;
        o.width += point == text || (text[0] == '-' && point == text + 1);
    }
    const char *e = text + strcspn(text, "eE");
    if (*e) {
        long exponent = strtol(e + 1, NULL, 10);
        int shift = exponent < -4096 ? -4096 : exponent > 4096 ? 4096 : (int)exponent;
        o.precision = o.precision - shift > 0 ? o.precision - shift : 0;
        o.width = (size_t)snprintf(NULL, 0, "%.*Lf", o.precision, o.value);
    }
    return o;
}

/* A format of the user's must hold exactly one %[aefgAEFG] directive; L is put in. */
static const char *check_format(Proc *p, Args *args, const char *format)
{
    size_t i = 0;
    for (;; i++) {
        if (!format[i])
            die(p, 1, "format %s has no %% directive", quote(p, format));
        if (format[i] == '%') {
            if (format[i + 1] != '%')
                break;
            i++;
        }
    }
    (void)args;
    size_t at = i + 1;
    at += strspn(format + at, "-+#0 '");
    size_t width = strspn(format + at, "0123456789");
    size_t precision = 0;
    at += width;
    if (format[at] == '.') {
        at++;
        precision = strspn(format + at, "0123456789");
        at += precision;
    }
    if (width > 6 || precision > 6)
        die(p, 1, "format %s is too wide", quote(p, format));
    bool has_l = format[at] == 'L';
    size_t insert = at;
    at += has_l;
    if (!format[at])
        die(p, 1, "format %s ends in %%", quote(p, format));
    if (!strchr("efgaEFGA", format[at]))
        die(p, 1, "format %s has unknown %%%c directive", quote(p, format), format[at]);
    for (size_t j = at + 1; format[j]; j++)
        if (format[j] == '%') {
            if (format[j + 1] != '%')
                die(p, 1, "format %s has too many %% directives", quote(p, format));
            j++;
        }
    return mem_printf(&p->keep, "%.*sL%s", (int)insert, format, format + at);
}

/* ---------- whole numbers ---------- */

static bool all_digits(const char *s) { return *s && strspn(s, "0123456789") == strlen(s); }

/* A number as decimal text at the end of its buffer, which grows to the left. */
typedef struct {
    char *buf, *at, *end;
} Digits;

static void add_step(Digits *n, unsigned step)
{
    char *last = n->end - 1;
    if (*last + (int)step <= '9') {
        *last = (char)(*last + (int)step);
        return;
    }
    unsigned carry = step;
    for (char *d = last; carry; d--) {
        if (d < n->at)
            *--n->at = '0';
        carry += (unsigned)(*d - '0');
        *d = (char)('0' + carry % 10);
        carry /= 10;
    }
}

/* An endless count outgrows its room. */
static void make_room(Proc *p, Digits *n)
{
    size_t room = (size_t)(n->end - n->buf), len = (size_t)(n->end - n->at);
    if (n->at > n->buf + 4)
        return;
    char *more = mem_alloc(&p->keep, room * 2);
    memcpy(more + room * 2 - len, n->at, len);
    *n = (Digits){more, more + room * 2 - len, more + room * 2};
}

static const char *without_zeros(const char *s)
{
    while (*s == '0' && s[1])
        s++;
    return s;
}

/* From decimal text, adding `step` to the digits in place: no limit on size, and fast. */
static void print_digits(Proc *p, const char *first, const char *last, unsigned step, const char *separator)
{
    first = without_zeros(first);
    last = last ? without_zeros(last) : NULL;
    size_t len = strlen(first), last_len = last ? strlen(last) : 0, gap = strlen(separator), room = MAX(len, last_len) + 24;
    Digits n = {.buf = mem_alloc(&p->keep, room)};
    n.end = n.buf + room;
    n.at = n.end - len;
    memcpy(n.at, first, len);
    for (uint64_t count = 0;; count++) {
        len = (size_t)(n.end - n.at);
        if (last && (len > last_len || (len == last_len && memcmp(n.at, last, len) > 0)))
            return;
        if (count)
            out_write(p->out, (Slice){separator, gap});
        out_write(p->out, (Slice){n.at, len});
        add_step(&n, step);
        if (count % 256)
            continue;
        make_room(p, &n);
        proc_tick(p, 64);
        if (p->out->error)
            return;
    }
}

/* ---------- other numbers ---------- */

static const char *default_format(Proc *p, const Seq *s, Operand first, Operand step, Operand last)
{
    int precision = MAX(first.precision, step.precision);
    if (precision == NO_PRECISION || last.precision == NO_PRECISION)
        return "%Lg";
    if (!s->equal_width)
        return mem_printf(&p->keep, "%%.%dLf", precision);
    size_t first_width = first.width + (size_t)(precision - first.precision);
    size_t last_width = last.width + (size_t)(precision - last.precision);
    if (last.precision && precision == 0)
        last_width--;
    if (last.precision == 0 && precision)
        last_width++;
    if (first.precision == 0 && precision)
        first_width++;
    return mem_printf(&p->keep, "%%0%d.%dLf", (int)MAX(first_width, last_width), precision);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static size_t format_number(char *out, size_t cap, const char *format, long double x) { return (size_t)snprintf(out, cap, format, x); }
#pragma GCC diagnostic pop

/* Whether the value past the end still prints as `last`: rounding must not lose the last number. */
static bool prints_as_last(Proc *p, const char *format, long double x, long double last)
{
    char *a = mem_alloc(&p->mem, 512), *b = mem_alloc(&p->mem, 512);
    if (format_number(a, 512, format, x) >= 512)
        return false;
    format_number(b, 512, format, last);
    return strcmp(a, b) == 0;
}

static void print_values(Proc *p, const Seq *s, const char *format, long double first, long double step, long double last)
{
    if (step < 0 ? first < last : last < first)
        return;
    char text[512], *out = text;
    MemMark mark = mem_mark(&p->mem);
    for (long double i = 0;; i++) {
        long double x = i > 0 ? first + i * step : first; /* -0 stays */
        if (i > 0 && (step < 0 ? x < last : last < x)) {
            long double shown;
            format_number(text, sizeof text, format, x);
            shown = strtold(text, NULL);
            bool again = !(step < 0 ? shown < last : last < shown) && prints_as_last(p, format, x, last) && !prints_as_last(p, format, first + (i - 1) * step, last);
            if (!again)
                break;
            out_str(p->out, s->separator);
            out_str(p->out, text);
            break;
        }
        if (i > 0)
            out_str(p->out, s->separator);
        size_t n = format_number(text, sizeof text, format, x);
        out = text;
        if (n >= sizeof text) {
            out = mem_alloc(&p->mem, n + 1);
            format_number(out, n + 1, format, x);
        }
        out_write(p->out, (Slice){out, n});
        mem_reset(&p->mem, mark);
        proc_tick(p, 1);
        if (p->out->error)
            return;
    }
    out_char(p->out, '\n');
}

/* A negative number is an operand, not an option. */
static bool is_number(const char *s)
{
    return s[0] == '-' && ((s[1] >= '0' && s[1] <= '9') || s[1] == '.');
}

static int seq_main(Proc *p, Args *args)
{
    Seq s = {.separator = "\n"};
    while (args->at < args->argc && !is_number(args->argv[args->at])) {
        int id = args_next(p, args);
        if (id == -1)
            break;
        if (id == 'f')
            s.format = args->value;
        else if (id == 's')
            s.separator = args->value;
        s.equal_width |= id == 'w';
    }
    int n;
    char **v = args_operands(args, &n);
    if (n == 0)
        usage_missing(p, args, NULL);
    if (n > 3)
        usage_extra(p, args, v[3]);
    if (s.format && s.equal_width)
        usage_fail(p, args, "format string may not be specified when printing equal width strings");
    const char *format = s.format ? check_format(p, args, s.format) : NULL;
    const char *first = n > 1 ? v[0] : "1", *step = n == 3 ? v[1] : "1", *last = v[n - 1];
    Operand a = parse_operand(p, args, first), b = parse_operand(p, args, step), c = parse_operand(p, args, last);
    if (b.value == 0)
        usage_fail(p, args, "invalid Zero increment value: %s", quote(p, step));
    bool endless = isinf(c.value) && c.value > 0;
    if (!format && !s.equal_width && all_digits(first) && (all_digits(last) || endless) && all_digits(step) && b.value <= 200) {
        if (c.value < a.value)
            return 0;
        print_digits(p, first, endless ? NULL : last, (unsigned)b.value, s.separator);
        out_char(p->out, '\n');
        return 0;
    }
    print_values(p, &s, format ? format : default_format(p, &s, a, b, c), a.value, b.value, c.value);
    return 0;
}

COMMAND(seq, "seq [OPTION]... LAST\nseq [OPTION]... FIRST LAST\nseq [OPTION]... FIRST INCREMENT LAST", "Print numbers from FIRST to LAST, in steps of INCREMENT.", options, COMMAND_PURE | COMMAND_ORDERED);
