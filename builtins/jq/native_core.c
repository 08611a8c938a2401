/* native_core: the functions on values that are not written in jq. */
#include <math.h>

#include "machine.h"
#include "reader.h"

static Val with(J *j, Val *a, unsigned n, Val out)
{
    for (unsigned i = 0; i < n; i++)
        val_free(j, a[i]);
    return out;
}

static Val fn_not(J *j, Val *a) { return with(j, a, 1, val_bool(!val_truthy(a[0]))); }
static Val fn_type(J *j, Val *a) { return with(j, a, 1, val_text(j, kind_name(a[0]))); }
static Val fn_tojson(J *j, Val *a) { return val_tojson(j, a[0]); }
static Val fn_tostring(J *j, Val *a) { return val_tostring(j, a[0]); }
static Val fn_keys(J *j, Val *a) { return jv_keys(j, a[0], true); }
static Val fn_keys_unsorted(J *j, Val *a) { return jv_keys(j, a[0], false); }
static Val fn_has(J *j, Val *a) { return jv_has(j, a[0], a[1]); }
static Val fn_error(J *j, Val *a) { return jq_error_val(j, a[0]); }
static Val fn_setpath(J *j, Val *a) { return jv_setpath(j, a[0], a[1], a[2]); }
static Val fn_delpaths(J *j, Val *a) { return jv_delpaths(j, a[0], a[1]); }
static Val fn_getpath(J *j, Val *a) { return jq_machine_getpath(j->machine, a[0], a[1]); }
static Val fn_nan(J *j, Val *a) { return with(j, a, 1, val_num(NAN)); }
static Val fn_infinite(J *j, Val *a) { return with(j, a, 1, val_num(INFINITY)); }
static Val fn_true(J *j, Val *a) { return with(j, a, 1, VAL_TRUE); }
static Val fn_builtins(J *j, Val *a) { return with(j, a, 1, jq_native_names(j)); }

static Val fn_length(J *j, Val *a)
{
    Val v = a[0], out;
    switch (v.kind) {
    case K_NULL:
        return val_num(0);
    case K_NUMBER:
        if (v.literal)
            return v.lit->text[0] == '-' ? jq_number_negate(j, v) : v;
        return val_num(fabs(v.num));
    case K_STRING:
        out = val_num((double)str_length(v.str));
        break;
    case K_ARRAY:
        out = val_num((double)arr_len(v));
        break;
    case K_OBJECT:
        out = val_num((double)obj_len(v));
        break;
    default:
        return jq_error_one(j, v, "has no length");
    }
    val_free(j, v);
    return out;
}

static Val fn_utf8bytelength(J *j, Val *a)
{
    if (a[0].kind != K_STRING)
        return jq_error_one(j, a[0], "only strings have UTF-8 byte length");
    return with(j, a, 1, val_num(a[0].str->len));
}

static Val fn_contains(J *j, Val *a)
{
    if (a[0].kind != a[1].kind) /* false and true are two kinds */
        return jq_error_two(j, a[0], a[1], "cannot have their containment checked");
    int found = val_contains(j, a[0], a[1]);
    return with(j, a, 2, found < 0 || j->raising ? VAL_INVALID : val_bool(found));
}

static Val fn_fromjson(J *j, Val *a)
{
    if (a[0].kind != K_STRING)
        return jq_error_one(j, a[0], "only strings can be parsed");
    return with(j, a, 1, jq_read_json_text(j, val_slice(a[0])));
}

static Val fn_tonumber(J *j, Val *a)
{
    Val out;
    if (a[0].kind == K_NUMBER)
        return a[0];
    if (a[0].kind != K_STRING)
        return jq_error_one(j, a[0], "cannot be parsed as a number");
    Slice s = val_slice(a[0]);
    if (s.len && (jq_number_parse(j, s, &out) || jq_number_special(s, &out)))
        return with(j, a, 1, out);
    return jq_error_one(j, a[0], "cannot be parsed as a number");
}

