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
    Slice comment;
    uint32_t uid, gid;  /* from the extra field */
    bool has_ids;
    uint64_t place;     /* of its record in the directory, in the file */
} ZipEntry;

typedef struct ZipDirectory {
    ZipEntry *entries;
    size_t count;
    uint64_t file_size;
    Slice comment;
    int64_t extra;      /* bytes that lie before where offsets count from */
    uint64_t end;       /* where the end record is */
} ZipDirectory;

enum { ZIP_OK = 0, ZIP_NOT_FOUND = -1, ZIP_BROKEN = -2 };
/* The central directory of an open file, in p->keep. */
int zip_read_directory(Proc *p, int fd, ZipDirectory *d);
/* Its time from its DOS fields, and what its extra field says. */
void zip_entry_times(Proc *p, ZipEntry *e, const char *extra, size_t n);
/* Seeks to a member's data; false when its local header is not there. */
bool zip_seek_data(Proc *p, int fd, const ZipEntry *e);
/* Data of the member at the descriptor's place, decompressed, to `put`; what is wrong with it, or NULL. */
const char *zip_expand(Proc *p, int fd, const ZipEntry *e, void (*put)(void *arg, Slice data), void *arg, uint32_t *crc);
int zip_percent(uint64_t packed, uint64_t size);

/* --- zip.c, fix.c --- */

typedef struct Item {
    char *name;        /* in the archive */
    const char *path;  /* of the file; NULL: kept from the old archive */
    const ZipEntry *old;
    ZipEntry done;     /* as written; no name: it could not be read */
    Slice comment;
    VStat st;
} Item;

typedef struct {
    Proc *p;
    const char *archive, *output; /* output: --out */
    bool recurse, junk, quiet, from_stdin, update, freshen, deletes, moves, links, no_directories, no_extra;
    bool adjust, test, comments, archive_comment, latest, show_files, sync, must_match, patterns, junk_prefix, copying;
    int level, status, fix, to_crlf;
    const char *suffixes; /* of what is only stored */
    char **excluded, **included;
    int excluded_count, included_count;
    Item *items;
    size_t count, cap;
    Map names; /* places in items, until some of those are taken out */
    int out, old;
    uint64_t at;
    Buf directory;
    uint64_t entries, prefix; /* prefix: bytes in front of the first member */
    Slice comment;
    const char *made; /* the new archive while it is being written */
    ZipDirectory dir;
} Zip;

NORETURN void zip_fail(Zip *z, int status, const char *text);
void zip_warning(Zip *z, const char *text);
void zip_add_old(Zip *z, ZipEntry *e);
void zip_write(Zip *z); /* the items to z->archive, or z->output */
NORETURN void zip_adjust(Zip *z);
NORETURN void zip_repair(Zip *z);
bool zip_test_items(Zip *z, int fd); /* prints what is broken */

#endif
