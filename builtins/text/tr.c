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
    uint64_t length;       /* without an open-ended repeat until that is filled */
    unsigned open_repeats; /* [c*] */
    bool classes, other_classes, equivalences; /* has classes; has ones other than upper and lower */
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
    if (left < 4 || !plain(u, '[') || (!plain(u + 1, ':') && !plain(u + 1, '=')))
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

static Set parse_set(Proc *p, const char *text)
{
    size_t n;
    Unit *u = unescape_all(p, text, &n);
    Set s = {.parts = mem_array(&p->keep, n + 2, Part)};
    for (size_t i = 0; i < n;)
        i += one_part(p, u + i, n - i, &s.parts[s.count++]);
    return s;
}

/* ---------- lengths ---------- */

static uint64_t part_length(const Part *part)
{
    uint64_t n = 0;
    switch (part->kind) {
    case PART_RANGE: return part->last - part->first + 1u;
    case PART_REPEAT: return part->count;
    case PART_CLASS:
        for (uint32_t c = 0; c < 128; c++)
            n += class_has(part->class, c);
        return n;
    default: return 1;
    }
}

/* Fills in what is known of a set: its length and the kinds of its parts. */
static void measure(Proc *p, Set *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const Part *part = &s->parts[i];
        bool case_class = part->kind == PART_CLASS && (part->class == CLASS_UPPER || part->class == CLASS_LOWER);
        s->classes |= part->kind == PART_CLASS;
        s->other_classes |= part->kind == PART_CLASS && !case_class;
        s->equivalences |= part->kind == PART_EQUIVALENCE;
        s->open_repeats += part->kind == PART_REPEAT && part->count == 0;
        if (__builtin_add_overflow(s->length, part_length(part), &s->length) || s->length > INT64_MAX)
            bad(p, "too many characters in set%s", "");
    }
}

/* A repeat without a count takes what SET2 lacks of `wanted`. */
static void fill_repeat(Set *s, uint64_t wanted)
{
    if (s->open_repeats != 1 || s->length > wanted)
        return;
    for (size_t i = 0; i < s->count; i++)
        if (s->parts[i].kind == PART_REPEAT && s->parts[i].count == 0)
            s->parts[i].count = wanted - s->length;
    s->length = wanted;
}

/* ---------- one character after the other ---------- */

typedef struct {
    const Set *set;
    size_t part;
    uint64_t at;       /* within the part */
    bool case_class;   /* what was returned lies in [:upper:] or [:lower:] */
    CharClass class;
} Cursor;

static int nth_of_class(CharClass class, uint64_t n)
{
    for (int c = 0; c < 128; c++)
        if (class_has(class, (uint32_t)c) && n-- == 0)
            return c;
    return -1;
}

static void next_part(Cursor *c)
{
    c->part++;
    c->at = 0;
}

/* The next character, or -1. */
static int cursor_next(Cursor *c)
{
    c->case_class = false;
    while (c->part < c->set->count && c->at >= part_length(&c->set->parts[c->part]))
        next_part(c);
    if (c->part == c->set->count)
        return -1;
    const Part *part = &c->set->parts[c->part];
    uint64_t at = c->at++;
    if (part->kind == PART_RANGE)
        return part->first + (int)at;
    if (part->kind != PART_CLASS)
        return part->first;
    c->class = part->class;
    c->case_class = part->class == CLASS_UPPER || part->class == CLASS_LOWER;
    return nth_of_class(part->class, at);
}

/* Whether the next character begins a part. */
static bool at_part(const Cursor *c)
{
    return c->at == 0 || c->part == c->set->count || c->at >= part_length(&c->set->parts[c->part]);
}

static void membership(const Set *s, bool complement, bool in[256])
{
    memset(in, 0, 256 * sizeof in[0]);
    for (size_t i = 0; i < s->count; i++) {
        const Part *part = &s->parts[i];
        if (part->kind == PART_REPEAT && part->count == 0)
            continue;
        for (unsigned c = 0; c < 256; c++)
            in[c] |= part->kind == PART_RANGE   ? c >= part->first && c <= part->last
                     : part->kind == PART_CLASS ? c < 128 && class_has(part->class, c)
                                                : c == part->first;
    }
    if (complement)
        for (unsigned c = 0; c < 256; c++)
            in[c] = !in[c];
}

/* ---------- translating ---------- */

/* Every [:upper:] or [:lower:] of SET2 stands against one of SET1. A pair of them counts as one character in both lengths. */
static void check_case_classes(Proc *p, Set *a, Set *b)
{
    const uint64_t others = 25;
    Cursor x = {.set = a}, y = {.set = b};
    if (!b->classes)
        return;
    for (;;) {
        bool x_new = at_part(&x), y_new = at_part(&y);
        int c = cursor_next(&x), d = cursor_next(&y);
        if (y_new && y.case_class && !(x_new && x.case_class))
            bad(p, "misaligned [:upper:] and/or [:lower:] construct%s", "");
        if (c == -1 || d == -1)
            return;
        if (y.case_class) {
            next_part(&x);
            next_part(&y);
            a->length -= others;
            b->length -= others;
        }
    }
}

