/* save: a file system as bytes, as what differs from an image, and back.
 *
 * Both sides begin with the same tree: the image's, with what was bound, as the base has it, put where it is bound. What was
 * saved is applied to that in a file system of its own, and replaces the tree when all of it went well. Nothing in the bytes is believed:
 * names and lengths are checked, symlinks are not followed, what is read-only or a mount is not touched, quotas hold.
 */
#include "internal.h"

#include "lib/base/map.h"
#include "lib/base/pack.h"

enum { RECORD_END = 0, RECORD_NODE = 1, RECORD_LINK = 2, RECORD_DELETE = 3, RECORD_BIND = 4 /* what follows needs it */ };
enum { DATA_END = 0, DATA_BYTES = 1, DATA_HOLE = 2 };
enum { DEPTH_LIMIT = 2048 };

static const VCred root = {0, 0, 022};

/* ---------- the tree that both sides begin with ---------- */

/* A file system over `tree` (whose reference it takes), with fs's clock, quotas and numbering; nothing is open in it. */
static void view_enter(const Vfs *fs, Vfs *view, Tree tree)
{
    memset(view, 0, sizeof *view);
    view->gen = fs->gen;
    view->tree = tree;
    view->next_ino = fs->next_ino;
    view->epoch = fs->epoch;
    view->clock = fs->clock;
    view->quota = fs->quota;
    view->context = fs->context;
    view->buckets = view->first_buckets;
    view->bucket_count = FIRST_BUCKETS;
    link_init(&view->files);
    link_init(&view->dirs);
}

static Tree tree_hold(Gen *g, Tree t)
{
    if (t.top)
        obj_ref(g, t.top);
    return t;
}

static void view_drop(Vfs *view)
{
    tree_unref(view->gen, &view->tree);
    tree_unref(view->gen, &view->base);
}

static int put_inode(Vfs *view, Inode *i)
{
    Inode **at = tree_reserve(view->gen, &view->tree, i->ino);
    if (!at)
        return -ENOMEM;
    if (*at)
        inode_unref(view->gen, *at);
    else
        view->tree.count++;
    *at = obj_ref(view->gen, i);
    return 0;
}

/* Everything from an inode of the base down. Recursion: bounded, with its cursors in scratch. */
static int put_below(const Vfs *fs, Vfs *view, Mem *scratch, uint64_t ino, unsigned depth)
{
    Inode *i = inode_get(&fs->base, ino);
    int r = i ? put_inode(view, i) : 0;
    if (r || !i || !S_ISDIR(i->mode) || inode_lazy(i))
        return r;
    MemMark mark = mem_mark(scratch);
    DirCursor *c = depth < DEPTH_LIMIT ? mem_alloc(scratch, sizeof *c) : NULL;
    if (!c)
        return depth < DEPTH_LIMIT ? -ENOMEM : -ELOOP;
    cursor_init(c, i->entries);
    for (const Dentry *d; r == 0 && (d = cursor_next(c));)
        r = put_below(fs, view, scratch, d->ino, depth + 1);
    mem_reset(scratch, mark);
    return r;
}

static int drop_entry(Vfs *view, uint64_t dir, Slice name)
{
    const Dentry *d = dir_find(inode_get(&view->tree, dir)->entries, name);
    const Inode *i = d ? inode_get(&view->tree, d->ino) : NULL;
    int r = i && S_ISDIR(i->mode) ? tree_empty(view, i->ino) : 0;
    if (r || !i)
        return r;
    return tree_drop(view, dir, dir_find(inode_get(&view->tree, dir)->entries, name));
}

static int put_entry(Vfs *view, uint64_t dir_ino, Slice name, const Inode *i)
{
    Inode *dir = inode_own(view, dir_ino);
    if (!dir || dir_reserve(view->gen, &dir->entries, name) != 0)
        return -ENOMEM;
    Dentry *d = dentry_new(view->gen, name, i->ino, i->mode);
    if (!d)
        return -ENOMEM;
    dir_insert(&dir->entries, d);
    dir->size++;
    dir->nlink += S_ISDIR(i->mode);
    view->generation++;
    return 0;
}

