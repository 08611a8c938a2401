/* ps, pgrep, pkill: the shell's own processes. procps 4's options as far as they mean something here. */
#include <stdlib.h>

#include "shared.h"

static const char *base_name(const char *s)
{
    const char *slash = strrchr(s, '/');
    return slash ? slash + 1 : s;
}

/* ---------- ps ---------- */

typedef struct Column {
    const char *name, *head;
    int width;
    bool right;
    void (*put)(Proc *p, const ProcInfo *i, Buf *b);
} Column;

static void put_pid(Proc *p, const ProcInfo *i, Buf *b) { (void)p; buf_printf(b, "%d", (int)i->pid); }
static void put_ppid(Proc *p, const ProcInfo *i, Buf *b) { (void)p; buf_printf(b, "%d", (int)i->ppid); }
static void put_pgid(Proc *p, const ProcInfo *i, Buf *b) { (void)p; buf_printf(b, "%d", (int)i->pgid); }
static void put_uid(Proc *p, const ProcInfo *i, Buf *b) { (void)p; buf_printf(b, "%u", i->uid); }
static void put_tty(Proc *p, const ProcInfo *i, Buf *b) { (void)p; (void)i; buf_char(b, '?'); }
static void put_time(Proc *p, const ProcInfo *i, Buf *b) { (void)p; (void)i; buf_append(b, SLICE("00:00:00")); }
static void put_zero(Proc *p, const ProcInfo *i, Buf *b) { (void)p; (void)i; buf_char(b, '0'); }
static void put_share(Proc *p, const ProcInfo *i, Buf *b) { (void)p; (void)i; buf_append(b, SLICE("0.0")); }
static void put_state(Proc *p, const ProcInfo *i, Buf *b) { (void)p; buf_char(b, i->running ? 'R' : 'S'); }
static void put_comm(Proc *p, const ProcInfo *i, Buf *b) { (void)p; buf_append(b, slice_str(base_name(i->name))); }
static void put_args(Proc *p, const ProcInfo *i, Buf *b) { (void)p; buf_append(b, slice_str(i->args)); }
static void put_start(Proc *p, const ProcInfo *i, Buf *b)
{
    uint32_t ns;
    (void)i;
    int64_t day = (proc_now(p, &ns) % 86400 + 86400) % 86400;
    buf_printf(b, "%02d:%02d", (int)(day / 3600), (int)(day / 60 % 60));
}

static void put_user(Proc *p, const ProcInfo *i, Buf *b)
{
    const char *name = user_name(p, i->uid);
    if (name)
        buf_append(b, slice_str(name));
    else
        put_uid(p, i, b);
}

static const Column columns[] = {
    {"pid", "PID", 7, true, put_pid}, {"ppid", "PPID", 7, true, put_ppid}, {"pgid", "PGID", 7, true, put_pgid}, {"pgrp", "PGRP", 7, true, put_pgid}, {"uid", "UID", 5, true, put_uid},
    {"user", "USER", 8, false, put_user}, {"euser", "EUSER", 8, false, put_user}, {"tty", "TT", 8, false, put_tty}, {"tname", "TTY", 8, false, put_tty}, {"time", "TIME", 8, true, put_time},
    {"cputime", "TIME", 8, true, put_time}, {"etime", "ELAPSED", 11, true, put_time}, {"stat", "STAT", 4, false, put_state}, {"state", "S", 1, false, put_state}, {"s", "S", 1, false, put_state},
    {"comm", "COMMAND", 15, false, put_comm}, {"ucmd", "CMD", 15, false, put_comm}, {"cmd", "CMD", 27, false, put_args}, {"args", "COMMAND", 27, false, put_args}, {"command", "COMMAND", 27, false, put_args},
    {"pcpu", "%CPU", 4, true, put_share}, {"%cpu", "%CPU", 4, true, put_share}, {"pmem", "%MEM", 4, true, put_share}, {"%mem", "%MEM", 4, true, put_share}, {"vsz", "VSZ", 6, true, put_zero},
    {"rss", "RSS", 5, true, put_zero}, {"c", "C", 2, true, put_zero}, {"ni", "NI", 3, true, put_zero}, {"start", "START", 5, true, put_start}, {"stime", "STIME", 5, true, put_start},
};

