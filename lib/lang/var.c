/* var: variables: finding, reading and setting, through namerefs and subscripts. */
#include "interp.h"

enum { NAMEREF_DEPTH = 8 };
/* Attributes that a plain store cannot ignore. */
enum {
    ATTR_SLOW = ATTR_READONLY | ATTR_INTEGER | ATTR_LOWER | ATTR_UPPER | ATTR_CAPITAL | ATTR_NAMEREF | ATTR_ARRAY | ATTR_ASSOC |
                ATTR_NO_ASSIGN
};

Name name_of(Slice text) { return (Name){text, hash_bytes(text)}; }

static VarSlot *slot_of(const Interp *in, uint64_t hash) { return (VarSlot *)(uintptr_t)&in->recent[hash >> 8 & (VAR_SLOTS - 1)]; }

static bool slot_has(const VarSlot *s, const Name *name)
{
    return s->hash == name->hash && s->var && s->var->entry.key->len == name->text.len &&
           memcmp(s->var->entry.key->data, name->text.data, name->text.len) == 0;
}

void var_forget(Interp *in, uint64_t hash)
{
    VarSlot *s = slot_of(in, hash);
    if (s->hash == hash)
        s->var = NULL;
}

Var *var_lookup(const Interp *in, const Name *name)
{
    VarSlot *s = slot_of(in, name->hash);
    if (likely(slot_has(s, name)))
        return s->var;
    Var *v = (Var *)pmap_get(&in->st.vars, name->text, name->hash);
    if (v)
        *s = (VarSlot){name->hash, v, 0};
    return v;
}

/* The entry, private to this process; NULL when absent. */
Var *var_own(Interp *in, const Name *name)
{
    VarSlot *s = slot_of(in, name->hash);
    if (likely(slot_has(s, name) && s->owned == in->own_epoch))
        return s->var;
    int err;
    Var *v = (Var *)pmap_own(gen_of(in), &in->st.vars, &var_ops, name->text, name->hash, &err);
    if (unlikely(err))
        lang_nomem(in);
    *s = (VarSlot){name->hash, v, in->own_epoch};
    return v;
}

Var *var_make(Interp *in, const Name *name, uint32_t attrs, uint32_t scope)
{
    Gen *g = gen_of(in);
    Var *v = obj_alloc(g, sizeof *v);
    if (!v)
        lang_nomem(in);
    Obj obj = v->entry.obj;
    *v = (Var){.entry = {.obj = obj, .hash = name->hash, .key = str_new(g, name->text)}, .attrs = attrs, .scope = scope};
    if (!v->entry.key) {
        obj_free(g, v);
        lang_nomem(in);
    }
    return v;
}

static Var *var_add(Interp *in, const Name *name, uint32_t attrs)
{
    Var *v = var_make(in, name, attrs, 0);
    var_forget(in, name->hash);
    if (pmap_put(gen_of(in), &in->st.vars, &var_ops, &v->entry))
        lang_nomem(in);
    return v;
}

/* ---------- special effects of some names ---------- */

static void var_touched_slow(Interp *in, Slice name)
{
    if (slice_is(name, "IFS"))
        in->ifs.valid = false;
    else if (slice_is(name, "PATH"))
        hash_clear(in);
    else if (slice_is(name, "OPTIND"))
        in->getopts_at = 0;
    else if (slice_is(name, "POSIXLY_CORRECT"))
        option_set_named(in, SLICE("posix"), var_lookup(in, &(Name){name, hash_bytes(name)}) != NULL);
    else if (slice_starts(name, SLICE("LC_")) || slice_is(name, "LANG"))
        in->locale_known = false;
    else if (slice_is(name, "EXECIGNORE") || slice_is(name, "GLOBIGNORE"))
        shopt_set(in, SLICE("dotglob"), name.data[0] == 'G' && var_lookup(in, &(Name){name, hash_bytes(name)}) != NULL);
}

/* The C locale is meant by name; without any name it is C.UTF-8. */
bool lang_bytes(Interp *in)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    if (likely(in->locale_known))
        return in->bytes;
    in->bytes = false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        Slice text;
        Name name = name_of(slice_str(names[i]));
        if (lang_get(in, &name, &text) && text.len) {
            in->bytes = slice_is(text, "C") || slice_is(text, "POSIX");
            break;
        }
    }
    in->locale_known = true;
    return in->bytes;
}

