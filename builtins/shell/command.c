/* command, builtin, type, hash, enable: what a name means. */
#include "shell.h"

static bool is_builtin(Interp *in, const char *name)
{
    const Command *c = command_find(name);
    return c && (c->flags & COMMAND_SHELL) && builtin_enabled(in, slice_str(name));
}

/* Where a program of that name is, or NULL. A name with a slash stands for itself. */
static const char *program_path(Proc *p, const char *name, const char *path)
{
    Program found = proc_find(p, name, path);
    return found.kind == PROGRAM_NONE ? NULL : found.path ? found.path : name;
}

static const char *search_path(Proc *p)
{
    Slice path;
    return var_text(interp_of(p), SLICE("PATH"), &path) ? mem_copy(&p->mem, path) : "";
}

static const char *const default_path = "/bin:/usr/bin";

/* ---- type, command -v and -V ---- */

enum { SHOW_WORDS = 1 /* type, -V */, SHOW_SHORT = 2 /* -v */, SHOW_KIND = 4 /* -t */, SHOW_PATH = 8 /* -p */, SHOW_ALL = 16,
       FORCE_PATH = 32, NO_FUNCTIONS = 64 };

static void say(Proc *p, const char *name, int how, const char *kind, const char *words)
{
    if (how & SHOW_KIND)
        out_printf(p->out, "%s\n", kind);
    else if (how & SHOW_WORDS)
        out_printf(p->out, "%s %s\n", name, words);
    else if (how & SHOW_SHORT)
        out_printf(p->out, "%s\n", name);
}

static void say_alias(Proc *p, const char *name, int how, Slice text)
{
    Buf quoted = shell_buf(p);
    if (how & SHOW_KIND) {
        out_str(p->out, "alias\n");
    } else if (how & SHOW_WORDS) {
        out_printf(p->out, "%s is aliased to `%.*s'\n", name, (int)text.len, text.data);
    } else if (how & SHOW_SHORT) {
        quote_single(&quoted, text);
        out_printf(p->out, "alias %s=%s\n", name, quoted.data);
    }
}

static void say_function(Proc *p, const char *name, int how, const Function *f)
{
    say(p, name, how, "function", "is a function");
    if (!(how & SHOW_WORDS))
        return;
    Buf text = shell_buf(p);
    print_function(&text, slice_str(name), f->node->function.body);
    buf_char(&text, '\n');
    out_write(p->out, buf_slice(&text));
}

/* All of the name along PATH, or the first; true when there was one. */
static bool say_programs(Proc *p, const char *name, int how, const char *path)
{
    Slice hashed;
    uint32_t hits;
    if (!(how & (SHOW_ALL | FORCE_PATH)) && hash_get(interp_of(p), slice_str(name), &hashed, &hits)) {
        if (how & SHOW_KIND)
            out_str(p->out, "file\n");
        else if (how & SHOW_WORDS)
            out_printf(p->out, "%s is hashed (%.*s)\n", name, (int)hashed.len, hashed.data);
        else
            out_printf(p->out, "%.*s\n", (int)hashed.len, hashed.data);
        return true;
    }
    bool found = false;
    for (const char *s = path; s && (how & SHOW_ALL || !found);) {
        const char *end = strchrnul(s, ':');
        const char *at = program_path(p, name, strchr(name, '/') ? s : mem_printf(&p->mem, "%.*s", (int)(end - s), s));
        if (at) {
            found = true;
            if (how & SHOW_KIND)
                out_str(p->out, "file\n");
            else if (how & SHOW_WORDS)
                out_printf(p->out, "%s is %s\n", name, at);
            else
                out_printf(p->out, "%s\n", at);
        }
        if (strchr(name, '/') || !*end)
            break;
        s = end + 1;
    }
    return found;
}

/* Everything before programs; true when the name was found and one answer is enough, or any was given. */
static bool say_shell_names(Proc *p, const char *name, int how, bool *more)
{
    Interp *in = interp_of(p);
    Slice text;
    bool all = how & SHOW_ALL, found = false;
    *more = true;
    bool aliases = false;
    shopt_get(in, slice_str("expand_aliases"), &aliases);
    if (aliases && alias_get(in, slice_str(name), &text)) {
        say_alias(p, name, how, text);
        found = true;
    }
    if ((!found || all) && keyword_is(slice_str(name))) {
        say(p, name, how, "keyword", "is a shell keyword");
        found = true;
    }
    const Function *f = how & NO_FUNCTIONS ? NULL : function_find(in, slice_str(name));
    if ((!found || all) && f) {
        say_function(p, name, how, f);
        found = true;
    }
    if ((!found || all) && is_builtin(in, name)) {
        say(p, name, how, "builtin", "is a shell builtin");
        found = true;
    }
    *more = !found || all;
    return found;
}

