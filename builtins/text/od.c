/* od: dump files in octal and other formats. GNU coreutils 9.1: -A -j -N -S -t -v -w and the traditional letters. */
#include <math.h>
#include <stdlib.h>

#include "command.h"

enum { OPT_ENDIAN = 256, MOST_SPECS = 32, MOST_WIDTH = 65536 };

static const Option options[] = {
    {'A', "address-radix", OPT_VALUE, "output format for file offsets; RADIX is one of [doxn], for Decimal, Octal, Hex or None", "RADIX", 0},
    {0, "endian", OPT_VALUE, "swap input bytes according the specified order", "{big|little}", OPT_ENDIAN},
    {'j', "skip-bytes", OPT_VALUE, "skip BYTES input bytes first", "BYTES", 0},
    {'N', "read-bytes", OPT_VALUE, "limit dump to BYTES input bytes", "BYTES", 0},
    {'S', NULL, OPT_VALUE, "output strings of at least BYTES graphic chars", "BYTES", 0},
    {0, "strings", OPT_OPTIONAL, "the same; 3 is implied when BYTES is not specified", "BYTES", 'S'},
    {'t', "format", OPT_VALUE, "select output format or formats", "TYPE", 0},
    {'v', "output-duplicates", OPT_FLAG, "do not use * to mark line suppression", NULL, 0},
    {'w', "width", OPT_OPTIONAL, "output BYTES bytes per output line; 32 is implied when BYTES is not specified", "BYTES", 0},
    {'a', NULL, OPT_FLAG, "same as -t a,  select named characters, ignoring high-order bit", NULL, 0},
    {'b', NULL, OPT_FLAG, "same as -t o1, select octal bytes", NULL, 0},
    {'c', NULL, OPT_FLAG, "same as -t c,  select printable characters or backslash escapes", NULL, 0},
    {'d', NULL, OPT_FLAG, "same as -t u2, select unsigned decimal 2-byte units", NULL, 0},
    {'f', NULL, OPT_FLAG, "same as -t fF, select floats", NULL, 0},
    {'i', NULL, OPT_FLAG, "same as -t dI, select decimal ints", NULL, 0},
    {'l', NULL, OPT_FLAG, "same as -t dL, select decimal longs", NULL, 0},
    {'o', NULL, OPT_FLAG, "same as -t o2, select octal 2-byte units", NULL, 0},
    {'s', NULL, OPT_FLAG, "same as -t d2, select decimal 2-byte units", NULL, 0},
    {'x', NULL, OPT_FLAG, "same as -t x2, select hexadecimal 2-byte units", NULL, 0},
    {'h', NULL, OPT_FLAG, NULL, NULL, 0},
    {'B', NULL, OPT_FLAG, NULL, NULL, 0},
    OPTIONS_END,
};

typedef struct {
    char type;      /* a c d f o u x */
    unsigned size;  /* bytes of a unit */
    unsigned field; /* columns of one, without the blank before it */
    unsigned pad;   /* blanks that line it up with the widest specification, per line */
    bool trailer;   /* z: the bytes as characters behind */
} Spec;

typedef struct {
    Proc *p;
    Spec specs[MOST_SPECS];
    unsigned count;
    char radix; /* d o x n */
    uint64_t skip, limit;
    unsigned width;
    bool all, big_endian;
} Od;

/* ---------- formats ---------- */

static unsigned digits_of(char type, unsigned size)
{
    static const unsigned octal[] = {[1] = 3, [2] = 6, [4] = 11, [8] = 22}, sign[] = {[1] = 4, [2] = 6, [4] = 11, [8] = 20},
                          plain[] = {[1] = 3, [2] = 5, [4] = 10, [8] = 20}, hex[] = {[1] = 2, [2] = 4, [4] = 8, [8] = 16};
    switch (type) {
    case 'o': return octal[size];
    case 'd': return sign[size];
    case 'u': return plain[size];
    case 'x': return hex[size];
    case 'f': return size == 4 ? 15 : size == 8 ? 24 : 28;
    default: return 3;
    }
}

static NORETURN void bad_type(Proc *p, const char *format, const char *arg) { die(p, 1, format, quote(p, arg)); }

static unsigned size_letter(char type, char c)
{
    if (type == 'f')
        return c == 'F' ? 4 : c == 'D' ? 8 : c == 'L' ? 16 : 0;
    return c == 'C' ? 1 : c == 'S' ? 2 : c == 'I' ? 4 : c == 'L' ? 8 : 0;
}

