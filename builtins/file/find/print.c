/* print: -printf and -ls. */
#include "find.h"

static const char directives[] = "abcdDfFgGhHiklmMnpPsStuUyYZ";

/* What is wrong with a format is told once, before the walk. */
void find_check_format(Find *f, const char *format)
{
    for (const char *at = format; (at += strcspn(at, "%\\"), *at); at++) {
        const char *start = at++;
        if (*start == '\\') {
            if (!*at)
                warn(f->p, "warning: escape `\\' followed by nothing at all");
            else if (!strchr("abfnrtv01234567\\c", *at))
                warn(f->p, "warning: unrecognized escape `\\%c'", *at);
            if (!*at || *at == 'c')
                return;
            continue;
        }
        at += strspn(at, "-+ #0");
        at += strspn(at, "0123456789");
        if (*at == '.')
            at += 1 + strspn(at + 1, "0123456789");
        if (!*at) {
            die(f->p, 1, "error: %s at end of format string", start[1] ? "the format directive is cut short" : "%");
        } else if (*at == 'A' || *at == 'B' || *at == 'C' || *at == 'T') {
            if (!at[1]) {
                warn(f->p, "warning: format directive `%%%c' should be followed by another character", *at);
                return;
            }
            at++;
        } else if (*at != '%' && !strchr(directives, *at)) {
            warn(f->p, "warning: unrecognized format directive `%%%c'", *at);
        }
    }
}

typedef struct {
    Slice flags;
    int width, precision;
} Shape;

static void put_text(Output *out, Shape s, Slice text)
{
    if (s.precision >= 0 && (size_t)s.precision < text.len)
        text.len = (size_t)s.precision;
    size_t pad = s.width > 0 && (size_t)s.width > text.len ? (size_t)s.width - text.len : 0;
    bool left = s.flags.len && memchr(s.flags.data, '-', s.flags.len);
    if (!left)
        out_pad(out, pad, ' ');
    out_write(out, text);
    if (left)
        out_pad(out, pad, ' ');
}

/* Numbers are strings to find, but for %m, %d and %u's flags: zeros may stand in front. */
static void put_number(Output *out, Shape s, uint64_t v)
{
    char digits[24];
    size_t len;
    const char *at = format_int((int64_t)v, digits, &len);
    bool zero = s.flags.len && memchr(s.flags.data, '0', s.flags.len) && !memchr(s.flags.data, '-', s.flags.len);
    if (zero && s.width > 0 && (size_t)s.width > len)
        out_pad(out, (size_t)s.width - len, '0');
    else if (!zero) {
        put_text(out, (Shape){s.flags, s.width, -1}, slice(at, len));
        return;
    }
    out_write(out, slice(at, len));
}

static void put_mode(Find *f, Output *out, Shape s, uint32_t mode)
{
    bool alternate = s.flags.len && memchr(s.flags.data, '#', s.flags.len);
    const char *text = mem_printf(&f->p->mem, alternate && mode ? "0%o" : "%o", mode);
    bool zero = s.flags.len && memchr(s.flags.data, '0', s.flags.len);
    size_t len = strlen(text);
    if (zero && s.width > 0 && (size_t)s.width > len)
        out_pad(out, (size_t)s.width - len, '0');
    put_text(out, zero ? (Shape){{NULL, 0}, 0, -1} : s, slice(text, len));
}

/* Seconds carry ten digits of fraction, as the original prints them. */
static void put_time(Find *f, Output *out, Shape s, int64_t seconds, uint32_t ns, char how)
{
    CivilTime t;
    Buf b;
    char format[3] = {'%', how, 0};
    const char *use = how == '+' ? "%Y-%m-%d+%H:%M:%S.%N0" : how == 'S' ? "%S.%N0" : how == 'T' || how == 'X' ? "%H:%M:%S.%N0"
                    : how == 0 ? "%a %b %d %H:%M:%S.%N0 %Y" : how == 'c' ? "%a %b %e %H:%M:%S %Y" : format;
    buf_init(&b, &f->p->mem, 1000);
    buf_reserve(&b, 1);
    if (how == '@')
        buf_printf(&b, "%lld.%09u0", (long long)seconds, ns);
    else if (!strchr("aAbBcdDFhHIjklmMnprRsStTuUVwWxXyYzZG+g", how))
        buf_printf(&b, "%%%c", how);
    else if (tz_civil(proc_zone(f->p), seconds, ns, &t))
        tz_format(&b, slice_str(use), &t, seconds);
    put_text(out, s, buf_slice(&b));
}

