/* dot: the commands that begin with a dot. */
#include "data/sqlite3/sqlite3.h"

enum { ARGS_MOST = 52 };

typedef int DotMain(Sql *s, int argc, char **argv);

static bool prefix_of(const char *word, const char *name, size_t least) { return strlen(word) >= least && strncmp(word, name, strlen(word)) == 0; }

/* on, off, yes, no, a number. */
static bool truth(Sql *s, const char *text)
{
    int64_t n;
    if (parse_int(text, &n) == 0)
        return n != 0;
    if (strcasecmp(text, "on") == 0 || strcasecmp(text, "yes") == 0)
        return true;
    if (strcasecmp(text, "off") != 0 && strcasecmp(text, "no") != 0)
        sql_say(s, "ERROR: Not a boolean value: \"%s\". Assuming \"no\".\n", text);
    return false;
}

static int usage(Sql *s, const char *text)
{
    sql_say(s, "Usage: %s\n", text);
    return 1;
}

static void ensure(Sql *s) { sql_open(s, s->name, true); }

static int sql_trouble(Sql *s, int code)
{
    if (!code)
        return 0;
    sql_say(s, "Error: %s\n", s->api->message(s->db));
    return 1;
}

/* --- settings --- */

static int on_off(Sql *s, int argc, char **argv, bool *flag, const char *text)
{
    if (argc != 2)
        return usage(s, text);
    *flag = truth(s, argv[1]);
    return 0;
}

static int dot_bail(Sql *s, int argc, char **argv) { return on_off(s, argc, argv, &s->bail, ".bail on|off"); }
static int dot_echo(Sql *s, int argc, char **argv) { return on_off(s, argc, argv, &s->echo, ".echo on|off"); }
static int dot_changes(Sql *s, int argc, char **argv) { return on_off(s, argc, argv, &s->changes, ".changes on|off"); }
static int dot_timer(Sql *s, int argc, char **argv) { return on_off(s, argc, argv, &s->timer, ".timer on|off"); }

static int dot_headers(Sql *s, int argc, char **argv)
{
    int r = on_off(s, argc, argv, &s->show.header, ".headers on|off");
    if (!r)
        s->show.header_set = true;
    return r;
}

static int dot_eqp(Sql *s, int argc, char **argv)
{
    if (argc != 2)
        return usage(s, ".eqp off|on|trace|trigger|full");
    s->eqp = strcmp(argv[1], "full") == 0 || truth(s, argv[1]);
    return 0;
}

static int dot_explain(Sql *s, int argc, char **argv)
{
    s->explain = argc < 2 ? 1 : strcmp(argv[1], "auto") == 0 ? 2 : truth(s, argv[1]);
    return 0;
}

static int dot_nullvalue(Sql *s, int argc, char **argv)
{
    if (argc != 2)
        return usage(s, ".nullvalue STRING");
    s->show.null = mem_strdup(&s->p->keep, argv[1]);
    return 0;
}

static int dot_separator(Sql *s, int argc, char **argv)
{
    if (argc < 2 || argc > 3)
        return usage(s, ".separator COL ?ROW?");
    s->show.column = mem_strdup(&s->p->keep, argv[1]);
    if (argc == 3)
        s->show.row = mem_strdup(&s->p->keep, argv[2]);
    return 0;
}

static int dot_width(Sql *s, int argc, char **argv)
{
    s->width_count = 0;
    for (int i = 1; i < argc && s->width_count < WIDTHS_MOST; i++) {
        int64_t n = 0;
        parse_int(argv[i], &n);
        s->widths[s->width_count++] = (int)MAX(MIN(n, (int64_t)10000), (int64_t)-10000);
    }
    return 0;
}

static bool columnar(Mode m) { return m == MODE_COLUMN || m == MODE_TABLE || m == MODE_BOX || m == MODE_MARKDOWN; }

