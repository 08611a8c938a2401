/* libshell: the command line. A drop-in for `bash -c` over what is bound, and nothing else of the host.
 *
 * Its standard input is the script's, its output streams as it comes, its exit status is the script's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bindings/cli/cli.h"
#include "bindings/cli/settings.h"

static Text read_fd(int fd)
{
    char part[65536];
    Text t = {0};
    for (;;) {
        ssize_t n = read(fd, part, sizeof part);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return t;
        text_add(&t, part, (size_t)n);
        if (t.failed)
            settings_fail("out of memory", NULL);
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

int cli_apply_set(shell *sh, const Settings *s)
{
    static const char script[] = "set \"$@\"; set --";
    const char *args[MOST_SET + 2] = {"bash"};
    shell_result *r;
    if (!s->nset)
        return 0;
    memcpy(args + 1, s->set, s->nset * sizeof *args);
    shell_run_opts o = {.size = sizeof o, .args = args, .on_output = cli_write};
    if (shell_run(sh, script, sizeof script - 1, &o, &r) != SHELL_OK)
        settings_fail("options", shell_message(sh));
    int status = r->status;
    shell_result_free(r);
    return status;
}

/* What to run, and what $0 $1 ... are. */
typedef struct {
    Text text;
    const char *const *args;
    const char *alone[2]; /* args when there are none */
    bool is_input;        /* the script was standard input */
} Script;

static void script_of(Script *script, const Settings *s, char **argv, int i)
{
    static char bash[] = "bash";
    char *name = s->drop_in ? argv[0] : bash;
    script->alone[0] = name;
    script->args = script->alone;
    if (s->has_command) {
        text_str(&script->text, s->command);
        if (script->text.failed)
            settings_fail("out of memory", NULL);
    } else if (argv[i] && !s->from_stdin) {
        script->text = read_script(argv[i]);
    } else {
        argv[i - 1] = name; /* an option or the program's own name stands there */
        script->args = (const char *const *)&argv[i - 1];
        script->is_input = true;
        script->text = read_fd(0);
        return;
    }
    if (argv[i])
        script->args = (const char *const *)&argv[i];
}

static int run(shell *sh, const Settings *s, const Script *script)
{
    shell_run_opts o = {.size = sizeof o, .args = script->args, .on_output = cli_write, .on_input = script->is_input ? NULL : cli_read,
                        .timeout = s->timeout, .flags = (s->syntax_only ? SHELL_RUN_SYNTAX : 0) | cli_output_flags()};
    shell_result *r;
    if (shell_run(sh, script->text.len ? script->text.data : "", script->text.len, &o, &r) != SHELL_OK) {
        fprintf(stderr, "libshell: %s\n", shell_message(sh));
        return 125;
    }
    int status = r->status;
    shell_result_free(r);
    return status;
}

/* Called as bash or sh: the name decides, and the environment names the configuration. */
static void drop_in(Settings *s, const char *called)
{
    const char *name = called ? strrchr(called, '/') : NULL;
    name = name ? name + 1 : called ? called : "";
    name += *name == '-';
    s->is_sh = strcmp(name, "sh") == 0;
    s->drop_in = s->is_sh || strcmp(name, "bash") == 0;
}

static void configure(Settings *s)
{
    const char *file = s->drop_in && !s->config ? getenv("LIBSHELL_CONFIG") : NULL;
    if (file && *file)
        config_read(s, file);
    else if (s->drop_in && !s->config)
        fputs("libshell: LIBSHELL_CONFIG names no configuration: no host file is bound\n", stderr);
}

static shell *open_shell(Settings *s, shell_options *o, shell_audit *audit)
{
    char message[256] = "";
    shell *sh;
    const char *why = settings_guard(s);
    if (why)
        settings_fail(why, NULL);
    settings_options(s, o);
    if (s->audit && !s->mcp && (why = cli_audit(s->audit, 0, audit)))
        settings_fail(s->audit, why);
    if (s->audit && !s->mcp) /* each session of the server begins its own */
        o->audit = audit;
    o->message = message;
    o->message_size = sizeof message;
    if (shell_open(o, &sh) == SHELL_OK)
        return sh;
    fprintf(stderr, "libshell: %s\n", message);
    exit(125);
}

static void debug_commands(shell *sh)
{
#ifdef LIBSHELL_DEBUG_COMMANDS
    shell_command(sh, "try-confinement", cli_try_confinement, NULL);
#else
    (void)sh;
#endif
}

int main(int argc, char **argv)
{
    static Settings s;
    (void)argc;
    settings_init(&s);
    drop_in(&s, argv[0]);
    int i = options_parse(&s, argv);
    configure(&s);
    if (s.is_sh && (set_option_word(&s, "-o") || set_option_word(&s, "posix")))
        settings_fail("too many options", NULL);
    shell_options o;
    shell_audit audit;
    shell *sh = open_shell(&s, &o, &audit);
    debug_commands(sh);
    bool prompt = !s.mcp && !s.has_command && (s.interactive || !argv[i] || s.from_stdin) && cli_prompt_possible();
    Script script = {0};
    Prompt *editor = prompt ? cli_prompt_begin() : NULL;
    if (!s.mcp && !prompt)
        script_of(&script, &s, argv, i);
    if (s.confine > 0 || (s.confine < 0 && (s.mcp || s.drop_in)))
        cli_confine(&s);
    int status = cli_apply_set(sh, &s);
    if (!status)
        status = s.mcp ? cli_mcp(sh, &s) : prompt ? cli_prompt(editor, sh, &s, s.drop_in ? argv[0] : "bash") : run(sh, &s, &script);
    shell_close(sh);
    if (o.audit)
        cli_audit_end(&audit);
    text_free(&script.text);
    doc_free(&s.doc);
    return status;
}
