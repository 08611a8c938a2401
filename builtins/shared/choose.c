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
    warn(p, "%s argument %s for %s", several ? "ambiguous" : "invalid", quote(p, value), quote(p, option));
    list_words(p, words);
    out_printf(p->err, "Try '%s --help' for more information.\n", p->name);
    output_flush(p->err);
    (void)args;
    proc_fail(p, 1); /* also where a bad option gives 2 */
}
