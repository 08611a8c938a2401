/* awk's regular expressions: awk text becomes an ERE of ours, compiled on demand for the present IGNORECASE.
 *
 * awk knows string escapes in a regexp, in brackets too, where POSIX has the backslash stand for itself; so brackets are put together anew.
 * A pattern without operators is searched as bytes.
 */
#include "awk.h"

/* ---------- translation ---------- */

typedef struct Translation {
    Slice s;
    size_t at;
    Buf *out, *literal;
    bool plain; /* no operator so far */
} Translation;

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool octal(char c) { return c >= '0' && c <= '7'; }

/* Reads what follows a backslash at t->at when it names a character; -1: something else. */
static int escaped_char(Translation *t)
{
    static const char names[] = "nrtabfv", values[] = "\n\r\t\a\b\f\v";
    char c = t->s.data[t->at];
    const char *n = memchr(names, c, sizeof names - 1);
    if (n) {
        t->at++;
        return values[n - names];
    }
    int v = 0;
    if (octal(c)) {
        for (int i = 0; i < 3 && t->at < t->s.len && octal(t->s.data[t->at]); i++)
            v = v * 8 + (t->s.data[t->at++] - '0');
        return v & 255;
    }
    if (c == 'x' && t->at + 1 < t->s.len && hex(t->s.data[t->at + 1]) >= 0) {
        t->at++;
        for (int i = 0; i < 2 && t->at < t->s.len && hex(t->s.data[t->at]) >= 0; i++)
            v = v * 16 + hex(t->s.data[t->at++]);
        return v;
    }
    return -1;
}

static void put_literal(Translation *t, char c)
{
    if (strchr(".[]()*+?{}|^$\\", c) && c)
        buf_char(t->out, '\\');
    buf_char(t->out, c);
    buf_char(t->literal, c);
}

/* One element of a bracket expression that a backslash introduced. Those with a meaning by their place are noted for later. */
static void bracket_escape(Translation *t, Buf *body, bool special[128], bool in_range)
{
    int c = escaped_char(t);
    if (c < 0)
        c = (unsigned char)t->s.data[t->at++];
    if (!in_range && (c == ']' || c == '-' || c == '^' || c == '['))
        special[c] = true;
    else
        buf_char(body, (char)c);
}

static void bracket(Translation *t)
{
    Slice s = t->s;
    size_t from = t->at;
    bool special[128] = {false}, negated = false, first = true;
    Buf body;
    buf_init(&body, t->out->mem, BUF_MAX);
    t->at++;
    if (t->at < s.len && s.data[t->at] == '^') {
        negated = true;
        t->at++;
    }
    for (;; first = false) {
        if (t->at >= s.len) {
            buf_append(t->out, slice_from(s, from)); /* the compiler will say what is wrong */
            return;
        }
        char c = s.data[t->at];
        if (c == ']' && !first)
            break;
        if (c == ']') {
            special[']'] = true;
            t->at++;
        } else if (c == '\\' && t->at + 1 < s.len) {
            t->at++;
            bracket_escape(t, &body, special, body.len && body.data[body.len - 1] == '-' && body.len > 1);
        } else if (c == '[' && t->at + 1 < s.len && strchr(":.=", s.data[t->at + 1])) {
            char end[2] = {s.data[t->at + 1], ']'};
            size_t n = slice_search(slice_from(s, t->at + 2), slice(end, 2));
            n = n == SIZE_MAX ? s.len - t->at : n + 4;
            buf_append(&body, slice(s.data + t->at, n));
            t->at += n;
        } else {
            buf_char(&body, c);
            t->at++;
        }
    }
    t->at++;
    bool others = body.len || special[']'] || special['-'] || special['['];
    if (special['^'] && !others && !negated) {
        buf_append(t->out, SLICE("\\^"));
        return;
    }
    buf_char(t->out, '[');
    if (negated)
        buf_char(t->out, '^');
    if (special[']'])
        buf_char(t->out, ']');
    buf_append(t->out, body.len ? buf_slice(&body) : SLICE(""));
    if (special['^'] && (body.len || special[']'] || negated)) {
        buf_char(t->out, '^');
        special['^'] = false;
    }
    if (special['['])
        buf_char(t->out, '[');
    if (special['^'])
        buf_char(t->out, '^');
    if (special['-'])
        buf_char(t->out, '-');
    buf_char(t->out, ']');
}

static void escape(Translation *t)
{
    if (++t->at >= t->s.len) {
        put_literal(t, '\\');
        return;
    }
    int v = escaped_char(t);
    if (v >= 0) {
        put_literal(t, (char)v);
        return;
    }
    char c = t->s.data[t->at++];
    if (c && strchr("yB<>wWsS`'", c)) {
        t->plain = false;
        buf_char(t->out, '\\');
        buf_char(t->out, c == 'y' ? 'b' : c);
    } else {
        put_literal(t, c);
    }
}

static void translate(Slice s, Buf *out, Buf *literal, bool *plain)
{
    Translation t = {.s = s, .out = out, .literal = literal, .plain = true};
    while (t.at < s.len) {
        char c = s.data[t.at];
        if (c == '\\') {
            escape(&t);
        } else if (c == '[') {
            t.plain = false;
            bracket(&t);
        } else {
            if (c && strchr(".()*+?{}|^$", c))
                t.plain = false;
            buf_char(out, c);
            buf_char(literal, c);
            t.at++;
        }
    }
    *plain = t.plain && literal->len;
}

/* ---------- compiled ---------- */

