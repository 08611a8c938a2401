/* varattr: attributes, listings and compound assignment: what declare, local, export, readonly and set -- need. */
#include "interp.h"

enum { ATTR_CASE = ATTR_LOWER | ATTR_UPPER | ATTR_CAPITAL };

static Var *own_named(Interp *in, const Name *name)
{
    return var_own(in, name);
}

/* The global binding, private: the last of the chain of hidden ones, made there when all are local. */
static Var *own_global(Interp *in, const Name *name)
{
    Gen *g = gen_of(in);
    Var *v = own_named(in, name);
    while (v && v->scope) {
        if (!v->shadowed) {
            Var *made = obj_alloc(g, sizeof *made);
            if (!made)
                lang_nomem(in);
            Obj obj = made->entry.obj;
            *made = (Var){.entry = {.obj = obj, .hash = name->hash, .key = obj_ref(g, v->entry.key)}};
            made->attrs = ATTR_INVISIBLE;
            v->shadowed = made;
        } else if (!obj_mine(g, v->shadowed)) {
            PEntry *copy = var_ops.copy(g, &v->shadowed->entry);
            if (!copy)
                lang_nomem(in);
            copy->hash = name->hash;
            copy->key = obj_ref(g, v->entry.key);
            if (obj_unref(g, v->shadowed))
                obj_free(g, v->shadowed);
            v->shadowed = (Var *)copy;
        }
        v = v->shadowed;
    }
    return v;
}

static bool make_compound(Interp *in, Var *v, uint32_t kind, Slice name, const char *who)
{
    Gen *g = gen_of(in);
    if (kind & ATTR_ASSOC && v->value.kind == VALUE_ARRAY) {
        shell_error(in, who, "%.*s: cannot convert indexed to associative array", (int)name.len, name.data);
        return false;
    }
    if (kind & ATTR_ARRAY && v->value.kind == VALUE_ASSOC) {
        shell_error(in, who, "%.*s: cannot convert associative to indexed array", (int)name.len, name.data);
        return false;
    }
    if (v->value.kind >= VALUE_ARRAY)
        return true;
    bool set;
    Slice text = value_text(mem_of(in), &v->value, &set);
    if (!set) { /* declared, without elements or value */
        v->attrs |= ATTR_INVISIBLE;
    }
    Value made = {.kind = kind & ATTR_ASSOC ? VALUE_ASSOC : VALUE_ARRAY};
    if (kind & ATTR_ASSOC)
        made.m = assoc_new(g);
    else
        made.a = array_new(g);
    if (!made.a)
        lang_nomem(in);
    int err = 0;
    if (set)
        err = kind & ATTR_ASSOC ? assoc_set(g, &made.m, SLICE("0"), cell_str(g, text)) : array_set(g, &made.a, 0, cell_str(g, text));
    if (err)
        lang_nomem(in);
    value_unref(g, v->value);
    v->value = made;
    return true;
}

/* The binding that a declaration speaks of, made when absent. */
static Var *declared(Interp *in, const Name *name, int flags)
{
    if (flags & DECLARE_LOCAL && in->dyn.function_depth) {
        const Var *old = var_lookup(in, name);
        bool inherit = flags & DECLARE_INHERIT || SHOPT(in, LOCALVAR_INHERIT);
        bool fresh = !old || old->scope != in->dyn.function_depth;
        if (fresh && old && old->attrs & ATTR_READONLY && old->scope == 0) {
            shell_error(in, in->p->name, "%.*s: readonly variable", (int)name->text.len, name->text.data);
            return NULL;
        }
        var_put_local(in, name, in->dyn.function_depth, ATTR_LOCAL | ATTR_INVISIBLE);
        Var *v = own_named(in, name);
        /* A prefix assignment of the same name gives its value. */
        if (fresh && inherit && v->shadowed) {
            v->value = value_ref(gen_of(in), v->shadowed->value);
            v->attrs = (v->shadowed->attrs & ~(uint32_t)ATTR_NAMEREF) | ATTR_LOCAL;
        }
        v->attrs |= ATTR_LOCAL;
        return v;
    }
    Var *v = flags & DECLARE_GLOBAL ? own_global(in, name) : own_named(in, name);
    if (v)
        return v;
    Gen *g = gen_of(in);
    v = obj_alloc(g, sizeof *v);
    if (!v)
        lang_nomem(in);
    Obj obj = v->entry.obj;
    *v = (Var){.entry = {.obj = obj, .hash = name->hash, .key = str_new(g, name->text)}, .attrs = ATTR_INVISIBLE};
    var_forget(in, name->hash);
    if (!v->entry.key || pmap_put(g, &in->st.vars, &var_ops, &v->entry))
        lang_nomem(in);
    return v;
}

