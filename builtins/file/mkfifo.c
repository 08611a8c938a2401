/* mkfifo: make named pipes. GNU coreutils 9.1. */
#include "command.h"
#include "shared.h"

static const Option options[] = {
    {'m', "mode", OPT_VALUE, "set file permission bits to MODE, not a=rw - umask", "MODE", 0},
    OPTIONS_END,
};

static int mkfifo_main(Proc *p, Args *args)
{
    uint32_t mode = 0666;
    bool exact = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        ModeChange *change = mode_parse(p, args->value);
        if (!change)
            die(p, 1, "invalid mode");
        mode = mode_apply(change, 0666, false, p->cred.umask);
        if (mode & ~0777u)
            die(p, 1, "mode must specify only file permission bits");
        exact = true;
    }
    int n, status = 0;
    char **v = args_operands(args, &n);
    if (n == 0)
        usage_missing(p, args, NULL);
    for (int i = 0; i < n; i++) {
        int err = proc_mkfifo(p, v[i], mode);
        if (!err && exact)
            err = proc_chmod(p, v[i], 0, mode);
        if (err) {
            warn_errno(p, err, "cannot create fifo %s", quoteaf(p, v[i]));
            status = 1;
        }
    }
    return status;
}

COMMAND(mkfifo, "mkfifo [OPTION]... NAME...", "Create named pipes (FIFOs) with the given NAMEs.", options, COMMAND_WRITES);
