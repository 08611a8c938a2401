/* bind: what the embedder binds in: copied into the tree, or mounted live. */
#include <fcntl.h>

#include "host.h"
#include "internal.h"

#include "lib/base/map.h"

static const VCred root = {0, 0, 0};

/* ---------- copying ---------- */

typedef struct {
    Vfs *fs;
    const HostTree *tree;
    const char *destination;
    const VBindFilter *filter;
    Mem mem;   /* names of the directories on the way */
    Map links; /* host (device, inode) of files with several links, to the path of the copy */
    Mem kept;  /* what `links` holds */
} Copy;

static void take_stat(Inode *i, const VStat *st)
{
    i->uid = st->uid;
    i->gid = st->gid;
    i->time[TIME_ACCESS] = st->atime;
    i->time[TIME_MODIFY] = st->mtime;
    i->time_ns[TIME_ACCESS] = st->atime_ns;
    i->time_ns[TIME_MODIFY] = st->mtime_ns;
}

/* The same for what is there already: a symlink, or a directory whose times its entries have moved. */
static int put_stat(Copy *c, const char *path, const VStat *st)
{
    Path p;
    int r = path_resolve(&p, c->fs, &root, NULL, path, PATH_MUST);
    Inode *i = r ? NULL : inode_own(c->fs, p.at.inode->ino);
    if (i)
        take_stat(i, st);
    return r ? r : i ? 0 : -ENOMEM;
}

/* A new inode under `path`; what is there already stays, unless it is a directory, which is what was asked for. */
static int add(Copy *c, const char *path, const VStat *st, uint32_t mode, Inode **made)
{
    Path p;
    int r = path_resolve(&p, c->fs, &root, NULL, path, PATH_ENTRY);
    if (r)
        return r;
    if (p.found)
        return -EEXIST;
    Inode *i = entry_inode(&p, mode);
    if (i)
        take_stat(i, st);
    r = entry_add(&p, i);
    *made = i;
    return r;
}

static int copy_file(Copy *c, const char *rel, const char *path)
{
    Gen *g = c->fs->gen;
    VStat st;
    Chunk *chunk = NULL;
    uint64_t len;
    Inode *i;
    int fd = host_open(c->tree, rel, O_RDONLY);
    if (fd < 0)
        return fd;
    int r = host_fstat(c->tree, fd, &st);
    if (r == 0 && !S_ISREG(st.mode))
        r = -ENXIO;
    if (r == 0)
        r = host_read_all(g, fd, st.size, &chunk, &len);
    host_close(fd);
    if (r)
        return r;
    r = add(c, path, &st, S_IFREG | (st.mode & 0777), &i);
    if (r) {
        chunk_unref(g, chunk);
        return r;
    }
    if (len) {
        i->chunk = chunk;
        i->size = len;
        quota_count(c->fs, i, 0);
    } else {
        chunk_unref(g, chunk);
    }
    return 0;
}

/* A further link of a file that was copied becomes one here. 1: it has not been. */
static int copy_link(Copy *c, const VStat *st, const char *path)
{
    const uint64_t identity[2] = {st->dev, st->ino};
    MapEntry *e = map_put(&c->links, slice((const char *)identity, sizeof identity));
    if (!e)
        return -ENOMEM;
    if (e->value)
        return vfs_link(c->fs, &root, NULL, e->value, NULL, path, V_NOFOLLOW);
    e->value = mem_strdup(&c->kept, path);
    return e->value ? 1 : -ENOMEM;
}

static int copy_symlink(Copy *c, const char *rel, const char *path, const VStat *st)
{
    Slice target;
    int r = host_readlink(c->tree, rel, &c->mem, &target);
    if (r == 0)
        r = vfs_symlink(c->fs, &root, target.data, NULL, path);
    return r ? r : put_stat(c, path, st);
}

static int copy_tree(Copy *c, const char *rel);

