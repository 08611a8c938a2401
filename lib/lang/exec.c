/* exec: compound commands.
 *
 * Every function returns a status. What leaves a command early, break, continue, return and exit, is in in->flow, and whoever
 * runs commands in sequence stops when it is set. Errors that abandon a command raise.
 */
#include "interp.h"

enum { STACK_NEEDED = 48 * 1024 };

void unwind_push(Interp *in, Unwind *u, void (*undo)(Interp *, Unwind *))
{
    u->undo = undo;
    u->outer = in->unwind;
    in->unwind = u;
}

void unwind_to(Interp *in, Unwind *mark)
{
    in->p->masked++; /* an undo that flushes must not raise half way */
    while (in->unwind != mark) {
        Unwind *u = in->unwind;
        in->unwind = u->outer;
        u->undo(in, u);
    }
    in->p->masked--;
}

/* ---------- errexit ---------- */

void check_errexit(Interp *in, int status)
{
    if (likely(status == 0) || in->dyn.no_errexit || (in->flow && in->flow != FLOW_BREAK)) /* a `break` that fails */
        return;
    if (trap_has(in, TRAP_ERR) && !(in->dyn.hidden_traps & HIDE_ERR))
        trap_run(in, TRAP_ERR);
    check_errexit_only(in, status);
}

void check_errexit_only(Interp *in, int status)
{
    if (OPT(in, ERREXIT) && !in->dyn.no_errexit && !in->dyn.no_exit && (!in->flow || in->flow == FLOW_BREAK)) {
        in->exit_status = exit_trap_in_function(in, status);
        in->flow = FLOW_EXIT;
    }
}

/* ---------- lists and conditions ---------- */

static int exec_list(Interp *in, const Node *n)
{
    int status = 0;
    for (uint32_t i = 0; i < n->list.count && !in->flow; i++) {
        const ListItem *item = &n->list.items[i];
        if (item->background)
            status = exec_background(in, item->node);
        else
            status = exec_node(in, item->node);
        if (unlikely(traps_due(in)))
            traps_run_due(in);
    }
    return status;
}

/* A command whose failure means false, not an error. */
static int exec_condition(Interp *in, const Node *n)
{
    in->dyn.no_errexit++;
    int status = exec_node(in, n);
    in->dyn.no_errexit--;
    return status;
}

static int exec_and_or(Interp *in, const Node *n)
{
    /* Left-nested chains may be long: walked in a loop. */
    const Node *chain[64];
    size_t depth = 0;
    while ((n->kind == NODE_AND || n->kind == NODE_OR) && !n->redirs && depth < ARRAY_LEN(chain)) {
        chain[depth++] = n;
        n = n->pair.left;
    }
    int status = exec_condition(in, n);
    while (depth && !in->flow) {
        n = chain[--depth];
        if ((status == 0) != (n->kind == NODE_AND))
            continue;
        status = depth ? exec_condition(in, n->pair.right) : exec_node(in, n->pair.right);
    }
    return status;
}

static int exec_if(Interp *in, const Node *n)
{
    for (;;) {
        int status = exec_condition(in, n->branch.cond);
        if (in->flow)
            return status;
        if (status == 0)
            return n->branch.then ? exec_node(in, n->branch.then) : 0;
        if (!n->branch.otherwise)
            return 0;
        if (!n->branch.elif)
            return exec_node(in, n->branch.otherwise);
        n = n->branch.otherwise;
        in->dyn.line = n->line;
    }
}

/* ---------- loops ---------- */

/* After a loop's body or condition: true when the loop goes on. */
static bool loop_goes_on(Interp *in)
{
    if (likely(in->flow == FLOW_NONE))
        return true;
    if (in->flow != FLOW_BREAK && in->flow != FLOW_CONTINUE)
        return false;
    if (--in->flow_levels > 0)
        return false;
    bool again = in->flow == FLOW_CONTINUE;
    in->flow = FLOW_NONE;
    return again;
}

static int exec_while(Interp *in, const Node *n, bool until)
{
    int status = 0;
    in->dyn.loop_depth++;
    for (;;) {
        int cond = exec_condition(in, n->loop.cond);
        if (in->flow) {
            if (!loop_goes_on(in))
                break;
            continue;
        }
        if ((cond == 0) == until)
            break;
        status = n->loop.body ? exec_node(in, n->loop.body) : 0;
        if (!loop_goes_on(in))
            break;
        proc_tick(in->p, 1);
        if (unlikely(traps_due(in)))
            traps_run_due(in);
    }
    in->dyn.loop_depth--;
    return status;
}

