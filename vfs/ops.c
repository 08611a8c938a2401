/* ops: the calls that add, remove and move directory entries. */
#include "internal.h"
#include "lib/base/guard.h"

/* ---------- adding ---------- */

Inode *entry_inode(Path *p, uint32_t mode)
{
    const Place *d = &p->dir;
    uint32_t gid = d->mode & S_ISGID ? d->gid : p->cred->gid;
    if ((d->mode & S_ISGID) && S_ISDIR(mode))
        mode |= S_ISGID;
    if (!S_ISLNK(mode))
        mode &= ~(p->cred->umask & 0777);
    return inode_new(p->fs, mode, p->cred->uid, gid);
}

/* Everything that makes an entry allocates first; the tree's count and the directory follow. */
static int entry_reserve(Path *p, Inode *inode, Inode **dir, Inode ***slot, Dentry **dentry)
{
    Vfs *fs = p->fs;
    Gen *g = fs->gen;
    if (GUARD(FS_QUOTA_INODES, fs->quota.inodes && fs->usage.inodes >= fs->quota.inodes))
        return -ENOSPC;
    *dir = inode_own(fs, p->dir.inode->ino);
    if (!*dir || dir_reserve(g, &(*dir)->entries, p->name) != 0)
        return -ENOMEM;
    *dentry = dentry_new(g, p->name, inode->ino, inode->mode);
    if (!*dentry)
        return -ENOMEM;
    *slot = tree_reserve(g, &fs->tree, inode->ino);
    if (!*slot) {
        dentry_unref(g, *dentry);
        return -ENOMEM;
    }
    return 0;
}

int entry_add(Path *p, Inode *inode)
{
    Vfs *fs = p->fs;
    Inode *dir, **slot;
    Dentry *d;
    int r = inode ? entry_reserve(p, inode, &dir, &slot, &d) : -ENOMEM;
    if (r) {
        inode_unref(fs->gen, inode);
        return r;
    }
    inode->parent = dir->ino;
    inode->nlink = S_ISDIR(inode->mode) ? 2 : 1;
    *slot = inode;
    fs->tree.count++;
    fs->usage.inodes++;
    fs->generation++;
    dir_insert(&dir->entries, d);
    dir->size++;
    if (S_ISDIR(inode->mode))
        dir->nlink++;
    inode_touch(fs, dir, true);
    p->dir.inode = dir;
    p->at.inode = inode;
    guard_tell(p, VOP_CREATE);
    return 0;
}

/* A name that is to be made: absent, and its directory one that may be changed. */
static int resolve_new(Path *p, Vfs *fs, const VCred *c, VDir *at, const char *path, int flags)
{
    int r = path_resolve(p, fs, c, at, path, flags);
    if (r == -ENOTDIR && p->found && p->last == LAST_NAME && p->slash)
        return -EEXIST;
    if (r)
        return r;
    if (p->found)
        return -EEXIST;
    if (p->slash && flags != PATH_ENTRY)
        return -ENOENT;
    if (place_gone(fs, &p->dir))
        return -ENOENT;
    r = path_may_change(p);
    return r ? r : guard_ask(p, VOP_CREATE);
}

int vfs_mkdir(Vfs *fs, const VCred *c, VDir *at, const char *path, uint32_t mode)
{
    Path p;
    int r = resolve_new(&p, fs, c, at, path, PATH_ENTRY);
    if (r)
        return r;
    if (place_callback(&p.dir)) {
        const Mount *m = p.dir.mount;
        r = m->ops->mkdir ? m->ops->mkdir(m->user, p.rel, mode & 01777 & ~c->umask) : -ENOSYS;
        if (r == 0)
            guard_tell(&p, VOP_CREATE);
        return r;
    }
    return entry_add(&p, entry_inode(&p, S_IFDIR | (mode & 01777)));
}

int vfs_symlink(Vfs *fs, const VCred *c, const char *target, VDir *at, const char *path)
{
    Path p;
    size_t len = strnlen(target, PATH_SIZE);
    if (len == 0 || len == PATH_SIZE)
        return len ? -ENAMETOOLONG : -ENOENT;
    int r = resolve_new(&p, fs, c, at, path, 0);
    if (r)
        return r;
    if (place_callback(&p.dir)) {
        const Mount *m = p.dir.mount;
        r = m->ops->symlink ? m->ops->symlink(m->user, target, p.rel) : -ENOSYS;
        if (r == 0)
            guard_tell(&p, VOP_CREATE);
        return r;
    }
    Inode *i = entry_inode(&p, S_IFLNK | 0777);
    if (i && !(i->target = str_new(fs->gen, slice(target, len)))) {
        inode_unref(fs->gen, i);
        i = NULL;
    }
    if (i)
        i->size = len;
    return entry_add(&p, i);
}

