/* --lint: what gawk warns of most often: names that hold nothing yet, statements without an effect, an assignment for a comparison, functions
 * nobody calls, gawk's own functions, arguments that some functions should not get, files that are never closed.
 *
 * Some of it shows in the program's text, before it runs; for the rest the compiler puts in I_LINT instructions.
 */
#include "compile.h"

#include "machine.h"

/* ---------- the text ---------- */

static void say(Compiler *c, const Node *n, const char *format, const char *name)
{
    if (c->w->lint == LINT_FATAL)
        compile_fatal(c, n, format, name);
    compile_warning(c, n, format, name);
}

/* That of the operators whose result nobody takes; what jumps, like && and ?:, is not among them. */
static bool without_effect(const Node *n)
{
    switch (n->type) {
    case N_NUM: case N_STR: case N_REGEX: case N_GLOBAL: case N_LOCAL: case N_FIELD: case N_INDEX: case N_NOT: case N_NEG: case N_BINARY: case N_CONCAT:
    case N_COMPARE: case N_MATCH: case N_IN:
        return true;
    default: return false;
    }
}

static void look_at(Compiler *c, const Node *n, bool outside)
{
    Awk *w = c->w;
    switch (n->type) {
    case N_EXPR:
        if (without_effect(n->a))
            say(c, n, "%s", "statement has no effect");
        break;
    case N_PRINT:
        if (outside && !n->list && !w->warned_print) {
            w->warned_print = true;
            say(c, n, "%s", "plain `print' in BEGIN or END rule should probably be `print \"\"'");
        }
        break;
    case N_COMPARE:
        if (n->b->type == N_REGEX)
            say(c, n, "%s", "regular expression on right of comparison");
        break;
    case N_BUILTIN:
        if (n->index >= B_AND && w->lint != LINT_NO_EXTENSIONS)
            say(c, n, "`%s' is a gawk extension", builtin_info[n->index].name);
        break;
    default: break;
    }
}

/* `outside`: of the records, in BEGIN or END. */
static void walk(Compiler *c, const Node *n, bool outside)
{
    for (; n; n = n->next) {
        if (!proc_stack_room(c->w->p, 32 * 1024))
            compile_fatal(c, n, "program nested too deeply");
        const Node *const parts[] = {n->a, n->b, n->c, n->d};
        for (unsigned i = 0; i < ARRAY_LEN(parts); i++)
            if (parts[i])
                walk(c, parts[i], outside);
        walk(c, n->list, outside);
        look_at(c, n, outside);
    }
}

void lint_program(Compiler *c)
{
    Script *s = c->script;
    for (uint32_t i = 0; i < s->function_count; i++) {
        const Function *f = &s->functions[i];
        for (uint32_t k = 0; f->defined && k < f->params; k++)
            if (map_get(&s->global_names, f->param_names[k]))
                say(c, f->body, "%s", mem_printf(&c->w->p->mem, "function `%.*s': parameter `%.*s' shadows global variable", (int)f->name.len, f->name.data, (int)f->param_names[k].len, f->param_names[k].data));
        if (f->defined)
            walk(c, f->body, false);
    }
    for (const Rule *r = s->rule_list; r; r = r->next) {
        walk(c, r->pattern, false);
        walk(c, r->pattern_end, false);
        walk(c, r->action, r->kind == RULE_BEGIN || r->kind == RULE_END);
    }
    for (uint32_t i = 0; i < s->function_count; i++)
        if (s->functions[i].defined && !s->functions[i].called_line)
            awk_lint(c->w, "function `%.*s' defined but never called directly", (int)s->functions[i].name.len, s->functions[i].name.data);
}

/* ---------- the run ---------- */

void lint_value(Awk *w, unsigned what, int32_t b)
{
    const Value *v = w->top ? &w->stack[w->top - 1] : NULL;
    switch (what) {
    case LINT_GLOBAL:
        if (v->kind == V_UNSET && v->cell != CELL_FIELD)
            awk_lint(w, "reference to uninitialized variable `%s'", cell_name(w, b));
        break;
    case LINT_CHANGED:
        if (w->globals[b].kind == V_UNSET)
            awk_lint(w, "reference to uninitialized variable `%s'", cell_name(w, b));
        break;
    case LINT_LOCAL:
        if ((v->kind == V_UNSET && v->cell != CELL_FIELD) || v->kind == V_REF)
            awk_lint(w, "reference to uninitialized argument `%s'", cell_name(w, ~b));
        break;
    case LINT_ELEMENT: {
        const Value *cell = cell_at(w, b);
        if (cell->kind == V_ARRAY && table_find(w, cell->a, v))
            break;
        String *key = value_string(w, v);
        awk_lint(w, "reference to uninitialized element `%s[\"%.*s\"]'", cell_name(w, b), (int)MIN(key->len, 1000), key->data);
        string_release(w, key);
        break;
    }
    case LINT_FIELD: { /* b: -1 when the number is on the stack */
        double n = b >= 0 ? (double)b : trunc(value_number(w, v));
        Value field = n >= 0 && n < 1e6 ? field_value(w, (size_t)n) : value_num(0);
        bool missing = field.kind == V_UNSET;
        value_release(w, &field);
        if (missing)
            awk_lint(w, "reference to uninitialized field `$%.0f'", n);
        break;
    }
    default: awk_lint(w, "assignment used in conditional context"); break;
    }
}

static bool is_number(const Value *v) { return v->kind == V_NUM; }

static void lint_substr(Awk *w, const Value *args, uint32_t count)
{
    double from = value_number(w, &args[1]);
    if (count > 2) {
        double len = value_number(w, &args[2]);
        if (!(len >= 1)) {
            awk_lint(w, "substr: length %g is not >= 1", len);
            return;
        }
        if (len != trunc(len))
            awk_lint(w, "substr: non-integer length %g will be truncated", len);
    }
    if (from != trunc(from))
        awk_lint(w, "substr: non-integer start index %g will be truncated", from);
    else if (from < 1)
        awk_lint(w, "substr: start index %g is invalid, using 1", from);
    String *s = value_string(w, &args[0]);
    if (s->len && from > (double)s->len)
        awk_lint(w, "substr: start index %g is past end of string", from);
    string_release(w, s);
}

void lint_builtin(Awk *w, unsigned id, const Value *args, uint32_t count)
{
    const char *name = builtin_info[id].name;
    switch (id) {
    case B_SUBSTR: lint_substr(w, args, count); break;
    case B_LENGTH: case B_TOLOWER: case B_TOUPPER:
        if (count && is_number(&args[0]))
            awk_lint(w, "%s: received non-string argument", name);
        break;
    case B_INDEX:
        if (is_number(&args[0]))
            awk_lint(w, "index: received non-string first argument");
        if (is_number(&args[1]))
            awk_lint(w, "index: received non-string second argument");
        break;
    case B_INT: case B_EXP: case B_LOG: case B_SQRT: case B_SIN: case B_COS:
        if (count && !value_looks_numeric(w, &args[0]))
            awk_lint(w, "%s: received non-numeric argument", name);
        break;
    default: break;
    }
}

void lint_open_files(Awk *w)
{
    w->at = NULL;
    for (const Redirect *r = w->redirects; r; r = r->next)
        awk_lint(w, "no explicit close of %s `%s' provided", r->kind == RED_TWO_WAY ? "co-process" : r->kind == RED_PIPE_OUT || r->kind == RED_PIPE_IN ? "pipe" : "file", r->name->data);
}
