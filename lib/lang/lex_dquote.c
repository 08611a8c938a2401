/* lex_dquote: the text of "...", here-documents and arithmetic; $ and ` wherever they stand. */
#include "parser.h"

/* Whether c ends arithmetic text, keeping count of what is open. */
static bool arith_ends(Builder *b, char c)
{
    if (c == '(' || c == '[') {
        b->depth++;
        return false;
    }
    if (b->depth == 0) {
        if (c == b->stop && !(c == ':' && b->ternary))
            return true;
        if ((c == ')' && b->stop == ';') || (c == '}' && (b->stop == ':' || b->stop == '}')))
            return true;
    } else if (c == ')' || c == ']') {
        b->depth--;
        return false;
    }
    if (c == '?')
        b->ternary++;
    else if (c == ':' && b->ternary)
        b->ternary--;
    return false;
}

static void read_escape(Builder *b)
{
    Parser *p = b->p;
    char c = p->at[1];
    if (c == '\n') {
        p->at += 2;
        return;
    }
    bool takes = c == '$' || c == '`' || c == '\\' || (c == '"' && b->mode != MODE_TEXT);
    takes |= b->mode == MODE_BRACE_DQ && c == '}';
    if (takes) {
        literal(b, p->at + 1, 1, true);
        p->at += 2;
    } else {
        literal(b, p->at, 1, true);
        p->at++;
    }
}

static bool is_special(const Builder *b, char c)
{
    if (c == 0 || is(c, CH_QUOTE))
        return c != '\'' || b->mode == MODE_ARITH || (b->mode == MODE_BRACE_DQ && b->p->in_dquotes);
    if (b->mode == MODE_ARITH)
        return strchr("()[]{};:?", c) != NULL;
    return b->mode == MODE_BRACE_DQ && c == '}';
}

/* In "${x-'a'}" a single quote is a character, yet bash's reader wants its pair before it goes on. */
static void pair_quote(Builder *b, const char *s)
{
    Parser *p = b->p;
    if (p->options.posix || (s < p->paired && s >= p->frame->start))
        return;
    const char *end = memchr(s + 1, '\'', (size_t)(p->frame->end - s - 1));
    if (!end) {
        need_more(p);
        fail_matching(p, s, "'");
    }
    p->paired = end + 1;
}

void read_quoted(Builder *b)
{
    Parser *p = b->p;
    for (;;) {
        const char *s = p->at;
        while (!is_special(b, *s))
            s++;
        if (s > p->at) {
            literal(b, p->at, (size_t)(s - p->at), true);
            p->at = s;
        }
        switch (*s) {
        case 0: return;
        case '\\': read_escape(b); break;
        case '$':
        case '`':
            if (b->mode == MODE_TEXT)
                p->text_open = s;
            if (*s == '$')
                read_dollar(b, true);
            else
                read_backquoted(b, true);
            break;
        case '\'': { /* arithmetic: nothing is expanded in m['...'], and the quotes stay for who reads the subscript */
            if (b->mode == MODE_BRACE_DQ) {
                pair_quote(b, s);
                literal(b, s, 1, true);
                p->at++;
                break;
            }
            const char *end = s - b->start > 1 && s[-1] == '[' && is(s[-2], CH_NAME | CH_DIGIT) ? strstr(s + 1, "']") : NULL;
            size_t n = end && end < p->frame->end ? (size_t)(end + 1 - s) : 1;
            literal(b, s, n, true);
            p->at += n;
            break;
        }
        case '"':
            if (b->mode == MODE_DQUOTE)
                return;
            p->at++;
            if (b->mode == MODE_TEXT)
                literal(b, "\"", 1, true);
            else if (b->mode == MODE_BRACE_DQ)
                read_dquotes(b);
            break;
        default:
            if (s == p->limit || (b->mode == MODE_ARITH ? arith_ends(b, *s) : *s == '}'))
                return;
            literal(b, s, 1, true);
            p->at++;
        }
    }
}

/* ---- substitutions ---- */

Node *read_command_list(Parser *p, const char *opened)
{
    PendingSave save;
    const Frame *frame = p->frame;
    unsigned in_dquotes = p->in_dquotes;
    enter(p);
    pending_save(p, &save);
    p->in_dquotes = 0;
    p->substitutions++;
    p->have = false;
    skip_newlines(p);
    Node *n = peek(p)->kind == TOK_RPAREN ? NULL : parse_list(p);
    const Token *t = peek(p);
    if (t->kind == TOK_EOF)
        fail_matching(p, opened, ")");
    if (t->kind != TOK_RPAREN)
        fail_token(p);
    p->in_dquotes = in_dquotes;
    unsigned left = 0;
    for (const Pending *d = p->pending; d; d = d->next, left++)
        d->redir->word = word_of_text(p, SLICE(""));
    if (left)
        warn_parse(p, "line %u: warning: command substitution: %u unterminated here-document%s", line_of(p, t->start), left,
                   left == 1 ? "" : "s");
    take(p);
    p->substitutions--;
    pending_restore(p, &save);
    frame_return(p, frame);
    leave(p);
    return n;
}

