/* split: cut a file into pieces. GNU coreutils 9.1: -l -b -C -n (N, K/N, l/N, r/N), suffixes, --filter. */
#include "command.h"
#include "shared.h"

enum { OPT_ADDITIONAL = 256, OPT_FILTER, OPT_VERBOSE, OPT_NUMERIC, OPT_HEX, SUFFIX_MOST = 64 };

static const Option options[] = {
    {'a', "suffix-length", OPT_VALUE, "generate suffixes of length N (default 2)", "N", 0},
    {0, "additional-suffix", OPT_VALUE, "append an additional SUFFIX to file names", "SUFFIX", OPT_ADDITIONAL},
    {'b', "bytes", OPT_VALUE, "put SIZE bytes per output file", "SIZE", 0},
    {'C', "line-bytes", OPT_VALUE, "put at most SIZE bytes of records per output file", "SIZE", 0},
    {'d', NULL, OPT_FLAG, "use numeric suffixes starting at 0, not alphabetic", NULL, 0},
    {0, "numeric-suffixes", OPT_OPTIONAL, "same as -d, but allow setting the start value", "FROM", OPT_NUMERIC},
    {'x', NULL, OPT_FLAG, "use hex suffixes starting at 0, not alphabetic", NULL, 0},
    {0, "hex-suffixes", OPT_OPTIONAL, "same as -x, but allow setting the start value", "FROM", OPT_HEX},
    {'e', "elide-empty-files", OPT_FLAG, "do not generate empty output files with '-n'", NULL, 0},
    {0, "filter", OPT_VALUE, "write to shell COMMAND; file name is $FILE", "COMMAND", OPT_FILTER},
    {'l', "lines", OPT_VALUE, "put NUMBER lines/records per output file", "NUMBER", 0},
    {'n', "number", OPT_VALUE, "generate CHUNKS output files: N, K/N, l/N, l/K/N, r/N, r/K/N", "CHUNKS", 0},
    {'t', "separator", OPT_VALUE, "use SEP instead of newline as the record separator; '\\0' (zero) specifies the NUL character", "SEP", 0},
    {'u', "unbuffered", OPT_FLAG, "immediately copy input to output with '-n r/...'", NULL, 0},
    {0, "verbose", OPT_FLAG, "print a diagnostic just before each output file is opened", NULL, OPT_VERBOSE},
    OPTIONS_END,
};

typedef enum { BY_LINES, BY_BYTES, BY_LINE_BYTES, CHUNK_BYTES, CHUNK_LINES, CHUNK_ROBIN } Mode;

typedef struct {
    Proc *p;
    Mode mode;
    bool mode_given, verbose, elide;
    uint64_t size, chunk; /* chunk: K of K/N, printed to standard output; 0: all */
    const char *prefix, *additional, *alphabet;
    unsigned length;      /* of suffixes; 0: 2, and longer when they run out */
    unsigned char digits[SUFFIX_MOST];
    unsigned used, leads; /* leads: z's in front, which count no more */
    uint64_t start;
    bool begun;
    char separator;
    int fd;
    char *filter;         /* the command that pieces are written to, or NULL */
    char *name;           /* of the piece, while its filter runs */
    pid_t pid;
    uint64_t ignored;     /* signals that were ignored from the start, as a filter then does */
} Split;

enum { SIGNAL_PIPE = 13 };

/* ---------- names ---------- */

static NORETURN void exhausted(Split *s) { die(s->p, 1, "output file suffixes exhausted"); }

static void first_suffix(Split *s)
{
    unsigned base = (unsigned)strlen(s->alphabet);
    s->used = s->length ? s->length : 2;
    uint64_t v = s->start;
    for (unsigned i = s->used; i-- > 0; v /= base)
        s->digits[i] = (unsigned char)(v % base);
    if (v)
        die(s->p, 1, "numerical suffix start value is too large for the suffix length");
}

/* Without -a the last letter leads on to suffixes two longer: yz, zaaa ... zyzz, zzaaaa. */
static void next_suffix(Split *s)
{
    unsigned base = (unsigned)strlen(s->alphabet), i = s->used;
    while (i-- > 0) {
        if (++s->digits[i] < base) {
            if (!s->length && s->start == 0 && i == s->leads && s->digits[i] == base - 1) {
                if (s->used + 2 > SUFFIX_MOST)
                    exhausted(s);
                s->leads++;
                s->used += 2;
                memset(s->digits + s->leads, 0, s->used - s->leads);
            }
            return;
        }
        s->digits[i] = 0;
    }
    exhausted(s);
}

