/* attr: the calls that look at or change one inode by its path: stat, access, modes, owners, times, size. */
#include "internal.h"
#include "lib/base/guard.h"

int vfs_stat(Vfs *fs, const VCred *c, VDir *at, const char *path, int flags, VStat *out)
{
    Path p;
    int r = path_resolve(&p, fs, c, at, path, PATH_MUST | (flags & V_NOFOLLOW ? 0 : PATH_FOLLOW));
    return r ? r : path_stat(&p, out);
}

int vfs_access(Vfs *fs, const VCred *c, VDir *at, const char *path, int rwx)
{
    Path p;
    int r = path_resolve(&p, fs, c, at, path, PATH_FOLLOW | PATH_MUST);
    if (r)
        return r;
    bool special = S_ISCHR(p.at.mode) || S_ISFIFO(p.at.mode);
    if ((rwx & 2) && place_readonly(&p.at) && !special)
        return -EROFS;
    return place_may(c, &p.at, (unsigned)rwx) ? 0 : -EACCES;
}

int vfs_readlink(Vfs *fs, const VCred *c, VDir *at, const char *path, Mem *mem, Slice *out)
{
    Path p;
    int r = path_resolve(&p, fs, c, at, path, PATH_MUST);
    if (r)
        return r;
    if (!S_ISLNK(p.at.mode))
        return -EINVAL;
    *out = (Slice){"", 0};
    Quiet q = mem_quiet(mem);
    if (place_callback(&p.at)) {
        const Mount *m = p.at.mount;
        r = m->ops->readlink ? m->ops->readlink(m->user, p.rel, mem, out) : -ENOSYS;
    } else {
        Slice target = str_slice(p.at.inode->target);
        const char *copy = mem_copy(mem, target);
        if (copy)
            *out = slice(copy, target.len);
        r = copy ? 0 : -ENOMEM;
    }
    return mem_loud(q, r);
}

/* ---------- changes of an inode ---------- */

/* Resolves what is to be changed; -EROFS and the guard's refusal come before any question of ownership is settled. */
static int resolve_change(Path *p, Vfs *fs, const VCred *c, VDir *at, const char *path, int flags)
{
    int r = path_resolve(p, fs, c, at, path, PATH_MUST | (flags & V_NOFOLLOW ? 0 : PATH_FOLLOW));
    if (r)
        return r;
    if (GUARD(FS_READONLY, place_readonly(&p->at)))
        return -EROFS;
    return place_gone(fs, &p->at) ? -ENOENT : 0;
}

/* The mode chmod may set: who is neither root nor in the file's group cannot give set-group-id. */
static int chmod_inode(Vfs *fs, const VCred *c, Inode *i, uint32_t mode)
{
    mode &= 07777;
    if (c->uid != 0 && c->gid != i->gid)
        mode &= ~(uint32_t)S_ISGID;
    i->mode = (i->mode & S_IFMT) | mode;
    inode_touch(fs, i, false);
    return 0;
}

int vfs_chmod(Vfs *fs, const VCred *c, VDir *at, const char *path, int flags, uint32_t mode)
{
    Path p;
    int r = resolve_change(&p, fs, c, at, path, flags);
    if (r)
        return r;
    if (S_ISLNK(p.at.mode))
        return -EOPNOTSUPP;
    if (c->uid != 0 && c->uid != p.at.uid)
        return -EPERM;
    if ((r = guard_ask(&p, VOP_CHMOD)))
        return r;
    if (place_callback(&p.at)) {
        const Mount *m = p.at.mount;
        r = m->ops->chmod ? m->ops->chmod(m->user, p.rel, mode & 07777) : -ENOSYS;
    } else {
        Inode *i = inode_own(fs, p.at.inode->ino);
        r = i ? chmod_inode(fs, c, i, mode) : -ENOMEM;
        fs->generation++;
    }
    if (r == 0)
        guard_tell(&p, VOP_CHMOD);
    return r;
}

/* Only root gives a file away; its owner may give it to the group they are in. */
static bool may_chown(const VCred *c, const Inode *i, uint32_t uid, uint32_t gid)
{
    if (c->uid == 0)
        return true;
    return c->uid == i->uid && uid == i->uid && (gid == i->gid || gid == c->gid);
}

