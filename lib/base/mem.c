/* mem: arenas, buffers and the byte ledger. */
#include "guard.h"
#include "host.h"
#include "mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct MemBlock {
    MemBlock *older;
    size_t size; /* of the whole block, as charged */
    char *end;
};

enum { FIRST_BLOCK = 1024, LARGEST_BLOCK = 64 * 1024 };

/* ---- the ledger ---- */

bool budget_take(Budget *b, size_t n)
{
    b->takes++;
    if (unlikely(b->fail_at && (b->takes == b->fail_at || (b->fail_forever && b->takes > b->fail_at)))) {
        b->refused = true;
        return false;
    }
    uint64_t used;
    if (__builtin_add_overflow(b->used, n, &used) || GUARD(RUN_MEMORY, b->limit && used > b->limit)) {
        b->refused = true;
        return false;
    }
    b->used = used;
    if (used > b->peak)
        b->peak = used;
    return true;
}

void budget_give(Budget *b, size_t n)
{
    b->used = b->used > n ? b->used - n : 0;
}

/* ---- contexts ---- */

static MemBlock *block_new(Budget *budget, size_t size)
{
    if (budget && !budget_take(budget, size))
        return NULL;
    MemBlock *block = malloc(size);
    if (!block) {
        if (budget) {
            budget_give(budget, size);
            budget->refused = true;
        }
        return NULL;
    }
    block->size = size;
    block->end = (char *)block + size;
    return block;
}

static void block_free(Budget *budget, MemBlock *block)
{
    if (budget)
        budget_give(budget, block->size);
    free(block);
}

