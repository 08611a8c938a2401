/* awk's values: the heap of counted blocks, strings, numbers in text and text of numbers, truth and comparison. */
#include "awk.h"

#include <stdlib.h>

/* ---------- heap ---------- */

/* Classes: multiples of 16 up to 512, then four to a doubling. */
enum { SMALL_CLASSES = 32, SMALL_MOST = 512 };

static unsigned class_of(size_t n)
{
    if (n <= SMALL_MOST)
        return n ? (unsigned)((n - 1) / 16) : 0;
    unsigned top = 63u - (unsigned)__builtin_clzll((uint64_t)n - 1); /* >= 9 */
    unsigned quarter = (unsigned)(((n - 1) >> (top - 2)) & 3);
    return SMALL_CLASSES + (top - 9) * 4 + quarter;
}

size_t heap_class_size(unsigned class)
{
    if (class < SMALL_CLASSES)
        return (class + 1) * 16;
    unsigned top = 9 + (class - SMALL_CLASSES) / 4, quarter = (class - SMALL_CLASSES) % 4;
    return ((size_t)1 << top) + ((size_t)(quarter + 1) << (top - 2));
}

void *heap_alloc(Heap *h, size_t n, unsigned *class)
{
    unsigned c = class_of(n);
    if (unlikely(c >= HEAP_CLASSES))
        return mem_alloc(h->mem, SIZE_MAX / 2);
    *class = c;
    void *block = h->free[c];
    if (likely(block)) {
        memcpy(&h->free[c], block, sizeof(void *));
        return block;
    }
    return mem_alloc(h->mem, heap_class_size(c));
}

void heap_free(Heap *h, void *block, unsigned class)
{
    memcpy(block, &h->free[class], sizeof(void *));
    h->free[class] = block;
}

/* ---------- strings ---------- */

String *string_alloc(Awk *w, size_t len)
{
    size_t n;
    unsigned class = 0;
    if (!size_add(len, sizeof(String) + 1, &n))
        n = SIZE_MAX / 4;
    String *s = heap_alloc(&w->heap, n, &class);
    s->refs = 1;
    s->class = (uint8_t)class;
    s->looks = LOOKS_UNKNOWN;
    s->ascii = TEXT_UNKNOWN;
    s->prefix_known = 0;
    s->len = len;
    s->data[len] = 0;
    return s;
}

String *string_new(Awk *w, Slice s)
{
    String *r = string_alloc(w, s.len);
    if (s.len)
        memcpy(r->data, s.data, s.len);
    return r;
}

void string_release(Awk *w, String *s)
{
    if (--s->refs == 0)
        heap_free(&w->heap, s, s->class);
}

size_t string_room(const String *s) { return heap_class_size(s->class) - sizeof(String) - 1; }

bool string_is_ascii(String *s)
{
    if (s->ascii == TEXT_UNKNOWN)
        s->ascii = slice_ascii(string_slice(s)) ? TEXT_ASCII : TEXT_MIXED;
    return s->ascii == TEXT_ASCII;
}

String *string_joined(Awk *w, Slice a, Slice b)
{
    size_t n;
    String *s = string_alloc(w, size_add(a.len, b.len, &n) ? n : SIZE_MAX / 4);
    if (a.len)
        memcpy(s->data, a.data, a.len);
    if (b.len)
        memcpy(s->data + a.len, b.data, b.len);
    return s;
}

/* Puts s (its count is taken over) into a slot. */
String *string_set(Awk *w, String **slot, String *s)
{
    if (*slot)
        string_release(w, *slot);
    return *slot = s;
}

/* ---------- values ---------- */

void value_release_slow(Awk *w, Value *v)
{
    switch (v->kind) {
    case V_STR: case V_INPUT: string_release(w, v->s); break;
    case V_ARRAY: table_release(w, v->a); break;
    case V_ITER: iter_release(w, v->it); break;
    default: break;
    }
    v->kind = V_UNSET;
}

