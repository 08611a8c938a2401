/* lazy: directories and files that are read in when somebody looks.
 *
 * An overlay bind begins as one lazy directory. The first look-up or list in it makes inodes of its entries, lazy in
 * their turn, in the tree and in the base: so what was only looked at is no change, what was deleted is one, and a reset
 * needs nothing of its own. A host's file is read through, never mapped, until it is opened for writing, which
 * copies it; its size and times are looked at again whenever it is opened. A host that changes under us costs an error (-EIO,
 * -ENOENT), no more.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "internal.h"

/* ---------- the object ---------- */

void lazy_unref(Gen *g, Lazy *l)
{
    if (!l || !obj_unref(g, l))
        return;
    hold_unref(g, l->hold);
    obj_free(g, l);
}

static Lazy *lazy_new(Gen *g, Hold *hold, const char *dir, Slice name)
{
    size_t len = strlen(dir), slash = len && name.len, size;
    if (!size_add(sizeof(Lazy) + len + slash + 1, name.len, &size))
        return NULL;
    Lazy *l = obj_alloc(g, size);
    if (!l)
        return NULL;
    memset((char *)l + sizeof(Obj), 0, sizeof *l - sizeof(Obj));
    l->hold = obj_ref(g, hold);
    memcpy(l->path, dir, len);
    if (slash)
        l->path[len] = '/';
    if (name.len)
        memcpy(l->path + len + slash, name.data, name.len);
    l->path[len + slash + name.len] = 0;
    return l;
}

static void take_stat(Inode *i, const VStat *st)
{
    i->uid = st->uid;
    i->gid = st->gid;
    i->size = S_ISREG(i->mode) ? st->size : i->size;
    const int64_t time[4] = {st->atime, st->mtime, st->ctime, st->btime};
    const uint32_t ns[4] = {st->atime_ns, st->mtime_ns, st->ctime_ns, st->btime_ns};
    memcpy(i->time, time, sizeof time);
    memcpy(i->time_ns, ns, sizeof ns);
}

/* Counted in no usage: it was made in no epoch. */
static Inode *outside_inode(Vfs *fs, uint32_t mode, const VStat *st)
{
    Inode *i = inode_new(fs, mode, 0, 0);
    if (!i)
        return NULL;
    i->born = i->dirty = 0;
    i->nlink = 1;
    take_stat(i, st);
    return i;
}

Inode *lazy_inode(Vfs *fs, Hold *hold, const HostTree *tree, const char *dir, Slice name, const VStat *st)
{
    Inode *i = outside_inode(fs, (st->mode & S_IFMT) | (st->mode & 0777), st);
    Lazy *l = i ? lazy_new(fs->gen, hold, dir, name) : NULL;
    if (!l) {
        inode_unref(fs->gen, i);
        return NULL;
    }
    l->tree = tree;
    if (S_ISDIR(i->mode))
        i->nlink = st->nlink < 2 ? 2 : st->nlink; /* what the host says, until its entries are counted */
    i->lazy = l;
    i->flags |= INODE_LAZY;
    return i;
}

void lazy_replace(Vfs *fs, Inode *i, Inode *lazy)
{
    if (S_ISREG(i->mode)) {
        uint64_t before = i->size;
        data_unref(fs->gen, i);
        i->size = 0;
        quota_count(fs, i, before);
        i->dirty = 0;
    }
    i->mode = lazy->mode;
    i->uid = lazy->uid;
    i->gid = lazy->gid;
    i->size = lazy->size;
    i->flags = (i->flags & ~(uint32_t)INODE_COMMAND) | INODE_LAZY;
    i->lazy = obj_ref(fs->gen, lazy->lazy);
    memcpy(i->time, lazy->time, sizeof i->time);
    memcpy(i->time_ns, lazy->time_ns, sizeof i->time_ns);
    inode_unref(fs->gen, lazy);
}

static Inode *entry_inode_of(Vfs *fs, const Lazy *from, const HostEntry *e)
{
    if (!S_ISLNK(e->stat.mode))
        return lazy_inode(fs, from->hold, from->tree, from->path, e->name, &e->stat);
    Inode *i = outside_inode(fs, S_IFLNK | 0777, &e->stat);
    if (i && !(i->target = str_new(fs->gen, e->target))) {
        inode_unref(fs->gen, i);
        return NULL;
    }
    if (i)
        i->size = e->target.len;
    return i;
}

/* ---------- directories ---------- */

/* The entries of one directory, made and not yet in any tree. */
typedef struct {
    Dentry *entries;
    Inode **inodes;
    size_t count;
    uint32_t subdirectories;
} Entries;

static void entries_drop(Gen *g, Entries *e)
{
    dentry_unref(g, e->entries);
    for (size_t n = 0; n < e->count; n++)
        inode_unref(g, e->inodes[n]);
}

