/* prepare: a request as it goes out: the script's, checked, with a credential put in and the framing left to the component. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exchange.h"

void http_fail(Http *h, int code, bool refused, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(h->error.message, sizeof h->error.message, format, args);
    va_end(args);
    h->error.code = code;
    h->error.refused = refused;
}

static bool no_memory(Http *h)
{
    http_fail(h, HTTP_NO_MEMORY, false, "Out of memory");
    return false;
}

static Slice trim(Slice s)
{
    while (s.len && (s.data[0] == ' ' || s.data[0] == '\t'))
        s = slice_from(s, 1);
    while (s.len && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t'))
        s.len--;
    return s;
}

bool http_same_name(Slice a, Slice b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (((a.data[i] ^ b.data[i]) & ~32) || (a.data[i] != b.data[i] && ((a.data[i] | 32) < 'a' || (a.data[i] | 32) > 'z')))
            return false;
    return true;
}

/* ---------- headers ---------- */

bool http_add_line(HttpLines *l, Slice text)
{
    if (l->n + 1 >= l->cap) {
        size_t cap = l->cap * 2 + 16;
        l->line = mem_grow(&l->h->mem, l->line, l->cap * sizeof *l->line, cap * sizeof *l->line);
        l->cap = cap;
        if (!l->line)
            return no_memory(l->h);
    }
    l->line[l->n] = mem_copy(&l->h->mem, text);
    if (!l->line[l->n])
        return no_memory(l->h);
    l->line[++l->n] = NULL;
    return true;
}

/* The name ends at the first colon, else the first semicolon; -1: neither is there, and curl sends nothing. */
static bool split_line(Slice line, Slice *name, Slice *value, bool *removes)
{
    size_t colon = slice_find(line, ':'), semicolon = slice_find(line, ';');
    if (line.len && line.data[0] == ':')
        colon = 1 + slice_find(slice_from(line, 1), ':'); /* a pseudo header's colon */
    size_t at = colon < line.len ? colon : semicolon;
    if (at >= line.len)
        return false;
    *name = slice(line.data, at);
    *value = trim(slice_from(line, at + 1));
    *removes = colon < line.len && !value->len;
    return true;
}

/* The header that the credential speaks for: a script's own gives way. */
static Slice credential_header(const Credential *c)
{
    if (!c || c->kind == CREDENTIAL_QUERY || c->kind == CREDENTIAL_PLACEHOLDER || c->kind == CREDENTIAL_SIGN)
        return slice(NULL, 0);
    return c->kind == CREDENTIAL_HEADER ? c->name : SLICE("Authorization");
}

static bool dropped_with_credential(const Http *h, Slice name)
{
    if (!h->credential)
        return false;
    return GUARD(ENCODING_OWNED, http_same_name(name, SLICE("Accept-Encoding"))) || GUARD(HEADER_REPLACED, credential_header(h->credential).len && http_same_name(name, credential_header(h->credential)));
}

static bool is_range(Slice name) { return http_same_name(name, SLICE("Range")) || http_same_name(name, SLICE("If-Range")); }

static bool take_header(Http *h, HttpLines *lines, Slice line)
{
    Slice name, value;
    bool removes;
    if (!split_line(line, &name, &value, &removes))
        return true;
    bool no_expect = removes && http_same_name(name, SLICE("Expect")); /* asks for less, as many scripts do */
    const char *why = no_expect ? NULL : net_header_refused(name, value);
    if (GUARD(RANGE_CREDENTIAL, !why && h->credential && is_range(name)))
        why = "no ranges where a credential is sent";
    if (why) {
        http_fail(h, HTTP_BAD_OPTION, true, "header '%.*s' refused by policy: %s", (int)MIN(name.len, (size_t)100), name.data, why);
        return false;
    }
    return dropped_with_credential(h, name) || http_add_line(lines, line);
}

static bool value_fine(Http *h, const char *what, const char *value)
{
    if (!GUARD(VALUE_BREAK, value && net_header_refused(SLICE("X"), slice_str(value))))
        return true;
    http_fail(h, HTTP_BAD_OPTION, true, "%s refused by policy: it holds a line break", what);
    return false;
}

