/* crypto: message digests of libcrypto, as a component. Each digest fetches its algorithm for itself: nothing is kept. */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <strings.h>

#include "include/shell.h"
#include "lib/kernel/component.h"

typedef struct Digest {
    EVP_MD_CTX *context;
    const EVP_MD *algorithm;
} Digest;

static const struct { const char *name; const EVP_MD *(*get)(void); } algorithms[] = {
    {"md5", EVP_md5}, {"sha1", EVP_sha1}, {"sha224", EVP_sha224}, {"sha256", EVP_sha256}, {"sha384", EVP_sha384},
    {"sha512", EVP_sha512}, {"sm3", EVP_sm3}, {"blake2b", EVP_blake2b512},
};

static const EVP_MD *algorithm_named(const char *name)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if (strcasecmp(algorithms[i].name, name) == 0)
            return algorithms[i].get();
    return NULL;
}

static void digest_free(void *digest)
{
    Digest *d = digest;
    if (d)
        EVP_MD_CTX_free(d->context);
    free(d);
}

static void *digest_new(const char *name)
{
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL); /* else the first use opens OPENSSL_CONF's file; where the host was first, nothing happens */
    const EVP_MD *algorithm = algorithm_named(name);
    Digest *d = algorithm ? calloc(1, sizeof *d) : NULL;
    if (!d)
        return NULL;
    d->algorithm = algorithm;
    d->context = EVP_MD_CTX_new();
    if (d->context && EVP_DigestInit_ex(d->context, algorithm, NULL) == 1)
        return d;
    digest_free(d);
    return NULL;
}

static size_t digest_size(const void *digest) { return (size_t)EVP_MD_get_size(((const Digest *)digest)->algorithm); }

static bool digest_update(void *digest, const void *data, size_t n) { return EVP_DigestUpdate(((Digest *)digest)->context, data, n) == 1; }

static bool digest_final(void *digest, unsigned char *out)
{
    Digest *d = digest;
    return EVP_DigestFinal_ex(d->context, out, NULL) == 1 && EVP_DigestInit_ex(d->context, d->algorithm, NULL) == 1;
}

static const CryptoComponent table = {digest_new, digest_size, digest_update, digest_final, digest_free};

const shell_component *libshell_crypto(void)
{
    static const shell_component component = {sizeof component, "crypto", SHELL_VERSION, &table, sizeof table};
    return &component;
}
