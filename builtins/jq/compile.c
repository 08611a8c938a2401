/* compile: the tree to code. Names are resolved here; a definition of the library is compiled when it is first named. */
#include "compile.h"

/* ---------- code ---------- */

uint32_t jq_emit(Compiler *c, Op op, uint8_t sub, uint16_t level, uint32_t arg)
{
    Unit *u = c->unit;
    if (u->count == u->cap) {
        uint32_t cap = u->cap ? u->cap * 2 : 16;
        u->code = mem_grow(c->mem, u->code, u->cap * sizeof(Ins), cap * sizeof(Ins));
        u->cap = cap;
    }
    u->code[u->count] = (Ins){(uint8_t)op, sub, level, arg};
    return u->count++;
}

void jq_land(Compiler *c, uint32_t at) { c->unit->code[at].arg = c->unit->count; }

uint32_t jq_add_constant(Compiler *c, Val v)
{
    JqProgram *p = c->program;
    if (p->nconstants == p->constants_cap) {
        uint32_t cap = p->constants_cap ? p->constants_cap * 2 : 32;
        p->constants = mem_grow(c->mem, p->constants, p->constants_cap * sizeof(Val), cap * sizeof(Val));
        p->constants_cap = cap;
    }
    if (v.kind == K_STRING && v.str->len <= 64) { /* the very string that the reader makes of such a key */
        Val key = val_str(str_key(c->j, val_slice(v)));
        val_free(c->j, v);
        v = key;
    }
    p->constants[p->nconstants] = v;
    return p->nconstants++;
}

static uint32_t add_native(Compiler *c, const Native *n)
{
    JqProgram *p = c->program;
    for (uint32_t i = 0; i < p->nnatives; i++)
        if (p->natives[i] == n)
            return i;
    if (p->nnatives == p->natives_cap) {
        uint32_t cap = p->natives_cap ? p->natives_cap * 2 : 16;
        p->natives = mem_grow(c->mem, p->natives, p->natives_cap * sizeof *p->natives, cap * sizeof *p->natives);
        p->natives_cap = cap;
    }
    p->natives[p->nnatives] = n;
    return p->nnatives++;
}

uint32_t jq_add_func(Compiler *c)
{
    JqProgram *p = c->program;
    if (p->nfuncs == p->funcs_cap) {
        uint32_t cap = p->funcs_cap ? p->funcs_cap * 2 : 16;
        p->funcs = mem_grow(c->mem, p->funcs, p->funcs_cap * sizeof *p->funcs, cap * sizeof *p->funcs);
        p->funcs_cap = cap;
    }
    p->funcs[p->nfuncs] = mem_new(c->mem, Func);
    return p->nfuncs++;
}

/* ---------- scopes ---------- */

Scope *jq_scope_add(Compiler *c, ScopeKind kind, Slice name)
{
    Scope *s = mem_new(c->mem, Scope);
    s->kind = kind;
    s->name = name;
    s->unit = c->unit;
    s->outer = c->scope;
    c->scope = s;
    return s;
}

uint16_t jq_level_of(const Compiler *c, const Unit *unit) { return (uint16_t)(c->unit->depth - unit->depth); }

uint32_t jq_new_local(Compiler *c) { return c->unit->locals++; }

Scope *jq_new_variable(Compiler *c, Slice name)
{
    Scope *s = jq_scope_add(c, SCOPE_VAR, name);
    s->index = jq_new_local(c);
    return s;
}

Scope *jq_find_variable(const Compiler *c, ScopeKind kind, Slice name)
{
    for (Scope *s = c->scope; s; s = s->outer)
        if (s->kind == kind && slice_eq(s->name, name))
            return s;
    return NULL;
}

static Scope *find_function(const Compiler *c, Slice name, size_t arity)
{
    for (Scope *s = c->scope; s; s = s->outer)
        if (s->kind >= SCOPE_FUNC && s->arity == arity && slice_eq(s->name, name))
            return s->kind == SCOPE_ALIAS ? s->at_call : s;
    return NULL;
}

void jq_undefined(Compiler *c, const Node *n, const char *format, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    jq_errors_add(&c->program->errors, n->source, n->start, n->end, "%s", text);
}

