/* parse_error: the parser's messages, in bash's words, and its memory. Both end in a jump to the guard of parser_next. */
#include "lib/base/guard.h"
#include "parser.h"

#include <stdarg.h>
#include <stdio.h>

NORETURN void fail_memory(Parser *p)
{
    p->error = (ParseError){.message = "line 0: cannot allocate memory", .line = 0, .status = 2, .no_memory = true};
    longjmp(*p->guard, JUMP_MEMORY);
}

static NORETURN void fail(Parser *p, uint32_t line, char *message)
{
    p->error.message = message;
    p->error.line = line;
    longjmp(*p->guard, JUMP_ERROR);
}

/* "line N: " and the text. */
static char *message_text(Parser *p, uint32_t line, const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    char *whole = mem_printf(p->mem, "line %u: %s", line, text);
    if (!whole)
        fail_memory(p);
    return whole;
}

NORETURN void fail_at(Parser *p, const char *where, const char *format, ...)
{
    uint32_t line = p->error_line ?: line_of(p, where);
    va_list args;
    va_start(args, format);
    char *text = message_text(p, line, format, args);
    va_end(args);
    fail(p, line, text);
}

const char *line_text(Parser *p, uint32_t line, const char *text)
{
    char *whole = mem_printf(p->mem, "line %u: %s", line, text);
    if (!whole)
        fail_memory(p);
    return whole;
}

NORETURN void fail_whole(Parser *p, const char *where, const char *message) { fail(p, line_of(p, where), (char *)(uintptr_t)message); }

NORETURN void fail_silent(Parser *p, const char *where) { fail(p, line_of(p, where), (char *)(uintptr_t)""); }

static NORETURN void fail_line(Parser *p, uint32_t line, const char *format, ...) PRINTF_LIKE(3, 4);
static NORETURN void fail_line(Parser *p, uint32_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = message_text(p, line, format, args);
    va_end(args);
    fail(p, line, text);
}

/* The text ends in a backslash that takes nothing: bash's reader doubles it. */
static bool ends_open(const Parser *p, const char *end)
{
    size_t n = 0;
    while (!p->frame->parent && end == p->frame->end && end - n > p->frame->start && end[-1 - (ptrdiff_t)n] == '\\')
        n++;
    return n & 1;
}

void quote_line(Parser *p, const char *where)
{
    while (p->frame->parent && where >= p->frame->fresh) { /* behind an alias: the line as it stands in the script */
        where = p->frame->resume - (p->frame->end - where);
        p->frame = p->frame->parent;
    }
    const char *start = where;
    while (start > p->frame->start && start[-1] != '\n')
        start--;
    const char *end = start;
    while (*end && *end != '\n')
        end++;
    if (where >= p->reread && where < p->reread_end) {
        start = p->reread;
        end = p->reread_end - (p->reread_end[-1] == '\n');
    }
    char *text = mem_printf(p->mem, "line %u: `%.*s%s'", p->error_line ?: line_of(p, where), (int)MIN(end - start, 1 << 20), start, ends_open(p, end) ? "\\" : "");
    if (!text)
        fail_memory(p);
    p->error.second = text;
}

uint32_t line_of_end(Parser *p)
{
    Frame *f = p->frame;
    if (f->end > f->start && f->end[-1] == '\\') /* the reader looks for one more */
        return line_of(p, f->end) + 2;
    return line_of(p, f->end) + (f->end > f->start && f->end[-1] != '\n');
}

NORETURN void fail_end(Parser *p)
{
    if (p->substitutions)
        fail_matching(p, p->arith_opened, ")");
    p->error.at_eof = true;
    fail_line(p, line_of_end(p), "syntax error: unexpected end of file");
}

NORETURN void fail_matching(Parser *p, const char *opened, const char *closer)
{
    p->error.at_eof = true;
    p->error.unclosed = opened && p->error.status != 1;
    uint32_t line = opened ? line_of(p, opened) : line_of_end(p);
    if (p->in_items && p->error.status != 1) { /* of a compound assignment the rest is missing too */
        p->error.status = 1;
        p->error.second = line_text(p, line_of_end(p), "syntax error: unexpected end of file");
    }
    p->error.or_last = p->error.status == 2 && opened;
    if (p->cond_cut) {
        add_expected(p, p->cond_open);
        p->error.second = p->error.more;
        p->error.more = line_text(p, line_of_end(p) - ends_open(p, p->frame->end), p->cond_cut);
    }
    fail_line(p, line, "unexpected EOF while looking for matching `%s'", closer);
}

enum { MAX_OPERATOR = 64 };

/* An operator of one character, or ;; and &>: bash looks at the next one to tell it from a longer one. */
static bool operator_looks_on(const Token *t)
{
    bool looks = t->kind == TOK_SEMI || t->kind == TOK_AND || t->kind == TOK_OR || t->kind == TOK_LPAREN || t->kind == TOK_RPAREN || t->kind == TOK_LESS ||
                 t->kind == TOK_GREAT || t->kind == TOK_SEMI_SEMI || t->kind == TOK_AND_GREAT || t->kind == TOK_LESS_LESS;
    return looks && t->end - t->start < MAX_OPERATOR;
}

