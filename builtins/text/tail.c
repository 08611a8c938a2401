/* tail: print the last part of files. GNU coreutils 9.1; -f follows only while something else in the shell can write. */
#include "command.h"

enum { OPT_RETRY = 256, OPT_PID, OPT_MAX };

static const Option options[] = {
    {'c', "bytes", OPT_VALUE, "output the last NUM bytes; or use -c +NUM to output starting with byte NUM of each file", "[+]NUM", 0},
    {'f', "follow", OPT_OPTIONAL, "output appended data as the file grows", "{name|descriptor}", 0},
    {'F', NULL, OPT_FLAG, "same as --follow=name --retry", NULL, 0},
    {'n', "lines", OPT_VALUE, "output the last NUM lines, instead of the last 10; or use -n +NUM to start with line NUM", "[+]NUM", 0},
    {0, "max-unchanged-stats", OPT_VALUE, NULL, "N", OPT_MAX},
    {0, "pid", OPT_VALUE, "with -f, terminate after process ID, PID dies", "PID", OPT_PID},
    {'q', "quiet", OPT_FLAG, "never output headers giving file names", NULL, 0},
    {0, "silent", OPT_FLAG, NULL, NULL, 'q'},
    {0, "retry", OPT_FLAG, "keep trying to open a file if it is inaccessible", NULL, OPT_RETRY},
    {'s', "sleep-interval", OPT_VALUE, "with -f, sleep for approximately N seconds (default 1.0) between iterations", "N", 0},
    {'v', "verbose", OPT_FLAG, "always output headers giving file names", NULL, 0},
    {'z', "zero-terminated", OPT_FLAG, "line delimiter is NUL, not newline", NULL, 0},
    OPTION_DIGITS,
    OPTIONS_END,
};

typedef struct {
    bool bytes, from_start, follow, retry;
    const char *pid;
    uint64_t count;
    char delimiter;
    enum { HEADERS_AUTO, HEADERS_NEVER, HEADERS_ALWAYS } headers;
    bool printed;
    double interval;
} Tail;

static void set_count(Proc *p, Tail *t, const char *text, bool bytes)
{
    t->bytes = bytes;
    t->from_start |= *text == '+'; /* and stays so, as in the original */
    const char *digits = text + (*text == '-');
    int err = parse_size(digits, "bkKmMGTPEZY0", &t->count);
    if (err == -EINVAL)
        die(p, 1, "invalid number of %s: %s", bytes ? "bytes" : "lines", quote(p, digits));
    if (err)
        die_errno(p, 1, EOVERFLOW, "invalid number of %s: %s", bytes ? "bytes" : "lines", quote(p, digits));
}

static void header(Proc *p, Tail *t, const Input *in)
{
    if (t->headers != HEADERS_ALWAYS)
        return;
    out_printf(p->out, "%s==> %s <==\n", t->printed ? "\n" : "", in->is_stdin ? "standard input" : in->name);
    t->printed = true;
}

static void skip_first(Proc *p, const Tail *t, Input *in)
{
    uint64_t left = t->count;
    for (Slice chunk; input_chunk(in, &chunk);) {
        size_t at = 0;
        if (t->bytes) {
            at = chunk.len > left ? (size_t)left : chunk.len;
            left -= at;
        } else {
            while (left && at < chunk.len) {
                at += slice_find(slice_from(chunk, at), t->delimiter);
                if (at < chunk.len)
                    at++, left--;
            }
        }
        out_chunk(p->out, slice_from(chunk, at), input_holder(in));
    }
}

/* Where the last `count` records begin; an unfinished last record counts as one. */
static size_t last_records(Slice all, char delimiter, uint64_t count)
{
    if (count == 0)
        return all.len;
    size_t at = all.len;
    if (at && all.data[at - 1] == delimiter)
        at--;
    for (;;) {
        const char *found = at ? memrchr(all.data, delimiter, at) : NULL;
        if (!found)
            return 0;
        at = (size_t)(found - all.data);
        if (--count == 0)
            return at + 1;
    }
}

static size_t start_of_tail(const Tail *t, Slice all)
{
    if (t->bytes)
        return all.len > t->count ? all.len - (size_t)t->count : 0;
    return last_records(all, t->delimiter, t->count);
}

enum { WINDOW = 1 << 20 };

/* A stream is kept in a window that is cut back to its tail whenever it has doubled, so memory stays flat. */
static void tail_stream(Proc *p, const Tail *t, Input *in)
{
    Mem *mem = proc_mem_new(p);
    Buf kept;
    size_t limit = WINDOW;
    buf_init(&kept, mem, BUF_MAX);
    for (Slice chunk; input_chunk(in, &chunk);) {
        buf_append(&kept, chunk);
        if (kept.len < limit)
            continue;
        size_t at = start_of_tail(t, buf_slice(&kept));
        memmove(kept.data, kept.data + at, kept.len - at);
        kept.len -= at;
        limit = MAX((size_t)WINDOW, kept.len * 2);
    }
    Slice all = kept.data ? buf_slice(&kept) : (Slice){"", 0};
    out_write(p->out, slice_from(all, start_of_tail(t, all)));
    proc_mem_drop(p, mem);
}

