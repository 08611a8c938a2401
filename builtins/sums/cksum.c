/* cksum, sum: checksums that are numbers; and cksum -a, which prints or checks any kind. GNU coreutils 9.1. */
#include "sums.h"

enum { OPT_UNTAGGED = 300, OPT_DEBUG };

static const Option cksum_options[] = {
    {'a', "algorithm", OPT_VALUE, "select the digest type to use: bsd, sysv, crc, md5, sha1, sha224, sha256, sha384, sha512, blake2b, sm3", "TYPE", 0},
    {'c', "check", OPT_FLAG, "read checksums from the FILEs and check them", NULL, 0},
    {'l', "length", OPT_VALUE, "digest length in bits; must not exceed the max for the blake2 algorithm and must be a multiple of 8", "BITS", 0},
    {0, "tag", OPT_FLAG, "create a BSD-style checksum (the default)", NULL, OPT_TAG},
    {0, "untagged", OPT_FLAG, "create a reversed style checksum, without digest type", NULL, OPT_UNTAGGED},
    {'z', "zero", OPT_FLAG, "end each output line with NUL, not newline, and disable file name escaping", NULL, 0},
    {0, "ignore-missing", OPT_FLAG, "don't fail or report status for missing files", NULL, OPT_IGNORE_MISSING},
    {0, "quiet", OPT_FLAG, "don't print OK for each successfully verified file", NULL, OPT_QUIET},
    {0, "status", OPT_FLAG, "don't output anything, status code shows success", NULL, OPT_STATUS},
    {0, "strict", OPT_FLAG, "exit non-zero for improperly formatted checksum lines", NULL, OPT_STRICT},
    {'w', "warn", OPT_FLAG, "warn about improperly formatted checksum lines", NULL, 0},
    {'b', "binary", OPT_FLAG, NULL, NULL, 0},
    {'t', "text", OPT_FLAG, NULL, NULL, 0},
    {0, "debug", OPT_FLAG, "indicate which implementation used", NULL, OPT_DEBUG},
    OPTIONS_END,
};

