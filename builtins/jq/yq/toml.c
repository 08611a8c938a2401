/* toml: TOML 1.0 read into values and written from them. Dates and times are strings, as written. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "lib/base/utf8.h"
#include "yq.h"

/* What a table was made by decides who may add to it. A table or array without a kind was a value: nobody. */
enum { DOTTED = 1, /* a dotted key: further dotted keys, headers of its subtables */
       IMPLIED,    /* the header of a subtable: one header of its own */
       HEADED,     /* a header: entries below it, headers of subtables */
       TABLES };   /* an array of tables: the same header again */

typedef struct Toml {
    Yq *q;
    Slice text;
    size_t at;
    const char *name;
    Val root, table; /* table: the path of the header that entries belong to */
    Val kinds;       /* how each table came to be, by the JSON of its path: see DOTTED */
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

static bool line_ends(const Toml *t) { return peek(t) < 0 || peek(t) == '\n' || slice_starts(rest(t), SLICE("\r\n")); }
static bool control(int c) { return (c < ' ' && c != '\t') || c == 127; }

static void skip_comment(Toml *t)
{
    skip_blanks(t);
    if (peek(t) != '#')
        return;
    for (; !line_ends(t); t->at++)
        if (control(peek(t)))
            fail(t, "a control character in a comment");
}

/* Blanks, comments and ends of lines. */
static void skip_lines(Toml *t)
{
    for (skip_comment(t); peek(t) >= 0 && line_ends(t); skip_comment(t)) {
        accept(t, '\r');
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
    static const char letters[] = "btnfr\"\\", meant[] = "\b\t\n\f\r\"\\";
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
    if (!lines || peek(t) < 0 || !line_ends(t))
        fail(t, "bad escape in a string");
    while (peek(t) == ' ' || peek(t) == '\t' || (peek(t) >= 0 && line_ends(t)))
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
        if (c < 0 || (!lines && line_ends(t)))
            fail(t, "a string is not closed");
        if (control(c) && !line_ends(t) && !(c == '\n'))
            fail(t, "a control character in a string");
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

static int kind_of(Toml *t, Val kinds, Val path)
{
    J *j = t->q->j;
    Val key = val_tojson(j, val_copy(path)), *found = obj_find(kinds, key.str);
    int kind = found ? (int)found->num : 0;
    val_free(j, key);
    return kind;
}

static Val set_kind(Toml *t, Val kinds, Val path, int kind) { return obj_set(t->q->j, kinds, val_tojson(t->q->j, val_copy(path)), val_num(kind)); }

/* What is at a path; null: nothing. */
static Val look(Toml *t, Val root, Val path) { return checked(t, jv_getpath(t->q->j, val_copy(root), val_copy(path))); }

/* key = v in the table at `base`; owns key and v. */
static Val put_at(Toml *t, Val root, Val *kinds, Val base, Val key, Val v)
{
    J *j = t->q->j;
    Val at = val_copy(base);
    for (size_t i = 0; i < arr_len(key); i++) {
        at = arr_push(j, at, val_copy(key.arr->items[i]));
        Val there = look(t, root, at);
        bool last = i + 1 == arr_len(key);
        if (there.kind != K_NULL && (last || there.kind != K_OBJECT || kind_of(t, *kinds, at) != DOTTED))
            fail(t, last ? "a key is defined twice" : "a dotted key adds to what was defined otherwise");
        if (there.kind == K_NULL && !last)
            *kinds = set_kind(t, *kinds, at, DOTTED);
        val_free(j, there);
    }
    val_free(j, key);
    return checked(t, jv_setpath(j, root, at, v));
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
    J *j = t->q->j;
    Val table = obj_new(j, 0), kinds = obj_new(j, 0), base = arr_new(j, 0);
    skip_blanks(t);
    if (accept(t, '}'))
        return table;
    do {
        Val key = read_path(t);
        expect(t, '=');
        table = put_at(t, table, &kinds, base, key, read_value(t));
        skip_blanks(t);
    } while (accept(t, ','));
    expect(t, '}');
    val_free(j, kinds);
    val_free(j, base);
    return table;
}

/* Digits of a base with single underscores between them: how many bytes. */
static size_t digits_of(Slice s, unsigned base)
{
    size_t n = 0;
    for (bool digit = false; n < s.len; n++) {
        int c = (unsigned char)s.data[n] | 32;
        unsigned d = s.data[n] >= '0' && s.data[n] <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
        if (d >= base && !(s.data[n] == '_' && digit && n + 1 < s.len && s.data[n + 1] != '_'))
            break;
        digit = d < base;
    }
    return n && s.data[n - 1] == '_' ? 0 : n;
}

static NORETURN void bad_value(Toml *t, Slice word) { fail(t, "bad value '%.*s'", (int)MIN(word.len, (size_t)60), word.data); }

static Val based_number(Toml *t, Slice word, unsigned base)
{
    char text[24];
    uint64_t v = 0;
    Slice digits = slice_from(word, 2);
    if (!digits.len || digits_of(digits, base) != digits.len)
        bad_value(t, word);
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.data[i] == '_')
            continue;
        unsigned d = digits.data[i] <= '9' ? (unsigned)(digits.data[i] - '0') : (unsigned)((digits.data[i] | 32) - 'a') + 10;
        if (v > ((uint64_t)INT64_MAX - d) / base)
            bad_value(t, word);
        v = v * base + d;
    }
    Val out = VAL_NULL;
    jq_number_parse(t->q->j, slice(text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)v)), &out);
    return out;
}

