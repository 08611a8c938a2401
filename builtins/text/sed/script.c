/* sed's parser: the joined script to an array of commands, in GNU sed's order of decisions and with its messages. */
#include "sed.h"

#include <stdarg.h>

typedef struct {
    Sed *s;
    size_t at;
    size_t blocks[64];  /* open braces: indexes of commands */
    unsigned depth;
} Parser;

enum { END = -1 };

/* ---------- messages ---------- */

/* Where `at` lies: "-e expression #1, char 5" or "file F line 2". */
NORETURN void sed_bad(Sed *s, size_t at, const char *format, ...)
{
    char text[300];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const ScriptPart *part = s->parts;
    const ScriptPart *last = s->parts + s->part_count - 1;
    size_t place = at == SIZE_MAX ? s->script.len : at;
    while (part < last && (at == SIZE_MAX || (part[1].start < place && part[0].end < place)))
        part++;
    if (!part->name)
        die(s->p, 1, "-e expression #%d, char %zu: %s", part->number, at == SIZE_MAX || s->unplaced ? 0 : MIN(place, part->end) - part->start, text);
    size_t line = 1;
    for (size_t i = part->start; i + 1 < place; i++)
        line += s->script.data[i] == '\n';
    die(s->p, 1, "file %s line %zu: %s", part->name, line, text);
}

#define BAD(p, ...) sed_bad((p)->s, MIN((p)->at, (p)->s->script.len), __VA_ARGS__)

/* ---------- characters ---------- */

static int next(Parser *p) { return p->at < p->s->script.len ? (unsigned char)p->s->script.data[p->at++] : (p->at = p->s->script.len + 1, END); }

/* The newline just read only joins two -e: where one is asked for its end, it ended. */
static bool at_joint(const Parser *p)
{
    for (size_t i = 0; i + 1 < p->s->part_count; i++)
        if (p->s->parts[i].end + 1 == p->at)
            return true;
    return false;
}

static void back(Parser *p) { p->at -= p->at > 0; }

static bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static int next_nonblank(Parser *p)
{
    int c;
    while ((c = next(p)) == ' ' || c == '\t')
        ;
    return c;
}

static uint64_t integer(Parser *p, int c)
{
    uint64_t n = 0;
    for (; is_digit(c); c = next(p))
        if (n < UINT64_MAX / 100)
            n = n * 10 + (uint64_t)(c - '0');
    back(p);
    return n;
}

static void end_of_command(Parser *p)
{
    int c = next_nonblank(p);
    if (c == '}' || c == '#')
        back(p);
    else if (c != END && c != '\n' && c != ';')
        BAD(p, "extra characters after command");
}

/* ---------- delimited texts ---------- */

/* Copies a bracket expression behind its '['; false when it is not closed on the line. What is inside of [. .], [: :] and [= =] closes
 * nothing; a backslash is an ordinary character, but before n. */
static bool match_bracket(Parser *p, Buf *out)
{
    enum { OUTSIDE, OPENED, INSIDE, CLOSING } state = OUTSIDE; /* of a class or an element */
    int delimiter = 0, c = next(p);
    if (c == '^') {
        buf_char(out, '^');
        c = next(p);
    }
    if (c == ']') {
        buf_char(out, ']');
        c = next(p);
    }
    for (; c != END && c != '\n'; c = next(p)) {
        buf_char(out, (char)c);
        bool mark = c == '.' || c == ':' || c == '=';
        if (c == ']' && (state == OUTSIDE || state == OPENED))
            return true;
        if (mark && state == OPENED) {
            delimiter = c;
            state = INSIDE;
        } else if (mark && state == INSIDE && c == delimiter) {
            state = CLOSING;
        } else if (c == '[' && state == OUTSIDE) {
            state = OPENED;
        } else if (c == ']' && state == CLOSING) {
            state = OUTSIDE;
        } else if (c != '[') {
            state = state == CLOSING ? INSIDE : state == OPENED ? OUTSIDE : state;
        }
    }
    back(p);
    return false;
}

