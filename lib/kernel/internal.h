/* internal: what the kernel's own files share; nobody outside lib/kernel includes it.
 *
 * A Task is a coroutine; the processes nested on it by plain calls form a chain through Proc.caller from task->top down to task->base. Tasks are
 * ready (in one first-in first-out queue), blocked (on at most one WaitQueue and at most one timer), or running.
 */
#ifndef LIBSHELL_KERNEL_INTERNAL_H
#define LIBSHELL_KERNEL_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "kernel.h"
#include "lib/base/coro.h"

/* ---------- scheduling ---------- */

typedef enum { WAKE_NONE, WAKE_EVENT, WAKE_TIMER, WAKE_SIGNAL } WakeReason;

struct Task {
    Kernel *kernel;
    Coro *coro;
    Proc *base, *top;
    ProcMain main;
    void *arg;
    Task *next_ready;
    bool ready, done, foreground; /* foreground: the run's main script */
    WaitQueue *queue;             /* blocked on, with its links */
    Task *queue_prev, *queue_next;
    int64_t wake_at;              /* monotonic ns; < 0: no timer */
    Task *timer_next;
    bool timed;
    WakeReason wake;
    bool interruptible_wait;      /* a collected signal ends the wait */
};

void task_ready(Task *t);
void queue_wake_all(WaitQueue *q);
void queue_wake_one(WaitQueue *q);
/* Blocks p's task. `until` < 0: no timer. The queue may be NULL. Delivers signals and end-of-run conditions (may raise) before it returns. */
WakeReason task_block(Proc *p, WaitQueue *q, int64_t until);
void task_yield(Proc *p); /* behind those that are ready */
void tasks_wake_all(Kernel *k); /* every blocked task looks at what is due */
Task *task_new(Kernel *k, Proc *base, ProcMain main, void *arg, StackSize stack); /* NULL: no stack */

/* Raises what is due in p: the end of the run, fatal signals; runs traps by the lang hook: true when it did, and what the caller
 * knew may have changed. */
bool proc_deliver(Proc *p);
/* Makes the next proc_tick take the slow road. */
void kern_expire(Kernel *k);

/* ---------- open file descriptions ---------- */

typedef struct FileOps {
    /* Up to max bytes by reference, valid until the next read on f; -EAGAIN never: blocks. */
    ssize_t (*read)(Proc *p, File *f, size_t max, Slice *out, Chunk **chunk);
    ssize_t (*write)(Proc *p, File *f, Slice data, Chunk *chunk); /* all of it, or -errno */
    int64_t (*seek)(Proc *p, File *f, int64_t off, int whence);   /* NULL: -ESPIPE */
    int (*unread)(Proc *p, File *f, size_t n);                    /* NULL: -ESPIPE */
    int (*stat)(Kernel *k, File *f, VStat *out);
    bool (*ready)(File *f, bool write);                           /* NULL: always */
    WaitQueue *(*queue)(File *f, bool write);
    void (*close)(Kernel *k, File *f);
} FileOps;

typedef struct Pipe Pipe;
typedef struct Sink Sink;

struct File {
    const FileOps *ops;
    uint32_t refs;
    int flags;            /* V_READ, V_WRITE, V_APPEND, V_NONBLOCK */
    uint64_t offset;
    Chunk *held;          /* of the last read */
    const char *read_end; /* where its slice ended: for unread on a pipe */
    char *scratch;        /* for reads that need a place */
    WaitQueue holders;    /* waiters for being the sole holder */
    Kernel *kernel;
    union {
        VFile *vfile;
        struct { Pipe *pipe; bool writer; } end;
        Sink *sink;
        struct { char *data; size_t len, cap; uint64_t max; } capture;
        struct { Slice data; Chunk *chunk; char *owned; } bytes;
        int device;       /* VDEV_* */
    };
};

enum { SCRATCH = 65536 };

File *file_new(Kernel *k, const FileOps *ops, int flags); /* one reference; NULL: no memory */
char *file_scratch(File *f);                              /* SCRATCH bytes; NULL: no memory */
void file_release_held(File *f);
File *file_from_vfile(Kernel *k, VFile *v, int flags);    /* takes the reference */
VFile *file_vfile(const File *f);                         /* NULL: not in the file system */
File *file_device(Kernel *k, int device, int flags);
File *file_run_input(Kernel *k);
File *file_run_output(Kernel *k, int stream);

int pipe_new(Kernel *k, File *ends[2]);
/* One end of the FIFO that the inode names; blocks until the other is opened. */
int fifo_open(Proc *p, const VStat *st, int flags, File **out);
void fifo_drop_all(Kernel *k);
void flock_release(Kernel *k, const File *f);
/* The process owns f (one reference) across something that may raise. */
void file_own(Proc *p, File *f);
void file_disown(Proc *p, File *f); /* the reference is the caller's again */

struct FdTable {
    uint32_t refs;
    int count; /* slots */
    struct FdSlot { File *file; bool cloexec; } slot[];
};

FdTable *fds_new(void);
FdTable *fds_ref(FdTable *t);
void fds_unref(Kernel *k, FdTable *t);
/* Puts f (whose reference it takes over) into slot fd of p's own table. 0 or -errno: then f is released. */
int fds_put(Proc *p, int fd, File *f);
int fds_lowest(Proc *p, int from); /* lowest free slot, or -EMFILE */

/* ---------- a run ---------- */

/* Where a run's output goes: collected up to the limit, or waiting for the callback. */
struct Sink {
    Kernel *kernel;
    int stream;
    char *data;          /* collected */
    size_t len, cap;
    uint64_t total;      /* bytes taken, against the limit */
    char *pending;       /* not yet given to the callback */
    size_t pending_len, pending_cap;
    bool truncated, broken, stalled;
    WaitQueue room;
};

