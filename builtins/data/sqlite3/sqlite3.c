/* sqlite3: the command: its options, scripts, statements and files. SQLite 3.40.1. */
#include "data/sqlite3/sqlite3.h"

#include <stdarg.h>

enum { MEMORY_FIXED = 4 << 20, MEMORY_MOST = 512 << 20, READ_DEPTH = 25 };

void sql_say(Sql *s, const char *format, ...)
{
    char *text;
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    text = mem_alloc(&s->p->mem, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    output_flush(s->out);
    output_flush(s->p->out);
    out_str(s->p->err, text);
    output_flush(s->p->err);
}

/* --- files --- */

/* Hands the session what is at `name`; a file that is not there is told too. */
static void give_file(Sql *s, const char *name, bool main)
{
    Proc *p = s->p;
    VStat st;
    Slice data = {"", 0};
    int err = proc_stat(p, name, 0, &st);
    bool exists = err == 0 && S_ISREG(st.mode), writable = false;
    if (exists) {
        err = read_file(p, name, &data);
        writable = !err && proc_access(p, name, 2) == 0;
        exists = !err;
    } else if (err == -ENOENT) {
        Slice dir = dir_name(name);
        writable = proc_access(p, mem_copy(&p->mem, dir), 3) == 0;
    }
    if (!exists && !writable && main)
        exists = false;
    if (!s->api->give(s->session, name, data.data, data.len, exists, writable))
        proc_raise(p, RAISE_MEMORY);
}

static const char *absolute(Sql *s, const char *name)
{
    char *cwd;
    if (*name == '/')
        return name;
    if (strncmp(name, "./", 2) == 0)
        name += 2;
    if (proc_getcwd(s->p, &cwd))
        return name;
    return mem_printf(&s->p->mem, "%s%s%s", cwd, strcmp(cwd, "/") == 0 ? "" : "/", name);
}

static void write_change(Sql *s, const SqlChange *c)
{
    Proc *p = s->p;
    size_t n = strlen(c->name);
    bool journal = n > 8 && strcmp(c->name + n - 8, "-journal") == 0;
    VStat st;
    if (c->deleted || journal) {
        if (proc_stat(p, c->name, V_NOFOLLOW, &st) == 0 && c->deleted)
            proc_unlink(p, c->name);
        return;
    }
    int fd = proc_open(p, c->name, V_WRITE | V_CREATE, 0644), err = fd < 0 ? fd : 0;
    if (!err && c->high > c->low) {
        proc_seek(p, fd, (int64_t)c->low, SEEK_SET);
        ssize_t k = proc_write(p, fd, slice((const char *)c->data + c->low, (size_t)(c->high - c->low)));
        err = k < 0 ? (int)k : (uint64_t)k < c->high - c->low ? -ENOSPC : 0;
    }
    if (!err)
        err = proc_ftruncate(p, fd, c->size);
    if (fd >= 0)
        proc_close(p, fd);
    if (err) {
        sql_say(s, "Error: cannot write \"%s\": %s\n", c->name, error_text(-err));
        s->status = 1;
    }
}

void sql_sync(Sql *s)
{
    SqlChange c;
    if (s->db && !s->closing && !s->api->autocommit(s->db))
        return;
    while (s->api->change(s->session, &c))
        write_change(s, &c);
}

/* --- connections --- */

int sql_connect(Sql *s, const char *name, bool readonly, struct sqlite3 **db)
{
    if (*name && strcmp(name, ":memory:") != 0) {
        const char *full = absolute(s, name);
        give_file(s, full, true);
        give_file(s, mem_printf(&s->p->mem, "%s-journal", full), false);
        give_file(s, mem_printf(&s->p->mem, "%s-wal", full), false);
    }
    return s->api->open(s->session, name, readonly, db);
}

static NORETURN void cannot_open(Sql *s)
{
    sql_say(s, "Error: unable to open database \"%s\": %s\n", s->name, s->db ? s->api->message(s->db) : "out of memory");
    proc_fail(s->p, 1);
}

void sql_open(Sql *s, const char *name, bool complain)
{
    if (s->db)
        return;
    s->name = mem_strdup(&s->p->keep, name);
    int err = sql_connect(s, name, s->readonly, &s->db);
    if (err == 26) /* not a database: told by the first statement, as the original does */
        err = SQL_OK;
    if (err && complain)
        cannot_open(s);
    sql_sync(s);
}

void sql_close(Sql *s)
{
    s->closing = true;
    if (s->db)
        s->api->close(s->session, s->db);
    s->db = NULL;
    sql_sync(s);
    s->closing = false;
}

static void release(Proc *p, void *thing)
{
    Sql *s = thing;
    (void)p;
    s->api->session_free(s->session);
}

/* Asked every few thousand operations of the library's machine. */
static bool due(void *user) { return proc_due(user, 500); }

static int64_t now(void *user)
{
    uint32_t ns;
    int64_t seconds = proc_now(user, &ns);
    return seconds * 1000 + ns / 1000000;
}

/* --- statements --- */

static bool hand_over(Sql *s)
{
    const char *wanted = s->api->wanted(s->session);
    if (!wanted)
        return false;
    give_file(s, mem_strdup(&s->p->mem, wanted), true);
    return true;
}

int sql_step(Sql *s, struct sqlite3_stmt *stmt)
{
    int code = s->api->step(stmt);
    for (int tries = 0; code != SQL_ROW && code != SQL_DONE && tries < 8 && hand_over(s); tries++) {
        s->api->reset(stmt);
        code = s->api->step(stmt);
    }
    if (code == SQL_INTERRUPT && proc_due(s->p, 0)) {
        s->api->finalize(s->session, stmt);
        proc_tick_slow(s->p); /* raises */
    }
    proc_tick(s->p, 2);
    return code;
}

int sql_prepare(Sql *s, const char *text, struct sqlite3_stmt **stmt, const char **tail)
{
    int code = s->api->prepare(s->session, s->db, text, -1, stmt, tail);
    for (int tries = 0; code && tries < 8 && hand_over(s); tries++)
        code = s->api->prepare(s->session, s->db, text, -1, stmt, tail);
    return code;
}

Slice sql_text(Sql *s, struct sqlite3_stmt *stmt, int i)
{
    const char *text = (const char *)s->api->column_text(stmt, i);
    return text ? slice(text, (size_t)s->api->column_bytes(stmt, i)) : slice("", 0);
}

int sql_each(Sql *s, const char *text, void (*each)(Sql *s, void *arg, struct sqlite3_stmt *stmt), void *arg)
{
    struct sqlite3_stmt *stmt;
    int code = sql_prepare(s, text, &stmt, NULL);
    if (code || !stmt)
        return code;
    while ((code = sql_step(s, stmt)) == SQL_ROW)
        if (each)
            each(s, arg, stmt);
    s->api->finalize(s->session, stmt);
    return code == SQL_DONE ? SQL_OK : code;
}

/* The part of the statement around an error, with a pointer to it. */
static const char *context(Sql *s, const char *sql)
{
    int at = s->api->error_offset(s->db);
    if (at < 0 || !sql)
        return "";
    while (at > 50) {
        at--;
        sql++;
        while ((*sql & 0xc0) == 0x80) {
            sql++;
            at--;
        }
    }
    size_t len = strlen(sql);
    if (len > 78) {
        len = 78;
        while ((sql[len] & 0xc0) == 0x80)
            len--;
    }
    char *code = mem_copy(&s->p->mem, slice(sql, len));
    for (char *c = code; *c; c++)
        if (*c == '\n' || *c == '\t' || *c == '\r' || *c == '\f' || *c == '\v')
            *c = ' ';
    return at < 25 ? mem_printf(&s->p->mem, "\n  %s\n  %*s^--- error here", code, at, "") : mem_printf(&s->p->mem, "\n  %s\n  %*serror here ---^", code, at - 14, "");
}

static SqlResult failed(Sql *s, const char *what, int code, const char *sql)
{
    const char *message = s->api->over_budget(s->session) ? "out of memory" : s->api->message(s->db);
    const char *number = code > 1 ? mem_printf(&s->p->mem, " (%d)", code) : "";
    return (SqlResult){code, mem_printf(&s->p->mem, "%s, %s%s%s", what, message, number, context(s, sql))};
}

typedef struct Binding { struct sqlite3_stmt *to; int i; } Binding;

static void bind_one(Sql *s, void *arg, struct sqlite3_stmt *from)
{
    Binding *b = arg;
    s->api->bind_value(b->to, b->i, from, 0);
}

/* Parameters come from temp.sqlite_parameters, where .param put them. */
static void bind_parameters(Sql *s, struct sqlite3_stmt *stmt)
{
    int n = s->api->bind_count(stmt);
    for (int i = 1; i <= n; i++) {
        const char *name = s->api->bind_name(stmt, i);
        if (!name)
            name = mem_printf(&s->p->mem, "?%d", i);
        struct sqlite3_stmt *look;
        if (s->api->prepare(s->session, s->db, "SELECT value FROM temp.sqlite_parameters WHERE key=?1", -1, &look, NULL))
            return;
        s->api->bind_text(look, 1, name, -1);
        Binding b = {stmt, i};
        if (s->api->step(look) == SQL_ROW)
            bind_one(s, &b, look);
        s->api->finalize(s->session, look);
    }
}

static void show_plan(Sql *s, const char *sql)
{
    struct sqlite3_stmt *stmt;
    if (s->api->prepare(s->session, s->db, mem_printf(&s->p->mem, "EXPLAIN QUERY PLAN %s", sql), -1, &stmt, NULL) || !stmt)
        return;
    int explain = s->explain;
    s->explain = 2;
    show_rows(s, stmt);
    s->explain = explain;
    s->api->finalize(s->session, stmt);
}

static const char *skip_blanks(const char *s)
{
    while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
        s++;
    return s;
}

SqlResult sql_run(Sql *s, const char *text)
{
    sql_open(s, s->name ? s->name : "", true);
    while (*text) {
        struct sqlite3_stmt *stmt = NULL;
        const char *tail;
        int code = sql_prepare(s, text, &stmt, &tail);
        if (code)
            return failed(s, "in prepare", code, text);
        if (!stmt) {
            text = skip_blanks(tail);
            continue;
        }
        bind_parameters(s, stmt);
        if (s->eqp && !s->api->is_explain(stmt))
            show_plan(s, s->api->sql(stmt));
        code = show_rows(s, stmt);
        int end = s->api->finalize(s->session, stmt);
        sql_sync(s);
        if (code != SQL_DONE && code != SQL_ROW)
            return failed(s, "stepping", end ? end : code, NULL);
        text = skip_blanks(tail);
        proc_tick(s->p, 8);
    }
    return (SqlResult){0, NULL};
}

/* --- output --- */

void sql_output(Sql *s, const char *file, bool once)
{
    Proc *p = s->p;
    output_flush(s->out);
    if (s->out_fd != 1) {
        proc_close(p, s->out_fd);
        s->out_fd = 1;
    }
    s->out = p->out;
    s->out_name = "stdout";
    s->once = false;
    if (!file || strcmp(file, "stdout") == 0)
        return;
    if (strcmp(file, "off") == 0)
        file = "/dev/null";
    if (*file == '|') {
        sql_say(s, "Error: pipes are not supported in this OS\n");
        s->status = 1;
        return;
    }
    int fd = proc_open(p, file, V_WRITE | V_CREATE | V_TRUNC, 0644);
    if (fd < 0) {
        sql_say(s, "Error: cannot open \"%s\"\n", file);
        s->status = 1;
        return;
    }
    s->out = mem_new(&p->keep, Output);
    output_init(p, s->out, fd);
    s->out_fd = fd;
    s->out_name = mem_strdup(&p->keep, file);
    s->once = once;
}

/* --- scripts --- */

static bool only_blanks_or_comments(const char *s)
{
    for (;;) {
        s = skip_blanks(s);
        if (s[0] == '-' && s[1] == '-') {
            s += strcspn(s, "\n");
        } else if (s[0] == '/' && s[1] == '*') {
            const char *end = strstr(s + 2, "*/");
            if (!end)
                return false;
            s = end + 2;
        } else {
            return !*s;
        }
    }
}

static void timer_line(Sql *s, int64_t began)
{
    double real = (double)(proc_monotonic(s->p) - began) / 1e9;
    out_printf(s->out, "Run Time: real %.3f user %.6f sys %.6f\n", real, real, 0.0);
}

static int run_sql(Sql *s, const char *text, uint64_t line)
{
    int64_t began = proc_monotonic(s->p);
    SqlResult r = sql_run(s, text);
    if (s->timer)
        timer_line(s, began);
    if (r.message) {
        bool parse = strncmp(r.message, "in prepare, ", 12) == 0, run = strncmp(r.message, "stepping, ", 10) == 0;
        sql_say(s, "%s near line %llu: %s\n", parse ? "Parse error" : run ? "Runtime error" : "Error", (unsigned long long)line, r.message + (parse ? 12 : run ? 10 : 0));
        return 1;
    }
    if (s->changes)
        out_printf(s->out, "changes: %d   total_changes: %d\n", s->api->changes(s->db), s->api->total_changes(s->db));
    return 0;
}

static bool is_terminator(const char *line)
{
    line = skip_blanks(line);
    if (*line == '/' && !*skip_blanks(line + 1))
        return true;
    return (line[0] | 32) == 'g' && (line[1] | 32) == 'o' && !*skip_blanks(line + 2);
}

int sql_input(Sql *s, int fd, const char *name)
{
    Proc *p = s->p;
    int errors = 0;
    uint64_t start = 0, saved = s->line;
    Buf sql;
    if (s->depth >= READ_DEPTH) {
        sql_say(s, "Input nesting limit (%d) reached at line %llu. Check recursion.\n", READ_DEPTH, (unsigned long long)s->line);
        return 1;
    }
    s->depth++;
    s->line = 0;
    buf_init(&sql, &p->keep, BUF_MAX);
    Input in = input_fd(p, fd, name);
    in.count = 1;
    Slice record;
    bool ended;
    while (!s->done && (errors == 0 || !s->bail) && input_record(&in, &record, &ended)) {
        MemMark mark = mem_mark(&p->mem);
        char *line = mem_copy(&p->mem, record);
        if (record.len && line[record.len - 1] == '\r')
            line[record.len - 1] = 0;
        s->line++;
        bool fresh = sql.len == 0;
        if (fresh && only_blanks_or_comments(line)) {
            if (s->echo)
                out_printf(s->out, "%s\n", line);
        } else if (fresh && (line[0] == '.' || line[0] == '#')) {
            if (s->echo)
                out_printf(s->out, "%s\n", line);
            int r = line[0] == '.' ? dot_command(s, line) : 0;
            s->done |= r == 2;
            errors += r == 1;
        } else {
            bool end = is_terminator(line) && sql.len && s->api->complete(mem_printf(&p->mem, "%s;", sql.data));
            if (fresh) {
                const char *text = skip_blanks(line);
                buf_append(&sql, slice_str(text));
                start = s->line;
            } else {
                buf_char(&sql, '\n');
                buf_append(&sql, end ? SLICE(";") : slice_str(line));
            }
            if (sql.len && strchr(end ? ";" : line, ';') && s->api->complete(sql.data)) {
                if (s->echo)
                    out_printf(s->out, "%s\n", sql.data);
                errors += run_sql(s, sql.data, start);
                buf_clear(&sql);
                if (s->once)
                    sql_output(s, NULL, false);
            } else if (sql.len && only_blanks_or_comments(sql.data)) {
                if (s->echo)
                    out_printf(s->out, "%s\n", sql.data);
                buf_clear(&sql);
            }
        }
        mem_reset(&p->mem, mark);
    }
    if (sql.len && !s->done && !(errors && s->bail)) {
        if (s->echo)
            out_printf(s->out, "%s\n", sql.data);
        errors += run_sql(s, sql.data, start);
    }
    s->depth--;
    s->line = saved;
    return errors;
}

/* --- the command --- */

static const Option options[] = {
    {0, "ascii", OPT_FLAG, "set output mode to 'ascii'", NULL, 1},
    {0, "bail", OPT_FLAG, "stop after hitting an error", NULL, 2},
    {0, "batch", OPT_FLAG, "force batch I/O", NULL, 3},
    {0, "box", OPT_FLAG, "set output mode to 'box'", NULL, 1},
    {0, "column", OPT_FLAG, "set output mode to 'column'", NULL, 1},
    {0, "cmd", OPT_VALUE, "run COMMAND before reading stdin", "COMMAND", 4},
    {0, "csv", OPT_FLAG, "set output mode to 'csv'", NULL, 1},
    {0, "echo", OPT_FLAG, "print inputs before execution", NULL, 5},
    {0, "init", OPT_VALUE, "read/process named file", "FILENAME", 6},
    {0, "header", OPT_FLAG, "turn headers on", NULL, 7},
    {0, "noheader", OPT_FLAG, "turn headers off", NULL, 8},
    {0, "help", OPT_FLAG, "show this message", NULL, 9},
    {0, "html", OPT_FLAG, "set output mode to HTML", NULL, 1},
    {0, "json", OPT_FLAG, "set output mode to 'json'", NULL, 1},
    {0, "line", OPT_FLAG, "set output mode to 'line'", NULL, 1},
    {0, "list", OPT_FLAG, "set output mode to 'list'", NULL, 1},
    {0, "markdown", OPT_FLAG, "set output mode to 'markdown'", NULL, 1},
    {0, "newline", OPT_VALUE, "set output row separator. Default: '\\n'", "SEP", 10},
    {0, "nofollow", OPT_FLAG, NULL, NULL, 3},
    {0, "nullvalue", OPT_VALUE, "set text string for NULL values. Default ''", "TEXT", 11},
    {0, "quote", OPT_FLAG, "set output mode to 'quote'", NULL, 1},
    {0, "readonly", OPT_FLAG, "open the database read-only", NULL, 12},
    {0, "A", OPT_FLAG, "refused: for archives there are tar and zip", NULL, 15},
    {0, "archive", OPT_FLAG, NULL, NULL, 15},
    {0, "safe", OPT_FLAG, "accepted: what it forbids is not there", NULL, 3},
    {0, "separator", OPT_VALUE, "set output column separator. Default: '|'", "SEP", 13},
    {0, "stats", OPT_FLAG, NULL, NULL, 3},
    {0, "table", OPT_FLAG, "set output mode to 'table'", NULL, 1},
    {0, "tabs", OPT_FLAG, "set output mode to 'tabs'", NULL, 1},
    {0, "version", OPT_FLAG, "show SQLite version", NULL, 14},
    OPTIONS_END,
};

static const Option *option_named(const char *text)
{
    text += text[1] == '-' ? 2 : 1;
    for (const Option *o = options; o->name; o++)
        if (strcmp(o->name, text) == 0)
            return o;
    return NULL;
}

/* A command of -cmd or the command line. True: it ends here. */
static bool run_argument(Sql *s, char *text, bool stop)
{
    if (*text == '.') {
        int r = dot_command(s, mem_strdup(&s->p->mem, text));
        s->done |= r == 2;
        if (r == 1)
            s->status = 1;
        return r == 2 || (r == 1 && stop);
    }
    SqlResult r = sql_run(s, text);
    if (r.message) {
        sql_say(s, "Error: %s\n", r.message);
        s->status = r.code ? r.code : 1;
        return stop;
    }
    return false;
}

static void set_option(Sql *s, Args *args, const Option *o, char *value)
{
    Show *w = &s->show;
    switch (o->id) {
    case 1:
        {
            bool header = w->header;
            mode_set(s, o->name);
            w->header = header; /* only .mode turns it on */
        }
        if (w->mode == MODE_CSV)
            w->row = "\n"; /* the option, unlike .mode, leaves the line's end */
        break;
    case 2: s->bail = true; break;
    case 5: s->echo = true; break;
    case 7: case 8: w->header = o->id == 7; w->header_set = true; break;
    case 9: print_help(s->p, args->command); proc_fail(s->p, 0);
    case 10: w->row = value; break;
    case 11: w->null = value; break;
    case 12: s->readonly = true; break;
    case 13: w->column = value; break;
    case 15: die(s->p, 1, "-%s is refused: for archives there are tar and zip", o->name);
    case 14: out_printf(s->p->out, "%s %s\n", s->api->version, s->api->source); proc_fail(s->p, output_status(s->p));
    }
}

static NORETURN void bad_usage(Sql *s, const char *format, const char *text)
{
    out_printf(s->p->err, format, text);
    out_str(s->p->err, "\nUse -help for a list of options.\n");
    output_flush(s->p->err);
    proc_fail(s->p, 1);
}

static NORETURN void missing_argument(Sql *s, const char *option)
{
    out_printf(s->p->err, "sqlite3: Error: missing argument to %s\n", option);
    output_flush(s->p->err);
    proc_fail(s->p, 1);
}

/* Options in any place; the first other word is the database, the rest are commands. */
static int parse(Sql *s, Args *args, char **commands, char **before, size_t *before_count, char **init)
{
    int count = 0;
    bool named = false;
    for (int i = 1; i < args->argc; i++) {
        char *word = args->argv[i];
        if (word[0] != '-' || !word[1]) {
            if (!named)
                s->name = word;
            else
                commands[count++] = word;
            named = true;
            continue;
        }
        const Option *o = option_named(word);
        if (!o)
            bad_usage(s, "sqlite3: Error: unknown option: %s", word);
        char *value = NULL;
        if (o->kind == OPT_VALUE && ++i >= args->argc)
            missing_argument(s, word);
        if (o->kind == OPT_VALUE)
            value = args->argv[i];
        if (o->id == 4)
            before[(*before_count)++] = value;
        else if (o->id == 6)
            *init = value;
        else
            set_option(s, args, o, value);
    }
    if (!named)
        s->name = ":memory:";
    return count;
}

static void start(Sql *s)
{
    Proc *p = s->p;
    char *cwd = NULL;
    uint64_t limit = kern_budget(p->kernel)->limit, used = kern_budget(p->kernel)->used;
    if (proc_getcwd(p, &cwd))
        cwd = mem_strdup(&p->keep, "/");
    SqlHost *host = mem_new(&p->keep, SqlHost);
    *host = (SqlHost){.mem = proc_component_mem(p), .due = due, .now = now, .user = p, .directory = mem_strdup(&p->keep, cwd)};
    host->memory = limit ? MIN(limit > used ? (limit - used) / 2 : 0, (uint64_t)MEMORY_MOST) : MEMORY_MOST;
    host->memory = MAX(host->memory, (uint64_t)MEMORY_FIXED);
    mem_alloc(&p->keep, MEMORY_FIXED / 8); /* what the library takes by itself */
    s->session = s->api->session_new(host);
    if (!s->session)
        proc_raise(p, RAISE_MEMORY);
    proc_own(p, release, s);
}

static int sqlite3_main(Proc *p, Args *args)
{
    Sql *s = mem_new(&p->keep, Sql);
    *s = (Sql){.p = p, .out = p->out, .out_fd = 1, .out_name = "stdout", .explain = 2};
    s->show = (Show){.mode = MODE_LIST, .null = "", .column = "|", .row = "\n", .table = "\"table\"", .wrap = 0};
    s->api = NEED_COMPONENT(p, "data", DataComponent);
    char **commands = mem_array(&p->keep, (size_t)args->argc + 1, char *), **before = mem_array(&p->keep, (size_t)args->argc + 1, char *), *init = NULL;
    size_t before_count = 0;
    int count = parse(s, args, commands, before, &before_count, &init);
    start(s);
    VStat st;
    if (*s->name && proc_stat(p, s->name, 0, &st) == 0)
        sql_open(s, s->name, true);
    if (init) {
        int fd = proc_open(p, init, V_READ, 0);
        if (fd >= 0) {
            sql_input(s, fd, init);
            proc_close(p, fd);
        } else {
            sql_say(s, "cannot open: \"%s\"\n", init);
        }
    }
    for (size_t i = 0; i < before_count && !s->done; i++)
        if (run_argument(s, before[i], s->bail))
            return s->status;
    for (int i = 0; i < count && !s->done; i++) {
        if (run_argument(s, commands[i], true))
            break;
    }
    if (count == 0 && !s->done)
        s->status = sql_input(s, 0, "stdin") ? 1 : s->status;
    sql_close(s);
    sql_output(s, NULL, false);
    return s->status;
}

COMMAND(sqlite3, "sqlite3 [OPTIONS] FILENAME [SQL]", "FILENAME is the name of an SQLite database. A new database is created\nif the file does not previously exist.", options,
        COMMAND_WRITES | COMMAND_RAW, .package = "SQLite 3.40.1",
        .notes = "Databases lie in memory while they are used and are written back after each statement that ends a transaction. Nothing is started and nothing\n"
                 "loaded: .shell, .system, .load, pipes, readfile(), writefile(), edit() and load_extension() are refused, and so are\n"
                 "archives (-A, .archive), for which there are tar and zip.");
