/* mount: what the embedder serves; see mount.h. */
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"
#include "mount.h"

typedef struct Served {
    Kernel *kernel;
    const MountServer *server;
    void *user;
} Served;

/* An open file: a name, for a server knows nothing else. */
typedef struct {
    VStat opened;  /* what opening found, good for one look */
    bool fresh;
    char path[];
} ServedFile;

/* ---------- questions ---------- */

static MountCall *call_new(const MountCall *q)
{
    size_t size;
    if (!size_add(sizeof *q + 3, q->path.len, &size) || !size_add(size, q->to.len, &size) || !size_add(size, q->data.len, &size))
        return NULL;
    MountCall *c = malloc(size);
    if (!c)
        return NULL;
    *c = *q;
    atomic_init(&c->refs, 1);
    char *at = (char *)(c + 1);
    Slice *parts[] = {&c->path, &c->to, &c->data};
    for (size_t n = 0; n < ARRAY_LEN(parts); n++) {
        if (parts[n]->len)
            memcpy(at, parts[n]->data, parts[n]->len);
        at[parts[n]->len] = 0;
        parts[n]->data = at;
        at += parts[n]->len + 1;
    }
    return c;
}

void mount_call_unref(MountCall *c)
{
    if (!c || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1)
        return;
    free(c->bytes);
    free(c);
}

int mount_call_add(MountCall *c, Slice bytes)
{
    size_t need;
    if (!size_add(c->len, bytes.len, &need))
        return -EFBIG;
    if (need > c->cap) {
        size_t cap = MAX(need, MIN(c->cap, SIZE_MAX / 2) * 2);
        char *moved = realloc(c->bytes, cap);
        if (!moved)
            return -ENOMEM;
        c->bytes = moved;
        c->cap = cap;
    }
    if (bytes.len)
        memcpy(c->bytes + c->len, bytes.data, bytes.len);
    c->len = need;
    return 0;
}

static bool same_question(const MountCall *a, const MountCall *b)
{
    return a->op == b->op && a->server == b->server && a->user == b->user && a->mode == b->mode && a->offset == b->offset && a->size == b->size &&
           slice_eq(a->path, b->path) && slice_eq(a->to, b->to) && slice_eq(a->data, b->data);
}

/* Outside a run, or for a callback that looks into its own shell: at once. The call lives as long as the operation's caller needs. */
static int serve_now(MountCall *c)
{
    int r = c->server->serve(c->user, c);
    c->answered = true;
    c->result = r;
    return r;
}

/* The answer to `q`: *out owns a reference. 0 or what the server said, or -EINPROGRESS. */
static int ask(Kernel *k, const MountCall *q, MountCall **out)
{
    *out = NULL;
    if (!(q->server->able >> q->op & 1))
        return q->op == MOUNT_LIST || q->op == MOUNT_READ || q->op == MOUNT_STAT ? -EIO : q->op == MOUNT_READLINK ? -EINVAL : -EPERM;
    Asking *a = k->current ? k->asking : NULL;
    for (MountCall *c = a ? a->log : NULL; c; c = c->next)
        if (c->answered && same_question(c, q)) {
            atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
            *out = c;
            return c->result;
        }
    if (k->current && !a)
        return -EIO; /* nobody would repeat the call */
    MountCall *c = call_new(q);
    if (!c)
        return -ENOMEM;
    if (!a) {
        int r = serve_now(c);
        *out = c;
        return r;
    }
    mount_call_unref(a->open);
    a->open = c;
    return -EINPROGRESS;
}

static int ask_plain(Kernel *k, const MountCall *q)
{
    MountCall *c;
    int r = ask(k, q, &c);
    mount_call_unref(c);
    return r;
}

