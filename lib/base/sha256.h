/* sha256: FIPS 180-4, for the audit chain, which must not need a component. */
#ifndef LIBSHELL_SHA256_H
#define LIBSHELL_SHA256_H

#include "base.h"

enum { SHA256_BYTES = 32 };

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t length;     /* bytes so far */
    unsigned char block[64];
} Sha256;

void sha256_begin(Sha256 *s);
void sha256_add(Sha256 *s, Slice bytes);
void sha256_end(Sha256 *s, unsigned char out[SHA256_BYTES]);
void sha256_hex(Slice bytes, char out[2 * SHA256_BYTES + 1]);

#endif
