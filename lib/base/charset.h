/* charset: a set of characters, as brackets in regular expressions and shell patterns describe one. Private to base. */
#ifndef LIBSHELL_CHARSET_H
#define LIBSHELL_CHARSET_H

#include "mem.h"
#include "utf8.h"

/* A byte that is no part of a character (or any byte above 127 in the C locale), as a value of its own beyond Unicode. */
#define RAW_BYTE 0x110000u

typedef struct { uint32_t first, last; } CharSpan;

typedef struct {
    bool negated;
    uint16_t classes;  /* bit per CharClass, for what lies above 127 */
    uint32_t low[4];   /* members below 128, ranges and classes included */
    uint32_t count;
    CharSpan *spans;   /* ranges that reach above 127 */
} CharSet;

/* False: no memory. An empty range (first > last) adds nothing. */
bool charset_add(Mem *mem, CharSet *set, uint32_t first, uint32_t last);
void charset_class(CharSet *set, CharClass class, bool bytes);
/* Membership before negation. */
bool charset_spans(const CharSet *set, uint32_t c); /* by ranges alone, classes left out */
bool charset_in(const CharSet *set, uint32_t c);

/* The character at s[at], a stray byte as RAW_BYTE | byte; its length in *n. */
static inline uint32_t char_at(Slice s, size_t at, bool bytes, size_t *n)
{
    unsigned char c = (unsigned char)s.data[at];
    *n = 1;
    if (c < 0x80)
        return c;
    if (bytes)
        return RAW_BYTE | c;
    uint32_t v = utf8_decode(s.data + at, s.len - at, n);
    return v == UTF8_BAD ? RAW_BYTE | c : v;
}

#endif
