/* exec_simple: simple commands: assignments, words, redirections; builtins. Programs are in exec_program. */
#include "interp.h"

/* ---------- finding ---------- */

/* A builtin that runs in this process, or NULL. */
static const Command *builtin_by_hash(Interp *in, const char *name, uint64_t hash)
{
    const Command *c;
    CommandSlot *slot = in->lang ? &in->lang->commands[hash % COMMAND_SLOTS] : NULL;
    if (slot && slot->hash == hash && slot->command && strcmp(slot->command->name, name) == 0) {
        c = slot->command;
    } else {
        c = command_find(name);
        if (!c || !(c->flags & COMMAND_SHELL))
            return NULL;
        if (slot)
            *slot = (CommandSlot){hash, c};
    }
    if (unlikely(in->st.disabled.count) && pmap_get(&in->st.disabled, slice_str(name), hash))
        return NULL;
    return c;
}

const Command *builtin_find(Interp *in, Slice name)
{
    char *text = mem_copy(mem_of(in), name);
    return builtin_by_hash(in, text, hash_bytes(name));
}

static bool is_declaration(Slice name)
{
    switch (name.len ? name.data[0] : 0) {
    case 'a': return slice_is(name, "alias");
    case 'd': return slice_is(name, "declare");
    case 't': return slice_is(name, "typeset");
    case 'l': return slice_is(name, "local");
    case 'e': return slice_is(name, "export");
    case 'r': return slice_is(name, "readonly");
    default: return false;
    }
}

/* ---------- assignments ---------- */

static Word *text_word(Interp *in, Slice text)
{
    Word *w = mem_new(mem_of(in), Word);
    w->parts = mem_new(mem_of(in), WordPart);
    w->parts[0] = (WordPart){.kind = PART_LITERAL, .quoted = true, .text = text};
    w->count = 1;
    w->flags = WORD_LITERAL | WORD_SIMPLE | WORD_QUOTED;
    w->source = text;
    return w;
}

static void trace_assign(Interp *in, const Assign *a, Slice text)
{
    Buf b;
    trace_begin(in, &b);
    buf_append(&b, a->name.text);
    if (a->index) {
        buf_char(&b, '[');
        buf_append(&b, a->index->source);
        buf_char(&b, ']');
    }
    buf_append(&b, a->append ? SLICE("+=") : SLICE("="));
    if (a->is_array) {
        buf_char(&b, '(');
        for (uint32_t i = 0; i < a->nitems; i++) {
            if (i)
                buf_char(&b, ' ');
            if (a->items[i].index)
                buf_printf(&b, "[%.*s]%s", (int)a->items[i].index->source.len, a->items[i].index->source.data, a->items[i].append ? "+=" : "=");
            if (a->items[i].value)
                trace_word(&b, a->items[i].value);
        }
        buf_char(&b, ')');
    } else {
        if (text.len)
            quote_in(in, &b, text, quote_trace);
    }
    trace_end(in, &b);
}

/* The fast road for x=text and x=$((...)). */
static bool assign_plain(Interp *in, const Assign *a)
{
    if (a->is_array || a->index)
        return var_assign(in, a, 0, 0);
    const Word *w = a->value;
    if (!w)
        return lang_set(in, &a->name, SLICE(""), a->append);
    if (w->count == 1 && !a->append) {
        const WordPart *p = &w->parts[0];
        if (p->kind == PART_QUOTED && p->inner->count == 1)
            p = &p->inner->parts[0];
        int64_t value;
        if (p->kind == PART_ARITH) {
            if (!arith_eval(in, p->arith.code, p->arith.text, &value))
                lang_arith_discard(in);
            return lang_set_int(in, &a->name, value);
        }
        if (p->kind == PART_LITERAL)
            return lang_set(in, &a->name, p->text, false);
    }
    return lang_set(in, &a->name, expand_value(in, w), a->append);
}