/* To be called when a binding came, went or changed. */
void var_touched(Interp *in, Slice name)
{
    if (name.len >= 3 && name.data[0] >= 'A' && name.data[0] <= 'Z')
        var_touched_slow(in, name);
}

const IfsCache *ifs_of(Interp *in)
{
    IfsCache *ifs = &in->ifs;
    if (likely(ifs->valid))
        return ifs;
    memset(ifs, 0, sizeof *ifs);
    Slice text;
    Name name = name_of(SLICE("IFS"));
    ifs->set = lang_get(in, &name, &text);
    if (!ifs->set)
        text = SLICE(" \t\n");
    ifs->null = text.len == 0;
    ifs->standard = slice_is(text, " \t\n");
    if (text.len <= sizeof ifs->store) {
        memcpy(ifs->store, text.data, text.len);
        ifs->text = slice(ifs->store, text.len);
    } else {
        ifs->text = slice(mem_copy(&in->p->keep, text), text.len);
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        ifs->wide |= c >= 0x80;
        if (c == ' ' || c == '\t' || c == '\n')
            ifs->space[c] = true;
        else
            ifs->other[c] = ifs->marks = true;
    }
    ifs->valid = true;
    return ifs;
}

/* ---------- namerefs ---------- */

/* The variable that `name` stands for. *final is its name; *subscript has data when a nameref names an element. NULL: absent. */
const Var *var_resolve(Interp *in, const Name *name, Name *final, Slice *subscript)
{
    *final = *name;
    *subscript = slice(NULL, 0);
    Var *v = var_lookup(in, name);
    for (int depth = 0; v && unlikely(v->attrs & ATTR_NAMEREF); depth++) {
        bool set;
        Slice text = value_text(mem_of(in), &v->value, &set), base;
        if (!set || !text.len)
            return v;
        if (depth == NAMEREF_DEPTH) {
            lang_error(in, "warning: %.*s: circular name reference", (int)name->text.len, name->text.data);
            *final = name_of(SLICE(""));
            return NULL;
        }
        text = slice(mem_copy(mem_of(in), text), text.len);
        if (!parse_reference(text, &base, subscript))
            return NULL;
        if (slice_eq(base, final->text) && v->scope) {
            /* A local nameref to its own name means the global variable. */
            lang_error(in, "warning: %.*s: circular name reference", (int)name->text.len, name->text.data);
            *final = name_of(base);
            while (v->shadowed)
                v = v->shadowed;
            return v->scope ? NULL : v;
        }
        *final = name_of(base);
        v = var_lookup(in, final);
    }
    return v;
}

/* ---------- reading ---------- */

Slice value_text(Mem *m, const Value *v, bool *set)
{
    *set = true;
    switch (v->kind) {
    case VALUE_INT: {
        char *buf = mem_alloc(m, 24);
        size_t len;
        if (!buf)
            return SLICE("");
        char *text = format_int(v->i, buf, &len);
        return slice(text, len);
    }
    case VALUE_STR:
        return str_slice(v->s);
    case VALUE_ARRAY: {
        Cell c = array_get(v->a, 0);
        *set = c != 0;
        return cell_text(m, c);
    }
    case VALUE_ASSOC: {
        Cell c = assoc_get(v->m, SLICE("0"));
        *set = c != 0;
        return cell_text(m, c);
    }
    case VALUE_UNSET:
        break;
    }
    *set = false;
    return SLICE("");
}

/* As element_index; reading names the array alone in the message. */
static bool read_index(Interp *in, const Var *v, Slice name, Slice subscript, int64_t *index)
{
    const char *who = in->arith_who;
    in->arith_who = NULL;
    if (!arith_eval_text(in, expand_index(in, subscript), index))
        lang_arith_failed(in);
    in->arith_who = who;
    if (*index < 0)
        *index += v->value.kind == VALUE_ARRAY ? array_end(v->value.a) : v->value.kind != VALUE_UNSET ? 1 : 0;
    if (*index < 0)
        lang_report(in, "%.*s: bad array subscript", (int)name.len, name.data);
    return *index >= 0;
}

static bool element_text(Interp *in, const Var *v, Slice name, Slice subscript, Slice *out)
{
    Cell c = 0;
    if (v->value.kind == VALUE_ASSOC) {
        c = assoc_get(v->value.m, subscript);
    } else {
        int64_t index;
        if (!read_index(in, v, name, subscript, &index))
            return false;
        if (v->value.kind != VALUE_ARRAY) {
            bool set = false;
            *out = index == 0 ? value_text(mem_of(in), &v->value, &set) : SLICE("");
            return set;
        }
        c = array_get(v->value.a, index);
    }
    *out = cell_text(mem_of(in), c);
    return c != 0;
}

