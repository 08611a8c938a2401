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

/* ---- the matches ---- */

typedef struct { size_t copied; uint64_t which, seen, done; } Progress; /* which: 0, or the number of the match that is wanted */

/* A match to be counted, in spans[0]; true when it was the last one wanted. */
static bool replace_one(Subst *s, Progress *p)
{
    p->seen++;
    if (p->which && p->seen != p->which)
        return false;
    buf_append(s->out, slice(s->text.data + p->copied, s->spans[0].start - p->copied));
    put_replacement(s);
    p->copied = s->spans[0].end;
    p->done++;
    return p->which != 0;
}

/* A bracket expression for which glibc takes the text apart into characters. */
static bool has_wide_bracket(Slice source)
{
    size_t at = slice_find(source, '[');
    Slice rest = slice_from(source, MIN(at + 1, source.len));
    return at < source.len && (!slice_ascii(source) || slice_find(rest, '-') < rest.len || slice_search(rest, SLICE("[:")) != SIZE_MAX || slice_search(source, SLICE("[^")) != SIZE_MAX);
}

/* Whether the expression matches nothing between any two bytes: gawk, which goes on by a byte behind an empty match, then finds that inside
 * of a character. */
static bool matches_inside(Subst *s)
{
    ReSpan m;
    if (rx_looks_back(s->rx) || has_wide_bracket(string_slice(s->rx->source)))
        return false;
    return rx_search(s->w, s->rx, SLICE("\1\1"), TEXT_ASCII, 1, false, &m, 1) && m.start == 1 && m.end == 1;
}

/* Behind an empty match at `at`: where the search goes on. *last: the match that was wanted lay inside of the character. */
static size_t pass_char(Subst *s, Progress *p, size_t at, bool *last)
{
    size_t n = 1;
    *last = false;
    if (s->w->utf8 && at < s->text.len && (unsigned char)s->text.data[at] >= 0x80) {
        utf8_decode(s->text.data + at, s->text.len - at, &n);
        bool inside = n > 1 && matches_inside(s);
        for (size_t i = 1; inside && i < n && !*last; i++) {
            s->spans[0] = (ReSpan){at + i, at + i};
            for (size_t k = 1; k < s->nspans; k++)
                s->spans[k] = (ReSpan){RE_UNSET, RE_UNSET};
            *last = replace_one(s, p);
        }
    }
    return at + n;
}

/* Replaces match number `which` (0: all of them); how many were replaced. The result is in s->out when there are any. An empty match right
 * behind a match does not count, but where one of a number is wanted. */
static double replace(Subst *s, uint64_t which)
{
    Awk *w = s->w;
    ReText kind = slice_ascii(s->text) ? TEXT_ASCII : TEXT_MIXED;
    size_t at = 0, last_end = SIZE_MAX;
    Progress p = {.which = which};
    bool last = false;
    buf_clear(s->out);
    while (!last && at <= s->text.len && rx_search(w, s->rx, s->text, kind, at, false, s->spans, s->nspans)) {
        ReSpan m = s->spans[0];
        bool empty = m.start == m.end, adjacent = empty && m.start == last_end;
        if (adjacent && !(which && p.seen + 1 == which)) {
            if (m.start >= s->text.len)
                break;
            p.seen += which != 0;
            at = pass_char(s, &p, m.start, &last);
            last_end = SIZE_MAX;
            continue;
        }
        last = replace_one(s, &p);
        last_end = at = m.end;
        if (empty && !last)
            at = pass_char(s, &p, m.end, &last);
        proc_tick(w->p, 1);
    }
    if (p.done)
        buf_append(s->out, slice_from(s->text, p.copied));
    if (s->out->failed)
        awk_fatal(w, "result of substitution is too large");
    return (double)p.done;
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
    bool untyped = v.kind == V_UNSET && !v.cell;
    double n = substitute(w, a >> 4 & 1, re, replacement, target, &out);
    string_release(w, target);
    value_release(w, &v);
    value_release(w, replacement);
    value_release(w, re);
    if (out && at.kind != LV_NONE)
        place_store(w, &at, value_str(out));
    else if (out)
        string_release(w, out);
    else if (at.kind != LV_NONE && at.kind != LV_FIELD && untyped) /* it is a text or, being a variable, at least no array from now on */
        place_store(w, &at, at.kind == LV_ELEM ? value_str(string_ref(w->empty)) : (Value){.kind = V_UNSET, .cell = 1});
    if (at.kind != LV_NONE)
        place_done(w, &at);
    push(w, value_num(n));
}
