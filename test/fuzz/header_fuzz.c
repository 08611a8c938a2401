/* header_fuzz: fields of a request and of its answer, each a letter and its text, with 0x1F between them.
 *
 *   L url   M method   H header   U user agent   R referer   C cookie   G range   E accept encoding   N user   P password   B bearer   D body
 *   K flags (1 insecure, 2 post)   A head of the answer   T its body   S sizes of the body's chunks
 *
 * In a head or body of an answer 0x01 stands for the secret, 0x02 for its base64, 0x03 for its percent-encoding. What goes out holds no line
 * break, NUL or header of the kernel's; a credential goes to its origin and path alone, once, and is nowhere to be seen in what comes back. */
#include "in_exchange.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADERS = 16, ROOM = 16384 };

typedef struct Input {
    HttpRequest request;
    Slice headers[HEADERS];
    Slice head, body, sizes;
    bool secret;       /* the head holds it */
    char text[ROOM];   /* fields as C strings */
    size_t used;
    char expanded[2][ROOM];
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

static Slice expand(char *out, Slice s)
{
    static const char *const forms[] = {FUZZ_SECRET, "WnE3Oi8rICImPSVLazl+XMOp", "Zq7%3A%2F%2B%20%22%26%3D%25Kk9~%5C%C3%A9"};
    size_t n = 0;
    for (size_t i = 0; i < s.len && n + 64 < ROOM; i++)
        if (s.data[i] >= 1 && s.data[i] <= 3)
            n += (size_t)snprintf(out + n, 64, "%s", forms[s.data[i] - 1]);
        else
            out[n++] = s.data[i];
    return slice(out, n);
}

static void take_field(Input *in, char letter, Slice s)
{
    static const char letters[] = "URCGENPB";
    HttpRequest *r = &in->request;
    const char **const texts[] = {&r->user_agent, &r->referer, &r->cookie, &r->range, &r->accept_encoding, &r->user, &r->password, &r->bearer};
    const char *at = letter ? strchr(letters, letter) : NULL;
    if (at)
        *texts[at - letters] = text_of(in, s);
    else if (letter == 'L')
        r->url = s;
    else if (letter == 'M')
        r->method = s;
    else if (letter == 'H' && r->nheaders < HEADERS)
        in->headers[r->nheaders++] = s;
    else if (letter == 'D')
        r->body = s, r->has_body = true;
    else if (letter == 'K')
        r->insecure = s.len && (s.data[0] & 1), r->post = s.len && (s.data[0] & 2);
    else if (letter == 'A')
        in->head = expand(in->expanded[0], s), in->secret = in->head.len != s.len;
    else if (letter == 'T')
        in->body = expand(in->expanded[1], s);
    else if (letter == 'S')
        in->sizes = s;
}

/* ---------- what goes out ---------- */

/* How many header lines have this name, and whether the last of them has this value. */
static int count_lines(const Http *h, const char *name, const char *value, bool *same)
{
    int n = 0;
    for (size_t i = 0; h->start.headers && h->start.headers[i]; i++) {
        Slice line = slice_str(h->start.headers[i]), is = line_name(h->start.headers[i]);
        if (!same_word(is, name))
            continue;
        *same = line.len > is.len + 2 && slice_is(slice_from(line, is.len + 2), value);
        n++;
    }
    return n;
}

static void check_credential(const Http *h)
{
    const NetStart *s = &h->start;
    const char *where = fuzz_credentials[h->credential->id].url;
    bool same = false;
    if (h->credential->id < 5)
        must(slice_starts(h->url.text, slice_str(where)) && !h->url.odd_path);
    else
        must(!h->url.secure && h->url.port == 8080 && contains(h->url.origin, ".b.example:8080"));
    must(!s->range && !s->http09 && count_lines(h, "range", "", &same) == 0 && count_lines(h, "if-range", "", &same) == 0 && count_lines(h, "accept-encoding", "", &same) == 0);
    switch (h->credential->kind) {
    case CREDENTIAL_BEARER: must(count_lines(h, "authorization", "Bearer " FUZZ_SECRET, &same) == 1 && same); break;
    case CREDENTIAL_BASIC: must(count_lines(h, "authorization", "Basic WnE3Oi8rICImPSVLazl+XMOp", &same) == 1 && same); break;
    case CREDENTIAL_HEADER: must(count_lines(h, "x-key", FUZZ_SECRET, &same) == 1 && same); break;
    case CREDENTIAL_QUERY: {
        const char *at = strstr(s->url, "key=Zq7%3A"), *mark = strchr(s->url, '?');
        must(at && mark && (at[-1] == '?' || at[-1] == '&') && strcmp(mark + 1, s->query) == 0);
        for (const char *c = mark; c; c = strchr(c + 1, '&'))
            must(c + 1 == at || (strncmp(c + 1, "key=", 4) != 0 && strncmp(c + 1, "key&", 4) != 0));
        break;
    }
    default: break;
    }
    if (h->credential->kind == CREDENTIAL_BEARER || h->credential->kind == CREDENTIAL_BASIC)
        must(!s->user && !s->password && !s->bearer);
}

static bool mentions(const Input *in)
{
    const HttpRequest *r = &in->request;
    bool found = contains(slice(in->text, in->used), "lsh_") || contains(r->url, "lsh_") || contains(r->body, "lsh_");
    for (size_t i = 0; i < r->nheaders; i++)
        found |= contains(r->headers[i], "lsh_") || contains(r->headers[i], "asic");
    return found;
}

/* ---------- what comes back ---------- */

typedef struct Shown {
    char text[4 * ROOM];
    size_t n;
} Shown;

static void take_body(Http *h, Shown *out)
{
    size_t n = MIN(h->body_len[h->fill], sizeof out->text - out->n);
    if (n)
        memcpy(out->text + out->n, h->body[h->fill], n);
    out->n += n;
    h->body_len[h->fill] = 0;
    h->fill ^= 1;
}

static void answer(Http *h, const Input *in)
{
    static Shown shown;
    Slice rest = in->body;
    shown.n = 0;
    fuzz_head(h, in->head);
    for (size_t i = 0; rest.len; i++) {
        size_t n = in->sizes.len ? (unsigned char)in->sizes.data[i % in->sizes.len] % 40u + 1 : rest.len;
        n = MIN(n, rest.len);
        must(http_sink.body(h, rest.data, n) == (ptrdiff_t)n);
        rest = slice_from(rest, n);
        if (i % 3 == 0)
            take_body(h, &shown);
    }
    take_body(h, &shown);
    http_sink.done(h);
    take_body(h, &shown);
    take_body(h, &shown);
    if (h->redactor)
        check_hidden(slice(shown.text, shown.n));
    else
        must(shown.n == in->body.len && memcmp(shown.text, in->body.data ? in->body.data : "", shown.n) == 0);
}

static void exchange(Proc *p, Http *h, const Input *in)
{
    Slice value;
    if (!fuzz_open(p, h, &in->request)) {
        check_shown(h);
        return;
    }
    check_request(h);
    if (h->credential)
        check_credential(h);
    must(h->credential || !sends_secret(h));
    if (h->credential && h->credential->kind == CREDENTIAL_PLACEHOLDER && !mentions(in))
        must(!sends_secret(h));
    if (h->credential) {
        http_sink.sent(h, FUZZ_SECRET "\r\n", sizeof FUZZ_SECRET + 1);
        http_sink.info(h, "* " FUZZ_SECRET "\n", sizeof FUZZ_SECRET + 2);
    }
    http_sink.data(h, false, 3);
    if (h->redactor || !in->secret) /* without one nothing is a secret */
        answer(h, in);
    http_header(h, "location", &value);
    check_shown(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Input in;
    Slice rest = slice((const char *)data, MIN(size, (size_t)8192));
    if (fuzz_spoiled(rest))
        return 0;
    in.used = 0;
    in.secret = false;
    in.head = in.body = in.sizes = slice("", 0);
    in.request = (HttpRequest){.url = SLICE("https://a.example/bearer/"), .method = SLICE("GET"), .headers = in.headers, .body = {"", 0}, .body_len = -1};
    while (rest.len) {
        Slice field = next_field(&rest);
        if (field.len)
            take_field(&in, field.data[0], slice_from(field, 1));
    }
    Proc *p = fuzz_proc();
    Http h;
    exchange(p, &h, &in);
    fuzz_close(&h);
    mem_drop(&p->mem);
    return 0;
}
