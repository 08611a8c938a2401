/* The machine: one loop over instructions. Calls are frames on a stack of its own, so that awk's recursion is bounded by memory
 * and not by the host's stack. */
#include "machine.h"

enum { TICK_EVERY = 1024 };

void awk_stack_room(Awk *w, uint32_t more)
{
    if (likely(w->stack_cap - w->top >= more))
        return;
    uint32_t cap = w->stack_cap ? w->stack_cap : 1024;
    while (cap - w->top < more) {
        if (cap > MAX_CELLS)
            awk_fatal(w, "function call nesting too deep");
        cap *= 2;
    }
    unsigned class = 0;
    Value *stack = heap_alloc(&w->heap, (size_t)cap * sizeof *stack, &class);
    if (w->stack) {
        memcpy(stack, w->stack, w->top * sizeof *stack);
        heap_free(&w->heap, w->stack, w->stack_class);
    }
    w->stack = stack;
    w->stack_class = class;
    w->stack_cap = cap;
}

void awk_unwind(Awk *w, uint32_t top)
{
    while (w->top > top)
        value_release(w, pop(w));
}

/* ---------- calls ---------- */

static void frame_push(Awk *w, int32_t back, uint32_t function)
{
    if (w->frame_count == w->frame_cap) {
        uint32_t cap = w->frame_cap ? w->frame_cap * 2 : 64;
        if (cap > MAX_FRAMES * 2u)
            awk_fatal(w, "function call nesting too deep");
        unsigned class = 0;
        Frame *frames = heap_alloc(&w->heap, (size_t)cap * sizeof *frames, &class);
        if (w->frames) {
            memcpy(frames, w->frames, w->frame_count * sizeof *frames);
            heap_free(&w->heap, w->frames, w->frames_class);
        }
        w->frames = frames;
        w->frames_class = class;
        w->frame_cap = cap;
    }
    w->frames[w->frame_count++] = (Frame){.back = back, .base = w->base, .function = w->function};
    w->function = function;
}

/* The arguments are on the stack; parameters without one are untyped. */
static int32_t call(Awk *w, uint32_t function, uint32_t count, int32_t back)
{
    const Function *f = &w->prog.functions[function];
    if (unlikely(!f->defined))
        awk_fatal(w, "function `%s' not defined", f->name.data);
    awk_stack_room(w, f->need);
    frame_push(w, back, function);
    w->base = w->top - count;
    for (uint32_t i = count; i < f->params; i++)
        push(w, value_unset());
    return f->entry;
}

static int32_t give_back(Awk *w, Value result)
{
    awk_unwind(w, w->base);
    Frame *f = &w->frames[--w->frame_count];
    w->base = f->base;
    w->function = f->function;
    push(w, result);
    return f->back;
}

static uint32_t function_by_name(Awk *w, uint32_t *count)
{
    Value *name = pop(w);
    String *s = value_string(w, name);
    value_release(w, name);
    int f = awk_function(w, string_slice(s));
    if (f < 0)
        awk_fatal(w, "`%s' is not a function, so it cannot be called indirectly", s->data);
    if (*count > w->prog.functions[f].params)
        awk_fatal(w, "function `%s' called with more arguments than declared", s->data);
    string_release(w, s);
    return (uint32_t)f;
}

Value machine_call(Awk *w, uint32_t function, Value *args, uint32_t count)
{
    if (!proc_stack_room(w->p, 64 * 1024))
        awk_fatal(w, "function call nesting too deep");
    const Insn *at = w->at;
    awk_stack_room(w, count + 16);
    for (uint32_t i = 0; i < count; i++)
        push(w, args[i]);
    int32_t entry = call(w, function, count, -1);
    if (machine_run(w, entry) != RUN_DONE)
        awk_leave(w);
    w->at = at;
    return *pop(w);
}

/* ---------- small steps ---------- */

