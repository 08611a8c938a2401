/* sort: sort lines of text. GNU coreutils 9.1 in the C locale.
 *
 * Input is kept in blocks as it came, lines are (place, length, prefix) triples, and a merge sort that skips runs already in order
 * does the rest. Everything is in the process's memory, so the shell's memory limit bounds it; nothing is spilled.
 */
#include "sort.h"

#include "shared.h"

enum { OPT_CHECK = 256, OPT_SORT, OPT_FILES0, OPT_PARALLEL, OPT_DEBUG, OPT_BATCH, OPT_COMPRESS, OPT_RANDOM };

static const Option options[] = {
    {'b', "ignore-leading-blanks", OPT_FLAG, "ignore leading blanks", NULL, 0},
    {'d', "dictionary-order", OPT_FLAG, "consider only blanks and alphanumeric characters", NULL, 0},
    {'f', "ignore-case", OPT_FLAG, "fold lower case to upper case characters", NULL, 0},
    {'g', "general-numeric-sort", OPT_FLAG, "compare according to general numerical value", NULL, 0},
    {'i', "ignore-nonprinting", OPT_FLAG, "consider only printable characters", NULL, 0},
    {'M', "month-sort", OPT_FLAG, "compare (unknown) < 'JAN' < ... < 'DEC'", NULL, 0},
    {'h', "human-numeric-sort", OPT_FLAG, "compare human readable numbers (e.g., 2K 1G)", NULL, 0},
    {'n', "numeric-sort", OPT_FLAG, "compare according to string numerical value", NULL, 0},
    {'R', "random-sort", OPT_FLAG, "shuffle, but group identical keys", NULL, 0},
    {0, "random-source", OPT_VALUE, "get random bytes from FILE", "FILE", OPT_RANDOM},
    {'r', "reverse", OPT_FLAG, "reverse the result of comparisons", NULL, 0},
    {0, "sort", OPT_VALUE, "sort according to WORD: general-numeric -g, human-numeric -h, month -M, numeric -n, random -R, version -V", "WORD", OPT_SORT},
    {'V', "version-sort", OPT_FLAG, "natural sort of (version) numbers within text", NULL, 0},
    {0, "batch-size", OPT_VALUE, NULL, "NMERGE", OPT_BATCH},
    {'c', NULL, OPT_FLAG, "check for sorted input; do not sort", NULL, 0},
    {0, "check", OPT_OPTIONAL, "the same; with =quiet like -C", "diagnose-first", OPT_CHECK},
    {'C', NULL, OPT_FLAG, "like -c, but do not report first bad line", NULL, 0},
    {0, "compress-program", OPT_VALUE, NULL, "PROG", OPT_COMPRESS},
    {0, "debug", OPT_FLAG, "refused", NULL, OPT_DEBUG},
    {0, "files0-from", OPT_VALUE, "read input from the NUL-terminated names in file F", "F", OPT_FILES0},
    {'k', "key", OPT_VALUE, "sort via a key; KEYDEF gives location and type", "KEYDEF", 0},
    {'m', "merge", OPT_FLAG, "merge already sorted files; do not sort", NULL, 0},
    {'o', "output", OPT_VALUE, "write result to FILE instead of standard output", "FILE", 0},
    {'s', "stable", OPT_FLAG, "stabilize sort by disabling last-resort comparison", NULL, 0},
    {'S', "buffer-size", OPT_VALUE, "(ignored: the shell's memory limit holds)", "SIZE", 0},
    {'t', "field-separator", OPT_VALUE, "use SEP instead of non-blank to blank transition", "SEP", 0},
    {'T', "temporary-directory", OPT_VALUE, "(ignored: nothing is spilled)", "DIR", 0},
    {0, "parallel", OPT_VALUE, "(ignored)", "N", OPT_PARALLEL},
    {'u', "unique", OPT_FLAG, "with -c, check for strict ordering; without -c, output only the first of an equal run", NULL, 0},
    {'y', NULL, OPT_VALUE, NULL, NULL, 0},
    {'z', "zero-terminated", OPT_FLAG, "line delimiter is NUL, not newline", NULL, 0},
    OPTIONS_END,
};

typedef enum { CHECK_NONE, CHECK_LOUD, CHECK_QUIET } Check;

