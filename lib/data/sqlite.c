/* sqlite: the table over SQLite, and the VFS of a session, whose files lie in memory.
 *
 * The VFS is registered under a name of its own while the session lives, never as the default one, and named at every open. Nothing else of
 * the process is set: no sqlite3_config, no default, no extension. Names of URIs are not looked at.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/shell.h"
#include "lib/kernel/component.h"

extern const YamlFunctions yaml_functions; /* yaml.c */
extern const XmlFunctions xml_functions;   /* xml.c */

typedef struct Node {
    struct Node *next;
    char *name;
    unsigned char *data;
    uint64_t size, cap, low, high; /* low > high: clean */
    bool exists, writable, changed, deleted, temporary;
    int opens;
} Node;

struct SqlSession {
    SqlHost host;
    sqlite3_vfs vfs;
    char vfs_name[32];
    Node *nodes;
    char *wanted;
    bool over_budget;
    struct Watch *watches; /* one for each open connection */
    struct Statement *statements;
};

typedef struct Watch {
    struct Watch *next;
    SqlSession *session;
    sqlite3 *db;
} Watch;

typedef struct Statement {
    struct Statement *next;
    sqlite3_stmt *stmt;
} Statement;

typedef struct File {
    sqlite3_file base;
    SqlSession *session;
    Node *node;
    bool delete_on_close;
} File;

static void *take(SqlSession *s, size_t n) { return s->host.mem->alloc(s->host.mem->user, n); }
static void drop(SqlSession *s, void *block) { s->host.mem->free(s->host.mem->user, block); }

