/* quote: text that reads back as the same word, in bash's several manners, and backslash escapes read. */
#include "interp.h"

static bool printable(uint32_t c) { return c != UTF8_BAD && class_has(CLASS_PRINT, c); }

/* What bash's ansic_shouldquote asks: something that would not show. */
bool needs_ansi_quotes(Slice s)
{
    for (size_t i = 0; i < s.len;) {
        unsigned char c = (unsigned char)s.data[i];
        if (c >= 0x20 && c < 0x7f) {
            i++;
            continue;
        }
        size_t n;
        if (c < 0x80 || !printable(utf8_decode(s.data + i, s.len - i, &n)))
            return true;
        i += n;
    }
    return false;
}

/* The first character as $'...' has it; its length. */
static size_t put_ansi(Buf *out, Slice s, bool bytes)
{
    static const char letters[] = "\aa\bb\033E\ff\nn\rr\tt\vv\\\\''";
    unsigned char c = (unsigned char)s.data[0];
    size_t n = 1;
    for (const char *l = letters; *l; l += 2)
        if ((unsigned char)*l == c) {
            buf_char(out, '\\');
            buf_char(out, l[1]);
            return 1;
        }
    if (!(bytes && c >= 0x80) && printable(utf8_decode(s.data, s.len, &n))) {
        buf_append(out, slice(s.data, n));
        return n;
    }
    buf_printf(out, "\\%03o", (unsigned)c);
    return 1;
}

static void quote_ansi(Buf *out, Slice s)
{
    buf_append(out, SLICE("$'"));
    for (size_t i = 0; i < s.len;)
        i += put_ansi(out, slice_from(s, i), false);
    buf_char(out, '\'');
}

void quote_single(Buf *out, Slice s)
{
    if (slice_is(s, "'")) {
        buf_append(out, SLICE("\\'"));
        return;
    }
    buf_char(out, '\'');
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] == '\'')
            buf_append(out, SLICE("'\\''"));
        else
            buf_char(out, s.data[i]);
    buf_char(out, '\'');
}

static bool is_meta(char c)
{
    return c && strchr(" \t\n'\"\\|&;()<>!{}*[?]^$`", c);
}

static bool has_metas(Slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i], before = i ? s.data[i - 1] : 0;
        if (is_meta(c) || (c == '~' && (i == 0 || before == '=' || before == ':')) ||
            (c == '#' && (i == 0 || before == ' ' || before == '\t')))
            return true;
    }
    return false;
}

/* As `set` prints a value. */
void quote_value(Buf *out, Slice s)
{
    if (needs_ansi_quotes(s))
        quote_ansi(out, s);
    else if (has_metas(s))
        quote_single(out, s);
    else
        buf_append(out, s);
}

/* A shell metacharacter decides for '...' before an unprintable one does for $'...'. */
static bool has_blank(Slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] && strchr(" \t\n'\"\\|&;()<>!{}*[]?^$`", s.data[i]))
            return true;
    return false;
}

void quote_unprintable(Buf *out, Slice s)
{
    if (needs_ansi_quotes(s))
        quote_ansi(out, s);
    else
        buf_append(out, s);
}

void quote_trace(Buf *out, Slice s)
{
    if (!s.len)
        buf_append(out, SLICE("''"));
    else if (needs_ansi_quotes(s) && has_blank(s))
        quote_single(out, s);
    else
        quote_value(out, s);
}

void quote_reusable(Buf *out, Slice s)
{
    if (needs_ansi_quotes(s))
        quote_ansi(out, s);
    else
        quote_single(out, s);
}

void quote_double(Buf *out, Slice s)
{
    if (needs_ansi_quotes(s)) {
        quote_ansi(out, s);
        return;
    }
    buf_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        if (strchr("\"$`\\", s.data[i]) && s.data[i])
            buf_char(out, '\\');
        buf_char(out, s.data[i]);
    }
    buf_char(out, '"');
}

/* A key between [ and ]. */
void quote_key(Buf *out, Slice s)
{
    if (needs_ansi_quotes(s))
        quote_ansi(out, s);
    else if (has_metas(s) || slice_is(s, "@") || slice_is(s, "*") || s.len == 0)
        quote_double(out, s);
    else
        buf_append(out, s);
}

