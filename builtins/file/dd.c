/* dd: convert and copy a file. GNU coreutils 9.1. */
#include "file.h"

static const Option options[] = {OPTIONS_END};

enum { CONV_UCASE = 1, CONV_LCASE = 2, CONV_SWAB = 4, CONV_NOERROR = 8, CONV_NOTRUNC = 16, CONV_SYNC = 32, CONV_EXCL = 64, CONV_NOCREAT = 128, CONV_BLOCK = 256, CONV_UNBLOCK = 512,
       CONV_FSYNC = 1024, CONV_SPARSE = 2048, CONV_ASCII = 4096, FLAG_APPEND = 1, FLAG_FULLBLOCK = 2, FLAG_COUNT_BYTES = 4, FLAG_SKIP_BYTES = 8, FLAG_SEEK_BYTES = 16, FLAG_DIRECTORY = 32, FLAG_OTHER = 64 };

typedef enum { STATUS_DEFAULT, STATUS_NONE, STATUS_NOXFER, STATUS_PROGRESS } Status;

typedef struct { const char *name; unsigned bit; } Word;

static const Word conversions[] = {{"ascii", CONV_ASCII}, {"ebcdic", CONV_ASCII}, {"ibm", CONV_ASCII}, {"block", CONV_BLOCK}, {"unblock", CONV_UNBLOCK}, {"lcase", CONV_LCASE}, {"ucase", CONV_UCASE}, {"sparse", CONV_SPARSE},
                                   {"swab", CONV_SWAB}, {"noerror", CONV_NOERROR}, {"nocreat", CONV_NOCREAT}, {"excl", CONV_EXCL}, {"notrunc", CONV_NOTRUNC}, {"sync", CONV_SYNC}, {"fdatasync", CONV_FSYNC}, {"fsync", CONV_FSYNC}, {NULL, 0}};
static const Word flags[] = {{"append", FLAG_APPEND}, {"fullblock", FLAG_FULLBLOCK}, {"count_bytes", FLAG_COUNT_BYTES}, {"skip_bytes", FLAG_SKIP_BYTES}, {"seek_bytes", FLAG_SEEK_BYTES}, {"directory", FLAG_DIRECTORY},
                             {"direct", FLAG_OTHER}, {"dsync", FLAG_OTHER}, {"sync", FLAG_OTHER}, {"nonblock", FLAG_OTHER}, {"noatime", FLAG_OTHER}, {"nocache", FLAG_OTHER}, {"noctty", FLAG_OTHER}, {"nofollow", FLAG_OTHER}, {"binary", FLAG_OTHER}, {"text", FLAG_OTHER}, {NULL, 0}};

typedef struct {
    Proc *p;
    const char *in_name, *out_name;
    uint64_t in_block, out_block, convert_block, skip, seek, count;
    bool count_given, skip_bytes, seek_bytes, count_bytes, block_given;
    unsigned conv, in_flags, out_flags;
    Status status;
    int in, out;
    uint64_t in_full, in_part, out_full, out_part, truncated, bytes;
    char *held;         /* output that does not fill a block yet */
    size_t held_len;
    uint64_t column;    /* of the record under conv=block and unblock */
    uint64_t pending_blanks;
    int64_t started;
    bool failed;
} Dd;

/* ---------- operands ---------- */

static NORETURN void bad_number(Dd *d, const char *text, int error)
{
    if (error == -ERANGE)
        die(d->p, 1, "invalid number: %s: Value too large for defined data type", quote(d->p, text));
    die(d->p, 1, "invalid number: %s", quote(d->p, text));
}

