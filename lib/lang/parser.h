/* parser: what the files of the lexer and parser share; nobody else includes it.
 *
 * There is no token stream: words are read straight into their parts, because what a character means depends on
 * where the grammar stands. `at` is the first byte not consumed; peek() looks at the next token from there, and the token is consumed by
 * take() or, for a word, by read_word().
 *
 * Input is a chain of frames, each a NUL-terminated text without other NULs. An alias is a frame made of its text and the rest of the
 * current line; when a token would run over the end of such a frame the unit is parsed again with more of the text in it.
 * Nested texts (backquotes, here-document bodies) are frames without a parent.
 *
 * Errors, end of memory and that retry leave by longjmp to the guard in parser_next. Lists being built lie on one stack (push, take_array),
 * strictly last in first out; what is finished is copied to the AST's context at its exact size.
 */
#ifndef LIBSHELL_PARSER_H
#define LIBSHELL_PARSER_H

#include <setjmp.h>

#include "arith.h"
#include "parse.h"

struct Ast {
    Mem mem;
    uint32_t refs; /* atomic */
};

Ast *ast_new(Budget *budget);

typedef enum {
    TOK_EOF, TOK_NEWLINE, TOK_WORD,
    TOK_NUMBER, /* digits before < or > */
    TOK_VAR,    /* {name} before < or > */
    TOK_AND_AND, TOK_OR_OR, TOK_SEMI, TOK_SEMI_SEMI, TOK_SEMI_AND, TOK_SEMI_SEMI_AND, TOK_AND, TOK_OR, TOK_OR_AND, TOK_LPAREN, TOK_RPAREN,
    TOK_LESS, TOK_GREAT, TOK_GREAT_GREAT, TOK_LESS_LESS, TOK_LESS_LESS_MINUS, TOK_LESS_LESS_LESS, TOK_LESS_AND, TOK_GREAT_AND,
    TOK_LESS_GREAT, TOK_GREAT_OR, TOK_AND_GREAT, TOK_AND_GREAT_GREAT, TOK_LAST_REDIR = TOK_AND_GREAT_GREAT,
} TokenKind;

/* A token as peek() sees it. The end of a word is only known when it is plain: then it is its own value. */
typedef struct Token {
    TokenKind kind;
    bool plain, glob;
    const char *start, *end;
} Token;

typedef struct Active Active;

/* An alias whose text is being read: not expanded again before `end`. */
struct Active {
    Active *next;
    Slice name;
    const char *end;
};

typedef struct Frame {
    struct Frame *parent; /* NULL: its end is the end of the text */
    const char *start, *end;
    const char *resume;   /* where the parent goes on */
    const char *counted;  /* `line` is the line of this byte */
    uint32_t line;
    const char *fresh;    /* newlines before it are an alias's and not counted */
    Active *active;
    const char *body_newline, *body_end; /* the newline behind which here-documents were read, and where they end */
    const char *blank_end; /* after an alias that ends in a blank: the next word from here on may be an alias too */
} Frame;

/* A here-document whose body has not come yet. */
typedef struct Pending {
    struct Pending *next;
    Redir *redir;
} Pending;

/* Plain words and $names that were read before: nodes are immutable, so equal ones are shared. Direct-mapped. Only for
 * texts long enough to repay it. */
typedef struct WordCache {
    Word *words[1024];
    Param *params[256];
} WordCache;

enum { CACHE_FROM = 4096, CACHED_WORD = 48 };

enum { JUMP_ERROR = 1, JUMP_MEMORY, JUMP_AGAIN };

struct Parser {
    Ast *ast;             /* NULL when parsing into a context of the caller's */
    Mem *mem, *scratch;
    Mem own_scratch, unit; /* unit: of the nodes where they are discarded */
    Budget *budget;
    ParseOptions options;
    jmp_buf *guard;
    Frame *frame;
    const char *at;
    Token token;
    bool have;            /* token is valid: the one at `at` */
    bool ended;
    unsigned depth;
    unsigned substitutions; /* $( that are open */
    size_t size;          /* of the text as given */
    Pending *pending, **pending_tail;
    char *stack;          /* lists being built */
    size_t top, cap;
    size_t splice;        /* bytes of the rest that an alias's frame takes along, at least to the end of the line */
    unsigned expansions;  /* of aliases in this unit */
    const char *arith_opened; /* the innermost $( that began as $((, and was none */
    const char *reread, *reread_end; /* what began as (( and was none: bash reads it again as a text of its own */
    const char *cond;     /* the [[ being read, and how many of its parentheses are open */
    unsigned cond_open;
    const char *cond_cut; /* what bash says of the word of [[ being read when the text ends in it */
    unsigned in_dquotes;  /* open "..." in this text */
    const char *paired;   /* single quotes before it have their pair: lex_dquote.c */
    const char *limit;    /* arithmetic whose end is known ends there, whatever is open */
    const char *within;   /* no character before it ends the word: a subscript's end, or NULL */
    bool in_items;        /* within a=( */
    bool in_value;        /* in the value of an assignment: the word of ${x:-word} has tildes behind : too */
    const char *text_open; /* in a here-document's body: the expansion being read, and the $( that is open in it */
    const char *comsub_open;
    ParseError failed;    /* what parse_apart met last */
    const char *stale;    /* a word that is no reserved word, whatever it says */
    uint32_t error_line;  /* of an error behind here-documents that were read first; or 0 */
    ParseError error;
    const char **warnings;
    uint32_t nwarnings;
    WordCache *cache;     /* in scratch, or NULL */
};

