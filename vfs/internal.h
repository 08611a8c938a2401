/* vfs, privately: the objects of the tree, and what the files of this folder call in one another.
 *
 * One rule carries everything: a change first makes the objects it touches its own (inode_own, dir_reserve,
 * data_reserve_*), which may fail and alters nothing that can be seen, and only then writes, which cannot fail.
 */
#ifndef LIBSHELL_VFS_INTERNAL_H
#define LIBSHELL_VFS_INTERNAL_H

#include <sys/stat.h>

#include "host.h"
#include "vfs.h"

enum { NAME_LIMIT = 255, PATH_SIZE = 4096, SYMLINK_LIMIT = 40, ROOT_INO = 1, MEMORY_DEV = 1, DIR_SIZE = 4096 };

/* ---------- objects ---------- */

/* An entry of a directory, and a node of its tree: a treap by name (bytes) whose priorities are seeded hashes of the
 * names, so its shape depends on the names alone and cannot be made deep by choosing them. */
typedef struct Dentry {
    Obj obj;
    uint64_t ino;
    struct Dentry *left, *right;
    uint32_t priority;
    uint16_t type; /* S_IF* >> 12 */
    uint16_t len;
    char name[];
} Dentry;

/* Bytes [at, next extent's at or the size) of a file lie in chunk from `start`; without a chunk they are zeros. */
typedef struct {
    uint64_t at;
    Chunk *chunk;
    size_t start;
} Extent;

typedef struct {
    Obj obj;
    uint32_t count, cap;
    Extent extent[];
} Extents;

enum { TIME_ACCESS, TIME_MODIFY, TIME_CHANGE, TIME_BIRTH };
enum {
    INODE_COMMAND = 1, /* its data is the name of a command */
    INODE_LINKED = 2,  /* has had several links: `parent` is not to be trusted */
    INODE_LAZY = 4,    /* its entries or bytes are still outside: `lazy` says where */
};

/* Where the entries of a directory or the bytes of a file are until somebody looks. */
typedef struct Lazy {
    Obj obj;
    Hold *hold; /* keeps the source; of a generation that is ours or an ancestor's */
    const HostTree *tree;   /* a host's file or directory `path`, or NULL: */
    const VLazyOps *ops;
    void *user;
    char path[];
} Lazy;

typedef struct Inode {
    Obj obj;
    uint64_t ino;
    uint64_t parent; /* the directory it is in (of several, one) */
    uint64_t size;   /* of a directory: entries */
    int64_t time[4];
    uint32_t time_ns[4];
    uint32_t mode, nlink, uid, gid, rdev;
    uint32_t flags;
    uint32_t born;  /* epoch in which it was made */
    uint32_t dirty; /* epoch in which its data last changed: counted in usage while that is the file system's */
    union {
        Dentry *entries; /* S_IFDIR */
        Str *target;     /* S_IFLNK */
        struct {         /* S_IFREG: one extent without a vector, or a vector */
            Chunk *chunk;
            size_t start;
            Extents *extents;
        };
        Lazy *lazy;      /* INODE_LAZY */
    };
} Inode;

/* The inode tree: a radix tree of 16-way branches; `height` levels of them above the inodes. */
enum { BRANCH_BITS = 4, BRANCH_SLOTS = 1 << BRANCH_BITS };
typedef struct Branch {
    Obj obj;
    void *slot[BRANCH_SLOTS]; /* Branch *, at the lowest level Inode * */
} Branch;

typedef struct Tree {
    void *top; /* Branch * */
    unsigned height;
    uint64_t count; /* inodes in it */
} Tree;

/* ---------- a file system ---------- */

typedef struct Link {
    struct Link *prev, *next;
} Link;

/* An inode that is open or held as a directory. While it is in the tree, the tree has it; when its last link went
 * or the tree was set back, `detached` has it. */
typedef struct Node {
    struct Node *next; /* in its bucket */
    uint64_t ino;
    uint32_t holders;
    bool was_detached; /* when a bind that may be undone began */
    Inode *detached;
} Node;

