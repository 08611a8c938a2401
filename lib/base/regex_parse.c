/* regex_parse: BRE and ERE as GNU regcomp reads them.
 *
 * Follows the order of decisions of glibc's parser, so that what is an operator, what stands for itself and what is which error agree. Three
 * dialects: sed's (default), grep's (RE_GREP: intervals that do not parse are text, leading operators are skipped), and
 * regcomp's (RE_BASH: an unmatched right parenthesis is text).
 */
#include "regex_tree.h"

enum { DEEPEST = 240 /* below PCRE2's own limit of 250 */ };

typedef enum { T_END, T_CHAR, T_ALT, T_OPEN, T_CLOSE, T_STAR, T_PLUS, T_QUESTION, T_OPEN_DUP, T_CLOSE_DUP, T_BRACKET, T_ANY, T_ANCHOR, T_BACKREF, T_CLASS, T_TRAILING } TokenKind;

typedef struct {
    TokenKind kind;
    uint32_t c;
    size_t len;
} Token;

typedef struct {
    ReParse *ps;
    Slice s;
    size_t at;
    Token token;
    bool ere, bytes;
    bool nothing_before; /* only anchors since the start, "(" or "|": what grep warns about operators is about this */
    uint32_t base;      /* groups before this pattern */
    uint64_t completed; /* groups 1..9 that are closed */
    unsigned depth;
} P;

const char re_no_memory[] = "Memory exhausted";
static const char e_paren[] = "Unmatched ( or \\(", e_rparen[] = "Unmatched ) or \\)", e_bracket[] = "Unmatched [, [^, [:, [., or [=",
                  e_range[] = "Invalid range end", e_class[] = "Invalid character class name", e_collate[] = "Invalid collation character",
                  e_repeat[] = "Invalid preceding regular expression", e_brace[] = "Unmatched \\{", e_bad_brace[] = "Invalid content of \\{\\}",
                  e_size[] = "Regular expression too big", e_backref[] = "Invalid back reference", e_escape[] = "Trailing backslash", e_pattern[] = "Invalid regular expression";

static Node *fail(P *p, const char *message)
{
    if (!p->ps->message) {
        p->ps->message = message;
        p->ps->offset = p->at;
    }
    return NULL;
}

Node *re_node(ReParse *ps, NodeKind kind)
{
    Node *n = mem_new(ps->mem, Node);
    if (n)
        n->kind = kind;
    else
        ps->message = re_no_memory;
    return n;
}

Node *re_list(ReParse *ps, NodeKind kind, Node **kids, uint32_t count)
{
    if (count == 1)
        return kids[0];
    Node *n = re_node(ps, count ? kind : N_EMPTY);
    if (!n || !count)
        return n;
    n->kids = mem_array(ps->mem, count, Node *);
    if (!n->kids) {
        ps->message = re_no_memory;
        return NULL;
    }
    memcpy(n->kids, kids, count * sizeof *kids);
    n->count = count;
    return n;
}

/* ---- tokens ---- */

static Token escaped_token(const P *p, size_t at)
{
    Token t = {T_CHAR, 0, 2};
    size_t n;
    t.c = char_at(p->s, at + 1, p->bytes, &n);
    t.len = 1 + n;
    bool gnu = !(p->ps->flags & RE_POSIX);
    switch (t.c) {
    case '|': t.kind = !p->ere && gnu ? T_ALT : T_CHAR; break;
    case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
        t.kind = T_BACKREF;
        t.c -= '0';
        break;
    case '<': case '>': case 'b': case 'B': case '`': case '\'': t.kind = gnu ? T_ANCHOR : T_CHAR; break;
    case 'w': case 'W': case 's': case 'S': t.kind = gnu ? T_CLASS : T_CHAR; break;
    case '(': t.kind = p->ere ? T_CHAR : T_OPEN; break;
    case ')': t.kind = p->ere ? T_CHAR : T_CLOSE; break;
    case '+': t.kind = p->ere || !gnu ? T_CHAR : T_PLUS; break;
    case '?': t.kind = p->ere || !gnu ? T_CHAR : T_QUESTION; break;
    case '{': t.kind = p->ere ? T_CHAR : T_OPEN_DUP; break;
    case '}': t.kind = p->ere ? T_CHAR : T_CLOSE_DUP; break;
    default: break;
    }
    return t;
}

static Token peek(const P *p, size_t at, bool caret_here);

