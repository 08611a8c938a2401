/* awk: gawk 5.2's language. Source text -> lexer and parser (a tree) -> compiler (instructions) -> machine.
 *
 *   value.c   heap, strings, numbers, comparison        array.c order.c   associative arrays, gawk's order of for-in
 *   lex.c parse*.c   source to tree                     compile*.c        tree to instructions
 *   machine.c        runs instructions                  field.c record.c  $0 and its fields, records of a stream
 *   io.c             files, pipes, coprocesses          format.c          printf and numbers as text
 *   builtin*.c       the functions                      awk.c             the command: options, main loop
 *
 * Memory: the tree, instructions and constants live in p->keep. What a program makes at run time comes from the
 * heap: counted blocks of size classes on free lists, so that a stream of any length stays flat. A Value on
 * the machine's stack, in a variable or in an array owns one count of what it points to.
 */
#ifndef LIBSHELL_AWK_H
#define LIBSHELL_AWK_H

#include <math.h>

#include "command.h"

/* ---------- values ---------- */

enum { HEAP_CLASSES = 192 };
typedef struct Heap {
    Mem *mem;
    void *free[HEAP_CLASSES];
} Heap;

/* A block of at least n bytes; its class, for giving it back, in *class. Raises when memory is short. */
void *heap_alloc(Heap *h, size_t n, unsigned *class);
void heap_free(Heap *h, void *block, unsigned class);
size_t heap_class_size(unsigned class);

enum { LOOKS_UNKNOWN, LOOKS_NUMERIC, LOOKS_TEXT };

typedef struct String {
    uint32_t refs;
    uint8_t class, looks, ascii; /* looks: as input, LOOKS_*; ascii: TEXT_* */
    uint8_t prefix_known;        /* number holds the value of the numeric prefix */
    size_t len;
    double number;
    char data[];                 /* NUL-terminated, for the C library's sake */
} String;

typedef struct Array Array;
typedef struct Rx Rx;
typedef struct Iter Iter;

typedef enum {
    V_UNSET,  /* never assigned: "" and 0 */
    V_NUM,
    V_STR,
    V_INPUT,  /* text from outside: a number if it looks like one */
    V_REGEX,  /* @/re/, or a regular expression as an argument */
    V_ARRAY,
    V_REF,    /* an untyped variable passed to a function: `cell` says which */
    V_ITER,   /* of for-in, on the stack only */
} Kind;

typedef struct Value {
    uint32_t kind;
    uint32_t cell; /* V_REF: CELL_GLOBAL | index, or an index into the stack; V_UNSET: 1 once an element or assigned field, CELL_FIELD a field that is not there */
    union {
        double n;
        String *s;
        Rx *rx;
        Array *a;
        Iter *it;
    };
} Value;

#define CELL_GLOBAL 0x80000000u

typedef struct Awk Awk;
typedef struct Parser Parser;

String *string_alloc(Awk *w, size_t len); /* contents are the caller's to fill */
String *string_new(Awk *w, Slice s);
void string_release(Awk *w, String *s);
static inline Slice string_slice(const String *s) { return (Slice){s->data, s->len}; }
static inline String *string_ref(String *s)
{
    s->refs++;
    return s;
}
size_t string_room(const String *s); /* bytes its block can hold */
bool string_is_ascii(String *s);
String *string_joined(Awk *w, Slice a, Slice b);

void value_release_slow(Awk *w, Value *v);
static inline void value_release(Awk *w, Value *v)
{
    if (v->kind > V_NUM)
        value_release_slow(w, v);
}
Value value_copy(const Value *v);
static inline Value value_num(double n) { return (Value){.kind = V_NUM, .n = n}; }
static inline Value value_str(String *s) { return (Value){.kind = V_STR, .s = s}; }
Value value_plain(Awk *w, Slice s);
Value value_input(Awk *w, Slice s);
enum { CELL_FIELD = 2, CELL_NUMBER /* V_INPUT: typeof says number */ };

/* An unset value once it is assigned: still a field that was not there, which compares as text, when it was one. */
static inline Value unset_assigned(const Value *v) { return (Value){.kind = V_UNSET, .cell = v->kind == V_UNSET && v->cell == CELL_FIELD ? CELL_FIELD : 1}; }

static inline Value value_unset(void) { return (Value){.kind = V_UNSET}; }

