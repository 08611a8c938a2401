/* extract: members become files.
 *
 * A symlink whose target is absolute or goes up is not made before the end: an empty file stands in its place, so that no later member is
 * written through it. Times and modes of directories are set at the end too, for their contents change them. A file that could not be
 * written whole is removed.
 */
#include "archive/tar/tar.h"

typedef struct Delayed {
    struct Delayed *next;
    char *path, *target;
    uint64_t ino;
    uint32_t dev;
    int64_t mtime;
    uint32_t mtime_ns;
} Delayed;

typedef struct DirStat {
    struct DirStat *next;
    char *path;
    uint32_t mode;
    uint64_t uid, gid;
    int64_t mtime;
    uint32_t mtime_ns;
    bool times;
} DirStat;

static uint32_t wanted_mode(Tar *t, const Member *m)
{
    return t->same_mode ? m->mode : m->mode & 0777 & ~t->p->cred.umask;
}

static void owner_ids(Tar *t, const Member *m, uint32_t *uid, uint32_t *gid)
{
    *uid = (uint32_t)m->uid;
    *gid = (uint32_t)m->gid;
    if (!t->numeric_owner) {
        uint32_t ignored;
        if (*m->uname)
            user_find(t->p, slice_str(m->uname), uid, &ignored);
        if (*m->gname)
            group_find(t->p, slice_str(m->gname), gid);
    }
}

/* Missing directories above `path`; false when there are none to make. */
static bool make_parents(Tar *t, const char *path)
{
    char *copy = mem_strdup(&t->p->mem, path);
    bool made = false;
    for (char *s = copy + (*copy == '/'); (s = strchr(s, '/')); s++) {
        *s = 0;
        if (s > copy && s[-1] != '/' && strcmp(copy, ".") != 0)
            made |= proc_mkdir(t->p, copy, 0777) == 0;
        *s = '/';
    }
    return made;
}

/* Makes way for `path`. 0: try again; else why not. */
static int remove_old(Tar *t, const char *path)
{
    VStat st;
    int err = proc_stat(t->p, path, V_NOFOLLOW, &st);
    if (err)
        return err;
    if (t->backup != BACKUP_NONE && !S_ISDIR(st.mode)) {
        const char *to = backup_name(t->p, path, t->backup, t->suffix);
        if (t->verbose)
            out_printf(t->list, "Renaming %s to %s\n", quote(t->p, path), quote(t->p, to));
        return proc_rename(t->p, path, to, false);
    }
    if (S_ISDIR(st.mode) && t->recursive_unlink)
        return remove_tree(t->p, path) ? 0 : -ENOTEMPTY;
    return S_ISDIR(st.mode) ? proc_rmdir(t->p, path) : proc_unlink(t->p, path);
}

typedef enum { AGAIN, SKIP, GIVE_UP } Recovery;

/* After `err` from making `path`: what to do. */
static Recovery recover(Tar *t, const Member *m, const char *path, int *err, bool *cleared)
{
    if (*err == -ENOENT)
        return make_parents(t, path) ? AGAIN : GIVE_UP;
    if (*err != -EEXIST || *cleared)
        return GIVE_UP;
    VStat st;
    switch (t->old) {
    case OLD_SKIP: return SKIP;
    case OLD_KEEP: return GIVE_UP;
    case OLD_KEEP_NEWER:
        if (proc_stat(t->p, path, V_NOFOLLOW, &st) == 0 && (st.mtime > m->mtime || (st.mtime == m->mtime && st.mtime_ns >= m->mtime_ns))) {
            warn(t->p, "Current %s is newer or same age", quote(t->p, path));
            return SKIP;
        }
        break;
    default: break;
    }
    *cleared = true;
    int removed = remove_old(t, path);
    if (removed && removed != -ENOENT && removed != -ENOTEMPTY)
        *err = removed;
    return removed && removed != -ENOENT ? GIVE_UP : AGAIN;
}

static void set_owner(Tar *t, const char *path, const Member *m)
{
    uint32_t uid, gid;
    if (!t->same_owner)
        return;
    owner_ids(t, m, &uid, &gid);
    int err = proc_chown(t->p, path, V_NOFOLLOW, uid, gid);
    if (err)
        tar_errno(t, err, "%s: Cannot change ownership to uid %u, gid %u", tar_quote(t, path), uid, gid);
}

static void set_times(Tar *t, const char *path, const Member *m)
{
    if (t->touch)
        return;
    VTime now = {0, 0, VTIME_NOW}, then = {m->mtime, m->mtime_ns, VTIME_SET};
    int err = proc_utimes(t->p, path, V_NOFOLLOW, now, then);
    if (err == -EPERM)
        err = proc_utimes(t->p, path, V_NOFOLLOW, (VTime){0, 0, VTIME_OMIT}, then);
    if (err)
        tar_errno(t, err, "%s: Cannot utime", tar_quote(t, path));
}

