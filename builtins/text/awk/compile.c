/* awk's statements, rules and functions as instructions. */
#include "compile.h"

#include <stdarg.h>

static void say(Compiler *c, const Node *n, const char *kind, const char *format, va_list args)
{
    Awk *w = c->w;
    Buf *b = &w->work;
    char room[512];
    vsnprintf(room, sizeof room, format, args);
    buf_clear(b);
    buf_printf(b, "%s: %s:%u: %s: %s\n", w->p->name, n->source ? n->source->name : "cmd. line", n->line, kind, room);
    output_flush(w->p->out);
    out_write(w->p->err, buf_slice(b));
    output_flush(w->p->err);
}

void compile_warning(Compiler *c, const Node *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(c, n, "warning", format, args);
    va_end(args);
}

void compile_fatal(Compiler *c, const Node *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(c, n, "fatal", format, args);
    va_end(args);
    proc_fail(c->w->p, 2);
}

int32_t awk_emit(Compiler *c, unsigned op, unsigned a, int32_t b)
{
    Script *s = c->script;
    Mem *keep = &c->w->p->keep;
    if (s->count == s->cap) {
        int32_t cap = s->cap ? s->cap * 2 : 256;
        if (cap > 1 << 26)
            compile_fatal(c, c->node, "program too large");
        s->code = mem_grow(keep, s->code, (size_t)s->cap * sizeof *s->code, (size_t)cap * sizeof *s->code);
        s->lines = mem_grow(keep, s->lines, (size_t)s->cap * sizeof *s->lines, (size_t)cap * sizeof *s->lines);
        s->sources = mem_grow(keep, s->sources, (size_t)s->cap * sizeof *s->sources, (size_t)cap * sizeof *s->sources);
        s->cap = cap;
    }
    s->code[s->count] = (Insn){(uint16_t)op, (uint16_t)a, b};
    s->lines[s->count] = c->node ? c->node->line : 0;
    s->sources[s->count] = c->node ? c->node->source : NULL;
    return s->count++;
}

int32_t emit_jump(Compiler *c, unsigned op, unsigned a, int32_t chain) { return awk_emit(c, op, a, chain); }

void awk_patch(Compiler *c, int32_t chain, int32_t target)
{
    while (chain >= 0) {
        int32_t next = c->script->code[chain].b;
        c->script->code[chain].b = target;
        chain = next;
    }
}

/* ---------- loops ---------- */

static void loop_begin(Compiler *c, Loop *l, bool is_switch)
{
    *l = (Loop){.breaks = -1, .continues = -1, .is_switch = is_switch, .outer = c->loop};
    c->loop = l;
}

static void compile_while(Compiler *c, const Node *n)
{
    Loop l;
    loop_begin(c, &l, false);
    int32_t enter = emit_jump(c, I_JUMP, 0, -1), body = here(c);
    compile_statement(c, n->b);
    awk_patch(c, enter, here(c));
    awk_patch(c, l.continues, here(c));
    int32_t again = compile_jump(c, n->a, true, -1);
    awk_patch(c, again, body);
    awk_patch(c, l.breaks, here(c));
    c->loop = l.outer;
}

static void compile_do(Compiler *c, const Node *n)
{
    Loop l;
    loop_begin(c, &l, false);
    int32_t body = here(c);
    compile_statement(c, n->b);
    awk_patch(c, l.continues, here(c));
    awk_patch(c, compile_jump(c, n->a, true, -1), body);
    awk_patch(c, l.breaks, here(c));
    c->loop = l.outer;
}

static void compile_for(Compiler *c, const Node *n)
{
    Loop l;
    if (n->a)
        compile_statement(c, n->a);
    loop_begin(c, &l, false);
    int32_t enter = n->b ? emit_jump(c, I_JUMP, 0, -1) : -1, body = here(c);
    compile_statement(c, n->d);
    awk_patch(c, l.continues, here(c));
    if (n->c)
        compile_statement(c, n->c);
    awk_patch(c, enter, here(c));
    awk_patch(c, n->b ? compile_jump(c, n->b, true, -1) : emit_jump(c, I_JUMP, 0, -1), body);
    awk_patch(c, l.breaks, here(c));
    c->loop = l.outer;
}

