/* streams: descriptions that are neither files nor pipes: bytes in memory, captures, devices, a run's standard streams. */
#include <stdlib.h>

#include "lib/base/guard.h"
#include <sys/stat.h>

#include "internal.h"

enum { FIRST_CAPTURE = 256, SIGNAL_PIPE = 13 };

static int64_t seek_in(uint64_t now, uint64_t end, int64_t off, int whence)
{
    int64_t base = whence == 1 ? (int64_t)now : whence == 2 ? (int64_t)end : 0, to;
    if (whence < 0 || whence > 2 || __builtin_add_overflow(base, off, &to) || to < 0)
        return -EINVAL;
    return to;
}

/* ---------- bytes ---------- */

static ssize_t bytes_read(Proc *p, File *f, size_t max, Slice *out, Chunk **chunk)
{
    (void)p;
    size_t at = MIN((size_t)f->offset, f->bytes.data.len), n = MIN(max, f->bytes.data.len - at);
    *out = (Slice){n ? f->bytes.data.data + at : "", n};
    *chunk = f->bytes.chunk;
    f->offset = at + n;
    return (ssize_t)n;
}

static int64_t bytes_seek(Proc *p, File *f, int64_t off, int whence)
{
    (void)p;
    int64_t to = seek_in(f->offset, f->bytes.data.len, off, whence);
    if (to >= 0)
        f->offset = (uint64_t)to;
    return to;
}

static int offset_unread(Proc *p, File *f, size_t n)
{
    (void)p;
    f->offset -= n;
    return 0;
}

static int bytes_stat(Kernel *k, File *f, VStat *out)
{
    *out = (VStat){.mode = S_IFREG | 0600, .nlink = 0, .uid = k->cred.uid, .gid = k->cred.gid, .size = f->bytes.data.len, .dev = 0xe};
    return 0;
}

static void bytes_close(Kernel *k, File *f)
{
    chunk_unref(k->gen, f->bytes.chunk);
    free(f->bytes.owned);
}

static const FileOps bytes_ops = {.read = bytes_read, .seek = bytes_seek, .unread = offset_unread, .stat = bytes_stat, .close = bytes_close};

File *file_from_bytes(Kernel *k, Slice bytes, Chunk *chunk)
{
    char *copy = NULL;
    if (!chunk && bytes.len) {
        copy = malloc(bytes.len);
        if (!copy)
            return NULL;
        memcpy(copy, bytes.data, bytes.len);
        bytes.data = copy;
    }
    File *f = file_new(k, &bytes_ops, V_READ);
    if (!f) {
        free(copy);
        return NULL;
    }
    f->bytes.data = bytes;
    f->bytes.chunk = chunk ? obj_ref(k->gen, chunk) : NULL;
    f->bytes.owned = copy;
    return f;
}

/* ---------- captures ---------- */

static bool grow(Kernel *k, char **data, size_t *cap, size_t need)
{
    size_t to = *cap ? *cap : FIRST_CAPTURE;
    while (to < need)
        if (!size_add(to, to, &to))
            return false;
    if (!budget_take(&k->memory, to - *cap))
        return false;
    char *moved = realloc(*data, to);
    if (!moved) {
        budget_give(&k->memory, to - *cap);
        return false;
    }
    *data = moved;
    *cap = to;
    return true;
}

static ssize_t capture_write(Proc *p, File *f, Slice data, Chunk *chunk)
{
    (void)chunk;
    size_t need;
    if (!size_add(f->capture.len, data.len, &need) || !size_add(need, 1, &need))
        proc_limit(p, LIMIT_MEMORY);
    if (need > f->capture.cap && !grow(p->kernel, &f->capture.data, &f->capture.cap, need))
        proc_limit(p, LIMIT_MEMORY);
    if (data.len)
        memcpy(f->capture.data + f->capture.len, data.data, data.len);
    f->capture.len += data.len;
    return (ssize_t)data.len;
}

static int fifo_like_stat(Kernel *k, File *f, VStat *out)
{
    (void)f;
    *out = (VStat){.mode = S_IFIFO | 0600, .nlink = 1, .uid = k->cred.uid, .gid = k->cred.gid, .dev = 0xd, .ino = (uint64_t)((uintptr_t)f >> 4) & 0xffffff};
    return 0;
}

static void capture_close(Kernel *k, File *f)
{
    budget_give(&k->memory, f->capture.cap);
    free(f->capture.data);
}

static const FileOps capture_ops = {.write = capture_write, .stat = fifo_like_stat, .close = capture_close};

