/* codec: streams of zlib's raw deflate or the archive component, owned by the process; sources and sinks. */
#include <zlib.h>

#include "archive/archive.h"

/* --- deflate, in the component's shape --- */

typedef struct {
    z_stream z;
    const ComponentMem *mem;
    bool compress;
} Deflate;

static void *zlib_alloc(void *user, unsigned items, unsigned size)
{
    const ComponentMem *mem = user;
    size_t n;
    return size_mul(items, size, &n) ? mem->alloc(mem->user, n) : NULL;
}

static void zlib_free(void *user, void *block)
{
    const ComponentMem *mem = user;
    mem->free(mem->user, block);
}

static void *deflate_open(Codec codec, const CodecParams *params, const ComponentMem *mem)
{
    (void)codec;
    Deflate *d = mem->alloc(mem->user, sizeof *d);
    if (!d)
        return NULL;
    *d = (Deflate){.mem = mem, .compress = params->compress};
    d->z.zalloc = zlib_alloc;
    d->z.zfree = zlib_free;
    d->z.opaque = (void *)(uintptr_t)mem;
    int err = params->compress ? deflateInit2(&d->z, params->level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) : inflateInit2(&d->z, -15);
    if (err == Z_OK)
        return d;
    mem->free(mem->user, d);
    return NULL;
}

static int deflate_step(void *stream, CodecIo *io, bool finish)
{
    Deflate *d = stream;
    unsigned in = (unsigned)MIN(io->in_len, (size_t)1 << 30), out = (unsigned)MIN(io->out_len, (size_t)1 << 30);
    d->z.next_in = (unsigned char *)(uintptr_t)io->in;
    d->z.avail_in = in;
    d->z.next_out = io->out;
    d->z.avail_out = out;
    int err = d->compress ? deflate(&d->z, finish && in == io->in_len ? Z_FINISH : Z_NO_FLUSH) : inflate(&d->z, Z_NO_FLUSH);
    size_t eaten = in - d->z.avail_in, made = out - d->z.avail_out;
    *io = (CodecIo){io->in + eaten, io->in_len - eaten, io->out + made, io->out_len - made};
    if (err == Z_STREAM_END)
        return CODEC_END;
    if (err == Z_MEM_ERROR)
        return CODEC_EMEMORY;
    if (err != Z_OK && err != Z_BUF_ERROR)
        return CODEC_EDATA;
    return !d->compress && finish && !eaten && !made ? CODEC_ETRUNCATED : CODEC_OK;
}

static void deflate_close(void *stream)
{
    Deflate *d = stream;
    if (d->compress)
        deflateEnd(&d->z);
    else
        inflateEnd(&d->z);
    d->mem->free(d->mem->user, d);
}

static const ArchiveComponent deflate_table = {deflate_open, deflate_step, deflate_close};

/* --- streams --- */

struct CodecStream {
    const ArchiveComponent *table;
    void *stream;
};

static void release(Proc *p, void *thing)
{
    (void)p;
    CodecStream *s = thing;
    s->table->close(s->stream);
}

CodecStream *codec_open(Proc *p, Codec codec, const CodecParams *params)
{
    CodecStream *s = mem_new(&p->keep, CodecStream);
    s->table = codec == CODEC_DEFLATE ? &deflate_table : NEED_COMPONENT(p, "archive", ArchiveComponent);
    s->stream = s->table->open(codec, params, proc_component_mem(p));
    if (!s->stream)
        proc_raise(p, RAISE_MEMORY);
    proc_own(p, release, s);
    return s;
}

int codec_step(CodecStream *s, CodecIo *io, bool finish) { return s->table->step(s->stream, io, finish); }
void codec_close(Proc *p, CodecStream *s) { proc_disown(p, s); }

/* --- sources and sinks --- */

void sink_put(Sink *s, Slice data)
{
    s->count += data.len;
    if (s->fd < 0 || s->error)
        return;
    if (s->fd == 1) {
        out_write(s->p->out, data);
        return;
    }
    ssize_t n = proc_write(s->p, s->fd, data);
    if (n < 0)
        s->error = (int)n;
    else if ((size_t)n < data.len)
        s->error = -ENOSPC;
}

void source_init(Source *s, Proc *p, int fd) { *s = (Source){.p = p, .fd = fd}; }

bool source_fill(Source *s)
{
    if (s->window.len)
        return true;
    if (s->end || s->error)
        return false;
    ssize_t n = proc_read_chunk(s->p, s->fd, 1 << 18, &s->window, NULL);
    if (n > 0)
        return true;
    s->window = (Slice){"", 0};
    s->end = n == 0;
    s->error = n < 0 ? (int)n : 0;
    return false;
}

/* What is left of the window moves to a buffer of our own, for the chunk goes with the next read. */
size_t source_peek(Source *s, size_t n)
{
    if (!source_fill(s) || s->window.len >= n)
        return s->window.len;
    size_t have = s->window.len;
    if (s->held_cap < n) {
        char *grown = mem_alloc(&s->p->keep, n);
        memcpy(grown, s->window.data, have);
        s->held = grown;
        s->held_cap = n;
    } else {
        memmove(s->held, s->window.data, have);
    }
    while (have < n) {
        Slice more;
        ssize_t got = s->end || s->error ? 0 : proc_read_chunk(s->p, s->fd, n - have, &more, NULL);
        if (got <= 0) {
            s->end |= got == 0;
            s->error = got < 0 ? (int)got : s->error;
            break;
        }
        memcpy(s->held + have, more.data, more.len);
        have += more.len;
    }
    s->window = (Slice){s->held, have};
    return have;
}

void source_take(Source *s, size_t n)
{
    s->window = slice_from(s->window, n);
    s->taken += n;
}
