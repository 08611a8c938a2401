/* state: what a shell process inherits, as one set of counted objects, and the Lang that keeps it from run to run. */
#include "interp.h"

#include "parsecache.h"

/* ---------- entries of the maps ---------- */

static void entry_drop(Gen *g, Var *v);

static PEntry *var_copy(Gen *g, const PEntry *e)
{
    const Var *v = (const Var *)e;
    Var *copy = obj_alloc(g, sizeof *copy);
    if (!copy)
        return NULL;
    Obj obj = copy->entry.obj;
    *copy = *v;
    copy->entry.obj = obj;
    value_ref(g, copy->value);
    if (copy->shadowed)
        obj_ref(g, copy->shadowed);
    return &copy->entry;
}

static void var_release(Gen *g, PEntry *e)
{
    Var *v = (Var *)e;
    value_unref(g, v->value);
    if (v->shadowed)
        entry_drop(g, v->shadowed);
}

/* Shadowed bindings hang on their shadower, not in the map. */
static void entry_drop(Gen *g, Var *v)
{
    while (v && obj_unref(g, v)) {
        Var *next = v->shadowed;
        Str *key = v->entry.key;
        value_unref(g, v->value);
        obj_free(g, v);
        str_unref(g, key);
        v = next;
    }
}

static PEntry *function_copy(Gen *g, const PEntry *e)
{
    const Function *f = (const Function *)e;
    Function *copy = obj_alloc(g, sizeof *copy);
    if (!copy)
        return NULL;
    Obj obj = copy->entry.obj;
    *copy = *f;
    copy->entry.obj = obj;
    obj_ref(g, f->hold);
    if (f->source)
        obj_ref(g, f->source);
    return &copy->entry;
}

static void function_release(Gen *g, PEntry *e)
{
    Function *f = (Function *)e;
    hold_unref(g, f->hold);
    str_unref(g, f->source);
}

static PEntry *text_copy(Gen *g, const PEntry *e)
{
    TextEntry *copy = obj_alloc(g, sizeof *copy);
    if (copy && (copy->text = ((const TextEntry *)e)->text))
        obj_ref(g, copy->text);
    return copy ? &copy->entry : NULL;
}

static void text_release(Gen *g, PEntry *e) { str_unref(g, ((TextEntry *)e)->text); }

static PEntry *command_copy(Gen *g, const PEntry *e)
{
    const CommandEntry *c = (const CommandEntry *)e;
    CommandEntry *copy = obj_alloc(g, sizeof *copy);
    if (!copy)
        return NULL;
    copy->hits = c->hits;
    copy->path = obj_ref(g, c->path);
    return &copy->entry;
}

static void command_release(Gen *g, PEntry *e) { str_unref(g, ((CommandEntry *)e)->path); }

const PMapOps var_ops = {var_copy, var_release};
const PMapOps function_ops = {function_copy, function_release};
const PMapOps text_ops = {text_copy, text_release};
const PMapOps command_ops = {command_copy, command_release};

/* ---------- lists and traps ---------- */

void strlist_unref(Gen *g, StrList *l)
{
    if (!l || !obj_unref(g, l))
        return;
    for (uint32_t i = 0; i < l->count; i++)
        str_unref(g, l->items[i]);
    obj_free(g, l);
}

StrList *strlist_new(Gen *g, char *const *strings, uint32_t count)
{
    StrList *l = obj_alloc(g, sizeof(StrList) + count * sizeof(Str *));
    if (!l)
        return NULL;
    for (l->count = 0; l->count < count; l->count++)
        if (!(l->items[l->count] = str_new(g, slice_str(strings[l->count])))) {
            strlist_unref(g, l);
            return NULL;
        }
    return l;
}

void traps_unref(Gen *g, Traps *t)
{
    if (!t || !obj_unref(g, t))
        return;
    for (int i = 0; i <= TRAP_MAX; i++)
        str_unref(g, t->action[i]);
    obj_free(g, t);
}

Traps *traps_own(Gen *g, Traps **traps)
{
    Traps *old = *traps;
    if (old && obj_mine(g, old))
        return old;
    Traps *t = obj_alloc(g, sizeof *t);
    if (!t)
        return NULL;
    for (int i = 0; i <= TRAP_MAX; i++)
        if ((t->action[i] = old ? old->action[i] : NULL))
            obj_ref(g, t->action[i]);
    traps_unref(g, old);
    return *traps = t;
}

/* ---------- the whole ---------- */

