/* compare: the changes between two sequences of line classes.
 *
 * Myers' O(ND) algorithm in linear space: a shortest path is searched from both ends until the two meet, and the parts before and
 * behind are done likewise. Lines without a partner are left out beforehand, and lines with very many partners where such ones surround
 * them; a search that costs too much takes the best point found. Then runs of changes are moved to where they join others.
 * These choices decide which of many equal scripts is printed, so each of them is GNU diff's.
 */
#include <stdlib.h>

#include "diff.h"

enum { SNAKE = 20, EXPENSIVE_LEAST = 4096 };

typedef int64_t Place;

typedef struct {
    Diff *d;
    const uint32_t *x, *y;     /* classes of what is left of each file */
    const size_t *x_line, *y_line;
    char *x_changed, *y_changed;
    Place *forward, *backward; /* by diagonal x - y: how far x got */
    Place expensive;
} Search;

typedef struct { Place x, y; bool low_minimal, high_minimal; } Split;

/* The window of diagonals one of the two searches has reached. */
typedef struct { Place low, high, middle; } Window;

static void widen(Window *w, Place *at, Place least, Place most, Place edge)
{
    if (w->low > least)
        at[--w->low - 1] = edge;
    else
        ++w->low;
    if (w->high < most)
        at[++w->high + 1] = edge;
    else
        --w->high;
}

static bool end_in_snake(const Search *s, Place x, Place y)
{
    for (Place k = 1; k <= SNAKE; k++)
        if (s->x[x - k] != s->y[y - k])
            return false;
    return true;
}

static bool begin_in_snake(const Search *s, Place x, Place y)
{
    for (Place k = 0; k < SNAKE; k++)
        if (s->x[x + k] != s->y[y + k])
            return false;
    return true;
}

typedef struct { Place x0, x1, y0, y1; } Box;

/* --speed-large-files: a diagonal that got much further than its cost. */
static bool good_enough(const Search *s, Box b, Place cost, const Window *f, const Window *r, Split *out)
{
    Place best = 0;
    for (Place d = f->high; d >= f->low; d -= 2) {
        Place off = d - f->middle, x = s->forward[d], y = x - d, v = (x - b.x0) * 2 - off;
        if (v > 12 * (cost + llabs(off)) && v > best && b.x0 + SNAKE <= x && x < b.x1 && b.y0 + SNAKE <= y && y < b.y1 && end_in_snake(s, x, y)) {
            best = v;
            *out = (Split){x, y, true, false};
        }
    }
    if (best > 0)
        return true;
    for (Place d = r->high; d >= r->low; d -= 2) {
        Place off = d - r->middle, x = s->backward[d], y = x - d, v = (b.x1 - x) * 2 + off;
        if (v > 12 * (cost + llabs(off)) && v > best && b.x0 < x && x <= b.x1 - SNAKE && b.y0 < y && y <= b.y1 - SNAKE && begin_in_snake(s, x, y)) {
            best = v;
            *out = (Split){x, y, false, true};
        }
    }
    return best > 0;
}

static Split give_up(const Search *s, Box b, const Window *f, const Window *r)
{
    Place far = -1, far_x = 0, near = INT64_MAX, near_x = 0;
    for (Place d = f->high; d >= f->low; d -= 2) {
        Place x = MIN(s->forward[d], b.x1), y = x - d;
        if (y > b.y1) {
            x = b.y1 + d;
            y = b.y1;
        }
        if (far < x + y) {
            far = x + y;
            far_x = x;
        }
    }
    for (Place d = r->high; d >= r->low; d -= 2) {
        Place x = MAX(b.x0, s->backward[d]), y = x - d;
        if (y < b.y0) {
            x = b.y0 + d;
            y = b.y0;
        }
        if (x + y < near) {
            near = x + y;
            near_x = x;
        }
    }
    if (b.x1 + b.y1 - near < far - (b.x0 + b.y0))
        return (Split){far_x, far - far_x, true, false};
    return (Split){near_x, near - near_x, false, true};
}

/* One more edit step from the beginning; true where the backward search was met. */
static bool step_forward(Search *s, Box b, Window *f, const Window *r, bool odd, bool *snake, Split *out)
{
    Place *at = s->forward;
    widen(f, at, b.x0 - b.y1, b.x1 - b.y0, -1);
    for (Place d = f->high; d >= f->low; d -= 2) {
        Place low = at[d - 1], high = at[d + 1], from = low < high ? high : low + 1, x = from, y = x - d;
        for (; x < b.x1 && y < b.y1 && s->x[x] == s->y[y]; x++)
            y++;
        *snake |= x - from > SNAKE;
        at[d] = x;
        if (odd && r->low <= d && d <= r->high && s->backward[d] <= x) {
            *out = (Split){x, y, true, true};
            return true;
        }
    }
    return false;
}

