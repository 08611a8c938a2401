/* compile_forms: the code of each form of the language. */
#include "compile.h"

void jq_compile_nested(Compiler *c, const Node *n)
{
    jq_emit(c, OP_NEST, 0, 0, 0);
    jq_compile_node(c, n);
    jq_emit(c, OP_UNNEST, 0, 0, 0);
}

static void compile_binary(Compiler *c, const Node *n)
{
    if (n->b->kind == N_LITERAL) {
        jq_compile_nested(c, n->a);
        jq_emit(c, OP_BINARY_K, 0, (uint16_t)n->op, jq_add_constant(c, val_copy(n->b->lit)));
        return;
    }
    jq_compile_subexp(c, n->b);
    jq_compile_nested(c, n->a);
    jq_emit(c, OP_BINARY, 0, (uint16_t)n->op, 0);
}

static void compile_comma(Compiler *c, const Node *n)
{
    /* left-leaning chains are long in generated programs: walk them without recursion */
    const Node *parts[64] = {n->b};
    size_t count = 1;
    for (n = n->a; n->kind == N_COMMA && count < ARRAY_LEN(parts); n = n->a)
        parts[count++] = n->b;
    uint32_t jumps[64], used = 0;
    for (size_t i = count; i > 0; i--) {
        uint32_t fork = jq_emit(c, OP_FORK, 0, 0, 0);
        jq_compile_node(c, i == count ? n : parts[i]);
        jumps[used++] = jq_emit(c, OP_JUMP, 0, 0, 0);
        jq_land(c, fork);
    }
    jq_compile_node(c, parts[0]);
    while (used)
        jq_land(c, jumps[--used]);
}

static void compile_if(Compiler *c, const Node *n)
{
    jq_emit(c, OP_DUP, 0, 0, 0);
    jq_compile_nested(c, n->a);
    uint32_t otherwise = jq_emit(c, OP_JUMP_F, 0, 0, 0);
    jq_compile_node(c, n->b);
    if (!n->c) {
        uint32_t past = jq_emit(c, OP_JUMP, 0, 0, 0);
        jq_land(c, otherwise);
        jq_land(c, past);
        return;
    }
    uint32_t end = jq_emit(c, OP_JUMP, 0, 0, 0);
    jq_land(c, otherwise);
    jq_compile_node(c, n->c);
    jq_land(c, end);
}

static void compile_logic(Compiler *c, const Node *n)
{
    bool is_and = n->kind == N_AND;
    jq_emit(c, OP_DUP, 0, 0, 0);
    jq_compile_node(c, n->a);
    uint32_t left_false = jq_emit(c, OP_JUMP_F, 0, 0, 0), left_true = 0;
    if (!is_and) {
        left_true = jq_emit(c, OP_JUMP, 0, 0, 0);
        jq_land(c, left_false);
    }
    jq_emit(c, OP_DUP, 0, 0, 0);
    jq_compile_node(c, n->b);
    uint32_t right_false = jq_emit(c, OP_JUMP_F, 0, 0, 0);
    if (!is_and)
        jq_land(c, left_true);
    jq_load_constant(c, VAL_TRUE);
    uint32_t end = jq_emit(c, OP_JUMP, 0, 0, 0);
    jq_land(c, right_false);
    if (is_and)
        jq_land(c, left_false);
    jq_load_constant(c, VAL_FALSE);
    jq_land(c, end);
}

static void compile_alternative(Compiler *c, const Node *n)
{
    uint32_t found = jq_new_local(c);
    jq_emit(c, OP_SETV, K_FALSE, 0, found);
    uint32_t fork = jq_emit(c, OP_FORK, 0, 0, 0);
    jq_compile_node(c, n->a);
    jq_emit(c, OP_DUP, 0, 0, 0);
    uint32_t nothing = jq_emit(c, OP_JUMP_F, 0, 0, 0);
    jq_emit(c, OP_SETV, K_TRUE, 0, found);
    uint32_t out = jq_emit(c, OP_JUMP, 0, 0, 0);
    jq_land(c, nothing);
    jq_emit(c, OP_BACKTRACK, 0, 0, 0);
    jq_land(c, fork);
    jq_emit(c, OP_DUP, 0, 0, 0);
    jq_emit(c, OP_LOADV, 0, 0, found);
    uint32_t none = jq_emit(c, OP_JUMP_F, 0, 0, 0);
    jq_emit(c, OP_BACKTRACK, 0, 0, 0);
    jq_land(c, none);
    jq_compile_node(c, n->b);
    jq_land(c, out);
}