static void mode_line(Sql *s, const char *lead)
{
    const Show *w = &s->show;
    if (columnar(w->mode))
        out_printf(s->out, "%s%s --wrap %d --wordwrap %s --%squote\n", lead, mode_name(w->mode), w->wrap, w->word_wrap ? "on" : "off", w->quoted ? "" : "no");
    else
        out_printf(s->out, "%s%s\n", lead, mode_name(w->mode));
}

static int dot_mode(Sql *s, int argc, char **argv)
{
    const char *mode = NULL, *table = NULL;
    bool quoted = false, word_wrap = false;
    int wrap = 60;
    for (int i = 1; i < argc; i++) {
        char *a = argv[i];
        while (a[0] == '-' && a[1] == '-')
            a++;
        if (*a == '-' && (strcmp(a, "-wrap") == 0 || strcmp(a, "-ww") == 0 || strcmp(a, "-wordwrap") == 0)) {
            int64_t n = 60;
            if (strcmp(a, "-ww") == 0)
                word_wrap = true;
            else if (i + 1 < argc && strcmp(a, "-wrap") == 0)
                parse_int(argv[++i], &n);
            else if (i + 1 < argc)
                word_wrap = truth(s, argv[++i]);
            if (strcmp(a, "-wordwrap") != 0)
                wrap = (int)MAX(MIN(n, (int64_t)100000), (int64_t)0);
        } else if (strcmp(a, "-quote") == 0 || strcmp(a, "-noquote") == 0) {
            quoted = a[1] == 'q';
        } else if (!mode) {
            mode = a;
        } else if (!table) {
            table = a;
        } else {
            sql_say(s, "extra argument: \"%s\"\n", a);
            return 1;
        }
    }
    if (!mode) {
        Show given = s->show;
        given.quoted = quoted;
        given.word_wrap = word_wrap;
        given.wrap = wrap;
        if (argc > 1)
            s->show.quoted = s->show.word_wrap = false;
        mode_line(s, "current output mode: ");
        if (argc > 1)
            s->show = given;
        return 0;
    }
    if (!mode_set(s, mode)) {
        sql_say(s, "Error: mode should be one of: ascii box column csv html insert json line list markdown qbox quote table tabs tcl\n");
        return 1;
    }
    if (s->show.mode == MODE_INSERT)
        s->show.table = mem_strdup(&s->p->keep, quoted_name(s, table ? table : "table"));
    s->show.quoted |= quoted;
    if (columnar(s->show.mode)) {
        s->show.word_wrap = word_wrap;
        s->show.wrap = wrap;
    }
    return 0;
}

static void show_string(Sql *s, const char *label, const char *text)
{
    out_printf(s->out, "%12s: ", label);
    put_c_string(s, slice_str(text));
    out_char(s->out, '\n');
}

static int dot_show(Sql *s, int argc, char **argv)
{
    static const char *const switches[] = {"off", "on", "auto"};
    (void)argv;
    if (argc != 1)
        return usage(s, ".show");
    out_printf(s->out, "%12s: %s\n", "echo", switches[s->echo]);
    out_printf(s->out, "%12s: %s\n", "eqp", switches[s->eqp]);
    out_printf(s->out, "%12s: %s\n", "explain", switches[s->explain]);
    out_printf(s->out, "%12s: %s\n", "headers", switches[s->show.header]);
    mode_line(s, "        mode: ");
    show_string(s, "nullvalue", s->show.null);
    out_printf(s->out, "%12s: %s\n", "output", s->out_name);
    show_string(s, "colseparator", s->show.column);
    show_string(s, "rowseparator", s->show.row);
    out_printf(s->out, "%12s: %s\n", "stats", switches[s->stats]);
    out_printf(s->out, "%12s: ", "width");
    for (size_t i = 0; i < s->width_count; i++)
        out_printf(s->out, "%d ", s->widths[i]);
    out_printf(s->out, "\n%12s: %s\n", "filename", s->name);
    return 0;
}

static int dot_print(Sql *s, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        out_printf(s->out, "%s%s", i > 1 ? " " : "", argv[i]);
    out_char(s->out, '\n');
    return 0;
}

/* --- what is in the database --- */

