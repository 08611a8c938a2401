/* packer: a compressed stream of any of the packings, for tar: pulled or pushed. */
#include "archive/archive.h"

static const struct { Packing packing; Slice magic; } magics[] = {
    {PACK_GZIP, {"\x1f\x8b", 2}}, {PACK_BZIP2, {"BZh", 3}}, {PACK_XZ, {"\xfd" "7zXZ\0", 6}}, {PACK_ZSTD, {"\x28\xb5\x2f\xfd", 4}},
    {PACK_LZMA, {"\x5d\0\0", 3}}, {PACK_COMPRESS, {"\x1f\x9d", 2}},
    {PACK_LZIP, {"LZIP", 4}}, {PACK_LZOP, {"\x89LZO", 4}},
};

Packing packing_of_bytes(Slice head)
{
    for (size_t i = 0; i < ARRAY_LEN(magics); i++)
        if (slice_starts(head, magics[i].magic))
            return magics[i].packing;
    return PACK_NONE;
}

static Codec codec_of(Packing packing)
{
    return packing == PACK_BZIP2 ? CODEC_BZIP2 : packing == PACK_ZSTD ? CODEC_ZSTD : CODEC_XZ; /* --lzma too runs a xz that writes its own format */
}

struct Unpacker {
    Proc *p;
    Packing packing;
    Source *source;
    Source own;
    GzReader gz;
    bool in_member, ended;
    CodecStream *stream;
    char *out;
    const char *message;
};

Unpacker *unpacker_new(Proc *p, Packing packing, int fd)
{
    Unpacker *u = mem_new(&p->keep, Unpacker);
    u->p = p;
    u->packing = packing;
    u->source = &u->own;
    source_init(&u->own, p, fd);
    if (packing == PACK_GZIP) {
        gz_init(&u->gz, p, fd);
        u->source = &u->gz.source;
    } else if (packing != PACK_NONE) {
        u->out = mem_alloc(&p->keep, ARCHIVE_BLOCK);
        Codec codec = codec_of(packing);
        if (codec == CODEC_XZ && source_peek(u->source, 6) >= 3 && packing_of_bytes(u->source->window) == PACK_LZMA)
            codec = CODEC_LZMA;
        u->stream = codec_open(p, codec, &(CodecParams){.check = -1});
    }
    return u;
}

Source *unpacker_source(Unpacker *u) { return u->source; }
const char *unpacker_message(const Unpacker *u) { return u->message ? u->message : error_text(EIO); }

static int broken(Unpacker *u, const char *message)
{
    u->message = message;
    return -1;
}

static int gzip_trouble(Unpacker *u, int err)
{
    switch (err) {
    case GZ_EOF: return broken(u, "\ngzip: stdin: unexpected end of file");
    case GZ_MAGIC: return broken(u, "\ngzip: stdin: not in gzip format");
    case GZ_CRC: return broken(u, "\ngzip: stdin: invalid compressed data--crc error");
    case GZ_LENGTH: return broken(u, "\ngzip: stdin: invalid compressed data--length error");
    case GZ_GARBAGE: u->message = "\ngzip: stdin: decompression OK, trailing garbage ignored"; return 0;
    case GZ_END: case GZ_ZEROS: return 0;
    default: return broken(u, "\ngzip: stdin: invalid compressed data--format violated");
    }
}

static int gzip_read(Unpacker *u, Slice *out)
{
    for (;;) {
        int err;
        if (!u->in_member) {
            err = gz_next(&u->gz);
            if (err != GZ_OK) {
                u->ended = true;
                return gzip_trouble(u, err);
            }
            u->in_member = true;
        }
        err = gz_read(&u->gz, out);
        if (err == GZ_OK)
            return 1;
        u->in_member = false;
        if (err != GZ_END)
            return gzip_trouble(u, err);
    }
}

static const char *const names[] = {"", "gzip", "bzip2", "xz", "xz", "zstd", "compress"};