/* ---------- filters ---------- */

static int start_filter(Split *s)
{
    static char sh[] = "sh", c[] = "-c";
    Proc *p = s->p;
    char *argv[] = {sh, c, s->filter, NULL}, **environ = proc_environ(p);
    int ends[2];
    size_t n = 0, kept = 0;
    MemMark mark = mem_mark(&p->mem);
    while (environ && environ[n])
        n++;
    char **env = mem_array(&p->mem, n + 2, char *);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "FILE=", 5) != 0)
            env[kept++] = environ[i];
    env[kept++] = mem_printf(&p->mem, "FILE=%s", s->name);
    env[kept] = NULL;
    int err = proc_pipe(p, ends);
    if (err)
        die_errno(p, 1, err, "failed to create pipe");
    SpawnFd fds[] = {{0, ends[0]}, {ends[0], -1}, {ends[1], -1}};
    uint64_t own = p->ignored;
    p->ignored = s->ignored;
    s->pid = proc_spawn(p, argv, env, &(SpawnAttr){.fds = fds, .nfds = ARRAY_LEN(fds)});
    p->ignored = own;
    mem_reset(&p->mem, mark);
    proc_close(p, ends[0]);
    if (s->pid < 0)
        die_errno(p, 1, (int)s->pid, "failed to run command: \"sh -c %s\"", s->filter);
    return ends[1];
}

/* Closes the piece; with a filter, waits for it. */
static void close_piece(Split *s)
{
    int wstatus = 0;
    if (s->fd >= 0)
        proc_close(s->p, s->fd);
    s->fd = -1;
    if (s->pid <= 0)
        return;
    proc_wait(s->p, s->pid, &wstatus, 0, -1);
    s->pid = 0;
    int killer = wstatus & 127, code = wstatus >> 8 & 255;
    if (killer && killer != SIGNAL_PIPE)
        die(s->p, killer + 128, "with FILE=%s, signal %s from command: %s", s->name, signal_short_name(killer), s->filter);
    if (!killer && code)
        die(s->p, code, "with FILE=%s, exit %d from command: %s", s->name, code, s->filter);
}

static void open_next(Split *s)
{
    if (s->begun)
        next_suffix(s);
    else
        first_suffix(s);
    s->begun = true;
    Proc *p = s->p;
    char suffix[SUFFIX_MOST + 1];
    for (unsigned i = 0; i < s->used; i++)
        suffix[i] = s->alphabet[s->digits[i]];
    suffix[s->used] = 0;
    char *name = mem_printf(&p->mem, "%s%s%s", s->prefix, suffix, s->additional);
    close_piece(s);
    if (s->verbose) {
        out_printf(p->out, s->filter ? "executing with FILE=%s\n" : "creating file %s\n", s->filter ? quotef(p, name) : quoteaf(p, name));
        if (!s->filter)
            output_flush(p->out);
    }
    if (s->filter) {
        s->name = mem_strdup(&p->keep, name);
        s->fd = start_filter(s);
        return;
    }
    s->fd = proc_open(p, name, V_WRITE | V_CREATE | V_TRUNC, 0666);
    if (s->fd < 0)
        die_errno(p, 1, s->fd, "%s", quotef(p, name));
}

static void put(Split *s, int fd, Slice data)
{
    ssize_t n = data.len ? proc_write(s->p, fd, data) : 0;
    if (n < 0 && !(s->filter && n == -EPIPE))
        die_errno(s->p, 1, (int)n, "%s", "write error");
}

/* ---------- pieces of a stream ---------- */

static void by_bytes(Split *s, Input *in)
{
    uint64_t left = 0;
    for (Slice chunk; input_chunk(in, &chunk);)
        while (chunk.len) {
            if (left == 0) {
                open_next(s);
                left = s->size;
            }
            size_t n = (size_t)MIN(left, (uint64_t)chunk.len);
            put(s, s->fd, (Slice){chunk.data, n});
            chunk = slice_from(chunk, n);
            left -= n;
        }
}