/* 0 or without a leading zero, a fraction, an exponent: digits on both sides of a point. */
static bool decimal_form(Slice s, bool *integer)
{
    size_t n = digits_of(s, 10);
    *integer = n == s.len;
    if (!n || (s.data[0] == '0' && n > 1))
        return false;
    s = slice_from(s, n);
    if (s.len && s.data[0] == '.') {
        n = digits_of(slice_from(s, 1), 10);
        if (!n)
            return false;
        s = slice_from(s, n + 1);
    }
    if (s.len && (s.data[0] | 32) == 'e') {
        bool sign = s.len > 1 && (s.data[1] == '+' || s.data[1] == '-');
        n = digits_of(slice_from(s, 1u + sign), 10);
        if (!n)
            return false;
        s = slice_from(s, 1u + sign + n);
    }
    return s.len == 0;
}

static Val number(Toml *t, Slice word)
{
    Slice digits = word.len && (word.data[0] == '+' || word.data[0] == '-') ? slice_from(word, 1) : word;
    bool minus = digits.len < word.len && word.data[0] == '-', integer;
    unsigned base = slice_starts(word, SLICE("0x")) ? 16 : slice_starts(word, SLICE("0o")) ? 8 : slice_starts(word, SLICE("0b")) ? 2 : 0;
    Buf b;
    Val v;
    if (slice_is(digits, "inf"))
        return val_num(minus ? -__builtin_inf() : __builtin_inf());
    if (slice_is(digits, "nan"))
        return val_num(__builtin_nan(""));
    if (base)
        return based_number(t, word, base);
    if (!decimal_form(digits, &integer))
        bad_value(t, word);
    buf_init(&b, &t->q->p->mem, BUF_MAX);
    if (minus)
        buf_char(&b, '-');
    for (size_t i = 0; i < digits.len; i++)
        if (digits.data[i] != '_')
            buf_char(&b, digits.data[i]);
    if (integer && (b.len > 19u + minus || (b.len == 19u + minus && memcmp(b.data + minus, minus ? "9223372036854775808" : "9223372036854775807", 19) > 0)))
        fail(t, "a number of more than 64 bits");
    if (!jq_number_parse(t->q->j, buf_slice(&b), &v))
        bad_value(t, word);
    return v;
}

/* ---------- dates and times ---------- */

/* Two (or `width`) digits within [low, high], taken off the front. */
static bool field(Slice *s, size_t width, int low, int high, int *out)
{
    *out = 0;
    if (s->len < width)
        return false;
    for (size_t i = 0; i < width; i++) {
        if (s->data[i] < '0' || s->data[i] > '9')
            return false;
        *out = *out * 10 + (s->data[i] - '0');
    }
    *s = slice_from(*s, width);
    return *out >= low && *out <= high;
}

static bool mark(Slice *s, char c)
{
    bool is = s->len && s->data[0] == c;
    *s = slice_from(*s, is);
    return is;
}

static bool date(Slice *s)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    if (!field(s, 4, 0, 9999, &year) || !mark(s, '-') || !field(s, 2, 1, 12, &month) || !mark(s, '-'))
        return false;
    bool leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return field(s, 2, 1, days[month - 1] + leap, &day);
}

static bool time_of_day(Slice *s)
{
    int v;
    if (!field(s, 2, 0, 23, &v) || !mark(s, ':') || !field(s, 2, 0, 59, &v) || !mark(s, ':') || !field(s, 2, 0, 60, &v))
        return false;
    if (mark(s, '.')) {
        size_t n = 0;
        while (n < s->len && s->data[n] >= '0' && s->data[n] <= '9')
            n++;
        *s = slice_from(*s, n);
        return n > 0;
    }
    return true;
}

