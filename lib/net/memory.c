/* memory: libcurl's, wiped before it goes back: what it copied of a request (headers, user and password, what a server echoed) is not left
 * in the heap. Blocks are malloc's own, so that a host that uses libcurl too may free them either way. */
#include "net.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The buffer of a transfer, which the next one wants again: given back each time, malloc returns its pages to the system and fetches them anew.
 * One for the process; it holds zeros. */
enum { KEPT_LEAST = 48 * 1024, KEPT_MOST = 80 * 1024 };
static _Atomic(void *) kept;

static void *keeping_malloc(size_t n)
{
    void *block = n >= KEPT_LEAST && n <= KEPT_MOST ? atomic_exchange(&kept, NULL) : NULL;
    if (block && malloc_usable_size(block) >= n)
        return block;
    free(block);
    return malloc(n);
}

static void wiping_free(void *block)
{
    size_t n = block ? malloc_usable_size(block) : 0;
    if (block)
        explicit_bzero(block, n);
    if (n >= KEPT_LEAST && n <= KEPT_MOST)
        block = atomic_exchange(&kept, block);
    free(block);
}

static void *wiping_realloc(void *block, size_t size)
{
    size_t old = block ? malloc_usable_size(block) : 0;
    if (!block || (size <= old && size >= old / 2))
        return realloc(block, size);
    void *moved = malloc(size ? size : 1);
    if (!moved)
        return NULL;
    memcpy(moved, block, old < size ? old : size);
    wiping_free(block);
    return moved;
}

void memory_set_up(void) { curl_global_init_mem(CURL_GLOBAL_DEFAULT, keeping_malloc, wiping_free, wiping_realloc, strdup, calloc); }