/* Numbers in text: the longest prefix that is one (0 without), and whether all of it is one, blanks aside. */
double text_number(Awk *w, Slice s);
double text_based_number(Awk *w, Slice s); /* 0x11 and 011 as in a program of C */
bool text_is_number(Awk *w, Slice s, double *n);

double value_number_slow(Awk *w, const Value *v);
static inline double value_number(Awk *w, const Value *v)
{
    return likely(v->kind == V_NUM) ? v->n : value_number_slow(w, v);
}
bool value_truth(Awk *w, const Value *v);
bool value_looks_numeric(Awk *w, const Value *v); /* a number, or input that is one */
int value_compare(Awk *w, const Value *a, const Value *b); /* < 0, 0, > 0; 2 when a NaN is in it */
int text_compare(Awk *w, Slice a, Slice b);
/* The text of a value; numbers through CONVFMT or OFMT. The result owns a count. */
String *value_string(Awk *w, const Value *v);
String *number_string(Awk *w, double n, Slice format);
/* The same without allocating where that can be: bytes in the value or in `room`. */
enum { NUMBER_ROOM = 32 };
bool number_small(double n, char room[NUMBER_ROOM], Slice *out); /* integers of up to 18 digits */
void number_print(Awk *w, Output *o, double n, Slice format);

/* ---------- arrays ---------- */

/* Keys are integers or text; "12" and 12 are the same key. Entries keep the order of insertion; `part` and the growths say where gawk
 * would have put them. */
typedef struct Entry {
    Value value;
    union { int64_t number; String *text; } key;
    uint32_t hash;
    uint8_t kind; /* KEY_* */
    uint8_t part; /* PART_* */
} Entry;
enum { KEY_GONE, KEY_INT, KEY_TEXT };
enum { PART_TEXT, PART_INT, PART_COUNTING, PARTS };

enum { FIRST_COUNTING, FIRST_INT, FIRST_TEXT };

struct Array {
    uint32_t refs;
    uint8_t first;       /* FIRST_*: the kind of its first key, which decides gawk's table */
    bool others_text;    /* of a counting array: its other keys all hash as text */
    Entry *entries;
    uint32_t *index;     /* entry + 1, or 0 */
    uint32_t count, cap, live, buckets;
    unsigned entries_class, index_class, leaves_class;
    uint32_t part_live[PARTS];
    struct Growths *growths;
    uint32_t *leaves;    /* gawk's leaf blocks of counting keys: a set, once a key is above 1023 */
    uint32_t leaf_count, leaf_buckets;
    uint64_t capacity;   /* of those leaves */
};

Array *table_new(Awk *w);
void table_release(Awk *w, Array *a);
void table_clear(Awk *w, Array *a);
Value *table_find(Awk *w, Array *a, const Value *key);  /* NULL: absent */
Value *table_get(Awk *w, Array *a, const Value *key);   /* made when absent; valid until the next insertion */
Value *table_get_int(Awk *w, Array *a, int64_t key);
Value *table_get_str(Awk *w, Array *a, const char *key);
bool table_remove(Awk *w, Array *a, const Value *key);
void table_set(Awk *w, Array *a, const Value *key, Value v); /* takes v */
Value entry_key(Awk *w, const Entry *e); /* counted */
/* The live entries in gawk's order, or sorted: numbers of entries, in *order (w->p->mem). */
uint32_t table_order(Awk *w, const Array *a, uint32_t **order);

/* for-in: the keys, taken when the loop begins. */
struct Iter {
    unsigned class;
    uint32_t count, at;
    Array *array;
    Value keys[];
};
Iter *iter_new(Awk *w, Array *a);
void iter_release(Awk *w, Iter *it);
/* The order `how` names (PROCINFO["sorted_in"], asort): "@ind_str_asc", a function's name ...; keys or values in place. */
typedef struct Pair { Value key, value; bool text; } Pair; /* borrowed; text: the key is in gawk's table of texts */
bool sort_pairs(Awk *w, Pair *pairs, size_t n, Slice how, bool asort);

/* ---------- regular expressions ---------- */