bool var_declare(Interp *in, Slice name, uint32_t set, uint32_t clear, int flags)
{
    Name n = name_of(name), final;
    Slice sub;
    final = n;
    /* Attributes go to a nameref's target, except those about being a nameref. */
    if (!((set | clear) & ATTR_NAMEREF) && !(flags & DECLARE_LOCAL && in->dyn.function_depth)) {
        const Var *old = var_resolve(in, &n, &final, &sub);
        if (!old && sub.data == NULL && slice_eq(final.text, name))
            final = n;
    }
    Var *v = declared(in, &final, flags);
    if (!v)
        return false;
    if (set & (ATTR_EXPORT | ATTR_READONLY) && v->scope > in->dyn.function_depth)
        v->attrs |= ATTR_KEEP;
    if (v->attrs & ATTR_READONLY && (clear & ATTR_READONLY || set & ATTR_NAMEREF)) {
        shell_error(in, in->p->name, "%.*s: readonly variable", (int)name.len, name.data);
        return false;
    }
    if (set & (ATTR_ARRAY | ATTR_ASSOC) && !make_compound(in, v, set, name, flags & DECLARE_VALUE ? NULL : in->p->name))
        return false;
    if ((clear & ATTR_ARRAY && v->value.kind == VALUE_ARRAY) || (clear & ATTR_ASSOC && v->value.kind == VALUE_ASSOC)) {
        shell_error(in, in->p->name, "%.*s: cannot destroy array variables in this way", (int)name.len, name.data);
        return false;
    }
    if (set & ATTR_CASE)
        v->attrs &= ~(uint32_t)ATTR_CASE;
    v->attrs = (v->attrs & ~clear) | set;
    var_touched(in, final.text);
    return true;
}

/* ---------- listings ---------- */

typedef struct {
    Slice *names;
    size_t count;
    uint32_t attrs;
} NameList;

static int add_name(void *user, PEntry *e)
{
    NameList *l = user;
    const Var *v = (const Var *)e;
    if (!l->attrs || v->attrs & l->attrs)
        l->names[l->count++] = str_slice(e->key);
    return 0;
}

Slice *var_names(Interp *in, uint32_t attrs, size_t *count)
{
    NameList l = {mem_array(mem_of(in), in->st.vars.count + 1, Slice), 0, attrs};
    pmap_each(&in->st.vars, add_name, &l);
    merge_sort(mem_of(in), l.names, l.count, sizeof(Slice), compare_slices);
    *count = l.count;
    return l.names;
}

Element *var_elements(Interp *in, const Var *v, size_t *count)
{
    Mem *m = mem_of(in);
    *count = 0;
    if (!v)
        return NULL;
    if (v->value.kind == VALUE_ASSOC) {
        size_t n = assoc_count(v->value.m);
        AssocItem *items = assoc_items(m, v->value.m);
        Element *list = mem_array(m, n + 1, Element);
        for (size_t i = 0; i < n; i++)
            list[i] = (Element){str_slice(items[i].key), cell_text(m, items[i].cell), 0};
        *count = n;
        return list;
    }
    if (v->value.kind == VALUE_ARRAY) {
        Element *list = mem_array(m, array_count(v->value.a) + 1, Element);
        size_t at = 0, n = 0;
        int64_t index;
        for (Cell c; array_next(v->value.a, &at, &index, &c); n++) {
            char *buf = mem_alloc(m, 24);
            size_t len;
            char *key = format_int(index, buf, &len);
            list[n] = (Element){slice(key, len), cell_text(m, c), index};
        }
        *count = n;
        return list;
    }
    Element *one = mem_new(m, Element);
    bool set;
    one->text = value_text(m, &v->value, &set);
    one->key = SLICE("0");
    *count = set;
    return one;
}