/* About what a nested $( ) costs in stack, times this, fits in 1 MiB. */
#define PARSE_DEPTH 700

/* ---------- errors (parse_error.c) ---------- */

NORETURN void fail_memory(Parser *p);
NORETURN void fail_at(Parser *p, const char *where, const char *format, ...) PRINTF_LIKE(3, 4); /* without a second line */
NORETURN void fail_silent(Parser *p, const char *where);
NORETURN void fail_whole(Parser *p, const char *where, const char *message); /* a message with its line */
NORETURN void fail_token(Parser *p);                       /* near unexpected token */
NORETURN void fail_matching(Parser *p, const char *opened, const char *closer); /* end of text while looking for closer */
/* The same of arithmetic, where a quote may be what is open. */
NORETURN void fail_parens(Parser *p, const char *opened, const char *from, const char *closer);
NORETURN void fail_end(Parser *p);
void quote_unprintable(Buf *out, Slice s); /* quote.c's, whose header is the interpreter's */
const char *line_text(Parser *p, uint32_t line, const char *text); /* "line N: text" */
uint32_t line_of_end(Parser *p);                           /* bash counts the end of the text as a line of its own */
/* Sets the second line to the text of the line of `where`. */
void quote_line(Parser *p, const char *where);
void enter(Parser *p); /* one level deeper, or an error */
static inline void leave(Parser *p) { p->depth--; }
void warn_parse(Parser *p, const char *format, ...) PRINTF_LIKE(2, 3);

/* ---------- memory ---------- */

void *get(Parser *p, size_t size); /* zeroed, from p->mem */
#define GET(p, type) ((type *)get((p), sizeof(type)))
Slice keep(Parser *p, Slice s);    /* a NUL-terminated copy in p->mem */
Name make_name(Parser *p, Slice s);
void stack_room(Parser *p, size_t more);
void push(Parser *p, const void *item, size_t size);
/* What lies above `base`, as an array in p->mem; NULL when nothing. Sizes are multiples of 8. */
void *take_array(Parser *p, size_t base, size_t size, uint32_t *count);

/* ---------- characters ---------- */

enum {
    CH_META = 1,     /* ends a word: blanks | & ; ( ) < > and the NUL at the end */
    CH_QUOTE = 2,    /* \ ' " $ ` */
    CH_SHAPE = 4,    /* { } ~ = : [ matters to braces, tildes, assignments */
    CH_GLOB = 8,     /* * ? [ */
    CH_NAME = 16,    /* letters and _ */
    CH_DIGIT = 32,
    CH_BLANK = 64,   /* space and tab */
};
extern const uint8_t char_class[256];
static inline bool is(char c, unsigned classes) { return (char_class[(uint8_t)c] & classes) != 0; }
static inline const char *name_end(const char *s)
{
    if (is(*s, CH_NAME))
        while (is(*s, CH_NAME | CH_DIGIT))
            s++;
    return s;
}

/* ---------- tokens (lex.c) ---------- */

const Token *peek(Parser *p);
void take(Parser *p);
/* The next token is the plain word `text`. */
bool peek_is(Parser *p, const char *text);
bool take_if(Parser *p, TokenKind kind);
void skip_newlines(Parser *p);
uint32_t line_of(Parser *p, const char *at);
/* Moves to the word's expansion when it is an alias. */
bool expand_alias(Parser *p);
/* Messages about the bad substitutions of w show `text`. */
void name_bad(const Word *w, Slice text);
/* At the end of a frame inside a token: the text goes on outside. Returns when there is no more. */
void need_more(Parser *p);
/* Parses `text` (NUL-terminated, in p->mem) in a frame of its own; false when it does not parse, with p's state as before. */
bool parse_apart(Parser *p, Slice text, uint32_t line, void (*work)(Parser *p, void *arg), void *arg, bool may_fail);

/* ---------- words (lex_word.c, lex_param.c, lex_quote.c) ---------- */

