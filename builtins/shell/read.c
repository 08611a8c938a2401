/* read, mapfile: lines into variables, taking from the input exactly what they use. */
#include "shell.h"

typedef struct ReadOptions {
    const char *array, *prompt, *text;
    char delimiter;
    int64_t chars;       /* -n, -N; -1: none */
    bool exact, raw, silent;
    int64_t timeout;     /* ns; -1: none */
    int fd;
} ReadOptions;

typedef struct Line {
    Buf text;            /* backslashes removed unless raw */
    Buf escaped;         /* one byte for each of text: it was behind a backslash */
    bool ended;          /* the delimiter came */
    bool timed_out;
    int error;
} Line;

/* ---- one line ---- */

typedef struct Reader {
    Proc *proc;
    const ReadOptions *o;
    Line *line;
    int64_t chars;
    bool backslash;
    unsigned continuation; /* bytes of a UTF-8 character that are still to come */
} Reader;

static void put(Reader *r, char c, bool escaped)
{
    buf_char(&r->line->text, c);
    buf_char(&r->line->escaped, escaped);
    uint8_t b = (uint8_t)c;
    if (r->continuation && (b & 0xC0) == 0x80)
        r->continuation--;
    else
        r->continuation = b >= 0xF0 ? 3 : b >= 0xE0 ? 2 : b >= 0xC2 ? 1 : 0;
    if (!r->continuation)
        r->chars++;
}

/* Takes one byte; true when the line is complete. */
static bool feed(Reader *r, char c)
{
    const ReadOptions *o = r->o;
    if (r->backslash) {
        r->backslash = false;
        if (c == '\n')
            return false;
        if (c)
            put(r, c, true);
    } else if (!o->raw && c == '\\') {
        r->backslash = true;
        return false;
    } else if (c == o->delimiter && !o->exact) {
        r->line->ended = true;
        return true;
    } else if (c) {
        put(r, c, false);
    }
    return o->chars >= 0 && r->chars >= o->chars;
}

/* With a delimiter or count the rest of a chunk goes back. */
static void read_line(Proc *p, const ReadOptions *o, Line *line)
{
    Reader r = {.proc = p, .o = o, .line = line};
    int64_t deadline = o->timeout >= 0 ? proc_monotonic(p) + o->timeout : -1;
    line->text = shell_buf(p);
    line->escaped = shell_buf(p);
    if (o->chars == 0) {
        line->ended = true;
        return;
    }
    for (;;) {
        if (deadline >= 0) {
            int64_t left = deadline - proc_monotonic(p);
            if (proc_poll(p, o->fd, false, MAX(left, 0)) == 0) {
                line->timed_out = true;
                return;
            }
        }
        Slice chunk;
        ssize_t n = proc_read_chunk(p, o->fd, 4096, &chunk, NULL);
        if (n <= 0) {
            line->error = (int)n;
            return;
        }
        for (size_t i = 0; i < chunk.len; i++)
            if (feed(&r, chunk.data[i])) {
                line->ended = true;
                proc_unread(p, o->fd, chunk.len - i - 1);
                return;
            }
        proc_tick(p, 1 + chunk.len / 100);
    }
}

/* ---- into variables ---- */

static bool valid_name(Proc *p, Args *args, const char *s)
{
    Slice name, subscript;
    if (parse_reference(slice_str(s), &name, &subscript))
        return true;
    shell_fail(p, args, "`%s': not a valid identifier", s);
    return false;
}

static Slice filled(const Buf *b) { return b->data ? buf_slice(b) : slice("", 0); }

static int assign_array(Proc *p, const ReadOptions *o, const Line *line)
{
    Interp *in = interp_of(p);
    Slice name = slice_str(o->array);
    size_t count;
    const Var *old = var_find(in, name);
    if (old && old->value.kind == VALUE_ASSOC) {
        shell_error(in, "read", "%s: not an indexed array", o->array);
        return 1;
    }
    Slice *fields = split_read(in, filled(&line->text), (const bool *)(const void *)filled(&line->escaped).data, SIZE_MAX, &count);
    if (!var_make_array(in, name))
        return 1;
    for (size_t i = 0; i < count; i++)
        if (!array_put(in, name, (int64_t)i, fields[i]))
            return 1;
    return 0;
}