int mount_question(Kernel *k, const MountServer *s, void *user, uint32_t kind, Slice subject)
{
    MountCall *c, q = {.server = s, .user = user, .op = MOUNT_QUESTION, .mode = kind, .path = subject};
    int r = ask(k, &q, &c);
    if (r && r != -EINPROGRESS && r != -ENOMEM)
        r = -EACCES;
    if (r == -EACCES && c) {
        char text[512];
        snprintf(text, sizeof text, "libshell: %.*s: refused by policy%s%.*s\n", (int)MIN(subject.len, (size_t)200), subject.data, c->len ? ": " : "", (int)MIN(c->len, (size_t)200),
                 c->bytes ? c->bytes : "");
        sink_message(&k->sink[k->run.io.merge_output ? 0 : 1], text);
    }
    mount_call_unref(c);
    return r;
}

/* ---------- waiting ---------- */

Asking **kern_asking(Kernel *k) { return &k->asking; }

static void release_call(Proc *p, void *thing)
{
    (void)p;
    mount_call_unref(thing);
}

bool ask_wait(Proc *p, Asking *a, File *f)
{
    Kernel *k = p->kernel;
    MountCall *c = a->open;
    if (!c)
        return false;
    a->open = NULL;
    k->asking = NULL; /* others run now; and if this raises, nobody asks */
    if (f)
        file_own(p, file_ref(f));
    proc_own(p, release_call, c);
    c->request = (Request){.kind = REQUEST_MOUNT, .ask = c};
    int r = proc_request(p, &c->request);
    c->result = c->served_now ? r : c->server->error(r);
    c->answered = true;
    c->next = a->log;
    a->log = c;
    if (f) {
        file_disown(p, f);
        file_unref(k, f);
    }
    k->asking = a;
    return true;
}

void ask_end(Proc *p, Asking *a)
{
    mount_call_unref(a->open);
    while (unlikely(a->log != NULL)) {
        MountCall *c = a->log;
        a->log = c->next;
        proc_disown(p, c);
    }
    p->kernel->asking = a->outer;
}

bool kern_mount_serve(Kernel *k, Request *r)
{
    MountCall *c = (MountCall *)(uintptr_t)r->ask;
    uint64_t id = r->id;
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    int result = c->server->serve(c->user, c);
    if (result != -EAGAIN) {
        c->served_now = true;
        kern_answer(k, id, result);
    }
    mount_call_unref(c);
    return result != -EAGAIN;
}

/* ---------- the vfs's calls as questions ---------- */

static MountCall question(const Served *s, MountOp op, const char *path)
{
    return (MountCall){.server = s->server, .user = s->user, .op = op, .path = slice_str(path)};
}

static int served_stat(void *user, const char *path, VStat *out)
{
    const Served *s = user;
    MountCall q = question(s, MOUNT_STAT, path), *c;
    int r = ask(s->kernel, &q, &c);
    if (r == 0)
        *out = c->stat;
    mount_call_unref(c);
    return r;
}

static int list_entries(const MountCall *c, Mem *mem, VDirent **out, size_t *count)
{
    size_t n = 0, at;
    for (at = 0; at < c->len; at += sizeof(uint32_t) + strlen(c->bytes + at + sizeof(uint32_t)) + 1)
        n++;
    *out = mem_array(mem, n, VDirent);
    *count = n;
    if (!*out)
        return -ENOMEM;
    at = 0;
    for (n = 0; n < *count; n++) {
        VDirent *d = &(*out)[n];
        memcpy(&d->type, c->bytes + at, sizeof d->type);
        Slice name = slice_str(c->bytes + at + sizeof(uint32_t));
        d->name = slice(mem_copy(mem, name), name.len);
        d->ino = hash_bytes(name);
        if (!d->name.data)
            return -ENOMEM;
        at += sizeof(uint32_t) + name.len + 1;
    }
    return 0;
}

static int served_list(void *user, const char *path, Mem *mem, VDirent **out, size_t *count)
{
    const Served *s = user;
    MountCall q = question(s, MOUNT_LIST, path), *c;
    int r = ask(s->kernel, &q, &c);
    if (r == 0)
        r = list_entries(c, mem, out, count);
    if (r == 0)
        r = vfs_sort_entries(mem, *out, *count);
    mount_call_unref(c);
    return r;
}