static int codec_trouble(Unpacker *u, int err)
{
    static const char *const format[] = {"", "", "bzip2: (stdin) is not a bzip2 file.", "xz: (stdin): File format not recognized", "xz: (stdin): File format not recognized",
                                         "zstd: /*stdin*\\: unsupported format ", ""};
    static const char *const truncated[] = {"", "", "\nbzip2: Compressed file ends unexpectedly;\n\tperhaps it is corrupted?  *Possible* reason follows.", "xz: (stdin): Unexpected end of input",
                                            "xz: (stdin): Unexpected end of input", "zstd: /*stdin*\\: Read error (39) : premature end ", ""};
    if (err == CODEC_EMEMORY)
        proc_raise(u->p, RAISE_MEMORY);
    if (err == CODEC_EFORMAT)
        return broken(u, format[u->packing]);
    if (err == CODEC_ETRUNCATED)
        return broken(u, truncated[u->packing]);
    return broken(u, mem_printf(&u->p->keep, "%s: (stdin): Compressed data is corrupt", names[u->packing]));
}

static int codec_read(Unpacker *u, Slice *out)
{
    for (;;) {
        bool more = source_fill(u->source);
        Slice in = u->source->window;
        CodecIo io = {(const unsigned char *)in.data, in.len, (unsigned char *)u->out, ARCHIVE_BLOCK};
        int err = codec_step(u->stream, &io, !more);
        source_take(u->source, in.len - io.in_len);
        *out = (Slice){u->out, ARCHIVE_BLOCK - io.out_len};
        proc_tick(u->p, 1 + out->len / 64);
        if (err == CODEC_END) {
            u->ended = u->packing != PACK_BZIP2 || !source_fill(u->source);
            if (!u->ended) { /* bzip2: another stream follows */
                codec_close(u->p, u->stream);
                u->stream = codec_open(u->p, CODEC_BZIP2, &(CodecParams){.check = -1});
            }
        }
        if (err < 0)
            return codec_trouble(u, err);
        if (out->len || u->ended)
            return out->len > 0;
    }
}

int unpacker_read(Unpacker *u, Slice *out)
{
    *out = (Slice){"", 0};
    if (u->ended)
        return 0;
    if (u->packing == PACK_GZIP)
        return gzip_read(u, out);
    if (u->packing != PACK_NONE)
        return codec_read(u, out);
    if (!source_fill(u->source))
        return u->source->error ? broken(u, error_text(-u->source->error)) : 0;
    *out = u->source->window;
    source_take(u->source, out->len);
    return 1;
}

struct Packer {
    Proc *p;
    Packing packing;
    Sink *sink;
    GzWriter gz;
    CodecStream *stream;
    char *out;
};

Packer *packer_new(Proc *p, Packing packing, int level, Sink *sink)
{
    static const int usual[] = {0, 6, 9, 6, 6, 3, 0};
    Packer *k = mem_new(&p->keep, Packer);
    *k = (Packer){.p = p, .packing = packing, .sink = sink};
    if (level <= 0)
        level = usual[packing];
    if (packing == PACK_GZIP) {
        gz_begin(&k->gz, p, sink, level, NULL, 0);
    } else if (packing != PACK_NONE) {
        k->out = mem_alloc(&p->keep, ARCHIVE_BLOCK);
        k->stream = codec_open(p, codec_of(packing), &(CodecParams){.compress = true, .level = level, .check = -1, .checksum = true, .size = UINT64_MAX});
    }
    return k;
}

static bool push(Packer *k, CodecIo *io, bool finish)
{
    io->out = (unsigned char *)k->out;
    io->out_len = ARCHIVE_BLOCK;
    int err = codec_step(k->stream, io, finish);
    sink_put(k->sink, (Slice){k->out, ARCHIVE_BLOCK - io->out_len});
    if (err < 0)
        proc_raise(k->p, RAISE_MEMORY);
    return err != CODEC_END;
}

void packer_write(Packer *k, Slice data)
{
    if (k->packing == PACK_NONE) {
        sink_put(k->sink, data);
        return;
    }
    if (k->packing == PACK_GZIP) {
        gz_write(&k->gz, data);
        return;
    }
    while (data.len) {
        size_t n = MIN(data.len, (size_t)ARCHIVE_BLOCK);
        CodecIo io = {(const unsigned char *)data.data, n, NULL, 0};
        while (io.in_len)
            push(k, &io, false);
        data = slice_from(data, n);
        proc_tick(k->p, 1 + n / 8);
    }
}

void packer_end(Packer *k)
{
    CodecIo io = {(const unsigned char *)"", 0, NULL, 0};
    if (k->packing == PACK_GZIP)
        gz_end(&k->gz);
    else if (k->packing != PACK_NONE)
        while (push(k, &io, true)) {
        }
}
