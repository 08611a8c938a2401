/* native_text: the functions on strings that are not written in jq. */
#include "machine.h"

static Val with(J *j, Val *a, unsigned n, Val out)
{
    for (unsigned i = 0; i < n; i++)
        val_free(j, a[i]);
    return out;
}

static Val fn_split(J *j, Val *a)
{
    if (a[0].kind != K_STRING || a[1].kind != K_STRING)
        return with(j, a, 2, jq_error(j, "split input and separator must be strings"));
    return jq_split(j, a[0], a[1]);
}

static Val fn_explode(J *j, Val *a)
{
    if (a[0].kind != K_STRING)
        return with(j, a, 1, jq_error(j, "explode input must be a string"));
    Val out = arr_new(j, str_length(a[0].str));
    for (Slice s = val_slice(a[0]); s.len;) {
        size_t n;
        uint32_t c = utf8_decode(s.data, s.len, &n);
        out = arr_push(j, out, val_num(c));
        s = slice_from(s, n);
    }
    return with(j, a, 1, out);
}

static Val fn_implode(J *j, Val *a)
{
    if (a[0].kind != K_ARRAY)
        return with(j, a, 1, jq_error(j, "implode input must be an array"));
    Val out = val_str(str_alloc(j, 0));
    for (size_t i = 0; i < arr_len(a[0]); i++) {
        Val item = a[0].arr->items[i];
        char bytes[6];
        if (item.kind != K_NUMBER || val_double(item) != val_double(item)) {
            Val e = jq_error_one(j, val_copy(item), "can't be imploded, unicode codepoint needs to be numeric");
            val_free(j, out);
            return with(j, a, 1, e);
        }
        double d = val_double(item);
        bool fits = d > -1 && d < 1114112 && !(d >= 0xd800 && d < 0xe000);
        size_t n = utf8_encode(fits ? (uint32_t)d : 0xfffd, bytes);
        out = val_append(j, out, (Slice){bytes, n});
    }
    return with(j, a, 1, out);
}

static Val fn_startswith(J *j, Val *a)
{
    if (a[0].kind != K_STRING || a[1].kind != K_STRING)
        return with(j, a, 2, jq_error(j, "startswith() requires string inputs"));
    return with(j, a, 2, val_bool(slice_starts(val_slice(a[0]), val_slice(a[1]))));
}

static bool ends(Slice s, Slice tail) { return s.len >= tail.len && slice_eq(slice_from(s, s.len - tail.len), tail); }

static Val fn_endswith(J *j, Val *a)
{
    if (a[0].kind != K_STRING || a[1].kind != K_STRING)
        return with(j, a, 2, jq_error(j, "endswith() requires string inputs"));
    return with(j, a, 2, val_bool(ends(val_slice(a[0]), val_slice(a[1]))));
}

/* A slice of a string in a followed path; owns s. */
static Val followed_slice(J *j, Val s, Val start, Val end)
{
    return jq_machine_index(j->machine, s, obj_set_text(j, obj_set_text(j, obj_new(j, 2), "start", start), "end", end));
}

static Val trim_affix(J *j, Val *a, bool left, bool right)
{
    if (a[0].kind != K_STRING || a[1].kind != K_STRING)
        return with(j, a, 2, jq_error(j, left ? "startswith() requires string inputs" : "endswith() requires string inputs"));
    Slice s = val_slice(a[0]), affix = val_slice(a[1]);
    if (unlikely(jq_machine_following(j->machine))) {
        double n = (double)str_length(a[1].str);
        if (left && slice_starts(s, affix))
            a[0] = followed_slice(j, a[0], val_num(n), VAL_NULL);
        if (right && a[0].kind == K_STRING && ends(val_slice(a[0]), affix))
            a[0] = followed_slice(j, a[0], VAL_NULL, val_num((double)str_length(a[0].str) - n));
        val_free(j, a[1]);
        return a[0];
    }
    if (left && slice_starts(s, affix))
        s = slice_from(s, affix.len);
    if (right && ends(s, affix))
        s.len -= affix.len;
    if (s.len == a[0].str->len) {
        val_free(j, a[1]);
        return a[0];
    }
    return with(j, a, 2, val_string(j, s));
}

static Val fn_ltrimstr(J *j, Val *a) { return trim_affix(j, a, true, false); }
static Val fn_rtrimstr(J *j, Val *a) { return trim_affix(j, a, false, true); }
static Val fn_trimstr(J *j, Val *a) { return trim_affix(j, a, true, true); }

