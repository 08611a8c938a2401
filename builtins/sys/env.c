/* env: run a program in a changed environment. GNU coreutils 9.1. */
#include "command.h"
#include "shared.h"

enum { OPT_BLOCK = 256, OPT_DEFAULT, OPT_IGNORE, OPT_LIST };

static const Option options[] = {
    {'i', "ignore-environment", OPT_FLAG, "start with an empty environment", NULL, 0},
    {'0', "null", OPT_FLAG, "end each output line with NUL, not newline", NULL, 0},
    {'u', "unset", OPT_VALUE, "remove variable from the environment", "NAME", 0},
    {'C', "chdir", OPT_VALUE, "change working directory to DIR", "DIR", 0},
    {'S', "split-string", OPT_VALUE, "process and split S into separate arguments", "S", 0},
    {0, "block-signal", OPT_OPTIONAL, NULL, "SIG", OPT_BLOCK},
    {0, "default-signal", OPT_OPTIONAL, NULL, "SIG", OPT_DEFAULT},
    {0, "ignore-signal", OPT_OPTIONAL, NULL, "SIG", OPT_IGNORE},
    {0, "list-signal-handling", OPT_FLAG, NULL, NULL, OPT_LIST},
    {'v', "debug", OPT_FLAG, "print verbose information for each processing step", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    char **list;
    size_t count, cap;
} Environment;

static void append(Proc *p, Environment *e, char *entry)
{
    if (e->count + 1 >= e->cap) {
        size_t cap = e->cap ? e->cap * 2 : 32;
        e->list = mem_grow(&p->keep, e->list, e->cap * sizeof *e->list, cap * sizeof *e->list);
        e->cap = cap;
    }
    e->list[e->count++] = entry;
    e->list[e->count] = NULL;
}

static void remove_name(Environment *e, const char *name, size_t n)
{
    for (size_t i = 0; i < e->count;)
        if (strncmp(e->list[i], name, n) == 0 && e->list[i][n] == '=') {
            memmove(&e->list[i], &e->list[i + 1], (e->count - i) * sizeof *e->list);
            e->count--;
        } else {
            i++;
        }
}

static void set(Proc *p, Environment *e, char *entry)
{
    size_t n = strcspn(entry, "=");
    for (size_t i = 0; i < e->count; i++)
        if (strncmp(e->list[i], entry, n + 1) == 0) {
            e->list[i] = entry;
            return;
        }
    append(p, e, entry);
}

/* ---------- -S: a string as shebang lines pass it ---------- */

typedef struct {
    Proc *p;
    char **argv;
    int argc;
    Buf word;
    bool in_word;
} Split;

static void end_word(Split *s)
{
    if (!s->in_word)
        return;
    s->argv[s->argc++] = mem_copy(&s->p->keep, s->word.data ? buf_slice(&s->word) : (Slice){"", 0});
    buf_clear(&s->word);
    s->in_word = false;
}

/* The character that \x stands for, or 0 for \c (the end), or -1 for a separator. */
static int escape(Proc *p, char c, bool quoted)
{
    switch (c) {
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    case '"': case '#': case '$': case '\'': case '\\': return c;
    case '_': return quoted ? ' ' : -1;
    case 'c':
        if (quoted)
            die(p, 125, "'\\c' must not appear in double-quoted -S string");
        return 0;
    case 0:
        die(p, 125, "invalid backslash at end of string in -S");
    default:
        die(p, 125, "invalid sequence '\\%c' in -S", c);
    }
}

static const char *variable(Split *s, const char *at)
{
    size_t n = at[1] == '{' ? strcspn(at, "}") : 0;
    if (n < 3 || at[n] != '}')
        die(s->p, 125, "only ${VARNAME} expansion is supported, error at: %s", at);
    const char *v = proc_getenv(s->p, mem_printf(&s->p->keep, "%.*s", (int)n - 2, at + 2));
    if (v)
        buf_append(&s->word, slice_str(v));
    s->in_word = true;
    return at + n + 1;
}

static void split(Split *s, const char *text)
{
    char quote = 0;
    for (const char *c = text; *c;) {
        if (quote ? *c == quote : (*c == '\'' || *c == '"')) {
            quote = quote ? 0 : *c;
            s->in_word = true;
            c++;
        } else if (*c == '\\' && quote != '\'') {
            int e = escape(s->p, c[1], quote == '"');
            if (e == 0)
                break;
            if (e < 0)
                end_word(s);
            else
                buf_char(&s->word, (char)e), s->in_word = true;
            c += 2;
        } else if (*c == '\\' && (c[1] == '\\' || c[1] == '\'')) {
            buf_char(&s->word, c[1]);
            c += 2;
        } else if (*c == '$' && quote != '\'') {
            c = variable(s, c);
        } else if (!quote && strchr(" \t\n\v\f\r", *c)) {
            end_word(s);
            c++;
        } else if (!quote && *c == '#' && !s->in_word) {
            break;
        } else {
            buf_char(&s->word, *c++);
            s->in_word = true;
        }
    }
    if (quote)
        die(s->p, 125, "no terminating quote in -S string");
    end_word(s);
}

/* The string's words take the place of the arguments read so far. */
static void split_arguments(Proc *p, Args *args, const char *text, bool debug)
{
    Split s = {.p = p};
    int rest = args->argc - args->at;
    s.argv = mem_array(&p->keep, strlen(text) + (size_t)rest + 3, char *);
    s.argv[s.argc++] = args->argv[0];
    buf_init(&s.word, &p->keep, BUF_MAX);
    split(&s, text);
    if (debug) {
        out_printf(p->err, "split -S:  %s\n", quote(p, text));
        for (int i = 1; i < s.argc; i++)
            out_printf(p->err, "%s    %s\n", i == 1 ? " into:" : "     &", quote(p, s.argv[i]));
    }
    for (int i = 0; i < rest; i++)
        s.argv[s.argc++] = args->argv[args->at + i];
    args->argv = s.argv;
    args->argc = s.argc;
    args->at = 1;
    args->first_operand = args->last_operand = 1;
    args->cluster = NULL;
}

/* SIG[,SIG]..., or all of them without a value. What is ignored stays so in the command. */
static void signal_action(Proc *p, Args *args, int id)
{
    const char *at = args->value;
    uint64_t bits = at ? 0 : ~(uint64_t)0;
    for (; at && *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ",");
        const char *name = mem_copy(&p->mem, slice(at, n));
        int number = signal_from_name(name);
        if (number <= 0) {
            warn(p, "%s: invalid signal", quote(p, name));
            usage_hint(p, args);
        }
        bits |= SIGNAL_BIT(number);
        at += n;
    }
    if (id == OPT_IGNORE)
        p->ignored |= bits;
    else if (id == OPT_DEFAULT)
        p->ignored &= ~bits;
}

