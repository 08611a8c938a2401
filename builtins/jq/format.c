/* format: @text @json @csv @tsv @html @uri @urid @sh @base64 @base64d. */
#include "machine.h"

typedef struct {
    J *j;
    Val out;
} Text;

static void put(Text *t, Slice s) { t->out = val_append(t->j, t->out, s); }
static void put_char(Text *t, char c) { put(t, (Slice){&c, 1}); }

static Text text_new(J *j) { return (Text){j, val_str(str_alloc(j, 0))}; }

static void put_number(Text *t, Val v)
{
    char buf[NUMBER_TEXT];
    if (val_double(v) == val_double(v))
        put(t, jq_number_text(v, buf));
}

static void csv_string(Text *t, Slice s)
{
    put_char(t, '"');
    for (size_t n; (n = slice_find(s, '"')) < s.len; s = slice_from(s, n + 1)) {
        put(t, (Slice){s.data, n});
        put(t, SLICE("\"\""));
    }
    put(t, s);
    put_char(t, '"');
}

static void tsv_string(Text *t, Slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        static const char from[] = "\t\n\r\\", to[] = "tnr\\";
        const char *special = s.data[i] ? strchr(from, s.data[i]) : NULL;
        if (special)
            put_char(t, '\\');
        put_char(t, special ? to[special - from] : s.data[i]);
    }
}

static Val format_rows(J *j, Val v, bool csv)
{
    if (v.kind != K_ARRAY)
        return jq_error_one(j, v, csv ? "cannot be csv-formatted, only array" : "cannot be tsv-formatted, only array");
    Text t = text_new(j);
    for (size_t i = 0; i < arr_len(v); i++) {
        Val item = v.arr->items[i];
        if (i)
            put_char(&t, csv ? ',' : '\t');
        if (item.kind >= K_ARRAY) {
            val_free(j, t.out);
            Val e = jq_error_one(j, val_copy(item), "is not valid in a csv row");
            val_free(j, v);
            return e;
        }
        if (item.kind == K_STRING)
            (csv ? csv_string : tsv_string)(&t, val_slice(item));
        else if (item.kind == K_NUMBER)
            put_number(&t, item);
        else if (item.kind != K_NULL)
            put(&t, item.kind == K_TRUE ? SLICE("true") : SLICE("false"));
    }
    val_free(j, v);
    return t.out;
}

static Val format_html(J *j, Val v)
{
    Text t = text_new(j);
    Slice s = val_slice(v);
    for (size_t i = 0, run = 0; i <= s.len; i++) {
        static const char special[] = "<>&'\"";
        static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&apos;", "&quot;"};
        const char *at = i < s.len && s.data[i] ? strchr(special, s.data[i]) : NULL;
        if (!at && i < s.len)
            continue;
        put(&t, (Slice){s.data + run, i - run});
        if (at)
            put(&t, slice_str(names[at - special]));
        run = i + 1;
    }
    val_free(j, v);
    return t.out;
}

static int hex_digit(int c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

static bool unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
}

static Val format_uri(J *j, Val v)
{
    Text t = text_new(j);
    Slice s = val_slice(v);
    for (size_t i = 0; i < s.len; i++) {
        static const char hex[] = "0123456789ABCDEF";
        unsigned char c = (unsigned char)s.data[i];
        char code[3] = {'%', hex[c >> 4], hex[c & 15]};
        if (unreserved(c))
            put_char(&t, (char)c);
        else
            put(&t, (Slice){code, 3});
    }
    val_free(j, v);
    return t.out;
}

/* Bytes that need not be UTF-8 become a value. */
static Val bytes_value(J *j, Text *t)
{
    Val out = utf8_valid(val_slice(t->out)) ? val_copy(t->out) : val_string_utf8(j, val_slice(t->out));
    val_free(j, t->out);
    return out;
}

static Val format_urid(J *j, Val v)
{
    Text t = text_new(j);
    Slice s = val_slice(v);
    for (size_t i = 0; i < s.len; i++) {
        int high = s.data[i] == '%' && i + 2 < s.len + 0 ? hex_digit((unsigned char)s.data[i + 1]) : -1;
        int low = high >= 0 ? hex_digit((unsigned char)s.data[i + 2]) : -1;
        if (s.data[i] != '%') {
            put_char(&t, s.data[i]);
        } else if (low >= 0) {
            put_char(&t, (char)(high << 4 | low));
            i += 2;
        } else {
            val_free(j, t.out);
            return jq_error_one(j, v, "is not a valid uri encoding");
        }
    }
    if (!utf8_valid(val_slice(t.out))) {
        val_free(j, t.out);
        return jq_error_one(j, v, "is not a valid uri encoding");
    }
    val_free(j, v);
    return bytes_value(j, &t);
}

