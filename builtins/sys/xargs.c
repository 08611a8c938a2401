/* xargs: build and run command lines from standard input. GNU findutils 4.9.
 *
 * Children started by -P run beside each other; without it each is a plain call.
 */
#include <stdlib.h>

#include "command.h"

enum { OPT_SHOW_LIMITS = 256, OPT_SLOT };

static const Option options[] = {
    {'0', "null", OPT_FLAG, "items are separated by a null, not whitespace; disables quote and backslash processing and logical EOF processing", NULL, 0},
    {'a', "arg-file", OPT_VALUE, "read arguments from FILE, not standard input", "FILE", 0},
    {'d', "delimiter", OPT_VALUE, "items in input stream are separated by CHARACTER, not by whitespace", "CHARACTER", 0},
    {'E', NULL, OPT_VALUE, "set logical EOF string", "END", 0},
    {'e', "eof", OPT_OPTIONAL, "equivalent to -E END if END is specified", "END", 0},
    {'I', NULL, OPT_VALUE, "same as --replace=R", "R", 0},
    {'i', "replace", OPT_OPTIONAL, "replace R in INITIAL-ARGS with names read from standard input, split at newlines", "R", 0},
    {'L', NULL, OPT_VALUE, "use at most MAX-LINES non-blank input lines per command line", "MAX-LINES", 0},
    {'l', "max-lines", OPT_OPTIONAL, "similar to -L but defaults to at most one non-blank input line if MAX-LINES is not specified", "MAX-LINES", 0},
    {'n', "max-args", OPT_VALUE, "use at most MAX-ARGS arguments per command line", "MAX-ARGS", 0},
    {'o', "open-tty", OPT_FLAG, NULL, NULL, 0},
    {'P', "max-procs", OPT_VALUE, "run at most MAX-PROCS processes at a time", "MAX-PROCS", 0},
    {'p', "interactive", OPT_FLAG, "refused: there is no terminal", NULL, 0},
    {0, "process-slot-var", OPT_VALUE, "set environment variable VAR in child processes", "VAR", OPT_SLOT},
    {'r', "no-run-if-empty", OPT_FLAG, "if there are no arguments, then do not run COMMAND", NULL, 0},
    {'s', "max-chars", OPT_VALUE, "limit length of command line to MAX-CHARS", "MAX-CHARS", 0},
    {0, "show-limits", OPT_FLAG, NULL, NULL, OPT_SHOW_LIMITS},
    {'t', "verbose", OPT_FLAG, "print commands before executing them", NULL, 0},
    {'x', "exit", OPT_FLAG, "exit if the size (see -s) is exceeded", NULL, 0},
    OPTIONS_END,
};

enum { DEFAULT_CHARS = 131072, MOST_CHARS = 2095104, STATUS_LATER = 123 };

typedef struct {
    Proc *p;
    /* options */
    int delimiter;          /* or -1: blanks, with quotes */
    const char *eof, *replace, *slot_var;
    bool told_nul;
    uint64_t max_lines, max_args, max_chars, max_procs;
    bool no_run_if_empty, verbose, exit_if_large;
    /* the command */
    char **initial;
    int ninitial;
    size_t initial_chars;
    /* items gathered for the next command line */
    Mem *mem;
    char **items;
    size_t count, cap, chars;
    uint64_t lines;
    /* input: a byte at a time out of chunks */
    int fd;
    Slice window;
    Buf word;
    bool at_end;
    /* children */
    unsigned running;
    pid_t *slots;           /* --process-slot-var: who has which, 0 for nobody */
    size_t slot_count;
    int status;
    bool any_run;
} Xargs;

/* ---------- input ---------- */

static int next_byte(Xargs *x)
{
    while (x->window.len == 0) {
        if (x->at_end)
            return -1;
        if (proc_read_chunk(x->p, x->fd, 65536, &x->window, NULL) <= 0) {
            x->at_end = true;
            return -1;
        }
    }
    int c = (unsigned char)x->window.data[0];
    x->window = slice_from(x->window, 1);
    return c;
}

