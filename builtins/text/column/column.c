/* column: columnate lists. util-linux 2.38. */
#include <stdlib.h>

#include "column.h"

static const Option options[] = {
    {'t', "table", OPT_FLAG, "create a table", NULL, 0},
    {'n', "table-name", OPT_VALUE, "table name for JSON output", "NAME", 0},
    {'O', "table-order", OPT_VALUE, "specify order of output columns", "COLUMNS", 0},
    {'N', "table-columns", OPT_VALUE, "comma separated columns names", "NAMES", 0},
    {'l', "table-columns-limit", OPT_VALUE, "maximal number of input columns", "NUM", 0},
    {'E', "table-noextreme", OPT_VALUE, "don't count long text from the columns to column width", "COLUMNS", 0},
    {'d', "table-noheadings", OPT_FLAG, "don't print header", NULL, 0},
    {'e', "table-header-repeat", OPT_FLAG, "repeat header for each page", NULL, 0},
    {'H', "table-hide", OPT_VALUE, "don't print the columns", "COLUMNS", 0},
    {'R', "table-right", OPT_VALUE, "right align text in these columns", "COLUMNS", 0},
    {'T', "table-truncate", OPT_VALUE, "truncate text in the columns when necessary", "COLUMNS", 0},
    {'W', "table-wrap", OPT_VALUE, "wrap text in the columns when necessary", "COLUMNS", 0},
    {'L', "keep-empty-lines", OPT_FLAG, "don't ignore empty lines", NULL, 0},
    {0, "table-empty-lines", OPT_FLAG, NULL, NULL, 'L'},
    {'J', "json", OPT_FLAG, "use JSON output format for table", NULL, 0},
    {'r', "tree", OPT_VALUE, "column to use tree-like output for the table", "COLUMN", 0},
    {'i', "tree-id", OPT_VALUE, "line ID to specify child-parent relation", "COLUMN", 0},
    {'p', "tree-parent", OPT_VALUE, "parent to specify child-parent relation", "COLUMN", 0},
    {'c', "output-width", OPT_VALUE, "width of output in number of characters", "WIDTH", 0},
    {0, "columns", OPT_VALUE, NULL, "WIDTH", 'c'},
    {'o', "output-separator", OPT_VALUE, "columns separator for table output (default is two spaces)", "STRING", 0},
    {'s', "separator", OPT_VALUE, "possible table delimiters", "STRING", 0},
    {'x', "fillrows", OPT_FLAG, "fill rows before columns", NULL, 0},
    OPTION_HELP('h'),
    OPTION_VERSION('V'),
    OPTIONS_END,
};

/* An escape sequence that sets colours takes no room. */
size_t cell_width(const Column *c, Slice s)
{
    size_t width = 0, from = 0;
    for (size_t i = 0; i + 1 < s.len; i++) {
        if (s.data[i] != 033 || s.data[i + 1] != '[')
            continue;
        size_t end = i + 2;
        while (end < s.len && !(s.data[end] >= 0x40 && s.data[end] <= 0x7E))
            end++;
        width += display_width(slice(s.data + from, i - from), c->utf8);
        from = MIN(end + 1, s.len);
        i = from - 1;
    }
    return width + display_width(slice_from(s, from), c->utf8);
}

Slice line_cell(const Line *l, size_t col) { return col < l->count ? l->cells[col] : (Slice){"", 0}; }

/* ---------- input ---------- */

static bool is_separator(const Column *c, char b) { return b && strchr(c->separators ? c->separators : " \t", b); }

static Slice next_cell(const Column *c, Slice *rest, bool last)
{
    size_t n = 0;
    if (!c->separators)
        while (rest->len && is_separator(c, *rest->data))
            *rest = slice_from(*rest, 1);
    if (last)
        n = rest->len;
    while (n < rest->len && !is_separator(c, rest->data[n]))
        n++;
    Slice cell = {rest->data, n};
    *rest = slice_from(*rest, MIN(n + 1, rest->len));
    return cell;
}

