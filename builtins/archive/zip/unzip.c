/* unzip: list, test and extract compressed files in a ZIP archive. Info-ZIP's UnZip 6.00. */
#include "archive/tar/tar.h"
#include "archive/zip/zip.h"

static const Option options[] = {
    {'l', NULL, OPT_FLAG, "list files (short format)", NULL, 0},
    {'v', NULL, OPT_FLAG, "list verbosely", NULL, 0},
    {'t', NULL, OPT_FLAG, "test compressed archive data", NULL, 0},
    {'p', NULL, OPT_FLAG, "extract files to pipe, no messages", NULL, 0},
    {'c', NULL, OPT_FLAG, "extract files to pipe, with their names", NULL, 0},
    {'Z', NULL, OPT_FLAG, "ZipInfo mode; only -Z1 and -Z -1, names alone", NULL, 0},
    {'1', NULL, OPT_FLAG, NULL, NULL, 0},
    {'o', NULL, OPT_FLAG, "overwrite files WITHOUT prompting", NULL, 0},
    {'n', NULL, OPT_FLAG, "never overwrite existing files", NULL, 0},
    {'q', NULL, OPT_FLAG, "quiet mode (-qq => quieter)", NULL, 0},
    {'j', NULL, OPT_FLAG, "junk paths (do not make directories)", NULL, 0},
    {'C', NULL, OPT_FLAG, "match filenames case-insensitively", NULL, 0},
    {'u', NULL, OPT_FLAG, "update files, create if necessary", NULL, 0},
    {'f', NULL, OPT_FLAG, "freshen existing files, create none", NULL, 0},
    {'d', NULL, OPT_VALUE, "extract files into exdir", "exdir", 0},
    {'x', NULL, OPT_FLAG, "exclude files that follow (in xlist)", NULL, 0},
    {'z', NULL, OPT_FLAG, "display archive comment only", NULL, 0},
    {'T', NULL, OPT_FLAG, "timestamp archive to latest", NULL, 0},
    {'a', NULL, OPT_FLAG, "auto-convert any text files (-aa treat ALL files as text)", NULL, 0},
    {'b', NULL, OPT_FLAG, "treat all files as binary", NULL, 0},
    {'B', NULL, OPT_FLAG, "save a backup copy of each overwritten file as file~", NULL, 0},
    {'D', NULL, OPT_FLAG, "skip restoration of timestamps of directories (-DD of all entries)", NULL, 0},
    {'K', NULL, OPT_FLAG, "keep setuid/setgid/tacky permissions", NULL, 0},
    {'L', NULL, OPT_FLAG, "make (some) names lowercase (-LL all)", NULL, 0},
    {'M', NULL, OPT_FLAG, "accepted: there is no pager", NULL, 0},
    {'P', NULL, OPT_VALUE, "accepted: members with a password are skipped", "password", 0},
    {'U', NULL, OPT_FLAG, "use escapes for all non-ASCII Unicode, where the locale is not UTF-8 (-UU ignore any Unicode fields)", NULL, 0},
    {'V', NULL, OPT_FLAG, "accepted: there are no VMS version numbers", NULL, 0},
    {'W', NULL, OPT_FLAG, "? and * do not match a slash, ** does", NULL, 0},
    {'X', NULL, OPT_FLAG, "restore UID/GID info", NULL, 0},
    {':', NULL, OPT_FLAG, "allow \"../\" in names", NULL, 0},
    {'^', NULL, OPT_FLAG, "allow control characters in names", NULL, 0},
    OPTION_HELP('h'),
    OPTIONS_END,
};

typedef struct Directory { struct Directory *next; char *path; const ZipEntry *e; } Directory;
typedef struct Link { struct Link *next; char *path, *target; } Link;

typedef struct {
    Proc *p;
    char mode; /* x l v t p c Z */
    int quiet, overwrite; /* 1 always, -1 never */
    bool junk, fold, update, freshen, keep_bits, owners, backups, path_wild, up, controls;
    int text, no_times, lower, escapes; /* how often -a, -D, -L and -U were given */
    Directory *directories;
    const char *directory, *archive;
    char **names, **excluded;
    bool *found;
    int name_count, excluded_count, status;
    Link *links;
} Unzip;