static int entries_make(Vfs *fs, const Inode *dir, Mem *mem, Entries *out)
{
    HostEntry *list;
    size_t total;
    *out = (Entries){0};
    int r = host_scan(dir->lazy->tree, dir->lazy->path, mem, &list, &total);
    if (r)
        return r == -ENOTDIR || r == -ELOOP ? -EIO : r;
    out->inodes = mem_array(mem, total, Inode *);
    for (size_t n = 0; out->inodes && n < total; n++) {
        if (list[n].name.len > NAME_LIMIT)
            continue;
        Inode *i = entry_inode_of(fs, dir->lazy, &list[n]);
        Dentry *d = i ? dentry_new(fs->gen, list[n].name, i->ino, i->mode) : NULL;
        if (!d) {
            inode_unref(fs->gen, i);
            entries_drop(fs->gen, out);
            return -ENOMEM;
        }
        i->parent = dir->ino;
        out->subdirectories += S_ISDIR(i->mode);
        dir_insert(&out->entries, d); /* all are new: nothing to reserve */
        out->inodes[out->count++] = i;
    }
    return out->inodes ? 0 : -ENOMEM;
}

/* Everything that allocates, in one tree; its branches may be more than they were, what is in it is not. */
static int entries_reserve(Gen *g, Tree *t, uint64_t ino, const Entries *e)
{
    for (size_t n = 0; n < e->count; n++)
        if (!tree_reserve(g, t, e->inodes[n]->ino))
            return -ENOMEM;
    Inode **at = tree_reserve(g, t, ino);
    return at && inode_own_at(g, at) ? 0 : -ENOMEM;
}

static void entries_put(Gen *g, Tree *t, uint64_t ino, const Entries *e)
{
    for (size_t n = 0; n < e->count; n++)
        *tree_reserve(g, t, e->inodes[n]->ino) = obj_ref(g, e->inodes[n]);
    t->count += e->count;
    Inode *dir = *tree_reserve(g, t, ino);
    lazy_unref(g, dir->lazy);
    dir->flags &= ~(uint32_t)INODE_LAZY;
    dir->entries = e->entries ? obj_ref(g, e->entries) : NULL;
    dir->size = e->count;
    dir->nlink = 2 + e->subdirectories;
}

static bool base_waits_too(const Vfs *fs, const Inode *now)
{
    const Inode *then = inode_get(&fs->base, now->ino);
    return then && then->mode >> 12 == now->mode >> 12 && inode_lazy(then) && then->lazy == now->lazy;
}

/* While tree and base are one, the base lets go first, so that what is made here is changed in place and is one for both again. */
static int entries_put_both(Vfs *fs, uint64_t ino, const Entries *e)
{
    Gen *g = fs->gen;
    bool also = base_waits_too(fs, inode_get(&fs->tree, ino)), one = also && fs->base.top == fs->tree.top;
    if (one) {
        (void)obj_unref(g, fs->base.top); /* not the last: the tree holds it */
        fs->base = (Tree){0};
    }
    int r = entries_reserve(g, &fs->tree, ino, e);
    if (r == 0 && also && !one)
        r = entries_reserve(g, &fs->base, ino, e);
    if (r == 0)
        entries_put(g, &fs->tree, ino, e);
    if (r == 0 && also && !one)
        entries_put(g, &fs->base, ino, e);
    if (one) {
        fs->base = fs->tree;
        obj_ref(g, fs->tree.top);
    }
    return r;
}

int lazy_fill(Vfs *fs, uint64_t ino)
{
    Mem mem;
    Entries e;
    const Inode *dir = inode_get(&fs->tree, ino);
    if (!dir || !S_ISDIR(dir->mode) || !inode_lazy(dir))
        return 0;
    mem_init(&mem, NULL, NULL, NULL);
    int r = entries_make(fs, dir, &mem, &e);
    if (r == 0) {
        r = entries_put_both(fs, ino, &e);
        entries_drop(fs->gen, &e);
    }
    fs->filled += r == 0;
    mem_drop(&mem);
    return r;
}

void place_refresh(const Vfs *fs, Place *p)
{
    const Inode *i = p->inode ? inode_get(&fs->tree, p->inode->ino) : NULL;
    if (i)
        p->inode = i;
}

int place_fill(Vfs *fs, Place *p)
{
    if (likely(!p->inode || !inode_lazy(p->inode) || !S_ISDIR(p->inode->mode)))
        return 0;
    int r = lazy_fill(fs, p->inode->ino);
    place_refresh(fs, p);
    return r == 0 && inode_lazy(p->inode) ? -ENOENT : r; /* held, but gone from the tree before it was read */
}

/* ---------- files ---------- */

static int open_host(const Lazy *l, VStat *st)
{
    int fd = host_open(l->tree, l->path, O_RDONLY);
    if (fd < 0)
        return fd == -ELOOP || fd == -ENXIO || fd == -ENOTDIR ? -EIO : fd;
    int r = host_fstat(l->tree, fd, st);
    if (r == 0 && !S_ISREG(st->mode))
        r = -EIO;
    if (r == 0)
        return fd;
    host_close(fd);
    return r;
}

static int load_host(Vfs *fs, const Lazy *l, Chunk **chunk, uint64_t *len)
{
    VStat st;
    int fd = open_host(l, &st);
    if (fd < 0)
        return fd;
    int r = host_read_all(fs->gen, fd, st.size, chunk, len);
    host_close(fd);
    return r;
}

