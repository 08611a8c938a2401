/* nproc: the number of processors. GNU coreutils 9.1; a shell runs on one, whatever the host has. */
#include "command.h"

enum { OPT_ALL = 256, OPT_IGNORE };

static const Option options[] = {
    {0, "all", OPT_FLAG, "print the number of installed processors", NULL, OPT_ALL},
    {0, "ignore", OPT_VALUE, "if possible, exclude N processing units", "N", OPT_IGNORE},
    OPTIONS_END,
};

static int nproc_main(Proc *p, Args *args)
{
    for (int id; (id = args_next(p, args)) != -1;) {
        uint64_t n;
        if (id == OPT_IGNORE && parse_size(args->value, "", &n) == -EINVAL)
            die(p, 1, "invalid number to ignore: %s", quote(p, args->value));
    }
    int n;
    char **v = args_operands(args, &n);
    if (n)
        usage_extra(p, args, v[0]);
    out_str(p->out, "1\n");
    return 0;
}

COMMAND(nproc, "nproc [OPTION]...", "Print the number of processing units available to the current process.", options, COMMAND_PURE,
        .notes = "Always 1: a shell runs on one processor.");
