/* stat: what an inode or a file system says of itself, in formats. */
#include "file.h"

enum { PRINTF = 256, CACHED };

static const Option options[] = {
    {'L', "dereference", OPT_FLAG, "follow links", NULL, 0},
    {'f', "file-system", OPT_FLAG, "display file system status instead of file status", NULL, 0},
    {0, "cached", OPT_VALUE, "(ignored) specify how to use cached attributes", "MODE", CACHED},
    {'c', "format", OPT_VALUE, "use the specified FORMAT instead of the default; output a newline after each use of FORMAT", "FORMAT", 0},
    {0, "printf", OPT_VALUE, "like --format, but interpret backslash escapes, and do not output a mandatory trailing newline", "FORMAT", PRINTF},
    {'t', "terse", OPT_FLAG, "print the information in terse form", NULL, 0},
    OPTIONS_END,
};

static const Choice cached_words[] = {{"default", 0}, {"never", 1}, {"always", 2}, {NULL, 0}};

typedef struct {
    Proc *p;
    const char *name;
    bool follow, file_system;
    VStat st;
    VStatfs fs;
} Stat;

static const char *file_type(const VStat *st)
{
    switch (st->mode & S_IFMT) {
    case S_IFREG: return st->size ? "regular file" : "regular empty file";
    case S_IFDIR: return "directory";
    case S_IFLNK: return "symbolic link";
    case S_IFIFO: return "fifo";
    case S_IFCHR: return "character special file";
    case S_IFBLK: return "block special file";
    case S_IFSOCK: return "socket";
    default: return "weird file";
    }
}

static void print_padded(Proc *p, Slice flags, int width, int precision, const char *text)
{
    size_t len = strlen(text), columns = utf8_count(slice(text, len));
    if (precision >= 0 && (size_t)precision < len)
        columns = len = (size_t)precision;
    size_t pad = width > 0 && (size_t)width > columns ? (size_t)width - columns : 0;
    bool left = flags.len && memchr(flags.data, '-', flags.len);
    if (!left)
        out_pad(p->out, pad, ' ');
    out_write(p->out, slice(text, len));
    if (left)
        out_pad(p->out, pad, ' ');
}

