/* interp: the life of an interpreter: birth in a process, running text unit by unit, the EXIT trap, death. */
#include "interp.h"

#include "parsecache.h"

/* ---------- birth and death ---------- */

static void interp_release(Proc *p, void *thing)
{
    Interp *in = thing;
    Gen *g = kern_gen(p->kernel);
    for (size_t i = 0; i < ARRAY_LEN(in->computed); i++)
        value_unref(g, in->computed[i]);
    while (in->locals) {
        Local *l = in->locals;
        in->locals = l->next;
        Str *key = l->key;
        if (obj_unref(g, l))
            obj_free(g, l);
        str_unref(g, key);
    }
    traps_unref(g, in->outer_traps);
    state_drop(g, &in->st);
    frame_unref(g, in->dyn.frame);
    strlist_unref(g, in->base_args);
    if (in->held_ast)
        ast_unref(in->held_ast);
    if (in->command_ast)
        ast_unref(in->command_ast);
}

void command_hold(Interp *in, Ast *ast)
{
    Ast *old = in->command_ast;
    in->command_ast = ast_ref(ast);
    if (old)
        ast_unref(old);
}

static void interp_bind(Interp *in, Proc *p)
{
    in->p = p;
    in->env = interp_env;
    in->ifs.valid = false;
    in->pipestatus = &in->one_status;
    in->npipestatus = 1;
    in->pipestatus_cap = 0;
    in->jobs = NULL;
    in->unwind = in->command_mark = NULL;
    in->locals = NULL;
    in->flow = FLOW_NONE;
    in->due = 0;
    in->trap_depth = 0;
    p->lang = in;
    p->env = &in->env;
    proc_own(p, interp_release, in);
}

Interp *interp_new(Proc *p, Lang *lang)
{
    Interp *in = mem_new(&p->keep, Interp);
    in->lang = lang;
    interp_bind(in, p);
    buf_init(&in->last_arg, &p->keep, BUF_MAX);
    in->own_epoch = 1;
    uint32_t ns;
    in->started = proc_now(p, &ns);
    in->shell_pid = p->pid;
    p->caught |= SIGNAL_BIT(3); /* QUIT: a shell takes no notice of it */
    return in;
}

Interp *interp_child(Interp *in, Proc *child)
{
    Interp *ci = mem_alloc(&child->keep, sizeof *ci);
    Gen *g = gen_of(in);
    in->own_epoch++; /* what was ours is shared now */
    *ci = *in;
    ci->own_epoch++;
    ci->st = state_clone(g, &in->st);
    if (ci->dyn.frame)
        obj_ref(g, ci->dyn.frame);
    if (ci->base_args)
        obj_ref(g, ci->base_args);
    ci->held_ast = in->dyn.ast ? ast_ref(in->dyn.ast) : NULL;
    ci->command_ast = in->command_ast ? ast_ref(in->command_ast) : NULL;
    memset(ci->computed, 0, sizeof ci->computed);
    interp_bind(ci, child);
    buf_init(&ci->last_arg, &child->keep, BUF_MAX);
    buf_append(&ci->last_arg, buf_slice(&in->last_arg));
    ci->one_status = in->npipestatus ? in->pipestatus[0] : 0;
    ci->subshell_level++;
    ci->tail = NULL;
    ci->exit_trap_holds = false;
    ci->no_fork = ci->execed = ci->keep_redirs = ci->exiting = false;
    ci->procsub_fds = 0;
    ci->stdin_script = NULL;
    ci->assigns = NULL;
    ci->nassigns = 0;
    ci->outer_traps = in->outer_traps ? in->outer_traps : in->st.traps;
    if (ci->outer_traps)
        obj_ref(g, ci->outer_traps);
    traps_for_child(ci);
    return ci;
}

void set_pipestatus(Interp *in, const int *statuses, uint32_t count)
{
    if (count == 1) {
        in->one_status = statuses[0];
        in->pipestatus = &in->one_status;
    } else {
        if (count > in->pipestatus_cap) {
            in->pipestatus_store = mem_array(&in->p->keep, count, int);
            in->pipestatus_cap = count;
        }
        if (count)
            memcpy(in->pipestatus_store, statuses, count * sizeof(int));
        in->pipestatus = in->pipestatus_store;
    }
    in->npipestatus = count;
}

