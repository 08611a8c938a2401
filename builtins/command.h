/* command: the contract of a command, and what command code may use.
 *
 * A command is one file: its options table, its help, its code. It sees base, and the process through the
 * proc_* calls of kernel.h that this header re-exports. It knows nothing of the interpreter.
 *
 * Memory: results and scratch come from p->mem and go with the process; a loop over records takes a mark and
 * resets to it; what must outlive the round (tables, growing buffers) comes from p->keep. Allocation never returns NULL here: it raises. Commands free nothing and have no clean-up labels.
 * Errors: warn() prints "NAME: message" and the command remembers a status; die() ends it. Writing raises SIGPIPE,
 * limits and the deadline by itself. A loop that does not read, write or allocate calls proc_tick.
 *
 * The options table is the only place an option is written down: parsing, --help, "invalid option" and
 * COMMANDS.md come from it.
 */
#ifndef LIBSHELL_COMMAND_H
#define LIBSHELL_COMMAND_H

#include <stdio.h>

#include "lib/base/base.h"
#include "lib/base/map.h"
#include "lib/base/mem.h"
#include "lib/base/regex.h"
#include "lib/base/tz.h"
#include "lib/base/utf8.h"
#include "lib/kernel/component.h"
#include "lib/kernel/kernel.h"

/* ---------- description ---------- */

typedef enum {
    OPT_FLAG,     /* -a --all */
    OPT_VALUE,    /* -n N, -nN, --lines=N, --lines N */
    OPT_OPTIONAL, /* --color[=WHEN]; the short form takes only an attached value */
} OptionKind;

/* `id` is what args_next returns: the short letter when there is one, else what the table says (>= 256). */
typedef struct Option {
    char letter;            /* 0: none */
    const char *name;       /* long name without --, or NULL */
    OptionKind kind;
    const char *help;       /* NULL: accepted, not shown */
    const char *value_name; /* "N" */
    int id;
} Option;

/* Rows for short spellings of --help and --version, which args_next answers itself. */
enum { OPTION_IS_HELP = -2, OPTION_IS_VERSION = -3 };
#define OPTION_HELP(letter) {letter, NULL, OPT_FLAG, "display this help and exit", NULL, OPTION_IS_HELP}
#define OPTION_VERSION(letter) {letter, NULL, OPT_FLAG, "output version information and exit", NULL, OPTION_IS_VERSION}

#define OPTIONS_END {0, NULL, OPT_FLAG, NULL, NULL, 0}
#define OPTION_DIGIT(d) {d, NULL, OPT_FLAG, NULL, NULL, 0}
/* Rows for -0 to -9, the old way of giving a number. */
#define OPTION_DIGITS                                                                                          \
    OPTION_DIGIT('0'), OPTION_DIGIT('1'), OPTION_DIGIT('2'), OPTION_DIGIT('3'), OPTION_DIGIT('4'), OPTION_DIGIT('5'), \
        OPTION_DIGIT('6'), OPTION_DIGIT('7'), OPTION_DIGIT('8'), OPTION_DIGIT('9')

/* The same where each is an option of its own, with the digits behind it as its value. */
#define OPTION_NUMBER(d) {d, NULL, OPT_OPTIONAL, NULL, NULL, 0}
#define OPTION_NUMBERS                                                                                         \
    OPTION_NUMBER('0'), OPTION_NUMBER('1'), OPTION_NUMBER('2'), OPTION_NUMBER('3'), OPTION_NUMBER('4'), OPTION_NUMBER('5'), \
        OPTION_NUMBER('6'), OPTION_NUMBER('7'), OPTION_NUMBER('8'), OPTION_NUMBER('9')

enum {
    COMMAND_PURE = 1 << 0,    /* reads, prints */
    COMMAND_WRITES = 1 << 1,  /* changes files */
    COMMAND_NETWORK = 1 << 2,
    COMMAND_SPAWNS = 1 << 3,  /* starts other programs: gets a larger stack */
    COMMAND_SHELL = 1 << 4,   /* a shell builtin: runs in the interpreter's process (builtins/shell, and echo, printf, test) */
    COMMAND_SPECIAL = 1 << 5, /* a POSIX special builtin */
    COMMAND_NO_FILE = 1 << 6, /* no entry in /usr/bin */
    COMMAND_ORDERED = 1 << 7, /* options end at the first operand, as POSIX and bash do (env, xargs, nice) */
    COMMAND_NAMED_HINT = 1 << 9, /* diffutils: the line "Try ... --help" begins with the command's name */
    COMMAND_RAW = 1 << 8,     /* parses argv itself (echo, test, expr, find); no --help by table */
};

typedef struct Args Args;

