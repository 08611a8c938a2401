/* read: a pair of files as lines, and lines as classes of equal ones. */
#include "diff.h"

enum { LOOKED_AT = 4096 /* a NUL byte in that much at the beginning makes a file binary */ };

static int slurp(Diff *d, FileSide *s)
{
    Proc *p = d->p;
    Buf text;
    buf_init(&text, &p->mem, BUF_MAX);
    buf_reserve(&text, 1);
    if (s->state != SIDE_ABSENT) {
        int fd = s->state == SIDE_STDIN ? 0 : proc_open(p, s->name, V_READ, 0);
        VStat st;
        if (fd > 0 && proc_fstat(p, fd, &st) == 0 && S_ISREG(st.mode) && st.size < BUF_MAX)
            buf_reserve(&text, (size_t)st.size + 2);
        ssize_t n = fd;
        Slice chunk;
        while (fd >= 0 && (n = proc_read_chunk(p, fd, 1 << 20, &chunk, NULL)) > 0)
            buf_append(&text, chunk);
        if (fd > 0)
            proc_close(p, fd);
        if (n < 0) {
            warn_errno(p, (int)n, "%s", s->name);
            return -1;
        }
    }
    s->text = buf_slice(&text);
    return 0;
}

static char *without_cr(Diff *d, Slice *text)
{
    char *out = mem_alloc(&d->p->mem, text->len + 1), *to = out;
    for (size_t i = 0; i < text->len; i++)
        if (text->data[i] != '\r' || i + 1 == text->len || text->data[i + 1] != '\n')
            *to++ = text->data[i];
    text->len = (size_t)(to - out);
    return out;
}

/* Text always ends in a newline; there is room for one behind it. */
static void split(Diff *d, FileSide *s)
{
    char *data = (char *)(uintptr_t)s->text.data;
    s->missing_newline = s->text.len && data[s->text.len - 1] != '\n';
    if (d->strip_cr)
        s->text.data = data = without_cr(d, &s->text);
    if (s->missing_newline)
        data[s->text.len++] = '\n';
    s->count = slice_count(s->text, '\n');
    s->starts = mem_array(&d->p->mem, s->count + 1, size_t);
    size_t at = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->starts[i] = at;
        at += slice_find(slice_from(s->text, at), '\n') + 1;
        proc_tick(d->p, 1);
    }
    s->starts[s->count] = at;
}

int diff_read(Diff *d, FileSide sides[2])
{
    d->side = sides;
    bool same = sides[0].state == SIDE_STDIN && sides[1].state == SIDE_STDIN;
    for (int i = 0; i < (same ? 1 : 2); i++)
        if (slurp(d, &sides[i]))
            return -1;
    if (same)
        sides[1].text = sides[0].text;
    for (int i = 0; i < 2 && !d->text; i++)
        if (memchr(sides[i].text.data, 0, MIN(sides[i].text.len, LOOKED_AT)))
            return 1;
    bool as_bytes = d->brief && !d->ignore_blank && !d->ignore_case && !d->strip_cr && !d->ignore_re && d->space == SPACE_EXACT;
    if (as_bytes)
        return 1;
    split(d, &sides[0]);
    if (same) {
        const char *name = sides[1].name;
        sides[1] = sides[0];
        sides[1].name = name;
    } else {
        split(d, &sides[1]);
    }
    return 0;
}

Slice diff_line(const Diff *d, int side, size_t number)
{
    const FileSide *s = &d->side[side];
    size_t from = s->starts[number], to = s->starts[number + 1];
    if (s->missing_newline && number + 1 == s->count && style_robust(d))
        to--;
    return slice(s->text.data + from, to - from);
}

static Slice full_line(const FileSide *s, size_t number)
{
    return slice(s->text.data + s->starts[number], s->starts[number + 1] - s->starts[number]);
}

/* An incomplete last line differs from a complete one. */
static bool odd_end(const Diff *d, const FileSide *s, size_t number) { return s->missing_newline && number + 1 == s->count && style_robust(d); }

static bool same_line(const Diff *d, size_t a, size_t b)
{
    return slice_eq(full_line(&d->side[0], a), full_line(&d->side[1], b)) && odd_end(d, &d->side[0], a) == odd_end(d, &d->side[1], b);
}

