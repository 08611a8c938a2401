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

/* Options as dash's getopts reads them, for the original is a script. */
static int which_main(Proc *p, Args *args)
{
    bool all = false, missing = false;
    int i = 1;
    for (; i < args->argc && args->argv[i][0] == '-' && args->argv[i][1]; i++) {
        if (strcmp(args->argv[i], "--") == 0) {
            i++;
            break;
        }
        size_t n = strspn(args->argv[i] + 1, "a");
        if (args->argv[i][1 + n]) {
            out_printf(p->err, "Illegal option -%c\n", args->argv[i][1 + n]);
            output_flush(p->err);
            out_str(p->out, "Usage: /usr/bin/which [-a] args\n");
            return 2;
        }
        all = true;
    }
    for (int n = i; n < args->argc; n++)
        missing |= !search(p, args->argv[n], all);
    return missing || i == args->argc;
}

COMMAND(which, "which [-a] args", "Write the full path of commands.", options, COMMAND_PURE | COMMAND_RAW, .usage_status = 2, .package = "debianutils 5.7");
