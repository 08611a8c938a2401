/* lex_word: words into parts, where quotes are active. */
#include "parser.h"

static void flush(Builder *b)
{
    Parser *p = b->p;
    if (!b->open)
        return;
    b->open = false;
    Slice text = keep(p, slice(p->stack + b->literal, p->top - b->literal));
    p->top = b->literal;
    WordPart part = {.kind = PART_LITERAL, .quoted = b->quoted, .text = text};
    push(p, &part, sizeof part);
}

void literal(Builder *b, const char *s, size_t n, bool quoted)
{
    Parser *p = b->p;
    if (b->open && b->quoted != quoted)
        flush(b);
    if (!b->open) {
        b->open = true;
        b->quoted = quoted;
        b->literal = p->top;
    }
    stack_room(p, n);
    if (n)
        memcpy(p->stack + p->top, s, n);
    p->top += n;
}

void add_part(Builder *b, WordPart part)
{
    flush(b);
    push(b->p, &part, sizeof part);
}

/* \" as " */
static Slice plain_quotes(Parser *p, Slice s)
{
    if (!memmem(s.data, s.len, "\\\"", 2))
        return s;
    char *out = get(p, s.len + 1);
    size_t n = 0;
    unsigned open = 0;
    for (size_t i = 0; i < s.len; i++) {
        open += s.data[i] == '(';
        open -= s.data[i] == ')' && open;
        bool pair = s.data[i] == '\\' && i + 1 < s.len && !open;
        if (pair && s.data[i + 1] != '"')
            out[n++] = s.data[i];
        i += pair;
        out[n++] = s.data[i];
    }
    return slice(out, n);
}

void name_bad(const Word *w, Slice text)
{
    for (uint32_t i = 0; i < w->count; i++) {
        Param *param = w->parts[i].kind == PART_PARAM ? w->parts[i].param : NULL;
        if (param && ((param->kind == PARAM_BAD && param->op != ']') || (param->kind == PARAM_TRANSFORM && !param->op)))
            param->source = text;
    }
}

/* bash's message about a bad substitution shows the whole word, or what stands between the double quotes. */
static void name_bad_params(const Builder *b, const Word *w)
{
    if (b->mode != MODE_WORD && b->mode != MODE_DQUOTE)
        return;
    name_bad(w, b->mode == MODE_DQUOTE ? plain_quotes(b->p, w->source) : w->source);
}

/* The text as bash has read it: without the line continuations. */
static Slice joined_source(Parser *p, Slice s)
{
    const char *newline = s.len ? memchr(s.data, '\n', s.len) : NULL;
    if (likely(!newline) || !memmem(s.data, s.len, "\\\n", 2))
        return s;
    char *out = get(p, s.len + 1);
    size_t n = 0;
    bool single = false, dquoted = false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        single ^= c == '\'' && !dquoted;
        dquoted ^= c == '"' && !single;
        if (c == '\\' && !single && i + 1 < s.len) {
            if (s.data[++i] == '\n')
                continue;
            out[n++] = c;
            c = s.data[i];
        }
        out[n++] = c;
    }
    return slice(out, n);
}

Word *finish_word(Builder *b, const char *end)
{
    flush(b);
    Parser *p = b->p;
    Word *w = GET(p, Word);
    w->parts = take_array(p, b->base, sizeof(WordPart), &w->count);
    unsigned flags = b->flags;
    for (uint32_t i = 0; i < w->count; i++) {
        flags |= w->parts[i].quoted ? WORD_QUOTED : 0;
        flags |= w->parts[i].kind == PART_TILDE ? 0x8000 : 0;
    }
    if (w->count == 0 || (w->count == 1 && w->parts[0].kind == PART_LITERAL))
        flags |= WORD_LITERAL;
    if (!(flags & (WORD_GLOB | 0x8000)))
        flags |= WORD_SIMPLE;
    w->flags = (uint16_t)(flags & 0x7FFF);
    w->source = joined_source(p, slice(b->start, (size_t)(end - b->start)));
    name_bad_params(b, w);
    return w;
}

