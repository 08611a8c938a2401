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

/* The table of component `name`, of `size` bytes; NULL when the embedder has none. Asks the embedder at the first use and may block. */
const void *proc_component(struct Proc *p, const char *name, size_t size);
#define PROC_COMPONENT(p, name, Type) ((const Type *)proc_component((p), (name), sizeof(Type)))

/* Charges p's shell; lives until the process ends. */
const ComponentMem *proc_component_mem(struct Proc *p);

#endif
