/* control: : true false break continue return exit logout shift eval . source. */
#include "shell.h"

#include <sys/stat.h>


static int colon_main(Proc *p UNUSED, Args *args UNUSED) { return 0; }
static int true__main(Proc *p UNUSED, Args *args UNUSED) { return 0; }
static int false__main(Proc *p UNUSED, Args *args UNUSED) { return 1; }

/* ---- break, continue ---- */

static NORETURN void too_many(Proc *p, Args *args)
{
    shell_fail(p, args, "too many arguments");
    abandon_command(interp_of(p), 1);
}

/* The loop count, or -1 after a message. */
static int64_t levels(Proc *p, Args *args, int *status)
{
    int64_t n = 1;
    if (args->argc > 1 && strcmp(args->argv[1], "--") == 0) {
        args->argc--;
        args->argv++;
    }
    if (args->argc > 1 && !shell_number(args->argv[1], &n)) {
        shell_fail(p, args, "%s: numeric argument required", args->argv[1]);
        control_exit(interp_of(p), 128);
    }
    if (args->argc > 2)
        too_many(p, args);
    if (n <= 0) {
        *status = shell_fail(p, args, "%s: loop count out of range", args->argv[1]);
        control_break(interp_of(p), loop_depth(interp_of(p)));
        return -1;
    }
    return n;
}

static int leave_loops(Proc *p, Args *args, void (*leave)(Interp *in, unsigned levels))
{
    Interp *in = interp_of(p);
    int status = 0;
    if (loop_depth(in) == 0 && posix_mode(in))
        return 0;
    if (loop_depth(in) == 0) {
        shell_fail(p, args, "only meaningful in a `for', `while', or `until' loop");
        return 0;
    }
    int64_t n = levels(p, args, &status);
    if (n > 0)
        leave(in, (unsigned)MIN(n, (int64_t)loop_depth(in)));
    return status;
}

static int break_main(Proc *p, Args *args) { return leave_loops(p, args, control_break); }
static int continue_main(Proc *p, Args *args) { return leave_loops(p, args, control_continue); }

/* ---- return, exit ---- */

/* The status asked for; a bad one is 2, as is `exit abc`. */
static int asked_status(Proc *p, Args *args)
{
    int64_t n;
    int first = args->argc > 1 && strcmp(args->argv[1], "--") == 0 ? 2 : 1;
    if (args->argc <= first)
        return last_status(interp_of(p));
    if (!shell_number(args->argv[first], &n)) {
        shell_fail(p, args, "%s: numeric argument required", args->argv[first]);
        return 2;
    }
    if (args->argc > first + 1)
        too_many(p, args);
    return (int)(n & 255);
}

static int return_main(Proc *p, Args *args)
{
    Interp *in = interp_of(p);
    int status = asked_status(p, args);
    if (!in_function(in) && !in_sourced_file(in)) {
        shell_fail(p, args, "can only `return' from a function or sourced script");
        set_special_error(in, false);
        return 2;
    }
    control_return(in, status);
    return status;
}

static int exit_main(Proc *p, Args *args)
{
    control_exit(interp_of(p), asked_status(p, args));
}

static int logout_main(Proc *p, Args *args)
{
    return shell_fail(p, args, "not login shell: use `exit'");
}

/* ---- shift ---- */

static int shift_main(Proc *p, Args *args)
{
    Interp *in = interp_of(p);
    int64_t n = 1;
    int first = args->argc > 1 && strcmp(args->argv[1], "--") == 0 ? 2 : 1;
    if (args->argc > first && !shell_number(args->argv[first], &n))
        return shell_fail(p, args, "%s: numeric argument required", args->argv[first]);
    if (args->argc > first + 1)
        too_many(p, args);
    if (n < 0)
        return shell_fail(p, args, "%s: shift count out of range", args->argv[first]);
    if (n > positional_count(in)) {
        bool verbose = false;
        if (shopt_get(in, SLICE("shift_verbose"), &verbose) && (verbose || posix_mode(in)))
            shell_fail(p, args, "%s: shift count out of range", args->argc > first ? args->argv[first] : "1");
        return 1;
    }
    return positional_shift(in, (int)n) ? 0 : 1;
}

/* ---- eval, source ---- */

static int eval_main(Proc *p, Args *args)
{
    if (shell_option(p, args, "") == '?')
        return SHELL_USAGE;
    Buf text = shell_buf(p);
    int count;
    char **words = shell_operands(args, &count);
    if (!count)
        return 0;
    for (int i = 0; i < count; i++) {
        if (i)
            buf_char(&text, ' ');
        buf_append(&text, text_of(words[i]));
    }
    return run_text(interp_of(p), buf_slice(&text), NULL, current_line(interp_of(p)));
}

