/* path: resolution, permission, and the way back from a directory to its path. */
#include "internal.h"
#include "lib/base/guard.h"

bool may(const VCred *c, uint32_t mode, uint32_t uid, uint32_t gid, unsigned rwx)
{
    if (c->uid == 0)
        return !(rwx & 1) || S_ISDIR(mode) || (mode & 0111);
    unsigned shift = c->uid == uid ? 6 : c->gid == gid ? 3 : 0;
    return (mode >> shift & rwx) == rwx;
}

/* ---------- places ---------- */

bool place_gone(const Vfs *fs, const Place *p) { return p->inode && inode_get(&fs->tree, p->inode->ino) != p->inode; }

static Place place_of(const Inode *i, Mount *m) { return (Place){m, i, i->mode, i->uid, i->gid}; }

/* The object at p->rel in a callback mount: 0, or what its stat said. */
static int callback_stat(Path *p, Mount *m, Place *out)
{
    if (!m->ops->stat)
        return -ENOSYS;
    int r = m->ops->stat(m->user, p->rel, &p->stat);
    if (r)
        return r;
    p->stat.dev = m->dev;
    *out = (Place){m, NULL, p->stat.mode, p->stat.uid, p->stat.gid};
    return 0;
}

/* An inode of the memory tree met inside `m`, or what is mounted on it. */
static int place_enter(Path *p, const Inode *i, Mount *m, Place *out)
{
    Mount *over = p->fs->mount_count ? mount_covering(p->fs, i->ino) : NULL;
    if (!over || !over->ops) {
        *out = place_of(i, over ? over : m);
        return 0;
    }
    p->rel_len = 0;
    p->rel[0] = 0;
    return callback_stat(p, over, out);
}

static int place_root(Path *p, Place *out) { return place_enter(p, inode_get(&p->fs->tree, ROOT_INO), NULL, out); }

static int place_start(Path *p, const VDir *at, const char *path, Place *out)
{
    if (path[0] == '/' || !at)
        return place_root(p, out);
    if (at->rel) {
        p->rel_len = strlen(at->rel);
        memcpy(p->rel, at->rel, p->rel_len + 1);
        return callback_stat(p, at->mount, out);
    }
    const Inode *i = at->node ? node_inode(p->fs, at->node) : inode_get(&p->fs->tree, at->ino);
    if (!i)
        return -ENOENT;
    *out = place_of(i, at->mount);
    return 0;
}

static int place_parent(Path *p, Place *at)
{
    Mount *m = at->mount;
    const Inode *i = at->inode;
    if (place_callback(at)) {
        if (p->rel_len) {
            const char *slash = memrchr(p->rel, '/', p->rel_len);
            p->rel_len = slash ? (size_t)(slash - p->rel) : 0;
            p->rel[p->rel_len] = 0;
            return callback_stat(p, m, at);
        }
        i = inode_get(&p->fs->tree, m->ino);
        m = m->outer;
    } else if (m && m->ino == i->ino) {
        m = m->outer;
    }
    i = i ? inode_get(&p->fs->tree, i->parent) : NULL;
    if (!i)
        return -ENOENT;
    *at = place_of(i, m);
    return 0;
}

static int callback_lookup(Path *p, Mount *m, Slice name, Place *out, bool *found)
{
    size_t len = p->rel_len, need = len + (len > 0) + name.len;
    if (need >= sizeof p->rel)
        return -ENAMETOOLONG;
    if (len)
        p->rel[len++] = '/';
    memcpy(p->rel + len, name.data, name.len);
    p->rel_len = need;
    p->rel[need] = 0;
    int r = callback_stat(p, m, out);
    *found = r == 0;
    return r == -ENOENT ? 0 : r;
}

static int place_lookup(Path *p, Place *dir, Slice name, Place *out, bool *found)
{
    if (place_callback(dir))
        return callback_lookup(p, dir->mount, name, out, found);
    int r = place_fill(p->fs, dir);
    if (r)
        return r;
    const Dentry *d = dir_find(dir->inode->entries, name);
    const Inode *i = d ? inode_get(&p->fs->tree, d->ino) : NULL;
    *found = i != NULL;
    return i ? place_enter(p, i, dir->mount, out) : 0;
}

/* ---------- resolution ---------- */

