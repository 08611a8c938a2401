/* archive: bzip2, xz and zstd as streams, as a component. Every allocation of the three libraries goes through the ComponentMem. */
#define ZSTD_STATIC_LINKING_ONLY /* for an allocator of one's own */
#include <bzlib.h>
#include <lzma.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "include/shell.h"
#include "lib/kernel/component.h"

typedef struct Stream {
    Codec codec;
    bool compress;
    const ComponentMem *mem;
    bz_stream bzip2;
    lzma_stream xz;
    lzma_allocator xz_allocator;
    ZSTD_CCtx *zstd_out;
    ZSTD_DCtx *zstd_in;
    bool zstd_inside; /* a frame has begun and not ended */
} Stream;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* --- bzip2 --- */

static void *bzip2_alloc(void *user, int items, int size)
{
    const ComponentMem *mem = user;
    size_t n;
    return items < 0 || size < 0 || __builtin_mul_overflow((size_t)items, (size_t)size, &n) ? NULL : mem->alloc(mem->user, n);
}

static void block_free(void *user, void *block)
{
    const ComponentMem *mem = user;
    mem->free(mem->user, block);
}

static bool bzip2_open(Stream *s, const CodecParams *p)
{
    s->bzip2.bzalloc = bzip2_alloc;
    s->bzip2.bzfree = block_free;
    s->bzip2.opaque = (void *)(uintptr_t)s->mem;
    return (p->compress ? BZ2_bzCompressInit(&s->bzip2, p->level, 0, 0) : BZ2_bzDecompressInit(&s->bzip2, 0, 0)) == BZ_OK;
}

static int bzip2_step(Stream *s, CodecIo *io, bool finish)
{
    unsigned in = (unsigned)least(io->in_len, 1u << 30), out = (unsigned)least(io->out_len, 1u << 30);
    s->bzip2.next_in = (char *)(uintptr_t)io->in;
    s->bzip2.avail_in = in;
    s->bzip2.next_out = (char *)io->out;
    s->bzip2.avail_out = out;
    int err = s->compress ? (in || finish ? BZ2_bzCompress(&s->bzip2, finish && in == io->in_len ? BZ_FINISH : BZ_RUN) : BZ_OK) : BZ2_bzDecompress(&s->bzip2);
    size_t eaten = in - s->bzip2.avail_in, made = out - s->bzip2.avail_out;
    *io = (CodecIo){io->in + eaten, io->in_len - eaten, io->out + made, io->out_len - made};
    switch (err) {
    case BZ_STREAM_END: return CODEC_END;
    case BZ_MEM_ERROR: return CODEC_EMEMORY;
    case BZ_DATA_ERROR_MAGIC: return CODEC_EFORMAT;
    case BZ_OK: case BZ_RUN_OK: case BZ_FINISH_OK: case BZ_FLUSH_OK:
        return !s->compress && finish && !eaten && !made ? CODEC_ETRUNCATED : CODEC_OK;
    default: return CODEC_EDATA;
    }
}

/* --- xz --- */

static void *xz_alloc(void *user, size_t items, size_t size)
{
    const ComponentMem *mem = user;
    size_t n;
    return __builtin_mul_overflow(items, size, &n) ? NULL : mem->alloc(mem->user, n);
}

/* The encoder needs some eleven times its dictionary: -9's 64 MiB would be more than a shell has. */
enum { DICTIONARY_MOST = 16 << 20 };

static bool xz_open(Stream *s, const CodecParams *p)
{
    uint64_t limit = p->memory ? p->memory : UINT64_MAX;
    uint32_t preset = (uint32_t)p->level | (p->extreme ? LZMA_PRESET_EXTREME : 0);
    lzma_options_lzma options;
    s->xz = (lzma_stream)LZMA_STREAM_INIT;
    s->xz_allocator = (lzma_allocator){xz_alloc, block_free, (void *)(uintptr_t)s->mem};
    s->xz.allocator = &s->xz_allocator;
    if (!p->compress)
        return (s->codec == CODEC_LZMA ? lzma_alone_decoder(&s->xz, limit) : lzma_stream_decoder(&s->xz, limit, LZMA_CONCATENATED)) == LZMA_OK;
    if (lzma_lzma_preset(&options, preset))
        return false;
    if (options.dict_size > DICTIONARY_MOST)
        options.dict_size = DICTIONARY_MOST;
    if (s->codec == CODEC_LZMA)
        return lzma_alone_encoder(&s->xz, &options) == LZMA_OK;
    const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    return lzma_stream_encoder(&s->xz, filters, p->check < 0 ? LZMA_CHECK_CRC64 : (lzma_check)p->check) == LZMA_OK;
}