State state_clone(Gen *g, const State *st)
{
    State c = *st;
    c.vars = pmap_clone(g, st->vars);
    c.functions = pmap_clone(g, st->functions);
    c.aliases = pmap_clone(g, st->aliases);
    c.commands = pmap_clone(g, st->commands);
    c.disabled = pmap_clone(g, st->disabled);
    void *parts[] = {c.args, c.zero, c.dirs, c.cwd, c.script, c.traps};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (parts[i])
            obj_ref(g, parts[i]);
    return c;
}

void state_drop(Gen *g, State *st)
{
    pmap_drop(g, &st->vars, &var_ops);
    pmap_drop(g, &st->functions, &function_ops);
    pmap_drop(g, &st->aliases, &text_ops);
    pmap_drop(g, &st->commands, &command_ops);
    pmap_drop(g, &st->disabled, &text_ops);
    strlist_unref(g, st->args);
    str_unref(g, st->zero);
    strlist_unref(g, st->dirs);
    str_unref(g, st->cwd);
    str_unref(g, st->script);
    traps_unref(g, st->traps);
    memset(st, 0, sizeof *st);
}

static bool define(State *st, Gen *g, Slice name, Slice text, uint32_t attrs)
{
    Var *v = obj_alloc(g, sizeof *v);
    if (!v)
        return false;
    Obj obj = v->entry.obj;
    memset(v, 0, sizeof *v);
    v->entry.obj = obj;
    v->attrs = attrs;
    v->entry.hash = hash_bytes(name);
    v->entry.key = str_new(g, name);
    v->value = (Value){.kind = VALUE_STR, .s = v->entry.key ? str_new(g, text) : NULL};
    if (!v->entry.key || !v->value.s) {
        str_unref(g, v->entry.key);
        obj_free(g, v);
        return false;
    }
    return pmap_put(g, &st->vars, &var_ops, &v->entry) == 0;
}

static bool define_environment(State *st, Gen *g, const char *const *env)
{
    for (; env && *env; env++) {
        Slice s = slice_str(*env);
        size_t eq = slice_find(s, '=');
        Slice name = slice(s.data, eq);
        if (eq == s.len || !name_valid(name))
            continue;
        if (!define(st, g, name, slice_from(s, eq + 1), ATTR_EXPORT))
            return false;
    }
    return true;
}

static bool define_array(State *st, Gen *g, const char *name, const char *const *items, size_t n, uint32_t attrs)
{
    if (!define(st, g, slice_str(name), SLICE(""), attrs | ATTR_ARRAY))
        return false;
    int err;
    Var *v = (Var *)pmap_own(g, &st->vars, &var_ops, slice_str(name), hash_bytes(slice_str(name)), &err);
    Array *a = v ? array_new(g) : NULL;
    if (!a)
        return false;
    value_unref(g, v->value);
    v->value = (Value){.kind = VALUE_ARRAY, .a = a};
    for (size_t i = 0; i < n; i++)
        if (array_set(g, &v->value.a, (int64_t)i, cell_str(g, slice_str(items[i]))))
            return false;
    return true;
}

#if defined(__aarch64__)
#define HOST_TYPE "aarch64"
#else
#define HOST_TYPE "x86_64"
#endif
#define MACHINE_TYPE HOST_TYPE "-pc-linux-gnu"

#define DEFAULT_PATH "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin:."

static const struct { const char *name, *text; uint32_t attrs; } first_variables[] = {
    {"BASH", "/usr/bin/bash", 0},
    {"BASH_VERSION", "5.2.15(1)-release", 0},
    {"HOSTNAME", "libshell", 0},
    {"HOSTTYPE", HOST_TYPE, 0},
    {"IFS", " \t\n", 0},
    {"MACHTYPE", MACHINE_TYPE, 0},
    {"OPTERR", "1", 0},
    {"OPTIND", "1", ATTR_INTEGER},
    {"OSTYPE", "linux-gnu", 0},
    {"PATH", DEFAULT_PATH, 0},
    {"PS4", "+ ", 0},
    {"SHELL", "/bin/bash", 0},
    {"TERM", "dumb", 0},
    {"UID", "1000", ATTR_INTEGER | ATTR_READONLY},
    {"EUID", "1000", ATTR_INTEGER | ATTR_READONLY},
};

/* SHLVL is one more than the environment's; anything that is no number counts as none. */
static bool define_level(State *st, Gen *g)
{
    const Var *v = (const Var *)pmap_get(&st->vars, SLICE("SHLVL"), hash_bytes(SLICE("SHLVL")));
    int64_t level = 0;
    if (v && v->value.kind == VALUE_STR)
        parse_int(v->value.s->data, &level);
    if (level < 0 || level >= 1000)
        level = 0;
    char buf[24];
    size_t len;
    char *text = format_int(level + 1, buf, &len);
    return define(st, g, SLICE("SHLVL"), slice(text, len), ATTR_EXPORT);
}