static int copy_entry(Copy *c, const char *rel)
{
    VStat st;
    Inode *made;
    const char *path = mem_printf(&c->mem, "%s%s%s", c->destination, *rel ? "/" : "", rel);
    if (!path)
        return -ENOMEM;
    if (c->fs->mount_count && path_is_live(c->fs, path))
        return 0; /* what is mounted there covers it, and is not to be written */
    int r = host_stat(c->tree, rel, &st);
    if (r)
        return r;
    if (c->filter && *rel && !c->filter->keep(c->filter->user, rel, S_ISDIR(st.mode)))
        return 0;
    if (S_ISDIR(st.mode)) {
        r = add(c, path, &st, S_IFDIR | (st.mode & 0777), &made);
        if (r)
            return r == -EEXIST ? copy_tree(c, rel) : r;
        r = copy_tree(c, rel);
        return r ? r : put_stat(c, path, &st);
    }
    if (S_ISLNK(st.mode))
        return copy_symlink(c, rel, path, &st);
    if (!S_ISREG(st.mode))
        return 0;
    r = st.nlink > 1 ? copy_link(c, &st, path) : 1;
    return r == 1 ? copy_file(c, rel, path) : r;
}

/* What cannot be read or went away is not there; what has no room ends the copy. */
static bool passable(int r)
{
    return r == -EACCES || r == -EPERM || r == -ENOENT || r == -ENXIO || r == -ENOTDIR || r == -EEXIST || r == -ELOOP || r == -ENAMETOOLONG || r == -EISDIR;
}

enum { IGNORE_MOST = 1 << 20 };

/* The text of a directory's .gitignore, in c->mem; one that cannot be read, or is no file, is none. */
static int read_ignore(Copy *c, const char *rel, Slice *out)
{
    VStat st;
    *out = (Slice){"", 0};
    const char *path = mem_printf(&c->mem, "%s%s.gitignore", rel, *rel ? "/" : "");
    int fd = path ? host_open(c->tree, path, O_RDONLY) : -ENOMEM;
    if (fd < 0)
        return fd == -ENOMEM ? fd : 0;
    bool usable = host_fstat(c->tree, fd, &st) == 0 && S_ISREG(st.mode) && st.size <= IGNORE_MOST;
    char *text = usable ? mem_alloc(&c->mem, (size_t)st.size + 1) : NULL;
    ssize_t n = text ? host_pread(fd, text, (size_t)st.size, 0) : 0;
    host_close(fd);
    if (n > 0)
        *out = slice(text, (size_t)n);
    return usable && !text ? -ENOMEM : 0;
}

static int enter_filtered(Copy *c, const char *rel)
{
    Slice ignore;
    int r = read_ignore(c, rel, &ignore);
    return r ? r : c->filter->enter(c->filter->user, rel, ignore);
}

/* Recursion: as deep as the host's tree, which the length of a path bounds to 2,048 small frames. */
static int copy_tree(Copy *c, const char *rel)
{
    VDirent *list;
    size_t count;
    MemMark all = mem_mark(&c->mem);
    int r = host_list(c->tree, rel, &c->mem, &list, &count);
    bool filtered = r == 0 && c->filter;
    if (filtered && (r = enter_filtered(c, rel)))
        filtered = false;
    for (size_t n = 0; r == 0 && n < count; n++) {
        MemMark one = mem_mark(&c->mem);
        const char *below = mem_printf(&c->mem, "%s%s%s", rel, *rel ? "/" : "", list[n].name.data);
        r = below ? copy_entry(c, below) : -ENOMEM;
        if (passable(r))
            r = 0;
        mem_reset(&c->mem, one);
    }
    if (filtered)
        c->filter->leave(c->filter->user);
    mem_reset(&c->mem, all);
    return r;
}

static int bind_copy(Vfs *fs, const VBind *bind, const HostTree *tree)
{
    Copy c = {.fs = fs, .tree = tree, .filter = bind->filter, .destination = strcmp(bind->destination, "/") == 0 ? "" : bind->destination};
    mem_init(&c.mem, NULL, NULL, NULL);
    mem_init(&c.kept, NULL, NULL, NULL);
    map_init(&c.links, &c.kept);
    int r = host_tree_is_file(tree) ? copy_file(&c, "", c.destination) : copy_entry(&c, "");
    mem_drop(&c.mem);
    mem_drop(&c.kept);
    return r;
}

/* ---------- mounting ---------- */

