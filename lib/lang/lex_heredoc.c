/* lex_heredoc: here-documents. Their bodies come after the newline that ends the line of their operators. */
#include "parser.h"

void pending_save(Parser *p, PendingSave *save)
{
    *save = (PendingSave){p->pending, p->pending_tail};
    p->pending = NULL;
    p->pending_tail = &p->pending;
}

/* What is left of the inner list is read with the outer one's, at the next newline, as bash does. */
void pending_restore(Parser *p, const PendingSave *save)
{
    Pending *left = p->pending, **tail = p->pending_tail;
    p->pending = save->first;
    p->pending_tail = save->first ? save->tail : &p->pending;
    if (left) {
        *p->pending_tail = left;
        p->pending_tail = tail;
    }
}

/* The delimiter is the word with its quotes removed; nothing in it is expanded. */
static Slice delimiter_text(Parser *p, const char *s, const char *end, bool *quoted)
{
    char *out = get(p, (size_t)(end - s) + 1);
    size_t n = 0;
    char quote = 0;
    for (; s < end; s++) {
        if (quote ? *s == quote : *s == '\'' || *s == '"') {
            quote = quote ? 0 : *s;
            *quoted = true;
        } else if (*s == '\\' && quote != '\'' && s + 1 < end && (!quote || strchr("$`\"\\\n", s[1]))) {
            s++;
            *quoted |= *s != '\n';
            if (*s != '\n')
                out[n++] = *s;
        } else if (*s == '$' && !quote && s + 1 < end && (s[1] == '\'' || s[1] == '"')) {
            *quoted = true;
        } else {
            out[n++] = *s;
        }
    }
    out[n] = 0;
    return slice(out, n);
}

void heredoc_add(Parser *p, Redir *r, const char *word_start, const char *word_end)
{
    r->delimiter = delimiter_text(p, word_start, word_end, &r->quoted_delimiter);
    Pending *d = GET(p, Pending);
    d->redir = r;
    *p->pending_tail = d;
    p->pending_tail = &d->next;
}

/* The end of the line at s: its newline, or the end of the text. */
static const char *line_end(Parser *p, const char *s)
{
    return memchr(s, '\n', (size_t)(p->frame->end - s)) ?: p->frame->end;
}

/* Appends one line and what it continues to the body being built on the stack; where the next line starts. A backslash before
 * the newline joins lines where the body is expanded, and before the delimiter is looked for. */
static void add_line(Parser *p, const char *s, const char *end)
{
    stack_room(p, (size_t)(end - s) + 1);
    memcpy(p->stack + p->top, s, (size_t)(end - s));
    p->top += (size_t)(end - s);
}

static bool continues(const char *s, const char *end)
{
    size_t n = 0;
    while (end > s && end[-1] == '\\') {
        n++;
        end--;
    }
    return n & 1;
}

static bool is_delimiter(const Redir *r, const char *s, size_t n)
{
    return n == r->delimiter.len && memcmp(s, r->delimiter.data, n) == 0;
}

/* In $( ) a delimiter may be followed by the closing parenthesis: it counts as the end of the text. */
static bool ends_substitution(const Redir *r, const char *s, size_t n)
{
    return n > r->delimiter.len && s[r->delimiter.len] == ')' && is_delimiter(r, s, r->delimiter.len);
}

/* The raw lines of one body onto the stack; *s moves behind the delimiter's line. False when it is missing. */
static bool collect(Parser *p, const Redir *r, const char **at)
{
    const char *s = *at;
    for (;;) {
        if (!*s) {
            need_more(p);
            *at = s;
            return false;
        }
        size_t line = p->top;
        bool joined = false;
        for (;;) {
            while (r->strip_tabs && *s == '\t')
                s++;
            const char *end = line_end(p, s);
            bool more = !r->quoted_delimiter && *end && continues(s, end);
            add_line(p, s, more ? end - 1 : end);
            s = *end ? end + 1 : end;
            if (!more && p->substitutions && !joined && ends_substitution(r, p->stack + line, p->top - line)) {
                *at = end - (p->top - line - r->delimiter.len);
                p->top = line;
                return false;
            }
            if (!more)
                break;
            joined = true;
        }
        if (is_delimiter(r, p->stack + line, p->top - line)) {
            p->top = line;
            *at = s;
            return true;
        }
        stack_room(p, 1);
        p->stack[p->top++] = '\n';
    }
}

static void body_work(Parser *p, void *arg)
{
    Word **w = arg;
    *w = read_parts(p, MODE_TEXT, READ_QUOTED, 0);
}

static void comsub_work(Parser *p, void *arg)
{
    (void)arg;
    read_command_list(p, NULL);
}

