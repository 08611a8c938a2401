/* numfmt: convert numbers from/to human-readable strings. GNU coreutils 9.1. */
#include <math.h>

#include "shared.h"

enum { DEBUG = 256, FIELD, FORMAT, FROM, FROM_UNIT, GROUPING, HEADER, INVALID, PADDING, ROUND, SUFFIX, TO, TO_UNIT, DIGITS_MOST = 18, INPUT_DIGITS_MOST = 27, STATUS_BAD = 2 };

static const Option options[] = {
    {0, "debug", OPT_FLAG, "print warnings about invalid input", NULL, DEBUG},
    {'d', "delimiter", OPT_VALUE, "use X instead of whitespace for field delimiter", "X", 0},
    {0, "field", OPT_VALUE, "replace the numbers in these input fields (default=1)", "FIELDS", FIELD},
    {0, "format", OPT_VALUE, "use printf style floating-point FORMAT", "FORMAT", FORMAT},
    {0, "from", OPT_VALUE, "auto-scale input numbers to UNITs: none, auto, si, iec, iec-i", "UNIT", FROM},
    {0, "from-unit", OPT_VALUE, "specify the input unit size (instead of the default 1)", "N", FROM_UNIT},
    {0, "grouping", OPT_FLAG, "use locale-defined grouping of digits", NULL, GROUPING},
    {0, "header", OPT_OPTIONAL, "print (without converting) the first N header lines (default 1)", "N", HEADER},
    {0, "invalid", OPT_VALUE, "failure mode for invalid numbers: abort, fail, warn, ignore", "MODE", INVALID},
    {0, "padding", OPT_VALUE, "pad the output to N characters; negative N left-aligns", "N", PADDING},
    {0, "round", OPT_VALUE, "up, down, from-zero (default), towards-zero, nearest", "METHOD", ROUND},
    {0, "suffix", OPT_VALUE, "add SUFFIX to output numbers, and accept it in input numbers", "SUFFIX", SUFFIX},
    {0, "to", OPT_VALUE, "auto-scale output numbers to UNITs: none, si, iec, iec-i", "UNIT", TO},
    {0, "to-unit", OPT_VALUE, "the output unit size (instead of the default 1)", "N", TO_UNIT},
    {'z', "zero-terminated", OPT_FLAG, "line delimiter is NUL, not newline", NULL, 0},
    OPTIONS_END,
};

typedef enum { SCALE_NONE, SCALE_AUTO, SCALE_SI, SCALE_IEC, SCALE_IEC_I } Scale;
typedef enum { ROUND_UP, ROUND_DOWN, ROUND_FROM_ZERO, ROUND_TOWARDS_ZERO, ROUND_NEAREST } Rounding;
typedef enum { BAD_ABORT, BAD_FAIL, BAD_WARN, BAD_IGNORE } Bad;

static const Choice from_words[] = {{"none", SCALE_NONE}, {"auto", SCALE_AUTO}, {"si", SCALE_SI}, {"iec", SCALE_IEC}, {"iec-i", SCALE_IEC_I}, {NULL, 0}};
static const Choice to_words[] = {{"none", SCALE_NONE}, {"si", SCALE_SI}, {"iec", SCALE_IEC}, {"iec-i", SCALE_IEC_I}, {NULL, 0}};
static const Choice round_words[] = {{"up", ROUND_UP}, {"down", ROUND_DOWN}, {"from-zero", ROUND_FROM_ZERO}, {"towards-zero", ROUND_TOWARDS_ZERO}, {"nearest", ROUND_NEAREST}, {NULL, 0}};
static const Choice bad_words[] = {{"abort", BAD_ABORT}, {"fail", BAD_FAIL}, {"warn", BAD_WARN}, {"ignore", BAD_IGNORE}, {NULL, 0}};

typedef struct { uint64_t low, high; } FieldRange;

typedef struct {
    Proc *p;
    Scale from, to;
    Rounding rounding;
    Bad bad;
    long double from_unit, to_unit;
    const char *suffix;
    const char *before, *after; /* of --format */
    int64_t padding, zero_padding;
    bool auto_padding, left, debug, grouping, converting;
    int precision;
    char delimiter;             /* 0: blanks */
    char end;
    uint64_t header;
    FieldRange *fields;
    size_t field_count;
    bool failed;
} Numfmt;