/* ---------- the life of a shell process ---------- */

/* What a raise means for the process that catches it last; kinds that end the run are passed on. */
static int status_of_raise(Interp *in, RaiseKind kind)
{
    switch (kind) {
    case RAISE_EXIT: case RAISE_COMMAND: return in->p->status;
    case RAISE_LANG: return in->status;
    default: proc_raise(in->p, kind);
    }
}

static int run_exit_trap(Interp *in, int status)
{
    Guard g;
    if (likely(!trap_has(in, TRAP_EXIT)))
        return status;
    in->status = status;
    in->flow = FLOW_NONE;
    in->exit_status = status;
    in->in_exit_trap = true;
    in->trace_level += in->subshell_level && !in->substituted && !in->gave_up;
    RaiseKind kind = guard_enter(in->p, &g);
    if (!kind) {
        trap_run(in, TRAP_EXIT);
        guard_leave(in->p, &g);
        return in->exit_status; /* the trap's own exit, or what it was */
    }
    unwind_to(in, NULL);
    return status_of_raise(in, kind);
}

int exit_trap_in_function(Interp *in, int status)
{
    if (likely(!in->st.traps) || !in->dyn.function_depth || !trap_has(in, TRAP_EXIT))
        return status;
    unsigned no_errexit = in->dyn.no_errexit;
    in->dyn.no_errexit = in->dyn.no_exit = 0;
    in->status = in->exit_status = status;
    in->in_exit_trap = true;
    trap_run(in, TRAP_EXIT);
    in->dyn.no_errexit = no_errexit;
    in->flow = FLOW_NONE;
    return in->exit_status;
}

/* Killed by a signal that has no trap: the EXIT trap still runs, and the process ends of the signal all the same. */
static NORETURN void die_of_signal(Interp *in)
{
    Proc *p = in->p;
    int signal = p->signal;
    p->signal = 0;
    if (signal != 9)
        run_exit_trap(in, 128 + signal);
    output_flush(p->out);
    p->signal = signal;
    proc_raise(p, RAISE_SIGNAL);
}

/* What fails while the words of a stage, or of a command with &, are expanded runs the parent's EXIT trap: bash clears it only after that. */
static void take_exit_trap(Interp *in)
{
    Str *action = in->outer_traps ? in->outer_traps->action[TRAP_EXIT] : NULL;
    Slice text = action ? slice_str(mem_copy(mem_of(in), str_slice(action))) : SLICE("");
    in->exit_trap_holds = false;
    if (text.len)
        trap_set(in, TRAP_EXIT, &text);
}

int shell_body(Interp *in, int (*body)(Interp *in, void *arg), void *arg)
{
    Guard g;
    int status;
    RaiseKind kind = guard_enter(in->p, &g);
    if (!kind) {
        status = body(in, arg);
        guard_leave(in->p, &g);
        if ((in->exiting = in->flow == FLOW_EXIT))
            status = in->exit_status;
    } else {
        unwind_to(in, NULL);
        in->exiting = kind == RAISE_EXIT || kind == RAISE_SIGNAL;
        if (in->execed)
            return in->p->status;
        if (kind == RAISE_SIGNAL && trap_has(in, TRAP_EXIT))
            die_of_signal(in);
        status = status_of_raise(in, kind);
        if (unlikely(in->exit_trap_holds))
            take_exit_trap(in);
    }
    in->dyn.no_errexit = in->dyn.no_exit = 0;
    if (unlikely(traps_due(in)) && in->flow != FLOW_EXIT)
        traps_run_due(in);
    return run_exit_trap(in, status & 255);
}

/* ---------- text ---------- */

typedef struct TextUnwind {
    Unwind unwind;
    Parser *parser;
    Ast *ast; /* one reference */
    const Node *command; /* BASH_COMMAND when it began */
    Dynamic dyn;
    size_t stdin_base; /* of the text in a script on standard input; SIZE_MAX / 2: it is none */
} TextUnwind;

