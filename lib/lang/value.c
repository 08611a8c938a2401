/* value: elements, indexed arrays and associative arrays.
 *
 * An indexed array is a vector of cells with holes; one whose indices lie far apart is a sorted vector of (index, cell). An
 * associative array is an open-addressing table over a dense vector of entries. Both are changed in place when held
 * once, else copied, so that a subshell's copy costs nothing until somebody writes.
 */
#include "interp.h"

struct Array {
    Obj obj;
    size_t count; /* elements that are set */
    size_t len;   /* dense: highest index + 1; sparse: same as count */
    size_t cap;
    bool sparse;
    Cell cells[]; /* sparse: pairs of index and cell, in order of index */
};

enum { DENSE_ALWAYS = 1 << 18 }; /* below this index a hole costs less than a search */

/* ---------- cells ---------- */

static bool cell_fits(int64_t i) { return i >= -((int64_t)1 << 62) && i < ((int64_t)1 << 62); }

static Cell cell_of_str(Str *s) { return (Cell)s; }

Cell cell_str(Gen *g, Slice s) { return cell_of_str(str_new(g, s)); }

Cell cell_int(Gen *g, int64_t i)
{
    if (likely(cell_fits(i)))
        return (Cell)((uint64_t)i << 1 | 1);
    char buf[24];
    size_t len;
    char *text = format_int(i, buf, &len);
    return cell_str(g, slice(text, len));
}

void cell_unref(Gen *g, Cell c)
{
    if (c && !(c & 1))
        str_unref(g, (Str *)c);
}

static Cell cell_ref(Gen *g, Cell c)
{
    if (c && !(c & 1))
        obj_ref(g, (Str *)c);
    return c;
}

Slice cell_text(Mem *m, Cell c)
{
    if (!c)
        return slice("", 0);
    if (!(c & 1))
        return str_slice((Str *)c);
    char *buf = mem_alloc(m, 24);
    size_t len;
    char *text = format_int((int64_t)c >> 1, buf, &len);
    return slice(text, len);
}

/* ---------- indexed arrays ---------- */

static size_t array_width(const Array *a) { return a->sparse ? 2 : 1; }

static Array *array_alloc(Gen *g, size_t cap, bool sparse)
{
    size_t cells, bytes;
    if (!size_mul(cap, (sparse ? 2 : 1) * sizeof(Cell), &cells) || !size_add(cells, sizeof(Array), &bytes))
        return NULL;
    Array *a = obj_alloc(g, bytes);
    if (!a)
        return NULL;
    a->count = a->len = 0;
    a->cap = cap;
    a->sparse = sparse;
    return a;
}

Array *array_new(Gen *g) { return array_alloc(g, 2, false); }

static Cell *sparse_cell(Array *a, size_t i) { return &a->cells[2 * i + 1]; }
static int64_t sparse_index(const Array *a, size_t i) { return (int64_t)a->cells[2 * i]; }

void array_unref(Gen *g, Array *a)
{
    if (!a || !obj_unref(g, a))
        return;
    size_t n = a->len;
    for (size_t i = 0; i < n; i++)
        cell_unref(g, a->sparse ? *sparse_cell(a, i) : a->cells[i]);
    obj_free(g, a);
}

