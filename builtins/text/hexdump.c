/* hexdump, hd: display file contents in hexadecimal, decimal, octal, or ascii. util-linux 2.38.
 *
 * A format string is a list of units, each printed a number of times; a unit's text holds conversions, each of which eats some bytes of the
 * block. The block is as long as the longest format string eats; where the data ends before it does, conversions print blanks.
 */
#include <sys/stat.h>

#include "command.h"

enum { BLOCK_MOST = 1 << 16, FORMATS_MOST = 64 };

static const Option options[] = {
    {'b', "one-byte-octal", OPT_FLAG, "one-byte octal display", NULL, 0},
    {'c', "one-byte-char", OPT_FLAG, "one-byte character display", NULL, 0},
    {'C', "canonical", OPT_FLAG, "canonical hex+ASCII display", NULL, 0},
    {'d', "two-bytes-decimal", OPT_FLAG, "two-byte decimal display", NULL, 0},
    {'o', "two-bytes-octal", OPT_FLAG, "two-byte octal display", NULL, 0},
    {'x', "two-bytes-hex", OPT_FLAG, "two-byte hexadecimal display", NULL, 0},
    {'L', "color", OPT_OPTIONAL, "interpret color formatting specifiers (they are dropped)", "MODE", 0},
    {'e', "format", OPT_VALUE, "format string to be used for displaying data", "FORMAT", 0},
    {'f', "format-file", OPT_VALUE, "file that contains format strings", "FILE", 0},
    {'n', "length", OPT_VALUE, "interpret only length bytes of input", "LENGTH", 0},
    {'s', "skip", OPT_VALUE, "skip offset bytes from the beginning", "OFFSET", 0},
    {'v', "no-squeezing", OPT_FLAG, "output identical lines", NULL, 0},
    OPTION_HELP('h'),
    OPTION_VERSION('V'),
    OPTIONS_END,
};

typedef enum { PIECE_TEXT, PIECE_SIGNED, PIECE_UNSIGNED, PIECE_FLOAT, PIECE_CHAR, PIECE_STRING, PIECE_ADDRESS, PIECE_ESCAPED, PIECE_PRINTABLE, PIECE_NAMED } PieceKind;

typedef struct Piece {
    struct Piece *next;
    PieceKind kind;
    Slice before, after; /* text around the conversion */
    Slice after_last;    /* after, without blanks at its end: for the last time a unit is printed */
    char flags[8];
    int width, precision;
    char conversion;
    size_t size;
} Piece;

typedef struct Unit {
    struct Unit *next;
    Piece *pieces;
    uint64_t times;
    size_t bytes;
    bool times_given;
} Unit;

typedef struct { Unit *units; size_t bytes; } Format;

typedef struct {
    Proc *p;
    Format formats[FORMATS_MOST];
    size_t count, block;
    Unit *at_end;       /* what has %_A */
    bool every_line, stopped;
    uint64_t skip, address, end;
    bool ended;
    int64_t length;     /* < 0: all */
    Input in;
    Slice rest;
} Dump;

/* ---------- format strings ---------- */

static NORETURN void bad_format(Dump *d, Slice text) { die(d->p, 1, "bad format {%.*s}", (int)text.len, text.data); }

static Slice unescape(Proc *p, Slice s)
{
    static const char from[] = "abfnrtv0", to[] = "\a\b\f\n\r\t\v\0";
    char *out = mem_alloc(&p->keep, s.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] != '\\' || i + 1 == s.len) {
            out[n++] = s.data[i];
            continue;
        }
        const char *at = strchr(from, s.data[++i]);
        out[n++] = at && *at ? to[at - from] : s.data[i];
    }
    return slice(out, n);
}

static int read_int(Slice *s)
{
    int v = 0;
    while (s->len && *s->data >= '0' && *s->data <= '9') {
        v = MIN(v * 10 + (*s->data - '0'), 4096);
        *s = slice_from(*s, 1);
    }
    return v;
}

