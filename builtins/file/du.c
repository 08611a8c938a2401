/* du: estimate file space usage. GNU coreutils 9.1.
 *
 * A walk adds what lies in a directory to a level of its own; when the directory is done its level is printed and added to the
 * one above. A file with several links counts once in a run.
 */
#include "file.h"

enum { APPARENT = 256, FILES0, INODES, SI, TIME_WORD, TIME_STYLE, EXCLUDE };

static const Option options[] = {
    {'0', "null", OPT_FLAG, "end each output line with NUL, not newline", NULL, 0},
    {'a', "all", OPT_FLAG, "write counts for all files, not just directories", NULL, 0},
    {0, "apparent-size", OPT_FLAG, "print apparent sizes rather than device usage", NULL, APPARENT},
    {'B', "block-size", OPT_VALUE, "scale sizes by SIZE before printing them", "SIZE", 0},
    {'b', "bytes", OPT_FLAG, "equivalent to '--apparent-size --block-size=1'", NULL, 0},
    {'c', "total", OPT_FLAG, "produce a grand total", NULL, 0},
    {'D', "dereference-args", OPT_FLAG, "dereference only symlinks that are listed on the command line", NULL, 0},
    {'d', "max-depth", OPT_VALUE, "print the total for a directory (or file, with --all) only if it is N or fewer levels below the argument", "N", 0},
    {0, "files0-from", OPT_VALUE, "summarize usage of the NUL-terminated file names specified in file F", "F", FILES0},
    {'H', NULL, OPT_FLAG, "equivalent to --dereference-args (-D)", NULL, 0},
    {'h', "human-readable", OPT_FLAG, "print sizes in human readable format (e.g., 1K 234M 2G)", NULL, 0},
    {0, "inodes", OPT_FLAG, "list inode usage information instead of block usage", NULL, INODES},
    {'k', NULL, OPT_FLAG, "like --block-size=1K", NULL, 0},
    {'L', "dereference", OPT_FLAG, "dereference all symbolic links", NULL, 0},
    {'l', "count-links", OPT_FLAG, "count sizes many times if hard linked", NULL, 0},
    {'m', NULL, OPT_FLAG, "like --block-size=1M", NULL, 0},
    {'P', "no-dereference", OPT_FLAG, "don't follow any symbolic links (this is the default)", NULL, 0},
    {'S', "separate-dirs", OPT_FLAG, "for directories do not include size of subdirectories", NULL, 0},
    {0, "si", OPT_FLAG, "like -h, but use powers of 1000 not 1024", NULL, SI},
    {'s', "summarize", OPT_FLAG, "display only a total for each argument", NULL, 0},
    {'t', "threshold", OPT_VALUE, "exclude entries smaller than SIZE if positive, or entries greater than SIZE if negative", "SIZE", 0},
    {0, "time", OPT_OPTIONAL, "show time of the last modification, or atime, access, use, ctime or status", "WORD", TIME_WORD},
    {0, "time-style", OPT_VALUE, "full-iso, long-iso, iso, or +FORMAT", "STYLE", TIME_STYLE},
    {'X', "exclude-from", OPT_VALUE, "exclude files that match any pattern in FILE", "FILE", 0},
    {0, "exclude", OPT_VALUE, "exclude files that match PATTERN", "PATTERN", EXCLUDE},
    {'x', "one-file-system", OPT_FLAG, "skip directories on different file systems", NULL, 0},
    OPTIONS_END,
};

typedef enum { DU_NO_TIME, DU_MTIME, DU_ATIME, DU_CTIME } DuTime;

typedef struct {
    uint64_t size, inodes;
    int64_t time;
    uint32_t time_ns;
} Sum;

typedef struct {
    Proc *p;
    bool all, apparent, total, separate, count_links, inodes, summarize, usage_wrong;
    char end;
    int walk_flags;
    uint64_t max_depth;
    bool depth_given;
    BlockSize block;
    int64_t threshold;
    DuTime time;
    const char *time_format, *time_style;
    Buf patterns; /* each ended by NUL */
    Map seen;     /* (device, inode) of files with several links, and of directories */
    Sum *levels;  /* what lies directly in the directory at that depth; and with all below it */
    Sum *below;
    size_t level_cap;
    Sum grand;
    int status;
} Du;

