/* copy: what cp and mv do with one operand: a file, a link, or a tree. */
#include "file.h"

void copy_init(Proc *p, CopyOptions *o)
{
    o->seen = mem_new(&p->keep, Map);
    o->made = mem_new(&p->keep, Map);
    map_init(o->seen, &p->keep);
    map_init(o->made, &p->keep);
}

static Slice identity(const VStat *st, uint64_t key[2])
{
    key[0] = st->dev;
    key[1] = st->ino;
    return slice((const char *)key, 2 * sizeof *key);
}

static bool same_inode(const VStat *a, const VStat *b) { return a->ino == b->ino && a->dev == b->dev; }

/* ---------- attributes ---------- */

static bool keep_attributes(Proc *p, const CopyOptions *o, const VStat *st, const char *to, uint32_t made_mode)
{
    bool link = S_ISLNK(st->mode), ok = true;
    int flags = link ? V_NOFOLLOW : 0, r;
    if (o->keep_times) {
        r = proc_utimes(p, to, flags, (VTime){st->atime, st->atime_ns, VTIME_SET}, (VTime){st->mtime, st->mtime_ns, VTIME_SET});
        if (r) {
            warn_errno(p, r, "preserving times for %s", quoteaf(p, to));
            ok = false;
        }
    }
    if (o->keep_owner && (st->uid != p->cred.uid || st->gid != p->cred.gid)) {
        r = proc_chown(p, to, flags, st->uid, st->gid);
        if (r == -EPERM && p->cred.uid != 0)
            r = 0; /* only root gives files away, and nobody expects it of others */
        if (r) {
            warn_errno(p, r, "failed to preserve ownership for %s", quoteaf(p, to));
            ok = false;
        }
    }
    if (!link && (o->keep_mode || made_mode)) {
        r = proc_chmod(p, to, 0, o->keep_mode ? st->mode & 07777 : made_mode);
        if (r) {
            warn_errno(p, r, "preserving permissions for %s", quoteaf(p, to));
            ok = false;
        }
    }
    return ok;
}

/* ---------- one file ---------- */

static int copy_bytes(Proc *p, int from, int to, const char *from_name, const char *to_name)
{
    if (proc_clone(p, from, to) == 0)
        return 0;
    for (;;) {
        Slice s;
        Chunk *chunk;
        ssize_t n = proc_read_chunk(p, from, 1 << 16, &s, &chunk);
        if (n == 0)
            return 0;
        if (n < 0) {
            warn_errno(p, (int)n, "error reading %s", quoteaf(p, from_name));
            return 1;
        }
        n = proc_write_chunk(p, to, s, chunk);
        if (n < 0) {
            warn_errno(p, (int)n, "error writing %s", quoteaf(p, to_name));
            return 1;
        }
    }
}

static int open_target(Proc *p, const CopyOptions *o, const char *to, bool *made, uint32_t mode)
{
    int fd = *made ? -ENOENT : proc_open(p, to, V_WRITE | (o->attributes_only ? 0 : V_TRUNC), 0);
    if (fd < 0 && fd != -ENOENT && o->overwrite == OVERWRITE_FORCE && !*made) {
        int r = proc_unlink(p, to);
        if (r) {
            warn_errno(p, r, "cannot remove %s", quoteaf(p, to));
            return -ECANCELED;
        }
        if (o->verbose)
            out_printf(p->out, "removed %s\n", quoteaf(p, to));
        fd = -ENOENT;
    }
    if (fd == -ENOENT) {
        size_t len = strlen(to);
        *made = true;
        fd = proc_open(p, to, V_WRITE | V_CREATE | V_EXCL, mode);
        if (fd == -EISDIR && len && to[len - 1] == '/')
            fd = -ENOTDIR;
    }
    if (fd < 0)
        warn_errno(p, fd, "cannot create regular file %s", quoteaf(p, to));
    return fd;
}

static bool copy_regular(Proc *p, const CopyOptions *o, const char *from, const char *to, const VStat *st, bool made)
{
    int in = proc_open(p, from, V_READ, 0);
    if (in < 0) {
        warn_errno(p, in, "cannot open %s for reading", quoteaf(p, from));
        return false;
    }
    int out = open_target(p, o, to, &made, o->plain_mode ? 0666 : st->mode & 0777);
    bool ok = out >= 0 && (o->attributes_only || copy_bytes(p, in, out, from, to) == 0);
    if (out >= 0)
        proc_close(p, out);
    proc_close(p, in);
    return ok && keep_attributes(p, o, st, to, 0);
}