static void underscore(Dump *d, Piece *piece, Slice *s)
{
    char c = s->len ? *s->data : 0;
    *s = slice_from(*s, s->len > 0);
    piece->size = 1;
    switch (c) {
    case 'A': case 'a':
        piece->kind = PIECE_ADDRESS;
        piece->size = 0;
        piece->conversion = s->len ? *s->data : 0;
        if (!piece->conversion || !strchr("dox", piece->conversion))
            die(d->p, 1, "bad conversion character %%_%c%c", c, piece->conversion);
        *s = slice_from(*s, 1);
        break;
    case 'c': piece->kind = PIECE_ESCAPED; break;
    case 'p': piece->kind = PIECE_PRINTABLE; break;
    case 'u': piece->kind = PIECE_NAMED; break;
    default: die(d->p, 1, "bad conversion character %%_%c", c);
    }
}

static void check_size(Dump *d, const Piece *piece, const char *allowed)
{
    char digit[16];
    snprintf(digit, sizeof digit, "%zu", piece->size);
    if (piece->size > 9 || !strchr(allowed, digit[0]))
        die(d->p, 1, "bad byte count for conversion character %c", piece->conversion);
}

/* The conversion behind a percent sign; `size` is what the unit asks for, or 0. */
static bool conversion(Dump *d, Piece *piece, Slice *s, size_t size)
{
    size_t flags = 0;
    piece->precision = -1;
    for (; s->len && strchr("#-+ 0", *s->data) && *s->data; *s = slice_from(*s, 1))
        if (flags + 1 < sizeof piece->flags)
            piece->flags[flags++] = *s->data;
    piece->width = read_int(s);
    if (s->len && *s->data == '.') {
        *s = slice_from(*s, 1);
        piece->precision = read_int(s);
    }
    char c = piece->conversion = s->len ? *s->data : 0;
    *s = slice_from(*s, s->len > 0);
    piece->size = size ? size : 4;
    bool at_end = c == '_' && s->len && *s->data == 'A';
    switch (c) {
    case 'd': case 'i': piece->kind = PIECE_SIGNED; check_size(d, piece, "1248"); break;
    case 'o': case 'u': case 'x': case 'X': piece->kind = PIECE_UNSIGNED; check_size(d, piece, "1248"); break;
    case 'e': case 'E': case 'f': case 'g': case 'G':
        piece->kind = PIECE_FLOAT;
        piece->size = size ? size : 8;
        check_size(d, piece, "48");
        break;
    case 'c': piece->kind = PIECE_CHAR; piece->size = size ? size : 1; check_size(d, piece, "1"); break;
    case 's':
        piece->kind = PIECE_STRING;
        if (piece->precision < 0 && !size)
            die(d->p, 1, "%%s requires a precision or a byte count");
        piece->size = piece->precision >= 0 ? (size_t)piece->precision : size;
        break;
    case '_': underscore(d, piece, s); break;
    default: die(d->p, 1, "bad conversion character %%%c", c);
    }
    return at_end;
}

static Slice text_until_percent(Proc *p, Slice *s)
{
    Buf b;
    buf_init(&b, &p->keep, BUF_MAX);
    buf_append(&b, (Slice){"", 0});
    while (s->len && (*s->data != '%' || (s->len > 1 && s->data[1] == '%'))) {
        buf_char(&b, *s->data);
        *s = slice_from(*s, *s->data == '%' ? 2 : 1);
    }
    return buf_slice(&b);
}

/* Colours (%..._L[...]) do not show where output is no terminal. */
static void drop_colour(Slice *s)
{
    if (s->len > 2 && s->data[0] == '_' && s->data[1] == 'L' && s->data[2] == '[')
        *s = slice_from(*s, MIN(slice_find(*s, ']') + 1, s->len));
}