/* A view's columns, as a comment behind its text. */
static const char *view_columns(Sql *s, struct sqlite3_stmt *stmt)
{
    struct sqlite3_stmt *view;
    Buf b;
    if (!slice_is(sql_text(s, stmt, 1), "view"))
        return "";
    const char *name = quoted_name(s, mem_copy(&s->p->mem, sql_text(s, stmt, 2)));
    if (sql_prepare(s, mem_printf(&s->p->mem, "SELECT * FROM %s", name), &view, NULL))
        return "";
    buf_init(&b, &s->p->mem, 1 << 16);
    buf_printf(&b, "\n/* %s(", name);
    for (int i = 0; i < s->api->column_count(view); i++)
        buf_printf(&b, "%s%s", i ? "," : "", quoted_name(s, s->api->column_name(view, i)));
    buf_printf(&b, ") */");
    s->api->finalize(s->session, view);
    return b.data ? b.data : "";
}

static void print_schema(Sql *s, void *arg, struct sqlite3_stmt *stmt)
{
    (void)arg;
    const char *text = mem_copy(&s->p->mem, sql_text(s, stmt, 0));
    if (strncmp(text, "CREATE TABLE ", 13) == 0 && (text[13] == '\'' || text[13] == '"'))
        out_printf(s->out, "CREATE TABLE IF NOT EXISTS %s;\n", text + 13);
    else
        out_printf(s->out, "%s%s;\n", text, view_columns(s, stmt));
}

static const char *literal(Sql *s, const char *text)
{
    Buf b;
    buf_init(&b, &s->p->mem, BUF_MAX);
    buf_char(&b, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            buf_char(&b, '\'');
        buf_char(&b, *text);
    }
    buf_char(&b, '\'');
    return b.data;
}

static void collect(Sql *s, void *arg, struct sqlite3_stmt *stmt)
{
    Buf *b = arg;
    buf_append(b, sql_text(s, stmt, 1));
    buf_char(b, 0);
}

/* Names of the attached databases, each ended by a NUL. */
static Buf schemas(Sql *s)
{
    Buf b;
    buf_init(&b, &s->p->mem, 1 << 20);
    sql_each(s, "PRAGMA database_list", collect, &b);
    return b;
}

static const char *all_schemas(Sql *s, bool with_temp)
{
    Buf names = schemas(s), q;
    buf_init(&q, &s->p->mem, 1 << 20);
    int n = 0;
    for (size_t i = 0; i < names.len; i += strlen(names.data + i) + 1, n++) {
        const char *name = names.data + i;
        bool main = strcmp(name, "main") == 0;
        if (!with_temp && strcmp(name, "temp") == 0)
            continue;
        buf_printf(&q, "%sSELECT sql, type, tbl_name, name, rowid AS r, %d AS snum, %s AS sname FROM %s.sqlite_schema", q.len ? " UNION ALL " : "", n, literal(s, main ? "main" : name), quoted_name(s, name));
    }
    return q.data ? q.data : "";
}

static int dot_schema(Sql *s, int argc, char **argv)
{
    const char *pattern = NULL;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-')
            continue;
        if (pattern)
            return usage(s, ".schema ?--indent? ?--nosys? ?LIKE-PATTERN?");
        pattern = argv[i];
    }
    ensure(s);
    if (pattern && (strcasecmp(pattern, "sqlite_schema") == 0 || strcasecmp(pattern, "sqlite_master") == 0)) {
        out_printf(s->out, "CREATE TABLE %s (\n  type text,\n  name text,\n  tbl_name text,\n  rootpage integer,\n  sql text\n);\n", pattern);
        return 0;
    }
    Buf q;
    buf_init(&q, &s->p->mem, 1 << 20);
    buf_printf(&q, "SELECT sql, type, name FROM (%s) WHERE ", all_schemas(s, true));
    if (pattern) {
        const char *p = literal(s, pattern);
        const char *how = pattern[strcspn(pattern, "*?[")] ? "GLOB" : "LIKE";
        buf_printf(&q, "lower(%s) %s lower(%s) AND ", strchr(pattern, '.') ? "sname || '.' || tbl_name" : "tbl_name", how, p);
    }
    buf_printf(&q, "type!='meta' AND sql IS NOT NULL ORDER BY snum, r");
    return sql_trouble(s, sql_each(s, q.data, print_schema, NULL));
}

