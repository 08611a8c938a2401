/* kernel: the one place that says no. Processes, descriptors, pipes, the scheduler; paths, clock, randomness,
 * limits, events.
 *
 * Below it: base, vfs. Above it: lang and the commands (through builtins/command.h), api. A command or
 * interpreter runs as a Proc on a coroutine; the caller's stack belongs to kern_step alone.
 *
 * Memory: p->mem is the process's context and goes when it ends; descriptors and what proc_own
 * registers go with it. Commands free nothing.
 *
 * Failure: file calls return 0 or a count, or -errno. What ends a process (exit, a signal, a
 * limit, the deadline, cancel, no memory) is raised: a longjmp to the process's innermost guard, always on its own
 * stack. proc_tick, blocking calls, allocation from p->mem and writes may raise. Kernel
 * structures are never half changed when they do.
 *
 * Only lib/kernel/host_*.c names system calls.
 */
#ifndef LIBSHELL_KERNEL_H
#define LIBSHELL_KERNEL_H

#include <setjmp.h>

#include "lib/base/mem.h"
#include "lib/base/obj.h"
#include "lib/base/regex.h"
#include "vfs/vfs.h"

typedef struct Kernel Kernel; /* one a shell */
typedef struct Proc Proc;
typedef struct Task Task;     /* a coroutine and the processes nested on it by plain calls */
typedef struct File File;     /* an open file description: what descriptors share */
typedef struct FdTable FdTable;
typedef struct Output Output;

typedef struct WaitQueue { Task *first, *last; } WaitQueue;

/* ---------- raising ---------- */

typedef enum {
    RAISE_NONE,
    RAISE_EXIT,     /* status in p->status */
    RAISE_COMMAND,  /* die, a usage error: ends this command only (the interpreter guards its builtins); for a program, the process */
    RAISE_SIGNAL,   /* killed by signal p->signal */
    RAISE_MEMORY,   /* budget or malloc */
    RAISE_LIMIT,    /* another limit: kernel's `limit_hit` says which */
    RAISE_DEADLINE,
    RAISE_CANCEL,
    RAISE_LANG,     /* the interpreter's own (errexit, unbound variable): caught in lang, never leaves it */
} RaiseKind;

/* A guard lives in the frame that catches; guards nest within one Proc.
 *
 *     Guard g;
 *     if (!(kind = guard_enter(p, &g))) { work(); guard_leave(p, &g); } else { clean up; }
 *
 * A raise leaves the guard before it returns. The end of run kinds (memory, limit, deadline, cancel) must
 * be passed on with proc_raise after the clean-up. */
typedef struct Guard {
    jmp_buf jump;
    struct Guard *outer;
    unsigned masked; /* p->masked when it was entered: a raise brings it back */
} Guard;

#define guard_enter(p, g) (guard_push((p), (g)), (RaiseKind)setjmp((g)->jump))
void guard_push(Proc *p, Guard *g);
void guard_leave(Proc *p, Guard *g);
NORETURN void proc_raise(Proc *p, RaiseKind kind);
NORETURN void proc_exit(Proc *p, int status);
NORETURN void proc_fail(Proc *p, int status); /* RAISE_COMMAND */

/* ---------- processes ---------- */

/* Where a process's environment comes from; asked only when something looks. NUL-terminated strings. */
typedef struct ProcEnv {
    const char *(*get)(const struct ProcEnv *env, Proc *p, const char *name); /* NULL: unset; valid until it changes */
    char **(*list)(const struct ProcEnv *env, Proc *p); /* NAME=VALUE, NULL-terminated, in p->mem */
} ProcEnv;

/* A buffered descriptor. p->out and p->err exist in every process. The kernel flushes p->out before p starts, calls or waits for
 * another process, blocks on input, changes its descriptors 1 or 2, or ends; p->err is flushed after each message. */
struct Output {
    Proc *proc;
    char *data;
    size_t len, cap;
    int fd;
    int error;          /* first -errno of a failed write, kept; output_status reports it as "write error" */
    bool line_buffered;
};

void output_init(Proc *p, Output *o, int fd);
void output_flush(Output *o);
void output_slow(Output *o, Slice s);

