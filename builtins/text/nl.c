/* nl: number lines of files. GNU coreutils 9.1, logical pages included. */
#include "command.h"

static const Option options[] = {
    {'b', "body-numbering", OPT_VALUE, "use STYLE for numbering body lines", "STYLE", 0},
    {'d', "section-delimiter", OPT_VALUE, "use CC for logical page delimiters", "CC", 0},
    {'f', "footer-numbering", OPT_VALUE, "use STYLE for numbering footer lines", "STYLE", 0},
    {'h', "header-numbering", OPT_VALUE, "use STYLE for numbering header lines", "STYLE", 0},
    {'i', "line-increment", OPT_VALUE, "line number increment at each line", "NUMBER", 0},
    {'l', "join-blank-lines", OPT_VALUE, "group of NUMBER empty lines counted as one", "NUMBER", 0},
    {'n', "number-format", OPT_VALUE, "insert line numbers according to FORMAT", "FORMAT", 0},
    {'p', "no-renumber", OPT_FLAG, "do not reset line numbers for each section", NULL, 0},
    {'s', "number-separator", OPT_VALUE, "add STRING after (possible) line number", "STRING", 0},
    {'v', "starting-line-number", OPT_VALUE, "first line number for each section", "NUMBER", 0},
    {'w', "number-width", OPT_VALUE, "use NUMBER columns for line numbers", "NUMBER", 0},
    OPTIONS_END,
};

typedef enum { SECTION_HEADER, SECTION_BODY, SECTION_FOOTER, SECTIONS } Section;

typedef struct {
    char style[SECTIONS]; /* a t n p */
    Re *regex[SECTIONS];
    Slice delimiter;      /* one section mark: it stands once for a footer, twice for a body, three times for a header */
    int64_t start, step, number;
    int64_t join, blank;  /* -l, and blank lines met in a row */
    int width;
    const char *format, *separator;
    bool no_renumber, overflow;
    Section section;
} Nl;

static void set_style(Proc *p, Args *args, Nl *n, Section s, const char *value, const char *what)
{
    if (!*value || !strchr("atnp", *value))
        usage_fail(p, args, "invalid %s numbering style: %s", what, quote(p, value));
    n->style[s] = *value;
    if (*value == 'p') {
        ReError err;
        n->regex[s] = proc_regex(p, slice_str(value + 1), RE_BRE, RE_NO_CAPTURES, &err);
        if (!n->regex[s])
            die(p, 1, "%s", err.message);
    }
}

static int64_t number(Proc *p, const char *text, int64_t least, const char *what)
{
    int64_t v;
    int err = parse_int(text, &v);
    if (err == -EINVAL)
        die(p, 1, "invalid %s: %s", what, quote(p, text));
    if (err || v < least)
        die_errno(p, 1, err ? EOVERFLOW : ERANGE, "invalid %s: %s", what, quote(p, text));
    return v;
}

static void print_number(Proc *p, Nl *n)
{
    if (n->overflow)
        die(p, 1, "line number overflow");
    out_printf(p->out, n->format, n->width, (long long)n->number);
    out_str(p->out, n->separator);
    n->overflow = __builtin_add_overflow(n->number, n->step, &n->number);
}

static bool numbered(Proc *p, Nl *n, Slice line)
{
    ReEnv env = proc_re_env(p);
    ReSpan span;
    switch (n->style[n->section]) {
    case 'a':
        if (n->join <= 1)
            return true;
        if (line.len || n->blank + 1 == n->join) {
            n->blank = 0;
            return true;
        }
        n->blank++;
        return false;
    case 't':
        return line.len > 0;
    case 'p':
        return re_search(&env, n->regex[n->section], line, 0, false, &span, 1) == RE_MATCHED;
    default:
        return false;
    }
}

/* The section that the line begins, or SECTIONS. */
static Section section_mark(const Nl *n, Slice line)
{
    if (n->delimiter.len == 0)
        return SECTIONS;
    int times = 0;
    while (times < 4 && slice_starts(line, n->delimiter)) {
        line = slice_from(line, n->delimiter.len);
        times++;
    }
    if (line.len || times == 0 || times > 3)
        return SECTIONS;
    return times == 3 ? SECTION_HEADER : times == 2 ? SECTION_BODY : SECTION_FOOTER;
}

static void number_line(Proc *p, Nl *n, Slice line)
{
    Section mark = section_mark(n, line);
    if (mark != SECTIONS) {
        n->section = mark;
        if (!n->no_renumber) {
            n->number = n->start;
            n->overflow = false;
        }
        out_char(p->out, '\n');
        return;
    }
    if (numbered(p, n, line))
        print_number(p, n);
    else
        out_pad(p->out, (size_t)n->width + strlen(n->separator), ' ');
    out_write(p->out, line);
    out_char(p->out, '\n');
}

static const char *format_of(Proc *p, Args *args, const char *name)
{
    if (strcmp(name, "ln") == 0)
        return "%-*lld";
    if (strcmp(name, "rn") == 0)
        return "%*lld";
    if (strcmp(name, "rz") == 0)
        return "%0*lld";
    usage_fail(p, args, "invalid line numbering format: %s", quote(p, name));
}

static void set_option(Proc *p, Args *args, Nl *n, int id)
{
    char *v = args->value;
    switch (id) {
    case 'b': set_style(p, args, n, SECTION_BODY, v, "body"); break;
    case 'f': set_style(p, args, n, SECTION_FOOTER, v, "footer"); break;
    case 'h': set_style(p, args, n, SECTION_HEADER, v, "header"); break;
    case 'd':
        n->delimiter = v[0] && !v[1] ? slice_str(mem_printf(&p->keep, "%c:", v[0])) : slice_str(v);
        break;
    case 'i': n->step = number(p, v, INT64_MIN, "line number increment"); break;
    case 'l': n->join = number(p, v, 1, "line number of blank lines"); break;
    case 'n': n->format = format_of(p, args, v); break;
    case 'p': n->no_renumber = true; break;
    case 's': n->separator = v; break;
    case 'v': n->start = number(p, v, INT64_MIN, "starting line number"); break;
    case 'w': n->width = (int)MIN(number(p, v, 1, "line number field width"), 10000); break;
    default: break;
    }
}

static int nl_main(Proc *p, Args *args)
{
    Nl n = {.style = {'n', 't', 'n'}, .delimiter = SLICE("\\:"), .start = 1, .step = 1, .join = 1, .width = 6, .format = "%*lld", .separator = "\t", .section = SECTION_BODY};
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(p, args, &n, id);
    n.number = n.start;
    Input in = input_first(p, args);
    for (; input_open(&in); input_next(&in)) {
        Slice line;
        bool ended;
        while (input_record(&in, &line, &ended)) {
            proc_tick(p, 1);
            number_line(p, &n, line);
        }
    }
    return input_status(&in);
}

COMMAND(nl, "nl [OPTION]... [FILE]...", "Write each FILE to standard output, with line numbers added.", options, COMMAND_PURE);
