/* cd, pwd, dirs, pushd, popd. */
#include "shell.h"
#include "shared.h"

/* ---- cd ---- */

static const char *variable(Proc *p, const char *name)
{
    Slice text;
    return var_text(interp_of(p), slice_str(name), &text) ? mem_copy(&p->mem, text) : NULL;
}

/* CDPATH is looked along for a relative name that does not begin with a dot component. */
static int along_cdpath(Proc *p, const char *dir, bool physical, int *status)
{
    const char *path = variable(p, "CDPATH");
    bool dotted = dir[0] == '.' && (!dir[1] || dir[1] == '/' || (dir[1] == '.' && (!dir[2] || dir[2] == '/')));
    if (!path || !*path || *dir == '/' || dotted)
        return false;
    for (const char *s = path;; s++) {
        const char *end = strchrnul(s, ':');
        char *whole = end > s ? mem_printf(&p->mem, "%.*s%s%s", (int)(end - s), s, end[-1] == '/' ? "" : "/", dir) : mem_strdup(&p->mem, dir);
        VStat st;
        if (proc_stat(p, whole, 0, &st) == 0 && (st.mode & 0170000) == 0040000) {
            *status = change_directory(interp_of(p), slice_str(whole), physical, end > s, "cd");
            return true;
        }
        if (!*end)
            return false;
        s = end;
    }
}

