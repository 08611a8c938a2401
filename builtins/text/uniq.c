/* uniq: report or omit repeated lines. GNU coreutils 9.1, POSIX and old forms of field skipping. */
#include <sys/stat.h>

#include "command.h"
#include "shared.h"

enum { OPT_GROUP = 256, OPT_ALL = 257 };

static const Option options[] = {
    {'c', "count", OPT_FLAG, "prefix lines by the number of occurrences", NULL, 0},
    {'d', "repeated", OPT_FLAG, "only print duplicate lines, one for each group", NULL, 0},
    {'D', NULL, OPT_FLAG, "print all duplicate lines", NULL, 0},
    {0, "all-repeated", OPT_OPTIONAL, "like -D, but allow separating groups with an empty line; METHOD={none(default),prepend,separate}", "METHOD", OPT_ALL},
    {'f', "skip-fields", OPT_VALUE, "avoid comparing the first N fields", "N", 0},
    {0, "group", OPT_OPTIONAL, "show all items, separating groups with an empty line; METHOD={separate(default),prepend,append,both}", "METHOD", OPT_GROUP},
    {'i', "ignore-case", OPT_FLAG, "ignore differences in case when comparing", NULL, 0},
    {'s', "skip-chars", OPT_VALUE, "avoid comparing the first N characters", "N", 0},
    {'u', "unique", OPT_FLAG, "only print unique lines", NULL, 0},
    {'z', "zero-terminated", OPT_FLAG, "line delimiter is NUL, not newline", NULL, 0},
    {'w', "check-chars", OPT_VALUE, "compare no more than N characters in lines", "N", 0},
    OPTION_DIGITS,
    OPTIONS_END,
};

typedef enum { GROUP_NONE, GROUP_PREPEND, GROUP_APPEND, GROUP_SEPARATE, GROUP_BOTH } Grouping;

typedef struct {
    bool count, repeated, unique, all, group, ignore_case;
    Grouping delimit; /* between groups of -D or --group */
    uint64_t fields, chars, most;
    bool old_fields; /* fields come from -N, digit by digit */
    char delimiter;
} Uniq;

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/* The part of the line that is compared. */
static Slice compared(const Uniq *u, Slice line)
{
    size_t at = 0;
    for (uint64_t f = 0; f < u->fields && at < line.len; f++) {
        while (at < line.len && blank(line.data[at]))
            at++;
        while (at < line.len && !blank(line.data[at]))
            at++;
    }
    at += (size_t)MIN(u->chars, (uint64_t)(line.len - at));
    Slice rest = slice_from(line, at);
    rest.len = (size_t)MIN(u->most, (uint64_t)rest.len);
    return rest;
}

