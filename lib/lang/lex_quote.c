/* lex_quote: $'...' decoded, backquotes taken apart, and looking ahead over quotes. */
#include "parser.h"

#include "lib/base/utf8.h"

static int digit_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* Up to `max` digits of `base`; how many there were. */
static int read_digits(const char **s, const char *end, int base, int max, uint32_t *value)
{
    int n = 0;
    *value = 0;
    while (n < max && *s < end && digit_value(**s) < base) {
        *value = *value * (uint32_t)base + (uint32_t)digit_value(**s);
        (*s)++;
        n++;
    }
    return n;
}

static const char plain_from[] = "abeEfnrtv\\'\"?";
static const char plain_to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";

/* \x41 \x{41}: a byte. */
static const char *decode_hex(const char *s, const char *end, char *out, size_t *n)
{
    uint32_t value;
    const char *t = s + 1;
    bool braced = t < end && *t == '{';
    t += braced;
    if (!read_digits(&t, end, 16, braced ? 8 : 2, &value)) {
        out[(*n)++] = '\\';
        out[(*n)++] = 'x';
        return s + 1;
    }
    if (braced && t < end && *t == '}')
        t++;
    out[(*n)++] = (char)value;
    return t;
}

static const char *decode_unicode(const char *s, const char *end, char *out, size_t *n)
{
    uint32_t value;
    const char *t = s + 1;
    if (!read_digits(&t, end, 16, *s == 'u' ? 4 : 8, &value)) {
        out[(*n)++] = '\\';
        out[(*n)++] = *s;
        return s + 1;
    }
    *n += utf8_encode(value, out + *n);
    return t;
}

/* One escape, s after the backslash. A NUL ends the string, as in bash; it is dropped here with the rest by the caller. */
static const char *decode_escape(const char *s, const char *end, char *out, size_t *n)
{
    const char *plain = *s ? strchr(plain_from, *s) : NULL;
    if (plain) {
        out[(*n)++] = plain_to[plain - plain_from];
        return s + 1;
    }
    uint32_t value;
    switch (*s) {
    case 'x': return decode_hex(s, end, out, n);
    case 'u':
    case 'U': return decode_unicode(s, end, out, n);
    case 'c':
        if (s + 1 < end) {
            bool escaped = s[1] == '\\' && s + 2 < end && s[2] == '\\';
            out[(*n)++] = (char)(s[1] == '?' ? 127 : s[1] & 31);
            return s + (escaped ? 3 : 2);
        }
        break;
    default:
        if (read_digits(&s, end, 8, 3, &value)) {
            out[(*n)++] = (char)value;
            return s;
        }
    }
    out[(*n)++] = '\\';
    out[(*n)++] = *s;
    return s + 1;
}

const char *decode_dollar_quote(Parser *p UNUSED, const char *s, const char *end, char *out, size_t *len)
{
    size_t n = 0;
    while (s < end) {
        if (*s != '\\' || s + 1 >= end) {
            out[n++] = *s++;
            continue;
        }
        size_t before = n;
        s = decode_escape(s + 1, end, out, &n);
        if (n > before && out[n - 1] == 0) {
            n--;
            break;
        }
    }
    *len = n;
    return end;
}

static const char *backquote_end(const char *s)
{
    while (*s && *s != '`')
        s += s[0] == '\\' && s[1] ? 2 : 1;
    return *s ? s : NULL;
}

Slice read_backquote(Parser *p, bool in_dquotes)
{
    const char *s = p->at, *end = backquote_end(s);
    if (!end) {
        need_more(p);
        fail_matching(p, s - 1, "`");
    }
    char *out = get(p, (size_t)(end - s) + 1);
    size_t n = 0;
    for (; s < end; s++) {
        if (*s == '\\' && (s[1] == '`' || s[1] == '\\' || s[1] == '$' || (in_dquotes && s[1] == '"')))
            s++;
        out[n++] = *s;
    }
    out[n] = 0;
    p->at = end + 1;
    return slice(out, n);
}

const char *skip_quoted(const char *s)
{
    char quote = *s++;
    if (quote == '\'') {
        while (*s && *s != '\'')
            s++;
        return *s ? s + 1 : NULL;
    }
    for (; *s && *s != quote; s++)
        if (*s == '\\' && s[1])
            s++;
    return *s ? s + 1 : NULL;
}

const char *skip_parens(const char *s, char open, char close)
{
    unsigned depth = 1;
    while (s && *s) {
        if (*s == '\\' && s[1]) {
            s += 2;
        } else if (*s == '\'' || *s == '"' || *s == '`') {
            s = skip_quoted(s);
        } else {
            depth += *s == open;
            if (*s == close && --depth == 0)
                return s;
            s++;
        }
    }
    return NULL;
}
