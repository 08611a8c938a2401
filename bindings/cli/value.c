/* value: trees, their memory, and text that grows. */
#include "value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4000, ALIGN = 16 };
static const size_t text_most = (size_t)1 << 31;

struct DocBlock {
    DocBlock *next;
    size_t used, size;
    _Alignas(ALIGN) char data[];
};

void doc_init(Doc *doc, size_t most)
{
    *doc = (Doc){.most = most};
}

void doc_free(Doc *doc)
{
    for (DocBlock *b = doc->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    doc->blocks = NULL;
}

void *doc_fail(Doc *doc, unsigned line, const char *format, ...)
{
    if (doc->error[0])
        return NULL;
    va_list args;
    va_start(args, format);
    vsnprintf(doc->error, sizeof doc->error, format, args);
    va_end(args);
    doc->line = line;
    return NULL;
}

void *doc_alloc(Doc *doc, size_t n)
{
    if (n > doc->most || doc->used > doc->most - n)
        return doc_fail(doc, 0, "too large");
    n = (n + ALIGN - 1) / ALIGN * ALIGN;
    if (!doc->blocks || doc->blocks->size - doc->blocks->used < n) {
        size_t size = n > BLOCK ? n : BLOCK;
        DocBlock *b = malloc(sizeof *b + size);
        if (!b)
            return doc_fail(doc, 0, "out of memory");
        *b = (DocBlock){.next = doc->blocks, .size = size};
        doc->blocks = b;
    }
    void *p = doc->blocks->data + doc->blocks->used;
    doc->blocks->used += n;
    doc->used += n;
    return memset(p, 0, n);
}

char *doc_copy(Doc *doc, const char *s, size_t n)
{
    char *p = doc_alloc(doc, n + 1);
    if (p && n)
        memcpy(p, s, n);
    return p;
}

Value *doc_value(Doc *doc, ValueKind kind, unsigned line)
{
    Value *v = doc_alloc(doc, sizeof *v);
    if (v) {
        v->kind = kind;
        v->line = line;
    }
    return v;
}

void value_append(Value *list, Value *item)
{
    if (list->last)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
    list->count++;
}

Value *value_get(const Value *table, const char *key)
{
    Value *found = NULL;
    size_t n = strlen(key);
    for (Value *v = table && table->kind == VALUE_TABLE ? table->first : NULL; v; v = v->next)
        if (v->key_len == n && memcmp(v->key, key, n) == 0)
            found = v;
    return found;
}

const char *value_kind_name(ValueKind kind)
{
    static const char *const names[] = {"null", "a boolean", "an integer", "a number", "a string", "a list", "a table"};
    return names[kind];
}

bool value_is(const Value *v, const char *text)
{
    return v && v->kind == VALUE_STRING && v->len == strlen(text) && memcmp(v->text, text, v->len) == 0;
}

/* ---------- UTF-8 ---------- */

size_t value_utf8(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t want = n == 0 ? 0 : u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : u[0] < 0xf5 ? 4 : 0;
    if (want > n)
        return 0;
    for (size_t i = 1; i < want; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    /* overlong forms, surrogates, and what lies beyond U+10FFFF */
    if (want >= 3 && ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) || (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f)))
        return 0;
    return want;
}

size_t value_utf8_encode(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((0xf00u >> n & 0xf0u) | c);
    return n;
}

/* ---------- text ---------- */

/* For n bytes and the NUL behind them. */
static bool text_room(Text *t, size_t n)
{
    if (t->failed || n > text_most || t->len > text_most - n) {
        t->failed = true;
        return false;
    }
    if (t->len + n < t->cap)
        return true;
    size_t cap = t->cap ? t->cap : 512;
    while (cap <= t->len + n)
        cap *= 2;
    char *more = realloc(t->data, cap);
    if (!more) {
        t->failed = true;
        return false;
    }
    t->data = more;
    t->cap = cap;
    return true;
}

void text_add(Text *t, const char *s, size_t n)
{
    if (!text_room(t, n))
        return;
    if (n)
        memcpy(t->data + t->len, s, n);
    t->len += n;
    t->data[t->len] = 0;
}

void text_str(Text *t, const char *s)
{
    text_add(t, s, strlen(s));
}

void text_printf(Text *t, const char *format, ...)
{
    char small[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n < 0) {
        t->failed = true;
    } else if ((size_t)n < sizeof small) {
        text_add(t, small, (size_t)n);
    } else if (text_room(t, (size_t)n)) {
        va_start(args, format);
        vsnprintf(t->data + t->len, (size_t)n + 1, format, args);
        va_end(args);
        t->len += (size_t)n;
    }
}

static void json_escape(Text *t, unsigned char c)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *p = letters; *p; p += 2)
        if ((unsigned char)*p == c) {
            char pair[2] = {'\\', p[1]};
            text_add(t, pair, 2);
            return;
        }
    text_printf(t, "\\u%04x", c);
}

void text_json(Text *t, const char *s, size_t n)
{
    text_add(t, "\"", 1);
    size_t plain = 0;
    for (size_t i = 0, step; i < n; i += step) {
        unsigned char c = (unsigned char)s[i];
        step = c < 0x80 ? 1 : value_utf8(s + i, n - i);
        if (step && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        text_add(t, s + plain, i - plain);
        if (step)
            json_escape(t, c);
        else
            text_add(t, "\xef\xbf\xbd", 3);
        step = step ? step : 1;
        plain = i + step;
    }
    text_add(t, s + plain, n - plain);
    text_add(t, "\"", 1);
}

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void text_base64(Text *t, const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)u[i] << 16 | (i + 1 < n ? (unsigned)u[i + 1] << 8 : 0) | (i + 2 < n ? u[i + 2] : 0u);
        char four[4] = {base64[v >> 18], base64[v >> 12 & 63], i + 1 < n ? base64[v >> 6 & 63] : '=', i + 2 < n ? base64[v & 63] : '='};
        text_add(t, four, 4);
    }
}

bool base64_decode(Doc *doc, const char *s, size_t n, char **out, size_t *len)
{
    char *p = doc_alloc(doc, n / 4 * 3 + 1);
    *out = p;
    *len = 0;
    if (!p || n % 4)
        return false;
    for (size_t i = 0; i < n; i += 4) {
        unsigned v = 0, pad = 0;
        for (size_t k = 0; k < 4; k++) {
            char c = s[i + k];
            const char *at = c && c != '=' ? memchr(base64, c, 64) : NULL;
            if (c == '=' && k >= 2 && i + 4 == n)
                pad++;
            else if (!at || pad)
                return false;
            v = v << 6 | (at ? (unsigned)(at - base64) : 0);
        }
        char three[3] = {(char)(v >> 16 & 255), (char)(v >> 8 & 255), (char)(v & 255)};
        memcpy(p + *len, three, 3 - pad);
        *len += 3 - pad;
    }
    return true;
}

void text_free(Text *t)
{
    free(t->data);
    *t = (Text){0};
}
