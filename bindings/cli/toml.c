/* toml: TOML 1.0, but for dates, which no configuration of ours has: they are an error that says so.
 *
 * Tables remember how they came to be, for TOML's rules about who may add to them: a header may be written once, an inline table or a list
 * written as a value is closed, and dotted keys do not reach into a table that a header made.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

enum { MOST_DEPTH = 64, MOST_KEYS = 4096 };
enum { BY_HEADER = 1, CLOSED = 2, DOTTED = 4, OF_TABLES = 8 };

typedef struct {
    Doc *doc;
    const char *p, *end;
    unsigned line, depth;
} Toml;

typedef struct {
    const char *text;
    size_t len;
} Key;

static Value *toml_value(Toml *t);

static bool failed(Toml *t, const char *what)
{
    doc_fail(t->doc, t->line, "%s", what);
    return false;
}

static bool at(const Toml *t, const char *s)
{
    size_t n = strlen(s);
    return (size_t)(t->end - t->p) >= n && memcmp(t->p, s, n) == 0;
}

static char peek(const Toml *t)
{
    return t->p < t->end ? *t->p : 0;
}

static bool accept(Toml *t, const char *s)
{
    if (!at(t, s))
        return false;
    t->p += strlen(s);
    return true;
}

static void blanks(Toml *t)
{
    while (t->p < t->end && (*t->p == ' ' || *t->p == '\t'))
        t->p++;
}

static void comment(Toml *t)
{
    blanks(t);
    if (peek(t) != '#')
        return;
    while (t->p < t->end && *t->p != '\n') {
        if ((unsigned char)*t->p < 0x20 && *t->p != '\t' && !at(t, "\r\n")) {
            failed(t, "control character in a comment");
            return;
        }
        t->p++;
    }
}

static bool newline(Toml *t)
{
    if (!accept(t, "\r\n") && !accept(t, "\n"))
        return false;
    t->line++;
    return true;
}

/* Blanks, comments and line ends: between lines, and within lists. */
static void skip(Toml *t)
{
    do
        comment(t);
    while (newline(t));
}

/* ---------- strings ---------- */

