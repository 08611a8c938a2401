/* jq: the command. Options, where the program comes from, the loop over inputs, messages and statuses of jq 1.8.2. */
#include <stdarg.h>

#include "inputs.h"
#include "machine.h"

enum { STATUS_USAGE = 2, STATUS_SYSTEM = 2, STATUS_COMPILE = 3, STATUS_NO_OUTPUT = 4, STATUS_ERROR = 5 };

/* Only for --help and COMMANDS.md: jq reads its own command line. */
static const Option options[] = {
    {'n', "null-input", OPT_FLAG, "use `null` as the single input value", NULL, 0},
    {'R', "raw-input", OPT_FLAG, "read each line as string instead of JSON", NULL, 0},
    {'s', "slurp", OPT_FLAG, "read all inputs into an array and use it as the single input value", NULL, 0},
    {'c', "compact-output", OPT_FLAG, "compact instead of pretty-printed output", NULL, 0},
    {'r', "raw-output", OPT_FLAG, "output strings without escapes and quotes", NULL, 0},
    {0, "raw-output0", OPT_FLAG, "implies -r and output NUL after each output", NULL, 256},
    {'j', "join-output", OPT_FLAG, "implies -r and output without newline after each output", NULL, 0},
    {'a', "ascii-output", OPT_FLAG, "output strings by only ASCII characters using escape sequences", NULL, 0},
    {'S', "sort-keys", OPT_FLAG, "sort keys of each object on output", NULL, 0},
    {'C', "color-output", OPT_FLAG, "colorize JSON output", NULL, 0},
    {'M', "monochrome-output", OPT_FLAG, "disable colored output", NULL, 0},
    {0, "tab", OPT_FLAG, "use tabs for indentation", NULL, 257},
    {0, "indent", OPT_VALUE, "use n spaces for indentation (max 7 spaces)", "n", 258},
    {0, "unbuffered", OPT_FLAG, "flush output stream after each output", NULL, 259},
    {0, "stream", OPT_FLAG, "parse the input value in streaming fashion", NULL, 260},
    {0, "stream-errors", OPT_FLAG, "implies --stream and report parse error as an array", NULL, 261},
    {0, "seq", OPT_FLAG, "parse input/output as application/json-seq", NULL, 262},
    {'f', "from-file", OPT_FLAG, "load the filter from a file", NULL, 0},
    {'L', "library-path", OPT_VALUE, "search modules from the directory", "dir", 0},
    {0, "arg", OPT_VALUE, "set $name to the string value", "name value", 263},
    {0, "argjson", OPT_VALUE, "set $name to the JSON value", "name value", 264},
    {0, "slurpfile", OPT_VALUE, "set $name to an array of JSON values read from the file", "name file", 265},
    {0, "rawfile", OPT_VALUE, "set $name to string contents of file", "name file", 266},
    {0, "args", OPT_FLAG, "consume remaining arguments as positional string values", NULL, 267},
    {0, "jsonargs", OPT_FLAG, "consume remaining arguments as positional JSON values", NULL, 268},
    {'e', "exit-status", OPT_FLAG, "set exit status code based on the output", NULL, 0},
    {'V', "version", OPT_FLAG, "show the version", NULL, 0},
    {0, "build-configuration", OPT_FLAG, "show jq's build configuration", NULL, 269},
    {'h', "help", OPT_FLAG, "show the help", NULL, 0},
    OPTIONS_END,
};

static const char usage_text[] =
    "\nUsage:\tjq [options] <jq filter> [file...]\n"
    "\tjq [options] --args <jq filter> [strings...]\n"
    "\tjq [options] --jsonargs <jq filter> [JSON_TEXTS...]\n\n";

static const char help_text[] =
    "jq is a tool for processing JSON inputs, applying the given filter to\n"
    "its JSON text inputs and producing the filter's results as JSON on\n"
    "standard output.\n\n"
    "The simplest filter is ., which copies jq's input to its output\n"
    "unmodified except for formatting. For more advanced filters see\n"
    "the jq(1) manpage (\"man jq\") and/or https://jqlang.org/.\n\n"
    "Example:\n\n\t$ echo '{\"foo\": 0}' | jq .\n\t{\n\t  \"foo\": 0\n\t}\n\n"
    "Command options:\n";