/* One specification at *s. */
static void parse_type(Od *o, const char **s, const char *whole)
{
    Proc *p = o->p;
    Spec spec = {.type = **s, .size = 1};
    if (!**s || !strchr("acdfoux", **s))
        die(p, 1, "invalid character '%c' in type string %s", **s, quote(p, whole));
    ++*s;
    if (spec.type != 'a' && spec.type != 'c') {
        spec.size = spec.type == 'f' ? 8 : 4;
        unsigned letter = size_letter(spec.type, **s);
        if (letter) {
            spec.size = letter;
            ++*s;
        } else if (**s >= '0' && **s <= '9') {
            char *end;
            unsigned long v = strtoul(*s, &end, 10);
            bool ok = spec.type == 'f' ? v == 4 || v == 8 || v == 16 : v == 1 || v == 2 || v == 4 || v == 8;
            if (!ok)
                die(p, 1, spec.type == 'f' ? "invalid type string %s;\nthis system doesn't provide a %lu-byte floating point type"
                                           : "invalid type string %s;\nthis system doesn't provide a %lu-byte integral type",
                    quote(p, whole), v);
            spec.size = (unsigned)v;
            *s = end;
        }
    }
    if (**s == 'z') {
        spec.trailer = true;
        ++*s;
    }
    spec.field = digits_of(spec.type, spec.size);
    if (o->count == MOST_SPECS)
        bad_type(p, "too many types: %s", whole);
    o->specs[o->count++] = spec;
}

static void add_types(Od *o, const char *text)
{
    for (const char *s = text; *s;)
        parse_type(o, &s, text);
}

static void add_letter(Od *o, int letter)
{
    static const char *const types[128] = {
        ['a'] = "a", ['b'] = "o1", ['c'] = "c", ['d'] = "u2", ['f'] = "fF", ['i'] = "dI", ['l'] = "dL", ['o'] = "o2", ['s'] = "d2", ['x'] = "x2",
        ['h'] = "x2", ['B'] = "o2",
    };
    if (letter < 128 && types[letter])
        add_types(o, types[letter]);
}

/* ---------- one line ---------- */

static uint64_t unit(const Od *o, const unsigned char *b, unsigned size)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < size; i++)
        v = v << 8 | b[o->big_endian ? i : size - 1 - i];
    return v;
}

static void named_char(char *out, unsigned char b)
{
    static const char names[33][4] = {"nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr", "so", "si", "dle",
                                      "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs", "us", "sp"};
    b &= 127;
    if (b <= 32)
        strcpy(out, names[b]);
    else if (b == 127)
        strcpy(out, "del");
    else
        snprintf(out, 4, "%c", b);
}

static void shown_char(char *out, unsigned char b)
{
    static const char from[] = "\a\b\f\n\r\t\v", to[] = "abfnrtv";
    const char *at = b ? strchr(from, b) : NULL;
    if (b == 0)
        strcpy(out, "\\0");
    else if (at)
        snprintf(out, 4, "\\%c", to[at - from]);
    else if (b >= 32 && b < 127)
        snprintf(out, 4, "%c", b);
    else
        snprintf(out, 4, "%03o", b);
}

/* The fewest digits that read back as the same number, as gnulib's ftoastr. */
static void shown_float(char *out, size_t cap, const Od *o, const unsigned char *b, unsigned size)
{
    uint64_t bits = unit(o, b, size > 8 ? 8 : size);
    if (size == 4) {
        uint32_t low = (uint32_t)bits;
        float f;
        memcpy(&f, &low, sizeof f);
        for (int d = 6; d <= 9; d++) {
            snprintf(out, cap, "%.*g", d, (double)f);
            if (strtof(out, NULL) == f || isnan(f))
                return;
        }
        return;
    }
    if (size == 8) {
        double f;
        memcpy(&f, &bits, sizeof f);
        for (int d = 15; d <= 17; d++) {
            snprintf(out, cap, "%.*g", d, f);
            if (strtod(out, NULL) == f || isnan(f))
                return;
        }
        return;
    }
    long double f = 0;
    memcpy(&f, b, MIN(sizeof f, (size_t)16));
    for (int d = 18; d <= 21; d++) {
        snprintf(out, cap, "%.*Lg", d, f);
        if (strtold(out, NULL) == f || isnan(f))
            return;
    }
}

/* `digits` digits of `bits` bits each. */
static void radix_digits(char *out, uint64_t v, unsigned bits, unsigned digits)
{
    out[digits] = '\0';
    for (unsigned i = digits; i-- > 0; v >>= bits)
        out[i] = "0123456789abcdef"[v & ((1u << bits) - 1)];
}

static void decimal(char *out, uint64_t v, bool negative)
{
    char digits[24];
    unsigned n = 0;
    do
        digits[n++] = (char)('0' + v % 10);
    while (v /= 10);
    if (negative)
        *out++ = '-';
    while (n)
        *out++ = digits[--n];
    *out = '\0';
}

