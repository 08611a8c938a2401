/* realpath: absolute names without symbolic links. */
#include "file.h"

enum { RELATIVE_TO = 256, RELATIVE_BASE };

static const Option options[] = {
    {'e', "canonicalize-existing", OPT_FLAG, "all components of the path must exist", NULL, 0},
    {'m', "canonicalize-missing", OPT_FLAG, "no path components need exist or be a directory", NULL, 0},
    {'L', "logical", OPT_FLAG, "resolve '..' components before symlinks", NULL, 0},
    {'P', "physical", OPT_FLAG, "resolve symlinks as encountered (default)", NULL, 0},
    {'q', "quiet", OPT_FLAG, "suppress most error messages", NULL, 0},
    {0, "relative-to", OPT_VALUE, "print the resolved path relative to DIR", "DIR", RELATIVE_TO},
    {0, "relative-base", OPT_VALUE, "print absolute paths unless paths below DIR", "DIR", RELATIVE_BASE},
    {'s', "strip", OPT_FLAG, "don't expand symlinks", NULL, 0},
    {0, "no-symlinks", OPT_FLAG, NULL, NULL, 's'},
    {'z', "zero", OPT_FLAG, "end each output line with NUL, not newline", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    RealpathMode mode;
    bool logical, strip, quiet;
    char end;
    const char *to, *base;
} Realpath;

/* Absolute, with "." and ".." taken away by text alone. */
static const char *by_text(Proc *p, const char *path)
{
    Buf b;
    char *cwd;
    buf_init(&b, &p->mem, BUF_MAX);
    if (*path != '/' && proc_getcwd(p, &cwd) == 0 && strcmp(cwd, "/") != 0)
        buf_append(&b, slice_str(cwd));
    for (Slice rest = slice_str(path); rest.len;) {
        Slice name = slice(rest.data, slice_find(rest, '/'));
        rest = slice_from(rest, MIN(name.len + 1, rest.len));
        if (slice_is(name, "..")) {
            while (b.len && b.data[--b.len] != '/')
                continue;
        } else if (name.len && !slice_is(name, ".")) {
            buf_char(&b, '/');
            buf_append(&b, name);
        }
    }
    if (!b.len)
        buf_char(&b, '/');
    b.data[b.len] = 0;
    return b.data;
}

static int resolve(Proc *p, const Realpath *o, const char *path, const char **out)
{
    char *real;
    if (!*path)
        return -ENOENT;
    if (o->logical || o->strip)
        path = by_text(p, path);
    int r = proc_realpath(p, path, o->mode, &real);
    *out = o->strip ? path : real;
    return r;
}

static bool is_below(const char *path, const char *dir)
{
    size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
    return strncmp(path, dir, len) == 0 && (path[len] == '/' || !path[len]);
}

static const char *relative(Proc *p, const char *path, const char *to)
{
    size_t common = 0, at = 0;
    for (; path[at] && path[at] == to[at]; at++)
        if (path[at] == '/')
            common = at;
    if ((!path[at] || path[at] == '/') && (!to[at] || to[at] == '/'))
        common = at;
    Buf b;
    buf_init(&b, &p->mem, BUF_MAX);
    const char *rest = to + common + (to[common] == '/');
    while (*rest) {
        buf_append(&b, b.len ? SLICE("/..") : SLICE(".."));
        rest += strcspn(rest, "/");
        rest += *rest == '/';
    }
    const char *tail = path + common + (path[common] == '/');
    if (*tail && b.len)
        buf_char(&b, '/');
    buf_append(&b, slice_str(tail));
    return b.len ? b.data : ".";
}

static int print_one(Proc *p, const Realpath *o, const char *path)
{
    const char *real;
    int r = resolve(p, o, path, &real);
    if (r) {
        if (!o->quiet)
            warn_errno(p, r, "%s", quotef(p, path));
        return 1;
    }
    if (o->to && !(o->base && !is_below(real, o->base)))
        real = relative(p, real, o->to);
    out_str(p->out, real);
    out_char(p->out, o->end);
    return 0;
}

static const char *directory(Proc *p, const Realpath *o, const char *path)
{
    const char *real;
    VStat st;
    int r = resolve(p, o, path, &real);
    if (r == 0 && o->mode == REALPATH_EXISTING && proc_stat(p, real, 0, &st) == 0 && !S_ISDIR(st.mode))
        r = -ENOTDIR;
    if (r)
        die_errno(p, 1, r, "%s", quotef(p, path));
    return real;
}

static int realpath_main(Proc *p, Args *args)
{
    Realpath o = {.mode = REALPATH_LAST_MISSING, .end = '\n'};
    int count, status = 0;
    for (int id; (id = args_next(p, args)) != -1;)
        switch (id) {
        case 'e': o.mode = REALPATH_EXISTING; break;
        case 'm': o.mode = REALPATH_ANY_MISSING; break;
        case 'L': o.logical = true; break;
        case 'P': o.logical = o.strip = false; break;
        case 'q': o.quiet = true; break;
        case 's': o.strip = true; break;
        case 'z': o.end = 0; break;
        case RELATIVE_TO: o.to = args->value; break;
        default: o.base = args->value; break;
        }
    char **names = args_operands(args, &count);
    if (!count)
        usage_missing(p, args, NULL);
    if (o.to)
        o.to = directory(p, &o, o.to);
    if (o.base)
        o.base = directory(p, &o, o.base);
    if (o.base && !o.to)
        o.to = o.base;
    else if (o.base && !is_below(o.to, o.base))
        o.base = o.to = NULL;
    for (int n = 0; n < count; n++)
        status |= print_one(p, &o, names[n]);
    return status;
}

COMMAND(realpath, "realpath [OPTION]... FILE...", "Print the resolved absolute file name;\nall but the last component must exist", options, COMMAND_PURE);