static char folded(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool same(const Uniq *u, Slice a, Slice b)
{
    a = compared(u, a);
    b = compared(u, b);
    if (!u->ignore_case)
        return slice_eq(a, b);
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (folded(a.data[i]) != folded(b.data[i]))
            return false;
    return true;
}

/* The first line of the current group, kept across chunks. */
static void keep(Buf *kept, Slice line)
{
    buf_clear(kept);
    buf_append(kept, line);
}

static void print_whole(Proc *p, const Uniq *u, Slice line)
{
    out_write(p->out, line);
    out_char(p->out, u->delimiter);
}

/* Prints the line that came before, now that it is known whether the next one is the same. */
static void print_line(Proc *p, const Uniq *u, Slice line, bool same_follows, uint64_t repeats)
{
    bool wanted = repeats == 0 ? !u->repeated : same_follows ? u->all : !u->unique;
    if (!wanted)
        return;
    if (u->count)
        out_printf(p->out, "%7llu ", (unsigned long long)repeats + 1);
    print_whole(p, u, line);
}

static void filter(Proc *p, const Uniq *u, Input *in)
{
    Buf kept;
    Slice line;
    bool ended, first = true;
    uint64_t repeats = 0; /* of the kept line, so far */
    buf_init(&kept, &p->keep, BUF_MAX);
    if (!input_record(in, &line, &ended))
        return;
    keep(&kept, line);
    while (input_record(in, &line, &ended)) {
        proc_tick(p, 1);
        bool match = same(u, buf_slice(&kept), line);
        repeats += match;
        if (match && !u->all)
            continue;
        if (!match && repeats)
            first = false;
        else if (match && repeats == 1 && (u->delimit == GROUP_PREPEND || (u->delimit == GROUP_SEPARATE && !first)))
            out_char(p->out, u->delimiter);
        print_line(p, u, buf_slice(&kept), match, repeats);
        keep(&kept, line);
        if (!match)
            repeats = 0;
    }
    print_line(p, u, buf_slice(&kept), false, repeats);
}

static void show_groups(Proc *p, const Uniq *u, Input *in)
{
    Buf kept;
    Slice line;
    bool ended, any = false;
    buf_init(&kept, &p->keep, BUF_MAX);
    while (input_record(in, &line, &ended)) {
        proc_tick(p, 1);
        bool fresh = !any || !same(u, buf_slice(&kept), line);
        if (fresh && (any ? u->delimit != GROUP_NONE : u->delimit == GROUP_PREPEND || u->delimit == GROUP_BOTH))
            out_char(p->out, u->delimiter);
        print_whole(p, u, line);
        if (fresh)
            keep(&kept, line);
        any = true;
    }
    if (any && (u->delimit == GROUP_APPEND || u->delimit == GROUP_BOTH))
        out_char(p->out, u->delimiter);
}

static uint64_t number(Proc *p, const char *text, const char *what)
{
    uint64_t v;
    int err = parse_size(text, "", &v);
    if (err == -EINVAL)
        die(p, 1, "%s: invalid number of %s", text, what);
    return v;
}

static Grouping method(Proc *p, Args *args, bool all)
{
    static const Choice of_all[] = {{"none", GROUP_NONE}, {"prepend", GROUP_PREPEND}, {"separate", GROUP_SEPARATE}, {NULL, 0}};
    static const Choice of_group[] = {{"prepend", GROUP_PREPEND}, {"append", GROUP_APPEND}, {"separate", GROUP_SEPARATE}, {"both", GROUP_BOTH}, {NULL, 0}};
    if (!args->value)
        return all ? GROUP_NONE : GROUP_SEPARATE;
    return (Grouping)choose(p, args, all ? "--all-repeated" : "--group", args->value, all ? of_all : of_group);
}

static void open_output(Proc *p, const char *name)
{
    if (strcmp(name, "-") == 0)
        return;
    int fd = proc_open(p, name, V_WRITE | V_CREATE | V_TRUNC, 0666);
    if (fd < 0)
        die_errno(p, 1, fd, "%s", quotef(p, name));
    proc_dup2(p, fd, 1);
    proc_close(p, fd);
}

static void add_digit(Uniq *u, unsigned digit)
{
    if (!u->old_fields)
        u->fields = 0;
    u->old_fields = true;
    if (__builtin_mul_overflow(u->fields, 10u, &u->fields) || __builtin_add_overflow(u->fields, digit, &u->fields))
        u->fields = UINT64_MAX;
}

/* Takes operands of the form +N, the old way of saying -s N, out of the list. */
static int take_old_chars(Uniq *u, char **names, int count)
{
    int left = 0;
    for (int i = 0; i < count; i++)
        if (names[i][0] != '+' || parse_size(names[i], "", &u->chars))
            names[left++] = names[i];
    return left;
}

static void set_option(Proc *p, Uniq *u, Args *args, int id)
{
    u->count |= id == 'c';
    u->repeated |= id == 'd' || id == 'D' || id == OPT_ALL;
    u->unique |= id == 'u';
    u->ignore_case |= id == 'i';
    if (id == 'z')
        u->delimiter = 0;
    else if (id >= '0' && id <= '9')
        add_digit(u, (unsigned)id - '0');
    else if (id == 'f')
        u->fields = number(p, args->value, "fields to skip"), u->old_fields = false;
    else if (id == 's')
        u->chars = number(p, args->value, "bytes to skip");
    else if (id == 'w')
        u->most = number(p, args->value, "bytes to compare");
    else if (id == 'D')
        u->all = true, u->delimit = GROUP_NONE;
    else if (id == OPT_ALL)
        u->all = true, u->delimit = method(p, args, true);
    else if (id == OPT_GROUP)
        u->group = true, u->delimit = method(p, args, false);
}

static int uniq_main(Proc *p, Args *args)
{
    Uniq u = {.delimiter = '\n', .most = UINT64_MAX};
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(p, &u, args, id);
    int count;
    char **names = args_operands(args, &count);
    count = take_old_chars(&u, names, count);
    if (count > 2)
        usage_extra(p, args, names[2]);
    if (u.group && (u.count || u.repeated || u.unique))
        usage_fail(p, args, "--group is mutually exclusive with -c/-d/-D/-u");
    if (u.all && u.count)
        usage_fail(p, args, "printing all duplicated lines and repeat counts is meaningless");
    Input in = input_files(p, names, MIN(count, 1));
    in.delimiter = u.delimiter;
    VStat st;
    if (!input_open(&in))
        return 1;
    if (proc_fstat(p, in.fd, &st) == 0 && S_ISDIR(st.mode))
        die(p, 1, "error reading %s", quoteaf(p, in.name));
    if (count == 2)
        open_output(p, names[1]);
    if (u.group)
        show_groups(p, &u, &in);
    else
        filter(p, &u, &in);
    return input_status(&in);
}

COMMAND(uniq, "uniq [OPTION]... [INPUT [OUTPUT]]", "Filter adjacent matching lines from INPUT (or standard input), writing to OUTPUT (or standard output).", options, COMMAND_WRITES);
