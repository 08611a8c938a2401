/* parse: units, lists, pipelines. */
#include "parser.h"

#include <stdlib.h>

enum { SPLICE_FIRST = 1, UNIT_WINDOW = 64 * 1024 };

/* ---- a parser and its text ---- */

/* A script's last line ends in a newline for the reader, unless a backslash would take it. */
static bool wants_newline(const char *s, size_t n)
{
    return n > 0 && s[n - 1] != '\n' && s[n - 1] != '\\';
}

/* The text without its NUL bytes, in the AST; NULL without memory. */
static char *copy_text(Mem *mem, Slice text, bool script, size_t *len)
{
    size_t n = 0, size;
    char *copy = size_add(text.len, 2, &size) ? mem_alloc(mem, size) : NULL;
    if (!copy)
        return NULL;
    for (const char *s = text.data, *end = s + text.len; s < end;) {
        const char *nul = memchr(s, 0, (size_t)(end - s)) ?: end;
        memcpy(copy + n, s, (size_t)(nul - s));
        n += (size_t)(nul - s);
        s = nul + 1;
    }
    if (script && wants_newline(copy, n))
        copy[n++] = '\n';
    copy[n] = 0;
    *len = n;
    return copy;
}

static void parser_init(Parser *p, Mem *mem, const ParseOptions *options)
{
    *p = (Parser){.mem = mem, .scratch = mem, .options = *options, .splice = SPLICE_FIRST};
    p->pending_tail = &p->pending;
}

static bool parser_open(Parser *p, Slice text, uint32_t line, bool script)
{
    size_t len = 0;
    Frame *f = mem_new(p->mem, Frame);
    char *copy = f ? copy_text(p->mem, text, script, &len) : NULL;
    if (!copy)
        return false;
    *f = (Frame){.start = copy, .end = copy + len, .counted = copy, .fresh = copy, .line = line};
    p->frame = f;
    p->at = copy;
    return true;
}

Parser *parser_new(Budget *budget, Slice text, uint32_t first_line, const ParseOptions *options)
{
    Ast *ast = ast_new(budget);
    Parser *p = ast ? malloc(sizeof *p) : NULL;
    if (!p) {
        ast_unref(ast);
        return NULL;
    }
    parser_init(p, &ast->mem, options);
    p->ast = ast;
    p->budget = budget;
    p->size = text.len;
    mem_init(&p->own_scratch, budget, NULL, NULL);
    p->scratch = &p->own_scratch;
    mem_init(&p->unit, budget, NULL, NULL);
    p->unit.next_size = UNIT_WINDOW;
    if (text.len >= CACHE_FROM && !options->discard)
        p->cache = mem_new(p->scratch, WordCache);
    if (!parser_open(p, text, first_line, true)) {
        parser_free(p);
        return NULL;
    }
    if (options->discard)
        p->mem = &p->unit;
    return p;
}

void parser_free(Parser *p)
{
    if (!p)
        return;
    mem_drop(&p->own_scratch);
    mem_drop(&p->unit);
    mem_detach(&p->ast->mem);
    ast_unref(p->ast);
    free(p);
}

void parser_options(Parser *p, const ParseOptions *options) { p->options = *options; }

void parser_shift_lines(Parser *p, int64_t by)
{
    for (Frame *f = p->frame; f; f = f->parent)
        f->line = (uint32_t)((int64_t)f->line + by);
}

Ast *parser_ast(Parser *p) { return p->ast; }

ParseWarnings parser_warnings(Parser *p) { return (ParseWarnings){p->warnings, p->nwarnings}; }

/* In an alias the place is that of the text after it. */
size_t parser_offset(const Parser *p)
{
    const Frame *f = p->frame;
    const char *at = p->at;
    while (f->parent) {
        at = at >= f->fresh ? f->resume - (f->end - at) : f->resume - (f->end - f->fresh);
        f = f->parent;
    }
    return MIN((size_t)(at - f->start), p->size);
}

/* ---- nodes ---- */

Node *new_node(Parser *p, NodeKind kind, uint32_t line)
{
    Node *n = GET(p, Node);
    n->kind = (uint8_t)kind;
    n->line = line;
    return n;
}

static Node *new_pair(Parser *p, NodeKind kind, Node *left, Node *right)
{
    Node *n = new_node(p, kind, left->line);
    n->pair.left = left;
    n->pair.right = right;
    return n;
}

/* ---- pipelines ---- */

