/* libshell: the command line. A drop-in for `bash -c` over what is bound, and nothing else of the host.
 *
 * Its standard input is the script's, its output streams as it comes, its exit status is the script's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bindings/cli/cli.h"
#include "include/shell.h"

enum { MOST_RULES = 256, MOST_BINDS = 64, MOST_ENV = 256, MOST_SET = 64, USAGE = 2 };

typedef struct {
    shell_bind binds[MOST_BINDS];
    uint64_t nbinds;
    const char *env[MOST_ENV + 1];
    size_t nenv;
    const char *set[MOST_SET]; /* arguments for `set`, in order */
    size_t nset;
    const char *cwd, *command;
    double timeout;
    shell_limits limits;
    shell_url_rule rules[MOST_RULES];
    shell_net net;
    const char *audit;
    bool has_command, from_stdin, syntax_only;
} Settings;

static const char usage_text[] =
    "Usage: libshell [OPTION]... [-c SCRIPT [NAME [ARG]...] | FILE [ARG]...]\n"
    "Runs a bash script in a shell of its own: an in-memory file system, bash and the GNU tools\n"
    "as functions, no processes and no host files but those that are bound.\n"
    "\n"
    "  -c SCRIPT                 run SCRIPT; else FILE, else standard input\n"
    "      --bind SRC:DST[:copy|direct|overlay][:ro]\n"
    "                            show host file or directory SRC as DST (repeatable);\n"
    "                            copy (the default) reads it once, direct is live\n"
    "      --cwd DIR             where the script starts; default: the first bind, else $HOME\n"
    "      --env NAME=VALUE      a variable for the script (repeatable)\n"
    "      --allow-url URL       let requests to URL and below it pass (repeatable); https://*.example.com\n"
    "                            means its sub-domains; nothing passes without one\n"
    "      --allow-private-url URL\n"
    "                            the same, and its name may have an address that is not public\n"
    "      --deny-url URL        refuse URL and what is below it, whatever is allowed (repeatable)\n"
    "      --ca-file FILE        the certificate authorities, instead of the system's\n"
    "      --audit FILE          write what happens to the new FILE, as a chain of JSON lines\n"
    "      --verify-audit FILE   check such a chain, and nothing else\n"
    "      --timeout SECONDS     end the run after so long; 0: no limit\n"
    "      --limit NAME=VALUE    a limit: time_ms, steps, memory, output, file_size, file_bytes,\n"
    "                            inodes, fds, processes, pipeline, depth, script, regex, expansion,\n"
    "                            requests, transfers, redirects, download, upload;\n"
    "                            0: none\n"
    "      --list-commands       print the names of all commands\n"
    "      --help, --version     print this, or the version\n"
    "  -e -u -x -n -f -C -a -v, -o OPTION, +o OPTION\n"
    "                            as bash takes them; -l, -i, -s and -- are accepted\n";

static void fail(const char *what, const char *text)
{
    fprintf(stderr, "libshell: %s%s%s\n", what, text ? ": " : "", text ? text : "");
    exit(USAGE);
}

static char *copy_text(const char *s)
{
    char *copy = strdup(s);
    if (!copy)
        fail("out of memory", NULL);
    return copy;
}

/* ---------- option values ---------- */

static bool take_suffix(char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    if (n <= m || strcmp(text + n - m, suffix) != 0)
        return false;
    text[n - m] = 0;
    return true;
}

static void add_bind(Settings *s, const char *value)
{
    if (s->nbinds == MOST_BINDS)
        fail("too many binds", NULL);
    char *text = copy_text(value);
    shell_bind *b = &s->binds[s->nbinds++];
    *b = (shell_bind){.size = sizeof *b, .mode = SHELL_BIND_COPY};
    bool readonly = take_suffix(text, ":ro");
    if (take_suffix(text, ":direct"))
        b->mode = SHELL_BIND_DIRECT;
    else if (take_suffix(text, ":overlay"))
        b->mode = SHELL_BIND_OVERLAY;
    else
        take_suffix(text, ":copy");
    if (take_suffix(text, ":ro") || readonly)
        b->flags |= SHELL_BIND_READONLY;
    char *colon = strrchr(text, ':');
    if (!colon || colon == text || colon[1] != '/')
        fail("--bind wants SRC:DST with an absolute DST", value);
    *colon = 0;
    b->source = text;
    b->destination = colon + 1;
}

