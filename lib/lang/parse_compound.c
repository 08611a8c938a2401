/* parse_compound: everything that begins with a reserved word or a parenthesis. */
#include "parser.h"

static void expect(Parser *p, const char *keyword)
{
    if (!peek_is(p, keyword))
        fail_token(p);
    take(p);
}

static Node *parse_group(Parser *p, uint32_t line)
{
    Node *n = new_node(p, NODE_GROUP, line);
    take(p);
    n->group.body = parse_list(p);
    expect(p, "}");
    return n;
}

/* ---- if, while, until ---- */

static Node *parse_if(Parser *p, uint32_t line)
{
    Node *first = NULL, **place = &first;
    for (;;) {
        Node *n = *place = new_node(p, NODE_IF, line);
        take(p);
        n->branch.cond = parse_list(p);
        expect(p, "then");
        n->branch.then = parse_list(p);
        if (!peek_is(p, "elif"))
            break;
        line = line_of(p, peek(p)->start);
        n->branch.elif = true;
        place = &n->branch.otherwise;
    }
    if (peek_is(p, "else")) {
        take(p);
        (*place)->branch.otherwise = parse_list(p);
    }
    expect(p, "fi");
    return first;
}

static Node *parse_loop(Parser *p, NodeKind kind, uint32_t line)
{
    Node *n = new_node(p, kind, line);
    take(p);
    n->loop.cond = parse_list(p);
    expect(p, "do");
    n->loop.body = parse_list(p);
    expect(p, "done");
    return n;
}

/* ---- for, select ---- */

static Node *parse_do_body(Parser *p)
{
    bool braces = peek_is(p, "{");
    if (!braces && !peek_is(p, "do"))
        fail_token(p);
    take(p);
    Node *body = parse_list(p);
    expect(p, braces ? "}" : "done");
    return body;
}

static void skip_blank_text(Parser *p)
{
    while (is(*p->at, CH_BLANK) || *p->at == '\n' || (*p->at == '\\' && p->at[1] == '\n'))
        p->at++;
}

static char *for_text(Parser *p, const char *start, const char *end)
{
    char *text = mem_printf(p->mem, "line %u: syntax error: `%.*s'", line_of(p, start), (int)MIN(end - start, 1 << 20), start);
    if (!text)
        fail_memory(p);
    return text;
}

static NORETURN void fail_for(Parser *p, const char *start, const char *end)
{
    p->error.second = for_text(p, start, end);
    fail_at(p, start, "syntax error: arithmetic expression required");
}

static Word *read_clause(Parser *p, char stop, Arith **code)
{
    skip_blank_text(p);
    Word *w = read_parts(p, MODE_ARITH, READ_QUOTED, stop);
    *code = w->count ? arith_compile(p->mem, w) : NULL;
    return w->count ? w : NULL;
}

static Node *parse_arith_for(Parser *p, uint32_t line)
{
    const char *start = peek(p)->start, *end = skip_parens(start + 2, '(', ')');
    if (!end) {
        need_more(p);
        fail_parens(p, start, start + 2, ")");
    }
    if (end[1] != ')') {
        p->error.status = -1;
        fail_silent(p, start); /* as bash: no message, and the script is over */
    }
    Node *n = new_node(p, NODE_ARITH_FOR, line);
    p->at = start + 2;
    p->have = false;
    n->cfor.init = read_clause(p, ';', &n->cfor.init_code);
    if (*p->at++ != ';')
        fail_for(p, start, end + 2);
    n->cfor.cond = read_clause(p, ';', &n->cfor.cond_code);
    if (*p->at++ != ';')
        fail_for(p, start, end + 2);
    n->cfor.step = read_clause(p, ')', &n->cfor.step_code);
    if (n->cfor.step && slice_find(n->cfor.step->source, ';') < n->cfor.step->source.len) {
        p->error.second = for_text(p, start, end + 2);
        fail_at(p, start, "syntax error: `;' unexpected");
    }
    if (p->at != end)
        fail_for(p, start, end + 2);
    p->at = end + 2;
    p->have = false;
    take_if(p, TOK_SEMI);
    skip_newlines(p);
    n->cfor.body = parse_do_body(p);
    return n;
}

static void read_words(Parser *p, Node *n)
{
    size_t base = p->top;
    n->each.in_given = true;
    while (peek(p)->kind == TOK_WORD) {
        Word *w = read_word(p, READ_BRACES | READ_TILDE | READ_ASSIGN);
        push(p, &w, sizeof(Word *));
    }
    n->each.words = take_array(p, base, sizeof(Word *), &n->each.count);
    if (peek(p)->kind != TOK_SEMI && peek(p)->kind != TOK_NEWLINE)
        fail_token(p);
    take(p);
}

