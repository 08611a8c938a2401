/* which: locate a command. As debianutils' which: -a prints all matches; status 1 when one is missing. */
#include "command.h"

static const Option options[] = {
    {'a', NULL, OPT_FLAG, "print all matching pathnames of each argument", NULL, 0},
    OPTIONS_END,
};

static bool executable(Proc *p, const char *path)
{
    VStat st;
    return proc_stat(p, path, 0, &st) == 0 && (st.mode & 0170000) == 0100000 && proc_access(p, path, 1) == 0;
}

static bool search(Proc *p, const char *name, bool all)
{
    const char *path = proc_getenv(p, "PATH");
    bool found = false;
    if (strchr(name, '/')) {
        found = executable(p, name);
        if (found)
            out_printf(p->out, "%s\n", name);
        return found;
    }
    for (const char *at = path ? path : ""; *name && *at && (!found || all);) {
        size_t n = strcspn(at, ":");
        char *whole = mem_printf(&p->mem, "%.*s/%s", n ? (int)n : 1, n ? at : ".", name);
        if (executable(p, whole)) {
            out_printf(p->out, "%s\n", whole);
            found = true;
        }
        at += n + (at[n] == ':');
    }
    return found;
}

static int which_main(Proc *p, Args *args)
{
    bool all = false, missing = false;
    for (int id; (id = args_next(p, args)) != -1;)
        all |= id == 'a';
    int n;
    char **v = args_operands(args, &n);
    for (int i = 0; i < n; i++)
        missing |= !search(p, v[i], all);
    return missing || n == 0;
}

COMMAND(which, "which [-a] args", "Write the full path of commands.", options, COMMAND_PURE | COMMAND_ORDERED, .usage_status = 2, .package = "debianutils 5.7");
