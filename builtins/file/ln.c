/* ln: make links between files. */
#include "file.h"

enum { BACKUP_OPTION = 256 };

static const Option options[] = {
    {0, "backup", OPT_OPTIONAL, "make a backup of each existing destination file", "CONTROL", BACKUP_OPTION},
    {'b', NULL, OPT_FLAG, "like --backup but does not accept an argument", NULL, 0},
    {'d', "directory", OPT_FLAG, "allow the superuser to attempt to hard link directories", NULL, 0},
    {'F', NULL, OPT_FLAG, "the same", NULL, 0},
    {'f', "force", OPT_FLAG, "remove existing destination files", NULL, 0},
    {'i', "interactive", OPT_FLAG, "prompt whether to remove destinations", NULL, 0},
    {'L', "logical", OPT_FLAG, "dereference TARGETs that are symbolic links", NULL, 0},
    {'n', "no-dereference", OPT_FLAG, "treat LINK_NAME as a normal file if it is a symbolic link to a directory", NULL, 0},
    {'P', "physical", OPT_FLAG, "make hard links directly to symbolic links", NULL, 0},
    {'r', "relative", OPT_FLAG, "with -s, create links relative to link location", NULL, 0},
    {'s', "symbolic", OPT_FLAG, "make symbolic links instead of hard links", NULL, 0},
    {'S', "suffix", OPT_VALUE, "override the usual backup suffix", "SUFFIX", 0},
    {'t', "target-directory", OPT_VALUE, "specify the DIRECTORY in which to create the links", "DIRECTORY", 0},
    {'T', "no-target-directory", OPT_FLAG, "treat LINK_NAME as a normal file always", NULL, 0},
    {'v', "verbose", OPT_FLAG, "print name of each linked file", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    bool symbolic, relative, logical, force, ask, no_dereference, no_target, verbose, want_backup, directories;
    Backup backup;
    const char *suffix, *target, *backup_value;
} Ln;

/* The text of a link at `to` that leads to `from`, both resolved as far as they exist. */
static const char *relative_target(Proc *p, const char *from, const char *to)
{
    char *real, *dir;
    if (proc_realpath(p, mem_copy(&p->mem, dir_name(to)), REALPATH_ANY_MISSING, &dir) != 0 || proc_realpath(p, from, REALPATH_ANY_MISSING, &real) != 0)
        return from;
    size_t common = 0, at = 0;
    for (; real[at] && real[at] == dir[at]; at++)
        if (real[at] == '/')
            common = at;
    if ((!real[at] || real[at] == '/') && (!dir[at] || dir[at] == '/'))
        common = at;
    Buf b;
    buf_init(&b, &p->mem, BUF_MAX);
    for (const char *rest = dir + common + (dir[common] == '/'); *rest; rest += *rest == '/') {
        buf_append(&b, b.len ? SLICE("/..") : SLICE(".."));
        rest += strcspn(rest, "/");
    }
    const char *tail = real + common + (real[common] == '/');
    if (*tail && b.len)
        buf_char(&b, '/');
    buf_append(&b, slice_str(tail));
    return b.len ? b.data : ".";
}

static bool link_failed(Proc *p, const Ln *o, int r, const char *from, const char *to)
{
    if (o->symbolic && (r == -ENAMETOOLONG || !*from))
        warn_errno(p, r, "failed to create symbolic link %s -> %s", quoteaf(p, to), quoteaf(p, from));
    else if (o->symbolic)
        warn_errno(p, r, "failed to create symbolic link %s", quoteaf(p, to));
    else if (r == -EMLINK)
        warn_errno(p, r, "failed to create hard link to %s", quoteaf(p, from));
    else if (r == -EEXIST || r == -ENOSPC || r == -EROFS || r == -EDQUOT)
        warn_errno(p, r, "failed to create hard link %s", quoteaf(p, to));
    else
        warn_errno(p, r, "failed to create hard link %s => %s", quoteaf(p, to), quoteaf(p, from));
    return false;
}

/* Whether both are one entry: replacing it by a link to itself would lose it. */
static bool same_entry(Proc *p, const char *from, const char *to, const VStat *a, const VStat *b)
{
    char *x, *y;
    if (a->ino != b->ino || a->dev != b->dev)
        return false;
    return slice_eq(base_name(from), base_name(to)) && proc_realpath(p, mem_copy(&p->mem, dir_name(from)), REALPATH_EXISTING, &x) == 0 &&
           proc_realpath(p, mem_copy(&p->mem, dir_name(to)), REALPATH_EXISTING, &y) == 0 && strcmp(x, y) == 0;
}

/* Makes room for the link. 1: leave it, 0: go on, -1: refused. */
static int clear(Proc *p, const Ln *o, const char *from, const char *to, const VStat *st, const char **backup)
{
    VStat there;
    if (proc_stat(p, to, V_NOFOLLOW, &there) != 0)
        return 0;
    if (S_ISDIR(there.mode)) {
        warn(p, "%s: cannot overwrite directory", quotef(p, to));
        return -1;
    }
    if (st && (o->backup || o->force) && same_entry(p, from, to, st, &there)) {
        warn(p, "%s and %s are the same file", quoteaf(p, from), quoteaf(p, to));
        return -1;
    }
    if (o->ask) {
        output_flush(p->out);
        out_printf(p->err, "%s: replace %s? ", p->name, quoteaf(p, to));
        if (!ask(p))
            return 1;
    }
    int r = 0;
    if (o->backup) {
        *backup = backup_name(p, to, o->backup, o->suffix);
        if ((r = proc_rename(p, to, *backup, false)))
            warn_errno(p, r, "cannot backup %s", quoteaf(p, to));
    } else if ((r = proc_unlink(p, to))) {
        warn_errno(p, r, "cannot remove %s", quoteaf(p, to));
    }
    return r ? -1 : 0;
}

static bool make_link(Proc *p, const Ln *o, const char *from, const char *to)
{
    VStat st;
    const char *backup = NULL, *text = from;
    int flags = o->logical ? 0 : V_NOFOLLOW;
    int found = proc_stat(p, from, o->symbolic ? 0 : flags, &st);
    if (!o->symbolic && found) {
        warn_errno(p, found, "failed to access %s", quoteaf(p, from));
        return false;
    }
    if (!o->symbolic && !o->directories && S_ISDIR(st.mode)) {
        warn(p, "%s: hard link not allowed for directory", quotef(p, from));
        return false;
    }
    if (o->backup || o->force || o->ask) {
        int r = clear(p, o, from, to, found ? NULL : &st, &backup);
        if (r)
            return r > 0;
    }
    if (o->relative)
        text = relative_target(p, from, to);
    int r = o->symbolic ? proc_symlink(p, text, to) : proc_link(p, from, to, flags);
    if (r) {
        if (backup)
            (void)proc_rename(p, backup, to, false);
        return link_failed(p, o, r, text, to);
    }
    if (o->verbose) {
        if (backup)
            out_printf(p->out, "%s ~ ", quoteaf(p, backup));
        out_printf(p->out, "%s %s %s\n", quoteaf(p, to), o->symbolic ? "->" : "=>", quoteaf(p, text));
    }
    return true;
}

static int link_all(Proc *p, const Ln *o, char **names, int count, const char *dir)
{
    int status = 0;
    for (int n = 0; n < count; n++)
        status |= !make_link(p, o, names[n], path_join(p, dir, base_name(names[n])));
    return status;
}

static bool is_directory(Proc *p, const Ln *o, const char *path, int *error)
{
    VStat st;
    *error = proc_stat(p, path, o->no_dereference ? V_NOFOLLOW : 0, &st);
    return *error == 0 && S_ISDIR(st.mode);
}

static int link_operands(Proc *p, Args *args, const Ln *o, char **names, int count)
{
    int error;
    if (!count)
        usage_fail(p, args, "missing file operand");
    if (o->no_target && o->target)
        die(p, 1, "cannot combine --target-directory and --no-target-directory");
    if (o->no_target) {
        if (count == 1)
            usage_fail(p, args, "missing destination file operand after %s", quoteaf(p, names[0]));
        if (count > 2)
            usage_fail(p, args, "extra operand %s", quoteaf(p, names[2]));
        return !make_link(p, o, names[0], names[1]);
    }
    if (o->target) {
        if (!is_directory(p, o, o->target, &error))
            die_errno(p, 1, error ? error : ENOTDIR, error ? "failed to access %s" : "target %s", quoteaf(p, o->target));
        return link_all(p, o, names, count, o->target);
    }
    if (count == 1)
        return link_all(p, o, names, 1, ".");
    char *last = names[count - 1];
    if (is_directory(p, o, last, &error))
        return link_all(p, o, names, count - 1, last);
    size_t len = strlen(last);
    if (count > 2 || (len && last[len - 1] == '/'))
        die_errno(p, 1, error ? error : ENOTDIR, "target %s", quoteaf(p, last));
    return !make_link(p, o, names[0], last);
}

static int ln_main(Proc *p, Args *args)
{
    Ln o = {0};
    int count;
    for (int id; (id = args_next(p, args)) != -1;)
        switch (id) {
        case BACKUP_OPTION: o.want_backup = true; o.backup_value = args->value; break;
        case 'b': o.want_backup = true; break;
        case 'f': o.force = true; o.ask = false; break;
        case 'i': o.ask = true; o.force = false; break;
        case 'L': o.logical = true; break;
        case 'P': o.logical = false; break;
        case 'n': o.no_dereference = true; break;
        case 'r': o.relative = true; break;
        case 's': o.symbolic = true; break;
        case 'd':
        case 'F': o.directories = true; break;
        case 'S': o.want_backup = true; o.suffix = args->value; break;
        case 't': o.target = args->value; break;
        case 'T': o.no_target = true; break;
        case 'v': o.verbose = true; break;
        default: break;
        }
    if (o.relative && !o.symbolic)
        die(p, 1, "cannot do --relative without --symbolic");
    if (o.want_backup)
        o.backup = backup_kind(p, args, o.backup_value);
    char **names = args_operands(args, &count);
    return link_operands(p, args, &o, names, count);
}

COMMAND(ln, "ln [OPTION]... [-T] TARGET LINK_NAME\nln [OPTION]... TARGET\nln [OPTION]... TARGET... DIRECTORY\nln [OPTION]... -t DIRECTORY TARGET...",
        "Create hard links by default, symbolic links with --symbolic.", options, COMMAND_WRITES);
