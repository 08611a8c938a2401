/* envsubst: substitutes environment variables in shell format strings. GNU gettext 0.21. */
#include "command.h"

static const Option options[] = {
    {'v', "variables", OPT_FLAG, "output the variables occurring in SHELL-FORMAT", NULL, 0},
    OPTION_HELP('h'),
    OPTION_VERSION('V'),
    OPTIONS_END,
};

static bool begins_name(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
static bool in_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

/* The reference at a dollar sign: its name, and how many bytes it takes; 0 when it is none. */
static size_t reference(Slice s, Slice *name)
{
    bool brace = s.len > 1 && s.data[1] == '{';
    size_t from = 1 + brace, n = from;
    if (n >= s.len || !begins_name(s.data[n]))
        return 0;
    while (n < s.len && in_name(s.data[n]))
        n++;
    *name = slice(s.data + from, n - from);
    if (!brace)
        return n;
    return n < s.len && s.data[n] == '}' ? n + 1 : 0;
}

static void note_names(Map *names, Slice s, Output *out)
{
    for (size_t i = 0; i < s.len;) {
        Slice name;
        size_t n = s.data[i] == '$' ? reference(slice_from(s, i), &name) : 0;
        if (n && out) {
            out_write(out, name);
            out_char(out, '\n');
        } else if (n) {
            map_put(names, name);
        }
        i += n ? n : 1;
    }
}

static void substitute(Proc *p, const Map *only, Slice s)
{
    while (s.len) {
        size_t plain = slice_find(s, '$');
        out_write(p->out, slice(s.data, plain));
        s = slice_from(s, plain);
        if (!s.len)
            return;
        Slice name;
        size_t n = reference(s, &name);
        if (!n || (only && !map_get(only, name))) {
            out_char(p->out, '$');
            s = slice_from(s, 1);
            continue;
        }
        MemMark mark = mem_mark(&p->mem);
        const char *value = proc_getenv(p, mem_copy(&p->mem, name));
        if (value)
            out_str(p->out, value);
        mem_reset(&p->mem, mark);
        s = slice_from(s, n);
        proc_tick(p, 1);
    }
}

static int envsubst_main(Proc *p, Args *args)
{
    bool variables = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        variables |= id == 'v';
    }
    int n;
    char **v = args_operands(args, &n);
    Map only;
    map_init(&only, &p->keep);
    if (n > 1)
        die(p, 1, "too many arguments");
    if (variables) {
        if (!n)
            die(p, 1, "missing arguments");
        note_names(&only, slice_str(v[0]), p->out);
        return 0;
    }
    if (n)
        note_names(&only, slice_str(v[0]), NULL);
    substitute(p, n ? &only : NULL, read_all(p, 0));
    return 0;
}

COMMAND(envsubst, "envsubst [OPTION] [SHELL-FORMAT]", "Substitutes the values of environment variables.", options, COMMAND_PURE, .package = "GNU gettext 0.21");
