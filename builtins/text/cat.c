/* cat: print files, one after the other.
 *
 * GNU coreutils 9.1. Without options chunks are passed on by reference; with them, line by line.
 */
#include <sys/stat.h>

#include "command.h"

typedef struct {
    bool number, number_nonblank, squeeze, ends, tabs, nonprinting;
    int64_t line;
    bool at_start;    /* of a line, also across files */
    bool last_blank;
    bool pending_cr;  /* a CR at the end of a chunk, under -E */
} Cat;

static const Option options[] = {
    {'b', "number-nonblank", OPT_FLAG, "number nonempty output lines, overrides -n", NULL, 0},
    {'n', "number", OPT_FLAG, "number all output lines", NULL, 0},
    {'s', "squeeze-blank", OPT_FLAG, "suppress repeated empty output lines", NULL, 0},
    {'v', "show-nonprinting", OPT_FLAG, "use ^ and M- notation, except for LFD and TAB", NULL, 0},
    {'E', "show-ends", OPT_FLAG, "display $ at end of each line", NULL, 0},
    {'T', "show-tabs", OPT_FLAG, "display TAB characters as ^I", NULL, 0},
    {'A', "show-all", OPT_FLAG, "equivalent to -vET", NULL, 0},
    {'e', NULL, OPT_FLAG, "equivalent to -vE", NULL, 0},
    {'t', NULL, OPT_FLAG, "equivalent to -vT", NULL, 0},
    {'u', NULL, OPT_FLAG, "(ignored)", NULL, 0},
    OPTIONS_END,
};

static void set_option(Cat *c, int id)
{
    c->nonprinting |= id == 'A' || id == 'e' || id == 't' || id == 'v';
    c->ends |= id == 'A' || id == 'e' || id == 'E';
    c->tabs |= id == 'A' || id == 't' || id == 'T';
    c->number |= id == 'n' || id == 'b';
    c->number_nonblank |= id == 'b';
    c->squeeze |= id == 's';
}

static void show_byte(Output *out, const Cat *c, unsigned char b)
{
    if (b == '\t' ? !c->tabs : !c->nonprinting) {
        out_char(out, (char)b);
        return;
    }
    if (b >= 128) {
        out_str(out, "M-");
        b = (unsigned char)(b - 128);
    }
    if (b < 32 || b == 127) {
        out_char(out, '^');
        out_char(out, (char)(b ^ 64));
    } else {
        out_char(out, (char)b);
    }
}

static void begin_line(Output *out, Cat *c, bool blank)
{
    if (c->number && !(blank && c->number_nonblank)) {
        char digits[24];
        size_t n;
        const char *at = format_int(++c->line, digits, &n);
        out_pad(out, n < 6 ? 6 - n : 0, ' ');
        out_write(out, (Slice){at, n});
        out_char(out, '\t');
    }
    c->at_start = false;
}

static void end_line(Output *out, Cat *c)
{
    if (c->at_start) {
        if (c->squeeze && c->last_blank)
            return;
        c->last_blank = true;
        begin_line(out, c, true);
    } else {
        c->last_blank = false;
    }
    if (c->pending_cr) {
        out_str(out, c->ends ? "^M" : "\r");
        c->pending_cr = false;
    }
    out_str(out, c->ends ? "$\n" : "\n");
    c->at_start = true;
}

static void flush_cr(Output *out, Cat *c)
{
    if (c->pending_cr)
        out_char(out, '\r');
    c->pending_cr = false;
}

static void show_chunk(Output *out, Cat *c, Slice chunk)
{
    bool whole_lines = !(c->nonprinting || c->tabs || c->ends); /* bytes are shown as they are */
    for (size_t i = 0; i < chunk.len; i++) {
        unsigned char b = (unsigned char)chunk.data[i];
        if (b == '\n') {
            end_line(out, c);
            continue;
        }
        flush_cr(out, c);
        if (c->at_start)
            begin_line(out, c, false);
        if (whole_lines) {
            size_t n = slice_find(slice_from(chunk, i), '\n');
            out_write(out, (Slice){chunk.data + i, n});
            i += n - 1;
            continue;
        }
        if (b == '\r' && c->ends && !c->nonprinting)
            c->pending_cr = true;
        else
            show_byte(out, c, b);
    }
}

/* Appending a file to itself would not end: what can still be read from the output file is refused. */
static bool is_output(Proc *p, const Input *in, const VStat *out)
{
    VStat st;
    if (!S_ISREG(out->mode) || proc_fstat(p, in->fd, &st) || st.dev != out->dev || st.ino != out->ino)
        return false;
    int64_t at = proc_seek(p, in->fd, 0, SEEK_CUR);
    if (at < 0 || (uint64_t)at >= st.size)
        return false;
    warn(p, "%s: input file is output file", quotef(p, in->name));
    return true;
}

static void copy(Proc *p, Cat *c, Input *in)
{
    bool plain = !(c->number || c->squeeze || c->ends || c->tabs || c->nonprinting);
    for (Slice chunk; !p->out->error && input_chunk(in, &chunk);)
        if (plain)
            out_chunk(p->out, chunk, input_holder(in));
        else
            show_chunk(p->out, c, chunk);
}

static int cat_main(Proc *p, Args *args)
{
    Cat c = {.at_start = true};
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&c, id);
    Input in = input_first(p, args);
    VStat out, st;
    bool read_stdin = false;
    int err = proc_fstat(p, 1, &out), status = 0;
    if (err)
        die_errno(p, 1, err, "standard output");
    for (; input_open(&in); input_next(&in)) {
        read_stdin |= in.is_stdin;
        if (is_output(p, &in, &out))
            status = 1;
        else
            copy(p, &c, &in);
        if (p->out->error)
            return 1;
    }
    flush_cr(p->out, &c);
    if (read_stdin && (err = proc_fstat(p, 0, &st)) != 0)
        die_errno(p, 1, err, "closing standard input");
    return status | input_status(&in);
}

COMMAND(cat, "cat [OPTION]... [FILE]...", "Concatenate FILE(s) to standard output.", options, COMMAND_PURE);