typedef struct Shown {
    const Column *column;
    const char *head;
} Shown;

enum { MOST_SHOWN = 64 };

typedef struct Ps {
    Proc *p;
    Shown shown[MOST_SHOWN];
    size_t n;
    bool no_heads, chosen;
    const char *pids, *names, *users;
} Ps;

static const Column *column_named(Slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (slice_is(name, columns[i].name))
            return &columns[i];
    return NULL;
}

/* "pid,comm=NAME": behind = everything is the heading. */
static void add_columns(Ps *ps, Args *args, const char *list)
{
    Slice s = slice_str(list);
    while (s.len && ps->n < MOST_SHOWN) {
        size_t n = 0;
        while (n < s.len && s.data[n] != ',' && s.data[n] != ' ' && s.data[n] != '=')
            n++;
        const Column *c = column_named(slice(s.data, n));
        if (!c) {
            out_printf(ps->p->err, "error: unknown user-defined format specifier \"%.*s\"\n\n", (int)n, s.data);
            usage_hint(ps->p, args);
        }
        ps->shown[ps->n] = (Shown){c, c->head};
        if (n < s.len && s.data[n] == '=') {
            ps->shown[ps->n++].head = mem_copy(&ps->p->keep, slice_from(s, n + 1));
            return;
        }
        ps->n++;
        s = slice_from(s, MIN(n + 1, s.len));
    }
}

static bool in_list(const char *list, const char *word)
{
    for (Slice s = slice_str(list); s.len;) {
        size_t n = 0;
        while (n < s.len && s.data[n] != ',' && s.data[n] != ' ')
            n++;
        if (slice_is(slice(s.data, n), word))
            return true;
        s = slice_from(s, MIN(n + 1, s.len));
    }
    return false;
}

static bool is_chosen(const Ps *ps, const ProcInfo *i)
{
    char number[24];
    if (!ps->pids && !ps->names && !ps->users)
        return true;
    snprintf(number, sizeof number, "%d", (int)i->pid);
    const char *user = user_name(ps->p, i->uid);
    return (ps->pids && in_list(ps->pids, number)) || (ps->names && in_list(ps->names, base_name(i->name))) || (ps->users && user && in_list(ps->users, user));
}

static void put_cell(Output *o, Slice text, const Column *c, bool last)
{
    size_t pad = text.len < (size_t)c->width ? (size_t)c->width - text.len : 0;
    if (c->right)
        out_pad(o, pad, ' ');
    out_write(o, text);
    if (!c->right && !last)
        out_pad(o, pad, ' ');
    if (!last)
        out_char(o, ' ');
}

static void show_heads(Ps *ps)
{
    bool any = false;
    for (size_t k = 0; k < ps->n; k++)
        any |= ps->shown[k].head[0] != 0;
    if (ps->no_heads || !any)
        return;
    for (size_t k = 0; k < ps->n; k++)
        put_cell(ps->p->out, slice_str(ps->shown[k].head), ps->shown[k].column, k + 1 == ps->n);
    out_char(ps->p->out, '\n');
}

static bool show(Ps *ps, const ProcInfo *i)
{
    Buf b;
    buf_init(&b, &ps->p->mem, BUF_MAX);
    if (!is_chosen(ps, i))
        return false;
    for (size_t k = 0; k < ps->n; k++) {
        buf_clear(&b);
        ps->shown[k].column->put(ps->p, i, &b);
        put_cell(ps->p->out, buf_slice(&b), ps->shown[k].column, k + 1 == ps->n);
    }
    out_char(ps->p->out, '\n');
    return true;
}