/* Numbers with suffixes, multiplied by x; a B at the end makes them bytes. */
static uint64_t number(Dd *d, const char *text, bool *bytes)
{
    uint64_t product = 1;
    for (const char *s = text;;) {
        size_t n = strcspn(s, "x");
        bool hex = n == 1 && *s == '0' && s[1] == 'x';
        if (hex)
            warn(d->p, "warning: %s is a zero multiplier; use %s if that is intended", quote(d->p, "0x"), quote(d->p, "00x"));
        char *part = mem_copy(&d->p->mem, slice(s, n));
        if (bytes && n && part[n - 1] == 'B' && !(n > 1 && strchr("kKMGTPEZYi", part[n - 2])))
            *bytes = true;
        if (bytes && *bytes && n && part[n - 1] == 'B' && n > 1 && part[n - 2] >= '0' && part[n - 2] <= '9')
            part[n - 1] = 0;
        uint64_t unit = 1, v;
        n = strlen(part);
        if (n && (part[n - 1] == 'c' || part[n - 1] == 'w' || part[n - 1] == 'b')) {
            unit = part[n - 1] == 'c' ? 1 : part[n - 1] == 'w' ? 2 : 512;
            part[n - 1] = 0;
        }
        int err = parse_size(part, "cwbKkMGTPEZY0", &v);
        if (err)
            bad_number(d, text, err);
        if (__builtin_mul_overflow(v, unit, &v) || __builtin_mul_overflow(product, v, &product))
            bad_number(d, text, -ERANGE);
        s += strcspn(s, "x");
        if (!*s)
            return product;
        s++;
    }
}

static unsigned words(Dd *d, Args *args, const Word *list, const char *text, const char *message)
{
    unsigned bits = 0;
    for (const char *s = text;;) {
        size_t n = strcspn(s, ",");
        const Word *w = list;
        while (w->name && !(strlen(w->name) == n && strncmp(w->name, s, n) == 0))
            w++;
        if (!w->name)
            usage_fail(d->p, args, "%s: %s", message, quote(d->p, mem_copy(&d->p->mem, slice(s, n))));
        bits |= w->bit;
        s += n;
        if (!*s++)
            return bits;
    }
}

static uint64_t block_size(Dd *d, const char *text)
{
    uint64_t v = number(d, text, NULL);
    if (v == 0)
        bad_number(d, text, 0);
    if (v > 1u << 30)
        proc_limit(d->p, LIMIT_MEMORY);
    return v;
}

static void set_status(Dd *d, Args *args, const char *v)
{
    static const char *const names[] = {NULL, "none", "noxfer", "progress"};
    for (int i = 1; i < 4; i++)
        if (strcmp(v, names[i]) == 0) {
            d->status = (Status)i;
            return;
        }
    usage_fail(d->p, args, "invalid status level: %s", quote(d->p, v));
}

static void set_operand(Dd *d, Args *args, char *text)
{
    char *v = strchr(text, '=');
    if (!v)
        usage_fail(d->p, args, "unrecognized operand %s", quote(d->p, text));
    const char *name = mem_copy(&d->p->mem, slice(text, (size_t)(v++ - text)));
    if (strcmp(name, "if") == 0)
        d->in_name = v;
    else if (strcmp(name, "of") == 0)
        d->out_name = v;
    else if (strcmp(name, "conv") == 0)
        d->conv |= words(d, args, conversions, v, "invalid conversion");
    else if (strcmp(name, "iflag") == 0)
        d->in_flags |= words(d, args, flags, v, "invalid input flag");
    else if (strcmp(name, "oflag") == 0)
        d->out_flags |= words(d, args, flags, v, "invalid output flag");
    else if (strcmp(name, "status") == 0)
        set_status(d, args, v);
    else if (strcmp(name, "ibs") == 0)
        d->in_block = block_size(d, v);
    else if (strcmp(name, "obs") == 0)
        d->out_block = block_size(d, v);
    else if (strcmp(name, "bs") == 0)
        d->in_block = d->out_block = block_size(d, v), d->block_given = true;
    else if (strcmp(name, "cbs") == 0)
        d->convert_block = block_size(d, v);
    else if (strcmp(name, "skip") == 0 || strcmp(name, "iseek") == 0)
        d->skip = number(d, v, &d->skip_bytes);
    else if (strcmp(name, "seek") == 0 || strcmp(name, "oseek") == 0)
        d->seek = number(d, v, &d->seek_bytes);
    else if (strcmp(name, "count") == 0)
        d->count = number(d, v, &d->count_bytes), d->count_given = true;
    else
        usage_fail(d->p, args, "unrecognized operand %s", quote(d->p, text));
}