typedef enum { ITEM_NONE, ITEM_WORD, ITEM_LINE_END /* a word that ends its line */ } ItemEnd;

static bool line_blank(int c) { return c == ' ' || c == '\t'; }
static bool any_blank(int c) { return line_blank(c) || c == '\n' || c == '\v' || c == '\f' || c == '\r'; }

static void run_items(Xargs *x);

static void read_quoted(Xargs *x, int quote)
{
    for (int c; (c = next_byte(x)) != quote;) {
        if ((c < 0 || c == '\n') && !x->replace && !x->max_lines && x->count)
            run_items(x); /* what is complete is still run */
        if (c < 0 || c == '\n')
            die(x->p, 1, "unmatched %s quote; by default quotes are special to xargs unless you use the -0 option", quote == '"' ? "double" : "single");
        buf_char(&x->word, (char)c);
    }
}

/* One word in shell-like quoting; under -I and -L a word may be a whole line or end one. */
static ItemEnd read_word(Xargs *x)
{
    int c;
    buf_clear(&x->word);
    do
        c = next_byte(x);
    while (c >= 0 && any_blank(c));
    if (c < 0)
        return ITEM_NONE;
    for (; c >= 0; c = next_byte(x)) {
        if (c == '\n')
            return ITEM_LINE_END;
        if (!x->replace && any_blank(c)) {
            /* A trailing blank continues the line onto the next one for -L. */
            return ITEM_WORD;
        }
        if (c == 0 && !x->told_nul) {
            warn(x->p, "WARNING: a NUL character occurred in the input.  It cannot be passed through in the argument list.  Did you mean to use the --null option?");
            x->told_nul = true;
        }
        if (c == '\'' || c == '"') {
            read_quoted(x, c);
        } else if (c == '\\') {
            c = next_byte(x);
            if (c < 0)
                die(x->p, 1, "backslash at EOF");
            buf_char(&x->word, (char)c);
        } else {
            buf_char(&x->word, (char)c);
        }
    }
    return ITEM_LINE_END;
}

static ItemEnd read_delimited(Xargs *x)
{
    int c, n = 0;
    buf_clear(&x->word);
    for (; (c = next_byte(x)) >= 0; n++) {
        if (c == x->delimiter)
            return ITEM_LINE_END;
        buf_char(&x->word, (char)c);
    }
    return n ? ITEM_LINE_END : ITEM_NONE;
}

static ItemEnd read_item(Xargs *x)
{
    if (x->delimiter >= 0)
        return read_delimited(x);
    ItemEnd end = read_word(x);
    if (end != ITEM_NONE && x->eof && slice_is(x->word.data ? buf_slice(&x->word) : (Slice){"", 0}, x->eof))
        return ITEM_NONE;
    return end;
}

/* ---------- running ---------- */

static void settle(Xargs *x, int wstatus, const char *command)
{
    Proc *p = x->p;
    int signal = wstatus & 127, status = wstatus >> 8 & 255;
    if (signal) {
        warn(p, "%s: terminated by signal %d", command, signal);
        proc_fail(p, 125);
    }
    if (status == 255) {
        warn(p, "%s: exited with status 255; aborting", command);
        proc_fail(p, 124);
    }
    if (status)
        x->status = STATUS_LATER;
}

static void wait_one(Xargs *x)
{
    int wstatus;
    pid_t pid = proc_wait(x->p, -1, &wstatus, 0, -1);
    if (pid < 0) {
        x->running = 0;
        return;
    }
    for (size_t i = 0; i < x->slot_count; i++)
        if (x->slots[i] == pid)
            x->slots[i] = 0;
    x->running--;
    settle(x, wstatus, x->initial[0]);
}

