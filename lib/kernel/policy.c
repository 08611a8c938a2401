/* policy: rules over commands and files; see policy.h. */
#include "policy.h"

#include <stdio.h>

#include "internal.h"
#include "lib/base/guard.h"

/* ---------- patterns ---------- */

/* The next component of *path, which loses it; false at the end. Empty ones do not count. */
static bool next_component(Slice *path, Slice *component)
{
    while (path->len && path->data[0] == '/')
        *path = slice_from(*path, 1);
    if (!path->len)
        return false;
    size_t n = slice_find(*path, '/');
    *component = slice(path->data, n);
    *path = slice_from(*path, n);
    return true;
}

int path_pattern_parse(Mem *m, Slice text, PathPattern *out)
{
    Slice component;
    if (!text.len || text.data[0] != '/')
        return -EINVAL;
    *out = (PathPattern){.part = mem_alloc_array(m, PATTERN_PARTS, sizeof(Pat *))};
    if (!out->part)
        return -ENOMEM;
    while (next_component(&text, &component)) {
        if (out->n == PATTERN_PARTS || slice_is(component, "..") || slice_is(component, "."))
            return -EINVAL;
        const Pat *pat = slice_is(component, "**") ? NULL : pat_compile(m, component, PAT_PATHNAME);
        if (!pat && !slice_is(component, "**"))
            return -ENOMEM;
        out->part[out->n++] = pat;
    }
    return 0;
}

/* ** stands for no component too: what is before it may be behind it. */
static uint64_t skip_stars(const PathPattern *p, uint64_t at)
{
    for (size_t i = 0; i < p->n; i++)
        if ((at >> i & 1) && !p->part[i])
            at |= UINT64_C(1) << (i + 1);
    return at;
}

uint64_t path_pattern_start(const PathPattern *p) { return skip_stars(p, 1); }

uint64_t path_pattern_step(const PathPattern *p, uint64_t at, Slice component)
{
    uint64_t next = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!(at >> i & 1))
            continue;
        if (!p->part[i])
            next |= UINT64_C(1) << i;
        else if (pat_match(NULL, p->part[i], component))
            next |= UINT64_C(1) << (i + 1);
    }
    return skip_stars(p, next);
}

uint64_t path_pattern_walk(const PathPattern *p, Slice path)
{
    uint64_t at = path_pattern_start(p);
    for (Slice component; at && next_component(&path, &component);)
        at = path_pattern_step(p, at, component);
    return at;
}

/* ---------- file rules ---------- */

/* Refused by a rule that denies it, or for want of one that allows it where rules of that kind speak of the operation. */
bool policy_allows_file(const Policy *p, VOp op, Slice path)
{
    bool listed = false, allowed = false;
    for (size_t i = 0; i < p->nrules; i++) {
        const FileRule *r = &p->rules[i];
        if (!(r->operations >> op & 1))
            continue;
        bool here = path_pattern_ended(&r->pattern, path_pattern_walk(&r->pattern, path));
        if (GUARD(FILE_DENY, r->deny && here))
            return false;
        listed |= !r->deny;
        allowed |= !r->deny && here;
    }
    return !GUARD(FILE_ALLOW, listed && !allowed);
}

/* Everything that the pattern matches below `a` it matches below `b`: enough that every position reached by a is reached by b. */
static bool covers(const PathPattern *p, Slice a, Slice b)
{
    return (path_pattern_walk(p, a) & ~path_pattern_walk(p, b)) == 0;
}

bool policy_escapes(const Policy *p, Slice from, Slice to, bool directory)
{
    for (int op = VOP_READ; op <= VOP_CHMOD; op++)
        if (GUARD(FILE_MOVE, policy_allows_file(p, (VOp)op, to) && !policy_allows_file(p, (VOp)op, from)))
            return true;
    for (size_t i = 0; directory && i < p->nrules; i++) {
        const FileRule *r = &p->rules[i];
        bool kept = r->deny ? covers(&r->pattern, from, to) : covers(&r->pattern, to, from);
        if (GUARD(FILE_MOVE_BELOW, !kept))
            return true;
    }
    return false;
}

/* ---------- what the file system asks ---------- */

static int full_path(Kernel *k, VDir *dir, Slice name, Mem *m, Slice *out)
{
    char *path;
    int err = vfs_dir_path(k->vfs, dir, m, &path);
    if (err || !name.len) {
        *out = err ? slice(NULL, 0) : slice_str(path);
        return err;
    }
    char *joined = mem_printf(m, "%s%s%.*s", path, path[1] ? "/" : "", (int)name.len, name.data);
    *out = joined ? slice_str(joined) : slice(NULL, 0);
    return joined ? 0 : -ENOMEM;
}

static bool below(Slice path, Slice dir)
{
    return slice_starts(path, dir) && (path.len == dir.len || path.data[dir.len] == '/' || dir.len == 1);
}

static bool in_scratch(const Policy *p, Slice path)
{
    for (size_t i = 0; i < p->nscratch; i++)
        if (below(path, p->scratch[i]))
            return true;
    return false;
}

static int answer_error(int result) { return result ? -EACCES : 0; }
static int never(void *user, MountCall *c)
{
    (void)user;
    (void)c;
    return -EACCES;
}

static const MountServer embedder = {.able = UINT32_C(1) << MOUNT_QUESTION, .serve = never, .error = answer_error};

static int question(Kernel *k, PolicyAsk ask, Slice subject)
{
    int err = mount_question(k, &embedder, k, (uint32_t)ask, subject);
    if (err == -EACCES)
        kern_event(k, EVENT_REFUSAL, 0, subject.data, "policy", (int)ask);
    return err;
}

