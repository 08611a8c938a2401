/* getopts: one option at each call; where it stands inside a cluster is the interpreter's (getopts_offset). */
#include "shell.h"

typedef struct Getopts {
    Proc *proc;
    Interp *in;
    Args *args;
    const char *letters, *name;
    char **words;        /* what is parsed */
    int count;
    bool silent;
} Getopts;

static int64_t optind(Interp *in)
{
    Slice text;
    int64_t n;
    if (!var_text(in, SLICE("OPTIND"), &text))
        return 1;
    char digits[24] = {0};
    memcpy(digits, text.data, MIN(text.len, sizeof digits - 1));
    return shell_number(digits, &n) && n > 0 ? n : 1;
}

/* Setting OPTIND resets the offset: it is put back after. */
static void move_to(Getopts *g, int64_t index, int offset)
{
    var_set_int(g->in, SLICE("OPTIND"), index);
    *getopts_offset(g->in) = offset;
}

static int finish(Getopts *g, const char *value, Slice optarg, bool has_optarg, int status)
{
    if (has_optarg)
        var_set(g->in, SLICE("OPTARG"), optarg, false);
    else
        var_unset(g->in, SLICE("OPTARG"));
    if (!name_valid(slice_str(g->name)))
        return shell_fail(g->proc, g->args, "`%s': not a valid identifier", g->name);
    return var_set(g->in, slice_str(g->name), slice_str(value), false) ? status : status ? 1 : 2;
}

static const char *script_name(Getopts *g)
{
    Str *zero = positional(g->in, 0);
    return zero ? zero->data : "bash";
}

static bool reports(Getopts *g)
{
    Slice opterr;
    return !g->silent && !(var_text(g->in, SLICE("OPTERR"), &opterr) && slice_is(opterr, "0"));
}

static int problem(Getopts *g, char letter, const char *what, const char *silent_value)
{
    if (g->silent)
        return finish(g, silent_value, slice(&letter, 1), true, 0);
    if (reports(g)) {
        output_flush(g->proc->out);
        out_printf(g->proc->err, "%s: %s -- %c\n", script_name(g), what, letter);
        output_flush(g->proc->err);
    }
    return finish(g, "?", slice("", 0), false, 0);
}

static int option(Getopts *g, int64_t index, int offset)
{
    const char *word = g->words[index - 1];
    char letter = word[offset], value[2] = {letter, 0};
    const char *at = letter == ':' || letter == '?' ? NULL : strchr(g->letters, letter);
    bool last = !word[offset + 1];
    if (!at || at[1] != ':') {
        move_to(g, last ? index + 1 : index, last ? 0 : offset + 1);
        return at ? finish(g, value, slice("", 0), false, 0) : problem(g, letter, "illegal option", "?");
    }
    if (!last) {
        move_to(g, index + 1, 0);
        return finish(g, value, slice_str(word + offset + 1), true, 0);
    }
    if (index < g->count) {
        move_to(g, index + 2, 0);
        return finish(g, value, slice_str(g->words[index]), true, 0);
    }
    move_to(g, index + 1, 0);
    return problem(g, letter, "option requires an argument", ":");
}

static int next(Getopts *g)
{
    int64_t index = optind(g->in);
    int offset = *getopts_offset(g->in);
    const char *word = index <= g->count ? g->words[index - 1] : NULL;
    if (offset && word && (size_t)offset < strlen(word))
        return option(g, index, offset);
    if (word && word[0] == '-' && word[1] && strcmp(word, "--") != 0)
        return option(g, index, 1);
    if (word && strcmp(word, "--") == 0)
        index++;
    move_to(g, MIN(index, (int64_t)g->count + 1), 0);
    return finish(g, "?", slice("", 0), false, 1);
}

static int getopts_main(Proc *p, Args *args)
{
    Getopts g = {.proc = p, .in = interp_of(p), .args = args};
    if (shell_option(p, args, "") == '?')
        return SHELL_USAGE;
    int count;
    char **words = shell_operands(args, &count);
    if (count < 2)
        return shell_usage(p, args);
    g.letters = words[0];
    g.name = words[1];
    g.silent = *g.letters == ':';
    g.letters += g.silent;
    if (count > 2) {
        g.words = words + 2;
        g.count = count - 2;
        return next(&g);
    }
    g.count = positional_count(g.in);
    g.words = mem_array(&p->mem, (size_t)g.count + 1, char *);
    for (int i = 0; i < g.count; i++)
        g.words[i] = mem_copy(&p->mem, str_slice(positional(g.in, i + 1)));
    return next(&g);
}

BUILTIN(getopts, "getopts", "getopts optstring name [arg ...]", "Parse option arguments.", SHELL_FLAGS);
