/* docs: prints COMMANDS.md from the commands' own tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtins/command.h"
#include "test/names.h"

static const char *flag_words(const Command *c)
{
    if (c->flags & COMMAND_SPECIAL)
        return "special builtin";
    if (c->flags & COMMAND_SHELL)
        return "builtin";
    if (c->flags & COMMAND_NETWORK)
        return "network";
    return c->flags & COMMAND_SPAWNS ? "starts commands" : c->flags & COMMAND_WRITES ? "writes" : "reads";
}

static void print_text(const char *s)
{
    for (; *s; s++)
        if (*s == '|')
            fputs("\\|", stdout);
        else if (*s == '\n')
            fputs("<br>", stdout);
        else
            putchar(*s);
}

static void print_options(const Command *c)
{
    int n = 0;
    for (const Option *o = c->options; o && (o->letter || o->name); o++) {
        if (!o->help)
            continue;
        if (n++ == 0)
            printf("\n| option | meaning |\n|---|---|\n");
        printf("| `");
        if (o->letter)
            printf("-%c%s", o->letter, o->name ? ", " : "");
        if (o->name)
            printf("--%s", o->name);
        if (o->value_name && o->kind == OPT_OPTIONAL)
            printf("[=%s]", o->value_name);
        else if (o->value_name)
            printf("%s%s", o->name ? "=" : " ", o->value_name);
        printf("` | ");
        print_text(o->help);
        printf(" |\n");
    }
}

static void print_name(const char *name, bool ours, unsigned in)
{
    printf("| `%s` | %s | %s | %s | %s |\n", name, ours ? "x" : "", in & IN_GNU ? "x" : "", in & IN_JUST_BASH ? "x" : "", in & IN_BASHKIT ? "x" : "");
}

/* One table of names: ours and the others', merged. */
static void print_names(void)
{
    size_t others = sizeof other_names / sizeof *other_names, ours = 0, counts[3] = {0};
    for (size_t i = 0; i < others; i++)
        for (unsigned k = 0; k < 3; k++)
            counts[k] += other_names[i].in >> k & 1;
    printf("\n# Names\n\nWhich commands there are here, in bash 5.2 with GNU's tools, in just-bash 3.4.2 and in bashkit 0.18.2. A name says nothing about depth.\n\n");
    printf("| command | libshell (%zu) | bash and GNU (%zu) | just-bash (%zu) | bashkit (%zu) |\n|---|---|---|---|---|\n", command_count, counts[0], counts[1], counts[2]);
    for (size_t i = 0; i < others || ours < command_count;) {
        int order = i == others ? -1 : ours == command_count ? 1 : strcmp(command_table[ours]->name, other_names[i].name);
        print_name(order <= 0 ? command_table[ours]->name : other_names[i].name, order <= 0, order >= 0 ? other_names[i].in : 0);
        ours += order <= 0;
        i += order >= 0;
    }
}

/* Where bash does something else, on purpose. */
static const char *const differences[] = {
    "There is no line editor: `bind` warns as bash does without one and does nothing, `bind -l` and `-x` print nothing.",
    "There is no history: `history` and `fc` take their options and print nothing; `!` expands nothing.",
    "`complete` takes its arguments and forgets them, `compopt` knows no completion; `compgen` works, its file names come sorted.",
    "There is no terminal: `suspend` refuses, `fg` and `bg` want job control, `select` and `read` never edit a line.",
    "`sh` is bash in POSIX mode, not dash.",
    "Processes are libshell's own: they are numbered from 1000, `$PPID` of the first shell is 0, `$UID` is what the embedder says, `times` counts the shell's own work.",
    "`ulimit` reports the shell's own limits, which only the embedder can raise.",
    "`/dev/tcp` and `/dev/udp` are refused with a message.",
    "The locales are C and C.UTF-8; any other name means C.UTF-8, without a warning. In the C locale `declare -p`, `set` and `set -x` still show UTF-8 as it is.",
    "Text may nest 700 levels deep and a list of `&&` and `||` may have 5,000 links; bash goes on until its stack ends.",
    "`bash --debugger` is taken, and does not say that bashdb is missing.",
};

static void print_differences(void)
{
    printf("\n# Deliberate differences\n\nThe shell language is that of bash 5.2, messages and statuses included, but for this:\n\n");
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        printf("- %s\n", differences[i]);
}

int main(void)
{
    printf("# Commands\n\nGenerated from the commands' own tables by `test/docs.c`; do not edit.\n\n%zu commands.\n\n| command | kind | what it does |\n|---|---|---|\n", command_count);
    for (size_t i = 0; i < command_count; i++) {
        const Command *c = command_table[i];
        printf("| `%s` | %s | ", c->name, flag_words(c));
        print_text(c->summary);
        printf(" |\n");
    }
    for (size_t i = 0; i < command_count; i++) {
        const Command *c = command_table[i];
        printf("\n## %s\n\n```\n%s\n```\n\n%s%s%s\n", c->name, c->usage, c->summary, c->package ? " As in " : "", c->package ? c->package : "");
        print_options(c);
        if (c->notes)
            printf("\n%s\n", c->notes);
    }
    print_differences();
    print_names();
    return 0;
}
