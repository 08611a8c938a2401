/* tac: print files with their records in reverse. GNU coreutils 9.1: separators are strings or regular expressions, behind or before records. */
#include "command.h"

static const Option options[] = {
    {'b', "before", OPT_FLAG, "attach the separator before instead of after", NULL, 0},
    {'r', "regex", OPT_FLAG, "interpret the separator as a regular expression", NULL, 0},
    {'s', "separator", OPT_VALUE, "use STRING as the separator instead of newline", "STRING", 0},
    OPTIONS_END,
};

typedef struct {
    Slice separator;
    Re *regex;
    bool before;
} Tac;

/* The last separator that ends at or before `end`; false when there is none. */
static bool last_separator(Proc *p, const Tac *t, Slice all, size_t end, ReSpan *found)
{
    if (!t->regex) {
        for (size_t at = end; at >= t->separator.len && t->separator.len; at--)
            if (memcmp(all.data + at - t->separator.len, t->separator.data, t->separator.len) == 0) {
                *found = (ReSpan){at - t->separator.len, at};
                return true;
            }
        return false;
    }
    ReEnv env = proc_re_env(p);
    for (size_t at = end; at-- > 0;) {
        ReSpan span;
        proc_tick(p, 1);
        if (re_search(&env, t->regex, (Slice){all.data, end}, at, false, &span, 1) == RE_MATCHED && span.start == at && span.end > at) {
            *found = span;
            return true;
        }
    }
    return false;
}

static void print_reversed(Proc *p, const Tac *t, Slice all)
{
    size_t end = all.len, scan = all.len;
    ReSpan s;
    while (last_separator(p, t, all, scan, &s)) {
        size_t cut = t->before ? s.start : s.end;
        if (cut < end || t->before)
            out_write(p->out, (Slice){all.data + cut, end - cut});
        end = cut;
        scan = s.start;
        proc_tick(p, 1);
    }
    out_write(p->out, (Slice){all.data, end});
}

static int tac_main(Proc *p, Args *args)
{
    Tac t = {.separator = SLICE("\n")};
    bool regex = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        t.before |= id == 'b';
        regex |= id == 'r';
        if (id == 's')
            t.separator = *args->value ? slice_str(args->value) : (Slice){"", 1};
    }
    if (regex) {
        ReError err;
        t.regex = proc_regex(p, t.separator, RE_BRE, RE_MULTILINE, &err);
        if (!t.regex)
            die(p, 1, "%s", err.message);
    }
    Input in = input_first(p, args);
    in.open_format = "failed to open %s for reading";
    in.quote_name = true;
    for (; input_open(&in); input_next(&in))
        print_reversed(p, &t, read_all(p, in.fd));
    return input_status(&in);
}

COMMAND(tac, "tac [OPTION]... [FILE]...", "Write each FILE to standard output, last line first.", options, COMMAND_PURE);
