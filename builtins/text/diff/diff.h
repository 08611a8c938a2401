/* diff: what its files share. diff.c reads the options, tree.c walks files and directories, read.c makes lines and their classes,
 * compare.c finds the changes, and an output form each: normal.c (normal, ed, RCS), context.c (context, unified), side.c, ifdef.c; sdiff.c.
 *
 * Lines are numbered from 0 over the whole file. What belongs to one pair of files lies in p->mem between two marks.
 */
#ifndef LIBSHELL_DIFF_H
#define LIBSHELL_DIFF_H

#include <sys/stat.h>

#include "command.h"

typedef enum { STYLE_NONE, STYLE_NORMAL, STYLE_CONTEXT, STYLE_UNIFIED, STYLE_ED, STYLE_FORWARD_ED, STYLE_RCS, STYLE_SIDE, STYLE_IFDEF } Style;

/* In the order in which a later one contains an earlier one. */
typedef enum { SPACE_EXACT, SPACE_TABS = 1, SPACE_TRAILING = 2, SPACE_TABS_TRAILING = 3, SPACE_CHANGE = 4, SPACE_ALL = 5 } SpaceRule;

enum { SAME = 0, OLD = 1, NEW = 2, CHANGED = 3 }; /* what a hunk has; also the index of group and line formats */

typedef enum { COLOR_HEADER, COLOR_ADD, COLOR_DELETE, COLOR_LINE, COLOR_RESET, COLOR_COUNT } ColorId;

typedef struct Glob {
    Pat *pattern;
    struct Glob *next;
} Glob;

typedef enum { SIDE_OPEN, SIDE_ABSENT, SIDE_STDIN, SIDE_FAILED } SideState;

typedef struct {
    const char *name;
    SideState state;
    int error;              /* SIDE_FAILED: -errno */
    VStat stat;

    Slice text;             /* the whole file, a newline added at its end where there is none */
    bool missing_newline;
    size_t *starts;         /* count + 1 of them */
    size_t count;
    size_t begin, end;      /* the lines that are compared: without what is equal at both ends */
    uint32_t *classes;      /* of lines begin..end: equal lines have equal ones */
    char *changed;          /* likewise, with a 0 before and behind */
} FileSide;

typedef struct Change {
    struct Change *next;
    size_t line[2];         /* first line of it in each file */
    size_t count[2];        /* lines deleted and inserted */
    bool ignore;
} Change;

typedef struct {
    int kind;               /* SAME, OLD, NEW or CHANGED */
    size_t first[2], past[2]; /* [first, past) */
} Hunk;

typedef struct Diff {
    Proc *p;
    Style style;
    int64_t context;
    bool brief, report_identical, text, ignore_case, ignore_blank, strip_cr, minimal, large_files;
    bool recursive, new_file, new_first, no_dereference, fold_names, expand_tabs, initial_tab, no_blank_prefix;
    bool left_column, suppress_common, merge_help;
    SpaceRule space;
    size_t tab, horizon, half_width, column2;
    Re *ignore_re, *function_re;
    ReEnv env;
    const char *labels[2];
    const char *start_name, *from_file, *to_file;
    const char *group_format[4], *line_format[4];
    Glob *excluded;
    bool color;
    const char *sgr[COLOR_COUNT];
    ColorId color_now;
    bool quiet_when_same;   /* no differences: nothing is printed */
    const char *switches;   /* the options as given, for the line before each pair of a directory */
    const char *time_format;

    /* the pair at work */
    FileSide *side;         /* two */
    bool in_directory, begun;
    size_t function_last_search, function_last_match;
} Diff;

/* read.c */
int diff_read(Diff *d, FileSide sides[2]); /* 0; 1: not text; -1: failed, said */
void diff_equal_ends(Diff *d);
void diff_classify(Diff *d);
static inline bool style_robust(const Diff *d) { return d->style != STYLE_ED && d->style != STYLE_FORWARD_ED; }
/* With its newline, unless it has none. */
Slice diff_line(const Diff *d, int side, size_t number);

/* compare.c */
Change *diff_changes(Diff *d, bool reversed);

/* output.c */
/* What lines of changes first..last (through next) are; SAME when all of them are to be ignored. */
Hunk diff_hunk(Diff *d, const Change *first);
void diff_begin(Diff *d);
void diff_color(Diff *d, ColorId color);
/* flag NULL: the line alone; "": without a note of a missing newline. */
void diff_print_line(Diff *d, const char *flag, int side, size_t number, bool keep_newline);
void diff_colored_line(Diff *d, ColorId color, const char *flag, int side, size_t number);
/* flag: what a carriage return is followed by; or NULL. */
void diff_expand(Diff *d, Slice line, const char *flag);
/* Calls print for each change cut off from the rest. */
void diff_each(Diff *d, Change *script, void (*print)(Diff *d, Change *hunk));
const char *diff_escape(Diff *d, const char *name);

void diff_normal(Diff *d, Change *script);
void diff_ed(Diff *d, Change *script);
void diff_forward_ed(Diff *d, Change *script);
void diff_rcs(Diff *d, Change *script);
void diff_context(Diff *d, Change *script, bool unified);
void diff_context_header(Diff *d, bool unified);
void diff_side_by_side(Diff *d, Change *script);
void diff_ifdef(Diff *d, Change *script);

/* tree.c */
int diff_pair(Diff *d, const char *first, const char *second); /* 0, 1 or 2 */

#endif
