/* host_tree: opening below a directory of the host, and looking. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "host.h"
#include "lib/base/guard.h"

#ifndef O_PATH
#define O_PATH O_RDONLY
#endif

enum { OPENAT2_RETRIES = 64, ALWAYS = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };

/* ---------- openat2 ---------- */

/* The C library has no wrapper, and its syscall() would let this library make any call there is. */
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
struct open_how {
    uint64_t flags, mode, resolve;
};
enum { NR_OPENAT2 = 437, NO_MAGICLINKS = 2, NO_SYMLINKS = 4, BENEATH = 8 };

static long openat2_call(int dir, const char *path, const struct open_how *how)
{
#if defined(__x86_64__)
    long r;
    register size_t size __asm__("r10") = sizeof *how;
    __asm__ volatile("syscall" : "=a"(r) : "a"((long)NR_OPENAT2), "D"((long)dir), "S"(path), "d"(how), "r"(size) : "rcx", "r11", "memory");
    return r;
#else
    register long x0 __asm__("x0") = dir;
    register const char *x1 __asm__("x1") = path;
    register const struct open_how *x2 __asm__("x2") = how;
    register size_t x3 __asm__("x3") = sizeof *how;
    register long x8 __asm__("x8") = NR_OPENAT2;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x8) : "memory");
    return x0;
#endif
}

static int open_at_once(int dir, const char *path, int flags)
{
    struct open_how how = {(uint64_t)(unsigned)flags, 0, GUARD(BIND_BENEATH, true) ? BENEATH | NO_MAGICLINKS | NO_SYMLINKS : 0};
    long r = -EAGAIN;
    /* EAGAIN: something was renamed meanwhile, and the kernel could not tell whether the path stayed below. */
    for (int n = 0; n < OPENAT2_RETRIES && (r == -EAGAIN || r == -EINTR); n++)
        r = openat2_call(dir, path, &how);
    return (int)r;
}
#else
static int open_at_once(int dir, const char *path, int flags)
{
    (void)dir, (void)path, (void)flags;
    return -ENOSYS;
}
#endif

/* ---------- component by component ---------- */

static int open_component(int dir, const char *name, int flags)
{
    int fd;
    do
        fd = openat(dir, name, GUARD(BIND_WALK, true) ? flags | ALWAYS : (flags | ALWAYS) & ~O_NOFOLLOW);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

static int open_walking(int dir, const char *path, int flags)
{
    char name[NAME_MAX + 1];
    int at = dir;
    for (;;) {
        size_t len = strcspn(path, "/");
        if (len > NAME_MAX)
            return -ENAMETOOLONG;
        memcpy(name, path, len);
        name[len] = 0;
        bool last = path[len] == 0;
        int fd = strcmp(name, "..") == 0 ? -EXDEV : open_component(at, name, last ? flags : O_PATH | O_DIRECTORY);
        if (at != dir)
            close(at);
        if (fd < 0 || last)
            return fd;
        at = fd;
        path += len + 1;
    }
}

static int open_below(const HostTree *t, const char *path, int flags)
{
    flags |= flags & O_PATH ? O_CLOEXEC | O_NOFOLLOW : ALWAYS; /* openat2 refuses what O_PATH has no use for */
    int fd = t->no_openat2 ? -ENOSYS : open_at_once(t->fd, path, flags);
    if (fd == -ENOSYS || fd == -EPERM) /* an old kernel, or a filter that does not know the call */
        fd = open_walking(t->fd, path, flags);
    return fd;
}

int host_open(const HostTree *t, const char *path, int flags)
{
    if (*path)
        return t->file ? -ENOTDIR : open_below(t, path, flags);
    return open_below(t, t->file ? t->file : ".", flags);
}

int host_open_parent(const HostTree *t, const char *path, const char **name)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!*path && !t->file)
        return -EBUSY; /* the tree's own top has no name here */
    *name = t->file ? t->file : slash ? slash + 1 : path;
    size_t len = slash ? (size_t)(slash - path) : 0;
    if (len >= sizeof dir)
        return -ENAMETOOLONG;
    memcpy(dir, path, len);
    dir[len] = 0;
    return open_below(t, len ? dir : ".", O_PATH | O_DIRECTORY);
}

void host_close(int fd) { close(fd); }

/* ---------- the tree itself ---------- */

static bool same_file(const struct stat *a, const struct stat *b) { return a->st_dev == b->st_dev && a->st_ino == b->st_ino; }

