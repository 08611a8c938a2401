/* ast: what the parser makes of a script, and the executor runs.
 *
 * An Ast owns one context holding the nodes of one script text; functions keep it alive by a reference (atomic, taken
 * once a definition). Nodes are immutable once parsed and shared between threads and shells: no caches in them.
 *
 * Words are parsed once into parts. Quoting is explicit in the parts; the source text of a word
 * is kept for messages, `set -x` is made from expansion results, and `declare -f`, `type` and BASH_COMMAND from print.c.
 */
#ifndef LIBSHELL_AST_H
#define LIBSHELL_AST_H

#include "lib/base/mem.h"

typedef struct Node Node;
typedef struct Word Word;
typedef struct WordPart WordPart;
typedef struct Redir Redir;
typedef struct Assign Assign;
typedef struct Arith Arith; /* compiled arithmetic: arith.h */

/* A variable's or function's name with its hash, made once. */
typedef struct Name {
    Slice text; /* NUL-terminated */
    uint64_t hash;
} Name;

/* ---------- words ---------- */

typedef enum {
    PART_LITERAL,  /* text; glob characters in it are active unless quoted */
    PART_PARAM,    /* ${...} and $name */
    PART_COMMAND,  /* $(...) and `...` */
    PART_ARITH,    /* $((...)) and $[...] */
    PART_PROCESS,  /* <(...) >(...) */
    PART_TILDE,    /* ~ or ~name at a place where it may expand; text is what follows ~ */
    PART_BRACE,    /* {a,b} or {1..9}, where brace expansion is on */
    PART_QUOTED,   /* "..." or $"...": its parts, so that "" is an argument; '...' and $'...' are quoted literals */
} PartKind;

typedef enum {
    PARAM_PLAIN,
    PARAM_LENGTH,          /* ${#p} */
    PARAM_DEFAULT, PARAM_ASSIGN, PARAM_ERROR, PARAM_ALTERNATE, /* - = ? + ; colon in `colon` */
    PARAM_SUBSTRING,       /* ${p:off:len} */
    PARAM_REMOVE_PREFIX, PARAM_REMOVE_SUFFIX,                  /* # ## % %% ; doubled in `longest` */
    PARAM_REPLACE,         /* / // /# /% in `replace` */
    PARAM_CASE,            /* ^ ^^ , ,, ~ ~~ in `op`; doubled in `longest` */
    PARAM_TRANSFORM,       /* @X in `op` */
    PARAM_NAMES,           /* ${!prefix*} ${!prefix@} */
    PARAM_KEYS,            /* ${!name[@]} ${!name[*]} */
    PARAM_BAD,             /* bad substitution, reported when it is expanded; `source` is the text */
} ParamOp;

typedef enum { REPLACE_FIRST = 0, REPLACE_ALL = '/', REPLACE_PREFIX = '#', REPLACE_SUFFIX = '%' } ReplaceMode;

/* What a parameter's name is, decided once. */
typedef enum {
    VAR_NAMED, VAR_POSITIONAL /* $1 ${10}: number */, VAR_AT, VAR_STAR, VAR_COUNT /* $# */, VAR_STATUS /* $? */, VAR_FLAGS /* $- */,
    VAR_PID /* $$ */, VAR_LAST_JOB /* $! */, VAR_ZERO /* $0 */,
} VarKind;

typedef enum { INDEX_NONE, INDEX_EXPR, INDEX_AT, INDEX_STAR } IndexKind;

enum { BAD_COMMAND = 'c' }; /* a $( that does not parse: name.text and source are the lines that say so */

typedef struct Param {
    VarKind var;
    Name name;            /* VAR_NAMED */
    uint32_t number;      /* VAR_POSITIONAL */
    IndexKind index_kind;
    Word *index;          /* INDEX_EXPR: the subscript as a word (an associative key, or arithmetic text) */
    Arith *index_code;    /* its compiled form, or NULL */
    bool indirect;        /* ${!name...} */
    bool colon, longest;
    bool braced;          /* written ${...} */
    uint8_t op;           /* of PARAM_CASE and PARAM_TRANSFORM; '@' or '*' for NAMES and KEYS; of BAD the closer that is missing, or BAD_COMMAND */
    uint8_t replace;      /* ReplaceMode */
    ParamOp kind;
    Word *word;           /* default word, pattern */
    Word *word2;          /* replacement; NULL when there was no second /. Of what is bad in an item of a=(...): its [subscript]= */
    Arith *offset, *length; /* PARAM_SUBSTRING, when compiled; */
    Word *offset_word, *length_word; /* their texts */
    Slice source;         /* "${...}" for messages */
} Param;

