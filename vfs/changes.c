/* changes: what differs from the base.
 *
 * The two inode trees are compared first, which touches only what they do not share. The inodes that differ and the
 * directories above them are the only ones worth entering; within those, old and new entries are merged by name. An
 * inode with several links has one known parent only: when such a one differs, every directory is entered.
 */
#include "internal.h"

#include "lib/base/map.h"

enum { DEPTH_LIMIT = 2048 };

typedef struct {
    Vfs *fs;
    Mem *mem;
    Mem scratch;     /* cursors, one pair a level */
    Map visit;       /* inode numbers, as 8 bytes */
    bool exact;      /* what only times tell apart is modified, a directory by its entries' coming and going too */
    bool everywhere;
    bool failed;
    Buf path;
    VChange *list;
    size_t count, cap;
} Changes;

/* ---------- which directories to enter ---------- */

static bool mark(Changes *c, uint64_t ino, bool *known)
{
    Slice key = slice((const char *)&ino, sizeof ino);
    *known = map_get(&c->visit, key) != NULL;
    return *known || map_put(&c->visit, key);
}

static bool mark_upward(Changes *c, const Tree *t, const Inode *i)
{
    bool known = false;
    while (i && mark(c, i->ino, &known) && !known)
        i = inode_get(t, i->parent);
    return known || !i;
}

static int mark_inode(void *user, Inode *now, Inode *then)
{
    Changes *c = user;
    if ((now && (now->flags & INODE_LINKED)) || (then && (then->flags & INODE_LINKED)))
        c->everywhere = true;
    /* The old way up first: the new one stops where it meets what is marked, and the other way round would too. */
    bool known, ok = true;
    if (then)
        ok = mark(c, then->ino, &known) && mark_upward(c, &c->fs->base, inode_get(&c->fs->base, then->parent));
    if (ok && now)
        ok = mark(c, now->ino, &known) && mark_upward(c, &c->fs->tree, inode_get(&c->fs->tree, now->parent));
    return ok ? 0 : -ENOMEM;
}

static bool worth_entering(const Changes *c, uint64_t ino)
{
    return c->everywhere || map_get(&c->visit, slice((const char *)&ino, sizeof ino));
}

/* ---------- comparing ---------- */

static bool same_data(const Inode *a, const Inode *b)
{
    if (S_ISLNK(a->mode))
        return slice_eq(str_slice(a->target), str_slice(b->target));
    return !S_ISREG(a->mode) || (a->chunk == b->chunk && a->start == b->start && a->extents == b->extents);
}

/* Bytes that were brought into memory and not changed since: every change moves ctime. */
static bool only_loaded(const Inode *a, const Inode *b)
{
    return inode_lazy(a) != inode_lazy(b) && a->time[TIME_CHANGE] == b->time[TIME_CHANGE] && a->time_ns[TIME_CHANGE] == b->time_ns[TIME_CHANGE];
}

/* A directory is modified by its own mode and owner, not by what is in it. */
bool vfs_inodes_same(const Inode *a, const Inode *b)
{
    if (a == b)
        return true;
    if (a->mode != b->mode || a->uid != b->uid || a->gid != b->gid)
        return false;
    if (S_ISDIR(a->mode))
        return true;
    return a->size == b->size && a->rdev == b->rdev && a->time[TIME_MODIFY] == b->time[TIME_MODIFY] &&
           a->time_ns[TIME_MODIFY] == b->time_ns[TIME_MODIFY] && (same_data(a, b) || only_loaded(a, b));
}

static bool same_times(const Inode *a, const Inode *b)
{
    return memcmp(a->time, b->time, sizeof a->time) == 0 && memcmp(a->time_ns, b->time_ns, sizeof a->time_ns) == 0;
}

static int note(Changes *c, VChangeKind kind, const Inode *now, const Inode *then)
{
    if (c->count == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 16;
        VChange *list = mem_grow(c->mem, c->list, c->cap * sizeof *list, cap * sizeof *list);
        if (!list)
            return -ENOMEM;
        c->list = list;
        c->cap = cap;
    }
    VChange *x = &c->list[c->count];
    x->kind = kind;
    x->path = mem_copy(c->mem, buf_slice(&c->path));
    if (!x->path)
        return -ENOMEM;
    inode_stat(now ? now : then, NULL, &x->stat);
    x->old = (VStat){0};
    if (then)
        inode_stat(then, NULL, &x->old);
    c->count++;
    return 0;
}

static int compare(Changes *c, const Inode *now, const Inode *then, unsigned depth);

static int compare_entry(Changes *c, const Dentry *now, const Dentry *then, unsigned depth)
{
    size_t len = c->path.len;
    if (!buf_char(&c->path, '/') || !buf_append(&c->path, dentry_name(now ? now : then)))
        return -ENOMEM;
    const Inode *a = now ? inode_get(&c->fs->tree, now->ino) : NULL, *b = then ? inode_get(&c->fs->base, then->ino) : NULL;
    int r = compare(c, a, b, depth + 1);
    c->path.len = len;
    c->path.data[len] = 0;
    return r;
}

