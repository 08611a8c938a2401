/* UTF-8 and character classes, the library's own: the host's locale is never asked.
 *
 * Locales here are C (bytes) and C.UTF-8. Invalid bytes are never an error: each decodes by itself as
 * UTF8_BAD with length 1, and printing it gives the same byte back.
 */
#ifndef LIBSHELL_UTF8_H
#define LIBSHELL_UTF8_H

#include "base.h"

#define UTF8_BAD 0xFFFFFFFFu
#define UTF8_MAX 4

/* Decodes one character at s[0..len), len > 0; its length in *n (1 for a bad byte). Rejects overlong
 * forms, surrogates and values above 0x10FFFF. */
uint32_t utf8_decode(const char *s, size_t len, size_t *n);
/* Encodes c (values up to 0x7FFFFFFF in the historic 5 and 6 byte forms, as bash's \U does); returns the length. */
size_t utf8_encode(uint32_t c, char out[6]);
/* Characters in s, a bad byte counting as one. */
size_t utf8_count(Slice s);
bool utf8_valid(Slice s);
/* Byte offset of character number `index`, or s.len. */
size_t utf8_offset(Slice s, size_t index);
bool slice_ascii(Slice s);

/* Columns as wcwidth in C.UTF-8: 0 combining, 1, 2 wide, -1 not printable. */
int utf8_width(uint32_t c);

typedef enum {
    CLASS_ALNUM, CLASS_ALPHA, CLASS_ASCII, CLASS_BLANK, CLASS_CNTRL, CLASS_DIGIT, CLASS_GRAPH, CLASS_LOWER,
    CLASS_PRINT, CLASS_PUNCT, CLASS_SPACE, CLASS_UPPER, CLASS_WORD, CLASS_XDIGIT,
    CLASS_NONE
} CharClass;

CharClass class_named(Slice name); /* "alpha" ...; CLASS_NONE when unknown */
bool class_has(CharClass class, uint32_t c);
uint32_t char_upper(uint32_t c);
uint32_t char_lower(uint32_t c);

#endif