static void parse_unit(Dump *d, Unit *u, Slice text, size_t size)
{
    Slice s = unescape(d->p, text);
    Piece **last = &u->pieces;
    size_t conversions = 0;
    do {
        Piece *piece = mem_new(&d->p->keep, Piece);
        piece->before = text_until_percent(d->p, &s);
        if (s.len) {
            s = slice_from(s, 1);
            if (conversion(d, piece, &s, size))
                d->at_end = u;
            if (piece->size && size && conversions++)
                die(d->p, 1, "byte count with multiple conversion characters");
            drop_colour(&s);
            piece->after = text_until_percent(d->p, &s);
            u->bytes += piece->size;
        }
        piece->after_last = piece->after;
        *last = piece;
        last = &piece->next;
    } while (s.len);
}

static void trim_last(Unit *u)
{
    Piece *last = u->pieces;
    while (last && last->next)
        last = last->next;
    if (!last || u->times < 2)
        return;
    Slice *s = last->kind == PIECE_TEXT ? &last->before : &last->after_last;
    if (last->kind == PIECE_TEXT)
        last->after_last = *s;
    while (last->kind != PIECE_TEXT && s->len && strchr(" \t\n", s->data[s->len - 1]))
        s->len--;
}

static void add_format(Dump *d, Slice text)
{
    Slice s = text;
    Unit **last = &d->formats[d->count].units;
    if (d->count == FORMATS_MOST)
        die(d->p, 1, "too many format strings");
    for (;;) {
        while (s.len && strchr(" \t\n", *s.data))
            s = slice_from(s, 1);
        if (!s.len)
            break;
        Unit *u = mem_new(&d->p->keep, Unit);
        size_t size = 0;
        u->times = 1;
        if (*s.data >= '0' && *s.data <= '9') {
            u->times = (uint64_t)read_int(&s);
            u->times_given = true;
            while (s.len && strchr(" \t", *s.data))
                s = slice_from(s, 1);
        }
        if (s.len && *s.data == '/') {
            s = slice_from(s, 1);
            while (s.len && strchr(" \t", *s.data))
                s = slice_from(s, 1);
            if (!s.len || *s.data < '0' || *s.data > '9')
                bad_format(d, text);
            size = (size_t)read_int(&s);
            while (s.len && strchr(" \t", *s.data))
                s = slice_from(s, 1);
        }
        if (!s.len || *s.data != '"')
            bad_format(d, text);
        s = slice_from(s, 1);
        size_t n = slice_find(s, '"');
        if (n == s.len)
            bad_format(d, text);
        parse_unit(d, u, slice(s.data, n), size);
        s = slice_from(s, n + 1);
        if (d->at_end == u)
            continue; /* printed once, at the end */
        *last = u;
        last = &u->next;
        d->formats[d->count].bytes += (size_t)u->times * u->bytes;
    }
    d->count++;
}

static void add_text_formats(Dump *d, const char *a, const char *b, const char *c)
{
    const char *const list[] = {a, b, c};
    for (size_t i = 0; i < ARRAY_LEN(list); i++)
        if (list[i])
            add_format(d, slice_str(list[i]));
}

/* The last unit of a short format string is repeated to fill the block. */
static void settle(Dump *d)
{
    for (size_t i = 0; i < d->count; i++)
        d->block = MAX(d->block, d->formats[i].bytes);
    if (d->block > BLOCK_MOST)
        die(d->p, 1, "the block is too long");
    for (size_t i = 0; i < d->count; i++) {
        Format *f = &d->formats[i];
        for (Unit *u = f->units; u; u = u->next) {
            if (!u->next && f->bytes < d->block && !u->times_given && u->bytes)
                u->times += (d->block - f->bytes) / u->bytes;
            trim_last(u);
        }
    }
}

/* ---------- output ---------- */

static uint64_t bytes_value(const unsigned char *at, size_t size)
{
    uint64_t v = 0;
    for (size_t i = size; i-- > 0;)
        v = v << 8 | at[i];
    return v;
}

