/* check: whether every count of a file system is right; for tests and torture, so plain rather than fast. */
#include "internal.h"

typedef struct {
    const Vfs *fs;
    const char *why;
    uint64_t inodes, directories;
    uint64_t links; /* entries of what is no directory, minus the links those count */
    VUsage usage;
} Check;

static int refuse(Check *c, const char *why)
{
    c->why = why;
    return 1;
}

static void count_usage(Check *c, const Inode *i)
{
    c->usage.inodes += i->born == c->fs->epoch;
    if (S_ISREG(i->mode) && i->dirty == c->fs->epoch)
        c->usage.bytes += i->size;
}

static int check_directory(Check *c, const Inode *dir)
{
    uint64_t entries = 0;
    uint32_t subdirectories = 0;
    if (inode_lazy(dir))
        return dir->size ? refuse(c, "a directory not read in has entries") : 0;
    const Dentry *before = NULL;
    DirCursor cursor;
    cursor_init(&cursor, dir->entries);
    for (const Dentry *d; (d = cursor_next(&cursor)); before = d, entries++) {
        const Inode *i = inode_get(&c->fs->tree, d->ino);
        if (!i)
            return refuse(c, "an entry names no inode");
        if ((i->mode & S_IFMT) >> 12 != d->type)
            return refuse(c, "an entry's type is not its inode's");
        if (before && slice_cmp(dentry_name(before), dentry_name(d)) >= 0)
            return refuse(c, "a directory is not in order");
        if ((d->left && d->left->priority > d->priority) || (d->right && d->right->priority > d->priority))
            return refuse(c, "a directory is not a heap");
        if (S_ISDIR(i->mode)) {
            subdirectories++;
            if (i->parent != dir->ino)
                return refuse(c, "a directory has another parent");
        }
    }
    c->directories += subdirectories;
    c->links += entries - subdirectories;
    if (entries != dir->size)
        return refuse(c, "a directory's entries are miscounted");
    return dir->nlink != 2 + subdirectories ? refuse(c, "a directory's links are miscounted") : 0;
}

static int check_inode(void *user, Inode *i, Inode *none)
{
    Check *c = user;
    (void)none;
    c->inodes++;
    count_usage(c, i);
    if (i->ino >= c->fs->next_ino)
        return refuse(c, "an inode number was not given out");
    if (S_ISDIR(i->mode)) {
        c->directories--;
        return check_directory(c, i);
    }
    c->links -= i->nlink;
    if (i->nlink == 0)
        return refuse(c, "an inode without links is in the tree");
    return S_ISREG(i->mode) && !data_check(i) ? refuse(c, "a file's extents do not fit its size") : 0;
}

bool vfs_check(Vfs *fs, const char **why)
{
    Check c = {.fs = fs};
    Tree none = {0};
    if (tree_diff(&fs->tree, &none, check_inode, &c) == 0) {
        for (uint32_t b = 0; b < fs->bucket_count; b++)
            for (const Node *n = fs->buckets[b]; n; n = n->next)
                if (n->detached)
                    count_usage(&c, n->detached);
                else if (!inode_get(&fs->tree, n->ino))
                    c.why = "an open inode is nowhere";
        if (!c.why && !inode_get(&fs->tree, ROOT_INO))
            c.why = "there is no root";
        else if (!c.why && (c.directories != UINT64_MAX || c.links != 0)) /* the root has no entry */
            c.why = "links and entries do not match";
        else if (!c.why && c.inodes != fs->tree.count)
            c.why = "the tree's inodes are miscounted";
        else if (!c.why && (c.usage.bytes != fs->usage.bytes || c.usage.inodes != fs->usage.inodes))
            c.why = "the usage is miscounted";
    }
    *why = c.why;
    return !c.why;
}