static bool copy_link(Proc *p, const CopyOptions *o, const char *from, const char *to, const VStat *st)
{
    Slice target;
    int r = proc_readlink(p, from, &target);
    if (r) {
        warn_errno(p, r, "cannot read symbolic link %s", quoteaf(p, from));
        return false;
    }
    r = proc_symlink(p, mem_copy(&p->mem, target), to);
    if (r) {
        warn_errno(p, r, "cannot create symbolic link %s", quoteaf(p, to));
        return false;
    }
    return keep_attributes(p, o, st, to, 0);
}

static bool copy_special(Proc *p, const CopyOptions *o, const char *to, const VStat *st)
{
    int r = S_ISFIFO(st->mode) ? proc_mkfifo(p, to, st->mode & 0777) : proc_mknod(p, to, st->mode, st->rdev);
    if (r) {
        warn_errno(p, r, S_ISFIFO(st->mode) ? "cannot create fifo %s" : "cannot create special file %s", quoteaf(p, to));
        return false;
    }
    return keep_attributes(p, o, st, to, 0);
}

static bool make_link(Proc *p, const CopyOptions *o, const char *from, const char *to)
{
    if (o->symlinks && *from != '/' && strchr(to, '/')) {
        warn(p, "%s: can make relative symbolic links only in current directory", quotef(p, to));
        return false;
    }
    int r = o->symlinks ? proc_symlink(p, from, to) : proc_link(p, from, to, o->follow == FOLLOW_ALWAYS ? 0 : V_NOFOLLOW);
    if (!r)
        return true;
    if (o->symlinks)
        warn_errno(p, r, "cannot create symbolic link %s to %s", quoteaf(p, to), quoteaf(p, from));
    else
        warn_errno(p, r, "cannot create hard link %s to %s", quoteaf(p, to), quoteaf(p, from));
    return false;
}

/* ---------- what is there already ---------- */

typedef enum { TARGET_GO, TARGET_SKIP, TARGET_FAIL } Target;

static bool newer(const VStat *a, const VStat *b)
{
    return a->mtime != b->mtime ? a->mtime > b->mtime : a->mtime_ns > b->mtime_ns;
}

static Target ask_overwrite(Proc *p, const CopyOptions *o, const char *to, const VStat *there)
{
    bool protected = o->moving && !S_ISLNK(there->mode) && proc_access(p, to, 2) != 0;
    if (o->overwrite == OVERWRITE_NEVER)
        return TARGET_SKIP;
    if (o->overwrite != OVERWRITE_ASK && !(protected && o->overwrite == OVERWRITE_DEFAULT && proc_isatty(p, 0)))
        return TARGET_GO;
    char mode[11];
    format_mode(there->mode, mode);
    output_flush(p->out);
    if (protected || proc_access(p, to, 2) != 0)
        out_printf(p->err, "%s: %s %s, overriding mode %04o (%s)? ", p->name, o->moving ? "replace" : "unwritable", quoteaf(p, to), there->mode & 07777, mode + 1);
    else
        out_printf(p->err, "%s: overwrite %s? ", p->name, quoteaf(p, to));
    return ask(p) ? TARGET_GO : TARGET_SKIP;
}

static bool make_backup(Proc *p, const CopyOptions *o, const char *to, const char **name)
{
    *name = backup_name(p, to, o->backup, o->suffix);
    int r = proc_rename(p, to, *name, false);
    if (r)
        warn_errno(p, r, "cannot backup %s", quoteaf(p, to));
    return r == 0;
}

