/* regex_analyse: what a tree tells without matching.
 *
 * Whether the first match that a backtracking matcher finds is the longest: it is when every choice is forced by the next
 * character (what may go on and what may follow begin differently), or when nothing of variable width comes after the choice.
 */
#include "regex_tree.h"

/* Characters an expression can begin with; everything above ASCII is one. */
typedef struct {
    uint64_t low[2];
    bool high;
} First;

typedef struct {
    ReParse *ps;
    bool fold;
} A;

static First first_join(First a, First b) { return (First){{a.low[0] | b.low[0], a.low[1] | b.low[1]}, a.high || b.high}; }

static bool first_meet(First a, First b)
{
    return (a.low[0] & b.low[0]) || (a.low[1] & b.low[1]) || (a.high && b.high);
}

static void first_add(First *f, uint32_t c)
{
    if (c < 128)
        f->low[c / 64] |= 1ull << c % 64;
    else
        f->high = true;
}

static const First first_all = {{~0ull, ~0ull}, true};

static First first_of_set(const A *a, const CharSet *set)
{
    First f = {{0, 0}, set->negated || set->count || set->classes};
    for (uint32_t c = 0; c < 128; c++) {
        bool in = charset_in(set, c);
        if (a->fold && !in)
            in = charset_in(set, char_lower(c)) || charset_in(set, char_upper(c));
        if (in != set->negated || (set->negated && a->fold))
            first_add(&f, c);
    }
    return f;
}

/* Joins what n can begin with into *f; true when n can match nothing. */
static bool first_of(const A *a, const Node *n, First *f)
{
    bool nullable = false;
    switch (n->kind) {
    case N_EMPTY:
    case N_ANCHOR: return true;
    case N_CHAR:
        first_add(f, n->c);
        if (a->fold) {
            first_add(f, char_lower(n->c));
            first_add(f, char_upper(n->c));
            f->high |= (n->c | 32) == 'k' || (n->c | 32) == 's';
        }
        return false;
    case N_ANY: *f = first_all; return false;
    case N_SET: *f = first_join(*f, first_of_set(a, n->set)); return false;
    case N_BACKREF: *f = first_all; return true;
    case N_GROUP: return first_of(a, n->sub, f);
    case N_REPEAT: return first_of(a, n->sub, f) || n->min == 0;
    case N_CAT:
        for (uint32_t i = 0; i < n->count; i++)
            if (!first_of(a, n->kids[i], f))
                return false;
        return true;
    case N_ALT:
        for (uint32_t i = 0; i < n->count; i++)
            nullable |= first_of(a, n->kids[i], f);
        return nullable;
    }
    return true;
}

/* Characters that n always takes, or -1. Bounded so that products cannot overflow. */
static int width_of(const Node *n)
{
    int64_t w = 0;
    switch (n->kind) {
    case N_EMPTY:
    case N_ANCHOR: return 0;
    case N_CHAR: case N_ANY: case N_SET: return 1;
    case N_BACKREF: return -1;
    case N_GROUP: return width_of(n->sub);
    case N_REPEAT:
        w = n->min == n->max ? width_of(n->sub) : -1;
        w = w < 0 ? -1 : w * n->min;
        break;
    case N_CAT:
        for (uint32_t i = 0; i < n->count && w >= 0; i++) {
            int k = width_of(n->kids[i]);
            w = k < 0 ? -1 : w + k;
        }
        break;
    case N_ALT:
        w = width_of(n->kids[0]);
        for (uint32_t i = 1; i < n->count && w >= 0; i++)
            if (width_of(n->kids[i]) != w)
                w = -1;
        break;
    }
    return w > 1 << 24 ? -1 : (int)w;
}

static bool has_groups(const Node *n)
{
    if (n->kind == N_GROUP || n->kind == N_BACKREF)
        return true;
    if (n->kind == N_REPEAT)
        return has_groups(n->sub);
    for (uint32_t i = 0; i < n->count; i++)
        if (has_groups(n->kids[i]))
            return true;
    return false;
}

static bool forced(const A *a, Node *n, First follow, bool last);

/* Stable, longest first: what stands first among fixed alternatives is then the longest that matches. Merges runs of doubling length. */
static bool sort_by_width(const A *a, Node *n)
{
    Node **from = n->kids, **to = mem_array(a->ps->mem, n->count, Node *);
    if (!to)
        return false;
    for (uint32_t run = 1; run < n->count; run *= 2) {
        for (uint32_t low = 0; low < n->count; low += 2 * run) {
            uint32_t mid = MIN(low + run, n->count), high = MIN(low + 2 * run, n->count), i = low, j = mid;
            for (uint32_t k = low; k < high; k++)
                to[k] = j >= high || (i < mid && width_of(from[i]) >= width_of(from[j])) ? from[i++] : from[j++];
        }
        Node **swap = from;
        from = to;
        to = swap;
    }
    n->kids = from;
    return true;
}

static bool forced_alternatives(const A *a, Node *n, First follow, bool last)
{
    bool fixed = true;
    for (uint32_t i = 0; i < n->count; i++)
        fixed = fixed && width_of(n->kids[i]) >= 0;
    if (fixed && !has_groups(n)) {
        if (width_of(n) >= 0)
            return true;
        if (last)
            return sort_by_width(a, n);
    }
    First seen = {{0, 0}, false};
    for (uint32_t i = 0; i < n->count; i++) {
        First f = {{0, 0}, false};
        bool nullable = first_of(a, n->kids[i], &f);
        if (first_meet(f, seen) || (nullable && (i + 1 < n->count || first_meet(seen, follow))))
            return false;
        if (!forced(a, n->kids[i], follow, last))
            return false;
        seen = first_join(seen, f);
    }
    return true;
}