/* A BRE's $ is an anchor at the end and before \) and \|. */
static bool dollar_is_anchor(const P *p, size_t at)
{
    if (p->ere || at + 1 == p->s.len)
        return true;
    Token next = peek(p, at + 1, false);
    return next.kind == T_ALT || next.kind == T_CLOSE;
}

static Token peek(const P *p, size_t at, bool caret_here)
{
    if (at >= p->s.len)
        return (Token){T_END, 0, 0};
    Token t = {T_CHAR, 0, 1};
    t.c = char_at(p->s, at, p->bytes, &t.len);
    switch (t.c) {
    case '\\': return at + 1 < p->s.len ? escaped_token(p, at) : (Token){T_TRAILING, '\\', 1};
    case '*': t.kind = T_STAR; break;
    case '[': t.kind = T_BRACKET; break;
    case '.': t.kind = T_ANY; break;
    case '^': t.kind = p->ere || caret_here || at == 0 ? T_ANCHOR : T_CHAR; break;
    case '$': t.kind = dollar_is_anchor(p, at) ? T_ANCHOR : T_CHAR; break;
    default:
        if (!p->ere)
            break;
        t.kind = t.c == '|' ? T_ALT : t.c == '(' ? T_OPEN : t.c == ')' ? T_CLOSE : t.c == '+' ? T_PLUS : t.c == '?' ? T_QUESTION
                 : t.c == '{' ? T_OPEN_DUP : t.c == '}' ? T_CLOSE_DUP : T_CHAR;
    }
    return t;
}

static void fetch(P *p, bool caret_here)
{
    p->at += p->token.len;
    p->token = peek(p, p->at, caret_here);
}

/* ---- brackets ---- */

typedef struct {
    enum { E_CHAR, E_CLASS, E_EQUIVALENCE } kind;
    uint32_t c;
    CharClass class;
} Element;

/* The length of a range's hyphen at `at`: 1, or 0 when none. Three hyphens in a row are one ordinary character. */
static bool hyphen_at(const P *p, size_t at)
{
    const char *s = p->s.data;
    return s[at] == '-' && !(at + 2 < p->s.len && s[at + 1] == '-' && s[at + 2] == '-');
}

/* [:name:], [=x=] and [.x.], behind their first two bytes. */
static bool element_named(P *p, char kind, Element *e)
{
    size_t start = p->at;
    while (p->at + 1 < p->s.len && !(p->s.data[p->at] == kind && p->s.data[p->at + 1] == ']'))
        if (++p->at - start >= 32)
            break;
    if (p->at + 1 >= p->s.len || p->at - start >= 32) {
        fail(p, e_bracket);
        return false;
    }
    Slice name = slice(p->s.data + start, p->at - start);
    p->at += 2;
    if (kind == ':') {
        e->kind = E_CLASS;
        e->class = class_named(name);
        if (e->class == CLASS_NONE || e->class == CLASS_ASCII || e->class == CLASS_WORD) {
            fail(p, e_class);
            return false;
        }
        return true;
    }
    size_t n = 0;
    e->kind = kind == '=' ? E_EQUIVALENCE : E_CHAR;
    e->c = name.len ? char_at(name, 0, p->bytes, &n) : 0;
    if (name.len != 1) { /* without collation tables a symbol is one byte */
        fail(p, e_collate);
        return false;
    }
    return true;
}

static bool element(P *p, bool accept_hyphen, Element *e)
{
    const char *s = p->s.data;
    *e = (Element){E_CHAR, 0, CLASS_NONE};
    if (s[p->at] == '[' && p->at + 1 < p->s.len && (s[p->at + 1] == ':' || s[p->at + 1] == '=' || s[p->at + 1] == '.')) {
        char kind = s[p->at + 1];
        p->at += 2;
        return element_named(p, kind, e);
    }
    if (s[p->at] == '-' && !accept_hyphen) {
        if (hyphen_at(p, p->at) && p->at + 1 < p->s.len && s[p->at + 1] != ']') {
            fail(p, e_range);
            return false;
        }
        e->c = '-';
        p->at += hyphen_at(p, p->at) ? 1 : 3;
        return true;
    }
    size_t n;
    e->c = char_at(p->s, p->at, p->bytes, &n);
    p->at += s[p->at] == '-' && !hyphen_at(p, p->at) ? 3 : n;
    return true;
}

static bool set_one(P *p, CharSet *set, uint32_t c)
{
    if (!charset_add(p->ps->mem, set, c, c)) {
        fail(p, re_no_memory);
        return false;
    }
    return true;
}

