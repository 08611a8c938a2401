/* dump: a database as SQL, tables out of text files, and a copy made row by row. */
#include "data/sqlite3/sqlite3.h"

/* --- .dump --- */

typedef struct Dump {
    const char *like;  /* LIKE pattern, or NULL */
    bool preserve_rowids, newlines, data_only, no_sys;
    int errors;
} Dump;

static void insert_rows(Sql *s, Dump *d, const char *table)
{
    struct sqlite3_stmt *stmt;
    const char *quoted = quoted_name(s, table);
    if (sql_prepare(s, mem_printf(&s->p->mem, "SELECT * FROM %s", quoted), &stmt, NULL)) {
        out_printf(s->out, "/**** ERROR: (%d) %s *****/\n", 1, s->api->message(s->db));
        d->errors++;
        return;
    }
    int n = s->api->column_count(stmt), code;
    while ((code = sql_step(s, stmt)) == SQL_ROW) {
        MemMark mark = mem_mark(&s->p->mem);
        out_printf(s->out, "INSERT INTO %s VALUES(", quoted);
        for (int i = 0; i < n; i++) {
            if (i)
                out_char(s->out, ',');
            put_insert_value(s, stmt, i, !d->newlines);
        }
        out_str(s->out, ");\n");
        mem_reset(&s->p->mem, mark);
    }
    if (code != SQL_DONE) {
        out_printf(s->out, "/****** CORRUPTION ERROR *******/\n/****** %s ******/\n", s->api->message(s->db));
        d->errors++;
    }
    s->api->finalize(s->session, stmt);
}

static void dump_object(Sql *s, void *arg, struct sqlite3_stmt *stmt)
{
    Dump *d = arg;
    const char *name = mem_copy(&s->p->mem, sql_text(s, stmt, 0)), *type = mem_copy(&s->p->mem, sql_text(s, stmt, 1)), *sql = mem_copy(&s->p->mem, sql_text(s, stmt, 2));
    if (strcmp(name, "sqlite_sequence") == 0) {
        if (!d->data_only)
            out_str(s->out, "DELETE FROM sqlite_sequence;\n");
    } else if (strncmp(name, "sqlite_stat", 11) == 0) {
        if (!d->data_only)
            out_str(s->out, "ANALYZE sqlite_schema;\n");
    } else if (strncmp(name, "sqlite_", 7) == 0) {
        return;
    } else if (!d->data_only) {
        if (strncmp(sql, "CREATE TABLE ", 13) == 0 && (sql[13] == '\'' || sql[13] == '"'))
            out_printf(s->out, "CREATE TABLE IF NOT EXISTS %s;\n", sql + 13);
        else
            out_printf(s->out, "%s;\n", sql);
    }
    if (strcmp(type, "table") == 0)
        insert_rows(s, d, name);
}

static void dump_sql(Sql *s, void *arg, struct sqlite3_stmt *stmt)
{
    (void)arg;
    out_write(s->out, sql_text(s, stmt, 0));
    out_str(s->out, ";\n");
}

static const char *quoted_text(Sql *s, const char *text)
{
    Buf b;
    buf_init(&b, &s->p->mem, BUF_MAX);
    for (; *text; text++) {
        if (*text == '\'')
            buf_char(&b, '\'');
        buf_char(&b, *text);
    }
    return b.data ? b.data : "";
}

int dot_dump(Sql *s, int argc, char **argv)
{
    Dump d = {0};
    Buf where;
    buf_init(&where, &s->p->mem, 1 << 20);
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (*a == '-') {
            a += a[1] == '-' ? 2 : 1;
            if (strcmp(a, "newlines") == 0)
                d.newlines = true;
            else if (strcmp(a, "data-only") == 0)
                d.data_only = true;
            else if (strcmp(a, "preserve-rowids") == 0 || strcmp(a, "nosys") == 0)
                d.no_sys = true;
            else {
                sql_say(s, "Unknown option \"%s\" on \".dump\"\n", argv[i]);
                return 1;
            }
            continue;
        }
        buf_printf(&where, "%sname LIKE '%s' ESCAPE '\\'", where.len ? " OR " : "", quoted_text(s, a));
    }
    const char *like = where.len ? where.data : "true";
    sql_open(s, s->name, true);
    if (!d.data_only)
        out_str(s->out, "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n");
    Mem *m = &s->p->mem;
    int code = sql_each(s, mem_printf(m, "SELECT name, type, sql FROM sqlite_schema AS o WHERE (%s) AND type=='table' AND sql NOT NULL ORDER BY tbl_name='sqlite_sequence', rowid", like), dump_object, &d);
    if (!code && !d.data_only)
        code = sql_each(s, mem_printf(m, "SELECT sql FROM sqlite_schema AS o WHERE (%s) AND sql NOT NULL AND type IN ('index','trigger','view')", like), dump_sql, NULL);
    if (code) {
        sql_say(s, "Error: %s\n", s->api->message(s->db));
        d.errors++;
    }
    if (!d.data_only)
        out_str(s->out, d.errors ? "ROLLBACK; -- due to errors\n" : "COMMIT;\n");
    return 0;
}

