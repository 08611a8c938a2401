/* scope: bindings that hide others, unset, and the positional parameters.
 *
 * A local is a Var of a higher scope that hangs the binding it hides on itself and takes its place in the map; returning
 * puts the hidden one back. A prefix assignment (x=1 cmd) is a local of the command.
 */
#include "interp.h"

/* A fresh binding in `scope` that hides what is there. */
void var_put_local(Interp *in, const Name *name, uint32_t scope, uint32_t attrs)
{
    Gen *g = gen_of(in);
    Var *old = var_lookup(in, name);
    if (old && old->scope == scope)
        return;
    Local *l = obj_alloc(g, sizeof *l);
    if (!l)
        lang_nomem(in);
    Var *v = var_make(in, name, attrs, scope);
    l->next = in->locals;
    l->key = obj_ref(g, v->entry.key);
    l->hash = name->hash;
    l->scope = scope;
    in->locals = l;
    if (old)
        v->shadowed = obj_ref(g, old);
    var_forget(in, name->hash);
    if (pmap_put(g, &in->st.vars, &var_ops, &v->entry))
        lang_nomem(in);
    var_touched(in, name->text);
}

/* Takes away the binding in front; what it hid comes back. */
static int var_pop(Interp *in, Slice key, uint64_t hash, Var *v)
{
    Gen *g = gen_of(in);
    var_forget(in, hash);
    if (!v->shadowed)
        return pmap_remove(g, &in->st.vars, &var_ops, key, hash);
    Var *hidden = obj_ref(g, v->shadowed);
    return pmap_put(g, &in->st.vars, &var_ops, &hidden->entry);
}

/* Returning must not fail: a binding that cannot be put back for lack of memory stays, and memory is short anyhow. */
void locals_pop(Interp *in, Local *until)
{
    Gen *g = gen_of(in);
    while (in->locals != until) {
        Local *l = in->locals;
        in->locals = l->next;
        Slice key = str_slice(l->key);
        Var *v = (Var *)pmap_get(&in->st.vars, key, l->hash);
        if (v && v->scope == l->scope)
            var_pop(in, key, l->hash, v);
        var_touched(in, key);
        Str *name = l->key;
        if (obj_unref(g, l))
            obj_free(g, l);
        str_unref(g, name);
    }
}

static int unset_named(Interp *in, const Name *name)
{
    const Var *v = var_lookup(in, name);
    if (!v)
        return -ENOENT;
    if (v->attrs & ATTR_READONLY)
        return -EPERM;
    Gen *g = gen_of(in);
    if (v->scope && v->scope == in->dyn.function_depth && v->attrs & ATTR_LOCAL) {
        /* A function's own local stays a local without a value. */
        Var *mine = var_own(in, name);
        value_unref(g, mine->value);
        mine->value = (Value){.kind = VALUE_UNSET};
        mine->attrs = ATTR_LOCAL | ATTR_INVISIBLE;
        mine->special = 0;
    } else if (var_pop(in, name->text, name->hash, (Var *)v)) {
        lang_nomem(in);
    }
    var_touched(in, name->text);
    return 0;
}

int var_unset_raw(Interp *in, Slice name)
{
    Name n = name_of(name);
    return unset_named(in, &n);
}

int var_unset(Interp *in, Slice name)
{
    Name n = name_of(name), final;
    Slice sub;
    const Var *v = var_resolve(in, &n, &final, &sub);
    if (v && sub.data)
        return var_unset_element(in, final.text, sub);
    return unset_named(in, &final);
}

int var_unset_element(Interp *in, Slice name, Slice subscript)
{
    Name n = name_of(name), final;
    Slice sub;
    const Var *v = var_resolve(in, &n, &final, &sub);
    if (!v || v->value.kind == VALUE_UNSET)
        return -ENOENT;
    if (v->attrs & ATTR_READONLY)
        return -EPERM;
    Gen *g = gen_of(in);
    bool all = slice_is(subscript, "@") || slice_is(subscript, "*");
    int err = 0;
    if (v->value.kind == VALUE_ASSOC) {
        subscript = expand_subscript(in, subscript);
        Var *mine = var_own(in, &final);
        err = assoc_remove(g, &mine->value.m, subscript);
    } else if (all && v->value.kind == VALUE_ARRAY) {
        Var *mine = var_own(in, &final);
        Array *empty = array_new(g);
        if (!empty)
            lang_nomem(in);
        value_unref(g, mine->value);
        mine->value = (Value){.kind = VALUE_ARRAY, .a = empty};
    } else if (all) {
        return unset_named(in, &final);
    } else {
        int64_t index;
        if (!arith_eval_text(in, expand_index(in, subscript), &index))
            lang_arith_failed(in);
        if (index < 0)
            index += v->value.kind == VALUE_ARRAY ? array_end(v->value.a) : 1;
        if (index < 0) {
            shell_error(in, "unset", "[%.*s]: bad array subscript", (int)subscript.len, subscript.data);
            return -EINVAL;
        }
        if (v->value.kind != VALUE_ARRAY)
            return index == 0 ? unset_named(in, &final) : -ENOTDIR;
        Var *mine = var_own(in, &final);
        err = array_remove(g, &mine->value.a, index);
    }
    if (err == -ENOMEM)
        lang_nomem(in);
    return 0;
}

bool var_export(Interp *in, Slice name)
{
    return var_declare(in, name, ATTR_EXPORT, 0, 0);
}

int positional_count(Interp *in) { return in->st.args ? (int)(in->st.args->count - in->st.first) : 0; }

Str *positional(Interp *in, int n)
{
    if (n == 0)
        return in->st.zero;
    return n > 0 && n <= positional_count(in) ? in->st.args->items[in->st.first + (uint32_t)n - 1] : NULL;
}

bool positional_set(Interp *in, char **argv, int argc)
{
    Gen *g = gen_of(in);
    StrList *l = strlist_new(g, argv, (uint32_t)argc);
    if (!l)
        lang_nomem(in);
    strlist_unref(g, in->st.args);
    in->st.args = l;
    in->st.first = 0;
    return true;
}

bool positional_shift(Interp *in, int n)
{
    if (n < 0 || n > positional_count(in))
        return false;
    in->st.first += (uint32_t)n;
    return true;
}