static void put_default_time(Find *f, Output *out, Shape s, int64_t seconds, uint32_t ns)
{
    CivilTime t;
    Buf b;
    buf_init(&b, &f->p->mem, 1000);
    if (tz_civil(proc_zone(f->p), seconds, ns, &t))
        tz_format(&b, SLICE("%a %b %e %H:%M:%S.%N0 %Y"), &t, seconds);
    put_text(out, s, buf_slice(&b));
}

static char type_letter(uint32_t mode)
{
    char text[11];
    format_mode(mode, text);
    return *text == '-' ? 'f' : *text;
}

static char target_type(Find *f, const WalkEntry *e)
{
    VStat st;
    int r = S_ISLNK(e->stat.mode) ? proc_stat(f->p, e->path, 0, &st) : 0;
    if (!S_ISLNK(e->stat.mode))
        return type_letter(e->stat.mode);
    return r == 0 ? type_letter(st.mode) : r == -ELOOP ? 'L' : 'N';
}

static Slice below_operand(const Find *f, const char *path)
{
    size_t n = strlen(f->operand);
    Slice rest = slice_from(slice_str(path), MIN(n, strlen(path)));
    return rest.len && *rest.data == '/' ? slice_from(rest, 1) : rest;
}

static const char *name_or_number(Find *f, const char *name, uint32_t id) { return name ? name : mem_printf(&f->p->mem, "%u", id); }

static Slice link_target(Find *f, const WalkEntry *e)
{
    Slice target;
    return S_ISLNK(e->stat.mode) && proc_readlink(f->p, e->path, &target) == 0 ? target : (Slice){"", 0};
}

/* The directory part: "." for a bare name, and a path that ends in a slash keeps its head. */
static Slice directory_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slice(path, (size_t)(slash - path)) : SLICE(".");
}

static Slice base_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slice_str(slash + 1) : base_name(path);
}

static void put_directive(Find *f, Output *out, Shape s, char c, const WalkEntry *e)
{
    const VStat *st = &e->stat;
    char mode[11], letter;
    switch (c) {
    case 'a': put_default_time(f, out, s, st->atime, st->atime_ns); break;
    case 'c': put_default_time(f, out, s, st->ctime, st->ctime_ns); break;
    case 't': put_default_time(f, out, s, st->mtime, st->mtime_ns); break;
    case 'b': put_number(out, s, st->blocks); break;
    case 'd': put_number(out, s, e->depth); break;
    case 'D': put_number(out, s, st->dev); break;
    case 'f': put_text(out, s, base_part(e->path)); break;
    case 'F': put_text(out, s, SLICE("tmpfs")); break;
    case 'g': put_text(out, s, slice_str(name_or_number(f, group_name(f->p, st->gid), st->gid))); break;
    case 'G': put_number(out, s, st->gid); break;
    case 'h': put_text(out, s, directory_part(e->path)); break;
    case 'H': put_text(out, s, slice_str(f->operand)); break;
    case 'i': put_number(out, s, st->ino); break;
    case 'k': put_number(out, s, (st->blocks + 1) / 2); break;
    case 'l': put_text(out, s, link_target(f, e)); break;
    case 'm': put_mode(f, out, s, st->mode & 07777); break;
    case 'M': format_mode(st->mode, mode); put_text(out, s, slice(mode, 10)); break;
    case 'n': put_number(out, s, st->nlink); break;
    case 'p': put_text(out, s, slice_str(e->path)); break;
    case 'P': put_text(out, s, below_operand(f, e->path)); break;
    case 's': put_number(out, s, st->size); break;
    case 'S': put_text(out, s, slice_str(mem_printf(&f->p->mem, "%g", st->size ? (double)st->blocks * 512 / (double)st->size : 1.0))); break;
    case 'u': put_text(out, s, slice_str(name_or_number(f, user_name(f->p, st->uid), st->uid))); break;
    case 'U': put_number(out, s, st->uid); break;
    case 'y': letter = type_letter(st->mode); put_text(out, s, slice(&letter, 1)); break;
    case 'Y': letter = target_type(f, e); put_text(out, s, slice(&letter, 1)); break;
    case 'Z': break;
    default: out_printf(out, "%%%c", c); break;
    }
}

