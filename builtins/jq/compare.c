/* compare: jq's total order, equality, containment and the sorts. Depth is bounded by the stack that is left. */
#include "value.h"

enum { FRAME = 16 << 10 }; /* what must remain for the callers of a comparison and for one more level */

static bool too_deep(J *j, unsigned depth, const char *what)
{
    if (likely(depth < JQ_MAX_DEPTH && ((depth & 15) || proc_stack_room(j->proc, FRAME))))
        return false;
    if (!j->raising)
        jq_error(j, "%s", what);
    return true;
}

static int cmp(J *j, Val a, Val b, unsigned depth);

static int cmp_numbers(J *j, Val a, Val b)
{
    double x = val_double(a), y = val_double(b);
    if (x < y || x != x)
        return -1; /* nan sorts below every number, itself included */
    if (x == y)
        return a.literal && b.literal && a.lit != b.lit ? jq_number_cmp_literal(j, a.lit, b.lit) : 0;
    return 1;
}

static int cmp_arrays(J *j, Val a, Val b, unsigned depth)
{
    size_t n = MIN(arr_len(a), arr_len(b));
    for (size_t i = 0; i < n; i++) {
        int c = cmp(j, a.arr->items[i], b.arr->items[i], depth + 1);
        if (c || j->raising)
            return c;
    }
    return (arr_len(a) > arr_len(b)) - (arr_len(a) < arr_len(b));
}

/* First the sorted keys as arrays, then the values in that order. */
static int cmp_objects(J *j, Val a, Val b, unsigned depth)
{
    size_t na = obj_len(a), nb = obj_len(b), n = MIN(na, nb);
    JEntry **x = obj_sorted(j, a.obj), **y = obj_sorted(j, b.obj);
    int c = 0;
    for (size_t i = 0; i < n && c == 0; i++)
        c = str_cmp(x[i]->key, y[i]->key);
    if (c == 0)
        c = (na > nb) - (na < nb);
    for (size_t i = 0; i < n && c == 0 && !j->raising; i++)
        c = cmp(j, x[i]->value, y[i]->value, depth + 1);
    jmem_give(j, x, MAX(na, (size_t)1) * sizeof *x);
    jmem_give(j, y, MAX(nb, (size_t)1) * sizeof *y);
    return c;
}

static int cmp(J *j, Val a, Val b, unsigned depth)
{
    if (a.kind != b.kind)
        return a.kind < b.kind ? -1 : 1;
    switch (a.kind) {
    case K_NUMBER:
        return cmp_numbers(j, a, b);
    case K_STRING:
        return str_cmp(a.str, b.str);
    case K_ARRAY:
    case K_OBJECT:
        if (too_deep(j, depth, "Comparison too deep"))
            return 0;
        proc_tick(j->proc, 1);
        return a.kind == K_ARRAY ? cmp_arrays(j, a, b, depth) : cmp_objects(j, a, b, depth);
    default:
        return 0;
    }
}

int val_cmp(J *j, Val a, Val b) { return cmp(j, a, b, 0); }

static bool equal(J *j, Val a, Val b, unsigned depth);

static bool equal_objects(J *j, Val a, Val b, unsigned depth)
{
    if (obj_len(a) != obj_len(b))
        return false;
    const JObj *o = a.obj;
    for (uint32_t i = obj_next(o, 0); i < o->used; i = obj_next(o, i + 1)) {
        Val *other = obj_find(b, o->entries[i].key);
        if (!other || !equal(j, o->entries[i].value, *other, depth + 1))
            return false;
    }
    return true;
}

static bool equal(J *j, Val a, Val b, unsigned depth)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case K_NUMBER:
        return val_double(a) == val_double(b) && cmp_numbers(j, a, b) == 0;
    case K_STRING:
        return str_equal(a.str, b.str);
    case K_ARRAY:
        if (a.arr == b.arr && depth)
            return true;
        if (arr_len(a) != arr_len(b) || too_deep(j, depth, "Equality check too deep"))
            return false;
        proc_tick(j->proc, 1);
        for (size_t i = 0; i < arr_len(a); i++)
            if (!equal(j, a.arr->items[i], b.arr->items[i], depth + 1))
                return false;
        return true;
    case K_OBJECT:
        if (too_deep(j, depth, "Equality check too deep"))
            return false;
        proc_tick(j->proc, 1);
        return equal_objects(j, a, b, depth);
    default:
        return true;
    }
}

bool val_equal(J *j, Val a, Val b) { return equal(j, a, b, 0); }

bool val_identical(Val a, Val b)
{
    if (a.kind != b.kind)
        return false;
    if (a.kind < K_NUMBER)
        return true;
    return a.literal == b.literal && a.bits == b.bits;
}

/* ---------- containment ---------- */

static int contains(J *j, Val a, Val b, unsigned depth);

static int contains_array(J *j, Val a, Val b, unsigned depth)
{
    for (size_t i = 0; i < arr_len(b); i++) {
        int found = 0;
        for (size_t k = 0; k < arr_len(a) && found == 0; k++)
            found = contains(j, a.arr->items[k], b.arr->items[i], depth + 1);
        if (found <= 0)
            return found;
    }
    return 1;
}

