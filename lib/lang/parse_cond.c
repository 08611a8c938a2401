/* parse_cond: [[ ... ]]. Precedence: ( ), !, &&, ||. */
#include "parser.h"

static Cond *parse_or(Parser *p);

static Cond *new_cond(Parser *p, CondKind kind)
{
    Cond *c = GET(p, Cond);
    c->kind = kind;
    return c;
}

/* bash misses the parentheses that are open, too, each in a line of its own. */
void add_expected(Parser *p, unsigned times)
{
    Buf b;
    buf_init(&b, p->mem, 1 << 16);
    for (unsigned i = 0; i < times; i++)
        buf_printf(&b, "%sline %u: expected `)'", i ? "\n" : "", line_of(p, p->cond));
    buf_char(&b, 0);
    if (times)
        p->error.more = b.data;
}

/* bash leaves $? as it was and reads no further, but for a command that the end of the text cuts off. */
static void set_status(Parser *p)
{
    const Token *t = peek(p);
    bool cut = t->kind == TOK_EOF || (t->kind == TOK_NEWLINE && t->end == p->frame->end);
    p->error.status = cut ? 2 : -1;
    p->error.or_last = p->error.unclosed = cut;
    p->error.in_cond = true;
    add_expected(p, p->cond_open);
}

static NORETURN void fail_cond(Parser *p, const char *before, const char *after)
{
    const Token *t = peek(p);
    set_status(p);
    if (t->kind == TOK_EOF)
        fail_at(p, t->start, "%s`EOF'%s", before, after);
    if (t->kind == TOK_NEWLINE)
        fail_at(p, t->start, "%s`newline'%s", before, after);
    const char *start = t->start, *end = t->end;
    if (t->kind == TOK_WORD && !t->plain) {
        read_word(p, 0);
        end = p->at;
    }
    fail_at(p, start, "%s`%.*s'%s", before, (int)MIN(end - start, 800), start, after);
}

static Word *read_operand(Parser *p, const char *cut)
{
    const Token *t = peek(p);
    if (t->kind == TOK_NUMBER || t->kind == TOK_VAR) {
        p->token.kind = TOK_WORD;
        p->token.plain = true;
    }
    p->cond_cut = cut;
    Word *w = read_word(p, READ_TILDE);
    p->cond_cut = NULL;
    return w;
}

static bool is_operand(Parser *p)
{
    TokenKind kind = peek(p)->kind;
    return (kind == TOK_WORD || kind == TOK_NUMBER || kind == TOK_VAR) && !peek_is(p, "]]");
}

static bool is_unary(Parser *p)
{
    const Token *t = peek(p);
    return t->kind == TOK_WORD && t->plain && t->end - t->start == 2 && t->start[0] == '-' && strchr("abcdefghknoprstuvwxzGLNORS", t->start[1]);
}

static TestOp binary_operator(Parser *p, bool *single)
{
    static const struct { const char *text; TestOp op; } table[] = {
        {"==", TEST_EQ}, {"=", TEST_EQ}, {"!=", TEST_NE}, {"=~", TEST_MATCH}, {"-eq", TEST_NUM_EQ}, {"-ne", TEST_NUM_NE},
        {"-lt", TEST_NUM_LT}, {"-le", TEST_NUM_LE}, {"-gt", TEST_NUM_GT}, {"-ge", TEST_NUM_GE}, {"-nt", TEST_NEWER},
        {"-ot", TEST_OLDER}, {"-ef", TEST_SAME},
    };
    TokenKind kind = peek(p)->kind;
    if (kind == TOK_LESS || kind == TOK_GREAT)
        return kind == TOK_LESS ? TEST_LT : TEST_GT;
    /* =~ is not plain: its tilde could be one after an assignment */
    const Token *t = peek(p);
    if (t->kind == TOK_WORD && t->start[0] == '=' && t->start[1] == '~' && is(t->start[2], CH_META)) {
        p->token.end = t->start + 2;
        return TEST_MATCH;
    }
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (peek_is(p, table[i].text)) {
            *single = i == 1;
            return table[i].op;
        }
    return TEST_NONE;
}

static Cond *parse_unary(Parser *p)
{
    Cond *c = new_cond(p, COND_UNARY);
    c->unary = peek(p)->start[1];
    take(p);
    if (!is_operand(p))
        fail_cond(p, "unexpected argument ", " to conditional unary operator");
    c->left = read_operand(p, "unexpected argument to conditional unary operator");
    return c;
}

static void skip_to_operand(Parser *p)
{
    while (is(*p->at, CH_BLANK) || (*p->at == '\\' && p->at[1] == '\n'))
        p->at += *p->at == '\\' ? 2 : 1;
}