/* --- .import --- */

typedef struct Import {
    Sql *s;
    Input in;
    const char *file;
    uint64_t line, errors, rows;
    Slice window;
    bool ended, csv, not_first;
    char column, row, term; /* term: what ended the last field; 0 at the end */
    Buf field;
} Import;

enum { END = -1 };

static int next_char(Import *m)
{
    while (!m->window.len && !m->ended)
        m->ended = !input_chunk(&m->in, &m->window);
    if (!m->window.len)
        return END;
    char c = m->window.data[0];
    m->window = slice_from(m->window, 1);
    return (unsigned char)c;
}

/* The next field; false at the end of the file. `term` is the separator behind it, or 0. */
static bool read_csv(Import *m)
{
    buf_clear(&m->field);
    int c = next_char(m);
    if (c == END) {
        m->term = 0;
        return false;
    }
    if (c == '"') {
        int before = 0, before2 = 0;
        uint64_t start = m->line;
        for (;;) {
            c = next_char(m);
            if (c == '\n')
                m->line++;
            if (c == '"' && before == '"') {
                before = 0;
                continue;
            }
            bool row = c == m->row && (before == '"' || (before == '\r' && before2 == '"'));
            if ((c == m->column && before == '"') || row || (c == END && before == '"')) {
                do
                    m->field.len--;
                while (m->field.data[m->field.len] != '"');
                m->field.data[m->field.len] = 0;
                m->term = c == END ? 0 : (char)c;
                break;
            }
            if (before == '"' && c != '\r')
                sql_say(m->s, "%s:%llu: unescaped %c character\n", m->file, (unsigned long long)m->line, '"');
            if (c == END) {
                sql_say(m->s, "%s:%llu: unterminated %c-quoted field\n", m->file, (unsigned long long)start, '"');
                m->term = 0;
                break;
            }
            buf_char(&m->field, (char)c);
            before2 = before;
            before = c;
        }
        return true;
    }
    if (c == 0xef && !m->not_first) { /* a byte order mark */
        int d = next_char(m), e = next_char(m);
        if (d != 0xbb || e != 0xbf) {
            buf_char(&m->field, (char)c);
            if (d != END)
                buf_char(&m->field, (char)d);
            if (e != END)
                buf_char(&m->field, (char)e);
        }
        m->not_first = true;
        c = next_char(m);
    }
    while (c != END && c != (unsigned char)m->column && c != (unsigned char)m->row) {
        buf_char(&m->field, (char)c);
        c = next_char(m);
    }
    if (c == (unsigned char)m->row) {
        m->line++;
        if (m->csv && m->field.len && m->field.data[m->field.len - 1] == '\r')
            m->field.data[--m->field.len] = 0;
    }
    m->term = c == END ? 0 : (char)c;
    m->not_first = true;
    return true;
}

static bool read_ascii(Import *m)
{
    buf_clear(&m->field);
    int c = next_char(m);
    if (c == END) {
        m->term = 0;
        return false;
    }
    for (; c != END && c != (unsigned char)m->column && c != (unsigned char)m->row; c = next_char(m))
        buf_char(&m->field, (char)c);
    m->line += c == (unsigned char)m->row;
    m->term = c == END ? 0 : (char)c;
    return true;
}

static bool read_field(Import *m) { return m->csv ? read_csv(m) : read_ascii(m); }

static const char *field_text(const Import *m) { return m->field.data ? m->field.data : ""; }

/* The first row names the columns. */
static int create_table(Import *m, const char *table)
{
    Sql *s = m->s;
    Buf sql;
    buf_init(&sql, &s->p->mem, 1 << 20);
    buf_printf(&sql, "CREATE TABLE \"%s\"", table);
    char separator = '(';
    bool any = false;
    while (read_field(m)) {
        buf_printf(&sql, "%c\n\"%s\" TEXT", separator, field_text(m));
        separator = ',';
        any = true;
        if (m->term != m->column)
            break;
    }
    if (!any) {
        sql_say(s, "%s: empty file\n", m->file);
        return 1;
    }
    if (separator == ',')
        for (char *c = sql.data; (c = strstr(c, ",\n\"")); c += 3)
            c[1] = ' ';
    buf_printf(&sql, ")");
    if (sql_each(s, sql.data, NULL, NULL)) {
        sql_say(s, "%s failed:\n%s\n", sql.data, s->api->message(s->db));
        return 1;
    }
    return 0;
}