static Node *parse_each(Parser *p, NodeKind kind, uint32_t line)
{
    take(p);
    const Token *t = peek(p);
    if (kind == NODE_FOR && t->kind == TOK_LPAREN && t->start[1] == '(')
        return parse_arith_for(p, line);
    if (t->kind != TOK_WORD)
        fail_token(p);
    Node *n = new_node(p, kind, line);
    Word *w = read_word(p, 0);
    n->each.var = make_name(p, w->source);
    n->each.bad_name = !name_valid(w->source);
    if (take_if(p, TOK_SEMI)) {
        skip_newlines(p);
    } else {
        skip_newlines(p);
        if (peek_is(p, "in")) {
            take(p);
            read_words(p, n);
            skip_newlines(p);
        }
    }
    n->each.body = parse_do_body(p);
    return n;
}

/* ---- case ---- */

static CaseEnd take_case_end(Parser *p)
{
    TokenKind kind = peek(p)->kind;
    take(p);
    return kind == TOK_SEMI_AND ? CASE_FALL : kind == TOK_SEMI_SEMI_AND ? CASE_TEST : CASE_BREAK;
}

static bool is_case_end(TokenKind kind) { return kind == TOK_SEMI_SEMI || kind == TOK_SEMI_AND || kind == TOK_SEMI_SEMI_AND; }

static void parse_case_item(Parser *p)
{
    CaseItem item = {0};
    size_t base = p->top;
    take_if(p, TOK_LPAREN);
    do {
        if (peek(p)->kind != TOK_WORD)
            fail_token(p);
        Word *w = read_word(p, READ_TILDE);
        push(p, &w, sizeof(Word *));
    } while (take_if(p, TOK_OR));
    item.patterns = take_array(p, base, sizeof(Word *), &item.count);
    if (!take_if(p, TOK_RPAREN))
        fail_token(p);
    skip_newlines(p);
    if (!is_case_end(peek(p)->kind) && !peek_is(p, "esac"))
        item.body = parse_list(p);
    if (is_case_end(peek(p)->kind))
        item.end = take_case_end(p);
    else if (!peek_is(p, "esac"))
        fail_token(p);
    push(p, &item, sizeof item);
}

static Node *parse_case(Parser *p, uint32_t line)
{
    take(p);
    if (peek(p)->kind != TOK_WORD)
        fail_token(p);
    Node *n = new_node(p, NODE_CASE, line);
    n->kase.subject = read_word(p, READ_TILDE);
    skip_newlines(p);
    expect(p, "in");
    size_t base = p->top;
    for (;;) {
        skip_newlines(p);
        if (peek_is(p, "esac"))
            break;
        parse_case_item(p);
    }
    take(p);
    n->kase.items = take_array(p, base, sizeof(CaseItem), &n->kase.count);
    return n;
}

/* ---- ( and (( ---- */

static Node *parse_arith_command(Parser *p, const char *start, const char *end, uint32_t line)
{
    Node *n = new_node(p, NODE_ARITH, line);
    p->at = start + 2;
    p->have = false;
    const char *outer = p->limit;
    p->limit = end;
    n->arith.text = read_parts(p, MODE_ARITH, READ_QUOTED, ')');
    p->limit = outer;
    n->arith.text->source = slice(start + 2, (size_t)(end - start - 2));
    n->arith.code = arith_compile(p->mem, n->arith.text);
    n->line = line_of(p, end);
    p->at = end + 2;
    p->have = false;
    return n;
}

/* ((...) and the end of the line: bash has read too far to take it for two subshells, and shows the line's last word. */
static NORETURN void fail_half_arith(Parser *p, const char *end)
{
    const char *word = end + 1;
    while (word > p->frame->start && !strchr(" \t\n;|&", word[-1]))
        word--;
    word -= word > p->frame->start && strchr(";|&", word[-1]) != NULL;
    quote_line(p, end);
    fail_at(p, end, "syntax error near `%.*s'", (int)MIN(end + 1 - word, 900), word);
}

static Node *parse_paren(Parser *p, uint32_t line)
{
    const char *start = peek(p)->start, *reread = p->reread, *reread_end = p->reread_end, *half = NULL;
    if (start[1] == '(' && start != p->stale) {
        const char *end = skip_parens(start + 2, '(', ')');
        if (!end) {
            need_more(p);
            fail_parens(p, start, start + 2, ")");
        }
        if (end[1] == ')')
            return parse_arith_command(p, start, end, line);
        half = end[1] == '\n' || !end[1] ? end : NULL;
        p->reread = start + 1;
        p->reread_end = end + 2;
    }
    Node *n = new_node(p, NODE_SUBSHELL, line);
    take(p);
    n->group.body = parse_list(p);
    p->reread = reread;
    p->reread_end = reread_end;
    if (half)
        fail_half_arith(p, half);
    n->line = line_of(p, peek(p)->start); /* bash notes the line when it has read the whole */
    if (!take_if(p, TOK_RPAREN))
        fail_token(p);
    return n;
}

/* ---- functions, coproc ---- */

