/* mkfifo, mknod: make named pipes and device files. GNU coreutils 9.1. */
#include <stdlib.h>

#include "command.h"
#include "shared.h"

static const Option options[] = {
    {'m', "mode", OPT_VALUE, "set file permission bits to MODE, not a=rw - umask", "MODE", 0},
    {'Z', "context", OPT_OPTIONAL, "(ignored: there are no security contexts)", "CTX", 0},
    OPTIONS_END,
};

/* The mode of -m; false without one. */
static bool take_mode(Proc *p, Args *args, uint32_t *mode)
{
    bool exact = false;
    *mode = 0666;
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id != 'm')
            continue;
        ModeChange *change = mode_parse(p, args->value);
        if (!change)
            die(p, 1, "invalid mode");
        *mode = mode_apply(change, 0666, false, p->cred.umask);
        if (*mode & ~0777u)
            die(p, 1, "mode must specify only file permission bits");
        exact = true;
    }
    return exact;
}

static int mkfifo_main(Proc *p, Args *args)
{
    uint32_t mode;
    bool exact = take_mode(p, args, &mode);
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

/* ---------- mknod ---------- */

static void check_number(Proc *p, const char *text, const char *kind)
{
    char *end;
    unsigned long v = strtoul(text, &end, 0); /* ULONG_MAX when it does not fit */
    if (*end || end == text || *text == '-' || v > UINT32_MAX)
        die(p, 1, "invalid %s device number %s", kind, quote(p, text));
}

static int mknod_main(Proc *p, Args *args)
{
    uint32_t mode;
    bool exact = take_mode(p, args, &mode);
    int n, err;
    char **v = args_operands(args, &n), type = n > 1 ? v[1][0] : 0;
    int wanted = type == 'p' || n < 2 ? 2 : 4;
    if (n < wanted) {
        if (n == 0)
            warn(p, "missing operand");
        else
            warn(p, "missing operand after %s", quote(p, v[n - 1]));
        if (wanted == 4 && n == 2)
            out_str(p->err, "Special files require major and minor device numbers.\n");
        usage_hint(p, args);
    }
    if (n > wanted) {
        warn(p, "extra operand %s", quote(p, v[wanted]));
        if (wanted == 2 && n == 4)
            out_str(p->err, "Fifos do not have major and minor device numbers.\n");
        usage_hint(p, args);
    }
    if (type == 'p') {
        err = proc_mkfifo(p, v[0], mode);
    } else if (type == 'b' || type == 'c' || type == 'u') {
        VStat st;
        check_number(p, v[2], "major");
        check_number(p, v[3], "minor");
        err = proc_stat(p, v[0], V_NOFOLLOW, &st) == 0 ? -EEXIST : -EPERM;
    } else {
        usage_fail(p, args, "invalid device type %s", quote(p, v[1]));
    }
    if (!err && exact)
        err = proc_chmod(p, v[0], 0, mode);
    if (err)
        warn_errno(p, err, "%s", quotef(p, v[0]));
    return err != 0;
}

COMMAND(mknod, "mknod [OPTION]... NAME TYPE [MAJOR MINOR]", "Create the special file NAME of the given TYPE: b, c, u or p.", options, COMMAND_WRITES,
        .notes = "Nobody may make devices here: those of /dev are all there are.");
