/* create: files become members. */
#include "archive/tar/tar.h"

typedef struct Found {
    const char *path; /* as opened, from the process's directory */
    VStat st;
} Found;

static void shown(Tar *t, Member *m, const char *stored)
{
    if (!t->verbose)
        return;
    Member copy = *m;
    if (!t->show_stored)
        copy.name = (char *)(uintptr_t)stored;
    list_member(t, &copy, t->out->bytes / BLOCK);
}

static const char *name_of(Tar *t, const char *given, const char *found)
{
    (void)t;
    return given ? given : found ? found : "";
}

static void set_owner(Tar *t, Member *m, const VStat *st)
{
    Proc *p = t->p;
    const char *owner = t->owner_name, *group = t->group_name;
    m->uid = t->owner >= 0 ? (uint64_t)t->owner : st->uid;
    m->gid = t->group >= 0 ? (uint64_t)t->group : st->gid;
    owner_mapped(t->owner_map, st->uid, &m->uid, &owner);
    owner_mapped(t->group_map, st->gid, &m->gid, &group);
    if (t->numeric_owner || t->format == FORMAT_V7) {
        m->uname = m->gname = mem_strdup(&p->mem, "");
        return;
    }
    m->uname = mem_strdup(&p->mem, name_of(t, owner, user_name(p, (uint32_t)m->uid)));
    m->gname = mem_strdup(&p->mem, name_of(t, group, group_name(p, (uint32_t)m->gid)));
}

static void fill(Tar *t, Member *m, const VStat *st)
{
    m->mode = st->mode & 07777;
    if (t->mode_change)
        m->mode = mode_apply(t->mode_change, m->mode, S_ISDIR(st->mode), 0);
    set_owner(t, m, st);
    m->mtime = st->mtime;
    m->mtime_ns = st->mtime_ns;
    if (t->mtime_given && (!t->clamp_mtime || st->mtime > t->mtime)) {
        m->mtime = t->mtime;
        m->mtime_ns = t->mtime_ns;
    }
}

/* The file's bytes; what has become shorter is filled with zeros. */
static void put_data(Tar *t, int fd, Member *m)
{
    Proc *p = t->p;
    uint64_t left = m->size;
    while (left) {
        Slice s;
        ssize_t n = proc_read_chunk(p, fd, (size_t)MIN(left, (uint64_t)1 << 17), &s, NULL);
        if (n < 0)
            tar_errno(t, (int)n, "%s: Read error at byte %llu, while reading %llu bytes", tar_quote(t, m->name), (unsigned long long)(m->size - left), (unsigned long long)left);
        if (n == 0)
            tar_error(t, "%s: File shrank by %llu bytes; padding with zeros", tar_quote(t, m->name), (unsigned long long)left);
        if (n <= 0)
            break;
        out_bytes(t->out, s);
        left -= s.len;
        proc_tick(p, 1 + s.len / 256);
    }
    for (; left; left -= MIN(left, (uint64_t)1 << 20))
        out_zeros(t->out, (size_t)MIN(left, (uint64_t)1 << 20));
    out_zeros(t->out, (size_t)((BLOCK - m->size % BLOCK) % BLOCK));
}

/* True when a member with this inode is in the archive already; m becomes a link to it. */
static bool linked(Tar *t, Member *m, const char *path, const VStat *st)
{
    if (st->nlink < 2 || t->hard_dereference)
        return false;
    char *key = mem_printf(&t->p->mem, "%u:%llu", st->dev, (unsigned long long)st->ino);
    MapEntry *e = map_put(&t->links, slice_str(key));
    if (e->value) {
        m->type = '1';
        m->link = safer_name(t, transform_name(t, mem_strdup(&t->p->mem, e->value), 'h'), true);
        return true;
    }
    e->value = mem_strdup(&t->p->keep, path);
    return false;
}

static void remove_file(Tar *t, const char *path)
{
    int err = t->remove_files ? proc_unlink(t->p, path) : 0;
    if (err)
        tar_errno(t, err, "%s: Cannot unlink", tar_quote(t, path));
}

static void put_regular(Tar *t, const Found *f, Member *m)
{
    int fd = -1;
    if (!linked(t, m, f->path, &f->st)) {
        m->type = '0';
        m->size = f->st.size;
        fd = proc_open(t->p, f->path, V_READ | (t->dereference ? 0 : V_OPEN_NOFOLLOW), 0);
        if (fd < 0) {
            tar_errno(t, fd, "%s: Cannot open", tar_quote(t, f->path));
            return;
        }
    }
    m->real_size = m->size;
    if (member_storable(t, m)) {
        out_header(t->out, m, &f->st);
        shown(t, m, f->path);
        if (fd >= 0)
            put_data(t, fd, m);
    }
    if (fd >= 0)
        proc_close(t->p, fd);
    remove_file(t, f->path);
}