/* Whether the directory is /proc, /sys, /dev or below one of them (or / itself), by identity, whatever path led there. */
static bool forbidden(int dir, bool root_too)
{
    static const char *const tops[] = {"/proc", "/sys", "/dev"};
    struct stat root, here, above, top;
    if (stat("/", &root) != 0 || fstat(dir, &here) != 0 || (root_too && same_file(&root, &here)))
        return true;
    int fd = dir, levels = 0;
    bool bad = false;
    while (!bad && !same_file(&root, &here)) {
        for (size_t n = 0; n < ARRAY_LEN(tops); n++)
            bad = bad || (stat(tops[n], &top) == 0 && same_file(&top, &here));
        int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd != dir)
            close(fd);
        fd = up;
        bad = bad || up < 0 || fstat(up, &above) != 0 || same_file(&above, &here) || ++levels > PATH_MAX;
        here = above;
    }
    if (fd >= 0 && fd != dir)
        close(fd);
    return bad;
}

static HostTree *tree_refuse(HostTree *t, int error, const char *why, int *out, const char **message)
{
    host_tree_unref(t);
    *out = error;
    *message = why;
    return NULL;
}

/* Opens what `real`, an absolute path without symlinks, names: a directory, or the one that a file is in. */
static HostTree *tree_open(HostTree *t, const char *real, int *error, const char **message)
{
    struct stat st;
    if (stat(real, &st) != 0)
        return tree_refuse(t, -errno, "the source cannot be reached", error, message);
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return tree_refuse(t, -ENXIO, "the source is neither a directory nor a regular file", error, message);
    if (S_ISREG(st.st_mode)) {
        char *slash = strrchr(t->path, '/');
        *slash = 0;
        t->file = slash + 1;
    }
    t->fd = open(t->file && !*t->path ? "/" : t->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (t->fd < 0)
        return tree_refuse(t, -errno, "the source cannot be opened", error, message);
    if (GUARD(BIND_SYSTEM, forbidden(t->fd, !t->file)))
        return tree_refuse(t, -EACCES, "/, /proc, /sys and /dev cannot be bound", error, message);
    return t;
}

HostTree *host_tree_open(const VBind *bind, int *error, const char **message)
{
    char *real = realpath(bind->source, NULL);
    if (!real)
        return tree_refuse(NULL, -errno, "the source cannot be reached", error, message);
    size_t size = strlen(real) + 1;
    HostTree *t = malloc(sizeof *t + size);
    if (!t) {
        free(real);
        return tree_refuse(NULL, -ENOMEM, "out of memory", error, message);
    }
    *t = (HostTree){.holders = 1, .fd = -1, .write_linked = bind->write_linked, .no_openat2 = bind->no_openat2, .uid = bind->uid, .gid = bind->gid};
    memcpy(t->path, real, size);
    HostTree *opened = tree_open(t, real, error, message);
    free(real);
    return opened;
}

HostTree *host_tree_ref(HostTree *t)
{
    atomic_fetch_add_explicit(&t->holders, 1, memory_order_relaxed);
    return t;
}

void host_tree_unref(HostTree *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->holders, 1, memory_order_acq_rel) != 1)
        return;
    if (t->fd >= 0)
        close(t->fd);
    free(t);
}

bool host_tree_is_file(const HostTree *t) { return t->file != NULL; }

/* ---------- looking ---------- */

static void fill(const HostTree *t, const struct stat *st, VStat *out)
{
    *out = (VStat){
        .ino = st->st_ino, .dev = (uint32_t)st->st_dev, .mode = st->st_mode, .nlink = (uint32_t)st->st_nlink, .uid = t->uid, .gid = t->gid,
        .size = (uint64_t)st->st_size, .blocks = (uint64_t)st->st_blocks,
        .atime = st->st_atim.tv_sec, .mtime = st->st_mtim.tv_sec, .ctime = st->st_ctim.tv_sec, .btime = st->st_ctim.tv_sec,
        .atime_ns = (uint32_t)st->st_atim.tv_nsec, .mtime_ns = (uint32_t)st->st_mtim.tv_nsec,
        .ctime_ns = (uint32_t)st->st_ctim.tv_nsec, .btime_ns = (uint32_t)st->st_ctim.tv_nsec,
    };
}

int host_fstat(const HostTree *t, int fd, VStat *out)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -errno;
    fill(t, &st, out);
    return 0;
}

int host_stat(const HostTree *t, const char *path, VStat *out)
{
    int fd = host_open(t, path, O_PATH);
    if (fd < 0)
        return fd;
    int r = host_fstat(t, fd, out);
    close(fd);
    return r;
}

