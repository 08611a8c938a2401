/* owners: --owner-map and --group-map, which say by what owner and group members are known. */
#include "archive/tar/tar.h"

struct OwnerMap {
    OwnerMap *next;
    uint32_t from;
    int64_t to;       /* -1: as it is */
    const char *name; /* NULL: the name that the number has */
};

typedef struct Reading {
    Tar *t;
    const char *file;
    uint64_t line;
    bool group, failed;
} Reading;

static void refuse(Reading *r, const char *what)
{
    warn(r->t->p, "%s:%llu: %s", r->file, (unsigned long long)r->line, what);
    r->failed = true;
}

static bool read_number(Reading *r, const char *text, const char *shown, int64_t *out)
{
    const char *kind = r->group ? "GID" : "UID";
    int err = *text == '+' ? -EINVAL : parse_int(text, out);
    if (err)
        refuse(r, mem_printf(&r->t->p->mem, "invalid %s: %s", kind, shown));
    else if (*out < 0 || *out > UINT32_MAX)
        refuse(r, mem_printf(&r->t->p->mem, "%s out of range: %s", kind, shown));
    return !err && !r->failed;
}

static bool name_number(Reading *r, const char *name, int64_t *out)
{
    uint32_t uid = 0, gid = 0;
    bool known = r->group ? group_find(r->t->p, slice_str(name), &gid) : user_find(r->t->p, slice_str(name), &uid, &gid);
    *out = r->group ? gid : uid;
    return known;
}

/* A word, quoted or not; NULL at the end of the line. */
static char *next_word(char **at)
{
    char *s = *at + strspn(*at, " \t\r"), *word;
    if (!*s || *s == '#')
        return NULL;
    const char *end = *s == '"' ? "\"" : *s == '\'' ? "'" : " \t\r";
    word = s += *s == '"' || *s == '\'';
    s += strcspn(s, end);
    *at = s + (*s != 0);
    *s = 0;
    return word;
}

static void map_line(Reading *r, char *line, OwnerMap *m)
{
    char *old = next_word(&line), *fresh = old ? next_word(&line) : NULL;
    int64_t from;
    if (!old)
        return;
    if (!fresh || next_word(&line)) {
        refuse(r, "malformed line");
        return;
    }
    if (*old == '+') {
        if (!read_number(r, old + 1, old + 1, &from))
            return;
    } else if (!name_number(r, old, &from)) {
        refuse(r, mem_printf(&r->t->p->mem, "can't obtain %s of %s", r->group ? "GID" : "UID", old));
        return;
    }
    char *colon = strchr(fresh, ':');
    *m = (OwnerMap){.from = (uint32_t)from, .to = -1};
    if (colon)
        *colon = 0;
    if (*fresh == '+') {
        if (!read_number(r, fresh + 1, fresh, &m->to))
            return;
    } else if (*fresh) {
        m->name = mem_strdup(&r->t->p->keep, fresh);
    }
    if (colon && colon[1])
        read_number(r, colon + 1, colon + 1, &m->to);
    else if (m->name && !name_number(r, m->name, &m->to)) {
        m->to = -1;
        if (!colon)
            refuse(r, mem_printf(&r->t->p->mem, "can't obtain %s of %s", r->group ? "GID" : "UID", fresh));
    }
}

void read_owner_map(Tar *t, const char *file, bool group)
{
    Reading r = {.t = t, .file = file, .group = group};
    OwnerMap **end = group ? &t->group_map : &t->owner_map;
    Slice text;
    int err = read_file(t->p, file, &text);
    if (err)
        tar_fatal(t, "%s: Cannot open: %s", file, error_text(-err));
    while (*end)
        end = &(*end)->next;
    while (text.len) {
        size_t n = slice_find(text, '\n');
        OwnerMap *m = mem_new(&t->p->keep, OwnerMap);
        *m = (OwnerMap){.to = -2};
        r.line++;
        map_line(&r, mem_copy(&t->p->mem, slice(text.data, n)), m);
        if (m->to != -2) {
            *end = m;
            end = &m->next;
        }
        text = slice_from(text, MIN(n + 1, text.len));
        proc_tick(t->p, 1);
    }
    if (r.failed)
        tar_fatal(t, "errors reading map file");
}

bool owner_mapped(const OwnerMap *map, uint32_t id, uint64_t *to, const char **name)
{
    for (; map; map = map->next)
        if (map->from == id) {
            *to = map->to >= 0 ? (uint64_t)map->to : id;
            *name = map->name;
            return true;
        }
    return false;
}