/* First place in a sparse array whose index is not below `index`. */
static size_t sparse_find(const Array *a, int64_t index)
{
    size_t low = 0, high = a->len;
    if (high && sparse_index(a, high - 1) < index)
        return high;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (sparse_index(a, mid) < index)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

Cell array_get(const Array *a, int64_t index)
{
    if (index < 0)
        return 0;
    if (!a->sparse)
        return (uint64_t)index < a->len ? a->cells[index] : 0;
    size_t at = sparse_find(a, index);
    return at < a->len && sparse_index(a, at) == index ? a->cells[2 * at + 1] : 0;
}

size_t array_count(const Array *a) { return a->count; }

int64_t array_end(const Array *a)
{
    if (!a->len)
        return 0;
    return a->sparse ? sparse_index(a, a->len - 1) + 1 : (int64_t)a->len;
}

bool array_next(const Array *a, size_t *at, int64_t *index, Cell *c)
{
    for (; *at < a->len; ++*at) {
        Cell here = a->sparse ? a->cells[2 * *at + 1] : a->cells[*at];
        if (!here)
            continue;
        *index = a->sparse ? sparse_index(a, *at) : (int64_t)*at;
        *c = here;
        ++*at;
        return true;
    }
    return false;
}

/* A private copy in the asked shape and room. */
static Array *array_copy(Gen *g, const Array *a, size_t cap, bool sparse)
{
    Array *copy = array_alloc(g, cap, sparse);
    if (!copy)
        return NULL;
    if (a->sparse == sparse) {
        memcpy(copy->cells, a->cells, a->len * array_width(a) * sizeof(Cell));
        copy->len = a->len;
    } else {
        size_t at = 0;
        int64_t index;
        for (Cell c; array_next(a, &at, &index, &c); copy->len++) {
            copy->cells[2 * copy->len] = (Cell)index;
            copy->cells[2 * copy->len + 1] = c;
        }
    }
    copy->count = a->count;
    for (size_t i = 0; i < copy->len; i++)
        cell_ref(g, sparse ? *sparse_cell(copy, i) : copy->cells[i]);
    return copy;
}

/* Makes *a private with room for `cap` places. */
static int array_own(Gen *g, Array **a, size_t cap, bool sparse)
{
    Array *old = *a;
    if (obj_mine(g, old) && old->sparse == sparse) {
        if (cap <= old->cap)
            return 0;
        size_t want = MAX(cap, old->cap + old->cap / 2 + 4), cells, bytes;
        if (!size_mul(want, array_width(old) * sizeof(Cell), &cells) || !size_add(cells, sizeof(Array), &bytes))
            return -ENOMEM;
        Array *wider = obj_resize(g, old, bytes);
        if (!wider)
            return -ENOMEM;
        wider->cap = want;
        *a = wider;
        return 0;
    }
    Array *copy = array_copy(g, old, MAX(cap, sparse ? old->count : old->len), sparse);
    if (!copy)
        return -ENOMEM;
    array_unref(g, old);
    *a = copy;
    return 0;
}

static int sparse_set(Gen *g, Array **a, int64_t index, Cell c)
{
    int err = array_own(g, a, (*a)->count + 1, true);
    if (err)
        return err;
    Array *s = *a;
    size_t at = sparse_find(s, index);
    if (at < s->len && sparse_index(s, at) == index) {
        cell_unref(g, *sparse_cell(s, at));
    } else {
        memmove(&s->cells[2 * at + 2], &s->cells[2 * at], (s->len - at) * 2 * sizeof(Cell));
        s->cells[2 * at] = (Cell)index;
        s->len++;
        s->count++;
    }
    *sparse_cell(s, at) = c;
    return 0;
}

static int dense_set(Gen *g, Array **a, int64_t index, Cell c)
{
    size_t i = (size_t)index;
    int err = array_own(g, a, MAX(i + 1, (*a)->len), false);
    if (err)
        return err;
    Array *d = *a;
    if (i >= d->len) {
        memset(&d->cells[d->len], 0, (i - d->len) * sizeof(Cell));
        d->cells[i] = 0;
        d->len = i + 1;
    }
    if (d->cells[i])
        cell_unref(g, d->cells[i]);
    else
        d->count++;
    d->cells[i] = c;
    return 0;
}

int array_set(Gen *g, Array **a, int64_t index, Cell c)
{
    if (!c)
        return -ENOMEM;
    bool sparse = (*a)->sparse || (index >= DENSE_ALWAYS && (uint64_t)index > (*a)->len + (*a)->count);
    int err = sparse ? sparse_set(g, a, index, c) : dense_set(g, a, index, c);
    if (err)
        cell_unref(g, c);
    return err;
}

int array_remove(Gen *g, Array **a, int64_t index)
{
    if (!array_get(*a, index))
        return -ENOENT;
    int err = array_own(g, a, (*a)->sparse ? (*a)->count : (*a)->len, (*a)->sparse);
    if (err)
        return err;
    Array *m = *a;
    m->count--;
    if (m->sparse) {
        size_t at = sparse_find(m, index);
        cell_unref(g, *sparse_cell(m, at));
        memmove(&m->cells[2 * at], &m->cells[2 * at + 2], (m->len - at - 1) * 2 * sizeof(Cell));
        m->len--;
        return 0;
    }
    cell_unref(g, m->cells[index]);
    m->cells[index] = 0;
    while (m->len && !m->cells[m->len - 1])
        m->len--;
    return 0;
}

Cell *array_slot(Gen *g, Array **a, int64_t index)
{
    if (!array_get(*a, index) || array_own(g, a, (*a)->sparse ? (*a)->count : (*a)->len, (*a)->sparse))
        return NULL;
    return (*a)->sparse ? sparse_cell(*a, sparse_find(*a, index)) : &(*a)->cells[index];
}

/* ---------- associative arrays ---------- */

/* bash iterates its buckets in order and puts a new entry in front of its bucket; growing the table turns every bucket
 * round. So within a bucket entries are in order of `rank`: a new one is one below the lowest, and growth negates them. */
typedef struct {
    Str *key; /* NULL: removed */
    Cell cell;
    uint64_t hash;
    int64_t rank;
} Entry;

struct Assoc {
    Obj obj;
    size_t count; /* live entries */
    size_t used;  /* entries in the vector, removed ones included */
    size_t cap;   /* of the vector */
    size_t slots; /* of the index; a power of two, at least twice cap */
    uint32_t buckets; /* as bash has now */
    int64_t lowest;
    Entry entries[]; /* cap, then `slots` uint64_t */
};

enum { BASH_BUCKETS = 1024, BASH_GROWTH = 4, BASH_LOAD = 2 };

/* Slots hold the entry's number + 1 and the upper half of its hash, so that most probes stay in the index. */
static uint64_t *assoc_index(const Assoc *m) { return (uint64_t *)(void *)((char *)m + sizeof(Assoc) + m->cap * sizeof(Entry)); }

static Assoc *assoc_alloc(Gen *g, size_t cap)
{
    size_t slots = 8, entries, index, bytes;
    while (slots < cap * 2)
        slots *= 2;
    if (cap > UINT32_MAX / 4 || !size_mul(cap, sizeof(Entry), &entries) || !size_mul(slots, sizeof(uint64_t), &index) ||
        !size_add(entries, index, &bytes) || !size_add(bytes, sizeof(Assoc), &bytes))
        return NULL;
    Assoc *m = obj_alloc(g, bytes);
    if (!m)
        return NULL;
    m->count = m->used = 0;
    m->cap = cap;
    m->slots = slots;
    m->buckets = BASH_BUCKETS;
    m->lowest = 0;
    memset(assoc_index(m), 0, index);
    return m;
}

Assoc *assoc_new(Gen *g) { return assoc_alloc(g, 4); }

void assoc_unref(Gen *g, Assoc *m)
{
    if (!m || !obj_unref(g, m))
        return;
    for (size_t i = 0; i < m->used; i++)
        if (m->entries[i].key) {
            str_unref(g, m->entries[i].key);
            cell_unref(g, m->entries[i].cell);
        }
    obj_free(g, m);
}

/* The index slot that holds `key`, or the free one where it would go. */
static uint64_t *assoc_slot(const Assoc *m, Slice key, uint64_t hash)
{
    uint64_t *index = assoc_index(m);
    for (size_t at = hash & (m->slots - 1);; at = (at + 1) & (m->slots - 1)) {
        uint64_t n = index[at];
        if (!n)
            return &index[at];
        if ((n ^ hash) >> 32)
            continue;
        const Entry *e = &m->entries[(uint32_t)n - 1];
        if (e->key && e->hash == hash && slice_eq(str_slice(e->key), key))
            return &index[at];
    }
}

Cell assoc_get(const Assoc *m, Slice key)
{
    uint32_t n = (uint32_t)*assoc_slot(m, key, hash_bytes(key));
    return n ? m->entries[n - 1].cell : 0;
}

size_t assoc_count(const Assoc *m) { return m->count; }

static uint64_t slot_value(uint64_t hash, size_t number) { return (hash & ~(uint64_t)UINT32_MAX) | number; }

/* A private copy without the removed entries; when not `shared` the entries are moved: their references go over. */
static Assoc *assoc_copy(Gen *g, const Assoc *m, size_t cap, bool shared)
{
    Assoc *copy = assoc_alloc(g, cap);
    if (!copy)
        return NULL;
    copy->buckets = m->buckets;
    copy->lowest = m->lowest;
    for (size_t i = 0; i < m->used; i++) {
        const Entry *e = &m->entries[i];
        if (!e->key)
            continue;
        uint64_t *index = assoc_index(copy);
        size_t at = e->hash & (copy->slots - 1);
        while (index[at])
            at = (at + 1) & (copy->slots - 1);
        copy->entries[copy->used++] = *e;
        index[at] = slot_value(e->hash, copy->used);
        if (shared) {
            obj_ref(g, e->key);
            cell_ref(g, e->cell);
        }
    }
    copy->count = copy->used;
    return copy;
}

static int assoc_own(Gen *g, Assoc **m, size_t used)
{
    if (obj_mine(g, *m) && used <= (*m)->cap)
        return 0;
    size_t cap = (*m)->cap;
    if (used > cap)
        cap = (*m)->count * 2 + 8;
    bool moves = obj_mine(g, *m);
    Assoc *copy = assoc_copy(g, *m, cap, !moves);
    if (!copy)
        return -ENOMEM;
    if (moves)
        (*m)->used = 0;
    assoc_unref(g, *m);
    *m = copy;
    return 0;
}

static void bash_grow(Assoc *m)
{
    if (m->count < (size_t)m->buckets * BASH_LOAD)
        return;
    m->buckets *= BASH_GROWTH;
    int64_t lowest = 0;
    for (size_t i = 0; i < m->used; i++) {
        m->entries[i].rank = -m->entries[i].rank;
        lowest = MIN(lowest, m->entries[i].rank);
    }
    m->lowest = lowest;
}

/* `slot` is where the key goes as long as the vector need not move. */
static int assoc_add(Gen *g, Assoc **m, Slice key, uint64_t hash, Cell c, uint64_t *slot)
{
    const Assoc *before = *m;
    int err = assoc_own(g, m, (*m)->used + 1);
    Str *k = err ? NULL : str_new(g, key);
    if (!k)
        return -ENOMEM;
    Assoc *a = *m;
    bash_grow(a);
    a->entries[a->used++] = (Entry){k, c, hash, --a->lowest};
    *(a == before ? slot : assoc_slot(a, key, hash)) = slot_value(hash, a->used);
    a->count++;
    return 0;
}

int assoc_set(Gen *g, Assoc **m, Slice key, Cell c)
{
    if (!c)
        return -ENOMEM;
    uint64_t hash = hash_bytes(key);
    int err = 0;
    uint64_t *slot = assoc_slot(*m, key, hash);
    if (!*slot) {
        err = assoc_add(g, m, key, hash, c, slot);
    } else if (!(err = assoc_own(g, m, 0))) {
        Entry *e = &(*m)->entries[(uint32_t)*assoc_slot(*m, key, hash) - 1];
        cell_unref(g, e->cell);
        e->cell = c;
    }
    if (err)
        cell_unref(g, c);
    return err;
}

int assoc_remove(Gen *g, Assoc **m, Slice key)
{
    uint64_t hash = hash_bytes(key);
    if (!*assoc_slot(*m, key, hash))
        return -ENOENT;
    int err = assoc_own(g, m, 0);
    if (err)
        return err;
    Entry *e = &(*m)->entries[(uint32_t)*assoc_slot(*m, key, hash) - 1];
    str_unref(g, e->key);
    cell_unref(g, e->cell);
    e->key = NULL;
    (*m)->count--;
    return 0;
}

typedef struct {
    uint32_t bucket;
    int64_t rank;
    AssocItem item;
} Ordered;

uint32_t bash_hash(Slice s)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < s.len; i++) {
        int32_t c = (signed char)s.data[i]; /* bash hashes plain, signed chars */
        h = (h * 16777619u) ^ (uint32_t)c;
    }
    return h;
}

