/* mount: file systems and files that the embedder serves, over the kernel's questions. */
#include <stdlib.h>
#include <sys/stat.h>

#include "internal.h"
#include "lib/kernel/mount.h"

/* What shells share that were forked from one another. */
typedef struct {
    _Atomic uint32_t refs;
    shell_mount_ops ops;
    shell_lazy_fn read; /* of a lazy file */
    void (*release)(void *user);
    void *user;
} Host;

static void host_ref(void *user) { atomic_fetch_add_explicit(&((Host *)user)->refs, 1, memory_order_relaxed); }

static void host_unref(void *user)
{
    Host *h = user;
    if (atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (h->release)
        h->release(h->user);
    free(h);
}

static Host *host_new(void (*release)(void *user), void *user)
{
    Host *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    atomic_init(&h->refs, 1);
    h->release = release;
    h->user = user;
    return h;
}

/* ---------- answers ---------- */

uint64_t shell_mount_call_id(const shell_mount_call *call) { return ((const MountCall *)(const void *)call)->request.id; }

static int64_t floor_seconds(int64_t ns, uint32_t *rest)
{
    int64_t s = ns / 1000000000, r = ns % 1000000000;
    *rest = (uint32_t)(r < 0 ? r + 1000000000 : r);
    return r < 0 ? s - 1 : s;
}

shell_err shell_mount_reply_stat(shell_mount_call *call, const shell_stat_info *given)
{
    shell_stat_info st = {0};
    MountCall *c = (MountCall *)(void *)call;
    if (!c || !given || !api_copy_struct(&st, sizeof st, given) || c->op != MOUNT_STAT)
        return SHELL_EINVAL;
    uint32_t type = st.mode & S_IFMT;
    if (type != S_IFREG && type != S_IFDIR && type != S_IFLNK)
        return SHELL_EINVAL;
    VStat *v = &c->stat;
    *v = (VStat){.mode = type | (st.mode & 0777), .uid = st.uid ? st.uid : 1000, .gid = st.gid ? st.gid : 1000, .nlink = st.nlink ? st.nlink : 1,
                 .size = st.bytes, .blocks = st.bytes / 512 + (st.bytes % 512 != 0), .ino = st.ino ? st.ino : hash_bytes(c->path)};
    v->mtime = v->atime = floor_seconds(st.mtime_ns, &v->mtime_ns);
    v->ctime = v->btime = floor_seconds(st.ctime_ns ? st.ctime_ns : st.mtime_ns, &v->ctime_ns);
    v->atime_ns = v->mtime_ns;
    v->btime_ns = v->ctime_ns;
    return SHELL_OK;
}

static shell_err added(int r) { return r == 0 ? SHELL_OK : r == -ENOMEM ? SHELL_ENOMEM : SHELL_EFBIG; }

shell_err shell_mount_reply_entry(shell_mount_call *call, const char *name, uint64_t len, uint32_t type)
{
    MountCall *c = (MountCall *)(void *)call;
    type &= S_IFMT;
    if (!c || c->op != MOUNT_LIST || !name || !len || len > 255 || memchr(name, 0, (size_t)len) || memchr(name, '/', (size_t)len) ||
        (type != S_IFREG && type != S_IFDIR && type != S_IFLNK) || slice_is(slice(name, (size_t)len), ".") || slice_is(slice(name, (size_t)len), ".."))
        return SHELL_EINVAL;
    if (c->len > MOUNT_LIST_MOST)
        return SHELL_EFBIG;
    char entry[sizeof type + 256];
    memcpy(entry, &type, sizeof type);
    memcpy(entry + sizeof type, name, (size_t)len);
    entry[sizeof type + len] = 0;
    return added(mount_call_add(c, slice(entry, sizeof type + (size_t)len + 1)));
}

shell_err shell_mount_reply_data(shell_mount_call *call, const char *data, uint64_t len)
{
    MountCall *c = (MountCall *)(void *)call;
    if (!c || (!data && len) || (c->op != MOUNT_READ && c->op != MOUNT_READLINK && c->op != MOUNT_LOAD))
        return SHELL_EINVAL;
    uint64_t most = c->op == MOUNT_READ ? c->size : c->op == MOUNT_READLINK ? 4095 : UINT64_MAX / 2;
    if (len > most || c->len > most - len)
        return SHELL_EFBIG;
    return added(mount_call_add(c, slice(data, (size_t)len)));
}

/* ---------- questions ---------- */

static int64_t nanoseconds(VTime t)
{
    int64_t ns;
    if (t.how != VTIME_SET)
        return t.how == VTIME_NOW ? SHELL_MOUNT_TIME_NOW : SHELL_MOUNT_TIME_KEEP;
    return __builtin_mul_overflow(t.seconds, 1000000000, &ns) || __builtin_add_overflow(ns, t.nanosecond, &ns) ? 0 : ns;
}

static int32_t serve_look(const Host *h, MountCall *c, shell_mount_call *call)
{
    const shell_mount_ops *o = &h->ops;
    const char *path = c->path.data;
    switch (c->op) {
    case MOUNT_STAT: return o->stat(h->user, call, path, c->path.len);
    case MOUNT_LIST: return o->list(h->user, call, path, c->path.len);
    case MOUNT_READLINK: return o->readlink(h->user, call, path, c->path.len);
    case MOUNT_READ: return o->read(h->user, call, path, c->path.len, c->offset, c->size);
    case MOUNT_LOAD: return h->read(h->user, call);
    default: return SHELL_ENOTSUP;
    }
}

static int32_t serve_change(const Host *h, MountCall *c, shell_mount_call *call)
{
    const shell_mount_ops *o = &h->ops;
    const char *path = c->path.data;
    switch (c->op) {
    case MOUNT_CREATE: return o->create(h->user, call, path, c->path.len, c->mode);
    case MOUNT_WRITE: return o->write(h->user, call, path, c->path.len, c->offset, c->data.data, c->data.len);
    case MOUNT_TRUNCATE: return o->truncate(h->user, call, path, c->path.len, c->size);
    case MOUNT_MKDIR: return o->mkdir(h->user, call, path, c->path.len, c->mode);
    case MOUNT_REMOVE:
    case MOUNT_RMDIR: return o->remove(h->user, call, path, c->path.len, c->op == MOUNT_RMDIR);
    case MOUNT_RENAME: return o->rename(h->user, call, path, c->path.len, c->to.data, c->to.len, (int32_t)c->mode);
    case MOUNT_SYMLINK: return o->symlink(h->user, call, path, c->path.len, c->to.data, c->to.len);
    case MOUNT_CHMOD: return o->chmod(h->user, call, path, c->path.len, c->mode);
    case MOUNT_UTIMES: return o->utimes(h->user, call, path, c->path.len, nanoseconds(c->atime), nanoseconds(c->mtime));
    default: return SHELL_ENOTSUP;
    }
}

static int serve(void *user, MountCall *c)
{
    bool looks = c->op == MOUNT_STAT || c->op == MOUNT_LIST || c->op == MOUNT_READLINK || c->op == MOUNT_READ || c->op == MOUNT_LOAD;
    shell_mount_call *call = (shell_mount_call *)(void *)c;
    return api_errno(looks ? serve_look(user, c, call) : serve_change(user, c, call));
}

static const MountServer lazy_server = {.able = 1u << MOUNT_LOAD, .serve = serve, .error = api_errno, .ref = host_ref, .unref = host_unref};

/* One server a set of functions that there are: what is missing is refused without asking. */
typedef struct {
    Host host;
    MountServer server;
} MountHost;

static uint32_t able(const shell_mount_ops *o)
{
    const bool has[MOUNT_OP_COUNT] = {
        [MOUNT_STAT] = o->stat, [MOUNT_LIST] = o->list, [MOUNT_READLINK] = o->readlink, [MOUNT_CREATE] = o->create, [MOUNT_READ] = o->read,
        [MOUNT_WRITE] = o->write, [MOUNT_TRUNCATE] = o->truncate, [MOUNT_MKDIR] = o->mkdir, [MOUNT_REMOVE] = o->remove, [MOUNT_RMDIR] = o->remove,
        [MOUNT_RENAME] = o->rename, [MOUNT_SYMLINK] = o->symlink, [MOUNT_CHMOD] = o->chmod, [MOUNT_UTIMES] = o->utimes,
    };
    uint32_t bits = 0;
    for (uint32_t n = 0; n < MOUNT_OP_COUNT; n++)
        bits |= has[n] ? 1u << n : 0;
    return bits;
}

shell_err shell_mount(shell *sh, const char *destination, const shell_mount_ops *ops, void *user, uint32_t flags)
{
    shell_err err = destination && ops ? api_enter_idle(sh) : SHELL_EINVAL;
    if (err)
        return err;
    MountHost *m = calloc(1, sizeof *m);
    if (!m)
        return api_fail(sh, SHELL_ENOMEM, "out of memory");
    m->host.refs = 1;
    if (!api_copy_struct(&m->host.ops, sizeof m->host.ops, ops) || !m->host.ops.stat || !m->host.ops.list) {
        free(m);
        return api_fail(sh, SHELL_EINVAL, "mount: bad size, or stat or list is missing");
    }
    m->host.user = user;
    m->server = (MountServer){.able = able(&m->host.ops), .serve = serve, .error = api_errno, .ref = host_ref, .unref = host_unref};
    int e = api_mountable(destination);
    if (!e)
        e = kern_mount(sh->kernel, destination, &m->server, &m->host, flags & SHELL_MOUNT_READONLY);
    if (!e && bind_note(sh, BIND_CALLBACK, flags & SHELL_MOUNT_READONLY ? SHELL_BIND_READONLY : 0, destination) != SHELL_OK) {
        kern_unmount(sh->kernel, destination);
        e = -ENOMEM;
    }
    m->host.release = e ? NULL : m->host.ops.release; /* refused: the caller's user stays the caller's */
    host_unref(&m->host);
    return api_error(sh, e, destination);
}

shell_err shell_unmount(shell *sh, const char *destination)
{
    shell_err err = destination ? api_enter_idle(sh) : SHELL_EINVAL;
    if (err)
        return err;
    const BindNote *n = bind_noted(sh, destination);
    if (!n || n->mode != BIND_CALLBACK)
        return api_fail(sh, SHELL_ENOENT, "%s: nothing is mounted there", destination);
    int e = kern_unmount(sh->kernel, destination);
    if (!e)
        bind_forget(sh, destination);
    return api_error(sh, e, destination);
}

shell_err shell_lazy_file(shell *sh, const char *path, int64_t size, uint32_t mode, shell_lazy_fn read, void (*release)(void *user), void *user)
{
    shell_err err = path && read ? api_enter_idle(sh) : SHELL_EINVAL;
    if (err)
        return err;
    Host *h = host_new(NULL, user);
    if (!h)
        return api_fail(sh, SHELL_ENOMEM, "out of memory");
    h->read = read;
    int e = kern_lazy_file(sh->kernel, path, size < 0 ? 0 : (uint64_t)size, mode, &lazy_server, h);
    h->release = e ? NULL : release;
    host_unref(h);
    return api_error(sh, e, path);
}

/* ---------- serving ---------- */

struct MountCall *mount_take_late(shell *sh, uint64_t id)
{
    pthread_mutex_lock(&sh->forks);
    LateCall **at = &sh->late;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    LateCall *l = *at;
    if (l)
        *at = l->next;
    pthread_mutex_unlock(&sh->forks);
    MountCall *call = l ? l->call : NULL;
    free(l);
    return call;
}

void mount_let_go(struct MountCall *call) { mount_call_unref(call); }

static void late_remove(shell *sh, uint64_t id) { mount_let_go(mount_take_late(sh, id)); }

/* A call that is answered later is kept until then, whatever becomes of its process: a thread may be filling it. */
bool mount_serve(shell *sh, Request *r)
{
    MountCall *c = (MountCall *)(uintptr_t)r->ask;
    uint64_t id = r->id;
    if (c->op == MOUNT_QUESTION)
        return policy_serve(sh, r);
    LateCall *l = malloc(sizeof *l);
    if (!l) {
        kern_answer(sh->kernel, id, SHELL_ENOMEM);
        return true;
    }
    *l = (LateCall){NULL, c, id};
    pthread_mutex_lock(&sh->forks);
    l->next = sh->late;
    sh->late = l;
    pthread_mutex_unlock(&sh->forks);
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    sh->in_callback = true;
    bool answered = kern_mount_serve(sh->kernel, r);
    sh->in_callback = false;
    if (answered)
        late_remove(sh, id);
    return answered;
}

void mount_free_all(shell *sh)
{
    while (sh->late)
        late_remove(sh, sh->late->id);
}
