/* awk, gawk: pattern scanning and processing. Options, set-up, the main loop. */
#include "awk.h"

#include "machine.h"
#include "parser.h"
#include "run.h"

enum { OPT_COPYRIGHT = 256, OPT_PRETTY, OPT_DUMP, OPT_HELP, OPT_VERSION };

static const Option options[] = {
    {'f', "file", OPT_VALUE, "read the program from a file", "progfile", 'f'},
    {'F', "field-separator", OPT_VALUE, "split fields by fs", "fs", 'F'},
    {'v', "assign", OPT_VALUE, "set a variable before the program begins", "var=val", 'v'},
    {'b', "characters-as-bytes", OPT_FLAG, "a character is a byte", NULL, 'b'},
    {'c', "traditional", OPT_FLAG, "accepted", NULL, 'c'},
    {'C', "copyright", OPT_FLAG, "print the licence note", NULL, OPT_COPYRIGHT},
    {'e', "source", OPT_VALUE, "program text", "program-text", 'e'},
    {'E', "exec", OPT_VALUE, "as -f, and no further options", "file", 'E'},
    {'h', "help", OPT_FLAG, "print this help", NULL, OPT_HELP},
    {'i', "include", OPT_VALUE, "include a source file (inplace: edit files in place)", "includefile", 'i'},
    {'k', "csv", OPT_FLAG, "input is comma-separated values (as gawk 5.3)", NULL, 'k'},
    {'L', "lint", OPT_OPTIONAL, "warn of what is doubtful (gawk's commonest warnings)", "fatal|invalid|no-ext", 'L'},
    {'n', "non-decimal-data", OPT_FLAG, "numbers in data may be octal and hexadecimal", NULL, 'n'},
    {'N', "use-lc-numeric", OPT_FLAG, "accepted", NULL, 'N'},
    {'O', "optimize", OPT_FLAG, "accepted", NULL, 'O'},
    {'P', "posix", OPT_FLAG, "accepted", NULL, 'P'},
    {'r', "re-interval", OPT_FLAG, "accepted", NULL, 'r'},
    {'s', "no-optimize", OPT_FLAG, "accepted", NULL, 's'},
    {'S', "sandbox", OPT_FLAG, "no system(), no redirections, no further files", NULL, 'S'},
    {'t', "lint-old", OPT_FLAG, "accepted", NULL, 't'},
    {'V', "version", OPT_FLAG, "print the version", NULL, OPT_VERSION},
    OPTIONS_END,
};

/* ---------- the program's text ---------- */

static void add_source(Awk *w, Source ***tail, const char *name, Slice text, bool is_file)
{
    Source *s = mem_new(&w->p->keep, Source);
    *s = (Source){.name = name, .text = text, .is_file = is_file};
    **tail = s;
    *tail = &s->next;
}

static void add_file(Awk *w, Source ***tail, const char *name)
{
    Slice text;
    int err = 0;
    const char *given = name;
    if (strcmp(name, "-") == 0 || strcmp(name, "/dev/stdin") == 0)
        text = read_all(w->p, 0);
    else
        err = awk_source_find(w, slice_str(name), &text, &name);
    if (err)
        awk_fatal(w, "cannot open source file `%s' for reading: %s", given, error_text(err));
    add_source(w, tail, name, slice(mem_copy(&w->p->keep, text), text.len), true);
}

/* ---------- set-up ---------- */

static void release(Proc *p, void *thing)
{
    (void)p;
    rx_release_all(thing);
}

static void set_text(Awk *w, uint32_t index, const char *text)
{
    Value *v = &w->globals[index];
    value_release(w, v);
    *v = value_plain(w, slice_str(text));
}

static void globals_make(Awk *w)
{
    uint32_t n = MAX(w->prog.global_count, (uint32_t)G_KNOWN);
    w->globals = mem_array(&w->p->keep, n + 1, Value);
    set_text(w, G_FS, " ");
    set_text(w, G_OFS, " ");
    set_text(w, G_ORS, "\n");
    set_text(w, G_RS, "\n");
    set_text(w, G_SUBSEP, "\034");
    set_text(w, G_CONVFMT, "%.6g");
    set_text(w, G_OFMT, "%.6g");
    set_text(w, G_FPAT, "[^[:space:]]+");
    set_text(w, G_FIELDWIDTHS, "");
    set_text(w, G_TEXTDOMAIN, "messages");
    set_text(w, G_ROUNDMODE, "N");
    w->globals[G_PREC] = value_num(53);
    set_text(w, G_RT, "");
    set_text(w, G_FILENAME, "");
    set_text(w, G_ERRNO, "");
    w->globals[G_RLENGTH] = value_num(-1);
    w->globals[G_RSTART] = value_num(0);
    w->globals[G_BINMODE] = w->globals[G_LINT] = w->globals[G_IGNORECASE] = w->globals[G_ARGIND] = value_num(0);
    w->globals[G_NR] = w->globals[G_FNR] = w->globals[G_NF] = value_num(0);
    static const uint32_t assigned[] = {G_FS, G_OFS, G_ORS, G_RS, G_SUBSEP, G_CONVFMT, G_OFMT};
    for (unsigned i = 0; i < ARRAY_LEN(assigned); i++)
        special_assigned(w, assigned[i]);
}

