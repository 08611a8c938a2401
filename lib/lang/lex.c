/* lex: tokens, blanks and comments, line numbers, aliases. */
#include "parser.h"

#define BLANK (CH_META | CH_BLANK)
const uint8_t char_class[256] = {
    [0] = CH_META, [' '] = BLANK, ['\t'] = BLANK, ['\n'] = CH_META, ['|'] = CH_META, ['&'] = CH_META, [';'] = CH_META,
    ['('] = CH_META, [')'] = CH_META, ['<'] = CH_META, ['>'] = CH_META,
    ['\\'] = CH_QUOTE, ['\''] = CH_QUOTE, ['"'] = CH_QUOTE, ['$'] = CH_QUOTE, ['`'] = CH_QUOTE,
    ['{'] = CH_SHAPE, ['~'] = CH_SHAPE, ['*'] = CH_GLOB, ['?'] = CH_GLOB, ['['] = CH_GLOB,
    ['0' ... '9'] = CH_DIGIT, ['a' ... 'z'] = CH_NAME, ['A' ... 'Z'] = CH_NAME, ['_'] = CH_NAME,
};

static uint32_t count_newlines(const char *s, const char *end)
{
    uint32_t n = 0;
    while (s < end && (s = memchr(s, '\n', (size_t)(end - s)))) {
        n++;
        s++;
    }
    return n;
}

/* Counting starts where the last question ended, so that all questions together cost one pass. */
uint32_t line_of(Parser *p, const char *at)
{
    Frame *f = p->frame;
    if (at < f->start || at > f->end)
        return f->line;
    if (at < f->fresh)
        at = f->fresh;
    if (at < f->counted)
        f->line -= count_newlines(at, f->counted);
    else
        f->line += count_newlines(f->counted, at);
    f->counted = at;
    return f->line;
}

void need_more(Parser *p)
{
    if (p->frame->parent)
        longjmp(*p->guard, JUMP_AGAIN);
}

/* To the next token: over blanks, line continuations and comments, and out of aliases that end here. */
static const char *skip_blanks(Parser *p)
{
    for (const char *s = p->at;;) {
        if (is(*s, CH_BLANK))
            s++;
        else if (*s == '\\' && s[1] == '\n')
            s += 2;
        else if (*s == '#')
            s = memchr(s, '\n', (size_t)(p->frame->end - s)) ?: p->frame->end;
        else if (*s == 0 && p->frame->parent) {
            s = p->frame->resume;
            p->frame = p->frame->parent;
        } else
            return s;
    }
}

/* The character after s, line continuations taken out. */
static const char *after(const char *s)
{
    s++;
    while (*s == '\\' && s[1] == '\n')
        s += 2;
    return s;
}

static TokenKind set(Token *t, TokenKind kind, const char *last)
{
    t->end = last + 1;
    return t->kind = kind;
}

static void scan_less(Token *t, const char *s)
{
    const char *n = after(s);
    if (*n == '<') {
        const char *m = after(n);
        set(t, *m == '-' ? TOK_LESS_LESS_MINUS : *m == '<' ? TOK_LESS_LESS_LESS : TOK_LESS_LESS, *m == '-' || *m == '<' ? m : n);
    } else if (*n == '&')
        set(t, TOK_LESS_AND, n);
    else if (*n == '>')
        set(t, TOK_LESS_GREAT, n);
    else
        set(t, TOK_LESS, s);
}

static void scan_great(Token *t, const char *s)
{
    const char *n = after(s);
    TokenKind kind = *n == '>' ? TOK_GREAT_GREAT : *n == '&' ? TOK_GREAT_AND : *n == '|' ? TOK_GREAT_OR : TOK_GREAT;
    set(t, kind, kind == TOK_GREAT ? s : n);
}

static void scan_and(Token *t, const char *s)
{
    const char *n = after(s);
    if (*n == '&')
        set(t, TOK_AND_AND, n);
    else if (*n == '>') {
        const char *m = after(n);
        set(t, *m == '>' ? TOK_AND_GREAT_GREAT : TOK_AND_GREAT, *m == '>' ? m : n);
    } else
        set(t, TOK_AND, s);
}

static void scan_semi(Token *t, const char *s)
{
    const char *n = after(s);
    if (*n == ';') {
        const char *m = after(n);
        set(t, *m == '&' ? TOK_SEMI_SEMI_AND : TOK_SEMI_SEMI, *m == '&' ? m : n);
    } else
        set(t, *n == '&' ? TOK_SEMI_AND : TOK_SEMI, *n == '&' ? n : s);
}

static void scan_newline(Parser *p, Token *t, const char *s)
{
    set(t, TOK_NEWLINE, s);
    if (p->pending) {
        Frame *f = p->frame;
        t->end = heredoc_read(p, s + 1);
        f->body_newline = s;
        f->body_end = t->end;
    } else if (s == p->frame->body_newline)
        t->end = p->frame->body_end; /* looked at before, when its bodies were read */
}

