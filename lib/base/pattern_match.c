/* pattern_match: shell patterns against subjects.
 *
 * Without groups a pattern is segments between stars. A segment matches at a place in one way only, so the leftmost (or rightmost)
 * place for each in turn decides every question without backtracking. With groups, sets of positions are carried from item to item: time is
 * bounded by items times length squared, and recursion by the pattern's nesting.
 */
#include "pattern.h"

#define NONE RE_UNSET

/* ---- single items ---- */

static bool set_has(const Pat *p, const CharSet *set, uint32_t c)
{
    bool in = charset_in(set, c);
    if (!in && (p->flags & PAT_ICASE) && c >= 128 && c < RAW_BYTE)
        in = charset_spans(set, char_lower(c)) || charset_spans(set, char_upper(c));
    return in != set->negated;
}

/* Literal text at `at` folded: its end in the subject, or NONE. */
static size_t folded_at(const Pat *p, Slice text, Slice s, size_t at)
{
    size_t n, m;
    for (size_t i = 0; i < text.len; i += n, at += m) {
        if (at >= s.len)
            return NONE;
        uint32_t a = pat_char(p, text, i, &n), b = pat_char(p, s, at, &m);
        if (a != b && (a >= RAW_BYTE || b >= RAW_BYTE || char_lower(a) != char_lower(b)))
            return NONE;
    }
    return at;
}

static size_t step_back(const Pat *p, Slice s, size_t at)
{
    size_t n;
    if (!(p->flags & PAT_BYTES) && ((unsigned char)s.data[at - 1] & 0xC0) == 0x80)
        for (size_t k = 2; k <= 4 && k <= at; k++)
            if (utf8_decode(s.data + at - k, k, &n) != UTF8_BAD && n == k)
                return at - k;
    return at - 1;
}

/* Where a literal, any or set item that begins at `at` ends, or NONE. */
static inline size_t item_at(const Pat *p, const PatItem *item, Slice s, size_t at)
{
    size_t n;
    if (item->kind == PAT_LITERAL) {
        if (p->flags & PAT_ICASE)
            return folded_at(p, item->text, s, at);
        bool same = item->text.len <= s.len - at && memcmp(item->text.data, s.data + at, item->text.len) == 0;
        return same ? at + item->text.len : NONE;
    }
    if (at >= s.len)
        return NONE;
    uint32_t c = pat_char(p, s, at, &n);
    return item->kind == PAT_ANY || set_has(p, item->set, c) ? at + n : NONE;
}

/* ---- patterns of segments ---- */

typedef struct { const PatItem *first, *end; } Segment;

static Segment segment_at(const Pat *p, uint32_t from)
{
    const PatItem *item = p->seq.items + from, *end = p->seq.items + p->seq.count, *stop = item;
    while (stop < end && stop->kind != PAT_STAR)
        stop++;
    return (Segment){item, stop};
}

static Segment segment_last(const Pat *p)
{
    const PatItem *end = p->seq.items + p->seq.count, *first = end;
    while (first > p->seq.items && first[-1].kind != PAT_STAR)
        first--;
    return (Segment){first, end};
}

static size_t segment_match(const Pat *p, Segment g, Slice s, size_t at)
{
    for (const PatItem *item = g.first; item != g.end && at != NONE; item++)
        at = item_at(p, item, s, at);
    return at;
}

/* Where the segment begins that ends exactly at `end`, not before `low`; NONE when it does not match there. */
static size_t segment_back(const Pat *p, Segment g, Slice s, size_t low, size_t end)
{
    size_t at = end;
    for (const PatItem *item = g.end; item-- > g.first;) {
        size_t start;
        if (item->kind == PAT_LITERAL && !(p->flags & PAT_ICASE)) {
            if (item->text.len > at)
                return NONE;
            start = at - item->text.len;
        } else {
            size_t chars = item->kind != PAT_LITERAL ? 1 : p->flags & PAT_BYTES ? item->text.len : utf8_count(item->text);
            for (start = at; chars && start > 0; chars--)
                start = step_back(p, s, start);
            if (chars)
                return NONE;
        }
        if (start < low || item_at(p, item, slice(s.data, at), start) != at)
            return NONE;
        at = start;
    }
    return at;
}