/* The letters of declare's options, "--" when there are none. */
Slice attr_letters(Mem *m, uint32_t attrs)
{
    static const struct { uint32_t attr; char letter; } letters[] = {
        {ATTR_ARRAY, 'a'}, {ATTR_ASSOC, 'A'}, {ATTR_INTEGER, 'i'}, {ATTR_NAMEREF, 'n'}, {ATTR_READONLY, 'r'}, {ATTR_TRACE, 't'},
        {ATTR_EXPORT, 'x'}, {ATTR_CAPITAL, 'c'}, {ATTR_LOWER, 'l'}, {ATTR_UPPER, 'u'},
    };
    char *out = mem_alloc(m, ARRAY_LEN(letters) + 1);
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(letters); i++)
        if (attrs & letters[i].attr)
            out[n++] = letters[i].letter;
    out[n] = 0;
    return slice(out, n);
}

/* ([0]="a" [1]="b"), and ([k]="v" ) for an associative array. */
void print_compound(Interp *in, const Var *v, Buf *out)
{
    size_t n;
    Element *list = var_elements(in, v, &n);
    bool assoc = v->value.kind == VALUE_ASSOC;
    buf_char(out, '(');
    for (size_t i = 0; i < n; i++) {
        buf_char(out, '[');
        if (assoc)
            quote_in(in, out, list[i].key, quote_key);
        else
            buf_append(out, list[i].key);
        buf_append(out, SLICE("]="));
        quote_in(in, out, list[i].text, quote_double);
        if (assoc || i + 1 < n)
            buf_char(out, ' ');
    }
    buf_char(out, ')');
}

void var_print_declare(Interp *in, const Var *v, const char *verb, Output *out)
{
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    Slice letters = attr_letters(mem_of(in), v->attrs), name = str_slice(v->entry.key);
    if (verb) {
        uint32_t kind = v->attrs & (ATTR_ARRAY | ATTR_ASSOC);
        buf_printf(&b, "%s%s", verb, kind & ATTR_ASSOC ? " -A" : kind ? " -a" : "");
    } else {
        buf_append(&b, SLICE("declare -"));
        buf_append(&b, letters.len ? letters : SLICE("-"));
    }
    buf_char(&b, ' ');
    buf_append(&b, name);
    if (!(v->attrs & ATTR_INVISIBLE)) {
        if (v->value.kind >= VALUE_ARRAY) {
            buf_char(&b, '=');
            print_compound(in, v, &b);
        } else if (v->value.kind != VALUE_UNSET) {
            bool set;
            buf_char(&b, '=');
            quote_in(in, &b, value_text(mem_of(in), &v->value, &set), quote_double);
        }
    }
    buf_char(&b, '\n');
    out_write(out, buf_slice(&b));
}

/* ---------- assignments ---------- */

/* One element of (...), its words expanded. */
typedef struct Item {
    const ArrayItem *item; /* with a subscript; NULL: the next place */
    const Word *word;      /* without one: as it was written */
    Slice key, text;
} Item;

typedef struct ItemList {
    Item *items;
    size_t count, cap;
} ItemList;

static void pending_add(Interp *in, ItemList *l, Item p)
{
    if (l->count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 16;
        l->items = mem_grow(mem_of(in), l->items, l->cap * sizeof(Item), cap * sizeof(Item));
        l->cap = cap;
    }
    l->items[l->count++] = p;
}


/* An item of an associative array as messages show it: as written, or what declare makes of it. */
static void bad_assoc_item(Interp *in, const Item *p, const char *before, const char *what)
{
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    buf_reserve(&b, 1);
    bool declared = in->nassigns > 0;
    if (p->item) {
        buf_char(&b, '[');
        if (declared)
            quote_single(&b, p->key);
        else
            buf_append(&b, word_shown(in, p->item->index));
        buf_append(&b, p->item->append ? SLICE("]+=") : SLICE("]="));
    }
    if (declared)
        quote_single(&b, p->item ? p->text : p->key.len || !p->text.len ? p->text : p->word->source);
    else if (!p->item || p->item->value)
        buf_append(&b, word_shown(in, p->item ? p->item->value : p->word));
    lang_report(in, "%s%.*s: %s", before, (int)b.len, b.data, what);
}

static Item with_index(Interp *in, const ArrayItem *item, Slice key)
{
    return (Item){item, NULL, key, item->value ? expand_value(in, item->value) : SLICE("")};
}

