/* printf's language, as gawk has it: %c %d %i %o %u %x %X %s %e %f %g %a, positional arguments, *, and numbers of any size. */
#include "awk.h"

enum { WIDEST = 100000000 };

typedef struct Spec {
    bool minus, plus, space, alternate, zero;
    bool has_precision;
    int width, precision;
    char conversion;
    size_t from; /* of the % in the format */
} Spec;

typedef struct Format {
    Awk *w;
    Buf *out;
    Slice s;
    size_t at;
    const Value *args;
    uint32_t count, next; /* args[0] is the format */
    bool positions;       /* some are named by number */
} Format;

static NORETURN void ran_out(Format *f, size_t from)
{
    Buf *b = &f->w->work2;
    buf_clear(b);
    buf_printf(b, "not enough arguments to satisfy format string\n\t`");
    buf_append(b, f->s);
    buf_printf(b, "'\n\t%*s^ ran out for this one", (int)MIN(from + 1, (size_t)10000), "");
    awk_fatal(f->w, "%s", b->data);
}

static const Value *argument(Format *f, uint32_t position, size_t from)
{
    uint32_t n = position ? position : f->next++;
    f->positions |= position != 0;
    if (n >= f->count)
        ran_out(f, from);
    return &f->args[n];
}

static bool read_number(Format *f, int *n)
{
    size_t from = f->at;
    int64_t v = 0;
    for (; f->at < f->s.len && f->s.data[f->at] >= '0' && f->s.data[f->at] <= '9'; f->at++)
        v = v > WIDEST ? WIDEST : v * 10 + (f->s.data[f->at] - '0');
    *n = (int)MIN(v, (int64_t)WIDEST);
    return f->at > from;
}

static int star(Format *f, size_t from)
{
    f->at++;
    size_t back = f->at;
    int position;
    if (!read_number(f, &position) || f->at >= f->s.len || f->s.data[f->at] != '$') {
        f->at = back;
        position = 0;
    } else {
        f->at++;
    }
    double n = value_number(f->w, argument(f, (uint32_t)position, from));
    return n > WIDEST ? WIDEST : n < -WIDEST ? -WIDEST : (int)n;
}

static bool read_flag(Format *f, Spec *s)
{
    switch (f->at < f->s.len ? f->s.data[f->at] : 0) {
    case '-': s->minus = true; break;
    case '+': s->plus = true; break;
    case ' ': s->space = true; break;
    case '#': s->alternate = true; break;
    case '0': s->zero = true; break;
    case '\'': break;
    default: return false;
    }
    f->at++;
    return true;
}

/* Reads behind the %; the position of its argument in *position (0: the next). */
static bool read_spec(Format *f, Spec *s, uint32_t *position)
{
    int n;
    size_t back = f->at;
    if (read_number(f, &n) && n > 0 && f->at < f->s.len && f->s.data[f->at] == '$') {
        *position = (uint32_t)n;
        f->at++;
    } else {
        f->at = back;
    }
    while (read_flag(f, s))
        ;
    if (f->at < f->s.len && f->s.data[f->at] == '*') {
        s->width = star(f, s->from);
        if (s->width < 0) {
            s->minus = true;
            s->width = -s->width;
        }
    } else {
        read_number(f, &s->width);
    }
    if (f->at < f->s.len && f->s.data[f->at] == '.') {
        f->at++;
        s->has_precision = true;
        if (f->at < f->s.len && f->s.data[f->at] == '*') {
            s->precision = star(f, s->from);
            s->has_precision = s->precision >= 0;
        } else {
            read_number(f, &s->precision);
        }
    }
    while (f->at < f->s.len && f->s.data[f->at] && strchr("hlLqjzt", f->s.data[f->at]))
        f->at++;
    if (f->at >= f->s.len)
        return false;
    s->conversion = f->s.data[f->at++];
    return true;
}