/* SET2 is made as long as SET1 by its last character. */
static void extend(Proc *p, const Set *a, Set *b)
{
    const Part *last = &b->parts[b->count - 1];
    if (last->kind == PART_CLASS)
        bad(p, "when translating with string1 longer than string2,\nthe latter string must not end with a character class%s", "");
    unsigned char c = last->kind == PART_RANGE ? last->last : last->first;
    b->parts[b->count++] = (Part){.kind = PART_REPEAT, .first = c, .count = a->length - b->length};
    b->length = a->length;
}

static bool all_one(const Set *s)
{
    Cursor c = {.set = s};
    int first = cursor_next(&c), next = first;
    while (next == first && next != -1) {
        if (c.part < s->count && s->parts[c.part].kind == PART_REPEAT)
            c.at = s->parts[c.part].count;
        next = cursor_next(&c);
    }
    return next == -1;
}

static void check_translation(Proc *p, Set *a, Set *b, bool complement, bool truncate)
{
    if (b->equivalences)
        bad(p, "[=c=] expressions may not appear in string2 when translating%s", "");
    if (b->other_classes)
        bad(p, "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'%s", "");
    if (!complement)
        check_case_classes(p, a, b);
    if (a->length > b->length && !truncate) {
        if (b->length == 0)
            bad(p, "when not truncating set1, string2 must be non-empty%s", "");
        extend(p, a, b);
    }
    if (complement && a->classes && !(b->length == a->length && all_one(b)))
        bad(p, "when translating with complemented character classes,\nstring2 must map all characters in the domain to one%s", "");
}

static void map_complement(const Set *a, const Set *b, unsigned char map[256])
{
    bool in[256];
    Cursor to = {.set = b};
    membership(a, true, in);
    for (unsigned c = 0; c < 256; c++) {
        int d = in[c] ? cursor_next(&to) : -1;
        if (in[c] && d == -1)
            return;
        if (in[c])
            map[c] = (unsigned char)d;
    }
}

static void map_case(CharClass from, CharClass to, unsigned char map[256])
{
    if (from == CLASS_LOWER && to == CLASS_UPPER)
        for (unsigned c = 'a'; c <= 'z'; c++)
            map[c] = (unsigned char)(c - 32);
    if (from == CLASS_UPPER && to == CLASS_LOWER)
        for (unsigned c = 'A'; c <= 'Z'; c++)
            map[c] = (unsigned char)(c + 32);
}

static void build_map(const Set *a, const Set *b, bool complement, unsigned char map[256])
{
    for (unsigned c = 0; c < 256; c++)
        map[c] = (unsigned char)c;
    if (complement) {
        map_complement(a, b, map);
        return;
    }
    Cursor x = {.set = a}, y = {.set = b};
    for (;;) {
        int c = cursor_next(&x), d = cursor_next(&y);
        if (c == -1 || d == -1)
            return;
        if (x.case_class && y.case_class && x.class != y.class)
            map_case(x.class, y.class, map);
        else
            map[c] = (unsigned char)d;
        if (y.case_class) {
            next_part(&x);
            next_part(&y);
        }
    }
}

/* SET2, against SET1 of the length that complementing gives it. */
static void check_sets(Proc *p, Set *a, Set *b, bool two, bool translate, bool complement, bool truncate)
{
    measure(p, a);
    if (a->open_repeats)
        bad(p, "the [c*] repeat construct may not appear in string1%s", "");
    if (complement) {
        bool in[256];
        membership(a, true, in);
        a->length = 0;
        for (unsigned c = 0; c < 256; c++)
            a->length += in[c];
    }
    if (!two)
        return;
    measure(p, b);
    fill_repeat(b, a->length);
    if (b->open_repeats > 1)
        bad(p, "only one [c*] repeat construct may appear in string2%s", "");
    if (translate)
        check_translation(p, a, b, complement, truncate);
    else if (b->open_repeats)
        bad(p, "the [c*] construct may appear in string2 only when translating%s", "");
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
        size_t i = 0;
        for (; in.len - i >= 8; i += 8) { /* eight look-ups that do not wait for each other */
            uint64_t bytes, mapped = 0;
            memcpy(&bytes, in.data + i, 8);
            for (unsigned shift = 0; shift < 64; shift += 8)
                mapped |= (uint64_t)t->map[bytes >> shift & 255] << shift;
            memcpy(out + i, &mapped, 8);
        }
        for (; i < in.len; i++)
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
    if (n == 2)
        b = parse_set(p, v[1]);
    t->translate = n == 2 && !t->delete;
    check_sets(p, &a, &b, n == 2, t->translate, complement, truncate);
    if (t->translate)
        build_map(&a, &b, complement, t->map);
    membership(&a, complement, t->in_delete);
    if (n == 2)
        membership(&b, false, t->in_squeeze);
    else
        memcpy(t->in_squeeze, t->in_delete, sizeof t->in_squeeze);
    return run(p, t);
}

COMMAND(tr, "tr [OPTION]... STRING1 [STRING2]", "Translate, squeeze, and/or delete characters from standard input, writing to standard output.", options, COMMAND_PURE | COMMAND_ORDERED);
