/* zip: package and compress files. Info-ZIP's Zip 3.0. The new archive is made beside the old one and takes its place when it is whole. */
#include <zlib.h>

#include "archive/tar/tar.h"
#include "archive/zip/zip.h"

static const Option options[] = {
    {'r', NULL, OPT_FLAG, "recurse into directories", NULL, 0},
    {'j', NULL, OPT_FLAG, "junk (don't record) directory names", NULL, 0},
    {'q', NULL, OPT_FLAG, "quiet operation", NULL, 0},
    {'@', NULL, OPT_FLAG, "read names from stdin", NULL, 0},
    {'x', NULL, OPT_FLAG, "exclude the following names", NULL, 0},
    {'i', NULL, OPT_FLAG, "include only the following names", NULL, 0},
    {'u', NULL, OPT_FLAG, "update: only changed or new files", NULL, 0},
    {'f', NULL, OPT_FLAG, "freshen: only changed files", NULL, 0},
    {'d', NULL, OPT_FLAG, "delete entries in zipfile", NULL, 0},
    {'m', NULL, OPT_FLAG, "move into zipfile (delete OS files)", NULL, 0},
    {'y', NULL, OPT_FLAG, "store symbolic links as the link instead of the referenced file", NULL, 0},
    {'D', NULL, OPT_FLAG, "do not add directory entries", NULL, 0},
    {'X', NULL, OPT_FLAG, "eXclude eXtra file attributes", NULL, 0},
    {'0', NULL, OPT_FLAG, "store only", NULL, 0},
    {'1', NULL, OPT_FLAG, "compress faster", NULL, 0},
    OPTION_DIGIT('2'), OPTION_DIGIT('3'), OPTION_DIGIT('4'), OPTION_DIGIT('5'), OPTION_DIGIT('6'), OPTION_DIGIT('7'), OPTION_DIGIT('8'),
    {'9', NULL, OPT_FLAG, "compress better", NULL, 0},
    OPTIONS_END,
};

typedef struct Item {
    char *name;        /* in the archive */
    const char *path;  /* of the file; NULL: kept from the old archive */
    const ZipEntry *old;
    VStat st;
} Item;

typedef struct {
    Proc *p;
    const char *archive;
    bool recurse, junk, quiet, from_stdin, update, freshen, deletes, moves, links, no_directories, no_extra;
    int level, status;
    char **excluded, **included;
    int excluded_count, included_count;
    Item *items;
    size_t count, cap;
    int out, old;
    uint64_t at;
    Buf directory;
    uint64_t entries;
} Zip;

static NORETURN void fail(Zip *z, int status, const char *text)
{
    out_printf(z->p->out, "\nzip error: %s\n", text);
    output_flush(z->p->out);
    proc_fail(z->p, status);
}

static void warning(Zip *z, const char *text)
{
    if (!z->quiet)
        out_printf(z->p->out, "\tzip warning: %s\n", text);
}

/* --- what goes in --- */

static bool matches(char **patterns, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (glob_match(patterns[i], name, MATCH_WILDCARDS, false))
            return true;
    return false;
}

static void add_item(Zip *z, char *name, const char *path, const ZipEntry *old, const VStat *st)
{
    for (size_t i = 0; i < z->count; i++)
        if (strcmp(z->items[i].name, name) == 0) {
            if (path && !(z->update && z->items[i].old && st->mtime <= z->items[i].old->mtime)) {
                z->items[i].path = path;
                z->items[i].st = *st;
            }
            return;
        }
    if (z->freshen && path)
        return;
    if (z->count == z->cap) {
        size_t cap = z->cap * 2 + 32;
        z->items = mem_grow(&z->p->keep, z->items, z->cap * sizeof(Item), cap * sizeof(Item));
        z->cap = cap;
    }
    z->items[z->count] = (Item){.name = name, .path = path, .old = old};
    if (st)
        z->items[z->count].st = *st;
    z->count++;
}

static char *stored_name(Zip *z, const char *path, bool directory)
{
    if (z->junk)
        return mem_copy(&z->p->keep, base_name(path));
    while (*path == '/')
        path++;
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    size_t n = strlen(path);
    return mem_printf(&z->p->keep, "%s%s", path, directory && n && path[n - 1] != '/' ? "/" : "");
}