static const struct { const char *name; size_t offset; } limit_fields[] = {
#define FIELD(f) {#f, offsetof(shell_limits, f)}
    FIELD(time_ms), FIELD(steps), FIELD(memory), FIELD(output), FIELD(file_size), FIELD(file_bytes), FIELD(inodes), FIELD(fds),
    FIELD(processes), FIELD(pipeline), FIELD(depth), FIELD(script), FIELD(regex), FIELD(expansion),
    FIELD(requests), FIELD(transfers), FIELD(redirects), FIELD(download), FIELD(upload),
#undef FIELD
};

static uint64_t number(const char *text, const char *option)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (end == text || errno || text[0] == '-')
        fail("bad number", option);
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, *end & ~32) : NULL;
    for (long i = 0; unit && i <= unit - units; i++)
        if (__builtin_mul_overflow(v, 1024ull, &v))
            fail("number too large", option);
    if (*end && (!unit || end[1]))
        fail("bad number", option);
    return v;
}

static void set_limit(Settings *s, const char *value)
{
    const char *eq = strchr(value, '=');
    size_t n = eq ? (size_t)(eq - value) : 0;
    for (size_t i = 0; eq && i < sizeof limit_fields / sizeof limit_fields[0]; i++)
        if (strlen(limit_fields[i].name) == n && strncmp(limit_fields[i].name, value, n) == 0) {
            uint64_t v = number(eq + 1, value);
            memcpy((char *)&s->limits + limit_fields[i].offset, &v, sizeof v);
            return;
        }
    fail("unknown limit", value);
}

static void add_env(Settings *s, const char *value)
{
    if (!strchr(value, '=') || value[0] == '=')
        fail("--env wants NAME=VALUE", value);
    if (s->nenv == MOST_ENV)
        fail("too many variables", NULL);
    s->env[s->nenv++] = value;
}

static void add_set(Settings *s, const char *word)
{
    if (s->nset + 1 >= MOST_SET)
        fail("too many options", NULL);
    s->set[s->nset++] = word;
}

static void set_timeout(Settings *s, const char *value)
{
    char *end;
    double v = strtod(value, &end);
    if (end == value || *end || !(v >= 0))
        fail("bad number", "--timeout");
    s->timeout = v == 0 ? -1 : v;
}

static void add_rule(Settings *s, const char *url, int32_t deny, int32_t private)
{
    if (s->net.nrules == MOST_RULES)
        fail("too many URLs", NULL);
    s->rules[s->net.nrules++] = (shell_url_rule){.size = sizeof(shell_url_rule), .url = url, .deny = deny, .allow_private = private};
}

static void list_commands(void)
{
    uint64_t n;
    const char *const *names = shell_command_names(&n);
    for (uint64_t i = 0; i < n; i++)
        puts(names[i]);
}

/* ---------- the command line ---------- */

/* --name VALUE or --name=VALUE; NULL when argv[*i] is another option. */
static const char *long_value(const char *name, char **argv, int *i)
{
    const char *arg = argv[*i] + 2;
    size_t n = strlen(name);
    if (strncmp(arg, name, n) != 0 || (arg[n] && arg[n] != '='))
        return NULL;
    if (arg[n] == '=')
        return arg + n + 1;
    if (!argv[*i + 1])
        fail("option needs a value", argv[*i]);
    return argv[++*i];
}

