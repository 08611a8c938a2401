/* inputs: the values jq reads, from files in turn. */
#include <stdio.h>

#include "inputs.h"

enum { CHUNK_MOST = 1 << 24 };

void jq_inputs_flush(Inputs *in)
{
    if (in->out)
        jsink_done(in->out);
}

static void could_not_open(Inputs *in, const char *name, int error)
{
    Proc *p = in->j->proc;
    jq_inputs_flush(in);
    output_flush(p->out);
    in->failures++;
    out_printf(p->err, "jq: error: Could not open file %s: %s\n", name, error_text(error));
    output_flush(p->err);
}

/* Lines are counted from the beginning of each file. */
static void begin_lines(Inputs *in)
{
    const Reader *r = &in->reader;
    in->lines = 0;
    in->before = r->line - 1;
    for (const char *at = r->counted; at < r->end; at++)
        in->before += *at == '\n';
}

/* The next file that opens; false: there is none. */
static bool open_next(Inputs *in)
{
    Proc *p = in->j->proc;
    if (in->count == 0 && in->index == 0) {
        in->index = 1;
        in->fd = 0;
        in->current = "<stdin>";
        return true;
    }
    while (in->index < in->count) {
        const char *name = in->names[in->index++];
        bool dash = strcmp(name, "-") == 0;
        VStat st;
        in->fd = dash ? 0 : proc_open(p, name, V_READ, 0);
        in->current = dash ? "<stdin>" : name;
        begin_lines(in);
        if (in->fd >= 0 && !dash && proc_fstat(p, in->fd, &st) == 0 && (st.mode & 0170000) == 0040000) {
            proc_close(p, in->fd);
            in->fd = -EISDIR;
            could_not_open(in, name, -EISDIR);
            continue;
        }
        if (in->fd >= 0)
            return true;
        could_not_open(in, name, in->fd);
    }
    in->fd = -1;
    return false;
}

static bool refill(void *user, Slice *more)
{
    Inputs *in = user;
    Proc *p = in->j->proc;
    for (;;) {
        if (in->fd < 0 && (in->eof || !open_next(in))) {
            in->eof = true;
            return false;
        }
        jq_inputs_flush(in);
        ssize_t n = proc_read_chunk(p, in->fd, CHUNK_MOST, more, NULL);
        if (n > 0)
            return true;
        if (n < 0) {
            in->failures++;
            out_printf(p->err, "jq: error: Input error: %s: %s\n", in->current, error_text((int)n));
            output_flush(p->err);
        }
        if (in->fd > 0)
            proc_close(p, in->fd);
        in->fd = -1;
    }
}

/* ---------- -R ---------- */

static bool next_line(Inputs *in, Val *out)
{
    J *j = in->j;
    buf_clear(&in->line);
    for (;;) {
        if (in->window.len == 0 && !refill(in, &in->window)) {
            in->window.len = 0;
            if (in->line.len == 0)
                return false;
            *out = val_string_utf8(j, buf_slice(&in->line));
            return true;
        }
        size_t n = slice_find(in->window, '\n');
        bool ended = n < in->window.len;
        Slice part = {in->window.data, n};
        in->window = slice_from(in->window, n + ended);
        if (ended && in->line.len == 0) {
            in->lines++;
            *out = val_string_utf8(j, part);
            return true;
        }
        buf_append(&in->line, part);
        if (ended) {
            in->lines++;
            *out = val_string_utf8(j, buf_slice(&in->line));
            return true;
        }
    }
}

static Val whole_text(Inputs *in)
{
    Slice more;
    Buf all;
    buf_init(&all, &in->j->proc->keep, JQ_MAX_BYTES);
    while (refill(in, &more)) {
        for (size_t i = 0; i < more.len; i++)
            in->lines += more.data[i] == '\n';
        buf_append(&all, more);
    }
    return val_string_utf8(in->j, buf_slice(&all));
}

/* ---------- values ---------- */

static ReadState one(Inputs *in, Val *out)
{
    if (in->raw)
        return next_line(in, out) ? READ_VALUE : READ_END;
    if (!in->started) {
        in->started = true;
        in->reader.refill = refill;
        in->reader.user = in;
    }
    return jq_reader_next(&in->reader, out);
}

ReadState jq_inputs_next(Inputs *in, Val *out)
{
    if (!in->slurp)
        return one(in, out);
    if (in->slurped)
        return READ_END;
    in->slurped = true;
    if (in->raw) {
        *out = whole_text(in);
        return READ_VALUE;
    }
    Val all = arr_new(in->j, 0);
    ReadState state;
    for (Val v; (state = one(in, &v)) == READ_VALUE;)
        all = arr_push(in->j, all, v);
    if (state == READ_ERROR) {
        val_free(in->j, all);
        return state;
    }
    *out = all;
    return READ_VALUE;
}

bool jq_inputs_last(const Inputs *in)
{
    const Reader *r = &in->reader;
    VStat st;
    if (in->slurp || in->raw || r->stream || in->fd < 0 || in->index < in->count)
        return false;
    for (const char *at = r->at; at < r->end; at++)
        if (*at != '\n' && *at != ' ')
            return false;
    return proc_fstat(in->j->proc, in->fd, &st) == 0 && (st.mode & 0170000) == 0100000 && proc_seek(in->j->proc, in->fd, 0, SEEK_CUR) == (int64_t)st.size;
}

uint64_t jq_inputs_lines(Inputs *in)
{
    if (in->raw || !in->started)
        return in->lines;
    uint64_t lines = jq_reader_lines(&in->reader);
    return lines > in->before ? lines - in->before : 0;
}