/* DEBUG traps of what is no simple command; BASH_COMMAND is its head. True: it is skipped. */
static bool debug_trap(Interp *in, const Node *n)
{
    if (likely(!in->st.traps) || !trap_has(in, TRAP_DEBUG))
        return false;
    const Node *outer = in->command;
    if (!in->trap_depth)
        in->command = n;
    bool skips = trap_debug(in);
    if (n->kind == NODE_ARITH) /* a clause of for ((;;)): gone when we return */
        in->command = outer;
    return skips;
}

static bool name_refused(Interp *in, const Node *n)
{
    in->dyn.line = n->line;
    if (n->each.bad_name)
        lang_error(in, "`%.*s': not a valid identifier", (int)n->each.var.text.len, n->each.var.text.data);
    return n->each.bad_name;
}

static int exec_for(Interp *in, const Node *n)
{
    if (name_refused(in, n))
        return 1;
    MemMark mark = mem_mark(mem_of(in));
    Unwind *unwind = in->unwind;
    Fields f;
    fields_init(&f, mem_of(in));
    in->dyn.loop_depth++; /* already while the words are expanded */
    if (n->each.in_given) {
        expand_words(in, n->each.words, n->each.count, &f);
    } else {
        int count = positional_count(in);
        for (int i = 1; i <= count; i++)
            fields_add(in, &f, mem_copy(mem_of(in), str_slice(positional(in, i))));
    }
    int status = 0;
    for (uint32_t i = 0; i < f.count; i++) {
        if (debug_trap(in, n)) {
            if (in->flow)
                break;
            continue;
        }
        if (unlikely(OPT(in, XTRACE)))
            trace_for(in, n);
        const Var *v = var_lookup(in, &n->each.var);
        bool ok = v && v->attrs & ATTR_NAMEREF ? var_declare(in, n->each.var.text, ATTR_NAMEREF, 0, 0) &&
                                                     set_nameref(in, &n->each.var, slice_str(f.items[i]))
                                               : lang_set(in, &n->each.var, slice_str(f.items[i]), false);
        if (!ok) {
            status = 1;
            break;
        }
        status = n->each.body ? exec_node(in, n->each.body) : 0;
        if (!loop_goes_on(in))
            break;
        proc_tick(in->p, 1);
        if (unlikely(traps_due(in)))
            traps_run_due(in);
    }
    in->dyn.loop_depth--;
    unwind_to(in, unwind);
    mem_reset(mem_of(in), mark);
    return status;
}

/* With the trace of (( )): expanded once for both. */
static bool eval_traced(Interp *in, const Arith *code, const Word *text, int64_t *value)
{
    bool ok;
    in->arith_who = "((";
    if (unlikely(OPT(in, XTRACE))) {
        Slice expanded = text ? expand_string(in, text) : SLICE("");
        trace_text(in, slice_str(mem_printf(mem_of(in), "(( %.*s ))", (int)expanded.len, expanded.data)));
        ok = arith_eval_expanded(in, expanded, value);
    } else {
        ok = arith_eval(in, code, text, value);
    }
    in->arith_who = NULL;
    return ok;
}

static void empty_clause(Interp *in, uint32_t line)
{
    MemMark mark = mem_mark(mem_of(in));
    WordPart one = {.kind = PART_LITERAL, .quoted = true, .text = SLICE("1")};
    Word text = {.parts = &one, .count = 1, .flags = WORD_LITERAL | WORD_SIMPLE, .source = one.text};
    Node clause = {.kind = NODE_ARITH, .line = line, .arith = {&text, NULL}};
    debug_trap(in, &clause);
    if (OPT(in, XTRACE))
        trace_text(in, SLICE("(( 1 ))"));
    mem_reset(mem_of(in), mark);
}

static bool eval_clause(Interp *in, uint32_t line, const Arith *code, const Word *text, int64_t *value)
{
    MemMark mark = mem_mark(mem_of(in));
    Unwind *unwind = in->unwind;
    *value = 1;
    in->dyn.line = line;
    if (!code && !text) { /* an empty clause is a 1 */
        if (unlikely(in->st.traps != NULL || OPT(in, XTRACE)))
            empty_clause(in, line);
        return true;
    }
    Node clause = {.kind = NODE_ARITH, .line = in->dyn.line, .arith = {(Word *)(uintptr_t)text, NULL}};
    debug_trap(in, &clause);
    bool ok = eval_traced(in, code, text, value);
    unwind_to(in, unwind);
    mem_reset(mem_of(in), mark);
    return ok;
}