static char *copy_text(Http *h, const char *s, bool *ok)
{
    char *c = s ? mem_strdup(&h->mem, s) : NULL;
    *ok = *ok && (!s || c);
    return c;
}

/* ---------- credentials ---------- */

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void http_put_base64(Buf *b, Slice s)
{
    for (size_t i = 0; i < s.len; i += 3) {
        unsigned v = (unsigned)(unsigned char)s.data[i] << 16;
        v |= i + 1 < s.len ? (unsigned)(unsigned char)s.data[i + 1] << 8 : 0;
        v |= i + 2 < s.len ? (unsigned)(unsigned char)s.data[i + 2] : 0;
        for (size_t k = 0; k < 4; k++)
            buf_char(b, k > s.len - i ? '=' : base64_digits[v >> (18 - 6 * k) & 63]);
    }
}

static bool secret_of(Proc *p, Http *h)
{
    const Credential *c = h->credential;
    if (c->secret) {
        h->secret = secret_ref(c->secret);
        return true;
    }
    char text[8192];
    NetAsk ask = {.kind = NET_ASK_SECRET, .method = mem_copy(&p->mem, h->method), .url = h->url.text.data, .credential = c->id, .out = text, .size = sizeof text};
    int err = http_ask(p, &ask);
    if (!err && ask.len <= sizeof text)
        h->secret = secret_new(slice(text, ask.len));
    explicit_bzero(text, sizeof text);
    if (err || !h->secret)
        http_fail(h, HTTP_NO_CONNECT, true, "the credential for this host is not available: refused by policy");
    return h->secret != NULL;
}

/* The header's text goes to b, its value's offset to *value. */
static bool header_credential(Http *h, Buf *b, size_t *value)
{
    const Credential *c = h->credential;
    Slice secret = secret_bytes(h->secret), name = credential_header(c);
    buf_append(b, name);
    buf_append(b, SLICE(": "));
    *value = b->len;
    if (c->kind == CREDENTIAL_BEARER)
        buf_append(b, SLICE("Bearer "));
    if (c->kind == CREDENTIAL_BASIC) {
        buf_append(b, SLICE("Basic "));
        http_put_base64(b, secret);
    } else {
        buf_append(b, secret);
    }
    return !b->failed && !net_header_refused(SLICE("X"), slice_from(buf_slice(b), *value));
}

void http_put_percent(Buf *b, Slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c && strchr("-._~", c)))
            buf_char(b, c);
        else
            buf_printf(b, "%%%02X", (unsigned char)c);
    }
}

/* The query without the script's own parameter of that name, and with ours. */
static void put_query(Http *h, Buf *b)
{
    const Credential *c = h->credential;
    Slice rest = slice_from(h->url.target, h->url.path.len);
    bool first = true;
    buf_append(b, h->url.origin);
    buf_append(b, h->url.path);
    while (rest.len) {
        rest = slice_from(rest, 1);
        size_t n = slice_find(rest, '&');
        Slice pair = slice(rest.data, n), name = slice(pair.data, slice_find(pair, '='));
        if (pair.len && !slice_eq(name, c->name)) {
            buf_char(b, first ? '?' : '&');
            buf_append(b, pair);
            first = false;
        }
        rest = slice_from(rest, n);
    }
    buf_char(b, first ? '?' : '&');
    buf_append(b, c->name);
    buf_char(b, '=');
    http_put_percent(b, secret_bytes(h->secret));
}

static bool use_redactor(Http *h, Slice value)
{
    Slice secrets[] = {secret_bytes(h->secret), value};
    if (h->credential->no_redaction)
        return true;
    h->redactor = redactor_new(&h->mem, secrets, 2);
    return h->redactor || no_memory(h);
}