static const Option ps_options[] = {
    {'e', NULL, OPT_FLAG, "all processes", NULL, 'e'}, {'A', NULL, OPT_FLAG, "all processes", NULL, 'e'}, {'a', NULL, OPT_FLAG, "all with tty, except session leaders", NULL, 'e'},
    {'x', NULL, OPT_FLAG, "processes without controlling ttys", NULL, 'e'}, {'f', NULL, OPT_FLAG, "full-format", NULL, 'f'}, {'l', NULL, OPT_FLAG, "long format", NULL, 'f'},
    {'o', "format", OPT_VALUE, "user-defined format", "format", 'o'}, {'p', "pid", OPT_VALUE, "process id", "PID", 'p'}, {'C', NULL, OPT_VALUE, "command name", "command", 'C'},
    {'u', "user", OPT_VALUE, "effective user id or name", "UID", 'u'}, {'w', NULL, OPT_FLAG, "unlimited output width", NULL, 'e'}, {0, "no-headers", OPT_FLAG, "do not print header at all", NULL, 256},
    {0, "no-heading", OPT_FLAG, NULL, NULL, 256}, {'h', NULL, OPT_FLAG, NULL, NULL, 256}, OPTIONS_END,
};

static int ps_main(Proc *p, Args *args)
{
    static const char full[] = "user,pid,ppid,c,stime,tname,time,cmd", bsd[] = "user,pid,%cpu,%mem,vsz,rss,tname,stat,start,time,command";
    Ps ps = {.p = p};
    const char *format = "pid,tname,time,ucmd";
    for (int id; (id = args_next(p, args)) >= 0;) {
        switch (id) {
        case 'f': format = full; break;
        case 'o': add_columns(&ps, args, args->value); break;
        case 'p': ps.pids = args->value; break;
        case 'C': ps.names = args->value; break;
        case 'u': ps.users = args->value; break;
        case 256: ps.no_heads = true; break;
        default: break;
        }
    }
    int n;
    char **operands = args_operands(args, &n);
    for (int i = 0; i < n; i++) {
        bool letters = operands[i][0] && strspn(operands[i], "auxwf") == strlen(operands[i]);
        if (letters && strchr(operands[i], 'u'))
            format = bsd;
        else if (!letters)
            ps.pids = operands[i];
    }
    if (!ps.n)
        add_columns(&ps, args, format);
    if (format == full)
        ps.shown[0].head = "UID";
    ProcInfo *list;
    size_t count = proc_list_all(p, &list);
    bool any = false;
    show_heads(&ps);
    for (size_t i = 0; i < count; i++)
        any |= show(&ps, &list[i]);
    return any ? 0 : 1;
}

COMMAND(ps, "ps [options]", "Report a snapshot of the shell's processes.", ps_options, COMMAND_PURE, .package = "procps 4", .notes = "Only the shell's own processes exist. Times and sizes of one are 0.");

/* ---------- pgrep, pkill ---------- */

typedef struct Find {
    Proc *p;
    Re *pattern;
    bool full, exact, inverse, newest, oldest, count, list_name, list_full, echo, no_ancestors;
    const char *delimiter, *parents, *groups, *users, *owners, *sessions, *terminals, *states, *pids, *control_groups;
    int signal;
} Find;

enum { MOST_COMM = 15, OPT_SIGNAL = 256, OPT_IGNORED, OPT_CGROUP };