static bool asks(const Policy *p, PolicyAsk ask) { return p->asks >> ask & 1; }

static int ask_about(Kernel *k, const Policy *p, VOp op, VDir *dir, Slice path)
{
    bool scratch = in_scratch(p, path);
    if (op == VOP_DELETE && asks(p, ASK_DELETE) && !scratch)
        return question(k, ASK_DELETE, path);
    if (op == VOP_WRITE && asks(p, ASK_OVERWRITE) && !scratch)
        return question(k, ASK_OVERWRITE, path);
    if (op >= VOP_WRITE && asks(p, ASK_DIRECT_WRITE) && vfs_dir_direct(dir))
        return question(k, ASK_DIRECT_WRITE, path);
    return 0;
}

/* Devices answer to no rule: a script that may not write files may still write to /dev/null. */
static bool is_device(Slice path, VOp op) { return (op == VOP_READ || op == VOP_WRITE) && below(path, SLICE("/dev")); }

static int check(void *user, VOp op, VDir *dir, Slice name)
{
    Kernel *k = user;
    const Policy *p = k->policy;
    if (!p || !k->current)
        return 0;
    Mem m;
    Slice path;
    mem_init(&m, NULL, NULL, NULL);
    int err = full_path(k, dir, name, &m, &path);
    if (!err && !is_device(path, op)) {
        if (!policy_allows_file(p, op, path)) {
            kern_event(k, EVENT_REFUSAL, 0, path.data, "file", (int)op);
            err = -EACCES;
        } else {
            err = ask_about(k, p, op, dir, path);
        }
    }
    mem_drop(&m);
    return err == -ENOENT ? -EACCES : err; /* a place without a name answers to no rule that allows */
}

static int check_move(void *user, VDir *dir, Slice name, VDir *to, Slice to_name, bool directory)
{
    Kernel *k = user;
    const Policy *p = k->policy;
    if (!p || !k->current || !p->nrules)
        return 0;
    Mem m;
    Slice a, b;
    mem_init(&m, NULL, NULL, NULL);
    int err = full_path(k, dir, name, &m, &a);
    err = err ? err : full_path(k, to, to_name, &m, &b);
    if (!err && policy_escapes(p, a, b, directory)) {
        kern_event(k, EVENT_REFUSAL, 0, a.data, "move", 0);
        err = -EACCES;
    }
    mem_drop(&m);
    return err;
}

static void changed(void *user, VOp op, VDir *dir, Slice name)
{
    static const char *const words[] = {"read", "list", "write", "create", "delete", "chmod"};
    Kernel *k = user;
    if (!k->current || !k->options.event)
        return;
    Mem m;
    Slice path;
    mem_init(&m, NULL, NULL, NULL);
    if (full_path(k, dir, name, &m, &path) == 0)
        kern_event(k, EVENT_FILE_CHANGE, k->current->top->pid, path.data, words[op], 0);
    mem_drop(&m);
}

/* ---------- commands ---------- */

static bool listed(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

bool proc_policy_allows(Proc *p, const char *name, bool program)
{
    Kernel *k = p->kernel;
    const Policy *policy = k->policy;
    bool refused = GUARD(COMMAND_DENY, listed(policy->deny, policy->ndeny, name));
    refused |= GUARD(COMMAND_ALLOW, program && policy->allow && !listed(policy->allow, policy->nallow, name));
    if (refused)
        kern_event(k, EVENT_REFUSAL, p->pid, name, "command", 0);
    if (refused || !asks(policy, ASK_COMMAND) || !listed(policy->ask_commands, policy->nask, name))
        return !refused;
    return ASK(p, question(k, ASK_COMMAND, slice_str(name))) == 0;
}

/* ---------- the policy in force ---------- */

void policy_unref(Policy *p)
{
    if (!p || atomic_fetch_sub(&p->holders, 1) != 1)
        return;
    Mem mem = p->mem;
    mem_drop(&mem); /* p itself lies in it */
}

void kern_policy_set(Kernel *k, Policy *p)
{
    pthread_mutex_lock(&k->lock);
    Policy *unused = k->policy_changed ? k->policy_next : NULL;
    k->policy_next = p;
    atomic_store(&k->policy_changed, true);
    pthread_mutex_unlock(&k->lock);
    policy_unref(unused);
    kern_wake(k);
}

void policy_adopt(Kernel *k)
{
    pthread_mutex_lock(&k->lock);
    Policy *old = k->policy;
    k->policy = k->policy_next;
    k->policy_next = NULL;
    atomic_store(&k->policy_changed, false);
    pthread_mutex_unlock(&k->lock);
    policy_unref(old);
    kern_guard_files(k);
}

void kern_guard_files(Kernel *k)
{
    const Policy *p = k->policy;
    bool files = p && (p->nrules || (p->asks & ~(1u << ASK_COMMAND)));
    k->hot.policed = p != NULL;
    vfs_set_guard(k->vfs, (VGuard){.check = files ? check : NULL, .moved = files ? check_move : NULL, .changed = k->options.event ? changed : NULL, .user = k});
}

int policy_fork(Kernel *to, Kernel *from)
{
    pthread_mutex_lock(&from->lock);
    Policy *p = from->policy_changed ? from->policy_next : from->policy;
    if (p)
        atomic_fetch_add(&p->holders, 1);
    pthread_mutex_unlock(&from->lock);
    to->policy = p;
    kern_guard_files(to);
    return 0;
}

void policy_free(Kernel *k)
{
    policy_unref(k->policy);
    if (k->policy_changed)
        policy_unref(k->policy_next);
}