static void show_command(Proc *p, char **argv, const char *directory)
{
    if (directory)
        out_printf(p->err, "chdir:    %s\n", quoteaf(p, directory));
    out_printf(p->err, "executing: %s\n", argv[0]);
    for (int i = 0; argv[i]; i++)
        out_printf(p->err, "   arg[%d]= %s\n", i, quote(p, argv[i]));
    output_flush(p->err);
}

static int print_all(Proc *p, const Environment *e, char end)
{
    for (size_t i = 0; i < e->count; i++) {
        out_str(p->out, e->list[i]);
        out_char(p->out, end);
    }
    return 0;
}

static int run(Proc *p, char **argv, int argc, Environment *e, const char *directory)
{
    if (directory) {
        int err = proc_chdir(p, directory);
        if (err)
            die_errno(p, 125, err, "cannot change directory to %s", quoteaf(p, directory));
    }
    const char *path = NULL;
    for (size_t i = 0; i < e->count; i++)
        if (strncmp(e->list[i], "PATH=", 5) == 0)
            path = e->list[i] + 5;
    Program program = proc_find(p, argv[0], path ? path : "/usr/bin:/bin");
    if (program.kind == PROGRAM_NONE && program.error == -ENOENT)
        program = proc_unknown(p, argv[0]);
    const char *shown = argv[0], *name = p->name;
    int status = program.kind == PROGRAM_NONE ? program.error : proc_exec(p, &program, argc, argv, e->list);
    if (status >= 0)
        return status;
    p->name = name;
    warn_errno(p, status, "%s", quote(p, shown));
    if (status == -ENOENT && strpbrk(shown, " \t"))
        warn(p, "use -[v]S to pass options in shebang lines");
    return status == -ENOENT ? 127 : 126;
}

static int env_main(Proc *p, Args *args)
{
    Environment e = {0};
    const char **unset = mem_array(&p->keep, (size_t)args->argc + 1, const char *), *directory = NULL;
    size_t nunset = 0;
    bool empty = false, debug = false;
    char end = '\n';
    for (int id; (id = args_next(p, args)) != -1;) {
        empty |= id == 'i';
        if (id == '0')
            end = 0;
        else if (id == 'C')
            directory = args->value;
        else if (id == 'S') {
            const char **more = mem_array(&p->keep, nunset + strlen(args->value) + (size_t)args->argc + 1, const char *);
            memcpy(more, unset, nunset * sizeof *more);
            unset = more;
            split_arguments(p, args, args->value, debug);
        } else if (id == 'u')
            unset[nunset++] = args->value;
        else if (id == 'v')
            debug = true;
        else if (id >= OPT_BLOCK && id < OPT_LIST)
            signal_action(p, args, id);
    }
    int n;
    char **v = args_operands(args, &n);
    if (n && strcmp(v[0], "-") == 0)
        empty = true, v++, n--;
    if (empty && debug)
        out_str(p->err, "cleaning environ\n");
    if (!empty)
        for (char **old = proc_environ(p); *old; old++)
            append(p, &e, mem_strdup(&p->keep, *old));
    for (size_t i = 0; i < nunset; i++) {
        if (!*unset[i] || strchr(unset[i], '='))
            die_errno(p, 125, EINVAL, "cannot unset %s", quote(p, unset[i]));
        if (debug && !empty)
            out_printf(p->err, "unset:    %s\n", unset[i]);
        remove_name(&e, unset[i], strlen(unset[i]));
    }
    for (; n && strchr(v[0], '='); v++, n--) {
        if (debug)
            out_printf(p->err, "setenv:   %s\n", v[0]);
        set(p, &e, v[0]);
    }
    if (!e.list)
        append(p, &e, NULL), e.count = 0;
    if (n && !end)
        usage_fail(p, args, "cannot specify --null (-0) with command");
    if (!n && directory)
        usage_fail(p, args, "must specify command with --chdir (-C)");
    if (n && debug)
        show_command(p, v, directory);
    return n ? run(p, v, n, &e, directory) : print_all(p, &e, end);
}

COMMAND(env, "env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]", "Set each NAME to VALUE in the environment and run COMMAND.", options, COMMAND_SPAWNS | COMMAND_ORDERED, .usage_status = 125);
