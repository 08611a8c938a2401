/* json: RFC 8259, strictly: one value, UTF-8, no comments, nesting bounded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

enum { MOST_DEPTH = 128 };

typedef struct {
    Doc *doc;
    const char *p, *end;
    unsigned line, depth;
} Json;

static Value *json_value(Json *j);

static void blanks(Json *j)
{
    for (; j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\r' || *j->p == '\n'); j->p++)
        j->line += *j->p == '\n';
}

static bool accept(Json *j, char c)
{
    blanks(j);
    if (j->p == j->end || *j->p != c)
        return false;
    j->p++;
    return true;
}

static bool hex4(Json *j, uint32_t *out)
{
    static const char digits[] = "0123456789abcdef";
    *out = 0;
    if (j->end - j->p < 4)
        return false;
    for (int i = 0; i < 4; i++, j->p++) {
        const char *d = *j->p ? strchr(digits, *j->p >= 'A' && *j->p <= 'F' ? *j->p | 32 : *j->p) : NULL;
        if (!d)
            return false;
        *out = *out << 4 | (uint32_t)(d - digits);
    }
    return true;
}

/* After \u: a surrogate stands for something in a pair only; alone it is U+FFFD. */
static bool escaped_unit(Json *j, char **to)
{
    uint32_t c, low;
    if (!hex4(j, &c))
        return false;
    if (c >= 0xd800 && c < 0xdc00 && j->end - j->p >= 6 && j->p[0] == '\\' && j->p[1] == 'u') {
        const char *back = j->p;
        j->p += 2;
        if (!hex4(j, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        else
            j->p = back;
    }
    if (c >= 0xd800 && c < 0xe000)
        c = 0xfffd;
    *to += value_utf8_encode(c, *to);
    return true;
}

static bool escape(Json *j, char **to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    if (j->p == j->end)
        return false;
    char c = *j->p++;
    if (c == 'u')
        return escaped_unit(j, to);
    const char *at = c ? strchr(from, c) : NULL;
    if (at)
        *(*to)++ = into[at - from];
    return at != NULL;
}

/* Where the string that begins at p ends; its raw length bounds what it can become. */
static const char *string_end(const char *p, const char *end)
{
    for (; p < end && *p != '"'; p++)
        if (*p == '\\' && ++p == end)
            return NULL;
    return p < end ? p : NULL;
}

static char *string(Json *j, size_t *len)
{
    const char *end = string_end(j->p, j->end);
    if (!end)
        return doc_fail(j->doc, j->line, "a string does not end");
    char *text = doc_alloc(j->doc, (size_t)(end - j->p) + 1), *to = text;
    while (text && j->p < end) {
        if (*j->p == '\\') {
            j->p++;
            if (!escape(j, &to))
                return doc_fail(j->doc, j->line, "bad escape in a string");
            continue;
        }
        size_t n = value_utf8(j->p, (size_t)(end - j->p));
        if (!n || (unsigned char)*j->p < 0x20)
            return doc_fail(j->doc, j->line, n ? "control character in a string" : "not UTF-8");
        memcpy(to, j->p, n);
        to += n;
        j->p += n;
    }
    if (!text)
        return NULL;
    j->p = end + 1;
    *len = (size_t)(to - text);
    *to = 0;
    return text;
}

static Value *json_string(Json *j)
{
    Value *v = doc_value(j->doc, VALUE_STRING, j->line);
    if (!v || !(v->text = string(j, &v->len)))
        return NULL;
    return v;
}

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

static Value *json_number(Json *j)
{
    const char *start = j->p, *p = start + (*start == '-'), *whole = p;
    bool integer = true;
    p = digits(p, j->end);
    bool good = p > whole && (*whole != '0' || p == whole + 1);
    if (good && p < j->end && *p == '.') {
        const char *fraction = ++p;
        integer = false;
        good = (p = digits(p, j->end)) > fraction;
    }
    if (good && p < j->end && (*p | 32) == 'e') {
        p++;
        p += p < j->end && (*p == '+' || *p == '-');
        const char *exponent = p;
        integer = false;
        good = (p = digits(p, j->end)) > exponent;
    }
    if (!good)
        return doc_fail(j->doc, j->line, "bad number");
    char *text = doc_copy(j->doc, start, (size_t)(p - start));
    Value *v = text ? doc_value(j->doc, VALUE_NUMBER, j->line) : NULL;
    if (!v)
        return NULL;
    j->p = p;
    v->number = strtod(text, NULL);
    errno = 0;
    v->integer = strtoll(text, NULL, 10);
    if (integer && !errno)
        v->kind = VALUE_INTEGER;
    return v;
}

static Value *json_word(Json *j)
{
    static const struct { const char *word; ValueKind kind; bool truth; } words[] = {
        {"null", VALUE_NULL, false}, {"true", VALUE_BOOL, true}, {"false", VALUE_BOOL, false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(j->end - j->p) >= n && memcmp(j->p, words[i].word, n) == 0) {
            Value *v = doc_value(j->doc, words[i].kind, j->line);
            if (v)
                v->truth = words[i].truth;
            j->p += n;
            return v;
        }
    }
    return doc_fail(j->doc, j->line, "a value is expected");
}

static Value *json_list(Json *j)
{
    Value *list = doc_value(j->doc, VALUE_LIST, j->line);
    if (!list || accept(j, ']'))
        return list;
    do {
        Value *item = json_value(j);
        if (!item)
            return NULL;
        value_append(list, item);
    } while (accept(j, ','));
    return accept(j, ']') ? list : doc_fail(j->doc, j->line, "\",\" or \"]\" is expected");
}

static Value *json_table(Json *j)
{
    Value *table = doc_value(j->doc, VALUE_TABLE, j->line);
    if (!table || accept(j, '}'))
        return table;
    do {
        size_t len;
        if (!accept(j, '"'))
            return doc_fail(j->doc, j->line, "a key in quotes is expected");
        char *key = string(j, &len);
        if (!key)
            return NULL;
        if (!accept(j, ':'))
            return doc_fail(j->doc, j->line, "\":\" is expected");
        Value *item = json_value(j);
        if (!item)
            return NULL;
        item->key = key;
        item->key_len = len;
        value_append(table, item);
    } while (accept(j, ','));
    return accept(j, '}') ? table : doc_fail(j->doc, j->line, "\",\" or \"}\" is expected");
}

static Value *json_value(Json *j)
{
    blanks(j);
    if (j->p == j->end)
        return doc_fail(j->doc, j->line, "a value is expected");
    if (++j->depth > MOST_DEPTH)
        return doc_fail(j->doc, j->line, "nested too deeply");
    Value *v;
    char c = *j->p;
    if (c == '{' || c == '[' || c == '"') {
        j->p++;
        v = c == '{' ? json_table(j) : c == '[' ? json_list(j) : json_string(j);
    } else {
        v = c == '-' || (c >= '0' && c <= '9') ? json_number(j) : json_word(j);
    }
    j->depth--;
    return v;
}

Value *json_parse(Doc *doc, const char *s, size_t n)
{
    Json j = {.doc = doc, .p = s, .end = s + n, .line = 1};
    Value *v = json_value(&j);
    blanks(&j);
    if (v && j.p < j.end)
        return doc_fail(doc, j.line, "something follows the value");
    return v;
}
