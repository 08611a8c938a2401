/* comm: compare two sorted files line by line. GNU coreutils 9.1. */
#include "command.h"

enum { OPT_CHECK = 256, OPT_NO_CHECK, OPT_DELIMITER, OPT_TOTAL };

static const Option options[] = {
    {'1', NULL, OPT_FLAG, "suppress column 1 (lines unique to FILE1)", NULL, 0},
    {'2', NULL, OPT_FLAG, "suppress column 2 (lines unique to FILE2)", NULL, 0},
    {'3', NULL, OPT_FLAG, "suppress column 3 (lines that appear in both files)", NULL, 0},
    {0, "check-order", OPT_FLAG, "check that the input is correctly sorted, even if all input lines are pairable", NULL, OPT_CHECK},
    {0, "nocheck-order", OPT_FLAG, "do not check that the input is correctly sorted", NULL, OPT_NO_CHECK},
    {0, "output-delimiter", OPT_VALUE, "separate columns with STR", "STR", OPT_DELIMITER},
    {0, "total", OPT_FLAG, "output a summary", NULL, OPT_TOTAL},
    {'z', "zero-terminated", OPT_FLAG, "line delimiter is NUL, not newline", NULL, 0},
    OPTIONS_END,
};

typedef enum { CHECK_DEFAULT, CHECK_ALWAYS, CHECK_NEVER } Check;

/* The line at hand and the two before it, by turns. */
typedef struct {
    Input in;
    Buf lines[3];
    unsigned at;      /* of the line at hand */
    unsigned read;
    bool more, warned;
} Source;

typedef struct {
    Proc *p;
    Source side[2];
    bool hidden[3], total, unpaired;
    Check check;
    Slice separator;
    char delimiter;
    uint64_t totals[3];
} Comm;

static void check_order(Comm *c, int f, const Buf *before, const Buf *after)
{
    Source *s = &c->side[f];
    if (c->check == CHECK_NEVER || s->warned || !(c->check == CHECK_ALWAYS || c->unpaired) || slice_cmp(buf_slice(before), buf_slice(after)) <= 0)
        return;
    if (c->check == CHECK_ALWAYS)
        die(c->p, 1, "file %d is not in sorted order", f + 1);
    warn(c->p, "file %d is not in sorted order", f + 1);
    s->warned = true;
}

/* At the end the last two lines are looked at once more: an unpaired line may have come since. */
static void step(Comm *c, int f)
{
    Source *s = &c->side[f];
    unsigned next = (s->at + 1) % 3;
    Slice line;
    bool ended;
    s->more = input_record(&s->in, &line, &ended);
    if (input_status(&s->in))
        proc_fail(c->p, 1);
    if (s->more) {
        buf_clear(&s->lines[next]);
        buf_append(&s->lines[next], line);
        if (s->read++)
            check_order(c, f, &s->lines[s->at], &s->lines[next]);
        s->at = next;
    } else if (s->read >= 2) {
        check_order(c, f, &s->lines[(s->at + 2) % 3], &s->lines[s->at]);
    }
}

static void print(Comm *c, Slice line, int column)
{
    Output *o = c->p->out;
    c->totals[column]++;
    if (c->hidden[column])
        return;
    for (int i = 0; i < column; i++)
        if (!c->hidden[i])
            out_write(o, c->separator);
    out_write(o, line);
    out_char(o, c->delimiter);
}

static void merge(Comm *c)
{
    Source *a = &c->side[0], *b = &c->side[1];
    step(c, 0);
    step(c, 1);
    while (a->more || b->more) {
        Slice left = buf_slice(&a->lines[a->at]), right = buf_slice(&b->lines[b->at]);
        int order = !a->more ? 1 : !b->more ? -1 : slice_cmp(left, right);
        c->unpaired |= order != 0;
        print(c, order > 0 ? right : left, order == 0 ? 2 : order > 0);
        if (order <= 0)
            step(c, 0);
        if (order >= 0)
            step(c, 1);
        proc_tick(c->p, 1);
    }
}

static void open_sides(Comm *c, char **names)
{
    for (int f = 0; f < 2; f++) {
        Source *s = &c->side[f];
        int fd = strcmp(names[f], "-") == 0 ? 0 : proc_open(c->p, names[f], V_READ, 0);
        if (fd < 0)
            die_errno(c->p, 1, fd, "%s", quotef(c->p, names[f]));
        s->in = input_fd(c->p, fd, names[f]);
        s->in.delimiter = c->delimiter;
        for (int i = 0; i < 3; i++)
            buf_init(&s->lines[i], &c->p->keep, BUF_MAX);
    }
}

static void set_option(Comm *c, int id, const char *value)
{
    if (id >= '1' && id <= '3')
        c->hidden[id - '1'] = true;
    else if (id == 'z')
        c->delimiter = 0;
    else if (id == OPT_CHECK)
        c->check = CHECK_ALWAYS;
    else if (id == OPT_NO_CHECK)
        c->check = CHECK_NEVER;
    else if (id == OPT_TOTAL)
        c->total = true;
    else if (c->separator.data && !slice_is(c->separator, value))
        die(c->p, 1, "multiple output delimiters specified");
    else
        c->separator = slice(value, *value ? strlen(value) : 1);
}

static int comm_main(Proc *p, Args *args)
{
    Comm c = {.p = p, .delimiter = '\n'};
    for (int id; (id = args_next(p, args)) >= 0;)
        set_option(&c, id, args->value);
    int count;
    char **names = args_operands(args, &count);
    if (!c.separator.data)
        c.separator = SLICE("\t");
    if (count < 2)
        usage_missing(p, args, count ? args->argv[args->argc - 1] : NULL);
    if (count > 2)
        usage_extra(p, args, names[2]);
    open_sides(&c, names);
    merge(&c);
    if (c.total) {
        for (int i = 0; i < 3; i++) {
            out_int(p->out, (int64_t)c.totals[i]);
            out_write(p->out, c.separator);
        }
        out_str(p->out, "total");
        out_char(p->out, c.delimiter);
    }
    if (c.side[0].warned || c.side[1].warned)
        die(p, 1, "input is not in sorted order");
    return output_status(p);
}

COMMAND(comm, "comm [OPTION]... FILE1 FILE2", "Compare sorted files FILE1 and FILE2 line by line.", options, COMMAND_PURE, .package = "GNU coreutils 9.1",
        .notes = "When FILE1 or FILE2 (not both) is -, read standard input.\n"
                 "With no options, produce three-column output.  Column one contains lines unique to FILE1, column two contains lines unique to FILE2,\n"
                 "and column three contains lines common to both files.");
