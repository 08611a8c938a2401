/* hash: the process's seed and the hash of bytes under it. */
#include <stdatomic.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base.h"
#include "host.h"

static _Atomic uint64_t seed_value; /* 0: not made yet */

static uint64_t seed_make(void)
{
    uint64_t seed;
    host_entropy(&seed, sizeof seed);
    seed |= 1; /* never 0 */
    uint64_t none = 0;
    return atomic_compare_exchange_strong(&seed_value, &none, seed) ? seed : none;
}

uint64_t hash_seed(void)
{
    uint64_t seed = atomic_load_explicit(&seed_value, memory_order_relaxed);
    return likely(seed != 0) ? seed : seed_make();
}

uint64_t hash_bytes(Slice s) { return XXH3_64bits_withSeed(s.data ? s.data : "", s.len, hash_seed()); }
