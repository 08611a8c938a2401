/* save: what a shell keeps from run to run, as bytes and back.
 *
 * Functions travel as their text, as `declare -f` prints it, and are parsed again; computed variables (RANDOM, LINENO) as no more than their name and
 * attributes. A loaded state is built beside the one there is. What it may hold is what the language could have made: names are
 * names, values hold no NUL, attributes fit their value.
 */
#include <stdlib.h>

#include "interp.h"
#include "lib/base/pack.h"

enum {
    KEPT_ATTRS = ATTR_EXPORT | ATTR_READONLY | ATTR_INTEGER | ATTR_LOWER | ATTR_UPPER | ATTR_NAMEREF | ATTR_ARRAY | ATTR_ASSOC | ATTR_TRACE | ATTR_CAPITAL | ATTR_INVISIBLE,
    FUNCTION_ATTRS = ATTR_EXPORT | ATTR_READONLY | ATTR_TRACE,
};

struct LangLoaded {
    State st;
};

/* ---------- saving ---------- */

typedef struct {
    Buf *out;
    Mem mem;
} Save;

static void save_cell(Save *s, Cell c) { pack_bytes(s->out, cell_text(&s->mem, c)); }

static void save_array(Save *s, const Array *a)
{
    size_t at = 0;
    int64_t index;
    Cell c;
    pack_u64(s->out, array_count(a));
    while (array_next(a, &at, &index, &c)) {
        MemMark mark = mem_mark(&s->mem);
        pack_u64(s->out, (uint64_t)index);
        save_cell(s, c);
        mem_reset(&s->mem, mark);
    }
}

static void save_assoc(Save *s, const Assoc *m)
{
    size_t at = 0;
    AssocItem item;
    int64_t rank;
    pack_u64(s->out, assoc_count(m));
    pack_u32(s->out, assoc_buckets(m));
    while (assoc_next(m, &at, &item, &rank)) {
        MemMark mark = mem_mark(&s->mem);
        pack_u64(s->out, (uint64_t)rank);
        pack_bytes(s->out, str_slice(item.key));
        save_cell(s, item.cell);
        mem_reset(&s->mem, mark);
    }
}

static int save_var(void *user, PEntry *e)
{
    Save *s = user;
    const Var *v = (const Var *)e;
    const Value *value = &v->value;
    unsigned kind = v->special ? VALUE_UNSET : value->kind;
    pack_u8(s->out, 1);
    pack_bytes(s->out, str_slice(e->key));
    pack_u32(s->out, v->attrs & KEPT_ATTRS);
    pack_u8(s->out, v->special != 0);
    pack_u8(s->out, kind);
    switch (kind) {
    case VALUE_INT: pack_u64(s->out, (uint64_t)value->i); break;
    case VALUE_STR: pack_bytes(s->out, str_slice(value->s)); break;
    case VALUE_ARRAY: save_array(s, value->a); break;
    case VALUE_ASSOC: save_assoc(s, value->m); break;
    default: break;
    }
    return 0;
}

static int save_function(void *user, PEntry *e)
{
    Save *s = user;
    const Function *f = (const Function *)e;
    MemMark mark = mem_mark(&s->mem);
    Buf text;
    buf_init(&text, &s->mem, BUF_MAX);
    buf_append(&text, SLICE("function "));
    print_function(&text, str_slice(e->key), f->node->function.body);
    pack_u8(s->out, 1);
    pack_bytes(s->out, str_slice(e->key));
    pack_u32(s->out, f->attrs & FUNCTION_ATTRS);
    pack_u32(s->out, f->line);
    pack_bytes(s->out, f->source ? str_slice(f->source) : SLICE("environment"));
    pack_bytes(s->out, buf_slice(&text));
    s->out->failed |= text.failed;
    mem_reset(&s->mem, mark);
    return 0;
}

static int save_text(void *user, PEntry *e)
{
    Save *s = user;
    pack_u8(s->out, 1);
    pack_bytes(s->out, str_slice(e->key));
    pack_bytes(s->out, str_slice(((const TextEntry *)e)->text));
    return 0;
}

static void save_str(Save *s, const Str *str)
{
    pack_u8(s->out, str != NULL);
    if (str)
        pack_bytes(s->out, str_slice(str));
}

/* By name, so that the same state gives the same bytes. */
static int compare_entries(const void *a, const void *b)
{
    const PEntry *const *x = a, *const *y = b;
    return slice_cmp(str_slice((*x)->key), str_slice((*y)->key));
}

static int gather(void *user, PEntry *e)
{
    PEntry ***at = user;
    *(*at)++ = e;
    return 0;
}

