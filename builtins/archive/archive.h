/* archive: compressed streams, and what the archive commands share.
 *
 * An Unpacker pulls: it reads a descriptor and hands out decompressed bytes. A Packer pushes compressed bytes to a Sink. Both drive a codec
 * by steps, so nothing of a library is on the stack when they read, write or raise. What they hold goes with the process.
 */
#ifndef LIBSHELL_ARCHIVE_H
#define LIBSHELL_ARCHIVE_H

#include <sys/stat.h>

#include "file/file.h"

/* --- codecs --- */

typedef struct CodecStream CodecStream;
CodecStream *codec_open(Proc *p, Codec codec, const CodecParams *params); /* raises when memory is short */
int codec_step(CodecStream *s, CodecIo *io, bool finish);
void codec_close(Proc *p, CodecStream *s);

/* --- where output goes --- */

/* A descriptor, or p->out for 1; fd -1: nowhere, only counted. */
typedef struct Sink {
    Proc *p;
    int fd;
    uint64_t count;
    int error; /* first -errno */
} Sink;
void sink_put(Sink *s, Slice data);

/* --- reading --- */

/* Bytes of a descriptor with a look ahead. */
typedef struct Source {
    Proc *p;
    int fd;
    Slice window;
    char *held;      /* look-ahead that crosses chunks; `window` lies in it then */
    size_t held_cap;
    uint64_t taken;  /* bytes consumed */
    bool end;
    int error;       /* -errno */
} Source;
void source_init(Source *s, Proc *p, int fd);
bool source_fill(Source *s);            /* false at the end or after an error: then the window is empty */
size_t source_peek(Source *s, size_t n); /* makes at least n bytes visible in the window, fewer at the end */
void source_take(Source *s, size_t n);

/* --- the gzip format --- */

enum { GZ_OK = 0, GZ_END = 1, GZ_EOF = -1, GZ_MAGIC = -2, GZ_METHOD = -3, GZ_FLAGS = -4, GZ_FORMAT = -5, GZ_CRC = -6, GZ_LENGTH = -7, GZ_READ = -8, GZ_GARBAGE = -9, GZ_ZEROS = -10, GZ_HEAD_CRC = -11 };

typedef struct GzReader {
    Proc *p;
    Source source;
    CodecStream *stream;
    char *out;
    uint32_t crc, mtime, head_crc, head_want;
    uint64_t bytes_out, member_out, data_in;
    unsigned members, method, flags;
    bool ended; /* the deflate stream is, its trailer not read yet */
    char *name; /* of the last header, or NULL */
} GzReader;
void gz_init(GzReader *g, Proc *p, int fd);
int gz_next(GzReader *g);             /* GZ_OK; GZ_END: clean end after a member; else what is wrong */
int gz_read(GzReader *g, Slice *out);   /* GZ_OK with bytes; GZ_END: member complete and right */

typedef struct GzWriter {
    Proc *p;
    Sink *sink;
    CodecStream *stream;
    char *out;
    uint32_t crc;
    uint64_t bytes_in;
} GzWriter;
void gz_begin(GzWriter *w, Proc *p, Sink *sink, int level, const char *name, uint32_t mtime);
void gz_write(GzWriter *w, Slice data);
void gz_end(GzWriter *w);

enum { ARCHIVE_BLOCK = 1 << 16 };

/* --- any compressed stream, for tar --- */

typedef enum { PACK_NONE, PACK_GZIP, PACK_BZIP2, PACK_XZ, PACK_LZMA, PACK_ZSTD, PACK_COMPRESS, PACK_LZIP, PACK_LZOP /* the last three are only known by their bytes */ } Packing;
Packing packing_of_bytes(Slice head); /* by magic number */

typedef struct Unpacker Unpacker;
Unpacker *unpacker_new(Proc *p, Packing packing, int fd);
/* More bytes; 0 at the end; < 0: broken, unpacker_message says how. */
int unpacker_read(Unpacker *u, Slice *out);
const char *unpacker_message(const Unpacker *u);
Source *unpacker_source(Unpacker *u);

typedef struct Packer Packer;
Packer *packer_new(Proc *p, Packing packing, int level, Sink *sink);
void packer_write(Packer *k, Slice data);
void packer_end(Packer *k);

/* --- files in place: gzip, bzip2, xz, zstd --- */

/* Runs work(p, arg) and, whatever raises there, removes `path` before passing it on. */
void guarded_output(Proc *p, const char *path, void (*work)(Proc *p, void *arg), void *arg);
void keep_attributes(Proc *p, int fd, const VStat *st); /* mode, owner, times */

#endif
