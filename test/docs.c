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
    print_names();
    return 0;
}
