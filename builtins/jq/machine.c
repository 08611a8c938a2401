/* machine: runs the code. See machine.h for the shape of the stack. */
#include "machine_stack.h"

/* ---------- instructions ---------- */

Val jq_machine_getpath(Machine *m, Val t, Val path)
{
    J *j = m->j;
    if (!following(m) || !intact(m, t)) /* off the path: the path stays as it is */
        return jv_getpath(j, t, path);
    Val keys = val_copy(path), v = jv_getpath(j, t, path);
    if (v.kind != K_INVALID)
        for (size_t i = 0; i < arr_len(keys); i++)
            path_append(m, val_copy(keys.arr->items[i]), v);
    val_free(j, keys);
    return v;
}

static Val bad_path(Machine *m, const char *format, Val v, Val key)
{
    char text[SHORT_ERROR], name[SHORT_ERROR];
    J *j = m->j;
    if (key.kind)
        return jq_error(j, format, val_short(j, key, name, sizeof name), val_short(j, v, text, sizeof text));
    return jq_error(j, format, val_short(j, v, text, sizeof text));
}

/* t[k], followed when a path is; owns both. */
static Val get_index(Machine *m, Val t, Val k)
{
    J *j = m->j;
    if (!following(m))
        return jv_get(j, t, k);
    Val v = jv_get(j, t, val_copy(k));
    if (v.kind == K_INVALID)
        val_free(j, k);
    else
        path_append(m, k, v);
    return v;
}

static bool may_access(Machine *m, Val t, Val k)
{
    if (likely(intact(m, t)))
        return true;
    bad_path(m, "Invalid path expression near attempt to access element %s of %s", t, k);
    return false;
}

static bool may_iterate(Machine *m, Val c)
{
    if (likely(intact(m, c)))
        return true;
    bad_path(m, "Invalid path expression near attempt to iterate through %s", c, VAL_INVALID);
    return false;
}

bool jq_machine_following(const Machine *m) { return following(m); }
bool jq_machine_may_iterate(Machine *m, Val c) { return may_iterate(m, c); }

Val jq_machine_index(Machine *m, Val t, Val k)
{
    if (may_access(m, t, k))
        return get_index(m, t, k);
    val_free(m->j, t);
    val_free(m->j, k);
    return VAL_INVALID;
}

/* Top becomes top[k]; false: backtrack. */
static bool do_index(Machine *m, Val t, Val k, bool quiet)
{
    if (!may_access(m, t, k)) { /* an error that ? does not hide */
        val_free(m->j, t);
        val_free(m->j, k);
        return false;
    }
    Val v = get_index(m, t, k);
    if (v.kind != K_INVALID) {
        push(m, v);
        return true;
    }
    if (quiet)
        m->j->raising = false;
    return false;
}

/* The next member of the fork's container; the fork goes with the last one. False: there is none. */
static bool each_step(Machine *m)
{
    Fork *f = FORK_AT(m, m->fork);
    Val c = f->data, key, v;
    bool last;
    if (c.kind == K_ARRAY) {
        uint32_t i = f->index++;
        if (i >= arr_len(c))
            return false;
        v = val_copy(c.arr->items[i]);
        key = val_num(i);
        last = i + 1 == arr_len(c);
    } else {
        uint32_t i = obj_next(c.obj, f->index);
        if (i >= c.obj->used)
            return false;
        f->index = i + 1;
        v = val_copy(c.obj->entries[i].value);
        key = following(m) ? val_copy(val_str(c.obj->entries[i].key)) : VAL_NULL;
        last = obj_next(c.obj, i + 1) >= c.obj->used;
    }
    if (last)
        fork_pop(m);
    if (following(m))
        path_append(m, key, v);
    push(m, v);
    return true;
}

