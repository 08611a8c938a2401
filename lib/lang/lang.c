/* lang: what api and kernel call: the main shell of a run, scripts, and shells started as programs. */
#include "interp.h"
#include "runscope.h"

static NORETURN void nomem(Proc *p) { proc_raise(p, RAISE_MEMORY); }

static Str *string_of(Interp *in, Slice s)
{
    Str *str = str_new(gen_of(in), s);
    if (!str)
        nomem(in->p);
    return str;
}

static void set_zero(Interp *in, const char *name)
{
    Str *s = string_of(in, slice_str(name));
    str_unref(gen_of(in), in->st.zero);
    in->st.zero = s;
}

/* BASH_SOURCE of the main text. */
static void set_script(Interp *in, const char *path)
{
    str_unref(gen_of(in), in->st.script);
    in->st.script = path ? string_of(in, slice_str(path)) : NULL;
    in->dyn.source = in->st.script;
}

static int count_strings(const char *const *list)
{
    int n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* PWD and the logical directory, where the state has none yet or the process is elsewhere. */
static void find_directory(Interp *in)
{
    if (in->st.cwd)
        return;
    char *path;
    Slice pwd;
    if (proc_getcwd(in->p, &path))
        path = (char *)(uintptr_t)"/";
    Name name = name_of(SLICE("PWD"));
    VStat a, b;
    bool inherited = lang_get(in, &name, &pwd) && pwd.len && pwd.data[0] == '/' && proc_stat(in->p, pwd.data, 0, &a) == 0 &&
                     proc_stat(in->p, ".", 0, &b) == 0 && a.ino == b.ino && a.dev == b.dev;
    in->st.cwd = string_of(in, inherited ? pwd : slice_str(path));
    lang_set(in, &name, str_slice(in->st.cwd), false);
    var_declare(in, SLICE("PWD"), ATTR_EXPORT, 0, 0);
    if (!var_find_raw(in, SLICE("OLDPWD")))
        var_declare(in, SLICE("OLDPWD"), ATTR_EXPORT, 0, 0);
}

static bool set_options(Interp *in, const char *letters, const char *const *long_options, const char *const *shopts)
{
    for (; letters && *letters; letters++)
        option_set(in, *letters, true);
    for (; long_options && *long_options; long_options++)
        if (!option_set_named(in, slice_str(*long_options), true)) {
            lang_error(in, "%.*s: %s: invalid option name", (int)str_slice(in->st.zero).len, in->st.zero->data, *long_options);
            return false;
        }
    for (; shopts && *shopts; shopts++)
        if (!shopt_set(in, slice_str(*shopts), true)) {
            lang_error(in, "%s: invalid shell option name", *shopts);
            return false;
        }
    return true;
}

/* ---------- a run of the embedder's shell ---------- */

static int run_body(Interp *in, void *arg)
{
    const LangRun *run = arg;
    if ((run->env || run->cwd) && !runscope_enter(in, &in->run_scope, run->env, run->cwd))
        return 1;
    find_directory(in);
    if (!set_options(in, run->options, run->long_options, NULL))
        return 2;
    if (run->syntax_only)
        in->st.options |= UINT64_C(1) << OPT_NOEXEC;
    in->has_execution_string = !run->from_stdin;
    in->execution_string = run->script;
    in->from_stdin = run->from_stdin;
    return run_units(in, run->script, 1, run->from_stdin ? NULL : "-c");
}

static void take_arguments(Interp *in, const char *const *args)
{
    int argc = count_strings(args);
    set_zero(in, argc ? args[0] : "bash");
    Gen *g = gen_of(in);
    strlist_unref(g, in->st.args);
    in->st.args = NULL;
    in->st.first = 0;
    if (argc > 1 && !positional_set(in, (char **)(uintptr_t)(args + 1), argc - 1))
        nomem(in->p);
}

/* What the run leaves goes back to the Lang, also when the run was cut short. */
static void give_back(Interp *in, const LangRun *run)
{
    Lang *l = run->lang;
    Guard guard;
    l->exited = in->exiting;
    /* Without memory for this the state is handed on as it is: it must not be lost. */
    if (!guard_enter(in->p, &guard)) {
        locals_pop(in, NULL);
        runscope_leave(in, in->run_scope);
        if (in->st.traps && in->st.traps->action[TRAP_EXIT])
            trap_set(in, TRAP_EXIT, NULL);
        guard_leave(in->p, &guard);
    }
    if (run->fresh)
        return;
    if (run->syntax_only)
        in->st.options &= ~(UINT64_C(1) << OPT_NOEXEC);
    l->st = in->st;
    memset(&in->st, 0, sizeof in->st);
    in->dyn.source = NULL;
}

bool lang_exited(const Lang *l) { return l->exited; }

int lang_main(Proc *p, void *arg)
{
    const LangRun *run = arg;
    Lang *l = run->lang;
    Interp *in = interp_new(p, l);
    Gen *g = gen_of(in);
    l->exited = false;
    if (run->fresh) {
        in->st = state_clone(g, &l->first);
    } else {
        in->st = l->st;
        memset(&l->st, 0, sizeof l->st);
    }
    Guard guard;
    int status = 0;
    RaiseKind kind = guard_enter(p, &guard);
    if (!kind) {
        take_arguments(in, run->args);
        buf_append(&in->last_arg, str_slice(in->st.zero)); /* $_ before the first command */
        traps_arm(in);
        status = shell_body(in, run_body, (void *)(uintptr_t)run);
        guard_leave(p, &guard);
        give_back(in, run);
        return status;
    }
    unwind_to(in, NULL);
    give_back(in, run);
    proc_raise(p, kind);
}

/* ---------- shells as programs ---------- */

/* Signals ignored on entry are listed as ignored. */
static void inherit_ignored(Interp *in)
{
    uint64_t ignored = in->p->ignored;
    for (int n = 1; ignored && n < 65; n++)
        if (ignored & SIGNAL_BIT(n))
            trap_set(in, n, &SLICE(""));
}

/* BASH_FUNC_name%%=() { ... } of the environment. */
static void import_functions(Interp *in)
{
    for (char **e = in->first_env; e && *e; e++) {
        Slice s = slice_str(*e), end = SLICE("%%=() {");
        size_t at = slice_search(s, end);
        if (!slice_starts(s, SLICE("BASH_FUNC_")) || at == SIZE_MAX || at < 11)
            continue;
        Slice name = slice(s.data + 10, at - 10), value = slice_from(s, at + 3);
        if (!name_valid(name))
            continue;
        run_units(in, slice_str(mem_printf(mem_of(in), "%.*s %s", (int)name.len, name.data, value.data)), 1, "import");
        function_attrs(in, name, ATTR_EXPORT, 0);
    }
}

/* A NUL in the first line, as bash looks for it. */
static bool is_binary(Slice text)
{
    size_t line = MIN(slice_find(text, '\n'), (size_t)80);
    return memchr(text.data, 0, MIN(line, text.len)) != NULL;
}

/* bash -r: set -r, and where programs and start-up files are looked for cannot be changed. */
static void restrict_shell(Interp *in)
{
    static const char *const names[] = {"PATH", "SHELL", "ENV", "BASH_ENV", "HISTFILE"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        var_declare(in, slice_str(names[i]), ATTR_READONLY, 0, 0);
    in->st.options |= OPTION_RESTRICTED;
    in->st.shopts |= UINT64_C(1) << SHOPT_RESTRICTED_SHELL;
}

static int start_body(Interp *in, void *arg)
{
    const ShellStart *s = arg;
    Slice text = s->text;
    set_zero(in, s->posix ? "sh" : "bash"); /* messages about options come before the script has a say */
    if (!set_options(in, s->options, s->long_options, s->shopts))
        return 2;
    if (s->argc)
        set_zero(in, s->argv[0]);
    if (s->argc > 1)
        positional_set(in, s->argv + 1, s->argc - 1);
    if (s->posix)
        option_set_named(in, SLICE("posix"), true);
    find_directory(in);
    inherit_ignored(in);
    import_functions(in);
    if (s->restricted)
        restrict_shell(in);
    if (s->first)
        run_units(in, slice_str(s->first), 1, NULL);
    if (s->has_text) {
        in->has_execution_string = true;
        in->execution_string = text;
        return run_units(in, text, 1, "-c");
    }
    if (s->path) {
        int err = read_file(in->p, s->path, &text);
        if (err) {
            Output *e = in->p->err;
            if (err == -EISDIR) {
                out_printf(e, "%s: %s: %s\n", s->path, s->path, error_text(err));
                output_flush(e);
                return 126;
            }
            out_printf(e, "%s: %s: %s\n", in->p->name ? in->p->name : "bash", s->path, error_text(err));
            output_flush(e);
            return err == -ENOENT ? 127 : 126;
        }
        set_script(in, s->path);
        if (is_binary(text)) {
            out_printf(in->p->err, "%s: %s: cannot execute binary file\n", s->path, s->path);
            output_flush(in->p->err);
            return 126;
        }
        return run_units(in, text, 1, NULL);
    }
    in->from_stdin = true;
    text = read_all(in->p, 0);
    return run_stdin(in, text);
}

int shell_start(Proc *p, const ShellStart *s)
{
    /* The table is handed over by lang_new of this shell, and it is ours to change. */
    size_t size;
    Lang *l = (Lang *)(uintptr_t)kern_component(p->kernel, "lang", &size);
    if (!l)
        return 126;
    char **env = proc_environ(p);
    Interp *in = interp_new(p, l);
    in->first_env = env;
    if (!state_fresh(&in->st, gen_of(in), mem_of(in), l->base, (const char *const *)env))
        nomem(p);
    return shell_body(in, start_body, (void *)(uintptr_t)s);
}

static int run_script(Proc *p, const char *path, int argc, char **argv)
{
    char **args = mem_array(&p->keep, (size_t)argc + 2, char *);
    args[0] = (char *)(uintptr_t)path;
    for (int i = 1; i < argc; i++)
        args[i] = argv[i];
    ShellStart s = {.path = path, .argv = args, .argc = argc ? argc : 1};
    return shell_start(p, &s);
}

const LangOps lang_ops = {.run_script = run_script, .on_signal = lang_on_signal, .prefix = lang_prefix};