typedef struct NameList {
    const char **at;
    size_t count, cap;
} NameList;

static void add_to_list(Sql *s, void *arg, struct sqlite3_stmt *stmt)
{
    NameList *l = arg;
    if (l->count == l->cap) {
        size_t cap = l->cap * 2 + 16;
        l->at = mem_grow(&s->p->mem, l->at, l->cap * sizeof *l->at, cap * sizeof *l->at);
        l->cap = cap;
    }
    l->at[l->count++] = mem_copy(&s->p->mem, sql_text(s, stmt, 0));
}

static int name_columns(Sql *s, int argc, char **argv, const char *usage_text, bool indexes)
{
    NameList l = {0};
    Buf q;
    if (argc > 2)
        return usage(s, usage_text);
    ensure(s);
    Buf names = schemas(s);
    buf_init(&q, &s->p->mem, 1 << 20);
    for (size_t i = 0; i < names.len; i += strlen(names.data + i) + 1) {
        const char *db = names.data + i, *dbq = quoted_name(s, db);
        buf_printf(&q, "%sSELECT %s FROM %s.sqlite_schema WHERE %s", q.len ? " UNION ALL " : "", strcmp(db, "main") == 0 ? "name" : mem_printf(&s->p->mem, "%s||'.'||name", literal(s, db)), dbq,
                   indexes ? "type='index'" : "type IN ('table','view') AND name NOT LIKE 'sqlite_%%'");
        if (argc > 1)
            buf_printf(&q, " AND %s LIKE %s", indexes ? "tbl_name" : "name", literal(s, argv[1]));
    }
    buf_printf(&q, " ORDER BY 1");
    int code = sql_each(s, q.data, add_to_list, &l);
    if (code)
        return sql_trouble(s, code);
    size_t widest = 0;
    for (size_t i = 0; i < l.count; i++)
        widest = MAX(widest, strlen(l.at[i]));
    size_t per_line = MAX(80 / (widest + 2), (size_t)1), lines = (l.count + per_line - 1) / per_line;
    for (size_t i = 0; i < lines; i++) {
        for (size_t k = i; k < l.count; k += lines)
            out_printf(s->out, "%s%-*s", k < lines ? "" : "  ", (int)widest, l.at[k]);
        out_char(s->out, '\n');
    }
    return 0;
}

static int dot_tables(Sql *s, int argc, char **argv) { return name_columns(s, argc, argv, ".tables ?TABLE?", false); }
static int dot_indexes(Sql *s, int argc, char **argv) { return name_columns(s, argc, argv, ".indexes ?LIKE-PATTERN?", true); }

static int dot_databases(Sql *s, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    ensure(s);
    Buf names = schemas(s);
    for (size_t i = 0; i < names.len; i += strlen(names.data + i) + 1) {
        const char *name = names.data + i, *file = s->api->filename(s->db, name);
        int readonly = s->api->readonly(s->db, name);
        out_printf(s->out, "%s: %s %s\n", name, file && *file ? file : "\"\"", readonly == 1 ? "r/o" : "r/w");
    }
    return 0;
}

static int dot_fullschema(Sql *s, int argc, char **argv)
{
    ensure(s);
    (void)argv;
    int r = dot_schema(s, 1, argv);
    NameList l = {0};
    (void)argc;
    sql_each(s, "SELECT name FROM sqlite_schema WHERE name GLOB 'sqlite_stat[134]'", add_to_list, &l);
    if (l.count == 0)
        out_str(s->out, "/* No STAT tables available */\n");
    else
        out_str(s->out, "ANALYZE sqlite_schema;\n");
    return r;
}

static const struct { const char *name; int id; } limits[] = {
    {"length", 0}, {"sql_length", 1}, {"column", 2}, {"expr_depth", 3}, {"compound_select", 4}, {"vdbe_op", 5}, {"function_arg", 6}, {"attached", 7},
    {"like_pattern_length", 8}, {"variable_number", 9}, {"trigger_depth", 10}, {"worker_threads", 11},
};