static void expand_indexed(Interp *in, const Assign *a, ItemList *l)
{
    for (uint32_t i = 0; i < a->nitems; i++) {
        const ArrayItem *item = &a->items[i];
        if (item->index && !item->braced) {
            pending_add(in, l, with_index(in, item, expand_string(in, item->index)));
            continue;
        }
        Fields f;
        fields_init(&f, mem_of(in));
        expand_word(in, item->braced ? item->braced : item->value, &f);
        for (uint32_t k = 0; k < f.count; k++)
            pending_add(in, l, (Item){NULL, item->value, SLICE(""), slice_str(f.items[k])});
    }
}

/* In turn: the value of an item with a bad key is not expanded. A declaration has expanded all before. */
static void expand_assoc(Interp *in, const Assign *a, ItemList *l)
{
    bool pairs = a->nitems && !a->items[0].index && !slice_starts(a->items[0].value->source, SLICE("[")), early = in->nassigns == 0;
    for (uint32_t i = 0; i < a->nitems; i++) {
        const ArrayItem *item = &a->items[i];
        if (item->index) {
            Slice key = expand_string(in, item->index);
            if (early && !pairs && !key.len)
                bad_assoc_item(in, &(Item){item, NULL, key, SLICE("")}, "", "bad array subscript");
            else
                pending_add(in, l, with_index(in, item, key));
        } else if (early && !pairs) {
            bad_assoc_item(in, &(Item){NULL, item->value, SLICE(""), SLICE("")}, mem_printf(mem_of(in), "%s: ", a->name.text.data),
                           "must use subscript when assigning associative array");
        } else {
            Slice text = expand_value(in, item->value);
            if (early && l->count % 2 == 0 && !text.len) {
                bad_assoc_item(in, &(Item){NULL, item->value, SLICE(""), text}, "", "bad array subscript");
                i++;
            } else {
                pending_add(in, l, (Item){NULL, item->value, SLICE(""), text});
            }
        }
    }
}

static ItemList expand_items(Interp *in, const Assign *a, bool assoc)
{
    ItemList l = {NULL, 0, 0};
    in->no_tilde = assoc;
    if (assoc)
        expand_assoc(in, a, &l);
    else
        expand_indexed(in, a, &l);
    in->no_tilde = false;
    return l;
}

static void bad_item(Interp *in, const Item *p, Slice key, const char *what)
{
    const char *op = p->item->append ? "+=" : "=";
    lang_report(in, "[%.*s]%s%.*s: %s", (int)key.len, key.data, op, (int)p->text.len, p->text.data, what);
}

/* ([k]=v ...): every item has a subscript. */
static bool store_subscripted(Interp *in, Slice name, const ItemList *l)
{
    for (size_t i = 0; i < l->count; i++) {
        const Item *p = &l->items[i];
        if (!p->item) {
            bad_assoc_item(in, p, mem_printf(mem_of(in), "%.*s: ", (int)name.len, name.data), "must use subscript when assigning associative array");
        } else if (!p->key.len) {
            bad_assoc_item(in, p, "", "bad array subscript");
        } else if (!var_set_element(in, name, p->key, p->text, p->item->append)) {
            return false;
        }
    }
    return true;
}

/* (k v k v): key and value in turn, when the first item has no subscript. */
static bool store_pairs(Interp *in, Slice name, const ItemList *l)
{
    for (size_t i = 0; i < l->count; i += 2) {
        const Item *p = &l->items[i], *q = i + 1 < l->count ? p + 1 : NULL;
        Slice value = q ? q->text : SLICE("");
        if (q && q->item)
            value = slice_str(mem_printf(mem_of(in), "[%.*s]%s%.*s", (int)q->key.len, q->key.data, q->item->append ? "+=" : "=", (int)q->text.len, q->text.data));
        Slice key = p->text;
        if (p->item)
            key = slice_str(mem_printf(mem_of(in), "[%.*s]%s%.*s", (int)p->key.len, p->key.data, p->item->append ? "+=" : "=", (int)p->text.len, p->text.data));
        if (!key.len)
            bad_assoc_item(in, p, "", "bad array subscript");
        else if (!var_set_element(in, name, key, value, false))
            return false;
    }
    return true;
}

static bool store_assoc_items(Interp *in, Slice name, const ItemList *l)
{
    bool pairs = l->count && !l->items[0].item && !slice_starts(l->items[0].word->source, SLICE("["));
    return pairs ? store_pairs(in, name, l) : store_subscripted(in, name, l);
}