static Val format_sh(J *j, Val v)
{
    if (v.kind != K_ARRAY)
        v = arr_push(j, arr_new(j, 1), v);
    Text t = text_new(j);
    for (size_t i = 0; i < arr_len(v); i++) {
        Val item = v.arr->items[i];
        if (i)
            put_char(&t, ' ');
        if (item.kind >= K_ARRAY) {
            val_free(j, t.out);
            Val e = jq_error_one(j, val_copy(item), "can not be escaped for shell");
            val_free(j, v);
            return e;
        }
        Val text = val_tostring(j, val_copy(item));
        if (item.kind == K_STRING) {
            put_char(&t, '\'');
            Slice s = val_slice(text);
            for (size_t n; (n = slice_find(s, '\'')) < s.len; s = slice_from(s, n + 1)) {
                put(&t, (Slice){s.data, n});
                put(&t, SLICE("'\\''"));
            }
            put(&t, s);
            put_char(&t, '\'');
        } else {
            put(&t, val_slice(text));
        }
        val_free(j, text);
    }
    val_free(j, v);
    return t.out;
}

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static Val format_base64(J *j, Val v)
{
    Text t = text_new(j);
    Slice s = val_slice(v);
    for (size_t i = 0; i < s.len; i += 3) {
        uint32_t code = 0;
        size_t n = MIN(s.len - i, (size_t)3);
        for (size_t k = 0; k < 3; k++)
            code = code << 8 | (k < n ? (unsigned char)s.data[i + k] : 0);
        char out[4] = {base64[code >> 18], base64[code >> 12 & 63], n > 1 ? base64[code >> 6 & 63] : '=', n > 2 ? base64[code & 63] : '='};
        put(&t, (Slice){out, 4});
    }
    val_free(j, v);
    return t.out;
}

static Val format_base64d(J *j, Val v)
{
    Text t = text_new(j);
    Slice s = val_slice(v);
    uint32_t code = 0;
    unsigned held = 0;
    for (size_t i = 0; i < s.len && s.data[i] != '='; i++) {
        const char *at = s.data[i] ? strchr(base64, s.data[i]) : NULL;
        if (!at) {
            val_free(j, t.out);
            return jq_error_one(j, v, "is not valid base64 data");
        }
        code = code << 6 | (uint32_t)(at - base64);
        if (++held < 4)
            continue;
        char out[3] = {(char)(code >> 16), (char)(code >> 8), (char)code};
        put(&t, (Slice){out, 3});
        code = held = 0;
    }
    if (held == 1) {
        val_free(j, t.out);
        return jq_error_one(j, v, "trailing base64 byte found");
    }
    char rest[2] = {(char)(held == 3 ? code >> 10 : code >> 4), (char)(code >> 2)};
    if (held)
        put(&t, (Slice){rest, held - 1});
    val_free(j, v);
    return bytes_value(j, &t);
}

static Val format_value(J *j, Slice name, Val v)
{
    static const struct { const char *name; Val (*fn)(J *, Val); } formats[] = {
        {"html", format_html}, {"uri", format_uri}, {"urid", format_urid}, {"base64", format_base64}, {"base64d", format_base64d},
    };
    if (slice_is(name, "text"))
        return val_tostring(j, v);
    if (slice_is(name, "json"))
        return val_tojson(j, v);
    if (slice_is(name, "csv") || slice_is(name, "tsv"))
        return format_rows(j, v, slice_is(name, "csv"));
    if (slice_is(name, "sh"))
        return format_sh(j, v);
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (slice_is(name, formats[i].name))
            return formats[i].fn(j, val_tostring(j, v));
    val_free(j, v);
    return jq_error(j, "%.*s is not a valid format", (int)name.len, name.data);
}

/* What is to be read by something else holds no NUL bytes but "\\0". */
static Val without_nuls(J *j, Val v)
{
    Slice s = val_slice(v);
    if (slice_find(s, 0) == s.len)
        return v;
    Text t = text_new(j);
    for (size_t n; (n = slice_find(s, 0)) < s.len; s = slice_from(s, n + 1)) {
        put(&t, (Slice){s.data, n});
        put(&t, SLICE("\\0"));
    }
    put(&t, s);
    val_free(j, v);
    return t.out;
}

Val jq_format_value(J *j, Slice name, Val v)
{
    bool text = slice_is(name, "html") || slice_is(name, "csv") || slice_is(name, "tsv") || slice_is(name, "sh");
    Val out = format_value(j, name, v);
    return text && out.kind == K_STRING ? without_nuls(j, out) : out;
}