Value value_copy(const Value *v)
{
    if (v->kind == V_STR || v->kind == V_INPUT)
        v->s->refs++;
    else if (v->kind == V_ARRAY)
        v->a->refs++;
    return *v;
}

Value value_plain(Awk *w, Slice s)
{
    return value_str(s.len ? string_new(w, s) : string_ref(w->empty));
}

Value value_input(Awk *w, Slice s)
{
    Value v = value_str(string_new(w, s));
    v.kind = V_INPUT;
    return v;
}

/* ---------- numbers in text ---------- */

static bool digit(char c) { return c >= '0' && c <= '9'; }
static bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* "+inf", "-nan": gawk takes them with a sign only, and nothing but blanks behind them. */
static bool special_number(Slice s, double *n)
{
    if (s.len < 4 || (s.data[0] != '+' && s.data[0] != '-'))
        return false;
    char a = (char)(s.data[1] | 32), b = (char)(s.data[2] | 32), c = (char)(s.data[3] | 32);
    double v;
    if (a == 'i' && b == 'n' && c == 'f')
        v = INFINITY;
    else if (a == 'n' && b == 'a' && c == 'n')
        v = NAN;
    else
        return false;
    for (size_t i = 4; i < s.len; i++)
        if (!blank(s.data[i]))
            return false;
    *n = s.data[0] == '-' ? copysign(v, -1) : copysign(v, 1);
    return true;
}

/* The length of a number's syntax at the front, blanks before it excluded; 0: none. */
static size_t number_span(Slice s)
{
    size_t i = 0, digits = 0;
    if (i < s.len && (s.data[i] == '+' || s.data[i] == '-'))
        i++;
    for (; i < s.len && digit(s.data[i]); i++)
        digits++;
    if (i < s.len && s.data[i] == '.')
        for (i++; i < s.len && digit(s.data[i]); i++)
            digits++;
    if (!digits)
        return 0;
    if (i < s.len && (s.data[i] | 32) == 'e') {
        size_t e = i + 1;
        if (e < s.len && (s.data[e] == '+' || s.data[e] == '-'))
            e++;
        if (e < s.len && digit(s.data[e])) {
            while (e < s.len && digit(s.data[e]))
                e++;
            i = e;
        }
    }
    return i;
}

