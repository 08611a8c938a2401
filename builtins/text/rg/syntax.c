/* syntax: Rust's regular expressions as PCRE2's: what Rust does not have is refused in its words. */
#include "rg.h"

typedef struct {
    Rg *g;
    Slice in;
    Buf out;
    size_t opened[64], depth;
    size_t groups;
    unsigned operators;
    bool operand; /* something stands before that may be repeated */
} Syntax;

static const char consider[] = "\n\nConsider enabling PCRE2 with the --pcre2 flag, which can handle backreferences\nand look-around.";

static NORETURN void refuse(Syntax *s, size_t at, size_t len, const char *message, const char *more)
{
    Proc *p = s->g->p;
    size_t columns = utf8_count(slice(s->in.data, at));
    output_flush(p->out);
    out_str(p->err, "regex parse error:\n    ");
    out_write(p->err, s->in);
    out_printf(p->err, "\n    %*s", (int)columns, "");
    out_pad(p->err, len, '^');
    out_printf(p->err, "\nerror: %s%s\n", message, more);
    output_flush(p->err);
    proc_fail(p, 2);
}

static NORETURN void refuse_newline(Syntax *s)
{
    output_flush(s->g->p->out);
    out_str(s->g->p->err, "the literal '\"\\n\"' is not allowed in a regex\n\nConsider enabling multiline mode with the --multiline flag (or -U for short).\n"
                          "When multiline mode is enabled, new line characters can be matched.\n");
    output_flush(s->g->p->err);
    proc_fail(s->g->p, 2);
}