static bool unicode(Toml *t, int count, char **to)
{
    uint32_t c = 0;
    for (int i = 0; i < count; i++, t->p++) {
        char d = peek(t);
        int v = d >= '0' && d <= '9' ? d - '0' : (d | 32) >= 'a' && (d | 32) <= 'f' ? (d | 32) - 'a' + 10 : -1;
        if (v < 0)
            return failed(t, "bad escape in a string");
        c = c << 4 | (uint32_t)v;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return failed(t, "an escape that is no character");
    *to += value_utf8_encode(c, *to);
    return true;
}

/* A backslash at the end of a line: it and the blanks and line ends that follow are left out. */
static bool line_continues(Toml *t)
{
    const char *back = t->p;
    blanks(t);
    if (!newline(t)) {
        t->p = back;
        return false;
    }
    do
        blanks(t);
    while (newline(t));
    return true;
}

static bool escape(Toml *t, bool lines, char **to)
{
    static const char from[] = "\"\\bfnrt", into[] = "\"\\\b\f\n\r\t";
    if (lines && line_continues(t))
        return true;
    char c = peek(t);
    const char *found = c ? strchr(from, c) : NULL;
    t->p += t->p < t->end;
    if (c == 'u' || c == 'U')
        return unicode(t, c == 'u' ? 4 : 8, to);
    if (!found)
        return failed(t, "bad escape in a string");
    *(*to)++ = into[found - from];
    return true;
}

/* A string over several lines may end in up to two quotes of its own. */
static bool closes(Toml *t, const char *quote, bool lines, char **to)
{
    if (!at(t, quote))
        return false;
    for (int extra = 0; lines && extra < 2 && t->end - t->p > 3 && t->p[3] == *quote; extra++)
        *(*to)++ = *t->p++;
    t->p += strlen(quote);
    return true;
}

static bool character(Toml *t, bool lines, char **to)
{
    if (lines && newline(t)) {
        *(*to)++ = '\n';
        return true;
    }
    size_t n = value_utf8(t->p, (size_t)(t->end - t->p));
    unsigned char c = (unsigned char)peek(t);
    if (!n)
        return failed(t, t->p == t->end ? "a string does not end" : "not UTF-8");
    if (c == '\n' || c == '\r')
        return failed(t, "a string does not end");
    if ((c < 0x20 && c != '\t') || c == 0x7f)
        return failed(t, "control character in a string");
    memcpy(*to, t->p, n);
    *to += n;
    t->p += n;
    return true;
}

/* How much room a string can need: what is left up to a quote that could end it, so that many short strings stay small. */
static size_t string_room(const Toml *t, char quote, bool lines)
{
    const char *p = t->p;
    for (; p < t->end && (lines || *p != '\n'); p++) {
        if (*p == '\\' && quote == '"')
            p++;
        else if (*p == quote && (!lines || (t->end - p >= 3 && p[1] == quote && p[2] == quote)))
            break;
    }
    return (size_t)((p < t->end ? p : t->end) - t->p) + 4;
}

static bool string(Toml *t, bool may_have_lines, Key *out)
{
    char mark = *t->p, quotes[4] = {mark, mark, mark, 0}, quote[2] = {mark, 0};
    bool lines = may_have_lines && accept(t, quotes);
    if (lines)
        newline(t);
    else
        t->p++;
    char *text = doc_alloc(t->doc, string_room(t, mark, lines)), *to = text;
    if (!text)
        return false;
    while (!closes(t, lines ? quotes : quote, lines, &to))
        if (mark == '"' && accept(t, "\\") ? !escape(t, lines, &to) : !character(t, lines, &to))
            return false;
    *to = 0;
    *out = (Key){text, (size_t)(to - text)};
    return true;
}

/* ---------- keys and tables ---------- */

static bool bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool key_part(Toml *t, Key *out)
{
    blanks(t);
    if (peek(t) == '"' || peek(t) == '\'')
        return string(t, false, out);
    const char *start = t->p;
    while (t->p < t->end && bare(*t->p))
        t->p++;
    if (t->p == start)
        return failed(t, "a key is expected");
    *out = (Key){doc_copy(t->doc, start, (size_t)(t->p - start)), (size_t)(t->p - start)};
    return out->text != NULL;
}

static bool dot(Toml *t)
{
    blanks(t);
    return accept(t, ".");
}

static Value *find(const Value *table, Key key)
{
    for (Value *v = table->first; v; v = v->next)
        if (v->key_len == key.len && memcmp(v->key, key.text, key.len) == 0)
            return v;
    return NULL;
}

static Value *insert(Toml *t, Value *table, Key key, Value *v)
{
    if (!v)
        return NULL;
    if (table->count == MOST_KEYS)
        return doc_fail(t->doc, t->line, "too many keys");
    v->key = key.text;
    v->key_len = key.len;
    value_append(table, v);
    return v;
}

static Value *again(Toml *t, Key key)
{
    return doc_fail(t->doc, t->line, "key \"%.60s\" is there already", key.text);
}

/* One step of a header's or a dotted key's way. */
static Value *enter(Toml *t, Value *table, Key key, bool header)
{
    Value *v = find(table, key);
    if (!v) {
        v = insert(t, table, key, doc_value(t->doc, VALUE_TABLE, t->line));
        if (v && !header)
            v->flags = DOTTED;
        return v;
    }
    if (header && v->kind == VALUE_LIST && (v->flags & OF_TABLES))
        return v->last;
    if (v->kind != VALUE_TABLE || (v->flags & CLOSED) || (!header && (v->flags & BY_HEADER)))
        return again(t, key);
    return v;
}

static bool key_value(Toml *t, Value *table)
{
    Key key;
    if (!key_part(t, &key))
        return false;
    for (unsigned depth = 0; dot(t); depth++) {
        if (depth == MOST_DEPTH)
            return failed(t, "nested too deeply");
        if (!(table = enter(t, table, key, false)) || !key_part(t, &key))
            return false;
    }
    if (!accept(t, "="))
        return failed(t, "\"=\" is expected");
    if (find(table, key))
        return again(t, key) != NULL;
    blanks(t);
    return insert(t, table, key, toml_value(t)) != NULL;
}

static Value *header_list(Toml *t, Value *table, Key key)
{
    Value *list = find(table, key);
    if (!list) {
        list = insert(t, table, key, doc_value(t->doc, VALUE_LIST, t->line));
        if (list)
            list->flags = OF_TABLES;
    } else if (list->kind != VALUE_LIST || !(list->flags & OF_TABLES)) {
        return again(t, key);
    }
    Value *item = list ? doc_value(t->doc, VALUE_TABLE, t->line) : NULL;
    if (item)
        value_append(list, item);
    return item;
}

static Value *header_table(Toml *t, Value *table, Key key)
{
    Value *v = find(table, key);
    if (!v)
        v = insert(t, table, key, doc_value(t->doc, VALUE_TABLE, t->line));
    else if (v->kind != VALUE_TABLE || (v->flags & (BY_HEADER | CLOSED | DOTTED)))
        return again(t, key);
    if (v) {
        v->flags |= BY_HEADER;
        v->line = t->line;
    }
    return v;
}

/* [a.b] or [[a.b]]: the table that what follows goes into. */
static Value *header(Toml *t, Value *root)
{
    Key key;
    Value *table = root;
    bool list = accept(t, "[[");
    if (!list)
        t->p++;
    if (!key_part(t, &key))
        return NULL;
    for (unsigned depth = 0; dot(t); depth++) {
        if (depth == MOST_DEPTH)
            return doc_fail(t->doc, t->line, "nested too deeply");
        if (!(table = enter(t, table, key, true)) || !key_part(t, &key))
            return NULL;
    }
    if (!accept(t, list ? "]]" : "]"))
        return doc_fail(t->doc, t->line, "\"%s\" is expected", list ? "]]" : "]");
    return list ? header_list(t, table, key) : header_table(t, table, key);
}

/* ---------- values ---------- */

static Value *toml_list(Toml *t)
{
    Value *list = doc_value(t->doc, VALUE_LIST, t->line);
    if (!list)
        return NULL;
    for (;;) {
        skip(t);
        if (accept(t, "]"))
            return list;
        Value *item = toml_value(t);
        if (!item)
            return NULL;
        value_append(list, item);
        skip(t);
        if (!accept(t, ",") && peek(t) != ']')
            return doc_fail(t->doc, t->line, "\",\" or \"]\" is expected");
    }
}

static void close_tables(Value *table)
{
    table->flags |= CLOSED;
    for (Value *v = table->first; v; v = v->next)
        if (v->kind == VALUE_TABLE && (v->flags & DOTTED)) /* no deeper than one key has dots */
            close_tables(v);
}

static Value *toml_inline(Toml *t)
{
    Value *table = doc_value(t->doc, VALUE_TABLE, t->line);
    blanks(t);
    if (!table)
        return NULL;
    while (!accept(t, "}")) {
        if (table->count && !accept(t, ","))
            return doc_fail(t->doc, t->line, "\",\" or \"}\" is expected");
        if (!key_value(t, table))
            return NULL;
        blanks(t);
    }
    close_tables(table);
    return table;
}

static Value *toml_string(Toml *t)
{
    Key s;
    Value *v = doc_value(t->doc, VALUE_STRING, t->line);
    if (!v || !string(t, true, &s))
        return NULL;
    v->text = s.text;
    v->len = s.len;
    return v;
}

static bool digit_of(char c, int base)
{
    int v = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 99;
    return v < base;
}

/* Digits of `base` with single underscores between them, copied without these; the number of digits, 0 when it is malformed. */
static size_t take_digits(const char **p, int base, char **to)
{
    size_t n = 0;
    for (const char *s = *p; *s; s++) {
        if (*s == '_' && n && digit_of(s[-1], base) && digit_of(s[1], base))
            continue;
        if (!digit_of(*s, base)) {
            *p = s;
            return *s == '_' ? 0 : n;
        }
        *(*to)++ = *s;
        n++;
        *p = s + 1;
    }
    return n;
}

static bool prefixed(const char *s, char *clean, Value *v)
{
    int base = s[1] == 'x' ? 16 : s[1] == 'o' ? 8 : 2;
    char *to = clean;
    s += 2;
    if (!take_digits(&s, base, &to) || *s)
        return false;
    *to = 0;
    errno = 0;
    v->integer = strtoll(clean, NULL, base);
    v->number = (double)v->integer;
    return !errno;
}

static bool decimal(const char *s, char *clean, Value *v)
{
    char *to = clean;
    if (*s == '+' || *s == '-')
        *to++ = *s++;
    const char *whole = s;
    size_t n = take_digits(&s, 10, &to);
    if (!n || (*whole == '0' && n > 1))
        return false;
    bool integer = !*s;
    if (*s == '.') {
        *to++ = *s++;
        if (!take_digits(&s, 10, &to))
            return false;
    }
    if ((*s | 32) == 'e') {
        *to++ = *s++;
        if (*s == '+' || *s == '-')
            *to++ = *s++;
        if (!take_digits(&s, 10, &to))
            return false;
    }
    if (*s)
        return false;
    *to = 0;
    v->kind = integer ? VALUE_INTEGER : VALUE_NUMBER;
    errno = 0;
    v->number = strtod(clean, NULL);
    errno = 0;
    v->integer = integer ? strtoll(clean, NULL, 10) : 0;
    return !errno;
}

static bool is_date(const char *s)
{
    return strspn(s, "0123456789") == 4 ? s[4] == '-' && strspn(s + 5, "0123456789") == 2
                                        : strspn(s, "0123456789") == 2 && s[2] == ':';
}

static bool word(const char *s, Value *v)
{
    bool sign = *s == '+' || *s == '-';
    if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0) {
        v->kind = VALUE_BOOL;
        v->truth = *s == 't';
    } else if (strcmp(s + sign, "inf") == 0) {
        v->kind = VALUE_NUMBER;
        v->number = *s == '-' ? -HUGE_VAL : HUGE_VAL;
    } else if (strcmp(s + sign, "nan") == 0) {
        v->kind = VALUE_NUMBER;
        v->number = NAN;
    } else {
        return false;
    }
    return true;
}