static int assign_names(Proc *p, Args *args, const ReadOptions *o, const Line *line, char **names, int count)
{
    Interp *in = interp_of(p);
    Slice text = filled(&line->text);
    if (!count)
        return var_set(in, SLICE("REPLY"), text, false) ? 0 : 1;
    if (o->exact) {
        for (int i = 0; i < count; i++)
            if (!var_set_ref(in, slice_str(names[i]), i ? slice("", 0) : text))
                return 1;
        return 0;
    }
    size_t found;
    Slice *fields = split_read(in, text, (const bool *)(const void *)filled(&line->escaped).data, (size_t)count, &found);
    for (int i = 0; i < count; i++) /* a bad name is found when its turn comes */
        if ((i && !valid_name(p, args, names[i])) || !var_set_ref(in, slice_str(names[i]), (size_t)i < found ? fields[i] : slice("", 0)))
            return 1;
    return 0;
}

/* Seconds with a fraction, as nanoseconds. */
static bool parse_timeout(const char *s, int64_t *ns)
{
    int64_t whole = 0, fraction = 0, scale = 100000000;
    if (!*s || !strpbrk(s, "0123456789"))
        return false;
    for (; *s >= '0' && *s <= '9'; s++)
        whole = MIN(whole * 10 + (*s - '0'), 1000000000);
    if (*s == '.')
        for (s++; *s >= '0' && *s <= '9'; s++, scale /= 10)
            fraction += (*s - '0') * scale;
    *ns = whole * 1000000000 + fraction;
    return *s == 0;
}

static bool bad_value(Proc *p, Args *args, const char *what)
{
    shell_fail(p, args, "%s: %s", args->value, what);
    return false;
}

static bool set_option(Proc *p, Args *args, ReadOptions *o, int c)
{
    int64_t n;
    switch (c) {
    case 'a': o->array = args->value; return true;
    case 'd': o->delimiter = *args->value; return true;
    case 'e': return true;
    case 'i': o->text = args->value; return true;
    case 'n':
    case 'N':
        if (!shell_number(args->value, &n) || n < 0)
            return bad_value(p, args, "invalid number");
        o->chars = n;
        o->exact = c == 'N';
        return true;
    case 'p': o->prompt = args->value; return true;
    case 'r': o->raw = true; return true;
    case 's': o->silent = true; return true;
    case 't': return parse_timeout(args->value, &o->timeout) || bad_value(p, args, "invalid timeout specification");
    default:
        if (!shell_number(args->value, &n) || n < 0 || n > 1 << 20)
            return bad_value(p, args, "invalid file descriptor specification");
        o->fd = (int)n;
        if (proc_fd_valid(p, o->fd))
            return true;
        return bad_value(p, args, "invalid file descriptor: Bad file descriptor");
    }
}

static int finish_read(Proc *p, Args *args, const ReadOptions *o, Line *line, char **names, int count)
{
    if (line->error < 0) {
        shell_fail(p, args, "read error: %d: %s", o->fd, error_text(line->error));
        return 1;
    }
    int status = o->array ? assign_array(p, o, line) : assign_names(p, args, o, line, names, count);
    if (status)
        return status;
    return line->timed_out ? 142 : line->ended ? 0 : 1;
}

