/* incremental: -g and -G. The directories are walked first, each with the list of what is in it and what of that goes into the archive;
 * then come the files. A list is a row of strings that end in NUL, each a letter and a name (Y in the archive, N not, D a directory,
 * R and T the old and the new name of a directory), and an empty one. The snapshot keeps the lists for the next time.
 */
#include "archive/tar/tar.h"

enum { LIST_MOST = 1 << 26 };

typedef struct SnapDir {
    struct SnapDir *next;  /* of all, in order of being found */
    const char *name;
    uint32_t dev;
    uint64_t ino;
    int64_t mtime;
    uint32_t mtime_ns;
    Slice old, list;       /* as the snapshot had it (data NULL: it had none), and as it is */
    const char *renamed;   /* from what, or NULL */
    bool found;
} SnapDir;

struct Snapshot {
    Map names, inodes;
    SnapDir *first, **end;
    size_t count;
};

/* --- lists --- */

static Slice list_next(Slice *list)
{
    size_t n = strnlen(list->data, list->len);
    Slice entry = slice(list->data, n);
    *list = slice_from(*list, MIN(n + 1, list->len));
    return entry;
}

/* The letter of `name` in a list; 0: it is not there. */
static char list_find(Slice list, const char *name)
{
    while (list.len) {
        Slice entry = list_next(&list);
        if (entry.len && strchr("YND", entry.data[0]) && slice_is(slice_from(entry, 1), name))
            return entry.data[0];
    }
    return 0;
}

/* --- the snapshot --- */

static const char *inode_key(Tar *t, uint32_t dev, uint64_t ino) { return mem_printf(&t->p->mem, "%u:%llu", dev, (unsigned long long)ino); }

static SnapDir *add_dir(Tar *t, const char *name, uint32_t dev, uint64_t ino)
{
    Snapshot *s = t->snapshot;
    SnapDir *d = mem_new(&t->p->keep, SnapDir);
    *d = (SnapDir){.name = mem_strdup(&t->p->keep, name), .dev = dev, .ino = ino};
    *s->end = d;
    s->end = &d->next;
    s->count++;
    map_put(&s->names, slice_str(name))->value = d;
    MapEntry *e = map_put(&s->inodes, slice_str(inode_key(t, dev, ino)));
    e->value = e->value ? e->value : d; /* of those that a snapshot gives one inode, the first */
    return d;
}

static SnapDir *dir_named(Tar *t, const char *name)
{
    MapEntry *e = map_get(&t->snapshot->names, slice_str(name));
    return e ? e->value : NULL;
}

typedef struct Cursor {
    Tar *t;
    Slice all;
    size_t at;
} Cursor;

static NORETURN void cut_short(Cursor *c) { tar_fatal(c->t, "%s: Unexpected EOF in snapshot file", c->t->snapshot_file); }

static int64_t read_number(Cursor *c, const char *what)
{
    size_t begin = c->at, n = strnlen(c->all.data + begin, c->all.len - begin);
    int64_t v;
    for (size_t i = 0; i < n; i++) {
        unsigned char b = (unsigned char)c->all.data[begin + i];
        if ((b < '0' || b > '9') && !(i == 0 && b == '-'))
            tar_fatal(c->t, "%s: byte %zu: %s %.*s followed by invalid byte 0x%02x", c->t->snapshot_file, begin + i + 1, what, (int)i, c->all.data + begin, b);
    }
    if (begin + n >= c->all.len)
        cut_short(c);
    if (parse_int(mem_copy(&c->t->p->mem, slice(c->all.data + begin, n)), &v))
        tar_fatal(c->t, "%s: byte %zu: (valid range 0..9223372036854775807)\n\t%.*s %s", c->t->snapshot_file, begin + n, (int)n, c->all.data + begin, what);
    c->at = begin + n + 1;
    return v;
}

static Slice read_text(Cursor *c)
{
    size_t begin = c->at, n = strnlen(c->all.data + begin, c->all.len - begin);
    if (begin + n >= c->all.len)
        cut_short(c);
    c->at = begin + n + 1;
    return slice(c->all.data + begin, n);
}

static void read_dir(Cursor *c)
{
    Tar *t = c->t;
    read_number(c, "nfs");
    int64_t mtime = read_number(c, "sec"), ns = read_number(c, "nsec"), dev = read_number(c, "dev"), ino = read_number(c, "ino");
    SnapDir *d = add_dir(t, mem_copy(&t->p->mem, read_text(c)), (uint32_t)dev, (uint64_t)ino);
    size_t begin = c->at;
    d->mtime = mtime;
    d->mtime_ns = (uint32_t)ns;
    while (read_text(c).len)
        proc_tick(t->p, 1);
    d->old = slice(mem_copy(&t->p->keep, slice(c->all.data + begin, c->at - begin)), c->at - begin);
    if (c->at >= c->all.len || c->all.data[c->at++])
        tar_fatal(t, "%s: byte %zu: Missing record terminator", t->snapshot_file, c->at);
}

