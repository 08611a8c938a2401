/* handle: what lives beside the tree while inodes are open: nodes, open files, held directories. */
#include <stdlib.h>

#include "internal.h"

void *fs_alloc(Vfs *fs, size_t size)
{
    Budget *b = gen_memory(fs->gen);
    if (b && !budget_take(b, size))
        return NULL;
    void *p = malloc(size);
    if (p)
        return memset(p, 0, size);
    if (b)
        budget_give(b, size);
    return NULL;
}

void fs_free(Vfs *fs, void *p, size_t size)
{
    Budget *b = gen_memory(fs->gen);
    if (p && b)
        budget_give(b, size);
    free(p);
}

/* ---------- nodes ---------- */

static Node **bucket_of(const Vfs *fs, uint64_t ino)
{
    /* Multiplied: numbers that were given out in a row must not meet in one bucket of a grown table. */
    return &fs->buckets[(ino * 0x9E3779B97F4A7C15u >> 32) & (fs->bucket_count - 1)];
}

Node *node_find(const Vfs *fs, uint64_t ino)
{
    Node *n = *bucket_of(fs, ino);
    while (n && (n->ino != ino || n->detached))
        n = n->next;
    return n;
}

/* Four times the buckets; without memory the chains are longer, no more. */
static void buckets_grow(Vfs *fs)
{
    uint32_t count = fs->bucket_count, more = count * 4;
    Node **old = fs->buckets, **grown = fs_alloc(fs, more * sizeof *grown);
    if (!grown)
        return;
    fs->buckets = grown;
    fs->bucket_count = more;
    for (uint32_t b = 0; b < count; b++)
        for (Node *n = old[b], *next; n; n = next) {
            next = n->next;
            Node **to = bucket_of(fs, n->ino);
            n->next = *to;
            *to = n;
        }
    if (old != fs->first_buckets)
        fs_free(fs, old, count * sizeof *old);
}

static Node *node_add(Vfs *fs, uint64_t ino, Inode *detached)
{
    Node *n = fs_alloc(fs, sizeof *n);
    if (!n)
        return NULL;
    if (fs->node_count++ >= fs->bucket_count * 4)
        buckets_grow(fs);
    Node **bucket = bucket_of(fs, ino);
    *n = (Node){.next = *bucket, .ino = ino, .holders = 1, .detached = detached};
    return *bucket = n;
}

Node *node_hold(Vfs *fs, uint64_t ino)
{
    Node *n = node_find(fs, ino);
    if (!n)
        return node_add(fs, ino, NULL);
    n->holders++;
    return n;
}

/* An inode without links comes (1) or goes (-1), and with it what it counts. */
static void inode_count(Vfs *fs, const Inode *i, int sign)
{
    if (S_ISREG(i->mode) && i->dirty == fs->epoch)
        fs->usage.bytes = sign > 0 ? fs->usage.bytes + i->size : fs->usage.bytes - i->size;
    if (i->born == fs->epoch)
        fs->usage.inodes = sign > 0 ? fs->usage.inodes + 1 : fs->usage.inodes - 1;
}

void nodes_count(Vfs *to, const Vfs *of, int sign)
{
    for (uint32_t b = 0; b < of->bucket_count; b++)
        for (const Node *n = of->buckets[b]; n; n = n->next)
            if (n->detached)
                inode_count(to, n->detached, sign);
}

void nodes_remember(Vfs *fs)
{
    for (uint32_t b = 0; b < fs->bucket_count; b++)
        for (Node *n = fs->buckets[b]; n; n = n->next)
            n->was_detached = n->detached != NULL;
}

void nodes_take_back(Vfs *fs)
{
    for (uint32_t b = 0; b < fs->bucket_count; b++)
        for (Node *n = fs->buckets[b]; n; n = n->next)
            if (n->detached && !n->was_detached) {
                inode_unref(fs->gen, n->detached);
                n->detached = NULL;
            }
}

void node_release(Vfs *fs, Node *n)
{
    if (!n || --n->holders)
        return;
    Node **at = bucket_of(fs, n->ino);
    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
    fs->node_count--;
    if (n->detached) {
        inode_count(fs, n->detached, -1);
        inode_unref(fs->gen, n->detached);
    }
    fs_free(fs, n, sizeof *n);
}

Inode *node_inode(const Vfs *fs, const Node *n) { return n->detached ? n->detached : inode_get(&fs->tree, n->ino); }

Inode *node_own(Vfs *fs, Node *n) { return n->detached ? inode_own_at(fs->gen, &n->detached) : inode_own(fs, n->ino); }

void inode_drop(Vfs *fs, Inode *i)
{
    Node *n = node_find(fs, i->ino);
    tree_take(fs->gen, &fs->tree, i->ino);
    if (n) {
        n->detached = i;
        return;
    }
    inode_count(fs, i, -1);
    inode_unref(fs->gen, i);
}

/* ---------- open files ---------- */

VFile *vfile_new(Vfs *fs, int flags)
{
    VFile *f = fs_alloc(fs, sizeof *f);
    if (!f)
        return NULL;
    f->refs = 1;
    f->flags = flags;
    link_add(&fs->files, &f->link);
    return f;
}

VFile *vfs_file_ref(VFile *f)
{
    f->refs++;
    return f;
}

void vfs_file_unref(Vfs *fs, VFile *f)
{
    if (!f || --f->refs)
        return;
    link_remove(&f->link);
    node_release(fs, f->node);
    if (f->mount) {
        if (f->handle && f->mount->ops->close)
            f->mount->ops->close(f->mount->user, f->handle);
        f->mount->holders--;
    }
    fs_free(fs, f, sizeof *f);
}