static Val fn_toboolean(J *j, Val *a)
{
    if (a[0].kind == K_TRUE || a[0].kind == K_FALSE)
        return a[0];
    if (a[0].kind == K_STRING && slice_is(val_slice(a[0]), "true"))
        return with(j, a, 1, VAL_TRUE);
    if (a[0].kind == K_STRING && slice_is(val_slice(a[0]), "false"))
        return with(j, a, 1, VAL_FALSE);
    return jq_error_one(j, a[0], "cannot be parsed as a boolean");
}

/* ---------- order ---------- */

static Val fn_sort(J *j, Val *a)
{
    return a[0].kind == K_ARRAY ? val_sort(j, a[0]) : jq_error_one(j, a[0], "cannot be sorted, as it is not an array");
}

static Val fn_unique(J *j, Val *a)
{
    return a[0].kind == K_ARRAY ? val_unique_by(j, a[0], VAL_NULL) : jq_error_one(j, a[0], "cannot be sorted, as it is not an array");
}

typedef Val (*ByKeys)(J *, Val, Val);

static Val by_keys(J *j, Val *a, ByKeys fn, const char *what)
{
    if (a[0].kind != K_ARRAY || a[1].kind != K_ARRAY || arr_len(a[0]) != arr_len(a[1]))
        return jq_error_two(j, a[0], a[1], what);
    return fn(j, a[0], a[1]);
}

static Val fn_sort_by(J *j, Val *a) { return by_keys(j, a, val_sort_by, "cannot be sorted, as they are not both arrays"); }
static Val fn_group_by(J *j, Val *a) { return by_keys(j, a, val_group_by, "cannot be sorted, as they are not both arrays"); }
static Val fn_unique_by(J *j, Val *a) { return by_keys(j, a, val_unique_by, "cannot be sorted, as they are not both arrays"); }

/* The last of the greatest, the first of the least. */
static Val extreme(J *j, Val a, Val keys, bool greatest)
{
    size_t best = 0;
    for (size_t i = 1; i < arr_len(a) && !j->raising; i++) {
        int c = val_cmp(j, keys.arr->items[i], keys.arr->items[best]);
        if (greatest ? c >= 0 : c < 0)
            best = i;
        if ((i & 63) == 0)
            proc_tick(j->proc, 16);
    }
    Val out = arr_len(a) ? arr_get(a, best) : VAL_NULL;
    val_free(j, a);
    val_free(j, keys);
    if (!j->raising)
        return out;
    val_free(j, out);
    return VAL_INVALID;
}

static Val least_by(J *j, Val a, Val keys) { return extreme(j, a, keys, false); }
static Val greatest_by(J *j, Val a, Val keys) { return extreme(j, a, keys, true); }
static Val fn_min_by(J *j, Val *a) { return by_keys(j, a, least_by, "cannot be iterated over"); }
static Val fn_max_by(J *j, Val *a) { return by_keys(j, a, greatest_by, "cannot be iterated over"); }

static Val plain_extreme(J *j, Val *a, ByKeys fn)
{
    Val both[2] = {a[0], val_copy(a[0])};
    return by_keys(j, both, fn, "cannot be iterated over");
}

static Val fn_min(J *j, Val *a) { return plain_extreme(j, a, least_by); }
static Val fn_max(J *j, Val *a) { return plain_extreme(j, a, greatest_by); }