static bool offset(Slice *s)
{
    int v;
    if (mark(s, 'Z') || mark(s, 'z'))
        return true;
    return (mark(s, '+') || mark(s, '-')) && field(s, 2, 0, 23, &v) && mark(s, ':') && field(s, 2, 0, 59, &v);
}

static bool date_time(Slice s)
{
    if (s.len > 2 && s.data[2] == ':')
        return time_of_day(&s) && s.len == 0;
    if (!date(&s))
        return false;
    if (!s.len)
        return true;
    return (mark(&s, 'T') || mark(&s, 't') || mark(&s, ' ')) && time_of_day(&s) && (!s.len || (offset(&s) && !s.len));
}

static bool date_like(Slice s)
{
    return (s.len >= 10 && s.data[4] == '-' && s.data[7] == '-') || (s.len > 2 && s.data[2] == ':');
}

static void skip_word(Toml *t)
{
    while (bare(peek(t)) || peek(t) == '+' || peek(t) == '.' || peek(t) == ':')
        t->at++;
}

/* Booleans, numbers, dates: what has no quotes. */
static Val read_word(Toml *t)
{
    size_t from = t->at;
    skip_word(t);
    Slice word = slice(t->text.data + from, t->at - from), more = rest(t);
    if (slice_is(word, "true") || slice_is(word, "false"))
        return val_bool(word.len == 4);
    if (!date_like(word))
        return number(t, word);
    if (word.len == 10 && more.len > 2 && more.data[0] == ' ' && more.data[1] >= '0' && more.data[1] <= '9') {
        t->at++;
        skip_word(t);
        word.len = t->at - from;
    }
    if (!date_time(word))
        bad_value(t, word);
    return val_string_utf8(t->q->j, word);
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

/* One part of a header's path, from what was made so far; the last element of each array of tables is meant. */
static Val enter_table(Toml *t, Val at)
{
    J *j = t->q->j;
    Val there = look(t, t->root, at);
    int kind = there.kind == K_NULL ? IMPLIED : kind_of(t, t->kinds, at);
    if (!kind)
        fail(t, "a header adds to a value");
    if (there.kind == K_NULL)
        t->kinds = set_kind(t, t->kinds, at, IMPLIED);
    if (there.kind == K_ARRAY)
        at = arr_push(j, at, val_num((double)arr_len(there) - 1));
    val_free(j, there);
    return at;
}

static Val make_table(Toml *t, Val at, bool array)
{
    J *j = t->q->j;
    Val there = look(t, t->root, at);
    int kind = there.kind == K_NULL ? 0 : kind_of(t, t->kinds, at);
    if (there.kind != K_NULL && kind != (array ? TABLES : IMPLIED))
        fail(t, kind == HEADED && !array ? "a table is defined twice" : "a header names what was defined otherwise");
    if (array) {
        t->kinds = set_kind(t, t->kinds, at, TABLES);
        at = arr_push(j, at, val_num(there.kind == K_ARRAY ? (double)arr_len(there) : 0));
    }
    t->kinds = set_kind(t, t->kinds, at, HEADED);
    if (array || there.kind == K_NULL) {
        val_free(j, there);
        t->root = checked(t, jv_setpath(j, t->root, val_copy(at), obj_new(j, 0)));
    } else {
        val_free(j, there);
    }
    return at;
}

static void read_header(Toml *t)
{
    J *j = t->q->j;
    bool array = accept(t, '[');
    Val path = read_path(t), at = arr_new(j, arr_len(path) + 1);
    expect(t, ']');
    if (array)
        expect(t, ']');
    for (size_t i = 0; i < arr_len(path); i++) {
        at = arr_push(j, at, val_copy(path.arr->items[i]));
        at = i + 1 < arr_len(path) ? enter_table(t, at) : make_table(t, at, array);
    }
    val_free(j, path);
    val_free(j, t->table);
    t->table = at;
}

static void read_entry(Toml *t)
{
    Val key = read_path(t);
    expect(t, '=');
    Val v = read_value(t);
    t->root = put_at(t, t->root, &t->kinds, t->table, key, v);
}

Val toml_read(Yq *q, Slice text, const char *name)
{
    J *j = q->j;
    Toml t = {.q = q, .text = text, .name = name, .root = obj_new(j, 0), .table = arr_new(j, 0), .kinds = obj_new(j, 0)};
    if (!utf8_valid(text))
        fail(&t, "not UTF-8");
    for (skip_lines(&t); peek(&t) >= 0; skip_lines(&t)) {
        proc_tick(q->p, 4);
        if (accept(&t, '['))
            read_header(&t);
        else
            read_entry(&t);
        end_of_line(&t);
    }
    val_free(j, t.table);
    val_free(j, t.kinds);
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
        if (v.literal || isfinite(val_double(v)))
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