static void split_cells(const Column *c, Line *l, Slice text)
{
    size_t cap = 1;
    for (size_t i = 0; i < text.len; i++)
        cap += is_separator(c, text.data[i]);
    l->cells = mem_array(&c->p->keep, cap, Slice);
    for (bool more = true; more && l->count < cap;) {
        size_t before = text.len;
        bool last = c->limit && l->count + 1 == c->limit;
        Slice cell = next_cell(c, &text, last);
        more = !last && (c->separators ? (size_t)(text.data - cell.data) > cell.len && before : text.len > 0);
        if (cell.len == 0 && !c->separators && !text.len && l->count)
            break;
        l->cells[l->count++] = cell;
    }
}

static void add_line(Column *c, Slice text)
{
    if (c->line_count == c->line_cap) {
        size_t cap = MAX(c->line_cap * 2, 64);
        c->lines = mem_grow(&c->p->keep, c->lines, c->line_cap * sizeof *c->lines, cap * sizeof *c->lines);
        c->line_cap = cap;
    }
    Line *l = mem_new(&c->p->keep, Line);
    text = slice(mem_copy(&c->p->keep, text), text.len);
    if (c->table && text.len) {
        split_cells(c, l, text);
    } else {
        l->cells = mem_array(&c->p->keep, 1, Slice);
        l->cells[l->count++] = text;
    }
    c->lines[c->line_count++] = l;
}

/* Bytes that are no character are shown in hexadecimal. */
static Slice readable(const Column *c, Slice s)
{
    if (!c->utf8 || utf8_valid(s))
        return s;
    Buf b;
    buf_init(&b, &c->p->keep, BUF_MAX);
    size_t n;
    for (size_t at = 0; at < s.len; at += n) {
        if (utf8_decode(s.data + at, s.len - at, &n) == UTF8_BAD)
            buf_printf(&b, "\\x%02x", (unsigned char)s.data[at]);
        else
            buf_append(&b, slice(s.data + at, n));
    }
    return buf_slice(&b);
}

static int read_lines(Column *c, Args *args)
{
    Input in = input_first(c->p, args);
    in.no_dash = true;
    for (; input_open(&in); input_next(&in)) {
        Slice record;
        bool ended;
        while (input_record(&in, &record, &ended)) {
            proc_tick(c->p, 1 + record.len / 64);
            record.len = slice_find(record, 0); /* a line is a string to the original */
            size_t n = 0;
            while (n < record.len && strchr(" \t\r\n\v\f", record.data[n]))
                n++;
            if (n < record.len)
                add_line(c, readable(c, record));
            else if (c->keep_empty)
                add_line(c, (Slice){"", 0});
        }
    }
    return input_status(&in);
}

/* ---------- columns ---------- */

static size_t find_column(const Column *c, Slice name)
{
    int64_t number;
    for (size_t i = 0; i < c->col_count; i++)
        if (c->cols[i].name.len && slice_eq(c->cols[i].name, name))
            return i;
    if (parse_int(mem_copy(&c->p->mem, name), &number) == 0 && number > 0 && (uint64_t)number <= c->col_count)
        return (size_t)number - 1;
    if (name.len && name.data[0] >= '0' && name.data[0] <= '9')
        return SIZE_MAX;
    die(c->p, 1, "undefined column name '%.*s'", (int)name.len, name.data);
}

/* The next word of a comma-separated list. */
static bool next_word(Slice *list, Slice *word)
{
    if (!list->data)
        return false;
    size_t n = slice_find(*list, ',');
    *word = (Slice){list->data, n};
    *list = n < list->len ? slice_from(*list, n + 1) : (Slice){NULL, 0};
    return true;
}

enum { MARK_HIDE, MARK_RIGHT, MARK_TRUNCATE, MARK_WRAP, MARK_EXTREME };

