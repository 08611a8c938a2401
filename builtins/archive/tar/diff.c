/* diff: members compared with the files they came from. */
#include "archive/tar/tar.h"

static void differs(Tar *t, const Member *m, const char *what)
{
    out_printf(t->list, "%s: %s\n", tar_quote(t, m->name), what);
    if (t->status == 0)
        t->status = 1;
}

static bool contents_equal(Tar *t, TarIn *in, Member *m, int fd)
{
    Slice want;
    bool equal = true;
    while (in_data(in, m, &want)) {
        for (size_t done = 0; equal && done < want.len;) {
            Slice have;
            ssize_t n = proc_read_chunk(t->p, fd, want.len - done, &have, NULL);
            equal = n > 0 && memcmp(have.data, want.data + done, have.len) == 0;
            done += equal ? have.len : 0;
        }
    }
    return equal;
}

static void compare_regular(Tar *t, TarIn *in, Member *m, const VStat *st)
{
    if ((st->mode & 07777) != m->mode)
        differs(t, m, "Mode differs");
    if (st->uid != m->uid)
        differs(t, m, "Uid differs");
    if (st->gid != m->gid)
        differs(t, m, "Gid differs");
    if (st->mtime != m->mtime)
        differs(t, m, "Mod time differs");
    if (st->size != m->real_size) {
        differs(t, m, "Size differs");
        return;
    }
    if (m->spans)
        return;
    int fd = proc_open(t->p, m->name, V_READ, 0);
    if (fd < 0) {
        tar_errno(t, fd, "%s: Cannot open", tar_quote(t, m->name));
        return;
    }
    if (!contents_equal(t, in, m, fd))
        differs(t, m, "Contents differ");
    proc_close(t->p, fd);
}

static void compare_link(Tar *t, const Member *m, const VStat *st)
{
    VStat other;
    if (m->type == '1') {
        if (proc_stat(t->p, m->link, V_NOFOLLOW, &other) || other.ino != st->ino || other.dev != st->dev)
            differs(t, m, mem_printf(&t->p->mem, "Not linked to %s", m->link));
        return;
    }
    Slice target;
    if (proc_readlink(t->p, m->name, &target) || !slice_is(target, m->link))
        differs(t, m, "Symlink differs");
}

static bool type_fits(const Member *m, uint32_t mode)
{
    switch (m->type) {
    case '2': return S_ISLNK(mode);
    case '3': return S_ISCHR(mode);
    case '4': return S_ISBLK(mode);
    case '5': case 'D': return S_ISDIR(mode);
    case '6': return S_ISFIFO(mode);
    case '1': return true;
    default: return S_ISREG(mode);
    }
}

static void compare(Tar *t, TarIn *in, Member *m)
{
    VStat st;
    if (m->name[0] && m->name[1])
        strip_slashes(m->name);
    int err = proc_stat(t->p, m->name, t->dereference ? 0 : V_NOFOLLOW, &st);
    const char *what = m->type == '2' ? "readlink" : "stat";
    if (err == -ENOENT) {
        warn_errno(t->p, err, "%s: Warning: Cannot %s", tar_quote(t, m->name), what);
        if (t->status == 0)
            t->status = 1;
    } else if (err) {
        tar_errno(t, err, "%s: Cannot %s", tar_quote(t, m->name), what);
    } else if (!type_fits(m, st.mode)) {
        differs(t, m, "File type differs");
    } else if (m->type == '1' || m->type == '2') {
        compare_link(t, m, &st);
    } else if (m->type == '5') {
        if ((st.mode & 07777) != m->mode)
            differs(t, m, "Mode differs");
    } else if (m->type == '0' || m->type == '7') {
        compare_regular(t, in, m, &st);
    }
}

void diff_archive(Tar *t, TarIn *in, bool verifying)
{
    Member m;
    for (;;) {
        MemMark mark = mem_mark(&t->p->mem);
        bool more = in_member(in, &m);
        if (more && (verifying || wanted(t, m.name))) {
            if (t->verbose) {
                if (verifying)
                    out_str(t->list, "Verify ");
                list_member(t, &m, m.block);
            }
            compare(t, in, &m);
        }
        if (more)
            in_skip(in, &m);
        mem_reset(&t->p->mem, mark);
        if (!more)
            return;
    }
}