static bool informs(const char *arg)
{
    if (strcmp(arg, "--help") == 0)
        fputs(usage_text, stdout);
    else if (strcmp(arg, "--version") == 0)
        printf("libshell %s\n", shell_version());
    else if (strcmp(arg, "--list-commands") == 0)
        list_commands();
    else
        return false;
    return true;
}

static void long_option(Settings *s, char **argv, int *i)
{
    static const char *const ignored[] = {"--login", "--norc", "--noprofile", "--noediting"};
    const char *arg = argv[*i], *v;
    if (informs(arg))
        exit(0);
    for (size_t k = 0; k < sizeof ignored / sizeof ignored[0]; k++)
        if (strcmp(arg, ignored[k]) == 0)
            return;
    if ((v = long_value("bind", argv, i)))
        add_bind(s, v);
    else if ((v = long_value("cwd", argv, i)))
        s->cwd = v;
    else if ((v = long_value("env", argv, i)))
        add_env(s, v);
    else if ((v = long_value("allow-url", argv, i)))
        add_rule(s, v, 0, 0);
    else if ((v = long_value("allow-private-url", argv, i)))
        add_rule(s, v, 0, 1);
    else if ((v = long_value("deny-url", argv, i)))
        add_rule(s, v, 1, 0);
    else if ((v = long_value("ca-file", argv, i)))
        s->net.ca_file = v;
    else if ((v = long_value("audit", argv, i)))
        s->audit = v;
    else if ((v = long_value("verify-audit", argv, i)))
        exit(cli_verify_audit(v));
    else if ((v = long_value("timeout", argv, i)))
        set_timeout(s, v);
    else if ((v = long_value("limit", argv, i)))
        set_limit(s, v);
    else
        fail("unknown option", arg);
}

static void option_with_name(Settings *s, char sign, char letter, char **argv, int *i)
{
    if (!argv[*i + 1])
        fail("option needs a value", argv[*i]);
    if (letter == 'o') {
        add_set(s, sign == '-' ? "-o" : "+o");
        add_set(s, argv[*i + 1]);
    }
    ++*i;
}

static void short_options(Settings *s, char **argv, int *i)
{
    const char *cluster = argv[*i];
    char sign = cluster[0];
    for (const char *c = cluster + 1; *c; c++) {
        if (sign == '-' && *c == 'c') {
            s->has_command = true;
        } else if (sign == '-' && *c == 's') {
            s->from_stdin = true;
        } else if (sign == '-' && *c == 'n') {
            s->syntax_only = true;
        } else if (*c == 'o' || *c == 'O') {
            option_with_name(s, sign, *c, argv, i);
        } else if (strchr("euxfCavbhkmtBEHPT", *c)) {
            char word[3] = {sign, *c, 0};
            add_set(s, copy_text(word));
        } else if (!strchr("lir", *c)) {
            fail("unknown option", cluster);
        }
    }
}

static int parse(Settings *s, char **argv)
{
    int i = 1;
    for (; argv[i]; i++) {
        if (strcmp(argv[i], "--") == 0 || strcmp(argv[i], "-") == 0) {
            i++;
            break;
        }
        if (strncmp(argv[i], "--", 2) == 0)
            long_option(s, argv, &i);
        else if ((argv[i][0] == '-' || argv[i][0] == '+') && argv[i][1])
            short_options(s, argv, &i);
        else
            break;
    }
    if (s->has_command) {
        if (!argv[i])
            fail("-c: option requires an argument", NULL);
        s->command = argv[i++];
    }
    return i;
}

/* ---------- running ---------- */

typedef struct {
    char *data;
    size_t len;
} Text;

static Text read_fd(int fd)
{
    Text t = {NULL, 0};
    size_t cap = 0;
    for (;;) {
        if (t.len + 65536 > cap) {
            cap = cap ? cap * 2 : 131072;
            t.data = realloc(t.data, cap);
            if (!t.data)
                fail("out of memory", NULL);
        }
        ssize_t n = read(fd, t.data + t.len, cap - t.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return t;
        t.len += (size_t)n;
    }
}

static Text read_script(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr, "libshell: %s: %s\n", path, strerror(errno));
        exit(127);
    }
    Text t = read_fd(fd);
    close(fd);
    return t;
}