typedef struct Command {
    const char *name;
    const char *usage;    /* "wc [OPTION]... [FILE]..."; several lines allowed */
    const char *summary;  /* "Print line, word and byte counts." */
    const Option *options;
    int (*main)(Proc *p, Args *args);
    uint32_t flags;
    int usage_status;     /* after a bad option; 0 means 1, ls, grep, sort ... have 2 */
    const char *notes;    /* more lines for --help, and deliberate differences for COMMANDS.md; or NULL */
    const char *hint;     /* the line after a bad option, where it is not "Try 'NAME --help' for more information." */
    const char *package;  /* what the original belongs to: "GNU coreutils 9.1" */
} Command;

/* COMMAND(wc, "wc [OPTION]... [FILE]...", "Print ...", options, COMMAND_PURE); further fields by designator:
 * COMMAND(ls, ..., COMMAND_PURE, .usage_status = 2); */
#define COMMAND(id, usage_, summary_, options_, flags_, ...)                                                       \
    const Command command_##id = {.name = #id, .usage = (usage_), .summary = (summary_), .options = (options_),    \
                                  .main = id##_main, .flags = (flags_), ##__VA_ARGS__}
/* For names that are not C identifiers: COMMAND_NAMED(bracket, "[", ...), main is bracket_main. */
#define COMMAND_NAMED(id, name_, usage_, summary_, options_, flags_, ...)                                          \
    const Command command_##id = {.name = (name_), .usage = (usage_), .summary = (summary_), .options = (options_), \
                                  .main = id##_main, .flags = (flags_), ##__VA_ARGS__}

/* Every command, sorted by name (bytes): builtins/registry.c from the X-macro list in builtins/commands.def. */
extern const Command *const command_table[];
extern const size_t command_count;
const Command *command_find(const char *name);

/* ---------- arguments ---------- */

struct Args {
    const Command *command;
    int argc;
    char **argv;      /* argv[0] is the name it was called by; NUL-terminated strings, NULL at the end */
    char *value;      /* of the option args_next just returned, or NULL */
    int option_index; /* its row in the table */
    bool builtin;     /* run by an interpreter (p->lang is valid); false for /usr/bin/printf and the like */
    /* private to args_next */
    int at, first_operand, last_operand;
    char *cluster;
    bool no_more, only_operands;
    bool failed;
};

/* The next option's id, or -1 at the end; permutes operands behind options as getopt_long does (unless COMMAND_ORDERED
 * or POSIXLY_CORRECT), accepts unambiguous prefixes of long names, handles --help and --version, and on a bad option prints what GNU
 * prints and exits with usage_status. A digit option such as -5 comes through as a table entry per digit. */
int args_next(Proc *p, Args *args);
/* After the last option: argv + count of the operands. */
char **args_operands(Args *args, int *count);
/* Where options and operands keep their order (COMMAND_ORDERED): after args_next said -1, the next operand, behind which options may go
 * on; NULL at the end. */
char *args_operand(Args *args);
/* Prints "NAME: missing operand" / "NAME: extra operand 'x'" with the hint line, and exits. */
NORETURN void usage_missing(Proc *p, Args *args, const char *after); /* after: NULL, or the last operand present */
NORETURN void usage_extra(Proc *p, Args *args, const char *operand);
NORETURN void usage_fail(Proc *p, Args *args, const char *format, ...) PRINTF_LIKE(3, 4); /* message + hint + exit */
NORETURN void usage_hint(Proc *p, const Args *args); /* only the hint line (a builtin's usage), and exit */
void print_help(Proc *p, const Command *command);

/* Sizes with GNU suffixes (K, KB, KiB, M ...; `allowed` as xstrtoumax's). 0, -EINVAL, -ERANGE. */
int parse_size(const char *text, const char *allowed, uint64_t *out);
/* Seconds as sleep and timeout take them: 1.5, 2m, 1h, 1d, inf. */
bool parse_duration(const char *text, double *seconds);
int parse_int(const char *text, int64_t *out);   /* whole string, decimal; 0, -EINVAL, -ERANGE */

/* ---------- messages ---------- */

/* "NAME: " message newline on stderr (bash's prefix in a builtin); out is flushed first, so order is what a terminal would show. */
void warn(Proc *p, const char *format, ...) PRINTF_LIKE(2, 3);
/* The same with ": " and the error's text; error is positive or negative errno. */
void warn_errno(Proc *p, int error, const char *format, ...) PRINTF_LIKE(3, 4);
NORETURN void die(Proc *p, int status, const char *format, ...) PRINTF_LIKE(3, 4);
NORETURN void die_errno(Proc *p, int status, int error, const char *format, ...) PRINTF_LIKE(4, 5);
const char *error_text(int error); /* glibc's strerror texts, ours */