static int load_callback(Vfs *fs, const Lazy *l, Chunk **chunk, uint64_t *len)
{
    char *data = NULL;
    size_t n = 0;
    int r = l->ops->load(l->user, fs->context, &data, &n);
    if (r)
        return r;
    *chunk = chunk_new(fs->gen, n);
    *len = n;
    if (*chunk && n)
        memcpy((*chunk)->data, data, n);
    free(data);
    return *chunk ? 0 : -ENOMEM;
}

int lazy_load(Vfs *fs, Inode *i)
{
    Chunk *chunk = NULL;
    uint64_t len = 0;
    const Lazy *l = i->lazy;
    int r = l->tree ? load_host(fs, l, &chunk, &len) : load_callback(fs, l, &chunk, &len);
    if (r)
        return r;
    if (fs->quota.file_bytes && len > fs->quota.file_bytes) {
        chunk_unref(fs->gen, chunk);
        return -EFBIG;
    }
    uint64_t before = i->size;
    data_unref(fs->gen, i);
    i->size = len;
    if (len)
        i->chunk = chunk;
    else
        chunk_unref(fs->gen, chunk);
    if (i->dirty == fs->epoch)
        fs->usage.bytes = fs->usage.bytes - before + len;
    return 0;
}

/* A host's file that has changed since it was listed is what it is now; in the base too, where it is the same. */
static int look_again(Vfs *fs, uint64_t ino)
{
    VStat st;
    const Inode *i = inode_get(&fs->tree, ino);
    int fd = open_host(i->lazy, &st);
    if (fd < 0)
        return fd;
    host_close(fd);
    if (st.size == i->size && st.mtime == i->time[TIME_MODIFY] && st.mtime_ns == i->time_ns[TIME_MODIFY])
        return 0;
    bool also = base_waits_too(fs, i);
    Inode *now = inode_own(fs, ino);
    Inode **slot = now && also ? tree_reserve(fs->gen, &fs->base, ino) : NULL;
    Inode *old = slot ? inode_own_at(fs->gen, slot) : NULL;
    if (!now || (also && !old))
        return -ENOMEM;
    take_stat(now, &st);
    if (old)
        take_stat(old, &st);
    fs->filled++;
    return 0;
}

int lazy_open(Vfs *fs, uint64_t ino)
{
    const Inode *i = inode_get(&fs->tree, ino);
    if (!i || !S_ISREG(i->mode) || !inode_lazy(i))
        return 0;
    if (i->lazy->tree)
        return look_again(fs, ino);
    Inode *own = inode_own(fs, ino);
    return own ? lazy_load(fs, own) : -ENOMEM;
}

ssize_t lazy_read(const Inode *i, uint64_t off, char *buf, size_t n)
{
    VStat st;
    if (off >= i->size || !n)
        return 0;
    if (!i->lazy->tree)
        return -EIO;
    int fd = open_host(i->lazy, &st);
    if (fd < 0)
        return fd;
    ssize_t got = host_pread(fd, buf, (size_t)MIN((uint64_t)n, i->size - off), off);
    host_close(fd);
    return got == 0 ? -EIO : got; /* it has shrunk: cut short in silence would be worse */
}

/* ---------- a file of the embedder's ---------- */

typedef struct {
    const VLazyOps *ops;
    void *user;
} Given;

static void given_release(void *thing)
{
    Given *g = thing;
    g->ops->unref(g->user);
    free(g);
}

static Hold *given_hold(Gen *g, const VLazyOps *ops, void *user)
{
    Given *given = malloc(sizeof *given);
    if (!given)
        return NULL;
    *given = (Given){ops, user};
    Hold *h = hold_new(g, given_release, given);
    if (!h)
        free(given);
    else
        ops->ref(user);
    return h;
}

int vfs_lazy_file(Vfs *fs, const VCred *c, VDir *at, const char *path, uint64_t size, uint32_t mode, const VLazyOps *ops, void *user)
{
    VFile *f;
    if (size > INT64_MAX)
        return -EFBIG;
    int r = vfs_open(fs, c, at, path, V_WRITE | V_CREATE | V_TRUNC, mode & 0777, &f);
    if (r)
        return r;
    Inode *i = f->node ? node_own(fs, f->node) : NULL;
    Hold *hold = i && S_ISREG(i->mode) ? given_hold(fs->gen, ops, user) : NULL;
    Lazy *l = hold ? lazy_new(fs->gen, hold, "", (Slice){NULL, 0}) : NULL;
    if (hold)
        hold_unref(fs->gen, hold); /* the object has its own */
    if (l) {
        l->ops = ops;
        l->user = user;
        quota_count(fs, i, i->size);
        i->flags = (i->flags & ~(uint32_t)INODE_COMMAND) | INODE_LAZY;
        i->lazy = l;
        fs->usage.bytes += size;
        i->size = size;
    }
    r = l ? 0 : !f->node ? -ENOTSUP : i && !S_ISREG(i->mode) ? -EINVAL : -ENOMEM;
    vfs_file_unref(fs, f);
    return r;
}
