/* runscope: what holds for one run only: its environment and its working directory.
 *
 * The bindings that the run's own ones hide, and the directory that its cwd replaces, are kept aside and come back when the run is over,
 * whatever the script did to them meanwhile.
 */
#include "interp.h"
#include "runscope.h"

typedef struct Hidden {
    struct Hidden *next;
    Name name;
    Var *before; /* one reference; NULL: there was none */
} Hidden;

struct RunScope {
    Hidden *hidden;
    VDir *directory; /* NULL: the run has no directory of its own */
    Str *logical;
};

static void hide(Interp *in, RunScope *s, Name name)
{
    Hidden *h = mem_new(&in->p->keep, Hidden);
    Var *v = (Var *)pmap_get(&in->st.vars, name.text, name.hash);
    h->name = name;
    h->before = v ? obj_ref(gen_of(in), v) : NULL;
    var_forget(in, name.hash);
    h->next = s->hidden;
    s->hidden = h;
}

static void take_variable(Interp *in, RunScope *s, const char *entry)
{
    Slice text = slice_str(entry);
    size_t eq = slice_find(text, '=');
    if (eq == text.len || !name_valid(slice(text.data, eq)))
        return;
    Name name = name_of(slice(text.data, eq));
    hide(in, s, name);
    if (lang_set(in, &name, slice_from(text, eq + 1), false))
        var_declare(in, name.text, ATTR_EXPORT, 0, 0);
}

static bool take_directory(Interp *in, RunScope *s, const char *path)
{
    Proc *p = in->p;
    VDir *before = vfs_dir_ref(p->cwd);
    int err = proc_chdir(p, path);
    if (err) {
        vfs_dir_unref(kern_vfs(p->kernel), before);
        lang_error(in, "%s: %s", path, error_text(err));
        return false;
    }
    s->directory = before;
    s->logical = in->st.cwd;
    in->st.cwd = NULL;
    hide(in, s, name_of(SLICE("PWD")));
    hide(in, s, name_of(SLICE("OLDPWD")));
    return true;
}

bool runscope_enter(Interp *in, RunScope **scope, const char *const *env, const char *cwd)
{
    RunScope *s = *scope = mem_new(&in->p->keep, RunScope);
    for (; env && *env; env++)
        take_variable(in, s, *env);
    return !cwd || take_directory(in, s, cwd);
}

/* Raises nothing: what memory is too short to bring back is left as the script had it. */
void runscope_leave(Interp *in, RunScope *s)
{
    if (!s)
        return;
    Gen *g = gen_of(in);
    for (Hidden *h = s->hidden; h; h = h->next) {
        var_forget(in, h->name.hash);
        if (h->before)
            pmap_put(g, &in->st.vars, &var_ops, &h->before->entry);
        else
            pmap_remove(g, &in->st.vars, &var_ops, h->name.text, h->name.hash);
    }
    if (!s->directory)
        return;
    vfs_dir_unref(kern_vfs(in->p->kernel), in->p->cwd);
    in->p->cwd = s->directory;
    str_unref(g, in->st.cwd);
    in->st.cwd = s->logical;
}
