/* sed's input: lines over all files, one ahead, because $ asks whether there is another. */
#include "sed.h"

#include <sys/stat.h>

/* Under -i a file's new contents go to a temporary file beside it. */
typedef struct {
    SedOut out;
    char *temporary;
    const char *target;
} Edit;

static const char *backup_name(Sed *s, const char *target)
{
    const char *base = strrchr(target, '/');
    size_t dir = base ? (size_t)(base + 1 - target) : 0;
    base = target + dir;
    Buf out;
    buf_init(&out, &s->p->keep, 4096);
    if (!strchr(s->suffix, '/'))
        buf_append(&out, slice(target, dir));
    if (!strchr(s->suffix, '*'))
        buf_printf(&out, "%s%s", base, s->suffix);
    else
        for (const char *c = s->suffix; *c; c++)
            if (*c == '*')
                buf_append(&out, slice_str(base));
            else
                buf_char(&out, *c);
    return out.data;
}

static bool edit_begin(Sed *s, const char *name, int fd)
{
    Proc *p = s->p;
    VStat st;
    if (proc_fstat(p, fd, &st) == 0 && !S_ISREG(st.mode)) {
        warn(p, "couldn't edit %s: not a regular file", name);
        s->status = 4;
        return false;
    }
    Edit *e = mem_new(&p->keep, Edit);
    char *real = NULL;
    e->target = name;
    if (s->follow && proc_realpath(p, name, REALPATH_EXISTING, &real) == 0)
        e->target = mem_strdup(&p->keep, real);
    const char *slash = strrchr(e->target, '/');
    int out = -EEXIST;
    for (int i = 0; out == -EEXIST && i < 100; i++) {
        uint32_t random;
        proc_random(p, &random, sizeof random);
        e->temporary = mem_printf(&p->keep, "%.*ssed%06x", slash ? (int)(slash + 1 - e->target) : 0, e->target, random & 0xFFFFFF);
        out = proc_open(p, e->temporary, V_WRITE | V_CREATE | V_EXCL, 0600);
    }
    if (out < 0)
        die_errno(p, 4, out, "couldn't open temporary file %s", e->temporary);
    proc_fchmod(p, out, st.mode & 07777);
    output_init(p, &e->out.own, out);
    e->out.out = &e->out.own;
    e->out.name = e->temporary;
    s->out = &e->out;
    return true;
}

void sed_in_place_end(Sed *s)
{
    if (s->out == &s->standard)
        return;
    Edit *e = (Edit *)(void *)s->out;
    s->out = &s->standard;
    output_flush(&e->out.own);
    proc_close(s->p, e->out.own.fd);
    if (e->out.own.error)
        die_errno(s->p, 4, e->out.own.error, "couldn't flush %s", e->temporary);
    if (s->suffix && *s->suffix) {
        const char *backup = backup_name(s, e->target);
        int err = proc_rename(s->p, e->target, backup, false);
        if (err)
            die_errno(s->p, 4, err, "cannot rename %s", e->target);
    }
    int err = proc_rename(s->p, e->temporary, e->target, false);
    if (err)
        die_errno(s->p, 4, err, "cannot rename %s", e->temporary);
}

static void file_trouble(Sed *s, const char *name, int error)
{
    warn_errno(s->p, error, "can't read %s", name);
    s->status = 2;
}

/* Opens the next file that can be; false when there is none. */
static bool file_open(Sed *s)
{
    while (s->next_name < s->name_count) {
        const char *name = s->names[s->next_name++];
        bool is_stdin = strcmp(name, "-") == 0 && !s->in_place;
        int fd = is_stdin ? 0 : proc_open(s->p, name, V_READ, 0);
        VStat st;
        if (fd < 0) {
            file_trouble(s, name, fd);
            continue;
        }
        if (!is_stdin && !s->in_place && proc_fstat(s->p, fd, &st) == 0 && S_ISDIR(st.mode)) {
            warn(s->p, "read error on %s: Is a directory", name);
            s->status = 4;
            proc_close(s->p, fd);
            continue;
        }
        s->in = input_fd(s->p, fd, name);
        s->in.delimiter = s->end;
        s->in.is_stdin = is_stdin;
        if (s->in_place && !edit_begin(s, name, fd)) {
            proc_close(s->p, fd);
            continue;
        }
        s->file_name = is_stdin ? "-" : name;
        s->reading = true;
        return true;
    }
    return false;
}

static void file_close(Sed *s)
{
    if (s->in.fd > 0)
        proc_close(s->p, s->in.fd);
    s->reading = false;
}

/* Makes the line ahead come from the file being read; false at that file's end. */
static bool ahead_here(Sed *s)
{
    if (s->has_ahead)
        return true;
    if (!s->reading)
        return false;
    s->has_ahead = input_record(&s->in, &s->ahead, &s->ahead_ended);
    if (!s->has_ahead) {
        if (s->in.status)
            s->status = 2;
        if (!s->separate)
            file_close(s);
    }
    return s->has_ahead;
}

/* The files of R begin again with each of separate files. */
static void sources_rewind(Sed *s)
{
    for (SedSource *r = s->sources; r; r = r->next) {
        if (r->open && r->in.fd > 0)
            proc_close(s->p, r->in.fd);
        r->open = r->ended = false;
    }
}

static bool ahead_any(Sed *s)
{
    while (!ahead_here(s)) {
        if (s->separate && s->reading) {
            file_close(s);
            sed_in_place_end(s);
            s->line_number = 0;
            buf_clear(&s->hold);
            sources_rewind(s);
            for (size_t i = 0; i < s->count; i++)
                s->commands[i].active = s->commands[i].closed = s->commands[i].a1.kind == ADDR_LINE && s->commands[i].a1.n == 0;
        }
        if (!file_open(s))
            return false;
    }
    return true;
}

bool sed_is_last(Sed *s)
{
    if (ahead_here(s))
        return false;
    if (s->separate)
        return true;
    return !ahead_any(s);
}

bool sed_read(Sed *s, bool append)
{
    if (append && s->separate && !ahead_here(s))
        return false;
    if (!ahead_any(s))
        return false;
    if (!append)
        buf_clear(&s->space);
    buf_append(&s->space, s->ahead);
    s->ended = s->ahead_ended;
    s->has_ahead = false;
    s->replaced = false;
    s->line_number++;
    return true;
}
