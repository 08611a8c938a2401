/* operators: + - * / % and comparison on values. */
#include <math.h>
#include <stdarg.h>

#include "machine.h"

static Val done(J *j, Val a, Val b, Val out)
{
    val_free(j, a);
    val_free(j, b);
    return out;
}

/* ---------- errors ---------- */

Val jq_error_val(J *j, Val message)
{
    val_free(j, j->error);
    j->error = message;
    j->raising = true;
    return VAL_INVALID;
}

Val jq_error(J *j, const char *format, ...)
{
    va_list ap;
    char small[512];
    va_start(ap, format);
    int n = vsnprintf(small, sizeof small, format, ap);
    va_end(ap);
    if (n < (int)sizeof small)
        return jq_error_val(j, val_string_utf8(j, slice(small, n > 0 ? (size_t)n : 0)));
    char *text = jmem(j, (size_t)n + 1);
    va_start(ap, format);
    vsnprintf(text, (size_t)n + 1, format, ap);
    va_end(ap);
    jq_error_val(j, val_string_utf8(j, slice(text, (size_t)n)));
    jmem_give(j, text, (size_t)n + 1);
    return VAL_INVALID;
}

Val jq_error_one(J *j, Val a, const char *what)
{
    char text[SHORT_ERROR];
    Val e = jq_error(j, "%s (%s) %s", kind_name(a), val_short(j, a, text, sizeof text), what);
    val_free(j, a);
    return e;
}

Val jq_error_two(J *j, Val a, Val b, const char *what)
{
    char x[SHORT_ERROR], y[SHORT_ERROR];
    Val e = jq_error(j, "%s (%s) and %s (%s) %s", kind_name(a), val_short(j, a, x, sizeof x), kind_name(b), val_short(j, b, y, sizeof y), what);
    return done(j, a, b, e);
}

/* ---------- arithmetic ---------- */

static Val merge_shallow(J *j, Val a, Val b)
{
    const JObj *o = b.obj;
    for (uint32_t i = obj_next(o, 0); i < o->used; i = obj_next(o, i + 1))
        a = obj_set(j, a, val_copy(val_str(o->entries[i].key)), val_copy(o->entries[i].value));
    val_free(j, b);
    return a;
}

static Val add(J *j, Val a, Val b)
{
    if (a.kind == K_NULL)
        return b;
    if (b.kind == K_NULL)
        return a;
    if (a.kind != b.kind && j->yq && a.kind == K_ARRAY)
        return arr_push(j, a, b);
    if (a.kind != b.kind && j->yq && MAX(a.kind, b.kind) == K_STRING && MIN(a.kind, b.kind) == K_NUMBER)
        return add(j, val_tostring(j, a), val_tostring(j, b));
    if (a.kind != b.kind)
        return jq_error_two(j, a, b, "cannot be added");
    switch (a.kind) {
    case K_NUMBER:
        return done(j, a, b, val_num(val_double(a) + val_double(b)));
    case K_STRING:
        a = val_append(j, a, val_slice(b));
        val_free(j, b);
        return a;
    case K_ARRAY:
        return arr_concat(j, a, b);
    case K_OBJECT:
        return merge_shallow(j, a, b);
    default:
        return jq_error_two(j, a, b, "cannot be added");
    }
}

static Val subtract(J *j, Val a, Val b)
{
    if (a.kind == K_NUMBER && b.kind == K_NUMBER)
        return done(j, a, b, val_num(val_double(a) - val_double(b)));
    if (a.kind != K_ARRAY || b.kind != K_ARRAY)
        return jq_error_two(j, a, b, "cannot be subtracted");
    Val out = arr_new(j, 0);
    for (size_t i = 0; i < arr_len(a) && !j->raising; i++) {
        bool gone = false;
        proc_tick(j->proc, 1 + arr_len(b) / 8);
        for (size_t k = 0; k < arr_len(b) && !gone; k++)
            gone = val_equal(j, a.arr->items[i], b.arr->items[k]);
        if (!gone)
            out = arr_push(j, out, val_copy(a.arr->items[i]));
    }
    if (j->raising) {
        val_free(j, out);
        out = VAL_INVALID;
    }
    return done(j, a, b, out);
}

static Val repeat(J *j, Val s, double times)
{
    if (!(times >= 0)) {
        val_free(j, s);
        return VAL_NULL;
    }
    size_t len = s.str->len;
    if ((double)len * times > (double)JQ_MAX_BYTES) {
        val_free(j, s);
        return jq_error(j, "Repeat string result too long");
    }
    size_t n = len * (size_t)times;
    proc_tick(j->proc, 1 + n / 256);
    JStr *out = str_alloc(j, n);
    for (size_t at = 0; at < n; at += len) {
        memcpy(out->data + at, s.str->data, len);
        if ((at & 0xffff) < len)
            proc_tick(j->proc, 64);
    }
    val_free(j, s);
    return val_str(out);
}

