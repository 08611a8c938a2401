/* parsecache: a small direct-mapped table; each place has a context of its own, so that what is replaced is freed. */
#include "parsecache.h"

enum { PLACES = 32, LONGEST_TEXT = 16 * 1024 };

typedef struct {
    Mem mem;
    Parsed parsed; /* ast NULL: free */
} Place;

struct ParseCache {
    Place places[PLACES];
};

const Parsed *parse_cache_get(const ParseCache *c, Slice text, uint64_t hash, uint32_t options)
{
    if (!c)
        return NULL;
    const Parsed *p = &c->places[hash % PLACES].parsed;
    return p->ast && p->hash == hash && p->options == options && slice_eq(p->text, text) ? p : NULL;
}

static void place_clear(Place *place)
{
    if (place->parsed.ast)
        ast_unref(place->parsed.ast);
    place->parsed = (Parsed){.ast = NULL};
    mem_drop(&place->mem);
}

void parse_cache_put(ParseCache **c, Mem *mem, Budget *budget, const Parsed *p)
{
    if (p->text.len > LONGEST_TEXT)
        return;
    if (!*c && !(*c = mem_new(mem, ParseCache)))
        return;
    Place *place = &(*c)->places[p->hash % PLACES];
    if (place->parsed.ast)
        place_clear(place);
    else
        mem_init(&place->mem, budget, NULL, NULL);
    char *text = mem_copy(&place->mem, p->text);
    Unit *units = text ? mem_array(&place->mem, p->count + 1, Unit) : NULL;
    if (!units) {
        mem_drop(&place->mem);
        return;
    }
    if (p->count)
        memcpy(units, p->units, p->count * sizeof(Unit));
    place->parsed = *p;
    place->parsed.text = slice(text, p->text.len);
    place->parsed.units = units;
    ast_ref(p->ast);
}

void parse_cache_free(ParseCache *c)
{
    for (size_t i = 0; c && i < PLACES; i++)
        place_clear(&c->places[i]);
}
