/* sponge: soak up standard input and write to a file. moreutils 0.67. */
#include "command.h"

static const Option options[] = {
    {'a', NULL, OPT_FLAG, "append to the file instead of overwriting it", NULL, 0},
    {'h', NULL, OPT_FLAG, "display this help", NULL, 0},
    OPTIONS_END,
};

static int sponge_main(Proc *p, Args *args)
{
    bool append = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        append |= id == 'a';
        if (id == 'h') {
            out_str(p->out, "sponge [-a] <file>: soak up all input from stdin and write it to <file>\n");
            return 0;
        }
    }
    int n;
    char **v = args_operands(args, &n);
    Slice all = read_all(p, 0);
    if (n == 0) {
        out_write(p->out, all);
        return 0;
    }
    int fd = proc_open(p, v[0], V_WRITE | V_CREATE | (append ? V_APPEND : V_TRUNC), 0666);
    if (fd < 0) {
        out_printf(p->err, "error opening output file: %s\n", error_text(fd));
        output_flush(p->err);
        return 1;
    }
    ssize_t r = all.len ? proc_write(p, fd, all) : 0;
    if (r < 0)
        die_errno(p, 1, (int)r, "error writing buffer to output file");
    proc_close(p, fd);
    return 0;
}

COMMAND(sponge, "sponge [-a] <file>", "Soak up all input from stdin and write it to <file>.", options, COMMAND_WRITES, .package = "moreutils 0.67");