static void mark(Column *c, const char *list, int what)
{
    Slice rest = list ? slice_str(list) : (Slice){NULL, 0}, word;
    while (next_word(&rest, &word)) {
        bool unnamed = what == MARK_HIDE && slice_is(word, "-");
        size_t only = unnamed ? SIZE_MAX : find_column(c, word);
        for (size_t i = 0; i < c->col_count; i++) {
            Col *col = &c->cols[i];
            if (unnamed ? col->name.len > 0 : i != only)
                continue;
            col->hidden |= what == MARK_HIDE;
            col->right |= what == MARK_RIGHT;
            col->truncate |= what == MARK_TRUNCATE;
            col->wrap |= what == MARK_WRAP;
            col->no_extreme |= what == MARK_EXTREME;
        }
    }
}

static void show(Column *c, size_t col)
{
    for (size_t i = 0; i < c->shown_count; i++)
        if (c->shown[i] == col)
            return;
    c->shown[c->shown_count++] = col;
}

static void name_columns(Column *c)
{
    Slice rest = c->names ? slice_str(c->names) : (Slice){NULL, 0}, word;
    size_t count = c->names ? 1 + slice_count(rest, ',') : 0, named = count;
    for (size_t i = 0; i < c->line_count; i++) {
        if (c->json && c->lines[i]->count > named)
            die(c->p, 1, "line %zu: for JSON the name of the column %zu is required", i + 2, named + 1);
        count = MAX(count, c->lines[i]->count);
    }
    c->cols = mem_array(&c->p->keep, count, Col);
    c->shown = mem_array(&c->p->keep, count, size_t);
    for (c->col_count = 0; next_word(&rest, &word); c->col_count++)
        c->cols[c->col_count].name = word;
    c->col_count = count;
}

static void arrange(Column *c)
{
    Slice rest = c->order ? slice_str(c->order) : (Slice){NULL, 0}, word;
    while (next_word(&rest, &word)) {
        size_t col = find_column(c, word);
        if (col != SIZE_MAX)
            show(c, col);
    }
    for (size_t i = 0; i < c->col_count; i++)
        show(c, i);
    mark(c, c->hide, MARK_HIDE);
    mark(c, c->right, MARK_RIGHT);
    mark(c, c->truncate, MARK_TRUNCATE);
    mark(c, c->wrap, MARK_WRAP);
    mark(c, c->no_extreme, MARK_EXTREME);
    size_t kept = 0;
    for (size_t i = 0; i < c->shown_count; i++)
        if (!c->cols[c->shown[i]].hidden)
            c->shown[kept++] = c->shown[i];
    c->shown_count = kept;
    c->tree_col = SIZE_MAX;
    if (c->tree) {
        c->tree_col = find_column(c, slice_str(c->tree));
        build_tree(c, find_column(c, slice_str(c->tree_id)), find_column(c, slice_str(c->tree_parent)));
    }
}

/* ---------- a list in columns ---------- */

static void put_tabs(Column *c, size_t *at, size_t end)
{
    for (size_t next; (next = (*at + 8) & ~(size_t)7) <= end; *at = next)
        out_char(c->p->out, '\t');
}

/* Rows of `across` entries, the next of a row being `step` entries on. */
static void print_list(Column *c)
{
    size_t most = 0, across;
    for (size_t i = 0; i < c->line_count; i++)
        most = MAX(most, cell_width(c, c->lines[i]->cells[0]));
    size_t wide = (most + 8) & ~(size_t)7;
    across = most >= c->width ? 1 : MAX(c->width / wide, 1);
    size_t rows = (c->line_count + across - 1) / across;
    for (size_t row = 0; row < rows; row++) {
        size_t at = 0, end = wide;
        for (size_t col = 0; col < across; col++, end += wide) {
            size_t i = c->fill_rows ? row * across + col : col * rows + row, step = c->fill_rows ? 1 : rows;
            Slice s = c->lines[i]->cells[0];
            out_write(c->p->out, s);
            at += cell_width(c, s);
            if (i + step >= c->line_count)
                break;
            if (col + 1 < across)
                put_tabs(c, &at, end);
        }
        out_char(c->p->out, '\n');
        proc_tick(c->p, across);
    }
}

