/* tr: translate, squeeze or delete bytes. GNU coreutils 9.1: bytes in every locale. */
#include "command.h"

static const Option options[] = {
    {'c', "complement", OPT_FLAG, "use the complement of ARRAY1", NULL, 0},
    {'C', NULL, OPT_FLAG, "the same", NULL, 0},
    {'d', "delete", OPT_FLAG, "delete characters in ARRAY1, do not translate", NULL, 0},
    {'s', "squeeze-repeats", OPT_FLAG, "replace each sequence of a repeated character that is listed in the last ARRAY with a single occurrence", NULL, 0},
    {'t', "truncate-set1", OPT_FLAG, "first truncate ARRAY1 to length of ARRAY2", NULL, 0},
    OPTIONS_END,
};

typedef enum { PART_CHAR, PART_RANGE, PART_CLASS, PART_EQUIVALENCE, PART_REPEAT } PartKind;

typedef struct {
    PartKind kind;
    unsigned char first, last;
    CharClass class;
    uint64_t count; /* of PART_REPEAT; 0: as many as needed */
} Part;

typedef struct {
    Part *parts;
    size_t count;
    uint64_t length;   /* without an open-ended repeat */
    bool open_repeat, classes, case_only; /* has [c*]; has classes; these are only upper and lower */
} Set;

/* One byte of the text, escapes resolved; `escaped` when it cannot be special. */
typedef struct { unsigned char byte; bool escaped; } Unit;

static NORETURN void bad(Proc *p, const char *format, const char *text)
{
    warn(p, format, text);
    proc_fail(p, 1);
}

/* ---------- reading a set ---------- */

static size_t unescape_octal(Proc *p, const char *s, Unit *out)
{
    unsigned v = 0;
    size_t n = 0;
    while (n < 3 && s[n] >= '0' && s[n] <= '7') {
        unsigned next = v * 8 + (unsigned)(s[n] - '0');
        if (next > 255) {
            warn(p, "warning: the ambiguous octal escape \\%.3s is being\n\tinterpreted as the 2-byte sequence \\0%.2s, %c", s, s, s[2]);
            break;
        }
        v = next;
        n++;
    }
    *out = (Unit){(unsigned char)v, true};
    return n;
}

static Unit *unescape_all(Proc *p, const char *text, size_t *count)
{
    static const char from[] = "abfnrtv\\", to[] = "\a\b\f\n\r\t\v\\";
    Unit *units = mem_array(&p->keep, strlen(text) + 1, Unit);
    size_t n = 0;
    for (const char *s = text; *s;) {
        if (*s != '\\') {
            units[n++] = (Unit){(unsigned char)*s++, false};
            continue;
        }
        s++;
        const char *at = *s ? strchr(from, *s) : NULL;
        if (*s >= '0' && *s <= '7') {
            s += unescape_octal(p, s, &units[n++]);
        } else if (!*s) {
            warn(p, "warning: an unescaped backslash at end of string is not portable");
            units[n++] = (Unit){'\\', false};
        } else {
            units[n++] = (Unit){(unsigned char)(at ? to[at - from] : *s), true};
            s++;
        }
    }
    *count = n;
    return units;
}

static bool plain(const Unit *u, unsigned char c) { return !u->escaped && u->byte == c; }

static char *text_of(Proc *p, const Unit *u, size_t n)
{
    char *s = mem_alloc(&p->mem, n + 1);
    for (size_t i = 0; i < n; i++)
        s[i] = (char)u[i].byte;
    s[n] = 0;
    return s;
}

