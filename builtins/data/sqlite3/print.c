/* print: rows in each of the output modes. */
#include "data/sqlite3/sqlite3.h"

static const char *const names[MODE_COUNT] = {"list", "csv", "column", "line", "table", "box", "markdown", "json", "insert", "html", "tabs", "quote", "ascii", "tcl", "explain", "eqp"};

const char *mode_name(Mode m) { return names[m == MODE_TABS ? MODE_LIST : m]; }

static bool is_columnar(Mode m) { return m == MODE_COLUMN || m == MODE_TABLE || m == MODE_BOX || m == MODE_MARKDOWN; }

bool mode_set(Sql *s, const char *name)
{
    Show *w = &s->show;
    size_t n = strlen(name);
    w->quoted = w->word_wrap = false;
    w->wrap = 0;
    if (strncmp(name, "qbox", n) == 0 && n > 1) {
        w->mode = MODE_BOX;
        w->wrap = 60;
        w->quoted = true;
        return true;
    }
    static const char order[] = {MODE_LINE, MODE_COLUMN, MODE_LIST, MODE_HTML, MODE_TCL, MODE_CSV, MODE_TABS, MODE_INSERT, MODE_QUOTE, MODE_ASCII, MODE_MARKDOWN, MODE_TABLE, MODE_BOX, MODE_JSON};
    for (size_t i = 0; i < sizeof order; i++) {
        Mode m = (Mode)order[i];
        if (strncmp(names[m], name, n) != 0 && !(m == MODE_LINE && strcmp(name, "lines") == 0) && !(m == MODE_COLUMN && strcmp(name, "columns") == 0))
            continue;
        w->mode = m;
        if (m == MODE_LIST || m == MODE_LINE) {
            if (m == MODE_LIST)
                w->column = "|";
            w->row = "\n";
        } else if (m == MODE_COLUMN) {
            if (!w->header_set)
                w->header = true;
            w->row = "\n";
        } else if (m == MODE_TCL) {
            w->column = " ";
            w->row = "\n";
        } else if (m == MODE_CSV) {
            w->column = ",";
            w->row = "\r\n";
        } else if (m == MODE_TABS) {
            w->column = "\t";
        } else if (m == MODE_QUOTE) {
            w->column = ",";
            w->row = "\n";
        } else if (m == MODE_ASCII) {
            w->column = "\x1f";
            w->row = "\x1e";
        }
        return true;
    }
    return false;
}

/* --- values --- */

void put_quoted(Sql *s, Slice text)
{
    out_char(s->out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\'')
            out_char(s->out, '\'');
        out_char(s->out, text.data[i]);
    }
    out_char(s->out, '\'');
}

/* Line ends become char(10): a name for them that is not in the text. */
static const char *unused(Sql *s, Slice text, const char *a, const char *b)
{
    if (slice_search(text, slice_str(a)) == SIZE_MAX)
        return a;
    if (slice_search(text, slice_str(b)) == SIZE_MAX)
        return b;
    for (unsigned i = 0;; i++) {
        const char *candidate = mem_printf(&s->p->mem, "(%s%u)", a, i);
        if (slice_search(text, slice_str(candidate)) == SIZE_MAX)
            return candidate;
    }
}

static void put_escaped(Sql *s, Slice text)
{
    bool lf = slice_find(text, '\n') < text.len, cr = slice_find(text, '\r') < text.len;
    if (!lf && !cr) {
        put_quoted(s, text);
        return;
    }
    const char *n = lf ? unused(s, text, "\\n", "\\012") : NULL, *r = cr ? unused(s, text, "\\r", "\\015") : NULL;
    if (lf)
        out_str(s->out, "replace(");
    if (cr)
        out_str(s->out, "replace(");
    out_char(s->out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == '\'')
            out_str(s->out, "''");
        else if (c == '\n')
            out_str(s->out, n);
        else if (c == '\r')
            out_str(s->out, r);
        else
            out_char(s->out, c);
    }
    out_char(s->out, '\'');
    if (cr)
        out_printf(s->out, ",'%s',char(13))", r);
    if (lf)
        out_printf(s->out, ",'%s',char(10))", n);
}