static bool describe(Proc *p, const char *name, int how, const char *path)
{
    bool more = true, found = false;
    if (!(how & FORCE_PATH))
        found = say_shell_names(p, name, how, &more);
    if (more)
        found |= say_programs(p, name, how, path);
    return found;
}

/* type -type, -path, -all: the spellings of old. */
static void modernise(Args *args)
{
    static const struct { const char *old, *now; } table[] = {
        {"-type", "-t"}, {"--type", "-t"}, {"-path", "-p"}, {"--path", "-p"}, {"-all", "-a"}, {"--all", "-a"},
    };
    for (int i = 1; i < args->argc && args->argv[i][0] == '-'; i++)
        for (size_t k = 0; k < ARRAY_LEN(table); k++)
            if (strcmp(args->argv[i], table[k].old) == 0)
                args->argv[i] = (char *)(uintptr_t)table[k].now;
}

static int type_main(Proc *p, Args *args)
{
    int how = SHOW_WORDS;
    modernise(args);
    for (int c; (c = shell_option(p, args, "afptP")) != -1;) {
        switch (c) {
        case 'a': how |= SHOW_ALL; break;
        case 'f': how |= NO_FUNCTIONS; break;
        case 'p': how = (how & ~(SHOW_WORDS | SHOW_KIND)) | SHOW_PATH; break;
        case 'P': how = (how & ~(SHOW_WORDS | SHOW_KIND)) | SHOW_PATH | FORCE_PATH; break;
        case 't': how = (how & ~(SHOW_WORDS | SHOW_PATH)) | SHOW_KIND; break;
        default: return SHELL_USAGE;
        }
    }
    int status = 0;
    const char *path = search_path(p);
    for (int i = args->at; i < args->argc; i++)
        if (!describe(p, args->argv[i], how, path)) {
            if (how & SHOW_WORDS)
                shell_fail(p, args, "%s: not found", args->argv[i]);
            status = 1;
        }
    return status;
}