static int place_readlink(const Path *p, const Place *at, Mem *mem, Slice *target)
{
    if (!place_callback(at)) {
        *target = str_slice(at->inode->target);
        return 0;
    }
    const VMountOps *ops = at->mount->ops;
    return ops->readlink ? ops->readlink(at->mount->user, p->rel, mem, target) : -ENOSYS;
}

/* Puts a symlink's target before what is left, at the end of p->text, where an earlier rest may lie already. */
static int splice(Path *p, const Place *link, Slice *rest)
{
    Mem mem;
    Slice target;
    mem_init(&mem, NULL, NULL, NULL);
    int r = place_readlink(p, link, &mem, &target);
    if (r == 0 && target.len == 0)
        r = -ENOENT;
    if (r == 0 && target.len + rest->len > sizeof p->text)
        r = -ENAMETOOLONG;
    if (r == 0) {
        char *at = p->text + sizeof p->text - rest->len;
        memmove(at, rest->data, rest->len);
        at -= target.len;
        memcpy(at, target.data, target.len);
        *rest = slice(at, target.len + rest->len);
    }
    mem_drop(&mem);
    return r;
}

static Slice skip_slashes(Slice s)
{
    while (s.len && *s.data == '/')
        s = slice_from(s, 1);
    return s;
}

/* A component after which nothing is looked up: the directory reached is the result. */
static int at_directory(Path *p, const Place *cur, LastKind last)
{
    p->at = *cur;
    p->last = last;
    p->found = true;
    p->name = (Slice){NULL, 0};
    p->dir_len = p->rel_len;
    return 0;
}

/* Resolves the components of `rest` from *cur on. */
static int walk(Path *p, Place cur, Slice rest, int flags)
{
    LastKind last = LAST_ROOT;
    for (;;) {
        rest = skip_slashes(rest);
        if (!rest.len)
            return at_directory(p, &cur, last);
        size_t len = slice_find(rest, '/');
        Slice name = slice(rest.data, len);
        rest = slice_from(rest, len);
        bool slash = rest.len > 0, more = skip_slashes(rest).len > 0;
        if (GUARD(FS_NAME, len > NAME_LIMIT))
            return -ENAMETOOLONG;
        if (!S_ISDIR(cur.mode))
            return -ENOTDIR;
        if (!place_may(p->cred, &cur, 1))
            return -EACCES;
        p->slash = slash;
        if (slice_is(name, ".") || slice_is(name, "..")) {
            last = len == 1 ? LAST_DOT : LAST_DOTDOT;
            int r = len == 2 ? place_parent(p, &cur) : 0;
            if (r)
                return r;
            continue;
        }
        if (slash && !more && (flags & PATH_FILE))
            return -EISDIR;
        Place child = {0};
        bool found;
        size_t dir_len = p->rel_len;
        int r = place_lookup(p, &cur, name, &child, &found);
        if (r)
            return r;
        if (!found && more)
            return -ENOENT;
        bool follow = found && S_ISLNK(child.mode) && (more || (flags & PATH_FOLLOW) || (slash && !(flags & PATH_ENTRY)));
        if (!follow && !more) {
            p->dir = cur;
            p->dir_len = dir_len;
            p->at = child;
            p->found = found;
            p->name = name;
            p->last = LAST_NAME;
            return found && slash && !S_ISDIR(child.mode) ? -ENOTDIR : 0;
        }
        if (!follow) {
            cur = child;
            continue;
        }
        if (GUARD(FS_SYMLINKS, ++p->links > SYMLINK_LIMIT))
            return -ELOOP;
        r = splice(p, &child, &rest);
        if (r == 0 && *rest.data == '/')
            r = place_root(p, &cur);
        else
            p->rel[p->rel_len = dir_len] = 0;
        if (r)
            return r;
        last = LAST_ROOT;
    }
}

int path_resolve(Path *p, Vfs *fs, const VCred *c, VDir *at, const char *path, int flags)
{
    size_t len = strnlen(path, PATH_SIZE);
    if (len == 0)
        return -ENOENT;
    if (len == PATH_SIZE)
        return -ENAMETOOLONG;
    p->fs = fs;
    p->cred = c;
    p->links = 0;
    p->slash = p->found = false;
    p->rel_len = p->dir_len = 0;
    p->rel[0] = 0;
    Place start;
    int r = place_start(p, at, path, &start);
    if (r == 0)
        r = walk(p, start, slice(path, len), flags);
    if (r == 0 && !p->found && (flags & PATH_MUST))
        r = -ENOENT;
    return r;
}