static int compare_ordered(const void *a, const void *b)
{
    const Ordered *x = a, *y = b;
    if (x->bucket != y->bucket)
        return x->bucket < y->bucket ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

AssocItem *assoc_items(Mem *mem, const Assoc *m)
{
    Ordered *all = mem_array(mem, m->count + 1, Ordered);
    AssocItem *items = mem_array(mem, m->count + 1, AssocItem);
    if (!all || !items)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < m->used; i++) {
        const Entry *e = &m->entries[i];
        if (e->key)
            all[n++] = (Ordered){bash_hash(str_slice(e->key)) & (m->buckets - 1), e->rank, {e->key, e->cell}};
    }
    merge_sort(mem, all, n, sizeof *all, compare_ordered);
    for (size_t i = 0; i < n; i++)
        items[i] = all[i].item;
    return items;
}

bool assoc_next(const Assoc *m, size_t *at, AssocItem *item, int64_t *rank)
{
    while (*at < m->used) {
        const Entry *e = &m->entries[(*at)++];
        if (e->key) {
            *item = (AssocItem){e->key, e->cell};
            *rank = e->rank;
            return true;
        }
    }
    return false;
}

uint32_t assoc_buckets(const Assoc *m) { return m->buckets; }

bool assoc_order(Assoc *m, uint32_t buckets, const int64_t *ranks, size_t count)
{
    uint32_t fits = BASH_BUCKETS;
    while (fits < buckets && fits <= UINT32_MAX / BASH_GROWTH)
        fits *= BASH_GROWTH;
    if (fits != buckets || count != m->used || m->count > (size_t)buckets * BASH_LOAD)
        return false;
    m->buckets = buckets;
    m->lowest = 0;
    for (size_t i = 0; i < count; i++) {
        if (ranks[i] <= INT64_MIN / 2 || ranks[i] > INT64_MAX / 2)
            return false;
        m->entries[i].rank = ranks[i];
        m->lowest = MIN(m->lowest, ranks[i]);
    }
    return true;
}