static bool save_map(Save *s, const PMap *m, int (*fn)(void *user, PEntry *e))
{
    MemMark mark = mem_mark(&s->mem);
    PEntry **list = mem_array(&s->mem, m->count + 1, PEntry *), **end = list;
    if (!list)
        return false;
    pmap_each(m, gather, &end);
    merge_sort(&s->mem, list, m->count, sizeof *list, compare_entries);
    for (size_t n = 0; n < m->count; n++)
        fn(s, list[n]);
    pack_u8(s->out, 0);
    mem_reset(&s->mem, mark);
    return true;
}

int lang_save(Lang *l, Kernel *k, Buf *out)
{
    Save s = {.out = out};
    const State *st = &l->st;
    (void)k;
    mem_init(&s.mem, NULL, NULL, NULL);
    bool ok = save_map(&s, &st->vars, save_var) && save_map(&s, &st->functions, save_function) && save_map(&s, &st->aliases, save_text) &&
              save_map(&s, &st->disabled, save_text);
    pack_u64(out, st->options);
    pack_u64(out, st->shopts);
    save_str(&s, st->cwd);
    pack_u32(out, st->dirs ? st->dirs->count : 0);
    for (uint32_t n = 0; st->dirs && n < st->dirs->count; n++)
        pack_bytes(out, str_slice(st->dirs->items[n]));
    for (int n = 0; n <= TRAP_MAX; n++)
        save_str(&s, st->traps ? st->traps->action[n] : NULL);
    mem_drop(&s.mem);
    return ok && !out->failed ? 0 : -ENOMEM;
}

/* ---------- loading ---------- */

typedef struct {
    Gen *g;
    Kernel *k;
    Unpack *in;
    State *st;
    const State *base;
} Load;

static bool plain(Slice s) { return !memchr(s.data, 0, s.len); }

static Slice load_text(Load *l)
{
    Slice s = unpack_bytes(l->in);
    if (!plain(s))
        l->in->bad = true;
    return s;
}

static int load_array(Load *l, Value *out)
{
    uint64_t count = unpack_u64(l->in);
    int64_t last = -1;
    *out = (Value){.kind = VALUE_ARRAY, .a = array_new(l->g)};
    if (!out->a)
        return -ENOMEM;
    for (uint64_t n = 0; n < count; n++) {
        int64_t index = (int64_t)unpack_u64(l->in);
        Slice text = load_text(l);
        if (l->in->bad || index <= last || index == INT64_MAX)
            return -EINVAL;
        last = index;
        int r = array_set(l->g, &out->a, index, cell_str(l->g, text));
        if (r)
            return r;
    }
    return 0;
}

static int load_pairs(Load *l, Assoc **m, int64_t *ranks, uint64_t count)
{
    for (uint64_t n = 0; n < count; n++) {
        ranks[n] = (int64_t)unpack_u64(l->in);
        Slice key = load_text(l), text = load_text(l);
        if (l->in->bad || assoc_get(*m, key))
            return -EINVAL;
        int r = assoc_set(l->g, m, key, cell_str(l->g, text));
        if (r)
            return r;
    }
    return 0;
}

static int load_assoc(Load *l, Value *out)
{
    uint64_t count = unpack_u64(l->in);
    uint32_t buckets = unpack_u32(l->in);
    *out = (Value){.kind = VALUE_ASSOC, .m = assoc_new(l->g)};
    if (!out->m)
        return -ENOMEM;
    if (l->in->bad || count > l->in->left.len / 24) /* what an entry takes at least */
        return -EINVAL;
    int64_t *ranks = malloc((size_t)count * sizeof *ranks + 1);
    if (!ranks)
        return -ENOMEM;
    int r = load_pairs(l, &out->m, ranks, count);
    if (r == 0 && !assoc_order(out->m, buckets, ranks, (size_t)count))
        r = -EINVAL;
    free(ranks);
    return r;
}

static int load_value(Load *l, unsigned kind, Value *out)
{
    *out = (Value){.kind = VALUE_UNSET};
    switch (kind) {
    case VALUE_UNSET: return 0;
    case VALUE_INT: *out = (Value){.kind = VALUE_INT, .i = (int64_t)unpack_u64(l->in)}; return 0;
    case VALUE_STR:
        *out = (Value){.kind = VALUE_STR, .s = str_new(l->g, load_text(l))};
        return out->s ? 0 : -ENOMEM;
    case VALUE_ARRAY: return load_array(l, out);
    case VALUE_ASSOC: return load_assoc(l, out);
    default: return -EINVAL;
    }
}