void read_dquotes(Builder *b)
{
    Parser *p = b->p;
    const char *opened = p->at - 1;
    /* Most strings are only text: no word of their own for them. */
    const char *s = p->at;
    while (*s && *s != '"' && *s != '\\' && *s != '$' && *s != '`')
        s++;
    if (*s == '"') {
        literal(b, p->at, (size_t)(s - p->at), true);
        p->at = s + 1;
        return;
    }
    enter(p);
    flush(b);
    Builder inner = {.p = p, .base = p->top, .mode = MODE_DQUOTE, .how = READ_QUOTED, .start = p->at};
    p->in_dquotes++;
    read_quoted(&inner);
    p->in_dquotes--;
    if (*p->at != '"') {
        need_more(p);
        fail_matching(p, opened, "\"");
    }
    Word *w = finish_word(&inner, p->at);
    p->at++;
    leave(p);
    if (w->flags & WORD_LITERAL)
        literal(b, w->count ? w->parts[0].text.data : "", w->count ? w->parts[0].text.len : 0, true);
    else
        add_part(b, (WordPart){.kind = PART_QUOTED, .quoted = true, .inner = w});
}

static void read_single(Builder *b)
{
    Parser *p = b->p;
    const char *end = memchr(p->at + 1, '\'', (size_t)(p->frame->end - p->at - 1));
    if (!end) {
        need_more(p);
        fail_matching(p, p->at, "'");
    }
    literal(b, p->at + 1, (size_t)(end - p->at - 1), true);
    p->at = end + 1;
}

static void read_escape(Builder *b)
{
    Parser *p = b->p;
    const char *s = p->at;
    if (s[1] == '\n') {
        p->at += 2;
    } else if (s[1] == 0) {
        need_more(p);
        literal(b, s, 1, true);
        p->at++;
    } else {
        bool verbatim = b->mode == MODE_REGEX; /* the regex reads \b and \. itself */
        literal(b, verbatim ? s : s + 1, verbatim ? 2 : 1, !verbatim);
        p->at += 2;
    }
}

/* ~ and what follows it up to a slash, when none of it is quoted. */
static void read_tilde(Builder *b)
{
    Parser *p = b->p;
    const char *s = p->at;
    bool value = b->value && (s == b->value || (s > b->value && s[-1] == ':'));
    if (!value && !((b->how & READ_TILDE) && s == b->start)) {
        literal(b, s, 1, false);
        p->at++;
        return;
    }
    const char *e = s + 1;
    while (*e && !is(*e, CH_META | CH_QUOTE) && *e != '/' && *e != ':' && !(*e == '}' && (b->mode == MODE_BRACE || b->how & READ_BRACES)) && !(b->stop && *e == b->stop))
        e++;
    if (is(*e, CH_QUOTE)) {
        literal(b, s, 1, false);
        p->at++;
        return;
    }
    add_part(b, (WordPart){.kind = PART_TILDE, .direction = value && b->how & READ_ASSIGN ? '=' : 0, .text = keep(p, slice(s + 1, (size_t)(e - s - 1)))});
    p->at = e;
}

/* A metacharacter: true when the word ends here. */
static bool meets_meta(Builder *b, char c)
{
    Parser *p = b->p;
    const char *s = p->at;
    if (c == 0)
        return true;
    if (b->mode == MODE_BRACE || b->mode == MODE_SUBSCRIPT || s < p->within)
        return false;
    if (b->mode == MODE_REGEX) {
        if (c == '(')
            b->depth++;
        else if (c == ')' && b->depth == 0)
            return true;
        else if (c == ')')
            b->depth--;
        else if (b->depth == 0 && (is(c, CH_BLANK) || c == '\n' || c == '&' || c == ';'))
            return true;
        else if (b->depth == 0 && c == '|' && s[1] == '|')
            return true;
        return false;
    }
    if (c == '(') {
        bool group = b->depth > 0 || (s == b->start && b->how & READ_GROUP);
        if ((p->options.extglob || (b->how & READ_PATTERN)) && s > b->start && strchr("?*+@!", s[-1]))
            group = true;
        if (!group)
            return true;
        b->depth++;
        b->flags |= WORD_GLOB;
        return false;
    }
    if (c == ')' && b->depth) {
        b->depth--;
        return false;
    }
    return b->depth == 0;
}

/* Characters that matter to one mode only: true when the word ends here. */
static bool meets_closer(Builder *b, char c)
{
    if (b->stop && c == b->stop)
        return true;
    if (b->mode == MODE_BRACE)
        return c == '}';
    if (b->mode == MODE_SUBSCRIPT) {
        if (c == '[')
            b->depth++;
        else if (c == ']') {
            if (b->depth == 0)
                return true;
            b->depth--;
        }
    }
    return false;
}

static void read_special(Builder *b, char c)
{
    switch (c) {
    case '\\': read_escape(b); break;
    case '\'': read_single(b); break;
    case '"':
        b->p->at++;
        read_dquotes(b);
        break;
    case '`': read_backquoted(b, false); break;
    default: read_dollar(b, false);
    }
}