/* Every limit, signal and descriptor table is a process's own or inherited by value. */
struct Proc {
    Kernel *kernel;
    Task *task;
    Proc *parent;
    Proc *caller;       /* whose plain call this is, or NULL when it has a coroutine of its own */
    Mem mem;            /* results and scratch: loops mark and reset it */
    Mem keep;           /* never reset: buffers, owners, a command's tables; goes with the process */
    Output *out, *err;
    const char *name;   /* argv[0] as messages show it */
    char *const *argv;  /* what the program that runs was called with, NULL in a shell of the script's; the caller's, valid until the program ends */
    int argc;
    const char *comm;   /* the program's name, without its directory; NULL: a shell */
    FdTable *fds;
    VDir *cwd;
    VCred cred;
    const ProcEnv *env;
    void *lang;         /* the interpreter, in a process that runs one; NULL in a spawned program */
    Guard *guard;
    pid_t pid, pgid;
    int status;         /* after RAISE_EXIT or at the end: 0..255 */
    int signal;         /* that killed it, or 0 */
    unsigned depth;     /* of plain calls, for the depth limit */
    uint64_t pending;   /* signals sent and not yet delivered: SIGNAL_BIT(n) */
    uint64_t ignored;
    uint64_t caught;    /* lang has a trap for them: proc_tick calls the hook on_signal */
    uint64_t collected; /* proc_catch: kept for proc_caught, waits return -EINTR */
    unsigned masked;    /* > 0: proc_tick does not deliver */
    /* private to the kernel */
    Proc *next, *prev;        /* in the process table */
    struct Owned *owned;
    WaitQueue child_ended;    /* waiters of this process for its children */
    Output outputs[2];
    void *command_user;
    int wstatus;
    uint32_t children_ended;  /* since somebody looked: what a trap on CHLD counts */
    int doomed;               /* a signal that is to end it at its next look */
    bool ended, started, orphan, kernels_own; /* kernels_own: the shell's main process */
};

/* Every loop calls it: cost 1 is about one command or a hundred bytes' work. Charges the step budget and now and
 * then looks at clock, cancel and signals, and lets others run. May raise. Not while a structure is half changed
 * or a library's frame is on the stack. */
extern void proc_tick_slow(Proc *p);
static inline void proc_tick(Proc *p, uint64_t cost);

/* Charges the step budget; true when that is spent, or the run is cancelled or past its deadline: the next proc_tick_slow raises. Does not
 * raise or switch itself: for libraries' callbacks. */
bool proc_due(Proc *p, uint64_t cost);

/* True when at least `bytes` of stack remain; recursion asks, and fails in words when not. */
bool proc_stack_room(const Proc *p, size_t bytes);

#define SIGNAL_BIT(n) (1ull << ((n) - 1)) /* 1..64 */

/* release(p, thing) at the end of the process, newest first: for what contexts do not free. When the note of it cannot be
 * allocated, `thing` is released before raising. */
void proc_own(Proc *p, void (*release)(Proc *p, void *thing), void *thing);
void proc_disown(Proc *p, void *thing); /* release now */

/* A further context of the process, for tables that are dropped before it ends. */
Mem *proc_mem_new(Proc *p);
void proc_mem_drop(Proc *p, Mem *m);

/* The shell's compiled patterns. The result is the process's until it ends; raises when memory is short, NULL with *err for a bad pattern. */
Re *proc_regex(Proc *p, Slice pattern, ReSyntax syntax, unsigned flags, ReError *err);
ReEnv proc_re_env(Proc *p); /* ticks and memory of this process */

typedef int (*ProcMain)(Proc *p, void *arg); /* returns the exit status */

typedef enum { STACK_SMALL, STACK_MEDIUM, STACK_LARGE } StackSize;

/* A child is made in two steps, so that it takes what it inherits at the moment of the fork.
 *
 * proc_child: an embryo with p's descriptors (copy-on-write), cwd, umask, ignored signals and group; env is copied as a pointer, lang is
 * NULL; it does not run. The caller sets lang and env, makes redirections with proc_dup2(child, ...) and copies what main needs into
 * child->keep. NULL with *error -EAGAIN (processes, stacks) or -ENOMEM. It is discarded with its parent unless started.
 *
 * proc_call runs main(child, arg) to its end on the caller's own coroutine and returns its wait status: for what the caller would only wait
 * for. proc_start gives it a coroutine, behind those that are ready; its pid or -EAGAIN (it is then discarded). If it is killed before it
 * first runs, main is not called and what it owns is released. */
