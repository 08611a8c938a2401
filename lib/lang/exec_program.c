/* exec_program: commands that are programs: found along PATH, started in a child or in this process, and what is said when that fails. */
#include <sys/stat.h>

#include "interp.h"

typedef struct Start {
    Program program;
    int argc, result;
    char **argv;
} Start;

static int program_main(Proc *p, void *arg)
{
    Start *s = arg;
    s->result = proc_exec(p, &s->program, s->argc, s->argv, NULL);
    return s->result < 0 ? 126 : s->result;
}

static const char *path_of(Interp *in, bool default_path)
{
    Slice text;
    Name name = name_of(SLICE("PATH"));
    if (default_path || !lang_get(in, &name, &text))
        return default_path ? "/bin:/usr/bin" : "";
    return mem_copy(mem_of(in), text);
}

Program program_find(Interp *in, const char *name, bool default_path)
{
    if (strchr(name, '/'))
        return proc_find(in->p, name, NULL);
    Slice hashed;
    uint32_t hits;
    if (!default_path && in->st.commands.count && hash_get(in, slice_str(name), &hashed, &hits)) {
        Program program = proc_find(in->p, mem_copy(mem_of(in), hashed), NULL);
        if (program.kind != PROGRAM_NONE)
            return program;
        hash_remove(in, slice_str(name));
    }
    Program program = proc_find(in->p, name, path_of(in, default_path));
    if (program.kind != PROGRAM_NONE && program.path && program.path[0] == '/' && OPT(in, HASHALL) && !default_path && !in->no_fork)
        hash_put(in, slice_str(name), slice_str(program.path));
    return program;
}

static int report_missing(Interp *in, const char *name, int error)
{
    VStat st;
    Slice path;
    Name variable = name_of(SLICE("PATH"));
    if (!strchr(name, '/') && error == -ENOENT && *name && (!lang_get(in, &variable, &path) || !path.len)) {
        lang_error(in, "%s: %s", name, error_text(error));
        return 127;
    }
    if (!strchr(name, '/') && error == -ENOENT) {
        Buf shown;
        buf_init(&shown, mem_of(in), BUF_MAX);
        buf_reserve(&shown, 1);
        quote_in(in, &shown, slice_str(name), quote_unprintable);
        lang_error(in, "%.*s: command not found", (int)shown.len, shown.data);
        return 127;
    }
    if (error == -ENOENT || error == -ENOTDIR) {
        lang_error(in, "%s: %s", name, error_text(error));
        return error == -ENOENT ? 127 : 126;
    }
    if (proc_stat(in->p, name, 0, &st) == 0 && S_ISDIR(st.mode))
        lang_error(in, "%s: Is a directory", name);
    else if (error == -ENOEXEC)
        lang_error(in, "%s: cannot execute binary file: Exec format error", name);
    else
        lang_error(in, "%s: %s", name, error_text(error));
    return 126;
}

typedef struct HandlerArg {
    const Function *function;
    int argc;
    char **argv;
} HandlerArg;

static int handler_body(Interp *in, void *arg)
{
    const HandlerArg *h = arg;
    int status = exec_function(in, h->function, h->argc, h->argv);
    trap_set(in, TRAP_EXIT, NULL); /* of its own it runs none */
    return status;
}

static int handler_main(Proc *p, void *arg) { return shell_body(interp_of(p), handler_body, arg); }

/* command_not_found_handle runs in the process that would have become the command. */
static Proc *handler_child(Interp *in)
{
    Proc *child = fork_child(in);
    interp_child(in, child)->dyn.loop_depth = 0;
    return child;
}

/* path: the file in PATH that may not be executed, if that was it. */
static int not_found(Interp *in, int argc, char **argv, int error, const char *path)
{
    const Function *handler = error == -ENOENT && !strchr(argv[0], '/') ? function_find(in, SLICE("command_not_found_handle")) : NULL;
    if (!handler)
        return report_missing(in, path ? path : argv[0], error);
    char **args = mem_array(mem_of(in), (size_t)argc + 2, char *);
    args[0] = (char *)(uintptr_t)"command_not_found_handle";
    memcpy(args + 1, argv, (size_t)argc * sizeof *args);
    HandlerArg arg = {handler, argc + 1, args};
    int wstatus = proc_call(handler_child(in), handler_main, &arg);
    return WSTATUS_TO_SHELL(wstatus);
}

static const char *bad_interpreter(Interp *in, const char *path)
{
    Slice text;
    if (read_file(in->p, path, &text) || !slice_starts(text, SLICE("#!")))
        return NULL;
    text = slice_from(text, 2);
    while (text.len && text.data[0] == ' ')
        text = slice_from(text, 1);
    size_t n = 0;
    while (n < text.len && !strchr(" \t\n", text.data[n]))
        n++;
    return mem_copy(mem_of(in), slice(text.data, n));
}

