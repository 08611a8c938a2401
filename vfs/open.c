/* open: opening, reading, writing; directory lists; stubs that name commands. */
#include "internal.h"
#include "lib/base/guard.h"

/* ---------- opening ---------- */

static unsigned open_rwx(int flags) { return (flags & V_READ ? 4u : 0) | (flags & (V_WRITE | V_TRUNC) ? 2u : 0); }

/* What the kind and mode of an existing file say to being opened so. */
static int may_open(const Path *p, int flags)
{
    uint32_t mode = p->at.mode;
    if ((flags & V_CREATE) && (flags & V_EXCL))
        return -EEXIST;
    if (S_ISLNK(mode))
        return flags & V_DIRECTORY ? -ENOTDIR : -ELOOP;
    if (S_ISDIR(mode) && (flags & (V_CREATE | V_WRITE | V_TRUNC)))
        return -EISDIR;
    if (!S_ISDIR(mode) && (flags & V_DIRECTORY))
        return -ENOTDIR;
    bool special = S_ISCHR(mode) || S_ISFIFO(mode);
    if (GUARD(FS_READONLY, (open_rwx(flags) & 2) && place_readonly(&p->at) && !special))
        return -EROFS;
    return GUARD(FS_PERMISSION, !place_may(p->cred, &p->at, open_rwx(flags))) ? -EACCES : 0;
}

static int may_create(const Path *p)
{
    if (place_gone(p->fs, &p->dir))
        return -ENOENT;
    return path_may_change(p);
}

static int open_callback(Path *p, int flags, uint32_t mode, VFile *f)
{
    Mount *m = p->found ? p->at.mount : p->dir.mount;
    if (!m->ops->open)
        return -ENOSYS;
    int r = m->ops->open(m->user, p->rel, flags, mode & 0777 & ~p->cred->umask, &f->handle);
    if (r)
        return r;
    f->mount = m;
    m->holders++;
    return 0;
}

static int open_memory(Path *p, int flags, VFile *f)
{
    Vfs *fs = p->fs;
    uint64_t ino = p->at.inode->ino;
    if (!place_gone(fs, &p->at))
        f->node = node_hold(fs, ino);
    else
        return -ENOENT;
    if (!f->node)
        return -ENOMEM;
    f->mount = p->at.mount;
    if (f->mount)
        f->mount->holders++;
    if (!S_ISREG(p->at.mode))
        return 0;
    if (flags & V_TRUNC)
        return vfs_file_truncate(fs, f, 0);
    if (!inode_lazy(p->at.inode) || !(flags & (V_READ | V_WRITE)))
        return 0;
    if (!(flags & V_WRITE))
        return lazy_open(fs, ino);
    Inode *i = inode_own(fs, ino);
    return i ? lazy_load(fs, i) : -ENOMEM;
}

static int open_found(Path *p, int flags, uint32_t mode, VFile *f)
{
    int r = may_open(p, flags);
    if (r)
        return r;
    VOp op = open_rwx(flags) & 2 ? VOP_WRITE : S_ISDIR(p->at.mode) ? VOP_LIST : VOP_READ;
    if ((flags & (V_READ | V_WRITE | V_TRUNC | V_DIRECTORY)) && (r = guard_ask(p, op))) /* to run a program is not to read it */
        return r;
    /* O_TRUNC without write access to the descriptor still cuts the file. */
    f->flags = flags | (flags & V_TRUNC ? V_WRITE : 0);
    r = place_callback(&p->at) ? open_callback(p, flags, mode, f) : open_memory(p, flags, f);
    f->flags = flags;
    if (r == 0 && op == VOP_WRITE)
        guard_tell(p, VOP_WRITE);
    return r;
}

static int open_new(Path *p, int flags, uint32_t mode, VFile *f)
{
    int r = may_create(p);
    if (r == 0)
        r = guard_ask(p, VOP_CREATE);
    if (r)
        return r;
    if (place_callback(&p->dir)) {
        r = open_callback(p, flags, mode, f);
        if (r == 0)
            guard_tell(p, VOP_CREATE);
        return r;
    }
    /* The node first: once the entry is there, nothing may fail. */
    Inode *i = entry_inode(p, S_IFREG | (mode & 07777));
    f->node = i ? node_hold(p->fs, i->ino) : NULL;
    if (!f->node) {
        inode_unref(p->fs->gen, i);
        return -ENOMEM;
    }
    r = entry_add(p, i);
    if (r == 0 && (f->mount = p->dir.mount))
        f->mount->holders++;
    return r;
}

