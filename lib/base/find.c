/* find: where bytes occur in bytes, sixteen places at a time.
 *
 * Two bytes of the needle, the ones least common in text, are compared at their distance in each vector; what passes is verified. Text that
 * passes too often is left to memmem, which is linear.
 */
#include "base.h"

#ifdef __SSE2__
#include <emmintrin.h>

/* How common a byte is in text and source code; small is rare. */
static unsigned commonness(unsigned char c)
{
    if (c == ' ' || c == 'e')
        return 10;
    if (memchr("tainosrl\n0", c, 10))
        return 8;
    if ((unsigned)(c - 'a') < 26)
        return memchr("jqxzkv", c, 6) ? 3 : 6;
    if ((unsigned)(c - '0') < 10 || memchr("./-_,()=\"", c, 9))
        return 5;
    return (unsigned)(c - 'A') < 26 ? 4 : 2;
}

static void rare_two(Slice needle, uint32_t rare[2])
{
    size_t a = 0, b;
    for (size_t i = 0; i < needle.len && i < 64; i++)
        if (commonness((unsigned char)needle.data[i]) < commonness((unsigned char)needle.data[a]))
            a = i;
    b = a ? 0 : 1;
    for (size_t i = 0; i < needle.len && i < 64; i++)
        if (i != a && commonness((unsigned char)needle.data[i]) < commonness((unsigned char)needle.data[b]))
            b = i;
    rare[0] = (uint32_t)a;
    rare[1] = (uint32_t)b;
}

static unsigned candidates(const char *p, size_t a, size_t b, __m128i va, __m128i vb)
{
    __m128i x = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + a)), va);
    __m128i y = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + b)), vb);
    return (unsigned)_mm_movemask_epi8(_mm_and_si128(x, y));
}

static const char *find(const Needle *n, Slice hay)
{
    Slice needle = n->text;
    size_t a = n->rare[0], b = n->rare[1];
    __m128i va = _mm_set1_epi8(needle.data[a]), vb = _mm_set1_epi8(needle.data[b]);
    size_t last = hay.len - needle.len, at = 0, wrong = 0;
    /* Every load ends inside the subject: the furthest byte read is at + 31 + needle.len - 1. */
    for (; last >= 32 && at <= last - 32; at += 32) {
        unsigned hits = candidates(hay.data + at, a, b, va, vb) | candidates(hay.data + at + 16, a, b, va, vb) << 16;
        for (; hits; hits &= hits - 1) {
            const char *p = hay.data + at + (unsigned)__builtin_ctz(hits);
            if (memcmp(p, needle.data, needle.len) == 0)
                return p;
            wrong++;
        }
        if (wrong > 64 + at / 32)
            break;
    }
    return memmem(hay.data + at, hay.len - at, needle.data, needle.len);
}
#else
static void rare_two(Slice needle, uint32_t rare[2]) { (void)needle, (void)rare; }
static const char *find(const Needle *n, Slice hay) { return memmem(hay.data, hay.len, n->text.data, n->text.len); }
#endif

Needle needle_of(Slice text)
{
    Needle n = {text, {0, 0}};
    if (text.len > 1)
        rare_two(text, n.rare);
    return n;
}

size_t needle_find(const Needle *n, Slice hay)
{
    Slice needle = n->text;
    if (needle.len > hay.len)
        return SIZE_MAX;
    if (needle.len == 0)
        return 0;
    const char *at = needle.len == 1 ? memchr(hay.data, needle.data[0], hay.len) : find(n, hay);
    return at ? (size_t)(at - hay.data) : SIZE_MAX;
}

size_t slice_search(Slice hay, Slice needle)
{
    if (needle.len > 1 && hay.len < 256) {
        const char *at = needle.len <= hay.len ? memmem(hay.data, hay.len, needle.data, needle.len) : NULL;
        return at ? (size_t)(at - hay.data) : SIZE_MAX;
    }
    Needle n = needle_of(needle);
    return needle_find(&n, hay);
}
