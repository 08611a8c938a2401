/* io: reading, writing, seeking and asking about descriptors; the description of a file in the file system. */
#include <sys/stat.h>

#include "host.h"
#include "internal.h"
#include "lib/base/guard.h"
#include "mount.h"

/* ---------- a file in the file system ---------- */

static ssize_t vfile_read(Proc *p, File *f, size_t max, Slice *out, Chunk **chunk)
{
    Kernel *k = p->kernel;
    char *scratch = file_scratch(f);
    if (!scratch)
        return -ENOMEM;
    file_release_held(f);
    Chunk *held = NULL;
    int err = vfs_read(k->vfs, f->vfile, f->offset, MIN(max, (size_t)SCRATCH * 16), NULL, &held, out);
    if (err == -ENOBUFS) /* only scratch will do: no more than fits */
        err = ASK_FILE(p, f, vfs_read(k->vfs, f->vfile, f->offset, MIN(max, (size_t)SCRATCH), scratch, &held, out));
    if (err < 0)
        return err;
    f->held = held;
    *chunk = held;
    f->offset += out->len;
    proc_tick(p, 1 + out->len / 4096);
    return (ssize_t)out->len;
}

static bool too_large(Proc *p, const File *f, size_t more)
{
    uint64_t limit = kern_limit(p->kernel, LIMIT_FILE_SIZE);
    return GUARD(RUN_FILE_SIZE, limit && (more > limit || f->offset > limit - more));
}

