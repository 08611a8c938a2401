/* uuidgen, mcookie: random names. util-linux 2.38. */
#include "shared.h"

static const Option uuidgen_options[] = {
    {'r', "random", OPT_FLAG, "generate random-based uuid", NULL, 0},
    {'t', "time", OPT_FLAG, "generate time-based uuid", NULL, 0},
    {'n', "namespace", OPT_VALUE, "generate hash-based uuid in this namespace: a uuid, or @dns, @url, @oid, @x500", "NS", 0},
    {'N', "name", OPT_VALUE, "generate hash-based uuid from this name", "NAME", 0},
    {'m', "md5", OPT_FLAG, "generate md5 hash", NULL, 0},
    {'s', "sha1", OPT_FLAG, "generate sha1 hash", NULL, 0},
    {'x', "hex", OPT_FLAG, "interpret name as hex string", NULL, 0},
    OPTION_HELP('h'),
    OPTION_VERSION('V'),
    OPTIONS_END,
};

static const Option mcookie_options[] = {
    {'f', "file", OPT_VALUE, "use file as a cookie seed", "FILE", 0},
    {'m', "max-size", OPT_VALUE, "limit how much is read from seed files", "NUM", 0},
    {'v', "verbose", OPT_FLAG, "explain what is being done", NULL, 0},
    OPTION_HELP('h'),
    OPTION_VERSION('V'),
    OPTIONS_END,
};

static void put_uuid(Proc *p, unsigned char *b, unsigned version)
{
    b[6] = (unsigned char)((b[6] & 15) | version << 4);
    b[8] = (unsigned char)((b[8] & 63) | 0x80);
    for (int i = 0; i < 16; i++)
        out_printf(p->out, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
    out_char(p->out, '\n');
}

static int hex_value(char c) { return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1; }

/* Pairs of hexadecimal digits; dashes only where a uuid has them. The bytes, or -1. */
static ssize_t hex_bytes(const char *text, unsigned char *out, size_t most, bool dashes)
{
    size_t n = 0;
    for (size_t i = 0; text[i];) {
        if (dashes && (i == 8 || i == 13 || i == 18 || i == 23)) {
            if (text[i++] != '-')
                return -1;
            continue;
        }
        int high = hex_value(text[i]), low = high < 0 ? -1 : hex_value(text[i + 1]);
        if (low < 0 || n == most)
            return -1;
        out[n++] = (unsigned char)(high << 4 | low);
        i += 2;
    }
    return (ssize_t)n;
}

static void namespace_bytes(Proc *p, Args *args, const char *text, unsigned char out[16])
{
    static const struct { const char *name; unsigned char last; } known[] = {{"@dns", 0x10}, {"@url", 0x11}, {"@oid", 0x12}, {"@x500", 0x14}};
    hex_bytes("6ba7b810-9dad-11d1-80b4-00c04fd430c8", out, 16, true);
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(known[i].name, text) == 0) {
            out[3] = known[i].last;
            return;
        }
    if (*text == '@')
        usage_fail(p, args, "unknown namespace alias: '%s'", text);
    if (strlen(text) != 36 || hex_bytes(text, out, 16, true) != 16)
        usage_fail(p, args, "invalid uuid for namespace: '%s'", text);
}

static int by_name(Proc *p, Args *args, const char *space, const char *name, bool sha1, bool hex)
{
    unsigned char digest[64], first[16], *bytes = mem_alloc(&p->mem, strlen(name) / 2 + 1);
    ssize_t n = hex ? hex_bytes(name, bytes, strlen(name) / 2, false) : (ssize_t)strlen(name);
    namespace_bytes(p, args, space, first);
    if (n < 0)
        usage_fail(p, args, "not a valid hex string");
    const CryptoComponent *c = NEED_COMPONENT(p, "crypto", CryptoComponent);
    void *d = c->digest_new(sha1 ? "sha1" : "md5");
    if (!d)
        proc_raise(p, RAISE_MEMORY);
    c->digest_update(d, first, sizeof first);
    c->digest_update(d, hex ? (const char *)bytes : name, (size_t)n);
    c->digest_final(d, digest);
    c->digest_free(d);
    put_uuid(p, digest, sha1 ? 5 : 3);
    return 0;
}

static int uuidgen_main(Proc *p, Args *args)
{
    bool by_time = false, hex = false;
    const char *space = NULL, *name = NULL;
    int hashed = 0;
    for (int id; (id = args_next(p, args)) != -1;) {
        by_time = id == 't' || (by_time && id != 'r');
        hex |= id == 'x';
        if (id == 'm' || id == 's')
            hashed = id;
        if (id == 'n')
            space = mem_strdup(&p->keep, args->value);
        if (id == 'N')
            name = mem_strdup(&p->keep, args->value);
    }
    if (space && (!name || !hashed))
        usage_fail(p, args, name ? "--namespace requires --md5 or --sha1" : "--namespace requires --name argument");
    if (name && !space)
        usage_fail(p, args, "--name requires --namespace argument");
    if (hashed && !space)
        usage_fail(p, args, "--md5 or --sha1 requires --namespace argument");
    if (hashed)
        return by_name(p, args, space, name, hashed == 's', hex);
    unsigned char b[16];
    proc_random(p, b, sizeof b);
    if (by_time) { /* 100 ns since 15 October 1582 */
        uint32_t ns;
        uint64_t t = (uint64_t)proc_now(p, &ns) * 10000000 + ns / 100 + 0x01B21DD213814000ull;
        for (int i = 0; i < 4; i++)
            b[i] = (unsigned char)(t >> (24 - 8 * i));
        b[4] = (unsigned char)(t >> 40);
        b[5] = (unsigned char)(t >> 32);
        b[6] = (unsigned char)(t >> 56);
        b[7] = (unsigned char)(t >> 48);
        b[10] |= 1; /* not a real interface's address */
    }
    put_uuid(p, b, by_time ? 1 : 4);
    return 0;
}

static int mcookie_main(Proc *p, Args *args)
{
    uint64_t size;
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == 'm' && parse_size(args->value, "KMGTPEZY0", &size) != 0)
            die_errno(p, 1, EINVAL, "failed to parse length: '%s'", args->value);
    }
    unsigned char b[16];
    proc_random(p, b, sizeof b);
    for (int i = 0; i < 16; i++)
        out_printf(p->out, "%02x", b[i]);
    out_char(p->out, '\n');
    return 0;
}

COMMAND(uuidgen, "uuidgen [options]", "Create a new UUID value.", uuidgen_options, COMMAND_PURE, .package = "util-linux 2.38");
COMMAND(mcookie, "mcookie [options]", "Generate magic cookies for xauth.", mcookie_options, COMMAND_PURE, .package = "util-linux 2.38");