Proc *proc_child(Proc *p, int *error);
void proc_discard(Proc *child);
int proc_call(Proc *child, ProcMain main, void *arg);
pid_t proc_start(Proc *child, ProcMain main, void *arg, StackSize stack);

/* Wait statuses: status << 8, or the signal number, as wait(2). */
#define WSTATUS_EXIT(s) (((s) & 255) << 8)
static inline int WSTATUS_TO_SHELL(int w) { return w & 127 ? 128 + (w & 127) : w >> 8 & 255; }

enum { WAIT_NOHANG = 1 };
/* Waits for child `pid` (-1: any; < -1: of that group). Its pid, 0 (nothing yet, with WAIT_NOHANG), -ECHILD, -EINTR when a caught
 * signal came, or -ETIMEDOUT after `nanoseconds` (< 0: no bound). */
pid_t proc_wait(Proc *p, pid_t pid, int *wstatus, int flags, int64_t nanoseconds);
/* From here on these signals do not end p: waits and sleeps return -EINTR, proc_caught takes the lowest (0: none). For timeout. */
void proc_catch(Proc *p, uint64_t signals);
int proc_caught(Proc *p);
int proc_kill(Proc *p, pid_t pid, int signal); /* 0, -ESRCH, -EINVAL; pid 0 and negatives address groups */
void proc_setpgid(Proc *p, pid_t pgid);

/* The shell's processes that live, oldest first, in p->mem. */
typedef struct ProcInfo { pid_t pid, ppid, pgid; uint32_t uid, gid; const char *name; const char *args; bool running; } ProcInfo; /* args: argv with blanks between, or the name */
size_t proc_list_all(Proc *p, ProcInfo **out);

/* A lock on an open file's inode, as flock(2): of the open file description, gone with it. `nanoseconds` < 0 waits for ever, 0 not at all. 0,
 * -EWOULDBLOCK (it would wait, or has), -EBADF, -ENOMEM. */
typedef enum { FLOCK_SHARED, FLOCK_EXCLUSIVE, FLOCK_UNLOCK } FlockMode;
int proc_flock(Proc *p, int fd, FlockMode mode, int64_t nanoseconds);
/* A line for the embedder's log: an event. */
void proc_log(Proc *p, const char *tag, const char *text, int priority);

/* Starts a program: the only way. See command.h for the descriptor list. */
typedef struct SpawnFd { int child, parent; } SpawnFd; /* parent -1 closes */
typedef struct SpawnAttr {
    const SpawnFd *fds; /* applied left to right over the inherited table */
    size_t nfds;
    VDir *cwd;          /* NULL: inherited */
    bool no_path;       /* argv[0] is a path even without a slash */
    const char *argv0;  /* exec -a; NULL: argv[0] */
} SpawnAttr;

/* env NULL: the caller's. proc_run waits and returns a wait status; both return -ENOENT (not found), -EACCES (found, not
 * executable or refused), -ENOEXEC, -ELOOP when nothing was started: the caller prints its own message and uses 127 or 126. */
pid_t proc_spawn(Proc *p, char *const argv[], char *const env[], const SpawnAttr *attr);
int proc_run(Proc *p, char *const argv[], char *const env[], const SpawnAttr *attr);

/* How an argv[0] resolves, for `type`, `which`, `hash` and the executor. */
struct Command;
typedef enum { PROGRAM_NONE, PROGRAM_COMMAND, PROGRAM_SCRIPT } ProgramKind;
typedef struct Program {
    ProgramKind kind;
    const struct Command *command; /* PROGRAM_COMMAND */
    const char *path;              /* where it was found, in p->mem */
    int error;                     /* PROGRAM_NONE: -ENOENT or -EACCES ... */
} Program;
Program proc_find(Proc *p, const char *name, const char *path_variable);
/* What stands in for a command that was not found: the one set as KERN_UNKNOWN, or PROGRAM_NONE. Its main may return -ENOENT: not found after all. */
#define KERN_UNKNOWN "//unknown"
Program proc_unknown(Proc *p, const char *name);
/* Runs a found program in this process, as execve would: returns its status. argv in the process's memory; env NULL: its own. */
int proc_exec(Proc *p, const Program *program, int argc, char **argv, char *const env[]);
const ProcEnv *proc_env_list(Proc *p, char *const env[]); /* over NAME=VALUE strings, which it borrows */

