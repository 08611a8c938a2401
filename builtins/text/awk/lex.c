/* awk's lexer. A slash is a division unless the parser, wanting an operand, asks for a regular expression. */
#include "parser.h"

#include <stdarg.h>
#include <stdlib.h>

const BuiltinInfo builtin_info[B_COUNT] = {
    [B_ATAN2] = {"atan2", 2, 2}, [B_CLOSE] = {"close", 1, 2}, [B_COS] = {"cos", 1, 1}, [B_EXP] = {"exp", 1, 1},
    [B_FFLUSH] = {"fflush", 0, 1}, [B_GSUB] = {"gsub", 2, 3}, [B_INDEX] = {"index", 2, 2}, [B_INT] = {"int", 1, 1},
    [B_LENGTH] = {"length", 0, 1}, [B_LOG] = {"log", 1, 1}, [B_MATCH] = {"match", 2, 3}, [B_RAND] = {"rand", 0, 0},
    [B_SIN] = {"sin", 1, 1}, [B_SPLIT] = {"split", 2, 4}, [B_SPRINTF] = {"sprintf", 1, 255}, [B_SQRT] = {"sqrt", 1, 1},
    [B_SRAND] = {"srand", 0, 1}, [B_SUB] = {"sub", 2, 3}, [B_SUBSTR] = {"substr", 2, 3}, [B_SYSTEM] = {"system", 1, 1},
    [B_TOLOWER] = {"tolower", 1, 1}, [B_TOUPPER] = {"toupper", 1, 1}, [B_AND] = {"and", 2, 255}, [B_ASORT] = {"asort", 1, 3},
    [B_ASORTI] = {"asorti", 1, 3}, [B_COMPL] = {"compl", 1, 1}, [B_GENSUB] = {"gensub", 3, 4}, [B_ISARRAY] = {"isarray", 1, 1},
    [B_LSHIFT] = {"lshift", 2, 2}, [B_MKTIME] = {"mktime", 1, 2}, [B_OR] = {"or", 2, 255}, [B_PATSPLIT] = {"patsplit", 2, 4},
    [B_RSHIFT] = {"rshift", 2, 2}, [B_STRFTIME] = {"strftime", 0, 3}, [B_STRTONUM] = {"strtonum", 1, 1}, [B_SYSTIME] = {"systime", 0, 0},
    [B_TYPEOF] = {"typeof", 1, 2}, [B_XOR] = {"xor", 2, 255}, [B_MKBOOL] = {"mkbool", 1, 1}, [B_DCGETTEXT] = {"dcgettext", 1, 3},
    [B_DCNGETTEXT] = {"dcngettext", 1, 5}, [B_BINDTEXTDOMAIN] = {"bindtextdomain", 1, 2},
};

static const struct { const char *word; Token token; } keywords[] = {
    {"BEGIN", T_BEGIN}, {"BEGINFILE", T_BEGIN_FILE}, {"END", T_END}, {"ENDFILE", T_END_FILE}, {"break", T_BREAK}, {"case", T_CASE},
    {"continue", T_CONTINUE}, {"default", T_DEFAULT}, {"delete", T_DELETE}, {"do", T_DO}, {"else", T_ELSE}, {"exit", T_EXIT},
    {"for", T_FOR}, {"func", T_FUNCTION}, {"function", T_FUNCTION}, {"getline", T_GETLINE}, {"if", T_IF}, {"in", T_IN},
    {"next", T_NEXT}, {"nextfile", T_NEXT_FILE}, {"print", T_PRINT}, {"printf", T_PRINTF}, {"return", T_RETURN},
    {"switch", T_SWITCH}, {"while", T_WHILE},
};

/* ---------- messages ---------- */

static Slice line_around(Slice text, size_t offset, size_t *column)
{
    size_t from = MIN(offset, text.len);
    while (from && text.data[from - 1] != '\n')
        from--;
    *column = MIN(offset, text.len) - from;
    Slice rest = slice_from(text, from);
    return slice(rest.data, slice_find(rest, '\n'));
}

