/* md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum, b2sum: print or check message digests. GNU coreutils 9.1. */
#include "sums.h"

#define FIRST {'b', "binary", OPT_FLAG, "read in binary mode", NULL, 0}, {'c', "check", OPT_FLAG, "read checksums from the FILEs and check them", NULL, 0}
#define OTHERS                                                                                                                    \
    {0, "tag", OPT_FLAG, "create a BSD-style checksum", NULL, OPT_TAG},                                                            \
        {'t', "text", OPT_FLAG, "read in text mode (default)", NULL, 0},                                                           \
        {'z', "zero", OPT_FLAG, "end each output line with NUL, not newline, and disable file name escaping", NULL, 0},            \
        {0, "ignore-missing", OPT_FLAG, "don't fail or report status for missing files", NULL, OPT_IGNORE_MISSING},                \
        {0, "quiet", OPT_FLAG, "don't print OK for each successfully verified file", NULL, OPT_QUIET},                             \
        {0, "status", OPT_FLAG, "don't output anything, status code shows success", NULL, OPT_STATUS},                             \
        {0, "strict", OPT_FLAG, "exit non-zero for improperly formatted checksum lines", NULL, OPT_STRICT},                        \
        {'w', "warn", OPT_FLAG, "warn about improperly formatted checksum lines", NULL, 0}, OPTIONS_END

static const Option options[] = {FIRST, OTHERS};
static const Option b2_options[] = {
    FIRST,
    {'l', "length", OPT_VALUE, "digest length in bits; must not exceed the max for the blake2 algorithm and must be a multiple of 8", "BITS", 0},
    OTHERS,
};

bool sum_option(SumOptions *o, int id)
{
    switch (id) {
    case 'c': o->check = true; break;
    case 'b': o->binary = 1; break;
    case 't': o->binary = 0; break;
    case 'z': o->zero = true; break;
    case 'w': o->warn_lines = true; o->status = o->quiet = false; break;
    case OPT_TAG: o->tag = true; o->binary = 1; break;
    case OPT_IGNORE_MISSING: o->ignore_missing = true; break;
    case OPT_QUIET: o->quiet = true; o->status = o->warn_lines = false; break;
    case OPT_STATUS: o->status = true; o->quiet = o->warn_lines = false; break;
    case OPT_STRICT: o->strict = true; break;
    default: return false;
    }
    return true;
}

size_t sum_length(Proc *p, const char *text, size_t most)
{
    uint64_t bits;
    if (parse_size(text, "", &bits) == -EINVAL)
        die(p, 1, "invalid length: %s", quote(p, text));
    if (bits > most * 8) {
        warn(p, "invalid length: %s", quote(p, text));
        die(p, 1, "maximum digest length for %s is %zu bits", quote(p, "BLAKE2b"), most * 8);
    }
    if (bits % 8) {
        warn(p, "invalid length: %s", quote(p, text));
        die(p, 1, "length is not a multiple of 8");
    }
    return bits ? (size_t)bits / 8 : most;
}

void sum_validate(SumOptions *o, Args *args)
{
    static const char only[] = "the --%s option is meaningful only when verifying checksums";
    if (o->tag && o->binary == 0)
        usage_fail(o->p, args, "--tag does not support --text mode");
    if (o->zero && o->check)
        usage_fail(o->p, args, "the --zero option is not supported when verifying checksums");
    if (o->tag && o->check)
        usage_fail(o->p, args, "the --tag option is meaningless when verifying checksums");
    if (o->binary >= 0 && o->check)
        usage_fail(o->p, args, "the --binary and --text options are meaningless when verifying checksums");
    if (o->check)
        return;
    const char *wrong = o->ignore_missing ? "ignore-missing" : o->status ? "status" : o->warn_lines ? "warn" : o->quiet ? "quiet" : o->strict ? "strict" : NULL;
    if (wrong)
        usage_fail(o->p, args, only, wrong);
}

static int digest_command(Proc *p, Args *args, const char *type)
{
    SumOptions o = {.p = p, .type = sum_type(type), .binary = -1};
    o.bytes = o.type->bytes;
    for (int id; (id = args_next(p, args)) != -1;)
        if (id == 'l')
            o.bytes = sum_length(p, args->value, o.type->bytes);
        else
            sum_option(&o, id);
    sum_validate(&o, args);
    int n;
    char **names = args_operands(args, &n);
    return sum_operands(&o, names, n);
}

#define DIGEST(type, id, title, table)                                                                                                 \
    static int id##_main(Proc *p, Args *args) { return digest_command(p, args, type); }                                               \
    COMMAND(id, #id " [OPTION]... [FILE]...", "Print or check " title " checksums.", table, COMMAND_PURE, .package = "GNU coreutils 9.1")

DIGEST("md5", md5sum, "MD5 (128-bit)", options);
DIGEST("sha1", sha1sum, "SHA1 (160-bit)", options);
DIGEST("sha224", sha224sum, "SHA224 (224-bit)", options);
DIGEST("sha256", sha256sum, "SHA256 (256-bit)", options);
DIGEST("sha384", sha384sum, "SHA384 (384-bit)", options);
DIGEST("sha512", sha512sum, "SHA512 (512-bit)", options);
DIGEST("blake2b", b2sum, "BLAKE2b (512-bit)", b2_options);