static void read_unquoted(Builder *b)
{
    Parser *p = b->p;
    for (;;) {
        const char *s = p->at;
        while (!is(*s, CH_META | CH_QUOTE | CH_SHAPE | CH_GLOB) && *s != '}' && *s != ']' && *s != b->stop)
            s++;
        if (s > p->at) {
            literal(b, p->at, (size_t)(s - p->at), false);
            p->at = s;
        }
        char c = *s;
        if (meets_closer(b, c))
            return;
        if (is(c, CH_QUOTE)) {
            read_special(b, c);
        } else if (c == '~') {
            read_tilde(b);
        } else if ((c == '<' || c == '>') && s[1] == '(' && b->mode == MODE_WORD && b->depth == 0) {
            read_process(b);
        } else {
            if (is(c, CH_META) && meets_meta(b, c))
                return;
            b->brace |= c == '{';
            if (is(c, CH_GLOB))
                b->flags |= WORD_GLOB;
            literal(b, s, 1, false);
            p->at++;
        }
    }
}

Word *read_parts(Parser *p, Mode mode, unsigned flags, char stop)
{
    enter(p);
    Builder b = {.p = p, .base = p->top, .mode = mode, .how = flags, .stop = stop, .start = p->at};
    const Frame *frame = p->frame;
    if (flags & READ_VALUE)
        b.value = p->at;
    else if (flags & READ_ASSIGN)
        b.value = assignment_value(p->at);
    bool outer = p->in_value;
    if (mode != MODE_BRACE)
        p->in_value = mode == MODE_WORD && flags & READ_VALUE && !p->in_items;
    p->have = false;
    if (mode == MODE_DQUOTE || mode == MODE_TEXT || mode == MODE_ARITH || mode == MODE_BRACE_DQ)
        read_quoted(&b);
    else
        read_unquoted(&b);
    if (*p->at == 0)
        need_more(p);
    if (b.depth && *p->at == 0 && (mode == MODE_WORD || mode == MODE_REGEX))
        fail_matching(p, b.start, ")");
    if (p->frame != frame)
        frame_return(p, frame);
    p->in_value = outer;
    Word *w = finish_word(&b, p->at);
    leave(p);
    if (b.brace && (flags & READ_BRACES) && p->options.brace_expand)
        w = build_braces(p, w);
    return w;
}

static Word *new_plain_word(Parser *p);

static Word *plain_word(Parser *p)
{
    const Token *t = &p->token;
    Slice text = slice(t->start, (size_t)(t->end - t->start));
    if (!p->cache || text.len > CACHED_WORD)
        return new_plain_word(p);
    Word **slot = &p->cache->words[hash_bytes(text) % ARRAY_LEN(p->cache->words)];
    if (!*slot || !slice_eq((*slot)->source, text) || ((*slot)->flags & WORD_GLOB) != (t->glob ? WORD_GLOB : 0))
        *slot = new_plain_word(p);
    return *slot;
}

/* The word, its only part and its text in one block: most words of a script. */
static Word *new_plain_word(Parser *p)
{
    typedef struct { Word word; WordPart part; char text[]; } Plain;
    const Token *t = &p->token;
    size_t n = (size_t)(t->end - t->start);
    Plain *plain = mem_alloc(p->mem, sizeof(Plain) + n + 1);
    if (!plain)
        fail_memory(p);
    memcpy(plain->text, t->start, n);
    plain->text[n] = 0;
    plain->part = (WordPart){.kind = PART_LITERAL, .text = slice(plain->text, n)};
    plain->word = (Word){.parts = &plain->part, .count = 1, .source = slice(t->start, n)};
    plain->word.flags = (uint16_t)(WORD_LITERAL | (t->glob ? WORD_GLOB : WORD_SIMPLE));
    return &plain->word;
}

Word *read_word(Parser *p, unsigned flags)
{
    const Token *t = peek(p);
    if (t->kind == TOK_WORD && t->plain) {
        Word *w = plain_word(p);
        take(p);
        return w;
    }
    p->at = t->start;
    if (flags & READ_ASSIGN && !assignment_value(p->at))
        flags &= ~(unsigned)READ_ASSIGN;
    return read_parts(p, MODE_WORD, flags, 0);
}

Word *word_of_text(Parser *p, Slice text)
{
    Word *w = GET(p, Word);
    w->source = text;
    w->flags = WORD_LITERAL | WORD_SIMPLE;
    if (text.len) {
        w->parts = GET(p, WordPart);
        w->parts[0] = (WordPart){.kind = PART_LITERAL, .quoted = true, .text = keep(p, text)};
        w->count = 1;
    }
    return w;
}
