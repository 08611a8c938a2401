/* inode: inodes, and the persistent tree that finds them by number. */
#include "internal.h"

/* ---------- one inode ---------- */

static void now(const Vfs *fs, int64_t *seconds, uint32_t *ns)
{
    *ns = 0;
    *seconds = fs->clock.now ? fs->clock.now(fs->clock.user, ns) : 0;
}

Inode *inode_new(Vfs *fs, uint32_t mode, uint32_t uid, uint32_t gid)
{
    Inode *i = obj_alloc(fs->gen, sizeof *i);
    if (!i)
        return NULL;
    memset((char *)i + sizeof(Obj), 0, sizeof *i - sizeof(Obj));
    i->ino = fs->next_ino++;
    i->mode = mode;
    i->uid = uid;
    i->gid = gid;
    i->born = i->dirty = fs->epoch;
    now(fs, &i->time[0], &i->time_ns[0]);
    for (int t = 1; t < 4; t++) {
        i->time[t] = i->time[0];
        i->time_ns[t] = i->time_ns[0];
    }
    return i;
}

void inode_touch(Vfs *fs, Inode *i, bool modified)
{
    now(fs, &i->time[TIME_CHANGE], &i->time_ns[TIME_CHANGE]);
    if (modified) {
        i->time[TIME_MODIFY] = i->time[TIME_CHANGE];
        i->time_ns[TIME_MODIFY] = i->time_ns[TIME_CHANGE];
    }
}

static Inode *inode_copy(Gen *g, const Inode *old)
{
    Inode *i = obj_alloc(g, sizeof *i);
    if (!i)
        return NULL;
    memcpy((char *)i + sizeof(Obj), (const char *)old + sizeof(Obj), sizeof *i - sizeof(Obj));
    if (inode_lazy(i))
        obj_ref(g, i->lazy);
    else if (S_ISDIR(i->mode) && i->entries)
        obj_ref(g, i->entries);
    else if (S_ISLNK(i->mode) && i->target)
        obj_ref(g, i->target);
    else if (S_ISREG(i->mode))
        data_ref(g, i);
    return i;
}

void inode_unref(Gen *g, Inode *i)
{
    if (!i || !obj_unref(g, i))
        return;
    if (inode_lazy(i))
        lazy_unref(g, i->lazy);
    else if (S_ISDIR(i->mode))
        dentry_unref(g, i->entries);
    else if (S_ISLNK(i->mode))
        str_unref(g, i->target);
    else if (S_ISREG(i->mode))
        data_unref(g, i);
    obj_free(g, i);
}

Inode *inode_own_at(Gen *g, Inode **at)
{
    if (obj_mine(g, *at))
        return *at;
    Inode *copy = inode_copy(g, *at);
    if (!copy)
        return NULL;
    inode_unref(g, *at);
    return *at = copy;
}

void inode_stat(const Inode *i, const Mount *m, VStat *out)
{
    *out = (VStat){
        .ino = i->ino, .dev = m ? m->dev : MEMORY_DEV, .mode = i->mode, .nlink = i->nlink, .uid = i->uid, .gid = i->gid,
        .rdev = i->rdev, .size = i->size,
        .atime = i->time[TIME_ACCESS], .mtime = i->time[TIME_MODIFY], .ctime = i->time[TIME_CHANGE], .btime = i->time[TIME_BIRTH],
        .atime_ns = i->time_ns[TIME_ACCESS], .mtime_ns = i->time_ns[TIME_MODIFY],
        .ctime_ns = i->time_ns[TIME_CHANGE], .btime_ns = i->time_ns[TIME_BIRTH],
    };
    if (S_ISDIR(i->mode)) {
        out->size = DIR_SIZE;
        out->blocks = DIR_SIZE / 512;
    } else if (S_ISREG(i->mode)) {
        out->blocks = data_blocks(i);
    }
}

/* ---------- the tree ---------- */

static unsigned slot_of(uint64_t ino, unsigned level) { return (unsigned)(ino >> (level * BRANCH_BITS)) & (BRANCH_SLOTS - 1); }

static bool tree_holds(const Tree *t, uint64_t ino)
{
    return t->height * BRANCH_BITS >= 64 || ino >> (t->height * BRANCH_BITS) == 0;
}

Inode *inode_get(const Tree *t, uint64_t ino)
{
    if (!t->top || !tree_holds(t, ino))
        return NULL;
    void *at = t->top;
    for (unsigned level = t->height; at && level-- > 0;)
        at = ((Branch *)at)->slot[slot_of(ino, level)];
    return at;
}

static Branch *branch_new(Gen *g)
{
    Branch *b = obj_alloc(g, sizeof *b);
    if (b)
        memset(b->slot, 0, sizeof b->slot);
    return b;
}