static void by_lines(Split *s, Input *in)
{
    uint64_t left = 0;
    for (Slice chunk; input_chunk(in, &chunk);)
        while (chunk.len) {
            if (left == 0) {
                open_next(s);
                left = s->size;
            }
            size_t n = 0;
            while (left && n < chunk.len) {
                n += slice_find(slice_from(chunk, n), s->separator);
                if (n < chunk.len)
                    n++, left--;
            }
            put(s, s->fd, (Slice){chunk.data, n});
            chunk = slice_from(chunk, n);
        }
}

/* Whole records up to the size; a record that is longer than it is cut. */
static void by_line_bytes(Split *s, Input *in)
{
    uint64_t left = 0;
    bool any = false;
    Slice all = read_all(s->p, in->fd);
    while (all.len) {
        size_t n = slice_find(all, s->separator);
        n = MIN(n + 1, all.len);
        if (!any || (n > left && left < s->size)) {
            open_next(s);
            left = s->size;
        }
        any = true;
        size_t part = (size_t)MIN((uint64_t)n, left);
        put(s, s->fd, (Slice){all.data, part});
        all = slice_from(all, part);
        left -= part;
        if (left == 0)
            any = false;
    }
}

/* ---------- N chunks of a whole ---------- */

static void chunk_out(Split *s, uint64_t k, Slice data)
{
    if (s->chunk) {
        if (k + 1 == s->chunk)
            out_write(s->p->out, data);
    } else if (data.len || !s->elide) {
        open_next(s);
        put(s, s->fd, data);
    }
}

static size_t boundary(size_t len, uint64_t n, uint64_t k)
{
    uint64_t each = len / n, extra = len % n;
    return (size_t)(each * k + MIN(k, extra));
}

static void in_chunks(Split *s, Slice all)
{
    uint64_t n = s->size;
    size_t at = 0;
    for (uint64_t k = 0; k < n; k++) {
        size_t end = s->mode == CHUNK_LINES ? (size_t)(all.len / n * (k + 1)) : boundary(all.len, n, k + 1);
        if (k + 1 == n)
            end = all.len;
        if (s->mode == CHUNK_LINES && k + 1 < n) {
            if (end <= at) {
                chunk_out(s, k, (Slice){all.data, 0});
                continue;
            }
            size_t to = end - 1 + slice_find(slice_from(all, end - 1), s->separator) + 1;
            end = MIN(to, all.len);
        }
        chunk_out(s, k, (Slice){all.data + at, end > at ? end - at : 0});
        at = MAX(at, end);
        proc_tick(s->p, 1);
    }
}

static void round_robin(Split *s, Slice all)
{
    uint64_t n = s->size;
    for (uint64_t k = 0; k < n; k++) {
        Buf part;
        MemMark mark = mem_mark(&s->p->mem);
        buf_init(&part, &s->p->mem, BUF_MAX);
        Slice left = all;
        for (uint64_t i = 0; left.len; i++) {
            size_t len = MIN(slice_find(left, s->separator) + 1, left.len);
            if (i % n == k)
                buf_append(&part, (Slice){left.data, len});
            left = slice_from(left, len);
            proc_tick(s->p, 1);
        }
        Slice data = part.data ? buf_slice(&part) : (Slice){"", 0};
        chunk_out(s, k, data);
        mem_reset(&s->p->mem, mark);
    }
}

/* ---------- options ---------- */

static void set_mode(Split *s, Args *args, Mode mode)
{
    if (s->mode_given)
        usage_fail(s->p, args, "cannot split in more than one way");
    s->mode_given = true;
    s->mode = mode;
}

static uint64_t amount(Proc *p, const char *text, const char *what, const char *suffixes)
{
    uint64_t v;
    int err = parse_size(text, suffixes, &v);
    if (err == -EINVAL)
        die(p, 1, "invalid number of %s: %s", what, quote(p, text));
    if (v == 0)
        die_errno(p, 1, ERANGE, "invalid number of %s: %s", what, quote(p, text));
    return v;
}

static void parse_chunks(Split *s, Args *args, const char *text)
{
    Proc *p = s->p;
    set_mode(s, args, text[0] == 'l' ? CHUNK_LINES : text[0] == 'r' ? CHUNK_ROBIN : CHUNK_BYTES);
    if (s->mode != CHUNK_BYTES && *++text == '/')
        text++;
    const char *slash = strchr(text, '/');
    if (slash) {
        char *k = mem_printf(&p->keep, "%.*s", (int)(slash - text), text);
        if (parse_size(k, "", &s->chunk))
            die(p, 1, "invalid chunk number: %s", quote(p, k));
        if (s->chunk == 0)
            die_errno(p, 1, ERANGE, "invalid chunk number: %s", quote(p, k));
        text = slash + 1;
    }
    if (parse_size(text, "", &s->size))
        die(p, 1, "invalid number of chunks: %s", quote(p, text));
    if (s->size == 0)
        die_errno(p, 1, ERANGE, "invalid number of chunks: %s", quote(p, text));
    if (s->chunk > s->size)
        die_errno(p, 1, ERANGE, "invalid chunk number: %s", quote(p, mem_printf(&p->keep, "%llu", (unsigned long long)s->chunk)));
}

