/* addon: libshell for Node, over N-API 8.
 *
 * One Env a JavaScript thread. Runs go on the Env's own threads, which grow on demand and never touch JavaScript: what a run asks of the
 * embedder travels as a Message to the JavaScript thread, and its answer comes back by shell_answer, or, where shell.h wants it at
 * once, to a thread that waits. A synchronous run, and a file call, call JavaScript on their own stack.
 *
 * Functions of JavaScript are kept in JavaScript, by number: nothing here keeps a shell's object alive. `dispatch` is the one function
 * that is called, with a kind, the number of the shell, a token to answer with (null: answer by returning) and the rest.
 *
 * Every shell has a lock, held by whoever is inside the library with it. A run's thread lets go of it while it pauses and while
 * JavaScript is asked, so that a callback may use the shell's files.
 */
#ifndef LIBSHELL_NODE_ADDON_H
#define LIBSHELL_NODE_ADDON_H

#define NAPI_VERSION 8
#include <node_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "include/shell.h"

typedef struct Env Env;
typedef struct NShell NShell;
typedef struct Run Run;
typedef struct Message Message;

/* ---------- memory of one call's arguments ---------- */

typedef struct ArenaBlock ArenaBlock;
typedef struct {
    ArenaBlock *blocks;
} Arena;
void *arena_alloc(Arena *a, size_t n); /* zeroed; NULL: no memory */
void arena_free(Arena *a);

typedef struct {
    char *data;
    size_t len, cap;
} Bytes;
bool bytes_add(Bytes *b, const char *data, size_t len);

/* ---------- arguments; each `false` has thrown ---------- */

typedef struct {
    napi_env env;
    Arena *arena;
} Reader;
bool is_nothing(napi_env env, napi_value v); /* undefined or null */
napi_value at(napi_env env, napi_value array, uint32_t i);
bool read_bytes(Reader *r, napi_value v, const char **out, size_t *len); /* a string or a Uint8Array; nothing: NULL */
bool read_text(Reader *r, napi_value v, const char **out);               /* the same without a NUL in it */
bool read_list(Reader *r, napi_value v, const char *const **out);
bool read_limits(Reader *r, napi_value v, const shell_limits **out);
int32_t read_int(napi_env env, napi_value v, int32_t otherwise);
double read_number(napi_env env, napi_value v, double otherwise);
bool read_options(Reader *r, napi_value v, shell_options *o);
bool read_net(Reader *r, napi_value v, const shell_net **out);
bool read_policy(Reader *r, napi_value v, const shell_policy **out);
bool read_audit(Reader *r, napi_value v, const shell_audit **out);
bool read_run(Reader *r, napi_value v, Run *run);
bool read_bind(Reader *r, napi_value v, shell_bind *out);

/* ---------- an Env and its threads ---------- */

typedef struct Job {
    struct Job *next;
    void (*work)(struct Job *job);
} Job;

enum { NUMBERS = 10 };

struct Env {
    _Atomic int refs;
    napi_env env;
    napi_threadsafe_function tsf;
    napi_ref dispatch, make_error;
    uint32_t active;        /* jobs that hold the event loop */
    uint64_t next_shell;
    double *numbers;        /* of the newest result; the memory of a Float64Array */
    const char *limit;      /* of the newest result */
    Run *runs;              /* in progress; of the JavaScript thread */
    pthread_mutex_t lock;
    pthread_cond_t work, reply, gone;
    Job *first, **last;
    uint32_t idle, threads, queued;
    bool closing;
};

Env *env_of(napi_env env);
void env_unref(Env *e);
bool env_start(Env *e, Job *job); /* false: no thread could be made */
void env_hold(Env *e);
void env_release(Env *e);
void env_close(void *env);

/* ---------- shells ---------- */

typedef struct Call Call;

struct NShell {
    _Atomic int refs;
    Env *env;
    shell *sh;
    uint64_t number;
    pthread_mutex_t lock;
    pthread_cond_t turn;   /* nobody wants it any more */
    _Atomic uint32_t wanted; /* by the JavaScript thread, while a run's thread has it */
    Run *run;
    uint32_t inside;       /* functions of JavaScript that it asked and that have not answered */
    Call *calls;
    Bytes audit;
    uint64_t time_ms;      /* its time limit */
    bool closed;
};

