/* memory: libcurl's, wiped before it goes back: what it copied of a request (headers, user and password, what a server echoed) is not left
 * in the heap. Blocks are malloc's own, so that a host that uses libcurl too may free them either way. */
#include "net.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static void wiping_free(void *block)
{
    if (block)
        explicit_bzero(block, malloc_usable_size(block));
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

void memory_set_up(void) { curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, wiping_free, wiping_realloc, strdup, calloc); }
