/* csplit: split a file into sections determined by context lines. GNU coreutils 9.1. */
#include "command.h"

enum { SUPPRESS_MATCHED = 256, SUFFIX_MOST = 1 << 16 };

static const Option options[] = {
    {'b', "suffix-format", OPT_VALUE, "use sprintf FORMAT instead of %02d", "FORMAT", 0},
    {'f', "prefix", OPT_VALUE, "use PREFIX instead of 'xx'", "PREFIX", 0},
    {'k', "keep-files", OPT_FLAG, "do not remove output files on errors", NULL, 0},
    {0, "suppress-matched", OPT_FLAG, "suppress the lines matching PATTERN", NULL, SUPPRESS_MATCHED},
    {'n', "digits", OPT_VALUE, "use specified number of digits instead of 2", "DIGITS", 0},
    {'s', "quiet", OPT_FLAG, "do not print counts of output file sizes", NULL, 0},
    {'q', NULL, OPT_FLAG, "the same", NULL, 's'},
    {0, "silent", OPT_FLAG, "the same", NULL, 's'},
    {'z', "elide-empty-files", OPT_FLAG, "remove empty output files", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    const char *text;  /* as given */
    bool is_line, ignore, forever;
    int64_t line, offset;
    uint64_t repeat;
    Re *re;
} Control;

/* Of -b: what is around the one conversion, and how that is to be done. */
typedef struct { Slice before, after; bool zero, left, alternative; int width, precision; char conversion; } Suffix;

typedef struct {
    Proc *p;
    bool keep_files, quiet, elide, suppress;
    const char *prefix;
    Suffix suffix;
    Slice *lines;      /* with their newlines */
    size_t count, cap;
    size_t first;      /* index of the first line that is not yet written or dropped */
    size_t current;    /* number of the line last looked at */
    int fd;
    uint64_t files, written;
} Csplit;

/* ---------- output files ---------- */

static const char *file_name(Csplit *c, uint64_t n)
{
    const Suffix *s = &c->suffix;
    char digits[32];
    if (!strchr("oxX", s->conversion))
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    else if (s->conversion == 'o')
        snprintf(digits, sizeof digits, s->alternative ? "%#llo" : "%llo", (unsigned long long)n);
    else
        snprintf(digits, sizeof digits, s->conversion == 'x' ? (s->alternative ? "%#llx" : "%llx") : s->alternative ? "%#llX" : "%llX", (unsigned long long)n);
    Buf b;
    buf_init(&b, &c->p->mem, BUF_MAX);
    buf_append(&b, slice_str(c->prefix));
    buf_append(&b, s->before);
    int len = (int)strlen(digits), zeros = MAX(s->precision - len, 0), pad = MAX(s->width - len - zeros, 0);
    if (s->zero && !s->left && s->precision < 0) {
        zeros += pad;
        pad = 0;
    }
    for (int i = 0; i < pad && !s->left; i++)
        buf_char(&b, ' ');
    for (int i = 0; i < zeros; i++)
        buf_char(&b, '0');
    buf_append(&b, slice_str(digits));
    for (int i = 0; i < pad && s->left; i++)
        buf_char(&b, ' ');
    buf_append(&b, s->after);
    return b.data;
}

static NORETURN void give_up(Csplit *c)
{
    if (c->fd >= 0)
        proc_close(c->p, c->fd);
    for (uint64_t n = 0; !c->keep_files && n < c->files; n++)
        proc_unlink(c->p, file_name(c, n));
    proc_fail(c->p, 1);
}

static void begin_file(Csplit *c)
{
    const char *name = file_name(c, c->files);
    c->fd = proc_open(c->p, name, V_WRITE | V_CREATE | V_TRUNC, 0666);
    if (c->fd < 0) {
        warn_errno(c->p, c->fd, "%s", quotef(c->p, name));
        give_up(c);
    }
    c->files++;
    c->written = 0;
}

static void end_file(Csplit *c)
{
    if (c->fd < 0)
        return;
    proc_close(c->p, c->fd);
    c->fd = -1;
    if (c->written == 0 && c->elide) {
        c->files--;
        proc_unlink(c->p, file_name(c, c->files));
    } else if (!c->quiet) {
        out_printf(c->p->out, "%llu\n", (unsigned long long)c->written);
    }
}

static void save_line(Csplit *c, Slice line)
{
    ssize_t r = proc_write(c->p, c->fd, line);
    if (r < 0) {
        warn_errno(c->p, (int)r, "write error for %s", quoteaf(c->p, file_name(c, c->files - 1)));
        give_up(c);
    }
    c->written += line.len;
}

/* ---------- input ---------- */

static void read_lines(Csplit *c, char **name)
{
    Input in = input_files(c->p, name, 1);
    in.open_format = "cannot open %s for reading";
    in.quote_name = true;
    if (!input_open(&in))
        proc_fail(c->p, 1);
    Slice line;
    bool ended;
    while (input_record(&in, &line, &ended)) {
        if (c->count == c->cap) {
            size_t cap = MAX(c->cap * 2, 64);
            c->lines = mem_grow(&c->p->keep, c->lines, c->cap * sizeof *c->lines, cap * sizeof *c->lines);
            c->cap = cap;
        }
        char *copy = mem_alloc(&c->p->keep, line.len + 1);
        memcpy(copy, line.data, line.len);
        copy[line.len] = '\n';
        c->lines[c->count++] = slice(copy, line.len + ended);
        proc_tick(c->p, 1);
    }
}

static bool take_line(Csplit *c, Slice *line)
{
    if (c->first == c->count)
        return false;
    c->current = MAX(c->current, c->first + 1);
    *line = c->lines[c->first++];
    return true;
}

static void write_rest(Csplit *c)
{
    for (Slice line; take_line(c, &line);)
        save_line(c, line);
}

/* ---------- the controls ---------- */

static NORETURN void line_error(Csplit *c, const Control *k, uint64_t repetition)
{
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)k->line);
    if (repetition)
        warn(c->p, "%s: line number out of range on repetition %llu", quote(c->p, number), (unsigned long long)repetition);
    else
        warn(c->p, "%s: line number out of range", quote(c->p, number));
    give_up(c);
}

