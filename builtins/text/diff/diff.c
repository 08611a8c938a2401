/* diff: compare files line by line. GNU diffutils 3.8. */
#include "diff.h"

#include "shared.h"

enum {
    OPT_NORMAL = 256, OPT_LEFT_COLUMN, OPT_SUPPRESS_COMMON, OPT_TABSIZE, OPT_NO_BLANK_PREFIX, OPT_NO_DEREFERENCE, OPT_FOLD_NAMES, OPT_NO_FOLD_NAMES,
    OPT_FROM_FILE, OPT_TO_FILE, OPT_STRIP_CR, OPT_LINE_FORMAT, OPT_HORIZON, OPT_COLOR, OPT_PALETTE, OPT_BINARY, OPT_MERGE_HELP,
    /* in the order of SAME, OLD, NEW, CHANGED */
    OPT_GROUP_SAME, OPT_GROUP_OLD, OPT_GROUP_NEW, OPT_GROUP_CHANGED, OPT_LINE_SAME, OPT_LINE_OLD, OPT_LINE_NEW,
};

static const Option options[] = {
    OPTION_VERSION('v'),
    {'q', "brief", OPT_FLAG, "report only when files differ", NULL, 0},
    {'s', "report-identical-files", OPT_FLAG, "report when two files are the same", NULL, 0},
    {'c', NULL, OPT_FLAG, "output 3 lines of copied context", NULL, 0},
    {'C', NULL, OPT_VALUE, "output NUM lines of copied context", "NUM", 0},
    {0, "context", OPT_OPTIONAL, "output NUM (default 3) lines of copied context", "NUM", 'C'},
    {'u', NULL, OPT_FLAG, "output 3 lines of unified context", NULL, 0},
    {'U', NULL, OPT_VALUE, "output NUM lines of unified context", "NUM", 0},
    {0, "unified", OPT_OPTIONAL, "output NUM (default 3) lines of unified context", "NUM", 'U'},
    OPTION_DIGITS,
    {'e', "ed", OPT_FLAG, "output an ed script", NULL, 0},
    {'f', "forward-ed", OPT_FLAG, "output an ed script in forward order", NULL, 0},
    {'n', "rcs", OPT_FLAG, "output an RCS format diff", NULL, 0},
    {'y', "side-by-side", OPT_FLAG, "output in two columns", NULL, 0},
    {'W', "width", OPT_VALUE, "output at most NUM (default 130) print columns", "NUM", 0},
    {0, "left-column", OPT_FLAG, "output only the left column of common lines", NULL, OPT_LEFT_COLUMN},
    {0, "suppress-common-lines", OPT_FLAG, "do not output common lines", NULL, OPT_SUPPRESS_COMMON},
    {0, "sdiff-merge-assist", OPT_FLAG, NULL, NULL, OPT_MERGE_HELP},
    {'p', "show-c-function", OPT_FLAG, "show which C function each change is in", NULL, 0},
    {'F', "show-function-line", OPT_VALUE, "show the most recent line matching RE", "RE", 0},
    {'L', "label", OPT_VALUE, "use LABEL instead of file name and timestamp (can be repeated)", "LABEL", 0},
    {'t', "expand-tabs", OPT_FLAG, "expand tabs to spaces in output", NULL, 0},
    {'T', "initial-tab", OPT_FLAG, "make tabs line up by prepending a tab", NULL, 0},
    {0, "tabsize", OPT_VALUE, "tab stops every NUM (default 8) print columns", "NUM", OPT_TABSIZE},
    {0, "suppress-blank-empty", OPT_FLAG, "suppress space or tab before empty output lines", NULL, OPT_NO_BLANK_PREFIX},
    {'l', "paginate", OPT_FLAG, "pass output through 'pr' to paginate it (refused: there is no pr)", NULL, 0},
    {'r', "recursive", OPT_FLAG, "recursively compare any subdirectories found", NULL, 0},
    {0, "no-dereference", OPT_FLAG, "don't follow symbolic links", NULL, OPT_NO_DEREFERENCE},
    {'N', "new-file", OPT_FLAG, "treat absent files as empty", NULL, 0},
    {'P', "unidirectional-new-file", OPT_FLAG, "treat absent first files as empty", NULL, 0},
    {0, "ignore-file-name-case", OPT_FLAG, "ignore case when comparing file names", NULL, OPT_FOLD_NAMES},
    {0, "no-ignore-file-name-case", OPT_FLAG, "consider case when comparing file names", NULL, OPT_NO_FOLD_NAMES},
    {0, "normal", OPT_FLAG, "output a normal diff (the default)", NULL, OPT_NORMAL},
    {'x', "exclude", OPT_VALUE, "exclude files that match PAT", "PAT", 0},
    {'X', "exclude-from", OPT_VALUE, "exclude files that match any pattern in FILE", "FILE", 0},
    {'S', "starting-file", OPT_VALUE, "start with FILE when comparing directories", "FILE", 0},
    {0, "from-file", OPT_VALUE, "compare FILE1 to all operands; FILE1 can be a directory", "FILE1", OPT_FROM_FILE},
    {0, "to-file", OPT_VALUE, "compare all operands to FILE2; FILE2 can be a directory", "FILE2", OPT_TO_FILE},
    {'i', "ignore-case", OPT_FLAG, "ignore case differences in file contents", NULL, 0},
    {'E', "ignore-tab-expansion", OPT_FLAG, "ignore changes due to tab expansion", NULL, 0},
    {'Z', "ignore-trailing-space", OPT_FLAG, "ignore white space at line end", NULL, 0},
    {'b', "ignore-space-change", OPT_FLAG, "ignore changes in the amount of white space", NULL, 0},
    {'w', "ignore-all-space", OPT_FLAG, "ignore all white space", NULL, 0},
    {'B', "ignore-blank-lines", OPT_FLAG, "ignore changes where lines are all blank", NULL, 0},
    {'I', "ignore-matching-lines", OPT_VALUE, "ignore changes where all lines match RE", "RE", 0},
    {'a', "text", OPT_FLAG, "treat all files as text", NULL, 0},
    {0, "strip-trailing-cr", OPT_FLAG, "strip trailing carriage return on input", NULL, OPT_STRIP_CR},
    {0, "binary", OPT_FLAG, NULL, NULL, OPT_BINARY},
    {'D', "ifdef", OPT_VALUE, "output merged file with '#ifdef NAME' diffs", "NAME", 0},
    {0, "unchanged-group-format", OPT_VALUE, "format unchanged input groups with GFMT", "GFMT", OPT_GROUP_SAME},
    {0, "old-group-format", OPT_VALUE, "format groups of the old file with GFMT", "GFMT", OPT_GROUP_OLD},
    {0, "new-group-format", OPT_VALUE, "format groups of the new file with GFMT", "GFMT", OPT_GROUP_NEW},
    {0, "changed-group-format", OPT_VALUE, "format changed groups with GFMT", "GFMT", OPT_GROUP_CHANGED},
    {0, "line-format", OPT_VALUE, "format all input lines with LFMT", "LFMT", OPT_LINE_FORMAT},
    {0, "unchanged-line-format", OPT_VALUE, "format unchanged input lines with LFMT", "LFMT", OPT_LINE_SAME},
    {0, "old-line-format", OPT_VALUE, "format lines of the old file with LFMT", "LFMT", OPT_LINE_OLD},
    {0, "new-line-format", OPT_VALUE, "format lines of the new file with LFMT", "LFMT", OPT_LINE_NEW},
    {'d', "minimal", OPT_FLAG, "try hard to find a smaller set of changes", NULL, 0},
    {0, "horizon-lines", OPT_VALUE, "keep NUM lines of the common prefix and suffix", "NUM", OPT_HORIZON},
    {'H', "speed-large-files", OPT_FLAG, "assume large files and many scattered small changes", NULL, 0},
    {'h', NULL, OPT_FLAG, NULL, NULL, 0},
    {0, "color", OPT_OPTIONAL, "color output; WHEN is 'never', 'always', or 'auto'", "WHEN", OPT_COLOR},
    {0, "palette", OPT_VALUE, "the colors to use when --color is active; PALETTE is a colon-separated list of terminfo capabilities", "PALETTE", OPT_PALETTE},
    OPTIONS_END,
};

