/* parse_simple: simple commands, assignments, redirections. */
#include "parser.h"

#include <limits.h>

/* ---- assignments ---- */

const char *assignment_value(const char *s)
{
    const char *e = name_end(s);
    if (e == s)
        return NULL;
    if (*e == '[') {
        const char *close = skip_parens(e + 1, '[', ']');
        if (!close)
            return NULL;
        e = close + 1;
    }
    if (*e == '+')
        e++;
    return *e == '=' ? e + 1 : NULL;
}

static bool begins_value(const char *s)
{
    return !is(*s, CH_META) || ((*s == '<' || *s == '>') && s[1] == '(');
}

static Word *read_value(Parser *p)
{
    return begins_value(p->at) ? read_parts(p, MODE_WORD, READ_VALUE | READ_TILDE, 0) : NULL;
}

/* [index]= or [index]+= at s: where the value starts. */
static const char *item_value(const char *s)
{
    const char *close = *s == '[' ? skip_parens(s + 1, '[', ']') : NULL;
    if (!close)
        return NULL;
    close++;
    close += *close == '+';
    return *close == '=' ? close + 1 : NULL;
}

static Word *read_index(Parser *p, Arith **code)
{
    IndexKind kind;
    p->at++;
    const char *start = p->at;
    Word *w = read_subscript(p, &kind);
    if (!w)
        return word_of_text(p, slice(start, 1));
    *code = arith_compile(p->mem, w);
    return w;
}

/* Messages about a bad substitution in an item of an indexed array show its subscript too. */
static void mark_bad(Parser *p, const Word *w, Slice subscript)
{
    for (uint32_t i = 0; i < w->count; i++) {
        Param *param = w->parts[i].kind == PART_PARAM ? w->parts[i].param : NULL;
        if (param && (param->kind == PARAM_BAD || param->kind == PARAM_TRANSFORM) && !param->op) {
            param->word2 = word_of_text(p, subscript);
            param->word2->source = subscript;
        }
    }
}

static void read_item(Parser *p)
{
    const char *s = peek(p)->start;
    ArrayItem item = {0};
    if (*s == '[' && !skip_parens(s + 1, '[', ']')) {
        need_more(p);
        fail_parens(p, s, s + 1, "]");
    }
    if (item_value(s)) {
        p->at = s;
        p->have = false;
        item.index = read_index(p, &item.index_code);
        item.append = *p->at == '+';
        p->at += item.append ? 2 : 1;
        const char *value = p->at;
        item.value = read_value(p);
        if (item.value)
            mark_bad(p, item.value, slice(s, (size_t)(value - s)));
    } else {
        item.value = read_word(p, READ_TILDE);
    }
    const char *end = p->at;
    if (p->options.brace_expand && memchr(s, '{', (size_t)(end - s))) { /* once more, as an indexed array takes it */
        p->at = s;
        p->have = false;
        Word *w = read_word(p, READ_BRACES | READ_TILDE);
        item.braced = w->flags & WORD_BRACE ? w : NULL;
        p->at = end;
        p->have = false;
    }
    push(p, &item, sizeof item);
}

/* ( ... ) of a compound assignment. bash drops a command with a bad one and reads on. */
static void read_items(Parser *p, Assign *a)
{
    const char *opened = p->at;
    const Frame *frame = p->frame;
    size_t base = p->top;
    bool outer = p->in_items;
    a->is_array = p->in_items = true;
    p->at++;
    p->have = false;
    enter(p);
    for (;;) {
        skip_newlines(p);
        const Token *t = peek(p);
        if (t->kind == TOK_RPAREN)
            break;
        if (t->kind == TOK_EOF) {
            p->in_items = false;
            p->error.status = 1;
            fail_matching(p, p->frame == frame ? opened : NULL, ")");
        }
        if (t->kind != TOK_WORD) {
            p->error.status = 1;
            p->error.resume = true;
            fail_token(p);
        }
        read_item(p);
    }
    take(p);
    frame_return(p, frame);
    leave(p);
    p->in_items = outer;
    a->items = take_array(p, base, sizeof *a->items, &a->nitems);
}

/* a=(1)b is no compound assignment but text. */
static bool is_text(const char *s)
{
    const char *close = skip_parens(s + 1, '(', ')');
    return close && !is(close[1], CH_META);
}