/* ---------- functions ---------- */

/* Calls before a return need no frame of their own, when nothing refers to the caller's. */
static const Ins *after_call(const Ins *code, uint32_t at)
{
    const Ins *next = &code[at + 1 + (code[at].op == OP_CALL ? code[at].sub : 0)];
    for (int hops = 0; next->op == OP_JUMP && hops < 32; hops++)
        next = &code[next->arg];
    return next;
}

static void find_tail_calls(Unit *u)
{
    for (uint32_t i = 0; i < u->count; i++) {
        Ins *ins = &u->code[i];
        if (ins->op == OP_CALLP && after_call(u->code, i)->op == OP_RET)
            ins->op = OP_TAILP;
        if (ins->op != OP_CALL)
            continue;
        bool free_of_frame = ins->level != 0;
        for (uint32_t k = 1; k <= ins->sub; k++)
            free_of_frame = free_of_frame && (ins[k].op == OP_ARG_PARAM || ins[k].level != 0);
        if (free_of_frame && after_call(u->code, i)->op == OP_RET)
            ins->op = OP_TAIL;
    }
}

void jq_unit_begin(Compiler *c, Unit *u)
{
    *u = (Unit){.outer = c->unit, .depth = c->unit ? c->unit->depth + 1 : 0};
    c->unit = u;
}

void jq_unit_end(Compiler *c, Unit *u, uint32_t func)
{
    Func *f = c->program->funcs[func];
    find_tail_calls(u);
    f->code = u->code;
    f->ncode = u->count;
    f->locals = u->locals;
    c->unit = u->outer;
}

/* `$name` parameters: the closure's value bound to a variable. */
static void bind_value_params(Compiler *c, const Function *f)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->params[i].data[0] != '$')
            continue;
        Slice name = slice_from(f->params[i], 1);
        Scope *param = find_function(c, name, 0);
        jq_emit(c, OP_DUP, 0, 0, 0);
        jq_emit(c, OP_NEST, 0, 0, 0);
        jq_compile_reference(c, param);
        jq_emit(c, OP_UNNEST, 0, 0, 0);
        Scope *v = jq_new_variable(c, name);
        jq_emit(c, OP_STOREV, 0, 0, v->index);
    }
}

static Slice param_name(Slice param) { return param.data[0] == '$' ? slice_from(param, 1) : param; }

/* Compiles the body as function `func`; `self` is in scope for it. */
void jq_compile_function(Compiler *c, const Function *f, uint32_t func)
{
    Unit u;
    Scope *saved = c->scope;
    jq_unit_begin(c, &u);
    c->program->funcs[func]->params = (uint32_t)f->count;
    for (size_t i = 0; i < f->count; i++) {
        Scope *s = jq_scope_add(c, SCOPE_PARAM, param_name(f->params[i]));
        s->index = (uint32_t)i;
    }
    bind_value_params(c, f);
    jq_compile_node(c, f->body);
    jq_emit(c, OP_RET, 0, 0, 0);
    jq_unit_end(c, &u, func);
    c->scope = saved;
}

/* A definition becomes visible, to its own body too; it is compiled when first named, so what nobody calls may be wrong. */
void jq_define(Compiler *c, const Function *f, Slice name, bool root)
{
    Scope *s = jq_scope_add(c, SCOPE_FUNC, name);
    s->arity = f->count;
    s->func = jq_add_func(c);
    s->root = root;
    s->pending = f;
}

/* The units around a definition are still open wherever it can be named. */
static void compile_pending(Compiler *c, Scope *s)
{
    const Function *f = s->pending;
    Unit *unit = c->unit;
    Scope *scope = c->scope;
    if (!f)
        return;
    s->pending = NULL;
    c->unit = s->unit;
    c->scope = s;
    jq_compile_function(c, f, s->func);
    c->unit = unit;
    c->scope = scope;
}