static void put_special(Tar *t, const Found *f, Member *m)
{
    if (S_ISLNK(f->st.mode)) {
        Slice target;
        int err = proc_readlink(t->p, f->path, &target);
        if (err) {
            tar_errno(t, err, "%s: Cannot read link", tar_quote(t, f->path));
            return;
        }
        m->type = '2';
        m->link = transform_name(t, mem_copy(&t->p->mem, target), 's');
        if (f->st.nlink > 1)
            linked(t, m, f->path, &f->st);
    } else {
        m->type = S_ISFIFO(f->st.mode) ? '6' : S_ISBLK(f->st.mode) ? '4' : '3';
        unsigned major, minor;
        device_numbers(f->st.rdev, &major, &minor);
        if (m->type != '6') {
            m->major = major;
            m->minor = minor;
        }
    }
    if (member_storable(t, m)) {
        out_header(t->out, m, &f->st);
        shown(t, m, f->path);
    }
    remove_file(t, f->path);
}

static void dump(Tar *t, const char *path, bool operand);

/* What a tag file in the directory says: ' ' the tag alone, 'a' not even the directory, 'u' the directory alone; 0: no tag. */
static char tagged(Tar *t, const char *path, const char **name)
{
    for (size_t i = 0; i < t->tag_count; i++) {
        VStat st;
        const char *file = path_join(t->p, path, slice_str(t->tags[i].name));
        if (proc_stat(t->p, file, 0, &st))
            continue;
        if (t->tags[i].cache) {
            static const char signature[] = "Signature: 8a477f597d28d172789f06886806bc55";
            Slice text;
            if (read_file(t->p, file, &text) || !slice_starts(text, SLICE(signature)))
                continue;
        }
        *name = t->tags[i].name;
        return t->tags[i].kind;
    }
    return 0;
}

static void directory_entries(Tar *t, const char *path, const VDirent *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        MemMark mark = mem_mark(&t->p->mem);
        dump(t, path_join(t->p, path, list[i].name), false);
        mem_reset(&t->p->mem, mark);
    }
}

/* --newer looks at the time of the last change of the inode too. */
static bool before(int64_t s, uint32_t ns, const Tar *t) { return s < t->newer || (s == t->newer && ns < t->newer_ns); }

bool older(const Tar *t, const VStat *st) { return before(st->mtime, st->mtime_ns, t) && (t->newer_mtime || before(st->ctime, st->ctime_ns, t)); }

/* A directory of an incremental archive: what is in it is told beside it, and stored by itself. */
static void put_listed(Tar *t, const Found *f, Member *m)
{
    m->dumpdir = incremental_list(t, f->path);
    if (t->format != FORMAT_PAX) {
        m->type = 'D';
        m->size = m->real_size = m->dumpdir.len;
    }
    out_header(t->out, m, &f->st);
    shown(t, m, mem_printf(&t->p->mem, "%s/", f->path));
    if (t->format == FORMAT_PAX)
        return;
    out_bytes(t->out, m->dumpdir);
    out_zeros(t->out, (size_t)((BLOCK - m->size % BLOCK) % BLOCK));
}

static void put_directory(Tar *t, const Found *f, Member *m, bool operand)
{
    const char *tag = NULL;
    char kind = t->tag_count ? tagged(t, f->path, &tag) : 0;
    if (kind == 'a') {
        if (t->verbose)
            warn(t->p, "%s: contains a cache directory tag %s; directory not dumped", tar_quote(t, f->path), tag);
        return;
    }
    if (!proc_stack_room(t->p, 1 << 16)) {
        tar_errno(t, ELOOP, "%s: Cannot open", tar_quote(t, f->path));
        return;
    }
    m->type = '5';
    size_t len = strlen(m->name);
    if (len && m->name[len - 1] != '/')
        m->name = mem_printf(&t->p->mem, "%s/", m->name);
    if (t->snapshot) {
        put_listed(t, f, m);
        return;
    }
    VDirent *list = NULL;
    size_t count = 0;
    int err = t->no_recursion ? 0 : proc_list(t->p, f->path, &list, &count);
    if (err) {
        tar_errno(t, err, "%s: Cannot open", tar_quote(t, f->path));
        return;
    }
    bool unlisted = t->incremental; /* an archive that is added to: GNU's header of a directory would wait for its list */
    if (!unlisted && !(t->newer_given && older(t, &f->st)) && member_storable(t, m)) {
        out_header(t->out, m, &f->st);
        shown(t, m, f->path[strlen(f->path) - 1] == '/' ? f->path : mem_printf(&t->p->mem, "%s/", f->path));
    }
    if (kind) {
        if (t->verbose)
            warn(t->p, "%s: contains a cache directory tag %s; contents not dumped", tar_quote(t, mem_printf(&t->p->mem, "%s/", f->path)), tag);
        if (kind == ' ')
            dump(t, path_join(t->p, f->path, slice_str(tag)), false);
        return;
    }
    if (t->no_recursion)
        return;
    if (!operand && t->one_file_system && f->st.dev != t->device) {
        warn(t->p, "%s: file is on a different filesystem; not dumped", tar_quote(t, f->path));
        return;
    }
    if (t->ignore_files)
        ignore_enter(t, f->path);
    directory_entries(t, f->path, list, count);
    if (t->ignore_files)
        ignore_leave(t);
    if (t->remove_files && proc_rmdir(t->p, f->path))
        tar_errno(t, ENOTEMPTY, "%s: Cannot rmdir", tar_quote(t, f->path));
}

