/* parse: jq's grammar by recursive descent, with the messages that jq's generated parser gives.
 *
 *     query: def query | expr as patterns | query | label | query '|' query | query ',' query | expr
 *     expr:  jq_binary operators, - expr, postfix terms, try, reduce, foreach, if
 *
 * After the first syntax error every function returns quickly and the tree is thrown away.
 */
#include <stdarg.h>

#include "parse.h"
#include "reader.h"

void jq_errors_add(Errors *e, const Source *s, uint32_t start, uint32_t end, const char *format, ...)
{
    va_list ap;
    char message[512];
    va_start(ap, format);
    vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    Slice text = s->text;
    size_t line = 1, begin = 0;
    for (size_t i = 0; i < start && i < text.len; i++)
        if (text.data[i] == '\n')
            line++, begin = i + 1;
    size_t stop = begin;
    while (stop < text.len && text.data[stop] != '\n')
        stop++;
    buf_printf(&e->text, "jq: error: %s at %s, line %zu, column %zu:\n    %.*s\n    %*s", message, s->name, line, start - begin + 1,
               (int)(stop - begin), text.data + begin, (int)(start - begin), "");
    size_t marks = MIN((size_t)end, stop) > start ? MIN((size_t)end, stop) - start : 1;
    for (size_t i = 0; i < marks; i++)
        buf_char(&e->text, '^');
    buf_char(&e->text, '\n');
    e->count++;
}

/* ---------- strings ---------- */

static Node *string_text(Parser *p)
{
    Token t = p->tok;
    Node *n = node(p, N_LITERAL, t.start);
    n->op = LITERAL_TEXT;
    if (memchr(t.text.data, '\\', t.text.len)) {
        char *quoted = mem_printf(p->mem, "\"%.*s\"", (int)t.text.len, t.text.data);
        n->lit = jq_read_json_text(p->j, slice_str(quoted));
        if (n->lit.kind == K_INVALID) {
            Val message = p->j->error;
            p->j->raising = false;
            fail_at(p, t.start, t.end, message.str->data);
        }
    } else {
        n->lit = val_string_utf8(p->j, t.text);
    }
    next(p);
    return done(p, n);
}

/* At the opening quote; `format` is empty or the name behind @. */
static Node *parse_string(Parser *p, Slice format, uint32_t start)
{
    List parts = {0};
    Node *n = node(p, N_STRING, start);
    expect(p, T_STRING_START, "QQSTRING_START");
    while (!p->failed && !accept(p, T_STRING_END)) {
        if (p->tok.type == T_STRING_TEXT) {
            list_add(p, &parts, string_text(p));
        } else if (accept(p, T_INTERP_START)) {
            list_add(p, &parts, jq_parse_query(p));
            expect(p, T_INTERP_END, "QQSTRING_INTERP_END or '|' or ','");
        } else {
            syntax(p, "QQSTRING_TEXT or QQSTRING_INTERP_START or QQSTRING_END");
        }
    }
    n->list = parts.items;
    n->count = parts.count;
    n->name = format;
    if (!p->failed && parts.count == 0)
        return string_node(p, (Slice){"", 0}, start);
    if (!p->failed && parts.count == 1 && parts.items[0]->kind == N_LITERAL && parts.items[0]->op == LITERAL_TEXT) {
        parts.items[0]->op = 0;
        parts.items[0]->start = start;
        return done(p, parts.items[0]);
    }
    return done(p, n);
}

/* A string with or without @format before it. */
Node *jq_parse_string(Parser *p)
{
    uint32_t start = p->tok.start;
    Slice format = {"", 0};
    if (p->tok.type == T_FORMAT) {
        format = slice_from(p->tok.text, 1);
        next(p);
    }
    return parse_string(p, format, start);
}

/* ---------- patterns ---------- */

static Node *parse_pattern(Parser *p);

static Node *parse_pattern_array(Parser *p, uint32_t start)
{
    List items = {0};
    Node *n = node(p, P_ARRAY, start);
    do
        list_add(p, &items, parse_pattern(p));
    while (accept(p, ','));
    expect(p, ']', "',' or ']'");
    n->list = items.items;
    n->count = items.count;
    return done(p, n);
}

static bool is_keyword(int type) { return type >= T_AS; }

