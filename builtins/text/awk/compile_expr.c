/* awk's expressions as instructions. As in gawk, the right side of an assignment comes before the subscripts of the left. */
#include "compile.h"

#include "parser.h"

enum { DEEPEST = 20000, STACK_LEAST = 32 * 1024 };

static void enter_node(Compiler *c, const Node *n)
{
    c->node = n;
    if (++c->depth > DEEPEST || !proc_stack_room(c->w->p, STACK_LEAST))
        compile_fatal(c, n, "program nested too deeply");
}

static void emit_lint(Compiler *c, unsigned what, int32_t b)
{
    if (c->w->lint)
        awk_emit(c, I_LINT, what, b);
}

int32_t awk_constant(Compiler *c, Value v)
{
    Script *s = c->script;
    if (v.kind == V_NUM)
        for (uint32_t i = s->constant_count; i-- > 0 && s->constant_count - i < 16;)
            if (s->constants[i].kind == V_NUM && memcmp(&s->constants[i].n, &v.n, sizeof v.n) == 0)
                return (int32_t)i;
    if (s->constant_count == s->constant_cap) {
        uint32_t cap = s->constant_cap ? s->constant_cap * 2 : 64;
        s->constants = mem_grow(&c->w->p->keep, s->constants, s->constant_cap * sizeof v, cap * sizeof v);
        s->constant_cap = cap;
    }
    s->constants[s->constant_count] = v;
    return (int32_t)s->constant_count++;
}

static int32_t rx_number(Compiler *c, const Rx *rx)
{
    for (uint32_t i = 0; i < c->w->rx_count; i++)
        if (c->w->rx_list[i] == rx)
            return (int32_t)i;
    return 0;
}

/* ---------- places ---------- */

static int32_t cell_of(const Node *n) { return n->type == N_LOCAL ? ~(int32_t)n->index : (int32_t)n->index; }

int32_t compile_array(Compiler *c, const Node *n)
{
    if (n->type == N_GLOBAL || n->type == N_LOCAL)
        return cell_of(n);
    compile_array_value(c, n);
    return CELL_STACK;
}

void compile_array_value(Compiler *c, const Node *n)
{
    enter_node(c, n);
    if (n->type == N_GLOBAL || n->type == N_LOCAL) {
        awk_emit(c, I_ARRAY, 0, cell_of(n));
    } else if (n->type == N_INDEX) {
        int32_t cell = compile_array(c, n->a);
        compile_subscripts(c, n->list);
        awk_emit(c, I_ELEM_ARRAY, 0, cell);
    } else {
        compile_fatal(c, n, "attempt to use scalar value as array");
    }
    c->depth--;
}

void compile_subscripts(Compiler *c, const Node *list)
{
    int32_t count = 0;
    for (const Node *k = list; k; k = k->next, count++)
        compile_expr(c, k);
    if (count > 1)
        awk_emit(c, I_SUBSCRIPTS, 0, count);
}

unsigned compile_place(Compiler *c, const Node *n, int32_t *b)
{
    *b = (int32_t)n->index;
    switch (n->type) {
    case N_GLOBAL: return n->index < SPECIALS ? LV_SPECIAL : LV_GLOBAL;
    case N_LOCAL: return LV_LOCAL;
    case N_FIELD:
        compile_expr(c, n->a);
        return LV_FIELD;
    default:
        *b = compile_array(c, n->a);
        compile_subscripts(c, n->list);
        return LV_ELEM;
    }
}

/* ---------- operands ---------- */

/* An operand that is wanted as a number: a field need not become a string first. */
static void compile_number(Compiler *c, const Node *n)
{
    if (n->type == N_FIELD && n->a->type == N_NUM && n->a->num >= 0 && n->a->num < 1e6)
        awk_emit(c, I_FIELD_NUMBER, 0, (int32_t)n->a->num);
    else
        compile_expr(c, n);
}

static void compile_field(Compiler *c, const Node *n)
{
    if (n->a->type == N_NUM && n->a->num >= 0 && n->a->num < 1e6) {
        emit_lint(c, LINT_FIELD, (int32_t)n->a->num);
        awk_emit(c, I_FIELD_CONST, 0, (int32_t)n->a->num);
        return;
    }
    compile_expr(c, n->a);
    emit_lint(c, LINT_FIELD, -1);
    awk_emit(c, I_FIELD, 0, 0);
}

static void compile_argument(Compiler *c, const Node *n)
{
    if (n->type == N_GLOBAL && n->index >= SPECIALS && !n->parens) {
        awk_emit(c, I_ARG_GLOBAL, 0, (int32_t)n->index);
    } else if (n->type == N_LOCAL && !n->parens) {
        awk_emit(c, I_ARG_LOCAL, 0, (int32_t)n->index);
    } else if (n->type == N_INDEX) {
        int32_t cell = compile_array(c, n->a);
        compile_subscripts(c, n->list);
        awk_emit(c, I_ELEM, ELEM_ARRAYS, cell);
    } else {
        compile_expr(c, n);
    }
}

