/* width: how many columns text takes on a terminal. */
#include "shared.h"

size_t display_width(Slice s, bool utf8)
{
    size_t width = 0, n;
    for (size_t i = 0; i < s.len; i += n) {
        n = 1;
        uint32_t c = (unsigned char)s.data[i];
        if (c >= 0x80 && utf8)
            c = utf8_decode(s.data + i, s.len - i, &n);
        int w = c < 0x80 ? (c >= 0x20 && c != 0x7F) : utf8 && c != UTF8_BAD ? utf8_width(c) : 1;
        width += w > 0 ? (size_t)w : 0;
    }
    return width;
}