static void concat(Awk *w, uint32_t count)
{
    Value *first = &w->stack[w->top - count];
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (first[i].kind != V_STR && first[i].kind != V_INPUT) {
            String *s = value_string(w, &first[i]);
            value_release(w, &first[i]);
            first[i] = value_str(s);
        }
        if (!size_add(total, first[i].s->len, &total))
            total = SIZE_MAX / 4;
    }
    String *r = string_alloc(w, total);
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(r->data + at, first[i].s->data, first[i].s->len);
        at += first[i].s->len;
        string_release(w, first[i].s);
    }
    w->top -= count;
    push(w, value_str(r));
}

static void subscripts(Awk *w, uint32_t count)
{
    Value *first = &w->stack[w->top - count];
    Buf *b = &w->work;
    buf_clear(b);
    for (uint32_t i = 0; i < count; i++) {
        String *s = value_string(w, &first[i]);
        if (i)
            buf_append(b, string_slice(w->subsep));
        buf_append(b, string_slice(s));
        string_release(w, s);
        value_release(w, &first[i]);
    }
    w->top -= count;
    push(w, value_plain(w, buf_slice(b)));
}

/* v = v s, in the block of v when it is held once and has room. */
static void append(Awk *w, Value *cell, const Value *v)
{
    String *s = value_string(w, v), *old;
    if (cell->kind == V_STR && cell->s->refs == 1 && s->len <= string_room(cell->s) - cell->s->len) {
        old = cell->s;
        memcpy(old->data + old->len, s->data, s->len);
        old->len += s->len;
        old->data[old->len] = 0;
        old->prefix_known = 0;
        old->looks = LOOKS_UNKNOWN;
        old->ascii = TEXT_UNKNOWN;
        string_release(w, s);
        return;
    }
    old = value_string(w, cell);
    size_t total;
    if (!size_add(old->len, s->len, &total) || !size_add(total, total / 2, &total))
        total = SIZE_MAX / 4;
    String *r = string_alloc(w, total); /* room to grow in */
    memcpy(r->data, old->data, old->len);
    memcpy(r->data + old->len, s->data, s->len);
    r->len = old->len + s->len;
    r->data[r->len] = 0;
    string_release(w, old);
    string_release(w, s);
    value_release(w, cell);
    *cell = value_str(r);
}

double awk_arith(Awk *w, Arith op, double a, double b)
{
    switch (op) {
    case OP_PLUS: return a + b;
    case OP_MINUS: return a - b;
    case OP_TIMES: return a * b;
    case OP_DIVIDE:
        if (b == 0)
            awk_fatal(w, "division by zero attempted");
        return a / b;
    case OP_MODULO:
        if (b == 0)
            awk_fatal(w, "division by zero attempted in `%%'");
        return fmod(a, b);
    default: return awk_power(a, b);
    }
}

static bool compare_holds(Compare op, int c)
{
    switch (op) {
    case CMP_LT: return c < 0;
    case CMP_LE: return c <= 0;
    case CMP_EQ: return c == 0;
    case CMP_NE: return c != 0;
    case CMP_GT: return c > 0;
    default: return c >= 0;
    }
}

static inline bool compare_numbers(Compare op, double a, double b)
{
    switch (op) {
    case CMP_LT: return a < b;
    case CMP_LE: return a <= b;
    case CMP_EQ: return a == b;
    case CMP_NE: return a != b;
    case CMP_GT: return a > b;
    default: return a >= b;
    }
}

static bool compare(Awk *w, Compare op, Value *x, Value *y)
{
    if (likely(x->kind == V_NUM && y->kind == V_NUM) && likely(!isunordered(x->n, y->n)))
        return compare_numbers(op, x->n, y->n);
    bool r = compare_holds(op, value_compare(w, x, y));
    value_release(w, x);
    value_release(w, y);
    return r;
}

static bool case_matches(Awk *w, Value *subject, Value *v, bool regex)
{
    bool equal;
    if (regex || v->kind == V_REGEX)
        equal = match_rx(w, subject, v->rx);
    else
        equal = value_compare(w, subject, v) == 0;
    value_release(w, v);
    return equal;
}

static void delete_element(Awk *w, int32_t b)
{
    Place at;
    place_pop_element(w, &at, b);
    table_remove(w, at.array, &at.key);
    place_done(w, &at);
}

