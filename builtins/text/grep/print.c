/* grep's output: heads, coloured lines, -o. */
#include "grep.h"

static void sgr_start(Grep *g, const char *sgr)
{
    if (g->color && *sgr)
        out_printf(g->p->out, "\33[%sm%s", sgr, g->colors.erase);
}

static void sgr_end(Grep *g, const char *sgr)
{
    if (g->color && *sgr)
        out_printf(g->p->out, "\33[m%s", g->colors.erase);
}

void print_name(Grep *g)
{
    sgr_start(g, g->colors.file);
    out_str(g->p->out, g->name);
    sgr_end(g, g->colors.file);
}

void print_separator(Grep *g, char c)
{
    sgr_start(g, g->colors.separator);
    out_char(g->p->out, c);
    sgr_end(g, g->colors.separator);
}

void print_group_separator(Grep *g)
{
    sgr_start(g, g->colors.separator);
    out_str(g->p->out, g->group_separator);
    sgr_end(g, g->colors.separator);
    out_char(g->p->out, '\n');
}

static void print_number(Grep *g, uint64_t n, const char *sgr)
{
    sgr_start(g, sgr);
    if (g->tab)
        out_printf(g->p->out, "%*llu", g->number_width, (unsigned long long)n);
    else
        out_int(g->p->out, (int64_t)n);
    sgr_end(g, sgr);
}

/* The number of the line that begins at `at`: lines are counted only as far as somebody asks. */
static uint64_t line_number(Grep *g, const char *at)
{
    if (at > g->counted_to) {
        g->line += slice_count(slice(g->counted_to, (size_t)(at - g->counted_to)), g->eol);
        g->counted_to = at;
    }
    return g->line + 1;
}

/* As the C library decodes UTF-8: up to six bytes a character, no longer form than is needed, no surrogates. */
static bool decodable(Slice s)
{
    for (size_t i = 0; i < s.len;) {
        unsigned c = (unsigned char)s.data[i++];
        if (c < 0x80)
            continue;
        unsigned more = c < 0xc2 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf8 ? 3 : c < 0xfc ? 4 : c < 0xfe ? 5 : 0;
        if (!more || more > s.len - i)
            return false;
        uint32_t value = c & (0x3fu >> more);
        for (unsigned k = 0; k < more; k++, i++) {
            unsigned next = (unsigned char)s.data[i];
            if ((next & 0xc0) != 0x80)
                return false;
            value = value << 6 | (next & 0x3f);
        }
        if ((more > 1 && value >> (5 * more + 1) == 0) || (value >= 0xd800 && value <= 0xdfff))
            return false;
    }
    return true;
}

/* False when the line shows that the file is binary after all. */
static bool print_head(Grep *g, Slice text, const char *line_start, char kind)
{
    if (g->binary != BINARY_TEXT && g->utf8 && !slice_ascii(text) && !utf8_valid(text) && !decodable(text)) {
        g->encoding_error = true;
        return false;
    }
    if (g->with_name) {
        print_name(g);
        if (g->null_name)
            out_char(g->p->out, 0);
        else
            print_separator(g, kind);
    }
    if (g->numbers) {
        print_number(g, line_number(g, line_start), g->colors.line);
        print_separator(g, kind);
    }
    if (g->bytes) {
        print_number(g, g->offset + (uint64_t)(text.data - g->buffer.data), g->colors.byte);
        print_separator(g, kind);
    }
    if (g->tab && (g->with_name || g->numbers || g->bytes) && text.len > 0)
        out_char(g->p->out, '\t');
    return true;
}

