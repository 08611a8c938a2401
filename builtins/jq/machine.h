/* machine: jq programs as code for a backtracking stack machine. Private to builtins/jq.
 *
 * One growing array of cells holds three linked lists: values, frames and forks. A fork protects everything below it: what is popped
 * there is copied, not freed, and comes back when the machine backtracks. So generators need no copies of the stack.
 * Paths (path(f), assignments) are followed as a linked list of keys while code runs at nest 0.
 */
#ifndef LIBSHELL_JQ_MACHINE_H
#define LIBSHELL_JQ_MACHINE_H

#include "ast.h"

typedef enum {
    OP_LOADK,        /* replaces the top by constant arg */
    OP_LOADK_UNDER,  /* puts constant arg below the top */
    OP_DUP,          /* sub: the lower one is a cell that no fork needs */
    OP_DUPN,         /* DUP that leaves null when nobody else needs the lower one */
    OP_POP,
    OP_LOADV,        /* replaces the top by variable (level, arg) */
    OP_LOADVN,       /* the same, leaving null in the variable */
    OP_STOREV,       /* pops into a variable */
    OP_SETV,         /* a variable becomes the constant of kind sub */
    OP_SUBEXP_BEGIN, /* top x: x x, nest + 1 */
    OP_SUBEXP_END,   /* x y: y x, nest - 1 */
    OP_NEST,
    OP_UNNEST,
    OP_FORK_MOVE,    /* FORK, then the top moves above the fork; null stays */
    OP_FORK,         /* on backtracking goes on at arg */
    OP_JUMP,
    OP_JUMP_F,       /* pops; jumps when false or null */
    OP_BACKTRACK,
    OP_EACH,         /* sub: errors vanish */
    OP_INDEX,        /* key, then term on top; sub: errors vanish */
    OP_FIELD,        /* INDEX by constant arg */
    OP_FIELD_UNDER,  /* pushes top[arg] below the top */
    OP_SLICE_KEY,    /* from, to, top: key, top */
    OP_BINARY,       /* b, a on top (input already gone): a sub b */
    OP_BINARY_K,     /* top sub constant arg */
    OP_NEGATE,
    OP_CONCAT,       /* arg parts, first on top, under the input */
    OP_FORMAT,       /* top through format: constant arg */
    OP_OBJECT,       /* arg values under the input, last on top; arg OP_KEYs follow */
    OP_KEY,
    OP_INSERT,       /* object, key, value, input: object, input */
    OP_APPEND,       /* pops into the array in a variable */
    OP_CALLC,        /* C function arg */
    OP_CALL,         /* function arg in the frame `level` up; sub arguments follow */
    OP_TAIL,
    OP_CALLP,        /* closure parameter (level, arg) */
    OP_TAILP,
    OP_ARG_NEW,      /* function arg with the frame `level` up */
    OP_ARG_PARAM,    /* closure parameter (level, arg) passed on */
    OP_RET,
    OP_PATH_BEGIN,
    OP_PATH_END,
    OP_TRY,          /* on error goes on at arg with the message */
    OP_TRY_END,
    OP_ALT,          /* ?//: on any later error goes on at arg */
    OP_LABEL,        /* a new label into a variable */
    OP_BREAK,
    OP_RANGE,        /* from, to, input */
    OP_OUTPUT,       /* the program's result is on top */
} Op;

enum { LEVEL_ROOT = 0xffff }; /* a function that sees no outer frame */

typedef struct Ins {
    uint8_t op, sub;
    uint16_t level;
    uint32_t arg;
} Ins;

typedef struct Func {
    const Ins *code;
    uint32_t ncode;
    uint32_t locals, params;
} Func;

typedef Val (*NativeFn)(J *j, Val *args); /* args[0] is the input; all are consumed */
typedef struct Native {
    const char *name;
    uint8_t args; /* the input counted */
    NativeFn fn;
} Native;

/* The tables of natives, each ended by a NULL name. */
extern const Native jq_natives_core[], jq_natives_text[], jq_natives_math[], jq_natives_date[], jq_natives_regex[], jq_natives_io[], jq_natives_yq[], jq_natives_yq_nodes[], jq_natives_yq_code[];
const Native *jq_native_find(Slice name, size_t arity);
Val jq_native_names(J *j);
/* yq: * and ? in the pattern. */
bool yq_match(Slice text, Slice pattern);

/* A definition of jq's own library, in jq: parsed and compiled when a program names it. */
typedef struct Prelude {
    const char *name;
    uint8_t arity;
    bool expand;   /* compiled into the caller: not recursive, and each closure is used once */
    const char *text;
} Prelude;
extern const Prelude jq_prelude[];
extern const size_t jq_prelude_count;

typedef struct JqProgram {
    Mem *mem;
    Val *constants;
    uint32_t nconstants, constants_cap;
    Func **funcs;
    uint32_t nfuncs, funcs_cap;
    const Native **natives;
    uint32_t nnatives, natives_cap;
    Func *main;
    bool all;      /* the input is an array of documents: each part of the program takes all of them in turn */
    Errors errors;
    Slice *search; /* -L */
    size_t nsearch;
    struct Loaded *modules;
} JqProgram;

/* Compiles the text; false with errors printed into p->errors. */
bool jq_compile(J *j, JqProgram *p, Slice text, const char *name);
/* The module's metadata with deps and defs, or an error: modulemeta. */
Val jq_module_meta(J *j, JqProgram *p, Slice name);

typedef struct Machine {
    J *j;
    JqProgram *program;
    Val *cells;
    uint32_t cap, top;
    uint32_t values, frame, fork; /* newest of each list, as cell numbers; 0: none */
    int nest;
    bool tracking;
    PathNode *path;   /* NULL: empty */
    Val path_value;   /* what the path leads to */
    unsigned wrapped; /* how many try-ends the error has passed */
    uint64_t labels, breaking;
    bool running;
    const Ins *start; /* the program has not begun */
} Machine;

J *jq_engine(Proc *p); /* an engine with nothing in it, the process's */
void jq_machine_init(Machine *m, J *j, JqProgram *p);
void jq_machine_start(Machine *m, Val input);
/* The next result, or invalid: then J.raising tells an error from the end. */
Val jq_machine_next(Machine *m);
void jq_machine_reset(Machine *m);
/* The jq_binary operators, by token. Consumes both. */
Val jq_binary(J *j, int op, Val a, Val b);
Val jq_split(J *j, Val s, Val separator); /* both strings */
Val jq_format_value(J *j, Slice name, Val v);
/* For natives that jq writes in jq, so that a path may be followed through them: whether one is, and what getpath, t[k] and .[] do then. */
bool jq_machine_following(const Machine *m);
Val jq_machine_getpath(Machine *m, Val t, Val path);
Val jq_machine_index(Machine *m, Val t, Val k);
bool jq_machine_may_iterate(Machine *m, Val c); /* borrows; false: an error */

#endif