static int put_bind(const Vfs *fs, Vfs *view, Mem *scratch, const char *destination)
{
    Path p, there;
    Vfs base;
    view_enter(fs, &base, fs->base);
    int r = path_resolve(&p, &base, &root, NULL, destination, PATH_ENTRY);
    if (r || !p.found || p.last != LAST_NAME)
        return r == -ENOENT || r == -ENOTDIR ? 0 : r; /* not in the base: below what a script made */
    uint64_t ino = p.at.inode->ino;
    r = path_make_parents(view, destination);
    if (r == 0)
        r = path_resolve(&there, view, &root, NULL, destination, PATH_ENTRY);
    if (r || there.last != LAST_NAME)
        return r;
    if (there.found && there.at.inode == p.at.inode)
        return 0; /* inside another bind, or the image's own */
    uint64_t dir = there.dir.inode->ino;
    r = there.found ? drop_entry(view, dir, there.name) : 0;
    if (r == 0)
        r = put_below(fs, view, scratch, ino, 0);
    return r ? r : put_entry(view, dir, there.name, inode_get(&fs->base, ino));
}

static int begin_tree(Vfs *fs, VfsImage *image, const char *const *binds, size_t nbinds, Vfs *view)
{
    Mem scratch;
    Vfs like;
    vfs_image_tree(image, &like);
    view_enter(fs, view, tree_hold(fs->gen, like.tree));
    mem_init(&scratch, NULL, NULL, NULL);
    int r = 0;
    for (size_t n = 0; r == 0 && fs->base.top && n < nbinds; n++)
        r = put_bind(fs, view, &scratch, binds[n]);
    mem_drop(&scratch);
    return r;
}

/* ---------- saving ---------- */

typedef struct {
    Vfs *fs;
    const Vfs *begin;
    Buf *out;
    Map seen;  /* inode number to the path it was saved under */
    Map needs; /* binds that were named */
    const char *const *binds;
    size_t nbinds;
    Mem mem;
} Save;

static void save_data(Save *s, const Inode *i)
{
    Chunk *chunk;
    Slice part;
    for (uint64_t off = 0; off < i->size; off += part.len) {
        data_read(s->fs->gen, i, off, SIZE_MAX / 2, NULL, &chunk, &part);
        pack_u8(s->out, part.data ? DATA_BYTES : DATA_HOLE);
        pack_u64(s->out, part.len);
        if (part.data)
            buf_append(s->out, part);
        chunk_unref(s->fs->gen, chunk);
    }
    pack_u8(s->out, DATA_END);
}

static void save_node(Save *s, const char *path, const Inode *i)
{
    Buf *b = s->out;
    pack_u8(b, RECORD_NODE);
    pack_bytes(b, slice_str(path));
    pack_u32(b, i->mode);
    pack_u32(b, i->uid);
    pack_u32(b, i->gid);
    pack_u8(b, i->flags & INODE_COMMAND ? 1 : 0);
    for (int t = 0; t < 4; t++) {
        pack_u64(b, (uint64_t)i->time[t]);
        pack_u32(b, i->time_ns[t]);
    }
    if (S_ISREG(i->mode))
        save_data(s, i);
    else if (S_ISLNK(i->mode))
        pack_bytes(b, str_slice(i->target));
}

/* Where the tree to begin with has the same inode, unchanged and still under that name. */
static int linked_at(Save *s, const Inode *i, Buf *path)
{
    const Inode *then = inode_get(&s->begin->tree, i->ino);
    if (!then || !vfs_inodes_same(i, then))
        return -ENOENT;
    Path p;
    int r = inode_path(s->begin, then, path);
    if (r)
        return r;
    r = path_resolve(&p, s->fs, &root, NULL, path->data, PATH_ENTRY | PATH_MUST);
    return r ? r : p.at.inode == i ? 0 : -ENOENT;
}

static int save_present(Save *s, const VChange *x)
{
    Inode *i = inode_get(&s->fs->tree, x->stat.ino);
    if (!i || S_ISCHR(i->mode))
        return 0;
    if (S_ISREG(i->mode) && inode_lazy(i)) {
        i = inode_own(s->fs, x->stat.ino);
        int r = i ? lazy_load(s->fs, i) : -ENOMEM;
        if (r)
            return r;
    }
    Slice key = slice((const char *)&i->ino, sizeof i->ino);
    const MapEntry *e = i->nlink > 1 && !S_ISDIR(i->mode) ? map_get(&s->seen, key) : NULL;
    Buf other;
    buf_init(&other, &s->mem, BUF_MAX);
    const char *to = e ? e->value : NULL;
    if (!e && i->nlink > 1 && !S_ISDIR(i->mode) && linked_at(s, i, &other) == 0)
        to = other.data;
    if (to) {
        pack_u8(s->out, RECORD_LINK);
        pack_bytes(s->out, slice_str(x->path));
        pack_bytes(s->out, slice_str(to));
        return 0;
    }
    if (i->nlink > 1 && !S_ISDIR(i->mode)) {
        MapEntry *put = map_put(&s->seen, key);
        if (!put)
            return -ENOMEM;
        put->value = (void *)(uintptr_t)x->path;
    }
    save_node(s, x->path, i);
    return 0;
}

