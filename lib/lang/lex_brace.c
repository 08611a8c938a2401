/* lex_brace: finds the brace expansions in the unquoted text of a word.
 *
 * bash expands braces on the text, before anything else; here the parts are already read, so that what is quoted or an
 * expansion cannot be taken for a brace, a comma or a dot. An opening brace without its match, a comma or a valid range is text.
 */
#include "parser.h"

/* A place in the word: a byte of a literal part, or a part as a whole (at 0). */
typedef struct { uint32_t part; size_t at; } Spot;

typedef struct {
    Parser *p;
    const WordPart *parts;
    uint32_t count;
} Source;

static bool is_open_text(const WordPart *w) { return w->kind == PART_LITERAL && !w->quoted; }

static size_t part_size(const WordPart *w) { return w->kind == PART_LITERAL ? w->text.len : 1; }

/* The active character at a spot, or 0. */
static char char_at(const Source *s, Spot k)
{
    const WordPart *w = &s->parts[k.part];
    return is_open_text(w) && k.at < w->text.len ? w->text.data[k.at] : 0;
}

static bool before(Spot a, Spot b) { return a.part < b.part || (a.part == b.part && a.at < b.at); }

static Spot next_spot(const Source *s, Spot k)
{
    const WordPart *w = &s->parts[k.part];
    if (is_open_text(w) && k.at + 1 < w->text.len)
        return (Spot){k.part, k.at + 1};
    return (Spot){k.part + 1, 0};
}

/* The brace that closes the one at `open`; *commas counts those at its level. False: none before `end`. */
static bool find_close(const Source *s, Spot open, Spot end, Spot *close, uint32_t *commas)
{
    unsigned depth = 0;
    *commas = 0;
    for (Spot k = open; before(k, end); k = next_spot(s, k)) {
        char c = char_at(s, k);
        depth += c == '{';
        *commas += c == ',' && depth == 1;
        if (c == '}' && --depth == 0) {
            *close = k;
            return true;
        }
    }
    return false;
}

static void push_text(Parser *p, const WordPart *w, size_t from, size_t to)
{
    if (to <= from && !(w->quoted && w->text.len == 0))
        return;
    WordPart part = *w;
    part.text = keep(p, slice(w->text.data + from, to - from));
    push(p, &part, sizeof part);
}

/* The parts of [from, to) onto the stack as they are. */
static void push_range(const Source *s, Spot from, Spot to)
{
    for (uint32_t i = from.part; i <= to.part && i < s->count; i++) {
        const WordPart *w = &s->parts[i];
        size_t start = i == from.part ? from.at : 0, end = i == to.part ? to.at : part_size(w);
        if (w->kind == PART_LITERAL && (i != to.part || to.at > 0))
            push_text(s->p, w, start, end);
        else if (end > start)
            push(s->p, w, sizeof *w);
    }
}

static Word *range_word(const Source *s, Spot from, Spot to);

/* ---- {1..9} {a..e} ---- */

static bool read_number(const char **at, const char *end, int64_t *value, uint32_t *width)
{
    const char *s = *at;
    bool negative = s < end && *s == '-';
    uint64_t n = 0;
    s += s < end && (*s == '-' || *s == '+');
    const char *digits = s;
    for (; s < end && is(*s, CH_DIGIT); s++)
        if (__builtin_mul_overflow(n, 10u, &n) || __builtin_add_overflow(n, (uint64_t)(*s - '0'), &n))
            return false;
    if (s == digits || n > (uint64_t)INT64_MAX + negative)
        return false;
    *value = negative ? (int64_t)(0 - n) : (int64_t)n;
    bool padded = *digits == '0' && s - digits > 1;
    *width = padded ? (uint32_t)(s - *at) : 0;
    *at = s;
    return true;
}

static bool take_dots(const char **s, const char *end)
{
    if (end - *s < 2 || (*s)[0] != '.' || (*s)[1] != '.')
        return false;
    *s += 2;
    return true;
}

static uint32_t length_of(int64_t v)
{
    char digits[24];
    size_t n;
    format_int(v, digits, &n);
    return (uint32_t)n;
}

static bool read_range(Slice text, Brace *b)
{
    const char *s = text.data, *end = s + text.len;
    uint32_t wide1 = 0, wide2 = 0, wide3;
    b->chars = text.len >= 4 && is(*s, CH_NAME) && *s != '_' && s[1] == '.';
    if (b->chars) {
        b->first = (uint8_t)*s++;
        if (!take_dots(&s, end) || s >= end || !is(*s, CH_NAME) || *s == '_')
            return false;
        b->last = (uint8_t)*s++;
    } else if (!read_number(&s, end, &b->first, &wide1) || !take_dots(&s, end) || !read_number(&s, end, &b->last, &wide2)) {
        return false;
    }
    b->step = 0;
    if (s < end && (!take_dots(&s, end) || !read_number(&s, end, &b->step, &wide3)))
        return false;
    if (s != end || b->step == INT64_MIN)
        return false;
    if (wide1 || wide2)
        b->width = MAX(MAX(length_of(b->first), length_of(b->last)), MAX(wide1, wide2));
    int64_t step = b->step < 0 ? -b->step : b->step ? b->step : 1;
    b->step = b->first <= b->last ? step : -step;
    return true;
}

