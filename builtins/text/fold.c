/* fold: wrap each input line to fit in specified width. GNU coreutils 9.1: widths are counted in bytes. */
#include "shared.h"

static const Option options[] = {
    {'b', "bytes", OPT_FLAG, "count bytes rather than columns", NULL, 0},
    {'s', "spaces", OPT_FLAG, "break at spaces", NULL, 0},
    {'w', "width", OPT_VALUE, "use WIDTH columns instead of 80", "WIDTH", 0},
    OPTION_NUMBERS,
    OPTIONS_END,
};

typedef struct {
    bool bytes, spaces;
    uint64_t width;
} Fold;

static uint64_t advance(const Fold *f, uint64_t column, char c)
{
    if (f->bytes)
        return column + 1;
    switch (c) {
    case '\b': return column ? column - 1 : 0;
    case '\r': return 0;
    case '\t': return column + 8 - column % 8;
    default: return column + 1;
    }
}

/* Where the line may end at the latest: behind its last blank, when that is asked for and there is one. */
static size_t break_at(const Fold *f, Slice line)
{
    if (f->spaces)
        for (size_t i = line.len; i-- > 0;)
            if (line.data[i] == ' ' || line.data[i] == '\t')
                return i + 1;
    return line.len;
}

static void fold_line(Proc *p, const Fold *f, Slice rest)
{
    uint64_t column = 0;
    for (size_t n = 0; n < rest.len;) {
        uint64_t next = advance(f, column, rest.data[n]);
        if (next <= f->width || n == 0) {
            column = next;
            n++;
            continue;
        }
        size_t cut = break_at(f, slice(rest.data, n));
        out_write(p->out, slice(rest.data, cut));
        out_char(p->out, '\n');
        rest = slice_from(rest, cut);
        column = 0;
        n = 0;
        proc_tick(p, 1);
    }
    out_write(p->out, rest);
}

static int fold_main(Proc *p, Args *args)
{
    Fold f = {.width = 80};
    for (int id; (id = args_next(p, args)) != -1;) {
        f.bytes |= id == 'b';
        f.spaces |= id == 's';
        const char *text = id == 'w' ? args->value : NULL;
        if (id >= '0' && id <= '9')
            text = mem_printf(&p->mem, "%c%s", id, args->value ? args->value : "");
        if (text) {
            int64_t v;
            int err = parse_int(text, &v);
            if (err == -ERANGE)
                die_errno(p, 1, EOVERFLOW, "invalid number of columns: %s", quote(p, text));
            if (err || v < 1)
                err == 0 ? die_errno(p, 1, ERANGE, "invalid number of columns: %s", quote(p, text)) : die(p, 1, "invalid number of columns: %s", quote(p, text));
            f.width = (uint64_t)v;
        }
    }
    Input in = input_first(p, args);
    for (; input_open(&in); input_next(&in)) {
        Slice line;
        bool ended;
        while (input_record(&in, &line, &ended)) {
            fold_line(p, &f, line);
            if (ended)
                out_char(p->out, '\n');
            proc_tick(p, 1 + line.len / 64);
        }
    }
    return input_status(&in);
}

COMMAND(fold, "fold [OPTION]... [FILE]...", "Wrap input lines in each FILE, writing to standard output.", options, COMMAND_PURE);
