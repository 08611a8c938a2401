/* iconv: convert the encoding of text. GNU libc 2.36's program over tables of our own: UTF-8, UTF-16, UTF-32, ASCII and the one-byte sets
 * of tables.h. The East Asian sets are refused in words. */
#include "../../command.h"
#include "tables.h"

static const Option options[] = {
    {'f', "from-code", OPT_VALUE, "encoding of original text", "NAME", 0},
    {'t', "to-code", OPT_VALUE, "encoding for output", "NAME", 0},
    {'l', "list", OPT_FLAG, "list all known coded character sets", NULL, 0},
    {'c', NULL, OPT_FLAG, "omit invalid characters from output", NULL, 0},
    {'o', "output", OPT_VALUE, "output file", "FILE", 0},
    {'s', "silent", OPT_FLAG, "suppress warnings", NULL, 0},
    {0, "verbose", OPT_FLAG, "print progress information", NULL, 256},
    OPTION_VERSION('V'),
    OPTIONS_END,
};

typedef enum { SET_ASCII, SET_UTF8, SET_UTF16, SET_UTF32, SET_TABLE } SetKind;
typedef struct {
    SetKind kind;
    bool big, mark;       /* mark: a byte order mark is read, and written */
    const uint16_t *high;
} Charset;

typedef struct {
    Proc *p;
    Charset from, to;
    bool skip, transliterate, started, failed;
    Buf held;             /* bytes of a character that is not whole */
    uint64_t position;
    bool wrote;
} Iconv;

/* ---------- names ---------- */

static void plain_name(const char *name, char out[32])
{
    size_t n = 0;
    for (; *name && *name != '/' && n < 31; name++)
        if (*name != '-' && *name != '_' && *name != ' ')
            out[n++] = *name >= 'a' && *name <= 'z' ? (char)(*name - 32) : *name;
    out[n] = 0;
}

static bool table_set(const char *plain, Charset *set)
{
    static const char *const aliases[][2] = {
        {"LATIN1", "ISO-8859-1"}, {"L1", "ISO-8859-1"}, {"88591", "ISO-8859-1"}, {"ISO8859", "ISO-8859-1"}, {"LATIN2", "ISO-8859-2"}, {"L2", "ISO-8859-2"}, {"LATIN3", "ISO-8859-3"}, {"LATIN4", "ISO-8859-4"},
        {"CYRILLIC", "ISO-8859-5"}, {"ARABIC", "ISO-8859-6"}, {"GREEK", "ISO-8859-7"}, {"HEBREW", "ISO-8859-8"}, {"LATIN5", "ISO-8859-9"}, {"LATIN6", "ISO-8859-10"}, {"LATIN7", "ISO-8859-13"},
        {"LATIN8", "ISO-8859-14"}, {"LATIN9", "ISO-8859-15"}, {"LATIN10", "ISO-8859-16"}, {"KOI8", "KOI8-R"}, {"MAC", "MACINTOSH"}, {"IBM437", "CP437"}, {"437", "CP437"}, {"IBM850", "CP850"}, {"850", "CP850"},
        {"IBM852", "CP852"}, {"IBM866", "CP866"}, {"866", "CP866"}, {"MSANSI", "CP1252"}, {"MSCYRL", "CP1251"}, {"MSEE", "CP1250"}, {"TIS620", "ISO-8859-11"},
    };
    char text[40], other[32];
    if (strncmp(plain, "WINDOWS", 7) == 0) {
        snprintf(text, sizeof text, "CP%s", plain + 7);
        plain = text;
    }
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (strcmp(aliases[i][0], plain) == 0) {
            plain_name(aliases[i][1], other);
            plain = other;
            break;
        }
    for (size_t i = 0; i < ARRAY_LEN(one_byte); i++) {
        char own[32];
        plain_name(one_byte[i].name, own);
        if (strcmp(own, plain) == 0) {
            *set = (Charset){.kind = SET_TABLE, .high = one_byte[i].high};
            return true;
        }
    }
    return false;
}

static bool east_asian(const char *plain)
{
    static const char *const names[] = {"SHIFTJIS", "SJIS", "EUCJP", "ISO2022JP", "CP932", "GB2312", "GBK", "GB18030", "EUCCN", "BIG5", "BIG5HKSCS", "EUCTW", "EUCKR", "CP949", "ISO2022KR", "UHC", "JOHAB", "CP936", "CP950", "EUCJISX0213"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i], plain) == 0)
            return true;
    return false;
}