static int contains_object(J *j, Val a, Val b, unsigned depth)
{
    const JObj *o = b.obj;
    for (uint32_t i = obj_next(o, 0); i < o->used; i = obj_next(o, i + 1)) {
        Val *mine = obj_find(a, o->entries[i].key);
        int found = mine ? contains(j, *mine, o->entries[i].value, depth + 1) : 0;
        if (found <= 0)
            return found;
    }
    return 1;
}

static int contains(J *j, Val a, Val b, unsigned depth)
{
    if (too_deep(j, depth, "Containment check too deep"))
        return -1;
    proc_tick(j->proc, 1);
    if (a.kind == K_OBJECT && b.kind == K_OBJECT)
        return contains_object(j, a, b, depth);
    if (a.kind == K_ARRAY && b.kind == K_ARRAY)
        return contains_array(j, a, b, depth);
    if (a.kind == K_STRING && b.kind == K_STRING)
        return b.str->len == 0 || slice_search(val_slice(a), val_slice(b)) != SIZE_MAX;
    return val_equal(j, a, b);
}

int val_contains(J *j, Val a, Val b) { return contains(j, a, b, 0); }

/* ---------- sorting ---------- */

static void insertion(J *j, SortPair *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        SortPair e = a[i];
        size_t at = i;
        while (at && val_cmp(j, a[at - 1].key, e.key) > 0) {
            a[at] = a[at - 1];
            at--;
        }
        a[at] = e;
    }
}

static void merge(J *j, SortPair *a, SortPair *spare, size_t n)
{
    if (n <= 8) {
        insertion(j, a, n);
        return;
    }
    size_t half = n / 2;
    merge(j, a, spare, half);
    merge(j, a + half, spare, n - half);
    proc_tick(j->proc, n >> 3);
    if (val_cmp(j, a[half - 1].key, a[half].key) <= 0)
        return;
    memcpy(spare, a, half * sizeof *a);
    size_t left = 0, right = half, at = 0;
    while (left < half && right < n)
        a[at++] = val_cmp(j, spare[left].key, a[right].key) <= 0 ? spare[left++] : a[right++];
    while (left < half)
        a[at++] = spare[left++];
}

void jq_sort_pairs(J *j, SortPair *pairs, size_t n)
{
    size_t room = (n / 2 + 1) * sizeof *pairs;
    SortPair *spare = jmem(j, room);
    merge(j, pairs, spare, n);
    jmem_give(j, spare, room);
}

typedef struct {
    SortPair *pairs;
    size_t n, room;
} Sorted;

/* Takes the items and keys apart; [k] is compared as k when every key is such. */
static Sorted sorted(J *j, Val a, Val keys)
{
    size_t n = arr_len(a);
    Sorted s = {.n = n, .room = MAX(n, (size_t)1) * sizeof(SortPair)};
    s.pairs = jmem(j, s.room);
    bool single = keys.kind == K_ARRAY;
    for (size_t i = 0; i < n && single; i++)
        single = keys.arr->items[i].kind == K_ARRAY && arr_len(keys.arr->items[i]) == 1;
    for (size_t i = 0; i < n; i++) {
        Val key = keys.kind == K_ARRAY ? keys.arr->items[i] : a.arr->items[i];
        s.pairs[i] = (SortPair){single ? key.arr->items[0] : key, a.arr->items[i]};
    }
    jq_sort_pairs(j, s.pairs, n);
    return s;
}

static Val sorted_done(J *j, Sorted *s, Val a, Val keys, Val out)
{
    jmem_give(j, s->pairs, s->room);
    val_free(j, a);
    val_free(j, keys);
    if (j->raising) {
        val_free(j, out);
        return VAL_INVALID;
    }
    return out;
}

Val val_sort_by(J *j, Val a, Val keys)
{
    Sorted s = sorted(j, a, keys);
    Val out = arr_new(j, s.n);
    for (size_t i = 0; i < s.n; i++)
        out.arr->items[i] = val_copy(s.pairs[i].item);
    out.arr->len = (uint32_t)s.n;
    return sorted_done(j, &s, a, keys, out);
}

Val val_sort(J *j, Val a) { return val_sort_by(j, a, VAL_NULL); }

Val val_group_by(J *j, Val a, Val keys)
{
    Sorted s = sorted(j, a, keys);
    Val out = arr_new(j, 4);
    for (size_t i = 0; i < s.n;) {
        size_t end = i + 1;
        while (end < s.n && val_equal(j, s.pairs[i].key, s.pairs[end].key))
            end++;
        Val group = arr_new(j, end - i);
        for (; i < end; i++)
            group.arr->items[group.arr->len++] = val_copy(s.pairs[i].item);
        out = arr_push(j, out, group);
    }
    return sorted_done(j, &s, a, keys, out);
}

Val val_unique_by(J *j, Val a, Val keys)
{
    Sorted s = sorted(j, a, keys);
    Val out = arr_new(j, 4);
    for (size_t i = 0; i < s.n; i++)
        if (i == 0 || !val_equal(j, s.pairs[i - 1].key, s.pairs[i].key))
            out = arr_push(j, out, val_copy(s.pairs[i].item));
    return sorted_done(j, &s, a, keys, out);
}