void parse_assign(Parser *p, Assign *a, bool compound_ok)
{
    const char *s = p->at, *e = name_end(s);
    a->name = make_name(p, slice(s, (size_t)(e - s)));
    p->at = e;
    if (*e == '[')
        a->index = read_index(p, &a->index_code);
    a->append = *p->at == '+';
    p->at += a->append ? 2 : 1;
    if (compound_ok && *p->at == '(' && is_text(p->at)) {
        a->value = read_parts(p, MODE_WORD, READ_VALUE | READ_TILDE | READ_GROUP, 0);
    } else if (compound_ok && *p->at == '(') {
        read_items(p, a);
    } else {
        a->value = read_value(p);
    }
    p->have = false;
}

/* ---- redirections ---- */

bool is_redir(TokenKind kind) { return kind >= TOK_LESS && kind <= TOK_LAST_REDIR; }

static const struct { RedirKind kind; int fd; } redir_table[] = {
    [TOK_LESS - TOK_LESS] = {REDIR_IN, 0},
    [TOK_GREAT - TOK_LESS] = {REDIR_OUT, 1},
    [TOK_GREAT_GREAT - TOK_LESS] = {REDIR_APPEND, 1},
    [TOK_LESS_LESS - TOK_LESS] = {REDIR_HEREDOC, 0},
    [TOK_LESS_LESS_MINUS - TOK_LESS] = {REDIR_HEREDOC, 0},
    [TOK_LESS_LESS_LESS - TOK_LESS] = {REDIR_HERESTRING, 0},
    [TOK_LESS_AND - TOK_LESS] = {REDIR_DUP_IN, 0},
    [TOK_GREAT_AND - TOK_LESS] = {REDIR_DUP_OUT, 1},
    [TOK_LESS_GREAT - TOK_LESS] = {REDIR_RDWR, 0},
    [TOK_GREAT_OR - TOK_LESS] = {REDIR_CLOBBER, 1},
    [TOK_AND_GREAT - TOK_LESS] = {REDIR_BOTH, 1},
    [TOK_AND_GREAT_GREAT - TOK_LESS] = {REDIR_BOTH_APPEND, 1},
};

static void read_fd(Parser *p, Redir *r)
{
    const Token *t = &p->token;
    if (t->kind == TOK_NUMBER) {
        int64_t n = 0;
        for (const char *s = t->start; s < t->end; s++)
            n = MIN(n * 10 + (*s - '0'), INT_MAX);
        r->fd = (int)n;
        r->fd_given = true;
    } else {
        const char *s = t->start + 1, *e = name_end(s);
        r->fd = -1;
        r->var = GET(p, Name);
        *r->var = make_name(p, slice(s, (size_t)(e - s)));
        if (*e == '[') {
            Arith *code = NULL;
            p->at = e;
            p->have = false;
            r->var_index = read_index(p, &code);
            p->at++;
            return;
        }
    }
    take(p);
}

/* >&word is &>word when the word cannot be a descriptor. */
static bool names_file(const Redir *r)
{
    const Word *w = r->word;
    if (r->fd_given || r->var || !(w->flags & WORD_LITERAL) || !w->count)
        return false;
    Slice s = w->parts[0].text;
    size_t n = 0;
    while (n < s.len && is(s.data[n], CH_DIGIT))
        n++;
    if (n == s.len || (n + 1 == s.len && s.data[n] == '-'))
        return false;
    return true;
}

Redir *parse_redir(Parser *p)
{
    Redir *r = GET(p, Redir);
    r->line = line_of(p, peek(p)->start);
    if (peek(p)->kind == TOK_NUMBER || peek(p)->kind == TOK_VAR)
        read_fd(p, r);
    TokenKind op = peek(p)->kind;
    r->kind = redir_table[op - TOK_LESS].kind;
    if (!r->fd_given && !r->var)
        r->fd = redir_table[op - TOK_LESS].fd;
    r->strip_tabs = op == TOK_LESS_LESS_MINUS;
    take(p);
    const Token *t = peek(p);
    if (t->kind == TOK_NUMBER && (op == TOK_LESS_AND || op == TOK_GREAT_AND)) { /* >& 2>x: only here a number may stand before an operator */
        p->token.kind = TOK_WORD;
        p->token.plain = true;
    }
    if (t->kind != TOK_WORD)
        fail_token(p);
    if (r->kind == REDIR_HEREDOC) {
        const char *start = t->start;
        read_word(p, 0);
        heredoc_add(p, r, start, p->at);
        return r;
    }
    r->word = read_word(p, r->kind == REDIR_HERESTRING ? READ_TILDE | READ_VALUE : READ_BRACES | READ_TILDE);
    if (r->kind == REDIR_DUP_OUT && names_file(r))
        r->kind = REDIR_BOTH;
    return r;
}