/* Up to the delimiter; false when it does not come. In a regular expression \n is a newline and brackets hide the delimiter. */
static bool match_slash(Parser *p, int delimiter, bool regex, Slice *out)
{
    Buf text;
    buf_init(&text, &p->s->p->keep, BUF_MAX);
    buf_reserve(&text, 1);
    int c;
    while ((c = next(p)) != END && (c != '\n' || !regex)) {
        if (c == delimiter)
            break;
        if (c == '\n')
            break;
        if (c == '\\') {
            c = next(p);
            if (c == END || (c == '\n' && at_joint(p)))
                break;
            if (c == 'n' && regex && delimiter != 'n')
                c = '\n';
            else if (c != '\n' && (c != delimiter || (!regex && c == '&')))
                buf_char(&text, '\\');
            else if (c == '\n' && !regex)
                buf_char(&text, '\\');
        } else if (c == '[' && regex) {
            buf_char(&text, '[');
            if (!match_bracket(p, &text))
                return false;
            continue;
        }
        buf_char(&text, (char)c);
    }
    *out = buf_slice(&text);
    if (c == '\n' && delimiter != '\n')
        back(p);
    return c == delimiter;
}

static Re *compile(Parser *p, Slice text, unsigned flags)
{
    Sed *s = p->s;
    ReError err;
    unsigned all = flags | RE_BYTE_RANGES | (s->utf8 ? 0 : RE_BYTES) | (s->posix ? RE_POSIX : 0);
    Re *re = proc_regex(s->p, sed_unescape(s, text, UNESCAPE_REGEX), s->syntax, all, &err);
    if (!re)
        BAD(p, "%s", err.message);
    return re;
}

/* Whether glibc runs the expression over bytes: it has no character that takes several, no class, and does not ignore case. Its empty
 * matches are then also inside of characters. */
static bool splits_characters(Sed *s, Slice text, unsigned flags)
{
    text = sed_unescape(s, text, UNESCAPE_REGEX);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i], next = i + 1 < text.len ? text.data[i + 1] : 0;
        if ((unsigned char)c >= 0x80 || (c == '\\' && next && strchr("wWsSbB<>", next)))
            return false;
        if (c == '[' && (next == '^' || memchr(text.data + i, '-', text.len - i) || memmem(text.data + i, text.len - i, "[:", 2)))
            return false;
        i += c == '\\';
    }
    return s->utf8 && !(flags & RE_ICASE);
}

static SedRegex regex_of(Parser *p, Slice text, unsigned flags)
{
    unsigned asked = flags;
    if (!p->s->end)
        flags &= ~(unsigned)RE_NEWLINE; /* lines end in NUL bytes then */
    if (!text.len) {
        if (flags)
            BAD(p, "cannot specify modifiers on empty regexp");
        return (SedRegex){NULL, true, false, 0, text};
    }
    return (SedRegex){compile(p, text, flags), true, splits_characters(p->s, text, flags), asked, sed_unescape(p->s, text, UNESCAPE_REGEX)};
}

/* ---------- addresses ---------- */

static void address_regex(Parser *p, int delimiter, Address *a)
{
    Slice text;
    unsigned flags = 0;
    if (!match_slash(p, delimiter, true, &text))
        BAD(p, "unterminated address regex");
    for (;;) {
        int c = next_nonblank(p);
        if (p->s->posix)
            break;
        if (c == 'I')
            flags |= RE_ICASE;
        else if (c == 'M')
            flags |= RE_NEWLINE;
        else
            break;
    }
    back(p);
    a->kind = ADDR_REGEX;
    a->regex = regex_of(p, text, flags);
}

static bool address(Parser *p, int c, Address *a)
{
    if (c == '/' || c == '\\') {
        int delimiter = c == '\\' ? next(p) : c;
        if (delimiter == END)
            BAD(p, "unterminated address regex");
        address_regex(p, delimiter, a);
        return true;
    }
    if (is_digit(c)) {
        a->kind = ADDR_LINE;
        a->n = integer(p, c);
        c = next_nonblank(p);
        if (c != '~' || p->s->posix) {
            back(p);
            return true;
        }
        c = next_nonblank(p);
        a->step = is_digit(c) ? integer(p, c) : (back(p), 0u);
        if (a->step > 0)
            a->kind = ADDR_STEP;
        return true;
    }
    if ((c == '+' || c == '~') && !p->s->posix) {
        a->kind = c == '+' ? ADDR_PLUS : ADDR_MULTIPLE;
        c = next_nonblank(p);
        a->n = is_digit(c) ? integer(p, c) : (back(p), 0u);
        return true;
    }
    if (c == '$') {
        a->kind = ADDR_LAST;
        return true;
    }
    return false;
}