/* Key of an object pattern: $name, name, "string" or (expression). */
static Node *parse_pattern_key(Parser *p)
{
    Token t = p->tok;
    if (t.type == T_BINDING) {
        Node *n = node(p, N_VAR, t.start);
        n->name = slice_from(t.text, 1);
        next(p);
        return done(p, n);
    }
    if (t.type == T_IDENT || is_keyword(t.type)) {
        next(p);
        return string_node(p, t.text, t.start);
    }
    if (t.type == T_STRING_START || t.type == T_FORMAT)
        return jq_parse_string(p);
    if (accept(p, '(')) {
        uint32_t start = p->tok.start, end;
        Node *n = jq_parse_query(p);
        end = p->last_end;
        expect(p, ')', "'|' or ',' or ')'");
        jq_check_key(p, n, start, end);
        return n;
    }
    return syntax(p, NULL);
}

static Node *parse_pattern_object(Parser *p, uint32_t start)
{
    List items = {0};
    Node *n = node(p, P_OBJECT, start);
    do {
        Node *key = parse_pattern_key(p), *value = NULL;
        if (p->failed)
            break;
        if (accept(p, ':'))
            value = parse_pattern(p);
        else if (key->kind != N_VAR)
            syntax(p, "':'");
        list_add(p, &items, key);
        list_add(p, &items, value);
    } while (accept(p, ','));
    expect(p, '}', "',' or '}'");
    n->list = items.items;
    n->count = items.count;
    return done(p, n);
}

static Node *parse_pattern(Parser *p)
{
    Token t = p->tok;
    Node *n = NULL;
    if (!enter(p))
        return NULL;
    if (accept(p, '[')) {
        n = parse_pattern_array(p, t.start);
    } else if (accept(p, '{')) {
        n = parse_pattern_object(p, t.start);
    } else if (accept(p, T_BINDING)) {
        n = node(p, P_VAR, t.start);
        n->name = slice_from(t.text, 1);
        done(p, n);
    } else {
        syntax(p, "BINDING or '[' or '{'");
    }
    p->depth--;
    return n;
}

/* as PATTERN ?// PATTERN ... */
static void parse_patterns(Parser *p, Node *n)
{
    List items = {0};
    do
        list_add(p, &items, parse_pattern(p));
    while (accept(p, T_DESTRUCT_ALT));
    n->list = items.items;
    n->count = items.count;
}

/* ---------- terms ---------- */

/* Behind the patterns. */
static Node *parse_fold_body(Parser *p, Node *n)
{
    bool each = n->kind == N_FOREACH;
    expect(p, '(', "'('");
    n->b = jq_parse_query(p);
    expect(p, ';', "'|' or ',' or ';'");
    n->c = jq_parse_query(p);
    if (each && accept(p, ';')) {
        n->d = jq_parse_query(p);
        expect(p, ')', "'|' or ',' or ')'");
    } else {
        expect(p, ')', each ? "'|' or ',' or ';' or ')'" : "'|' or ',' or ')'");
    }
    return done(p, n);
}

/* Behind reduce or foreach. */
static Node *parse_fold(Parser *p, NodeKind kind, uint32_t start)
{
    Node *n = node(p, kind, start);
    n->a = jq_parse_expr(p, 0);
    if (!expect(p, T_AS, NULL))
        return NULL;
    parse_patterns(p, n);
    return parse_fold_body(p, n);
}

/* Behind if or elif. */
static Node *parse_if(Parser *p, uint32_t start)
{
    Node *n = node(p, N_IF, start);
    if (!enter(p))
        return NULL;
    n->a = jq_parse_query(p);
    expect(p, T_THEN, "then or '|' or ','");
    n->b = jq_parse_query(p);
    uint32_t at = p->tok.start;
    if (accept(p, T_ELIF)) {
        n->c = parse_if(p, at);
    } else if (accept(p, T_ELSE)) {
        n->c = jq_parse_query(p);
        expect(p, T_END_WORD, "end or '|' or ','");
    } else {
        expect(p, T_END_WORD, NULL);
    }
    p->depth--;
    return done(p, n);
}

static Node *parse_call(Parser *p)
{
    List args = {0};
    Token t = p->tok;
    Node *n = node(p, N_CALL, t.start);
    next(p);
    n->name = t.text;
    n->end = t.end;
    if (accept(p, '(')) {
        do
            list_add(p, &args, jq_parse_query(p));
        while (accept(p, ';'));
        expect(p, ')', "';' or ')'");
    }
    n->list = args.items;
    n->count = args.count;
    n->end = t.end;
    return n;
}