/* Errors in it are nobody's: no "declare:" before them. */
static bool item_index(Interp *in, Slice key, int64_t *index)
{
    const char *who = in->arith_who;
    in->arith_who = NULL;
    bool ok = arith_eval_text(in, key, index);
    in->arith_who = who;
    return ok;
}

static bool store_items(Interp *in, const Name *name, const ItemList *l, int64_t next)
{
    for (size_t i = 0; i < l->count; i++) {
        const Item *p = &l->items[i];
        if (p->item) {
            const Var *v = var_find_name(in, name);
            int64_t index = -1, end = v && v->value.kind == VALUE_ARRAY ? array_end(v->value.a) : 0;
            bool all = slice_is(p->key, "@") || slice_is(p->key, "*");
            if (!p->key.len || all)
                end = 0; /* no subscript at all is a bad one */
            else if (!item_index(in, p->key, &index))
                lang_arith_failed(in);
            index += index < 0 ? end : 0;
            if (index < 0) {
                bad_item(in, p, p->key, all ? "cannot assign to non-numeric index" : "bad array subscript");
                if (all && in->subst_status >= 0) /* a failure, but only behind a $( ) */
                    in->subst_status = 1;
                continue;
            }
            next = index;
        }
        if (!var_set_index(in, name, next, p->text, p->item && p->item->append))
            return false;
        next++;
    }
    return true;
}

static bool store_compound(Interp *in, const Name *n, const ItemList *l, bool append)
{
    Slice name = n->text;
    const Var *v = var_find_name(in, n);
    if (v && v->attrs & ATTR_NO_ASSIGN)
        return false;
    if (append && v && v->value.kind < VALUE_ARRAY && !(v->attrs & ATTR_READONLY) &&
        !var_declare(in, name, ATTR_ARRAY, 0, 0))
        return false;
    if (!append || !v) {
        if (!var_make_array(in, name))
            return false;
    } else if (v->attrs & ATTR_READONLY) {
        return var_set(in, name, SLICE(""), false);
    }
    v = var_find_name(in, n);
    if (v && v->value.kind == VALUE_ASSOC)
        return store_assoc_items(in, name, l);
    return store_items(in, n, l, append && v ? array_end(v->value.a) : 0);
}

/* What a nameref is declared to refer to. */
static bool nameref_allowed(Interp *in, const Assign *a, Slice target, int flags)
{
    Slice base, sub, name = a->name.text;
    if (a->index) {
        shell_error(in, in->p->name, "%s[%.*s]: reference variable cannot be an array", name.data, (int)a->index->source.len, a->index->source.data);
        return false;
    }
    if (a->is_array) {
        if (!(flags & DECLARE_LOCAL) && var_lookup(in, &a->name) && var_lookup(in, &a->name)->attrs & ATTR_NAMEREF)
            lang_error(in, "warning: %.*s: removing nameref attribute", (int)name.len, name.data);
        shell_error(in, in->p->name, "%.*s: reference variable cannot be an array", (int)name.len, name.data);
        return false;
    }
    if (!target.len) {
        shell_error(in, in->p->name, "`': not a valid identifier");
        return false;
    }
    if (!parse_reference(target, &base, &sub)) {
        shell_error(in, in->p->name, a->append ? "`%.*s': not a valid identifier" : "`%.*s': invalid variable name for name reference", (int)target.len, target.data);
        return false;
    }
    if (!slice_eq(base, name))
        return true;
    if (flags & DECLARE_LOCAL && in->dyn.function_depth) {
        shell_error(in, in->p->name, "warning: %.*s: circular name reference", (int)name.len, name.data);
        lang_error(in, "warning: %.*s: circular name reference", (int)name.len, name.data);
        return true;
    }
    shell_error(in, in->p->name, "%.*s: nameref variable self references not allowed", (int)name.len, name.data);
    return false;
}

/* export and readonly trace what they assign; declare does not. */
static bool is_attribute_command(Interp *in)
{
    return in->p->name && (strcmp(in->p->name, "export") == 0 || strcmp(in->p->name, "readonly") == 0);
}

static void trace_value(Interp *in, const Assign *a, Slice text)
{
    Buf b;
    trace_begin(in, &b);
    buf_append(&b, a->name.text);
    buf_append(&b, a->append ? SLICE("+=") : SLICE("="));
    quote_value(&b, text);
    trace_end(in, &b);
}