/* The addresses before a command; returns the command's character. */
static int addresses(Parser *p, int c, SedCommand *cmd)
{
    if (address(p, c, &cmd->a1)) {
        if (cmd->a1.kind == ADDR_PLUS || cmd->a1.kind == ADDR_MULTIPLE)
            BAD(p, "invalid usage of +N or ~N as first address");
        c = next_nonblank(p);
        if (c == ',') {
            if (!address(p, next_nonblank(p), &cmd->a2))
                BAD(p, "unexpected `,'");
            c = next_nonblank(p);
        }
        if (cmd->a1.kind == ADDR_LINE && cmd->a1.n == 0) {
            if (cmd->a2.kind != ADDR_REGEX || p->s->posix) {
                back(p);
                p->at += p->at < p->s->script.len;
                BAD(p, "invalid usage of line address 0");
            }
            cmd->active = cmd->closed = true;
        }
    }
    if (c == '!') {
        cmd->negated = true;
        c = next_nonblank(p);
        if (c == '!')
            BAD(p, "multiple `!'s");
    }
    return c;
}

/* ---------- arguments ---------- */

static Slice label(Parser *p)
{
    int c = next_nonblank(p);
    size_t start = p->at - 1;
    while (c != END && !is_space(c) && c != ';' && c != '}')
        c = next(p);
    back(p);
    size_t stop = MIN(p->at, p->s->script.len);
    return slice(p->s->script.data + start, stop > start ? stop - start : 0);
}

static const char *file_name(Parser *p)
{
    if (p->s->sandbox)
        BAD(p, "e/r/w commands disabled in sandbox mode");
    int c = next_nonblank(p);
    size_t start = p->at - 1;
    while (c != END && c != '\n')
        c = next(p);
    size_t stop = MIN(p->at - 1, p->s->script.len);
    if (stop <= start)
        BAD(p, "missing filename in r/R/w/W commands");
    return mem_copy(&p->s->p->keep, slice(p->s->script.data + start, stop - start));
}

/* The text of a, i, c: lines joined by backslash-newline; a backslash before any other character is dropped. */
/* Behind a backslash: under --posix the text does not go on in the next -e. */
static void posix_text_goes_on(Parser *p, int c)
{
    if (!p->s->posix || (c != END && !(c == '\n' && at_joint(p))))
        return;
    if (c != END)
        back(p);
    BAD(p, "incomplete command");
}

static Slice text_argument(Parser *p, char name)
{
    int c = next_nonblank(p);
    bool bare = false; /* "a\\" is the script's end */
    if (c == END || (c == '\n' && at_joint(p))) {
        back(p);
        BAD(p, "expected \\ after `a', `c' or `i'");
    }
    if (c == '\\') {
        size_t mark = p->at;
        c = next_nonblank(p);
        bare = c == END;
        posix_text_goes_on(p, c);
        if (c != '\n')
            p->at = mark;
    } else {
        if (p->s->posix)
            BAD(p, "expected \\ after `a', `c' or `i'");
        back(p);
    }
    size_t start = p->at, stop;
    for (; (c = next(p)) != END && c != '\n';)
        if (c == '\\') {
            c = next(p);
            posix_text_goes_on(p, c);
            if (c == END)
                break;
        }
    stop = MIN(c == END ? p->s->script.len : p->at - 1, p->s->script.len);
    Slice raw = start < stop ? slice(p->s->script.data + start, stop - start) : slice("", 0);
    Slice text = sed_unescape(p->s, raw, UNESCAPE_TEXT);
    Buf out;
    buf_init(&out, &p->s->p->keep, BUF_MAX);
    buf_reserve(&out, text.len + 1);
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\\' && i + 1 < text.len)
            i++;
        else if (text.data[i] == '\\')
            break;
        buf_char(&out, text.data[i]);
    }
    if (!bare || raw.len)
        buf_char(&out, name == 'a' ? '\n' : p->s->end); /* under -z too */
    return buf_slice(&out);
}

/* ---------- s ---------- */

typedef struct { ReplacePart *at; size_t count, cap; } Parts;

static void part_add(Parser *p, Parts *l, ReplacePart part)
{
    if (l->count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 4;
        l->at = mem_grow(&p->s->p->keep, l->at, l->cap * sizeof *l->at, cap * sizeof *l->at);
        l->cap = cap;
    }
    l->at[l->count++] = part;
}

/* A change of case: \U and \L until \E, \u and \l for what begins the next part. GNU closes a part at every backslash, so that \u\L
 * has lost its \u when \L comes. */