static Node *parse_object(Parser *p, uint32_t start);

static Node *parse_break(Parser *p, uint32_t start)
{
    Token t = p->tok;
    Node *n = node(p, N_BREAK, start);
    if (!expect(p, T_BINDING, "BINDING")) {
        jq_errors_add(p->errors, p->source, start, p->tok.end, "break requires a label to break to");
        return NULL;
    }
    n->name = slice_from(t.text, 1);
    return done(p, n);
}

static Node *parse_dot(Parser *p, uint32_t start)
{
    Node *dot = done(p, node(p, N_IDENTITY, start));
    if (p->tok.type == T_STRING_START || (p->tok.type == T_FORMAT)) {
        Node *key = jq_parse_string(p);
        return two(p, N_INDEX, dot, key);
    }
    if (p->tok.type == T_IDENT && !jq_parse_yq_behind(p)) {
        uint32_t end = p->tok.end;
        next(p);
        syntax(p, NULL);
        jq_errors_add(p->errors, p->source, start, end, "try .[\"field\"] instead of .field for unusually named fields");
    }
    return dot;
}

static Node *parse_name(Parser *p, NodeKind kind, uint32_t skip)
{
    Token t = p->tok;
    Node *n = node(p, kind, t.start);
    next(p);
    n->name = slice_from(t.text, skip);
    return done(p, n);
}

/* $$$$name: the value is taken out of the variable. jq's own definitions use it. */
static Node *parse_dollars(Parser *p)
{
    uint32_t start = p->tok.start;
    for (int i = 0; i < 2; i++)
        if (!expect(p, '$', "'$'"))
            return NULL;
    if (p->tok.type != T_BINDING)
        return syntax(p, "'$'");
    Node *n = parse_name(p, N_VAR, 1);
    n->op = 1;
    n->start = start;
    return n;
}

static Node *parse_number(Parser *p)
{
    Token t = p->tok;
    Node *n = node(p, N_LITERAL, t.start);
    next(p);
    if (!jq_number_parse(p->j, t.text, &n->lit))
        fail_at(p, t.start, t.end, "Invalid numeric literal");
    return done(p, n);
}

static Node *parse_group(Parser *p)
{
    Node *n = jq_parse_query(p);
    expect(p, ')', "'|' or ',' or ')'");
    if (p->failed)
        return NULL;
    n->grouped = true;
    return n;
}

static Node *parse_array(Parser *p, uint32_t start)
{
    Node *n = node(p, N_ARRAY, start);
    if (accept(p, ']'))
        return done(p, n);
    n->a = jq_parse_query(p);
    expect(p, ']', "'|' or ',' or ']'");
    return done(p, n);
}

static Node *parse_loc(Parser *p)
{
    Node *n = node(p, N_LOC, p->tok.start);
    uint32_t line = 1;
    for (uint32_t i = 0; i < p->tok.start; i++)
        line += p->source->text.data[i] == '\n';
    next(p);
    n->lit = val_num(line);
    return done(p, n);
}

static Node *parse_unterminated_if(Parser *p, uint32_t start)
{
    bool before = p->failed;
    unsigned errors = p->errors->count;
    Node *n = parse_if(p, start);
    /* jq adds this when the error came behind a `then` */
    Slice seen = {p->source->text.data + start, p->tok.end - start};
    if (!before && p->failed && errors + 1 == p->errors->count && slice_search(seen, SLICE("then")) != SIZE_MAX)
        jq_errors_add(p->errors, p->source, start, p->tok.end, "Possibly unterminated 'if' statement");
    return n;
}