static void show_command(Proc *p, char **argv)
{
    for (char **a = argv; *a; a++)
        out_printf(p->err, "%s%s", a == argv ? "" : " ", quotef(p, *a));
    out_char(p->err, '\n');
    output_flush(p->err);
}

static int open_null(Proc *p)
{
    int fd = proc_open(p, "/dev/null", V_READ, 0);
    if (fd < 0)
        die_errno(p, 1, fd, "/dev/null");
    return fd;
}

/* The first slot nobody has. */
static size_t free_slot(Xargs *x)
{
    size_t i = 0;
    while (i < x->slot_count && x->slots[i])
        i++;
    if (i == x->slot_count) {
        size_t count = x->slot_count ? x->slot_count * 2 : 8;
        x->slots = mem_grow(&x->p->keep, x->slots, x->slot_count * sizeof *x->slots, count * sizeof *x->slots);
        memset(x->slots + x->slot_count, 0, (count - x->slot_count) * sizeof *x->slots);
        x->slot_count = count;
    }
    return i;
}

/* The environment with the slot's number in it; NULL: as it is. */
static char **environment(Xargs *x, size_t slot)
{
    if (!x->slot_var)
        return NULL;
    size_t n = 0, len = strlen(x->slot_var);
    char **old = proc_environ(x->p);
    while (old[n])
        n++;
    char **made = mem_array(x->mem, n + 2, char *), **to = made;
    for (char **e = old; *e; e++)
        if (strncmp(*e, x->slot_var, len) != 0 || (*e)[len] != '=')
            *to++ = *e;
    *to++ = mem_printf(x->mem, "%s=%zu", x->slot_var, slot);
    *to = NULL;
    return made;
}

static void run(Xargs *x, char **argv)
{
    Proc *p = x->p;
    x->any_run = true;
    if (x->verbose)
        show_command(p, argv);
    int null = open_null(p);
    SpawnFd in = {0, x->fd == 0 ? null : 0};
    SpawnAttr attr = {.fds = &in, .nfds = 1};
    int r;
    if (x->max_procs == 1) {
        r = proc_run(p, argv, environment(x, 0), &attr);
    } else {
        while (x->max_procs && x->running >= x->max_procs)
            wait_one(x);
        size_t slot = x->slot_var ? free_slot(x) : 0;
        r = proc_spawn(p, argv, environment(x, slot), &attr);
        x->running += r >= 0;
        if (r >= 0 && x->slot_var)
            x->slots[slot] = (pid_t)r;
    }
    proc_close(p, null);
    if (r < 0) {
        warn_errno(p, r, "%s", argv[0]);
        proc_fail(p, r == -ENOENT ? 127 : 126);
    }
    if (x->max_procs == 1)
        settle(x, r, argv[0]);
}

static void forget_items(Xargs *x)
{
    mem_drop(x->mem);
    x->items = NULL;
    x->count = x->cap = 0;
    x->chars = 0;
    x->lines = 0;
}

static void run_items(Xargs *x)
{
    char **argv = mem_array(x->mem, (size_t)x->ninitial + x->count + 1, char *);
    memcpy(argv, x->initial, (size_t)x->ninitial * sizeof *argv);
    if (x->count)
        memcpy(argv + x->ninitial, x->items, x->count * sizeof *argv);
    run(x, argv);
    forget_items(x);
}

static void keep_item(Xargs *x, Slice word)
{
    if (x->count == x->cap) {
        size_t cap = x->cap ? x->cap * 2 : 64;
        x->items = mem_grow(x->mem, x->items, x->cap * sizeof *x->items, cap * sizeof *x->items);
        x->cap = cap;
    }
    x->items[x->count++] = mem_copy(x->mem, word);
    x->chars += word.len + 1;
}

