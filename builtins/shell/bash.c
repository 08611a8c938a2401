/* bash, sh: a fresh interpreter in a process of its own. */
#include "shell.h"

typedef struct Invocation {
    ShellStart start;
    Buf letters;
    const char **names, **shopts;
    size_t nnames, nshopts;
    bool command, version, lettered;
} Invocation;

static const char *const long_names[] = {
    "debug", "debugger", "dump-po-strings", "dump-strings", "help", "init-file", "login", "noediting", "noprofile", "norc", "posix", "pretty-print",
    "rcfile", "restricted", "verbose", "version",
};

static int unknown(Proc *p, const char *option)
{
    const char *name = p->name;
    warn(p, "%s: invalid option", option);
    out_printf(p->err, "Usage:\t%s [GNU long option] [option] ...\n\t%s [GNU long option] [option] script-file ...\nGNU long options:\n", name, name);
    for (size_t i = 0; i < ARRAY_LEN(long_names); i++)
        out_printf(p->err, "\t--%s\n", long_names[i]);
    out_str(p->err, "Shell options:\n\t-ilrsD or -c command or -O shopt_option\t\t(invocation only)\n\t-abefhkmnptuvxBCEHPT or -o option\n");
    output_flush(p->err);
    return 2;
}

static int refuse(Proc *p, const char *format, const char *what)
{
    warn(p, format, what);
    return 2;
}

static bool is_long(const char *s, const char *name) { return strcmp(s, name) == 0 || (s[0] == '-' && strcmp(s + 1, name) == 0); }

/* --norc and its like; *at is the word. 0, or a status. */
static int long_option(Proc *p, Invocation *v, Args *args, int *at)
{
    static const char *const ignored[] = {"-norc", "-noprofile", "-login", "-noediting", "-interactive", "-verbose", "-debugger"};
    const char *s = args->argv[*at] + (args->argv[*at][1] == '-');
    if (is_long(s, "-posix")) {
        v->start.posix = true;
        return 0;
    }
    if (is_long(s, "-restricted")) {
        v->start.restricted = true;
        return 0;
    }
    if (is_long(s, "-version")) {
        v->version = true;
        return 0;
    }
    if (is_long(s, "-rcfile") || is_long(s, "-init-file")) {
        ++*at;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
        if (is_long(s, ignored[i]))
            return 0;
    return unknown(p, args->argv[*at]);
}

static int letters(Proc *p, Invocation *v, Args *args, int *at)
{
    const char *word = args->argv[*at];
    for (const char *c = word + 1; *c; c++) {
        switch (*c) {
        case 'c': v->command = true; break;
        case 's': v->start.from_stdin = true; break;
        case 'i':
        case 'l': break;
        case 'r': v->start.restricted = true; break;
        case 'o':
        case 'O':
            if (*at + 1 >= args->argc) { /* alone they list; bash has its line editor's option on as yet */
                v->start.first = *c == 'O' ? (*word == '-' ? "shopt" : "shopt -p") : *word == '-' ? "set -o emacs; set -o; set +o emacs"
                                                                                                  : "set -o emacs; set +o; set +o emacs";
                break;
            }
            if (*word == '-' && *c == 'o')
                v->names[v->nnames++] = args->argv[++*at];
            else if (*word == '-')
                v->shopts[v->nshopts++] = args->argv[++*at];
            else
                ++*at;
            break;
        default:
            if (!strchr("abefhkmnptuvxBCEHPT", *c)) {
                char text[3] = {*word, *c, 0};
                return unknown(p, mem_strdup(&p->mem, text));
            }
            if (*word == '-')
                buf_char(&v->letters, *c);
        }
    }
    return 0;
}

static int read_options(Proc *p, Invocation *v, Args *args, int *at)
{
    for (*at = 1; *at < args->argc; ++*at) {
        const char *s = args->argv[*at];
        if ((*s != '-' && *s != '+') || !s[1])
            break;
        if (strcmp(s, "--") == 0) {
            ++*at;
            break;
        }
        bool is_long_one = s[0] == '-' && s[1] == '-';
        if (is_long_one && v->lettered) /* long options come first */
            return unknown(p, "--");
        v->lettered |= !is_long_one;
        int status = is_long_one ? long_option(p, v, args, at) : letters(p, v, args, at);
        if (status)
            return status;
    }
    if (*at < args->argc && strcmp(args->argv[*at], "-") == 0)
        ++*at;
    return 0;
}

static int start(Proc *p, Args *args, bool posix)
{
    Invocation v = {.letters = shell_buf(p)};
    size_t room = (size_t)args->argc + 1;
    v.names = mem_array(&p->mem, room, const char *);
    v.shopts = mem_array(&p->mem, room, const char *);
    int at, status = read_options(p, &v, args, &at);
    if (status)
        return status;
    for (size_t i = 0; i < v.nshopts; i++)
        if (strcmp(v.shopts[i], "extdebug") == 0)
            out_printf(p->err, "%s: /usr/share/bashdb/bashdb-main.inc: No such file or directory\n%s: warning: cannot start debugger; debugging mode disabled\n", args->argv[0], args->argv[0]);
    output_flush(p->err);
    if (v.version) {
        out_str(p->out, "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n");
        return 0;
    }
    ShellStart *s = &v.start;
    s->posix |= posix;
    s->options = v.letters.data;
    s->long_options = v.names;
    s->shopts = v.shopts;
    if (v.command) {
        if (at >= args->argc)
            return refuse(p, "%s: option requires an argument", "-c");
        s->has_text = true;
        s->text = slice_str(args->argv[at++]);
    } else if (at < args->argc && !s->from_stdin) {
        s->path = args->argv[at];
    }
    /* $0 is the name after -c's text, the script, or the shell's own. */
    if (at < args->argc && !s->from_stdin) {
        s->argv = args->argv + at;
        s->argc = args->argc - at;
    } else {
        s->argv = mem_array(&p->mem, room, char *);
        s->argv[s->argc++] = args->argv[0];
        for (; at < args->argc; at++)
            s->argv[s->argc++] = args->argv[at];
    }
    return shell_start(p, s);
}

static int bash_main(Proc *p, Args *args) { return start(p, args, false); }
static int sh_main(Proc *p, Args *args) { return start(p, args, true); }

COMMAND_NAMED(bash, "bash", "bash [OPTION]... [-c COMMAND [NAME [ARG]...] | FILE [ARG]...]", "Run commands of the shell language.",
              NULL, COMMAND_RAW | COMMAND_SPAWNS | COMMAND_ORDERED, .usage_status = 2, .package = "GNU bash 5.2");
COMMAND_NAMED(sh, "sh", "sh [OPTION]... [-c COMMAND [NAME [ARG]...] | FILE [ARG]...]", "Run commands of the shell language.", NULL,
              COMMAND_RAW | COMMAND_SPAWNS | COMMAND_ORDERED, .usage_status = 2, .package = "GNU bash 5.2");
