/* livebind: binds that come and go while a file system is used.
 *
 * What a bind brings is no change of the script's, so it is put into the base as well as into the tree: made once, in the
 * tree, and grafted. What a bind took with it goes from both. The base is worked on as the tree of a file system of its own.
 */
#include "internal.h"

static const VCred root = {0, 0, 022};

/* ---------- emptying ---------- */

/* The first entry below `ino` that has nothing below itself, with the directory it is in. */
static const Dentry *first_leaf(const Vfs *fs, uint64_t ino, uint64_t *dir)
{
    for (;;) {
        const Inode *at = inode_get(&fs->tree, ino);
        const Dentry *d = at && S_ISDIR(at->mode) && !inode_lazy(at) ? at->entries : NULL;
        if (!d)
            return NULL;
        const Inode *child = inode_get(&fs->tree, d->ino);
        *dir = ino;
        if (!child || !S_ISDIR(child->mode) || inode_lazy(child) || !child->entries)
            return d;
        ino = d->ino;
    }
}

int tree_drop(Vfs *fs, uint64_t dir_ino, const Dentry *leaf)
{
    char text[NAME_LIMIT + 1];
    Slice name = {text, leaf->len};
    memcpy(text, leaf->name, leaf->len);
    uint64_t ino = leaf->ino;
    Inode *dir = inode_own(fs, dir_ino), *i = dir ? inode_own(fs, ino) : NULL;
    if (!i || dir_reserve(fs->gen, &dir->entries, name) != 0)
        return -ENOMEM;
    dentry_unref(fs->gen, dir_remove(&dir->entries, name));
    dir->size--;
    dir->nlink -= S_ISDIR(i->mode) ? 1 : 0;
    i->nlink = S_ISDIR(i->mode) ? 0 : i->nlink - 1;
    fs->generation++;
    fs->filled++;
    if (i->nlink == 0)
        inode_drop(fs, i);
    return 0;
}

int tree_empty(Vfs *fs, uint64_t ino)
{
    uint64_t dir;
    int r = 0;
    for (const Dentry *leaf; r == 0 && (leaf = first_leaf(fs, ino, &dir));)
        r = tree_drop(fs, dir, leaf);
    const Inode *i = inode_get(&fs->tree, ino);
    if (r || !i || !S_ISDIR(i->mode) || !inode_lazy(i))
        return r;
    Inode *own = inode_own(fs, ino);
    if (!own)
        return -ENOMEM;
    lazy_unref(fs->gen, own->lazy);
    own->lazy = NULL;
    own->flags &= ~(uint32_t)INODE_LAZY;
    own->nlink = 2;
    return 0;
}

/* ---------- the base as a file system ---------- */

static void base_enter(const Vfs *fs, Vfs *view)
{
    memset(view, 0, sizeof *view);
    view->gen = fs->gen;
    view->tree = fs->base;
    view->next_ino = fs->next_ino;
    view->epoch = UINT32_MAX;
    view->clock = fs->clock;
    view->buckets = view->first_buckets;
    view->bucket_count = FIRST_BUCKETS;
    link_init(&view->files);
    link_init(&view->dirs);
}

static void base_leave(Vfs *fs, const Vfs *view)
{
    fs->base = view->tree;
    fs->next_ino = view->next_ino;
}

/* ---------- adding ---------- */

static int graft_inodes(Vfs *fs, Vfs *view, uint64_t first)
{
    Gen *g = fs->gen;
    for (uint64_t ino = first; ino < fs->next_ino; ino++) {
        Inode *i = inode_get(&fs->tree, ino);
        Inode **at = i ? tree_reserve(g, &view->tree, ino) : NULL;
        if (i && !at)
            return -ENOMEM;
        if (!i)
            continue;
        obj_ref(g, i);
        if (*at)
            inode_unref(g, *at); /* an overlay read there on the way, which both have */
        else
            view->tree.count++;
        *at = i;
    }
    return 0;
}

static int graft_entry(Vfs *view, uint64_t dir_ino, const Dentry *from)
{
    Gen *g = view->gen;
    const Dentry *old = dir_find(inode_get(&view->tree, dir_ino)->entries, dentry_name(from));
    if (old && old->ino == from->ino)
        return 0;
    int r = old ? tree_empty(view, old->ino) : 0; /* what the script had taken away there */
    if (r == 0 && old)
        r = tree_drop(view, dir_ino, dir_find(inode_get(&view->tree, dir_ino)->entries, dentry_name(from)));
    Inode *dir = r ? NULL : inode_own(view, dir_ino);
    if (!dir || dir_reserve(g, &dir->entries, dentry_name(from)) != 0)
        return r ? r : -ENOMEM;
    Dentry *d = dentry_new(g, dentry_name(from), from->ino, (uint32_t)from->type << 12);
    if (!d)
        return -ENOMEM;
    dir_insert(&dir->entries, d);
    dir->size++;
    dir->nlink += S_ISDIR((uint32_t)from->type << 12);
    return 0;
}