Node *parse_function_body(Parser *p, Slice name, bool keyword, const char *start, uint32_t line)
{
    Node *n = new_node(p, NODE_FUNCTION, line);
    const Frame *frame = p->frame;
    n->function.name = make_name(p, name);
    n->function.keyword = keyword;
    skip_newlines(p);
    Node *body = parse_compound(p);
    if (!body || body->kind == NODE_FUNCTION || body->kind == NODE_COPROC)
        fail_token(p);
    parse_redirs(p, body);
    n->function.body = body;
    /* With aliases in it the text is not in one piece. */
    if (p->frame == frame && start)
        n->function.source = slice(start, (size_t)(p->at - start));
    return n;
}

static Node *parse_function(Parser *p, uint32_t line)
{
    const char *start = peek(p)->start;
    take(p);
    if (peek(p)->kind != TOK_WORD)
        fail_token(p);
    Word *w = read_word(p, 0);
    if (peek(p)->kind == TOK_LPAREN && p->token.start[1] != '(') {
        const char *at = p->at;
        take(p);
        if (!take_if(p, TOK_RPAREN)) { /* function f ( list ): the subshell is the body */
            p->at = at;
            p->have = false;
        }
    }
    Node *n = parse_function_body(p, w->source, true, start, line);
    n->function.bad_name = (w->flags & WORD_QUOTED) || !(w->flags & WORD_LITERAL) || memchr(w->source.data, '\\', w->source.len);
    return n;
}

static Node *parse_coproc(Parser *p, uint32_t line)
{
    Node *n = new_node(p, NODE_COPROC, line);
    n->coproc.name = make_name(p, SLICE("COPROC"));
    take(p);
    if (peek(p)->kind == TOK_WORD && p->token.plain && !begins_compound(p)) {
        Token name = p->token;
        const char *at = p->at;
        const Frame *frame = p->frame;
        take(p);
        if (begins_compound(p) && p->frame == frame) {
            n->coproc.name = make_name(p, slice(name.start, (size_t)(name.end - name.start)));
            n->coproc.named = true;
        } else if (p->frame == frame) {
            p->at = at;
            p->have = false;
        }
    }
    if (peek_is(p, "!"))
        fail_token(p);
    n->coproc.body = parse_command(p);
    return n;
}

/* ---- dispatch ---- */

typedef enum { KW_NONE, KW_IF, KW_FOR, KW_CASE, KW_WHILE, KW_UNTIL, KW_SELECT, KW_FUNCTION, KW_COPROC, KW_GROUP, KW_COND } Keyword;

static Keyword keyword_at(Parser *p)
{
    static const struct { const char *text; Keyword keyword; } table[] = {
        {"if", KW_IF}, {"for", KW_FOR}, {"case", KW_CASE}, {"while", KW_WHILE}, {"until", KW_UNTIL}, {"select", KW_SELECT},
        {"function", KW_FUNCTION}, {"coproc", KW_COPROC}, {"{", KW_GROUP}, {"[[", KW_COND},
    };
    const Token *t = peek(p);
    if (t->kind != TOK_WORD || !t->plain || t->end - t->start > 8 || t->start == p->stale)
        return KW_NONE;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (peek_is(p, table[i].text))
            return table[i].keyword;
    return KW_NONE;
}

bool begins_compound(Parser *p) { return peek(p)->kind == TOK_LPAREN || keyword_at(p) != KW_NONE; }

Node *parse_compound(Parser *p)
{
    const Token *t = peek(p);
    uint32_t line = line_of(p, t->start);
    if (t->kind == TOK_LPAREN)
        return parse_paren(p, line);
    switch (keyword_at(p)) {
    case KW_NONE: return NULL;
    case KW_IF: return parse_if(p, line);
    case KW_FOR: return parse_each(p, NODE_FOR, line);
    case KW_SELECT: return parse_each(p, NODE_SELECT, line);
    case KW_CASE: return parse_case(p, line);
    case KW_WHILE: return parse_loop(p, NODE_WHILE, line);
    case KW_UNTIL: return parse_loop(p, NODE_UNTIL, line);
    case KW_FUNCTION: return parse_function(p, line);
    case KW_COPROC: return parse_coproc(p, line);
    case KW_GROUP: return parse_group(p, line);
    case KW_COND: return parse_cond(p);
    }
    return NULL;
}

static bool is_closer(Parser *p)
{
    static const char *const closers[] = {"then", "else", "elif", "fi", "do", "done", "esac", "}", "in", "]]"};
    const Token *t = peek(p);
    if (t->kind != TOK_WORD || !t->plain || t->end - t->start > 4)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(closers); i++)
        if (peek_is(p, closers[i]) && (t->start != p->stale || peek_is(p, "]]")))
            return true;
    return false;
}

Node *parse_command(Parser *p)
{
    enter(p);
    while (expand_alias(p))
        ;
    if (is_closer(p))
        fail_token(p);
    Node *n = parse_compound(p);
    if (!n)
        n = parse_simple(p);
    else if (n->kind != NODE_FUNCTION && n->kind != NODE_COPROC)
        parse_redirs(p, n);
    leave(p);
    return n;
}