/* Attributes that fit the value; a nameref names something. */
static bool attrs_fit(uint32_t attrs, const Value *v)
{
    bool array = attrs & ATTR_ARRAY, assoc = attrs & ATTR_ASSOC;
    Slice name, subscript;
    if ((array && assoc) || (v->kind == VALUE_ARRAY && !array) || (v->kind == VALUE_ASSOC && !assoc) ||
        ((array || assoc) && (v->kind == VALUE_INT || v->kind == VALUE_STR)) || (attrs & ~(uint32_t)KEPT_ATTRS))
        return false;
    if (!(attrs & ATTR_NAMEREF))
        return true;
    return !array && !assoc && (v->kind == VALUE_UNSET || (v->kind == VALUE_STR && parse_reference(str_slice(v->s), &name, &subscript)));
}

static int put_var(Load *l, Slice name, uint32_t attrs, Value value)
{
    Gen *g = l->g;
    Var *v = obj_alloc(g, sizeof *v);
    if (!v)
        return -ENOMEM;
    Obj obj = v->entry.obj;
    *v = (Var){.entry = {.obj = obj, .hash = hash_bytes(name), .key = str_new(g, name)}, .attrs = attrs, .value = value_ref(g, value)};
    if (v->entry.key)
        return pmap_put(g, &l->st->vars, &var_ops, &v->entry);
    value_unref(g, v->value);
    obj_free(g, v);
    return -ENOMEM;
}

/* A computed one is what the base has under that name. */
static int put_special(Load *l, Slice name, uint32_t attrs)
{
    const Var *first = (const Var *)pmap_get(&l->base->vars, name, hash_bytes(name));
    int err;
    if (!first || !first->special)
        return -EINVAL;
    Var *copy = (Var *)var_ops.copy(l->g, &first->entry);
    if (!copy)
        return -ENOMEM;
    copy->entry.hash = first->entry.hash;
    copy->entry.key = obj_ref(l->g, first->entry.key);
    copy->attrs = (first->attrs & ~(uint32_t)(ATTR_EXPORT | ATTR_READONLY)) | (attrs & (ATTR_EXPORT | ATTR_READONLY)) | (first->attrs & ATTR_READONLY);
    err = pmap_put(l->g, &l->st->vars, &var_ops, &copy->entry);
    return err;
}

static int load_var(Load *l)
{
    Slice name = load_text(l);
    uint32_t attrs = unpack_u32(l->in);
    bool special = unpack_u8(l->in);
    unsigned kind = unpack_u8(l->in);
    if (l->in->bad || (!name_valid(name) && !slice_is(name, "_")))
        return -EINVAL;
    if (special)
        return kind == VALUE_UNSET ? put_special(l, name, attrs) : -EINVAL;
    Value value;
    int r = load_value(l, kind, &value);
    if (r == 0 && !attrs_fit(attrs, &value))
        r = -EINVAL;
    if (r == 0)
        r = put_var(l, name, attrs, value);
    value_unref(l->g, value);
    return r;
}

static void release_ast(void *thing) { ast_unref(thing); }

static int put_function(Load *l, Slice name, uint32_t attrs, Slice source, Ast *ast, const Node *node)
{
    Gen *g = l->g;
    Function *f = obj_alloc(g, sizeof *f);
    if (!f)
        return -ENOMEM;
    Obj obj = f->entry.obj;
    *f = (Function){.entry = {.obj = obj, .hash = hash_bytes(name), .key = str_new(g, name)}, .ast = ast, .node = node, .attrs = attrs, .line = node->line};
    f->source = str_new(g, source);
    f->hold = hold_new(g, release_ast, ast_ref(ast));
    if (!f->hold)
        ast_unref(ast);
    if (f->entry.key && f->source && f->hold)
        return pmap_put(g, &l->st->functions, &function_ops, &f->entry);
    str_unref(g, f->entry.key);
    str_unref(g, f->source);
    hold_unref(g, f->hold);
    obj_free(g, f);
    return -ENOMEM;
}

/* Text that is one definition of that name, and no more. */
static int parse_function(Load *l, Slice name, uint32_t attrs, uint32_t line, Slice source, Slice text)
{
    const ParseOptions options = {.extglob = true, .brace_expand = true};
    Parser *p = parser_new(kern_budget(l->k), text, line, &options);
    Unit unit = {0}, more;
    ParseError error = {0};
    if (!p)
        return -ENOMEM;
    ParseState state = parser_next(p, &unit, &error);
    const Node *n = state == PARSE_UNIT ? unit.node : NULL;
    int r = error.no_memory ? -ENOMEM : -EINVAL;
    if (n && n->kind == NODE_LIST && n->list.count == 1 && !n->list.items[0].background)
        n = n->list.items[0].node;
    if (n && n->kind == NODE_FUNCTION && slice_eq(n->function.name.text, name) && parser_next(p, &more, &error) == PARSE_END)
        r = put_function(l, name, attrs, source, parser_ast(p), n);
    parser_free(p);
    return r;
}

