/* compare: the order of two lines by keys, in the C locale. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "sort.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static unsigned char upper(unsigned char c) { return c >= 'a' && c <= 'z' ? (unsigned char)(c - 32) : c; }

/* ---------- where a key lies ---------- */

static size_t skip_blanks(Slice s, size_t at)
{
    while (at < s.len && is_blank(s.data[at]))
        at++;
    return at;
}

/* Past one field that begins at `at`, without its separator. */
static size_t skip_field(const Sorter *s, Slice line, size_t at)
{
    if (s->tab >= 0) {
        const char *tab = at < line.len ? memchr(line.data + at, s->tab, line.len - at) : NULL;
        return tab ? (size_t)(tab - line.data) : line.len;
    }
    at = skip_blanks(line, at);
    while (at < line.len && !is_blank(line.data[at]))
        at++;
    return at;
}

static size_t key_begin(const Sorter *s, const Key *k, Slice line)
{
    size_t at = 0;
    for (size_t f = k->start_field; f && at < line.len; f--) {
        at = skip_field(s, line, at);
        if (s->tab >= 0 && at < line.len)
            at++;
    }
    if (k->order.skip_start_blanks)
        at = skip_blanks(line, at);
    return k->start_char > line.len - at ? line.len : at + k->start_char;
}

static size_t key_end(const Sorter *s, const Key *k, Slice line)
{
    if (k->end_field == SIZE_MAX)
        return line.len;
    size_t at = 0, fields = k->end_field + (k->end_char == 0);
    for (; fields && at < line.len; fields--) {
        at = skip_field(s, line, at);
        if (s->tab >= 0 && at < line.len && (fields > 1 || k->end_char))
            at++;
    }
    if (k->end_char) {
        if (k->order.skip_end_blanks)
            at = skip_blanks(line, at);
        at = k->end_char > line.len - at ? line.len : at + k->end_char;
    }
    return at;
}

static Slice key_slice(const Sorter *s, const Key *k, Slice line)
{
    size_t begin = key_begin(s, k, line), end = key_end(s, k, line);
    return (Slice){line.data + begin, end > begin ? end - begin : 0};
}

/* ---------- numbers ---------- */

typedef struct {
    bool negative, zero;
    Slice digits, fraction; /* without leading zeros; without trailing zeros */
    char suffix;            /* what follows, for -h */
} Number;

static Number number_read(Slice s)
{
    Number n = {0};
    size_t at = skip_blanks(s, 0);
    if (at < s.len && s.data[at] == '-')
        n.negative = true, at++;
    while (at < s.len && s.data[at] == '0')
        at++;
    size_t start = at;
    while (at < s.len && is_digit(s.data[at]))
        at++;
    n.digits = (Slice){s.data + start, at - start};
    if (at < s.len && s.data[at] == '.') {
        start = ++at;
        while (at < s.len && is_digit(s.data[at]))
            at++;
        n.fraction = (Slice){s.data + start, at - start};
        while (n.fraction.len && n.fraction.data[n.fraction.len - 1] == '0')
            n.fraction.len--;
    }
    n.zero = n.digits.len == 0 && n.fraction.len == 0;
    if (n.zero)
        n.negative = false;
    n.suffix = at < s.len ? s.data[at] : 0;
    return n;
}

static int magnitude_compare(const Number *a, const Number *b)
{
    if (a->digits.len != b->digits.len)
        return a->digits.len < b->digits.len ? -1 : 1;
    int c = a->digits.len ? memcmp(a->digits.data, b->digits.data, a->digits.len) : 0;
    return c ? c : slice_cmp(a->fraction, b->fraction);
}

static int number_compare(const Number *a, const Number *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    return a->negative ? magnitude_compare(b, a) : magnitude_compare(a, b);
}

static int unit_order(const Number *n)
{
    static const char units[] = "KMGTPEZYRQ";
    const char *at = n->suffix ? strchr(units, n->suffix == 'k' ? 'K' : n->suffix) : NULL;
    int order = n->zero || !at ? 0 : (int)(at - units) + 1;
    return n->negative ? -order : order;
}

/* -f raises the unit too: 1m is then more than 1k, and the e of 1e3 an exa. */
static int human_compare(Slice a, Slice b, bool fold)
{
    Number x = number_read(a), y = number_read(b);
    if (fold) {
        x.suffix = (char)upper((unsigned char)x.suffix);
        y.suffix = (char)upper((unsigned char)y.suffix);
    }
    int i = unit_order(&x), j = unit_order(&y);
    return i != j ? (i < j ? -1 : 1) : number_compare(&x, &y);
}

/* The text's number, and false when there is none. The text is copied: strtold wants a NUL. */
static bool general_read(Slice s, long double *v)
{
    char text[256], *end;
    size_t n = MIN(s.len, sizeof text - 1);
    memcpy(text, s.data, n);
    text[n] = 0;
    *v = strtold(text, &end);
    return end != text;
}