/* {name} or {name[...]} */
static bool is_var_redirection(const char *s, const char *e)
{
    if (*s != '{' || e[-1] != '}')
        return false;
    const char *n = name_end(s + 1);
    return n > s + 1 && (n == e - 1 || (*n == '[' && e[-2] == ']'));
}

static bool is_number(const char *s, const char *e)
{
    while (s < e && is(*s, CH_DIGIT))
        s++;
    return s == e;
}

/* A brace that may expand needs a comma or two dots. */
static bool may_be_brace(const char *s, const char *e)
{
    for (; s < e; s++)
        if (*s == ',' || (*s == '.' && s[1] == '.'))
            return true;
    return false;
}

static void scan_word(Parser *p, Token *t, const char *s)
{
    unsigned seen = 0;
    const char *e = s;
    bool shaped = false;
    t->kind = TOK_WORD;
    t->plain = false;
    for (;; e++) {
        unsigned class = char_class[(uint8_t)*e];
        if (class & (CH_META | CH_QUOTE))
            break;
        if (*e == '~' && (e == s || e[-1] == '=' || e[-1] == ':'))
            return;
        shaped |= *e == '{';
        seen |= class;
    }
    t->end = e;
    if (is(*e, CH_QUOTE))
        return;
    if (*e == '(' && p->options.extglob && e > s && strchr("?*+@!", e[-1]))
        return;
    if (*e == '<' || *e == '>') {
        if (e[1] == '(')
            return;
        if (is_number(s, e))
            t->kind = TOK_NUMBER;
        else if (is_var_redirection(s, e))
            t->kind = TOK_VAR;
    }
    t->plain = !(shaped && may_be_brace(s, e));
    t->glob = (seen & CH_GLOB) != 0;
}

static void scan(Parser *p)
{
    Token *t = &p->token;
    const char *s = p->at = skip_blanks(p);
    p->have = true;
    t->start = s;
    switch (*s) {
    case 0: t->end = s; t->kind = TOK_EOF; break;
    case '\n': scan_newline(p, t, s); break;
    case '&': scan_and(t, s); break;
    case ';': scan_semi(t, s); break;
    case '(': set(t, TOK_LPAREN, s); break;
    case ')': set(t, TOK_RPAREN, s); break;
    case '|': {
        const char *n = after(s);
        set(t, *n == '|' ? TOK_OR_OR : *n == '&' ? TOK_OR_AND : TOK_OR, *n == '|' || *n == '&' ? n : s);
        break;
    }
    case '<':
    case '>':
        if (s[1] == '(')
            scan_word(p, t, s);
        else if (*s == '<')
            scan_less(t, s);
        else
            scan_great(t, s);
        break;
    default: scan_word(p, t, s);
    }
}

const Token *peek(Parser *p)
{
    if (!p->have)
        scan(p);
    return &p->token;
}

void take(Parser *p)
{
    peek(p);
    p->at = p->token.end;
    p->have = false;
}

bool peek_is(Parser *p, const char *text)
{
    const Token *t = peek(p);
    size_t n = (size_t)(t->end - t->start);
    return t->kind == TOK_WORD && t->plain && *t->start == *text && strlen(text) == n && memcmp(t->start, text, n) == 0;
}

bool take_if(Parser *p, TokenKind kind)
{
    if (peek(p)->kind != kind)
        return false;
    take(p);
    return true;
}

void skip_newlines(Parser *p)
{
    while (peek(p)->kind == TOK_NEWLINE)
        take(p);
}

/* ---- aliases ---- */

/* How much of the rest an alias takes along: whole lines. */
static const char *rest_end(Parser *p, const char *s)
{
    const char *end = p->frame->end;
    if ((size_t)(end - s) <= p->splice)
        return end;
    s += p->splice;
    const char *newline = memchr(s, '\n', (size_t)(end - s));
    return newline ? newline + 1 : end;
}

/* `head`, a blank and the text [from, to) of the current frame as a frame over it. */
static Frame *splice_frame(Parser *p, Slice head, const char *from, const char *to)
{
    size_t rest = (size_t)(to - from), size;
    if (!size_add(head.len, rest, &size) || !size_add(size, 2, &size))
        fail_memory(p);
    Frame *f = GET(p, Frame);
    char *text = get(p, size);
    if (head.len)
        memcpy(text, head.data, head.len);
    text[head.len] = ' ';
    memcpy(text + head.len + 1, from, rest);
    *f = (Frame){.parent = p->frame, .start = text, .end = text + size - 1, .resume = to, .fresh = text + head.len + 1};
    f->counted = f->fresh;
    f->line = line_of(p, from);
    return f;
}