static void add_path(Zip *z, const char *path)
{
    Proc *p = z->p;
    VStat st;
    if (proc_stat(p, path, z->links ? V_NOFOLLOW : 0, &st)) {
        warning(z, mem_printf(&p->mem, "name not matched: %s", path));
        return;
    }
    bool directory = S_ISDIR(st.mode);
    char *name = stored_name(z, path, directory);
    bool wanted = !matches(z->excluded, z->excluded_count, name) && (!z->included_count || matches(z->included, z->included_count, name));
    if (wanted && *name && strcmp(name, "./") != 0 && !(directory && (z->no_directories || z->junk)) && (directory || S_ISREG(st.mode) || S_ISLNK(st.mode)))
        add_item(z, name, mem_strdup(&p->keep, path), NULL, &st);
    if (!directory || !z->recurse)
        return;
    VDirent *list;
    size_t count;
    if (!proc_stack_room(p, 1 << 16) || proc_list(p, path, &list, &count)) {
        warning(z, mem_printf(&p->mem, "could not open for reading: %s", path));
        z->status = 18;
        return;
    }
    for (size_t i = 0; i < count; i++)
        add_path(z, path_join(p, strcmp(path, ".") == 0 ? "." : path, list[i].name));
}

/* --- writing --- */

static void put16(Buf *b, unsigned v)
{
    buf_char(b, (char)(v & 255));
    buf_char(b, (char)(v >> 8 & 255));
}

static void put32(Buf *b, uint32_t v)
{
    put16(b, v & 0xffff);
    put16(b, v >> 16);
}

static void emit(Zip *z, Slice data)
{
    ssize_t n = proc_write(z->p, z->out, data);
    if (n < 0 || (size_t)n < data.len)
        fail(z, 14, mem_printf(&z->p->mem, "Output file write failure (%s)", n < 0 ? error_text((int)-n) : error_text(ENOSPC)));
    z->at += data.len;
}

static void dos_time(Zip *z, int64_t mtime, unsigned *date, unsigned *time)
{
    CivilTime t = {0};
    tz_civil(proc_zone(z->p), mtime, 0, &t);
    if (t.year < 1980) {
        *date = 1 << 5 | 1;
        *time = 0;
        return;
    }
    *date = (unsigned)(t.year - 1980) << 9 | (unsigned)t.month << 5 | (unsigned)t.day;
    *time = (unsigned)t.hour << 11 | (unsigned)t.minute << 5 | (unsigned)t.second / 2;
}

static void extra(Zip *z, Buf *b, const VStat *st, bool local)
{
    if (z->no_extra)
        return;
    put16(b, 0x5455);
    put16(b, local ? 9 : 5);
    buf_char(b, 3);
    put32(b, (uint32_t)st->mtime);
    if (local)
        put32(b, (uint32_t)st->atime);
    put16(b, 0x7875);
    put16(b, 11);
    buf_char(b, 1);
    buf_char(b, 4);
    put32(b, st->uid);
    buf_char(b, 4);
    put32(b, st->gid);
}

static void fields(Buf *b, const ZipEntry *e)
{
    put16(b, e->flags);
    put16(b, e->method);
    put16(b, e->dos_time);
    put16(b, e->dos_date);
    put32(b, e->crc);
    put32(b, (uint32_t)e->packed);
    put32(b, (uint32_t)e->size);
    put16(b, (unsigned)strlen(e->name));
}

static void local_header(Zip *z, const ZipEntry *e, const VStat *st)
{
    Buf b, x;
    buf_init(&b, &z->p->mem, 1 << 20);
    buf_init(&x, &z->p->mem, 256);
    extra(z, &x, st, true);
    put32(&b, 0x04034b50);
    put16(&b, e->version);
    fields(&b, e);
    put16(&b, (unsigned)x.len);
    buf_append(&b, slice_str(e->name));
    buf_append(&b, buf_slice(&x));
    emit(z, buf_slice(&b));
}