static void import_row(Import *m, struct sqlite3_stmt *stmt, int columns)
{
    Sql *s = m->s;
    uint64_t start = m->line;
    int i = 0;
    for (; i < columns; i++) {
        bool got = read_field(m);
        if (!got && i == 0)
            return;
        if (!m->csv && !got && i == 0)
            return;
        s->api->bind_text(stmt, i + 1, field_text(m), (int)m->field.len);
        if (i < columns - 1 && m->term != m->column) {
            sql_say(s, "%s:%llu: expected %d columns but found %d - filling the rest with NULL\n", m->file, (unsigned long long)start, columns, i + 1);
            for (i += 2; i <= columns; i++)
                s->api->bind_text(stmt, i, NULL, 0);
            i = columns;
            break;
        }
    }
    if (m->term == m->column) {
        do {
            read_field(m);
            i++;
        } while (m->term == m->column);
        sql_say(s, "%s:%llu: expected %d columns but found %d - extras ignored\n", m->file, (unsigned long long)start, columns, i);
    }
    int code = sql_step(s, stmt);
    s->api->reset(stmt);
    m->rows++;
    if (code != SQL_DONE) {
        sql_say(s, "%s:%llu: INSERT failed: %s\n", m->file, (unsigned long long)start, s->api->message(s->db));
        m->errors++;
        m->rows--;
    }
}

static int import_rows(Import *m, const char *table)
{
    Sql *s = m->s;
    struct sqlite3_stmt *stmt = NULL;
    Mem *mem = &s->p->mem;
    const char *select = mem_printf(mem, "SELECT * FROM \"%s\"", table);
    int code = sql_prepare(s, select, &stmt, NULL);
    if (code && strstr(s->api->message(s->db), "no such table: ")) {
        if (create_table(m, table))
            return 1;
        code = sql_prepare(s, select, &stmt, NULL);
    }
    if (code) {
        sql_say(s, "Error: %s\n", s->api->message(s->db));
        return 1;
    }
    int columns = s->api->column_count(stmt);
    s->api->finalize(s->session, stmt);
    if (columns == 0)
        return 0;
    Buf sql;
    buf_init(&sql, mem, 1 << 20);
    buf_printf(&sql, "INSERT INTO \"%s\" VALUES(?", table);
    for (int i = 1; i < columns; i++)
        buf_printf(&sql, ",?");
    buf_char(&sql, ')');
    if (sql_prepare(s, sql.data, &stmt, NULL)) {
        sql_say(s, "Error: %s\n", s->api->message(s->db));
        return 1;
    }
    bool whole = s->api->autocommit(s->db);
    if (whole)
        sql_each(s, "BEGIN", NULL, NULL);
    do {
        MemMark mark = mem_mark(mem);
        import_row(m, stmt, columns);
        mem_reset(mem, mark);
    } while (m->term);
    s->api->finalize(s->session, stmt);
    if (whole)
        sql_each(s, "COMMIT", NULL, NULL);
    return 0;
}