enum { TROUBLE = 2 };

typedef struct {
    Diff *d;
    Args *args;
    int64_t old_context; /* -NUM; -1: none */
    bool context_default, after_digit;
    bool function_lines;
    uint64_t width, tab;
    Buf ignore, functions; /* patterns joined by \| */
    int label_count;
    const char *palette;
} Settings;

static void set_style(Settings *s, Style style)
{
    Diff *d = s->d;
    if (d->style != STYLE_NONE && d->style != style)
        usage_fail(d->p, s->args, "conflicting output style options");
    d->style = style;
}

static int64_t number(Settings *s, const char *what, const char *text, int64_t least)
{
    int64_t n = 0;
    int err = parse_int(text, &n);
    if (err == -ERANGE && *text != '-')
        n = INT64_MAX / 4;
    else if (err || n < least)
        usage_fail(s->d->p, s->args, "invalid %s '%s'", what, text);
    return MIN(n, INT64_MAX / 4);
}

static void set_context(Settings *s, Style style, const char *value)
{
    int64_t n = value ? number(s, "context length", value, 0) : 3;
    set_style(s, style);
    if (value)
        s->d->context = MAX(s->d->context, n);
    else
        s->context_default = true;
}

/* -1 -2 is -12. */
static void set_digit(Settings *s, int digit)
{
    if (!s->after_digit)
        s->old_context = 0;
    s->after_digit = true;
    s->old_context = MIN(s->old_context * 10 + (digit - '0'), INT64_MAX / 40);
}