int vfs_open(Vfs *fs, const VCred *c, VDir *at, const char *path, int flags, uint32_t mode, VFile **out)
{
    Path p;
    bool exclusive = (flags & V_CREATE) && (flags & V_EXCL);
    int how = (flags & V_OPEN_NOFOLLOW) || exclusive ? 0 : PATH_FOLLOW;
    int r = path_resolve(&p, fs, c, at, path, how | (flags & V_CREATE ? PATH_FILE : PATH_MUST));
    if (r)
        return r;
    VFile *f = vfile_new(fs, flags);
    if (!f)
        return -ENOMEM;
    f->root = c->uid == 0;
    r = p.found ? open_found(&p, flags, mode, f) : open_new(&p, flags, mode, f);
    if (r)
        vfs_file_unref(fs, f);
    else
        *out = f;
    return r;
}

/* ---------- reading and writing ---------- */

int vfs_read(Vfs *fs, VFile *f, uint64_t off, size_t max, char *scratch, Chunk **chunk, Slice *out)
{
    *chunk = NULL;
    *out = (Slice){scratch, 0};
    if (!(f->flags & V_READ))
        return -EBADF;
    if (f->handle) {
        const Mount *m = f->mount;
        if (!scratch)
            return -ENOBUFS;
        ssize_t n = m->ops->read ? m->ops->read(m->user, f->handle, off, scratch, max) : -ENOSYS;
        if (n < 0)
            return (int)n;
        out->len = MIN((size_t)n, max);
        return 0;
    }
    const Inode *i = node_inode(fs, f->node);
    if (!S_ISREG(i->mode))
        return S_ISDIR(i->mode) ? -EISDIR : -EINVAL;
    if (inode_lazy(i)) {
        ssize_t n = scratch ? lazy_read(i, off, scratch, max) : -ENOBUFS;
        out->len = n > 0 ? (size_t)n : 0;
        return n < 0 ? (int)n : 0;
    }
    data_read(fs->gen, i, off, max, scratch, chunk, out);
    return out->len && !out->data ? -ENOBUFS : 0;
}

/* How much of a write of `len` bytes at `off` the quotas let through. */
static int quota_cut(const Vfs *fs, const Inode *i, uint64_t off, size_t *len)
{
    uint64_t end;
    if (__builtin_add_overflow(off, *len, &end))
        return -EFBIG;
    int r = end > i->size ? quota_room(fs, i, end) : quota_room(fs, i, i->size);
    if (!r)
        return 0;
    uint64_t others = fs->usage.bytes - (i->dirty == fs->epoch ? i->size : 0), room = UINT64_MAX;
    if (fs->quota.bytes)
        room = fs->quota.bytes - MIN(fs->quota.bytes, others);
    if (fs->quota.file_bytes)
        room = MIN(room, fs->quota.file_bytes);
    if (room <= off)
        return r;
    *len = (size_t)MIN((uint64_t)*len, room - off);
    return 0;
}

ssize_t vfs_write(Vfs *fs, VFile *f, uint64_t off, Slice data, Chunk *chunk, uint64_t *at)
{
    if (!(f->flags & V_WRITE))
        return -EBADF;
    if (f->handle) {
        const Mount *m = f->mount;
        VStat st;
        if ((f->flags & V_APPEND) && m->ops->fstat) {
            int r = m->ops->fstat(m->user, f->handle, &st);
            if (r)
                return r;
            off = st.size;
        }
        ssize_t n = m->ops->write ? m->ops->write(m->user, f->handle, off, data) : -ENOSYS;
        *at = off + (n > 0 ? (uint64_t)n : 0);
        return n;
    }
    if (!S_ISREG(node_inode(fs, f->node)->mode))
        return -EINVAL;
    Inode *i = node_own(fs, f->node);
    if (!i)
        return -ENOMEM;
    int r = inode_lazy(i) ? lazy_load(fs, i) : 0;
    if (r)
        return r;
    if (f->flags & V_APPEND)
        off = i->size;
    *at = off;
    if (!data.len)
        return 0;
    uint64_t before = i->size;
    r = quota_cut(fs, i, off, &data.len);
    if (r == 0)
        r = data_write(fs->gen, i, off, data, chunk);
    if (r)
        return r;
    quota_count(fs, i, before);
    if (i->flags & INODE_COMMAND)
        i->flags &= ~(uint32_t)INODE_COMMAND;
    if ((i->mode & (S_ISUID | S_ISGID)) && !f->root)
        i->mode &= ~(uint32_t)(S_ISUID | (i->mode & S_IXGRP ? S_ISGID : 0));
    inode_touch(fs, i, true);
    *at = off + data.len;
    return (ssize_t)data.len;
}