int path_may_change(const Path *p)
{
    if (place_readonly(&p->dir))
        return -EROFS;
    return place_may(p->cred, &p->dir, 3) ? 0 : -EACCES;
}

int path_stat(const Path *p, VStat *out)
{
    if (p->at.inode)
        inode_stat(p->at.inode, p->at.mount, out);
    else
        *out = p->stat;
    return 0;
}

/* ---------- the guard ---------- */

/* The directory and name of a path, as a guard sees them; the text lies in `rel`. */
static VDir guard_dir(const Path *p, char rel[PATH_SIZE])
{
    const Place *d = p->last == LAST_NAME ? &p->dir : &p->at;
    VDir v = {.refs = 1, .mount = d->mount};
    if (place_callback(d)) {
        memcpy(rel, p->rel, p->dir_len);
        rel[p->dir_len] = 0;
        v.rel = rel;
    } else {
        v.ino = d->inode->ino;
    }
    return v;
}

int guard_ask(const Path *p, VOp op)
{
    const VGuard *g = &p->fs->guard;
    if (likely(!g->check))
        return 0;
    char rel[PATH_SIZE];
    VDir d = guard_dir(p, rel);
    return g->check(g->user, op, &d, p->name);
}

/* After a change p->dir.inode may be an old copy; its number is what is used. */
void guard_tell(const Path *p, VOp op)
{
    const VGuard *g = &p->fs->guard;
    if (likely(!g->changed))
        return;
    char rel[PATH_SIZE];
    VDir d = guard_dir(p, rel);
    g->changed(g->user, op, &d, p->name);
}

int guard_move(const Path *a, const Path *b)
{
    const VGuard *g = &a->fs->guard;
    if (likely(!g->moved))
        return 0;
    char rel_a[PATH_SIZE], rel_b[PATH_SIZE];
    VDir from = guard_dir(a, rel_a), to = guard_dir(b, rel_b);
    return g->moved(g->user, &from, a->name, &to, b->name, S_ISDIR(a->at.mode));
}

bool vfs_dir_direct(const VDir *d) { return d->mount && d->mount->ops == &host_direct_ops; }

void vfs_set_guard(Vfs *fs, VGuard guard) { fs->guard = guard; }

/* ---------- from a directory to its path ---------- */

static const Dentry *entry_of(const Inode *dir, uint64_t ino)
{
    DirCursor c;
    cursor_init(&c, dir->entries);
    const Dentry *d;
    while ((d = cursor_next(&c)) && d->ino != ino)
        continue;
    return d;
}

static void reverse(char *s, size_t len)
{
    for (size_t a = 0; a + 1 < len - a; a++) {
        char c = s[a];
        s[a] = s[len - 1 - a];
        s[len - 1 - a] = c;
    }
}

/* Collected from the leaf up, each name backwards, and turned round at the end. */
int inode_path(const Vfs *fs, const Inode *i, Buf *out)
{
    while (i->ino != ROOT_INO) {
        const Inode *dir = inode_get(&fs->tree, i->parent);
        const Dentry *d = dir && S_ISDIR(dir->mode) && !inode_lazy(dir) ? entry_of(dir, i->ino) : NULL;
        if (!d)
            return -ENOENT;
        size_t at = out->len;
        if (!buf_append(out, dentry_name(d)))
            return -ENOMEM;
        reverse(out->data + at, d->len);
        if (!buf_char(out, '/'))
            return -ENOMEM;
        i = dir;
    }
    if (out->len == 0)
        return buf_char(out, '/') ? 0 : -ENOMEM;
    reverse(out->data, out->len);
    return 0;
}

/* The path of a directory: of one in memory by its inode, of one in a callback mount by that mount's place and rel. */
int place_path(const Vfs *fs, const Place *p, const char *rel, size_t rel_len, Buf *out)
{
    const Inode *i = place_callback(p) ? inode_get(&fs->tree, p->mount->ino) : p->inode;
    int r = i ? inode_path(fs, i, out) : -ENOENT;
    if (r || !place_callback(p) || !rel_len)
        return r;
    return buf_char(out, '/') && buf_append(out, slice(rel, rel_len)) ? 0 : -ENOMEM;
}

static int append_name(Buf *b, Slice name)
{
    bool ok = (b->len == 1 && *b->data == '/') || buf_char(b, '/');
    return ok && buf_append(b, name) ? 0 : -ENOMEM;
}

