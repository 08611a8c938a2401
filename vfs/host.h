/* host: a directory (or one file) of the host, reached from a descriptor opened once.
 *
 * Paths are relative to it, without "." and "..", "" being itself; no symlink on them is followed, the last
 * component included: the vfs resolves symlinks itself. Descriptors are close-on-exec and never block on opening.
 * Only the host_*.c files behind this name system calls; errors come back as -errno.
 */
#ifndef LIBSHELL_VFS_HOST_H
#define LIBSHELL_VFS_HOST_H

#include <sys/stat.h>

#include "vfs.h"

typedef struct HostTree {
    _Atomic uint32_t holders;
    int fd;            /* the directory; of a single file, the directory it is in */
    char *file;        /* the file's name, or NULL; in `path` */
    bool write_linked, no_openat2;
    uint32_t uid, gid; /* who owns what is seen */
    char path[];       /* as opened, for nothing but opening */
} HostTree;

/* Opens the source of a bind. NULL with *error and *message (static) when it is refused or missing. */
HostTree *host_tree_open(const VBind *bind, int *error, const char **message);
HostTree *host_tree_ref(HostTree *t);
void host_tree_unref(HostTree *t);
bool host_tree_is_file(const HostTree *t);

int host_open(const HostTree *t, const char *path, int flags); /* O_*; a descriptor */
/* The directory that holds the last component (a descriptor), and that component. */
int host_open_parent(const HostTree *t, const char *path, const char **name);
void host_close(int fd);
int host_fstat(const HostTree *t, int fd, VStat *out);
int host_stat(const HostTree *t, const char *path, VStat *out);
int host_readlink(const HostTree *t, const char *path, Mem *mem, Slice *out);
int host_list(const HostTree *t, const char *path, Mem *mem, VDirent **out, size_t *count); /* by name */
/* A directory's entries by name, each looked at: regular files, directories and symlinks (with their targets). */
typedef struct {
    Slice name, target;
    VStat stat;
} HostEntry;
int host_scan(const HostTree *t, const char *path, Mem *mem, HostEntry **out, size_t *count);
/* The whole of an open file, in a chunk of its size; it may grow or shrink meanwhile. */
int host_read_all(Gen *g, int fd, uint64_t size, Chunk **out, uint64_t *len);
ssize_t host_pread(int fd, char *buf, size_t n, uint64_t off);

extern const VMountOps host_direct_ops; /* user is a HostTree */

#endif