static Node *parse_stages(Parser *p)
{
    uint32_t line = line_of(p, peek(p)->start);
    Node *first = parse_command(p);
    TokenKind kind = peek(p)->kind;
    if (kind != TOK_OR && kind != TOK_OR_AND)
        return first;
    size_t base = p->top;
    typedef struct { Node *node; bool both; } Stage;
    Stage stage = {first, false};
    for (;;) {
        kind = peek(p)->kind;
        stage.both = kind == TOK_OR_AND;
        push(p, &stage, sizeof stage);
        if (kind != TOK_OR && kind != TOK_OR_AND)
            break;
        take(p);
        skip_newlines(p);
        if (peek_is(p, "!"))
            fail_token(p);
        stage.node = parse_command(p);
    }
    uint32_t count;
    Stage *stages = take_array(p, base, sizeof *stages, &count);
    Node *n = new_node(p, NODE_PIPELINE, line);
    n->pipeline.count = count;
    n->pipeline.stages = get(p, count * sizeof(Node *));
    n->pipeline.both = get(p, count * sizeof(bool));
    for (uint32_t i = 0; i < count; i++) {
        n->pipeline.stages[i] = stages[i].node;
        n->pipeline.both[i] = stages[i].both;
    }
    return n;
}

/* `time` and `!` in any order; either may stand alone. */
static void parse_prefixes(Parser *p, bool *negated, uint8_t *timed)
{
    for (;;) {
        if (peek_is(p, "!")) {
            take(p);
            *negated = !*negated;
        } else if (peek_is(p, "time")) {
            take(p);
            *timed = MAX(*timed, 1);
            if (peek_is(p, "-p")) {
                take(p);
                *timed = 2;
            }
            if (peek_is(p, "--")) {
                take(p);
                *timed = 2;
            }
        } else {
            return;
        }
    }
}

/* What `time` and `!` may stand before without a command. */
static bool ends_command(TokenKind kind) { return kind == TOK_NEWLINE || kind == TOK_SEMI || kind == TOK_EOF; }

Node *parse_pipeline(Parser *p)
{
    uint32_t line = line_of(p, peek(p)->start);
    bool negated = false, prefixed = (peek_is(p, "!") || peek_is(p, "time")) && p->token.start != p->stale;
    uint8_t timed = 0;
    if (!prefixed)
        return parse_stages(p);
    parse_prefixes(p, &negated, &timed);
    Node *body = NULL;
    if (!ends_command(peek(p)->kind))
        body = parse_stages(p);
    if (!body || body->kind != NODE_PIPELINE) {
        Node *n = new_node(p, NODE_PIPELINE, line);
        if (body) {
            n->pipeline.stages = GET(p, Node *);
            n->pipeline.both = GET(p, bool);
            n->pipeline.stages[0] = body;
            n->pipeline.count = 1;
        }
        body = n;
    }
    body->line = line;
    body->negated = negated;
    body->timed = timed;
    return body;
}

/* ---- lists ---- */

static Node *parse_and_or(Parser *p)
{
    Node *left = parse_pipeline(p);
    unsigned chain = 0;
    for (;;) {
        TokenKind kind = peek(p)->kind;
        if (kind != TOK_AND_AND && kind != TOK_OR_OR)
            return left;
        if (++chain > 5000)
            fail_at(p, p->at, "syntax error: list too long (limit 5000)");
        take(p);
        skip_newlines(p);
        left = new_pair(p, kind == TOK_AND_AND ? NODE_AND : NODE_OR, left, parse_pipeline(p));
    }
}

static Node *finish_list(Parser *p, size_t base, uint32_t line)
{
    uint32_t count;
    ListItem *items = take_array(p, base, sizeof *items, &count);
    if (count == 1 && !items->background)
        return items->node;
    Node *n = new_node(p, NODE_LIST, line);
    n->list.items = items;
    n->list.count = count;
    return n;
}

static bool begins_command(Parser *p)
{
    static const char *const closers[] = {"then", "else", "elif", "fi", "do", "done", "esac", "}"};
    const Token *t = peek(p);
    if (t->kind == TOK_LPAREN || t->kind == TOK_NUMBER || t->kind == TOK_VAR || is_redir(t->kind))
        return true;
    if (t->kind != TOK_WORD)
        return false;
    if (t->plain && t->end - t->start <= 4)
        for (size_t i = 0; i < ARRAY_LEN(closers); i++)
            if (peek_is(p, closers[i]))
                return false;
    return true;
}