static void put_blob(Sql *s, Slice bytes)
{
    out_str(s->out, "X'");
    for (size_t i = 0; i < bytes.len; i++)
        out_printf(s->out, "%02x", (unsigned char)bytes.data[i]);
    out_char(s->out, '\'');
}

static const char *real_text(Sql *s, struct sqlite3_stmt *stmt, int i)
{
    char *text = mem_alloc(&s->p->mem, 64);
    s->api->format_real(50, text, s->api->column_double(stmt, i));
    if (s->show.mode == MODE_QUOTE)
        return text;
    return strcmp(text, "Inf") == 0 ? "1e999" : strcmp(text, "-Inf") == 0 ? "-1e999" : text;
}

void put_insert_value(Sql *s, struct sqlite3_stmt *stmt, int i, bool escape)
{
    switch (s->api->column_type(stmt, i)) {
    case TYPE_NULL: out_str(s->out, "NULL"); break;
    case TYPE_INTEGER: out_write(s->out, sql_text(s, stmt, i)); break;
    case TYPE_FLOAT: out_str(s->out, real_text(s, stmt, i)); break;
    case TYPE_BLOB: {
        const char *data = s->api->column_blob(stmt, i);
        put_blob(s, slice(data ? data : "", (size_t)s->api->column_bytes(stmt, i)));
        break;
    }
    default:
        if (escape)
            put_escaped(s, sql_text(s, stmt, i));
        else
            put_quoted(s, sql_text(s, stmt, i));
    }
}

void put_c_string(Sql *s, Slice text)
{
    out_char(s->out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '\\' || c == '"')
            out_printf(s->out, "\\%c", c);
        else if (c == '\t' || c == '\n' || c == '\r')
            out_str(s->out, c == '\t' ? "\\t" : c == '\n' ? "\\n" : "\\r");
        else if (c < ' ' || c == 127)
            out_printf(s->out, "\\%03o", c);
        else
            out_char(s->out, (char)c);
    }
    out_char(s->out, '"');
}

static void put_json_string(Sql *s, Slice text)
{
    static const char from[] = "\b\f\n\r\t", into[] = "bfnrt";
    out_char(s->out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        const char *at = c ? strchr(from, (char)c) : NULL;
        if (c == '\\' || c == '"')
            out_printf(s->out, "\\%c", c);
        else if (at)
            out_printf(s->out, "\\%c", into[at - from]);
        else if (c < ' ')
            out_printf(s->out, "\\u%04x", c);
        else
            out_char(s->out, (char)c);
    }
    out_char(s->out, '"');
}

static void put_html(Sql *s, Slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        const char *entity = c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : c == '\'' ? "&#39;" : NULL;
        if (entity)
            out_str(s->out, entity);
        else
            out_char(s->out, c);
    }
}

static void put_csv(Sql *s, Slice text, bool null, bool separator)
{
    bool quoting = text.len == 0;
    for (size_t i = 0; i < text.len && !quoting; i++) {
        unsigned char c = (unsigned char)text.data[i];
        quoting = c <= ' ' || c == '"' || c == '\'' || c >= 127;
    }
    quoting = quoting || slice_search(text, slice_str(s->show.column)) != SIZE_MAX;
    if (null || !quoting) {
        out_write(s->out, text);
    } else {
        out_char(s->out, '"');
        for (size_t i = 0; i < text.len; i++) {
            if (text.data[i] == '"')
                out_char(s->out, '"');
            out_char(s->out, text.data[i]);
        }
        out_char(s->out, '"');
    }
    if (separator)
        out_str(s->out, s->show.column);
}

static Slice value_text(Sql *s, struct sqlite3_stmt *stmt, int i, bool *null)
{
    *null = s->api->column_type(stmt, i) == TYPE_NULL;
    if (*null)
        return slice_str(s->show.null);
    Slice text = sql_text(s, stmt, i);
    return slice(text.data, strnlen(text.data, text.len)); /* these modes end at a NUL */
}

/* --- one row after the other --- */