int dot_import(Sql *s, int argc, char **argv)
{
    const char *file = NULL, *table = NULL;
    int64_t skip = 0;
    Import *m = mem_new(&s->p->keep, Import);
    *m = (Import){.s = s, .csv = s->show.mode != MODE_ASCII, .line = 1};
    const char *column = s->show.column, *row = s->show.row;
    bool csv_given = false;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (a[0] == '-' && a[1] == '-')
            a++;
        if (*a != '-' && !file)
            file = a;
        else if (*a != '-' && !table)
            table = a;
        else if (strcmp(a, "-csv") == 0)
            csv_given = true;
        else if (strcmp(a, "-ascii") == 0) {
            m->csv = false;
            column = "\x1f";
            row = "\x1e";
        } else if (strcmp(a, "-skip") == 0 && i + 1 < argc)
            parse_int(argv[++i], &skip);
        else if (strcmp(a, "-v") != 0) {
            sql_say(s, *a == '-' ? "ERROR: unknown option: \"%s\".  Usage:\n" : "ERROR: extra argument: \"%s\".  Usage:\n", argv[i]);
            return 1;
        }
    }
    if (!table) {
        sql_say(s, "ERROR: missing %s argument. Usage:\n", file ? "TABLE" : "FILE");
        return 1;
    }
    if (csv_given || s->show.mode == MODE_CSV) {
        column = ",";
        row = "\n";
    }
    if (strcmp(s->show.row, "\r\n") == 0)
        s->show.row = "\n"; /* for good: so the original does */
    if (strcmp(row, "\r\n") == 0)
        row = "\n";
    if (strlen(column) != 1 || strlen(row) != 1) {
        sql_say(s, "Error: %s\n", strlen(column) != 1 ? "multi-character column separators not allowed for import" : "multi-character row separators not allowed for import");
        return 1;
    }
    m->column = column[0];
    m->row = row[0];
    if (*file == '|') {
        sql_say(s, "Error: pipes are not supported in this OS\n");
        return 1;
    }
    int fd = proc_open(s->p, file, V_READ, 0);
    if (fd < 0) {
        sql_say(s, "Error: cannot open \"%s\"\n", file);
        return 1;
    }
    m->file = mem_strdup(&s->p->keep, file);
    m->in = input_fd(s->p, fd, m->file);
    buf_init(&m->field, &s->p->keep, BUF_MAX);
    sql_open(s, s->name, true);
    for (; skip > 0; skip--)
        while (read_field(m) && m->term == m->column) {
        }
    int r = import_rows(m, table);
    proc_close(s->p, fd);
    sql_sync(s);
    return r;
}

/* --- .clone --- */

typedef struct Clone {
    struct sqlite3 *to;
    bool rows;
} Clone;

static void run_in(Sql *s, struct sqlite3 *db, const char *sql)
{
    struct sqlite3_stmt *stmt;
    if (s->api->prepare(s->session, db, sql, -1, &stmt, NULL)) {
        sql_say(s, "Error: %s\nSQL: [%s]\n", s->api->message(db), sql);
        return;
    }
    if (stmt) {
        sql_step(s, stmt);
        s->api->finalize(s->session, stmt);
    }
}

void clone_rows(Sql *s, struct sqlite3 *to, const char *table)
{
    struct sqlite3_stmt *from, *into;
    Mem *m = &s->p->mem;
    const char *q = quoted_name(s, table);
    if (sql_prepare(s, mem_printf(m, "SELECT * FROM %s", q), &from, NULL))
        return;
    int n = s->api->column_count(from);
    Buf sql;
    buf_init(&sql, m, 1 << 20);
    buf_printf(&sql, "INSERT OR IGNORE INTO %s VALUES(?", q);
    for (int i = 1; i < n; i++)
        buf_printf(&sql, ",?");
    buf_char(&sql, ')');
    if (s->api->prepare(s->session, to, sql.data, -1, &into, NULL) == 0) {
        while (sql_step(s, from) == SQL_ROW) {
            for (int i = 0; i < n; i++)
                s->api->bind_value(into, i + 1, from, i);
            s->api->step(into);
            s->api->reset(into);
        }
        s->api->finalize(s->session, into);
    }
    s->api->finalize(s->session, from);
}

static void clone_object(Sql *s, void *arg, struct sqlite3_stmt *stmt)
{
    Clone *c = arg;
    const char *name = mem_copy(&s->p->mem, sql_text(s, stmt, 0)), *sql = mem_copy(&s->p->mem, sql_text(s, stmt, 1));
    out_printf(s->out, "%s... ", name);
    run_in(s, c->to, sql);
    if (c->rows)
        clone_rows(s, c->to, name);
    out_str(s->out, "done\n");
}

int dot_clone(Sql *s, const char *name)
{
    VStat st;
    Clone c = {NULL, true};
    if (proc_stat(s->p, name, 0, &st) == 0) {
        sql_say(s, "File \"%s\" already exists.\n", name);
        return 0;
    }
    if (sql_connect(s, name, false, &c.to)) {
        sql_say(s, "Cannot create output database: %s\n", c.to ? s->api->message(c.to) : "out of memory");
        return 0;
    }
    run_in(s, c.to, "BEGIN EXCLUSIVE;");
    sql_each(s, "SELECT name, sql FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite_%'", clone_object, &c);
    c.rows = false;
    sql_each(s, "SELECT name, sql FROM sqlite_schema WHERE type!='table' AND sql NOT NULL", clone_object, &c);
    run_in(s, c.to, "COMMIT;");
    s->api->close(s->session, c.to);
    sql_sync(s);
    return 0;
}