static void push_item(Parser *p, Node *n, TokenKind after)
{
    ListItem item = {n, after == TOK_AND, after == TOK_NEWLINE};
    push(p, &item, sizeof item);
}

Node *parse_list(Parser *p)
{
    enter(p);
    skip_newlines(p);
    size_t base = p->top;
    uint32_t line = line_of(p, peek(p)->start);
    do {
        Node *n = parse_and_or(p);
        TokenKind kind = peek(p)->kind;
        push_item(p, n, kind);
        if (kind != TOK_SEMI && kind != TOK_AND && kind != TOK_NEWLINE)
            break;
        take(p);
        skip_newlines(p);
    } while (begins_command(p));
    leave(p);
    return finish_list(p, base, line);
}

/* What follows a complete list is wrong: bash has read the bodies of its here-documents by then, and counts their lines. */
NORETURN static void fail_behind_bodies(Parser *p)
{
    if (!p->pending || peek(p)->kind == TOK_EOF)
        fail_token(p);
    Token wrong = p->token;
    const char *newline = memchr(wrong.end, '\n', (size_t)(p->frame->end - wrong.end)) ?: p->frame->end;
    const char *s = heredoc_read(p, newline + (*newline != 0));
    p->error_line = line_of(p, s) - (s > p->frame->start && s[-1] == '\n');
    p->token = wrong;
    p->have = true;
    fail_token(p);
}

Node *parse_line(Parser *p)
{
    size_t base = p->top;
    uint32_t line = line_of(p, peek(p)->start);
    for (;;) {
        Node *n = parse_and_or(p);
        TokenKind kind = peek(p)->kind;
        push_item(p, n, kind);
        if (kind == TOK_SEMI || kind == TOK_AND)
            take(p);
        else if (kind != TOK_NEWLINE && kind != TOK_EOF)
            fail_behind_bodies(p);
        kind = peek(p)->kind;
        if (kind == TOK_NEWLINE || kind == TOK_EOF)
            break;
        if (p->pending && !begins_command(p))
            fail_behind_bodies(p);
    }
    return finish_list(p, base, line);
}

/* ---- units ---- */

static void finish_pending(Parser *p)
{
    if (p->pending)
        heredoc_read(p, p->frame->end);
}

static void unit_work(Parser *p, Unit *unit)
{
    while (peek(p)->kind == TOK_NEWLINE)
        take(p);
    unit->line = line_of(p, peek(p)->start);
    p->stale = p->options.stale_word ? peek(p)->start : NULL;
    p->options.stale_word = false;
    if (peek(p)->kind == TOK_EOF) {
        unit->node = NULL;
        return;
    }
    unit->node = parse_line(p);
    unit->end_line = line_of(p, peek(p)->kind == TOK_NEWLINE ? p->token.end - 1 : p->token.start);
    if (peek(p)->kind == TOK_NEWLINE)
        take(p);
    finish_pending(p);
}

/* setjmp in a frame whose values are all set before it. */
static int try_unit(Parser *p, Unit *unit)
{
    jmp_buf jump;
    p->guard = &jump;
    int code = setjmp(jump);
    if (code == 0)
        unit_work(p, unit);
    return code;
}

static void unit_reset(Parser *p)
{
    p->have = false;
    p->depth = 0;
    p->substitutions = 0;
    p->top = 0;
    p->expansions = 0;
    p->arith_opened = NULL;
    p->reread = p->reread_end = NULL;
    p->cond = NULL;
    p->cond_open = 0;
    p->cond_cut = NULL;
    p->error_line = 0;
    p->in_items = p->in_value = false;
    p->within = p->paired = p->limit = NULL;
    p->in_dquotes = 0;
    p->text_open = p->comsub_open = NULL;
    p->pending = NULL;
    p->pending_tail = &p->pending;
    p->warnings = NULL;
    p->nwarnings = 0;
    p->error = (ParseError){.status = 2};
}

/* Out of aliases whose own text has been read. */
static void leave_aliases(Parser *p)
{
    while (p->frame->parent && p->at >= p->frame->fresh) {
        p->at = p->frame->resume - (p->frame->end - p->at);
        p->frame = p->frame->parent;
    }
}