static NORETURN void regex_error(Csplit *c, const Control *k, uint64_t repetition, bool ignore)
{
    if (repetition)
        warn(c->p, "%s: match not found on repetition %llu", quote(c->p, k->text), (unsigned long long)repetition);
    else
        warn(c->p, "%s: match not found", quote(c->p, k->text));
    if (!ignore) {
        write_rest(c);
        end_file(c);
    }
    give_up(c);
}

static void split_at_line(Csplit *c, const Control *k, uint64_t repetition)
{
    uint64_t last = (uint64_t)k->line * (repetition + 1);
    Slice line;
    begin_file(c);
    if (c->suppress && c->first == c->count)
        line_error(c, k, repetition);
    for (uint64_t n = c->first + 1; n < last; n++) {
        if (!take_line(c, &line)) {
            end_file(c);
            line_error(c, k, repetition);
        }
        save_line(c, line);
    }
    end_file(c);
    if (c->suppress)
        take_line(c, &line);
    else if (c->first == c->count)
        line_error(c, k, repetition);
}

static bool matches(Csplit *c, const Control *k, Slice line)
{
    ReSpan span;
    ReEnv env = proc_re_env(c->p);
    line.len -= line.len && line.data[line.len - 1] == '\n';
    return re_search(&env, k->re, line, 0, false, &span, 1) == RE_MATCHED;
}

static void split_at_match(Csplit *c, const Control *k, uint64_t repetition)
{
    Slice line;
    if (!k->ignore)
        begin_file(c);
    for (;;) {
        c->current = MAX(c->current + 1, c->first + 1);
        if (c->current > c->count) {
            if (!k->forever)
                regex_error(c, k, repetition, k->ignore);
            if (!k->ignore) {
                write_rest(c);
                end_file(c);
            }
            proc_fail(c->p, output_status(c->p));
        }
        if (matches(c, k, c->lines[c->current - 1]))
            break;
        if (k->offset >= 0 && take_line(c, &line) && !k->ignore)
            save_line(c, line);
        proc_tick(c->p, 1);
    }
    int64_t stop = (int64_t)c->current + k->offset;
    if ((int64_t)c->first + 1 > stop || stop <= 0) {
        warn(c->p, "%s: line number out of range", quote(c->p, k->text));
        give_up(c);
    }
    while ((int64_t)c->first + 1 < stop) {
        if (!take_line(c, &line)) {
            warn(c->p, "%s: line number out of range", quote(c->p, k->text));
            give_up(c);
        }
        if (!k->ignore)
            save_line(c, line);
    }
    if (!k->ignore)
        end_file(c);
    if (k->offset > 0)
        c->current = (size_t)stop;
    if (c->suppress)
        take_line(c, &line);
}

static void split(Csplit *c, const Control *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (uint64_t n = 0; list[i].forever || n <= list[i].repeat; n++) {
            if (list[i].is_line)
                split_at_line(c, &list[i], n);
            else
                split_at_match(c, &list[i], n);
            proc_tick(c->p, 4);
        }
    begin_file(c);
    write_rest(c);
    end_file(c);
}

/* ---------- options and patterns ---------- */

static void parse_regex(Csplit *c, Control *k, const char *text)
{
    Proc *p = c->p;
    const char *end = strrchr(text + 1, *text);
    ReError err;
    if (!end)
        die(p, 1, "%s: closing delimiter '%c' missing", text, *text);
    k->ignore = *text == '%';
    k->re = proc_regex(p, slice(text + 1, (size_t)(end - text - 1)), RE_BRE, RE_NO_CAPTURES, &err);
    if (!k->re)
        die(p, 1, "%s: invalid regular expression: %s", quote(p, text), err.message);
    if (end[1] && parse_int(end + 1 + (end[1] == '+'), &k->offset) != 0)
        die(p, 1, "%s: integer expected after delimiter", quote(p, text));
}