static const char option_help[] =
    "  -n, --null-input          use `null` as the single input value;\n"
    "  -R, --raw-input           read each line as string instead of JSON;\n"
    "  -s, --slurp               read all inputs into an array and use it as\n"
    "                            the single input value;\n"
    "  -c, --compact-output      compact instead of pretty-printed output;\n"
    "  -r, --raw-output          output strings without escapes and quotes;\n"
    "      --raw-output0         implies -r and output NUL after each output;\n"
    "  -j, --join-output         implies -r and output without newline after\n"
    "                            each output;\n"
    "  -a, --ascii-output        output strings by only ASCII characters\n"
    "                            using escape sequences;\n"
    "  -S, --sort-keys           sort keys of each object on output;\n"
    "  -C, --color-output        colorize JSON output;\n"
    "  -M, --monochrome-output   disable colored output;\n"
    "      --tab                 use tabs for indentation;\n"
    "      --indent n            use n spaces for indentation (max 7 spaces);\n"
    "      --unbuffered          flush output stream after each output;\n"
    "      --stream              parse the input value in streaming fashion;\n"
    "      --stream-errors       implies --stream and report parse error as\n"
    "                            an array;\n"
    "      --seq                 parse input/output as application/json-seq;\n"
    "  -f, --from-file           load the filter from a file;\n"
    "  -L, --library-path dir    search modules from the directory;\n"
    "      --arg name value      set $name to the string value;\n"
    "      --argjson name value  set $name to the JSON value;\n"
    "      --slurpfile name file set $name to an array of JSON values read\n"
    "                            from the file;\n"
    "      --rawfile name file   set $name to string contents of file;\n"
    "      --args                consume remaining arguments as positional\n"
    "                            string values;\n"
    "      --jsonargs            consume remaining arguments as positional\n"
    "                            JSON values;\n"
    "  -e, --exit-status         set exit status code based on the output;\n"
    "  -V, --version             show the version;\n"
    "  --build-configuration     show jq's build configuration;\n"
    "  -h, --help                show the help;\n"
    "  --                        terminates argument processing;\n\n"
    "Named arguments are also available as $ARGS.named[], while\n"
    "positional arguments are available as $ARGS.positional[].\n";

typedef struct {
    J *j;
    Proc *p;
    int argc, at;
    char **argv;
    const char *program;
    char **files;
    int nfiles;
    enum { REST_FILES, REST_STRINGS, REST_JSON } rest;
    Slice *search;
    size_t nsearch;
    bool null_input, raw_input, slurp, raw, nul, join, seq, from_file, exit_status, unbuffered, stream, stream_errors;
    bool color, mono, done;
    PrintStyle style;
} Jq;

/* ---------- command line ---------- */

static NORETURN void bad_usage(Jq *q, const char *format, ...) PRINTF_LIKE(2, 3);

static void bad_usage(Jq *q, const char *format, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    out_printf(q->p->err, "%s\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs at https://jqlang.org\n", text);
    output_flush(q->p->err);
    proc_fail(q->p, STATUS_USAGE);
}

static NORETURN void fail(Jq *q, int status, const char *format, ...) PRINTF_LIKE(3, 4);

static void fail(Jq *q, int status, const char *format, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    out_printf(q->p->err, "%s\n", text);
    output_flush(q->p->err);
    proc_fail(q->p, status);
}

static void show_help(Jq *q)
{
    Output *o = q->p->out;
    out_str(o, "jq - commandline JSON processor [version 1.8.2]\n");
    out_str(o, usage_text);
    out_str(o, help_text);
    out_str(o, option_help);
    proc_exit(q->p, output_status(q->p));
}

static bool one_text(void *user, Slice *more)
{
    Slice *text = user;
    bool any = text->len > 0;
    *more = *text;
    text->len = 0;
    return any;
}

/* Every JSON text of a file, as an array; invalid with *message set when one is bad. */
static Val slurp_texts(Jq *q, Slice text, const char **message)
{
    Reader r;
    Val all = arr_new(q->j, 0), v;
    ReadState state;
    jq_reader_init(&r, q->j);
    r.refill = one_text;
    r.user = &text;
    while ((state = jq_reader_next(&r, &v)) == READ_VALUE)
        all = arr_push(q->j, all, v);
    if (state == READ_ERROR) {
        *message = mem_strdup(&q->p->keep, r.message);
        val_free(q->j, all);
        all = VAL_INVALID;
    }
    jq_reader_drop(&r);
    return all;
}