static void set_once(Settings *s, const char *what, const char **slot, const char *value)
{
    if (*slot && strcmp(*slot, value) != 0)
        usage_fail(s->d->p, s->args, "conflicting %s option value '%s'", what, value);
    *slot = value;
}

static void set_size(Settings *s, uint64_t *slot, const char *bad, const char *twice, const char *value)
{
    uint64_t n = (uint64_t)number(s, bad, value, 1);
    if (*slot && *slot != n)
        die(s->d->p, TROUBLE, "conflicting %s options", twice);
    *slot = n;
}

static void add_pattern(Settings *s, Buf *to, const char *text)
{
    ReError err;
    if (!proc_regex(s->d->p, slice_str(text), RE_BRE, 0, &err))
        die(s->d->p, TROUBLE, "%s: %s", text, err.message);
    if (to->len)
        buf_append(to, SLICE("\\|"));
    buf_append(to, slice_str(text));
}

static Re *compile(Settings *s, const Buf *text)
{
    ReError err;
    if (!text->len)
        return NULL;
    Re *re = proc_regex(s->d->p, buf_slice(text), RE_BRE, locale_utf8(s->d->p) ? 0 : RE_BYTES, &err);
    if (!re)
        die(s->d->p, TROUBLE, "%s: %s", text->data, err.message);
    return re;
}

static void exclude(Diff *d, Slice pattern)
{
    Glob *g = mem_new(&d->p->keep, Glob);
    *g = (Glob){pat_compile(&d->p->keep, pattern, d->fold_names ? PAT_ICASE : 0), d->excluded};
    d->excluded = g;
}

static void exclude_from(Diff *d, const char *path)
{
    Slice text;
    int err = 0;
    if (strcmp(path, "-") == 0)
        text = read_all(d->p, 0);
    else
        err = read_file(d->p, path, &text);
    if (err)
        die_errno(d->p, TROUBLE, err, "%s", path);
    while (text.len) {
        size_t end = slice_find(text, '\n');
        if (end)
            exclude(d, slice(mem_copy(&d->p->keep, slice(text.data, end)), end));
        text = slice_from(text, MIN(end + 1, text.len));
    }
}