static Node *parse_term(Parser *p)
{
    Token t = p->tok;
    switch (t.type) {
    case T_LITERAL:
        return parse_number(p);
    case T_STRING_START:
        return jq_parse_string(p);
    case T_FORMAT: {
        Node *format = parse_name(p, N_FORMAT, 1), *coded = jq_parse_yq_format(p, t);
        if (coded)
            return coded;
        if (p->tok.type != T_STRING_START)
            return format;
        return parse_string(p, format->name, t.start);
    }
    case T_FIELD: {
        Node *dot = node(p, N_IDENTITY, t.start);
        next(p);
        done(p, dot);
        Node *loose = jq_parse_yq_field(p, dot, t);
        return loose ? loose : two(p, N_INDEX, dot, string_node(p, slice_from(t.text, 1), t.start));
    }
    case T_BINDING: {
        Node *var = parse_name(p, N_VAR, 1), *ref = jq_parse_yq_variable(p, t);
        return ref ? ref : var;
    }
    case '$':
        next(p);
        return parse_dollars(p);
    case T_LOC:
        return parse_loc(p);
    case T_IDENT:
        return parse_call(p);
    default:
        break;
    }
    if (t.type != '.' && t.type != T_RECURSE && t.type != T_BREAK && t.type != '(' && t.type != '[' && t.type != '{' &&
        t.type != T_REDUCE && t.type != T_FOREACH && t.type != T_IF)
        return syntax(p, NULL);
    next(p);
    switch (t.type) {
    case '.':
        return parse_dot(p, t.start);
    case T_RECURSE:
        return done(p, node(p, N_RECURSE, t.start));
    case T_BREAK:
        return parse_break(p, t.start);
    case '(':
        return parse_group(p);
    case '[':
        return parse_array(p, t.start);
    case '{':
        return parse_object(p, t.start);
    case T_IF:
        return parse_unterminated_if(p, t.start);
    default:
        return parse_fold(p, t.type == T_REDUCE ? N_REDUCE : N_FOREACH, t.start);
    }
}

/* Behind '[': an index, a slice or an iteration of `term`. */
static Node *parse_bracket(Parser *p, Node *term)
{
    if (accept(p, ']'))
        return two(p, N_EACH, term, NULL);
    Node *from = p->tok.type == ':' ? NULL : jq_parse_query(p);
    if (accept(p, ':')) {
        Node *n = two(p, N_SLICE, term, from);
        if (p->tok.type != ']')
            n->c = jq_parse_query(p);
        else if (!from)
            syntax(p, NULL);
        expect(p, ']', "'|' or ',' or ']'");
        return done(p, n);
    }
    expect(p, ']', "'|' or ',' or ':' or ']'");
    return two(p, N_INDEX, term, from);
}

/* Behind a term and a '.': a string index or a bracket. */
static Node *parse_dot_suffix(Parser *p, Node *term)
{
    if (accept(p, '['))
        return parse_bracket(p, term);
    if (p->tok.type == T_STRING_START || p->tok.type == T_FORMAT)
        return two(p, N_INDEX, term, jq_parse_string(p));
    syntax(p, "FORMAT or QQSTRING_START or '['");
    return NULL;
}

static Node *parse_suffixes(Parser *p, Node *term)
{
    while (term && !p->failed) {
        Token t = p->tok;
        if (t.type == T_FIELD) {
            next(p);
            Node *loose = jq_parse_yq_field(p, term, t);
            term = loose ? loose : two(p, N_INDEX, term, string_node(p, slice_from(t.text, 1), t.start));
        } else if (accept(p, '.')) {
            term = parse_dot_suffix(p, term);
        } else if (accept(p, '[')) {
            term = parse_bracket(p, term);
        } else if (t.type == '?') {
            next(p);
            bool access = (term->kind == N_INDEX || term->kind == N_SLICE || term->kind == N_EACH) && !term->opt && !term->grouped;
            if (access)
                term->opt = true;
            else
                term = two(p, N_TRY, term, NULL);
        } else {
            break;
        }
    }
    return term;
}

Node *jq_parse_postfix(Parser *p)
{
    if (!enter(p))
        return NULL;
    Node *n;
    uint32_t start = p->tok.start;
    if (accept(p, T_TRY)) {
        n = node(p, N_TRY, start);
        n->a = jq_parse_postfix(p);
        if (accept(p, T_CATCH)) {
            bool before = p->failed;
            n->b = jq_parse_postfix(p);
            if (!before && p->failed)
                jq_errors_add(p->errors, p->source, start, p->tok.end, "Possibly unterminated 'try' statement");
        }
        done(p, n);
    } else if (accept(p, '-')) {
        n = node(p, N_NEGATE, start);
        n->a = jq_parse_postfix(p);
        done(p, n);
    } else {
        n = parse_suffixes(p, parse_term(p));
    }
    p->depth--;
    return n;
}

/* ---------- objects ---------- */

static Node *shorthand(Parser *p, Node *key)
{
    Node *dot = node(p, N_IDENTITY, key->start);
    return two(p, N_INDEX, done(p, dot), key);
}

