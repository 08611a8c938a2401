/* output: hunks, lines and colours, for every output form. */
#include "diff.h"

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* A line that -B or -I lets pass. */
static bool trivial_line(Diff *d, int side, size_t number)
{
    Slice line = diff_line(d, side, number);
    if (line.len && line.data[line.len - 1] == '\n')
        line.len--;
    Slice rest = line;
    if (d->ignore_blank && d->space >= SPACE_TRAILING) {
        while (rest.len && is_space(rest.data[0]))
            rest = slice_from(rest, 1);
        if (rest.len && d->space < SPACE_CHANGE)
            rest = line;
    }
    if (d->ignore_blank && rest.len == 0)
        return true;
    return d->ignore_re && re_search(&d->env, d->ignore_re, line, 0, false, NULL, 0) == RE_MATCHED;
}

Hunk diff_hunk(Diff *d, const Change *first)
{
    Hunk h = {SAME, {first->line[0], first->line[1]}, {0, 0}};
    bool trivial = d->ignore_blank || d->ignore_re;
    size_t total[2] = {0, 0};
    for (const Change *c = first; c; c = c->next)
        for (int f = 0; f < 2; f++) {
            h.past[f] = c->line[f] + c->count[f];
            total[f] += c->count[f];
            for (size_t i = c->line[f]; i < h.past[f] && trivial; i++)
                trivial = trivial_line(d, f, i);
        }
    if (!trivial)
        h.kind = (total[0] ? OLD : 0) | (total[1] ? NEW : 0);
    return h;
}

/* As a C string when it holds what would not be one word. */
const char *diff_escape(Diff *d, const char *name)
{
    static const char letters[] = "abtnvfr";
    bool odd = false;
    for (const char *s = name; *s; s++)
        odd |= (unsigned char)*s <= ' ' || *s == '"' || *s == '\\';
    if (!odd)
        return name;
    Buf out;
    buf_init(&out, &d->p->mem, BUF_MAX);
    buf_char(&out, '"');
    for (const char *s = name; *s; s++)
        if (*s >= '\a' && *s <= '\r')
            buf_printf(&out, "\\%c", letters[*s - '\a']);
        else if (*s == '"' || *s == '\\')
            buf_printf(&out, "\\%c", *s);
        else if ((unsigned char)*s < ' ')
            buf_printf(&out, "\\%03o", (unsigned)*s);
        else
            buf_char(&out, *s);
    buf_char(&out, '"');
    return out.data;
}

void diff_begin(Diff *d)
{
    if (d->begun)
        return;
    d->begun = true;
    if (d->in_directory)
        out_printf(d->p->out, "diff%s %s %s\n", d->switches, diff_escape(d, d->side[0].name), diff_escape(d, d->side[1].name));
    if (d->style == STYLE_CONTEXT || d->style == STYLE_UNIFIED)
        diff_context_header(d, d->style == STYLE_UNIFIED);
}

void diff_color(Diff *d, ColorId color)
{
    if (d->color && d->color_now != color)
        out_printf(d->p->out, "\33[%sm", d->sgr[color]);
    d->color_now = color;
}

void diff_expand(Diff *d, Slice line, const char *flag)
{
    Output *o = d->p->out;
    size_t column = 0;
    for (size_t i = 0; i < line.len; i++) {
        char c = line.data[i];
        if (c == '\t') {
            size_t spaces = d->tab - column % d->tab;
            column += spaces;
            out_pad(o, spaces, ' ');
            continue;
        }
        if (c == '\b' && column == 0)
            continue;
        if (c == '\b')
            column--;
        else if (c != '\r')
            column += c >= ' ' && c < 127;
        out_char(o, c);
        if (c == '\r') {
            column = 0;
            if (flag && i + 1 < line.len && line.data[i + 1] != '\n')
                out_str(o, flag);
        }
    }
}

void diff_print_line(Diff *d, const char *flag, int side, size_t number, bool keep_newline)
{
    Output *o = d->p->out;
    Slice line = diff_line(d, side, number);
    bool ended = line.len && line.data[line.len - 1] == '\n';
    if (flag && *flag) {
        if (d->no_blank_prefix && line.data[0] == '\n')
            flag += *flag == ' ';
        else
            flag = mem_printf(&d->p->mem, d->initial_tab ? "%s\t" : "%s ", flag);
        out_str(o, flag);
    }
    Slice shown = line;
    if (!keep_newline && ended)
        shown.len--;
    if (d->expand_tabs)
        diff_expand(d, shown, flag && *flag ? flag : NULL);
    else
        out_write(o, shown);
    if ((!flag || *flag) && !ended) {
        diff_color(d, COLOR_RESET);
        out_str(o, "\n\\ No newline at end of file\n");
    }
}

void diff_colored_line(Diff *d, ColorId color, const char *flag, int side, size_t number)
{
    if (!d->color) {
        diff_print_line(d, flag, side, number, true);
        return;
    }
    Slice line = diff_line(d, side, number);
    diff_color(d, color);
    diff_print_line(d, flag, side, number, false);
    diff_color(d, COLOR_RESET);
    if (line.len && line.data[line.len - 1] == '\n')
        out_char(d->p->out, '\n');
}

void diff_each(Diff *d, Change *script, void (*print)(Diff *d, Change *hunk))
{
    while (script) {
        Change *rest = script->next;
        script->next = NULL;
        MemMark mark = mem_mark(&d->p->mem);
        print(d, script);
        mem_reset(&d->p->mem, mark);
        script->next = rest;
        script = rest;
        proc_tick(d->p, 1);
    }
}
