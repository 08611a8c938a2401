/* print: lines as rg's standard printer writes them. */
#include "rg.h"

#include <string.h>

static const char sgr_end[] = "\33[0m";

static void put(Rg *g, Slice s)
{
    g->total.printed += s.len;
    out_write(g->p->out, s);
}

static void put_str(Rg *g, const char *s) { put(g, slice_str(s)); }

static void colored(Rg *g, ColorOutput what, Slice s)
{
    bool color = g->color && !(what == COLOR_MATCH && g->match_plain);
    if (color)
        out_str(g->p->out, g->sgr[what]);
    put(g, s);
    if (color)
        out_str(g->p->out, sgr_end);
}

void rg_complain(Rg *g, const char *name, int error)
{
    g->failed = true;
    if (g->no_messages)
        return;
    int e = error < 0 ? -error : error;
    output_flush(g->p->out);
    out_printf(g->p->err, "%s: %s (os error %d)\n", name, error_text(e), e);
    output_flush(g->p->err);
}

void rg_print_name(Rg *g, char end)
{
    (void)end;
    const char *name = g->name;
    if (!g->path_separator) {
        colored(g, COLOR_PATH, slice_str(name));
        return;
    }
    char *copy = mem_strdup(&g->p->mem, name);
    for (char *c = copy; *c; c++)
        if (*c == '/')
            *c = g->path_separator[0];
    colored(g, COLOR_PATH, slice_str(copy));
}

uint64_t rg_line_number(Rg *g, uint64_t at)
{
    if (at > g->counted) {
        g->line += slice_count(slice(g->whole.data + g->counted, (size_t)(at - g->counted)), g->null_data ? 0 : '\n');
        g->counted = at;
    }
    return g->line + 1;
}

void rg_print_gap(Rg *g)
{
    if (g->show != SHOW_LINES || !g->context_separator)
        return;
    put_str(g, g->context_separator);
    put_str(g, "\n");
}

/* The first line of a file: a heading, or what stands between the contexts of two files. */
static void begin_file(Rg *g)
{
    if (g->name_written)
        return;
    g->name_written = true;
    if (g->heading && g->with_name) {
        if (g->printed_any)
            put_str(g, "\n");
        rg_print_name(g, 0);
        put_str(g, g->null_name ? "" : "\n");
        if (g->null_name)
            out_char(g->p->out, 0);
    } else if ((g->before || g->after) && g->printed_any) {
        rg_print_gap(g);
    }
    g->printed_any = true;
}

static void print_head(Rg *g, uint64_t at, uint64_t line, size_t column, bool selected)
{
    const char *separator = selected ? g->match_separator : g->around_separator;
    if (g->with_name && !g->heading) {
        rg_print_name(g, 0);
        if (g->null_name)
            out_char(g->p->out, 0);
        else
            put_str(g, separator);
    }
    if (g->numbers) {
        char text[24];
        size_t len;
        char *digits = format_int((int64_t)line, text, &len);
        colored(g, COLOR_LINE, slice(digits, len));
        put_str(g, separator);
    }
    if (g->columns && selected) {
        colored(g, COLOR_COLUMN, slice_str(mem_printf(&g->p->mem, "%zu", column)));
        put_str(g, separator);
    }
    if (g->byte_offsets) {
        put_str(g, mem_printf(&g->p->mem, "%llu", (unsigned long long)at));
        put_str(g, separator);
    }
}

/* The group of a reference: a number or a name. SIZE_MAX: there is none. */
static size_t group_of(const Rg *g, Slice reference)
{
    size_t n = 0;
    bool number = true;
    for (size_t i = 0; i < reference.len; i++) {
        number &= reference.data[i] >= '0' && reference.data[i] <= '9';
        n = MIN(n * 10 + (size_t)(reference.data[i] - '0'), 1000);
    }
    if (number)
        return n;
    for (const RgName *name = g->names; name; name = name->next)
        if (slice_eq(name->name, reference))
            return name->group;
    return g->pcre && (n = re_group_named(g->re, reference)) != 0 ? n : SIZE_MAX;
}