bool lang_get(Interp *in, const Name *name, Slice *out)
{
    const Var *v = var_lookup(in, name);
    if (!v) {
        *out = SLICE("");
        return false;
    }
    if (unlikely(v->attrs & ATTR_NAMEREF)) {
        Name final;
        Slice sub;
        v = var_resolve(in, name, &final, &sub);
        if (!v || v->attrs & ATTR_NAMEREF) {
            *out = SLICE("");
            return false;
        }
        if (sub.data)
            return element_text(in, v->special ? special_read(in, v) : v, final.text, sub, out);
    }
    if (unlikely(v->special))
        v = special_read(in, v);
    bool set;
    *out = value_text(mem_of(in), &v->value, &set);
    return set;
}

const Var *var_find_name(Interp *in, const Name *name)
{
    Name final;
    Slice sub;
    const Var *v = var_lookup(in, name);
    if (unlikely(v && v->attrs & ATTR_NAMEREF))
        v = var_resolve(in, name, &final, &sub);
    return v && v->special ? special_read(in, v) : v;
}

const Var *var_find(Interp *in, Slice name)
{
    Name n = name_of(name);
    return var_find_name(in, &n);
}

const Var *var_find_raw(Interp *in, Slice name)
{
    Name n = name_of(name);
    const Var *v = var_lookup(in, &n);
    return v && v->special ? special_read(in, v) : v;
}

bool var_text(Interp *in, Slice name, Slice *out)
{
    Name n = name_of(name);
    return lang_get(in, &n, out);
}

bool var_is_set(Interp *in, Slice ref)
{
    Slice name, sub, text;
    if (!parse_reference(ref, &name, &sub)) {
        /* A number is a positional parameter. */
        int64_t n;
        char *copy = mem_copy(mem_of(in), ref);
        return !parse_int(copy, &n) && n >= 0 && n <= INT32_MAX && positional(in, (int)n) != NULL;
    }
    if (!sub.data)
        return var_text(in, name, &text);
    static const Var absent;
    const Var *v = var_find(in, name);
    bool all = slice_is(sub, "@") || slice_is(sub, "*");
    if (!v && !all)
        v = &absent; /* the subscript is looked at all the same */
    if (!v)
        return false;
    if (slice_is(sub, "@") || slice_is(sub, "*")) {
        if (v->value.kind == VALUE_ASSOC)
            return assoc_get(v->value.m, sub) != 0;
        size_t n = 0;
        var_elements(in, v, &n);
        return n > 0;
    }
    return element_text(in, v, name, v->value.kind == VALUE_ASSOC ? expand_subscript(in, sub) : sub, &text);
}

Slice expand_subscript(Interp *in, Slice sub)
{
    size_t i = 0;
    while (i < sub.len && !strchr("$`'\"\\", sub.data[i]))
        i++;
    if (i == sub.len || SHOPT(in, ASSOC_EXPAND_ONCE))
        return sub;
    char quote = sub.data[0];
    if (sub.len > 1 && (quote == '\'' || quote == '"') && sub.data[sub.len - 1] == quote)
        sub = slice(sub.data + 1, sub.len - 2);
    if (quote == '\'')
        return sub;
    return expand_index(in, sub);
}

Slice expand_index(Interp *in, Slice sub)
{
    size_t i = 0;
    while (i < sub.len && sub.data[i] != '$' && sub.data[i] != '`')
        i++;
    if (i == sub.len)
        return sub;
    ParseOptions options = {.extglob = true};
    ParseError error = {0};
    Word *w = parse_dquote_text(mem_of(in), sub, &options, &error);
    return w ? expand_string(in, w) : sub;
}

/* ---------- subscripts ---------- */

/* The index that an arithmetic subscript means; prints and returns false when it is bad. */
bool element_index(Interp *in, const Var *v, Slice name, Slice subscript, int64_t *index)
{
    if (slice_is(subscript, "@") || slice_is(subscript, "*")) {
        lang_report(in, "%.*s[%c]: bad array subscript", (int)name.len, name.data, subscript.data[0]);
        return false;
    }
    const char *who = in->arith_who;
    in->arith_who = NULL;
    if (!arith_eval_text(in, expand_index(in, subscript), index))
        lang_arith_failed(in);
    in->arith_who = who;
    if (*index >= 0)
        return true;
    int64_t end = v && v->value.kind == VALUE_ARRAY ? array_end(v->value.a) : v && v->value.kind != VALUE_UNSET ? 1 : 0;
    if (*index + end >= 0) {
        *index += end;
        return true;
    }
    lang_report(in, "%.*s[%.*s]: bad array subscript", (int)name.len, name.data, (int)subscript.len, subscript.data);
    return false;
}

