/* ops: the machine's instructions. "b" and "a" are an instruction's operands; [..] is the stack, its top to the right. */
#ifndef LIBSHELL_AWK_OPS_H
#define LIBSHELL_AWK_OPS_H

enum {
    I_CONST,         /* [] -> [constants[b]] */
    I_GLOBAL,        /* [] -> [value of global b] */
    I_LOCAL,
    I_SPECIAL,       /* the same of one that the machine keeps itself */
    I_ARG_GLOBAL,    /* as an argument: arrays and untyped variables go by reference */
    I_ARG_LOCAL,
    I_ARRAY,         /* [] -> [array of cell b] */
    I_ELEM_ARRAY,    /* [key] -> [the array that is an element of cell b's array] */
    I_FIELD,         /* [n] -> [$n] */
    I_FIELD_CONST,   /* [] -> [$b] */
    I_FIELD_NUMBER,  /* [] -> [$b as a number] */
    I_ELEM,          /* [key] -> [element of cell b's array]; a: ELEM_* */
    I_SUBSCRIPTS,    /* [k1 .. kb] -> [joined by SUBSEP] */
    I_SET_GLOBAL,    /* [v] -> [v], or [] when a */
    I_SET_LOCAL,
    I_ASSIGN,        /* [v, place] -> [v]; a: LV_* and flags */
    I_ASSIGN_OP,     /* [v, place] -> [result]; a: LV_* | Arith << 4 and flags */
    I_STEP,          /* [place] -> [result]; a: LV_* | STEP_* << 4 and flags */
    I_STEP_GLOBAL,   /* global b += (int16) a, nothing pushed */
    I_STEP_LOCAL,
    I_APPEND,        /* [v] -> [] : variable (a: LV_*) b = b v */
    I_ADD, I_SUBTRACT, I_MULTIPLY, I_DIVIDE, I_MODULO, I_POWER,
    I_NEGATE, I_PLUS, I_NOT, I_TRUTH,
    I_CONCAT,        /* [b values] -> [joined] */
    I_COMPARE,       /* [x, y] -> [0 or 1]; a: Compare */
    I_COMPARE_JUMP,  /* [x, y] -> []; to b when the result is a >> 4 */
    I_JUMP, I_JUMP_TRUE, I_JUMP_FALSE,
    I_POP,
    I_MATCH_RECORD,  /* [] -> [$0 ~ rx b] */
    I_MATCH_CONST,   /* [s] -> [s ~ rx b]; a: negated */
    I_MATCH,         /* [s, re] -> [..]; a: negated */
    I_IN,            /* [key] -> [0 or 1], cell b */
    I_DELETE,        /* [key] -> [], cell b */
    I_DELETE_ALL,    /* cell b */
    I_FOR_BEGIN,     /* [] -> [iterator], cell b */
    I_FOR_NEXT,      /* [iterator] -> [iterator, key], or to b */
    I_CASE,          /* [subject, v] -> [subject], or [] and to b when they are equal; a: v is a regexp's rx number */
    I_CALL,          /* a: arguments, b: function */
    I_CALL_NAME,     /* [args.., name]; a: arguments */
    I_RETURN,        /* [v] */
    I_BUILTIN,       /* a: arguments, b: B_* */
    I_REGEX,         /* [] -> [rx b as a value] */
    I_SUBST,         /* [re, replacement, place] -> [count]; a: LV_* | all << 4 */
    I_PRINT,         /* [values.., target]; a: how many values, b: TO_* */
    I_PRINTF,
    I_PRINT_RECORD,  /* [target]; b: TO_* */
    I_GETLINE,       /* [source, place] -> [result]; a: LV_* | TO_* << 4 */
    I_NEXT, I_NEXT_FILE,
    I_EXIT,          /* a: [code] -> */
    I_RANGE_JUMP,    /* to b when range a is on */
    I_RANGE_SET,     /* range b = a */
    I_LINT,          /* under --lint: looks at the value on top, or what is about to be; a: LINT_*, b: of what */
    I_END,
};

/* Places that are assigned to. For LV_ELEM b is the array's cell and the key is on the stack; with CELL_STACK the array lies below the key. */
enum { LV_NONE, LV_GLOBAL, LV_LOCAL, LV_SPECIAL, LV_FIELD, LV_ELEM, LV_RECORD };
enum { ELEM_VALUE, ELEM_ARRAYS /* are allowed */, ELEM_PRINTED /* gawk makes one that was only named a text then */ };
enum { LINT_GLOBAL, LINT_CHANGED /* global b, in place */, LINT_LOCAL, LINT_ELEMENT /* of cell b, whose key is on top */, LINT_FIELD /* b, or -1: the number on top */, LINT_CONDITION };
enum { FLAG_VOID = 0x100 };
#define CELL_STACK INT32_MIN /* else a global's index, or ~index of a local */

#endif
