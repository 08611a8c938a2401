/* value: memory, strings and arrays of jq's data. */
#include <stdarg.h>

#include "value.h"

const char *const jq_kind_names[] = {"<invalid>", "null", "boolean", "boolean", "number", "string", "array", "object", "<path>"};

/* ---------- memory ---------- */

/* Large blocks are powers of two from 1 KiB. */
static unsigned large_class(size_t n)
{
    unsigned bits = 64u - (unsigned)__builtin_clzll(n - 1);
    return bits < 10 ? 10 : bits;
}

size_t jmem_size(size_t n)
{
    size_t units = (n + 15) / 16;
    return units && units < JQ_CLASSES ? units * 16 : (size_t)1 << large_class(n);
}

/* Small blocks are cut from slabs, so that the context sees few allocations. */
static void *cut_slab(J *j, size_t size)
{
#ifdef LIBSHELL_MEM_DEBUG
    return mem_alloc(j->mem, size);
#else
    enum { SLAB = 16 };
    size_t count = size >= 256 ? 4 : SLAB;
    char *slab = mem_alloc(j->mem, size * count);
    size_t units = size / 16;
    for (size_t i = count; i-- > 1;) {
        memcpy(slab + i * size, &j->free_small[units], sizeof(void *));
        j->free_small[units] = slab + i * size;
    }
    return slab;
#endif
}

void *jmem_slow(J *j, size_t n)
{
    size_t units = (n + 15) / 16;
    if (n == 0)
        units = 1;
    if (n && units < JQ_CLASSES)
        return cut_slab(j, units * 16);
    if (n == 0)
        return jmem(j, 1);
    unsigned class = large_class(n);
    void *at = j->free_large[class];
    if (at) {
        memcpy(&j->free_large[class], at, sizeof(void *));
        return at;
    }
    proc_tick(j->proc, (n >> 12) + 1);
    return mem_alloc(j->mem, (size_t)1 << class);
}

void jmem_copy(J *j, void *to, const void *from, size_t n)
{
    enum { PART = 1 << 20 };
    for (; n > PART; n -= PART) {
        memcpy(to, from, PART);
        to = (char *)to + PART;
        from = (const char *)from + PART;
        proc_tick(j->proc, 1024);
    }
    memcpy(to, from, n);
}

void jmem_free_large(J *j, void *at, size_t n)
{
    if (n == 0) {
        jmem_give(j, at, 1);
        return;
    }
    unsigned class = large_class(n);
    memcpy(at, &j->free_large[class], sizeof(void *));
    j->free_large[class] = at;
}

/* Containers that died and whose contents are still to be let go: depth costs no stack. Arrays are linked through `owner` (a dead
 * view has already passed its owner on), objects through `index` (already given back). */
typedef struct {
    JArr *arrays;
    JObj *objects;
} Dead;

static void let_go(J *j, Val v, Dead *dead);

static void array_died(J *j, JArr *a, Dead *dead)
{
    if (a->owner) {
        JArr *owner = a->owner;
        jmem_give(j, a, sizeof *a);
        let_go(j, val_arr(owner), dead);
        return;
    }
    a->owner = dead->arrays;
    dead->arrays = a;
}

static void object_died(J *j, JObj *o, Dead *dead)
{
    if (o->index)
        jmem_give(j, o->index, ((size_t)o->mask + 1) * sizeof *o->index);
    o->index = (uint32_t *)(void *)dead->objects;
    dead->objects = o;
}

static void path_died(J *j, PathNode *node, Dead *dead)
{
    do {
        PathNode *parent = node->parent;
        let_go(j, node->key, dead);
        jmem_give(j, node, sizeof *node);
        node = parent;
    } while (node && --node->refs == 0);
}

static void let_go(J *j, Val v, Dead *dead)
{
    if (!val_counted(v) || --*(uint32_t *)(void *)v.str)
        return;
    switch (v.kind) {
    case K_NUMBER:
        jmem_give(j, v.lit, sizeof *v.lit + v.lit->len + 1);
        break;
    case K_STRING:
        jmem_give(j, v.str, sizeof *v.str + v.str->cap);
        break;
    case K_ARRAY:
        array_died(j, v.arr, dead);
        break;
    case K_OBJECT:
        object_died(j, v.obj, dead);
        break;
    default:
        path_died(j, v.path, dead);
    }
}

static void empty_array(J *j, JArr *a, Dead *dead)
{
    for (uint32_t i = 0; i < a->len; i++)
        let_go(j, a->items[i], dead);
    if (a->cap)
        jmem_give(j, a->items, a->cap * sizeof(Val));
    jmem_give(j, a, sizeof *a);
}

static void empty_object(J *j, JObj *o, Dead *dead)
{
    for (uint32_t i = 0; i < o->used; i++) {
        if (!o->entries[i].key)
            continue;
        let_go(j, val_str(o->entries[i].key), dead);
        let_go(j, o->entries[i].value, dead);
    }
    if (o->cap)
        jmem_give(j, o->entries, o->cap * sizeof(JEntry));
    jmem_give(j, o, sizeof *o);
}