/* ---------- storing ---------- */

/* Text that is exactly how an integer prints is kept as one. */
static bool canonical_int(Slice s, int64_t *out)
{
    if (s.len == 0 || s.len > 18)
        return false;
    size_t i = s.data[0] == '-';
    if (i == s.len || (s.data[i] == '0' && s.len > 1))
        return false;
    int64_t v = 0;
    for (; i < s.len; i++) {
        unsigned d = (unsigned)(s.data[i] - '0');
        if (d > 9)
            return false;
        v = v * 10 + d;
    }
    *out = s.data[0] == '-' ? -v : v;
    return true;
}

static void store_int(Gen *g, Var *v, int64_t i)
{
    if (v->value.kind == VALUE_STR)
        str_unref(g, v->value.s);
    v->value = (Value){.kind = VALUE_INT, .i = i};
}

/* Scalars only; `v` is owned. */
static bool store_text(Gen *g, Var *v, Slice text)
{
    int64_t i;
    if (canonical_int(text, &i)) {
        store_int(g, v, i);
        return true;
    }
    Value *val = &v->value;
    if (val->kind == VALUE_STR && obj_mine(g, val->s) && val->s->cap >= text.len && val->s->cap / 4 <= text.len + 16) {
        memmove(val->s->data, text.data, text.len);
        val->s->len = text.len;
        val->s->data[text.len] = 0;
        return true;
    }
    Str *s = str_new(g, text);
    if (!s)
        return false;
    value_unref(g, *val);
    *val = (Value){.kind = VALUE_STR, .s = s};
    return true;
}

static bool append_text(Gen *g, Var *v, Slice text)
{
    if (v->value.kind == VALUE_UNSET)
        return store_text(g, v, text);
    if (v->value.kind == VALUE_INT) {
        char buf[24];
        size_t len;
        char *old = format_int(v->value.i, buf, &len);
        Str *s = str_new(g, slice(old, len));
        if (!s)
            return false;
        v->value = (Value){.kind = VALUE_STR, .s = s};
    }
    return str_append(g, &v->value.s, text) == 0;
}

static bool refuse_readonly(Interp *in, Slice name)
{
    bool plain = !in->nassigns || (in->p->name && (strcmp(in->p->name, "export") == 0 || strcmp(in->p->name, "readonly") == 0));
    shell_error(in, plain ? NULL : in->p->name, "%.*s: readonly variable", (int)name.len, name.data);
    return false;
}

/* What attributes make of a value before it is stored; `old` is what += adds to. False: arithmetic failed. */
static bool apply_attrs(Interp *in, uint32_t attrs, Slice old, bool append, Slice *text)
{
    if (attrs & ATTR_INTEGER) {
        int64_t value, before = 0;
        if (!arith_eval_text(in, *text, &value) || (append && !arith_eval_text(in, old, &before)))
            lang_arith_failed(in);
        char *buf = mem_alloc(mem_of(in), 24);
        size_t len;
        char *at = format_int((int64_t)((uint64_t)value + (uint64_t)before), buf, &len);
        *text = slice(at, len);
        return true;
    }
    if (append && old.len) {
        size_t n;
        if (!size_add(old.len, text->len, &n) || !size_add(n, 1, &n))
            lang_nomem(in);
        char *both = mem_alloc(mem_of(in), n);
        memcpy(both, old.data, old.len);
        memcpy(both + old.len, text->data, text->len);
        both[n - 1] = 0;
        *text = slice(both, n - 1);
    }
    if (attrs & (ATTR_LOWER | ATTR_UPPER | ATTR_CAPITAL))
        *text = upper_lower(mem_of(in), *text, attrs & ATTR_LOWER ? 'L' : attrs & ATTR_UPPER ? 'U' : 'u');
    return true;
}

static Var *own_or_add(Interp *in, const Name *name)
{
    Var *v = var_own(in, name);
    return v ? v : var_add(in, name, 0);
}

