/* gzip, gunzip, zcat: compress and decompress files. gzip 1.12; only its own format (and not .Z, .zip, pack). */
#include <stdarg.h>

#include "archive/archive.h"

enum { OPT_RSYNCABLE = 256, OPT_SYNCHRONOUS, WARNING = 2 };

#define SHARED_OPTIONS                                                                                       \
    {'f', "force", OPT_FLAG, "force overwrite of output file and compress links", NULL, 0},                  \
        {'k', "keep", OPT_FLAG, "keep (don't delete) input files", NULL, 0},                                 \
        {'l', "list", OPT_FLAG, "list compressed file contents", NULL, 0},                                   \
        {'n', "no-name", OPT_FLAG, "do not save or restore the original name and timestamp", NULL, 0},       \
        {'N', "name", OPT_FLAG, "save or restore the original name and timestamp", NULL, 0},                 \
        {'q', "quiet", OPT_FLAG, "suppress all warnings", NULL, 0}, {0, "silent", OPT_FLAG, NULL, NULL, 'q'}, \
        {'r', "recursive", OPT_FLAG, "operate recursively on directories", NULL, 0},                         \
        {'S', "suffix", OPT_VALUE, "use suffix SUF on compressed files", "SUF", 0},                          \
        {0, "synchronous", OPT_FLAG, "accepted: there is no disk to wait for", NULL, OPT_SYNCHRONOUS},       \
        {'t', "test", OPT_FLAG, "test compressed file integrity", NULL, 0},                                  \
        {'v', "verbose", OPT_FLAG, "verbose mode", NULL, 0}

