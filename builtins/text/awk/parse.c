/* awk's statements, rules and functions. */
#include "parser.h"

#include "run.h"

static Node *parse_statement(Parser *ps);

static bool ends_simple(const Parser *ps)
{
    Token t = ps->lex.token;
    return t == T_SEMICOLON || t == T_NEWLINE || t == T_RBRACE || t == T_EOF;
}

static void end_simple(Parser *ps)
{
    if (!ends_simple(ps))
        syntax_error(ps, NULL);
    if (ps->lex.token == T_SEMICOLON || ps->lex.token == T_NEWLINE)
        lex_next(ps);
}

/* ---------- print ---------- */

static Node *output_target(Parser *ps, Node *n)
{
    Token t = ps->lex.token;
    unsigned op = t == T_GT ? TO_FILE : t == T_APPEND ? TO_APPEND : t == T_PIPE ? TO_PIPE : t == T_TWO_WAY ? TO_TWO_WAY : TO_NOTHING;
    if (op == TO_NOTHING)
        return n;
    lex_next(ps);
    n->op = (uint8_t)op;
    n->a = parse_concat(ps);
    return n;
}

static Node *parse_print(Parser *ps)
{
    Node *n = node_new(ps, ps->lex.token == T_PRINT ? N_PRINT : N_PRINTF);
    lex_next(ps);
    Token t = ps->lex.token;
    bool no_gt = ps->no_gt;
    ps->no_gt = true;
    if (!ends_simple(ps) && t != T_GT && t != T_APPEND && t != T_PIPE && t != T_TWO_WAY) {
        Node **tail = &n->list;
        for (;;) {
            *tail = parse_expr(ps);
            tail = &(*tail)->next;
            if (!accept(ps, T_COMMA))
                break;
            awk_newlines(ps);
        }
        if (!n->list->next && n->list->type == N_GROUP)
            n->list = n->list->list;
    }
    for (Node *a = n->list; a; a = a->next)
        if (a->type == N_GROUP)
            syntax_error(ps, NULL);
    if (n->type == N_PRINTF && !n->list)
        parse_fatal(ps, "printf: no arguments");
    n = output_target(ps, n);
    ps->no_gt = no_gt;
    return n;
}

/* ---------- simple statements ---------- */

static Node *parse_delete(Parser *ps)
{
    Node *n = node_new(ps, N_DELETE);
    lex_next(ps);
    bool parens = accept(ps, T_LPAREN);
    n->a = parse_lvalue_tail(ps, parse_name(ps));
    if (parens)
        awk_expect(ps, T_RPAREN);
    return n;
}

static const char *rule_name(const Parser *ps)
{
    static const char *const names[] = {[RULE_BEGIN] = "BEGIN", [RULE_END] = "END", [RULE_BEGIN_FILE] = "BEGINFILE", [RULE_END_FILE] = "ENDFILE"};
    return ps->in_rule && !ps->function && ps->rule != RULE_MAIN ? names[ps->rule] : NULL;
}

static Node *parse_jump(Parser *ps, Token t)
{
    static const NodeType types[] = {[T_NEXT] = N_NEXT, [T_NEXT_FILE] = N_NEXT_FILE, [T_BREAK] = N_BREAK, [T_CONTINUE] = N_CONTINUE};
    Node *n = node_new(ps, types[t]);
    const char *rule = rule_name(ps);
    if (t == T_NEXT && rule)
        parse_failure(ps, "`next' used in %s action", rule);
    if (t == T_NEXT_FILE && rule && ps->rule != RULE_BEGIN_FILE)
        parse_failure(ps, "`nextfile' used in %s action", rule);
    if (t == T_BREAK && !ps->loops && !ps->switches)
        parse_failure_twice(ps, "`break' is not allowed outside a loop or switch");
    if (t == T_CONTINUE && !ps->loops)
        parse_failure_twice(ps, "`continue' is not allowed outside a loop");
    lex_next(ps);
    return n;
}

