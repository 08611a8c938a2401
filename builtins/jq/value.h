/* value: the data of jq. Private to builtins/jq.
 *
 * Values are counted and immutable; who holds the only reference changes in place. A Val is passed by value
 * and owned by whoever has it: functions consume their Val arguments unless they say "borrows".
 * Memory is a size-class free list over one process-owned context, so nothing needs freeing when a raise ends the process and a
 * long stream stays flat. Allocation raises; it never returns NULL.
 */
#ifndef LIBSHELL_JQ_VALUE_H
#define LIBSHELL_JQ_VALUE_H

#include "command.h"

/* The order of kinds is jq's sort order. */
typedef enum {
    K_INVALID, /* no value: empty, or an error when J.raising says so */
    K_NULL,
    K_FALSE,
    K_TRUE,
    K_NUMBER,
    K_STRING,
    K_ARRAY,
    K_OBJECT,
    K_PATH, /* the machine's own: a saved path */
} Kind;

typedef struct JStr {
    uint32_t refs;
    uint32_t hash;  /* 0: not computed */
    uint32_t len;
    uint32_t cap;   /* bytes at data, the NUL included */
    bool ascii;     /* known to be ASCII */
    char data[];
} JStr;

/* A number whose text says more than its double. */
typedef struct JNum {
    uint32_t refs;
    uint32_t len;
    double value;
    bool known;  /* value has been worked out */
    char text[]; /* canonical, NUL-terminated */
} JNum;

typedef struct JArr JArr;
typedef struct JObj JObj;
typedef struct PathNode PathNode;

typedef struct Val {
    uint8_t kind;
    bool literal; /* K_NUMBER: lit is meant, else num */
    bool written; /* K_NUMBER: as it was read, not worked out: 0 has no negative */
    uint32_t meta; /* yq: the node whose comments and style it has; 0: none. Goes where the value goes */
    union {
        double num;
        JNum *lit;
        JStr *str;
        JArr *arr;
        JObj *obj;
        PathNode *path;
        uint64_t bits;
    };
} Val;

/* A slice is a view: `owner` holds the items. */
struct JArr {
    uint32_t refs;
    uint32_t len, cap;
    JArr *owner;
    Val *items;
};

typedef struct {
    JStr *key; /* NULL: removed */
    Val value;
} JEntry;

/* Insertion-ordered; `index` exists above JOBJ_SMALL entries and holds entry number + 1. */
struct JObj {
    uint32_t refs;
    uint32_t used, live, cap;
    uint32_t mask; /* buckets - 1 */
    uint32_t *index;
    JEntry *entries;
};

enum { JOBJ_SMALL = 16 };
#define JQ_MAX_DEPTH 10000u
enum { ARRAY_INDEX_MOST = 1 << 29 };
#define JQ_MAX_BYTES ((size_t)INT32_MAX)

struct PathNode {
    uint32_t refs;
    uint32_t len;
    PathNode *parent;
    Val key;
};

enum { JQ_CLASSES = 33, JQ_LARGE = 28, JQ_KEYS = 1024 };

/* The engine: memory, the current error, and what the runtime functions need. */
typedef struct J {
    Proc *proc;
    Mem *mem;
    void *free_small[JQ_CLASSES]; /* by size in 16-byte units */
    void *free_large[64];         /* by power of two */
    JStr *empty;
    JStr *keys[JQ_KEYS];          /* recently read object keys */
    Val error;
    void *last_input;             /* a container that nothing comes after: its parts go with the process */
    bool raising;                 /* the function just called failed; `error` says how */
    JObj *environment;
    struct Machine *machine;
    struct Pattern *pattern;      /* the last regular expression used */
    struct Inputs *inputs;
    const struct PrintStyle *style; /* of what jq prints */
    struct Yq *yq;                /* the command is yq */
    Val named, positional;
    Val prog_origin;
    bool halted;
    int halt_status;
    Val halt_value;
} J;

#define VAL_INVALID ((Val){.kind = K_INVALID})
#define VAL_NULL ((Val){.kind = K_NULL})
#define VAL_FALSE ((Val){.kind = K_FALSE})
#define VAL_TRUE ((Val){.kind = K_TRUE})