static void end_text(Interp *in, Unwind *u)
{
    TextUnwind *t = (TextUnwind *)u;
    if (t->command) /* eval itself is what runs, and not what it ended with */
        in->command = t->command;
    else if (in->command)
        command_hold(in, t->parser ? parser_ast(t->parser) : t->ast);
    if (t->parser)
        parser_free(t->parser);
    if (t->ast)
        ast_unref(t->ast);
    Ast *outer = t->dyn.ast;
    in->dyn.ast = outer;
    in->dyn.text_name = t->dyn.text_name;
    in->dyn.line = t->dyn.line;
}

static Slice alias_for_parser(void *user, Slice name, bool *found)
{
    Slice text = SLICE("");
    *found = alias_get(user, name, &text);
    return text;
}

static ParseOptions parse_options(Interp *in)
{
    return (ParseOptions){
        .extglob = SHOPT(in, EXTGLOB),
        .posix = OPT(in, POSIX),
        .aliases = SHOPT(in, EXPAND_ALIASES) && in->st.aliases.count,
        .brace_expand = OPT(in, BRACEEXPAND),
        .stale_cond = in->stale_cond,
        .discard = OPT(in, NOEXEC),
        .alias = alias_for_parser,
        .user = in,
    };
}

static uint32_t option_bits(const ParseOptions *o)
{
    return (uint32_t)o->extglob | (uint32_t)o->posix << 1 | (uint32_t)o->brace_expand << 2;
}

static void print_parse_line(Interp *in, const char *text)
{
    Slice name = in->dyn.source && in->dyn.source->len ? str_slice(in->dyn.source) : str_slice(in->st.zero);
    Output *err = in->p->err;
    output_flush(in->p->out);
    out_write(err, name);
    bool gnu = SHOPT(in, GNU_ERRFMT) && strncmp(text, "line ", 5) == 0;
    if (in->dyn.text_name) {
        out_str(err, ": ");
        out_str(err, in->dyn.text_name);
    }
    out_str(err, gnu ? ":" : ": ");
    text += gnu ? 5 : 0;
    out_str(err, text);
    out_char(err, '\n');
    output_flush(err);
}

void say_parse_error(Interp *in, const char *where, const char *text)
{
    const char *name = in->dyn.text_name;
    in->dyn.text_name = where;
    print_parse_line(in, text);
    in->dyn.text_name = name;
}

/* One complete command, with bash's jump to top level ending it. False: stop reading this text. */
static int run_unit(Interp *in, const Unit *u)
{
    if (!u->node || OPT(in, NOEXEC))
        return in->status;
    Guard g;
    Unwind *mark = in->unwind;
    Dynamic dyn = in->dyn;
    MemMark mem = mem_mark(mem_of(in));
    in->dyn.line = u->end_line; /* where the reader stands */
    RaiseKind kind = guard_enter(in->p, &g);
    if (likely(!kind)) {
        int status = exec_node(in, u->node);
        if (unlikely(traps_due(in)) && !in->flow)
            traps_run_due(in);
        guard_leave(in->p, &g);
        mem_reset(mem_of(in), mem);
        return status;
    }
    unwind_to(in, mark);
    if (kind != RAISE_LANG || !in->discard)
        proc_raise(in->p, kind);
    bool goes_on = in->goes_on;
    in->goes_on = false;
    in->given_up = in->dyn.line;
    unsigned loops = in->dyn.loop_depth; /* as in bash the loops that were left so stay open: break afterwards reaches too far */
    in->dyn = dyn;
    in->dyn.loop_depth = loops;
    in->flow = FLOW_NONE;
    in->arith_who = NULL;
    in->arith_depth = 0;
    in->trace_level = 0;
    in->no_tilde = false;
    mem_reset(mem_of(in), mem);
    set_pipestatus(in, &in->status, 1);
    int status = in->status;
    if (in->subshell_level && !in->lang_text) { /* a subshell's body is one unit: it is over */
        in->flow = FLOW_EXIT;
        in->exit_status = status;
    } else if (OPT(in, ERREXIT) && !goes_on) {
        in->flow = FLOW_EXIT;
        in->exit_status = status;
    }
    return status;
}

