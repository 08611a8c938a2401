/* grep's search: the pattern is run over whole buffers of lines, and only around its matches are lines told apart. */
#include "grep.h"

enum { BLOCK = 96 * 1024 /* what GNU grep looks at for NUL bytes at a time */ };

ReResult grep_search(Grep *g, Slice subject, size_t start, ReSpan *span)
{
    if (!g->re)
        return RE_NOMATCH;
    ReResult r = re_search(&g->env, g->re, subject, start, false, span, span && (g->only_matching || g->color) ? 1 : 0);
    if (r == RE_ERR_LIMIT)
        die(g->p, 2, "%s: exceeded PCRE's backtracking limit", g->name);
    if (r == RE_ERR_MEMORY)
        die(g->p, 2, "memory exhausted");
    return r;
}

/* Where a match begins at or after `start`, or SIZE_MAX; only its start is wanted. */
static size_t match_start(Grep *g, Slice s, size_t start)
{
    ReSpan span;
    if (!g->re)
        return SIZE_MAX;
    ReResult r = re_search(&g->env, g->re, s, start, false, &span, 1);
    if (r == RE_ERR_LIMIT)
        die(g->p, 2, "%s: exceeded PCRE's backtracking limit", g->name);
    if (r == RE_ERR_MEMORY)
        die(g->p, 2, "memory exhausted");
    return r == RE_MATCHED ? span.start : SIZE_MAX;
}

static size_t line_end(const Grep *g, Slice s, size_t at)
{
    const char *end = memchr(s.data + at, g->eol, s.len - at);
    return end ? (size_t)(end - s.data) + 1 : s.len;
}

static size_t line_start(const Grep *g, Slice s, size_t low, size_t at)
{
    const char *before = at > low ? memrchr(s.data + low, g->eol, at - low) : NULL;
    return before ? (size_t)(before - s.data) + 1 : low;
}

/* The next matching line at or after `at` (a line's start): its end in *end, or SIZE_MAX. */
static size_t next_line(Grep *g, Slice s, size_t at, size_t *end)
{
    if (!g->line_by_line) {
        size_t m = match_start(g, s, at);
        if (m == SIZE_MAX || m >= s.len) /* what matches behind the last newline is no line */
            return SIZE_MAX;
        *end = line_end(g, s, m);
        return g->only_count && !g->invert ? m : line_start(g, s, at, m);
    }
    for (; at < s.len; at = *end) {
        *end = line_end(g, s, at);
        proc_tick(g->p, 1);
        if (match_start(g, slice(s.data + at, *end - 1 - at), 0) != SIZE_MAX)
            return at;
    }
    return SIZE_MAX;
}

/* Lines printed after a match, up to `end`. */
static void print_pending(Grep *g, Slice s, size_t end)
{
    if (!g->printed_to)
        g->printed_to = s.data;
    size_t at = (size_t)(g->printed_to - s.data);
    for (; g->pending > 0 && at < end; g->pending--) {
        size_t next = line_end(g, s, at);
        if (!print_line(g, slice(s.data + at, next - at), '-')) {
            g->pending = 0; /* no line of a text: GNU looks for the next one from here, again and again */
            return;
        }
        at = next;
        g->printed_to = s.data + at;
    }
}

/* The context before `start`: from this buffer, and what earlier ones left. */
static void print_before(Grep *g, Slice s, size_t start)
{
    size_t low = g->printed_to ? (size_t)(g->printed_to - s.data) : 0, at = start;
    for (int64_t i = 0; i < g->before && at > low; i++)
        at = line_start(g, s, low, at - 1);
    bool joined = g->printed_to == s.data + at && g->printed_to;
    if ((g->before >= 0 || g->after >= 0) && g->used && !joined && g->group_separator)
        print_group_separator(g);
    while (at < start) {
        size_t next = line_end(g, s, at);
        if (print_line(g, slice(s.data + at, next - at), '-'))
            g->printed_to = s.data + next;
        at = next;
    }
}

/* Selects the lines of [start, end); how far that went. */
static size_t select_lines(Grep *g, Slice s, size_t start, size_t end)
{
    if (!g->silent && g->pending > 0)
        print_pending(g, s, start);
    if (!g->silent)
        print_before(g, s, start);
    size_t at = start;
    while (at < end && g->left != 0) {
        size_t next = line_end(g, s, at);
        if (g->silent || print_line(g, slice(s.data + at, next - at), ':'))
            g->printed_to = s.data + next;
        at = next;
        g->selected++;
        if (g->left > 0)
            g->left--;
        if (g->first_only)
            break;
    }
    g->stopped_at = g->offset + at;
    g->pending = g->silent ? 0 : MAX(g->after, 0);
    g->used = true;
    return at;
}

