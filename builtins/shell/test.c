/* test, [: conditional expressions by the number of arguments, as POSIX has it, and by grammar beyond four. */
#include "shell.h"

#include <sys/stat.h>

typedef struct Test {
    Proc *proc;
    Args *args;
    char **words;
    int at, count;
} Test;

static NORETURN void fail(Test *t, const char *before, const char *word, const char *after)
{
    if (t->args->builtin)
        shell_fail(t->proc, t->args, "%s%s%s", before, word, after);
    else
        warn(t->proc, "%s%s%s", before, *word ? quote(t->proc, word) : "", after);
    proc_fail(t->proc, 2);
}

static bool expression(Test *t);

/* ---- operators ---- */

static bool is_unary(const char *s)
{
    return s[0] == '-' && s[1] && !s[2] && strchr("abcdefghknoprstuvwxzGLNORS", s[1]);
}

static const char *const binary_names[] = {"=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"};

static int binary_index(const char *s)
{
    for (size_t i = 0; i < ARRAY_LEN(binary_names); i++)
        if (strcmp(s, binary_names[i]) == 0)
            return (int)i;
    return -1;
}

/* The program's numbers have no bound; beyond 64 bits they are as good as the greatest. */
static bool large_integer(const char *s)
{
    s += strspn(s, " \t");
    s += *s == '-' || *s == '+';
    size_t digits = strspn(s, "0123456789");
    return digits > 18 && s[digits + strspn(s + digits, " \t")] == 0;
}

static int64_t integer(Test *t, const char *s)
{
    int64_t n;
    if (shell_number(s, &n))
        return n;
    if (!t->args->builtin && large_integer(s))
        return s[strspn(s, " \t")] == '-' ? INT64_MIN : INT64_MAX;
    if (t->args->builtin)
        fail(t, "", s, ": integer expression expected");
    fail(t, "invalid integer ", s, "");
}

static int64_t time_of(const VStat *st, uint32_t *ns)
{
    *ns = st->mtime_ns;
    return st->mtime;
}

static bool newer(Proc *p, const char *a, const char *b)
{
    VStat x, y;
    bool has_x = proc_stat(p, a, 0, &x) == 0, has_y = proc_stat(p, b, 0, &y) == 0;
    if (!has_x || !has_y)
        return has_x;
    uint32_t nx, ny;
    int64_t tx = time_of(&x, &nx), ty = time_of(&y, &ny);
    return tx > ty || (tx == ty && nx > ny);
}

static bool same_file(Proc *p, const char *a, const char *b)
{
    VStat x, y;
    return proc_stat(p, a, 0, &x) == 0 && proc_stat(p, b, 0, &y) == 0 && x.ino == y.ino && x.dev == y.dev;
}

static bool binary(Test *t, const char *left, int op, const char *right)
{
    if (op >= 5 && op <= 10) {
        int64_t a = integer(t, left), b = integer(t, right);
        bool results[] = {a == b, a != b, a < b, a <= b, a > b, a >= b};
        return results[op - 5];
    }
    switch (op) {
    case 0:
    case 1: return strcmp(left, right) == 0;
    case 2: return strcmp(left, right) != 0;
    case 3: return strcmp(left, right) < 0;
    case 4: return strcmp(left, right) > 0;
    case 11: return newer(t->proc, left, right);
    case 12: return newer(t->proc, right, left);
    default: return same_file(t->proc, left, right);
    }
}

/* An option's name: -o. */
static bool option_named(Proc *p, const char *name)
{
    size_t count;
    OptionState *list = option_list(interp_of(p), &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].on;
    return false;
}

static bool is_kind(const VStat *st, char op)
{
    switch (op) {
    case 'a':
    case 'e': return true;
    case 'b': return (st->mode & S_IFMT) == S_IFBLK;
    case 'c': return (st->mode & S_IFMT) == S_IFCHR;
    case 'd': return (st->mode & S_IFMT) == S_IFDIR;
    case 'f': return (st->mode & S_IFMT) == S_IFREG;
    case 'h':
    case 'L': return (st->mode & S_IFMT) == S_IFLNK;
    case 'p': return (st->mode & S_IFMT) == S_IFIFO;
    case 'S': return (st->mode & S_IFMT) == S_IFSOCK;
    case 'g': return st->mode & S_ISGID;
    case 'u': return st->mode & S_ISUID;
    case 'k': return st->mode & S_ISVTX;
    case 's': return st->size > 0;
    default: return st->mtime > st->atime || (st->mtime == st->atime && st->mtime_ns > st->atime_ns); /* N */
    }
}

static bool about_file(Proc *p, char op, const char *path)
{
    VStat st;
    if (!*path)
        return false;
    if (op == 'r' || op == 'w' || op == 'x')
        return proc_access(p, path, op == 'r' ? 4 : op == 'w' ? 2 : 1) == 0;
    if (proc_stat(p, path, op == 'h' || op == 'L' ? V_NOFOLLOW : 0, &st) != 0)
        return false;
    if (op == 'O')
        return st.uid == p->cred.uid;
    if (op == 'G')
        return st.gid == p->cred.gid;
    return is_kind(&st, op);
}

static bool unary(Test *t, char op, const char *word)
{
    Proc *p = t->proc;
    int64_t fd;
    switch (op) {
    case 'n': return *word;
    case 'z': return !*word;
    case 't':
        if (!p->lang && !shell_number(word, &fd))
            fail(t, "invalid integer ", word, "");
        return shell_number(word, &fd) && fd >= 0 && fd < 1 << 20 && proc_isatty(p, (int)fd);
    case 'v': return p->lang && var_is_set(interp_of(p), slice_str(word));
    case 'R': {
        const Var *v = p->lang ? var_find_raw(interp_of(p), slice_str(word)) : NULL;
        return v && (v->attrs & ATTR_NAMEREF) && v->value.kind != VALUE_UNSET;
    }
    case 'o': return p->lang && option_named(p, word);
    default: return about_file(p, op, word);
    }
}