static void delete_all(Awk *w, int32_t b)
{
    if (b == CELL_STACK) {
        Value *v = pop(w);
        table_clear(w, v->a);
        value_release(w, v);
        return;
    }
    table_clear(w, array_at(w, b));
}

/* [key] -> [element]; an array only where one may stand. */
static Value element_copy(Awk *w, Value *v, unsigned how)
{
    if (unlikely(how == ELEM_PRINTED && v->kind == V_UNSET && !v->cell))
        *v = value_str(string_ref(w->empty));
    return value_copy(v);
}

static Value symbol_value(Awk *w, const Place *at) { return at->b < SPECIALS ? special_value(w, (uint32_t)at->b) : value_copy(&w->globals[at->b]); }

static void element(Awk *w, unsigned how, int32_t b)
{
    if (b != CELL_STACK && b != G_SYMTAB && likely(w->stack[w->top - 1].kind != V_ARRAY)) {
        Value *key = &w->stack[w->top - 1];
        Array *a = array_at(w, b);
        key = &w->stack[w->top - 1];
        Value *v = table_get(w, a, key);
        Value r = element_copy(w, v, how);
        if (unlikely(r.kind == V_ARRAY && how != ELEM_ARRAYS))
            awk_fatal(w, "attempt to use array `%s[\"%s\"]' in a scalar context", cell_name(w, b), value_string(w, key)->data);
        value_release(w, key);
        *key = r;
        return;
    }
    Place at;
    place_pop(w, &at, LV_ELEM, b);
    Value r = at.kind != LV_ELEM ? symbol_value(w, &at) : element_copy(w, table_get(w, at.array, &at.key), how);
    if (r.kind == V_ARRAY && how != ELEM_ARRAYS)
        awk_fatal(w, "attempt to use array in a scalar context");
    place_done(w, &at);
    push(w, r);
}

static void element_array(Awk *w, int32_t b)
{
    Place at;
    place_pop(w, &at, LV_ELEM, b);
    Value *v = at.kind == LV_GLOBAL ? &w->globals[at.b] : table_get(w, at.array, &at.key);
    if (v->kind == V_UNSET) {
        Array *made = table_new(w);
        *v = (Value){.kind = V_ARRAY, .a = made};
    } else if (v->kind != V_ARRAY) {
        awk_fatal(w, "attempt to use scalar `%s[\"%s\"]' as an array", b == CELL_STACK ? "" : cell_name(w, b), value_string(w, &at.key)->data);
    }
    Value r = value_copy(v);
    place_done(w, &at);
    push(w, r);
}

static void is_in(Awk *w, int32_t b)
{
    Place at;
    place_pop_element(w, &at, b);
    bool found = table_find(w, at.array, &at.key) != NULL;
    place_done(w, &at);
    push(w, value_num(found));
}

static void step(Awk *w, unsigned a, int32_t b)
{
    Place at;
    place_pop(w, &at, a & 15, b);
    double delta = (a >> 4 & 15) == STEP_PRE_INC || (a >> 4 & 15) == STEP_POST_INC ? 1 : -1, old;
    if (at.kind == LV_ELEM) {
        Value *v = table_get(w, at.array, &at.key);
        if (v->kind == V_ARRAY)
            awk_fatal(w, "attempt to use array in a scalar context");
        old = value_number(w, v);
        value_release(w, v);
        *v = value_num(old + delta);
    } else {
        Value v = place_value(w, &at);
        old = value_number(w, &v);
        value_release(w, &v);
        place_store(w, &at, value_num(old + delta));
    }
    place_done(w, &at);
    if (!(a & FLAG_VOID))
        push(w, value_num((a >> 4 & 15) >= STEP_POST_INC ? old : old + delta));
}

static void step_cell(Awk *w, Value *cell, int32_t b, double delta)
{
    if (cell->kind == V_ARRAY)
        awk_fatal(w, "attempt to use array `%s' in a scalar context", cell_name(w, b));
    double n = value_number(w, cell) + delta;
    value_release(w, cell);
    *cell = value_num(n);
}

