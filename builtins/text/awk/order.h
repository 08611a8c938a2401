/* order: what is remembered of the growth of gawk's hash tables. */
#ifndef LIBSHELL_AWK_ORDER_H
#define LIBSHELL_AWK_ORDER_H

#include "awk.h"

enum { MOST_GROWTHS = 24 };

/* Before which entry the tables of the two hashed parts grew, in order. */
typedef struct Growths {
    unsigned class;
    uint8_t count[2];
    uint32_t at[2][MOST_GROWTHS];
} Growths;

/* A key is about to be the entry a->count of `part`. */
void growth_note(Awk *w, Array *a, unsigned part);
void growths_reset(Array *a, unsigned part);
/* Renumbering while entries move: entry `from` becomes `to`. */
void growths_begin(Growths *g, const Growths *old);
void growths_pass(Growths *g, uint32_t from, uint32_t to);
void growths_end(const Growths *g, Growths *out);

#endif