/* The part just added. Its address changes when the stack grows. */
static WordPart *last_part(Parser *p) { return (WordPart *)(void *)(p->stack + p->top) - 1; }

static Slice between(const char *start, const char *end) { return slice(start, (size_t)(end - start)); }

static void list_work(Parser *p, void *arg)
{
    Node **n = arg;
    skip_newlines(p);
    *n = peek(p)->kind == TOK_EOF ? NULL : parse_list(p);
    if (peek(p)->kind != TOK_EOF)
        fail_token(p);
}

void read_backquoted(Builder *b, bool quoted)
{
    Parser *p = b->p;
    WordPart part = {.kind = PART_COMMAND, .quoted = quoted, .backquote = true};
    uint32_t line = line_of(p, p->at);
    p->at++;
    part.command.source = read_backquote(p, quoted && b->mode != MODE_TEXT);
    part.command.line = line;
    add_part(b, part); /* before what is nested uses the stack */
    Node *body = NULL;
    enter(p);
    if (parse_apart(p, part.command.source, line, list_work, &body, true))
        last_part(p)->command.body = body;
    leave(p);
}

static void read_command(Builder *b, bool quoted, const char *opened)
{
    Parser *p = b->p;
    const char *start = p->at + 2, *outer = p->arith_opened, *outermost = p->comsub_open;
    p->comsub_open = outermost ? outermost : start;
    WordPart part = {.kind = PART_COMMAND, .quoted = quoted};
    part.command.line = line_of(p, start);
    add_part(b, part);
    p->at = start;
    p->arith_opened = opened;
    Node *body = read_command_list(p, opened);
    p->arith_opened = outer;
    p->comsub_open = outermost;
    WordPart *made = last_part(p);
    made->command.body = body;
    made->command.source = between(start, p->at - 1);
}

void read_process(Builder *b)
{
    Parser *p = b->p;
    const char *start = p->at + 2;
    WordPart part = {.kind = PART_PROCESS, .direction = *p->at};
    part.command.line = line_of(p, start);
    add_part(b, part);
    p->at = start;
    Node *body = read_command_list(p, NULL);
    WordPart *made = last_part(p);
    made->command.body = body;
    made->command.source = between(start, p->at - 1);
}

/* Arithmetic whose end is known: whatever its parts make of the closing characters, it ends there. */
static void read_arith(Builder *b, bool quoted, const char *start, const char *end, size_t closing, char stop)
{
    Parser *p = b->p;
    WordPart part = {.kind = PART_ARITH, .quoted = quoted, .backquote = stop == ']'};
    add_part(b, part);
    const char *outer = p->limit;
    p->at = start;
    p->limit = end;
    Word *text = read_parts(p, MODE_ARITH, READ_QUOTED, stop);
    p->limit = outer;
    p->at = end + closing;
    WordPart *made = last_part(p);
    made->arith.text = text;
    made->arith.code = arith_compile(p->mem, text);
}

/* $name: the same Param for every place that names it. */
static Param *named_param(Parser *p, const char *s, const char *e)
{
    Slice text = between(s, e);
    uint64_t hash = hash_bytes(text);
    Param **slot = p->cache ? &p->cache->params[hash % ARRAY_LEN(p->cache->params)] : NULL;
    if (slot && *slot && slice_eq((*slot)->name.text, text))
        return *slot;
    Param *param = GET(p, Param);
    param->var = VAR_NAMED;
    param->name = (Name){keep(p, text), hash};
    param->source = between(s - 1, e);
    if (slot)
        *slot = param;
    return param;
}

static void read_name(Builder *b, bool quoted, const char *s)
{
    Parser *p = b->p;
    const char *e = name_end(s);
    if (e > s) {
        p->at = e;
        add_part(b, (WordPart){.kind = PART_PARAM, .quoted = quoted, .param = named_param(p, s, e)});
        return;
    }
    Param *param = GET(p, Param);
    e = s + 1;
    switch (*s) {
    case '@': param->var = VAR_AT; break;
    case '*': param->var = VAR_STAR; break;
    case '#': param->var = VAR_COUNT; break;
    case '?': param->var = VAR_STATUS; break;
    case '-': param->var = VAR_FLAGS; break;
    case '$': param->var = VAR_PID; break;
    case '!': param->var = VAR_LAST_JOB; break;
    case '0': param->var = VAR_ZERO; break;
    default:
        param->var = VAR_POSITIONAL;
        param->number = (uint32_t)(*s - '0');
    }
    param->source = between(s - 1, e);
    p->at = e;
    add_part(b, (WordPart){.kind = PART_PARAM, .quoted = quoted, .param = param});
}

