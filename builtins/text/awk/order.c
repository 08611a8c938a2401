/* gawk's order of for-in.
 *
 * gawk keeps keys in up to three tables: counting keys in a trie (ascending), other integers and all other keys in
 * chained hash tables of a prime number of buckets that grow when there are three to a bucket. A key goes to the head of its chain, and growing
 * moves chains from head to tail, which turns them round. All of it is played again here from the order of insertion.
 */
#include "order.h"

static const uint32_t sizes[MOST_GROWTHS + 1] = {
    13, 127, 1021, 8191, 16381, 32749, 65497, 131101, 262147, 524309, 1048583, 2097169, 4194319, 8388617, 16777259, 33554467,
    67108879, 134217757, 268435459, 536870923, 1073741827, 2147483647, 2147483647, 2147483647, 2147483647,
};
enum { CHAIN_MOST = 2 };

/* ---------- growths ---------- */

void growth_note(Awk *w, Array *a, unsigned part)
{
    unsigned n = a->growths ? a->growths->count[part] : 0;
    uint32_t next = a->part_live[part] + (part == PART_TEXT);
    if (next / sizes[n] <= CHAIN_MOST || n >= MOST_GROWTHS)
        return;
    if (!a->growths) {
        unsigned class = 0;
        Growths *g = heap_alloc(&w->heap, sizeof *g, &class);
        memset(g, 0, sizeof *g);
        g->class = class;
        a->growths = g;
    }
    a->growths->at[part][n] = a->count;
    a->growths->count[part]++;
}

void growths_reset(Array *a, unsigned part)
{
    if (a->growths && part < 2)
        a->growths->count[part] = 0;
}

void growths_begin(Growths *g, const Growths *old)
{
    memset(g, 0, sizeof *g);
    if (old)
        *g = *old;
}

void growths_pass(Growths *g, uint32_t from, uint32_t to)
{
    for (unsigned part = 0; part < 2; part++)
        for (unsigned i = 0; i < g->count[part]; i++)
            if (g->at[part][i] <= from && g->at[part][i] > to)
                g->at[part][i] = to;
}

void growths_end(const Growths *g, Growths *out)
{
    if (out)
        *out = *g;
}

/* ---------- gawk's hashes ---------- */

static uint32_t text_hash(Slice s)
{
    uint32_t h = 0;
    for (size_t i = 0; i < s.len; i++)
        h = (uint32_t)(int32_t)(signed char)s.data[i] + 65599u * h;
    return h;
}

static uint32_t int_hash(uint32_t k)
{
    k ^= k << 3;
    k += k >> 5;
    k ^= k << 4;
    k += k >> 17;
    k ^= k << 25;
    k += k >> 6;
    return k;
}

static uint32_t entry_hash(const Entry *e, unsigned part)
{
    if (part == PART_INT)
        return int_hash((uint32_t)(int32_t)e->key.number);
    if (e->kind == KEY_TEXT)
        return text_hash(string_slice(e->key.text));
    char room[NUMBER_ROOM];
    size_t len;
    char *first = format_int(e->key.number, room, &len);
    return text_hash(slice(first, len));
}

/* ---------- playing it again ---------- */

/* Chains of a hashed part. Text chains link single entries; integer chains link blocks of two, filled in order. */
typedef struct Chains {
    const Array *a;
    unsigned part;
    uint32_t size;
    uint32_t *head;  /* entry + 1 */
    uint32_t *next;  /* by entry: entry + 1; for integers, of the first of a block */
    uint32_t *mate;  /* integers: the second of a block, + 1 */
    uint32_t *hash;
} Chains;

static void chain_put(Chains *c, uint32_t entry)
{
    uint32_t *head = &c->head[c->hash[entry] % c->size];
    if (c->part == PART_INT && *head && !c->mate[*head - 1]) {
        c->mate[*head - 1] = entry + 1;
        return;
    }
    if (c->part == PART_INT)
        c->mate[entry] = 0;
    c->next[entry] = *head;
    *head = entry + 1;
}

static void chains_grow(Chains *c, Mem *mem, uint32_t size)
{
    uint32_t *old = c->head, n = c->size;
    c->head = mem_array(mem, size, uint32_t);
    c->size = size;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = old[i]; e;) {
            uint32_t following = c->next[e - 1], mate = c->part == PART_INT ? c->mate[e - 1] : 0;
            chain_put(c, e - 1);
            if (mate)
                chain_put(c, mate - 1);
            e = following;
        }
}

static uint32_t hashed_order(Awk *w, const Array *a, unsigned part, uint32_t *out)
{
    Mem *mem = &w->p->mem;
    Chains c = {.a = a, .part = part, .size = sizes[0]};
    c.head = mem_array(mem, c.size, uint32_t);
    c.next = mem_alloc(mem, a->count * sizeof *c.next);
    c.mate = part == PART_INT ? mem_alloc(mem, a->count * sizeof *c.mate) : NULL;
    c.hash = mem_alloc(mem, a->count * sizeof *c.hash);
    unsigned grown = 0, growths = a->growths ? a->growths->count[part] : 0;
    for (uint32_t i = 0; i < a->count; i++) {
        for (; grown < growths && a->growths->at[part][grown] <= i; grown++)
            chains_grow(&c, mem, sizes[grown + 1]);
        const Entry *e = &a->entries[i];
        if (e->kind == KEY_GONE || e->part != part)
            continue;
        c.hash[i] = entry_hash(e, part);
        chain_put(&c, i);
    }
    uint32_t n = 0;
    for (uint32_t b = 0; b < c.size; b++)
        for (uint32_t e = c.head[b]; e; e = c.next[e - 1]) {
            out[n++] = e - 1;
            if (c.mate && c.mate[e - 1])
                out[n++] = c.mate[e - 1] - 1;
        }
    return n;
}

/* Ascending by key, a merge from the bottom; mostly they are in order already. */
static void sort_counting(Mem *mem, const Array *a, uint32_t *v, uint32_t n)
{
    bool sorted = true;
    for (uint32_t i = 1; i < n && sorted; i++)
        sorted = a->entries[v[i - 1]].key.number < a->entries[v[i]].key.number;
    if (sorted)
        return;
    uint32_t *from = v, *to = mem_alloc(mem, n * sizeof *to), *spare = to;
    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t low = 0; low < n; low += 2 * width) {
            uint32_t middle = MIN(low + width, n), high = MIN(middle + width, n), i = low, j = middle, k = low;
            while (k < high)
                to[k++] = i < middle && (j >= high || a->entries[from[i]].key.number < a->entries[from[j]].key.number) ? from[i++] : from[j++];
        }
        uint32_t *t = from;
        from = to;
        to = t;
    }
    if (from == spare)
        memcpy(v, from, n * sizeof *v);
}

uint32_t table_order(Awk *w, const Array *a, uint32_t **order)
{
    uint32_t *out = mem_alloc(&w->p->mem, MAX(a->live, 1u) * sizeof *out), n = 0;
    *order = out;
    if (!a->live)
        return 0;
    if (a->part_live[PART_TEXT])
        n += hashed_order(w, a, PART_TEXT, out);
    if (a->part_live[PART_INT])
        n += hashed_order(w, a, PART_INT, out + n);
    uint32_t first = n;
    for (uint32_t i = 0; i < a->count && a->part_live[PART_COUNTING]; i++)
        if (a->entries[i].kind != KEY_GONE && a->entries[i].part == PART_COUNTING)
            out[n++] = i;
    sort_counting(&w->p->mem, a, out + first, n - first);
    return n;
}
