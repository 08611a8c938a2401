/* free: the shell's memory limit and what it uses of it. procps 4's table. */
#include "shared.h"

enum { KILO = 256, MEGA, GIGA, TERA, PETA, TEBI, PEBI, SI };

static const Option options[] = {
    {'b', "bytes", OPT_FLAG, "show output in bytes", NULL, 0},
    {0, "kilo", OPT_FLAG, "show output in kilobytes", NULL, KILO},
    {0, "mega", OPT_FLAG, "show output in megabytes", NULL, MEGA},
    {0, "giga", OPT_FLAG, "show output in gigabytes", NULL, GIGA},
    {0, "tera", OPT_FLAG, "show output in terabytes", NULL, TERA},
    {0, "peta", OPT_FLAG, "show output in petabytes", NULL, PETA},
    {'k', "kibi", OPT_FLAG, "show output in kibibytes", NULL, 0},
    {'m', "mebi", OPT_FLAG, "show output in mebibytes", NULL, 0},
    {'g', "gibi", OPT_FLAG, "show output in gibibytes", NULL, 0},
    {0, "tebi", OPT_FLAG, "show output in tebibytes", NULL, TEBI},
    {0, "pebi", OPT_FLAG, "show output in pebibytes", NULL, PEBI},
    {'h', "human", OPT_FLAG, "show human-readable output", NULL, 0},
    {0, "si", OPT_FLAG, "use powers of 1000 not 1024", NULL, SI},
    {'l', "lohi", OPT_FLAG, "show detailed low and high memory statistics", NULL, 0},
    {'t', "total", OPT_FLAG, "show total for RAM + swap", NULL, 0},
    {'v', "committed", OPT_FLAG, "show committed memory and commit limit", NULL, 0},
    {'s', "seconds", OPT_VALUE, "repeat printing every N seconds", "N", 0},
    {'c', "count", OPT_VALUE, "repeat printing N times, then exit", "N", 0},
    {'w', "wide", OPT_FLAG, "wide output", NULL, 0},
    OPTION_VERSION('V'),
    OPTIONS_END,
};

typedef struct {
    Proc *p;
    uint64_t unit;
    bool human, si, total, wide, low_high, committed;
    int64_t pause; /* nanoseconds; 0: once */
    int64_t times;
} Free;

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

static void row(const Free *f, const char *name, const uint64_t *v, size_t n)
{
    out_printf(f->p->out, "%-7s", name);
    for (size_t i = 0; i < n; i++)
        out_printf(f->p->out, " %11s", shown(f->p, v[i], f->unit, f->human, f->si));
    out_char(f->p->out, '\n');
}

static void table(const Free *f)
{
    Proc *p = f->p;
    uint64_t used = kern_budget(p->kernel)->used, all = kern_limit(p->kernel, LIMIT_MEMORY);
    all = all ? all : UINT64_C(1) << 40;
    uint64_t left = all > used ? all - used : 0;
    const uint64_t memory[] = {all, used, left, 0, 0, left}, wide[] = {all, used, left, 0, 0, 0, left}, none[] = {0, 0, 0};
    out_str(p->out, f->wide ? "               total        used        free      shared     buffers       cache   available\n" : "               total        used        free      shared  buff/cache   available\n");
    row(f, "Mem:", f->wide ? wide : memory, f->wide ? 7 : 6);
    if (f->low_high) {
        row(f, "Low:", memory, 3);
        row(f, "High:", none, 3);
    }
    row(f, "Swap:", none, 3);
    if (f->total)
        row(f, "Total:", memory, 3);
    if (f->committed)
        row(f, "Comm:", memory, 3);
}

static void set_pause(Free *f, const char *text)
{
    double seconds;
    if (!parse_duration(text, &seconds))
        die_errno(f->p, 1, EINVAL, "seconds argument failed: '%s'", text);
    if (seconds <= 0)
        die(f->p, 1, "seconds argument `%s' is not positive number", text);
    f->pause = (int64_t)(MIN(seconds, 1e6) * 1e9);
}

static void set_times(Free *f, const char *text)
{
    if (parse_int(text, &f->times) != 0)
        die(f->p, 1, "failed to parse count argument: '%s'", text);
    if (f->times < 1 || f->times > INT32_MAX)
        die_errno(f->p, 1, ERANGE, "failed to parse count argument: '%s'", text);
}

static void set_option(Free *f, const Args *args, int id)
{
    static const struct { int id; uint64_t unit; } units[] = {
        {'b', 1}, {'k', 1 << 10}, {'m', 1 << 20}, {'g', 1 << 30}, {TEBI, UINT64_C(1) << 40}, {PEBI, UINT64_C(1) << 50},
        {KILO, 1000}, {MEGA, 1000000}, {GIGA, 1000000000}, {TERA, UINT64_C(1000000000000)}, {PETA, UINT64_C(1000000000000000)},
    };
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (units[i].id == id)
            f->unit = units[i].unit;
    switch (id) {
    case 'h': f->human = true; break;
    case SI: f->si = true; break;
    case 't': f->total = true; break;
    case 'l': f->low_high = true; break;
    case 'v': f->committed = true; break;
    case 'w': f->wide = true; break;
    case 's': set_pause(f, args->value); break;
    case 'c': set_times(f, args->value); break;
    default: break;
    }
}

static int free_main(Proc *p, Args *args)
{
    Free f = {.p = p, .unit = 1024, .times = 0};
    for (int id; (id = args_next(p, args)) >= 0;)
        set_option(&f, args, id);
    if (f.times && !f.pause)
        f.pause = 1000000000;
    for (int64_t n = 1;; n++) {
        table(&f);
        if (!f.pause || n == f.times)
            return 0;
        out_char(p->out, '\n');
        output_flush(p->out);
        proc_sleep(p, f.pause);
    }
}

COMMAND(free, "free [options]", "Display amount of free and used memory in the shell.", options, COMMAND_PURE, .package = "procps 4", .notes = "Memory is the shell's own limit; there is no swap.");
