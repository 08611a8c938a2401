/* pattern: bash patterns parsed into items.
 *
 * What does not parse stands for itself, as in bash: an unclosed bracket or group is ordinary text. Groups nest to a bounded
 * depth; beyond it they are text too.
 */
#include "pattern.h"

enum { DEEPEST = 200 };

typedef struct {
    Mem *mem;
    Pat *pat;
    Slice text;
    size_t at;
    unsigned depth;
    bool failed; /* no memory */
} Parser;

static PatItem *item_add(Parser *ps, PatSeq *seq, PatKind kind)
{
    if (seq->count == seq->cap) {
        uint32_t cap = seq->cap ? seq->cap * 2 : 4;
        PatItem *items = mem_grow(ps->mem, seq->items, seq->cap * sizeof *items, cap * sizeof *items);
        if (!items) {
            ps->failed = true;
            return NULL;
        }
        seq->items = items;
        seq->cap = cap;
    }
    PatItem *item = &seq->items[seq->count++];
    memset(item, 0, sizeof *item);
    item->kind = kind;
    ps->pat->counts_chars |= kind == PAT_ANY || kind == PAT_SET || kind == PAT_GROUP;
    return item;
}

/* Neighbouring literal bytes become one item; `buf` is a buffer as long as the pattern, so appending in place is safe. */
static void literal_add(Parser *ps, PatSeq *seq, char c, char **buf)
{
    PatItem *last = seq->count ? &seq->items[seq->count - 1] : NULL;
    if (!last || last->kind != PAT_LITERAL) {
        last = item_add(ps, seq, PAT_LITERAL);
        if (!last)
            return;
        last->text = slice(*buf, 0);
    }
    *(*buf)++ = c;
    last->text.len++;
}

static void set_add(Parser *ps, CharSet *set, uint32_t first, uint32_t last)
{
    if (!charset_add(ps->mem, set, first, last))
        ps->failed = true;
    /* Ranges fold with nocasematch, classes do not: the other case of a range's letters is put in here. */
    if (ps->pat->flags & PAT_ICASE)
        for (uint32_t c = MAX(first, 'A'); c <= last && c <= 'z'; c++) {
            charset_add(ps->mem, set, char_lower(c), char_lower(c));
            charset_add(ps->mem, set, char_upper(c), char_upper(c));
        }
}

/* [:name:], [=x=] or [.x.] at `at`, just behind its '['; its end, or 0 when it is none. */
static size_t bracket_special(Slice s, size_t at, char *kind, Slice *name)
{
    if (at >= s.len || (s.data[at] != ':' && s.data[at] != '=' && s.data[at] != '.'))
        return 0;
    *kind = s.data[at];
    for (size_t i = at + 1; i + 1 < s.len; i++)
        if (s.data[i] == *kind && s.data[i + 1] == ']') {
            *name = slice(s.data + at + 1, i - at - 1);
            return i + 2;
        }
    return 0;
}

/* POSIX's names for collating symbols, which bash knows. */
static bool symbol_named(Slice name, uint32_t *c)
{
    static const struct { const char *name; char c; } symbols[] = {
        {"NUL", 0}, {"tab", '\t'}, {"newline", '\n'}, {"space", ' '}, {"exclamation-mark", '!'}, {"quotation-mark", '"'},
        {"number-sign", '#'}, {"dollar-sign", '$'}, {"percent-sign", '%'}, {"ampersand", '&'}, {"apostrophe", '\''},
        {"left-parenthesis", '('}, {"right-parenthesis", ')'}, {"asterisk", '*'}, {"plus-sign", '+'}, {"comma", ','},
        {"hyphen", '-'}, {"hyphen-minus", '-'}, {"minus", '-'}, {"dash", '-'}, {"period", '.'}, {"full-stop", '.'},
        {"slash", '/'}, {"solidus", '/'}, {"zero", '0'}, {"one", '1'}, {"two", '2'}, {"three", '3'}, {"four", '4'},
        {"five", '5'}, {"six", '6'}, {"seven", '7'}, {"eight", '8'}, {"nine", '9'}, {"colon", ':'}, {"semicolon", ';'},
        {"less-than-sign", '<'}, {"equals-sign", '='}, {"greater-than-sign", '>'}, {"question-mark", '?'},
        {"commercial-at", '@'}, {"left-square-bracket", '['}, {"backslash", '\\'}, {"reverse-solidus", '\\'},
        {"right-square-bracket", ']'}, {"circumflex", '^'}, {"circumflex-accent", '^'}, {"underscore", '_'},
        {"grave-accent", '`'}, {"left-brace", '{'}, {"left-curly-bracket", '{'}, {"vertical-line", '|'}, {"right-brace", '}'},
        {"right-curly-bracket", '}'}, {"tilde", '~'}, {"DEL", 0x7F},
    };
    for (unsigned i = 0; i < ARRAY_LEN(symbols); i++)
        if (slice_is(name, symbols[i].name)) {
            *c = (unsigned char)symbols[i].c;
            return true;
        }
    return false;
}