static void place(Parser *ps, Buf *b, uint32_t line)
{
    buf_printf(b, "%s: %s:%u: ", ps->w->p->name, ps->lex.source->name, line);
}

static NORETURN void give_up(Parser *ps, Buf *b, int status)
{
    output_flush(ps->w->p->out);
    out_write(ps->w->p->err, buf_slice(b));
    output_flush(ps->w->p->err);
    proc_fail(ps->w->p, status);
}

void error_at(Parser *ps, size_t offset, uint32_t line, const char *message)
{
    Buf *b = &ps->w->work;
    buf_clear(b);
    size_t column;
    Slice text = line_around(ps->lex.source->text, offset, &column);
    place(ps, b, line);
    buf_append(b, text);
    buf_char(b, '\n');
    place(ps, b, line);
    for (size_t i = 0; i < column; i++)
        buf_char(b, text.data[i] == '\t' ? '\t' : ' ');
    buf_printf(b, "^ %s\n", message);
    give_up(ps, b, 1);
}

void syntax_error(Parser *ps, const char *message)
{
    Lexer *l = &ps->lex;
    if (!message)
        message = l->token == T_NEWLINE || l->token == T_EOF ? "unexpected newline or end of string" : "syntax error";
    size_t at = l->start;
    uint32_t line = l->token_line;
    if (l->token == T_EOF && l->source->is_file)
        parse_failure(ps, "(END OF FILE)");
    if (l->token == T_NEWLINE)
        line = l->line;
    if (l->token == T_EOF)
        while (at && l->source->text.data[at - 1] == '\n')
            at--;
    error_at(ps, at, line, message);
}

void parse_failure(Parser *ps, const char *format, ...)
{
    Buf *b = &ps->w->work;
    char room[512];
    va_list args;
    va_start(args, format);
    vsnprintf(room, sizeof room, format, args);
    va_end(args);
    buf_clear(b);
    place(ps, b, ps->lex.token_line);
    buf_printf(b, "error: %s\n", room);
    give_up(ps, b, 1);
}

/* gawk tells of a misplaced jump where it reads it and again where it checks it. */
void parse_failure_twice(Parser *ps, const char *message)
{
    Buf *b = &ps->w->work;
    buf_clear(b);
    for (int i = 0; i < 2; i++) {
        place(ps, b, ps->lex.token_line);
        buf_printf(b, "error: %s\n", message);
    }
    give_up(ps, b, 1);
}

void parse_bare(Parser *ps, const char *message)
{
    Buf *b = &ps->w->work;
    buf_clear(b);
    place(ps, b, ps->lex.token_line);
    buf_printf(b, "%s\n", message);
    give_up(ps, b, 1);
}

void parse_fatal(Parser *ps, const char *message)
{
    Buf *b = &ps->w->work;
    buf_clear(b);
    place(ps, b, ps->lex.token_line);
    buf_printf(b, "fatal: %s\n", message);
    give_up(ps, b, 2);
}

void parse_warning(Parser *ps, const char *format, ...)
{
    Buf *b = &ps->w->work2;
    char room[512];
    va_list args;
    va_start(args, format);
    vsnprintf(room, sizeof room, format, args);
    va_end(args);
    buf_clear(b);
    place(ps, b, ps->lex.token_line);
    buf_printf(b, "warning: %s\n", room);
    out_write(ps->w->p->err, buf_slice(b));
    output_flush(ps->w->p->err);
}

/* ---------- escapes ---------- */

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t escape_number(Slice s, size_t i, Buf *out)
{
    int v = 0;
    if (s.data[i] == 'x') {
        size_t n = 0;
        for (; n < 2 && i + 1 + n < s.len && hex(s.data[i + 1 + n]) >= 0; n++)
            v = v * 16 + hex(s.data[i + 1 + n]);
        buf_char(out, n ? (char)v : 'x');
        return i + n;
    }
    size_t n = 0;
    for (; n < 3 && i + n < s.len && s.data[i + n] >= '0' && s.data[i + n] <= '7'; n++)
        v = v * 8 + (s.data[i + n] - '0');
    buf_char(out, (char)v);
    return i + n - 1;
}

