/* settings: what the command line and the configuration file say, and the shell_options they come to.
 *
 * Setters give NULL, or what is wrong with the value, in words; the caller knows where it stood. Lists are added to; of what is single the
 * command line wins, which is why it marks what it gave. Strings lie in `doc` for as long as the program runs.
 */
#ifndef LIBSHELL_CLI_SETTINGS_H
#define LIBSHELL_CLI_SETTINGS_H

#include "include/shell.h"
#include "value.h"

enum { MOST_RULES = 256, MOST_BINDS = 64, MOST_ENV = 256, MOST_SET = 64, MOST_CREDS = 64, MOST_NAMES = 512, USAGE = 2 };
enum { GIVEN_CWD = 1, GIVEN_UMASK = 2, GIVEN_TIMEOUT = 4, GIVEN_CA_FILE = 8, GIVEN_AUDIT = 16, GIVEN_CONFINE = 32, GIVEN_PROXY = 64, GIVEN_SESSIONS = 128, GIVEN_IDLE = 256,
       GIVEN_LIFETIME = 512 };

typedef struct {
    const char *names[MOST_NAMES + 1];
    size_t count;
} Names;

typedef struct {
    Doc doc;
    shell_bind binds[MOST_BINDS];
    uint64_t nbinds;
    const char *env[MOST_ENV + 1];
    size_t nenv;
    const char *set[MOST_SET]; /* arguments for `set`, in order */
    size_t nset;
    shell_url_rule rules[MOST_RULES];
    shell_credential creds[MOST_CREDS];
    shell_net net;
    shell_file_rule files[MOST_RULES];
    Names allow_commands, deny_commands;
    shell_policy policy;
    shell_limits limits;
    uint64_t limits_given;     /* a bit for each of limit_names */
    uint64_t background;       /* Strands' max_bg_jobs, SHELL_LIMIT_DEFAULT: not said */
    const char *cwd, *audit, *config;
    double timeout;            /* as shell_run_opts has it */
    int32_t umask;             /* < 0: not said */
    int confine;               /* 1, 0, or -1: as the way it is called wants */
    uint64_t most_sessions, session_idle, session_lifetime; /* seconds; 0: none */
    unsigned given;            /* GIVEN_*: by the command line */
    bool on_command_line;      /* setters are called from there */
    const char *command;
    bool has_command, from_stdin, syntax_only, interactive, mcp, is_sh, drop_in;
} Settings;

void settings_init(Settings *s);
void settings_fail(const char *what, const char *text) __attribute__((noreturn)); /* a message, status 2 */
char *settings_copy(Settings *s, const char *text);

const char *set_bind(Settings *s, const char *value);            /* SRC:DST[:MODE][:ro] */
const char *set_bind_parts(Settings *s, const shell_bind *bind);
const char *set_env(Settings *s, const char *value);             /* NAME=VALUE */
const char *set_env_from_host(Settings *s, const char *name);
const char *set_option_word(Settings *s, const char *word);
const char *set_url(Settings *s, const char *url, int32_t deny, int32_t allow_private);
const char *set_cred(Settings *s, const shell_credential *cred);
const char *set_file_rule(Settings *s, const shell_file_rule *rule);
const char *set_name(Names *names, const char *name);
const char *set_limit(Settings *s, const char *value);           /* NAME=VALUE */
const char *set_limit_named(Settings *s, const char *name, uint64_t value);
const char *set_timeout(Settings *s, double seconds);
const char *set_umask(Settings *s, const char *octal);
const char *set_text(Settings *s, const char **field, unsigned bit, const char *value);
const char *set_confine(Settings *s, bool on);
const char *set_seconds(Settings *s, uint64_t *field, unsigned bit, uint64_t value);
bool settings_number(const char *text, uint64_t *out);           /* with K, M or G */
const char *settings_limit_name(size_t n);                       /* NULL after the last */

/* Reads FILE into s; ends the program with FILE:LINE: and what is wrong. */
void config_read(Settings *s, const char *file);
/* The same of text; false, and what is wrong in s->doc. */
bool config_text(Settings *s, const char *text, size_t len);

/* argv from its options on; gives the index of what follows them. */
int options_parse(Settings *s, char **argv);

/* After everything was said: fills `o`, whose pointers are into s. */
void settings_options(Settings *s, shell_options *o);
/* NULL, or why it is not safe to start: a file that governs this shell lies where its scripts may write. */
const char *settings_guard(Settings *s);

#endif