static Val merge_deep(J *j, Val a, Val b, unsigned depth)
{
    const JObj *o = b.obj;
    if (depth > JQ_MAX_DEPTH || !proc_stack_room(j->proc, 16 << 10))
        return done(j, a, b, jq_error(j, "Object merge too deep"));
    for (uint32_t i = obj_next(o, 0); i < o->used; i = obj_next(o, i + 1)) {
        Val key = val_str(o->entries[i].key), v = val_copy(o->entries[i].value), *mine = obj_find(a, key.str);
        if (v.kind == K_OBJECT && mine && mine->kind == K_OBJECT) {
            v = merge_deep(j, val_copy(*mine), v, depth + 1);
            if (v.kind == K_INVALID)
                return done(j, a, b, v);
        }
        a = obj_set(j, a, val_copy(key), v);
    }
    val_free(j, b);
    return a;
}

static Val multiply(J *j, Val a, Val b)
{
    if (a.kind == K_NUMBER && b.kind == K_NUMBER)
        return done(j, a, b, val_num(val_double(a) * val_double(b)));
    if (a.kind == K_STRING && b.kind == K_NUMBER) {
        double n = val_double(b);
        val_free(j, b);
        return repeat(j, a, n);
    }
    if (a.kind == K_NUMBER && b.kind == K_STRING)
        return multiply(j, b, a);
    if (a.kind == K_OBJECT && b.kind == K_OBJECT)
        return merge_deep(j, a, b, 0);
    if (j->yq && b.kind >= K_ARRAY && (a.kind == K_NULL || a.kind == b.kind))
        return done(j, a, VAL_NULL, b);
    return jq_error_two(j, a, b, "cannot be multiplied");
}

Val jq_split(J *j, Val s, Val separator)
{
    Slice rest = val_slice(s), by = val_slice(separator);
    Val out = arr_new(j, 0);
    while (by.len == 0 && rest.len) {
        size_t n;
        utf8_decode(rest.data, rest.len, &n);
        out = arr_push(j, out, val_string(j, (Slice){rest.data, n}));
        rest = slice_from(rest, n);
    }
    while (by.len && val_slice(s).len) {
        size_t at = slice_search(rest, by);
        out = arr_push(j, out, val_string(j, (Slice){rest.data, MIN(at, rest.len)}));
        if (at == SIZE_MAX)
            break;
        rest = slice_from(rest, at + by.len);
    }
    return done(j, s, separator, out);
}

static Val divide(J *j, Val a, Val b)
{
    if (a.kind == K_STRING && b.kind == K_STRING)
        return jq_split(j, a, b);
    if (a.kind != K_NUMBER || b.kind != K_NUMBER)
        return jq_error_two(j, a, b, "cannot be divided");
    if (val_double(b) == 0)
        return jq_error_two(j, a, b, "cannot be divided because the divisor is zero");
    return done(j, a, b, val_num(val_double(a) / val_double(b)));
}

static int64_t to_integer(double d)
{
    return d < -9223372036854775808.0 ? INT64_MIN : d >= 9223372036854775808.0 ? INT64_MAX : (int64_t)d;
}

static Val modulo(J *j, Val a, Val b)
{
    if (a.kind != K_NUMBER || b.kind != K_NUMBER)
        return jq_error_two(j, a, b, "cannot be divided (remainder)");
    double x = val_double(a), y = val_double(b);
    if (x != x || y != y)
        return done(j, a, b, val_num(NAN));
    int64_t left = to_integer(x), right = to_integer(y);
    if (right == 0)
        return jq_error_two(j, a, b, "cannot be divided (remainder) because the divisor is zero");
    uint64_t size = right < 0 ? 0 - (uint64_t)right : (uint64_t)right, magnitude = left < 0 ? 0 - (uint64_t)left : (uint64_t)left;
    double r = (double)(magnitude % size);
    return done(j, a, b, val_num(left < 0 && r > 0 ? -r : r));
}

static Val compare(J *j, int op, Val a, Val b)
{
    bool truth;
    if (op == T_EQ || op == T_NEQ) {
        bool equal = j->yq && a.kind == K_STRING && b.kind == K_STRING ? yq_match(val_slice(a), val_slice(b)) : val_equal(j, a, b);
        truth = equal == (op == T_EQ);
    } else {
        int c = val_cmp(j, a, b);
        truth = op == '<' ? c < 0 : op == '>' ? c > 0 : op == T_LESSEQ ? c <= 0 : c >= 0;
    }
    return done(j, a, b, j->raising ? VAL_INVALID : val_bool(truth));
}

Val jq_binary(J *j, int op, Val a, Val b)
{
    switch (op) {
    case '+':
        return add(j, a, b);
    case '-':
        return subtract(j, a, b);
    case '*':
        return multiply(j, a, b);
    case '/':
        return divide(j, a, b);
    case '%':
        return modulo(j, a, b);
    default:
        return compare(j, op, a, b);
    }
}