static void head(Sql *s, struct sqlite3_stmt *stmt, int n)
{
    Show *w = &s->show;
    if (!w->header || w->mode == MODE_LINE || w->mode == MODE_JSON || w->mode == MODE_INSERT)
        return;
    for (int i = 0; i < n; i++) {
        Slice name = slice_str(s->api->column_name(stmt, i));
        bool last = i + 1 == n;
        if (w->mode == MODE_CSV) {
            put_csv(s, name, false, !last);
            continue;
        }
        if (w->mode == MODE_HTML) {
            out_str(s->out, i ? "<TH>" : "<TR><TH>");
            put_html(s, name);
            out_str(s->out, "</TH>\n");
            continue;
        }
        if (i)
            out_str(s->out, w->column);
        if (w->mode == MODE_QUOTE)
            put_quoted(s, name);
        else if (w->mode == MODE_TCL)
            put_c_string(s, name);
        else
            out_write(s->out, name);
    }
    out_str(s->out, w->mode == MODE_HTML ? "</TR>\n" : w->row);
}

static void line_row(Sql *s, struct sqlite3_stmt *stmt, int n, uint64_t row)
{
    int width = 5;
    for (int i = 0; i < n; i++)
        width = MAX(width, (int)strlen(s->api->column_name(stmt, i)));
    if (row)
        out_str(s->out, s->show.row);
    for (int i = 0; i < n; i++) {
        bool null;
        Slice text = value_text(s, stmt, i, &null);
        out_printf(s->out, "%*s = ", width, s->api->column_name(stmt, i));
        out_write(s->out, text);
        out_str(s->out, s->show.row);
    }
}

static void json_row(Sql *s, struct sqlite3_stmt *stmt, int n, uint64_t row)
{
    out_str(s->out, row ? ",\n{" : "[{");
    for (int i = 0; i < n; i++) {
        put_json_string(s, slice_str(s->api->column_name(stmt, i)));
        out_char(s->out, ':');
        int type = s->api->column_type(stmt, i);
        if (type == TYPE_NULL)
            out_str(s->out, "null");
        else if (type == TYPE_FLOAT)
            out_str(s->out, real_text(s, stmt, i));
        else if (type == TYPE_BLOB)
            put_json_string(s, slice(s->api->column_blob(stmt, i), (size_t)s->api->column_bytes(stmt, i)));
        else if (type == TYPE_TEXT)
            put_json_string(s, sql_text(s, stmt, i));
        else
            out_write(s->out, sql_text(s, stmt, i));
        if (i + 1 < n)
            out_char(s->out, ',');
    }
    out_char(s->out, '}');
}

static void insert_row(Sql *s, struct sqlite3_stmt *stmt, int n)
{
    out_printf(s->out, "INSERT INTO %s", s->show.table);
    if (s->show.header) {
        for (int i = 0; i < n; i++)
            out_printf(s->out, "%s%s", i ? "," : "(", quoted_name(s, s->api->column_name(stmt, i)));
        out_char(s->out, ')');
    }
    for (int i = 0; i < n; i++) {
        out_str(s->out, i ? "," : " VALUES(");
        put_insert_value(s, stmt, i, true);
    }
    out_str(s->out, ");\n");
}

static void plain_row(Sql *s, struct sqlite3_stmt *stmt, int n)
{
    Show *w = &s->show;
    for (int i = 0; i < n; i++) {
        bool null, last = i + 1 == n;
        if (w->mode == MODE_QUOTE) {
            if (i)
                out_str(s->out, w->column);
            put_insert_value(s, stmt, i, false);
            continue;
        }
        Slice text = value_text(s, stmt, i, &null);
        if (w->mode == MODE_CSV) {
            put_csv(s, text, null, !last);
        } else if (w->mode == MODE_HTML) {
            out_str(s->out, i ? "<TD>" : "<TR><TD>");
            put_html(s, text);
            out_str(s->out, "</TD>\n");
        } else {
            if (w->mode == MODE_TCL)
                put_c_string(s, text);
            else
                out_write(s->out, text);
            if (!last)
                out_str(s->out, w->column);
        }
    }
    out_str(s->out, w->mode == MODE_HTML ? "</TR>\n" : w->row);
}