static int dot_limit(Sql *s, int argc, char **argv)
{
    ensure(s);
    int found = -1;
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        if (argc == 1)
            out_printf(s->out, "%20s %d\n", limits[i].name, s->api->limit(s->db, limits[i].id, -1));
        else if (strncasecmp(limits[i].name, argv[1], strlen(argv[1])) == 0) {
            if (found >= 0) {
                sql_say(s, "ambiguous limit: \"%s\"\n", argv[1]);
                return 1;
            }
            found = (int)i;
        }
    }
    if (argc == 1)
        return 0;
    if (argc > 3)
        return usage(s, ".limit NAME ?NEW-VALUE?");
    if (found < 0) {
        sql_say(s, "unknown limit: \"%s\"\nenter \".limits\" with no arguments for a list.\n", argv[1]);
        return 1;
    }
    int64_t value;
    if (argc == 3 && parse_int(argv[2], &value) == 0 && limits[found].id && limits[found].id != 11)
        s->api->limit(s->db, limits[found].id, (int)MAX(MIN(value, (int64_t)INT32_MAX), (int64_t)0));
    out_printf(s->out, "%20s %d\n", limits[found].name, s->api->limit(s->db, limits[found].id, -1));
    return 0;
}

/* --- files --- */

static int dot_read(Sql *s, int argc, char **argv)
{
    if (argc != 2)
        return usage(s, ".read FILE");
    if (argv[1][0] == '|') {
        sql_say(s, "Error: pipes are not supported in this OS\n");
        return 1;
    }
    int fd = proc_open(s->p, argv[1], V_READ, 0);
    if (fd < 0) {
        sql_say(s, "Error: cannot open \"%s\"\n", argv[1]);
        return 1;
    }
    int errors = sql_input(s, fd, argv[1]);
    proc_close(s->p, fd);
    return errors > 0;
}

static int dot_output(Sql *s, int argc, char **argv)
{
    bool once = argv[0][0] == 'o' && argv[0][1] == 'n';
    if (argc > 2 || (once && argc < 2)) {
        if (once)
            out_str(s->out, "");
        return argc > 2 ? usage(s, once ? ".once FILE" : ".output FILE") : 0;
    }
    int before = s->status;
    s->status = 0;
    sql_output(s, argc > 1 ? argv[1] : NULL, once);
    int r = s->status != 0;
    if (r && argv[1][0] != '|')
        sql_say(s, "Error: cannot write to \"%s\"\n", argv[1]);
    s->status = before;
    return r;
}

static int dot_open(Sql *s, int argc, char **argv)
{
    const char *name = NULL;
    bool fresh = false, readonly = false;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (*a == '-') {
            a += a[1] == '-' ? 2 : 1;
            fresh |= strcmp(a, "new") == 0;
            readonly |= strcmp(a, "readonly") == 0;
            if (strcmp(a, "new") && strcmp(a, "readonly") && strcmp(a, "nofollow")) {
                sql_say(s, "unknown option: %s\n", argv[i]);
                return 1;
            }
        } else if (name) {
            sql_say(s, "extra argument: \"%s\"\n", a);
            return 1;
        } else {
            name = a;
        }
    }
    sql_close(s);
    s->readonly = readonly;
    s->name = mem_strdup(&s->p->keep, name ? name : "");
    if (fresh && name)
        proc_unlink(s->p, name);
    if (name)
        sql_open(s, name, true);
    return 0;
}

