/* host_secret: memory for secrets. Kept out of core dumps and, where the host allows, out of swap; wiped when the last holder leaves. */
#include <stdatomic.h>
#include <sys/mman.h>

#include "lib/kernel/net.h"

struct Secret {
    size_t mapped; /* 0: a place in a pool */
    size_t len;
    _Atomic uint32_t holders;
    char bytes[];
};

static void *map(size_t n)
{
    void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, n, MADV_DONTDUMP);
    mlock(at, n);
    return at;
}

/* Most secrets are short, and a mapping for each would make a shell with a credential many times as dear as one without: they share pools, which
 * stay until the process ends. Without a lock, so that a host may fork at any time. */
enum { POOL = 4096, PLACE = 256, PLACES = POOL / PLACE - 1 };

typedef struct Pool {
    struct Pool *next;
    _Atomic uint32_t used; /* a bit a place */
    _Alignas(PLACE) char places[PLACES][PLACE];
} Pool;

static Pool *_Atomic pools;

static void *take_place(Pool *pool)
{
    uint32_t used = atomic_load(&pool->used);
    for (uint32_t i = 0; i < PLACES; i++)
        while (!(used >> i & 1))
            if (atomic_compare_exchange_weak(&pool->used, &used, used | UINT32_C(1) << i))
                return pool->places[i];
    return NULL;
}

static void *take(void)
{
    for (Pool *p = atomic_load(&pools); p; p = p->next) {
        void *place = take_place(p);
        if (place)
            return place;
    }
    Pool *p = map(sizeof *p);
    if (!p)
        return NULL;
    atomic_store(&p->used, 1);
    p->next = atomic_load(&pools);
    while (!atomic_compare_exchange_weak(&pools, &p->next, p))
        ;
    return p->places[0];
}

static void give_back(void *place)
{
    Pool *p = (Pool *)((uintptr_t)place & ~(uintptr_t)(POOL - 1));
    size_t i = (size_t)((char *)place - p->places[0]) / PLACE;
    atomic_fetch_and(&p->used, ~(UINT32_C(1) << i));
}

Secret *secret_new(Slice bytes)
{
    size_t n;
    if (!size_add(bytes.len, sizeof(Secret), &n) || n > SIZE_MAX - 4096)
        return NULL;
    size_t whole = n <= PLACE ? 0 : (n + 4095) & ~(size_t)4095;
    Secret *s = whole ? map(whole) : take();
    if (!s)
        return NULL;
    s->mapped = whole;
    s->len = bytes.len;
    atomic_store(&s->holders, 1);
    if (bytes.len)
        memcpy(s->bytes, bytes.data, bytes.len);
    return s;
}

Slice secret_bytes(const Secret *s) { return slice(s->bytes, s->len); }

Secret *secret_ref(Secret *s)
{
    if (s)
        atomic_fetch_add(&s->holders, 1);
    return s;
}

void secret_unref(Secret *s)
{
    if (!s || atomic_fetch_sub(&s->holders, 1) != 1)
        return;
    explicit_bzero(s->bytes, s->len);
    if (s->mapped)
        munmap(s, s->mapped);
    else
        give_back(s);
}