/* ---- structure ---- */

static Brace *read_alternatives(const Source *s, Spot open, Spot close)
{
    Parser *p = s->p;
    Brace *b = GET(p, Brace);
    size_t base = p->top;
    unsigned depth = 0;
    Spot from = next_spot(s, open);
    for (Spot k = open;; k = next_spot(s, k)) {
        char c = char_at(s, k);
        bool last = !before(k, close);
        depth += c == '{';
        depth -= c == '}';
        if (last || (c == ',' && depth == 1)) {
            Word *w = range_word(s, from, k);
            push(p, &w, sizeof(Word *));
            from = next_spot(s, k);
        }
        if (last)
            break;
    }
    b->words = take_array(p, base, sizeof(Word *), &b->count);
    return b;
}

static Brace *read_brace(const Source *s, Spot open, Spot close, uint32_t commas)
{
    if (commas)
        return read_alternatives(s, open, close);
    Brace b = {0};
    Spot inside = next_spot(s, open);
    if (open.part != close.part || !read_range(slice(s->parts[open.part].text.data + inside.at, close.at - inside.at), &b))
        return NULL;
    Brace *made = GET(s->p, Brace);
    *made = b;
    return made;
}

/* $a{b,c} is $ab $ac: the name goes on into each alternative, as bash's brace expansion knows nothing of names. */
static void join_name(Parser *p, size_t base, Brace *b)
{
    if (p->top == base || !b->words)
        return;
    WordPart *last = (WordPart *)(void *)(p->stack + p->top) - 1;
    if (last->kind != PART_PARAM || last->param->braced || last->param->var != VAR_NAMED)
        return;
    Param *name = last->param;
    bool joins = false;
    for (uint32_t i = 0; i < b->count; i++) {
        const Word *w = b->words[i];
        joins |= w->count && is_open_text(&w->parts[0]) && is(w->parts[0].text.data[0], CH_NAME | CH_DIGIT);
    }
    if (!joins)
        return;
    p->top -= sizeof *last;
    for (uint32_t i = 0; i < b->count; i++) {
        Word *w = b->words[i];
        Slice text = w->count && is_open_text(&w->parts[0]) ? w->parts[0].text : slice("", 0);
        size_t n = 0;
        while (n < text.len && is(text.data[n], CH_NAME | CH_DIGIT))
            n++;
        Param *param = GET(p, Param);
        *param = *name;
        char *whole = get(p, name->name.text.len + n + 1);
        memcpy(whole, name->name.text.data, name->name.text.len);
        memcpy(whole + name->name.text.len, text.data, n);
        param->name = make_name(p, slice(whole, name->name.text.len + n));
        WordPart *parts = get(p, (w->count + 1) * sizeof *parts);
        parts[0] = (WordPart){.kind = PART_PARAM, .param = param};
        if (w->count)
            memcpy(parts + 1, w->parts, w->count * sizeof *parts);
        if (n)
            parts[1].text = slice(text.data + n, text.len - n);
        w->parts = parts;
        w->count++;
        w->flags &= (uint16_t)~WORD_LITERAL;
    }
}

static bool has_glob(Slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (is(s.data[i], CH_GLOB) || s.data[i] == '(')
            return true;
    return false;
}

/* The word of [from, to), braces in it found. */
static Word *range_word(const Source *s, Spot from, Spot to)
{
    Parser *p = s->p;
    enter(p);
    Builder b = {.p = p, .base = p->top};
    Spot start = from;
    for (Spot k = from; before(k, to); k = next_spot(s, k)) {
        Spot close;
        uint32_t commas;
        if (char_at(s, k) != '{' || !find_close(s, k, to, &close, &commas))
            continue;
        size_t top = p->top;
        push_range(s, start, k);
        Brace *brace = read_brace(s, k, close, commas);
        if (!brace) {
            p->top = top;
            continue;
        }
        join_name(p, b.base, brace);
        push(p, &(WordPart){.kind = PART_BRACE, .brace = brace}, sizeof(WordPart));
        b.flags |= WORD_BRACE;
        k = close;
        start = next_spot(s, close);
        if (!before(start, to))
            break;
    }
    push_range(s, start, to);
    Word *w = finish_word(&b, b.start);
    for (uint32_t i = 0; i < w->count; i++)
        if (is_open_text(&w->parts[i]) && has_glob(w->parts[i].text))
            w->flags = (uint16_t)((w->flags | WORD_GLOB) & ~WORD_SIMPLE);
    if (b.flags & WORD_BRACE)
        w->flags &= (uint16_t) ~(WORD_SIMPLE | WORD_LITERAL);
    leave(p);
    return w;
}

Word *build_braces(Parser *p, Word *w)
{
    Source s = {p, w->parts, w->count};
    Spot end = {w->count, 0};
    if (w->count == 0)
        return w;
    Word *made = range_word(&s, (Spot){0, 0}, end);
    if (!(made->flags & WORD_BRACE))
        return w;
    made->source = w->source;
    made->flags |= w->flags & WORD_QUOTED;
    return made;
}
