/* regex_print: the tree as a PCRE2 pattern. */
#include "regex_tree.h"

/* Any character of more than one byte, in bytes. */
#define MULTIBYTE "[\\xc2-\\xdf][\\x80-\\xbf]|\\xe0[\\xa0-\\xbf][\\x80-\\xbf]|[\\xe1-\\xef][\\x80-\\xbf]{2}|\\xf0[\\x90-\\xbf][\\x80-\\xbf]{2}|[\\xf1-\\xf4][\\x80-\\xbf]{3}"

/* What the classes hold above ASCII, in PCRE2's properties. Alphabetic combining marks of Indic scripts and Hebrew points
 * that are Mn are taken for letters only in part: there is no property for them. */
static const char *const class_parts[] = {
    [CLASS_ALNUM] = "\\p{L}\\p{Nd}\\p{Nl}\\p{Mc}\\x{345}\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}",
    [CLASS_BLANK] = "\\x{1680}\\x{2000}-\\x{2006}\\x{2008}-\\x{200a}\\x{205f}\\x{3000}",
    [CLASS_CNTRL] = "\\x{80}-\\x{9f}\\x{2028}\\x{2029}",
    [CLASS_GRAPH] = "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}\\x{a0}\\x{2007}\\x{202f}",
    [CLASS_LOWER] = "\\p{Ll}\\x{aa}\\x{ba}\\x{1c5}\\x{1c8}\\x{1cb}\\x{1f2}\\x{2b0}-\\x{2b8}\\x{2c0}\\x{2c1}\\x{2e0}-\\x{2e4}\\x{345}\\x{37a}\\x{1d2c}-"
                    "\\x{1d6a}\\x{1d78}\\x{1d9b}-\\x{1dbf}\\x{2071}\\x{207f}\\x{2090}-\\x{209c}\\x{2170}-\\x{217f}\\x{24d0}-\\x{24e9}",
    [CLASS_PRINT] = "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Zs}\\p{Cf}\\p{Co}",
    [CLASS_PUNCT] = "\\p{P}\\p{S}\\p{Mn}\\p{Me}\\p{No}\\p{Cf}\\p{Co}\\x{a0}\\x{2007}\\x{202f}",
    [CLASS_SPACE] = "\\x{1680}\\x{2000}-\\x{2006}\\x{2008}-\\x{200a}\\x{2028}\\x{2029}\\x{205f}\\x{3000}",
    [CLASS_UPPER] = "\\p{Lu}\\p{Lt}\\x{2160}-\\x{216f}\\x{24b6}-\\x{24cf}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}",
};

typedef struct {
    Buf *out;
    ReForm form;
    unsigned flags;
} Printer;

static void put(const Printer *p, const char *s) { buf_append(p->out, slice_str(s)); }

static void put_byte(const Printer *p, unsigned c)
{
    bool plain = (c | 32) - 'a' < 26 || c - '0' < 10 || c == '_' || c == ' ';
    if (plain)
        buf_char(p->out, (char)c);
    else
        buf_printf(p->out, "\\x%02x", c);
}

static void put_bytes_of(const Printer *p, uint32_t c)
{
    char bytes[6];
    size_t n = utf8_encode(c, bytes);
    for (size_t i = 0; i < n; i++)
        put_byte(p, (unsigned char)bytes[i]);
}

static void put_char(const Printer *p, uint32_t c)
{
    if (c < 128) {
        /* PCRE2 folds the Kelvin sign to k and the long s to s; the C library does not. */
        bool exact = p->form == FORM_UTF && (p->flags & RE_ICASE) && ((c | 32) == 'k' || (c | 32) == 's');
        if (exact)
            buf_printf(p->out, "(?-i:[%c%c])", (char)(c | 32), (char)(c & ~32u));
        else
            put_byte(p, c);
    } else if (c >= RAW_BYTE) {
        put_byte(p, c & 0xFF);
    } else if (p->form == FORM_UTF) {
        buf_printf(p->out, "\\x{%x}", c);
    } else {
        put(p, "(?:");
        put_bytes_of(p, c);
        put(p, ")");
    }
}