typedef struct Brace {
    Word **words;         /* alternatives; NULL for a range */
    uint32_t count;
    bool chars;           /* a letter range */
    int64_t first, last, step; /* step never 0, sign as needed */
    uint32_t width;       /* zero padding, 0: none */
} Brace;

struct WordPart {
    PartKind kind;
    bool quoted;          /* inside or made of quotes: no splitting, no globbing */
    bool backquote;       /* PART_COMMAND written `...`; PART_ARITH written $[...] */
    char direction;       /* PART_PROCESS: '<' or '>'; PART_TILDE: '=' where only bash's own mode looks for one */
    union {
        Slice text;       /* LITERAL (backslashes and quotes removed), TILDE */
        Param *param;
        /* COMMAND, PROCESS. `source` is what lies between the parentheses, or between backquotes with its backslashes removed. body NULL
         * with a source that is not blank: text that does not parse, reported when it is run (backquotes, here-documents). */
        struct { Node *body; Slice source; uint32_t line; } command;
        struct { Word *text; Arith *code; } arith; /* code NULL: expand the text, then evaluate it */
        Brace *brace;
        Word *inner;      /* QUOTED */
    };
};

struct Word {
    WordPart *parts;
    uint32_t count;
    uint16_t flags;       /* WORD_* */
    uint16_t pad;
    Slice source;         /* as written */
    Assign *assign;       /* when it reads as name=..., name+=..., name[..]=...: for declaration builtins */
};

enum {
    WORD_LITERAL = 1,     /* exactly one unquoted or quoted literal part (or none): parts[0].text is the value */
    WORD_QUOTED = 2,      /* some of it was quoted: never removed when empty; a here-document delimiter is then literal */
    WORD_BRACE = 4,       /* holds PART_BRACE */
    WORD_GLOB = 8,        /* an unquoted * ? [ or extglob in a literal part */
    WORD_SIMPLE = 16,     /* no brace, no glob, no tilde; expands without a look at splitting when all parts are quoted or literal */
};

/* ---------- redirections and assignments ---------- */

typedef enum {
    REDIR_IN,          /* [n]<word */
    REDIR_OUT,         /* [n]>word */
    REDIR_CLOBBER,     /* [n]>|word */
    REDIR_APPEND,      /* [n]>>word */
    REDIR_RDWR,        /* [n]<>word */
    REDIR_DUP_IN,      /* [n]<&word  (also closes with -, moves with N-) */
    REDIR_DUP_OUT,     /* [n]>&word */
    REDIR_BOTH,        /* &>word and >&word */
    REDIR_BOTH_APPEND, /* &>>word */
    REDIR_HEREDOC,     /* [n]<<word and <<-word: body in `word`, parts not split */
    REDIR_HERESTRING,  /* [n]<<<word */
} RedirKind;

struct Redir {
    Redir *next;
    RedirKind kind;
    int fd;               /* given or the default of the kind; -1 with `var` */
    Name *var;            /* {name}>... or NULL */
    Word *var_index;      /* {name[i]}> */
    Word *word;
    bool strip_tabs;      /* <<- */
    bool quoted_delimiter;
    bool fd_given;
    Slice delimiter;      /* of a here-document, for printing */
    uint32_t line;
};

typedef struct ArrayItem {
    Word *index;          /* [index]=value, or NULL */
    Arith *index_code;
    Word *value;
    Word *braced;         /* the whole item with its brace expansions, which an associative array leaves alone; or NULL */
    bool append;          /* [i]+=v */
} ArrayItem;