static bool step_backward(Search *s, Box b, const Window *f, Window *r, bool odd, bool *snake, Split *out)
{
    Place *at = s->backward;
    widen(r, at, b.x0 - b.y1, b.x1 - b.y0, INT64_MAX);
    for (Place d = r->high; d >= r->low; d -= 2) {
        Place low = at[d - 1], high = at[d + 1], from = low < high ? low : high - 1, x = from, y = x - d;
        for (; b.x0 < x && b.y0 < y && s->x[x - 1] == s->y[y - 1]; x--)
            y--;
        *snake |= from - x > SNAKE;
        at[d] = x;
        if (!odd && f->low <= d && d <= f->high && x <= s->forward[d]) {
            *out = (Split){x, y, true, true};
            return true;
        }
    }
    return false;
}

static Split find_split(Search *s, Box b, bool minimal)
{
    Window f = {b.x0 - b.y0, b.x0 - b.y0, b.x0 - b.y0}, r = {b.x1 - b.y1, b.x1 - b.y1, b.x1 - b.y1};
    bool odd = (f.middle - r.middle) & 1;
    s->forward[f.middle] = b.x0;
    s->backward[r.middle] = b.x1;
    for (Place cost = 1;; cost++) {
        Split out;
        bool snake = false;
        if (step_forward(s, b, &f, &r, odd, &snake, &out) || step_backward(s, b, &f, &r, odd, &snake, &out))
            return out;
        proc_tick(s->d->p, 1 + (uint64_t)(f.high - f.low + r.high - r.low) / 64);
        if (minimal)
            continue;
        if (cost > 200 && snake && s->d->large_files && good_enough(s, b, cost, &f, &r, &out))
            return out;
        if (cost >= s->expensive)
            return give_up(s, b, &f, &r);
    }
}

/* The parts before and behind a split are independent: the smaller one is a call, the larger one goes on here, so calls nest no deeper than the
 * logarithm of the lines. */
static void search(Search *s, Box b, bool minimal)
{
    for (;;) {
        while (b.x0 < b.x1 && b.y0 < b.y1 && s->x[b.x0] == s->y[b.y0]) {
            b.x0++;
            b.y0++;
        }
        while (b.x0 < b.x1 && b.y0 < b.y1 && s->x[b.x1 - 1] == s->y[b.y1 - 1]) {
            b.x1--;
            b.y1--;
        }
        if (b.x0 == b.x1 || b.y0 == b.y1)
            break;
        Split at = find_split(s, b, minimal);
        Box low = {b.x0, at.x, b.y0, at.y}, high = {at.x, b.x1, at.y, b.y1};
        bool low_first = low.x1 - low.x0 + low.y1 - low.y0 <= high.x1 - high.x0 + high.y1 - high.y0;
        search(s, low_first ? low : high, low_first ? at.low_minimal : at.high_minimal);
        b = low_first ? high : low;
        minimal = low_first ? at.high_minimal : at.low_minimal;
    }
    for (; b.x0 < b.x1; b.x0++)
        s->x_changed[s->x_line[b.x0]] = 1;
    for (; b.y0 < b.y1; b.y0++)
        s->y_changed[s->y_line[b.y0]] = 1;
}

/* --- lines that are left out --- */

enum { KEEP, DISCARD, MAYBE };

static void mark_discards(const FileSide *s, size_t n, const uint32_t *partners, char *marks)
{
    uint32_t many = 5;
    for (size_t rest = n / 64; (rest >>= 2) > 0;)
        many *= 2;
    for (size_t i = 0; i < n; i++) {
        uint32_t k = partners[s->classes[i]];
        marks[i] = k == 0 ? DISCARD : k > many ? MAYBE : KEEP;
    }
}

/* Keeps doubtful lines near an end of the run until three plain discards in a row, or a plain one 8 lines in. */
static void keep_near_end(char *at, size_t length, int step)
{
    unsigned row = 0;
    for (size_t j = 0; j < length; j++, at += step) {
        if (j >= 8 && *at == DISCARD)
            break;
        if (*at == MAYBE) {
            row = 0;
            *at = KEEP;
        } else {
            row = *at == KEEP ? 0 : row + 1;
        }
        if (row == 3)
            break;
    }
}

/* A run of discards that begins and ends with a plain one: which of its doubtful lines stay discarded. */
static void settle_run(char *run, size_t length, size_t doubtful)
{
    if (doubtful * 4 > length) {
        for (size_t j = 0; j < length; j++)
            if (run[j] == MAYBE)
                run[j] = KEEP;
        return;
    }
    size_t least = 1;
    for (size_t rest = length >> 2; (rest >>= 2) > 0;)
        least <<= 1;
    least++;
    for (size_t j = 0; j < length;) {
        size_t k = j;
        while (k < length && run[k] == MAYBE)
            k++;
        if (k - j >= least)
            memset(run + j, KEEP, k - j);
        j = k + (k == j);
    }
    keep_near_end(run, length, 1);
    keep_near_end(run + length - 1, length, -1);
}

static void settle_doubts(char *marks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (marks[i] == MAYBE) {
            marks[i] = KEEP;
        } else if (marks[i] == DISCARD) {
            size_t j = i, doubtful = 0;
            for (; j < n && marks[j] != KEEP; j++)
                doubtful += marks[j] == MAYBE;
            for (; j > i && marks[j - 1] == MAYBE; doubtful--)
                marks[--j] = KEEP;
            settle_run(marks + i, j - i, doubtful);
            i = j - 1;
        }
    }
}