static void stored(Interp *in, Var *v, Slice name)
{
    v->attrs &= ~(uint32_t)ATTR_INVISIBLE;
    if (unlikely(OPT(in, ALLEXPORT)) && v->value.kind < VALUE_ARRAY)
        v->attrs |= ATTR_EXPORT;
    var_touched(in, name);
}

/* One element, attributes applied. `key` for associative arrays, else `index`. */
static bool element_store(Interp *in, const Name *name, Slice key, int64_t index, Slice text, bool append)
{
    const Var *v = var_lookup(in, name);
    if (v && v->attrs & ATTR_READONLY)
        return refuse_readonly(in, name->text);
    if (v && v->attrs & ATTR_NO_ASSIGN)
        return true;
    bool assoc = v && v->value.kind == VALUE_ASSOC;
    Gen *g = gen_of(in);
    if (v && v->attrs & (ATTR_INTEGER | ATTR_LOWER | ATTR_UPPER | ATTR_CAPITAL)) {
        Cell c = assoc ? assoc_get(v->value.m, key) : v->value.kind == VALUE_ARRAY ? array_get(v->value.a, index) : 0;
        if (!apply_attrs(in, v->attrs, cell_text(mem_of(in), c), append, &text))
            return false;
        append = false;
    }
    Var *mine = own_or_add(in, name);
    if (!assoc && mine->value.kind != VALUE_ARRAY) {
        Array *a = array_new(g);
        if (!a)
            lang_nomem(in);
        bool set;
        Slice old = value_text(mem_of(in), &mine->value, &set);
        if (set && array_set(g, &a, 0, cell_str(g, old)))
            lang_nomem(in);
        value_unref(g, mine->value);
        mine->value = (Value){.kind = VALUE_ARRAY, .a = a};
        mine->attrs |= ATTR_ARRAY;
    }
    int64_t number;
    Cell c;
    if (append) {
        Cell *slot = assoc ? NULL : array_slot(g, &mine->value.a, index);
        if (slot && !(*slot & 1)) {
            if (str_append(g, (Str **)(void *)slot, text))
                lang_nomem(in);
            stored(in, mine, name->text);
            return true;
        }
        Slice old = cell_text(mem_of(in), assoc ? assoc_get(mine->value.m, key) : array_get(mine->value.a, index));
        if (!apply_attrs(in, 0, old, true, &text))
            return false;
    }
    c = canonical_int(text, &number) ? cell_int(g, number) : cell_str(g, text);
    if (assoc ? assoc_set(g, &mine->value.m, key, c) : array_set(g, &mine->value.a, index, c))
        lang_nomem(in);
    stored(in, mine, name->text);
    return true;
}

bool var_set_element(Interp *in, Slice name, Slice subscript, Slice text, bool append)
{
    Name n = name_of(name), final;
    Slice sub;
    const Var *v = var_resolve(in, &n, &final, &sub);
    if (v && v->value.kind == VALUE_ASSOC)
        return element_store(in, &final, subscript, 0, text, append);
    int64_t index;
    if (!element_index(in, v, name, subscript, &index))
        return false;
    return element_store(in, &final, subscript, index, text, append);
}

bool var_set_index(Interp *in, const Name *name, int64_t index, Slice text, bool append)
{
    const Var *v = var_lookup(in, name);
    Name final = *name;
    Slice sub;
    if (unlikely(v && v->attrs & ATTR_NAMEREF))
        var_resolve(in, name, &final, &sub);
    return element_store(in, &final, SLICE(""), index, text, append);
}

bool array_put(Interp *in, Slice name, int64_t index, Slice text)
{
    Name n = name_of(name), final;
    Slice sub;
    const Var *v = var_resolve(in, &n, &final, &sub);
    char buf[24];
    size_t len;
    char *key = format_int(index, buf, &len);
    (void)v;
    return element_store(in, &final, slice(key, len), index, text, false);
}

