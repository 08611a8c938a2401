/* declare, typeset, local, export, readonly: attributes and values of variables and functions.
 *
 * Arguments that were assignments when the script was parsed come as trees (builtin_assign); others, out of expansions, are
 * parsed here.
 */
#include "shell.h"

typedef struct Declare {
    Proc *proc;
    Interp *in;
    Args *args;
    uint32_t set, clear;
    int flags;           /* DECLARE_* */
    bool functions, names_only, print, local_options;
} Declare;

static const struct { char letter; uint32_t attr; } letters[] = {
    {'a', ATTR_ARRAY}, {'A', ATTR_ASSOC}, {'i', ATTR_INTEGER}, {'l', ATTR_LOWER}, {'n', ATTR_NAMEREF}, {'r', ATTR_READONLY},
    {'t', ATTR_TRACE}, {'u', ATTR_UPPER}, {'c', ATTR_CAPITAL}, {'x', ATTR_EXPORT},
};

static uint32_t attr_of(int letter)
{
    for (size_t i = 0; i < ARRAY_LEN(letters); i++)
        if (letters[i].letter == letter)
            return letters[i].attr;
    return 0;
}

/* ---- printing ---- */

static int print_variable(Declare *d, const char *name)
{
    const Var *v = var_find_raw(d->in, slice_str(name));
    if (!v)
        return shell_fail(d->proc, d->args, "%s: not found", name);
    var_print_declare(d->in, v, NULL, d->proc->out);
    return 0;
}

static bool one_attribute(const Declare *d)
{
    const char *name = d->args->command->name;
    return strcmp(name, "export") == 0 || strcmp(name, "readonly") == 0;
}

/* POSIX mode: "export x=1" instead of declare -x. */
static const char *posix_verb(const Declare *d)
{
    const char *name = d->args->command->name;
    return posix_mode(d->in) && one_attribute(d) ? name : NULL;
}

static void function_flags(Declare *d, const Function *f, Slice name)
{
    if (posix_verb(d)) {
        out_printf(d->proc->out, "%s -f %.*s\n", posix_verb(d), (int)name.len, name.data);
        return;
    }
    out_printf(d->proc->out, "declare -f%s%s%s %.*s\n", f->attrs & ATTR_READONLY ? "r" : "", f->attrs & ATTR_TRACE ? "t" : "",
               f->attrs & ATTR_EXPORT ? "x" : "", (int)name.len, name.data);
}

static int print_a_function(Declare *d, Slice name, bool all)
{
    const Function *f = function_find(d->in, name);
    if (!f)
        return 1;
    if (!d->names_only) {
        Buf text = shell_buf(d->proc);
        print_function(&text, name, f->node->function.body);
        buf_char(&text, '\n');
        out_write(d->proc->out, buf_slice(&text));
    }
    bool where = false;
    shopt_get(d->in, slice_str("extdebug"), &where);
    if (d->names_only && !all && !d->print && where)
        out_printf(d->proc->out, "%.*s %u %s\n", (int)name.len, name.data, f->line, f->source ? f->source->data : "environment");
    else if (d->names_only && !all && !d->print)
        out_printf(d->proc->out, "%.*s\n", (int)name.len, name.data);
    else if (d->names_only || (d->print && f->attrs))
        function_flags(d, f, name);
    return 0;
}

static int print_functions(Declare *d)
{
    size_t count;
    Slice *names = function_names(d->in, &count);
    for (size_t i = 0; i < count; i++) {
        const Function *f = function_find(d->in, names[i]);
        if (f && (f->attrs & d->set) == d->set)
            print_a_function(d, names[i], true);
    }
    return 0;
}

/* Its attributes are known without asking for its value. */
static void print_unread(Declare *d, Slice name)
{
    bool integer = !slice_is(name, "SECONDS") && !slice_is(name, "LINENO") && !slice_is(name, "BASH_SUBSHELL") && !slice_starts(name, SLICE("EPOCH"));
    out_printf(d->proc->out, "declare -%s %.*s\n", integer ? "i" : "-", (int)name.len, name.data);
}

