/* charset: sets of characters with a bitmap for ASCII. */
#include "charset.h"

bool charset_add(Mem *mem, CharSet *set, uint32_t first, uint32_t last)
{
    for (uint32_t c = first; c <= last && c < 128; c++)
        set->low[c / 32] |= 1u << c % 32;
    if (last < 128 || first > last)
        return true;
    if ((set->count & (set->count - 1)) == 0) { /* grows at powers of two */
        size_t cap = set->count ? set->count * 2 : 1;
        CharSpan *spans = mem_grow(mem, set->spans, set->count * sizeof *spans, cap * sizeof *spans);
        if (!spans)
            return false;
        set->spans = spans;
    }
    set->spans[set->count++] = (CharSpan){first, last};
    return true;
}

void charset_class(CharSet *set, CharClass class, bool bytes)
{
    if (class == CLASS_NONE)
        return;
    if (!bytes)
        set->classes = (uint16_t)(set->classes | 1u << class);
    for (uint32_t c = 0; c < 128; c++)
        if (class_has(class, c))
            set->low[c / 32] |= 1u << c % 32;
}

bool charset_spans(const CharSet *set, uint32_t c)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (c >= set->spans[i].first && c <= set->spans[i].last)
            return true;
    return false;
}

bool charset_in(const CharSet *set, uint32_t c)
{
    if (c < 128)
        return set->low[c / 32] >> c % 32 & 1;
    if (charset_spans(set, c))
        return true;
    for (unsigned k = 0; set->classes >> k; k++)
        if ((set->classes >> k & 1) && c < RAW_BYTE && class_has((CharClass)k, c))
            return true;
    return false;
}