static size_t char_end(const Pat *p, Slice s, size_t at)
{
    size_t n;
    pat_char(p, s, at, &n);
    return at + n;
}

/* Leftmost place at or after `at`; *end gets where it ends. */
static size_t segment_find(const Pat *p, Segment g, Slice s, size_t at, size_t *end)
{
    if (g.first == g.end) {
        *end = at;
        return at;
    }
    bool jump = g.first->kind == PAT_LITERAL && !(p->flags & PAT_ICASE);
    for (; at <= s.len; at = at < s.len ? char_end(p, s, at) : s.len + 1) {
        if (jump) {
            const char *hit = memmem(s.data + at, s.len - at, g.first->text.data, g.first->text.len);
            if (!hit)
                return NONE;
            at = (size_t)(hit - s.data);
        }
        *end = segment_match(p, g, s, at);
        if (*end != NONE)
            return at;
    }
    return NONE;
}

/* Rightmost place in [low, high): its end is at most `high`. */
static size_t segment_rfind(const Pat *p, Segment g, Slice s, size_t low, size_t high, size_t *end)
{
    for (size_t e = high;; e = step_back(p, s, e)) {
        size_t at = segment_back(p, g, s, low, e);
        if (at != NONE) {
            *end = e;
            return at;
        }
        if (e <= low)
            return NONE;
    }
}

static bool has_star(const Pat *p, Segment first) { return first.end < p->seq.items + p->seq.count; }

/* Places the segments between the first and the last leftmost, from `at`; where they end, or NONE. */
static size_t middle_find(const Pat *p, Segment first, Segment last, Slice s, size_t at)
{
    const PatItem *item = first.end + 1;
    while (item < last.first && at != NONE) {
        Segment g = segment_at(p, (uint32_t)(item - p->seq.items));
        size_t end;
        at = segment_find(p, g, s, at, &end) == NONE ? NONE : end;
        item = g.end + 1;
    }
    return at;
}

static bool plain_match(const Pat *p, Slice s)
{
    Segment first = segment_at(p, 0);
    size_t at = segment_match(p, first, s, 0);
    if (at == NONE || !has_star(p, first))
        return at == s.len;
    Segment last = segment_last(p);
    size_t tail = segment_back(p, last, s, at, s.len);
    if (tail == NONE)
        return false;
    at = middle_find(p, first, last, slice(s.data, tail), at);
    return at != NONE;
}

/* The end of a match whose first segment ends at `at`. */
static size_t plain_end(const Pat *p, Segment first, Slice s, size_t at, bool longest)
{
    if (at == NONE || !has_star(p, first))
        return at;
    Segment last = segment_last(p);
    at = middle_find(p, first, last, s, at);
    if (at == NONE)
        return NONE;
    if (last.first == last.end)
        return longest ? s.len : at;
    size_t end;
    size_t place = longest ? segment_rfind(p, last, s, at, s.len, &end) : segment_find(p, last, s, at, &end);
    return place == NONE ? NONE : end;
}

/* The start of the suffix: segments from the last one placed as far right as they go; the first then as far left or right. */
static size_t plain_suffix(const Pat *p, Slice s, bool longest)
{
    Segment first = segment_at(p, 0), last = segment_last(p);
    size_t at = segment_back(p, last, s, 0, s.len), end;
    if (!has_star(p, first) || at == NONE)
        return at;
    const PatItem *item = last.first - 1; /* the star before `last` */
    while (item > first.end) {
        Segment g = {item, item};
        while (g.first > first.end + 1 && g.first[-1].kind != PAT_STAR)
            g.first--;
        at = segment_rfind(p, g, s, 0, at, &end);
        if (at == NONE)
            return NONE;
        item = g.first - 1;
    }
    Slice room = slice(s.data, at);
    if (first.first == first.end)
        return longest ? 0 : at;
    return longest ? segment_find(p, first, room, 0, &end) : segment_rfind(p, first, room, 0, at, &end);
}

/* ---- patterns with groups: sets of positions ---- */

typedef struct {
    const ReEnv *env;
    const Pat *p;
    Slice s;
    size_t words;
    uint64_t *bounds; /* character boundaries */
    bool guarded;     /* a leading period that only a literal may match */
    bool failed;      /* no memory: nothing matches */
} Run;