/* GNU quoting, results in p->mem. quote: locale style, as quote(): 'x' in C, ‘x’ in UTF-8.
 * quoteaf: always shell quotes, $'..' for what needs it. quotef: shell quotes only when needed, a colon being a need (it ends
 * the name in a message); quote_if_needed is the same without that. */
const char *quote_if_needed(Proc *p, const char *s);
const char *quote(Proc *p, const char *s);
const char *quoteaf(Proc *p, const char *s);
const char *quotef(Proc *p, const char *s);
bool locale_utf8(Proc *p); /* from LC_ALL, LC_CTYPE, LANG of the process's environment */

/* ---------- output ---------- */

/* Output is kernel.h's: p->out for standard output, p->err for messages. */

static inline void out_write(Output *o, Slice s)
{
    if (likely(s.len <= o->cap - o->len)) {
        if (s.len)
            memcpy(o->data + o->len, s.data, s.len);
        o->len += s.len;
    } else {
        output_slow(o, s);
    }
}
static inline void out_char(Output *o, char c)
{
    if (likely(o->len < o->cap))
        o->data[o->len++] = c;
    else
        output_slow(o, (Slice){&c, 1});
}
static inline void out_str(Output *o, const char *s) { out_write(o, slice_str(s)); }
void out_int(Output *o, int64_t v);
void out_pad(Output *o, size_t count, char c);
void out_printf(Output *o, const char *format, ...) PRINTF_LIKE(2, 3);
/* Passes bytes that lie in `chunk` on by reference, after what is buffered: cat's road. chunk NULL: as out_write. */
void out_chunk(Output *o, Slice s, Chunk *chunk);
int output_status(Proc *p); /* flushes p->out; 0, or 1 after printing "NAME: write error: ..." */

/* ---------- input ---------- */

/* The files named by operands, "-" or none being standard input, in turn. A file that cannot be opened gives the
 * GNU message, is remembered in input_status and does not stop the loop.
 *
 *     for (Input in = input_first(p, args); input_open(&in); input_next(&in))
 *         for (Slice chunk; input_chunk(&in, &chunk);) ...
 */
typedef struct Input {
    Proc *proc;
    char **names;
    int count, index;
    const char *name;   /* as the operand says; "-" for standard input */
    bool is_stdin;
    int fd;
    int status;         /* 0, or 1 after a failure */
    const char *open_format; /* of the message, "%s" is the name: GNU's usual is "%s" (wc, cat); "cannot open %s for reading" (head) */
    const char *read_format; /* of the message when reading fails: "error reading %s" (head); a name that stands first is quoted only when it must be. NULL: "NAME: read error" */
    bool no_dash;       /* "-" is a file like any other */
    bool quote_name;    /* the name in open_format goes through quoteaf (else quotef) */
    char delimiter;     /* of records; '\n' */
    size_t most;        /* bytes to read at once where it shows how far a command reads ahead; 0: many */
    /* private */
    Slice window;       /* unread bytes of the current chunk */
    Chunk *chunk;       /* what holds the chunk, or NULL */
    Buf carry;          /* a record that crosses chunks */
    bool at_end, started, named; /* named: by operands */
} Input;

Input input_first(Proc *p, Args *args);                     /* the operands left in args */
Input input_files(Proc *p, char **names, int count);        /* count 0: standard input */
Input input_fd(Proc *p, int fd, const char *name);
bool input_open(Input *in);  /* opens the current file; skips ones that fail; false at the end of the list */
void input_next(Input *in);  /* closes it and goes on */
int input_status(const Input *in);
/* Next bytes; valid until the next call on `in`. False at the end, or after a read error (printed, remembered). */
bool input_chunk(Input *in, Slice *chunk);
/* Next record without its delimiter, of any length; *ended tells whether the delimiter was there. Valid until the next call.
 * Points into file data where the record lies in one chunk. */
bool input_record(Input *in, Slice *record, bool *ended);
/* Takes the whole records at hand that come before the first which holds the needle of `re`: perhaps none. Valid as a chunk is. */
Slice input_pass(Input *in, const Re *re);
/* Gives back what was read and not used (seek on a file, push back on a pipe): for head, read, sed q. */
void input_give_back(Input *in);
/* The descriptor's chunk that input_chunk just gave, for out_chunk. */
static inline Chunk *input_holder(const Input *in) { return in->chunk; }
/* The whole of an open descriptor or file, contiguous; in p->mem or in file data. */
Slice read_all(Proc *p, int fd);
int read_file(Proc *p, const char *path, Slice *out); /* 0 or -errno */

#endif
