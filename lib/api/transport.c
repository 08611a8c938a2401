/* transport: the embedder's own way out, in the shape of the net component, so that everything around it (URLs, rules, grammar, credentials,
 * redaction, redirects, limits) is the same. Its callbacks run on the stack of the thread that steps.
 *
 * Here stands what libcurl does otherwise: the request's own header lines, the answer cut into head lines and body, time-outs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "lib/kernel/host.h"
#include "lib/kernel/http.h"

enum { PIECE = 64 * 1024, HEAD_LINE_MAX = 100 * 1024, ROUNDS = 32 };

typedef struct Hub {
    shell *sh;
    struct Transfer *transfers;
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool woken;
} Hub;

typedef enum { SENDING, HEAD, BODY, ENDED } Stage;

typedef struct Transfer {
    struct Transfer *next;
    Hub *hub;
    Mem mem;
    shell_net net;              /* its callbacks, as they were when it began */
    const NetStart *start;      /* the exchange's, which outlives it */
    shell_transfer request;
    void *handle;
    bool opened, waits, paused; /* waits: the embedder said not now; paused: the script has not read yet */
    Stage stage;
    const char *body;           /* what is left of one in memory */
    uint64_t left;
    char piece[PIECE];          /* on its way in or out: at..len */
    size_t at, len;
    Buf line;
    bool interim, encoded;      /* of the head at hand */
    int64_t began;
    NetResult result;
} Transfer;

static int64_t monotonic_ms(void) { return host_monotonic() / 1000000; }

/* ---------- the request's head ---------- */

static Slice name_of(const char *line)
{
    Slice s = slice_str(line);
    size_t colon = slice_find(s, ':');
    return slice(s.data, colon < s.len ? colon : slice_find(s, ';'));
}

static bool same(Slice a, const char *b)
{
    bool equal = a.len == strlen(b);
    for (size_t i = 0; equal && i < a.len; i++)
        equal = (a.data[i] >= 'A' && a.data[i] <= 'Z' ? a.data[i] | 32 : a.data[i]) == (b[i] >= 'A' && b[i] <= 'Z' ? b[i] | 32 : b[i]);
    return equal;
}

static bool given(const NetStart *s, const char *name)
{
    for (const char *const *l = s->headers; l && *l; l++)
        if (same(name_of(*l), name))
            return true;
    return false;
}

typedef struct Lines {
    Transfer *t;
    const char **line;
    size_t n, cap;
} Lines;

static void add(Lines *l, const char *name, const char *before, const char *value)
{
    if (!value || given(l->t->start, name) || l->n + 1 >= l->cap)
        return;
    l->line[l->n++] = mem_printf(&l->t->mem, "%s: %s%s", name, before, value);
}

/* "Name:" takes out and is not sent; "Name;" is sent empty. */
static void add_own(Lines *l, const char *line)
{
    Slice s = slice_str(line), name = name_of(line), value = slice_from(s, MIN(name.len + 1, s.len));
    while (value.len && (value.data[0] == ' ' || value.data[0] == '\t'))
        value = slice_from(value, 1);
    bool empties = name.len < s.len && s.data[name.len] == ';';
    if (name.len < s.len && (value.len != 0) != empties)
        l->line[l->n++] = empties ? mem_printf(&l->t->mem, "%.*s:", (int)name.len, name.data) : mem_copy(&l->t->mem, s);
}

static const char *basic(Transfer *t)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const NetStart *s = t->start;
    Buf out;
    char *pair = s->user ? mem_printf(&t->mem, "%s:%s", s->user, s->password ? s->password : "") : NULL;
    Slice in = pair ? slice_str(pair) : slice("", 0);
    buf_init(&out, &t->mem, BUF_MAX);
    for (size_t i = 0; i < in.len; i += 3) {
        unsigned v = (unsigned)(unsigned char)in.data[i] << 16;
        v |= i + 1 < in.len ? (unsigned)(unsigned char)in.data[i + 1] << 8 : 0;
        v |= i + 2 < in.len ? (unsigned)(unsigned char)in.data[i + 2] : 0;
        for (size_t k = 0; k < 4; k++)
            buf_char(&out, k > in.len - i ? '=' : digits[v >> (18 - 6 * k) & 63]);
    }
    return pair && !out.failed && out.data ? out.data : NULL;
}