/* The node's counterpart in a file system just forked, where what has no link is only what such calls bring along. */
static Node *node_fork(Vfs *to, const Node *n)
{
    if (!n->detached)
        return node_hold(to, n->ino);
    for (Node *there = *bucket_of(to, n->ino); there; there = there->next)
        if (there->detached == n->detached) {
            there->holders++;
            return there;
        }
    Node *copy = node_add(to, n->ino, n->detached);
    if (copy)
        inode_count(to, n->detached, 1);
    return copy;
}

/* The same mount in the forked file system, which copied the table in order. */
static Mount *mount_counterpart(const Vfs *to, const Mount *m)
{
    for (uint32_t n = 0; m && n < to->mount_count; n++)
        if (to->mounts[n]->dev == m->dev)
            return to->mounts[n];
    return NULL;
}

/* Where the mount cannot give another handle, the copy can neither be read nor written. */
static void handle_fork(const Vfs *to, const VFile *f, VFile *copy)
{
    Mount *m = f->handle ? mount_counterpart(to, f->mount) : NULL;
    copy->flags = 0;
    if (!m || !m->ops->dup || m->ops->dup(m->user, f->handle, &copy->handle) != 0)
        return;
    copy->flags = f->flags;
    copy->root = f->root;
    copy->mount = m;
    m->holders++;
}

VFile *vfs_file_fork(Vfs *to, const VFile *f)
{
    VFile *copy = vfile_new(to, f->flags);
    if (!copy)
        return NULL;
    if (!f->node) {
        handle_fork(to, f, copy);
        return copy;
    }
    copy->root = f->root;
    copy->node = node_fork(to, f->node);
    if (!copy->node) {
        vfs_file_unref(to, copy);
        return NULL;
    }
    return copy;
}

/* ---------- held directories ---------- */

static size_t dir_bytes(const VDir *d) { return sizeof *d + (d->rel ? strlen(d->rel) + 1 : 0); }

static VDir *vdir_new(Vfs *fs, Mount *m, const char *rel, size_t rel_len)
{
    VDir *d = fs_alloc(fs, sizeof *d + (rel ? rel_len + 1 : 0));
    if (!d)
        return NULL;
    d->refs = 1;
    d->mount = m;
    if (m)
        m->holders++;
    if (rel) {
        char *copy = (char *)(d + 1);
        memcpy(copy, rel, rel_len);
        copy[rel_len] = 0;
        d->rel = copy;
    }
    link_add(&fs->dirs, &d->link);
    return d;
}

static int dir_hold(Vfs *fs, const Path *p, VDir **out)
{
    bool callback = place_callback(&p->at);
    VDir *d = vdir_new(fs, p->at.mount, callback ? p->rel : NULL, p->rel_len);
    if (!d)
        return -ENOMEM;
    if (!callback) {
        d->ino = p->at.inode->ino;
        /* A held directory that was removed keeps its node: opening "." in it holds the same one. */
        d->node = node_hold(fs, d->ino);
        if (!d->node) {
            vfs_dir_unref(fs, d);
            return -ENOMEM;
        }
    }
    *out = d;
    return 0;
}

int vfs_dir_open(Vfs *fs, const VCred *c, VDir *at, const char *path, VDir **out)
{
    Path p;
    int r = path_resolve(&p, fs, c, at, path, PATH_FOLLOW | PATH_MUST);
    if (r)
        return r;
    if (!S_ISDIR(p.at.mode))
        return -ENOTDIR;
    if (!place_may(c, &p.at, 1))
        return -EACCES;
    if (place_gone(fs, &p.at)) {
        *out = vfs_dir_ref(at); /* only the removed directory itself can be reached from within it */
        return 0;
    }
    return dir_hold(fs, &p, out);
}

VDir *vfs_dir_ref(VDir *d)
{
    d->refs++;
    return d;
}

void vfs_dir_unref(Vfs *fs, VDir *d)
{
    if (!d || --d->refs)
        return;
    link_remove(&d->link);
    node_release(fs, d->node);
    if (d->mount)
        d->mount->holders--;
    fs_free(fs, d, dir_bytes(d));
}

VDir *vfs_dir_fork(Vfs *to, const VDir *d)
{
    VDir *copy = vdir_new(to, mount_counterpart(to, d->mount), d->rel, d->rel ? strlen(d->rel) : 0);
    if (!copy)
        return NULL;
    copy->ino = d->ino;
    if (d->node) {
        copy->node = node_fork(to, d->node);
        if (!copy->node) {
            vfs_dir_unref(to, copy);
            return NULL;
        }
    }
    return copy;
}

int vfs_dir_path(Vfs *fs, VDir *d, Mem *mem, char **out)
{
    Quiet q = mem_quiet(mem);
    Buf b;
    buf_init(&b, mem, BUF_MAX);
    int r = -ENOENT;
    if (d->rel) {
        Place p = {.mount = d->mount};
        r = place_path(fs, &p, d->rel, strlen(d->rel), &b);
    } else if (!d->node || !d->node->detached) {
        const Inode *i = inode_get(&fs->tree, d->ino);
        if (i)
            r = inode_path(fs, i, &b);
    }
    *out = b.data;
    return mem_loud(q, r);
}

/* What the kernel did not close before the file system goes. */
void handles_free(Vfs *fs)
{
    while (fs->files.next != &fs->files) {
        VFile *f = (VFile *)(void *)fs->files.next;
        f->refs = 1;
        vfs_file_unref(fs, f);
    }
    while (fs->dirs.next != &fs->dirs) {
        VDir *d = (VDir *)(void *)fs->dirs.next;
        d->refs = 1;
        vfs_dir_unref(fs, d);
    }
    if (fs->buckets != fs->first_buckets)
        fs_free(fs, fs->buckets, fs->bucket_count * sizeof(Node *));
}
