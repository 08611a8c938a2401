/* whoami: print the user's name. GNU coreutils 9.1. */
#include "command.h"
#include "shared.h"

static const Option options[] = {OPTIONS_END};

static int whoami_main(Proc *p, Args *args)
{
    while (args_next(p, args) != -1)
        ;
    int n;
    char **v = args_operands(args, &n);
    if (n)
        usage_extra(p, args, v[0]);
    const char *name = user_name(p, p->cred.uid);
    if (!name)
        die(p, 1, "cannot find name for user ID %u", p->cred.uid);
    out_printf(p->out, "%s\n", name);
    return 0;
}

COMMAND(whoami, "whoami [OPTION]...", "Print the user name associated with the current effective user ID.", options, COMMAND_PURE);
