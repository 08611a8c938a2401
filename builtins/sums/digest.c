/* digest: the types, and digests in progress: ours or the crypto component's. */
#include "sums.h"

const SumType sum_types[] = {
    {"bsd", "BSD", SUM_BSD, 0},         {"sysv", "SYSV", SUM_SYSV, 0},        {"crc", "CRC", SUM_CRC, 0},
    {"md5", "MD5", SUM_DIGEST, 16},     {"sha1", "SHA1", SUM_DIGEST, 20},     {"sha224", "SHA224", SUM_DIGEST, 28},
    {"sha256", "SHA256", SUM_DIGEST, 32}, {"sha384", "SHA384", SUM_DIGEST, 48}, {"sha512", "SHA512", SUM_DIGEST, 64},
    {"blake2b", "BLAKE2b", SUM_BLAKE2B, 64}, {"sm3", "SM3", SUM_DIGEST, 32},  {NULL, NULL, SUM_BSD, 0},
};

const SumType *sum_type(const char *name)
{
    for (const SumType *t = sum_types; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

struct Sum {
    Proc *p;
    const CryptoComponent *crypto; /* NULL: blake2b */
    void *digest;
    Blake2b blake2b;
};

static void release(Proc *p, void *thing)
{
    (void)p;
    Sum *s = thing;
    s->crypto->digest_free(s->digest);
}

Sum *sum_new(Proc *p, const SumType *type, size_t bytes)
{
    Sum *s = mem_new(&p->keep, Sum);
    s->p = p;
    if (type->kind == SUM_BLAKE2B) {
        blake2b_init(&s->blake2b, bytes);
        return s;
    }
    s->crypto = NEED_COMPONENT(p, "crypto", CryptoComponent);
    s->digest = s->crypto->digest_new(type->name);
    if (!s->digest)
        die_errno(p, 1, ENOMEM, "%s", type->tag);
    proc_own(p, release, s);
    return s;
}

void sum_update(Sum *s, Slice data)
{
    if (!s->crypto)
        blake2b_update(&s->blake2b, data.data, data.len);
    else if (!s->crypto->digest_update(s->digest, data.data, data.len))
        die_errno(s->p, 1, ENOMEM, "digest");
}

void sum_final(Sum *s, unsigned char out[SUM_MOST])
{
    if (!s->crypto)
        blake2b_final(&s->blake2b, out);
    else if (!s->crypto->digest_final(s->digest, out))
        die_errno(s->p, 1, ENOMEM, "digest");
}