/* The matches of a line, each coloured (or alone under -o). Returns where plain output goes on, or SIZE_MAX. */
static size_t print_matches(Grep *g, Slice line, const char *line_color, const char *match_color, char kind)
{
    size_t at = 0, plain = 0, end = line.len + g->end_in_match;
    ReSpan m;
    while (at < end && grep_search(g, line, at, &m) == RE_MATCHED && m.start < end) {
        m.end += g->end_in_match;
        if (m.end == m.start) {
            at = m.start + 1;
            continue;
        }
        if (g->only_matching) {
            if (!print_head(g, slice(line.data + m.start, m.end - m.start), line.data, kind))
                return SIZE_MAX;
        } else {
            sgr_start(g, line_color);
            out_write(g->p->out, slice(line.data + plain, m.start - plain));
        }
        sgr_start(g, match_color);
        out_write(g->p->out, slice(line.data + m.start, m.end - m.start));
        sgr_end(g, match_color);
        if (g->only_matching)
            out_char(g->p->out, g->eol);
        at = plain = m.end;
    }
    return g->only_matching ? end : plain;
}

bool print_match(Grep *g, Slice match)
{
    if (!print_head(g, match, match.data, ':'))
        return false;
    out_write(g->p->out, match);
    out_char(g->p->out, g->eol);
    if (g->line_buffered)
        output_flush(g->p->out);
    return true;
}

static void print_tail(Grep *g, Slice rest, const char *line_color)
{
    sgr_start(g, line_color);
    out_write(g->p->out, rest);
    sgr_end(g, line_color);
}

bool print_line(Grep *g, Slice line, char kind)
{
    bool selected = kind == ':', matching = selected != g->invert;
    Slice text = slice(line.data, line.len - 1);
    if (!g->only_matching && !print_head(g, text, line.data, kind))
        return false;
    const Colors *c = &g->colors;
    const char *line_color = g->color ? (selected != (g->invert && c->reverse) ? c->selected_line : c->context_line) : "";
    const char *match_color = selected ? c->selected_match : c->context_match;
    size_t at = 0;
    if ((g->only_matching && matching) || (g->color && (*line_color || *match_color))) {
        if (matching && (g->only_matching || *match_color)) {
            at = print_matches(g, text, line_color, match_color, kind);
            if (at == SIZE_MAX)
                return false;
        }
        if (!g->only_matching && *line_color && at < text.len) {
            print_tail(g, slice_from(text, at), line_color);
            at = text.len;
        }
    }
    if (!g->only_matching)
        out_write(g->p->out, slice_from(line, at));
    if (g->line_buffered)
        output_flush(g->p->out);
    return true;
}

static bool valid_sgr(Slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] != ';' && (unsigned)(s.data[i] - '0') > 9)
            return false;
    return true;
}

static void color_set(Grep *g, Slice name, const char *value)
{
    Colors *c = &g->colors;
    const struct { const char *name; const char **at; } known[] = {
        {"mt", NULL}, {"ms", &c->selected_match}, {"mc", &c->context_match}, {"fn", &c->file}, {"ln", &c->line},
        {"bn", &c->byte}, {"se", &c->separator}, {"sl", &c->selected_line}, {"cx", &c->context_line},
    };
    if (!value) {
        c->reverse |= slice_is(name, "rv");
        if (slice_is(name, "ne"))
            c->erase = "";
        return;
    }
    for (unsigned i = 0; i < ARRAY_LEN(known); i++)
        if (slice_is(name, known[i].name)) {
            if (known[i].at)
                *known[i].at = value;
            else
                c->selected_match = c->context_match = value;
        }
}

/* name=sgr pairs with colons between; the first that does not parse ends it. */
void colors_parse(Grep *g, const char *text)
{
    for (Slice s = slice_str(text); s.len;) {
        size_t end = slice_find(s, ':');
        Slice item = slice(s.data, end);
        size_t equals = slice_find(item, '=');
        if (equals < item.len) {
            Slice value = slice_from(item, equals + 1);
            if (!valid_sgr(value))
                return;
            color_set(g, slice(item.data, equals), mem_copy(&g->p->keep, value));
        } else {
            color_set(g, item, NULL);
        }
        s = slice_from(s, MIN(end + 1, s.len));
    }
}