/* Whether ${ at s goes on with a parameter and an operator: then only its end is missing. */
static bool has_operator(const char *s)
{
    s += 2;
    if (*s == '!' || *s == '#')
        s++;
    const char *e = name_end(s);
    while (e == s && is(*e, CH_DIGIT))
        s = ++e;
    if (e == s && *e && strchr("@*#?-$!", *e) && e[1])
        e++;
    const char *close = *e == '[' ? skip_parens(e + 1, '[', ']') : NULL;
    e = close ? close + 1 : e;
    return *e && strchr(":-=?+#%/^,~@", *e);
}

/* The expansion that cannot be read: PARAM_BAD, which says so when its turn comes. */
static Param *bad_expansion(Parser *p, const Redir *r, Slice text, const char *open, const char *comsub)
{
    Param *bad = GET(p, Param);
    Slice rest = slice(open, (size_t)(text.data + text.len - open));
    *bad = (Param){.kind = PARAM_BAD, .braced = true, .source = text};
    if (comsub) {
        uint32_t warned = p->nwarnings;
        parse_apart(p, slice(comsub, (size_t)(text.data + text.len - comsub)), r->line + 1, comsub_work, NULL, true);
        p->nwarnings = warned; /* said before */
        bad->op = BAD_COMMAND;
        bad->name.text = slice_str(p->failed.message ? p->failed.message : "");
        bad->source = slice_str(p->failed.second ? p->failed.second : "");
    } else if (*open == '`') {
        bad->op = '`';
        bad->source = rest;
    } else if (open[1] == '{' && !has_operator(open)) {
        bad->source = rest;
    } else {
        bad->op = open[1] == '{' ? '}' : open[1] == '[' ? ']' : ')';
    }
    return bad;
}

/* A body in which an expansion is not closed: what stands before it is expanded all the same. */
static Word *broken_body(Parser *p, const Redir *r, Slice text, uint32_t line)
{
    const char *open = p->text_open, *comsub = p->comsub_open;
    p->text_open = p->comsub_open = NULL;
    if (!open || open < text.data || open >= text.data + text.len)
        return NULL;
    Word *before = NULL;
    Slice head = keep(p, slice(text.data, (size_t)(open - text.data)));
    Param *bad = bad_expansion(p, r, text, open, comsub);
    if (!parse_apart(p, head, line, body_work, &before, true))
        return NULL;
    Word *w = GET(p, Word);
    w->parts = get(p, (before->count + 1) * sizeof *w->parts);
    if (before->count)
        memcpy(w->parts, before->parts, before->count * sizeof *w->parts);
    w->parts[before->count] = (WordPart){.kind = PART_PARAM, .quoted = true, .param = bad};
    w->count = before->count + 1;
    w->flags = WORD_QUOTED;
    return w;
}

static Word *body_word(Parser *p, const Redir *r, Slice text, uint32_t line)
{
    Word *w = NULL;
    const char *outer_text = p->text_open, *outer_comsub = p->comsub_open;
    p->text_open = p->comsub_open = NULL;
    if (!r->quoted_delimiter && (memchr(text.data, '$', text.len) || memchr(text.data, '`', text.len) || memchr(text.data, '\\', text.len))) {
        if (!parse_apart(p, text, line, body_work, &w, true))
            w = broken_body(p, r, text, line);
        else if (w)
            name_bad(w, text);
    }
    p->text_open = outer_text;
    p->comsub_open = outer_comsub;
    if (!w)
        w = word_of_text(p, text);
    w->source = text;
    return w;
}

static uint32_t end_line(Parser *p, const char *s)
{
    return line_of(p, s) - (s > p->frame->start && s[-1] == '\n');
}

static void read_body(Parser *p, Redir *r, const char **s)
{
    size_t base = p->top;
    uint32_t line = line_of(p, *s);
    uint32_t opened = *s > p->frame->start ? line - 1 : line;
    if (!collect(p, r, s))
        warn_parse(p, "line %u: warning: here-document at line %u delimited by end-of-file (wanted `%s')", end_line(p, *s),
                   MAX(opened, r->line), r->delimiter.data);
    Slice text = keep(p, slice(p->stack + base, p->top - base));
    p->top = base;
    r->word = body_word(p, r, text, line);
}

const char *heredoc_read(Parser *p, const char *s)
{
    if (!*s && p->frame->parent)
        longjmp(*p->guard, JUMP_AGAIN);
    while (p->pending) {
        Redir *r = p->pending->redir;
        p->pending = p->pending->next;
        if (!p->pending)
            p->pending_tail = &p->pending;
        read_body(p, r, &s);
    }
    return s;
}