static bool put_credential(Proc *p, Http *h, HttpLines *lines)
{
    if (!h->credential)
        return true;
    if (h->credential->kind == CREDENTIAL_SIGN)
        return http_sign(p, h, lines);
    if (!secret_of(p, h))
        return false;
    if (h->credential->kind == CREDENTIAL_PLACEHOLDER)
        return use_redactor(h, slice(NULL, 0)) && http_put_placeholder(h, lines);
    Buf b;
    buf_init(&b, &h->mem, HEADS_MAX);
    if (h->credential->kind == CREDENTIAL_QUERY) {
        put_query(h, &b);
        h->start.url = b.data;
        h->hidden = (int64_t)b.len - (int64_t)h->url.text.len;
        return b.failed ? no_memory(h) : use_redactor(h, slice(NULL, 0));
    }
    size_t value;
    if (!header_credential(h, &b, &value)) {
        http_fail(h, HTTP_NO_CONNECT, true, "the credential for this host cannot be sent: refused by policy");
        return false;
    }
    h->hidden = (int64_t)b.len + 2;
    h->start.user = h->start.password = h->start.bearer = NULL;
    return use_redactor(h, slice_from(buf_slice(&b), value)) && http_add_line(lines, buf_slice(&b));
}

/* ---------- the whole ---------- */

static bool take_values(Http *h, const HttpRequest *r)
{
    bool ok = value_fine(h, "user agent", r->user_agent) && value_fine(h, "referer", r->referer) && value_fine(h, "cookie", r->cookie) &&
              value_fine(h, "range", r->range) && value_fine(h, "accept encoding", r->accept_encoding) && value_fine(h, "user", r->user) &&
              value_fine(h, "password", r->password) && value_fine(h, "token", r->bearer);
    if (GUARD(RANGE_CREDENTIAL, ok && h->credential && r->range)) {
        http_fail(h, HTTP_BAD_OPTION, true, "range refused by policy: no ranges where a credential is sent");
        return false;
    }
    if (!ok)
        return false;
    h->start.user_agent = copy_text(h, r->user_agent, &ok);
    h->start.referer = copy_text(h, r->referer, &ok);
    h->start.cookie = copy_text(h, r->cookie, &ok);
    h->start.range = copy_text(h, r->range, &ok);
    bool in_url = !r->user && h->url.has_user; /* decoded: they may hold what a header must not */
    if (in_url && !(value_fine(h, "user", h->url.user.data) && value_fine(h, "password", h->url.password.data)))
        return false;
    h->start.user = copy_text(h, in_url ? h->url.user.data : r->user, &ok);
    h->start.password = copy_text(h, in_url ? h->url.password.data : r->password, &ok);
    h->start.bearer = copy_text(h, r->bearer, &ok);
    h->start.accept_encoding = copy_text(h, GUARD(ENCODING_OWNED, h->credential && !r->accept_encoding) ? "identity" : r->accept_encoding, &ok);
    return ok || no_memory(h);
}

static bool take_url(Http *h)
{
    const Url *u = &h->url;
    char *host = mem_alloc(&h->mem, u->host.len + 3), *path = mem_copy(&h->mem, u->path);
    char *query = u->target.len > u->path.len ? mem_copy(&h->mem, slice_from(u->target, u->path.len + 1)) : NULL;
    if (!host || !path || (!query && u->target.len > u->path.len))
        return no_memory(h);
    bool v6 = u->kind == URL_IPV6;
    snprintf(host, u->host.len + 3, "%s%.*s%s", v6 ? "[" : "", (int)u->host.len, u->host.data, v6 ? "]" : "");
    h->host = mem_copy(&h->mem, u->host);
    h->start.host = host;
    h->start.path = path;
    h->start.query = query;
    h->start.url = u->text.data;
    h->start.port = u->port;
    h->start.secure = u->secure;
    return h->host || no_memory(h);
}

/* A query credential changed the URL: the component compares with the parts as they are now. */
static bool take_query(Http *h)
{
    if (h->start.url == h->url.text.data)
        return true;
    const char *mark = strchr(h->start.url, '?');
    h->start.query = mem_strdup(&h->mem, mark + 1);
    return h->start.query || no_memory(h);
}

uint64_t http_credential_number(const Http *h) { return h->credential ? h->credential->id + 1 : 0; }

/* Connections are shared only where credential, private class and policy are the same. */
static uint64_t partition_of(const Http *h)
{
    uint64_t parts[] = {http_credential_number(h), h->decision.allow_private, h->config->generation, h->start.insecure};
    return GUARD(NET_PARTITION, true) ? hash_bytes(slice((const char *)parts, sizeof parts)) : 0;
}