static bool case_change(char c, CaseMode *mode, CaseMode *first)
{
    switch (c) {
    case 'U': *mode = CASE_UPPER; return true;
    case 'L': *mode = CASE_LOWER; return true;
    case 'E': *mode = CASE_KEEP; return true;
    case 'u': *first = CASE_UPPER; return true;
    case 'l': *first = CASE_LOWER; return true;
    default: return false;
    }
}

/* Literal parts that nothing tells apart become one. */
static void join_parts(Substitution *sub)
{
    size_t kept = 0;
    for (size_t i = 0; i < sub->count; i++) {
        ReplacePart *last = kept ? &sub->parts[kept - 1] : NULL;
        if (last && last->group < 0)
            *last = (ReplacePart){slice(last->text.data, last->text.len + sub->parts[i].text.len), sub->parts[i].group, CASE_KEEP, CASE_KEEP};
        else
            sub->parts[kept++] = sub->parts[i];
    }
    sub->count = kept;
}

static void replacement(Parser *p, Slice text, Substitution *sub)
{
    Parts parts = {NULL, 0, 0};
    Buf literal;
    buf_init(&literal, &p->s->p->keep, BUF_MAX);
    buf_reserve(&literal, text.len); /* never moves: parts point into it */
    CaseMode mode = CASE_KEEP, first = CASE_KEEP;
    size_t start = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool quoted = c == '\\' && i + 1 < text.len;
        bool newline = quoted && (text.data[i + 1] == 'n' || text.data[i + 1] == '\n'); /* begins no part */
        if (newline || (!quoted && c != '&')) {
            buf_char(&literal, newline ? '\n' : c);
            i += newline;
            continue;
        }
        ReplacePart part = {.group = c == '&' ? 0 : -1, .mode = mode, .first = first};
        first = CASE_KEEP;
        c = c == '&' ? c : text.data[++i];
        if (is_digit(c))
            part.group = c - '0';
        else if (part.group < 0 && (p->s->posix || !case_change(c, &mode, &first)))
            buf_char(&literal, c);
        part.text = slice(literal.data + start, literal.len - start);
        part_add(p, &parts, part);
        start = literal.len;
        sub->groups = MAX(sub->groups, part.group);
        sub->cases |= mode != CASE_KEEP || first != CASE_KEEP;
    }
    if (literal.len > start || !parts.count)
        part_add(p, &parts, (ReplacePart){slice(literal.data + start, literal.len - start), -1, mode, first});
    sub->parts = parts.at;
    sub->count = parts.count;
    if (!sub->cases)
        join_parts(sub);
}

static unsigned substitution_flags(Parser *p, Substitution *sub)
{
    unsigned flags = 0;
    for (;;) {
        int c = next(p);
        if (is_digit(c)) {
            if (sub->number)
                BAD(p, "multiple number options to `s' command");
            sub->number = integer(p, c);
            if (!sub->number)
                BAD(p, "number option to `s' command may not be zero");
            continue;
        }
        if (p->s->posix && strchr("iImMe", c ? c : ' '))
            c = 0;
        switch (c) {
        case 'i': case 'I': flags |= RE_ICASE; break;
        case 'm': case 'M': flags |= RE_NEWLINE; break;
        case 'e': BAD(p, "e/r/w commands disabled in sandbox mode");
        case 'p':
            if (sub->print)
                BAD(p, "multiple `p' options to `s' command");
            sub->print = true;
            break;
        case 'g':
            if (sub->global)
                BAD(p, "multiple `g' options to `s' command");
            sub->global = true;
            break;
        case 'w': sub->file = sed_out_named(p->s, file_name(p)); return flags;
        case '}': case '#': back(p); return flags;
        case ' ': case '\t': case '\r': break;
        case '\n': case ';': case END: return flags;
        default: BAD(p, "unknown option to `s'");
        }
    }
}

static Substitution *substitution(Parser *p)
{
    Substitution *sub = mem_new(&p->s->p->keep, Substitution);
    Slice pattern, text;
    int delimiter = next(p);
    if (delimiter == END || delimiter == '\n' || delimiter == '\\' || !match_slash(p, delimiter, true, &pattern) || !match_slash(p, delimiter, false, &text))
        BAD(p, "unterminated `s' command");
    replacement(p, sed_unescape(p->s, text, UNESCAPE_REPLACEMENT), sub);
    unsigned flags = substitution_flags(p, sub);
    sub->regex = regex_of(p, pattern, flags);
    if (sub->regex.re && sub->groups > (int)re_groups(sub->regex.re) && !p->s->posix)
        BAD(p, "invalid reference \\%d on `s' command's RHS", sub->groups);
    return sub;
}

