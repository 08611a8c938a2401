/* object: jq's objects, insertion-ordered hashes. */
#include "value.h"

static uint32_t entry_capacity(J *j, size_t want)
{
    if (want > JQ_MAX_BYTES / sizeof(JEntry))
        proc_raise(j->proc, RAISE_MEMORY);
    return (uint32_t)(jmem_size(want * sizeof(JEntry)) / sizeof(JEntry));
}

Val obj_new(J *j, size_t cap)
{
    uint32_t room = cap ? entry_capacity(j, cap) : 0;
    JEntry *entries = cap ? jmem(j, room * sizeof(JEntry)) : NULL;
    JObj *o = jmem(j, sizeof *o);
    *o = (JObj){.refs = 1, .cap = room, .entries = entries};
    return val_obj(o);
}

static void index_entries(JObj *o)
{
    for (uint32_t i = 0; i < o->used; i++) {
        if (!o->entries[i].key)
            continue;
        uint32_t at = str_hash(o->entries[i].key) & o->mask;
        while (o->index[at])
            at = (at + 1) & o->mask;
        o->index[at] = i + 1;
    }
}

static void index_drop(J *j, JObj *o)
{
    if (o->index)
        jmem_give(j, o->index, ((size_t)o->mask + 1) * sizeof *o->index);
    o->index = NULL;
}

static void index_build(J *j, JObj *o)
{
    index_drop(j, o);
    size_t buckets = 16;
    while (buckets < (size_t)o->cap + o->cap / 2)
        buckets *= 2;
    o->index = jmem(j, buckets * sizeof *o->index);
    memset(o->index, 0, buckets * sizeof *o->index);
    o->mask = (uint32_t)(buckets - 1);
    index_entries(o);
}

/* Entry number, or UINT32_MAX. */
static uint32_t find(const JObj *o, JStr *key)
{
    uint32_t hash = str_hash(key);
    if (!o->index) {
        for (uint32_t i = 0; i < o->used; i++)
            if (o->entries[i].key == key)
                return i;
        for (uint32_t i = 0; i < o->used; i++) {
            JStr *k = o->entries[i].key;
            if (k && str_hash(k) == hash && str_equal(k, key))
                return i;
        }
        return UINT32_MAX;
    }
    for (uint32_t at = hash & o->mask; o->index[at]; at = (at + 1) & o->mask) {
        JStr *k = o->entries[o->index[at] - 1].key;
        if (k && (k == key || (str_hash(k) == hash && str_equal(k, key))))
            return o->index[at] - 1;
    }
    return UINT32_MAX;
}

Val *obj_find(Val o, JStr *key)
{
    uint32_t i = find(o.obj, key);
    return i == UINT32_MAX ? NULL : &o.obj->entries[i].value;
}

Val obj_get(Val o, JStr *key)
{
    Val *at = obj_find(o, key);
    return at ? val_copy(*at) : VAL_INVALID;
}

Val obj_get_text(J *j, Val o, const char *key)
{
    Val k = val_text(j, key);
    Val v = obj_get(o, k.str);
    val_free(j, k);
    return v;
}

/* Moves the live entries to a block of at least `want`, closing gaps. */
static void resize(J *j, JObj *o, size_t want)
{
    uint32_t room = entry_capacity(j, want);
    JEntry *entries = jmem(j, room * sizeof(JEntry));
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->used; i++)
        if (o->entries[i].key)
            entries[n++] = o->entries[i];
    if (o->cap)
        jmem_give(j, o->entries, o->cap * sizeof(JEntry));
    o->entries = entries;
    o->cap = room;
    o->used = n;
    if (room > JOBJ_SMALL)
        index_build(j, o);
    else
        index_drop(j, o);
}

static Val own(J *j, Val v)
{
    if (val_unique(v))
        return v;
    JObj *o = v.obj;
    Val made = obj_new(j, MAX(o->live, 1u));
    for (uint32_t i = obj_next(o, 0); i < o->used; i = obj_next(o, i + 1)) {
        o->entries[i].key->refs++;
        made.obj->entries[made.obj->used++] = (JEntry){o->entries[i].key, val_copy(o->entries[i].value)};
    }
    made.obj->live = made.obj->used;
    if (made.obj->cap > JOBJ_SMALL)
        index_build(j, made.obj);
    made.meta = v.meta;
    val_free(j, v);
    return made;
}