static void central_header(Zip *z, const ZipEntry *e, const VStat *st)
{
    Buf *b = &z->directory, x;
    buf_init(&x, &z->p->mem, 256);
    if (st)
        extra(z, &x, st, false);
    put32(b, 0x02014b50);
    put16(b, e->made_by);
    put16(b, e->version);
    fields(b, e);
    put16(b, (unsigned)x.len);
    put16(b, 0);
    put16(b, 0);
    put16(b, e->internal);
    put32(b, e->attributes);
    put32(b, (uint32_t)e->offset);
    buf_append(b, slice_str(e->name));
    buf_append(b, buf_slice(&x));
    z->entries++;
}

static bool looks_binary(Slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (c < 7 || (c > 13 && c < 27 && c != 26) || (c > 27 && c < 32))
            return true;
    }
    return s.len == 0;
}

/* The file's data, deflated or as it is. */
static void put_data(Zip *z, int fd, ZipEntry *e, bool deflated)
{
    Source s;
    source_init(&s, z->p, fd);
    char *out = mem_alloc(&z->p->mem, ARCHIVE_BLOCK);
    CodecStream *stream = deflated ? codec_open(z->p, CODEC_DEFLATE, &(CodecParams){.compress = true, .level = z->level}) : NULL;
    uint64_t start = z->at;
    e->crc = 0;
    e->size = 0;
    for (bool first = true, more = true; more; first = false) {
        more = source_fill(&s);
        Slice w = slice(s.window.data, MIN(s.window.len, (size_t)ARCHIVE_BLOCK));
        if (first)
            e->internal = !looks_binary(w);
        e->crc = (uint32_t)crc32_z(e->crc, (const unsigned char *)w.data, w.len);
        e->size += w.len;
        if (!stream)
            emit(z, w);
        CodecIo io = {(const unsigned char *)w.data, w.len, NULL, 0};
        for (int err = CODEC_OK; stream && err != CODEC_END && (io.in_len || !more);) {
            io.out = (unsigned char *)out;
            io.out_len = ARCHIVE_BLOCK;
            err = codec_step(stream, &io, !more);
            if (err < 0)
                proc_raise(z->p, RAISE_MEMORY);
            emit(z, (Slice){out, ARCHIVE_BLOCK - io.out_len});
        }
        source_take(&s, w.len);
        proc_tick(z->p, 1 + w.len / 16);
    }
    if (stream)
        codec_close(z->p, stream);
    e->packed = z->at - start;
}

static void write_new(Zip *z, Item *it)
{
    Proc *p = z->p;
    bool directory = S_ISDIR(it->st.mode), link = S_ISLNK(it->st.mode);
    ZipEntry e = {.name = it->name, .made_by = 0x031e, .version = directory ? 10 : 20, .attributes = it->st.mode << 16 | (directory ? 0x10u : 0), .offset = z->at};
    if (!z->quiet)
        out_printf(p->out, "%s: %s", it->old ? "updating" : "  adding", it->name);
    dos_time(z, it->st.mtime, &e.dos_date, &e.dos_time);
    e.method = directory || link || z->level == 0 ? 0 : 8;
    int fd = -1;
    Slice target = {"", 0};
    bool unread = link ? proc_readlink(p, it->path, &target) != 0 : !directory && (fd = proc_open(p, it->path, V_READ, 0)) < 0;
    if (unread) {
        warning(z, mem_printf(&p->mem, "could not open for reading: %s", it->path));
        z->status = 18;
        return;
    }
    local_header(z, &e, &it->st);
    uint64_t data = z->at;
    if (link) {
        e.size = e.packed = target.len;
        e.crc = (uint32_t)crc32_z(0, (const unsigned char *)target.data, target.len);
        emit(z, target);
    } else if (fd >= 0) {
        put_data(z, fd, &e, e.method == 8);
        if (e.method == 8 && e.packed >= e.size) { /* not worth it: as it is */
            proc_seek(p, fd, 0, SEEK_SET);
            proc_seek(p, z->out, (int64_t)data, SEEK_SET);
            proc_ftruncate(p, z->out, data);
            z->at = data;
            e.method = 0;
            put_data(z, fd, &e, false);
        }
        proc_close(p, fd);
    }
    if (e.method == 0)
        e.version = 10;
    if (e.method == 8)
        e.flags = z->level >= 8 ? 2 : z->level == 2 ? 4 : z->level == 1 ? 6 : 0;
    uint64_t end = z->at;
    proc_seek(p, z->out, (int64_t)e.offset, SEEK_SET);
    local_header(z, &e, &it->st);
    proc_seek(p, z->out, (int64_t)end, SEEK_SET);
    z->at = end;
    central_header(z, &e, &it->st);
    if (!z->quiet)
        out_printf(p->out, e.method ? " (deflated %d%%)\n" : " (stored %d%%)\n", e.method ? zip_percent(e.packed, e.size) : 0);
}

