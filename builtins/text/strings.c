/* strings: print the sequences of printable characters in files. GNU binutils 2.40, of which every file is looked at as a whole. */
#include "command.h"

static const Option options[] = {
    {'a', "all", OPT_FLAG, "scan the entire file, not just the data section (default)", NULL, 0},
    {'d', "data", OPT_FLAG, "only scan the data sections in the file (scans it all)", NULL, 0},
    {'f', "print-file-name", OPT_FLAG, "print the name of the file before each string", NULL, 0},
    {'n', "bytes", OPT_VALUE, "locate & print any sequence of at least MIN-LEN displayable characters (the default is 4)", "MIN-LEN", 0},
    {'t', "radix", OPT_VALUE, "print the location of the string in base 8, 10 or 16", "{o,d,x}", 0},
    {'w', "include-all-whitespace", OPT_FLAG, "include all whitespace as valid string characters", NULL, 0},
    {'o', NULL, OPT_FLAG, "an alias for --radix=o", NULL, 0},
    {'T', "target", OPT_VALUE, "specify the binary file format (has no effect)", "BFDNAME", 0},
    {'e', "encoding", OPT_VALUE, "select character size and endianness: s = 7-bit, S = 8-bit, {b,l} = 16-bit, {B,L} = 32-bit", "{s,S,b,l,B,L}", 0},
    {'U', "unicode", OPT_VALUE, "how to treat UTF-8 characters: default, invalid, show, locale, escape, hex, highlight", "MODE", 0},
    {'s', "output-separator", OPT_VALUE, "string used to separate strings in output", "STRING", 0},
    OPTION_HELP('h'),
    OPTION_VERSION('v'),
    OPTION_VERSION('V'),
    OPTION_DIGITS,
    OPTIONS_END,
};

typedef struct {
    Proc *p;
    bool names, whitespace;
    uint64_t least;
    char radix, encoding;
    char unicode; /* d: UTF-8 is not looked at, else what is shown for a character: l, e, x */
    const char *separator, *name;
    Buf found;
} Strings;

static bool graphic(const Strings *s, uint32_t c)
{
    if (c > 255)
        return false;
    if (c == '\t' || (c >= 32 && c < 127) || (s->encoding == 'S' && c > 127))
        return true;
    return s->whitespace && c >= '\n' && c <= '\r';
}

static void put_found(Strings *s, uint64_t offset)
{
    Output *out = s->p->out;
    if (s->found.len >= s->least) {
        if (s->names)
            out_printf(out, "%s: ", s->name);
        if (s->radix)
            out_printf(out, s->radix == 'o' ? "%7llo " : s->radix == 'x' ? "%7llx " : "%7lld ", (unsigned long long)offset);
        out_write(out, buf_slice(&s->found));
        out_str(out, s->separator ? s->separator : "\n");
    }
    buf_clear(&s->found);
}

static unsigned unit_size(char encoding) { return encoding == 'b' || encoding == 'l' ? 2 : encoding == 'B' || encoding == 'L' ? 4 : 1; }

