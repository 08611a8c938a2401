/* url: a strict parser of http and https URLs into one canonical form (RFC 3986 6.2.2), and references against it.
 *
 * Strict where parsers are known to disagree: what two of them could read differently is refused, not repaired.
 */
#include <stdio.h>

#include "lib/kernel/net.h"

typedef struct Parse {
    Mem *mem;
    Url *url;
    const char **why;
    Buf out;
} Parse;

static int refuse(Parse *p, const char *why)
{
    *p->why = why;
    return -EINVAL;
}

static bool is_alpha(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c; }

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that %XX at s stands for, or -1. */
static int decode_percent(Slice s)
{
    if (s.len < 3 || s.data[0] != '%' || hex_digit(s.data[1]) < 0 || hex_digit(s.data[2]) < 0)
        return -1;
    return hex_digit(s.data[1]) << 4 | hex_digit(s.data[2]);
}

static bool unreserved(int c) { return is_alpha((char)c) || is_digit((char)c) || c == '-' || c == '.' || c == '_' || c == '~'; }

/* ---------- scheme, authority ---------- */

static int parse_scheme(Parse *p, Slice *s)
{
    size_t n = slice_find(*s, ':');
    bool https = n == 5 && lower(s->data[4]) == 's', http = n == 4;
    static const char word[] = "http";
    for (size_t i = 0; i < 4 && (http || https); i++)
        if (lower(s->data[i]) != word[i])
            http = https = false;
    if (GUARD(URL_SCHEME, !http && !https))
        return refuse(p, "scheme is not http or https");
    p->url->secure = https;
    Slice rest = n < s->len ? slice_from(*s, n + 1) : slice(NULL, 0);
    if (GUARD(URL_SLASHES, !slice_starts(rest, SLICE("//")) || (rest.len > 2 && (rest.data[2] == '/' || rest.data[2] == '\\'))))
        return refuse(p, "a URL has exactly two slashes behind its scheme");
    while (rest.len && rest.data[0] == '/')
        rest = slice_from(rest, 1);
    *s = rest;
    return 0;
}

/* Percent-decoded; bytes that are not encoded stay. */
static int decode(Parse *p, Slice s, Slice *out)
{
    char *at = mem_alloc(p->mem, s.len + 1);
    if (!at)
        return -ENOMEM;
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        int c = decode_percent(slice_from(s, i));
        at[n++] = c >= 0 ? (char)c : s.data[i];
        i += c >= 0 ? 2 : 0;
    }
    at[n] = 0;
    *out = slice(at, n);
    return 0;
}

static int parse_user(Parse *p, Slice user)
{
    bool odd = slice_find(user, '@') < user.len || slice_find(user, '\\') < user.len || slice_find(user, '/') < user.len;
    if (GUARD(URL_USERINFO, odd))
        return refuse(p, "odd character in the user part");
    size_t colon = slice_find(user, ':');
    p->url->has_user = true;
    int err = decode(p, slice(user.data, colon), &p->url->user);
    return err || colon == user.len ? err : decode(p, slice_from(user, colon + 1), &p->url->password);
}

static int parse_port(Parse *p, Slice s)
{
    unsigned v = 0;
    size_t i = 0;
    for (; i < s.len && i < 5 && is_digit(s.data[i]); i++)
        v = v * 10 + (unsigned)(s.data[i] - '0');
    if (GUARD(URL_PORT, !s.len || i != s.len || v == 0 || v > 65535 || s.data[0] == '0'))
        return refuse(p, "bad port");
    p->url->port = (uint16_t)v;
    return 0;
}