static bool is_hex(char c) { return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f'); }
static char at(const Syntax *s, size_t i) { return i < s->in.len ? s->in.data[i] : 0; }

/* \x7F \x{..} \uXXXX \UXXXXXXXX */
static size_t hex(Syntax *s, size_t i)
{
    char kind = at(s, i + 1);
    size_t from = i + 2, digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 8, n = 0;
    bool braces = at(s, from) == '{';
    from += braces;
    while (n < (braces ? 8 : digits) && is_hex(at(s, from + n)))
        n++;
    if (n == 0 || (braces && at(s, from + n) != '}') || (!braces && n < digits))
        refuse(s, i, 2, "invalid hexadecimal digit", "");
    buf_printf(&s->out, "\\x{%.*s}", (int)n, s->in.data + from);
    return from + n + braces;
}

static size_t escape(Syntax *s, size_t i, bool in_class)
{
    char c = at(s, i + 1);
    if (i + 1 >= s->in.len)
        refuse(s, i, 1, "incomplete escape sequence, reached end of pattern prematurely", "");
    if (c >= '0' && c <= '9')
        refuse(s, i, 2, "backreferences are not supported", consider);
    if (c == 'x' || c == 'u' || c == 'U')
        return hex(s, i);
    if (c == 'n' && !s->g->multiline)
        refuse_newline(s);
    if (c == 'v') {
        buf_append(&s->out, SLICE("\\x0b"));
    } else if (strchr(in_class ? "dwsDWSpPatnfr" : "dwsDWSbBAzpPatnfr", c) || strchr("\\.+*?()|[]{}^$#&-~", c)) {
        buf_char(&s->out, '\\');
        buf_char(&s->out, c);
        if ((c | 32) == 'p' && at(s, i + 2) == '{') {
            size_t n = slice_find(slice_from(s->in, i), '}') + 1;
            buf_append(&s->out, slice(s->in.data + i + 2, MIN(i + n, s->in.len) - i - 2));
            return MIN(i + n, s->in.len);
        }
    } else {
        refuse(s, i, 2, "unrecognized escape sequence", "");
    }
    return i + 2;
}

/* ---- classes ---- */

enum { CLASS_DEPTH = 20, CLASS_OPERATORS = 12 /* ~~ writes its operands twice */ };

static size_t class(Syntax *s, size_t start, unsigned depth);

static char set_operator(const Syntax *s, size_t i)
{
    char c = at(s, i);
    return (c == '&' || c == '~' || c == '-') && at(s, i + 1) == c ? c : 0;
}

/* What stands beside each other, up to an operator or the class's end: its members in brackets, and classes inside of it as alternatives
 * of these. `first`: a ] is a member. */
static size_t class_union(Syntax *s, size_t start, size_t i, unsigned depth, bool first)
{
    Buf whole = s->out, others;
    buf_init(&s->out, &s->g->p->mem, BUF_MAX);
    buf_init(&others, &s->g->p->mem, BUF_MAX);
    for (;; first = false) {
        char c = at(s, i);
        if (i >= s->in.len)
            refuse(s, start, at(s, start + 1) == ']' ? 2 : 1, "unclosed character class", "");
        if ((c == ']' || set_operator(s, i)) && !first)
            break;
        if (c == '\\') {
            i = escape(s, i, true);
        } else if (c == '[' && at(s, i + 1) == ':') {
            size_t end = slice_search(slice_from(s->in, i), SLICE(":]"));
            if (end == SIZE_MAX)
                refuse(s, start, 1, "unclosed character class", "");
            buf_append(&s->out, slice(s->in.data + i, end + 2));
            i += end + 2;
        } else if (c == '[') {
            Buf members = s->out;
            s->out = others;
            if (others.len)
                buf_char(&s->out, '|');
            i = class(s, i, depth + 1);
            others = s->out;
            s->out = members;
        } else {
            if (c == ']')
                buf_char(&s->out, '\\');
            buf_char(&s->out, c);
            i++;
        }
    }
    Buf members = s->out;
    s->out = whole;
    if (others.len)
        buf_append(&s->out, SLICE("(?:"));
    if (members.len) {
        buf_char(&s->out, '[');
        buf_append(&s->out, buf_slice(&members));
        buf_append(&s->out, others.len ? SLICE("]|") : SLICE("]"));
    } else if (!others.len) {
        buf_append(&s->out, SLICE("(?!)"));
    }
    if (others.len) {
        buf_append(&s->out, buf_slice(&others));
        buf_char(&s->out, ')');
    }
    return i;
}

/* `set` and the operator's right side become one expression for a character. */
static void combine(Buf *set, char op, Slice right, Mem *mem)
{
    Buf out;
    buf_init(&out, mem, BUF_MAX);
    Slice left = buf_slice(set);
    buf_append(&out, op == '&' ? SLICE("(?:(?=") : SLICE("(?:(?!"));
    buf_append(&out, right);
    buf_char(&out, ')');
    buf_append(&out, left);
    if (op == '~') {
        buf_append(&out, SLICE("|(?!"));
        buf_append(&out, left);
        buf_char(&out, ')');
        buf_append(&out, right);
    }
    buf_char(&out, ')');
    *set = out;
}

/* A class: sets with && -- ~~ between them, from left to right. */
static size_t class(Syntax *s, size_t start, unsigned depth)
{
    if (depth > CLASS_DEPTH)
        refuse(s, start, 1, "character classes are nested too deeply", "");
    Mem *mem = &s->g->p->mem;
    Buf whole = s->out, set;
    bool negated = at(s, start + 1) == '^';
    buf_init(&s->out, mem, BUF_MAX);
    size_t i = class_union(s, start, start + 1 + negated, depth, true);
    set = s->out;
    for (char op; (op = set_operator(s, i)) != 0;) {
        if (++s->operators > CLASS_OPERATORS)
            refuse(s, i, 2, "too many class set operations", "");
        buf_init(&s->out, mem, BUF_MAX);
        i = class_union(s, start, i + 2, depth, false);
        combine(&set, op, buf_slice(&s->out), mem);
    }
    s->out = whole;
    Slice text = buf_slice(&set);
    bool compound = text.data[0] != '[';
    if (negated)
        buf_append(&s->out, compound ? SLICE("(?:(?!") : SLICE("[^"));
    buf_append(&s->out, negated && !compound ? slice_from(text, 1) : text);
    if (negated && compound)
        buf_append(&s->out, SLICE(")[\\s\\S])"));
    return i + 1;
}

/* ---- groups ---- */

static NORETURN void refuse_twice(Syntax *s, const RgName *before, size_t here, size_t len)
{
    Proc *p = s->g->p;
    int first = (int)utf8_count(slice(s->in.data, before->at)), second = (int)utf8_count(slice(s->in.data, here));
    output_flush(p->out);
    out_str(p->err, "regex parse error:\n    ");
    out_write(p->err, s->in);
    out_printf(p->err, "\n    %*s", first, "");
    out_pad(p->err, len, '^');
    out_printf(p->err, "%*s", second - first - (int)len, "");
    out_pad(p->err, len, '^');
    out_str(p->err, "\nerror: duplicate capture group name\n");
    output_flush(p->err);
    proc_fail(p, 2);
}

/* (?P<name>: the name is kept here, because PCRE2's may not hold all that Rust's may. Returns where the group's inside begins. */
static size_t named_group(Syntax *s, size_t i)
{
    Rg *g = s->g;
    size_t from = i + 4, end = from;
    for (; end < s->in.len && s->in.data[end] != '>'; end++) {
        char c = s->in.data[end];
        bool letter = c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z'), other = (c >= '0' && c <= '9') || c == '.' || c == '[' || c == ']';
        if (!letter && !(other && end > from))
            refuse(s, end, 1, "invalid capture group character", "");
    }
    if (end >= s->in.len)
        refuse(s, end, 1, "unclosed capture group name", "");
    if (end == from)
        refuse(s, end, 1, "empty capture group name", "");
    Slice name = slice(s->in.data + from, end - from);
    for (const RgName *n = g->names; n; n = n->next)
        if (slice_eq(n->name, name))
            refuse_twice(s, n, from, name.len);
    RgName *n = mem_new(&g->p->keep, RgName);
    *n = (RgName){name, s->groups, from, g->names};
    g->names = n;
    return end + 1;
}

static size_t group(Syntax *s, size_t i)
{
    if (s->depth == ARRAY_LEN(s->opened))
        refuse(s, i, 1, "exceed the maximum number of nested parentheses/brackets (64)", "");
    if (at(s, i + 1) == '?') {
        char c = at(s, i + 2), d = at(s, i + 3);
        if (c == '=' || c == '!')
            refuse(s, i, 3, "look-around, including look-ahead and look-behind, is not supported", consider);
        if (c == '<' && (d == '=' || d == '!'))
            refuse(s, i, 4, "look-around, including look-ahead and look-behind, is not supported", consider);
    }
    s->opened[s->depth++] = i;
    s->operand = false;
    buf_char(&s->out, '(');
    bool named = at(s, i + 1) == '?' && at(s, i + 2) == 'P' && at(s, i + 3) == '<';
    s->groups += at(s, i + 1) != '?' || named;
    if (at(s, i + 1) != '?')
        return i + 1;
    if (named)
        return named_group(s, i);
    size_t end = i + 1;
    for (; end < s->in.len && s->in.data[end] != ':' && s->in.data[end] != ')'; end++) {
        if (end > i + 1 && !strchr("imsUux-", s->in.data[end]))
            refuse(s, end, 1, "unrecognized flag", "");
        if (s->in.data[end] != 'u')
            buf_char(&s->out, s->in.data[end]);
    }
    if (at(s, end) == ':')
        buf_char(&s->out, ':'), end++;
    return end;
}

static size_t counted(Syntax *s, size_t i)
{
    size_t end = i + 1, close = i + slice_find(slice_from(s->in, i), '}');
    if (!s->operand)
        refuse(s, i, 1, "repetition operator missing expression", "");
    if (close >= s->in.len)
        refuse(s, i, s->in.len - i, "unclosed counted repetition", "");
    if (at(s, end) < '0' || at(s, end) > '9')
        refuse(s, end, 1, "repetition quantifier expects a valid decimal", "");
    buf_append(&s->out, slice(s->in.data + i, close + 1 - i));
    return close + 1;
}

static void translate(Syntax *s)
{
    for (size_t i = 0; i < s->in.len;) {
        char c = s->in.data[i];
        switch (c) {
        case '\\':
            i = escape(s, i, false);
            s->operand = true;
            continue;
        case '[':
            i = class(s, i, 0);
            s->operand = true;
            continue;
        case '(': i = group(s, i); continue;
        case '{': i = counted(s, i); continue;
        case ')':
            if (s->depth == 0)
                refuse(s, i, 1, "unopened group", "");
            s->depth--;
            s->operand = true;
            break;
        case '*':
        case '+':
        case '?':
            if (!s->operand)
                refuse(s, i, 1, "repetition operator missing expression", "");
            break;
        case '|': s->operand = false; break;
        case '\n':
            if (!s->g->multiline)
                refuse_newline(s);
            break;
        default: s->operand = true; break;
        }
        buf_char(&s->out, c);
        i++;
    }
    if (s->depth)
        refuse(s, s->opened[s->depth - 1], 1, "unclosed group", "");
}

static void quote_literal(Buf *out, Slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr("\\.+*?()|[]{}^$#-", text.data[i]) && text.data[i])
            buf_char(out, '\\');
        buf_char(out, text.data[i]);
    }
}

