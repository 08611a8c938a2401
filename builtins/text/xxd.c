/* xxd: make a hex dump or do the reverse. xxd of 2022-01-14. */
#include <sys/stat.h>

#include "command.h"

enum { COLUMNS_MOST = 256, LINE_ROOM = 1 << 13 };

static const Option options[] = {
    {'a', "autoskip", OPT_FLAG, "toggle autoskip: a single '*' replaces nul-lines", NULL, 0},
    {'b', "bits", OPT_FLAG, "binary digit dump", NULL, 0},
    {'C', "capitalize", OPT_FLAG, "capitalize variable names in C include file style (-i)", NULL, 0},
    {'c', "cols", OPT_VALUE, "format COLS octets per line; default 16 (-i: 12, -ps: 30)", "COLS", 0},
    {'E', "EBCDIC", OPT_FLAG, "show characters in EBCDIC", NULL, 0},
    {'e', NULL, OPT_FLAG, "little-endian dump", NULL, 0},
    {'g', "groupsize", OPT_VALUE, "number of octets per group; default 2 (-e: 4)", "BYTES", 0},
    {'h', NULL, OPT_FLAG, "print this summary", NULL, 0},
    {'i', "include", OPT_FLAG, "output in C include file style", NULL, 0},
    {'l', "len", OPT_VALUE, "stop after LEN octets", "LEN", 0},
    {'n', "name", OPT_VALUE, "set the variable name used in C include output (-i)", "NAME", 0},
    {'o', "offset", OPT_VALUE, "add OFF to the displayed file position", "OFF", 0},
    {'p', "ps", OPT_FLAG, "output in postscript plain hexdump style", NULL, 0},
    {'r', "revert", OPT_FLAG, "convert (or patch) a hexdump into binary", NULL, 0},
    {'d', NULL, OPT_FLAG, "show offset in decimal instead of hex", NULL, 0},
    {'s', "seek", OPT_VALUE, "start at SEEK bytes of the input; with -r: added to file positions", "SEEK", 0},
    {'u', "uppercase", OPT_FLAG, "use upper case hex letters", NULL, 0},
    {'v', NULL, OPT_FLAG, "show version", NULL, 0},
    OPTIONS_END,
};

static const char usage_text[] =
    "Usage:\n       xxd [options] [infile [outfile]]\n    or\n       xxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]\nOptions:\n"
    "    -a          toggle autoskip: A single '*' replaces nul-lines. Default off.\n"
    "    -b          binary digit dump (incompatible with -ps,-i,-r). Default hex.\n"
    "    -C          capitalize variable names in C include file style (-i).\n"
    "    -c cols     format <cols> octets per line. Default 16 (-i: 12, -ps: 30).\n"
    "    -E          show characters in EBCDIC. Default ASCII.\n"
    "    -e          little-endian dump (incompatible with -ps,-i,-r).\n"
    "    -g bytes    number of octets per group in normal output. Default 2 (-e: 4).\n"
    "    -h          print this summary.\n"
    "    -i          output in C include file style.\n"
    "    -l len      stop after <len> octets.\n"
    "    -n name     set the variable name used in C include output (-i).\n"
    "    -o off      add <off> to the displayed file position.\n"
    "    -ps         output in postscript plain hexdump style.\n"
    "    -r          reverse operation: convert (or patch) hexdump into binary.\n"
    "    -r -s off   revert with <off> added to file positions found in hexdump.\n"
    "    -d          show offset in decimal instead of hex.\n"
    "    -s [+][-]seek  start at <seek> bytes abs. (or +: rel.) infile offset.\n"
    "    -u          use upper case hex letters.\n"
    "    -v          show version: \"xxd 2022-01-14 by Juergen Weigert et al.\".\n";

typedef struct {
    Proc *p;
    bool autoskip, bits, capital, ebcdic, little, include, plain, revert, decimal, upper;
    bool columns_given, group_given, from_end, seek_given;
    int64_t columns, group, length, seek, offset;
    const char *name;
    Input in;
    Slice rest;
} Xxd;

static NORETURN void usage(Proc *p)
{
    out_str(p->err, usage_text);
    output_flush(p->err);
    proc_fail(p, 1);
}

