/* vfs: the in-memory inode file system, its images, and what is mounted into it.
 *
 * It does not know that shells exist. The kernel calls it with a Vfs, a credential and paths; nobody
 * else does, except lib/api for the embedder's file calls and images.
 *
 * Shape: inodes in a persistent tree keyed by number, directories as persistent trees ordered by name
 * (bytes), file data as a vector of extents over counted chunks (obj.h). All of it hangs off one root in the
 * Vfs, so a fork is gen_retire plus another Vfs over the same root: constant time whatever the tree's size.
 * Open counts, unlinked-but-open inodes and the like live in the Vfs beside the tree, never in it.
 *
 * Every function returns 0 (or a count) or -errno; nothing raises. A change reserves all it needs first and
 * then commits: after -ENOMEM the tree is as it was. Resolution follows at most 40 symlinks (-ELOOP), names are
 * at most 255 bytes and paths 4,095 (-ENAMETOOLONG).
 *
 * Only vfs/host_*.c names system calls. Host directories are reached from a descriptor opened once, by
 * openat2(RESOLVE_BENEATH|RESOLVE_NO_MAGICLINKS) or a component-wise O_NOFOLLOW walk where that is missing.
 */
#ifndef LIBSHELL_VFS_H
#define LIBSHELL_VFS_H

#include "lib/base/obj.h"

typedef struct Vfs Vfs;
typedef struct VfsImage VfsImage; /* a frozen tree, counted, usable from any thread */
typedef struct VDir VDir;         /* a directory held as a working directory or a starting point; counted */
typedef struct VFile VFile;       /* an open inode; counted */

typedef struct {
    uint32_t uid, gid;
    uint32_t umask;
} VCred; /* uid 0 passes every permission check */

/* File types and permission bits are the host's S_IF* and 07777. */
typedef struct {
    uint64_t ino;
    uint32_t dev;   /* 1 the memory tree, then one a mount */
    uint32_t mode;
    uint32_t nlink;
    uint32_t uid, gid;
    uint32_t rdev;  /* VDEV_* for a character device */
    uint64_t size;
    uint64_t blocks; /* of 512 bytes, as du counts */
    int64_t atime, mtime, ctime, btime; /* seconds */
    uint32_t atime_ns, mtime_ns, ctime_ns, btime_ns;
} VStat;

enum { VDEV_NULL = 1, VDEV_ZERO, VDEV_FULL, VDEV_RANDOM, VDEV_STDIN, VDEV_STDOUT, VDEV_STDERR, VDEV_TTY, VDEV_FD };
/* rdev of /proc/self/fd/n and /dev/fd/n: the kernel dups descriptor n of the process that opens it. */
#define VDEV_FD_NUMBER(n) ((uint32_t)VDEV_FD | (uint32_t)(n) << 8)

/* Quotas of one Vfs; 0 is unlimited. A hit is -ENOSPC (bytes, inodes) or -EFBIG (file_bytes). */
typedef struct {
    uint64_t bytes, file_bytes, inodes;
} VQuota;

typedef struct {
    uint64_t bytes;  /* logical size of what differs from the image */
    uint64_t inodes;
} VUsage;

/* The clock is the kernel's: times put on inodes come from here. */
typedef struct {
    int64_t (*now)(void *user, uint32_t *nanosecond);
    void *user;
} VClock;

/* --- a file system and its images --- */

/* An empty tree ("/", mode 0755, root's) whose objects are made in `gen`, for building an image. */
Vfs *vfs_new(Gen *gen);
/* A file system that starts as `image`, in `gen`, which has vfs_image_gen(image) as an ancestor. */
Vfs *vfs_from_image(VfsImage *image, Gen *gen);
/* Closes it. Objects of its generation go with the generation, so this does not walk the tree. */
void vfs_free(Vfs *fs);
void vfs_set_clock(Vfs *fs, VClock clock);
void vfs_set_quota(Vfs *fs, VQuota quota);
void vfs_set_context(Vfs *fs, void *context); /* what lazy files' load is handed */
VUsage vfs_usage(const Vfs *fs);
Gen *vfs_gen(const Vfs *fs);

