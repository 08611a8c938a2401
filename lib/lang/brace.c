/* brace: brace expansion of words that the parser has found braces in. */
#include "interp.h"

typedef struct WordList {
    Word **items;
    uint32_t count, cap;
} WordList;

enum { DEPTH_MAX = 128 };

static void words_add(Interp *in, WordList *l, Word *w)
{
    if (l->count == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 8;
        l->items = mem_grow(mem_of(in), l->items, l->cap * sizeof(Word *), cap * sizeof(Word *));
        l->cap = cap;
    }
    uint64_t most = kern_limit(in->p->kernel, LIMIT_EXPANSION);
    if (most && l->count >= most)
        proc_limit(in->p, LIMIT_EXPANSION);
    l->items[l->count++] = w;
}

uint64_t brace_count(Interp *in, const Brace *r)
{
    uint64_t distance = r->step > 0 ? (uint64_t)r->last - (uint64_t)r->first : (uint64_t)r->first - (uint64_t)r->last;
    uint64_t step = r->step > 0 ? (uint64_t)r->step : 0 - (uint64_t)r->step;
    uint64_t count = distance / step, most = kern_limit(in->p->kernel, LIMIT_EXPANSION);
    if (most && count >= most)
        proc_limit(in->p, LIMIT_EXPANSION);
    return count + 1;
}

char *brace_item(Mem *m, const Brace *r, int64_t v)
{
    if (r->chars) {
        char *c = mem_alloc(m, 2);
        c[0] = v == '\\' ? 0 : (char)v; /* quote removal takes a backslash away */
        c[1] = 0;
        return c;
    }
    if (r->width)
        return mem_printf(m, "%0*lld", (int)MIN(r->width, 4096u), (long long)v);
    char buf[24];
    size_t len;
    char *text = format_int(v, buf, &len);
    return mem_copy(m, slice(text, len));
}

static Word *text_word(Interp *in, char *text)
{
    Word *w = mem_new(mem_of(in), Word);
    w->parts = mem_new(mem_of(in), WordPart);
    w->parts[0] = (WordPart){.kind = PART_LITERAL, .text = slice_str(text)};
    w->count = 1;
    w->flags = WORD_LITERAL;
    return w;
}

static void expand_into(Interp *in, const Word *w, WordList *out, unsigned depth);

static void alternatives(Interp *in, const Brace *b, WordList *out, unsigned depth)
{
    if (b->words) {
        for (uint32_t i = 0; i < b->count; i++)
            expand_into(in, b->words[i], out, depth);
        return;
    }
    uint64_t count = brace_count(in, b);
    int64_t v = b->first;
    for (uint64_t i = 0; i < count; i++, v = (int64_t)((uint64_t)v + (uint64_t)b->step))
        words_add(in, out, text_word(in, brace_item(mem_of(in), b, v)));
}

static Word *join(Interp *in, const WordPart *prefix, uint32_t nprefix, const Word *middle, const Word *suffix)
{
    Word *w = mem_new(mem_of(in), Word);
    w->count = nprefix + middle->count + suffix->count;
    w->parts = mem_array(mem_of(in), w->count + 1u, WordPart);
    memcpy(w->parts, prefix, nprefix * sizeof(WordPart));
    if (middle->count)
        memcpy(w->parts + nprefix, middle->parts, middle->count * sizeof(WordPart));
    if (suffix->count)
        memcpy(w->parts + nprefix + middle->count, suffix->parts, suffix->count * sizeof(WordPart));
    w->flags = (uint16_t)(WORD_GLOB | (w->count == 1 && w->parts[0].kind == PART_LITERAL ? WORD_LITERAL : 0));
    w->source = middle->source;
    return w;
}

static void expand_into(Interp *in, const Word *w, WordList *out, unsigned depth)
{
    uint32_t at = 0;
    while (at < w->count && w->parts[at].kind != PART_BRACE)
        at++;
    if (at == w->count || depth > DEPTH_MAX) {
        words_add(in, out, (Word *)(uintptr_t)w);
        return;
    }
    WordList middles = {NULL, 0, 0}, suffixes = {NULL, 0, 0};
    Word rest = *w;
    rest.parts += at + 1;
    rest.count -= at + 1;
    Word *tail = mem_new(mem_of(in), Word);
    *tail = rest;
    alternatives(in, w->parts[at].brace, &middles, depth + 1);
    expand_into(in, tail, &suffixes, depth + 1);
    for (uint32_t i = 0; i < middles.count; i++)
        for (uint32_t k = 0; k < suffixes.count; k++)
            words_add(in, out, join(in, w->parts, at, middles.items[i], suffixes.items[k]));
}

static void add_text(Interp *in, Word *w, char *text)
{
    w->parts[w->count++] = (WordPart){.kind = PART_LITERAL, .text = slice_str(text)};
    (void)in;
}

static size_t plain_parts(const Word *w)
{
    size_t n = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        n++;
        const Brace *b = w->parts[i].kind == PART_BRACE ? w->parts[i].brace : NULL;
        for (uint32_t k = 0; b && b->words && k < b->count; k++)
            n += 2 + plain_parts(b->words[k]);
    }
    return n;
}

static void put_plain(Interp *in, Word *out, const Word *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->parts[i].kind != PART_BRACE) {
            out->parts[out->count++] = w->parts[i];
            continue;
        }
        const Brace *b = w->parts[i].brace;
        if (!b->words) {
            bool unit = b->step == 1 || b->step == -1;
            char *first = brace_item(mem_of(in), b, b->first), *last = brace_item(mem_of(in), b, b->last);
            add_text(in, out, unit ? mem_printf(mem_of(in), "{%s..%s}", first, last)
                                   : mem_printf(mem_of(in), "{%s..%s..%lld}", first, last, (long long)b->step));
            continue;
        }
        for (uint32_t k = 0; k < b->count; k++) {
            add_text(in, out, (char *)(uintptr_t)(k ? "," : "{"));
            put_plain(in, out, b->words[k]);
        }
        add_text(in, out, (char *)(uintptr_t)"}");
    }
}

Word *brace_plain(Interp *in, const Word *w)
{
    Word *out = mem_new(mem_of(in), Word);
    *out = *w;
    out->parts = mem_array(mem_of(in), plain_parts(w) + 1, WordPart);
    out->count = 0;
    out->flags &= (uint16_t) ~(WORD_BRACE | WORD_LITERAL | WORD_SIMPLE);
    put_plain(in, out, w);
    return out;
}

Word **brace_expand(Interp *in, const Word *w, uint32_t *count)
{
    WordList out = {NULL, 0, 0};
    expand_into(in, w, &out, 0);
    *count = out.count;
    return out.items;
}