static ssize_t vfile_write(Proc *p, File *f, Slice data, Chunk *chunk)
{
    Kernel *k = p->kernel;
    proc_tick(p, 1 + data.len / 4096);
    if (too_large(p, f, data.len))
        return -EFBIG;
    size_t done = 0;
    while (done < data.len) {
        uint64_t at = f->offset;
        ssize_t n = ASK_FILE(p, f, vfs_write(k->vfs, f->vfile, f->offset, slice_from(data, done), chunk, &at));
        if (n <= 0)
            return n < 0 ? n : -ENOSPC;
        f->offset = at;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int64_t vfile_seek(Proc *p, File *f, int64_t off, int whence)
{
    VStat st = {0};
    if (whence == 2) {
        int err = ASK_FILE(p, f, vfs_file_stat(p->kernel->vfs, f->vfile, &st));
        if (err < 0)
            return err;
    }
    int64_t base = whence == 1 ? (int64_t)f->offset : whence == 2 ? (int64_t)st.size : 0, to;
    if (whence < 0 || whence > 2 || __builtin_add_overflow(base, off, &to) || to < 0)
        return -EINVAL;
    f->offset = (uint64_t)to;
    return to;
}

static int vfile_unread(Proc *p, File *f, size_t n)
{
    (void)p;
    f->offset -= n;
    return 0;
}

static int vfile_stat(Kernel *k, File *f, VStat *out) { return vfs_file_stat(k->vfs, f->vfile, out); }
static void vfile_close(Kernel *k, File *f) { vfs_file_unref(k->vfs, f->vfile); }

static const FileOps vfile_ops = {
    .read = vfile_read, .write = vfile_write, .seek = vfile_seek, .unread = vfile_unread, .stat = vfile_stat, .close = vfile_close,
};

File *file_from_vfile(Kernel *k, VFile *v, int flags)
{
    File *f = file_new(k, &vfile_ops, flags);
    if (!f) {
        vfs_file_unref(k->vfs, v);
        return NULL;
    }
    f->vfile = v;
    return f;
}

VFile *file_vfile(const File *f) { return f->ops == &vfile_ops ? f->vfile : NULL; }

/* ---------- reading and writing ---------- */

ssize_t proc_read_chunk(Proc *p, int fd, size_t max, Slice *out, Chunk **chunk)
{
    File *f = proc_file(p, fd);
    Chunk *holder = NULL;
    *out = (Slice){"", 0};
    if (chunk)
        *chunk = NULL;
    if (!f || !(f->flags & V_READ) || !f->ops->read)
        return -EBADF;
    proc_tick(p, 1);
    ssize_t n = f->ops->read(p, f, max, out, &holder);
    if (chunk)
        *chunk = holder;
    return n;
}

ssize_t proc_read(Proc *p, int fd, char *buf, size_t n)
{
    Slice got;
    ssize_t r = proc_read_chunk(p, fd, n, &got, NULL);
    if (r > 0)
        memcpy(buf, got.data, got.len);
    return r;
}

ssize_t proc_write_chunk(Proc *p, int fd, Slice data, Chunk *chunk)
{
    File *f = proc_file(p, fd);
    if (!f || !(f->flags & V_WRITE) || !f->ops->write)
        return -EBADF;
    proc_tick(p, 1);
    return f->ops->write(p, f, data, chunk);
}

ssize_t proc_write(Proc *p, int fd, Slice data) { return proc_write_chunk(p, fd, data, NULL); }

int64_t proc_seek(Proc *p, int fd, int64_t off, int whence)
{
    File *f = proc_file(p, fd);
    if (!f)
        return -EBADF;
    return f->ops->seek ? f->ops->seek(p, f, off, whence) : -ESPIPE;
}

int proc_unread(Proc *p, int fd, size_t n)
{
    File *f = proc_file(p, fd);
    if (!f)
        return -EBADF;
    return f->ops->unread ? f->ops->unread(p, f, n) : -ESPIPE;
}

int proc_poll(Proc *p, int fd, bool write, int64_t nanoseconds)
{
    File *f = proc_file(p, fd);
    if (!f)
        return -EBADF;
    output_flush(p->out);
    int64_t until = nanoseconds < 0 ? -1 : timer_now(p->kernel) + nanoseconds;
    while (f->ops->ready && !f->ops->ready(f, write)) {
        WakeReason why = task_block(p, f->ops->queue(f, write), until);
        if (why == WAKE_TIMER)
            return f->ops->ready(f, write);
        if (why == WAKE_SIGNAL)
            return -EINTR;
    }
    return 1;
}

int proc_fstat(Proc *p, int fd, VStat *out)
{
    File *f = proc_file(p, fd);
    return f ? ASK_FILE(p, f, f->ops->stat(p->kernel, f, out)) : -EBADF;
}

static VFile *vfile_of(Proc *p, int fd, int *err)
{
    File *f = proc_file(p, fd);
    VFile *v = f ? file_vfile(f) : NULL;
    *err = f ? -EINVAL : -EBADF;
    return v;
}

int proc_ftruncate(Proc *p, int fd, uint64_t size)
{
    int err;
    VFile *v = vfile_of(p, fd, &err);
    uint64_t limit = kern_limit(p->kernel, LIMIT_FILE_SIZE);
    if (GUARD(RUN_FILE_SIZE, v && limit && size > limit))
        return -EFBIG;
    return v ? ASK_FILE(p, proc_file(p, fd), vfs_file_truncate(p->kernel->vfs, v, size)) : err;
}

int proc_futimes(Proc *p, int fd, VTime atime, VTime mtime)
{
    int err;
    VFile *v = vfile_of(p, fd, &err);
    return v ? vfs_file_utimes(p->kernel->vfs, v, atime, mtime) : err;
}

int proc_fchmod(Proc *p, int fd, uint32_t mode)
{
    int err;
    VFile *v = vfile_of(p, fd, &err);
    return v ? vfs_file_chmod(p->kernel->vfs, &p->cred, v, mode) : err;
}

int proc_fchown(Proc *p, int fd, uint32_t uid, uint32_t gid)
{
    int err;
    VFile *v = vfile_of(p, fd, &err);
    return v ? vfs_file_chown(p->kernel->vfs, &p->cred, v, uid, gid) : err;
}

int proc_clone(Proc *p, int from, int to)
{
    int err;
    VFile *a = vfile_of(p, from, &err), *b = a ? vfile_of(p, to, &err) : NULL;
    if (!b)
        return err == -EBADF ? err : -EXDEV;
    return vfs_clone(p->kernel->vfs, a, b);
}

Slice proc_fd_command(Proc *p, int fd)
{
    int err;
    VFile *v = vfile_of(p, fd, &err);
    return v ? vfs_command(p->kernel->vfs, v) : (Slice){"", 0};
}

int proc_pipe(Proc *p, int fds[2])
{
    File *ends[2];
    int err = pipe_new(p->kernel, ends);
    if (err)
        return err;
    fds[0] = proc_install(p, -1, ends[0]);
    fds[1] = fds[0] < 0 ? fds[0] : proc_install(p, -1, ends[1]);
    if (fds[0] >= 0 && fds[1] < 0)
        proc_close(p, fds[0]);
    file_unref(p->kernel, ends[0]);
    file_unref(p->kernel, ends[1]);
    return fds[1] < 0 ? fds[1] : 0;
}