static const char *digits(const Xxd *x) { return x->upper ? "0123456789ABCDEF" : "0123456789abcdef"; }

static int next_byte(Xxd *x)
{
    if (!x->rest.len && !input_chunk(&x->in, &x->rest))
        return -1;
    int c = (unsigned char)*x->rest.data;
    x->rest = slice_from(x->rest, 1);
    return c;
}

/* ---------- dumps ---------- */

static void plain_dump(Xxd *x)
{
    int64_t column = 0;
    for (int c; (x->length < 0 || x->length-- > 0) && (c = next_byte(x)) >= 0;) {
        out_char(x->p->out, digits(x)[c >> 4]);
        out_char(x->p->out, digits(x)[c & 15]);
        if (++column == x->columns) {
            out_char(x->p->out, '\n');
            column = 0;
            proc_tick(x->p, 1);
        }
    }
    if (column)
        out_char(x->p->out, '\n');
}

static char letter_of_name(const Xxd *x, char c)
{
    bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!word)
        return '_';
    return x->capital && c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

static void put_name(const Xxd *x, const char *name)
{
    if (*name >= '0' && *name <= '9')
        out_str(x->p->out, "__");
    for (; *name; name++)
        out_char(x->p->out, letter_of_name(x, *name));
}

static void include_dump(Xxd *x)
{
    Output *out = x->p->out;
    int64_t n = 0;
    const char *name = x->name ? x->name : x->in.is_stdin ? NULL : x->in.name;
    if (name) {
        out_str(out, "unsigned char ");
        put_name(x, name);
        out_str(out, "[] = {\n");
    }
    for (int c; (x->length < 0 || n < x->length) && (c = next_byte(x)) >= 0; n++) {
        out_str(out, n == 0 ? "  " : n % x->columns ? ", " : ",\n  ");
        out_printf(out, x->upper ? "0X%02X" : "0x%02x", c);
        proc_tick(x->p, 1);
    }
    if (n)
        out_char(out, '\n');
    if (name) {
        out_str(out, "};\nunsigned int ");
        put_name(x, name);
        out_printf(out, "_%s = %lld;\n", x->capital ? "LEN" : "len", (long long)n);
    }
}

static const unsigned char ebcdic_graphic[192] = { /* what EBCDIC codes from 0x40 on look like */
    0040, 0240, 0241, 0242, 0243, 0244, 0245, 0246, 0247, 0250, 0325, 0056, 0074, 0050, 0053, 0174, 0046, 0251, 0252, 0253, 0254, 0255, 0256, 0257,
    0260, 0261, 0041, 0044, 0052, 0051, 0073, 0176, 0055, 0057, 0262, 0263, 0264, 0265, 0266, 0267, 0270, 0271, 0313, 0054, 0045, 0137, 0076, 0077,
    0272, 0273, 0274, 0275, 0276, 0277, 0300, 0301, 0302, 0140, 0072, 0043, 0100, 0047, 0075, 0042, 0303, 0141, 0142, 0143, 0144, 0145, 0146, 0147,
    0150, 0151, 0304, 0305, 0306, 0307, 0310, 0311, 0312, 0152, 0153, 0154, 0155, 0156, 0157, 0160, 0161, 0162, 0136, 0314, 0315, 0316, 0317, 0320,
    0321, 0345, 0163, 0164, 0165, 0166, 0167, 0170, 0171, 0172, 0322, 0323, 0324, 0133, 0326, 0327, 0330, 0331, 0332, 0333, 0334, 0335, 0336, 0337,
    0340, 0341, 0342, 0343, 0344, 0135, 0346, 0347, 0173, 0101, 0102, 0103, 0104, 0105, 0106, 0107, 0110, 0111, 0350, 0351, 0352, 0353, 0354, 0355,
    0175, 0112, 0113, 0114, 0115, 0116, 0117, 0120, 0121, 0122, 0356, 0357, 0360, 0361, 0362, 0363, 0134, 0237, 0123, 0124, 0125, 0126, 0127, 0130,
    0131, 0132, 0364, 0365, 0366, 0367, 0370, 0371, 0060, 0061, 0062, 0063, 0064, 0065, 0066, 0067, 0070, 0071, 0372, 0373, 0374, 0375, 0376, 0377,
};