/* Closure argument: passed on, a plain function, or code of its own. */
static void compile_argument(Compiler *c, const Node *n)
{
    if (n->kind == N_CALL && n->count == 0) {
        Scope *s = find_function(c, n->name, 0);
        if (s && s->kind == SCOPE_PARAM) {
            jq_emit(c, OP_ARG_PARAM, 0, jq_level_of(c, s->unit), s->index);
            return;
        }
        if (s && s->kind == SCOPE_FUNC) {
            compile_pending(c, s);
            jq_emit(c, OP_ARG_NEW, 0, s->root ? LEVEL_ROOT : jq_level_of(c, s->unit), s->func);
            return;
        }
        if (s) {
            Scope *saved = c->scope;
            c->scope = s->at_call;
            compile_argument(c, s->argument);
            c->scope = saved;
            return;
        }
    }
    Unit u;
    uint32_t func = jq_add_func(c);
    jq_emit(c, OP_ARG_NEW, 0, 0, func);
    jq_unit_begin(c, &u);
    jq_compile_node(c, n);
    jq_emit(c, OP_RET, 0, 0, 0);
    jq_unit_end(c, &u, func);
}

static void compile_call_to(Compiler *c, Scope *s, Node *const *args, size_t count)
{
    compile_pending(c, s);
    jq_emit(c, OP_CALL, (uint8_t)count, s->root ? LEVEL_ROOT : jq_level_of(c, s->unit), s->func);
    for (size_t i = 0; i < count; i++)
        compile_argument(c, args[i]);
}

/* A call without arguments to what a scope entry means. */
void jq_compile_reference(Compiler *c, Scope *s)
{
    if (s->kind == SCOPE_PARAM) {
        jq_emit(c, OP_CALLP, 0, jq_level_of(c, s->unit), s->index);
    } else if (s->kind == SCOPE_FUNC) {
        compile_call_to(c, s, NULL, 0);
    } else {
        /* an expanded parameter: the argument, seen from where the call stood */
        Scope *saved = c->scope;
        c->scope = s->at_call;
        jq_compile_node(c, s->argument);
        c->scope = saved;
    }
}

/* ---------- the library ---------- */

static const Prelude *find_prelude(Slice name, size_t arity)
{
    for (size_t i = 0; i < jq_prelude_count; i++)
        if (jq_prelude[i].arity == arity && slice_is(name, jq_prelude[i].name))
            return &jq_prelude[i];
    return NULL;
}

static Function *parse_prelude(Compiler *c, const Prelude *p)
{
    Source *source = mem_new(c->mem, Source);
    *source = (Source){slice_str(p->text), "<builtin>"};
    Module *m = jq_parse(c->j, c->mem, source, &c->program->errors);
    return m ? m->functions : NULL;
}

/* Compiles the definition's body here, with its parameters standing for the arguments. */
static void expand(Compiler *c, const Function *f, const Node *call)
{
    Scope *saved = c->scope, *at_call = c->scope;
    c->scope = c->library;
    for (size_t i = 0; i < f->count; i++) {
        Scope *s = jq_scope_add(c, SCOPE_EXPAND, param_name(f->params[i]));
        s->argument = call->list[i];
        s->at_call = at_call;
    }
    bind_value_params(c, f);
    jq_compile_node(c, f->body);
    c->scope = saved;
}

static Scope *add_prelude(Compiler *c, const Function *f)
{
    Scope *s = mem_new(c->mem, Scope);
    *s = (Scope){.kind = SCOPE_FUNC, .name = f->name, .arity = f->count, .func = jq_add_func(c), .root = true, .outer = c->library, .pending = f};
    c->library = s;
    return s;
}

static Scope *find_compiled(const Compiler *c, const Prelude *p)
{
    for (Scope *s = c->library; s; s = s->outer)
        if (s->arity == p->arity && slice_is(s->name, p->name))
            return s;
    return NULL;
}

bool jq_compile_library_call(Compiler *c, const Node *n)
{
    const Prelude *p = find_prelude(n->name, n->count);
    if (!p)
        return false;
    Scope *s = find_compiled(c, p);
    if (!s) {
        const Function *f = parse_prelude(c, p);
        if (!f)
            return false;
        if (p->expand && c->depth < 40) {
            c->depth++;
            expand(c, f, n);
            c->depth--;
            return true;
        }
        s = add_prelude(c, f);
    }
    compile_call_to(c, s, n->list, n->count);
    return true;
}