static bool find_set(const char *name, Charset *set)
{
    static const struct { const char *name; Charset set; } known[] = {
        {"UTF8", {SET_UTF8, false, false, NULL}}, {"", {SET_UTF8, false, false, NULL}}, {"UTF16", {SET_UTF16, false, true, NULL}}, {"UCS2", {SET_UTF16, false, false, NULL}}, {"UNICODE", {SET_UTF16, false, true, NULL}},
        {"UTF16LE", {SET_UTF16, false, false, NULL}}, {"UCS2LE", {SET_UTF16, false, false, NULL}}, {"UTF16BE", {SET_UTF16, true, false, NULL}}, {"UCS2BE", {SET_UTF16, true, false, NULL}},
        {"UTF32", {SET_UTF32, false, true, NULL}}, {"UTF32LE", {SET_UTF32, false, false, NULL}}, {"UCS4LE", {SET_UTF32, false, false, NULL}}, {"UTF32BE", {SET_UTF32, true, false, NULL}}, {"UCS4", {SET_UTF32, true, false, NULL}}, {"UCS4BE", {SET_UTF32, true, false, NULL}},
        {"ASCII", {SET_ASCII, false, false, NULL}}, {"USASCII", {SET_ASCII, false, false, NULL}}, {"ANSIX3.41968", {SET_ASCII, false, false, NULL}}, {"646", {SET_ASCII, false, false, NULL}},
    };
    char plain[32];
    plain_name(name, plain);
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(known[i].name, plain) == 0) {
            *set = known[i].set;
            return true;
        }
    return table_set(plain, set);
}

static void set_of(Proc *p, const char *name, Charset *set)
{
    char plain[32];
    if (find_set(name, set))
        return;
    plain_name(name, plain);
    if (east_asian(plain))
        die(p, 1, "conversion with `%s' is not supported", name);
    die_errno(p, 1, ENOENT, "failed to start conversion processing");
}

/* ---------- reading characters ---------- */

enum { CHAR_BAD = 0xFFFFFFFE, CHAR_SHORT = 0xFFFFFFFF };

static uint32_t unit(const unsigned char *s, size_t size, bool big)
{
    uint32_t v = 0;
    for (size_t i = 0; i < size; i++)
        v |= (uint32_t)s[i] << 8 * (big ? size - 1 - i : i);
    return v;
}

static uint32_t read_utf8(Slice s, size_t *n)
{
    unsigned char first = (unsigned char)*s.data;
    size_t want = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    uint32_t c = utf8_decode(s.data, s.len, n);
    if (c != UTF8_BAD)
        return c;
    bool cut = s.len < want && first >= 0xC2 && first < 0xF5;
    for (size_t i = 1; cut && i < s.len; i++)
        cut = ((unsigned char)s.data[i] & 0xC0) == 0x80;
    return cut ? CHAR_SHORT : CHAR_BAD;
}

static uint32_t read_utf16(const Charset *set, Slice s, size_t *n)
{
    const unsigned char *at = (const unsigned char *)s.data;
    *n = 2;
    if (s.len < 2)
        return CHAR_SHORT;
    uint32_t c = unit(at, 2, set->big);
    if (c < 0xD800 || c > 0xDFFF)
        return c;
    if (c > 0xDBFF)
        return CHAR_BAD;
    if (s.len < 4)
        return CHAR_SHORT;
    uint32_t low = unit(at + 2, 2, set->big);
    if (low < 0xDC00 || low > 0xDFFF)
        return CHAR_BAD;
    *n = 4;
    return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
}

static uint32_t read_char(const Charset *set, Slice s, size_t *n)
{
    unsigned char first = (unsigned char)*s.data;
    uint32_t c;
    *n = 1;
    switch (set->kind) {
    case SET_ASCII: return first < 0x80 ? first : CHAR_BAD;
    case SET_UTF8: return read_utf8(s, n);
    case SET_UTF16: return read_utf16(set, s, n);
    case SET_UTF32:
        *n = 4;
        if (s.len < 4)
            return CHAR_SHORT;
        c = unit((const unsigned char *)s.data, 4, set->big);
        return c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) ? CHAR_BAD : c;
    default:
        c = first < 0x80 ? first : set->high[first - 0x80];
        return first && !c ? CHAR_BAD : c;
    }
}

/* ---------- writing characters ---------- */

static void write_unit(Output *out, uint32_t v, size_t size, bool big)
{
    for (size_t i = 0; i < size; i++)
        out_char(out, (char)(v >> 8 * (big ? size - 1 - i : i)));
}

static bool write_char(Iconv *v, uint32_t c)
{
    Output *out = v->p->out;
    const Charset *set = &v->to;
    char bytes[6];
    if (set->mark && !v->wrote)
        write_unit(out, 0xFEFF, set->kind == SET_UTF16 ? 2 : 4, set->big);
    v->wrote = true;
    switch (set->kind) {
    case SET_UTF8: out_write(out, slice(bytes, utf8_encode(c, bytes))); return true;
    case SET_UTF32: write_unit(out, c, 4, set->big); return true;
    case SET_UTF16:
        if (c >= 0x10000) {
            write_unit(out, 0xD800 + ((c - 0x10000) >> 10), 2, set->big);
            c = 0xDC00 + (c & 0x3FF);
        }
        write_unit(out, c, 2, set->big);
        return true;
    default: break;
    }
    if (c < 0x80) {
        out_char(out, (char)c);
        return true;
    }
    for (unsigned i = 0; set->kind == SET_TABLE && i < 128; i++)
        if (set->high[i] == c) {
            out_char(out, (char)(i + 0x80));
            return true;
        }
    return false;
}

