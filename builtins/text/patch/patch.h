/* patch: what its files share. patch.c reads the options and goes through the patches; input.c finds where one begins and which file it is
 * for; hunk.c reads hunks; apply.c finds their places and makes the new text; reject.c prints what did not fit; save.c writes files.
 *
 * The patch and the file at work lie whole in memory; what belongs to one patch is in p->mem between two marks. Line numbers count from 1.
 */
#ifndef LIBSHELL_PATCH_H
#define LIBSHELL_PATCH_H

#include <sys/stat.h>

#include "command.h"
#include "lib/base/map.h"

typedef enum { FORM_NONE, FORM_CONTEXT, FORM_NORMAL, FORM_NEW_CONTEXT, FORM_UNIFIED, FORM_ED, FORM_GIT_BINARY } Form;
typedef enum { LOUD_DEFAULT, LOUD_SILENT, LOUD_VERBOSE } Loudness;
typedef enum { VERSIONS_EXISTING, VERSIONS_SIMPLE, VERSIONS_NUMBERED } Versions;
enum { OLD_NAME, NEW_NAME, INDEX_NAME, NAMES };

typedef struct { Slice text; char kind; } HunkLine; /* kind: ' ' '-' '+' '!'; text with its newline, if it has one */

/* One side of a hunk. */
typedef struct { HunkLine *lines; int64_t count, first; } HunkSide;

typedef struct {
    HunkSide side[2];        /* what is there, what is to be; exchanged under -R */
    int64_t prefix, suffix;  /* lines of context */
    Slice function;          /* " name" behind the mark of the hunk */
} PatchHunk;

typedef struct Patch {
    Proc *p;
    Args *args;
    Output *messages;        /* standard error when the patched file goes to standard output */
    /* options */
    Loudness loud;
    bool reverse_asked, forward, force, batch, backups, mismatch_backups, remove_empty, dry_run, loose_space, posix, unified_rejects, context_rejects, keep_cr, follow;
    int64_t strip;           /* -1: the last component only */
    int64_t fuzz_most;
    const char *suffix, *prefix, *base_prefix, *output, *rejects, *input_name, *patch_name, *define;
    Versions versions;
    enum { TIMES_NOW, TIMES_LOCAL, TIMES_UTC } set_times; /* of patched files, from the headers */
    Form form_asked;
    enum { READ_ONLY_WARN, READ_ONLY_IGNORE, READ_ONLY_FAIL } read_only;

    /* the patch's text */
    Slice text;
    size_t at;               /* of the next line */
    int64_t line_number;     /* of the line that was read last */
    Slice line;              /* it, with its newline */
    size_t resume;           /* where the search for the next patch goes on */
    int64_t resume_line;
    size_t indent;
    bool strip_cr, first;

    /* the patch at work */
    Form form;
    bool reverse, skip, git, renames, copies;
    char *names[NAMES];
    Slice stamps[2];         /* what was behind the names */
    bool epoch[2];           /* the time there is 1970's beginning, or the name is /dev/null */
    int absent[2];           /* 1: the hunk says that the file is empty; 2: and that it is not there */
    uint32_t modes[2];
    const char *name;        /* of the file to patch, or NULL */
    VStat stat;
    int name_error;          /* -errno of its stat */
    size_t hunks_at;
    int64_t hunks_line;

    /* the file at work */
    Slice file;
    size_t *starts;
    int64_t lines;
    int64_t frozen;          /* lines that went into the output */
    int64_t in_offset, out_offset;
    bool incomplete;         /* -D: the line that was put out last has no newline */
    Buf out;
    Buf reject;

    Map written;             /* names of files this run has written */
    Map reported;            /* names that were refused */
    Buf whole_output;        /* -o */
    Buf farewell;            /* messages that come at the end */
    bool rejects_begun, any_failed;
} Patch;

/* On standard output; say: unless silent. */
void patch_say(Patch *t, const char *format, ...) PRINTF_LIKE(2, 3);
NORETURN void patch_fatal(Patch *t, const char *format, ...) PRINTF_LIKE(2, 3);
NORETURN void patch_malformed(Patch *t);
/* A question nobody is there to answer: it is printed, and the answer is empty. */
void patch_ask(Patch *t, const char *question);
bool patch_may_reverse(Patch *t, const char *what);

/* input.c */
bool patch_next(Patch *t);
bool patch_line(Patch *t);  /* the next line of the patch into t->line; lines with # are passed over */
void patch_skip_to(Patch *t, size_t at, int64_t line);
bool patch_name_valid(Patch *t, const char *name);

/* name.c */
void patch_fetch_name(Patch *t, Slice text, int which, bool *epoch, Slice *stamp);
bool patch_stamp(Patch *t, Slice stamp, int64_t *seconds, uint32_t *ns); /* false: none that is a time */
void patch_git_names(Patch *t, Slice text);
int patch_best_name(Patch *t, const int64_t ignored[NAMES]);
int64_t patch_new_dirs(Patch *t, const char *name);

/* hunk.c */
bool patch_hunk(Patch *t, PatchHunk *h); /* false: no further one; what follows is looked at next */
void patch_swap(PatchHunk *h);

/* apply.c */
void patch_load(Patch *t);
int64_t patch_locate(Patch *t, const PatchHunk *h, int64_t fuzz); /* a line, or 0 */
bool patch_apply(Patch *t, const PatchHunk *h, int64_t where);
/* The hunk's first line ends in CR LF and the file's does not, or the reverse. */
bool patch_other_endings(const Patch *t, const PatchHunk *h, int64_t where);
void patch_finish(Patch *t);

/* reject.c */
void patch_reject(Patch *t, const PatchHunk *h, bool header);

/* save.c */
void patch_save(Patch *t, const char *to, uint32_t mode, bool backup);
void patch_remove(Patch *t, const char *path, bool backup);
void patch_backup(Patch *t, const char *path);
void patch_write_file(Patch *t, const char *path, Slice data, uint32_t mode, bool append);
const char *patch_reject_name(Patch *t, const char *output);

#endif