static bool make_lines(Transfer *t)
{
    const NetStart *s = t->start;
    Lines l = {.t = t, .cap = 12};
    for (const char *const *h = s->headers; h && *h; h++)
        l.cap++;
    l.line = mem_alloc_array(&t->mem, l.cap + 1, sizeof *l.line);
    if (!l.line)
        return false;
    add(&l, "Authorization", s->bearer ? "Bearer " : "Basic ", s->bearer ? s->bearer : basic(t));
    add(&l, "Range", "bytes=", s->range);
    add(&l, "User-Agent", "", s->user_agent);
    add(&l, "Accept", "", "*/*");
    add(&l, "Accept-Encoding", "", s->accept_encoding ? "identity" : NULL);
    add(&l, "Referer", "", s->referer);
    add(&l, "Cookie", "", s->cookie);
    for (const char *const *h = s->headers; h && *h; h++)
        add_own(&l, *h);
    add(&l, "Content-Type", "", s->post ? "application/x-www-form-urlencoded" : NULL);
    for (size_t i = 0; i < l.n; i++)
        if (!l.line[i])
            return false;
    t->request.headers = l.line;
    return true;
}

static void tell_head(Transfer *t)
{
    const NetStart *s = t->start;
    Buf b;
    buf_init(&b, &t->mem, BUF_MAX);
    buf_printf(&b, "%s %s%s%s HTTP/1.1\r\nHost: %s", s->method, s->path, s->query ? "?" : "", s->query ? s->query : "", s->host);
    if (s->port != (s->secure ? 443u : 80u))
        buf_printf(&b, ":%u", s->port);
    buf_append(&b, SLICE("\r\n"));
    for (const char *const *l = t->request.headers; *l; l++)
        buf_printf(&b, "%s\r\n", *l);
    buf_append(&b, SLICE("\r\n"));
    if (!b.failed)
        s->sink->sent(s->user_data, b.data, b.len);
    t->result.size_request = (int64_t)b.len;
}

/* ---------- the end ---------- */

static void finish(Transfer *t, int code, const char *message)
{
    if (t->stage == ENDED)
        return;
    t->stage = ENDED;
    t->result.code = code;
    snprintf(t->result.message, sizeof t->result.message, "%s", message);
    t->result.total = (double)(monotonic_ms() - t->began) / 1000;
    t->start->sink->done(t->start->user_data);
}

static bool late(Transfer *t)
{
    int64_t most = t->start->timeout_ms, passed = monotonic_ms() - t->began;
    char text[128];
    if (!most || passed < most)
        return false;
    snprintf(text, sizeof text, "Operation timed out after %lld milliseconds with %lld bytes received", (long long)passed, (long long)t->result.size_download);
    finish(t, 28, text);
    return true;
}

/* ---------- the answer ---------- */

static void status_line(Transfer *t, Slice line)
{
    size_t at = slice_find(line, ' ') + 1;
    int v = 0;
    for (size_t i = at; i < line.len && i < at + 3 && line.data[i] >= '0' && line.data[i] <= '9'; i++)
        v = v * 10 + (line.data[i] - '0');
    t->result.response = v;
    t->result.http_version = slice_starts(line, SLICE("HTTP/2")) ? 3 : slice_starts(line, SLICE("HTTP/1.0")) ? 1 : 2;
    t->interim = v >= 100 && v < 200;
    t->encoded = false;
}