/* A regular file's tail is found from its end, block by block. */
static bool tail_seekable(Proc *p, const Tail *t, Input *in)
{
    int64_t begin = proc_seek(p, in->fd, 0, SEEK_CUR), end = begin < 0 ? -1 : proc_seek(p, in->fd, 0, SEEK_END);
    if (end < 0)
        return false;
    VStat st;
    if (proc_fstat(p, in->fd, &st) || (st.mode & 0170000) != 0100000)
        return proc_seek(p, in->fd, begin, SEEK_SET) < 0;
    if (t->bytes) {
        proc_seek(p, in->fd, MAX(begin, end - (int64_t)MIN(t->count, (uint64_t)INT64_MAX)), SEEK_SET);
        return true;
    }
    uint64_t left = t->count;
    int64_t at = end;
    char block[4096];
    for (bool first = true; at > begin && left; first = false) {
        int64_t from = MAX(begin, at - (int64_t)sizeof block);
        size_t want = (size_t)(at - from), got = 0;
        proc_seek(p, in->fd, from, SEEK_SET);
        for (ssize_t n; got < want && (n = proc_read(p, in->fd, block + got, want - got)) > 0;)
            got += (size_t)n;
        size_t i = got;
        if (first && i && block[i - 1] == t->delimiter)
            i--;
        while (i > 0) {
            const char *found = memrchr(block, t->delimiter, i);
            if (!found)
                break;
            i = (size_t)(found - block);
            if (--left == 0) {
                proc_seek(p, in->fd, from + (int64_t)i + 1, SEEK_SET);
                return true;
            }
        }
        at = from;
    }
    proc_seek(p, in->fd, left ? begin : end, SEEK_SET);
    return true;
}

static void copy_rest(Proc *p, Input *in)
{
    for (Slice chunk; input_chunk(in, &chunk);)
        out_chunk(p->out, chunk, input_holder(in));
}

static void tail_file(Proc *p, Tail *t, Input *in)
{
    header(p, t, in);
    if (t->count == 0 && !t->from_start)
        return;
    if (t->from_start)
        skip_first(p, t, in);
    else if (tail_seekable(p, t, in))
        copy_rest(p, in);
    else
        tail_stream(p, t, in);
}

/* Goes on reading what is appended, until the run ends. */
static void follow(Proc *p, const Tail *t, Input *in)
{
    for (;;) {
        Slice chunk;
        while (proc_read_chunk(p, in->fd, WINDOW, &chunk, NULL) > 0)
            out_write(p->out, chunk);
        output_flush(p->out);
        proc_sleep(p, (int64_t)(t->interval * 1e9));
    }
}

/* The old form stands first, with one file at most behind it. */
static bool may_be_old(const Args *args)
{
    char **v = args->argv;
    int n = args->argc;
    return n == 2 || (n == 3 && !(v[2][0] == '-' && v[2][1])) || (n >= 3 && n <= 4 && strcmp(v[2], "--") == 0);
}

/* `tail -5`, `tail +3`, `tail -5c`, `tail -3f`, `tail -b`: a number (10 without one), a unit, f. */
static void old_style(Proc *p, Tail *t, Args *args)
{
    if (!may_be_old(args))
        return;
    const char *text = args->argv[1];
    if (*text != '+' && (*text != '-' || !text[1] || strcmp(text, "-c") == 0))
        return;
    size_t digits = strspn(text + 1, "0123456789");
    const char *number = digits ? mem_printf(&p->keep, "%.*s", (int)digits, text + 1) : "10";
    const char *rest = text + 1 + digits;
    char unit = *rest && strchr("bcl", *rest) ? *rest++ : 'l';
    bool follows = *rest == 'f';
    if (rest[follows])
        return;
    t->follow |= follows;
    set_count(p, t, mem_printf(&p->keep, "%c%s%s", *text, number, unit == 'b' ? "b" : ""), unit != 'l');
    args->at = 2;
}

static void set_option(Proc *p, Tail *t, Args *args, int id)
{
    int64_t number;
    switch (id) {
    case 'c': case 'n': set_count(p, t, args->value, id == 'c'); break;
    case 'q': t->headers = HEADERS_NEVER; break;
    case 'v': t->headers = HEADERS_ALWAYS; break;
    case 'z': t->delimiter = 0; break;
    case 'f': case 'F': t->follow = true; break;
    case OPT_RETRY: t->retry = true; break;
    case 's':
        if (!parse_duration(args->value, &t->interval))
            die(p, 1, "invalid number of seconds: %s", quote(p, args->value));
        break;
    case OPT_PID:
        if (parse_int(args->value, &number) || number < 0 || number > INT32_MAX)
            die(p, 1, "invalid PID: %s", quote(p, args->value));
        t->pid = args->value;
        break;
    case OPT_MAX:
        if (parse_int(args->value, &number) || number < 0)
            die(p, 1, "invalid maximum number of unchanged stats between opens: %s", quote(p, args->value));
        break;
    default: die(p, 1, "option used in invalid context -- %c", id);
    }
}

static int tail_main(Proc *p, Args *args)
{
    Tail t = {.count = 10, .delimiter = '\n', .interval = 1};
    old_style(p, &t, args);
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(p, &t, args, id);
    if (t.from_start && t.count)
        t.count--;
    if (t.retry && !t.follow)
        warn(p, "warning: --retry ignored; --retry is useful only when following");
    if (t.pid && !t.follow)
        warn(p, "warning: PID ignored; --pid=PID is useful only when following");
    if (t.count == 0 && !t.from_start && !t.follow)
        return 0;
    Input in = input_first(p, args);
    in.open_format = "cannot open %s for reading";
    in.read_format = "error reading %s";
    in.quote_name = true;
    if (t.headers == HEADERS_AUTO && in.count > 1)
        t.headers = HEADERS_ALWAYS;
    for (; input_open(&in); input_next(&in)) {
        tail_file(p, &t, &in);
        if (t.follow && in.index == in.count - 1)
            follow(p, &t, &in);
    }
    return input_status(&in);
}

COMMAND(tail, "tail [OPTION]... [FILE]...", "Print the last 10 lines of each FILE to standard output.", options, COMMAND_PURE);
