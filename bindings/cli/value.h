/* value: configuration files and protocol messages as a tree.
 *
 * One parser makes it from JSON, one from TOML; the configuration and the MCP server read it. A tree lies in its Doc and goes with it.
 * Nothing raises: a parser gives NULL and the Doc holds what was wrong, and in which line; an allocation that fails or passes the Doc's
 * ceiling does the same. A Text that could not grow says so in `failed` and takes nothing more.
 */
#ifndef LIBSHELL_CLI_VALUE_H
#define LIBSHELL_CLI_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { VALUE_NULL, VALUE_BOOL, VALUE_INTEGER, VALUE_NUMBER, VALUE_STRING, VALUE_LIST, VALUE_TABLE } ValueKind;

typedef struct Value Value;
struct Value {
    ValueKind kind;
    unsigned line;
    unsigned char flags;     /* private to the parser */
    const char *key;         /* in a table; NUL-terminated beyond key_len */
    size_t key_len;
    Value *next;             /* in its list or table */
    bool truth;
    int64_t integer;
    double number;           /* of an integer too */
    const char *text;        /* NUL-terminated beyond len */
    size_t len;
    Value *first, *last;
    size_t count;
};

typedef struct DocBlock DocBlock;
typedef struct {
    DocBlock *blocks;
    size_t used, most;       /* bytes, and the ceiling */
    unsigned line;           /* of the error */
    char error[240];         /* "": none */
} Doc;

void doc_init(Doc *doc, size_t most);
void doc_free(Doc *doc);
void *doc_alloc(Doc *doc, size_t n);                             /* zeroed, aligned for anything; NULL after noting an error */
char *doc_copy(Doc *doc, const char *s, size_t n);
Value *doc_value(Doc *doc, ValueKind kind, unsigned line);
void *doc_fail(Doc *doc, unsigned line, const char *format, ...) /* always NULL; the first error stays */
    __attribute__((format(printf, 3, 4)));

void value_append(Value *list, Value *item);
/* The last member of that name, as JSON readers take it; NULL when there is none or `table` is NULL or no table. */
Value *value_get(const Value *table, const char *key);
const char *value_kind_name(ValueKind kind);
bool value_is(const Value *v, const char *text);                 /* the string `text` */

Value *json_parse(Doc *doc, const char *s, size_t n);
Value *toml_parse(Doc *doc, const char *s, size_t n);

/* Length of the UTF-8 sequence at s, 0 when it is none. */
size_t value_utf8(const char *s, size_t n);
size_t value_utf8_encode(uint32_t c, char out[4]);

typedef struct {
    char *data; /* NULL until something is added, then with a NUL behind it */
    size_t len, cap;
    bool failed;
} Text;

void text_add(Text *t, const char *s, size_t n);
void text_str(Text *t, const char *s);
void text_printf(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_json(Text *t, const char *s, size_t n);                /* quoted; what is not UTF-8 becomes U+FFFD */
void text_base64(Text *t, const char *s, size_t n);
bool base64_decode(Doc *doc, const char *s, size_t n, char **out, size_t *len);
void text_free(Text *t);

#endif