static int command_main(Proc *p, Args *args)
{
    int how = 0;
    bool standard = false;
    for (int c; (c = shell_option(p, args, "pvV")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        standard |= c == 'p';
        if (c == 'p' && shell_restricted(p, args, "-p"))
            return 1;
        how = c == 'v' ? SHOW_SHORT : c == 'V' ? SHOW_WORDS : how;
    }
    if (args->at >= args->argc)
        return 0;
    if (!how)
        return run_words(interp_of(p), args->argc - args->at, args->argv + args->at, RUN_NO_FUNCTIONS | (standard ? RUN_DEFAULT_PATH : 0));
    const char *path = standard ? default_path : search_path(p);
    bool any = false;
    for (int i = args->at; i < args->argc; i++) {
        if (describe(p, args->argv[i], how, path))
            any = true;
        else if (how & SHOW_WORDS)
            shell_fail(p, args, "%s: not found", args->argv[i]);
    }
    return any ? 0 : 1;
}

static int builtin_main(Proc *p, Args *args)
{
    if (shell_option(p, args, "") == '?')
        return SHELL_USAGE;
    int count;
    char **words = shell_operands(args, &count);
    if (!count)
        return 0;
    if (!is_builtin(interp_of(p), words[0]))
        return shell_fail(p, args, "%s: not a shell builtin", words[0]);
    return run_words(interp_of(p), count, words, RUN_NO_FUNCTIONS | RUN_BUILTIN_ONLY);
}

/* ---- hash ---- */

static int list_hashed(Proc *p, bool reusable)
{
    size_t count;
    Slice path, *names = hash_names(interp_of(p), &count);
    uint32_t hits;
    if (!count) {
        if (!reusable)
            out_str(p->out, "hash: hash table empty\n");
        return 0;
    }
    if (!reusable)
        out_str(p->out, "hits\tcommand\n");
    for (size_t i = 0; i < count; i++) {
        if (!hash_get(interp_of(p), names[i], &path, &hits))
            continue;
        if (reusable)
            out_printf(p->out, "builtin hash -p %.*s %.*s\n", (int)path.len, path.data, (int)names[i].len, names[i].data);
        else
            out_printf(p->out, "%4u\t%.*s\n", hits, (int)path.len, path.data);
    }
    return 0;
}

typedef struct HashOptions { bool forget, clear, list, tell; const char *path; } HashOptions;

static int hash_word(Proc *p, Args *args, const HashOptions *o, const char *name, bool several)
{
    Slice path;
    uint32_t hits;
    if (o->path)
        return hash_put(interp_of(p), slice_str(name), slice_str(o->path)) ? 0 : 1;
    if (o->forget)
        return hash_remove(interp_of(p), slice_str(name)) ? 0 : shell_fail(p, args, "%s: not found", name);
    if (o->tell) {
        if (!hash_get(interp_of(p), slice_str(name), &path, &hits))
            return shell_fail(p, args, "%s: not found", name);
        out_printf(p->out, "%s%s%.*s\n", several ? name : "", several ? "\t" : "", (int)path.len, path.data);
        return 0;
    }
    if (strchr(name, '/') || is_builtin(interp_of(p), name) || function_find(interp_of(p), slice_str(name)))
        return 0;
    const char *found = program_path(p, name, search_path(p));
    if (!found)
        return shell_fail(p, args, "%s: not found", name);
    return hash_put(interp_of(p), slice_str(name), slice_str(found)) ? 0 : 1;
}

static int hash_main(Proc *p, Args *args)
{
    HashOptions o = {0};
    if (!option_on(interp_of(p), 'h'))
        return shell_fail(p, args, "hashing disabled");
    for (int c; (c = shell_option(p, args, "dlp:rt")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        o.forget |= c == 'd';
        o.list |= c == 'l';
        o.clear |= c == 'r';
        o.tell |= c == 't';
        o.path = c == 'p' ? args->value : o.path;
        if (c == 'p' && strchr(args->value, '/') && shell_restricted(p, args, args->value))
            return 1;
    }
    int count, status = 0;
    char **words = shell_operands(args, &count);
    if (!count && (o.forget || o.tell))
        return shell_fail(p, args, "-%c: option requires an argument", o.forget ? 'd' : 't');
    if (o.forget && !hash_used(interp_of(p)))
        return 0;
    if (o.clear)
        hash_clear(interp_of(p));
    else if (!count)
        return list_hashed(p, o.list);
    for (int i = 0; i < count; i++)
        status |= hash_word(p, args, &o, words[i], count > 1);
    return status;
}

/* ---- enable ---- */

static int list_builtins(Proc *p, bool disabled, bool all, bool special)
{
    for (size_t i = 0; i < command_count; i++) {
        const Command *c = command_table[i];
        if (!(c->flags & COMMAND_SHELL) || (special && !(c->flags & COMMAND_SPECIAL)))
            continue;
        bool on = builtin_enabled(interp_of(p), slice_str(c->name));
        if (all || on != disabled)
            out_printf(p->out, "enable %s%s\n", on ? "" : "-n ", c->name);
    }
    return 0;
}

static int enable_main(Proc *p, Args *args)
{
    bool off = false, all = false, special = false;
    for (int c; (c = shell_option(p, args, "adnpsf:")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        if ((c == 'f' || c == 'd') && shell_restricted(p, args, NULL))
            return 1;
        if (c == 'f' || c == 'd')
            return shell_fail(p, args, "dynamic loading not available");
        off |= c == 'n';
        all |= c == 'a';
        special |= c == 's';
    }
    if (args->at >= args->argc)
        return list_builtins(p, off, all, special);
    int status = 0;
    for (int i = args->at; i < args->argc; i++)
        if (!builtin_enable(interp_of(p), slice_str(args->argv[i]), !off))
            status = shell_fail(p, args, "%s: not a shell builtin", args->argv[i]);
    return status;
}

BUILTIN(command, "command", "command [-pVv] command [arg ...]", "Execute a simple command or display information about commands.",
        SHELL_FLAGS);
BUILTIN(builtin, "builtin", "builtin [shell-builtin [arg ...]]", "Execute shell builtins.", SHELL_FLAGS);
BUILTIN(type, "type", "type [-afptP] name [name ...]", "Display information about command type.", SHELL_FLAGS);
BUILTIN(hash, "hash", "hash [-lr] [-p pathname] [-dt] [name ...]", "Remember or display program locations.", SHELL_FLAGS);
BUILTIN(enable, "enable", "enable [-a] [-dnps] [-f filename] [name ...]", "Enable and disable shell builtins.", SHELL_FLAGS);