/* ---------- descriptors ---------- */

/* V_READ|V_WRITE|... of vfs.h. Returns a descriptor. A FIFO blocks until its other end is opened. */
int proc_open(Proc *p, const char *path, int flags, uint32_t mode);
int proc_close(Proc *p, int fd);
int proc_dup(Proc *p, int fd, int lowest);
int proc_dup2(Proc *p, int from, int to);
int proc_pipe(Proc *p, int fds[2]);
bool proc_fd_valid(Proc *p, int fd);
bool proc_isatty(Proc *p, int fd);
void proc_cloexec(Proc *p, int fd, bool on);
/* Lowest to highest open descriptor after `fd`, or -1. */
int proc_fd_next(Proc *p, int fd);

/* Descriptions without descriptors, for lang's saved redirections, captures and here-documents. */
File *proc_file(Proc *p, int fd);             /* borrowed; NULL when not open */
File *file_ref(File *f);
void file_unref(Kernel *k, File *f);
int proc_install(Proc *p, int fd, File *f);   /* fd -1: lowest free; takes a reference */
/* A readable, seekable description over bytes (kept by reference when chunk is given). */
File *file_from_bytes(Kernel *k, Slice bytes, Chunk *chunk);
/* A writable one that collects, for $( ). `max` 0: the memory budget. Collected bytes are borrowed until the File goes. */
File *file_capture(Kernel *k, uint64_t max);
Slice file_captured(const File *f);
/* Blocks until no other description or descriptor refers to it. */
void proc_wait_sole_holder(Proc *p, File *f);

/* Read at most n bytes; blocks. 0 at the end. -EBADF, -EISDIR, -EINTR never: signals are delivered inside. */
ssize_t proc_read(Proc *p, int fd, char *buf, size_t n);
/* As proc_read but passes the bytes by reference: *out is valid until the next proc_read_chunk on the same fd, or its close. *chunk (may
 * be NULL) tells the chunk that holds them, borrowed for as long, or NULL. */
ssize_t proc_read_chunk(Proc *p, int fd, size_t max, Slice *out, Chunk **chunk);
/* Writes all of it, blocking; a pipe without readers raises SIGPIPE (or -EPIPE when ignored). */
ssize_t proc_write(Proc *p, int fd, Slice data);
/* Writes bytes that belong to a chunk, by reference where that pays. */
ssize_t proc_write_chunk(Proc *p, int fd, Slice data, Chunk *chunk);
int64_t proc_seek(Proc *p, int fd, int64_t off, int whence); /* SEEK_*; -ESPIPE */
/* Gives back the last n bytes that were read but not used: seeks on a file, pushes back on a pipe. */
int proc_unread(Proc *p, int fd, size_t n);
/* Waits until fd is readable or `nanoseconds` pass; 1, 0 or -errno. For read -t. */
int proc_poll(Proc *p, int fd, bool write, int64_t nanoseconds);
int proc_fstat(Proc *p, int fd, VStat *out);
int proc_ftruncate(Proc *p, int fd, uint64_t size);
int proc_futimes(Proc *p, int fd, VTime atime, VTime mtime);
int proc_fchmod(Proc *p, int fd, uint32_t mode);
int proc_fchown(Proc *p, int fd, uint32_t uid, uint32_t gid);
int proc_clone(Proc *p, int from, int to); /* vfs_clone; -EXDEV: copy the bytes */
Slice proc_fd_command(Proc *p, int fd);    /* vfs_command of an open file */

/* ---------- paths: vfs.h's calls in the process's name ---------- */