static Cond *parse_binary(Parser *p, Word *left)
{
    Cond *c = new_cond(p, COND_BINARY);
    bool single = false;
    c->left = left;
    c->op = binary_operator(p, &single);
    c->single_equal = single;
    if (c->op == TEST_NONE) {
        const Token *t = peek(p);
        const char *start = t->start;
        bool word = t->kind == TOK_WORD || t->kind == TOK_NUMBER;
        if (!word)
            fail_cond(p, "unexpected token ", ", conditional binary operator expected");
        ParseError before = p->error;
        set_status(p);
        ParseError told = p->error;
        p->error = before;
        p->cond_cut = "conditional binary operator expected";
        read_word(p, 0); /* its end may be missing: then that is the error */
        p->error = told;
        fail_at(p, start, "conditional binary operator expected");
    }
    take(p);
    if (c->op == TEST_MATCH) {
        skip_to_operand(p);
        if (p->at[0] == ']' && p->at[1] == ']' && is(p->at[2], CH_META))
            fail_cond(p, "unexpected argument ", " to conditional binary operator");
        p->error.in_cond = true;
        p->cond_cut = "unexpected argument to conditional binary operator";
        c->right = read_parts(p, MODE_REGEX, READ_TILDE, 0);
        p->cond_cut = NULL;
        if (!c->right->source.len)
            fail_cond(p, "unexpected argument ", " to conditional binary operator");
        return c;
    }
    if (!is_operand(p))
        fail_cond(p, "unexpected argument ", " to conditional binary operator");
    /* Extglob patterns whatever the option says: not by the token, which knows only the option. */
    p->at = peek(p)->start;
    p->cond_cut = "unexpected argument to conditional binary operator";
    bool pattern = c->op == TEST_EQ || c->op == TEST_NE;
    c->right = read_parts(p, MODE_WORD, READ_TILDE | (pattern ? READ_PATTERN : 0), 0);
    p->cond_cut = NULL;
    return c;
}

static Cond *parse_term_word(Parser *p)
{
    Word *left = read_operand(p, "unexpected token `\377' in conditional command"); /* EOF as a character */
    const Token *t = peek(p);
    if (t->kind == TOK_AND_AND || t->kind == TOK_OR_OR || t->kind == TOK_RPAREN || peek_is(p, "]]")) {
        Cond *c = new_cond(p, COND_WORD);
        c->left = left;
        return c;
    }
    return parse_binary(p, left);
}

static Cond *parse_term(Parser *p)
{
    skip_newlines(p);
    enter(p);
    Cond *c;
    const Token *t = peek(p);
    if (t->kind == TOK_LPAREN) {
        const char *opened = t->start;
        take(p);
        c = new_cond(p, COND_GROUP);
        p->cond_open++;
        c->a = parse_or(p);
        p->cond_open--;
        if (!take_if(p, TOK_RPAREN)) {
            if (peek(p)->kind == TOK_EOF) {
                set_status(p);
                fail_at(p, p->cond, "unexpected token `EOF', expected `)'");
            }
            if (is_operand(p)) {
                set_status(p);
                fail_at(p, opened, "expected `)'");
            }
            fail_cond(p, "unexpected token ", ", expected `)'");
        }
    } else if (peek_is(p, "!")) {
        take(p);
        c = new_cond(p, COND_NOT);
        c->a = parse_term(p);
    } else if (is_unary(p)) {
        c = parse_unary(p);
    } else if (is_operand(p)) {
        c = parse_term_word(p);
    } else {
        set_status(p);
        if ((peek_is(p, "]]") || t->kind == TOK_NEWLINE) && p->error.more) {
            const char *all = p->error.more;
            p->error.more = NULL;
            fail_whole(p, p->cond, all);
        }
        if (peek_is(p, "]]") || t->kind == TOK_NEWLINE)
            fail_silent(p, t->start); /* bash says nothing and reads no further */
        fail_cond(p, "unexpected token ", " in conditional command");
    }
    skip_newlines(p);
    leave(p);
    return c;
}

static Cond *join(Parser *p, CondKind kind, Cond *a, Cond *b)
{
    Cond *c = new_cond(p, kind);
    c->a = a;
    c->b = b;
    return c;
}

static Cond *parse_and(Parser *p)
{
    Cond *c = parse_term(p);
    if (!take_if(p, TOK_AND_AND))
        return c;
    enter(p);
    c = join(p, COND_AND, c, parse_and(p));
    leave(p);
    return c;
}

static Cond *parse_or(Parser *p)
{
    Cond *c = parse_and(p);
    if (!take_if(p, TOK_OR_OR))
        return c;
    enter(p);
    c = join(p, COND_OR, c, parse_or(p));
    leave(p);
    return c;
}

Node *parse_cond(Parser *p)
{
    Node *n = new_node(p, NODE_COND, line_of(p, peek(p)->start));
    p->cond = peek(p)->start;
    p->cond_open = 0;
    take(p);
    if (p->options.stale_cond)
        fail_token(p);
    n->cond.cond = parse_or(p);
    if (!peek_is(p, "]]")) {
        set_status(p);
        if (peek(p)->kind == TOK_EOF)
            fail_at(p, p->cond, "unexpected EOF while looking for `]]'");
        if (p->token.kind != TOK_WORD && p->token.kind != TOK_NUMBER && p->token.kind != TOK_VAR && p->token.kind != TOK_NEWLINE)
            fail_at(p, p->cond, "syntax error in conditional expression: unexpected token `%.*s'",
                    (int)(p->token.end - p->token.start), p->token.start);
        fail_at(p, p->cond, "syntax error in conditional expression");
    }
    n->line = line_of(p, p->token.start); /* bash numbers it by its end */
    take(p);
    return n;
}