/* Where `.` finds a name without a slash: PATH for readable files, then, but for POSIX mode, the current directory; or NULL. */
static const char *source_path(Proc *p, const char *name)
{
    bool use_path = true;
    const char *path = proc_getenv(p, "PATH");
    Slice value;
    shopt_get(interp_of(p), SLICE("sourcepath"), &use_path);
    if (var_text(interp_of(p), SLICE("PATH"), &value))
        path = mem_copy(&p->mem, value);
    bool here = strchr(name, '/') || !posix_mode(interp_of(p));
    if (strchr(name, '/') || !use_path || !path || !*path)
        return here || (use_path && !(path && *path)) ? name : NULL;
    for (const char *s = path;; s++) {
        const char *end = strchrnul(s, ':');
        char *whole = mem_printf(&p->mem, "%.*s%s%s", (int)(end - s), s, end > s ? "/" : "", name);
        VStat st;
        if (proc_stat(p, whole, 0, &st) == 0 && (st.mode & S_IFMT) == S_IFREG && proc_access(p, whole, 4) == 0)
            return whole;
        if (!*end)
            return here ? name : NULL;
        s = end;
    }
}

/* A file that stands for a command is no script. */
static bool is_program(Proc *p, const char *path)
{
    Program program = proc_find(p, path, NULL);
    return program.kind == PROGRAM_COMMAND;
}

static int source_main(Proc *p, Args *args)
{
    Interp *in = interp_of(p);
    if (shell_option(p, args, "") == '?')
        return SHELL_USAGE;
    int count;
    char **words = shell_operands(args, &count);
    if (!count) {
        shell_fail(p, args, "filename argument required");
        return shell_usage(p, args);
    }
    if (strchr(words[0], '/') && shell_restricted(p, args, words[0]))
        return 1;
    const char *path = source_path(p, words[0]);
    Slice text;
    if (!path) {
        set_special_error(in, true);
        return shell_fail(p, args, "%s: file not found", words[0]);
    }
    int error = read_file(p, path, &text);
    if (error) {
        output_flush(p->out);
        if (error != -EISDIR)
            set_special_error(in, true);
        if (error == -EISDIR)
            shell_fail(p, args, "%s: is a directory", path);
        else
            shell_error(in, NULL, "%s: %s", path, error_text(error));
        source_failed(in);
        return 1;
    }
    if (is_program(p, path)) {
        shell_fail(p, args, "%s: cannot execute binary file", path);
        source_failed(in);
        return 126;
    }
    int saved = positional_count(in);
    char **old = mem_array(&p->mem, (size_t)saved + 1, char *);
    for (int i = 0; i < saved; i++)
        old[i] = mem_copy(&p->mem, str_slice(positional(in, i + 1)));
    if (count > 1)
        positional_set(in, words + 1, count - 1);
    source_with_args(in, count > 1);
    arguments_changed(in, false);
    int status = run_text(in, text, path, 1);
    if (count > 1 && (in_function(in) || !arguments_changed(in, false))) /* a `set` in the file holds */
        positional_set(in, old, saved);
    return status;
}

BUILTIN(colon, ":", ":", "Null command.", SPECIAL_FLAGS);
BUILTIN(true_, "true", "true", "Return a successful result.", COMMAND_SHELL | COMMAND_RAW | COMMAND_PURE);
BUILTIN(false_, "false", "false", "Return an unsuccessful result.", COMMAND_SHELL | COMMAND_RAW | COMMAND_PURE);
BUILTIN(break, "break", "break [n]", "Exit for, while, or until loops.", SPECIAL_FLAGS);
BUILTIN(continue, "continue", "continue [n]", "Resume for, while, or until loops.", SPECIAL_FLAGS);
BUILTIN(return, "return", "return [n]", "Return from a shell function.", SPECIAL_FLAGS);
BUILTIN(exit, "exit", "exit [n]", "Exit the shell.", SPECIAL_FLAGS);
BUILTIN(logout, "logout", "logout [n]", "Exit a login shell.", SHELL_FLAGS);
BUILTIN(shift, "shift", "shift [n]", "Shift positional parameters.", SPECIAL_FLAGS);
BUILTIN(eval, "eval", "eval [arg ...]", "Execute arguments as a shell command.", SPECIAL_FLAGS);
BUILTIN(source, "source", "source filename [arguments]", "Execute commands from a file in the current shell.", SPECIAL_FLAGS);

#define dot_main source_main
BUILTIN(dot, ".", ". filename [arguments]", "Execute commands from a file in the current shell.", SPECIAL_FLAGS);