static int exec_assignments(Interp *in, const Node *n)
{
    for (uint32_t i = 0; i < n->simple.nassigns; i++) {
        const Assign *a = &n->simple.assigns[i];
        bool ok;
        if (unlikely(OPT(in, XTRACE))) { /* expanded once for both */
            bool plain = !a->is_array && !a->index;
            Slice text = a->value && !a->is_array ? expand_value(in, a->value) : SLICE("");
            trace_assign(in, a, text);
            Assign once = *a;
            if (!a->is_array && a->value)
                once.value = text_word(in, text);
            ok = plain ? lang_set(in, &a->name, text, a->append) : assign_plain(in, &once);
        } else {
            ok = assign_plain(in, a);
        }
        if (!ok)
            lang_assign_failed(in);
    }
    int status = in->subst_status >= 0 ? in->subst_status : 0;
    if (n->redirs) {
        Unwind *mark = in->unwind;
        if (!redirs_apply(in, n->redirs))
            status = 1;
        unwind_to(in, mark);
    }
    return status;
}

static Slice list_text(Interp *in, const Assign *a)
{
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    buf_char(&b, '(');
    for (uint32_t i = 0; i < a->nitems; i++) {
        const ArrayItem *item = &a->items[i];
        if (i)
            buf_char(&b, ' ');
        if (item->index)
            buf_printf(&b, "[%.*s]%s", (int)item->index->source.len, item->index->source.data, item->append ? "+=" : "=");
        if (item->value)
            buf_append(&b, expand_value(in, item->value));
    }
    buf_char(&b, ')');
    return buf_slice(&b);
}

typedef struct ScopeUnwind {
    Unwind unwind;
    Local *locals;
} ScopeUnwind;

static void pop_scope(Interp *in, Unwind *u) { locals_pop(in, ((ScopeUnwind *)u)->locals); }

/* Attributes count for nothing here, but that n+=1 adds where n is an integer. */
static Slice appended(Interp *in, const Var *v, Slice old, Slice text)
{
    int64_t a, b;
    if (!v || !(v->attrs & ATTR_INTEGER))
        return slice_str(mem_printf(mem_of(in), "%.*s%.*s", (int)old.len, old.data, (int)text.len, text.data));
    old = slice(mem_copy(mem_of(in), old), old.len);
    if (!arith_eval_text(in, old, &a) || !arith_eval_text(in, text, &b))
        lang_arith_discard(in);
    return slice_str(mem_printf(mem_of(in), "%lld", (long long)((uint64_t)a + (uint64_t)b)));
}

typedef struct Kept {
    struct Kept *next;
    const Name *name;
    Slice text;
    uint32_t attrs;
} Kept;

/* x=1 export x: what export, readonly and declare -x make of a prefix assignment outlives the command. */
static Kept *kept_assignments(Interp *in, const Node *n)
{
    Kept *list = NULL;
    for (uint32_t i = 0; i < n->simple.nassigns; i++) {
        const Name *name = &n->simple.assigns[i].name;
        const Var *v = var_lookup(in, name);
        Slice text;
        if (!v || !(v->attrs & ATTR_KEEP) || v->scope != in->dyn.function_depth + 1 || !lang_get(in, name, &text))
            continue;
        Kept *k = mem_new(mem_of(in), Kept);
        *k = (Kept){list, name, slice(mem_copy(mem_of(in), text), text.len), v->attrs & (ATTR_EXPORT | ATTR_READONLY)};
        list = k;
    }
    return list;
}

static void keep_assignments(Interp *in, const Kept *list)
{
    for (; list; list = list->next)
        if (lang_set(in, list->name, list->text, false))
            var_declare(in, list->name->text, list->attrs, 0, 0);
}

/* a[0]=1 cmd */
static void refuse_element(Interp *in, const Assign *a)
{
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    print_word(&b, a->index);
    lang_error(in, "`%s[%.*s]': not a valid identifier", a->name.text.data, (int)b.len, b.data ? b.data : "");
}

/* x=1 cmd: bindings of the command's own, exported. False: readonly (printed). */
static bool prefix_assignments(Interp *in, const Node *n)
{
    ScopeUnwind *u = mem_new(mem_of(in), ScopeUnwind);
    u->locals = in->locals;
    unwind_push(in, &u->unwind, pop_scope);
    for (uint32_t i = 0; i < n->simple.nassigns; i++) {
        const Assign *a = &n->simple.assigns[i];
        if (unlikely(a->index)) {
            refuse_element(in, a);
            continue;
        }
        Slice text = a->is_array ? list_text(in, a) : a->value ? expand_value(in, a->value) : SLICE(""), old;
        Assign plain = *a;
        plain.append = plain.is_array = false; /* a=(1 2) in front of a command is text */
        const Var *v = var_lookup(in, &a->name);
        if (unlikely(OPT(in, XTRACE)))
            trace_assign(in, &plain, text);
        if (v && v->attrs & ATTR_READONLY) {
            lang_error(in, "%.*s: readonly variable", (int)a->name.text.len, a->name.text.data);
            if (OPT(in, POSIX))
                return false;
            continue; /* the command runs all the same */
        }
        if (a->append && lang_get(in, &a->name, &old))
            text = appended(in, v, old, text);
        var_put_local(in, &a->name, in->dyn.function_depth + 1, ATTR_EXPORT);
        if (!lang_set(in, &a->name, text, false))
            return false;
    }
    return true;
}

