/* uname: print what system this is. GNU coreutils 9.1; the machine is the shell's own, not the host's. */
#include "command.h"

static const Option options[] = {
    {'a', "all", OPT_FLAG, "print all information, in the following order, except omit -p and -i if unknown:", NULL, 0},
    {'s', "kernel-name", OPT_FLAG, "print the kernel name", NULL, 0},
    {0, "sysname", OPT_FLAG, NULL, NULL, 's'},
    {'n', "nodename", OPT_FLAG, "print the network node hostname", NULL, 0},
    {'r', "kernel-release", OPT_FLAG, "print the kernel release", NULL, 0},
    {0, "release", OPT_FLAG, NULL, NULL, 'r'},
    {'v', "kernel-version", OPT_FLAG, "print the kernel version", NULL, 0},
    {'m', "machine", OPT_FLAG, "print the machine hardware name", NULL, 0},
    {'p', "processor", OPT_FLAG, "print the processor type (non-portable)", NULL, 0},
    {'i', "hardware-platform", OPT_FLAG, "print the hardware platform (non-portable)", NULL, 0},
    {'o', "operating-system", OPT_FLAG, "print the operating system", NULL, 0},
    OPTIONS_END,
};

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#define MACHINE "unknown"
#endif

static int uname_main(Proc *p, Args *args)
{
    static const struct { char letter; const char *text; bool unknown; } fields[] = {
        {'s', "Linux", false}, {'n', "libshell", false}, {'r', "6.1.0", false}, {'v', "#1 SMP libshell", false}, {'m', MACHINE, false},
        {'p', "unknown", true}, {'i', "unknown", true}, {'o', "GNU/Linux", false},
    };
    bool wanted[128] = {false}, all = false, any = false, printed = false;
    for (int id; (id = args_next(p, args)) != -1; any = true) {
        all |= id == 'a';
        wanted[id & 127] = true;
    }
    int n;
    char **v = args_operands(args, &n);
    if (n)
        usage_extra(p, args, v[0]);
    if (!any)
        wanted['s'] = true;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (!wanted[(int)fields[i].letter] && !(all && !fields[i].unknown))
            continue;
        out_printf(p->out, "%s%s", printed ? " " : "", fields[i].text);
        printed = true;
    }
    out_char(p->out, '\n');
    return 0;
}

COMMAND(uname, "uname [OPTION]...", "Print certain system information. With no OPTION, same as -s.", options, COMMAND_PURE);
