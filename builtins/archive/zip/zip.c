/* zip: package and compress files. Info-ZIP's Zip 3.0. The new archive is made beside the old one and takes its place when it is whole. */
#include <zlib.h>

#include "archive/tar/tar.h"
#include "archive/zip/zip.h"

enum { OPT_SYNC = 256, OPT_FROM_CRLF, OPT_FIXFIX, OPT_SHOW };

static const Option options[] = {
    {'r', "recurse-paths", OPT_FLAG, "recurse into directories", NULL, 0},
    {'R', "recurse-patterns", OPT_FLAG, "the names are patterns of what lies below the current directory", NULL, 0},
    {'j', "junk-paths", OPT_FLAG, "junk (don't record) directory names", NULL, 0},
    {'q', "quiet", OPT_FLAG, "quiet operation", NULL, 0},
    {'@', "names-stdin", OPT_FLAG, "read names from stdin", NULL, 0},
    {'x', "exclude", OPT_FLAG, "exclude the following names", NULL, 0},
    {'i', "include", OPT_FLAG, "include only the following names", NULL, 0},
    {'u', "update", OPT_FLAG, "update: only changed or new files", NULL, 0},
    {'f', "freshen", OPT_FLAG, "freshen: only changed files", NULL, 0},
    {0, "filesync", OPT_FLAG, "delete entries that have no file, too (as -FS)", NULL, OPT_SYNC},
    {'S', NULL, OPT_FLAG, NULL, NULL, OPT_SYNC},
    {'d', "delete", OPT_FLAG, "delete entries in zipfile", NULL, 0},
    {'m', "move", OPT_FLAG, "move into zipfile (delete OS files)", NULL, 0},
    {'g', "grow", OPT_FLAG, "allow growing existing zipfile; the archive is made anew in any case", NULL, 0},
    {'y', "symlinks", OPT_FLAG, "store symbolic links as the link instead of the referenced file", NULL, 0},
    {'D', "no-dir-entries", OPT_FLAG, "do not add directory entries", NULL, 0},
    {'X', "strip-extra", OPT_FLAG, "eXclude eXtra file attributes", NULL, 0},
    {'o', "latest-time", OPT_FLAG, "make zipfile as old as latest entry", NULL, 0},
    {'l', "to-crlf", OPT_FLAG, "convert LF to CR LF (-ll CR LF to LF)", NULL, 0},
    {0, "from-crlf", OPT_FLAG, "convert CR LF to LF", NULL, OPT_FROM_CRLF},
    {'n', "suffixes", OPT_VALUE, "don't compress these suffixes: .gif:.zip", "suffixes", 0},
    {'c', "entry-comments", OPT_FLAG, "add one-line comments", NULL, 0},
    {'z', "archive-comment", OPT_FLAG, "add zipfile comment", NULL, 0},
    {'T', "test", OPT_FLAG, "test zipfile integrity", NULL, 0},
    {'A', "adjust-sfx", OPT_FLAG, "adjust self-extracting exe", NULL, 0},
    {'J', "junk-sfx", OPT_FLAG, "junk zipfile prefix (unzipsfx)", NULL, 0},
    {'F', "fix", OPT_FLAG, "fix zipfile, wants --out", NULL, 0},
    {0, "fixfix", OPT_FLAG, "try harder (as -FF)", NULL, OPT_FIXFIX},
    {'O', "output-file", OPT_VALUE, "write the new archive to another file", "file", 0},
    {0, "out", OPT_VALUE, NULL, "file", 'O'},
    {'s', NULL, OPT_VALUE, "-sf: show the files there are; split archives are refused", "f", 0},
    {0, "show-files", OPT_FLAG, "show the files there are", NULL, OPT_SHOW},
    {'M', "must-match", OPT_FLAG, "-MM: input patterns must match at least one file and be readable", NULL, 0},
    {'b', "temp-path", OPT_VALUE, "accepted: the new archive is made beside the old one", "path", 0},
    {'e', "encrypt", OPT_FLAG, "encrypt; refused: there is no terminal to ask for a password on", NULL, 0},
    OPTION_HELP('h'),
    {'0', NULL, OPT_FLAG, "store only", NULL, 0},
    {'1', NULL, OPT_FLAG, "compress faster", NULL, 0},
    OPTION_DIGIT('2'), OPTION_DIGIT('3'), OPTION_DIGIT('4'), OPTION_DIGIT('5'), OPTION_DIGIT('6'), OPTION_DIGIT('7'), OPTION_DIGIT('8'),
    {'9', NULL, OPT_FLAG, "compress better", NULL, 0},
    OPTIONS_END,
};

