/* lang: the interpreter as its users (api, kernel) see it.
 *
 * State that a child inherits (variables, functions, aliases, options, traps, positional parameters, the command hash) hangs off one
 * LangState of counted objects and persistent maps in the shell's generation; a subshell of any kind clones it in constant
 * time and nobody reads through to a live parent. An Interp is the dynamic part of one process: frames, loops, guards; it
 * lives in that process's context.
 *
 * Raises through the kernel; nothing here allocates outside budgets.
 */
#ifndef LIBSHELL_LANG_H
#define LIBSHELL_LANG_H

#include "lib/kernel/kernel.h"

typedef struct Interp Interp;
typedef struct LangState LangState;
typedef struct Lang Lang; /* one a shell: the main process's state from run to run, the parse cache */

extern const LangOps lang_ops;

/* The first state of every shell (default variables, options), made once in the base image's generation, then frozen with it. */
LangState *lang_base(Gen *g, const char *const *env);
/* A shell's own, over `base`, whose generation is an ancestor of kern_gen(k); env is added as exported variables. NULL: no memory. */
Lang *lang_new(Kernel *k, LangState *base, const char *const *env);
void lang_free(Lang *l, Kernel *k);
/* Constant-time copy for the kernel that kern_fork just made; jobs are absent. NULL: no memory. */
Lang *lang_fork(Lang *l, Kernel *to);
/* Back to the state after lang_new. 0 or -ENOMEM. */
int lang_reset(Lang *l, Kernel *k);

typedef struct LangRun {
    Slice script;
    const char *const *args;    /* $0 $1 ... or NULL */
    const char *const *env;     /* exported for this run */
    const char *cwd;            /* for this run, or NULL */
    bool syntax_only, fresh;
    bool from_stdin;            /* the script text is standard input itself: `bash < file` */
    const char *options;        /* "eux": letters set before the run, or NULL */
    const char *const *long_options; /* names for set -o, NULL-terminated, or NULL */
    Lang *lang;
} LangRun;

/* ProcMain for kern_run_begin: arg is a LangRun. Keeps the resulting state in the Lang for the next run (unless fresh). */
int lang_main(Proc *p, void *arg);
/* Whether the last run ended otherwise than by coming to the end of its script or to an error that gives the script up. */
bool lang_exited(const Lang *l);

/* What lasts from run to run, as bytes: variables, functions, aliases, options, traps, the logical directory and that of pushd. Positional parameters
 * and hashed commands are not in it. lang_load: what was saved, over `base`; nothing is believed, -EINVAL when it makes no sense. Then
 * lang_load_commit, which cannot fail, or lang_load_drop. */
typedef struct LangLoaded LangLoaded;
struct Unpack;
int lang_save(Lang *l, Kernel *k, Buf *out);
int lang_load(Lang *l, Kernel *k, struct Unpack *in, LangLoaded **out);
void lang_load_commit(Lang *l, Kernel *k, LangLoaded *loaded);
void lang_load_drop(Kernel *k, LangLoaded *loaded);

/* Outside a run, on the embedder's behalf. 0 or -errno. */
int lang_setenv(Lang *l, Kernel *k, const char *name, const char *value);
int lang_unsetenv(Lang *l, Kernel *k, const char *name);
int lang_getenv(Lang *l, Kernel *k, const char *name, Slice *out); /* borrowed until the next change */

#endif
