/* pmap: a persistent hash array mapped trie.
 *
 * A node has a bitmap of 32 slots by five bits of the hash a level; a slot holds a child node or an entry, told apart
 * by a second bitmap. Entries whose hashes agree in all 60 bits used sit in a bucket node at the bottom. A node is changed in place
 * when every node from the root down is obj_mine; otherwise the path is copied.
 */
#include "pmap.h"

enum { BITS = 5, WIDTH = 32, BOTTOM = 12 /* levels of five bits; below it a bucket */ };

struct PNode {
    Obj obj;
    uint32_t used;   /* slots in use; in a bucket: number of entries */
    uint32_t leaves; /* of those, the ones that hold entries */
    void *slot[];
};

/* Without an instruction for it the compiler calls a function, and lookups are most of a loop's time. */
static inline unsigned count_bits(uint32_t v)
{
    v -= v >> 1 & 0x55555555u;
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    return ((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

static unsigned slot_of(uint64_t hash, unsigned level) { return (unsigned)(hash >> (level * BITS)) & (WIDTH - 1); }
static unsigned rank_of(uint32_t bitmap, unsigned slot) { return count_bits(bitmap & ((1u << slot) - 1)); }

static unsigned node_size(const PNode *n, unsigned level)
{
    return level >= BOTTOM ? n->used : count_bits(n->used);
}

static PNode *node_alloc(Gen *g, unsigned slots) { return obj_alloc(g, sizeof(PNode) + slots * sizeof(void *)); }

static bool entry_is(const PEntry *e, Slice key, uint64_t hash)
{
    return e->hash == hash && e->key->len == key.len && memcmp(e->key->data, key.data, key.len) == 0;
}

static void entry_unref(Gen *g, const PMapOps *ops, PEntry *e)
{
    if (!obj_unref(g, e))
        return;
    Str *key = e->key;
    ops->release(g, e);
    obj_free(g, e);
    str_unref(g, key);
}

static bool is_leaf(const PNode *n, unsigned level, unsigned slot)
{
    return level >= BOTTOM || (n->leaves >> slot & 1);
}

static void node_unref(Gen *g, const PMapOps *ops, PNode *n, unsigned level)
{
    if (!obj_unref(g, n))
        return;
    if (level >= BOTTOM) {
        for (unsigned i = 0; i < n->used; i++)
            entry_unref(g, ops, n->slot[i]);
    } else {
        unsigned at = 0;
        for (uint32_t bits = n->used; bits; bits &= bits - 1, at++) {
            unsigned slot = (unsigned)__builtin_ctz(bits);
            if (n->leaves >> slot & 1)
                entry_unref(g, ops, n->slot[at]);
            else
                node_unref(g, ops, n->slot[at], level + 1);
        }
    }
    obj_free(g, n);
}

static PEntry *bucket_get(const PNode *n, Slice key, uint64_t hash, unsigned *at)
{
    for (unsigned i = 0; i < n->used; i++)
        if (entry_is(n->slot[i], key, hash)) {
            *at = i;
            return n->slot[i];
        }
    return NULL;
}

PEntry *pmap_get(const PMap *m, Slice key, uint64_t hash)
{
    const PNode *n = m->root;
    for (unsigned level = 0; n; level++) {
        unsigned at;
        if (level >= BOTTOM)
            return bucket_get(n, key, hash, &at);
        unsigned slot = slot_of(hash, level);
        if (!(n->used >> slot & 1))
            return NULL;
        void *v = n->slot[rank_of(n->used, slot)];
        if (n->leaves >> slot & 1)
            return entry_is(v, key, hash) ? v : NULL;
        n = v;
    }
    return NULL;
}

/* A copy of `n` with room for `extra` more slots, each content counted once more. */
static PNode *node_copy(Gen *g, const PNode *n, unsigned level, unsigned extra)
{
    unsigned size = node_size(n, level);
    PNode *copy = node_alloc(g, size + extra);
    if (!copy)
        return NULL;
    copy->used = n->used;
    copy->leaves = n->leaves;
    for (unsigned i = 0; i < size; i++)
        copy->slot[i] = obj_ref(g, n->slot[i]);
    return copy;
}

/* Makes *link a node that may be changed in place. The caller has made everything above it so. */
static PNode *node_own(Gen *g, const PMapOps *ops, PNode **link, unsigned level)
{
    if (obj_mine(g, *link))
        return *link;
    PNode *copy = node_copy(g, *link, level, 0);
    if (!copy)
        return NULL;
    node_unref(g, ops, *link, level);
    return *link = copy;
}

PEntry *pmap_own(Gen *g, PMap *m, const PMapOps *ops, Slice key, uint64_t hash, int *err)
{
    *err = 0;
    if (!pmap_get(m, key, hash))
        return NULL;
    PNode **link = &m->root;
    for (unsigned level = 0;; level++) {
        PNode *n = node_own(g, ops, link, level);
        if (!n) {
            *err = -ENOMEM;
            return NULL;
        }
        unsigned at, slot = 0;
        if (level >= BOTTOM) {
            bucket_get(n, key, hash, &at);
        } else {
            slot = slot_of(hash, level);
            at = rank_of(n->used, slot);
        }
        if (!is_leaf(n, level, slot)) {
            link = (PNode **)&n->slot[at];
            continue;
        }
        PEntry *e = n->slot[at];
        if (obj_mine(g, e))
            return e;
        PEntry *copy = ops->copy(g, e);
        if (!copy) {
            *err = -ENOMEM;
            return NULL;
        }
        copy->hash = e->hash;
        copy->key = obj_ref(g, e->key);
        n->slot[at] = copy;
        entry_unref(g, ops, e);
        return copy;
    }
}

/* `n` (mine) with `content` put in at `at`; NULL leaves n as it was. */
static PNode *node_insert(Gen *g, PNode *n, unsigned size, unsigned at, void *content)
{
    PNode *wider = obj_resize(g, n, sizeof(PNode) + (size + 1) * sizeof(void *));
    if (!wider)
        return NULL;
    memmove(&wider->slot[at + 1], &wider->slot[at], (size - at) * sizeof(void *));
    wider->slot[at] = content;
    return wider;
}

/* Nodes from `level` down that keep both entries apart; takes over neither reference when it fails. */
static PNode *node_pair(Gen *g, PEntry *a, PEntry *b, unsigned level)
{
    if (level >= BOTTOM) {
        PNode *bucket = node_alloc(g, 2);
        if (!bucket)
            return NULL;
        bucket->used = 2;
        bucket->leaves = 0;
        bucket->slot[0] = a;
        bucket->slot[1] = b;
        return bucket;
    }
    unsigned sa = slot_of(a->hash, level), sb = slot_of(b->hash, level);
    PNode *n = node_alloc(g, sa == sb ? 1 : 2);
    if (!n)
        return NULL;
    if (sa == sb) {
        PNode *below = node_pair(g, a, b, level + 1);
        if (!below) {
            obj_free(g, n);
            return NULL;
        }
        n->used = 1u << sa;
        n->leaves = 0;
        n->slot[0] = below;
        return n;
    }
    n->used = n->leaves = 1u << sa | 1u << sb;
    n->slot[sa < sb ? 0 : 1] = a;
    n->slot[sa < sb ? 1 : 0] = b;
    return n;
}

static int put_first(Gen *g, PMap *m, PEntry *e)
{
    PNode *n = node_alloc(g, 1);
    if (!n)
        return -ENOMEM;
    n->used = n->leaves = 1u << slot_of(e->hash, 0);
    n->slot[0] = e;
    m->root = n;
    m->count = 1;
    return 0;
}

/* On -ENOMEM nothing but ownership of shared nodes has changed. */
static int put(Gen *g, PMap *m, const PMapOps *ops, PEntry *e)
{
    PNode **link = &m->root;
    for (unsigned level = 0;; level++) {
        PNode *n = node_own(g, ops, link, level);
        if (!n)
            return -ENOMEM;
        unsigned at = 0, slot = level < BOTTOM ? slot_of(e->hash, level) : 0;
        bool present;
        if (level >= BOTTOM) {
            present = bucket_get(n, str_slice(e->key), e->hash, &at) != NULL;
            if (!present)
                at = n->used;
        } else {
            present = n->used >> slot & 1;
            at = rank_of(n->used, slot);
        }
        if (!present) {
            PNode *wider = node_insert(g, n, node_size(n, level), at, e);
            if (!wider)
                return -ENOMEM;
            if (level >= BOTTOM)
                wider->used++;
            else
                wider->used |= 1u << slot, wider->leaves |= 1u << slot;
            *link = wider;
            m->count++;
            return 0;
        }
        if (!is_leaf(n, level, slot)) {
            link = (PNode **)&n->slot[at];
            continue;
        }
        PEntry *old = n->slot[at];
        if (entry_is(old, str_slice(e->key), e->hash)) {
            n->slot[at] = e;
            entry_unref(g, ops, old);
            return 0;
        }
        PNode *below = node_pair(g, old, e, level + 1);
        if (!below)
            return -ENOMEM;
        n->slot[at] = below;
        n->leaves &= ~(1u << slot);
        m->count++;
        return 0;
    }
}

int pmap_put(Gen *g, PMap *m, const PMapOps *ops, PEntry *e)
{
    int err = m->root ? put(g, m, ops, e) : put_first(g, m, e);
    if (err)
        entry_unref(g, ops, e);
    return err;
}

int pmap_remove(Gen *g, PMap *m, const PMapOps *ops, Slice key, uint64_t hash)
{
    if (!pmap_get(m, key, hash))
        return -ENOENT;
    PNode **path[BOTTOM + 1];
    PNode **link = &m->root;
    unsigned level = 0;
    for (;; level++) {
        path[level] = link;
        PNode *n = node_own(g, ops, link, level);
        if (!n)
            return -ENOMEM;
        unsigned at = 0, slot = level < BOTTOM ? slot_of(hash, level) : 0;
        if (level >= BOTTOM)
            bucket_get(n, key, hash, &at);
        else
            at = rank_of(n->used, slot);
        if (!is_leaf(n, level, slot)) {
            link = (PNode **)&n->slot[at];
            continue;
        }
        PEntry *old = n->slot[at];
        unsigned size = node_size(n, level);
        memmove(&n->slot[at], &n->slot[at + 1], (size - at - 1) * sizeof(void *));
        if (level >= BOTTOM)
            n->used--;
        else
            n->used &= ~(1u << slot), n->leaves &= ~(1u << slot);
        entry_unref(g, ops, old);
        m->count--;
        break;
    }
    /* Empty nodes go, up to the root. */
    while ((*path[level])->used == 0) {
        obj_free(g, *path[level]);
        *path[level] = NULL;
        if (level-- == 0)
            break;
        PNode *n = *path[level];
        unsigned slot = slot_of(hash, level), at = rank_of(n->used, slot);
        unsigned size = node_size(n, level);
        memmove(&n->slot[at], &n->slot[at + 1], (size - at - 1) * sizeof(void *));
        n->used &= ~(1u << slot);
    }
    return 0;
}

PMap pmap_clone(Gen *g, PMap m)
{
    if (m.root)
        obj_ref(g, m.root);
    return m;
}

void pmap_drop(Gen *g, PMap *m, const PMapOps *ops)
{
    if (m->root)
        node_unref(g, ops, m->root, 0);
    *m = (PMap){NULL, 0};
}

static int node_each(const PNode *n, unsigned level, int (*fn)(void *, PEntry *), void *user)
{
    unsigned at = 0;
    if (level >= BOTTOM) {
        for (unsigned i = 0; i < n->used; i++) {
            int r = fn(user, n->slot[i]);
            if (r)
                return r;
        }
        return 0;
    }
    for (uint32_t bits = n->used; bits; bits &= bits - 1, at++) {
        unsigned slot = (unsigned)__builtin_ctz(bits);
        int r = n->leaves >> slot & 1 ? fn(user, n->slot[at]) : node_each(n->slot[at], level + 1, fn, user);
        if (r)
            return r;
    }
    return 0;
}

int pmap_each(const PMap *m, int (*fn)(void *user, PEntry *e), void *user)
{
    return m->root ? node_each(m->root, 0, fn, user) : 0;
}
