/* install: copy files and set attributes. GNU coreutils 9.1. */
#include "file.h"

enum { BACKUP = 256, PRESERVE_CONTEXT, STRIP_PROGRAM };

static const Option options[] = {
    {0, "backup", OPT_OPTIONAL, "make a backup of each existing destination file", "CONTROL", BACKUP},
    {'b', NULL, OPT_FLAG, "like --backup but does not accept an argument", NULL, 0},
    {'c', NULL, OPT_FLAG, "(ignored)", NULL, 0},
    {'C', "compare", OPT_FLAG, "compare content of source and destination files, and if no change to content, ownership, and permissions, do not modify the destination at all", NULL, 0},
    {'d', "directory", OPT_FLAG, "treat all arguments as directory names; create all components of the specified directories", NULL, 0},
    {'D', NULL, OPT_FLAG, "create all leading components of DEST except the last, or all components of --target-directory, then copy SOURCE to DEST", NULL, 0},
    {'g', "group", OPT_VALUE, "set group ownership, instead of process' current group", "GROUP", 0},
    {'m', "mode", OPT_VALUE, "set permission mode (as in chmod), instead of rwxr-xr-x", "MODE", 0},
    {'o', "owner", OPT_VALUE, "set ownership (super-user only)", "OWNER", 0},
    {'p', "preserve-timestamps", OPT_FLAG, "apply access/modification times of SOURCE files to corresponding destination files", NULL, 0},
    {'s', "strip", OPT_FLAG, "strip symbol tables (there are none to strip)", NULL, 0},
    {0, "strip-program", OPT_VALUE, "program used to strip binaries (has no effect)", "PROGRAM", STRIP_PROGRAM},
    {'S', "suffix", OPT_VALUE, "override the usual backup suffix", "SUFFIX", 0},
    {'t', "target-directory", OPT_VALUE, "copy all SOURCE arguments into DIRECTORY", "DIRECTORY", 0},
    {'T', "no-target-directory", OPT_FLAG, "treat DEST as a normal file", NULL, 0},
    {'v', "verbose", OPT_FLAG, "print the name of each directory as it is created", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    Proc *p;
    CopyOptions copy;
    bool compare, directories, leading, times, no_target, verbose, backup;
    const char *target, *mode_text, *owner, *group, *backup_value;
    uint32_t mode, uid, gid;
} Install;

static bool set_attributes(Install *i, const char *path)
{
    int r = i->owner || i->group ? proc_chown(i->p, path, 0, i->uid, i->gid) : 0;
    if (r) {
        warn_errno(i->p, r, "cannot change ownership of %s", quoteaf(i->p, path));
        return false;
    }
    r = proc_chmod(i->p, path, 0, i->mode);
    if (r)
        warn_errno(i->p, r, "cannot change permissions of %s", quoteaf(i->p, path));
    return r == 0;
}

/* All directories of the path up to `len` bytes of it. */
static bool make_directories(Install *i, const char *path, size_t len)
{
    for (size_t n = 1; n <= len; n++) {
        if (n < len && path[n] != '/')
            continue;
        const char *part = mem_copy(&i->p->mem, slice(path, n));
        VStat st;
        if (proc_stat(i->p, part, 0, &st) == 0 && S_ISDIR(st.mode))
            continue;
        int r = proc_mkdir(i->p, part, 0755);
        if (r) {
            warn_errno(i->p, r, "cannot create directory %s", quote(i->p, part));
            return false;
        }
        if (i->verbose)
            out_printf(i->p->out, "%s: creating directory %s\n", i->p->name, quoteaf(i->p, part));
    }
    return true;
}

static bool same_content(Proc *p, const char *a, const char *b)
{
    Slice x, y;
    return read_file(p, a, &x) == 0 && read_file(p, b, &y) == 0 && slice_eq(x, y);
}

static bool unchanged(Install *i, const char *from, const char *to)
{
    VStat st;
    if (!i->compare || proc_stat(i->p, to, V_NOFOLLOW, &st) != 0 || !S_ISREG(st.mode) || (st.mode & 07777) != i->mode)
        return false;
    if ((i->owner && st.uid != i->uid) || (i->group && st.gid != i->gid))
        return false;
    return same_content(i->p, from, to);
}

static bool install_file(Install *i, const char *from, const char *to)
{
    Proc *p = i->p;
    VStat st, old;
    int r = proc_stat(p, from, 0, &st);
    if (r) {
        warn_errno(p, r, "cannot stat %s", quoteaf(p, from));
        return false;
    }
    if (S_ISDIR(st.mode)) {
        warn(p, "omitting directory %s", quoteaf(p, from));
        return false;
    }
    if (unchanged(i, from, to))
        return true;
    if (proc_stat(p, to, V_NOFOLLOW, &old) == 0 && old.ino == st.ino && old.dev == st.dev) {
        warn(p, "%s and %s are the same file", quoteaf(p, from), quoteaf(p, to));
        return false;
    }
    if (!copy_operand(p, &i->copy, from, to) || !set_attributes(i, to))
        return false;
    if (i->times)
        proc_utimes(p, to, 0, (VTime){st.atime, st.atime_ns, VTIME_SET}, (VTime){st.mtime, st.mtime_ns, VTIME_SET});
    return true;
}

static bool install_into(Install *i, const char *from, const char *directory)
{
    return install_file(i, from, path_join(i->p, directory, base_name(from)));
}

static bool is_directory(Proc *p, const char *path)
{
    VStat st;
    return proc_stat(p, path, 0, &st) == 0 && S_ISDIR(st.mode);
}

static bool install_directories(Install *i, char **v, int n)
{
    bool ok = true;
    for (int k = 0; k < n; k++) {
        strip_slashes(v[k]);
        bool made = make_directories(i, v[k], strlen(v[k]));
        ok &= made && set_attributes(i, v[k]);
    }
    return ok;
}

static bool install_files(Install *i, Args *args, char **v, int n)
{
    Proc *p = i->p;
    bool ok = true;
    if (n == 0 || (n == 1 && !i->target)) {
        if (n)
            usage_fail(p, args, "missing destination file operand after %s", quoteaf(p, v[0]));
        usage_fail(p, args, "missing file operand");
    }
    if (i->no_target && i->target)
        die(p, 1, "cannot combine --target-directory (-t) and --no-target-directory (-T)");
    if (i->no_target && n > 2)
        usage_fail(p, args, "extra operand %s", quoteaf(p, v[2]));
    const char *into = i->target;
    if (into && i->leading && !make_directories(i, into, strlen(into)))
        return false;
    if (into && !is_directory(p, into)) {
        VStat st;
        int r = proc_stat(p, into, 0, &st);
        die_errno(p, 1, r ? r : ENOTDIR, "failed to access %s", quoteaf(p, into));
    }
    if (!into && !i->no_target && is_directory(p, v[n - 1]))
        into = v[--n];
    if (!into && n > 2) {
        VStat st;
        int r = proc_stat(p, v[n - 1], 0, &st);
        die_errno(p, 1, r ? r : ENOTDIR, "target %s", quoteaf(p, v[n - 1]));
    }
    if (into) {
        for (int k = 0; k < n; k++)
            ok &= install_into(i, v[k], into);
        return ok;
    }
    if (i->leading && strrchr(v[1], '/') > v[1] && !make_directories(i, v[1], (size_t)(strrchr(v[1], '/') - v[1])))
        return false;
    return install_file(i, v[0], v[1]);
}

static void find_ids(Install *i)
{
    int64_t v;
    uint32_t gid;
    i->uid = i->gid = UINT32_MAX;
    if (i->owner && !user_find(i->p, slice_str(i->owner), &i->uid, &gid)) {
        if (parse_int(i->owner, &v) || v < 0 || v > UINT32_MAX)
            die(i->p, 1, "invalid user %s", quote(i->p, i->owner));
        i->uid = (uint32_t)v;
    }
    if (i->group && !group_find(i->p, slice_str(i->group), &i->gid)) {
        if (parse_int(i->group, &v) || v < 0 || v > UINT32_MAX)
            die(i->p, 1, "invalid group %s", quote(i->p, i->group));
        i->gid = (uint32_t)v;
    }
}

static void set_option(Install *i, Args *args, int id)
{
    switch (id) {
    case BACKUP: i->backup = true; i->backup_value = args->value; break;
    case 'b': i->backup = true; break;
    case 'C': i->compare = true; break;
    case 'd': i->directories = true; break;
    case 'D': i->leading = true; break;
    case 'g': i->group = args->value; break;
    case 'm': i->mode_text = args->value; break;
    case 'o': i->owner = args->value; break;
    case 'p': i->times = true; break;
    case 'S': i->backup = true; i->copy.suffix = args->value; break;
    case 't': i->target = args->value; break;
    case 'T': i->no_target = true; break;
    case 'v': i->verbose = i->copy.verbose = true; break;
    default: break;
    }
}

static int install_main(Proc *p, Args *args)
{
    Install i = {.p = p, .mode = 0755};
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&i, args, id);
    int n;
    char **v = args_operands(args, &n);
    if (i.mode_text) {
        ModeChange *m = mode_parse(p, i.mode_text);
        if (!m)
            die(p, 1, "invalid mode %s", quote(p, i.mode_text));
        i.mode = mode_apply(m, 0, i.directories, 0);
    }
    find_ids(&i);
    i.copy.follow = FOLLOW_ALWAYS;
    i.copy.remove_destination = true;
    if (i.backup)
        i.copy.backup = backup_kind(p, args, i.backup_value);
    copy_init(p, &i.copy);
    if (i.directories) {
        if (!n)
            usage_fail(p, args, "missing file operand");
        if (i.target)
            die(p, 1, "target directory not allowed when installing a directory");
        return !install_directories(&i, v, n);
    }
    return !install_files(&i, args, v, n);
}

COMMAND(install, "install [OPTION]... [-T] SOURCE DEST\ninstall [OPTION]... SOURCE... DIRECTORY\ninstall [OPTION]... -t DIRECTORY SOURCE...\ninstall [OPTION]... -d DIRECTORY...",
        "Copy files and set attributes.", options, COMMAND_WRITES);