/* ---------- numbers ---------- */

static int power_of(char c)
{
    static const char letters[] = "KMGTPEZY";
    const char *at = c ? strchr(letters, c == 'k' ? 'k' : c) : NULL;
    return at ? (int)(at - letters) + 1 : 0;
}

static long double round_value(Rounding how, long double v)
{
    switch (how) {
    case ROUND_UP: return ceill(v);
    case ROUND_DOWN: return floorl(v);
    case ROUND_FROM_ZERO: return v < 0 ? floorl(v) : ceill(v);
    case ROUND_TOWARDS_ZERO: return truncl(v);
    default: return v < 0 ? ceill(v - 0.5L) : floorl(v + 0.5L);
    }
}

static long double power_ten(unsigned n)
{
    long double v = 1;
    while (n--)
        v *= 10;
    return v;
}

static bool invalid(Numfmt *f, const char *format, const char *text)
{
    Proc *p = f->p;
    if (f->bad != BAD_IGNORE) {
        const char *mark = strstr(format, "%s");
        warn(p, "%.*s%s%s", (int)(mark - format), format, quote(p, text), mark + 2);
    }
    if (f->bad == BAD_ABORT)
        proc_fail(p, STATUS_BAD);
    f->failed |= f->bad == BAD_FAIL;
    return false;
}

/* Digits, a point and digits; how many were behind the point. */
static bool read_digits(const char **at, long double *v, int *precision, size_t *digits)
{
    bool any = false;
    for (; **at >= '0' && **at <= '9'; ++*at, any = true) {
        *v = *v * 10 + (**at - '0');
        *digits += *v > 0;
    }
    if (**at != '.')
        return any;
    long double unit = 1, fraction = 0;
    for (++*at; **at >= '0' && **at <= '9'; ++*at) {
        fraction = fraction * 10 + (**at - '0');
        unit *= 10;
        ++*precision;
    }
    *v += fraction / unit;
    return any && *precision > 0;
}

static bool read_suffix(Numfmt *f, const char *text, const char **at, long double *v, int *precision)
{
    while (**at == ' ' || **at == '\t')
        ++*at;
    if (!**at) {
        return true;
    }
    int power = power_of(**at);
    if (!power)
        return invalid(f, "invalid suffix in input: %s", text);
    if (f->from == SCALE_NONE)
        return invalid(f, "rejecting suffix in input: %s (consider using --from)", text);
    ++*at;
    long double base = f->from == SCALE_IEC || f->from == SCALE_IEC_I ? 1024 : 1000;
    if (f->from == SCALE_AUTO && **at == 'i') {
        base = 1024;
        ++*at;
    } else if (f->from == SCALE_IEC_I) {
        if (**at != 'i')
            return invalid(f, "missing 'i' suffix in input: %s (e.g Ki/Mi/Gi)", text);
        ++*at;
    }
    *precision = 0;
    while (power--)
        *v *= base;
    return true;
}

static bool parse_number(Numfmt *f, const char *text, long double *out, int *precision)
{
    const char *at = text + (*text == '-');
    long double v = 0;
    size_t digits = 0;
    if (!read_digits(&at, &v, precision, &digits))
        return invalid(f, "invalid number: %s", text);
    if (digits > INPUT_DIGITS_MOST)
        return invalid(f, "value too large to be converted: %s", text);
    if (*at && !read_suffix(f, text, &at, &v, precision))
        return false;
    if (*at) {
        const char *rest = quote(f->p, at);
        return invalid(f, mem_printf(&f->p->mem, "invalid suffix in input %%s: %s", rest), text);
    }
    *out = (*text == '-' ? -v : v) * f->from_unit / f->to_unit;
    return true;
}

static const char *format_plain(Numfmt *f, long double v, int precision)
{
    long double unit = power_ten((unsigned)precision);
    v = round_value(f->rounding, v * unit) / unit;
    return mem_printf(&f->p->mem, "%.*Lf", precision, v);
}