/* The C locale: no byte beyond ASCII can be printed. */
void quote_bytes(Buf *out, Slice s, void (*how)(Buf *out, Slice s))
{
    if (slice_ascii(s)) {
        how(out, s);
        return;
    }
    buf_append(out, SLICE("$'"));
    for (size_t i = 0; i < s.len; i++)
        put_ansi(out, slice(s.data + i, 1), true);
    buf_char(out, '\'');
}

void quote_in(Interp *in, Buf *out, Slice s, void (*how)(Buf *out, Slice s))
{
    if (unlikely(lang_bytes(in)) && !(how == quote_trace && has_blank(s)))
        quote_bytes(out, s, how);
    else
        how(out, s);
}

void quote_shell(Buf *out, Slice s)
{
    if (!s.len) {
        buf_append(out, SLICE("''"));
        return;
    }
    if (needs_ansi_quotes(s)) {
        quote_ansi(out, s);
        return;
    }
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i], before = i ? s.data[i - 1] : 0;
        if (is_meta(c) || c == ',' || (c == '#' && i == 0) || (c == '~' && (i == 0 || before == '=' || before == ':')))
            buf_char(out, '\\');
        buf_char(out, c);
    }
}

/* ---------- escapes ---------- */

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if ((c | 32) >= 'a' && (c | 32) <= 'f')
        return (unsigned)((c | 32) - 'a' + 10);
    return 99;
}

static size_t number_at(Slice s, size_t at, unsigned base, size_t most, uint32_t *value)
{
    size_t n = 0;
    *value = 0;
    while (n < most && at + n < s.len && digit_of(s.data[at + n]) < base)
        *value = *value * base + digit_of(s.data[at + n++]);
    return n;
}

static size_t put_unicode(Buf *out, Slice s, size_t at, char kind)
{
    uint32_t value;
    size_t n = number_at(s, at, 16, kind == 'u' ? 4 : 8, &value);
    char encoded[6];
    if (n == 0) {
        buf_char(out, '\\');
        buf_char(out, kind);
    } else if (value || kind) {
        buf_append(out, slice(encoded, utf8_encode(value, encoded)));
    }
    return n;
}

static size_t put_octal(Buf *out, Slice s, size_t at, int style)
{
    /* echo -e wants \0nnn; %b takes \nnn too; the others up to three digits. */
    bool zero = s.data[at] == '0';
    size_t skip = (style == ESCAPE_ECHO || style == ESCAPE_PRINTF_B) && zero ? 1 : 0;
    uint32_t value;
    size_t n = number_at(s, at + skip, 8, 3, &value);
    buf_char(out, (char)(value & 255));
    return n + skip;
}

bool unescape(Buf *out, Slice s, int style)
{
    static const char plain[] = "a\ab\bf\fn\nr\rt\tv\ve\033E\033\\\\";
    for (size_t i = 0; i < s.len;) {
        size_t run = slice_find(slice_from(s, i), '\\');
        buf_append(out, slice(s.data + i, run));
        i += run;
        if (i >= s.len)
            break;
        if (i + 1 >= s.len) {
            buf_char(out, '\\');
            break;
        }
        char c = s.data[i + 1];
        i += 2;
        const char *at = strchr(plain, c);
        bool known = at && (at - plain) % 2 == 0;
        uint32_t value;
        size_t n;
        if (known && c) {
            buf_char(out, at[1]);
        } else if (c == 'c' && (style == ESCAPE_ECHO || style == ESCAPE_PRINTF_B)) {
            return false;
        } else if (c == 'c' && style == ESCAPE_DOLLAR && i < s.len) {
            buf_char(out, (char)(s.data[i++] & 0x1f));
        } else if (c == 'x') {
            n = number_at(s, i, 16, 2, &value);
            if (n)
                buf_char(out, (char)value);
            else
                buf_append(out, SLICE("\\x"));
            i += n;
        } else if (c == 'u' || c == 'U') {
            i += put_unicode(out, s, i, c);
        } else if (c >= '0' && c <= '7' && (style != ESCAPE_ECHO || c == '0')) {
            i += put_octal(out, s, i - 1, style) - 1;
        } else if ((c == '\'' || c == '"' || c == '?') && style != ESCAPE_ECHO) {
            buf_char(out, c);
        } else {
            buf_char(out, '\\');
            buf_char(out, c);
        }
    }
    return true;
}