static Val load_file(Jq *q, const char *option, const char *name, const char *path)
{
    Slice text;
    int error = read_file(q->p, path, &text);
    if (error)
        fail(q, STATUS_SYSTEM, "jq: Bad JSON in --%s %s %s: Could not open %s: %s", option, name, path, path, error_text(error));
    if (strcmp(option, "rawfile") == 0)
        return val_string_utf8(q->j, text);
    const char *message = NULL;
    Val v = slurp_texts(q, text, &message);
    if (v.kind == K_INVALID)
        fail(q, STATUS_SYSTEM, "jq: Bad JSON in --%s %s %s: %s", option, name, path, message);
    return v;
}

static Val json_argument(Jq *q, const char *text, const char *option)
{
    Val v = jq_read_json_text(q->j, slice_str(text));
    q->j->raising = false;
    if (v.kind == K_INVALID)
        bad_usage(q, "jq: invalid JSON text passed to --%s", option);
    return v;
}

static void named_argument(Jq *q, const char *option)
{
    bool file = strcmp(option, "slurpfile") == 0 || strcmp(option, "rawfile") == 0, json = strcmp(option, "argjson") == 0;
    if (q->at + 2 >= q->argc) {
        if (file)
            bad_usage(q, "jq: --%s takes two parameters (e.g. --%s varname filename)", option, option);
        bad_usage(q, json ? "jq: --argjson takes two parameters (e.g. --argjson varname text)" : "jq: --arg takes two parameters (e.g. --arg varname value)");
    }
    const char *name = q->argv[q->at + 1], *text = q->argv[q->at + 2];
    q->at += 2;
    Val key = val_string_utf8(q->j, slice_str(name));
    if (obj_find(q->j->named, key.str)) {
        val_free(q->j, key);
        return;
    }
    Val v = file ? load_file(q, option, name, text) : json ? json_argument(q, text, option) : val_string_utf8(q->j, slice_str(text));
    q->j->named = obj_set(q->j, q->j->named, key, v);
}

static void set_indent(Jq *q)
{
    int64_t n;
    if (q->at + 1 >= q->argc)
        bad_usage(q, "jq: --indent takes one parameter");
    const char *text = q->argv[++q->at];
    if (parse_int(text, &n) || n < -1 || n > 7)
        bad_usage(q, "jq: --indent takes a number between -1 and 7");
    q->style.pretty = true;
    q->style.tab = n == -1;
    q->style.indent = n < 0 ? 0 : (int)n;
}

static void add_search(Jq *q, const char *dir)
{
    Slice *grown = mem_array(&q->p->keep, q->nsearch + 1, Slice);
    if (q->nsearch)
        memcpy(grown, q->search, q->nsearch * sizeof *grown);
    grown[q->nsearch++] = slice_str(dir);
    q->search = grown;
}

static void library_path(Jq *q)
{
    if (q->at + 1 >= q->argc)
        bad_usage(q, "-L takes a parameter: (e.g. -L /search/path or -L/search/path)");
    add_search(q, q->argv[++q->at]);
}

static void show_version(Jq *q, const char *text)
{
    out_str(q->p->out, text);
    proc_exit(q->p, output_status(q->p));
}

/* One letter; false: unknown. */
static bool short_option(Jq *q, char c)
{
    switch (c) {
    case 'n': q->null_input = true; return true;
    case 'R': q->raw_input = true; return true;
    case 's': q->slurp = true; return true;
    case 'c': q->style.pretty = q->style.tab = false; return true;
    case 'r': q->raw = true; return true;
    case 'j': q->raw = q->join = true; return true;
    case 'a': q->style.ascii = true; return true;
    case 'S': q->style.sorted = true; return true;
    case 'C': q->color = true; return true;
    case 'M': q->mono = true; return true;
    case 'e': q->exit_status = true; return true;
    case 'f': q->from_file = true; return true;
    case 'h': show_help(q); return true;
    case 'V': show_version(q, "jq-1.8.2\n"); return true;
    default: return false;
    }
}