static int served_readlink(void *user, const char *path, Mem *mem, Slice *out)
{
    const Served *s = user;
    MountCall q = question(s, MOUNT_READLINK, path), *c;
    int r = ask(s->kernel, &q, &c);
    if (r == 0) {
        *out = slice(mem_copy(mem, slice(c->bytes, c->len)), c->len);
        r = out->data ? 0 : -ENOMEM;
    }
    mount_call_unref(c);
    return r;
}

static int served_mode(void *user, MountOp op, const char *path, uint32_t mode)
{
    const Served *s = user;
    MountCall q = question(s, op, path);
    q.mode = mode;
    return ask_plain(s->kernel, &q);
}

static int cut(const Served *s, const char *path, uint64_t size)
{
    MountCall q = question(s, MOUNT_TRUNCATE, path);
    q.size = size;
    return ask_plain(s->kernel, &q);
}

/* Nothing is kept before the last question was answered: the call is repeated. */
static int served_open(void *user, const char *path, int flags, uint32_t mode, void **file)
{
    const Served *s = user;
    VStat st = {0};
    int r = served_stat(user, path, &st);
    bool created = r == -ENOENT && (flags & V_CREATE);
    if (created)
        r = served_mode(user, MOUNT_CREATE, path, mode);
    else if (r == 0 && (flags & V_TRUNC) && st.size)
        r = cut(s, path, 0);
    if (r)
        return r;
    size_t n = strlen(path) + 1;
    ServedFile *f = malloc(sizeof *f + n);
    if (!f)
        return -ENOMEM;
    memcpy(f->path, path, n);
    f->opened = st;
    if (flags & V_TRUNC)
        f->opened.size = f->opened.blocks = 0;
    f->fresh = !created;
    *file = f;
    return 0;
}

static void served_close(void *user, void *file)
{
    (void)user;
    free(file);
}

static int served_dup(void *user, void *file, void **copy)
{
    const ServedFile *f = file;
    size_t size = sizeof *f + strlen(f->path) + 1;
    ServedFile *made = malloc(size);
    (void)user;
    if (!made)
        return -ENOMEM;
    memcpy(made, f, size);
    made->fresh = false;
    *copy = made;
    return 0;
}

static int served_fstat(void *user, void *file, VStat *out)
{
    ServedFile *f = file;
    if (!f->fresh)
        return served_stat(user, f->path, out);
    *out = f->opened;
    f->fresh = false;
    return 0;
}

static ssize_t served_read(void *user, void *file, uint64_t off, char *buf, size_t n)
{
    const Served *s = user;
    MountCall q = question(s, MOUNT_READ, ((ServedFile *)file)->path), *c;
    q.offset = off;
    q.size = n;
    int r = ask(s->kernel, &q, &c);
    size_t got = r ? 0 : MIN(c->len, n);
    if (got)
        memcpy(buf, c->bytes, got);
    mount_call_unref(c);
    return r ? r : (ssize_t)got;
}

static ssize_t served_write(void *user, void *file, uint64_t off, Slice data)
{
    const Served *s = user;
    ServedFile *f = file;
    MountCall q = question(s, MOUNT_WRITE, f->path);
    q.offset = off;
    q.size = data.len;
    q.data = data;
    f->fresh = false;
    int r = ask_plain(s->kernel, &q);
    return r ? r : (ssize_t)data.len;
}

static int served_truncate(void *user, void *file, uint64_t size)
{
    ServedFile *f = file;
    f->fresh = false;
    return cut(user, f->path, size);
}

static int served_mkdir(void *user, const char *path, uint32_t mode) { return served_mode(user, MOUNT_MKDIR, path, mode); }
static int served_remove(void *user, const char *path, bool directory) { return served_mode(user, directory ? MOUNT_RMDIR : MOUNT_REMOVE, path, 0); }
static int served_chmod(void *user, const char *path, uint32_t mode) { return served_mode(user, MOUNT_CHMOD, path, mode); }