File *file_capture(Kernel *k, uint64_t max)
{
    File *f = file_new(k, &capture_ops, V_WRITE);
    if (f)
        f->capture.max = max;
    return f;
}

Slice file_captured(const File *f) { return (Slice){f->capture.len ? f->capture.data : "", f->capture.len}; }

/* ---------- devices ---------- */

static ssize_t device_read(Proc *p, File *f, size_t max, Slice *out, Chunk **chunk)
{
    *chunk = NULL;
    *out = (Slice){"", 0};
    if (f->device == VDEV_NULL)
        return 0;
    if (f->device == VDEV_TTY)
        return -ENXIO;
    bool fresh = !f->scratch;
    char *buf = file_scratch(f);
    if (!buf)
        return -ENOMEM;
    size_t n = MIN(max, (size_t)SCRATCH);
    if (f->device == VDEV_RANDOM)
        proc_random(p, buf, n);
    else if (fresh)
        memset(buf, 0, SCRATCH);
    *out = (Slice){buf, n};
    proc_tick(p, 1 + n / 256);
    return (ssize_t)n;
}

static ssize_t device_write(Proc *p, File *f, Slice data, Chunk *chunk)
{
    (void)chunk;
    if (f->device == VDEV_FULL)
        return -ENOSPC;
    proc_tick(p, 1);
    return (ssize_t)data.len;
}

static int64_t device_seek(Proc *p, File *f, int64_t off, int whence)
{
    (void)p;
    (void)f;
    (void)off;
    (void)whence;
    return 0;
}

static int device_stat(Kernel *k, File *f, VStat *out)
{
    (void)k;
    *out = (VStat){.mode = S_IFCHR | 0666, .nlink = 1, .rdev = (uint32_t)f->device, .dev = 5, .ino = (uint64_t)f->device};
    return 0;
}

static int nothing_unread(Proc *p, File *f, size_t n)
{
    (void)p;
    (void)f;
    (void)n;
    return 0;
}

static const FileOps device_ops = {.read = device_read, .write = device_write, .seek = device_seek, .unread = nothing_unread, .stat = device_stat};

File *file_device(Kernel *k, int device, int flags)
{
    File *f = file_new(k, &device_ops, flags);
    if (f)
        f->device = device;
    return f;
}

/* ---------- a run's standard input ---------- */

static ssize_t pull_input(Proc *p, File *f, size_t max, Slice *out)
{
    Kernel *k = p->kernel;
    if (f->offset < f->capture.len) { /* given back */
        size_t n = MIN(max, f->capture.len - (size_t)f->offset);
        *out = (Slice){f->capture.data + f->offset, n};
        f->offset += n;
        return (ssize_t)n;
    }
    while (!k->run.input_ended) {
        if (p->out->len) {
            output_flush(p->out); /* which may wait: the input is looked at again */
            continue;
        }
        k->run.input_wanted = true;
        task_block(p, &k->input_queue, -1);
        if (f->offset < f->capture.len)
            return pull_input(p, f, max, out);
    }
    *out = (Slice){"", 0};
    return 0;
}

static ssize_t input_read(Proc *p, File *f, size_t max, Slice *out, Chunk **chunk)
{
    Kernel *k = p->kernel;
    *chunk = NULL;
    *out = (Slice){"", 0};
    if (k->std[0] != f)
        return 0; /* kept from an earlier run */
    if (k->run.io.read_input)
        return pull_input(p, f, max, out);
    Slice in = k->run.io.input;
    size_t at = MIN((size_t)f->offset, in.len), n = MIN(max, in.len - at);
    *out = (Slice){n ? in.data + at : "", n};
    f->offset += n;
    return (ssize_t)n;
}

static bool input_ready(File *f, bool write)
{
    Kernel *k = f->kernel;
    return write || !k->run.io.read_input || f->offset < f->capture.len || k->run.input_ended;
}

static WaitQueue *input_wait_queue(File *f, bool write)
{
    (void)write;
    f->kernel->run.input_wanted = true;
    return &f->kernel->input_queue;
}

static void input_close(Kernel *k, File *f)
{
    (void)k;
    free(f->capture.data);
}

static const FileOps input_ops = {
    .read = input_read, .unread = offset_unread, .stat = fifo_like_stat, .ready = input_ready, .queue = input_wait_queue, .close = input_close,
};

File *file_run_input(Kernel *k) { return file_new(k, &input_ops, V_READ); }