/* A coding that nobody undoes would carry a secret past its redaction. */
static void note_encoding(Transfer *t, Slice line)
{
    size_t colon = slice_find(line, ':');
    if (!same(slice(line.data, colon), "content-encoding"))
        return;
    Slice value = slice_from(line, MIN(colon + 1, line.len));
    while (value.len && (unsigned char)value.data[0] <= ' ')
        value = slice_from(value, 1);
    while (value.len && (unsigned char)value.data[value.len - 1] <= ' ')
        value.len--;
    t->encoded |= value.len && !same(value, "identity");
}

static void head_ended(Transfer *t)
{
    const NetStart *s = t->start;
    char text[64];
    if (t->interim) {
        t->line.len = 0;
        t->result.response = 0;
        return;
    }
    t->stage = BODY;
    t->result.starttransfer = (double)(monotonic_ms() - t->began) / 1000;
    snprintf(text, sizeof text, "The requested URL returned error: %ld", t->result.response);
    if (s->fail && t->result.response >= 400)
        finish(t, 22, text);
    else if (t->encoded && s->accept_encoding)
        finish(t, 61, "Unrecognized content encoding type. libcurl understands identity content encodings.");
    else if (s->no_body)
        finish(t, 0, "");
}

static void head_line(Transfer *t)
{
    Slice line = buf_slice(&t->line);
    while (line.len && (line.data[line.len - 1] == '\n' || line.data[line.len - 1] == '\r'))
        line.len--;
    if (memchr(line.data, 0, line.len) || memchr(line.data, '\r', line.len)) {
        finish(t, 8, "Weird server reply");
        return;
    }
    if (!t->result.response && !slice_starts(line, SLICE("HTTP/"))) {
        finish(t, 1, "Received HTTP/0.9 when not allowed");
        return;
    }
    bool empty = !line.len;
    if (!t->result.response)
        status_line(t, line);
    note_encoding(t, line);
    t->line.len = line.len;
    buf_append(&t->line, SLICE("\r\n"));
    t->result.size_header += (int64_t)t->line.len;
    if (t->line.failed || !t->start->sink->header(t->start->user_data, t->line.data, t->line.len))
        finish(t, 23, "Failed writing header");
    else if (empty)
        head_ended(t);
    buf_clear(&t->line);
}

static void take_head(Transfer *t)
{
    while (t->at < t->len && t->stage == HEAD) {
        Slice rest = slice(t->piece + t->at, t->len - t->at);
        size_t n = MIN(slice_find(rest, '\n') + 1, rest.len);
        buf_append(&t->line, slice(rest.data, n));
        t->at += n;
        if (t->line.failed)
            finish(t, 27, "Out of memory");
        else if (t->line.len > HEAD_LINE_MAX)
            finish(t, 56, "Too large response headers");
        else if (rest.data[n - 1] == '\n')
            head_line(t);
    }
}

static void take_body(Transfer *t)
{
    const NetStart *s = t->start;
    size_t n = t->len - t->at;
    if (!n || t->stage != BODY)
        return;
    ptrdiff_t taken = s->sink->body(s->user_data, t->piece + t->at, n);
    if (taken < 0) {
        finish(t, 23, "Failed writing body");
        return;
    }
    t->paused = !taken;
    if (!taken)
        return;
    s->sink->data(s->user_data, false, n);
    t->at = t->len;
    t->result.size_download += (int64_t)n;
    if (s->max_file_size && t->result.size_download > s->max_file_size)
        finish(t, 63, "Exceeded the maximum allowed file size");
}

/* ---------- the callbacks ---------- */

static void open_transfer(Transfer *t)
{
    char why[200] = "";
    t->hub->sh->in_callback = true;
    int32_t err = t->net.transfer(t->net.user, &t->request, &t->handle, why, sizeof why);
    t->hub->sh->in_callback = false;
    why[sizeof why - 1] = 0;
    t->opened = !err;
    if (err)
        finish(t, 7, why[0] ? why : "Couldn't connect to server");
    t->result.num_connects = t->opened;
}