static int served_to(const Served *s, MountOp op, const char *path, const char *to, uint32_t mode)
{
    MountCall q = question(s, op, path);
    q.to = slice_str(to);
    q.mode = mode;
    return ask_plain(s->kernel, &q);
}

static int served_rename(void *user, const char *from, const char *to, bool no_replace) { return served_to(user, MOUNT_RENAME, from, to, no_replace); }
static int served_symlink(void *user, const char *target, const char *path) { return served_to(user, MOUNT_SYMLINK, path, target, 0); }

static int served_utimes(void *user, const char *path, VTime atime, VTime mtime)
{
    const Served *s = user;
    MountCall q = question(s, MOUNT_UTIMES, path);
    q.atime = atime;
    q.mtime = mtime;
    return ask_plain(s->kernel, &q);
}

/* An open file is a name to its server. */
static int served_fchmod(void *user, void *file, uint32_t mode) { return served_chmod(user, ((const ServedFile *)file)->path, mode); }
static int served_futimes(void *user, void *file, VTime atime, VTime mtime) { return served_utimes(user, ((const ServedFile *)file)->path, atime, mtime); }

static void *served_ref(void *user)
{
    const Served *s = user;
    Served *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *s;
    s->server->ref(s->user);
    return copy;
}

static void served_unref(void *user)
{
    Served *s = user;
    s->server->unref(s->user);
    free(s);
}

static const VMountOps served_ops = {
    .stat = served_stat, .list = served_list, .readlink = served_readlink, .open = served_open, .close = served_close, .dup = served_dup, .fstat = served_fstat,
    .read = served_read, .write = served_write, .truncate = served_truncate, .mkdir = served_mkdir, .remove = served_remove,
    .rename = served_rename, .symlink = served_symlink, .chmod = served_chmod, .utimes = served_utimes, .fchmod = served_fchmod, .futimes = served_futimes, .ref = served_ref, .unref = served_unref,
};

int kern_mount(Kernel *k, const char *destination, const MountServer *server, void *user, bool readonly)
{
    Served *s = malloc(sizeof *s);
    if (!s)
        return -ENOMEM;
    *s = (Served){k, server, user};
    server->ref(user);
    int r = vfs_mount_live(k->vfs, destination, &served_ops, s, readonly);
    if (r)
        served_unref(s);
    return r;
}

int kern_unmount(Kernel *k, const char *destination) { return vfs_unmount(k->vfs, destination); }

static void adopt(void *user, void *kernel) { ((Served *)user)->kernel = kernel; }
void kern_mounts_forked(Kernel *to) { vfs_each_mount(to->vfs, &served_ops, adopt, to); }

/* ---------- lazy files ---------- */

static int lazy_load(void *user, void *context, char **data, size_t *len)
{
    const Served *s = user;
    MountCall q = {.server = s->server, .user = s->user, .op = MOUNT_LOAD}, *c;
    int r = ask(context, &q, &c);
    if (r == 0) {
        *data = c->bytes;
        *len = c->len;
        c->bytes = NULL; /* whoever asks again asks the host again */
        c->len = c->cap = 0;
    }
    mount_call_unref(c);
    return r;
}

static void lazy_ref(void *user) { (void)user; }

static const VLazyOps lazy_ops = {.load = lazy_load, .ref = lazy_ref, .unref = served_unref};

int kern_lazy_file(Kernel *k, const char *path, uint64_t size, uint32_t mode, const MountServer *server, void *user)
{
    Served *s = malloc(sizeof *s);
    if (!s)
        return -ENOMEM;
    *s = (Served){k, server, user};
    int r = vfs_lazy_file(k->vfs, &k->main->cred, k->main->cwd, path, size, mode, &lazy_ops, s);
    if (r)
        free(s);
    else
        server->ref(user);
    return r;
}