static uint64_t count_lines(const Grep *g, Slice s, size_t from, size_t to)
{
    return slice_count(slice(s.data + from, to - from), g->eol);
}

static bool enough(const Grep *g) { return g->left == 0 || (g->first_only && g->selected); }

/* -o without anything that asks for lines: each match of the buffer is printed as it is found. */
static bool matches_only(const Grep *g)
{
    return g->only_matching && !g->invert && !g->line_by_line && !g->silent && !g->color && !g->end_in_match && g->left < 0 && g->before < 0 && g->after < 0;
}

static void scan_matches(Grep *g, Slice s)
{
    ReSpan m;
    bool bare = !g->with_name && !g->numbers && !g->bytes && !g->line_buffered && (g->binary == BINARY_TEXT || g->env.text != TEXT_MIXED);
    for (size_t at = 0; at < s.len && grep_search(g, s, at, &m) == RE_MATCHED && m.start < s.len; at = m.end) {
        g->selected++;
        if (m.end == m.start) {
            m.end++;
        } else if (bare) {
            out_write(g->p->out, slice(s.data + m.start, m.end - m.start));
            out_char(g->p->out, g->eol);
        } else if (!print_match(g, slice(s.data + m.start, m.end - m.start)))
            m.end = line_end(g, s, m.start);
    }
}

static void scan_lines(Grep *g, Slice s)
{
    size_t at = 0, end = 0;
    bool only_count = g->only_count = g->silent && !g->first_only && g->left < 0;
    while (at < s.len && !enough(g)) {
        size_t start = next_line(g, s, at, &end);
        if (g->invert) {
            size_t stop = start == SIZE_MAX ? s.len : start;
            if (at < stop && only_count)
                g->selected += count_lines(g, s, at, stop);
            else if (at < stop)
                select_lines(g, s, at, stop);
        } else if (start != SIZE_MAX) {
            if (only_count)
                g->selected++; /* nobody asks where the line begins */
            else
                select_lines(g, s, start, end);
        }
        if (start == SIZE_MAX)
            break;
        at = end;
    }
}

/* Keeps the last lines of the buffer for the context of what comes in the next one. */
static void keep_before(Grep *g, Slice s)
{
    size_t low = g->printed_to ? (size_t)(g->printed_to - s.data) : 0, at = s.len;
    for (int64_t i = 0; i < g->before && at > low; i++)
        at = line_start(g, s, low, at - 1);
    Slice kept = slice_from(s, at);
    buf_clear(&g->before_lines);
    buf_append(&g->before_lines, kept);
}

bool scan_buffer(Grep *g, Slice s)
{
    g->buffer = s;
    g->counted_to = s.data;
    g->env.text = !g->utf8 ? TEXT_UNKNOWN : slice_ascii(s) ? TEXT_ASCII : TEXT_MIXED; /* bytes have one form of the expression only */
    if (matches_only(g))
        scan_matches(g, s);
    else if (!enough(g))
        scan_lines(g, s);
    if (g->pending > 0 && !g->silent)
        print_pending(g, s, s.len);
    if (g->numbers)
        g->line += count_lines(g, s, (size_t)(g->counted_to - s.data), s.len);
    return !(enough(g) && g->pending <= 0);
}

/* ---- files ---- */

static Slice without_nuls(Grep *g, Slice s)
{
    char *copy = mem_alloc(&g->p->mem, s.len);
    for (size_t i = 0; i < s.len; i++)
        copy[i] = s.data[i] ? s.data[i] : g->eol;
    return slice(copy, s.len);
}

static void now_binary(Grep *g)
{
    g->binary_file = true;
    if (!g->count)
        g->first_only = g->silent = true;
}