/* expr, or expr '|' value: no comma. */
static Node *parse_object_value(Parser *p)
{
    if (!enter(p))
        return NULL;
    Node *n = jq_parse_expr(p, 0);
    if (accept(p, '|'))
        n = two(p, N_PIPE, n, parse_object_value(p));
    p->depth--;
    return n;
}

static void parse_pair(Parser *p, List *items)
{
    Token t = p->tok;
    Node *key = NULL, *value = NULL;
    if (t.type == T_BINDING || t.type == T_LOC) {
        value = t.type == T_LOC ? parse_loc(p) : parse_name(p, N_VAR, 1);
        key = string_node(p, slice_from(t.text, 1), t.start);
        if (p->tok.type == ':' && t.type == T_BINDING) {
            next(p);
            key = value;
            value = parse_object_value(p);
        }
    } else if (t.type == T_IDENT || is_keyword(t.type)) {
        next(p);
        key = string_node(p, t.text, t.start);
        value = accept(p, ':') ? parse_object_value(p) : shorthand(p, key);
    } else if (t.type == T_STRING_START || t.type == T_FORMAT) {
        key = jq_parse_string(p);
        value = accept(p, ':') ? parse_object_value(p) : key ? shorthand(p, key) : NULL;
    } else if (accept(p, '(')) {
        uint32_t start = p->tok.start, end;
        key = jq_parse_query(p);
        end = p->last_end;
        expect(p, ')', "'|' or ',' or ')'");
        expect(p, ':', "':'");
        value = parse_object_value(p);
        jq_check_key(p, key, start, end);
    } else {
        syntax(p, NULL);
    }
    list_add(p, items, key);
    list_add(p, items, value);
}

/* jq goes on behind the next ':' after a bad key, and then says this. */
static void bad_key(Parser *p, uint32_t start)
{
    Token t = p->tok;
    unsigned depth = 0;
    uint32_t end = t.type == ':' ? t.end : t.start;
    while (t.type != T_EOF && !(t.type == ':' && depth == 0) && !(t.type == '}' && depth == 0)) {
        depth += t.type == '(' || t.type == '[' || t.type == '{';
        depth -= depth && (t.type == ')' || t.type == ']' || t.type == '}');
        end = t.end;
        t = jq_lex_next(&p->lex);
    }
    if (t.type == ':')
        jq_errors_add(p->errors, p->source, start, end, "May need parentheses around object key expression");
}

static Node *parse_object(Parser *p, uint32_t start)
{
    List items = {0};
    Node *n = node(p, N_OBJECT, start);
    while (!p->failed && p->tok.type != '}') {
        uint32_t pair = p->tok.start;
        parse_pair(p, &items);
        if (!p->failed && p->tok.type != '}' && !accept(p, ','))
            syntax(p, "'}'");
        if (p->failed) {
            bad_key(p, pair);
            break;
        }
    }
    expect(p, '}', "'}'");
    n->list = items.items;
    n->count = items.count;
    return done(p, n);
}

/* ---------- operators ---------- */

typedef struct {
    int token;
    uint8_t level; /* 1 loosest */
    enum { LEFT, RIGHT, NONE } assoc;
} Operator;

static const Operator operators[] = {
    {T_ALT, 1, RIGHT},     {'=', 2, NONE},        {T_SETPIPE, 2, NONE},  {T_SETPLUS, 2, NONE}, {T_SETMINUS, 2, NONE}, {T_SETMULT, 2, NONE},
    {T_SETDIV, 2, NONE},   {T_SETMOD, 2, NONE},   {T_SETALT, 2, NONE},   {T_OR, 3, LEFT},      {T_AND, 4, LEFT},      {T_NEQ, 5, NONE},
    {T_EQ, 5, NONE},       {'<', 5, NONE},        {'>', 5, NONE},        {T_LESSEQ, 5, NONE},  {T_GREATEREQ, 5, NONE}, {'+', 6, LEFT},
    {'-', 6, LEFT},        {'*', 7, LEFT},        {'/', 7, LEFT},        {'%', 7, LEFT},
};

static const Operator *operator_at(int token)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (operators[i].token == token)
            return &operators[i];
    return NULL;
}