int proc_stat(Proc *p, const char *path, int flags, VStat *out);
int proc_access(Proc *p, const char *path, int rwx);
int proc_mkdir(Proc *p, const char *path, uint32_t mode);
int proc_rmdir(Proc *p, const char *path);
int proc_unlink(Proc *p, const char *path);
int proc_rename(Proc *p, const char *from, const char *to, bool no_replace);
int proc_link(Proc *p, const char *from, const char *to, int flags);
int proc_symlink(Proc *p, const char *target, const char *path);
int proc_readlink(Proc *p, const char *path, Slice *out);
int proc_mkfifo(Proc *p, const char *path, uint32_t mode);
int proc_mknod(Proc *p, const char *path, uint32_t mode, uint32_t rdev);
int proc_chmod(Proc *p, const char *path, int flags, uint32_t mode);
int proc_chown(Proc *p, const char *path, int flags, uint32_t uid, uint32_t gid);
int proc_utimes(Proc *p, const char *path, int flags, VTime atime, VTime mtime);
int proc_truncate(Proc *p, const char *path, uint64_t size);
int proc_list(Proc *p, const char *path, VDirent **out, size_t *count);
int proc_realpath(Proc *p, const char *path, RealpathMode mode, char **out);
int proc_statfs(Proc *p, const char *path, VStatfs *out);
int proc_chdir(Proc *p, const char *path);
int proc_getcwd(Proc *p, char **out); /* physical */
/* A directory held open, for walks deeper than a path may be long and for -execdir; registered with the process. */
VDir *proc_dir_open(Proc *p, const char *path, int *error);
void proc_dir_close(Proc *p, VDir *d);
int proc_fchdir(Proc *p, VDir *d);

/* ---------- time, randomness, identity ---------- */

int64_t proc_now(Proc *p, uint32_t *nanosecond); /* wall clock of the shell: real, fixed or virtual */
int64_t proc_monotonic(Proc *p);                 /* nanoseconds */
int proc_sleep(Proc *p, int64_t nanoseconds);    /* < 0: for ever; 0, or -EINTR */
void proc_random(Proc *p, void *buf, size_t n);  /* seeded when the shell is */
const char *proc_getenv(Proc *p, const char *name);
char **proc_environ(Proc *p);
typedef struct { uint64_t user_ns, sys_ns, child_user_ns, child_sys_ns; } ProcTimes;
ProcTimes proc_times(Proc *p);                   /* for time and times: the thread's clock */

/* ---------- limits ---------- */

typedef enum {
    LIMIT_TIME, LIMIT_STEPS, LIMIT_MEMORY, LIMIT_OUTPUT, LIMIT_FILE_SIZE, LIMIT_FILE_BYTES, LIMIT_INODES,
    LIMIT_FDS, LIMIT_PROCESSES, LIMIT_PIPELINE, LIMIT_DEPTH, LIMIT_SCRIPT, LIMIT_REGEX, LIMIT_EXPANSION,
    LIMIT_REQUESTS, LIMIT_TRANSFERS, LIMIT_REDIRECTS, LIMIT_DOWNLOAD, LIMIT_UPLOAD, LIMIT_HEAD, LIMIT_CONNECT,
    LIMIT_COUNT
} LimitId;

typedef struct Limits { uint64_t value[LIMIT_COUNT]; } Limits; /* 0 unlimited; time in milliseconds, sizes in bytes */
extern const Limits limits_default;
const char *limit_name(LimitId id); /* "time", "output" ...: as the command line and both bindings spell it */
uint64_t kern_limit(const Kernel *k, LimitId id);
const Limits *kern_limits(const Kernel *k);           /* the shell's own, outside a run */
void kern_set_limits(Kernel *k, const Limits *limits); /* idle only: from the next run on, and for the files at once */
/* Says on stderr which limit and raises; for limits that the caller counts (pipeline, depth, expansion). */
NORETURN void proc_limit(Proc *p, LimitId id);

/* ---------- events: what audit and policy will use ---------- */

typedef enum { EVENT_RUN_BEGIN, EVENT_RUN_END, EVENT_COMMAND, EVENT_FILE_CHANGE, EVENT_REQUEST, EVENT_REFUSAL, EVENT_LIMIT, EVENT_LOG } EventKind;
typedef struct {
    EventKind kind;
    pid_t pid;
    const char *subject, *detail;
    const char *partition; /* of an allowed request: connections are shared within it alone */
    int value;
    int64_t seconds;
    uint32_t nanosecond; /* the shell's clock */
} Event;
void kern_events_set(Kernel *k, void (*event)(void *user, const Event *e), void *user); /* idle only */

