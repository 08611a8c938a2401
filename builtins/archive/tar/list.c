/* list: members shown, briefly or as ls -l does. */
#include "archive/tar/tar.h"

enum { LEAST_WIDTH = 19 };

static void mode_text(const Member *m, char out[11])
{
    static const char types[] = "-hlcbdpC";
    uint32_t mode = m->mode & 07777;
    format_mode(mode | S_IFREG, out);
    out[0] = m->type >= '0' && m->type <= '7' ? types[m->type - '0'] : m->type == 'V' ? 'V' : m->type == 'M' ? 'M' : m->type == 'D' ? 'd' : '-';
}

static void append_fraction(Buf *b, uint32_t ns)
{
    buf_printf(b, ".%09u", ns);
    while (b->data[b->len - 1] == '0')
        b->data[--b->len] = 0;
}

static const char *date_text(Tar *t, const Member *m)
{
    Buf b;
    CivilTime c;
    const TimeZone *zone = t->utc ? tz_parse(&t->p->mem, SLICE("UTC0")) : proc_zone(t->p);
    buf_init(&b, &t->p->mem, 256);
    if (!tz_civil(zone, m->mtime, m->mtime_ns, &c))
        return mem_printf(&t->p->mem, "%lld", (long long)m->mtime);
    tz_format(&b, t->full_time ? SLICE("%Y-%m-%d %H:%M:%S") : SLICE("%Y-%m-%d %H:%M"), &c, m->mtime);
    if (t->full_time && m->mtime_ns)
        append_fraction(&b, m->mtime_ns);
    return b.data;
}

static void long_line(Tar *t, const Member *m)
{
    static const size_t date_width = 16;
    Proc *p = t->p;
    char mode[11];
    mode_text(m, mode);
    const char *user = !t->numeric_owner && *m->uname ? m->uname : mem_printf(&p->mem, "%llu", (unsigned long long)m->uid);
    const char *group = !t->numeric_owner && *m->gname ? m->gname : mem_printf(&p->mem, "%llu", (unsigned long long)m->gid);
    bool device = m->type == '3' || m->type == '4';
    const char *size = device ? mem_printf(&p->mem, "%u,%u", m->major, m->minor) : mem_printf(&p->mem, "%llu", (unsigned long long)m->real_size);
    size_t used = strlen(user) + strlen(group) + 1 + strlen(size) + 1;
    t->list_width = MAX(MAX(t->list_width, (size_t)LEAST_WIDTH), used);
    out_printf(t->list, "%s %s/%s ", mode, user, group);
    out_pad(t->list, t->list_width - used, ' ');
    out_printf(t->list, "%s %-*s ", size, (int)date_width, date_text(t, m));
}

void list_member(Tar *t, const Member *m, uint64_t block)
{
    if (t->block_numbers)
        out_printf(t->list, "block %llu: ", (unsigned long long)block);
    bool brief = t->verbose <= 1;
    const char *name = tar_quote(t, m->name);
    if (brief) {
        out_printf(t->list, "%s\n", name);
        return;
    }
    long_line(t, m);
    out_str(t->list, name);
    if (m->type == '2')
        out_printf(t->list, " -> %s", tar_quote(t, m->link));
    else if (m->type == '1')
        out_printf(t->list, " link to %s", tar_quote(t, m->link));
    else if (m->type == 'V')
        out_str(t->list, "--Volume Header--");
    else if (!strchr("034567DM", m->type))
        out_printf(t->list, " unknown file type %s", quote(t->p, mem_printf(&t->p->mem, "%c", m->type)));
    out_char(t->list, '\n');
    if (t->incremental && t->verbose > 2 && m->dumpdir.data && t->mode != 'c')
        incremental_show(t, m->dumpdir);
}

void list_archive(Tar *t, TarIn *in)
{
    Member m;
    for (;;) {
        MemMark mark = mem_mark(&t->p->mem);
        bool more = in_member(in, &m);
        if (more && wanted(t, m.name)) {
            safer_name(t, m.name, false); /* only told */
            if (t->transforms || t->strip) {
                char *name = transform_name(t, m.name, 'r');
                name = strip_components(t, name);
                if (name || t->show_stored)
                    m.name = name ? name : m.name;
                else if (m.type == '5')
                    m.name = mem_strdup(&t->p->mem, "/");
            }
            if (m.type == '1' || m.type == '2')
                m.link = transform_name(t, m.link, m.type == '1' ? 'h' : 's');
            t->verbose++;
            list_member(t, &m, m.block);
            t->verbose--;
        }
        if (more)
            in_skip(in, &m);
        mem_reset(&t->p->mem, mark);
        if (!more)
            return;
    }
}