#define FIND_OPTIONS                                                                                                                        \
    {'P', "parent", OPT_VALUE, "match only child processes of the given parent", "PPID", 'P'}, {'u', "euid", OPT_VALUE, "match by effective IDs", "ID", 'u'}, \
        {'U', "uid", OPT_VALUE, "match by real IDs", "ID", 'u'}, {'G', "group", OPT_VALUE, "match real group IDs", "GID", 'G'},               \
        {'s', "session", OPT_VALUE, "match session IDs: all belong to one", "SID", 's'}, {'t', "terminal", OPT_VALUE, "match by controlling terminal: none has one", "tty", 't'}, \
        {'r', "runstates", OPT_VALUE, "match runstates [D,S,Z,...]", "state", 'r'}, {'F', "pidfile", OPT_VALUE, "read PIDs from file", "file", 'F'}, \
        {'L', "logpidfile", OPT_FLAG, "fail if PID file is not locked", NULL, 'L'}, {'A', "ignore-ancestors", OPT_FLAG, "exclude our ancestors from results", NULL, 'A'}, \
        {0, "cgroup", OPT_VALUE, "match by cgroup v2 names: there are none", "grp", OPT_CGROUP}, {0, "ns", OPT_VALUE, "match the processes of the same namespace as PID: all are", "PID", OPT_IGNORED}, \
        {0, "nslist", OPT_VALUE, "which namespaces to consider for --ns", "ns", OPT_IGNORED},                                                  \
        {'x', "exact", OPT_FLAG, "match exactly with the command name", NULL, 'x'}, OPTION_HELP('h'), OPTION_VERSION('V')

static const Option pgrep_options[] = {
    {'d', "delimiter", OPT_VALUE, "specify output delimiter", "string", 'd'}, {'l', "list-name", OPT_FLAG, "list PID and process name", NULL, 'l'},
    {'a', "list-full", OPT_FLAG, "list PID and full command line", NULL, 'a'}, {'v', "inverse", OPT_FLAG, "negates the matching", NULL, 'v'}, {'c', "count", OPT_FLAG, "count of matching processes", NULL, 'c'},
    {'f', "full", OPT_FLAG, "use full process name to match", NULL, 'f'}, {'g', "pgroup", OPT_VALUE, "match listed process group IDs", "PGID", 'g'},
    {'i', "ignore-case", OPT_FLAG, "match case insensitively", NULL, 'i'}, {'n', "newest", OPT_FLAG, "select most recently started", NULL, 'n'}, {'o', "oldest", OPT_FLAG, "select least recently started", NULL, 'o'},
    FIND_OPTIONS, {'w', "lightweight", OPT_FLAG, "list all TID: a process has one", NULL, OPT_IGNORED}, OPTIONS_END,
};

static const Option pkill_options[] = {
    {0, "signal", OPT_VALUE, "signal to send (either number or name)", "sig", OPT_SIGNAL}, {'e', "echo", OPT_FLAG, "display what is killed", NULL, 'e'}, {'c', "count", OPT_FLAG, "count of matching processes", NULL, 'c'},
    {'f', "full", OPT_FLAG, "use full process name to match", NULL, 'f'}, {'g', "pgroup", OPT_VALUE, "match listed process group IDs", "PGID", 'g'},
    {'i', "ignore-case", OPT_FLAG, "match case insensitively", NULL, 'i'}, {'n', "newest", OPT_FLAG, "select most recently started", NULL, 'n'}, {'o', "oldest", OPT_FLAG, "select least recently started", NULL, 'o'},
    FIND_OPTIONS, {'q', "queue", OPT_VALUE, "integer value to be sent with the signal: nobody here reads it", "value", OPT_IGNORED},
    {'v', "inverse", OPT_FLAG, NULL, NULL, 'v'}, OPTIONS_END,
};

static bool number_in(const char *list, pid_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%d", (int)n);
    return in_list(list, text);
}

static bool is_ancestor(const Proc *p, pid_t pid)
{
    for (p = p->parent; p; p = p->parent)
        if (p->pid == pid)
            return true;
    return false;
}

