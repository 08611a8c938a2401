/* environ: the environment that programs get: exported variables and functions. */
#include "interp.h"

static Interp *interp_of_env(const ProcEnv *env) { return (Interp *)(void *)((char *)env - offsetof(Interp, env)); }

static const char *env_get(const ProcEnv *env, Proc *p, const char *name)
{
    Interp *in = interp_of_env(env);
    if (strcmp(name, "_") == 0)
        return in->program_path;
    Name n = name_of(slice_str(name));
    const Var *v = var_lookup(in, &n);
    if (!v || !(v->attrs & ATTR_EXPORT) || v->attrs & ATTR_INVISIBLE || v->value.kind > VALUE_STR)
        return NULL;
    bool set;
    Slice text = value_text(&p->keep, &v->value, &set);
    return set ? text.data : NULL;
}

typedef struct Exports {
    Mem *mem;
    Slice *lines;
    size_t count;
} Exports;

static int add_export(void *user, PEntry *e)
{
    Exports *x = user;
    const Var *v = (const Var *)e;
    if (!(v->attrs & ATTR_EXPORT) || v->attrs & ATTR_INVISIBLE || v->value.kind > VALUE_STR)
        return 0;
    bool set;
    Slice text = value_text(x->mem, &v->value, &set), key = str_slice(e->key);
    if (!set)
        return 0;
    size_t n = key.len + 1 + text.len;
    char *line = mem_alloc(x->mem, n + 1);
    memcpy(line, key.data, key.len);
    line[key.len] = '=';
    memcpy(line + key.len + 1, text.data, text.len);
    line[n] = 0;
    x->lines[x->count++] = slice(line, n);
    return 0;
}

static int add_function(void *user, PEntry *e)
{
    Exports *x = user;
    const Function *f = (const Function *)e;
    if (!(f->attrs & ATTR_EXPORT))
        return 0;
    Buf b;
    buf_init(&b, x->mem, BUF_MAX);
    buf_printf(&b, "BASH_FUNC_%s%%%%=", e->key->data);
    print_exported(&b, f->node->function.body);
    buf_char(&b, 0);
    x->lines[x->count++] = slice(b.data, b.len - 1);
    return 0;
}

static char **env_list(const ProcEnv *env, Proc *p)
{
    Interp *in = interp_of_env(env);
    Exports x = {&p->mem, mem_array(&p->mem, in->st.vars.count + in->st.functions.count + 1, Slice), 0};
    pmap_each(&in->st.vars, add_export, &x);
    pmap_each(&in->st.functions, add_function, &x);
    merge_sort(&p->mem, x.lines, x.count, sizeof(Slice), compare_slices);
    char **list = mem_array(&p->mem, x.count + 2, char *);
    if (in->program_path)
        list[x.count] = mem_printf(&p->mem, "_=%s", in->program_path);
    for (size_t i = 0; i < x.count; i++)
        list[i] = (char *)(uintptr_t)x.lines[i].data;
    return list;
}

const ProcEnv interp_env = {env_get, env_list};