/* A found program that could not be executed after all. */
static int report_exec(Interp *in, const Start *s)
{
    const char *interpreter = s->result == -ENOENT || s->result == -EACCES ? bad_interpreter(in, s->program.path) : NULL;
    if (interpreter && s->result == -ENOENT)
        lang_error(in, "%s: cannot execute: required file not found", s->argv[0]);
    else if (interpreter)
        lang_error(in, "%s: %s: bad interpreter: %s", s->program.path, interpreter, error_text(s->result));
    else
        return report_missing(in, s->argv[0], s->result);
    return s->result == -ENOENT ? 127 : 126;
}

/* Replaces this process's interpreter by the program; does not return. */
NORETURN void become_program(Interp *in, const Program *program, int argc, char **argv)
{
    Start s = {.program = *program, .argc = argc, .argv = argv};
    Proc *p = in->p;
    p->caught = 0;
    in->program_path = program->path;
    int status = proc_exec(p, program, argc, argv, NULL);
    if (status < 0) {
        p->lang = in;
        s.result = status;
        status = report_exec(in, &s);
        lang_fatal(in, status);
    }
    in->execed = true;
    proc_exit(p, status);
}

int exec_program(Interp *in, int argc, char **argv, const Redir *redirs, bool default_path)
{
    (void)redirs;
    Program program = program_find(in, argv[0], default_path);
    if (unlikely(program.kind == PROGRAM_NONE)) {
        int error = program.error ? program.error : -ENOENT;
        const char *path = program.path;
        VStat st;
        if (error == -ENOENT && strncmp(argv[0], "/dev/fd/", 8) == 0 && proc_stat(in->p, argv[0], 0, &st) == 0)
            error = -EACCES;
        if (error == -ENOENT && !function_find(in, SLICE("command_not_found_handle")))
            program = proc_unknown(in->p, argv[0]);
        if (program.kind == PROGRAM_NONE)
            return not_found(in, argc, argv, error, strchr(argv[0], '/') ? NULL : path);
    }
    if (!default_path && in->st.commands.count && !in->no_fork)
        hash_hit(in, slice_str(argv[0]));
    if (in->no_fork)
        become_program(in, &program, argc, argv);
    Proc *child = fork_child(in);
    child->env = &in->env;
    child->lang = NULL;
    Start s = {.program = program, .argc = argc, .argv = argv};
    in->program_path = program.path;
    pid_t pid = child->pid;
    int wstatus = proc_call(child, program_main, &s), status = WSTATUS_TO_SHELL(wstatus);
    if (unlikely(wstatus & 127) && in->command)
        tell_foreground(in, &pid, &wstatus, 1, &in->command);
    if (unlikely(in->jobs != NULL))
        jobs_settle(in);
    if (unlikely(s.result < 0))
        return report_exec(in, &s);
    return status;
}

/* exec makes the path absolute. */
static void report_exec_failure(Interp *in, const char *name, int error)
{
    if (name[0] != '/') {
        Slice cwd = logical_cwd(in);
        const char *rest = strncmp(name, "./", 2) == 0 ? name + 2 : name;
        name = mem_printf(mem_of(in), "%.*s%s%s", (int)cwd.len, cwd.data, cwd.len == 1 ? "" : "/", rest);
    }
    lang_error(in, "%s: %s", name, error_text(error));
    if (!OPT(in, POSIX) && !OPT(in, ERREXIT) && error != -ENOENT)
        shell_error(in, "exec", "%s: cannot execute: %s", name, error_text(error));
}

int exec_words(Interp *in, int argc, char **argv, bool empty_env, const char *argv0)
{
    Program program = program_find(in, argv[0], false);
    if (program.kind == PROGRAM_NONE) {
        int error = program.error ? program.error : -ENOENT;
        VStat st;
        bool missing = error == -ENOENT;
        if (missing && !strchr(argv[0], '/') && proc_stat(in->p, argv[0], 0, &st) == 0 && S_ISDIR(st.mode)) {
            shell_error(in, "exec", "%s: cannot execute: %s", argv[0], error_text(-EISDIR));
            return 126;
        }
        if (missing && !strchr(argv[0], '/'))
            shell_error(in, "exec", "%s: not found", argv[0]);
        else
            report_exec_failure(in, program.path ? program.path : argv[0], !missing && proc_stat(in->p, argv[0], 0, &st) == 0 && S_ISDIR(st.mode) ? -EISDIR : error);
        return missing ? 127 : 126;
    }
    keep_redirections(in);
    if (empty_env)
        in->p->env = proc_env_list(in->p, (char *const[]){NULL});
    if (argv0)
        argv[0] = mem_strdup(&in->p->keep, argv0);
    char **args = mem_array(&in->p->keep, (size_t)argc + 1, char *);
    for (int i = 0; i < argc; i++)
        args[i] = mem_strdup(&in->p->keep, argv[i]);
    become_program(in, &program, argc, args);
}
