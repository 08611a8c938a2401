/* pipe: 65,536 bytes in segments that refer to chunks, and FIFOs, which are pipes that an inode names.
 *
 * A large write that comes with its chunk is passed by reference; small writes are gathered in a chunk of the pipe's own at the tail.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "internal.h"
#include "lib/base/guard.h"

enum { CAPACITY = 65536, SEGMENTS = 64, OWN_CHUNK = 16384, SIGNAL_PIPE = 13 };

typedef struct Segment {
    Chunk *chunk;
    const char *data;
    size_t len;
    bool own; /* a chunk of the pipe's, with room behind data + len */
} Segment;

struct Pipe {
    uint32_t refs; /* ends and the FIFO table */
    uint32_t readers, writers;
    size_t bytes;
    unsigned first, count;
    WaitQueue can_read, can_write, opened;
    Segment segment[SEGMENTS];
};

static Segment *segment_at(Pipe *pipe, unsigned i) { return &pipe->segment[(pipe->first + i) % SEGMENTS]; }

static void pipe_unref(Kernel *k, Pipe *pipe)
{
    if (--pipe->refs)
        return;
    for (unsigned i = 0; i < pipe->count; i++)
        chunk_unref(k->gen, segment_at(pipe, i)->chunk);
    free(pipe);
}

/* ---------- reading ---------- */

static void take_first(Kernel *k, File *f, Pipe *pipe, size_t n)
{
    Segment *s = segment_at(pipe, 0);
    s->data += n;
    s->len -= n;
    pipe->bytes -= n;
    f->read_end = s->data;
    file_release_held(f);
    if (s->len) {
        f->held = obj_ref(k->gen, s->chunk);
        return;
    }
    f->held = s->chunk; /* the slice lies in it until the next read */
    pipe->first = (pipe->first + 1) % SEGMENTS;
    pipe->count--;
}

static ssize_t pipe_read(Proc *p, File *f, size_t max, Slice *out, Chunk **chunk)
{
    Pipe *pipe = f->end.pipe;
    while (pipe->bytes == 0) {
        if (pipe->writers == 0) {
            *out = (Slice){"", 0};
            return 0;
        }
        if (p->out->len)
            output_flush(p->out); /* which may wait: the pipe is looked at again */
        else
            task_block(p, &pipe->can_read, -1);
    }
    Segment *s = segment_at(pipe, 0);
    size_t n = MIN(max, s->len);
    *out = (Slice){s->data, n};
    *chunk = s->chunk;
    take_first(p->kernel, f, pipe, n);
    queue_wake_all(&pipe->can_write);
    return (ssize_t)n;
}

/* The last n bytes read still lie in the chunk that the description holds. */
static int pipe_unread(Proc *p, File *f, size_t n)
{
    Pipe *pipe = f->end.pipe;
    if (n == 0)
        return 0;
    Segment *s = pipe->count ? segment_at(pipe, 0) : NULL;
    if (s && s->chunk == f->held && s->data == f->read_end) {
        s->data -= n;
        s->len += n;
    } else {
        if (pipe->count == SEGMENTS || !f->held)
            return -ENOBUFS;
        pipe->first = (pipe->first + SEGMENTS - 1) % SEGMENTS;
        pipe->count++;
        *segment_at(pipe, 0) = (Segment){obj_ref(p->kernel->gen, f->held), f->read_end - n, n, false};
    }
    f->read_end -= n;
    pipe->bytes += n;
    queue_wake_all(&pipe->can_read);
    return 0;
}

/* ---------- writing ---------- */

static void no_reader(Proc *p)
{
    uint64_t bit = SIGNAL_BIT(SIGNAL_PIPE);
    if (p->ignored & bit)
        return;
    if ((p->caught | p->collected) & bit) {
        p->pending |= bit;
        return;
    }
    p->signal = SIGNAL_PIPE;
    proc_raise(p, RAISE_SIGNAL);
}

static void append_segment(Pipe *pipe, Segment s)
{
    *segment_at(pipe, pipe->count++) = s;
    pipe->bytes += s.len;
}