/* A number under printf's flags, width and precision. */
static void print_number(Proc *p, Slice flags, int width, int precision, uint64_t v, char conversion)
{
    Buf format;
    buf_init(&format, &p->mem, 64);
    buf_char(&format, '%');
    for (size_t n = 0; n < flags.len && n < 8; n++)
        if (conversion != 'u' || flags.data[n] != '#')
            buf_char(&format, flags.data[n]);
    if (width > 0)
        buf_printf(&format, "%d", width);
    if (precision >= 0)
        buf_printf(&format, ".%d", precision);
    const char *kind = conversion == 'o' ? "llo" : conversion == 'x' ? "llx" : "llu";
    buf_append(&format, slice_str(kind));
    char *text;
    /* The format is of our own making: flags out of "-+ #0'I", numbers, one conversion. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    text = mem_printf(&p->mem, format.data, (unsigned long long)v);
#pragma GCC diagnostic pop
    out_str(p->out, text);
}

static const char *human_time(Proc *p, int64_t seconds, uint32_t ns)
{
    CivilTime t;
    Buf b;
    if (!tz_civil(proc_zone(p), seconds, ns, &t))
        return mem_printf(&p->mem, "%lld.%09u", (long long)seconds, ns);
    buf_init(&b, &p->mem, 200);
    tz_format(&b, SLICE("%Y-%m-%d %H:%M:%S.%N %z"), &t, seconds);
    return b.data;
}

static void buf_insert_zero(Buf *b, size_t at)
{
    buf_char(b, '0');
    memmove(b->data + at + 1, b->data + at, b->len - at - 1);
    b->data[at] = '0';
}

/* Seconds, with as many digits of the fraction as the precision says (9 for a bare point); digits are cut off, towards zero. */
static void print_seconds(const Stat *s, Slice flags, int width, int precision, int64_t seconds, uint32_t ns)
{
    Buf b;
    bool borrow = precision >= 0 && seconds < 0 && ns, zeros = flags.len && memchr(flags.data, '0', flags.len) && !memchr(flags.data, '-', flags.len);
    uint32_t fraction = borrow ? 1000000000 - ns : ns;
    buf_init(&b, &s->p->mem, BUF_MAX);
    seconds += borrow;
    buf_printf(&b, "%s%lld", borrow && seconds == 0 ? "-" : "", (long long)seconds);
    if (precision == 0)
        precision = 9;
    if (precision > 0)
        buf_char(&b, '.');
    for (int n = 0; n < precision; n++, fraction = fraction % 100000000 * 10)
        buf_char(&b, (char)('0' + fraction / 100000000));
    for (size_t sign = b.data[0] == '-'; zeros && b.len < (size_t)MAX(width, 0);)
        buf_insert_zero(&b, sign);
    print_padded(s->p, flags, width, -1, b.data);
}

static const char *quoted_name(const Stat *s)
{
    Slice target;
    const char *name = quoteaf(s->p, s->name);
    if (!S_ISLNK(s->st.mode) || proc_readlink(s->p, s->name, &target) != 0)
        return name;
    return mem_printf(&s->p->mem, "%s -> %s", name, quoteaf(s->p, target.data));
}

static const char *mount_point(const Stat *s)
{
    char *real;
    VStat st;
    if (proc_realpath(s->p, s->name, REALPATH_EXISTING, &real) != 0)
        return "?";
    for (char *slash; strcmp(real, "/") != 0 && (slash = strrchr(real, '/'));) {
        char *up = slash == real ? mem_strdup(&s->p->mem, "/") : mem_copy(&s->p->mem, slice(real, (size_t)(slash - real)));
        if (proc_stat(s->p, up, 0, &st) != 0 || st.dev != s->st.dev)
            return real;
        real = up;
    }
    return real;
}

static const char *known(const char *name) { return name ? name : "UNKNOWN"; }

static void print_file_field(const Stat *s, Slice flags, int width, int precision, char which, char c)
{
    Proc *p = s->p;
    const VStat *st = &s->st;
    char mode[11];
    unsigned major, minor;
    device_numbers(st->rdev, &major, &minor);
    switch (c) {
    case 'n': print_padded(p, flags, width, precision, s->name); break;
    case 'N': print_padded(p, flags, width, precision, quoted_name(s)); break;
    case 'd': print_number(p, flags, width, precision, which == 'H' ? 0 : st->dev, 'u'); break;
    case 'D': print_number(p, flags, width, precision, st->dev, 'x'); break;
    case 'i': print_number(p, flags, width, precision, st->ino, 'u'); break;
    case 'a': print_number(p, flags, width, precision, st->mode & 07777, 'o'); break;
    case 'A': format_mode(st->mode, mode); print_padded(p, flags, width, precision, mode); break;
    case 'f': print_number(p, flags, width, precision, st->mode, 'x'); break;
    case 'F': print_padded(p, flags, width, precision, file_type(st)); break;
    case 'h': print_number(p, flags, width, precision, st->nlink, 'u'); break;
    case 'u': print_number(p, flags, width, precision, st->uid, 'u'); break;
    case 'U': print_padded(p, flags, width, precision, known(user_name(p, st->uid))); break;
    case 'g': print_number(p, flags, width, precision, st->gid, 'u'); break;
    case 'G': print_padded(p, flags, width, precision, known(group_name(p, st->gid))); break;
    case 'm': print_padded(p, flags, width, precision, mount_point(s)); break;
    case 's': print_number(p, flags, width, precision, st->size, 'u'); break;
    case 'r': print_number(p, flags, width, precision, which == 'H' ? major : which == 'L' ? minor : major << 8 | minor, 'u'); break;
    case 'R': print_number(p, flags, width, precision, major << 8 | minor, 'x'); break;
    case 'T': print_number(p, flags, width, precision, minor, 'x'); break;
    case 't': print_number(p, flags, width, precision, major, 'x'); break;
    case 'b': print_number(p, flags, width, precision, st->blocks, 'u'); break;
    case 'B': print_number(p, flags, width, precision, 512, 'u'); break;
    case 'o': print_number(p, flags, width, precision, 4096, 'u'); break;
    case 'x': print_padded(p, flags, width, precision, human_time(p, st->atime, st->atime_ns)); break;
    case 'X': print_seconds(s, flags, width, precision, st->atime, st->atime_ns); break;
    case 'y': print_padded(p, flags, width, precision, human_time(p, st->mtime, st->mtime_ns)); break;
    case 'Y': print_seconds(s, flags, width, precision, st->mtime, st->mtime_ns); break;
    case 'z': print_padded(p, flags, width, precision, human_time(p, st->ctime, st->ctime_ns)); break;
    case 'Z': print_seconds(s, flags, width, precision, st->ctime, st->ctime_ns); break;
    case 'w': print_padded(p, flags, width, precision, human_time(p, st->btime, st->btime_ns)); break;
    case 'W': print_seconds(s, flags, width, precision, st->btime, st->btime_ns); break;
    default: out_char(p->out, '?'); break;
    }
}

static void print_system_field(const Stat *s, Slice flags, int width, int precision, char c)
{
    Proc *p = s->p;
    enum { BLOCK = 4096 };
    switch (c) {
    case 'n': print_padded(p, flags, width, precision, s->name); break;
    case 'i': print_number(p, flags, width, precision, s->fs.dev, 'x'); break;
    case 'l': print_number(p, flags, width, precision, 255, 'u'); break;
    case 't': print_number(p, flags, width, precision, 0x01021994, 'x'); break;
    case 'T': print_padded(p, flags, width, precision, "tmpfs"); break;
    case 'b': print_number(p, flags, width, precision, s->fs.bytes / BLOCK, 'u'); break;
    case 'f':
    case 'a': print_number(p, flags, width, precision, s->fs.bytes_free / BLOCK, 'u'); break;
    case 's':
    case 'S': print_number(p, flags, width, precision, BLOCK, 'u'); break;
    case 'c': print_number(p, flags, width, precision, s->fs.inodes, 'u'); break;
    case 'd': print_number(p, flags, width, precision, s->fs.inodes_free, 'u'); break;
    default: out_char(p->out, '?'); break;
    }
}

static int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1; }