static void add(Sum *to, const Sum *what)
{
    to->size += what->size;
    to->inodes += what->inodes;
    if (what->time > to->time || (what->time == to->time && what->time_ns > to->time_ns)) {
        to->time = what->time;
        to->time_ns = what->time_ns;
    }
}

static Sum sum_of(const Du *d, const VStat *st)
{
    Sum s = {.size = st->blocks * 512, .inodes = 1, .time = st->mtime, .time_ns = st->mtime_ns};
    if (d->apparent)
        s.size = S_ISREG(st->mode) || S_ISLNK(st->mode) || S_ISDIR(st->mode) ? st->size : 0;
    if (d->time == DU_ATIME)
        s.time = st->atime, s.time_ns = st->atime_ns;
    else if (d->time == DU_CTIME)
        s.time = st->ctime, s.time_ns = st->ctime_ns;
    return s;
}

static void print_sum(Du *d, const Sum *s, const char *name)
{
    Proc *p = d->p;
    uint64_t n = d->inodes ? s->inodes : s->size;
    bool small = n < (uint64_t)d->threshold;
    if (d->threshold < 0 ? n > (uint64_t)-d->threshold : small)
        return;
    MemMark mark = mem_mark(&p->mem);
    BlockSize plain = {.human = d->block.human, .size = 1, .suffix = ""};
    out_str(p->out, block_size_format(p, n, d->inodes ? &plain : &d->block));
    out_char(p->out, '\t');
    CivilTime t;
    if (d->time && tz_civil(proc_zone(p), s->time, s->time_ns, &t)) {
        Buf b;
        buf_init(&b, &p->mem, 4096);
        tz_format(&b, slice_str(d->time_format), &t, s->time);
        out_write(p->out, buf_slice(&b));
        out_char(p->out, '\t');
    }
    out_str(p->out, name);
    out_char(p->out, d->end);
    mem_reset(&p->mem, mark);
}

static bool excluded(const Du *d, const char *path)
{
    Proc *p = d->p;
    for (size_t i = 0; i < d->patterns.len; i += strlen(d->patterns.data + i) + 1) {
        const char *pattern = d->patterns.data + i;
        /* A pattern is tried on the name and on every ending of it that follows a slash. */
        for (const char *at = path; at; at = strchr(at, '/')) {
            at += *at == '/';
            ReEnv env = proc_re_env(p);
            if (pat_match(&env, pat_compile(&p->mem, slice_str(pattern), 0), slice_str(at)))
                return true;
        }
    }
    return false;
}

/* True when the file was counted before. */
static bool met(Du *d, const VStat *st)
{
    uint64_t key[2] = {st->dev, st->ino};
    if (d->count_links || (!S_ISDIR(st->mode) && st->nlink < 2))
        return false;
    MapEntry *e = map_put(&d->seen, slice((const char *)key, sizeof key));
    bool again = e->value != NULL;
    e->value = d;
    return again;
}

static void room_for(Du *d, size_t depth)
{
    if (depth < d->level_cap)
        return;
    size_t cap = MAX(d->level_cap * 2, depth + 16);
    d->levels = mem_grow(&d->p->keep, d->levels, d->level_cap * sizeof(Sum), cap * sizeof(Sum));
    d->below = mem_grow(&d->p->keep, d->below, d->level_cap * sizeof(Sum), cap * sizeof(Sum));
    memset(d->levels + d->level_cap, 0, (cap - d->level_cap) * sizeof(Sum));
    memset(d->below + d->level_cap, 0, (cap - d->level_cap) * sizeof(Sum));
    d->level_cap = cap;
}

static void file_done(Du *d, const WalkEntry *e)
{
    Sum s = sum_of(d, &e->stat);
    if (e->depth)
        add(&d->levels[e->depth - 1], &s);
    else
        add(&d->grand, &s);
    if (e->depth == 0 || (d->all && e->depth <= d->max_depth))
        print_sum(d, &s, e->path);
}

static void directory_begins(Du *d, const WalkEntry *e)
{
    room_for(d, e->depth + 1);
    d->levels[e->depth] = sum_of(d, &e->stat);
    d->below[e->depth] = (Sum){0};
}

static void directory_done(Du *d, const WalkEntry *e)
{
    Sum shown = d->levels[e->depth];
    if (!d->separate)
        add(&shown, &d->below[e->depth]);
    Sum whole = d->levels[e->depth];
    add(&whole, &d->below[e->depth]);
    add(e->depth ? &d->below[e->depth - 1] : &d->grand, &whole);
    if (e->depth <= d->max_depth)
        print_sum(d, &shown, e->path);
}

