/* base64, base32: encode or decode data. GNU coreutils 9.1. */
#include "shared.h"

static const Option options[] = {
    {'d', "decode", OPT_FLAG, "decode data", NULL, 0},
    {'D', NULL, OPT_FLAG, NULL, NULL, 0},
    {'i', "ignore-garbage", OPT_FLAG, "when decoding, ignore non-alphabet characters", NULL, 0},
    {'w', "wrap", OPT_VALUE, "wrap encoded lines after COLS character (default 76).  Use 0 to disable line wrapping", "COLS", 0},
    OPTIONS_END,
};

/* `group` bytes become `letters` letters of `bits` bits each. */
typedef struct {
    const char *alphabet;
    unsigned bits, group, letters;
} Code;

static const Code code64 = {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6, 3, 4};
static const Code code32 = {"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5, 5, 8};

typedef struct {
    Proc *p;
    const Code *code;
    uint64_t wrap, column;
    bool ignore_garbage;
} Coder;

static void put_letter(Coder *c, char letter)
{
    if (c->wrap && c->column == c->wrap) {
        out_char(c->p->out, '\n');
        c->column = 0;
    }
    out_char(c->p->out, letter);
    c->column++;
}

static void encode_group(Coder *c, const unsigned char *bytes, unsigned n)
{
    const Code *k = c->code;
    uint64_t value = 0;
    for (unsigned i = 0; i < k->group; i++)
        value = value << 8 | (i < n ? bytes[i] : 0);
    unsigned used = (n * 8 + k->bits - 1) / k->bits;
    for (unsigned i = 0; i < k->letters; i++) {
        unsigned shift = (k->letters - 1 - i) * k->bits;
        put_letter(c, i < used ? k->alphabet[value >> shift & ((1u << k->bits) - 1)] : '=');
    }
}

/* Two letters for each twelve bits. */
typedef struct { char letters[4096][2]; } Pairs;

static Pairs *make_pairs(Proc *p)
{
    Pairs *t = mem_new(&p->keep, Pairs);
    for (unsigned i = 0; i < 4096; i++) {
        t->letters[i][0] = code64.alphabet[i >> 6];
        t->letters[i][1] = code64.alphabet[i & 63];
    }
    return t;
}

static char *encode_line(const Pairs *pairs, const unsigned char *b, size_t bytes, char *to)
{
    for (const unsigned char *end = b + bytes; b < end; b += 3, to += 4) {
        uint32_t v = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
        char four[4];
        memcpy(four, pairs->letters[v >> 12], 2);
        memcpy(four + 2, pairs->letters[v & 4095], 2);
        memcpy(to, four, 4);
    }
    *to++ = '\n';
    return to;
}

/* Whole lines of base64, as many as the chunk has, into the output's own buffer where one has room; the bytes used. */
static size_t encode_lines(Coder *c, const Pairs *pairs, Slice chunk)
{
    char line[4096 + 1];
    Output *o = c->p->out;
    size_t bytes = (size_t)c->wrap / 4 * 3, letters = (size_t)c->wrap + 1, done = 0;
    for (; chunk.len - done >= bytes; done += bytes) {
        const unsigned char *b = (const unsigned char *)chunk.data + done;
        if (likely(o->cap - o->len >= letters)) {
            encode_line(pairs, b, bytes, o->data + o->len);
            o->len += letters;
        } else {
            encode_line(pairs, b, bytes, line);
            out_write(o, (Slice){line, letters});
        }
        proc_tick(c->p, 1);
    }
    return done;
}

static void encode(Coder *c, Input *in)
{
    unsigned char held[8];
    unsigned n = 0;
    bool lines = c->code->bits == 6 && c->wrap && c->wrap % 4 == 0 && c->wrap <= 4096;
    const Pairs *pairs = lines ? make_pairs(c->p) : NULL;
    for (Slice chunk; input_chunk(in, &chunk);) {
        size_t len = chunk.len;
        while (chunk.len) {
            if (lines && !n && c->column % c->wrap == 0 && chunk.len >= c->wrap) {
                if (c->column)
                    out_char(c->p->out, '\n');
                c->column = 0;
                chunk = slice_from(chunk, encode_lines(c, pairs, chunk));
                if (!chunk.len)
                    break;
            }
            held[n++] = (unsigned char)*chunk.data;
            chunk = slice_from(chunk, 1);
            if (n == c->code->group) {
                encode_group(c, held, n);
                n = 0;
            }
        }
        proc_tick(c->p, 1 + len / 64);
    }
    if (n)
        encode_group(c, held, n);
    if (c->wrap && c->column)
        out_char(c->p->out, '\n');
}

static int letter_value(const Code *k, char letter)
{
    const char *at = letter ? strchr(k->alphabet, letter) : NULL;
    return at ? (int)(at - k->alphabet) : -1;
}

/* A group of letters, padded with =; false when it is not one that encoding gives. */
static bool decode_group(Coder *c, const char *letters, unsigned n)
{
    const Code *k = c->code;
    uint64_t value = 0;
    unsigned given = 0;
    while (given < n && letters[given] != '=')
        given++;
    bool ended = true;
    for (unsigned i = given; i < n; i++)
        ended &= letters[i] == '=';
    unsigned bytes = given * k->bits / 8;
    for (unsigned i = 0; i < k->letters; i++)
        value = value << k->bits | (i < given ? (uint64_t)letter_value(k, letters[i]) : 0);
    for (unsigned i = 0; i < bytes; i++)
        out_char(c->p->out, (char)(value >> (k->group - 1 - i) * 8));
    bool whole = ended && n == k->letters && (bytes * 8 + k->bits - 1) / k->bits == given;
    return whole && given > 0;
}

static int decode(Coder *c, Input *in)
{
    char held[8];
    unsigned n = 0;
    bool ok = true;
    for (Slice chunk; ok && input_chunk(in, &chunk);) {
        for (size_t i = 0; ok && i < chunk.len; i++) {
            char b = chunk.data[i];
            bool known = letter_value(c->code, b) >= 0 || b == '=';
            if (b == '\n' || (!known && c->ignore_garbage))
                continue;
            if (!known) {
                if (n && (c->code->bits == 6 || n + encoded_left(slice_from(chunk, i)) >= c->code->letters)) /* base32 gives nothing of a group that the end cuts off */
                    decode_group(c, held, n);
                n = 0;
                ok = false;
                break;
            }
            held[n++] = b;
            if (n == c->code->letters) {
                ok = decode_group(c, held, n);
                n = 0;
            }
        }
        proc_tick(c->p, 1 + chunk.len / 64);
    }
    if (n && ok)
        ok = c->code->bits == 6 && decode_group(c, held, n);
    if (!ok)
        die(c->p, 1, "invalid input");
    return 0;
}

static int run(Proc *p, Args *args, const Code *code)
{
    Coder c = {.p = p, .code = code, .wrap = 76};
    bool decoding = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        decoding |= id == 'd' || id == 'D';
        c.ignore_garbage |= id == 'i';
        if (id == 'w' && parse_size(args->value, "", &c.wrap) == -EINVAL)
            die(p, 1, "invalid wrap size: %s", quote(p, args->value));
    }
    int n;
    char **v = args_operands(args, &n);
    if (n > 1)
        usage_extra(p, args, v[1]);
    Input in = input_files(p, v, n);
    if (!input_open(&in))
        return 1;
    if (decoding)
        decode(&c, &in);
    else
        encode(&c, &in);
    return input_status(&in);
}

static int base64_main(Proc *p, Args *args) { return run(p, args, &code64); }
static int base32_main(Proc *p, Args *args) { return run(p, args, &code32); }

COMMAND(base64, "base64 [OPTION]... [FILE]", "Base64 encode or decode FILE, or standard input, to standard output.", options, COMMAND_PURE);
COMMAND(base32, "base32 [OPTION]... [FILE]", "Base32 encode or decode FILE, or standard input, to standard output.", options, COMMAND_PURE);
