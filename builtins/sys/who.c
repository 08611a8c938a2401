/* users, who, logname, tty, hostname, groups, uptime, clear: who and where one is. GNU coreutils 9.1, procps 4, ncurses.
 *
 * Nobody is logged in here, and there is no terminal. */
#include "shared.h"

static const Option no_options[] = {OPTIONS_END};

static const Option who_options[] = {
    {'a', "all", OPT_FLAG, "same as -b -d --login -p -r -t -T -u", NULL, 0},
    {'b', "boot", OPT_FLAG, "time of last system boot", NULL, 0},
    {'d', "dead", OPT_FLAG, "print dead processes", NULL, 0},
    {'H', "heading", OPT_FLAG, "print line of column headings", NULL, 0},
    {'l', "login", OPT_FLAG, "print system login processes", NULL, 0},
    {0, "lookup", OPT_FLAG, "attempt to canonicalize hostnames via DNS", NULL, 256},
    {'m', NULL, OPT_FLAG, "only hostname and user associated with stdin", NULL, 0},
    {'p', "process", OPT_FLAG, "print active processes spawned by init", NULL, 0},
    {'q', "count", OPT_FLAG, "all login names and number of users logged on", NULL, 0},
    {'r', "runlevel", OPT_FLAG, "print current runlevel", NULL, 0},
    {'s', "short", OPT_FLAG, "print only name, line, and time (default)", NULL, 0},
    {'t', "time", OPT_FLAG, "print last system clock change", NULL, 0},
    {'T', "mesg", OPT_FLAG, "add user's message status as +, - or ?", NULL, 0},
    {'w', NULL, OPT_FLAG, "same as -T", NULL, 0},
    {0, "message", OPT_FLAG, "same as -T", NULL, 'T'},
    {0, "writable", OPT_FLAG, "same as -T", NULL, 'T'},
    {0, "ips", OPT_FLAG, "print ips instead of hostnames", NULL, 257},
    {'u', "users", OPT_FLAG, "list users logged in", NULL, 0},
    OPTIONS_END,
};

static const Option tty_options[] = {{'s', "silent", OPT_FLAG, "print nothing, only return an exit status", NULL, 0}, {0, "quiet", OPT_FLAG, "the same", NULL, 256}, OPTIONS_END};

static const Option hostname_options[] = {
    {'s', "short", OPT_FLAG, "short host name", NULL, 0},
    {'f', "fqdn", OPT_FLAG, "long host name (FQDN)", NULL, 0},
    {0, "long", OPT_FLAG, "the same", NULL, 256},
    {'d', "domain", OPT_FLAG, "DNS domain name", NULL, 0},
    {'a', "alias", OPT_FLAG, "alias names", NULL, 0},
    {'A', "all-fqdns", OPT_FLAG, "all long host names (FQDNs)", NULL, 0},
    {'b', "boot", OPT_FLAG, "set default hostname if none available", NULL, 0},
    {'F', "file", OPT_VALUE, "read host name from given file", "FILE", 0},
    {'y', "yp", OPT_FLAG, "NIS/YP domain name", NULL, 0},
    {0, "nis", OPT_FLAG, NULL, NULL, 'y'},
    OPTION_HELP('h'),
    OPTION_VERSION('V'),
    {'i', "ip-address", OPT_FLAG, "addresses for the host name", NULL, 0},
    {'I', "all-ip-addresses", OPT_FLAG, "all addresses for the host", NULL, 0},
    OPTIONS_END,
};

static const Option uptime_options[] = {{'p', "pretty", OPT_FLAG, "show uptime in pretty format", NULL, 0}, {'s', "since", OPT_FLAG, "system up since", NULL, 0}, OPTION_HELP('h'), OPTION_VERSION('V'), OPTIONS_END};

static const Option clear_options[] = {{'T', NULL, OPT_VALUE, "use this instead of $TERM", "TERM", 0}, OPTION_VERSION('V'), {'x', NULL, OPT_FLAG, "do not try to clear scrollback", NULL, 0}, OPTIONS_END};

static int users_main(Proc *p, Args *args)
{
    while (args_next(p, args) != -1)
        ;
    int n;
    char **v = args_operands(args, &n);
    if (n > 1)
        usage_extra(p, args, v[1]);
    return 0;
}

static int who_main(Proc *p, Args *args)
{
    bool count = false, heading = false, idle = false, message = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        count |= id == 'q';
        heading |= id == 'H';
        idle |= id == 'u' || id == 'a' || id == 'l';
        message |= id == 'T' || id == 'w' || id == 'a';
    }
    int n;
    char **v = args_operands(args, &n);
    if (n > 2)
        usage_extra(p, args, v[2]);
    if (count)
        out_str(p->out, "\n# users=0\n");
    else if (heading)
        out_printf(p->out, "NAME     %sLINE         TIME             %sCOMMENT\n", message ? "  " : "", idle ? "IDLE          PID " : "");
    return 0;
}

static int logname_main(Proc *p, Args *args)
{
    while (args_next(p, args) != -1)
        ;
    int n;
    char **v = args_operands(args, &n);
    if (n)
        usage_extra(p, args, v[0]);
    die(p, 1, "no login name");
}

static int tty_main(Proc *p, Args *args)
{
    bool silent = false;
    for (int id; (id = args_next(p, args)) != -1;)
        silent = true;
    int n;
    char **v = args_operands(args, &n);
    if (n)
        usage_extra(p, args, v[0]);
    bool terminal = proc_isatty(p, 0);
    if (!silent)
        out_str(p->out, terminal ? "/dev/tty\n" : "not a tty\n");
    return !terminal;
}