static int dot_backup(Sql *s, int argc, char **argv)
{
    const char *schema = NULL, *file = NULL;
    bool restore = argv[0][0] == 'r';
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (*a == '-') {
            if (strcmp(a, "-append") && strcmp(a, "--append") && strcmp(a, "-async") && strcmp(a, "--async")) {
                sql_say(s, "unknown option: %s\n", a);
                return 1;
            }
        } else if (!file) {
            file = a;
        } else if (!schema) {
            schema = file;
            file = a;
        } else {
            return usage(s, restore ? ".restore ?DB? FILE" : ".backup ?DB? ?OPTIONS? FILENAME");
        }
    }
    if (!file) {
        if (restore)
            return usage(s, ".restore ?DB? FILE");
        sql_say(s, "missing FILENAME argument on .backup\n");
        return 1;
    }
    ensure(s);
    struct sqlite3 *other = NULL;
    int code = sql_connect(s, file, false, &other);
    if (code) {
        sql_say(s, "Error: cannot open \"%s\"\n", file);
        if (other)
            s->api->close(s->session, other);
        return 1;
    }
    code = restore ? s->api->copy(s->db, schema ? schema : "main", other, "main") : s->api->copy(other, "main", s->db, schema ? schema : "main");
    if (code)
        sql_say(s, "Error: %s\n", s->api->message(restore ? s->db : other));
    s->api->close(s->session, other);
    sql_sync(s);
    return code != 0;
}

static int dot_save_clone(Sql *s, int argc, char **argv)
{
    if (argc != 2)
        return usage(s, ".clone FILENAME");
    ensure(s);
    return dot_clone(s, argv[1]);
}

static int dot_cd(Sql *s, int argc, char **argv)
{
    if (argc != 2)
        return usage(s, ".cd DIRECTORY");
    sql_say(s, "Cannot change to directory \"%s\"\n", argv[1]);
    return 1;
}

/* --- parameters --- */

static void parameter_line(Sql *s, void *arg, struct sqlite3_stmt *stmt)
{
    int *width = arg;
    const char *key = mem_copy(&s->p->mem, sql_text(s, stmt, 0));
    out_printf(s->out, "%-*s %s\n", *width, key, mem_copy(&s->p->mem, sql_text(s, stmt, 1)));
}

static void first_number(Sql *s, void *arg, struct sqlite3_stmt *stmt)
{
    int64_t n = 0;
    parse_int(mem_copy(&s->p->mem, sql_text(s, stmt, 0)), &n);
    *(int *)arg = (int)n;
}

/* The name is one of SQLite's own: it must be told that this is meant. */
static void create_parameters(Sql *s)
{
    sql_each(s, "PRAGMA writable_schema=ON", NULL, NULL);
    sql_each(s, "CREATE TABLE IF NOT EXISTS temp.sqlite_parameters(key TEXT PRIMARY KEY, value) WITHOUT ROWID;", NULL, NULL);
    sql_each(s, "PRAGMA writable_schema=OFF", NULL, NULL);
}

static int dot_parameter(Sql *s, int argc, char **argv)
{
    ensure(s);
    Mem *m = &s->p->mem;
    if (argc == 2 && strcmp(argv[1], "clear") == 0) {
        sql_each(s, "DROP TABLE IF EXISTS temp.sqlite_parameters;", NULL, NULL);
    } else if (argc == 2 && strcmp(argv[1], "init") == 0) {
        create_parameters(s);
    } else if (argc == 2 && strcmp(argv[1], "list") == 0) {
        int width = 0;
        if (sql_each(s, "SELECT max(length(key)) FROM temp.sqlite_parameters;", first_number, &width) == 0 && width)
            sql_each(s, "SELECT key, quote(value) FROM temp.sqlite_parameters;", parameter_line, &width);
    } else if (argc == 4 && strcmp(argv[1], "set") == 0) {
        create_parameters(s);
        if (sql_each(s, mem_printf(m, "REPLACE INTO temp.sqlite_parameters(key,value) VALUES(%s,%s);", literal(s, argv[2]), argv[3]), NULL, NULL))
            return sql_trouble(s, sql_each(s, mem_printf(m, "REPLACE INTO temp.sqlite_parameters(key,value) VALUES(%s,%s);", literal(s, argv[2]), literal(s, argv[3])), NULL, NULL));
    } else if (argc == 3 && strcmp(argv[1], "unset") == 0) {
        sql_each(s, mem_printf(m, "DELETE FROM temp.sqlite_parameters WHERE key=%s", literal(s, argv[2])), NULL, NULL);
    } else {
        sql_say(s, ".parameter CMD ...       Manage SQL parameter bindings\n   clear                   Erase all bindings\n   init                    Initialize the TEMP table that holds bindings\n"
                   "   list                    List the current parameter bindings\n   set PARAMETER VALUE     Given SQL parameter PARAMETER a value of VALUE\n"
                   "                           PARAMETER should start with one of: $ : @ ?\n   unset PARAMETER         Remove PARAMETER from the binding table\n");
        return 1;
    }
    return 0;
}