/* A shell started as a program: the first state with nothing exported but what its environment says. */
static int add_exported(void *user, PEntry *e)
{
    Slice **at = user;
    if (((const Var *)e)->attrs & ATTR_EXPORT)
        *(*at)++ = str_slice(e->key);
    return 0;
}

bool state_fresh(State *st, Gen *g, Mem *mem, const LangState *base, const char *const *env)
{
    *st = state_clone(g, &base->st);
    Slice *names = mem_array(mem, st->vars.count + 1, Slice), *end = names;
    pmap_each(&st->vars, add_exported, &end);
    for (Slice *n = names; n < end; n++)
        if (pmap_remove(g, &st->vars, &var_ops, *n, hash_bytes(*n)))
            return false;
    return define(st, g, SLICE("PATH"), SLICE(DEFAULT_PATH), 0) && define_environment(st, g, env) && define_level(st, g);
}

bool state_init(State *st, Gen *g, const char *const *env)
{
    memset(st, 0, sizeof *st);
    st->options = options_default;
    st->shopts = shopts_default;
    st->zero = str_new(g, SLICE("bash"));
    if (!st->zero)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(first_variables); i++)
        if (!define(st, g, slice_str(first_variables[i].name), slice_str(first_variables[i].text), first_variables[i].attrs))
            return false;
    static const char *const version[] = {"5", "2", "15", "1", "release", MACHINE_TYPE};
    return define_array(st, g, "BASH_VERSINFO", version, ARRAY_LEN(version), ATTR_READONLY) && specials_define(st, g) &&
           define_environment(st, g, env) && define_level(st, g);
}

LangState *lang_base(Gen *g, const char *const *env)
{
    LangState *base = obj_alloc(g, sizeof *base);
    return base && state_init(&base->st, g, env) ? base : NULL;
}

Lang *lang_new(Kernel *k, LangState *base, const char *const *env)
{
    Lang *l = mem_new(kern_mem(k), Lang);
    if (!l)
        return NULL;
    Gen *g = kern_gen(k);
    l->base = base;
    l->st = state_clone(g, &base->st);
    if ((env && *env && !define_environment(&l->st, g, env)) || kern_component_set(k, "lang", l, sizeof *l)) {
        state_drop(g, &l->st);
        return NULL;
    }
    l->first = state_clone(g, &l->st);
    return l;
}

void lang_free(Lang *l, Kernel *k)
{
    (void)k; /* the counted objects go with their generation */
    parse_cache_free(l->cache);
    l->cache = NULL;
}

Lang *lang_fork(Lang *l, Kernel *to)
{
    Lang *copy = mem_new(kern_mem(to), Lang);
    if (!copy || kern_component_set(to, "lang", copy, sizeof *copy))
        return NULL;
    Gen *g = kern_gen(to);
    copy->base = l->base;
    copy->st = state_clone(g, &l->st);
    copy->first = state_clone(g, &l->first);
    memcpy(copy->commands, l->commands, sizeof copy->commands);
    return copy;
}

int lang_reset(Lang *l, Kernel *k)
{
    Gen *g = kern_gen(k);
    State old = l->st;
    l->st = state_clone(g, &l->first);
    state_drop(g, &old);
    return 0;
}

int lang_setenv(Lang *l, Kernel *k, const char *name, const char *value)
{
    if (!name_valid(slice_str(name)))
        return -EINVAL;
    Slice n = slice_str(name);
    const Var *v = (const Var *)pmap_get(&l->st.vars, n, hash_bytes(n));
    if (v && v->attrs & ATTR_READONLY)
        return -EPERM;
    return define(&l->st, kern_gen(k), n, slice_str(value), ATTR_EXPORT) ? 0 : -ENOMEM;
}

int lang_unsetenv(Lang *l, Kernel *k, const char *name)
{
    Slice n = slice_str(name);
    int err = pmap_remove(kern_gen(k), &l->st.vars, &var_ops, n, hash_bytes(n));
    return err == -ENOENT ? 0 : err;
}

int lang_getenv(Lang *l, Kernel *k, const char *name, Slice *out)
{
    Slice n = slice_str(name);
    const Var *v = (const Var *)pmap_get(&l->st.vars, n, hash_bytes(n));
    bool set = false;
    Mem *m = kern_mem(k);
    Slice text = v ? value_text(m, &v->value, &set) : SLICE("");
    if (!set)
        return -ENOENT;
    *out = text;
    return 0;
}