NShell *shell_new(Env *e);
void shell_ref(NShell *s);
void shell_unref(NShell *s); /* on the JavaScript thread */
NShell *shell_arg(napi_env env, napi_value v);
NShell *shell_idle(napi_env env, napi_value v); /* the same; throws when it runs */
napi_value shell_handle(napi_env env, NShell *s); /* takes the reference */
napi_value shell_throw(napi_env env, NShell *s, shell_err err, const char *path);
napi_value throw_message(napi_env env, shell_err err, const char *message, const char *path);
/* Around a file call: false has thrown. */
bool shell_enter(napi_env env, NShell *s, const char *path);
void shell_leave(NShell *s);
void shell_give_way(NShell *s); /* with the lock, between two steps */
/* The lock, for the JavaScript thread: a run that could go on for ever lets it in. */
void shell_want(NShell *s);
void shell_yield_back(NShell *s);

/* Which shell this thread is inside the library with, and whether JavaScript may be called. */
typedef struct {
    NShell *shell;
    Run *run;
    bool direct;
} Current;
extern _Thread_local Current current;

/* ---------- messages ---------- */

enum { SAY_DONE, SAY_OUTPUT, SAY_CALL, SAY_KILLED, SAY_ASK, SAY_NET, SAY_MOUNT, SAY_AUDIT, SAY_OPENED, SAY_TRANSFER };

struct Message {
    void (*deliver)(napi_env env, Message *m); /* on the JavaScript thread; env NULL: it is ending. Owns m */
};
bool say(Env *e, Message *m);
/* Calls dispatch; NULL: it threw, or JavaScript cannot run any more. argv[0] is the kind. */
napi_value dispatch(Env *e, size_t argc, napi_value *argv);
napi_value number(napi_env env, double d);
napi_value text(napi_env env, const char *s);
napi_value text_n(napi_env env, const char *s, size_t n);
napi_value bytes_value(napi_env env, const char *data, size_t len); /* a copy, as ArrayBuffer */
napi_value nothing(napi_env env);
napi_value null_value(napi_env env);

/* ---------- runs ---------- */

typedef struct Piece {
    struct Piece *next;
    int32_t stream;
    size_t len;
    char data[];
} Piece;

struct Run {
    Job job;
    Message done, output;
    NShell *shell;
    Run *next;
    double id;
    Arena arena;
    const char *script;
    size_t len;
    shell_run_opts opts;
    shell_result *result;
    shell_err err;
    char message[256];
    _Atomic bool cancelled;
    int64_t deadline_ns;     /* when a thread that waits for JavaScript gives up; 0: never */
    pthread_mutex_t lock;    /* of what follows */
    Piece *first, **last;
    size_t held;
    bool told, refused, broken, wants_output;
};

napi_value node_run(napi_env env, napi_callback_info info);
napi_value node_run_sync(napi_env env, napi_callback_info info);
napi_value node_take(napi_env env, napi_callback_info info);
napi_value node_cancel(napi_env env, napi_callback_info info);
napi_value node_break_output(napi_env env, napi_callback_info info);
napi_value node_format_result(napi_env env, napi_callback_info info);
void run_cancel(Run *r);
int64_t now_ns(void);
void audit_flush(NShell *s);

/* ---------- what a shell asks ---------- */

int32_t on_ask(void *user, const shell_question *q, char *reason, uint64_t size);
int32_t on_decide(void *user, const char *method, const char *url, uint32_t hop, int64_t body_len);
int32_t on_resolve(void *user, const char *host, char *out, uint64_t size);
int64_t on_secret(void *user, uint64_t index, const char *method, const char *url, char *out, uint64_t size);
int64_t on_sign(void *user, uint64_t index, const char *method, const char *url, const char *body, uint64_t body_len, char *out, uint64_t size);
int32_t on_transfer(void *user, const shell_transfer *r, void **handle, char *why, uint64_t why_size);
int64_t on_transfer_send(void *user, void *handle, const char *data, uint64_t len);
int64_t on_transfer_receive(void *user, void *handle, char *out, uint64_t size);
void on_transfer_close(void *user, void *handle);
void on_audit(void *user, const char *line, uint64_t len);
const shell_component *on_component(void *user, const char *name);

/* Every function of the addon, by its name in JavaScript. */
typedef struct {
    const char *name;
    napi_callback function;
} Export;
extern const Export run_exports[], shell_exports[], file_exports[], ask_exports[], command_exports[], mount_exports[], transport_exports[];

enum { MOST_ARGS = 8 };
/* Fetches up to MOST_ARGS arguments; what was not given is undefined. */
void get_args(napi_env env, napi_callback_info info, napi_value *argv);

#endif