/* Members among the first `limit` values as ranges; false when there are none. */
static bool put_low(const Printer *p, const CharSet *set, unsigned limit)
{
    bool any = false;
    for (unsigned c = 0; c < limit; c++) {
        if (!charset_in(set, c < 128 ? c : RAW_BYTE | c))
            continue;
        unsigned first = c;
        while (c + 1 < limit && charset_in(set, c + 1 < 128 ? c + 1 : RAW_BYTE | (c + 1)))
            c++;
        put_byte(p, first);
        if (c > first + 1)
            put(p, "-");
        if (c > first)
            put_byte(p, c);
        any = true;
    }
    return any;
}

static bool put_high(const Printer *p, const CharSet *set)
{
    bool any = false;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t first = MAX(set->spans[i].first, 128u), last = MIN(set->spans[i].last, 0x10FFFFu);
        if (first > last)
            continue;
        buf_printf(p->out, "\\x{%x}-\\x{%x}", first, last);
        any = true;
    }
    for (unsigned k = 0; set->classes >> k; k++) {
        unsigned name = k == CLASS_ALPHA || k == CLASS_WORD ? CLASS_ALNUM : k;
        if ((set->classes >> k & 1) && name < ARRAY_LEN(class_parts) && class_parts[name]) {
            put(p, class_parts[name]);
            any = true;
        }
    }
    return any;
}

static void put_nothing_or_all(const Printer *p, size_t from, bool negated)
{
    if (p->out->failed)
        return;
    p->out->len = from;
    put(p, negated ? "(?s:.)" : "(?!)");
}

/* In bytes, with the members above ASCII spelled out (a range of them is taken for all). */
static void put_set_mixed(const Printer *p, const CharSet *set)
{
    put(p, set->negated ? "(?:[^" : "(?:");
    if (set->negated) {
        put_low(p, set, 256);
        put(p, "\\x80-\\xff]|" MULTIBYTE ")");
        return;
    }
    size_t from = p->out->len;
    put(p, "[");
    if (put_low(p, set, 256))
        put(p, "]");
    else
        put_nothing_or_all(p, from, false);
    for (uint32_t i = 0; i < set->count; i++) {
        CharSpan s = set->spans[i];
        if (s.first >= RAW_BYTE)
            continue;
        put(p, "|");
        if (s.first == s.last)
            put_bytes_of(p, s.first);
        else
            put(p, MULTIBYTE);
    }
    put(p, set->classes ? "|" MULTIBYTE ")" : ")");
}

/* The properties of [:alpha:] have the ASCII digits in them (those of other scripts are letters): where the set has not, they are told apart. */
static bool put_digits_apart(const Printer *p, const CharSet *set)
{
    char digits[11];
    size_t n = 0;
    for (char c = '0'; c <= '9'; c++)
        if (!charset_in(set, (unsigned char)c))
            digits[n++] = c;
    digits[n] = 0;
    if (!n || p->form != FORM_UTF || !(set->classes >> CLASS_ALPHA & 1))
        return false;
    buf_printf(p->out, set->negated ? "(?:[%s]|" : "(?:(?![%s])", digits);
    return true;
}

static void put_set(const Printer *p, const CharSet *set)
{
    if (p->form == FORM_MIXED) {
        put_set_mixed(p, set);
        return;
    }
    bool apart = put_digits_apart(p, set);
    size_t from = p->out->len;
    put(p, set->negated ? "[^" : "[");
    bool any = put_low(p, set, p->form == FORM_UTF || !(p->flags & RE_BYTES) ? 128 : 256);
    if (p->form == FORM_UTF)
        any |= put_high(p, set);
    if (any)
        put(p, "]");
    else
        put_nothing_or_all(p, from, set->negated);
    if (apart)
        put(p, ")");
}