static void long_option(Jq *q, const char *name)
{
    static const struct { const char *name; char letter; } letters[] = {
        {"null-input", 'n'}, {"raw-input", 'R'}, {"slurp", 's'}, {"compact-output", 'c'}, {"raw-output", 'r'}, {"join-output", 'j'},
        {"ascii-output", 'a'}, {"sort-keys", 'S'}, {"color-output", 'C'}, {"monochrome-output", 'M'}, {"exit-status", 'e'},
        {"from-file", 'f'}, {"help", 'h'}, {"version", 'V'},
    };
    for (size_t i = 0; i < ARRAY_LEN(letters); i++)
        if (strcmp(name, letters[i].name) == 0) {
            short_option(q, letters[i].letter);
            return;
        }
    if (strcmp(name, "arg") == 0 || strcmp(name, "argjson") == 0 || strcmp(name, "slurpfile") == 0 || strcmp(name, "rawfile") == 0)
        named_argument(q, name);
    else if (strcmp(name, "args") == 0)
        q->rest = REST_STRINGS;
    else if (strcmp(name, "jsonargs") == 0)
        q->rest = REST_JSON;
    else if (strcmp(name, "tab") == 0)
        q->style.pretty = q->style.tab = true;
    else if (strcmp(name, "indent") == 0)
        set_indent(q);
    else if (strcmp(name, "library-path") == 0)
        library_path(q);
    else if (strcmp(name, "raw-output0") == 0)
        q->raw = q->nul = true;
    else if (strcmp(name, "unbuffered") == 0)
        q->unbuffered = true;
    else if (strcmp(name, "stream") == 0)
        q->stream = true;
    else if (strcmp(name, "stream-errors") == 0)
        q->stream = q->stream_errors = true;
    else if (strcmp(name, "seq") == 0)
        q->seq = true;
    else if (strcmp(name, "build-configuration") == 0)
        show_version(q, "libshell\n");
    else
        bad_usage(q, "jq: Unknown option --%s", name);
}

static void letters(Jq *q, const char *text)
{
    for (const char *c = text + 1; *c; c++) {
        if (*c == 'L') {
            if (c[1])
                add_search(q, c + 1);
            else
                library_path(q);
            return;
        }
        if (!short_option(q, *c))
            bad_usage(q, "jq: Unknown option -%c", *c);
    }
}

static void operand(Jq *q, char *text)
{
    if (!q->program) {
        q->program = text;
    } else if (q->rest == REST_FILES) {
        q->files[q->nfiles++] = text;
    } else {
        Val v = q->rest == REST_STRINGS ? val_string_utf8(q->j, slice_str(text)) : json_argument(q, text, "jsonargs");
        q->j->positional = arr_push(q->j, q->j->positional, v);
    }
}

static void command_line(Jq *q)
{
    bool operands = false;
    q->files = mem_array(&q->p->keep, (size_t)q->argc, char *);
    for (q->at = 1; q->at < q->argc; q->at++) {
        char *text = q->argv[q->at];
        bool letter = (text[0] == '-' && text[1] == '-') || (text[0] == '-' && ((text[1] | 32) >= 'a' && (text[1] | 32) <= 'z'));
        if (operands || !letter)
            operand(q, text);
        else if (strcmp(text, "--") == 0)
            operands = true;
        else if (text[1] == '-')
            long_option(q, text + 2);
        else
            letters(q, text);
    }
}

/* ---------- colours ---------- */

/* JQ_COLORS: fields of digits and semicolons between colons; anything else and jq says so. */
static bool read_colors(Jq *q, const char *text, const char **colors)
{
    for (int i = 0; i < 8 && *text; i++) {
        size_t n = strspn(text, "0123456789;");
        if (text[n] && text[n] != ':')
            return false;
        colors[i] = mem_printf(&q->p->keep, "\033[%.*sm", (int)n, text);
        text += n;
        if (*text == ':')
            text++;
        else
            break;
    }
    return true;
}

static void choose_colors(Jq *q)
{
    static const char *const defaults[] = {"\033[0;90m", "\033[0;39m", "\033[0;39m", "\033[0;39m",
                                           "\033[0;32m", "\033[1;39m", "\033[1;39m", "\033[1;34m"};
    const char *no_color = proc_getenv(q->p, "NO_COLOR");
    bool tty = proc_isatty(q->p, 1);
    q->style.color = !q->mono && (q->color || (tty && !(no_color && *no_color)));
    if (!q->style.color)
        return;
    const char **colors = mem_array(&q->p->keep, 8, const char *);
    memcpy(colors, defaults, sizeof defaults);
    const char *wanted = proc_getenv(q->p, "JQ_COLORS");
    if (wanted && !read_colors(q, wanted, colors)) {
        memcpy(colors, defaults, sizeof defaults);
        out_str(q->p->err, "Failed to set $JQ_COLORS\n");
        output_flush(q->p->err);
    }
    q->style.colors = colors;
}