/* ---------- calls ---------- */

void jq_compile_subexp(Compiler *c, const Node *n)
{
    if (n->kind == N_LITERAL) {
        jq_emit(c, OP_LOADK_UNDER, 0, 0, jq_add_constant(c, val_copy(n->lit)));
        return;
    }
    if (n->kind == N_INDEX && n->a->kind == N_IDENTITY && n->b->kind == N_LITERAL && !n->opt) {
        jq_emit(c, OP_FIELD_UNDER, 0, 0, jq_add_constant(c, val_copy(n->b->lit)));
        return;
    }
    jq_emit(c, OP_SUBEXP_BEGIN, 0, 0, 0);
    jq_compile_node(c, n);
    jq_emit(c, OP_SUBEXP_END, 0, 0, 0);
}

void jq_load_constant(Compiler *c, Val v) { jq_emit(c, OP_LOADK, 0, 0, jq_add_constant(c, v)); }

static bool compile_special(Compiler *c, const Node *n)
{
    if (n->count == 0 && slice_is(n->name, "empty")) {
        jq_emit(c, OP_BACKTRACK, 0, 0, 0);
    } else if (n->count == 0 && (slice_is(n->name, "true") || slice_is(n->name, "false"))) {
        jq_load_constant(c, val_bool(slice_is(n->name, "true")));
    } else if (n->count == 0 && slice_is(n->name, "null")) {
        jq_load_constant(c, VAL_NULL);
    } else if (n->count == 1 && slice_is(n->name, "path")) {
        jq_emit(c, OP_PATH_BEGIN, 0, 0, 0);
        jq_compile_node(c, n->list[0]);
        jq_emit(c, OP_PATH_END, 0, 0, 0);
    } else if (n->count == 2 && slice_is(n->name, "range")) {
        jq_compile_subexp(c, n->list[0]);
        jq_compile_subexp(c, n->list[1]);
        jq_emit(c, OP_RANGE, 0, 0, 0);
    } else {
        return false;
    }
    return true;
}

void jq_compile_call(Compiler *c, const Node *n)
{
    Scope *s = find_function(c, n->name, n->count);
    if (s) {
        if (n->count)
            compile_call_to(c, s, n->list, n->count);
        else
            jq_compile_reference(c, s);
        return;
    }
    if (compile_special(c, n))
        return;
    const Native *native = jq_native_find(n->name, n->count);
    if (native) {
        for (size_t i = n->count; i-- > 0;)
            jq_compile_subexp(c, n->list[i]);
        jq_emit(c, OP_CALLC, 0, 0, add_native(c, native));
        return;
    }
    if (!jq_compile_library_call(c, n))
        jq_undefined(c, n, "%.*s/%zu is not defined", (int)n->name.len, n->name.data, n->count);
}

/* ---------- variables and patterns ---------- */

static Val environment(J *j)
{
    if (!j->environment) {
        Val o = obj_new(j, 8);
        for (char **e = proc_environ(j->proc); e && *e; e++) {
            Slice s = slice_str(*e);
            size_t at = slice_find(s, '=');
            if (at < s.len)
                o = obj_set(j, o, val_string_utf8(j, (Slice){s.data, at}), val_string_utf8(j, slice_from(s, at + 1)));
        }
        j->environment = o.obj;
    }
    return val_copy(val_obj(j->environment));
}

Val jq_environment(J *j) { return environment(j); }

void jq_compile_variable(Compiler *c, const Node *n)
{
    Scope *s = jq_find_variable(c, SCOPE_VAR, n->name);
    if (s && s->constant.kind) {
        jq_load_constant(c, val_copy(s->constant));
        return;
    }
    if (s) {
        jq_emit(c, n->op ? OP_LOADVN : OP_LOADV, 0, jq_level_of(c, s->unit), s->index);
        return;
    }
    if (slice_is(n->name, "ENV")) {
        jq_load_constant(c, environment(c->j));
        return;
    }
    jq_undefined(c, n, "$%.*s is not defined", (int)n->name.len, n->name.data);
}

