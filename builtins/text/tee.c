/* tee: copy standard input to each file, and to standard output. GNU coreutils 9.1. */
#include "command.h"
#include "shared.h"

enum { OPT_ERROR = 256 };

static const Option options[] = {
    {'a', "append", OPT_FLAG, "append to the given FILEs, do not overwrite", NULL, 0},
    {'i', "ignore-interrupts", OPT_FLAG, "ignore interrupt signals", NULL, 0},
    {'p', NULL, OPT_FLAG, "operate in a more appropriate mode with pipes", NULL, 0},
    {0, "output-error", OPT_OPTIONAL, "set behavior on write error: warn, warn-nopipe, exit, exit-nopipe", "MODE", OPT_ERROR},
    OPTIONS_END,
};

typedef struct {
    int fd; /* < 0: given up */
    const char *name;
} Target;

/* Pipe errors are told apart from others: `quiet` modes say nothing of them. */
typedef struct {
    bool warn_pipe, exit_pipe, exit_other, keep_pipe;
} Mode;

static Mode parse_mode(Proc *p, Args *args, const char *value)
{
    enum { WARN, WARN_NOPIPE, EXIT, EXIT_NOPIPE };
    static const Choice words[] = {{"warn", WARN}, {"warn-nopipe", WARN_NOPIPE}, {"exit", EXIT}, {"exit-nopipe", EXIT_NOPIPE}, {NULL, 0}};
    int word = value ? choose(p, args, "--output-error", value, words) : WARN_NOPIPE;
    bool exits = word == EXIT || word == EXIT_NOPIPE;
    return (Mode){.warn_pipe = word == WARN || word == EXIT, .exit_pipe = word == EXIT, .exit_other = exits, .keep_pipe = true};
}

enum { SIGNAL_PIPE = 13 };

static int tee_main(Proc *p, Args *args)
{
    Mode mode = {0};
    bool append = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        append |= id == 'a';
        if (id == 'p' || id == OPT_ERROR)
            mode = parse_mode(p, args, id == 'p' ? NULL : args->value);
    }
    if (mode.keep_pipe)
        p->ignored |= SIGNAL_BIT(SIGNAL_PIPE);
    int count, status = 0;
    char **names = args_operands(args, &count);
    Target *targets = mem_array(&p->keep, (size_t)count + 1, Target);
    targets[0] = (Target){1, "standard output"};
    for (int i = 0; i < count; i++) {
        int fd = proc_open(p, names[i], V_WRITE | V_CREATE | (append ? V_APPEND : V_TRUNC), 0666);
        targets[i + 1] = (Target){fd, names[i]};
        if (fd < 0) {
            warn_errno(p, fd, "%s", quotef(p, names[i]));
            status = 1;
        }
    }
    Slice chunk;
    Chunk *holder;
    while (proc_read_chunk(p, 0, 1 << 20, &chunk, &holder) > 0)
        for (int i = 0; i <= count; i++) {
            ssize_t n = targets[i].fd < 0 ? 0 : proc_write_chunk(p, targets[i].fd, chunk, holder);
            if (n >= 0)
                continue;
            targets[i].fd = -1;
            bool pipe = n == -EPIPE;
            if (!pipe || mode.warn_pipe) {
                warn_errno(p, (int)n, "%s", quotef(p, targets[i].name));
                status = 1;
            }
            if (pipe ? mode.exit_pipe : mode.exit_other)
                return 1;
        }
    return status;
}

COMMAND(tee, "tee [OPTION]... [FILE]...", "Copy standard input to each FILE, and also to standard output.", options, COMMAND_WRITES);