static void compile_regex_argument(Compiler *c, const Node *n)
{
    if (n->type == N_REGEX || n->type == N_TYPED_REGEX)
        awk_emit(c, I_REGEX, 0, rx_number(c, n->rx));
    else
        compile_expr(c, n);
}

/* ---------- calls ---------- */

static unsigned count_list(const Node *list)
{
    unsigned n = 0;
    for (; list; list = list->next)
        n++;
    return n;
}

static void compile_call(Compiler *c, const Node *n)
{
    unsigned count = count_list(n->list);
    if (count > 65535)
        compile_fatal(c, n, "too many arguments");
    for (const Node *a = n->list; a; a = a->next)
        compile_argument(c, a);
    c->node = n;
    if (n->type == N_CALL_BY_NAME) {
        compile_expr(c, n->a);
        awk_emit(c, I_CALL_NAME, count, 0);
        return;
    }
    const Function *f = &c->script->functions[n->index];
    if (f->defined && count > f->params) {
        compile_warning(c, n, "function `%.*s' called with more arguments than declared", (int)f->name.len, f->name.data);
        for (; count > f->params; count--)
            awk_emit(c, I_POP, 0, 0);
    }
    awk_emit(c, I_CALL, count, (int32_t)n->index);
}

/* Which arguments of a builtin are regular expressions, and which arrays, as bits. */
static unsigned regex_arguments(uint32_t id)
{
    switch (id) {
    case B_MATCH: return 1 << 1;
    case B_SPLIT: case B_PATSPLIT: return 1 << 2;
    case B_SUB: case B_GSUB: case B_GENSUB: return 1 << 0;
    case B_TYPEOF: return 1 << 0;
    default: return 0;
    }
}

static unsigned array_arguments(uint32_t id)
{
    switch (id) {
    case B_MATCH: return 1 << 2;
    case B_SPLIT: case B_PATSPLIT: return 1 << 1 | 1 << 3;
    case B_ASORT: case B_ASORTI: return 1 << 0 | 1 << 1;
    default: return 0;
    }
}

static void compile_builtin(Compiler *c, const Node *n)
{
    uint32_t id = n->index;
    unsigned i = 0, regexes = regex_arguments(id), arrays = array_arguments(id);
    bool by_reference = id == B_LENGTH || id == B_TYPEOF || id == B_ISARRAY;
    if (id == B_LENGTH && !n->list) {
        awk_emit(c, I_FIELD_CONST, 0, 0);
        awk_emit(c, I_BUILTIN, 1, B_LENGTH);
        return;
    }
    for (const Node *a = n->list; a; a = a->next, i++) {
        if (i < 8 && (arrays >> i & 1))
            compile_array_value(c, a);
        else if (i < 8 && (regexes >> i & 1) && (id != B_TYPEOF || a->type == N_TYPED_REGEX))
            compile_regex_argument(c, a);
        else if (by_reference)
            compile_argument(c, a);
        else
            compile_expr(c, a);
    }
    c->node = n;
    awk_emit(c, I_BUILTIN, i, (int32_t)id);
}

/* sub and gsub read and write their target in one instruction. */
static void compile_subst(Compiler *c, const Node *n)
{
    const Node *re = n->list, *replacement = re->next, *target = replacement->next;
    int32_t b = 0;
    unsigned place = LV_RECORD;
    compile_regex_argument(c, re);
    compile_expr(c, replacement);
    if (target && (is_lvalue(target) || target->type == N_INDEX)) {
        place = compile_place(c, target, &b);
    } else if (target) {
        compile_expr(c, target);
        place = LV_NONE;
    }
    c->node = n;
    awk_emit(c, I_SUBST, place | (n->index == B_GSUB ? 1u << 4 : 0), b);
}

static void compile_getline(Compiler *c, const Node *n)
{
    int32_t b = 0;
    unsigned place = LV_RECORD;
    if (n->a)
        compile_expr(c, n->a);
    if (n->b)
        place = compile_place(c, n->b, &b);
    c->node = n;
    awk_emit(c, I_GETLINE, place | (unsigned)n->op << 4, b);
}

/* ---------- assignment ---------- */

static bool same_variable(const Node *a, const Node *b) { return a->type == b->type && a->index == b->index; }

