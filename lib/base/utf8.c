/* utf8: the decoder, character classes, case mapping and widths of glibc's C.UTF-8.
 *
 * ASCII is answered from one table of bits; the rest by binary search in generated ranges. punct, graph and "not printable" are
 * derived, which the generator checks.
 */
#include "utf8.h"

typedef struct { uint32_t first, last; } CharRange;
typedef struct { uint32_t first, last; int32_t delta; uint32_t step; } CaseRange;

#include "utf8_tables.h"

uint32_t utf8_decode(const char *s, size_t len, size_t *n)
{
    const unsigned char *u = (const unsigned char *)s;
    unsigned c = u[0];
    *n = 1;
    if (c < 0x80)
        return c;
    if (c < 0xC2 || c > 0xF4)
        return UTF8_BAD;
    size_t want = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    if (len < want)
        return UTF8_BAD;
    uint32_t v = c & (0x7Fu >> want);
    for (size_t i = 1; i < want; i++) {
        if ((u[i] & 0xC0) != 0x80)
            return UTF8_BAD;
        v = v << 6 | (u[i] & 0x3Fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (v < least[want] || v > 0x10FFFF || (v >= 0xD800 && v <= 0xDFFF))
        return UTF8_BAD;
    *n = want;
    return v;
}

size_t utf8_encode(uint32_t c, char out[6])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : c < 0x200000 ? 4 : c < 0x4000000 ? 5 : 6;
    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    out[0] = (char)((0xFF00u >> n & 0xFF) | c);
    return n;
}

/* Eight bytes at a time: whether any has its top bit set. */
bool slice_ascii(Slice s)
{
    const char *p = s.data, *end = s.data + s.len;
    for (; end - p >= 32; p += 32) {
        uint64_t w[4];
        memcpy(w, p, 32);
        if ((w[0] | w[1] | w[2] | w[3]) & 0x8080808080808080u)
            return false;
    }
    unsigned char any = 0;
    for (; p < end; p++)
        any |= (unsigned char)*p;
    return any < 0x80;
}

size_t utf8_count(Slice s)
{
    if (slice_ascii(s))
        return s.len;
    size_t count = 0, n;
    for (size_t at = 0; at < s.len; at += n, count++)
        utf8_decode(s.data + at, s.len - at, &n);
    return count;
}

bool utf8_valid(Slice s)
{
    size_t n;
    for (size_t at = 0; at < s.len; at += n) {
        uint64_t eight;
        for (; s.len - at >= sizeof eight; at += sizeof eight) {
            memcpy(&eight, s.data + at, sizeof eight);
            if (eight & 0x8080808080808080)
                break;
        }
        if (at == s.len)
            return true;
        if (utf8_decode(s.data + at, s.len - at, &n) == UTF8_BAD)
            return false;
    }
    return true;
}

size_t utf8_offset(Slice s, size_t index)
{
    size_t at = 0, n;
    for (; index && at < s.len; index--, at += n)
        utf8_decode(s.data + at, s.len - at, &n);
    return at;
}

static bool in_ranges(const CharRange *r, size_t count, uint32_t c)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (c > r[mid].last)
            low = mid + 1;
        else if (c < r[mid].first)
            high = mid;
        else
            return true;
    }
    return false;
}

#define IN(name, c) in_ranges(name##_ranges, ARRAY_LEN(name##_ranges), (c))

int utf8_width(uint32_t c)
{
    if (c < 0x80)
        return c >= 0x20 && c != 0x7F ? 1 : c == 0 ? 0 : -1;
    if (!IN(print, c))
        return -1;
    if (c < 0x300)
        return IN(narrow, c) ? 0 : 1;
    return IN(narrow, c) ? 0 : IN(wide, c) ? 2 : 1;
}

static const char *const class_names[] = {"alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower",
                                          "print", "punct", "space", "upper", "word", "xdigit"};

CharClass class_named(Slice name)
{
    for (unsigned i = 0; i < CLASS_NONE; i++)
        if (slice_is(name, class_names[i]))
            return (CharClass)i;
    return CLASS_NONE;
}

static bool is_upper(uint32_t c) { return c - 'A' < 26; }
static bool is_lower(uint32_t c) { return c - 'a' < 26; }
static bool is_digit(uint32_t c) { return c - '0' < 10; }
static bool is_alnum(uint32_t c) { return is_digit(c) || is_upper(c) || is_lower(c); }

static bool ascii_has(CharClass class, uint32_t c)
{
    switch (class) {
    case CLASS_ALNUM: return is_alnum(c);
    case CLASS_ALPHA: return is_upper(c) || is_lower(c);
    case CLASS_ASCII: return true;
    case CLASS_BLANK: return c == ' ' || c == '\t';
    case CLASS_CNTRL: return c < 0x20 || c == 0x7F;
    case CLASS_DIGIT: return is_digit(c);
    case CLASS_GRAPH: return c > 0x20 && c < 0x7F;
    case CLASS_LOWER: return is_lower(c);
    case CLASS_PRINT: return c >= 0x20 && c < 0x7F;
    case CLASS_PUNCT: return c > 0x20 && c < 0x7F && !is_alnum(c);
    case CLASS_SPACE: return c == ' ' || c - 9 < 5;
    case CLASS_UPPER: return is_upper(c);
    case CLASS_WORD: return is_alnum(c) || c == '_';
    case CLASS_XDIGIT: return is_digit(c) || (c | 0x20) - 'a' < 6;
    case CLASS_NONE: break;
    }
    return false;
}

bool class_has(CharClass class, uint32_t c)
{
    if (c < 0x80)
        return ascii_has(class, c);
    switch (class) {
    case CLASS_ALNUM:
    case CLASS_ALPHA:
    case CLASS_WORD: return IN(alpha, c);
    case CLASS_BLANK: return IN(blank, c);
    case CLASS_CNTRL: return IN(cntrl, c);
    case CLASS_GRAPH: return IN(print, c) && !IN(space, c);
    case CLASS_LOWER: return IN(lower, c);
    case CLASS_PRINT: return IN(print, c);
    case CLASS_PUNCT: return IN(print, c) && !IN(space, c) && !IN(alpha, c);
    case CLASS_SPACE: return IN(space, c);
    case CLASS_UPPER: return IN(upper, c);
    default: return false;
    }
}

static uint32_t mapped(const CaseRange *r, size_t count, uint32_t c)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (c > r[mid].last)
            low = mid + 1;
        else if (c < r[mid].first)
            high = mid;
        else
            return (c - r[mid].first) % r[mid].step ? c : (uint32_t)((int32_t)c + r[mid].delta);
    }
    return c;
}

uint32_t char_upper(uint32_t c)
{
    if (c < 0x80)
        return is_lower(c) ? c - 32 : c;
    return mapped(toupper_ranges, ARRAY_LEN(toupper_ranges), c);
}

uint32_t char_lower(uint32_t c)
{
    if (c < 0x80)
        return is_upper(c) ? c + 32 : c;
    return mapped(tolower_ranges, ARRAY_LEN(tolower_ranges), c);
}