static int exec_arith_for(Interp *in, const Node *n)
{
    int64_t value;
    int status = 0;
    in->dyn.line = n->line;
    in->dyn.loop_depth++; /* which an error in the first clause leaves open, as in bash */
    if (!eval_clause(in, n->line, n->cfor.init_code, n->cfor.init, &value))
        return 1;
    for (;;) {
        if (!eval_clause(in, n->line, n->cfor.cond_code, n->cfor.cond, &value)) {
            status = 1;
            break;
        }
        if (!value)
            break;
        status = n->cfor.body ? exec_node(in, n->cfor.body) : 0;
        if (!loop_goes_on(in))
            break;
        if (!eval_clause(in, n->line, n->cfor.step_code, n->cfor.step, &value)) {
            status = 1;
            break;
        }
        proc_tick(in->p, 1);
        if (unlikely(traps_due(in)))
            traps_run_due(in);
    }
    in->dyn.loop_depth--;
    return status;
}

/* ---------- select ---------- */

static size_t columns_of(Slice s) { return utf8_count(s); }

static size_t digits_of(size_t n)
{
    size_t digits = 1;
    for (; n >= 10; n /= 10)
        digits++;
    return digits;
}

/* From one column to another, with tabs where one fits. */
static void pad_cell(Output *out, size_t from, size_t to)
{
    while (from < to) {
        bool tab = to / 8 > from / 8;
        out_char(out, tab ? '\t' : ' ');
        from += tab ? 8 - from % 8 : 1;
    }
}

/* The menu in columns, as bash lays it out for 80 columns. */
static void print_menu(Interp *in, const Fields *f)
{
    size_t digits = digits_of(f->count), widest = 0;
    for (uint32_t i = 0; i < f->count; i++)
        widest = MAX(widest, columns_of(slice_str(f->items[i])));
    size_t cell = widest + digits + 4, columns = MAX((size_t)1, 80 / cell), rows = (f->count + columns - 1) / columns;
    if (rows == 1)
        rows = f->count;
    Output *err = in->p->err;
    for (size_t row = 0; row < rows; row++) {
        size_t at = 0, width = digits_of(rows); /* of the numbers in the first column */
        for (size_t i = row; i < f->count; i += rows) {
            out_printf(err, "%*zu) %s", (int)width, i + 1, f->items[i]);
            if (i + rows < f->count)
                pad_cell(err, at + width + 2 + columns_of(slice_str(f->items[i])), at + cell);
            at += cell;
            width = digits;
        }
        out_char(err, '\n');
    }
}

static bool read_reply(Interp *in)
{
    char *argv[] = {(char *)(uintptr_t)"read", NULL};
    const Command *read = command_find("read");
    return read && exec_builtin(in, read, 1, argv) == 0;
}

int exec_select(Interp *in, const Node *n)
{
    if (name_refused(in, n))
        return 1;
    MemMark mark = mem_mark(mem_of(in));
    Unwind *unwind = in->unwind;
    Fields f;
    fields_init(&f, mem_of(in));
    if (debug_trap(in, n))
        return 0;
    if (unlikely(OPT(in, XTRACE)))
        trace_for(in, n);
    in->dyn.loop_depth++;
    if (n->each.in_given)
        expand_words(in, n->each.words, n->each.count, &f);
    else
        for (int i = 1; i <= positional_count(in); i++)
            fields_add(in, &f, mem_copy(mem_of(in), str_slice(positional(in, i))));
    int status = 0;
    bool show = true;
    if (!f.count) /* as in bash a loop is left open: break afterwards reaches too far */
        in->dyn.loop_depth++;
    while (f.count) {
        output_flush(in->p->out);
        if (show)
            print_menu(in, &f);
        Slice ps3, reply;
        Name name = name_of(SLICE("PS3"));
        out_write(in->p->err, lang_get(in, &name, &ps3) ? ps3 : SLICE("#? "));
        output_flush(in->p->err);
        if (!read_reply(in)) {
            out_char(in->p->out, '\n');
            status = 1;
            break;
        }
        var_text(in, SLICE("REPLY"), &reply);
        show = reply.len == 0;
        if (show)
            continue;
        int64_t choice;
        char *text = mem_copy(mem_of(in), reply);
        bool valid = !parse_int(text, &choice) && choice >= 1 && choice <= f.count;
        if (!lang_set(in, &n->each.var, valid ? slice_str(f.items[choice - 1]) : SLICE(""), false))
            break;
        status = n->each.body ? exec_node(in, n->each.body) : 0;
        if (!loop_goes_on(in))
            break;
        show = false;
        var_text(in, SLICE("REPLY"), &reply);
    }
    in->dyn.loop_depth--;
    unwind_to(in, unwind);
    mem_reset(mem_of(in), mark);
    return status;
}

/* ---------- case ---------- */