static void error_line(Unzip *u, const char *text)
{
    output_flush(u->p->out);
    Output *o = u->mode == 't' ? u->p->out : u->p->err; /* what is wrong is the answer to -t */
    out_str(o, text);
    output_flush(o);
}

static unsigned pattern_flags(const Unzip *u, const char *pattern) { return u->path_wild && !strstr(pattern, "**") ? MATCH_NO_SLASH : 0; }

static bool chosen(Unzip *u, const ZipEntry *e)
{
    unsigned flags = MATCH_WILDCARDS | (u->fold ? MATCH_ICASE : 0u);
    bool yes = u->name_count == 0;
    for (int i = 0; i < u->name_count; i++)
        if (glob_match(u->names[i], e->name, pattern_flags(u, u->names[i]) | flags, false))
            yes = u->found[i] = true;
    for (int i = 0; i < u->excluded_count && yes; i++)
        yes = !glob_match(u->excluded[i], e->name, pattern_flags(u, u->excluded[i]) | flags, false);
    return yes;
}

static const char *date_of(Unzip *u, const ZipEntry *e)
{
    CivilTime t = {0};
    tz_civil(proc_zone(u->p), e->mtime, 0, &t);
    return mem_printf(&u->p->mem, "%04d-%02d-%02d %02d:%02d", (int)t.year, t.month, t.day, t.hour, t.minute);
}

static const char *method_of(const ZipEntry *e)
{
    static const char *const deflate[] = {"Defl:N", "Defl:X", "Defl:F", "Defl:S"};
    return e->method == 0 ? "Stored" : e->method == 8 ? deflate[e->flags >> 1 & 3] : "Unk:xx";
}

static void put_comment(Unzip *u, Slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] != '\r')
            out_char(u->p->out, text.data[i]);
    if (text.len && text.data[text.len - 1] != '\n')
        out_char(u->p->out, '\n');
}

static void list(Unzip *u, const ZipDirectory *d)
{
    Output *o = u->p->out;
    uint64_t size = 0, packed = 0;
    unsigned long count = 0;
    bool verbose = u->mode == 'v';
    if (u->quiet < 2 && u->mode != 'Z')
        out_str(o, verbose ? " Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n--------  ------  ------- ---- ---------- ----- --------  ----\n"
                           : "  Length      Date    Time    Name\n---------  ---------- -----   ----\n");
    for (size_t i = 0; i < d->count; i++) {
        const ZipEntry *e = &d->entries[i];
        MemMark mark = mem_mark(&u->p->mem);
        if (!chosen(u, e))
            continue;
        if (u->mode == 'Z')
            out_printf(o, "%s\n", e->name);
        else if (verbose)
            out_printf(o, "%8llu  %-6s %8llu %3d%% %s %08x  %s\n", (unsigned long long)e->size, method_of(e), (unsigned long long)e->packed, zip_percent(e->packed, e->size), date_of(u, e), e->crc, e->name);
        else
            out_printf(o, "%9llu  %s   %s\n", (unsigned long long)e->size, date_of(u, e), e->name);
        if (e->comment.len && u->mode != 'Z')
            put_comment(u, e->comment);
        size += e->size;
        packed += e->packed;
        count++;
        mem_reset(&u->p->mem, mark);
    }
    if (u->quiet > 1 || u->mode == 'Z')
        return;
    if (verbose)
        out_printf(o, "--------          -------  ---                            -------\n%8llu         %8llu %3d%%                            %lu file%s\n", (unsigned long long)size, (unsigned long long)packed,
                   zip_percent(packed, size), count, count == 1 ? "" : "s");
    else
        out_printf(o, "---------                     -------\n%9llu                     %lu file%s\n", (unsigned long long)size, count, count == 1 ? "" : "s");
}

/* --- extracting --- */

typedef struct Target {
    Unzip *u;
    const ZipEntry *e;
    int archive, fd; /* fd -1: nowhere */
    Buf *text;       /* a symlink's */
    bool lines, cr;  /* CR LF becomes LF; cr: a CR is held back */
    int error;
    uint32_t crc;
    const char *wrong;
} Target;

static void put_bytes(Target *t, Slice data);