static void set_ifdef(Settings *s, const char *name)
{
    static const char *const formats[] = {"%%=", "#ifndef %s\n%%<#endif /* ! %s */\n", "#ifdef %s\n%%>#endif /* %s */\n",
                                          "#ifndef %s\n%%<#else /* %s */\n%%>#endif /* %s */\n"};
    set_style(s, STYLE_IFDEF);
    for (int i = 0; i < 4; i++) {
        Buf text;
        buf_init(&text, &s->d->p->keep, BUF_MAX);
        for (const char *f = formats[i]; *f; f++)
            if (*f != '%')
                buf_char(&text, *f);
            else if (*++f == '%')
                buf_char(&text, '%');
            else
                buf_append(&text, slice_str(name));
        set_once(s, "-D", &s->d->group_format[i], text.data);
    }
}

static void set_color(Settings *s, const char *when)
{
    Diff *d = s->d;
    if (!when || !strcmp(when, "auto"))
        d->color = proc_isatty(d->p, 1);
    else if (!strcmp(when, "always"))
        d->color = true;
    else if (!strcmp(when, "never"))
        d->color = false;
    else
        usage_fail(d->p, s->args, "invalid color '%s'", when);
}

static void set_palette(Diff *d, const char *text)
{
    static const char names[][3] = {"hd", "ad", "de", "ln", "rs"};
    for (Slice rest = slice_str(text); rest.len;) {
        size_t end = slice_find(rest, ':');
        Slice item = slice(rest.data, end);
        int found = -1;
        for (int i = 0; i < COLOR_COUNT && item.len > 2; i++)
            if (memcmp(item.data, names[i], 2) == 0 && item.data[2] == '=')
                found = i;
        if (found < 0) {
            if (item.len > 2 && item.data[2] == '=')
                warn(d->p, "unrecognized prefix: %.2s", item.data);
            warn(d->p, "unparsable value for --palette");
            d->color = false;
            return;
        }
        d->sgr[found] = mem_copy(&d->p->keep, slice_from(item, 3));
        rest = slice_from(rest, MIN(end + 1, rest.len));
    }
}

static void set_label(Settings *s, const char *label)
{
    if (s->label_count == 2)
        die(s->d->p, TROUBLE, "too many file label options");
    s->d->labels[s->label_count++] = label;
}

static bool set_value(Settings *s, int id, const char *value)
{
    Diff *d = s->d;
    switch (id) {
    case 'C': set_context(s, STYLE_CONTEXT, value ? value : "3"); break;
    case 'U': set_context(s, STYLE_UNIFIED, value ? value : "3"); break;
    case 'W': set_size(s, &s->width, "width", "width", value); break;
    case 'F': add_pattern(s, &s->functions, value); break;
    case 'I': add_pattern(s, &s->ignore, value); break;
    case 'L': set_label(s, value); break;
    case 'x': exclude(d, slice_str(value)); break;
    case 'X': exclude_from(d, value); break;
    case 'S': set_once(s, "-S", &d->start_name, value); break;
    case 'D': set_ifdef(s, value); break;
    case OPT_TABSIZE: set_size(s, &s->tab, "tabsize", "tabsize", value); break;
    case OPT_FROM_FILE: set_once(s, "--from-file", &d->from_file, value); break;
    case OPT_TO_FILE: set_once(s, "--to-file", &d->to_file, value); break;
    case OPT_HORIZON: d->horizon = (size_t)number(s, "horizon length", value, 0); break;
    case OPT_COLOR: set_color(s, value); break;
    case OPT_PALETTE: s->palette = value; break;
    case OPT_LINE_FORMAT:
        set_style(s, STYLE_IFDEF);
        for (int i = 0; i < 3; i++)
            set_once(s, "--line-format", &d->line_format[i], value);
        break;
    default:
        if (id < OPT_GROUP_SAME)
            return false;
        set_style(s, STYLE_IFDEF);
        set_once(s, s->args->command->options[s->args->option_index].name, id < OPT_LINE_SAME ? &d->group_format[id - OPT_GROUP_SAME] : &d->line_format[id - OPT_LINE_SAME],
                 value);
    }
    return true;
}

static void set_space(Diff *d, int id)
{
    if (id == 'w')
        d->space = SPACE_ALL;
    else if (id == 'b')
        d->space = MAX(d->space, SPACE_CHANGE);
    else if (d->space < SPACE_CHANGE)
        d->space |= id == 'E' ? SPACE_TABS : SPACE_TRAILING;
}