/* [:class:] or [=c=] at u[0]; its length, or 0. */
static size_t bracket(Proc *p, const Unit *u, size_t left, Part *part)
{
    if (left < 5 || !plain(u, '[') || (!plain(u + 1, ':') && !plain(u + 1, '=')))
        return 0;
    unsigned char mark = u[1].byte;
    size_t end = 2;
    while (end + 1 < left && !(plain(u + end, mark) && plain(u + end + 1, ']')))
        end++;
    if (end + 1 >= left)
        return 0;
    if (mark == ':') {
        if (end == 2)
            bad(p, "missing character class name '[::]'%s", "");
        const char *name = text_of(p, u + 2, end - 2);
        *part = (Part){.kind = PART_CLASS, .class = class_named(slice_str(name))};
        if (part->class == CLASS_NONE || part->class == CLASS_ASCII || part->class == CLASS_WORD) {
            /* `[:*]` forms that are no class are literal when they could be a repeat */
            if (end + 2 <= left && plain(u + 2, '*'))
                return 0;
            bad(p, "invalid character class %s", quote(p, name));
        }
    } else {
        if (end == 2)
            bad(p, "missing equivalence class character '[==]'%s", "");
        if (end != 3) {
            if (plain(u + 2, '*'))
                return 0;
            bad(p, "%s: equivalence class operand must be a single character", text_of(p, u + 2, end - 2));
        }
        *part = (Part){.kind = PART_EQUIVALENCE, .first = u[2].byte};
    }
    return end + 2;
}

/* [c*], [c*n] at u[0]; its length, or 0. */
static size_t repeat(Proc *p, const Unit *u, size_t left, Part *part)
{
    if (left < 4 || !plain(u, '[') || !plain(u + 2, '*'))
        return 0;
    size_t end = 3;
    while (end < left && !plain(u + end, ']'))
        end++;
    if (end == left)
        return 0;
    uint64_t count = 0;
    unsigned base = end > 3 && u[3].byte == '0' ? 8 : 10;
    for (size_t i = 3; i < end; i++) {
        unsigned d = (unsigned)u[i].byte - '0';
        if (d >= base || __builtin_mul_overflow(count, base, &count) || __builtin_add_overflow(count, d, &count))
            bad(p, "invalid repeat count %s in [c*n] construct", quote(p, text_of(p, u + 3, end - 3)));
    }
    *part = (Part){.kind = PART_REPEAT, .first = u[1].byte, .count = count};
    return end + 1;
}

static const char *shown(Proc *p, unsigned char c)
{
    if (c >= 32 && c < 127)
        return mem_printf(&p->mem, "%c", c);
    return mem_printf(&p->mem, "\\%03o", c);
}

static size_t one_part(Proc *p, const Unit *u, size_t left, Part *part)
{
    size_t n = bracket(p, u, left, part);
    if (!n)
        n = repeat(p, u, left, part);
    if (n)
        return n;
    if (left >= 3 && plain(u + 1, '-')) {
        if (u[2].byte < u[0].byte) {
            warn(p, "range-endpoints of '%s-%s' are in reverse collating sequence order", shown(p, u[0].byte), shown(p, u[2].byte));
            proc_fail(p, 1);
        }
        *part = (Part){.kind = PART_RANGE, .first = u[0].byte, .last = u[2].byte};
        return 3;
    }
    *part = (Part){.kind = PART_CHAR, .first = u[0].byte};
    return 1;
}

static unsigned class_size(CharClass class)
{
    unsigned n = 0;
    for (uint32_t c = 0; c < 128; c++)
        n += class_has(class, c);
    return n;
}

static Set parse_set(Proc *p, const char *text)
{
    size_t n;
    Unit *u = unescape_all(p, text, &n);
    Set s = {.parts = mem_array(&p->keep, n + 1, Part), .case_only = true};
    for (size_t i = 0; i < n;) {
        Part *part = &s.parts[s.count++];
        i += one_part(p, u + i, n - i, part);
        if (part->kind == PART_CLASS) {
            s.classes = true;
            s.case_only &= part->class == CLASS_UPPER || part->class == CLASS_LOWER;
            s.length += class_size(part->class);
        } else if (part->kind == PART_REPEAT) {
            if (part->count == 0 && s.open_repeat)
                bad(p, "only one [c*] repeat construct may appear in string2%s", "");
            s.open_repeat |= part->count == 0;
            s.length += part->count;
        } else {
            s.length += part->kind == PART_RANGE ? part->last - part->first + 1u : 1u;
        }
    }
    return s;
}

/* ---------- expanding ---------- */

static void mark_part(const Part *part, bool in[256])
{
    switch (part->kind) {
    case PART_CHAR:
    case PART_EQUIVALENCE:
    case PART_REPEAT:
        in[part->first] = true;
        break;
    case PART_RANGE:
        for (unsigned c = part->first; c <= part->last; c++)
            in[c] = true;
        break;
    case PART_CLASS:
        for (uint32_t c = 0; c < 128; c++)
            in[c] |= class_has(part->class, c);
        break;
    }
}

