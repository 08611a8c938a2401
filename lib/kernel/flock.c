/* flock: locks on inodes, held by open file descriptions. */
#include <stdlib.h>

#include "internal.h"

typedef struct FileLock {
    struct FileLock *next;
    const File *holder;
    uint64_t ino;
    uint32_t dev;
    bool exclusive;
} FileLock;

void flock_release(Kernel *k, const File *f)
{
    for (FileLock **link = &k->locks; *link;) {
        FileLock *l = *link;
        if (l->holder != f) {
            link = &l->next;
            continue;
        }
        *link = l->next;
        free(l);
        queue_wake_all(&k->lock_queue);
    }
}

static bool conflicts(const Kernel *k, const File *f, const VStat *st, bool exclusive)
{
    for (const FileLock *l = k->locks; l; l = l->next)
        if (l->holder != f && l->ino == st->ino && l->dev == st->dev && (exclusive || l->exclusive))
            return true;
    return false;
}

static int take(Kernel *k, const File *f, const VStat *st, bool exclusive)
{
    FileLock *l = malloc(sizeof *l);
    if (!l)
        return -ENOMEM;
    flock_release(k, f);
    *l = (FileLock){k->locks, f, st->ino, st->dev, exclusive};
    k->locks = l;
    return 0;
}

int proc_flock(Proc *p, int fd, FlockMode mode, int64_t nanoseconds)
{
    Kernel *k = p->kernel;
    File *f = proc_file(p, fd);
    VStat st;
    if (!f)
        return -EBADF;
    int err = proc_fstat(p, fd, &st);
    if (err)
        return err;
    if (mode == FLOCK_UNLOCK) {
        flock_release(k, f);
        return 0;
    }
    int64_t until = nanoseconds < 0 ? -1 : timer_now(k) + nanoseconds;
    file_own(p, file_ref(f));
    while (conflicts(k, f, &st, mode == FLOCK_EXCLUSIVE)) {
        if (nanoseconds == 0 || task_block(p, &k->lock_queue, until) == WAKE_TIMER) {
            err = -EWOULDBLOCK;
            break;
        }
    }
    err = err ? err : take(k, f, &st, mode == FLOCK_EXCLUSIVE);
    file_disown(p, f);
    file_unref(k, f);
    return err;
}