/* More of the body into the piece; false: there is none for now. The end is an empty piece. */
static bool more_to_send(Transfer *t, bool *end)
{
    const NetStart *s = t->start;
    *end = false;
    if (t->at < t->len)
        return true;
    t->at = t->len = 0;
    if (s->body) {
        size_t n = (size_t)MIN(t->left, (uint64_t)PIECE);
        if (n)
            memcpy(t->piece, t->body, n);
        t->body += n;
        t->left -= n;
        t->len = n;
    } else {
        ptrdiff_t n = s->sink->upload(s->user_data, t->piece, PIECE);
        t->paused = n == -2;
        if (n == -1)
            finish(t, 42, "Operation was aborted by an application callback");
        if (n < 0)
            return false;
        t->len = (size_t)n;
    }
    *end = t->len == 0;
    return true;
}

static void send_body(Transfer *t)
{
    bool end;
    if (!more_to_send(t, &end))
        return;
    t->hub->sh->in_callback = true;
    int64_t n = t->net.transfer_send(t->net.user, t->handle, t->piece + t->at, t->len - t->at);
    t->hub->sh->in_callback = false;
    t->waits = n == SHELL_EAGAIN;
    if (t->waits)
        return;
    if (n < 0 || (uint64_t)n > t->len - t->at) {
        finish(t, 55, "Failed sending data to the peer");
        return;
    }
    t->at += (size_t)n;
    t->result.size_upload += n;
    if (n)
        t->start->sink->data(t->start->user_data, true, (size_t)n);
    if (end) {
        t->stage = HEAD;
        t->at = t->len = 0;
    }
}

static void receive(Transfer *t)
{
    if (t->at < t->len) {
        if (t->stage == HEAD)
            take_head(t);
        take_body(t);
        return;
    }
    t->at = t->len = 0;
    t->hub->sh->in_callback = true;
    int64_t n = t->net.transfer_receive(t->net.user, t->handle, t->piece, PIECE);
    t->hub->sh->in_callback = false;
    t->waits = n == SHELL_EAGAIN;
    if (t->waits)
        return;
    if (n < 0 || n > PIECE)
        finish(t, 56, "Failure when receiving data from the peer");
    else if (n == 0)
        finish(t, t->stage == BODY ? 0 : 52, t->stage == BODY ? "" : "Empty reply from server");
    t->len = n > 0 && n <= PIECE ? (size_t)n : 0;
}

static void advance(Transfer *t)
{
    t->waits = false;
    for (int i = 0; i < ROUNDS && t->stage != ENDED && !t->waits && !t->paused && !late(t); i++) {
        if (!t->opened)
            open_transfer(t);
        else if (t->stage == SENDING)
            send_body(t);
        else
            receive(t);
    }
}

/* ---------- the component ---------- */

static void *hub_new(void *owner)
{
    Hub *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->sh = owner;
    pthread_mutex_init(&h->lock, NULL);
    host_cond_init(&h->cond);
    return h;
}

