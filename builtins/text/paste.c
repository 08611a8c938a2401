/* paste: merge lines of files. GNU coreutils 9.1. */
#include "command.h"

static const Option options[] = {
    {'d', "delimiters", OPT_VALUE, "reuse characters from LIST instead of TABs", "LIST", 0},
    {'s', "serial", OPT_FLAG, "paste one file at a time instead of in parallel", NULL, 0},
    {'z', "zero-terminated", OPT_FLAG, "line delimiter is NUL, not newline", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    char *list;       /* delimiters, `empty` marking \0 */
    bool *empty;
    size_t count;
    char line_end;
} Paste;

static void parse_delimiters(Proc *p, Paste *d, const char *text)
{
    size_t n = strlen(text);
    d->list = mem_alloc(&p->keep, n + 1);
    d->empty = mem_array(&p->keep, n + 1, bool);
    d->count = 0;
    for (const char *s = text; *s; s++) {
        char c = *s;
        if (c == '\\') {
            static const char from[] = "0bfnrtv\\", to[] = "\0\b\f\n\r\t\v\\";
            if (!*++s)
                die(p, 1, "delimiter list ends with an unescaped backslash: %s", text);
            const char *at = strchr(from, *s);
            d->empty[d->count] = *s == '0';
            c = at ? to[at - from] : *s;
        }
        d->list[d->count++] = c;
    }
    if (d->count == 0) {
        d->empty[0] = true;
        d->count = 1;
    }
}

static void put_delimiter(Output *out, const Paste *d, size_t i)
{
    i %= d->count;
    if (!d->empty[i])
        out_char(out, d->list[i]);
}

static void paste_serial(Proc *p, const Paste *d, Input *in)
{
    Slice line;
    bool ended;
    for (size_t n = 0; input_record(in, &line, &ended); n++) {
        proc_tick(p, 1);
        if (n)
            put_delimiter(p->out, d, n - 1);
        out_write(p->out, line);
    }
    out_char(p->out, d->line_end);
}

/* All files at once; one that ends gives empty fields while others go on. Standard input named twice is shared. */
static int paste_parallel(Proc *p, const Paste *d, char **names, int count)
{
    Input *in = mem_array(&p->keep, (size_t)count, Input);
    bool *done = mem_array(&p->keep, (size_t)count, bool);
    Input *standard = NULL, **use = mem_array(&p->keep, (size_t)count, Input *);
    for (int i = 0; i < count; i++) {
        in[i] = input_files(p, names + i, 1);
        in[i].delimiter = d->line_end;
        if (!input_open(&in[i]))
            return 1;
        use[i] = &in[i];
        if (in[i].is_stdin && standard)
            use[i] = standard;
        else if (in[i].is_stdin)
            standard = &in[i];
    }
    int open = count;
    while (open) {
        size_t pending = 0; /* delimiters owed by files that gave nothing yet */
        bool any = false;
        for (int i = 0; i < count; i++) {
            Slice line = {"", 0};
            bool ended;
            if (!done[i] && !input_record(use[i], &line, &ended)) {
                done[i] = true;
                open--;
                line = (Slice){"", 0};
            }
            if (!done[i]) {
                for (; pending; pending--)
                    put_delimiter(p->out, d, (size_t)i - pending);
                out_write(p->out, line);
                any = true;
            }
            if (i < count - 1) {
                if (done[i] && !any)
                    pending++;
                else
                    put_delimiter(p->out, d, (size_t)i);
            }
        }
        if (any)
            out_char(p->out, d->line_end);
        else
            break;
        proc_tick(p, (uint64_t)count);
    }
    int status = 0;
    for (int i = 0; i < count; i++)
        status |= input_status(&in[i]);
    return status;
}

static int paste_main(Proc *p, Args *args)
{
    Paste d = {.line_end = '\n'};
    bool serial = false;
    const char *list = "\t";
    for (int id; (id = args_next(p, args)) != -1;) {
        serial |= id == 's';
        if (id == 'd')
            list = args->value;
        else if (id == 'z')
            d.line_end = 0;
    }
    parse_delimiters(p, &d, list);
    Input in = input_first(p, args);
    if (!serial)
        return paste_parallel(p, &d, in.names, in.count);
    in.delimiter = d.line_end;
    for (; input_open(&in); input_next(&in))
        paste_serial(p, &d, &in);
    return input_status(&in);
}

COMMAND(paste, "paste [OPTION]... [FILE]...", "Write lines consisting of the sequentially corresponding lines from each FILE, separated by TABs.", options, COMMAND_PURE);