static void add_item(Xargs *x, Slice word)
{
    size_t need = word.len + 1;
    if (x->initial_chars + need > x->max_chars)
        die(x->p, 1, "argument line too long");
    bool large = x->initial_chars + x->chars + need > x->max_chars;
    if (large || (x->max_args && x->count == x->max_args)) {
        if (x->exit_if_large && large && (x->max_lines || (x->max_args && x->count < x->max_args)))
            die(x->p, 1, "argument list too long");
        run_items(x);
    }
    keep_item(x, word);
}

static void gather(Xargs *x)
{
    for (ItemEnd end; (end = read_item(x)) != ITEM_NONE;) {
        proc_tick(x->p, 1);
        add_item(x, x->word.data ? buf_slice(&x->word) : (Slice){"", 0});
        if (end == ITEM_LINE_END && x->max_lines && ++x->lines >= x->max_lines)
            run_items(x);
    }
    if (x->count || (!x->any_run && !x->no_run_if_empty))
        run_items(x);
}

/* ---------- -I ---------- */

static char *replaced(Xargs *x, const char *argument, Slice word)
{
    Buf out;
    size_t n = strlen(x->replace);
    buf_init(&out, x->mem, MOST_CHARS);
    for (const char *at; *x->replace && (at = strstr(argument, x->replace)); argument = at + n) {
        buf_append(&out, (Slice){argument, (size_t)(at - argument)});
        buf_append(&out, word);
    }
    buf_append(&out, slice_str(argument));
    if (out.failed)
        die(x->p, 1, "argument line too long");
    return out.data;
}

static void run_each(Xargs *x)
{
    while (read_item(x) != ITEM_NONE) {
        Slice word = x->word.data ? buf_slice(&x->word) : (Slice){"", 0};
        char **argv = mem_array(x->mem, (size_t)x->ninitial + 1, char *);
        size_t chars = 0;
        for (int i = 0; i < x->ninitial; i++) {
            argv[i] = replaced(x, x->initial[i], word);
            chars += strlen(argv[i]) + 1;
        }
        if (chars > x->max_chars)
            die(x->p, 1, "argument list too long");
        run(x, argv);
        forget_items(x);
    }
}

/* ---------- options ---------- */

static int delimiter_of(Proc *p, const char *text)
{
    static const char from[] = "abfnrtv\\0", to[] = "\a\b\f\n\r\t\v\\\0";
    if (text[0] && !text[1])
        return (unsigned char)text[0];
    if (text[0] != '\\' || !text[1])
        die(p, 1, "Invalid input delimiter specification %s: the delimiter must be either a single character or an escape sequence starting with \\.", text);
    if (text[1] == 'x' || (text[1] >= '0' && text[1] <= '7')) {
        char *end;
        unsigned long v = strtoul(text + (text[1] == 'x' ? 2 : 1), &end, text[1] == 'x' ? 16 : 8);
        if (v > 255)
            die(p, 1, text[1] == 'x' ? "Invalid escape sequence %s in input delimiter specification; character values must not exceed %lx." : "Invalid escape sequence %s in input delimiter specification; character values must not exceed %lo.", text, 255ul);
        if (*end)
            die(p, 1, "Invalid escape sequence %s in input delimiter specification; trailing characters %s not recognised.", text, end);
        return (int)v;
    }
    const char *at = strchr(from, text[1]);
    if (!at || text[2])
        die(p, 1, "Invalid escape sequence %s in input delimiter specification.", text);
    return (unsigned char)to[at - from];
}

static uint64_t number(Proc *p, Args *args, const char *text, char letter, int64_t least)
{
    int64_t v;
    int err = parse_int(text, &v);
    if (err == -EINVAL) {
        warn(p, "invalid number \"%s\" for -%c option", text, letter);
        usage_hint(p, args);
    }
    if (v < least) {
        warn(p, "value %s for -%c option should be >= %lld", text, letter, (long long)least);
        if (letter != 's')
            usage_hint(p, args);
        v = least;
    }
    return (uint64_t)v;
}

