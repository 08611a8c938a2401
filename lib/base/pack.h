/* pack: numbers and bytes in one order on every machine, written behind one another and read back with every length checked.
 *
 * Reading never fails loudly: the first thing that does not fit sets `bad`, and all that follows is zero. */
#ifndef LIBSHELL_PACK_H
#define LIBSHELL_PACK_H

#include "mem.h"

static inline void pack_number(Buf *b, uint64_t v, unsigned bytes)
{
    char out[8];
    for (unsigned n = 0; n < bytes; n++)
        out[n] = (char)(v >> (8 * n) & 255);
    buf_append(b, (Slice){out, bytes});
}
static inline void pack_u8(Buf *b, unsigned v) { pack_number(b, v, 1); }
static inline void pack_u32(Buf *b, uint32_t v) { pack_number(b, v, 4); }
static inline void pack_u64(Buf *b, uint64_t v) { pack_number(b, v, 8); }
static inline void pack_bytes(Buf *b, Slice s)
{
    pack_u64(b, s.len);
    buf_append(b, s);
}

typedef struct Unpack {
    Slice left;
    bool bad;
} Unpack;

static inline Slice unpack_raw(Unpack *u, uint64_t n)
{
    if (u->bad || n > u->left.len) {
        u->bad = true;
        return (Slice){"", 0};
    }
    Slice s = {u->left.data, (size_t)n};
    u->left = slice_from(u->left, (size_t)n);
    return s;
}
static inline uint64_t unpack_number(Unpack *u, unsigned bytes)
{
    Slice s = unpack_raw(u, bytes);
    uint64_t v = 0;
    for (size_t n = 0; n < s.len; n++)
        v |= (uint64_t)(unsigned char)s.data[n] << (8 * n);
    return v;
}
static inline uint8_t unpack_u8(Unpack *u) { return (uint8_t)unpack_number(u, 1); }
static inline uint32_t unpack_u32(Unpack *u) { return (uint32_t)unpack_number(u, 4); }
static inline uint64_t unpack_u64(Unpack *u) { return unpack_number(u, 8); }
static inline Slice unpack_bytes(Unpack *u) { return unpack_raw(u, unpack_u64(u)); }

#endif