/* False: backtrack. */
static bool do_each(Machine *m, const Ins *pc)
{
    J *j = m->j;
    Val c = pop(m);
    if (!may_iterate(m, c)) {
        val_free(j, c);
        return false;
    }
    if (c.kind < K_ARRAY) {
        char text[SHORT_ERROR];
        if (!pc->sub)
            jq_error(j, "Cannot iterate over %s (%s)", kind_name(c), val_short(j, c, text, sizeof text));
        val_free(j, c);
        return false;
    }
    if (c.kind == K_ARRAY && arr_len(c) == 1 && !following(m)) {
        push(m, val_copy(c.arr->items[0]));
        val_free(j, c);
        return true;
    }
    fork_push(m, pc)->data = c;
    if (each_step(m))
        return true;
    fork_pop(m);
    return false;
}

static bool do_range(Machine *m, const Ins *pc)
{
    J *j = m->j;
    val_free(j, pop(m));
    Val to = pop(m), from = pop(m);
    bool fits = to.kind == K_NUMBER && from.kind == K_NUMBER;
    double at = fits ? val_double(from) : 0, end = fits ? val_double(to) : 0;
    bool written = from.kind == K_NUMBER && from.written;
    val_free(j, to);
    val_free(j, from);
    if (!fits) {
        jq_error(j, "Range bounds must be numeric");
        return false;
    }
    if (!(at < end))
        return false;
    if (at + 1 < end) {
        Fork *f = fork_push(m, pc);
        f->at = at + 1;
        f->end = end;
    }
    push(m, (Val){.kind = K_NUMBER, .written = written, .num = at});
    return true;
}

static void range_step(Machine *m)
{
    Fork *f = FORK_AT(m, m->fork);
    double at = f->at;
    f->at = at + 1;
    if (!(f->at < f->end))
        fork_pop(m);
    push(m, val_num(at));
}

static void slice_key(Machine *m)
{
    J *j = m->j;
    Val input = pop(m), to = pop(m), from = pop(m);
    Val key = obj_set_text(j, obj_set_text(j, obj_new(j, 2), "start", from), "end", to);
    push(m, key);
    push(m, input);
}

static void concat(Machine *m, uint32_t parts)
{
    J *j = m->j;
    val_free(j, pop(m));
    Val s = pop(m);
    s.meta = 0;
    for (uint32_t i = 1; i < parts; i++) {
        Val part = pop(m);
        s = val_append(j, s, val_slice(part));
        val_free(j, part);
    }
    push(m, s);
}

static void make_object(Machine *m, const Ins *keys, uint32_t n)
{
    J *j = m->j;
    Val small[16], *values = n <= 16 ? small : jmem(j, n * sizeof(Val));
    val_free(j, pop(m));
    for (uint32_t i = n; i-- > 0;)
        values[i] = pop(m);
    Val o = obj_new(j, n);
    for (uint32_t i = 0; i < n; i++)
        o = obj_set(j, o, val_copy(m->program->constants[keys[i].arg]), values[i]);
    if (values != small)
        jmem_give(j, values, n * sizeof(Val));
    push(m, o);
}

static bool insert(Machine *m)
{
    J *j = m->j;
    Val input = pop(m), v = pop(m), k = pop(m), o = pop(m);
    if (k.kind != K_STRING) {
        char text[SHORT_ERROR];
        jq_error(j, "Cannot use %s (%s) as object key", kind_name(k), val_short(j, k, text, sizeof text));
        val_free(j, input);
        val_free(j, v);
        val_free(j, k);
        val_free(j, o);
        return false;
    }
    push(m, obj_set(j, o, k, v));
    push(m, input);
    return true;
}

static bool call_native(Machine *m, const Native *n)
{
    Val args[8];
    for (unsigned i = 0; i < n->args; i++)
        args[i] = pop(m);
    proc_tick(m->j->proc, 1);
    Val v = n->fn(m->j, args);
    if (v.kind == K_INVALID)
        return false;
    push(m, v);
    return true;
}