static void excludes(Proc *p, bool given, const char *before, const char *now)
{
    if (given)
        warn(p, "warning: options %s and %s are mutually exclusive, ignoring previous %s value", before, now, before);
}

static void set_option(Xargs *x, Args *args, int id)
{
    Proc *p = x->p;
    char *v = args->value;
    switch (id) {
    case '0': x->delimiter = 0; break;
    case 'd': x->delimiter = delimiter_of(p, v); break;
    case 'E': x->eof = *v ? v : NULL; break;
    case 'e': x->eof = v && *v ? v : NULL; break;
    case 'I':
    case 'i':
        excludes(p, x->max_lines, "--max-lines", "--replace/-I/-i");
        excludes(p, x->max_args, "--max-args", "--replace/-I/-i");
        x->replace = v ? v : "{}";
        x->max_args = x->max_lines = 0;
        break;
    case 'L':
    case 'l':
        excludes(p, x->max_args, "--max-args", id == 'L' ? "-L" : "--max-lines/-l");
        excludes(p, x->replace != NULL, "--replace", id == 'L' ? "-L" : "--max-lines/-l");
        x->max_lines = v ? number(p, args, v, (char)id, 1) : 1;
        x->max_args = 0;
        x->replace = NULL;
        break;
    case 'n':
        x->max_args = number(p, args, v, 'n', 1);
        excludes(p, x->max_lines, "--max-lines", "--max-args/-n");
        x->max_lines = 0;
        if (x->max_args == 1 && x->replace)
            x->max_args = 0;
        else {
            excludes(p, x->replace != NULL, "--replace", "--max-args/-n");
            x->replace = NULL;
        }
        break;
    case 'P': x->max_procs = number(p, args, v, 'P', 0); break;
    case 'r': x->no_run_if_empty = true; break;
    case 's':
        x->max_chars = number(p, args, v, 's', 1);
        x->max_chars = MIN(x->max_chars, (uint64_t)MOST_CHARS);
        break;
    case 't': x->verbose = true; break;
    case 'x': x->exit_if_large = true; break;
    case 'p': die(p, 1, "-p needs a terminal, and there is none");
    case OPT_SLOT:
        if (strchr(v, '='))
            die(x->p, 1, "option --process-slot-var may not be set to a value which includes `='");
        if (!*v)
            die(x->p, 1, "failed to unset environment variable : Invalid argument");
        x->slot_var = v;
        break;
    case 'a':
        x->fd = proc_open(p, v, V_READ, 0);
        if (x->fd < 0)
            die_errno(p, 1, x->fd, "Cannot open input file %s", quote(p, v));
        break;
    default: break;
    }
}

static int xargs_main(Proc *p, Args *args)
{
    static char echo[] = "echo";
    Xargs x = {.p = p, .delimiter = -1, .max_chars = DEFAULT_CHARS, .max_procs = 1, .mem = proc_mem_new(p)};
    buf_init(&x.word, &p->keep, BUF_MAX);
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&x, args, id);
    int n;
    char **v = args_operands(args, &n);
    x.initial = mem_array(&p->keep, (size_t)MAX(n, 1) + 1, char *);
    x.initial[0] = echo;
    if (n)
        memcpy(x.initial, v, (size_t)n * sizeof *v);
    x.ninitial = MAX(n, 1);
    for (int i = 0; i < x.ninitial; i++)
        x.initial_chars += strlen(x.initial[i]) + 1;
    if (x.initial_chars > x.max_chars)
        die(p, 1, "cannot fit single argument within argument list size limit");
    if (x.replace) {
        run_each(&x);
    } else {
        gather(&x);
    }
    while (x.running)
        wait_one(&x);
    return x.status;
}

COMMAND(xargs, "xargs [OPTION]... COMMAND [INITIAL-ARGS]...", "Run COMMAND with arguments INITIAL-ARGS and more arguments read from input.", options, COMMAND_SPAWNS | COMMAND_ORDERED, .package = "GNU findutils 4.9");