/* -a: the ends of lines as they are here. */
static void put_lines(Target *t, Slice data)
{
    size_t from = 0;
    for (size_t i = 0; i < data.len; i++) {
        if (t->cr && data.data[i] != '\n')
            put_bytes(t, SLICE("\r"));
        t->cr = data.data[i] == '\r';
        if (t->cr) {
            put_bytes(t, slice(data.data + from, i - from));
            from = i + 1;
        }
    }
    put_bytes(t, slice_from(data, from));
}

static void put(void *arg, Slice data)
{
    Target *t = arg;
    if (t->lines)
        put_lines(t, data);
    else
        put_bytes(t, data);
}

static void put_bytes(Target *t, Slice data)
{
    if (t->text)
        buf_append(t->text, data);
    else if (t->fd == 1)
        out_write(t->u->p->out, data);
    else if (t->fd >= 0 && !t->error) {
        ssize_t n = proc_write(t->u->p, t->fd, data);
        t->error = n < 0 ? (int)n : (size_t)n < data.len ? -ENOSPC : 0;
    }
}

static void expand(Proc *p, void *arg)
{
    Target *t = arg;
    t->wrong = zip_expand(p, t->archive, t->e, put, t, &t->crc);
    if (t->cr)
        put_bytes(t, SLICE("\r"));
}

static bool sound(Target *t)
{
    Unzip *u = t->u;
    if (t->wrong)
        error_line(u, mem_printf(&u->p->mem, "\n  error:  %s %s\n", t->wrong, t->e->name));
    else if (t->crc != t->e->crc)
        error_line(u, mem_printf(&u->p->mem, " bad CRC %08x  (should be %08x)\n", t->crc, t->e->crc));
    else if (t->error)
        error_line(u, mem_printf(&u->p->mem, "\n%s:  write error (%s)\n", t->e->name, error_text(-t->error)));
    else
        return true;
    u->status = MAX(u->status, t->error ? 50 : 2);
    return false;
}

/* Without what leads out: a leading slash and every "..". */
static char *safe_path(Unzip *u, const char *name)
{
    Buf b;
    bool up = false;
    buf_init(&b, &u->p->mem, 1 << 16);
    if (*name == '/')
        error_line(u, mem_printf(&u->p->mem, "warning:  stripped absolute path spec from %s\n", name));
    for (const char *s = name; *s;) {
        size_t n = strcspn(s, "/");
        bool dots = !u->up && n == 2 && s[0] == '.' && s[1] == '.';
        up |= dots;
        if (n && !dots) {
            buf_append(&b, slice(s, n));
            if (s[n] == '/')
                buf_char(&b, '/');
        }
        s += n + (s[n] == '/');
    }
    if (up) {
        error_line(u, mem_printf(&u->p->mem, "warning:  skipped \"../\" path component(s) in %s\n", name));
        u->status = MAX(u->status, 1);
    }
    return b.data ? b.data : mem_strdup(&u->p->mem, "");
}

static void make_directories(Unzip *u, const char *path)
{
    char *copy = mem_strdup(&u->p->mem, path);
    for (char *s = copy + 1; *copy && (s = strchr(s, '/')); s++) {
        *s = 0;
        if (proc_mkdir(u->p, copy, 0777) == 0 && !u->quiet && !s[1])
            out_printf(u->p->out, "   creating: %s/\n", copy);
        *s = '/';
    }
}

/* What exists is replaced when -o or a person says so. */
static bool may_replace(Unzip *u, const char *path, const ZipEntry *e)
{
    VStat st;
    if (proc_stat(u->p, path, V_NOFOLLOW, &st))
        return !u->freshen;
    if ((u->update || u->freshen) && st.mtime >= e->mtime)
        return false;
    if (u->overwrite == 0) {
        char answer[16] = "";
        error_line(u, mem_printf(&u->p->mem, "replace %s? [y]es, [n]o, [A]ll, [N]one, [r]ename: ", path));
        size_t n = 0;
        char c;
        ssize_t got;
        while ((got = proc_read(u->p, 0, &c, 1)) == 1 && c != '\n')
            if (n < sizeof answer - 1)
                answer[n++] = c;
        if (got <= 0 && n == 0) {
            error_line(u, " NULL\n(EOF or read error, treating as \"[N]one\" ...)\n");
            u->status = MAX(u->status, 1);
        }
        if (answer[0] == 'A')
            u->overwrite = 1;
        else if (answer[0] == 'N' || n == 0)
            u->overwrite = -1;
        if (answer[0] != 'y' && answer[0] != 'A')
            return false;
    }
    if (u->overwrite < 0 || S_ISDIR(st.mode))
        return false;
    return (u->backups ? proc_rename(u->p, path, mem_printf(&u->p->mem, "%s~", path), false) : proc_unlink(u->p, path)) == 0;
}