static void print_right(Output *out, const char *text, unsigned width)
{
    char field[64];
    size_t n = strlen(text), blanks = width > n ? width - n : 0;
    if (blanks + n > sizeof field) {
        out_pad(out, blanks, ' ');
        out_str(out, text);
        return;
    }
    memset(field, ' ', blanks);
    memcpy(field + blanks, text, n);
    out_write(out, (Slice){field, blanks + n});
}

static void print_unit(Od *o, const Spec *s, const unsigned char *b, unsigned width)
{
    char text[64];
    Output *out = o->p->out;
    uint64_t v = s->type == 'f' || s->type == 'a' || s->type == 'c' ? 0 : unit(o, b, s->size);
    int64_t sign = 0;
    switch (s->type) {
    case 'a': named_char(text, *b); break;
    case 'c': shown_char(text, *b); break;
    case 'f': shown_float(text, sizeof text, o, b, s->size); break;
    case 'o': radix_digits(text, v, 3, s->field); break;
    case 'x': radix_digits(text, v, 4, s->field); break;
    case 'u': decimal(text, v, false); break;
    default:
        sign = s->size == 8 ? (int64_t)v : (int64_t)(v << (64 - 8 * s->size)) >> (64 - 8 * s->size);
        decimal(text, sign < 0 ? 0 - (uint64_t)sign : (uint64_t)sign, sign < 0);
        break;
    }
    print_right(out, text, width);
}

static void print_trailer(Od *o, const unsigned char *b, size_t n)
{
    out_str(o->p->out, "  >");
    for (size_t i = 0; i < n; i++)
        out_char(o->p->out, b[i] >= 32 && b[i] < 127 ? (char)b[i] : '.');
    out_char(o->p->out, '<');
}

/* Blanks before unit i of a line of `units`, so that the line's surplus is spread evenly. */
static unsigned spread(unsigned pad, unsigned units, unsigned i) { return pad * (units - i) / units - pad * (units - 1 - i) / units; }

static void print_address(Od *o, uint64_t at, char end)
{
    Output *out = o->p->out;
    if (o->radix == 'd')
        out_printf(out, "%07llu", (unsigned long long)at);
    else if (o->radix == 'o')
        out_printf(out, "%07llo", (unsigned long long)at);
    else if (o->radix == 'x')
        out_printf(out, "%06llx", (unsigned long long)at);
    if (end)
        out_char(out, end);
}

static void print_line(Od *o, uint64_t at, const unsigned char *b, size_t n)
{
    for (unsigned k = 0; k < o->count; k++) {
        const Spec *s = &o->specs[k];
        unsigned units = o->width / s->size, used = (unsigned)((n + s->size - 1) / s->size);
        if (k == 0)
            print_address(o, at, 0);
        else
            out_pad(o->p->out, o->radix == 'n' ? 0 : o->radix == 'x' ? 6 : 7, ' ');
        for (unsigned i = 0; i < used; i++)
            print_unit(o, s, b + i * s->size, s->field + 1 + spread(s->pad, units, i));
        if (s->trailer) {
            for (unsigned i = used; i < units; i++)
                out_pad(o->p->out, s->field + 1 + spread(s->pad, units, i), ' ');
            print_trailer(o, b, n);
        }
        out_char(o->p->out, '\n');
    }
}

/* ---------- the stream ---------- */

static void skip_bytes(Od *o, Input *in)
{
    while (o->skip && input_open(in)) {
        Slice chunk;
        while (o->skip && input_chunk(in, &chunk)) {
            size_t k = (size_t)MIN(o->skip, (uint64_t)chunk.len);
            in->window = slice_from(chunk, k);
            o->skip -= k;
        }
        if (o->skip || in->window.len == 0)
            input_next(in);
    }
    if (o->skip)
        die(o->p, 1, "cannot skip past end of combined input");
}

/* Fills a line from the files in turn; how many bytes came. */
static size_t read_line(Od *o, Input *in, unsigned char *line, uint64_t done)
{
    size_t n = 0, most = (size_t)MIN((uint64_t)o->width, o->limit - done);
    Slice chunk;
    while (n < most && input_open(in)) {
        if (!input_chunk(in, &chunk)) {
            input_next(in);
            continue;
        }
        size_t k = MIN(most - n, chunk.len);
        memcpy(line + n, chunk.data, k);
        in->window = slice_from(chunk, k);
        n += k;
    }
    return n;
}

static void dump(Od *o, Input *in, uint64_t start)
{
    unsigned char *line = mem_alloc(&o->p->keep, o->width + 16), *before = mem_alloc(&o->p->keep, o->width + 16);
    bool any = false, starred = false;
    uint64_t done = 0;
    for (size_t n; (n = read_line(o, in, line, done)) > 0; done += n) {
        proc_tick(o->p, 1);
        bool same = any && n == o->width && !o->all && memcmp(line, before, n) == 0;
        if (same && !starred)
            out_str(o->p->out, "*\n");
        starred = same;
        if (!same) {
            memset(line + n, 0, o->width + 16 - n);
            print_line(o, start + done, line, n);
        }
        memcpy(before, line, n);
        any = true;
    }
    if (o->radix != 'n')
        print_address(o, start + done, '\n');
}

