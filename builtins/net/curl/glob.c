/* glob: sets {one,two} and ranges [1-10], [001-100:2], [a-z] in URLs, and #1 in names of files. */
#include "curl.h"

enum { MOST_PARTS = 100, MOST_URLS = 1000000 };

typedef struct Part {
    enum { LITERAL, SET, LETTERS, NUMBERS } kind;
    Slice text;            /* LITERAL */
    List words;            /* SET */
    int64_t first, last, step;
    int width;             /* of numbers with leading zeros */
    uint64_t count, at;
} Part;

struct Glob {
    Curl *c;
    Part part[MOST_PARTS];
    size_t n;
    uint64_t left;
};

typedef struct Reader {
    Glob *g;
    Slice s;
    size_t at;
    const char *error;
} Reader;

static bool bad(Reader *r, const char *why, size_t at)
{
    r->error = why;
    r->at = at;
    return false;
}

static Part *part_new(Reader *r)
{
    if (r->g->n == MOST_PARTS) {
        bad(r, "too many globs", r->at);
        return NULL;
    }
    Part *p = &r->g->part[r->g->n++];
    *p = (Part){.count = 1};
    return p;
}

static bool read_set(Reader *r)
{
    size_t start = r->at;
    Part *p = part_new(r);
    Buf b;
    if (!p)
        return false;
    p->kind = SET;
    buf_init(&b, &r->g->c->p->mem, BUF_MAX);
    for (r->at++; r->at < r->s.len; r->at++) {
        char ch = r->s.data[r->at];
        if (ch == '{' || ch == '[')
            return bad(r, "nested brace", r->at + 1);
        if (ch == '}' || ch == ',') {
            list_add(r->g->c, &p->words, slice(mem_copy(&r->g->c->p->keep, buf_slice(&b)), b.len));
            buf_clear(&b);
            if (ch == ',')
                continue;
            p->count = p->words.n;
            r->at++;
            return p->words.n == 1 && !p->words.item[0].len ? bad(r, "empty string within braces", r->at) : true;
        }
        if (ch == '\\' && r->at + 1 < r->s.len)
            ch = r->s.data[++r->at];
        buf_char(&b, ch);
    }
    return bad(r, "unmatched brace", start + 1);
}

static bool read_number(Slice *s, int64_t *out)
{
    size_t n = 0;
    *out = 0;
    while (n < s->len && n < 18 && s->data[n] >= '0' && s->data[n] <= '9')
        *out = *out * 10 + (s->data[n++] - '0');
    *s = slice_from(*s, n);
    return n > 0;
}

static bool is_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

static bool read_range(Reader *r)
{
    size_t start = r->at, end = start + slice_find(slice_from(r->s, start), ']'), digits = start + 1;
    while (digits < r->s.len && r->s.data[digits] >= '0' && r->s.data[digits] <= '9')
        digits++;
    size_t where = digits + 1 + (digits < r->s.len && r->s.data[digits] == '-'); /* curl counts from one, behind what it had read */
    if (end == r->s.len)
        return bad(r, where == start + 2 ? "bad range specification" : "bad range", where);
    Slice in = slice(r->s.data + start + 1, end - start - 1);
    Part *p = part_new(r);
    if (!p)
        return false;
    p->step = 1;
    if (in.len >= 3 && is_letter(in.data[0]) && in.data[1] == '-' && is_letter(in.data[2])) {
        p->kind = LETTERS;
        p->first = in.data[0];
        p->last = in.data[2];
        in = slice_from(in, 3);
    } else {
        p->kind = NUMBERS;
        size_t width = in.len;
        Slice whole = in;
        if (!read_number(&in, &p->first) || !in.len || in.data[0] != '-')
            return bad(r, "bad range", where);
        width -= in.len;
        p->width = whole.data[0] == '0' ? (int)width : 0;
        in = slice_from(in, 1);
        if (!read_number(&in, &p->last))
            return bad(r, "bad range", where);
    }
    if (in.len && in.data[0] == ':') {
        in = slice_from(in, 1);
        if (!read_number(&in, &p->step) || !p->step)
            return bad(r, "bad range", end + 2);
    }
    if (in.len || p->last < p->first)
        return bad(r, "bad range", in.len ? where : end + 2);
    p->count = (uint64_t)((p->last - p->first) / p->step) + 1;
    r->at = end + 1;
    return true;
}