static bool unix_made(const ZipEntry *e) { return e->made_by >> 8 == 3 && e->attributes >> 16; }

static void remember_directory(Unzip *u, const char *path, const ZipEntry *e)
{
    Directory *d = mem_new(&u->p->keep, Directory);
    *d = (Directory){u->directories, mem_strdup(&u->p->keep, path), e};
    u->directories = d;
}

/* Modes and times of directories come when nothing is written into them any more. */
static void finish_directories(Unzip *u)
{
    for (const Directory *d = u->directories; d; d = d->next) {
        if (!u->no_times)
            proc_utimes(u->p, d->path, V_NOFOLLOW, (VTime){0, 0, VTIME_NOW}, (VTime){d->e->mtime, 0, VTIME_SET});
        if (unix_made(d->e))
            proc_chmod(u->p, d->path, V_NOFOLLOW, d->e->attributes >> 16 & (u->keep_bits ? 07777u : 0777u));
    }
}

static void extract_one(Unzip *u, int archive, const ZipEntry *e)
{
    Proc *p = u->p;
    size_t len = strlen(e->name);
    bool directory = len && e->name[len - 1] == '/';
    if (u->junk && directory)
        return;
    char *name = safe_path(u, u->junk ? mem_copy(&p->mem, base_name(e->name)) : e->name);
    if (!*name)
        return;
    if (u->lower > 1 || (u->lower && e->made_by >> 8 == 0))
        for (char *s = name; *s; s++)
            *s = *s >= 'A' && *s <= 'Z' ? (char)(*s + 32) : *s;
    const char *path = u->directory ? mem_printf(&p->mem, "%s/%s", u->directory, name) : name;
    make_directories(u, path);
    if (directory) {
        remember_directory(u, path, e);
        return;
    }
    uint32_t mode = unix_made(e) ? e->attributes >> 16 : S_IFREG | 0666u;
    bool link = S_ISLNK(mode);
    if (!may_replace(u, path, e))
        return;
    Buf text;
    Target t = {.u = u, .e = e, .archive = archive, .fd = -1, .lines = !link && (u->text > 1 || (u->text && (e->internal & 1)))};
    if (link) {
        buf_init(&text, &p->mem, 1 << 16);
        t.text = &text;
    } else if ((t.fd = proc_open(p, path, V_WRITE | V_CREATE | V_EXCL, 0600)) < 0) {
        error_line(u, mem_printf(&p->mem, "error:  cannot create %s\n        %s\n", path, error_text(-t.fd)));
        u->status = MAX(u->status, 50);
        return;
    }
    if (!u->quiet)
        out_printf(p->out, link ? "    linking: %-22s  " : e->method ? "  inflating: %-22s  " : " extracting: %-22s  ", path);
    if (!u->quiet && !link && u->text == 1)
        out_str(p->out, e->internal & 1 ? "[text]  " : "[binary]");
    if (link)
        expand(p, &t);
    else
        guarded_output(p, path, expand, &t);
    bool good = sound(&t);
    if (link && good) {
        Link *l = mem_new(&p->keep, Link);
        *l = (Link){u->links, mem_strdup(&p->keep, path), mem_strdup(&p->keep, text.data ? text.data : "")};
        u->links = l;
        if (!u->quiet)
            out_printf(p->out, "-> %s ", l->target);
    }
    if (!u->quiet)
        out_char(p->out, '\n');
    if (link)
        return;
    if (good) {
        if (u->owners && e->has_ids && proc_fchown(p, t.fd, e->uid, e->gid))
            error_line(u, mem_printf(&p->mem, " (warning) cannot set UID %u and/or GID %u for %s\n          %s\n", e->uid, e->gid, path, error_text(EPERM)));
        proc_fchmod(p, t.fd, unix_made(e) ? mode & (u->keep_bits ? 07777 : 0777) : 0666 & ~p->cred.umask);
        if (u->no_times < 2)
            proc_futimes(p, t.fd, (VTime){0, 0, VTIME_NOW}, (VTime){e->mtime, 0, VTIME_SET});
    }
    proc_close(p, t.fd);
    if (!good)
        proc_unlink(p, path);
}

