/* sub, gsub, gensub and match. */
#include "awk.h"

#include "machine.h"

/* ---------- matching in the machine ---------- */

bool match_rx(Awk *w, const Value *text, Rx *rx)
{
    if (text->kind == V_STR || text->kind == V_INPUT)
        return rx_search(w, rx, string_slice(text->s), (ReText)text->s->ascii, 0, false, NULL, 0);
    String *s = value_string(w, text);
    bool found = rx_search(w, rx, string_slice(s), TEXT_UNKNOWN, 0, false, NULL, 0);
    string_release(w, s);
    return found;
}

bool match_values(Awk *w, const Value *text, const Value *re) { return match_rx(w, text, rx_of(w, re)); }

bool match_record(Awk *w, Rx *rx) { return rx_search(w, rx, record_text(w), TEXT_UNKNOWN, 0, false, NULL, 0); }

/* ---------- replacing ---------- */

typedef struct Subst {
    Awk *w;
    Rx *rx;
    Slice text, replacement;
    bool groups; /* gensub's replacement: \0 to \9 */
    bool plain;  /* the replacement has no & and no backslash */
    size_t nspans;
    ReSpan spans[10];
    Buf *out;
} Subst;

static void put_span(Subst *s, unsigned n)
{
    if (n < s->nspans && s->spans[n].start != RE_UNSET)
        buf_append(s->out, slice(s->text.data + s->spans[n].start, s->spans[n].end - s->spans[n].start));
}

/* A backslash of the replacement at i: what it yields; returns the last byte it used. sub and gsub know \&, \\& and \\\& alone. */
static size_t replacement_escape(Subst *s, size_t i)
{
    Slice r = s->replacement, rest = slice_from(r, i);
    if (s->groups) {
        if (rest.len > 1 && rest.data[1] >= '0' && rest.data[1] <= '9')
            put_span(s, (unsigned)(rest.data[1] - '0'));
        else
            buf_char(s->out, rest.len > 1 ? rest.data[1] : '\\');
        return i + 1;
    }
    if (slice_starts(rest, SLICE("\\\\\\&"))) {
        buf_append(s->out, SLICE("\\&"));
        return i + 3;
    }
    if (slice_starts(rest, SLICE("\\\\&"))) {
        buf_char(s->out, '\\');
        put_span(s, 0);
        return i + 2;
    }
    if (slice_starts(rest, SLICE("\\&"))) {
        buf_char(s->out, '&');
        return i + 1;
    }
    buf_char(s->out, '\\');
    return i;
}

static void put_replacement(Subst *s)
{
    Slice r = s->replacement;
    if (s->plain) {
        buf_append(s->out, r);
        return;
    }
    for (size_t i = 0; i < r.len; i++) {
        if (r.data[i] == '\\')
            i = replacement_escape(s, i);
        else if (r.data[i] == '&')
            put_span(s, 0);
        else
            buf_char(s->out, r.data[i]);
    }
}

static size_t char_length(const Awk *w, Slice s, size_t at)
{
    size_t n = 1;
    if (w->utf8 && at < s.len)
        utf8_decode(s.data + at, s.len - at, &n);
    return n;
}

/* Replaces match number `which` (0: all of them); how many were replaced. The result is in s->out when there are any. */
static double replace(Subst *s, uint64_t which)
{
    Awk *w = s->w;
    ReText kind = slice_ascii(s->text) ? TEXT_ASCII : TEXT_MIXED;
    size_t copied = 0, at = 0, last_end = SIZE_MAX;
    uint64_t seen = 0, done = 0;
    buf_clear(s->out);
    while (at <= s->text.len && rx_search(w, s->rx, s->text, kind, at, false, s->spans, s->nspans)) {
        ReSpan m = s->spans[0];
        if (m.start == m.end && m.start == last_end && (!which || ++seen != which)) {
            at = m.start + char_length(w, s->text, m.start);
            last_end = SIZE_MAX;
            if (m.start >= s->text.len)
                break;
            /* An empty match right behind a match does not count, but where one of a number is wanted; look on from the next character. */
            continue;
        }
        seen += !(m.start == m.end && m.start == last_end);
        if (!which || seen == which) {
            buf_append(s->out, slice(s->text.data + copied, m.start - copied));
            put_replacement(s);
            copied = m.end;
            done++;
        }
        if (which && seen == which)
            break;
        last_end = m.end;
        at = m.end;
        if (m.start == m.end)
            at += char_length(w, s->text, m.end);
        proc_tick(w->p, 1);
    }
    if (done)
        buf_append(s->out, slice_from(s->text, copied));
    if (s->out->failed)
        awk_fatal(w, "result of substitution is too large");
    return (double)done;
}

double substitute(Awk *w, bool all, const Value *re, const Value *replacement, String *target, String **out)
{
    String *r = value_string(w, replacement);
    Subst s = {.w = w, .rx = rx_of(w, re), .text = string_slice(target), .replacement = string_slice(r), .nspans = 1, .out = &w->work};
    s.plain = !memchr(r->data, '&', r->len) && !memchr(r->data, '\\', r->len);
    double n = replace(&s, all ? 0 : 1);
    if (n > 0)
        *out = string_new(w, s.out->len ? buf_slice(s.out) : SLICE(""));
    string_release(w, r);
    return n;
}

String *gensub(Awk *w, const Value *re, const Value *replacement, const Value *how, String *target)
{
    String *r = value_string(w, replacement), *h = value_string(w, how);
    uint64_t which = 1;
    if (h->len && (h->data[0] == 'g' || h->data[0] == 'G')) {
        which = 0;
    } else {
        double n = value_number(w, how);
        if (n < 1 || isnan(n))
            awk_warning(w, "gensub: third argument `%s' treated as 1", h->data);
        which = n >= 1 ? n < 1e15 ? (uint64_t)n : (uint64_t)1 << 50 : 1;
    }
    Subst s = {.w = w, .rx = rx_of(w, re), .text = string_slice(target), .replacement = string_slice(r), .groups = true, .nspans = 10, .out = &w->work};
    if (!memchr(r->data, '\\', r->len))
        s.nspans = 1;
    String *result = replace(&s, which) > 0 ? string_new(w, s.out->len ? buf_slice(s.out) : SLICE("")) : string_ref(target);
    string_release(w, r);
    string_release(w, h);
    return result;
}

void subst_run(Awk *w, unsigned a, int32_t b)
{
    Place at;
    Value v;
    if ((a & 15) == LV_NONE) {
        v = *pop(w);
        at.kind = LV_NONE;
    } else {
        place_pop(w, &at, a & 15, b);
        v = place_value(w, &at);
        if (at.kind == LV_FIELD && at.field)
            field_make(w, at.field); /* there from now on, changed or not */
    }
    Value *replacement = pop(w), *re = pop(w);
    String *target = value_string(w, &v), *out = NULL;
    double n = substitute(w, a >> 4 & 1, re, replacement, target, &out);
    string_release(w, target);
    value_release(w, &v);
    value_release(w, replacement);
    value_release(w, re);
    if (out && at.kind != LV_NONE)
        place_store(w, &at, value_str(out));
    else if (out)
        string_release(w, out);
    if (at.kind != LV_NONE)
        place_done(w, &at);
    push(w, value_num(n));
}