static void pad(Buf *out, size_t n, char c)
{
    if (buf_reserve(out, n)) {
        memset(out->data + out->len, c, n);
        out->len += n;
        out->data[out->len] = 0;
    }
}

static void put_padded(Format *f, const Spec *s, Slice text, size_t chars)
{
    size_t gap = (size_t)s->width > chars ? (size_t)s->width - chars : 0;
    if (gap && !s->minus)
        pad(f->out, gap, ' ');
    buf_append(f->out, text);
    if (gap && s->minus)
        pad(f->out, gap, ' ');
}

static void put_string(Format *f, const Spec *s, Slice text)
{
    bool wide = f->w->utf8 && (s->width || s->has_precision) && !slice_ascii(text);
    if (s->has_precision) {
        size_t most = wide ? utf8_offset(text, (size_t)s->precision) : (size_t)s->precision;
        text.len = MIN(text.len, most);
    }
    put_padded(f, s, text, wide ? utf8_count(text) : text.len);
}

static void put_char(Format *f, const Spec *s, const Value *v)
{
    char room[6];
    size_t n = 1;
    if (v->kind == V_NUM || v->kind == V_UNSET || (v->kind == V_INPUT && value_looks_numeric(f->w, v))) {
        double d = value_number(f->w, v);
        uint32_t c = d > -0x1p63 && d < 0x1p63 ? (uint32_t)(int64_t)d : 0; /* the low bits, as of a C integer */
        if (f->w->utf8 && c >= 128 && c <= 0x7FFFFFFF && !(c >= 0xD800 && c < 0xE000))
            n = utf8_encode(c, room);
        else
            room[0] = (char)c;
        put_padded(f, s, slice(room, n), 1);
        return;
    }
    String *text = value_string(f->w, v);
    if (f->w->utf8 && text->len > 1)
        utf8_decode(text->data, text->len, &n);
    put_padded(f, s, slice(text->data, n), 1); /* of an empty string its NUL */
    string_release(f->w, text);
}