static void test_one(Unzip *u, int archive, const ZipEntry *e)
{
    Target t = {.u = u, .e = e, .archive = archive, .fd = u->mode == 't' ? -1 : 1};
    if (u->mode == 't' && !u->quiet)
        out_printf(u->p->out, "    testing: %-22s  ", e->name);
    else if (u->mode == 'c' && !u->quiet)
        out_printf(u->p->out, e->method ? "  inflating: %-22s  \n" : " extracting: %-22s  \n", e->name);
    expand(u->p, &t);
    bool good = sound(&t);
    if (u->mode == 't' && good && !u->quiet)
        out_str(u->p->out, " OK\n");
    if (u->mode == 'c' && !u->quiet)
        out_char(u->p->out, '\n');
}

/* Symlinks come last, so that nothing is written through one of them. */
static void make_links(Unzip *u)
{
    if (u->links && !u->quiet)
        out_str(u->p->out, "finishing deferred symbolic links:\n");
    for (Link *l = u->links; l; l = l->next) {
        int err = proc_symlink(u->p, l->target, l->path);
        if (!u->quiet)
            out_printf(u->p->out, "  %-22s -> %s\n", l->path, l->target);
        if (err)
            error_line(u, mem_printf(&u->p->mem, "symlink error: %s\n", error_text(-err)));
    }
}

static void members(Unzip *u, int archive, const ZipDirectory *d)
{
    for (size_t i = 0; i < d->count; i++) {
        const ZipEntry *e = &d->entries[i];
        MemMark mark = mem_mark(&u->p->mem);
        if (chosen(u, e)) {
            if (e->flags & 1 || (e->method != 0 && e->method != 8)) {
                error_line(u, mem_printf(&u->p->mem, e->flags & 1 ? "   skipping: %-22s  unable to get password\n" : "   skipping: %-22s  unsupported compression method %u\n", e->name, e->method));
                u->status = MAX(u->status, 81);
            } else if (!zip_seek_data(u->p, archive, e)) {
                error_line(u, mem_printf(&u->p->mem, "file #%zu:  bad zipfile offset (local header sig):  %llu\n", i + 1, (unsigned long long)e->offset));
                u->status = MAX(u->status, 3);
            } else if (u->mode == 'x') {
                extract_one(u, archive, e);
            } else {
                test_one(u, archive, e);
            }
        }
        mem_reset(&u->p->mem, mark);
    }
    make_links(u);
    finish_directories(u);
}

static int open_archive(Unzip *u)
{
    Proc *p = u->p;
    static const char *const ends[] = {"", ".zip", ".ZIP"};
    VStat st;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        const char *name = mem_printf(&p->keep, "%s%s", u->archive, ends[i]);
        int fd = proc_stat(p, name, 0, &st) == 0 && S_ISREG(st.mode) ? proc_open(p, name, V_READ, 0) : -ENOENT;
        if (fd >= 0) {
            u->archive = name;
            return fd;
        }
    }
    error_line(u, mem_printf(&p->mem, "unzip:  cannot find or open %s, %s.zip or %s.ZIP.\n", u->archive, u->archive, u->archive));
    proc_fail(p, 9);
}

static NORETURN void no_directory(Unzip *u)
{
    const char *a = u->archive;
    error_line(u, mem_printf(&u->p->mem,
                             "  End-of-central-directory signature not found.  Either this file is not\n  a zipfile, or it constitutes one disk of a multi-part archive.  In the\n"
                             "  latter case the central directory and zipfile comment will be found on\n  the last disk(s) of this archive.\n"
                             "unzip:  cannot find zipfile directory in one of %s or\n        %s.zip, and cannot find %s.ZIP, period.\n", a, a, a));
    proc_fail(u->p, 9);
}