static int chown_inode(Vfs *fs, const VCred *c, Inode *i, uint32_t uid, uint32_t gid)
{
    if (c->uid != 0 && S_ISREG(i->mode)) {
        i->mode &= ~(uint32_t)S_ISUID;
        if (i->mode & S_IXGRP)
            i->mode &= ~(uint32_t)S_ISGID;
    }
    i->uid = uid;
    i->gid = gid;
    inode_touch(fs, i, false);
    return 0;
}

int vfs_chown(Vfs *fs, const VCred *c, VDir *at, const char *path, int flags, uint32_t uid, uint32_t gid)
{
    Path p;
    int r = resolve_change(&p, fs, c, at, path, flags);
    if (r)
        return r;
    if (place_callback(&p.at))
        return (uid == (uint32_t)-1 || uid == p.at.uid) && (gid == (uint32_t)-1 || gid == p.at.gid) ? 0 : -EPERM;
    uid = uid == (uint32_t)-1 ? p.at.uid : uid;
    gid = gid == (uint32_t)-1 ? p.at.gid : gid;
    if (!may_chown(c, p.at.inode, uid, gid))
        return -EPERM;
    if ((r = guard_ask(&p, VOP_CHMOD)))
        return r;
    Inode *i = inode_own(fs, p.at.inode->ino);
    if (!i)
        return -ENOMEM;
    r = chown_inode(fs, c, i, uid, gid);
    guard_tell(&p, VOP_CHMOD);
    return r;
}

static void set_time(Inode *i, int which, VTime t)
{
    if (t.how == VTIME_OMIT)
        return;
    if (t.how == VTIME_NOW) {
        i->time[which] = i->time[TIME_CHANGE];
        i->time_ns[which] = i->time_ns[TIME_CHANGE];
    } else {
        i->time[which] = t.seconds;
        i->time_ns[which] = t.nanosecond;
    }
}

static void utimes_inode(Vfs *fs, Inode *i, VTime atime, VTime mtime)
{
    if (atime.how == VTIME_OMIT && mtime.how == VTIME_OMIT)
        return;
    inode_touch(fs, i, false);
    set_time(i, TIME_ACCESS, atime);
    set_time(i, TIME_MODIFY, mtime);
}

int vfs_utimes(Vfs *fs, const VCred *c, VDir *at, const char *path, int flags, VTime atime, VTime mtime)
{
    Path p;
    int r = resolve_change(&p, fs, c, at, path, flags);
    if (r)
        return r;
    bool owner = c->uid == 0 || c->uid == p.at.uid, to_now = atime.how == VTIME_NOW && mtime.how == VTIME_NOW;
    if (!owner && !(to_now && place_may(c, &p.at, 2)))
        return to_now ? -EACCES : -EPERM;
    if ((r = guard_ask(&p, VOP_CHMOD)))
        return r;
    if (place_callback(&p.at)) {
        const Mount *m = p.at.mount;
        r = m->ops->utimes ? m->ops->utimes(m->user, p.rel, atime, mtime) : -ENOSYS;
    } else {
        Inode *i = inode_own(fs, p.at.inode->ino);
        if (!i)
            return -ENOMEM;
        utimes_inode(fs, i, atime, mtime);
    }
    if (r == 0)
        guard_tell(&p, VOP_CHMOD);
    return r;
}

static int resize_inode(Vfs *fs, Inode *i, uint64_t size)
{
    int r = size && inode_lazy(i) ? lazy_load(fs, i) : 0;
    uint64_t before = i->size;
    if (r == 0)
        r = quota_room(fs, i, size);
    if (r == 0)
        r = data_resize(fs->gen, i, size);
    if (r)
        return r;
    quota_count(fs, i, before);
    i->flags &= ~(uint32_t)INODE_COMMAND;
    inode_touch(fs, i, true);
    return 0;
}

int vfs_truncate(Vfs *fs, const VCred *c, VDir *at, const char *path, uint64_t size)
{
    VFile *f;
    int r = vfs_open(fs, c, at, path, V_WRITE | V_NONBLOCK, 0, &f);
    if (r)
        return r;
    VStat st;
    r = vfs_file_stat(fs, f, &st);
    if (r == 0)
        r = S_ISREG(st.mode) ? vfs_file_truncate(fs, f, size) : -EINVAL;
    vfs_file_unref(fs, f);
    return r;
}

