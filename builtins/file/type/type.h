/* file(1): what its files share. Options and special files in type.c, binary formats in binary.c, pictures and sound in media.c, ELF in elf.c,
 * text, its encoding and languages in text.c, JSON and CSV in data.c.
 *
 * Everything is told from the first megabyte of the file itself; no magic file of the host is read.
 */
#ifndef LIBSHELL_FILE_TYPE_H
#define LIBSHELL_FILE_TYPE_H

#include "../file.h"

typedef struct {
    const unsigned char *data;
    size_t len;
    uint64_t size;     /* of the file */
    bool known_size;
} Bytes;

/* What was found. `text` is empty when nothing was. */
typedef struct {
    Buf text;
    const char *mime;
    const char *extensions;
    bool whole;        /* an encoding is not added to the text */
} Kind;

enum { SKIP_ASCII = 1, SKIP_CSV = 2, SKIP_ELF = 4, SKIP_ENCODING = 8, SKIP_JSON = 16, SKIP_SOFT = 32, SKIP_TAR = 64, SKIP_TEXT = 128, SKIP_COMPRESS = 256 };

static inline unsigned u8_at(const Bytes *b, size_t at) { return at < b->len ? b->data[at] : 0; }
static inline uint32_t le16(const Bytes *b, size_t at) { return u8_at(b, at) | u8_at(b, at + 1) << 8; }
static inline uint32_t be16(const Bytes *b, size_t at) { return u8_at(b, at) << 8 | u8_at(b, at + 1); }
static inline uint32_t le32(const Bytes *b, size_t at) { return le16(b, at) | le16(b, at + 2) << 16; }
static inline uint32_t be32(const Bytes *b, size_t at) { return be16(b, at) << 16 | be16(b, at + 2); }
static inline bool has(const Bytes *b, size_t at, const char *text, size_t n) { return at <= b->len && n <= b->len - at && memcmp(b->data + at, text, n) == 0; }
#define HAS(b, at, text) has((b), (at), (text), sizeof(text) - 1)

/* Each says true when it knows the bytes. */
bool kind_binary(Proc *p, const Bytes *b, Kind *k);
bool kind_media(Proc *p, const Bytes *b, Kind *k);
bool kind_elf(Proc *p, const Bytes *b, Kind *k);
bool kind_json(Proc *p, const Bytes *b, Kind *k);
bool kind_csv(const Bytes *b, Kind *k);
bool kind_language(Proc *p, const Bytes *b, Kind *k);
bool kind_tar(const Bytes *b, Kind *k);

typedef struct {
    const char *name, *mime; /* "Unicode text, UTF-8", "utf-8"; NULL name: not text */
    unsigned bom;            /* bytes of the mark */
    unsigned unit;           /* 1, 2 or 4 bytes a character at least */
    bool big;
} Encoding;
Encoding text_encoding(const Bytes *b);
/* "ASCII text executable, with CRLF line terminators" behind what k holds. */
void describe_text(const Bytes *b, const Encoding *e, Kind *k);

#endif
