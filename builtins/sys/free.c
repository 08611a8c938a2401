/* free: the shell's memory limit and what it uses of it. procps 4's table. */
#include "shared.h"

static const Option options[] = {
    {'b', "bytes", OPT_FLAG, "show output in bytes", NULL, 'b'}, {'k', "kibi", OPT_FLAG, "show output in kibibytes", NULL, 'k'}, {'m', "mebi", OPT_FLAG, "show output in mebibytes", NULL, 'm'},
    {'g', "gibi", OPT_FLAG, "show output in gibibytes", NULL, 'g'}, {0, "kilo", OPT_FLAG, "show output in kilobytes", NULL, 256}, {0, "mega", OPT_FLAG, "show output in megabytes", NULL, 257},
    {0, "giga", OPT_FLAG, "show output in gigabytes", NULL, 258}, {'h', "human", OPT_FLAG, "show human-readable output", NULL, 'h'}, {0, "si", OPT_FLAG, "use powers of 1000 not 1024", NULL, 259},
    {'l', "lohi", OPT_FLAG, "show detailed low and high memory statistics", NULL, 'l'}, {'t', "total", OPT_FLAG, "show total for RAM + swap", NULL, 't'}, {'w', "wide", OPT_FLAG, "wide output", NULL, 'w'}, OPTIONS_END,
};

static const char *shown(Proc *p, uint64_t bytes, uint64_t unit, bool human, bool si)
{
    if (!human)
        return mem_printf(&p->mem, "%llu", (unsigned long long)(bytes / unit));
    static const char units[] = "BKMGTP";
    double v = (double)bytes, step = si ? 1000 : 1024;
    size_t i = 0;
    while (v >= step && units[i + 1]) {
        v /= step;
        i++;
    }
    const char *tail = i && !si ? "i" : "";
    return v < 10 && i ? mem_printf(&p->mem, "%.1f%c%s", v, units[i], tail) : mem_printf(&p->mem, "%.0f%c%s", v, units[i], tail);
}

static void row(Proc *p, const char *name, const uint64_t *v, size_t n, uint64_t unit, bool human, bool si)
{
    out_printf(p->out, "%-7s", name);
    for (size_t i = 0; i < n; i++)
        out_printf(p->out, " %11s", shown(p, v[i], unit, human, si));
    out_char(p->out, '\n');
}

static int free_main(Proc *p, Args *args)
{
    uint64_t unit = 1024;
    bool human = false, si = false, total = false, wide = false, low_high = false;
    for (int id; (id = args_next(p, args)) >= 0;) {
        switch (id) {
        case 'b': unit = 1; break;
        case 'k': unit = 1024; break;
        case 'm': unit = 1024 * 1024; break;
        case 'g': unit = 1024 * 1024 * 1024; break;
        case 256: unit = 1000; break;
        case 257: unit = 1000000; break;
        case 258: unit = 1000000000; break;
        case 'h': human = true; break;
        case 259: si = true; break;
        case 't': total = true; break;
        case 'l': low_high = true; break;
        default: wide = true; break;
        }
    }
    uint64_t used = kern_budget(p->kernel)->used, all = kern_limit(p->kernel, LIMIT_MEMORY);
    all = all ? all : UINT64_C(1) << 40;
    uint64_t left = all > used ? all - used : 0;
    const uint64_t memory[] = {all, used, left, 0, 0, left}, wide_memory[] = {all, used, left, 0, 0, 0, left}, none[] = {0, 0, 0};
    out_str(p->out, wide ? "               total        used        free      shared     buffers       cache   available\n" : "               total        used        free      shared  buff/cache   available\n");
    row(p, "Mem:", wide ? wide_memory : memory, wide ? 7 : 6, unit, human, si);
    if (low_high) {
        row(p, "Low:", memory, 3, unit, human, si);
        row(p, "High:", none, 3, unit, human, si);
    }
    row(p, "Swap:", none, 3, unit, human, si);
    if (total)
        row(p, "Total:", memory, 3, unit, human, si);
    return 0;
}

COMMAND(free, "free [options]", "Display amount of free and used memory in the shell.", options, COMMAND_PURE, .package = "procps 4", .notes = "Memory is the shell's own limit; there is no swap.");