static void walk_error(Du *d, const WalkEntry *e)
{
    d->status = 1;
    if (!e->stat_ok) {
        warn_errno(d->p, e->error, "cannot access %s", quoteaf(d->p, e->path));
        return;
    }
    if (e->error == -ELOOP) {
        warn(d->p, "WARNING: Circular directory structure.\nThis almost certainly means that you have a corrupted file system.\n"
                   "NOTIFY YOUR SYSTEM MANAGER.\nThe following directory is part of the cycle:\n  %s\n", quoteaf(d->p, e->path));
        return;
    }
    warn_errno(d->p, e->error, "cannot read directory %s", quoteaf(d->p, e->path));
    directory_done(d, e);
}

static void measure(Du *d, const char *root)
{
    Walk *w = walk_open(d->p, root, d->walk_flags);
    for (WalkEntry e; walk_next(w, &e);) {
        MemMark mark = mem_mark(&d->p->mem);
        bool fresh = e.kind == WALK_FILE || e.kind == WALK_DIR;
        if (fresh && (excluded(d, e.path) || met(d, &e.stat)))
            e.kind == WALK_DIR ? walk_skip(w) : (void)0;
        else if (e.kind == WALK_FILE)
            file_done(d, &e);
        else if (e.kind == WALK_DIR)
            directory_begins(d, &e);
        else if (e.kind == WALK_DIR_DONE)
            directory_done(d, &e);
        else if (!(d->walk_flags & WALK_FOLLOW) || e.error != -ELOOP)
            walk_error(d, &e);
        mem_reset(&d->p->mem, mark);
    }
}

/* ---------- options ---------- */

static const Choice time_words[] = {{"atime", DU_ATIME}, {"access", DU_ATIME}, {"use", DU_ATIME}, {"ctime", DU_CTIME}, {"status", DU_CTIME}, {NULL, 0}};
static const Choice style_words[] = {{"full-iso", 0}, {"long-iso", 1}, {"iso", 2}, {NULL, 0}};

static void set_time_style(Du *d, Args *args, const char *style)
{
    static const char *const formats[] = {"%Y-%m-%d %H:%M:%S.%N %z", "%Y-%m-%d %H:%M", "%Y-%m-%d"};
    if (*style == '+')
        d->time_format = style + 1;
    else
        d->time_format = formats[choose(d->p, args, "time style", style, style_words)];
}

static void set_depth(Du *d, const char *text)
{
    int64_t v;
    if (parse_int(text, &v) || v < 0) {
        warn(d->p, "invalid maximum depth %s", quote(d->p, text));
        d->usage_wrong = true;
        return;
    }
    d->max_depth = (uint64_t)v;
    d->depth_given = true;
}

static void set_threshold(Du *d, Args *args, const char *text)
{
    uint64_t v;
    bool negative = *text == '-';
    const char *option = option_as_given(d->p, args, 't', "threshold");
    int err = parse_size(text + negative, "kKmMGTPEZY0", &v);
    if (!err && v > INT64_MAX)
        err = -ERANGE;
    if (err)
        die_size(d->p, 1, option, text, err);
    if (negative && v == 0)
        die(d->p, 1, "invalid --threshold argument '-0'");
    d->threshold = negative ? -(int64_t)v : (int64_t)v;
}

static void add_pattern(Du *d, Slice text)
{
    buf_append(&d->patterns, text);
    buf_char(&d->patterns, 0);
}

static void exclude_from(Du *d, char *file)
{
    Input in = input_files(d->p, &file, 1);
    d->usage_wrong |= !input_open(&in);
    if (d->usage_wrong)
        return;
    Slice line;
    bool ended;
    while (input_record(&in, &line, &ended))
        add_pattern(d, line);
}

static void set_size_option(Du *d, Args *args, int id)
{
    switch (id) {
    case 'B':
        if (!block_size_parse(d->p, args->value, &d->block))
            die_size(d->p, 1, option_as_given(d->p, args, 'B', "block-size"), args->value, -EINVAL);
        break;
    case 'b': d->apparent = true; d->block = (BlockSize){0, 1, ""}; break;
    case 'h': d->block = (BlockSize){1024, 1, ""}; break;
    case 'k': d->block = (BlockSize){0, 1024, ""}; break;
    case 'm': d->block = (BlockSize){0, 1 << 20, ""}; break;
    case SI: d->block = (BlockSize){1000, 1, ""}; break;
    default: break;
    }
}