/* "\n", "\101", "\x41" ...: returns what is behind it. */
static const char *print_escape(Proc *p, const char *f)
{
    static const char from[] = "abefnrtv\\\"", to[] = "\a\b\033\f\n\r\t\v\\\"";
    unsigned v = 0, n = 0;
    const char *at = *f ? strchr(from, *f) : NULL;
    if (at) {
        out_char(p->out, to[at - from]);
        return f + 1;
    }
    if (*f == 'x' && hex_digit(f[1]) >= 0) {
        for (f++; n < 2 && hex_digit(*f) >= 0; n++)
            v = v * 16 + (unsigned)hex_digit(*f++);
        out_char(p->out, (char)v);
        return f;
    }
    if (*f >= '0' && *f <= '7') {
        for (; n < 3 && *f >= '0' && *f <= '7'; n++)
            v = v * 8 + (unsigned)(*f++ - '0');
        out_char(p->out, (char)v);
        return f;
    }
    if (!*f) {
        warn(p, "warning: backslash at end of format");
        out_char(p->out, '\\');
        return f;
    }
    warn(p, "warning: unrecognized escape '\\%c'", *f);
    out_char(p->out, *f);
    return f + 1;
}

static int parse_number(const char **f)
{
    int v = 0;
    while (**f >= '0' && **f <= '9' && v < 100000)
        v = v * 10 + *(*f)++ - '0';
    return v;
}