/* --- regular files --- */

typedef struct Writing {
    Tar *t;
    TarIn *in;
    Member *m;
    int fd;
    int error;
    uint64_t written;
} Writing;

static void put(Writing *w, Slice s)
{
    ssize_t n = w->error ? 0 : proc_write(w->t->p, w->fd, s);
    if (n < 0)
        w->error = (int)n;
    else if (!w->error && (size_t)n < s.len)
        w->error = -ENOSPC;
}

/* Data goes to where the spans say; holes are what the file has not. */
static void put_sparse(Writing *w)
{
    Member *m = w->m;
    size_t span = 0;
    uint64_t inside = 0;
    Slice s;
    while (in_data(w->in, m, &s)) {
        while (s.len && span < m->span_count) {
            Span *at = &m->spans[span];
            if (inside == at->length) {
                span++;
                inside = 0;
                continue;
            }
            size_t n = (size_t)MIN((uint64_t)s.len, at->length - inside);
            if (!w->error && proc_seek(w->t->p, w->fd, (int64_t)(at->offset + inside), SEEK_SET) < 0)
                w->error = -EFBIG;
            put(w, slice(s.data, n));
            s = slice_from(s, n);
            inside += n;
        }
    }
    int err = w->error ? 0 : proc_ftruncate(w->t->p, w->fd, m->real_size);
    w->error = err ? err : w->error;
}

static void write_data(Proc *p, void *arg)
{
    Writing *w = arg;
    Slice s;
    (void)p;
    if (w->m->spans)
        put_sparse(w);
    else
        while (in_data(w->in, w->m, &s)) {
            put(w, s);
            if (!w->error)
                w->written += s.len;
        }
}

static int open_new(Tar *t, const Member *m, const char *path, bool *skip)
{
    bool cleared = false;
    int flags = V_WRITE | V_CREATE | (t->old == OLD_OVERWRITE ? V_TRUNC | V_OPEN_NOFOLLOW : V_EXCL);
    if (t->old == OLD_UNLINK_FIRST && proc_stat(t->p, path, V_NOFOLLOW, &(VStat){0}) == 0)
        remove_old(t, path);
    for (;;) {
        int fd = proc_open(t->p, path, flags, 0600);
        if (fd >= 0)
            return fd;
        if (fd == -ELOOP && t->old == OLD_OVERWRITE)
            fd = -EEXIST;
        Recovery r = recover(t, m, path, &fd, &cleared);
        *skip = r == SKIP;
        if (r != AGAIN)
            return fd;
    }
}

static void extract_file(Tar *t, TarIn *in, Member *m, const char *path)
{
    bool skip = false;
    Writing w = {.t = t, .in = in, .m = m};
    w.fd = open_new(t, m, path, &skip);
    if (w.fd < 0) {
        if (!skip)
            tar_errno(t, w.fd, "%s: Cannot open", tar_quote(t, path));
        return;
    }
    guarded_output(t->p, path, write_data, &w);
    if (w.error) {
        tar_errno(t, w.error, "%s: Cannot write", tar_quote(t, path));
        proc_close(t->p, w.fd);
        proc_unlink(t->p, path);
        return;
    }
    uint32_t uid, gid;
    if (t->same_owner) {
        owner_ids(t, m, &uid, &gid);
        int err = proc_fchown(t->p, w.fd, uid, gid);
        if (err)
            tar_errno(t, err, "%s: Cannot change ownership to uid %u, gid %u", tar_quote(t, path), uid, gid);
    }
    proc_fchmod(t->p, w.fd, wanted_mode(t, m));
    if (!t->touch)
        proc_futimes(t->p, w.fd, (VTime){0, 0, VTIME_NOW}, (VTime){m->mtime, m->mtime_ns, VTIME_SET});
    proc_close(t->p, w.fd);
}

/* --- directories --- */

static void remember_directory(Tar *t, const char *path, const Member *m, bool times)
{
    DirStat *d = mem_new(&t->p->keep, DirStat);
    *d = (DirStat){t->dir_stats, mem_strdup(&t->p->keep, path), wanted_mode(t, m), m->uid, m->gid, m->mtime, m->mtime_ns, times};
    t->dir_stats = d;
}

