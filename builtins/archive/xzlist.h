/* xzlist: xz --list. */
#ifndef LIBSHELL_XZLIST_H
#define LIBSHELL_XZLIST_H

#include "command.h"

typedef struct XzList {
    bool verbose, robot;
    size_t given;  /* files to come, for headings */
    size_t files, streams;
    uint64_t blocks, size, unpacked, padding;
    unsigned checks;
} XzList;

/* Prints what a file holds and adds it to the sums. NULL, or what is wrong with it, in xz's words. */
const char *xz_list(Proc *p, XzList *list, Slice file, const char *name);
/* The line of sums, where there is one. */
void xz_list_end(Proc *p, const XzList *list);

#endif
