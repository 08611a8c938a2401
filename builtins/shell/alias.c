/* alias, unalias. */
#include "shell.h"

static void print_alias(Proc *p, Slice name, Slice text)
{
    Buf line = shell_buf(p);
    buf_append(&line, SLICE("alias "));
    if (name.len && name.data[0] == '-')
        buf_append(&line, SLICE("-- "));
    buf_append(&line, name);
    buf_char(&line, '=');
    quote_single(&line, text);
    buf_char(&line, '\n');
    out_write(p->out, buf_slice(&line));
}

static int print_aliases(Proc *p)
{
    size_t count;
    Slice text, *names = alias_names(interp_of(p), &count);
    for (size_t i = 0; i < count; i++)
        if (alias_get(interp_of(p), names[i], &text))
            print_alias(p, names[i], text);
    return 0;
}

static bool alias_name_valid(Slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if (strchr(" \t\n|&;()<>'\"\\`$/", name.data[i]))
            return false;
    return name.len > 0;
}

static int alias_word(Proc *p, Args *args, const char *word)
{
    Slice text, whole = slice_str(word);
    size_t equals = slice_find(whole, '=');
    if (equals == whole.len || equals == 0) {
        if (!alias_get(interp_of(p), whole, &text))
            return shell_fail(p, args, "%s: not found", word);
        print_alias(p, whole, text);
        return 0;
    }
    Slice name = slice(word, equals);
    if (!alias_name_valid(name))
        return shell_fail(p, args, "`%.*s': invalid alias name", (int)equals, word);
    return alias_set(interp_of(p), name, slice_from(whole, equals + 1)) ? 0 : 1;
}

static int alias_main(Proc *p, Args *args)
{
    bool print = false;
    for (int c; (c = shell_option(p, args, "p")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        print = true;
    }
    if (print || args->at >= args->argc)
        print_aliases(p);
    int status = 0;
    for (int i = args->at; i < args->argc; i++)
        status |= alias_word(p, args, args->argv[i]);
    return status;
}

static int unalias_main(Proc *p, Args *args)
{
    for (int c; (c = shell_option(p, args, "a")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        alias_clear(interp_of(p));
        return 0;
    }
    if (args->at >= args->argc)
        return shell_usage(p, args);
    int status = 0;
    for (int i = args->at; i < args->argc; i++)
        if (!alias_remove(interp_of(p), slice_str(args->argv[i])))
            status = shell_fail(p, args, "%s: not found", args->argv[i]);
    return status;
}

BUILTIN(alias, "alias", "alias [-p] [name[=value] ... ]", "Define or display aliases.", SHELL_FLAGS);
BUILTIN(unalias, "unalias", "unalias [-a] name [name ...]", "Remove each NAME from the list of defined aliases.", SHELL_FLAGS);