static void set_element(Awk *w, Array *a, const char *key, Value v)
{
    Value *slot = table_get_str(w, a, key);
    value_release(w, slot);
    *slot = v;
}

/* FUNCTAB and SYMTAB, for programs that name them; what SYMTAB holds is looked up in the variables themselves. */
static void tables_make(Awk *w)
{
    if (w->prog.uses_functab) {
        Array *functions = global_array(w, G_FUNCTAB);
        for (uint32_t i = 0; i < B_COUNT; i++)
            set_element(w, functions, builtin_info[i].name, value_plain(w, slice_str(builtin_info[i].name)));
        for (uint32_t i = 0; i < w->prog.function_count; i++)
            set_element(w, functions, w->prog.functions[i].name.data, value_plain(w, w->prog.functions[i].name));
    }
    if (!w->prog.uses_symtab)
        return;
    w->symtab = global_array(w, G_SYMTAB);
    for (uint32_t i = 0; i < w->prog.global_count; i++)
        if (i != G_SYMTAB && i != G_FUNCTAB)
            table_get_str(w, w->symtab, w->prog.global_by_index[i]);
}

static void identifier(Awk *w, Array *a, const char *name, const char *what) { set_element(w, a, name, value_plain(w, slice_str(what))); }

static void identifiers_make(Awk *w, Array *a)
{
    for (uint32_t i = 0; i < w->prog.global_count; i++) {
        bool known = i < G_KNOWN;
        bool array = i == G_ENVIRON || i == G_ARGV || i == G_PROCINFO || i == G_SYMTAB || i == G_FUNCTAB;
        identifier(w, a, w->prog.global_by_index[i], array ? "array" : known ? "scalar" : "untyped");
    }
    for (uint32_t i = 0; i < B_COUNT; i++)
        identifier(w, a, builtin_info[i].name, "builtin");
    for (uint32_t i = 0; i < w->prog.function_count; i++)
        identifier(w, a, w->prog.functions[i].name.data, "user");
}

static void procinfo_make(Awk *w, const Args *args)
{
    Array *a = global_array(w, G_PROCINFO);
    set_element(w, a, "version", value_plain(w, SLICE("5.2.1")));
    set_element(w, a, "strftime", value_plain(w, SLICE("%a %b %e %H:%M:%S %Z %Y")));
    set_element(w, a, "FS", value_plain(w, SLICE("FS")));
    set_element(w, a, "platform", value_plain(w, SLICE("posix")));
    set_element(w, a, "pid", value_num(w->p->pid));
    set_element(w, a, "ppid", value_num(w->p->parent ? w->p->parent->pid : 0));
    set_element(w, a, "pgrpid", value_num(w->p->pgid));
    set_element(w, a, "uid", value_num(w->p->cred.uid));
    set_element(w, a, "euid", value_num(w->p->cred.uid));
    set_element(w, a, "gid", value_num(w->p->cred.gid));
    set_element(w, a, "egid", value_num(w->p->cred.gid));
    set_element(w, a, "api_major", value_num(3));
    set_element(w, a, "api_minor", value_num(2));
    Array *list = table_new(w);
    for (int i = 0; i < args->argc; i++)
        *table_get_int(w, list, i) = value_input(w, slice_str(i ? args->argv[i] : w->p->name));
    set_element(w, a, "argv", (Value){.kind = V_ARRAY, .a = list});
    Array *names = table_new(w);
    identifiers_make(w, names);
    set_element(w, a, "identifiers", (Value){.kind = V_ARRAY, .a = names});
}

static void environ_make(Awk *w)
{
    Array *a = global_array(w, G_ENVIRON);
    for (char **e = proc_environ(w->p); e && *e; e++) {
        Slice s = slice_str(*e);
        size_t n = slice_find(s, '=');
        if (n == s.len)
            continue;
        Value key = value_plain(w, slice(s.data, n));
        table_set(w, a, &key, value_input(w, slice_from(s, n + 1)));
        value_release(w, &key);
    }
}

