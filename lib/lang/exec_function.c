/* exec_function: functions: their frames and calls, and their definition. */
#include "interp.h"

enum { STACK_NEEDED = 64 * 1024 };

typedef struct CallUnwind {
    Unwind unwind;
    StrList *args;
    uint32_t first;
    Dynamic dyn;
    Local *locals;
    Function *function;
    uint64_t options;
    bool restore_options;
} CallUnwind;

void frame_unref(Gen *g, Frame *f)
{
    while (f && obj_unref(g, f)) {
        Frame *outer = f->outer;
        str_unref(g, f->function);
        str_unref(g, f->source);
        strlist_unref(g, f->args);
        obj_free(g, f);
        f = outer;
    }
}

static void end_call(Interp *in, Unwind *u)
{
    CallUnwind *c = (CallUnwind *)u;
    Gen *g = gen_of(in);
    locals_pop(in, c->locals);
    strlist_unref(g, in->st.args);
    in->st.args = c->args;
    in->st.first = c->first;
    Frame *frame = in->dyn.frame;
    in->dyn = c->dyn;
    frame_unref(g, frame);
    if (c->restore_options)
        in->st.options = c->options;
    if (obj_unref(g, c->function)) {
        command_hold(in, c->function->ast);
        function_ops.release(g, &c->function->entry);
        Str *key = c->function->entry.key;
        obj_free(g, c->function);
        str_unref(g, key);
    }
}

bool option_make_local(Interp *in)
{
    for (Unwind *u = in->unwind; u; u = u->outer)
        if (u->undo == end_call) {
            CallUnwind *c = (CallUnwind *)u;
            if (!c->restore_options) {
                c->options = in->st.options;
                c->restore_options = true;
            }
            return true;
        }
    return false;
}

/* A frame holds counted references, so that a subshell may keep it; `source` NULL: the -c text. */
Frame *frame_push(Interp *in, bool is_function, Str *function, Str *source)
{
    Gen *g = gen_of(in);
    Frame *f = obj_alloc(g, sizeof *f);
    if (!f)
        lang_nomem(in);
    f->outer = in->dyn.frame;
    f->is_function = is_function;
    f->args = NULL;
    f->subst = NULL;
    f->function = obj_ref(g, function);
    f->source = source ? obj_ref(g, source) : NULL;
    f->call_line = in->dyn.line;
    f->depth = in->dyn.frame ? in->dyn.frame->depth + 1 : 1;
    if (f->outer)
        obj_ref(g, f->outer);
    in->dyn.frame = f;
    return f;
}

static void check_nesting(Interp *in, const Function *f)
{
    Slice text;
    int64_t most;
    Name name = name_of(SLICE("FUNCNEST"));
    if (in->dyn.frame && lang_get(in, &name, &text) && !parse_int(mem_copy(mem_of(in), text), &most) && most > 0 &&
        in->dyn.frame->depth >= most) {
        Slice n = str_slice(f->entry.key);
        lang_error(in, "%.*s: maximum function nesting level exceeded (%lld)", (int)n.len, n.data, (long long)most);
        in->goes_on = true; /* errexit does not look at it */
        lang_discard(in, 1);
    }
    if (!proc_stack_room(in->p, STACK_NEEDED))
        proc_limit(in->p, LIMIT_DEPTH);
}

int exec_function(Interp *in, const Function *f, int argc, char **argv)
{
    Gen *g = gen_of(in);
    check_nesting(in, f);
    StrList *args = strlist_new(g, argv + 1, (uint32_t)(argc - 1));
    CallUnwind *c = mem_new(mem_of(in), CallUnwind);
    if (!args)
        lang_nomem(in);
    c->args = in->st.args;
    c->first = in->st.first;
    c->dyn = in->dyn;
    c->locals = in->locals;
    c->function = obj_ref(g, (Function *)(uintptr_t)f);
    in->st.args = args;
    in->st.first = 0;
    Frame *frame = frame_push(in, true, f->entry.key, f->source);
    frame->subst = f->subst;
    if (unlikely(SHOPT(in, EXTDEBUG)))
        frame->args = obj_ref(g, args);
    in->dyn.function_depth++;
    in->dyn.loop_depth = 0;
    if (in->dyn.negated && in->dyn.no_errexit) {
        in->dyn.no_errexit--;
        in->dyn.no_exit++;
    }
    in->dyn.negated = false;
    in->dyn.ast = f->ast;
    in->dyn.source = f->source;
    in->dyn.line = f->line;
    Unwind *mark = in->unwind;
    unwind_push(in, &c->unwind, end_call);
    if (!(f->attrs & ATTR_TRACE))
        in->dyn.hidden_traps |= (uint8_t)((OPT(in, FUNCTRACE) ? 0 : HIDE_DEBUG | HIDE_RETURN) | (OPT(in, ERRTRACE) ? 0 : HIDE_ERR));
    if (unlikely(trap_has(in, TRAP_DEBUG)) && !(in->dyn.hidden_traps & HIDE_DEBUG)) { /* once more for the call, within */
        in->dyn.line = f->line;
        trap_run(in, TRAP_DEBUG);
    }
    int status = exec_node(in, f->node->function.body);
    if (in->flow == FLOW_RETURN) {
        in->flow = FLOW_NONE;
        status = in->return_status;
        in->status = in->before_return; /* $? of the RETURN trap */
    } else {
        in->status = status;
    }
    if (unlikely(trap_has(in, TRAP_RETURN)) && !in->flow) {
        trap_run(in, TRAP_RETURN);
    }
    unwind_to(in, mark);
    return status;
}

int define_function(Interp *in, const Node *n)
{
    Gen *g = gen_of(in);
    const Name *name = &n->function.name;
    in->dyn.line = n->line;
    if (n->function.bad_name) {
        lang_error(in, "`%.*s': not a valid identifier", (int)name->text.len, name->text.data);
        return in->status = 1;
    }
    const Command *special = OPT(in, POSIX) ? builtin_find(in, name->text) : NULL;
    if (special && special->flags & COMMAND_SPECIAL) {
        lang_error(in, "`%.*s': is a special builtin", (int)name->text.len, name->text.data);
        lang_fatal(in, 2);
    }
    const Function *old = (const Function *)pmap_get(&in->st.functions, name->text, name->hash);
    if (old && old->attrs & ATTR_READONLY) {
        lang_error(in, "%.*s: readonly function", (int)name->text.len, name->text.data);
        return in->status = 1;
    }
    Function *f = obj_alloc(g, sizeof *f);
    if (!f)
        lang_nomem(in);
    Obj obj = f->entry.obj;
    *f = (Function){.entry = {.obj = obj, .hash = name->hash, .key = str_new(g, name->text)}, .ast = in->dyn.ast, .node = n, .line = n->line};
    f->source = in->dyn.source ? obj_ref(g, in->dyn.source) : str_new(g, SLICE("environment"));
    f->subst = in->subst && (in->subst_frame == in->dyn.frame || (in->dyn.frame && in->dyn.frame->subst == in->subst)) ? in->subst : NULL;
    f->hold = hold_new(g, (void (*)(void *))(void (*)(void))ast_unref, ast_ref(in->dyn.ast));
    if (!f->hold)
        ast_unref(in->dyn.ast);
    if (!f->entry.key || !f->source || !f->hold)
        lang_nomem(in);
    if (pmap_put(g, &in->st.functions, &function_ops, &f->entry))
        lang_nomem(in);
    return in->status = 0;
}