static const Option sum_options[] = {
    {'r', NULL, OPT_FLAG, "use BSD sum algorithm (the default), use 1K blocks", NULL, 0},
    {'s', "sysv", OPT_FLAG, "use System V sum algorithm, use 512 bytes blocks", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    Proc *p;
    SumKind kind;
    bool zero, named;
    const uint32_t *tables; /* of the CRC */
} Numbers;

static uint32_t rotate_and_add(uint32_t sum, Slice data)
{
    for (size_t i = 0; i < data.len; i++)
        sum = ((sum >> 1) + ((sum & 1) << 15) + (unsigned char)data.data[i]) & 0xffff;
    return sum;
}

static uint32_t add(uint32_t sum, Slice data)
{
    for (size_t i = 0; i < data.len; i++)
        sum += (unsigned char)data.data[i];
    return sum;
}

static void print_number(const Numbers *k, const Checksum *c, const char *name)
{
    Output *out = k->p->out;
    if (k->kind == SUM_BSD) {
        out_printf(out, "%05u %5llu", c->value, (unsigned long long)(c->length / 1024 + (c->length % 1024 != 0)));
    } else if (k->kind == SUM_SYSV) {
        uint32_t r = (c->value & 0xffff) + (c->value >> 16);
        out_printf(out, "%u %llu", (r & 0xffff) + (r >> 16), (unsigned long long)(c->length / 512 + (c->length % 512 != 0)));
    } else {
        out_printf(out, "%u %llu", crc_finish(k->tables, c->value, c->length), (unsigned long long)c->length);
    }
    if (k->named)
        out_printf(out, " %s", name);
    out_char(out, k->zero ? 0 : '\n');
}

/* The CRC of what cannot be read is that of nothing, silently: so it is in the original. */
static int sum_number(Numbers *k, const char *name)
{
    Proc *p = k->p;
    Checksum c = {0, 0};
    bool is_stdin = strcmp(name, "-") == 0;
    int fd = is_stdin ? 0 : proc_open(p, name, V_READ, 0);
    Slice chunk;
    ssize_t n = fd < 0 ? fd : 0;
    while (fd >= 0 && (n = proc_read_chunk(p, fd, 1 << 18, &chunk, NULL)) > 0) {
        c.value = k->kind == SUM_BSD ? rotate_and_add(c.value, chunk) : k->kind == SUM_SYSV ? add(c.value, chunk) : crc_update(k->tables, c.value, chunk);
        c.length += chunk.len;
        proc_tick(p, 1 + chunk.len / 128);
    }
    if (fd >= 0 && !is_stdin)
        proc_close(p, fd);
    if (n < 0 && (fd < 0 || k->kind != SUM_CRC)) {
        warn_errno(p, (int)n, "%s", quotef(p, name));
        return 1;
    }
    print_number(k, &c, name);
    return 0;
}

static int numbers(Proc *p, Args *args, SumKind kind, bool zero)
{
    Numbers k = {.p = p, .kind = kind, .zero = zero};
    int n, status = 0;
    char **names = args_operands(args, &n);
    k.named = n > 0;
    k.tables = kind == SUM_CRC ? crc_tables(p) : NULL;
    for (int i = 0; i < (n ? n : 1); i++)
        status |= sum_number(&k, n ? names[i] : "-");
    return status;
}

static const SumType *choose_type(Proc *p, Args *args)
{
    Choice words[16] = {0};
    for (size_t i = 0; sum_types[i].name; i++)
        words[i] = (Choice){sum_types[i].name, (int)i};
    return &sum_types[choose_exact(p, "--algorithm", args->value, words)];
}

static int cksum_main(Proc *p, Args *args)
{
    SumOptions o = {.p = p, .binary = -1, .tag = true};
    bool debug = false;
    const char *length = NULL;
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == 'a')
            o.type = choose_type(p, args);
        else if (id == 'l')
            length = args->value;
        else if (id == OPT_UNTAGGED)
            o.tag = false;
        else if (id == OPT_DEBUG)
            debug = true;
        else if (id == 'b' || id == 't')
            usage_hint(p, args);
        else if (id == OPT_TAG)
            o.tag = true;
        else
            sum_option(&o, id);
    }
    size_t bytes = length ? sum_length(p, length, SUM_MOST) : 0;
    if (length && bytes != SUM_MOST && (!o.type || o.type->kind != SUM_BLAKE2B))
        die(p, 1, "--length is only supported with --algorithm=blake2b");
    if (o.check && o.type && o.type->kind < SUM_DIGEST)
        die(p, 1, "--check is not supported with --algorithm={bsd,sysv,crc}");
    bool tag = o.tag;
    o.tag = false; /* given with -c it is no mistake here */
    sum_validate(&o, args);
    o.tag = tag;
    if (!o.check && (!o.type || o.type->kind < SUM_DIGEST)) {
        SumKind kind = o.type ? o.type->kind : SUM_CRC;
        if (debug && kind == SUM_CRC)
            warn(p, "pclmul support not detected");
        return numbers(p, args, kind, o.zero);
    }
    o.bytes = bytes ? bytes : o.type ? o.type->bytes : 0;
    int n;
    char **names = args_operands(args, &n);
    return sum_operands(&o, names, n);
}

static int sum_main(Proc *p, Args *args)
{
    SumKind kind = SUM_BSD;
    for (int id; (id = args_next(p, args)) != -1;)
        kind = id == 's' ? SUM_SYSV : SUM_BSD;
    return numbers(p, args, kind, false);
}

COMMAND(cksum, "cksum [OPTION]... [FILE]...", "Print or verify checksums.\nBy default use the 32 bit CRC algorithm.", cksum_options, COMMAND_PURE,
        .package = "GNU coreutils 9.1", .notes = "The CRC is computed by tables on every machine; --debug says so in the words of a cksum without pclmul.");
COMMAND(sum, "sum [OPTION]... [FILE]...", "Print or check BSD (16-bit) checksums.", sum_options, COMMAND_PURE, .package = "GNU coreutils 9.1");