static Node *parse_simple(Parser *ps)
{
    Token t = ps->lex.token;
    Node *n;
    switch (t) {
    case T_PRINT: case T_PRINTF: return parse_print(ps);
    case T_NEXT: case T_NEXT_FILE: case T_BREAK: case T_CONTINUE: return parse_jump(ps, t);
    case T_DELETE: return parse_delete(ps);
    case T_EXIT: case T_RETURN:
        if (t == T_RETURN && !ps->function)
            syntax_error(ps, "`return' used outside function context");
        n = node_new(ps, t == T_EXIT ? N_EXIT : N_RETURN);
        lex_next(ps);
        if (!ends_simple(ps))
            n->a = parse_expr(ps);
        return n;
    default:
        n = node_new(ps, N_EXPR);
        n->a = parse_expr(ps);
        if (n->a->type == N_GROUP)
            syntax_error(ps, NULL);
        return n;
    }
}

/* ---------- compound statements ---------- */

/* The statement behind a condition; a lone semicolon is an empty one. */
static Node *parse_body(Parser *ps)
{
    awk_newlines(ps);
    if (accept(ps, T_SEMICOLON))
        return node_new(ps, N_EMPTY);
    return parse_statement(ps);
}

static Node *parse_loop_body(Parser *ps)
{
    ps->loops++;
    Node *n = parse_body(ps);
    ps->loops--;
    return n;
}

static Node *parse_condition(Parser *ps)
{
    awk_expect(ps, T_LPAREN);
    bool no_gt = ps->no_gt;
    ps->no_gt = false;
    awk_newlines(ps);
    Node *n = parse_expr(ps);
    awk_newlines(ps);
    ps->no_gt = no_gt;
    awk_expect(ps, T_RPAREN);
    return n;
}

static Node *parse_if(Parser *ps)
{
    Node *n = node_new(ps, N_IF);
    lex_next(ps);
    n->a = parse_condition(ps);
    n->b = parse_body(ps);
    Lexer saved = ps->lex;
    while (ps->lex.token == T_SEMICOLON || ps->lex.token == T_NEWLINE)
        lex_next(ps);
    if (accept(ps, T_ELSE))
        n->c = parse_body(ps);
    else
        ps->lex = saved;
    return n;
}

static Node *parse_do(Parser *ps)
{
    Node *n = node_new(ps, N_DO);
    lex_next(ps);
    n->b = parse_loop_body(ps);
    while (ps->lex.token == T_SEMICOLON || ps->lex.token == T_NEWLINE)
        lex_next(ps);
    awk_expect(ps, T_WHILE);
    n->a = parse_condition(ps);
    end_simple(ps);
    return n;
}

/* for (name in array), told from for (;;) by trying. */
static Node *parse_for_in(Parser *ps)
{
    Lexer saved = ps->lex;
    if (ps->lex.token != T_NAME)
        return NULL;
    Node *variable = parse_name(ps);
    if (!accept(ps, T_IN) || ps->lex.token != T_NAME) {
        ps->lex = saved;
        return NULL;
    }
    Node *n = node_new(ps, N_FOR_IN);
    n->a = variable;
    n->b = parse_lvalue_tail(ps, parse_name(ps));
    if (!accept(ps, T_RPAREN)) {
        ps->lex = saved;
        return NULL;
    }
    return n;
}

static Node *parse_for(Parser *ps)
{
    Node *n = node_new(ps, N_FOR);
    lex_next(ps);
    awk_expect(ps, T_LPAREN);
    Node *in = parse_for_in(ps);
    if (in) {
        in->c = parse_loop_body(ps);
        return in;
    }
    awk_newlines(ps);
    if (ps->lex.token != T_SEMICOLON)
        n->a = parse_simple(ps);
    awk_expect(ps, T_SEMICOLON);
    awk_newlines(ps);
    if (ps->lex.token != T_SEMICOLON)
        n->b = parse_expr(ps);
    awk_expect(ps, T_SEMICOLON);
    awk_newlines(ps);
    if (ps->lex.token != T_RPAREN)
        n->c = parse_simple(ps);
    awk_newlines(ps);
    awk_expect(ps, T_RPAREN);
    n->d = parse_loop_body(ps);
    return n;
}