static bool lies_below(const char *path, const char *dir)
{
    size_t n = dir ? strlen(dir) : 0;
    return dir && strncmp(path, dir, n) == 0 && path[n] == '/';
}

/* Names the bind that a change lies in, once. */
static int save_bind(Save *s, const char *path)
{
    const char *best = NULL;
    for (size_t n = 0; n < s->nbinds; n++)
        if ((strcmp(path, s->binds[n]) == 0 || lies_below(path, s->binds[n])) && (!best || strlen(s->binds[n]) > strlen(best)))
            best = s->binds[n];
    if (!best || map_get(&s->needs, slice_str(best)))
        return 0;
    pack_u8(s->out, RECORD_BIND);
    pack_bytes(s->out, slice_str(best));
    return map_put(&s->needs, slice_str(best)) ? 0 : -ENOMEM;
}

static int save_changes(Save *s, const VChange *list, size_t count)
{
    const char *deleted = NULL;
    int r = 0;
    for (size_t n = 0; r == 0 && n < count; n++) {
        r = save_bind(s, list[n].path);
        if (r)
            break;
        if (list[n].kind != VCHANGE_DELETED) {
            r = save_present(s, &list[n]);
        } else if (!lies_below(list[n].path, deleted)) {
            deleted = list[n].path;
            pack_u8(s->out, RECORD_DELETE);
            pack_bytes(s->out, slice_str(deleted));
        }
    }
    pack_u8(s->out, RECORD_END);
    return r ? r : s->out->failed ? -ENOMEM : 0;
}

int vfs_save(Vfs *fs, VfsImage *image, const char *const *binds, size_t nbinds, Buf *out)
{
    Vfs begin, view;
    VChange *list;
    size_t count;
    Save s = {.fs = fs, .begin = &begin, .out = out, .binds = binds, .nbinds = nbinds};
    mem_init(&s.mem, NULL, NULL, NULL);
    map_init(&s.seen, &s.mem);
    map_init(&s.needs, &s.mem);
    /* What came or went below an overlay is read in now, in tree and base, so that the comparison below reads nothing. */
    int r = vfs_changes(fs, &s.mem, &list, &count);
    if (r == 0) {
        r = begin_tree(fs, image, binds, nbinds, &begin);
        view_enter(fs, &view, fs->tree);
        view.base = begin.tree;
        if (r == 0)
            r = vfs_changes_exact(&view, &s.mem, &list, &count);
        if (r == 0)
            r = save_changes(&s, list, count);
        view_drop(&begin);
    }
    mem_drop(&s.mem);
    return r;
}

/* ---------- loading ---------- */

typedef struct {
    Vfs *fs, *view;
    Unpack *in;
    const char *const *binds;
    size_t nbinds;
} Load;

/* The directory of a saved path and its last name, symlinks not followed; what is there (0: nothing). */
typedef struct {
    uint64_t dir, there;
    Slice name;
} Target;

/* What may not be written through: the embedder's mounts, and what is bound read-only. A plain bind inside such a one is its own. */
static int enter_inode(const Load *l, uint64_t ino, bool *closed)
{
    const Mount *m = l->fs->mount_count ? mount_covering(l->fs, ino) : NULL;
    if (m)
        *closed = m->ops || m->readonly;
    return m != NULL;
}

static int find_target(const Load *l, Slice path, Target *t)
{
    bool closed = false;
    uint64_t at = ROOT_INO;
    if (path.len < 2 || path.len >= PATH_SIZE || path.data[0] != '/' || memchr(path.data, 0, path.len))
        return -EINVAL;
    for (Slice rest = slice_from(path, 1);;) {
        size_t len = slice_find(rest, '/');
        Slice name = slice(rest.data, len);
        if (!len || len > NAME_LIMIT || slice_is(name, ".") || slice_is(name, ".."))
            return -EINVAL;
        enter_inode(l, at, &closed);
        int r = lazy_fill(l->view, at);
        const Inode *dir = inode_get(&l->view->tree, at);
        if (r || !dir || !S_ISDIR(dir->mode))
            return r ? r : -ENOTDIR;
        const Dentry *d = dir_find(dir->entries, name);
        *t = (Target){at, d ? d->ino : 0, name};
        if (len == rest.len)
            return closed ? -EROFS : 0;
        if (!d)
            return -ENOENT;
        at = d->ino;
        rest = slice_from(rest, len + 1);
    }
}