struct Assign {
    Name name;
    Word *index;          /* name[index]=..., or NULL */
    Arith *index_code;
    bool append;          /* += */
    bool is_array;        /* =( ... ) */
    Word *value;          /* NULL: empty */
    ArrayItem *items;
    uint32_t nitems;
};

/* ---------- commands ---------- */

typedef enum {
    NODE_SIMPLE, NODE_PIPELINE, NODE_AND, NODE_OR, NODE_LIST /* a; b; c & */, NODE_GROUP, NODE_SUBSHELL, NODE_IF, NODE_WHILE, NODE_UNTIL,
    NODE_FOR, NODE_ARITH_FOR, NODE_SELECT, NODE_CASE, NODE_COND /* [[ ]] */, NODE_ARITH /* (( )) */, NODE_FUNCTION, NODE_COPROC,
} NodeKind;

typedef enum { CASE_BREAK /* ;; */, CASE_FALL /* ;& */, CASE_TEST /* ;;& */ } CaseEnd;

typedef struct CaseItem {
    Word **patterns;
    uint32_t count;
    Node *body;           /* NULL: empty */
    CaseEnd end;
} CaseItem;

typedef enum {
    COND_UNARY,           /* -f w */
    COND_BINARY,          /* w == w, w -nt w, w -eq w ... */
    COND_WORD,            /* w alone: non-empty */
    COND_NOT, COND_AND, COND_OR, COND_GROUP,
} CondKind;

typedef enum {
    TEST_NONE, TEST_EQ /* = == */, TEST_NE, TEST_LT, TEST_GT, TEST_MATCH /* =~ */, TEST_NUM_EQ, TEST_NUM_NE, TEST_NUM_LT, TEST_NUM_LE,
    TEST_NUM_GT, TEST_NUM_GE, TEST_NEWER, TEST_OLDER, TEST_SAME,
} TestOp;

typedef struct Cond {
    CondKind kind;
    char unary;           /* letter of COND_UNARY */
    TestOp op;
    bool single_equal;    /* written =, for printing */
    Word *left, *right;
    struct Cond *a, *b;
} Cond;

typedef struct ListItem {
    Node *node;
    bool background;      /* followed by & */
    bool newline;         /* followed by a newline, for printing */
} ListItem;

struct Node {
    uint8_t kind;
    bool negated;         /* PIPELINE: ! */
    uint8_t timed;        /* PIPELINE: 1 time, 2 time -p */
    uint32_t line;        /* of its first token */
    Redir *redirs;        /* in order; for every kind but lists and pipelines */
    union {
        struct { Assign *assigns; Word **words; uint32_t nassigns, nwords; } simple;
        struct { Node **stages; bool *both; uint32_t count; } pipeline; /* both[i]: |& after stage i */
        struct { Node *left, *right; } pair;
        struct { ListItem *items; uint32_t count; } list;
        struct { Node *body; } group;   /* GROUP, SUBSHELL */
        struct { Node *cond, *then, *otherwise; bool elif; } branch; /* otherwise: NULL, a list, or an IF node when elif */
        struct { Node *cond, *body; } loop;
        struct { Name var; Word **words; uint32_t count; bool in_given; Node *body; bool bad_name; } each; /* FOR, SELECT */
        struct { Arith *init_code, *cond_code, *step_code; Word *init, *cond, *step; Node *body; } cfor;
        struct { Word *subject; CaseItem *items; uint32_t count; } kase;
        struct { Cond *cond; } cond;
        struct { Word *text; Arith *code; } arith;
        struct { Name name; Node *body; bool keyword, bad_name; Slice source; } function;
        struct { Name name; Node *body; bool named; } coproc;
    };
};

/* ---------- a parsed script ---------- */

typedef struct Ast Ast;

/* One complete command: what bash reads, then runs, before it reads on. */
typedef struct Unit {
    Node *node;           /* a list, or the only command of one */
    uint32_t line, end_line;
} Unit;

Ast *ast_ref(Ast *ast);
void ast_unref(Ast *ast);
Mem *ast_mem(Ast *ast);
size_t ast_bytes(const Ast *ast); /* for holders to charge: a finished Ast is charged to nobody */

#endif
