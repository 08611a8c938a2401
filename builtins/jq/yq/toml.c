/* toml: TOML 1.0 read into values and written from them. Dates and times are strings, as written. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "lib/base/utf8.h"
#include "yq.h"

typedef struct Toml {
    Yq *q;
    Slice text;
    size_t at;
    const char *name;
    Val root, table, defined; /* table: the path of the header that entries belong to; defined: headers seen, as JSON of their paths */
    unsigned depth;
} Toml;

static NORETURN PRINTF_LIKE(2, 3) void fail(const Toml *t, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    yq_fail(t->q, "bad file '%s': toml: line %zu: %s", t->name, 1 + slice_count(slice(t->text.data, MIN(t->at, t->text.len)), '\n'), text);
}

/* ---------- characters ---------- */

static int peek(const Toml *t) { return t->at < t->text.len ? (unsigned char)t->text.data[t->at] : -1; }
static Slice rest(const Toml *t) { return slice_from(t->text, t->at); }

static bool accept(Toml *t, char c)
{
    bool is = peek(t) == (unsigned char)c;
    t->at += is;
    return is;
}

static void expect(Toml *t, char c)
{
    if (!accept(t, c))
        fail(t, "expected '%c'", c);
}

static void skip_blanks(Toml *t)
{
    while (peek(t) == ' ' || peek(t) == '\t')
        t->at++;
}

static void skip_comment(Toml *t)
{
    skip_blanks(t);
    if (peek(t) == '#')
        t->at += slice_find(rest(t), '\n');
}

/* Blanks, comments and ends of lines. */
static void skip_lines(Toml *t)
{
    for (skip_comment(t); peek(t) == '\n' || peek(t) == '\r'; skip_comment(t)) {
        t->at++;
        proc_tick(t->q->p, 1);
    }
}

static void end_of_line(Toml *t)
{
    skip_comment(t);
    accept(t, '\r');
    if (peek(t) >= 0 && !accept(t, '\n'))
        fail(t, "expected the end of the line");
}

/* ---------- strings ---------- */

static uint32_t hex_digits(Toml *t, unsigned n)
{
    uint32_t v = 0;
    for (; n; n--, t->at++) {
        int c = peek(t) | 32;
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) || peek(t) < 0)
            fail(t, "bad escape in a string");
        v = v * 16 + (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    if (v > 0x10FFFF || (v >= 0xD800 && v < 0xE000))
        fail(t, "bad escape in a string");
    return v;
}

static void put_code_point(Buf *b, uint32_t c)
{
    char text[6];
    buf_append(b, slice(text, utf8_encode(c, text)));
}

static void escape(Toml *t, Buf *b, bool lines)
{
    static const char letters[] = "btnfre\"\\", meant[] = "\b\t\n\f\r\033\"\\";
    int c = peek(t);
    const char *known = c > 0 ? strchr(letters, c) : NULL;
    size_t start = t->at;
    if (known) {
        t->at++;
        buf_char(b, meant[known - letters]);
        return;
    }
    if (accept(t, 'u') || accept(t, 'U')) {
        put_code_point(b, hex_digits(t, t->text.data[start] == 'u' ? 4 : 8));
        return;
    }
    skip_blanks(t);
    if (!lines || (peek(t) != '\n' && peek(t) != '\r'))
        fail(t, "bad escape in a string");
    while (peek(t) == ' ' || peek(t) == '\t' || peek(t) == '\n' || peek(t) == '\r')
        t->at++;
}

/* Behind the opening quote or quotes. */
static Slice string_body(Toml *t, char quote, bool lines)
{
    Buf b;
    buf_init(&b, &t->q->p->keep, BUF_MAX);
    buf_reserve(&b, 1);
    Slice end = lines ? (quote == '"' ? SLICE("\"\"\"") : SLICE("'''")) : quote == '"' ? SLICE("\"") : SLICE("'");
    if (lines && slice_starts(rest(t), SLICE("\r\n")))
        t->at++;
    if (lines)
        accept(t, '\n');
    while (!slice_starts(rest(t), end)) {
        int c = peek(t);
        if (c < 0 || (!lines && c == '\n'))
            fail(t, "a string is not closed");
        t->at++;
        if (c == '\\' && quote == '"')
            escape(t, &b, lines);
        else
            buf_char(&b, (char)c);
    }
    t->at += end.len;
    for (int extra = 0; lines && extra < 2 && peek(t) == (unsigned char)quote; extra++, t->at++) /* up to two quotes before the closing three */
        buf_char(&b, quote);
    return buf_slice(&b);
}