static bool at_redir(Parser *p)
{
    TokenKind kind = peek(p)->kind;
    return is_redir(kind) || kind == TOK_NUMBER || kind == TOK_VAR;
}

void parse_redirs(Parser *p, Node *n)
{
    Redir **tail = &n->redirs;
    while (*tail)
        tail = &(*tail)->next;
    while (at_redir(p)) {
        *tail = parse_redir(p);
        tail = &(*tail)->next;
    }
}

/* ---- simple commands ---- */

enum { DECL_NONE, DECL_PREFIX, DECL_ASSIGN };

/* Whether arguments that read as assignments are ones: after a declaration builtin, by its unquoted name. */
static int declares(const Word *w)
{
    static const char *const names[] = {"alias", "declare", "export", "local", "readonly", "typeset"};
    if (!(w->flags & WORD_LITERAL) || (w->flags & WORD_QUOTED) || !w->count)
        return DECL_NONE;
    Slice text = w->parts[0].text;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (slice_is(text, names[i]))
            return DECL_ASSIGN;
    return slice_is(text, "command") || slice_is(text, "builtin") ? DECL_PREFIX : DECL_NONE;
}

/* Blanks in a subscript end the word here, where the reader expects no assignment. */
static bool is_declaration(const char *s)
{
    const char *e = name_end(s);
    if (!assignment_value(s))
        return false;
    if (*e == '[')
        for (const char *close = skip_parens(e + 1, '[', ']'); e < close && !is(*e, CH_QUOTE); e++)
            if (is(*e, CH_META))
                return false;
    return true;
}

static Word *read_declaration(Parser *p, bool compound_ok)
{
    const char *start = peek(p)->start;
    p->at = start;
    p->have = false;
    Assign *a = GET(p, Assign);
    parse_assign(p, a, compound_ok);
    const char *end = p->at;
    Word *w = NULL;
    if (!a->is_array) {
        p->at = start;
        w = read_parts(p, MODE_WORD, READ_TILDE | READ_ASSIGN | READ_BRACES, 0);
    }
    if (w && w->flags & WORD_BRACE) { /* brace expansion comes first and makes several words */
        p->have = false;
        return w;
    }
    if (!w || p->at != end)
        w = word_of_text(p, slice(start, (size_t)(end - start)));
    p->at = end;
    p->have = false;
    w->assign = a;
    for (uint32_t i = 0; a->value && i < a->value->count; i++) { /* its message shows the whole word */
        const WordPart *part = &a->value->parts[i];
        if (part->kind == PART_PARAM && (part->param->kind == PARAM_BAD || (part->param->kind == PARAM_TRANSFORM && !part->param->op)))
            part->param->source = w->source;
    }
    return w;
}

/* name=( or name+=( */
static bool is_list(const char *s)
{
    const char *value = assignment_value(s);
    return value && *value == '(' && !is(*s, CH_QUOTE);
}

typedef struct Simple {
    Node *node;
    Redir **redirs;
    int declaring;       /* DECL_* of the words so far */
    bool compound_ok;
    bool text_lists;     /* eval and let: a=(...) is one word */
    size_t base;         /* of the words on the stack */
    uint32_t words;
} Simple;

/* a[..., where an assignment may stand, goes on to the ] whatever comes between. */
static Word *read_subscripted(Parser *p, const char *start, const char *open)
{
    const char *close = skip_parens(open + 1, '[', ']');
    if (!close) {
        need_more(p);
        fail_parens(p, open, open + 1, "]");
    }
    p->at = start;
    p->within = close;
    Word *w = read_parts(p, MODE_WORD, READ_BRACES | READ_TILDE, 0);
    p->within = NULL;
    return w;
}

/* The whole of it as a word, which is expanded like any other: eval reads it again. */
static Word *read_list_text(Parser *p, const char *start)
{
    const char *open = assignment_value(start), *close = skip_parens(open + 1, '(', ')');
    if (!close) {
        need_more(p);
        p->error.status = 1;
        fail_matching(p, open, ")");
    }
    p->at = start;
    p->within = close + 1;
    Word *w = read_parts(p, MODE_WORD, READ_BRACES | READ_TILDE, 0);
    p->within = NULL;
    return w;
}

