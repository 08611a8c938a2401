/* sed's escapes: \a \f \n \r \t \v \cX \dNNN \oNNN \xHH in regular expressions, replacements and texts. */
#include "sed.h"

static int digit_value(char c, int base)
{
    int v = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 99;
    return v < base ? v : -1;
}

/* The number behind \d, \o or \x at `at`; its end, or 0 when there are no digits. */
static size_t number_at(Slice s, size_t at, int base, int most, unsigned char *out)
{
    int value = 0;
    size_t i = at;
    for (; i < s.len && i < at + (size_t)most; i++) {
        int v = digit_value(s.data[i], base);
        if (v < 0)
            break;
        value = value * base + v;
    }
    *out = (unsigned char)value;
    return i > at ? i : 0;
}

/* The byte that the escape s[at] == '\\' stands for; its end, or 0 when it is no such escape. */
static size_t escape_at(Slice s, size_t at, unsigned char *out)
{
    static const char letters[] = "afnrtv", bytes[] = "\a\f\n\r\t\v";
    char c = s.data[at + 1];
    const char *simple = strchr(letters, c);
    if (simple && c) {
        *out = (unsigned char)bytes[simple - letters];
        return at + 2;
    }
    switch (c) {
    case 'c':
        if (at + 2 >= s.len) {
            *out = '\\';
            return at + 2;
        }
        if (s.data[at + 2] == '\\' && at + 3 < s.len && s.data[at + 3] == '\\') {
            *out = '\\' ^ 64;
            return at + 4;
        }
        *out = (unsigned char)((s.data[at + 2] >= 'a' && s.data[at + 2] <= 'z' ? s.data[at + 2] - 32 : s.data[at + 2]) ^ 64);
        return at + 3;
    case 'd': return number_at(s, at + 2, 10, 3, out);
    case 'o': return number_at(s, at + 2, 8, 3, out);
    case 'x': return number_at(s, at + 2, 16, 2, out);
    default: return 0;
    }
}

/* In an expression the byte acts as if it had been written: \x2a is an operator. */
static void put_literal(Buf *out, unsigned char c, UnescapeKind kind)
{
    if ((kind == UNESCAPE_REPLACEMENT && (c == '&' || c == '\\')) || (kind == UNESCAPE_TEXT && c == '\\'))
        buf_char(out, '\\');
    buf_char(out, (char)c);
}

Slice sed_unescape(Sed *s, Slice text, UnescapeKind kind)
{
    if (slice_find(text, '\\') == text.len)
        return text;
    Buf out;
    buf_init(&out, &s->p->keep, BUF_MAX);
    buf_reserve(&out, text.len);
    size_t bracket = 0; /* where the open bracket's first member is, + 1 */
    for (size_t at = 0; at < text.len;) {
        char c = text.data[at];
        unsigned char byte;
        bool plain = bracket && s->posix; /* POSIX knows no escapes in a bracket expression */
        size_t end = c == '\\' && !plain && at + 1 < text.len ? escape_at(text, at, &byte) : 0;
        if (end && !(kind == UNESCAPE_REPLACEMENT && byte == '\n' && text.data[at + 1] == 'n')) {
            put_literal(&out, byte, kind);
            at = end;
            continue;
        }
        if (c == '\\' && at + 1 < text.len && (!bracket || text.data[at + 1] == '\\')) {
            buf_append(&out, slice(text.data + at, 2));
            at += 2;
            continue;
        }
        if (kind == UNESCAPE_REGEX && c == '[' && !bracket) {
            bracket = at + 2 + (at + 1 < text.len && text.data[at + 1] == '^');
        } else if (bracket && c == ']' && at + 1 != bracket) {
            bracket = 0;
        } else if (bracket && c == '[' && at + 1 < text.len && strchr(":.=", text.data[at + 1])) {
            char close[2] = {text.data[at + 1], ']'};
            const char *stop = memmem(text.data + at + 2, text.len - at - 2, close, 2);
            size_t past = stop ? (size_t)(stop - text.data) + 2 : at + 2;
            buf_append(&out, slice(text.data + at, past - at));
            at = past;
            continue;
        }
        buf_char(&out, c);
        at++;
    }
    return buf_slice(&out);
}