/* Lines of the common beginning and end are not compared, but for `horizon` of them: how far changes may be shifted depends on it. */
void diff_equal_ends(Diff *d)
{
    FileSide *a = &d->side[0], *b = &d->side[1];
    size_t most = MIN(a->count, b->count), n = 0;
    while (n < most && same_line(d, n, n))
        n++;
    bool all = n == a->count && n == b->count;
    size_t prefix = n - MIN(n, d->horizon);
    if (all)
        prefix = n;
    size_t end_a = a->count, end_b = b->count, suffix = 0;
    if (!style_robust(d) || a->missing_newline == b->missing_newline)
        while (suffix < most - prefix && slice_eq(full_line(a, end_a - 1 - suffix), full_line(b, end_b - 1 - suffix)))
            suffix++;
    suffix -= MIN(suffix, d->horizon);
    a->begin = b->begin = prefix;
    a->end = end_a - suffix;
    b->end = end_b - suffix;
    proc_tick(d->p, 1 + a->text.len / 1024);
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static Slice rtrim(Slice s)
{
    while (s.len && is_space(s.data[s.len - 1]))
        s.len--;
    return s;
}

static void expand_key(const Diff *d, Slice s, Buf *out)
{
    size_t column = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        size_t times = 1;
        if (c == '\t') {
            times = d->tab - column % d->tab;
            column += times;
            c = ' ';
        } else if (c == '\b') {
            column -= column > 0;
        } else if (c == '\r') {
            column = 0;
        } else {
            column++;
        }
        while (times--)
            buf_char(out, c);
    }
}

/* What of the line counts in a comparison. */
static Slice line_key(const Diff *d, Slice s, Buf *out)
{
    s.len--;
    if (!d->ignore_case && d->space == SPACE_EXACT)
        return s;
    buf_clear(out);
    if (d->space & SPACE_TRAILING || d->space >= SPACE_CHANGE)
        s = rtrim(s);
    if (d->space == SPACE_ALL || d->space == SPACE_CHANGE) {
        for (size_t i = 0; i < s.len; i++)
            if (!is_space(s.data[i]))
                buf_char(out, s.data[i]);
            else if (d->space == SPACE_CHANGE && !(i && is_space(s.data[i - 1])))
                buf_char(out, ' ');
    } else if (d->space & SPACE_TABS) {
        expand_key(d, s, out);
    } else {
        buf_append(out, s);
    }
    for (size_t i = 0; d->ignore_case && i < out->len; i++)
        if (out->data[i] >= 'A' && out->data[i] <= 'Z')
            out->data[i] = (char)(out->data[i] + 32);
    return buf_slice(out);
}

typedef struct { uint64_t hash; Slice key; uint32_t id; bool odd; } Class;

typedef struct {
    Class *table;
    size_t mask;
    uint32_t next;
    bool copy; /* keys are not parts of the text */
} Classes;

static uint32_t class_of(Diff *d, Classes *c, Slice key, bool odd)
{
    uint64_t hash = hash_bytes(key) ^ odd;
    size_t at = hash & c->mask;
    for (; c->table[at].id; at = (at + 1) & c->mask)
        if (c->table[at].hash == hash && c->table[at].odd == odd && slice_eq(c->table[at].key, key))
            return c->table[at].id;
    if (c->copy)
        key.data = mem_copy(&d->p->mem, key);
    c->table[at] = (Class){hash, key, c->next, odd};
    return c->next++;
}

void diff_classify(Diff *d)
{
    Mem *mem = &d->p->mem;
    size_t total = d->side[0].end - d->side[0].begin + d->side[1].end - d->side[1].begin, size = 16;
    if (total >= UINT32_MAX / 2)
        die(d->p, 2, "memory exhausted");
    while (size < total * 2)
        size *= 2;
    Classes c = {.table = mem_array(mem, size, Class), .mask = size - 1, .next = 1, .copy = d->ignore_case || d->space != SPACE_EXACT};
    Buf scratch;
    buf_init(&scratch, &d->p->keep, BUF_MAX);
    for (int f = 0; f < 2; f++) {
        FileSide *s = &d->side[f];
        size_t n = s->end - s->begin;
        s->classes = mem_array(mem, n + 1, uint32_t);
        s->changed = (char *)mem_alloc0(mem, n + 3) + 1;
        for (size_t i = 0; i < n; i++) {
            Slice key = line_key(d, full_line(s, s->begin + i), &scratch);
            s->classes[i] = class_of(d, &c, key, d->space < SPACE_TRAILING && odd_end(d, s, s->begin + i));
            proc_tick(d->p, 1 + key.len / 128);
        }
    }
}