static char *copy_text(SqlSession *s, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = take(s, n);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

static Node *find(SqlSession *s, const char *name)
{
    for (Node *n = s->nodes; n; n = n->next)
        if (n->name && strcmp(n->name, name) == 0)
            return n;
    return NULL;
}

static Node *make(SqlSession *s, const char *name)
{
    Node *n = take(s, sizeof *n);
    if (!n)
        return NULL;
    *n = (Node){.low = UINT64_MAX, .writable = true};
    if (name && !(n->name = copy_text(s, name))) {
        drop(s, n);
        return NULL;
    }
    n->temporary = !name;
    n->next = s->nodes;
    s->nodes = n;
    return n;
}

static bool reserve(SqlSession *s, Node *n, uint64_t size)
{
    if (size <= n->cap)
        return true;
    uint64_t cap = n->cap ? n->cap : 4096;
    while (cap < size)
        cap += cap / 2 + 4096;
    unsigned char *data = cap > SIZE_MAX / 2 ? NULL : take(s, (size_t)cap);
    if (!data)
        return false;
    if (n->size)
        memcpy(data, n->data, (size_t)n->size);
    drop(s, n->data);
    n->data = data;
    n->cap = cap;
    return true;
}

/* --- files --- */

static int file_close(sqlite3_file *f)
{
    File *file = (File *)f;
    Node *n = file->node;
    n->opens--;
    if (file->delete_on_close && n->opens == 0) {
        n->exists = false;
        n->size = 0;
    }
    return SQLITE_OK;
}

static int file_read(sqlite3_file *f, void *out, int count, sqlite3_int64 at)
{
    Node *n = ((File *)f)->node;
    uint64_t have = (uint64_t)at < n->size ? n->size - (uint64_t)at : 0;
    size_t k = have < (uint64_t)count ? (size_t)have : (size_t)count;
    if (k)
        memcpy(out, n->data + at, k);
    if (k == (size_t)count)
        return SQLITE_OK;
    memset((char *)out + k, 0, (size_t)count - k);
    return SQLITE_IOERR_SHORT_READ;
}

static void touch(Node *n, uint64_t low, uint64_t high)
{
    n->changed = true;
    n->low = low < n->low ? low : n->low;
    n->high = high > n->high ? high : n->high;
}

static int file_write(sqlite3_file *f, const void *data, int count, sqlite3_int64 at)
{
    File *file = (File *)f;
    Node *n = file->node;
    uint64_t end = (uint64_t)at + (uint64_t)count;
    if (!reserve(file->session, n, end))
        return SQLITE_FULL;
    if ((uint64_t)at > n->size)
        memset(n->data + n->size, 0, (size_t)((uint64_t)at - n->size));
    memcpy(n->data + at, data, (size_t)count);
    touch(n, (uint64_t)at > n->size ? n->size : (uint64_t)at, end);
    n->size = end > n->size ? end : n->size;
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    Node *n = ((File *)f)->node;
    if ((uint64_t)size < n->size) {
        n->size = (uint64_t)size;
        touch(n, n->size, n->size);
    }
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *f, int flags) { (void)f; (void)flags; return SQLITE_OK; }
static int file_size(sqlite3_file *f, sqlite3_int64 *size) { *size = (sqlite3_int64)((File *)f)->node->size; return SQLITE_OK; }
static int file_lock(sqlite3_file *f, int level) { (void)f; (void)level; return SQLITE_OK; }
static int file_reserved(sqlite3_file *f, int *out) { (void)f; *out = 0; return SQLITE_OK; }
static int file_control(sqlite3_file *f, int op, void *arg) { (void)f; (void)op; (void)arg; return SQLITE_NOTFOUND; }
static int file_sector(sqlite3_file *f) { (void)f; return 0; }
static int file_features(sqlite3_file *f) { (void)f; return 0; }

/* Version 1: no shared memory, no mapping. */
static const sqlite3_io_methods methods = {.iVersion = 1, .xClose = file_close, .xRead = file_read, .xWrite = file_write, .xTruncate = file_truncate,
                                           .xSync = file_sync, .xFileSize = file_size, .xLock = file_lock, .xUnlock = file_lock, .xCheckReservedLock = file_reserved,
                                           .xFileControl = file_control, .xSectorSize = file_sector, .xDeviceCharacteristics = file_features};

/* --- the VFS --- */

static bool is_journal(const char *name)
{
    size_t n = strlen(name);
    return (n > 8 && strcmp(name + n - 8, "-journal") == 0) || (n > 4 && strcmp(name + n - 4, "-wal") == 0);
}

static void want(SqlSession *s, const char *name)
{
    if (!s->wanted)
        s->wanted = copy_text(s, name);
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out_flags)
{
    SqlSession *s = vfs->pAppData;
    File *file = (File *)f;
    file->base.pMethods = NULL;
    Node *n = name ? find(s, name) : NULL;
    if (!n && name && !is_journal(name) && (flags & (SQLITE_OPEN_MAIN_DB))) {
        want(s, name);
        return SQLITE_CANTOPEN;
    }
    if (!n)
        n = make(s, name);
    if (!n)
        return SQLITE_NOMEM;
    if (!n->exists && !(flags & SQLITE_OPEN_CREATE))
        return SQLITE_CANTOPEN;
    if (!n->exists && !n->writable)
        return SQLITE_CANTOPEN;
    if (!n->exists) {
        n->exists = true;
        n->deleted = false;
        touch(n, 0, 0);
    }
    if ((flags & SQLITE_OPEN_READWRITE) && !n->writable) {
        flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    }
    n->opens++;
    *file = (File){.base = {&methods}, .session = s, .node = n, .delete_on_close = flags & SQLITE_OPEN_DELETEONCLOSE};
    if (out_flags)
        *out_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)sync;
    Node *n = find(vfs->pAppData, name);
    if (!n || !n->exists)
        return SQLITE_IOERR_DELETE_NOENT;
    n->exists = false;
    n->deleted = n->changed = true;
    n->size = 0;
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    Node *n = find(vfs->pAppData, name);
    (void)flags;
    *out = n && n->exists && (n->size > 0 || !is_journal(name));
    return SQLITE_OK;
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
    SqlSession *s = vfs->pAppData;
    const char *directory = *name == '/' ? "" : s->host.directory;
    size_t len = strlen(directory);
    if (name[0] == '.' && name[1] == '/')
        name += 2;
    int k = snprintf(out, (size_t)n, "%s%s%s", directory, *name == '/' || (len && directory[len - 1] == '/') ? "" : "/", name);
    return k > 0 && k < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

static void *vfs_load(sqlite3_vfs *vfs, const char *name) { (void)vfs; (void)name; return NULL; }
static void vfs_load_error(sqlite3_vfs *vfs, int n, char *out) { (void)vfs; snprintf(out, (size_t)n, "no extensions"); }
static void (*vfs_symbol(sqlite3_vfs *vfs, void *handle, const char *name))(void) { (void)vfs; (void)handle; (void)name; return NULL; }
static void vfs_unload(sqlite3_vfs *vfs, void *handle) { (void)vfs; (void)handle; }

/* Seeds are the process's default VFS's. */
static int vfs_random(sqlite3_vfs *vfs, int n, char *out)
{
    (void)vfs;
    sqlite3_vfs *base = sqlite3_vfs_find(NULL);
    return base ? base->xRandomness(base, n, out) : 0;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us) { (void)vfs; (void)us; return 0; }

static int vfs_time(sqlite3_vfs *vfs, sqlite3_int64 *ms)
{
    SqlSession *s = vfs->pAppData;
    *ms = 24405875ll * 8640000 + s->host.now(s->host.user);
    return SQLITE_OK;
}

static int vfs_time_days(sqlite3_vfs *vfs, double *days)
{
    sqlite3_int64 ms;
    vfs_time(vfs, &ms);
    *days = (double)ms / 86400000.0;
    return SQLITE_OK;
}

static int vfs_error(sqlite3_vfs *vfs, int n, char *out) { (void)vfs; (void)n; (void)out; return 0; }

/* --- sessions --- */

static SqlSession *session_new(const SqlHost *host)
{
    SqlSession *s = host->mem->alloc(host->mem->user, sizeof *s);
    if (!s)
        return NULL;
    *s = (SqlSession){.host = *host};
    snprintf(s->vfs_name, sizeof s->vfs_name, "libshell-%p", (void *)s);
    s->vfs = (sqlite3_vfs){.iVersion = 2, .szOsFile = sizeof(File), .mxPathname = 4096, .zName = s->vfs_name, .pAppData = s, .xOpen = vfs_open, .xDelete = vfs_delete,
                           .xAccess = vfs_access, .xFullPathname = vfs_full_name, .xDlOpen = vfs_load, .xDlError = vfs_load_error, .xDlSym = vfs_symbol, .xDlClose = vfs_unload,
                           .xRandomness = vfs_random, .xSleep = vfs_sleep, .xCurrentTime = vfs_time_days, .xGetLastError = vfs_error, .xCurrentTimeInt64 = vfs_time};
    if (sqlite3_vfs_register(&s->vfs, 0) == SQLITE_OK)
        return s;
    drop(s, s);
    return NULL;
}

/* The statements are kept by us: a virtual table's own, which sqlite3_next_stmt gives as well, are finalized by the table. */
static int statement_prepare(SqlSession *s, sqlite3 *db, const char *sql, int n, sqlite3_stmt **stmt, const char **tail)
{
    int code = sqlite3_prepare_v2(db, sql, n, stmt, tail);
    if (code != SQLITE_OK || !*stmt)
        return code;
    Statement *kept = take(s, sizeof *kept);
    if (!kept) {
        sqlite3_finalize(*stmt);
        *stmt = NULL;
        return SQLITE_NOMEM;
    }
    *kept = (Statement){s->statements, *stmt};
    s->statements = kept;
    return code;
}

static int statement_finalize(SqlSession *s, sqlite3_stmt *stmt)
{
    for (Statement **at = &s->statements; stmt && *at; at = &(*at)->next)
        if ((*at)->stmt == stmt) {
            Statement *next = (*at)->next;
            drop(s, *at);
            *at = next;
            break;
        }
    return sqlite3_finalize(stmt);
}

static int connection_close(SqlSession *s, sqlite3 *db)
{
    for (Statement **at = &s->statements; *at;)
        if (sqlite3_db_handle((*at)->stmt) == db)
            statement_finalize(s, (*at)->stmt); /* a raise may have left some */
        else
            at = &(*at)->next;
    return sqlite3_close(db);
}

static void session_free(SqlSession *s)
{
    while (s->watches)
        connection_close(s, s->watches->db);
    sqlite3_vfs_unregister(&s->vfs);
    for (Node *n = s->nodes, *next; n; n = next) {
        next = n->next;
        drop(s, n->data);
        drop(s, n->name);
        drop(s, n);
    }
    drop(s, s->wanted);
    drop(s, s);
}

static const char *session_wanted(SqlSession *s)
{
    return s->wanted;
}

static bool session_give(SqlSession *s, const char *name, const void *data, size_t size, bool exists, bool writable)
{
    drop(s, s->wanted);
    s->wanted = NULL;
    Node *n = find(s, name);
    if (!n)
        n = make(s, name);
    if (!n || !reserve(s, n, size))
        return false;
    if (size)
        memcpy(n->data, data, size);
    n->size = size;
    n->exists = exists;
    n->writable = writable;
    n->changed = n->deleted = false;
    n->low = UINT64_MAX;
    n->high = 0;
    return true;
}

static bool session_change(SqlSession *s, SqlChange *out)
{
    for (Node *n = s->nodes; n; n = n->next)
        if (n->changed && !n->temporary) {
            *out = (SqlChange){n->name, n->data, n->size, n->low, n->high < n->size ? n->high : n->size, n->deleted};
            if (out->low > out->high)
                out->low = out->high;
            n->changed = n->deleted = false;
            n->low = UINT64_MAX;
            n->high = 0;
            return true;
        }
    return false;
}

/* --- connections --- */

static uint64_t memory_of(sqlite3 *db)
{
    static const int kinds[] = {SQLITE_DBSTATUS_CACHE_USED, SQLITE_DBSTATUS_SCHEMA_USED, SQLITE_DBSTATUS_STMT_USED};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int now = 0, high = 0;
        sqlite3_db_status(db, kinds[i], &now, &high, 0);
        sum += (uint64_t)now;
    }
    return sum;
}

