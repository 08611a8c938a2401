/* Memory contexts: arenas with a byte budget.
 *
 * A context (Mem) hands out memory that is never freed piece by piece: it goes when the context is
 * dropped, or when a loop resets to a mark it took. One a process, one a shell, one an AST.
 * A Budget is a ledger: contexts, counted objects (obj.h) and chunks of one shell charge the same one.
 *
 * Who may call: every layer. A context belongs to one thread at a time.
 * Failure: when the budget or malloc says no, the context's `fail` handler is called with its user
 * pointer. A handler that raises does not return; if there is none or it returns, NULL is returned.
 * Code that runs under a process's context may therefore ignore NULL; vfs, kernel and lang state,
 * which must not raise half way, use contexts or objects without a handler and check.
 *
 * Debug mode (-DLIBSHELL_MEM_DEBUG): one malloc block an allocation, freed by reset and drop, so that
 * ASan sees an overflow between neighbours and a use after a reset.
 */
#ifndef LIBSHELL_MEM_H
#define LIBSHELL_MEM_H

#include "base.h"

/* The ledger of one shell's memory. `fail_at` counts takes for allocation torture: when it reaches
 * zero that take fails (and every later one when fail_forever). 0 means no torture. */
typedef struct Budget {
    uint64_t used, peak;
    uint64_t limit;    /* bytes; 0 is unlimited */
    uint64_t takes;    /* takes so far */
    uint64_t fail_at;  /* the take that fails, counted from 1 */
    bool fail_forever;
    bool refused;      /* set by a take that failed: tells a limit from an ordinary NULL */
} Budget;

bool budget_take(Budget *b, size_t n);
void budget_give(Budget *b, size_t n);

typedef struct MemBlock MemBlock;

typedef struct Mem {
    char *at, *end;  /* the free window of the newest block */
    MemBlock *blocks; /* windows, newest first */
    MemBlock *large;  /* allocations with a block of their own, newest first */
    Budget *budget;
    void (*fail)(void *user);
    void *user;
    size_t next_size; /* of the next ordinary block */
} Mem;

typedef struct {
    MemBlock *block, *large;
    char *at;
} MemMark;

/* Sets up an empty context in place; allocates nothing. `budget` may be NULL (unlimited). */
void mem_init(Mem *m, Budget *budget, void (*fail)(void *user), void *user);

/* Frees everything. The context is empty and usable afterwards. */
void mem_drop(Mem *m);
/* Overwrites everything that was allocated since it was last empty; before mem_drop, where secrets were. */
void mem_wipe(Mem *m);
/* Keeps what it holds now out of core dumps, or lets it in again, which must be before it is dropped. Whole pages: neighbours go with it. */
void mem_hide(Mem *m, bool hidden);
/* As mem_drop, but keeps the first window for the next use. */
void mem_recycle(Mem *m);

/* Bytes in its blocks, as charged. */
size_t mem_bytes(const Mem *m);
/* Gives the budget back what the context charged; from here on it charges nobody. */
void mem_detach(Mem *m);

void *mem_alloc_slow(Mem *m, size_t n);

#define MEM_ALIGN 16u

/* n bytes, aligned to 16, uninitialised. n == 0 gives a valid pointer. */
static inline void *mem_alloc(Mem *m, size_t n)
{
#ifndef LIBSHELL_MEM_DEBUG
    size_t size = (n + !n + (MEM_ALIGN - 1)) & ~(size_t)(MEM_ALIGN - 1);
    if (likely(size > n - 1 && size <= (size_t)(m->end - m->at))) {
        void *p = m->at;
        m->at += size;
        return p;
    }
#endif
    return mem_alloc_slow(m, n);
}

void *mem_alloc0(Mem *m, size_t n);
void *mem_alloc_array(Mem *m, size_t count, size_t size); /* zeroed, checked product */
/* Grows `old` (of old_size bytes, from this context) to new_size; in place when it is the newest. */
void *mem_grow(Mem *m, void *old, size_t old_size, size_t new_size);
char *mem_copy(Mem *m, Slice s); /* NUL-terminated copy */
char *mem_strdup(Mem *m, const char *s);
char *mem_printf(Mem *m, const char *format, ...) PRINTF_LIKE(2, 3);

#define mem_new(m, type) ((type *)mem_alloc0((m), sizeof(type)))
#define mem_array(m, count, type) ((type *)mem_alloc_array((m), (count), sizeof(type)))

MemMark mem_mark(Mem *m);
/* Frees what was allocated since `mark`. Pointers older than the mark stay valid. */
void mem_reset(Mem *m, MemMark mark);

/* Growable bytes in a context, with a ceiling. A Buf (or Map) that is older than a mark must not grow before
 * that mark's reset: keep it in a context that the loop does not reset. After a refusal (ceiling or memory) `failed` is set and
 * further appends do nothing, so a caller may check once at the end. Always NUL-terminated when non-NULL. */
typedef struct Buf {
    char *data;
    size_t len, cap, max;
    Mem *mem;
    bool failed;
} Buf;

#define BUF_MAX ((size_t)1 << 40) /* "as much as the budget allows" */

void buf_init(Buf *b, Mem *m, size_t max);
bool buf_reserve(Buf *b, size_t more); /* room for `more` bytes and a NUL */
bool buf_append(Buf *b, Slice s);
bool buf_printf(Buf *b, const char *format, ...) PRINTF_LIKE(2, 3);
static inline bool buf_char(Buf *b, char c)
{
    if (unlikely(b->len + 1 >= b->cap) && !buf_reserve(b, 1))
        return false;
    b->data[b->len++] = c;
    b->data[b->len] = 0;
    return true;
}
static inline Slice buf_slice(const Buf *b) { return (Slice){b->data, b->len}; }
static inline void buf_clear(Buf *b) { b->len = 0; }

/* Formats the value in decimal at the end of `out` (at least 21 bytes); returns the first digit's place. */
char *format_int(int64_t v, char out[24], size_t *len);

#endif