static void set_style_flag(Settings *s, int id)
{
    switch (id) {
    case 'c': set_context(s, STYLE_CONTEXT, NULL); break;
    case 'u': set_context(s, STYLE_UNIFIED, NULL); break;
    case 'e': set_style(s, STYLE_ED); break;
    case 'f': set_style(s, STYLE_FORWARD_ED); break;
    case 'n': set_style(s, STYLE_RCS); break;
    case 'y': set_style(s, STYLE_SIDE); break;
    default: set_style(s, STYLE_NORMAL); break;
    }
}

static void set_flag(Settings *s, int id)
{
    Diff *d = s->d;
    switch (id) {
    case 'q': d->brief = true; break;
    case 's': d->report_identical = true; break;
    case 'p':
        s->function_lines = true;
        add_pattern(s, &s->functions, "^[[:alpha:]$_]");
        break;
    case 't': d->expand_tabs = true; break;
    case 'T': d->initial_tab = true; break;
    case 'l': die(d->p, TROUBLE, "cannot paginate: there is no pr");
    case 'r': d->recursive = true; break;
    case 'N': d->new_file = true; break;
    case 'P': d->new_first = true; break;
    case 'i': d->ignore_case = true; break;
    case 'w':
    case 'b':
    case 'E':
    case 'Z': set_space(d, id); break;
    case 'B': d->ignore_blank = true; break;
    case 'a': d->text = true; break;
    case 'd': d->minimal = true; break;
    case 'H': d->large_files = true; break;
    case OPT_LEFT_COLUMN: d->left_column = true; break;
    case OPT_SUPPRESS_COMMON: d->suppress_common = true; break;
    case OPT_MERGE_HELP: d->merge_help = true; break;
    case OPT_NO_BLANK_PREFIX: d->no_blank_prefix = true; break;
    case OPT_NO_DEREFERENCE: d->no_dereference = true; break;
    case OPT_FOLD_NAMES:
    case OPT_NO_FOLD_NAMES: d->fold_names = id == OPT_FOLD_NAMES; break;
    case OPT_STRIP_CR: d->strip_cr = true; break;
    case 'h':
    case OPT_BINARY: break;
    default: set_style_flag(s, id); break;
    }
}

static void read_options(Settings *s)
{
    for (int id; (id = args_next(s->d->p, s->args)) >= 0;) {
        if (id >= '0' && id <= '9') {
            set_digit(s, id);
            continue;
        }
        s->after_digit = false;
        if (!set_value(s, id, s->args->value))
            set_flag(s, id);
    }
}

/* Half a line's width, and where the second half begins, so that tabs of the second line up where tabs are kept. */
static void set_columns(Diff *d, uint64_t width)
{
    size_t t = d->expand_tabs ? 1 : d->tab, w = (size_t)width, gutter = t + 3;
    size_t off = (w >> 1) + (gutter >> 1) + (w & gutter & 1);
    off -= off % t;
    d->half_width = off <= 3 || w <= off ? 0 : MIN(off - 3, w - off);
    d->column2 = d->half_width ? off : w;
}

static void finish_formats(Diff *d)
{
    for (int i = 0; i < 3; i++)
        if (!d->line_format[i])
            d->line_format[i] = "%l\n";
    const char **g = d->group_format;
    g[OLD] = g[OLD] ? g[OLD] : g[CHANGED] ? g[CHANGED] : "%<";
    g[NEW] = g[NEW] ? g[NEW] : g[CHANGED] ? g[CHANGED] : "%>";
    g[SAME] = g[SAME] ? g[SAME] : "%=";
    if (!g[CHANGED])
        g[CHANGED] = mem_printf(&d->p->keep, "%s%s", g[OLD], g[NEW]);
}

/* The options as they were given, quoted for a shell, for the line before each pair. */
static const char *given_options(Proc *p, Args *args, int operands)
{
    Buf text;
    buf_init(&text, &p->keep, BUF_MAX);
    buf_append(&text, SLICE(""));
    for (int i = 1; i < args->argc - operands; i++)
        buf_printf(&text, " %s", quote_if_needed(p, args->argv[i]));
    return text.data ? text.data : "";
}