static void dump_strings(Od *o, Input *in, uint64_t start, uint64_t least)
{
    Buf run;
    uint64_t at = start, end = o->limit > UINT64_MAX - start ? UINT64_MAX : start + o->limit;
    buf_init(&run, &o->p->keep, BUF_MAX);
    for (; input_open(in); input_next(in))
        for (Slice chunk; at < end && input_chunk(in, &chunk);)
            for (size_t i = 0; i < chunk.len && at < end; i++, at++) {
                unsigned char b = (unsigned char)chunk.data[i];
                if ((b >= 32 && b < 127) || (b >= '\a' && b <= '\r')) {
                    buf_char(&run, (char)b);
                    continue;
                }
                if (b == 0 && run.len >= least) {
                    print_address(o, at - run.len, o->radix == 'n' ? 0 : ' ');
                    for (size_t k = 0; k < run.len; k++) {
                        char text[8];
                        shown_char(text, (unsigned char)run.data[k]);
                        out_str(o->p->out, text);
                    }
                    out_char(o->p->out, '\n');
                }
                buf_clear(&run);
            }
}

static uint64_t number(Proc *p, const char *text, char option)
{
    uint64_t v;
    char *end;
    if (text[0] == '0' && text[1]) { /* octal and hexadecimal, as strtoumax with base 0 */
        v = strtoul(text, &end, 0);
        if (!*end)
            return v;
    }
    int err = parse_size(text, "bEGKkMmPTYZ0", &v);
    if (err == -EINVAL)
        die(p, 1, text[0] >= '0' && text[0] <= '9' ? "invalid suffix in -%c argument '%s'" : "invalid -%c argument '%s'", option, text);
    if (err)
        die(p, 1, "-%c argument '%s' too large", option, text);
    return v;
}

/* All specifications of a line take the width of the widest. */
static void line_up(Od *o)
{
    unsigned widest = 0;
    for (unsigned i = 0; i < o->count; i++)
        widest = MAX(widest, (o->specs[i].field + 1) * (o->width / o->specs[i].size));
    for (unsigned i = 0; i < o->count; i++)
        o->specs[i].pad = widest - (o->specs[i].field + 1) * (o->width / o->specs[i].size);
}

static unsigned least_multiple(const Od *o)
{
    unsigned m = 1;
    for (unsigned i = 0; i < o->count; i++)
        m = MAX(m, o->specs[i].size); /* sizes are powers of two */
    return m;
}

static void set_radix(Od *o, const char *text)
{
    if (!strchr("doxn", text[0]) || !text[0])
        die(o->p, 1, "invalid output address radix '%c'; it must be one character from [doxn]", text[0]);
    o->radix = text[0];
}

static int od_main(Proc *p, Args *args)
{
    Od o = {.p = p, .radix = 'o', .limit = UINT64_MAX};
    uint64_t strings = 0, width = 0;
    bool width_given = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        switch (id) {
        case 'A': set_radix(&o, args->value); break;
        case 'j': o.skip = number(p, args->value, 'j'); break;
        case 'N': o.limit = number(p, args->value, 'N'); break;
        case 'S': strings = args->value ? number(p, args->value, 'S') : 3; break;
        case 't': add_types(&o, args->value); break;
        case 'v': o.all = true; break;
        case 'w': width = args->value ? number(p, args->value, 'w') : 32; width_given = true; break;
        case OPT_ENDIAN: o.big_endian = args->value[0] == 'b'; break;
        default: add_letter(&o, id); break;
        }
    }
    if (o.count == 0)
        add_types(&o, "oS");
    unsigned step = least_multiple(&o);
    o.width = step < 16 ? 16 / step * step : step;
    if (width_given && width && width <= MOST_WIDTH && width % step == 0)
        o.width = (unsigned)width;
    else if (width_given) {
        warn(p, "warning: invalid width %llu; using %u instead", (unsigned long long)width, step);
        o.width = step;
    }
    line_up(&o);
    Input in = input_first(p, args);
    uint64_t start = o.skip;
    skip_bytes(&o, &in);
    if (strings)
        dump_strings(&o, &in, start, strings);
    else
        dump(&o, &in, start);
    return input_status(&in);
}

COMMAND(od, "od [OPTION]... [FILE]...", "Write an unambiguous representation, octal bytes by default, of FILE to standard output.", options, COMMAND_PURE);
