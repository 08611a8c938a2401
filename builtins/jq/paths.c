/* paths: reading, writing and deleting at a key, and along a path of keys. */
#include <math.h>

#include "value.h"

static Val give2(J *j, Val a, Val b, Val out)
{
    val_free(j, a);
    val_free(j, b);
    return out;
}

static Val cannot_index(J *j, Val t, Val k)
{
    char buf[SHORT_ERROR];
    if (j->yq && t.kind < K_ARRAY && (k.kind == K_STRING || k.kind == K_NUMBER)) /* yq finds nothing there */
        return give2(j, t, k, VAL_INVALID);
    Val e = jq_error(j, "Cannot index %s with %s (%s)", kind_name(t), kind_name(k), val_short(j, k, buf, sizeof buf));
    return give2(j, t, k, e);
}

/* ---------- slices ---------- */

/* Start and end of a slice key {"start":..,"end":..} over `len` things; false: not numbers or null. */
static bool slice_bounds(J *j, Val key, size_t len, int64_t *start, int64_t *end)
{
    Val s = obj_get_text(j, key, "start"), e = obj_get_text(j, key, "end");
    bool fits = (s.kind == K_NULL || s.kind == K_NUMBER) && (e.kind == K_NULL || e.kind == K_NUMBER);
    double from = s.kind == K_NUMBER ? val_double(s) : 0, to = e.kind == K_NUMBER ? val_double(e) : (double)len;
    val_free(j, s);
    val_free(j, e);
    if (!fits)
        return false;
    if (from < 0)
        from += (double)len;
    if (to < 0)
        to += (double)len;
    if (!(from >= 0))
        from = 0;
    if (from > (double)len)
        from = (double)len;
    if (!(to <= (double)len))
        to = (double)len;
    if (to < 0)
        to = 0;
    *start = (int64_t)from;
    *end = (int64_t)to;
    if ((double)*end < to)
        ++*end; /* the end rounds up */
    *end = MAX(MIN(*end, (int64_t)len), *start);
    return true;
}

static Val slice_string(J *j, Val t, int64_t start, int64_t end)
{
    Slice s = val_slice(t);
    size_t from = t.str->ascii ? (size_t)start : utf8_offset(s, (size_t)start);
    size_t to = t.str->ascii ? (size_t)end : from + utf8_offset(slice_from(s, from), (size_t)(end - start));
    Val out = val_string(j, (Slice){s.data + from, to - from});
    val_free(j, t);
    return out;
}

static Val get_slice(J *j, Val t, Val k)
{
    int64_t start, end;
    size_t len = t.kind == K_ARRAY ? arr_len(t) : str_length(t.str);
    if (!slice_bounds(j, k, len, &start, &end))
        return give2(j, t, k, jq_error(j, "Array/string slice indices must be integers"));
    val_free(j, k);
    return t.kind == K_ARRAY ? arr_slice(j, t, start, end) : slice_string(j, t, start, end);
}

static Val set_slice(J *j, Val t, Val k, Val v)
{
    int64_t start, end;
    if (t.kind == K_NULL)
        t = arr_new(j, 0);
    if (!slice_bounds(j, k, arr_len(t), &start, &end)) {
        val_free(j, v);
        return give2(j, t, k, jq_error(j, "Array/string slice indices must be integers"));
    }
    if (v.kind != K_ARRAY) {
        val_free(j, v);
        return give2(j, t, k, jq_error(j, "A slice of an array can only be assigned another array"));
    }
    size_t tail = arr_len(t) - (size_t)end, n = arr_len(v), len = (size_t)start + n + tail;
    Val out = arr_new(j, len);
    Val *at = out.arr->items;
    for (size_t i = 0; i < (size_t)start; i++)
        *at++ = val_copy(t.arr->items[i]);
    for (size_t i = 0; i < n; i++)
        *at++ = val_copy(v.arr->items[i]);
    for (size_t i = 0; i < tail; i++)
        *at++ = val_copy(t.arr->items[(size_t)end + i]);
    out.arr->len = (uint32_t)len;
    val_free(j, v);
    return give2(j, t, k, out);
}

/* ---------- one key ---------- */

/* Where b begins in a, as an array of positions. */
static Val array_indexes(J *j, Val a, Val b)
{
    Val out = arr_new(j, 0);
    size_t n = arr_len(a), m = arr_len(b);
    for (size_t i = 0; m && i + m <= n; i++) {
        size_t k = 0;
        while (k < m && val_equal(j, a.arr->items[i + k], b.arr->items[k]))
            k++;
        if (k == m)
            out = arr_push(j, out, val_num((double)i));
    }
    return give2(j, a, b, out);
}