struct Rx {
    String *source;      /* as awk text, escapes resolved as a regexp has them */
    Re *re[4];        /* by IGNORECASE, and 2: with groups */
    String *ere, *literal_text;
    Slice literal;    /* when it is plain bytes */
    bool is_literal;
    bool dynamic;
};
Rx *rx_constant(Awk *w, Slice source);
Rx *rx_of(Awk *w, const Value *v);          /* valid until the next few rx_of */
/* Compiles for the present IGNORECASE; NULL and *error when it is bad. */
Re *rx_compiled(Awk *w, Rx *rx, bool groups, ReError *error);
/* As re_search; the text's kind may be told. */
bool rx_looks_back(const Rx *rx); /* may hold \\y, \\<, \\> or \\B */
/* What is behind `start` as a text of its own: patsplit and FPAT find ^ and \\y there. */
bool rx_search_rest(Awk *w, Rx *rx, Slice text, ReText kind, size_t start, ReSpan *span);
bool rx_search(Awk *w, Rx *rx, Slice text, ReText kind, size_t start, bool not_bol, ReSpan *spans, size_t n);
void rx_release_all(Awk *w);

/* ---------- program ---------- */

#include "tree.h"

typedef struct Source {
    const char *name; /* "cmd. line" or a file */
    Slice text;
    bool is_file;
    struct Source *next;
} Source;

typedef struct Insn {
    uint16_t op;
    uint16_t a;
    int32_t b;
} Insn;

typedef struct Function {
    Slice name;
    uint32_t params, locals; /* all locals are parameters in awk; locals == params */
    Slice *param_names;
    int32_t entry;           /* instruction */
    bool defined;
    Node *body;
    const struct Source *source;
    uint32_t line;
    uint32_t called_line;
    uint32_t need;           /* stack cells its code may use */
} Function;

/* Variables the machine knows; their index among the globals. Those before SPECIALS run code when assigned. */
enum {
    G_NF, G_NR, G_FNR, G_FS, G_OFS, G_ORS, G_RS, G_SUBSEP, G_CONVFMT, G_OFMT, G_IGNORECASE, G_FIELDWIDTHS, G_FPAT,
    SPECIALS,
    G_RSTART = SPECIALS, G_RLENGTH, G_FILENAME, G_ENVIRON, G_ARGC, G_ARGV, G_RT, G_ERRNO, G_ARGIND, G_PROCINFO,
    G_BINMODE, G_LINT, G_TEXTDOMAIN, G_PREC, G_ROUNDMODE, G_SYMTAB, G_FUNCTAB,
    G_KNOWN
};
extern const char *const known_globals[G_KNOWN];

typedef struct Script {
    Insn *code;
    uint32_t *lines;
    const Source **sources;   /* by instruction */
    int32_t count, cap;
    Value *constants;
    uint32_t constant_count, constant_cap;
    Function *functions;
    uint32_t function_count, function_cap;
    Map function_names, global_names;
    const char **global_by_index;
    uint32_t global_count, global_cap;
    Rule *rule_list;
    int32_t begin, rules, end, begin_file, end_file; /* entries; -1: none */
    uint32_t ranges;
    bool uses_functab, uses_symtab, uses_procinfo;
    uint32_t need;        /* stack cells the rules may use */
    bool needs_input;
    bool reads_all; /* END or rules: the input is read */
} Script;

/* ---------- fields ---------- */

typedef struct Field {
    size_t at, len; /* in `text` */
    Value value;    /* V_UNSET with cell 0: not made yet */
} Field;

typedef enum { SPLIT_SPACE, SPLIT_CHAR, SPLIT_EACH, SPLIT_REGEX, SPLIT_FPAT, SPLIT_WIDTHS, SPLIT_CSV } SplitKind;

typedef struct Splitter {
    SplitKind kind;
    char c;
    Rx *rx;
    bool newline_too; /* paragraph mode */
} Splitter;

typedef struct Record {
    Slice text;        /* that the fields lie in */
    String *text_owner;   /* NULL: borrowed from a stream until its next read */
    String *whole;        /* $0 when it was asked for as a value, or rebuilt; else NULL */
    bool whole_plain;  /* $0 was assigned a plain string: not input */
    bool whole_number; /* $0 was assigned a number */
    bool stale;        /* a field or NF was assigned: $0 is to be rebuilt */
    bool split;        /* all fields are known */
    Field *fields;     /* 1-based */
    size_t nf, cap;
    unsigned class;
    size_t pos;        /* where splitting goes on */
    size_t made;       /* highest field with a value */
} Record;

