/* yes: print a line for ever. GNU coreutils 9.1. The line is repeated in one buffer that is passed on by reference. */
#include "command.h"

static const Option options[] = {OPTIONS_END};

enum { BLOCK = 32768 };

static int yes_main(Proc *p, Args *args)
{
    Buf line;
    while (args_next(p, args) != -1)
        ;
    int n;
    char **words = args_operands(args, &n);
    buf_init(&line, &p->keep, BUF_MAX);
    for (int i = 0; i < n; i++)
        buf_printf(&line, "%s%s", i ? " " : "", words[i]);
    buf_append(&line, n ? SLICE("\n") : SLICE("y\n"));
    size_t once = line.len, times = once < BLOCK ? BLOCK / once : 1;
    Chunk *chunk = chunk_new(kern_gen(p->kernel), once * times);
    if (!chunk)
        die_errno(p, 1, ENOMEM, "memory exhausted");
    for (size_t i = 0; i < times; i++)
        memcpy(chunk->data + i * once, line.data, once);
    output_flush(p->out);
    for (;;) {
        ssize_t r = proc_write_chunk(p, 1, (Slice){chunk->data, once * times}, chunk);
        if (r < 0)
            die_errno(p, 1, (int)r, "standard output");
    }
}

COMMAND(yes, "yes [STRING]...", "Repeatedly output a line with all specified STRING(s), or 'y'.", options, COMMAND_PURE);
