/* side: two columns. */
#include "diff.h"
#include "lib/base/utf8.h"

typedef struct { size_t next[2]; } Columns;

static size_t tab_to(Diff *d, size_t from, size_t to)
{
    Output *o = d->p->out;
    if (!d->expand_tabs)
        for (size_t tab = from + d->tab - from % d->tab; tab <= to; tab += d->tab) {
            out_char(o, '\t');
            from = tab;
        }
    if (from < to)
        out_pad(o, to - from, ' ');
    return to;
}

typedef struct { size_t in, out, bound; } Position;

static void half_tab(Diff *d, Position *at)
{
    Output *o = d->p->out;
    size_t spaces = d->tab - at->in % d->tab;
    if (at->in == at->out) {
        size_t stop = at->out + spaces;
        if (d->expand_tabs) {
            stop = MIN(stop, at->bound);
            if (stop > at->out) {
                out_pad(o, stop - at->out, ' ');
                at->out = stop;
            }
        } else if (stop < at->bound) {
            at->out = stop;
            out_char(o, '\t');
        }
    }
    at->in += spaces;
}

static void half_backspace(Diff *d, Position *at)
{
    if (at->in == 0 || --at->in >= at->bound)
        return;
    if (at->out <= at->in) {
        out_pad(d->p->out, at->in - at->out, ' ');
        at->out = at->in;
    } else {
        at->out = at->in;
        out_char(d->p->out, '\b');
    }
}

/* Bytes of the character at the beginning of `s`; *width its columns, or -1 when it is none that is shown. */
static size_t character(Slice s, int *width)
{
    unsigned char c = (unsigned char)s.data[0];
    *width = c >= ' ' && c < 127 ? 1 : -1;
    if (c < 128)
        return 1;
    size_t n;
    uint32_t code = utf8_decode(s.data, s.len, &n);
    if (code == UTF8_BAD)
        return 1;
    *width = MAX(utf8_width(code), 0);
    return n;
}

/* As much of the line as fits into `bound` columns; the column reached. */
static size_t print_half(Diff *d, Slice line, size_t indent, size_t bound)
{
    Output *o = d->p->out;
    Position at = {0, 0, bound};
    while (line.len && line.data[0] != '\n') {
        int width;
        size_t n = 1;
        char c = line.data[0];
        if (c == '\t') {
            half_tab(d, &at);
        } else if (c == '\r') {
            out_char(o, c);
            tab_to(d, 0, indent);
            at.in = at.out = 0;
        } else if (c == '\b') {
            half_backspace(d, &at);
        } else {
            n = character(line, &width);
            if (width < 0) {
                if (at.in < bound)
                    out_char(o, c);
            } else {
                at.in += (size_t)width;
                if (at.in <= bound) {
                    at.out = at.in;
                    out_write(o, slice(line.data, n));
                }
            }
        }
        line = slice_from(line, n);
    }
    return at.out;
}

static bool ended(Slice line) { return line.len && line.data[line.len - 1] == '\n'; }

static void print_pair(Diff *d, const Slice *left, char mark, const Slice *right)
{
    Output *o = d->p->out;
    size_t column = 0;
    bool newline = false;
    if (mark == '<')
        diff_color(d, COLOR_DELETE);
    else if (mark == '>')
        diff_color(d, COLOR_ADD);
    if (left) {
        newline = ended(*left);
        column = print_half(d, *left, 0, d->half_width);
    }
    if (mark != ' ') {
        column = tab_to(d, column, (d->half_width + d->column2 - 1) / 2) + 1;
        if (mark == '|' && newline != ended(*right))
            mark = newline ? '/' : '\\';
        out_char(o, mark);
    }
    if (right) {
        newline |= ended(*right);
        if (right->data[0] != '\n') {
            column = tab_to(d, column, d->column2);
            print_half(d, *right, column, d->half_width);
        }
    }
    if (newline)
        out_char(o, '\n');
    if (mark == '<' || mark == '>')
        diff_color(d, COLOR_RESET);
    proc_tick(d->p, 1);
}

static void print_common(Diff *d, Columns *at, size_t past0, size_t past1)
{
    if (!d->suppress_common && (at->next[0] != past0 || at->next[1] != past1)) {
        size_t i = at->next[0], j = at->next[1];
        if (d->merge_help)
            out_printf(d->p->out, "i%zu,%zu\n", past0 - i, past1 - j);
        while (!d->left_column && i != past0 && j != past1) {
            Slice left = diff_line(d, 0, i++), right = diff_line(d, 1, j++);
            print_pair(d, &left, ' ', &right);
        }
        for (; !d->left_column && j != past1; j++) {
            Slice right = diff_line(d, 1, j);
            print_pair(d, NULL, ')', &right);
        }
        for (; i != past0; i++) {
            Slice left = diff_line(d, 0, i);
            print_pair(d, &left, '(', NULL);
        }
    }
    at->next[0] = past0;
    at->next[1] = past1;
}

static void print_hunk(Diff *d, Columns *at, const Change *c)
{
    Hunk h = diff_hunk(d, c);
    if (!h.kind)
        return;
    print_common(d, at, h.first[0], h.first[1]);
    if (d->merge_help)
        out_printf(d->p->out, "c%zu,%zu\n", h.past[0] - h.first[0], h.past[1] - h.first[1]);
    size_t i = h.first[0], j = h.first[1];
    while (i < h.past[0] && j < h.past[1]) {
        Slice left = diff_line(d, 0, i++), right = diff_line(d, 1, j++);
        print_pair(d, &left, '|', &right);
    }
    while (j < h.past[1]) {
        Slice right = diff_line(d, 1, j++);
        print_pair(d, NULL, '>', &right);
    }
    while (i < h.past[0]) {
        Slice left = diff_line(d, 0, i++);
        print_pair(d, &left, '<', NULL);
    }
    at->next[0] = i;
    at->next[1] = j;
}

void diff_side_by_side(Diff *d, Change *script)
{
    Columns at = {{0, 0}};
    diff_begin(d);
    for (Change *c = script; c; c = c->next) {
        Change *rest = c->next;
        c->next = NULL;
        print_hunk(d, &at, c);
        c->next = rest;
    }
    print_common(d, &at, d->side[0].count, d->side[1].count);
}
