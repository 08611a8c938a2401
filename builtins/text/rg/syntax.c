/* syntax: Rust's regular expressions as PCRE2's: what Rust does not have is refused in its words. */
#include "rg.h"

typedef struct {
    Rg *g;
    Slice in;
    Buf out;
    size_t opened[64], depth;
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

/* A class, nested ones being part of it; intersections and differences by looking ahead. */
static size_t class(Syntax *s, size_t start, unsigned depth)
{
    size_t i = start + 1;
    if (depth > 20)
        refuse(s, start, 1, "character classes are nested too deeply", "");
    Buf *o = &s->out;
    if (depth == 0)
        buf_char(o, '[');
    if (at(s, i) == '^') {
        if (depth)
            refuse(s, start, 1, "a negated class inside a class is not supported", "");
        buf_char(o, '^');
        i++;
    }
    for (bool first = true;; first = false) {
        char c = at(s, i);
        if (i >= s->in.len)
            refuse(s, start, at(s, start + 1) == ']' ? 2 : 1, "unclosed character class", "");
        if (c == ']' && !first)
            break;
        if ((c == '&' && at(s, i + 1) == '&') || (c == '~' && at(s, i + 1) == '~') || (!first && c == '-' && at(s, i + 1) == '-'))
            refuse(s, i, 2, "class set operations are not supported", "");
        if (c == '\\') {
            i = escape(s, i, true);
        } else if (c == '[' && at(s, i + 1) == ':') {
            size_t end = slice_search(slice_from(s->in, i), SLICE(":]"));
            if (end == SIZE_MAX)
                refuse(s, start, 1, "unclosed character class", "");
            buf_append(o, slice(s->in.data + i, end + 2));
            i += end + 2;
        } else if (c == '[') {
            i = class(s, i, depth + 1);
        } else {
            if (c == ']')
                buf_char(o, '\\');
            buf_char(o, c);
            i++;
        }
    }
    if (depth == 0)
        buf_char(o, ']');
    return i + 1;
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
    if (at(s, i + 1) != '?')
        return i + 1;
    size_t end = i + 1;
    if (at(s, i + 2) == 'P' || at(s, i + 2) == '<') {
        end += slice_find(slice_from(s->in, end), '>') + 1;
        buf_append(&s->out, slice(s->in.data + i + 1, MIN(end, s->in.len) - i - 1));
        return MIN(end, s->in.len);
    }
    for (; end < s->in.len && s->in.data[end] != ':' && s->in.data[end] != ')'; end++)
        if (s->in.data[end] != 'u')
            buf_char(&s->out, s->in.data[end]);
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

void rg_compile(Rg *g, Slice *patterns, size_t count, bool fixed, bool whole_word, bool whole_line, int fold)
{
    Mem *keep = &g->p->keep;
    Buf text;
    bool lower = true, literal = !whole_word && !whole_line && !g->invert;
    buf_init(&text, keep, BUF_MAX);
    buf_append(&text, slice_str(g->no_unicode ? "" : "(*UCP)"));
    buf_append(&text, slice_str(whole_line ? "^(?:" : whole_word ? "(?<!\\w)(?:" : g->dotall ? "(?s:" : "(?:"));
    for (size_t i = 0; i < count; i++) {
        Syntax s = {.g = g, .in = patterns[i]};
        buf_init(&s.out, keep, BUF_MAX);
        lower &= lower_only(patterns[i], fixed);
        literal &= (fixed && patterns[i].len) || (!g->pcre && plain(patterns[i]));
        if (fixed) {
            quote_literal(&s.out, patterns[i]);
        } else if (g->pcre) {
            buf_append(&s.out, patterns[i]);
        } else {
            translate(&s);
        }
        buf_append(&text, slice_str(count > 1 ? (i ? "|(?:" : "(?:") : ""));
        if (s.out.len)
            buf_append(&text, buf_slice(&s.out));
        buf_append(&text, slice_str(count > 1 ? ")" : ""));
    }
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
