/* link, unlink, sync: the plain calls. GNU coreutils 9.1. */
#include "file.h"

static const Option no_options[] = {OPTIONS_END};
static const Option sync_options[] = {
    {'d', "data", OPT_FLAG, "sync only file data, no unneeded metadata", NULL, 0},
    {'f', "file-system", OPT_FLAG, "sync the file systems that contain the files", NULL, 0},
    OPTIONS_END,
};

static char **operands(Proc *p, Args *args, int want)
{
    while (args_next(p, args) != -1)
        ;
    int n;
    char **v = args_operands(args, &n);
    if (n < want)
        usage_missing(p, args, n ? v[n - 1] : NULL);
    if (n > want)
        usage_extra(p, args, v[want]);
    return v;
}

static int link_main(Proc *p, Args *args)
{
    char **v = operands(p, args, 2);
    int r = proc_link(p, v[0], v[1], V_NOFOLLOW);
    if (r)
        die_errno(p, 1, r, "cannot create link %s to %s", quoteaf(p, v[1]), quoteaf(p, v[0]));
    return 0;
}

static int unlink_main(Proc *p, Args *args)
{
    char **v = operands(p, args, 1);
    int r = proc_unlink(p, v[0]);
    if (r)
        die_errno(p, 1, r, "cannot unlink %s", quoteaf(p, v[0]));
    return 0;
}

/* What is written is written: only names and options can be wrong. */
static int sync_main(Proc *p, Args *args)
{
    bool data = false, system = false, ok = true;
    for (int id; (id = args_next(p, args)) != -1;) {
        data |= id == 'd';
        system |= id == 'f';
    }
    int n;
    char **v = args_operands(args, &n);
    if (data && system)
        die(p, 1, "cannot specify both --data and --file-system");
    if (data && !n)
        die(p, 1, "--data needs at least one argument");
    for (int i = 0; i < n; i++) {
        int fd = proc_open(p, v[i], V_READ | V_NONBLOCK, 0);
        if (fd < 0) {
            warn_errno(p, fd, "error opening %s", quoteaf(p, v[i]));
            ok = false;
        } else {
            proc_close(p, fd);
        }
    }
    return !ok;
}

COMMAND(link, "link FILE1 FILE2\nlink OPTION", "Call the link function to create a link named FILE2 to an existing FILE1.", no_options, COMMAND_WRITES);
COMMAND(unlink, "unlink FILE\nunlink OPTION", "Call the unlink function to remove the specified FILE.", no_options, COMMAND_WRITES);
COMMAND(sync, "sync [OPTION] [FILE]...", "Synchronize cached writes to persistent storage.", sync_options, COMMAND_PURE);
