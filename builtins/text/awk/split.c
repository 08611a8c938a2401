/* How text is split: FS, FPAT, FIELDWIDTHS; split() and patsplit(). */
#include "awk.h"

Splitter splitter_of(Awk *w, const Value *fs)
{
    Splitter how = {.kind = SPLIT_REGEX};
    if (fs->kind == V_REGEX) {
        how.rx = fs->rx;
        return how;
    }
    String *s = value_string(w, fs);
    char c = s->data[0];
    if (s->len == 0)
        how.kind = SPLIT_EACH;
    else if (s->len == 1 && c == ' ')
        how.kind = SPLIT_SPACE;
    else if (s->len == 1 && !(w->ignore_case && class_has(CLASS_ALPHA, (unsigned char)c))) {
        how.kind = SPLIT_CHAR;
        how.c = c;
    } else {
        Value v = value_str(s);
        how.rx = rx_of(w, &v);
    }
    string_release(w, s);
    return how;
}

void split_setup(Awk *w)
{
    Splitter *how = &w->splitter;
    switch (w->split_by) {
    case BY_WIDTHS: *how = (Splitter){.kind = SPLIT_WIDTHS}; return;
    case BY_CSV: *how = (Splitter){.kind = SPLIT_CSV}; return;
    case BY_FPAT: {
        Value *v = &w->globals[G_FPAT];
        String *s = value_string(w, v);
        *how = (Splitter){.kind = SPLIT_FPAT, .rx = v->kind == V_REGEX ? v->rx : rx_constant(w, string_slice(s))};
        string_release(w, s);
        return;
    }
    default: break;
    }
    Value fs = value_str(w->fs);
    *how = splitter_of(w, w->globals[G_FS].kind == V_REGEX ? &w->globals[G_FS] : &fs);
    if (how->kind == SPLIT_REGEX && how->rx->dynamic)
        how->rx = rx_constant(w, string_slice(w->fs)); /* stays when the cache moves on */
    how->newline_too = w->rs_kind == RS_PARAGRAPH && (how->kind == SPLIT_REGEX || how->kind == SPLIT_CHAR);
}

/* ---------- split() ---------- */

typedef struct Pieces {
    Awk *w;
    Array *out, *seps;
    int64_t n;
    Slice text;
} Pieces;

static void put(Awk *w, Array *a, int64_t key, Slice s, bool input)
{
    Value v = input ? value_input(w, s) : value_plain(w, s);
    Value *slot = table_get_int(w, a, key);
    value_release(w, slot);
    *slot = v;
}

static void piece(Pieces *p, size_t from, size_t to) { put(p->w, p->out, ++p->n, slice(p->text.data + from, to - from), true); }

static void separator(Pieces *p, int64_t number, size_t from, size_t to)
{
    if (p->seps)
        put(p->w, p->seps, number, slice(p->text.data + from, to - from), false);
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

static void pieces_space(Pieces *p)
{
    Slice s = p->text;
    size_t i = 0;
    for (;;) {
        size_t gap = i;
        while (i < s.len && is_space(s.data[i]))
            i++;
        if ((i > gap && (i == s.len || p->n == 0)) || (i > gap && p->n))
            separator(p, p->n, gap, i);
        if (i == s.len)
            return;
        size_t from = i;
        while (i < s.len && !is_space(s.data[i]))
            i++;
        piece(p, from, i);
    }
}

static void pieces_char(Pieces *p, char c)
{
    for (size_t from = 0;;) {
        size_t n = slice_find(slice_from(p->text, from), c);
        piece(p, from, from + n);
        from += n;
        if (from == p->text.len)
            return;
        separator(p, p->n, from, from + 1);
        from++;
    }
}

static void pieces_each(Pieces *p)
{
    for (size_t i = 0, n; i < p->text.len; i += n) {
        n = 1;
        if (p->w->utf8)
            utf8_decode(p->text.data + i, p->text.len - i, &n);
        if (i)
            separator(p, p->n, i, i);
        piece(p, i, i + n);
    }
}

static void pieces_regex(Pieces *p, Rx *rx, ReText kind)
{
    size_t from = 0, search = 0;
    ReSpan at;
    while (search <= p->text.len && search_separator(p->w, rx, p->text, kind, search, &at)) {
        if (at.start == at.end) {
            search = at.end + 1;
            continue;
        }
        piece(p, from, at.start);
        separator(p, p->n, at.start, at.end);
        from = search = at.end;
        proc_tick(p->w->p, 1);
    }
    piece(p, from, p->text.len);
}

size_t split_into(Awk *w, Slice text, ReText kind, const Splitter *how, Array *out, Array *seps)
{
    Pieces p = {.w = w, .out = out, .seps = seps, .text = text};
    table_clear(w, out);
    if (seps)
        table_clear(w, seps);
    if (!text.len)
        return 0;
    switch (how->kind) {
    case SPLIT_SPACE: pieces_space(&p); break;
    case SPLIT_CHAR: pieces_char(&p, how->c); break;
    case SPLIT_EACH: pieces_each(&p); break;
    default: pieces_regex(&p, how->rx, kind); break;
    }
    return (size_t)p.n;
}

size_t text_step(const Awk *w, Slice s, size_t at)
{
    size_t n = 1;
    if (w->utf8 && at < s.len && (unsigned char)s.data[at] >= 0x80)
        utf8_decode(s.data + at, s.len - at, &n);
    return at + n;
}

size_t patsplit_into(Awk *w, Slice text, Rx *rx, Array *out, Array *seps)
{
    Pieces p = {.w = w, .out = out, .seps = seps, .text = text};
    table_clear(w, out);
    if (seps)
        table_clear(w, seps);
    ReText kind = slice_ascii(text) ? TEXT_ASCII : TEXT_MIXED;
    size_t from = 0, search = 0;
    ReSpan at;
    if (!text.len)
        return 0;
    while (search <= text.len && rx_search_rest(w, rx, text, kind, search, &at)) {
        bool empty = at.start == at.end;
        if (empty && p.n && at.start == from) {
            search = text_step(w, text, at.end);
            continue;
        }
        separator(&p, p.n, from, at.start);
        piece(&p, at.start, at.end);
        from = at.end;
        search = at.end;
        if (from >= text.len)
            break;
        proc_tick(w->p, 1);
    }
    separator(&p, p.n, from, text.len);
    return (size_t)p.n;
}