/* ---------- running ---------- */

typedef struct {
    Jq *q;
    Machine machine;
    Inputs inputs;
    Sink sink;
    int status;
    bool any, truthy; /* a result was printed; the last one was neither false nor null */
} Run;

static void say(Run *r, const char *format, ...) PRINTF_LIKE(2, 3);

static void say(Run *r, const char *format, ...)
{
    Proc *p = r->q->p;
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    jsink_done(&r->sink);
    output_flush(p->out);
    out_str(p->err, text);
}

static void end_message(Run *r, Slice text)
{
    Proc *p = r->q->p;
    out_write(p->err, text);
    out_char(p->err, '\n');
    output_flush(p->err);
}

static void position(Run *r, char *buf, size_t size)
{
    if (r->inputs.current)
        snprintf(buf, size, "%s:%llu", r->inputs.current, (unsigned long long)jq_inputs_lines(&r->inputs));
    else
        snprintf(buf, size, "<unknown>");
}

static void print_error(Run *r, Val error)
{
    char at[200];
    J *j = r->q->j;
    r->status = STATUS_ERROR;
    position(r, at, sizeof at);
    if (error.kind == K_STRING) {
        Slice text = val_slice(error);
        say(r, "jq: error (at %s): ", at);
        end_message(r, (Slice){text.data, slice_find(text, 0)});
    } else {
        Val text = val_tojson(j, val_copy(error));
        say(r, "jq: error (at %s) (not a string): ", at);
        end_message(r, val_slice(text));
        val_free(j, text);
    }
}

static bool print_result(Run *r, Val v)
{
    const Jq *q = r->q;
    if (q->raw && v.kind == K_STRING) {
        if (q->nul && memchr(v.str->data, 0, v.str->len)) {
            Val message = val_text(q->j, "Cannot dump a string containing NUL with --raw-output0 option");
            print_error(r, message);
            val_free(q->j, message);
            return false;
        }
        if (q->style.ascii)
            jq_print_string(&r->sink, val_slice(v), true);
        else
            jsink_write(&r->sink, val_slice(v));
    } else {
        if (q->seq)
            sink_char(&r->sink, 036);
        jq_print_value(&r->sink, v, &q->style);
    }
    if (q->nul)
        sink_char(&r->sink, 0);
    else if (!q->join)
        sink_char(&r->sink, '\n');
    r->any = true;
    r->truthy = val_truthy(v);
    if (q->unbuffered) {
        jsink_done(&r->sink);
        output_flush(q->p->out);
    }
    return true;
}

static void halted(Run *r)
{
    J *j = r->q->j;
    Proc *p = r->q->p;
    Val v = j->halt_value;
    r->status = j->halt_status;
    jsink_done(&r->sink);
    output_flush(p->out);
    if (v.kind == K_STRING) {
        out_write(p->err, val_slice(v));
    } else if (v.kind != K_INVALID && v.kind != K_NULL) {
        Val text = val_tojson(j, val_copy(v));
        out_write(p->err, val_slice(text));
        out_char(p->err, '\n');
        val_free(j, text);
    }
    output_flush(p->err);
}

/* Runs the program on one input; r->status is this input's. */
static void process(Run *r, Val input)
{
    J *j = r->q->j;
    r->status = 0;
    jq_machine_start(&r->machine, input);
    for (;;) {
        Val v = jq_machine_next(&r->machine);
        if (v.kind == K_INVALID)
            break;
        bool fine = print_result(r, v);
        val_free(j, v);
        if (!fine) {
            jq_machine_reset(&r->machine);
            return;
        }
    }
    if (j->halted) {
        halted(r);
    } else if (j->raising) {
        Val error = j->error;
        j->error = VAL_NULL;
        j->raising = false;
        print_error(r, error);
        val_free(j, error);
    }
}

