/* squeeze: bzip2, xz and zstd and the names they go by: files and streams through the archive component. bzip2 1.0.8, XZ Utils 5.4.1, zstd 1.5.4. */
#include <stdarg.h>

#include "archive/archive.h"
#include "archive/xzlist.h"
#include "archive/zstdlist.h"

typedef enum { FAMILY_BZIP2, FAMILY_XZ, FAMILY_ZSTD } Family;

enum { OPT_KEEP_OFF = 256, OPT_RM, OPT_ULTRA, OPT_FASTEST, OPT_BEST, OPT_ACCEPT, OPT_NO_CHECK, OPT_EXCLUDE, OPT_ROBOT, OPT_FLAT, OPT_MIRROR, OPT_REFUSE, OPT_FILES, OPT_ZFORMAT };

typedef struct {
    Proc *p;
    Family family;
    Codec codec;
    bool decompress, to_stdout, keep, force, test, extreme, checksum;
    bool list, recursive, exclude, robot;
    int quiet, verbose, level, check, status;
    const char *suffix;
    const char *output; /* zstd -o */
    const char *flat;   /* --output-dir-flat */
    const char *mirror; /* --output-dir-mirror */
    Sink *joined;       /* where several inputs go together */
    size_t given, done; /* files */
    uint64_t read, written;
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
    OPTION_HELP('h'),
    OPTION_VERSION('V'),
    OPTION_VERSION('L'),
    {0, "license", OPT_FLAG, "display software version & license", NULL, OPTION_IS_VERSION},
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
    {'l', "list", OPT_FLAG, "list information about .xz files", NULL, 0},
    {0, "robot", OPT_FLAG, "use machine-parsable messages", NULL, OPT_ROBOT},
    {'M', "memlimit", OPT_VALUE, "accepted: the shell's memory limit holds", "LIMIT", OPT_ACCEPT},
    {0, "memlimit-compress", OPT_VALUE, NULL, NULL, OPT_ACCEPT},
    {0, "memlimit-decompress", OPT_VALUE, NULL, NULL, OPT_ACCEPT},
    {0, "block-size", OPT_VALUE, "accepted: a file is one block", "SIZE", OPT_ACCEPT},
    OPTION_HELP('h'),
    OPTION_HELP('H'),
    {0, "long-help", OPT_FLAG, NULL, NULL, OPTION_IS_HELP},
    OPTION_VERSION('V'),
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
    {'o', NULL, OPT_VALUE, "write output to a single file, OUTPUT", "OUTPUT", 0},
    {'l', "list", OPT_FLAG, "print information about zstd-compressed files", NULL, 0},
    {'r', NULL, OPT_FLAG, "operate recursively on directories", NULL, 0},
    {0, "output-dir-flat", OPT_VALUE, "store processed files in DIR", "DIR", OPT_FLAT},
    {0, "output-dir-mirror", OPT_VALUE, "store processed files in DIR, respecting original directory structure", "DIR", OPT_MIRROR},
    {0, "filelist", OPT_VALUE, "read a list of files to operate on from LIST", "LIST", OPT_FILES},
    {0, "exclude-compressed", OPT_FLAG, "only compress files that are not already compressed", NULL, OPT_EXCLUDE},
    {0, "format", OPT_VALUE, "compress files to this format: zstd alone", "FORMAT", OPT_ZFORMAT},
    {'M', "memory", OPT_VALUE, "accepted: the shell's memory limit holds", "LIMIT", OPT_ACCEPT},
    {0, "long", OPT_OPTIONAL, "accepted: the window is the level's", "N", OPT_ACCEPT},
    {0, "adapt", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "rsyncable", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "single-thread", OPT_FLAG, "accepted: one thread is used", NULL, OPT_ACCEPT},
    {0, "auto-threads", OPT_VALUE, "accepted: one thread is used", "KIND", OPT_ACCEPT},
    {0, "size-hint", OPT_VALUE, "accepted", "N", OPT_ACCEPT},
    {0, "stream-size", OPT_VALUE, "accepted", "N", OPT_ACCEPT},
    {'B', NULL, OPT_VALUE, "accepted", "N", OPT_ACCEPT},
    {0, "sparse", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "no-sparse", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "content-size", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "check", OPT_FLAG, "accepted: it is the default", NULL, OPT_ACCEPT},
    {'D', NULL, OPT_VALUE, "refused: there are no dictionaries", "DICT", OPT_REFUSE},
    {0, "patch-from", OPT_VALUE, "refused: there are no dictionaries", "REF", OPT_REFUSE},
    {0, "train", OPT_FLAG, "refused: there are no dictionaries", NULL, OPT_REFUSE},
    {0, "train-cover", OPT_OPTIONAL, NULL, "PARAMETERS", OPT_REFUSE}, {0, "train-fastcover", OPT_OPTIONAL, NULL, "PARAMETERS", OPT_REFUSE}, {0, "train-legacy", OPT_OPTIONAL, NULL, "N", OPT_REFUSE},
    {0, "maxdict", OPT_VALUE, "refused: there are no dictionaries", "N", OPT_REFUSE}, {0, "dictID", OPT_VALUE, "refused: there are no dictionaries", "N", OPT_REFUSE},
    {'b', NULL, OPT_OPTIONAL, "refused: there is no benchmark", "N", OPT_REFUSE}, {'e', NULL, OPT_OPTIONAL, "refused: there is no benchmark", "N", OPT_REFUSE},
    {'i', NULL, OPT_OPTIONAL, "refused: there is no benchmark", "N", OPT_REFUSE}, {'S', NULL, OPT_FLAG, "refused: there is no benchmark", NULL, OPT_REFUSE},
    {0, "priority", OPT_VALUE, "refused: there is no benchmark", "KIND", OPT_REFUSE},
    {0, "target-compressed-block-size", OPT_VALUE, "accepted", "N", OPT_ACCEPT}, {0, "trace", OPT_VALUE, "accepted: nothing is traced", "LOG", OPT_ACCEPT},
    {0, "no-dictID", OPT_FLAG, "accepted", NULL, OPT_ACCEPT}, {0, "compress-literals", OPT_FLAG, "accepted", NULL, OPT_ACCEPT}, {0, "no-compress-literals", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "row-match-finder", OPT_FLAG, "accepted", NULL, OPT_ACCEPT}, {0, "no-row-match-finder", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "asyncio", OPT_FLAG, "accepted", NULL, OPT_ACCEPT}, {0, "no-asyncio", OPT_FLAG, "accepted", NULL, OPT_ACCEPT}, {0, "progress", OPT_FLAG, "accepted: none is shown", NULL, OPT_ACCEPT},
    OPTION_HELP('h'),
    OPTION_HELP('H'),
    OPTION_VERSION('V'),
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

/* zstd does not always say who it is. */
static void complain_bare(Squeeze *s, const char *name, const char *what)
{
    s->status = 1;
    output_flush(s->p->out);
    out_printf(s->p->err, "%s : %s", name, what);
    out_char(s->p->err, '\n');
    output_flush(s->p->err);
}

/* One file or stream. */
typedef struct {
    Squeeze *s;
    const char *shown;
    int fd;
    Sink sink;
    bool ok;
    uint64_t size, read;
} Job;

static void explain(Job *j, int err)
{
    Squeeze *s = j->s;
    if (err == CODEC_EMEMORY)
        proc_raise(s->p, RAISE_MEMORY);
    if (s->family == FAMILY_XZ)
        complain(s, 1, "%s: %s", j->shown, err == CODEC_EFORMAT ? "File format not recognized" : err == CODEC_ETRUNCATED ? "Unexpected end of input" : err == CODEC_ELIMIT ? "Memory usage limit reached" : err == CODEC_EOPTIONS ? "Unsupported options" : "Compressed data is corrupt");
    else if (s->family == FAMILY_ZSTD && err == CODEC_EFORMAT)
        complain(s, 1, "%s: unsupported format ", j->shown);
    else if (s->family == FAMILY_ZSTD)
        complain_bare(s, j->shown, err == CODEC_ETRUNCATED ? "Read error (39) : premature end " : "Decoding error (36) : Data corruption detected ");
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
    if (s->decompress && s->family == FAMILY_XZ && source_peek(&source, 6) < 6) {
        explain(j, CODEC_EFORMAT);
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
        j->read += n - io.in_len;
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

/* zstd's line about a file, on standard error; of several files only their sum is shown. */
static void tell(Squeeze *s, Job *j, const char *to)
{
    Proc *p = s->p;
    if (s->family != FAMILY_ZSTD || !j->ok)
        return;
    s->done++;
    s->read += j->read;
    s->written += j->sink.count;
    if (s->quiet || (j->sink.fd == 1 && !s->verbose) || (s->given > 1 && !s->verbose))
        return;
    const char *unit, *to_unit, *from_size = zstd_size(p, j->read, &unit), *to_size = zstd_size(p, j->sink.count, &to_unit);
    output_flush(p->out);
    if (s->decompress)
        out_printf(p->err, "%-20s: %llu bytes \n", j->shown, (unsigned long long)j->sink.count);
    else if (!j->read)
        out_printf(p->err, "%-20s :  (%6s%s => %6s%s, %s) \n", j->shown, from_size, unit, to_size, to_unit, to);
    else
        out_printf(p->err, "%-20s :%6.2f%%   (%6s%s => %6s%s, %s) \n", j->shown, (double)j->sink.count / (double)j->read * 100, from_size, unit, to_size, to_unit, to);
    output_flush(p->err);
}

static void tell_sum(Squeeze *s)
{
    Proc *p = s->p;
    if (s->family != FAMILY_ZSTD || s->given < 2 || !s->done || s->quiet || s->to_stdout)
        return;
    const char *unit, *to_unit, *from_size = zstd_size(p, s->read, &unit), *to_size = zstd_size(p, s->written, &to_unit);
    output_flush(p->out);
    if (s->decompress)
        out_printf(p->err, "%zu files decompressed : %6llu bytes total \n", s->done, (unsigned long long)s->written);
    else
        out_printf(p->err, "%3zu files compressed : %.2f%% (%6s%4s => %6s%4s)\n", s->done, s->read ? (double)s->written / (double)s->read * 100 : 0.0, from_size, unit, to_size, to_unit);
    output_flush(p->err);
}

static void standard_input(Squeeze *s)
{
    static const char *const shown[] = {"(stdin)", "(stdin)", "/*stdin*\\"};
    Job j = {.s = s, .shown = shown[s->family], .fd = 0, .sink = s->joined ? *s->joined : (Sink){.p = s->p, .fd = s->test ? -1 : 1}, .size = UINT64_MAX};
    j.sink.count = 0;
    work(s->p, &j);
    tell(s, &j, s->output);
}

static bool ends(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n > k && strcmp(name + n - k, end) == 0;
}

static NORETURN void empty_directory(Proc *p)
{
    out_str(p->err, "error: output dir cannot be empty string (did you mean to pass '.' instead?)\n");
    output_flush(p->err);
    proc_fail(p, 1);
}

/* --output-dir-mirror: the whole name below that directory, whose directories are made. NULL: a name that leads up, which is passed over. */
static const char *mirrored(Squeeze *s, const char *name)
{
    for (const char *at = name; *at; at += strcspn(at, "/"), at += strspn(at, "/"))
        if (at[0] == '.' && at[1] == '.' && (at[2] == '/' || !at[2]))
            return NULL;
    while (name[0] == '/' || (name[0] == '.' && name[1] == '/'))
        name += name[0] == '/' ? 1 : 2;
    char *path = mem_strdup(&s->p->mem, path_join(s->p, s->mirror, slice_str(name)));
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        int err = proc_mkdir(s->p, path, 0755);
        if (err && err != -EEXIST) {
            complain(s, 1, "failed to create DIR %s: %s", path, error_text(-err));
            return NULL;
        }
        *slash = '/';
    }
    return path;
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
    if (s->mirror && !(name = mirrored(s, name)))
        return NULL;
    const char *slash = s->flat ? strrchr(name, '/') : NULL;
    if (s->flat)
        name = path_join(s->p, s->flat, slice_str(slash ? slash + 1 : name));
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
        complain(s, 1, "%s: unknown suffix (.zst/.tzst/.gz/.tgz/.lzma/.xz/.txz/.lz4/.tlz4 expected). Can't derive the output file name. Specify it with -o dstFileName. Ignoring.", name);
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
    explain(j, CODEC_EFORMAT);
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
    bool in_place = !s->to_stdout && !s->test && !s->joined;
    if (s->joined)
        j.sink.fd = s->joined->fd;
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
        tell(s, &j, out_name);
    } else {
        work(p, &j);
        tell(s, &j, s->output);
        if (s->joined && j.ok && !s->keep)
            proc_unlink(p, name);
    }
    proc_close(p, j.fd);
}

/* ---------- zstd's lists of files ---------- */

typedef struct {
    Squeeze *s;
    char **names;
    size_t count, room;
} Names;

static void names_add(Names *l, const char *name)
{
    Mem *m = &l->s->p->keep;
    if (l->count == l->room) {
        size_t room = l->room ? l->room * 2 : 16;
        l->names = mem_grow(m, l->names, l->room * sizeof *l->names, room * sizeof *l->names);
        l->room = room;
    }
    l->names[l->count++] = mem_strdup(m, name);
}

static bool is_directory(Proc *p, const char *path)
{
    VStat st;
    return proc_stat(p, path, V_NOFOLLOW, &st) == 0 && S_ISDIR(st.mode);
}

static void names_below(Names *l, const char *dir)
{
    Proc *p = l->s->p;
    VDirent *list;
    size_t n;
    if (!proc_stack_room(p, 16384)) {
        complain(l->s, 1, "%s: too deep", dir);
        return;
    }
    int err = proc_list(p, dir, &list, &n);
    if (err)
        complain(l->s, 1, "Cannot open directory '%s': %s", dir, error_text(-err));
    for (size_t i = 0; !err && i < n; i++) {
        const char *path = path_join(p, dir, list[i].name);
        proc_tick(p, 1);
        if (is_directory(p, path))
            names_below(l, path);
        else
            names_add(l, path);
    }
}

static void names_from(Names *l, const char *path)
{
    Slice all;
    if (read_file(l->s->p, path, &all)) {
        out_printf(l->s->p->err, "zstd: error reading %s \n", path);
        output_flush(l->s->p->err);
        proc_fail(l->s->p, 1);
    }
    while (all.len) {
        size_t n = slice_find(all, '\n');
        if (n)
            names_add(l, mem_copy(&l->s->p->mem, slice(all.data, n)));
        all = slice_from(all, MIN(n + 1, all.len));
    }
}

static bool is_compressed(const char *name)
{
    static const char *const ends_so[] = {".zst", ".tzst", ".gz", ".tgz", ".lzma", ".xz", ".txz", ".lz4", ".tlz4"};
    for (size_t i = 0; i < ARRAY_LEN(ends_so); i++)
        if (ends(name, ends_so[i]))
            return true;
    return false;
}

static char **all_names(Squeeze *s, char **given, int *count, const char *list)
{
    Names l = {.s = s};
    if (list)
        names_from(&l, list);
    for (int i = 0; i < *count; i++) {
        if (s->recursive && is_directory(s->p, given[i]))
            names_below(&l, given[i]);
        else if (!s->exclude || !is_compressed(given[i]))
            names_add(&l, given[i]);
    }
    *count = (int)MIN(l.count, (size_t)INT32_MAX);
    return l.names;
}

/* ---------- --list ---------- */

static int list_zstd(Squeeze *s, char **names, int n)
{
    Proc *p = s->p;
    ZstdList l = {.verbose = s->verbose > 0};
    Slice file;
    VStat st;
    zstd_list_head(p, &l);
    for (int i = 0; i < n; i++) {
        MemMark mark = mem_mark(&p->mem);
        if (proc_stat(p, names[i], 0, &st) || !S_ISREG(st.mode) || read_file(p, names[i], &file)) {
            output_flush(p->out);
            out_printf(p->err, "Error : %s is not a file \n", names[i]);
            output_flush(p->err);
            s->status = 1;
        } else if (!zstd_list(p, &l, file, names[i])) {
            s->status = 1;
        }
        mem_reset(&p->mem, mark);
    }
    if (n > 1 && !l.verbose)
        zstd_list_end(p, &l);
    return s->status;
}

static int list_xz(Squeeze *s, char **names, int n)
{
    Proc *p = s->p;
    XzList l = {.verbose = s->verbose > 0, .robot = s->robot, .given = (size_t)n};
    for (int i = 0; i < n; i++) {
        MemMark mark = mem_mark(&p->mem);
        Slice file;
        VStat st;
        int err = proc_stat(p, names[i], 0, &st);
        if (!err && S_ISDIR(st.mode)) {
            complain(s, 2, "%s: Is a directory, skipping", names[i]);
            continue;
        }
        err = err ? err : read_file(p, names[i], &file);
        const char *message = err ? error_text(-err) : xz_list(p, &l, file, names[i]);
        if (message)
            complain(s, 1, "%s: %s", names[i], message);
        mem_reset(&p->mem, mark);
    }
    xz_list_end(p, &l);
    return s->status;
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

static bool is_input(Proc *p, const VStat *out, char **names, int n)
{
    VStat st;
    for (int i = 0; i < n; i++)
        if (proc_stat(p, names[i], 0, &st) == 0 && st.dev == out->dev && st.ino == out->ino)
            return true;
    return false;
}

/* zstd -o: one file, or standard output, for all inputs. A status when it cannot be. The original overwrites an input that is one of several; not here. */
static int open_joined(Squeeze *s, char **names, int n)
{
    Proc *p = s->p;
    VStat st;
    if (strcmp(s->output, "-") == 0) {
        s->to_stdout = true;
        return 0;
    }
    if (n > 1) {
        out_printf(p->err, "zstd: WARNING: all input files will be processed and concatenated into a single output file: %s \nThe concatenated output CANNOT regenerate original file names nor directory structure. \n%s", s->output,
                   s->keep ? "" : "Since it's a destructive operation, input files will not be removed. \n");
        if (!s->force)
            out_str(p->err, "Proceed? (y/n): Aborting... \n");
        output_flush(p->err);
        if (!s->force)
            return 1;
    }
    bool there = proc_stat(p, s->output, 0, &st) == 0, special = there && !S_ISREG(st.mode);
    if (there && !special && !s->force) {
        out_printf(p->err, "zstd: %s already exists; overwrite (y/n) ? Not overwritten  \n \n", s->output);
        output_flush(p->err);
        return 1;
    }
    if (there && !special && is_input(p, &st, names, n)) {
        out_str(p->err, "zstd: Refusing to open an output file which will overwrite the input file \n");
        output_flush(p->err);
        return 1;
    }
    if (n > 1)
        s->keep = true; /* what was joined cannot be taken apart again */
    int fd = proc_open(p, s->output, V_WRITE | V_CREATE | V_TRUNC, 0666);
    if (fd < 0) {
        complain(s, 1, "%s: %s", s->output, error_text(-fd));
        return 1;
    }
    s->joined = mem_new(&p->keep, Sink);
    *s->joined = (Sink){.p = p, .fd = fd};
    return 0;
}

typedef struct {
    Squeeze *s;
    char **names;
    int count; /* 0: standard input */
} Inputs;

static void treat_all(Proc *p, void *arg)
{
    Inputs *in = arg;
    if (!in->count)
        standard_input(in->s);
    for (int i = 0; i < in->count; i++) {
        MemMark mark = mem_mark(&p->mem);
        if (strcmp(in->names[i], "-") == 0)
            standard_input(in->s);
        else
            treat(in->s, in->names[i]);
        mem_reset(&p->mem, mark);
    }
}

/* Nothing half-written stays behind: not of one input, and not when a limit ends the command. */
static void treat_joined(Inputs *in)
{
    Squeeze *s = in->s;
    Proc *p = s->p;
    VStat st;
    bool regular = proc_stat(p, s->output, 0, &st) == 0 && S_ISREG(st.mode);
    if (regular)
        guarded_output(p, s->output, treat_all, in);
    else
        treat_all(p, in);
    proc_close(p, s->joined->fd);
    if (regular && in->count < 2 && !s->done)
        proc_unlink(p, s->output);
}

static int run(Proc *p, Args *args, Squeeze s)
{
    static const int usual[] = {9, 6, 3};
    s.p = p;
    s.level = usual[s.family];
    s.check = -1;
    s.checksum = true;
    bool number = false;
    const char *list = NULL;
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
        case OPT_EXCLUDE: s.exclude = true; break;
        case OPT_ROBOT: s.robot = true; break;
        case OPT_MIRROR:
            if (!*args->value)
                empty_directory(p);
            s.mirror = args->value;
            break;
        case OPT_FLAT: s.flat = args->value; break;
        case OPT_FILES: list = args->value; break;
        case OPT_REFUSE: die(p, 1, "dictionaries and benchmarks are not supported");
        case OPT_ZFORMAT:
            if (strcmp(args->value, "zstd"))
                die(p, 1, "only the zstd format is supported");
            break;
        case 'o': s.output = args->value; break;
        case 'l': s.list = true; break;
        case 'r': s.recursive = true; break;
        default: break;
        }
    }
    if (s.family == FAMILY_BZIP2 && s.level == 0)
        s.level = 9;
    int n;
    char **names = args_operands(args, &n);
    bool from_input = n == 0 && !list;
    size_t excluded = (size_t)n;
    if (list || s.recursive || s.exclude)
        names = all_names(&s, names, &n, list);
    s.given = s.exclude ? MAX(excluded, (size_t)n) : (size_t)n;
    if (s.family == FAMILY_ZSTD && s.verbose) {
        out_str(p->err, "*** Zstandard CLI (64-bit) v1.5.4, by Yann Collet ***\n");
        output_flush(p->err);
    }
    if (s.list && n == 0) {
        out_printf(p->err, s.family == FAMILY_ZSTD ? "zstd: --list does not support reading from standard input \nNo files given \n" : "%s: --list does not support reading from standard input\n", p->name);
        output_flush(p->err);
        return 1;
    }
    if (s.list)
        return s.family == FAMILY_ZSTD ? list_zstd(&s, names, n) : list_xz(&s, names, n);
    Inputs in = {&s, names, n};
    if (n == 0 && !from_input)
        return s.status;
    int failed = s.output && !s.test ? open_joined(&s, names, n) : 0;
    if (failed)
        return failed;
    if (s.joined)
        treat_joined(&in);
    else
        treat_all(p, &in);
    tell_sum(&s);
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
SQUEEZE(unlzma, xz_options, "Decompress FILEs in the .lzma format.", "XZ Utils 5.4.1", .family = FAMILY_XZ, .codec = CODEC_LZMA, .decompress = true);
SQUEEZE(lzcat, xz_options, "Decompress FILEs in the .lzma format to standard output.", "XZ Utils 5.4.1", .family = FAMILY_XZ, .codec = CODEC_LZMA, .decompress = true, .to_stdout = true);
SQUEEZE(zstd, zstd_options, "Compress or decompress the FILEs.", "zstd 1.5.4", .family = FAMILY_ZSTD, .codec = CODEC_ZSTD, .keep = true);
SQUEEZE(unzstd, zstd_options, "Decompress the FILEs.", "zstd 1.5.4", .family = FAMILY_ZSTD, .codec = CODEC_ZSTD, .keep = true, .decompress = true);
SQUEEZE(zstdcat, zstd_options, "Decompress the FILEs to standard output.", "zstd 1.5.4", .family = FAMILY_ZSTD, .codec = CODEC_ZSTD, .keep = true, .decompress = true, .to_stdout = true);
