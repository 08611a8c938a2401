/* bc: input and words. */
#include "bc.h"

static const struct { const char *name; Token token; } keywords[] = {
    {"auto", T_AUTO}, {"break", T_BREAK}, {"continue", T_CONTINUE}, {"define", T_DEFINE}, {"else", T_ELSE}, {"for", T_FOR}, {"halt", T_HALT},
    {"history", T_HISTORY}, {"ibase", T_IBASE}, {"if", T_IF}, {"last", T_LAST}, {"length", T_LENGTH}, {"limits", T_LIMITS}, {"obase", T_OBASE},
    {"print", T_PRINT}, {"quit", T_QUIT}, {"random", T_RANDOM}, {"read", T_READ}, {"return", T_RETURN}, {"scale", T_SCALE}, {"sqrt", T_SQRT},
    {"void", T_VOID}, {"warranty", T_WARRANTY}, {"while", T_WHILE},
};

/* More text behind what is left, over the files in turn. */
static bool more_text(Bc *b)
{
    Slice chunk;
    Buf *whole = &b->pending;
    Slice rest = b->text;
    if (b->text_over)
        return false;
    for (;;) {
        if (b->in.started && input_chunk(&b->in, &chunk))
            break;
        if (b->in.started)
            input_next(&b->in);
        if (!input_open(&b->in)) {
            b->text_over = true;
            b->file = "(standard_in)";
            b->line = 1;
            return false;
        }
        b->file = b->in.is_stdin ? "(standard_in)" : b->in.name;
        b->line = 1;
    }
    if (rest.len)
        memmove(whole->data, rest.data, rest.len); /* it lies in there already */
    whole->len = rest.len;
    buf_append(whole, chunk);
    b->text = buf_slice(whole);
    return true;
}

/* The byte `n` places on, or -1 at the end of everything. */
static int look(Bc *b, size_t n)
{
    while (b->text.len <= n)
        if (!more_text(b))
            return -1;
    return (unsigned char)b->text.data[n];
}

static void drop(Bc *b, size_t n) { b->text = slice_from(b->text, n); }

static void skip_comment(Bc *b)
{
    drop(b, 2);
    for (int c; (c = look(b, 0)) >= 0; drop(b, 1)) {
        proc_tick(b->p, 1);
        b->line += c == '\n';
        if (c == '*' && look(b, 1) == '/') {
            drop(b, 2);
            return;
        }
    }
    out_str(b->p->err, "EOF encountered in a comment.\n");
    output_flush(b->p->err);
}

static void skip_space(Bc *b)
{
    for (int c; (c = look(b, 0)) >= 0;) {
        if (c == ' ' || c == '\t') {
            drop(b, 1);
        } else if (c == '\\' && look(b, 1) == '\n') {
            drop(b, 2);
            b->line++;
        } else if (c == '/' && look(b, 1) == '*') {
            skip_comment(b);
        } else if (c == '#') {
            while ((c = look(b, 0)) >= 0 && c != '\n')
                drop(b, 1);
        } else {
            return;
        }
        proc_tick(b->p, 1);
    }
}

static Token read_name(Bc *b)
{
    for (int c; (c = look(b, 0)) >= 0 && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'); drop(b, 1))
        buf_char(&b->word, (char)c);
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (strcmp(keywords[i].name, b->word.data) == 0)
            return keywords[i].token;
    return T_NAME;
}

static bool is_digit(int c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); }

/* Leading zeros are not kept, for they would move the addresses in messages; one digit always is. */
static Token read_number(Bc *b)
{
    bool point = false;
    for (int c; (c = look(b, 0)) >= 0; drop(b, 1)) {
        if (c == '\\' && look(b, 1) == '\n') {
            drop(b, 1);
            b->line++;
            continue;
        }
        if (c == '.' && !point)
            point = true;
        else if (!is_digit(c))
            break;
        if (c == '0' && b->word.len == 0)
            continue;
        buf_char(&b->word, (char)c);
        proc_tick(b->p, 1);
    }
    if (b->word.len == 0 || (b->word.len == 1 && b->word.data[0] == '.')) {
        buf_clear(&b->word);
        buf_char(&b->word, '0');
    }
    return T_NUMBER;
}

static bool read_string(Bc *b)
{
    size_t n = 1;
    for (int c; (c = look(b, n)) != '"'; n++) {
        if (c < 0)
            return false;
        proc_tick(b->p, 1);
    }
    buf_append(&b->word, slice(b->text.data + 1, n - 1));
    b->line += slice_count(buf_slice(&b->word), '\n');
    drop(b, n + 1);
    return true;
}

static Token two(Bc *b, char op, Token token)
{
    b->op = op;
    drop(b, 2);
    return token;
}

static Token one(Bc *b, char op, Token token)
{
    b->op = op;
    drop(b, 1);
    return token;
}

static Token read_operator(Bc *b, int c)
{
    int next = look(b, 1);
    if (next == '=' && strchr("+-*/%^", c))
        return two(b, (char)c, T_ASSIGN);
    if ((c == '+' || c == '-') && next == c)
        return two(b, (char)c, T_STEP);
    switch (c) {
    case '=': return next == '=' ? two(b, '=', T_RELATION) : one(b, '=', T_ASSIGN);
    case '!': return next == '=' ? two(b, '#', T_RELATION) : one(b, '!', (Token)'!');
    case '<': return next == '=' ? two(b, '{', T_RELATION) : one(b, '<', T_RELATION);
    case '>': return next == '=' ? two(b, '}', T_RELATION) : one(b, '>', T_RELATION);
    case '&':
        if (next == '&')
            return two(b, '&', T_AND);
        break;
    case '|':
        if (next == '|')
            return two(b, '|', T_OR);
        break;
    default: break;
    }
    return one(b, (char)c, (Token)c);
}

static Token next_token(Bc *b)
{
    for (;;) {
        skip_space(b);
        buf_clear(&b->word);
        buf_append(&b->word, (Slice){"", 0});
        int c = look(b, 0);
        if (c < 0)
            return T_EOF;
        if (c == '\n') {
            drop(b, 1);
            b->line++;
            return T_NEWLINE;
        }
        if (c >= 'a' && c <= 'z')
            return read_name(b);
        if (is_digit(c) || (c == '.' && is_digit(look(b, 1))))
            return read_number(b);
        if (c == '.')
            return one(b, '.', T_LAST);
        if (c == '"' && read_string(b))
            return T_STRING;
        if (strchr("+-*/%^=<>!&|(){}[];,", c) && c)
            return read_operator(b, c);
        drop(b, 1);
        char text[40];
        if (c < ' ' || c >= 127)
            snprintf(text, sizeof text, "illegal character: \\%03o", (unsigned)c);
        else
            snprintf(text, sizeof text, "illegal character: %c", c);
        bc_message(b, text);
    }
}

Token bc_peek(Bc *b)
{
    if (!b->peeked)
        b->token = next_token(b);
    b->peeked = true;
    return b->token;
}

Token bc_take(Bc *b)
{
    Token t = bc_peek(b);
    b->peeked = t == T_EOF;
    if (b->quiet_tokens)
        b->quiet_tokens--;
    proc_tick(b->p, 1);
    return t;
}

void bc_message(Bc *b, const char *text)
{
    b->had_error = true;
    output_flush(b->p->out);
    out_printf(b->p->err, "%s %zu: %s\n", b->file, b->line, text);
    output_flush(b->p->err);
}
