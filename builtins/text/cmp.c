/* cmp: compare two files byte by byte. GNU diffutils 3.8. */
#include "command.h"

static const Option options[] = {
    {'b', "print-bytes", OPT_FLAG, "print differing bytes", NULL, 0},
    {'i', "ignore-initial", OPT_VALUE, "skip first SKIP bytes of both inputs, or SKIP1:SKIP2", "SKIP", 0},
    {'l', "verbose", OPT_FLAG, "output byte numbers and differing byte values", NULL, 0},
    {'n', "bytes", OPT_VALUE, "compare at most LIMIT bytes", "LIMIT", 0},
    {'s', "quiet", OPT_FLAG, "suppress all normal output", NULL, 0},
    {0, "silent", OPT_FLAG, NULL, NULL, 's'},
    OPTION_VERSION('v'),
    OPTIONS_END,
};

typedef struct {
    Proc *p;
    const char *names[2];
    int fds[2];
    uint64_t skip[2], limit;
    bool bytes, all, silent;
} Cmp;

typedef struct {
    Slice window;
    bool ended;
} Side;

enum { TROUBLE = 2 };

static uint64_t number(Proc *p, Args *args, char option, const char *text)
{
    uint64_t v;
    if (parse_size(text, "kKMGTPEZY0", &v) == -EINVAL)
        usage_fail(p, args, option == 'n' ? "invalid --bytes value '%s'" : "invalid --ignore-initial value '%s'", text);
    return v;
}

static void set_skip(Cmp *c, Args *args, char *text)
{
    char *colon = strchr(text, ':');
    if (colon)
        *colon = 0;
    c->skip[0] = number(c->p, args, 'i', text);
    c->skip[1] = colon ? number(c->p, args, 'i', colon + 1) : c->skip[0];
}

static void fill(Cmp *c, Side *s, int which)
{
    while (!s->ended && s->window.len == 0) {
        ssize_t n = proc_read_chunk(c->p, c->fds[which], 65536, &s->window, NULL);
        if (n < 0)
            die_errno(c->p, TROUBLE, (int)n, "%s", c->names[which]);
        s->ended = n == 0;
        if (c->skip[which] && s->window.len) {
            size_t k = (size_t)MIN(c->skip[which], (uint64_t)s->window.len);
            s->window = slice_from(s->window, k);
            c->skip[which] -= k;
        }
    }
}

/* A byte as cat -v shows it. */
static const char *shown(Proc *p, unsigned char b)
{
    char text[8];
    size_t n = 0;
    if (b >= 128) {
        text[n++] = 'M';
        text[n++] = '-';
        b = (unsigned char)(b - 128);
    }
    if (b < 32 || b == 127) {
        text[n++] = '^';
        b ^= 64;
    }
    text[n++] = (char)b;
    return mem_copy(&p->mem, (Slice){text, n});
}

static void report(Cmp *c, uint64_t at, uint64_t line, unsigned char a, unsigned char b, int width)
{
    Output *o = c->p->out;
    if (c->all && c->bytes)
        out_printf(o, "%*llu %3o %-4s %3o %s\n", width, (unsigned long long)at, a, shown(c->p, a), b, shown(c->p, b));
    else if (c->all)
        out_printf(o, "%*llu %3o %3o\n", width, (unsigned long long)at, a, b);
    else if (c->bytes)
        out_printf(o, "%s %s differ: byte %llu, line %llu is %3o %s %3o %s\n", c->names[0], c->names[1], (unsigned long long)at, (unsigned long long)line, a,
                   shown(c->p, a), b, shown(c->p, b));
    else
        out_printf(o, "%s %s differ: byte %llu, line %llu\n", c->names[0], c->names[1], (unsigned long long)at, (unsigned long long)line);
}

static int ends_early(Cmp *c, int which, uint64_t bytes, uint64_t lines, bool mid_line)
{
    if (c->silent)
        return 1;
    if (bytes == 0)
        warn(c->p, "EOF on %s which is empty", c->names[which]);
    else if (c->all)
        warn(c->p, "EOF on %s after byte %llu", c->names[which], (unsigned long long)bytes);
    else
        warn(c->p, "EOF on %s after byte %llu, %s%llu", c->names[which], (unsigned long long)bytes, mid_line ? "in line " : "line ",
             (unsigned long long)(lines + mid_line));
    return 1;
}

/* Columns for the byte numbers of -l: as wide as the smaller file's size. */
static int number_width(Cmp *c)
{
    uint64_t most = c->limit;
    VStat st;
    for (int i = 0; i < 2; i++)
        if (proc_fstat(c->p, c->fds[i], &st) == 0 && (st.mode & 0170000) == 0100000)
            most = MIN(most, st.size > c->skip[i] ? st.size - c->skip[i] : 0);
    int width = 1;
    for (; most >= 10; most /= 10)
        width++;
    return width;
}

static int compare(Cmp *c)
{
    Side side[2] = {0};
    uint64_t at = 0, lines = 0;
    int status = 0, width = number_width(c);
    bool mid_line = false;
    while (at < c->limit) {
        for (int i = 0; i < 2; i++)
            fill(c, &side[i], i);
        if (side[0].ended || side[1].ended) {
            if (side[0].ended && side[1].ended)
                return status;
            return ends_early(c, side[0].ended ? 0 : 1, at, lines, mid_line);
        }
        size_t n = MIN(side[0].window.len, side[1].window.len);
        n = (size_t)MIN((uint64_t)n, c->limit - at);
        for (size_t i = 0; i < n; i++) {
            unsigned char a = (unsigned char)side[0].window.data[i], b = (unsigned char)side[1].window.data[i];
            if (a != b) {
                status = 1;
                if (c->silent)
                    return 1;
                report(c, at + i + 1, lines + 1, a, b, width);
                if (!c->all)
                    return 1;
            }
            lines += a == '\n';
            mid_line = a != '\n';
        }
        at += n;
        for (int i = 0; i < 2; i++)
            side[i].window = slice_from(side[i].window, n);
        proc_tick(c->p, 1 + n / 256);
    }
    return status;
}

static int cmp_main(Proc *p, Args *args)
{
    Cmp c = {.p = p, .limit = UINT64_MAX};
    for (int id; (id = args_next(p, args)) != -1;) {
        c.bytes |= id == 'b';
        c.all |= id == 'l';
        c.silent |= id == 's';
        if (id == 'i')
            set_skip(&c, args, args->value);
        else if (id == 'n')
            c.limit = number(p, args, 'n', args->value);
    }
    int n;
    char **v = args_operands(args, &n);
    if (c.all && c.silent)
        usage_fail(p, args, "options -l and -s are incompatible");
    if (n == 0)
        usage_fail(p, args, "missing operand after '%s'", args->argv[args->argc - 1]);
    if (n > 4)
        usage_fail(p, args, "extra operand '%s'", v[4]);
    for (int i = 0; i < 2; i++) {
        c.names[i] = i < n ? v[i] : "-";
        if (n > i + 2)
            c.skip[i] = number(p, args, 'i', v[i + 2]);
        c.fds[i] = strcmp(c.names[i], "-") == 0 ? 0 : proc_open(p, c.names[i], V_READ, 0);
        if (c.fds[i] < 0) {
            if (!c.silent)
                warn_errno(p, c.fds[i], "%s", c.names[i]);
            return TROUBLE;
        }
    }
    return c.fds[0] == c.fds[1] ? 0 : compare(&c);
}

COMMAND(cmp, "cmp [OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]", "Compare two files byte by byte.", options, COMMAND_PURE | COMMAND_NAMED_HINT, .usage_status = 2, .package = "GNU diffutils 3.8");
