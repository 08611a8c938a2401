/* mcp: the Model Context Protocol server's parts and what they share.
 *
 * One thread reads requests (mcp.c) and answers at once what needs no shell. A session is a shell with a thread and a queue of calls
 * (mcp_session.c), so calls on one keep their order and sessions run beside each other. The tools are a table (mcp_tools.c). One more thread
 * sends progress and ends sessions that are idle or old.
 *
 * Locks: `state` guards sessions, queues, snapshots and a job's flags; `out` guards standard output and whether a job was answered. Who has `out`
 * takes no other; nothing is written under `state`.
 */
#ifndef LIBSHELL_CLI_MCP_H
#define LIBSHELL_CLI_MCP_H

#include <pthread.h>

#include "cli.h"
#include "value.h"

enum { HANDLE = 33 }; /* 128 bits in hexadecimal, and NUL */
enum { PARSE_ERROR = -32700, INVALID_REQUEST = -32600, METHOD_NOT_FOUND = -32601, INVALID_PARAMS = -32602, INTERNAL_ERROR = -32603,
       UNSUPPORTED_VERSION = -32022 };

typedef enum { REVISION_NONE, REVISION_2025_06, REVISION_2025_11, REVISION_2026_07 } Revision;

typedef struct Server Server;
typedef struct Session Session;
typedef struct Job Job;
typedef struct Snapshot Snapshot;

typedef struct {
    Text text, structured; /* structured: members of an object, without its braces */
    bool error;
} Reply;

typedef struct {
    const char *name, *type, *text; /* type: a JSON Schema name */
    bool required;
} Field;

enum { HINT_READ_ONLY = 1, HINT_DESTRUCTIVE = 2, HINT_IDEMPOTENT = 4, HINT_OPEN_WORLD = 8 };
typedef struct {
    const char *name, *title, *text; /* text NULL: what shell_describe says */
    Field fields[8];
    const char *output;              /* the output schema */
    unsigned hints;
    void (*run)(Job *job, Reply *reply);     /* on the session's thread; NULL: see now */
    void (*now)(Server *sv, Job *job, Reply *reply); /* on the thread that reads */
} Tool;

/* A request, from its line to its answer. */
struct Job {
    Job *next;
    Doc doc;
    const Value *args;
    const Tool *tool;
    Text id, token;          /* as JSON; token empty: no progress is wanted */
    Revision revision;
    Server *server;
    Session *session;
    unsigned holders;        /* state */
    bool cancelled, stepping; /* state */
    bool answered;           /* out */
    bool closes;             /* the session ends after it */
    int64_t begun, told;     /* ns; begun 0: waits in the queue */
};

struct Session {
    Session *next;
    Server *server;
    char handle[HANDLE];     /* "": the server's own */
    shell *sh;
    shell_audit audit;
    bool audited, ended;     /* ended: not found any more, what is queued is still done */
    Job *first, *last, *current;
    pthread_cond_t wake;
    int64_t made, used;      /* ns */
};

struct Snapshot {
    Snapshot *next;
    char handle[HANDLE];
    char *data;
    uint64_t len;
};

struct Server {
    const Settings *settings;
    shell *pristine;         /* never run; sessions are its forks */
    pthread_mutex_t state, out;
    pthread_cond_t changed;  /* a session went */
    pthread_cond_t tick;
    Session *sessions;       /* all that have a thread */
    Session *own;            /* for calls that name none */
    unsigned count, opened;
    Snapshot *snapshots;     /* newest first */
    Revision revision;       /* what initialize settled */
    Text tools, about;       /* the list, and instructions, as JSON; made when first asked for */
    bool stopping;
    int fd;                  /* where messages go */
};

/* mcp.c */
void server_line(Server *sv, const char *line, size_t len); /* one message */
void job_answer(Job *job, const Reply *reply);
void job_release(Job *job);                                 /* state not held */
void server_write(Server *sv, const Text *message);         /* out held */

/* mcp_session.c */
int64_t now_ns(void);
bool server_start(Server *sv, shell *pristine, const Settings *s, int fd); /* with its own session and ticker */
void server_stop(Server *sv);                               /* waits for what runs, not for long */
const char *session_open(Server *sv, Session **out);        /* NULL, or why not */
Session *session_find(Server *sv, const char *handle, size_t len); /* state held */
void session_queue(Session *session, Job *job);             /* state held */
void session_end(Session *session);                         /* state held */
void server_cancel(Server *sv, const Text *id);
/* Runs a script on the job's session; can be cancelled. */
shell_err job_run(Job *job, const char *script, size_t len, const shell_run_opts *opts, shell_result **out);
bool random_handle(char out[HANDLE]);

/* mcp_tools.c */
const Tool *tool_find(const Value *name);
/* Whether the arguments are what the tool takes; else the reply says which is not. */
bool tool_check(const Tool *tool, const Value *args, Reply *reply);
void tools_json(shell *sh, Text *out);
void reply_error(Reply *reply, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