static const Option gzip_options[] = {
    {'c', "stdout", OPT_FLAG, "write on standard output, keep original files unchanged", NULL, 0},
    {0, "to-stdout", OPT_FLAG, NULL, NULL, 'c'},
    {'d', "decompress", OPT_FLAG, "decompress", NULL, 0},
    {0, "uncompress", OPT_FLAG, NULL, NULL, 'd'},
    SHARED_OPTIONS,
    {0, "rsyncable", OPT_FLAG, "accepted; the output is the ordinary one", NULL, OPT_RSYNCABLE},
    {'h', "help", OPT_FLAG, "give this help", NULL, 0},
    {'V', "version", OPT_FLAG, "display version number", NULL, 0},
    {'L', "license", OPT_FLAG, "display software license", NULL, 0},
    {'b', "bits", OPT_VALUE, NULL, "BITS", 0},
    {'a', "ascii", OPT_FLAG, NULL, NULL, 0},
    {'1', "fast", OPT_FLAG, "compress faster", NULL, 0},
    OPTION_DIGIT('2'), OPTION_DIGIT('3'), OPTION_DIGIT('4'), OPTION_DIGIT('5'), OPTION_DIGIT('6'), OPTION_DIGIT('7'), OPTION_DIGIT('8'),
    {'9', "best", OPT_FLAG, "compress better", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    Proc *p;
    bool decompress, to_stdout, force, keep, list, quiet, recursive, test, name_given, no_name, listed;
    int verbose, level, status;
    const char *suffix;
    uint64_t total_in, total_out, last_header;
} Gzip;

/* One file. */
typedef struct {
    Gzip *g;
    const char *shown, *out_name; /* NULL: standard output, or nothing */
    int fd, out;
    VStat st;
    bool ok;
    uint64_t bytes_in, bytes_out;
    double ratio;
} Job;

static void say(Gzip *g, const char *format, ...) PRINTF_LIKE(2, 3);
static void say(Gzip *g, const char *format, ...)
{
    char *text;
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    text = mem_alloc(&g->p->mem, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    output_flush(g->p->out);
    out_str(g->p->err, text);
    output_flush(g->p->err);
}

static void warned(Gzip *g)
{
    if (g->status == 0)
        g->status = WARNING;
}

static double percent(double part, double whole) { return whole > 0 ? 100.0 * part / whole : 0; }

/* ---------- names ---------- */

static bool has_end(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n > k && strcasecmp(name + n - k, end) == 0 && name[n - k - 1] != '/';
}

static const char *known_suffix(const Gzip *g, const char *name)
{
    const char *const known[] = {g->suffix, ".gz", ".z", ".taz", ".tgz", "-gz", "-z", "_z"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (has_end(name, known[i]))
            return known[i];
    return NULL;
}

/* The name of the output, NULL after a message. */
static const char *output_name(Gzip *g, const char *name)
{
    const char *suffix = known_suffix(g, name);
    Mem *m = &g->p->mem;
    if (g->decompress) {
        if (!suffix) {
            if (g->verbose || (!g->recursive && !g->quiet)) {
                say(g, "gzip: %s: unknown suffix -- ignored\n", name);
                warned(g);
            }
            return NULL;
        }
        int stem = (int)(strlen(name) - strlen(suffix));
        bool tar = strcmp(suffix, ".tgz") == 0 || strcmp(suffix, ".taz") == 0;
        return mem_printf(m, "%.*s%s", stem, name, tar ? ".tar" : "");
    }
    if (suffix && !g->force) {
        if (g->verbose || (!g->recursive && !g->quiet))
            say(g, "gzip: %s already has %s suffix -- unchanged\n", name, suffix);
        return NULL;
    }
    return mem_printf(m, "%s%s", name, g->suffix);
}

/* ---------- the work ---------- */

static void broken(Gzip *g, const Job *j, const char *what)
{
    say(g, "\ngzip: %s: %s\n", j->shown, what);
    g->status = 1;
}

static void finish_sink(Job *j, const Sink *sink)
{
    if (sink->error) {
        say(j->g, "gzip: %s: %s\n", j->out_name ? j->out_name : "stdout", error_text(-sink->error));
        j->g->status = 1;
        j->ok = false;
    }
}

static void copy_through(Job *j, Source *s, Sink *sink)
{
    while (source_fill(s)) {
        size_t n = s->window.len;
        sink_put(sink, s->window);
        source_take(s, n);
        proc_tick(j->g->p, 1 + n / 256);
    }
    j->ok = true;
}

/* False: nothing more is to be read of this file. */
static bool explain(Job *j, GzReader *r, int err, Sink *sink)
{
    Gzip *g = j->g;
    j->ok = false;
    switch (err) {
    case GZ_END: j->ok = true; break;
    case GZ_EOF: broken(g, j, "unexpected end of file"); proc_fail(g->p, 1);
    case GZ_MAGIC:
        if (g->force && g->to_stdout && !g->test)
            copy_through(j, &r->source, sink);
        else
            broken(g, j, "not in gzip format");
        break;
    case GZ_METHOD: say(g, "gzip: %s: unknown method %u -- not supported\n", j->shown, r->method); g->status = 1; break;
    case GZ_FLAGS: say(g, r->flags & 0x20 ? "gzip: %s is encrypted -- not supported\n" : "gzip: %s has flags 0x%x -- not supported\n", j->shown, r->flags); g->status = 1; break;
    case GZ_HEAD_CRC: say(g, "gzip: %s: header checksum 0x%04x != computed checksum 0x%04x\n", j->shown, r->head_want, r->head_crc & 0xffff); proc_fail(g->p, 1);
    case GZ_FORMAT: broken(g, j, "invalid compressed data--format violated"); proc_fail(g->p, 1);
    case GZ_CRC: broken(g, j, "invalid compressed data--crc error"); break;
    case GZ_LENGTH: broken(g, j, "invalid compressed data--length error"); break;
    case GZ_READ: say(g, "gzip: %s: %s\n", j->shown, error_text(-r->source.error)); g->status = 1; break;
    case GZ_ZEROS:
        j->ok = true;
        if (g->verbose)
            say(g, "\ngzip: %s: decompression OK, trailing zero bytes ignored\n", j->shown);
        if (g->verbose)
            warned(g);
        break;
    case GZ_GARBAGE:
        j->ok = true;
        if (!g->quiet)
            say(g, "\ngzip: %s: decompression OK, trailing garbage ignored\n", j->shown);
        warned(g);
        break;
    }
    return j->ok;
}

static bool show_list(Job *j, const GzReader *r, uint64_t size)
{
    Gzip *g = j->g;
    Output *out = g->p->out;
    if (!g->listed) {
        g->listed = true;
        if (g->verbose)
            out_str(out, "method  crc     date  time  ");
        if (!g->quiet)
            out_printf(out, "%19s %19s  ratio uncompressed_name\n", "compressed", "uncompressed");
    }
    if (g->verbose) {
        Buf date;
        CivilTime t = {.month = 1};
        buf_init(&date, &g->p->mem, 256);
        int64_t stamp = r->mtime ? (int64_t)r->mtime : j->st.mtime;
        tz_civil(proc_zone(g->p), stamp, 0, &t);
        static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
        buf_printf(&date, "%s%3d %02d:%02d", months[t.month - 1], t.day, t.hour, t.minute);
        out_printf(out, "defla %08x %s ", r->crc, date.data);
    }
    uint64_t header = r->members > 1 ? 0 : size - r->data_in; /* so the original counts */
    g->last_header = header;
    double ratio = percent((double)r->member_out - (double)(size - header), (double)r->member_out);
    const char *name = g->name_given && r->name ? r->name : j->out_name ? j->out_name : "stdout";
    out_printf(out, "%19llu %19llu %5.1f%% %s\n", (unsigned long long)size, (unsigned long long)r->member_out, ratio, name);
    g->total_in += size;
    g->total_out += r->member_out;
    return true;
}

static void expand(Proc *p, void *arg)
{
    Job *j = arg;
    Gzip *g = j->g;
    Sink sink = {.p = p, .fd = g->test || g->list ? -1 : j->out};
    GzReader r;
    gz_init(&r, p, j->fd);
    int err = gz_next(&r);
    uint64_t data_in = 0;
    while (err == GZ_OK) {
        Slice out;
        while ((err = gz_read(&r, &out)) == GZ_OK)
            sink_put(&sink, out);
        if (sink.error)
            break;
        data_in += r.data_in;
        if (err == GZ_END)
            err = gz_next(&r);
    }
    uint64_t size = r.source.taken;
    if (sink.error)
        finish_sink(j, &sink);
    else if (explain(j, &r, err, &sink) && g->list)
        show_list(j, &r, size);
    j->ratio = percent((double)r.member_out - (double)(r.members > 1 ? size : data_in), (double)r.member_out);
    if (r.name && g->name_given && r.mtime) {
        j->st.mtime = (int64_t)r.mtime;
        j->st.mtime_ns = 0;
    }
}

static void compress(Proc *p, void *arg)
{
    Job *j = arg;
    Gzip *g = j->g;
    Sink sink = {.p = p, .fd = j->out};
    bool regular = S_ISREG(j->st.mode);
    const char *name = g->no_name || strcmp(j->shown, "stdin") == 0 ? NULL : base_name(j->shown).data;
    uint32_t mtime = !g->no_name && regular && j->st.mtime > 0 && j->st.mtime <= UINT32_MAX ? (uint32_t)j->st.mtime : 0;
    GzWriter w;
    Source s;
    gz_begin(&w, p, &sink, g->level, name, mtime);
    uint64_t head = sink.count;
    source_init(&s, p, j->fd);
    while (source_fill(&s) && !sink.error) {
        gz_write(&w, s.window);
        source_take(&s, s.window.len);
    }
    gz_end(&w);
    j->ok = true;
    if (s.error) {
        say(g, "gzip: %s: %s\n", j->shown, error_text(-s.error));
        g->status = 1;
        j->ok = false;
    }
    finish_sink(j, &sink);
    j->ratio = percent((double)w.bytes_in - (double)(sink.count - head - 8), (double)w.bytes_in);
}

/* ---------- files ---------- */

static void begin_verbose(Gzip *g, const char *name)
{
    if (g->verbose && !g->list)
        say(g, "%s:\t", name);
}

static void end_verbose(Job *j)
{
    Gzip *g = j->g;
    if (!g->verbose || g->list || !j->ok)
        return;
    if (g->test)
        say(g, " OK\n");
    else if (j->out_name || strcmp(j->shown, "stdin") != 0)
        say(g, "%5.1f%% -- %s %s\n", j->ratio, g->keep && j->out_name ? "created" : "replaced with", j->out_name ? j->out_name : "stdout");
    else if (!g->decompress)
        say(g, "%5.1f%%\n", j->ratio);
}

static void run_job(Job *j)
{
    if (j->g->decompress)
        expand(j->g->p, j);
    else
        compress(j->g->p, j);
}

static void run_guarded(Proc *p, void *arg)
{
    (void)p;
    run_job(arg);
}

static void standard_input(Gzip *g)
{
    Job j = {.g = g, .shown = "stdin", .fd = 0, .out = 1};
    proc_fstat(g->p, 0, &j.st);
    run_job(&j);
    end_verbose(&j);
}

/* An existing output is replaced when -f says so, or a person does. */
static bool may_create(Gzip *g, const char *name)
{
    VStat st;
    if (proc_stat(g->p, name, V_NOFOLLOW, &st) != 0)
        return true;
    bool yes = g->force;
    if (!yes) {
        say(g, "gzip: %s already exists;", name);
        if (proc_isatty(g->p, 0)) {
            say(g, " do you wish to overwrite (y or n)? ");
            yes = ask(g->p);
        }
    }
    if (yes)
        proc_unlink(g->p, name);
    else
        say(g, "\tnot overwritten\n");
    if (!yes)
        warned(g);
    return yes;
}

/* Looks at the header before anything is made; -N takes the output's name from it. */
static bool header_fits(Job *j, const char *source)
{
    Proc *p = j->g->p;
    GzReader r;
    gz_init(&r, p, j->fd);
    int err = gz_next(&r);
    if (err == GZ_OK && j->g->name_given && r.name && base_name(r.name).len)
        j->out_name = strchr(source, '/') ? path_join(p, mem_copy(&p->keep, dir_name(source)), base_name(r.name)) : mem_copy(&p->keep, base_name(r.name));
    if (err)
        explain(j, &r, err, &(Sink){.p = p, .fd = -1});
    proc_seek(p, j->fd, 0, SEEK_SET);
    return err == GZ_OK;
}

static void to_file(Job *j, const char *source)
{
    Gzip *g = j->g;
    Proc *p = g->p;
    if (g->decompress && !header_fits(j, source))
        return;
    const char *out_name = j->out_name;
    if (!may_create(g, out_name))
        return;
    j->out = proc_open(p, out_name, V_WRITE | V_CREATE | V_EXCL, 0600);
    if (j->out < 0) {
        say(g, "gzip: %s: %s\n", out_name, error_text(-j->out));
        g->status = 1;
        return;
    }
    begin_verbose(g, source);
    guarded_output(p, out_name, run_guarded, j);
    j->out_name = out_name;
    if (j->ok)
        keep_attributes(p, j->out, &j->st);
    proc_close(p, j->out);
    if (!j->ok)
        proc_unlink(p, out_name);
    else if (!g->keep)
        proc_unlink(p, source);
    end_verbose(j);
}

static bool suitable(Gzip *g, const char *name, const VStat *st)
{
    if (!S_ISREG(st->mode) && !g->to_stdout) {
        if (!g->quiet)
            say(g, "gzip: %s is not a directory or a regular file - ignored\n", name);
    } else if (!g->to_stdout && (st->mode & S_ISUID)) {
        if (!g->quiet)
            say(g, "gzip: %s is set-user-ID on execution - ignored\n", name);
    } else if (!g->to_stdout && (st->mode & S_ISGID)) {
        if (!g->quiet)
            say(g, "gzip: %s is set-group-ID on execution - ignored\n", name);
    } else if (!g->to_stdout && !g->force && (st->mode & S_ISVTX)) {
        if (!g->quiet)
            say(g, "gzip: %s has the sticky bit set - file ignored\n", name);
    } else if (!g->to_stdout && !g->force && st->nlink > 1) {
        if (!g->quiet)
            say(g, "gzip: %s has %u other link%s -- file ignored\n", name, st->nlink - 1, st->nlink == 2 ? "" : "s");
    } else {
        return true;
    }
    warned(g);
    return false;
}

/* Opens `name`, or for decompression the name with a suffix that it lacks; the last try's name is what messages show. */
static int open_input(Gzip *g, const char **name)
{
    Proc *p = g->p;
    int flags = V_READ | (g->force || g->to_stdout ? 0 : V_OPEN_NOFOLLOW);
    VStat st;
    int err = proc_stat(p, *name, g->force || g->to_stdout ? 0 : V_NOFOLLOW, &st);
    if (err == -ENOENT && g->decompress && !known_suffix(g, *name)) {
        static const char *const tries[] = {".gz", ".z", "-z", ".Z"};
        const char *with = mem_printf(&p->mem, "%s%s", *name, g->suffix), *first = with;
        bool found = proc_stat(p, with, 0, &st) == 0;
        for (size_t i = 0; i < ARRAY_LEN(tries) && !found; i++)
            found = proc_stat(p, with = mem_printf(&p->mem, "%s%s", *name, tries[i]), 0, &st) == 0;
        *name = found ? with : first;
        err = found ? 0 : -ENOENT;
    }
    if (!err && !S_ISREG(st.mode) && !S_ISDIR(st.mode) && !S_ISLNK(st.mode) && !g->to_stdout) {
        suitable(g, *name, &st);
        return -EINPROGRESS;
    }
    return err ? err : proc_open(p, *name, flags, 0);
}

static void treat(Gzip *g, const char *name);

static void treat_directory(Gzip *g, const char *name)
{
    VDirent *entries;
    size_t count;
    Proc *p = g->p;
    if (!proc_stack_room(p, 1 << 16)) {
        say(g, "gzip: %s: %s\n", name, error_text(ELOOP));
        g->status = 1;
        return;
    }
    int err = proc_list(p, name, &entries, &count);
    if (err) {
        say(g, "gzip: %s: %s\n", name, error_text(-err));
        g->status = 1;
        return;
    }
    for (size_t i = 0; i < count; i++)
        treat(g, path_join(p, name, entries[i].name));
}

static void treat(Gzip *g, const char *name)
{
    Proc *p = g->p;
    if (strcmp(name, "-") == 0) {
        bool was = g->to_stdout;
        standard_input(g);
        g->to_stdout = was;
        return;
    }
    Job j = {.g = g, .out = 1};
    const char *given = name;
    j.fd = open_input(g, &name);
    if (j.fd == -EINPROGRESS)
        return;
    if (j.fd < 0) {
        say(g, "gzip: %s: %s\n", name, error_text(-j.fd));
        g->status = 1;
        return;
    }
    (void)given;
    proc_fstat(p, j.fd, &j.st);
    j.shown = name;
    if (S_ISDIR(j.st.mode)) {
        proc_close(p, j.fd);
        if (g->recursive)
            treat_directory(g, name);
        else {
            if (!g->quiet)
                say(g, "gzip: %s is a directory -- ignored\n", name);
            warned(g);
        }
        return;
    }
    if (suitable(g, name, &j.st)) {
        if (g->to_stdout || g->test || g->list) {
            const char *suffix = g->list ? known_suffix(g, name) : NULL;
            j.out_name = g->list ? mem_printf(&p->mem, "%.*s", (int)(strlen(name) - (suffix ? strlen(suffix) : 0)), name) : NULL;
            begin_verbose(g, name);
            run_job(&j);
            end_verbose(&j);
        } else if ((j.out_name = output_name(g, name))) {
            to_file(&j, name);
        }
    }
    proc_close(p, j.fd);
}

static void list_totals(Gzip *g, int count)
{
    if (!g->list || g->quiet || count < 2)
        return;
    if (g->verbose)
        out_printf(g->p->out, "%28s", "");
    out_printf(g->p->out, "%19llu %19llu %5.1f%% (totals)\n", (unsigned long long)g->total_in, (unsigned long long)g->total_out,
               percent((double)g->total_out - (double)(g->total_in - g->last_header), (double)g->total_out));
}

static void set_option(Gzip *g, Args *args, int id)
{
    switch (id) {
    case 'c': g->to_stdout = true; break;
    case 'd': g->decompress = true; break;
    case 'f': g->force = true; break;
    case 'k': g->keep = true; break;
    case 'l': g->list = g->decompress = g->to_stdout = true; break;
    case 'n': g->no_name = true; g->name_given = false; break;
    case 'N': g->no_name = false; g->name_given = true; break;
    case 'q': g->quiet = true; g->verbose = 0; break;
    case 'r': g->recursive = true; break;
    case 't': g->test = g->decompress = g->to_stdout = true; break;
    case 'v': g->verbose++; g->quiet = false; break;
    case 'h': print_help(g->p, args->command); proc_fail(g->p, 0);
    case 'V': case 'L': out_str(g->p->out, "gzip 1.12\n"); proc_fail(g->p, 0);
    case 'S':
        if (!*args->value || strlen(args->value) > 30) {
            say(g, "gzip: invalid suffix '%s'\n", args->value);
            proc_fail(g->p, 1);
        }
        g->suffix = mem_strdup(&g->p->keep, args->value);
        break;
    default:
        if (id >= '1' && id <= '9')
            g->level = id - '0';
    }
}

static int run(Proc *p, Args *args, bool decompress, bool to_stdout)
{
    Gzip g = {.p = p, .decompress = decompress, .to_stdout = to_stdout, .level = 6, .suffix = ".gz"};
    p->name = "gzip";
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&g, args, id);
    int n;
    char **names = args_operands(args, &n);
    if (n == 0)
        standard_input(&g);
    for (int i = 0; i < n; i++) {
        MemMark mark = mem_mark(&p->mem);
        treat(&g, names[i]);
        mem_reset(&p->mem, mark);
    }
    list_totals(&g, n);
    return g.status;
}

static int gzip_main(Proc *p, Args *args) { return run(p, args, false, false); }
static int gunzip_main(Proc *p, Args *args) { return run(p, args, true, false); }
static int zcat_main(Proc *p, Args *args) { return run(p, args, true, true); }

static const char hint[] = "Try `gzip --help' for more information.";

COMMAND(gzip, "gzip [OPTION]... [FILE]...", "Compress or uncompress FILEs (by default, compress FILES in-place).", gzip_options, COMMAND_WRITES, .hint = hint, .package = "gzip 1.12");
COMMAND(gunzip, "gunzip [OPTION]... [FILE]...", "Uncompress FILEs (by default, in-place).", gzip_options, COMMAND_WRITES, .hint = hint, .package = "gzip 1.12");
COMMAND(zcat, "zcat [OPTION]... [FILE]...", "Uncompress FILEs to standard output.", gzip_options, COMMAND_PURE, .hint = hint, .package = "gzip 1.12");