/* ---------- builtins ---------- */

/* What it printed must have reached the descriptor before redirections are undone. */
static int builtin_output(Interp *in, int status, bool redirected)
{
    Output *out = in->p->out;
    if (likely(!out->error && !(out->len && (redirected || !proc_fd_valid(in->p, 1)))))
        return status;
    int failed = output_status(in->p);
    out->error = 0;
    return failed ? failed : status;
}

static bool runs_text(const Command *c) { return strcmp(c->name, "eval") == 0 || strcmp(c->name, "source") == 0 || strcmp(c->name, ".") == 0; }

int exec_builtin(Interp *in, const Command *c, int argc, char **argv)
{
    Proc *p = in->p;
    const char *name = p->name, *who = in->arith_who;
    Dynamic dyn = in->dyn;
    Unwind *mark = in->unwind;
    Guard g;
    int status;
    if (!proc_command_allowed(p, c->name, false)) {
        shell_error(in, argv[0], "refused by policy");
        return 126;
    }
    p->name = in->arith_who = argv[0];
    RaiseKind kind = guard_enter(p, &g);
    if (likely(!kind)) {
        Args args = {.command = c, .argc = argc, .argv = argv, .builtin = true};
        bool inner = unlikely(in->dyn.negated) && in->dyn.no_errexit && runs_text(c);
        if (inner) { /* ! eval: traps on ERR run for what is in the text */
            in->dyn.no_errexit--;
            in->dyn.no_exit++;
            in->dyn.negated = false;
        }
        status = builtin_output(in, c->main(p, &args), false);
        if (inner) {
            in->dyn.no_errexit++;
            in->dyn.no_exit--;
            in->dyn.negated = true;
        }
        guard_leave(p, &g);
        p->name = name;
        in->arith_who = who;
        return status;
    }
    p->name = name;
    in->arith_who = who;
    unwind_to(in, mark);
    if (kind != RAISE_COMMAND)
        proc_raise(p, kind);
    in->dyn = dyn;
    return p->status;
}

/* ---------- the whole ---------- */

/* name=value of a declaration command: expanded before any of them is assigned. *rest is what the builtin assigns; NULL: it reads
 * the text itself (a subscript, or a (...) that came from an expansion). */
static char *declaration_text(Interp *in, const Assign *a, const Assign **rest)
{
    Slice text = a->value ? expand_value(in, a->value) : SLICE("");
    const char *op = a->append ? "+=" : "=";
    bool compound = text.len > 1 && text.data[0] == '(' && text.data[text.len - 1] == ')';
    *rest = NULL;
    if (a->index)
        return mem_printf(mem_of(in), "%s[%s]%s%s", a->name.text.data, expand_string(in, a->index).data, op, text.data);
    if (!compound) {
        Assign *made = mem_new(mem_of(in), Assign);
        *made = *a;
        made->value = text_word(in, text);
        *rest = made;
    }
    return mem_printf(mem_of(in), "%s%s%s", a->name.text.data, op, text.data);
}