static Val read_string(Toml *t)
{
    char quote = (char)peek(t);
    bool lines = slice_starts(rest(t), quote == '"' ? SLICE("\"\"\"") : SLICE("'''"));
    t->at += lines ? 3 : 1;
    return val_string_utf8(t->q->j, string_body(t, quote, lines));
}

/* ---------- keys ---------- */

static bool bare(int c) { return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '-' || c == '_'; }

static Val read_key(Toml *t)
{
    int c = peek(t);
    size_t from = t->at;
    if ((c == '"' || c == '\'') && !slice_starts(rest(t), SLICE("\"\"\"")) && !slice_starts(rest(t), SLICE("'''")))
        return read_string(t);
    while (bare(peek(t)))
        t->at++;
    if (t->at == from)
        fail(t, "expected a key");
    return val_string_utf8(t->q->j, slice(t->text.data + from, t->at - from));
}

static Val read_path(Toml *t)
{
    Val path = arr_new(t->q->j, 1);
    do {
        skip_blanks(t);
        path = arr_push(t->q->j, path, read_key(t));
        skip_blanks(t);
        if (arr_len(path) > YQ_DEPTH)
            fail(t, "a key of too many parts");
    } while (accept(t, '.'));
    return path;
}

/* ---------- values ---------- */

static Val read_value(Toml *t);

static Val checked(Toml *t, Val v)
{
    J *j = t->q->j;
    if (v.kind != K_INVALID)
        return v;
    j->raising = false;
    val_free(j, j->error);
    j->error = VAL_NULL;
    fail(t, "a key is a value and a table");
}

static Val put_at(Toml *t, Val into, Val path, Val v)
{
    J *j = t->q->j;
    Val there = checked(t, jv_getpath(j, val_copy(into), val_copy(path)));
    if (there.kind != K_NULL)
        fail(t, "a key is defined twice");
    return checked(t, jv_setpath(j, into, path, v));
}

static Val read_array(Toml *t)
{
    Val all = arr_new(t->q->j, 0);
    for (skip_lines(t); !accept(t, ']'); skip_lines(t)) {
        all = arr_push(t->q->j, all, read_value(t));
        skip_lines(t);
        if (!accept(t, ',') && peek(t) != ']')
            fail(t, "an array is not closed");
    }
    return all;
}

static Val read_inline(Toml *t)
{
    Val table = obj_new(t->q->j, 0);
    skip_blanks(t);
    if (accept(t, '}'))
        return table;
    do {
        Val path = read_path(t);
        expect(t, '=');
        table = put_at(t, table, path, read_value(t));
        skip_blanks(t);
    } while (accept(t, ','));
    expect(t, '}');
    return table;
}

static Val based_number(Toml *t, Slice digits, unsigned base)
{
    uint64_t v = 0;
    for (size_t i = 0; i < digits.len; i++) {
        int c = digits.data[i] | 32;
        unsigned d = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' ? (unsigned)(c - 'a') + 10 : 99;
        if (d >= base || v > ((uint64_t)INT64_MAX - d) / base)
            fail(t, "bad number");
        v = v * base + d;
    }
    if (!digits.len)
        fail(t, "bad number");
    return val_num((double)v);
}

static bool date_like(Slice s)
{
    return (s.len >= 10 && s.data[4] == '-' && s.data[7] == '-') || (s.len >= 8 && s.data[2] == ':' && s.data[5] == ':');
}

static Val number(Toml *t, Slice word)
{
    Buf b;
    Val v;
    buf_init(&b, &t->q->p->mem, BUF_MAX);
    for (size_t i = 0; i < word.len; i++)
        if (word.data[i] != '_')
            buf_char(&b, word.data[i]);
        else if (i == 0 || i + 1 == word.len || !bare(word.data[i - 1]) || word.data[i - 1] == '_' || !bare(word.data[i + 1]))
            fail(t, "bad number");
    Slice s = buf_slice(&b), digits = s.len && (s.data[0] == '+' || s.data[0] == '-') ? slice_from(s, 1) : s;
    bool minus = digits.len < s.len && s.data[0] == '-';
    if (slice_is(digits, "inf"))
        return val_num(minus ? -__builtin_inf() : __builtin_inf());
    if (slice_is(digits, "nan"))
        return val_num(__builtin_nan(""));
    unsigned base = slice_starts(s, SLICE("0x")) ? 16 : slice_starts(s, SLICE("0o")) ? 8 : slice_starts(s, SLICE("0b")) ? 2 : 0;
    if (base)
        return based_number(t, slice_from(s, 2), base);
    bool zero = digits.len > 1 && digits.data[0] == '0' && digits.data[1] >= '0' && digits.data[1] <= '9';
    if (!digits.len || digits.data[0] < '0' || digits.data[0] > '9' || zero || !jq_number_parse(t->q->j, minus ? s : digits, &v))
        fail(t, "bad value '%.*s'", (int)MIN(word.len, (size_t)60), word.data);
    return v;
}

