/* component: the tables of functions that components hand over, and how a process asks for one.
 *
 * A component is a shared object of its own that drags in libraries a shell should not start with. It is built with libshell and
 * fits that build alone: the version and the table's size are compared when it is handed over. It links nothing of libshell, and
 * includes of it only this header and shell.h. Its functions are leaves: they do not block, switch, raise or call back, but for
 * the allocator they are given; what they need is in memory before. The commands that use a table live in builtins/.
 *
 * Memory: a library with allocators for each handle gets a ComponentMem, which charges the shell's budget and returns NULL when
 * that says no. One without is charged a fixed amount by the command.
 */
#ifndef LIBSHELL_COMPONENT_H
#define LIBSHELL_COMPONENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Proc;

/* An allocator as zlib, bzip2, xz and the like take it. */
typedef struct ComponentMem {
    void *(*alloc)(void *user, size_t n); /* NULL: no memory */
    void (*free)(void *user, void *block); /* NULL block allowed */
    void *user;
} ComponentMem;

/* "crypto": message digests of libcrypto. */
typedef struct CryptoComponent {
    /* "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sm3", "blake2b"; NULL: unknown, or no memory. */
    void *(*digest_new)(const char *name);
    size_t (*digest_size)(const void *digest); /* bytes */
    bool (*digest_update)(void *digest, const void *data, size_t n);
    bool (*digest_final)(void *digest, unsigned char *out); /* and ready for the next message */
    void (*digest_free)(void *digest);
} CryptoComponent;

/* "archive": streaming codecs of bzip2, xz and zstd. The library's own deflate has the same shape, so that one loop drives them all. */
typedef enum { CODEC_DEFLATE /* raw; not the component's */, CODEC_BZIP2, CODEC_XZ, CODEC_LZMA, CODEC_ZSTD } Codec;

typedef struct CodecParams {
    bool compress;
    int level;
    bool extreme;        /* xz -e */
    int check;           /* xz: 0 none, 1 CRC32, 4 CRC64, 10 SHA-256; -1 the default */
    uint64_t memory;     /* decompression needs no more than this; 0: no bound */
    bool checksum;       /* zstd: of the content, at the end of a frame */
    uint64_t size;       /* zstd: what is to be compressed, UINT64_MAX when unknown */
} CodecParams;

typedef struct CodecIo {
    const unsigned char *in;
    size_t in_len;
    unsigned char *out;
    size_t out_len;
} CodecIo; /* step moves all four on */

enum { CODEC_OK = 0, CODEC_END = 1, CODEC_EFORMAT = -1, CODEC_EDATA = -2, CODEC_EMEMORY = -3, CODEC_ELIMIT = -4, CODEC_EOPTIONS = -5, CODEC_ETRUNCATED = -6 };

typedef struct ArchiveComponent {
    void *(*open)(Codec codec, const CodecParams *params, const ComponentMem *mem); /* NULL: no memory. `mem` outlives it */
    /* finish: no more input will come. CODEC_END: the stream is complete; what is left of the input was not part of it. */
    int (*step)(void *stream, CodecIo *io, bool finish);
    void (*close)(void *stream);
} ArchiveComponent;

/* The table of component `name`, of `size` bytes; NULL when the embedder has none. Asks the embedder at the first use and may block. */
const void *proc_component(struct Proc *p, const char *name, size_t size);
#define PROC_COMPONENT(p, name, Type) ((const Type *)proc_component((p), (name), sizeof(Type)))

/* Charges p's shell; lives until the process ends. */
const ComponentMem *proc_component_mem(struct Proc *p);

#endif
