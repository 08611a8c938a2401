/* head: print the first part of files. GNU coreutils 9.1, with the old -NUM form; what was read ahead is given back. */
#include "command.h"

static const Option options[] = {
    {'c', "bytes", OPT_VALUE, "print the first NUM bytes of each file; with a leading '-', all but the last NUM bytes", "[-]NUM", 0},
    {'n', "lines", OPT_VALUE, "print the first NUM lines instead of the first 10; with a leading '-', all but the last NUM lines", "[-]NUM", 0},
    {'q', "quiet", OPT_FLAG, "never print headers giving file names", NULL, 0},
    {0, "silent", OPT_FLAG, NULL, NULL, 'q'},
    {'v', "verbose", OPT_FLAG, "always print headers giving file names", NULL, 0},
    {'z', "zero-terminated", OPT_FLAG, "line delimiter is NUL, not newline", NULL, 0},
    OPTION_DIGITS,
    OPTIONS_END,
};

typedef struct {
    bool bytes, all_but;
    uint64_t count;
    char delimiter;
    enum { HEADERS_AUTO, HEADERS_NEVER, HEADERS_ALWAYS } headers;
    bool printed;
} Head;

static void set_count(Proc *p, Head *h, const char *text, bool bytes)
{
    h->bytes = bytes;
    h->all_but = *text == '-';
    const char *digits = text + (*text == '-');
    int err = parse_size(digits, "bkKmMGTPEZY0", &h->count);
    if (err == -EINVAL)
        die(p, 1, "invalid number of %s: %s", bytes ? "bytes" : "lines", quote(p, digits));
    if (err)
        die_errno(p, 1, EOVERFLOW, "invalid number of %s: %s", bytes ? "bytes" : "lines", quote(p, digits));
}

static void first_bytes(Proc *p, Input *in, uint64_t left)
{
    Slice chunk;
    while (left && input_chunk(in, &chunk)) {
        size_t n = chunk.len > left ? (size_t)left : chunk.len;
        out_chunk(p->out, (Slice){chunk.data, n}, input_holder(in));
        in->window = slice_from(chunk, n);
        left -= n;
    }
    input_give_back(in);
}

/* Length of the part of `chunk` that holds at most *left records. */
static size_t records_in(Slice chunk, char delimiter, uint64_t *left)
{
    size_t whole = slice_count(chunk, delimiter), at = 0;
    if (whole < *left) {
        *left -= whole;
        return chunk.len;
    }
    while (*left && at < chunk.len) {
        size_t n = slice_find(slice_from(chunk, at), delimiter);
        at += n;
        if (at == chunk.len)
            break;
        at++;
        --*left;
    }
    return at;
}

static void first_lines(Proc *p, Input *in, char delimiter, uint64_t left)
{
    Slice chunk;
    while (left && input_chunk(in, &chunk)) {
        size_t n = records_in(chunk, delimiter, &left);
        out_chunk(p->out, (Slice){chunk.data, n}, input_holder(in));
        in->window = slice_from(chunk, n);
    }
    input_give_back(in);
}

/* Offset that leaves `count` records behind it; an unfinished last record counts as one. */
static size_t before_last_records(Slice all, char delimiter, uint64_t count)
{
    if (count == 0)
        return all.len;
    size_t at = all.len;
    if (at && all.data[at - 1] == delimiter)
        at--;
    for (; count; count--) {
        const char *found = at ? memrchr(all.data, delimiter, at) : NULL;
        if (!found)
            return 0;
        at = (size_t)(found - all.data);
    }
    return at + 1;
}

static void all_but_last(Proc *p, const Head *h, Input *in)
{
    Buf read;
    buf_init(&read, &p->keep, BUF_MAX);
    for (Slice chunk; input_chunk(in, &chunk);)
        buf_append(&read, chunk);
    Slice all = read.data ? buf_slice(&read) : (Slice){"", 0};
    size_t n = all.len;
    if (h->bytes)
        all.len = all.len > h->count ? all.len - (size_t)h->count : 0;
    else
        all.len = before_last_records(all, h->delimiter, h->count);
    out_write(p->out, all);
    if (n > all.len) /* a file is left where the output ended; a pipe stays read */
        proc_seek(p, in->fd, -(int64_t)(n - all.len), SEEK_CUR);
}

static void head_file(Proc *p, Head *h, Input *in)
{
    if (h->headers == HEADERS_ALWAYS) {
        out_printf(p->out, "%s==> %s <==\n", h->printed ? "\n" : "", in->is_stdin ? "standard input" : in->name);
        h->printed = true;
    }
    if (h->all_but)
        all_but_last(p, h, in);
    else if (h->bytes)
        first_bytes(p, in, h->count);
    else
        first_lines(p, in, h->delimiter, h->count);
}

/* `head -5`, `head -5c`, `head -2qz`: digits first, then letters. */
static void old_style(Proc *p, Head *h, Args *args)
{
    char *text = args->argc > 1 ? args->argv[1] : NULL;
    if (!text || text[0] != '-' || text[1] < '0' || text[1] > '9')
        return;
    const char *s = text + 1;
    size_t digits = strspn(s, "0123456789");
    char *number = mem_printf(&p->keep, "%.*s", (int)digits, s);
    bool bytes = false;
    const char *unit = "";
    for (s += digits; *s; s++) {
        if (*s == 'c')
            bytes = true, unit = "";
        else if (*s == 'b' || *s == 'k' || *s == 'm')
            bytes = true, unit = *s == 'b' ? "b" : *s == 'k' ? "K" : "M";
        else if (*s == 'l')
            bytes = false;
        else if (*s == 'q')
            h->headers = HEADERS_NEVER;
        else if (*s == 'v')
            h->headers = HEADERS_ALWAYS;
        else if (*s == 'z')
            h->delimiter = 0;
        else {
            warn(p, "invalid trailing option -- %c", *s);
            usage_hint(p, args);
        }
    }
    set_count(p, h, mem_printf(&p->keep, "%s%s", number, unit), bytes);
    args->at = 2;
}

static int head_main(Proc *p, Args *args)
{
    Head h = {.count = 10, .delimiter = '\n'};
    old_style(p, &h, args);
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == 'c' || id == 'n')
            set_count(p, &h, args->value, id == 'c');
        else if (id == 'q')
            h.headers = HEADERS_NEVER;
        else if (id == 'v')
            h.headers = HEADERS_ALWAYS;
        else if (id == 'z')
            h.delimiter = 0;
        else if (id >= '0' && id <= '9') {
            warn(p, "invalid trailing option -- %c", id);
            usage_hint(p, args);
        }
    }
    Input in = input_first(p, args);
    in.most = 8192; /* the original's buffer: what it takes from a pipe and does not print is lost to the next reader */
    in.open_format = "cannot open %s for reading";
    in.read_format = "error reading %s";
    in.quote_name = true;
    if (h.headers == HEADERS_AUTO && in.count > 1)
        h.headers = HEADERS_ALWAYS;
    for (; input_open(&in); input_next(&in))
        head_file(p, &h, &in);
    return input_status(&in);
}

COMMAND(head, "head [OPTION]... [FILE]...", "Print the first 10 lines of each FILE to standard output.", options, COMMAND_PURE);