/* ---------- output ---------- */

static void write_block(Dd *d, const char *data, size_t n)
{
    ssize_t r = n ? proc_write(d->p, d->out, slice(data, n)) : 0;
    if (r < 0) {
        warn_errno(d->p, (int)r, "error writing %s", quoteaf(d->p, d->out_name ? d->out_name : "standard output"));
        d->failed = true;
        return;
    }
    n == d->out_block ? d->out_full++ : d->out_part++;
    d->bytes += n;
}

static void put(Dd *d, const char *data, size_t n)
{
    while (n && !d->failed) {
        size_t part = MIN(n, (size_t)d->out_block - d->held_len);
        memcpy(d->held + d->held_len, data, part);
        d->held_len += part;
        data += part;
        n -= part;
        if (d->held_len == d->out_block) {
            write_block(d, d->held, d->held_len);
            d->held_len = 0;
        }
    }
}

static void put_char(Dd *d, char c) { put(d, &c, 1); }

/* Records ended by newlines to records of a fixed length. */
static void put_blocked(Dd *d, const char *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (data[i] == '\n') {
            for (; d->column < d->convert_block; d->column++)
                put_char(d, ' ');
            d->column = 0;
        } else {
            if (d->column == d->convert_block)
                d->truncated++;
            if (d->column < d->convert_block)
                put_char(d, data[i]);
            d->column++;
        }
        proc_tick(d->p, 1);
    }
}

static void put_unblocked(Dd *d, const char *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (d->column++ >= d->convert_block) {
            d->pending_blanks = 0;
            d->column = 0;
            put_char(d, '\n');
            i--;
            continue;
        }
        if (data[i] == ' ') {
            d->pending_blanks++;
            continue;
        }
        for (; d->pending_blanks; d->pending_blanks--)
            put_char(d, ' ');
        put_char(d, data[i]);
        proc_tick(d->p, 1);
    }
}

static void convert(Dd *d, char *data, size_t n)
{
    for (size_t i = 0; d->conv & (CONV_UCASE | CONV_LCASE) && i < n; i++) {
        char c = data[i];
        if (d->conv & CONV_UCASE && c >= 'a' && c <= 'z')
            data[i] = (char)(c - 32);
        if (d->conv & CONV_LCASE && c >= 'A' && c <= 'Z')
            data[i] = (char)(c + 32);
    }
    for (size_t i = 0; d->conv & CONV_SWAB && i + 1 < n; i += 2) {
        char c = data[i];
        data[i] = data[i + 1];
        data[i + 1] = c;
    }
    if (d->conv & CONV_BLOCK)
        put_blocked(d, data, n);
    else if (d->conv & CONV_UNBLOCK)
        put_unblocked(d, data, n);
    else if (d->block_given && !d->held_len)
        write_block(d, data, n);
    else
        put(d, data, n);
}

/* ---------- copying ---------- */

static ssize_t read_block(Dd *d, char *data, size_t want)
{
    size_t got = 0;
    while (got < want) {
        ssize_t n = proc_read(d->p, d->in, data + got, want - got);
        if (n < 0)
            return n;
        got += (size_t)n;
        if (!n || !(d->in_flags & FLAG_FULLBLOCK))
            break;
    }
    return (ssize_t)got;
}

