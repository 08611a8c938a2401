/* Associative arrays: open addressing over a vector of entries in order of insertion, hashed under a seed.
 *
 * What gawk's order of for-in depends on is noted when a key comes in: which of its tables would hold the key, and before which
 * entries those tables grew. order.c computes the order from that.
 */
#include "awk.h"

#include "order.h"

enum { FIRST_CAP = 8, COUNTING_ROOT = 1024, SPARSE = 2048 };

Array *table_new(Awk *w)
{
    unsigned class = 0;
    Array *a = heap_alloc(&w->heap, sizeof *a, &class);
    memset(a, 0, sizeof *a);
    a->refs = 1;
    return a;
}

static void tables_free(Awk *w, Array *a)
{
    if (a->entries) {
        heap_free(&w->heap, a->entries, a->entries_class);
        heap_free(&w->heap, a->index, a->index_class);
    }
    if (a->leaves)
        heap_free(&w->heap, a->leaves, a->leaves_class);
    if (a->growths) {
        unsigned class = 0;
        Growths *g = a->growths;
        class = g->class;
        heap_free(&w->heap, g, class);
    }
}

static void entry_drop(Awk *w, Entry *e)
{
    if (e->kind == KEY_TEXT)
        string_release(w, e->key.text);
    e->kind = KEY_GONE;
    value_release(w, &e->value);
}

void table_clear(Awk *w, Array *a)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->entries[i].kind != KEY_GONE)
            entry_drop(w, &a->entries[i]);
    tables_free(w, a);
    uint32_t refs = a->refs;
    memset(a, 0, sizeof *a);
    a->refs = refs;
}

void table_release(Awk *w, Array *a)
{
    if (--a->refs)
        return;
    table_clear(w, a);
    heap_free(&w->heap, a, (unsigned)((sizeof *a - 1) / 16));
}

/* ---------- keys ---------- */

typedef struct Key {
    bool is_int;
    uint32_t hash;
    int64_t number;
    Slice text;
    String *owner; /* that holds text, borrowed, or NULL */
} Key;

static uint32_t hash_int(int64_t n)
{
    uint64_t h = ((uint64_t)n ^ hash_seed()) * 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93u;
    return (uint32_t)(h ^ (h >> 32));
}

/* "0", "-7", "123": what an integer's text is. Up to 18 digits. */
static bool canonical_int(Slice s, int64_t *n)
{
    size_t i = s.len && s.data[0] == '-';
    if (s.len == i || s.len - i > 18 || s.data[i] < '0' || s.data[i] > '9' || (s.data[i] == '0' && s.len > 1))
        return false;
    int64_t v = 0;
    for (; i < s.len; i++) {
        unsigned d = (unsigned)(unsigned char)s.data[i] - '0';
        if (d > 9)
            return false;
        v = v * 10 + (int)d;
    }
    *n = s.data[0] == '-' ? -v : v;
    return true;
}

static void key_int(Key *k, int64_t n)
{
    k->is_int = true;
    k->number = n;
    k->hash = hash_int(n);
    k->owner = NULL;
}

static void key_str(Key *k, String *s)
{
    int64_t n;
    if (canonical_int(string_slice(s), &n)) {
        key_int(k, n);
        return;
    }
    k->is_int = false;
    k->text = string_slice(s);
    k->owner = s;
    k->hash = (uint32_t)hash_bytes(k->text);
}

/* The key of a value; true when *made owns a count that the caller gives back. */
static bool key_of(Awk *w, const Value *v, Key *k, String **made)
{
    if (v->kind == V_NUM && v->n > -1e15 && v->n < 1e15 && (double)(int64_t)v->n == v->n) {
        key_int(k, (int64_t)v->n);
        return false;
    }
    if (v->kind == V_STR || v->kind == V_INPUT) {
        key_str(k, v->s);
        return false;
    }
    *made = value_string(w, v);
    key_str(k, *made);
    return true;
}

/* ---------- finding ---------- */

static bool key_matches(const Entry *e, const Key *k)
{
    if (e->hash != k->hash)
        return false;
    if (k->is_int)
        return e->kind == KEY_INT && e->key.number == k->number;
    return e->kind == KEY_TEXT && slice_eq(string_slice(e->key.text), k->text);
}