/* ---------- the kernel itself: for api and lang ---------- */

/* What lang registers: the kernel does not know the language. */
typedef struct LangOps {
    /* Runs the text of file `path` as a script in process p (a fresh interpreter); returns the status. */
    int (*run_script)(Proc *p, const char *path, int argc, char **argv);
    /* A caught signal became due in p, from proc_tick; may run a trap, may raise. */
    void (*on_signal)(Proc *p, int signal);
    /* How a builtin's messages begin in a process with an interpreter: "bash: line 3: printf: ". */
    void (*prefix)(Proc *p, const char *name, Buf *out);
} LangOps;

typedef struct KernelOptions {
    VfsImage *image;                    /* what the file system starts as */
    const struct Command *(*find_command)(const char *name); /* the built-in ones, by the name a stub holds */
    /* Runs a command in p: arguments, output buffers, main, flush, "write error"; the status. From builtins/command.c. */
    int (*run_command)(Proc *p, const struct Command *c, int argc, char **argv);
    StackSize (*command_stack)(const struct Command *c);
    const char *(*command_name)(const struct Command *c);
    const LangOps *lang;
    Limits limits;
    uint32_t uid, gid, umask;
    const char *cwd;
    bool fixed_clock, virtual_clock;    /* virtual: sleeping moves the clock instead of waiting */
    int64_t clock_seconds;
    bool seeded; uint64_t seed;
    /* NULL: none. Events are queued (strings copied, bounded: a full queue makes the process yield) and delivered by kern_step on the caller's stack. */
    void (*event)(void *user, const Event *e);
    void *event_user;
} KernelOptions;

Kernel *kern_new(const KernelOptions *o); /* NULL: no memory */
void kern_free(Kernel *k);
Vfs *kern_vfs(Kernel *k);
Gen *kern_gen(Kernel *k);       /* the shell's live generation */
Budget *kern_budget(Kernel *k);
Mem *kern_mem(Kernel *k);       /* lives as long as the shell; no handler: check for NULL */
const VCred *kern_cred(const Kernel *k);
const LangOps *kern_lang(const Kernel *k);
Proc *kern_main(Kernel *k);     /* the shell's own process: its cwd, umask and descriptors above 2 last from run to run */

/* One run: the standard descriptors, then steps until done. */
typedef struct RunIo {
    Slice input;             /* standard input, when read_input is NULL; borrowed for the run */
    /* Pulls standard input on the caller's stack: count, 0 at the end, -errno, -EAGAIN (pending) */
    ssize_t (*read_input)(void *user, char *buf, size_t n);
    /* Gets output as it comes, on the caller's stack; stream 1 or 2. NULL: collected. 0, or -EAGAIN (offered again after kern_wake), or
     * another -errno: the script's writes then fail with SIGPIPE. */
    int (*on_output)(void *user, int stream, Slice data);
    void *user;
    bool merge_output;       /* stderr goes where stdout goes */
    bool collect;            /* with on_output: collect as well */
} RunIo;

typedef enum { END_FINISHED, END_TIMEOUT, END_CANCELLED, END_LIMIT, END_DEADLOCK } EndKind;
typedef enum { JOBS_WAIT, JOBS_KEEP, JOBS_KILL } JobsMode;

typedef struct RunOptions {
    const RunIo *io;
    int64_t timeout_ns;      /* 0: the shell's own limit; -1 unlimited */
    const Limits *limits;    /* NULL: the shell's */
    JobsMode jobs;
    ProcMain main;           /* what the main process runs */
    void *arg;
} RunOptions;

typedef struct RunEnd {
    EndKind kind;
    LimitId limit;           /* END_LIMIT, END_TIMEOUT */
    uint64_t limit_value;    /* what it was; time in milliseconds, as this run had it */
    int status;
    bool truncated[2];       /* stdout, stderr were cut */
    uint64_t steps, bytes_out, peak_memory, wall_ns;
} RunEnd;

int kern_run_begin(Kernel *k, const RunOptions *o); /* -EBUSY, -ENOMEM, -EAGAIN */