void val_free_slow(J *j, Val v)
{
    if (v.kind == K_STRING) {
        jmem_give(j, v.str, sizeof *v.str + v.str->cap);
        return;
    }
    if (v.str == j->last_input)
        return;
    Dead dead = {NULL, NULL};
    *(uint32_t *)(void *)v.str = 1;
    let_go(j, v, &dead);
    while (dead.arrays || dead.objects) {
        while (dead.arrays) {
            JArr *a = dead.arrays;
            dead.arrays = a->owner;
            empty_array(j, a, &dead);
        }
        if (dead.objects) {
            JObj *o = dead.objects;
            dead.objects = (JObj *)(void *)o->index;
            empty_object(j, o, &dead);
        }
    }
}

/* ---------- strings ---------- */

static void check_bytes(J *j, size_t n)
{
    if (n > JQ_MAX_BYTES)
        proc_raise(j->proc, RAISE_MEMORY);
}

JStr *str_alloc(J *j, size_t len)
{
    check_bytes(j, len);
    size_t size = jmem_size(sizeof(JStr) + len + 1);
    JStr *s = jmem(j, size);
    s->refs = 1;
    s->hash = 0;
    s->len = (uint32_t)len;
    s->cap = (uint32_t)(size - sizeof(JStr));
    s->ascii = false;
    s->data[len] = 0;
    return s;
}

Val val_string(J *j, Slice bytes)
{
    if (bytes.len == 0) {
        j->empty->refs++;
        return val_str(j->empty);
    }
    JStr *s = str_alloc(j, bytes.len);
    memcpy(s->data, bytes.data, bytes.len);
    return val_str(s);
}

Val val_text(J *j, const char *s) { return val_string(j, slice_str(s)); }

/* How many bytes of a broken sequence jq replaces by one U+FFFD: as many as still look like its beginning. */
static size_t broken_length(Slice s)
{
    unsigned char c = (unsigned char)s.data[0];
    size_t want = c >= 0xc2 && c <= 0xdf ? 2 : c >= 0xe0 && c <= 0xef ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 1;
    size_t n = 1;
    if (want > s.len) /* and all that is left when there is less */
        return s.len;
    while (n < want && ((unsigned char)s.data[n] & 0xc0) == 0x80)
        n++;
    return n;
}

Val val_string_utf8(J *j, Slice bytes)
{
    if (utf8_valid(bytes))
        return val_string(j, bytes);
    Val out = val_string(j, (Slice){"", 0});
    while (bytes.len) {
        size_t n;
        bool bad = utf8_decode(bytes.data, bytes.len, &n) == UTF8_BAD;
        if (bad)
            n = broken_length(bytes);
        out = val_append(j, out, bad ? SLICE("\xEF\xBF\xBD") : (Slice){bytes.data, n});
        bytes = slice_from(bytes, n);
    }
    return out;
}

Val val_printf(J *j, const char *format, ...)
{
    va_list ap;
    char small[256];
    va_start(ap, format);
    int n = vsnprintf(small, sizeof small, format, ap);
    va_end(ap);
    if (n < (int)sizeof small)
        return val_string_utf8(j, slice(small, n > 0 ? (size_t)n : 0));
    JStr *s = str_alloc(j, (size_t)n);
    va_start(ap, format);
    vsnprintf(s->data, (size_t)n + 1, format, ap);
    va_end(ap);
    Val made = val_string_utf8(j, js_slice(s));
    val_free(j, val_str(s));
    return made;
}

Val val_append(J *j, Val s, Slice bytes)
{
    size_t len = s.str->len + bytes.len;
    if (bytes.len == 0)
        return s;
    if (val_unique(s) && len < s.str->cap) {
        jmem_copy(j, s.str->data + s.str->len, bytes.data, bytes.len);
        s.str->data[len] = 0;
        s.str->len = (uint32_t)len;
        s.str->hash = 0;
        s.str->ascii = false;
        return s;
    }
    check_bytes(j, len);
    JStr *grown = str_alloc(j, s.str->len ? MIN(len + len / 2, JQ_MAX_BYTES) : len);
    jmem_copy(j, grown->data, s.str->data, s.str->len);
    jmem_copy(j, grown->data + s.str->len, bytes.data, bytes.len);
    grown->data[len] = 0;
    grown->len = (uint32_t)len;
    val_free(j, s);
    return val_str(grown);
}

uint32_t str_hash(JStr *s)
{
    if (!s->hash)
        s->hash = (uint32_t)hash_bytes(js_slice(s)) | 1;
    return s->hash;
}

size_t str_length(JStr *s)
{
    if (s->ascii)
        return s->len;
    if (slice_ascii(js_slice(s))) {
        s->ascii = true;
        return s->len;
    }
    return utf8_count(js_slice(s));
}

bool str_equal(const JStr *a, const JStr *b)
{
    return a == b || (a->len == b->len && !(a->hash && b->hash && a->hash != b->hash) && memcmp(a->data, b->data, a->len) == 0);
}