/* Numbers and words: up to what ends a value. */
static Value *toml_scalar(Toml *t)
{
    const char *start = t->p;
    while (t->p < t->end && (bare(*t->p) || *t->p == '+' || *t->p == '.' || *t->p == ':'))
        t->p++;
    size_t n = (size_t)(t->p - start);
    if (!n)
        return doc_fail(t->doc, t->line, "a value is expected");
    char *s = doc_copy(t->doc, start, n), *clean = s ? doc_alloc(t->doc, n + 1) : NULL;
    Value *v = clean ? doc_value(t->doc, VALUE_INTEGER, t->line) : NULL;
    if (!v)
        return NULL;
    bool prefix = s[0] == '0' && s[1] && strchr("xob", s[1]);
    if (word(s, v) || (prefix ? prefixed(s, clean, v) : decimal(s, clean, v)))
        return v;
    if (is_date(s))
        return doc_fail(t->doc, t->line, "a date: no setting takes one");
    return doc_fail(t->doc, t->line, "\"%.60s\" is no value (strings stand in quotes)", s);
}

static Value *toml_value(Toml *t)
{
    if (++t->depth > MOST_DEPTH)
        return doc_fail(t->doc, t->line, "nested too deeply");
    Value *v;
    if (peek(t) == '"' || peek(t) == '\'')
        v = toml_string(t);
    else if (accept(t, "["))
        v = toml_list(t);
    else
        v = accept(t, "{") ? toml_inline(t) : toml_scalar(t);
    t->depth--;
    if (v && (v->kind == VALUE_LIST || v->kind == VALUE_TABLE))
        v->flags |= CLOSED;
    return v;
}

Value *toml_parse(Doc *doc, const char *s, size_t n)
{
    Toml t = {.doc = doc, .p = s, .end = s + n, .line = 1};
    Value *root = doc_value(doc, VALUE_TABLE, 1), *table = root;
    accept(&t, "\xef\xbb\xbf");
    for (skip(&t); table && t.p < t.end && !doc->error[0]; skip(&t)) {
        if (peek(&t) == '[')
            table = header(&t, root);
        else if (!key_value(&t, table))
            return NULL;
        comment(&t);
        if (table && t.p < t.end && !at(&t, "\n") && !at(&t, "\r\n"))
            return doc_fail(doc, t.line, "a line end is expected");
    }
    return doc->error[0] ? NULL : root;
}