static int read_main(Proc *p, Args *args)
{
    ReadOptions o = {.delimiter = '\n', .chars = -1, .timeout = -1};
    for (int c; (c = shell_option(p, args, "a:d:ei:n:N:p:rst:u:")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        if (!set_option(p, args, &o, c))
            return 1;
    }
    int count;
    char **names = shell_operands(args, &count);
    if (count && !valid_name(p, args, names[0]))
        return 1;
    if (o.array && !valid_name(p, args, o.array))
        return 1;
    if (o.timeout == 0)
        return proc_poll(p, o.fd, false, 0) == 1 ? 0 : 1;
    if (o.prompt && proc_isatty(p, o.fd)) {
        out_str(p->err, o.prompt);
        output_flush(p->err);
    }
    Line line = {0};
    read_line(p, &o, &line);
    return finish_read(p, args, &o, &line, names, count);
}

/* ---- mapfile ---- */

typedef struct MapOptions {
    int64_t count, origin, skip, quantum;
    bool trim, clear;
    const char *callback;
    int fd;
    char delimiter;
} MapOptions;

static bool set_map_option(Proc *p, Args *args, MapOptions *o, int c)
{
    int64_t n = 0;
    if (c == 't' || c == 'd' || c == 'C') {
        o->trim |= c == 't';
        if (c == 'd')
            o->delimiter = *args->value;
        if (c == 'C')
            o->callback = args->value;
        return true;
    }
    bool good = shell_number(args->value, &n) && n >= 0;
    if (c == 'u') {
        if (!good || n > 1 << 20)
            return bad_value(p, args, "invalid file descriptor specification");
        o->fd = (int)n;
        return proc_fd_valid(p, o->fd) || bad_value(p, args, "invalid file descriptor: Bad file descriptor");
    }
    if (!good || (c == 'c' && n == 0))
        return bad_value(p, args, c == 'O' ? "invalid array origin" : c == 'c' ? "invalid callback quantum" : "invalid line count");
    *(c == 'n' ? &o->count : c == 'O' ? &o->origin : c == 's' ? &o->skip : &o->quantum) = n;
    o->clear &= c != 'O';
    return true;
}

static void call_back(Proc *p, const MapOptions *o, int64_t index, Slice line)
{
    Buf text = shell_buf(p);
    buf_printf(&text, "%s %lld ", o->callback, (long long)index);
    quote_single(&text, line);
    run_text(interp_of(p), buf_slice(&text), NULL, current_line(interp_of(p)));
}

static int read_lines(Proc *p, const MapOptions *o, Slice name)
{
    Interp *in = interp_of(p);
    ReadOptions r = {.delimiter = o->delimiter, .chars = -1, .timeout = -1, .raw = true, .fd = o->fd};
    int64_t index = o->origin;
    for (int64_t number = 0, stored = 0; !o->count || stored < o->count; number++) {
        MemMark mark = mem_mark(&p->mem);
        Line line = {0};
        read_line(p, &r, &line);
        if (!line.ended && !line.text.len)
            break;
        if (number >= o->skip) {
            if (line.ended && !o->trim)
                buf_char(&line.text, o->delimiter);
            Slice text = filled(&line.text);
            if (o->delimiter == 0 && text.len && !text.data[text.len - 1])
                text.len--;
            stored++;
            if (o->callback && stored % o->quantum == 0)
                call_back(p, o, index, text);
            if (!array_put(in, name, index++, text))
                return 1;
        }
        bool ended = line.ended;
        mem_reset(&p->mem, mark);
        if (!ended)
            break;
    }
    return 0;
}

static int mapfile_main(Proc *p, Args *args)
{
    MapOptions o = {.quantum = 5000, .clear = true, .delimiter = '\n'};
    for (int c; (c = shell_option(p, args, "d:n:O:s:tu:C:c:")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        if (!set_map_option(p, args, &o, c))
            return 1;
    }
    int count;
    char **names = shell_operands(args, &count);
    const char *name = count ? names[0] : "MAPFILE";
    if (!name_valid(slice_str(name)))
        return *name ? shell_fail(p, args, "`%s': not a valid identifier", name) : shell_fail(p, args, "empty array variable name");
    const Var *old = var_find(interp_of(p), slice_str(name));
    if (old && old->value.kind == VALUE_ASSOC)
        return shell_fail(p, args, "%s: not an indexed array", name);
    if (o.clear || !old)
        if (!var_make_array(interp_of(p), slice_str(name)))
            return 1;
    return read_lines(p, &o, slice_str(name));
}

#define readarray_main mapfile_main
BUILTIN(read, "read", "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]",
        "Read a line from the standard input and split it into fields.", SHELL_FLAGS);
BUILTIN(mapfile, "mapfile", "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
        "Read lines from the standard input into an indexed array variable.", SHELL_FLAGS);
BUILTIN(readarray, "readarray", "readarray [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
        "Read lines from a file into an array variable.", SHELL_FLAGS);