const char *quoted_name(Sql *s, const char *name)
{
    bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || *name == '_';
    for (const char *c = name; *c && plain; c++)
        plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' || (*c >= '0' && *c <= '9');
    if (plain && !s->api->keyword(name, (int)strlen(name)))
        return name;
    Buf b;
    buf_init(&b, &s->p->mem, BUF_MAX);
    buf_char(&b, '"');
    for (; *name; name++) {
        if (*name == '"')
            buf_char(&b, '"');
        buf_char(&b, *name);
    }
    buf_char(&b, '"');
    return b.data;
}

/* --- whole tables --- */

typedef struct Cells {
    Slice *at; /* the header row first */
    size_t count, cap;
    int columns;
} Cells;

static Slice *add_cell(Sql *s, Cells *c)
{
    if (c->count == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 64;
        c->at = mem_grow(&s->p->mem, c->at, c->cap * sizeof(Slice), cap * sizeof(Slice));
        c->cap = cap;
    }
    return &c->at[c->count++];
}

/* What a cell shows: tabs spread, other control characters as ^X... the original keeps them; it only spreads tabs. */
static Slice display_text(Sql *s, struct sqlite3_stmt *stmt, int i)
{
    bool null;
    if (!s->show.quoted) {
        Slice text = value_text(s, stmt, i, &null);
        return slice(mem_copy(&s->p->mem, text), text.len);
    }
    Output *saved = s->out, scratch = {.proc = s->p, .fd = -1};
    size_t need = (size_t)s->api->column_bytes(stmt, i) * 2 + 64;
    scratch.cap = need;
    scratch.data = mem_alloc(&s->p->mem, need);
    s->out = &scratch;
    put_insert_value(s, stmt, i, false);
    s->out = saved;
    return slice(scratch.data, scratch.len);
}

static size_t columns_of(Slice text)
{
    return utf8_count(text);
}

/* The next line of a cell: up to a line end, or as wide as its column was told to be, or as `wrap` says. */
static Slice cell_line(const Show *w, int given, Slice *rest)
{
    int wrap = given ? (given < 0 ? -given : given) : w->wrap;
    size_t end = slice_find(*rest, '\n'), skip = end < rest->len;
    Slice line = slice(rest->data, end);
    if (wrap > 0 && utf8_count(line) > (size_t)wrap) {
        size_t n = utf8_offset(line, (size_t)wrap);
        if (w->word_wrap) {
            size_t k = n;
            while (k > n / 2 && line.data[k] != ' ' && line.data[k - 1] != ' ')
                k--;
            n = k > n / 2 ? k : n;
        }
        line = slice(line.data, n);
        skip = 0;
        end = n;
        if (w->word_wrap)
            while (end + skip < rest->len && rest->data[end + skip] == ' ')
                skip++;
    }
    *rest = slice_from(*rest, end + skip);
    if (line.len && line.data[line.len - 1] == '\r')
        line.len--;
    return line;
}

static bool many_lines(const Show *w, int given, Slice cell)
{
    cell_line(w, given, &cell);
    return cell.len > 0;
}

static void put_cell(Sql *s, Slice text, int width)
{
    size_t have = columns_of(text), want = (size_t)(width < 0 ? -width : width), pad = want > have ? want - have : 0;
    if (width < 0)
        out_pad(s->out, pad, ' ');
    out_write(s->out, text);
    if (width >= 0)
        out_pad(s->out, pad, ' ');
}

static void put_centered(Sql *s, Slice text, int width)
{
    size_t have = columns_of(text), want = (size_t)(width < 0 ? -width : width), pad = want > have ? want - have : 0;
    out_pad(s->out, pad / 2, ' ');
    out_write(s->out, text);
    out_pad(s->out, pad - pad / 2, ' ');
}

typedef struct Frame { const char *dash, *left, *middle, *right; } Frame;

static void rule(Sql *s, const int *widths, int n, Frame f)
{
    out_str(s->out, f.left);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < (widths[i] < 0 ? -widths[i] : widths[i]) + 2; k++)
            out_str(s->out, f.dash);
        out_str(s->out, i + 1 < n ? f.middle : f.right);
    }
    out_char(s->out, '\n');
}

static const Frame box_top = {"─", "┌", "┬", "┐"}, box_middle = {"─", "├", "┼", "┤"}, box_bottom = {"─", "└", "┴", "┘"};
static const Frame table_rule = {"-", "+", "+", "+"}, markdown_rule = {"-", "|", "|", "|"};