static void compile_for_in(Compiler *c, const Node *n)
{
    Loop l;
    int32_t cell = compile_array(c, n->b), b;
    c->node = n;
    awk_emit(c, I_FOR_BEGIN, 0, cell);
    loop_begin(c, &l, false);
    int32_t top = here(c), end = emit_jump(c, I_FOR_NEXT, 0, -1);
    unsigned place = compile_place(c, n->a, &b);
    awk_emit(c, I_ASSIGN, place | FLAG_VOID, b);
    compile_statement(c, n->c);
    awk_patch(c, l.continues, here(c));
    awk_patch(c, emit_jump(c, I_JUMP, 0, -1), top);
    awk_patch(c, end, here(c));
    awk_patch(c, l.breaks, here(c));
    awk_emit(c, I_POP, 0, 0);
    c->loop = l.outer;
}

static int32_t rx_index(const Compiler *c, const Rx *rx)
{
    int32_t i = 0;
    while (c->w->rx_list[i] != rx)
        i++;
    return i;
}

static void compile_switch(Compiler *c, const Node *n)
{
    Loop l;
    compile_expr(c, n->a);
    loop_begin(c, &l, true);
    unsigned count = 0;
    for (const Node *k = n->list; k; k = k->next)
        count++;
    int32_t *jumps = mem_array(&c->w->p->keep, count + 1, int32_t);
    unsigned i = 0;
    for (const Node *k = n->list; k; k = k->next, i++) {
        if (!k->a)
            continue;
        bool regex = k->a->type == N_REGEX || k->a->type == N_TYPED_REGEX;
        if (regex)
            awk_emit(c, I_REGEX, 0, rx_index(c, k->a->rx));
        else
            compile_expr(c, k->a);
        jumps[i] = emit_jump(c, I_CASE, regex, -1);
    }
    awk_emit(c, I_POP, 0, 0);
    int32_t other = emit_jump(c, I_JUMP, 0, -1);
    i = 0;
    for (const Node *k = n->list; k; k = k->next, i++) {
        if (k->a) {
            awk_patch(c, jumps[i], here(c));
        } else {
            awk_patch(c, other, here(c));
            other = -1;
        }
        for (const Node *s = k->list; s; s = s->next)
            compile_statement(c, s);
    }
    awk_patch(c, other, here(c));
    awk_patch(c, l.breaks, here(c));
    c->loop = l.outer;
    if (l.outer) /* continue goes on with the loop around */
        for (int32_t at = l.continues; at >= 0;) {
            int32_t next = c->script->code[at].b;
            c->script->code[at].b = l.outer->continues;
            l.outer->continues = at;
            at = next;
        }
}

/* ---------- statements ---------- */

static void compile_if(Compiler *c, const Node *n)
{
    int32_t is_false = compile_jump(c, n->a, false, -1);
    compile_statement(c, n->b);
    if (!n->c) {
        awk_patch(c, is_false, here(c));
        return;
    }
    int32_t end = emit_jump(c, I_JUMP, 0, -1);
    awk_patch(c, is_false, here(c));
    compile_statement(c, n->c);
    awk_patch(c, end, here(c));
}

static void compile_print(Compiler *c, const Node *n)
{
    unsigned count = 0;
    for (const Node *a = n->list; a; a = a->next, count++) {
        if (a->type == N_INDEX && n->type == N_PRINT)
            compile_element(c, a, ELEM_PRINTED);
        else
            compile_expr(c, a);
    }
    if (count > 65535)
        compile_fatal(c, n, "too many arguments");
    if (n->a)
        compile_expr(c, n->a);
    c->node = n;
    if (c->w->lint && !count && n->type == N_PRINT)
        awk_emit(c, I_LINT, LINT_FIELD, 0);
    awk_emit(c, n->type == N_PRINTF ? I_PRINTF : count ? I_PRINT : I_PRINT_RECORD, count, n->op);
}

static void compile_delete(Compiler *c, const Node *n)
{
    int32_t cell;
    if (n->a->type == N_INDEX) {
        cell = compile_array(c, n->a->a);
        compile_subscripts(c, n->a->list);
        c->node = n;
        awk_emit(c, I_DELETE, 0, cell);
    } else {
        cell = compile_array(c, n->a);
        c->node = n;
        awk_emit(c, I_DELETE_ALL, 0, cell);
    }
}

static void compile_leave(Compiler *c, const Node *n)
{
    if (n->type == N_RETURN) {
        if (n->a)
            compile_expr(c, n->a);
        else
            awk_emit(c, I_CONST, 0, awk_constant(c, value_unset()));
        awk_emit(c, I_RETURN, 0, 0);
        return;
    }
    if (n->a)
        compile_expr(c, n->a);
    awk_emit(c, I_EXIT, n->a != NULL, 0);
}