static const char *format_scaled(Numfmt *f, long double v)
{
    static const char letters[] = " KMGTPEZY";
    long double base = f->to == SCALE_SI ? 1000 : 1024;
    unsigned power = 0, adjust = 0;
    while (fabsl(v) >= base && power + 1 < sizeof letters - 1) {
        v /= base;
        power++;
    }
    if (f->precision >= 0)
        adjust = MIN(power * 3, (unsigned)f->precision);
    else if (fabsl(v) < 10)
        adjust = 1;
    v = round_value(f->rounding, v * power_ten(adjust)) / power_ten(adjust);
    if (fabsl(v) >= base) {
        v /= base;
        power++;
    }
    int shown = f->precision >= 0 ? f->precision : v != 0 && fabsl(v) < 10 && power > 0;
    return mem_printf(&f->p->mem, "%.*Lf%.*s%s", shown, v, power > 0, letters + power, f->to == SCALE_IEC_I && power ? "i" : "");
}

static const char *pad_zeros(Numfmt *f, const char *text)
{
    size_t len = strlen(text), want = (size_t)f->zero_padding;
    if (len >= want)
        return text;
    bool negative = *text == '-';
    Buf b;
    buf_init(&b, &f->p->mem, BUF_MAX);
    buf_append(&b, slice(text, negative));
    for (size_t i = len; i < want; i++)
        buf_char(&b, '0');
    buf_append(&b, slice_str(text + negative));
    return b.data;
}

/* The field's number in its new form; false when it is to be shown as it is. */
static bool convert(Numfmt *f, const char *field, const char **out)
{
    Proc *p = f->p;
    char *text = mem_strdup(&p->mem, field);
    size_t len = strlen(text), own = f->suffix ? strlen(f->suffix) : 0;
    if (own && len > own && strcmp(text + len - own, f->suffix) == 0)
        text[len - own] = 0;
    long double v = 0;
    int precision = 0;
    if (!parse_number(f, text, &v, &precision))
        return false;
    int shown = f->precision >= 0 ? f->precision : precision;
    if (f->to == SCALE_NONE && fabsl(v) >= power_ten((unsigned)(DIGITS_MOST - MIN(shown, DIGITS_MOST)))) {
        warn(p, shown ? "value/precision too large to be printed: '%Lg/%d' (consider using --to)" : "value too large to be printed: '%Lg' (consider using --to)", v, shown);
        if (f->bad == BAD_ABORT)
            proc_fail(p, STATUS_BAD);
        return false;
    }
    const char *r = f->to == SCALE_NONE ? format_plain(f, v, shown) : format_scaled(f, v);
    if (f->zero_padding)
        r = pad_zeros(f, r);
    *out = f->suffix ? mem_printf(&p->mem, "%s%s", r, f->suffix) : r;
    return true;
}

/* ---------- lines ---------- */

static bool wanted(const Numfmt *f, uint64_t field)
{
    for (size_t i = 0; i < f->field_count; i++)
        if (field >= f->fields[i].low && field <= f->fields[i].high)
            return true;
    return f->field_count == 0 && field == 1;
}

static void put_field(Numfmt *f, Slice field, uint64_t number)
{
    Proc *p = f->p;
    const char *text = mem_copy(&p->mem, field), *at = text, *converted;
    if (!wanted(f, number)) {
        out_write(p->out, field);
        return;
    }
    at += strspn(at, " \t");
    size_t width = (size_t)(f->padding < 0 ? -f->padding : f->padding);
    if (f->auto_padding)
        width = at > text || number > 1 ? field.len : 0;
    if (!convert(f, at, &converted)) {
        out_write(p->out, field);
        return;
    }
    size_t len = display_width(slice_str(converted), locale_utf8(p)), pad = width > len ? width - len : 0;
    out_str(p->out, f->before);
    if (!f->left)
        out_pad(p->out, pad, ' ');
    out_str(p->out, converted);
    if (f->left)
        out_pad(p->out, pad, ' ');
    out_str(p->out, f->after);
}