/* The closures that a call's arguments stand for. */
static void make_closures(const Machine *m, const Ins *args, unsigned n, Closure *out)
{
    for (unsigned i = 0; i < n; i++) {
        if (args[i].op == OP_ARG_NEW)
            out[i] = (Closure){.func = m->program->funcs[args[i].arg], .env = frame_for(m, args[i].level)};
        else
            out[i] = CLOSURES(m, frame_up(m, args[i].level))[args[i].arg];
    }
}

static const Ins *call(Machine *m, const Ins *pc, bool tail)
{
    Closure few[8], *closures = pc->sub <= 8 ? few : jmem(m->j, pc->sub * sizeof(Closure));
    const Func *f = m->program->funcs[pc->arg];
    uint32_t env = frame_for(m, pc->level);
    const Ins *ret = pc + 1 + pc->sub;
    make_closures(m, pc + 1, pc->sub, closures);
    Val input = pop(m);
    if (tail) {
        ret = FRAME_AT(m, m->frame)->ret;
        leave(m);
    }
    uint32_t at = enter(m, f, env, ret);
    for (unsigned i = 0; i < pc->sub; i++)
        CLOSURES(m, at)[i] = closures[i];
    if (closures != few)
        jmem_give(m->j, closures, pc->sub * sizeof(Closure));
    push(m, input);
    return f->code;
}

static const Ins *call_closure(Machine *m, const Ins *pc, bool tail)
{
    Closure c = CLOSURES(m, frame_up(m, pc->level))[pc->arg];
    const Ins *ret = pc + 1;
    Val input = pop(m);
    if (tail) {
        ret = FRAME_AT(m, m->frame)->ret;
        leave(m);
    }
    enter(m, c.func, c.env, ret);
    push(m, input);
    return c.func->code;
}

static const Ins *ret(Machine *m)
{
    Val v = pop(m);
    const Ins *to = FRAME_AT(m, m->frame)->ret;
    leave(m);
    push(m, v);
    return to;
}

/* What was followed is put on the stack, and a new path begins at the input. */
static void path_begin(Machine *m)
{
    Val v = pop(m);
    push(m, m->path ? (Val){.kind = K_PATH, .path = m->path} : VAL_NULL);
    push(m, val_num(m->nest * 2 + m->tracking));
    push(m, m->path_value);
    push(m, val_copy(v));
    m->path = NULL;
    m->path_value = v;
    m->nest = 0;
    m->tracking = true;
}

static bool path_end(Machine *m)
{
    J *j = m->j;
    Val v = pop(m);
    if (!intact(m, v)) {
        bad_path(m, "Invalid path expression with result %s", v, VAL_INVALID);
        val_free(j, v);
        return false;
    }
    val_free(j, v);
    Val path = path_array(j, m->path);
    path_free(j, m->path);
    val_free(j, m->path_value);
    m->path_value = pop(m);
    int state = (int)pop(m).num;
    Val outer = pop(m);
    m->path = outer.kind == K_PATH ? outer.path : NULL;
    m->nest = state / 2;
    m->tracking = state % 2;
    push(m, path);
    return true;
}

static void set_variable(Machine *m, uint32_t index, uint8_t kind)
{
    Val *v = &LOCALS(m, m->frame)[index];
    Val old = *v;
    *v = VAL_NULL;
    Val fresh = kind == K_ARRAY ? arr_new(m->j, 0) : (Val){.kind = kind};
    LOCALS(m, m->frame)[index] = fresh;
    val_free(m->j, old);
}

static inline Val *variable(Machine *m, const Ins *pc) { return &LOCALS(m, frame_up(m, pc->level))[pc->arg]; }

static void append(Machine *m, const Ins *pc)
{
    Val item = pop(m);
    Val *v = variable(m, pc);
    Val a = *v;
    *v = VAL_NULL;
    a = arr_push(m->j, a, item);
    *variable(m, pc) = a;
}