/* Words of a declaration command: those that read as assignments are left to the builtin. */
static void expand_declaration(Interp *in, const Node *n, Fields *f)
{
    const Assign **assigns = mem_array(mem_of(in), (size_t)n->simple.nwords + 1, const Assign *);
    size_t cap = (size_t)n->simple.nwords + 1;
    bool assoc = false; /* -A came before */
    for (uint32_t i = 0; i < n->simple.nwords; i++) {
        const Word *w = n->simple.words[i];
        uint32_t before = f->count;
        const Assign *a = i ? w->assign : NULL;
        assoc |= !a && f->count > 1 && f->items[f->count - 1][0] == '-' && strchr(f->items[f->count - 1], 'A');
        if (unlikely(OPT(in, XTRACE)) && a && a->is_array)
            a = assign_expanded(in, a, assoc);
        if (a && a->is_array)
            fields_add(in, f, mem_copy(mem_of(in), OPT(in, XTRACE) ? a->name.text : w->source));
        else if (a)
            fields_add(in, f, declaration_text(in, w->assign, &a));
        else
            expand_word(in, w, f);
        if (f->count > cap) {
            assigns = mem_grow(mem_of(in), assigns, cap * sizeof *assigns, f->count * 2 * sizeof *assigns);
            cap = (size_t)f->count * 2;
        }
        for (uint32_t k = before; k < f->count; k++)
            assigns[k] = a;
        if (unlikely(OPT(in, XTRACE)) && a && a->is_array)
            trace_assign(in, a, SLICE(""));
    }
    in->assigns = assigns;
    in->nassigns = (int)f->count;
}

static void remember_last(Interp *in, Slice last)
{
    buf_clear(&in->last_arg);
    buf_append(&in->last_arg, last);
}

static int redirect_failed(Interp *in, const Command *c)
{
    if (c && c->flags & COMMAND_SPECIAL && OPT(in, POSIX))
        lang_fatal(in, 1);
    return 1;
}

static bool word_assigns(const Word *w)
{
    for (uint32_t i = 0; w && i < w->count; i++) {
        const WordPart *part = &w->parts[i];
        if (part->kind == PART_ARITH || (part->kind == PART_PARAM && (part->param->kind == PARAM_ASSIGN || word_assigns(part->param->word))))
            return true;
        if (part->kind == PART_QUOTED && word_assigns(part->inner))
            return true;
    }
    return false;
}

static bool redirs_assign(const Redir *r)
{
    while (r && !r->var && !word_assigns(r->word))
        r = r->next;
    return r != NULL;
}

typedef struct StateUnwind {
    Unwind unwind;
    State outer;
} StateUnwind;

static void restore_state(Interp *in, Unwind *u)
{
    State inner = in->st;
    in->own_epoch++;
    in->st = ((StateUnwind *)u)->outer;
    state_drop(gen_of(in), &inner);
    memset(in->recent, 0, sizeof in->recent);
}

/* What is assigned from here on is undone at `mark`. */
static void keep_state(Interp *in)
{
    StateUnwind *u = mem_new(mem_of(in), StateUnwind);
    in->own_epoch++;
    u->outer = in->st;
    in->st = state_clone(gen_of(in), &u->outer);
    unwind_push(in, &u->unwind, restore_state);
}

/* Redirections of a program are the child's affair in bash: what ends the shell there ends only the command, and what is assigned stays there. */
static int redirect_program(Interp *in, const Redir *redirs)
{
    Guard g;
    Unwind *mark = in->unwind;
    RaiseKind kind = guard_enter(in->p, &g);
    if (likely(!kind)) {
        if (unlikely(redirs_assign(redirs)))
            keep_state(in);
        bool ok = redirs_apply(in, redirs);
        guard_leave(in->p, &g);
        return ok ? 0 : 1;
    }
    unwind_to(in, mark);
    if (kind != RAISE_LANG)
        proc_raise(in->p, kind);
    return in->status;
}

/* %1 stands for fg %1. */
static int exec_job(Interp *in, int argc, char **argv)
{
    const Command *fg = command_find("fg");
    char **args = mem_array(mem_of(in), (size_t)argc + 2, char *);
    args[0] = (char *)(uintptr_t)"fg";
    memcpy(args + 1, argv, (size_t)argc * sizeof *args);
    return fg ? exec_builtin(in, fg, argc + 1, args) : 127;
}

/* Redirections whose words must be expanded. */
static bool redirs_expand(const Redir *r)
{
    while (r && !r->var_index && (!r->word || r->word->flags & WORD_LITERAL))
        r = r->next;
    return r != NULL;
}

