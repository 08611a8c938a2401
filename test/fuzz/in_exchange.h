/* in_exchange: requests built by the engine outside a run, for the fuzz targets: a configuration with a credential of each kind, and exchanges
 * that no process owns and no transfer moves. */
#ifndef TEST_FUZZ_IN_EXCHANGE_H
#define TEST_FUZZ_IN_EXCHANGE_H

#include <stdio.h>

#include "in_net.h"
#include "lib/api/internal.h"
#include "lib/kernel/net/exchange.h"

/* Characters that every encoding treats differently; nothing that an input may hold by itself. */
#define FUZZ_SECRET "Zq7:/+ \"&=%Kk9~\\\xc3\xa9"
#define FUZZ_PLACEHOLDER "lsh_00112233445566778899aabbccddeeff"

static const struct {
    const char *url, *name;
    CredentialKind kind;
} fuzz_credentials[] = {
    {"https://a.example/bearer/", "", CREDENTIAL_BEARER}, {"https://a.example/basic/", "", CREDENTIAL_BASIC},   {"https://a.example/header/", "X-Key", CREDENTIAL_HEADER},
    {"https://a.example/query/", "key", CREDENTIAL_QUERY}, {"https://a.example/place/", "T", CREDENTIAL_PLACEHOLDER}, {"http://*.b.example:8080", "", CREDENTIAL_BEARER},
};

static inline NetConfig *fuzz_config(void)
{
    static NetConfig config;
    static UrlRule rules[2];
    static Credential list[ARRAY_LEN(fuzz_credentials)];
    const char *why;
    if (config.ncredentials)
        return &config;
    mem_init(&config.mem, NULL, NULL, NULL);
    rules[0] = rules[1] = (UrlRule){.http = true, .https = true, .host_match = HOST_ANY, .port = 443, .path = SLICE("/")};
    rules[1].port = 80;
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        must(url_rule_parse(&config.mem, slice_str(fuzz_credentials[i].url), slice("", 0), &list[i].match, &why) == 0);
        list[i].kind = fuzz_credentials[i].kind;
        list[i].name = slice_str(fuzz_credentials[i].name);
        list[i].placeholder = SLICE(FUZZ_PLACEHOLDER);
        list[i].secret = secret_new(SLICE(FUZZ_SECRET));
        list[i].id = i;
        must(list[i].secret);
    }
    config.holders = 1;
    config.policy = (NetPolicy){.rules = rules, .nrules = 2};
    config.allow_insecure = true;
    config.credentials = list;
    config.ncredentials = ARRAY_LEN(list);
    return &config;
}

/* The steps of http_open up to the component's; false: refused, h->error says why. */
static inline bool fuzz_open(Proc *p, Http *h, const HttpRequest *r)
{
    const char *why;
    bool odd = false;
    memset(h, 0, sizeof *h);
    mem_init(&h->mem, NULL, NULL, NULL);
    mem_init(&h->bodies, NULL, NULL, NULL);
    buf_init(&h->heads, &h->mem, 2 * HEADS_MAX);
    buf_init(&h->trace, &h->mem, 4 * HEADS_MAX);
    h->config = fuzz_config();
    if (url_parse(&h->mem, r->url, &h->url, &why) || h->url.unicode)
        return false;
    h->credential = r->crossed ? NULL : credential_find(h->config->credentials, h->config->ncredentials, &h->url, r->method, &odd);
    h->method = slice(mem_copy(&h->mem, r->method), r->method.len);
    return !odd && http_prepare(p, h, r);
}

static inline void fuzz_close(Http *h)
{
    secret_unref(h->secret);
    mem_drop(&h->mem);
    mem_drop(&h->bodies);
}

/* A head as libcurl hands it over, line by line; it ends with an empty one. */
static inline void fuzz_head(Http *h, Slice head)
{
    char line[4096];
    bool more = true;
    while (more) {
        size_t n = slice_find(head, '\n');
        more = n < head.len;
        int len = snprintf(line, sizeof line, "%.*s", (int)MIN(n, sizeof line - 3), head.data ? head.data : "");
        memcpy(line + len, "\r\n", 3);
        head = slice_from(head, MIN(n + 1, head.len));
        if (len && !http_sink.header(h, line, (size_t)len + 2))
            return;
    }
    http_sink.header(h, "\r\n", 2);
}

/* A process in name only: memory, and a kernel that knows limits. */
static inline Proc *fuzz_proc(void)
{
    static shell *sh;
    static Proc p;
    if (!sh) {
        shell_limits limits;
        shell_options o;
        shell_limits_init(&limits);
        limits.redirects = 0;
        shell_options_init(&o);
        o.limits = &limits;
        must(shell_open(&o, &sh) == SHELL_OK);
        p.kernel = sh->kernel;
    }
    mem_init(&p.mem, NULL, NULL, NULL);
    return &p;
}