/* A directory that came or went is read in, so that all of it is told; what cannot be read is told as empty. */
static int fill_sides(Changes *c, const Inode **now, const Inode **then)
{
    const Vfs *fs = c->fs;
    uint64_t ino = *now ? (*now)->ino : 0, old = *then ? (*then)->ino : 0;
    int r = *now && inode_lazy(*now) && S_ISDIR((*now)->mode) ? lazy_fill(c->fs, ino) : 0;
    if (r != -ENOMEM && *then)
        r = lazy_fill(c->fs, old); /* moved: it is in the tree elsewhere, and read in for both */
    if (*now)
        *now = inode_get(&fs->tree, ino);
    if (*then)
        *then = inode_get(&fs->base, old);
    return r == -ENOMEM ? r : 0;
}

static Dentry *entries_of(const Inode *i) { return i && S_ISDIR(i->mode) && !inode_lazy(i) ? i->entries : NULL; }

static int compare_entries(Changes *c, const Inode *now, const Inode *then, unsigned depth)
{
    int r = fill_sides(c, &now, &then);
    if (r)
        return r;
    MemMark round = mem_mark(&c->scratch);
    DirCursor *cursor = mem_alloc(&c->scratch, 2 * sizeof *cursor);
    if (!cursor)
        return -ENOMEM;
    if (depth > DEPTH_LIMIT)
        return -ELOOP;
    cursor_init(&cursor[0], entries_of(now));
    cursor_init(&cursor[1], entries_of(then));
    const Dentry *a = cursor_next(&cursor[0]), *b = cursor_next(&cursor[1]);
    while (!r && (a || b)) {
        int order = !a ? 1 : !b ? -1 : slice_cmp(dentry_name(a), dentry_name(b));
        r = compare_entry(c, order <= 0 ? a : NULL, order >= 0 ? b : NULL, depth);
        if (order <= 0)
            a = cursor_next(&cursor[0]);
        if (order >= 0)
            b = cursor_next(&cursor[1]);
    }
    mem_reset(&c->scratch, round);
    return r;
}

static int compare(Changes *c, const Inode *now, const Inode *then, unsigned depth)
{
    int r = 0;
    if (depth && (!now || !then)) /* the root has no name to be noted under */
        r = note(c, now ? VCHANGE_ADDED : VCHANGE_DELETED, now, then);
    else if (depth && (!vfs_inodes_same(now, then) || (c->exact && !same_times(now, then))))
        r = note(c, VCHANGE_MODIFIED, now, then);
    bool entries = (now && S_ISDIR(now->mode)) || (then && S_ISDIR(then->mode));
    bool shared = now && then && now->ino == then->ino;
    if (shared && inode_lazy(now) && inode_lazy(then))
        return r;
    if (r || !entries || (shared && !worth_entering(c, now->ino)))
        return r;
    return compare_entries(c, now, then, depth);
}

static int changes(Vfs *fs, Mem *mem, bool exact, VChange **out, size_t *count)
{
    Quiet q = mem_quiet(mem);
    Changes c = {.fs = fs, .mem = mem, .exact = exact};
    mem_init(&c.scratch, gen_memory(fs->gen), NULL, NULL);
    map_init(&c.visit, mem);
    buf_init(&c.path, mem, BUF_MAX);
    int r = buf_reserve(&c.path, PATH_SIZE) ? tree_diff(&fs->tree, &fs->base, mark_inode, &c) : -ENOMEM;
    if (r == 0)
        r = compare(&c, inode_get(&fs->tree, ROOT_INO), inode_get(&fs->base, ROOT_INO), 0);
    mem_drop(&c.scratch);
    *out = c.list;
    *count = c.count;
    return mem_loud(q, r);
}

int vfs_changes(Vfs *fs, Mem *mem, VChange **out, size_t *count) { return changes(fs, mem, false, out, count); }
int vfs_changes_exact(Vfs *fs, Mem *mem, VChange **out, size_t *count) { return changes(fs, mem, true, out, count); }

/* ---------- what it holds ---------- */

enum { PART = 65536 };

static int zeros(uint64_t len, char *scratch, int (*fn)(void *user, Slice part), void *user)
{
    int r = 0;
    memset(scratch, 0, PART);
    for (size_t n; r == 0 && len; len -= n)
        r = fn(user, slice(scratch, n = (size_t)MIN(len, (uint64_t)PART)));
    return r;
}

static int content(Vfs *fs, const Inode *i, char *scratch, int (*fn)(void *user, Slice part), void *user)
{
    int r = 0;
    Slice part;
    for (uint64_t off = 0; r == 0 && off < i->size; off += part.len) {
        Chunk *chunk = NULL;
        if (inode_lazy(i)) {
            ssize_t n = lazy_read(i, off, scratch, PART);
            part = slice(scratch, n > 0 ? (size_t)n : 0);
            r = n < 0 ? (int)n : fn(user, part);
        } else {
            data_read(fs->gen, i, off, SIZE_MAX / 2, NULL, &chunk, &part);
            r = part.data ? fn(user, part) : zeros(part.len, scratch, fn, user);
            chunk_unref(fs->gen, chunk);
        }
    }
    return r;
}

int vfs_content(Vfs *fs, uint64_t ino, bool base, int (*fn)(void *user, Slice part), void *user)
{
    const Inode *i = inode_get(base ? &fs->base : &fs->tree, ino);
    if (!i || (!S_ISREG(i->mode) && !S_ISLNK(i->mode)))
        return -EINVAL;
    if (S_ISLNK(i->mode))
        return fn(user, str_slice(i->target));
    char *scratch = fs_alloc(fs, PART);
    int r = scratch ? content(fs, i, scratch, fn, user) : -ENOMEM;
    fs_free(fs, scratch, PART);
    return r;
}
