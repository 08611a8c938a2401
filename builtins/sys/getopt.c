/* getopt: parse command options. util-linux 2.38. */
#include <stdarg.h>

#include "command.h"

enum { OPTIONS_MOST = 512 };

static const Option options[] = {
    {'a', "alternative", OPT_FLAG, "allow long options starting with single -", NULL, 0},
    OPTION_HELP('h'),
    {'l', "longoptions", OPT_VALUE, "the long options to be recognized", "LONGOPTS", 0},
    {'n', "name", OPT_VALUE, "the name under which errors are reported", "PROGNAME", 0},
    {'o', "options", OPT_VALUE, "the short options to be recognized", "OPTSTRING", 0},
    {'q', "quiet", OPT_FLAG, "disable error reporting by getopt(3)", NULL, 0},
    {'Q', "quiet-output", OPT_FLAG, "no normal output", NULL, 0},
    {'s', "shell", OPT_VALUE, "set quoting conventions to those of SHELL", "SHELL", 0},
    {'T', "test", OPT_FLAG, "test for getopt(1) version", NULL, 0},
    {'u', "unquoted", OPT_FLAG, "do not quote the output", NULL, 0},
    OPTION_VERSION('V'),
    OPTIONS_END,
};

typedef struct { Slice name; int argument; } Long; /* 0 none, 1 required, 2 optional */

typedef struct {
    Proc *p;
    const char *name, *shorts;
    Long longs[OPTIONS_MOST];
    size_t long_count;
    bool alternative, quiet, silent, unquoted, csh, stop, in_order, failed, compatible;
} Getopt;

static void put_quoted(Getopt *g, const char *text)
{
    Output *out = g->p->out;
    if (g->silent)
        return;
    out_char(out, ' ');
    if (g->unquoted) {
        out_str(out, text);
        return;
    }
    out_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            out_str(out, "'\\''");
        else if (g->csh && *text == '\\')
            out_str(out, "\\\\");
        else if (g->csh && *text == '!')
            out_str(out, "'\\!'");
        else if (g->csh && *text == '\n')
            out_str(out, "\\n");
        else
            out_char(out, *text);
    }
    out_char(out, '\'');
}

static void PRINTF_LIKE(2, 3) put_raw(Getopt *g, const char *format, ...)
{
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!g->silent)
        out_str(g->p->out, text);
}

static void PRINTF_LIKE(2, 3) complain(Getopt *g, const char *format, ...)
{
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    g->failed = true;
    if (g->quiet)
        return;
    out_printf(g->p->err, "%s: %s\n", g->name, text);
    output_flush(g->p->err);
}

static void add_longs(Getopt *g, const char *list)
{
    for (const char *s = list; *s;) {
        size_t n = strcspn(s, ", \t\n"), end = n;
        int argument = 0;
        while (end && s[end - 1] == ':' && argument < 2) {
            argument++;
            end--;
        }
        if (n && !end)
            die(g->p, 2, "empty long option after -l or --long argument");
        if (end && g->long_count < OPTIONS_MOST)
            g->longs[g->long_count++] = (Long){slice(s, end), argument};
        s += n + (s[n] != 0);
    }
}

/* The long option that the name stands for: itself, or the only one that begins so. */
static const Long *find_long(Getopt *g, Slice name, const char *shown, const char *dashes)
{
    const Long *found = NULL;
    Buf names;
    size_t matches = 0;
    buf_init(&names, &g->p->mem, 4096);
    for (size_t i = 0; i < g->long_count; i++) {
        if (!slice_starts(g->longs[i].name, name))
            continue;
        if (g->longs[i].name.len == name.len)
            return &g->longs[i];
        buf_printf(&names, " '%s%.*s'", dashes, (int)g->longs[i].name.len, g->longs[i].name.data);
        found = &g->longs[i];
        matches++;
    }
    if (matches > 1) {
        complain(g, "option '%s%.*s' is ambiguous; possibilities:%s", dashes, (int)name.len, name.data, names.data);
        return NULL;
    }
    if (!found)
        complain(g, "unrecognized option '%s%s'", dashes, shown);
    return found;
}

static int take_long(Getopt *g, char **argv, int at, const char *text, const char *dashes)
{
    const char *value = strchr(text, '=');
    Slice name = {text, value ? (size_t)(value - text) : strlen(text)};
    const Long *l = find_long(g, name, text, dashes);
    if (!l)
        return at;
    if (value && !l->argument) {
        complain(g, "option '%s%.*s' doesn't allow an argument", dashes, (int)l->name.len, l->name.data);
        return at;
    }
    const char *argument = value ? value + 1 : NULL;
    if (!argument && l->argument == 1) {
        if (!argv[at + 1]) {
            complain(g, "option '%s%.*s' requires an argument", dashes, (int)l->name.len, l->name.data);
            return at;
        }
        argument = argv[++at];
    }
    put_raw(g, " --%.*s", (int)l->name.len, l->name.data);
    if (l->argument)
        put_quoted(g, argument ? argument : "");
    return at;
}

