/* path: vfs.h's calls in a process's name, and the descriptor names that only a process can resolve.
 *
 * /dev/fd/N, /proc/self/fd/N and /dev/stdin, stdout, stderr mean the process's own descriptors, so they are
 * answered here, before the file system sees them.
 */
#include <sys/stat.h>

#include "host.h"
#include "internal.h"
#include "lib/base/guard.h"
#include "mount.h"

/* The descriptor that a path names, or -1. */
static int descriptor_named(const char *path)
{
    if (path[0] != '/' || (path[1] != 'd' && path[1] != 'p'))
        return -1;
    static const char *const streams[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    for (int i = 0; i < 3; i++)
        if (strcmp(path, streams[i]) == 0)
            return i;
    size_t skip = strncmp(path, "/dev/fd/", 8) == 0 ? 8 : strncmp(path, "/proc/self/fd/", 14) == 0 ? 14 : 0;
    if (!skip || !path[skip])
        return -1;
    int fd = 0;
    for (const char *c = path + skip; *c; c++) {
        if (*c < '0' || *c > '9' || fd > 100000)
            return -1;
        fd = fd * 10 + (*c - '0');
    }
    return fd;
}

static bool names_descriptors(const char *path)
{
    return strcmp(path, "/proc/self/fd") == 0 || strcmp(path, "/dev/fd") == 0 || strcmp(path, "/proc/self/fd/") == 0 || strcmp(path, "/dev/fd/") == 0;
}

/* ---------- opening ---------- */

/* A second description where the first is a file (its own offset, as Linux does), else the same one. */
static int reopen_descriptor(Proc *p, int fd, int flags, File **out)
{
    File *f = proc_file(p, fd);
    if (!f)
        return -ENOENT;
    VFile *v = file_vfile(f);
    if (!v) {
        *out = file_ref(f);
        return 0;
    }
    if (flags & V_TRUNC) {
        int err = ASK_FILE(p, f, vfs_file_truncate(p->kernel->vfs, v, 0));
        if (err)
            return err;
    }
    if ((flags & V_WRITE) && !(f->flags & V_WRITE))
        return -EACCES;
    *out = file_from_vfile(p->kernel, vfs_file_ref(v), (f->flags & V_APPEND) | flags);
    return *out ? 0 : -ENOMEM;
}

static int open_special(Proc *p, VFile *v, const VStat *st, int flags, File **out)
{
    Kernel *k = p->kernel;
    vfs_file_unref(k->vfs, v);
    if ((st->mode & S_IFMT) == S_IFIFO)
        return fifo_open(p, st, flags, out);
    if ((st->rdev & 0xff) == VDEV_FD)
        return reopen_descriptor(p, (int)(st->rdev >> 8), flags, out);
    if (st->rdev >= VDEV_STDIN && st->rdev <= VDEV_STDERR)
        return reopen_descriptor(p, (int)st->rdev - VDEV_STDIN, flags, out);
    if (st->rdev == VDEV_TTY)
        return -ENXIO;
    *out = file_device(k, (int)st->rdev, flags);
    return *out ? 0 : -ENOMEM;
}

static int open_file(Proc *p, const char *path, int flags, uint32_t mode, File **out)
{
    int fd = descriptor_named(path);
    if (fd >= 0)
        return reopen_descriptor(p, fd, flags, out);
    if (strncmp(path, "/dev/tcp/", 9) == 0 || strncmp(path, "/dev/udp/", 9) == 0)
        return -ENOENT;
    Kernel *k = p->kernel;
    VFile *v;
    int err = ASK(p, vfs_open(k->vfs, &p->cred, p->cwd, path, flags, mode, &v));
    if (err)
        return err;
    VStat st;
    err = ASK(p, vfs_file_stat(k->vfs, v, &st));
    if (err) {
        vfs_file_unref(k->vfs, v);
        return err;
    }
    uint32_t type = st.mode & S_IFMT;
    if (type == S_IFIFO || type == S_IFCHR)
        return open_special(p, v, &st, flags, out);
    *out = file_from_vfile(k, v, flags);
    return *out ? 0 : -ENOMEM;
}

int proc_open(Proc *p, const char *path, int flags, uint32_t mode)
{
    int fd = fds_lowest(p, 0);
    if (fd < 0)
        return fd;
    File *f;
    int err = open_file(p, path, flags, mode, &f);
    if (err)
        return err;
    fd = fds_lowest(p, 0); /* a FIFO may have waited */
    if (fd < 0) {
        file_unref(p->kernel, f);
        return fd;
    }
    err = fds_put(p, fd, f);
    return err ? err : fd;
}

/* ---------- asking ---------- */

int proc_stat(Proc *p, const char *path, int flags, VStat *out)
{
    int fd = descriptor_named(path);
    if (fd < 0)
        return ASK(p, vfs_stat(p->kernel->vfs, &p->cred, p->cwd, path, flags, out));
    int err = proc_fstat(p, fd, out);
    if (err)
        return err == -EBADF ? -ENOENT : err;
    if (flags & V_NOFOLLOW)
        *out = (VStat){.mode = S_IFLNK | 0700, .nlink = 1, .uid = p->cred.uid, .gid = p->cred.gid, .size = 64, .ino = (uint64_t)fd + 1, .dev = 6};
    return 0;
}

int proc_access(Proc *p, const char *path, int rwx)
{
    int fd = descriptor_named(path);
    if (fd < 0)
        return ASK(p, vfs_access(p->kernel->vfs, &p->cred, p->cwd, path, rwx));
    File *f = proc_file(p, fd);
    if (!f)
        return -ENOENT;
    if (((rwx & 4) && !(f->flags & V_READ)) || ((rwx & 2) && !(f->flags & V_WRITE)) || (rwx & 1))
        return -EACCES;
    return 0;
}

int proc_readlink(Proc *p, const char *path, Slice *out)
{
    int fd = descriptor_named(path);
    if (fd < 0 || strncmp(path, "/dev/std", 8) == 0)
        return ASK(p, vfs_readlink(p->kernel->vfs, &p->cred, p->cwd, path, &p->mem, out));
    VStat st;
    if (proc_fstat(p, fd, &st))
        return -ENOENT;
    const char *kind = (st.mode & S_IFMT) == S_IFIFO ? "pipe" : "file";
    char *text = mem_printf(&p->mem, "%s:[%llu]", kind, (unsigned long long)st.ino);
    *out = slice_str(text);
    return 0;
}

static int list_descriptors(Proc *p, VDirent **out, size_t *count)
{
    size_t n = 0;
    for (int fd = -1; (fd = proc_fd_next(p, fd)) >= 0;)
        n++;
    *out = mem_array(&p->mem, n, VDirent);
    *count = n;
    n = 0;
    for (int fd = -1; (fd = proc_fd_next(p, fd)) >= 0;)
        (*out)[n++] = (VDirent){slice_str(mem_printf(&p->mem, "%d", fd)), (uint64_t)fd + 1, S_IFLNK};
    return 0;
}

int proc_list(Proc *p, const char *path, VDirent **out, size_t *count)
{
    if (names_descriptors(path))
        return list_descriptors(p, out, count);
    int err = ASK(p, vfs_list(p->kernel->vfs, &p->cred, p->cwd, path, &p->mem, out, count));
    proc_tick(p, 1 + (err ? 0 : *count / 16));
    return err;
}

int proc_realpath(Proc *p, const char *path, RealpathMode mode, char **out)
{
    return ASK(p, vfs_realpath(p->kernel->vfs, &p->cred, p->cwd, path, mode, &p->mem, out));
}

int proc_statfs(Proc *p, const char *path, VStatfs *out) { return ASK(p, vfs_statfs(p->kernel->vfs, &p->cred, p->cwd, path, out)); }

/* ---------- changing ---------- */

#define FS p->kernel->vfs, &p->cred, p->cwd

int proc_mkdir(Proc *p, const char *path, uint32_t mode) { return ASK(p, vfs_mkdir(FS, path, mode)); }
int proc_rmdir(Proc *p, const char *path) { return ASK(p, vfs_rmdir(FS, path)); }
int proc_unlink(Proc *p, const char *path) { return ASK(p, vfs_unlink(FS, path)); }
int proc_rename(Proc *p, const char *from, const char *to, bool no_replace) { return ASK(p, vfs_rename(FS, from, p->cwd, to, no_replace)); }
int proc_link(Proc *p, const char *from, const char *to, int flags) { return ASK(p, vfs_link(FS, from, p->cwd, to, flags)); }
int proc_symlink(Proc *p, const char *target, const char *path) { return ASK(p, vfs_symlink(p->kernel->vfs, &p->cred, target, p->cwd, path)); }
int proc_mkfifo(Proc *p, const char *path, uint32_t mode) { return ASK(p, vfs_mknod(FS, path, S_IFIFO | (mode & 07777), 0)); }
int proc_mknod(Proc *p, const char *path, uint32_t mode, uint32_t rdev) { return ASK(p, vfs_mknod(FS, path, mode, rdev)); }
int proc_chmod(Proc *p, const char *path, int flags, uint32_t mode) { return ASK(p, vfs_chmod(FS, path, flags, mode)); }
int proc_chown(Proc *p, const char *path, int flags, uint32_t uid, uint32_t gid) { return ASK(p, vfs_chown(FS, path, flags, uid, gid)); }
int proc_utimes(Proc *p, const char *path, int flags, VTime atime, VTime mtime) { return ASK(p, vfs_utimes(FS, path, flags, atime, mtime)); }

int proc_truncate(Proc *p, const char *path, uint64_t size)
{
    uint64_t limit = kern_limit(p->kernel, LIMIT_FILE_SIZE);
    return GUARD(RUN_FILE_SIZE, limit && size > limit) ? -EFBIG : ASK(p, vfs_truncate(FS, path, size));
}

/* ---------- directories ---------- */

static int enter(Proc *p, VDir *d)
{
    vfs_dir_unref(p->kernel->vfs, p->cwd);
    p->cwd = d;
    return 0;
}

int proc_chdir(Proc *p, const char *path)
{
    VDir *d;
    int err = ASK(p, vfs_dir_open(FS, path, &d));
    return err ? err : enter(p, d);
}

int proc_getcwd(Proc *p, char **out) { return ASK(p, vfs_dir_path(p->kernel->vfs, p->cwd, &p->mem, out)); }

static void release_dir(Proc *p, void *thing) { vfs_dir_unref(p->kernel->vfs, thing); }

VDir *proc_dir_open(Proc *p, const char *path, int *error)
{
    VDir *d;
    *error = ASK(p, vfs_dir_open(FS, path, &d));
    if (*error)
        return NULL;
    proc_own(p, release_dir, d);
    return d;
}

void proc_dir_close(Proc *p, VDir *d) { proc_disown(p, d); }
int proc_fchdir(Proc *p, VDir *d) { return enter(p, vfs_dir_ref(d)); }