/* v = v x y: appended in place. */
static bool compile_append(Compiler *c, const Node *n)
{
    const Node *place = n->a, *value = n->b;
    if (n->op != OP_NONE || value->type != N_CONCAT || value->parens || (place->type != N_GLOBAL && place->type != N_LOCAL) ||
        (place->type == N_GLOBAL && place->index < SPECIALS) || !same_variable(place, value->list))
        return false;
    int32_t count = 0;
    for (const Node *a = value->list->next; a; a = a->next, count++) {
        if (a->type != N_STR && a->type != N_NUM && a->type != N_GLOBAL && a->type != N_LOCAL && a->type != N_FIELD)
            return false;
    }
    for (const Node *a = value->list->next; a; a = a->next)
        compile_expr(c, a);
    if (count > 1)
        awk_emit(c, I_CONCAT, 0, count);
    awk_emit(c, I_APPEND, place->type == N_GLOBAL ? LV_GLOBAL : LV_LOCAL, (int32_t)place->index);
    return true;
}

static void compile_assign(Compiler *c, const Node *n, unsigned flags)
{
    if (flags && compile_append(c, n))
        return;
    if (n->op == OP_NONE)
        n->b->type == N_TYPED_REGEX ? compile_regex_argument(c, n->b) : compile_expr(c, n->b);
    else
        compile_number(c, n->b);
    int32_t b;
    unsigned place = compile_place(c, n->a, &b);
    c->node = n;
    if (n->op == OP_NONE && place == LV_GLOBAL)
        awk_emit(c, I_SET_GLOBAL, flags, b);
    else if (n->op == OP_NONE && place == LV_LOCAL)
        awk_emit(c, I_SET_LOCAL, flags, b);
    else if (n->op == OP_NONE)
        awk_emit(c, I_ASSIGN, place | flags, b);
    else if (place == LV_GLOBAL)
        emit_lint(c, LINT_CHANGED, b);
    if (n->op != OP_NONE)
        awk_emit(c, I_ASSIGN_OP, place | (unsigned)n->op << 4 | flags, b);
}

static void compile_step(Compiler *c, const Node *n, unsigned flags)
{
    int32_t b;
    unsigned place = compile_place(c, n->a, &b);
    int delta = n->op == STEP_PRE_INC || n->op == STEP_POST_INC ? 1 : -1;
    c->node = n;
    if (place == LV_GLOBAL)
        emit_lint(c, LINT_CHANGED, b);
    if (flags && (place == LV_GLOBAL || place == LV_LOCAL))
        awk_emit(c, place == LV_GLOBAL ? I_STEP_GLOBAL : I_STEP_LOCAL, (uint16_t)(int16_t)delta, b);
    else
        awk_emit(c, I_STEP, place | (unsigned)n->op << 4 | flags, b);
}

/* ---------- truth ---------- */

static int32_t compile_logic_jump(Compiler *c, const Node *n, bool sense, int32_t chain)
{
    bool decides = n->type == N_OR; /* the truth of a that settles it */
    if (sense == decides) {
        chain = compile_jump(c, n->a, sense, chain);
        return compile_jump(c, n->b, sense, chain);
    }
    int32_t skip = compile_jump(c, n->a, decides, -1);
    chain = compile_jump(c, n->b, sense, chain);
    awk_patch(c, skip, here(c));
    return chain;
}

int32_t compile_jump(Compiler *c, const Node *n, bool sense, int32_t chain)
{
    enter_node(c, n);
    if (n->type == N_AND || n->type == N_OR) {
        chain = compile_logic_jump(c, n, sense, chain);
    } else if (n->type == N_NOT) {
        chain = compile_jump(c, n->a, !sense, chain);
    } else if (n->type == N_COMPARE) {
        compile_expr(c, n->a);
        compile_expr(c, n->b);
        c->node = n;
        chain = emit_jump(c, I_COMPARE_JUMP, n->op | (unsigned)sense << 4, chain);
    } else {
        compile_expr(c, n);
        if (n->type == N_ASSIGN && !n->parens)
            emit_lint(c, LINT_CONDITION, 0);
        chain = emit_jump(c, sense ? I_JUMP_TRUE : I_JUMP_FALSE, 0, chain);
    }
    c->depth--;
    return chain;
}

static void compile_logic(Compiler *c, const Node *n)
{
    int32_t is_false = compile_jump(c, n, false, -1);
    awk_emit(c, I_CONST, 0, awk_constant(c, value_num(1)));
    int32_t end = emit_jump(c, I_JUMP, 0, -1);
    awk_patch(c, is_false, here(c));
    awk_emit(c, I_CONST, 0, awk_constant(c, value_num(0)));
    awk_patch(c, end, here(c));
}

