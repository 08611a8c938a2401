/* search: the lines of one file that are selected. The pattern is run over the whole text; around a match its lines are told apart. */
#include "rg.h"

enum { LOOKED_AT = 65536 /* a NUL byte in that much: the file is binary from the start */ };

bool rg_match(Rg *g, Slice s, size_t start, ReSpan *spans, size_t count)
{
    if (!g->re || start > s.len)
        return false;
    ReResult r = re_search(&g->env, g->re, s, start, false, spans, count);
    if (r == RE_ERR_LIMIT)
        die(g->p, 2, "%s: the match limit was exceeded", g->name);
    if (r == RE_ERR_MEMORY)
        die(g->p, 2, "%s: memory exhausted", g->name);
    return r == RE_MATCHED;
}

static char terminator(const Rg *g) { return g->null_data ? 0 : '\n'; }

static size_t line_end(const Rg *g, size_t at)
{
    Slice s = g->whole;
    const char *end = at < s.len ? memchr(s.data + at, terminator(g), s.len - at) : NULL;
    return end ? (size_t)(end - s.data) + 1 : s.len;
}

static size_t line_start(const Rg *g, size_t low, size_t at)
{
    const char *before = at > low ? memrchr(g->whole.data + low, terminator(g), at - low) : NULL;
    return before ? (size_t)(before - g->whole.data) + 1 : low;
}

static Slice content(const Rg *g, size_t from, size_t to)
{
    if (to > from && g->whole.data[to - 1] == terminator(g))
        to--;
    if (g->crlf && to > from && g->whole.data[to - 1] == '\r')
        to--;
    return slice(g->whole.data + from, to - from);
}

/* Under -U: the end of the lines of `m` and of the matches that begin in them. */
static void take_overlapping(Rg *g, ReSpan m, size_t *to)
{
    do {
        if (m.end > *to)
            *to = line_end(g, m.end - 1);
        proc_tick(g->p, 1);
    } while (m.end < *to && rg_match(g, g->whole, m.end > m.start ? m.end : m.end + 1, &m, 1) && m.start < *to);
}

/* The next matching lines at or behind `at`, a line's start: [*from, *to). A match that reaches over a line's end says nothing
 * without -U: the line is looked at alone. */
static bool next_lines(Rg *g, size_t at, size_t *from, size_t *to)
{
    ReSpan m;
    while (at < g->whole.len) {
        bool alone = g->crlf || g->null_data;
        if (alone) {
            m = (ReSpan){at, at + 1};
        } else if (!rg_match(g, g->whole, at, &m, 1) || (m.start >= g->whole.len && g->whole.data[g->whole.len - 1] == '\n')) {
            return false;
        }
        *from = line_start(g, at, m.start);
        *to = line_end(g, m.start);
        if (g->multiline && !alone && !g->invert)
            take_overlapping(g, m, to);
        else if (g->multiline && m.end > *to)
            *to = line_end(g, m.end - 1);
        if (!alone && (g->multiline || m.end <= *to - (g->whole.data[*to - 1] == '\n')))
            return true;
        Slice line = content(g, *from, *to);
        if (!alone && m.end == m.start)
            return true;
        if (rg_match(g, line, 0, &m, 1))
            return true;
        at = *to;
        proc_tick(g->p, 1);
    }
    return false;
}

static void show(Rg *g, size_t from, size_t to, bool selected)
{
    if (g->show == SHOW_JSON)
        rg_json_lines(g, slice(g->whole.data + from, to - from), from, selected);
    else
        rg_print_lines(g, slice(g->whole.data + from, to - from), from, selected);
    g->printed_to = to;
}

static void show_context(Rg *g, size_t from, size_t to)
{
    while (from < to) {
        size_t end = MIN(line_end(g, from), to);
        show(g, from, end, false);
        from = end;
        proc_tick(g->p, 1);
    }
}

static bool shows_lines(const Rg *g) { return g->show == SHOW_LINES || g->show == SHOW_JSON; }

static void context_before(Rg *g, size_t from)
{
    size_t low = g->printed_to, begin = from;
    if (g->passthru) {
        show_context(g, low, from);
        return;
    }
    for (int64_t i = 0; i < g->before && begin > low; i++)
        begin = line_start(g, low, begin - 1);
    if ((g->before || g->after) && g->begun && begin > low)
        rg_print_gap(g);
    show_context(g, begin, from);
}

/* Lines behind the last match, up to `limit`. */
static void context_after(Rg *g, size_t limit)
{
    size_t from = g->printed_to, end = from;
    for (int64_t i = 0; i < g->after && end < limit; i++)
        end = line_end(g, end);
    show_context(g, from, MIN(end, limit));
}

static uint64_t count_matches(Rg *g, size_t from, size_t to)
{
    Slice s = g->multiline ? slice(g->whole.data + from, to - from) : content(g, from, to);
    uint64_t n = 0;
    ReSpan m;
    for (size_t at = 0; at <= s.len && rg_match(g, s, at, &m, 1); at = m.end > m.start ? m.end : m.end + 1)
        n++;
    return n;
}

/* False: nothing more is wanted. */
static bool select_lines(Rg *g, size_t from, size_t to)
{
    if (shows_lines(g)) {
        if (!g->begun && g->show == SHOW_JSON)
            rg_json_begin(g);
        if (g->begun)
            context_after(g, from);
        context_before(g, from);
        show(g, from, to, true);
        g->begun = true;
    }
    g->file_lines += g->multiline && !g->invert ? MAX(slice_count(slice(g->whole.data + from, to - from), '\n'), 1) : 1;
    if (!g->invert && (g->show == SHOW_MATCH_COUNT || g->stats || g->show == SHOW_JSON))
        g->file_matches += count_matches(g, from, to);
    if (g->show == SHOW_NAMES || g->show == SHOW_LACKING || g->show == SHOW_NOTHING)
        return g->stats;
    return g->max_count < 0 || g->file_lines < (uint64_t)g->max_count;
}

