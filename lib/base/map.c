/* map: insertion-ordered hash map in a context. Linear probing over entry numbers, at most half full. */
#include "map.h"

void map_init(Map *m, Mem *mem) { *m = (Map){.mem = mem}; }

static size_t bucket_of(const Map *m, Slice key, uint64_t hash)
{
    size_t at = (size_t)hash & (m->buckets - 1);
    for (; m->index[at]; at = (at + 1) & (m->buckets - 1)) {
        const MapEntry *e = &m->entries[m->index[at] - 1];
        if (e->hash == hash && e->key.data && slice_eq(e->key, key))
            break;
    }
    return at;
}

MapEntry *map_get(const Map *m, Slice key)
{
    if (!m->buckets)
        return NULL;
    size_t at = bucket_of(m, key, hash_bytes(key));
    return m->index[at] ? &m->entries[m->index[at] - 1] : NULL;
}

/* Removed entries keep their number (and their place in probe sequences) until the next growth. */
static bool map_widen(Map *m)
{
    size_t cap = m->cap ? m->cap * 2 : 8;
    if (cap > UINT32_MAX / 4)
        return false;
    MapEntry *entries = mem_array(m->mem, cap, MapEntry);
    uint32_t *index = mem_array(m->mem, cap * 2, uint32_t);
    if (!entries || !index)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < m->count; i++)
        if (m->entries[i].key.data)
            entries[count++] = m->entries[i];
    m->entries = entries;
    m->index = index;
    m->count = count;
    m->cap = cap;
    m->buckets = cap * 2;
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)entries[i].hash & (m->buckets - 1);
        while (index[at])
            at = (at + 1) & (m->buckets - 1);
        index[at] = (uint32_t)i + 1;
    }
    return true;
}

MapEntry *map_put(Map *m, Slice key)
{
    if (m->count == m->cap && !map_widen(m))
        return NULL;
    uint64_t hash = hash_bytes(key);
    size_t at = bucket_of(m, key, hash);
    if (m->index[at])
        return &m->entries[m->index[at] - 1];
    char *copy = mem_copy(m->mem, key);
    if (!copy)
        return NULL;
    MapEntry *e = &m->entries[m->count++];
    *e = (MapEntry){.key = {copy, key.len}, .hash = hash};
    m->index[at] = (uint32_t)m->count;
    m->live++;
    return e;
}

bool map_remove(Map *m, Slice key)
{
    MapEntry *e = map_get(m, key);
    if (!e)
        return false;
    *e = (MapEntry){.hash = e->hash};
    m->live--;
    return true;
}