static char graphic(const Xxd *x, unsigned char c)
{
    if (x->ebcdic)
        c = c < 64 ? '.' : ebcdic_graphic[c - 64];
    return c >= 32 && c < 127 ? (char)c : '.';
}

/* One line of the usual dump, into `line`. */
static size_t format_line(const Xxd *x, char *line, uint64_t address, const unsigned char *bytes, size_t count)
{
    size_t per_octet = x->bits ? 8 : 2, columns = (size_t)x->columns, group = x->group ? (size_t)x->group : columns;
    size_t groups = (columns + group - 1) / group;
    int n = snprintf(line, 64, x->decimal ? "%08llu:" : "%08llx:", (unsigned long long)address);
    size_t at = (size_t)n, octets = x->little ? groups * group : columns, text = at + 1 + octets * per_octet + groups - 1 + 2;
    memset(line + at, ' ', text + columns - at);
    for (size_t i = 0; i < count; i++) {
        size_t place = x->little ? i / group * group + (group - 1 - i % group) : i;
        char *to = line + at + 1 + place * per_octet + place / group;
        if (x->bits) {
            for (unsigned bit = 0; bit < 8; bit++)
                to[bit] = bytes[i] >> (7 - bit) & 1 ? '1' : '0';
        } else {
            to[0] = digits(x)[bytes[i] >> 4];
            to[1] = digits(x)[bytes[i] & 15];
        }
        line[text + i] = graphic(x, bytes[i]);
    }
    line[text + count] = '\n';
    return text + count + 1;
}

/* Under -a a run of lines of zeros is shown as its first, a star, and its last when the data ends with it; a star never stands for one line. */
static void usual_dump(Xxd *x)
{
    unsigned char bytes[COLUMNS_MOST];
    char *line = mem_alloc(&x->p->keep, LINE_ROOM), *held = mem_alloc(&x->p->keep, LINE_ROOM), *second = mem_alloc(&x->p->keep, LINE_ROOM);
    size_t held_len = 0, second_len = 0, zero_lines = 0;
    uint64_t address = (uint64_t)(x->seek + x->offset);
    for (;;) {
        size_t count = 0;
        bool zero = true;
        for (int c; count < (size_t)x->columns && (x->length < 0 || x->length > 0) && (c = next_byte(x)) >= 0; x->length -= x->length > 0) {
            bytes[count++] = (unsigned char)c;
            zero &= c == 0;
        }
        if (!count)
            break;
        size_t len = format_line(x, line, address, bytes, count);
        address += count;
        proc_tick(x->p, 1);
        if (x->autoskip && zero && count == (size_t)x->columns) {
            if (++zero_lines == 1) {
                out_write(x->p->out, slice(line, len));
            } else {
                memcpy(zero_lines == 2 ? second : held, line, len);
                second_len = zero_lines == 2 ? len : second_len;
                held_len = len;
            }
            continue;
        }
        if (zero_lines > 2)
            out_str(x->p->out, "*\n");
        else if (zero_lines == 2)
            out_write(x->p->out, slice(second, second_len));
        zero_lines = 0;
        out_write(x->p->out, slice(line, len));
    }
    if (zero_lines > 3)
        out_str(x->p->out, "*\n");
    else if (zero_lines >= 2)
        out_write(x->p->out, slice(second, second_len));
    if (zero_lines > 2)
        out_write(x->p->out, slice(held, held_len));
}

/* ---------- the reverse ---------- */

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

typedef struct { uint64_t at, want; } Place; /* written so far, and where the next byte is to go */

/* Moves to where the dump says: by seeking, or by zeros where that cannot be. */
static void go_to(Xxd *x, Place *place)
{
    if (place->want == place->at)
        return;
    output_flush(x->p->out);
    if (proc_seek(x->p, 1, (int64_t)place->want, SEEK_SET) >= 0) {
        place->at = place->want;
        return;
    }
    if (place->want < place->at)
        die(x->p, 5, "Sorry, cannot seek backwards.");
    for (; place->at < place->want; place->at++) {
        out_char(x->p->out, 0);
        proc_tick(x->p, 1);
    }
}