static int exit_status(const Run *r)
{
    const Jq *q = r->q;
    if (q->j->halted)
        return r->status;
    if (r->inputs.failures)
        return STATUS_SYSTEM;
    if (r->status)
        return r->status;
    if (!q->exit_status)
        return 0;
    return !r->any ? STATUS_NO_OUTPUT : !r->truthy;
}

static void all_inputs(Run *r)
{
    J *j = r->q->j;
    ReadState state;
    Val v;
    while (!j->halted && (state = jq_inputs_next(&r->inputs, &v)) != READ_END) {
        if (state == READ_VALUE) {
            if (v.kind >= K_ARRAY && jq_inputs_last(&r->inputs))
                j->last_input = v.str;
            process(r, v);
            continue;
        }
        if (r->q->seq) {
            say(r, "jq: ignoring parse error: ");
            end_message(r, slice_str(r->inputs.reader.message));
            continue;
        }
        r->status = STATUS_ERROR;
        say(r, "jq: parse error: ");
        end_message(r, slice_str(r->inputs.reader.message));
        break;
    }
}

static int run(Jq *q, JqProgram *program)
{
    J *j = q->j;
    Run *r = mem_new(&q->p->keep, Run);
    r->q = q;
    r->inputs = (Inputs){.j = j, .names = q->files, .count = q->nfiles, .fd = -1, .raw = q->raw_input, .slurp = q->slurp, .out = &r->sink};
    buf_init(&r->inputs.line, &q->p->keep, JQ_MAX_BYTES);
    jq_reader_init(&r->inputs.reader, j);
    r->inputs.reader.stream = q->stream;
    r->inputs.reader.stream_errors = q->stream_errors;
    r->inputs.reader.seq = r->inputs.reader.waiting = q->seq;
    j->inputs = &r->inputs;
    j->style = &q->style;
    jsink_output(&r->sink, j, q->p->out);
    jq_machine_init(&r->machine, j, program);
    if (q->null_input)
        process(r, VAL_NULL);
    else
        all_inputs(r);
    jsink_done(&r->sink);
    int written = output_status(q->p);
    return written ? STATUS_SYSTEM : exit_status(r);
}

static Slice program_text(Jq *q)
{
    Slice text;
    if (!q->from_file)
        return slice_str(q->program);
    int error = read_file(q->p, q->program, &text);
    if (error)
        fail(q, STATUS_SYSTEM, "jq: Could not open %s: %s", q->program, error_text(error));
    if (text.len && memchr(text.data, 0, text.len))
        fail(q, STATUS_SYSTEM, "jq: program file contains NUL bytes");
    return text;
}

static void default_search(Jq *q)
{
    if (q->nsearch)
        return;
    add_search(q, "~/.jq");
    add_search(q, "$ORIGIN/../lib/jq");
    add_search(q, "$ORIGIN/../lib");
}

J *jq_engine(Proc *p)
{
    J *j = mem_new(&p->keep, J);
    j->proc = p;
    j->mem = proc_mem_new(p);
    j->error = VAL_NULL;
    j->empty = str_alloc(j, 0);
    j->empty->ascii = true;
    return j;
}

static int jq_main(Proc *p, Args *args)
{
    J *j = jq_engine(p);
    Jq q = {.j = j, .p = p, .argc = args->argc, .argv = args->argv, .style = {.pretty = true, .indent = 2}};
    j->named = obj_new(j, 0);
    j->positional = arr_new(j, 0);
    command_line(&q);
    if (!q.program)
        q.program = ".";
    choose_colors(&q);
    default_search(&q);
    JqProgram program = {.mem = &p->keep, .search = q.search, .nsearch = q.nsearch};
    buf_init(&program.errors.text, &p->keep, JQ_MAX_BYTES);
    if (!jq_compile(j, &program, program_text(&q), q.from_file ? q.program : "<top-level>")) {
        out_write(p->err, buf_slice(&program.errors.text));
        out_printf(p->err, "jq: %u compile error%s\n", program.errors.count, program.errors.count == 1 ? "" : "s");
        output_flush(p->err);
        return STATUS_COMPILE;
    }
    return run(&q, &program);
}

COMMAND(jq, "jq [options] <jq filter> [file...]\njq [options] --args <jq filter> [strings...]\njq [options] --jsonargs <jq filter> [JSON_TEXTS...]",
        "Process JSON with a filter language.", options, COMMAND_RAW | COMMAND_SPAWNS, .package = "jq 1.8.2");
