/* dirtree: a directory's entries, a persistent treap in name order. */
#include "internal.h"

Dentry *dentry_new(Gen *g, Slice name, uint64_t ino, uint32_t mode)
{
    Dentry *d = obj_alloc(g, sizeof *d + name.len + 1);
    if (!d)
        return NULL;
    d->ino = ino;
    d->left = d->right = NULL;
    d->priority = (uint32_t)hash_bytes(name);
    d->type = (uint16_t)((mode & S_IFMT) >> 12);
    d->len = (uint16_t)name.len;
    memcpy(d->name, name.data, name.len);
    d->name[name.len] = 0;
    return d;
}

static Dentry *dentry_own(Gen *g, Dentry **at)
{
    Dentry *old = *at;
    if (obj_mine(g, old))
        return old;
    size_t size = sizeof *old + old->len + 1;
    Dentry *d = obj_alloc(g, size);
    if (!d)
        return NULL;
    memcpy((char *)d + sizeof(Obj), (char *)old + sizeof(Obj), size - sizeof(Obj));
    if (d->left)
        obj_ref(g, d->left);
    if (d->right)
        obj_ref(g, d->right);
    (void)obj_unref(g, old); /* not the last: it was not mine */
    return *at = d;
}

/* Without recursion: what became unreferenced waits in a list linked through `ino`. */
void dentry_unref(Gen *g, Dentry *d)
{
    if (!d || !obj_unref(g, d))
        return;
    d->ino = 0;
    for (Dentry *dead = d; dead;) {
        Dentry *child[2] = {dead->left, dead->right};
        Dentry *next = (Dentry *)(uintptr_t)dead->ino;
        obj_free(g, dead);
        for (int k = 0; k < 2; k++)
            if (child[k] && obj_unref(g, child[k])) {
                child[k]->ino = (uintptr_t)next;
                next = child[k];
            }
        dead = next;
    }
}

Dentry *dir_find(const Dentry *root, Slice name)
{
    const Dentry *d = root;
    while (d) {
        int c = slice_cmp(name, dentry_name(d));
        if (c == 0)
            break;
        d = c < 0 ? d->left : d->right;
    }
    return (Dentry *)(uintptr_t)d;
}

/* Inserting splits along the way to the name; removing merges the inner edges of the two subtrees below it. */
int dir_reserve(Gen *g, Dentry **root, Slice name)
{
    Dentry **at = root;
    while (*at) {
        Dentry *d = dentry_own(g, at);
        if (!d)
            return -ENOMEM;
        int c = slice_cmp(name, dentry_name(d));
        if (c == 0) {
            for (Dentry **l = &d->left; *l; l = &(*l)->right)
                if (!dentry_own(g, l))
                    return -ENOMEM;
            for (Dentry **r = &d->right; *r; r = &(*r)->left)
                if (!dentry_own(g, r))
                    return -ENOMEM;
            return 0;
        }
        at = c < 0 ? &d->left : &d->right;
    }
    return 0;
}

void dir_insert(Dentry **root, Dentry *d)
{
    Slice name = dentry_name(d);
    Dentry **at = root;
    while (*at && (*at)->priority >= d->priority)
        at = slice_cmp(name, dentry_name(*at)) < 0 ? &(*at)->left : &(*at)->right;
    Dentry *rest = *at;
    *at = d;
    Dentry **less = &d->left, **more = &d->right;
    while (rest) {
        if (slice_cmp(name, dentry_name(rest)) < 0) {
            *more = rest;
            more = &rest->left;
            rest = rest->left;
        } else {
            *less = rest;
            less = &rest->right;
            rest = rest->right;
        }
    }
    *less = *more = NULL;
}

static Dentry **dir_slot(Dentry **root, Slice name)
{
    Dentry **at = root;
    for (int c; *at && (c = slice_cmp(name, dentry_name(*at))) != 0;)
        at = c < 0 ? &(*at)->left : &(*at)->right;
    return at;
}

Dentry *dir_remove(Dentry **root, Slice name)
{
    Dentry **at = dir_slot(root, name);
    Dentry *gone = *at, *l = gone->left, *r = gone->right;
    while (l && r) {
        if (l->priority >= r->priority) {
            *at = l;
            at = &l->right;
            l = l->right;
        } else {
            *at = r;
            at = &r->left;
            r = r->left;
        }
    }
    *at = l ? l : r;
    gone->left = gone->right = NULL;
    return gone;
}

Dentry *dir_find_own(Dentry **root, Slice name) { return *dir_slot(root, name); }

/* ---------- iteration ---------- */

static void cursor_down(DirCursor *c, const Dentry *d)
{
    for (; d && c->depth < ARRAY_LEN(c->stack); d = d->left)
        c->stack[c->depth++] = d;
}

void cursor_init(DirCursor *c, const Dentry *root)
{
    c->depth = 0;
    cursor_down(c, root);
}

const Dentry *cursor_next(DirCursor *c)
{
    if (!c->depth)
        return NULL;
    const Dentry *d = c->stack[--c->depth];
    cursor_down(c, d->right);
    return d;
}