/* The entries that the bind made in a directory that was there before. */
static int graft_entries(Vfs *fs, Vfs *view, uint64_t dir, uint64_t first)
{
    const Inode *now = inode_get(&fs->tree, dir), *then = inode_get(&view->tree, dir);
    if (!now || !then || !S_ISDIR(then->mode) || inode_lazy(then) || inode_lazy(now))
        return 0;
    DirCursor c;
    cursor_init(&c, now->entries);
    int r = 0;
    for (const Dentry *d; r == 0 && (d = cursor_next(&c));)
        if (d->ino >= first)
            r = graft_entry(view, dir, d);
    return r;
}

/* Whether `ino` is the first of what the bind made in `dir`. */
static bool is_first_in(const Vfs *fs, const Inode *dir, uint64_t ino, uint64_t first)
{
    DirCursor c;
    cursor_init(&c, dir->entries);
    for (const Dentry *d; (d = cursor_next(&c));)
        if (d->ino >= first && d->ino < ino && inode_get(&fs->tree, d->ino)->parent == dir->ino)
            return false;
    return true;
}

/* What the bind made in a directory that only the script has is not in the base: one link less for each entry, and none below a directory. */
static int leave_out(const Inode *dir, Vfs *view, uint64_t first)
{
    DirCursor c;
    cursor_init(&c, dir->entries);
    for (const Dentry *d; (d = cursor_next(&c));) {
        if (d->ino < first || !inode_get(&view->tree, d->ino))
            continue;
        int r = tree_empty(view, d->ino);
        Inode *i = r ? NULL : inode_own(view, d->ino);
        if (!i)
            return r ? r : -ENOMEM;
        i->nlink = S_ISDIR(i->mode) ? 0 : i->nlink - 1;
        if (i->nlink == 0)
            inode_drop(view, i);
    }
    return 0;
}

static int graft_all(Vfs *fs, Vfs *view, uint64_t first)
{
    uint64_t done = 0;
    int r = graft_inodes(fs, view, first);
    for (uint64_t ino = first; r == 0 && ino < fs->next_ino; ino++) {
        const Inode *i = inode_get(&fs->tree, ino), *dir = i && i->parent < first ? inode_get(&fs->tree, i->parent) : NULL;
        if (!dir)
            continue;
        if (inode_get(&view->tree, dir->ino))
            r = dir->ino == done ? 0 : graft_entries(fs, view, done = dir->ino, first);
        else if (is_first_in(fs, dir, ino, first))
            r = leave_out(dir, view, first);
    }
    return r;
}

/* What was there before and has become lazy is so in the base, with the links and the parent that it has there. */
static int graft_lazy(Vfs *fs, Vfs *view, uint64_t ino)
{
    Inode *now = inode_get(&fs->tree, ino), *then = inode_get(&view->tree, ino);
    if (!then || !inode_lazy(now) || (inode_lazy(then) && then->lazy == now->lazy))
        return 0;
    uint32_t links = S_ISDIR(then->mode) ? now->nlink : then->nlink;
    uint64_t parent = then->parent;
    int r = S_ISDIR(then->mode) ? tree_empty(view, ino) : 0;
    Inode **at = r ? NULL : tree_reserve(fs->gen, &view->tree, ino);
    if (!at)
        return r ? r : -ENOMEM;
    Inode *put = obj_ref(fs->gen, now);
    if (now->nlink != links || now->parent != parent) {
        if (!inode_own_at(fs->gen, &put)) {
            inode_unref(fs->gen, put);
            return -ENOMEM;
        }
        put->nlink = links;
        put->parent = parent;
    }
    inode_unref(fs->gen, *at);
    *at = put;
    return 0;
}

/* A bind below what the script made has no place in the base: its files are then what the script's directory is, an addition. */
static int graft(Vfs *fs, const char *destination, uint64_t first, bool overlay)
{
    Path p;
    Vfs view;
    int r = path_resolve(&p, fs, &root, NULL, destination, PATH_FOLLOW | PATH_MUST);
    if (r || !fs->base.top)
        return r == -ENOENT ? 0 : r; /* a symlink to nothing: nothing came */
    uint64_t ino = place_callback(&p.at) ? p.at.mount->ino : p.at.inode->ino, above = ino;
    while (above >= first)
        above = inode_get(&fs->tree, above)->parent;
    if (!inode_get(&fs->base, above))
        return 0;
    base_enter(fs, &view);
    view.next_ino = fs->next_ino;
    r = overlay && ino < first ? graft_lazy(fs, &view, ino) : 0;
    if (r == 0)
        r = graft_all(fs, &view, first);
    base_leave(fs, &view);
    return r;
}

/* ---------- all or nothing ---------- */

/* Both trees and the mounts as they were; what is made meanwhile belongs to no epoch of changes, and nobody is asked. */
typedef struct {
    Tree tree, base;
    uint64_t first;
    uint32_t mounts, epoch;
    VUsage usage, linked; /* linked: without what is open and has no link */
    VGuard guard;
} Aside;

