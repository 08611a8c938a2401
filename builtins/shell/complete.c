/* compgen, complete, compopt: what scripts use of programmable completion, lists of words. Specifications are accepted, as
 * nothing completes here. */
#include "shell.h"

typedef struct Compgen {
    Proc *proc;
    Interp *in;
    const char *words, *glob, *function, *filter, *prefix, *suffix;
    bool actions[128];
    Slice word;
    bool any;
} Compgen;

static bool filtered(Compgen *g, Slice s)
{
    if (!g->filter)
        return false;
    bool negated = *g->filter == '!';
    Pat *pat = pat_compile(&g->proc->mem, slice_str(g->filter + negated), PAT_EXTGLOB);
    ReEnv env = proc_re_env(g->proc);
    return pat_match(&env, pat, s) != negated;
}

static void offer(Compgen *g, Slice s)
{
    if (!slice_starts(s, g->word) || filtered(g, s))
        return;
    g->any = true;
    out_printf(g->proc->out, "%s%.*s%s\n", g->prefix ? g->prefix : "", (int)s.len, s.data, g->suffix ? g->suffix : "");
}

static void offer_list(Compgen *g, const Slice *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        offer(g, list[i]);
}

static void offer_commands(Compgen *g, bool builtins_only)
{
    for (size_t i = 0; i < command_count; i++)
        if (!builtins_only || (command_table[i]->flags & COMMAND_SHELL))
            offer(g, slice_str(command_table[i]->name));
}

static void offer_files(Compgen *g, bool directories)
{
    size_t count;
    char *pattern = mem_printf(&g->proc->mem, "%.*s*", (int)g->word.len, g->word.data);
    Slice *list = glob_paths(g->in, slice_str(pattern), &count);
    for (size_t i = 0; i < count; i++) {
        VStat st;
        if (slice_is(list[i], pattern))
            continue;
        if (!directories || (proc_stat(g->proc, mem_copy(&g->proc->mem, list[i]), 0, &st) == 0 && (st.mode & 0170000) == 0040000))
            offer(g, list[i]);
    }
}