static Target check_target(Proc *p, CopyOptions *o, const char *from, const VStat *st, const char *to, VStat *there)
{
    uint64_t key[2];
    VStat link;
    if (same_inode(st, there) && !(o->hard_links && !o->backup) && !(o->backup && !S_ISDIR(st->mode) && strcmp(from, to) != 0)) {
        /* A link that leads to the source would be replaced by a copy of itself; two names of a file are one file. */
        bool through_link = proc_stat(p, to, V_NOFOLLOW, &link) == 0 && S_ISLNK(link.mode) && !S_ISLNK(st->mode);
        if (!(through_link && (o->remove_destination || o->moving))) {
            warn(p, "%s and %s are the same file", quoteaf(p, from), quoteaf(p, to));
            return TARGET_FAIL;
        }
    }
    if (same_inode(st, there) && o->hard_links)
        return TARGET_SKIP;
    if (S_ISDIR(st->mode) && !S_ISDIR(there->mode)) {
        if (!(o->backup && o->moving)) {
            warn(p, "cannot overwrite non-directory %s with directory %s", quoteaf(p, to), quoteaf(p, from));
            return TARGET_FAIL;
        }
    }
    if (!S_ISDIR(st->mode) && S_ISDIR(there->mode)) {
        warn(p, o->moving ? "cannot overwrite directory %s with non-directory" : "cannot overwrite directory %s with non-directory", quoteaf(p, to));
        return TARGET_FAIL;
    }
    if (!S_ISDIR(st->mode)) {
        if (o->update && !newer(st, there))
            return TARGET_SKIP;
        Target t = ask_overwrite(p, o, to, there);
        if (t != TARGET_GO)
            return t;
        if (map_get(o->made, identity(there, key)) && !o->backup) {
            warn(p, "will not overwrite just-created %s with %s", quoteaf(p, to), quoteaf(p, from));
            return TARGET_FAIL;
        }
    }
    return TARGET_GO;
}

/* Takes the old file out of the way where it cannot be written into. */
static bool clear_target(Proc *p, const CopyOptions *o, const VStat *st, const char *to, VStat *there, bool *exists, const char **backup)
{
    if (o->backup && !S_ISDIR(there->mode)) {
        *exists = false;
        return make_backup(p, o, to, backup);
    }
    bool replace = !S_ISREG(st->mode) || o->remove_destination || o->hard_links || o->symlinks || (S_ISLNK(there->mode) && o->follow == FOLLOW_NEVER);
    if (S_ISDIR(there->mode) || !replace)
        return true;
    int r = proc_unlink(p, to);
    if (r && r != -ENOENT) {
        warn_errno(p, r, "cannot remove %s", quoteaf(p, to));
        return false;
    }
    if (o->verbose && r == 0)
        out_printf(p->out, "removed %s\n", quoteaf(p, to));
    *exists = false;
    return true;
}

static void tell(Proc *p, const CopyOptions *o, const char *from, const char *to, const char *backup)
{
    if (!o->verbose)
        return;
    out_printf(p->out, "%s -> %s", quoteaf(p, from), quoteaf(p, to));
    if (backup)
        out_printf(p->out, " (backup: %s)", quoteaf(p, backup));
    out_char(p->out, '\n');
}

/* ---------- trees ---------- */

static bool copy_any(Proc *p, CopyOptions *o, const char *from, const char *to, unsigned depth);

static bool copy_below(Proc *p, CopyOptions *o, const char *from, const char *to, unsigned depth)
{
    VDirent *list;
    size_t count;
    bool ok = true;
    int r = proc_list(p, from, &list, &count);
    if (r) {
        warn_errno(p, r, "cannot access %s", quoteaf(p, from));
        return false;
    }
    for (size_t n = 0; n < count; n++) {
        MemMark mark = mem_mark(&p->mem);
        ok &= copy_any(p, o, path_join(p, from, list[n].name), path_join(p, to, list[n].name), depth + 1);
        mem_reset(&p->mem, mark);
    }
    return ok;
}

static bool copy_directory(Proc *p, CopyOptions *o, const char *from, const char *to, const VStat *st, bool exists, unsigned depth)
{
    uint64_t key[2];
    VStat there;
    if (!exists) {
        int r = proc_mkdir(p, to, (st->mode & 0777) | 0700);
        if (r) {
            warn_errno(p, r, "cannot create directory %s", quoteaf(p, to));
            return false;
        }
        if (proc_stat(p, to, 0, &there) == 0)
            map_put(o->made, identity(&there, key));
        tell(p, o, from, to, NULL);
    }
    bool ok = true;
    if (!o->one_device || st->dev == o->device)
        ok = copy_below(p, o, from, to, depth);
    uint32_t mode = (o->plain_mode ? 0777 : st->mode & 0777) & ~p->cred.umask;
    return keep_attributes(p, o, st, to, exists ? 0 : mode) && ok;
}

