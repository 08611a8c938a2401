/* parse_module: what stands around the queries of a program or a library file: module, import, include, definitions. */
#include "machine.h"
#include "parse.h"

static bool constant(J *j, const Node *n, Val *out);

/* What jq folds: an operator over constants that is no error. */
static bool folded(J *j, const Node *n, Val *out)
{
    Val a, b;
    if (n->kind != N_BINARY || !constant(j, n->a, &a))
        return false;
    if (!constant(j, n->b, &b)) {
        val_free(j, a);
        return false;
    }
    *out = jq_binary(j, n->op, a, b);
    if (out->kind != K_INVALID)
        return true;
    val_free(j, j->error);
    j->error = VAL_NULL;
    j->raising = false;
    return false;
}

/* A string without interpolations. */
static bool pieces(J *j, const Node *n, Val *out)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->list[i]->kind != N_LITERAL || n->list[i]->op != LITERAL_TEXT)
            return false;
    *out = val_string(j, SLICE(""));
    for (size_t i = 0; i < n->count; i++)
        *out = val_append(j, *out, val_slice(n->list[i]->lit));
    return true;
}

/* The value of an expression that is constant. */
static bool constant(J *j, const Node *n, Val *out)
{
    if (!n || !proc_stack_room(j->proc, PARSE_ROOM))
        return false;
    if (n->kind == N_LITERAL) {
        *out = val_copy(n->lit);
        return true;
    }
    if (n->kind == N_PIPE && (n->a->kind == N_IDENTITY || n->b->kind == N_IDENTITY))
        return constant(j, n->a->kind == N_IDENTITY ? n->b : n->a, out);
    if (n->kind == N_LOC) {
        *out = obj_set_text(j, obj_set_text(j, obj_new(j, 2), "file", val_text(j, n->source->name)), "line", val_copy(n->lit));
        return true;
    }
    if (n->kind == N_STRING)
        return pieces(j, n, out);
    if (n->kind == N_ARRAY) {
        *out = arr_new(j, 0);
        const Node *rest = n->a;
        if (!rest)
            return true;
        if (rest->kind == N_COMMA) {
            Val left;
            Node inner = *n;
            inner.a = rest->a;
            Val right;
            if (!constant(j, &inner, &left) || !constant(j, rest->b, &right))
                return false;
            *out = arr_push(j, left, right);
            return true;
        }
        Val item;
        if (!constant(j, rest, &item))
            return false;
        *out = arr_push(j, *out, item);
        return true;
    }
    if (n->kind == N_CALL && n->count == 0 && (slice_is(n->name, "null") || slice_is(n->name, "true") || slice_is(n->name, "false"))) {
        *out = slice_is(n->name, "null") ? VAL_NULL : val_bool(slice_is(n->name, "true"));
        return true;
    }
    if (n->kind != N_OBJECT)
        return folded(j, n, out);
    *out = obj_new(j, n->count / 2);
    for (size_t i = 0; i < n->count; i += 2) {
        Val k, v;
        if (!constant(j, n->list[i], &k) || k.kind != K_STRING || !constant(j, n->list[i + 1], &v))
            return false;
        *out = obj_set(j, *out, k, v);
    }
    return true;
}

void jq_check_key(Parser *p, const Node *key, uint32_t start, uint32_t end)
{
    char text[SHORT_ERROR];
    Val v;
    if (p->failed || !constant(p->j, key, &v))
        return;
    if (v.kind != K_STRING)
        jq_errors_add(p->errors, p->source, start, end, "Cannot use %s (%s) as object key", kind_name(v), val_short(p->j, v, text, sizeof text));
    val_free(p->j, v);
}

static Val parse_metadata(Parser *p, const char *what)
{
    Val v = VAL_INVALID;
    Node *n = jq_parse_postfix(p);
    if (p->failed)
        return v;
    if (!constant(p->j, n, &v))
        fail_at(p, n->start, n->end, mem_printf(p->mem, "%s must be constant", what));
    else if (v.kind != K_OBJECT)
        fail_at(p, n->start, n->end, mem_printf(p->mem, "%s must be an object", what));
    return v;
}

/* Behind import or include. */
static Import *parse_import(Parser *p, bool include, uint32_t start)
{
    Import *i = mem_new(p->mem, Import);
    if (p->tok.type != T_STRING_START && p->tok.type != T_FORMAT) {
        syntax(p, "FORMAT or QQSTRING_START");
        return i;
    }
    Node *path = jq_parse_string(p);
    if (!p->failed && (path->kind != N_LITERAL || path->lit.kind != K_STRING))
        fail_at(p, path->start, path->end, "Import path must be constant");
    if (!include) {
        expect(p, T_AS, "as");
        if (!p->failed && p->tok.type != T_IDENT && p->tok.type != T_BINDING)
            syntax(p, "IDENT or BINDING");
        i->as = p->tok.text;
        if (!p->failed)
            next(p);
    }
    i->metadata = VAL_INVALID;
    if (!p->failed && p->tok.type != ';')
        i->metadata = parse_metadata(p, "Module metadata");
    expect(p, ';', NULL);
    if (p->failed)
        return i;
    i->path = val_slice(path->lit);
    i->start = start;
    i->end = p->last_end;
    return i;
}

static bool begins_query(int type)
{
    switch (type) {
    case T_INVALID: case T_STRING_TEXT: case T_STRING_END: case T_INTERP_START: case T_INTERP_END:
        return false;
    case T_DEF: case T_IF: case T_REDUCE: case T_FOREACH: case T_TRY: case T_LABEL: case T_BREAK: case T_RECURSE:
        return true;
    default:
        return type > T_EOF ? type < T_NEQ : strchr(".([{-$", type) != NULL;
    }
}

Module *jq_parse(J *j, Mem *mem, Source *source, Errors *errors)
{
    Parser p = {.j = j, .mem = mem, .source = source, .errors = errors};
    Module *m = mem_new(mem, Module);
    Import **import = &m->imports;
    Function **function = &m->functions;
    m->source = source;
    m->metadata = VAL_INVALID;
    jq_lex_init(&p.lex, mem, source);
    p.lex.loose = j->yq && strcmp(source->name, "<builtin>") != 0;
    p.tok = jq_lex_next(&p.lex);
    if (accept(&p, T_MODULE)) {
        m->metadata = parse_metadata(&p, "Module metadata");
        expect(&p, ';', NULL);
    }
    while (!p.failed && (p.tok.type == T_IMPORT || p.tok.type == T_INCLUDE)) {
        bool include = p.tok.type == T_INCLUDE;
        uint32_t start = p.tok.start;
        next(&p);
        *import = parse_import(&p, include, start);
        import = &(*import)->next;
    }
    while (accept(&p, T_DEF)) {
        *function = jq_parse_def(&p);
        function = &(*function)->next;
    }
    if (!p.failed && p.tok.type != T_EOF && !begins_query(p.tok.type))
        syntax(&p, "end of file");
    if (!p.failed && p.tok.type != T_EOF) {
        m->body = jq_parse_query(&p);
        if (!p.failed && p.tok.type != T_EOF)
            syntax(&p, "end of file");
    }
    return p.failed ? NULL : m;
}
