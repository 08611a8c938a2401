/* pwd as a program (the shell's own is in builtins/shell/cd.c). GNU coreutils 9.1. */
#include "shared.h"

static const Option options[] = {
    {'L', "logical", OPT_FLAG, "use PWD from environment, even if it contains symlinks", NULL, 0},
    {'P', "physical", OPT_FLAG, "avoid all symlinks", NULL, 0},
    OPTIONS_END,
};

static const Command program = {.name = "pwd", .usage = "pwd [OPTION]...", .summary = "Print the full filename of the current working directory.", .options = options};

/* PWD when it is an absolute name of this directory without . and .. in it, or NULL. */
static const char *logical_name(Proc *p)
{
    const char *name = proc_getenv(p, "PWD");
    VStat named, here;
    if (!name || *name != '/')
        return NULL;
    for (const char *at = name; (at = strstr(at, "/.")); at += 2) {
        const char *rest = at + 2 + (at[2] == '.');
        if (!*rest || *rest == '/')
            return NULL;
    }
    bool same = proc_stat(p, name, 0, &named) == 0 && proc_stat(p, ".", 0, &here) == 0 && named.ino == here.ino && named.dev == here.dev;
    return same ? name : NULL;
}

int pwd_program(Proc *p, Args *args)
{
    bool logical = proc_getenv(p, "POSIXLY_CORRECT") != NULL;
    int count;
    char *path;
    args->command = &program;
    for (int id; (id = args_next(p, args)) != -1;)
        logical = id == 'L';
    args_operands(args, &count);
    if (count)
        warn(p, "ignoring non-option arguments");
    const char *shown = logical ? logical_name(p) : NULL;
    if (!shown) {
        int err = proc_getcwd(p, &path);
        if (err)
            die_errno(p, 1, err, "cannot get current directory");
        shown = path;
    }
    out_printf(p->out, "%s\n", shown);
    return 0;
}
