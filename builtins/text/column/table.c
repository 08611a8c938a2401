/* column: a table as text: the columns' widths, cells cut or wrapped to them, trees drawn in one column. */
#include "column.h"

/* What is drawn before a cell of the tree's column. */
static Slice tree_prefix(const Column *c, const Line *l, bool wrapped)
{
    Buf b;
    buf_init(&b, &c->p->mem, BUF_MAX);
    const Line *chain[256];
    size_t depth = 0;
    for (const Line *up = l; up->parent && depth < ARRAY_LEN(chain); up = up->parent)
        chain[depth++] = up;
    for (size_t i = depth; i-- > 0;) {
        bool last = !chain[i]->sibling;
        const char *text = i || wrapped ? (last ? "  " : c->utf8 ? "│ " : "| ") : last ? (c->utf8 ? "└─" : "`-") : c->utf8 ? "├─" : "|-";
        buf_append(&b, slice_str(text));
    }
    return b.data ? buf_slice(&b) : (Slice){"", 0};
}

static size_t full_width(const Column *c, const Line *l, size_t col)
{
    size_t width = cell_width(c, line_cell(l, col));
    if (col == c->tree_col)
        for (const Line *up = l; up->parent; up = up->parent)
            width += 2;
    return width;
}

static void measure(Column *c)
{
    for (size_t i = 0; i < c->shown_count; i++) {
        Col *col = &c->cols[c->shown[i]];
        if (c->names)
            col->width = cell_width(c, col->name);
        col->least = MAX(col->width, 1);
        for (size_t n = 0; n < c->line_count; n++) {
            size_t w = full_width(c, c->lines[n], c->shown[i]);
            col->width = MAX(col->width, w);
            col->sum += w;
            col->rows++;
        }
        col->extreme = col->width;
        proc_tick(c->p, c->line_count);
    }
}

/* The width that the ordinary cells need: those that are not more than twice the average. */
static size_t ordinary_width(const Column *c, size_t which)
{
    const Col *col = &c->cols[which];
    size_t average = col->rows ? col->sum / col->rows : 0, width = col->least;
    for (size_t n = 0; n < c->line_count; n++) {
        size_t w = full_width(c, c->lines[n], which);
        if (w <= average * 2)
            width = MAX(width, w);
    }
    return width;
}

static size_t total_width(const Column *c)
{
    size_t sum = 0, between = cell_width(c, slice_str(c->out_separator));
    for (size_t i = 0; i < c->shown_count; i++)
        sum += c->cols[c->shown[i]].width + (i ? between : 0);
    return sum;
}

static void fit_extremes(Column *c)
{
    for (size_t i = 0; i < c->shown_count; i++)
        if (c->cols[c->shown[i]].no_extreme && total_width(c) > c->width)
            c->cols[c->shown[i]].width = ordinary_width(c, c->shown[i]);
    for (size_t i = 0; i < c->shown_count; i++) {
        Col *col = &c->cols[c->shown[i]];
        size_t total = total_width(c);
        if (col->no_extreme && total < c->width)
            col->width = MIN(col->extreme, col->width + (c->width - total));
    }
}

/* Columns that may be cut give up one place each in turn. */
static void fit(Column *c)
{
    size_t total = total_width(c);
    for (bool any = true; any && total > c->width;) {
        any = false;
        for (size_t i = 0; i < c->shown_count && total > c->width; i++) {
            Col *col = &c->cols[c->shown[i]];
            if ((!col->truncate && !col->wrap) || col->width <= col->least)
                continue;
            col->width--;
            total--;
            any = true;
        }
        proc_tick(c->p, c->shown_count);
    }
}

/* As much of the text as fits into `width` columns. */
static size_t fitting(const Column *c, Slice s, size_t width)
{
    size_t used = 0, n = 1;
    for (size_t i = 0; i < s.len; i += n) {
        n = 1;
        if (c->utf8 && (unsigned char)s.data[i] >= 0x80)
            utf8_decode(s.data + i, s.len - i, &n);
        used += display_width(slice(s.data + i, n), c->utf8);
        if (used > width)
            return i ? i : n;
    }
    return s.len;
}

static void put_cell(Column *c, const Col *col, Slice s, bool last)
{
    size_t w = cell_width(c, s), pad = col->width > w ? col->width - w : 0;
    if (col->right)
        out_pad(c->p->out, pad, ' ');
    out_write(c->p->out, s);
    if (!col->right && !last)
        out_pad(c->p->out, pad, ' ');
    if (!last)
        out_str(c->p->out, c->out_separator);
}

/* One line of output of a row; takes it off `rest`. True when something is left for another. */
static bool put_line(Column *c, Slice *rest)
{
    bool more = false;
    for (size_t i = 0; i < c->shown_count; i++) {
        const Col *col = &c->cols[c->shown[i]];
        Slice s = rest[i];
        if (col->wrap || col->truncate)
            s.len = fitting(c, s, col->width);
        put_cell(c, col, s, i + 1 == c->shown_count);
        rest[i] = col->wrap ? slice_from(rest[i], s.len) : (Slice){"", 0};
        more |= rest[i].len > 0;
    }
    out_char(c->p->out, '\n');
    return more;
}

static void put_row(Column *c, const Line *l)
{
    MemMark scratch = mem_mark(&c->p->mem);
    Slice *rest = mem_array(&c->p->mem, c->shown_count, Slice);
    for (size_t i = 0; i < c->shown_count; i++) {
        size_t col = c->shown[i];
        rest[i] = l ? line_cell(l, col) : c->cols[col].name;
        if (l && col == c->tree_col) {
            Slice before = tree_prefix(c, l, false);
            rest[i] = slice_str(mem_printf(&c->p->mem, "%.*s%.*s", (int)before.len, before.data, (int)rest[i].len, rest[i].data));
        }
    }
    while (put_line(c, rest))
        proc_tick(c->p, 1);
    mem_reset(&c->p->mem, scratch);
}

static void put_rows(Column *c, const Line *l)
{
    put_row(c, l);
    proc_tick(c->p, 1);
    if (!proc_stack_room(c->p, 8192))
        die(c->p, 1, "the tree is too deep");
    for (const Line *child = l->child; child; child = child->sibling)
        put_rows(c, child);
}

void print_table(Column *c)
{
    measure(c);
    fit_extremes(c);
    fit(c);
    if (c->names && !c->no_heading)
        put_row(c, NULL);
    for (size_t i = 0; i < c->line_count; i++)
        if (!c->lines[i]->parent)
            put_rows(c, c->lines[i]);
}