static void print_format(const Stat *s, const char *f, bool escapes)
{
    Proc *p = s->p;
    while (*f) {
        if (*f == '\\' && escapes) {
            f = print_escape(p, f + 1);
            continue;
        }
        if (*f != '%') {
            out_char(p->out, *f++);
            continue;
        }
        const char *start = f++;
        Slice flags = slice(f, strspn(f, "'-+ #0I"));
        f += flags.len;
        int width = parse_number(&f), precision = -1;
        if (*f == '.') {
            f++;
            precision = parse_number(&f);
        }
        char which = 0;
        if ((*f == 'H' || *f == 'L') && (f[1] == 'd' || f[1] == 'r'))
            which = *f++;
        if (*f == '%' || !*f) {
            if (start + 1 != f)
                die(p, 1, "%s: invalid directive", quote(p, mem_copy(&p->mem, slice(start, (size_t)(f - start) + (*f != 0)))));
            out_char(p->out, '%');
            f += *f != 0;
            continue;
        }
        if (s->file_system)
            print_system_field(s, flags, width, precision, *f);
        else
            print_file_field(s, flags, width, precision, which, *f);
        f++;
    }
}

static const char *default_format(const Stat *s, bool terse)
{
    if (s->file_system)
        return terse ? "%n %i %l %t %s %S %b %f %a %c %d\n"
                     : "  File: \"%n\"\n    ID: %-8i Namelen: %-7l Type: %T\nBlock size: %-10s Fundamental block size: %S\n"
                       "Blocks: Total: %-10b Free: %-10f Available: %a\nInodes: Total: %-10c Free: %d\n";
    if (terse)
        return "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n";
    bool device = S_ISCHR(s->st.mode) || S_ISBLK(s->st.mode);
    if (device)
        return "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-11i Links: %-5h Device type: %Hr,%Lr\n"
               "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: %w\n";
    return "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-11i Links: %h\n"
           "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: %w\n";
}

static int look(Stat *s)
{
    Proc *p = s->p;
    int r;
    if (s->file_system && strcmp(s->name, "-") == 0) {
        warn(p, "using %s to denote standard input does not work in file system mode", quoteaf(p, s->name));
        return -EINVAL;
    }
    if (s->file_system) {
        r = proc_statfs(p, s->name, &s->fs);
        if (r)
            warn_errno(p, r, "cannot read file system information for %s", quoteaf(p, s->name));
        return r;
    }
    if (strcmp(s->name, "-") == 0) {
        r = proc_fstat(p, 0, &s->st);
        if (r)
            warn_errno(p, r, "cannot stat standard input");
        return r;
    }
    r = proc_stat(p, s->name, s->follow ? 0 : V_NOFOLLOW, &s->st);
    if (r)
        warn_errno(p, r, "cannot statx %s", quoteaf(p, s->name));
    return r;
}

static int stat_main(Proc *p, Args *args)
{
    Stat s = {.p = p};
    const char *format = NULL;
    bool terse = false, escapes = false;
    int count, status = 0;
    for (int id; (id = args_next(p, args)) != -1;)
        switch (id) {
        case 'L': s.follow = true; break;
        case 'f': s.file_system = true; break;
        case 't': terse = true; break;
        case CACHED: choose(p, args, "--cached", args->value, cached_words); break;
        case 'c':
        case PRINTF: format = args->value; escapes = id == PRINTF; break;
        default: break;
        }
    char **names = args_operands(args, &count);
    if (!count)
        usage_missing(p, args, NULL);
    for (int n = 0; n < count; n++) {
        MemMark mark = mem_mark(&p->mem);
        s.name = names[n];
        if (look(&s) != 0) {
            status = 1;
        } else {
            print_format(&s, format ? format : default_format(&s, terse), escapes);
            if (format && !escapes)
                out_char(p->out, '\n');
        }
        mem_reset(&p->mem, mark);
    }
    return status;
}

COMMAND(stat, "stat [OPTION]... FILE...", "Display file or file system status.", options, COMMAND_PURE);
