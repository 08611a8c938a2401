/* basename: the last component of names. */
#include "file.h"

static const Option options[] = {
    {'a', "multiple", OPT_FLAG, "support multiple arguments and treat each as a NAME", NULL, 0},
    {'s', "suffix", OPT_VALUE, "remove a trailing SUFFIX; implies -a", "SUFFIX", 0},
    {'z', "zero", OPT_FLAG, "end each output line with NUL, not newline", NULL, 0},
    OPTIONS_END,
};

static void print_base(Proc *p, const char *name, const char *suffix, char end)
{
    Slice base = base_name(name);
    Slice tail = slice_str(suffix ? suffix : "");
    if (tail.len && base.len > tail.len && slice_eq(slice_from(base, base.len - tail.len), tail))
        base.len -= tail.len;
    out_write(p->out, base);
    out_char(p->out, end);
}

static int basename_main(Proc *p, Args *args)
{
    const char *suffix = NULL;
    bool multiple = false;
    char end = '\n';
    int count;
    for (int id; (id = args_next(p, args)) != -1;) {
        multiple |= id == 'a' || id == 's';
        if (id == 's')
            suffix = args->value;
        else if (id == 'z')
            end = 0;
    }
    char **names = args_operands(args, &count);
    if (!count)
        usage_missing(p, args, NULL);
    if (!multiple && count > 2)
        usage_extra(p, args, names[2]);
    if (!multiple && count == 2)
        suffix = names[--count];
    for (int n = 0; n < count; n++)
        print_base(p, names[n], suffix, end);
    return 0;
}

COMMAND(basename, "basename NAME [SUFFIX]\nbasename OPTION... NAME...", "Print NAME with any leading directory components removed.\nIf specified, also remove a trailing SUFFIX.",
        options, COMMAND_PURE | COMMAND_ORDERED);