static void escape_warning(Awk *w, char c)
{
    bool seen = false;
    for (size_t i = 0; i < w->warned_count; i++)
        seen |= w->warned[i] == c;
    if (seen || w->warned_count == sizeof w->warned)
        return;
    w->warned[w->warned_count++] = c;
    awk_warning(w, "escape sequence `\\%c' treated as plain `%c'", c, c);
}

void awk_unescape(Awk *w, Slice s, bool warn_unknown, Buf *out)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] != '\\' || i + 1 == s.len) {
            buf_char(out, s.data[i]);
            continue;
        }
        char c = s.data[++i];
        switch (c) {
        case 'n': buf_char(out, '\n'); break;
        case 't': buf_char(out, '\t'); break;
        case 'r': buf_char(out, '\r'); break;
        case 'a': buf_char(out, '\a'); break;
        case 'b': buf_char(out, '\b'); break;
        case 'f': buf_char(out, '\f'); break;
        case 'v': buf_char(out, '\v'); break;
        case '"': case '\\': buf_char(out, c); break;
        case '\n': break;
        case 'x': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': i = escape_number(s, i, out); break;
        default:
            if (warn_unknown)
                escape_warning(w, c);
            buf_char(out, c);
        }
    }
}

/* ---------- tokens ---------- */

static char peek(const Lexer *l, size_t ahead)
{
    size_t i = l->at + ahead;
    return i < l->source->text.len ? l->source->text.data[i] : 0;
}

static bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool name_char(char c) { return name_start(c) || (c >= '0' && c <= '9'); }

static Slice read_name(Lexer *l)
{
    size_t from = l->at;
    while (l->at < l->source->text.len && (name_char(peek(l, 0)) || (peek(l, 0) == ':' && peek(l, 1) == ':' && name_start(peek(l, 2)))))
        l->at += peek(l, 0) == ':' ? 2 : 1;
    Slice s = slice(l->source->text.data + from, l->at - from);
    if (s.len > 5 && memcmp(s.data, "awk::", 5) == 0)
        s = slice_from(s, 5);
    return s;
}

bool lex_reserved(Slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (slice_is(name, keywords[i].word))
            return true;
    for (uint32_t i = 0; i < B_COUNT; i++)
        if (slice_is(name, builtin_info[i].name))
            return true;
    return false;
}

/* Names of capitals alone belong to awk everywhere. */
static bool all_capitals(Slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] < 'A' || name.data[i] > 'Z')
            return false;
    return true;
}

static void qualify(Parser *ps)
{
    Lexer *l = &ps->lex;
    if (l->space.len && !all_capitals(l->text) && !memchr(l->text.data, ':', l->text.len))
        l->text = slice_str(mem_printf(&ps->w->p->keep, "%.*s::%.*s", (int)l->space.len, l->space.data, (int)l->text.len, l->text.data));
}

static Token name_token(Parser *ps)
{
    Lexer *l = &ps->lex;
    size_t from = l->at;
    l->text = read_name(l);
    Slice given = slice(l->source->text.data + from, l->at - from);
    const char *colon = memchr(given.data, ':', given.len);
    if (colon) {
        Slice second = slice_from(given, (size_t)(colon - given.data) + 2);
        if (lex_reserved(second))
            parse_failure(ps, "using reserved identifier `%.*s' as second component of a qualified name is not allowed", (int)second.len, second.data);
        return peek(l, 0) == '(' ? T_CALL_NAME : T_NAME;
    }
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (slice_is(l->text, keywords[i].word))
            return keywords[i].token;
    for (uint32_t i = 0; i < B_COUNT; i++)
        if (slice_is(l->text, builtin_info[i].name)) {
            l->builtin = i;
            return T_BUILTIN;
        }
    qualify(ps);
    return peek(l, 0) == '(' ? T_CALL_NAME : T_NAME;
}