void record_set(Awk *w, Slice text, String *owner); /* $0 from input; owner may be NULL: borrowed, else a count is taken over */
void record_assign(Awk *w, const Value *v);
void record_pin(Awk *w);                          /* copy what is borrowed */
Slice record_text(Awk *w);                        /* $0's bytes, until it changes */
Value record_value(Awk *w);                       /* counted */
Value field_value(Awk *w, size_t i);              /* counted */
Slice field_text(Awk *w, size_t i, char room[NUMBER_ROOM]);
double field_number(Awk *w, size_t i);
void field_assign(Awk *w, size_t i, Value v);
void field_make(Awk *w, size_t i); /* fields up to i are there */     /* takes v */
size_t field_count(Awk *w);
void field_set_count(Awk *w, double n);
size_t field_index(Awk *w, double n, bool reading); /* checks; fatal when negative, and when it is to be made and too high */
void split_setup(Awk *w);                         /* FS, FPAT, FIELDWIDTHS or IGNORECASE changed */
/* Where the character behind `at` begins; past the end, one further. */
size_t text_step(const Awk *w, Slice s, size_t at);
/* A separator's \\y and \\B know nothing of what is before `from`; ^ matches at the text's beginning alone. */
bool search_separator(Awk *w, Rx *rx, Slice s, ReText kind, size_t from, ReSpan *at);
size_t split_into(Awk *w, Slice text, ReText kind, const Splitter *how, Array *out, Array *seps);
Splitter splitter_of(Awk *w, const Value *fs);
size_t patsplit_into(Awk *w, Slice text, Rx *rx, Array *out, Array *seps);

/* ---------- streams ---------- */

typedef struct Reader {
    int fd;
    Slice window;    /* unread bytes of the current chunk */
    Buf carry;       /* a record that crosses chunks; [carry_at..) is unread */
    size_t carry_at;
    bool ended, in_use; /* in_use: $0 may lie in it */
    bool started;
    int error;
} Reader;

typedef enum { RED_FILE_OUT, RED_PIPE_OUT, RED_FILE_IN, RED_PIPE_IN, RED_TWO_WAY } RedirectKind;

typedef struct Redirect {
    struct Redirect *next;
    RedirectKind kind;
    String *name;
    Output out;
    Output *to;     /* &out, or the standard streams' */
    char *buffer;
    Reader in;
    Reader *shared_in; /* standard input that the main loop reads too */
    unsigned class;
    pid_t pid;
    bool reading, writing, standard;
    bool append;
} Redirect;

void reader_init(Awk *w, Reader *r, int fd);
/* Next record by RS; its terminator in w->rt. 1, 0 at the end, -1 on an error (r->error). Valid until the next call. */
int reader_record(Awk *w, Reader *r, Slice *record);
Redirect *redirect_open(Awk *w, RedirectKind kind, bool append, const Value *name); /* NULL: failed, ERRNO set */
int redirect_close(Awk *w, Slice name, const char *how);
void redirect_close_all(Awk *w);
void redirect_flush_all(Awk *w);
bool redirect_flush(Awk *w, Slice name);
double run_system(Awk *w, String *command);
void set_errno(Awk *w, int error);
void set_errno_text(Awk *w, const char *text);

/* ---------- the machine ---------- */

typedef enum { RUN_DONE, RUN_NEXT, RUN_NEXT_FILE, RUN_EXIT } Outcome;

typedef struct Frame {
    int32_t back;     /* instruction to go on with; -1: leave the machine */
    uint32_t base;    /* of the caller's locals */
    uint32_t function;
} Frame;

enum { MAX_FRAMES = 400000, MAX_CELLS = 16u << 20, RX_CACHE = 64 };