typedef struct { uint32_t c; bool single; } BracketChar;

/* One element of a bracket: a character, or a class or equivalence that was added to the set (single is then false). */
static void bracket_element(Parser *ps, CharSet *set, size_t *at, BracketChar *out)
{
    Slice s = ps->text, name;
    char kind;
    size_t n, end;
    *out = (BracketChar){0, true};
    if (s.data[*at] == '[' && (end = bracket_special(s, *at + 1, &kind, &name)) != 0) {
        *at = end;
        size_t one = 0;
        uint32_t c = name.len ? pat_char(ps->pat, name, 0, &one) : 0;
        bool is_char = name.len && one == name.len;
        if (kind == ':') {
            charset_class(set, class_named(name), ps->pat->flags & PAT_BYTES);
            out->single = false;
        } else if (kind == '=') {
            if (is_char)
                set_add(ps, set, c, c);
            out->single = false;
        } else if (is_char || symbol_named(name, &c)) {
            out->c = c;
        } else {
            out->single = false;
        }
        return;
    }
    if (s.data[*at] == '\\' && *at + 1 < s.len)
        ++*at;
    out->c = pat_char(ps->pat, s, *at, &n);
    *at += n;
}

/* The bracket at ps->at ('['); false, with nothing consumed, when it is not closed. */
static bool bracket_parse(Parser *ps, PatSeq *seq)
{
    Slice s = ps->text;
    size_t at = ps->at + 1;
    CharSet *set = mem_new(ps->mem, CharSet);
    if (!set) {
        ps->failed = true;
        return true;
    }
    if (at < s.len && (s.data[at] == '!' || s.data[at] == '^')) {
        set->negated = true;
        at++;
    }
    for (bool first = true;; first = false) {
        if (at >= s.len)
            return false;
        if (s.data[at] == ']' && !first)
            break;
        BracketChar a, b;
        bracket_element(ps, set, &at, &a);
        if (!a.single)
            continue;
        b = a;
        if (at + 1 < s.len && s.data[at] == '-' && s.data[at + 1] != ']') {
            at++;
            bracket_element(ps, set, &at, &b);
            if (!b.single)
                continue;
        }
        set_add(ps, set, a.c, b.c);
    }
    ps->at = at + 1;
    PatItem *item = item_add(ps, seq, PAT_SET);
    if (item)
        item->set = set;
    return true;
}

/* The end of the bracket expression at `at`, or 0: brackets hide what is in them from the search for a group's end. */
static size_t bracket_end(Slice s, size_t at)
{
    size_t i = at + 1, end;
    char kind;
    Slice name;
    if (i < s.len && (s.data[i] == '!' || s.data[i] == '^'))
        i++;
    for (bool first = true; i < s.len; first = false) {
        if (s.data[i] == ']' && !first)
            return i + 1;
        if (s.data[i] == '[' && (end = bracket_special(s, i + 1, &kind, &name)) != 0)
            i = end;
        else
            i += s.data[i] == '\\' && i + 1 < s.len ? 2 : 1;
    }
    return 0;
}

