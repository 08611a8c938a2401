/* gz: the gzip format, RFC 1952, read member by member and written. */
#include <zlib.h>

#include "archive/archive.h"

enum { FLAG_HCRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAG_RESERVED = 0xe0, NAME_MOST = 4096 };

static uint32_t load32(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static void store32(char *s, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        s[i] = (char)(v >> 8 * i & 255);
}

static uint32_t crc_more(uint32_t crc, Slice data) { return (uint32_t)crc32_z(crc, (const unsigned char *)data.data, data.len); }

void gz_init(GzReader *g, Proc *p, int fd)
{
    *g = (GzReader){.p = p};
    source_init(&g->source, p, fd);
    g->out = mem_alloc(&p->keep, ARCHIVE_BLOCK);
}

static int short_of(const GzReader *g) { return g->source.error ? GZ_READ : GZ_EOF; }

/* Header bytes go through here, for its checksum. */
static void take(GzReader *g, size_t n)
{
    g->head_crc = crc_more(g->head_crc, (Slice){g->source.window.data, n});
    source_take(&g->source, n);
}

static bool skip(GzReader *g, size_t n)
{
    while (n) {
        if (!source_fill(&g->source))
            return false;
        size_t k = MIN(n, g->source.window.len);
        take(g, k);
        n -= k;
    }
    return true;
}

/* A NUL-terminated field; *text (may be NULL) receives its first bytes. */
static bool read_text(GzReader *g, char **text)
{
    Buf b;
    buf_init(&b, &g->p->keep, NAME_MOST);
    for (;;) {
        if (!source_fill(&g->source))
            return false;
        char c = g->source.window.data[0];
        take(g, 1);
        if (!c)
            break;
        if (text && b.len < NAME_MOST - 1)
            buf_char(&b, c);
        proc_tick(g->p, 1);
    }
    if (text)
        *text = b.data ? b.data : mem_strdup(&g->p->keep, "");
    return true;
}

static int read_fields(GzReader *g)
{
    Source *s = &g->source;
    if (g->flags & FLAG_EXTRA) {
        if (source_peek(s, 2) < 2)
            return short_of(g);
        size_t n = (unsigned char)s->window.data[0] | (size_t)(unsigned char)s->window.data[1] << 8;
        take(g, 2);
        if (!skip(g, n))
            return short_of(g);
    }
    if ((g->flags & FLAG_NAME) && !read_text(g, &g->name))
        return short_of(g);
    if ((g->flags & FLAG_COMMENT) && !read_text(g, NULL))
        return short_of(g);
    if (g->flags & FLAG_HCRC) {
        if (source_peek(s, 2) < 2)
            return short_of(g);
        g->head_want = (unsigned char)s->window.data[0] | (uint32_t)(unsigned char)s->window.data[1] << 8;
        source_take(s, 2);
        if (g->head_want != (g->head_crc & 0xffff))
            return GZ_HEAD_CRC;
    }
    return GZ_OK;
}

/* What follows a member and is none: zeros (a tape's padding) or anything. */
static int trailing(GzReader *g)
{
    while (source_fill(&g->source)) {
        Slice w = g->source.window;
        for (size_t i = 0; i < w.len; i++)
            if (w.data[i])
                return GZ_GARBAGE;
        source_take(&g->source, w.len);
        proc_tick(g->p, 1 + w.len / 256);
    }
    return GZ_ZEROS;
}

int gz_next(GzReader *g)
{
    Source *s = &g->source;
    size_t n = source_peek(s, 10);
    if (n == 0 && g->members)
        return s->error ? GZ_READ : GZ_END;
    if (n < 2 && (n == 0 || s->window.data[0] == 0x1f) && !g->members)
        return short_of(g);
    if (n < 2 || s->window.data[0] != 0x1f || s->window.data[1] != (char)0x8b)
        return g->members ? trailing(g) : GZ_MAGIC;
    if (n < 10)
        return short_of(g);
    g->method = (unsigned char)s->window.data[2];
    g->flags = (unsigned char)s->window.data[3];
    g->mtime = load32(s->window.data + 4);
    g->name = NULL;
    if (g->method != 8)
        return GZ_METHOD;
    if (g->flags & FLAG_RESERVED)
        return GZ_FLAGS;
    g->head_crc = 0;
    take(g, 10);
    int err = read_fields(g);
    if (err)
        return err;
    if (g->stream)
        codec_close(g->p, g->stream);
    g->stream = codec_open(g->p, CODEC_DEFLATE, &(CodecParams){.compress = false});
    g->crc = 0;
    g->ended = false;
    g->member_out = g->data_in = 0;
    g->members++;
    return GZ_OK;
}

static int read_trailer(GzReader *g)
{
    Source *s = &g->source;
    if (source_peek(s, 8) < 8)
        return short_of(g);
    uint32_t crc = load32(s->window.data), length = load32(s->window.data + 4);
    source_take(s, 8);
    if (crc != g->crc)
        return GZ_CRC;
    return length == (uint32_t)g->member_out ? GZ_END : GZ_LENGTH;
}

int gz_read(GzReader *g, Slice *out)
{
    for (;;) {
        if (g->ended) {
            *out = (Slice){"", 0};
            return read_trailer(g);
        }
        bool more = source_fill(&g->source);
        if (g->source.error)
            return GZ_READ;
        Slice in = g->source.window;
        CodecIo io = {(const unsigned char *)in.data, in.len, (unsigned char *)g->out, ARCHIVE_BLOCK};
        int err = codec_step(g->stream, &io, !more);
        source_take(&g->source, in.len - io.in_len);
        g->data_in += in.len - io.in_len;
        *out = (Slice){g->out, ARCHIVE_BLOCK - io.out_len};
        g->crc = crc_more(g->crc, *out);
        g->member_out += out->len;
        g->bytes_out += out->len;
        proc_tick(g->p, 1 + out->len / 128);
        if (out->len && err >= 0) {
            g->ended = err == CODEC_END; /* told at the next call */
            return GZ_OK;
        }
        if (err == CODEC_END)
            return read_trailer(g);
        if (err == CODEC_EMEMORY)
            proc_raise(g->p, RAISE_MEMORY);
        if (err < 0)
            return err == CODEC_ETRUNCATED ? GZ_EOF : GZ_FORMAT;
    }
}

/* --- writing --- */

void gz_begin(GzWriter *w, Proc *p, Sink *sink, int level, const char *name, uint32_t mtime)
{
    char head[10] = {0x1f, (char)0x8b, 8, name ? FLAG_NAME : 0, 0, 0, 0, 0, level == 9 ? 2 : level == 1 ? 4 : 0, 3};
    store32(head + 4, mtime);
    *w = (GzWriter){.p = p, .sink = sink};
    w->out = mem_alloc(&p->keep, ARCHIVE_BLOCK);
    w->stream = codec_open(p, CODEC_DEFLATE, &(CodecParams){.compress = true, .level = level});
    sink_put(sink, (Slice){head, sizeof head});
    if (name)
        sink_put(sink, (Slice){name, strlen(name) + 1});
}

static bool push(GzWriter *w, CodecIo *io, bool finish)
{
    io->out = (unsigned char *)w->out;
    io->out_len = ARCHIVE_BLOCK;
    int err = codec_step(w->stream, io, finish);
    sink_put(w->sink, (Slice){w->out, ARCHIVE_BLOCK - io->out_len});
    if (err < 0)
        proc_raise(w->p, RAISE_MEMORY);
    return err != CODEC_END;
}

void gz_write(GzWriter *w, Slice data)
{
    w->crc = crc_more(w->crc, data);
    w->bytes_in += data.len;
    while (data.len) {
        size_t n = MIN(data.len, (size_t)1 << 16);
        CodecIo io = {(const unsigned char *)data.data, n, NULL, 0};
        while (io.in_len)
            push(w, &io, false);
        data = slice_from(data, n);
        proc_tick(w->p, 1 + n / 16);
    }
}

void gz_end(GzWriter *w)
{
    char tail[8];
    CodecIo io = {(const unsigned char *)"", 0, NULL, 0};
    while (push(w, &io, true)) {
    }
    store32(tail, w->crc);
    store32(tail + 4, (uint32_t)w->bytes_in);
    sink_put(w->sink, (Slice){tail, sizeof tail});
    codec_close(w->p, w->stream);
}