static void assign_op(Awk *w, unsigned a, int32_t b)
{
    Place at;
    place_pop(w, &at, a & 15, b);
    Value *right = pop(w);
    double r = value_number(w, right), n;
    value_release(w, right);
    if (at.kind == LV_ELEM) {
        Value *v = table_get(w, at.array, &at.key);
        if (v->kind == V_ARRAY)
            awk_fatal(w, "attempt to use array in a scalar context");
        n = awk_arith(w, a >> 4 & 15, value_number(w, v), r);
        value_release(w, v);
        *v = value_num(n);
    } else {
        Value v = place_value(w, &at);
        n = awk_arith(w, a >> 4 & 15, value_number(w, &v), r);
        value_release(w, &v);
        place_store(w, &at, value_num(n));
    }
    place_done(w, &at);
    if (!(a & FLAG_VOID))
        push(w, value_num(n));
}

static void assign(Awk *w, unsigned a, int32_t b)
{
    Place at;
    place_pop(w, &at, a & 15, b);
    Value *v = &w->stack[w->top - 1];
    if (v->kind == V_ARRAY)
        awk_fatal(w, "attempt to use array in a scalar context");
    if (a & FLAG_VOID) {
        w->top--;
        place_store(w, &at, *v);
    } else {
        place_store(w, &at, value_copy(v));
    }
    place_done(w, &at);
}

static void set_cell(Awk *w, Value *cell, bool is_void, int32_t b)
{
    Value *v = &w->stack[w->top - 1];
    if (unlikely(cell->kind == V_ARRAY))
        awk_fatal(w, "attempt to use array `%s' in a scalar context", cell_name(w, b));
    if (is_void) {
        value_release(w, cell);
        *cell = *v;
        w->top--;
    } else {
        Value copy = value_copy(v);
        value_release(w, cell);
        *cell = copy;
    }
    if (unlikely(cell->kind == V_UNSET || cell->kind == V_REF))
        *cell = unset_assigned(cell);
}

static void argument(Awk *w, int32_t b)
{
    Value *cell = cell_at(w, b);
    if (cell->kind == V_UNSET && !cell->cell)
        push(w, (Value){.kind = V_REF, .cell = b >= 0 ? (uint32_t)b | CELL_GLOBAL : w->base + (uint32_t)~b});
    else
        push(w, value_copy(cell));
}

static void scalar(Awk *w, int32_t b)
{
    Value *cell = cell_at(w, b);
    if (unlikely(cell->kind == V_ARRAY))
        awk_fatal(w, "attempt to use array `%s' in a scalar context", cell_name(w, b));
    /* What was read as a value is a scalar from then on. */
    while (cell->kind == V_REF)
        cell = cell->cell & CELL_GLOBAL ? &w->globals[cell->cell & ~CELL_GLOBAL] : &w->stack[cell->cell];
    if (cell->kind == V_UNSET && !cell->cell)
        cell->cell = 1;
    push(w, value_copy(cell));
}

static void exit_code(Awk *w, bool given)
{
    if (given) {
        Value *v = pop(w);
        double n = value_number(w, v);
        w->exit_code = (int)(unsigned)(int64_t)(n >= -9e15 && n <= 9e15 ? n : 0) & 255;
        value_release(w, v);
    }
    w->exiting = true;
}

/* Two operands as numbers; the left one's place stays for the result. */
#define OPERANDS(x, y)                                          \
    Value *left = &w->stack[w->top - 2], *right = left + 1;     \
    double x = value_number(w, left), y = value_number(w, right); \
    value_release(w, left);                                     \
    value_release(w, right);                                    \
    w->top--

#define RESULT(value) (*left = value_num(value))

