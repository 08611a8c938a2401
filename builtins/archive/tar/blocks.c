/* blocks: an archive as a stream of 512-byte blocks, in records. */
#include "archive/tar/tar.h"

static void checkpoint(Tar *t, uint64_t bytes, const char *verb)
{
    uint64_t records = bytes / ((uint64_t)t->blocking * BLOCK);
    for (; t->checkpoint && t->records < records;) {
        t->records++;
        if (t->records % t->checkpoint)
            continue;
        output_flush(t->p->out);
        if (t->checkpoint_dot)
            out_char(t->p->out, '.');
        else if (t->checkpoint_echo)
            out_printf(t->p->err, "tar: %s\n", t->checkpoint_echo);
        else
            out_printf(t->p->err, "tar: %s checkpoint %llu\n", verb, (unsigned long long)t->records);
        output_flush(t->p->err);
    }
}

/* --- reading --- */

void in_open(TarIn *in, Tar *t, int fd)
{
    Packing packing = t->packing;
    *in = (TarIn){.t = t, .fd = fd};
    if (!t->packing_given) { /* told by the bytes where one can go back to them */
        Source probe;
        bool seekable = proc_seek(t->p, fd, 0, SEEK_CUR) >= 0;
        source_init(&probe, t->p, fd);
        size_t n = source_peek(&probe, 6);
        packing = packing_of_bytes((Slice){probe.window.data, MIN(n, (size_t)6)});
        if (packing == PACK_LZIP || packing == PACK_LZOP) {
            t->missing_program = packing == PACK_LZIP ? "lzip" : "lzop";
            if (!t->archive_is_stdin)
                tar_cannot_start(t, false);
        }
        if (packing == PACK_COMPRESS)
            tar_fatal(t, "Archive is compressed. Use %s option", "-Z");
        if (t->archive_is_stdin && packing != PACK_NONE) {
            static const char *const options[] = {"", "-z", "-j", "-J", "--lzma", "--zstd", "-Z", "--lzip", "--lzop"};
            tar_fatal(t, "Archive is compressed. Use %s option", options[packing]);
        }
        if (seekable) {
            proc_seek(t->p, fd, -(int64_t)probe.window.len, SEEK_CUR);
        } else {
            in->unpacker = unpacker_new(t->p, PACK_NONE, fd);
            *unpacker_source(in->unpacker) = probe;
            return;
        }
    }
    in->unpacker = unpacker_new(t->p, packing, fd);
    t->packing = packing;
}

static void child_failed(TarIn *in)
{
    Tar *t = in->t;
    output_flush(t->list);
    output_flush(t->p->out);
    if (t->packing == PACK_NONE)
        tar_fatal(t, "%s: Cannot read: %s", t->archive, unpacker_message(in->unpacker));
    out_printf(t->p->err, "%s\n", unpacker_message(in->unpacker));
    output_flush(t->p->err);
    in->child_status = t->packing == PACK_BZIP2 ? 2 : 1; /* to the reader it is the end of the archive, and told at its own end */
}

static bool more(TarIn *in)
{
    while (!in->window.len && !in->end) {
        int r = unpacker_read(in->unpacker, &in->window);
        if (r < 0)
            child_failed(in);
        in->end = r <= 0;
    }
    return in->window.len > 0;
}

static void take(TarIn *in, size_t n) { in->window = slice_from(in->window, n); }

bool in_block(TarIn *in)
{
    size_t have = 0;
    while (have < BLOCK && more(in)) {
        size_t n = MIN(BLOCK - have, in->window.len);
        memcpy(in->block + have, in->window.data, n);
        take(in, n);
        have += n;
    }
    if (have == BLOCK) {
        in->blocks++;
        if (in->t->mode == 'x')
            checkpoint(in->t, in->blocks * BLOCK, "Read");
        return true;
    }
    if (have && in->seen_header)
        tar_fatal(in->t, "Unexpected EOF in archive");
    return false;
}

/* The rest of the block behind the data goes with its last byte. */
static void settle(TarIn *in, Member *m)
{
    size_t pad = (size_t)((BLOCK - m->size % BLOCK) % BLOCK);
    in->blocks += m->size / BLOCK + (pad != 0);
    while (pad && more(in)) {
        size_t n = MIN(pad, in->window.len);
        take(in, n);
        pad -= n;
    }
    if (in->t->mode == 'x')
        checkpoint(in->t, in->blocks * BLOCK, "Read");
}

bool in_data(TarIn *in, Member *m, Slice *out)
{
    if (m->left == 0)
        return false;
    if (!more(in))
        tar_fatal(in->t, "Unexpected EOF in archive");
    size_t n = (size_t)MIN(m->left, (uint64_t)in->window.len);
    *out = (Slice){in->window.data, n};
    m->left -= n;
    take(in, n);
    if (m->left == 0) { /* padding is read at once; the slice stays valid while it lies in the same window */
        size_t pad = (size_t)((BLOCK - m->size % BLOCK) % BLOCK);
        if (pad <= in->window.len) {
            settle(in, m);
        } else {
            char *copy = mem_alloc(&in->t->p->mem, n);
            memcpy(copy, out->data, n);
            *out = (Slice){copy, n};
            settle(in, m);
        }
    }
    proc_tick(in->t->p, 1 + n / 256);
    return true;
}

void in_skip(TarIn *in, Member *m)
{
    Slice unused;
    while (in_data(in, m, &unused)) {
    }
}

/* --- writing --- */

enum { BUFFER = 1 << 16 };

void out_open(TarOut *o, Tar *t, int fd)
{
    *o = (TarOut){.t = t, .sink = {.p = t->p, .fd = fd}};
    o->buffer = mem_alloc(&t->p->keep, BUFFER);
    o->packer = packer_new(t->p, t->packing, t->level, &o->sink);
}

static void flush(TarOut *o)
{
    packer_write(o->packer, (Slice){o->buffer, o->used});
    o->used = 0;
    if (o->sink.error)
        tar_fatal(o->t, "%s: Cannot write: %s", tar_quote(o->t, o->t->archive), error_text(-o->sink.error));
    checkpoint(o->t, o->bytes, "Write");
}

void out_bytes(TarOut *o, Slice data)
{
    o->bytes += data.len;
    while (data.len) {
        if (o->used == BUFFER)
            flush(o);
        size_t n = MIN(data.len, BUFFER - o->used);
        memcpy(o->buffer + o->used, data.data, n);
        o->used += n;
        data = slice_from(data, n);
    }
}

void out_zeros(TarOut *o, size_t n)
{
    static const char zeros[BLOCK];
    for (; n > BLOCK; n -= BLOCK)
        out_bytes(o, (Slice){zeros, BLOCK});
    out_bytes(o, (Slice){zeros, n});
}

/* Two blocks of zeros, and more of them until the record is full. */
void out_finish(TarOut *o)
{
    uint64_t record = (uint64_t)o->t->blocking * BLOCK;
    out_zeros(o, BLOCK);
    out_zeros(o, BLOCK);
    out_zeros(o, (size_t)((record - o->bytes % record) % record));
    flush(o);
    packer_end(o->packer);
    if (o->sink.error)
        tar_fatal(o->t, "%s: Cannot write: %s", tar_quote(o->t, o->t->archive), error_text(-o->sink.error));
}
