/* printenv: print environment variables. GNU coreutils 9.1. */
#include "command.h"

static const Option options[] = {
    {'0', "null", OPT_FLAG, "end each output line with NUL, not newline", NULL, 0},
    OPTIONS_END,
};

static int printenv_main(Proc *p, Args *args)
{
    char end = '\n';
    for (int id; (id = args_next(p, args)) != -1;)
        if (id == '0')
            end = 0;
    int n, missing = 0;
    char **names = args_operands(args, &n);
    if (n == 0)
        for (char **e = proc_environ(p); *e; e++) {
            out_str(p->out, *e);
            out_char(p->out, end);
        }
    for (int i = 0; i < n; i++) {
        const char *v = strchr(names[i], '=') ? NULL : proc_getenv(p, names[i]);
        if (v) {
            out_str(p->out, v);
            out_char(p->out, end);
        }
        missing |= !v;
    }
    return missing;
}

COMMAND(printenv, "printenv [OPTION]... [VARIABLE]...", "Print the values of the specified environment VARIABLE(s).", options, COMMAND_PURE | COMMAND_ORDERED, .usage_status = 2);
