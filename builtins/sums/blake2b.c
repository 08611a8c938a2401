/* blake2b: RFC 7693, unkeyed, of any length from 1 to 64 bytes. */
#include "sums.h"

static const uint64_t initial[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

static const uint8_t sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t rotate(uint64_t x, unsigned n) { return x >> n | x << (64 - n); }

#define MIX(a, b, c, d, x, y)                       \
    do {                                            \
        v[a] += v[b] + (x);                         \
        v[d] = rotate(v[d] ^ v[a], 32);             \
        v[c] += v[d];                               \
        v[b] = rotate(v[b] ^ v[c], 24);             \
        v[a] += v[b] + (y);                         \
        v[d] = rotate(v[d] ^ v[a], 16);             \
        v[c] += v[d];                               \
        v[b] = rotate(v[b] ^ v[c], 63);             \
    } while (0)

static uint64_t load(const unsigned char *s)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < 8; i++)
        x |= (uint64_t)s[i] << 8 * i;
    return x;
}

static void compress(Blake2b *b, const unsigned char *block, size_t n, bool last)
{
    uint64_t v[16], m[16];
    b->count[0] += n;
    b->count[1] += b->count[0] < n;
    for (unsigned i = 0; i < 8; i++) {
        v[i] = b->h[i];
        v[i + 8] = initial[i];
    }
    v[12] ^= b->count[0];
    v[13] ^= b->count[1];
    v[14] ^= last ? ~0ull : 0;
    for (unsigned i = 0; i < 16; i++)
        m[i] = load(block + 8 * i);
    for (unsigned round = 0; round < 12; round++) {
        const uint8_t *s = sigma[round % 10];
        MIX(0, 4, 8, 12, m[s[0]], m[s[1]]);
        MIX(1, 5, 9, 13, m[s[2]], m[s[3]]);
        MIX(2, 6, 10, 14, m[s[4]], m[s[5]]);
        MIX(3, 7, 11, 15, m[s[6]], m[s[7]]);
        MIX(0, 5, 10, 15, m[s[8]], m[s[9]]);
        MIX(1, 6, 11, 12, m[s[10]], m[s[11]]);
        MIX(2, 7, 8, 13, m[s[12]], m[s[13]]);
        MIX(3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (unsigned i = 0; i < 8; i++)
        b->h[i] ^= v[i] ^ v[i + 8];
}

void blake2b_init(Blake2b *b, size_t bytes)
{
    *b = (Blake2b){.bytes = bytes};
    memcpy(b->h, initial, sizeof b->h);
    b->h[0] ^= 0x01010000u ^ bytes; /* fan-out 1, depth 1, no key */
}

/* A full block waits until it is known not to be the last. */
void blake2b_update(Blake2b *b, const void *data, size_t n)
{
    const unsigned char *s = data;
    while (n) {
        if (b->used == sizeof b->block) {
            compress(b, b->block, b->used, false);
            b->used = 0;
        }
        for (; b->used == 0 && n > sizeof b->block; s += sizeof b->block, n -= sizeof b->block)
            compress(b, s, sizeof b->block, false);
        size_t take = MIN(n, sizeof b->block - b->used);
        memcpy(b->block + b->used, s, take);
        b->used += take;
        s += take;
        n -= take;
    }
}

void blake2b_final(Blake2b *b, unsigned char *out)
{
    memset(b->block + b->used, 0, sizeof b->block - b->used);
    compress(b, b->block, b->used, true);
    for (size_t i = 0; i < b->bytes; i++)
        out[i] = (unsigned char)(b->h[i / 8] >> 8 * (i % 8));
    blake2b_init(b, b->bytes);
}