/* ---------- y ---------- */

/* The characters of one of y's strings: \\ is a backslash, \n a newline, the delimiter was unquoted before. */
static size_t y_chars(Parser *p, Slice text, uint32_t *out)
{
    size_t count = 0, n;
    text = sed_unescape(p->s, text, UNESCAPE_TEXT);
    for (size_t at = 0; at < text.len; at += n) {
        if (text.data[at] == '\\' && at + 1 < text.len)
            at++;
        out[count] = (unsigned char)text.data[at];
        n = 1;
        if (p->s->utf8 && out[count] >= 0x80) {
            uint32_t c = utf8_decode(text.data + at, text.len - at, &n);
            out[count] = c == UTF8_BAD ? 0x110000u | out[count] : c;
        } else if (out[count] >= 0x80) {
            out[count] |= 0x110000u;
        }
        count++;
    }
    return count;
}

static Transliteration *transliteration(Parser *p)
{
    Transliteration *y = mem_new(&p->s->p->keep, Transliteration);
    Slice from, to;
    int delimiter = next(p);
    if (delimiter == END || delimiter == '\n' || delimiter == '\\' || !match_slash(p, delimiter, false, &from) || !match_slash(p, delimiter, false, &to))
        BAD(p, "unterminated `y' command");
    y->from = mem_array(&p->s->p->keep, from.len + 1, uint32_t);
    y->to = mem_array(&p->s->p->keep, to.len + 1, uint32_t);
    y->count = y_chars(p, from, y->from);
    if (y_chars(p, to, y->to) != y->count)
        BAD(p, "strings for `y' command are different lengths");
    y->bytes = true;
    for (unsigned i = 0; i < 256; i++)
        y->table[i] = (unsigned char)i;
    for (size_t i = y->count; i-- > 0;) { /* the first of several counts */
        y->bytes = y->bytes && y->from[i] < 128 && y->to[i] < 128;
        if (y->from[i] < 128 && y->to[i] < 128)
            y->table[y->from[i]] = (unsigned char)y->to[i];
    }
    end_of_command(p);
    return y;
}

/* ---------- commands ---------- */

static SedSource *source_named(Sed *s, const char *name)
{
    for (SedSource *r = s->sources; r; r = r->next)
        if (strcmp(r->name, name) == 0)
            return r;
    SedSource *r = mem_new(&s->p->keep, SedSource);
    r->name = name;
    r->next = s->sources;
    return s->sources = r;
}

static void number_argument(Parser *p, SedCommand *cmd)
{
    int c = next_nonblank(p);
    cmd->number = is_digit(c) && !p->s->posix ? (int64_t)integer(p, c) : (back(p), -1);
    end_of_command(p);
}

static void comment(Parser *p, const SedCommand *cmd)
{
    if (cmd->a1.kind)
        BAD(p, "comments don't accept any addresses");
    bool first = p->at == 1;
    int c = next(p);
    p->s->quiet |= first && c == 'n'; /* whatever follows: so does 4.9 */
    while (c != END && c != '\n')
        c = next(p);
}

static void close_block(Parser *p, const SedCommand *cmd)
{
    if (!p->depth)
        BAD(p, "unexpected `}'");
    if (cmd->a1.kind)
        BAD(p, "`}' doesn't want any addresses");
    p->s->commands[p->blocks[--p->depth]].target = p->s->count; /* under --debug the brace is a command too */
    end_of_command(p);
}

static void one_address(Parser *p, const SedCommand *cmd)
{
    if (cmd->a2.kind)
        BAD(p, "command only uses one address");
}

static void set_label(Parser *p, SedCommand *cmd)
{
    if (cmd->a1.kind)
        BAD(p, ": doesn't want any addresses");
    Slice name = label(p);
    if (!name.len)
        BAD(p, "\":\" lacks a label");
    cmd->label = mem_copy(&p->s->p->keep, name);
}

/* Runs of digits by value, all else by byte, as strverscmp does without leading zeros. */
static int version_compare(const char *a, const char *b)
{
    for (;;) {
        if (is_digit((unsigned char)*a) && is_digit((unsigned char)*b)) {
            uint64_t m = 0, n = 0;
            for (; is_digit((unsigned char)*a); a++)
                m = MIN(m * 10 + (uint64_t)(*a - '0'), (uint64_t)1 << 32);
            for (; is_digit((unsigned char)*b); b++)
                n = MIN(n * 10 + (uint64_t)(*b - '0'), (uint64_t)1 << 32);
            if (m != n)
                return m < n ? -1 : 1;
        } else if (*a != *b || !*a) {
            return (unsigned char)*a - (unsigned char)*b;
        } else {
            a++;
            b++;
        }
    }
}