/* ---------- the same on an open file ---------- */

int vfs_file_stat(Vfs *fs, VFile *f, VStat *out)
{
    if (f->handle) {
        const Mount *m = f->mount;
        int r = m->ops->fstat ? m->ops->fstat(m->user, f->handle, out) : -ENOSYS;
        out->dev = m->dev;
        return r;
    }
    if (!f->node)
        return -EBADF;
    inode_stat(node_inode(fs, f->node), f->mount, out);
    return 0;
}

int vfs_file_truncate(Vfs *fs, VFile *f, uint64_t size)
{
    if (!(f->flags & V_WRITE))
        return -EINVAL;
    if (f->handle) {
        const Mount *m = f->mount;
        return m->ops->truncate ? m->ops->truncate(m->user, f->handle, size) : -ENOSYS;
    }
    if (!S_ISREG(node_inode(fs, f->node)->mode))
        return -EINVAL;
    Inode *i = node_own(fs, f->node);
    return i ? resize_inode(fs, i, size) : -ENOMEM;
}

/* The inode of an open file that is about to be changed: what its own mount forbids. */
static int file_change(Vfs *fs, VFile *f, Inode **i)
{
    if (f->handle || !f->node)
        return f->handle ? -EPERM : -EBADF;
    if (f->mount && f->mount->readonly)
        return -EROFS;
    *i = node_own(fs, f->node);
    return *i ? 0 : -ENOMEM;
}

int vfs_file_chmod(Vfs *fs, const VCred *c, VFile *f, uint32_t mode)
{
    Inode *i;
    if (f->handle)
        return f->mount->readonly ? -EROFS : f->mount->ops->fchmod ? f->mount->ops->fchmod(f->mount->user, f->handle, mode & 07777) : -EPERM;
    if (f->node && c->uid != 0 && c->uid != node_inode(fs, f->node)->uid)
        return -EPERM;
    int r = file_change(fs, f, &i);
    return r ? r : chmod_inode(fs, c, i, mode);
}

int vfs_file_chown(Vfs *fs, const VCred *c, VFile *f, uint32_t uid, uint32_t gid)
{
    Inode *i = f->node ? node_inode(fs, f->node) : NULL;
    if (i) {
        uid = uid == (uint32_t)-1 ? i->uid : uid;
        gid = gid == (uint32_t)-1 ? i->gid : gid;
        if (!may_chown(c, i, uid, gid))
            return -EPERM;
    }
    int r = file_change(fs, f, &i);
    return r ? r : chown_inode(fs, c, i, uid, gid);
}

int vfs_file_utimes(Vfs *fs, VFile *f, VTime atime, VTime mtime)
{
    Inode *i;
    if (f->handle)
        return f->mount->readonly ? -EROFS : f->mount->ops->futimes ? f->mount->ops->futimes(f->mount->user, f->handle, atime, mtime) : -EPERM;
    int r = file_change(fs, f, &i);
    if (r == 0)
        utimes_inode(fs, i, atime, mtime);
    return r;
}

/* ---------- the whole ---------- */

/* Without a quota the sizes of a file system that could hold anything honest: 1 TiB, 2^32 inodes. */
int vfs_statfs(Vfs *fs, const VCred *c, VDir *at, const char *path, VStatfs *out)
{
    Path p;
    int r = path_resolve(&p, fs, c, at, path, PATH_FOLLOW | PATH_MUST);
    if (r)
        return r;
    uint64_t bytes = fs->quota.bytes ? fs->quota.bytes : (uint64_t)1 << 40;
    uint64_t inodes = fs->quota.inodes ? fs->quota.inodes : (uint64_t)1 << 32;
    *out = (VStatfs){
        .bytes = bytes, .bytes_free = bytes - MIN(bytes, fs->usage.bytes),
        .inodes = inodes, .inodes_free = inodes - MIN(inodes, fs->usage.inodes),
        .dev = p.at.mount ? p.at.mount->dev : MEMORY_DEV,
    };
    return 0;
}