int str_cmp(const JStr *a, const JStr *b) { return a == b ? 0 : slice_cmp(js_slice(a), js_slice(b)); }

JStr *str_key(J *j, Slice bytes)
{
    uint32_t hash = (uint32_t)hash_bytes(bytes) | 1;
    JStr **slot = &j->keys[(hash >> 4) % JQ_KEYS];
    JStr *s = *slot;
    if (s && s->hash == hash && s->len == bytes.len && memcmp(s->data, bytes.data, bytes.len) == 0) {
        s->refs++;
        return s;
    }
    JStr *made = str_alloc(j, bytes.len);
    if (bytes.len)
        memcpy(made->data, bytes.data, bytes.len);
    made->hash = hash;
    if (bytes.len <= 64) {
        if (s)
            val_free(j, val_str(s));
        made->refs++;
        *slot = made;
    }
    return made;
}

/* ---------- arrays ---------- */

static uint32_t array_capacity(J *j, size_t want)
{
    if (want > JQ_MAX_BYTES / sizeof(Val))
        proc_raise(j->proc, RAISE_MEMORY);
    return (uint32_t)(jmem_size(want * sizeof(Val)) / sizeof(Val));
}

Val arr_new(J *j, size_t cap)
{
    uint32_t room = cap ? array_capacity(j, cap) : 0;
    Val *items = cap ? jmem(j, room * sizeof(Val)) : NULL;
    JArr *a = jmem(j, sizeof *a);
    *a = (JArr){.refs = 1, .cap = room, .items = items};
    return val_arr(a);
}

/* Room for at least `cap` in an array that is unique and no view. */
static void array_grow(J *j, JArr *a, size_t cap)
{
    uint32_t room = array_capacity(j, MAX(cap, (size_t)a->cap + a->cap / 2));
    Val *items = jmem(j, room * sizeof(Val));
    if (a->len)
        jmem_copy(j, items, a->items, a->len * sizeof(Val));
    if (a->cap)
        jmem_give(j, a->items, a->cap * sizeof(Val));
    a->items = items;
    a->cap = room;
}

Val arr_own(J *j, Val a, size_t cap)
{
    if (val_unique(a) && !a.arr->owner) {
        if (cap > a.arr->cap)
            array_grow(j, a.arr, cap);
        return a;
    }
    Val made = arr_new(j, MAX(cap, (size_t)a.arr->len));
    for (uint32_t i = 0; i < a.arr->len; i++) {
        made.arr->items[i] = val_copy(a.arr->items[i]);
        if (unlikely((i & 0xffff) == 0xffff))
            proc_tick(j->proc, 1024);
    }
    made.arr->len = a.arr->len;
    made.meta = a.meta;
    val_free(j, a);
    return made;
}

Val arr_push(J *j, Val a, Val item)
{
    a = arr_own(j, a, (size_t)a.arr->len + 1);
    a.arr->items[a.arr->len++] = item;
    return a;
}

Val arr_get(Val a, size_t i) { return i < a.arr->len ? val_copy(a.arr->items[i]) : VAL_INVALID; }


Val arr_set(J *j, Val a, int64_t i, Val item)
{
    if (i < 0)
        i += a.arr->len;
    if (i < 0 || i > ARRAY_INDEX_MOST) {
        val_free(j, a);
        val_free(j, item);
        return jq_error(j, i < 0 ? "Out of bounds negative array index" : "Array index too large");
    }
    size_t len = MAX((size_t)a.arr->len, (size_t)i + 1);
    a = arr_own(j, a, len);
    while (a.arr->len < len)
        a.arr->items[a.arr->len++] = VAL_NULL;
    Val old = a.arr->items[i];
    a.arr->items[i] = item;
    val_free(j, old);
    return a;
}

Val arr_slice(J *j, Val a, int64_t start, int64_t end)
{
    size_t n = (size_t)(end - start);
    if (n == a.arr->len)
        return a;
    if (n < 4) {
        Val made = arr_new(j, n);
        for (size_t i = 0; i < n; i++)
            made.arr->items[i] = val_copy(a.arr->items[(size_t)start + i]);
        made.arr->len = (uint32_t)n;
        val_free(j, a);
        return made;
    }
    JArr *owner = a.arr->owner ? a.arr->owner : a.arr;
    JArr *view = jmem(j, sizeof *view);
    *view = (JArr){.refs = 1, .len = (uint32_t)n, .owner = owner, .items = a.arr->items + start};
    owner->refs++;
    val_free(j, a);
    return val_arr(view);
}

Val arr_concat(J *j, Val a, Val b)
{
    size_t n = b.arr->len;
    if (a.arr->len == 0 && !(val_unique(a) && a.arr->cap >= n)) {
        val_free(j, a);
        return b;
    }
    a = arr_own(j, a, a.arr->len + n);
    for (size_t i = 0; i < n; i++)
        a.arr->items[a.arr->len + i] = val_copy(b.arr->items[i]);
    a.arr->len += (uint32_t)n;
    val_free(j, b);
    return a;
}