static void rx_fill(Awk *w, Rx *rx, Slice source)
{
    MemMark mark = mem_mark(&w->p->mem);
    Buf out, literal;
    buf_init(&out, &w->p->mem, BUF_MAX);
    buf_init(&literal, &w->p->mem, BUF_MAX);
    *rx = (Rx){.source = string_new(w, source)};
    translate(source, &out, &literal, &rx->is_literal);
    rx->ere = string_new(w, out.len ? buf_slice(&out) : SLICE(""));
    rx->literal_text = string_new(w, literal.len ? buf_slice(&literal) : SLICE(""));
    rx->literal = string_slice(rx->literal_text);
    mem_reset(&w->p->mem, mark);
}

static void rx_drop(Awk *w, Rx *rx)
{
    for (unsigned i = 0; i < ARRAY_LEN(rx->re); i++)
        if (rx->re[i])
            re_unref(rx->re[i]);
    string_release(w, rx->source);
    string_release(w, rx->ere);
    string_release(w, rx->literal_text);
}

Rx *rx_constant(Awk *w, Slice source)
{
    for (uint32_t i = 0; i < w->rx_count; i++)
        if (slice_eq(string_slice(w->rx_list[i]->source), source))
            return w->rx_list[i];
    if (w->rx_count == w->rx_cap) {
        uint32_t cap = w->rx_cap ? w->rx_cap * 2 : 16;
        w->rx_list = mem_grow(&w->p->keep, w->rx_list, w->rx_cap * sizeof *w->rx_list, cap * sizeof *w->rx_list);
        w->rx_cap = cap;
    }
    Rx *rx = mem_new(&w->p->keep, Rx);
    rx_fill(w, rx, source);
    return w->rx_list[w->rx_count++] = rx;
}

/* A small cache of patterns that are made at run time, by their text. */
static Rx *rx_dynamic(Awk *w, String *s)
{
    unsigned slot = (unsigned)hash_bytes(string_slice(s)) % RX_CACHE;
    Rx *rx = &w->rx_cache[slot].rx;
    if (w->rx_cache[slot].used && slice_eq(string_slice(rx->source), string_slice(s)))
        return rx;
    if (w->rx_cache[slot].used) {
        w->rx_cache[slot].used = false;
        rx_drop(w, rx);
        memset(rx, 0, sizeof *rx);
    }
    rx_fill(w, rx, string_slice(s));
    rx->dynamic = true;
    w->rx_cache[slot].used = true;
    return rx;
}

Rx *rx_of(Awk *w, const Value *v)
{
    if (v->kind == V_REGEX)
        return v->rx;
    String *s = value_string(w, v);
    Rx *rx = rx_dynamic(w, s);
    string_release(w, s);
    return rx;
}

void rx_release_all(Awk *w)
{
    for (unsigned i = 0; i < RX_CACHE; i++)
        for (unsigned j = 0; w->rx_cache[i].used && j < 4; j++)
            if (w->rx_cache[i].rx.re[j])
                re_unref(w->rx_cache[i].rx.re[j]);
    for (uint32_t i = 0; i < w->rx_count; i++)
        for (unsigned j = 0; j < 4; j++)
            if (w->rx_list[i]->re[j])
                re_unref(w->rx_list[i]->re[j]);
}

Re *rx_compiled(Awk *w, Rx *rx, bool groups, ReError *error)
{
    Re **re = &rx->re[(w->ignore_case ? 1 : 0) + (groups ? 2 : 0)];
    if (!*re) {
        unsigned flags = (w->ignore_case ? (unsigned)RE_ICASE : 0u) | (w->utf8 ? 0u : (unsigned)RE_BYTES) | (groups ? 0u : (unsigned)RE_NO_CAPTURES) | RE_AWK;
        Slice pattern = string_slice(rx->ere);
        *re = re_compile(w->p->keep.budget, &w->p->keep, &pattern, 1, RE_ERE, flags, error);
    }
    return *re;
}

bool rx_search(Awk *w, Rx *rx, Slice text, ReText kind, size_t start, bool not_bol, ReSpan *spans, size_t n)
{
    if (rx->is_literal && !w->ignore_case && n <= 1) {
        size_t at = rx->literal.len == 1 ? slice_find(slice_from(text, start), rx->literal.data[0]) : slice_search(slice_from(text, start), rx->literal);
        if (at == SIZE_MAX || at > text.len - start - rx->literal.len || text.len - start < rx->literal.len)
            return false;
        if (n)
            spans[0] = (ReSpan){start + at, start + at + rx->literal.len};
        return true;
    }
    ReError error = {0};
    Re *re = rx_compiled(w, rx, n > 1, &error);
    if (!re)
        awk_fatal(w, "invalid regexp: %s: /%s/", error.message ? error.message : "out of memory", rx->source->data);
    MemMark mark = mem_mark(&w->p->mem);
    ReEnv env = proc_re_env(w->p);
    env.text = kind;
    ReResult r = re_search(&env, re, text, start, not_bol, spans, n);
    mem_reset(&w->p->mem, mark);
    if (r == RE_ERR_MEMORY || r == RE_ERR_LIMIT)
        awk_fatal(w, "regular expression `%s' takes too much work", rx->source->data);
    return r == RE_MATCHED;
}

bool rx_looks_back(const Rx *rx) { return memchr(rx->source->data, '\\', rx->source->len) != NULL; }

bool rx_search_rest(Awk *w, Rx *rx, Slice text, ReText kind, size_t start, ReSpan *span)
{
    if (!rx_search(w, rx, slice_from(text, start), kind, 0, false, span, 1))
        return false;
    *span = (ReSpan){span->start + start, span->end + start};
    return true;
}