/* ---------- values ---------- */

void value_unref(Gen *g, Value v)
{
    switch (v.kind) {
    case VALUE_STR: str_unref(g, v.s); break;
    case VALUE_ARRAY: array_unref(g, v.a); break;
    case VALUE_ASSOC: assoc_unref(g, v.m); break;
    case VALUE_UNSET: case VALUE_INT: break;
    }
}

Value value_ref(Gen *g, Value v)
{
    switch (v.kind) {
    case VALUE_STR: obj_ref(g, v.s); break;
    case VALUE_ARRAY: obj_ref(g, v.a); break;
    case VALUE_ASSOC: obj_ref(g, v.m); break;
    case VALUE_UNSET: case VALUE_INT: break;
    }
    return v;
}

/* Stable, bottom up, with scratch from `mem`. */
void merge_sort(Mem *mem, void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    if (count < 2)
        return;
    char *from = base, *to = mem_alloc(mem, count * size);
    if (!to)
        return;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t mid = MIN(start + width, count), end = MIN(start + 2 * width, count);
            size_t a = start, b = mid;
            for (size_t k = start; k < end; k++) {
                bool left = a < mid && (b >= end || compare(from + a * size, from + b * size) <= 0);
                memcpy(to + k * size, from + (left ? a++ : b++) * size, size);
            }
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != base)
        memcpy(base, from, count * size);
}

int compare_slices(const void *a, const void *b)
{
    const Slice *x = a, *y = b;
    return slice_cmp(*x, *y);
}
