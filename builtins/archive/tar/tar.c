/* tar: the command: modes, and what is said at the end. GNU tar 1.34. */
#include <stdarg.h>

#include "archive/tar/tar.h"

static const char hint[] = "Try 'tar --help' or 'tar --usage' for more information.";

/* --- messages --- */

void tar_error(Tar *t, const char *format, ...)
{
    char text[4600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    output_flush(t->list);
    warn(t->p, "%s", text);
    t->status = 2;
}

void tar_errno(Tar *t, int err, const char *format, ...)
{
    char text[4600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    output_flush(t->list);
    warn_errno(t->p, err, "%s", text);
    t->status = 2;
}

void tar_unrecoverable(Tar *t)
{
    output_flush(t->list);
    warn(t->p, "Error is not recoverable: exiting now");
    proc_fail(t->p, 2);
}

void tar_fatal(Tar *t, const char *format, ...)
{
    char text[4600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    output_flush(t->list);
    warn(t->p, "%s", text);
    tar_unrecoverable(t);
}

void tar_misuse(Tar *t, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    warn(t->p, "%s", text);
    out_printf(t->p->err, "%s\n", hint);
    output_flush(t->p->err);
    proc_fail(t->p, 2);
}

void tar_chdir(Tar *t, const char *directory)
{
    int err = proc_chdir(t->p, directory);
    if (err)
        tar_fatal(t, "%s: Cannot open: %s", directory, error_text(-err));
}

static bool any_quoted(const Tar *t, const char *name)
{
    while (*name && !t->quoted_chars[(unsigned char)*name])
        name++;
    return *name != 0;
}

/* The style "shell": within single quotes when it must be, bytes as they are. */
static const char *shell_quoted(Tar *t, const char *name, bool always)
{
    if (!always && *name && !any_quoted(t, name) && !name[strcspn(name, " \t\n\"#$&'()*;<=>?[\\^`{|}~!")])
        return name;
    Buf b;
    buf_init(&b, &t->p->mem, BUF_MAX);
    buf_char(&b, '\'');
    for (; *name; name++)
        if (*name == '\'')
            buf_append(&b, SLICE("'\\''"));
        else
            buf_char(&b, *name);
    buf_char(&b, '\'');
    return b.data;
}

/* The style "escape": what cannot be printed as backslash and letter, or octal. */
const char *tar_quote(Tar *t, const char *name)
{
    if (t->quoting == 1)
        return name;
    if (t->quoting == 2 || t->quoting == 3)
        return shell_quoted(t, name, t->quoting == 3);
    if (t->quoting == 6)
        return quote_if_needed(t->p, name);
    if (t->quoting == 7)
        return quoteaf(t->p, name);
    if (t->quoting == 4 && !any_quoted(t, name))
        return quote(t->p, name);
    bool plain = !any_quoted(t, name), utf8 = locale_utf8(t->p), c_style = t->quoting == 5;
    for (const char *s = name; *s && plain; s++)
        plain = *s >= ' ' && *s < 127 && *s != '\\' && !(c_style && *s == '"');
    if (plain && !c_style)
        return name;
    Buf b;
    Slice all = slice_str(name);
    buf_init(&b, &t->p->mem, BUF_MAX);
    const char *open = c_style ? "\"" : t->quoting != 4 ? "" : utf8 ? "‘" : "'", *close = t->quoting == 4 && utf8 ? "’" : open;
    buf_append(&b, slice_str(open));
    for (size_t i = 0; i < all.len;) {
        unsigned char c = (unsigned char)name[i];
        static const char from[] = "\a\b\f\n\r\t\v\\\"", into[] = "abfnrtv\\\"";
        const char *at = strchr(from, (char)c);
        size_t n = 1;
        uint32_t rune;
        if (t->quoted_chars[c])
            buf_printf(&b, "\\%c", c);
        else if (at && (*at != '"' || c_style))
            buf_printf(&b, "\\%c", into[at - from]);
        else if (c >= ' ' && c < 127)
            buf_char(&b, (char)c);
        else if (c >= 128 && utf8 && (rune = utf8_decode(name + i, all.len - i, &n)) != UTF8_BAD && utf8_width(rune) >= 0)
            buf_append(&b, slice(name + i, n));
        else {
            n = 1;
            buf_printf(&b, "\\%03o", c);
        }
        i += n;
    }
    buf_append(&b, slice_str(close));
    return b.data ? b.data : name;
}

/* As it ends when sh, or tar's child, does not find the program. */
void tar_cannot_start(Tar *t, bool writing)
{
    if (writing) {
        out_printf(t->p->err, "/bin/sh: 1: %s: not found\n", t->missing_program);
        output_flush(t->p->err);
        tar_fatal(t, "Child returned status 127");
    }
    out_printf(t->p->err, "tar (child): %s: Cannot exec: No such file or directory\ntar (child): Error is not recoverable: exiting now\n", t->missing_program);
    output_flush(t->p->err);
    tar_fatal(t, "Child returned status 2");
}

static int open_archive(Tar *t, int flags)
{
    t->archive_is_stdin = strcmp(t->archive, "-") == 0;
    if (t->archive_is_stdin)
        return flags & V_WRITE ? 1 : 0;
    int fd = proc_open(t->p, t->archive, flags, 0666);
    if (fd < 0)
        tar_fatal(t, "%s: Cannot open: %s", tar_quote(t, t->archive), error_text(-fd));
    t->archive_stat_ok = proc_fstat(t->p, fd, &t->archive_stat) == 0 && S_ISREG(t->archive_stat.mode);
    return fd;
}

static const char *human_bytes(Tar *t, double v)
{
    static const char units[] = " KMGTPE";
    size_t i = 0;
    for (; v >= 1024 && i < 6; i++)
        v /= 1024;
    if (i == 0)
        return mem_printf(&t->p->mem, "%.0fB", v);
    return v < 10 ? mem_printf(&t->p->mem, "%.1f%ciB", v, units[i]) : mem_printf(&t->p->mem, "%.0f%ciB", v, units[i]);
}

static void print_totals(Tar *t, const char *what, uint64_t bytes, int64_t began)
{
    double seconds = (double)(proc_monotonic(t->p) - began) / 1e9;
    output_flush(t->list);
    out_printf(t->p->err, "Total bytes %s: %llu (%s, %s/s)\n", what, (unsigned long long)bytes, human_bytes(t, (double)bytes), seconds > 0 ? human_bytes(t, (double)bytes / seconds) : "?");
    output_flush(t->p->err);
}

static void verify_archive(Tar *t)
{
    TarIn in;
    int fd = open_archive(t, V_READ);
    in_open(&in, t, fd);
    diff_archive(t, &in, true);
    proc_close(t->p, fd);
}

static void create(Tar *t, int64_t began)
{
    TarOut o;
    if (t->name_texts == 0 && !t->label) {
        tar_misuse(t, "Cowardly refusing to create an empty archive");
    }
    if (t->verify && t->packing_given)
        tar_misuse(t, "Cannot verify compressed archives");
    if (t->auto_packing && !t->packing_given)
        tar_packing_by_suffix(t);
    int fd = open_archive(t, V_WRITE | V_CREATE | V_TRUNC);
    if (t->missing_program)
        tar_cannot_start(t, true);
    out_open(&o, t, fd);
    if (t->incremental)
        incremental_open(t);
    create_names(t, &o);
    out_finish(&o);
    output_flush(t->p->out);
    if (t->totals)
        print_totals(t, "written", o.bytes, began);
    if (fd > 2)
        proc_close(t->p, fd);
    if (t->verify)
        verify_archive(t);
}

static void note_newest(Tar *t, const Member *m)
{
    char *name = mem_strdup(&t->p->mem, m->name);
    strip_slashes(name);
    MapEntry *e = map_put(&t->newest, slice_str(name));
    if (!e->value)
        e->value = mem_new(&t->p->keep, int64_t);
    *(int64_t *)e->value = m->mtime;
}

/* -r -u -A: from the zero blocks on, the archive is written anew. */
static void append(Tar *t)
{
    TarIn in;
    TarOut o;
    Member m;
    if (t->packing_given)
        tar_misuse(t, "Cannot update compressed archives");
    if (strcmp(t->archive, "-") == 0)
        tar_misuse(t, "Options '-Aru' are incompatible with '-f -'");
    int fd = open_archive(t, V_READ | V_WRITE | V_CREATE);
    in_open(&in, t, fd);
    if (t->packing != PACK_NONE)
        tar_fatal(t, "Cannot update compressed archives");
    uint64_t end = 0;
    bool empty = t->archive_stat_ok && t->archive_stat.size == 0;
    for (;;) {
        MemMark mark = mem_mark(&t->p->mem);
        bool more = !empty && in_member(&in, &m);
        if (more) {
            if (t->mode == 'u')
                note_newest(t, &m);
            in_skip(&in, &m);
            end = in.blocks;
        }
        mem_reset(&t->p->mem, mark);
        if (!more)
            break;
    }
    proc_seek(t->p, fd, (int64_t)(end * BLOCK), SEEK_SET);
    proc_ftruncate(t->p, fd, end * BLOCK);
    out_open(&o, t, fd);
    o.bytes = end * BLOCK;
    if (t->mode == 'A')
        append_archives(t, &o);
    else
        create_names(t, &o);
    t->packing = PACK_NONE;
    out_finish(&o);
    proc_close(t->p, fd);
}

/* --delete: what stays moves forward over what goes; the reader is always ahead of the writer. */
static void delete_members(Tar *t)
{
    TarIn in;
    TarOut o;
    Member m;
    if (t->packing_given)
        tar_misuse(t, "Cannot update compressed archives");
    int fd = open_archive(t, V_READ | V_WRITE), out = proc_open(t->p, t->archive, V_WRITE, 0), again = proc_open(t->p, t->archive, V_READ, 0);
    in_open(&in, t, fd);
    if (t->packing != PACK_NONE)
        tar_fatal(t, "Cannot update compressed archives");
    out_open(&o, t, out);
    TarIn raw;
    in_open(&raw, t, again);
    for (;;) {
        MemMark mark = mem_mark(&t->p->mem);
        bool more = in_member(&in, &m);
        if (more) {
            bool goes = t->name_texts && wanted(t, m.name);
            if (goes && t->verbose)
                list_member(t, &m, m.block);
            in_skip(&in, &m);
            while (raw.blocks < in.blocks && in_block(&raw))
                if (!goes)
                    out_bytes(&o, (Slice){raw.block, BLOCK});
        }
        mem_reset(&t->p->mem, mark);
        if (!more)
            break;
    }
    out_finish(&o);
    proc_ftruncate(t->p, out, o.bytes);
    report_missing(t);
}

static void test_label(Tar *t, TarIn *in)
{
    Member m;
    if (in_member(in, &m) && m.type == 'V') {
        if (t->name_texts == 0)
            out_printf(t->list, "%s\n", m.name);
        else if (strcmp(t->names[0].text, m.name) != 0)
            t->status = 1;
    } else if (t->name_texts) {
        t->status = 1;
    }
}

/* Members before -K's do not count. */
static void read_archive(Tar *t, int64_t began)
{
    TarIn in;
    int fd = open_archive(t, V_READ);
    if (t->missing_program)
        tar_cannot_start(t, false);
    in_open(&in, t, fd);
    if (t->one_top && !t->one_top_level) {
        Slice base = base_name(t->archive);
        size_t n = strcspn(base.data, ".");
        t->one_top_level = mem_copy(&t->p->keep, slice(base.data, MIN(n, base.len)));
    }
    if (t->mode == 'x')
        extract_archive(t, &in);
    else if (t->mode == 'd') {
        for (size_t i = 0; i < t->name_count; i++)
            if (t->names[i].directory)
                tar_chdir(t, t->names[i].directory);
        diff_archive(t, &in, false);
    } else if (t->mode == 'L')
        test_label(t, &in);
    else
        list_archive(t, &in);
    if (t->mode != 'L')
        report_missing(t);
    if (in.child_status)
        tar_fatal(t, "Child returned status %d", in.child_status);
    if (t->totals)
        print_totals(t, "read", in.blocks * BLOCK, began);
}

static int tar_main(Proc *p, Args *args)
{
    Tar *t = mem_new(&p->keep, Tar);
    int64_t began = proc_monotonic(p);
    *t = (Tar){.p = p, .archive = "-", .blocking = 20, .owner = -1, .group = -1, .list = p->out, .suffix = "~"};
    t->match_flags = MATCH_ANCHORED;
    t->exclude_flags = MATCH_WILDCARDS;
    t->same_mode = t->same_owner = p->cred.uid == 0;
    map_init(&t->links, &p->keep);
    map_init(&t->prefixes, &p->keep);
    map_init(&t->newest, &p->keep);
    const char *tape = proc_getenv(p, "TAPE");
    if (tape && *tape)
        t->archive = mem_strdup(&p->keep, tape);
    t->began = proc_now(p, &t->began_ns);
    tar_parse(t, args);
    if ((t->mode == 'c' && strcmp(t->archive, "-") == 0) || (t->mode == 'x' && t->to_stdout))
        t->list = p->err;
    if (t->index)
        t->list = t->index;
    if (t->mode == 'c')
        create(t, began);
    else if (t->mode == 'r' || t->mode == 'u' || t->mode == 'A')
        append(t);
    else if (t->mode == 'D')
        delete_members(t);
    else
        read_archive(t, began);
    output_flush(t->list);
    if (t->status == 2)
        warn(p, "Exiting with failure status due to previous errors");
    return t->status;
}

COMMAND(tar, "tar [OPTION...] [FILE]...", "GNU 'tar' saves many files together into a single tape or disk archive, and can\nrestore individual files from the archive.", tar_options,
        COMMAND_WRITES | COMMAND_ORDERED, .usage_status = 64, .hint = hint, .package = "GNU tar 1.34",
        .notes = "Directories are stored in name order. No program is started: --to-command, -F and other programs for -I are refused, and so are multi-volume\n"
                 "archives (-M, -L): there is no medium to change. There is no compress, lzip or lzop, as Debian has none until they are installed. The snapshot of -g\n"
                 "lists directories by name. A .cvsignore may have wildcards. A file that could not be written whole is removed.");