static bool newer_than_copy(Tar *t, const char *name, const VStat *st)
{
    char *plain = mem_strdup(&t->p->mem, name);
    strip_slashes(plain);
    MapEntry *e = map_get(&t->newest, slice_str(plain));
    return !e || st->mtime > *(int64_t *)e->value;
}

static void dump(Tar *t, const char *path, bool operand)
{
    Proc *p = t->p;
    Found f = {.path = path};
    Member m = {0};
    if (excluded(t, path) || (!operand && ignored(t, path)))
        return;
    int err = proc_stat(p, path, t->dereference ? 0 : V_NOFOLLOW, &f.st);
    if (err) {
        tar_errno(t, err, "%s: Cannot stat", tar_quote(t, path));
        return;
    }
    if (operand)
        t->device = f.st.dev;
    if (t->archive_stat_ok && f.st.dev == t->archive_stat.dev && f.st.ino == t->archive_stat.ino) {
        warn(p, "%s: file is the archive; not dumped", tar_quote(t, path));
        return;
    }
    bool directory = S_ISDIR(f.st.mode);
    if (t->newer_given && !directory && !t->listed && older(t, &f.st)) {
        if (operand && !t->snapshot)
            warn(p, "%s: file is unchanged; not dumped", tar_quote(t, path));
        return;
    }
    m.name = safer_name(t, transform_name(t, mem_strdup(&p->mem, path), 'r'), false);
    if (!*m.name)
        return;
    if (t->mode == 'u' && !directory && !newer_than_copy(t, m.name, &f.st))
        return;
    fill(t, &m, &f.st);
    if (directory)
        put_directory(t, &f, &m, operand);
    else if (S_ISREG(f.st.mode))
        put_regular(t, &f, &m);
    else
        put_special(t, &f, &m);
    proc_tick(p, 4);
}

void dump_found(Tar *t, const char *path) { dump(t, path, true); }

void create_names(Tar *t, TarOut *o)
{
    t->out = o;
    if (t->label) {
        Member m = {.name = mem_strdup(&t->p->mem, t->label), .type = 'V', .uname = mem_strdup(&t->p->mem, ""), .gname = mem_strdup(&t->p->mem, "")};
        m.mtime = proc_now(t->p, &m.mtime_ns);
        out_header(o, &m, NULL);
    }
    if (t->snapshot) {
        incremental_create(t);
        return;
    }
    for (size_t i = 0; i < t->name_count; i++) {
        NameArg *n = &t->names[i];
        if (!n->text) {
            tar_chdir(t, n->directory);
            continue;
        }
        MemMark mark = mem_mark(&t->p->mem);
        t->no_recursion = n->no_recursion;
        dump(t, n->text, true);
        mem_reset(&t->p->mem, mark);
    }
}

/* -A: the members of other archives, block by block. */
void append_archives(Tar *t, TarOut *o)
{
    for (size_t i = 0; i < t->name_count; i++) {
        if (!t->names[i].text) {
            tar_chdir(t, t->names[i].directory);
            continue;
        }
        int fd = proc_open(t->p, t->names[i].text, V_READ, 0);
        TarIn in;
        Member m;
        if (fd < 0) {
            tar_errno(t, fd, "%s: Cannot open", t->names[i].text);
            continue;
        }
        t->packing_given = false;
        in_open(&in, t, fd);
        TarIn raw;
        uint64_t end = 0;
        while (in_member(&in, &m)) {
            in_skip(&in, &m);
            end = in.blocks;
        }
        if (t->packing != PACK_NONE)
            tar_fatal(t, "Cannot concatenate compressed archives");
        proc_seek(t->p, fd, 0, SEEK_SET);
        in_open(&raw, t, fd);
        for (uint64_t k = 0; k < end && in_block(&raw); k++)
            out_bytes(o, (Slice){raw.block, BLOCK});
        proc_close(t->p, fd);
    }
}
