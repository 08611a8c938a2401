/* bc: what its files share. Words in lex.c, statements and expressions to byte code in parse.c, the machine in run.c, numbers in number.c
 * and print.c, the options in bc.c.
 *
 * The byte code has the sizes of GNU bc's, for its run-time messages tell the address. Numbers live in a context that is copied into a
 * fresh one when much of it is garbage: what is alive hangs off the stack, the variables and the arrays.
 */
#ifndef LIBSHELL_BC_H
#define LIBSHELL_BC_H

#include "number.h"

enum { BASE_MOST = 2147483647, INPUT_BASE_MOST = 36, ARRAY_MOST = 16777215, PAGE = 256, LABELS_MOST = 65535, MOST_NAMES = 32767 };
enum { VAR_IBASE, VAR_OBASE, VAR_SCALE, VAR_LAST, VAR_FIRST };

typedef enum {
    T_EOF = 256, T_NEWLINE, T_STRING, T_NAME, T_NUMBER, T_ASSIGN, T_RELATION, T_STEP, T_AND, T_OR,
    T_AUTO, T_BREAK, T_CONTINUE, T_DEFINE, T_ELSE, T_FOR, T_HALT, T_HISTORY, T_IBASE, T_IF, T_LAST, T_LENGTH, T_LIMITS, T_OBASE, T_PRINT, T_QUIT,
    T_RANDOM, T_READ, T_RETURN, T_SCALE, T_SQRT, T_VOID, T_WARRANTY, T_WHILE,
} Token;

/* A value of a variable, and those it hides while a function has it as an automatic one. */
typedef struct Held { const Num *value; struct Held *outer; } Held; /* NULL: zero */
typedef struct Array { const Num ***pages; size_t cap; } Array;
typedef struct HeldArray { Array *array; bool borrowed; struct HeldArray *outer; } HeldArray;

typedef enum { PARAM_NUMBER, PARAM_ARRAY, PARAM_REFERENCE } ParamKind;
typedef struct { uint32_t id; ParamKind kind; } Param;

typedef struct {
    const char *name;
    Buf code;
    uint32_t *labels; /* number to address */
    size_t label_count, label_cap;
    Param *params, *autos;
    size_t param_count, auto_count;
    bool defined, no_value;
} Function;

typedef struct { uint32_t function; size_t at; int64_t base; } Frame;

typedef struct Bc {
    Proc *p;
    NumEnv num;
    Mem *heap;
    size_t live;            /* bytes of the heap after it was last copied */
    Map names;              /* "v" "f" "a" before the name, to its number + 1 */
    uint32_t next_var, next_function, next_array;
    Held **vars;
    HeldArray **arrays;
    const char **array_names;
    Function **functions;
    size_t var_cap, array_cap, function_cap;
    Array *spare_arrays;
    const Num ***spare_pages; size_t spare_page_count, spare_page_cap;
    Held *spare_held;
    /* input */
    Input in;
    Slice text;
    const char *file;       /* as messages name it */
    size_t line;
    bool text_over, interactive;
    Token token;
    bool peeked;
    char op;
    Buf word, pending;
    /* parsing */
    bool standard, warnings, failed, had_error;
    int quiet_tokens;       /* messages are held back until three words were taken */
    uint32_t into;          /* the function whose code is being made; 0 is the main program */
    uint32_t break_label, continue_label;
    bool in_function;
    /* running */
    const Num **stack;
    size_t depth, stack_cap;
    Frame *frames;
    size_t frame_count, frame_cap;
    uint32_t function;
    size_t at;
    int64_t ibase, obase, scale;
    const Num *last;
    bool error, halted;
    uint64_t steps;
    uint32_t random_state[34];
    size_t random_at;
    /* output */
    size_t column, line_length;
} Bc;

Token bc_peek(Bc *b);
Token bc_take(Bc *b);
void bc_message(Bc *b, const char *text); /* as yyerror: had_error */
void bc_parse(Bc *b);                     /* all of the input, running each line */
void bc_run(Bc *b);                       /* the main program's code */
void bc_reset_code(Bc *b);
void bc_print(Bc *b, const Num *n);
void bc_put(Bc *b, char c);
void bc_put_text(Bc *b, char c);
const Num *bc_constant(Bc *b, Slice digits, int64_t base);
uint32_t bc_name(Bc *b, char kind, const char *name);
void bc_limits(Bc *b);
void bc_warranty(Bc *b);
extern const char bc_library[];

#endif