static void extract_directory(Tar *t, const Member *m, const char *path)
{
    bool cleared = false;
    VStat st;
    for (;;) {
        int err = proc_mkdir(t->p, path, 0700 | (wanted_mode(t, m) & 0777));
        if (!err) {
            set_owner(t, path, m);
            remember_directory(t, path, m, !t->touch);
            return;
        }
        if (err == -EEXIST) {
            bool follow = t->keep_directory_symlink || t->old == OLD_OVERWRITE;
            if (proc_stat(t->p, path, follow ? 0 : V_NOFOLLOW, &st) == 0 && S_ISDIR(st.mode)) {
                if (t->no_overwrite_dir || t->old == OLD_KEEP || t->old == OLD_SKIP || (t->old == OLD_KEEP_NEWER && st.mtime >= m->mtime))
                    return;
                set_owner(t, path, m);
                remember_directory(t, path, m, !t->touch);
                return;
            }
        }
        Recovery r = recover(t, m, path, &err, &cleared);
        if (r == AGAIN)
            continue;
        if (r == GIVE_UP)
            tar_errno(t, err, "%s: Cannot mkdir", tar_quote(t, path));
        return;
    }
}

/* --- links --- */

static bool leads_out(const char *target)
{
    if (*target == '/')
        return true;
    for (const char *s = target; *s;) {
        size_t n = strcspn(s, "/");
        if (n == 2 && s[0] == '.' && s[1] == '.')
            return true;
        s += n;
        s += strspn(s, "/");
    }
    return false;
}

static void delay(Tar *t, const char *path, const Member *m, const char *target)
{
    VStat st;
    Delayed *d = mem_new(&t->p->keep, Delayed);
    if (proc_stat(t->p, path, V_NOFOLLOW, &st))
        return;
    *d = (Delayed){t->delayed, mem_strdup(&t->p->keep, path), mem_strdup(&t->p->keep, target), st.ino, st.dev, m->mtime, m->mtime_ns};
    t->delayed = d;
}

static void extract_symlink(Tar *t, const Member *m, const char *path)
{
    bool skip = false, cleared = false;
    if (!t->absolute && leads_out(m->link)) {
        Member stand_in = *m;
        int fd = open_new(t, &stand_in, path, &skip);
        if (fd < 0) {
            if (!skip)
                tar_errno(t, fd, "%s: Cannot open", tar_quote(t, path));
            return;
        }
        proc_close(t->p, fd);
        delay(t, path, m, m->link);
        return;
    }
    for (;;) {
        int err = proc_symlink(t->p, m->link, path);
        if (!err)
            break;
        Recovery r = recover(t, m, path, &err, &cleared);
        if (r == AGAIN)
            continue;
        if (r == GIVE_UP)
            tar_errno(t, err, "%s: Cannot create symlink to %s", tar_quote(t, path), quote(t->p, m->link));
        return;
    }
    set_owner(t, path, m);
    set_times(t, path, m);
}

static void extract_hard_link(Tar *t, Member *m, const char *path)
{
    bool cleared = false;
    VStat a, b;
    char *target = safer_name(t, m->link, true);
    for (Delayed *d = t->delayed; d; d = d->next)
        if (strcmp(d->path, target) == 0) { /* a link to what stands in for a symlink becomes that symlink */
            bool skip = false;
            int fd = open_new(t, m, path, &skip);
            if (fd >= 0) {
                proc_close(t->p, fd);
                delay(t, path, m, d->target);
            }
            return;
        }
    for (;;) {
        int err = proc_link(t->p, target, path, V_NOFOLLOW);
        if (!err)
            return;
        if (err == -EEXIST && proc_stat(t->p, target, V_NOFOLLOW, &a) == 0 && proc_stat(t->p, path, V_NOFOLLOW, &b) == 0 && a.ino == b.ino && a.dev == b.dev)
            return;
        bool nothing = err == -ENOENT && proc_stat(t->p, target, V_NOFOLLOW, &a);
        Recovery r = nothing ? GIVE_UP : recover(t, m, path, &err, &cleared);
        if (r == AGAIN)
            continue;
        if (r == GIVE_UP)
            tar_errno(t, err, "%s: Cannot hard link to %s", tar_quote(t, path), quote(t->p, target));
        return;
    }
}

static void extract_node(Tar *t, const Member *m, const char *path)
{
    bool cleared = false, fifo = m->type == '6';
    for (;;) {
        int err = fifo ? proc_mkfifo(t->p, path, wanted_mode(t, m)) : -EPERM;
        if (!err)
            break;
        Recovery r = recover(t, m, path, &err, &cleared);
        if (r == AGAIN)
            continue;
        if (r == GIVE_UP)
            tar_errno(t, err, fifo ? "%s: Cannot mkfifo" : "%s: Cannot mknod", tar_quote(t, path));
        return;
    }
    set_owner(t, path, m);
    proc_chmod(t->p, path, 0, wanted_mode(t, m));
    set_times(t, path, m);
}

/* --- members --- */