/* Variables with attributes, or -p: in a form that reads back. */
static int print_all(Declare *d, uint32_t attrs)
{
    size_t count;
    Slice *names = var_names(d->in, attrs, &count);
    for (size_t i = 0; i < count; i++) {
        bool unread = special_unread(d->in, names[i]);
        if (unread && (strcmp(d->args->command->name, "local") == 0 || (attrs && slice_is(names[i], "SECONDS")))) /* SECONDS is an integer once it was read */
            continue;
        if (unread) {
            print_unread(d, names[i]);
            continue;
        }
        const Var *v = var_listed(d->in, names[i]);
        if (v && v->scope > scope_depth(d->in)) /* x=1 in front of the command itself */
            v = v->shadowed;
        if (!v || (attrs && !(v->attrs & attrs)))
            continue;
        if (d->flags & DECLARE_LOCAL && strcmp(d->args->command->name, "local") == 0 && !(v->attrs & ATTR_LOCAL))
            continue;
        var_print_declare(d->in, v, posix_verb(d), d->proc->out);
        proc_tick(d->proc, 1);
    }
    return 0;
}

/* ---- declaring ---- */

static int bad_name(Declare *d, const char *word)
{
    return shell_fail(d->proc, d->args, "`%s': not a valid identifier", word);
}

static const Assign *parse_argument(Declare *d, const char *word)
{
    ParseError error;
    ParseOptions o = {.brace_expand = true};
    Slice name, subscript, text = slice_str(word);
    size_t equals = slice_find(text, '=');
    size_t end = equals > 0 && text.data[equals - 1] == '+' ? equals - 1 : equals;
    if (!parse_reference(slice(word, end), &name, &subscript))
        return NULL;
    Assign *a = mem_new(&d->proc->mem, Assign);
    Slice value = slice_from(text, equals + 1);
    bool compound = value.len > 1 && value.data[0] == '(' && value.data[value.len - 1] == ')';
    const Var *v = var_find_raw(d->in, name);
    if (compound && !subscript.len && ((d->set & (ATTR_ARRAY | ATTR_ASSOC)) || (v && (v->attrs & (ATTR_ARRAY | ATTR_ASSOC)))))
        return parse_assignment(&d->proc->mem, text, &o, &error);
    a->name = (Name){slice(mem_copy(&d->proc->mem, name), name.len), hash_bytes(name)};
    a->append = end != equals;
    Word *words = mem_array(&d->proc->mem, 2, Word);
    WordPart *parts = mem_array(&d->proc->mem, 2, WordPart);
    Slice texts[2] = {value, subscript};
    for (int i = 0; i < 2; i++) {
        parts[i] = (WordPart){.kind = PART_LITERAL, .quoted = true, .text = slice(mem_copy(&d->proc->mem, texts[i]), texts[i].len)};
        words[i] = (Word){.parts = &parts[i], .count = 1, .flags = WORD_LITERAL | WORD_SIMPLE | WORD_QUOTED, .source = texts[i]};
    }
    a->value = &words[0];
    a->index = subscript.len ? &words[1] : NULL;
    return a;
}

static int declare_assigned(Declare *d, const char *word, const Assign *a)
{
    if (!a)
        a = parse_argument(d, word);
    if (!a && strstr(word, "[]=") && name_valid(slice(word, (size_t)(strchr(word, '[') - word))) && !one_attribute(d)) {
        shell_error(d->in, NULL, "%.*s[]: bad array subscript", (int)(strchr(word, '[') - word), word);
        return 1;
    }
    if (!a || (a->index && one_attribute(d))) /* export and readonly take no elements */
        return bad_name(d, mem_printf(&d->proc->mem, "%.*s", (int)strcspn(word, a ? "=+" : ""), word));
    uint32_t readonly = d->set & ATTR_READONLY;
    if (!var_assign(d->in, a, d->set & ~readonly, d->flags))
        return 1;
    if (d->clear && !var_declare(d->in, a->name.text, 0, d->clear, d->flags & DECLARE_GLOBAL))
        return 1;
    uint32_t later = readonly ? readonly | (d->set & ATTR_NAMEREF) : 0;
    return !later || var_declare(d->in, a->name.text, later, 0, d->flags & DECLARE_GLOBAL) ? 0 : 1;
}