/* An image of what `fs` holds now. The caller has just retired the generation that made it and moved `fs` on to a fresh one
 * (vfs_move_to), or `fs` is in a generation that has made nothing: the image holds the parent of vfs_gen(fs). Mounts are not part of it. NULL: no memory. */
VfsImage *vfs_freeze(Vfs *fs);
VfsImage *vfs_image_ref(VfsImage *image);
void vfs_image_unref(VfsImage *image);
Gen *vfs_image_gen(const VfsImage *image);

/* For the fork of a live shell (its generation retired by the caller): `fs` goes on in `fresh`; open files stay open. */
void vfs_move_to(Vfs *fs, Gen *fresh);
/* The other side: a new Vfs over the same root, base, quota and mounts in `fresh`, with nothing open. NULL: no memory. */
Vfs *vfs_fork(const Vfs *fs, Gen *fresh);
/* An open file or held directory of the old side in the new one, also when it was unlinked. NULL: no memory. */
VFile *vfs_file_fork(Vfs *to, const VFile *f);
VDir *vfs_dir_fork(Vfs *to, const VDir *d);

/* vfs_changes and vfs_usage count from here: what was bound by copy before is not a change. Made at open, after the binds. */
int vfs_set_base(Vfs *fs);
/* Back to the base; mounts stay, open files keep what they had open. */
int vfs_to_base(Vfs *fs);

/* A look at every operation once its path is resolved and before anything is done: file policy, questions, audit. */
typedef enum { VOP_READ, VOP_LIST, VOP_WRITE, VOP_CREATE, VOP_DELETE, VOP_CHMOD } VOp;
typedef struct VGuard {
    int (*check)(void *user, VOp op, VDir *dir, Slice name); /* 0, or -errno to refuse; -EINPROGRESS: ask again later, nothing was done */
    /* A rename or a hard link, besides the checks of both its ends. */
    int (*moved)(void *user, VDir *dir, Slice name, VDir *to, Slice to_name, bool directory);
    void (*changed)(void *user, VOp op, VDir *dir, Slice name);
    void *user;
} VGuard;
void vfs_set_guard(Vfs *fs, VGuard guard);
bool vfs_dir_direct(const VDir *d); /* inside a direct bind */

/* --- paths ---
 * `at` is where a relative path starts; NULL is "/". Paths are NUL-terminated. */

enum { V_NOFOLLOW = 1 }; /* do not follow a symlink in the last place */

int vfs_dir_open(Vfs *fs, const VCred *c, VDir *at, const char *path, VDir **out); /* needs search permission */
VDir *vfs_dir_ref(VDir *d);
void vfs_dir_unref(Vfs *fs, VDir *d);
/* Physical path of a directory now; -ENOENT when it was removed. NUL-terminated in mem. */
int vfs_dir_path(Vfs *fs, VDir *d, Mem *mem, char **out);

int vfs_stat(Vfs *fs, const VCred *c, VDir *at, const char *path, int flags, VStat *out);
int vfs_access(Vfs *fs, const VCred *c, VDir *at, const char *path, int rwx); /* 4 2 1, as access(2) */
int vfs_mkdir(Vfs *fs, const VCred *c, VDir *at, const char *path, uint32_t mode);
int vfs_rmdir(Vfs *fs, const VCred *c, VDir *at, const char *path);
int vfs_unlink(Vfs *fs, const VCred *c, VDir *at, const char *path);
int vfs_rename(Vfs *fs, const VCred *c, VDir *at, const char *from, VDir *to_at, const char *to, bool no_replace);
int vfs_link(Vfs *fs, const VCred *c, VDir *at, const char *from, VDir *to_at, const char *to, int flags);
int vfs_symlink(Vfs *fs, const VCred *c, const char *target, VDir *at, const char *path);
int vfs_readlink(Vfs *fs, const VCred *c, VDir *at, const char *path, Mem *mem, Slice *out);
int vfs_mknod(Vfs *fs, const VCred *c, VDir *at, const char *path, uint32_t mode, uint32_t rdev);
int vfs_chmod(Vfs *fs, const VCred *c, VDir *at, const char *path, int flags, uint32_t mode);
int vfs_chown(Vfs *fs, const VCred *c, VDir *at, const char *path, int flags, uint32_t uid, uint32_t gid); /* -1 keeps */