static Token number_token(Parser *ps)
{
    Lexer *l = &ps->lex;
    const char *s = l->source->text.data + l->at;
    size_t room = l->source->text.len - l->at, n = 0;
    bool is_hex = room > 2 && s[0] == '0' && (s[1] | 32) == 'x' && hex(s[2]) >= 0, octal = s[0] == '0' && room > 1;
    if (is_hex) {
        double v = 0;
        for (n = 2; n < room && hex(s[n]) >= 0; n++)
            v = v * 16 + hex(s[n]);
        l->number = v;
        l->at += n;
        return T_NUMBER;
    }
    while (n < room && s[n] >= '0' && s[n] <= '9') {
        octal = octal && s[n] < '8';
        n++;
    }
    if (octal && n > 1 && !(n < room && (s[n] == '.' || (s[n] | 32) == 'e'))) {
        double v = 0;
        for (size_t i = 1; i < n; i++)
            v = v * 8 + (s[i] - '0');
        l->number = v;
        l->at += n;
        return T_NUMBER;
    }
    if (n < room && s[n] == '.')
        for (n++; n < room && s[n] >= '0' && s[n] <= '9';)
            n++;
    if (n < room && (s[n] | 32) == 'e') {
        size_t e = n + 1;
        if (e < room && (s[e] == '+' || s[e] == '-'))
            e++;
        if (e < room && s[e] >= '0' && s[e] <= '9')
            for (n = e; n < room && s[n] >= '0' && s[n] <= '9';)
                n++;
    }
    l->number = text_number(ps->w, slice(s, n));
    l->at += n;
    return T_NUMBER;
}

static Token string_token(Parser *ps)
{
    Lexer *l = &ps->lex;
    size_t from = l->at;
    for (;; l->at++) {
        char c = peek(l, 0);
        if (l->at >= l->source->text.len || c == '\n')
            error_at(ps, from - 1, l->line, "unterminated string");
        if (c == '"')
            break;
        if (c == '\\') {
            l->at++;
            if (peek(l, 0) == '\r' && peek(l, 1) == '\n')
                l->at++;
            if (peek(l, 0) == '\n')
                l->line++;
        }
    }
    Buf out;
    buf_init(&out, &ps->w->p->keep, BUF_MAX);
    l->token_line = l->line;
    awk_unescape(ps->w, slice(l->source->text.data + from, l->at - from), true, &out);
    l->at++;
    l->text = out.data ? buf_slice(&out) : SLICE("");
    return T_STRING;
}

Slice lex_regex(Parser *ps)
{
    Lexer *l = &ps->lex;
    size_t from = l->at = l->start + 1;
    int bracket = 0; /* bytes into a bracket expression, so that ] may stand first */
    for (;; l->at++) {
        char c = peek(l, 0);
        if (l->at >= l->source->text.len || c == '\n')
            error_at(ps, from, l->token_line, "unterminated regexp");
        if (c == '\\' && l->at + 1 < l->source->text.len) {
            l->at++;
            if (bracket)
                bracket++;
            continue;
        }
        if (!bracket && c == '/')
            break;
        if (!bracket && c == '[') {
            bracket = 1;
            if (peek(l, 1) == '^')
                l->at++;
            if (peek(l, 1) == ']')
                l->at++;
        } else if (bracket && c == '[' && (peek(l, 1) == ':' || peek(l, 1) == '.' || peek(l, 1) == '=')) {
            char kind = peek(l, 1);
            size_t i = 2;
            while (peek(l, i) && peek(l, i) != '\n' && !(peek(l, i) == kind && peek(l, i + 1) == ']'))
                i++;
            if (peek(l, i) == kind)
                l->at += i + 1;
        } else if (bracket && c == ']') {
            bracket = 0;
        }
    }
    Slice s = slice(l->source->text.data + from, l->at - from);
    l->at++;
    return s;
}

/* Blanks, comments and continued lines. */
static void skip_blanks(Lexer *l)
{
    for (;;) {
        char c = peek(l, 0);
        if (l->at >= l->source->text.len)
            return;
        if (c == ' ' || c == '\t' || c == '\r') {
            l->at++;
        } else if (c == '#') {
            while (l->at < l->source->text.len && peek(l, 0) != '\n')
                l->at++;
        } else if (c == '\\' && peek(l, 1) == '\n') {
            l->at += 2;
            l->line++;
        } else if (c == '\\' && peek(l, 1) == '\r' && peek(l, 2) == '\n') {
            l->at += 3;
            l->line++;
        } else {
            return;
        }
    }
}