static int general_compare(Slice a, Slice b)
{
    long double x, y;
    bool has_x = general_read(a, &x), has_y = general_read(b, &y);
    if (!has_x || !has_y)
        return has_x - has_y;
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? (signbit(x) != 0) - (signbit(y) != 0) : !isnan(x) - !isnan(y);
    return (x > y) - (x < y);
}

static int month_of(Slice s)
{
    static const char names[] = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
    size_t at = skip_blanks(s, 0);
    if (s.len - at < 3)
        return 0;
    char m[3];
    for (int i = 0; i < 3; i++)
        m[i] = (char)upper((unsigned char)s.data[at + (size_t)i]);
    for (int i = 0; i < 12; i++)
        if (memcmp(names + 3 * i, m, 3) == 0)
            return i + 1;
    return 0;
}

/* ---------- versions, as gnulib's filevercmp ---------- */

/* Length of the name without its suffix (\.[A-Za-z~][A-Za-z0-9~]*)*$. */
static size_t version_stem(Slice s)
{
    size_t stem = 0, i = 0;
    for (;;) {
        while (i + 1 < s.len && s.data[i] == '.' && (isalpha((unsigned char)s.data[i + 1]) || s.data[i + 1] == '~'))
            for (i += 2; i < s.len && (isalnum((unsigned char)s.data[i]) || s.data[i] == '~'); i++)
                ;
        if (i >= s.len)
            return stem;
        stem = ++i;
    }
}

static int version_order(Slice s, size_t at)
{
    if (at == s.len)
        return -1;
    unsigned char c = (unsigned char)s.data[at];
    if (is_digit((char)c))
        return 0;
    if (isalpha(c))
        return c;
    return c == '~' ? -2 : c + 256;
}

static int verrevcmp(Slice a, Slice b)
{
    size_t i = 0, j = 0;
    while (i < a.len || j < b.len) {
        int difference = 0;
        while ((i < a.len && !is_digit(a.data[i])) || (j < b.len && !is_digit(b.data[j]))) {
            int x = version_order(a, i), y = version_order(b, j);
            if (x != y)
                return x < y ? -1 : 1;
            i++;
            j++;
        }
        while (i < a.len && a.data[i] == '0')
            i++;
        while (j < b.len && b.data[j] == '0')
            j++;
        while (i < a.len && j < b.len && is_digit(a.data[i]) && is_digit(b.data[j])) {
            if (!difference)
                difference = a.data[i] - b.data[j];
            i++;
            j++;
        }
        if (i < a.len && is_digit(a.data[i]))
            return 1;
        if (j < b.len && is_digit(b.data[j]))
            return -1;
        if (difference)
            return difference;
    }
    return 0;
}

static int version_compare(Slice a, Slice b)
{
    if (a.len == 0 || b.len == 0)
        return (a.len != 0) - (b.len != 0);
    bool dot_a = a.data[0] == '.', dot_b = b.data[0] == '.';
    if (dot_a != dot_b)
        return dot_a ? -1 : 1;
    if (dot_a) {
        int special = (a.len == 1 ? 0 : slice_is(a, "..") ? 1 : 2) - (b.len == 1 ? 0 : slice_is(b, "..") ? 1 : 2);
        if (special)
            return special;
    }
    Slice stem_a = {a.data, version_stem(a)}, stem_b = {b.data, version_stem(b)};
    int c = verrevcmp(stem_a, stem_b);
    return c || (stem_a.len == a.len && stem_b.len == b.len) ? c : verrevcmp(a, b);
}

/* ---------- text ---------- */

static bool ignored(const Ordering *o, unsigned char c)
{
    if (o->dictionary)
        return !isalnum(c) && c != ' ' && c != '\t' && c != '\n';
    return o->printable && (c < 32 || c >= 127);
}

static int text_compare(const Ordering *o, Slice a, Slice b)
{
    if (!o->dictionary && !o->printable && !o->fold)
        return slice_cmp(a, b);
    size_t i = 0, j = 0;
    for (;;) {
        while (i < a.len && ignored(o, (unsigned char)a.data[i]))
            i++;
        while (j < b.len && ignored(o, (unsigned char)b.data[j]))
            j++;
        if (i == a.len || j == b.len)
            return (i < a.len) - (j < b.len);
        unsigned char x = (unsigned char)a.data[i++], y = (unsigned char)b.data[j++];
        if (o->fold)
            x = upper(x), y = upper(y);
        if (x != y)
            return x < y ? -1 : 1;
    }
}

static int random_compare(const Sorter *s, Slice a, Slice b)
{
    uint64_t x = hash_bytes(a) * (s->seed | 1) ^ s->seed, y = hash_bytes(b) * (s->seed | 1) ^ s->seed;
    return x != y ? (x < y ? -1 : 1) : slice_cmp(a, b);
}

