/* sqlite3: what the command's files share. The command line of SQLite 3.40 over the data component; databases are files of the shell, which
 * are read whole before they are opened and written back, where they changed, after each statement that left no transaction open.
 */
#ifndef LIBSHELL_SQLITE3_H
#define LIBSHELL_SQLITE3_H

#include <sys/stat.h>

#include "file/file.h"

enum { SQL_OK = 0, SQL_ERROR = 1, SQL_NOMEM = 7, SQL_INTERRUPT = 9, SQL_CANTOPEN = 14, SQL_ROW = 100, SQL_DONE = 101 };
enum { TYPE_INTEGER = 1, TYPE_FLOAT, TYPE_TEXT, TYPE_BLOB, TYPE_NULL };

typedef enum { MODE_LIST, MODE_CSV, MODE_COLUMN, MODE_LINE, MODE_TABLE, MODE_BOX, MODE_MARKDOWN, MODE_JSON, MODE_INSERT, MODE_HTML, MODE_TABS, MODE_QUOTE, MODE_ASCII, MODE_TCL, MODE_EXPLAIN, MODE_EQP, MODE_COUNT } Mode;

enum { WIDTHS_MOST = 200 };

/* How results are shown. */
typedef struct Show {
    Mode mode;
    bool header, header_set, quoted;
    int wrap;
    bool word_wrap;
    const char *null, *column, *row; /* separators */
    const char *table;               /* of mode insert */
} Show;

typedef struct Sql {
    Proc *p;
    const DataComponent *api;
    SqlSession *session;
    struct sqlite3 *db;
    const char *name; /* of the database, as given; "" temporary */
    bool readonly, closing;
    Show show;
    int widths[WIDTHS_MOST];
    size_t width_count;
    Output *out;
    int out_fd;       /* 1, or a file's */
    const char *out_name;
    bool once;        /* back to standard output after the next statement */
    bool echo, bail, changes, timer, stats;
    int eqp, explain; /* explain: 0 off, 1 on, 2 as the statement is */
    uint64_t line;
    int depth;        /* of .read */
    bool done;        /* .quit */
    int status;
} Sql;

/* Text that an error left, in p->mem; NULL: none. */
typedef struct SqlResult {
    int code;
    const char *message;
} SqlResult;

/* --- sqlite3.c --- */
void sql_open(Sql *s, const char *name, bool complain);
void sql_close(Sql *s);
int sql_connect(Sql *s, const char *name, bool readonly, struct sqlite3 **db); /* another database */
SqlResult sql_run(Sql *s, const char *text);          /* shows what it gives */
int sql_input(Sql *s, int fd, const char *name);      /* lines of a script; the number of errors */
int sql_step(Sql *s, struct sqlite3_stmt *stmt);      /* hands over files that are wanted; raises when the time is over */
int sql_prepare(Sql *s, const char *text, struct sqlite3_stmt **stmt, const char **tail);
void sql_sync(Sql *s);                                /* files that changed are written */
void sql_say(Sql *s, const char *format, ...) PRINTF_LIKE(2, 3); /* on stderr */
void sql_output(Sql *s, const char *file, bool once);
/* Rows of a query, the first columns as text; each(s, arg, stmt). */
int sql_each(Sql *s, const char *text, void (*each)(Sql *s, void *arg, struct sqlite3_stmt *stmt), void *arg);
Slice sql_text(Sql *s, struct sqlite3_stmt *stmt, int i);

/* --- print.c --- */
int show_rows(Sql *s, struct sqlite3_stmt *stmt); /* steps to the end; the last code */
void put_quoted(Sql *s, Slice text);              /* 'it''s' */
void put_insert_value(Sql *s, struct sqlite3_stmt *stmt, int i, bool escape);
const char *mode_name(Mode m);
bool mode_set(Sql *s, const char *name);
void put_c_string(Sql *s, Slice text);
const char *quoted_name(Sql *s, const char *name); /* an identifier, "quoted" when it must be */

/* --- dot.c --- */
int dot_command(Sql *s, char *line); /* 0 fine, 1 an error, 2 end */

/* --- dump.c --- */
int dot_dump(Sql *s, int argc, char **argv);
int dot_import(Sql *s, int argc, char **argv);
int dot_clone(Sql *s, const char *name);
void clone_rows(Sql *s, struct sqlite3 *to, const char *table);

#endif