static bool posix_times(Proc *p)
{
    const char *names[] = {"LC_ALL", "LC_TIME", "LANG"};
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        const char *v = proc_getenv(p, names[i]);
        if (v && *v)
            return !strcmp(v, "C") || !strcmp(v, "POSIX");
    }
    return true;
}

static void finish_settings(Settings *s)
{
    Diff *d = s->d;
    if (d->style == STYLE_NONE && s->function_lines)
        set_context(s, STYLE_CONTEXT, NULL);
    else if (d->style == STYLE_NONE)
        d->style = STYLE_NORMAL;
    if (s->old_context >= 0 && (d->style == STYLE_CONTEXT || d->style == STYLE_UNIFIED))
        d->context = MAX(d->context, s->old_context);
    else if (s->context_default)
        d->context = MAX(d->context, 3);
    d->context = MAX(d->context, 0);
    d->horizon = MAX(d->horizon, (size_t)d->context);
    d->tab = s->tab ? (size_t)s->tab : 8;
    set_columns(d, s->width ? s->width : 130);
    d->time_format = d->style != STYLE_CONTEXT || !posix_times(d->p) ? "%Y-%m-%d %H:%M:%S.%N %z" : "%a %b %e %T %Y";
    d->ignore_re = compile(s, &s->ignore);
    d->function_re = compile(s, &s->functions);
    if (d->style == STYLE_IFDEF)
        finish_formats(d);
    d->quiet_when_same = d->style == STYLE_IFDEF ? !*d->group_format[SAME] || (!strcmp(d->group_format[SAME], "%=") && !*d->line_format[SAME])
                                                 : d->style != STYLE_SIDE || d->suppress_common;
    if (d->color && s->palette)
        set_palette(d, s->palette);
}

static int compare_operands(Diff *d, Args *args, char **names, int count)
{
    int status = 0;
    if (d->from_file && d->to_file)
        die(d->p, TROUBLE, "--from-file and --to-file both specified");
    if (d->from_file || d->to_file) {
        for (int i = 0; i < count; i++) {
            int one = diff_pair(d, d->from_file ? d->from_file : names[i], d->from_file ? names[i] : d->to_file);
            status = MAX(status, one);
        }
        return status;
    }
    if (count < 2)
        usage_fail(d->p, args, "missing operand after '%s'", args->argv[args->argc - 1]);
    if (count > 2)
        usage_fail(d->p, args, "extra operand '%s'", names[2]);
    return diff_pair(d, names[0], names[1]);
}

static int diff_main(Proc *p, Args *args)
{
    Diff *d = mem_new(&p->keep, Diff);
    *d = (Diff){.p = p, .context = -1, .env = proc_re_env(p), .sgr = {"1", "32", "31", "36", "0"}, .color_now = COLOR_RESET};
    Settings s = {.d = d, .args = args, .old_context = -1};
    buf_init(&s.ignore, &p->keep, BUF_MAX);
    buf_init(&s.functions, &p->keep, BUF_MAX);
    read_options(&s);
    finish_settings(&s);
    int count;
    char **names = args_operands(args, &count);
    d->switches = given_options(p, args, count);
    int status = compare_operands(d, args, names, count);
    return output_status(p) ? TROUBLE : status;
}

#define NOTES "FILES are 'FILE1 FILE2' or 'DIR1 DIR2' or 'DIR FILE' or 'FILE DIR'.\n"                                  \
              "If --from-file or --to-file is given, there are no restrictions on FILE(s).\n"                        \
              "If a FILE is '-', read standard input.\n"                                                              \
              "Exit status is 0 if inputs are the same, 1 if different, 2 if trouble."

COMMAND(diff, "diff [OPTION]... FILES", "Compare FILES line by line.", options, COMMAND_PURE | COMMAND_NAMED_HINT, .usage_status = 2, .notes = NOTES,
        .package = "GNU diffutils 3.8");
