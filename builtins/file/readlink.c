/* readlink: what a symbolic link says, or where a path leads. */
#include "file.h"

static const Option options[] = {
    {'f', "canonicalize", OPT_FLAG, "canonicalize by following every symlink in every component of the given name recursively; all but the last component must exist", NULL, 0},
    {'e', "canonicalize-existing", OPT_FLAG, "canonicalize by following every symlink; all components must exist", NULL, 0},
    {'m', "canonicalize-missing", OPT_FLAG, "canonicalize by following every symlink, without requirements on components existence", NULL, 0},
    {'n', "no-newline", OPT_FLAG, "do not output the trailing delimiter", NULL, 0},
    {'q', "quiet", OPT_FLAG, NULL, NULL, 0},
    {'s', "silent", OPT_FLAG, "suppress most error messages (on by default)", NULL, 0},
    {'v', "verbose", OPT_FLAG, "report error messages", NULL, 0},
    {'z', "zero", OPT_FLAG, "end each output line with NUL, not newline", NULL, 0},
    OPTIONS_END,
};

static int resolve(Proc *p, int how, const char *path, Slice *out)
{
    if (!how)
        return proc_readlink(p, path, out);
    char *real;
    int r = proc_realpath(p, path, how == 'e' ? REALPATH_EXISTING : how == 'f' ? REALPATH_LAST_MISSING : REALPATH_ANY_MISSING, &real);
    if (r == 0)
        *out = slice_str(real);
    return r;
}

static int readlink_main(Proc *p, Args *args)
{
    bool no_newline = false, verbose = false;
    char end = '\n';
    int how = 0, count, status = 0;
    for (int id; (id = args_next(p, args)) != -1;)
        switch (id) {
        case 'n': no_newline = true; break;
        case 'q':
        case 's': verbose = false; break;
        case 'v': verbose = true; break;
        case 'z': end = 0; break;
        default: how = id; break;
        }
    char **names = args_operands(args, &count);
    if (!count)
        usage_missing(p, args, NULL);
    if (count > 1 && no_newline) {
        warn(p, "ignoring --no-newline with multiple arguments");
        no_newline = false;
    }
    for (int n = 0; n < count; n++) {
        Slice target;
        int r = resolve(p, how, names[n], &target);
        if (r) {
            status = 1;
            if (verbose)
                warn_errno(p, r, "%s", quotef(p, names[n]));
            continue;
        }
        out_write(p->out, target);
        if (!no_newline)
            out_char(p->out, end);
    }
    return status;
}

COMMAND(readlink, "readlink [OPTION]... FILE...", "Print value of a symbolic link or canonical file name", options, COMMAND_PURE);