/* The inode that a mount will cover: made when it is missing. */
static int bind_point(Vfs *fs, const VBind *bind, bool file, Path *p)
{
    VFile *f;
    int r = file ? vfs_open(fs, &root, NULL, bind->destination, V_WRITE | V_CREATE, 0644, &f) : vfs_mkdir(fs, &root, NULL, bind->destination, 0755);
    if (r == 0 && file)
        vfs_file_unref(fs, f);
    if (r && r != -EEXIST)
        return r;
    r = path_resolve(p, fs, &root, NULL, bind->destination, PATH_FOLLOW | PATH_MUST);
    if (r == 0 && S_ISDIR(p->at.mode) == file)
        r = file ? -EISDIR : -ENOTDIR;
    if (r == 0 && p->at.inode && p->at.inode->ino == ROOT_INO)
        r = -EINVAL; /* by another name */
    return r;
}

/* What was below the destination is covered for good: an overlay is the tree from there down. */
static int overlay_point(Vfs *fs, const VBind *bind, Path *p)
{
    int r = bind_point(fs, bind, false, p);
    if (r)
        return r;
    uint64_t ino = p->at.inode->ino;
    r = tree_empty(fs, ino);
    p->at.inode = inode_get(&fs->tree, ino); /* by its number: what led there may be gone */
    return r;
}

static void release_tree(void *thing) { host_tree_unref(thing); }

/* The destination becomes lazy: a directory, or one file. */
static int overlay_begin(Vfs *fs, const VBind *bind, HostTree *tree, Path *p)
{
    VStat st;
    bool file = host_tree_is_file(tree);
    int r = host_stat(tree, "", &st);
    if (r == 0)
        r = file ? bind_point(fs, bind, true, p) : overlay_point(fs, bind, p);
    if (r)
        return r;
    Hold *hold = hold_new(fs->gen, release_tree, tree);
    if (!hold)
        return -ENOMEM;
    host_tree_ref(tree);
    Inode *i = inode_own(fs, p->at.inode->ino), *lazy = i ? lazy_inode(fs, hold, tree, "", (Slice){NULL, 0}, &st) : NULL;
    hold_unref(fs->gen, hold);
    if (!lazy)
        return -ENOMEM;
    lazy_replace(fs, i, lazy);
    p->at.inode = i;
    return 0;
}

static int bind_overlay(Vfs *fs, const VBind *bind, HostTree *tree)
{
    Path p;
    int r = overlay_begin(fs, bind, tree, &p);
    return r ? r : mount_add(fs, &p, NULL, NULL, bind->readonly);
}

static int bind_mount(Vfs *fs, const VBind *bind, HostTree *tree)
{
    Path p;
    bool direct = bind->mode == VBIND_DIRECT;
    int r = bind_point(fs, bind, host_tree_is_file(tree), &p);
    if (r)
        return r;
    r = mount_add(fs, &p, direct ? &host_direct_ops : NULL, direct ? host_tree_ref(tree) : NULL, bind->readonly);
    if (r && direct)
        host_tree_unref(tree);
    return r;
}

static int refuse(int error, const char *why, const char **message)
{
    *message = why;
    return error;
}

int vfs_bind(Vfs *fs, const VBind *bind, const char **message)
{
    int r;
    *message = NULL;
    if (bind->destination[0] != '/')
        return refuse(-EINVAL, "the destination is not absolute", message);
    if (bind->mode != VBIND_COPY && strspn(bind->destination, "/") == strlen(bind->destination))
        return refuse(-EINVAL, "only a copy can be the root", message);
    HostTree *tree = host_tree_open(bind, &r, message);
    if (!tree)
        return r;
    r = path_is_live(fs, bind->destination) ? -EBUSY : path_make_parents(fs, bind->destination);
    if (r == 0 && bind->mode == VBIND_COPY)
        r = bind_copy(fs, bind, tree);
    if (r == 0 && bind->mode == VBIND_OVERLAY)
        r = bind_overlay(fs, bind, tree);
    else if (r == 0 && (bind->mode == VBIND_DIRECT || bind->readonly))
        r = bind_mount(fs, bind, tree);
    host_tree_unref(tree);
    return r ? refuse(r, r == -EBUSY ? "the destination lies inside another live directory" : "the source cannot be bound there", message) : 0;
}