/* Smart case: no upper case letter but in escapes. */
static bool lower_only(Slice s, bool fixed)
{
    bool letter = false;
    for (size_t i = 0; i < s.len;) {
        size_t n;
        uint32_t c = utf8_decode(s.data + i, s.len - i, &n);
        if (c == '\\' && !fixed) {
            i += 2;
            continue;
        }
        if (c != UTF8_BAD && class_has(CLASS_UPPER, c))
            return false;
        letter |= c != UTF8_BAD && class_has(CLASS_ALNUM, c);
        i += n;
    }
    return letter;
}

static bool plain(Slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (strchr("\\.+*?()|[]{}^$\n", s.data[i]))
            return false;
    return s.len > 0;
}

static void release(Proc *p, void *re)
{
    (void)p;
    re_unref(re);
}

/* All of them are one expression, which is how errors show it. */
static void translate_joined(Rg *g, const Slice *patterns, size_t count, Buf *out)
{
    Syntax s = {.g = g};
    Buf all;
    buf_init(&all, &g->p->keep, BUF_MAX);
    buf_append(&all, SLICE(""));
    for (size_t i = 0; i < count; i++) {
        buf_append(&all, slice_str(i ? "|" : ""));
        buf_append(&all, patterns[i]);
    }
    s.in = all.data ? buf_slice(&all) : SLICE("");
    buf_init(&s.out, &g->p->keep, BUF_MAX);
    translate(&s);
    if (s.out.len)
        buf_append(out, buf_slice(&s.out));
}