/* Booleans, numbers, dates: what has no quotes. */
static Val read_word(Toml *t)
{
    size_t from = t->at;
    while (bare(peek(t)) || peek(t) == '+' || peek(t) == '.' || peek(t) == ':')
        t->at++;
    Slice word = slice(t->text.data + from, t->at - from), more = rest(t);
    if (slice_is(word, "true") || slice_is(word, "false"))
        return val_bool(word.len == 4);
    if (!date_like(word))
        return number(t, word);
    if (word.len == 10 && more.len > 2 && more.data[0] == ' ' && more.data[1] >= '0' && more.data[1] <= '9') {
        t->at++;
        while (bare(peek(t)) || peek(t) == '+' || peek(t) == '.' || peek(t) == ':')
            t->at++;
    }
    return val_string_utf8(t->q->j, slice(t->text.data + from, t->at - from));
}

static Val read_value(Toml *t)
{
    skip_blanks(t);
    proc_tick(t->q->p, 1);
    if (++t->depth > YQ_DEPTH || !proc_stack_room(t->q->p, 16384))
        fail(t, "values nested too deeply");
    int c = peek(t);
    Val v = c == '"' || c == '\'' ? read_string(t) : accept(t, '[') ? read_array(t) : accept(t, '{') ? read_inline(t) : read_word(t);
    t->depth--;
    return v;
}

/* ---------- tables ---------- */

/* A header's path with the last element of each array of tables on its way. */
static Val resolve(Toml *t, Val path)
{
    J *j = t->q->j;
    Val out = arr_new(j, arr_len(path) + 1);
    for (size_t i = 0; i < arr_len(path); i++) {
        out = arr_push(j, out, val_copy(path.arr->items[i]));
        Val there = checked(t, jv_getpath(j, val_copy(t->root), val_copy(out)));
        if (there.kind == K_ARRAY && arr_len(there) && i + 1 < arr_len(path))
            out = arr_push(j, out, val_num((double)arr_len(there) - 1));
        val_free(j, there);
    }
    val_free(j, path);
    return out;
}

static void define_once(Toml *t, Val path)
{
    J *j = t->q->j;
    Val key = val_tojson(j, val_copy(path));
    if (obj_find(t->defined, key.str))
        fail(t, "a table is defined twice");
    t->defined = obj_set(j, t->defined, key, VAL_TRUE);
}

static void read_header(Toml *t)
{
    J *j = t->q->j;
    bool array = accept(t, '[');
    Val path = read_path(t);
    expect(t, ']');
    if (array)
        expect(t, ']');
    path = resolve(t, path);
    Val there = checked(t, jv_getpath(j, val_copy(t->root), val_copy(path)));
    if (array) {
        if (there.kind != K_NULL && there.kind != K_ARRAY)
            fail(t, "a key is a table and an array of tables");
        path = arr_push(j, path, val_num(there.kind == K_ARRAY ? (double)arr_len(there) : 0));
    } else {
        define_once(t, path);
    }
    if (array || there.kind == K_NULL) {
        val_free(j, there);
        t->root = checked(t, jv_setpath(j, t->root, val_copy(path), obj_new(j, 0)));
    } else if (there.kind != K_OBJECT) {
        fail(t, "a key is a value and a table");
    } else {
        val_free(j, there);
    }
    val_free(j, t->table);
    t->table = path;
}

static void read_entry(Toml *t)
{
    J *j = t->q->j;
    Val path = arr_concat(j, val_copy(t->table), read_path(t));
    expect(t, '=');
    Val v = read_value(t);
    if (v.kind == K_OBJECT)
        define_once(t, path);
    t->root = put_at(t, t->root, path, v);
}

Val toml_read(Yq *q, Slice text, const char *name)
{
    J *j = q->j;
    Toml t = {.q = q, .text = text, .name = name, .root = obj_new(j, 0), .table = arr_new(j, 0), .defined = obj_new(j, 0)};
    for (skip_lines(&t); peek(&t) >= 0; skip_lines(&t)) {
        proc_tick(q->p, 4);
        if (accept(&t, '['))
            read_header(&t);
        else
            read_entry(&t);
        end_of_line(&t);
    }
    val_free(j, t.table);
    val_free(j, t.defined);
    return t.root;
}

/* ---------- writing ---------- */