/* An IPv6 address is not a range. */
static bool is_address(Slice s)
{
    size_t end = slice_find(s, ']');
    NetAddress a;
    return end < s.len && net_parse_v6(slice(s.data + 1, end - 1), &a);
}

static bool read_literal(Reader *r)
{
    Buf b;
    Part *p = part_new(r);
    if (!p)
        return false;
    buf_init(&b, &r->g->c->p->keep, BUF_MAX);
    for (; r->at < r->s.len; r->at++) {
        char ch = r->s.data[r->at];
        if (ch == '[' && is_address(slice_from(r->s, r->at))) {
            size_t n = slice_find(slice_from(r->s, r->at), ']');
            buf_append(&b, slice(r->s.data + r->at, n + 1));
            r->at += n;
            continue;
        }
        if (ch == '{' || ch == '[')
            break;
        if (ch == '}' || ch == ']')
            return bad(r, "unmatched close brace/bracket", r->at + 1);
        if (ch == '\\' && r->at + 1 < r->s.len && strchr("{}[]", r->s.data[r->at + 1]))
            ch = r->s.data[++r->at];
        buf_char(&b, ch);
    }
    p->text = slice(b.data, b.len);
    return true;
}

static bool read_all_parts(Reader *r)
{
    while (r->at < r->s.len) {
        char ch = r->s.data[r->at];
        bool set = ch == '{', range = ch == '[' && !is_address(slice_from(r->s, r->at));
        if (!(set ? read_set(r) : range ? read_range(r) : read_literal(r)))
            return false;
        if (__builtin_mul_overflow(r->g->left, r->g->part[r->g->n - 1].count, &r->g->left) || r->g->left > MOST_URLS)
            return bad(r, "range overflow", r->at);
    }
    return true;
}

Glob *glob_open(Curl *c, const char *url, bool off, const char **error, size_t *at)
{
    Glob *g = mem_alloc0(&c->p->mem, sizeof *g);
    Reader r = {.g = g, .s = slice_str(url)};
    g->c = c;
    g->left = 1;
    if (off) {
        g->part[0] = (Part){.text = r.s, .count = 1};
        g->n = 1;
        return g;
    }
    if (read_all_parts(&r))
        return g;
    *error = r.error;
    *at = r.at;
    return NULL;
}

static void put_part(Buf *b, const Part *p)
{
    if (p->kind == LITERAL)
        buf_append(b, p->text);
    else if (p->kind == SET)
        buf_append(b, p->words.item[p->at]);
    else if (p->kind == LETTERS)
        buf_char(b, (char)(p->first + (int64_t)p->at * p->step));
    else
        buf_printf(b, "%0*lld", p->width, (long long)(p->first + (int64_t)p->at * p->step));
}

bool glob_next(Glob *g, const char **url)
{
    Buf b;
    if (!g->left)
        return false;
    if (*url)
        for (size_t i = g->n; i-- > 0;) {
            if (++g->part[i].at < g->part[i].count)
                break;
            g->part[i].at = 0;
        }
    g->left--;
    buf_init(&b, &g->c->p->keep, BUF_MAX);
    buf_reserve(&b, 1);
    for (size_t i = 0; i < g->n; i++)
        put_part(&b, &g->part[i]);
    *url = b.data ? b.data : "";
    return true;
}

static const Part *numbered(const Glob *g, unsigned number)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->part[i].kind != LITERAL && --number == 0)
            return &g->part[i];
    return NULL;
}

const char *glob_name(Glob *g, const char *name)
{
    Buf b;
    buf_init(&b, &g->c->p->keep, BUF_MAX);
    buf_reserve(&b, 1);
    for (const char *at = name; *at; at++) {
        unsigned number = 0;
        const char *digit = at + 1;
        while (*at == '#' && *digit >= '0' && *digit <= '9' && number < 1000)
            number = number * 10 + (unsigned)(*digit++ - '0');
        const Part *p = number ? numbered(g, number) : NULL;
        if (p) {
            put_part(&b, p);
            at = digit - 1;
        } else {
            buf_char(&b, *at);
        }
    }
    return b.data;
}