/* The C library's format for a conversion of ours. */
static const char *host_format(const Spec *s, const char *type, char room[16])
{
    char *at = room;
    *at++ = '%';
    if (s->minus)
        *at++ = '-';
    if (s->plus)
        *at++ = '+';
    if (s->space)
        *at++ = ' ';
    if (s->alternate)
        *at++ = '#';
    if (s->zero)
        *at++ = '0';
    *at++ = '*';
    if (s->has_precision) {
        *at++ = '.';
        *at++ = '*';
    }
    while (*type)
        *at++ = *type++;
    *at = 0;
    return room;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the format is built by host_format */
static void put_double(Format *f, const Spec *s, char conversion, double n)
{
    char room[16], type[2] = {conversion, 0};
    const char *format = host_format(s, type, room);
    size_t need = 512 + (size_t)s->width + (s->has_precision ? (size_t)s->precision : 0);
    if (!buf_reserve(f->out, need))
        return;
    int n_out = s->has_precision ? snprintf(f->out->data + f->out->len, need, format, s->width, s->precision, n)
                                 : snprintf(f->out->data + f->out->len, need, format, s->width, n);
    f->out->len += n_out > 0 ? (size_t)n_out : 0;
}

static void put_whole(Format *f, const Spec *s, const char *type, uint64_t n)
{
    char room[16];
    const char *format = host_format(s, type, room);
    size_t need = 128 + (size_t)s->width + (s->has_precision ? (size_t)s->precision : 0);
    if (!buf_reserve(f->out, need))
        return;
    int n_out = s->has_precision ? snprintf(f->out->data + f->out->len, need, format, s->width, s->precision, n)
                                 : snprintf(f->out->data + f->out->len, need, format, s->width, n);
    f->out->len += n_out > 0 ? (size_t)n_out : 0;
}
#pragma GCC diagnostic pop

static void put_special(Format *f, Spec *s, double n)
{
    static const char *const texts[2][4] = {{"+nan", "-nan", "+inf", "-inf"}, {"+NAN", "-NAN", "+INF", "-INF"}};
    const char *text = texts[s->conversion < 'a'][(isnan(n) ? 0 : 2) + (signbit(n) != 0)];
    s->width = 0; /* whatever was asked for */
    put_padded(f, s, slice_str(text), 4);
}

/* Under # what lies between -1 and 1 has its prefix, a zero has not. */
static void put_fraction(Format *f, const Spec *s)
{
    size_t zeros = s->has_precision ? (size_t)s->precision : s->zero && !s->minus && s->width > 2 ? (size_t)s->width - (s->conversion == 'o' ? 1 : 2) : 1;
    Buf text;
    buf_init(&text, &f->w->p->mem, BUF_MAX);
    buf_append(&text, s->conversion == 'o' ? SLICE("0") : s->conversion == 'x' ? SLICE("0x") : SLICE("0X"));
    pad(&text, zeros, '0');
    put_padded(f, s, buf_slice(&text), text.len);
}

static void put_integer(Format *f, Spec *s, double n)
{
    bool fraction = n != 0;
    n = trunc(n);
    if (n == 0 && fraction && s->alternate && strchr("oxX", s->conversion)) {
        put_fraction(f, s);
        return;
    }
    if (s->has_precision && s->precision >= 0)
        s->zero = false;
    bool is_signed = s->conversion == 'd' || s->conversion == 'i';
    if (is_signed && n > -9.2e18 && n < 9.2e18) {
        put_whole(f, s, "ld", (uint64_t)(int64_t)n);
        return;
    }
    if (!is_signed && n >= -0x1p63 && n < 0x1p64) {
        char type[3] = {'l', s->conversion, 0};
        put_whole(f, s, type, n < 0 ? (uint64_t)(int64_t)n : (uint64_t)n);
        return;
    }
    if (is_signed) {
        s->has_precision = true;
        s->precision = 0;
        put_double(f, s, 'f', n);
        return;
    }
    put_double(f, s, 'g', n);
}

static void put(Format *f, Spec *s, const Value *v)
{
    double n;
    switch (s->conversion) {
    case 'c': put_char(f, s, v); return;
    case 's': {
        String *text = value_string(f->w, v);
        put_string(f, s, string_slice(text));
        string_release(f->w, text);
        return;
    }
    default: n = value_number(f->w, v); break;
    }
    if (isnan(n) || isinf(n))
        put_special(f, s, n);
    else if (strchr("diouxX", s->conversion))
        put_integer(f, s, n);
    else
        put_double(f, s, s->conversion, n);
}

void format_values(Awk *w, Buf *out, const Value *args, uint32_t count)
{
    String *text = value_string(w, &args[0]);
    Format f = {.w = w, .out = out, .s = string_slice(text), .args = args, .count = count, .next = 1};
    while (f.at < f.s.len) {
        size_t n = slice_find(slice_from(f.s, f.at), '%');
        buf_append(out, slice(f.s.data + f.at, n));
        f.at += n;
        if (f.at >= f.s.len)
            break;
        Spec s = {.from = f.at++};
        uint32_t position = 0;
        if (f.at < f.s.len && f.s.data[f.at] == '%') {
            buf_char(out, '%');
            f.at++;
        } else if (!read_spec(&f, &s, &position)) {
            buf_append(out, slice(f.s.data + s.from, f.at - s.from));
        } else if (s.conversion == '%') {
            buf_char(out, '%');
        } else if (s.conversion && strchr("cdiouxXseEfFgGaA", s.conversion)) {
            put(&f, &s, argument(&f, position, s.from));
        } else {
            buf_append(out, slice(f.s.data + s.from, f.at - s.from));
        }
    }
    string_release(w, text);
    if (w->lint && !f.positions && f.next < count)
        awk_lint(w, "too many arguments supplied for format string");
    if (out->failed)
        awk_fatal(w, "printf: result too large");
}
