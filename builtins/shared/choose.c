/* choose: an option's argument out of a list of words, as gnulib's argmatch. */
#include "shared.h"

static void list_words(Proc *p, const Choice *words)
{
    const Choice *before = NULL;
    out_str(p->err, "Valid arguments are:");
    for (const Choice *w = words; w->word; before = w++)
        out_printf(p->err, before && before->value == w->value ? ", %s" : "\n  - %s", quote(p, w->word));
    out_char(p->err, '\n');
}

static NORETURN void refuse(Proc *p, const char *how, const char *option, const char *value, const Choice *words)
{
    warn(p, "%s argument %s for %s", how, quote(p, value), quote(p, option));
    list_words(p, words);
    out_printf(p->err, "Try '%s --help' for more information.\n", p->name);
    output_flush(p->err);
    proc_fail(p, 1); /* also where a bad option gives 2 */
}

int choose_exact(Proc *p, const char *option, const char *value, const Choice *words)
{
    for (const Choice *w = words; w->word; w++)
        if (strcmp(w->word, value) == 0)
            return w->value;
    refuse(p, "invalid", option, value, words);
}

int choose(Proc *p, Args *args, const char *option, const char *value, const Choice *words)
{
    const Choice *found = NULL;
    bool several = false;
    size_t len = strlen(value);
    for (const Choice *w = words; w->word; w++) {
        if (strncmp(w->word, value, len) != 0)
            continue;
        if (w->word[len] == 0)
            return w->value;
        several = several || (found && found->value != w->value);
        found = w;
    }
    if (found && !several)
        return found->value;
    (void)args;
    refuse(p, several ? "ambiguous" : "invalid", option, value, words);
}