static int progress(void *user)
{
    Watch *w = user;
    if (w->session->host.due(w->session->host.user))
        return 1;
    w->session->over_budget = memory_of(w->db) > w->session->host.memory;
    return w->session->over_budget;
}

static void unwatch(void *watch)
{
    Watch *w = watch;
    for (Watch **at = &w->session->watches; *at; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            break;
        }
    free(w);
}

static void watched(sqlite3_context *context, int n, sqlite3_value **args)
{
    (void)n;
    (void)args;
    sqlite3_result_null(context);
}

static int connection_open(SqlSession *s, const char *name, bool readonly, sqlite3 **db)
{
    int err = sqlite3_open_v2(name, db, readonly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, s->vfs_name);
    Watch *w = *db ? malloc(sizeof *w) : NULL;
    if (!w) {
        sqlite3_close(*db);
        *db = NULL;
        return SQLITE_NOMEM;
    }
    *w = (Watch){s->watches, s, *db};
    s->watches = w;
    if (err != SQLITE_OK) {
        sqlite3_create_function_v2(*db, "libshell_watch", 0, SQLITE_UTF8, w, watched, NULL, NULL, unwatch);
        return err;
    }
    /* A function whose destructor frees the watch with the connection. */
    err = sqlite3_create_function_v2(*db, "libshell_watch", 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, w, watched, NULL, NULL, unwatch);
    if (err != SQLITE_OK)
        return err;
    sqlite3_progress_handler(*db, 5000, progress, w);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_limit(*db, SQLITE_LIMIT_WORKER_THREADS, 0);
    uint64_t most = s->host.memory / 2;
    if (most < 1000000000)
        sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, (int)most);
    return sqlite3_exec(*db, "PRAGMA temp_store=MEMORY; PRAGMA locking_mode=EXCLUSIVE;", NULL, NULL, NULL);
}