/* A copy of what -d, -i and -f leave of a key. */
static Slice considered(Proc *p, const Ordering *o, Slice s)
{
    char *out = mem_alloc(&p->mem, s.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (!ignored(o, c))
            out[n++] = (char)(o->fold ? upper(c) : c);
    }
    return (Slice){out, n};
}

static int key_compare(const Sorter *s, const Ordering *o, Slice a, Slice b)
{
    if ((o->random || o->version) && (o->dictionary || o->printable || o->fold)) {
        MemMark mark = mem_mark(&s->proc->mem);
        Slice x = considered(s->proc, o, a), y = considered(s->proc, o, b);
        int c = o->random ? random_compare(s, x, y) : version_compare(x, y);
        mem_reset(&s->proc->mem, mark);
        return c;
    }
    if (o->random)
        return random_compare(s, a, b);
    if (o->numeric) {
        Number x = number_read(a), y = number_read(b);
        return number_compare(&x, &y);
    }
    if (o->general)
        return general_compare(a, b);
    if (o->human)
        return human_compare(a, b, o->fold);
    if (o->month)
        return month_of(a) - month_of(b);
    if (o->version)
        return version_compare(a, b);
    return text_compare(o, a, b);
}

int line_compare_keys(const Sorter *s, const Line *a, const Line *b)
{
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    Slice x = {a->text, a->len}, y = {b->text, b->len};
    if (s->nkeys == 0) {
        int c = slice_cmp(x, y);
        return s->global.reverse ? -c : c;
    }
    for (size_t i = s->exact; i < s->nkeys; i++) {
        const Key *k = &s->keys[i];
        int c = key_compare(s, &k->order, key_slice(s, k, x), key_slice(s, k, y));
        if (c)
            return k->order.reverse ? -c : c;
    }
    return 0;
}

int line_compare(const Sorter *s, const Line *a, const Line *b)
{
    int c = line_compare_keys(s, a, b);
    if (c || s->nkeys == 0 || s->stable || s->unique)
        return c;
    c = slice_cmp((Slice){a->text, a->len}, (Slice){b->text, b->len});
    return s->global.reverse ? -c : c;
}

/* ---------- prefixes: monotone in the order of the first key ---------- */

/* Exact: eight bytes are all of it, and the padding is none of its bytes. */
static Prefix text_prefix(Slice s, bool fold)
{
    uint64_t v = 0;
    if (!fold && s.len >= 8) {
        memcpy(&v, s.data, 8);
        return (Prefix){__builtin_bswap64(v), s.len == 8};
    }
    bool exact = s.len <= 8;
    for (size_t i = 0; i < 8; i++) {
        unsigned char c = i < s.len ? (unsigned char)s.data[i] : 0;
        exact = exact && (c || i >= s.len);
        v = v << 8 | (fold ? upper(c) : c);
    }
    return (Prefix){v, exact};
}

/* The number in thousandths, clamped; what differs only beyond them compares in full. */
static Prefix number_prefix(Slice s)
{
    Number n = number_read(s);
    uint64_t v = 0;
    bool exact = n.digits.len <= 15 && n.fraction.len <= 3;
    if (n.digits.len > 15) {
        v = (uint64_t)1 << 62;
    } else {
        for (size_t i = 0; i < n.digits.len; i++)
            v = v * 10 + (uint64_t)(n.digits.data[i] - '0');
        for (size_t i = 0; i < 3; i++)
            v = v * 10 + (i < n.fraction.len ? (uint64_t)(n.fraction.data[i] - '0') : 0);
    }
    const uint64_t middle = (uint64_t)1 << 63;
    return (Prefix){n.negative ? middle - v : middle + v, exact};
}

static Prefix key_prefix(const Sorter *s, const Key *k, Slice text)
{
    const Ordering *o = &k->order;
    if (o->random || o->general || o->human || o->version || o->dictionary || o->printable)
        return (Prefix){0, false};
    Slice key = key_slice(s, k, text);
    if (o->month)
        return (Prefix){o->reverse ? ~(uint64_t)month_of(key) : (uint64_t)month_of(key), true};
    Prefix prefix = o->numeric ? number_prefix(key) : text_prefix(key, o->fold);
    return o->reverse ? (Prefix){~prefix.value, prefix.exact} : prefix;
}

Prefix line_prefix(const Sorter *s, Slice text)
{
    return s->nkeys ? key_prefix(s, &s->keys[0], text) : (Prefix){prefix_behind(s, text, 0), false};
}

uint64_t prefix_behind(const Sorter *s, Slice text, size_t skip)
{
    uint64_t v = text_prefix(slice_from(text, MIN(skip, text.len)), false).value;
    return s->global.reverse ? ~v : v;
}