static bool set_slow(Interp *in, const Name *name, Slice text, bool append)
{
    Name final;
    Slice sub;
    const Var *v = var_resolve(in, name, &final, &sub);
    if (!final.text.len)
        return false;
    if (sub.data)
        return var_set_element(in, final.text, sub, text, append);
    const Var *front = var_lookup(in, name);
    if (front && front->attrs & ATTR_NAMEREF && front->scope && slice_eq(final.text, name->text) && v != front) {
        return var_set_global(in, name->text, text, append);
    }
    if (v && v->attrs & ATTR_NAMEREF) { /* a nameref without a target gets one */
        Slice base, index;
        if (!parse_reference(text, &base, &index)) {
            lang_error(in, "`%.*s': not a valid identifier", (int)text.len, text.data);
            return false;
        }
    }
    if (v && v->attrs & ATTR_READONLY)
        return refuse_readonly(in, final.text);
    if (v && v->attrs & ATTR_NO_ASSIGN)
        return true;
    if (v && v->attrs & (ATTR_ARRAY | ATTR_ASSOC) && !v->special) {
        if (v->value.kind == VALUE_UNSET)
            var_declare(in, final.text, v->attrs & (ATTR_ARRAY | ATTR_ASSOC), 0, 0);
        return element_store(in, &final, SLICE("0"), 0, text, append);
    }
    uint32_t attrs = v ? v->attrs : 0;
    if (v && v->special) {
        Var *mine = var_own(in, &final);
        return special_write(in, mine, text);
    }
    bool set = false;
    Slice old = v ? value_text(mem_of(in), &v->value, &set) : SLICE("");
    if (!apply_attrs(in, attrs, old, append, &text))
        return false;
    Var *mine = own_or_add(in, &final);
    if (!store_text(gen_of(in), mine, text))
        lang_nomem(in);
    stored(in, mine, final.text);
    return true;
}

bool lang_set(Interp *in, const Name *name, Slice text, bool append)
{
    Var *v = var_own(in, name);
    if (unlikely(!v))
        v = var_add(in, name, 0);
    else if (unlikely(v->attrs & ATTR_SLOW || v->special))
        return set_slow(in, name, text, append);
    if (!(append ? append_text(gen_of(in), v, text) : store_text(gen_of(in), v, text)))
        lang_nomem(in);
    stored(in, v, name->text);
    return true;
}

bool lang_set_int(Interp *in, const Name *name, int64_t value)
{
    Var *v = var_own(in, name);
    if (unlikely(!v)) {
        v = var_add(in, name, 0);
    } else if (unlikely(v->attrs & ~(uint32_t)(ATTR_EXPORT | ATTR_INTEGER | ATTR_INVISIBLE | ATTR_LOCAL | ATTR_TRACE) || v->special)) {
        char buf[24];
        size_t len;
        char *text = format_int(value, buf, &len);
        return set_slow(in, name, slice(text, len), false);
    }
    store_int(gen_of(in), v, value);
    stored(in, v, name->text);
    return true;
}

/* `for` over a nameref makes it refer to one name after the other. */
bool set_nameref(Interp *in, const Name *name, Slice target)
{
    Var *v = var_own(in, name);
    if (!store_text(gen_of(in), v, target))
        lang_nomem(in);
    return true;
}

bool var_set(Interp *in, Slice name, Slice text, bool append)
{
    Name n = name_of(name);
    return lang_set(in, &n, text, append);
}

bool var_set_int(Interp *in, Slice name, int64_t value)
{
    Name n = name_of(name);
    return lang_set_int(in, &n, value);
}

bool var_set_ref(Interp *in, Slice ref, Slice text)
{
    Slice name, sub;
    if (!parse_reference(ref, &name, &sub)) {
        shell_error(in, in->p->name, "`%.*s': not a valid identifier", (int)ref.len, ref.data);
        return false;
    }
    if (!sub.data)
        return var_set(in, name, text, false);
    const Var *v = var_find(in, name);
    if (v && v->value.kind == VALUE_ASSOC)
        sub = expand_subscript(in, sub);
    return var_set_element(in, name, sub, text, false);
}

bool var_make_array(Interp *in, Slice name)
{
    Name n = name_of(name), final;
    Slice sub;
    const Var *v = var_resolve(in, &n, &final, &sub);
    if (v && v->attrs & ATTR_READONLY)
        return refuse_readonly(in, name);
    Gen *g = gen_of(in);
    Var *mine = own_or_add(in, &final);
    Value empty = {.kind = VALUE_ARRAY};
    if (mine->value.kind == VALUE_ASSOC || mine->attrs & ATTR_ASSOC) {
        empty.kind = VALUE_ASSOC;
        empty.m = assoc_new(g);
    } else {
        empty.a = array_new(g);
    }
    if (!empty.a)
        lang_nomem(in);
    value_unref(g, mine->value);
    mine->value = empty;
    mine->attrs |= empty.kind == VALUE_ARRAY ? ATTR_ARRAY : ATTR_ASSOC;
    stored(in, mine, name);
    return true;
}
