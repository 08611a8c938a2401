/* walk: a depth-first walk in name order, an explicit stack of directory lists. */
#include <sys/stat.h>

#include "shared.h"

enum { DEPTH_LIMIT = 4096 };

typedef struct Level {
    struct Level *above;
    VDirent *list;
    size_t count, next;
    size_t path_len;  /* of the directory */
    uint64_t ino;
    uint32_t dev;
    VStat stat;
    MemMark mark;     /* its list goes when it is done */
} Level;

struct Walk {
    Proc *proc;
    Mem *mem;
    int flags;
    Buf path;
    Level *top;
    Level *pending;   /* a directory that was returned and not yet entered */
    unsigned depth;
    uint32_t device;
    bool started;
};

Walk *walk_open(Proc *p, const char *root, int flags)
{
    Walk *w = mem_new(&p->keep, Walk);
    w->proc = p;
    w->mem = proc_mem_new(p);
    w->flags = flags;
    buf_init(&w->path, &p->keep, BUF_MAX);
    buf_append(&w->path, slice_str(root));
    return w;
}

static const char *last_name(const Walk *w)
{
    const char *slash = strrchr(w->path.data, '/');
    return slash && slash[1] ? slash + 1 : w->path.data;
}

static int look(Walk *w, bool operand, VStat *st)
{
    bool follow = (w->flags & WALK_FOLLOW) || (operand && (w->flags & WALK_FOLLOW_OPERAND));
    int r = proc_stat(w->proc, w->path.data, follow ? 0 : V_NOFOLLOW, st);
    if ((r == -ENOENT || r == -ELOOP) && follow) /* a dangling link is shown as itself */
        r = proc_stat(w->proc, w->path.data, V_NOFOLLOW, st);
    return r;
}

static const Level *ancestor(const Walk *w, const VStat *st)
{
    for (const Level *l = w->top; l; l = l->above)
        if (l->ino == st->ino && l->dev == st->dev)
            return l;
    return NULL;
}

/* What lies at w->path; a directory becomes pending. */
static void present(Walk *w, WalkEntry *e, unsigned depth)
{
    *e = (WalkEntry){.kind = WALK_FILE, .path = w->path.data, .name = last_name(w), .depth = depth};
    e->error = look(w, depth == 0, &e->stat);
    e->stat_ok = e->error == 0;
    if (!e->stat_ok) {
        e->kind = WALK_ERROR;
        return;
    }
    if (depth == 0)
        w->device = e->stat.dev;
    if (!S_ISDIR(e->stat.mode))
        return;
    const Level *same = ancestor(w, &e->stat);
    if (same || depth >= DEPTH_LIMIT) {
        e->kind = WALK_ERROR;
        e->error = -ELOOP;
        e->loop_len = same ? same->path_len : 0;
        return;
    }
    e->kind = WALK_DIR;
    MemMark mark = mem_mark(w->mem);
    Level *l = mem_new(w->mem, Level);
    l->mark = mark;
    l->path_len = w->path.len;
    l->ino = e->stat.ino;
    l->dev = e->stat.dev;
    l->stat = e->stat;
    w->pending = l;
}

static VDirent *copy_list(Walk *w, const VDirent *list, size_t count)
{
    VDirent *copy = mem_alloc_array(w->mem, count ? count : 1, sizeof *copy);
    for (size_t n = 0; n < count; n++) {
        copy[n] = list[n];
        copy[n].name.data = mem_copy(w->mem, list[n].name);
    }
    return copy;
}

/* Lists the pending directory. False: it could not be read, and *e says so. */
static bool enter(Walk *w, WalkEntry *e)
{
    Level *l = w->pending;
    w->pending = NULL;
    if ((w->flags & WALK_ONE_DEVICE) && l->dev != w->device) {
        l->count = 0;
    } else {
        MemMark mark = mem_mark(&w->proc->mem);
        VDirent *list;
        int r = proc_list(w->proc, w->path.data, &list, &l->count);
        if (r) {
            mem_reset(&w->proc->mem, mark);
            *e = (WalkEntry){.kind = WALK_ERROR, .path = w->path.data, .name = last_name(w), .stat = l->stat, .stat_ok = true, .error = r, .depth = w->depth};
            mem_reset(w->mem, l->mark);
            return false;
        }
        l->list = copy_list(w, list, l->count);
        mem_reset(&w->proc->mem, mark);
    }
    l->above = w->top;
    w->top = l;
    w->depth++;
    return true;
}

static void cut(Walk *w, size_t len)
{
    w->path.len = len;
    w->path.data[len] = 0;
}

bool walk_next(Walk *w, WalkEntry *e)
{
    proc_tick(w->proc, 1);
    if (!w->started) {
        w->started = true;
        present(w, e, 0);
        return true;
    }
    if (w->pending && !enter(w, e))
        return true;
    Level *l = w->top;
    if (!l)
        return false;
    cut(w, l->path_len);
    if (l->next == l->count) {
        *e = (WalkEntry){.kind = WALK_DIR_DONE, .path = w->path.data, .name = last_name(w), .stat = l->stat, .stat_ok = true, .depth = --w->depth};
        w->top = l->above;
        mem_reset(w->mem, l->mark);
        return true;
    }
    const VDirent *d = &l->list[l->next++];
    if (w->path.data[w->path.len - 1] != '/')
        buf_char(&w->path, '/');
    buf_append(&w->path, d->name);
    present(w, e, w->depth);
    return true;
}

/* The directory's end is not told then. */
void walk_skip(Walk *w)
{
    if (w->pending)
        mem_reset(w->mem, w->pending->mark);
    w->pending = NULL;
}
