/* shared: what several commands need and none should write again. Implementations in builtins/shared/. */
#ifndef LIBSHELL_SHARED_H
#define LIBSHELL_SHARED_H

#include "command.h"

/* Users and groups from the VFS's /etc/passwd and /etc/group. Names in p->keep; NULL: unknown. */
const char *user_name(Proc *p, uint32_t uid);
const char *group_name(Proc *p, uint32_t gid);
bool user_find(Proc *p, Slice name, uint32_t *uid, uint32_t *gid);
bool group_find(Proc *p, Slice name, uint32_t *gid);

void device_numbers(uint32_t rdev, unsigned *major, unsigned *minor); /* as Linux has them, of a device's rdev */
void format_mode(uint32_t mode, char out[11]); /* drwxr-xr-x */
/* 1234567 as 1.2M (1024) or 1.3MB (1000), rounded up as GNU does; unit 0 prints the number. In p->mem. */
const char *format_human(Proc *p, uint64_t n, unsigned unit);

/* The unit of --block-size, -h, --si and the like. */
typedef struct {
    unsigned human;     /* 0, 1000 or 1024 */
    uint64_t size;      /* of a block, when not human */
    const char *suffix; /* what "K" without a number adds to each number */
} BlockSize;
bool block_size_parse(Proc *p, const char *text, BlockSize *out);
/* From the first of `own`, BLOCK_SIZE and BLOCKSIZE in the environment, else 1024 (512 under POSIXLY_CORRECT). */
BlockSize block_size_default(Proc *p, const char *own);
/* Rounded up; in p->mem. */
const char *block_size_format(Proc *p, uint64_t bytes, const BlockSize *b);
/* How option `letter` (or `name`) was written, for messages: "-B" or "--block-size". */
const char *option_as_given(Proc *p, const Args *args, char letter, const char *name);
/* Dies as GNU does for a number that does not parse: "invalid -B argument 'x'". */
NORETURN void die_size(Proc *p, int status, const char *option, const char *text, int error);

/* "TERM", "SIGTERM", "15" -> 15 (0 is allowed); -1: none. And back, without SIG. */
int signal_from_name(const char *text);
const char *signal_short_name(int number);

/* chmod's language: octal or u=rwx,g+s,... NULL: does not parse. */
typedef struct ModeChange ModeChange;
ModeChange *mode_parse(Proc *p, const char *text);
uint32_t mode_mentioned(const ModeChange *m); /* the bits it speaks of */
uint32_t mode_apply(const ModeChange *m, uint32_t mode, bool directory, uint32_t umask);

/* The value of an option's argument, a word of the list (which a NULL ends) or an unambiguous beginning of one; words of
 * equal value are synonyms. Dies with GNU's messages otherwise. */
typedef struct { const char *word; int value; } Choice;
int choose(Proc *p, Args *args, const char *option, const char *value, const Choice *words);
int choose_exact(Proc *p, const char *option, const char *value, const Choice *words); /* the whole word */

/* The tab stops of expand and unexpand: every so many columns, or a list, behind which /N and +N go on. */
typedef struct {
    uint64_t every;
    uint64_t *stops;
    size_t count;
    uint64_t extend, increment;
} TabStops;
void tab_stops_parse(Proc *p, TabStops *t, const char *list);
void tab_stops_finish(Proc *p, TabStops *t);
uint64_t tab_stop_after(const TabStops *t, uint64_t column, bool *last); /* last: there is none */

/* Columns of the text as wcwidth counts: a control character has none, a bad byte one. */
size_t display_width(Slice s, bool utf8);

/* The process's zone (TZ). */
const TimeZone *proc_zone(Proc *p);
/* GNU date's input language: "2024-02-28 +2 days", "@0", "next friday", "1 hour ago". False: invalid date. */
bool parse_date(Proc *p, Slice text, int64_t now, uint32_t now_ns, const TimeZone *zone, int64_t *seconds, uint32_t *ns);

/* A depth-first walk in name order, with a depth guard and no limit on path length. */
typedef enum { WALK_FILE, WALK_DIR, WALK_DIR_DONE, WALK_ERROR } WalkKind;
typedef struct WalkEntry {
    WalkKind kind;
    const char *path;   /* as reached from the root operand */
    const char *name;   /* last component */
    VStat stat;         /* lstat, or stat under WALK_FOLLOW */
    bool stat_ok;
    int error;          /* WALK_ERROR */
    unsigned depth;     /* 0: the operand */
    size_t loop_len;    /* WALK_ERROR of ELOOP: the length of the part of `path` that is the same directory */
} WalkEntry;
enum { WALK_FOLLOW = 1 /* all symlinks */, WALK_FOLLOW_OPERAND = 2, WALK_ONE_DEVICE = 4 };
typedef struct Walk Walk;
Walk *walk_open(Proc *p, const char *root, int flags);
bool walk_next(Walk *w, WalkEntry *e);
void walk_skip(Walk *w); /* not into the directory that was just returned */

/* The table of a component; without it the command ends here and says which one it needs. */
const void *need_component(Proc *p, const char *name, size_t size);
#define NEED_COMPONENT(p, name, Type) ((const Type *)need_component((p), (name), sizeof(Type)))

/* The programs where they differ from the shell's builtins of the same name. */
int echo_program(Proc *p, Args *args);
int pwd_program(Proc *p, Args *args);

/* What cp, mv (across mounts) and install share, and what rm and mv share: in builtins/file. */

/* base64, base32, basenc: letters in what is left of an encoded text, eight at most. */
static inline size_t encoded_left(Slice s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len && n < 8; i++)
        n += s.data[i] != '\n';
    return n;
}

#endif
