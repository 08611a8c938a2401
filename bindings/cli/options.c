/* options: the command line into the settings. Everything here but what bash itself takes can be said in a configuration file too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "settings.h"

static const char usage_text[] =
    "Usage: libshell [OPTION]... [-c SCRIPT [NAME [ARG]...] | FILE [ARG]...]\n"
    "       libshell [OPTION]... --mcp\n"
    "Runs a bash script in a shell of its own: an in-memory file system, bash and the GNU tools\n"
    "as functions, no processes and no host files but those that are bound. Called as bash or sh\n"
    "it behaves as that, with the configuration that LIBSHELL_CONFIG names.\n"
    "\n"
    "  -c SCRIPT                 run SCRIPT; else FILE, else standard input (a prompt, if that is a terminal)\n"
    "      --mcp                 serve the Model Context Protocol on standard input and output\n"
    "      --config FILE         settings from FILE, in TOML or JSON; what is said here comes on top\n"
    "      --bind SRC:DST[:copy|direct|overlay][:ro]\n"
    "                            show host file or directory SRC as DST (repeatable);\n"
    "                            copy (the default) reads it once, direct is live\n"
    "      --cwd DIR             where the script starts; default: the first bind, else $HOME\n"
    "      --env NAME=VALUE      a variable for the script (repeatable)\n"
    "      --env-from-host NAME  this one variable of the host, if it is set (repeatable)\n"
    "      --umask MODE          permissions that new files do not get; default: 022\n"
    "      --allow-url URL       let requests to URL and below it pass (repeatable); https://*.example.com\n"
    "                            means its sub-domains; nothing passes without one\n"
    "      --allow-private-url URL\n"
    "                            the same, and its name may have an address that is not public\n"
    "      --deny-url URL        refuse URL and what is below it, whatever is allowed (repeatable)\n"
    "      --ca-file FILE        the certificate authorities, instead of the system's\n"
    "      --proxy URL           the way out; it is then the proxy that knows the addresses\n"
    "      --allow-command NAME  programs that may be run, no other (repeatable)\n"
    "      --deny-command NAME   refuse NAME, under whatever name (repeatable)\n"
    "      --confine, --no-confine\n"
    "                            whether the process itself gives up what its scripts never need: starting\n"
    "                            programs, sockets when there is no network, files that are not bound;\n"
    "                            default: for --mcp, and when called as bash or sh\n"
    "      --audit FILE          write what happens to the new FILE, as a chain of JSON lines; %p in its\n"
    "                            name is the process, %t the time\n"
    "      --verify-audit FILE   check such a chain, and nothing else\n"
    "      --timeout SECONDS     end the run after so long; 0: no limit\n"
    "      --limit NAME=VALUE    a limit: time_ms, steps, memory, output, file_size, file_bytes,\n"
    "                            inodes, fds, processes, pipeline, depth, script, regex, expansion,\n"
    "                            requests, transfers, redirects, download, upload, head, connect_ms;\n"
    "                            0: none\n"
    "      --max-sessions N      sessions that --mcp keeps at one time; default: 64\n"
    "      --session-idle SECONDS, --session-lifetime SECONDS\n"
    "                            end one that is not used, or that is so old; 0: never; default: 4 hours, never\n"
    "      --list-commands       print the names of all commands\n"
    "      --help, --version     print this, or the version\n"
    "  -e -u -x -n -f -C -a -v, -o OPTION, +o OPTION\n"
    "                            as bash takes them; -l, -i, -s and -- are accepted\n";

static void list_commands(void)
{
    uint64_t n;
    const char *const *names = shell_command_names(&n);
    for (uint64_t i = 0; i < n; i++)
        puts(names[i]);
}

static void checked(const char *why, const char *value)
{
    if (why)
        settings_fail(why, value);
}

/* ---------- what takes a value ---------- */

static const char *opt_config(Settings *s, const char *v)
{
    if (s->config)
        return "--config may be given once";
    config_read(s, v);
    return NULL;
}

static const char *opt_allow_url(Settings *s, const char *v) { return set_url(s, v, 0, 0); }
static const char *opt_allow_private_url(Settings *s, const char *v) { return set_url(s, v, 0, 1); }
static const char *opt_deny_url(Settings *s, const char *v) { return set_url(s, v, 1, 0); }
static const char *opt_cwd(Settings *s, const char *v) { return set_text(s, &s->cwd, GIVEN_CWD, v); }
static const char *opt_ca_file(Settings *s, const char *v) { return set_text(s, &s->net.ca_file, GIVEN_CA_FILE, v); }
static const char *opt_proxy(Settings *s, const char *v) { return set_text(s, &s->net.proxy, GIVEN_PROXY, v); }
static const char *opt_audit(Settings *s, const char *v) { return set_text(s, &s->audit, GIVEN_AUDIT, v); }
static const char *opt_allow_command(Settings *s, const char *v) { return set_name(&s->allow_commands, settings_copy(s, v)); }
static const char *opt_deny_command(Settings *s, const char *v) { return set_name(&s->deny_commands, settings_copy(s, v)); }