void sink_message(Sink *s, const char *text); /* the library's own words, beyond the limit */
bool sink_deliver(Kernel *k, Sink *s);         /* to the callback; false when it said -EAGAIN */
void sink_reset(Sink *s);
bool sink_write(Sink *s, Slice data);          /* false: the output limit was reached, what fits is kept */

typedef struct Run {
    bool active, main_done;
    RunIo io;
    bool has_callbacks;
    JobsMode jobs;
    Limits limits;
    int64_t start_ns, deadline_ns; /* monotonic; deadline < 0: none */
    uint64_t steps;
    int status;
    RaiseKind ending;       /* the run is to end: every process raises this */
    LimitId limit;
    bool deadlock;
    bool input_wanted, input_ended;
    size_t input_used;      /* of io.input */
    Task *main_task;
} Run;

typedef struct Custom {
    struct Custom *next;
    const struct Command *command;
    void *user;
    char name[];
} Custom;

typedef struct Component {
    struct Component *next;
    const char *name;
    const void *table;
    size_t size;
} Component;

typedef struct RequestNode {
    Request *request;
    struct RequestNode *next;
    WaitQueue queue;
    bool answered;
    int result;
} RequestNode;

typedef struct FifoNode {
    struct FifoNode *next;
    uint64_t ino;
    uint32_t dev;
    Pipe *pipe;
} FifoNode;

enum { FIND_CACHE = 16 };
typedef struct FindEntry {
    uint64_t key, generation;
    Program program;
    char path[104];
} FindEntry;

struct Kernel {
    struct KernelHot hot;  /* first: proc_tick knows */
    int64_t refill;        /* what hot.fuel was set to */
    Budget memory, files;
    Mem mem;
    Gen *gen;
    Vfs *vfs;
    KernelOptions options;
    VCred cred;
    Proc *main;
    Proc *procs;           /* all, newest first */
    uint32_t nprocs;
    pid_t next_pid;
    bool pids_wrapped;
    Proc *spare;           /* finished processes kept for the next, of which about nwarm still have memory */
    uint32_t nwarm;
    Task *ready_first, *ready_last, *current, *timers;
    uint32_t ntasks;
    Run run;
    Sink sink[2];
    File *std[3];          /* of the run */
    WaitQueue input_queue;
    struct ReCache *regex;
    Custom *customs;
    Component *components;
    struct Policy *policy, *policy_next; /* in force; to be taken up */
    _Atomic bool policy_changed;
    struct Net *net;       /* what may leave; NULL: nothing was ever allowed */
    void *owner;           /* for net: the embedder's shell */
    RequestNode *requests;
    uint64_t next_request;
    FifoNode *fifos;
    struct FileLock *locks; /* of flock */
    WaitQueue lock_queue;
    FindEntry *find_cache;
    struct EventNode *events, **events_end; /* queued for the caller's stack */
    uint32_t nevents;
    int64_t virtual_ns;    /* what sleeping added to the virtual clock */
    uint64_t random[4];
    bool stepping;
    void *host_locale;     /* of the thread that steps, while it does */
    struct Asking *asking; /* the operation of the process that runs now, or NULL: mount.h */
    _Atomic bool cancelled, woken;
    _Atomic bool yields; /* the step returns soon: the host is asked something, or wants in between */
    pthread_mutex_t lock;  /* of answers and waking */
    pthread_cond_t wake;
    uint32_t process;      /* to notice that the host forked */
};

void run_forget_std(Proc *main); /* closes its standard descriptors */
/* Ends the run in progress: says why on its stderr once; every process raises `kind` at its next look. */
void run_end(Kernel *k, RaiseKind kind, LimitId limit);
void proc_free_all(Kernel *k);
void events_deliver(Kernel *k);
bool events_wait(const Kernel *k);
bool run_pull_input(Kernel *k);
int64_t kern_now(Kernel *k, uint32_t *nanosecond);
int64_t timer_now(const Kernel *k); /* what task_block's `until` is measured by: the host's monotonic clock, or how far sleeping moved the virtual one */
void kern_guard_files(Kernel *k); /* sets the file system's guard as policy and events need it */
void kern_event(Kernel *k, EventKind kind, pid_t pid, const char *subject, const char *detail, int value);
void kern_tell(Kernel *k, const Event *e); /* strings are copied; the time is filled in */
uint64_t kern_random64(Kernel *k);
void kern_random_seed(Kernel *k);

/* ---------- network: lib/kernel/net/pump.c ---------- */

bool net_pump(Kernel *k);             /* true: a process became ready */
bool net_active(const Kernel *k);
void net_poll(Kernel *k, int64_t nanoseconds);
void net_wake(Kernel *k);             /* ends net_poll; k->lock is held */
void net_end_run(Kernel *k);
void net_free(Kernel *k);
int net_fork(Kernel *to, Kernel *from);

/* ---------- processes ---------- */

typedef struct Owned {
    struct Owned *next;
    void (*release)(Proc *p, void *thing);
    void *thing;
} Owned;

Proc *proc_new(Kernel *k);      /* an empty one in the table, with a pid; NULL: no memory */
void proc_end(Proc *p);         /* releases all it holds; it becomes a zombie, or goes when nobody waits for it */
void proc_remove(Proc *p);      /* out of the table, memory back */
void proc_forget_ended(Proc *p); /* children that nobody will wait for any more */
void proc_discard_unborn(Kernel *k); /* embryos that a raise left behind */
void proc_close_all(Proc *p);   /* descriptors and owned things */
/* Runs main under a guard of its own and turns whatever is raised into the process's status or signal. */
void proc_run_main(Proc *p, ProcMain main, void *arg);

#endif
