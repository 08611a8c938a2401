/* host_direct: a live directory of the host as a mount.
 *
 * Only regular files and directories are opened; a FIFO, socket or device is listed and gives ENXIO. Modes are set by
 * fchmod on what was opened, so the process's umask is never touched; set-id and sticky bits are refused. A file with
 * several links could lie outside of the tree as well, so it is written only when the bind says so.
 */
#include <fcntl.h>

#include "lib/base/guard.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host.h"

typedef struct {
    int fd;
} HostFile;

/* ---------- files ---------- */

static int open_flags(int flags)
{
    int how = flags & V_WRITE ? (flags & V_READ ? O_RDWR : O_WRONLY) : O_RDONLY;
    if (flags & V_APPEND)
        how |= O_APPEND;
    return how | (flags & V_DIRECTORY ? O_DIRECTORY : 0);
}

/* A new file has a private mode until fchmod gives it the one asked for. */
static int create(const HostTree *t, const char *path, int flags, uint32_t mode)
{
    const char *name;
    int dir = host_open_parent(t, path, &name);
    if (dir < 0)
        return dir;
    int fd = openat(dir, name, open_flags(flags) | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
    int r = fd < 0 ? -errno : fd;
    close(dir);
    if (fd >= 0 && fchmod(fd, mode & 0777) != 0) {
        r = -errno;
        close(fd);
    }
    return r;
}

/* What was opened must be what may be used, and is only then cut. */
static int admit(const HostTree *t, int fd, int flags)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -errno;
    if (GUARD(BIND_DEVICE, !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return -ENXIO;
    if (GUARD(FS_WRITE_LINKED, (flags & (V_WRITE | V_TRUNC)) && S_ISREG(st.st_mode) && st.st_nlink > 1 && !t->write_linked))
        return -EPERM;
    if ((flags & V_TRUNC) && S_ISREG(st.st_mode) && ftruncate(fd, 0) != 0)
        return -errno;
    return 0;
}

static int open_existing(const HostTree *t, const char *path, int flags)
{
    int fd = host_open(t, path, open_flags(flags & V_TRUNC ? flags | V_WRITE : flags));
    if (fd < 0)
        return fd;
    int r = admit(t, fd, flags);
    if (r == 0)
        return fd;
    close(fd);
    return r;
}

static int direct_open(void *user, const char *path, int flags, uint32_t mode, void **file)
{
    HostFile *f = malloc(sizeof *f);
    if (!f)
        return -ENOMEM;
    int fd = flags & V_CREATE && flags & V_EXCL ? -ENOENT : open_existing(user, path, flags);
    if (fd == -ENOENT && (flags & V_CREATE))
        fd = create(user, path, flags, mode);
    if (fd < 0) {
        free(f);
        return fd;
    }
    f->fd = fd;
    *file = f;
    return 0;
}

static void direct_close(void *user, void *file)
{
    HostFile *f = file;
    (void)user;
    close(f->fd);
    free(f);
}

static int direct_dup(void *user, void *file, void **copy)
{
    HostFile *f = malloc(sizeof *f);
    (void)user;
    if (!f)
        return -ENOMEM;
    f->fd = fcntl(((HostFile *)file)->fd, F_DUPFD_CLOEXEC, 3); /* the offset they share is used by neither */
    if (f->fd >= 0) {
        *copy = f;
        return 0;
    }
    int r = -errno;
    free(f);
    return r;
}

static int direct_fstat(void *user, void *file, VStat *out) { return host_fstat(user, ((HostFile *)file)->fd, out); }

static ssize_t direct_read(void *user, void *file, uint64_t off, char *buf, size_t n)
{
    (void)user;
    return host_pread(((HostFile *)file)->fd, buf, n, off);
}

static ssize_t direct_write(void *user, void *file, uint64_t off, Slice data)
{
    size_t done = 0;
    (void)user;
    while (done < data.len) {
        ssize_t n = pwrite(((HostFile *)file)->fd, data.data + done, data.len - done, (off_t)(off + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return done ? (ssize_t)done : n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int direct_truncate(void *user, void *file, uint64_t size)
{
    (void)user;
    return ftruncate(((HostFile *)file)->fd, (off_t)size) != 0 ? -errno : 0;
}

/* ---------- names ---------- */

static int direct_stat(void *user, const char *path, VStat *out) { return host_stat(user, path, out); }
static int direct_list(void *user, const char *path, Mem *mem, VDirent **out, size_t *count) { return host_list(user, path, mem, out, count); }
static int direct_readlink(void *user, const char *path, Mem *mem, Slice *out) { return host_readlink(user, path, mem, out); }

static int finish(int dir, int result)
{
    int r = result != 0 ? -errno : 0;
    close(dir);
    return r;
}

static int set_mode(const HostTree *t, const char *path, uint32_t mode)
{
    int fd = host_open(t, path, O_RDONLY);
    if (fd == -EACCES)
        fd = host_open(t, path, O_WRONLY);
    if (fd < 0)
        return fd;
    struct stat st;
    int r = fstat(fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? 0 : -ENXIO;
    if (r == 0 && S_ISREG(st.st_mode) && st.st_nlink > 1 && !t->write_linked)
        r = -EPERM; /* it may lie outside the bind too */
    if (r == 0 && fchmod(fd, mode) != 0)
        r = -errno;
    close(fd);
    return r;
}

static int direct_chmod(void *user, const char *path, uint32_t mode)
{
    return mode & ~(uint32_t)0777 ? -EPERM : set_mode(user, path, mode);
}

static int direct_mkdir(void *user, const char *path, uint32_t mode)
{
    const char *name;
    int dir = host_open_parent(user, path, &name);
    if (dir < 0)
        return dir;
    int r = finish(dir, mkdirat(dir, name, 0700));
    return r ? r : set_mode(user, path, mode & 0777);
}

static int direct_remove(void *user, const char *path, bool directory)
{
    const char *name;
    int dir = host_open_parent(user, path, &name);
    return dir < 0 ? dir : finish(dir, unlinkat(dir, name, directory ? AT_REMOVEDIR : 0));
}

/* Whether a symlink at `path` with this target points below the tree's top, by its text. */
static bool stays_inside(const char *path, Slice target)
{
    long depth = 0;
    for (; *path; path++)
        depth += *path == '/';
    if (!target.len || target.data[0] == '/')
        return false;
    while (target.len) {
        size_t len = slice_find(target, '/');
        Slice name = slice(target.data, len);
        if (slice_is(name, ".."))
            depth--;
        else if (len && !slice_is(name, "."))
            depth++;
        if (depth < 0)
            return false;
        target = slice_from(target, len < target.len ? len + 1 : len);
    }
    return true;
}

static int may_move(const HostTree *t, const char *from, const char *to)
{
    Mem mem;
    Slice target;
    mem_init(&mem, NULL, NULL, NULL);
    int r = host_readlink(t, from, &mem, &target);
    r = r == -EINVAL ? 0 : r ? r : stays_inside(to, target) ? 0 : -EPERM;
    mem_drop(&mem);
    return r;
}

static int direct_rename(void *user, const char *from, const char *to, bool no_replace)
{
    const char *a, *b;
    int r = may_move(user, from, to);
    if (r)
        return r;
    int source = host_open_parent(user, from, &a);
    if (source < 0)
        return source;
    int target = host_open_parent(user, to, &b);
    if (target < 0) {
        close(source);
        return target;
    }
#ifdef RENAME_NOREPLACE
    r = renameat2(source, a, target, b, no_replace ? RENAME_NOREPLACE : 0) != 0 ? -errno : 0;
#else
    r = no_replace && faccessat(target, b, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? -EEXIST : renameat(source, a, target, b) != 0 ? -errno : 0;
#endif
    close(source);
    close(target);
    return r;
}

static int direct_link(void *user, const char *from, const char *to)
{
    const char *a, *b;
    int r = may_move(user, from, to);
    if (r)
        return r;
    int source = host_open_parent(user, from, &a);
    if (source < 0)
        return source;
    int target = host_open_parent(user, to, &b);
    if (target >= 0)
        target = finish(target, linkat(source, a, target, b, 0));
    close(source);
    return target;
}

static int direct_symlink(void *user, const char *target, const char *path)
{
    const char *name;
    if (!stays_inside(path, slice_str(target)))
        return -EPERM;
    int dir = host_open_parent(user, path, &name);
    return dir < 0 ? dir : finish(dir, symlinkat(target, dir, name));
}

static struct timespec host_time(VTime t)
{
    if (t.how != VTIME_SET)
        return (struct timespec){0, t.how == VTIME_NOW ? UTIME_NOW : UTIME_OMIT};
    return (struct timespec){(time_t)t.seconds, (long)t.nanosecond};
}

/* A file with another name outside the bind is changed through this one only when the embedder says so. */
static int may_change(const HostTree *t, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -errno;
    return S_ISREG(st.st_mode) && st.st_nlink > 1 && !t->write_linked ? -EPERM : 0;
}

static int direct_fchmod(void *user, void *file, uint32_t mode)
{
    int fd = ((HostFile *)file)->fd, r = mode & ~(uint32_t)0777 ? -EPERM : may_change(user, fd);
    return r ? r : fchmod(fd, mode) != 0 ? -errno : 0;
}

static int direct_futimes(void *user, void *file, VTime atime, VTime mtime)
{
    struct timespec times[2] = {host_time(atime), host_time(mtime)};
    int r = may_change(user, ((HostFile *)file)->fd);
    return r ? r : futimens(((HostFile *)file)->fd, times) != 0 ? -errno : 0;
}

static int direct_utimes(void *user, const char *path, VTime atime, VTime mtime)
{
    struct timespec times[2] = {host_time(atime), host_time(mtime)};
    const char *name;
    const HostTree *t = user;
    if (!*path && !t->file) {
        int top = host_open(t, path, O_RDONLY | O_DIRECTORY);
        return top < 0 ? top : finish(top, futimens(top, times));
    }
    int dir = host_open_parent(t, path, &name);
    return dir < 0 ? dir : finish(dir, utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW));
}

static void *direct_ref(void *user) { return host_tree_ref(user); }
static void direct_unref(void *user) { host_tree_unref(user); }

const VMountOps host_direct_ops = {
    .stat = direct_stat, .list = direct_list, .readlink = direct_readlink,
    .open = direct_open, .close = direct_close, .dup = direct_dup, .fstat = direct_fstat, .read = direct_read, .write = direct_write, .truncate = direct_truncate,
    .mkdir = direct_mkdir, .remove = direct_remove, .rename = direct_rename, .link = direct_link, .symlink = direct_symlink,
    .chmod = direct_chmod, .utimes = direct_utimes, .fchmod = direct_fchmod, .futimes = direct_futimes, .ref = direct_ref, .unref = direct_unref,
};
