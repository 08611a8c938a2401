/* cut: print selected parts of lines. GNU coreutils 9.1; characters are bytes, as there. */
#include "command.h"

enum { OPT_COMPLEMENT = 256, OPT_OUTPUT };

static const Option options[] = {
    {'b', "bytes", OPT_VALUE, "select only these bytes", "LIST", 0},
    {'c', "characters", OPT_VALUE, "select only these characters", "LIST", 0},
    {'d', "delimiter", OPT_VALUE, "use DELIM instead of TAB for field delimiter", "DELIM", 0},
    {'f', "fields", OPT_VALUE, "select only these fields; also print any line that contains no delimiter character, unless -s is given", "LIST", 0},
    {'n', NULL, OPT_FLAG, "(ignored)", NULL, 0},
    {0, "complement", OPT_FLAG, "complement the set of selected bytes, characters or fields", NULL, OPT_COMPLEMENT},
    {'s', "only-delimited", OPT_FLAG, "do not print lines not containing delimiters", NULL, 0},
    {0, "output-delimiter", OPT_VALUE, "use STRING as the output delimiter", "STRING", OPT_OUTPUT},
    {'z', "zero-terminated", OPT_FLAG, "line delimiter is NUL, not newline", NULL, 0},
    OPTIONS_END,
};

typedef struct { uint64_t low, high; } Range;

typedef struct {
    Range *ranges;
    size_t count;
    bool fields, complement, only_delimited, output_given;
    char delimiter, line_end;
    Slice output;
} Cut;

/* ---------- the list ---------- */

static NORETURN void bad_list(Proc *p, Args *args, const Cut *c, const char *what) { (void)c; usage_fail(p, args, "%s", what); }

static bool digits(const char **s, uint64_t *v)
{
    bool any = false;
    *v = 0;
    for (; **s >= '0' && **s <= '9'; ++*s, any = true)
        if (__builtin_mul_overflow(*v, 10u, v) || __builtin_add_overflow(*v, (uint64_t)(**s - '0'), v))
            *v = UINT64_MAX;
    return any;
}

static void add_range(Proc *p, Cut *c, Range r, size_t *cap)
{
    if (c->count == *cap) {
        c->ranges = mem_grow(&p->keep, c->ranges, c->count * sizeof r, (*cap = *cap ? *cap * 2 : 16) * sizeof r);
    }
    c->ranges[c->count++] = r;
}

static NORETURN void out_of_range(Proc *p, Args *args, const Cut *c, const char *text)
{
    size_t n = strspn(text, "0123456789");
    const char *number = mem_printf(&p->mem, "%.*s", (int)n, text);
    usage_fail(p, args, c->fields ? "field number %s is too large" : "byte/character offset %s is too large", quote(p, number));
}

static void parse_list(Proc *p, Args *args, Cut *c, const char *s)
{
    size_t cap = 0;
    for (;;) {
        Range r = {1, UINT64_MAX};
        const char *start = s;
        bool low = digits(&s, &r.low), dash = *s == '-', high = false;
        if (low && r.low == UINT64_MAX)
            out_of_range(p, args, c, start);
        if (dash) {
            const char *second = ++s;
            high = digits(&s, &r.high);
            if (!high)
                r.high = UINT64_MAX;
            else if (r.high == UINT64_MAX)
                out_of_range(p, args, c, second);
        } else {
            r.high = r.low;
        }
        if (*s && *s != ',' && *s != ' ' && *s != '\t') {
            if (*s == '-' && dash)
                bad_list(p, args, c, c->fields ? "invalid field range" : "invalid byte or character range");
            usage_fail(p, args, c->fields ? "invalid field value %s" : "invalid byte/character position %s", quote(p, s));
        }
        if (dash && !low && !high)
            bad_list(p, args, c, "invalid range with no endpoint: -");
        if (!low)
            r.low = 1;
        if ((low && r.low == 0) || (!dash && !low))
            bad_list(p, args, c, c->fields ? "fields are numbered from 1" : "byte/character positions are numbered from 1");
        if (r.high < r.low)
            bad_list(p, args, c, "invalid decreasing range");
        add_range(p, c, r, &cap);
        if (!*s)
            return;
        s++;
    }
}

