/* Records of a stream, by RS. A record that lies in one chunk is passed on as it lies there; one that crosses chunks is put
 * together in `carry`. For paragraphs and regular expressions the bytes at hand are always put together first. */
#include "awk.h"

enum { CHUNK = 256 * 1024, RESCAN = 64 * 1024 };

void reader_init(Awk *w, Reader *r, int fd)
{
    *r = (Reader){.fd = fd};
    buf_init(&r->carry, &w->p->keep, BUF_MAX);
}

static void set_rt(Awk *w, Slice s)
{
    Value *rt = &w->globals[G_RT];
    if (rt->kind == V_STR && slice_eq(string_slice(rt->s), s))
        return;
    value_release(w, rt);
    *rt = value_plain(w, s);
}

/* What $0 borrows from this reader is copied before the bytes go. */
static void keep_record(Awk *w, Reader *r)
{
    if (w->borrowed_from == r && !w->record.text_owner)
        record_pin(w);
    w->borrowed_from = NULL;
}

/* Reads the next chunk into the window; false at the end. */
static bool refill(Awk *w, Reader *r)
{
    if (r->ended)
        return false;
    keep_record(w, r);
    ssize_t n = proc_read_chunk(w->p, r->fd, CHUNK, &r->window, NULL);
    if (n > 0) {
        proc_tick(w->p, (uint64_t)n / 100);
        return true;
    }
    r->ended = true;
    r->window = (Slice){NULL, 0};
    if (n < 0)
        r->error = (int)-n;
    return false;
}

/* Leaves out what was taken of the carry. */
static void carry_tidy(Awk *w, Reader *r)
{
    if (!r->carry_at)
        return;
    size_t left = r->carry.len - r->carry_at;
    if (left && r->carry_at < left)
        return;
    keep_record(w, r);
    if (left)
        memmove(r->carry.data, r->carry.data + r->carry_at, left);
    r->carry.len = left;
    r->carry_at = 0;
}

static int record_by_char(Awk *w, Reader *r, char c, Slice *record)
{
    carry_tidy(w, r);
    for (;;) {
        size_t n = slice_find(r->window, c);
        bool found = n < r->window.len;
        if (found && !r->carry.len) {
            *record = slice(r->window.data, n);
            r->window = slice_from(r->window, n + 1);
            set_rt(w, slice(&c, 1));
            return 1;
        }
        if (r->window.len)
            buf_append(&r->carry, slice(r->window.data, n));
        r->window = found ? slice_from(r->window, n + 1) : (Slice){NULL, 0};
        if (!found && refill(w, r))
            continue;
        if (!found && !r->carry.len)
            return r->error ? -1 : 0;
        *record = buf_slice(&r->carry);
        r->carry_at = r->carry.len;
        set_rt(w, found ? slice(&c, 1) : SLICE(""));
        return 1;
    }
}

/* The window's bytes join the carry. */
static bool gather(Awk *w, Reader *r)
{
    if (!r->window.len && !refill(w, r))
        return false;
    keep_record(w, r);
    if (r->carry_at) {
        size_t left = r->carry.len - r->carry_at;
        memmove(r->carry.data, r->carry.data + r->carry_at, left);
        r->carry.len = left;
        r->carry_at = 0;
    }
    buf_append(&r->carry, r->window);
    r->window = (Slice){NULL, 0};
    return true;
}

/* A long record is looked through again only when it has doubled. */
static bool gather_more(Awk *w, Reader *r)
{
    size_t had = r->carry.len - r->carry_at;
    if (!gather(w, r))
        return false;
    while (had > RESCAN && r->carry.len < had * 2 && gather(w, r))
        ;
    return true;
}

static Slice at_hand(const Reader *r) { return r->carry.data ? slice(r->carry.data + r->carry_at, r->carry.len - r->carry_at) : SLICE(""); }

static int take(Awk *w, Reader *r, size_t len, size_t terminator, Slice *record)
{
    Slice s = at_hand(r);
    *record = slice(s.data, len);
    set_rt(w, slice(s.data + len, terminator));
    r->carry_at += len + terminator;
    return 1;
}

static size_t newlines(Slice s)
{
    size_t n = 0;
    while (n < s.len && s.data[n] == '\n')
        n++;
    return n;
}

static int record_by_paragraph(Awk *w, Reader *r, Slice *record)
{
    for (;;) {
        r->carry_at += newlines(at_hand(r));
        if (at_hand(r).len)
            break;
        if (!gather(w, r))
            return r->error ? -1 : 0;
    }
    for (;;) {
        Slice s = at_hand(r);
        size_t n = slice_search(s, SLICE("\n\n"));
        if (n != SIZE_MAX) {
            size_t end = newlines(slice_from(s, n));
            if (n + end < s.len || !gather_more(w, r))
                return take(w, r, n, end, record);
            continue;
        }
        if (!gather_more(w, r)) {
            bool newline = s.data[s.len - 1] == '\n';
            return take(w, r, s.len - newline, newline, record);
        }
    }
}

static int record_by_regex(Awk *w, Reader *r, Slice *record)
{
    if (!at_hand(r).len && !gather(w, r))
        return r->error ? -1 : 0;
    for (;;) {
        Slice s = at_hand(r);
        ReSpan at = {0, 0};
        size_t from = 0;
        bool found;
        while ((found = rx_search(w, w->rs_rx, s, TEXT_UNKNOWN, from, false, &at, 1)) && at.start == at.end && at.end < s.len)
            from = at.end + 1;
        found = found && at.end > at.start;
        if (found && (at.end < s.len || !gather_more(w, r)))
            return take(w, r, at.start, at.end - at.start, record);
        if (!found && !gather_more(w, r))
            return take(w, r, s.len, 0, record);
    }
}

/* --csv: a newline inside of quotes belongs to the record. */
static int record_by_csv(Awk *w, Reader *r, Slice *record)
{
    if (!at_hand(r).len && !gather(w, r))
        return r->error ? -1 : 0;
    for (;;) {
        Slice s = at_hand(r);
        bool quoted = false;
        size_t i = 0;
        for (; i < s.len && (quoted || s.data[i] != '\n'); i++)
            quoted ^= s.data[i] == '"';
        if (i < s.len) {
            bool cr = i && s.data[i - 1] == '\r';
            return take(w, r, i - cr, 1u + cr, record);
        }
        if (!gather_more(w, r))
            return take(w, r, s.len, 0, record);
    }
}

int reader_record(Awk *w, Reader *r, Slice *record)
{
    r->started = true;
    if (w->split_by == BY_CSV)
        return record_by_csv(w, r, record);
    switch (w->rs_kind) {
    case RS_NEWLINE:
    case RS_CHAR:
        if (likely(r->carry.len == r->carry_at))
            return record_by_char(w, r, w->rs_kind == RS_NEWLINE ? '\n' : w->rs->data[0], record);
        for (char c = w->rs_kind == RS_NEWLINE ? '\n' : w->rs->data[0];;) { /* RS was another before */
            Slice s = at_hand(r);
            size_t n = slice_find(s, c);
            if (n < s.len)
                return take(w, r, n, 1, record);
            if (!gather_more(w, r))
                return take(w, r, s.len, 0, record);
        }
    case RS_PARAGRAPH: return record_by_paragraph(w, r, record);
    default: return record_by_regex(w, r, record);
    }
}