static void parse(Unzip *u, Args *args)
{
    bool excluding = false;
    u->names = mem_array(&u->p->keep, (size_t)args->argc + 1, char *);
    u->excluded = mem_array(&u->p->keep, (size_t)args->argc + 1, char *);
    u->found = mem_array(&u->p->keep, (size_t)args->argc + 1, bool);
    for (;;) {
        for (int id; (id = args_next(u->p, args)) != -1;) {
            switch (id) {
            case 'l': case 'v': case 't': case 'p': case 'c': case 'Z': u->mode = (char)id; break;
            case 'o': u->overwrite = 1; break;
            case 'n': u->overwrite = -1; break;
            case 'q': u->quiet++; break;
            case 'j': u->junk = true; break;
            case 'C': u->fold = true; break;
            case 'u': u->update = true; break;
            case 'f': u->freshen = true; break;
            case 'd': u->directory = mem_strdup(&u->p->keep, args->value); break;
            case 'x': excluding = true; break;
            case 'z': case 'T': u->mode = (char)id; break;
            case 'a': u->text++; break;
            case 'b': u->text = 0; break;
            case 'B': u->backups = true; break;
            case 'D': u->no_times++; break;
            case 'K': u->keep_bits = true; break;
            case 'L': u->lower++; break;
            case 'U': u->escapes++; break;
            case 'W': u->path_wild = true; break;
            case 'X': u->owners = true; break;
            case ':': u->up = true; break;
            case '^': u->controls = true; break;
            default: break;
            }
        }
        char *operand = args_operand(args);
        if (!operand)
            break;
        if (!u->archive)
            u->archive = operand;
        else if (excluding)
            u->excluded[u->excluded_count++] = operand;
        else
            u->names[u->name_count++] = operand;
    }
}

/* -T: the archive becomes as old as its newest member. */
static int stamp(Unzip *u, const ZipDirectory *d)
{
    int64_t newest = INT64_MIN;
    for (size_t i = 0; i < d->count; i++)
        newest = MAX(newest, d->entries[i].mtime);
    if (d->count)
        proc_utimes(u->p, u->archive, 0, (VTime){newest, 0, VTIME_SET}, (VTime){newest, 0, VTIME_SET});
    if (!u->quiet)
        out_printf(u->p->out, "Updated time stamp for %s.\n", u->archive);
    return 0;
}

static int unzip_main(Proc *p, Args *args)
{
    Unzip u = {.p = p, .mode = 'x'};
    ZipDirectory d;
    parse(&u, args);
    if (!u.archive) {
        print_help(p, args->command);
        return 0;
    }
    int archive = open_archive(&u);
    if (!u.quiet && u.mode != 'p' && u.mode != 'Z' && u.mode != 'T')
        out_printf(p->out, "Archive:  %s\n", u.archive);
    if (zip_read_directory(p, archive, &d) != ZIP_OK)
        no_directory(&u);
    if (d.comment.len && (u.mode == 'z' || (!u.quiet && u.mode != 'p' && u.mode != 'Z' && u.mode != 'T')))
        put_comment(&u, d.comment);
    if (u.mode == 'z')
        return 0;
    if (u.mode == 'T')
        return stamp(&u, &d);
    if (d.extra > 0) {
        error_line(&u, mem_printf(&p->mem, "warning [%s]:  %lld extra bytes at beginning or within zipfile\n  (attempting to process anyway)\n", u.archive, (long long)d.extra));
        u.status = 1;
    }
    if (u.mode == 'l' || u.mode == 'v' || u.mode == 'Z')
        list(&u, &d);
    else
        members(&u, archive, &d);
    for (int i = 0; i < u.name_count; i++)
        if (!u.found[i]) {
            if (u.mode != 'l' && u.mode != 'v')
                error_line(&u, mem_printf(&p->mem, "caution: filename not matched:  %s\n", u.names[i]));
            u.status = MAX(u.status, 11);
        }
    if (u.mode == 't' && u.status <= 1 && u.quiet < 2)
        out_printf(p->out, "No errors detected in compressed data of %s.\n", u.archive);
    return u.status;
}

COMMAND(unzip, "unzip [-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist] [-d exdir]", "List, test and extract compressed files in a ZIP archive.", options, COMMAND_WRITES | COMMAND_ORDERED, .usage_status = 10,
        .package = "UnZip 6.00", .notes = "Stored and deflated members; no passwords. Symbolic links are made last.");
