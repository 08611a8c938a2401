/* getconf, locale, whereis: what there is to be known of the system. GNU libc 2.36, util-linux 2.38. */
#include "command.h"

static const Option getconf_options[] = {
    {'a', NULL, OPT_FLAG, "print all variables", NULL, 0},
    {'v', NULL, OPT_VALUE, "the specification to speak of (has no effect)", "SPEC", 0},
    OPTIONS_END,
};

static const Option locale_options[] = {
    {'a', "all-locales", OPT_FLAG, "write names of available locales", NULL, 0},
    {'m', "charmaps", OPT_FLAG, "write names of available charmaps", NULL, 0},
    {'c', "category-name", OPT_FLAG, "write names of selected categories", NULL, 0},
    {'k', "keyword-name", OPT_FLAG, "write names of selected keywords", NULL, 0},
    {'v', "verbose", OPT_FLAG, "print more information", NULL, 0},
    OPTIONS_END,
};

static const struct { const char *name, *value; bool path; } variables[] = {
    {"ARG_MAX", "2097152", false}, {"CHAR_BIT", "8", false}, {"CHILD_MAX", "31441", false}, {"CLK_TCK", "100", false}, {"HOST_NAME_MAX", "64", false}, {"INT_MAX", "2147483647", false}, {"INT_MIN", "-2147483648", false},
    {"LINE_MAX", "2048", false}, {"LINK_MAX", "127", true}, {"LOGIN_NAME_MAX", "256", false}, {"LONG_BIT", "64", false}, {"NAME_MAX", "255", true}, {"NGROUPS_MAX", "65536", false}, {"OPEN_MAX", "1024", false},
    {"PAGESIZE", "4096", false}, {"PAGE_SIZE", "4096", false}, {"PATH", "/bin:/usr/bin", false}, {"PATH_MAX", "4096", true}, {"PIPE_BUF", "4096", true}, {"UINT_MAX", "4294967295", false}, {"WORD_BIT", "32", false},
    {"_NPROCESSORS_CONF", "1", false}, {"_NPROCESSORS_ONLN", "1", false}, {"_POSIX_VERSION", "200809", false}, {"GNU_LIBC_VERSION", "glibc 2.36", false},
};

static int getconf_main(Proc *p, Args *args)
{
    bool all = false;
    for (int id; (id = args_next(p, args)) != -1;)
        all |= id == 'a';
    int n;
    char **v = args_operands(args, &n);
    for (size_t i = 0; all && i < ARRAY_LEN(variables); i++)
        out_printf(p->out, "%-34s %s\n", variables[i].name, variables[i].value);
    if (all)
        return 0;
    if (n < 1 || n > 2) {
        out_str(p->err, "Usage: getconf [-v specification] variable_name [pathname]\n       getconf -a [pathname]\n");
        output_flush(p->err);
        return 2;
    }
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        if (strcmp(variables[i].name, v[0]) == 0 && (n == 1 || variables[i].path)) {
            out_printf(p->out, "%s\n", variables[i].value);
            return 0;
        }
    warn(p, "Unrecognized variable `%s'", v[0]);
    return 2;
}

static int locale_main(Proc *p, Args *args)
{
    static const char *const names[] = {"LC_CTYPE", "LC_NUMERIC", "LC_TIME", "LC_COLLATE", "LC_MONETARY", "LC_MESSAGES", "LC_PAPER", "LC_NAME", "LC_ADDRESS", "LC_TELEPHONE", "LC_MEASUREMENT", "LC_IDENTIFICATION"};
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == 'a')
            out_str(p->out, "C\nC.utf8\nPOSIX\n");
        else if (id == 'm')
            out_str(p->out, "ANSI_X3.4-1968\nUTF-8\n");
        if (id == 'a' || id == 'm')
            return 0;
    }
    int n, status = 0;
    char **v = args_operands(args, &n);
    for (int i = 0; i < n; i++) {
        if (strcmp(v[i], "charmap") == 0)
            out_str(p->out, locale_utf8(p) ? "UTF-8\n" : "ANSI_X3.4-1968\n");
        else if (strcmp(v[i], "decimal_point") == 0)
            out_str(p->out, ".\n");
        else if (strcmp(v[i], "thousands_sep") == 0)
            out_str(p->out, "\n");
        else {
            warn(p, "unknown name \"%s\"", v[i]);
            status = 1;
        }
    }
    if (n)
        return status;
    const char *lang = proc_getenv(p, "LANG"), *all = proc_getenv(p, "LC_ALL"), *language = proc_getenv(p, "LANGUAGE");
    out_printf(p->out, "LANG=%s\nLANGUAGE=%s\n", lang ? lang : "", language ? language : "");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *own = proc_getenv(p, names[i]);
        bool set = own && *own && !(all && *all);
        const char *value = all && *all ? all : set ? own : lang && *lang ? lang : "POSIX";
        out_printf(p->out, set ? "%s=%s\n" : "%s=\"%s\"\n", names[i], value);
    }
    out_printf(p->out, "LC_ALL=%s\n", all ? all : "");
    return 0;
}

COMMAND(getconf, "getconf [-v SPEC] VAR\ngetconf [-v SPEC] PATH_VAR PATH", "Get the configuration value for variable VAR.", getconf_options, COMMAND_PURE, .usage_status = 2, .package = "GNU libc 2.36");
COMMAND(locale, "locale NAME\nlocale [-a|-m]", "Get locale-specific information.", locale_options, COMMAND_PURE, .package = "GNU libc 2.36");