/* Behind a backslash; false: \c, which ends the output. */
static bool put_escape(Output *out, const char **at)
{
    static const char from[] = "abfnrtv\\", to[] = "\a\b\f\n\r\t\v\\";
    char c = *(*at)++;
    const char *known = c ? strchr(from, c) : NULL;
    if (c == 'c')
        return false;
    if (known) {
        out_char(out, to[known - from]);
    } else if (c >= '0' && c <= '7') {
        unsigned v = (unsigned)(c - '0');
        for (int n = 0; n < 2 && **at >= '0' && **at <= '7'; n++)
            v = v * 8 + (unsigned)(*(*at)++ - '0');
        out_char(out, (char)v);
    } else {
        out_char(out, '\\');
        if (c)
            out_char(out, c);
        else
            --*at;
    }
    return true;
}

static int number(const char **at)
{
    int v = -1;
    for (; **at >= '0' && **at <= '9' && v < 100000; ++*at)
        v = MAX(v, 0) * 10 + (**at - '0');
    return v;
}

void find_printf(Find *f, Output *out, const char *at, const WalkEntry *e)
{
    while (*at) {
        if (*at == '\\') {
            at++;
            if (!put_escape(out, &at)) {
                output_flush(out);
                return;
            }
            continue;
        }
        if (*at != '%') {
            out_char(out, *at++);
            continue;
        }
        if (*++at == '%') {
            out_char(out, *at++);
            continue;
        }
        Shape s = {.flags = slice(at, strspn(at, "-+ #0")), .precision = -1};
        at += s.flags.len;
        s.width = number(&at);
        if (*at == '.') {
            at++;
            int n = number(&at);
            s.precision = MAX(n, 0);
        }
        char c = *at;
        if (!c)
            return;
        at++;
        if (!strchr("ABCT", c)) {
            put_directive(f, out, s, c, e);
        } else if (!*at) {
            out_printf(out, "%%%c", c);
        } else {
            const VStat *st = &e->stat;
            int64_t seconds = c == 'A' ? st->atime : c == 'C' ? st->ctime : c == 'B' ? st->btime : st->mtime;
            uint32_t ns = c == 'A' ? st->atime_ns : c == 'C' ? st->ctime_ns : c == 'B' ? st->btime_ns : st->mtime_ns;
            put_time(f, out, s, seconds, ns, *at++);
        }
    }
}

/* ---------- -ls ---------- */

static void put_escaped(Output *out, const char *name)
{
    static const char from[] = "\b\f\n\r\t \"\\", to[] = "bfnrt \"\\";
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        const char *known = strchr(from, (char)c);
        if (known)
            out_printf(out, "\\%c", to[known - from]);
        else if (c < 32 || c >= 127)
            out_printf(out, "\\%03o", c);
        else
            out_char(out, (char)c);
    }
}

static void put_device(Output *out, uint32_t rdev)
{
    unsigned major, minor;
    device_numbers(rdev, &major, &minor);
    out_printf(out, "%3u, %3u ", major, minor);
}

void find_ls(Find *f, Output *out, const WalkEntry *e)
{
    const VStat *st = &e->stat;
    char mode[11];
    CivilTime t;
    Buf b;
    format_mode(st->mode, mode);
    out_printf(out, "%9llu %6llu %s %3u %-8s %-8s ", (unsigned long long)st->ino, (unsigned long long)((st->blocks + 1) / 2), mode, st->nlink,
               name_or_number(f, user_name(f->p, st->uid), st->uid), name_or_number(f, group_name(f->p, st->gid), st->gid));
    if (S_ISCHR(st->mode))
        put_device(out, st->rdev);
    else
        out_printf(out, "%8llu ", (unsigned long long)st->size);
    bool recent = st->mtime > f->now - 31556952 / 2 && st->mtime <= f->now + 3600;
    buf_init(&b, &f->p->mem, 100);
    if (tz_civil(proc_zone(f->p), st->mtime, 0, &t))
        tz_format(&b, recent ? SLICE("%b %e %H:%M ") : SLICE("%b %e  %Y "), &t, st->mtime);
    out_write(out, buf_slice(&b));
    put_escaped(out, e->path);
    if (S_ISLNK(st->mode)) {
        out_str(out, " -> ");
        put_escaped(out, mem_copy(&f->p->mem, link_target(f, e)));
    }
    out_char(out, '\n');
}