static void offer_keywords(Compgen *g)
{
    static const char *const names[] = {"if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until",
                                        "do", "done", "in", "function", "time", "{", "}", "!", "[[", "]]", "coproc"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        offer(g, slice_str(names[i]));
}

/* Of the quotes or the expansion at the start and what they hold, or of one character; all that is left when they do not end. */
static size_t quoted_length(Slice s)
{
    static const char openers[] = "'\"`({", closers[] = "'\"`)}";
    size_t n = s.data[0] == '$' && s.len > 1 && (s.data[1] == '(' || s.data[1] == '{');
    const char *kind = s.data[0] == '$' && !n ? NULL : strchr(openers, s.data[n]);
    if (!s.data[n] || !kind || (!n && kind > openers + 2))
        return MIN(s.data[0] == '\\' ? 2 : 1, s.len);
    for (n++; n < s.len && s.data[n] != closers[kind - openers];)
        n += s.data[0] != '\'' && s.data[n] == '\\' ? 2 : 1;
    return MIN(n + 1, s.len);
}

/* A word of -W without its quotes, what stands in it expanded. */
static Slice plain_word(Compgen *g, Slice s)
{
    Buf out = shell_buf(g->proc);
    buf_reserve(&out, 1);
    for (size_t i = 0; i < s.len;) {
        char c = s.data[i];
        if (c == '\\') {
            buf_append(&out, slice(s.data + i + 1, i + 1 < s.len));
            i += 2;
            continue;
        }
        size_t n = 1;
        if (c == '\'' || c == '"') {
            n = quoted_length(slice_from(s, i));
            Slice inner = slice(s.data + i + 1, n - 1 - (n > 1 && s.data[i + n - 1] == c));
            buf_append(&out, c == '"' ? expand_index(g->in, inner) : inner);
        } else {
            while (i + n < s.len && !strchr("\\'\"", s.data[i + n]))
                n++;
            buf_append(&out, expand_index(g->in, slice(s.data + i, n)));
        }
        i += n;
    }
    return buf_slice(&out);
}

static void offer_word(Compgen *g, Slice s)
{
    bool quoted = memchr(s.data, '\'', s.len) || memchr(s.data, '"', s.len) || memchr(s.data, '\\', s.len);
    size_t count;
    if (quoted || (!memchr(s.data, '$', s.len) && !memchr(s.data, '`', s.len))) {
        offer(g, plain_word(g, s));
        return;
    }
    Slice *list = split_read(g->in, expand_index(g->in, s), NULL, SIZE_MAX, &count);
    offer_list(g, list, count);
}

/* The words of -W are split at IFS where no quotes stand around it. */
static void offer_words(Compgen *g)
{
    Slice rest = slice_str(g->words), ifs;
    if (!var_text(g->in, SLICE("IFS"), &ifs))
        ifs = SLICE(" \t\n");
    while (rest.len) {
        size_t n = 0;
        while (n < rest.len && (!ifs.len || !memchr(ifs.data, rest.data[n], ifs.len)))
            n += quoted_length(slice_from(rest, n));
        if (n)
            offer_word(g, slice(rest.data, n));
        rest = slice_from(rest, MIN(n + 1, rest.len));
        proc_tick(g->proc, 1);
    }
}

static int action_letter(const char *name)
{
    static const struct { const char *name; char letter; } table[] = {
        {"alias", 'a'}, {"arrayvar", 'A'}, {"builtin", 'b'}, {"command", 'c'}, {"directory", 'd'}, {"enabled", 'b'}, {"export", 'e'},
        {"file", 'f'}, {"function", 'F'}, {"keyword", 'k'}, {"setopt", 'O'}, {"shopt", 'S'}, {"variable", 'v'}, {"job", 'j'},
        {"user", 'u'}, {"group", 'g'}, {"service", 's'}, {"hostname", 'h'}, {"signal", 'i'}, {"disabled", 'D'}, {"helptopic", 'b'},
        {"running", 'j'}, {"stopped", 'j'}, {"binding", 'D'},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].letter;
    return -1;
}

static void offer_options(Compgen *g)
{
    size_t count;
    OptionState *list = g->actions['O'] ? option_list(g->in, &count) : shopt_list(g->in, &count);
    for (size_t i = 0; i < count; i++)
        offer(g, slice_str(list[i].name));
}

/* Exported variables that have a value. */
static void offer_exported(Compgen *g)
{
    size_t count, kept = 0;
    Slice *list = var_names(g->in, ATTR_EXPORT, &count);
    for (size_t i = 0; i < count; i++) {
        const Var *v = var_find_raw(g->in, list[i]);
        if (v && !(v->attrs & ATTR_INVISIBLE) && v->value.kind != VALUE_UNSET)
            list[kept++] = list[i];
    }
    offer_list(g, list, kept);
}

static void generate(Compgen *g)
{
    size_t count;
    Slice *list;
    if (g->actions['a'])
        list = alias_names(g->in, &count), offer_list(g, list, count);
    if (g->actions['k'])
        offer_keywords(g);
    if (g->actions['v'])
        list = var_names(g->in, 0, &count), offer_list(g, list, count);
    if (g->actions['A'])
        list = var_names(g->in, ATTR_ARRAY, &count), offer_list(g, list, count);
    if (g->actions['e'])
        offer_exported(g);
    if (g->actions['F'])
        list = function_names(g->in, &count), offer_list(g, list, count);
    if (g->actions['c'] || g->actions['b'])
        offer_commands(g, !g->actions['c']);
    if (g->actions['O'] || g->actions['S'])
        offer_options(g);
    if (g->glob)
        list = glob_paths(g->in, slice_str(g->glob), &count), offer_list(g, list, count);
    if (g->words)
        offer_words(g);
    if (g->actions['f'] || g->actions['d'])
        offer_files(g, !g->actions['f']);
}

static const char shell_breaks[] = " \t\n|&;()<>$`\"'\\";

static bool valid_option(Proc *p, Args *args, const char *name)
{
    static const char *const names[] = {"bashdefault", "default", "dirnames", "filenames", "noquote", "nosort", "nospace", "plusdirs"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    shell_fail(p, args, "%s: invalid option name", name);
    return false;
}

static bool set_option(Compgen *g, Args *args, int c)
{
    switch (c) {
    case 'W': g->words = args->value; return true;
    case 'G': g->glob = args->value; return true;
    case 'F':
        g->function = args->value;
        if (args->value[strcspn(args->value, shell_breaks)]) {
            shell_fail(g->proc, args, "`%s': not a valid identifier", args->value);
            return false;
        }
        return true;
    case 'X': g->filter = args->value; return true;
    case 'P': g->prefix = args->value; return true;
    case 'S': g->suffix = args->value; return true;
    case 'C': return true;
    case 'o': return valid_option(g->proc, args, args->value);
    case 'A':
        c = action_letter(args->value);
        if (c < 0) {
            shell_fail(g->proc, args, "%s: invalid action name", args->value);
            return false;
        }
        g->actions[c] = true;
        return true;
    default: g->actions[c & 127] = true; return true;
    }
}

static int compgen_main(Proc *p, Args *args)
{
    Compgen g = {.proc = p, .in = interp_of(p)};
    for (int c; (c = shell_option(p, args, "abcdefgjksuvo:A:G:W:F:C:X:P:S:")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        if (!set_option(&g, args, c))
            return SHELL_USAGE;
    }
    g.word = slice_str(args->at < args->argc ? args->argv[args->at] : "");
    if (g.function)
        shell_fail(p, args, "warning: -F option may not work as you expect");
    generate(&g);
    return g.any || args->argc == 1 ? 0 : 1;
}

static void unspecified(Proc *p, Args *args, const char *name) { shell_fail(p, args, "%s: no completion specification", name); }

/* Of a specification nothing is kept: what is asked for afterwards is not there. */
static int complete_main(Proc *p, Args *args)
{
    Compgen g = {.proc = p, .in = interp_of(p)};
    bool print = false, drop = false, standard = false, any = false;
    for (int c; (c = shell_option(p, args, "abcdefgjksuvprDEIo:A:G:W:F:C:X:P:S:")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        print |= c == 'p';
        drop |= c == 'r';
        standard |= strchr("DEI", c) != NULL;
        any |= !strchr("prDEI", c);
        if (!set_option(&g, args, c))
            return SHELL_USAGE;
    }
    if (print && !drop) {
        for (int i = args->at; i < args->argc; i++)
            unspecified(p, args, args->argv[i]);
        return args->at < args->argc;
    }
    return any && !drop && !standard && args->at == args->argc ? shell_usage(p, args) : 0;
}

static int compopt_main(Proc *p, Args *args)
{
    static const struct { char letter; const char *name; } standard[] = {{'D', "_DefaultCmD_"}, {'E', "_EmptycmD_"}, {'I', "_InitialWorD_"}};
    bool asked[ARRAY_LEN(standard)] = {false};
    for (int c; (c = shell_option(p, args, "+o:DEI")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        if ((c == 'o' || c == -'o') && !valid_option(p, args, args->value))
            return SHELL_USAGE;
        for (size_t i = 0; i < ARRAY_LEN(standard); i++)
            asked[i] |= c == standard[i].letter || c == -standard[i].letter;
    }
    for (size_t i = 0; i < ARRAY_LEN(standard); i++)
        if (asked[i]) {
            unspecified(p, args, standard[i].name);
            return 1;
        }
    if (args->at == args->argc)
        return shell_fail(p, args, "not currently executing completion function");
    for (int i = args->at; i < args->argc; i++)
        unspecified(p, args, args->argv[i]);
    return 1;
}

BUILTIN(compgen, "compgen",
        "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] "
        "[-P prefix] [-S suffix] [word]",
        "Display possible completions depending on the options.", SHELL_FLAGS);
BUILTIN(complete, "complete",
        "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] "
        "[-X filterpat] [-P prefix] [-S suffix] [name ...]",
        "Specify how arguments are to be completed by Readline.", SHELL_FLAGS);
BUILTIN(compopt, "compopt", "compopt [-o|+o option] [-DEI] [name ...]", "Modify or display completion options.", SHELL_FLAGS);