static void put_formatted(Dump *d, const Piece *piece, const char *kind, uint64_t v, double number)
{
    char format[48];
    int n = snprintf(format, sizeof format, "%%%s", piece->flags);
    if (piece->width)
        n += snprintf(format + n, sizeof format - (size_t)n, "%d", piece->width);
    if (piece->precision >= 0)
        n += snprintf(format + n, sizeof format - (size_t)n, ".%d", piece->precision);
    snprintf(format + n, sizeof format - (size_t)n, "%s%c", kind, piece->conversion);
    MemMark mark = mem_mark(&d->p->mem);
    /* The format is of our own making: flags, numbers, one conversion. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    char *text = *kind ? mem_printf(&d->p->mem, format, (long long)v) : mem_printf(&d->p->mem, format, number);
#pragma GCC diagnostic pop
    out_str(d->p->out, text);
    mem_reset(&d->p->mem, mark);
}

static void put_padded(Dump *d, const Piece *piece, Slice text)
{
    size_t pad = (size_t)piece->width > text.len ? (size_t)piece->width - text.len : 0;
    bool left = strchr(piece->flags, '-') != NULL;
    if (!left)
        out_pad(d->p->out, pad, ' ');
    out_write(d->p->out, text);
    if (left)
        out_pad(d->p->out, pad, ' ');
}

static Slice escaped(unsigned char c, char *room)
{
    static const char from[] = "\0\a\b\f\n\r\t\v", to[] = "0abfnrtv";
    for (size_t i = 0; i < sizeof from - 1; i++)
        if ((char)c == from[i])
            return slice(room, (size_t)snprintf(room, 8, "\\%c", to[i]));
    if (c >= 32 && c < 127)
        return slice(room, (size_t)snprintf(room, 8, "%c", c));
    return slice(room, (size_t)snprintf(room, 8, "%03o", c));
}

static Slice named(unsigned char c, char *room)
{
    static const char names[][4] = {"nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "lf", "vt", "ff", "cr", "so", "si", "dle",
                                    "dcl", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs", "us"};
    if (c < 32)
        return slice_str(names[c]);
    if (c == 127)
        return SLICE("del");
    return slice(room, (size_t)snprintf(room, 8, c < 127 ? "%c" : "%x", c));
}

static void put_value(Dump *d, const Piece *piece, const unsigned char *at)
{
    char room[16];
    uint64_t v = bytes_value(at, MIN(piece->size, 8));
    double number;
    float single;
    switch (piece->kind) {
    case PIECE_TEXT: break;
    case PIECE_ADDRESS: put_formatted(d, piece, "ll", d->address, 0); break;
    case PIECE_SIGNED:
        if (piece->size < 8 && v >> (piece->size * 8 - 1))
            v |= ~0ull << piece->size * 8;
        put_formatted(d, piece, "ll", v, 0);
        break;
    case PIECE_UNSIGNED: put_formatted(d, piece, "ll", v, 0); break;
    case PIECE_FLOAT:
        memcpy(&number, at, MIN(piece->size, sizeof number));
        if (piece->size == 4) {
            memcpy(&single, at, sizeof single);
            number = (double)single;
        }
        put_formatted(d, piece, "", 0, number);
        break;
    case PIECE_CHAR: put_padded(d, piece, slice((const char *)at, 1)); break;
    case PIECE_STRING: {
        Slice s = slice((const char *)at, piece->size);
        s.len = slice_find(s, 0);
        put_padded(d, piece, s);
        break;
    }
    case PIECE_ESCAPED: put_padded(d, piece, escaped(*at, room)); break;
    case PIECE_PRINTABLE: room[0] = *at >= 32 && *at < 127 ? (char)*at : '.'; put_padded(d, piece, slice(room, 1)); break;
    case PIECE_NAMED: put_padded(d, piece, named(*at, room)); break;
    }
}

static size_t put_unit(Dump *d, const Unit *u, const unsigned char *block, size_t at, uint64_t base, bool last_time)
{
    for (const Piece *piece = u->pieces; piece; piece = piece->next) {
        out_write(d->p->out, piece->before);
        if (piece->kind == PIECE_TEXT)
            continue;
        d->address = base + at;
        if (d->ended && d->address >= d->end && piece->kind != PIECE_ADDRESS)
            out_pad(d->p->out, (size_t)piece->width, ' ');
        else
            put_value(d, piece, block + at);
        out_write(d->p->out, last_time && !piece->next ? piece->after_last : piece->after);
        at += piece->size;
    }
    return at;
}

static void put_block(Dump *d, const unsigned char *block, uint64_t base)
{
    for (size_t i = 0; i < d->count; i++) {
        size_t at = 0;
        for (const Unit *u = d->formats[i].units; u; u = u->next)
            for (uint64_t n = u->times; n; n--)
                at = put_unit(d, u, block, at, base, n == 1 && u->times > 1);
        proc_tick(d->p, 1 + d->block / 4);
    }
}

/* ---------- input ---------- */

static bool seek_in(Dump *d)
{
    VStat st;
    if (!d->skip || proc_fstat(d->p, d->in.fd, &st) != 0)
        return true;
    if (S_ISREG(st.mode)) {
        if (d->skip >= st.size) {
            d->skip -= st.size;
            d->address += st.size;
            return false;
        }
        proc_seek(d->p, d->in.fd, (int64_t)d->skip, SEEK_SET);
    } else {
        int64_t r = proc_seek(d->p, d->in.fd, (int64_t)d->skip, SEEK_SET);
        if (r < 0)
            die_errno(d->p, 1, (int)r, "%s", d->in.is_stdin ? "stdin" : d->in.name);
    }
    d->address += d->skip;
    d->skip = 0;
    return true;
}

/* Fills the block over the files in turn; how much there was. */
static size_t fill(Dump *d, unsigned char *block, size_t want)
{
    size_t got = 0;
    while (got < want) {
        if (!d->rest.len && !(d->in.started && input_chunk(&d->in, &d->rest))) {
            do {
                if (d->in.started)
                    input_next(&d->in);
                if (!input_open(&d->in))
                    return got;
            } while (!seek_in(d));
            continue;
        }
        size_t n = MIN(want - got, d->rest.len);
        memcpy(block + got, d->rest.data, n);
        d->rest = slice_from(d->rest, n);
        got += n;
    }
    return got;
}

static void dump(Dump *d)
{
    unsigned char *block = mem_alloc0(&d->p->keep, d->block + 16), *saved = mem_alloc0(&d->p->keep, d->block + 16);
    bool have_saved = false, starred = false;
    uint64_t base = 0;
    bool any = false, first = true;
    for (;;) {
        size_t want = d->length >= 0 ? (size_t)MIN((uint64_t)d->length, d->block) : d->block;
        size_t got = want ? fill(d, block, want) : 0;
        if (first)
            base = d->address;
        first = false;
        if (!got)
            break;
        any = true;
        if (d->length >= 0)
            d->length -= (int64_t)got;
        if (got == d->block && have_saved && !d->every_line && memcmp(block, saved, d->block) == 0) {
            if (!starred)
                out_str(d->p->out, "*\n");
            starred = true;
        } else {
            if (got < d->block) {
                memset(block + got, 0, d->block - got);
                d->ended = true;
                d->end = base + got;
            }
            put_block(d, block, base);
            memcpy(saved, block, d->block);
            have_saved = true;
            starred = false;
        }
        base += got;
    }
    d->address = d->end = base;
    d->ended = false;
    if (d->at_end && (any || base))
        put_unit(d, d->at_end, block, 0, base, false);
}

/* ---------- options ---------- */

static uint64_t size_option(Dump *d, const char *text, const char *what)
{
    uint64_t v;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (hex) {
        v = 0;
        for (const char *s = text + 2; *s; s++) {
            const char *digits = "0123456789abcdef0123456789ABCDEF", *at = strchr(digits, *s);
            if (!at)
                die(d->p, 1, "failed to parse %s: '%s'", what, text);
            v = v << 4 | (uint64_t)((at - digits) & 15);
        }
    } else if (parse_size(text, "KMGTPEZY0", &v) != 0) {
        die(d->p, 1, "failed to parse %s: '%s'", what, text);
    }
    return v;
}

static void formats_from(Dump *d, char *file)
{
    Input in = input_files(d->p, &file, 1);
    Slice line;
    bool ended;
    in.open_format = "can't read %s";
    if (!input_open(&in))
        proc_fail(d->p, 1);
    while (input_record(&in, &line, &ended))
        if (line.len && *line.data != '#')
            add_format(d, slice(mem_copy(&d->p->keep, line), line.len));
}

static void set_option(Dump *d, Args *args, int id)
{
    switch (id) {
    case 'b': add_text_formats(d, "\"%07.7_Ax\n\"", "\"%07.7_ax \" 16/1 \"%03o \" \"\\n\"", NULL); break;
    case 'c': add_text_formats(d, "\"%07.7_Ax\n\"", "\"%07.7_ax \" 16/1 \"%3_c \" \"\\n\"", NULL); break;
    case 'C': add_text_formats(d, "\"%08.8_Ax\n\"", "\"%08.8_ax  \" 8/1 \"%02x \" \"  \" 8/1 \"%02x \"", "\"  |\" 16/1 \"%_p\" \"|\\n\""); break;
    case 'd': add_text_formats(d, "\"%07.7_Ax\n\"", "\"%07.7_ax \" 8/2 \"  %05u \" \"\\n\"", NULL); break;
    case 'o': add_text_formats(d, "\"%07.7_Ax\n\"", "\"%07.7_ax \" 8/2 \" %06o \" \"\\n\"", NULL); break;
    case 'x': add_text_formats(d, "\"%07.7_Ax\n\"", "\"%07.7_ax \" 8/2 \"   %04x \" \"\\n\"", NULL); break;
    case 'e': add_format(d, slice_str(args->value)); break;
    case 'f': formats_from(d, args->value); break;
    case 'n': d->length = (int64_t)MIN(size_option(d, args->value, "length"), (uint64_t)INT64_MAX); break;
    case 's': d->skip = size_option(d, args->value, "offset"); break;
    case 'v': d->every_line = true; break;
    default: break;
    }
}

static int run(Proc *p, Args *args, bool canonical)
{
    Dump *d = mem_new(&p->keep, Dump);
    d->p = p;
    d->length = -1;
    if (canonical)
        set_option(d, args, 'C');
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(d, args, id);
    if (!d->count)
        add_text_formats(d, "\"%07.7_Ax\n\"", "\"%07.7_ax \" 8/2 \"%04x \" \"\\n\"", NULL);
    settle(d);
    d->in = input_first(p, args);
    d->in.no_dash = true;
    if (d->block)
        dump(d);
    if (input_status(&d->in) && !d->address && !d->in.started)
        die(p, 1, "all input file arguments failed");
    return input_status(&d->in);
}

static int hexdump_main(Proc *p, Args *args) { return run(p, args, false); }
static int hd_main(Proc *p, Args *args) { return run(p, args, true); }

COMMAND(hexdump, "hexdump [options] <file>...", "Display file contents in hexadecimal, decimal, octal, or ascii.", options, COMMAND_PURE, .package = "util-linux 2.38");
COMMAND(hd, "hd [options] <file>...", "Display file contents in hexadecimal and ascii.", options, COMMAND_PURE, .package = "util-linux 2.38");