static void to_output(Tar *t, TarIn *in, Member *m)
{
    Slice s;
    if (m->type != '0' && m->type != '7')
        return;
    while (in_data(in, m, &s))
        out_write(t->p->out, s);
}

static bool goes_up(const char *name) { return leads_out(name + strspn(name, "/")); }

static void extract_one(Tar *t, TarIn *in, Member *m)
{
    char *full = transform_name(t, m->name, 'r');
    char *name = strip_components(t, safer_name(t, full, false));
    if (!name)
        return;
    if (!t->absolute && goes_up(full)) {
        tar_error(t, "%s: Member name contains '..'", tar_quote(t, full));
        return;
    }
    size_t len = strlen(name);
    char *stored = name;
    if ((m->type == '5' || m->type == 'D') && len > 1 && name[len - 1] == '/') {
        name = mem_strdup(&t->p->mem, name);
        strip_slashes(name);
    }
    if (t->one_top_level) {
        size_t n = strlen(t->one_top_level);
        if (strncmp(name, t->one_top_level, n) != 0 || (name[n] && name[n] != '/'))
            name = strcmp(name, ".") == 0 ? mem_strdup(&t->p->mem, t->one_top_level) : mem_printf(&t->p->mem, "%s/%s", t->one_top_level, name);
    }
    if (m->type == '1' || m->type == '2')
        m->link = transform_name(t, m->link, m->type == '1' ? 'h' : 's');
    if (m->type == '1' && t->strip) {
        char *link = strip_components(t, m->link);
        m->link = link ? link : m->link;
    }
    if (t->interactive) {
        out_printf(t->p->err, "extract %s?", quote(t->p, m->name));
        if (!ask(t->p))
            return;
    }
    if (t->verbose) {
        Member copy = *m;
        if (t->show_stored)
            copy.name = stored;
        list_member(t, &copy, m->block);
    }
    if (t->to_stdout) {
        to_output(t, in, m);
        return;
    }
    switch (m->type) {
    case '1': extract_hard_link(t, m, name); break;
    case '2': extract_symlink(t, m, name); break;
    case '3': case '4': case '6': extract_node(t, m, name); break;
    case '5': case 'D':
        extract_directory(t, m, name);
        if (t->incremental && m->dumpdir.data)
            incremental_purge(t, name, m->dumpdir);
        break;
    case 'V': case 'M': case 'N': break;
    case '0': case '7': extract_file(t, in, m, name); break;
    default:
        warn(t->p, "%s: Unknown file type '%c', extracted as normal file", tar_quote(t, name), m->type);
        extract_file(t, in, m, name);
    }
}

static void apply_delayed(Tar *t)
{
    for (Delayed *d = t->delayed; d; d = d->next) {
        VStat st;
        if (proc_stat(t->p, d->path, V_NOFOLLOW, &st) || st.ino != d->ino || st.dev != d->dev || st.size)
            continue; /* something else took its place */
        int err = proc_unlink(t->p, d->path);
        if (!err)
            err = proc_symlink(t->p, d->target, d->path);
        if (err)
            tar_errno(t, err, "%s: Cannot create symlink to %s", tar_quote(t, d->path), quote(t->p, d->target));
        else if (!t->touch)
            proc_utimes(t->p, d->path, V_NOFOLLOW, (VTime){0, 0, VTIME_NOW}, (VTime){d->mtime, d->mtime_ns, VTIME_SET});
    }
}

static void apply_directories(Tar *t)
{
    for (DirStat *d = t->dir_stats; d; d = d->next) {
        VStat st;
        if (proc_stat(t->p, d->path, V_NOFOLLOW, &st) || !S_ISDIR(st.mode))
            continue;
        if (d->times)
            proc_utimes(t->p, d->path, V_NOFOLLOW, (VTime){0, 0, VTIME_NOW}, (VTime){d->mtime, d->mtime_ns, VTIME_SET});
        if ((st.mode & 07777) != d->mode)
            proc_chmod(t->p, d->path, 0, d->mode);
    }
}

void extract_archive(Tar *t, TarIn *in)
{
    Member m;
    for (size_t i = 0; i < t->name_count; i++)
        if (t->names[i].directory)
            tar_chdir(t, t->names[i].directory);
    if (t->one_top_level)
        proc_mkdir(t->p, t->one_top_level, 0777);
    for (;;) {
        MemMark mark = mem_mark(&t->p->mem);
        bool more = in_member(in, &m);
        if (more && wanted(t, m.name))
            extract_one(t, in, &m);
        if (more)
            in_skip(in, &m);
        mem_reset(&t->p->mem, mark);
        if (!more)
            break;
    }
    apply_delayed(t);
    apply_directories(t);
}