static void compile_try(Compiler *c, const Node *n)
{
    uint32_t begin = jq_emit(c, OP_TRY, 0, 0, 0);
    jq_compile_node(c, n->a);
    jq_emit(c, OP_TRY_END, 0, 0, 0);
    uint32_t past = jq_emit(c, OP_JUMP, 0, 0, 0);
    jq_land(c, begin);
    if (n->b)
        jq_compile_node(c, n->b);
    else
        jq_emit(c, OP_BACKTRACK, 0, 0, 0);
    jq_land(c, past);
}

static void compile_reduce(Compiler *c, const Node *n)
{
    Scope *saved = c->scope;
    uint32_t state = jq_new_local(c);
    jq_emit(c, OP_DUP, 1, 0, 0);
    jq_compile_node(c, n->b);
    jq_emit(c, OP_STOREV, 0, 0, state);
    uint32_t fork = jq_emit(c, OP_FORK_MOVE, 0, 0, 0);
    jq_compile_node(c, n->a);
    jq_bind_patterns(c, n);
    jq_emit(c, OP_LOADVN, 0, 0, state);
    jq_compile_node(c, n->c);
    jq_emit(c, OP_STOREV, 0, 0, state);
    jq_emit(c, OP_BACKTRACK, 0, 0, 0);
    jq_land(c, fork);
    jq_emit(c, OP_LOADVN, 0, 0, state);
    c->scope = saved;
}

static void compile_foreach(Compiler *c, const Node *n)
{
    Scope *saved = c->scope;
    uint32_t state = jq_new_local(c);
    jq_emit(c, OP_DUP, 0, 0, 0);
    jq_compile_node(c, n->b);
    jq_emit(c, OP_STOREV, 0, 0, state);
    jq_emit(c, OP_DUPN, 0, 0, 0);
    jq_compile_node(c, n->a);
    jq_bind_patterns(c, n);
    jq_emit(c, OP_LOADVN, 0, 0, state);
    jq_compile_node(c, n->c);
    jq_emit(c, OP_DUP, 0, 0, 0);
    jq_emit(c, OP_STOREV, 0, 0, state);
    if (n->d)
        jq_compile_node(c, n->d);
    c->scope = saved;
}

static void compile_as(Compiler *c, const Node *n)
{
    Scope *saved = c->scope;
    jq_emit(c, OP_DUP, 0, 0, 0);
    jq_compile_nested(c, n->a);
    jq_bind_patterns(c, n);
    jq_compile_node(c, n->b);
    c->scope = saved;
}

static void compile_label(Compiler *c, const Node *n)
{
    Scope *saved = c->scope;
    Scope *s = jq_scope_add(c, SCOPE_LABEL, n->name);
    s->index = jq_new_local(c);
    jq_emit(c, OP_LABEL, 0, 0, s->index);
    jq_compile_node(c, n->a);
    c->scope = saved;
}

static void compile_break(Compiler *c, const Node *n)
{
    Scope *s = jq_find_variable(c, SCOPE_LABEL, n->name);
    if (s)
        jq_emit(c, OP_BREAK, 0, jq_level_of(c, s->unit), s->index);
    else
        jq_undefined(c, n, "$*label-%.*s is not defined", (int)n->name.len, n->name.data);
}

static void compile_array(Compiler *c, const Node *n)
{
    if (!n->a) {
        jq_load_constant(c, arr_new(c->j, 0));
        return;
    }
    uint32_t list = jq_new_local(c);
    jq_emit(c, OP_SETV, K_ARRAY, 0, list);
    uint32_t fork = jq_emit(c, OP_FORK, 0, 0, 0);
    jq_compile_node(c, n->a);
    jq_emit(c, OP_APPEND, 0, 0, list);
    jq_land(c, fork);
    jq_emit(c, OP_LOADVN, 0, 0, list);
}