static void put_line(Numfmt *f, Slice line, bool ended)
{
    MemMark mark = mem_mark(&f->p->mem);
    for (uint64_t number = 1;; number++) {
        size_t n = 0;
        if (f->delimiter) {
            n = slice_find(line, f->delimiter);
        } else {
            while (n < line.len && (line.data[n] == ' ' || line.data[n] == '\t'))
                n++;
            while (n < line.len && line.data[n] != ' ' && line.data[n] != '\t')
                n++;
        }
        put_field(f, slice(line.data, n), number);
        if (n == line.len)
            break;
        out_char(f->p->out, f->delimiter ? f->delimiter : ' ');
        line = slice_from(line, n + 1);
    }
    if (ended)
        out_char(f->p->out, f->end);
    proc_tick(f->p, 2);
    mem_reset(&f->p->mem, mark);
}

/* ---------- options ---------- */

static void parse_format(Numfmt *f, const char *format)
{
    Proc *p = f->p;
    const char *s = format, *shown = quote(p, format);
    Buf before, after;
    buf_init(&before, &p->keep, BUF_MAX);
    buf_init(&after, &p->keep, BUF_MAX);
    buf_append(&before, (Slice){"", 0});
    buf_append(&after, (Slice){"", 0});
    for (; *s && (*s != '%' || s[1] == '%'); s += *s == '%' ? 2 : 1)
        buf_char(&before, *s);
    if (!*s)
        die(p, 1, "format %s has no %% directive", shown);
    s++;
    bool zero = false;
    for (; *s == ' ' || *s == '\'' || *s == '0'; s++) {
        f->grouping |= *s == '\'';
        zero |= *s == '0';
    }
    bool negative = *s == '-';
    s += negative;
    int64_t width = 0;
    for (; *s >= '0' && *s <= '9'; s++)
        width = MIN(width * 10 + (*s - '0'), 1 << 20);
    if (width && zero && !negative)
        f->zero_padding = width;
    else if (width) {
        f->padding = width;
        f->left = negative;
    }
    if (!*s)
        die(p, 1, "format %s ends in %%", shown);
    if (*s == '.') {
        f->precision = 0;
        for (s++; *s >= '0' && *s <= '9'; s++)
            f->precision = MIN(f->precision * 10 + (*s - '0'), 4000);
    }
    if (*s != 'f')
        die(p, 1, "invalid format %s, directive must be %%[0]['][-][N][.][N]f", shown);
    for (s++; *s; s += *s == '%' ? 2 : 1) {
        if (*s == '%' && s[1] != '%')
            die(p, 1, "format %s has too many %% directives", shown);
        buf_char(&after, *s);
    }
    f->before = before.data;
    f->after = after.data;
}

static void parse_fields(Numfmt *f, Args *args, const char *text)
{
    Proc *p = f->p;
    for (const char *s = text; *s;) {
        size_t n = strcspn(s, ", \t");
        char *word = mem_copy(&p->mem, slice(s, n)), *dash = strchr(word, '-');
        int64_t low = 1, high = INT64_MAX;
        bool ok = n > 0;
        if (dash)
            *dash = 0;
        if (!dash || *word)
            ok &= parse_int(word, &low) == 0;
        if (dash && dash[1])
            ok &= parse_int(dash + 1, &high) == 0;
        if (!dash)
            high = low;
        ok &= !dash || *word || dash[1] || strcmp(text, "-") == 0;
        if (!ok)
            usage_fail(p, args, "invalid field value %s", quote(p, word));
        if (low < 1)
            usage_fail(p, args, "fields are numbered from 1");
        if (high < low)
            usage_fail(p, args, "invalid decreasing range");
        FieldRange *grown = mem_array(&p->keep, f->field_count + 1, FieldRange);
        if (f->field_count)
            memcpy(grown, f->fields, f->field_count * sizeof *grown);
        grown[f->field_count++] = (FieldRange){(uint64_t)low, (uint64_t)high};
        f->fields = grown;
        s += n + (s[n] != 0);
    }
}