/* Whether something is mounted at or below an inode. */
static bool holds_mount(const Load *l, uint64_t ino)
{
    for (uint32_t n = 0; n < l->fs->mount_count; n++) {
        const Inode *i = inode_get(&l->view->tree, l->fs->mounts[n]->ino);
        for (unsigned depth = 0; i && depth < DEPTH_LIMIT; depth++) {
            if (i->ino == ino)
                return true;
            i = i->ino == ROOT_INO ? NULL : inode_get(&l->view->tree, i->parent);
        }
    }
    return false;
}

static int clear_target(const Load *l, Target *t)
{
    if (!t->there)
        return 0;
    if (holds_mount(l, t->there))
        return -EBUSY;
    t->there = 0;
    return drop_entry(l->view, t->dir, t->name);
}

typedef struct {
    uint32_t mode, uid, gid;
    bool command;
    int64_t time[4];
    uint32_t time_ns[4];
} Meta;

static int load_meta(Unpack *u, Meta *m)
{
    m->mode = unpack_u32(u);
    m->uid = unpack_u32(u);
    m->gid = unpack_u32(u);
    m->command = unpack_u8(u) & 1;
    bool fine = (m->mode & ~(uint32_t)(S_IFMT | 07777)) == 0;
    for (int t = 0; t < 4; t++) {
        m->time[t] = (int64_t)unpack_u64(u);
        m->time_ns[t] = unpack_u32(u);
        fine = fine && m->time_ns[t] < 1000000000;
    }
    uint32_t type = m->mode & S_IFMT;
    fine = fine && (type == S_IFREG || type == S_IFDIR || type == S_IFLNK || type == S_IFIFO);
    return u->bad || !fine ? -EINVAL : 0;
}

static void put_meta(Inode *i, const Meta *m)
{
    i->mode = m->mode;
    i->uid = m->uid;
    i->gid = m->gid;
    memcpy(i->time, m->time, sizeof i->time);
    memcpy(i->time_ns, m->time_ns, sizeof i->time_ns);
}

static int load_data(Vfs *view, Unpack *u, Inode *i)
{
    for (unsigned kind; (kind = unpack_u8(u)) != DATA_END;) {
        uint64_t len = unpack_u64(u), end, before = i->size;
        Slice bytes = kind == DATA_BYTES ? unpack_raw(u, len) : (Slice){NULL, 0};
        if (u->bad || kind > DATA_HOLE || !len || __builtin_add_overflow(i->size, len, &end))
            return -EINVAL;
        int r = quota_room(view, i, end);
        if (r == 0)
            r = kind == DATA_BYTES ? data_write(view->gen, i, i->size, bytes, NULL) : data_resize(view->gen, i, end);
        if (r)
            return r;
        quota_count(view, i, before);
    }
    return u->bad ? -EINVAL : 0;
}

static int load_content(const Load *l, Inode *i, const Meta *m)
{
    if (S_ISLNK(m->mode)) {
        Slice target = unpack_bytes(l->in);
        if (l->in->bad || !target.len || target.len >= PATH_SIZE || memchr(target.data, 0, target.len))
            return -EINVAL;
        i->target = str_new(l->view->gen, target);
        i->size = target.len;
        return i->target ? 0 : -ENOMEM;
    }
    int r = S_ISREG(m->mode) ? load_data(l->view, l->in, i) : 0;
    if (r == 0 && m->command && (!S_ISREG(m->mode) || !i->size || i->size > NAME_LIMIT || i->extents))
        r = -EINVAL;
    if (r == 0 && m->command)
        i->flags |= INODE_COMMAND;
    return r;
}