static void read_snapshot(Tar *t, Slice text)
{
    static const char head[] = "GNU tar-";
    Cursor c = {t, text, 0};
    size_t line = slice_find(text, '\n');
    Slice first = slice(text.data, line);
    bool newest = slice_starts(first, SLICE(head)) && first.len > 2 && first.data[first.len - 1] == '2' && first.data[first.len - 2] == '-';
    if (!newest)
        tar_fatal(t, slice_starts(first, SLICE(head)) ? "Unsupported incremental format version" : "%s:1: Invalid time stamp: Invalid argument", t->snapshot_file);
    c.at = MIN(line + 1, text.len);
    t->newer = read_number(&c, "sec");
    t->newer_ns = (uint32_t)read_number(&c, "nsec");
    while (c.at < text.len)
        read_dir(&c);
}

void incremental_open(Tar *t)
{
    Snapshot *s = t->snapshot = mem_new(&t->p->keep, Snapshot);
    *s = (Snapshot){.end = &s->first};
    map_init(&s->names, &t->p->keep);
    map_init(&s->inodes, &t->p->keep);
    if (!t->newer_given)
        t->newer = INT64_MIN;
    if (!t->snapshot_file)
        return;
    t->newer_given = true;
    Slice text = {"", 0};
    t->snapshot_fd = proc_open(t->p, t->snapshot_file, V_READ | V_WRITE | V_CREATE | (t->level_zero ? V_TRUNC : 0), 0666);
    if (t->snapshot_fd < 0)
        tar_errno(t, t->snapshot_fd, "%s: Cannot open", t->snapshot_file);
    else
        text = read_all(t->p, t->snapshot_fd);
    if (text.len)
        read_snapshot(t, text);
}

static void put_number(Buf *b, uint64_t v)
{
    buf_printf(b, "%llu", (unsigned long long)v);
    buf_char(b, 0);
}

static void put_dir(Buf *b, const SnapDir *d)
{
    put_number(b, 0);
    buf_printf(b, "%lld", (long long)d->mtime);
    buf_char(b, 0);
    put_number(b, d->mtime_ns);
    put_number(b, d->dev);
    put_number(b, d->ino);
    buf_append(b, slice(d->name, strlen(d->name) + 1));
    buf_append(b, d->list);
    buf_append(b, SLICE("\0"));
}

static void write_snapshot(Tar *t)
{
    Buf b;
    if (!t->snapshot_file || t->snapshot_fd < 0)
        return;
    buf_init(&b, &t->p->mem, BUF_MAX);
    buf_printf(&b, "GNU tar-1.34-2\n%lld", (long long)t->began);
    buf_char(&b, 0);
    put_number(&b, t->began_ns);
    for (const SnapDir *d = t->snapshot->first; d; d = d->next)
        if (d->found)
            put_dir(&b, d);
    int err = (int)proc_seek(t->p, t->snapshot_fd, 0, SEEK_SET);
    err = err < 0 ? err : proc_ftruncate(t->p, t->snapshot_fd, 0);
    Slice rest = buf_slice(&b);
    for (ssize_t n; err >= 0 && rest.len; rest = slice_from(rest, (size_t)n))
        if ((n = proc_write(t->p, t->snapshot_fd, rest)) < 0)
            err = (int)n;
    if (err < 0)
        tar_fatal(t, "%s: Cannot write: %s", t->snapshot_file, error_text(-err));
    proc_close(t->p, t->snapshot_fd);
}

/* --- the walk --- */

/* Those that lay below a directory with another name have one that begins with the new name now; those found already have theirs. */
static void rename_below(Tar *t, const char *from, const char *to)
{
    size_t n = strlen(from);
    proc_tick(t->p, 1 + t->snapshot->count / 8);
    for (SnapDir *d = t->snapshot->first; d; d = d->next)
        if (!d->found && strncmp(d->name, from, n) == 0 && d->name[n] == '/') {
            d->name = mem_printf(&t->p->keep, "%s%s", to, d->name + n);
            MapEntry *e = map_put(&t->snapshot->names, slice_str(d->name));
            e->value = e->value && ((SnapDir *)e->value)->found ? e->value : d;
        }
}