static void hub_free(void *hub)
{
    Hub *h = hub;
    pthread_cond_destroy(&h->cond);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

static void stop(void *transfer)
{
    Transfer *t = transfer, **link = &t->hub->transfers;
    while (*link != t)
        link = &(*link)->next;
    *link = t->next;
    if (t->opened) {
        bool inside = t->hub->sh->in_callback;
        t->hub->sh->in_callback = true;
        t->net.transfer_close(t->net.user, t->handle);
        t->hub->sh->in_callback = inside;
    }
    mem_wipe(&t->mem);
    mem_drop(&t->mem);
    explicit_bzero(t->piece, sizeof t->piece);
    free(t);
}

/* "host:port:address,address": what was resolved and let through. */
static const char *addresses_of(const NetStart *s)
{
    const char *colon = s->resolve ? strchr(s->resolve, ':') : NULL;
    colon = colon ? strchr(colon + 1, ':') : NULL;
    return colon ? colon + 1 : NULL;
}

static void *start(void *hub, const NetStart *s)
{
    Hub *h = hub;
    Transfer *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (Transfer){.hub = h, .next = h->transfers, .start = s, .began = monotonic_ms()};
    h->transfers = t;
    mem_init(&t->mem, NULL, NULL, NULL);
    buf_init(&t->line, &t->mem, 2 * HEAD_LINE_MAX);
    pthread_mutex_lock(&h->sh->forks);
    t->net = h->sh->net;
    pthread_mutex_unlock(&h->sh->forks);
    t->request = (shell_transfer){.size = sizeof t->request, .method = s->method, .url = s->url, .addresses = addresses_of(s), .timeout_ms = s->timeout_ms, .connect_timeout_ms = s->connect_timeout_ms,
                                  .body_len = s->body_len < 0 ? -1 : s->body_len == INT64_MAX ? -2 : s->body_len, .insecure = s->insecure};
    t->stage = s->body_len < 0 ? HEAD : SENDING;
    t->body = s->body;
    t->left = s->body ? (uint64_t)s->body_len : 0;
    if (!make_lines(t) || !t->net.transfer) {
        stop(t);
        return NULL;
    }
    tell_head(t);
    return t;
}

static void resume(void *transfer) { ((Transfer *)transfer)->paused = false; }

static void result(void *transfer, NetResult *out) { *out = ((Transfer *)transfer)->result; }

static void drop_idle(void *hub, uint64_t but)
{
    (void)hub;
    (void)but;
}

static void perform(void *hub)
{
    Hub *h = hub;
    for (Transfer *t = h->transfers; t; t = t->next)
        advance(t);
}

/* Milliseconds of the monotonic clock until something is to be done; INT64_MAX: nothing is. */
static int64_t next_due(const Hub *h)
{
    int64_t due = INT64_MAX;
    for (const Transfer *t = h->transfers; t; t = t->next) {
        if (t->stage == ENDED)
            continue;
        if (!t->waits && !t->paused)
            return 0;
        if (t->start->timeout_ms)
            due = MIN(due, t->began + t->start->timeout_ms);
    }
    return due;
}

static void poll_hub(void *hub, int64_t nanoseconds)
{
    Hub *h = hub;
    int64_t due = next_due(h), until = nanoseconds < 0 ? -1 : host_monotonic() + nanoseconds;
    if (due != INT64_MAX && (until < 0 || due < until / 1000000))
        until = due * 1000000;
    pthread_mutex_lock(&h->lock);
    while (!h->woken && (until < 0 || host_monotonic() < until))
        host_cond_wait(&h->cond, &h->lock, until);
    h->woken = false;
    pthread_mutex_unlock(&h->lock);
}

static void wake(void *hub)
{
    Hub *h = hub;
    pthread_mutex_lock(&h->lock);
    h->woken = true;
    pthread_cond_broadcast(&h->cond);
    pthread_mutex_unlock(&h->lock);
}

/* Names are the transport's, unless the embedder resolves them. */
static void *resolve(void *hub, const char *host, int family)
{
    (void)hub;
    (void)host;
    (void)family;
    return NULL;
}

static int resolved(void *resolution, uint8_t out[][16], int most)
{
    (void)resolution;
    (void)out;
    (void)most;
    return -3;
}

static void resolve_free(void *resolution) { (void)resolution; }

static bool own_address(const uint8_t address[16])
{
    (void)address;
    return false;
}

static bool idn(const char *utf8, char *out, size_t size)
{
    (void)utf8;
    (void)out;
    (void)size;
    return false;
}

const NetComponent transport_component = {hub_new, hub_free, start, resume, result, stop, drop_idle, perform, poll_hub, wake, resolve, resolved, resolve_free, own_address, idn};
