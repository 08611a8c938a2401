/* squeeze: bzip2, xz and zstd and the names they go by: files and streams through the archive component. bzip2 1.0.8, XZ Utils 5.4.1, zstd 1.5.4. */
#include <stdarg.h>

#include "archive/archive.h"

typedef enum { FAMILY_BZIP2, FAMILY_XZ, FAMILY_ZSTD } Family;

enum { OPT_KEEP_OFF = 256, OPT_RM, OPT_ULTRA, OPT_FASTEST, OPT_BEST, OPT_ACCEPT, OPT_NO_CHECK, OPT_EXCLUDE };

typedef struct {
    Proc *p;
    Family family;
    Codec codec;
    bool decompress, to_stdout, keep, force, test, extreme, checksum;
    int quiet, verbose, level, check, status;
    const char *suffix;
} Squeeze;

#define COMMON                                                                                                                             \
    {'c', "stdout", OPT_FLAG, "write to standard output and don't delete input files", NULL, 0}, {0, "to-stdout", OPT_FLAG, NULL, NULL, 'c'}, \
        {'d', "decompress", OPT_FLAG, "force decompression", NULL, 0}, {0, "uncompress", OPT_FLAG, NULL, NULL, 'd'},                          \
        {'z', "compress", OPT_FLAG, "force compression", NULL, 0}, {'k', "keep", OPT_FLAG, "keep (don't delete) input files", NULL, 0},       \
        {'f', "force", OPT_FLAG, "force overwrite of output file", NULL, 0}, {'t', "test", OPT_FLAG, "test compressed file integrity", NULL, 0}, \
        {'q', "quiet", OPT_FLAG, "suppress warnings", NULL, 0}, {'v', "verbose", OPT_FLAG, "be verbose", NULL, 0}
#define LEVELS                                                                                                                              \
    OPTION_DIGIT('1'), OPTION_DIGIT('2'), OPTION_DIGIT('3'), OPTION_DIGIT('4'), OPTION_DIGIT('5'), OPTION_DIGIT('6'), OPTION_DIGIT('7'), OPTION_DIGIT('8'), OPTION_DIGIT('9')

static const Option bzip2_options[] = {
    COMMON, LEVELS,
    {'s', "small", OPT_FLAG, "accepted: memory is bounded already", NULL, OPT_ACCEPT},
    {0, "fast", OPT_FLAG, "alias for -1", NULL, '1'},
    {0, "best", OPT_FLAG, "alias for -9", NULL, '9'},
    OPTIONS_END,
};

static const Option xz_options[] = {
    COMMON, LEVELS, OPTION_DIGIT('0'),
    {'e', "extreme", OPT_FLAG, "try to improve compression ratio by using more CPU time", NULL, 0},
    {'S', "suffix", OPT_VALUE, "use the suffix .SUF on compressed files", ".SUF", 0},
    {'F', "format", OPT_VALUE, "file format to encode or decode: auto, xz, lzma", "FMT", 0},
    {'C', "check", OPT_VALUE, "integrity check: none, crc32, crc64, sha256", "CHECK", 0},
    {'T', "threads", OPT_VALUE, "accepted: one thread is used", "NUM", OPT_ACCEPT},
    {'Q', "no-warn", OPT_FLAG, "make warnings not affect the exit status", NULL, OPT_ACCEPT},
    {0, "no-sparse", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "single-stream", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "fast", OPT_FLAG, NULL, NULL, '0'},
    {0, "best", OPT_FLAG, NULL, NULL, '9'},
    OPTIONS_END,
};