static bool fits(const Find *f, const ProcInfo *i)
{
    if (f->parents && !number_in(f->parents, i->ppid))
        return false;
    if (f->groups && !number_in(f->groups, i->pgid))
        return false;
    if (f->pids && !number_in(f->pids, i->pid))
        return false;
    if (f->sessions && !number_in(f->sessions, 0) && !number_in(f->sessions, 1))
        return false;
    if (f->terminals || f->control_groups || (f->states && !strchr(f->states, i->running ? 'R' : 'S')))
        return false;
    if (f->no_ancestors && is_ancestor(f->p, i->pid))
        return false;
    const char *group = f->owners ? group_name(f->p, i->gid) : NULL;
    if (f->owners && !number_in(f->owners, (pid_t)i->gid) && !(group && in_list(f->owners, group)))
        return false;
    const char *user = user_name(f->p, i->uid);
    if (f->users && !number_in(f->users, (pid_t)i->uid) && !(user && in_list(f->users, user)))
        return false;
    if (!f->pattern)
        return true;
    ReSpan span;
    Slice name = slice_str(f->full ? i->args : base_name(i->name));
    ReEnv env = proc_re_env(f->p);
    bool found = re_search(&env, f->pattern, name, 0, false, &span, 1) == RE_MATCHED;
    return found && (!f->exact || (span.start == 0 && span.end == name.len));
}

static int find_usage(Proc *p, const char *message)
{
    out_printf(p->err, "%s: %s\nTry `%s --help' for more information.\n", p->name, message, p->name);
    output_flush(p->err);
    return 2;
}

static int take_pattern(Find *f, char **operands, int n, bool fold)
{
    ReError err;
    if (n > 1)
        return find_usage(f->p, "only one pattern can be provided");
    if (!n && !f->parents && !f->groups && !f->users && !f->owners && !f->sessions && !f->terminals && !f->states && !f->pids && !f->control_groups)
        return find_usage(f->p, "no matching criteria specified");
    if (!n)
        return 0;
    f->pattern = proc_regex(f->p, slice_str(operands[0]), RE_ERE, RE_NO_CAPTURES | (fold ? (unsigned)RE_ICASE : 0u), &err);
    if (f->pattern && !f->full && strlen(operands[0]) > MOST_COMM)
        out_printf(f->p->err, "%s: pattern that searches for process name longer than %d characters will result in zero matches\nTry `%s -f' option to match against the complete command line.\n", f->p->name, MOST_COMM, f->p->name);
    output_flush(f->p->err);
    if (f->pattern)
        return 0;
    out_printf(f->p->err, "%s: regex error: Invalid regular expression\n", f->p->name);
    output_flush(f->p->err);
    return 2;
}

/* -9, -TERM before other options. */
static void take_signal(Find *f, Args *args)
{
    for (int i = 1; i < args->argc; i++) {
        const char *a = args->argv[i];
        int signal = a[0] == '-' && a[1] && a[1] != '-' ? signal_from_name(a + 1) : -1;
        if (signal < 0)
            continue;
        f->signal = signal;
        memmove(&args->argv[i], &args->argv[i + 1], (size_t)(args->argc - i) * sizeof *args->argv);
        args->argc--;
        return;
    }
}

static size_t choose_processes(Find *f, ProcInfo **out)
{
    ProcInfo *list;
    size_t count = proc_list_all(f->p, &list), n = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].pid != f->p->pid && fits(f, &list[i]) != f->inverse)
            list[n++] = list[i];
    if (n && (f->newest || f->oldest)) {
        list[0] = list[f->newest ? n - 1 : 0];
        n = 1;
    }
    *out = list;
    return n;
}

static void print_found(const Find *f, const ProcInfo *list, size_t n)
{
    Output *o = f->p->out;
    for (size_t i = 0; i < n; i++) {
        out_printf(o, "%s%d", i ? f->delimiter : "", (int)list[i].pid);
        if (f->list_name || f->list_full)
            out_printf(o, " %s", f->list_full ? list[i].args : base_name(list[i].name));
    }
    if (n)
        out_char(o, '\n');
}

static int kill_found(const Find *f, const ProcInfo *list, size_t n)
{
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        int err = proc_kill(f->p, list[i].pid, f->signal);
        if (err) {
            warn_errno(f->p, err, "killing pid %d failed", (int)list[i].pid);
            continue;
        }
        done++;
        if (f->echo)
            out_printf(f->p->out, "%s killed (pid %d)\n", base_name(list[i].name), (int)list[i].pid);
    }
    if (f->count)
        out_printf(f->p->out, "%zu\n", done);
    return done ? 0 : 1;
}