static Val get_number(J *j, Val t, Val k)
{
    double d = val_double(k);
    Val out = VAL_NULL;
    if (d == d && d > -9e15 && d < 9e15) {
        int64_t i = (int64_t)floor(d);
        if (i < 0)
            i += (int64_t)arr_len(t);
        if (i >= 0 && (size_t)i < arr_len(t))
            out = val_copy(t.arr->items[i]);
    }
    return give2(j, t, k, out);
}

/* yq: .list.0 */
static bool all_digits(Slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] < '0' || s.data[i] > '9')
            return false;
    return s.len > 0 && s.len < 10;
}

static Val as_number(J *j, Val k)
{
    bool ok;
    double d = jq_number_read(val_slice(k), &ok);
    val_free(j, k);
    return val_num(d);
}

Val jv_get(J *j, Val t, Val k)
{
    if (t.kind == K_OBJECT && k.kind == K_STRING) {
        Val *at = obj_find(t, k.str);
        return give2(j, t, k, at ? val_copy(*at) : VAL_NULL);
    }
    if (t.kind == K_ARRAY && k.kind == K_NUMBER)
        return get_number(j, t, k);
    if (j->yq && t.kind == K_ARRAY && k.kind == K_STRING && all_digits(val_slice(k)))
        return get_number(j, t, as_number(j, k));
    if ((t.kind == K_ARRAY || t.kind == K_STRING) && k.kind == K_OBJECT)
        return get_slice(j, t, k);
    if (t.kind == K_ARRAY && k.kind == K_ARRAY)
        return array_indexes(j, t, k);
    if (t.kind == K_NULL && (k.kind == K_STRING || k.kind == K_NUMBER || k.kind == K_OBJECT))
        return give2(j, t, k, VAL_NULL);
    return cannot_index(j, t, k);
}

static Val set_number(J *j, Val t, Val k, Val v)
{
    double d = val_double(k);
    val_free(j, k);
    if (d != d) {
        val_free(j, v);
        val_free(j, t);
        return jq_error(j, "Cannot set array element at NaN index");
    }
    if (t.kind == K_NULL)
        t = arr_new(j, 0);
    return arr_set(j, t, d < -1e9 ? -1000000000 : d > 1e9 ? 1000000000 : (int64_t)floor(d), v);
}

Val jv_set(J *j, Val t, Val k, Val v)
{
    if (k.kind == K_STRING && (t.kind == K_OBJECT || t.kind == K_NULL))
        return obj_set(j, t.kind == K_NULL ? obj_new(j, 1) : t, k, v);
    if (k.kind == K_NUMBER && (t.kind == K_ARRAY || t.kind == K_NULL))
        return set_number(j, t, k, v);
    if (j->yq && t.kind == K_ARRAY && k.kind == K_STRING && all_digits(val_slice(k)))
        return set_number(j, t, as_number(j, k), v);
    if (k.kind == K_OBJECT && (t.kind == K_ARRAY || t.kind == K_NULL))
        return set_slice(j, t, k, v);
    val_free(j, v);
    int64_t start, end;
    if (k.kind == K_OBJECT && t.kind == K_STRING && !slice_bounds(j, k, str_length(t.str), &start, &end))
        return give2(j, t, k, jq_error(j, "Array/string slice indices must be integers"));
    if (k.kind == K_OBJECT && t.kind == K_STRING)
        return give2(j, t, k, jq_error(j, "Cannot update string slices"));
    if (k.kind == K_ARRAY && t.kind == K_ARRAY)
        return give2(j, t, k, jq_error(j, "Cannot update field at %s index of %s", "array", "array"));
    return cannot_index(j, t, k);
}

Val jv_has(J *j, Val t, Val k)
{
    bool has;
    if (t.kind == K_OBJECT && k.kind == K_STRING) {
        has = obj_find(t, k.str) != NULL;
    } else if (t.kind == K_ARRAY && k.kind == K_NUMBER) {
        double d = val_double(k);
        has = d >= 0 && d < (double)arr_len(t);
    } else if (t.kind == K_NULL) {
        has = false;
    } else {
        return give2(j, t, k, jq_error(j, "Cannot check whether %s has a %s key", kind_name(t), kind_name(k)));
    }
    return give2(j, t, k, val_bool(has));
}

Val jv_keys(J *j, Val t, bool sorted)
{
    Val out;
    if (t.kind == K_OBJECT) {
        out = obj_keys(j, t, sorted);
    } else if (t.kind == K_ARRAY) {
        out = arr_new(j, arr_len(t));
        for (uint32_t i = 0; i < arr_len(t); i++)
            out.arr->items[i] = val_num(i);
        out.arr->len = t.arr->len;
    } else {
        return jq_error_one(j, t, "has no keys");
    }
    val_free(j, t);
    return out;
}