static void membership(const Set *s, bool complement, bool in[256])
{
    memset(in, 0, 256 * sizeof in[0]);
    for (size_t i = 0; i < s->count; i++)
        mark_part(&s->parts[i], in);
    if (complement)
        for (unsigned c = 0; c < 256; c++)
            in[c] = !in[c];
}

enum { LONGEST_SET = 1 << 20 };

/* The bytes of the set in order; a repeat without a count fills up to `wanted`. */
static Slice expand(Proc *p, const Set *s, uint64_t wanted)
{
    Buf out;
    buf_init(&out, &p->keep, LONGEST_SET);
    for (size_t i = 0; i < s->count; i++) {
        const Part *part = &s->parts[i];
        uint64_t times = 1;
        if (part->kind == PART_REPEAT) {
            times = part->count ? part->count : wanted > s->length ? wanted - s->length : 0;
            times = MIN(times, (uint64_t)65536);
            while (times--)
                buf_char(&out, (char)part->first);
        } else if (part->kind == PART_RANGE) {
            for (unsigned c = part->first; c <= part->last; c++)
                buf_char(&out, (char)c);
        } else if (part->kind == PART_CLASS) {
            for (uint32_t c = 0; c < 128; c++)
                if (class_has(part->class, c))
                    buf_char(&out, (char)c);
        } else {
            buf_char(&out, (char)part->first);
        }
    }
    if (out.failed)
        die(p, 1, "too many characters in set");
    return out.data ? buf_slice(&out) : (Slice){"", 0};
}

static Slice complement_of(Proc *p, const Set *s)
{
    bool in[256];
    membership(s, true, in);
    char *out = mem_alloc(&p->keep, 256);
    size_t n = 0;
    for (unsigned c = 0; c < 256; c++)
        if (in[c])
            out[n++] = (char)c;
    return (Slice){out, n};
}

/* Case classes stand against each other at the same place: [:lower:] against [:upper:] maps letters, and nothing else may be a class in SET2. */
static void check_case_classes(Proc *p, const Set *a, const Set *b)
{
    uint64_t at = 0;
    for (size_t i = 0; i < b->count; i++) {
        const Part *part = &b->parts[i];
        if (part->kind == PART_CLASS) {
            uint64_t pos = 0;
            bool aligned = false;
            for (size_t j = 0; j < a->count && pos <= at; j++) {
                const Part *q = &a->parts[j];
                aligned |= pos == at && q->kind == PART_CLASS && (q->class == CLASS_UPPER || q->class == CLASS_LOWER);
                pos += q->kind == PART_CLASS ? class_size(q->class) : q->kind == PART_RANGE ? q->last - q->first + 1u : q->kind == PART_REPEAT ? q->count : 1u;
            }
            if (!aligned)
                bad(p, "misaligned [:upper:] and/or [:lower:] construct%s", "");
        }
        at += part->kind == PART_CLASS ? class_size(part->class) : part->kind == PART_RANGE ? part->last - part->first + 1u : part->kind == PART_REPEAT ? part->count : 1u;
    }
}

static void build_map(Proc *p, const Set *a, const Set *b, bool complement, bool truncate, unsigned char map[256])
{
    for (unsigned c = 0; c < 256; c++)
        map[c] = (unsigned char)c;
    if (b->classes && !b->case_only)
        bad(p, "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'%s", "");
    if (b->count == 0 && !truncate)
        bad(p, "when not truncating set1, string2 must be non-empty%s", "");
    if (complement && a->classes && b->length != 1 && !b->open_repeat)
        bad(p, "when translating with complemented character classes,\nstring2 must map all characters in the domain to one%s", "");
    if (!complement)
        check_case_classes(p, a, b);
    Slice from = complement ? complement_of(p, a) : expand(p, a, 0);
    Slice to = expand(p, b, from.len);
    if (to.len < from.len && !truncate && b->count && b->parts[b->count - 1].kind == PART_CLASS && from.len > b->length)
        bad(p, "when translating with string1 longer than string2,\nthe latter string must not end with a character class%s", "");
    size_t n = truncate ? MIN(from.len, to.len) : from.len;
    for (size_t i = 0; i < n && to.len; i++)
        map[(unsigned char)from.data[i]] = (unsigned char)to.data[MIN(i, to.len - 1)];
}

