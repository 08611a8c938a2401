/* parse: the parser's state and small steps, shared by parse.c and parse_module.c. */
#ifndef LIBSHELL_JQ_PARSE_H
#define LIBSHELL_JQ_PARSE_H

#include "ast.h"

typedef struct {
    J *j;
    Mem *mem;
    Lexer lex;
    Token tok;       /* the one to look at */
    uint32_t last_end; /* of the one before */
    Source *source;
    Errors *errors;
    bool failed;
    unsigned depth;
    Slice refs[8];     /* yq: names bound by ref */
    unsigned nrefs;
} Parser;

enum { PARSE_ROOM = 24 << 10 };

Node *jq_parse_query(Parser *p);
Node *jq_parse_expr(Parser *p, int least); /* operators of that level and tighter */
Node *jq_parse_postfix(Parser *p);
Node *jq_parse_string(Parser *p); /* with or without @format before it */
Function *jq_parse_def(Parser *p); /* behind def */
void jq_check_key(Parser *p, const Node *key, uint32_t start, uint32_t end); /* an error when it is constant and no string */

/* parse_yq.c: what yq's language has more. NULL or false: nothing of that is here. */
Node *jq_parse_yq_field(Parser *p, Node *term, Token t); /* .na*e */
bool jq_parse_yq_operator(Parser *p, Node **left, int least);
bool jq_parse_yq_behind(const Parser *p); /* the word goes on with the term before it */
Node *jq_parse_yq_ref(Parser *p, Node *left); /* EXPR ref $x | query */
Node *jq_parse_yq_variable(Parser *p, Token t);
Node *jq_parse_yq_update(Parser *p, Node *assignment);
Node *jq_parse_yq_format(Parser *p, Token t);

/* "syntax error, unexpected X[, expecting Y]" at the current token; `expecting` is bison's list, or NULL. */
static inline Node *syntax(Parser *p, const char *expecting)
{
    char buf[8];
    if (p->failed)
        return NULL;
    p->failed = true;
    jq_errors_add(p->errors, p->source, p->tok.start, p->tok.end, "syntax error, unexpected %s%s%s", jq_token_name(p->tok.type, buf),
               expecting ? ", expecting " : "", expecting ? expecting : "");
    return NULL;
}

static inline void fail_at(Parser *p, uint32_t start, uint32_t end, const char *message)
{
    jq_errors_add(p->errors, p->source, start, end, "%s", message);
    p->failed = true;
}

/* ---------- tokens and nodes ---------- */

static inline void next(Parser *p)
{
    p->last_end = p->tok.end;
    p->tok = jq_lex_next(&p->lex);
}

static inline bool accept(Parser *p, int type)
{
    if (p->failed || p->tok.type != type)
        return false;
    next(p);
    return true;
}

static inline bool expect(Parser *p, int type, const char *expecting)
{
    if (p->failed)
        return false;
    if (p->tok.type == type) {
        next(p);
        return true;
    }
    syntax(p, expecting);
    return false;
}

static inline Node *node(Parser *p, NodeKind kind, uint32_t start)
{
    Node *n = mem_new(p->mem, Node);
    n->kind = (uint8_t)kind;
    n->start = start;
    n->source = p->source;
    return n;
}

static inline Node *done(Parser *p, Node *n)
{
    n->end = p->last_end;
    return n;
}

static inline Node *two(Parser *p, NodeKind kind, Node *a, Node *b)
{
    Node *n = node(p, kind, a ? a->start : 0);
    n->a = a;
    n->b = b;
    return done(p, n);
}

typedef struct {
    Node **items;
    size_t count, cap;
} List;

static inline void list_add(Parser *p, List *l, Node *n)
{
    if (l->count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 4;
        l->items = mem_grow(p->mem, l->items, l->cap * sizeof *l->items, cap * sizeof *l->items);
        l->cap = cap;
    }
    l->items[l->count++] = n;
}

static inline Node *string_node(Parser *p, Slice text, uint32_t start)
{
    Node *n = node(p, N_LITERAL, start);
    n->lit = val_string_utf8(p->j, text);
    return done(p, n);
}

static inline bool enter(Parser *p)
{
    if (p->failed)
        return false;
    if (p->depth > 3000 || ((p->depth & 7) == 0 && !proc_stack_room(p->j->proc, PARSE_ROOM))) {
        fail_at(p, p->tok.start, p->tok.end, "syntax error: memory exhausted");
        return false;
    }
    p->depth++;
    return true;
}

#endif