static Tree tree_hold(Gen *g, Tree t)
{
    if (t.top)
        obj_ref(g, t.top);
    return t;
}

static Aside aside_enter(Vfs *fs)
{
    Aside a = {tree_hold(fs->gen, fs->tree), tree_hold(fs->gen, fs->base), fs->next_ino, fs->mount_count, fs->epoch, fs->usage, fs->usage, fs->guard};
    nodes_count(fs, fs, -1);
    a.linked = fs->usage;
    fs->usage = a.usage;
    fs->epoch = UINT32_MAX;
    fs->guard = (VGuard){0};
    nodes_remember(fs);
    return a;
}

static int aside_leave(Vfs *fs, Aside *a, int result)
{
    if (result) {
        while (fs->mount_count > a->mounts)
            mount_remove(fs, fs->mounts[fs->mount_count - 1]);
        Tree tree = fs->tree, base = fs->base;
        fs->tree = a->tree;
        fs->base = a->base;
        a->tree = tree;
        a->base = base;
        nodes_take_back(fs);
        fs->generation++;
    }
    tree_unref(fs->gen, &a->tree);
    tree_unref(fs->gen, &a->base);
    fs->epoch = a->epoch;
    fs->guard = a->guard;
    return result;
}

/* One inode's part in what links count: `now` is there, `then` was. */
static int recount(void *user, Inode *now, Inode *then)
{
    Aside *a = user;
    if (then && then->born == a->epoch)
        a->linked.inodes--;
    if (then && S_ISREG(then->mode) && then->dirty == a->epoch)
        a->linked.bytes -= then->size;
    if (now && now->born == a->epoch)
        a->linked.inodes++;
    if (now && S_ISREG(now->mode) && now->dirty == a->epoch)
        a->linked.bytes += now->size;
    return 0;
}

/* What came counts for nobody; what it took the place of counts only while it is open. */
static void count_beside(Vfs *fs, Aside *a, int result)
{
    fs->usage = a->usage;
    if (result)
        return;
    (void)tree_diff(&fs->tree, &a->tree, recount, a);
    fs->usage = a->linked;
    fs->epoch = a->epoch;
    nodes_count(fs, fs, 1);
}

int vfs_bind_live(Vfs *fs, const VBind *bind, const char **message)
{
    Aside a = aside_enter(fs);
    int r = vfs_bind(fs, bind, message);
    if (r == 0 && (r = graft(fs, bind->destination, a.first, bind->mode == VBIND_OVERLAY)))
        *message = "out of memory";
    count_beside(fs, &a, r);
    return aside_leave(fs, &a, r);
}

int vfs_mount_live(Vfs *fs, const char *destination, const VMountOps *ops, void *user, bool readonly)
{
    Aside a = aside_enter(fs);
    int r = vfs_mount(fs, destination, ops, user, readonly);
    if (r == 0 && (r = graft(fs, destination, a.first, false)))
        fs->mounts[fs->mount_count - 1]->ops = NULL; /* `user` stays the caller's */
    count_beside(fs, &a, r);
    return aside_leave(fs, &a, r);
}

/* ---------- removing ---------- */

static int take_away(Vfs *fs, const char *destination)
{
    Path p;
    int r = path_resolve(&p, fs, &root, NULL, destination, PATH_ENTRY);
    if (r || !p.found || p.last != LAST_NAME)
        return r == -ENOENT || r == -ENOTDIR ? 0 : r;
    if (S_ISDIR(p.at.mode))
        return tree_empty(fs, p.at.inode->ino);
    return tree_drop(fs, p.dir.inode->ino, dir_find(p.dir.inode->entries, p.name));
}

static int take_away_both(Vfs *fs, const char *destination)
{
    int r = take_away(fs, destination);
    if (r || !fs->base.top)
        return r;
    Vfs view;
    base_enter(fs, &view);
    r = take_away(&view, destination);
    base_leave(fs, &view);
    return r;
}

int vfs_unbind(Vfs *fs, const char *destination, bool keep)
{
    Path p;
    int r = path_resolve(&p, fs, &root, NULL, destination, PATH_FOLLOW | PATH_MUST);
    if (r)
        return r;
    Mount *m = mount_at(&p);
    if (m && m->holders)
        return -EBUSY;
    if (keep ? m && m->ops != &host_direct_ops : !p.at.inode)
        return -EBUSY; /* something was mounted over it since */
    if (!keep) {
        VUsage usage = fs->usage;
        Aside a = aside_enter(fs);
        fs->epoch = a.epoch; /* what goes takes along what it counted */
        r = take_away_both(fs, destination);
        if (r)
            fs->usage = usage;
        if (aside_leave(fs, &a, r))
            return r;
    }
    if (m)
        mount_remove(fs, m);
    return m || !keep ? 0 : -EINVAL;
}