static void copy(Dd *d)
{
    char *data = mem_alloc(&d->p->keep, (size_t)d->in_block);
    uint64_t left = d->count;
    while (!d->failed) {
        size_t want = (size_t)d->in_block;
        if (d->count_given && d->count_bytes)
            want = (size_t)MIN(left, d->in_block);
        if (d->count_given && !left)
            break;
        ssize_t n = read_block(d, data, want);
        if (n < 0) {
            warn_errno(d->p, (int)n, "error reading %s", quoteaf(d->p, d->in_name ? d->in_name : "standard input"));
            d->failed = true;
            break;
        }
        if (n == 0)
            break;
        left -= d->count_bytes ? (uint64_t)n : 1;
        (size_t)n == d->in_block ? d->in_full++ : d->in_part++;
        if ((size_t)n < d->in_block && d->conv & CONV_SYNC) {
            memset(data + n, d->conv & (CONV_BLOCK | CONV_UNBLOCK) ? ' ' : 0, (size_t)d->in_block - (size_t)n);
            n = (ssize_t)d->in_block;
        }
        convert(d, data, (size_t)n);
        proc_tick(d->p, 1 + (uint64_t)n / 128);
    }
    if (d->conv & CONV_BLOCK && d->column)
        for (; d->column < d->convert_block; d->column++)
            put_char(d, ' ');
    if (d->conv & CONV_UNBLOCK && d->column)
        put_char(d, '\n');
    if (d->held_len && !d->failed)
        write_block(d, d->held, d->held_len);
}

static void report(Dd *d)
{
    Proc *p = d->p;
    if (d->status == STATUS_NONE)
        return;
    output_flush(p->out);
    out_printf(p->err, "%llu+%llu records in\n%llu+%llu records out\n", (unsigned long long)d->in_full, (unsigned long long)d->in_part, (unsigned long long)d->out_full, (unsigned long long)d->out_part);
    if (d->truncated)
        out_printf(p->err, "%llu truncated record%s\n", (unsigned long long)d->truncated, d->truncated == 1 ? "" : "s");
    if (d->status != STATUS_NOXFER) {
        double seconds = (double)(proc_monotonic(p) - d->started) / 1e9;
        out_printf(p->err, "%llu byte%s", (unsigned long long)d->bytes, d->bytes == 1 ? "" : "s");
        if (d->bytes >= 1000)
            out_printf(p->err, " (%s%s", mem_printf(&p->mem, "%.*s %cB", (int)strlen(format_human(p, d->bytes, 1000)) - 1, format_human(p, d->bytes, 1000), format_human(p, d->bytes, 1000)[strlen(format_human(p, d->bytes, 1000)) - 1]),
                       d->bytes >= 1024 ? mem_printf(&p->mem, ", %.*s %ciB)", (int)strlen(format_human(p, d->bytes, 1024)) - 1, format_human(p, d->bytes, 1024), format_human(p, d->bytes, 1024)[strlen(format_human(p, d->bytes, 1024)) - 1]) : ")");
        uint64_t rate = seconds > 0 ? (uint64_t)((double)d->bytes / seconds) : 0;
        const char *shown = format_human(p, rate, 1000);
        bool unit = rate >= 1000;
        out_printf(p->err, " copied, %g s, %.*s %.*sB/s\n", seconds, (int)strlen(shown) - unit, shown, unit, shown + strlen(shown) - 1);
    }
    output_flush(p->err);
}

/* ---------- files ---------- */

static void open_files(Dd *d)
{
    Proc *p = d->p;
    d->in = 0;
    d->out = 1;
    if (d->in_name && (d->in = proc_open(p, d->in_name, V_READ, 0)) < 0)
        die_errno(p, 1, d->in, "failed to open %s", quoteaf(p, d->in_name));
    if (!d->out_name)
        return;
    int how = V_WRITE | (d->conv & CONV_NOCREAT ? 0 : V_CREATE) | (d->conv & CONV_EXCL ? V_EXCL : 0) | (d->out_flags & FLAG_APPEND ? V_APPEND : 0);
    how |= d->seek || d->conv & CONV_NOTRUNC ? 0 : V_TRUNC;
    if ((d->out = proc_open(p, d->out_name, how, 0666)) < 0)
        die_errno(p, 1, d->out, "failed to open %s", quoteaf(p, d->out_name));
    uint64_t offset = d->seek_bytes ? d->seek : d->seek * d->out_block;
    if (d->seek && !(d->conv & CONV_NOTRUNC))
        proc_ftruncate(p, d->out, offset);
}

