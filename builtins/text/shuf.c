/* shuf: generate random permutations. GNU coreutils 9.1. */
#include <sys/stat.h>

#include "command.h"

enum { RANDOM_SOURCE = 256, RESERVOIR_LIMIT = 8 << 20 };

static const Option options[] = {
    {'e', "echo", OPT_FLAG, "treat each ARG as an input line", NULL, 0},
    {'i', "input-range", OPT_VALUE, "treat each number LO through HI as an input line", "LO-HI", 0},
    {'n', "head-count", OPT_VALUE, "output at most COUNT lines", "COUNT", 0},
    {'o', "output", OPT_VALUE, "write result to FILE instead of standard output", "FILE", 0},
    {0, "random-source", OPT_VALUE, "get random bytes from FILE", "FILE", RANDOM_SOURCE},
    {'r', "repeat", OPT_FLAG, "output lines can be repeated", NULL, 0},
    {'z', "zero-terminated", OPT_FLAG, "line delimiter is NUL, not newline", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    Proc *p;
    bool echo, range, repeat;
    uint64_t low, high, count;
    char end;
    const char *output, *source_name;
    int source;            /* descriptor of --random-source, or -1 */
    uint64_t random, limit; /* a number below limit + 1 that is not used up, as gnulib's randint keeps */
    Slice *lines;
    size_t line_count, line_cap;
} Shuf;

static unsigned char random_byte(Shuf *s)
{
    unsigned char c = 0;
    if (s->source < 0) {
        proc_random(s->p, &c, 1);
        return c;
    }
    ssize_t n = proc_read(s->p, s->source, (char *)&c, 1);
    if (n == 0)
        die(s->p, 1, "%s: end of file", quote(s->p, s->source_name));
    if (n < 0)
        die_errno(s->p, 1, (int)n, "%s: read error", quotef(s->p, s->source_name));
    return c;
}

/* A number from 0 to most, every one as likely; what of the random number is not used serves the next. */
static uint64_t pick(Shuf *s, uint64_t most)
{
    uint64_t choices = most + 1;
    for (;;) {
        while (s->limit < most) {
            s->random = s->random << 8 | random_byte(s);
            s->limit = s->limit << 8 | 255;
        }
        if (s->limit == most) {
            uint64_t r = s->random;
            s->random = s->limit = 0;
            return r;
        }
        uint64_t excess = s->limit - most, unusable = excess % choices, last = s->limit - unusable, r = s->random % choices;
        if (s->random <= last) {
            s->random /= choices;
            s->limit = excess / choices;
            return r;
        }
        s->random = r;
        s->limit = unusable - 1;
        proc_tick(s->p, 1);
    }
}

static void add_line(Shuf *s, Slice line)
{
    if (s->line_count == s->line_cap) {
        size_t cap = MAX(s->line_cap * 2, 64);
        s->lines = mem_grow(&s->p->keep, s->lines, s->line_cap * sizeof *s->lines, cap * sizeof *s->lines);
        s->line_cap = cap;
    }
    s->lines[s->line_count++] = slice(mem_copy(&s->p->keep, line), line.len);
}

/* Of an input of unknown length only as many lines are kept as will be shown: each further one takes the place of a random one, or none. */
static void sample(Shuf *s, Input *in, uint64_t keep)
{
    Slice line;
    bool ended;
    for (uint64_t met = keep;; met++) {
        uint64_t j = pick(s, met);
        if (!input_record(in, &line, &ended))
            return;
        if (j < keep)
            s->lines[j] = slice(mem_copy(&s->p->keep, line), line.len);
        proc_tick(s->p, 1);
    }
}

static void read_lines(Shuf *s, char **operands, int count)
{
    Input in = input_files(s->p, operands, count);
    in.delimiter = s->end;
    if (!input_open(&in))
        proc_fail(s->p, 1);
    Slice line;
    bool ended;
    VStat st;
    bool small = proc_fstat(s->p, in.fd, &st) == 0 && S_ISREG(st.mode) && st.size <= RESERVOIR_LIMIT;
    uint64_t keep = s->count != UINT64_MAX && !s->repeat && !small ? s->count : UINT64_MAX;
    while (s->line_count < keep && input_record(&in, &line, &ended)) {
        add_line(s, line);
        proc_tick(s->p, 1);
    }
    if (keep && s->line_count == keep)
        sample(s, &in, keep);
    if (input_status(&in))
        proc_fail(s->p, 1);
}

static void put(Shuf *s, uint64_t index)
{
    if (s->range)
        out_printf(s->p->out, "%llu", (unsigned long long)(s->low + index));
    else
        out_write(s->p->out, s->lines[index]);
    out_char(s->p->out, s->end);
    proc_tick(s->p, 1);
}

static void set_range(Proc *p, Shuf *s, char *text)
{
    char *dash = strchr(text, '-');
    int64_t low = 0, high = 0;
    if (s->range)
        die(p, 1, "multiple -i options specified");
    bool ok = dash && dash != text;
    if (ok) {
        ok = parse_int(mem_copy(&p->mem, slice(text, (size_t)(dash - text))), &low) == 0 && low >= 0;
        if (ok && (parse_int(dash + 1, &high) != 0 || high < 0))
            die(p, 1, "invalid input range: %s", quote(p, dash + 1));
    }
    if (!ok)
        die(p, 1, "invalid input range: %s", quote(p, text));
    if (low > high && low != high + 1)
        die(p, 1, "invalid input range: %s", quote(p, text));
    s->range = true;
    s->low = (uint64_t)low;
    s->high = (uint64_t)high;
}

static void set_option(Shuf *s, Args *args, int id)
{
    int64_t v;
    switch (id) {
    case 'e': s->echo = true; break;
    case 'i': set_range(s->p, s, args->value); break;
    case 'n':
        if (parse_int(args->value, &v) == -EINVAL || v < 0)
            die(s->p, 1, "invalid line count: %s", quote(s->p, args->value));
        s->count = MIN(s->count, (uint64_t)v);
        break;
    case 'o':
        if (s->output && strcmp(s->output, args->value) != 0)
            die(s->p, 1, "multiple output files specified");
        s->output = args->value;
        break;
    case RANDOM_SOURCE: s->source_name = args->value; break;
    case 'r': s->repeat = true; break;
    case 'z': s->end = 0; break;
    default: break;
    }
}

static void permute(Shuf *s, uint64_t total)
{
    uint64_t most = MIN(s->count, total);
    if (total > SIZE_MAX / sizeof(uint64_t))
        proc_limit(s->p, LIMIT_MEMORY);
    uint64_t *chosen = mem_array(&s->p->keep, most, uint64_t);
    Map swapped; /* places that no longer hold their own number: a huge range costs only what is shown */
    map_init(&swapped, &s->p->keep);
    for (uint64_t i = 0; i < most; i++) {
        uint64_t j = i + pick(s, total - 1 - i), vi = i, vj = j;
        MapEntry *ej = map_put(&swapped, slice((const char *)&j, sizeof j));
        if (ej->value)
            vj = (uint64_t)(uintptr_t)ej->value - 1;
        MapEntry *ei = map_get(&swapped, slice((const char *)&i, sizeof i));
        if (ei && ei->value)
            vi = (uint64_t)(uintptr_t)ei->value - 1;
        ej = map_get(&swapped, slice((const char *)&j, sizeof j));
        ej->value = (void *)(uintptr_t)(vi + 1);
        chosen[i] = vj;
    }
    for (uint64_t i = 0; i < most; i++)
        put(s, chosen[i]);
}

static void repeat(Shuf *s, uint64_t total)
{
    if (!total && s->count)
        die(s->p, 1, "no lines to repeat");
    for (uint64_t i = 0; i < s->count; i++)
        put(s, pick(s, total - 1));
}

static int shuf_main(Proc *p, Args *args)
{
    Shuf s = {.p = p, .count = UINT64_MAX, .end = '\n', .source = -1};
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&s, args, id);
    int n;
    char **v = args_operands(args, &n);
    if (s.echo && s.range)
        usage_fail(p, args, "cannot combine -e and -i options");
    if (s.range ? n > 0 : !s.echo && n > 1)
        usage_extra(p, args, v[!s.range]);
    if (s.source_name && (s.source = proc_open(p, s.source_name, V_READ, 0)) < 0)
        die_errno(p, 1, s.source, "%s", quotef(p, s.source_name));
    for (int i = 0; s.echo && i < n; i++)
        add_line(&s, slice_str(v[i]));
    if (!s.echo && !s.range)
        read_lines(&s, v, n);
    if (s.output) {
        int fd = proc_open(p, s.output, V_WRITE | V_CREATE | V_TRUNC, 0666);
        if (fd < 0)
            die_errno(p, 1, fd, "%s", quotef(p, s.output));
        proc_dup2(p, fd, 1);
    }
    uint64_t total = s.range ? s.high - s.low + 1 : s.line_count;
    if (s.repeat)
        repeat(&s, total);
    else if (total)
        permute(&s, total);
    return 0;
}

COMMAND(shuf, "shuf [OPTION]... [FILE]\nshuf -e [OPTION]... [ARG]...\nshuf -i LO-HI [OPTION]...", "Write a random permutation of the input lines to standard output.", options, COMMAND_WRITES);
