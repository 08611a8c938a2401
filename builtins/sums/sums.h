/* sums: message digests and checksums, and the engine that prints and verifies them. GNU coreutils 9.1. */
#ifndef LIBSHELL_SUMS_H
#define LIBSHELL_SUMS_H

#include "shared.h"

typedef enum { SUM_BSD, SUM_SYSV, SUM_CRC, SUM_DIGEST, SUM_BLAKE2B } SumKind;

typedef struct SumType {
    const char *name; /* for cksum -a, and the component's name of it */
    const char *tag;
    SumKind kind;
    size_t bytes;
} SumType;

enum { SUM_MOST = 64 };

extern const SumType sum_types[]; /* ends with name NULL */
const SumType *sum_type(const char *name);

/* A digest in progress; ready for the next message after sum_final. */
typedef struct Sum Sum;
Sum *sum_new(Proc *p, const SumType *type, size_t bytes);
void sum_update(Sum *s, Slice data);
void sum_final(Sum *s, unsigned char out[SUM_MOST]);

/* The three that are numbers. */
typedef struct Checksum { uint32_t value; uint64_t length; } Checksum;
uint32_t *crc_tables(Proc *p);
uint32_t crc_update(const uint32_t *tables, uint32_t crc, Slice data);
uint32_t crc_finish(const uint32_t *tables, uint32_t crc, uint64_t length);

typedef struct Blake2b {
    uint64_t h[8], count[2];
    size_t used, bytes;
    unsigned char block[128];
} Blake2b;
void blake2b_init(Blake2b *b, size_t bytes);
void blake2b_update(Blake2b *b, const void *data, size_t n);
void blake2b_final(Blake2b *b, unsigned char *out);

/* What the options of a digest command say. */
typedef struct SumOptions {
    Proc *p;
    const SumType *type; /* NULL: cksum -c, where each line's tag tells */
    size_t bytes;        /* of the digest that is printed */
    bool check, tag, zero, quiet, status, strict, ignore_missing, warn_lines;
    int binary;          /* 1 -b, 0 -t, -1 neither */
    Sum *sum;            /* of the type and length last used */
    const SumType *sum_type;
    size_t sum_bytes;
} SumOptions;

enum { OPT_TAG = 256, OPT_IGNORE_MISSING, OPT_QUIET, OPT_STATUS, OPT_STRICT };
/* The options that all of them share; false: not one of them. */
bool sum_option(SumOptions *o, int id);
/* "... is meaningful only when verifying checksums" and the like. */
void sum_validate(SumOptions *o, Args *args);
enum { SUM_OK, SUM_FAILED, SUM_MISSING };
/* Digest of a file as the options say; SUM_FAILED after a message. */
int sum_file(SumOptions *o, const char *name, unsigned char out[SUM_MOST]);
/* All operands, printed or verified; the exit status. */
int sum_operands(SumOptions *o, char **names, int count);
void sum_print(SumOptions *o, const char *name, const unsigned char *digest);
bool sum_check(SumOptions *o, const char *name);
void sum_print_name(Output *out, const char *name, bool escape);
bool sum_escapes(const char *name);
/* -l: a length in bits; dies when it is none. Bytes, `most` for 0. */
size_t sum_length(Proc *p, const char *text, size_t most);

#endif