static void set_option(Du *d, Args *args, int id)
{
    switch (id) {
    case '0': d->end = 0; break;
    case 'a': d->all = true; break;
    case APPARENT: d->apparent = true; break;
    case 'c': d->total = true; break;
    case 'D': case 'H': d->walk_flags = (d->walk_flags & ~WALK_FOLLOW) | WALK_FOLLOW_OPERAND; break;
    case 'L': d->walk_flags |= WALK_FOLLOW; break;
    case 'P': d->walk_flags &= ~(WALK_FOLLOW | WALK_FOLLOW_OPERAND); break;
    case 'x': d->walk_flags |= WALK_ONE_DEVICE; break;
    case 'd': set_depth(d, args->value); break;
    case INODES: d->inodes = true; break;
    case 'l': d->count_links = true; break;
    case 'S': d->separate = true; break;
    case 's': d->summarize = true; break;
    case 't': set_threshold(d, args, args->value); break;
    case TIME_WORD: d->time = args->value ? (DuTime)choose(d->p, args, "--time", args->value, time_words) : DU_MTIME; break;
    case TIME_STYLE: d->time_style = args->value; break;
    case 'X': exclude_from(d, args->value); break;
    case EXCLUDE: add_pattern(d, slice_str(args->value)); break;
    default: set_size_option(d, args, id); break;
    }
}

static void check_options(Du *d, Args *args)
{
    if (d->usage_wrong)
        usage_hint(d->p, args);
    if (d->all && d->summarize)
        usage_fail(d->p, args, "cannot both summarize and show all entries");
    if (d->summarize && d->depth_given && d->max_depth)
        usage_fail(d->p, args, "warning: summarizing conflicts with --max-depth=%llu", (unsigned long long)d->max_depth);
    if (d->summarize && d->depth_given)
        warn(d->p, "warning: summarizing is the same as using --max-depth=0");
    if (d->inodes && d->apparent)
        warn(d->p, "warning: options --apparent-size and -b are ineffective with --inodes");
    if (d->summarize)
        d->max_depth = 0;
}

static void measure_list(Du *d, Args *args, char *file, char *const *operands, int count)
{
    Proc *p = d->p;
    if (count) {
        warn(p, "extra operand %s", quote(p, operands[0]));
        out_str(p->err, "file operands cannot be combined with --files0-from\n");
        usage_hint(p, args);
    }
    Input in = input_files(p, &file, 1);
    in.delimiter = 0;
    in.open_format = "cannot open %s for reading";
    in.quote_name = true;
    if (!input_open(&in))
        proc_fail(p, 1);
    Slice name;
    bool ended;
    for (size_t n = 1; input_record(&in, &name, &ended); n++) {
        if (name.len == 0) {
            warn(p, "%s:%zu: invalid zero-length file name", quotef(p, file), n);
            d->status = 1;
        } else {
            measure(d, mem_copy(&p->keep, name));
        }
    }
}

static int du_main(Proc *p, Args *args)
{
    Du d = {.p = p, .end = '\n', .max_depth = UINT64_MAX, .block = block_size_default(p, "DU_BLOCK_SIZE"), .threshold = 0, .time_format = "%Y-%m-%d %H:%M"};
    char *list = NULL;
    map_init(&d.seen, &p->keep);
    buf_init(&d.patterns, &p->keep, BUF_MAX);
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == FILES0)
            list = args->value;
        else
            set_option(&d, args, id);
    }
    if (d.time && d.time_style)
        set_time_style(&d, args, d.time_style);
    check_options(&d, args);
    int n;
    char **names = args_operands(args, &n);
    if (list)
        measure_list(&d, args, list, names, n);
    else if (n == 0)
        measure(&d, ".");
    for (int i = 0; i < n; i++)
        measure(&d, names[i]);
    if (d.total)
        print_sum(&d, &d.grand, "total");
    return d.status;
}

COMMAND(du, "du [OPTION]... [FILE]...\ndu [OPTION]... --files0-from=F", "Summarize device usage of the set of FILEs, recursively for directories.", options, COMMAND_PURE);