void rg_compile(Rg *g, Slice *patterns, size_t count, bool fixed, bool whole_word, bool whole_line, int fold)
{
    Mem *keep = &g->p->keep;
    Buf text;
    bool lower = true, literal = !whole_word && !whole_line && !g->invert;
    buf_init(&text, keep, BUF_MAX);
    buf_append(&text, slice_str(g->no_unicode ? "" : "(*UCP)"));
    buf_append(&text, slice_str(whole_line ? "^(?:" : whole_word ? "(?<!\\w)(?:" : g->dotall ? "(?s:" : "(?:"));
    for (size_t i = 0; i < count; i++) {
        lower &= lower_only(patterns[i], fixed);
        literal &= (fixed && patterns[i].len) || (!g->pcre && plain(patterns[i]));
        buf_append(&text, slice_str(!i || (!fixed && !g->pcre) ? "" : "|"));
        buf_append(&text, slice_str(count > 1 && g->pcre ? "(?:" : ""));
        if (fixed)
            quote_literal(&text, patterns[i]);
        else if (g->pcre)
            buf_append(&text, patterns[i]);
        buf_append(&text, slice_str(count > 1 && g->pcre ? ")" : ""));
    }
    if (!fixed && !g->pcre)
        translate_joined(g, patterns, count, &text);
    buf_append(&text, slice_str(whole_line ? ")$" : whole_word ? ")(?!\\w)" : ")"));
    unsigned flags = RE_NEWLINE | (fold == 1 || (fold == 2 && lower) ? RE_ICASE : 0) | (g->no_unicode ? RE_BYTES : 0);
    ReError err;
    Slice whole = buf_slice(&text);
    if (literal) {
        g->re = re_compile(kern_budget(g->p->kernel), keep, patterns, count, RE_FIXED, flags, &err);
    } else {
        if (g->pcre && count == 1 && !whole_line && !whole_word && !g->dotall)
            whole = slice_str(mem_printf(keep, "%s%.*s", g->no_unicode ? "" : "(*UCP)", (int)patterns[0].len, patterns[0].data));
        g->re = re_compile(kern_budget(g->p->kernel), keep, &whole, 1, RE_PCRE, flags, &err);
    }
    if (!g->re) {
        size_t shift = g->pcre && !g->no_unicode ? 6 : 0;
        output_flush(g->p->out);
        out_printf(g->p->err, "PCRE2: error compiling pattern at offset %zu: %s\n", err.offset - MIN(err.offset, shift), err.message);
        output_flush(g->p->err);
        proc_fail(g->p, 2);
    }
    proc_own(g->p, release, g->re);
}