static bool do_break(Machine *m, const Ins *pc)
{
    m->breaking = (uint64_t)variable(m, pc)->num;
    m->j->raising = true;
    return false;
}

static void make_label(Machine *m, const Ins *pc)
{
    uint64_t label = ++m->labels;
    *variable(m, pc) = val_num((double)label);
    fork_push(m, pc)->label = label;
}

static const Ins *caught(Machine *m, const Ins *pc, bool with_message)
{
    J *j = m->j;
    Val message = j->error;
    j->error = VAL_NULL;
    j->raising = false;
    fork_pop(m);
    if (with_message) {
        replace(m, message);
    } else {
        val_free(j, message);
    }
    return FRAME_AT(m, m->frame)->func->code + pc->arg;
}

/* Goes back to the newest fork that has a way on; NULL: there is none. */
static const Ins *backtrack(Machine *m)
{
    J *j = m->j;
    while (m->fork) {
        unwind(m);
        Fork *f = FORK_AT(m, m->fork);
        const Ins *pc = f->pc;
        switch (pc->op) {
        case OP_FORK:
        case OP_FORK_MOVE:
            if (j->raising)
                break;
            fork_pop(m);
            return FRAME_AT(m, m->frame)->func->code + pc->arg;
        case OP_EACH:
            if (!j->raising && each_step(m))
                return pc + 1;
            break;
        case OP_RANGE:
            if (j->raising)
                break;
            range_step(m);
            return pc + 1;
        case OP_TRY:
            if (!j->raising || m->breaking)
                break;
            if (m->wrapped == 0)
                return caught(m, pc, true);
            m->wrapped--;
            break;
        case OP_TRY_END:
            if (j->raising && !m->breaking)
                m->wrapped++;
            break;
        case OP_ALT:
            if (j->raising) { /* a break too, which jq takes for an error here */
                m->breaking = 0;
                m->wrapped = 0;
                return caught(m, pc, false);
            }
            break;
        case OP_LABEL:
            if (j->raising && m->breaking == f->label) {
                m->breaking = 0;
                j->raising = false;
            }
            break;
        default:
            break;
        }
        fork_pop(m);
    }
    return NULL;
}

/* Before a fork null stays even where an older fork comes back to it: reduce runs over null for an initial value's further results, as in jq. */
static void dup_or_move(Machine *m, bool fork, const Ins *pc)
{
    Val v = *top_value(m);
    if (fork || top_is_free(m))
        *top_value(m) = VAL_NULL;
    else
        val_copy(v);
    if (fork)
        fork_push(m, pc);
    push(m, v);
}

static inline Val number_binary(int op, double a, double b, bool *fits)
{
    *fits = true;
    switch (op) {
    case '+':
        return val_num(a + b);
    case '-':
        return val_num(a - b);
    case '*':
        return val_num(a * b);
    case '<':
        return val_bool(a < b);
    case '>':
        return val_bool(a > b);
    case T_LESSEQ:
        return val_bool(a <= b);
    case T_GREATEREQ:
        return val_bool(a >= b);
    case T_EQ:
        return val_bool(a == b);
    case T_NEQ:
        return val_bool(a != b);
    default:
        *fits = false;
        return VAL_NULL;
    }
}

/* Pops a (the second operand is given), pushes a op b; false: an error. */
static inline bool do_binary(Machine *m, int op, Val a, Val b)
{
    if (likely(a.kind == K_NUMBER && b.kind == K_NUMBER && !a.literal && !b.literal && a.num == a.num && b.num == b.num)) {
        bool fits;
        Val v = number_binary(op, a.num, b.num, &fits);
        if (fits) {
            push(m, v);
            return true;
        }
    }
    Val v = jq_binary(m->j, op, a, b);
    if (v.kind == K_INVALID)
        return false;
    push(m, v);
    return true;
}