/* ---------- paths ---------- */

Val jv_getpath(J *j, Val t, Val path)
{
    if (path.kind != K_ARRAY)
        return give2(j, t, path, jq_error(j, "Path must be specified as an array"));
    if (arr_len(path) > JQ_MAX_DEPTH)
        return give2(j, t, path, jq_error(j, "Path too deep"));
    for (size_t i = 0; i < arr_len(path) && t.kind != K_INVALID; i++)
        t = jv_get(j, t, val_copy(path.arr->items[i]));
    val_free(j, path);
    return t;
}

/* Takes t[k] out, so that t and the child are both unique when t was; what a set puts back. */
static Val take_child(J *j, Val *t, Val k)
{
    if (t->kind == K_OBJECT && k.kind == K_STRING && val_unique(*t)) {
        Val *at = obj_find(*t, k.str);
        Val child = at ? *at : VAL_NULL;
        if (at)
            *at = VAL_NULL;
        return child;
    }
    if (t->kind == K_ARRAY && k.kind == K_NUMBER && val_unique(*t) && !t->arr->owner) {
        double d = val_double(k);
        int64_t i = d == d && d > -1e9 && d < 1e9 ? (int64_t)floor(d) : -1;
        if (i < 0 && d < 0)
            i += (int64_t)arr_len(*t);
        if (i >= 0 && (size_t)i < arr_len(*t)) {
            Val child = t->arr->items[i];
            t->arr->items[i] = VAL_NULL;
            return child;
        }
    }
    return jv_get(j, val_copy(*t), val_copy(k));
}

/* What jq notices on its way down: an index before the first element or too far, an array for an index; NULL: nothing. */
static const char *bad_step(Val t, Val k)
{
    size_t len = t.kind == K_ARRAY ? arr_len(t) : 0;
    if (t.kind == K_ARRAY && k.kind == K_ARRAY)
        return "Cannot update field at array index of array";
    if ((t.kind != K_ARRAY && t.kind != K_NULL) || k.kind != K_NUMBER)
        return NULL;
    if (floor(val_double(k)) + (double)len < 0)
        return "Out of bounds negative array index";
    if (val_double(k) > ARRAY_INDEX_MOST)
        return "Array index too large";
    return NULL;
}

/* Descends with the containers kept on a list, then sets on the way back: no recursion, whatever the path's length. */
static Val set_along(J *j, Val t, Val path, Val v)
{
    size_t n = arr_len(path);
    Val stack = arr_new(j, n);
    for (size_t i = 0; i < n; i++) {
        Val k = path.arr->items[i];
        const char *bad = i + 1 < n ? bad_step(t, k) : NULL;
        Val child = i + 1 == n ? VAL_NULL : bad ? jq_error(j, "%s", bad) : take_child(j, &t, k);
        stack = arr_push(j, stack, t);
        if (child.kind == K_INVALID) {
            val_free(j, v);
            val_free(j, stack);
            return VAL_INVALID;
        }
        t = child;
    }
    for (size_t i = n; i-- > 0 && v.kind != K_INVALID;) {
        Val container = stack.arr->items[i];
        stack.arr->items[i] = VAL_NULL;
        v = jv_set(j, container, val_copy(path.arr->items[i]), v);
    }
    val_free(j, stack);
    return v;
}

Val jv_setpath(J *j, Val t, Val path, Val v)
{
    if (path.kind != K_ARRAY) {
        val_free(j, v);
        return give2(j, t, path, jq_error(j, "Path must be specified as an array"));
    }
    if (arr_len(path) > JQ_MAX_DEPTH) {
        val_free(j, v);
        return give2(j, t, path, jq_error(j, "Path too deep"));
    }
    if (arr_len(path) == 0) {
        val_free(j, t);
        val_free(j, path);
        return v;
    }
    Val out = set_along(j, t, path, v);
    val_free(j, path);
    return out;
}

/* Whether index i of an array of length n goes: keys are numbers and slices. */
typedef struct {
    int64_t start, end;
} Gap;

/* The parts of the array that `keys` name; false: error set. */
static bool find_gaps(J *j, Val t, Val keys, Gap *gaps)
{
    int64_t n = (int64_t)arr_len(t);
    for (size_t i = 0; i < arr_len(keys); i++) {
        Val k = keys.arr->items[i];
        if (k.kind == K_NUMBER) {
            double d = val_double(k);
            int64_t at = d == d && d > -1e9 && d < 1e9 ? (int64_t)floor(d) : n;
            at += at < 0 ? n : 0;
            gaps[i] = (Gap){at, at + 1};
        } else if (k.kind == K_OBJECT) {
            if (!slice_bounds(j, k, (size_t)n, &gaps[i].start, &gaps[i].end)) {
                jq_error(j, "Array/string slice indices must be integers");
                return false;
            }
        } else {
            jq_error(j, "Cannot delete %s element of array", kind_name(k));
            return false;
        }
    }
    return true;
}

