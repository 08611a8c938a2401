/* nproc: the number of processors. GNU coreutils 9.1; a shell runs on one, whatever the host has. */
#include "command.h"

enum { OPT_ALL = 256, OPT_IGNORE };

static const Option options[] = {
    {0, "all", OPT_FLAG, "print the number of installed processors", NULL, OPT_ALL},
    {0, "ignore", OPT_VALUE, "if possible, exclude N processing units", "N", OPT_IGNORE},
    OPTIONS_END,
};

/* OMP_NUM_THREADS, a list whose first number counts, up to OMP_THREAD_LIMIT; 0: does not say. */
static uint64_t threads_named(Proc *p, const char *name)
{
    const char *text = proc_getenv(p, name);
    int64_t v;
    if (!text)
        return 0;
    text += strspn(text, " \t\n");
    size_t n = strspn(text, "0123456789");
    return n && !parse_int(mem_copy(&p->mem, slice(text, n)), &v) && v > 0 && (!text[n] || strchr(" ,", text[n])) ? (uint64_t)v : 0;
}

static int nproc_main(Proc *p, Args *args)
{
    uint64_t ignored = 0, count = threads_named(p, "OMP_NUM_THREADS"), most = threads_named(p, "OMP_THREAD_LIMIT");
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == OPT_ALL)
            count = most = 0;
        if (id == OPT_IGNORE && parse_size(args->value, "", &ignored) == -EINVAL)
            die(p, 1, "invalid number: %s", quote(p, args->value));
    }
    int n;
    char **v = args_operands(args, &n);
    if (n)
        usage_extra(p, args, v[0]);
    count = most ? MIN(MAX(count, (uint64_t)1), most) : MAX(count, (uint64_t)1);
    out_printf(p->out, "%llu\n", (unsigned long long)(count > ignored ? count - ignored : 1));
    return 0;
}

COMMAND(nproc, "nproc [OPTION]...", "Print the number of processing units available to the current process.", options, COMMAND_PURE,
        .notes = "1 unless OMP_NUM_THREADS says otherwise: a shell runs on one processor.");