static int cd_main(Proc *p, Args *args)
{
    if (shell_restricted(p, args, NULL))
        return 1;
    bool physical = option_on(interp_of(p), 'P');
    for (int c; (c = shell_option(p, args, "LPe")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        if (c == 'L' || c == 'P')
            physical = c == 'P';
    }
    int count, status;
    char **words = shell_operands(args, &count);
    if (count > 1)
        return shell_fail(p, args, "too many arguments");
    const char *dir = count ? words[0] : variable(p, "HOME");
    bool print = false;
    if (!dir)
        return shell_fail(p, args, "HOME not set");
    if (strcmp(dir, "-") == 0) {
        dir = variable(p, "OLDPWD");
        print = true;
        if (!dir)
            return shell_fail(p, args, "OLDPWD not set");
    }
    if (along_cdpath(p, dir, physical, &status))
        return status;
    return change_directory(interp_of(p), slice_str(dir), physical, print, "cd");
}

static int pwd_main(Proc *p, Args *args)
{
    if (!args->builtin)
        return pwd_program(p, args);
    bool physical = option_on(interp_of(p), 'P');
    for (int c; (c = shell_option(p, args, "LP")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        physical = c == 'P';
    }
    if (!physical) {
        Slice cwd = logical_cwd(interp_of(p));
        out_write(p->out, cwd);
        out_char(p->out, '\n');
        return 0;
    }
    char *path;
    int error = proc_getcwd(p, &path);
    if (error < 0) {
        warn_errno(p, error, "error retrieving current directory: getcwd: cannot access parent directories");
        return 1;
    }
    out_str(p->out, path);
    out_char(p->out, '\n');
    return 0;
}

/* ---- the directory stack ---- */

static void put_directory(Proc *p, Slice dir, bool full)
{
    const char *home = variable(p, "HOME");
    size_t n = home ? strlen(home) : 0;
    if (!full && n > 1 && dir.len >= n && memcmp(dir.data, home, n) == 0 && (dir.len == n || dir.data[n] == '/')) {
        out_char(p->out, '~');
        dir = slice_from(dir, n);
    }
    out_write(p->out, dir);
}

typedef struct DirsOptions { bool full, lines, numbered; } DirsOptions;

static void print_stack(Proc *p, const DirsOptions *o)
{
    size_t count = dirs_count(interp_of(p));
    for (size_t i = 0; i < count; i++) {
        if (o->numbered)
            out_printf(p->out, "%2zu  ", i);
        else if (i && !o->lines)
            out_char(p->out, ' ');
        put_directory(p, dirs_get(interp_of(p), i), o->full);
        if (o->lines)
            out_char(p->out, '\n');
    }
    if (!o->lines)
        out_char(p->out, '\n');
}

static bool is_index(const char *s) { return (*s == '+' || *s == '-') && s[1] >= '0' && s[1] <= '9'; }

static int bad_number(Proc *p, Args *args, const char *s)
{
    shell_fail(p, args, *s == '+' || *s == '-' ? "%s: invalid number" : strcmp(args->command->name, "dirs") == 0 ? "%s: invalid option" : "%s: invalid argument", s);
    return shell_usage(p, args);
}

/* +N from the left, -N from the right. */
static bool stack_index(Proc *p, Args *args, const char *s, size_t *index)
{
    int64_t n;
    size_t count = dirs_count(interp_of(p));
    if (!shell_number(s + 1, &n)) {
        shell_fail(p, args, "%s: invalid number", s);
        shell_usage(p, args);
        return false;
    }
    if (n < 0 || (uint64_t)n >= count) {
        if (count == 1)
            shell_fail(p, args, "directory stack empty");
        else
            shell_fail(p, args, "%s: directory stack index out of range", strcmp(args->command->name, "dirs") == 0 ? s + 1 : s);
        return false;
    }
    *index = *s == '+' ? (size_t)n : count - 1 - (size_t)n;
    return true;
}

static int dirs_main(Proc *p, Args *args)
{
    bool clear = false;
    DirsOptions o = {0};
    const char *wanted = NULL;
    size_t index = 0;
    for (int i = 1; i < args->argc; i++) {
        const char *s = args->argv[i];
        if (is_index(s)) {
            if (!stack_index(p, args, s, &index))
                return 1;
            wanted = s;
        } else if (strcmp(s, "-c") == 0) {
            clear = true;
        } else if (strcmp(s, "-l") == 0) {
            o.full = true;
        } else if (strcmp(s, "-p") == 0) {
            o.lines = true;
        } else if (strcmp(s, "-v") == 0) {
            o.lines = o.numbered = true;
        } else if (strcmp(s, "--") != 0) {
            return bad_number(p, args, s);
        }
    }
    if (clear)
        return dirs_set(interp_of(p), NULL, 0) ? 0 : 1;
    if (!wanted) {
        print_stack(p, &o);
        return 0;
    }
    if (o.numbered)
        out_printf(p->out, "%2zu  ", index);
    put_directory(p, dirs_get(interp_of(p), index), o.full);
    out_char(p->out, '\n');
    return 0;
}

/* The whole stack, current directory first, copied. */
static Slice *stack_copy(Proc *p, size_t *count, size_t room)
{
    *count = dirs_count(interp_of(p));
    Slice *dirs = mem_array(&p->mem, *count + room, Slice);
    for (size_t i = 0; i < *count; i++) {
        Slice dir = dirs_get(interp_of(p), i);
        dirs[i] = slice(mem_copy(&p->mem, dir), dir.len);
    }
    return dirs;
}

static int go(Proc *p, Args *args, Slice dir) { return change_directory(interp_of(p), dir, false, false, args->command->name); }

static int finish_stack(Proc *p, const Slice *dirs, size_t count)
{
    dirs_set(interp_of(p), dirs + 1, count - 1);
    print_stack(p, &(DirsOptions){0});
    return 0;
}

static int rotate(Proc *p, Args *args, Slice *dirs, size_t count, size_t index, bool stay)
{
    Slice *turned = mem_array(&p->mem, count, Slice);
    for (size_t i = 0; i < count; i++)
        turned[i] = dirs[(i + index) % count];
    if (!stay && go(p, args, turned[0]))
        return 1;
    return finish_stack(p, turned, count);
}

static int pushd_main(Proc *p, Args *args)
{
    bool stay = false;
    int i = 1;
    for (; i < args->argc && args->argv[i][0] == '-' && args->argv[i][1] && !is_index(args->argv[i]); i++) {
        if (strcmp(args->argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(args->argv[i], "-n") != 0) {
            return bad_number(p, args, args->argv[i]);
        }
        stay = true;
    }
    size_t count, index;
    Slice *dirs = stack_copy(p, &count, 1);
    if (i + 1 < args->argc)
        return shell_fail(p, args, "too many arguments");
    if (i >= args->argc) {
        if (stay)
            return 0;
        if (count < 2)
            return shell_fail(p, args, "no other directory");
        Slice first = dirs[0];
        dirs[0] = dirs[1];
        dirs[1] = first;
        return !stay && go(p, args, dirs[0]) ? 1 : finish_stack(p, dirs, count);
    }
    if (args->argv[i][0] == '+' && !is_index(args->argv[i]))
        return bad_number(p, args, args->argv[i]);
    if (is_index(args->argv[i]))
        return stack_index(p, args, args->argv[i], &index) ? rotate(p, args, dirs, count, index, stay) : 1;
    Slice dir = slice_str(args->argv[i]);
    if (slice_is(dir, "-") && !var_text(interp_of(p), SLICE("OLDPWD"), &dir))
        return shell_fail(p, args, "OLDPWD not set");
    if (args->argv[i][0] == '-') {
        out_printf(p->out, "%.*s\n", (int)dir.len, dir.data);
        dir = slice(mem_copy(&p->mem, dir), dir.len);
    }
    memmove(dirs + 1, dirs, count * sizeof *dirs);
    if (stay) {
        dirs[0] = dirs[1];
        dirs[1] = dir;
    } else if (go(p, args, dir)) {
        return 1;
    }
    return finish_stack(p, dirs, count + 1);
}

static int popd_main(Proc *p, Args *args)
{
    bool stay = false;
    const char *which = "+0";
    for (int i = 1; i < args->argc; i++) {
        if (strcmp(args->argv[i], "-n") == 0) {
            stay = true;
        } else if (is_index(args->argv[i])) {
            which = args->argv[i];
        } else if (strcmp(args->argv[i], "--") != 0) {
            return bad_number(p, args, args->argv[i]);
        }
    }
    size_t count, index;
    Slice *dirs = stack_copy(p, &count, 0);
    if (count < 2)
        return shell_fail(p, args, "directory stack empty");
    if (!stack_index(p, args, which, &index))
        return 1;
    if (stay && index == 0)
        index = 1;
    memmove(dirs + index, dirs + index + 1, (count - index - 1) * sizeof *dirs);
    if (index == 0 && go(p, args, dirs[0]))
        return 1;
    return finish_stack(p, dirs, count - 1);
}

BUILTIN(cd, "cd", "cd [-L|[-P [-e]] [-@]] [dir]", "Change the shell working directory.", SHELL_FLAGS);
BUILTIN(pwd, "pwd", "pwd [-LP]", "Print the name of the current working directory.", COMMAND_SHELL | COMMAND_RAW | COMMAND_PURE);
BUILTIN(dirs, "dirs", "dirs [-clpv] [+N] [-N]", "Display directory stack.", SHELL_FLAGS);
BUILTIN(pushd, "pushd", "pushd [-n] [+N | -N | dir]", "Add directories to stack.", SHELL_FLAGS);
BUILTIN(popd, "popd", "popd [-n] [+N | -N]", "Remove directories from stack.", SHELL_FLAGS);