static void parse_repeat(Csplit *c, Control *k, const char *text)
{
    Proc *p = c->p;
    size_t n = strlen(text);
    int64_t v;
    if (text[n - 1] != '}')
        die(p, 1, "%s: '}' is required in repeat count", quote(p, text));
    char *inner = mem_copy(&p->mem, slice(text + 1, n - 2));
    if (strcmp(inner, "*") == 0)
        k->forever = true;
    else if (parse_int(inner, &v) || v < 0)
        die(p, 1, "%s}: integer required between '{' and '}'", quote(p, mem_copy(&p->mem, slice(text, n - 1))));
    else
        k->repeat = (uint64_t)v;
}

static size_t parse_controls(Csplit *c, Control *list, char **v, int n)
{
    Proc *p = c->p;
    int64_t before = 0;
    size_t count = 0;
    for (int i = 0; i < n; i++) {
        Control *k = &list[count++];
        *k = (Control){.text = v[i]};
        if (*v[i] == '/' || *v[i] == '%') {
            parse_regex(c, k, v[i]);
        } else {
            k->is_line = true;
            if (parse_int(v[i], &k->line) || k->line < 0)
                die(p, 1, "%s: invalid pattern", quote(p, v[i]));
            if (k->line == 0)
                die(p, 1, "%s: line number must be greater than zero", v[i]);
            if (k->line < before)
                die(p, 1, "line number %s is smaller than preceding line number, %lld", quote(p, v[i]), (long long)before);
            if (k->line == before)
                warn(p, "warning: line number %s is the same as preceding line number", quote(p, v[i]));
            before = k->line;
        }
        if (i + 1 < n && *v[i + 1] == '{')
            parse_repeat(c, k, v[++i]);
    }
    return count;
}

static void parse_suffix(Csplit *c, const char *format)
{
    Suffix *s = &c->suffix;
    const char *percent = NULL;
    *s = (Suffix){.precision = -1};
    Buf before, after;
    buf_init(&before, &c->p->keep, SUFFIX_MOST);
    buf_init(&after, &c->p->keep, SUFFIX_MOST);
    for (const char *at = format; *at; at++) {
        if (*at != '%' || at[1] == '%') {
            buf_char(percent ? &after : &before, *at);
            at += *at == '%';
            continue;
        }
        if (percent)
            die(c->p, 1, "too many %% conversion specifications in suffix");
        percent = at++;
        for (; *at && strchr("-#0'", *at); at++) {
            s->left |= *at == '-';
            s->alternative |= *at == '#';
            s->zero |= *at == '0';
        }
        for (; *at >= '0' && *at <= '9'; at++)
            s->width = MIN(s->width * 10 + (*at - '0'), 4096);
        if (*at == '.')
            for (s->precision = 0, at++; *at >= '0' && *at <= '9'; at++)
                s->precision = MIN(s->precision * 10 + (*at - '0'), 4096);
        s->conversion = *at;
        if (!*at)
            die(c->p, 1, "missing conversion specifier in suffix");
        if (!strchr("diuoxX", *at))
            die(c->p, 1, "invalid conversion specifier in suffix: %c", *at);
    }
    if (!percent)
        die(c->p, 1, "missing %% conversion specification in suffix");
    s->before = before.data ? buf_slice(&before) : (Slice){"", 0};
    s->after = after.data ? buf_slice(&after) : (Slice){"", 0};
}

static void set_option(Csplit *c, Args *args, int id)
{
    int64_t v;
    switch (id) {
    case 'b': parse_suffix(c, args->value); break;
    case 'f': c->prefix = args->value; break;
    case 'k': c->keep_files = true; break;
    case SUPPRESS_MATCHED: c->suppress = true; break;
    case 'n':
        if (parse_int(args->value, &v) || v < 0 || v > INT32_MAX)
            die(c->p, 1, "invalid number: %s", quote(c->p, args->value));
        c->suffix.width = (int)MIN(v, 4096);
        break;
    case 's': case 'q': c->quiet = true; break;
    case 'z': c->elide = true; break;
    default: break;
    }
}

static int csplit_main(Proc *p, Args *args)
{
    Csplit c = {.p = p, .prefix = "xx", .fd = -1, .suffix = {.before = {"", 0}, .after = {"", 0}, .zero = true, .width = 2, .precision = -1, .conversion = 'u'}};
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&c, args, id);
    int n;
    char **v = args_operands(args, &n);
    if (n < 2)
        usage_missing(p, args, n ? v[0] : NULL);
    Control *list = mem_array(&p->keep, (size_t)n, Control);
    size_t count = parse_controls(&c, list, v + 1, n - 1);
    read_lines(&c, v);
    split(&c, list, count);
    return 0;
}

COMMAND(csplit, "csplit [OPTION]... FILE PATTERN...", "Output pieces of FILE separated by PATTERN(s) to files 'xx00', 'xx01', ..., and output byte counts of each piece to standard output.", options, COMMAND_WRITES);