static Node *parse_case(Parser *ps, bool *has_default)
{
    Node *n = node_new(ps, N_CASE);
    if (accept(ps, T_DEFAULT)) {
        if (*has_default)
            parse_failure(ps, "duplicate `default' detected in switch body");
        *has_default = true;
    } else {
        awk_expect(ps, T_CASE);
        n->a = parse_expr(ps);
    }
    awk_expect(ps, T_COLON);
    Node **tail = &n->list;
    for (;;) {
        while (ps->lex.token == T_NEWLINE || ps->lex.token == T_SEMICOLON)
            lex_next(ps);
        Token t = ps->lex.token;
        if (t == T_CASE || t == T_DEFAULT || t == T_RBRACE || t == T_EOF)
            return n;
        *tail = parse_statement(ps);
        tail = &(*tail)->next;
    }
}

/* Constants of a switch differ by their text. */
static void check_case(Parser *ps, const Node *list, const Node *last)
{
    char room[2][NUMBER_ROOM];
    Slice text[2];
    if (!last->a || (last->a->type != N_NUM && last->a->type != N_STR))
        return;
    if (last->a->type == N_STR)
        text[0] = last->a->text;
    else if (!number_small(last->a->num, room[0], &text[0]))
        return;
    for (; list != last; list = list->next) {
        if (!list->a || (list->a->type != N_NUM && list->a->type != N_STR))
            continue;
        if (list->a->type == N_STR)
            text[1] = list->a->text;
        else if (!number_small(list->a->num, room[1], &text[1]))
            continue;
        if (slice_eq(text[0], text[1]))
            parse_failure(ps, "duplicate case values in switch body: %.*s", (int)MIN(text[0].len, (size_t)400), text[0].data);
    }
}

static Node *parse_switch(Parser *ps)
{
    Node *n = node_new(ps, N_SWITCH);
    lex_next(ps);
    n->a = parse_condition(ps);
    awk_newlines(ps);
    awk_expect(ps, T_LBRACE);
    awk_newlines(ps);
    ps->switches++;
    bool has_default = false;
    for (Node **tail = &n->list; ps->lex.token != T_RBRACE; tail = &(*tail)->next) {
        *tail = parse_case(ps, &has_default);
        check_case(ps, n->list, *tail);
    }
    ps->switches--;
    lex_next(ps);
    return n;
}

Node *parse_block(Parser *ps)
{
    Node *n = node_new(ps, N_BLOCK);
    awk_expect(ps, T_LBRACE);
    Node **tail = &n->list;
    for (;;) {
        while (ps->lex.token == T_NEWLINE || ps->lex.token == T_SEMICOLON)
            lex_next(ps);
        if (ps->lex.token == T_RBRACE)
            break;
        *tail = parse_statement(ps);
        tail = &(*tail)->next;
    }
    return n; /* the brace stays, for what follows it differs */
}

static Node *parse_statement(Parser *ps)
{
    awk_enter(ps);
    Node *n;
    switch (ps->lex.token) {
    case T_IF: n = parse_if(ps); break;
    case T_FOR: n = parse_for(ps); break;
    case T_DO: n = parse_do(ps); break;
    case T_SWITCH: n = parse_switch(ps); break;
    case T_WHILE:
        n = node_new(ps, N_WHILE);
        lex_next(ps);
        n->a = parse_condition(ps);
        n->b = parse_loop_body(ps);
        break;
    case T_LBRACE:
        n = parse_block(ps);
        lex_next(ps);
        break;
    default:
        n = parse_simple(ps);
        end_simple(ps);
    }
    ps->depth--;
    return n;
}

/* ---------- functions, rules ---------- */

static void check_params(Parser *ps, const Function *f)
{
    for (uint32_t i = 0; i < f->params; i++) {
        Slice name = f->param_names[i];
        if (slice_eq(name, f->name))
            parse_failure(ps, "function `%.*s': cannot use function name as parameter name", (int)name.len, name.data);
        for (unsigned g = 0; g < G_KNOWN; g++)
            if (slice_is(name, known_globals[g]))
                parse_failure(ps, "function `%.*s': parameter `%.*s': POSIX disallows using a special variable as a function parameter",
                              (int)f->name.len, f->name.data, (int)name.len, name.data);
        for (uint32_t j = 0; j < i; j++)
            if (slice_eq(name, f->param_names[j]))
                parse_failure(ps, "function `%.*s': parameter #%u, `%.*s', duplicates parameter #%u", (int)f->name.len, f->name.data, i + 1,
                              (int)name.len, name.data, j + 1);
    }
}