enum { VTIME_OMIT, VTIME_SET, VTIME_NOW }; /* NOW needs write permission only, SET ownership */
typedef struct { int64_t seconds; uint32_t nanosecond; int how; } VTime;
int vfs_utimes(Vfs *fs, const VCred *c, VDir *at, const char *path, int flags, VTime atime, VTime mtime);
int vfs_truncate(Vfs *fs, const VCred *c, VDir *at, const char *path, uint64_t size);

/* Absolute, symlink-free path: all must exist (-e), the last component may be missing (-f), any may (-m). */
typedef enum { REALPATH_EXISTING, REALPATH_LAST_MISSING, REALPATH_ANY_MISSING } RealpathMode;
int vfs_realpath(Vfs *fs, const VCred *c, VDir *at, const char *path, RealpathMode mode, Mem *mem, char **out);

typedef struct { uint64_t bytes, bytes_free, inodes, inodes_free; uint32_t dev; } VStatfs; /* from quotas; for df and stat -f */
int vfs_statfs(Vfs *fs, const VCred *c, VDir *at, const char *path, VStatfs *out);

/* Entries in name order, without . and .. ; the names live in mem. */
typedef struct { Slice name; uint64_t ino; uint32_t type; /* S_IF* */ } VDirent;
int vfs_list(Vfs *fs, const VCred *c, VDir *at, const char *path, Mem *mem, VDirent **out, size_t *count);

/* --- open files --- */

enum {
    V_READ = 1, V_WRITE = 2, V_CREATE = 4, V_EXCL = 8, V_TRUNC = 16, V_APPEND = 32, V_DIRECTORY = 64, V_OPEN_NOFOLLOW = 128,
    V_NONBLOCK = 256, /* for the kernel: a FIFO does not wait for its other end */
};

/* A FIFO or device opens too: its bytes are the kernel's business, told by vfs_file_stat. */
int vfs_open(Vfs *fs, const VCred *c, VDir *at, const char *path, int flags, uint32_t mode, VFile **out);
VFile *vfs_file_ref(VFile *f);
void vfs_file_unref(Vfs *fs, VFile *f);
int vfs_file_stat(Vfs *fs, VFile *f, VStat *out);
int vfs_file_truncate(Vfs *fs, VFile *f, uint64_t size);
int vfs_file_chmod(Vfs *fs, const VCred *c, VFile *f, uint32_t mode);
int vfs_file_chown(Vfs *fs, const VCred *c, VFile *f, uint32_t uid, uint32_t gid);
int vfs_file_utimes(Vfs *fs, VFile *f, VTime atime, VTime mtime);
/* `to` becomes a copy of `from`: extents by reference, and the command it may be. -EXDEV when either is not in memory. */
int vfs_clone(Vfs *fs, VFile *from, VFile *to);

/* Reads up to max bytes at off. *chunk (one reference counted in vfs_gen(fs), or NULL: then out lies in `scratch`, at least max bytes) keeps `out` alive: file data is passed, not
 * copied, where it is in memory. With scratch NULL what would need it is -ENOBUFS. 0 with out->len 0 at the end of the file. */
