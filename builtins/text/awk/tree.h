/* tree: the parsed program. Nodes live in p->keep. */
#ifndef LIBSHELL_AWK_TREE_H
#define LIBSHELL_AWK_TREE_H

typedef enum {
    N_NUM, N_STR, N_REGEX, N_TYPED_REGEX, N_GLOBAL, N_LOCAL, N_FIELD, N_INDEX, N_ASSIGN, N_COND, N_AND, N_OR, N_NOT, N_NEG, N_PLUS,
    N_BINARY, N_CONCAT, N_COMPARE, N_MATCH, N_IN, N_STEP, N_CALL, N_CALL_BY_NAME, N_BUILTIN, N_GETLINE, N_GROUP,
    N_EXPR, N_PRINT, N_PRINTF, N_IF, N_WHILE, N_DO, N_FOR, N_FOR_IN, N_SWITCH, N_CASE, N_BLOCK, N_BREAK, N_CONTINUE, N_NEXT, N_NEXT_FILE,
    N_EXIT, N_RETURN, N_DELETE, N_EMPTY,
} NodeType;

typedef enum { OP_NONE, OP_PLUS, OP_MINUS, OP_TIMES, OP_DIVIDE, OP_MODULO, OP_POWER } Arith;
typedef enum { CMP_LT, CMP_LE, CMP_EQ, CMP_NE, CMP_GT, CMP_GE } Compare;
enum { STEP_PRE_INC, STEP_PRE_DEC, STEP_POST_INC, STEP_POST_DEC };
/* getline, and print's redirections */
enum { TO_NOTHING, TO_FILE, TO_APPEND, TO_PIPE, TO_TWO_WAY };

typedef struct Node {
    uint8_t type;
    uint8_t op;       /* Arith, Compare, STEP_*, TO_*, or 1 for the negated form */
    bool parens;      /* was written in parentheses */
    uint32_t line;
    uint32_t index;   /* variable, function, builtin, range or Rx constant */
    const struct Source *source;
    struct Node *a, *b, *c, *d;
    struct Node *list; /* arguments, subscripts, statements; chained by next */
    struct Node *next;
    union { double num; Slice text; Rx *rx; };
} Node;

/* A rule: pattern { action }. */
typedef enum { RULE_BEGIN, RULE_END, RULE_BEGIN_FILE, RULE_END_FILE, RULE_MAIN } RuleKind;
typedef struct Rule {
    RuleKind kind;
    Node *pattern, *pattern_end; /* pattern_end: of a range */
    Node *action;                /* NULL: print */
    uint32_t line;
    const struct Source *source;
    struct Rule *next;
} Rule;

/* Functions of the language, by their number in N_BUILTIN; builtin_names in lex.c. */
enum {
    B_ATAN2, B_CLOSE, B_COS, B_EXP, B_FFLUSH, B_GSUB, B_INDEX, B_INT, B_LENGTH, B_LOG, B_MATCH, B_RAND, B_SIN, B_SPLIT, B_SPRINTF, B_SQRT,
    B_SRAND, B_SUB, B_SUBSTR, B_SYSTEM, B_TOLOWER, B_TOUPPER, B_AND, B_ASORT, B_ASORTI, B_COMPL, B_GENSUB, B_ISARRAY, B_LSHIFT, B_MKTIME,
    B_OR, B_PATSPLIT, B_RSHIFT, B_STRFTIME, B_STRTONUM, B_SYSTIME, B_TYPEOF, B_XOR, B_MKBOOL, B_DCGETTEXT, B_DCNGETTEXT, B_BINDTEXTDOMAIN,
    B_COUNT
};
typedef struct { const char *name; uint8_t least, most; } BuiltinInfo;
extern const BuiltinInfo builtin_info[B_COUNT];

#endif