static void parse_params(Parser *ps, Function *f)
{
    Mem *keep = &ps->w->p->keep;
    uint32_t cap = 0;
    awk_newlines(ps);
    while (ps->lex.token != T_RPAREN) {
        if (ps->lex.token != T_NAME)
            syntax_error(ps, NULL);
        if (f->params == cap) {
            f->param_names = mem_grow(keep, f->param_names, cap * sizeof(Slice), (cap + 8) * sizeof(Slice));
            cap += 8;
        }
        f->param_names[f->params++] = slice(mem_copy(keep, ps->lex.text), ps->lex.text.len);
        lex_next(ps);
        awk_newlines(ps);
        if (ps->lex.token == T_RPAREN)
            break;
        awk_expect(ps, T_COMMA);
        awk_newlines(ps);
    }
    lex_next(ps);
}

static void parse_function(Parser *ps)
{
    lex_next(ps);
    if (ps->lex.token == T_BUILTIN)
        parse_failure(ps, "`%.*s' is a built-in function, it cannot be redefined", (int)ps->lex.text.len, ps->lex.text.data);
    if (ps->lex.token != T_NAME && ps->lex.token != T_CALL_NAME)
        syntax_error(ps, NULL);
    uint32_t index;
    Function *f = function_named(ps, ps->lex.text, &index);
    if (f->defined)
        parse_failure(ps, "function name `%.*s' previously defined", (int)f->name.len, f->name.data);
    f->defined = true;
    f->line = ps->lex.token_line;
    f->source = ps->lex.source;
    lex_next(ps);
    awk_expect(ps, T_LPAREN);
    parse_params(ps, f);
    check_params(ps, f);
    awk_newlines(ps);
    ps->function = f;
    ps->function_index = (int32_t)index;
    Node *body = parse_block(ps);
    ps->w->prog.functions[index].body = body;
    ps->function = NULL;
    lex_next(ps);
}

static void set_namespace(Parser *ps, Slice name)
{
    bool valid = name.len && !(name.data[0] >= '0' && name.data[0] <= '9');
    for (size_t i = 0; i < name.len; i++)
        valid = valid && (name.data[i] == '_' || class_has(CLASS_ALNUM, (unsigned char)name.data[i]));
    if (!valid)
        parse_failure(ps, "namespace name `%.*s' must meet identifier naming rules", (int)name.len, name.data);
    if (lex_reserved(name))
        parse_failure(ps, "using reserved identifier `%.*s' as a namespace is not allowed", (int)name.len, name.data);
    ps->lex.space = slice_is(name, "awk") ? SLICE("") : slice(mem_copy(&ps->w->p->keep, name), name.len);
}

static void parse_at(Parser *ps)
{
    bool include = slice_is(ps->lex.text, "include");
    if (slice_is(ps->lex.text, "namespace")) {
        lex_next(ps);
        if (ps->lex.token != T_STRING)
            syntax_error(ps, NULL);
        set_namespace(ps, ps->lex.text);
        lex_next(ps);
        return;
    }
    if (!include && !slice_is(ps->lex.text, "load"))
        syntax_error(ps, NULL);
    lex_next(ps);
    if (ps->lex.token != T_STRING)
        syntax_error(ps, NULL);
    if (!include)
        parse_failure(ps, "cannot open shared library `%.*s' for reading: No such file or directory", (int)ps->lex.text.len, ps->lex.text.data);
    Slice name = ps->lex.text;
    include_file(ps, name);
    lex_next(ps);
}