static bool literal_keys(const Node *n)
{
    for (size_t i = 0; i < n->count; i += 2)
        if (n->list[i]->kind != N_LITERAL || n->list[i]->lit.kind != K_STRING)
            return false;
    return n->count / 2 < 250;
}

static void compile_object(Compiler *c, const Node *n)
{
    if (n->count == 0) {
        jq_load_constant(c, obj_new(c->j, 0));
        return;
    }
    if (literal_keys(n)) {
        for (size_t i = 0; i < n->count; i += 2)
            jq_compile_subexp(c, n->list[i + 1]);
        jq_emit(c, OP_OBJECT, 0, 0, (uint32_t)(n->count / 2));
        for (size_t i = 0; i < n->count; i += 2)
            jq_emit(c, OP_KEY, 0, 0, jq_add_constant(c, val_copy(n->list[i]->lit)));
        return;
    }
    jq_emit(c, OP_LOADK_UNDER, 0, 0, jq_add_constant(c, obj_new(c->j, 0)));
    for (size_t i = 0; i < n->count; i += 2) {
        jq_compile_subexp(c, n->list[i]);
        jq_compile_subexp(c, n->list[i + 1]);
        jq_emit(c, OP_INSERT, 0, 0, 0);
    }
    jq_emit(c, OP_POP, 0, 0, 0);
}

static void compile_string(Compiler *c, const Node *n)
{
    for (size_t i = n->count; i-- > 0;) {
        const Node *part = n->list[i];
        jq_emit(c, OP_SUBEXP_BEGIN, 0, 0, 0);
        jq_compile_node(c, part);
        if (part->kind != N_LITERAL || part->op != LITERAL_TEXT)
            jq_emit(c, OP_FORMAT, 0, 0, jq_add_constant(c, val_string(c->j, n->name.len ? n->name : SLICE("text"))));
        jq_emit(c, OP_SUBEXP_END, 0, 0, 0);
    }
    jq_emit(c, OP_CONCAT, 0, 0, (uint32_t)n->count);
}

static void compile_index(Compiler *c, const Node *n)
{
    if (n->b->kind == N_LITERAL) {
        jq_compile_node(c, n->a);
        jq_emit(c, OP_FIELD, n->opt, 0, jq_add_constant(c, val_copy(n->b->lit)));
        return;
    }
    jq_compile_subexp(c, n->b);
    jq_compile_node(c, n->a);
    jq_emit(c, OP_INDEX, n->opt, 0, 0);
}

static void compile_slice(Compiler *c, const Node *n)
{
    static const Node null = {.kind = N_LITERAL, .lit = {.kind = K_NULL}};
    jq_compile_subexp(c, n->b ? n->b : &null);
    jq_compile_subexp(c, n->c ? n->c : &null);
    jq_emit(c, OP_SLICE_KEY, 0, 0, 0);
    jq_compile_node(c, n->a);
    jq_emit(c, OP_INDEX, n->opt, 0, 0);
}

static int assigned_operator(int op)
{
    switch (op) {
    case T_SETPLUS:
        return '+';
    case T_SETMINUS:
        return '-';
    case T_SETMULT:
        return '*';
    case T_SETDIV:
        return '/';
    case T_SETMOD:
        return '%';
    default:
        return T_ALT;
    }
}

