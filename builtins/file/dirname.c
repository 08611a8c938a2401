/* dirname: names without their last component. */
#include "file.h"

static const Option options[] = {
    {'z', "zero", OPT_FLAG, "end each output line with NUL, not newline", NULL, 0},
    OPTIONS_END,
};

static int dirname_main(Proc *p, Args *args)
{
    char end = '\n';
    int count;
    while (args_next(p, args) != -1)
        end = 0;
    char **names = args_operands(args, &count);
    if (!count)
        usage_missing(p, args, NULL);
    for (int n = 0; n < count; n++) {
        out_write(p->out, dir_name(names[n]));
        out_char(p->out, end);
    }
    return 0;
}

COMMAND(dirname, "dirname [OPTION] NAME...", "Output each NAME with its last non-slash component and trailing slashes\nremoved; if NAME contains no /'s, output '.' (meaning the current directory).",
        options, COMMAND_PURE);
