/* yq: the command. The options of mikefarah's yq 4 over jq's language. */
#include <stdarg.h>
#include <stdio.h>

#include "shared.h"
#include "../reader.h"
#include "yq.h"

typedef enum { FMT_AUTO, FMT_YAML, FMT_JSON, FMT_CSV, FMT_TSV, FMT_PROPS, FMT_TOML, FMT_XML } Format;

static const Option options[] = {
    {'C', "colors", OPT_FLAG, "force print with colors", NULL, 'C'},
    {'M', "no-colors", OPT_FLAG, "force print with no colors", NULL, 'M'},
    {'e', "exit-status", OPT_FLAG, "set exit status if there are no matches or null or false is returned", NULL, 'e'},
    {0, "expression", OPT_VALUE, "forcibly set the expression argument", "string", 256},
    {0, "from-file", OPT_VALUE, "load expression from specified file", "string", 257},
    {'I', "indent", OPT_VALUE, "sets indent level for output (default 2)", "int", 'I'},
    {'f', "front-matter", OPT_VALUE, "(extract|process) the first document is what stands before other text, between lines of ---", "string", 'f'},
    {'i', "inplace", OPT_FLAG, "update the file in place of first file given", NULL, 'i'},
    {'p', "input-format", OPT_VALUE, "[auto|yaml|json|csv|tsv|props|toml|xml] parse format for input", "string", 'p'},
    {'N', "no-doc", OPT_FLAG, "don't print document separators (---)", NULL, 'N'},
    {'n', "null-input", OPT_FLAG, "don't read input, simply evaluate the expression given", NULL, 'n'},
    {'o', "output-format", OPT_VALUE, "[auto|yaml|json|csv|tsv|props|toml|xml] output format type", "string", 'o'},
    {'P', "prettyPrint", OPT_FLAG, "pretty print, shorthand for '... style = \"\"'", NULL, 'P'},
    {'j', "tojson", OPT_FLAG, "(deprecated) output as json", NULL, 'j'},
    {'r', "unwrapScalar", OPT_OPTIONAL, "unwrap scalar, print the value with no quotes or comments", "bool", 'r'},
    {'s', "split-exp", OPT_VALUE, "print each result into a file named by the expression", "string", 's'},
    {'V', "version", OPT_FLAG, "print version information and quit", NULL, 'V'},
    {'v', "verbose", OPT_FLAG, "verbose mode", NULL, 'v'},
    OPTIONS_END,
};

typedef struct Yc {
    Yq q;
    Format in, out;
    bool all, null_input, inplace, exit_status;
    enum { FRONT_NONE, FRONT_EXTRACT, FRONT_PROCESS } front;
    Slice behind; /* --front-matter=process: the text behind it */
    const char *expression, *split;
    Machine machine;
    Sink sink;
    size_t printed, number;
    const YDoc *last; /* eval-all: whose value was printed last */
    bool any, truthy;
} Yc;

void yq_fail(Yq *q, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    output_flush(q->p->out);
    out_printf(q->p->err, "Error: %s\n", text);
    output_flush(q->p->err);
    proc_fail(q->p, 1);
}

/* ---------- printing ---------- */

static void print_json(Yc *c, Val v)
{
    static const char *const colors[] = {"", "\033[95m", "\033[95m", "\033[95m", "\033[32m", "", "", "\033[36m"};
    PrintStyle style = {.pretty = c->q.indent > 0, .indent = c->q.indent, .color = c->q.color, .colors = colors};
    if (c->q.raw && v.kind == K_STRING)
        jsink_write(&c->sink, val_slice(v));
    else
        jq_print_value(&c->sink, v, &style);
    sink_char(&c->sink, '\n');
}