static inline Val val_bool(bool b) { return (Val){.kind = b ? K_TRUE : K_FALSE}; }
static inline Val val_num(double n) { return (Val){.kind = K_NUMBER, .num = n}; }
static inline Val val_str(JStr *s) { return (Val){.kind = K_STRING, .str = s}; }
static inline Val val_arr(JArr *a) { return (Val){.kind = K_ARRAY, .arr = a}; }
static inline Val val_obj(JObj *o) { return (Val){.kind = K_OBJECT, .obj = o}; }
static inline bool val_truthy(Val v) { return v.kind > K_FALSE; }
double jq_number_value(JNum *n);
static inline double val_double(Val v) { return v.literal ? jq_number_value(v.lit) : v.num; }
static inline bool val_counted(Val v) { return v.kind > K_NUMBER || v.literal; }
static inline Slice js_slice(const JStr *s) { return (Slice){s->data, s->len}; }
static inline Slice val_slice(Val v) { return js_slice(v.str); }

/* Every counted thing begins with its count. */
static inline Val val_copy(Val v)
{
    if (val_counted(v))
        ++*(uint32_t *)(void *)v.str;
    return v;
}

void val_free_slow(J *j, Val v);

static inline void val_free(J *j, Val v)
{
    if (val_counted(v) && --*(uint32_t *)(void *)v.str == 0)
        val_free_slow(j, v);
}

static inline bool val_unique(Val v) { return *(uint32_t *)(void *)v.str == 1; }

/* ---------- memory ---------- */

void *jmem_slow(J *j, size_t n);
/* memcpy that can be stopped: new memory is slow to touch the first time. */
void jmem_copy(J *j, void *to, const void *from, size_t n);
void jmem_free_large(J *j, void *at, size_t n);
size_t jmem_size(size_t n); /* what an allocation of n really holds */

static inline void *jmem(J *j, size_t n)
{
    size_t units = (n + 15) / 16;
    if (likely(units < JQ_CLASSES && j->free_small[units])) {
        void *at = j->free_small[units];
        memcpy(&j->free_small[units], at, sizeof(void *));
        return at;
    }
    return jmem_slow(j, n);
}

static inline void jmem_give(J *j, void *at, size_t n)
{
    size_t units = (n + 15) / 16;
    if (unlikely(units >= JQ_CLASSES || units == 0)) {
        jmem_free_large(j, at, n);
        return;
    }
    memcpy(at, &j->free_small[units], sizeof(void *));
    j->free_small[units] = at;
}

/* ---------- errors ---------- */

/* Both set J.error and return VAL_INVALID. */
Val jq_error(J *j, const char *format, ...) PRINTF_LIKE(2, 3);
Val jq_error_val(J *j, Val message);
/* "%s (%s) and %s (%s) cannot be added": consumes both. */
Val jq_error_two(J *j, Val a, Val b, const char *what);
Val jq_error_one(J *j, Val a, const char *what);
/* The start of a value's JSON, cut to fit as jq cuts it; borrows v. */
const char *val_short(J *j, Val v, char *buf, size_t size);
enum { SHORT_ERROR = 30 };

/* ---------- strings ---------- */

JStr *str_alloc(J *j, size_t len); /* uninitialised bytes, NUL set */
Val val_string(J *j, Slice bytes); /* bytes are valid UTF-8 */
Val val_text(J *j, const char *s);
Val val_string_utf8(J *j, Slice bytes); /* invalid parts become U+FFFD */
Val val_printf(J *j, const char *format, ...) PRINTF_LIKE(2, 3);
Val val_append(J *j, Val s, Slice bytes); /* in place when unique */
uint32_t str_hash(JStr *s);
size_t str_length(JStr *s);               /* code points */
bool str_equal(const JStr *a, const JStr *b);
int str_cmp(const JStr *a, const JStr *b);
JStr *str_key(J *j, Slice bytes);         /* through the cache of keys */

/* ---------- numbers ---------- */

enum { NUMBER_TEXT = 40 };
size_t jq_number_format(double d, char out[NUMBER_TEXT]); /* 17 digits, shortest that reads back */
/* A JSON number's text; false: not one. */
bool jq_number_parse(J *j, Slice text, Val *out);
double jq_number_read(Slice text, bool *ok); /* a decimal number, no literal kept */
/* What prints: the literal's text, or the double's. `buf` is used for the latter. */
Slice jq_number_text(Val v, char buf[NUMBER_TEXT]);

bool jq_number_special(Slice text, Val *out); /* nan, infinity */
int jq_number_cmp_literal(J *j, const JNum *a, const JNum *b); /* of equal doubles */
Val jq_number_negate(J *j, Val v);

/* ---------- arrays ---------- */