static void add_entry(J *j, JObj *o, JStr *key, Val value)
{
    if (o->used == o->cap)
        resize(j, o, o->live < o->used / 2 ? o->cap : MAX(4u, (size_t)o->cap * 2));
    o->entries[o->used] = (JEntry){key, value};
    if (o->cap > JOBJ_SMALL && !o->index) {
        o->used++;
        o->live++;
        index_build(j, o);
        return;
    }
    if (o->index) {
        uint32_t at = str_hash(key) & o->mask;
        while (o->index[at])
            at = (at + 1) & o->mask;
        o->index[at] = o->used + 1;
    }
    o->used++;
    o->live++;
}

Val obj_set(J *j, Val v, Val key, Val value)
{
    v = own(j, v);
    uint32_t i = find(v.obj, key.str);
    if (i == UINT32_MAX) {
        add_entry(j, v.obj, key.str, value);
        return v;
    }
    Val old = v.obj->entries[i].value;
    v.obj->entries[i].value = value;
    val_free(j, key);
    val_free(j, old);
    return v;
}

Val obj_from_pairs(J *j, const Val *pairs, size_t count)
{
    Val v = obj_new(j, count);
    JObj *o = v.obj;
    if (o->cap > JOBJ_SMALL) {
        for (size_t i = 0; i < count; i++)
            v = obj_set(j, v, pairs[2 * i], pairs[2 * i + 1]);
        return v;
    }
    for (size_t i = 0; i < count; i++) {
        JStr *key = pairs[2 * i].str;
        uint32_t hash = str_hash(key), at = 0;
        while (at < o->used && !(o->entries[at].key == key || (o->entries[at].key->hash == hash && str_equal(o->entries[at].key, key))))
            at++;
        if (at < o->used) {
            val_free(j, pairs[2 * i]);
            val_free(j, o->entries[at].value);
            o->entries[at].value = pairs[2 * i + 1];
            continue;
        }
        o->entries[o->used++] = (JEntry){key, pairs[2 * i + 1]};
    }
    o->live = o->used;
    return v;
}

Val obj_set_text(J *j, Val o, const char *key, Val value) { return obj_set(j, o, val_str(str_key(j, slice_str(key))), value); }

Val obj_remove(J *j, Val v, JStr *key)
{
    if (find(v.obj, key) == UINT32_MAX)
        return v;
    v = own(j, v);
    JEntry *e = &v.obj->entries[find(v.obj, key)];
    JEntry gone = *e;
    e->key = NULL;
    v.obj->live--;
    val_free(j, val_str(gone.key));
    val_free(j, gone.value);
    return v;
}

/* Merge sort of entries by key, bottom up. */
static void sort_entries(JEntry **a, JEntry **spare, size_t n)
{
    for (size_t i = 1; i < n; i++) { /* most objects are small or sorted already */
        JEntry *e = a[i];
        size_t at = i;
        if (n > 32)
            break;
        while (at && str_cmp(a[at - 1]->key, e->key) > 0) {
            a[at] = a[at - 1];
            at--;
        }
        a[at] = e;
    }
    if (n <= 32)
        return;
    sort_entries(a, spare, n / 2);
    sort_entries(a + n / 2, spare, n - n / 2);
    memcpy(spare, a, n / 2 * sizeof *a);
    size_t left = 0, right = n / 2, at = 0;
    while (left < n / 2 && right < n)
        a[at++] = str_cmp(spare[left]->key, a[right]->key) <= 0 ? spare[left++] : a[right++];
    while (left < n / 2)
        a[at++] = spare[left++];
}

JEntry **obj_sorted(J *j, const JObj *o)
{
    size_t n = 0;
    JEntry **list = jmem(j, MAX(o->live, 1u) * sizeof *list);
    for (uint32_t i = obj_next(o, 0); i < o->used; i = obj_next(o, i + 1))
        list[n++] = &o->entries[i];
    JEntry **spare = jmem(j, (n / 2 + 1) * sizeof *spare);
    sort_entries(list, spare, n);
    jmem_give(j, spare, (n / 2 + 1) * sizeof *spare);
    return list;
}

Val obj_keys(J *j, Val v, bool sorted)
{
    const JObj *o = v.obj;
    Val out = arr_new(j, o->live);
    if (sorted) {
        JEntry **list = obj_sorted(j, o);
        for (uint32_t i = 0; i < o->live; i++)
            out.arr->items[i] = val_copy(val_str(list[i]->key));
        jmem_give(j, list, MAX(o->live, 1u) * sizeof *list);
        out.arr->len = o->live;
        return out;
    }
    for (uint32_t i = obj_next(o, 0); i < o->used; i = obj_next(o, i + 1))
        out.arr->items[out.arr->len++] = val_copy(val_str(o->entries[i].key));
    return out;
}