static void print_result(Yc *c, Val v, const YDoc *doc)
{
    c->any = true;
    c->truthy = val_truthy(v);
    if (c->all && doc)
        doc = yq_document_of(&c->q, v);
    bool separate = c->printed++ && (c->q.split_docs || (c->all ? doc != c->last : c->number > 1)) && !c->q.no_separator && c->out == FMT_YAML;
    c->last = doc;
    if (separate)
        jsink_write(&c->sink, SLICE("---\n"));
    else if (c->printed == 1 && !c->split && doc && doc->explicit_start && !doc->file && !doc->index && c->out == FMT_YAML && !c->q.no_separator && v.kind == doc->value.kind && (v.kind == K_OBJECT || v.kind == K_ARRAY)) {
        if (doc->head.len) {
            jsink_write(&c->sink, doc->head);
            sink_char(&c->sink, '\n');
        }
        jsink_write(&c->sink, SLICE("---\n"));
    }
    switch (c->out) {
    case FMT_JSON: print_json(c, v); break;
    case FMT_CSV: table_write(&c->q, &c->sink, v, ','); break;
    case FMT_TSV: table_write(&c->q, &c->sink, v, '\t'); break;
    case FMT_TOML: toml_write(&c->q, &c->sink, v); break;
    case FMT_XML: xml_write(&c->q, &c->sink, v); break;
    case FMT_PROPS: props_write(&c->q, &c->sink, v, ""); break;
    default: yaml_write(&c->q, &c->sink, v, doc ? doc->root : NULL); break;
    }
}

static void print_error(Yc *c)
{
    J *j = c->q.j;
    Val error = j->error, text = val_tostring(j, val_copy(error));
    j->error = VAL_NULL;
    j->raising = false;
    jsink_done(&c->sink);
    yq_fail(&c->q, "%.*s", (int)text.str->len, text.str->data);
}

/* -s: each result into a file of its own. */
static void print_split(Yc *c, Val v, const YDoc *doc, size_t index)
{
    Yq *q = &c->q;
    JqProgram program = {.mem = &q->p->keep};
    Machine m;
    buf_init(&program.errors.text, &q->p->keep, JQ_MAX_BYTES);
    if (!jq_compile(q->j, &program, yq_translate(q, slice_str(mem_printf(&q->p->keep, "%zu as $index | %s", index, c->split))), "<split-exp>"))
        yq_fail(q, "bad split expression: %.*s", (int)program.errors.text.len, program.errors.text.data);
    jq_machine_init(&m, q->j, &program);
    jq_machine_start(&m, val_copy(v));
    Val name = jq_machine_next(&m);
    if (name.kind == K_INVALID)
        print_error(c);
    name = val_tostring(q->j, name);
    bool extension = slice_find(val_slice(name), '.') < name.str->len;
    const char *file = mem_printf(&q->p->keep, "%.*s%s", (int)name.str->len, name.str->data, extension ? "" : c->out == FMT_JSON ? ".json" : ".yml");
    int fd = proc_open(q->p, file, V_WRITE | V_CREATE | V_TRUNC, 0666);
    if (fd < 0)
        yq_fail(q, "open %s: %s", file, error_text(fd));
    Output o = {0};
    output_init(q->p, &o, fd);
    jsink_output(&c->sink, q->j, &o);
    c->printed = 0;
    print_result(c, v, doc);
    jsink_done(&c->sink);
    output_flush(&o);
    proc_close(q->p, fd);
}

static void run_on(Yc *c, Val input, const YDoc *doc)
{
    J *j = c->q.j;
    c->number++;
    c->q.current = doc;
    jq_machine_start(&c->machine, input);
    for (size_t index = 0;; index++) {
        Val v = jq_machine_next(&c->machine);
        if (v.kind == K_INVALID)
            break;
        if (c->split)
            print_split(c, v, doc, c->number - 1 + index);
        else
            print_result(c, v, doc);
        val_free(j, v);
    }
    if (j->raising)
        print_error(c);
}

/* ---------- inputs ---------- */

