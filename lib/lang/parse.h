/* parse: lexer and parser for the whole grammar of bash 5.2, with bash's messages.
 *
 * Text in, units out, one complete command at a time, because aliases, extglob and POSIX mode that one line sets hold for the next.
 * Recursion has a depth guard. Failure to allocate, depth and size limits come back as a ParseError.
 */
#ifndef LIBSHELL_PARSE_H
#define LIBSHELL_PARSE_H

#include "ast.h"

typedef struct ParseOptions {
    bool extglob, posix, aliases, brace_expand;
    bool stale_cond, stale_word; /* what ParseError.in_cond and .unclosed of another text left */
    bool discard;          /* a unit is gone when the next is asked for: nothing is to be run (-n) */
    bool stop_at_eof_ok;   /* reserved for interactive use: an unfinished command is PARSE_MORE, not an error */
    /* The alias's text or an empty slice; called when `aliases`. */
    Slice (*alias)(void *user, Slice name, bool *found);
    void *user;
} ParseOptions;

typedef struct ParseError {
    const char *message;   /* as bash prints it after "bash: ": "line 3: syntax error near unexpected token `fi'"; in the Ast's context */
    const char *second;    /* a second line in bash's form ("line 3: `fi'"), or NULL */
    uint32_t line;
    int status;            /* that bash leaves in $?; -1: as it was ([[ ]] errors) */
    bool resume;           /* parser_next may be called again: bash drops this command and reads on (compound assignments) */
    bool no_command;       /* bash -c prints these without its "-c: " */
    bool at_eof;           /* unexpected end of file */
    bool in_substitution;  /* a wrong token inside $( ): bash -c and eval end the shell with 127 */
    bool no_memory;
    bool or_last;          /* at the end of the text: $? stays as it was unless it was 0 */
    bool in_cond;          /* inside [[ ]]: bash's reader then takes the next [[ for a word of one */
    bool unclosed;         /* a quote or the like: bash's reader then takes the next word for an argument */
    const char *more;      /* between message and second, a line each, NULL or lines in their form; ends in no newline */
} ParseError;

typedef struct Parser Parser;

typedef enum { PARSE_UNIT, PARSE_END, PARSE_ERROR } ParseState;

/* `text` is copied into the Ast. Parsing is limited by and charged to `budget` until parser_free, then to nobody. first_line: what $LINENO starts at. NULL: no memory. The Ast has one reference, the parser's. */
Parser *parser_new(Budget *budget, Slice text, uint32_t first_line, const ParseOptions *options);
/* Changes take effect with the next unit. */
void parser_options(Parser *p, const ParseOptions *options);
/* Lines from here on are numbered so many higher: bash goes on counting from the line where a command was given up. */
void parser_shift_lines(Parser *p, int64_t by);
Ast *parser_ast(Parser *p);
/* Next complete command. After PARSE_ERROR the parser is at its end unless error->resume. Warnings (here-document at end of file) are appended
 * to *warnings, one NUL-terminated message a string, in the form of ParseError.message; may be NULL. */
ParseState parser_next(Parser *p, Unit *unit, ParseError *error);
typedef struct ParseWarnings { const char **messages; uint32_t count; } ParseWarnings;
ParseWarnings parser_warnings(Parser *p); /* of the last unit */
/* Offset in the text of the first byte not yet parsed: for scripts read from standard input. */
size_t parser_offset(const Parser *p);
void parser_free(Parser *p);

/* A word out of a string, as for PS4, prompt strings and here-document bodies: quotes are literal ("..." rules). */
Word *parse_dquote_text(Mem *mem, Slice text, const ParseOptions *options, ParseError *error);
/* Declaration arguments at run time: a string that came from an expansion and reads name=(...) for declare and friends, or a whole
 * `a=(...)` right side; NULL with error when it does not parse. */
Assign *parse_assignment(Mem *mem, Slice text, const ParseOptions *options, ParseError *error);
/* `name`, `name[sub]`: for read, printf -v, unset and declare. False when it is neither. */
bool parse_reference(Slice text, Slice *name, Slice *subscript);
bool name_valid(Slice text);

/* The AST as text, in the layout of `declare -f` (multi-line) or on one line as BASH_COMMAND and `jobs` show. */
void print_node(Buf *out, const Node *n);
void print_function(Buf *out, Slice name, const Node *body);
void print_command_line(Buf *out, const Node *n);
/* How many lines stand above a command in the printed text of a substitution: above `node`, or the first command of that line. */
bool print_lines_above(Mem *mem, const Node *body, const Node *node, uint32_t line, uint32_t *above);
void print_exported(Buf *out, const Node *body); /* () {  ... } as in the environment */
void print_word(Buf *out, const Word *w);

#endif