static void compile_cond(Compiler *c, const Node *n)
{
    int32_t is_false = compile_jump(c, n->a, false, -1);
    compile_expr(c, n->b);
    int32_t end = emit_jump(c, I_JUMP, 0, -1);
    awk_patch(c, is_false, here(c));
    compile_expr(c, n->c);
    awk_patch(c, end, here(c));
}

static void compile_match(Compiler *c, const Node *n)
{
    compile_expr(c, n->a);
    if (n->b->type == N_REGEX || n->b->type == N_TYPED_REGEX) {
        awk_emit(c, I_MATCH_CONST, n->op, rx_number(c, n->b->rx));
        return;
    }
    compile_expr(c, n->b);
    c->node = n;
    awk_emit(c, I_MATCH, n->op, 0);
}

static void compile_binary(Compiler *c, const Node *n)
{
    compile_number(c, n->a);
    compile_number(c, n->b);
    c->node = n;
    awk_emit(c, I_ADD + (unsigned)(n->op - OP_PLUS), 0, 0);
}

static void compile_unary(Compiler *c, const Node *n, unsigned op)
{
    compile_expr(c, n->a);
    awk_emit(c, op, 0, 0);
}

static void compile_concat(Compiler *c, const Node *n)
{
    int32_t count = 0;
    for (const Node *a = n->list; a; a = a->next, count++)
        compile_expr(c, a);
    awk_emit(c, I_CONCAT, 0, count);
}

static void compile_in(Compiler *c, const Node *n)
{
    int32_t cell = compile_array(c, n->b);
    compile_subscripts(c, n->list);
    c->node = n;
    awk_emit(c, I_IN, 0, cell);
}

void compile_element(Compiler *c, const Node *n, unsigned how)
{
    int32_t cell = compile_array(c, n->a);
    compile_subscripts(c, n->list);
    c->node = n;
    if (cell != CELL_STACK)
        emit_lint(c, LINT_ELEMENT, cell);
    awk_emit(c, I_ELEM, how, cell);
}

void compile_expr(Compiler *c, const Node *n)
{
    enter_node(c, n);
    switch (n->type) {
    case N_NUM: awk_emit(c, I_CONST, 0, awk_constant(c, value_num(n->num))); break;
    case N_STR: awk_emit(c, I_CONST, 0, awk_constant(c, value_plain(c->w, n->text))); break;
    case N_REGEX: awk_emit(c, I_MATCH_RECORD, 0, rx_number(c, n->rx)); break;
    case N_TYPED_REGEX: awk_emit(c, I_REGEX, 0, rx_number(c, n->rx)); break;
    case N_GLOBAL:
        awk_emit(c, n->index < SPECIALS ? I_SPECIAL : I_GLOBAL, 0, (int32_t)n->index);
        if (n->index >= SPECIALS)
            emit_lint(c, LINT_GLOBAL, (int32_t)n->index);
        break;
    case N_LOCAL:
        awk_emit(c, I_LOCAL, 0, (int32_t)n->index);
        emit_lint(c, LINT_LOCAL, (int32_t)n->index);
        break;
    case N_FIELD: compile_field(c, n); break;
    case N_INDEX: compile_element(c, n, ELEM_VALUE); break;
    case N_ASSIGN: compile_assign(c, n, 0); break;
    case N_STEP: compile_step(c, n, 0); break;
    case N_COND: compile_cond(c, n); break;
    case N_AND: case N_OR: compile_logic(c, n); break;
    case N_NOT: compile_unary(c, n, I_NOT); break;
    case N_NEG: compile_unary(c, n, I_NEGATE); break;
    case N_PLUS: compile_unary(c, n, I_PLUS); break;
    case N_BINARY: compile_binary(c, n); break;
    case N_CONCAT: compile_concat(c, n); break;
    case N_COMPARE:
        compile_expr(c, n->a);
        compile_expr(c, n->b);
        awk_emit(c, I_COMPARE, n->op, 0);
        break;
    case N_MATCH: compile_match(c, n); break;
    case N_IN: compile_in(c, n); break;
    case N_CALL: case N_CALL_BY_NAME: compile_call(c, n); break;
    case N_BUILTIN: n->index == B_SUB || n->index == B_GSUB ? compile_subst(c, n) : compile_builtin(c, n); break;
    case N_GETLINE: compile_getline(c, n); break;
    default: compile_fatal(c, n, "syntax error");
    }
    c->depth--;
}

void compile_void(Compiler *c, const Node *n)
{
    if (n->type == N_ASSIGN) {
        c->node = n;
        compile_assign(c, n, FLAG_VOID);
    } else if (n->type == N_STEP) {
        c->node = n;
        compile_step(c, n, FLAG_VOID);
    } else {
        compile_expr(c, n);
        awk_emit(c, I_POP, 0, 0);
    }
}
