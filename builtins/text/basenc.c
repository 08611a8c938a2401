/* basenc: encode or decode data in one of several bases. GNU coreutils 9.1. */
#include "shared.h"

enum { BASE64 = 256, BASE64URL, BASE32, BASE32HEX, BASE16, BASE2MSB, BASE2LSB, Z85 };

static const Option options[] = {
    {0, "base64", OPT_FLAG, "same as 'base64' program (RFC4648 section 4)", NULL, BASE64},
    {0, "base64url", OPT_FLAG, "file- and url-safe base64 (RFC4648 section 5)", NULL, BASE64URL},
    {0, "base32", OPT_FLAG, "same as 'base32' program (RFC4648 section 6)", NULL, BASE32},
    {0, "base32hex", OPT_FLAG, "extended hex alphabet base32 (RFC4648 section 7)", NULL, BASE32HEX},
    {0, "base16", OPT_FLAG, "hex encoding (RFC4648 section 8)", NULL, BASE16},
    {0, "base2msbf", OPT_FLAG, "bit string with most significant bit (msb) first", NULL, BASE2MSB},
    {0, "base2lsbf", OPT_FLAG, "bit string with least significant bit (lsb) first", NULL, BASE2LSB},
    {'d', "decode", OPT_FLAG, "decode data", NULL, 0},
    {'i', "ignore-garbage", OPT_FLAG, "when decoding, ignore non-alphabet characters", NULL, 0},
    {'w', "wrap", OPT_VALUE, "wrap encoded lines after COLS character (default 76).  Use 0 to disable line wrapping", "COLS", 0},
    {0, "z85", OPT_FLAG, "ascii85-like encoding (ZeroMQ spec:32/Z85)", NULL, Z85},
    OPTIONS_END,
};

/* A group of bytes is a number that is written in `base`, in so many letters. */
typedef struct { const char *alphabet; unsigned base, bytes, letters, bits; bool padded, low_first; } Base;

static const Base bases[] = {
    {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 64, 3, 4, 6, true, false},
    {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 64, 3, 4, 6, true, false},
    {"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32, 5, 8, 5, true, false},
    {"0123456789ABCDEFGHIJKLMNOPQRSTUV", 32, 5, 8, 5, true, false},
    {"0123456789ABCDEF", 16, 1, 2, 4, false, false},
    {"01", 2, 1, 8, 1, false, false},
    {"01", 2, 1, 8, 1, false, true},
    {"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#", 85, 4, 5, 0, false, false},
};

typedef struct { Proc *p; const Base *base; uint64_t wrap, column; } Basenc;

static void put(Basenc *b, char c)
{
    out_char(b->p->out, c);
    if (b->wrap && ++b->column == b->wrap) {
        out_char(b->p->out, '\n');
        b->column = 0;
    }
}

static void encode_group(Basenc *b, const unsigned char *bytes, unsigned n)
{
    const Base *k = b->base;
    char letters[8];
    uint64_t value = 0;
    for (unsigned i = 0; i < k->bytes; i++)
        value = value << 8 | (i < n ? bytes[i] : 0);
    unsigned used = k->bits ? (n * 8 + k->bits - 1) / k->bits : k->letters;
    for (unsigned i = k->letters; i-- > 0; value /= k->base)
        letters[k->low_first ? k->letters - 1 - i : i] = i < used || !k->padded ? k->alphabet[value % k->base] : '=';
    for (unsigned i = 0; i < k->letters; i++)
        put(b, letters[i]);
}

static void encode(Basenc *b, Slice all)
{
    const Base *k = b->base;
    size_t whole = all.len / k->bytes * k->bytes;
    if (whole < all.len && !k->bits)
        die(b->p, 1, "invalid input (length must be multiple of 4 characters)");
    for (size_t i = 0; i < whole; i += k->bytes, proc_tick(b->p, 1))
        encode_group(b, (const unsigned char *)all.data + i, k->bytes);
    if (whole < all.len)
        encode_group(b, (const unsigned char *)all.data + whole, (unsigned)(all.len - whole));
    if (b->wrap && b->column)
        out_char(b->p->out, '\n');
}

static int letter_value(const Base *k, char c)
{
    if (k->base == 16 && c >= 'a' && c <= 'f')
        c = (char)(c - 32);
    const char *at = c ? strchr(k->alphabet, c) : NULL;
    return at ? (int)(at - k->alphabet) : -1;
}

static bool decode_group(Basenc *b, const char *letters, unsigned n)
{
    const Base *k = b->base;
    uint64_t value = 0;
    unsigned given = 0;
    while (given < n && letters[given] != '=')
        given++;
    bool ended = true;
    for (unsigned i = given; i < n; i++)
        ended &= k->padded && letters[i] == '=';
    for (unsigned i = 0; i < k->letters; i++) {
        unsigned at = k->low_first ? k->letters - 1 - i : i;
        value = value * k->base + (at < given ? (uint64_t)letter_value(k, letters[at]) : 0);
    }
    if (!k->bits && (value > UINT32_MAX || n != k->letters))
        return false;
    unsigned bytes = k->bits ? given * k->bits / 8 : k->bytes;
    for (unsigned i = 0; i < bytes; i++)
        out_char(b->p->out, (char)(value >> (k->bytes - 1 - i) * 8));
    return ended && n == k->letters && given > 0 && (!k->bits || (bytes * 8 + k->bits - 1) / k->bits == given);
}

static bool decode(Basenc *b, Slice all, bool ignore)
{
    const Base *k = b->base;
    char held[8];
    unsigned n = 0;
    for (size_t i = 0; i < all.len; i++) {
        char c = all.data[i];
        bool known = letter_value(k, c) >= 0 || (k->padded && c == '=');
        if (c == '\n' || (!known && ignore))
            continue;
        if (!known) { /* what was whole of the group is given; in base32 not of one that the end cuts off */
            if (n && k->padded && (k->bits == 6 || n + encoded_left(slice_from(all, i)) >= k->letters))
                decode_group(b, held, n);
            return false;
        }
        held[n++] = c;
        if (n < k->letters)
            continue;
        if (!decode_group(b, held, n))
            return false;
        n = 0;
        proc_tick(b->p, 1);
    }
    return n == 0 || (k->bits == 6 && decode_group(b, held, n));
}

static int basenc_main(Proc *p, Args *args)
{
    Basenc b = {.p = p, .wrap = 76};
    bool decoding = false, ignore = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id >= BASE64)
            b.base = &bases[id - BASE64];
        decoding |= id == 'd';
        ignore |= id == 'i';
        if (id == 'w' && parse_size(args->value, "", &b.wrap) == -EINVAL)
            die(p, 1, "invalid wrap size: %s", quote(p, args->value));
    }
    int n;
    char **v = args_operands(args, &n);
    if (!b.base)
        usage_fail(p, args, "missing encoding type");
    if (n > 1)
        usage_extra(p, args, v[1]);
    Input in = input_files(p, v, n);
    if (!input_open(&in))
        return 1;
    Slice all = read_all(p, in.fd);
    if (!decoding)
        encode(&b, all);
    else if (!decode(&b, all, ignore))
        die(p, 1, "invalid input");
    return 0;
}

COMMAND(basenc, "basenc [OPTION]... [FILE]", "basenc encode or decode FILE, or standard input, to standard output.", options, COMMAND_PURE);