/* x=1 cmd <<< $x: redirections do not see what stands in front. Takes it away, to be bound again by bind_prefix. */
static Kept *unbind_prefix(Interp *in, const Node *n, Local *before)
{
    Kept *list = NULL;
    for (uint32_t i = n->simple.nassigns; i-- > 0;) {
        const Name *name = &n->simple.assigns[i].name;
        const Var *v = var_lookup(in, name);
        bool set;
        if (!v || v->scope != in->dyn.function_depth + 1)
            continue;
        Slice text = value_text(mem_of(in), &v->value, &set);
        Kept *k = mem_new(mem_of(in), Kept);
        *k = (Kept){list, name, slice(mem_copy(mem_of(in), text), text.len), 0};
        list = k;
    }
    locals_pop(in, before);
    return list;
}

static void bind_prefix(Interp *in, const Kept *list)
{
    for (; list; list = list->next) {
        var_put_local(in, list->name, in->dyn.function_depth + 1, ATTR_EXPORT);
        lang_set(in, list->name, list->text, false);
    }
}

/* False when the redirections of a command failed: its status is in *failed. */
static bool redirect_found(Interp *in, const Node *n, const Function *f, const Command *c, Local *before, int *failed)
{
    Kept *prefix = unlikely(in->locals != before) && redirs_expand(n->redirs) ? unbind_prefix(in, n, before) : NULL;
    *failed = 0;
    if (!f && !c)
        *failed = redirect_program(in, n->redirs);
    else if (!redirs_apply(in, n->redirs))
        *failed = redirect_failed(in, f ? NULL : c);
    if (*failed)
        return false;
    bind_prefix(in, prefix);
    return true;
}

static int run_found(Interp *in, const Node *n, const Function *f, const Command *c, Local *before, int argc, char **argv)
{
    int failed;
    if (!f && !c && argv[0][0] == '%' && !in->no_fork)
        return exec_job(in, argc, argv);
    if (unlikely(in->st.options & OPTION_RESTRICTED) && strchr(argv[0], '/')) {
        lang_error(in, "%s: restricted: cannot specify `/' in command names", argv[0]);
        return 1;
    }
    if (n->redirs && !redirect_found(in, n, f, c, before, &failed))
        return failed;
    if (!f && !c)
        return exec_program(in, argc, argv, n->redirs, false);
    in->no_fork = false; /* what they run is not the last command */
    if (f)
        return exec_function(in, f, argc, argv);
    int status = exec_builtin(in, c, argc, argv);
    if (n->redirs) {
        const char *name = in->p->name;
        in->p->name = argv[0];
        status = builtin_output(in, status, true);
        in->p->name = name;
    }
    if (unlikely(in->special_failed)) {
        bool matters = in->special_fatal || (!in->dyn.no_errexit && !in->dyn.negated);
        in->special_failed = in->special_fatal = false;
        if (OPT(in, POSIX) && c->flags & COMMAND_SPECIAL && matters)
            lang_fatal(in, status);
    }
    return status;
}

/* An assignment in front of a special builtin stays in POSIX mode. */
static bool keeps_assignments(Interp *in, const Function *f, const Command *c)
{
    return !f && c && c->flags & COMMAND_SPECIAL && OPT(in, POSIX);
}

static int exec_command(Interp *in, const Node *n, Fields *f)
{
    char *name = f->items[0];
    uint64_t hash = hash_bytes(slice_str(name));
    const Function *function =
        in->st.functions.count ? (const Function *)pmap_get(&in->st.functions, slice_str(name), hash) : NULL;
    const Command *c = function && !OPT(in, POSIX) ? NULL : builtin_by_hash(in, name, hash);
    if (function && c && c->flags & COMMAND_SPECIAL)
        function = NULL;
    else if (function)
        c = NULL;
    Local *before = in->locals;
    if (n->simple.nassigns) {
        if (keeps_assignments(in, function, c)) {
            for (uint32_t i = 0; i < n->simple.nassigns; i++)
                if (!assign_plain(in, &n->simple.assigns[i]))
                    lang_assign_failed(in);
        } else if (!prefix_assignments(in, n)) {
            return 1;
        }
    }
    in->exit_trap_holds = false;
    if (unlikely(OPT(in, XTRACE)))
        trace_command(in, (const char *const *)f->items, f->count, NULL);
    return run_found(in, n, function, c, before, (int)f->count, f->items);
}

/* Then bash opens the files of an empty command in a child, where an unbound variable ends only that. */
static bool reads_input(const Redir *r)
{
    for (; r; r = r->next)
        if (r->var || (r->fd == 0 && r->kind != REDIR_HEREDOC && r->kind != REDIR_HERESTRING))
            return true;
    return false;
}