static int declare_name(Declare *d, const char *word)
{
    Slice name, subscript;
    if (!parse_reference(slice_str(word), &name, &subscript) || (subscript.data && one_attribute(d)))
        return bad_name(d, word);
    const Var *old = d->set & ATTR_NAMEREF ? var_find_raw(d->in, name) : NULL;
    if (old && old->value.kind >= VALUE_ARRAY && !(d->flags & DECLARE_LOCAL))
        return shell_fail(d->proc, d->args, "%s: reference variable cannot be an array", word);
    uint32_t set = d->set | (subscript.len && !(d->set & ATTR_ASSOC) ? ATTR_ARRAY : 0);
    if (option_on(d->in, 'a') && !(set & (ATTR_ARRAY | ATTR_ASSOC | ATTR_NAMEREF)) && !(d->flags & DECLARE_LOCAL))
        set |= ATTR_EXPORT;
    return var_declare(d->in, name, set, d->clear, d->flags) ? 0 : 1;
}

static int declare_function(Declare *d, const char *word, bool compound)
{
    if (compound)
        return 1;
    if (*word != '=' && strchr(word, '='))
        return shell_fail(d->proc, d->args, "cannot use `-f' to make functions");
    if (d->set || d->clear) {
        if (function_attrs(d->in, slice_str(word), d->set, d->clear))
            return 0;
        return strcmp(d->args->command->name, "declare") && strcmp(d->args->command->name, "typeset")
                   ? shell_fail(d->proc, d->args, "%s: not a function", word)
                   : 1;
    }
    return print_a_function(d, slice_str(word), false);
}

static int declare_word(Declare *d, int index)
{
    const char *word = d->args->argv[index];
    if (d->functions)
        return declare_function(d, word, builtin_assign(d->in, index) && builtin_assign(d->in, index)->is_array);
    if (d->print) {
        const Assign *list = builtin_assign(d->in, index);
        bool made = list && list->is_array;
        if (made && !var_assign(d->in, list, d->set, d->flags))
            return 1;
        return print_variable(d, made ? list->name.text.data : word);
    }
    if (d->local_options && strcmp(word, "-") == 0)
        return option_make_local(d->in) ? 0 : 1;
    const Assign *a = builtin_assign(d->in, index);
    if (a || strchr(word, '='))
        return declare_assigned(d, word, a);
    return declare_name(d, word);
}

static int declare_words(Declare *d)
{
    int status = 0;
    for (int i = d->args->at; i < d->args->argc; i++)
        if (declare_word(d, i))
            status = 1;
    return status;
}

static int print_everything(Declare *d, uint32_t attrs, bool as_set)
{
    if (d->functions)
        return print_functions(d);
    return as_set ? print_variables(d->proc) : print_all(d, attrs);
}

static int declare_main(Proc *p, Args *args)
{
    Declare d = {.proc = p, .in = interp_of(p), .args = args};
    bool local = strcmp(args->command->name, "local") == 0, global = false;
    for (int c; (c = shell_option(p, args, "+aAcfFgiIlnprtux")) != -1;) {
        int letter = c < 0 ? -c : c;
        uint32_t attr = attr_of(letter);
        if (c == '?')
            return SHELL_USAGE;
        if (attr)
            *(c < 0 ? &d.clear : &d.set) |= attr;
        d.functions |= letter == 'f' || letter == 'F';
        d.names_only |= letter == 'F';
        d.print |= letter == 'p';
        global |= letter == 'g';
        d.flags |= letter == 'I' ? DECLARE_INHERIT : 0;
    }
    if (local && !in_function(d.in))
        return shell_fail(p, args, "can only be used in a function");
    uint32_t asked = local ? 0 : d.set, cases = d.set & (ATTR_LOWER | ATTR_UPPER | ATTR_CAPITAL);
    if (cases & (cases - 1)) /* more than one: none */
        d.set &= ~cases;
    if (global)
        d.flags |= DECLARE_GLOBAL;
    else if (in_function(d.in))
        d.flags |= DECLARE_LOCAL;
    d.local_options = local;
    if (args->at >= args->argc)
        return print_everything(&d, asked, !d.print && !asked && !local);
    return declare_words(&d);
}