static void add_word(Parser *p, Simple *s)
{
    Word *w;
    const char *start = peek(p)->start, *open = name_end(start);
    if (p->stale && p->options.stale_cond && peek_is(p, "]]")) /* of the [[ that did not parse */
        fail_token(p);
    if (s->words && s->declaring == DECL_ASSIGN && is_declaration(start))
        w = read_declaration(p, s->compound_ok);
    else if (!s->words && open > start && *open == '[')
        w = read_subscripted(p, start, open);
    else if (s->text_lists && is_list(start))
        w = read_list_text(p, start);
    else
        w = read_word(p, READ_BRACES | READ_TILDE | READ_ASSIGN);
    if (s->words == 0 || s->declaring == DECL_PREFIX) {
        bool option = s->words && w->count && w->parts[0].kind == PART_LITERAL && *w->parts[0].text.data == '-';
        if (!option)
            s->declaring = declares(w);
        s->compound_ok = s->words == 0 && s->declaring == DECL_ASSIGN;
    }
    if (!s->words)
        s->text_lists = (w->flags & WORD_LITERAL) && w->count && (slice_is(w->parts[0].text, "eval") || slice_is(w->parts[0].text, "let"));
    push(p, &w, sizeof(Word *));
    s->words++;
}

static void read_assigns(Parser *p, Simple *s)
{
    Node *n = s->node;
    size_t base = p->top;
    for (;;) {
        TokenKind kind = peek(p)->kind;
        if (at_redir(p)) {
            bool first = !n->redirs && p->top == base;
            *s->redirs = parse_redir(p);
            s->redirs = &(*s->redirs)->next;
            if (first && !p->pending)
                n->line = line_of(p, p->at);
        } else if (kind == TOK_WORD && assignment_value(p->token.start) && !(p->token.start == p->stale && is_list(p->token.start))) {
            Assign a = {0};
            p->at = p->token.start;
            p->have = false;
            parse_assign(p, &a, true);
            if (p->top == base)
                n->line = line_of(p, p->at);
            push(p, &a, sizeof a);
        } else if (kind == TOK_WORD && p->top != base && expand_alias(p)) {
            continue;
        } else {
            break;
        }
    }
    n->simple.assigns = take_array(p, base, sizeof(Assign), &n->simple.nassigns);
}

/* A word after an alias that ended in a blank may be an alias too. */
static bool alias_argument(Parser *p)
{
    Frame *f = p->frame;
    const Token *t = peek(p);
    if (!f->blank_end || p->frame != f || t->start < f->blank_end)
        return false;
    f->blank_end = NULL;
    return expand_alias(p);
}

static Node *parse_definition(Parser *p, Simple *s, const char *start)
{
    Word *w = *(Word **)(void *)(p->stack + s->base);
    p->top = s->base;
    take(p);
    if (!take_if(p, TOK_RPAREN))
        fail_token(p);
    Node *n = parse_function_body(p, w->source, false, start, s->node->line);
    n->function.bad_name = (w->flags & WORD_QUOTED) || !(w->flags & WORD_LITERAL) || memchr(w->source.data, '\\', w->source.len);
    return n;
}

Node *parse_simple(Parser *p)
{
    const char *start = peek(p)->start;
    Simple s = {.node = new_node(p, NODE_SIMPLE, line_of(p, start))};
    s.redirs = &s.node->redirs;
    read_assigns(p, &s);
    s.base = p->top;
    uint32_t tokens = s.node->simple.nassigns || s.node->redirs ? 2 : 0;
    for (;;) {
        if (at_redir(p)) {
            *s.redirs = parse_redir(p);
            s.redirs = &(*s.redirs)->next;
        } else if (peek(p)->kind == TOK_WORD) {
            if (!alias_argument(p))
                add_word(p, &s);
            if (++tokens <= 2) /* bash numbers a command by the line where its second word ends */
                s.node->line = line_of(p, p->at);
        } else if (p->token.kind == TOK_LPAREN && s.words == 1 && !s.node->simple.nassigns && !s.node->redirs) {
            return parse_definition(p, &s, start);
        } else {
            break;
        }
    }
    size_t backslashes = 0;
    while (!*p->at && !p->frame->parent && p->at - backslashes > p->frame->start && p->at[-1 - (ptrdiff_t)backslashes] == '\\')
        backslashes++;
    if (backslashes & 1 && tokens)
        s.node->line += tokens == 1 ? 2 : tokens == 2 ? 1 : 0; /* the reader has gone on, as far as bash then had read */
    else if (tokens == 1)
        s.node->line = line_of(p, peek(p)->start); /* behind what joins lines */
    s.node->simple.words = take_array(p, s.base, sizeof(Word *), &s.node->simple.nwords);
    if (!s.words && !s.node->simple.nassigns && !s.node->redirs)
        fail_token(p);
    return s.node;
}