static int xz_step(Stream *s, CodecIo *io, bool finish)
{
    size_t in = io->in_len, out = io->out_len;
    s->xz.next_in = io->in;
    s->xz.avail_in = in;
    s->xz.next_out = io->out;
    s->xz.avail_out = out;
    lzma_ret err = lzma_code(&s->xz, finish ? LZMA_FINISH : LZMA_RUN);
    size_t eaten = in - s->xz.avail_in, made = out - s->xz.avail_out;
    *io = (CodecIo){io->in + eaten, io->in_len - eaten, io->out + made, io->out_len - made};
    switch (err) {
    case LZMA_STREAM_END: return CODEC_END;
    case LZMA_MEM_ERROR: return CODEC_EMEMORY;
    case LZMA_MEMLIMIT_ERROR: return CODEC_ELIMIT;
    case LZMA_FORMAT_ERROR: return CODEC_EFORMAT;
    case LZMA_OPTIONS_ERROR: return CODEC_EOPTIONS;
    case LZMA_BUF_ERROR: return finish && !s->compress && out ? CODEC_ETRUNCATED : CODEC_OK;
    case LZMA_OK: return CODEC_OK;
    default: return CODEC_EDATA;
    }
}

/* --- zstd --- */

static bool zstd_open(Stream *s, const CodecParams *p)
{
    ZSTD_customMem mem = {s->mem->alloc, s->mem->free, s->mem->user};
    if (!p->compress) {
        s->zstd_in = ZSTD_createDCtx_advanced(mem);
        if (s->zstd_in && p->memory) {
            int log = 10;
            while (log < ZSTD_WINDOWLOG_MAX && (2ull << log) <= p->memory)
                log++;
            ZSTD_DCtx_setParameter(s->zstd_in, ZSTD_d_windowLogMax, log);
        }
        return s->zstd_in;
    }
    s->zstd_out = ZSTD_createCCtx_advanced(mem);
    if (!s->zstd_out)
        return false;
    ZSTD_CCtx_setParameter(s->zstd_out, ZSTD_c_compressionLevel, p->level);
    ZSTD_CCtx_setParameter(s->zstd_out, ZSTD_c_checksumFlag, p->checksum);
    if (p->size != UINT64_MAX)
        ZSTD_CCtx_setPledgedSrcSize(s->zstd_out, p->size);
    return true;
}

static int zstd_error(size_t r)
{
    switch (ZSTD_getErrorCode(r)) {
    case ZSTD_error_prefix_unknown: return CODEC_EFORMAT;
    case ZSTD_error_memory_allocation: return CODEC_EMEMORY;
    case ZSTD_error_frameParameter_windowTooLarge: return CODEC_ELIMIT;
    case ZSTD_error_frameParameter_unsupported: return CODEC_EOPTIONS;
    default: return CODEC_EDATA;
    }
}

static int zstd_step(Stream *s, CodecIo *io, bool finish)
{
    ZSTD_inBuffer in = {io->in, io->in_len, 0};
    ZSTD_outBuffer out = {io->out, io->out_len, 0};
    size_t r = s->compress ? ZSTD_compressStream2(s->zstd_out, &out, &in, finish ? ZSTD_e_end : ZSTD_e_continue) : ZSTD_decompressStream(s->zstd_in, &out, &in);
    *io = (CodecIo){io->in + in.pos, io->in_len - in.pos, io->out + out.pos, io->out_len - out.pos};
    if (ZSTD_isError(r))
        return zstd_error(r);
    if (s->compress)
        return finish && r == 0 ? CODEC_END : CODEC_OK;
    if (in.pos || out.pos)
        s->zstd_inside = r != 0;
    else if (finish)
        return s->zstd_inside ? CODEC_ETRUNCATED : CODEC_END;
    return CODEC_OK;
}

/* --- the table --- */

static void stream_close(void *stream)
{
    Stream *s = stream;
    if (s->codec == CODEC_BZIP2 && s->compress)
        BZ2_bzCompressEnd(&s->bzip2);
    else if (s->codec == CODEC_BZIP2)
        BZ2_bzDecompressEnd(&s->bzip2);
    else if (s->codec == CODEC_ZSTD && s->compress)
        ZSTD_freeCCtx(s->zstd_out);
    else if (s->codec == CODEC_ZSTD)
        ZSTD_freeDCtx(s->zstd_in);
    else
        lzma_end(&s->xz);
    s->mem->free(s->mem->user, s);
}

static void *stream_open(Codec codec, const CodecParams *p, const ComponentMem *mem)
{
    Stream *s = mem->alloc(mem->user, sizeof *s);
    if (!s)
        return NULL;
    *s = (Stream){.codec = codec, .compress = p->compress, .mem = mem};
    bool ok = codec == CODEC_BZIP2 ? bzip2_open(s, p) : codec == CODEC_ZSTD ? zstd_open(s, p) : xz_open(s, p);
    if (ok)
        return s;
    if (codec == CODEC_BZIP2)
        mem->free(mem->user, s); /* it frees what it took by itself */
    else
        stream_close(s);
    return NULL;
}

static int stream_step(void *stream, CodecIo *io, bool finish)
{
    Stream *s = stream;
    return s->codec == CODEC_BZIP2 ? bzip2_step(s, io, finish) : s->codec == CODEC_ZSTD ? zstd_step(s, io, finish) : xz_step(s, io, finish);
}

static const ArchiveComponent table = {stream_open, stream_step, stream_close};

const shell_component *libshell_archive(void)
{
    static const shell_component component = {sizeof component, "archive", SHELL_VERSION, &table, sizeof table};
    return &component;
}