/* Whole lines, with what -B kept in front of them; watches for NUL bytes in blocks as GNU grep's buffers are. */
static bool feed(Grep *g, Slice s)
{
    MemMark mark = mem_mark(&g->p->mem);
    bool more = true;
    while (s.len && more) {
        Slice part = s;
        if (!g->binary_file && g->eol && g->binary != BINARY_TEXT) {
            const char *nul = memchr(s.data, 0, s.len);
            size_t clean = nul ? (size_t)(nul - s.data) / BLOCK * BLOCK : s.len;
            if (nul && clean)
                clean = line_start(g, s, 0, clean);
            if (nul && !clean) {
                if (g->binary == BINARY_SKIP)
                    return false;
                now_binary(g);
            } else {
                part.len = clean;
            }
        }
        s = slice_from(s, part.len);
        if (g->binary_file)
            part = without_nuls(g, part);
        uint64_t begin = g->offset;
        size_t kept = g->before_lines.len;
        if (g->before > 0 && kept && !g->silent) {
            char *joined = mem_alloc(&g->p->mem, kept + part.len);
            memcpy(joined, g->before_lines.data, kept);
            memcpy(joined + kept, part.data, part.len);
            /* Kept lines did not match and were counted. */
            g->buffer = slice(joined, kept + part.len);
            g->offset = begin - kept;
            for (size_t i = 0; i < kept; i++)
                g->line -= joined[i] == g->eol && g->numbers;
            part = g->buffer;
        }
        g->printed_to = g->contiguous ? part.data : NULL;
        more = scan_buffer(g, part);
        if (g->before > 0 && !g->silent)
            keep_before(g, part);
        g->contiguous = g->printed_to == part.data + (part.len - g->before_lines.len);
        g->offset += part.len;
        mem_reset(&g->p->mem, mark);
    }
    return more;
}

static void file_begin(Grep *g)
{
    g->line = g->offset = g->selected = g->stopped_at = 0;
    g->printed_to = NULL;
    g->contiguous = false;
    g->left = g->max_count;
    g->pending = 0;
    g->binary_file = g->encoding_error = false;
    g->silent = g->quiet || g->count || g->list != LIST_NONE;
    g->first_only = g->quiet || g->list != LIST_NONE;
    buf_clear(&g->before_lines);
}

/* Chunks cut at their last line end; what is left is carried to the next, and given a line end at the end of the file. */
static void read_lines(Grep *g, int fd, uint64_t *taken)
{
    Buf *carry = &g->carry;
    buf_clear(carry);
    for (bool more = true; more;) {
        Slice chunk;
        ssize_t n = proc_read_chunk(g->p, fd, SIZE_MAX / 2, &chunk, NULL);
        if (n < 0) {
            if (!g->no_messages)
                warn_errno(g->p, (int)n, "%s", g->name);
            g->trouble = true;
            return;
        }
        if (n == 0)
            break;
        *taken += chunk.len;
        const char *last = memrchr(chunk.data, g->eol, chunk.len);
        if (!last) {
            buf_append(carry, chunk);
            continue;
        }
        if (carry->len) {
            size_t first = slice_find(chunk, g->eol) + 1;
            buf_append(carry, slice(chunk.data, first));
            more = feed(g, buf_slice(carry));
            buf_clear(carry);
            chunk = slice_from(chunk, first);
        }
        size_t whole = chunk.len ? (size_t)(last + 1 - chunk.data) : 0;
        if (more && whole)
            more = feed(g, slice(chunk.data, whole));
        buf_append(carry, slice_from(chunk, whole));
        if (!more)
            return;
    }
    if (carry->len) {
        bool ended = g->eol && g->binary != BINARY_TEXT && carry->data[carry->len - 1] == 0; /* NUL bytes end the lines of a binary file */
        if (!ended)
            buf_char(carry, g->eol);
        feed(g, buf_slice(carry));
    }
}

uint64_t grep_fd(Grep *g, int fd, bool is_stdin)
{
    uint64_t taken = 0;
    file_begin(g);
    if (g->max_count != 0)
        read_lines(g, fd, &taken);
    if (g->binary == BINARY_SKIP && g->binary_file)
        g->selected = 0;
    bool quiet = g->quiet || g->count || g->list != LIST_NONE;
    if (!quiet && g->binary != BINARY_SKIP && (g->encoding_error || (g->binary_file && g->selected)))
        warn(g->p, "%s: binary file matches", g->name);
    if (is_stdin && g->max_count >= 0 && g->left == 0 && taken > g->stopped_at)
        proc_unread(g->p, fd, (size_t)(taken - g->stopped_at));
    return g->selected;
}