/* Sorted, overlapping ranges joined (adjacent ones are not, so that --output-delimiter stands between them). */
static void settle_ranges(Proc *p, Cut *c)
{
    for (size_t i = 1; i < c->count; i++)
        for (size_t j = i; j && c->ranges[j].low < c->ranges[j - 1].low; j--) {
            Range swap = c->ranges[j];
            c->ranges[j] = c->ranges[j - 1];
            c->ranges[j - 1] = swap;
        }
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++)
        if (n && c->ranges[i].low <= c->ranges[n - 1].high)
            c->ranges[n - 1].high = MAX(c->ranges[n - 1].high, c->ranges[i].high);
        else
            c->ranges[n++] = c->ranges[i];
    c->count = n;
    if (!c->complement)
        return;
    Range *out = mem_array(&p->keep, n + 1, Range);
    size_t m = 0;
    uint64_t next = 1;
    for (size_t i = 0; i < n; i++) {
        if (c->ranges[i].low > next)
            out[m++] = (Range){next, c->ranges[i].low - 1};
        if (c->ranges[i].high == UINT64_MAX) {
            next = 0;
            break;
        }
        next = c->ranges[i].high + 1;
    }
    if (next)
        out[m++] = (Range){next, UINT64_MAX};
    c->ranges = out;
    c->count = m;
}

/* ---------- lines ---------- */

static void cut_bytes(Output *out, const Cut *c, Slice line)
{
    bool any = false;
    for (size_t i = 0; i < c->count && c->ranges[i].low <= line.len; i++) {
        if (any && c->output_given)
            out_write(out, c->output);
        size_t from = (size_t)c->ranges[i].low - 1, to = c->ranges[i].high < line.len ? (size_t)c->ranges[i].high : line.len;
        out_write(out, (Slice){line.data + from, to - from});
        any = true;
    }
    out_char(out, c->line_end);
}

static void cut_fields(Output *out, const Cut *c, Slice line)
{
    size_t n = slice_find(line, c->delimiter);
    if (n == line.len) {
        if (!c->only_delimited) {
            out_write(out, line);
            out_char(out, c->line_end);
        }
        return;
    }
    bool any = false;
    size_t r = 0;
    for (uint64_t field = 1; r < c->count; field++) {
        if (field > c->ranges[r].high && ++r == c->count)
            break;
        if (field >= c->ranges[r].low) {
            if (any)
                out_write(out, c->output);
            out_write(out, (Slice){line.data, n});
            any = true;
        }
        if (n == line.len)
            break;
        line = slice_from(line, n + 1);
        n = slice_find(line, c->delimiter);
    }
    out_char(out, c->line_end);
}

/* The delimiter is the newline itself: the whole input is one line whose fields are lines. */
static void cut_lines(Proc *p, const Cut *c, Input *in)
{
    Slice all = read_all(p, in->fd);
    if (all.len == 0)
        return;
    if (all.data[all.len - 1] == c->delimiter)
        all.len--;
    cut_fields(p->out, c, all);
}

static void cut_file(Proc *p, const Cut *c, Input *in)
{
    if (c->fields && c->delimiter == c->line_end) {
        cut_lines(p, c, in);
        return;
    }
    Slice line;
    bool ended;
    while (input_record(in, &line, &ended)) {
        proc_tick(p, 1);
        if (c->fields)
            cut_fields(p->out, c, line);
        else
            cut_bytes(p->out, c, line);
    }
}

static int cut_main(Proc *p, Args *args)
{
    Cut c = {.delimiter = '\t', .line_end = '\n'};
    const char *list = NULL;
    bool delimiter_given = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == 'b' || id == 'c' || id == 'f') {
            if (list)
                usage_fail(p, args, "only one list may be specified");
            list = args->value;
            c.fields = id == 'f';
        } else if (id == 'd') {
            if (args->value[0] && args->value[1])
                usage_fail(p, args, "the delimiter must be a single character");
            c.delimiter = args->value[0];
            delimiter_given = true;
        } else if (id == OPT_OUTPUT) {
            c.output_given = true;
            c.output = *args->value ? slice_str(args->value) : (Slice){"", 1};
        }
        c.complement |= id == OPT_COMPLEMENT;
        c.only_delimited |= id == 's';
        if (id == 'z')
            c.line_end = 0;
    }
    if (!list)
        usage_fail(p, args, "you must specify a list of bytes, characters, or fields");
    if (!c.fields && delimiter_given)
        usage_fail(p, args, "an input delimiter may be specified only when operating on fields");
    if (!c.fields && c.only_delimited)
        usage_fail(p, args, "suppressing non-delimited lines makes sense\n\tonly when operating on fields");
    parse_list(p, args, &c, list);
    settle_ranges(p, &c);
    if (!c.output_given)
        c.output = (Slice){&c.delimiter, 1};
    Input in = input_first(p, args);
    in.delimiter = c.line_end;
    for (; input_open(&in); input_next(&in))
        cut_file(p, &c, &in);
    return input_status(&in);
}

COMMAND(cut, "cut OPTION... [FILE]...", "Print selected parts of lines from each FILE to standard output.", options, COMMAND_PURE);