static int parse_v6(Parse *p, Slice text)
{
    char shown[46];
    if (GUARD(URL_ZONE, slice_find(text, '%') < text.len))
        return refuse(p, "an address with a zone");
    text.len = MIN(text.len, slice_find(text, '%'));
    if (!net_parse_v6(text, &p->url->address)) {
        if (GUARD(URL_IPV6_FORM, true))
            return refuse(p, "bad IPv6 address");
        memset(&p->url->address, 0, sizeof p->url->address);
    }
    p->url->kind = URL_IPV6;
    net_format_address(&p->url->address, shown);
    if (net_address_is_v4(&p->url->address)) /* stays IPv6 in the text: that is what was asked for */
        snprintf(shown, sizeof shown, "::ffff:%x:%x", p->url->address.bytes[12] << 8 | p->url->address.bytes[13],
                 p->url->address.bytes[14] << 8 | p->url->address.bytes[15]);
    char *copy = mem_strdup(p->mem, shown);
    p->url->host = copy ? slice_str(copy) : slice(NULL, 0);
    return copy ? 0 : -ENOMEM;
}

static bool name_byte(char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; }

static int check_labels(Parse *p, Slice name)
{
    for (size_t at = 0; at <= name.len;) {
        size_t n = slice_find(slice_from(name, at), '.');
        if (GUARD(URL_HOST_LABEL, n == 0 || (n > 63 && !p->url->unicode)))
            return refuse(p, "bad label in the host name");
        at += n + 1;
    }
    return GUARD(URL_HOST_LABEL, name.len > 253 && !p->url->unicode) ? refuse(p, "host name too long") : 0;
}

/* The last label makes a host a number for some resolvers: 1, 0x7f.1, 127.1, 0177.0.0.1. */
static bool looks_numeric(Slice name)
{
    size_t last = name.len;
    while (last && name.data[last - 1] != '.')
        last--;
    Slice label = slice_from(name, last);
    bool hex = label.len >= 2 && label.data[0] == '0' && label.data[1] == 'x', digits = label.len > 0;
    for (size_t i = hex ? 2 : 0; i < label.len; i++)
        digits = digits && (hex ? hex_digit(label.data[i]) >= 0 : is_digit(label.data[i]));
    return digits;
}

static int parse_name(Parse *p, Slice host)
{
    if (host.len && host.data[host.len - 1] == '.')
        host.len--;
    if (GUARD(URL_HOST_EMPTY, !host.len))
        return refuse(p, "empty host");
    char *name = mem_alloc(p->mem, host.len + 1);
    if (!name)
        return -ENOMEM;
    for (size_t i = 0; i < host.len; i++) {
        name[i] = lower(host.data[i]);
        p->url->unicode |= (host.data[i] & 0x80) != 0;
        if (GUARD(URL_HOST_BYTES, !name_byte(name[i]) && !(name[i] & 0x80)))
            return refuse(p, "odd character in the host name");
    }
    name[host.len] = 0;
    p->url->host = slice(name, host.len);
    if (looks_numeric(p->url->host)) {
        bool plain = net_parse_v4(p->url->host, &p->url->address);
        if (GUARD(URL_IPV4_FORM, !plain))
            return refuse(p, "an IPv4 address is four decimal numbers");
        p->url->kind = plain ? URL_IPV4 : URL_NAME;
    }
    return check_labels(p, p->url->host);
}

static int parse_authority(Parse *p, Slice s)
{
    size_t at = s.len;
    while (at && s.data[at - 1] != '@')
        at--;
    if (at) {
        int err = parse_user(p, slice(s.data, at - 1));
        if (err)
            return err;
        s = slice_from(s, at);
    }
    size_t end;
    int err;
    p->url->port = p->url->secure ? 443 : 80;
    if (s.len && s.data[0] == '[') {
        end = slice_find(s, ']');
        if (end == s.len)
            return refuse(p, "bad IPv6 address");
        err = parse_v6(p, slice(s.data + 1, end - 1));
        end++;
    } else {
        end = slice_find(s, ':');
        err = parse_name(p, slice(s.data, end));
    }
    if (err || end == s.len)
        return err;
    return s.data[end] == ':' ? parse_port(p, slice_from(s, end + 1)) : refuse(p, "odd character behind the host");
}

