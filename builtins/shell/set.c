/* set, shopt: options and positional parameters. */
#include "shell.h"

static void print_options(Proc *p, bool reusable)
{
    size_t count;
    OptionState *list = option_list(interp_of(p), &count);
    for (size_t i = 0; i < count; i++)
        if (reusable)
            out_printf(p->out, "set %co %s\n", list[i].on ? '-' : '+', list[i].name);
        else
            out_printf(p->out, "%-15s\t%s\n", list[i].name, list[i].on ? "on" : "off");
}

/* ---- set without arguments ---- */

static void print_value(Proc *p, Slice name)
{
    const Var *v = var_listed(interp_of(p), name);
    if (!v || v->value.kind == VALUE_UNSET || (v->special && v->attrs & ATTR_INVISIBLE))
        return;
    if (v->value.kind == VALUE_ARRAY || v->value.kind == VALUE_ASSOC) {
        Buf list = shell_buf(p);
        buf_append(&list, name);
        buf_char(&list, '=');
        print_compound(interp_of(p), v, &list);
        buf_char(&list, '\n');
        out_write(p->out, buf_slice(&list));
        return;
    }
    Slice text;
    Buf line = shell_buf(p);
    if (!var_text(interp_of(p), name, &text))
        return;
    buf_append(&line, name);
    buf_char(&line, '=');
    quote_in(interp_of(p), &line, text, quote_value);
    buf_char(&line, '\n');
    out_write(p->out, buf_slice(&line));
}

int print_variables(Proc *p)
{
    size_t count;
    Slice *names = var_names(interp_of(p), 0, &count);
    for (size_t i = 0; i < count; i++) {
        if (!special_unread(interp_of(p), names[i]))
            print_value(p, names[i]);
        proc_tick(p, 1);
    }
    if (posix_mode(interp_of(p)))
        return 0;
    names = function_names(interp_of(p), &count);
    for (size_t i = 0; i < count; i++) {
        const Function *f = function_find(interp_of(p), names[i]);
        Buf text = shell_buf(p);
        if (!f)
            continue;
        print_function(&text, names[i], f->node->function.body);
        buf_char(&text, '\n');
        out_write(p->out, buf_slice(&text));
    }
    return 0;
}

/* ---- set with them ---- */

static int bad_letter(Proc *p, Args *args, char sign, char letter)
{
    shell_fail(p, args, "%c%c: invalid option", sign, letter);
    return shell_usage(p, args);
}

static const char known_letters[] = "abefhkmnptuvxBCEHPT";

static int set_named(Proc *p, Args *args, bool on, const char *name)
{
    if (!name) {
        print_options(p, !on);
        return 0;
    }
    if (option_set_named(interp_of(p), slice_str(name), on))
        return 0;
    shell_fail(p, args, "%s: invalid option name", name);
    set_special_error(interp_of(p), false);
    return SHELL_USAGE;
}

/* All letters are looked at before the first takes effect. */
static int check_letters(Proc *p, Args *args)
{
    for (int i = 1; i < args->argc; i++) {
        const char *s = args->argv[i];
        if ((*s != '-' && *s != '+') || strcmp(s, "-") == 0 || strcmp(s, "--") == 0)
            return 0;
        for (const char *c = s + 1; *c; c++) {
            if (*c == 'o')
                i += i + 1 < args->argc && c[1] == 0 && args->argv[i + 1][0] != '-' && args->argv[i + 1][0] != '+';
            else if (*c == 'r' && *s == '+' && option_on(interp_of(p), 'r'))
                return bad_letter(p, args, '+', 'r') && true;
            else if (*c != 'r' && !strchr(known_letters, *c))
                return bad_letter(p, args, *s, *c);
        }
    }
    return 0;
}

