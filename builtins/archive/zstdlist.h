/* zstdlist: zstd --list, and sizes as zstd shows them. */
#ifndef LIBSHELL_ZSTDLIST_H
#define LIBSHELL_ZSTDLIST_H

#include "command.h"

/* The number to print with %6s and its unit, " B" to " EiB". */
const char *zstd_size(Proc *p, uint64_t n, const char **unit);

typedef struct ZstdList {
    bool verbose, unknown; /* unknown: some frame does not say how much it holds */
    size_t files;
    uint64_t frames, skipped, size, unpacked;
    bool unchecked; /* some file has no checksum */
} ZstdList;

void zstd_list_head(Proc *p, const ZstdList *list);
/* Prints what a file holds and adds it to the sums; false after a message. */
bool zstd_list(Proc *p, ZstdList *list, Slice file, const char *name);
/* The line of sums, where there were several files. */
void zstd_list_end(Proc *p, const ZstdList *list);

#endif
