/* crc: the CRC of POSIX cksum, sixteen bytes at a time. */
#include "sums.h"

enum { SLICES = 16, POLYNOMIAL = 0x04c11db7 };

uint32_t *crc_tables(Proc *p)
{
    uint32_t *t = mem_array(&p->keep, SLICES * 256, uint32_t);
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i << 24;
        for (int k = 0; k < 8; k++)
            c = c << 1 ^ (c >> 31 ? POLYNOMIAL : 0u);
        t[i] = c;
    }
    for (size_t i = 256; i < SLICES * 256; i++)
        t[i] = t[i - 256] << 8 ^ t[t[i - 256] >> 24];
    return t;
}

uint32_t crc_update(const uint32_t *t, uint32_t crc, Slice data)
{
    const unsigned char *s = (const unsigned char *)data.data, *end = s + data.len;
    for (; end - s >= SLICES; s += SLICES) {
        uint32_t next = t[15 * 256 + (s[0] ^ crc >> 24)] ^ t[14 * 256 + (s[1] ^ (crc >> 16 & 255))] ^ t[13 * 256 + (s[2] ^ (crc >> 8 & 255))] ^
                        t[12 * 256 + (s[3] ^ (crc & 255))];
        for (unsigned i = 4; i < SLICES; i++)
            next ^= t[(SLICES - 1 - i) * 256 + s[i]];
        crc = next;
    }
    for (; s < end; s++)
        crc = crc << 8 ^ t[crc >> 24 ^ *s];
    return crc;
}

/* The length follows the data, lowest byte first and without leading zeros. */
uint32_t crc_finish(const uint32_t *t, uint32_t crc, uint64_t length)
{
    for (; length; length >>= 8)
        crc = crc << 8 ^ t[crc >> 24 ^ (length & 255)];
    return ~crc;
}
