/* inplace: files made by commands that replace one file by another. */
#include "archive/archive.h"

void guarded_output(Proc *p, const char *path, void (*work)(Proc *p, void *arg), void *arg)
{
    Guard guard;
    char *name = mem_strdup(&p->keep, path);
    RaiseKind kind = guard_enter(p, &guard);
    if (kind == RAISE_NONE) {
        work(p, arg);
        guard_leave(p, &guard);
        return;
    }
    proc_unlink(p, name);
    proc_raise(p, kind);
}

void keep_attributes(Proc *p, int fd, const VStat *st)
{
    proc_fchown(p, fd, st->uid, st->gid);
    proc_fchmod(p, fd, st->mode & 07777);
    proc_futimes(p, fd, (VTime){st->atime, st->atime_ns, VTIME_SET}, (VTime){st->mtime, st->mtime_ns, VTIME_SET});
}
