/* internal: what the files of lib/api share. */
#ifndef LIBSHELL_API_INTERNAL_H
#define LIBSHELL_API_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "include/shell.h"
#include "lib/kernel/component.h"
#include "lib/kernel/kernel.h"
#include "lib/lang/lang.h"

typedef struct CustomCommand CustomCommand;

/* What is bound or mounted, in the order it was. */
enum { BIND_CALLBACK = 100 }; /* beside SHELL_BIND_* */
typedef struct BindNote {
    struct BindNote *next;
    int32_t mode;
    uint32_t flags;
    char destination[];
} BindNote;

/* A mount's question whose answer comes later. */
typedef struct LateCall {
    struct LateCall *next;
    struct MountCall *call;
    uint64_t id;
} LateCall;

struct shell {
    Kernel *kernel;
    Lang *lang;
    CustomCommand *customs;
    shell_call *killed;     /* calls whose process died, not yet told */
    pthread_mutex_t forks;  /* an idle shell may be forked from several threads */
    _Atomic int busy;       /* a thread is inside begin, step or end */
    bool begun, done;       /* a run is in progress; it has come to its end */
    bool in_callback;
    uint32_t process;       /* where it lives */
    bool torn, lost;        /* the host forked while a thread ran it; while a run was in progress */
    LangRun run;
    BindNote *binds;
    LateCall *late;         /* under `forks` */
    uint64_t served;        /* newest request that was shown to its function */
    char *script;           /* copy of the run's text, and what else the run borrowed */
    shell_run_opts run_opts;
    Limits run_limits;
    shell_net net;          /* its callbacks */
    shell_policy policy;
    struct Audit *audit;
    shell_component_fn component;
    void *component_user;
    pthread_mutex_t words;  /* of the message: set_net and set_policy may fail on any thread */
    char message[240];
};

struct shell_image {
    VfsImage *files;
};

/* The base image and the state every shell starts with; made once a process. NULL: no memory. */
VfsImage *base_image(void);
LangState *base_state(void);

/* -errno to SHELL_*, remembering the words in sh (may be NULL). */
shell_err api_error(shell *sh, int error, const char *what);
shell_err api_fail(shell *sh, shell_err err, const char *format, ...) PRINTF_LIKE(3, 4);

/* A copy of built text for the embedder, to be freed with shell_free. len may be NULL. */
shell_err api_give(const Buf *b, char **out, uint64_t *len);

/* SHELL_* to -errno. */
int api_errno(int result);

/* Struct versions: copies a caller's struct of `size` bytes into ours; false when its unknown tail is not zero or size is too small to be one. */
bool api_copy_struct(void *ours, size_t our_size, const void *theirs);

/* The caller's limits over `base`. */
Limits api_limits(const shell_limits *given, const Limits *base);

extern const NetComponent transport_component; /* transport.c */

/* Every entry asks it first: after the host forked it makes the child's shell usable, or says SHELL_EBUSY when it cannot be. */
shell_err api_alive(shell *sh);
/* The run in progress was ended by the host's fork and nobody was told yet: SHELL_EBUSY, once. */
shell_err api_lost(shell *sh);

/* Enters a call that must not run beside a run: SHELL_OK or SHELL_EBUSY. */
shell_err api_enter_idle(shell *sh);

/* Serves what a pending run asks of the host: custom commands. True when something was answered. */
bool custom_serve(shell *sh);
/* Placeholders as exported variables, before a run; 0 or -errno. */
int net_export(shell *sh);
shell_err policy_configure(shell *sh, const shell_policy *policy);
/* Asks the policy's hook; true when it answered at once. */
bool policy_serve(shell *sh, Request *r);
shell_err audit_configure(shell *sh, const shell_audit *audit);
void audit_run_begin(shell *sh, Slice script);
void audit_run_end(shell *sh, const RunEnd *end, Slice out, Slice err);
void audit_free(shell *sh);
/* What may leave, from the caller's struct; on failure sh->message tells. */
shell_err net_configure(shell *sh, const shell_net *net);
void net_serve(shell *sh, const Request *r);
/* Serves a process that asks for a component. */
void component_serve(shell *sh, const char *name, uint64_t request);
/* Tells the machines of killed calls so, and frees them. On the caller's stack. */
void custom_bury(shell *sh);
void custom_free_all(shell *sh);
/* A line that names the embedder's commands; nothing when there are none. */
void custom_names(const shell *sh, Buf *b);
shell_err custom_copy_all(shell *to, const shell *from);

/* The newest bind at a destination; NULL: none. */
BindNote *bind_noted(const shell *sh, const char *destination);
shell_err bind_note(shell *sh, int32_t mode, uint32_t flags, const char *destination);
void bind_forget(shell *sh, const char *destination);
shell_err bind_copy_notes(shell *to, const shell *from);
void bind_free_notes(shell *sh);
bool bind_read(VBind *out, shell_bind *b, const shell_bind *given); /* false: it makes no sense */
int api_mountable(const char *destination);

/* A mount's question: true when it was answered. */
bool mount_serve(shell *sh, Request *r);
/* The call that waits for answer `id`, or NULL, its reference with it; to be let go once the answer was given. */
struct MountCall *mount_take_late(shell *sh, uint64_t id);
void mount_let_go(struct MountCall *call);
void mount_free_all(shell *sh);

/* What every file call needs. Allowed inside callbacks, when no process of the shell is on the processor. */
typedef struct Call {
    shell *sh;
    Vfs *fs;
    const VCred *cred;
    VDir *cwd;
    bool outer; /* a mount's functions may be called: what they call must see that the shell is in use */
    Mem mem;
} Call;
shell_err call_begin(Call *c, shell *sh, const char *path);
shell_err call_end(Call *c, int error, const char *path);

#endif