int vfs_mknod(Vfs *fs, const VCred *c, VDir *at, const char *path, uint32_t mode, uint32_t rdev)
{
    Path p;
    uint32_t type = mode & S_IFMT;
    if (!type)
        type = S_IFREG;
    if (type != S_IFREG && type != S_IFIFO && type != S_IFCHR)
        return type == S_IFDIR ? -EPERM : -EINVAL;
    int r = resolve_new(&p, fs, c, at, path, 0);
    if (r)
        return r;
    if (type == S_IFCHR && c->uid != 0)
        return -EPERM;
    if (place_callback(&p.dir))
        return -EPERM;
    Inode *i = entry_inode(&p, type | (mode & 07777));
    if (i && type == S_IFCHR)
        i->rdev = rdev;
    return entry_add(&p, i);
}

/* As fs.protected_hardlinks: of a foreign file only one that the linker could also copy back. */
static bool may_link(const VCred *c, const Inode *i)
{
    if (c->uid == 0 || c->uid == i->uid)
        return true;
    bool special = !S_ISREG(i->mode) || (i->mode & S_ISUID) || (i->mode & (S_ISGID | 0010)) == (S_ISGID | 0010);
    return !special && may(c, i->mode, i->uid, i->gid, 6);
}

static int link_memory(Path *from, Path *to)
{
    Vfs *fs = from->fs;
    uint64_t ino = from->at.inode->ino;
    if (place_gone(fs, &from->at))
        return -ENOENT;
    if (!may_link(from->cred, from->at.inode))
        return -EPERM;
    Inode *dir = inode_own(fs, to->dir.inode->ino), *i = dir ? inode_own(fs, ino) : NULL;
    if (!i || dir_reserve(fs->gen, &dir->entries, to->name) != 0)
        return -ENOMEM;
    Dentry *d = dentry_new(fs->gen, to->name, ino, i->mode);
    if (!d)
        return -ENOMEM;
    dir_insert(&dir->entries, d);
    dir->size++;
    i->nlink++;
    i->flags |= INODE_LINKED;
    i->parent = dir->ino;
    inode_touch(fs, i, false);
    inode_touch(fs, dir, true);
    fs->generation++;
    guard_tell(to, VOP_CREATE);
    return 0;
}

int vfs_link(Vfs *fs, const VCred *c, VDir *at, const char *from, VDir *to_at, const char *to, int flags)
{
    Path a, b;
    int r = path_resolve(&a, fs, c, at, from, (flags & V_NOFOLLOW ? 0 : PATH_FOLLOW) | PATH_MUST);
    if (r == 0)
        r = resolve_new(&b, fs, c, to_at, to, 0);
    if (r)
        return r;
    place_refresh(fs, &a.at);
    if (a.at.mount != b.dir.mount)
        return -EXDEV;
    if (S_ISDIR(a.at.mode))
        return -EPERM;
    if ((r = guard_move(&a, &b)))
        return r;
    if (!place_callback(&b.dir))
        return link_memory(&a, &b);
    const Mount *m = b.dir.mount;
    r = m->ops->link ? m->ops->link(m->user, a.rel, b.rel) : -EPERM;
    if (r == 0)
        guard_tell(&b, VOP_CREATE);
    return r;
}

/* ---------- removing ---------- */

/* In a directory with the sticky bit only the file's owner, the directory's, or root may take an entry away. */
static bool sticky_forbids(const Path *p)
{
    return (p->dir.mode & S_ISVTX) && p->cred->uid != 0 && p->cred->uid != p->at.uid && p->cred->uid != p->dir.uid;
}

/* Something is mounted on it, or on what lies below. */
static bool is_mount_point(const Path *p)
{
    return p->fs->mount_count && p->at.mount && p->at.mount != p->dir.mount;
}

/* An entry that is to be taken away: what Linux checks before looking at its kind. */
static int may_remove(const Path *p)
{
    int r = path_may_change(p);
    if (r)
        return r;
    if (!p->found)
        return -ENOENT;
    if (sticky_forbids(p))
        return -EPERM;
    return is_mount_point(p) ? -EBUSY : 0;
}

