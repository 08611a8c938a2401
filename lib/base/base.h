/* base: what every layer stands on.
 *
 * Slices, checked arithmetic on sizes, compiler attributes. Nothing here knows about files,
 * processes or shells, and nothing here raises. Anyone may include it.
 *
 * Conventions of the whole library:
 *   - a function that can fail for a reason the caller acts on returns 0 or a count, or a
 *     negative errno value (-ENOENT); it never sets the C library's errno;
 *   - bytes are a Slice (pointer and length); a `const char *` is NUL-terminated and says so;
 *   - sizes that come from outside are added and multiplied with the checked functions below.
 */
#ifndef LIBSHELL_BASE_H
#define LIBSHELL_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define NORETURN __attribute__((noreturn))
#define UNUSED __attribute__((unused))
#define COLD __attribute__((cold, noinline))
#define ARRAY_LEN(a) (sizeof(a) / sizeof(a)[0])
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Borrowed bytes; says nothing about who owns them. `data` may be NULL only when len is 0. */
typedef struct {
    const char *data;
    size_t len;
} Slice;

#define SLICE(lit) ((Slice){(lit), sizeof(lit) - 1})

static inline Slice slice(const char *data, size_t len) { return (Slice){data, len}; }
static inline Slice slice_str(const char *s) { return (Slice){s, strlen(s)}; }
static inline Slice slice_from(Slice s, size_t at) { return (Slice){s.data + at, s.len - at}; }

static inline bool slice_eq(Slice a, Slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline bool slice_is(Slice a, const char *s) { return slice_eq(a, slice_str(s)); }

static inline bool slice_starts(Slice a, Slice prefix)
{
    return a.len >= prefix.len && (prefix.len == 0 || memcmp(a.data, prefix.data, prefix.len) == 0);
}

/* Byte order, as memcmp and then length: the collation of the C and C.UTF-8 locales. */
static inline int slice_cmp(Slice a, Slice b)
{
    size_t n = MIN(a.len, b.len);
    int c = n ? memcmp(a.data, b.data, n) : 0;
    return c ? c : (a.len > b.len) - (a.len < b.len);
}

/* Offset of byte `c` in `s`, or s.len when it is not there. */
static inline size_t slice_find(Slice s, char c)
{
    const char *at = s.len ? memchr(s.data, c, s.len) : NULL;
    return at ? (size_t)(at - s.data) : s.len;
}

/* Offset of the first `needle` in `hay`, or SIZE_MAX. */
size_t slice_search(Slice hay, Slice needle);

/* How many bytes of `s` are `c`. */
size_t slice_count(Slice s, char c);

/* A needle prepared for many searches. */
typedef struct {
    Slice text;
    uint32_t rare[2]; /* offsets of the two bytes that are looked for */
} Needle;

Needle needle_of(Slice text);
size_t needle_find(const Needle *n, Slice hay);

/* Checked arithmetic: true when the result fits (the sense is the opposite of __builtin_*_overflow). */
static inline bool size_add(size_t a, size_t b, size_t *sum) { return !__builtin_add_overflow(a, b, sum); }
static inline bool size_mul(size_t a, size_t b, size_t *product) { return !__builtin_mul_overflow(a, b, product); }

/* One seed a process, made once from getrandom; keys every hash of script data. */
uint64_t hash_seed(void);

/* Seeded 64-bit hash of bytes (XXH3 under hash_seed()). */
uint64_t hash_bytes(Slice s);

#endif
