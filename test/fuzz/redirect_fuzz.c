/* redirect_fuzz: a request and the heads that answer it and each of its hops: fields of a letter and a text, with 0x1F between them.
 *
 *   L url   M method   H header   U user agent   C cookie   N user and password   B bearer   D body   K bits: statuses that keep a POST   A head
 *
 * In a head 0x01 stands for the secret, 0x02 for its base64, 0x03 for its percent-encoding. Once a hop has left the origin it began at, nothing that
 * says who asks goes with it and no credential ever does again; a target that carries the secret is not gone to; methods follow curl's rules. */
#include "in_exchange.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADERS = 12, HEADS = 10, ROOM = 8192 };

typedef struct Input {
    HttpRequest request;
    Slice headers[HEADERS], heads[HEADS];
    size_t nheads;
    unsigned keep;
    char text[ROOM];
    size_t used;
} Input;

static const char *text_of(Input *in, Slice s)
{
    if (in->used + s.len + 1 > ROOM)
        return NULL;
    char *copy = in->text + in->used;
    if (s.len)
        memcpy(copy, s.data, s.len);
    copy[s.len] = 0;
    in->used += s.len + 1;
    return copy;
}

static void take_field(Input *in, char letter, Slice s)
{
    HttpRequest *r = &in->request;
    switch (letter) {
    case 'L': r->url = s; break;
    case 'M': r->method = s; break;
    case 'U': r->user_agent = text_of(in, s); break;
    case 'C': r->cookie = text_of(in, s); break;
    case 'N': r->user = r->password = text_of(in, s); break;
    case 'B': r->bearer = text_of(in, s); break;
    case 'D': r->body = s, r->has_body = r->post = true; break;
    case 'K': in->keep = s.len ? (unsigned char)s.data[0] & 7u : 0; break;
    case 'H':
        if (r->nheaders < HEADERS)
            in->headers[r->nheaders++] = s;
        break;
    case 'A':
        if (in->nheads < HEADS)
            in->heads[in->nheads++] = s;
        break;
    default: break;
    }
}

static Slice expand(char *out, Slice s, bool *secret)
{
    static const char *const forms[] = {FUZZ_SECRET, "WnE3Oi8rICImPSVLazl+XMOp", "Zq7%3A%2F%2B%20%22%26%3D%25Kk9~%5C%C3%A9"};
    size_t n = 0;
    *secret = false;
    for (size_t i = 0; i < s.len && n + 64 < ROOM; i++)
        if (s.data[i] >= 1 && s.data[i] <= 3) {
            n += (size_t)snprintf(out + n, 64, "%s", forms[s.data[i] - 1]);
            *secret = true;
        } else {
            out[n++] = s.data[i];
        }
    return slice(out, n);
}

/* ---------- one hop ---------- */

static bool may_cross(const char *line)
{
    static const char *const names[] = {"accept", "accept-encoding", "accept-language", "content-type", "user-agent"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (same_word(line_name(line), names[i]))
            return true;
    return false;
}

static void check_crossed(const Http *h)
{
    const NetStart *s = &h->start;
    must(!h->credential && !s->cookie && !s->bearer && !sends_secret(h));
    must((!s->user && !s->password) || h->url.has_user);
    for (size_t i = 0; s->headers && s->headers[i]; i++)
        must(may_cross(s->headers[i]));
}

static int status_of(Slice head)
{
    size_t at = slice_find(head, ' ') + 1;
    char digits[4] = "";
    if (head.len >= at + 3)
        memcpy(digits, head.data + at, 3);
    return strspn(digits, "0123456789") == 3 ? atoi(digits) : 0;
}

static void check_method(const HttpRequest *before, const HttpRequest *next, int status, unsigned keep)
{
    bool post = before->has_body && before->post, becomes = false;
    if (status == 301 || status == 302)
        becomes = post && !(keep & (status == 301 ? 1u : 2u));
    if (status == 303)
        becomes = !slice_is(before->method, "HEAD") && !(post && (keep & 4u));
    if (becomes)
        must(slice_is(next->method, "GET") && !next->has_body && !next->post && !next->body.len);
    else
        must(slice_eq(next->method, before->method) && next->has_body == before->has_body && next->body.data == before->body.data);
    must(next->hops == before->hops + 1);
}

typedef struct Chain {
    char first[4096]; /* the origin it began at */
    bool left;
} Chain;

/* True when *r is another hop. */
static bool hop(Proc *p, HttpRequest *r, Slice head, unsigned keep, Chain *c)
{
    static char text[ROOM];
    Http h;
    HttpRequest next;
    HttpError e;
    bool secret, more = false;
    if (fuzz_open(p, &h, r)) {
        char origin[4096];
        snprintf(origin, sizeof origin, "%.*s", (int)h.url.origin.len, h.url.origin.data);
        if (!r->hops)
            memcpy(c->first, origin, sizeof origin);
        c->left |= strcmp(origin, c->first) != 0;
        must(!c->left || r->crossed);
        check_request(&h);
        must(h.credential || !sends_secret(&h));
        if (c->left)
            check_crossed(&h);
        head = expand(text, head, &secret);
        if (h.redactor || !secret) {
            fuzz_head(&h, head);
            more = http_redirect(p, &h, r, keep, &next, &e);
            must(!more || !e.code);
            check_hidden(slice_str(e.message));
            check_shown(&h);
        }
        if (more) {
            check_hidden(next.url);
            check_method(r, &next, status_of(http_last_head(&h)), keep);
            Slice line;
            Url to;
            const char *why;
            must(http_header(&h, "location", &line) && url_resolve(&h.mem, &h.url, line, &to, &why) == 0 && slice_eq(to.text, next.url));
            must(url_same_origin(&to, &h.url) || (next.crossed && !(h.redactor && contains(line, "[redacted]"))));
            *r = next;
        }
    }
    fuzz_close(&h);
    return more;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Input in;
    static Chain chain;
    Slice rest = slice((const char *)data, MIN(size, (size_t)8192));
    if (fuzz_spoiled(rest))
        return 0;
    in.used = in.nheads = 0;
    in.keep = 0;
    chain.left = false;
    in.request = (HttpRequest){.url = SLICE("https://a.example/bearer/"), .method = SLICE("GET"), .headers = in.headers, .body = {"", 0}, .body_len = -1};
    while (rest.len) {
        Slice field = next_field(&rest);
        if (field.len)
            take_field(&in, field.data[0], slice_from(field, 1));
    }
    Proc *p = fuzz_proc();
    for (size_t i = 0; i < in.nheads && hop(p, &in.request, in.heads[i], in.keep, &chain); i++)
        ;
    mem_drop(&p->mem);
    return 0;
}