int vfs_read(Vfs *fs, VFile *f, uint64_t off, size_t max, char *scratch, Chunk **chunk, Slice *out);
/* Writes all or nothing more than the quota allows: bytes written (may be short before -ENOSPC) or -errno. With
 * V_APPEND the offset is the end. `chunk` (may be NULL) holds `data` and may be kept instead of copying.
 * *at receives the offset after the write. */
ssize_t vfs_write(Vfs *fs, VFile *f, uint64_t off, Slice data, Chunk *chunk, uint64_t *at);

/* An executable inode of the base image names a command in its data; this tells without reading: the
 * name, or an empty slice. Copies, links and renames keep it. Writing to the inode ends it. */
Slice vfs_command(Vfs *fs, VFile *f);
int vfs_make_command(Vfs *fs, const char *path, const char *command); /* while building an image; as root */

/* Changes whenever any directory changes: for caches of look-ups along PATH. */
uint64_t vfs_generation(const Vfs *fs);

/* --- mounts --- */

typedef enum { VBIND_COPY, VBIND_DIRECT, VBIND_OVERLAY } VBindMode;

typedef struct {
    const char *source;      /* host directory or file, absolute or relative to the host's cwd */
    const char *destination; /* absolute, in the shell; parents are made */
    VBindMode mode;
    bool readonly;           /* every change below it is -EROFS */
    bool write_linked;       /* direct: files with several links may be written */
    bool no_openat2;         /* test seam: force the component-wise walk */
    uint32_t uid, gid;       /* owner that the shell sees */
    const struct VBindFilter *filter; /* copy: what is taken; NULL: all */
} VBind;

/* Paths are relative to the source, symlinks are no directories. enter: before a directory's entries, with the text of its .gitignore ("" when it has none); leave: behind
 * them. Both 0 or -errno. What keep refuses is not there, nor anything below it. */
typedef struct VBindFilter {
    int (*enter)(void *user, const char *dir, Slice ignore);
    void (*leave)(void *user);
    bool (*keep)(void *user, const char *path, bool directory);
    void *user;
} VBindFilter;

/* `/`, `/proc`, `/sys`, `/dev` and what is below the last three are refused (-EACCES). On failure *message (static)
 * says why. copy reads the tree once, into the tree of `fs`. */
int vfs_bind(Vfs *fs, const VBind *bind, const char **message);

/* What a bind made at `destination` in a live file system is taken for: part of the base, so that it is no change and a reset keeps it. */
int vfs_bind_live(Vfs *fs, const VBind *bind, const char **message);
/* Takes away what was bound at `destination`: its mount, and (unless keep: a live directory has none) its files, from the base as well.
 * -EBUSY while something below it is open or held. */
int vfs_unbind(Vfs *fs, const char *destination, bool keep);

/* A file whose bytes come when it is first opened for reading or writing. load: 0 with *data (malloc'd, then the vfs's), -errno, or
 * -EINPROGRESS: ask again. Images, forks and snapshots share it: ref and unref may be called from any thread. */
typedef struct VLazyOps {
    int (*load)(void *user, void *context, char **data, size_t *len); /* context: vfs_set_context of the file system that asks */
    void (*ref)(void *user);
    void (*unref)(void *user);
} VLazyOps;
/* size: what stat says until then. Takes a reference to user. */
int vfs_lazy_file(Vfs *fs, const VCred *c, VDir *at, const char *path, uint64_t size, uint32_t mode, const VLazyOps *ops, void *user);

/* A file system served by callbacks beside binds: the seam for the embedder's mounts.
 * Paths are relative to the mount ("" is its root). Every call returns 0/count or -errno; a missing one is -ENOSYS; -EINPROGRESS: nothing was done, the kernel waits for
 * the mount's answer and repeats the call. */
