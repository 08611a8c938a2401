/* image: file systems and images, and how one becomes another: freeze, fork, base. */
#include <stdatomic.h>
#include <stdlib.h>

#include "internal.h"

struct VfsImage {
    _Atomic uint32_t holders;
    Gen *gen;
    Tree tree;
    uint64_t next_ino, generation;
    uint32_t epoch;
};

static Vfs *fs_new(Gen *gen)
{
    Budget *b = gen_memory(gen);
    if (b && !budget_take(b, sizeof(Vfs)))
        return NULL;
    Vfs *fs = malloc(sizeof *fs);
    if (!fs) {
        if (b)
            budget_give(b, sizeof *fs);
        return NULL;
    }
    memset(fs, 0, sizeof *fs);
    fs->gen = gen;
    fs->next_dev = MEMORY_DEV + 1;
    fs->buckets = fs->first_buckets;
    fs->bucket_count = FIRST_BUCKETS;
    link_init(&fs->files);
    link_init(&fs->dirs);
    return fs;
}

Vfs *vfs_new(Gen *gen)
{
    Vfs *fs = fs_new(gen);
    if (!fs)
        return NULL;
    fs->next_ino = ROOT_INO;
    fs->epoch = 1;
    Inode *root = inode_new(fs, S_IFDIR | 0755, 0, 0);
    Inode **slot = root ? tree_reserve(gen, &fs->tree, ROOT_INO) : NULL;
    if (!slot) {
        inode_unref(gen, root);
        vfs_free(fs);
        return NULL;
    }
    root->parent = ROOT_INO;
    root->nlink = 2;
    *slot = root;
    fs->tree.count = 1;
    fs->usage.inodes = 1;
    return fs;
}

Vfs *vfs_from_image(VfsImage *image, Gen *gen)
{
    Vfs *fs = fs_new(gen);
    if (!fs)
        return NULL;
    fs->tree = fs->base = image->tree;
    fs->next_ino = image->next_ino;
    fs->generation = image->generation;
    fs->epoch = image->epoch + 1;
    return fs;
}

void vfs_free(Vfs *fs)
{
    if (!fs)
        return;
    handles_free(fs);
    mounts_free(fs);
    fs_free(fs, fs, sizeof *fs);
}

void vfs_set_clock(Vfs *fs, VClock clock) { fs->clock = clock; }
void vfs_set_quota(Vfs *fs, VQuota quota) { fs->quota = quota; }
void vfs_set_context(Vfs *fs, void *context) { fs->context = context; }
VUsage vfs_usage(const Vfs *fs) { return fs->usage; }
Gen *vfs_gen(const Vfs *fs) { return fs->gen; }
uint64_t vfs_generation(const Vfs *fs) { return fs->generation; }

/* ---------- images ---------- */

VfsImage *vfs_freeze(Vfs *fs)
{
    VfsImage *image = malloc(sizeof *image);
    if (!image)
        return NULL;
    atomic_init(&image->holders, 1);
    image->gen = gen_ref(gen_parent(fs->gen)); /* what fs makes from here on is not the image's */
    image->tree = fs->tree;
    image->next_ino = fs->next_ino;
    image->generation = fs->generation;
    image->epoch = fs->epoch;
    return image;
}

VfsImage *vfs_image_ref(VfsImage *image)
{
    atomic_fetch_add_explicit(&image->holders, 1, memory_order_relaxed);
    return image;
}

void vfs_image_unref(VfsImage *image)
{
    if (!image || atomic_fetch_sub_explicit(&image->holders, 1, memory_order_acq_rel) != 1)
        return;
    gen_unref(image->gen);
    free(image);
}

Gen *vfs_image_gen(const VfsImage *image) { return image->gen; }

/* ---------- forks ---------- */

/* What fs_alloc charged moves along: a retired generation's budget is no longer asked. */
void vfs_move_to(Vfs *fs, Gen *fresh) { fs->gen = fresh; }

Vfs *vfs_fork(const Vfs *fs, Gen *fresh)
{
    Vfs *to = fs_new(fresh);
    if (!to)
        return NULL;
    to->tree = fs->tree;
    to->base = fs->base;
    to->next_ino = fs->next_ino;
    to->generation = fs->generation;
    to->epoch = fs->epoch;
    to->usage = fs->usage;
    nodes_count(to, fs, -1); /* nothing is open there yet */
    to->quota = fs->quota;
    to->clock = fs->clock;
    to->context = fs->context;
    if (mounts_fork(to, fs) != 0) {
        vfs_free(to);
        return NULL;
    }
    return to;
}

/* ---------- the base ---------- */

static Tree tree_ref(Gen *g, Tree t)
{
    if (t.top)
        obj_ref(g, t.top);
    return t;
}

int vfs_set_base(Vfs *fs)
{
    Tree old = fs->base;
    fs->base = tree_ref(fs->gen, fs->tree);
    tree_unref(fs->gen, &old);
    fs->epoch++;
    fs->usage = (VUsage){0};
    return 0;
}

/* Whether a node's inode is what the other tree has too. */
static bool in_both(const Vfs *fs, const Tree *to, const Node *n, bool directory)
{
    const Inode *now = inode_get(&fs->tree, n->ino), *then = inode_get(to, n->ino);
    return now == then || (directory && now && then && S_ISDIR(now->mode) && S_ISDIR(then->mode));
}

/* Open files take along what they have open; a held directory stays the one of its number where there is one. */
static void nodes_detach(Vfs *fs, const Tree *to)
{
    for (uint32_t b = 0; b < fs->bucket_count; b++)
        for (Node *n = fs->buckets[b]; n; n = n->next) {
            const Inode *i = n->detached ? NULL : inode_get(&fs->tree, n->ino);
            if (i && !in_both(fs, to, n, S_ISDIR(i->mode)))
                n->detached = obj_ref(fs->gen, inode_get(&fs->tree, n->ino));
        }
}

int vfs_to_base(Vfs *fs)
{
    if (!fs->base.top)
        return -EINVAL; /* built from nothing, and no base was set */
    nodes_detach(fs, &fs->base);
    Tree old = fs->tree;
    fs->tree = tree_ref(fs->gen, fs->base);
    tree_unref(fs->gen, &old);
    fs->generation++;
    fs->usage = (VUsage){0};
    nodes_count(fs, fs, 1);
    return 0;
}

void vfs_image_tree(const VfsImage *image, Vfs *out)
{
    memset(out, 0, sizeof *out);
    out->tree = image->tree;
}

void vfs_replace(Vfs *fs, Vfs *from)
{
    nodes_detach(fs, &from->tree);
    tree_unref(fs->gen, &fs->tree);
    tree_unref(fs->gen, &fs->base);
    fs->tree = from->tree;
    fs->base = from->base;
    fs->usage = from->usage;
    fs->next_ino = from->next_ino;
    fs->generation++;
    fs->filled++;
    nodes_count(fs, fs, 1);
}