static int take_shorts(Getopt *g, char **argv, int at)
{
    for (const char *s = argv[at] + 1; *s; s++) {
        const char *known = *s == ':' ? NULL : strchr(g->shorts, *s);
        if (!known) {
            complain(g, "invalid option -- '%c'", *s);
            continue;
        }
        int argument = known[1] == ':' ? (known[2] == ':' ? 2 : 1) : 0;
        const char *value = s[1] ? s + 1 : argument == 1 ? argv[at + 1] : "";
        if (argument == 1 && !value) {
            complain(g, "option requires an argument -- '%c'", *s);
            return at;
        }
        put_raw(g, " -%c", *s);
        if (!argument)
            continue;
        put_quoted(g, value);
        return at + (argument == 1 && !s[1]);
    }
    return at;
}

static bool is_long(Getopt *g, const char *word)
{
    if (!g->alternative || word[1] == '-')
        return false;
    size_t n = strcspn(word + 1, "=");
    if (n == 1 && strchr(g->shorts, word[1]) && !word[2])
        return false;
    for (size_t i = 0; i < g->long_count; i++)
        if (slice_starts(g->longs[i].name, slice(word + 1, n)))
            return true;
    return !strchr(g->shorts, word[1]);
}

static void parse(Getopt *g, char **argv, int argc)
{
    char **rest = mem_array(&g->p->keep, (size_t)argc + 1, char *);
    int left = 0, at = 0;
    for (; at < argc; at++) {
        char *word = argv[at];
        if (strcmp(word, "--") == 0) {
            at++;
            break;
        }
        if (word[0] != '-' || !word[1]) {
            if (g->stop)
                break;
            if (g->in_order)
                put_quoted(g, word);
            else
                rest[left++] = word;
        } else if (word[1] == '-') {
            at = take_long(g, argv, at, word + 2, "--");
        } else if (is_long(g, word)) {
            at = take_long(g, argv, at, word + 1, "-");
        } else {
            at = take_shorts(g, argv, at);
        }
        proc_tick(g->p, 1);
    }
    put_raw(g, " --");
    for (int i = 0; i < left; i++)
        put_quoted(g, rest[i]);
    for (; at < argc; at++)
        put_quoted(g, argv[at]);
    put_raw(g, "\n");
}

static void set_shell(Getopt *g, Args *args, const char *name)
{
    if (strcmp(name, "csh") == 0 || strcmp(name, "tcsh") == 0)
        g->csh = true;
    else if (strcmp(name, "sh") != 0 && strcmp(name, "bash") != 0)
        usage_fail(g->p, args, "unknown shell after -s or --shell argument");
}

static void set_option(Getopt *g, Args *args, int id)
{
    switch (id) {
    case 'a': g->alternative = true; break;
    case 'l': add_longs(g, args->value); break;
    case 'n': g->name = args->value; break;
    case 'o': g->shorts = args->value; break;
    case 'q': g->quiet = true; break;
    case 'Q': g->silent = true; break;
    case 's': set_shell(g, args, args->value); break;
    case 'T': proc_fail(g->p, 4);
    case 'u': g->unquoted = true; break;
    default: break;
    }
}

static int getopt_main(Proc *p, Args *args)
{
    Getopt *g = mem_new(&p->keep, Getopt);
    g->p = p;
    g->name = "getopt";
    if (args->argc == 1) {
        if (proc_getenv(p, "GETOPT_COMPATIBLE"))
            return output_status(p);
        warn(p, "missing optstring argument");
        usage_hint(p, args);
    }
    bool old = args->argv[1][0] != '-' || proc_getenv(p, "GETOPT_COMPATIBLE");
    if (old) {
        g->unquoted = true;
        g->shorts = args->argv[1] + strspn(args->argv[1], "-+");
        args->at = 2;
    } else {
        for (int id; (id = args_next(p, args)) != -1;)
            set_option(g, args, id);
    }
    int n;
    char **v = args_operands(args, &n);
    if (!g->shorts) {
        if (!n) {
            warn(p, "missing optstring argument");
            usage_hint(p, args);
        }
        g->shorts = *v++;
        n--;
    }
    g->stop = *g->shorts == '+' || proc_getenv(p, "POSIXLY_CORRECT");
    g->in_order = *g->shorts == '-';
    g->shorts += *g->shorts == '+' || *g->shorts == '-';
    parse(g, v, n);
    return g->failed;
}

COMMAND(getopt, "getopt <optstring> <parameters>\ngetopt [options] [--] <optstring> <parameters>\ngetopt [options] -o|--options <optstring> [options] [--] <parameters>", "Parse command options.", options,
        COMMAND_PURE | COMMAND_ORDERED, .usage_status = 2, .package = "util-linux 2.38");
