/* mkdir: make directories. */
#include "file.h"

static const Option options[] = {
    {'m', "mode", OPT_VALUE, "set file mode (as in chmod), not a=rwx - umask", "MODE", 0},
    {'p', "parents", OPT_FLAG, "no error if existing, make parent directories as needed", NULL, 0},
    {'v', "verbose", OPT_FLAG, "print a message for each created directory", NULL, 0},
    {'Z', "context", OPT_OPTIONAL, "(ignored: there are no security contexts)", "CTX", 0},
    OPTIONS_END,
};

typedef struct {
    const ModeChange *mode;
    bool parents, verbose;
} Mkdir;

static int make(Proc *p, const Mkdir *m, const char *path, bool last)
{
    int r = proc_mkdir(p, path, 0777);
    if (r)
        return r;
    if (last && m->mode) {
        /* The umask holds for the bits that the mode does not speak of. */
        uint32_t mode = mode_apply(m->mode, 0777, true, p->cred.umask), own = mode_mentioned(m->mode);
        r = proc_chmod(p, path, 0, (mode & own) | (mode & ~own & ~p->cred.umask));
    }
    else if (!last && (p->cred.umask & 0300)) /* what is to be made below must be reachable */
        r = proc_chmod(p, path, 0, (0777 & ~p->cred.umask) | 0300);
    if (m->verbose)
        out_printf(p->out, "%s: created directory %s\n", p->name, quoteaf(p, path));
    return r;
}

static bool is_directory(Proc *p, const char *path)
{
    VStat st;
    return proc_stat(p, path, 0, &st) == 0 && S_ISDIR(st.mode);
}

static int failed(Proc *p, int r, const char *path)
{
    warn_errno(p, r, "cannot create directory %s", quote(p, path));
    return 1;
}

static int make_parents(Proc *p, const Mkdir *m, char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (size_t at = 1; at < end; at++) {
        if (path[at] != '/' || path[at - 1] == '/')
            continue;
        path[at] = 0;
        int r = is_directory(p, path) ? 0 : make(p, m, path, false);
        VStat st;
        if (r == -EEXIST && proc_stat(p, path, 0, &st) == 0)
            r = -ENOTDIR; /* but a dangling link exists */
        if (r)
            return failed(p, r, path);
        path[at] = '/';
    }
    int r = make(p, m, path, true);
    return r == 0 || (r == -EEXIST && is_directory(p, path)) ? 0 : failed(p, r, path);
}

static int mkdir_main(Proc *p, Args *args)
{
    Mkdir m = {0};
    const char *mode = NULL;
    int count, status = 0;
    for (int id; (id = args_next(p, args)) != -1;) {
        m.parents |= id == 'p';
        m.verbose |= id == 'v';
        if (id == 'm')
            mode = args->value;
    }
    char **names = args_operands(args, &count);
    if (!count)
        usage_missing(p, args, NULL);
    if (mode && !(m.mode = mode_parse(p, mode)))
        die(p, 1, "invalid mode %s", quote(p, mode));
    for (int n = 0; n < count; n++) {
        int r = m.parents ? make_parents(p, &m, names[n]) : make(p, &m, names[n], true);
        if (r < 0)
            r = failed(p, r, names[n]);
        status |= r;
    }
    return status;
}

COMMAND(mkdir, "mkdir [OPTION]... DIRECTORY...", "Create the DIRECTORY(ies), if they do not already exist.", options, COMMAND_WRITES);