static const char *opt_verify_audit(Settings *s, const char *v)
{
    (void)s;
    exit(cli_verify_audit(v));
}

static const char *opt_timeout(Settings *s, const char *v)
{
    char *end;
    double seconds = strtod(v, &end);
    return end == v || *end ? "bad number" : set_timeout(s, seconds);
}

static const char *seconds(Settings *s, const char *v, uint64_t *field, unsigned bit)
{
    uint64_t n;
    return settings_number(v, &n) ? set_seconds(s, field, bit, n) : "bad number";
}

static const char *opt_max_sessions(Settings *s, const char *v) { return seconds(s, v, &s->most_sessions, GIVEN_SESSIONS); }
static const char *opt_session_idle(Settings *s, const char *v) { return seconds(s, v, &s->session_idle, GIVEN_IDLE); }
static const char *opt_session_lifetime(Settings *s, const char *v) { return seconds(s, v, &s->session_lifetime, GIVEN_LIFETIME); }

static const struct { const char *name; const char *(*take)(Settings *, const char *); } with_value[] = {
    {"config", opt_config}, {"bind", set_bind}, {"cwd", opt_cwd}, {"env", set_env}, {"env-from-host", set_env_from_host}, {"umask", set_umask},
    {"allow-url", opt_allow_url}, {"allow-private-url", opt_allow_private_url}, {"deny-url", opt_deny_url}, {"ca-file", opt_ca_file},
    {"proxy", opt_proxy}, {"allow-command", opt_allow_command}, {"deny-command", opt_deny_command}, {"audit", opt_audit},
    {"verify-audit", opt_verify_audit}, {"timeout", opt_timeout}, {"limit", set_limit}, {"max-sessions", opt_max_sessions},
    {"session-idle", opt_session_idle}, {"session-lifetime", opt_session_lifetime},
};

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
        settings_fail("option needs a value", argv[*i]);
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

static bool flag(Settings *s, const char *arg)
{
    static const char *const ignored[] = {"--login", "--norc", "--noprofile", "--noediting"};
    for (size_t k = 0; k < sizeof ignored / sizeof *ignored; k++)
        if (strcmp(arg, ignored[k]) == 0)
            return true;
    if (strcmp(arg, "--posix") == 0)
        return s->is_sh = true;
    if (strcmp(arg, "--mcp") == 0)
        return s->mcp = true;
    if (strcmp(arg, "--confine") != 0 && strcmp(arg, "--no-confine") != 0)
        return false;
    set_confine(s, arg[2] == 'c');
    return true;
}

static void long_option(Settings *s, char **argv, int *i)
{
    const char *arg = argv[*i];
    if (informs(arg))
        exit(0);
    if (flag(s, arg))
        return;
    for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++) {
        const char *v = long_value(with_value[k].name, argv, i);
        if (!v)
            continue;
        const char *why = with_value[k].take(s, v);
        char text[300];
        snprintf(text, sizeof text, "%s: %s", arg, v);
        /* a message that names its option says enough with the value */
        checked(why, why && why[0] == '-' ? v : text);
        return;
    }
    settings_fail("unknown option", arg);
}

static void option_with_name(Settings *s, char sign, char letter, char **argv, int *i)
{
    if (!argv[*i + 1])
        settings_fail("option needs a value", argv[*i]);
    if (letter == 'o') {
        checked(set_option_word(s, sign == '-' ? "-o" : "+o"), NULL);
        checked(set_option_word(s, argv[*i + 1]), NULL);
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
        } else if (sign == '-' && *c == 'i') {
            s->interactive = true;
        } else if (*c == 'o' || *c == 'O') {
            option_with_name(s, sign, *c, argv, i);
        } else if (strchr("euxfCavbhkmtBEHPT", *c)) {
            char word[3] = {sign, *c, 0};
            checked(set_option_word(s, word), NULL);
        } else if (!strchr("lr", *c)) {
            settings_fail("unknown option", cluster);
        }
    }
}

int options_parse(Settings *s, char **argv)
{
    int i = 1;
    s->on_command_line = true;
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
    s->on_command_line = false;
    if (s->has_command) {
        if (!argv[i])
            settings_fail("-c: option requires an argument", NULL);
        s->command = argv[i++];
    }
    return i;
}