static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/* Up to 15 digits with a point among them: exact in a double, so one division rounds right. The rest is strtod's. */
static bool number_quick(Slice s, size_t *used, double *n)
{
    size_t i = 0, digits = 0, fraction = 0;
    bool negative = false, point = false;
    uint64_t v = 0;
    if (i < s.len && (s.data[i] == '-' || s.data[i] == '+'))
        negative = s.data[i++] == '-';
    for (; i < s.len; i++) {
        unsigned d = (unsigned)(unsigned char)s.data[i] - '0';
        if (d <= 9) {
            v = v * 10 + d;
            fraction += point;
            if (++digits > 15)
                return false;
        } else if (s.data[i] == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    if (!digits || (i < s.len && (s.data[i] | 32) == 'e'))
        return false;
    double r = (double)v;
    if (fraction)
        r /= powers[fraction];
    *n = negative ? -r : r;
    *used = i;
    return true;
}

static double number_slow(Awk *w, Slice s, size_t len)
{
    char room[128];
    if (len < sizeof room) {
        memcpy(room, s.data, len);
        room[len] = 0;
        return strtod(room, NULL);
    }
    MemMark mark = mem_mark(&w->p->mem);
    double n = strtod(mem_copy(&w->p->mem, slice(s.data, len)), NULL);
    mem_reset(&w->p->mem, mark);
    return n;
}

/* A number with a base in front, 0x or, without a sign, 0: how many bytes that took, 0 when it is none. */
static size_t number_based(Slice s, double *n)
{
    size_t sign = s.len && (s.data[0] == '-' || s.data[0] == '+'), i = sign + 1;
    if (i >= s.len || s.data[sign] != '0')
        return 0;
    double v = 0;
    if ((s.data[i] | 32) == 'x') {
        size_t first = ++i;
        for (; i < s.len && class_has(CLASS_XDIGIT, (unsigned char)s.data[i]); i++)
            v = v * 16 + (s.data[i] <= '9' ? s.data[i] - '0' : (s.data[i] | 32) - 'a' + 10);
        if (i == first)
            return 0;
    } else {
        for (; i < s.len && digit(s.data[i]); i++) {
            if (s.data[i] > '7')
                return 0;
            v = v * 8 + (s.data[i] - '0');
        }
        if (sign || i == 1 || (i < s.len && (s.data[i] == '.' || (s.data[i] | 32) == 'e')))
            return 0;
    }
    *n = s.data[0] == '-' ? -v : v;
    return i;
}

double text_based_number(Awk *w, Slice s)
{
    double n;
    Slice rest = s;
    while (rest.len && blank(rest.data[0]))
        rest = slice_from(rest, 1);
    return rest.len && digit(rest.data[0]) && number_based(rest, &n) ? n : text_number(w, s);
}

/* Reads a number after blanks; how many bytes that took (0: none). */
static size_t number_read(Awk *w, Slice s, double *n)
{
    size_t from = 0, used;
    while (from < s.len && blank(s.data[from]))
        from++;
    Slice rest = slice_from(s, from);
    if (!rest.len || (unsigned char)rest.data[0] > '9')
        return 0;
    if (unlikely(w->based_input) && (used = number_based(rest, n)))
        return from + used;
    if (likely(number_quick(rest, &used, n)))
        return from + used;
    if ((used = number_span(rest))) {
        *n = number_slow(w, rest, used);
        return from + used;
    }
    return special_number(rest, n) ? from + 4 : 0;
}

double text_number(Awk *w, Slice s)
{
    double n = 0;
    return number_read(w, s, &n) ? n : 0;
}

bool text_is_number(Awk *w, Slice s, double *n)
{
    double v = 0;
    size_t used = number_read(w, s, &v);
    if (!used)
        return false;
    while (used < s.len && blank(s.data[used]))
        used++;
    if (used != s.len)
        return false;
    *n = v;
    return true;
}

static double string_number(Awk *w, String *s)
{
    if (!s->prefix_known) {
        s->number = text_number(w, string_slice(s));
        s->prefix_known = 1;
    }
    return s->number;
}

double value_number_slow(Awk *w, const Value *v)
{
    switch (v->kind) {
    case V_NUM: return v->n;
    case V_STR: case V_INPUT: return string_number(w, v->s);
    case V_REGEX: return text_number(w, string_slice(v->rx->source));
    case V_ARRAY: awk_fatal(w, "attempt to use array in a scalar context");
    default: return 0;
    }
}

bool value_looks_numeric(Awk *w, const Value *v)
{
    if (v->kind == V_NUM || v->kind == V_UNSET || v->kind == V_REF)
        return true;
    if (v->kind != V_INPUT)
        return false;
    String *s = v->s;
    if (s->looks == LOOKS_UNKNOWN) {
        double n;
        s->looks = LOOKS_TEXT;
        if (text_is_number(w, string_slice(s), &n)) {
            s->looks = LOOKS_NUMERIC;
            s->number = n;
            s->prefix_known = 1;
        }
    }
    return s->looks == LOOKS_NUMERIC;
}

bool value_truth(Awk *w, const Value *v)
{
    switch (v->kind) {
    case V_NUM: return v->n != 0;
    case V_STR: return v->s->len != 0;
    case V_INPUT: return value_looks_numeric(w, v) ? v->s->number != 0 : v->s->len != 0;
    case V_REGEX: return v->rx->source->len != 0;
    case V_ARRAY: awk_fatal(w, "attempt to use array in a scalar context");
    default: return false;
    }
}

/* ---------- text of numbers ---------- */

bool number_small(double n, char room[NUMBER_ROOM], Slice *out)
{
    if (!(n > -1e18 && n < 1e18))
        return false;
    int64_t i = (int64_t)n;
    if ((double)i != n)
        return false;
    size_t len;
    char *first = format_int(i, room, &len);
    *out = slice(first, len);
    return true;
}

static Slice number_format(Awk *w, double n, Slice format)
{
    Buf *b = &w->work2;
    buf_clear(b);
    if (isnan(n)) {
        buf_append(b, signbit(n) ? SLICE("-nan") : SLICE("+nan"));
    } else if (isinf(n)) {
        buf_append(b, n < 0 ? SLICE("-inf") : SLICE("+inf"));
    } else if (n == trunc(n)) {
        buf_printf(b, "%.0f", n);
    } else if (slice_is(format, "%.6g")) {
        buf_printf(b, "%.6g", n);
    } else {
        Value args[2] = {value_plain(w, format), value_num(n)};
        format_values(w, b, args, 2);
        value_release(w, &args[0]);
    }
    return buf_slice(b);
}

String *number_string(Awk *w, double n, Slice format)
{
    char room[NUMBER_ROOM];
    Slice s;
    if (likely(number_small(n, room, &s))) {
        if (s.len == 1)
            return string_ref(w->digits[s.data[0] - '0']);
        return string_new(w, s);
    }
    return string_new(w, number_format(w, n, format));
}

void number_print(Awk *w, Output *o, double n, Slice format)
{
    char room[NUMBER_ROOM];
    Slice s;
    out_write(o, number_small(n, room, &s) ? s : number_format(w, n, format));
}

String *value_string(Awk *w, const Value *v)
{
    switch (v->kind) {
    case V_NUM: return number_string(w, v->n, string_slice(w->convfmt));
    case V_STR: case V_INPUT: return string_ref(v->s);
    case V_REGEX: return string_ref(v->rx->source);
    case V_ARRAY: awk_fatal(w, "attempt to use array in a scalar context");
    default: return string_ref(w->empty);
    }
}

/* ---------- comparison ---------- */

/* As gawk: over the bytes that both have, of which a character that is cut, or none, is less than all others. */
static int folded_compare(Slice a, Slice b)
{
    size_t i = 0, j = 0, both = MIN(a.len, b.len);
    while (i < both && j < both) {
        size_t m, n;
        uint32_t x = utf8_decode(a.data + i, both - i, &m), y = utf8_decode(b.data + j, both - j, &n);
        int p = x == UTF8_BAD ? -1 : (int)char_lower(x), q = y == UTF8_BAD ? -1 : (int)char_lower(y);
        if (p != q)
            return p < q ? -1 : 1;
        i += m;
        j += n;
    }
    return (a.len > b.len) - (a.len < b.len);
}

int text_compare(Awk *w, Slice a, Slice b)
{
    return w->ignore_case ? folded_compare(a, b) : slice_cmp(a, b);
}

/* A field that is not there compares as the empty string, which gawk 5.2 does, and not POSIX. */
static bool missing_field(const Value *v) { return v->kind == V_UNSET && v->cell == CELL_FIELD; }

int value_compare(Awk *w, const Value *a, const Value *b)
{
    if (!missing_field(a) && !missing_field(b) && value_looks_numeric(w, a) && value_looks_numeric(w, b)) {
        double x = value_number(w, a), y = value_number(w, b);
        if (isnan(x) || isnan(y))
            return isnan(x) && isnan(y) ? 0 : isnan(x) ? 1 : -1;
        return (x > y) - (x < y);
    }
    String *x = value_string(w, a), *y = value_string(w, b);
    int c = text_compare(w, string_slice(x), string_slice(y));
    string_release(w, x);
    string_release(w, y);
    return c;
}
