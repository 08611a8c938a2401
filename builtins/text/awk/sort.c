/* Sorted arrays: asort, asorti, PROCINFO["sorted_in"]. A merge sort, so that equal elements keep their order. */
#include "awk.h"

#include "machine.h"

typedef enum { BY_INDEX_TEXT, BY_INDEX_NUMBER, BY_VALUE_TYPE, BY_VALUE_TEXT, BY_VALUE_NUMBER, BY_FUNCTION, BY_NOTHING } SortBy;

typedef struct Sorting {
    Awk *w;
    SortBy by;
    bool descending;
    uint32_t function;
} Sorting;

static const struct { const char *name; SortBy by; bool descending; } orders[] = {
    {"@ind_str_asc", BY_INDEX_TEXT, false},   {"@ind_str_desc", BY_INDEX_TEXT, true},
    {"@ind_num_asc", BY_INDEX_NUMBER, false}, {"@ind_num_desc", BY_INDEX_NUMBER, true},
    {"@val_str_asc", BY_VALUE_TEXT, false},   {"@val_str_desc", BY_VALUE_TEXT, true},
    {"@val_num_asc", BY_VALUE_NUMBER, false}, {"@val_num_desc", BY_VALUE_NUMBER, true},
    {"@val_type_asc", BY_VALUE_TYPE, false},  {"@val_type_desc", BY_VALUE_TYPE, true},
    {"@unsorted", BY_NOTHING, false},
};

static int compare_text(Awk *w, const Value *a, const Value *b)
{
    String *x = value_string(w, a), *y = value_string(w, b);
    int c = text_compare(w, string_slice(x), string_slice(y));
    if (!c)
        c = slice_cmp(string_slice(x), string_slice(y));
    string_release(w, x);
    string_release(w, y);
    return c;
}

static int compare_numbers(double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0 : isnan(x) ? 1 : -1;
    return (x > y) - (x < y);
}

/* What was only named, numbers, then text, then arrays. */
enum { RANK_UNTYPED, RANK_NUMBER, RANK_TEXT, RANK_ARRAY };

static int rank(Awk *w, const Value *v)
{
    if (v->kind == V_ARRAY)
        return RANK_ARRAY;
    if (v->kind == V_UNSET && !v->cell)
        return RANK_UNTYPED;
    return value_looks_numeric(w, v) && !(v->kind == V_UNSET && v->cell == CELL_FIELD) ? RANK_NUMBER : RANK_TEXT;
}

/* Where values are equal the indices are compared as text, for which a whole number counts as empty: these come in the order they have, also
 * where the values go down, before the others. */
static int compare_indices(const Sorting *s, const Pair *a, const Pair *b)
{
    if (a->text && b->text)
        return compare_text(s->w, &a->key, &b->key);
    return a->text ? a->key.s->len != 0 : b->text ? -(b->key.s->len != 0) : 0;
}

static int compare_values(Sorting *s, const Pair *a, const Pair *b)
{
    Awk *w = s->w;
    int x = rank(w, &a->value), y = rank(w, &b->value), c;
    if (x == RANK_ARRAY || y == RANK_ARRAY || x == RANK_UNTYPED || y == RANK_UNTYPED)
        c = x - y;
    else if (s->by == BY_VALUE_NUMBER)
        c = compare_numbers(value_number(w, &a->value), value_number(w, &b->value));
    else if (s->by == BY_VALUE_TEXT)
        c = compare_text(w, &a->value, &b->value);
    else if (x != y)
        c = x - y;
    else
        c = x == RANK_NUMBER ? compare_numbers(value_number(w, &a->value), value_number(w, &b->value)) : compare_text(w, &a->value, &b->value);
    if (!c && s->by == BY_VALUE_NUMBER && x != RANK_ARRAY)
        c = compare_text(w, &a->value, &b->value);
    return c ? c : compare_indices(s, a, b);
}

static int compare_by_function(Sorting *s, const Pair *a, const Pair *b)
{
    Awk *w = s->w;
    Value args[4] = {value_copy(&a->key), value_copy(&a->value), value_copy(&b->key), value_copy(&b->value)};
    uint32_t params = w->prog.functions[s->function].params, count = MIN(params, 4u);
    for (uint32_t i = count; i < 4; i++)
        value_release(w, &args[i]);
    Value r = machine_call(w, s->function, args, count);
    double n = value_number(w, &r);
    value_release(w, &r);
    return (n > 0) - (n < 0);
}

static int compare_pairs(Sorting *s, const Pair *a, const Pair *b)
{
    int c;
    switch (s->by) {
    case BY_FUNCTION: return compare_by_function(s, a, b);
    case BY_INDEX_TEXT: c = compare_text(s->w, &a->key, &b->key); break;
    case BY_INDEX_NUMBER:
        c = compare_numbers(value_number(s->w, &a->key), value_number(s->w, &b->key));
        if (!c)
            c = compare_text(s->w, &a->key, &b->key);
        break;
    default: c = compare_values(s, a, b); break;
    }
    return s->descending ? -c : c;
}

