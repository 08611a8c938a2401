/* truncate: shrink or extend the size of a file to the specified size. GNU coreutils 9.1. */
#include "file.h"

static const Option options[] = {
    {'c', "no-create", OPT_FLAG, "do not create any files", NULL, 0},
    {'o', "io-blocks", OPT_FLAG, "treat SIZE as number of IO blocks instead of bytes", NULL, 0},
    {'r', "reference", OPT_VALUE, "base size on RFILE", "RFILE", 0},
    {'s', "size", OPT_VALUE, "set or adjust the file size by SIZE bytes", "SIZE", 0},
    OPTIONS_END,
};

enum { BLOCK = 4096 };

typedef struct {
    bool create, blocks, size_given;
    char mode;           /* 0, or one of + - < > / % */
    uint64_t size;
    const char *reference;
    uint64_t reference_size;
} Truncate;

static void parse(Proc *p, Args *args, Truncate *t, const char *text)
{
    text += strspn(text, " \t");
    t->mode = 0;
    if (*text && strchr("<>/%", *text)) {
        t->mode = *text++;
        text += strspn(text, " \t");
    }
    if (*text == '+' || *text == '-') {
        if (t->mode)
            usage_fail(p, args, "multiple relative modifiers specified");
        t->mode = *text++;
    }
    int err = parse_size(text, "EgGkKmMPtTYZ0", &t->size);
    if (err)
        die(p, 1, err == -ERANGE ? "Invalid number: %s: Value too large for defined data type" : "Invalid number: %s", quote(p, text - (t->mode == '-' || t->mode == '+')));
    if ((t->mode == '/' || t->mode == '%') && t->size == 0)
        die(p, 1, "division by zero");
    t->size_given = true;
}

static bool new_size(uint64_t old, const Truncate *t, uint64_t by, uint64_t *out)
{
    uint64_t rest;
    switch (t->mode) {
    case '+': return !__builtin_add_overflow(old, by, out);
    case '-': *out = old > by ? old - by : 0; return true;
    case '<': *out = MIN(old, by); return true;
    case '>': *out = MAX(old, by); return true;
    case '/': *out = old / by * by; return true;
    case '%':
        rest = old % by;
        *out = old;
        return !rest || !__builtin_add_overflow(old, by - rest, out);
    default: *out = by; return true;
    }
}

static bool truncate_file(Proc *p, const Truncate *t, const char *name)
{
    VStat st;
    int fd = proc_open(p, name, V_WRITE | V_NONBLOCK | (t->create ? V_CREATE : 0), 0666);
    if (fd == -ENOENT && !t->create)
        return true;
    if (fd < 0) {
        warn_errno(p, fd, "cannot open %s for writing", quoteaf(p, name));
        return false;
    }
    uint64_t by = t->size, size, old;
    int r = proc_fstat(p, fd, &st);
    bool ok = !r && (!t->blocks || !__builtin_mul_overflow(by, (uint64_t)BLOCK, &by));
    old = t->reference ? t->reference_size : st.size;
    if (!t->size_given)
        size = t->reference_size;
    else if (ok && !new_size(old, t, by, &size))
        ok = false;
    if (!ok) {
        warn(p, "overflow extending size of file %s", quoteaf(p, name));
    } else if ((r = proc_ftruncate(p, fd, size))) {
        warn_errno(p, r, "failed to truncate %s at %llu bytes", quoteaf(p, name), (unsigned long long)size);
        ok = false;
    }
    proc_close(p, fd);
    return ok;
}

static int truncate_main(Proc *p, Args *args)
{
    Truncate t = {.create = true};
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == 'c')
            t.create = false;
        else if (id == 'o')
            t.blocks = true;
        else if (id == 'r')
            t.reference = args->value;
        else if (id == 's')
            parse(p, args, &t, args->value);
    }
    int n;
    char **v = args_operands(args, &n);
    if (!t.reference && !t.size_given)
        usage_fail(p, args, "you must specify either %s or %s", quote(p, "--size"), quote(p, "--reference"));
    if (t.reference && t.size_given && !t.mode)
        usage_fail(p, args, "you must specify a relative %s with %s", quote(p, "--size"), quote(p, "--reference"));
    if (t.blocks && !t.size_given)
        usage_fail(p, args, "%s was specified but %s was not", quote(p, "--io-blocks"), quote(p, "--size"));
    if (!n)
        usage_fail(p, args, "missing file operand");
    if (t.reference) {
        VStat st;
        int r = proc_stat(p, t.reference, 0, &st);
        if (r)
            die_errno(p, 1, r, "cannot stat %s", quoteaf(p, t.reference));
        t.reference_size = st.size;
    }
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok &= truncate_file(p, &t, v[i]);
    return !ok;
}

COMMAND(truncate, "truncate OPTION... FILE...", "Shrink or extend the size of each FILE to the specified size.", options, COMMAND_WRITES);
