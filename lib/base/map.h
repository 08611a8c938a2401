/* An insertion-ordered hash map from byte strings to pointers, in a context.
 *
 * For a command's own tables (uniq -c, awk-like counts, options): open addressing over a dense
 * entry vector, seeded hash. Iterate with `for (size_t i = 0; i < m.count; i++) m.entries[i]`, skipping
 * entries whose key.data is NULL (removed). Memory goes with the context.
 */
#ifndef LIBSHELL_MAP_H
#define LIBSHELL_MAP_H

#include "mem.h"

typedef struct {
    Slice key; /* copied into the context; NUL-terminated */
    uint64_t hash;
    void *value;
} MapEntry;

typedef struct Map {
    Mem *mem;
    MapEntry *entries;
    uint32_t *index; /* entry number + 1, or 0 */
    size_t count, cap, buckets, live;
} Map;

void map_init(Map *m, Mem *mem);
MapEntry *map_get(const Map *m, Slice key);
/* The entry for key, made with value NULL if absent; NULL when out of memory. */
MapEntry *map_put(Map *m, Slice key);
bool map_remove(Map *m, Slice key);

#endif