static const Option zstd_options[] = {
    COMMON, LEVELS,
    {'T', "threads", OPT_VALUE, "accepted: one thread is used", "N", OPT_ACCEPT},
    {0, "rm", OPT_FLAG, "remove source file(s) after successful compression or decompression", NULL, OPT_RM},
    {0, "ultra", OPT_FLAG, "enable levels beyond 19, up to 22", NULL, OPT_ULTRA},
    {0, "fast", OPT_OPTIONAL, "switch to very fast compression levels", "N", OPT_FASTEST},
    {0, "no-check", OPT_FLAG, "no checksum of the content", NULL, OPT_NO_CHECK},
    {0, "no-progress", OPT_FLAG, "accepted: none is shown", NULL, OPT_ACCEPT},
    OPTIONS_END,
};

static const char *program(const Squeeze *s)
{
    return s->family == FAMILY_ZSTD ? "zstd" : s->p->name;
}

static void complain(Squeeze *s, int status, const char *format, ...) PRINTF_LIKE(3, 4);
static void complain(Squeeze *s, int status, const char *format, ...)
{
    char text[4600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    s->status = MAX(s->status, status);
    output_flush(s->p->out);
    out_printf(s->p->err, "%s: %s\n", program(s), text);
    output_flush(s->p->err);
}

/* One file or stream. */
typedef struct {
    Squeeze *s;
    const char *shown;
    int fd;
    Sink sink;
    bool ok;
    uint64_t size;
} Job;

static void explain(Job *j, int err)
{
    Squeeze *s = j->s;
    if (err == CODEC_EMEMORY)
        proc_raise(s->p, RAISE_MEMORY);
    if (s->family == FAMILY_XZ)
        complain(s, 1, "%s: %s", j->shown, err == CODEC_EFORMAT ? "File format not recognized" : err == CODEC_ETRUNCATED ? "Unexpected end of input" : err == CODEC_ELIMIT ? "Memory usage limit reached" : err == CODEC_EOPTIONS ? "Unsupported options" : "Compressed data is corrupt");
    else if (s->family == FAMILY_ZSTD)
        complain(s, 1, "%s: %s", j->shown, err == CODEC_EFORMAT ? "unsupported format " : err == CODEC_ETRUNCATED ? "Read error (39) : premature end " : "Decoding error (36) : Data corruption detected ");
    else if (err == CODEC_EFORMAT)
        complain(s, 2, s->test ? "%s: bad magic number (file not created by bzip2)" : "%s is not a bzip2 file.", j->shown);
    else if (err == CODEC_ETRUNCATED)
        complain(s, 2, "%s: file ends unexpectedly", j->shown);
    else
        complain(s, 2, "%s: data integrity (CRC) error in data", j->shown);
}

static void work(Proc *p, void *arg)
{
    Job *j = arg;
    Squeeze *s = j->s;
    char *out = mem_alloc(&p->keep, ARCHIVE_BLOCK);
    Source source;
    source_init(&source, p, j->fd);
    Codec codec = s->codec;
    if (s->decompress && codec == CODEC_XZ && source_peek(&source, 6) >= 3 && packing_of_bytes(source.window) == PACK_LZMA)
        codec = CODEC_LZMA;
    if (s->decompress && s->family == FAMILY_XZ && source_peek(&source, 6) < 6 && (source.window.len == 0 || (source.window.data[0] != (char)0xfd && source.window.data[0] != 0x5d))) {
        explain(j, source.window.len ? CODEC_EFORMAT : CODEC_ETRUNCATED);
        return;
    }
    CodecParams params = {.compress = !s->decompress, .level = s->level, .extreme = s->extreme, .check = s->check, .checksum = s->checksum, .size = j->size};
    CodecStream *stream = codec_open(p, codec, &params);
    for (;;) {
        bool more = source_fill(&source);
        if (source.error) {
            complain(s, 1, "%s: %s", j->shown, error_text(-source.error));
            break;
        }
        size_t n = MIN(source.window.len, (size_t)ARCHIVE_BLOCK);
        CodecIo io = {(const unsigned char *)source.window.data, n, (unsigned char *)out, ARCHIVE_BLOCK};
        int err = codec_step(stream, &io, !more);
        source_take(&source, n - io.in_len);
        sink_put(&j->sink, (Slice){out, ARCHIVE_BLOCK - io.out_len});
        proc_tick(p, 1 + n / 16);
        if (err < 0 || j->sink.error) {
            if (err < 0)
                explain(j, err);
            break;
        }
        if (err != CODEC_END)
            continue;
        if (s->decompress && codec == CODEC_BZIP2 && source_fill(&source)) {
            codec_close(p, stream);
            stream = codec_open(p, codec, &params);
            continue;
        }
        j->ok = true;
        break;
    }
    if (j->sink.error)
        complain(s, 1, "%s: Write error: %s", j->shown, error_text(-j->sink.error));
    j->ok &= !j->sink.error;
    codec_close(p, stream);
}

static void standard_input(Squeeze *s)
{
    static const char *const shown[] = {"(stdin)", "(stdin)", "/*stdin*\\"};
    Job j = {.s = s, .shown = shown[s->family], .fd = 0, .sink = {.p = s->p, .fd = s->test ? -1 : 1}, .size = UINT64_MAX};
    work(s->p, &j);
}

static bool ends(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n > k && strcmp(name + n - k, end) == 0;
}

/* NULL after a message. */
static const char *output_name(Squeeze *s, const char *name)
{
    static const struct { Family family; const char *from, *to; } suffixes[] = {
        {FAMILY_BZIP2, ".bz2", ""}, {FAMILY_BZIP2, ".bz", ""}, {FAMILY_BZIP2, ".tbz2", ".tar"}, {FAMILY_BZIP2, ".tbz", ".tar"}, {FAMILY_XZ, ".xz", ""},
        {FAMILY_XZ, ".txz", ".tar"}, {FAMILY_XZ, ".lzma", ""}, {FAMILY_XZ, ".tlz", ".tar"}, {FAMILY_ZSTD, ".zst", ""}, {FAMILY_ZSTD, ".tzst", ".tar"},
    };
    Mem *m = &s->p->mem;
    const char *found = NULL, *to = "";
    if (s->suffix && ends(name, s->suffix))
        found = s->suffix;
    for (size_t i = 0; !found && i < ARRAY_LEN(suffixes); i++)
        if (suffixes[i].family == s->family && ends(name, suffixes[i].from)) {
            found = suffixes[i].from;
            to = suffixes[i].to;
        }
    const char *own = s->suffix ? s->suffix : s->family == FAMILY_BZIP2 ? ".bz2" : s->family == FAMILY_ZSTD ? ".zst" : s->codec == CODEC_LZMA ? ".lzma" : ".xz";
    if (!s->decompress && found && s->family != FAMILY_ZSTD) {
        if (s->family == FAMILY_BZIP2)
            complain(s, 1, "Input file %s already has %s suffix.", name, found);
        else
            complain(s, 2, "%s: File already has `%s' suffix, skipping", name, found);
        return NULL;
    }
    if (!s->decompress)
        return mem_printf(m, "%s%s", name, own);
    if (found)
        return mem_printf(m, "%.*s%s", (int)(strlen(name) - strlen(found)), name, to);
    if (s->family == FAMILY_BZIP2) {
        complain(s, 0, "Can't guess original name for %s -- using %s.out", name, name);
        return mem_printf(m, "%s.out", name);
    }
    if (s->family == FAMILY_XZ)
        complain(s, 2, "%s: Filename has an unknown suffix, skipping", name);
    else
        complain(s, 1, "%s: unknown suffix (.zst/.tzst expected). Can't derive the output file name. Specify it with -o dstFileName. Ignoring.", name);
    return NULL;
}

/* xz looks at the file before it looks at its name. */
static bool looks_right(Squeeze *s, Job *j)
{
    char head[6];
    if (s->family != FAMILY_XZ || !s->decompress)
        return true;
    ssize_t n = proc_read(s->p, j->fd, head, sizeof head);
    proc_seek(s->p, j->fd, 0, SEEK_SET);
    Packing kind = packing_of_bytes((Slice){head, n > 0 ? (size_t)n : 0});
    if (kind == PACK_XZ || kind == PACK_LZMA)
        return true;
    explain(j, n > 0 ? CODEC_EFORMAT : CODEC_ETRUNCATED);
    return false;
}

static void treat(Squeeze *s, const char *name)
{
    Proc *p = s->p;
    Job j = {.s = s, .shown = name, .sink = {.p = p, .fd = s->test ? -1 : 1}};
    VStat st;
    int err = proc_stat(p, name, 0, &st);
    if (err) {
        if (s->family == FAMILY_BZIP2)
            complain(s, 1, "Can't open input file %s: %s.", name, error_text(-err));
        else
            complain(s, 1, s->family == FAMILY_XZ ? "%s: %s" : "can't stat %s : %s -- ignored ", name, error_text(-err));
        return;
    }
    if (S_ISDIR(st.mode)) {
        if (s->family == FAMILY_BZIP2)
            complain(s, 1, "Input file %s is a directory.", name);
        else
            complain(s, s->family == FAMILY_XZ ? 2 : 1, s->family == FAMILY_XZ ? "%s: Is a directory, skipping" : "%s is a directory -- ignored ", name);
        return;
    }
    bool in_place = !s->to_stdout && !s->test;
    j.fd = proc_open(p, name, V_READ, 0);
    if (j.fd < 0) {
        complain(s, 1, "%s: %s", name, error_text(-j.fd));
        return;
    }
    if (in_place && !looks_right(s, &j)) {
        proc_close(p, j.fd);
        return;
    }
    const char *out_name = in_place ? output_name(s, name) : NULL;
    if (in_place && !out_name) {
        proc_close(p, j.fd);
        return;
    }
    j.size = st.size;
    if (in_place) {
        if (s->force)
            proc_unlink(p, out_name);
        j.sink.fd = proc_open(p, out_name, V_WRITE | V_CREATE | V_EXCL, 0600);
        if (j.sink.fd < 0) {
            if (s->family == FAMILY_BZIP2)
                complain(s, 1, "Output file %s already exists.", out_name);
            else if (s->family == FAMILY_ZSTD && j.sink.fd == -EEXIST)
                complain(s, 1, "%s already exists; not overwritten  ", out_name);
            else
                complain(s, 1, "%s: %s", out_name, error_text(-j.sink.fd));
            proc_close(p, j.fd);
            return;
        }
        guarded_output(p, out_name, work, &j);
        if (j.ok)
            keep_attributes(p, j.sink.fd, &st);
        proc_close(p, j.sink.fd);
        if (!j.ok)
            proc_unlink(p, out_name);
        else if (!s->keep)
            proc_unlink(p, name);
    } else {
        work(p, &j);
    }
    proc_close(p, j.fd);
}

static void set_check(Squeeze *s, const char *name)
{
    static const struct { const char *name; int id; } checks[] = {{"none", 0}, {"crc32", 1}, {"crc64", 4}, {"sha256", 10}};
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        if (strcmp(checks[i].name, name) == 0) {
            s->check = checks[i].id;
            return;
        }
    complain(s, 1, "%s: Unsupported integrity check type", name);
    proc_fail(s->p, 1);
}

static void set_format(Squeeze *s, const char *name)
{
    if (strcmp(name, "lzma") == 0 || strcmp(name, "alone") == 0)
        s->codec = CODEC_LZMA;
    else if (strcmp(name, "auto") && strcmp(name, "xz")) {
        complain(s, 1, "%s: Unknown file format type", name);
        proc_fail(s->p, 1);
    }
}

static int run(Proc *p, Args *args, Squeeze s)
{
    static const int usual[] = {9, 6, 3};
    s.p = p;
    s.level = usual[s.family];
    s.check = -1;
    s.checksum = true;
    bool number = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        int given = args->command->options[args->option_index].id ? args->command->options[args->option_index].id : id;
        if (given >= '0' && given <= '9') {
            s.level = (number && s.family == FAMILY_ZSTD ? s.level * 10 : 0) + given - '0';
            s.level = MIN(s.level, s.family == FAMILY_ZSTD ? 22 : 9);
            number = true;
            continue;
        }
        switch (given) {
        case 'c': s.to_stdout = true; break;
        case 'd': s.decompress = true; break;
        case 'z': s.decompress = false; break;
        case 'k': s.keep = true; break;
        case 'f': s.force = true; break;
        case 't': s.test = s.decompress = true; break;
        case 'q': s.quiet++; break;
        case 'v': s.verbose++; break;
        case 'e': s.extreme = true; break;
        case 'S': s.suffix = args->value; break;
        case 'F': set_format(&s, args->value); break;
        case 'C': set_check(&s, args->value); break;
        case OPT_RM: s.keep = false; break;
        case OPT_FASTEST: s.level = -1; break;
        case OPT_NO_CHECK: s.checksum = false; break;
        default: break;
        }
    }
    if (s.family == FAMILY_BZIP2 && s.level == 0)
        s.level = 9;
    int n;
    char **names = args_operands(args, &n);
    if (n == 0)
        standard_input(&s);
    for (int i = 0; i < n; i++) {
        MemMark mark = mem_mark(&p->mem);
        if (strcmp(names[i], "-") == 0)
            standard_input(&s);
        else
            treat(&s, names[i]);
        mem_reset(&p->mem, mark);
    }
    return s.status;
}

