/* sed: a stream editor.
 *
 * GNU sed 4.9. Nothing runs programs: the e command and flag are refused with the message of --sandbox.
 */
#include "sed.h"

enum { OPT_POSIX = 256, OPT_SANDBOX, OPT_DEBUG, OPT_FOLLOW };

static const Option options[] = {
    {'n', "quiet", OPT_FLAG, "suppress automatic printing of pattern space", NULL, 0},
    {'n', "silent", OPT_FLAG, NULL, NULL, 0},
    {0, "debug", OPT_FLAG, "annotate program execution", NULL, OPT_DEBUG},
    {'e', "expression", OPT_VALUE, "add the script to the commands to be executed", "script", 0},
    {'f', "file", OPT_VALUE, "add the contents of script-file to the commands to be executed", "script-file", 0},
    {0, "follow-symlinks", OPT_FLAG, "follow symlinks when processing in place", NULL, OPT_FOLLOW},
    {'i', "in-place", OPT_OPTIONAL, "edit files in place (makes backup if SUFFIX supplied)", "SUFFIX", 0},
    {'l', "line-length", OPT_VALUE, "specify the desired line-wrap length for the `l' command", "N", 0},
    {0, "posix", OPT_FLAG, "disable all GNU extensions.", NULL, OPT_POSIX},
    {'E', "regexp-extended", OPT_FLAG, "use extended regular expressions in the script", NULL, 0},
    {'r', NULL, OPT_FLAG, "the same", NULL, 0},
    {'s', "separate", OPT_FLAG, "consider files as separate rather than as a single continuous long stream.", NULL, 0},
    {0, "sandbox", OPT_FLAG, "operate in sandbox mode (disable e/r/w commands).", NULL, OPT_SANDBOX},
    {'u', "unbuffered", OPT_FLAG, "load minimal amounts of data from the input files and flush the output buffers more often", NULL, 0},
    {'z', "null-data", OPT_FLAG, "separate lines by NUL characters", NULL, 0},
    {'z', "zero-terminated", OPT_FLAG, NULL, NULL, 0},
    {'b', "binary", OPT_FLAG, NULL, NULL, 0},
    OPTIONS_END,
};

static void part_add(Sed *s, const char *name, Slice text)
{
    if (s->part_count == s->part_cap) {
        size_t cap = s->part_cap ? s->part_cap * 2 : 4;
        s->parts = mem_grow(&s->p->keep, s->parts, s->part_cap * sizeof *s->parts, cap * sizeof *s->parts);
        s->part_cap = cap;
    }
    if (s->part_count)
        buf_char(&s->script, '\n');
    int number = 1;
    for (size_t i = 0; i < s->part_count; i++)
        number += s->parts[i].name == NULL;
    size_t start = s->script.len;
    buf_append(&s->script, text);
    s->parts[s->part_count++] = (ScriptPart){name, start, s->script.len, number};
}

static void part_add_file(Sed *s, const char *name)
{
    Slice text = {NULL, 0};
    int err = 0;
    if (strcmp(name, "-") == 0)
        text = read_all(s->p, 0);
    else
        err = read_file(s->p, name, &text);
    if (err)
        die_errno(s->p, 4, err, "couldn't open file %s", name);
    if (text.len && text.data[text.len - 1] == '\n')
        text.len--;
    part_add(s, name, text);
}

SedOut *sed_out_named(Sed *s, const char *name)
{
    if (strcmp(name, "/dev/stdout") == 0)
        return &s->written;
    if (strcmp(name, "/dev/stderr") == 0)
        return &s->error;
    for (SedOut *o = s->outs; o; o = o->next)
        if (strcmp(o->name, name) == 0)
            return o;
    int fd = proc_open(s->p, name, V_WRITE | V_CREATE | V_TRUNC, 0666);
    if (fd < 0)
        die_errno(s->p, 4, fd, "couldn't open file %s", name);
    SedOut *o = mem_new(&s->p->keep, SedOut);
    output_init(s->p, &o->own, fd);
    o->out = &o->own;
    o->name = name;
    o->flush = true;
    o->next = s->outs;
    return s->outs = o;
}

static void set_option(Sed *s, int id, const char *value)
{
    int64_t n;
    switch (id) {
    case 'n': s->quiet = true; break;
    case 'e': part_add(s, NULL, slice_str(value)); break;
    case 'f': part_add_file(s, value); break;
    case 'i':
        s->in_place = s->separate = true;
        s->suffix = value;
        break;
    case 'l':
        s->line_length = parse_int(value, &n) == 0 && n >= 0 ? n : 0;
        break;
    case 'E': case 'r': s->syntax = RE_ERE; break;
    case 's': s->separate = true; break;
    case 'u': s->unbuffered = true; break;
    case 'z': s->end = 0; break;
    case OPT_POSIX: s->posix = true; break;
    case OPT_SANDBOX: s->sandbox = true; break;
    case OPT_FOLLOW: s->follow = true; break;
    case OPT_DEBUG: s->debug = true; break;
    default: break;
    }
}

static NORETURN void usage(Proc *p, Args *args)
{
    Output *out = p->out;
    p->out = p->err; /* the help text goes to standard error */
    print_help(p, args->command);
    output_flush(p->err);
    p->out = out;
    proc_fail(p, 1);
}

static int sed_main(Proc *p, Args *args)
{
    Sed *s = mem_new(&p->keep, Sed);
    *s = (Sed){.p = p, .env = proc_re_env(p), .end = '\n', .line_length = 70, .utf8 = locale_utf8(p), .syntax = RE_BRE, .hold_ended = true};
    s->standard = (SedOut){.out = p->out, .name = "/dev/stdout"};
    s->written = s->standard;
    s->error = (SedOut){.out = p->err, .name = "/dev/stderr", .flush = true};
    s->out = &s->standard;
    Buf *all[] = {&s->script, &s->space, &s->hold, &s->work};
    for (unsigned i = 0; i < ARRAY_LEN(all); i++) {
        buf_init(all[i], &p->keep, BUF_MAX);
        buf_reserve(all[i], 256);
    }
    for (int id; (id = args_next(p, args)) >= 0;)
        set_option(s, id, args->value);
    s->names = args_operands(args, &s->name_count);
    if (!s->part_count) {
        if (!s->name_count)
            usage(p, args);
        part_add(s, NULL, slice_str(*s->names++));
        s->name_count--;
    }
    sed_parse(s);
    static char dash[] = "-";
    static char *const standard_input[] = {dash, NULL};
    if (!s->name_count) {
        if (s->in_place)
            die(p, 4, "no input files");
        s->names = (char **)(uintptr_t)standard_input;
        s->name_count = 1;
    }
    int status = sed_run(s);
    if (s->reading)
        input_give_back(&s->in);
    for (SedOut *o = s->outs; o; o = o->next)
        output_flush(o->out);
    if (output_status(p))
        return 4;
    return status ? status : s->status;
}

COMMAND(sed, "sed [OPTION]... {script-only-if-no-other-script} [input-file]...", "Edit lines of text by a script.", options, COMMAND_WRITES, .usage_status = 1,
        .notes = "If no -e, --expression, -f, or --file option is given, then the first\n"
                 "non-option argument is taken as the sed script to interpret.  All\n"
                 "remaining arguments are names of input files; if no input files are\n"
                 "specified, then the standard input is read.\n"
                 "The e command and the e flag of s are refused: no programs are run.",
        .package = "GNU sed 4.9");