static Val delete_from_array(J *j, Val t, Val keys)
{
    size_t n = arr_len(t), m = arr_len(keys), room = (m + 1) * sizeof(Gap);
    Gap *gaps = jmem(j, room);
    Val out = VAL_INVALID;
    if (find_gaps(j, t, keys, gaps)) {
        char *gone = jmem(j, n + 1);
        memset(gone, 0, n + 1);
        for (size_t i = 0; i < m; i++)
            for (int64_t k = MAX(gaps[i].start, (int64_t)0); k < MIN(gaps[i].end, (int64_t)n); k++)
                gone[k] = 1;
        out = arr_new(j, n);
        for (size_t i = 0; i < n; i++)
            if (!gone[i])
                out.arr->items[out.arr->len++] = val_copy(t.arr->items[i]);
        jmem_give(j, gone, n + 1);
    }
    jmem_give(j, gaps, room);
    return give2(j, t, keys, out);
}

static Val delete_from_object(J *j, Val t, Val keys)
{
    for (size_t i = 0; i < arr_len(keys); i++) {
        Val k = keys.arr->items[i];
        if (k.kind != K_STRING)
            return give2(j, t, keys, jq_error(j, "Cannot delete %s field of object", kind_name(k)));
        t = obj_remove(j, t, k.str);
    }
    val_free(j, keys);
    return t;
}

static Val delete_keys(J *j, Val t, Val keys)
{
    if (t.kind == K_NULL || arr_len(keys) == 0) {
        val_free(j, keys);
        return t;
    }
    if (t.kind == K_ARRAY)
        return delete_from_array(j, t, keys);
    if (t.kind == K_OBJECT)
        return delete_from_object(j, t, keys);
    return give2(j, t, keys, jq_error(j, "Cannot delete fields from %s", kind_name(t)));
}

/* paths[from..to) are sorted and agree in their first `depth` keys, which lead to t. */
static Val delete_sorted(J *j, Val t, const Val *paths, size_t count, size_t depth)
{
    Val keys = arr_new(j, 0);
    if (depth > JQ_MAX_DEPTH || !proc_stack_room(j->proc, 16 << 10))
        return give2(j, t, keys, jq_error(j, "Path too deep"));
    for (size_t i = 0, next; i < count; i = next) {
        Val key = paths[i].arr->items[depth];
        for (next = i + 1; next < count && val_equal(j, key, paths[next].arr->items[depth]);)
            next++;
        if (arr_len(paths[i]) == depth + 1) { /* the whole key goes, whatever else is said about its parts */
            keys = arr_push(j, keys, val_copy(key));
            continue;
        }
        Val child = take_child(j, &t, key);
        if (child.kind != K_INVALID && child.kind != K_NULL)
            child = delete_sorted(j, child, paths + i, next - i, depth + 1);
        else if (child.kind == K_NULL)
            continue;
        if (child.kind == K_INVALID)
            return give2(j, t, keys, child);
        t = jv_set(j, t, val_copy(key), child);
        if (t.kind == K_INVALID)
            return give2(j, t, keys, t);
    }
    return delete_keys(j, t, keys);
}

Val jv_delpaths(J *j, Val t, Val paths)
{
    if (paths.kind != K_ARRAY)
        return give2(j, t, paths, jq_error(j, "Paths must be specified as an array"));
    for (size_t i = 0; i < arr_len(paths); i++) {
        if (paths.arr->items[i].kind == K_ARRAY && arr_len(paths.arr->items[i]) > JQ_MAX_DEPTH)
            return give2(j, t, paths, jq_error(j, "Path too deep"));
        if (paths.arr->items[i].kind == K_ARRAY)
            continue;
        Val e = jq_error(j, "Path must be specified as array, not %s", kind_name(paths.arr->items[i]));
        return give2(j, t, paths, e);
    }
    paths = val_sort(j, paths);
    if (paths.kind == K_INVALID) {
        val_free(j, t);
        return paths;
    }
    if (arr_len(paths) == 0) {
        val_free(j, paths);
        return t;
    }
    if (arr_len(paths.arr->items[0]) == 0)
        return give2(j, t, paths, VAL_NULL);
    t = delete_sorted(j, t, paths.arr->items, arr_len(paths), 0);
    val_free(j, paths);
    return t;
}