/* A member of the old archive, its data as they are. */
static void keep_old(Zip *z, const Item *it)
{
    ZipEntry e = *it->old;
    VStat st = {.mtime = e.mtime, .atime = e.mtime, .uid = z->p->cred.uid, .gid = z->p->cred.gid};
    if (!zip_seek_data(z->p, z->old, it->old))
        fail(z, 3, "Zip file structure invalid");
    e.flags &= ~8u; /* the sizes stand in front */
    e.offset = z->at;
    local_header(z, &e, &st);
    for (uint64_t left = e.packed; left;) {
        Slice s;
        ssize_t n = proc_read_chunk(z->p, z->old, (size_t)MIN(left, (uint64_t)1 << 16), &s, NULL);
        if (n <= 0)
            fail(z, 2, "Unexpected end of zip file");
        emit(z, s);
        left -= s.len;
    }
    central_header(z, &e, &st);
}

static void write_archive(Proc *p, void *arg)
{
    Zip *z = arg;
    for (size_t i = 0; i < z->count; i++) {
        MemMark mark = mem_mark(&p->mem);
        if (z->items[i].path)
            write_new(z, &z->items[i]);
        else
            keep_old(z, &z->items[i]);
        mem_reset(&p->mem, mark);
    }
    uint64_t start = z->at, size = z->directory.len;
    if (z->entries > 0xfffe || z->at > 0xfffffffe)
        fail(z, 6, "Entry too big to split, read, or write");
    put32(&z->directory, 0x06054b50);
    put32(&z->directory, 0);
    put16(&z->directory, (unsigned)z->entries);
    put16(&z->directory, (unsigned)z->entries);
    put32(&z->directory, (uint32_t)size);
    put32(&z->directory, (uint32_t)start);
    put16(&z->directory, 0);
    emit(z, buf_slice(&z->directory));
}

/* --- the command --- */

static void parse(Zip *z, Args *args, char **names, int *count)
{
    enum { NAMES, EXCLUDED, INCLUDED } to = NAMES;
    for (;;) {
        for (int id; (id = args_next(z->p, args)) != -1;) {
            switch (id) {
            case 'r': z->recurse = true; break;
            case 'j': z->junk = true; break;
            case 'q': z->quiet = true; break;
            case '@': z->from_stdin = true; break;
            case 'x': to = EXCLUDED; break;
            case 'i': to = INCLUDED; break;
            case 'u': z->update = true; break;
            case 'f': z->freshen = true; break;
            case 'd': z->deletes = true; break;
            case 'm': z->moves = true; break;
            case 'y': z->links = true; break;
            case 'D': z->no_directories = true; break;
            case 'X': z->no_extra = true; break;
            default: z->level = id - '0';
            }
        }
        char *operand = args_operand(args);
        if (!operand)
            break;
        if (!z->archive)
            z->archive = operand;
        else if (to == EXCLUDED)
            z->excluded[z->excluded_count++] = operand;
        else if (to == INCLUDED)
            z->included[z->included_count++] = operand;
        else
            names[(*count)++] = operand;
    }
}

static void names_from_input(Zip *z)
{
    Input in = input_fd(z->p, 0, "-");
    in.count = 1;
    Slice record;
    bool ended;
    while (input_record(&in, &record, &ended))
        if (record.len)
            add_path(z, mem_copy(&z->p->keep, record));
}