/* The length of the UTF-8 character at s, as binutils looks for one: 0 when there is none. */
static size_t utf8_length(Slice s)
{
    unsigned char lead = (unsigned char)s.data[0];
    size_t n = lead >= 0xc0 && lead < 0xe0 ? 2 : (lead & 0xf0) == 0xe0 ? 3 : (lead & 0xf8) == 0xf0 ? 4 : 0;
    if (!n || s.len < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)s.data[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* The escape of a character of four bytes is short of two bits, as there. */
static void put_character(Strings *s, const char *text, size_t n)
{
    const unsigned char *b = (const unsigned char *)text;
    unsigned last = (b[n - 2] & 3u) << 6 | (b[n - 1] & 0x3fu);
    if (s->unicode == 'l') {
        buf_char(&s->found, text[0]);
    } else if (s->unicode == 'x') {
        buf_append(&s->found, SLICE("<0x"));
        for (size_t i = 0; i < n; i++)
            buf_printf(&s->found, "%02x", b[i]);
        buf_char(&s->found, '>');
    } else if (n == 2) {
        buf_printf(&s->found, "\\u%02x%02x", (b[0] & 0x1cu) >> 2, last);
    } else if (n == 3) {
        buf_printf(&s->found, "\\u%02x%02x", (b[0] & 0xfu) << 4 | (b[1] & 0x3cu) >> 2, last);
    } else {
        buf_printf(&s->found, "\\u%02x%02x%02x", (b[0] & 7u) << 6 | (b[1] & 0x3cu) >> 2, (b[1] & 3u) << 6 | (b[2] & 0x3cu) >> 2, last);
    }
}

/* Bytes, with UTF-8 characters among them that count as one each. */
static void scan_unicode(Strings *s, Input *in)
{
    Slice all = read_all(s->p, in->fd);
    uint64_t least = s->least, start = 0, count = 0;
    s->least = 0; /* counted here */
    for (size_t at = 0; at < all.len; proc_tick(s->p, 1)) {
        Slice rest = slice_from(all, at);
        bool plain = graphic(s, (unsigned char)rest.data[0]) && (unsigned char)rest.data[0] < 128;
        size_t n = plain ? 1 : utf8_length(rest);
        if (!n) {
            if (count >= least)
                put_found(s, start);
            buf_clear(&s->found);
            count = 0;
            at++;
            continue;
        }
        if (!count++)
            start = at;
        if (plain)
            buf_char(&s->found, rest.data[0]);
        else
            put_character(s, rest.data, n);
        at += n;
    }
    if (count >= least)
        put_found(s, start);
    buf_clear(&s->found);
    s->least = least;
}

/* A character of several bytes that does not fit is tried again one byte further on. */
static void scan(Strings *s, Input *in)
{
    unsigned size = unit_size(s->encoding), have = 0;
    bool big = s->encoding == 'b' || s->encoding == 'B';
    unsigned char held[4];
    uint64_t at = 0, start = 0;
    for (Slice chunk; input_chunk(in, &chunk); proc_tick(s->p, 1 + chunk.len / 32))
        for (size_t i = 0; i < chunk.len; i++) {
            held[have++] = (unsigned char)chunk.data[i];
            at++;
            if (have < size)
                continue;
            uint32_t c = 0;
            for (unsigned k = 0; k < size; k++)
                c = c << 8 | held[big || size == 1 ? k : size - 1 - k];
            if (graphic(s, c)) {
                if (!s->found.len)
                    start = at - size;
                buf_char(&s->found, (char)c);
                have = 0;
                continue;
            }
            put_found(s, start);
            memmove(held, held + 1, size - 1);
            have = size - 1;
        }
    put_found(s, start);
}

static NORETURN void usage(Proc *p, const Args *args)
{
    out_printf(p->err, "Usage: %s [option(s)] [file(s)]\n Display printable strings in [file(s)] (stdin by default)\n", args->command->name);
    output_flush(p->err);
    proc_fail(p, 1);
}

static uint64_t length_value(Proc *p, const char *text)
{
    int64_t v;
    if (parse_int(text, &v))
        die(p, 1, "invalid integer argument %s", text);
    if (v < 1)
        die(p, 1, "invalid minimum string length %s", text);
    return (uint64_t)v;
}

static void set_unicode(Strings *s, const char *mode)
{
    static const struct { const char *name; char letter, shown; } modes[] = {
        {"default", 'd', 'd'}, {"invalid", 'i', 'd'}, {"locale", 'l', 'l'}, {"escape", 'e', 'e'}, {"hex", 'x', 'x'}, {"highlight", 'h', 'e'},
    };
    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        if (strcmp(mode, modes[i].name) == 0 || (mode[0] == modes[i].letter && !mode[1])) {
            s->unicode = modes[i].shown;
            return;
        }
    die(s->p, 1, "invalid argument to -U/--unicode: %s", mode);
}

static void set_option(Strings *s, Args *args, int id)
{
    switch (id) {
    case 'f': s->names = true; break;
    case 'n': s->least = length_value(s->p, args->value); break;
    case 'o': s->radix = 'o'; break;
    case 't':
        if (strlen(args->value) != 1 || !strchr("odx", *args->value))
            usage(s->p, args);
        s->radix = *args->value;
        break;
    case 'e':
        if (strlen(args->value) != 1 || !strchr("sSblBL", *args->value))
            usage(s->p, args);
        s->encoding = *args->value;
        break;
    case 'w': s->whitespace = true; break;
    case 's': s->separator = args->value; break;
    case 'U': set_unicode(s, args->value); break;
    default: break;
    }
}

static int strings_main(Proc *p, Args *args)
{
    Strings s = {.p = p, .least = 4, .encoding = 's', .unicode = 'd'};
    char digits[16] = "";
    buf_init(&s.found, &p->keep, BUF_MAX);
    for (int id; (id = args_next(p, args)) != -1;) {
        size_t n = strlen(digits);
        if (id >= '0' && id <= '9') {
            if (n + 1 < sizeof digits)
                digits[n] = (char)id;
            s.least = length_value(p, digits);
        } else {
            set_option(&s, args, id);
        }
    }
    int n, status = 0;
    char **v = args_operands(args, &n);
    for (int i = 0; i < MAX(n, 1); i++) {
        VStat st;
        const char *name = n ? v[i] : "-";
        bool standard = n == 0 || strcmp(name, "-") == 0;
        int r = standard ? 0 : proc_stat(p, name, 0, &st);
        if (r == -ENOENT)
            warn(p, "'%s': No such file", name);
        else if (r)
            warn(p, "Warning: could not locate '%s'.  reason: %s", name, error_text(r));
        else if (!standard && (st.mode & 0170000) == 0040000)
            warn(p, "Warning: '%s' is a directory", name);
        else {
            Input in = input_files(p, n ? v + i : NULL, n > 0);
            s.name = standard ? "{standard input}" : name;
            if (input_open(&in)) {
                if (s.unicode != 'd' && unit_size(s.encoding) == 1)
                    scan_unicode(&s, &in);
                else
                    scan(&s, &in);
            }
            status |= input_status(&in);
            continue;
        }
        status = 1;
    }
    return status;
}

COMMAND(strings, "strings [option(s)] [file(s)]", "Display printable strings in [file(s)] (stdin by default).", options, COMMAND_PURE, .package = "GNU binutils 2.40");
