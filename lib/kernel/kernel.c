/* kernel: making, forking, freezing, resetting and freeing one. */
#include <stdlib.h>

#include "host.h"
#include "internal.h"
#include "policy.h"
#include "lib/base/host.h"
#include "mount.h"

enum { FIRST_PID = 1000, PID_STEP = 16, FILES_SLACK = 64 * 1024 * 1024 };

Vfs *kern_vfs(Kernel *k) { return k->vfs; }
Gen *kern_gen(Kernel *k) { return k->gen; }
Budget *kern_budget(Kernel *k) { return &k->memory; }
Mem *kern_mem(Kernel *k) { return &k->mem; }
const VCred *kern_cred(const Kernel *k) { return &k->cred; }
Proc *kern_main(Kernel *k) { return k->main; }
const LangOps *kern_lang(const Kernel *k) { return k->options.lang; }

static int64_t vfs_clock(void *user, uint32_t *nanosecond) { return kern_now(user, nanosecond); }

/* $$ differs between the live shells of one host process, and a seeded shell repeats its own. */
static pid_t first_pid(const KernelOptions *o)
{
    static _Atomic uint32_t shells;
    if (o->seeded)
        return FIRST_PID;
    return (pid_t)(FIRST_PID + atomic_fetch_add_explicit(&shells, 1, memory_order_relaxed) % 100000 * PID_STEP);
}

static uint64_t files_limit(const Limits *l)
{
    uint64_t files = l->value[LIMIT_FILE_BYTES];
    return files && files < UINT64_MAX / 4 ? files * 2 + FILES_SLACK : 0;
}

static Kernel *kern_alloc(const KernelOptions *o)
{
    Kernel *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->options = *o;
    k->cred = (VCred){o->uid, o->gid, o->umask};
    k->memory.limit = o->limits.value[LIMIT_MEMORY];
    k->files.limit = files_limit(&o->limits);
    mem_init(&k->mem, &k->memory, NULL, NULL);
    k->next_pid = first_pid(o);
    k->run.deadline_ns = -1;
    k->process = host_process();
    for (int i = 0; i < 2; i++) {
        k->sink[i].kernel = k;
        k->sink[i].stream = i + 1;
    }
    pthread_mutex_init(&k->lock, NULL);
    host_cond_init(&k->wake);
    return k;
}

static bool main_alloc(Kernel *k)
{
    Proc *p = k->main = proc_new(k);
    if (!p)
        return false;
    p->kernels_own = true;
    p->started = true;
    p->pgid = p->pid;
    p->cred = k->cred;
    p->name = "bash";
    p->fds = fds_new();
    return p->fds != NULL;
}

static void set_quota(Kernel *k)
{
    const uint64_t *v = k->options.limits.value;
    vfs_set_quota(k->vfs, (VQuota){v[LIMIT_FILE_BYTES], v[LIMIT_FILE_SIZE], v[LIMIT_INODES]});
    vfs_set_clock(k->vfs, (VClock){vfs_clock, k});
    vfs_set_context(k->vfs, k);
}

const Limits *kern_limits(const Kernel *k) { return &k->options.limits; }

void kern_set_limits(Kernel *k, const Limits *limits)
{
    k->options.limits = *limits;
    k->memory.limit = limits->value[LIMIT_MEMORY];
    k->files.limit = files_limit(limits);
    set_quota(k);
}

static bool enter_cwd(Kernel *k)
{
    const char *cwd = k->options.cwd ? k->options.cwd : "/";
    return vfs_dir_open(k->vfs, &k->cred, NULL, cwd, &k->main->cwd) == 0 || vfs_dir_open(k->vfs, &(VCred){0, 0, 0}, NULL, "/", &k->main->cwd) == 0;
}

Kernel *kern_new(const KernelOptions *o)
{
    Kernel *k = kern_alloc(o);
    if (!k)
        return NULL;
    k->gen = gen_new(&k->memory, &k->files, vfs_image_gen(o->image));
    k->vfs = k->gen ? vfs_from_image(o->image, k->gen) : NULL;
    if (!k->vfs || !main_alloc(k) || !enter_cwd(k)) {
        kern_free(k);
        return NULL;
    }
    set_quota(k);
    return k;
}

static void kill_leftovers(Kernel *k)
{
    Pending pending;
    k->run.jobs = JOBS_KILL;
    k->run.ending = k->run.active ? RAISE_CANCEL : RAISE_NONE;
    k->run.main_done = k->run.main_task == NULL;
    if (k->ntasks) {
        if (!k->run.active) {
            k->run.active = true;
            k->run.ending = RAISE_CANCEL;
        }
        atomic_store(&k->cancelled, true);
        tasks_wake_all(k);
        kern_step(k, &pending);
    }
}

/* Locks may be held by threads that are not here, and randomness must differ. */
bool kern_host_forked(Kernel *k)
{
    uint32_t now = host_process();
    if (likely(now == k->process))
        return false;
    k->process = now;
    pthread_mutex_init(&k->lock, NULL);
    host_cond_init(&k->wake);
    if (!k->options.seeded)
        memset(k->random, 0, sizeof k->random);
    return true;
}