/* jq's blanks: Unicode's, by name. */
static size_t blank_at(Slice s)
{
    size_t n;
    uint32_t c = utf8_decode(s.data, s.len, &n);
    bool blank = (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
                 c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
    return blank ? n : 0;
}

static Val trim(J *j, Val *a, bool left, bool right)
{
    if (a[0].kind != K_STRING)
        return with(j, a, 1, jq_error(j, "trim input must be a string"));
    Slice s = val_slice(a[0]);
    for (size_t n; left && s.len && (n = blank_at(s));)
        s = slice_from(s, n);
    while (right && s.len) {
        size_t at = s.len - 1;
        while (at && ((unsigned char)s.data[at] & 0xc0) == 0x80)
            at--;
        if (!blank_at(slice_from(s, at)))
            break;
        s.len = at;
    }
    return s.len == a[0].str->len ? a[0] : with(j, a, 1, val_string(j, s));
}

static Val fn_trim(J *j, Val *a) { return trim(j, a, true, true); }
static Val fn_ltrim(J *j, Val *a) { return trim(j, a, true, false); }
static Val fn_rtrim(J *j, Val *a) { return trim(j, a, false, true); }

static Val change_case(J *j, Val *a, char first, char last)
{
    if (a[0].kind != K_STRING)
        return with(j, a, 1, jq_error(j, "explode input must be a string"));
    if (unlikely(jq_machine_following(j->machine))) { /* the code points are no part of the input */
        Val codes = fn_explode(j, a);
        jq_machine_may_iterate(j->machine, codes);
        val_free(j, codes);
        return VAL_INVALID;
    }
    Val out = val_string(j, val_slice(a[0]));
    for (size_t i = 0; i < out.str->len; i++)
        if (out.str->data[i] >= first && out.str->data[i] <= last)
            out.str->data[i] ^= 0x20;
    return with(j, a, 1, out);
}

static Val fn_ascii_downcase(J *j, Val *a) { return change_case(j, a, 'A', 'Z'); }
static Val fn_ascii_upcase(J *j, Val *a) { return change_case(j, a, 'a', 'z'); }

/* Positions, in code points, of every occurrence; they may overlap. */
static Val fn_strindices(J *j, Val *a)
{
    Slice s = val_slice(a[0]), needle = val_slice(a[1]);
    bool ascii = str_length(a[0].str) == s.len;
    Val out = arr_new(j, 0);
    size_t at = 0, chars = 0;
    while (needle.len && at <= s.len) {
        size_t found = slice_search(slice_from(s, at), needle);
        if (found == SIZE_MAX)
            break;
        chars += ascii ? found : utf8_count((Slice){s.data + at, found});
        out = arr_push(j, out, val_num((double)chars));
        size_t n;
        utf8_decode(s.data + at + found, s.len - at - found, &n);
        at += found + n;
        chars++;
        proc_tick(j->proc, 1);
    }
    return with(j, a, 2, out);
}

/* What one item adds to a join. */
static Val join_item(J *j, Val item)
{
    if (item.kind == K_NULL)
        return val_string(j, (Slice){"", 0});
    if (item.kind == K_TRUE || item.kind == K_FALSE || item.kind == K_NUMBER)
        return val_tostring(j, item);
    return item;
}

static Val fn_join(J *j, Val *a)
{
    if (!jq_machine_may_iterate(j->machine, a[0]))
        return with(j, a, 2, VAL_INVALID);
    if (a[0].kind != K_ARRAY && a[0].kind != K_OBJECT) {
        char text[SHORT_ERROR];
        return with(j, a, 2, jq_error(j, "Cannot iterate over %s (%s)", kind_name(a[0]), val_short(j, a[0], text, sizeof text)));
    }
    Val acc = VAL_NULL;
    size_t n = a[0].kind == K_ARRAY ? arr_len(a[0]) : a[0].obj->used;
    for (size_t i = 0; i < n && acc.kind != K_INVALID; i++) {
        if (a[0].kind == K_OBJECT && !a[0].obj->entries[i].key)
            continue;
        Val item = a[0].kind == K_ARRAY ? a[0].arr->items[i] : a[0].obj->entries[i].value;
        acc = acc.kind == K_NULL ? val_str(str_alloc(j, 0)) : jq_binary(j, '+', acc, val_copy(a[1]));
        if (acc.kind != K_INVALID)
            acc = jq_binary(j, '+', acc, join_item(j, val_copy(item)));
        proc_tick(j->proc, 1);
    }
    return with(j, a, 2, acc.kind == K_NULL ? val_string(j, (Slice){"", 0}) : acc);
}

static Val fn_format(J *j, Val *a)
{
    if (a[1].kind != K_STRING) {
        val_free(j, a[0]);
        return jq_error_one(j, a[1], "is not a valid format");
    }
    Val out = jq_format_value(j, val_slice(a[1]), a[0]);
    val_free(j, a[1]);
    return out;
}

const Native jq_natives_text[] = {
    {"split", 2, fn_split}, {"explode", 1, fn_explode}, {"implode", 1, fn_implode}, {"startswith", 2, fn_startswith},
    {"endswith", 2, fn_endswith}, {"ltrimstr", 2, fn_ltrimstr}, {"rtrimstr", 2, fn_rtrimstr}, {"trimstr", 2, fn_trimstr},
    {"trim", 1, fn_trim}, {"ltrim", 1, fn_ltrim}, {"rtrim", 1, fn_rtrim}, {"ascii_downcase", 1, fn_ascii_downcase},
    {"ascii_upcase", 1, fn_ascii_upcase}, {"_strindices", 2, fn_strindices}, {"join", 2, fn_join}, {"format", 2, fn_format},
    {NULL, 0, NULL},
};
