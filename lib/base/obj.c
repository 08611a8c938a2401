/* obj: counted objects and generations.
 *
 * A generation allocates small objects from slabs by size class and keeps large ones in a list, so that all of it can be freed
 * without walking what it holds. In debug mode (LIBSHELL_MEM_DEBUG) every object is large, and ASan sees each.
 */
#include "obj.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { UNIT = 16, SMALL_UNITS = 32 /* 512 bytes */, FIRST_SLAB = 1024, LARGEST_SLAB = 64 * 1024 };

typedef struct Slab {
    struct Slab *next;
    size_t size;
} Slab;

typedef struct Large {
    struct Large *prev, *next;
} Large; /* in front of the object; 16 bytes */

typedef struct Free {
    struct Free *next;
} Free;

struct Gen {
    _Atomic uint32_t holders;
    bool retired;
    Gen *parent;
    Budget *memory, *files;
    uint64_t memory_bytes, file_bytes; /* charged */
    uint64_t made;                     /* objects ever made */
    char *at, *end;                    /* the newest slab's free window */
    size_t next_slab;
    Slab *slabs;
    Large large;                       /* ring */
    Hold holds;                        /* ring */
    Free *free[SMALL_UNITS + 1];
};

Gen *gen_new(Budget *memory, Budget *files, Gen *parent)
{
    Gen *g = malloc(sizeof *g);
    if (!g)
        return NULL;
    memset(g, 0, sizeof *g);
    atomic_init(&g->holders, 1);
    g->parent = parent ? gen_ref(parent) : NULL;
    g->memory = memory;
    g->files = files;
    g->next_slab = FIRST_SLAB;
    g->large.prev = g->large.next = &g->large;
    g->holds.prev = g->holds.next = &g->holds;
    return g;
}

Gen *gen_ref(Gen *g)
{
    atomic_fetch_add_explicit(&g->holders, 1, memory_order_relaxed);
    return g;
}

static void give(Budget *b, uint64_t n)
{
    if (b)
        budget_give(b, n);
}

static void gen_free(Gen *g)
{
    give(g->memory, g->memory_bytes);
    give(g->files, g->file_bytes);
    for (Hold *h = g->holds.next; h != &g->holds;) {
        Hold *next = h->next;
        h->release(h->thing);
        h = next;
    }
    for (Large *l = g->large.next; l != &g->large;) {
        Large *next = l->next;
        free(l);
        l = next;
    }
    for (Slab *s = g->slabs; s;) {
        Slab *next = s->next;
        free(s);
        s = next;
    }
    free(g);
}

/* A loop, not a recursion: a chain of forks may be long. */
void gen_unref(Gen *g)
{
    while (g && atomic_fetch_sub_explicit(&g->holders, 1, memory_order_acq_rel) == 1) {
        Gen *parent = g->parent;
        gen_free(g);
        g = parent;
    }
}

void gen_retire(Gen *g)
{
    give(g->memory, g->memory_bytes);
    give(g->files, g->file_bytes);
    g->memory = g->files = NULL;
    g->retired = true;
}

bool gen_clean(const Gen *g) { return g->made == 0; }
Gen *gen_parent(const Gen *g) { return g->parent; }
Budget *gen_memory(const Gen *g) { return g->memory; }

/* ---- allocation ---- */

static bool units_of(size_t size, uint32_t *units)
{
    size_t n = size / UNIT + (size % UNIT != 0);
    *units = (uint32_t)n;
    return n <= UINT32_MAX;
}

static bool is_small(uint32_t units)
{
#ifdef LIBSHELL_MEM_DEBUG
    (void)units;
    return false;
#else
    return units <= SMALL_UNITS;
#endif
}

static void *small_alloc(Gen *g, uint32_t units)
{
    Free *f = g->free[units];
    if (f) {
        g->free[units] = f->next;
        return f;
    }
    size_t size = (size_t)units * UNIT;
    if ((size_t)(g->end - g->at) < size) {
        Slab *slab = malloc(g->next_slab);
        if (!slab)
            return NULL;
        *slab = (Slab){g->slabs, g->next_slab};
        g->slabs = slab;
        g->at = (char *)slab + sizeof(Slab);
        g->end = (char *)slab + g->next_slab;
        if (g->next_slab < LARGEST_SLAB)
            g->next_slab *= 2;
    }
    void *p = g->at;
    g->at += size;
    return p;
}

static void large_link(Gen *g, Large *l)
{
    l->next = g->large.next;
    l->prev = &g->large;
    l->next->prev = l;
    g->large.next = l;
}

static void large_unlink(Large *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
}

static void *large_alloc(Gen *g, size_t size)
{
    size_t whole;
    Large *l = size_add(size, sizeof(Large), &whole) ? malloc(whole) : NULL;
    if (!l)
        return NULL;
    large_link(g, l);
    return l + 1;
}

/* One ledger's view of an allocation: chunks charge the files, everything else the memory. */
typedef struct {
    Budget *budget;
    uint64_t *charged;
} Ledger;

static Ledger memory_ledger(Gen *g) { return (Ledger){g->memory, &g->memory_bytes}; }
static Ledger files_ledger(Gen *g) { return (Ledger){g->files, &g->file_bytes}; }

static bool charge(Ledger l, size_t n)
{
    if (l.budget && !budget_take(l.budget, n))
        return false;
    *l.charged += n;
    return true;
}

static void discharge(Ledger l, size_t n)
{
    give(l.budget, n);
    *l.charged -= n;
}