Val arr_new(J *j, size_t cap);
Val arr_push(J *j, Val a, Val item);
Val arr_get(Val a, size_t i);                /* borrows a; a copy of the item, or invalid */
Val arr_set(J *j, Val a, int64_t i, Val item); /* grows with nulls; negative counts from the end */
Val arr_slice(J *j, Val a, int64_t start, int64_t end); /* 0 <= start <= end <= len */
Val arr_concat(J *j, Val a, Val b);
Val arr_own(J *j, Val a, size_t cap);        /* unique, not a view, room for cap */
static inline size_t arr_len(Val a) { return a.arr->len; }

/* ---------- objects ---------- */

Val obj_new(J *j, size_t cap);
Val *obj_find(Val o, JStr *key); /* borrows; valid until o changes */
Val obj_get(Val o, JStr *key);   /* borrows both; a copy, or invalid */
Val obj_get_text(J *j, Val o, const char *key);
Val obj_set(J *j, Val o, Val key, Val value);
Val obj_set_text(J *j, Val o, const char *key, Val value);
Val obj_remove(J *j, Val o, JStr *key);
Val obj_from_pairs(J *j, const Val *pairs, size_t count); /* owns keys and values; a later equal key wins in the first's place */
/* The next live entry at or after i, or used. */
static inline uint32_t obj_next(const JObj *o, uint32_t i)
{
    while (i < o->used && !o->entries[i].key)
        i++;
    return i;
}
static inline size_t obj_len(Val o) { return o.obj->live; }
Val obj_keys(J *j, Val o, bool sorted); /* borrows */
/* Entries in key order; the array is the caller's to give back with jmem_give(live * sizeof). */
JEntry **obj_sorted(J *j, const JObj *o);

/* ---------- comparison (compare.c) ---------- */

int val_cmp(J *j, Val a, Val b);  /* borrows; jq's total order */
bool val_equal(J *j, Val a, Val b); /* borrows */
bool val_identical(Val a, Val b); /* the same thing, not only equal; borrows */
int val_contains(J *j, Val a, Val b); /* borrows; -1: error set */

typedef struct { Val key, item; } SortPair;
void jq_sort_pairs(J *j, SortPair *pairs, size_t n); /* stable */
Val val_sort(J *j, Val a);
Val val_sort_by(J *j, Val a, Val keys);
Val val_group_by(J *j, Val a, Val keys);
Val val_unique_by(J *j, Val a, Val keys);

/* ---------- access (paths.c) ---------- */

Val jv_get(J *j, Val t, Val k);        /* .[k] */
Val jv_set(J *j, Val t, Val k, Val v); /* .[k] = v */
Val jv_has(J *j, Val t, Val k);
Val jv_getpath(J *j, Val t, Val path);
Val jv_setpath(J *j, Val t, Val path, Val v);
Val jv_delpaths(J *j, Val t, Val paths);
Val jv_keys(J *j, Val t, bool sorted);

extern const char *const jq_kind_names[];
static inline const char *kind_name(Val v) { return jq_kind_names[v.kind]; }

/* ---------- printing (print.c) ---------- */

/* Where text goes: a window that `full` empties or enlarges. */
typedef struct Sink {
    char *at, *end;
    void (*full)(struct Sink *s, size_t need);
    J *j;
    Output *out; /* what it is written through, or NULL: memory */
    char *start;
} Sink;

typedef struct PrintStyle {
    bool sorted, ascii, pretty, tab, color;
    int indent;
    const char *const *colors;
} PrintStyle;

void jsink_memory(Sink *s, J *j); /* gathers from start to at, until jsink_free */
void jsink_free(Sink *s);
void jsink_output(Sink *s, J *j, Output *out);
void jsink_done(Sink *s); /* passes what is gathered to out */
void jsink_slow(Sink *s, Slice bytes);
static inline void jsink_write(Sink *s, Slice bytes)
{
    if (likely(bytes.len <= (size_t)(s->end - s->at))) {
        if (bytes.len)
            memcpy(s->at, bytes.data, bytes.len);
        s->at += bytes.len;
    } else {
        jsink_slow(s, bytes);
    }
}
static inline void sink_char(Sink *s, char c)
{
    if (unlikely(s->at == s->end))
        s->full(s, 1);
    *s->at++ = c;
}
void jq_print_value(Sink *s, Val v, const PrintStyle *style); /* borrows */
Val val_printed(J *j, Val v, const PrintStyle *style);
void jq_print_string(Sink *s, Slice text, bool ascii);
Val val_tojson(J *j, Val v); /* consumes */
Val val_tostring(J *j, Val v);

#endif