static void set_bit(uint64_t *set, size_t at) { set[at / 64] |= 1ull << at % 64; }
static bool has_bit(const uint64_t *set, size_t at) { return set[at / 64] >> at % 64 & 1; }

static size_t next_bit(const Run *r, const uint64_t *set, size_t at)
{
    if (at > r->s.len)
        return NONE;
    uint64_t word = set[at / 64] & ~0ull << at % 64;
    for (size_t i = at / 64;; word = set[i]) {
        if (word)
            return i * 64 + (size_t)__builtin_ctzll(word);
        if (++i == r->words)
            return NONE;
    }
}

static size_t last_bit(const Run *r, const uint64_t *set)
{
    for (size_t i = r->words; i-- > 0;)
        if (set[i])
            return i * 64 + 63 - (size_t)__builtin_clzll(set[i]);
    return NONE;
}

static uint64_t *bits_new(Run *r)
{
    uint64_t *set = mem_array(r->env->mem, r->words, uint64_t);
    if (!set)
        r->failed = true;
    return set;
}

static void seq_run(Run *r, const PatSeq *seq, uint64_t *set);

/* Positions after one pass through any alternative, from those in `from`, added to `to`; true when that added something. */
static bool alternatives_run(Run *r, const PatItem *item, const uint64_t *from, uint64_t *to)
{
    bool more = false;
    for (uint32_t i = 0; i < item->alternatives; i++) {
        uint64_t *set = bits_new(r);
        if (!set)
            return false;
        memcpy(set, from, r->words * sizeof *set);
        seq_run(r, &item->group[i], set);
        for (size_t w = 0; w < r->words; w++) {
            more |= (set[w] & ~to[w]) != 0;
            to[w] |= set[w];
        }
    }
    return more;
}

/* Alternatives without stars and groups end in one place each, so a repetition is one pass over the positions in order. */
static bool is_simple(const PatItem *item)
{
    if (item->op == '!')
        return false;
    for (uint32_t i = 0; i < item->alternatives; i++)
        for (uint32_t k = 0; k < item->group[i].count; k++)
            if (item->group[i].items[k].kind == PAT_STAR || item->group[i].items[k].kind == PAT_GROUP)
                return false;
    return true;
}

static void simple_run(Run *r, const PatItem *item, const uint64_t *set, uint64_t *out)
{
    bool repeat = item->op == '*' || item->op == '+';
    for (size_t at = 0; at <= r->s.len; at++) {
        if (!has_bit(set, at) && !(repeat && has_bit(out, at))) {
            if (at % 64 == 0 && !set[at / 64] && !out[at / 64])
                at += 63;
            continue;
        }
        for (uint32_t i = 0; i < item->alternatives; i++) {
            const PatSeq *seq = &item->group[i];
            bool blocked = at == 0 && r->guarded && seq->count && seq->items[0].kind != PAT_LITERAL;
            size_t end = blocked ? NONE : segment_match(r->p, (Segment){seq->items, seq->count ? seq->items + seq->count : seq->items}, r->s, at);
            if (end != NONE)
                set_bit(out, end);
        }
    }
}

/* !(...): from each position, every later boundary that the alternatives do not reach. */
static void group_not(Run *r, const PatItem *item, uint64_t *set)
{
    uint64_t *from = bits_new(r), *reach = bits_new(r), *out = bits_new(r);
    if (!from || !reach || !out)
        return;
    for (size_t at = 0; (at = next_bit(r, set, at)) != NONE && !r->failed; at++) {
        MemMark mark = mem_mark(r->env->mem);
        memset(from, 0, r->words * sizeof *from);
        memset(reach, 0, r->words * sizeof *reach);
        set_bit(from, at);
        alternatives_run(r, item, from, reach);
        mem_reset(r->env->mem, mark);
        bool stuck = r->guarded && at == 0;
        for (size_t w = at / 64; w < r->words; w++) {
            uint64_t behind = w == at / 64 ? ~0ull << at % 64 : ~0ull;
            if (stuck)
                behind &= w == 0 ? 1 : 0;
            out[w] |= r->bounds[w] & ~reach[w] & behind;
        }
    }
    memcpy(set, out, r->words * sizeof *set);
}