typedef struct Mount {
    uint64_t ino;        /* the inode of the memory tree that it covers, or, without ops, makes read-only from there down */
    struct Mount *outer; /* what that inode is in, or NULL */
    const VMountOps *ops;
    void *user;
    uint32_t dev;
    uint32_t holders;    /* handles and inner mounts: it is busy while there are any */
    bool readonly;
} Mount;

struct VDir {
    Link link;
    uint32_t refs;
    Node *node;      /* memory; NULL in a callback mount, and in the temporary one a guard sees */
    uint64_t ino;
    Mount *mount;
    const char *rel; /* in a callback mount: the path from its root, allocated with the VDir */
};

struct VFile {
    Link link;
    uint32_t refs;
    int flags;
    bool root;       /* opened by uid 0: writing does not take set-id bits away */
    Node *node;      /* memory */
    Mount *mount;
    void *handle;    /* callback mount */
};

enum { FIRST_BUCKETS = 16 };

struct Vfs {
    Gen *gen;
    Tree tree, base;
    uint64_t next_ino;
    uint64_t generation;
    uint64_t filled; /* counts directories that were read in: places found before may be old copies */
    uint32_t epoch; /* counts set_base: what changed since carries it */
    VUsage usage;
    VQuota quota;
    VClock clock;
    VGuard guard;
    void *context;
    Mount **mounts;
    uint32_t mount_count, next_dev;
    Link files, dirs;
    Node **buckets; /* first_buckets, or malloc'd */
    uint32_t bucket_count, node_count;
    Node *first_buckets[FIRST_BUCKETS];
};

/* Memory outside the generation, charged to the same budget. */
void *fs_alloc(Vfs *fs, size_t size);
void fs_free(Vfs *fs, void *p, size_t size);

static inline void link_init(Link *l) { l->prev = l->next = l; }
static inline void link_add(Link *ring, Link *l)
{
    l->next = ring->next;
    l->prev = ring;
    l->next->prev = l;
    ring->next = l;
}
static inline void link_remove(Link *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
}

/* A Mem given by a caller may raise on failure; inside the vfs it must return NULL instead. */
typedef struct {
    Mem *mem;
    void (*fail)(void *user);
} Quiet;
static inline Quiet mem_quiet(Mem *mem)
{
    Quiet q = {mem, mem->fail};
    mem->fail = NULL;
    return q;
}
static inline int mem_loud(Quiet q, int result)
{
    q.mem->fail = q.fail;
    return result;
}

/* ---------- inode.c ---------- */

Inode *inode_new(Vfs *fs, uint32_t mode, uint32_t uid, uint32_t gid); /* numbered, times now, no links, not in the tree */
void inode_unref(Gen *g, Inode *i);
Inode *inode_get(const Tree *t, uint64_t ino);
/* The inode of the tree made the caller's to change (with the way to it), or NULL: no memory, or not there. */
Inode *inode_own(Vfs *fs, uint64_t ino);
Inode *inode_own_at(Gen *g, Inode **at);
/* The empty place for `ino`; valid until the tree next changes. NULL: no memory. */
Inode **tree_reserve(Gen *g, Tree *t, uint64_t ino);
/* Takes an inode that is owned out of the tree, with the tree's reference. */
Inode *tree_take(Gen *g, Tree *t, uint64_t ino);
void tree_unref(Gen *g, Tree *t);
/* Calls fn for every inode that is not the same object in both trees (either may be NULL in a call), in number order. */
int tree_diff(const Tree *a, const Tree *b, int (*fn)(void *user, Inode *a, Inode *b), void *user);
void inode_touch(Vfs *fs, Inode *i, bool modified); /* ctime, and mtime when modified */
void inode_stat(const Inode *i, const Mount *m, VStat *out);

/* ---------- dirtree.c ---------- */

Dentry *dentry_new(Gen *g, Slice name, uint64_t ino, uint32_t mode);
static inline Slice dentry_name(const Dentry *d) { return (Slice){d->name, d->len}; }
Dentry *dir_find(const Dentry *root, Slice name);
/* Makes what inserting or removing `name` will touch the caller's. 0 or -ENOMEM. */
int dir_reserve(Gen *g, Dentry **root, Slice name);
void dir_insert(Dentry **root, Dentry *d);         /* reserved, and not there */
Dentry *dir_remove(Dentry **root, Slice name);     /* reserved, and there; its reference goes to the caller */
Dentry *dir_find_own(Dentry **root, Slice name);   /* reserved: may be changed in place */
void dentry_unref(Gen *g, Dentry *d);