/* A word character, as a lookaround has it. */
static void put_word(const Printer *p, const char *before, const char *after)
{
    put(p, before);
    if (p->form == FORM_UTF) {
        put(p, "[\\w");
        put(p, class_parts[CLASS_ALNUM]);
        put(p, "]");
    } else {
        put(p, "\\w");
    }
    put(p, after);
}

static void put_edge(const Printer *p, bool before, bool after)
{
    put_word(p, before ? "(?<=" : "(?<!", ")");
    put_word(p, after ? "(?=" : "(?!", ")");
}

static void put_either_edge(const Printer *p, bool same)
{
    if (p->form != FORM_UTF) {
        put(p, same ? "\\B" : "\\b");
        return;
    }
    put(p, "(?:");
    put_edge(p, false, !same);
    put(p, "|");
    put_edge(p, true, same);
    put(p, ")");
}

static void put_anchor(const Printer *p, uint32_t c)
{
    bool lines = p->flags & (RE_NEWLINE | RE_MULTILINE), grep = p->flags & RE_GREP;
    switch (c) {
    case '^': put(p, "^"); break;
    case '$': put(p, "$"); break; /* not \z: PCRE2 finds one before a stray byte */
    case '`': put(p, grep && lines ? "^" : "\\A"); break;
    case '\'': put(p, grep || !lines ? "$" : "\\z"); break;
    case '<': put_edge(p, false, true); break;
    case '>': put_edge(p, true, false); break;
    case 'b': put_either_edge(p, false); break;
    default: put_either_edge(p, true); break;
    }
}

static void put_node(const Printer *p, const Node *n);

static void put_repeat(const Printer *p, const Node *n)
{
    NodeKind k = n->sub->kind;
    bool atom = k == N_CHAR || k == N_SET || k == N_GROUP || k == N_BACKREF || k == N_ANY;
    if (!atom)
        put(p, "(?:");
    put_node(p, n->sub);
    if (!atom)
        put(p, ")");
    if (n->max == REPEAT_FOREVER && n->min < 2)
        put(p, n->min ? "+" : "*");
    else if (n->min == 0 && n->max == 1)
        put(p, "?");
    else if (n->max == REPEAT_FOREVER)
        buf_printf(p->out, "{%d,}", n->min);
    else
        buf_printf(p->out, "{%d,%d}", n->min, n->max);
}

static void put_node(const Printer *p, const Node *n)
{
    switch (n->kind) {
    case N_EMPTY: break;
    case N_CHAR: put_char(p, n->c); break;
    case N_ANY: put(p, p->form == FORM_MIXED ? "(?:[\\x00-\\x7f]|" MULTIBYTE ")" : "."); break;
    case N_SET: put_set(p, n->set); break;
    case N_CAT:
        for (uint32_t i = 0; i < n->count; i++) {
            bool alt = n->kids[i]->kind == N_ALT;
            if (alt)
                put(p, "(?:");
            put_node(p, n->kids[i]);
            if (alt)
                put(p, ")");
        }
        break;
    case N_ALT:
        for (uint32_t i = 0; i < n->count; i++) {
            if (i)
                put(p, "|");
            put_node(p, n->kids[i]);
        }
        break;
    case N_REPEAT: put_repeat(p, n); break;
    case N_GROUP:
        put(p, "(");
        put_node(p, n->sub);
        put(p, ")");
        break;
    case N_BACKREF: buf_printf(p->out, "\\g{%u}", n->number); break;
    case N_ANCHOR: put_anchor(p, n->c); break;
    }
}

void re_print(Buf *out, const Node *n, ReForm form, unsigned flags)
{
    Printer p = {out, form, flags};
    if (flags & RE_WHOLE_LINE)
        put(&p, flags & RE_NEWLINE ? "^" : "\\A");
    else if (flags & RE_WHOLE_WORD)
        put_word(&p, "(?<!", ")");
    put(&p, "(?:");
    put_node(&p, n);
    put(&p, ")");
    if (flags & RE_WHOLE_LINE)
        put(&p, flags & RE_NEWLINE ? "$" : "\\z");
    else if (flags & RE_WHOLE_WORD)
        put_word(&p, "(?!", ")");
}
