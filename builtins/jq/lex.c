/* lex: jq's tokens. Brackets nest in the lexer: one that does not match is no token of its own but an invalid character. */
#include "ast.h"

static const struct { const char *word; int type; } words[] = {
    {"as", T_AS}, {"import", T_IMPORT}, {"include", T_INCLUDE}, {"module", T_MODULE}, {"def", T_DEF}, {"if", T_IF},
    {"then", T_THEN}, {"else", T_ELSE}, {"elif", T_ELIF}, {"end", T_END_WORD}, {"and", T_AND}, {"or", T_OR}, {"reduce", T_REDUCE},
    {"foreach", T_FOREACH}, {"try", T_TRY}, {"catch", T_CATCH}, {"label", T_LABEL}, {"break", T_BREAK},
};

/* Longest first. */
static const struct { const char *text; int type; } operators[] = {
    {"?//=", T_INVALID}, {"?//", T_DESTRUCT_ALT}, {"//=", T_SETALT}, {"!=", T_NEQ}, {"==", T_EQ}, {"|=", T_SETPIPE}, {"+=", T_SETPLUS},
    {"-=", T_SETMINUS}, {"*=", T_SETMULT}, {"/=", T_SETDIV}, {"%=", T_SETMOD}, {"<=", T_LESSEQ}, {">=", T_GREATEREQ}, {"..", T_RECURSE},
    {"//", T_ALT},
};

const char *jq_token_name(int type, char buf[8])
{
    static const char *const names[] = {
        "end of file", "INVALID_CHARACTER", "IDENT", "FIELD", "LITERAL", "FORMAT", "BINDING", "$__loc__", "QQSTRING_START",
        "QQSTRING_TEXT", "QQSTRING_INTERP_START", "QQSTRING_INTERP_END", "QQSTRING_END", "!=", "==", "<=", ">=", "|=", "+=",
        "-=", "*=", "/=", "%=", "//=", "//", "?//", "..", "*", "as", "import", "include", "module", "def", "if", "then", "else", "elif",
        "end", "and", "or", "reduce", "foreach", "try", "catch", "label", "break",
    };
    if (type >= T_EOF)
        return names[type - T_EOF];
    snprintf(buf, 8, "'%c'", type);
    return buf;
}

void jq_lex_init(Lexer *l, Mem *mem, const Source *source) { *l = (Lexer){.source = source, .mem = mem}; }

static int peek(const Lexer *l, uint32_t ahead)
{
    return l->at + ahead < l->source->text.len ? (unsigned char)l->source->text.data[l->at + ahead] : -1;
}