static void add_active(Parser *p, Frame *f, Slice name, const char *end)
{
    Active *a = GET(p, Active);
    *a = (Active){f->active, name, end};
    f->active = a;
}

bool expand_alias(Parser *p)
{
    const Token *t = peek(p);
    if (!p->options.aliases || !p->options.alias || t->kind != TOK_WORD || !t->plain || p->expansions > 10000)
        return false;
    Slice name = slice(t->start, (size_t)(t->end - t->start));
    for (const Active *a = p->frame->active; a; a = a->next)
        if (t->start < a->end && slice_eq(a->name, name))
            return false;
    bool found = false;
    Slice text = p->options.alias(p->options.user, name, &found);
    if (!found)
        return false;
    p->expansions++;
    Frame *f = splice_frame(p, text, t->end, rest_end(p, t->end));
    add_active(p, f, keep(p, name), f->fresh);
    for (const Active *a = p->frame->active; a; a = a->next)
        if (a->end > t->end)
            add_active(p, f, a->name, f->fresh + (a->end - t->end));
    if (text.len && is(text.data[text.len - 1], CH_BLANK))
        f->blank_end = f->fresh;
    p->frame = f;
    p->at = f->start;
    p->have = false;
    return true;
}

/* ---- nested texts ---- */

typedef struct {
    Frame *frame;
    const char *at;
    Token token;
    bool have;
    unsigned depth, substitutions, in_dquotes;
    const char *paired, *arith_opened, *cond, *cond_cut, *limit, *within;
    unsigned cond_open;
    bool in_items;
    size_t top;
    jmp_buf *guard;
    ParseError error;
    PendingSave pending;
} Place;

static void place_save(Parser *p, Place *s)
{
    *s = (Place){.frame = p->frame, .at = p->at, .token = p->token, .have = p->have, .depth = p->depth, .substitutions = p->substitutions,
                 .in_dquotes = p->in_dquotes, .paired = p->paired, .arith_opened = p->arith_opened, .cond = p->cond, .cond_cut = p->cond_cut,
                 .limit = p->limit, .within = p->within, .cond_open = p->cond_open, .in_items = p->in_items, .top = p->top, .guard = p->guard,
                 .error = p->error};
    pending_save(p, &s->pending);
}

static void place_restore(Parser *p, const Place *s)
{
    p->frame = s->frame;
    p->at = s->at;
    p->token = s->token;
    p->have = s->have;
    p->depth = s->depth;
    p->substitutions = s->substitutions;
    p->in_dquotes = s->in_dquotes;
    p->paired = s->paired;
    p->arith_opened = s->arith_opened;
    p->cond = s->cond;
    p->cond_cut = s->cond_cut;
    p->limit = s->limit;
    p->within = s->within;
    p->cond_open = s->cond_open;
    p->in_items = s->in_items;
    p->top = s->top;
    p->guard = s->guard;
    pending_restore(p, &s->pending);
}

/* In a function of its own, so that nothing it needs lives in a register across setjmp. */
static int guarded(Parser *p, void (*work)(Parser *p, void *arg), void *arg)
{
    jmp_buf jump;
    p->guard = &jump;
    int code = setjmp(jump);
    if (code == 0)
        work(p, arg);
    return code;
}

bool parse_apart(Parser *p, Slice text, uint32_t line, void (*work)(Parser *p, void *arg), void *arg, bool may_fail)
{
    Place place;
    place_save(p, &place);
    Frame *f = GET(p, Frame);
    *f = (Frame){.start = text.data, .end = text.data + text.len, .counted = text.data, .fresh = text.data, .line = line};
    p->frame = f;
    p->at = text.data;
    p->have = false;
    p->substitutions = p->in_dquotes = p->cond_open = 0;
    p->paired = p->arith_opened = p->cond = p->cond_cut = p->limit = p->within = NULL;
    p->in_items = false;
    p->error = (ParseError){.status = 2};
    int code = 0;
    if (may_fail)
        code = guarded(p, work, arg);
    else
        work(p, arg);
    place_restore(p, &place);
    if (code > JUMP_ERROR)
        longjmp(*p->guard, code);
    p->failed = p->error;
    p->error = place.error;
    return code == 0;
}

void frame_return(Parser *p, const Frame *f)
{
    while (p->frame != f) {
        Frame *here = p->frame;
        if (!here->parent || p->at < here->fresh) {
            if (f->parent)
                longjmp(*p->guard, JUMP_AGAIN); /* f itself ended: it must reach further */
            fail_at(p, p->at, "syntax error: an alias ends in the middle of a word");
        }
        p->at = here->resume - (here->end - p->at);
        p->frame = here->parent;
        p->have = false;
    }
}