int vfs_clone(Vfs *fs, VFile *from, VFile *to)
{
    if (from->handle || to->handle)
        return -EXDEV;
    if (!(from->flags & V_READ) || !(to->flags & V_WRITE))
        return -EBADF;
    const Inode *a = node_inode(fs, from->node);
    if (!S_ISREG(a->mode) || !S_ISREG(node_inode(fs, to->node)->mode))
        return -EINVAL;
    if (a == node_inode(fs, to->node))
        return 0;
    if (inode_lazy(a))
        return -EXDEV; /* a copy must not change with what it was made of */
    Inode *b = node_own(fs, to->node);
    if (!b)
        return -ENOMEM;
    a = node_inode(fs, from->node);
    int r = quota_room(fs, b, a->size);
    if (r)
        return r;
    uint64_t before = b->size;
    data_unref(fs->gen, b);
    b->chunk = a->chunk;
    b->start = a->start;
    b->extents = a->extents;
    b->size = a->size;
    data_ref(fs->gen, b);
    b->flags = (b->flags & ~(uint32_t)INODE_COMMAND) | (a->flags & INODE_COMMAND);
    quota_count(fs, b, before);
    inode_touch(fs, b, true);
    return 0;
}

/* ---------- lists ---------- */

static int list_memory(const Inode *dir, Mem *mem, VDirent **out, size_t *count)
{
    size_t n = 0, bytes;
    if (!size_mul((size_t)dir->size, sizeof **out, &bytes))
        return -ENOMEM;
    VDirent *list = mem_alloc(mem, bytes);
    if (!list)
        return -ENOMEM;
    DirCursor c;
    cursor_init(&c, dir->entries);
    for (const Dentry *d; n < dir->size && (d = cursor_next(&c)); n++) {
        list[n] = (VDirent){{mem_copy(mem, dentry_name(d)), d->len}, d->ino, (uint32_t)d->type << 12};
        if (!list[n].name.data)
            return -ENOMEM;
    }
    *out = list;
    *count = n;
    return 0;
}

int vfs_list(Vfs *fs, const VCred *c, VDir *at, const char *path, Mem *mem, VDirent **out, size_t *count)
{
    Path p;
    int r = path_resolve(&p, fs, c, at, path, PATH_FOLLOW | PATH_MUST);
    if (r)
        return r;
    if (!S_ISDIR(p.at.mode))
        return -ENOTDIR;
    if (!place_may(c, &p.at, 4))
        return -EACCES;
    if ((r = guard_ask(&p, VOP_LIST)) || (r = place_fill(fs, &p.at)))
        return r;
    Quiet q = mem_quiet(mem);
    if (place_callback(&p.at)) {
        const Mount *m = p.at.mount;
        r = m->ops->list ? m->ops->list(m->user, p.rel, mem, out, count) : -ENOSYS;
    } else {
        r = list_memory(p.at.inode, mem, out, count);
    }
    return mem_loud(q, r);
}

/* ---------- commands ---------- */

Slice vfs_command(Vfs *fs, VFile *f)
{
    const Inode *i = f->node ? node_inode(fs, f->node) : NULL;
    /* A stub's data is one write of at most NAME_LIMIT bytes: one extent, inline. */
    if (!i || !(i->flags & INODE_COMMAND) || inode_lazy(i) || i->extents || !i->chunk)
        return (Slice){NULL, 0};
    return slice(i->chunk->data + i->start, (size_t)i->size);
}

int vfs_make_command(Vfs *fs, const char *path, const char *command)
{
    static const VCred root = {0, 0, 022};
    VFile *f;
    uint64_t end;
    size_t len = strnlen(command, NAME_LIMIT + 1);
    if (!len || len > NAME_LIMIT)
        return -EINVAL;
    int r = vfs_open(fs, &root, NULL, path, V_WRITE | V_CREATE | V_EXCL, 0777, &f);
    if (r)
        return r;
    ssize_t n = vfs_write(fs, f, 0, slice(command, len), NULL, &end);
    if (n == (ssize_t)len)
        node_inode(fs, f->node)->flags |= INODE_COMMAND;
    vfs_file_unref(fs, f);
    return n < 0 ? (int)n : n == (ssize_t)len ? 0 : -ENOSPC;
}
