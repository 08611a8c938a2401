/* users: names and numbers of users and groups, from /etc/passwd and /etc/group of the file system. */
#include "shared.h"

/* Field `n` of a line of colon-separated fields. */
static Slice field(Slice line, unsigned n)
{
    for (; n; n--) {
        size_t at = slice_find(line, ':');
        line = slice_from(line, MIN(at + 1, line.len));
    }
    return slice(line.data, slice_find(line, ':'));
}

static bool number(Slice s, uint32_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] < '0' || s.data[i] > '9' || v > UINT32_MAX)
            return false;
        v = v * 10 + (uint64_t)(s.data[i] - '0');
    }
    *out = (uint32_t)v;
    return s.len > 0 && v <= UINT32_MAX;
}

/* The first line of `file` whose field `n` is `key`; empty when there is none. */
static Slice find_line(Proc *p, const char *file, unsigned n, Slice key)
{
    Slice text;
    if (read_file(p, file, &text) != 0)
        return (Slice){NULL, 0};
    while (text.len) {
        Slice line = slice(text.data, slice_find(text, '\n'));
        if (slice_eq(field(line, n), key))
            return line;
        text = slice_from(text, MIN(line.len + 1, text.len));
    }
    return (Slice){NULL, 0};
}

static const char *name_of(Proc *p, const char *file, uint32_t id)
{
    char digits[24];
    size_t len;
    MemMark mark = mem_mark(&p->mem);
    const char *at = format_int(id, digits, &len);
    Slice line = find_line(p, file, 2, slice(at, len));
    const char *name = line.len ? mem_copy(&p->keep, field(line, 0)) : NULL;
    mem_reset(&p->mem, mark);
    return name;
}

const char *user_name(Proc *p, uint32_t uid) { return name_of(p, "/etc/passwd", uid); }
const char *group_name(Proc *p, uint32_t gid) { return name_of(p, "/etc/group", gid); }

bool user_find(Proc *p, Slice name, uint32_t *uid, uint32_t *gid)
{
    MemMark mark = mem_mark(&p->mem);
    Slice line = find_line(p, "/etc/passwd", 0, name);
    bool found = line.len && number(field(line, 2), uid) && number(field(line, 3), gid);
    mem_reset(&p->mem, mark);
    return found;
}

bool group_find(Proc *p, Slice name, uint32_t *gid)
{
    MemMark mark = mem_mark(&p->mem);
    Slice line = find_line(p, "/etc/group", 0, name);
    bool found = line.len && number(field(line, 2), gid);
    mem_reset(&p->mem, mark);
    return found;
}