/* A fresh inode under the target's name. */
static int add_node(const Load *l, const Target *t, const Meta *m, Inode **out)
{
    Vfs *view = l->view;
    if (view->quota.inodes && view->usage.inodes >= view->quota.inodes)
        return -ENOSPC;
    Inode *i = inode_new(view, m->mode & S_IFMT, 0, 0), **slot = i ? tree_reserve(view->gen, &view->tree, i->ino) : NULL;
    if (!slot) {
        inode_unref(view->gen, i);
        return -ENOMEM;
    }
    i->parent = t->dir;
    i->nlink = S_ISDIR(i->mode) ? 2 : 1;
    *slot = i;
    view->tree.count++;
    view->usage.inodes++;
    *out = i;
    return put_entry(view, t->dir, t->name, i);
}

static int load_node(const Load *l)
{
    Target t;
    Meta m;
    int r = find_target(l, unpack_bytes(l->in), &t);
    if (r == 0)
        r = load_meta(l->in, &m);
    if (r)
        return l->in->bad ? -EINVAL : r;
    const Inode *there = t.there ? inode_get(&l->view->tree, t.there) : NULL;
    if (there && S_ISDIR(there->mode) && S_ISDIR(m.mode)) {
        bool closed = false;
        if (enter_inode(l, t.there, &closed) && closed)
            return -EROFS;
        Inode *dir = inode_own(l->view, t.there);
        if (dir)
            put_meta(dir, &m);
        return dir ? 0 : -ENOMEM;
    }
    Inode *i;
    r = clear_target(l, &t);
    if (r == 0)
        r = add_node(l, &t, &m, &i);
    if (r == 0)
        r = load_content(l, i, &m);
    if (r == 0)
        put_meta(i, &m);
    return r;
}

static int load_link(const Load *l)
{
    Target t, to;
    Slice path = unpack_bytes(l->in), from = unpack_bytes(l->in);
    int r = l->in->bad ? -EINVAL : find_target(l, from, &to);
    if (r == 0)
        r = find_target(l, path, &t);
    const Inode *there = r || !to.there ? NULL : inode_get(&l->view->tree, to.there);
    if (r || !there || S_ISDIR(there->mode) || S_ISCHR(there->mode) || there->nlink > UINT32_MAX / 2 || t.there == to.there)
        return r ? r : t.there == to.there ? 0 : -EINVAL;
    if (mount_covering(l->fs, to.there))
        return -EBUSY;
    r = clear_target(l, &t);
    Inode *i = r ? NULL : inode_own(l->view, to.there);
    if (!i)
        return r ? r : -ENOMEM;
    r = put_entry(l->view, t.dir, t.name, i);
    if (r == 0) {
        i->nlink++;
        i->flags |= INODE_LINKED;
    }
    return r;
}

static int load_bind(const Load *l)
{
    Slice path = unpack_bytes(l->in);
    for (size_t n = 0; !l->in->bad && n < l->nbinds; n++)
        if (slice_is(path, l->binds[n]))
            return 0;
    return l->in->bad ? -EINVAL : -ENOENT;
}

static int load_records(const Load *l)
{
    Target t;
    for (;;) {
        int r;
        switch (unpack_u8(l->in)) {
        case RECORD_END: return l->in->bad ? -EINVAL : 0;
        case RECORD_NODE: r = load_node(l); break;
        case RECORD_LINK: r = load_link(l); break;
        case RECORD_BIND: r = load_bind(l); break;
        case RECORD_DELETE:
            r = find_target(l, unpack_bytes(l->in), &t);
            if (r == 0)
                r = clear_target(l, &t);
            break;
        default: r = -EINVAL;
        }
        if (r)
            return r;
    }
}

struct VfsLoaded {
    Vfs view;
};

int vfs_load(Vfs *fs, VfsImage *image, const char *const *binds, size_t nbinds, Unpack *in, VfsLoaded **out)
{
    VfsLoaded *made = fs_alloc(fs, sizeof *made);
    if (!made)
        return -ENOMEM;
    int r = begin_tree(fs, image, binds, nbinds, &made->view);
    made->view.base = tree_hold(fs->gen, fs->base);
    Load l = {fs, &made->view, in, binds, nbinds};
    if (r == 0)
        r = load_records(&l);
    if (r)
        vfs_load_drop(fs, made);
    else
        *out = made;
    return r;
}

void vfs_load_drop(Vfs *fs, VfsLoaded *made)
{
    view_drop(&made->view);
    fs_free(fs, made, sizeof *made);
}

void vfs_load_commit(Vfs *fs, VfsLoaded *made)
{
    vfs_replace(fs, &made->view);
    fs_free(fs, made, sizeof *made);
}