static int set_cluster(Proc *p, Args *args, int *i)
{
    const char *s = args->argv[*i];
    bool on = *s == '-';
    for (const char *c = s + 1; *c; c++) {
        if (*c != 'o') {
            option_set(interp_of(p), *c, on);
            continue;
        }
        const char *name = *i + 1 < args->argc && args->argv[*i + 1][0] != '-' && args->argv[*i + 1][0] != '+' ? args->argv[++*i] : NULL;
        if (name && !*name)
            name = NULL;
        int status = set_named(p, args, on, name);
        if (status)
            return status;
    }
    return 0;
}

static int set_main(Proc *p, Args *args)
{
    if (args->argc == 1)
        return print_variables(p);
    int status = check_letters(p, args);
    if (status)
        return status;
    int i = 1;
    bool positional = false;
    for (; i < args->argc; i++) {
        const char *s = args->argv[i];
        if (strcmp(s, "--") == 0) {
            positional = true;
            i++;
            break;
        }
        if (strcmp(s, "-") == 0) {
            option_set(interp_of(p), 'x', false);
            option_set(interp_of(p), 'v', false);
            i++;
            break;
        }
        if (*s != '-' && *s != '+')
            break;
        if ((status = set_cluster(p, args, &i)))
            return status;
    }
    if (positional || i < args->argc) {
        arguments_changed(interp_of(p), true);
        positional_set(interp_of(p), args->argv + i, args->argc - i);
    }
    return 0;
}

/* ---- shopt ---- */

typedef struct Shopt { bool set, unset, print, quiet, options; } Shopt;

static void show(Proc *p, const Shopt *o, const char *name, bool on)
{
    if (o->quiet)
        return;
    if (o->print)
        out_printf(p->out, o->options ? "set %co %s\n" : "shopt -%c %s\n", o->options ? (on ? '-' : '+') : on ? 's' : 'u', name);
    else
        out_printf(p->out, "%-15s\t%s\n", name, on ? "on" : "off");
}

static int list_shopts(Proc *p, const Shopt *o)
{
    size_t count;
    OptionState *list = o->options ? option_list(interp_of(p), &count) : shopt_list(interp_of(p), &count);
    for (size_t i = 0; i < count; i++)
        if ((!o->set && !o->unset) || (o->set ? list[i].on : !list[i].on))
            show(p, o, list[i].name, list[i].on);
    return 0;
}

static bool state_of(Proc *p, const Shopt *o, const char *name, bool *on)
{
    if (!o->options)
        return shopt_get(interp_of(p), slice_str(name), on);
    size_t count;
    OptionState *list = option_list(interp_of(p), &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) {
            *on = list[i].on;
            return true;
        }
    return false;
}

static int shopt_word(Proc *p, Args *args, const Shopt *o, const char *name)
{
    bool on = false;
    if (!state_of(p, o, name, &on))
        return shell_fail(p, args, o->options ? "%s: invalid option name" : "%s: invalid shell option name", name);
    if (!o->set && !o->unset) {
        show(p, o, name, on);
        return on ? 0 : 1;
    }
    bool done = o->options ? option_set_named(interp_of(p), slice_str(name), o->set) : shopt_set(interp_of(p), slice_str(name), o->set);
    return done ? 0 : 1;
}

static int shopt_main(Proc *p, Args *args)
{
    Shopt o = {0};
    for (int c; (c = shell_option(p, args, "psuoq")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        o.set |= c == 's';
        o.unset |= c == 'u';
        o.print |= c == 'p';
        o.quiet |= c == 'q';
        o.options |= c == 'o';
    }
    if (o.set && o.unset)
        return shell_fail(p, args, "cannot set and unset shell options simultaneously");
    if (args->at >= args->argc)
        return list_shopts(p, &o);
    int status = 0;
    for (int i = args->at; i < args->argc; i++)
        status |= shopt_word(p, args, &o, args->argv[i]);
    return status;
}

BUILTIN(set, "set", "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]",
        "Set or unset values of shell options and positional parameters.", SPECIAL_FLAGS);
BUILTIN(shopt, "shopt", "shopt [-pqsu] [-o] [optname ...]", "Set and unset shell options.", SHELL_FLAGS);