/* --- refused, and the end --- */

static int dot_refused(Sql *s, int argc, char **argv)
{
    (void)argc;
    sql_say(s, "line %llu: cannot run .%s in safe mode\n", (unsigned long long)s->line, argv[0]);
    proc_fail(s->p, 1);
}

static int dot_quit(Sql *s, int argc, char **argv)
{
    int64_t n = 0;
    if (argc > 1 && argv[0][0] == 'e' && parse_int(argv[1], &n) == 0)
        s->status = (int)(n & 255);
    return 2;
}

static int dot_nothing(Sql *s, int argc, char **argv) { (void)s; (void)argc; (void)argv; return 0; }

static int dot_help(Sql *s, int argc, char **argv);

static const struct Dot { const char *name; size_t least; DotMain *main; const char *help; } dots[] = {
    {"backup", 3, dot_backup, ".backup ?DB? FILE        Backup DB (default \"main\") to FILE"},
    {"bail", 3, dot_bail, ".bail on|off             Stop after hitting an error.  Default OFF"},
    {"binary", 3, dot_nothing, NULL},
    {"cd", 2, dot_cd, NULL},
    {"changes", 3, dot_changes, ".changes on|off          Show number of rows changed by SQL"},
    {"clone", 2, dot_save_clone, ".clone NEWDB             Clone data into NEWDB from the existing database"},
    {"databases", 2, dot_databases, ".databases               List names and files of attached databases"},
    {"dump", 1, dot_dump, ".dump ?OBJECTS?          Render database content as SQL"},
    {"echo", 1, dot_echo, ".echo on|off             Turn command echo on or off"},
    {"eqp", 3, dot_eqp, ".eqp on|off|full|...     Enable or disable automatic EXPLAIN QUERY PLAN"},
    {"exit", 2, dot_quit, ".exit ?CODE?             Exit this program with return-code CODE"},
    {"explain", 2, dot_explain, ".explain ?on|off|auto?   Change the EXPLAIN formatting mode.  Default: auto"},
    {"fullschema", 1, dot_fullschema, ".fullschema ?--indent?   Show schema and the content of sqlite_stat tables"},
    {"headers", 1, dot_headers, ".headers on|off          Turn display of headers on or off"},
    {"help", 1, dot_help, ".help ?-all? ?PATTERN?   Show help text for PATTERN"},
    {"import", 1, dot_import, ".import FILE TABLE       Import data from FILE into TABLE"},
    {"indexes", 3, dot_indexes, ".indexes ?TABLE?         Show names of indexes"},
    {"indices", 3, dot_indexes, NULL},
    {"limits", 3, dot_limit, ".limit ?LIMIT? ?VAL?     Display or change the value of an SQLITE_LIMIT"},
    {"load", 2, dot_refused, NULL},
    {"mode", 1, dot_mode, ".mode MODE ?OPTIONS?     Set output mode"},
    {"nullvalue", 1, dot_nullvalue, ".nullvalue STRING        Use STRING in place of NULL values"},
    {"once", 2, dot_output, ".once ?OPTIONS? ?FILE?   Output for the next SQL command only to FILE"},
    {"open", 2, dot_open, ".open ?OPTIONS? ?FILE?   Close existing database and reopen FILE"},
    {"output", 1, dot_output, ".output ?FILE?           Send output to FILE or stdout if FILE is omitted"},
    {"parameter", 3, dot_parameter, ".parameter CMD ...       Manage SQL parameter bindings"},
    {"print", 3, dot_print, ".print STRING...         Print literal STRING"},
    {"prompt", 1, dot_nothing, NULL},
    {"quit", 1, dot_quit, ".quit                    Exit this program"},
    {"read", 3, dot_read, ".read FILE               Read input from FILE or command output"},
    {"restore", 3, dot_backup, ".restore ?DB? FILE       Restore content of DB (default \"main\") from FILE"},
    {"save", 3, dot_backup, ".save ?OPTIONS? FILE     Write database to FILE (an alias for .backup ...)"},
    {"schema", 2, dot_schema, ".schema ?PATTERN?        Show the CREATE statements matching PATTERN"},
    {"separator", 3, dot_separator, ".separator COL ?ROW?     Change the column and row separators"},
    {"shell", 2, dot_refused, NULL},
    {"show", 2, dot_show, ".show                    Show the current values for various settings"},
    {"system", 2, dot_refused, NULL},
    {"tables", 2, dot_tables, ".tables ?TABLE?          List names of tables matching LIKE pattern TABLE"},
    {"timeout", 5, dot_nothing, ".timeout MS              Try opening locked tables for MS milliseconds"},
    {"timer", 5, dot_timer, ".timer on|off            Turn SQL timer on or off"},
    {"width", 1, dot_width, ".width NUM1 NUM2 ...     Set minimum column widths for columnar output"},
};