static void arguments_make(Awk *w, const char *name, char **operands, int count)
{
    Array *a = global_array(w, G_ARGV);
    *table_get_int(w, a, 0) = value_plain(w, slice_str(name));
    for (int i = 0; i < count; i++)
        *table_get_int(w, a, i + 1) = value_input(w, slice_str(operands[i]));
    w->globals[G_ARGC] = value_num(count + 1);
    w->next_arg = 1;
}

static Awk *awk_new(Proc *p)
{
    Awk *w = mem_new(&p->keep, Awk);
    w->p = p;
    w->heap.mem = proc_mem_new(p);
    buf_init(&w->work, &p->keep, BUF_MAX);
    buf_init(&w->work2, &p->keep, BUF_MAX);
    buf_reserve(&w->work, 256);
    buf_reserve(&w->work2, 256);
    w->empty = string_new(w, SLICE(""));
    for (int i = 0; i < 10; i++) {
        char c = (char)('0' + i);
        w->digits[i] = string_new(w, slice(&c, 1));
    }
    w->utf8 = locale_utf8(p);
    output_init(p, &w->standard, 1);
    w->out = &w->standard;
    w->seed = 1;
    proc_own(p, release, w);
    return w;
}

/* ---------- running ---------- */

void unwind_frames(Awk *w)
{
    awk_unwind(w, 0);
    w->frame_count = 0;
    w->base = 0;
    w->function = 0;
}

/* Standard output is flushed when the pipes are closed, as gawk does it. */
static int awk_end(Awk *w)
{
    if (w->lint)
        lint_open_files(w);
    redirect_close_all(w);
    output_flush(&w->standard);
    if (w->standard.error && !w->p->out->error)
        w->p->out->error = w->standard.error;
    return w->exit_code;
}

void awk_leave(Awk *w) { proc_fail(w->p, awk_end(w)); }

static void run_rules(Awk *w)
{
    const Script *s = &w->prog;
    while (!w->exiting && main_record(w)) {
        proc_tick(w->p, 1);
        if (s->rules < 0)
            continue;
        Outcome o = machine_run(w, s->rules);
        if (unlikely(o != RUN_DONE)) {
            unwind_frames(w);
            if (o == RUN_NEXT_FILE)
                main_next_file(w);
        }
    }
}

static int awk_run(Awk *w)
{
    const Script *s = &w->prog;
    if (s->begin >= 0) {
        machine_run(w, s->begin);
        unwind_frames(w);
    }
    bool reads = s->rules >= 0 || s->end >= 0 || s->begin_file >= 0 || s->end_file >= 0;
    if (!w->exiting && reads)
        run_rules(w);
    w->exiting = false;
    if (s->end >= 0) { /* after exit, what is left of the input can be read there */
        machine_run(w, s->end);
        unwind_frames(w);
    }
    return awk_end(w);
}

/* ---------- the command ---------- */

typedef struct Settings {
    Source **tail;
    const char *separator;
    const char *assigned[256];
    unsigned assigned_count;
    bool has_source;
    bool exec;
} Settings;

static void set_include(Awk *w, Settings *s, const char *name)
{
    if (strcmp(name, "inplace") == 0 || strcmp(name, "inplace.awk") == 0) {
        w->in_place = true;
        return;
    }
    add_file(w, &s->tail, name);
}

static void set_option(Awk *w, Settings *s, const Args *args, int id)
{
    switch (id) {
    case 'f': case 'E':
        add_file(w, &s->tail, args->value);
        s->has_source = true;
        break;
    case 'e':
        add_source(w, &s->tail, "cmd. line", slice_str(args->value), false);
        s->has_source = true;
        break;
    case 'i': set_include(w, s, args->value); break;
    case 'F': s->separator = args->value; break;
    case 'v':
        if (s->assigned_count == ARRAY_LEN(s->assigned))
            awk_fatal(w, "too many variable assignments");
        s->assigned[s->assigned_count++] = args->value;
        break;
    case 'b': w->utf8 = false; break;
    case 'n': w->based_input = true; break;
    case 'S': w->sandbox = true; break;
    case 'k': w->split_by = BY_CSV; break;
    case 'L': w->lint = !args->value ? LINT_ON : !strcmp(args->value, "fatal") ? LINT_FATAL : !strcmp(args->value, "no-ext") ? LINT_NO_EXTENSIONS : LINT_ON; break;
    case OPT_VERSION: awk_version(w->p->out); proc_fail(w->p, 0);
    case OPT_COPYRIGHT: awk_copyright(w->p->out); proc_fail(w->p, 0);
    case OPT_HELP: awk_usage(w, w->p->out); proc_fail(w->p, 0);
    default: break;
    }
}