static int remove_memory(Path *p)
{
    Vfs *fs = p->fs;
    Inode *dir = inode_own(fs, p->dir.inode->ino), *i = dir ? inode_own(fs, p->at.inode->ino) : NULL;
    if (!i || dir_reserve(fs->gen, &dir->entries, p->name) != 0)
        return -ENOMEM;
    dentry_unref(fs->gen, dir_remove(&dir->entries, p->name));
    dir->size--;
    inode_touch(fs, dir, true);
    inode_touch(fs, i, false);
    if (S_ISDIR(i->mode)) {
        dir->nlink--;
        i->nlink = 0;
    } else {
        i->nlink--;
    }
    fs->generation++;
    if (i->nlink == 0)
        inode_drop(fs, i);
    return 0;
}

static int remove_entry(Path *p, bool directory)
{
    int r = guard_ask(p, VOP_DELETE);
    if (r)
        return r;
    if (place_callback(&p->dir)) {
        const Mount *m = p->dir.mount;
        r = m->ops->remove ? m->ops->remove(m->user, p->rel, directory) : -ENOSYS;
    } else {
        r = remove_memory(p);
    }
    if (r == 0)
        guard_tell(p, VOP_DELETE);
    return r;
}

int vfs_unlink(Vfs *fs, const VCred *c, VDir *at, const char *path)
{
    Path p;
    int r = path_resolve(&p, fs, c, at, path, PATH_ENTRY);
    if (r)
        return r;
    if (p.last != LAST_NAME)
        return -EISDIR;
    r = may_remove(&p);
    if (r)
        return r;
    if (S_ISDIR(p.at.mode))
        return -EISDIR;
    return remove_entry(&p, false);
}

int vfs_rmdir(Vfs *fs, const VCred *c, VDir *at, const char *path)
{
    Path p;
    int r = path_resolve(&p, fs, c, at, path, PATH_ENTRY);
    if (r)
        return r;
    if (p.last != LAST_NAME)
        return p.last == LAST_DOT ? -EINVAL : p.last == LAST_DOTDOT ? -ENOTEMPTY : -EBUSY;
    r = may_remove(&p);
    if (r)
        return r;
    if (!S_ISDIR(p.at.mode))
        return -ENOTDIR;
    if ((r = place_fill(fs, &p.at)))
        return r;
    place_refresh(fs, &p.dir);
    if (p.at.inode && p.at.inode->entries)
        return -ENOTEMPTY;
    return remove_entry(&p, true);
}

/* ---------- moving ---------- */

static bool below(const Vfs *fs, const Inode *dir, uint64_t ancestor)
{
    for (; dir && dir->ino != ROOT_INO; dir = inode_get(&fs->tree, dir->parent))
        if (dir->ino == ancestor)
            return true;
    return ancestor == ROOT_INO;
}

/* The part of rename that looks at what is there; 1: nothing to do. */
static int rename_check(const Path *a, const Path *b, bool no_replace)
{
    bool directory = S_ISDIR(a->at.mode), moves = a->dir.inode != b->dir.inode;
    if (b->found && no_replace)
        return -EEXIST;
    if (!directory && (a->slash || b->slash))
        return -ENOTDIR;
    if (a->at.inode && directory && below(a->fs, b->dir.inode, a->at.inode->ino))
        return -EINVAL;
    if (b->found && b->at.inode && S_ISDIR(b->at.mode) && below(a->fs, a->dir.inode, b->at.inode->ino))
        return -ENOTEMPTY;
    if (b->found && a->at.inode && a->at.inode == b->at.inode)
        return 1;
    if (sticky_forbids(a))
        return -EPERM;
    if (b->found) {
        if (sticky_forbids(b))
            return -EPERM;
        if (directory != S_ISDIR(b->at.mode))
            return directory ? -ENOTDIR : -EISDIR;
    }
    if (directory && moves && a->at.inode && !place_may(a->cred, &a->at, 2))
        return -EACCES;
    if (b->found && b->at.inode && directory && b->at.inode->entries)
        return -ENOTEMPTY;
    return 0;
}

typedef struct {
    Inode *from_dir, *to_dir, *moved, *victim;
    Dentry *fresh; /* the new entry, when none is replaced */
} Move;

