/* sink: what the net component tells of a transfer. Leaves: they copy, and mark the waiting process ready. */
#include <stdio.h>

#include "exchange.h"

static bool on_address(void *user, const uint8_t address[16]) { return http_address_allowed(user, address); }

static void add_trace(Http *h, char kind, Slice text)
{
    uint32_t n = (uint32_t)text.len;
    h->last_trace = kind;
    if (h->trace.len > HEADS_MAX)
        return;
    buf_char(&h->trace, kind);
    buf_append(&h->trace, slice((const char *)&n, sizeof n));
    buf_append(&h->trace, text);
}

static Slice clean(Http *h, Slice text) { return h->redactor ? redact_text(h->redactor, &h->mem, text) : text; }

/* The three digits of "HTTP/1.1 200 OK". */
static int status_of(Slice head)
{
    size_t at = slice_find(head, ' ');
    int v = 0;
    for (size_t i = at + 1; i < head.len && i < at + 4 && head.data[i] >= '0' && head.data[i] <= '9'; i++)
        v = v * 10 + (head.data[i] - '0');
    return v;
}

static bool on_header(void *user, const char *line, size_t n)
{
    Http *h = user;
    Slice text = clean(h, slice(line, n));
    if (GUARD(NET_HEAD, h->most_heads && h->heads.len + text.len > h->most_heads)) {
        http_fail(h, HTTP_RECEIVE_ERROR, false, "head limit of %llu bytes reached", (unsigned long long)h->most_heads);
        kern_event(h->kernel, EVENT_LIMIT, 0, limit_name(LIMIT_HEAD), NULL, 0);
        return false;
    }
    if (!h->in_head && !h->head_done) {
        h->in_head = true;
        h->last_head = h->heads.len;
    }
    buf_append(&h->heads, text);
    add_trace(h, '<', text);
    if (h->in_head && (slice_is(text, "\r\n") || slice_is(text, "\n"))) {
        int status = status_of(slice_from(buf_slice(&h->heads), h->last_head));
        h->in_head = false;
        h->head_done = status < 100 || status > 199 || status == 101;
        queue_wake_all(&h->queue);
    }
    return !h->heads.failed;
}

static bool on_sent(void *user, const char *text, size_t n)
{
    Http *h = user;
    add_trace(h, '>', clean(h, slice(text, n)));
    return true;
}

/* What tells of the addresses that were handed in is not shown: curl would have resolved the name itself. */
static void on_info(void *user, const char *text, size_t n)
{
    static const char *const own[] = {"Added ", "RESOLVE ", "Hostname ", "Couldn't parse CURLOPT_RESOLVE"};
    Http *h = user;
    Slice s = slice(text, n);
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (slice_starts(s, slice_str(own[i])) && !(own[i][0] == 'H' && h->url.kind != URL_NAME))
            return;
    add_trace(h, '*', clean(h, s));
}

/* One note for what comes in a row. */
static void on_data(void *user, bool out, size_t n)
{
    Http *h = user;
    char kind = out ? '}' : '{';
    if (h->last_trace == kind)
        return;
    char text[48];
    int len = snprintf(text, sizeof text, "[%zu bytes data]\n", n);
    add_trace(h, kind, slice(text, (size_t)len));
}

static void emit(void *user, Slice bytes)
{
    Http *h = user;
    size_t *len = &h->body_len[h->fill];
    size_t n = MIN(bytes.len, h->body_room[h->fill] - *len); /* BODY_FULL leaves room for what a redaction adds */
    memcpy(h->body[h->fill] + *len, bytes.data, n);
    *len += n;
}

/* Room for n more bytes and for what a redaction adds: most answers are small, and a large buffer is pages to be made and given back. */
static bool body_buffer(Http *h, size_t n)
{
    int i = h->fill;
    bool small = !h->redactor && h->body_len[i] + n <= BODY_SMALL;
    if (h->body_room[i] == BODY_ROOM || (small && h->body_room[i]))
        return true;
    size_t room = small ? BODY_SMALL : BODY_ROOM;
    char *b = mem_alloc(&h->bodies, room);
    if (!b)
        return false;
    if (h->body_len[i])
        memcpy(b, h->body[i], h->body_len[i]);
    h->body[i] = b;
    h->body_room[i] = room;
    return true;
}

static ptrdiff_t on_body(void *user, const char *data, size_t n)
{
    Http *h = user;
    if (n > BODY_FULL / 2 || !body_buffer(h, n))
        return -1;
    if (h->body_len[h->fill] + n > BODY_FULL) {
        h->body_paused = true;
        return 0;
    }
    if (h->redactor)
        redactor_feed(h->redactor, slice(data, n), false, emit, h);
    else
        emit(h, slice(data, n));
    queue_wake_all(&h->queue);
    return (ptrdiff_t)n;
}

/* A body has the length that its head tells: what follows on the connection would else be read as its rest, or its rest as a request. */
static ptrdiff_t upload_ends(Http *h)
{
    bool told = h->start.body_len >= 0 && h->start.body_len != INT64_MAX;
    if (!GUARD(UPLOAD_LENGTH, told && h->uploaded < h->start.body_len))
        return 0;
    http_fail(h, HTTP_READ_ERROR, false, "the body ended after %lld of %lld bytes", (long long)(h->uploaded - h->hidden_body), (long long)(h->start.body_len - h->hidden_body));
    return -1;
}

static ptrdiff_t on_upload(void *user, char *out, size_t n)
{
    Http *h = user;
    size_t left = h->upload_len - h->upload_at, take = MIN(n, left);
    if (GUARD(UPLOAD_LENGTH, h->start.body_len >= 0))
        take = (size_t)MIN((int64_t)take, h->start.body_len - h->uploaded);
    if (!left) {
        h->upload_paused = !h->upload_end;
        return h->upload_end ? upload_ends(h) : -2;
    }
    h->uploaded += (int64_t)take;
    memcpy(out, h->upload + h->upload_at, take);
    h->upload_at += take;
    queue_wake_all(&h->queue);
    return (ptrdiff_t)take;
}

static void on_done(void *user)
{
    Http *h = user;
    if (h->redactor && body_buffer(h, 0))
        redactor_feed(h->redactor, slice(NULL, 0), true, emit, h);
    h->state = HTTP_ENDED;
    queue_wake_all(&h->queue);
}

const NetSink http_sink = {on_address, on_header, on_sent, on_info, on_data, on_body, on_upload, on_done};