void compile_statement(Compiler *c, const Node *n)
{
    c->node = n;
    if (++c->depth > 20000 || !proc_stack_room(c->w->p, 32 * 1024))
        compile_fatal(c, n, "program nested too deeply");
    switch (n->type) {
    case N_EXPR: compile_void(c, n->a); break;
    case N_PRINT: case N_PRINTF: compile_print(c, n); break;
    case N_IF: compile_if(c, n); break;
    case N_WHILE: compile_while(c, n); break;
    case N_DO: compile_do(c, n); break;
    case N_FOR: compile_for(c, n); break;
    case N_FOR_IN: compile_for_in(c, n); break;
    case N_SWITCH: compile_switch(c, n); break;
    case N_BLOCK:
        for (const Node *s = n->list; s; s = s->next)
            compile_statement(c, s);
        break;
    case N_BREAK: c->loop->breaks = emit_jump(c, I_JUMP, 0, c->loop->breaks); break;
    case N_CONTINUE: c->loop->continues = emit_jump(c, I_JUMP, 0, c->loop->continues); break;
    case N_NEXT: awk_emit(c, I_NEXT, 0, 0); break;
    case N_NEXT_FILE: awk_emit(c, I_NEXT_FILE, 0, 0); break;
    case N_EXIT: case N_RETURN: compile_leave(c, n); break;
    case N_DELETE: compile_delete(c, n); break;
    default: break;
    }
    c->depth--;
}

/* ---------- the program ---------- */

static void compile_rule(Compiler *c, const Rule *r)
{
    int32_t skip = -1;
    if (r->pattern_end) {
        int32_t range = (int32_t)c->script->ranges++;
        if (range > 65535)
            compile_fatal(c, r->pattern, "too many ranges");
        c->node = r->pattern;
        int32_t on = emit_jump(c, I_RANGE_JUMP, (unsigned)range, -1);
        skip = compile_jump(c, r->pattern, false, -1);
        awk_emit(c, I_RANGE_SET, 1, range);
        awk_patch(c, on, here(c));
        int32_t more = compile_jump(c, r->pattern_end, false, -1);
        awk_emit(c, I_RANGE_SET, 0, range);
        awk_patch(c, more, here(c));
    } else if (r->pattern) {
        skip = compile_jump(c, r->pattern, false, -1);
    }
    if (r->action)
        compile_statement(c, r->action);
    else
        awk_emit(c, I_PRINT_RECORD, 0, TO_NOTHING);
    awk_patch(c, skip, here(c));
}

static int32_t compile_rules(Compiler *c, RuleKind kind)
{
    int32_t entry = -1;
    for (const Rule *r = c->script->rule_list; r; r = r->next) {
        if (r->kind != kind)
            continue;
        if (entry < 0)
            entry = here(c);
        compile_rule(c, r);
    }
    if (entry >= 0)
        awk_emit(c, I_END, 0, 0);
    return entry;
}

void awk_compile(Awk *w)
{
    Compiler c = {.w = w, .script = &w->prog};
    Script *s = &w->prog;
    if (w->lint)
        lint_program(&c);
    for (uint32_t i = 0; i < s->function_count; i++) {
        Function *f = &s->functions[i];
        if (!f->defined)
            continue;
        c.function = f;
        f->entry = here(&c);
        compile_statement(&c, f->body);
        awk_emit(&c, I_CONST, 0, awk_constant(&c, value_unset()));
        awk_emit(&c, I_RETURN, 0, 0);
        f->need = (uint32_t)(here(&c) - f->entry) + f->params + 16;
    }
    c.function = NULL;
    int32_t from = here(&c);
    s->begin = compile_rules(&c, RULE_BEGIN);
    s->begin_file = compile_rules(&c, RULE_BEGIN_FILE);
    s->rules = compile_rules(&c, RULE_MAIN);
    s->end_file = compile_rules(&c, RULE_END_FILE);
    s->end = compile_rules(&c, RULE_END);
    s->need = (uint32_t)(here(&c) - from) + 16;
    w->ranges = mem_array(&w->p->keep, s->ranges + 1, bool);
}

int awk_function(Awk *w, Slice name)
{
    MapEntry *e = map_get(&w->prog.function_names, name);
    int i = e ? (int)(uintptr_t)e->value - 1 : -1;
    return i >= 0 && w->prog.functions[i].defined ? i : -1;
}