/* ---------- what a request must look like ---------- */

static inline Slice line_name(const char *line)
{
    Slice s = slice_str(line);
    if (s.len && s.data[0] == ':')
        return slice(s.data, 1 + slice_find(slice_from(s, 1), ':'));
    s.len = MIN(slice_find(s, ':'), slice_find(s, ';'));
    return s;
}

static inline bool kernels_own(Slice name)
{
    static const char *const names[] = {"host", ":authority", ":path", ":scheme", ":method", "content-length", "transfer-encoding", "te", "trailer", "connection", "keep-alive", "upgrade", "expect"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (same_word(name, names[i]))
            return true;
    return name.len > 5 && same_word(slice(name.data, 6), "proxy-");
}

static inline void check_line(const char *line)
{
    Slice s = slice_str(line), name = line_name(line);
    must(!has_break(s) && name.len);
    for (size_t i = 0; i < name.len; i++)
        must((unsigned char)name.data[i] > ' ' && (unsigned char)name.data[i] < 0x7f && !strchr("\"(),/:;<=>?@[\\]{}", name.data[i]));
    bool removes = name.len < s.len && s.data[name.len] == ':';
    for (size_t i = name.len + 1; i < s.len; i++)
        removes = removes && (s.data[i] == ' ' || s.data[i] == '\t');
    must(!kernels_own(name) || (removes && same_word(name, "expect")));
}

static inline void check_value(const char *value) { must(!value || !has_break(slice_str(value))); }

static inline void check_request(const Http *h)
{
    const NetStart *s = &h->start;
    Slice method = slice_str(s->method);
    must(method.len && method.len <= 32 && !has_break(method));
    for (size_t i = 0; i < method.len; i++)
        must((unsigned char)method.data[i] > ' ' && (unsigned char)method.data[i] < 0x7f && !strchr("\"(),/:;<=>?@[\\]{}", method.data[i]));
    for (size_t i = 0; s->headers && s->headers[i]; i++)
        check_line(s->headers[i]);
    const char *const values[] = {s->user_agent, s->referer, s->cookie, s->range, s->accept_encoding, s->user, s->password, s->bearer, s->path, s->query, s->host, s->url};
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        check_value(values[i]);
    must(!strpbrk(s->url, " \t") && slice_starts(slice_str(s->url), h->url.origin));
    must(s->port == h->url.port && s->secure == h->url.secure && slice_is(h->url.path, s->path));
    must(!s->insecure || !h->credential);
}

static inline bool sends_secret(const Http *h)
{
    const NetStart *s = &h->start;
    const char *const values[] = {s->user_agent, s->referer, s->cookie, s->range, s->user, s->password, s->bearer, s->url};
    bool sent = s->body && s->body_len > 0 && s->body_len < INT64_MAX && contains(slice(s->body, (size_t)s->body_len), FUZZ_SECRET);
    sent |= h->upload && h->upload_len && contains(slice(h->upload, h->upload_len), FUZZ_SECRET);
    for (size_t i = 0; s->headers && s->headers[i]; i++)
        sent |= contains(slice_str(s->headers[i]), FUZZ_SECRET) || contains(slice_str(s->headers[i]), "WnE3Oi8rICImPSVLazl+XMOp");
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        sent |= values[i] && (contains(slice_str(values[i]), FUZZ_SECRET) || contains(slice_str(values[i]), "Zq7%3A%2F%2B%20%22%26%3D%25Kk9~%5C%C3%A9"));
    return sent;
}

static inline void check_hidden(Slice shown) { must(!contains(shown, FUZZ_SECRET) && !contains(shown, "WnE3Oi8rICImPSVLazl+XMOp") && !contains(shown, "Zq7%3A%2F%2B%20%22%26%3D%25Kk9~%5C%C3%A9")); }

/* What a script may see of an exchange holds no secret. */
static inline void check_shown(Http *h)
{
    char kind;
    Slice text;
    check_hidden(h->url.text);
    check_hidden(slice_str(h->error.message));
    check_hidden(http_heads(h));
    while (http_trace(h, &kind, &text))
        check_hidden(text);
}

/* Inputs that hold it already, encoded or not, say nothing. */
static inline bool fuzz_spoiled(Slice s)
{
    static char plain[8192];
    size_t n = 0;
    unsigned c;
    for (size_t i = 0; i < s.len && n < sizeof plain; i++) {
        bool code = s.data[i] == '%' && i + 2 < s.len && sscanf((char[]){s.data[i + 1], s.data[i + 2], 0}, "%2x", &c) == 1;
        plain[n++] = code ? (char)c : s.data[i];
        i += code ? 2 : 0;
    }
    return contains(s, "q7") || contains(s, "nE3O") || contains(slice(plain, n), "q7") || contains(slice(plain, n), "nE3O");
}

#endif
