/* sdiff: two files side by side. GNU diffutils 3.8.
 *
 * It is diff -y under another name, and as there what the values of options are and what the files are is diff's to say.
 */
#include "diff.h"

enum { TROUBLE = 2, OPT_STRIP_CR = 256, OPT_TABSIZE, OPT_DIFF_PROGRAM };

static const Option options[] = {
    {'o', "output", OPT_VALUE, "refused: there is no terminal to merge at", "FILE", 0},
    {'i', "ignore-case", OPT_FLAG, "consider upper- and lower-case to be the same", NULL, 0},
    {'E', "ignore-tab-expansion", OPT_FLAG, "ignore changes due to tab expansion", NULL, 0},
    {'Z', "ignore-trailing-space", OPT_FLAG, "ignore white space at line end", NULL, 0},
    {'b', "ignore-space-change", OPT_FLAG, "ignore changes in the amount of white space", NULL, 0},
    {'W', "ignore-all-space", OPT_FLAG, "ignore all white space", NULL, 0},
    {'B', "ignore-blank-lines", OPT_FLAG, "ignore changes whose lines are all blank", NULL, 0},
    {'I', "ignore-matching-lines", OPT_VALUE, "ignore changes all whose lines match RE", "RE", 0},
    {0, "strip-trailing-cr", OPT_FLAG, "strip trailing carriage return on input", NULL, OPT_STRIP_CR},
    {'a', "text", OPT_FLAG, "treat all files as text", NULL, 0},
    {'w', "width", OPT_VALUE, "output at most NUM (default 130) print columns", "NUM", 0},
    {'l', "left-column", OPT_FLAG, "output only the left column of common lines", NULL, 0},
    {'s', "suppress-common-lines", OPT_FLAG, "do not output common lines", NULL, 0},
    {'t', "expand-tabs", OPT_FLAG, "expand tabs to spaces in output", NULL, 0},
    {0, "tabsize", OPT_VALUE, "tab stops at every NUM (default 8) print columns", "NUM", OPT_TABSIZE},
    {'d', "minimal", OPT_FLAG, "try hard to find a smaller set of changes", NULL, 0},
    {'H', "speed-large-files", OPT_FLAG, "assume large files, many scattered small changes", NULL, 0},
    {0, "diff-program", OPT_VALUE, "refused: there is one diff", "PROGRAM", OPT_DIFF_PROGRAM},
    OPTION_VERSION('v'),
    OPTIONS_END,
};

/* The option as diff has it. */
static char *diff_option(Proc *p, int id, const char *value)
{
    switch (id) {
    case 'o': die(p, TROUBLE, "cannot merge by hand: there is no terminal");
    case OPT_DIFF_PROGRAM: die(p, TROUBLE, "cannot run another diff");
    case 'I': return mem_printf(&p->keep, "--ignore-matching-lines=%s", value);
    case 'w': return mem_printf(&p->keep, "--width=%s", value);
    case OPT_TABSIZE: return mem_printf(&p->keep, "--tabsize=%s", value);
    case OPT_STRIP_CR: return mem_printf(&p->keep, "--strip-trailing-cr");
    case 'W': return mem_printf(&p->keep, "--ignore-all-space");
    case 'l': return mem_printf(&p->keep, "--left-column");
    case 's': return mem_printf(&p->keep, "--suppress-common-lines");
    default: return mem_printf(&p->keep, "-%c", id);
    }
}

static int sdiff_main(Proc *p, Args *args)
{
    size_t n = 0, room = 16;
    int count;
    char **words = mem_array(&p->keep, room, char *);
    words[n++] = mem_printf(&p->keep, "diff");
    words[n++] = mem_printf(&p->keep, "--side-by-side");
    for (int id; (id = args_next(p, args)) >= 0;) {
        if (n + 5 > room) {
            words = mem_grow(&p->keep, words, room * sizeof *words, room * 2 * sizeof *words);
            room *= 2;
        }
        words[n++] = diff_option(p, id, args->value);
    }
    char **names = args_operands(args, &count);
    if (count < 2)
        usage_fail(p, args, "missing operand after '%s'", args->argv[args->argc - 1]);
    if (count > 2)
        usage_fail(p, args, "extra operand '%s'", names[2]);
    words[n++] = mem_printf(&p->keep, "--");
    words[n++] = names[0];
    words[n++] = names[1];
    words[n] = NULL;
    const Command *diff = command_find("diff");
    Args rest = {.command = diff, .argc = (int)n, .argv = words, .at = 1};
    p->name = diff->name;
    return diff->main(p, &rest);
}

COMMAND(sdiff, "sdiff [OPTION]... FILE1 FILE2", "Side-by-side comparison of FILE1 and FILE2.", options, COMMAND_PURE | COMMAND_NAMED_HINT, .usage_status = 2,
        .notes = "If a FILE is '-', read standard input.\n"
                 "Exit status is 0 if inputs are the same, 1 if different, 2 if trouble.",
        .package = "GNU diffutils 3.8");
