/* df: report file system space usage. GNU coreutils 9.1. Sizes are the shell's quotas. */
#include "shared.h"

static const Option options[] = {
    {'a', "all", OPT_FLAG, "include pseudo, duplicate, inaccessible file systems", NULL, 'a'},
    {'B', "block-size", OPT_VALUE, "scale sizes by SIZE before printing them", "SIZE", 'B'},
    {'h', "human-readable", OPT_FLAG, "print sizes in powers of 1024 (e.g., 1023M)", NULL, 'h'},
    {'H', "si", OPT_FLAG, "print sizes in powers of 1000 (e.g., 1.1G)", NULL, 'H'},
    {'i', "inodes", OPT_FLAG, "list inode information instead of block usage", NULL, 'i'},
    {'k', NULL, OPT_FLAG, "like --block-size=1K", NULL, 'k'},
    {'l', "local", OPT_FLAG, "limit listing to local file systems", NULL, 'l'},
    {0, "no-sync", OPT_FLAG, "do not invoke sync before getting usage info (default)", NULL, 'l'},
    {0, "output", OPT_OPTIONAL, "use the output format defined by FIELD_LIST", "FIELD_LIST", 256},
    {'P', "portability", OPT_FLAG, "use the POSIX output format", NULL, 'P'},
    {0, "sync", OPT_FLAG, "invoke sync before getting usage info", NULL, 'l'},
    {0, "total", OPT_FLAG, "produce a grand total", NULL, 257},
    {'t', "type", OPT_VALUE, "limit listing to file systems of type TYPE", "TYPE", 't'},
    {'T', "print-type", OPT_FLAG, "print file system type", NULL, 'T'},
    {'x', "exclude-type", OPT_VALUE, "limit listing to file systems not of type TYPE", "TYPE", 'x'},
    {'v', NULL, OPT_FLAG, "(ignored)", NULL, 'l'},
    OPTIONS_END,
};

typedef enum { F_SOURCE, F_TYPE, F_ITOTAL, F_IUSED, F_IAVAIL, F_IPCENT, F_SIZE, F_USED, F_AVAIL, F_PCENT, F_FILE, F_TARGET, F_COUNT } Field;

static const struct { const char *name, *head; int width; bool right; } fields[F_COUNT] = {
    {"source", "Filesystem", 14, false}, {"fstype", "Type", 4, false}, {"itotal", "Inodes", 5, true}, {"iused", "IUsed", 5, true}, {"iavail", "IFree", 5, true}, {"ipcent", "IUse%", 4, true},
    {"size", "1K-blocks", 5, true}, {"used", "Used", 5, true}, {"avail", "Available", 5, true}, {"pcent", "Use%", 4, true}, {"file", "File", 0, false}, {"target", "Mounted on", 0, false}};

typedef struct Row { const char *cell[F_COUNT]; } Row;

typedef struct Df {
    Proc *p;
    BlockSize block;
    Field shown[32];
    size_t n, nrows;
    Row rows[66];
    bool inodes, posix, type;
    const char *only, *except;
    int status;
} Df;

static const char *percent(Proc *p, uint64_t used, uint64_t all)
{
    return all ? mem_printf(&p->keep, "%llu%%", (unsigned long long)((used * 100 + all - 1) / all)) : "-";
}

static void add_row(Df *d, const char *file, const char *source, const char *target, const VStatfs *s)
{
    Proc *p = d->p;
    if ((d->only && strcmp(d->only, "libshell") != 0) || (d->except && strcmp(d->except, "libshell") == 0) || d->nrows == ARRAY_LEN(d->rows))
        return;
    uint64_t used = s->bytes - MIN(s->bytes, s->bytes_free), iused = s->inodes - MIN(s->inodes, s->inodes_free);
    Row *r = &d->rows[d->nrows++];
    *r = (Row){{source, "libshell", mem_printf(&p->keep, "%llu", (unsigned long long)s->inodes), mem_printf(&p->keep, "%llu", (unsigned long long)iused),
                mem_printf(&p->keep, "%llu", (unsigned long long)s->inodes_free), percent(p, iused, s->inodes), mem_strdup(&p->keep, block_size_format(p, s->bytes, &d->block)),
                mem_strdup(&p->keep, block_size_format(p, used, &d->block)), mem_strdup(&p->keep, block_size_format(p, s->bytes_free, &d->block)), percent(p, used, s->bytes), file, target}};
}

static void choose_fields(Df *d, Args *args, const char *list)
{
    if (!list) {
        for (int f = 0; f < F_COUNT; f++)
            d->shown[d->n++] = (Field)f;
        return;
    }
    for (Slice s = slice_str(list); s.len && d->n < ARRAY_LEN(d->shown);) {
        size_t n = slice_find(s, ',');
        int f = 0;
        while (f < F_COUNT && !slice_is(slice(s.data, n), fields[f].name))
            f++;
        if (f == F_COUNT)
            usage_fail(d->p, args, "option --output: field %s unknown", quote(d->p, mem_copy(&d->p->mem, slice(s.data, n))));
        d->shown[d->n++] = (Field)f;
        s = slice_from(s, MIN(n + 1, s.len));
    }
}

