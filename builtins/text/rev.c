/* rev: reverse the characters of each line. util-linux 2.38. */
#include "command.h"

static const Option options[] = {OPTION_HELP('h'), OPTION_VERSION('V'), OPTIONS_END};

static void print_reversed(Proc *p, Slice line, bool utf8)
{
    size_t end = line.len;
    while (end) {
        size_t start = end - 1;
        while (utf8 && start && ((unsigned char)line.data[start] & 0xc0) == 0x80)
            start--;
        out_write(p->out, (Slice){line.data + start, end - start});
        end = start;
    }
}

/* A line that is not text ends the file, as the wide-character reader of the original does. */
static bool reverse_file(Proc *p, Input *in, bool utf8)
{
    Slice line;
    bool ended;
    for (unsigned long long number = 0; input_record(in, &line, &ended); number++) {
        proc_tick(p, 1);
        if (utf8 && !utf8_valid(line)) {
            warn_errno(p, EILSEQ, "%s: %llu", in->is_stdin ? "stdin" : in->name, number);
            return false;
        }
        print_reversed(p, line, utf8);
        if (ended)
            out_char(p->out, '\n');
    }
    return true;
}

static int rev_main(Proc *p, Args *args)
{
    while (args_next(p, args) != -1)
        ;
    bool utf8 = locale_utf8(p), ok = true;
    Input in = input_first(p, args);
    in.open_format = "cannot open %s";
    for (; input_open(&in); input_next(&in))
        ok &= reverse_file(p, &in, utf8);
    return input_status(&in) || !ok;
}

COMMAND(rev, "rev [options] [<file> ...]", "Reverse lines characterwise.", options, COMMAND_PURE, .package = "util-linux 2.38");