/* A few letters without their marks, and punctuation; a question mark for the rest. */
static void write_near(Iconv *v, uint32_t c)
{
    static const char latin[] = "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty";
    static const struct { uint16_t c; const char *text; } marks[] = {
        {0xC6, "AE"}, {0xE6, "ae"}, {0xDF, "ss"}, {0x152, "OE"}, {0x153, "oe"}, {0x2013, "-"}, {0x2014, "-"}, {0x2018, "'"}, {0x2019, "'"}, {0x201C, "\""}, {0x201D, "\""}, {0x2026, "..."}, {0x20AC, "EUR"},
        {0xA0, " "}, {0xA9, "(C)"}, {0xAE, "(R)"}, {0xAB, "<<"}, {0xBB, ">>"}, {0xD7, "x"}, {0x2122, "(TM)"}, {0x2022, "o"}, {0x2212, "-"},
    };
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (marks[i].c == c) {
            for (const char *s = marks[i].text; *s; s++)
                write_char(v, (unsigned char)*s);
            return;
        }
    write_char(v, c >= 0xC0 && c <= 0xFF ? (unsigned char)latin[c - 0xC0] : '?');
}

/* ---------- the conversion ---------- */

static NORETURN void illegal(Iconv *v, uint64_t at)
{
    warn(v->p, "illegal input sequence at position %llu", (unsigned long long)at);
    proc_fail(v->p, 1);
}

/* As much as is whole; how many bytes that was. */
static size_t convert(Iconv *v, Slice s)
{
    size_t at = 0, n;
    while (at < s.len) {
        Slice rest = slice_from(s, at);
        uint32_t c = read_char(&v->from, rest, &n);
        if (c == CHAR_SHORT)
            break;
        bool first = !v->started;
        v->started = true;
        if (first && v->from.mark && (c == 0xFFFE || c == 0xFEFF || c == CHAR_BAD)) {
            bool swapped = v->from.kind == SET_UTF16 ? c == 0xFFFE : unit((const unsigned char *)rest.data, 4, true) == 0xFEFF;
            if (c != CHAR_BAD || swapped) {
                v->from.big ^= swapped;
                at += n;
                continue;
            }
        }
        if (c == CHAR_BAD) {
            if (!v->skip)
                illegal(v, v->position + at);
            v->failed = true;
        } else if (!write_char(v, c)) {
            if (v->transliterate)
                write_near(v, c);
            else if (!v->skip)
                illegal(v, v->position + at);
            else
                v->failed = true;
        }
        at += n;
    }
    proc_tick(v->p, 1 + at / 32);
    return at;
}

static void convert_input(Iconv *v, Input *in)
{
    for (Slice chunk; input_chunk(in, &chunk);) {
        buf_append(&v->held, chunk);
        size_t n = convert(v, buf_slice(&v->held));
        v->position += n;
        memmove(v->held.data, v->held.data + n, v->held.len - n);
        v->held.len -= n;
    }
}

static void list_sets(Proc *p)
{
    static const char *const names[] = {"ASCII", "UTF-8", "UTF-16", "UTF-16BE", "UTF-16LE", "UTF-32", "UTF-32BE", "UTF-32LE"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        out_printf(p->out, "%s//\n", names[i]);
    for (size_t i = 0; i < ARRAY_LEN(one_byte); i++)
        out_printf(p->out, "%s//\n", one_byte[i].name);
}

static int iconv_text_main(Proc *p, Args *args)
{
    const char *from = "UTF-8", *to = "UTF-8", *output = NULL;
    Iconv v = {.p = p};
    for (int id; (id = args_next(p, args)) != -1;) {
        switch (id) {
        case 'f': from = args->value; break;
        case 't': to = args->value; break;
        case 'o': output = args->value; break;
        case 'c': v.skip = true; break;
        case 'l': list_sets(p); return 0;
        default: break;
        }
    }
    v.transliterate = strstr(to, "//TRANSLIT") != NULL;
    v.skip |= strstr(to, "//IGNORE") != NULL;
    set_of(p, from, &v.from);
    set_of(p, to, &v.to);
    buf_init(&v.held, &p->keep, BUF_MAX);
    if (output) {
        int fd = proc_open(p, output, V_WRITE | V_CREATE | V_TRUNC, 0666);
        if (fd < 0)
            die_errno(p, 1, fd, "unable to open output file");
        proc_dup2(p, fd, 1);
    }
    Input in = input_first(p, args);
    in.open_format = "cannot open input file `%s'";
    for (; input_open(&in); input_next(&in))
        convert_input(&v, &in);
    if (v.held.len) {
        warn(p, "incomplete character or shift sequence at end of buffer");
        return 1;
    }
    return v.failed || input_status(&in);
}

COMMAND_NAMED(iconv_text, "iconv", "iconv [OPTION...] [FILE...]", "Convert encoding of given files from one encoding to another.", options, COMMAND_WRITES, .package = "GNU libc 2.36",
              .notes = "The East Asian sets (SHIFT_JIS, EUC-JP, GBK, BIG5, EUC-KR ...) are not supported.");