static void data_rows(Sql *s, const Cells *c, const int *widths, bool multi)
{
    Mode m = s->show.mode;
    int n = c->columns;
    const char *left = m == MODE_BOX ? "│ " : m == MODE_COLUMN ? "" : "| ", *middle = m == MODE_BOX ? " │ " : m == MODE_COLUMN ? "  " : " | ", *right = m == MODE_BOX ? " │\n" : m == MODE_COLUMN ? "\n" : " |\n";
    Slice *rest = mem_array(&s->p->mem, (size_t)n, Slice);
    for (size_t row = 1; row * (size_t)n < c->count; row++) {
        memcpy(rest, c->at + row * (size_t)n, (size_t)n * sizeof *rest);
        for (bool more = true; more;) {
            more = false;
            out_str(s->out, left);
            for (int i = 0; i < n; i++) {
                put_cell(s, cell_line(&s->show, (size_t)i < s->width_count ? s->widths[i] : 0, &rest[i]), widths[i]);
                out_str(s->out, i + 1 < n ? middle : right);
                more |= rest[i].len > 0;
            }
        }
        if (multi && (row + 1) * (size_t)n < c->count) {
            if (m == MODE_BOX)
                rule(s, widths, n, box_middle);
            else if (m == MODE_TABLE)
                rule(s, widths, n, table_rule);
            else if (m == MODE_COLUMN)
                out_char(s->out, '\n');
        }
        proc_tick(s->p, 1);
    }
}

static void show_table(Sql *s, const Cells *c)
{
    Mode m = s->show.mode;
    int n = c->columns, *widths = mem_array(&s->p->mem, (size_t)n, int);
    bool multi = false;
    for (int i = 0; i < n; i++) {
        int given = (size_t)i < s->width_count ? s->widths[i] : 0, width = given < 0 ? -given : given;
        bool header = m != MODE_COLUMN || s->show.header;
        for (size_t k = header ? 0 : 1; k * (size_t)n < c->count; k++) {
            Slice rest = c->at[k * (size_t)n + (size_t)i];
            multi |= k && many_lines(&s->show, given, rest);
            do {
                Slice line = cell_line(&s->show, given, &rest);
                width = MAX(width, (int)columns_of(line));
            } while (rest.len);
        }
        widths[i] = given < 0 ? -width : width;
    }
    if (m == MODE_COLUMN && s->show.header) {
        for (int i = 0; i < n; i++) {
            put_cell(s, c->at[i], widths[i]);
            out_str(s->out, i + 1 < n ? "  " : "\n");
        }
        for (int i = 0; i < n; i++) {
            out_pad(s->out, (size_t)(widths[i] < 0 ? -widths[i] : widths[i]), '-');
            out_str(s->out, i + 1 < n ? "  " : "\n");
        }
    } else if (m != MODE_COLUMN) {
        if (m != MODE_MARKDOWN)
            rule(s, widths, n, m == MODE_BOX ? box_top : table_rule);
        out_str(s->out, m == MODE_BOX ? "│ " : "| ");
        for (int i = 0; i < n; i++) {
            put_centered(s, c->at[i], widths[i]);
            out_str(s->out, i + 1 < n ? (m == MODE_BOX ? " │ " : " | ") : (m == MODE_BOX ? " │\n" : " |\n"));
        }
        rule(s, widths, n, m == MODE_BOX ? box_middle : m == MODE_TABLE ? table_rule : markdown_rule);
    }
    data_rows(s, c, widths, multi);
    if (m == MODE_BOX || m == MODE_TABLE)
        rule(s, widths, n, m == MODE_BOX ? box_bottom : table_rule);
}

static int columnar(Sql *s, struct sqlite3_stmt *stmt, int code)
{
    Cells c = {.columns = s->api->column_count(stmt)};
    if (code != SQL_ROW)
        return code;
    for (int i = 0; i < c.columns; i++) {
        Slice name = slice_str(s->api->column_name(stmt, i));
        *add_cell(s, &c) = slice(mem_copy(&s->p->mem, name), name.len);
    }
    for (; code == SQL_ROW; code = sql_step(s, stmt))
        for (int i = 0; i < c.columns; i++)
            *add_cell(s, &c) = display_text(s, stmt, i);
    show_table(s, &c);
    return code;
}