static void tell(Tar *t, const char *format, const char *name, const char *other)
{
    if (!t->verbose)
        return;
    output_flush(t->list);
    warn(t->p, format, tar_quote(t, name), other ? quote(t->p, other) : "");
}

/* The directory, found now, with what the snapshot knows of it. */
static SnapDir *meet(Tar *t, const char *name, const VStat *st)
{
    SnapDir *d = dir_named(t, name), *same = NULL;
    if (d && d->found)
        return d;
    if (!d || d->ino != st->ino || d->dev != st->dev) {
        MapEntry *e = map_get(&t->snapshot->inodes, slice_str(inode_key(t, st->dev, st->ino)));
        same = e ? e->value : NULL;
        if (same && same->found)
            same = NULL;
        if (!d || same)
            d = add_dir(t, name, st->dev, st->ino);
        else
            d->old = (Slice){NULL, 0};
        if (same) {
            tell(t, "%s: Directory has been renamed from %s", name, same->name);
            d->old = same->old;
            d->renamed = same->name;
        } else {
            tell(t, d->old.data || d->ino != st->ino ? "%s: Directory has been renamed" : "%s: Directory is new", name, NULL);
        }
    }
    d->found = true;
    d->dev = st->dev;
    d->ino = st->ino;
    d->mtime = st->mtime;
    d->mtime_ns = st->mtime_ns;
    if (same)
        rename_below(t, same->name, name);
    return d;
}

static char letter_of(Tar *t, const SnapDir *d, const char *path, const char *name)
{
    VStat st;
    int err;
    if (excluded(t, path))
        return 'N';
    if ((err = proc_stat(t->p, path, t->dereference ? 0 : V_NOFOLLOW, &st))) {
        tar_errno(t, err, "%s: Cannot stat", tar_quote(t, path));
        return 'N';
    }
    if (S_ISDIR(st.mode)) {
        meet(t, path, &st);
        return 'D';
    }
    if (t->one_file_system && st.dev != t->device)
        return 'N';
    return d->old.data && list_find(d->old, name) && older(t, &st) ? 'N' : 'Y';
}

static void scan(Tar *t, SnapDir *d)
{
    Buf b;
    VDirent *list;
    size_t count;
    int err = proc_list(t->p, d->name, &list, &count);
    if (err) {
        tar_errno(t, err, "%s: Cannot open", tar_quote(t, d->name));
        return;
    }
    if (!proc_stack_room(t->p, 1 << 16)) {
        tar_errno(t, ELOOP, "%s: Cannot open", tar_quote(t, d->name));
        return;
    }
    buf_init(&b, &t->p->mem, LIST_MOST);
    for (size_t i = 0; i < count; i++) {
        const char *name = mem_copy(&t->p->mem, list[i].name);
        buf_char(&b, letter_of(t, d, path_join(t->p, d->name, list[i].name), name));
        buf_append(&b, slice(name, strlen(name) + 1));
        proc_tick(t->p, 4);
    }
    buf_char(&b, 0);
    d->list = slice(mem_copy(&t->p->keep, buf_slice(&b)), b.len);
    for (Slice rest = d->list; rest.len;) {
        Slice entry = list_next(&rest);
        if (entry.len && entry.data[0] == 'D')
            scan(t, dir_named(t, path_join(t->p, d->name, slice_from(entry, 1))));
    }
}

static SnapDir *merge(SnapDir *a, SnapDir *b)
{
    SnapDir *first = NULL, **end = &first;
    while (a && b) {
        SnapDir **from = strcmp(a->name, b->name) <= 0 ? &a : &b;
        *end = *from;
        end = &(*end)->next;
        *from = *end;
    }
    *end = a ? a : b;
    return first;
}

static SnapDir *sorted(SnapDir *list, size_t count)
{
    if (count < 2)
        return list;
    SnapDir *half = list;
    for (size_t i = 1; i < count / 2; i++)
        half = half->next;
    SnapDir *second = half->next;
    half->next = NULL;
    return merge(sorted(list, count / 2), sorted(second, count - count / 2));
}

/* What has been renamed is said in the list of the first directory. */
static void add_renames(Tar *t, SnapDir *first)
{
    Buf b;
    buf_init(&b, &t->p->keep, LIST_MOST);
    buf_append(&b, slice(first->list.data, first->list.len ? first->list.len - 1 : 0));
    for (const SnapDir *d = t->snapshot->first; d; d = d->next)
        if (d->renamed) {
            buf_char(&b, 'R');
            buf_append(&b, slice(d->renamed, strlen(d->renamed) + 1));
            buf_char(&b, 'T');
            buf_append(&b, slice(d->name, strlen(d->name) + 1));
        }
    buf_char(&b, 0);
    first->list = buf_slice(&b);
}