/* ---------- path and query ---------- */

static void put_encoded(Buf *b, unsigned char c)
{
    static const char digits[] = "0123456789ABCDEF";
    buf_char(b, '%');
    buf_char(b, digits[c >> 4]);
    buf_char(b, digits[c & 15]);
}

/* A sign that begins no encoding stands open: a digit decoded behind it would make one, "%%32e" a "%2e" that nobody looked at. */
static bool open_sign(const Buf *b, size_t start)
{
    size_t n = b->len - start;
    const char *end = b->data + b->len;
    return (n >= 1 && end[-1] == '%') || (n >= 2 && end[-2] == '%' && hex_digit(end[-1]) >= 0);
}

/* Unreserved characters decoded, other encodings in upper case, bytes that no URL holds encoded. */
static void put_normal(Buf *b, Slice s)
{
    size_t start = b->len;
    for (size_t i = 0; i < s.len && !b->failed; i++) {
        int c = decode_percent(slice_from(s, i));
        bool joins = c >= 0 && hex_digit((char)c) >= 0 && GUARD(URL_OPEN_SIGN, open_sign(b, start));
        if (c >= 0 && unreserved(c) && !joins)
            buf_char(b, (char)c);
        else if (c >= 0 || s.data[i] & 0x80)
            put_encoded(b, c >= 0 ? (unsigned char)c : (unsigned char)s.data[i]);
        else
            buf_char(b, s.data[i]);
        i += c >= 0 ? 2 : 0;
    }
}

/* RFC 3986 5.2.4, in place behind `start`, over the segments that lie there. */
static void remove_dots(Buf *b, size_t start)
{
    size_t to = start, at = start;
    while (at < b->len) {
        size_t n = 1 + slice_find(slice(b->data + at + 1, b->len - at - 1), '/');
        Slice segment = slice(b->data + at + 1, n - 1);
        bool up = slice_is(segment, ".."), here = slice_is(segment, "."), last = at + n == b->len;
        if (up)
            while (to > start && b->data[--to] != '/')
                ;
        if (up || here) {
            if (last)
                b->data[to++] = '/';
        } else {
            memmove(b->data + to, b->data + at, n);
            to += n;
        }
        at += n;
    }
    if (to == start)
        b->data[to++] = '/';
    b->len = to;
    b->data[to] = 0;
}

static bool odd_path(Slice path)
{
    static const char *const codes[] = {"%2F", "%5C", "%00", "%25"};
    for (size_t i = 0; i < path.len; i++) {
        char c = path.data[i];
        if (c == '\\' || c == ';' || (c == '/' && i + 1 < path.len && path.data[i + 1] == '/'))
            return true;
        if (c == '%' && decode_percent(slice_from(path, i)) < 0)
            return true;
        for (size_t k = 0; c == '%' && k < ARRAY_LEN(codes); k++)
            if (slice_starts(slice_from(path, i), slice_str(codes[k])))
                return true;
    }
    return false;
}

/* ---------- putting it together ---------- */

/* The canonical text, and the slices into it. `path` begins with a slash or is empty; `query` with ? or is empty. */
static int assemble(Parse *p, Slice path, Slice query)
{
    Url *u = p->url;
    bool standard = u->port == (u->secure ? 443 : 80);
    buf_init(&p->out, p->mem, 4 * URL_MAX);
    buf_append(&p->out, u->secure ? SLICE("https://") : SLICE("http://"));
    if (u->kind == URL_IPV6)
        buf_char(&p->out, '[');
    buf_append(&p->out, u->host);
    if (u->kind == URL_IPV6)
        buf_char(&p->out, ']');
    if (!standard)
        buf_printf(&p->out, ":%u", u->port);
    size_t origin = p->out.len;
    put_normal(&p->out, path.len ? path : SLICE("/"));
    if (p->out.failed)
        return -ENOMEM;
    if (GUARD(URL_DOT_SEGMENTS, true))
        remove_dots(&p->out, origin);
    size_t end = p->out.len;
    put_normal(&p->out, query);
    if (p->out.failed)
        return -ENOMEM;
    u->text = buf_slice(&p->out);
    u->origin = slice(u->text.data, origin);
    u->path = slice(u->text.data + origin, end - origin);
    u->target = slice_from(u->text, origin);
    u->odd_path = odd_path(u->path);
    return 0;
}