static void field_under(Machine *m, const Ins *pc, Val *out)
{
    Val t = *top_value(m), k = m->program->constants[pc->arg];
    if (t.kind == K_OBJECT && k.kind == K_STRING) {
        Val *at = obj_find(t, k.str);
        *out = at ? val_copy(*at) : VAL_NULL;
        return;
    }
    *out = jv_get(m->j, val_copy(t), val_copy(k));
}

static inline void put_under(Machine *m, Val v)
{
    Val top = pop(m);
    push(m, v);
    push(m, top);
}

static bool field(Machine *m, const Ins *pc)
{
    Val t = pop(m), k = m->program->constants[pc->arg];
    if (likely(t.kind == K_OBJECT && k.kind == K_STRING && !following(m))) {
        Val *at = obj_find(t, k.str);
        push(m, at ? val_copy(*at) : VAL_NULL);
        val_free(m->j, t);
        return true;
    }
    return do_index(m, t, val_copy(k), pc->sub);
}

static bool apply_format(Machine *m, const Ins *pc)
{
    Val v = jq_format_value(m->j, val_slice(m->program->constants[pc->arg]), pop(m));
    if (v.kind == K_INVALID)
        return false;
    push(m, v);
    return true;
}

/* Runs from pc until a result is on top (true) or nothing is left. */
static bool run(Machine *m, const Ins *pc)
{
    J *j = m->j;
    bool ok;
    Val v;
    for (;;) {
        ok = true;
        switch ((Op)pc->op) {
        case OP_LOADK:
            replace(m, val_copy(m->program->constants[pc->arg]));
            break;
        case OP_LOADK_UNDER:
            put_under(m, val_copy(m->program->constants[pc->arg]));
            break;
        case OP_DUP:
            if (pc->sub && !top_is_free(m))
                push(m, pop(m));
            push(m, val_copy(*top_value(m)));
            break;
        case OP_DUPN:
            dup_or_move(m, false, pc);
            break;
        case OP_POP:
            val_free(j, pop(m));
            break;
        case OP_LOADV:
            replace(m, val_copy(*variable(m, pc)));
            break;
        case OP_LOADVN:
            v = *variable(m, pc);
            *variable(m, pc) = VAL_NULL;
            replace(m, v);
            break;
        case OP_STOREV: {
            v = pop(m);
            Val old = *variable(m, pc);
            *variable(m, pc) = v;
            val_free(j, old);
            break;
        }
        case OP_SETV:
            set_variable(m, pc->arg, pc->sub);
            break;
        case OP_SUBEXP_BEGIN:
            push(m, val_copy(*top_value(m)));
            m->nest++;
            break;
        case OP_SUBEXP_END: {
            v = pop(m);
            Val under = pop(m);
            push(m, v);
            push(m, under);
            m->nest--;
            break;
        }
        case OP_NEST:
            m->nest++;
            break;
        case OP_UNNEST:
            m->nest--;
            break;
        case OP_FORK:
            fork_push(m, pc);
            break;
        case OP_FORK_MOVE:
            dup_or_move(m, true, pc);
            break;
        case OP_TRY:
        case OP_TRY_END:
        case OP_ALT:
            fork_push(m, pc);
            break;
        case OP_JUMP:
            pc = FRAME_AT(m, m->frame)->func->code + pc->arg;
            continue;
        case OP_JUMP_F:
            v = pop(m);
            if (val_truthy(v)) {
                val_free(j, v);
                break;
            }
            pc = FRAME_AT(m, m->frame)->func->code + pc->arg;
            continue;
        case OP_BACKTRACK:
            ok = false;
            break;
        case OP_EACH:
            ok = do_each(m, pc);
            break;
        case OP_INDEX: {
            Val t = pop(m);
            ok = do_index(m, t, pop(m), pc->sub);
            break;
        }
        case OP_FIELD:
            ok = field(m, pc);
            break;
        case OP_FIELD_UNDER:
            field_under(m, pc, &v);
            ok = v.kind != K_INVALID;
            if (ok)
                put_under(m, v);
            break;
        case OP_SLICE_KEY:
            slice_key(m);
            break;
        case OP_BINARY: {
            Val a = pop(m);
            ok = do_binary(m, pc->level, a, pop(m));
            break;
        }
        case OP_BINARY_K:
            ok = do_binary(m, pc->level, pop(m), val_copy(m->program->constants[pc->arg]));
            break;
        case OP_NEGATE:
            v = pop(m);
            v = v.kind == K_NUMBER ? jq_number_negate(j, v) : jq_error_one(j, v, "cannot be negated");
            ok = v.kind != K_INVALID;
            if (ok)
                push(m, v);
            break;
        case OP_CONCAT:
            concat(m, pc->arg);
            break;
        case OP_FORMAT:
            ok = apply_format(m, pc);
            break;
        case OP_OBJECT:
            make_object(m, pc + 1, pc->arg);
            pc += pc->arg;
            break;
        case OP_INSERT:
            ok = insert(m);
            break;
        case OP_APPEND:
            append(m, pc);
            ok = false;
            break;
        case OP_CALLC:
            ok = call_native(m, m->program->natives[pc->arg]);
            break;
        case OP_CALL:
        case OP_TAIL:
            proc_tick(j->proc, 1);
            pc = call(m, pc, pc->op == OP_TAIL);
            continue;
        case OP_CALLP:
        case OP_TAILP:
            proc_tick(j->proc, 1);
            pc = call_closure(m, pc, pc->op == OP_TAILP);
            continue;
        case OP_RET:
            pc = ret(m);
            continue;
        case OP_PATH_BEGIN:
            path_begin(m);
            break;
        case OP_PATH_END:
            ok = path_end(m);
            break;
        case OP_LABEL:
            make_label(m, pc);
            break;
        case OP_BREAK:
            ok = do_break(m, pc);
            break;
        case OP_RANGE:
            ok = do_range(m, pc);
            break;
        case OP_OUTPUT:
            return true;
        case OP_KEY:
        case OP_ARG_NEW:
        case OP_ARG_PARAM:
            break;
        }
        if (ok) {
            pc++;
            continue;
        }
        proc_tick(j->proc, 1);
        pc = j->halted ? NULL : backtrack(m);
        if (!pc)
            return false;
    }
}