static void put_key(Sink *s, Slice key)
{
    bool plain = key.len > 0;
    for (size_t i = 0; i < key.len; i++)
        plain &= bare((unsigned char)key.data[i]);
    if (plain)
        jsink_write(s, key);
    else
        jq_print_string(s, key, false);
}

static void put_inline(Yq *q, Sink *s, Val v)
{
    char buf[NUMBER_TEXT];
    proc_tick(q->p, 1);
    if (!proc_stack_room(q->p, 16384))
        yq_fail(q, "value nested too deeply");
    switch (v.kind) {
    case K_STRING: jq_print_string(s, val_slice(v), false); break;
    case K_NUMBER:
        if (isfinite(val_double(v)))
            jsink_write(s, jq_number_text(v, buf));
        else
            jsink_write(s, isnan(val_double(v)) ? SLICE("nan") : val_double(v) > 0 ? SLICE("inf") : SLICE("-inf"));
        break;
    case K_ARRAY:
        sink_char(s, '[');
        for (size_t i = 0; i < arr_len(v); i++) {
            if (i)
                jsink_write(s, SLICE(", "));
            put_inline(q, s, v.arr->items[i]);
        }
        sink_char(s, ']');
        break;
    case K_OBJECT:
        jsink_write(s, SLICE("{ "));
        for (uint32_t i = 0, n = 0; (i = obj_next(v.obj, i)) < v.obj->used; i++) {
            if (n++)
                jsink_write(s, SLICE(", "));
            put_key(s, js_slice(v.obj->entries[i].key));
            jsink_write(s, SLICE(" = "));
            put_inline(q, s, v.obj->entries[i].value);
        }
        jsink_write(s, SLICE(" }"));
        break;
    default: jsink_write(s, v.kind == K_TRUE ? SLICE("true") : v.kind == K_FALSE ? SLICE("false") : SLICE("\"\"")); break;
    }
}

static bool tables(Val v)
{
    bool all = v.kind == K_ARRAY && arr_len(v) > 0;
    for (size_t i = 0; all && i < arr_len(v); i++)
        all = v.arr->items[i].kind == K_OBJECT;
    return all;
}

typedef struct Header {
    const struct Header *up;
    Slice key;
} Header;

static void put_names(Sink *s, const Header *h)
{
    if (h->up) {
        put_names(s, h->up);
        sink_char(s, '.');
    }
    put_key(s, h->key);
}

static void put_table(Yq *q, Sink *s, Val v, const Header *up, bool *any);

/* Its header says nothing that those of its tables do not. */
static bool only_tables(Val v)
{
    bool only = obj_len(v) > 0;
    for (uint32_t i = 0; only && (i = obj_next(v.obj, i)) < v.obj->used; i++)
        only = v.obj->entries[i].value.kind == K_OBJECT || tables(v.obj->entries[i].value);
    return only;
}

static void put_section(Yq *q, Sink *s, Val v, const Header *h, bool array, bool *any)
{
    if (array || !only_tables(v)) {
        if (*any)
            sink_char(s, '\n');
        *any = true;
        jsink_write(s, array ? SLICE("[[") : SLICE("["));
        put_names(s, h);
        jsink_write(s, array ? SLICE("]]\n") : SLICE("]\n"));
    }
    put_table(q, s, v, h, any);
}

/* Entries first: what comes behind a header belongs to it. */
static void put_table(Yq *q, Sink *s, Val v, const Header *up, bool *any)
{
    const JObj *o = v.obj;
    if (!proc_stack_room(q->p, 16384))
        yq_fail(q, "value nested too deeply");
    for (uint32_t i = 0; (i = obj_next(o, i)) < o->used; i++) {
        Val item = o->entries[i].value;
        if (item.kind == K_OBJECT || tables(item) || item.kind == K_NULL)
            continue;
        put_key(s, js_slice(o->entries[i].key));
        jsink_write(s, SLICE(" = "));
        put_inline(q, s, item);
        sink_char(s, '\n');
        *any = true;
    }
    for (uint32_t i = 0; (i = obj_next(o, i)) < o->used; i++) {
        Val item = o->entries[i].value;
        Header h = {up, js_slice(o->entries[i].key)};
        if (item.kind == K_OBJECT)
            put_section(q, s, item, &h, false, any);
        for (size_t k = 0; tables(item) && k < arr_len(item); k++)
            put_section(q, s, item.arr->items[k], &h, true, any);
    }
}

void toml_write(Yq *q, Sink *s, Val v)
{
    bool any = false;
    if (v.kind == K_OBJECT) {
        put_table(q, s, v, NULL, &any);
        return;
    }
    if (v.kind == K_STRING)
        jsink_write(s, val_slice(v));
    else
        put_inline(q, s, v);
    sink_char(s, '\n');
}
