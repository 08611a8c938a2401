/* number: the text of numbers. Doubles print as the shortest digits that read back; literals keep theirs.
 *
 * The C library's conversions are given and asked for digits and exponent only, never a decimal point: the host's locale has a say in that.
 */
#include <math.h>
#include <stdlib.h>

#include "value.h"

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Digits (without trailing zeros) and the place of the decimal point: 0.DIGITS * 10^point. d > 0 and finite. */
static size_t shortest(double d, char digits[24], int *point)
{
    /* a decimal of at most 15 digits that reads back is the only one that short */
    for (int k = 0; k <= 17 && d < 1e15; k++) {
        double scaled = d * powers[k];
        if (scaled >= 1e15)
            break;
        double whole = floor(scaled + 0.5);
        if (whole >= 1 && whole / powers[k] == d) {
            size_t len;
            char text[24];
            char *at = format_int((int64_t)whole, text, &len);
            *point = (int)len - k;
            while (len > 1 && at[len - 1] == '0')
                len--;
            memcpy(digits, at, len);
            return len;
        }
    }
    char text[32];
    /* 15 digits hold every shorter decimal, but for what is too small to have as many */
    for (int precision = d < 2.3e-308 ? 0 : 14; precision <= 16; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, d);
        char *exponent = strchr(text, 'e');
        size_t n = 0;
        char plain[40];
        for (char *c = text; c < exponent; c++)
            if (*c >= '0' && *c <= '9')
                digits[n++] = *c;
        int e = (int)strtol(exponent + 1, NULL, 10);
        digits[n] = 0;
        snprintf(plain, sizeof plain, "%se%d", digits, e - (int)(n - 1));
        if (precision < 16 && strtod(plain, NULL) != d)
            continue;
        while (n > 1 && digits[n - 1] == '0')
            n--;
        *point = e + 1;
        return n;
    }
    return 0;
}

static size_t put_scientific(char *out, const char *digits, size_t n, int exponent)
{
    char *at = out;
    *at++ = digits[0];
    if (n > 1) {
        *at++ = '.';
        memcpy(at, digits + 1, n - 1);
        at += n - 1;
    }
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    return (size_t)(at - out) + (size_t)snprintf(at, 8, "%02d", exponent < 0 ? -exponent : exponent);
}

static size_t put_plain(char *out, const char *digits, size_t n, int point)
{
    char *at = out;
    if (point <= 0) {
        *at++ = '0';
        *at++ = '.';
        memset(at, '0', (size_t)-point);
        at += -point;
        memcpy(at, digits, n);
        return (size_t)(at - out) + n;
    }
    size_t whole = MIN(n, (size_t)point);
    memcpy(at, digits, whole);
    at += whole;
    if ((size_t)point > n) {
        memset(at, '0', (size_t)point - n);
        at += (size_t)point - n;
    } else if (n > whole) {
        *at++ = '.';
        memcpy(at, digits + whole, n - whole);
        at += n - whole;
    }
    return (size_t)(at - out);
}

size_t jq_number_format(double d, char out[NUMBER_TEXT])
{
    char digits[24];
    int point;
    if (d != d) {
        memcpy(out, "null", 4);
        return 4;
    }
    if (d > -1e15 && d < 1e15 && d == (double)(int64_t)d && (d != 0 || !signbit(d))) {
        size_t len;
        char text[24];
        char *at = format_int((int64_t)d, text, &len);
        memcpy(out, at, len);
        return len;
    }
    char *at = out;
    if (signbit(d)) {
        *at++ = '-';
        d = -d;
    }
    if (d == 0) {
        *at++ = '0';
        return (size_t)(at - out);
    }
    if (d > 1.7976931348623157e308)
        d = 1.7976931348623157e308;
    size_t n = shortest(d, digits, &point);
    if (point <= -4 || point > (int)n + 15)
        return (size_t)(at - out) + put_scientific(at, digits, n, point - 1);
    return (size_t)(at - out) + put_plain(at, digits, n, point);
}

Slice jq_number_text(Val v, char buf[NUMBER_TEXT])
{
    if (v.literal)
        return (Slice){v.lit->text, v.lit->len};
    return (Slice){buf, jq_number_format(v.num, buf)};
}

/* A decimal taken apart: coefficient digits and exponent. */
typedef struct {
    bool negative;
    const char *first; /* of the digits, the point among them */
    size_t span;
    size_t digits;     /* significant: without leading zeros */
    size_t leading;    /* zeros before them */
    int64_t exponent;  /* of the last digit */
    bool plain;        /* no exponent was written */
    bool lone_zero;    /* the integer part was exactly "0" or had no leading zero */
} Decimal;

