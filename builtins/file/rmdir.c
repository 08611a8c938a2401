/* rmdir: remove empty directories. */
#include "file.h"

enum { IGNORE_NON_EMPTY = 256 };

static const Option options[] = {
    {0, "ignore-fail-on-non-empty", OPT_FLAG, "ignore each failure that is solely because a directory is non-empty", NULL, IGNORE_NON_EMPTY},
    {'p', "parents", OPT_FLAG, "remove DIRECTORY and its ancestors; e.g., 'rmdir -p a/b/c' is similar to 'rmdir a/b/c a/b a'", NULL, 0},
    {0, "path", OPT_FLAG, NULL, NULL, 'p'},
    {'v', "verbose", OPT_FLAG, "output a diagnostic for every directory processed", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    bool ignore, parents, verbose;
} Rmdir;

static int remove_one(Proc *p, const Rmdir *o, const char *path)
{
    if (o->verbose)
        out_printf(p->out, "%s: removing directory, %s\n", p->name, quoteaf(p, path));
    return proc_rmdir(p, path);
}

/* Upwards until one stays. */
static int remove_parents(Proc *p, const Rmdir *o, char *path)
{
    strip_slashes(path);
    for (char *slash; (slash = strrchr(path, '/'));) {
        while (slash > path && *slash == '/')
            slash--;
        slash[1] = 0;
        int r = remove_one(p, o, path);
        if (r == -ENOTEMPTY && o->ignore)
            return 0;
        if (r) {
            warn_errno(p, r, "failed to remove directory %s", quoteaf(p, path));
            return 1;
        }
    }
    return 0;
}

static bool is_link_with_slash(Proc *p, const char *path)
{
    VStat st;
    size_t len = strlen(path);
    if (!len || path[len - 1] != '/')
        return false;
    char *bare = mem_strdup(&p->mem, path);
    strip_slashes(bare);
    return proc_stat(p, bare, V_NOFOLLOW, &st) == 0 && S_ISLNK(st.mode);
}

static int remove_operand(Proc *p, const Rmdir *o, char *path)
{
    int r = remove_one(p, o, path);
    if (r == 0)
        return o->parents ? remove_parents(p, o, path) : 0;
    if (r == -ENOTEMPTY && o->ignore)
        return 0;
    if (r == -ENOTDIR && is_link_with_slash(p, path))
        warn(p, "failed to remove %s: Symbolic link not followed", quoteaf(p, path));
    else
        warn_errno(p, r, "failed to remove %s", quoteaf(p, path));
    return 1;
}

static int rmdir_main(Proc *p, Args *args)
{
    Rmdir o = {0};
    int count, status = 0;
    for (int id; (id = args_next(p, args)) != -1;) {
        o.ignore |= id == IGNORE_NON_EMPTY;
        o.parents |= id == 'p';
        o.verbose |= id == 'v';
    }
    char **names = args_operands(args, &count);
    if (!count)
        usage_missing(p, args, NULL);
    for (int n = 0; n < count; n++)
        status |= remove_operand(p, &o, names[n]);
    return status;
}

COMMAND(rmdir, "rmdir [OPTION]... DIRECTORY...", "Remove the DIRECTORY(ies), if they are empty.", options, COMMAND_WRITES);
