/* find: the expression tree and what its files share. Text to tree in parse.c, tests and actions in eval.c, -printf and
 * -ls in print.c, the walk in find.c. */
#ifndef LIBSHELL_FIND_H
#define LIBSHELL_FIND_H

#include "../file.h"

typedef enum {
    NODE_AND, NODE_OR, NODE_COMMA, NODE_NOT,
    TEST_TRUE, TEST_FALSE, TEST_NAME, TEST_PATH, TEST_LNAME, TEST_REGEX, TEST_TYPE, TEST_XTYPE, TEST_SIZE, TEST_EMPTY, TEST_DAYS, TEST_MINUTES, TEST_NEWER,
    TEST_PERM, TEST_UID, TEST_GID, TEST_NOUSER, TEST_NOGROUP, TEST_LINKS, TEST_INUM, TEST_SAMEFILE, TEST_ACCESS, TEST_USED, TEST_FSTYPE,
    DO_PRINT, DO_PRINTF, DO_LS, DO_EXEC, DO_DELETE, DO_PRUNE, DO_QUIT,
} NodeKind;

typedef enum { FIND_ATIME, FIND_CTIME, FIND_MTIME, FIND_BTIME } FindTime;
typedef enum { MATCH_ALL, MATCH_ANY, MATCH_EXACT } PermMatch;

/* n, +n or -n. */
typedef struct { int sign; double value; } Bound;

/* The command of -exec and its kin. */
typedef struct {
    char **words;
    size_t count;
    bool batch, in_dir, ask;
    const char **paths;   /* batch: collected, in `mem` */
    size_t collected, bytes;
    Mem *mem;
    const char *dir;      /* batch of -execdir: where they are */
} Exec;

typedef struct Node {
    NodeKind kind;
    struct Node *left, *right; /* NOT: left */
    const char *text;
    const char *option;   /* as it was written */
    Pat *pattern;
    Re *regex;
    Bound bound;
    uint64_t unit;        /* bytes of -size */
    FindTime time;
    int64_t seconds;      /* TEST_NEWER, and the origin of TEST_DAYS */
    uint32_t ns;
    uint32_t mode;        /* TEST_PERM; types of TEST_TYPE, 1 << (S_IFMT >> 12) */
    PermMatch match;
    int rwx;
    uint64_t ino;
    uint32_t dev;
    int fd;               /* where it prints */
    char end;
    Exec *exec;
} Node;

typedef struct {
    Proc *p;
    Args *args;
    Node *root;
    int64_t now;
    uint32_t now_ns;
    int64_t day_origin;   /* what ages in days count from */
    const char *names_from; /* -files0-from, or NULL */
    int64_t max_depth, min_depth;
    bool follow, follow_operands, depth, one_device, prunes, deletes, depth_given, prints;
    ReSyntax syntax;
    bool emacs;
    int status;
    bool quit, prune;
    const char *operand;
    Exec **execs;         /* batches to be finished at the end */
    size_t exec_count;
} Find;

typedef struct {
    const WalkEntry *e;
    bool look_ok;
} Item;

void find_parse(Find *f, char **argv, int argc);
bool find_eval(Find *f, const Node *n, const WalkEntry *e);
void find_finish_execs(Find *f);
void find_printf(Find *f, Output *out, const char *format, const WalkEntry *e);
void find_check_format(Find *f, const char *format);
void find_ls(Find *f, Output *out, const WalkEntry *e);
void find_output(Find *f, const Node *n, Output *out, Slice text);

#endif