static Word *literal_word(Interp *in, Slice text)
{
    Word *w = mem_new(mem_of(in), Word);
    w->parts = mem_new(mem_of(in), WordPart);
    w->parts[0] = (WordPart){.kind = PART_LITERAL, .quoted = true, .text = text};
    w->count = 1;
    w->flags = WORD_LITERAL | WORD_SIMPLE | WORD_QUOTED;
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    quote_single(&b, text);
    w->source = buf_slice(&b);
    return w;
}

Assign *assign_expanded(Interp *in, const Assign *a, bool assoc)
{
    const Var *v = var_find_name(in, &a->name);
    ItemList l = expand_items(in, a, assoc || (v && v->value.kind == VALUE_ASSOC));
    Assign *made = mem_new(mem_of(in), Assign);
    *made = *a;
    made->items = mem_array(mem_of(in), l.count + 1, ArrayItem);
    made->nitems = (uint32_t)l.count;
    for (size_t i = 0; i < l.count; i++)
        made->items[i] = (ArrayItem){.index = l.items[i].item ? literal_word(in, l.items[i].key) : NULL,
                                     .value = literal_word(in, l.items[i].text), .append = l.items[i].item && l.items[i].item->append};
    return made;
}

static bool is_assoc(Interp *in, const Assign *a, uint32_t attrs, int flags)
{
    const Var *v = attrs & ATTR_ASSOC || flags & DECLARE_LOCAL ? NULL : var_find_name(in, &a->name);
    return attrs & ATTR_ASSOC || (v && v->value.kind == VALUE_ASSOC);
}

/* declare -n: what it referred to before does not matter. */
static bool set_target(Interp *in, const Name *name, Slice text, bool append, int flags)
{
    const Var *v = var_lookup(in, name);
    bool again = v && v->attrs & ATTR_NAMEREF && v->value.kind != VALUE_UNSET && !append && !(v->attrs & ATTR_READONLY);
    if (!var_declare(in, name->text, ATTR_NAMEREF, 0, flags))
        return false;
    return again && var_lookup(in, name) == v ? set_nameref(in, name, text) : var_set(in, name->text, text, append);
}

/* a[i]= with a subscript that was compiled. */
static bool assign_index(Interp *in, const Assign *a, Slice text)
{
    int64_t index;
    if (!arith_eval_index(in, a->index_code, a->index, &index))
        lang_arith_failed(in);
    if (index < 0)
        return var_set_element(in, a->name.text, expand_string(in, a->index), text, a->append);
    return var_set_index(in, &a->name, index, text, a->append);
}

/* A nameref to an element has no elements of its own. */
static bool refers_to_element(Interp *in, const Assign *a)
{
    bool set;
    const Var *v = var_lookup(in, &a->name);
    if (likely(!v || !(v->attrs & ATTR_NAMEREF)))
        return false;
    Slice target = value_text(mem_of(in), &v->value, &set);
    bool element = slice_find(target, '[') < target.len;
    if (element)
        lang_error(in, "`%.*s': not a valid identifier", (int)target.len, target.data);
    return element;
}

/* ' and \ in the subscript of an indexed array are no quotes, but an error of its arithmetic. */
static bool has_quotes(Slice s) { return !memchr(s.data, '"', s.len) && (memchr(s.data, '\'', s.len) || memchr(s.data, '\\', s.len)); }

static bool item_may_fail(const ArrayItem *item)
{
    const Slice index = item->index ? item->index->source : SLICE("");
    return (item->value && !(item->value->flags & WORD_LITERAL)) || (index.len && !(index.data[0] >= '0' && index.data[0] <= '9'));
}

/* a=(...) makes the array before it looks at the items: it is there when one of them fails. */
static void array_before_items(Interp *in, const Assign *a)
{
    const Var *v = var_lookup(in, &a->name);
    uint32_t i = 0;
    while (i < a->nitems && !item_may_fail(&a->items[i]))
        i++;
    if (i == a->nitems || (v && (v->attrs & (ATTR_READONLY | ATTR_NAMEREF | ATTR_NO_ASSIGN) || v->special || v->value.kind >= VALUE_ARRAY)))
        return;
    if (v && v->value.kind != VALUE_UNSET)
        var_declare(in, a->name.text, ATTR_ARRAY, 0, 0);
    else if (!v)
        var_make_array(in, a->name.text);
}

