/* nice, nohup, stdbuf: programs that change how another runs. GNU coreutils 9.1.
 *
 * There are no priorities and no buffers of a C library to set here: the arguments are checked and the program runs. */
#include "command.h"

static const Option nice_options[] = {
    {'n', "adjustment", OPT_VALUE, "add integer N to the niceness (default 10)", "N", 0},
    OPTION_DIGITS,
    OPTIONS_END,
};

static const Option no_options[] = {OPTIONS_END};

static const Option stdbuf_options[] = {
    {'i', "input", OPT_VALUE, "adjust standard input stream buffering", "MODE", 0},
    {'o', "output", OPT_VALUE, "adjust standard output stream buffering", "MODE", 0},
    {'e', "error", OPT_VALUE, "adjust standard error stream buffering", "MODE", 0},
    OPTIONS_END,
};

static int run_program(Proc *p, char **v, bool shell_quotes)
{
    int r = proc_run(p, v, NULL, NULL);
    if (r >= 0)
        return WSTATUS_TO_SHELL(r);
    warn_errno(p, r, "failed to run command %s", shell_quotes ? quoteaf(p, v[0]) : quote(p, v[0]));
    return r == -ENOENT ? 127 : 126;
}

/* The niceness is remembered in the environment of what runs below, so that a nice within a nice shows the sum. */
static int nice_main(Proc *p, Args *args)
{
    int64_t by = 10;
    bool given = false;
    char digits[24] = "";
    for (int id; (id = args_next(p, args)) != -1;) {
        const char *text = args->value;
        given = true;
        if (id != 'n') {
            size_t n = strlen(digits);
            if (n + 1 < sizeof digits)
                digits[n] = (char)id;
            text = digits;
        }
        if (parse_int(text, &by) == -EINVAL)
            die(p, 125, "invalid adjustment %s", quote(p, text));
    }
    int n;
    char **v = args_operands(args, &n);
    const char *before = proc_getenv(p, "LIBSHELL_NICENESS");
    int64_t now = 0;
    if (before)
        parse_int(before, &now);
    if (!n) {
        if (given)
            usage_fail(p, args, "a command must be given with an adjustment");
        out_printf(p->out, "%lld\n", (long long)now);
        return 0;
    }
    by = MAX(MIN(by, 39), -39);
    if (by < 0)
        warn_errno(p, EACCES, "cannot set niceness");
    now = by < 0 ? now : MIN(now + by, 19);
    char **env = proc_environ(p);
    size_t count = 0;
    while (env[count])
        count++;
    char **own = mem_array(&p->keep, count + 2, char *);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(env[i], "LIBSHELL_NICENESS=", 18) != 0)
            own[kept++] = env[i];
    own[kept] = mem_printf(&p->keep, "LIBSHELL_NICENESS=%lld", (long long)now);
    int r = proc_run(p, v, own, NULL);
    if (r >= 0)
        return WSTATUS_TO_SHELL(r);
    warn_errno(p, r, "%s", quote(p, v[0]));
    return r == -ENOENT ? 127 : 126;
}

static int nohup_main(Proc *p, Args *args)
{
    while (args_next(p, args) != -1)
        ;
    int n;
    char **v = args_operands(args, &n);
    if (!n)
        usage_missing(p, args, NULL);
    p->ignored |= SIGNAL_BIT(1);
    return run_program(p, v, true);
}

static void check_mode(Proc *p, Args *args, int id)
{
    uint64_t size;
    const char *mode = args->value;
    if (id == 'i' && strcmp(mode, "L") == 0)
        usage_fail(p, args, "line buffering stdin is meaningless");
    if (strcmp(mode, "L") != 0 && parse_size(mode, "EGkKMPTYZ0", &size) != 0)
        die(p, 125, "invalid mode %s", quote(p, mode));
}

static int stdbuf_main(Proc *p, Args *args)
{
    bool any = false;
    for (int id; (id = args_next(p, args)) != -1; any = true)
        check_mode(p, args, id);
    int n;
    char **v = args_operands(args, &n);
    if (!n)
        usage_missing(p, args, NULL);
    if (!any)
        usage_fail(p, args, "you must specify a buffering mode option");
    return run_program(p, v, false);
}

COMMAND(nice, "nice [OPTION] [COMMAND [ARG]...]", "Run COMMAND with an adjusted niceness, which affects process scheduling.", nice_options, COMMAND_SPAWNS | COMMAND_ORDERED, .usage_status = 125);
COMMAND(nohup, "nohup COMMAND [ARG]...\nnohup OPTION", "Run COMMAND, ignoring hangup signals.", no_options, COMMAND_SPAWNS | COMMAND_ORDERED, .usage_status = 125);
COMMAND(stdbuf, "stdbuf OPTION... COMMAND", "Run COMMAND, with modified buffering operations for its standard streams.", stdbuf_options, COMMAND_SPAWNS | COMMAND_ORDERED, .usage_status = 125);