static bool forced_repeat(const A *a, Node *n, First follow, bool last)
{
    First f = {{0, 0}, false};
    bool nullable = first_of(a, n->sub, &f);
    bool once = n->max == 1;
    First next = once ? follow : first_join(f, follow);
    if (n->min == n->max)
        return (!nullable || n->max <= 1) && forced(a, n->sub, next, last && once);
    if (nullable)
        return false;
    if (last && width_of(n->sub) > 0)
        return forced(a, n->sub, next, false);
    return !first_meet(f, follow) && forced(a, n->sub, next, last && once);
}

/* `follow`: what can come behind n; `last`: nothing of variable width does. */
static bool forced(const A *a, Node *n, First follow, bool last)
{
    switch (n->kind) {
    case N_GROUP: return forced(a, n->sub, follow, last);
    case N_REPEAT: return forced_repeat(a, n, follow, last);
    case N_ALT: return forced_alternatives(a, n, follow, last);
    case N_CAT:
        for (uint32_t i = n->count; i-- > 0;) {
            if (!forced(a, n->kids[i], follow, last))
                return false;
            First f = {{0, 0}, false};
            bool nullable = first_of(a, n->kids[i], &f);
            follow = nullable ? first_join(f, follow) : f;
            last = last && width_of(n->kids[i]) >= 0;
        }
        return true;
    default: return true;
    }
}

/* Every match of such a pattern ends at the same place. */
static bool ends_in_dollar(const Node *n)
{
    switch (n->kind) {
    case N_ANCHOR: return n->c == '$' || n->c == '\'';
    case N_GROUP: return ends_in_dollar(n->sub);
    case N_CAT: return ends_in_dollar(n->kids[n->count - 1]);
    case N_ALT:
        for (uint32_t i = 0; i < n->count; i++)
            if (!ends_in_dollar(n->kids[i]))
                return false;
        return true;
    default: return false;
    }
}

static void scan(const A *a, const Node *n, ReFacts *facts)
{
    switch (n->kind) {
    case N_CHAR:
        facts->stray |= n->c >= RAW_BYTE;
        facts->safe &= !a->fold || (n->c < 128 && (n->c | 32) != 'k' && (n->c | 32) != 's');
        break;
    case N_ANY: facts->safe = false; break;
    case N_SET:
        for (uint32_t i = 0; i < n->set->count; i++)
            facts->stray |= n->set->spans[i].last >= RAW_BYTE;
        facts->safe &= !n->set->negated && !n->set->count && !a->fold
                       && !(n->set->classes & ~(1u << CLASS_DIGIT | 1u << CLASS_XDIGIT));
        break;
    case N_ANCHOR: facts->safe &= !memchr("<>bB", (char)n->c, 4); break;
    case N_BACKREF: facts->backrefs = true; break;
    case N_GROUP:
    case N_REPEAT: scan(a, n->sub, facts); break;
    default:
        for (uint32_t i = 0; i < n->count; i++)
            scan(a, n->kids[i], facts);
    }
}

/* The longest run of bytes that every match holds. */
typedef struct {
    Buf run;
    Mem *mem;
    Slice best;
} NeedleScan;

static void run_end(NeedleScan *d)
{
    if (d->run.len > d->best.len) {
        char *copy = mem_copy(d->mem, buf_slice(&d->run));
        if (copy)
            d->best = slice(copy, d->run.len);
    }
    buf_clear(&d->run);
}

static void needle_scan(NeedleScan *d, const Node *n)
{
    char bytes[6];
    switch (n->kind) {
    case N_CHAR:
        if (n->c >= RAW_BYTE)
            buf_char(&d->run, (char)(n->c & 0xFF));
        else
            buf_append(&d->run, slice(bytes, utf8_encode(n->c, bytes)));
        break;
    case N_GROUP: needle_scan(d, n->sub); break;
    case N_CAT:
        for (uint32_t i = 0; i < n->count; i++)
            needle_scan(d, n->kids[i]);
        break;
    case N_REPEAT:
        if (n->min > 0)
            needle_scan(d, n->sub);
        run_end(d);
        break;
    case N_EMPTY:
    case N_ANCHOR: break;
    default: run_end(d);
    }
}

static bool only_chars(const Node *n)
{
    if (n->kind != N_CAT)
        return n->kind == N_CHAR;
    for (uint32_t i = 0; i < n->count; i++)
        if (n->kids[i]->kind != N_CHAR)
            return false;
    return true;
}

ReFacts re_analyse(ReParse *ps, Node *n, Mem *mem)
{
    A a = {ps, ps->flags & RE_ICASE};
    ReFacts facts = {.safe = !(ps->flags & RE_WHOLE_WORD)};
    bool lines = ps->flags & RE_MULTILINE;
    scan(&a, n, &facts);
    facts.ambiguous = !forced(&a, n, (First){{0, 0}, false}, true) && (lines || !ends_in_dollar(n)) && !(ps->flags & RE_WHOLE_LINE);
    if (!a.fold) {
        NeedleScan d = {.mem = mem, .best = {"", 0}};
        buf_init(&d.run, mem, BUF_MAX);
        needle_scan(&d, n);
        run_end(&d);
        if (!d.run.failed)
            facts.needle = d.best;
        facts.literal = only_chars(n) && !(ps->flags & (RE_WHOLE_LINE | RE_WHOLE_WORD)) && facts.needle.len > 0;
    }
    return facts;
}