static bool case_matches(Interp *in, const Word *w, Slice subject)
{
    if ((w->flags & (WORD_LITERAL | WORD_GLOB)) == WORD_LITERAL && !SHOPT(in, NOCASEMATCH) && w->count &&
        w->parts[0].kind == PART_LITERAL && (w->parts[0].quoted || slice_find(w->parts[0].text, '\\') == w->parts[0].text.len))
        return slice_eq(w->parts[0].text, subject);
    return pattern_matches(in, expand_pattern(in, w), subject);
}

static void trace_case(Interp *in, const Word *subject)
{
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    buf_append(&b, SLICE("case "));
    print_word(&b, subject);
    buf_append(&b, SLICE(" in"));
    trace_text(in, buf_slice(&b));
}

static int exec_case(Interp *in, const Node *n)
{
    MemMark mark = mem_mark(mem_of(in));
    Unwind *unwind = in->unwind;
    in->dyn.line = n->line;
    if (debug_trap(in, n))
        return 0;
    if (unlikely(OPT(in, XTRACE)))
        trace_case(in, n->kase.subject);
    Slice subject = expand_string(in, n->kase.subject);
    int status = 0;
    bool fall = false;
    for (uint32_t i = 0; i < n->kase.count && !in->flow; i++) {
        const CaseItem *item = &n->kase.items[i];
        bool hit = fall;
        for (uint32_t k = 0; k < item->count && !hit; k++)
            hit = case_matches(in, item->patterns[k], subject);
        if (!hit)
            continue;
        status = item->body ? exec_node(in, item->body) : 0;
        if (item->end == CASE_BREAK)
            break;
        fall = item->end == CASE_FALL;
    }
    unwind_to(in, unwind);
    mem_reset(mem_of(in), mark);
    return status;
}

/* ---------- (( )) and functions ---------- */

static int exec_arith(Interp *in, const Node *n)
{
    int64_t value;
    MemMark mark = mem_mark(mem_of(in));
    Unwind *unwind = in->unwind;
    in->dyn.line = n->line;
    in->command = n;
    if (unlikely(trap_has(in, TRAP_DEBUG)) && trap_debug(in))
        return 0;
    bool ok = eval_traced(in, n->arith.code, n->arith.text, &value);
    unwind_to(in, unwind);
    mem_reset(mem_of(in), mark);
    int status = ok && value ? 0 : 1;
    set_pipestatus(in, &status, 1);
    in->status = status;
    check_errexit(in, status);
    return status;
}

static int exec_kind(Interp *in, const Node *n)
{
    switch ((NodeKind)n->kind) {
    case NODE_SIMPLE: return exec_simple(in, n);
    case NODE_PIPELINE: return exec_pipeline(in, n);
    case NODE_AND: case NODE_OR: return exec_and_or(in, n);
    case NODE_LIST: return exec_list(in, n);
    case NODE_GROUP: return n->group.body ? exec_node(in, n->group.body) : 0;
    case NODE_SUBSHELL: return exec_subshell(in, n);
    case NODE_IF: return exec_if(in, n);
    case NODE_WHILE: return exec_while(in, n, false);
    case NODE_UNTIL: return exec_while(in, n, true);
    case NODE_FOR: return exec_for(in, n);
    case NODE_ARITH_FOR: return exec_arith_for(in, n);
    case NODE_SELECT: return exec_select(in, n);
    case NODE_CASE: return exec_case(in, n);
    case NODE_COND: return exec_cond(in, n);
    case NODE_ARITH: return exec_arith(in, n);
    case NODE_FUNCTION: return define_function(in, n);
    case NODE_COPROC: return exec_coproc(in, n);
    }
    return 0;
}

static int exec_redirected(Interp *in, const Node *n)
{
    MemMark mem = mem_mark(mem_of(in));
    Unwind *mark = in->unwind;
    int status = 1;
    if (n->kind == NODE_COND || n->kind == NODE_ARITH)
        in->dyn.line = n->line;
    if (redirs_apply(in, n->redirs)) {
        status = exec_kind(in, n);
        unwind_to(in, mark);
    } else {
        unwind_to(in, mark);
        in->status = 1;
        check_errexit(in, 1);
    }
    mem_reset(mem_of(in), mem);
    return status;
}

int exec_node(Interp *in, const Node *n)
{
    if (unlikely(!n))
        return in->status = 0;
    if (n->kind == NODE_SIMPLE)
        return exec_simple(in, n);
    if (unlikely(!proc_stack_room(in->p, STACK_NEEDED)))
        proc_limit(in->p, LIMIT_DEPTH);
    bool wraps = n->redirs && n->kind != NODE_SUBSHELL && n->kind != NODE_FUNCTION && n->kind != NODE_COPROC;
    uint32_t line = in->dyn.line;
    int status = wraps ? exec_redirected(in, n) : exec_kind(in, n);
    in->dyn.line = line;
    return in->status = status;
}