static Branch *branch_own(Gen *g, Branch *old)
{
    if (obj_mine(g, old))
        return old;
    Branch *b = obj_alloc(g, sizeof *b);
    if (!b)
        return NULL;
    memcpy(b->slot, old->slot, sizeof b->slot);
    for (int s = 0; s < BRANCH_SLOTS; s++)
        if (b->slot[s])
            obj_ref(g, b->slot[s]);
    (void)obj_unref(g, old); /* not the last: it was not mine */
    return b;
}

/* The slot of `ino` with everything above it owned; missing branches are made when `make`. */
static void **tree_slot(Gen *g, Tree *t, uint64_t ino, bool make)
{
    void **at = &t->top;
    for (unsigned level = t->height; level-- > 0;) {
        Branch *b = *at ? branch_own(g, *at) : make ? branch_new(g) : NULL;
        if (!b)
            return NULL;
        *at = b;
        at = &b->slot[slot_of(ino, level)];
    }
    return at;
}

Inode *inode_own(Vfs *fs, uint64_t ino)
{
    if (!inode_get(&fs->tree, ino))
        return NULL;
    void **slot = tree_slot(fs->gen, &fs->tree, ino, false);
    if (!slot)
        return NULL;
    Inode *i = *slot;
    if (!inode_own_at(fs->gen, &i))
        return NULL;
    *slot = i;
    return i;
}

Inode **tree_reserve(Gen *g, Tree *t, uint64_t ino)
{
    while (!t->height || !tree_holds(t, ino)) {
        if (t->top) {
            Branch *b = branch_new(g);
            if (!b)
                return NULL;
            b->slot[0] = t->top;
            t->top = b;
        }
        t->height++;
    }
    return (Inode **)tree_slot(g, t, ino, true);
}

static bool branch_empty(const Branch *b)
{
    for (int s = 0; s < BRANCH_SLOTS; s++)
        if (b->slot[s])
            return false;
    return true;
}

Inode *tree_take(Gen *g, Tree *t, uint64_t ino)
{
    Branch *way[64 / BRANCH_BITS + 1] = {NULL};
    void *at = t->top;
    for (unsigned level = t->height; level-- > 0;) {
        way[level] = at;
        at = way[level]->slot[slot_of(ino, level)];
    }
    way[0]->slot[slot_of(ino, 0)] = NULL;
    t->count--;
    for (unsigned level = 0; level + 1 < t->height && branch_empty(way[level]); level++) {
        obj_free(g, way[level]);
        way[level + 1]->slot[slot_of(ino, level + 1)] = NULL;
    }
    return at;
}

/* Recursion no deeper than the tree is high: 16. */
static void branch_unref(Gen *g, Branch *b, unsigned level)
{
    if (!b || !obj_unref(g, b))
        return;
    for (int s = 0; s < BRANCH_SLOTS; s++) {
        if (level)
            branch_unref(g, b->slot[s], level - 1);
        else
            inode_unref(g, b->slot[s]);
    }
    obj_free(g, b);
}

void tree_unref(Gen *g, Tree *t)
{
    if (t->height)
        branch_unref(g, t->top, t->height - 1);
    *t = (Tree){0};
}

typedef struct {
    int (*fn)(void *user, Inode *a, Inode *b);
    void *user;
} Diff;

static int branch_diff(const Diff *d, void *a, void *b, unsigned level)
{
    if (a == b)
        return 0;
    if (!level)
        return d->fn(d->user, a, b);
    for (int s = 0; s < BRANCH_SLOTS; s++) {
        int r = branch_diff(d, a ? ((Branch *)a)->slot[s] : NULL, b ? ((Branch *)b)->slot[s] : NULL, level - 1);
        if (r)
            return r;
    }
    return 0;
}

int tree_diff(const Tree *a, const Tree *b, int (*fn)(void *user, Inode *a, Inode *b), void *user)
{
    Diff d = {fn, user};
    /* The taller tree's low corner is as high as the other one; the rest of it has no counterpart. */
    const Tree *tall = a->height >= b->height ? a : b, *small = tall == a ? b : a;
    Branch *way[64 / BRANCH_BITS + 1] = {NULL};
    void *corner = tall->top;
    unsigned level = tall->height;
    for (; level > small->height && corner; level--) {
        way[level] = corner;
        corner = way[level]->slot[0];
    }
    int r = tall == a ? branch_diff(&d, corner, small->top, level) : branch_diff(&d, small->top, corner, level);
    for (level++; !r && level <= tall->height; level++)
        for (int s = 1; !r && s < BRANCH_SLOTS; s++)
            r = tall == a ? branch_diff(&d, way[level]->slot[s], NULL, level - 1) : branch_diff(&d, NULL, way[level]->slot[s], level - 1);
    return r;
}
