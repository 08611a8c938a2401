/* bytes: scans that are worth doing sixteen bytes at a time. */
#include "base.h"

typedef unsigned char Block __attribute__((vector_size(16)));

/* Equal bytes compare to 255, which is -1: a block counts at most 255 rounds before it is added up. */
size_t slice_count(Slice s, char c)
{
    size_t count = 0, i = 0;
    Block wanted;
    memset(&wanted, c, sizeof wanted);
    while (s.len - i >= sizeof(Block)) {
        Block sums = {0}, block;
        size_t rounds = MIN((s.len - i) / sizeof(Block), (size_t)255);
        for (; rounds; rounds--, i += sizeof block) {
            memcpy(&block, s.data + i, sizeof block);
            sums -= (Block)(block == wanted);
        }
        for (size_t k = 0; k < sizeof sums; k++)
            count += sums[k];
    }
    for (; i < s.len; i++)
        count += s.data[i] == c;
    return count;
}