typedef struct {
    Sorter s;
    Check check;
    const char *output, *files0, *random_source;
    bool merge;
    char **names;
    int count;
} Job;

/* ---------- reading ---------- */

typedef struct Block {
    struct Block *next;
    Slice bytes; /* whole records, the last one may lack its delimiter only at the end of a file */
    size_t records;
} Block;

static size_t count_records(Slice s, char delimiter)
{
    return slice_count(s, delimiter) + (s.len && s.data[s.len - 1] != delimiter);
}

enum { BLOCK_SIZE = 1 << 20 };

static Block *add_block(Proc *p, Block ***end, Slice bytes, char delimiter)
{
    Block *b = mem_alloc(&p->keep, sizeof *b);
    *b = (Block){NULL, bytes, count_records(bytes, delimiter)};
    **end = b;
    *end = &b->next;
    return b;
}

/* Reads a descriptor into blocks that hold whole records: what is left of a block's last record begins the next. */
static void read_blocks(Proc *p, int fd, char delimiter, Block ***end)
{
    Slice rest = {"", 0}, chunk;
    for (bool more = true; more;) {
        size_t cap = MAX((size_t)BLOCK_SIZE, rest.len * 2);
        char *data = mem_alloc(&p->keep, cap + 1);
        size_t n = rest.len;
        memcpy(data, rest.data, n);
        while (n < cap) {
            ssize_t r = proc_read_chunk(p, fd, cap - n, &chunk, NULL);
            if (r < 0)
                die_errno(p, 2, (int)r, "read failed");
            if (r == 0) {
                more = false;
                break;
            }
            memcpy(data + n, chunk.data, chunk.len);
            n += chunk.len;
        }
        const char *last = more && n ? memrchr(data, delimiter, n) : NULL;
        size_t whole = more ? (last ? (size_t)(last - data) + 1 : 0) : n;
        rest = (Slice){data + whole, n - whole};
        if (whole)
            add_block(p, end, (Slice){data, whole}, delimiter);
    }
}

static int open_input(Proc *p, const char *name, const char *failure)
{
    if (strcmp(name, "-") == 0)
        return 0;
    int fd = proc_open(p, name, V_READ, 0);
    VStat st;
    if (fd < 0)
        die_errno(p, 2, fd, "%s: %s", failure, quotef(p, name));
    if (proc_fstat(p, fd, &st) == 0 && (st.mode & 0170000) == 0040000)
        die_errno(p, 2, EISDIR, "read failed: %s", quotef(p, name));
    return fd;
}

static Line *lines_of(Sorter *s, const Block *blocks, size_t *count)
{
    Proc *p = s->proc;
    size_t n = 0;
    for (const Block *b = blocks; b; b = b->next)
        n += b->records;
    Line *lines = mem_array(&p->keep, n + 1, Line), *at = lines;
    bool exact = true;
    for (const Block *b = blocks; b; b = b->next) {
        Slice left = b->bytes;
        proc_tick(p, 1 + b->records / 8);
        while (left.len) {
            size_t len = slice_find(left, s->delimiter);
            Prefix prefix = line_prefix(s, (Slice){left.data, len});
            *at++ = (Line){left.data, len, prefix.value};
            exact = exact && prefix.exact;
            left = slice_from(left, MIN(len + 1, left.len));
        }
    }
    s->exact = exact;
    *count = (size_t)(at - lines);
    return lines;
}

/* ---------- sorting ---------- */

enum { INSERTION = 12 };

static void insertion_sort(const Sorter *s, Line *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        Line x = v[i];
        size_t j = i;
        while (j && line_compare(s, &v[j - 1], &x) > 0) {
            v[j] = v[j - 1];
            j--;
        }
        v[j] = x;
    }
}

/* Merges two halves that are in order, the first of `half` lines, which `spare` has room for. Stable. */
static void merge_halves(const Sorter *s, Line *v, size_t n, size_t half, Line *spare)
{
    proc_tick(s->proc, 1 + n / 64);
    if (line_compare(s, &v[half - 1], &v[half]) <= 0)
        return;
    memcpy(spare, v, half * sizeof *v);
    Line *a = spare, *a_end = spare + half, *b = v + half, *b_end = v + n, *out = v;
    while (a < a_end && b < b_end)
        *out++ = line_compare(s, a, b) <= 0 ? *a++ : *b++;
    memcpy(out, a, (size_t)(a_end - a) * sizeof *a);
}