static void *alloc_in(Gen *g, Ledger ledger, size_t size)
{
    uint32_t units;
    if (!units_of(size, &units))
        return NULL;
    size_t rounded = (size_t)units * UNIT;
    if (!charge(ledger, rounded))
        return NULL;
    Obj *o = is_small(units) ? small_alloc(g, units) : large_alloc(g, size);
    if (!o) {
        discharge(ledger, rounded);
        return NULL;
    }
    *o = (Obj){.gen = g, .refs = 1, .units = units};
    g->made++;
    return o;
}

static void free_in(Gen *g, Ledger ledger, Obj *o)
{
    uint32_t units = o->units;
    discharge(ledger, (size_t)units * UNIT);
    if (is_small(units)) {
        Free *f = (Free *)(void *)o;
        f->next = g->free[units];
        g->free[units] = f;
    } else {
        Large *l = (Large *)(void *)o - 1;
        large_unlink(l);
        free(l);
    }
}

static void *resize_in(Gen *g, Ledger ledger, Obj *o, size_t size)
{
    uint32_t units;
    size_t whole;
    if (!units_of(size, &units) || !size_add(size, sizeof(Large), &whole))
        return NULL;
    if (is_small(units) && units == o->units)
        return o;
    if (is_small(units) || is_small(o->units)) {
        void *moved = alloc_in(g, ledger, size);
        if (!moved)
            return NULL;
        uint32_t kept = ((Obj *)moved)->units;
        size_t old_size = (size_t)o->units * UNIT;
        memcpy(moved, o, MIN(size, old_size));
        ((Obj *)moved)->units = kept;
        free_in(g, ledger, o);
        return moved;
    }
    size_t before = (size_t)o->units * UNIT, after = (size_t)units * UNIT;
    if (after > before && !charge(ledger, after - before))
        return NULL;
    Large *l = (Large *)(void *)o - 1;
    large_unlink(l);
    Large *moved = realloc(l, whole);
    large_link(g, moved ? moved : l);
    if (!moved) {
        if (after > before)
            discharge(ledger, after - before);
        return NULL;
    }
    if (after < before)
        discharge(ledger, before - after);
    o = (Obj *)(void *)(moved + 1);
    o->units = units;
    return o;
}

void *obj_alloc(Gen *g, size_t size) { return alloc_in(g, memory_ledger(g), size); }
void *obj_resize(Gen *g, void *obj, size_t size) { return resize_in(g, memory_ledger(g), obj, size); }
void obj_free(Gen *g, void *obj) { free_in(g, memory_ledger(g), obj); }

/* ---- holds ---- */

Hold *hold_new(Gen *g, void (*release)(void *thing), void *thing)
{
    Hold *h = obj_alloc(g, sizeof *h);
    if (!h)
        return NULL;
    h->release = release;
    h->thing = thing;
    h->next = g->holds.next;
    h->prev = &g->holds;
    h->next->prev = h;
    g->holds.next = h;
    return h;
}

void hold_unref(Gen *g, Hold *h)
{
    if (!h || !obj_unref(g, h))
        return;
    h->prev->next = h->next;
    h->next->prev = h->prev;
    h->release(h->thing);
    obj_free(g, h);
}

/* ---- strings and chunks ---- */

Str *str_new(Gen *g, Slice s)
{
    size_t size;
    if (!size_add(sizeof(Str) + 1, s.len, &size))
        return NULL;
    Str *str = obj_alloc(g, size);
    if (!str)
        return NULL;
    str->len = str->cap = s.len;
    if (s.len)
        memcpy(str->data, s.data, s.len);
    str->data[s.len] = 0;
    return str;
}

static Str *str_grown(Gen *g, Str *old, size_t len)
{
    size_t cap, size;
    if (!size_add(len, len / 2 + 16, &cap) || !size_add(sizeof(Str) + 1, cap, &size))
        return NULL;
    Str *s;
    if (obj_mine(g, old)) {
        s = obj_resize(g, old, size);
    } else if ((s = obj_alloc(g, size))) {
        memcpy(s->data, old->data, old->len + 1);
        s->len = old->len;
        str_unref(g, old);
    }
    if (s)
        s->cap = cap;
    return s;
}

int str_append(Gen *g, Str **s, Slice more)
{
    Str *str = *s;
    size_t len;
    if (!size_add(str->len, more.len, &len))
        return -ENOMEM;
    if (!obj_mine(g, str) || len > str->cap) {
        /* `more` may lie inside the string that is about to move. */
        bool inside = more.data >= str->data && more.data <= str->data + str->len;
        size_t offset = inside ? (size_t)(more.data - str->data) : 0;
        str = str_grown(g, str, len);
        if (!str)
            return -ENOMEM;
        if (inside)
            more.data = str->data + offset;
        *s = str;
    }
    if (more.len)
        memmove(str->data + str->len, more.data, more.len);
    str->len = len;
    str->data[len] = 0;
    return 0;
}

Chunk *chunk_new(Gen *g, size_t cap)
{
    size_t size;
    if (!size_add(sizeof(Chunk), cap, &size))
        return NULL;
    Chunk *c = alloc_in(g, files_ledger(g), size);
    if (c)
        c->cap = cap;
    return c;
}

Chunk *chunk_resize(Gen *g, Chunk *c, size_t cap)
{
    size_t size;
    if (!size_add(sizeof(Chunk), cap, &size))
        return NULL;
    Chunk *moved = resize_in(g, files_ledger(g), &c->obj, size);
    if (moved)
        moved->cap = cap;
    return moved;
}

void chunk_unref(Gen *g, Chunk *c)
{
    if (c && obj_unref(g, c))
        free_in(g, files_ledger(g), &c->obj);
}