static void skip_input(Dd *d)
{
    uint64_t offset = d->skip_bytes ? d->skip : d->skip * d->in_block;
    VStat st;
    if (!offset)
        return;
    const char *name = quoteaf(d->p, d->in_name ? d->in_name : "standard input");
    if (proc_seek(d->p, d->in, (int64_t)offset, SEEK_CUR) >= 0) {
        if (proc_fstat(d->p, d->in, &st) == 0 && S_ISREG(st.mode) && offset > st.size)
            warn(d->p, "%s: cannot skip to specified offset", d->in_name ? quotef(d->p, d->in_name) : name);
        return;
    }
    char *data = mem_alloc(&d->p->keep, (size_t)d->in_block);
    while (offset) {
        ssize_t n = read_block(d, data, (size_t)MIN(offset, d->in_block));
        if (n <= 0) {
            warn(d->p, "%s: cannot skip to specified offset", name);
            return;
        }
        offset -= d->skip_bytes || (d->in_flags & FLAG_FULLBLOCK) ? (uint64_t)n : MIN(offset, d->in_block);
    }
}

static void seek_output(Dd *d)
{
    uint64_t offset = d->seek_bytes ? d->seek : d->seek * d->out_block;
    static const char zeros[512];
    if (!offset || proc_seek(d->p, d->out, (int64_t)offset, SEEK_CUR) >= 0)
        return;
    for (uint64_t n; offset; offset -= n) {
        n = MIN(offset, sizeof zeros);
        proc_write(d->p, d->out, slice(zeros, (size_t)n));
    }
}

static void check(Dd *d)
{
    unsigned case_bits = d->conv & (CONV_UCASE | CONV_LCASE), block_bits = d->conv & (CONV_BLOCK | CONV_UNBLOCK);
    if (case_bits == (CONV_UCASE | CONV_LCASE))
        die(d->p, 1, "cannot combine lcase and ucase");
    if (block_bits == (CONV_BLOCK | CONV_UNBLOCK))
        die(d->p, 1, "cannot combine block and unblock");
    if ((d->conv & (CONV_EXCL | CONV_NOCREAT)) == (CONV_EXCL | CONV_NOCREAT))
        die(d->p, 1, "cannot combine excl and nocreat");
    if (d->conv & CONV_ASCII)
        die(d->p, 1, "conversion from or to EBCDIC is not supported");
    if (d->convert_block == 0)
        d->conv &= ~(unsigned)(CONV_BLOCK | CONV_UNBLOCK);
    d->count_bytes |= (d->in_flags & FLAG_COUNT_BYTES) != 0;
    d->skip_bytes |= (d->in_flags & FLAG_SKIP_BYTES) != 0;
    d->seek_bytes |= (d->out_flags & FLAG_SEEK_BYTES) != 0;
    d->block_given &= !(d->conv & ~(unsigned)(CONV_NOTRUNC | CONV_NOERROR | CONV_SYNC | CONV_EXCL | CONV_NOCREAT | CONV_FSYNC | CONV_SPARSE));
}

static int dd_main(Proc *p, Args *args)
{
    Dd d = {.p = p, .in_block = 512, .out_block = 512, .started = proc_monotonic(p)};
    while (args_next(p, args) != -1)
        ;
    int n;
    char **v = args_operands(args, &n);
    for (int i = 0; i < n; i++)
        set_operand(&d, args, v[i]);
    check(&d);
    d.held = mem_alloc(&p->keep, (size_t)d.out_block);
    open_files(&d);
    skip_input(&d);
    seek_output(&d);
    copy(&d);
    report(&d);
    return d.failed;
}

COMMAND(dd, "dd [OPERAND]...\ndd OPTION", "Copy a file, converting and formatting according to the operands.", options, COMMAND_WRITES,
        .notes = "Operands: if=FILE of=FILE bs=BYTES ibs=BYTES obs=BYTES cbs=BYTES count=N skip=N iseek=N seek=N oseek=N conv=CONVS iflag=FLAGS oflag=FLAGS status=LEVEL\n"
                 "EBCDIC (conv=ascii, ebcdic, ibm) is not supported.");