/* export and readonly: one attribute each, in every scope. */
static int attribute(Proc *p, Args *args, const char *options, uint32_t attr)
{
    Declare d = {.proc = p, .in = interp_of(p), .args = args, .set = attr};
    bool undo = false;
    for (int c; (c = shell_option(p, args, options)) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        undo |= c == 'n' && attr == ATTR_EXPORT;
        d.functions |= c == 'f';
        d.set |= c == 'a' || c == 'A' ? attr_of(c) : 0;
    }
    if (args->at >= args->argc) {
        d.names_only = d.functions;
        return print_everything(&d, d.set, false);
    }
    if (undo) {
        d.set &= ~attr;
        d.clear = attr;
    }
    return declare_words(&d);
}

static int export_main(Proc *p, Args *args) { return attribute(p, args, "fnp", ATTR_EXPORT); }
static int readonly_main(Proc *p, Args *args) { return attribute(p, args, "aAfnp", ATTR_READONLY); }

/* ---- unset ---- */

/* Without -v what is no variable's name may be a function's: no message. */
static int unset_variable(Proc *p, Args *args, const char *word, bool raw, bool strict, bool *absent)
{
    Interp *in = interp_of(p);
    Slice name, subscript;
    *absent = false;
    if (!parse_reference(slice_str(word), &name, &subscript))
        return strict ? shell_fail(p, args, "`%s': not a valid identifier", word) : 0;
    const Var *raw_var = raw ? var_find_raw(in, name) : NULL;
    if (raw_var && !(raw_var->attrs & ATTR_NAMEREF))
        return 0;
    int error = subscript.len ? var_unset_element(in, name, subscript) : raw ? var_unset_raw(in, name) : var_unset(in, name);
    if (error == -EPERM)
        return shell_fail(p, args, "%.*s: cannot unset: readonly variable", (int)name.len, name.data);
    if (error == -EINVAL)
        return 1;
    if (error == -ENOTDIR)
        return shell_fail(p, args, "%.*s: not an array variable", (int)name.len, name.data);
    *absent = error == -ENOENT;
    return 0;
}

static int unset_function(Proc *p, Args *args, const char *word)
{
    if (function_unset(interp_of(p), slice_str(word)) == -EPERM)
        return shell_fail(p, args, "%s: cannot unset: readonly function", word);
    return 0;
}

static int unset_main(Proc *p, Args *args)
{
    bool functions = false, variables = false, raw = false, absent;
    for (int c; (c = shell_option(p, args, "fnv")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        functions |= c == 'f';
        variables |= c == 'v';
        raw |= c == 'n';
    }
    if (functions && variables)
        return shell_fail(p, args, "cannot simultaneously unset a function and a variable");
    int status = 0;
    for (int i = args->at; i < args->argc; i++) {
        const char *word = args->argv[i];
        if (functions || (!variables && !raw && !name_valid(slice_str(word)) && function_find(interp_of(p), slice_str(word)))) {
            status |= unset_function(p, args, word);
            continue;
        }
        status |= unset_variable(p, args, word, raw, variables && !raw, &absent);
        if (absent && !variables && !raw)
            status |= unset_function(p, args, word);
    }
    return status;
}

#define typeset_main declare_main
#define local_main declare_main
BUILTIN(declare, "declare", "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]",
        "Set variable values and attributes.", SHELL_FLAGS);
BUILTIN(typeset, "typeset", "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]",
        "Set variable values and attributes.", SHELL_FLAGS);
BUILTIN(local, "local", "local [option] name[=value] ...", "Define local variables.", SHELL_FLAGS);
BUILTIN(export, "export", "export [-fn] [name[=value] ...] or export -p", "Set export attribute for shell variables.", SPECIAL_FLAGS);
BUILTIN(readonly, "readonly", "readonly [-aAf] [name[=value] ...] or readonly -p", "Mark shell variables as unchangeable.",
        SPECIAL_FLAGS);
BUILTIN(unset, "unset", "unset [-f] [-v] [-n] [name ...]", "Unset values and attributes of shell variables and functions.",
        SPECIAL_FLAGS);