typedef enum { STEP_DONE, STEP_PENDING } StepState;

/* What a pending run waits for. */
typedef struct Pending {
    int64_t wake_ns;         /* monotonic; < 0: no timer */
    bool input;              /* wants standard input */
    uint64_t request;        /* the oldest unanswered request, or 0 */
} Pending;

/* Runs until nothing can go on. Must be called on the same shell by one thread at a time, any thread. */
StepState kern_step(Kernel *k, Pending *pending);
/* Sleeps on the host until `pending` may have changed: the timer, an answer, input, cancel. */
void kern_pause(Kernel *k, const Pending *pending);
/* After STEP_DONE: the result; collected output is borrowed until the next run begins. */
void kern_run_end(Kernel *k, RunEnd *end, Slice *out, Slice *err);
/* True once in a child of the host: its locks are made anew and, unless it was seeded, its randomness. Nobody may be inside k. */
bool kern_host_forked(Kernel *k);
/* Ends a run that nobody steps, without a word to the host's callbacks for input and output. */
void kern_abandon(Kernel *k);
void kern_cancel(Kernel *k); /* from any thread */
void kern_yield(Kernel *k);  /* the step in progress, or the next, returns STEP_PENDING soon, its wake_ns 0; any thread */
void kern_wake(Kernel *k);   /* from any thread: input or output may go on; ends kern_pause */

/* Requests to the host: numbered, answered from any thread. The process blocks; the host never runs on a coroutine. */
typedef enum { REQUEST_COMMAND, REQUEST_POLICY, REQUEST_MOUNT, REQUEST_TRANSPORT, REQUEST_COMPONENT /* ask: its name */ } RequestKind;
typedef struct Request {
    uint64_t id;
    RequestKind kind;
    const void *ask;  /* in the asking process's memory; valid until answered */
    void *answer;
    int result;
} Request;
int proc_request(Proc *p, Request *r);               /* r->result, after blocking */
/* A request of the oldest id above `after` that is unanswered; for the thread that steps. A killed asker withdraws its request. */
Request *kern_request(Kernel *k, uint64_t after);
int kern_answer(Kernel *k, uint64_t id, int result); /* 0, -ENOENT; any thread */

/* Makes `name` a command of this shell, found before the files of PATH; NULL removes it. A name without a file: custom commands. */
int kern_command_set(Kernel *k, const char *name, const struct Command *c, void *user);
void *proc_command_user(Proc *p); /* `user` of the custom command that p runs */

/* Constant-time copy of an idle kernel: files, cwd, umask, descriptors above 2 (pipe ends read as ended and write as EPIPE), clock,
 * randomness, limits, custom commands, mounts; no other processes. `k` goes on in a fresh generation. NULL: no memory, `k` as it was. */
Kernel *kern_fork(Kernel *k);
/* An image of the files; `k` goes on in a fresh generation. NULL: no memory. */
VfsImage *kern_freeze(Kernel *k);
/* Files back to the base (vfs_to_base), cwd, umask and descriptors as at kern_new. Idle only. */
int kern_reset(Kernel *k);

/* The seam for components: tables of component.h by name; *size is the table's. -ENOMEM; NULL when it was not handed over. */
int kern_component_set(Kernel *k, const char *name, const void *table, size_t size);
const void *kern_component(const Kernel *k, const char *name, size_t *size);

/* The part of Kernel that proc_tick touches. */
struct KernelHot { int64_t fuel; bool policed; };
static inline void proc_tick(Proc *p, uint64_t cost)
{
    struct KernelHot *hot = (struct KernelHot *)(void *)p->kernel; /* its first member */
    hot->fuel -= (int64_t)cost;
    if (unlikely(hot->fuel < 0))
        proc_tick_slow(p);
}

/* Whether the policy lets p run the command `name`; `program`: it is found as a file or a custom command, and must be on an allow list if
 * there is one. May block: the embedder can be asked. */
bool proc_policy_allows(Proc *p, const char *name, bool program);
static inline bool proc_command_allowed(Proc *p, const char *name, bool program)
{
    return likely(!((const struct KernelHot *)(const void *)p->kernel)->policed) || proc_policy_allows(p, name, program);
}

#endif