static bool set_range(P *p, CharSet *set, Element a, Element b)
{
    if (p->ps->flags & RE_ICASE) { /* regcomp raises the pattern and the text: [b-\\] is a range then, [Z-a] none */
        a.c = a.c < RAW_BYTE ? char_upper(a.c) : a.c;
        b.c = b.c < RAW_BYTE ? char_upper(b.c) : b.c;
    }
    bool wide = (p->ps->flags & RE_BYTE_RANGES) && b.kind == E_CHAR && ((a.c >= 0x80 && a.c < RAW_BYTE) || (b.c >= 0x80 && b.c < RAW_BYTE));
    if (b.kind != E_CHAR || wide || a.c > b.c) {
        fail(p, wide ? e_collate : e_range);
        return false;
    }
    if (!charset_add(p->ps->mem, set, a.c, b.c)) {
        fail(p, re_no_memory);
        return false;
    }
    return true;
}

static bool set_element(P *p, CharSet *set, bool first)
{
    Element a, b;
    if (!element(p, first, &a))
        return false;
    if (p->at >= p->s.len) {
        fail(p, e_bracket);
        return false;
    }
    if (a.kind == E_CLASS) {
        bool fold = (p->ps->flags & RE_ICASE) && (a.class == CLASS_UPPER || a.class == CLASS_LOWER);
        charset_class(set, fold ? CLASS_ALPHA : a.class, p->bytes);
        return true;
    }
    if (a.kind == E_CHAR && hyphen_at(p, p->at)) {
        if (p->at + 1 >= p->s.len) {
            p->at++;
            fail(p, e_bracket);
            return false;
        }
        if (p->s.data[p->at + 1] != ']') {
            p->at++;
            return element(p, true, &b) && set_range(p, set, a, b);
        }
    }
    return set_one(p, set, a.c);
}

/* Under RE_NEWLINE a negated set has no newline; neither has any set of grep's, whose buffers hold many lines. */
static void newline_out(P *p, CharSet *set)
{
    if (!(p->ps->flags & RE_NEWLINE))
        return;
    if (set->negated)
        set->low[0] |= 1u << '\n';
    else if (p->ps->flags & RE_GREP)
        set->low[0] &= ~(1u << '\n');
}

static Node *bracket(P *p)
{
    Node *n = re_node(p->ps, N_SET);
    CharSet *set = n ? mem_new(p->ps->mem, CharSet) : NULL;
    if (!set)
        return fail(p, re_no_memory);
    n->set = set;
    size_t open = p->at++;
    if (p->at < p->s.len && p->s.data[p->at] == '^') {
        set->negated = true;
        p->at++;
    }
    if (p->at >= p->s.len)
        return fail(p, e_pattern);
    for (bool first = true;; first = false) {
        if (p->at >= p->s.len)
            return fail(p, e_bracket);
        if (p->s.data[p->at] == ']' && !first)
            break;
        if (!set_element(p, set, first))
            return NULL;
    }
    if (p->ps->flags & RE_GREP && p->at - open > 2 && p->s.data[open + 1] == ':' && p->s.data[p->at - 1] == ':')
        p->ps->colon = true;
    newline_out(p, set);
    p->nothing_before = false;
    p->token.len = 1;
    fetch(p, false);
    return n;
}

/* ---- expressions ---- */

static Node *alternation(P *p, bool nested);
static Node *expression(P *p, bool nested);

static bool is_repeat(TokenKind k) { return k == T_STAR || k == T_PLUS || k == T_QUESTION || k == T_OPEN_DUP; }

static Node *class_node(P *p, uint32_t letter)
{
    Node *n = re_node(p->ps, N_SET);
    CharSet *set = n ? mem_new(p->ps->mem, CharSet) : NULL;
    if (!set)
        return fail(p, re_no_memory);
    n->set = set;
    charset_class(set, letter == 'w' || letter == 'W' ? CLASS_WORD : CLASS_SPACE, p->bytes);
    set->negated = letter == 'W' || letter == 'S';
    if (p->ps->flags & RE_GREP)
        newline_out(p, set);
    return n;
}