/* ---------- the stream ---------- */

typedef struct {
    bool delete, squeeze, translate;
    bool in_delete[256], in_squeeze[256];
    unsigned char map[256];
    int last; /* last byte written when squeezing, or -1 */
} Tr;

static size_t transform(Tr *t, Slice in, char *out)
{
    size_t n = 0;
    if (t->translate && !t->squeeze) {
        for (size_t i = 0; i < in.len; i++)
            out[i] = (char)t->map[(unsigned char)in.data[i]];
        return in.len;
    }
    for (size_t i = 0; i < in.len; i++) {
        unsigned char c = (unsigned char)in.data[i];
        if (t->delete && t->in_delete[c])
            continue;
        if (t->translate)
            c = t->map[c];
        if (t->squeeze) {
            if (c == t->last && t->in_squeeze[c])
                continue;
            t->last = c;
        }
        out[n++] = (char)c;
    }
    return n;
}

enum { PIECE = 16384 };

static int run(Proc *p, Tr *t)
{
    char *out = mem_alloc(&p->keep, PIECE);
    Slice chunk;
    ssize_t r;
    while ((r = proc_read_chunk(p, 0, 1 << 20, &chunk, NULL)) > 0) {
        while (chunk.len) {
            Slice piece = {chunk.data, MIN(chunk.len, (size_t)PIECE)};
            out_write(p->out, (Slice){out, transform(t, piece, out)});
            chunk = slice_from(chunk, piece.len);
            proc_tick(p, 4);
        }
        if (p->out->error)
            return 1;
    }
    if (r < 0)
        die_errno(p, 1, (int)r, "read error");
    return 0;
}

static void check_operands(Proc *p, Args *args, char **v, int n, bool delete, bool squeeze)
{
    int least = 1 + (delete == squeeze), most = 1 + (delete <= squeeze);
    if (n < least) {
        if (n == 0)
            usage_missing(p, args, NULL);
        warn(p, "missing operand after %s", quote(p, v[n - 1]));
        out_printf(p->err, squeeze ? "Two strings must be given when both deleting and squeezing repeats.\n" : "Two strings must be given when translating.\n");
        usage_hint(p, args);
    }
    if (n > most) {
        warn(p, "extra operand %s", quote(p, v[most]));
        if (n == 2)
            out_str(p->err, "Only one string may be given when deleting without squeezing repeats.\n");
        usage_hint(p, args);
    }
}

static int tr_main(Proc *p, Args *args)
{
    bool complement = false, truncate = false;
    Tr *t = mem_alloc0(&p->keep, sizeof *t);
    t->last = -1;
    for (int id; (id = args_next(p, args)) != -1;) {
        complement |= id == 'c' || id == 'C';
        t->delete |= id == 'd';
        t->squeeze |= id == 's';
        truncate |= id == 't';
    }
    int n;
    char **v = args_operands(args, &n);
    check_operands(p, args, v, n, t->delete, t->squeeze);
    Set a = parse_set(p, v[0]), b = {0};
    for (size_t i = 0; i < a.count; i++)
        if (a.parts[i].kind == PART_REPEAT)
            bad(p, "the [c*] repeat construct may not appear in string1%s", "");
    if (n == 2)
        b = parse_set(p, v[1]);
    t->translate = n == 2 && !t->delete;
    if (t->translate)
        build_map(p, &a, &b, complement, truncate, t->map);
    membership(&a, complement, t->in_delete);
    if (n == 2)
        membership(&b, false, t->in_squeeze);
    else
        memcpy(t->in_squeeze, t->in_delete, sizeof t->in_squeeze);
    return run(p, t);
}

COMMAND(tr, "tr [OPTION]... STRING1 [STRING2]", "Translate, squeeze, and/or delete characters from standard input, writing to standard output.", options, COMMAND_PURE | COMMAND_ORDERED);