static size_t own_room(const Segment *s)
{
    return s->own ? (size_t)(s->chunk->data + s->chunk->cap - (s->data + s->len)) : 0;
}

/* Copies up to n bytes into the tail; how many, or -ENOMEM. */
static ssize_t gather(Kernel *k, Pipe *pipe, const char *data, size_t n)
{
    Segment *tail = pipe->count ? segment_at(pipe, pipe->count - 1) : NULL;
    size_t room = tail ? own_room(tail) : 0;
    if (room == 0) {
        if (pipe->count == SEGMENTS)
            return 0;
        Chunk *c = chunk_new(k->gen, MAX(MIN(n, (size_t)CAPACITY), (size_t)OWN_CHUNK));
        if (!c)
            return -ENOMEM;
        append_segment(pipe, (Segment){c, c->data, 0, true});
        tail = segment_at(pipe, pipe->count - 1);
        room = c->cap;
    }
    n = MIN(n, room);
    memcpy((char *)tail->data + tail->len, data, n);
    tail->len += n;
    pipe->bytes += n;
    return (ssize_t)n;
}

static ssize_t put_some(Kernel *k, Pipe *pipe, Slice data, Chunk *chunk)
{
    size_t n = GUARD(PIPE_CEILING, true) ? MIN(data.len, CAPACITY - MIN(pipe->bytes, (size_t)CAPACITY)) : data.len;
    if (n == 0)
        return 0;
    if (!chunk || n < CHUNK_COPY_BELOW)
        return gather(k, pipe, data.data, n);
    if (pipe->count == SEGMENTS)
        return 0;
    append_segment(pipe, (Segment){obj_ref(k->gen, chunk), data.data, n, false});
    return (ssize_t)n;
}

static ssize_t pipe_write(Proc *p, File *f, Slice data, Chunk *chunk)
{
    Pipe *pipe = f->end.pipe;
    for (size_t done = 0; done < data.len;) {
        if (pipe->readers == 0) {
            no_reader(p);
            return -EPIPE;
        }
        ssize_t n = put_some(p->kernel, pipe, slice_from(data, done), chunk);
        if (n < 0)
            return n;
        done += (size_t)n;
        if (n > 0)
            queue_wake_all(&pipe->can_read);
        else if (task_block(p, &pipe->can_write, -1) == WAKE_SIGNAL && p->masked)
            return -EINTR;
    }
    return (ssize_t)data.len;
}

/* ---------- the description ---------- */

static void pipe_close(Kernel *k, File *f)
{
    Pipe *pipe = f->end.pipe;
    if (f->end.writer && --pipe->writers == 0)
        queue_wake_all(&pipe->can_read);
    else if (!f->end.writer && --pipe->readers == 0)
        queue_wake_all(&pipe->can_write);
    pipe_unref(k, pipe);
}

static int pipe_stat(Kernel *k, File *f, VStat *out)
{
    *out = (VStat){.mode = S_IFIFO | 0600, .nlink = 1, .uid = k->cred.uid, .gid = k->cred.gid, .dev = 0xd,
                   .ino = (uint64_t)((uintptr_t)f->end.pipe >> 4) & 0xffffff};
    return 0;
}

static bool pipe_ready(File *f, bool write)
{
    const Pipe *pipe = f->end.pipe;
    return write ? pipe->bytes < CAPACITY || pipe->readers == 0 : pipe->bytes > 0 || pipe->writers == 0;
}

static WaitQueue *pipe_queue(File *f, bool write) { return write ? &f->end.pipe->can_write : &f->end.pipe->can_read; }

static const FileOps pipe_ops = {
    .read = pipe_read, .write = pipe_write, .unread = pipe_unread, .stat = pipe_stat, .ready = pipe_ready, .queue = pipe_queue,
    .close = pipe_close,
};

static File *pipe_end(Kernel *k, Pipe *pipe, bool writer)
{
    File *f = file_new(k, &pipe_ops, writer ? V_WRITE : V_READ);
    if (!f)
        return NULL;
    f->end.pipe = pipe;
    f->end.writer = writer;
    pipe->refs++;
    if (writer)
        pipe->writers++;
    else
        pipe->readers++;
    return f;
}