static void version(Parser *p)
{
    const char *text = mem_copy(&p->s->p->keep, label(p));
    if (version_compare(text, "4.9") > 0)
        BAD(p, "expected newer version of sed");
}

/* The argument of the command just read; false when nothing is to be kept of it. */
static bool command_argument(Parser *p, SedCommand *cmd)
{
    if (p->s->posix && strchr("eFLQRTWvz", cmd->name))
        BAD(p, "unknown command: `%c'", cmd->name);
    if (p->s->posix && strchr("ai=rl", cmd->name))
        one_address(p, cmd);
    switch (cmd->name) {
    case '#': comment(p, cmd); return false;
    case 'v': version(p); return false;
    case '}': close_block(p, cmd); return p->s->debug;
    case '{':
        if (p->depth == ARRAY_LEN(p->blocks))
            BAD(p, "too many {'s");
        cmd->where = p->at;
        p->blocks[p->depth++] = p->s->count;
        return true;
    case 'e': BAD(p, "e/r/w commands disabled in sandbox mode");
    case 'a': case 'i': case 'c': cmd->text = text_argument(p, cmd->name); return true;
    case ':': set_label(p, cmd); return true;
    case 'b': case 't': case 'T':
        cmd->label = mem_copy(&p->s->p->keep, label(p));
        return true;
    case 'q': case 'Q':
        one_address(p, cmd);
        number_argument(p, cmd);
        return true;
    case 'l': case 'L': number_argument(p, cmd); return true;
    case 'r': cmd->text = slice_str(file_name(p)); return true;
    case 'R': cmd->source = source_named(p->s, file_name(p)); return true;
    case 'w': case 'W': cmd->file = sed_out_named(p->s, file_name(p)); return true;
    case 's': cmd->s = substitution(p); return true;
    case 'y': cmd->y = transliteration(p); return true;
    case '=': case 'd': case 'D': case 'F': case 'g': case 'G': case 'h': case 'H': case 'n': case 'N': case 'p': case 'P': case 'z': case 'x':
        end_of_command(p);
        return true;
    default: BAD(p, "unknown command: `%c'", cmd->name);
    }
}

static void command_keep(Parser *p, const SedCommand *cmd)
{
    Sed *s = p->s;
    if (s->count == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 16;
        s->commands = mem_grow(&s->p->keep, s->commands, s->cap * sizeof *s->commands, cap * sizeof *s->commands);
        s->cap = cap;
    }
    s->commands[s->count++] = *cmd;
}

static void resolve_labels(Sed *s)
{
    Map labels;
    map_init(&labels, &s->p->keep);
    for (size_t i = 0; i < s->count; i++)
        if (s->commands[i].name == ':') {
            MapEntry *e = map_put(&labels, slice_str(s->commands[i].label));
            e->value = &s->commands[i]; /* of several, the last */
        }
    for (size_t i = s->count; i-- > 0;) {
        SedCommand *c = &s->commands[i];
        if (c->name != 'b' && c->name != 't' && c->name != 'T')
            continue;
        const MapEntry *e = *c->label ? map_get(&labels, slice_str(c->label)) : NULL;
        if (*c->label && !e)
            die(s->p, 4, "can't find label for jump to `%s'", c->label);
        c->target = e ? (size_t)((SedCommand *)e->value - s->commands) : s->count;
    }
}

void sed_parse(Sed *s)
{
    Parser p = {.s = s};
    for (int c;;) {
        while ((c = next(&p)) == ';' || is_space(c))
            ;
        if (c == END)
            break;
        SedCommand cmd = {.number = 0};
        c = addresses(&p, c, &cmd);
        bool joint = c == '\n' && at_joint(&p);
        if (joint)
            back(&p);
        if (c == END || joint)
            BAD(&p, "missing command");
        cmd.name = (char)c;
        if (command_argument(&p, &cmd))
            command_keep(&p, &cmd);
    }
    s->unplaced = p.depth > 0;
    if (p.depth)
        sed_bad(s, s->commands[p.blocks[p.depth - 1]].where, "unmatched `{'");
    resolve_labels(s);
}