static int32_t write_out(void *user, int32_t stream, const char *data, uint64_t len)
{
    (void)user;
    while (len) {
        ssize_t n = write(stream, data, (size_t)len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return SHELL_EPIPE;
        data += n;
        len -= (uint64_t)n;
    }
    return 0;
}

static int64_t read_in(void *user, char *buf, uint64_t cap)
{
    (void)user;
    ssize_t n;
    do
        n = read(0, buf, (size_t)cap);
    while (n < 0 && errno == EINTR);
    return n;
}

/* The options of the command line are set by a run of their own: they stay for the next. */
static void apply_set(shell *sh, const Settings *s)
{
    static const char script[] = "set \"$@\"; set --";
    const char *args[MOST_SET + 2] = {"bash"};
    shell_result *r;
    if (!s->nset)
        return;
    memcpy(args + 1, s->set, s->nset * sizeof *args);
    shell_run_opts o = {.size = sizeof o, .args = args, .on_output = write_out};
    if (shell_run(sh, script, sizeof script - 1, &o, &r) != SHELL_OK)
        fail("options", shell_message(sh));
    int status = r->status;
    shell_result_free(r);
    if (status)
        exit(status);
}

/* What to run and what $0 $1 ... are. */
static Text script_of(const Settings *s, char **argv, int i, const char *const **args)
{
    static char name[] = "bash";
    if (s->has_command) {
        if (argv[i])
            *args = (const char *const *)&argv[i];
        return (Text){(char *)(uintptr_t)s->command, strlen(s->command)};
    }
    if (argv[i] && !s->from_stdin) {
        *args = (const char *const *)&argv[i];
        return read_script(argv[i]);
    }
    argv[i - 1] = name; /* an option or the program's own name stands there */
    *args = (const char *const *)&argv[i - 1];
    return read_fd(0);
}

static int run(shell *sh, const Settings *s, char **argv, int i)
{
    static const char *const none[] = {"bash", NULL};
    const char *const *args = none;
    bool script_is_input = !s->has_command && (!argv[i] || s->from_stdin);
    Text text = script_of(s, argv, i, &args);
    shell_run_opts o = {.size = sizeof o, .args = args, .on_output = write_out, .on_input = script_is_input ? NULL : read_in,
                        .timeout = s->timeout, .flags = s->syntax_only ? SHELL_RUN_SYNTAX : 0};
    shell_result *r;
    if (shell_run(sh, text.data, text.len, &o, &r) != SHELL_OK) {
        fprintf(stderr, "libshell: %s\n", shell_message(sh));
        return 125;
    }
    int status = r->status;
    shell_result_free(r);
    return status;
}

int main(int argc, char **argv)
{
    (void)argc;
    static Settings s;
    shell_limits_init(&s.limits);
    int i = parse(&s, argv);
    char message[256];
    shell_options o;
    shell_options_init(&o);
    o.binds = s.binds;
    o.nbinds = s.nbinds;
    o.env = s.env;
    o.cwd = s.cwd;
    o.limits = &s.limits;
    o.component = cli_component;
    s.net.size = sizeof s.net;
    s.net.rules = s.rules;
    shell_audit audit;
    const char *why = s.audit ? cli_audit(s.audit, &audit) : NULL;
    if (why)
        fail(s.audit, why);
    if (s.audit)
        o.audit = &audit;
    if (s.net.nrules)
        o.net = &s.net;
    o.message = message;
    o.message_size = sizeof message;
    shell *sh;
    if (shell_open(&o, &sh) != SHELL_OK) {
        fprintf(stderr, "libshell: %s\n", message);
        return 125;
    }
    apply_set(sh, &s);
    int status = run(sh, &s, argv, i);
    shell_close(sh);
    return status;
}