/* A word with quotes or expansions: as its text is kept, in $'...' when that would not show, and on the line where it ends. */
NORETURN static void fail_word(Parser *p)
{
    const Word *w = read_word(p, 0);
    Buf kept, shown;
    buf_init(&kept, p->mem, BUF_MAX);
    buf_init(&shown, p->mem, BUF_MAX);
    buf_reserve(&kept, 1);
    print_word(&kept, w);
    quote_unprintable(&shown, buf_slice(&kept));
    if (kept.failed || shown.failed)
        fail_memory(p);
    quote_line(p, p->at);
    fail_at(p, p->at, "syntax error near unexpected token `%.*s'", (int)MIN(shown.len, (size_t)900), shown.data);
}

NORETURN void fail_token(Parser *p)
{
    const Token *t = peek(p);
    if (t->kind == TOK_EOF)
        fail_end(p);
    const char *start = t->start, *end = t->end;
    char text[MAX_OPERATOR];
    p->error.in_substitution = p->substitutions > 0;
    if (t->kind == TOK_NEWLINE) { /* the bodies of here-documents have been read by then */
        const char *where = end > start + 1 ? end - 1 : start;
        quote_line(p, start);
        if (where != start) {
            const char *shown = strchr(p->error.second, ':');
            p->error.second = line_text(p, line_of(p, where), shown + 2);
        }
        fail_at(p, where, "syntax error near unexpected token `newline'");
    }
    const char *value = t->kind == TOK_WORD ? assignment_value(start) : NULL;
    if (value && *value == '(') { /* bash has read the whole list */
        const char *close = skip_parens(value + 1, '(', ')');
        p->error.status = close ? p->error.status : 1;
        if (!close)
            fail_matching(p, value, ")");
        quote_line(p, close);
        fail_at(p, close, "syntax error near unexpected token `%.*s'", (int)MIN(close + 1 - start, 900), start);
    }
    if (t->kind == TOK_WORD && !t->plain)
        fail_word(p);
    if (t->kind == TOK_VAR) {
        quote_line(p, start);
        fail_at(p, start, "syntax error near `%.*s'", (int)MIN(end - start + 1, 900), start);
    }
    if (operator_looks_on(t)) { /* the character behind it has been read, over what joins lines */
        size_t n = 0;
        for (const char *s = start; s < end; s++)
            if (*s != '\\' && *s != '\n')
                text[n++] = *s;
        start = end;
        while (start[0] == '\\' && start[1] == '\n')
            start += 2;
        quote_line(p, start);
        fail_at(p, start, "syntax error near unexpected token `%.*s'", (int)n, text);
    }
    quote_line(p, start);
    fail_at(p, start, "syntax error near unexpected token `%.*s'", (int)MIN(end - start, 900), start);
}

/* The first quote from s on that is not closed, or NULL. */
static const char *open_quote(const char *s)
{
    while (*s) {
        if (*s == '\\' && s[1]) {
            s += 2;
        } else if (*s == '\'' || *s == '"' || *s == '`') {
            const char *end = skip_quoted(s);
            if (!end)
                return s;
            s = end;
        } else {
            s++;
        }
    }
    return NULL;
}

void fail_parens(Parser *p, const char *opened, const char *from, const char *closer)
{
    const char *quote = open_quote(from);
    if (quote)
        fail_matching(p, quote, (char[]){*quote, 0});
    fail_matching(p, opened, closer);
}

void enter(Parser *p)
{
    if (GUARD(PARSE_DEPTH, ++p->depth > PARSE_DEPTH))
        fail_at(p, p->at, "syntax error: nested too deeply (limit %d)", PARSE_DEPTH);
}

void warn_parse(Parser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char **list = get(p, (p->nwarnings + 1) * sizeof *list);
    if (p->nwarnings)
        memcpy(list, p->warnings, p->nwarnings * sizeof *list);
    list[p->nwarnings++] = keep(p, slice_str(text)).data;
    p->warnings = list;
}

void *get(Parser *p, size_t size)
{
    void *memory = mem_alloc0(p->mem, size);
    if (!memory)
        fail_memory(p);
    return memory;
}

Slice keep(Parser *p, Slice s)
{
    char *copy = mem_copy(p->mem, s);
    if (!copy)
        fail_memory(p);
    return slice(copy, s.len);
}

Name make_name(Parser *p, Slice s)
{
    Slice text = keep(p, s);
    return (Name){text, hash_bytes(text)};
}

void stack_room(Parser *p, size_t more)
{
    size_t need, cap = p->cap ? p->cap : 4096;
    if (!size_add(p->top, more, &need))
        fail_memory(p);
    if (need <= p->cap)
        return;
    while (cap < need)
        if (!size_mul(cap, 2, &cap))
            fail_memory(p);
    char *stack = mem_grow(p->scratch, p->stack, p->cap, cap);
    if (!stack)
        fail_memory(p);
    p->stack = stack;
    p->cap = cap;
}

void push(Parser *p, const void *item, size_t size)
{
    stack_room(p, size);
    memcpy(p->stack + p->top, item, size);
    p->top += size;
}

void *take_array(Parser *p, size_t base, size_t size, uint32_t *count)
{
    size_t bytes = p->top - base;
    p->top = base;
    *count = (uint32_t)(bytes / size);
    if (!bytes)
        return NULL;
    void *array = mem_alloc(p->mem, bytes);
    if (!array)
        fail_memory(p);
    return memcpy(array, p->stack + base, bytes);
}