/* Stable; `spare` holds n / 2 lines. Depth is log2 n. */
static void merge_sort(const Sorter *s, Line *v, size_t n, Line *spare)
{
    if (n <= INSERTION) {
        insertion_sort(s, v, n);
        return;
    }
    size_t half = n / 2;
    merge_sort(s, v, half, spare);
    merge_sort(s, v + half, n - half, spare);
    merge_halves(s, v, n, half, spare);
}

/* Lines whose prefixes are equal may be told apart by those of what comes next: `next` bytes into whole lines. */
static bool prefixes_renew(const Sorter *s, Line *v, size_t n, size_t next)
{
    enum { NEXT_MOST = 16 };
    if (next > NEXT_MOST || (s->nkeys && (!s->exact || s->nkeys > 1 || s->stable || s->unique)))
        return false;
    for (size_t i = 0; i < n; i++)
        v[i].prefix = prefix_behind(s, (Slice){v[i].text, v[i].len}, next);
    return true;
}

static uint64_t differing_bits(const Line *v, size_t n)
{
    uint64_t bits = 0;
    for (size_t i = 1; i < n; i++)
        bits |= v[i].prefix ^ v[0].prefix;
    return bits;
}

/* Stable: the eight highest bits in which the prefixes differ tell lines apart, then the next ones; what stays together is merged. `spare`
 * holds n lines; `next` is where prefixes may be renewed from. Depth: a level uses up eight bits of 64, and prefixes are renewed three times. */
static void prefix_sort(const Sorter *s, Line *v, size_t n, Line *spare, size_t next)
{
    enum { FEW = 32, DIGITS = 256 };
    uint64_t differ = n > FEW ? differing_bits(v, n) : 0;
    for (; !differ && n > FEW && prefixes_renew(s, v, n, next); next += sizeof v->prefix)
        differ = differing_bits(v, n);
    if (!differ) {
        merge_sort(s, v, n, spare);
        return;
    }
    unsigned bits = 64 - (unsigned)__builtin_clzll(differ), shift = bits > 8 ? bits - 8 : 0;
    size_t place[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        place[v[i].prefix >> shift & (DIGITS - 1)]++;
    for (unsigned d = 0; d < DIGITS; d++) {
        size_t count = place[d];
        place[d] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        spare[place[v[i].prefix >> shift & (DIGITS - 1)]++] = v[i];
    memcpy(v, spare, n * sizeof *v);
    proc_tick(s->proc, 1 + n / 64);
    /* place[d] is now where digit d ends. */
    for (unsigned d = 0; d < DIGITS; d++) {
        size_t from = d ? place[d - 1] : 0;
        if (place[d] - from > 1)
            prefix_sort(s, v + from, place[d] - from, spare, next);
    }
}

/* Many lines are sorted as two halves: the room for a copy of all of them would be what meets the memory limit first. */
static void sort_lines(const Sorter *s, Line *v, size_t n)
{
    const size_t many = 1 << 21, half = n > many ? n / 2 : 0;
    const size_t next = s->nkeys ? 0 : sizeof v->prefix;
    Line *spare = mem_array(&s->proc->keep, n - half + 1, Line);
    prefix_sort(s, v + half, n - half, spare, next);
    if (half) {
        prefix_sort(s, v, half, spare, next);
        for (size_t i = 0; i < n; i++) /* those that were renewed compare within their group only */
            v[i].prefix = line_prefix(s, (Slice){v[i].text, v[i].len}).value;
        merge_halves(s, v, n, half, spare);
    }
}

/* Sorted lines of one input, for -m. */
typedef struct { Line *at, *end; } Run;

/* The place of runs[0] among the others, which are in order: by first line, equal ones by their place in `v`'s files. */
static void settle_first(const Sorter *s, Run *runs, size_t n)
{
    Run first = runs[0];
    size_t low = 1, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int c = line_compare(s, first.at, runs[middle].at);
        if (c < 0 || (c == 0 && first.at < runs[middle].at))
            high = middle;
        else
            low = middle + 1;
    }
    memmove(runs, runs + 1, (low - 1) * sizeof *runs);
    runs[low - 1] = first;
}

/* Takes the least of the runs' first lines again and again: what a run holds out of order stays so. The lines of all runs lie in
 * one array, in the order of the files. */
static Line *merge_runs(Proc *p, const Sorter *s, Run *runs, size_t n, size_t total)
{
    Line *out = mem_array(&p->keep, total + 1, Line);
    size_t used = 0;
    for (size_t i = n; i-- > 0;)
        if (runs[i].at < runs[i].end)
            settle_first(s, runs + i, n - i);
        else
            memmove(runs + i, runs + i + 1, (--n - i) * sizeof *runs);
    while (n) {
        out[used++] = *runs[0].at++;
        if (runs[0].at < runs[0].end)
            settle_first(s, runs, n);
        else
            memmove(runs, runs + 1, --n * sizeof *runs);
        if (used % 64 == 0)
            proc_tick(p, 16);
    }
    return out;
}

static uint64_t write_lines(Output *out, const Sorter *s, const Line *v, size_t n)
{
    const Line *last = NULL;
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (s->unique && last && line_compare_keys(s, last, &v[i]) == 0)
            continue;
        out_write(out, (Slice){v[i].text, v[i].len});
        out_char(out, s->delimiter);
        bytes += v[i].len + 1;
        last = &v[i];
    }
    return bytes;
}