/* What is left of a file: its classes and which lines they are. */
static size_t leave_out(Diff *d, int f, const uint32_t *partners, uint32_t **classes, size_t **lines)
{
    FileSide *s = &d->side[f];
    size_t n = s->end - s->begin, left = 0;
    char *marks = mem_alloc0(&d->p->mem, n + 1);
    if (!d->minimal) {
        mark_discards(s, n, partners, marks);
        settle_doubts(marks, n);
    }
    *classes = mem_array(&d->p->mem, n + 1, uint32_t);
    *lines = mem_array(&d->p->mem, n + 1, size_t);
    for (size_t i = 0; i < n; i++)
        if (marks[i] == KEEP) {
            (*classes)[left] = s->classes[i];
            (*lines)[left++] = i;
        } else {
            s->changed[i] = 1;
        }
    proc_tick(d->p, 1 + n / 64);
    return left;
}

static uint32_t *count_classes(Diff *d, int f)
{
    const FileSide *s = &d->side[f];
    size_t n = s->end - s->begin, both = n + d->side[1 - f].end - d->side[1 - f].begin;
    uint32_t *counts = mem_array(&d->p->mem, both + 2, uint32_t);
    for (size_t i = 0; i < n; i++)
        counts[s->classes[i]]++;
    return counts;
}

/* --- runs of changes are moved --- */

/* One run of one file: moved back and forward over equal lines, joining the runs it meets, and left at the last place where the other file
 * has a change too, or as far down as it goes. i: the line behind the run, j: the corresponding place in the other file. */
static size_t shift_run(char *changed, const char *other, const uint32_t *classes, size_t start, size_t i, size_t *other_at, size_t end)
{
    size_t j = *other_at, length, corresponding;
    do {
        length = i - start;
        while (start && classes[start - 1] == classes[i - 1]) {
            changed[--start] = 1;
            changed[--i] = 0;
            while (start && changed[start - 1])
                start--;
            while (other[(ssize_t)--j])
                continue;
        }
        corresponding = other[(ssize_t)j - 1] ? i : end;
        while (i != end && classes[start] == classes[i]) {
            changed[start++] = 0;
            changed[i++] = 1;
            while (changed[i])
                i++;
            while (other[++j])
                corresponding = i;
        }
    } while (length != i - start);
    while (corresponding < i) {
        changed[--start] = 1;
        changed[--i] = 0;
        while (other[(ssize_t)--j])
            continue;
    }
    *other_at = j;
    return i;
}

static void shift_runs(Diff *d, int f)
{
    FileSide *s = &d->side[f];
    char *changed = s->changed;
    const char *other = d->side[1 - f].changed;
    size_t i = 0, j = 0, end = s->end - s->begin;
    for (;;) {
        while (i < end && !changed[i]) {
            while (other[j++])
                continue;
            i++;
        }
        if (i == end)
            return;
        size_t start = i;
        while (changed[++i])
            continue;
        while (other[j])
            j++;
        i = shift_run(changed, other, s->classes, start, i, &j, end);
        proc_tick(d->p, 1);
    }
}

static Change *build(Diff *d, bool reversed)
{
    const FileSide *a = &d->side[0], *b = &d->side[1];
    size_t n0 = a->end - a->begin, n1 = b->end - b->begin, i = 0, j = 0;
    Change *first = NULL, **last = &first;
    while (i < n0 || j < n1) {
        size_t i0 = i, j0 = j;
        while (a->changed[i])
            i++;
        while (b->changed[j])
            j++;
        if (i > i0 || j > j0) {
            Change *c = mem_new(&d->p->mem, Change);
            *c = (Change){NULL, {i0 + a->begin, j0 + b->begin}, {i - i0, j - j0}, false};
            if (reversed) {
                c->next = first;
                first = c;
            } else {
                *last = c;
                last = &c->next;
            }
        }
        i += i < n0;
        j += j < n1;
    }
    return first;
}

Change *diff_changes(Diff *d, bool reversed)
{
    diff_equal_ends(d);
    diff_classify(d);
    uint32_t *counts[2] = {count_classes(d, 0), count_classes(d, 1)}, *classes[2];
    size_t *lines[2], left[2];
    for (int f = 0; f < 2; f++)
        left[f] = leave_out(d, f, counts[1 - f], &classes[f], &lines[f]);
    size_t diagonals = left[0] + left[1] + 3;
    Place *reached = mem_array(&d->p->mem, 2 * diagonals, Place), expensive = 1;
    for (size_t rest = diagonals; rest; rest >>= 2)
        expensive <<= 1;
    Search s = {d, classes[0], classes[1], lines[0], lines[1], d->side[0].changed, d->side[1].changed, reached + left[1] + 1,
                reached + diagonals + left[1] + 1, MAX((Place)EXPENSIVE_LEAST, expensive)};
    search(&s, (Box){0, (Place)left[0], 0, (Place)left[1]}, d->minimal);
    shift_runs(d, 0);
    shift_runs(d, 1);
    return build(d, reversed);
}