/* A length that is told counts the secrets. */
static void take_swaps(Proc *p, Http *h, const HttpRequest *r)
{
    const Credential *c = h->credential;
    if (!r->has_body || !r->streams || !c || c->kind != CREDENTIAL_PLACEHOLDER || c->placeholder.len >= PLACEHOLDER_MOST)
        return;
    int64_t times = r->body_len < 0 ? 0 : r->count && !r->resume_from ? r->count(p, r->count_user, c->placeholder) : -1;
    h->swaps = times >= 0;
    if (times > 0)
        h->start.body_len += times * ((int64_t)secret_bytes(h->secret).len - (int64_t)c->placeholder.len);
}

static bool take_body(Proc *p, Http *h, const HttpRequest *r)
{
    h->start.body_len = !r->has_body ? -1 : !r->streams ? (int64_t)h->sending.len : r->body_len < 0 ? INT64_MAX : r->body_len;
    h->start.post = r->post;
    h->start.body = r->has_body && !r->streams ? (h->sending.data ? h->sending.data : "") : NULL;
    if (r->has_body && !r->streams && !r->post) { /* libcurl takes an upload by pieces alone */
        h->upload = (char *)(uintptr_t)h->start.body;
        h->upload_len = h->sending.len;
        h->upload_end = true;
        h->start.body = NULL;
    }
    if (r->has_body && r->streams)
        h->upload = mem_alloc(&h->mem, UPLOAD_ROOM + PLACEHOLDER_MOST);
    take_swaps(p, h, r);
    return !r->has_body || !r->streams || h->upload || no_memory(h);
}

/* The sooner of what the script asks for and the shell's limit; 0: neither. */
static int64_t connect_time(Proc *p, const HttpRequest *r)
{
    int64_t most = (int64_t)MIN(kern_limit(p->kernel, LIMIT_CONNECT), (uint64_t)INT32_MAX);
    return GUARD(NET_CONNECT, most && (!r->connect_timeout_ms || r->connect_timeout_ms > most)) ? most : r->connect_timeout_ms;
}

bool http_prepare(Proc *p, Http *h, const HttpRequest *r)
{
    HttpLines lines = {.h = h};
    h->start.no_body = r->no_body || slice_is(r->method, "HEAD");
    h->start.fail = r->fail;
    h->start.http09 = r->http09 && !h->credential;
    h->start.resume_from = r->resume_from;
    h->start.insecure = r->insecure;
    h->start.http_version = r->http_version;
    h->start.connect_timeout_ms = connect_time(p, r);
    h->start.timeout_ms = r->timeout_ms;
    h->start.max_file_size = r->max_file_size;
    h->start.max_receive_speed = r->max_receive_speed;
    h->start.max_send_speed = r->max_send_speed;
    h->start.low_speed_limit = r->low_speed_limit;
    h->start.low_speed_time = r->low_speed_time;
    h->start.tls_min = r->tls_min;
    h->start.ca_file = h->config->ca_file;
    h->start.proxy = h->config->proxy;
    h->start.sink = &http_sink;
    h->start.user_data = h;
    if (!net_method_valid(r->method)) {
        http_fail(h, HTTP_BAD_OPTION, true, "method refused by policy: not a token of at most 32 characters");
        return false;
    }
    if (GUARD(INSECURE, r->insecure && (!h->config->allow_insecure || h->credential))) {
        http_fail(h, HTTP_NO_CONNECT, true, "certificates are verified: refused by policy");
        return false;
    }
    h->sending = r->body;
    h->start.method = mem_copy(&h->mem, r->method);
    if (!h->start.method)
        return no_memory(h);
    for (size_t i = 0; i < r->nheaders; i++)
        if (!take_header(h, &lines, r->headers[i]))
            return false;
    if (!take_values(h, r) || !take_url(h) || !put_credential(p, h, &lines) || !take_query(h) || !take_body(p, h, r))
        return false;
    h->start.headers = lines.line;
    h->start.partition = partition_of(h);
    return true;
}