/* The number in front of the file; with -L only where somebody holds a lock on it. */
static bool read_pids(Find *f, const char *path, bool locked)
{
    Proc *p = f->p;
    char text[24] = "";
    int fd = strcmp(path, "-") == 0 ? 0 : proc_open(p, path, V_READ, 0);
    if (fd < 0)
        return false;
    bool held = !locked || proc_flock(p, fd, FLOCK_SHARED, 0) == -EWOULDBLOCK;
    ssize_t n = proc_read(p, fd, text, sizeof text - 1);
    if (fd)
        proc_close(p, fd);
    char *end;
    long pid = strtol(text, &end, 10);
    if (!held || n <= 0 || end == text || pid < 1 || (*end && *end != ' ' && *end != '\n' && *end != '\t'))
        return false;
    f->pids = mem_printf(&p->keep, "%ld", pid);
    return true;
}

static int find_main(Proc *p, Args *args, bool kills)
{
    Find f = {.p = p, .delimiter = "\n", .signal = 15};
    bool fold = false, locked = false;
    const char *pid_file = NULL;
    if (kills)
        take_signal(&f, args);
    for (int id; (id = args_next(p, args)) >= 0;) {
        switch (id) {
        case 'd': f.delimiter = args->value; break;
        case 'l': f.list_name = true; break;
        case 'a': f.list_full = true; break;
        case 'v': f.inverse = true; break;
        case 'c': f.count = true; break;
        case 'f': f.full = true; break;
        case 'g': f.groups = args->value; break;
        case 'i': fold = true; break;
        case 'n': f.newest = true; break;
        case 'o': f.oldest = true; break;
        case 'P': f.parents = args->value; break;
        case 'u': f.users = args->value; break;
        case 'x': f.exact = true; break;
        case 'G': f.owners = args->value; break;
        case 's': f.sessions = args->value; break;
        case 't': f.terminals = args->value; break;
        case 'r': f.states = args->value; break;
        case 'F': pid_file = args->value; break;
        case 'L': locked = true; break;
        case 'A': f.no_ancestors = true; break;
        case OPT_CGROUP: f.control_groups = args->value; break;
        case 'e': f.echo = true; break;
        case OPT_SIGNAL:
            f.signal = signal_from_name(args->value);
            if (f.signal < 0) {
                output_flush(p->out);
                out_printf(p->err, "%s: Unknown signal \"%s\".\n", p->name, args->value);
                return find_usage(p, "no matching criteria specified");
            }
            break;
        default: break;
        }
    }
    if (locked && !pid_file)
        return find_usage(p, "-L without -F makes no sense");
    if (pid_file && !read_pids(&f, pid_file, locked)) {
        find_usage(p, "pidfile not valid");
        return 1;
    }
    int n;
    char **operands = args_operands(args, &n);
    int status = take_pattern(&f, operands, n, fold);
    if (status)
        return status;
    ProcInfo *list;
    size_t found = choose_processes(&f, &list);
    if (kills)
        return kill_found(&f, list, found);
    if (f.count)
        out_printf(p->out, "%zu\n", found);
    else
        print_found(&f, list, found);
    return found ? 0 : 1;
}

static int pgrep_main(Proc *p, Args *args) { return find_main(p, args, false); }
static int pkill_main(Proc *p, Args *args) { return find_main(p, args, true); }

COMMAND(pgrep, "pgrep [options] <pattern>", "Look up processes by name.", pgrep_options, COMMAND_PURE, .usage_status = 2, .package = "procps 4");
COMMAND(pkill, "pkill [options] <pattern>", "Signal processes by name.", pkill_options, 0, .usage_status = 2, .package = "procps 4");