static Entry *find(const Array *a, const Key *k)
{
    if (!a->live)
        return NULL;
    uint32_t mask = a->buckets - 1;
    for (uint32_t at = k->hash & mask; a->index[at]; at = (at + 1) & mask) {
        Entry *e = &a->entries[a->index[at] - 1];
        if (key_matches(e, k))
            return e;
    }
    return NULL;
}

static void index_put(Array *a, uint32_t number)
{
    uint32_t mask = a->buckets - 1, at = a->entries[number].hash & mask;
    while (a->index[at])
        at = (at + 1) & mask;
    a->index[at] = number + 1;
}

/* Makes room for one more entry: leaves out what was removed, grows when most of it lives. */
static void make_room(Awk *w, Array *a)
{
    uint32_t cap = a->cap ? (a->live >= a->cap / 2 ? a->cap * 2 : a->cap) : FIRST_CAP;
    if (cap > UINT32_MAX / 4)
        awk_fatal(w, "array too large");
    proc_tick(w->p, cap / 16);
    unsigned entries_class = 0, index_class = 0;
    Entry *entries = heap_alloc(&w->heap, (size_t)cap * sizeof *entries, &entries_class);
    uint32_t *index = heap_alloc(&w->heap, (size_t)cap * 2 * sizeof *index, &index_class);
    uint32_t n = 0;
    Growths moved;
    growths_begin(&moved, a->growths);
    for (uint32_t i = 0; i < a->count; i++) {
        growths_pass(&moved, i, n);
        if (a->entries[i].kind != KEY_GONE)
            entries[n++] = a->entries[i];
    }
    growths_pass(&moved, UINT32_MAX, n);
    growths_end(&moved, a->growths);
    if (a->entries) {
        heap_free(&w->heap, a->entries, a->entries_class);
        heap_free(&w->heap, a->index, a->index_class);
    }
    a->entries = entries;
    a->index = index;
    a->entries_class = entries_class;
    a->index_class = index_class;
    a->cap = cap;
    a->count = n;
    a->buckets = cap * 2;
    memset(index, 0, (size_t)a->buckets * sizeof *index);
    for (uint32_t i = 0; i < n; i++)
        index_put(a, i);
}

/* ---------- where gawk would put a key ---------- */

/* gawk keeps counting keys in blocks: m, the number of the key's highest bit, is halved until it is at most 10. */
static unsigned leaf_bits(int64_t k)
{
    unsigned m = 63u - (unsigned)__builtin_clzll((uint64_t)k | COUNTING_ROOT);
    do
        m = (m + 1) / 2;
    while (m > 10);
    return m;
}

static bool leaf_put(Array *a, uint32_t leaf)
{
    uint32_t mask = a->leaf_buckets - 1, at = (leaf * 0x9E3779B1u) & mask;
    for (; a->leaves[at]; at = (at + 1) & mask)
        if (a->leaves[at] == leaf)
            return false;
    a->leaves[at] = leaf;
    a->leaf_count++;
    return true;
}

static void leaf_room(Awk *w, Array *a)
{
    if (a->leaf_buckets && a->leaf_count * 2 < a->leaf_buckets)
        return;
    uint32_t *old = a->leaves, n = a->leaf_buckets;
    unsigned old_class = a->leaves_class;
    uint32_t buckets = n ? n * 2 : 64;
    unsigned class = 0;
    uint32_t *leaves = heap_alloc(&w->heap, (size_t)buckets * sizeof *leaves, &class);
    memset(leaves, 0, (size_t)buckets * sizeof *leaves);
    a->leaves = leaves;
    a->leaves_class = class;
    a->leaf_buckets = buckets;
    a->leaf_count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (old[i])
            leaf_put(a, old[i]);
    if (old)
        heap_free(&w->heap, old, old_class);
}

static void leaf_note(Awk *w, Array *a, int64_t k)
{
    unsigned bits = leaf_bits(k);
    leaf_room(w, a);
    if (leaf_put(a, (uint32_t)(k >> bits) | bits << 27))
        a->capacity += (uint64_t)1 << bits;
}

/* Whether gawk takes k into the table of counting keys, which must not become too sparse. */
static bool counting(Awk *w, Array *a, int64_t k)
{
    if (k < COUNTING_ROOT && !a->leaves)
        return true;
    if (!a->leaves)
        for (uint32_t i = 0; i < a->count; i++)
            if (a->entries[i].kind == KEY_INT && a->entries[i].part == PART_COUNTING)
                leaf_note(w, a, a->entries[i].key.number);
    if (a->capacity + ((uint64_t)1 << leaf_bits(k)) > (uint64_t)a->part_live[PART_COUNTING] + SPARSE)
        return false;
    leaf_note(w, a, k);
    return true;
}