static bool name_char(char c) { return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'); }

/* $1, ${name}, $$ of a replacement. */
static void expand(Rg *g, Buf *out, Slice subject, const ReSpan *spans)
{
    for (const char *c = g->replacement; *c;) {
        if (*c != '$') {
            buf_char(out, *c++);
            continue;
        }
        bool braces = c[1] == '{';
        const char *from = c + 1 + braces, *end = from;
        if (c[1] == '$') {
            buf_char(out, '$');
            c += 2;
            continue;
        }
        while (name_char(*end))
            end++;
        if (end == from || (braces && *end != '}')) {
            buf_char(out, *c++);
            continue;
        }
        size_t n = group_of(g, slice(from, (size_t)(end - from)));
        if (n < RG_SPANS && spans[n].start != RE_UNSET)
            buf_append(out, slice(subject.data + spans[n].start, spans[n].end - spans[n].start));
        c = end + braces;
    }
}

typedef struct { size_t from, to; Slice text; } Piece; /* a match: where it is, and what is shown for it */

/* The next match in the line at or after `at`; false at the end. */
static bool next_piece(Rg *g, Slice line, size_t at, Piece *out)
{
    ReSpan spans[RG_SPANS];
    if (at > line.len)
        return false;
    for (unsigned i = 0; i < RG_SPANS; i++)
        spans[i] = (ReSpan){RE_UNSET, RE_UNSET};
    if (!rg_match(g, line, at, spans, g->replacement ? MIN(re_groups(g->re) + 1, (size_t)RG_SPANS) : 1))
        return false;
    *out = (Piece){spans[0].start, spans[0].end, slice(line.data + spans[0].start, spans[0].end - spans[0].start)};
    if (g->replacement) {
        Buf text;
        buf_init(&text, &g->p->mem, BUF_MAX);
        buf_append(&text, SLICE(""));
        expand(g, &text, line, spans);
        out->text = text.data ? buf_slice(&text) : SLICE("");
    }
    return true;
}

static Slice without_end(const Rg *g, Slice line)
{
    if (line.len && line.data[line.len - 1] == (g->null_data ? 0 : '\n'))
        line.len--;
    if (g->crlf && line.len && line.data[line.len - 1] == '\r')
        line.len--;
    return line;
}

static void put_end(Rg *g) { put(g, g->line_end); }

/* What a printed line ends with: as the line in the file does, and where it has no end, as --crlf and --null-data say. */
static Slice end_of(const Rg *g, Slice full)
{
    if (g->null_data)
        return slice("", 1);
    bool ended = full.len && full.data[full.len - 1] == '\n';
    bool cr = ended ? full.len > 1 && full.data[full.len - 2] == '\r' : true;
    return g->crlf && (cr || g->only_matching) ? SLICE("\r\n") : SLICE("\n");
}

static Slice trimmed(const Rg *g, Slice line)
{
    while (g->trim && line.len && (line.data[0] == ' ' || (line.data[0] >= '\t' && line.data[0] <= '\r' && line.data[0] != '\n')))
        line = slice_from(line, 1);
    return line;
}

/* True when the line is too long and something else stood for it. */
static bool too_long(Rg *g, Slice line, bool selected, uint64_t matches)
{
    if (g->max_columns <= 0 || line.len <= (uint64_t)g->max_columns)
        return false;
    if (g->preview) {
        size_t n = utf8_offset(line, (size_t)g->max_columns);
        put(g, slice(line.data, n));
        if (selected && matches)
            put_str(g, mem_printf(&g->p->mem, " [... %llu more match%s]", (unsigned long long)matches, matches == 1 ? "" : "es"));
        else
            put_str(g, " [... omitted end of long line]");
    } else if (!selected) {
        put_str(g, "[Omitted long context line]");
    } else if (g->only_matching) {
        put_str(g, "[Omitted long matching line]");
    } else if (g->color || g->replacement || g->columns) {
        put_str(g, mem_printf(&g->p->mem, "[Omitted long line with %llu matches]", (unsigned long long)matches));
    } else {
        put_str(g, "[Omitted long matching line]");
    }
    put_end(g);
    return true;
}

static bool wants_pieces(const Rg *g) { return !g->invert && (g->color || g->replacement || g->columns || g->only_matching || g->vimgrep); }

static void print_only(Rg *g, Slice line, uint64_t at, uint64_t number)
{
    Piece m;
    for (size_t from = 0; next_piece(g, line, from, &m); from = m.to > m.from ? m.to : m.to + 1) {
        print_head(g, at + m.from, number, m.from + 1, true);
        if (!too_long(g, m.text, true, 1)) {
            colored(g, COLOR_MATCH, m.text);
            put_end(g);
        }
    }
}

/* The line with its matches coloured or replaced. */
static void print_whole(Rg *g, Slice line, bool selected)
{
    Buf text;
    Piece m;
    uint64_t matches = 0;
    size_t plain = 0;
    line = trimmed(g, line);
    if (!selected || !wants_pieces(g)) {
        if (!too_long(g, line, selected, 0)) {
            put(g, line);
            put_end(g);
        }
        return;
    }
    buf_init(&text, &g->p->mem, BUF_MAX);
    buf_append(&text, SLICE(""));
    size_t shown = 0;
    for (size_t from = 0; next_piece(g, line, from, &m); from = m.to > m.from ? m.to : m.to + 1) {
        Slice before = slice(line.data + plain, m.from - plain);
        buf_append(&text, before);
        bool color = g->color && m.text.len && !g->match_plain;
        if (color)
            buf_append(&text, slice_str(g->sgr[COLOR_MATCH]));
        buf_append(&text, m.text);
        if (color)
            buf_append(&text, slice_str(sgr_end));
        shown += before.len + m.text.len;
        plain = m.to;
        matches++;
    }
    buf_append(&text, slice_from(line, plain));
    shown += line.len - plain;
    Slice uncolored = g->color ? slice(line.data, g->replacement ? MIN(shown, line.len) : line.len) : buf_slice(&text);
    if (too_long(g, uncolored, true, matches))
        return;
    put(g, text.data ? buf_slice(&text) : SLICE(""));
    put_end(g);
}

/* One line of several that a match of -U goes over. */
static void print_one(Rg *g, Slice full, uint64_t at, bool selected)
{
    MemMark mark = mem_mark(&g->p->mem);
    Slice line = without_end(g, full);
    g->line_end = end_of(g, full);
    uint64_t number = g->numbers || g->vimgrep ? rg_line_number(g, at) : 0;
    Piece m = {0, 0, {"", 0}};
    if (selected && g->only_matching && !g->invert) {
        print_only(g, line, at, number);
    } else if (selected && g->vimgrep && !g->invert) {
        for (size_t from = 0; next_piece(g, line, from, &m); from = m.to > m.from ? m.to : m.to + 1) {
            print_head(g, at, number, m.from + 1, true);
            print_whole(g, line, true);
        }
    } else {
        if (selected && g->columns && !g->invert)
            next_piece(g, line, 0, &m);
        print_head(g, at, number, m.from + 1, selected);
        print_whole(g, line, selected);
    }
    mem_reset(&g->p->mem, mark);
}

/* -U: every line of it; what matches in it is found in all of them together. */
static void print_many(Rg *g, Slice lines, uint64_t at)
{
    MemMark mark = mem_mark(&g->p->mem);
    Piece m = {0, 0, {"", 0}};
    g->line_end = SLICE("\n");
    if (g->only_matching) {
        for (size_t from = 0; next_piece(g, lines, from, &m); from = m.to > m.from ? m.to : m.to + 1)
            for (Slice rest = m.text; rest.len;) {
                size_t n = MIN(slice_find(rest, '\n'), rest.len);
                uint64_t where = at + (uint64_t)(g->replacement ? m.from : (size_t)(rest.data - lines.data));
                if (n) {
                    print_head(g, where, g->numbers ? rg_line_number(g, where) : 0, m.from + 1, true);
                    colored(g, COLOR_MATCH, slice(rest.data, n));
                    put_end(g);
                }
                rest = slice_from(rest, MIN(n + 1, rest.len));
            }
    } else {
        next_piece(g, lines, 0, &m);
        for (size_t from = 0; from < lines.len;) {
            size_t n = slice_find(slice_from(lines, from), '\n');
            print_head(g, at + from, g->numbers ? rg_line_number(g, at + from) : 0, from ? 1 : m.from + 1, true);
            put(g, trimmed(g, slice(lines.data + from, n)));
            put_end(g);
            from += n + 1;
        }
    }
    mem_reset(&g->p->mem, mark);
}

void rg_print_lines(Rg *g, Slice lines, uint64_t at, bool selected)
{
    begin_file(g);
    if (selected && g->multiline && lines.len && memchr(lines.data, '\n', lines.len - 1) && !g->invert)
        print_many(g, lines, at);
    else
        print_one(g, lines, at, selected);
}

void rg_print_stats(Rg *g)
{
    double seconds = (double)(proc_monotonic(g->p) - g->started) / 1e9;
    out_printf(g->p->out, "\n%llu matches\n%llu matched lines\n%llu files contained matches\n%llu files searched\n%llu bytes printed\n%llu bytes searched\n%.6f seconds spent searching\n%.6f seconds\n",
               (unsigned long long)g->total.matches, (unsigned long long)g->total.lines, (unsigned long long)g->total.files, (unsigned long long)g->total.searches,
               (unsigned long long)g->total.printed, (unsigned long long)g->total.bytes, seconds, seconds);
}