static void parse_rule(Parser *ps)
{
    Rule *r = mem_new(&ps->w->p->keep, Rule);
    Token t = ps->lex.token;
    r->kind = t == T_BEGIN ? RULE_BEGIN : t == T_END ? RULE_END : t == T_BEGIN_FILE ? RULE_BEGIN_FILE : t == T_END_FILE ? RULE_END_FILE : RULE_MAIN;
    r->line = ps->lex.token_line;
    r->source = ps->lex.source;
    ps->in_rule = true;
    ps->rule = r->kind;
    if (r->kind != RULE_MAIN) {
        lex_next(ps);
        static const char *const names[] = {[RULE_BEGIN] = "BEGIN", [RULE_END] = "END", [RULE_BEGIN_FILE] = "BEGINFILE", [RULE_END_FILE] = "ENDFILE"};
        if (ps->lex.token != T_LBRACE)
            parse_bare(ps, mem_printf(&ps->w->p->keep, "%s blocks must have an action part", names[r->kind]));
    } else if (t != T_LBRACE) {
        r->pattern = parse_expr(ps);
        if (r->pattern->type == N_GROUP)
            syntax_error(ps, NULL);
        if (accept(ps, T_COMMA)) {
            awk_newlines(ps);
            r->pattern_end = parse_expr(ps);
        }
    }
    if (ps->lex.token == T_LBRACE) {
        r->action = parse_block(ps);
        lex_next(ps);
    } else if (ps->lex.token != T_NEWLINE && ps->lex.token != T_SEMICOLON && ps->lex.token != T_EOF) {
        syntax_error(ps, NULL);
    }
    ps->in_rule = false;
    *ps->rule_tail = r;
    ps->rule_tail = &r->next;
}

static void parse_source(Parser *ps, const Source *source)
{
    ps->lex = (Lexer){.source = source, .line = 1};
    lex_next(ps);
    for (;;) {
        Token t = ps->lex.token;
        if (t == T_EOF)
            return;
        if (t == T_NEWLINE || t == T_SEMICOLON)
            lex_next(ps);
        else if (t == T_FUNCTION)
            parse_function(ps);
        else if (t == T_AT_NAME)
            parse_at(ps);
        else
            parse_rule(ps);
    }
}

/* ---------- @include ---------- */

enum { MOST_INCLUDES = 64 };

int awk_source_find(Awk *w, Slice name, Slice *text, const char **path)
{
    Mem *keep = &w->p->keep;
    *path = mem_copy(keep, name);
    int err = read_file(w->p, *path, text);
    if (err == 0 || memchr(name.data, '/', name.len))
        return err;
    const char *list = proc_getenv(w->p, "AWKPATH");
    for (Slice rest = slice_str(list ? list : ".:/usr/local/share/awk"); err && rest.len;) {
        size_t n = slice_find(rest, ':');
        for (int i = 0; i < 2 && err; i++) {
            *path = mem_printf(keep, "%.*s/%.*s%s", n ? (int)n : 1, n ? rest.data : ".", (int)name.len, name.data, i ? ".awk" : "");
            err = read_file(w->p, *path, text);
        }
        rest = slice_from(rest, MIN(n + 1, rest.len));
    }
    return err;
}

void include_file(Parser *ps, Slice name)
{
    Awk *w = ps->w;
    Source *s = mem_new(&w->p->keep, Source);
    Slice text;
    int err = awk_source_find(w, name, &text, &s->name);
    if (err)
        parse_failure(ps, "cannot open source file `%.*s' for reading: %s", (int)name.len, name.data, error_text(err));
    for (const Source *o = w->included; o; o = o->next)
        if (strcmp(o->name, s->name) == 0) {
            parse_warning(ps, "already included source file `%.*s'", (int)name.len, name.data);
            return;
        }
    if (++ps->includes > MOST_INCLUDES)
        parse_failure(ps, "files included too deeply");
    s->text = slice(mem_copy(&w->p->keep, text), text.len);
    s->is_file = true;
    s->next = w->included;
    w->included = s;
    Lexer saved = ps->lex;
    parse_source(ps, s);
    ps->lex = saved;
    ps->includes--;
}

void awk_parse(Awk *w)
{
    Parser ps = {.w = w, .rule_tail = &w->prog.rule_list};
    w->parser = &ps;
    map_init(&w->prog.function_names, &w->p->keep);
    map_init(&w->prog.global_names, &w->p->keep);
    for (unsigned i = 0; i < G_KNOWN; i++)
        global_index(w, slice_str(known_globals[i]));
    for (Source *s = w->sources; s; s = s->next)
        parse_source(&ps, s);
    w->parser = NULL;
}

unsigned parser_line(const Awk *w, const Source **source)
{
    *source = w->parser->lex.source;
    return w->parser->lex.token_line;
}