/* Parses the unit, again with more text behind its aliases as long as one ends inside a token. */
static int run_unit(Parser *p, Unit *unit)
{
    leave_aliases(p);
    Frame *frame = p->frame;
    const char *at = p->at;
    p->splice = SPLICE_FIRST;
    for (;;) {
        unit_reset(p);
        int code = try_unit(p, unit);
        if (code != JUMP_AGAIN)
            return code;
        size_t whole = (size_t)(frame->end - frame->start);
        if (frame->parent || p->splice > whole) {
            p->frame = frame;
            p->error.message = "line 0: syntax error: an alias ends in the middle of a word";
            return JUMP_ERROR;
        }
        p->splice = p->splice < 4096 ? 4096 : p->splice * 4;
        p->frame = frame;
        p->at = at;
    }
}

static void skip_line(Parser *p)
{
    const char *newline = memchr(p->at, '\n', (size_t)(p->frame->end - p->at));
    p->at = newline ? newline + 1 : p->frame->end;
    p->have = false;
}

ParseState parser_next(Parser *p, Unit *unit, ParseError *error)
{
    *unit = (Unit){0};
    *error = (ParseError){0};
    if (p->ended)
        return PARSE_END;
    if (p->options.discard && !p->frame->parent)
        mem_recycle(&p->unit);
    int code = run_unit(p, unit);
    p->guard = NULL;
    if (code) {
        *error = p->error;
        p->ended = !error->resume;
        if (error->resume)
            skip_line(p);
        return PARSE_ERROR;
    }
    if (unit->node)
        return PARSE_UNIT;
    p->ended = true;
    return PARSE_END;
}

/* ---- texts that are not scripts ---- */

typedef struct {
    Word *word;
    Assign *assign;
} Piece;

static void dquote_work(Parser *p, void *arg)
{
    Piece *piece = arg;
    piece->word = read_parts(p, MODE_TEXT, READ_QUOTED, 0);
}

static void assign_work(Parser *p, void *arg)
{
    Piece *piece = arg;
    if (!assignment_value(p->at))
        fail_at(p, p->at, "syntax error near unexpected token `%.100s'", p->at);
    Assign *a = GET(p, Assign);
    parse_assign(p, a, true);
    if (*p->at)
        fail_token(p);
    piece->assign = a;
}

static int try_piece(Parser *p, void (*work)(Parser *p, void *arg), Piece *piece)
{
    jmp_buf jump;
    p->guard = &jump;
    int code = setjmp(jump);
    if (code == 0)
        work(p, piece);
    return code;
}

static Piece parse_piece(Mem *mem, Slice text, const ParseOptions *options, ParseError *error, void (*work)(Parser *p, void *arg))
{
    Parser p;
    Piece piece = {0};
    parser_init(&p, mem, options);
    *error = (ParseError){0};
    if (!parser_open(&p, text, 1, false)) {
        *error = (ParseError){.message = "line 0: cannot allocate memory", .no_memory = true};
        return piece;
    }
    p.error.status = 2;
    if (try_piece(&p, work, &piece)) {
        *error = p.error;
        return (Piece){0};
    }
    return piece;
}

Word *parse_dquote_text(Mem *mem, Slice text, const ParseOptions *options, ParseError *error)
{
    return parse_piece(mem, text, options, error, dquote_work).word;
}

Assign *parse_assignment(Mem *mem, Slice text, const ParseOptions *options, ParseError *error)
{
    return parse_piece(mem, text, options, error, assign_work).assign;
}

bool name_valid(Slice text)
{
    if (!text.len || !is(text.data[0], CH_NAME))
        return false;
    for (size_t i = 1; i < text.len; i++)
        if (!is(text.data[i], CH_NAME | CH_DIGIT))
            return false;
    return true;
}

/* Whether the [ at the start has its ] at the end: brackets within are paired and quotes closed. */
static bool closes_at_end(Slice s)
{
    size_t depth = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        if (c == '\\') {
            i++;
        } else if (c == '\'' || c == '"') {
            size_t n = slice_find(slice_from(s, i + 1), c);
            if (i + 1 + n >= s.len)
                return false;
            i += n + 1;
        } else if (c == '[') {
            depth++;
        } else if (c == ']' && --depth == 0) {
            return i + 1 == s.len;
        }
    }
    return false;
}

bool parse_reference(Slice text, Slice *name, Slice *subscript)
{
    size_t open = slice_find(text, '[');
    *name = slice(text.data, open);
    *subscript = (Slice){0};
    if (!name_valid(*name))
        return false;
    if (open == text.len)
        return true;
    if (text.data[text.len - 1] != ']' || text.len - open < 3 || !closes_at_end(slice_from(text, open)))
        return false;
    *subscript = slice(text.data + open + 1, text.len - open - 2);
    return true;
}