/* Everything is expanded before the binding is made: `local a=$a` reads the outer one. */
bool var_assign(Interp *in, const Assign *a, uint32_t attrs, int declare_flags)
{
    ItemList items = {NULL, 0, 0};
    Slice text = SLICE(""), key = SLICE("");
    if (a->index && a->is_array) {
        lang_report(in, "%s[%.*s]: cannot assign list to array member", a->name.text.data, (int)a->index->source.len, a->index->source.data);
        return false;
    }
    if (a->index && refers_to_element(in, a))
        return false;
    if (a->index && !a->index->source.len) {
        if (a->value)
            expand_string(in, a->value);
        lang_report(in, "%s[]: bad array subscript", a->name.text.data);
        return false;
    }
    if (a->is_array && !attrs && !declare_flags)
        array_before_items(in, a);
    if (a->is_array)
        items = expand_items(in, a, is_assoc(in, a, attrs, declare_flags));
    else if (a->value)
        text = expand_value(in, a->value);
    Slice name = a->name.text;
    if (a->is_array && !(attrs & ATTR_ASSOC))
        attrs |= declare_flags || attrs ? ATTR_ARRAY : 0;
    const Var *old = declare_flags & DECLARE_LOCAL && in->dyn.function_depth ? NULL : var_find_name(in, &a->name);
    if (a->index && !(old && old->value.kind == VALUE_ARRAY && a->index_code))
        key = !(old && old->value.kind == VALUE_ASSOC) && has_quotes(a->index->source) ? a->index->source
                                                                                                                     : expand_string(in, a->index);
    if (a->index && !key.len && old && old->value.kind == VALUE_ASSOC) {
        lang_report(in, "%s[%.*s]: bad array subscript", a->name.text.data, (int)a->index->source.len, a->index->source.data);
        return false;
    }
    if (old && old->value.kind == VALUE_ASSOC)
        attrs &= ~(uint32_t)ATTR_ARRAY;
    if (attrs & ATTR_NAMEREF && !nameref_allowed(in, a, text, declare_flags))
        return false;
    /* readonly must not stand in the way of its own value. */
    if ((attrs || declare_flags) && !var_declare(in, name, attrs & ~(uint32_t)(ATTR_READONLY | ATTR_NAMEREF), 0, declare_flags | (a->is_array ? DECLARE_VALUE : 0)))
        return false;
    bool ok;
    if (attrs & ATTR_NAMEREF)
        ok = set_target(in, &a->name, text, a->append, declare_flags);
    else if (a->is_array)
        ok = store_compound(in, &a->name, &items, a->append);
    else if (a->index && old && old->value.kind == VALUE_ARRAY && a->index_code)
        ok = assign_index(in, a, text);
    else if (a->index)
        ok = var_set_element(in, name, key, text, a->append);
    else if (declare_flags & DECLARE_GLOBAL && in->dyn.function_depth)
        ok = var_set_global(in, name, text, a->append);
    else
        ok = lang_set(in, &a->name, text, a->append);
    if (unlikely(OPT(in, XTRACE)) && in->nassigns && !a->is_array && is_attribute_command(in))
        trace_value(in, a, text);
    if (ok && attrs & ATTR_READONLY)
        ok = var_declare(in, name, ATTR_READONLY, 0, declare_flags);
    return ok;
}

/* declare -g: through the locals that hide the global, which are put back afterwards. */
bool var_set_global(Interp *in, Slice name, Slice text, bool append)
{
    Name n = name_of(name);
    Gen *g = gen_of(in);
    Var *v = own_named(in, &n);
    if (!v || !v->scope)
        return lang_set(in, &n, text, append);
    Var *global = own_global(in, &n);
    Str *s = str_new(g, text);
    if (!s)
        lang_nomem(in);
    if (append && global->value.kind == VALUE_STR) {
        int err = str_append(g, &global->value.s, text);
        str_unref(g, s);
        if (err)
            lang_nomem(in);
    } else {
        value_unref(g, global->value);
        global->value = (Value){.kind = VALUE_STR, .s = s};
    }
    global->attrs &= ~(uint32_t)ATTR_INVISIBLE;
    return true;
}

const Assign *builtin_assign(Interp *in, int argv_index)
{
    return in->assigns && argv_index >= 0 && argv_index < in->nassigns ? in->assigns[argv_index] : NULL;
}