static void assign_early(Awk *w, const Settings *s)
{
    for (unsigned i = 0; i < s->assigned_count; i++) {
        Slice text = slice_str(s->assigned[i]);
        if (slice_find(text, '=') == text.len)
            awk_fatal(w, "`%s' argument to `-v' not in `var=value' form", s->assigned[i]);
        if (!awk_assignment(w, text))
            awk_fatal(w, "`%.*s' is not a legal variable name", (int)slice_find(text, '='), text.data);
    }
    if (s->separator) {
        Buf *b = &w->work;
        buf_clear(b);
        awk_unescape(w, slice_str(strcmp(s->separator, "t") == 0 ? "\\t" : s->separator), true, b);
        global_set(w, G_FS, value_plain(w, b->len ? buf_slice(b) : SLICE("")));
    }
}

/* --help and --version are gawk's words, so they are looked for before the options are read. */
static void answer_early(Awk *w, const Args *args)
{
    for (int i = 1; i < args->argc; i++) {
        const char *a = args->argv[i];
        if (a[0] != '-' || !a[1] || strcmp(a, "--") == 0)
            return;
        if (strcmp(a, "--help") == 0)
            awk_usage(w, w->p->out);
        else if (strcmp(a, "--version") == 0)
            awk_version(w->p->out);
        else if (a[1] != '-' && !a[2] && strchr("fFveEi", a[1]))
            i++;
        if (strcmp(a, "--help") == 0 || strcmp(a, "--version") == 0)
            proc_fail(w->p, 0);
    }
}

static const Option *option_named(Slice name)
{
    size_t n = slice_find(name, '=');
    const Option *found = NULL;
    for (const Option *o = options; o->letter || o->name; o++)
        if (o->name && strncmp(o->name, name.data, n) == 0) {
            found = o;
            if (!o->name[n])
                break;
        }
    return found;
}

/* An option that is none: gawk shows its usage, without a word about it. */
static void refuse_unknown(Awk *w, const Args *args)
{
    for (int i = 1; i < args->argc; i++) {
        const char *a = args->argv[i];
        if (a[0] != '-' || !a[1] || strcmp(a, "--") == 0)
            return;
        const Option *o = NULL;
        if (a[1] == '-') {
            o = option_named(slice_str(a + 2));
            i += o && o->kind == OPT_VALUE && !strchr(a, '=');
        }
        for (const char *c = a + 1; a[1] != '-' && *c; c++) {
            for (o = options; (o->letter || o->name) && o->letter != *c; o++)
                ;
            o = o->letter || o->name ? o : NULL;
            if (!o || o->kind != OPT_FLAG) {
                i += o && o->kind == OPT_VALUE && !c[1];
                break;
            }
        }
        if (!o) {
            awk_usage(w, w->p->err);
            output_flush(w->p->err);
            proc_fail(w->p, 1);
        }
    }
}

static int awk_main(Proc *p, Args *args)
{
    Awk *w = awk_new(p);
    Settings s = {.tail = &w->sources};
    answer_early(w, args);
    refuse_unknown(w, args);
    for (int id; (id = args_next(p, args)) >= 0;)
        set_option(w, &s, args, id);
    int count;
    char **operands = args_operands(args, &count);
    if (!s.has_source) {
        if (!count) {
            awk_usage(w, p->err);
            output_flush(p->err);
            proc_fail(p, 1);
        }
        add_source(w, &s.tail, "cmd. line", slice_str(*operands++), false);
        count--;
    }
    awk_parse(w);
    globals_make(w);
    awk_compile(w);
    if (w->prog.uses_procinfo)
        procinfo_make(w, args);
    tables_make(w);
    environ_make(w);
    arguments_make(w, p->name, operands, count);
    assign_early(w, &s);
    return awk_run(w);
}

static int gawk_main(Proc *p, Args *args) { return awk_main(p, args); }

#define AWK_USAGE "awk [POSIX or GNU style options] -f progfile [--] file ...\nawk [POSIX or GNU style options] [--] 'program' file ..."
#define AWK_SUMMARY "Pattern scanning and processing."
#define AWK_FLAGS (COMMAND_WRITES | COMMAND_SPAWNS | COMMAND_ORDERED)
COMMAND(awk, AWK_USAGE, AWK_SUMMARY, options, AWK_FLAGS, .usage_status = 2, .package = "GNU Awk 5.2.1",
        .notes = "-L gives gawk's commonest warnings, not all of them. -c, -N, -O, -P, -r, -s and -t are accepted\n"
                 "and change nothing. -D, -d, -g, -I, -l, -M, -o and -p are refused: there is no\n"
                 "debugger, profiler, extension library or arbitrary precision. --csv is gawk 5.3's.");
COMMAND(gawk, AWK_USAGE, AWK_SUMMARY, options, AWK_FLAGS, .usage_status = 2, .package = "GNU Awk 5.2.1", .notes = "The same as awk.");