static int exec_null(Interp *in, const Node *n)
{
    if (n->simple.nassigns || !n->redirs) {
        int status = exec_assignments(in, n);
        buf_clear(&in->last_arg);
        return status;
    }
    buf_clear(&in->last_arg);
    Unwind *mark = in->unwind;
    bool failed = reads_input(n->redirs) ? redirect_program(in, n->redirs) != 0 : !redirs_apply(in, n->redirs);
    unwind_to(in, mark);
    return failed ? 1 : in->subst_status >= 0 ? in->subst_status : 0;
}

/* set -k: words that read as assignments are ones wherever they stand. */
static const Node *with_keywords(Interp *in, const Node *n)
{
    Node *made = mem_new(mem_of(in), Node);
    *made = *n;
    made->simple.words = mem_array(mem_of(in), n->simple.nwords + 1, Word *);
    made->simple.assigns = mem_array(mem_of(in), n->simple.nassigns + n->simple.nwords + 1, Assign);
    if (n->simple.nassigns)
        memcpy(made->simple.assigns, n->simple.assigns, n->simple.nassigns * sizeof(Assign));
    made->simple.nwords = 0;
    for (uint32_t i = 0; i < n->simple.nwords; i++) {
        Word *w = n->simple.words[i];
        ParseOptions options = {.extglob = true};
        ParseError error;
        size_t equals = slice_find(w->source, '=');
        Assign *a = i && equals && equals < w->source.len && name_valid(slice(w->source.data, equals))
                        ? parse_assignment(mem_of(in), w->source, &options, &error) : NULL;
        if (a)
            made->simple.assigns[made->simple.nassigns++] = *a;
        else
            made->simple.words[made->simple.nwords++] = w;
    }
    return made;
}

int exec_simple(Interp *in, const Node *n)
{
    Mem *mem = mem_of(in);
    MemMark mark = mem_mark(mem);
    Unwind *unwind = in->unwind, *outer_mark = in->command_mark;
    const Assign *const *assigns = in->assigns;
    int nassigns = in->nassigns;
    in->command_mark = unwind;
    in->arith_who = NULL;
    uint32_t line = in->dyn.line;
    in->dyn.line = n->line;
    if (likely(!in->trap_depth))
        in->command = n;
    bool skipped = unlikely(in->st.traps != NULL) && trap_has(in, TRAP_DEBUG) && !in->debug_done && trap_debug(in);
    if (unlikely(in->flow == FLOW_EXIT)) /* errexit, in the trap */
        return in->status;
    in->debug_done = false;
    if (unlikely(skipped))
        return 0;
    if (unlikely(OPT(in, NOEXEC)))
        return in->status;
    if (unlikely(OPT(in, KEYWORD)))
        n = with_keywords(in, n);
    bool had_trap = unlikely(in->st.traps != NULL) && trap_has(in, TRAP_ERR);
    in->subst_status = -1;
    proc_tick(in->p, 1);
    Fields f;
    fields_init(&f, mem);
    const Word *first = n->simple.nwords ? n->simple.words[0] : NULL;
    if (first && first->flags & WORD_LITERAL && first->count && is_declaration(first->parts[0].text))
        expand_declaration(in, n, &f);
    else
        expand_words(in, n->simple.words, n->simple.nwords, &f);
    int status;
    if (f.count == 0) {
        status = exec_null(in, n);
    } else {
        Slice last = slice_str(f.items[f.count - 1]); /* commands put their arguments in another order, and words of their own among them */
        status = exec_command(in, n, &f);
        remember_last(in, last);
        if (n->simple.nassigns) {
            Kept *kept = kept_assignments(in, n);
            unwind_to(in, unwind);
            keep_assignments(in, kept);
        }
    }
    in->assigns = assigns;
    in->nassigns = nassigns;
    if (in->unwind != unwind)
        unwind_to(in, unwind);
    in->command_mark = outer_mark;
    mem_reset(mem, mark);
    in->status = status;
    in->one_status = status;
    in->pipestatus = &in->one_status;
    in->npipestatus = 1;
    if (unlikely(status)) {
        if (had_trap || !in->st.traps)
            check_errexit(in, status);
        else
            check_errexit_only(in, status); /* a trap on ERR that the command itself has set is not for it */
    }
    in->dyn.line = line;
    return status;
}