static bool read_exponent(const char *at, const char *end, int64_t *value)
{
    bool negative = at < end && *at == '-';
    int64_t e = 0;
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9')
            return false;
        if (e < 100000000000)
            e = e * 10 + (*at - '0');
    }
    *value = negative ? -e : e;
    return true;
}

static bool decimal_read(Slice text, Decimal *d)
{
    const char *at = text.data, *end = at + text.len;
    *d = (Decimal){.plain = true};
    if (at < end && (*at == '-' || *at == '+'))
        d->negative = *at++ == '-';
    d->first = at;
    size_t fraction = 0, count = 0;
    bool point = false;
    for (; at < end; at++) {
        if (*at >= '0' && *at <= '9') {
            count++;
            fraction += point;
            if (*at == '0' && d->digits == 0)
                d->leading++;
            else
                d->digits++;
        } else if (*at == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    d->span = (size_t)(at - d->first);
    d->lone_zero = d->first < end && (d->first[0] != '0' || d->span == 1 || d->first[1] == '.') && d->first[0] != '.';
    if (count == 0)
        return false;
    if (at < end) {
        if ((*at | 0x20) != 'e' || !read_exponent(at + 1, end, &d->exponent))
            return false;
        d->plain = false;
    }
    if (point && at[-1] == '.' && at == end)
        d->plain = false; /* "5." is written 5 */
    d->exponent -= (int64_t)fraction;
    return true;
}

/* The significant digits, one '0' when there are none. */
static size_t decimal_digits(const Decimal *d, char *out)
{
    size_t n = 0, skip = d->leading;
    for (size_t i = 0; i < d->span; i++) {
        if (d->first[i] == '.')
            continue;
        if (skip)
            skip--;
        else
            out[n++] = d->first[i];
    }
    if (n == 0)
        out[n++] = '0';
    return n;
}

/* decNumber's to-scientific-string. */
static size_t canonical(const Decimal *d, char *out, const char *digits, size_t n)
{
    char *at = out;
    int64_t adjusted = d->exponent + (int64_t)n - 1;
    if (d->negative)
        *at++ = '-';
    if (d->exponent <= 0 && adjusted >= -6) {
        if (d->exponent == 0) {
            memcpy(at, digits, n);
            return (size_t)(at - out) + n;
        }
        return (size_t)(at - out) + put_plain(at, digits, n, (int)((int64_t)n + d->exponent));
    }
    *at++ = digits[0];
    if (n > 1) {
        *at++ = '.';
        memcpy(at, digits + 1, n - 1);
        at += n - 1;
    }
    return (size_t)(at - out) + (size_t)snprintf(at, 24, "E%+lld", (long long)adjusted);
}

static double decimal_double(const Decimal *d, const char *digits, size_t n)
{
    /* 17 digits would do; 800 decide every tie, and what follows only matters as "not all zeros" */
    char text[832];
    size_t kept = MIN(n, (size_t)800);
    memcpy(text, digits, kept);
    int64_t e = d->exponent + (int64_t)(n - kept);
    if (kept < n)
        text[kept - 1] = '1';
    e = MAX(MIN(e, 100000), -100000);
    snprintf(text + kept, sizeof text - kept, "e%lld", (long long)e);
    double v = strtod(text, NULL);
    return d->negative ? -v : v;
}

/* Worked out when first asked for: what is only copied never is. */
double jq_number_value(JNum *n)
{
    Decimal d;
    char digits[808];
    if (n->known)
        return n->value;
    decimal_read((Slice){n->text, n->len}, &d);
    Slice few = {d.first, d.span};
    if (d.digits >= sizeof digits) { /* what follows the first hundreds only matters as not all zeros */
        few.len = sizeof digits - 2;
        Decimal cut;
        decimal_read(few, &cut);
        cut.negative = d.negative;
        cut.exponent += d.exponent + (int64_t)d.digits - (cut.exponent + (int64_t)cut.digits);
        d = cut;
    }
    n->value = decimal_double(&d, digits, decimal_digits(&d, digits));
    n->known = true;
    return n->value;
}

static Val literal(J *j, const Decimal *d, const char *digits, size_t n)
{
    char small[128], *text = n + 40 <= sizeof small ? small : jmem(j, n + 40);
    size_t len = canonical(d, text, digits, n);
    JNum *lit = jmem(j, sizeof *lit + len + 1);
    *lit = (JNum){.refs = 1, .len = (uint32_t)len};
    memcpy(lit->text, text, len);
    lit->text[len] = 0;
    if (text != small)
        jmem_give(j, text, n + 40);
    return (Val){.kind = K_NUMBER, .literal = true, .lit = lit};
}

/* True when the double prints as the text does. */
static bool says_no_more(const Decimal *d)
{
    bool fraction = d->exponent < 0;
    if (!d->plain || d->digits > 15 || !d->lone_zero)
        return false;
    if (d->digits == 0)
        return !fraction && !d->negative && d->exponent == 0;
    if (fraction && d->first[d->span - 1] == '0')
        return false;
    return !fraction || (int64_t)d->digits + d->exponent > -4;
}

bool jq_number_parse(J *j, Slice text, Val *out)
{
    Decimal d;
    if (!decimal_read(text, &d))
        return false;
    if (says_no_more(&d)) {
        double v = 0;
        for (size_t i = 0; i < d.span; i++)
            if (d.first[i] != '.')
                v = v * 10 + (d.first[i] - '0');
        if (d.exponent < 0 && d.exponent >= -22)
            v /= powers[-d.exponent];
        *out = (Val){.kind = K_NUMBER, .written = true, .num = d.negative ? -v : v};
        return true;
    }
    char small[64], *digits = d.digits < sizeof small ? small : jmem(j, d.digits + 1);
    size_t n = decimal_digits(&d, digits);
    *out = literal(j, &d, digits, n);
    if (digits != small)
        jmem_give(j, digits, d.digits + 1);
    return true;
}

double jq_number_read(Slice text, bool *ok)
{
    Decimal d;
    char digits[808];
    *ok = decimal_read(text, &d) && d.digits < sizeof digits;
    return *ok ? decimal_double(&d, digits, decimal_digits(&d, digits)) : 0;
}

/* Order of two literals whose doubles are equal. */
int jq_number_cmp_literal(J *j, const JNum *a, const JNum *b)
{
    Decimal x, y;
    if (!decimal_read((Slice){a->text, a->len}, &x) || !decimal_read((Slice){b->text, b->len}, &y))
        return 0;
    size_t room_a = x.digits + 1, room_b = y.digits + 1;
    char *p = jmem(j, room_a), *q = jmem(j, room_b);
    size_t n = decimal_digits(&x, p), m = decimal_digits(&y, q);
    int sign = x.negative ? -1 : 1, c = 0;
    int64_t top_a = (int64_t)n + x.exponent, top_b = (int64_t)m + y.exponent;
    if (x.digits == 0 || y.digits == 0)
        c = (x.digits != 0) - (y.digits != 0);
    else if (x.negative != y.negative)
        c = 1;
    else if (top_a != top_b)
        c = top_a < top_b ? -1 : 1;
    else
        for (size_t i = 0; i < MAX(n, m) && c == 0; i++)
            c = (i < n ? p[i] : '0') - (i < m ? q[i] : '0');
    jmem_give(j, p, room_a);
    jmem_give(j, q, room_b);
    return c < 0 ? -sign : c > 0 ? sign : 0;
}

Val jq_number_negate(J *j, Val v)
{
    if (!v.literal)
        return v.written && v.num == 0 ? v : val_num(-v.num);
    Slice text = {v.lit->text, v.lit->len};
    bool zero = true;
    for (size_t i = 0; i < text.len && (text.data[i] | 0x20) != 'e'; i++)
        zero = zero && (text.data[i] < '1' || text.data[i] > '9');
    char small[80], *turned = text.len + 1 < sizeof small ? small : mem_alloc(&j->proc->mem, text.len + 2);
    Slice flipped = {turned, text.len};
    if (text.data[0] == '-')
        flipped = slice_from(text, 1);
    else if (zero)
        flipped = text;
    else {
        turned[0] = '-';
        memcpy(turned + 1, text.data, text.len);
        flipped.len = text.len + 1;
    }
    Val out = VAL_NULL;
    jq_number_parse(j, flipped, &out);
    val_free(j, v);
    return out;
}

static bool word_is(Slice s, const char *word)
{
    for (size_t i = 0; i < s.len; i++)
        if (!word[i] || (s.data[i] | 0x20) != word[i])
            return false;
    return word[s.len] == 0;
}

/* nan and infinity as decNumber spells them. */
bool jq_number_special(Slice s, Val *out)
{
    bool negative = s.len && s.data[0] == '-';
    if (s.len && (s.data[0] == '-' || s.data[0] == '+'))
        s = slice_from(s, 1);
    if (word_is(s, "nan"))
        *out = val_num(__builtin_nan(""));
    else if (word_is(s, "inf") || word_is(s, "infinity"))
        *out = val_num(negative ? -__builtin_inf() : __builtin_inf());
    else
        return false;
    return true;
}
