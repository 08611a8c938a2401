/* whereis: locate the binary, source, and manual page files for a command. util-linux 2.38: there are binaries only. */
#include <sys/stat.h>

#include "command.h"

static const Option options[] = {
    {'b', NULL, OPT_FLAG, "search only for binaries", NULL, 0},
    {'B', NULL, OPT_FLAG, "define binaries lookup path: the directories up to -f", NULL, 0},
    {'m', NULL, OPT_FLAG, "search only for manuals and infos", NULL, 0},
    {'M', NULL, OPT_FLAG, "define man and info lookup path: the directories up to -f", NULL, 0},
    {'s', NULL, OPT_FLAG, "search only for sources", NULL, 0},
    {'S', NULL, OPT_FLAG, "define sources lookup path: the directories up to -f", NULL, 0},
    {'f', NULL, OPT_FLAG, "terminate <dirs> argument list", NULL, 0},
    {'u', NULL, OPT_FLAG, "search for unusual entries", NULL, 0},
    {'l', NULL, OPT_FLAG, "output effective lookup paths", NULL, 0},
    OPTIONS_END,
};

static void look_in(Proc *p, const char *dir, const char *name)
{
    VStat st;
    const char *path = mem_printf(&p->mem, "%s/%s", dir, name);
    if (proc_stat(p, path, 0, &st) == 0 && S_ISREG(st.mode))
        out_printf(p->out, " %s", path);
}

static void find_name(Proc *p, const char *name, char **dirs, int dir_count, bool binaries)
{
    static const char *const standard[] = {"/usr/bin", "/usr/sbin", "/bin", "/sbin", "/etc", "/usr/lib", "/usr/local/bin", "/usr/local/sbin"};
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    VStat link;
    out_printf(p->out, "%s:", base);
    for (int i = 0; binaries && i < dir_count; i++)
        look_in(p, dirs[i], base);
    for (size_t i = 0; binaries && !dir_count && i < ARRAY_LEN(standard); i++)
        if (proc_stat(p, standard[i], V_NOFOLLOW, &link) == 0 && S_ISDIR(link.mode)) /* /bin is another name of /usr/bin */
            look_in(p, standard[i], base);
    out_char(p->out, '\n');
}

static int whereis_main(Proc *p, Args *args)
{
    bool binaries = false, others = false;
    char kind = 0, **dirs = mem_array(&p->keep, (size_t)args->argc, char *);
    int dir_count = 0, names = 0;
    for (int i = 1; i < args->argc; i++) {
        const char *a = args->argv[i];
        if (strcmp(a, "--help") == 0) {
            print_help(p, args->command);
            return 0;
        }
        if (a[0] != '-' || !a[1]) {
            if (kind == 'B')
                dirs[dir_count++] = args->argv[i];
            else if (!kind) {
                find_name(p, a, dirs, dir_count, binaries || !others);
                names++;
            }
            continue;
        }
        kind = 0;
        for (const char *s = a + 1; *s; s++) {
            if (!strchr("bBmMsSful", *s))
                usage_fail(p, args, "bad usage");
            binaries |= *s == 'b';
            others |= *s == 'm' || *s == 's';
            kind = *s == 'B' || *s == 'M' || *s == 'S' ? *s : 0;
            if (*s == 'l') {
                out_str(p->out, "bin: /usr/bin\n");
                return 0;
            }
        }
    }
    if (!names)
        usage_fail(p, args, "not enough arguments");
    return 0;
}

COMMAND(whereis, "whereis [options] [-BMS <dir>... -f] <name>", "Locate the binary, source, and manual-page files for a command.", options, COMMAND_PURE | COMMAND_RAW, .package = "util-linux 2.38");