/* Called by kern_step on the caller's stack when a process waits for input. True when something came. */
bool run_pull_input(Kernel *k)
{
    File *f = k->std[0];
    if (!k->run.input_wanted || !f || !k->run.io.read_input)
        return false;
    if (!f->capture.data && !(f->capture.data = malloc(SCRATCH)))
        return false;
    ssize_t n = k->run.io.read_input(k->run.io.user, f->capture.data, SCRATCH);
    if (n == -EAGAIN)
        return false;
    k->run.input_wanted = false;
    f->offset = 0;
    f->capture.len = n > 0 ? (size_t)n : 0;
    if (n <= 0)
        k->run.input_ended = true;
    queue_wake_all(&k->input_queue);
    return true;
}

/* ---------- a run's standard output and error ---------- */

static bool append(char **data, size_t *len, size_t *cap, Slice s)
{
    size_t need;
    if (!size_add(*len, s.len, &need) || !size_add(need, 1, &need))
        return false;
    if (need > *cap) {
        size_t to = *cap ? *cap : 256;
        while (to < need)
            if (!size_add(to, to, &to))
                return false;
        char *moved = realloc(*data, to);
        if (!moved)
            return false;
        *data = moved;
        *cap = to;
    }
    if (s.len)
        memcpy(*data + *len, s.data, s.len);
    *len += s.len;
    (*data)[*len] = 0;
    return true;
}

static bool sink_put(Sink *s, Slice data)
{
    const RunIo *io = &s->kernel->run.io;
    bool ok = true;
    if (io->on_output)
        ok = append(&s->pending, &s->pending_len, &s->pending_cap, data);
    if (!io->on_output || io->collect)
        ok = append(&s->data, &s->len, &s->cap, data) && ok;
    return ok;
}

bool sink_write(Sink *s, Slice data)
{
    uint64_t limit = s->kernel->run.limits.value[LIMIT_OUTPUT];
    bool cut = false;
    if (GUARD(RUN_OUTPUT, limit && data.len > limit - MIN(limit, s->total))) {
        data.len = (size_t)(limit - MIN(limit, s->total));
        s->truncated = cut = true;
    }
    s->total += data.len;
    return sink_put(s, data) && !cut;
}

void sink_message(Sink *s, const char *text) { sink_put(s, slice_str(text)); }

void sink_reset(Sink *s)
{
    s->len = s->pending_len = 0;
    s->total = 0;
    s->truncated = s->broken = s->stalled = false;
    if (s->cap > 4096) { /* an idle shell keeps little */
        free(s->data);
        s->data = NULL;
        s->cap = 0;
    }
    if (s->pending_cap > 4096) {
        free(s->pending);
        s->pending = NULL;
        s->pending_cap = 0;
    }
}

bool sink_deliver(Kernel *k, Sink *s)
{
    if (s->pending_len == 0)
        return true;
    if (s->stalled)
        return false;
    if (!s->broken) {
        int r = k->run.io.on_output(k->run.io.user, s->stream, (Slice){s->pending, s->pending_len});
        if (r == -EAGAIN) {
            s->stalled = true;
            return false;
        }
        if (r < 0)
            s->broken = true;
    }
    s->pending_len = 0;
    queue_wake_all(&s->room);
    return true;
}

enum { PENDING_MOST = 65536 };

static ssize_t sink_file_write(Proc *p, File *f, Slice data, Chunk *chunk)
{
    (void)chunk;
    Sink *s = f->sink;
    Kernel *k = p->kernel;
    if (!k->run.active)
        return -EIO;
    while (s->pending_len >= PENDING_MOST && !s->broken)
        if (task_block(p, &s->room, -1) == WAKE_SIGNAL && p->masked)
            return -EINTR;
    if (s->broken) {
        if (p->ignored & SIGNAL_BIT(SIGNAL_PIPE))
            return -EPIPE;
        p->signal = SIGNAL_PIPE;
        proc_raise(p, RAISE_SIGNAL);
    }
    if (!sink_write(s, data)) {
        run_end(k, RAISE_LIMIT, LIMIT_OUTPUT);
        if (p->masked)
            return -EIO;
        proc_limit(p, LIMIT_OUTPUT);
    }
    return (ssize_t)data.len;
}

static bool sink_ready(File *f, bool write) { return write && f->sink->pending_len < PENDING_MOST; }

static WaitQueue *sink_queue(File *f, bool write)
{
    (void)write;
    return &f->sink->room;
}

static const FileOps sink_ops = {.write = sink_file_write, .stat = fifo_like_stat, .ready = sink_ready, .queue = sink_queue};

File *file_run_output(Kernel *k, int stream)
{
    File *f = file_new(k, &sink_ops, V_WRITE);
    if (f)
        f->sink = &k->sink[stream - 1];
    return f;
}