static Node *combine(Parser *p, int op, Node *a, Node *b)
{
    Node *n = two(p, N_BINARY, a, b);
    n->op = op;
    switch (op) {
    case T_ALT:
        n->kind = N_ALTERNATIVE;
        break;
    case T_AND:
        n->kind = N_AND;
        break;
    case T_OR:
        n->kind = N_OR;
        break;
    case T_SETPIPE:
        n->kind = N_ASSIGN;
        return p->lex.loose ? jq_parse_yq_update(p, n) : n;
    case '=': case T_SETPLUS: case T_SETMINUS: case T_SETMULT: case T_SETDIV: case T_SETMOD: case T_SETALT:
        n->kind = N_ASSIGN;
        break;
    default:
        break;
    }
    return n;
}

Node *jq_parse_expr(Parser *p, int least)
{
    if (!enter(p))
        return NULL;
    Node *left = jq_parse_postfix(p);
    int forbidden = 0;
    for (const Operator *o; !p->failed;) {
        if (jq_parse_yq_operator(p, &left, least))
            continue;
        if (!(o = operator_at(p->tok.type)) || o->level < least)
            break;
        if (o->level == forbidden) {
            syntax(p, NULL);
            break;
        }
        next(p);
        Node *right = jq_parse_expr(p, o->assoc == RIGHT ? o->level : o->level + 1);
        left = combine(p, o->token, left, right);
        forbidden = o->assoc == NONE ? o->level : 0;
    }
    p->depth--;
    return left;
}

/* ---------- definitions and queries ---------- */

static void parse_params(Parser *p, Function *f)
{
    size_t cap = 0;
    do {
        Token t = p->tok;
        if (t.type != T_IDENT && t.type != T_BINDING) {
            syntax(p, "IDENT or BINDING");
            return;
        }
        next(p);
        if (f->count == cap) {
            f->params = mem_grow(p->mem, f->params, cap * sizeof(Slice), (cap + 4) * sizeof(Slice));
            cap += 4;
        }
        f->params[f->count++] = t.text;
    } while (accept(p, ';'));
    expect(p, ')', "';' or ')'");
}

/* Behind def. */
Function *jq_parse_def(Parser *p)
{
    Function *f = mem_new(p->mem, Function);
    f->name = p->tok.text;
    if (p->tok.type != T_IDENT) {
        syntax(p, "IDENT");
        return f;
    }
    next(p);
    if (accept(p, '('))
        parse_params(p, f), expect(p, ':', "':'");
    else
        expect(p, ':', "':' or '('");
    f->body = jq_parse_query(p);
    expect(p, ';', "'|' or ',' or ';'");
    return f;
}

/* What a query begins with: a definition, a label, or an expression that `as` may follow. */
static Node *parse_unit(Parser *p)
{
    uint32_t start = p->tok.start;
    if (accept(p, T_DEF)) {
        Node *n = node(p, N_DEF, start);
        n->func = jq_parse_def(p);
        n->a = jq_parse_query(p);
        return done(p, n);
    }
    if (accept(p, T_LABEL)) {
        Node *n = node(p, N_LABEL, start);
        n->name = p->tok.type == T_BINDING ? slice_from(p->tok.text, 1) : (Slice){"", 0};
        expect(p, T_BINDING, "BINDING");
        expect(p, '|', "'|'");
        n->a = jq_parse_query(p);
        return done(p, n);
    }
    Node *left = jq_parse_expr(p, 0);
    Node *ref = jq_parse_yq_ref(p, left);
    if (ref)
        return ref;
    if (!accept(p, T_AS))
        return left;
    Node *n = node(p, N_AS, start);
    n->a = left;
    parse_patterns(p, n);
    if (p->j->yq && p->tok.type == T_IDENT && slice_is(p->tok.text, "ireduce")) {
        next(p);
        n->kind = N_REDUCE;
        return parse_fold_body(p, n);
    }
    expect(p, '|', "'|'");
    n->b = jq_parse_query(p);
    return done(p, n);
}

/* '|' is right-associative and looser than ','. A long pipe is a loop, not a recursion: pieces are joined from the right. */
Node *jq_parse_query(Parser *p)
{
    List pipe = {0};
    if (!enter(p))
        return NULL;
    do {
        Node *left = parse_unit(p);
        while (accept(p, ','))
            left = two(p, N_COMMA, left, parse_unit(p));
        list_add(p, &pipe, left);
    } while (accept(p, '|'));
    p->depth--;
    if (p->failed)
        return NULL;
    Node *n = pipe.items[pipe.count - 1];
    for (size_t i = pipe.count - 1; i-- > 0;)
        n = two(p, N_PIPE, pipe.items[i], n);
    return n;
}