typedef enum {
    MODE_WORD,       /* until a metacharacter */
    MODE_DQUOTE,     /* until " */
    MODE_TEXT,       /* a here-document body or prompt: until the end of the frame; " is itself */
    MODE_ARITH,      /* arithmetic: until `stop` outside parentheses */
    MODE_BRACE,      /* the word of ${x op word}: until } (or `stop`), quotes work */
    MODE_BRACE_DQ,   /* the same inside "...": ' is itself */
    MODE_SUBSCRIPT,  /* until ] */
    MODE_REGEX,      /* right side of =~ */
} Mode;

enum {
    READ_BRACES = 1,  /* brace expansion applies */
    READ_ASSIGN = 2,  /* tildes after = and : */
    READ_TILDE = 4,   /* tilde at the start */
    READ_QUOTED = 8,  /* parts are inside quotes */
    READ_PATTERN = 16, /* [[ ]]: extglob whatever the option */
    READ_GROUP = 64,  /* a parenthesis at the start is text, with what it holds */
    READ_VALUE = 32,  /* the right side of an assignment: tildes at the start and after : */
};

/* The parts of one word, on the stack above `base`. The literal being built lies above them. */
typedef struct Builder {
    Parser *p;
    size_t base, literal;
    bool open, quoted; /* a literal is being built, and how */
    bool brace;        /* an unquoted { was seen */
    uint16_t flags;    /* WORD_* */
    Mode mode;
    unsigned how;      /* READ_* */
    char stop;
    unsigned depth, ternary; /* open parentheses or brackets; ? without their : */
    const char *start, *value;
} Builder;

void literal(Builder *b, const char *s, size_t n, bool quoted);
void add_part(Builder *b, WordPart part);
void read_quoted(Builder *b);   /* the loop of the modes in which ' is a character */
void read_dquotes(Builder *b);  /* p->at after the opening " */
void read_dollar(Builder *b, bool quoted);
void read_backquoted(Builder *b, bool quoted);
void read_process(Builder *b);
Word *finish_word(Builder *b, const char *end);
/* Brings p->at back into frame f, after something inside a token may have read aliases. */
void frame_return(Parser *p, const Frame *f);

/* A word at p->at; `stop` and `stop2` end it too where the mode says so. */
Word *read_parts(Parser *p, Mode mode, unsigned flags, char stop);
Word *read_word(Parser *p, unsigned flags); /* at the token */
Param *read_braced_param(Parser *p, bool quoted); /* p->at after ${ */
/* $'...' up to the closing quote, decoded onto the literal being built. */
const char *decode_dollar_quote(Parser *p, const char *s, const char *end, char *out, size_t *len);
Slice read_backquote(Parser *p, bool in_dquotes); /* p->at after the `; the text without its backslashes */
/* The end of a '...' or "..." or `...` or $(...) that starts at s, for looking ahead; NULL: not closed. */
const char *skip_quoted(const char *s);
/* After an opening parenthesis: the matching closing one, quotes skipped; NULL. */
const char *skip_parens(const char *s, char open, char close);
Word *build_braces(Parser *p, Word *w);
/* Subscript at p->at (after [); leaves p->at after ]. */
Word *read_subscript(Parser *p, IndexKind *kind);
Word *word_of_text(Parser *p, Slice text);
Node *read_command_list(Parser *p, const char *opened); /* $( ... ) after the parenthesis, consuming the closing one */

/* ---------- here-documents (lex_heredoc.c) ---------- */

void heredoc_add(Parser *p, Redir *r, const char *word_start, const char *word_end);
/* Bodies of the pending ones from `s` (after a newline); returns where they end. */
const char *heredoc_read(Parser *p, const char *s);
/* A substitution's here-documents are its own: swaps the pending list out and back. */
typedef struct PendingSave { Pending *first, **tail; } PendingSave;
void pending_save(Parser *p, PendingSave *save);
void pending_restore(Parser *p, const PendingSave *save);

/* ---------- grammar ---------- */

/* A compound list up to a token that cannot begin a command; at least one command. */
Node *parse_list(Parser *p);
Node *parse_line(Parser *p); /* up to the newline */
Node *parse_pipeline(Parser *p);
Node *parse_command(Parser *p);
Node *parse_simple(Parser *p);
Node *parse_compound(Parser *p); /* NULL when the next token begins none */
Node *parse_function_body(Parser *p, Slice name, bool keyword, const char *start, uint32_t line);
bool begins_compound(Parser *p);
Node *parse_cond(Parser *p);     /* after [[ */
void add_expected(Parser *p, unsigned times);
void parse_redirs(Parser *p, Node *n);
bool is_redir(TokenKind kind);
Redir *parse_redir(Parser *p);
/* s begins name=, name+=, name[..]= or name[..]+=: the place of the value, else NULL. */
const char *assignment_value(const char *s);
void parse_assign(Parser *p, Assign *a, bool compound_ok); /* at p->at, where assignment_value holds */
Node *new_node(Parser *p, NodeKind kind, uint32_t line);
Name peek_name(Parser *p);

#endif