int host_readlink(const HostTree *t, const char *path, Mem *mem, Slice *out)
{
    char target[PATH_MAX];
    const char *name;
    int dir = host_open_parent(t, path, &name);
    if (dir < 0)
        return dir;
    ssize_t n = readlinkat(dir, name, target, sizeof target);
    int r = n < 0 ? -errno : 0;
    close(dir);
    if (r)
        return r;
    *out = slice(mem_copy(mem, slice(target, (size_t)n)), (size_t)n);
    return out->data ? 0 : -ENOMEM;
}

static uint32_t entry_type(int dir, const struct dirent *d)
{
    struct stat st;
    if (d->d_type != DT_UNKNOWN)
        return (uint32_t)d->d_type << 12;
    return fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode & S_IFMT : S_IFREG;
}

static int read_names(DIR *dir, Mem *mem, VDirent **list, size_t *count)
{
    size_t cap = 0;
    *list = NULL;
    *count = 0;
    for (struct dirent *d; errno = 0, (d = readdir(dir));) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (*count == cap) {
            size_t more = cap ? cap * 2 : 32;
            VDirent *grown = mem_grow(mem, *list, cap * sizeof **list, more * sizeof **list);
            if (!grown)
                return -ENOMEM;
            *list = grown;
            cap = more;
        }
        size_t len = strlen(d->d_name);
        char *name = mem_copy(mem, slice(d->d_name, len));
        if (!name)
            return -ENOMEM;
        (*list)[(*count)++] = (VDirent){{name, len}, d->d_ino, entry_type(dirfd(dir), d)};
    }
    return -errno;
}

int host_list(const HostTree *t, const char *path, Mem *mem, VDirent **out, size_t *count)
{
    int fd = host_open(t, path, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fd;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        int r = -errno;
        close(fd);
        return r;
    }
    int r = read_names(dir, mem, out, count);
    closedir(dir);
    return r ? r : vfs_sort_entries(mem, *out, *count);
}

ssize_t host_pread(int fd, char *buf, size_t n, uint64_t off)
{
    ssize_t r;
    do
        r = pread(fd, buf, n, (off_t)off);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r;
}

int host_read_all(Gen *g, int fd, uint64_t size, Chunk **out, uint64_t *len)
{
    if (size > SIZE_MAX / 2)
        return -EFBIG;
    Chunk *c = chunk_new(g, (size_t)size);
    *len = 0;
    while (c) {
        if (*len == c->cap) {
            char one;
            ssize_t more = host_pread(fd, &one, 1, *len);
            if (more <= 0)
                break;
            Chunk *grown = chunk_resize(g, c, c->cap + c->cap / 2 + 4096);
            if (!grown) {
                chunk_unref(g, c);
                return -ENOMEM;
            }
            c = grown;
        }
        ssize_t n = host_pread(fd, c->data + *len, c->cap - (size_t)*len, *len);
        if (n < 0) {
            chunk_unref(g, c);
            return (int)n;
        }
        if (n == 0)
            break;
        *len += (uint64_t)n;
    }
    *out = c;
    return c ? 0 : -ENOMEM;
}

/* ---------- a directory with what is in it ---------- */

static int look_at(const HostTree *t, int dir, const char *name, Mem *mem, HostEntry *e)
{
    struct stat st;
    char target[PATH_MAX];
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return -errno;
    fill(t, &st, &e->stat);
    if (!S_ISLNK(st.st_mode))
        return S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? 0 : -ENXIO;
    ssize_t n = readlinkat(dir, name, target, sizeof target);
    if (n <= 0)
        return n ? -errno : -ENOENT;
    e->target = slice(mem_copy(mem, slice(target, (size_t)n)), (size_t)n);
    return e->target.data ? 0 : -ENOMEM;
}

/* What goes away between being listed and being looked at is not there. */
int host_scan(const HostTree *t, const char *path, Mem *mem, HostEntry **out, size_t *count)
{
    VDirent *names;
    size_t total;
    int r = host_list(t, path, mem, &names, &total);
    int dir = r ? r : host_open(t, path, O_PATH | O_DIRECTORY);
    *count = 0;
    *out = dir < 0 ? NULL : mem_array(mem, total, HostEntry);
    if (dir < 0 || !*out) {
        if (dir >= 0)
            close(dir);
        return dir < 0 ? dir : -ENOMEM;
    }
    for (size_t n = 0; n < total && r != -ENOMEM; n++) {
        HostEntry *e = &(*out)[*count];
        *e = (HostEntry){.name = names[n].name};
        r = look_at(t, dir, names[n].name.data, mem, e);
        *count += r == 0;
    }
    close(dir);
    return r == -ENOMEM ? r : 0;
}