static void default_fields(Df *d)
{
    static const Field sizes[] = {F_SIZE, F_USED, F_AVAIL, F_PCENT}, inodes[] = {F_ITOTAL, F_IUSED, F_IAVAIL, F_IPCENT};
    d->shown[d->n++] = F_SOURCE;
    if (d->type)
        d->shown[d->n++] = F_TYPE;
    for (size_t i = 0; i < 4; i++)
        d->shown[d->n++] = d->inodes ? inodes[i] : sizes[i];
    d->shown[d->n++] = F_TARGET;
}

/* "1K-blocks", "1M-blocks", "512B-blocks". */
static const char *blocks_of(Proc *p, uint64_t size)
{
    static const char units[] = "BKMGTP";
    size_t i = 0;
    while (size >= 1024 && size % 1024 == 0 && units[i + 1]) {
        size /= 1024;
        i++;
    }
    return mem_printf(&p->keep, "%llu%c-blocks", (unsigned long long)size, units[i]);
}

static const char *heading(const Df *d, Field f)
{
    if (f == F_SIZE && d->block.human)
        return "Size";
    if (f == F_AVAIL && d->block.human)
        return "Avail";
    if (f == F_PCENT && d->posix)
        return "Capacity";
    if (f == F_SIZE)
        return d->posix ? mem_printf(&d->p->keep, "%llu-blocks", (unsigned long long)d->block.size) : blocks_of(d->p, d->block.size);
    return fields[f].head;
}

static void print_table(Df *d)
{
    Output *o = d->p->out;
    size_t width[32];
    for (size_t k = 0; k < d->n; k++) {
        Field f = d->shown[k];
        width[k] = MAX((size_t)fields[f].width, strlen(heading(d, f)));
        for (size_t i = 0; i < d->nrows; i++)
            width[k] = MAX(width[k], strlen(d->rows[i].cell[f]));
    }
    for (size_t i = 0; i <= d->nrows; i++) {
        for (size_t k = 0; k < d->n; k++) {
            Field f = d->shown[k];
            const char *text = i ? d->rows[i - 1].cell[f] : heading(d, f);
            size_t pad = width[k] - strlen(text);
            if (k)
                out_char(o, ' ');
            if (fields[f].right)
                out_pad(o, pad, ' ');
            out_str(o, text);
            if (!fields[f].right && k + 1 < d->n)
                out_pad(o, pad, ' ');
        }
        out_char(o, '\n');
    }
}

static int df_main(Proc *p, Args *args)
{
    Df *d = mem_alloc0(&p->keep, sizeof *d);
    bool total = false, given = false;
    VStatfs s;
    d->p = p;
    d->block = block_size_default(p, "DF_BLOCK_SIZE");
    for (int id; (id = args_next(p, args)) >= 0;) {
        switch (id) {
        case 'B':
            if (!block_size_parse(p, args->value, &d->block))
                die_size(p, 1, option_as_given(p, args, 'B', "block-size"), args->value, -EINVAL);
            break;
        case 'h': d->block = (BlockSize){.size = 1, .human = 1024, .suffix = ""}; break;
        case 'H': d->block = (BlockSize){.size = 1, .human = 1000, .suffix = ""}; break;
        case 'i': d->inodes = true; break;
        case 'k': d->block = (BlockSize){.size = 1024, .suffix = ""}; break;
        case 256:
            given = true;
            choose_fields(d, args, args->value);
            break;
        case 'P': d->posix = true; break;
        case 257: total = true; break;
        case 't': d->only = args->value; break;
        case 'T': d->type = true; break;
        case 'x': d->except = args->value; break;
        default: break;
        }
    }
    if (given && (d->inodes || d->posix || d->type))
        usage_fail(p, args, "options %s and %s are mutually exclusive", d->inodes ? "-i" : d->posix ? "-P" : "-T", "--output");
    if (!given)
        default_fields(d);
    int n;
    char **v = args_operands(args, &n);
    for (int i = 0; i < n; i++) {
        int err = proc_statfs(p, v[i], &s);
        if (err) {
            warn_errno(p, err, "%s", quotef(p, v[i]));
            d->status = 1;
        } else {
            add_row(d, v[i], "libshell", "/", &s);
        }
    }
    if (!n && proc_statfs(p, "/", &s) == 0)
        add_row(d, "-", "libshell", "/", &s);
    if (!d->nrows) {
        if (!d->status)
            die(p, 1, "no file systems processed");
        return d->status;
    }
    if (total && proc_statfs(p, "/", &s) == 0)
        add_row(d, "-", "total", "-", &s);
    print_table(d);
    return d->status;
}

COMMAND(df, "df [OPTION]... [FILE]...", "Show information about the file system on which each FILE resides.", options, COMMAND_PURE, .package = "GNU coreutils 9.1",
        .notes = "One file system is shown, the shell's own; its size is the quota.");
