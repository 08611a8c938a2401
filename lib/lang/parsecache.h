/* parsecache: scripts parsed before, by their text, so that a warm shell does not parse `echo hi` again. */
#ifndef LIBSHELL_PARSECACHE_H
#define LIBSHELL_PARSECACHE_H

#include "parse.h"

typedef struct ParseCache ParseCache;

typedef struct Parsed {
    Slice text;
    uint64_t hash;
    uint32_t options; /* what the parser was told */
    uint32_t count;
    Ast *ast;
    Unit *units;
} Parsed;

/* A hit, or NULL. Valid until the next put: who runs it takes a reference to its Ast and a copy of the units. */
const Parsed *parse_cache_get(const ParseCache *c, Slice text, uint64_t hash, uint32_t options);
/* Keeps a copy if it is small enough and memory allows; takes its own reference to the Ast. *c is made in `mem`. */
void parse_cache_put(ParseCache **c, Mem *mem, Budget *budget, const Parsed *p);
void parse_cache_free(ParseCache *c);

#endif