static int load_function(Load *l)
{
    Slice name = load_text(l);
    uint32_t attrs = unpack_u32(l->in), line = unpack_u32(l->in);
    Slice source = load_text(l), text = load_text(l);
    if (l->in->bad || !name.len || attrs & ~(uint32_t)FUNCTION_ATTRS || text.len > kern_limit(l->k, LIMIT_SCRIPT))
        return -EINVAL;
    return parse_function(l, name, attrs, line, source, text);
}

static int load_entry(Load *l, PMap *m)
{
    Gen *g = l->g;
    Slice name = load_text(l), text = load_text(l);
    if (l->in->bad || !name.len)
        return -EINVAL;
    TextEntry *e = obj_alloc(g, sizeof *e);
    if (!e)
        return -ENOMEM;
    Obj obj = e->entry.obj;
    *e = (TextEntry){.entry = {.obj = obj, .hash = hash_bytes(name), .key = str_new(g, name)}, .text = str_new(g, text)};
    if (e->entry.key && e->text)
        return pmap_put(g, m, &text_ops, &e->entry);
    str_unref(g, e->entry.key);
    str_unref(g, e->text);
    obj_free(g, e);
    return -ENOMEM;
}

static int load_alias(Load *l) { return load_entry(l, &l->st->aliases); }
static int load_disabled(Load *l) { return load_entry(l, &l->st->disabled); }

static int load_map(Load *l, int (*fn)(Load *l))
{
    for (;;) {
        unsigned more = unpack_u8(l->in);
        if (l->in->bad || more > 1)
            return -EINVAL;
        int r = more ? fn(l) : 0;
        if (r || !more)
            return r;
    }
}

static int load_str(Load *l, Str **out)
{
    unsigned there = unpack_u8(l->in);
    *out = NULL;
    if (l->in->bad || there > 1)
        return -EINVAL;
    if (!there)
        return 0;
    Slice s = load_text(l);
    if (l->in->bad)
        return -EINVAL;
    *out = str_new(l->g, s);
    return *out ? 0 : -ENOMEM;
}

static int load_dirs(Load *l)
{
    uint32_t count = unpack_u32(l->in);
    if (l->in->bad || count > l->in->left.len / 8)
        return -EINVAL;
    StrList *list = count ? obj_alloc(l->g, sizeof(StrList) + count * sizeof(Str *)) : NULL;
    if (count && !list)
        return -ENOMEM;
    l->st->dirs = list;
    for (uint32_t n = 0; n < count; n++) {
        Slice s = load_text(l);
        list->count = n;
        if (l->in->bad)
            return -EINVAL;
        if (!(list->items[n] = str_new(l->g, s)))
            return -ENOMEM;
        list->count = n + 1;
    }
    return 0;
}

static int load_traps(Load *l)
{
    int r = 0;
    for (int n = 0; r == 0 && n <= TRAP_MAX; n++) {
        Str *action;
        r = load_str(l, &action);
        Traps *t = r == 0 && action ? traps_own(l->g, &l->st->traps) : NULL;
        if (t)
            t->action[n] = action;
        else if (action) {
            str_unref(l->g, action);
            r = -ENOMEM;
        }
    }
    return r;
}

static int load_state(Load *l)
{
    State *st = l->st;
    int r;
    if ((r = load_map(l, load_var)) || (r = load_map(l, load_function)) || (r = load_map(l, load_alias)) || (r = load_map(l, load_disabled)))
        return r;
    st->options = unpack_u64(l->in);
    st->shopts = unpack_u64(l->in);
    if (l->in->bad || st->options >> OPT_COUNT || st->shopts >> SHOPT_COUNT)
        return -EINVAL;
    if ((r = load_str(l, &st->cwd)) || (r = load_dirs(l)))
        return r;
    return load_traps(l);
}

int lang_load(Lang *lang, Kernel *k, Unpack *in, LangLoaded **out)
{
    LangLoaded *made = calloc(1, sizeof *made);
    if (!made)
        return -ENOMEM;
    Load l = {kern_gen(k), k, in, &made->st, &lang->base->st};
    int r = load_state(&l);
    if (r == 0 && !(made->st.zero = str_new(l.g, SLICE("bash"))))
        r = -ENOMEM;
    if (r)
        lang_load_drop(k, made);
    else
        *out = made;
    return r;
}

void lang_load_drop(Kernel *k, LangLoaded *made)
{
    state_drop(kern_gen(k), &made->st);
    free(made);
}

void lang_load_commit(Lang *l, Kernel *k, LangLoaded *made)
{
    State old = l->st;
    l->st = made->st;
    state_drop(kern_gen(k), &old);
    free(made);
}
