/* mount: file systems and files that the embedder serves, and how a process waits for them.
 *
 * The vfs calls a mount's functions wherever it needs them, on a coroutine as well; the host never runs there. So a call becomes a
 * MountCall, the vfs is told -EINPROGRESS (nothing was done), the process asks the host by a numbered request and repeats what it
 * did, and the answers it has had are given again: each question of one operation is asked once. Outside a run, and inside a
 * callback, the host is called at once, and -EAGAIN from it is the operation's error.
 *
 * Who may call: the kernel's own files (ASK), and api, which serves. Memory: a MountCall is counted; one reference is the asking
 * process's. Threads: what fills in an answer may be any, until it was given.
 */
#ifndef LIBSHELL_MOUNT_H
#define LIBSHELL_MOUNT_H

#include <stdatomic.h>

#include "kernel.h"

typedef enum {
    MOUNT_STAT, MOUNT_LIST, MOUNT_READLINK, MOUNT_CREATE, MOUNT_READ, MOUNT_WRITE, MOUNT_TRUNCATE, MOUNT_MKDIR, MOUNT_REMOVE, MOUNT_RMDIR,
    MOUNT_RENAME, MOUNT_SYMLINK, MOUNT_CHMOD, MOUNT_UTIMES, MOUNT_LOAD,
    MOUNT_QUESTION /* of policy.h; not of a file system */, MOUNT_OP_COUNT
} MountOp;

typedef struct MountServer MountServer;

typedef struct MountCall {
    _Atomic uint32_t refs;
    struct MountCall *next; /* of one operation */
    Request request;
    const MountServer *server;
    void *user;
    MountOp op;
    uint32_t mode;          /* CREATE, MKDIR, CHMOD; RENAME: 1 forbids replacing */
    uint64_t offset, size;  /* READ, WRITE; TRUNCATE: size */
    VTime atime, mtime;
    Slice path, to, data;   /* RENAME, SYMLINK (the target): to. WRITE: data. Behind this struct */
    /* the answer */
    bool answered, served_now;
    int result;             /* 0 or -errno */
    VStat stat;
    char *bytes;            /* READ, READLINK, LOAD: bytes; LIST: entries, each a type (uint32_t), a NUL-terminated name */
    size_t len, cap;
} MountCall;

/* What a server may add to an answer: 0, -ENOMEM, -EFBIG. */
int mount_call_add(MountCall *c, Slice bytes);
void mount_call_unref(MountCall *c);
enum { MOUNT_LIST_MOST = 64 << 20 };

struct MountServer {
    uint32_t able;                         /* 1 << MOUNT_*: what it answers */
    /* On the caller's stack: 0 or -errno, or -EAGAIN: kern_answer(the call's request, result) comes later: whoever fills it in holds a reference. */
    int (*serve)(void *user, MountCall *c);
    int (*error)(int result);              /* what kern_answer was given, as 0 or -errno */
    void (*ref)(void *user);
    void (*unref)(void *user);
};

int kern_mount(Kernel *k, const char *destination, const MountServer *s, void *user, bool readonly);
int kern_unmount(Kernel *k, const char *destination);
/* A file whose bytes MOUNT_LOAD answers, at most LIMIT_FILE_SIZE of them. As the shell's user. */
int kern_lazy_file(Kernel *k, const char *path, uint64_t size, uint32_t mode, const MountServer *s, void *user);
/* Serves request r, of kind REQUEST_MOUNT, on the caller's stack. True when it was answered. */
bool kern_mount_serve(Kernel *k, Request *r);
/* The forked kernel's mounts ask it. */
void kern_mounts_forked(Kernel *to);

/* Asks a server that answers MOUNT_QUESTION; within ASK. 0: yes, -EACCES: no; what it gave as a reason is told on the run's standard error. */
int mount_question(Kernel *k, const MountServer *s, void *user, uint32_t kind, Slice subject);

/* ---------- asking ---------- */

typedef struct Asking {
    struct Asking *outer; /* of a trap that runs while the process waits */
    MountCall *log;
    MountCall *open;      /* the question that was just raised */
} Asking;

static inline void ask_begin(Asking *a, Asking **at)
{
    *a = (Asking){*at, NULL, NULL};
    *at = a;
}
bool ask_wait(Proc *p, Asking *a, File *f); /* false: nothing was asked. May raise; f (may be NULL) is kept open meanwhile */
void ask_end(Proc *p, Asking *a);

#define ASK_FILE(p, f, call)                                             \
    ({                                                                   \
        Asking asking_;                                                  \
        __typeof__(call) asked_;                                         \
        ask_begin(&asking_, kern_asking((p)->kernel));                      \
        do                                                               \
            asked_ = (call);                                             \
        while (unlikely(asked_ == -EINPROGRESS) && ask_wait((p), &asking_, (f))); \
        ask_end((p), &asking_);                                          \
        asked_;                                                          \
    })
#define ASK(p, call) ASK_FILE(p, NULL, call)
Asking **kern_asking(Kernel *k);

#endif