static void group_run(Run *r, const PatItem *item, uint64_t *set)
{
    if (item->op == '!') {
        group_not(r, item, set);
        return;
    }
    uint64_t *out = bits_new(r);
    if (!out)
        return;
    bool simple = is_simple(item);
    if (simple)
        simple_run(r, item, set, out);
    else
        alternatives_run(r, item, set, out);
    if (!simple && (item->op == '*' || item->op == '+'))
        for (bool more = true; more && !r->failed;) {
            MemMark mark = mem_mark(r->env->mem);
            more = alternatives_run(r, item, out, out);
            mem_reset(r->env->mem, mark);
        }
    if (item->op == '*' || item->op == '?')
        for (size_t w = 0; w < r->words; w++)
            out[w] |= set[w];
    memcpy(set, out, r->words * sizeof *set);
}

static void star_run(Run *r, uint64_t *set)
{
    size_t at = next_bit(r, set, 0);
    if (at == 0 && r->guarded) {
        set[0] &= ~1ull;
        at = next_bit(r, set, 1);
    }
    if (at == NONE)
        return;
    set[at / 64] |= r->bounds[at / 64] & ~0ull << at % 64;
    for (size_t w = at / 64 + 1; w < r->words; w++)
        set[w] = r->bounds[w];
}

static void single_run(Run *r, const PatItem *item, uint64_t *set)
{
    uint64_t *out = bits_new(r);
    if (!out)
        return;
    for (size_t at = 0; (at = next_bit(r, set, at)) != NONE; at++) {
        if (at == 0 && r->guarded && item->kind != PAT_LITERAL)
            continue;
        size_t end = item_at(r->p, item, r->s, at);
        if (end != NONE)
            set_bit(out, end);
    }
    memcpy(set, out, r->words * sizeof *set);
}

static void seq_run(Run *r, const PatSeq *seq, uint64_t *set)
{
    for (uint32_t i = 0; i < seq->count && !r->failed; i++) {
        const PatItem *item = &seq->items[i];
        if (r->env->tick)
            r->env->tick(r->env->user, 1 + r->words);
        MemMark mark = mem_mark(r->env->mem);
        if (item->kind == PAT_STAR)
            star_run(r, set);
        else if (item->kind == PAT_GROUP)
            group_run(r, item, set);
        else
            single_run(r, item, set);
        mem_reset(r->env->mem, mark);
    }
}

static bool run_init(Run *r, const ReEnv *env, const Pat *p, Slice s)
{
    *r = (Run){.env = env, .p = p, .s = s, .words = s.len / 64 + 1};
    r->guarded = (p->flags & PAT_PERIOD) && s.len && s.data[0] == '.';
    r->bounds = bits_new(r);
    if (!r->bounds)
        return false;
    for (size_t at = 0; at < s.len; at = char_end(p, s, at))
        set_bit(r->bounds, at);
    set_bit(r->bounds, s.len);
    return true;
}

/* All ends of matches that begin at `at`; NULL without memory. */
static uint64_t *ends_from(Run *r, uint64_t *set, size_t at)
{
    memset(set, 0, r->words * sizeof *set);
    set_bit(set, at);
    seq_run(r, &r->p->seq, set);
    return r->failed ? NULL : set;
}

typedef enum { ASK_MATCH, ASK_PREFIX_SHORT, ASK_PREFIX_LONG, ASK_SUFFIX_SHORT, ASK_SUFFIX_LONG, ASK_SEARCH } Question;

static size_t extended_suffix(Run *r, uint64_t *set, bool longest)
{
    size_t best = NONE;
    for (size_t at = 0; (at = next_bit(r, r->bounds, at)) != NONE; at++) {
        uint64_t *ends = ends_from(r, set, at);
        if (!ends || !has_bit(ends, r->s.len))
            continue;
        best = at;
        if (longest)
            break;
    }
    return best;
}

