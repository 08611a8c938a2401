/* ast: a jq program as a tree. Private to builtins/jq. Nodes live in the context that the parser was given. */
#ifndef LIBSHELL_JQ_AST_H
#define LIBSHELL_JQ_AST_H

#include "value.h"

typedef enum {
    N_IDENTITY,
    N_RECURSE,   /* .. */
    N_LITERAL,   /* lit */
    N_STRING,    /* list: literal and interpolated parts; name: format or empty */
    N_FORMAT,    /* name, without @ */
    N_INDEX,     /* a[b] */
    N_SLICE,     /* a[b:c], either may be NULL */
    N_EACH,      /* a[] */
    N_TRY,       /* try a catch b; b NULL: errors vanish */
    N_PIPE,
    N_COMMA,
    N_BINARY,    /* op */
    N_AND,
    N_OR,
    N_ALTERNATIVE, /* a // b */
    N_ASSIGN,    /* op: '=' '|' (|=) or the arithmetic one; T_ALT for //= */
    N_NEGATE,
    N_IF,        /* a, b, c (NULL: .) */
    N_REDUCE,    /* a as list (b; c) */
    N_FOREACH,   /* a as list (b; c; d), d may be NULL */
    N_DEF,       /* def in `func`, then a */
    N_CALL,      /* name, list: arguments */
    N_VAR,       /* name; op: taken out of the variable ($$$$v) */
    N_AS,        /* a as list | b */
    N_LABEL,     /* name | a */
    N_BREAK,     /* name */
    N_ARRAY,     /* [a], a may be NULL */
    N_OBJECT,    /* list: keys and values in turn */
    N_LOC,       /* $__loc__, line in lit */
    P_VAR,       /* patterns: $name */
    P_ARRAY,     /* list */
    P_OBJECT,    /* list: N_VAR or expression keys, and patterns or NULL in turn */
} NodeKind;

enum { LITERAL_TEXT = 1 }; /* N_LITERAL's op: text between the interpolations of a string */

typedef struct Node Node;
typedef struct Function Function;

struct Node {
    uint8_t kind;
    bool opt;            /* INDEX, SLICE, EACH with ? */
    bool grouped;        /* stood in parentheses */
    int op;
    uint32_t start, end; /* bytes of the source */
    Node *a, *b, *c, *d;
    Node **list;
    size_t count;
    Slice name;
    Val lit;
    Function *func;
    const struct Source *source;
};

struct Function {
    Slice name;
    Slice *params;       /* "$x" with its dollar for values */
    size_t count;
    Node *body;
    Function *next;      /* in a module: defined after this one */
};

typedef struct Import {
    Slice path, as;      /* as empty: include; "$x": data */
    Val metadata;
    struct Import *next;
    uint32_t start, end;
} Import;

typedef struct Source {
    Slice text;
    const char *name;    /* "<top-level>" or a file */
} Source;

typedef struct Module {
    Source *source;
    Import *imports;
    Function *functions; /* in order */
    Node *body;          /* NULL: definitions only */
    Val metadata;        /* of `module`, or invalid */
} Module;

/* Compile errors are gathered as text and counted. */
typedef struct Errors {
    Buf text;
    unsigned count;
} Errors;

void jq_errors_add(Errors *e, const Source *s, uint32_t start, uint32_t end, const char *format, ...) PRINTF_LIKE(5, 6);

/* The module, in `mem`; NULL after errors. */
Module *jq_parse(J *j, Mem *mem, Source *source, Errors *errors);

/* ---------- tokens ---------- */

enum {
    T_EOF = 256, T_INVALID, T_IDENT, T_FIELD, T_LITERAL, T_FORMAT, T_BINDING, T_LOC, T_STRING_START, T_STRING_TEXT,
    T_INTERP_START, T_INTERP_END, T_STRING_END,
    T_NEQ, T_EQ, T_LESSEQ, T_GREATEREQ, T_SETPIPE, T_SETPLUS, T_SETMINUS, T_SETMULT, T_SETDIV, T_SETMOD, T_SETALT,
    T_ALT, T_DESTRUCT_ALT, T_RECURSE, T_MERGE, /* yq: * and *= with flags */
    T_AS, T_IMPORT, T_INCLUDE, T_MODULE, T_DEF, T_IF, T_THEN, T_ELSE, T_ELIF, T_END_WORD, T_AND, T_OR, T_REDUCE, T_FOREACH,
    T_TRY, T_CATCH, T_LABEL, T_BREAK,
};

typedef struct {
    int type;
    uint32_t start, end;
    Slice text; /* identifier, digits, raw text of a string */
} Token;

typedef struct Lexer {
    const Source *source;
    bool loose;     /* yq's names: .a-b, .a*, .0 */
    uint32_t at;
    uint32_t lexeme, lexeme_end; /* the last thing matched, blanks and comments too: where the end is said to be */
    char *nest;     /* brackets open, '"' for a string */
    size_t depth, cap;
    Mem *mem;
} Lexer;

void jq_lex_init(Lexer *l, Mem *mem, const Source *source);
Token jq_lex_next(Lexer *l);
const char *jq_token_name(int type, char buf[8]);

#endif
