/* zip: what zip and unzip share: the directory of an archive. PKZIP's format with stored and deflated members; zip64 is read. */
#ifndef LIBSHELL_ZIP_H
#define LIBSHELL_ZIP_H

#include "archive/archive.h"

typedef struct ZipEntry {
    char *name;
    unsigned made_by, version, flags, method, dos_time, dos_date, internal;
    uint32_t crc, attributes;
    uint64_t packed, size, offset;
    int64_t mtime;      /* from the extra field, or the DOS time in the shell's zone */
    bool has_mtime;
} ZipEntry;

typedef struct ZipDirectory {
    ZipEntry *entries;
    size_t count;
    uint64_t file_size;
    const char *comment;
} ZipDirectory;

enum { ZIP_OK = 0, ZIP_NOT_FOUND = -1, ZIP_BROKEN = -2 };
/* The central directory of an open file, in p->keep. */
int zip_read_directory(Proc *p, int fd, ZipDirectory *d);
/* Seeks to a member's data; false when its local header is not there. */
bool zip_seek_data(Proc *p, int fd, const ZipEntry *e);
/* Data of the member at the descriptor's place, decompressed, to `put`; what is wrong with it, or NULL. */
const char *zip_expand(Proc *p, int fd, const ZipEntry *e, void (*put)(void *arg, Slice data), void *arg, uint32_t *crc);
int zip_percent(uint64_t packed, uint64_t size);

#endif