static void merge_sort(Sorting *s, Pair *v, size_t n)
{
    MemMark mark = mem_mark(&s->w->p->mem);
    Pair *from = v, *to = mem_array(&s->w->p->mem, n, Pair), *spare = to;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t middle = MIN(low + width, n), high = MIN(middle + width, n), i = low, j = middle, k = low;
            while (k < high)
                to[k++] = i < middle && (j >= high || compare_pairs(s, &from[i], &from[j]) <= 0) ? from[i++] : from[j++];
            proc_tick(s->w->p, (high - low) / 8 + 1);
        }
        Pair *t = from;
        from = to;
        to = t;
    }
    if (from == spare)
        memcpy(v, from, n * sizeof *v);
    if (s->by != BY_FUNCTION)
        mem_reset(&s->w->p->mem, mark);
}

bool sort_pairs(Awk *w, Pair *pairs, size_t n, Slice how, bool asort)
{
    Sorting s = {.w = w, .by = BY_FUNCTION};
    for (unsigned i = 0; i < ARRAY_LEN(orders); i++)
        if (slice_is(how, orders[i].name)) {
            s.by = orders[i].by;
            s.descending = orders[i].descending;
        }
    if (s.by == BY_FUNCTION) {
        int f = awk_function(w, how);
        if (f < 0)
            awk_fatal(w, "%s`%.*s' is invalid as a function name", how.len && how.data[0] == '@' ? "sort comparison function " : asort ? "" : "sort comparison function ", (int)how.len, how.data);
        s.function = (uint32_t)f;
    }
    if (s.by != BY_NOTHING && n > 1)
        merge_sort(&s, pairs, n);
    return true;
}

/* The array's elements in gawk's order, borrowed but for the keys. */
static Pair *pairs_of(Awk *w, Array *a, uint32_t *n)
{
    uint32_t *order;
    *n = table_order(w, a, &order);
    Pair *pairs = mem_array(&w->p->mem, *n + 1, Pair);
    for (uint32_t i = 0; i < *n; i++) {
        pairs[i].key = entry_key(w, &a->entries[order[i]]);
        pairs[i].value = value_copy(&a->entries[order[i]].value);
        pairs[i].text = a->entries[order[i]].part == PART_TEXT;
    }
    return pairs;
}

static void pair_keys_input(Pair *pairs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        pairs[i].key.kind = V_STR;
}

Iter *iter_new(Awk *w, Array *a)
{
    Value how_key = value_plain(w, SLICE("sorted_in"));
    Value *procinfo = &w->globals[G_PROCINFO], *how = procinfo->kind == V_ARRAY ? table_find(w, procinfo->a, &how_key) : NULL;
    value_release(w, &how_key);
    MemMark mark = mem_mark(&w->p->mem);
    uint32_t n;
    Pair *pairs = pairs_of(w, a, &n);
    pair_keys_input(pairs, n);
    if (how) {
        String *s = value_string(w, how);
        if (s->len)
            sort_pairs(w, pairs, n, string_slice(s), false);
        string_release(w, s);
    }
    unsigned class = 0;
    Iter *it = heap_alloc(&w->heap, sizeof *it + n * sizeof(Value), &class);
    it->class = class;
    it->count = n;
    it->at = 0;
    for (uint32_t i = 0; i < n; i++) {
        it->keys[i] = pairs[i].key;
        value_release(w, &pairs[i].value);
    }
    mem_reset(&w->p->mem, mark);
    return it;
}

void iter_release(Awk *w, Iter *it)
{
    for (uint32_t i = 0; i < it->count; i++)
        value_release(w, &it->keys[i]);
    heap_free(&w->heap, it, it->class);
}

void for_begin(Awk *w, int32_t cell)
{
    Value held = {.kind = V_UNSET};
    Array *a;
    if (cell == CELL_STACK) {
        held = *pop(w);
        a = held.a;
    } else {
        a = array_at(w, cell);
    }
    Iter *it = iter_new(w, a);
    value_release(w, &held);
    push(w, (Value){.kind = V_ITER, .it = it});
}

Value sort_function(Awk *w, bool by_index, Value *args, uint32_t count)
{
    Array *from = args[0].a, *to = count > 1 ? args[1].a : from;
    String *how = count > 2 ? value_string(w, &args[2]) : string_new(w, by_index ? SLICE("@ind_str_asc") : SLICE("@val_type_asc"));
    MemMark mark = mem_mark(&w->p->mem);
    uint32_t n;
    Pair *pairs = pairs_of(w, from, &n);
    sort_pairs(w, pairs, n, string_slice(how), true);
    string_release(w, how);
    table_clear(w, to);
    for (uint32_t i = 0; i < n; i++) {
        Value *slot = table_get_int(w, to, (int64_t)i + 1);
        *slot = by_index ? pairs[i].key : pairs[i].value;
        value_release(w, by_index ? &pairs[i].value : &pairs[i].key);
    }
    mem_reset(&w->p->mem, mark);
    return value_num(n);
}