/* ---- by number of arguments ---- */

/* The program does not order strings. */
static int operator(const Test *t, const char *s)
{
    int op = binary_index(s);
    return !t->args->builtin && (*s == '<' || *s == '>') ? -1 : op;
}

static bool two(Test *t, char **w)
{
    if (strcmp(w[0], "!") == 0)
        return !*w[1];
    if (is_unary(w[0]))
        return unary(t, w[0][1], w[1]);
    if (t->args->builtin)
        fail(t, "", w[0], ": unary operator expected");
    fail(t, "missing argument after ", w[1], "");
}

static bool three(Test *t, char **w)
{
    int op = operator(t, w[1]);
    if (op >= 0)
        return binary(t, w[0], op, w[2]);
    if (strcmp(w[1], "-a") == 0)
        return *w[0] && *w[2];
    if (strcmp(w[1], "-o") == 0)
        return *w[0] || *w[2];
    if (strcmp(w[0], "!") == 0)
        return !two(t, w + 1);
    if (strcmp(w[0], "(") == 0 && strcmp(w[2], ")") == 0)
        return *w[1];
    fail(t, "", w[1], ": binary operator expected");
}

/* Words that the expression does not take. */
static void left_over(Test *t)
{
    const char *word = t->words[t->at];
    if (!t->args->builtin)
        fail(t, "extra argument ", word, "");
    else if (*word == '-')
        fail(t, "syntax error: `", word, "' unexpected");
    else
        fail(t, "", "too many arguments", "");
}

static bool four(Test *t, char **w)
{
    if (strcmp(w[0], "!") == 0)
        return !three(t, w + 1);
    if (strcmp(w[0], "(") == 0 && strcmp(w[3], ")") == 0)
        return two(t, w + 1);
    if (!t->args->builtin && strcmp(w[0], "-l") == 0 && operator(t, w[2]) >= 0) /* the length of a string, in the program */
        return binary(t, mem_printf(&t->proc->mem, "%zu", strlen(w[1])), operator(t, w[2]), w[3]);
    t->at = 0;
    bool result = expression(t);
    if (t->at < t->count)
        left_over(t);
    return result;
}

/* ---- the grammar: ! ( ) -a -o ---- */

static const char *word_at(Test *t, int i) { return t->at + i < t->count ? t->words[t->at + i] : NULL; }

static NORETURN void missing(Test *t)
{
    if (t->args->builtin)
        fail(t, "", "argument expected", "");
    fail(t, "missing argument after ", t->words[t->count - 1], "");
}

static bool term(Test *t)
{
    const char *w = word_at(t, 0);
    if (!w)
        missing(t);
    if (!proc_stack_room(t->proc, 16 << 10))
        fail(t, "", "too many levels of nesting", "");
    if (strcmp(w, "!") == 0) {
        t->at++;
        return !term(t);
    }
    if (strcmp(w, "(") == 0) {
        t->at++;
        bool result = expression(t);
        const char *close = word_at(t, 0);
        if (!close || strcmp(close, ")") != 0) {
            if (!close)
                fail(t, "`)' expected", "", "");
            fail(t, "`)' expected, found ", close, "");
        }
        t->at++;
        return result;
    }
    if (word_at(t, 2) && operator(t, word_at(t, 1)) >= 0) {
        t->at += 3;
        return binary(t, w, operator(t, t->words[t->at - 2]), t->words[t->at - 1]);
    }
    if (is_unary(w) && word_at(t, 1)) {
        t->at += 2;
        return unary(t, w[1], t->words[t->at - 1]);
    }
    t->at++;
    return *w;
}

static bool conjunction(Test *t)
{
    bool result = term(t);
    while (word_at(t, 0) && strcmp(word_at(t, 0), "-a") == 0) {
        t->at++;
        bool right = term(t);
        result = result && right;
    }
    return result;
}

static bool expression(Test *t)
{
    bool result = conjunction(t);
    while (word_at(t, 0) && strcmp(word_at(t, 0), "-o") == 0) {
        t->at++;
        bool right = conjunction(t);
        result = result || right;
    }
    return result;
}

static bool evaluate(Test *t)
{
    char **w = t->words;
    switch (t->count) {
    case 0: return false;
    case 1: return *w[0];
    case 2: return two(t, w);
    case 3: return three(t, w);
    case 4: return four(t, w);
    default: break;
    }
    bool result = expression(t);
    if (t->at < t->count)
        left_over(t);
    return result;
}

static int test_main(Proc *p, Args *args)
{
    Test t = {.proc = p, .args = args, .words = args->argv + 1, .count = args->argc - 1};
    return evaluate(&t) ? 0 : 1;
}

static int bracket_main(Proc *p, Args *args)
{
    Test t = {.proc = p, .args = args, .words = args->argv + 1, .count = args->argc - 2};
    if (args->argc < 2 || strcmp(args->argv[args->argc - 1], "]") != 0) {
        if (args->builtin)
            shell_fail(p, args, "missing `]'");
        else
            warn(p, "missing %s", quote(p, "]"));
        return 2;
    }
    return evaluate(&t) ? 0 : 1;
}

BUILTIN(test, "test", "test [expr]", "Evaluate conditional expression.", COMMAND_SHELL | COMMAND_RAW | COMMAND_PURE);
BUILTIN(bracket, "[", "[ arg... ]", "Evaluate conditional expression.", COMMAND_SHELL | COMMAND_RAW | COMMAND_PURE);