struct Awk {
    Proc *p;
    Heap heap;
    Script prog;
    Value *globals;
    Value *stack;
    uint32_t stack_cap, top, base, function;
    unsigned stack_class, frames_class;
    Frame *frames;
    uint32_t frame_count, frame_cap;
    bool *ranges;
    const Insn *at;       /* for messages */
    String *empty;
    String *digits[10];
    /* special variables, kept in C */
    double nr, fnr;
    String *fs, *ofs, *ors, *rs, *subsep, *convfmt, *ofmt;
    bool ignore_case;
    Splitter splitter;
    Value fs_value;
    uint32_t *widths; /* FIELDWIDTHS: skip, width pairs */
    size_t width_count;
    enum { BY_FS, BY_WIDTHS, BY_FPAT, BY_CSV } split_by;
    Record record;
    String *rt;
    Rx *rs_rx;
    enum { RS_NEWLINE, RS_CHAR, RS_PARAGRAPH, RS_REGEX } rs_kind;
    /* main input */
    Reader input;
    int32_t next_arg;
    bool input_open, input_over, any_file, in_file_block;
    const char *file_name;
    bool skip_file;
    /* in place */
    bool in_place;
    Output in_place_out;
    char *in_place_temporary;
    String *in_place_name;
    Output standard; /* descriptor 1: not p->out, which is flushed whenever a command is waited for */
    Output *out;     /* of print */
    /* streams */
    Redirect *redirects;
    const Reader *borrowed_from; /* whose bytes $0 may lie in */
    Reader *stdin_reader;        /* the main input while it is standard input */
    /* regular expressions */
    Rx **rx_list;
    uint32_t rx_count, rx_cap;
    struct { bool used; Rx rx; } rx_cache[RX_CACHE];
    /* randomness */
    int32_t random_state[63];
    uint32_t random_table[512], random_last;
    unsigned random_front, random_rear;
    bool based_input; /* -n */
    Array *symtab;    /* NULL: the program does not name it */
    double seed, last_seed;
    bool random_ready;
    /* state */
    bool utf8, sandbox, posix, traditional, csv, interactive;
    enum { LINT_OFF, LINT_ON, LINT_NO_EXTENSIONS, LINT_FATAL } lint;
    bool warned_print;
    bool warned_bytes; /* that a text's bytes are no characters: said once */
    bool exiting;
    bool in_end;
    int exit_code;
    Buf work, work2;
    Source *sources, *included;
    const TimeZone *zone;
    bool non_decimal;
    char warned[32]; /* letters of escapes that were warned about */
    size_t warned_count;
    Parser *parser;  /* while the program is read */
};

Outcome machine_run(Awk *w, int32_t entry);
Value machine_call(Awk *w, uint32_t function, Value *args, uint32_t count); /* takes args; for comparisons */
void awk_unwind(Awk *w, uint32_t top);
Array *cell_array(Awk *w, Value *cell, const char *name);
Value *ref_resolve(Awk *w, Value *v);
void special_assigned(Awk *w, uint32_t index);
void global_set(Awk *w, uint32_t index, Value v); /* takes v */
Array *global_array(Awk *w, uint32_t index);
bool main_getline(Awk *w, Slice *record, int *result); /* the next record of the operands; false at the end */
String *string_set(Awk *w, String **slot, String *s);

double awk_power(double a, double b);
NORETURN void awk_leave(Awk *w); /* exit inside of a comparison */
void awk_compile(Awk *w);
void awk_parse(Awk *w);
int awk_function(Awk *w, Slice name);
uint32_t global_index(Awk *w, Slice name); /* made when it is not there */

NORETURN void awk_fatal(Awk *w, const char *format, ...) PRINTF_LIKE(2, 3);
void awk_warning(Awk *w, const char *format, ...) PRINTF_LIKE(2, 3);
void awk_lint(Awk *w, const char *format, ...) PRINTF_LIKE(2, 3); /* only under --lint; does not return when that is to be fatal */
void lint_value(Awk *w, unsigned what, int32_t b);
void lint_builtin(Awk *w, unsigned id, const Value *args, uint32_t count);
void lint_open_files(Awk *w);

/* ---------- functions ---------- */

Value builtin_call(Awk *w, unsigned id, Value *args, uint32_t count);
/* sub, gsub: the new text in *out when something was replaced; how often. */
double substitute(Awk *w, bool all, const Value *re, const Value *replacement, String *target, String **out);
String *gensub(Awk *w, const Value *re, const Value *replacement, const Value *how, String *target);
/* printf into `out`; args[0] is the format. */
void format_values(Awk *w, Buf *out, const Value *args, uint32_t count);
Value sort_function(Awk *w, bool by_index, Value *args, uint32_t count);
Value time_function(Awk *w, unsigned id, Value *args, uint32_t count);
double random_next(Awk *w);
void random_seed(Awk *w, uint32_t seed);
/* Escapes of a string constant or -v value. */
void awk_unescape(Awk *w, Slice s, bool warn_unknown, Buf *out);

#endif