enum { HEADER = (sizeof(MemBlock) + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN };

static char *block_data(MemBlock *block) { return (char *)block + HEADER; }

void mem_init(Mem *m, Budget *budget, void (*fail)(void *user), void *user)
{
    *m = (Mem){.budget = budget, .fail = fail, .user = user, .next_size = FIRST_BLOCK};
}

static void *mem_refuse(Mem *m)
{
    if (m->fail)
        m->fail(m->user);
    return NULL;
}

/* A block of its own for what is large (or for everything, in debug mode); else a new window. */
void *mem_alloc_slow(Mem *m, size_t n)
{
    size_t size, whole;
    if (!size_add(n, MEM_ALIGN - 1, &size))
        return mem_refuse(m);
    size &= ~(size_t)(MEM_ALIGN - 1);
#ifdef LIBSHELL_MEM_DEBUG
    size = n; /* exact, so that ASan sees the first byte beyond */
    bool alone = true;
#else
    bool alone = size > m->next_size / 2;
#endif
    if (!size_add(HEADER, alone ? size : m->next_size, &whole))
        return mem_refuse(m);
    MemBlock *block = block_new(m->budget, whole);
    if (!block)
        return mem_refuse(m);
    if (alone) {
        block->older = m->large;
        m->large = block;
        return block_data(block);
    }
    block->older = m->blocks;
    m->blocks = block;
    if (m->next_size < LARGEST_BLOCK)
        m->next_size *= 2;
    m->at = block_data(block) + size;
    m->end = block->end;
    return block_data(block);
}

static MemBlock *free_until(Budget *budget, MemBlock *block, const MemBlock *last)
{
    while (block != last) {
        MemBlock *older = block->older;
        block_free(budget, block);
        block = older;
    }
    return block;
}

void mem_reset(Mem *m, MemMark mark)
{
    m->blocks = free_until(m->budget, m->blocks, mark.block);
    m->large = free_until(m->budget, m->large, mark.large);
    m->at = mark.at;
    m->end = m->blocks ? m->blocks->end : NULL;
    if (!m->blocks)
        m->next_size = FIRST_BLOCK;
}

MemMark mem_mark(Mem *m) { return (MemMark){m->blocks, m->large, m->at}; }

void mem_drop(Mem *m)
{
    mem_reset(m, (MemMark){NULL, NULL, NULL});
}

void mem_hide(Mem *m, bool hidden)
{
    MemBlock *lists[] = {m->blocks, m->large};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (MemBlock *b = lists[i]; b; b = b->older)
            host_dump(b, b->size, !hidden);
}

void mem_wipe(Mem *m)
{
    MemBlock *lists[] = {m->blocks, m->large};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (MemBlock *b = lists[i]; b; b = b->older) {
            memset(block_data(b), 0, (size_t)(b->end - block_data(b)));
            __asm__ __volatile__("" : : "r"(b) : "memory"); /* or the compiler sees that nobody reads it again */
        }
}

void mem_recycle(Mem *m)
{
#ifdef LIBSHELL_MEM_DEBUG
    mem_drop(m);
#else
    MemBlock *first = m->blocks;
    while (first && first->older)
        first = first->older;
    mem_reset(m, (MemMark){first, NULL, first ? block_data(first) : NULL});
#endif
}

size_t mem_bytes(const Mem *m)
{
    size_t sum = 0;
    for (const MemBlock *b = m->blocks; b; b = b->older)
        sum += b->size;
    for (const MemBlock *b = m->large; b; b = b->older)
        sum += b->size;
    return sum;
}

void mem_detach(Mem *m)
{
    if (m->budget)
        budget_give(m->budget, mem_bytes(m));
    m->budget = NULL;
}

void *mem_alloc0(Mem *m, size_t n)
{
    void *p = mem_alloc(m, n);
    return p ? memset(p, 0, n) : NULL;
}

void *mem_alloc_array(Mem *m, size_t count, size_t size)
{
    size_t n;
    if (!size_mul(count, size, &n))
        return mem_refuse(m);
    return mem_alloc0(m, n);
}

void *mem_grow(Mem *m, void *old, size_t old_size, size_t new_size)
{
    if (!old)
        return mem_alloc(m, new_size);
    if (new_size <= old_size)
        return old;
#ifndef LIBSHELL_MEM_DEBUG
    size_t old_end = (old_size + MEM_ALIGN - 1) & ~(size_t)(MEM_ALIGN - 1);
    char *tail = (char *)old + old_end;
    size_t more = new_size - old_size;
    if (tail == m->at && more <= (size_t)(m->end - m->at)) {
        size_t new_end = (new_size + MEM_ALIGN - 1) & ~(size_t)(MEM_ALIGN - 1);
        if (new_end - old_end <= (size_t)(m->end - m->at)) {
            m->at += new_end - old_end;
            return old;
        }
    }
#endif
    void *p = mem_alloc(m, new_size);
    return p ? memcpy(p, old, old_size) : NULL;
}

char *mem_copy(Mem *m, Slice s)
{
    size_t n;
    if (!size_add(s.len, 1, &n))
        return mem_refuse(m);
    char *p = mem_alloc(m, n);
    if (!p)
        return NULL;
    if (s.len)
        memcpy(p, s.data, s.len);
    p[s.len] = 0;
    return p;
}

char *mem_strdup(Mem *m, const char *s) { return mem_copy(m, slice_str(s)); }

char *mem_printf(Mem *m, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *p = n < 0 ? mem_refuse(m) : mem_alloc(m, (size_t)n + 1);
    if (p)
        vsnprintf(p, (size_t)n + 1, format, again);
    va_end(again);
    return p;
}

/* ---- buffers ---- */

void buf_init(Buf *b, Mem *m, size_t max) { *b = (Buf){.mem = m, .max = max}; }

bool buf_reserve(Buf *b, size_t more)
{
    size_t need;
    if (b->failed)
        return false;
    if (!size_add(b->len, more, &need) || need > b->max || !size_add(need, 1, &need)) {
        b->failed = true;
        return false;
    }
    if (need <= b->cap)
        return true;
    size_t cap = b->cap < 64 ? 64 : b->cap;
    while (cap < need)
        if (!size_add(cap, cap, &cap))
            cap = need;
    char *data = mem_grow(b->mem, b->data, b->data ? b->cap : 0, cap);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->cap = cap;
    b->data[b->len] = 0;
    return true;
}

bool buf_append(Buf *b, Slice s)
{
    if (!buf_reserve(b, s.len))
        return false;
    if (s.len)
        memcpy(b->data + b->len, s.data, s.len);
    b->len += s.len;
    b->data[b->len] = 0;
    return true;
}

bool buf_printf(Buf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    bool ok = n >= 0 && buf_reserve(b, (size_t)n);
    if (ok) {
        vsnprintf(b->data + b->len, (size_t)n + 1, format, again);
        b->len += (size_t)n;
    }
    va_end(again);
    return ok;
}

char *format_int(int64_t v, char out[24], size_t *len)
{
    char *at = out + 23;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    *at = 0;
    do {
        *--at = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    if (v < 0)
        *--at = '-';
    *len = (size_t)(out + 23 - at);
    return at;
}