static bool ends(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

static Format format_of(const char *file)
{
    return !file ? FMT_YAML : ends(file, ".json") ? FMT_JSON : ends(file, ".csv") ? FMT_CSV : ends(file, ".tsv") ? FMT_TSV : ends(file, ".toml") ? FMT_TOML : ends(file, ".properties") ? FMT_PROPS : ends(file, ".xml") ? FMT_XML : FMT_YAML;
}

static Format format_named(Yq *q, const char *name)
{
    static const struct { const char *name; Format f; } names[] = {{"auto", FMT_AUTO}, {"a", FMT_AUTO}, {"yaml", FMT_YAML}, {"y", FMT_YAML}, {"yml", FMT_YAML}, {"json", FMT_JSON}, {"j", FMT_JSON},
                                                                   {"csv", FMT_CSV}, {"c", FMT_CSV}, {"tsv", FMT_TSV}, {"t", FMT_TSV}, {"props", FMT_PROPS}, {"p", FMT_PROPS},
                                                                   {"toml", FMT_TOML}, {"xml", FMT_XML}, {"x", FMT_XML}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].f;
    yq_fail(q, "unknown format '%s'", name);
}

static YDoc *one_document(Yq *q, Val v)
{
    YDoc *d = mem_alloc0(&q->p->keep, sizeof *d);
    yq_adopt(q, &v, NULL, slice(NULL, 0), 0);
    d->value = v;
    return d;
}

static bool one_text(void *user, Slice *more)
{
    Slice *text = user;
    *more = *text;
    bool any = text->len > 0;
    text->len = 0;
    return any;
}

static YDoc *read_json(Yq *q, Slice text, const char *name)
{
    Reader r;
    Val v;
    ReadState state;
    YDoc *first = NULL, **end = &first;
    jq_reader_init(&r, q->j);
    r.refill = one_text;
    r.user = &text;
    while ((state = jq_reader_next(&r, &v)) == READ_VALUE) {
        *end = one_document(q, v);
        end = &(*end)->next;
    }
    if (state == READ_ERROR)
        yq_fail(q, "bad file '%s': json: %s", name, r.message);
    jq_reader_drop(&r);
    return first;
}

static YDoc *parse_text(Yq *q, Format f, Slice text, const char *name)
{
    if (f == FMT_JSON)
        return read_json(q, text, name);
    if (f == FMT_CSV || f == FMT_TSV)
        return one_document(q, table_read(q, text, f == FMT_CSV ? ',' : '\t'));
    if (f == FMT_TOML)
        return one_document(q, toml_read(q, text, name));
    if (f == FMT_PROPS)
        return one_document(q, props_read(q, text, name));
    if (f == FMT_XML)
        return one_document(q, xml_read(q, text, name));
    return yaml_read(q, text, name);
}

Val yq_load(Yq *q, const char *file, const char *format)
{
    Slice text;
    int err = read_file(q->p, file, &text);
    if (err)
        return jq_error(q->j, "failed to load %s: open %s: %s", file, file, err == -ENOENT ? "no such file or directory" : error_text(err));
    return strcmp(format, "str") == 0 ? val_string_utf8(q->j, text) : yq_parse(q, text, format, file);
}

Val yq_parse(Yq *q, Slice text, const char *format, const char *name)
{
    text = slice(mem_copy(&q->p->keep, text), text.len);
    YDoc *d = parse_text(q, format_named(q, format), text, name);
    if (!d)
        return VAL_NULL;
    if (!d->next)
        return val_copy(d->value);
    Val all = arr_new(q->j, 2);
    for (; d; d = d->next)
        all = arr_push(q->j, all, val_copy(d->value));
    return all;
}

/* The YAML before a line of --- that is not the first; the rest stays as it is. */
static Slice front_matter(Yc *c, Slice text)
{
    Slice rest = text;
    for (bool first = true; rest.len; first = false) {
        size_t n = slice_find(rest, '\n');
        Slice line = slice(rest.data, n && rest.data[n - 1] == '\r' ? n - 1 : n);
        if (!first && slice_is(line, "---")) {
            c->behind = rest;
            return slice(text.data, text.len - rest.len);
        }
        rest = slice_from(rest, MIN(n + 1, rest.len));
    }
    return text;
}

static YDoc *read_input(Yc *c, const char *file, size_t number)
{
    Yq *q = &c->q;
    Slice text;
    const char *name = file ? file : "-";
    if (!file || strcmp(file, "-") == 0) {
        text = read_all(q->p, 0);
    } else {
        int err = read_file(q->p, file, &text);
        if (err)
            yq_fail(q, "open %s: %s", file, err == -ENOENT ? "no such file or directory" : error_text(err));
    }
    text = slice(mem_copy(&q->p->keep, text), text.len);
    if (c->front)
        text = front_matter(c, text);
    Format f = c->front ? FMT_YAML : c->in == FMT_AUTO ? format_of(file) : c->in;
    YDoc *first = parse_text(q, f, text, name);
    size_t index = 0;
    for (YDoc *d = first; d; d = d->next) {
        d->name = name;
        d->file = number;
        d->index = index++;
    }
    return first;
}

/* ---------- the command line ---------- */

static void compile(Yc *c, JqProgram *program)
{
    Yq *q = &c->q;
    *program = (JqProgram){.mem = &q->p->keep, .all = c->all && !c->null_input};
    buf_init(&program->errors.text, &q->p->keep, JQ_MAX_BYTES);
    if (jq_compile(q->j, program, yq_translate(q, slice_str(c->expression)), "<expression>"))
        return;
    out_str(q->p->err, "Error: bad expression\n");
    out_write(q->p->err, buf_slice(&program->errors.text));
    output_flush(q->p->err);
    proc_fail(q->p, 1);
}

static void take_option(Yc *c, Args *args, int id)
{
    Yq *q = &c->q;
    int64_t n;
    Slice text;
    if (args->value && args->value[0] == '=') /* -o=json */
        args->value++;
    switch (id) {
    case 'C': q->color = true; break;
    case 'M': q->color = false; break;
    case 'e': c->exit_status = true; break;
    case 256: c->expression = args->value; break;
    case 257:
        if (read_file(q->p, args->value, &text))
            yq_fail(q, "open %s: no such file or directory", args->value);
        c->expression = mem_copy(&q->p->keep, text);
        break;
    case 'f':
        c->front = strcmp(args->value, "extract") == 0 ? FRONT_EXTRACT : FRONT_PROCESS;
        if (c->front == FRONT_PROCESS && strcmp(args->value, "process") != 0)
            yq_fail(q, "unknown front matter flag \"%s\": it is extract or process", args->value);
        break;
    case 'I':
        if (parse_int(args->value, &n) || n < 0 || n > 9)
            yq_fail(q, "invalid argument \"%s\" for \"-I, --indent\" flag", args->value);
        q->indent = (int)n;
        break;
    case 'i': c->inplace = true; break;
    case 'p': c->in = format_named(q, args->value); break;
    case 'o': c->out = format_named(q, args->value); break;
    case 'j': c->out = FMT_JSON; break;
    case 'N': q->no_separator = true; break;
    case 'n': c->null_input = true; break;
    case 'P': q->pretty = true; break;
    case 'r': q->raw = !(args->value && strcmp(args->value, "false") == 0); break;
    case 's': c->split = args->value; break;
    case 'V':
        out_str(q->p->out, "yq (libshell) version v4\n");
        proc_exit(q->p, output_status(q->p));
    default: break;
    }
}

static bool is_file(Proc *p, const char *name)
{
    VStat st;
    return strcmp(name, "-") == 0 || proc_stat(p, name, 0, &st) == 0;
}

/* eval-all: the program once, over the documents of all the files. */
static void run_all(Yc *c, char **files, int n)
{
    YDoc *first = NULL, **end = &first;
    Val values = arr_new(c->q.j, 0);
    for (int i = 0; i < MAX(n, 1); i++)
        for (*end = read_input(c, n ? files[i] : NULL, (size_t)i); *end; end = &(*end)->next)
            values = arr_push(c->q.j, values, val_copy((*end)->value));
    c->q.documents = first;
    c->number = 1;
    run_on(c, values, first);
}

static void all_files(Yc *c, char **files, int n)
{
    if (c->null_input) {
        run_on(c, VAL_NULL, NULL);
        return;
    }
    if (c->all) {
        run_all(c, files, n);
        return;
    }
    for (int i = 0; i < MAX(n, 1); i++) {
        for (YDoc *d = read_input(c, n ? files[i] : NULL, (size_t)i); d; d = d->next)
            run_on(c, val_copy(d->value), d);
        if (c->front == FRONT_PROCESS)
            jsink_write(&c->sink, c->behind);
        c->behind = slice("", 0);
    }
}

/* Into a file beside it, which then takes its place with its mode. */
static void in_place(Yc *c, char **files, int n)
{
    Yq *q = &c->q;
    Output o = {0};
    VStat st;
    const char *file = files[0];
    const char *temporary = mem_printf(&q->p->keep, "%s.yq-%d", file, (int)q->p->pid);
    int err = proc_stat(q->p, file, 0, &st);
    int fd = err ? err : proc_open(q->p, temporary, V_WRITE | V_CREATE | V_EXCL, st.mode & 0777);
    if (fd < 0)
        yq_fail(q, "open %s: %s", temporary, error_text(fd));
    output_init(q->p, &o, fd);
    jsink_output(&c->sink, q->j, &o);
    all_files(c, files, c->all ? n : 1);
    jsink_done(&c->sink);
    output_flush(&o);
    proc_close(q->p, fd);
    err = o.error ? o.error : proc_rename(q->p, temporary, file, false);
    if (err) {
        proc_unlink(q->p, temporary);
        yq_fail(q, "%s: %s", file, error_text(err));
    }
}

static int yq_main(Proc *p, Args *args)
{
    Yc *c = mem_alloc0(&p->keep, sizeof *c);
    J *j = jq_engine(p);
    c->q = (Yq){.j = j, .p = p, .indent = 2, .raw = true};
    j->yq = &c->q;
    j->named = obj_new(j, 0);
    j->positional = arr_new(j, 0);
    for (int id; (id = args_next(p, args)) >= 0;)
        take_option(c, args, id);
    int n;
    char **operands = args_operands(args, &n);
    c->all = n && (strcmp(operands[0], "eval-all") == 0 || strcmp(operands[0], "ea") == 0);
    if (n && (c->all || strcmp(operands[0], "eval") == 0 || strcmp(operands[0], "e") == 0)) {
        operands++;
        n--;
    }
    if (!c->expression && n && !(n == 1 && is_file(p, operands[0]) && operands[0][0] != '.')) {
        c->expression = operands[0];
        operands++;
        n--;
    }
    if (!c->expression)
        c->expression = ".";
    if (c->inplace && (!n || c->null_input))
        yq_fail(&c->q, "write in place flag only applicable when giving an expression and at least one file");
    Format in = c->front ? FMT_YAML : c->in == FMT_AUTO ? format_of(n ? operands[0] : NULL) : c->in;
    if (c->out == FMT_AUTO)
        c->out = in == FMT_JSON || in == FMT_CSV || in == FMT_TSV || in == FMT_TOML || in == FMT_XML ? in : FMT_YAML;
    if (c->out == FMT_JSON && in != FMT_JSON)
        c->q.raw = false;
    JqProgram program;
    compile(c, &program);
    jq_machine_init(&c->machine, j, &program);
    jsink_output(&c->sink, j, p->out);
    if (c->inplace)
        in_place(c, operands, n);
    else
        all_files(c, operands, n);
    if (!c->inplace && !c->split)
        jsink_done(&c->sink);
    int status = output_status(p);
    if (!status && c->exit_status && (!c->any || !c->truthy)) {
        output_flush(p->out);
        out_str(p->err, "Error: no matches found\n");
        status = 1;
    }
    return status;
}

COMMAND(yq, "yq [options] [eval|eval-all] [expression] [file]...", "Process YAML, JSON, CSV, TSV, properties, TOML and XML with a filter language.", options, COMMAND_WRITES | COMMAND_SPAWNS, .package = "yq 4 (mikefarah)",
        .notes = "The language is jq's, with yq's names of operators; comments, styles and anchors of what was not touched are kept. TOML's dates are strings;\n"
                 "XML's comments and document types are dropped, and nothing is loaded for it. eval-all takes each part of the program over all documents.\n"
                 "system() is refused.");