static bool session_over_budget(const SqlSession *s) { return s->over_budget; }

static void format_real(int n, char *out, double v) { sqlite3_snprintf(n, out, "%!.20g", v); }
static int bind_text(sqlite3_stmt *stmt, int i, const char *text, int n) { return text ? sqlite3_bind_text(stmt, i, text, n, SQLITE_TRANSIENT) : sqlite3_bind_null(stmt, i); }
static int bind_value(sqlite3_stmt *to, int i, sqlite3_stmt *from, int column) { return sqlite3_bind_value(to, i, sqlite3_column_value(from, column)); }
static const char *file_name(sqlite3 *db, const char *schema) { return sqlite3_db_filename(db, schema); }

static int copy_database(sqlite3 *to, const char *to_schema, sqlite3 *from, const char *from_schema)
{
    sqlite3_backup *b = sqlite3_backup_init(to, to_schema, from, from_schema);
    if (!b)
        return sqlite3_errcode(to);
    while (sqlite3_backup_step(b, 1000) == SQLITE_OK) {
    }
    return sqlite3_backup_finish(b);
}

static const DataComponent table = {
    session_new, session_free, session_wanted, session_give, session_change, connection_open, session_over_budget, connection_close, statement_prepare, sqlite3_step, statement_finalize,
    sqlite3_reset, sqlite3_column_count, sqlite3_column_name, sqlite3_column_type, sqlite3_column_text, sqlite3_column_blob, sqlite3_column_bytes, sqlite3_column_double,
    format_real, sqlite3_bind_parameter_count, sqlite3_bind_parameter_name, bind_text, bind_value, sqlite3_errmsg, sqlite3_error_offset, sqlite3_sql, sqlite3_stmt_isexplain,
    sqlite3_complete, sqlite3_get_autocommit, sqlite3_changes, sqlite3_total_changes, sqlite3_limit, file_name, sqlite3_db_readonly, copy_database, sqlite3_keyword_check,
    SQLITE_VERSION, SQLITE_SOURCE_ID, &yaml_functions, &xml_functions,
};

const shell_component *libshell_data(void)
{
    static const shell_component component = {sizeof component, "data", SHELL_VERSION, &table, sizeof table};
    return &component;
}