static int skip_line(Xxd *x)
{
    int c;
    while ((c = next_byte(x)) >= 0 && c != '\n')
        proc_tick(x->p, 1);
    return c;
}

/* Byte by byte: an address up to the first byte that is no digit, then pairs of digits; a lone digit before something else is dropped, three
 * bytes in a row that are no digits end the line, and so does its full number of octets. A plain dump has pairs only. */
static void revert(Xxd *x)
{
    Place place = {0, 0};
    int last[3] = {-1, -1, -1};
    bool between = true, addressing = !x->plain;
    int64_t octets = 0;
    for (int c; (c = next_byte(x)) >= 0; proc_tick(x->p, 1)) {
        if (c == '\r')
            continue;
        last[2] = last[1];
        last[1] = last[0];
        last[0] = hex_digit(c);
        if (last[0] < 0 && between)
            continue;
        between = false;
        if (addressing) {
            if (last[0] < 0)
                addressing = false;
            else
                place.want = place.want << 4 | (uint64_t)last[0];
            octets = 0;
        } else if (last[1] >= 0 && last[0] >= 0) {
            place.want += octets == 0 && !x->plain ? (uint64_t)x->seek : 0;
            if (!x->plain)
                go_to(x, &place);
            out_char(x->p->out, (char)(last[1] << 4 | last[0]));
            place.at++;
            place.want++;
            last[0] = -1;
            if (++octets == x->columns && !x->plain)
                c = skip_line(x);
        } else if (last[0] < 0 && last[1] < 0 && last[2] < 0 && c != '\n') {
            c = skip_line(x);
        }
        if (c == '\n') {
            place.want = x->plain ? place.want : 0;
            addressing = !x->plain;
            between = true;
        }
    }
}

/* ---------- options ---------- */

/* As strtol with base 0: hexadecimal and octal by their prefix; what follows the digits is not looked at. */
static int64_t number(const char *text)
{
    bool negative = *text == '-';
    text += *text == '-' || *text == '+';
    int base = *text == '0' ? (text[1] == 'x' || text[1] == 'X' ? 16 : 8) : 10;
    text += base == 16 ? 2 : 0;
    int64_t v = 0;
    for (int d; (d = hex_digit((unsigned char)*text)) >= 0 && d < base; text++)
        if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v))
            return negative ? INT64_MIN : INT64_MAX;
    return negative ? -v : v;
}

static void set_value(Xxd *x, char letter, const char *value)
{
    switch (letter) {
    case 'c': x->columns = number(value); x->columns_given = true; break;
    case 'g': x->group = number(value); x->group_given = true; break;
    case 'l': x->length = number(value); break;
    case 'n': x->name = value; break;
    case 'o': x->offset = number(value); break;
    default:
        value += *value == '+';
        x->from_end = *value == '-';
        x->seek = number(value + x->from_end);
        x->seek_given = true;
        break;
    }
}

static void set_flag(Xxd *x, char letter)
{
    switch (letter) {
    case 'a': x->autoskip = !x->autoskip; break;
    case 'b': x->bits = true; break;
    case 'C': x->capital = true; break;
    case 'E': x->ebcdic = true; break;
    case 'e': x->little = true; break;
    case 'i': x->include = true; break;
    case 'p': x->plain = true; break;
    case 'r': x->revert = true; break;
    case 'd': x->decimal = true; break;
    case 'u': x->upper = true; break;
    case 'v': out_str(x->p->err, "xxd 2022-01-14 by Juergen Weigert et al.\n"); output_flush(x->p->err); proc_fail(x->p, 0);
    default: usage(x->p);
    }
}

