/* sed: what its files share. sed.c reads the options and drives the files, script.c parses, text.c undoes escapes, input.c reads
 * lines ahead, machine.c runs the program, debug.c shows it. */
#ifndef LIBSHELL_SED_H
#define LIBSHELL_SED_H

#include "command.h"

/* A place that lines go to: standard output, a w file, or the new contents under -i. */
typedef struct SedOut {
    Output *out;
    const char *name;
    bool no_newline;  /* the last line written lacked its end: the next write puts it in first */
    bool flush;
    Output own;
    struct SedOut *next;
} SedOut;

/* The file of an R command: read a line at a time. */
typedef struct SedSource {
    const char *name;
    Input in;
    bool open, ended;
    struct SedSource *next;
} SedSource;

typedef struct {
    Re *re;           /* NULL: the one used last */
    bool given;
    bool bytewise;    /* empty matches are also inside of characters */
    unsigned flags;   /* RE_ICASE, RE_NEWLINE: as asked for */
    Slice text;
} SedRegex;

typedef enum { ADDR_NONE, ADDR_LINE, ADDR_STEP, ADDR_LAST, ADDR_REGEX, ADDR_PLUS /* +N */, ADDR_MULTIPLE /* ~N */ } AddressKind;

typedef struct {
    AddressKind kind;
    uint64_t n, step;
    SedRegex regex;
} Address;

typedef enum { CASE_KEEP, CASE_UPPER, CASE_LOWER } CaseMode;

/* A part of a replacement: literal text, then a group (-1: none). `first` is for the first character of the two. */
typedef struct {
    Slice text;
    int group;
    CaseMode mode, first;
} ReplacePart;

typedef struct {
    SedRegex regex;
    ReplacePart *parts;
    size_t count;
    int groups;        /* highest number used */
    bool cases;        /* holds case changes */
    bool global, print;
    uint64_t number;   /* 0: 1 */
    SedOut *file;
} Substitution;

typedef struct {
    bool bytes;             /* both strings are ASCII: `table` alone decides */
    unsigned char table[256];
    uint32_t *from, *to;
    size_t count;
} Transliteration;

typedef struct Command_ {
    Address a1, a2;
    bool negated;
    bool active;            /* inside its range */
    bool closed;            /* a range that begins at a line number has been */
    uint64_t range_end;
    char name;
    union {
        size_t target;      /* { b t T: where to go on */
        int64_t number;     /* l L q Q: -1 when not given */
        Slice text;         /* a i c, r */
        Substitution *s;
        Transliteration *y;
        SedOut *file;       /* w W */
        SedSource *source;  /* R */
    };
    const char *label;
    size_t where;           /* of a { or label, for errors */
} SedCommand;

typedef struct {
    const char *name;       /* NULL: an -e expression */
    size_t start, end;      /* in the joined script */
    int number;             /* of the -e expression */
} ScriptPart;

typedef struct Append {
    enum { APPEND_TEXT, APPEND_FILE } kind;
    Slice text;
    const char *file;
} Append;

typedef struct Sed {
    Proc *p;
    ReEnv env;
    bool quiet, separate, in_place, unbuffered, posix, sandbox, follow, utf8, debug;
    ReSyntax syntax;
    char end;               /* of lines */
    int64_t line_length;
    const char *suffix;

    Buf script;
    ScriptPart *parts;
    bool unplaced;          /* an error is the whole part's */
    size_t part_count, part_cap;

    SedCommand *commands;
    size_t count, cap;
    SedOut *outs, *out;
    SedOut standard, written, error; /* written: standard output as w has it */
    SedSource *sources;

    /* input */
    char **names;
    int name_count, next_name;
    Input in;
    bool reading;           /* `in` has a file */
    Slice ahead;            /* the next line, when has_ahead */
    bool has_ahead, ahead_ended;
    const char *file_name;
    uint64_t line_number;
    int status;

    /* the machine */
    Buf space, hold, work;
    bool ended, hold_ended; /* the line in the space had its end */
    bool replaced;
    bool quitting;          /* q or Q was run */
    Re *last;
    bool last_bytewise;
    MemMark mark;           /* of p->mem: lines of R go at the end of the cycle */
    Append *appends;
    size_t append_count, append_cap;

    size_t debug_depth;     /* of blocks as --debug indents them: a jump out of one does not undo it */
} Sed;

void sed_parse(Sed *s);
NORETURN void sed_bad(Sed *s, size_t at, const char *format, ...) PRINTF_LIKE(3, 4);

typedef enum { UNESCAPE_REGEX, UNESCAPE_REPLACEMENT, UNESCAPE_TEXT } UnescapeKind;
/* \t \xHH and the like made bytes; what would then be special stays quoted. In p->keep. */
Slice sed_unescape(Sed *s, Slice text, UnescapeKind kind);

/* The next line into the pattern space (behind what is there and a line end, when `append`). False at the end. */
bool sed_read(Sed *s, bool append);
bool sed_is_last(Sed *s);
void sed_in_place_end(Sed *s);

int sed_run(Sed *s);

void sed_debug_program(Sed *s);
void sed_debug_input(Sed *s);
void sed_debug_command(Sed *s, const SedCommand *c);
void sed_debug_match(Sed *s, const ReSpan *spans, size_t count);
void sed_debug_after(Sed *s, char name);
void sed_debug_line(Sed *s, bool hold);
SedOut *sed_out_named(Sed *s, const char *name);
void sed_put(Sed *s, SedOut *o, Slice line, bool ended);

#endif