static void delete_names(Zip *z, char **names, int count)
{
    size_t kept = 0, before = z->count;
    for (int i = 0; i < count; i++) {
        bool any = false;
        for (size_t k = 0; k < z->count; k++)
            any |= glob_match(names[i], z->items[k].name, MATCH_WILDCARDS, false);
        if (!any)
            warning(z, mem_printf(&z->p->mem, "name not matched: %s", names[i]));
    }
    for (size_t k = 0; k < z->count; k++) {
        if (!matches(names, count, z->items[k].name))
            z->items[kept++] = z->items[k];
        else if (!z->quiet)
            out_printf(z->p->out, "deleting: %s\n", z->items[k].name);
    }
    z->count = kept;
    if (kept == before)
        fail(z, 12, mem_printf(&z->p->mem, "Nothing to do! (%s)", z->archive));
}

static void read_old(Zip *z)
{
    ZipDirectory d;
    z->old = proc_open(z->p, z->archive, V_READ, 0);
    if (z->old < 0)
        return;
    if (zip_read_directory(z->p, z->old, &d) != ZIP_OK)
        fail(z, 3, mem_printf(&z->p->mem, "Zip file structure invalid (%s)", z->archive));
    for (size_t i = 0; i < d.count; i++)
        add_item(z, d.entries[i].name, NULL, &d.entries[i], NULL);
}

static bool anything_new(const Zip *z)
{
    for (size_t i = 0; i < z->count; i++)
        if (z->items[i].path)
            return true;
    return z->deletes;
}

static void remove_moved(Zip *z)
{
    for (size_t i = z->count; z->moves && i-- > 0;)
        if (z->items[i].path) {
            if (S_ISDIR(z->items[i].st.mode))
                proc_rmdir(z->p, z->items[i].path);
            else
                proc_unlink(z->p, z->items[i].path);
        }
}

static int zip_main(Proc *p, Args *args)
{
    Zip *z = mem_new(&p->keep, Zip);
    *z = (Zip){.p = p, .level = 6, .old = -1};
    char **names = mem_array(&p->keep, (size_t)args->argc + 1, char *);
    z->excluded = mem_array(&p->keep, (size_t)args->argc + 1, char *);
    z->included = mem_array(&p->keep, (size_t)args->argc + 1, char *);
    int count = 0;
    parse(z, args, names, &count);
    if (!z->archive) {
        print_help(p, args->command);
        return 0;
    }
    Slice base = base_name(z->archive);
    if (strcmp(z->archive, "-") == 0)
        fail(z, 16, "Invalid command arguments (an archive on standard output is not supported here)");
    if (slice_find(base, '.') == base.len)
        z->archive = mem_printf(&p->keep, "%s.zip", z->archive);
    buf_init(&z->directory, &p->keep, BUF_MAX);
    read_old(z);
    if (z->deletes) {
        delete_names(z, names, count);
    } else {
        for (int i = 0; i < count; i++)
            add_path(z, names[i]);
        if (z->from_stdin)
            names_from_input(z);
    }
    if (!anything_new(z)) {
        if (z->update || z->freshen)
            return 12;
        fail(z, 12, mem_printf(&p->mem, "Nothing to do! (%s)", z->archive));
    }
    const char *made = mem_printf(&p->keep, "%.*s/.zip-%d", (int)dir_name(z->archive).len, dir_name(z->archive).data, (int)p->pid);
    z->out = proc_open(p, made, V_READ | V_WRITE | V_CREATE | V_EXCL, 0666);
    if (z->out < 0)
        fail(z, 15, mem_printf(&p->mem, "Could not create output file (%s)", z->archive));
    guarded_output(p, made, write_archive, z);
    proc_close(p, z->out);
    if (z->entries == 0)
        warning(z, "zip file empty");
    if (proc_rename(p, made, z->archive, false)) {
        proc_unlink(p, made);
        fail(z, 15, mem_printf(&p->mem, "Could not create output file (%s)", z->archive));
    }
    remove_moved(z);
    return z->status;
}

COMMAND(zip, "zip [-options] [zipfile list] [-xi list]", "Add or replace zipfile entries from list.", options, COMMAND_WRITES | COMMAND_ORDERED, .usage_status = 16, .package = "Zip 3.0",
        .notes = "Archives up to 4 GiB and 65,534 members; no passwords, no archive on standard output.");