static void put_files(Tar *t, const SnapDir *d)
{
    for (Slice rest = d->list; rest.len;) {
        Slice entry = list_next(&rest);
        MemMark mark = mem_mark(&t->p->mem);
        if (entry.len && entry.data[0] == 'Y')
            dump_found(t, path_join(t->p, d->name, slice_from(entry, 1)));
        mem_reset(&t->p->mem, mark);
    }
}

Slice incremental_list(Tar *t, const char *path)
{
    char *plain = mem_strdup(&t->p->mem, path);
    strip_slashes(plain);
    SnapDir *d = dir_named(t, plain);
    return d ? d->list : (Slice){"", 0};
}

void incremental_create(Tar *t)
{
    Snapshot *s = t->snapshot;
    NameArg *files = mem_array(&t->p->keep, t->name_count + 1, NameArg);
    size_t file_count = 0;
    for (size_t i = 0; i < t->name_count; i++) {
        const char *name = t->names[i].text;
        VStat st;
        if (!name) {
            tar_chdir(t, t->names[i].directory);
            continue;
        }
        if (excluded(t, name))
            continue;
        int err = proc_stat(t->p, name, t->dereference ? 0 : V_NOFOLLOW, &st);
        if (err)
            tar_errno(t, err, "%s: Cannot stat", tar_quote(t, name));
        t->device = st.dev;
        if (!err && S_ISDIR(st.mode))
            scan(t, meet(t, name, &st));
        else
            files[file_count++] = (NameArg){.text = name};
    }
    s->first = sorted(s->first, s->count);
    SnapDir *first = s->first;
    while (first && !first->found)
        first = first->next;
    if (first)
        add_renames(t, first);
    for (const SnapDir *d = s->first; d; d = d->next)
        if (d->found)
            dump_found(t, d->name);
    for (size_t i = 0; i < file_count; i++)
        dump_found(t, files[i].text);
    t->listed = true;
    for (const SnapDir *d = s->first; d; d = d->next)
        if (d->found)
            put_files(t, d);
    t->listed = false;
    write_snapshot(t);
}

/* --- extracting --- */

static bool leads_away(const char *path) { return *path == '/' || strcmp(path, "..") == 0 || strncmp(path, "../", 3) == 0 || strstr(path, "/../") || (strlen(path) > 2 && strcmp(path + strlen(path) - 3, "/..") == 0); }

static void rename_listed(Tar *t, Slice list)
{
    const char *from = NULL;
    while (list.len) {
        Slice entry = list_next(&list);
        if (entry.len && entry.data[0] == 'R')
            from = entry.data + 1;
        if (!entry.len || entry.data[0] != 'T' || !from)
            continue;
        const char *to = entry.data + 1;
        int err = !t->absolute && (leads_away(from) || leads_away(to)) ? -EPERM : proc_rename(t->p, from, to, false);
        if (err)
            tar_errno(t, err, "Cannot rename %s to %s", quote(t->p, from), quote(t->p, to));
        from = NULL;
    }
}

/* What is in the directory and was not when the archive was made goes. */
void incremental_purge(Tar *t, const char *directory, Slice list)
{
    VDirent *here;
    size_t count;
    rename_listed(t, list);
    if (proc_list(t->p, directory, &here, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        const char *path = path_join(t->p, directory, here[i].name);
        char letter = list_find(list, mem_copy(&t->p->mem, here[i].name));
        VStat st;
        if (proc_stat(t->p, path, V_NOFOLLOW, &st))
            continue;
        if (letter == 'N' || (letter && (letter == 'D') == S_ISDIR(st.mode)))
            continue;
        if (t->interactive) {
            out_printf(t->p->err, "delete %s?", quote(t->p, path));
            if (!ask(t->p))
                continue;
        }
        if (t->verbose)
            out_printf(t->list, "tar: Deleting %s\n", quote(t->p, path));
        if (!remove_tree(t->p, path))
            tar_error(t, "%s: Cannot remove", tar_quote(t, path));
    }
}

void incremental_show(Tar *t, Slice list)
{
    while (list.len) {
        Slice entry = list_next(&list);
        if (entry.len)
            out_printf(t->list, "%c %.*s", entry.data[0], (int)entry.len - 1, entry.data + 1);
        out_char(t->list, '\n');
    }
}
