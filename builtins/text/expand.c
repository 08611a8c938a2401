/* expand, unexpand: convert tabs to spaces and back. GNU coreutils 9.1. */
#include "shared.h"

enum { FIRST_ONLY = 256 };

static const Option expand_options[] = {
    {'i', "initial", OPT_FLAG, "do not convert tabs after non blanks", NULL, 0},
    {'t', "tabs", OPT_VALUE, "have tabs N characters apart, or a list of positions", "N", 0},
    OPTION_NUMBERS,
    OPTIONS_END,
};

static const Option unexpand_options[] = {
    {'a', "all", OPT_FLAG, "convert all blanks, instead of just initial blanks", NULL, 0},
    {0, "first-only", OPT_FLAG, "convert only leading sequences of blanks (overrides -a)", NULL, FIRST_ONLY},
    {'t', "tabs", OPT_VALUE, "have tabs N characters apart, or a list of positions (enables -a)", "N", 0},
    {',', NULL, OPT_FLAG, NULL, NULL, 0},
    OPTION_DIGITS,
    OPTIONS_END,
};

typedef struct {
    TabStops stops;
    bool all, first_only;
    Buf digits;
} Tabs;

static void read_options(Proc *p, Args *args, Tabs *t, bool backward)
{
    buf_init(&t->digits, &p->keep, 4096);
    t->all = !backward;
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == 'i')
            t->all = false;
        else if (id == 'a')
            t->all = true;
        else if (id == FIRST_ONLY)
            t->first_only = true;
        else if (id == 't') {
            tab_stops_parse(p, &t->stops, args->value);
            t->all |= backward;
        } else if (!backward) {
            tab_stops_parse(p, &t->stops, mem_printf(&p->mem, "%c%s", id, args->value ? args->value : ""));
        } else {
            buf_char(&t->digits, (char)id);
            t->all |= backward;
        }
    }
    if (t->digits.len)
        tab_stops_parse(p, &t->stops, t->digits.data);
    if (t->first_only)
        t->all = false;
    tab_stops_finish(p, &t->stops);
}

static void expand_line(Proc *p, const Tabs *t, Slice line)
{
    uint64_t column = 0;
    bool convert = true, last;
    for (size_t i = 0; i < line.len; i++) {
        char c = line.data[i];
        if (c == '\t' && convert) {
            uint64_t next = tab_stop_after(&t->stops, column, &last);
            out_pad(p->out, next - column, ' ');
            column = next;
        } else {
            column = c == '\b' ? column - (column > 0) : column + 1;
            out_char(p->out, c);
        }
        convert &= t->all || c == ' ' || c == '\t';
    }
}

/* Blanks are held back until it is known whether a tab can stand for them. */
static void unexpand_line(Proc *p, const Tabs *t, Slice line)
{
    MemMark mark = mem_mark(&p->mem);
    char *held = mem_alloc(&p->mem, line.len + 1);
    size_t pending = 0;
    uint64_t column = 0;
    bool convert = true, before_blank = true, one_before_stop = false, last;
    for (size_t i = 0; i <= line.len; i++) {
        char c = i < line.len ? line.data[i] : '\n';
        bool blank = c == ' ' || c == '\t';
        if (convert && blank) {
            uint64_t next = tab_stop_after(&t->stops, column, &last);
            if (last) {
                convert = false;
            } else if (c == '\t') {
                column = next;
                if (pending)
                    held[0] = '\t';
            } else {
                column++;
                if (!(before_blank && column == next)) {
                    if (column == next)
                        one_before_stop = true;
                    held[pending++] = c;
                    before_blank = true;
                    continue;
                }
                held[0] = c = '\t';
            }
            if (!last)
                pending = one_before_stop;
        } else if (convert && c == '\b') {
            column -= column > 0;
        } else if (convert) {
            column++;
        }
        if (pending) {
            if (pending > 1 && one_before_stop)
                held[0] = '\t';
            out_write(p->out, slice(held, pending));
            pending = 0;
            one_before_stop = false;
        }
        before_blank = blank;
        convert &= t->all || blank;
        if (i < line.len)
            out_char(p->out, c);
    }
    mem_reset(&p->mem, mark);
}

static int each_line(Proc *p, Args *args, const Tabs *t, void (*convert)(Proc *, const Tabs *, Slice))
{
    Input in = input_first(p, args);
    for (; input_open(&in); input_next(&in)) {
        Slice line;
        bool ended;
        while (input_record(&in, &line, &ended)) {
            convert(p, t, line);
            if (ended)
                out_char(p->out, '\n');
            proc_tick(p, 1 + line.len / 64);
        }
    }
    return input_status(&in);
}

static int expand_main(Proc *p, Args *args)
{
    Tabs t = {0};
    read_options(p, args, &t, false);
    return each_line(p, args, &t, expand_line);
}

static int unexpand_main(Proc *p, Args *args)
{
    Tabs t = {0};
    read_options(p, args, &t, true);
    return each_line(p, args, &t, unexpand_line);
}

COMMAND(expand, "expand [OPTION]... [FILE]...", "Convert tabs in each FILE to spaces, writing to standard output.", expand_options, COMMAND_PURE);
COMMAND(unexpand, "unexpand [OPTION]... [FILE]...", "Convert blanks in each FILE to tabs, writing to standard output.", unexpand_options, COMMAND_PURE);