static long double unit_size(Numfmt *f, const char *text)
{
    uint64_t v;
    size_t n = strlen(text);
    bool binary = n > 1 && text[n - 1] == 'i';
    char *number = mem_copy(&f->p->mem, slice(text, n - binary));
    int power = n > (size_t)binary ? power_of(number[n - binary - 1]) : 0;
    if (power)
        number[n - (size_t)binary - 1] = 0;
    if (!*number && power)
        number = mem_strdup(&f->p->mem, "1");
    if (parse_size(number, "", &v) != 0 || v == 0)
        die(f->p, 1, "invalid unit size: %s", quote(f->p, text));
    long double r = (long double)v;
    while (power--)
        r *= binary ? 1024 : 1000;
    return r;
}

static int64_t padding_value(Numfmt *f, const char *text)
{
    int64_t v;
    if (parse_int(text, &v) || v == 0 || v < INT32_MIN || v > INT32_MAX)
        die(f->p, 1, "invalid padding value %s", quote(f->p, text));
    return v;
}

static void set_option(Numfmt *f, Args *args, int id)
{
    char *v = args->value;
    int64_t n;
    switch (id) {
    case DEBUG: f->debug = true; break;
    case 'd':
        if (v[0] && v[1])
            die(f->p, 1, "the delimiter must be a single character");
        f->delimiter = v[0];
        break;
    case FIELD:
        if (f->field_count)
            die(f->p, 1, "multiple field specifications");
        parse_fields(f, args, v);
        break;
    case FORMAT: parse_format(f, v); f->converting = true; break;
    case FROM: f->from = (Scale)choose(f->p, args, "--from", v, from_words); f->converting = true; break;
    case TO: f->to = (Scale)choose(f->p, args, "--to", v, to_words); f->converting = true; break;
    case FROM_UNIT: f->from_unit = unit_size(f, v); f->converting = true; break;
    case TO_UNIT: f->to_unit = unit_size(f, v); f->converting = true; break;
    case GROUPING: f->grouping = true; f->converting = true; break;
    case HEADER:
        if (v && (parse_int(v, &n) || n <= 0))
            die(f->p, 1, "invalid header value %s", quote(f->p, v));
        f->header = v ? (uint64_t)n : 1;
        break;
    case INVALID: f->bad = (Bad)choose(f->p, args, "--invalid", v, bad_words); break;
    case PADDING: f->padding = padding_value(f, v); f->left = f->padding < 0; f->converting = true; break;
    case ROUND: f->rounding = (Rounding)choose(f->p, args, "--round", v, round_words); break;
    case SUFFIX: f->suffix = v; break;
    case 'z': f->end = 0; break;
    default: break;
    }
}

static int numfmt_main(Proc *p, Args *args)
{
    Numfmt f = {.p = p, .rounding = ROUND_FROM_ZERO, .from_unit = 1, .to_unit = 1, .before = "", .after = "", .precision = -1, .end = '\n'};
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&f, args, id);
    if (f.grouping && f.to != SCALE_NONE)
        die(p, 1, "grouping cannot be combined with --to");
    if (f.debug && !f.converting)
        warn(p, "no conversion option specified");
    f.auto_padding = f.padding == 0 && f.delimiter == 0;
    int n;
    char **v = args_operands(args, &n);
    if (f.debug && n && f.header)
        warn(p, "--header ignored with command-line input");
    for (int i = 0; i < n; i++)
        put_line(&f, slice_str(v[i]), true);
    if (!n) {
        Input in = input_files(p, NULL, 0);
        in.delimiter = f.end;
        Slice line;
        bool ended;
        while (input_open(&in) && input_record(&in, &line, &ended)) {
            if (f.header) {
                f.header--;
                out_write(p->out, line);
                out_char(p->out, f.end);
            } else {
                put_line(&f, line, ended);
            }
        }
    }
    if (f.debug && f.failed)
        warn(p, "failed to convert some of the input numbers");
    return f.failed ? STATUS_BAD : 0;
}

COMMAND(numfmt, "numfmt [OPTION]... [NUMBER]...", "Reformat NUMBER(s), or the numbers from standard input if none are specified.", options, COMMAND_PURE);