/* A number inside braces: -1 none, -2 not a number; stops at ',' '}' or the end, which is then the token. */
static int dup_number(P *p)
{
    int number = -1;
    for (;;) {
        fetch(p, false);
        if (p->token.kind == T_END)
            return -2;
        if (p->token.kind == T_CLOSE_DUP || (p->token.kind == T_CHAR && p->token.c == ',' && p->token.len == 1))
            return number;
        bool digit = p->token.kind == T_CHAR && p->token.c - '0' < 10 && p->token.len == 1;
        if (!digit || number == -2)
            number = -2;
        else
            number = MIN(REPEAT_MAX + 1, (number < 0 ? 0 : number * 10) + (int)(p->token.c - '0'));
    }
}

typedef enum { DUP_OK, DUP_TEXT, DUP_ERROR } DupResult;

static DupResult dup_bounds(P *p, int *min, int *max)
{
    size_t start = p->at;
    Token open = p->token;
    *min = dup_number(p);
    if (*min == -1) {
        if (p->token.kind != T_CHAR || p->token.c != ',') {
            fail(p, e_bad_brace);
            return DUP_ERROR;
        }
        *min = 0;
    }
    *max = -2;
    if (*min != -2)
        *max = p->token.kind == T_CLOSE_DUP ? *min : p->token.kind == T_CHAR && p->token.c == ',' ? dup_number(p) : -2;
    if (*min == -2 || *max == -2) {
        if ((p->ps->flags & RE_AWK) || (p->ps->flags & RE_GREP && p->ere))
            goto text;
        fail(p, p->token.kind == T_END ? e_brace : e_bad_brace);
        return DUP_ERROR;
    }
    if ((*max != -1 && *min > *max) || p->token.kind != T_CLOSE_DUP) {
        fail(p, e_bad_brace);
        return DUP_ERROR;
    }
    if ((*max == -1 ? *min : *max) > REPEAT_MAX) {
        fail(p, e_size);
        return DUP_ERROR;
    }
    return DUP_OK;
text:
    p->at = start;
    p->token = open;
    p->token.kind = T_CHAR;
    return DUP_TEXT;
}

static Node *repeat_of(P *p, Node *sub, int min, int max)
{
    if (min == 1 && max == 1)
        return sub;
    Node *n = re_node(p->ps, N_REPEAT);
    if (n) {
        n->sub = sub;
        n->min = min;
        n->max = max;
    }
    return n;
}

/* The operators behind an expression. */
static Node *repeats(P *p, Node *n)
{
    unsigned stacked = 0;
    while (n && is_repeat(p->token.kind)) {
        int min = p->token.kind == T_PLUS, max = p->token.kind == T_QUESTION ? 1 : REPEAT_FOREVER;
        if (p->token.kind == T_OPEN_DUP) {
            DupResult r = dup_bounds(p, &min, &max);
            if (r == DUP_ERROR)
                return NULL;
            if (r == DUP_TEXT)
                return n;
        }
        if (++stacked > DEEPEST)
            return fail(p, e_size);
        fetch(p, false);
        /* x** is x*, as deep as it is stacked. */
        bool same = n->kind == N_REPEAT && n->min == 0 && n->max == REPEAT_FOREVER && min == 0 && max == REPEAT_FOREVER;
        if (!same)
            n = repeat_of(p, n, min, max);
        bool again = p->token.kind == T_STAR || p->token.kind == T_OPEN_DUP;
        if (n && !p->ere && again && !(p->ps->flags & RE_GREP))
            return fail(p, e_repeat);
    }
    return n;
}

static Node *group(P *p)
{
    if (++p->depth > DEEPEST)
        return fail(p, e_size);
    Node *n = re_node(p->ps, N_GROUP);
    if (!n)
        return NULL;
    n->number = ++p->ps->groups;
    p->nothing_before = true;
    fetch(p, true);
    n->sub = p->token.kind == T_CLOSE ? re_node(p->ps, N_EMPTY) : alternation(p, true);
    if (!n->sub)
        return NULL;
    if (p->token.kind != T_CLOSE)
        return fail(p, e_paren);
    uint32_t local = n->number - p->base;
    if (local <= 9)
        p->completed |= 1ull << local;
    p->depth--;
    return n;
}

static Node *char_node(P *p, uint32_t c)
{
    Node *n = re_node(p->ps, N_CHAR);
    if (n)
        n->c = c;
    return n;
}

/* No operator applies to an anchor: what follows is read as at the start of an expression. */
static Node *anchor(P *p)
{
    Node *n = re_node(p->ps, N_ANCHOR);
    if (!n)
        return NULL;
    n->c = p->token.c;
    fetch(p, false);
    return n;
}

