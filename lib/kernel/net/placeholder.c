/* placeholder: credentials that the script places itself, by a name that means nothing elsewhere, and requests that the embedder signs. */
#include <stdio.h>
#include <string.h>

#include "exchange.h"

enum { LONGEST_SWAP = 64 * 1024 * 1024, SIGNED_MAX = 16 };

static bool no_memory(Http *h)
{
    http_fail(h, HTTP_NO_MEMORY, false, "Out of memory");
    return false;
}

/* `s` with every placeholder replaced, percent-encoded or not; *s stays when there is none. NUL-terminated. */
static bool swap(Http *h, Slice *s, bool encode)
{
    const Credential *c = h->credential;
    Slice rest = *s;
    size_t at = slice_search(rest, c->placeholder);
    if (at == SIZE_MAX)
        return true;
    Buf b;
    buf_init(&b, &h->mem, LONGEST_SWAP);
    for (; at != SIZE_MAX; at = slice_search(rest, c->placeholder)) {
        buf_append(&b, slice(rest.data, at));
        if (encode)
            http_put_percent(&b, secret_bytes(h->secret));
        else
            buf_append(&b, secret_bytes(h->secret));
        rest = slice_from(rest, at + c->placeholder.len);
    }
    buf_append(&b, rest);
    buf_char(&b, 0);
    if (b.failed)
        return no_memory(h);
    *s = slice(b.data, b.len - 1);
    return true;
}

static bool swap_text(Http *h, const char **text)
{
    if (!*text)
        return true;
    Slice s = slice_str(*text);
    size_t before = s.len;
    if (!swap(h, &s, false))
        return false;
    h->hidden += (int64_t)s.len - (int64_t)before;
    *text = s.data;
    return true;
}

/* ---------- Basic, which a script encoded by itself ---------- */

static int digit(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : c >= '0' && c <= '9' ? c - '0' + 52 : c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool decode(Buf *b, Slice s)
{
    unsigned bits = 0, have = 0;
    while (s.len && s.data[s.len - 1] == '=')
        s.len--;
    for (size_t i = 0; i < s.len; i++) {
        int d = digit(s.data[i]);
        if (d < 0)
            return false;
        bits = bits << 6 | (unsigned)d;
        have += 6;
        if (have >= 8) {
            have -= 8;
            buf_char(b, (char)(bits >> have & 255));
        }
    }
    return !b->failed;
}

static bool swap_basic(Http *h, const char **line)
{
    static const char start[] = "authorization: basic ";
    Slice s = slice_str(*line);
    Buf plain, out;
    for (size_t i = 0; i < sizeof start - 1; i++)
        if (i >= s.len || (s.data[i] != start[i] && (s.data[i] | 32) != start[i]))
            return true;
    buf_init(&plain, &h->mem, LONGEST_SWAP);
    buf_init(&out, &h->mem, LONGEST_SWAP);
    if (!decode(&plain, slice_from(s, sizeof start - 1)))
        return true;
    Slice text = buf_slice(&plain);
    if (slice_search(text, h->credential->placeholder) == SIZE_MAX)
        return true;
    if (!swap(h, &text, false))
        return false;
    buf_append(&out, slice(s.data, sizeof start - 1));
    http_put_base64(&out, text);
    buf_char(&out, 0);
    if (out.failed)
        return no_memory(h);
    h->hidden += (int64_t)out.len - 1 - (int64_t)s.len;
    *line = out.data;
    return true;
}

/* ---------- the whole ---------- */

static bool swap_url(Http *h)
{
    Slice query = slice_from(h->url.target, h->url.path.len), was = query;
    if (!swap(h, &query, true) || query.data == was.data)
        return query.data == was.data || h->error.code == 0;
    Buf b;
    buf_init(&b, &h->mem, LONGEST_SWAP);
    buf_append(&b, h->url.origin);
    buf_append(&b, h->url.path);
    buf_append(&b, query);
    buf_char(&b, 0);
    if (b.failed)
        return no_memory(h);
    h->start.url = b.data;
    h->hidden += (int64_t)query.len - (int64_t)was.len;
    return true;
}

static bool swap_lines(Http *h, HttpLines *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (!swap_text(h, &l->line[i]) || !swap_basic(h, &l->line[i]))
            return false;
        if (net_header_refused(SLICE("X"), slice_str(l->line[i]))) {
            http_fail(h, HTTP_NO_CONNECT, true, "the credential for this host cannot be sent: refused by policy");
            return false;
        }
    }
    return true;
}

bool http_put_placeholder(Http *h, HttpLines *l)
{
    const char **texts[] = {&h->start.user, &h->start.password, &h->start.bearer, &h->start.cookie, &h->start.referer, &h->start.user_agent};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!swap_text(h, texts[i]))
            return false;
    size_t before = h->sending.len;
    if (!swap_lines(h, l) || !swap_url(h) || !swap(h, &h->sending, false))
        return false;
    h->hidden_body = (int64_t)h->sending.len - (int64_t)before;
    return true;
}

/* ---------- signing ---------- */

static void remove_lines(HttpLines *l, Slice name)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        Slice s = slice_str(l->line[i]);
        s.len = MIN(slice_find(s, ':'), slice_find(s, ';'));
        if (!http_same_name(s, name))
            l->line[n++] = l->line[i];
    }
    l->n = n;
    if (l->line)
        l->line[n] = NULL;
}

static bool add_signed(Http *h, HttpLines *l, Slice line, Slice *value)
{
    size_t colon = slice_find(line, ':');
    Slice name = slice(line.data, colon);
    *value = slice_from(line, MIN(colon + 1, line.len));
    while (value->len && value->data[0] == ' ')
        *value = slice_from(*value, 1);
    if (colon == line.len || net_header_refused(name, *value)) {
        http_fail(h, HTTP_NO_CONNECT, true, "the signature for this host cannot be sent: refused by policy");
        return false;
    }
    remove_lines(l, name);
    h->hidden += (int64_t)line.len + 2;
    return http_add_line(l, line);
}

bool http_sign(Proc *p, Http *h, HttpLines *l)
{
    char text[8192];
    Slice secrets[SIGNED_MAX];
    size_t n = 0;
    NetAsk ask = {.kind = NET_ASK_SIGN, .method = h->start.method, .url = h->url.text.data, .credential = h->credential->id, .body = h->sending.data, .body_size = h->sending.len, .out = text,
                  .size = sizeof text};
    if (http_ask(p, &ask) != 0 || ask.len > sizeof text) {
        http_fail(h, HTTP_NO_CONNECT, true, "the signature for this host is not available: refused by policy");
        return false;
    }
    char *kept = mem_copy(&h->mem, slice(text, ask.len));
    explicit_bzero(text, sizeof text);
    Slice rest = slice(kept, kept ? ask.len : 0);
    while (rest.len && n < SIGNED_MAX) {
        size_t end = slice_find(rest, '\n');
        Slice line = slice(rest.data, end), value;
        rest = slice_from(rest, MIN(end + 1, rest.len));
        if (line.len && !add_signed(h, l, line, &value))
            return false;
        if (line.len && value.len >= REDACT_MIN)
            secrets[n++] = value;
    }
    if (!kept)
        return no_memory(h);
    if (n && !h->credential->no_redaction)
        h->redactor = redactor_new(&h->mem, secrets, n);
    return !n || h->redactor || h->credential->no_redaction || no_memory(h);
}