static bool is_name_start(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_name(int c) { return is_name_start(c) || is_digit(c); }

static void nest_push(Lexer *l, char c)
{
    if (l->depth == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 32;
        l->nest = mem_grow(l->mem, l->nest, l->cap, cap);
        l->cap = cap;
    }
    l->nest[l->depth++] = c;
}

static bool nest_pop(Lexer *l, char c)
{
    if (l->depth == 0 || l->nest[l->depth - 1] != c)
        return false;
    l->depth--;
    return true;
}

static Token token(Lexer *l, int type, uint32_t length)
{
    Token t = {type, l->at, l->at + length, {l->source->text.data + l->at, length}};
    l->lexeme = t.start;
    l->lexeme_end = t.end;
    l->at += length;
    return t;
}

/* A comment goes on over a newline behind an odd number of backslashes. */
static uint32_t comment_length(const Lexer *l)
{
    uint32_t n = 1;
    bool odd = false;
    for (int c; (c = peek(l, n)) >= 0; n++) {
        if (c == '\n' && !odd)
            break;
        if (c == '\r' && odd && peek(l, n + 1) == '\n')
            continue;
        odd = c == '\\' && !odd;
    }
    return n;
}

static void skip_blanks(Lexer *l)
{
    for (;;) {
        uint32_t n = 0;
        while (peek(l, n) == ' ' || peek(l, n) == '\t' || peek(l, n) == '\n' || peek(l, n) == '\r')
            n++;
        if (n == 0 && peek(l, 0) == '#')
            n = comment_length(l);
        if (n == 0)
            return;
        token(l, T_EOF, n);
    }
}

/* A name with its module prefixes, from `from` on; 0: none. */
static uint32_t name_length(const Lexer *l, uint32_t from)
{
    uint32_t n = from;
    if (!is_name_start(peek(l, n)))
        return 0;
    for (;;) {
        while (is_name(peek(l, n)))
            n++;
        if (peek(l, n) != ':' || peek(l, n + 1) != ':' || !is_name_start(peek(l, n + 2)))
            return n - from;
        n += 2;
    }
}

static uint32_t number_length(const Lexer *l)
{
    uint32_t n = 0, digits = 0;
    for (; is_digit(peek(l, n)); n++)
        digits++;
    if (peek(l, n) == '.' && (digits || is_digit(peek(l, n + 1))))
        for (n++; is_digit(peek(l, n)); n++)
            digits++;
    if (digits == 0)
        return 0;
    if ((peek(l, n) | 32) == 'e') {
        uint32_t sign = peek(l, n + 1) == '+' || peek(l, n + 1) == '-';
        if (is_digit(peek(l, n + 1 + sign)))
            for (n += 1 + sign; is_digit(peek(l, n));)
                n++;
    }
    return n;
}

/* Inside a string: text up to an escape, a run of escapes, an interpolation or the end. */
static Token lex_string(Lexer *l)
{
    uint32_t n = 0;
    if (peek(l, 0) < 0)
        return (Token){T_EOF, l->lexeme, l->lexeme_end, {"", 0}};
    if (peek(l, 0) == '"') {
        nest_pop(l, '"');
        return token(l, T_STRING_END, 1);
    }
    if (peek(l, 0) == '\\' && peek(l, 1) == '(') {
        nest_push(l, 'i');
        return token(l, T_INTERP_START, 2);
    }
    if (peek(l, 0) != '\\') {
        while (peek(l, n) >= 0 && peek(l, n) != '"' && peek(l, n) != '\\')
            n++;
        return token(l, T_STRING_TEXT, n);
    }
    while (peek(l, n) == '\\' && peek(l, n + 1) >= 0 && peek(l, n + 1) != '(') {
        bool unicode = peek(l, n + 1) == 'u';
        n += 2;
        for (int i = 0; unicode && i < 4 && is_name(peek(l, n)) && peek(l, n) != '_'; i++)
            n++;
    }
    return n ? token(l, T_STRING_TEXT, n) : token(l, T_INVALID, 1);
}

static Token lex_bracket(Lexer *l, int c)
{
    switch (c) {
    case '(':
    case '[':
    case '{':
        nest_push(l, c == '(' ? ')' : c == '[' ? ']' : '}');
        return token(l, c, 1);
    case ')':
        if (nest_pop(l, 'i'))
            return token(l, T_INTERP_END, 1);
        /* fall through */
    default:
        return token(l, nest_pop(l, (char)c) ? c : T_INVALID, 1);
    }
}

/* A name as yq takes it behind a dot: words joined by - / @ ~, and * for whatever stands there. */
static uint32_t loose_length(const Lexer *l, uint32_t from)
{
    uint32_t n = from;
    for (int c; (c = peek(l, n)) >= 0; n++)
        if (!is_name(c) && !(c == '*' && peek(l, n + 1) != '=') && !(n > from && strchr("-/@~", c) && c && is_name(peek(l, n + 1))))
            break;
    return n - from;
}

/* A star with flags of yq's merge behind it, then = or not; 0: a star alone. */
static uint32_t flags_length(const Lexer *l)
{
    uint32_t n = 1, set = peek(l, n) == '=';
    for (n += set; peek(l, n) >= 0 && strchr("+?dnc", peek(l, n));)
        n++;
    return n > 1 + set && !is_name(peek(l, n)) ? n : 0;
}

static Token lex_word(Lexer *l, uint32_t n)
{
    Slice text = {l->source->text.data + l->at, n};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (slice_is(text, words[i].word))
            return token(l, words[i].type, n);
    return token(l, T_IDENT, n);
}

static Token lex_operator(Lexer *l, int c)
{
    Slice rest = slice_from(l->source->text, l->at);
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (operators[i].type != T_INVALID && slice_starts(rest, slice_str(operators[i].text)))
            return token(l, operators[i].type, (uint32_t)strlen(operators[i].text));
    return token(l, c > 0 && strchr(".?=;,:|+-*/%$<>", c) ? c : T_INVALID, 1);
}

Token jq_lex_next(Lexer *l)
{
    uint32_t n;
    if (l->depth && l->nest[l->depth - 1] == '"')
        return lex_string(l);
    skip_blanks(l);
    int c = peek(l, 0);
    if (c < 0)
        return (Token){T_EOF, l->lexeme, l->lexeme_end, {"", 0}};
    if (c == '"') {
        nest_push(l, '"');
        return token(l, T_STRING_START, 1);
    }
    if (strchr("()[]{}", c) && c)
        return lex_bracket(l, c);
    if (c == '.' && (is_name_start(peek(l, 1)) || (l->loose && loose_length(l, 1)))) {
        for (n = 1; is_name(peek(l, n));)
            n++;
        return token(l, T_FIELD, l->loose ? 1 + loose_length(l, 1) : n);
    }
    if (c == '*' && l->loose && (n = flags_length(l)))
        return token(l, T_MERGE, n);
    if (c == '$' && (n = name_length(l, 1)))
        return token(l, slice_is((Slice){l->source->text.data + l->at + 1, n}, "__loc__") ? T_LOC : T_BINDING, n + 1);
    if (c == '@' && is_name(peek(l, 1))) {
        for (n = 1; is_name(peek(l, n));)
            n++;
        return token(l, T_FORMAT, n);
    }
    if ((n = name_length(l, 0)))
        return lex_word(l, n);
    if ((n = number_length(l)))
        return token(l, T_LITERAL, n);
    return lex_operator(l, c);
}