static bool clean(Slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] <= 0x20 || text.data[i] == 0x7f)
            return false;
    return true;
}

static size_t find_any(Slice s, const char *bytes)
{
    size_t at = s.len;
    for (; *bytes; bytes++)
        at = MIN(at, slice_find(slice(s.data, at), *bytes));
    return at;
}

static int parse(Parse *p, Slice text)
{
    if (GUARD(URL_LENGTH, text.len > URL_MAX))
        return refuse(p, "URL too long");
    if (GUARD(URL_CONTROL, !clean(text)))
        return refuse(p, "control character or blank in the URL");
    int err = parse_scheme(p, &text);
    if (err)
        return err;
    size_t end = find_any(text, "/?#");
    err = parse_authority(p, slice(text.data, end));
    if (err)
        return err;
    Slice rest = slice(text.data + end, slice_find(slice_from(text, end), '#'));
    size_t query = slice_find(rest, '?');
    return assemble(p, slice(rest.data, query), slice_from(rest, query));
}

int url_parse(Mem *m, Slice text, Url *out, const char **why)
{
    memset(out, 0, sizeof *out);
    *why = NULL;
    Parse p = {.mem = m, .url = out, .why = why};
    return parse(&p, text);
}

/* ---------- references ---------- */

static bool has_scheme(Slice s)
{
    size_t i = 0;
    while (i < s.len && (is_alpha(s.data[i]) || (i && (is_digit(s.data[i]) || s.data[i] == '+' || s.data[i] == '-' || s.data[i] == '.'))))
        i++;
    return i && i < s.len && s.data[i] == ':';
}

int url_resolve(Mem *m, const Url *base, Slice reference, Url *out, const char **why)
{
    *why = NULL;
    if (has_scheme(reference))
        return url_parse(m, reference, out, why);
    Buf b;
    buf_init(&b, m, 4 * URL_MAX);
    Slice scheme = base->secure ? SLICE("https:") : SLICE("http:");
    size_t last = base->path.len;
    while (last && base->path.data[last - 1] != '/')
        last--;
    if (slice_starts(reference, SLICE("//"))) {
        buf_append(&b, scheme);
    } else {
        buf_append(&b, base->origin);
        if (!reference.len || reference.data[0] == '#')
            buf_append(&b, base->target);
        else if (reference.data[0] == '?')
            buf_append(&b, base->path);
        else if (reference.data[0] != '/')
            buf_append(&b, slice(base->path.data, last));
    }
    buf_append(&b, reference);
    return b.failed ? -ENOMEM : url_parse(m, buf_slice(&b), out, why);
}

int url_with_host(Mem *m, const Url *u, Slice ascii, Url *out, const char **why)
{
    Buf b;
    buf_init(&b, m, 4 * URL_MAX);
    buf_append(&b, u->secure ? SLICE("https://") : SLICE("http://"));
    buf_append(&b, ascii);
    buf_printf(&b, ":%u", u->port);
    buf_append(&b, u->target);
    if (b.failed)
        return -ENOMEM;
    int err = url_parse(m, buf_slice(&b), out, why);
    if (!err && out->unicode) {
        *why = "odd character in the host name";
        err = -EINVAL;
    }
    out->has_user = u->has_user;
    out->user = u->user;
    out->password = u->password;
    return err;
}

bool url_same_origin(const Url *a, const Url *b) { return slice_eq(a->origin, b->origin); }