typedef struct VMountOps {
    int (*stat)(void *user, const char *path, VStat *out);
    int (*list)(void *user, const char *path, Mem *mem, VDirent **out, size_t *count);
    int (*readlink)(void *user, const char *path, Mem *mem, Slice *out);
    int (*open)(void *user, const char *path, int flags, uint32_t mode, void **file);
    void (*close)(void *user, void *file);
    int (*dup)(void *user, void *file, void **copy); /* for a fork, whose mount is `user`; missing: the copy's descriptor is of no use */
    int (*fstat)(void *user, void *file, VStat *out);
    ssize_t (*read)(void *user, void *file, uint64_t off, char *buf, size_t n);
    ssize_t (*write)(void *user, void *file, uint64_t off, Slice data);
    int (*truncate)(void *user, void *file, uint64_t size);
    int (*mkdir)(void *user, const char *path, uint32_t mode);
    int (*remove)(void *user, const char *path, bool directory);
    int (*rename)(void *user, const char *from, const char *to, bool no_replace);
    int (*link)(void *user, const char *from, const char *to);
    int (*symlink)(void *user, const char *target, const char *path);
    int (*chmod)(void *user, const char *path, uint32_t mode);
    int (*utimes)(void *user, const char *path, VTime atime, VTime mtime);
    int (*fchmod)(void *user, void *file, uint32_t mode);
    int (*futimes)(void *user, void *file, VTime atime, VTime mtime);
    void *(*ref)(void *user);  /* one more file system uses the mount (fork): its user; NULL: no memory */
    void (*unref)(void *user);
} VMountOps;

int vfs_mount(Vfs *fs, const char *destination, const VMountOps *ops, void *user, bool readonly);
/* The same in a live file system: the mount point is part of the base. On failure `user` stays the caller's. */
int vfs_mount_live(Vfs *fs, const char *destination, const VMountOps *ops, void *user, bool readonly);
int vfs_unmount(Vfs *fs, const char *destination);
/* Every mount with these ops. */
void vfs_each_mount(Vfs *fs, const VMountOps *ops, void (*fn)(void *mount_user, void *arg), void *arg);
/* Puts a mount's entries in name order. 0 or -ENOMEM. */
int vfs_sort_entries(Mem *mem, VDirent *list, size_t count);

/* --- differences --- */

typedef enum { VCHANGE_ADDED, VCHANGE_MODIFIED, VCHANGE_DELETED } VChangeKind;
typedef struct {
    VChangeKind kind;
    const char *path;
    VStat stat; /* of what is there now; of what was, when deleted */
    VStat old;  /* of what was; zeros when added */
} VChange;

/* What differs from the base, in path order, walking only what is not shared. In mem. */
int vfs_changes(Vfs *fs, Mem *mem, VChange **out, size_t *count);

/* The bytes of a regular file by its number, or the target of a symlink, in parts; `base`: as the base has it. fn: 0, or an -errno that ends it. */
int vfs_content(Vfs *fs, uint64_t ino, bool base, int (*fn)(void *user, Slice part), void *user);

/* --- as bytes --- */

/* Appends what differs from `image`: everything outside of what was bound at `binds`, and there what differs from the base. Reads what an overlay
 * has not read yet of it, and lazy files. 0 or -errno. */
int vfs_save(Vfs *fs, VfsImage *image, const char *const *binds, size_t nbinds, Buf *out);
/* The other way, in two steps, so that the caller may still give up: the file system is as it was until the commit, which cannot fail. -EINVAL: the bytes
 * make no sense; -EROFS, -EBUSY: they write where something read-only or a mount is; -ENOSPC, -EFBIG: quotas. */
typedef struct VfsLoaded VfsLoaded;
struct Unpack;
int vfs_load(Vfs *fs, VfsImage *image, const char *const *binds, size_t nbinds, struct Unpack *in, VfsLoaded **out);
void vfs_load_commit(Vfs *fs, VfsLoaded *loaded);
void vfs_load_drop(Vfs *fs, VfsLoaded *loaded);

/* For tests and torture: true when every link count, size and total is right. *why is static. */
bool vfs_check(Vfs *fs, const char **why);

#endif
