/* quote: names in the styles of --quoting-style. */
#include "ls.h"

static size_t columns(Slice s)
{
    size_t width = 0;
    while (s.len) {
        size_t n;
        uint32_t c = utf8_decode(s.data, s.len, &n);
        int w = c == UTF8_BAD ? 0 : utf8_width(c);
        width += w > 0 ? (size_t)w : 0;
        s = slice_from(s, n);
    }
    return width;
}

static bool printable(const char *s, size_t len, bool utf8, size_t *n)
{
    unsigned char c = (unsigned char)*s;
    *n = 1;
    if (c < 128 || !utf8)
        return c >= 32 && c < 127;
    uint32_t u = utf8_decode(s, len, n);
    return u != UTF8_BAD && utf8_width(u) >= 0;
}

static void append_escape(Buf *b, unsigned char c)
{
    static const char from[] = "\a\b\f\n\r\t\v", to[] = "abfnrtv";
    const char *at = c ? strchr(from, c) : NULL;
    if (at)
        buf_printf(b, "\\%c", to[at - from]);
    else
        buf_printf(b, "\\%03o", c);
}

/* c, escape, locale: backslash escapes, between quotes or not. */
static void backslashed(Buf *b, Slice s, bool utf8, const char *quote, bool escape_space)
{
    const char *open = quote && strcmp(quote, "\xE2\x80\x98") == 0 ? "\xE2\x80\x99" : quote;
    buf_append(b, slice_str(quote ? quote : ""));
    for (size_t n; s.len; s = slice_from(s, n)) {
        if (!printable(s.data, s.len, utf8, &n)) {
            n = 1;
            append_escape(b, (unsigned char)*s.data);
        } else {
            if (*s.data == '\\' || (escape_space && *s.data == ' ') || (quote && n == 1 && *s.data == *quote && quote[1] == 0))
                buf_char(b, '\\');
            buf_append(b, slice(s.data, n));
        }
    }
    buf_append(b, slice_str(open ? open : ""));
}

static void in_single_quotes(Buf *b, Slice s)
{
    buf_char(b, '\'');
    for (size_t n = 0; n < s.len; n++)
        if (s.data[n] == '\'')
            buf_append(b, SLICE("'\\''"));
        else
            buf_char(b, s.data[n]);
    buf_char(b, '\'');
}

static bool shell_needs_quotes(Slice s)
{
    if (!s.len || *s.data == '#' || *s.data == '~')
        return true;
    for (size_t n = 0; n < s.len; n++)
        if (strchr("\t\n !\"$&'()*;<=>?[\\^`|", s.data[n]))
            return true;
    return (s.len == 1 && (*s.data == '{' || *s.data == '}'));
}

static void shell_style(Buf *b, Slice s, bool always)
{
    if (!always && !shell_needs_quotes(s))
        buf_append(b, s);
    else if (memchr(s.data, '\'', s.len) && !strpbrk(s.data, "\"$`\\!"))
        buf_printf(b, "\"%s\"", s.data);
    else
        in_single_quotes(b, s);
}

/* ? for what does not print, under -q. */
static const char *without_control(const Ls *ls, const char *name, bool utf8)
{
    Buf b;
    buf_init(&b, &ls->p->mem, BUF_MAX);
    buf_reserve(&b, 1);
    Slice s = slice_str(name);
    for (size_t n; s.len; s = slice_from(s, n)) {
        if (printable(s.data, s.len, utf8, &n))
            buf_append(&b, slice(s.data, n));
        else
            buf_char(&b, '?');
    }
    return b.data;
}

static bool all_printable(Slice s, bool utf8)
{
    for (size_t n; s.len; s = slice_from(s, n))
        if (!printable(s.data, s.len, utf8, &n))
            return false;
    return true;
}

const char *quote_name(const Ls *ls, const char *name, size_t *width)
{
    bool utf8 = locale_utf8(ls->p);
    Slice s = slice_str(name);
    Buf b;
    buf_init(&b, &ls->p->mem, BUF_MAX);
    buf_reserve(&b, s.len);
    switch (ls->quoting) {
    case QUOTE_SHELL: shell_style(&b, s, false); break;
    case QUOTE_SHELL_ALWAYS: shell_style(&b, s, true); break;
    case QUOTE_SHELL_ESCAPE: buf_append(&b, slice_str(quote_if_needed(ls->p, name))); break;
    case QUOTE_SHELL_ESCAPE_ALWAYS: buf_append(&b, slice_str(quoteaf(ls->p, name))); break;
    case QUOTE_C_MAYBE:
        if (all_printable(s, utf8) && !strchr(name, '"')) {
            buf_append(&b, s);
            break;
        }
        /* fall through */
    case QUOTE_C: backslashed(&b, s, utf8, "\"", false); break;
    case QUOTE_ESCAPE: backslashed(&b, s, utf8, NULL, true); break;
    case QUOTE_LOCALE:
    case QUOTE_CLOCALE: backslashed(&b, s, utf8, utf8 ? "\xE2\x80\x98" : "'", false); break;
    default: buf_append(&b, s); break;
    }
    const char *shown = ls->no_control ? without_control(ls, b.data, utf8) : b.data;
    *width = utf8 ? columns(slice_str(shown)) : strlen(shown);
    return shown;
}