/* In name order. The depth bound lies far above what seeded priorities give for any number of entries. */
typedef struct {
    const Dentry *stack[192];
    unsigned depth;
} DirCursor;
void cursor_init(DirCursor *c, const Dentry *root);
const Dentry *cursor_next(DirCursor *c);

/* ---------- data.c ---------- */

/* All on an owned inode; -ENOMEM leaves the file's bytes as they were. None looks at quotas. */
int data_write(Gen *g, Inode *i, uint64_t off, Slice s, Chunk *chunk);
int data_resize(Gen *g, Inode *i, uint64_t size);
void data_read(Gen *g, const Inode *i, uint64_t off, size_t max, char *scratch, Chunk **chunk, Slice *out);
void data_ref(Gen *g, Inode *i);   /* after the fields were copied */
void data_unref(Gen *g, Inode *i);
uint64_t data_blocks(const Inode *i);
bool data_check(const Inode *i);
/* Room for the file to become `size` bytes: 0, -EFBIG or -ENOSPC. quota_count: its data changed and its size was `before`. */
int quota_room(const Vfs *fs, const Inode *i, uint64_t size);
void quota_count(Vfs *fs, Inode *i, uint64_t before);

/* ---------- handle.c ---------- */

Node *node_hold(Vfs *fs, uint64_t ino);  /* NULL: no memory */
void node_release(Vfs *fs, Node *n);
Node *node_find(const Vfs *fs, uint64_t ino); /* of the tree */
Inode *node_inode(const Vfs *fs, const Node *n);
Inode *node_own(Vfs *fs, Node *n);
VFile *vfile_new(Vfs *fs, int flags);
void handles_free(Vfs *fs);
/* Adds what the detached inodes of `of` count to the usage of `to`, or takes it off (-1). */
void nodes_count(Vfs *to, const Vfs *of, int sign);
/* Remembers what has no link, and takes back what lost its last one since: the tree is again the one of then. */
void nodes_remember(Vfs *fs);
void nodes_take_back(Vfs *fs);
/* The last link of an inode (owned) went: out of the tree, to its node or away. */
void inode_drop(Vfs *fs, Inode *i);

/* ---------- path.c ---------- */

typedef struct {
    Mount *mount;
    const Inode *inode; /* NULL in a callback mount; valid until the tree changes */
    uint32_t mode, uid, gid;
} Place;

typedef enum { LAST_NAME, LAST_ROOT, LAST_DOT, LAST_DOTDOT } LastKind;

/* Where a path led. Large: one or two a call, on the stack, not initialised as a whole. */
typedef struct Path {
    Vfs *fs;
    const VCred *cred;
    Place dir;       /* LAST_NAME: the directory of `name` */
    Place at;        /* what is there, when found */
    Slice name;      /* last component; empty unless LAST_NAME */
    LastKind last;
    bool found;
    bool slash;      /* a slash came behind it */
    unsigned links;
    VStat stat;      /* of `at` in a callback mount */
    size_t dir_len;  /* of the directory's part of rel */
    size_t rel_len;
    char rel[PATH_SIZE];      /* in a callback mount: path of `at` from its root */
    char text[2 * PATH_SIZE]; /* what is left to resolve once a symlink was met */
} Path;