static const int explain_widths[] = {4, 13, 4, 4, 4, 13, 2, 13};

static int explain_rows(Sql *s, struct sqlite3_stmt *stmt, int code)
{
    int n = s->api->column_count(stmt);
    for (uint64_t row = 0; code == SQL_ROW; code = sql_step(s, stmt), row++) {
        if (!row) {
            for (int i = 0; i < n && i < 8; i++)
                out_printf(s->out, "%-*s%s", explain_widths[i], s->api->column_name(stmt, i), i + 1 < n ? "  " : "\n");
            for (int i = 0; i < n && i < 8; i++) {
                out_pad(s->out, (size_t)explain_widths[i], '-');
                out_str(s->out, i + 1 < n ? "  " : "\n");
            }
        }
        for (int i = 0; i < n && i < 8; i++) {
            bool null;
            Slice text = value_text(s, stmt, i, &null);
            if (i + 1 == n) {
                out_write(s->out, text);
                out_char(s->out, '\n');
            } else {
                put_cell(s, text, explain_widths[i]);
                out_str(s->out, "  ");
            }
        }
    }
    return code;
}

/* EXPLAIN QUERY PLAN's rows (id, parent, unused, detail) as a tree. */
typedef struct Plan { int64_t id, parent; const char *detail; } Plan;

static void plan_level(Sql *s, const Plan *plans, size_t n, int64_t parent, char *prefix, size_t depth)
{
    size_t last = n;
    for (size_t i = 0; i < n; i++)
        if (plans[i].parent == parent)
            last = i;
    for (size_t i = 0; i < n && depth < 90; i++) {
        if (plans[i].parent != parent)
            continue;
        out_printf(s->out, "%.*s%s%s\n", (int)depth, prefix, i == last ? "`--" : "|--", plans[i].detail);
        memcpy(prefix + depth, i == last ? "   " : "|  ", 3);
        if (plans[i].id != parent)
            plan_level(s, plans, n, plans[i].id, prefix, depth + 3);
    }
}

static int plan_rows(Sql *s, struct sqlite3_stmt *stmt, int code)
{
    Plan *plans = NULL;
    size_t n = 0, cap = 0;
    char prefix[100];
    for (; code == SQL_ROW; code = sql_step(s, stmt)) {
        if (n == cap) {
            plans = mem_grow(&s->p->mem, plans, cap * sizeof *plans, (cap * 2 + 16) * sizeof *plans);
            cap = cap * 2 + 16;
        }
        parse_int(sql_text(s, stmt, 0).data, &plans[n].id);
        parse_int(sql_text(s, stmt, 1).data, &plans[n].parent);
        plans[n++].detail = mem_copy(&s->p->mem, sql_text(s, stmt, 3));
    }
    if (n)
        out_str(s->out, "QUERY PLAN\n");
    plan_level(s, plans, n, 0, prefix, 0);
    return code;
}

int show_rows(Sql *s, struct sqlite3_stmt *stmt)
{
    int kind = s->api->is_explain(stmt), code = sql_step(s, stmt), n = s->api->column_count(stmt);
    if (kind == 2 && s->explain != 0)
        return plan_rows(s, stmt, code);
    if (kind == 1 && s->explain != 0)
        return explain_rows(s, stmt, code);
    if (is_columnar(s->show.mode))
        return columnar(s, stmt, code);
    uint64_t rows = 0;
    for (; code == SQL_ROW; code = sql_step(s, stmt), rows++) {
        MemMark mark = mem_mark(&s->p->mem);
        if (rows == 0)
            head(s, stmt, n);
        if (s->show.mode == MODE_LINE)
            line_row(s, stmt, n, rows);
        else if (s->show.mode == MODE_JSON)
            json_row(s, stmt, n, rows);
        else if (s->show.mode == MODE_INSERT)
            insert_row(s, stmt, n);
        else
            plain_row(s, stmt, n);
        mem_reset(&s->p->mem, mark);
    }
    if (rows && s->show.mode == MODE_JSON)
        out_str(s->out, "]\n");
    return code;
}
