/* ls: what its files share. Options in ls.c, order in sort.c, names in quote.c, lines and columns in print.c. */
#ifndef LIBSHELL_LS_H
#define LIBSHELL_LS_H

#include "../file.h"

typedef enum { FORMAT_LINES, FORMAT_LONG, FORMAT_COLUMNS, FORMAT_ACROSS, FORMAT_COMMAS } Format;
typedef enum { SORT_NAME, SORT_NONE, SORT_SIZE, SORT_TIME, SORT_VERSION, SORT_EXTENSION, SORT_WIDTH } Sort;
typedef enum { TIME_MTIME, TIME_ATIME, TIME_CTIME, TIME_BTIME } TimeKind;
typedef enum { INDICATE_NONE, INDICATE_SLASH, INDICATE_TYPE, INDICATE_CLASSIFY } Indicate;
typedef enum { QUOTE_LITERAL, QUOTE_SHELL, QUOTE_SHELL_ALWAYS, QUOTE_SHELL_ESCAPE, QUOTE_SHELL_ESCAPE_ALWAYS, QUOTE_C, QUOTE_C_MAYBE, QUOTE_ESCAPE, QUOTE_LOCALE, QUOTE_CLOCALE } Quoting;
typedef enum { LINKS_DEFAULT, LINKS_NEVER, LINKS_OPERAND_DIRS, LINKS_OPERANDS, LINKS_ALWAYS } Links;
typedef enum { HIDE_DOTS, HIDE_IMPLIED, HIDE_NOTHING } Hide;

typedef struct {
    const char *name;  /* as given, or the entry's */
    const char *path;  /* of the file, from here */
    const char *shown; /* quoted */
    size_t width;      /* of shown, in columns */
    const char *target; /* of a symlink, quoted; NULL */
    VStat st;
    uint32_t target_mode; /* 0: dangling or not asked */
    bool stat_ok, operand;
    bool broken;       /* a symlink that leads nowhere */
} Entry;

typedef struct {
    Proc *p;
    Format format;
    Sort sort;
    TimeKind time;
    Indicate indicate;
    Quoting quoting;
    Links links;
    Hide hide;
    struct Owner { uint32_t id; bool known; const char *name; } *owners; /* the user and the group that were looked up last */
    /* context: there is none, which is shown as ?; links_to: --hyperlink */
    bool reverse, recursive, directories_first, as_is /* -d */, inodes, blocks, numeric, owner, group, author, no_control, color, full_names, context, links_to;
    unsigned human;         /* 0, 1000 or 1024: of sizes */
    uint64_t block_size;    /* of -s and total */
    uint64_t file_block;    /* of sizes under -l */
    const char *block_suffix;
    unsigned block_human;
    size_t width;           /* of a line; 0: no limit */
    size_t tab;
    char end;               /* of a line */
    const char *recent_format, *old_format;
    int64_t now;
    const char **ignore;    /* patterns, in p->keep */
    size_t ignore_count;
    const char **hide_patterns;
    size_t hide_count;
    const char *colors;     /* LS_COLORS, before the built-in ones */
    bool colored;           /* something was printed in colour */
    bool printed;           /* a blank line comes before the next heading */
    int status;
} Ls;

void sort_entries(const Ls *ls, Entry *list, size_t count);
void print_linked(const Ls *ls, const char *path, const char *text); /* with --hyperlink, as a terminal's link to the file */
const char *quote_name(const Ls *ls, const char *name, size_t *width);
void print_entries(Ls *ls, Entry *list, size_t count, bool total);
int version_compare(const char *a, const char *b); /* filevercmp */

#endif