static void redirect_output(Proc *p, const char *name)
{
    if (!name)
        return;
    int fd = proc_open(p, name, V_WRITE | V_CREATE | V_TRUNC, 0666);
    if (fd < 0)
        die_errno(p, 2, fd, "open failed: %s", quotef(p, name));
    proc_dup2(p, fd, 1);
    proc_close(p, fd);
}

/* GNU notices a failure at the last flush when all of the output fits stdio's buffer. */
static int write_failed(Proc *p, const Job *job, uint64_t bytes)
{
    enum { STDIO_BUFFER = 4096 };
    int err = p->out->error;
    p->out->error = 0;
    warn_errno(p, err, "%s failed: %s", bytes > STDIO_BUFFER ? "write" : "fflush", quotef(p, job->output ? job->output : "standard output"));
    warn(p, "write error");
    return 2;
}

static int sort_files(Proc *p, Job *job)
{
    Block *blocks = NULL, **end = &blocks;
    size_t *records = mem_array(&p->keep, (size_t)job->count, size_t), n;
    for (int i = 0; i < job->count; i++) {
        int fd = open_input(p, job->names[i], "cannot read");
        Block **from = end;
        read_blocks(p, fd, job->s.delimiter, &end);
        for (const Block *b = *from; b; b = b->next)
            records[i] += b->records;
        if (fd > 0)
            proc_close(p, fd);
    }
    Line *lines = lines_of(&job->s, blocks, &n);
    if (job->merge) {
        Run *runs = mem_array(&p->keep, (size_t)job->count, Run);
        Line *at = lines;
        for (int i = 0; i < job->count; at += records[i++])
            runs[i] = (Run){at, at + records[i]};
        lines = merge_runs(p, &job->s, runs, (size_t)job->count, n);
    } else {
        sort_lines(&job->s, lines, n);
    }
    redirect_output(p, job->output);
    uint64_t bytes = write_lines(p->out, &job->s, lines, n);
    output_flush(p->out);
    return p->out->error ? write_failed(p, job, bytes) : 0;
}

/* ---------- checking ---------- */

static int check_file(Proc *p, const Job *job)
{
    const char *name = job->names[0];
    Input in = input_fd(p, open_input(p, name, "open failed"), name);
    in.delimiter = job->s.delimiter;
    Buf previous;
    Slice text;
    bool ended, any = false;
    buf_init(&previous, &p->keep, BUF_MAX);
    for (unsigned long long number = 1; input_record(&in, &text, &ended); number++) {
        Line now = {text.data, text.len, line_prefix(&job->s, text).value};
        if (any) {
            Line before = {previous.data, previous.len, line_prefix(&job->s, buf_slice(&previous)).value};
            int c = job->s.unique ? line_compare_keys(&job->s, &before, &now) : line_compare(&job->s, &before, &now);
            if (c > 0 || (c == 0 && job->s.unique)) {
                if (job->check == CHECK_LOUD) {
                    out_printf(p->err, "%s: %s:%llu: disorder: ", p->name, name, number);
                    out_write(p->err, text);
                    out_char(p->err, job->s.delimiter);
                    output_flush(p->err);
                }
                return 1;
            }
        }
        buf_clear(&previous);
        buf_append(&previous, text);
        if (!previous.data)
            buf_reserve(&previous, 1);
        any = true;
        proc_tick(p, 1);
    }
    return 0;
}