static void show_warnings(Interp *in, Parser *parser)
{
    const char *name = in->dyn.text_name;
    in->dyn.text_name = NULL;
    ParseWarnings w = parser_warnings(parser);
    for (uint32_t i = 0; i < w.count; i++)
        print_parse_line(in, w.messages[i]);
    in->dyn.text_name = name;
}

static void echo_verbose(Interp *in, Slice text, size_t from, size_t to)
{
    if (likely(!OPT(in, VERBOSE)) || to <= from)
        return;
    output_flush(in->p->out);
    out_write(in->p->err, slice(text.data + from, to - from));
    if (to == text.len && text.data[to - 1] != '\n')
        out_char(in->p->err, '\n');
    output_flush(in->p->err);
}

typedef struct Units {
    Unit *items;
    uint32_t count, cap;
} Units;

static void units_add(Interp *in, Units *l, Unit u)
{
    if (l->count == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 8;
        l->items = mem_grow(mem_of(in), l->items, l->cap * sizeof(Unit), cap * sizeof(Unit));
        l->cap = cap;
    }
    l->items[l->count++] = u;
}

static int parse_failed(Interp *in, const ParseError *error)
{
    if (error->no_memory)
        lang_nomem(in);
    if (*error->message)
        print_parse_line(in, error->message);
    if (OPT(in, ERREXIT) && *error->message) /* bash leaves from within its message */
        lang_fatal(in, 2);
    for (const char *s = error->more; s;) {
        const char *end = strchr(s, '\n');
        print_parse_line(in, end ? mem_printf(mem_of(in), "%.*s", (int)(end - s), s) : s);
        s = end ? end + 1 : NULL;
    }
    if (error->second)
        print_parse_line(in, error->second);
    in->stale_cond = error->in_cond;
    if (error->in_substitution && in->has_execution_string)
        lang_fatal(in, 127);
    if (!error->resume)
        in->parse_failed = true;
    bool eval = in->dyn.text_name && strcmp(in->dyn.text_name, "eval") == 0;
    bool apart = in->dyn.source_depth || eval;
    if (apart)
        set_special_error(in, true);
    in->stale_word = eval && error->unclosed;
    if (error->or_last && in->status && !apart)
        return in->status;
    if (error->status >= 0)
        in->status = error->status;
    else if (apart)
        in->status = 2;
    return in->status;
}

/* The script's own description of standard input stands behind the command that is about to run. False: it is no such script. */
static bool stdin_put(Interp *in, size_t offset)
{
    if (!in->stdin_script || proc_file(in->p, 0) != in->stdin_script)
        return false;
    return proc_seek(in->p, 0, (int64_t)offset, SEEK_SET) >= 0;
}

static bool stdin_moved(Interp *in, size_t offset)
{
    if (proc_file(in->p, 0) != in->stdin_script)
        return false;
    int64_t at = proc_seek(in->p, 0, 0, SEEK_CUR);
    if (at < 0 || (size_t)at == offset)
        return false;
    in->stdin_at = (size_t)at;
    return true;
}