void zip_fail(Zip *z, int status, const char *text)
{
    out_printf(z->p->out, "\nzip error: %s\n", text);
    output_flush(z->p->out);
    proc_fail(z->p, status);
}

void zip_warning(Zip *z, const char *text)
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

/* A file whose name is among the items. */
static void renew_item(const Zip *z, Item *item, const char *path, const VStat *st)
{
    if (z->sync && item->old && item->old->mtime == st->mtime && (S_ISDIR(st->mode) || item->old->size == st->size)) {
        item->st.nlink = 1; /* it is there, as it is in the archive */
    } else if (!((z->update || z->freshen) && item->old && st->mtime <= item->old->mtime)) {
        item->path = path;
        item->st = *st;
    }
}

/* path and st NULL: kept from the old archive. */
static void add_item(Zip *z, char *name, const char *path, const ZipEntry *old, const VStat *st)
{
    proc_tick(z->p, 1);
    const MapEntry *known = map_get(&z->names, slice_str(name));
    if (known && path)
        renew_item(z, &z->items[(uintptr_t)known->value], path, st);
    if (known || (z->freshen && path))
        return;
    if (z->count == z->cap) {
        size_t cap = z->cap * 2 + 32;
        z->items = mem_grow(&z->p->keep, z->items, z->cap * sizeof(Item), cap * sizeof(Item));
        z->cap = cap;
    }
    z->items[z->count] = (Item){.name = name, .path = path, .old = old, .comment = old ? old->comment : (Slice){"", 0}};
    if (st)
        z->items[z->count].st = *st;
    map_put(&z->names, slice_str(name))->value = (void *)(uintptr_t)z->count++;
}

void zip_add_old(Zip *z, ZipEntry *e) { add_item(z, e->name, NULL, e, NULL); }

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
        zip_warning(z, mem_printf(&p->mem, "name not matched: %s", path));
        if (z->must_match) {
            out_str(p->out, "zip I/O error: No such file or directory");
            zip_fail(z, 18, mem_printf(&p->mem, "File not found or no read permission (%s)", path));
        }
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
        zip_warning(z, mem_printf(&p->mem, "could not open for reading: %s", path));
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
        zip_fail(z, 14, mem_printf(&z->p->mem, "Output file write failure (%s)", n < 0 ? error_text((int)-n) : error_text(ENOSPC)));
    z->at += data.len;
}

static void dos_time(Zip *z, int64_t mtime, unsigned *date, unsigned *time)
{
    CivilTime t = {0};
    tz_civil(proc_zone(z->p), (mtime + 1) & ~(int64_t)1, 0, &t); /* seconds are even there, rounded up */
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

static void central_header(Zip *z, const ZipEntry *e, const VStat *st, Slice comment)
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
    put16(b, (unsigned)comment.len);
    put16(b, 0);
    put16(b, e->internal);
    put32(b, e->attributes);
    put32(b, (uint32_t)e->offset);
    buf_append(b, slice_str(e->name));
    buf_append(b, buf_slice(&x));
    buf_append(b, comment);
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

/* Lines with the ends that -l and -ll ask for. *cr: the last byte was a CR that is not passed on yet. */
static Slice with_line_ends(Zip *z, Slice s, bool *cr, bool last)
{
    Buf b;
    buf_init(&b, &z->p->mem, BUF_MAX);
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        if (*cr && c != '\n')
            buf_char(&b, '\r');
        *cr = z->to_crlf == 2 && c == '\r';
        if (z->to_crlf == 1 && c == '\n')
            buf_char(&b, '\r');
        if (!*cr)
            buf_char(&b, c);
    }
    if (*cr && last)
        buf_char(&b, '\r');
    return b.data ? buf_slice(&b) : (Slice){"", 0};
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
    for (bool first = true, more = true, cr = false; more; first = false) {
        MemMark mark = mem_mark(&z->p->mem);
        more = source_fill(&s);
        Slice w = slice(s.window.data, MIN(s.window.len, (size_t)ARCHIVE_BLOCK));
        if (first)
            e->internal = !looks_binary(w);
        size_t read = w.len;
        if (z->to_crlf && e->internal)
            w = with_line_ends(z, w, &cr, !more);
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
        source_take(&s, read);
        mem_reset(&z->p->mem, mark);
        proc_tick(z->p, 1 + w.len / 16);
    }
    if (stream)
        codec_close(z->p, stream);
    e->packed = z->at - start;
}