/* Offset of the ')' that closes the group whose '(' is just before `at`, or RE_UNSET. */
static size_t group_end(Slice s, size_t at)
{
    size_t depth = 1, end;
    for (size_t i = at; i < s.len; i++) {
        char c = s.data[i];
        if (c == '\\')
            i++;
        else if (c == '[' && (end = bracket_end(s, i)) != 0)
            i = end - 1;
        else if (c == '(')
            depth++;
        else if (c == ')' && --depth == 0)
            return i;
    }
    return RE_UNSET;
}

static void seq_parse(Parser *ps, PatSeq *seq, size_t end, bool in_group, char **buf);

static bool is_group_op(char c) { return c == '?' || c == '*' || c == '+' || c == '@' || c == '!'; }

static bool group_parse(Parser *ps, PatSeq *seq, char **buf)
{
    Slice s = ps->text;
    if (!(ps->pat->flags & PAT_EXTGLOB) || ps->at + 1 >= s.len || !is_group_op(s.data[ps->at]) || s.data[ps->at + 1] != '(')
        return false;
    size_t end = group_end(s, ps->at + 2);
    if (end == RE_UNSET || ps->depth >= DEEPEST)
        return false;
    char op = s.data[ps->at];
    PatSeq *alternatives = NULL;
    uint32_t count = 0, cap = 0;
    ps->at += 2;
    ps->depth++;
    for (;;) {
        if (count == cap) {
            uint32_t wider = cap ? cap * 2 : 4;
            alternatives = mem_grow(ps->mem, alternatives, cap * sizeof *alternatives, wider * sizeof *alternatives);
            cap = wider;
            if (!alternatives) {
                ps->failed = true;
                return true;
            }
        }
        alternatives[count] = (PatSeq){NULL, 0, 0};
        seq_parse(ps, &alternatives[count++], end, true, buf);
        if (ps->at >= end)
            break;
        ps->at++; /* the | */
    }
    ps->at = end + 1;
    ps->depth--;
    PatItem *item = item_add(ps, seq, PAT_GROUP);
    if (item) {
        item->op = op;
        item->group = alternatives;
        item->alternatives = count;
        ps->pat->extended = true;
    }
    return true;
}

static void seq_parse(Parser *ps, PatSeq *seq, size_t end, bool in_group, char **buf)
{
    Slice s = ps->text;
    while (ps->at < end && !ps->failed) {
        char c = s.data[ps->at];
        if (in_group && c == '|')
            return;
        if (group_parse(ps, seq, buf))
            continue;
        if (c == '*') {
            if (!seq->count || seq->items[seq->count - 1].kind != PAT_STAR)
                item_add(ps, seq, PAT_STAR);
            ps->at++;
        } else if (c == '?') {
            item_add(ps, seq, PAT_ANY);
            ps->at++;
        } else if (c != '[' || !bracket_parse(ps, seq)) {
            if (c == '\\' && ps->at + 1 < end)
                c = s.data[++ps->at];
            literal_add(ps, seq, c, buf);
            ps->at++;
        }
    }
}

Pat *pat_compile(Mem *mem, Slice pattern, unsigned flags)
{
    Pat *p = mem_new(mem, Pat);
    char *buf = mem_alloc(mem, pattern.len), *text = mem_copy(mem, pattern);
    if (!p || !buf || !text || !(p->seq.items = mem_array(mem, 4, PatItem)))
        return NULL;
    p->seq.cap = 4;
    p->flags = flags | (utf8_valid(pattern) ? 0 : PAT_BYTES);
    p->text = slice(text, pattern.len);
    p->counts_chars = flags & PAT_ICASE;
    Parser ps = {.mem = mem, .pat = p, .text = pattern};
    seq_parse(&ps, &p->seq, pattern.len, false, &buf);
    return ps.failed ? NULL : p;
}

bool pat_is_literal(Slice s, unsigned flags)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        if (c == '\\')
            i++;
        else if (c == '*' || c == '?')
            return false;
        else if (c == '[' && memchr(s.data + i, ']', s.len - i))
            return false;
        else if ((flags & PAT_EXTGLOB) && (c == '+' || c == '@' || c == '!') && i + 1 < s.len && s.data[i + 1] == '(')
            return false;
    }
    return true;
}