enum {
    PATH_FOLLOW = 1,
    PATH_ENTRY = 2, /* the entry itself is meant: a slash behind a symlink does not follow it */
    PATH_MUST = 4,  /* -ENOENT when missing */
    PATH_FILE = 8,  /* open with V_CREATE: a slash behind the last component is -EISDIR, whatever is there */
};
int path_resolve(Path *p, Vfs *fs, const VCred *c, VDir *at, const char *path, int flags);
/* A directory that was removed, or went when the tree was set back: nothing can be made in it. */
bool place_gone(const Vfs *fs, const Place *p);
bool may(const VCred *c, uint32_t mode, uint32_t uid, uint32_t gid, unsigned rwx);
static inline bool place_may(const VCred *c, const Place *p, unsigned rwx) { return may(c, p->mode, p->uid, p->gid, rwx); }
static inline bool place_callback(const Place *p) { return p->mount && p->mount->ops; }
static inline bool place_readonly(const Place *p) { return p->mount && p->mount->readonly; }
/* Write and search in the directory of a new or removed entry; read-only first, as Linux orders them. */
int path_may_change(const Path *p);
int path_stat(const Path *p, VStat *out);
/* Asks the guard, and tells it of what was done. */
int guard_ask(const Path *p, VOp op);
int guard_move(const Path *a, const Path *b);
void guard_tell(const Path *p, VOp op);
int inode_path(const Vfs *fs, const Inode *i, Buf *out);
int place_path(const Vfs *fs, const Place *p, const char *rel, size_t rel_len, Buf *out);
/* Makes every missing directory of an absolute path, as root. */
int path_make_parents(Vfs *fs, const char *path);
/* Whether a path, as far as it exists, leads into what callbacks serve: nothing can be covered there, and no parent is to be made. */
bool path_is_live(Vfs *fs, const char *path);

/* ---------- lazy.c ---------- */

static inline bool inode_lazy(const Inode *i) { return i->flags & INODE_LAZY; }
void lazy_unref(Gen *g, Lazy *l);
/* Reads the entries of a lazy directory into the tree, and into the base where that has it as lazy too. 0, or -errno: then it is as it was. */
int lazy_fill(Vfs *fs, uint64_t ino);
/* The same for what a place stands at; the place follows. */
int place_fill(Vfs *fs, Place *p);
/* A place found before something was read in: its inode as it is now. */
void place_refresh(const Vfs *fs, Place *p);
/* Brings the bytes of an owned lazy file into memory. */
int lazy_load(Vfs *fs, Inode *i);
/* What opening a lazy file for reading does: a host's file is looked at again, a callback's is loaded. */
int lazy_open(Vfs *fs, uint64_t ino);
/* Reads through to the host: a count, -EIO when the file is not what it was. */
ssize_t lazy_read(const Inode *i, uint64_t off, char *buf, size_t n);
/* A lazy inode of a host's tree, with a new reference to `hold`. NULL: no memory. */
/* An owned inode takes over what a fresh lazy one has, whose reference goes; a directory must be empty. */
void lazy_replace(Vfs *fs, Inode *i, Inode *lazy);
Inode *lazy_inode(Vfs *fs, Hold *hold, const HostTree *tree, const char *dir, Slice name, const VStat *st);

/* ---------- ops.c ---------- */

/* A new inode under p's name; the caller fills `inode`, whose reference is taken in any case. */
int entry_add(Path *p, Inode *inode);
/* A new entry's owner and mode: umask, and set-group-id from the directory. */
Inode *entry_inode(Path *p, uint32_t mode);

/* Takes everything below a directory away, whoever owns it. -ENOMEM: some of it is gone. */
int tree_empty(Vfs *fs, uint64_t ino);
/* Takes one entry away that has nothing below itself. */
int tree_drop(Vfs *fs, uint64_t dir, const Dentry *entry);
/* As vfs_changes, but what only times tell apart is modified too. */
int vfs_changes_exact(Vfs *fs, Mem *mem, VChange **out, size_t *count);
/* Whether two inodes are the same to vfs_changes. */
bool vfs_inodes_same(const Inode *a, const Inode *b);
/* The tree of an image, borrowed, in an otherwise empty Vfs. */
void vfs_image_tree(const VfsImage *image, Vfs *out);
/* fs takes over tree, base, usage and numbering of `from`; open files keep what they have open. */
void vfs_replace(Vfs *fs, Vfs *from);

/* ---------- mount.c ---------- */

Mount *mount_covering(const Vfs *fs, uint64_t ino); /* what is mounted on an inode of the memory tree, or NULL */
int mount_add(Vfs *fs, const Path *p, const VMountOps *ops, void *user, bool readonly);
/* The mount whose root a path led to, or NULL. */
Mount *mount_at(const Path *p);
void mount_remove(Vfs *fs, Mount *m); /* nobody holds it */
int mounts_fork(Vfs *to, const Vfs *from);
void mounts_free(Vfs *fs);

#endif