static void scan(Rg *g)
{
    size_t at = 0, from, to = 0;
    bool more = g->max_count != 0;
    while (more && at < g->whole.len) {
        bool hit = next_lines(g, at, &from, &to);
        if (!g->invert) {
            if (!hit)
                break;
            more = select_lines(g, from, to);
        } else {
            size_t stop = hit ? from : g->whole.len;
            while (more && at < stop) {
                size_t end = line_end(g, at);
                more = select_lines(g, at, end);
                at = end;
                proc_tick(g->p, 1);
            }
            if (!hit)
                break;
        }
        at = to;
    }
    if (shows_lines(g) && g->passthru)
        show_context(g, g->printed_to, g->whole.len);
    else if (shows_lines(g) && g->begun)
        context_after(g, g->whole.len);
}

static bool load(Rg *g, int fd)
{
    Slice chunk, first = {"", 0};
    Buf all;
    bool several = false;
    ssize_t n;
    buf_init(&all, &g->p->mem, BUF_MAX);
    VStat st;
    uint64_t size = proc_fstat(g->p, fd, &st) == 0 && S_ISREG(st.mode) ? st.size : UINT64_MAX;
    while ((n = proc_read_chunk(g->p, fd, SIZE_MAX / 2, &chunk, NULL)) > 0) {
        if (!several && (uint64_t)n == size) { /* the file's own bytes, read in one */
            g->whole = chunk;
            return true;
        }
        several = true;
        buf_append(&all, chunk);
    }
    if (n < 0) {
        rg_complain(g, g->name, (int)n);
        return false;
    }
    g->whole = all.data ? buf_slice(&all) : first;
    return true;
}

static void strip_mark(Rg *g)
{
    if (slice_starts(g->whole, SLICE("\xef\xbb\xbf")))
        g->whole = slice_from(g->whole, 3);
}

static void say_binary(Rg *g, size_t at)
{
    if (g->with_name) {
        rg_print_name(g, 0);
        out_str(g->p->out, ": ");
    }
    out_printf(g->p->out, "binary file matches (found \"\\0\" byte around offset %zu)\n", at);
}

static void say_stopped(Rg *g, size_t at)
{
    if (g->with_name) {
        rg_print_name(g, 0);
        out_str(g->p->out, ": ");
    }
    out_printf(g->p->out, "WARNING: stopped searching binary file after match (found \"\\0\" byte around offset %zu)\n", at);
}

/* What the file is searched as: its binary rules applied. nul: where the first NUL is, or SIZE_MAX. */
static void scan_binary(Rg *g, size_t nul, bool explicit)
{
    g->passed_over = nul != SIZE_MAX && !explicit && !g->binary;
    if (nul == SIZE_MAX) {
        scan(g);
    } else if (!explicit && !g->binary) {
        g->whole.len = nul < LOOKED_AT ? 0 : line_start(g, 0, nul);
        scan(g);
        if (g->file_lines && g->show == SHOW_LINES)
            say_stopped(g, nul);
    } else if (g->show == SHOW_LINES) {
        g->show = SHOW_NOTHING;
        scan(g);
        g->show = SHOW_LINES;
        if (g->file_lines)
            say_binary(g, nul);
    } else {
        scan(g);
    }
}

static void print_count(Rg *g)
{
    uint64_t n = g->show == SHOW_COUNT || g->invert ? g->file_lines : g->file_matches;
    if (!n && (!g->include_zero || g->passed_over))
        return;
    if (g->with_name)
        rg_print_name(g, g->null_name ? 0 : ':');
    if (g->with_name)
        out_char(g->p->out, g->null_name ? 0 : ':');
    out_int(g->p->out, (int64_t)n);
    out_char(g->p->out, g->null_data ? 0 : '\n');
}

static void print_path(Rg *g)
{
    rg_print_name(g, 0);
    out_char(g->p->out, g->null_name ? 0 : '\n');
}

static void finish(Rg *g, size_t nul, int64_t started)
{
    if (g->show == SHOW_COUNT || g->show == SHOW_MATCH_COUNT)
        print_count(g);
    else if (g->show == SHOW_NAMES ? g->file_lines > 0 : g->show == SHOW_LACKING && g->file_lines == 0 && !g->passed_over)
        print_path(g);
    g->matched |= g->file_lines > 0;
    g->total.searches++;
    g->total.files += g->file_lines > 0;
    g->total.lines += g->file_lines;
    g->total.matches += g->file_matches;
    g->total.bytes += g->whole.len;
    if (g->show == SHOW_JSON && g->begun)
        rg_json_end(g, nul == SIZE_MAX ? -1 : (int64_t)nul, proc_monotonic(g->p) - started);
}

void rg_search(Rg *g, const char *name, int fd, bool explicit)
{
    int64_t started = g->show == SHOW_JSON ? proc_monotonic(g->p) : 0;
    g->name = name;
    g->counted = g->line = g->printed_to = g->file_lines = g->file_matches = 0;
    g->begun = g->name_written = false;
    if (!load(g, fd))
        return;
    strip_mark(g);
    g->env.text = slice_ascii(g->whole) ? TEXT_ASCII : TEXT_MIXED;
    const char *nul = g->text || g->null_data ? NULL : memchr(g->whole.data, 0, g->whole.len);
    size_t nul_at = nul ? (size_t)(nul - g->whole.data) : SIZE_MAX;
    scan_binary(g, nul_at, explicit);
    finish(g, nul_at, started);
}