/* ---------- options ---------- */

static void set_tab(Proc *p, Job *job, const char *value)
{
    int tab = (unsigned char)value[0];
    if (!*value)
        die(p, 2, "empty tab");
    if (value[1]) {
        if (strcmp(value, "\\0") != 0)
            die(p, 2, "multi-character tab %s", quote(p, value));
        tab = 0;
    }
    if (job->s.tab >= 0 && job->s.tab != tab)
        die(p, 2, "incompatible tabs");
    job->s.tab = tab;
}

static void set_sort_word(Proc *p, Args *args, Ordering *o)
{
    static const Choice words[] = {
        {"general-numeric", 'g'}, {"human-numeric", 'h'}, {"month", 'M'}, {"numeric", 'n'}, {"random", 'R'}, {"version", 'V'}, {NULL, 0},
    };
    char letter[2] = {(char)choose(p, args, "--sort", args->value, words), 0};
    const char *end;
    ordering_letters(o, letter, &end, true, true);
}

static Check check_word(Proc *p, Args *args)
{
    static const Choice words[] = {{"quiet", CHECK_QUIET}, {"silent", CHECK_QUIET}, {"diagnose-first", CHECK_LOUD}, {NULL, 0}};
    return args->value ? (Check)choose(p, args, "--check", args->value, words) : CHECK_LOUD;
}

/* Sizes and counts that change nothing here are still checked. */
static void check_number(Proc *p, const char *option, const char *value, const char *suffixes)
{
    uint64_t v;
    size_t digits = strspn(value, "0123456789");
    if (digits && *suffixes && strchr("b%", value[digits]) && (!value[digits] || !value[digits + 1]))
        return;
    int err = parse_size(value, suffixes, &v);
    if (err == -EINVAL)
        die(p, 2, "invalid %s%s argument '%s'", digits ? "suffix in " : "", option, value);
    if (strcmp(option, "--parallel") == 0 && !err && v == 0)
        die(p, 2, "number in parallel must be nonzero");
    if (strcmp(option, "--batch-size") == 0 && v < 2) {
        warn(p, "invalid --batch-size argument %s", quote(p, value));
        die(p, 2, "minimum --batch-size argument is %s", quote(p, "2"));
    }
}

static void add_key(Proc *p, Job *job, const char *text)
{
    Key k = key_parse(p, text);
    job->s.keys = mem_grow(&p->keep, job->s.keys, job->s.nkeys * sizeof k, (job->s.nkeys + 1) * sizeof k);
    job->s.keys[job->s.nkeys++] = k;
}

static void set_check(Proc *p, Job *job, Check check)
{
    if (job->check != CHECK_NONE && job->check != check)
        die(p, 2, "options '-cC' are incompatible");
    job->check = check;
}

static void set_option(Proc *p, Job *job, Args *args, int id)
{
    char letter[2] = {(char)id, 0};
    const char *end;
    switch (id) {
    case 'k': add_key(p, job, args->value); break;
    case 't': set_tab(p, job, args->value); break;
    case 'o':
        if (job->output && strcmp(job->output, args->value) != 0)
            die(p, 2, "multiple output files specified");
        job->output = args->value;
        break;
    case 's': job->s.stable = true; break;
    case 'u': job->s.unique = true; break;
    case 'z': job->s.delimiter = 0; break;
    case 'c': set_check(p, job, CHECK_LOUD); break;
    case 'C': set_check(p, job, CHECK_QUIET); break;
    case OPT_CHECK: set_check(p, job, check_word(p, args)); break;
    case OPT_SORT: set_sort_word(p, args, &job->s.global); break;
    case OPT_FILES0: job->files0 = args->value; break;
    case 'm': job->merge = true; break;
    case 'S': check_number(p, "-S", args->value, "EgGkKmMPtTYZ"); break;
    case OPT_PARALLEL: check_number(p, "--parallel", args->value, ""); break;
    case OPT_BATCH: check_number(p, "--batch-size", args->value, ""); break;
    case OPT_RANDOM: job->random_source = args->value; break;
    case OPT_DEBUG: die(p, 2, "--debug is not available in libshell");
    default:
        if (id < 256)
            ordering_letters(&job->s.global, letter, &end, true, true);
        break;
    }
}