static Token pick(Lexer *l, char c, Token with, Token without)
{
    if (peek(l, 0) != c)
        return without;
    l->at++;
    return with;
}

static Token pick_two(Lexer *l, char c, Token with, char d, Token with_d, Token without)
{
    return peek(l, 0) == c ? pick(l, c, with, without) : pick(l, d, with_d, without);
}

static Token at_token(Parser *ps)
{
    Lexer *l = &ps->lex;
    if (peek(l, 0) == '/') {
        l->start = l->at;
        l->text = lex_regex(ps);
        return T_TYPED_REGEX;
    }
    skip_blanks(l);
    if (!name_start(peek(l, 0))) {
        l->start = l->at - 1;
        return T_BAD;
    }
    l->text = read_name(l);
    if (peek(l, 0) != '(')
        return T_AT_NAME;
    qualify(ps);
    return T_INDIRECT;
}

static Token star_token(Lexer *l)
{
    if (peek(l, 0) == '*') {
        l->at++;
        return pick(l, '=', T_POW_ASSIGN, T_POWER);
    }
    return pick(l, '=', T_MUL_ASSIGN, T_TIMES);
}

static Token punctuation(Parser *ps, char c)
{
    Lexer *l = &ps->lex;
    switch (c) {
    case '{': return T_LBRACE;
    case '}': return T_RBRACE;
    case '(': return T_LPAREN;
    case ')': return T_RPAREN;
    case '[': return T_LBRACKET;
    case ']': return T_RBRACKET;
    case ';': return T_SEMICOLON;
    case ',': return T_COMMA;
    case '?': return T_QUESTION;
    case ':': return T_COLON;
    case '~': return T_MATCH;
    case '$': return T_DOLLAR;
    case '@': return at_token(ps);
    case '*': return star_token(l);
    case '/': return pick(l, '=', T_DIV_ASSIGN, T_DIVIDE);
    case '%': return pick(l, '=', T_MOD_ASSIGN, T_MODULO);
    case '^': return pick(l, '=', T_POW_ASSIGN, T_POWER);
    case '=': return pick(l, '=', T_EQ, T_ASSIGN);
    case '<': return pick(l, '=', T_LE, T_LT);
    case '+': return pick_two(l, '+', T_INCREMENT, '=', T_ADD_ASSIGN, T_PLUS);
    case '-': return pick_two(l, '-', T_DECREMENT, '=', T_SUB_ASSIGN, T_MINUS);
    case '!': return pick_two(l, '=', T_NE, '~', T_NO_MATCH, T_NOT);
    case '>': return pick_two(l, '=', T_GE, '>', T_APPEND, T_GT);
    case '&': return pick(l, '&', T_AND, T_BAD);
    case '|': return pick_two(l, '|', T_OR, '&', T_TWO_WAY, T_PIPE);
    default: return T_BAD;
    }
}

void lex_next(Parser *ps)
{
    Lexer *l = &ps->lex;
    skip_blanks(l);
    l->start = l->at;
    l->token_line = l->line;
    if (l->at >= l->source->text.len) {
        l->token = T_EOF;
        return;
    }
    char c = peek(l, 0);
    if (c == '\n') {
        l->at++;
        l->line++;
        l->token = T_NEWLINE;
    } else if (name_start(c)) {
        l->token = name_token(ps);
    } else if ((c >= '0' && c <= '9') || (c == '.' && peek(l, 1) >= '0' && peek(l, 1) <= '9')) {
        l->token = number_token(ps);
    } else {
        l->at++;
        l->token = c == '"' ? string_token(ps) : punctuation(ps, c);
    }
    if (l->token == T_BAD) {
        l->start++;
        syntax_error(ps, NULL);
    }
}

void awk_newlines(Parser *ps)
{
    while (ps->lex.token == T_NEWLINE)
        lex_next(ps);
}