static Pipe *pipe_alloc(void)
{
    Pipe *pipe = calloc(1, sizeof *pipe);
    if (pipe)
        pipe->refs = 1;
    return pipe;
}

int pipe_new(Kernel *k, File *ends[2])
{
    Pipe *pipe = pipe_alloc();
    if (!pipe)
        return -ENOMEM;
    ends[0] = pipe_end(k, pipe, false);
    ends[1] = ends[0] ? pipe_end(k, pipe, true) : NULL;
    if (!ends[1])
        file_unref(k, ends[0]);
    pipe_unref(k, pipe);
    return ends[1] ? 0 : -ENOMEM;
}

/* ---------- FIFOs ---------- */

static FifoNode **fifo_link(Kernel *k, const VStat *st)
{
    FifoNode **link = &k->fifos;
    while (*link && ((*link)->ino != st->ino || (*link)->dev != st->dev))
        link = &(*link)->next;
    return link;
}

static void fifo_forget(Kernel *k, const Pipe *pipe)
{
    for (FifoNode **link = &k->fifos; *link; link = &(*link)->next)
        if ((*link)->pipe == pipe) {
            FifoNode *n = *link;
            *link = n->next;
            pipe_unref(k, n->pipe);
            free(n);
            return;
        }
}

static Pipe *fifo_of(Kernel *k, const VStat *st)
{
    FifoNode **link = fifo_link(k, st);
    if (*link)
        return (*link)->pipe;
    FifoNode *n = malloc(sizeof *n);
    Pipe *pipe = n ? pipe_alloc() : NULL;
    if (!pipe) {
        free(n);
        return NULL;
    }
    *n = (FifoNode){NULL, st->ino, st->dev, pipe};
    *link = n;
    return pipe;
}

/* A FIFO without any end open keeps no data, as on Linux. */
static void fifo_close(Kernel *k, File *f)
{
    Pipe *pipe = f->end.pipe;
    pipe->refs++;
    bool both = (f->flags & V_READ) && (f->flags & V_WRITE);
    if (both && --pipe->readers == 0)
        queue_wake_all(&pipe->can_write);
    pipe_close(k, f);
    if (pipe->readers == 0 && pipe->writers == 0)
        fifo_forget(k, pipe);
    pipe_unref(k, pipe);
}

static const FileOps fifo_ops = {
    .read = pipe_read, .write = pipe_write, .unread = pipe_unread, .stat = pipe_stat, .ready = pipe_ready, .queue = pipe_queue,
    .close = fifo_close,
};

int fifo_open(Proc *p, const VStat *st, int flags, File **out)
{
    Kernel *k = p->kernel;
    Pipe *pipe = fifo_of(k, st);
    if (!pipe)
        return -ENOMEM;
    bool both = (flags & V_READ) && (flags & V_WRITE), writer = (flags & V_WRITE) != 0;
    if (writer && !both && (flags & V_NONBLOCK) && pipe->readers == 0)
        return -ENXIO;
    File *f = pipe_end(k, pipe, writer);
    if (!f)
        return -ENOMEM;
    f->ops = &fifo_ops;
    f->flags = flags;
    if (both)
        pipe->readers++;
    queue_wake_all(&pipe->opened);
    *out = f;
    if (both || (flags & V_NONBLOCK))
        return 0;
    /* Waits for the other end; if this raises, the process's descriptors do not hold f yet, so it is owned meanwhile. */
    file_own(p, f);
    while (writer ? pipe->readers == 0 : pipe->writers == 0 && pipe->bytes == 0)
        task_block(p, &pipe->opened, -1);
    file_disown(p, f);
    return 0;
}

void fifo_drop_all(Kernel *k)
{
    while (k->fifos) {
        FifoNode *n = k->fifos;
        k->fifos = n->next;
        pipe_unref(k, n->pipe);
        free(n);
    }
}