static int hostname_main(Proc *p, Args *args)
{
    int what = 0, n;
    const char *file = NULL;
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == 'F')
            file = args->value;
        else
            what = id;
    }
    Slice ignored;
    int err = file ? read_file(p, file, &ignored) : 0;
    if (err)
        die(p, 1, "%s", error_text(err));
    args_operands(args, &n);
    if (n || file)
        die(p, 1, "you must be root to change the host name");
    if (what == 'y') {
        out_str(p->out, "hostname: Local domain name not set\n");
        return 1;
    }
    if (what == 'a' || what == 'A')
        out_char(p->out, '\n');
    else if (what == 'd')
        out_char(p->out, '\n');
    else
        out_str(p->out, what == 'i' || what == 'I' ? "127.0.0.1\n" : "libshell\n");
    return 0;
}

static int groups_main(Proc *p, Args *args)
{
    while (args_next(p, args) != -1)
        ;
    int n, status = 0;
    char **v = args_operands(args, &n);
    for (int i = 0; i < MAX(n, 1); i++) {
        uint32_t uid = p->cred.uid, gid = p->cred.gid;
        if (n && !user_find(p, slice_str(v[i]), &uid, &gid)) {
            warn(p, "%s: no such user", quote(p, v[i]));
            status = 1;
            continue;
        }
        const char *name = group_name(p, gid);
        if (n)
            out_printf(p->out, "%s : ", v[i]);
        if (name)
            out_printf(p->out, "%s\n", name);
        else
            out_printf(p->out, "%u\n", gid);
    }
    return status;
}

static int uptime_main(Proc *p, Args *args)
{
    int what = 0;
    for (int id; (id = args_next(p, args)) != -1;) {
        what = id;
    }
    int64_t up = proc_monotonic(p) / 1000000000, now = proc_now(p, NULL);
    CivilTime t;
    Buf b;
    buf_init(&b, &p->mem, 100);
    if (!tz_civil(proc_zone(p), what == 's' ? now - up : now, 0, &t))
        return 1;
    unsigned days = (unsigned)(up / 86400), hours = (unsigned)(up / 3600 % 24), minutes = (unsigned)(up / 60 % 60);
    if (what == 's') {
        tz_format(&b, SLICE("%Y-%m-%d %H:%M:%S\n"), &t, now - up);
    } else if (what == 'p') {
        buf_append(&b, SLICE("up "));
        if (days)
            buf_printf(&b, "%u day%s, ", days, days == 1 ? "" : "s");
        if (hours)
            buf_printf(&b, "%u hour%s, ", hours, hours == 1 ? "" : "s");
        buf_printf(&b, "%u minute%s\n", minutes, minutes == 1 ? "" : "s");
    } else {
        tz_format(&b, SLICE(" %H:%M:%S up "), &t, now);
        if (days)
            buf_printf(&b, "%u day%s, ", days, days == 1 ? "" : "s");
        hours ? buf_printf(&b, "%2u:%02u, ", hours, minutes) : buf_printf(&b, "%u min, ", minutes);
        buf_append(&b, SLICE(" 0 users,  load average: 0.00, 0.00, 0.00\n"));
    }
    out_write(p->out, buf_slice(&b));
    return 0;
}

static int clear_main(Proc *p, Args *args)
{
    bool keep = false;
    const char *term = proc_getenv(p, "TERM");
    for (int id; (id = args_next(p, args)) != -1;) {
        keep |= id == 'x';
        if (id == 'T')
            term = args->value;
    }
    if (!term || !*term) {
        out_str(p->err, term ? "'': unknown terminal type.\n" : "TERM environment variable not set.\n");
        output_flush(p->err);
        return 1;
    }
    if (strcmp(term, "dumb") == 0)
        return 1;
    bool old = strncmp(term, "vt1", 3) == 0 || strncmp(term, "vt2", 3) == 0 || strcmp(term, "ansi") == 0;
    out_printf(p->out, "\033[H\033[%sJ%s", old || strcmp(term, "linux") == 0 ? "" : "2", old || keep ? "" : "\033[3J");
    return 0;
}

COMMAND(users, "users [OPTION]... [FILE]", "Output who is currently logged in according to FILE.", no_options, COMMAND_PURE);
COMMAND(who, "who [OPTION]... [ FILE | ARG1 ARG2 ]", "Print information about users who are currently logged in.", who_options, COMMAND_PURE);
COMMAND(logname, "logname [OPTION]", "Print the user's login name.", no_options, COMMAND_PURE);
COMMAND(tty, "tty [OPTION]...", "Print the file name of the terminal connected to standard input.", tty_options, COMMAND_PURE, .usage_status = 2);
COMMAND(hostname, "hostname [-s|-f|-d|-i|-I]", "Print the name of the shell's host.", hostname_options, COMMAND_PURE, .package = "hostname 3.23");
COMMAND(groups, "groups [OPTION]... [USERNAME]...", "Print group memberships for each USERNAME or, if no USERNAME is specified, for the current process.", no_options, COMMAND_PURE);
COMMAND(uptime, "uptime [options]", "Tell how long the system has been running.", uptime_options, COMMAND_PURE, .package = "procps 4.0");
COMMAND(clear, "clear [options]", "Clear the terminal screen.", clear_options, COMMAND_PURE, .package = "ncurses 6.4");