static int rename_reserve(const Path *a, const Path *b, Move *m)
{
    Vfs *fs = a->fs;
    uint64_t ino = a->at.inode->ino;
    *m = (Move){0};
    if (!(m->from_dir = inode_own(fs, a->dir.inode->ino)) || !(m->to_dir = inode_own(fs, b->dir.inode->ino)) ||
        !(m->moved = inode_own(fs, ino)))
        return -ENOMEM;
    if (b->found && !(m->victim = inode_own(fs, b->at.inode->ino)))
        return -ENOMEM;
    if (dir_reserve(fs->gen, &m->from_dir->entries, a->name) != 0 || dir_reserve(fs->gen, &m->to_dir->entries, b->name) != 0)
        return -ENOMEM;
    if (!b->found && !(m->fresh = dentry_new(fs->gen, b->name, ino, m->moved->mode)))
        return -ENOMEM;
    return 0;
}

static void rename_victim(Vfs *fs, Move *m)
{
    Inode *v = m->victim;
    inode_touch(fs, v, false);
    if (S_ISDIR(v->mode)) {
        m->to_dir->nlink--;
        v->nlink = 0;
    } else {
        v->nlink--;
    }
    if (v->nlink == 0)
        inode_drop(fs, v);
}

static int rename_memory(const Path *a, const Path *b)
{
    Vfs *fs = a->fs;
    Move m;
    int r = rename_reserve(a, b, &m);
    if (r)
        return r;
    if (m.victim) {
        Dentry *d = dir_find_own(&m.to_dir->entries, b->name);
        d->ino = m.moved->ino;
        d->type = (uint16_t)((m.moved->mode & S_IFMT) >> 12);
        rename_victim(fs, &m);
    }
    dentry_unref(fs->gen, dir_remove(&m.from_dir->entries, a->name));
    m.from_dir->size--;
    if (m.fresh) {
        dir_insert(&m.to_dir->entries, m.fresh);
        m.to_dir->size++;
    }
    if (S_ISDIR(m.moved->mode) && m.from_dir != m.to_dir) {
        m.from_dir->nlink--;
        m.to_dir->nlink++;
    }
    m.moved->parent = m.to_dir->ino;
    inode_touch(fs, m.moved, false);
    inode_touch(fs, m.from_dir, true);
    inode_touch(fs, m.to_dir, true);
    fs->generation++;
    return 0;
}

static int rename_entry(Path *a, Path *b, bool no_replace)
{
    if (!place_callback(&a->dir))
        return rename_memory(a, b);
    const Mount *m = a->dir.mount;
    return m->ops->rename ? m->ops->rename(m->user, a->rel, b->rel, no_replace) : -ENOSYS;
}

/* What was read in meanwhile moved the inodes that were found before. */
static void places_refresh(Path *a, Path *b)
{
    if (a->last == LAST_NAME)
        place_refresh(a->fs, &a->dir);
    if (a->found)
        place_refresh(a->fs, &a->at);
    if (b->last == LAST_NAME)
        place_refresh(a->fs, &b->dir);
    if (b->found)
        place_refresh(a->fs, &b->at);
}

int vfs_rename(Vfs *fs, const VCred *c, VDir *at, const char *from, VDir *to_at, const char *to, bool no_replace)
{
    Path a, b;
    int r = path_resolve(&a, fs, c, at, from, PATH_ENTRY);
    if (r == 0)
        r = path_resolve(&b, fs, c, to_at, to, PATH_ENTRY);
    if (r == 0 && b.found && b.last == LAST_NAME)
        r = place_fill(fs, &b.at); /* whether it is empty */
    if (r)
        return r;
    places_refresh(&a, &b);
    if (a.last != LAST_NAME || b.last != LAST_NAME)
        return -EBUSY;
    if (a.dir.mount != b.dir.mount)
        return -EXDEV;
    if (place_readonly(&a.dir))
        return -EROFS;
    if (!a.found || place_gone(fs, &b.dir))
        return -ENOENT;
    if (is_mount_point(&a) || (b.found && is_mount_point(&b)))
        return -EBUSY;
    if ((r = path_may_change(&a)) || (r = path_may_change(&b)))
        return r;
    r = rename_check(&a, &b, no_replace);
    if (r)
        return r > 0 ? 0 : r;
    if ((r = guard_ask(&a, VOP_DELETE)) || (r = guard_ask(&b, VOP_CREATE)) || (r = guard_move(&a, &b)) || (r = rename_entry(&a, &b, no_replace)))
        return r;
    guard_tell(&a, VOP_DELETE);
    guard_tell(&b, VOP_CREATE);
    return 0;
}