static Val fn_bsearch(J *j, Val *a)
{
    if (a[0].kind != K_ARRAY) {
        val_free(j, a[1]);
        return jq_error_one(j, a[0], "cannot be searched from");
    }
    size_t low = 0, high = arr_len(a[0]);
    while (low < high && !j->raising) {
        size_t mid = low + (high - low) / 2;
        int c = val_cmp(j, a[0].arr->items[mid], a[1]);
        if (c == 0)
            return with(j, a, 2, val_num((double)mid));
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return with(j, a, 2, j->raising ? VAL_INVALID : val_num(-1 - (double)low));
}

/* ---------- shapes ---------- */

static Val fn_to_entries(J *j, Val *a)
{
    Val keys = jv_keys(j, val_copy(a[0]), false);
    if (keys.kind == K_INVALID)
        return with(j, a, 1, keys);
    size_t n = arr_len(keys);
    Val out = arr_new(j, n);
    JStr *key_name = str_key(j, SLICE("key")), *value_name = str_key(j, SLICE("value"));
    for (size_t i = 0; i < n; i++) {
        Val k = val_copy(keys.arr->items[i]), e = obj_new(j, 2);
        Val v = a[0].kind == K_ARRAY ? arr_get(a[0], i) : obj_get(a[0], k.str);
        e = obj_set(j, obj_set(j, e, val_copy(val_str(key_name)), k), val_copy(val_str(value_name)), v);
        out = arr_push(j, out, e);
    }
    val_free(j, val_str(key_name));
    val_free(j, val_str(value_name));
    val_free(j, keys);
    return with(j, a, 1, out);
}

static Val reverse_array(J *j, Val v)
{
    v = arr_own(j, v, 0);
    for (size_t i = 0, n = arr_len(v); i < n / 2; i++) {
        Val t = v.arr->items[i];
        v.arr->items[i] = v.arr->items[n - 1 - i];
        v.arr->items[n - 1 - i] = t;
    }
    return v;
}

/* def reverse: [.[length - 1 - range(0; length)]]: what it says about other kinds follows from that. */
static Val fn_reverse(J *j, Val *a)
{
    Val v = a[0];
    if (v.kind == K_ARRAY && (!arr_len(v) || !jq_machine_following(j->machine)))
        return reverse_array(j, v);
    Val length = fn_length(j, (Val[]){val_copy(v)});
    if (length.kind == K_INVALID || val_double(length) <= 0) {
        val_free(j, v);
        return length.kind == K_INVALID ? length : arr_new(j, 0);
    }
    double last = val_double(length) - 1;
    val_free(j, length);
    Val first = jq_machine_index(j->machine, val_copy(v), val_num(last));
    if (first.kind == K_INVALID || v.kind != K_ARRAY) {
        val_free(j, v);
        return first;
    }
    val_free(j, first);
    return reverse_array(j, v);
}

const Native jq_natives_core[] = {
    {"not", 1, fn_not}, {"type", 1, fn_type}, {"tojson", 1, fn_tojson}, {"tostring", 1, fn_tostring}, {"keys", 1, fn_keys},
    {"keys_unsorted", 1, fn_keys_unsorted}, {"has", 2, fn_has}, {"error", 1, fn_error}, {"setpath", 3, fn_setpath},
    {"delpaths", 2, fn_delpaths}, {"getpath", 2, fn_getpath}, {"nan", 1, fn_nan}, {"infinite", 1, fn_infinite}, {"length", 1, fn_length},
    {"utf8bytelength", 1, fn_utf8bytelength}, {"contains", 2, fn_contains}, {"fromjson", 1, fn_fromjson}, {"tonumber", 1, fn_tonumber},
    {"toboolean", 1, fn_toboolean}, {"sort", 1, fn_sort}, {"unique", 1, fn_unique}, {"_sort_by_impl", 2, fn_sort_by},
    {"_group_by_impl", 2, fn_group_by}, {"_unique_by_impl", 2, fn_unique_by}, {"_min_by_impl", 2, fn_min_by},
    {"_max_by_impl", 2, fn_max_by}, {"min", 1, fn_min}, {"max", 1, fn_max}, {"bsearch", 2, fn_bsearch}, {"to_entries", 1, fn_to_entries},
    {"reverse", 1, fn_reverse}, {"have_literal_numbers", 1, fn_true}, {"have_decnum", 1, fn_true}, {"builtins", 1, fn_builtins},
    {NULL, 0, NULL},
};
