/* grep: what its files share. grep.c reads the options and walks the files, scan.c finds lines in buffers, print.c prints them. */
#ifndef LIBSHELL_GREP_H
#define LIBSHELL_GREP_H

#include "command.h"

typedef enum { BINARY_MESSAGE, BINARY_TEXT, BINARY_SKIP } BinaryMode;
typedef enum { DIRS_READ, DIRS_RECURSE, DIRS_SKIP } DirMode;
typedef enum { LIST_NONE, LIST_MATCHING, LIST_LACKING } ListMode;

typedef struct {
    const char *selected_match, *context_match, *selected_line, *context_line;
    const char *file, *line, *byte, *separator, *erase; /* erase: "\33[K" or "" */
    bool reverse; /* rv */
} Colors;

typedef struct Glob {
    Pat *pattern;
    bool include;
    struct Glob *next; /* options in reverse order */
} Glob;

typedef struct Grep {
    Proc *p;
    Re *re;            /* NULL: no pattern, nothing matches */
    ReEnv env;
    ReHold hold;
    bool end_in_match; /* GNU's -w -x takes the line's end into the match that -o and --color print */
    bool line_by_line; /* the pattern may not be run over many lines at once */

    bool invert, only_matching, count, quiet, no_messages, with_name, numbers, bytes, tab, null_name, color, line_buffered;
    BinaryMode binary;
    ListMode list;
    char eol;
    int64_t max_count; /* -1: none */
    int64_t before, after; /* -1: not asked for */
    const char *group_separator; /* NULL: none */
    Colors colors;
    DirMode dirs;
    bool follow, skip_devices;
    Glob *globs, *dir_globs, *last_glob, *last_dir_glob;
    VStat out_stat;
    bool out_regular;
    bool utf8;

    /* one file */
    const char *name;
    uint64_t line;      /* number of the line at counted_to */
    int number_width;   /* under -T */
    uint64_t offset;    /* of the buffer's first byte in the file */
    const char *counted_to;
    const char *printed_to; /* end of the last line printed in this buffer, or NULL */
    bool contiguous;    /* what was printed last lies right before the next buffer (or what -B kept of it) */
    Slice buffer;
    int64_t left, pending;
    uint64_t selected;
    bool binary_file, encoding_error, silent, first_only;
    bool only_count;
    bool used;          /* something was printed: group separators may come */
    Buf before_lines;   /* lines of earlier buffers that -B may still print */
    Buf carry;          /* a line that crosses chunks */
    uint64_t stopped_at; /* file offset behind the last selected line, for giving back */

    bool trouble, any;
} Grep;

/* Finds and prints the selected lines of whole lines; false when the rest of the file is not wanted. */
bool scan_buffer(Grep *g, Slice lines);
/* The file of `fd` from its start; its lines selected. */
uint64_t grep_fd(Grep *g, int fd, bool is_stdin);

/* kind: ':' selected, '-' context. A line with its end. False: an encoding error made the file binary. */
bool print_line(Grep *g, Slice line, char kind);
bool print_match(Grep *g, Slice match); /* of -o, as print_line */
void print_name(Grep *g);
void print_separator(Grep *g, char c);
void print_group_separator(Grep *g);
void colors_parse(Grep *g, const char *text);
ReResult grep_search(Grep *g, Slice subject, size_t start, ReSpan *span);

#endif