/* An operator with nothing before it, which grep reads over; false: it is a brace that stands for itself. */
static bool skip_dangling(P *p)
{
    ReParse trial = *p->ps;
    P copy = *p;
    int min, max;
    copy.ps = &trial;
    if (p->token.kind == T_OPEN_DUP && dup_bounds(&copy, &min, &max) != DUP_OK) {
        p->token.kind = T_CHAR;
        return false;
    }
    size_t seen = strlen(p->ps->dangling);
    if (p->nothing_before && !p->ps->colon && seen + 1 < sizeof p->ps->dangling)
        p->ps->dangling[seen] = (char)p->token.c;
    if (p->token.kind == T_OPEN_DUP) {
        p->nothing_before = false;
        p->at = copy.at;
        p->token = copy.token;
    }
    fetch(p, false);
    return true;
}

static Node *expression(P *p, bool nested)
{
    Node *n = NULL;
    while (p->ere && (p->ps->flags & RE_GREP) && is_repeat(p->token.kind) && skip_dangling(p))
        ;
    switch (p->token.kind) {
    case T_END:
    case T_ALT: return re_node(p->ps, N_EMPTY);
    case T_TRAILING: return fail(p, e_escape);
    case T_CLOSE:
        if (nested)
            return re_node(p->ps, N_EMPTY);
        if (!(p->ps->flags & (RE_BASH | RE_AWK)) && !(p->ere && (p->ps->flags & RE_GREP)))
            return fail(p, e_rparen);
        n = char_node(p, p->token.c);
        break;
    case T_ANCHOR: return anchor(p);
    case T_BRACKET:
        n = bracket(p);
        return n ? repeats(p, n) : NULL;
    case T_OPEN: n = group(p); break;
    case T_BACKREF:
        if (!(p->completed >> p->token.c & 1))
            return fail(p, e_backref);
        n = re_node(p->ps, N_BACKREF);
        if (n)
            n->number = p->base + p->token.c;
        break;
    case T_STAR: case T_PLUS: case T_QUESTION: case T_OPEN_DUP:
        if (!(p->ps->flags & RE_AWK) && (p->ere || (p->token.kind == T_OPEN_DUP && !(p->ps->flags & RE_GREP))))
            return fail(p, e_repeat);
        n = char_node(p, p->token.c);
        break;
    case T_ANY: n = re_node(p->ps, N_ANY); break;
    case T_CLASS: n = class_node(p, p->token.c); break;
    case T_CHAR: case T_CLOSE_DUP: n = char_node(p, p->token.c); break;
    }
    if (!n)
        return NULL;
    p->nothing_before = false;
    fetch(p, false);
    return repeats(p, n);
}

typedef struct { Node **at; uint32_t count, cap; } List;

static bool list_add(P *p, List *l, Node *n)
{
    if (l->count == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 16;
        Node **at = mem_grow(p->ps->mem, l->at, l->cap * sizeof *at, cap * sizeof *at);
        if (!at) {
            fail(p, re_no_memory);
            return false;
        }
        l->at = at;
        l->cap = cap;
    }
    l->at[l->count++] = n;
    return true;
}

static Node *branch(P *p, bool nested)
{
    List l = {NULL, 0, 0};
    while (p->token.kind != T_END && p->token.kind != T_ALT && !(nested && p->token.kind == T_CLOSE)) {
        Node *n = expression(p, nested);
        if (!n || (n->kind != N_EMPTY && !list_add(p, &l, n)))
            return NULL;
    }
    return re_list(p->ps, N_CAT, l.at, l.count);
}

static Node *alternation(P *p, bool nested)
{
    List l = {NULL, 0, 0};
    uint64_t before = p->completed, all = before;
    for (;;) {
        Node *n = branch(p, nested);
        if (!n || !list_add(p, &l, n))
            return NULL;
        all |= p->completed;
        if (p->token.kind != T_ALT)
            break;
        p->completed = before; /* a reference cannot name a group of another branch */
        p->nothing_before = true;
        fetch(p, true);
    }
    p->completed = all;
    return re_list(p->ps, N_ALT, l.at, l.count);
}

Node *re_parse(ReParse *ps, Slice pattern)
{
    P p = {.ps = ps, .s = pattern, .ere = ps->syntax == RE_ERE, .bytes = ps->flags & RE_BYTES, .base = ps->groups, .nothing_before = true};
    p.token = peek(&p, 0, true);
    Node *n = alternation(&p, false);
    if (!n && !ps->message)
        ps->message = re_no_memory;
    return n;
}