void kern_abandon(Kernel *k)
{
    RunEnd end;
    Slice out, err;
    if (!k->run.active)
        return;
    k->run.io.on_output = NULL;
    k->run.io.read_input = NULL;
    kill_leftovers(k);
    kern_run_end(k, &end, &out, &err);
}

void kern_free(Kernel *k)
{
    if (!k)
        return;
    if (k->ntasks)
        kill_leftovers(k);
    proc_free_all(k);
    net_free(k);
    policy_free(k);
    for (int i = 0; i < 3; i++)
        file_unref(k, k->std[i]);
    fifo_drop_all(k);
    while (k->customs)
        kern_command_set(k, k->customs->name, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        free(k->sink[i].data);
        free(k->sink[i].pending);
    }
    if (k->options.event)
        events_deliver(k);
    if (k->regex)
        re_cache_free(k->regex);
    free(k->find_cache);
    if (k->vfs)
        vfs_free(k->vfs);
    gen_unref(k->gen);
    mem_drop(&k->mem);
    pthread_mutex_destroy(&k->lock);
    pthread_cond_destroy(&k->wake);
    free(k);
}

/* ---------- fork, freeze, reset ---------- */

/* k's generation closed and two fresh ones over it (or over its parent, when it holds nothing). False: no memory, nothing changed. */
static bool split_generation(Kernel *k, Kernel *other)
{
    bool clean = gen_clean(k->gen);
    Gen *below = clean ? gen_parent(k->gen) : k->gen;
    Gen *mine = clean ? gen_ref(k->gen) : gen_new(&k->memory, &k->files, below);
    Gen *theirs = mine ? gen_new(other ? &other->memory : NULL, other ? &other->files : NULL, below) : NULL;
    if (!theirs) {
        gen_unref(mine);
        return false;
    }
    if (!clean)
        gen_retire(k->gen);
    if (!clean)
        vfs_move_to(k->vfs, mine);
    gen_unref(k->gen);
    k->gen = mine;
    if (other)
        other->gen = theirs;
    else
        gen_unref(theirs);
    return true;
}

static File *fork_file(Kernel *to, const File *f)
{
    VFile *v = file_vfile(f);
    if (v) {
        VFile *copy = vfs_file_fork(to->vfs, v);
        File *g = copy ? file_from_vfile(to, copy, f->flags) : NULL;
        if (g)
            g->offset = f->offset;
        return g;
    }
    if (f->ops->read && f->ops->seek && !f->ops->write) /* bytes */
        return file_from_bytes(to, f->bytes.data, NULL);
    /* A pipe has no other end in the copy: it reads as ended. */
    return file_device(to, VDEV_NULL, f->flags);
}

static bool fork_descriptors(Kernel *to, Kernel *from)
{
    Proc *p = from->main;
    for (int fd = 2; (fd = proc_fd_next(p, fd)) >= 0;) {
        File *copy = fork_file(to, proc_file(p, fd));
        if (!copy || fds_put(to->main, fd, copy))
            return false;
    }
    return true;
}

static bool fork_tables(Kernel *to, const Kernel *from)
{
    for (const Custom *c = from->customs; c; c = c->next)
        if (kern_command_set(to, c->name, c->command, c->user))
            return false;
    for (const Component *c = from->components; c; c = c->next)
        if (kern_component_set(to, c->name, c->table, c->size))
            return false;
    return true;
}

Kernel *kern_fork(Kernel *k)
{
    Kernel *to = kern_alloc(&k->options);
    if (!to)
        return NULL;
    if (!main_alloc(to) || !split_generation(k, to)) {
        kern_free(to);
        return NULL;
    }
    to->vfs = vfs_fork(k->vfs, to->gen);
    to->main->cwd = to->vfs ? vfs_dir_fork(to->vfs, k->main->cwd) : NULL;
    to->main->cred = k->main->cred;
    to->virtual_ns = k->virtual_ns;
    if (to->options.seeded) /* else it is all zeros, and seeded when it is asked */
        memcpy(to->random, k->random, sizeof to->random);
    if (!to->main->cwd || !fork_descriptors(to, k) || !fork_tables(to, k) || net_fork(to, k) || policy_fork(to, k)) {
        kern_free(to);
        return NULL;
    }
    vfs_set_clock(to->vfs, (VClock){vfs_clock, to});
    vfs_set_context(to->vfs, to);
    kern_mounts_forked(to);
    return to;
}

VfsImage *kern_freeze(Kernel *k)
{
    if (!split_generation(k, NULL))
        return NULL;
    return vfs_freeze(k->vfs);
}

int kern_reset(Kernel *k)
{
    if (k->run.active)
        return -EBUSY;
    int err = vfs_to_base(k->vfs);
    if (err)
        return err;
    Proc *p = k->main;
    for (int fd = -1; (fd = proc_fd_next(p, fd)) >= 0;)
        fds_put(p, fd, NULL);
    vfs_dir_unref(k->vfs, p->cwd);
    p->cwd = NULL;
    p->cred = k->cred;
    k->virtual_ns = 0;
    if (k->options.seeded)
        kern_random_seed(k);
    return enter_cwd(k) ? 0 : -ENOMEM;
}