/* A position, or NONE; for ASK_SEARCH the start, with its end in *end. */
static size_t extended_ask(const ReEnv *env, const Pat *p, Slice s, Question ask, size_t start, size_t *end)
{
    Run r;
    MemMark mark = mem_mark(env->mem);
    size_t answer = NONE;
    uint64_t *set = run_init(&r, env, p, s) ? bits_new(&r) : NULL;
    if (set && (ask == ASK_SUFFIX_SHORT || ask == ASK_SUFFIX_LONG)) {
        answer = extended_suffix(&r, set, ask == ASK_SUFFIX_LONG);
    } else if (set && ask == ASK_SEARCH) {
        for (size_t at = start; answer == NONE && (at = next_bit(&r, r.bounds, at)) != NONE; at++)
            if (ends_from(&r, set, at) && (*end = last_bit(&r, set)) != NONE)
                answer = at;
    } else if (set && ends_from(&r, set, 0)) {
        if (ask == ASK_MATCH)
            answer = has_bit(set, s.len) ? s.len : NONE;
        else
            answer = ask == ASK_PREFIX_LONG ? last_bit(&r, set) : next_bit(&r, set, 0);
    }
    mem_reset(env->mem, mark);
    return answer;
}

/* ---- the questions ---- */

/* bash: a leading period is matched only by a literal one. */
static bool period_refused(const Pat *p, Slice s)
{
    if (!(p->flags & PAT_PERIOD) || !s.len || s.data[0] != '.')
        return false;
    const PatItem *item = p->seq.items;
    return p->seq.count == 0 || item->kind != PAT_LITERAL || item->text.data[0] != '.';
}

static bool match(const ReEnv *env, const Pat *p, Slice s)
{
    if (p->extended)
        return extended_ask(env, p, s, ASK_MATCH, 0, NULL) != NONE;
    return !period_refused(p, s) && plain_match(p, s);
}

static size_t prefix(const ReEnv *env, const Pat *p, Slice s, bool longest)
{
    if (p->extended)
        return extended_ask(env, p, s, longest ? ASK_PREFIX_LONG : ASK_PREFIX_SHORT, 0, NULL);
    Segment first = segment_at(p, 0);
    return plain_end(p, first, s, segment_match(p, first, s, 0), longest);
}

static size_t suffix(const ReEnv *env, const Pat *p, Slice s, bool longest)
{
    size_t at = p->extended ? extended_ask(env, p, s, longest ? ASK_SUFFIX_LONG : ASK_SUFFIX_SHORT, 0, NULL)
                            : plain_suffix(p, s, longest);
    return at == NONE ? NONE : s.len - at;
}

static inline bool fits(const Pat *p, Slice s) { return !p->counts_chars || p->flags & PAT_BYTES || utf8_valid(s); }

const Pat *pat_for(Mem *mem, const Pat *p, Slice s)
{
    const Pat *bytes = likely(fits(p, s)) ? NULL : pat_compile(mem, p->text, p->flags | PAT_BYTES);
    return bytes ? bytes : p;
}

bool pat_match(const ReEnv *env, const Pat *p, Slice s)
{
    if (likely(!env || fits(p, s)))
        return match(env, p, s);
    MemMark mark = mem_mark(env->mem);
    bool matched = match(env, pat_for(env->mem, p, s), s);
    mem_reset(env->mem, mark);
    return matched;
}

size_t pat_prefix(const ReEnv *env, const Pat *p, Slice s, bool longest)
{
    MemMark mark = mem_mark(env->mem);
    size_t n = prefix(env, pat_for(env->mem, p, s), s, longest);
    mem_reset(env->mem, mark);
    return n;
}

size_t pat_suffix(const ReEnv *env, const Pat *p, Slice s, bool longest)
{
    MemMark mark = mem_mark(env->mem);
    size_t n = suffix(env, pat_for(env->mem, p, s), s, longest);
    mem_reset(env->mem, mark);
    return n;
}

/* The first place of the first segment decides: what can follow a later one can follow an earlier one too. */
bool pat_search(const ReEnv *env, const Pat *p, Slice s, size_t start, ReSpan *span)
{
    size_t at, end;
    if (p->extended) {
        at = extended_ask(env, p, s, ASK_SEARCH, start, &end);
    } else {
        Segment first = segment_at(p, 0);
        at = segment_find(p, first, s, start, &end);
        end = at == NONE ? NONE : plain_end(p, first, s, end, true);
    }
    if (at == NONE || end == NONE)
        return false;
    *span = (ReSpan){at, end};
    return true;
}