static uint8_t part_of(Awk *w, Array *a, const Key *k)
{
    bool small = k->is_int && k->number >= INT32_MIN && k->number <= INT32_MAX;
    if (a->first == FIRST_TEXT)
        return PART_TEXT;
    if (a->first == FIRST_INT)
        return small ? PART_INT : PART_TEXT;
    if (small && k->number >= 0 && counting(w, a, k->number))
        return PART_COUNTING;
    /* The first key that is not a counting one decides what table takes the others. */
    if (!a->part_live[PART_TEXT] && !a->part_live[PART_INT])
        a->others_text = !small;
    return small && !a->others_text ? PART_INT : PART_TEXT;
}

static Entry *insert(Awk *w, Array *a, const Key *k)
{
    if (a->count == a->cap)
        make_room(w, a);
    if (!a->live)
        a->first = !k->is_int || k->number < INT32_MIN || k->number > INT32_MAX ? FIRST_TEXT : k->number < 0 ? FIRST_INT : FIRST_COUNTING;
    uint8_t part = part_of(w, a, k);
    if (part != PART_COUNTING)
        growth_note(w, a, part);
    Entry *e = &a->entries[a->count];
    e->hash = k->hash;
    e->part = part;
    if (k->is_int) {
        e->key.number = k->number;
    } else {
        e->key.text = k->owner ? string_ref(k->owner) : string_new(w, k->text);
    }
    e->kind = k->is_int ? KEY_INT : KEY_TEXT;
    e->value = value_unset();
    index_put(a, a->count++);
    a->live++;
    a->part_live[part]++;
    return e;
}

static Entry *find_value(Awk *w, const Array *a, const Value *key)
{
    Key k;
    String *made;
    bool owned = key_of(w, key, &k, &made);
    Entry *e = find(a, &k);
    if (owned)
        string_release(w, made);
    return e;
}

Value *table_find(Awk *w, Array *a, const Value *key)
{
    Entry *e = find_value(w, a, key);
    return e ? &e->value : NULL;
}

Value *table_get(Awk *w, Array *a, const Value *key)
{
    Key k;
    String *made;
    bool owned = key_of(w, key, &k, &made);
    Entry *e = find(a, &k);
    if (!e)
        e = insert(w, a, &k);
    if (owned)
        string_release(w, made);
    return &e->value;
}

Value *table_get_int(Awk *w, Array *a, int64_t key)
{
    Key k;
    key_int(&k, key);
    Entry *e = find(a, &k);
    return &(e ? e : insert(w, a, &k))->value;
}

Value *table_get_str(Awk *w, Array *a, const char *key)
{
    Value v = value_plain(w, slice_str(key));
    Value *r = table_get(w, a, &v);
    value_release(w, &v);
    return r;
}

void table_set(Awk *w, Array *a, const Value *key, Value v)
{
    Value *slot = table_get(w, a, key);
    value_release(w, slot);
    *slot = v;
}

/* A part's last key is gone: what is left of gawk's array is then the table behind it. */
static void part_gone(Array *a, unsigned part)
{
    growths_reset(a, part);
    if (part == PART_COUNTING)
        a->first = a->part_live[PART_INT] ? FIRST_INT : FIRST_TEXT;
    else if (part == PART_INT && a->first == FIRST_INT)
        a->first = FIRST_TEXT;
    else if (part == PART_INT && a->part_live[PART_TEXT])
        a->others_text = true;
}

bool table_remove(Awk *w, Array *a, const Value *key)
{
    Entry *e = find_value(w, a, key);
    if (!e)
        return false;
    uint8_t part = e->part;
    entry_drop(w, e);
    a->live--;
    if (!a->live)
        table_clear(w, a);
    else if (--a->part_live[part] == 0)
        part_gone(a, part);
    return true;
}

Value entry_key(Awk *w, const Entry *e)
{
    if (e->kind == KEY_TEXT)
        return value_str(string_ref(e->key.text));
    char room[NUMBER_ROOM];
    size_t len;
    char *first = format_int(e->key.number, room, &len);
    return value_plain(w, slice(first, len));
}