/* a op= b is  b as $tmp | _modify(a; . op $tmp);  a = b is _assign(a; b). */
static void compile_assign(Compiler *c, const Node *n)
{
    if (n->op == '=' || n->op == T_SETPIPE) {
        Node *args[2] = {n->a, n->b};
        Node call = {.kind = N_CALL, .name = n->op == '=' ? SLICE("_assign") : SLICE("_modify"), .list = args, .count = 2,
                     .source = n->source, .start = n->start, .end = n->end};
        Scope *s = c->scope; /* nothing the program defines is meant */
        if (!jq_compile_library_call(c, &call))
            jq_undefined(c, n, "%.*s is not defined", (int)call.name.len, call.name.data);
        c->scope = s;
        return;
    }
    Scope *saved = c->scope;
    jq_emit(c, OP_DUP, 0, 0, 0);
    jq_compile_node(c, n->b);
    Scope *tmp = jq_new_variable(c, SLICE("*tmp"));
    jq_emit(c, OP_STOREV, 0, 0, tmp->index);
    Node *dot = mem_new(c->mem, Node), *var = mem_new(c->mem, Node), *update = mem_new(c->mem, Node);
    dot->kind = N_IDENTITY;
    *var = (Node){.kind = N_VAR, .name = tmp->name, .source = n->source};
    int op = assigned_operator(n->op);
    *update = (Node){.kind = op == T_ALT ? N_ALTERNATIVE : N_BINARY, .op = op, .a = dot, .b = var, .source = n->source};
    Node *args[2] = {n->a, update};
    Node call = {.kind = N_CALL, .name = SLICE("_modify"), .list = args, .count = 2, .source = n->source};
    jq_compile_library_call(c, &call);
    c->scope = saved;
}

static void compile_pipe(Compiler *c, const Node *n)
{
    for (; n->kind == N_PIPE; n = n->b)
        jq_compile_node(c, n->a);
    jq_compile_node(c, n);
}

static void compile_def(Compiler *c, const Node *n)
{
    Scope *saved = c->scope;
    jq_define(c, n->func, n->func->name, false);
    jq_compile_node(c, n->a);
    c->scope = saved;
}

static void compile_format(Compiler *c, const Node *n)
{
    jq_emit(c, OP_FORMAT, 0, 0, jq_add_constant(c, val_string(c->j, n->name)));
}

static void compile_recurse(Compiler *c, const Node *n)
{
    Node call = {.kind = N_CALL, .name = SLICE("recurse"), .source = n->source, .start = n->start, .end = n->end};
    jq_compile_library_call(c, &call);
}

static void compile_each(Compiler *c, const Node *n)
{
    jq_compile_node(c, n->a);
    jq_emit(c, OP_EACH, n->opt, 0, 0);
}

static void compile_negate(Compiler *c, const Node *n)
{
    jq_compile_nested(c, n->a);
    jq_emit(c, OP_NEGATE, 0, 0, 0);
}

static void compile_literal(Compiler *c, const Node *n) { jq_load_constant(c, val_copy(n->lit)); }
static void compile_identity(Compiler *c, const Node *n) { (void)c, (void)n; }

void jq_compile_node(Compiler *c, const Node *n)
{
    static void (*const forms[])(Compiler *, const Node *) = {
        [N_IDENTITY] = compile_identity, [N_RECURSE] = compile_recurse, [N_LITERAL] = compile_literal, [N_STRING] = compile_string,
        [N_FORMAT] = compile_format, [N_INDEX] = compile_index, [N_SLICE] = compile_slice, [N_EACH] = compile_each, [N_TRY] = compile_try,
        [N_PIPE] = compile_pipe, [N_COMMA] = compile_comma, [N_BINARY] = compile_binary, [N_AND] = compile_logic, [N_OR] = compile_logic,
        [N_ALTERNATIVE] = compile_alternative, [N_ASSIGN] = compile_assign, [N_NEGATE] = compile_negate, [N_IF] = compile_if,
        [N_REDUCE] = compile_reduce, [N_FOREACH] = compile_foreach, [N_DEF] = compile_def, [N_CALL] = jq_compile_call, [N_VAR] = jq_compile_variable,
        [N_AS] = compile_as, [N_LABEL] = compile_label, [N_BREAK] = compile_break, [N_ARRAY] = compile_array, [N_OBJECT] = compile_object,
        [N_LOC] = jq_compile_loc,
    };
    if (!proc_stack_room(c->j->proc, COMPILE_ROOM)) {
        if (!c->exhausted)
            jq_undefined(c, n, "program too deep");
        c->exhausted = true;
        return;
    }
    proc_tick(c->j->proc, 1);
    forms[n->kind](c, n);
}
