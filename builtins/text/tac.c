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
    if (!t->regex && t->separator.len == 1) {
        const char *at = end ? memrchr(all.data, *t->separator.data, end) : NULL;
        *found = at ? (ReSpan){(size_t)(at - all.data), (size_t)(at - all.data) + 1} : *found;
        return at != NULL;
    }
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

/* Length of the bracket expression at s[0], or 1. */
static size_t bracket_length(const char *s)
{
    size_t n = 1 + (s[1] == '^');
    const char *end = s[n] ? strchr(s + n + 1, ']') : NULL;
    return end ? (size_t)(end - s) + 1 : 1;
}

/* tac's expressions are of the Emacs kind: + and ? repeat, \+ and \? are text. */
static void compile(Proc *p, Tac *t)
{
    Buf basic;
    buf_init(&basic, &p->keep, BUF_MAX);
    if (t->separator.len && !*t->separator.data)
        die(p, 1, "separator cannot be empty");
    for (const char *s = t->separator.data; *s;) {
        size_t n = *s == '[' ? bracket_length(s) : *s == '\\' && s[1] ? 2 : 1;
        if (*s == '+' || *s == '?')
            buf_printf(&basic, "\\%c", *s);
        else if (n == 2 && *s == '\\' && (s[1] == '+' || s[1] == '?'))
            buf_char(&basic, s[1]);
        else
            buf_append(&basic, (Slice){s, n});
        s += n;
    }
    ReError err;
    t->regex = proc_regex(p, buf_slice(&basic), RE_BRE, RE_MULTILINE, &err);
    if (!t->regex)
        die(p, 1, "%s", err.message);
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
    if (regex)
        compile(p, &t);
    Input in = input_first(p, args);
    in.open_format = "failed to open %s for reading";
    in.quote_name = true;
    in.read_format = "%s: read error";
    for (; input_open(&in); input_next(&in)) {
        Buf all;
        VStat st;
        buf_init(&all, &p->keep, BUF_MAX);
        if (proc_fstat(p, in.fd, &st) == 0 && st.size < BUF_MAX)
            buf_reserve(&all, (size_t)st.size);
        for (Slice chunk; input_chunk(&in, &chunk);)
            buf_append(&all, chunk);
        if (all.data)
            print_reversed(p, &t, buf_slice(&all));
    }
    return input_status(&in);
}

COMMAND(tac, "tac [OPTION]... [FILE]...", "Write each FILE to standard output, last line first.", options, COMMAND_PURE);
