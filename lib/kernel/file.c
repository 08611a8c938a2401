/* file: open file descriptions and descriptor tables. */
#include <stdlib.h>

#include "internal.h"
#include "lib/base/guard.h"

File *file_new(Kernel *k, const FileOps *ops, int flags)
{
    File *f = malloc(sizeof *f);
    if (!f)
        return NULL;
    *f = (File){.ops = ops, .refs = 1, .flags = flags, .kernel = k};
    return f;
}

File *file_ref(File *f)
{
    f->refs++;
    return f;
}

void file_release_held(File *f)
{
    if (f->held) {
        chunk_unref(f->kernel->gen, f->held);
        f->held = NULL;
    }
}

void file_unref(Kernel *k, File *f)
{
    if (!f)
        return;
    if (--f->refs) {
        queue_wake_all(&f->holders);
        return;
    }
    if (k->locks)
        flock_release(k, f);
    file_release_held(f);
    if (f->ops->close)
        f->ops->close(k, f);
    free(f->scratch);
    free(f);
}

char *file_scratch(File *f)
{
    if (!f->scratch)
        f->scratch = malloc(SCRATCH);
    return f->scratch;
}

static void release_file(Proc *p, void *thing) { file_unref(p->kernel, thing); }

void file_own(Proc *p, File *f) { proc_own(p, release_file, f); }

void file_disown(Proc *p, File *f)
{
    file_ref(f);
    proc_disown(p, f);
}

void proc_wait_sole_holder(Proc *p, File *f)
{
    output_flush(p->out);
    while (f->refs > 1)
        task_block(p, &f->holders, -1);
}

/* ---------- descriptor tables ---------- */

enum { FIRST_SLOTS = 8 };

static FdTable *table_alloc(int slots)
{
    FdTable *t = calloc(1, sizeof *t + (size_t)slots * sizeof t->slot[0]);
    if (t) {
        t->refs = 1;
        t->count = slots;
    }
    return t;
}

FdTable *fds_new(void) { return table_alloc(FIRST_SLOTS); }

FdTable *fds_ref(FdTable *t)
{
    if (t)
        t->refs++;
    return t;
}

void fds_unref(Kernel *k, FdTable *t)
{
    if (!t || --t->refs)
        return;
    for (int i = 0; i < t->count; i++)
        file_unref(k, t->slot[i].file);
    free(t);
}

/* p's table, not shared, with at least `slots` slots. NULL: no memory. */
static FdTable *own_table(Proc *p, int slots)
{
    FdTable *t = p->fds;
    if (t->refs == 1 && t->count >= slots)
        return t;
    int count = t->count;
    while (count < slots)
        count *= 2;
    FdTable *copy = table_alloc(count);
    if (!copy)
        return NULL;
    for (int i = 0; i < t->count; i++) {
        copy->slot[i] = t->slot[i];
        if (copy->slot[i].file)
            copy->slot[i].file->refs++;
    }
    fds_unref(p->kernel, t);
    p->fds = copy;
    return copy;
}

static int most_fds(const Proc *p)
{
    uint64_t limit = kern_limit(p->kernel, LIMIT_FDS);
    return GUARD(RUN_FDS, limit && limit < 65536) ? (int)limit : 65536;
}

int fds_lowest(Proc *p, int from)
{
    int fd = from;
    while (fd < p->fds->count && p->fds->slot[fd].file)
        fd++;
    return fd < most_fds(p) ? fd : -EMFILE;
}

static void flush_standard(Proc *p, int fd)
{
    if (fd == 1)
        output_flush(p->out);
    else if (fd == 2)
        output_flush(p->err);
}

int fds_put(Proc *p, int fd, File *f)
{
    FdTable *t = fd < 0 || fd >= most_fds(p) ? NULL : own_table(p, fd + 1);
    if (!t) {
        file_unref(p->kernel, f);
        return fd < 0 || fd >= most_fds(p) ? -EBADF : -ENOMEM;
    }
    File *old = t->slot[fd].file;
    t->slot[fd] = (struct FdSlot){f, false};
    file_unref(p->kernel, old);
    return 0;
}

File *proc_file(Proc *p, int fd) { return fd >= 0 && fd < p->fds->count ? p->fds->slot[fd].file : NULL; }
bool proc_fd_valid(Proc *p, int fd) { return proc_file(p, fd) != NULL; }

bool proc_isatty(Proc *p, int fd)
{
    (void)p;
    (void)fd;
    return false;
}

int proc_install(Proc *p, int fd, File *f)
{
    if (fd < 0 && (fd = fds_lowest(p, 0)) < 0)
        return fd;
    flush_standard(p, fd);
    int err = fds_put(p, fd, file_ref(f));
    return err ? err : fd;
}

int proc_close(Proc *p, int fd)
{
    if (!proc_fd_valid(p, fd))
        return -EBADF;
    flush_standard(p, fd);
    return fds_put(p, fd, NULL);
}

int proc_dup(Proc *p, int fd, int lowest)
{
    File *f = proc_file(p, fd);
    if (!f)
        return -EBADF;
    int to = fds_lowest(p, lowest);
    if (to < 0)
        return to;
    int err = fds_put(p, to, file_ref(f));
    return err ? err : to;
}

int proc_dup2(Proc *p, int from, int to)
{
    File *f = proc_file(p, from);
    if (!f)
        return -EBADF;
    if (from == to)
        return to;
    return proc_install(p, to, f);
}

void proc_cloexec(Proc *p, int fd, bool on)
{
    if (!proc_fd_valid(p, fd) || p->fds->slot[fd].cloexec == on)
        return;
    FdTable *t = own_table(p, 0);
    if (t)
        t->slot[fd].cloexec = on;
}

int proc_fd_next(Proc *p, int fd)
{
    for (int i = fd + 1; i < p->fds->count; i++)
        if (p->fds->slot[i].file)
            return i;
    return -1;
}
