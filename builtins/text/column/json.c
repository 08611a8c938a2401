/* column: trees out of ids and parents, and a table as JSON. */
#include "column.h"

/* A line that is its own ancestor would have no place in a tree. */
static bool is_above(const Line *l, const Line *below)
{
    for (; below; below = below->parent)
        if (below == l)
            return true;
    return false;
}

void build_tree(Column *c, size_t id, size_t parent)
{
    Map by_id;
    map_init(&by_id, &c->p->keep);
    for (size_t i = 0; i < c->line_count; i++) {
        MapEntry *e = map_put(&by_id, line_cell(c->lines[i], id));
        if (!e->value)
            e->value = c->lines[i];
    }
    for (size_t i = 0; i < c->line_count; i++) {
        Line *l = c->lines[i];
        MapEntry *e = map_get(&by_id, line_cell(l, parent));
        Line *up = e ? e->value : NULL;
        proc_tick(c->p, 1);
        if (!up || is_above(l, up))
            continue;
        l->parent = up;
        *(up->last_child ? &up->last_child->sibling : &up->child) = l;
        up->last_child = l;
    }
}

static void put_string(Column *c, Slice s, bool lower)
{
    Output *out = c->p->out;
    out_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        char b = s.data[i];
        static const char from[] = "\b\t\n\f\r", to[] = "btnfr";
        const char *at = b ? strchr(from, b) : NULL;
        if (b == '"' || b == '\\')
            out_printf(out, "\\%c", b);
        else if (at)
            out_printf(out, "\\%c", to[at - from]);
        else if ((unsigned char)b < 0x20 || b == 0x7F)
            out_printf(out, "\\u%04x", b);
        else
            out_char(out, lower && b >= 'A' && b <= 'Z' ? (char)(b + 32) : b);
    }
    out_char(out, '"');
}

static void put_list(Column *c, Line *const *list, size_t count, size_t indent);

static void put_children(Column *c, const Line *l, size_t indent)
{
    size_t n = 0;
    for (const Line *child = l->child; child; child = child->sibling)
        n++;
    Line **list = mem_array(&c->p->keep, n, Line *);
    n = 0;
    for (Line *child = l->child; child; child = child->sibling)
        list[n++] = child;
    out_str(c->p->out, ",\n");
    out_pad(c->p->out, indent, ' ');
    out_str(c->p->out, "\"children\": [\n");
    put_list(c, list, n, indent + 3);
    out_pad(c->p->out, indent, ' ');
    out_char(c->p->out, ']');
}

static void put_object(Column *c, const Line *l, size_t indent)
{
    out_str(c->p->out, "{\n");
    for (size_t i = 0; i < c->shown_count; i++) {
        size_t col = c->shown[i];
        out_pad(c->p->out, indent + 3, ' ');
        put_string(c, c->cols[col].name, true);
        out_str(c->p->out, ": ");
        if (line_cell(l, col).len)
            put_string(c, line_cell(l, col), false);
        else
            out_str(c->p->out, "null");
        out_str(c->p->out, i + 1 < c->shown_count ? ",\n" : "");
    }
    if (l->child)
        put_children(c, l, indent + 3);
    out_char(c->p->out, '\n');
    out_pad(c->p->out, indent, ' ');
    out_char(c->p->out, '}');
}

static void put_list(Column *c, Line *const *list, size_t count, size_t indent)
{
    bool first = true;
    if (!proc_stack_room(c->p, 8192))
        die(c->p, 1, "the tree is too deep");
    for (size_t i = 0; i < count; i++) {
        proc_tick(c->p, 1);
        if (first)
            out_pad(c->p->out, indent, ' ');
        else
            out_char(c->p->out, ',');
        put_object(c, list[i], indent);
        first = false;
    }
    out_char(c->p->out, '\n');
}

void print_json(Column *c)
{
    Line **top = mem_array(&c->p->keep, c->line_count, Line *);
    size_t n = 0;
    for (size_t i = 0; i < c->line_count; i++)
        if (!c->lines[i]->parent)
            top[n++] = c->lines[i];
    out_str(c->p->out, "{\n   ");
    put_string(c, slice_str(c->table_name), false);
    out_str(c->p->out, ": [\n");
    put_list(c, top, n, 6);
    out_str(c->p->out, "   ]\n}\n");
}