/* Parses and runs in turn; keeps the result for the next time when nothing on the way changed how it is to be read. */
static int run_parsing(Interp *in, TextUnwind *t, Slice text, uint32_t first_line, uint64_t hash)
{
    ParseOptions options = parse_options(in);
    unsigned epoch = in->parse_epoch;
    uint32_t bits = option_bits(&options);
    bool cacheable = in->lang && !options.aliases && !options.discard && first_line == 1;
    Units units = {NULL, 0, 0};
    t->parser = parser_new(kern_budget(in->p->kernel), text, first_line, &options);
    if (!t->parser)
        lang_nomem(in);
    t->ast = ast_ref(parser_ast(t->parser));
    in->dyn.ast = t->ast;
    int status = 0;
    bool whole = false;
    for (size_t at = 0; !in->flow;) {
        Unit unit = {NULL, 0, 0};
        ParseError error = {.message = NULL};
        ParseState state = parser_next(t->parser, &unit, &error);
        show_warnings(in, t->parser);
        cacheable &= !parser_warnings(t->parser).count; /* they are to be said each time */
        size_t read = parser_offset(t->parser);
        if (state == PARSE_ERROR) /* the line has been read whole */
            read += slice_find(slice_from(text, read), '\n') + 1;
        echo_verbose(in, text, at, MIN(read, text.len));
        at = parser_offset(t->parser);
        if (state == PARSE_ERROR) {
            status = parse_failed(in, &error);
            cacheable = false;
            if (error.resume)
                continue;
            return status;
        }
        whole = state == PARSE_END;
        if (whole)
            break;
        if (cacheable && unit.node)
            units_add(in, &units, unit);
        bool reads = t->stdin_base < SIZE_MAX / 2 && stdin_put(in, t->stdin_base + at);
        in->given_up = 0;
        status = run_unit(in, &unit);
        if (unlikely(in->given_up)) {
            parser_shift_lines(t->parser, (int64_t)in->given_up - unit.end_line);
            in->given_up = 0;
            cacheable = false;
        }
        if (reads && stdin_moved(in, t->stdin_base + at)) {
            in->stdin_line = unit.end_line + 1;
            return status;
        }
        if (unlikely(in->parse_epoch != epoch || in->stale_cond || in->stale_word)) {
            epoch = in->parse_epoch;
            cacheable = false;
            options = parse_options(in);
            options.stale_word = in->stale_word;
            in->stale_word = false;
            parser_options(t->parser, &options);
        }
    }
    if (whole && cacheable) {
        Parsed parsed = {text, hash, bits, units.count, t->ast, units.items};
        parse_cache_put(&in->lang->cache, kern_mem(in->p->kernel), kern_budget(in->p->kernel), &parsed);
    }
    return status;
}

static int run_parsed(Interp *in, TextUnwind *t, const Parsed *p)
{
    uint32_t count = p->count;
    Unit *units = mem_array(mem_of(in), count + 1, Unit);
    memcpy(units, p->units, count * sizeof(Unit));
    t->ast = ast_ref(p->ast);
    in->dyn.ast = t->ast;
    int status = 0;
    for (uint32_t i = 0; i < count && !in->flow; i++)
        status = run_unit(in, &units[i]);
    return status;
}

int run_units(Interp *in, Slice text, uint32_t first_line, const char *name)
{
    MemMark mem = mem_mark(mem_of(in));
    Unwind *mark = in->unwind;
    TextUnwind *t = mem_new(mem_of(in), TextUnwind);
    t->dyn = in->dyn;
    t->command = in->command;
    unwind_push(in, &t->unwind, end_text);
    in->dyn.text_name = name;
    bool outer = in->lang_text;
    in->lang_text = true;
    ParseOptions options = parse_options(in);
    uint64_t hash = hash_bytes(text);
    t->stdin_base = in->stdin_script && !outer ? in->stdin_at : SIZE_MAX / 2;
    if (t->stdin_base != SIZE_MAX / 2)
        in->stdin_at += text.len;
    in->stale_word &= in->trap_depth > 0; /* a trap's text leaves the reader as it was */
    bool cached = in->lang && !in->stale_cond && !in->stdin_script && first_line == 1 && !options.aliases && !OPT(in, VERBOSE);
    const Parsed *p = cached ? parse_cache_get(in->lang->cache, text, hash, option_bits(&options)) : NULL;
    int status = p ? run_parsed(in, t, p) : run_parsing(in, t, text, first_line, hash);
    in->lang_text = outer;
    unwind_to(in, mark);
    mem_reset(mem_of(in), mem);
    return in->status = status;
}

int run_stdin(Interp *in, Slice text)
{
    File *f = file_from_bytes(in->p->kernel, text, NULL);
    if (!f)
        lang_nomem(in);
    int fd = proc_install(in->p, 0, f);
    file_unref(in->p->kernel, f);
    if (fd < 0)
        lang_nomem(in);
    in->stdin_script = f; /* only compared: the descriptor holds it */
    in->stdin_line = 1;
    int status = 0;
    for (size_t at = 0; at < text.len && !in->flow && !in->parse_failed; at = in->stdin_at) {
        in->stdin_at = at;
        status = run_units(in, slice_from(text, at), in->stdin_line, NULL);
    }
    return status;
}