void jq_machine_init(Machine *m, J *j, JqProgram *p)
{
    *m = (Machine){.j = j, .program = p, .path_value = VAL_NULL};
    j->machine = m;
    grow(m, 256);
    m->top = 1; /* place 0 means none */
}

void jq_machine_reset(Machine *m)
{
    J *j = m->j;
    while (m->fork) {
        unwind(m);
        fork_pop(m);
    }
    while (m->values) {
        val_free(j, m->cells[m->values + 1]);
        m->values = (uint32_t)m->cells[m->values].bits;
    }
    while (m->frame) {
        free_locals(m, m->frame);
        m->frame = FRAME_AT(m, m->frame)->older;
    }
    path_free(j, m->path);
    val_free(j, m->path_value);
    m->path = NULL;
    m->path_value = VAL_NULL;
    m->tracking = m->running = false;
    m->nest = 0;
    m->wrapped = 0;
    m->breaking = 0;
    m->top = 1;
}

void jq_machine_start(Machine *m, Val input)
{
    jq_machine_reset(m);
    m->running = true;
    m->start = m->program->main->code;
    enter(m, m->program->main, 0, NULL);
    push(m, input);
}

Val jq_machine_next(Machine *m)
{
    if (!m->running)
        return VAL_INVALID;
    const Ins *pc = m->start ? m->start : backtrack(m);
    m->start = NULL;
    if (pc && run(m, pc))
        return pop(m);
    jq_machine_reset(m);
    return VAL_INVALID;
}
