/* parser: what the lexer and the parser of awk share. */
#ifndef LIBSHELL_AWK_PARSER_H
#define LIBSHELL_AWK_PARSER_H

#include "awk.h"

typedef enum {
    T_EOF, T_NEWLINE, T_NAME, T_CALL_NAME, T_BUILTIN, T_NUMBER, T_STRING, T_TYPED_REGEX, T_AT_NAME, T_INDIRECT,
    /* keywords */
    T_BEGIN, T_BEGIN_FILE, T_BREAK, T_CASE, T_CONTINUE, T_DEFAULT, T_DELETE, T_DO, T_ELSE, T_END, T_END_FILE, T_EXIT, T_FOR,
    T_FUNCTION, T_GETLINE, T_IF, T_IN, T_NEXT, T_NEXT_FILE, T_PRINT, T_PRINTF, T_RETURN, T_SWITCH, T_WHILE,
    /* punctuation */
    T_LBRACE, T_RBRACE, T_LPAREN, T_RPAREN, T_LBRACKET, T_RBRACKET, T_SEMICOLON, T_COMMA, T_PLUS, T_MINUS, T_TIMES, T_DIVIDE, T_MODULO,
    T_POWER, T_NOT, T_GT, T_LT, T_PIPE, T_TWO_WAY, T_QUESTION, T_COLON, T_MATCH, T_NO_MATCH, T_DOLLAR, T_ASSIGN, T_ADD_ASSIGN,
    T_SUB_ASSIGN, T_MUL_ASSIGN, T_DIV_ASSIGN, T_MOD_ASSIGN, T_POW_ASSIGN, T_EQ, T_LE, T_GE, T_NE, T_INCREMENT, T_DECREMENT, T_AND,
    T_OR, T_APPEND, T_BAD,
} Token;

typedef struct Lexer {
    const Source *source;
    size_t at;          /* of the next byte */
    size_t start;       /* of the token */
    uint32_t line;      /* of the next byte */
    uint32_t token_line;
    Token token;
    Slice text;         /* T_NAME: its letters; T_STRING: escapes resolved; T_TYPED_REGEX: the pattern */
    double number;
    uint32_t builtin;
    Slice space;        /* the namespace of names without one; empty: awk's */
} Lexer;

struct Parser {
    Awk *w;
    Lexer lex;
    Function *function; /* whose body is being read, or NULL */
    int32_t function_index;
    RuleKind rule;
    bool in_rule;
    unsigned loops, switches, depth, parens;
    bool no_gt;         /* in a print without parentheses: > is a redirection */
    bool no_in;
    Rule **rule_tail;
    unsigned includes;
};

void lex_next(Parser *ps);
/* The current token is / or /=: read a regular expression instead. */
Slice lex_regex(Parser *ps);
void awk_newlines(Parser *ps);
NORETURN void syntax_error(Parser *ps, const char *message);
NORETURN void error_at(Parser *ps, size_t offset, uint32_t line, const char *message);
NORETURN void parse_failure(Parser *ps, const char *format, ...) PRINTF_LIKE(2, 3);
NORETURN void parse_failure_twice(Parser *ps, const char *message);
NORETURN void parse_bare(Parser *ps, const char *message); /* without the word error */
NORETURN void parse_fatal(Parser *ps, const char *message);
bool lex_reserved(Slice name); /* a keyword or a function of awk's own */
void parse_warning(Parser *ps, const char *format, ...) PRINTF_LIKE(2, 3);

Node *node_new(Parser *ps, NodeType type);
Node *parse_expr(Parser *ps);
Node *parse_concat(Parser *ps);
Node *parse_arguments(Parser *ps, Token end);
Node *parse_lvalue_tail(Parser *ps, Node *array);
Node *parse_name(Parser *ps);
bool is_lvalue(const Node *n);
void awk_expect(Parser *ps, Token t);
void awk_enter(Parser *ps);
static inline bool accept(Parser *ps, Token t)
{
    if (ps->lex.token != t)
        return false;
    lex_next(ps);
    return true;
}
Function *function_named(Parser *ps, Slice name, uint32_t *index);
Node *parse_block(Parser *ps);
void include_file(Parser *ps, Slice name);

#endif