#define SQUEEZE(id, table, title, package_, ...)                                                                                             \
    static int id##_main(Proc *p, Args *args) { return run(p, args, (Squeeze){__VA_ARGS__}); }                                               \
    COMMAND(id, #id " [OPTION]... [FILE]...", title, table, COMMAND_WRITES, .package = package_)

SQUEEZE(bzip2, bzip2_options, "Compress or decompress files, in place.", "bzip2 1.0.8", .family = FAMILY_BZIP2, .codec = CODEC_BZIP2);
SQUEEZE(bunzip2, bzip2_options, "Decompress files, in place.", "bzip2 1.0.8", .family = FAMILY_BZIP2, .codec = CODEC_BZIP2, .decompress = true);
SQUEEZE(bzcat, bzip2_options, "Decompress files to standard output.", "bzip2 1.0.8", .family = FAMILY_BZIP2, .codec = CODEC_BZIP2, .decompress = true, .to_stdout = true);
SQUEEZE(xz, xz_options, "Compress or decompress FILEs in the .xz format.", "XZ Utils 5.4.1", .family = FAMILY_XZ, .codec = CODEC_XZ);
SQUEEZE(unxz, xz_options, "Decompress FILEs in the .xz format.", "XZ Utils 5.4.1", .family = FAMILY_XZ, .codec = CODEC_XZ, .decompress = true);
SQUEEZE(xzcat, xz_options, "Decompress FILEs to standard output.", "XZ Utils 5.4.1", .family = FAMILY_XZ, .codec = CODEC_XZ, .decompress = true, .to_stdout = true);
SQUEEZE(lzma, xz_options, "Compress or decompress FILEs in the .lzma format.", "XZ Utils 5.4.1", .family = FAMILY_XZ, .codec = CODEC_LZMA);
SQUEEZE(zstd, zstd_options, "Compress or decompress the FILEs.", "zstd 1.5.4", .family = FAMILY_ZSTD, .codec = CODEC_ZSTD, .keep = true);
SQUEEZE(unzstd, zstd_options, "Decompress the FILEs.", "zstd 1.5.4", .family = FAMILY_ZSTD, .codec = CODEC_ZSTD, .keep = true, .decompress = true);
SQUEEZE(zstdcat, zstd_options, "Decompress the FILEs to standard output.", "zstd 1.5.4", .family = FAMILY_ZSTD, .codec = CODEC_ZSTD, .keep = true, .decompress = true, .to_stdout = true);