static void read_names(Proc *p, Job *job)
{
    Slice all;
    int err = strcmp(job->files0, "-") == 0 ? (all = read_all(p, 0), 0) : read_file(p, job->files0, &all);
    if (err)
        die_errno(p, 2, err, "open failed: %s", quotef(p, job->files0));
    job->names = mem_array(&p->keep, all.len + 1, char *);
    job->count = 0;
    while (all.len) {
        size_t n = slice_find(all, 0);
        if (n == 0)
            die(p, 2, "%s:%d: invalid zero-length file name", job->files0, job->count + 1);
        if (slice_is(slice(all.data, n), "-") && strcmp(job->files0, "-") == 0)
            die(p, 2, "when reading file names from stdin, no file name of %s allowed", quoteaf(p, "-"));
        job->names[job->count++] = mem_copy(&p->keep, (Slice){all.data, n});
        all = slice_from(all, MIN(n + 1, all.len));
    }
    if (job->count == 0)
        die(p, 2, "no input from %s", quoteaf(p, job->files0));
}

static void seed(Proc *p, Sorter *s, const char *source)
{
    if (!source) {
        proc_random(p, &s->seed, sizeof s->seed);
        return;
    }
    int fd = proc_open(p, source, V_READ, 0);
    if (fd < 0)
        die_errno(p, 2, fd, "open failed: %s", quotef(p, source));
    if (proc_read(p, fd, (char *)&s->seed, sizeof s->seed) < (ssize_t)sizeof s->seed)
        die(p, 2, "%s: end of file", quotef(p, source));
    proc_close(p, fd);
}

/* Keys without letters of their own take the global ones; without keys, global letters make one of the whole line. */
static void settle_keys(Proc *p, Sorter *s, const char *random_source)
{
    Ordering plain = s->global;
    plain.reverse = false;
    if (s->nkeys == 0 && !ordering_is_default(&plain)) {
        s->keys = mem_array(&p->keep, 1, Key);
        s->keys[0] = (Key){.end_field = SIZE_MAX, .order = s->global};
        s->nkeys = 1;
    }
    for (size_t i = 0; i < s->nkeys; i++) {
        if (!s->keys[i].own_ordering)
            s->keys[i].order = s->global;
        ordering_check(p, &s->keys[i].order);
    }
    for (size_t i = 0; i < s->nkeys; i++)
        if (s->keys[i].order.random && !s->seed)
            seed(p, s, random_source);
}

static int sort_main(Proc *p, Args *args)
{
    static char dash[] = "-";
    Job job = {.s = {.proc = p, .tab = -1, .delimiter = '\n'}};
    sort_modern_keys(p, args);
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(p, &job, args, id);
    job.names = args_operands(args, &job.count);
    if (job.files0) {
        if (job.count) {
            warn(p, "extra operand %s", quoteaf(p, job.names[0]));
            out_str(p->err, "file operands cannot be combined with --files0-from\n");
            usage_hint(p, args);
        }
        read_names(p, &job);
    }
    if (job.count == 0) {
        job.names = mem_array(&p->keep, 1, char *);
        job.names[0] = dash;
        job.count = 1;
    }
    settle_keys(p, &job.s, job.random_source);
    if (job.check != CHECK_NONE) {
        if (job.count > 1)
            die(p, 2, "extra operand %s not allowed with -%c", quoteaf(p, job.names[1]), job.check == CHECK_LOUD ? 'c' : 'C');
        if (job.output)
            die(p, 2, "options '-%co' are incompatible", job.check == CHECK_LOUD ? 'c' : 'C');
        return check_file(p, &job);
    }
    return sort_files(p, &job);
}

COMMAND(sort, "sort [OPTION]... [FILE]...\nsort [OPTION]... --files0-from=F", "Write sorted concatenation of all FILE(s) to standard output.", options, COMMAND_WRITES, .usage_status = 2);
