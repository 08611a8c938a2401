/* recache: the compiled patterns of a shell, four to a set, the least recently used of a set replaced.
 *
 * What a pattern weighed when it came in is charged to the budget until it goes; code that is JIT-compiled later is not.
 */
#include <stdlib.h>

#include "regex.h"

enum { WAYS = 4 };

typedef struct {
    uint64_t hash, used;
    Re *re; /* NULL: empty */
    char *pattern;
    size_t len, charged;
    ReSyntax syntax;
    unsigned flags;
} Slot;

struct ReCache {
    Budget *budget;
    size_t sets;
    uint64_t clock;
    Slot slots[];
};

ReCache *re_cache_new(Budget *budget, size_t entries)
{
    size_t sets = 1, size;
    while (sets * WAYS < entries && sets < 1 << 16)
        sets *= 2;
    size = sizeof(ReCache) + sets * WAYS * sizeof(Slot);
    if (budget && !budget_take(budget, size))
        return NULL;
    ReCache *cache = calloc(1, size);
    if (!cache) {
        if (budget)
            budget_give(budget, size);
        return NULL;
    }
    cache->budget = budget;
    cache->sets = sets;
    return cache;
}

static void slot_clear(ReCache *cache, Slot *slot)
{
    if (cache->budget)
        budget_give(cache->budget, slot->charged);
    re_unref(slot->re);
    free(slot->pattern);
    *slot = (Slot){.re = NULL};
}

void re_cache_free(ReCache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->sets * WAYS; i++)
        if (cache->slots[i].re)
            slot_clear(cache, &cache->slots[i]);
    if (cache->budget)
        budget_give(cache->budget, sizeof *cache + cache->sets * WAYS * sizeof(Slot));
    free(cache);
}

/* Keeps a reference to `re` where there is memory for it; where there is not, it is simply not cached. */
static void slot_fill(ReCache *cache, Slot *slot, uint64_t hash, Slice pattern, ReSyntax syntax, unsigned flags, Re *re)
{
    size_t weight;
    if (!size_add(re_bytes(re), pattern.len, &weight) || (cache->budget && !budget_take(cache->budget, weight)))
        return;
    char *copy = malloc(pattern.len + 1);
    if (!copy) {
        if (cache->budget)
            budget_give(cache->budget, weight);
        return;
    }
    if (pattern.len)
        memcpy(copy, pattern.data, pattern.len);
    *slot = (Slot){hash, ++cache->clock, re_ref(re), copy, pattern.len, weight, syntax, flags};
}

Re *re_cached(ReCache *cache, Mem *mem, Slice pattern, ReSyntax syntax, unsigned flags, ReError *err)
{
    uint64_t hash = hash_bytes(pattern) ^ ((uint64_t)flags << 8 | (uint64_t)syntax) * 0x9E3779B97F4A7C15u;
    Slot *set = &cache->slots[(hash & (cache->sets - 1)) * WAYS], *oldest = set;
    for (Slot *slot = set; slot < set + WAYS; slot++) {
        if (slot->re && slot->hash == hash && slot->syntax == syntax && slot->flags == flags
            && slice_eq(slice(slot->pattern, slot->len), pattern)) {
            slot->used = ++cache->clock;
            return re_ref(slot->re);
        }
        if (slot->used < oldest->used)
            oldest = slot;
    }
    Re *re = re_compile(cache->budget, mem, &pattern, 1, syntax, flags, err);
    if (!re)
        return NULL;
    if (oldest->re)
        slot_clear(cache, oldest);
    slot_fill(cache, oldest, hash, pattern, syntax, flags, re);
    return re;
}