/* Whether the directory was made in this run: it would be copied into itself for ever. */
static bool into_itself(CopyOptions *o, const VStat *st)
{
    uint64_t key[2];
    return map_get(o->made, identity(st, key)) != NULL;
}

static bool linked_before(Proc *p, CopyOptions *o, const VStat *st, const char *to, bool *done)
{
    uint64_t key[2];
    *done = false;
    if (!o->keep_links || S_ISDIR(st->mode) || st->nlink < 2)
        return true;
    MapEntry *e = map_put(o->seen, identity(st, key));
    if (!e->value) {
        e->value = mem_strdup(&p->keep, to);
        return true;
    }
    int r = proc_link(p, e->value, to, V_NOFOLLOW);
    *done = true;
    if (r)
        warn_errno(p, r, "cannot create hard link %s to %s", quoteaf(p, to), quoteaf(p, e->value));
    return r == 0;
}

static bool copy_content(Proc *p, CopyOptions *o, const char *from, const char *to, const VStat *st, bool exists)
{
    uint64_t key[2];
    VStat made;
    bool ok;
    if (o->hard_links || o->symlinks)
        return make_link(p, o, from, to);
    if (S_ISLNK(st->mode))
        ok = copy_link(p, o, from, to, st);
    else if (S_ISREG(st->mode) || !o->recursive)
        ok = copy_regular(p, o, from, to, st, !exists);
    else
        ok = copy_special(p, o, to, st);
    if (ok && proc_stat(p, to, V_NOFOLLOW, &made) == 0)
        map_put(o->made, identity(&made, key));
    return ok;
}

static bool copy_any(Proc *p, CopyOptions *o, const char *from, const char *to, unsigned depth)
{
    VStat st, there;
    const char *backup = NULL;
    bool follow = o->follow == FOLLOW_ALWAYS || (o->follow == FOLLOW_OPERAND && depth == 0);
    proc_tick(p, 1);
    if (!proc_stack_room(p, 16384)) {
        warn(p, "%s: the directories are nested too deeply", quotef(p, from));
        return false;
    }
    int r = proc_stat(p, from, follow ? 0 : V_NOFOLLOW, &st);
    if (r) {
        warn_errno(p, r, "cannot stat %s", quoteaf(p, from));
        return false;
    }
    if (depth == 0)
        o->device = st.dev;
    if (S_ISDIR(st.mode) && !o->recursive) {
        warn(p, o->moving ? "omitting directory %s" : "-r not specified; omitting directory %s", quoteaf(p, from));
        return false;
    }
    if (S_ISDIR(st.mode) && into_itself(o, &st)) {
        warn(p, "cannot copy a directory, %s, into itself, %s", quoteaf(p, o->top_from), quoteaf(p, o->top_to));
        return false;
    }
    bool through = !S_ISLNK(st.mode) && !S_ISDIR(st.mode) && !o->remove_destination && !o->hard_links && !o->symlinks && !o->backup && !o->moving;
    r = proc_stat(p, to, through ? 0 : V_NOFOLLOW, &there);
    if (r && r != -ENOENT && r != -ELOOP) {
        warn_errno(p, r, "cannot stat %s", quoteaf(p, to));
        return false;
    }
    bool exists = r == 0;
    if (!exists && through && proc_stat(p, to, V_NOFOLLOW, &there) == 0) {
        warn(p, "not writing through dangling symlink %s", quoteaf(p, to));
        return false;
    }
    if (exists && S_ISDIR(st.mode) && S_ISLNK(there.mode))
        (void)proc_stat(p, to, 0, &there);
    Target t = exists ? check_target(p, o, from, &st, to, &there) : TARGET_GO;
    if (t != TARGET_GO)
        return t == TARGET_SKIP;
    if (exists && !clear_target(p, o, &st, to, &there, &exists, &backup))
        return false;
    if (S_ISDIR(st.mode))
        return copy_directory(p, o, from, to, &st, exists, depth);
    bool done, ok = linked_before(p, o, &st, to, &done);
    tell(p, o, from, to, backup);
    return done || !ok ? ok : copy_content(p, o, from, to, &st, exists);
}

bool copy_operand(Proc *p, CopyOptions *o, const char *from, const char *to)
{
    o->top_from = from;
    o->top_to = to;
    return copy_any(p, o, from, to, 0);
}
