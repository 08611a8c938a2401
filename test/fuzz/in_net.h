/* in_net: what the fuzz targets of the network's guards share: fields of an input, and judges of their own that share no code with the guards. */
#ifndef TEST_FUZZ_IN_NET_H
#define TEST_FUZZ_IN_NET_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/kernel/net.h"

static inline void must(bool ok)
{
    if (!ok)
        abort();
}

/* The bytes up to the next 0x1F, which *rest loses. */
static inline Slice next_field(Slice *rest)
{
    size_t n = slice_find(*rest, 0x1f);
    Slice field = slice(rest->data, n);
    *rest = slice_from(*rest, MIN(n + 1, rest->len));
    return field;
}

static inline bool contains(Slice s, const char *text) { return slice_search(s, slice_str(text)) != SIZE_MAX; }

static inline bool has_break(Slice s) { return memchr(s.data ? s.data : "", '\r', s.len) || memchr(s.data ? s.data : "", '\n', s.len) || memchr(s.data ? s.data : "", 0, s.len); }

/* Equal but for the case of ASCII letters. */
static inline bool same_word(Slice a, const char *b)
{
    size_t n = strlen(b);
    bool same = a.len == n;
    for (size_t i = 0; same && i < n; i++) {
        int c = (unsigned char)a.data[i];
        same = (c >= 'A' && c <= 'Z' ? c + 32 : c) == (unsigned char)b[i];
    }
    return same;
}

#endif
