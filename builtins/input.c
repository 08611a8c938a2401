/* input: the files named by operands, as chunks and as records. */
#include "command.h"

Input input_files(Proc *p, char **names, int count)
{
    static char dash[] = "-";
    Input in = {.proc = p, .names = names, .count = count, .fd = -1, .delimiter = '\n', .open_format = "%s", .read_format = "%s", .named = count > 0};
    if (count == 0) {
        in.names = mem_array(&p->keep, 1, char *);
        in.names[0] = dash;
        in.count = 1;
    }
    buf_init(&in.carry, &p->keep, BUF_MAX);
    return in;
}

Input input_first(Proc *p, Args *args)
{
    int count;
    char **names = args_operands(args, &count);
    return input_files(p, names, count);
}

Input input_fd(Proc *p, int fd, const char *name)
{
    Input in = input_files(p, NULL, 0);
    in.name = name;
    in.fd = fd;
    in.started = true;
    return in;
}

static void begin(Input *in)
{
    in->window = (Slice){"", 0};
    in->chunk = NULL;
    in->at_end = false;
    in->started = true;
    buf_clear(&in->carry);
}

static void complain(Input *in, const char *format, const char *shown, int err)
{
    Proc *p = in->proc;
    const char *mark = strstr(format, "%s");
    char *text = mem_printf(&p->mem, "%.*s%s%s", (int)(mark - format), format, shown, mark + 2);
    warn_errno(p, err, "%s", text);
    in->status = 1;
}

bool input_open(Input *in)
{
    for (; in->index < in->count; in->index++) {
        if (in->started)
            return true;
        in->name = in->names[in->index];
        in->is_stdin = strcmp(in->name, "-") == 0 && !(in->no_dash && in->named);
        in->fd = in->is_stdin ? 0 : proc_open(in->proc, in->name, V_READ, 0);
        if (in->fd >= 0) {
            begin(in);
            return true;
        }
        complain(in, in->open_format, in->quote_name ? quoteaf(in->proc, in->name) : quotef(in->proc, in->name), in->fd);
    }
    return false;
}

void input_next(Input *in)
{
    if (in->started && !in->is_stdin && in->fd > 0)
        proc_close(in->proc, in->fd);
    in->started = false;
    in->fd = -1;
    in->index++;
}

int input_status(const Input *in) { return in->status; }

enum { CHUNK_MOST = 1 << 20 };

static bool refill(Input *in)
{
    if (in->at_end)
        return false;
    ssize_t n = proc_read_chunk(in->proc, in->fd, in->most ? in->most : CHUNK_MOST, &in->window, &in->chunk);
    if (n > 0)
        return true;
    in->at_end = true;
    in->window = (Slice){"", 0};
    if (n < 0 && !in->read_format) {
        warn(in->proc, "%s: read error", quotef(in->proc, in->name));
        in->status = 1;
    } else if (n < 0)
        complain(in, in->read_format, in->read_format[0] == '%' ? quotef(in->proc, in->name) : quoteaf(in->proc, in->name), (int)n);
    return false;
}

bool input_chunk(Input *in, Slice *chunk)
{
    if (in->window.len == 0 && !refill(in))
        return false;
    *chunk = in->window;
    in->window = (Slice){"", 0};
    return true;
}

/* The record continues in the next chunk: what there is of it is carried over, for the chunk goes with the next read. */
static bool carry_record(Input *in, Slice *record, bool *ended)
{
    buf_clear(&in->carry);
    for (;;) {
        buf_append(&in->carry, in->window);
        in->window = (Slice){"", 0};
        if (!refill(in)) {
            *record = buf_slice(&in->carry);
            *ended = false;
            return record->len > 0;
        }
        size_t n = slice_find(in->window, in->delimiter);
        if (n < in->window.len) {
            buf_append(&in->carry, (Slice){in->window.data, n});
            in->window = slice_from(in->window, n + 1);
            *record = buf_slice(&in->carry);
            *ended = true;
            return true;
        }
    }
}

bool input_record(Input *in, Slice *record, bool *ended)
{
    if (in->window.len == 0 && !refill(in))
        return false;
    size_t n = slice_find(in->window, in->delimiter);
    if (n == in->window.len)
        return carry_record(in, record, ended);
    *record = (Slice){in->window.data, n};
    in->window = slice_from(in->window, n + 1);
    *ended = true;
    return true;
}

Slice input_pass(Input *in, const Re *re)
{
    size_t at = re_needle_find(re, in->window);
    const char *before = at ? memrchr(in->window.data, in->delimiter, MIN(at, in->window.len)) : NULL;
    Slice passed = slice(in->window.data, before ? (size_t)(before + 1 - in->window.data) : 0);
    in->window = slice_from(in->window, passed.len);
    return passed;
}

void input_give_back(Input *in)
{
    if (in->window.len && proc_seek(in->proc, in->fd, 0, SEEK_CUR) >= 0) /* what was taken from a pipe is gone, as with the originals */
        proc_unread(in->proc, in->fd, in->window.len);
    in->window = (Slice){"", 0};
}

Slice read_all(Proc *p, int fd)
{
    Buf all;
    Slice chunk;
    buf_init(&all, &p->keep, BUF_MAX);
    while (proc_read_chunk(p, fd, CHUNK_MOST, &chunk, NULL) > 0)
        buf_append(&all, chunk);
    return all.data ? buf_slice(&all) : (Slice){"", 0};
}

int read_file(Proc *p, const char *path, Slice *out)
{
    int fd = proc_open(p, path, V_READ, 0);
    if (fd < 0)
        return fd;
    VStat st;
    int err = proc_fstat(p, fd, &st);
    if (!err && (st.mode & 0170000) == 0040000)
        err = -EISDIR;
    if (!err)
        *out = read_all(p, fd);
    proc_close(p, fd);
    return err;
}