void jq_compile_loc(Compiler *c, const Node *n)
{
    Val o = obj_set_text(c->j, obj_new(c->j, 2), "file", val_text(c->j, n->source->name));
    jq_load_constant(c, obj_set_text(c->j, o, "line", n->lit));
}

/* Makes a variable for every name of the pattern that has none yet since `from`. */
static void declare_pattern(Compiler *c, const Node *p, const Scope *from)
{
    if (!p)
        return;
    Slice name = p->name;
    if (p->kind == P_VAR) {
        for (Scope *s = c->scope; s != from; s = s->outer)
            if (s->kind == SCOPE_VAR && slice_eq(s->name, name))
                return;
        jq_new_variable(c, name);
        return;
    }
    for (size_t i = 0; i < p->count; i++) {
        const Node *part = p->list[i];
        if (p->kind == P_OBJECT && i % 2 == 0) {
            if (part->kind == N_VAR) {
                Node as_var = {.kind = P_VAR, .name = part->name};
                declare_pattern(c, &as_var, from);
            }
            continue;
        }
        declare_pattern(c, part, from);
    }
}

static void store_name(Compiler *c, Slice name)
{
    Scope *s = jq_find_variable(c, SCOPE_VAR, name);
    if (c->binding && s->bound == c->binding) {
        jq_emit(c, OP_POP, 0, 0, 0); /* named twice: what is taken first stays */
        return;
    }
    s->bound = c->binding;
    jq_emit(c, OP_STOREV, 0, jq_level_of(c, s->unit), s->index);
}

static void bind_pattern(Compiler *c, const Node *p);

static void bind_member(Compiler *c, const Node *key, const Node *value)
{
    jq_emit(c, OP_DUP, 0, 0, 0);
    if (key->kind == N_VAR) {
        jq_emit(c, OP_FIELD, 0, 0, jq_add_constant(c, val_string(c->j, key->name)));
        if (value)
            jq_emit(c, OP_DUP, 0, 0, 0);
        store_name(c, key->name);
    } else if (key->kind == N_LITERAL) {
        jq_emit(c, OP_FIELD, 0, 0, jq_add_constant(c, val_copy(key->lit)));
    } else {
        jq_compile_subexp(c, key);
        jq_emit(c, OP_INDEX, 0, 0, 0);
    }
    if (value)
        bind_pattern(c, value);
}

/* Takes the value on top apart: arrays from their last member, objects from their first, as jq does. */
static void bind_pattern(Compiler *c, const Node *p)
{
    if (p->kind == P_VAR) {
        store_name(c, p->name);
        return;
    }
    for (size_t i = p->count; p->kind == P_ARRAY && i-- > 0;) {
        jq_emit(c, OP_DUP, 0, 0, 0);
        jq_emit(c, OP_FIELD, 0, 0, jq_add_constant(c, val_num((double)i)));
        bind_pattern(c, p->list[i]);
    }
    for (size_t i = 0; p->kind == P_OBJECT && i < p->count; i += 2)
        bind_member(c, p->list[i], p->list[i + 1]);
    jq_emit(c, OP_POP, 0, 0, 0);
}

/* The value on top is bound by one of the patterns; the scope is left with their variables. */
void jq_bind_patterns(Compiler *c, const Node *n)
{
    Scope *from = c->scope;
    uint32_t *jumps = mem_array(c->mem, n->count, uint32_t), count = 0;
    unsigned outer = c->binding;
    for (size_t i = 0; i < n->count; i++)
        declare_pattern(c, n->list[i], from);
    for (size_t i = 0; i < n->count; i++) {
        bool last = i + 1 == n->count;
        uint32_t alt = last ? 0 : jq_emit(c, OP_ALT, 0, 0, 0);
        for (Scope *s = c->scope; n->count > 1 && s != from; s = s->outer)
            jq_emit(c, OP_SETV, K_NULL, 0, s->index);
        c->binding = n->count > 1 ? 0 : ++c->bindings;
        bind_pattern(c, n->list[i]);
        c->binding = outer;
        if (!last) {
            jumps[count++] = jq_emit(c, OP_JUMP, 0, 0, 0);
            jq_land(c, alt);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        jq_land(c, jumps[i]);
}
