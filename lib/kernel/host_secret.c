/* host_secret: memory for secrets. Kept out of core dumps and, where the host allows, out of swap; wiped when the last holder leaves. */
#include <stdatomic.h>
#include <sys/mman.h>

#include "lib/kernel/net.h"

struct Secret {
    size_t mapped, len;
    _Atomic uint32_t holders;
    char bytes[];
};

Secret *secret_new(Slice bytes)
{
    size_t n;
    if (!size_add(bytes.len, sizeof(Secret) + 4096, &n))
        return NULL;
    n &= ~(size_t)4095;
    void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, n, MADV_DONTDUMP);
    mlock(at, n);
    Secret *s = at;
    s->mapped = n;
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
    size_t n = s->mapped;
    explicit_bzero(s->bytes, s->len);
    munmap(s, n);
}