static int dot_help(Sql *s, int argc, char **argv)
{
    bool any = false;
    for (size_t i = 0; i < ARRAY_LEN(dots); i++)
        if (dots[i].help && (argc < 2 || argv[1][0] == '-' || strncmp(dots[i].name, argv[1] + (argv[1][0] == '.'), strlen(argv[1]) - (argv[1][0] == '.')) == 0)) {
            out_printf(s->out, "%s\n", dots[i].help);
            any = true;
        }
    if (!any)
        out_printf(s->out, "Nothing matches '%s'\n", argv[1]);
    return 0;
}

/* Backslash escapes of a double-quoted argument. */
static void resolve(char *z)
{
    char *to = z;
    for (; *z; z++) {
        if (*z != '\\' || !z[1]) {
            *to++ = *z;
            continue;
        }
        static const char from[] = "abtnvfr\"'\\", into[] = "\a\b\t\n\v\f\r\"'\\";
        const char *at = strchr(from, *++z);
        if (at && *at) {
            *to++ = into[at - from];
        } else if (*z >= '0' && *z <= '7') {
            int v = *z - '0';
            for (int k = 0; k < 2 && z[1] >= '0' && z[1] <= '7'; k++)
                v = v * 8 + *++z - '0';
            *to++ = (char)v;
        } else {
            *to++ = *z;
        }
    }
    *to = 0;
}

static int split(char *line, char **argv)
{
    int argc = 0;
    char *h = line;
    while (*h && argc < ARGS_MOST - 1) {
        while (*h == ' ' || (*h >= '\t' && *h <= '\r'))
            h++;
        if (!*h)
            break;
        if (*h == '\'' || *h == '"') {
            char mark = *h++;
            argv[argc] = h;
            while (*h && *h != mark) {
                if (*h == '\\' && mark == '"' && h[1])
                    h++;
                h++;
            }
            if (*h == mark)
                *h++ = 0;
            if (mark == '"')
                resolve(argv[argc]);
            argc++;
        } else {
            argv[argc++] = h;
            while (*h && *h != ' ' && !(*h >= '\t' && *h <= '\r'))
                h++;
            if (*h)
                *h++ = 0;
            resolve(argv[argc - 1]);
        }
    }
    argv[argc] = NULL;
    return argc;
}

int dot_command(Sql *s, char *line)
{
    char *argv[ARGS_MOST + 1];
    int argc = split(line + 1, argv);
    if (argc == 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(dots); i++)
        if (prefix_of(argv[0], dots[i].name, dots[i].least))
            return dots[i].main(s, argc, argv);
    sql_say(s, "Error: unknown command or invalid arguments:  \"%s\". Enter \".help\" for help\n", argv[0]);
    return 1;
}