static void set_separator(Split *s, Args *args, const char *text)
{
    (void)args;
    if (!*text)
        die(s->p, 1, "empty record separator");
    if (text[1] && strcmp(text, "\\0") != 0)
        die(s->p, 1, "multi-character separator %s", quote(s->p, text));
    s->separator = text[1] ? 0 : text[0];
}

static void set_alphabet(Split *s, const char *alphabet, const char *from)
{
    s->alphabet = alphabet;
    if (from && parse_size(from, "", &s->start))
        die(s->p, 1, "%s: invalid start value for numerical suffix", quote(s->p, from));
}

static void set_option(Split *s, Args *args, int id)
{
    Proc *p = s->p;
    const char *v = args->value;
    uint64_t n;
    switch (id) {
    case 'a':
        if (parse_size(v, "", &n) || n > SUFFIX_MOST)
            die(p, 1, "invalid suffix length: %s", quote(p, v));
        s->length = (unsigned)n;
        break;
    case OPT_ADDITIONAL:
        if (strchr(v, '/'))
            usage_fail(p, args, "invalid suffix %s, contains directory separator", quote(p, v));
        s->additional = v;
        break;
    case 'b': set_mode(s, args, BY_BYTES); s->size = amount(p, v, "bytes", "bEGKkMmPTYZ0"); break;
    case 'C': set_mode(s, args, BY_LINE_BYTES); s->size = amount(p, v, "bytes", "bEGKkMmPTYZ0"); break;
    case 'l': set_mode(s, args, BY_LINES); s->size = amount(p, v, "lines", ""); break;
    case 'n': parse_chunks(s, args, v); break;
    case 'd': set_alphabet(s, "0123456789", NULL); break;
    case OPT_NUMERIC: set_alphabet(s, "0123456789", v); break;
    case 'x': set_alphabet(s, "0123456789abcdef", NULL); break;
    case OPT_HEX: set_alphabet(s, "0123456789abcdef", v); break;
    case 'e': s->elide = true; break;
    case 't': set_separator(s, args, v); break;
    case OPT_VERBOSE: s->verbose = true; break;
    case OPT_FILTER: s->filter = args->value; break;
    default: break;
    }
}

static int split_main(Proc *p, Args *args)
{
    Split s = {.p = p, .size = 1000, .prefix = "x", .additional = "", .alphabet = "abcdefghijklmnopqrstuvwxyz", .separator = '\n', .fd = -1};
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&s, args, id);
    int n;
    char **v = args_operands(args, &n);
    if (n > 2)
        usage_extra(p, args, v[2]);
    if (n == 2)
        s.prefix = v[1];
    if (s.filter && s.chunk)
        usage_fail(p, args, "--filter does not process a chunk extracted to stdout");
    s.ignored = p->ignored;
    if (s.filter)
        p->ignored |= SIGNAL_BIT(SIGNAL_PIPE);
    Input in = input_files(p, v, MIN(n, 1));
    in.open_format = "cannot open %s for reading";
    in.quote_name = true;
    if (!input_open(&in))
        return 1;
    if (s.mode == BY_BYTES)
        by_bytes(&s, &in);
    else if (s.mode == BY_LINES)
        by_lines(&s, &in);
    else if (s.mode == BY_LINE_BYTES)
        by_line_bytes(&s, &in);
    else if (s.mode == CHUNK_ROBIN)
        round_robin(&s, read_all(p, in.fd));
    else
        in_chunks(&s, read_all(p, in.fd));
    close_piece(&s);
    return input_status(&in);
}

COMMAND(split, "split [OPTION]... [FILE [PREFIX]]", "Output pieces of FILE to PREFIXaa, PREFIXab, ...; default size is 1000 lines, and default PREFIX is 'x'.", options, COMMAND_WRITES | COMMAND_SPAWNS);