/* --- realpath -m: once a component is missing, the rest is taken as it is written, ".." taking one away --- */

static void drop_name(Buf *b)
{
    const char *slash = b->len ? memrchr(b->data, '/', b->len) : NULL;
    b->len = slash && slash > b->data ? (size_t)(slash - b->data) : 1;
    b->data[b->len] = 0;
}

static int append_missing(Buf *b, Slice rest)
{
    for (rest = skip_slashes(rest); rest.len; rest = skip_slashes(rest)) {
        size_t len = slice_find(rest, '/');
        Slice name = slice(rest.data, len);
        rest = slice_from(rest, len);
        int r = 0;
        if (slice_is(name, ".."))
            drop_name(b);
        else if (!slice_is(name, "."))
            r = append_name(b, name);
        if (r)
            return r;
    }
    return 0;
}

static int resolved_path(const Path *p, Buf *out)
{
    if (p->last != LAST_NAME || (p->found && S_ISDIR(p->at.mode)))
        return place_path(p->fs, &p->at, p->rel, p->rel_len, out);
    int r = place_path(p->fs, &p->dir, p->rel, p->dir_len, out);
    return r ? r : append_name(out, p->name);
}

/* The longest head of the path that resolves, then the rest as written. */
static int realpath_missing(Path *p, Vfs *fs, const VCred *c, VDir *at, const char *path, Buf *out)
{
    size_t len = strnlen(path, PATH_SIZE), cut = len;
    char head[PATH_SIZE];
    if (len == 0 || len == PATH_SIZE)
        return len ? -ENAMETOOLONG : -ENOENT;
    for (;;) {
        memcpy(head, path, cut);
        head[cut] = 0;
        int r = path_resolve(p, fs, c, at, cut ? head : ".", PATH_FOLLOW | PATH_MUST);
        if (r == 0 && cut < len && !S_ISDIR(p->at.mode))
            r = -ENOTDIR;
        if (r == 0) {
            r = resolved_path(p, out);
            return r ? r : append_missing(out, slice_from(slice(path, len), cut));
        }
        if ((r != -ENOENT && r != -ENOTDIR && r != -ELOOP) || cut == 0)
            return r;
        while (cut && path[cut - 1] == '/')
            cut--;
        while (cut && path[cut - 1] != '/')
            cut--;
        while (cut > 1 && path[cut - 1] == '/')
            cut--;
    }
}

int vfs_realpath(Vfs *fs, const VCred *c, VDir *at, const char *path, RealpathMode mode, Mem *mem, char **out)
{
    Path p;
    Quiet q = mem_quiet(mem);
    Buf b;
    buf_init(&b, mem, BUF_MAX);
    int r = path_resolve(&p, fs, c, at, path, PATH_FOLLOW | (mode == REALPATH_EXISTING ? PATH_MUST : 0));
    if (r == 0)
        r = resolved_path(&p, &b);
    else if (mode == REALPATH_ANY_MISSING && (r == -ENOENT || r == -ENOTDIR || r == -ELOOP))
        r = realpath_missing(&p, fs, c, at, path, &b);
    *out = b.data;
    return mem_loud(q, r);
}

int path_make_parents(Vfs *fs, const char *path)
{
    static const VCred root = {0, 0, 022};
    char head[PATH_SIZE];
    size_t len = strnlen(path, PATH_SIZE);
    if (len == PATH_SIZE)
        return -ENAMETOOLONG;
    for (size_t at = 1; at < len; at++) {
        if (path[at] != '/' || path[at - 1] == '/')
            continue;
        memcpy(head, path, at);
        head[at] = 0;
        int r = vfs_mkdir(fs, &root, NULL, head, 0777);
        if (r && r != -EEXIST)
            return r;
    }
    return 0;
}

bool path_is_live(Vfs *fs, const char *path)
{
    static const VCred root = {0, 0, 022};
    char head[PATH_SIZE];
    size_t len = strnlen(path, PATH_SIZE);
    for (size_t at = 0; at <= len && at < PATH_SIZE; at++) {
        Path p;
        if (at < len && path[at] != '/')
            continue;
        memcpy(head, at ? path : "/", at ? at : 1);
        head[at ? at : 1] = 0;
        if (path_resolve(&p, fs, &root, NULL, head, PATH_FOLLOW | PATH_MUST))
            return false;
        if (place_callback(&p.at))
            return true;
    }
    return false;
}