static bool only_stored(const Zip *z, const char *name)
{
    size_t len = strlen(name);
    for (const char *s = z->suffixes; *s; s += strcspn(s, ":;,"), s += *s != 0) {
        size_t n = strcspn(s, ":;,");
        if (n && n <= len && strncmp(name + len - n, s, n) == 0)
            return true;
    }
    return false;
}

static void write_new(Zip *z, Item *it)
{
    Proc *p = z->p;
    bool directory = S_ISDIR(it->st.mode), link = S_ISLNK(it->st.mode);
    ZipEntry e = {.name = it->name, .made_by = 0x031e, .version = directory ? 10 : 20, .attributes = it->st.mode << 16 | (directory ? 0x10u : 0), .offset = z->at};
    if (!z->quiet)
        out_printf(p->out, "%s: %s", it->old ? "updating" : "  adding", it->name);
    dos_time(z, it->st.mtime, &e.dos_date, &e.dos_time);
    e.method = directory || link || z->level == 0 || only_stored(z, it->name) ? 0 : 8;
    int fd = -1;
    Slice target = {"", 0};
    bool unread = link ? proc_readlink(p, it->path, &target) != 0 : !directory && (fd = proc_open(p, it->path, V_READ, 0)) < 0;
    if (unread) {
        zip_warning(z, mem_printf(&p->mem, "could not open for reading: %s", it->path));
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
    it->done = e;
    if (!z->quiet)
        out_printf(p->out, e.method ? " (deflated %d%%)\n" : " (stored %d%%)\n", e.method ? zip_percent(e.packed, e.size) : 0);
}

/* A member of the old archive, its data as they are. */
static void keep_old(Zip *z, Item *it)
{
    ZipEntry e = *it->old;
    it->st = (VStat){.mtime = e.mtime, .atime = e.mtime, .uid = e.has_ids ? e.uid : z->p->cred.uid, .gid = e.has_ids ? e.gid : z->p->cred.gid};
    if (!zip_seek_data(z->p, z->old, it->old)) {
        zip_warning(z, mem_printf(&z->p->mem, "Did not find entry for %s", it->name));
        zip_fail(z, 3, mem_printf(&z->p->mem, "Zip file structure invalid (was copying %s)", it->name));
    }
    e.flags &= ~8u; /* the sizes stand in front */
    e.offset = z->at;
    local_header(z, &e, &it->st);
    for (uint64_t left = e.packed; left;) {
        Slice s;
        ssize_t n = proc_read_chunk(z->p, z->old, (size_t)MIN(left, (uint64_t)1 << 16), &s, NULL);
        if (n <= 0)
            zip_fail(z, 2, "Unexpected end of zip file");
        emit(z, s);
        left -= s.len;
    }
    it->done = e;
}

/* What stands before the first member, a program that unpacks the rest, stays. */
static void copy_prefix(Zip *z)
{
    if (!z->prefix || proc_seek(z->p, z->old, 0, SEEK_SET) < 0)
        return;
    for (uint64_t left = z->prefix; left;) {
        Slice s;
        if (proc_read_chunk(z->p, z->old, (size_t)MIN(left, (uint64_t)1 << 16), &s, NULL) <= 0)
            zip_fail(z, 2, "Unexpected end of zip file");
        emit(z, s);
        left -= s.len;
    }
}

/* A line of standard input without its end; false at the end. Byte by byte, for what follows is somebody else's. */
static bool read_line(Zip *z, Buf *b)
{
    char c;
    ssize_t n;
    buf_init(b, &z->p->keep, 0xffff);
    output_flush(z->p->out);
    while ((n = proc_read(z->p, 0, &c, 1)) == 1 && c != '\n')
        if (b->len < 0xfffe)
            buf_char(b, c);
    return n == 1 || b->len;
}

static void ask_comments(Zip *z)
{
    for (size_t i = 0; i < z->count; i++) {
        Buf b;
        if (!z->items[i].path)
            continue;
        if (!z->quiet)
            out_printf(z->p->out, "Enter comment for %s:\n", z->items[i].name);
        if (read_line(z, &b))
            z->items[i].comment = buf_slice(&b);
    }
}

static void show_comment(Zip *z)
{
    out_str(z->p->out, "current zip file comment is:\n");
    out_write(z->p->out, z->comment);
    if (z->comment.data[z->comment.len - 1] != '\n')
        out_char(z->p->out, '\n');
}

static void ask_archive_comment(Zip *z)
{
    Buf all, line;
    if (z->comment.len && !z->quiet)
        show_comment(z);
    if (!z->quiet)
        out_str(z->p->out, "enter new zip file comment (end with .):\n");
    buf_init(&all, &z->p->keep, 0xffff);
    bool any = false;
    while (read_line(z, &line) && !slice_is(buf_slice(&line), ".")) {
        if (all.len + line.len + 2 > 0xffff)
            break;
        if (any || !line.len)
            buf_append(&all, SLICE("\r\n"));
        buf_append(&all, buf_slice(&line));
        any = true;
    }
    z->comment = all.len ? buf_slice(&all) : (Slice){"", 0};
}

static void write_archive(Proc *p, void *arg)
{
    Zip *z = arg;
    copy_prefix(z);
    for (size_t i = 0; i < z->count; i++) {
        MemMark mark = mem_mark(&p->mem);
        if (z->items[i].path)
            write_new(z, &z->items[i]);
        else
            keep_old(z, &z->items[i]);
        if (z->copying && !z->quiet)
            out_printf(p->out, " copying: %s\n", z->items[i].name);
        mem_reset(&p->mem, mark);
    }
    if (z->comments)
        ask_comments(z);
    if (z->archive_comment)
        ask_archive_comment(z);
    for (size_t i = 0; i < z->count; i++)
        if (z->items[i].done.name)
            central_header(z, &z->items[i].done, &z->items[i].st, z->items[i].comment);
    uint64_t start = z->at, size = z->directory.len;
    if (z->entries > 0xfffe || z->at > 0xfffffffe)
        zip_fail(z, 6, "Entry too big to split, read, or write");
    put32(&z->directory, 0x06054b50);
    put32(&z->directory, 0);
    put16(&z->directory, (unsigned)z->entries);
    put16(&z->directory, (unsigned)z->entries);
    put32(&z->directory, (uint32_t)size);
    put32(&z->directory, (uint32_t)start);
    put16(&z->directory, (unsigned)z->comment.len);
    buf_append(&z->directory, z->comment);
    emit(z, buf_slice(&z->directory));
}

/* --- the command --- */

static void parse(Zip *z, Args *args, char **names, int *count)
{
    enum { NAMES, EXCLUDED, INCLUDED } to = NAMES;
    for (;;) {
        for (int id; (id = args_next(z->p, args)) != -1;) {
            if (id == 'F')
                z->fix++;
            switch (id) {
            case 'F': break;
            case 'S': case OPT_SYNC: z->sync = true; z->fix = 0; break;
            case OPT_FIXFIX: z->fix = 2; break;
            case OPT_FROM_CRLF: z->to_crlf = 2; break;
            case OPT_SHOW: z->show_files = true; break;
            case 'R': z->recurse = z->patterns = true; break;
            case 'o': z->latest = true; break;
            case 'l': z->to_crlf = MIN(z->to_crlf + 1, 2); break;
            case 'n': z->suffixes = mem_strdup(&z->p->keep, args->value); break;
            case 'c': z->comments = true; break;
            case 'z': z->archive_comment = true; break;
            case 'T': z->test = true; break;
            case 'A': z->adjust = true; break;
            case 'J': z->junk_prefix = true; break;
            case 'O': z->output = mem_strdup(&z->p->keep, args->value); break;
            case 's':
                if (strcmp(args->value, "f"))
                    zip_fail(z, 16, "Invalid command arguments (split archives are not made here)");
                z->show_files = true;
                break;
            case 'M': z->must_match = true; break;
            case 'b': case 'g': break;
            case 'e': zip_fail(z, 16, "Invalid command arguments (stderr is not a tty)");
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
        proc_tick(z->p, 1 + z->count / 8);
        for (size_t k = 0; k < z->count; k++)
            any |= glob_match(names[i], z->items[k].name, MATCH_WILDCARDS, false);
        if (!any)
            zip_warning(z, mem_printf(&z->p->mem, "name not matched: %s", names[i]));
    }
    for (size_t k = 0; k < z->count; k++) {
        if (!matches(names, count, z->items[k].name))
            z->items[kept++] = z->items[k];
        else if (!z->quiet)
            out_printf(z->p->out, "deleting: %s\n", z->items[k].name);
    }
    z->count = kept;
    if (kept == before)
        zip_fail(z, 12, mem_printf(&z->p->mem, "Nothing to do! (%s)", z->archive));
}

static void read_old(Zip *z)
{
    z->old = proc_open(z->p, z->archive, V_READ, 0);
    if (z->old < 0)
        return;
    int found = zip_read_directory(z->p, z->old, &z->dir);
    if (found == ZIP_NOT_FOUND) {
        zip_warning(z, "missing end signature--probably not a zip file (did you");
        zip_warning(z, "remember to use binary mode when you transferred it?)");
        zip_warning(z, "(if you are trying to read a damaged archive try -F)");
    }
    if (found != ZIP_OK)
        zip_fail(z, 3, mem_printf(&z->p->mem, "Zip file structure invalid (%s)", z->archive));
    z->prefix = z->dir.count ? UINT64_MAX : 0;
    for (size_t i = 0; i < z->dir.count; i++) {
        zip_add_old(z, &z->dir.entries[i]);
        z->prefix = MIN(z->prefix, z->dir.entries[i].offset);
    }
    if (z->junk_prefix)
        z->prefix = 0;
    z->comment = z->dir.comment;
}

static bool anything_new(const Zip *z)
{
    for (size_t i = 0; i < z->count; i++)
        if (z->items[i].path)
            return true;
    return z->deletes || (z->count && (z->comments || z->archive_comment || z->junk_prefix || z->latest || z->output));
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

/* -FS: what the names asked for no longer cover goes. */
static bool drop_unmatched(Zip *z)
{
    size_t kept = 0, before = z->count;
    bool any = false;
    for (size_t i = 0; i < z->count; i++)
        any = any || z->items[i].path || z->items[i].st.nlink;
    if (!any)
        zip_fail(z, 12, mem_printf(&z->p->mem, "Nothing to do! (%s)", z->archive));
    for (size_t i = 0; i < z->count; i++) {
        if (z->items[i].path || z->items[i].st.nlink)
            z->items[kept++] = z->items[i];
        else if (!z->quiet)
            out_printf(z->p->out, "deleting: %s\n", z->items[i].name);
    }
    z->count = kept;
    return kept < before;
}

static NORETURN void show_files(Zip *z, bool adding)
{
    uint64_t total = 0, count = 0;
    out_str(z->p->out, adding ? "Would Add/Update:\n" : "Archive contains:\n");
    for (size_t i = 0; i < z->count; i++) {
        const Item *it = &z->items[i];
        if (adding && !it->path)
            continue;
        out_printf(z->p->out, "  %s\n", it->name);
        total += it->path ? (S_ISDIR(it->st.mode) ? 0 : it->st.size) : it->old->size;
        count++;
    }
    out_printf(z->p->out, "Total %llu entries (%llu bytes)\n", (unsigned long long)count, (unsigned long long)total);
    output_flush(z->p->out);
    proc_fail(z->p, 0);
}

static void say_tested(Zip *z, int fd)
{
    bool good = zip_test_items(z, fd);
    if (!z->quiet || !good)
        out_printf(z->p->out, "test of %s %s\n", z->archive, good ? "OK" : "FAILED");
    if (good)
        return;
    if (z->made)
        proc_unlink(z->p, z->made);
    zip_fail(z, 8, "Zip file invalid, could not spawn unzip, or wrong unzip (original files unmodified)");
}

static void make_oldest(Zip *z, const char *path)
{
    int64_t newest = INT64_MIN;
    for (size_t i = 0; i < z->count; i++)
        newest = MAX(newest, z->items[i].st.mtime);
    if (z->latest && z->count)
        proc_utimes(z->p, path, 0, (VTime){newest, 0, VTIME_SET}, (VTime){newest, 0, VTIME_SET});
}

void zip_write(Zip *z)
{
    Proc *p = z->p;
    const char *to = z->output ? z->output : z->archive;
    z->made = mem_printf(&p->keep, "%.*s/.zip-%d", (int)dir_name(to).len, dir_name(to).data, (int)p->pid);
    z->out = proc_open(p, z->made, V_READ | V_WRITE | V_CREATE | V_EXCL, 0666);
    if (z->out < 0)
        zip_fail(z, 15, mem_printf(&p->mem, "Could not create output file (%s)", to));
    guarded_output(p, z->made, write_archive, z);
    if (z->entries == 0)
        zip_warning(z, "zip file empty");
    if (z->test)
        say_tested(z, z->out);
    proc_close(p, z->out);
    make_oldest(z, z->made);
    if (proc_rename(p, z->made, to, false)) {
        proc_unlink(p, z->made);
        zip_fail(z, 15, mem_printf(&p->mem, "Could not create output file (%s)", to));
    }
}

static void collect(Zip *z, char **names, int count)
{
    if (z->patterns) {
        z->included = names;
        z->included_count = count;
        if (count)
            add_path(z, ".");
        return;
    }
    for (int i = 0; i < count; i++)
        add_path(z, names[i]);
    if (z->from_stdin)
        names_from_input(z);
}

/* With -r names are of what is taken whole: perhaps they were meant as patterns. */
static NORETURN void nothing_found(Zip *z, const Args *args, char **names, int count)
{
    Buf b;
    buf_init(&b, &z->p->mem, 1 << 20);
    buf_append(&b, SLICE("Nothing to do! (try: zip"));
    for (int i = 1; i < args->argc && args->argv[i] != names[0]; i++)
        buf_printf(&b, " %s", args->argv[i]);
    buf_append(&b, SLICE(" . -i"));
    for (int i = 0; i < count; i++)
        buf_printf(&b, " %s", names[i]);
    buf_char(&b, ')');
    zip_fail(z, 12, b.data);
}

static int zip_main(Proc *p, Args *args)
{
    Zip *z = mem_new(&p->keep, Zip);
    *z = (Zip){.p = p, .level = 6, .old = -1, .suffixes = ".Z:.zip:.zoo:.arc:.lzh:.arj", .comment = {"", 0}};
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
        zip_fail(z, 16, "Invalid command arguments (an archive on standard output is not supported here)");
    if (slice_find(base, '.') == base.len)
        z->archive = mem_printf(&p->keep, "%s.zip", z->archive);
    buf_init(&z->directory, &p->keep, BUF_MAX);
    map_init(&z->names, &p->keep);
    if (z->fix)
        zip_repair(z);
    if (z->adjust)
        zip_adjust(z);
    read_old(z);
    if (z->deletes)
        delete_names(z, names, count);
    else
        collect(z, names, count);
    bool dropped = z->sync && drop_unmatched(z);
    if (z->show_files)
        show_files(z, count > 0);
    if (!dropped && !anything_new(z)) {
        if (z->update || z->freshen)
            return 12;
        if (z->sync && z->count) {
            if (!z->quiet)
                out_str(p->out, "Archive is current\n");
            return 0;
        }
        if (z->recurse && !z->patterns && count && !z->test)
            nothing_found(z, args, names, count);
        if (!z->test || z->old < 0)
            zip_fail(z, 12, mem_printf(&p->mem, "Nothing to do! (%s)", z->archive));
        say_tested(z, z->old);
        return z->status;
    }
    z->copying = z->output && !count && !z->from_stdin;
    zip_write(z);
    remove_moved(z);
    return z->status;
}

COMMAND(zip, "zip [-options] [zipfile list] [-xi list]", "Add or replace zipfile entries from list.", options, COMMAND_WRITES | COMMAND_ORDERED, .usage_status = 16, .package = "Zip 3.0",
        .notes = "Archives up to 4 GiB and 65,534 members. Refused: passwords (-e: there is no terminal), split archives (-s), an archive on standard output.");