/* $(( that is no arithmetic: bash looks at the text only when it runs it. */
static void read_late(Builder *b, bool quoted, const char *start, const char *end)
{
    Parser *p = b->p;
    WordPart part = {.kind = PART_COMMAND, .quoted = quoted};
    part.command.line = line_of(p, start);
    part.command.source = keep(p, between(start, end));
    add_part(b, part);
    Node *body = NULL;
    enter(p);
    if (parse_apart(p, part.command.source, part.command.line, list_work, &body, true))
        last_part(p)->command.body = body;
    leave(p);
    p->at = end + 1;
}

static bool read_dollar_paren(Builder *b, bool quoted)
{
    Parser *p = b->p;
    const char *s = p->at;
    if (s[2] == '(') {
        const char *end = skip_parens(s + 3, '(', ')');
        if (end && end[1] == ')') {
            read_arith(b, quoted, s + 3, end, 2, ')');
            return true;
        }
        if (!end) {
            need_more(p);
            fail_parens(p, s, s + 3, quoted ? "\"" : ")");
        }
    }
    const char *end = s[2] == '(' ? skip_parens(s + 2, '(', ')') : NULL;
    if (s[2] == '(' && !end) {
        need_more(p);
        fail_parens(p, s, s + 3, ")");
    }
    if (end)
        read_late(b, quoted, s + 2, end);
    else
        read_command(b, quoted, s[2] == '(' ? s : NULL);
    return true;
}

/* A double quote before `end` that no expansion, quote or backslash covers, or NULL. */
static const char *bare_quote(const char *s, const char *end)
{
    while (s < end && *s != '"') {
        const char *past = *s == '`' ? skip_quoted(s) : NULL;
        if (s[0] == '$' && (s[1] == '(' || s[1] == '{')) {
            past = skip_parens(s + 2, s[1], s[1] == '(' ? ')' : '}');
            past = past ? past + 1 : NULL;
        }
        s = past ? past : s + (*s == '\\' ? 2 : 1);
    }
    return s < end ? s : NULL;
}

/* "$["2"]": read as arithmetic, but when it is expanded the string ends at the quote. */
static void read_cut(Builder *b, const char *quote, const char *end)
{
    Param *bad = GET(b->p, Param);
    *bad = (Param){.kind = PARAM_BAD, .braced = true, .op = ']', .source = between(b->start, quote)};
    add_part(b, (WordPart){.kind = PART_PARAM, .quoted = true, .param = bad});
    b->p->at = end;
}

void read_dollar(Builder *b, bool quoted)
{
    Parser *p = b->p;
    const char *s = p->at;
    char c = s[1];
    if (c == '(') {
        read_dollar_paren(b, quoted);
    } else if (c == '{') {
        p->at += 2;
        enter(p);
        add_part(b, (WordPart){.kind = PART_PARAM, .quoted = quoted});
        Param *param = read_braced_param(p, quoted);
        last_part(p)->param = param;
        leave(p);
    } else if (c == '[') {
        const char *end = skip_parens(s + 2, '[', ']');
        if (!end) {
            need_more(p);
            fail_parens(p, s, s + 2, "]");
        }
        const char *quote = b->mode == MODE_DQUOTE && p->in_dquotes == 1 ? bare_quote(s + 2, end) : NULL;
        if (quote)
            read_cut(b, quote, end + 1);
        else
            read_arith(b, quoted, s + 2, end, 1, ']');
    } else if (is(c, CH_NAME | CH_DIGIT) || (c && strchr("@*#?-$!", c))) {
        read_name(b, quoted, s + 1);
    } else if (c == '\'' && (!quoted || b->mode == MODE_BRACE_DQ)) {
        const char *end = s + 2;
        while (*end && *end != '\'')
            end += end[0] == '\\' && end[1] ? 2 : 1;
        if (!*end) {
            need_more(p);
            fail_matching(p, s, "'");
        }
        literal(b, "", 0, true);
        stack_room(p, (size_t)(end - s) * 2);
        size_t n = 0;
        decode_dollar_quote(p, s + 2, end, p->stack + p->top, &n);
        p->top += n;
        p->at = end + 1;
    } else if (c == '"' && !quoted) {
        p->at += 2;
        read_dquotes(b);
    } else {
        literal(b, s, 1, quoted);
        p->at++;
    }
}