/* ---------- options ---------- */

static size_t number(Proc *p, const char *text, const char *what)
{
    int64_t v;
    int err = parse_int(text, &v);
    if (err == -ERANGE)
        die_errno(p, 1, ERANGE, "invalid %s argument: '%s'", what, text);
    if (err || v < 0 || v > UINT32_MAX)
        die(p, 1, "invalid %s argument: '%s'", what, text);
    return (size_t)v;
}

static void set_text_option(Column *c, int id, const char *v)
{
    switch (id) {
    case 'n': c->table_name = v; break;
    case 'N': c->names = v; break;
    case 'O': c->order = v; break;
    case 'H': c->hide = v; break;
    case 'R': c->right = v; break;
    case 'T': c->truncate = v; break;
    case 'W': c->wrap = v; break;
    case 'E': c->no_extreme = v; break;
    case 'r': c->tree = v; break;
    case 'i': c->tree_id = v; break;
    case 'p': c->tree_parent = v; break;
    case 'o': c->out_separator = v; break;
    case 's': c->separators = v; break;
    default: break;
    }
}

/* As soon as both were given, in the words of the original. */
static void check_exclusive(Column *c, int id)
{
    c->given_table |= id == 't';
    c->given_name |= id == 'n';
    if (c->fill_rows && (id == 'x' || id == 'J') && c->json)
        die(c->p, 1, "mutually exclusive arguments: --json --fillrows");
    if (c->fill_rows && (id == 'x' || id == 't') && c->given_table)
        die(c->p, 1, "mutually exclusive arguments: --table --fillrows");
}

static void set_option(Column *c, const Args *args, int id)
{
    switch (id) {
    case 't': c->table = true; break;
    case 'J': c->json = c->table = true; break;
    case 'd': c->no_heading = true; break;
    case 'L': c->keep_empty = true; break;
    case 'x': c->fill_rows = true; break;
    case 'c': c->width = strcmp(args->value, "unlimited") == 0 ? SIZE_MAX / 2 : number(c->p, args->value, "columns"); break;
    case 'l':
        c->limit = number(c->p, args->value, "columns limit");
        if (!c->limit)
            die(c->p, 1, "columns limit must be greater than zero");
        break;
    default: set_text_option(c, id, args->value); break;
    }
}

static size_t terminal_width(Proc *p)
{
    const char *columns = proc_getenv(p, "COLUMNS");
    int64_t v;
    return columns && parse_int(columns, &v) == 0 && v > 0 && v < INT32_MAX ? (size_t)v : 80;
}

static int column_main(Proc *p, Args *args)
{
    Column c = {.p = p, .utf8 = locale_utf8(p), .width = terminal_width(p), .out_separator = "  ", .table_name = "table"};
    for (int id; (id = args_next(p, args)) != -1;) {
        set_option(&c, args, id);
        check_exclusive(&c, id);
    }
    if (c.tree && (!c.tree_id || !c.tree_parent))
        die(p, 1, "options --tree-id and --tree-parent are required for tree formatting");
    if (!c.table && (c.names || c.order || c.hide || c.right || c.truncate || c.wrap || c.no_extreme || c.tree || c.given_name))
        die(p, 1, "option --table required for all --table-*");
    if (c.json && !c.names)
        die(p, 1, "option --table-columns required for --json");
    int status = read_lines(&c, args);
    if (!c.line_count)
        return status;
    if (!c.table) {
        print_list(&c);
        return status;
    }
    name_columns(&c);
    arrange(&c);
    if (c.json)
        print_json(&c);
    else
        print_table(&c);
    return status;
}

COMMAND(column, "column [options] [<file>...]", "Columnate lists.", options, COMMAND_PURE, .package = "util-linux 2.38");
