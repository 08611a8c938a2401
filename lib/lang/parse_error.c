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
    uint32_t line = line_of(p, where);
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

void quote_line(Parser *p, const char *where)
{
    const char *start = where;
    while (start > p->frame->start && start[-1] != '\n')
        start--;
    const char *end = start;
    while (*end && *end != '\n')
        end++;
    char *text = mem_printf(p->mem, "line %u: `%.*s'", line_of(p, where), (int)MIN(end - start, 1 << 20), start);
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
    fail_line(p, line, "unexpected EOF while looking for matching `%s'", closer);
}

NORETURN void fail_token(Parser *p)
{
    const Token *t = peek(p);
    if (t->kind == TOK_EOF)
        fail_end(p);
    const char *start = t->start, *end = t->end;
    p->error.in_substitution = p->substitutions > 0;
    if (t->kind == TOK_NEWLINE) { /* the bodies of here-documents have been read by then */
        const char *where = end > start + 1 ? end - 1 : start;
        quote_line(p, start);
        if (where != start) {
            const char *text = strchr(p->error.second, ':');
            p->error.second = line_text(p, line_of(p, where), text + 2);
        }
        fail_at(p, where, "syntax error near unexpected token `newline'");
    }
    if (t->kind == TOK_WORD && !t->plain) {
        read_word(p, 0);
        end = p->at;
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