/* Options are words: -ps, -cols 8, -c8, --len 5; only the first letter counts where nothing else can be meant. */
static int read_options(Xxd *x, Args *args)
{
    static const struct { const char *word; char letter; } words[] = {
        {"autoskip", 'a'}, {"bits", 'b'}, {"capitalize", 'C'}, {"cols", 'c'}, {"groupsize", 'g'}, {"include", 'i'}, {"len", 'l'}, {"name", 'n'},
        {"offset", 'o'}, {"plain", 'p'}, {"postscript", 'p'}, {"ps", 'p'}, {"revert", 'r'}, {"seek", 's'}, {"skip", 's'}, {"uppercase", 'u'}, {"upper", 'u'}, {"EBCDIC", 'E'}, {"version", 'v'}, {"help", 'h'},
    };
    int i = 1;
    for (; i < args->argc && args->argv[i][0] == '-' && args->argv[i][1]; i++) {
        const char *word = args->argv[i] + 1 + (args->argv[i][1] == '-');
        if (!*word)
            return i + 1;
        char letter = *word;
        bool known = false;
        for (size_t k = 0; k < ARRAY_LEN(words); k++)
            if (strcmp(words[k].word, word) == 0) {
                letter = words[k].letter;
                known = true;
            }
        if (!strchr("cglnos", letter)) {
            if (!known && word[1])
                for (const char *s = word; *s; s++)
                    set_flag(x, *s);
            else
                set_flag(x, letter);
        } else if (!known && word[1]) {
            set_value(x, letter, word + 1);
        } else if (i + 1 < args->argc) {
            set_value(x, letter, args->argv[++i]);
        } else {
            usage(x->p);
        }
    }
    return i;
}

static void settle(Xxd *x)
{
    if (!x->columns_given || !x->columns)
        x->columns = x->plain ? 30 : x->include ? 12 : x->bits ? 6 : 16;
    if (!x->group_given || x->group < 0)
        x->group = x->bits ? 1 : x->little ? 4 : 2;
    if (x->columns < 1 || (!x->plain && x->columns > COLUMNS_MOST)) {
        out_printf(x->p->err, "xxd: invalid number of columns (max. %d).\n", COLUMNS_MOST);
        output_flush(x->p->err);
        proc_fail(x->p, 1);
    }
    if (x->group > x->columns || x->group == 0)
        x->group = x->columns;
    if (x->little && x->group & (x->group - 1)) {
        out_printf(x->p->err, "xxd: number of octets per group must be a power of 2 with -e.\n");
        output_flush(x->p->err);
        proc_fail(x->p, 1);
    }
}

static void seek_input(Xxd *x)
{
    if (!x->seek_given || x->revert)
        return;
    int64_t at = proc_seek(x->p, x->in.fd, x->from_end ? -x->seek : x->seek, x->from_end ? SEEK_END : SEEK_SET);
    if (at < 0 && x->from_end) {
        out_str(x->p->err, "xxd: Sorry, cannot seek.\n");
        output_flush(x->p->err);
        proc_fail(x->p, 4);
    }
    if (at < 0)
        for (int64_t n = 0; n < x->seek && next_byte(x) >= 0; n++)
            proc_tick(x->p, 1);
    if (x->from_end && at >= 0)
        x->seek = at;
}

static int xxd_main(Proc *p, Args *args)
{
    Xxd x = {.p = p, .length = -1};
    int first = read_options(&x, args), n = args->argc - first;
    char **v = args->argv + first;
    if (n > 2)
        usage(p);
    settle(&x);
    x.in = input_files(p, v, MIN(n, 1));
    if (!input_open(&x.in))
        return 2;
    if (n == 2 && strcmp(v[1], "-") != 0) {
        int fd = proc_open(p, v[1], V_WRITE | V_CREATE | (x.revert ? 0 : V_TRUNC), 0666);
        if (fd < 0) {
            warn_errno(p, fd, "%s", v[1]);
            return 3;
        }
        proc_dup2(p, fd, 1);
    }
    if (x.from_end && x.revert)
        x.seek = -x.seek;
    seek_input(&x);
    if (x.revert)
        revert(&x);
    else if (x.plain)
        plain_dump(&x);
    else if (x.include)
        include_dump(&x);
    else
        usual_dump(&x);
    return input_status(&x.in) ? 2 : 0;
}

COMMAND(xxd, "xxd [options] [infile [outfile]]\nxxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]", "Make a hex dump or do the reverse.", options, COMMAND_RAW | COMMAND_WRITES, .package = "xxd 2022-01-14");