Outcome machine_run(Awk *w, int32_t entry)
{
    const Insn *code = w->prog.code, *i = code + entry;
    unsigned budget = TICK_EVERY;
    awk_stack_room(w, w->prog.need);
    for (;; i++) {
        if (unlikely(!--budget)) {
            proc_tick(w->p, TICK_EVERY / 16);
            budget = TICK_EVERY;
        }
        w->at = i;
        switch (i->op) {
        case I_CONST: push(w, value_copy(&w->prog.constants[i->b])); break;
        case I_GLOBAL: {
            const Value *v = &w->globals[i->b];
            if (likely(v->kind == V_NUM))
                push(w, *v);
            else
                scalar(w, i->b);
            break;
        }
        case I_LOCAL: {
            const Value *v = &w->stack[w->base + (uint32_t)i->b];
            if (likely(v->kind == V_NUM))
                push(w, *v);
            else
                scalar(w, ~i->b);
            break;
        }
        case I_SPECIAL: push(w, special_value(w, (uint32_t)i->b)); break;
        case I_ARG_GLOBAL: argument(w, i->b); break;
        case I_ARG_LOCAL: argument(w, ~i->b); break;
        case I_ARRAY: {
            Array *a = array_at(w, i->b);
            a->refs++;
            push(w, (Value){.kind = V_ARRAY, .a = a});
            break;
        }
        case I_ELEM_ARRAY: element_array(w, i->b); break;
        case I_FIELD: {
            Value *v = pop(w);
            double n = value_number(w, v);
            value_release(w, v);
            push(w, field_value(w, field_index(w, n, true)));
            break;
        }
        case I_FIELD_CONST: push(w, field_value(w, (size_t)i->b)); break;
        case I_FIELD_NUMBER: push(w, value_num(field_number(w, (size_t)i->b))); break;
        case I_ELEM: element(w, i->a, i->b); break;
        case I_SUBSCRIPTS: subscripts(w, (uint32_t)i->b); break;
        case I_SET_GLOBAL: set_cell(w, &w->globals[i->b], i->a, i->b); break;
        case I_SET_LOCAL: set_cell(w, &w->stack[w->base + (uint32_t)i->b], i->a, ~i->b); break;
        case I_ASSIGN: assign(w, i->a, i->b); break;
        case I_ASSIGN_OP: {
            Value *cell = &w->globals[i->b & INT32_MAX], *v = &w->stack[w->top - 1];
            if ((i->a & 15) == LV_GLOBAL && i->a & FLAG_VOID && cell->kind == V_NUM && v->kind == V_NUM) {
                double n = v->n;
                w->top--;
                cell->n = i->a >> 4 == (OP_PLUS | FLAG_VOID >> 4) ? cell->n + n : awk_arith(w, i->a >> 4 & 15, cell->n, n);
                break;
            }
            assign_op(w, i->a, i->b);
            break;
        }
        case I_STEP: step(w, i->a, i->b); break;
        case I_STEP_GLOBAL: {
            Value *cell = &w->globals[i->b];
            if (likely(cell->kind == V_NUM))
                cell->n += (int16_t)i->a;
            else
                step_cell(w, cell, i->b, (int16_t)i->a);
            break;
        }
        case I_STEP_LOCAL: {
            Value *cell = &w->stack[w->base + (uint32_t)i->b];
            if (likely(cell->kind == V_NUM))
                cell->n += (int16_t)i->a;
            else
                step_cell(w, cell, ~i->b, (int16_t)i->a);
            break;
        }
        case I_APPEND: {
            int32_t b = i->a == LV_GLOBAL ? i->b : ~i->b;
            Value *cell = cell_at(w, b), *v = pop(w);
            if (cell->kind == V_ARRAY)
                awk_fatal(w, "attempt to use array `%s' in a scalar context", cell_name(w, b));
            append(w, cell, v);
            value_release(w, v);
            break;
        }
        case I_ADD: {
            OPERANDS(x, y);
            RESULT(x + y);
            break;
        }
        case I_SUBTRACT: {
            OPERANDS(x, y);
            RESULT(x - y);
            break;
        }
        case I_MULTIPLY: {
            OPERANDS(x, y);
            RESULT(x * y);
            break;
        }
        case I_DIVIDE: case I_MODULO: case I_POWER: {
            OPERANDS(x, y);
            RESULT(awk_arith(w, (Arith)(i->op - I_ADD + OP_PLUS), x, y));
            break;
        }
        case I_NEGATE: case I_PLUS: {
            Value *v = &w->stack[w->top - 1];
            double n = value_number(w, v);
            value_release(w, v);
            *v = value_num(i->op == I_NEGATE ? -n : n);
            break;
        }
        case I_NOT: case I_TRUTH: {
            Value *v = &w->stack[w->top - 1];
            bool t = value_truth(w, v);
            value_release(w, v);
            *v = value_num(t == (i->op == I_TRUTH));
            break;
        }
        case I_CONCAT: concat(w, (uint32_t)i->b); break;
        case I_COMPARE: {
            Value *x = &w->stack[w->top - 2];
            bool r = compare(w, i->a, x, x + 1);
            w->top--;
            *x = value_num(r);
            break;
        }
        case I_COMPARE_JUMP: {
            Value *x = &w->stack[w->top -= 2];
            if (compare(w, i->a & 15, x, x + 1) == i->a >> 4)
                i = code + i->b - 1;
            break;
        }
        case I_JUMP: i = code + i->b - 1; break;
        case I_JUMP_TRUE: case I_JUMP_FALSE: {
            Value *v = pop(w);
            bool t = value_truth(w, v);
            value_release(w, v);
            if (t == (i->op == I_JUMP_TRUE))
                i = code + i->b - 1;
            break;
        }
        case I_POP: value_release(w, pop(w)); break;
        case I_MATCH_RECORD: push(w, value_num(match_record(w, w->rx_list[i->b]))); break;
        case I_MATCH_CONST: {
            Value *v = &w->stack[w->top - 1];
            bool t = match_rx(w, v, w->rx_list[i->b]);
            value_release(w, v);
            *v = value_num(t != i->a);
            break;
        }
        case I_MATCH: {
            Value *v = &w->stack[w->top - 2];
            bool t = match_values(w, v, v + 1);
            value_release(w, v + 1);
            value_release(w, v);
            w->top--;
            *v = value_num(t != i->a);
            break;
        }
        case I_IN: is_in(w, i->b); break;
        case I_DELETE: delete_element(w, i->b); break;
        case I_DELETE_ALL: delete_all(w, i->b); break;
        case I_FOR_BEGIN: for_begin(w, i->b); break;
        case I_FOR_NEXT: {
            Iter *it = w->stack[w->top - 1].it;
            if (it->at == it->count)
                i = code + i->b - 1;
            else
                push(w, value_copy(&it->keys[it->at++]));
            break;
        }
        case I_CASE: {
            Value *v = pop(w);
            if (case_matches(w, v - 1, v, i->a)) {
                value_release(w, pop(w));
                i = code + i->b - 1;
            }
            break;
        }
        case I_CALL: i = code + call(w, (uint32_t)i->b, i->a, (int32_t)(i - code)) - 1; break;
        case I_CALL_NAME: {
            uint32_t count = i->a, f = function_by_name(w, &count);
            i = code + call(w, f, count, (int32_t)(i - code)) - 1;
            break;
        }
        case I_RETURN: {
            Value result = *pop(w);
            int32_t back = give_back(w, result);
            if (back < 0)
                return RUN_DONE;
            i = code + back;
            break;
        }
        case I_BUILTIN: {
            uint32_t at = w->top - i->a;
            if (unlikely(w->lint))
                lint_builtin(w, (unsigned)i->b, &w->stack[at], i->a);
            Value r = builtin_call(w, (unsigned)i->b, &w->stack[at], i->a);
            awk_unwind(w, at);
            push(w, r);
            break;
        }
        case I_REGEX: push(w, (Value){.kind = V_REGEX, .rx = w->rx_list[i->b]}); break;
        case I_SUBST: subst_run(w, i->a, i->b); break;
        case I_PRINT: print_values(w, i->a, i->b, false); break;
        case I_PRINTF: print_values(w, i->a, i->b, true); break;
        case I_LINT: lint_value(w, i->a, i->b); break;
        case I_PRINT_RECORD: print_record(w, i->b); break;
        case I_GETLINE: getline_run(w, i->a, i->b); break;
        case I_NEXT: return RUN_NEXT;
        case I_NEXT_FILE: return RUN_NEXT_FILE;
        case I_EXIT:
            exit_code(w, i->a);
            return RUN_EXIT;
        case I_RANGE_JUMP:
            if (w->ranges[i->a])
                i = code + i->b - 1;
            break;
        case I_RANGE_SET: w->ranges[i->b] = i->a; break;
        default: return RUN_DONE;
        }
    }
}
