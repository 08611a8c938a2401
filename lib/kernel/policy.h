/* policy: what a script may run and touch beyond what permissions say, and the embedder's questions.
 *
 * Commands go by identity: a copy, link or rename of a command is that command. Files go by resolved path, at each operation. A policy is
 * immutable and counted; kern_policy_set replaces it on a live shell from any thread, and the thread that steps takes it up at its
 * next look. The embedder's own file calls are not asked.
 */
#ifndef LIBSHELL_POLICY_H
#define LIBSHELL_POLICY_H

#include <stdatomic.h>

#include "kernel.h"
#include "mount.h"

/* A pattern: absolute, components with * ? [...], and ** for any number of components. */
typedef struct PathPattern {
    const Pat **part;   /* NULL: ** */
    size_t n;
} PathPattern;

enum { PATTERN_PARTS = 62 };

/* 0, -EINVAL (not absolute, too many parts, a .. part) or -ENOMEM. */
int path_pattern_parse(Mem *m, Slice text, PathPattern *out);
/* Sets of positions that a path may have reached in the pattern: bit i before part i, bit n is the end. */
uint64_t path_pattern_start(const PathPattern *p);
uint64_t path_pattern_step(const PathPattern *p, uint64_t at, Slice component);
uint64_t path_pattern_walk(const PathPattern *p, Slice path);
static inline bool path_pattern_ended(const PathPattern *p, uint64_t at) { return at >> p->n & 1; }

typedef struct FileRule {
    PathPattern pattern;
    unsigned operations;  /* 1 << VOP_* */
    bool deny;
} FileRule;

typedef enum { ASK_DELETE, ASK_OVERWRITE, ASK_DIRECT_WRITE, ASK_COMMAND } PolicyAsk;

typedef struct Policy {
    _Atomic uint32_t holders;
    Mem mem;                       /* holds all of it */
    const char **allow, **deny;    /* commands; allow NULL: every one */
    const char **ask_commands;
    size_t nallow, ndeny, nask;
    FileRule *rules;
    size_t nrules;
    Slice *scratch;                /* directories where deleting and overwriting is not asked about */
    size_t nscratch;
    unsigned asks;                 /* 1 << ASK_* */
} Policy;

/* A question is a MountCall of MOUNT_QUESTION that api serves: mode is the PolicyAsk, path the subject, bytes the reason of a no. The answer
 * is 0 or anything else for no. */

void policy_unref(Policy *p);
/* Takes the reference. NULL: no policy. Any thread. */
void kern_policy_set(Kernel *k, Policy *p);
int policy_fork(Kernel *to, Kernel *from);
void policy_free(Kernel *k);
/* Takes up what was set; by the thread that steps. */
void policy_adopt(Kernel *k);

/* Whether the file rules let `op` at the absolute path through. */
bool policy_allows_file(const Policy *p, VOp op, Slice path);
/* Whether what may be done at `to` and below, after a move or link from `from`, might not have been done at `from`. */
bool policy_escapes(const Policy *p, Slice from, Slice to, bool directory);

#endif
