/* A persistent hash map from byte strings to counted entries (a hash array mapped trie).
 *
 * Cloning is one count; a change copies the path to it, or happens in place where the path is held
 * once (obj.h). Holds variables, functions, aliases, the command hash. Iteration order is the trie's and
 * is never shown: callers sort or number their entries.
 *
 * Entries begin with PEntry. The map holds one reference to each; `ops` tells how to copy and release
 * them. Failure is -ENOMEM and leaves the map as it was. Hashes are hash_bytes(key).
 */
#ifndef LIBSHELL_PMAP_H
#define LIBSHELL_PMAP_H

#include "obj.h"

typedef struct PEntry {
    Obj obj;
    uint64_t hash;
    Str *key; /* one reference is the entry's */
} PEntry;

typedef struct PMapOps {
    /* A copy of `e` with one reference, in generation g, holding its own references. NULL: no memory. */
    PEntry *(*copy)(Gen *g, const PEntry *e);
    /* Releases what `e` holds besides its key, which the map releases. */
    void (*release)(Gen *g, PEntry *e);
} PMapOps;

typedef struct PNode PNode;

typedef struct PMap {
    PNode *root; /* NULL when empty */
    size_t count;
} PMap;

PEntry *pmap_get(const PMap *m, Slice key, uint64_t hash);
/* The entry for `key`, made exclusively the caller's to change (copied if it was shared), or NULL with
 * *err 0 (absent) or -ENOMEM. */
PEntry *pmap_own(Gen *g, PMap *m, const PMapOps *ops, Slice key, uint64_t hash, int *err);
/* Adds or replaces; takes over the caller's reference to `e`, also when it fails. */
int pmap_put(Gen *g, PMap *m, const PMapOps *ops, PEntry *e);
/* 0, -ENOENT, -ENOMEM */
int pmap_remove(Gen *g, PMap *m, const PMapOps *ops, Slice key, uint64_t hash);
PMap pmap_clone(Gen *g, PMap m);
void pmap_drop(Gen *g, PMap *m, const PMapOps *ops);
/* Calls fn for each entry until it returns nonzero, which is returned. The map must not change meanwhile. */
int pmap_each(const PMap *m, int (*fn)(void *user, PEntry *e), void *user);

#endif
