/* rm: remove files and directories. */
#include "file.h"

enum { INTERACTIVE = 256, ONE_FILE_SYSTEM, NO_PRESERVE_ROOT, PRESERVE_ROOT, PRESUME_TTY };
typedef enum { ASK_PROTECTED, ASK_NEVER, ASK_ONCE, ASK_ALWAYS } AskWhen;

static const Option options[] = {
    {'f', "force", OPT_FLAG, "ignore nonexistent files and arguments, never prompt", NULL, 0},
    {'i', NULL, OPT_FLAG, "prompt before every removal", NULL, 0},
    {'I', NULL, OPT_FLAG, "prompt once before removing more than three files, or when removing recursively", NULL, 0},
    {0, "interactive", OPT_OPTIONAL, "prompt according to WHEN: never, once (-I), or always (-i)", "WHEN", INTERACTIVE},
    {0, "one-file-system", OPT_FLAG, "when removing a hierarchy recursively, skip any directory on a different file system", NULL, ONE_FILE_SYSTEM},
    {0, "no-preserve-root", OPT_FLAG, "do not treat '/' specially", NULL, NO_PRESERVE_ROOT},
    {0, "preserve-root", OPT_OPTIONAL, "do not remove '/' (default)", "all", PRESERVE_ROOT},
    {0, "-presume-input-tty", OPT_FLAG, NULL, NULL, PRESUME_TTY},
    {'r', "recursive", OPT_FLAG, "remove directories and their contents recursively", NULL, 0},
    {'R', NULL, OPT_FLAG, "the same", NULL, 0},
    {'d', "dir", OPT_FLAG, "remove empty directories", NULL, 0},
    {'v', "verbose", OPT_FLAG, "explain what is being done", NULL, 0},
    OPTIONS_END,
};

static const Choice when_words[] = {
    {"never", ASK_NEVER}, {"no", ASK_NEVER}, {"none", ASK_NEVER}, {"once", ASK_ONCE}, {"always", ASK_ALWAYS}, {"yes", ASK_ALWAYS}, {NULL, 0},
};

typedef struct {
    bool force, recursive, directories, verbose, one_device, preserve_root;
    AskWhen ask;
} Rm;

static const char *kind_of(const VStat *st)
{
    switch (st->mode & S_IFMT) {
    case S_IFREG: return st->size ? "regular file" : "regular empty file";
    case S_IFDIR: return "directory";
    case S_IFLNK: return "symbolic link";
    case S_IFIFO: return "fifo";
    case S_IFCHR: return "character special file";
    case S_IFBLK: return "block special file";
    default: return "weird file";
    }
}

/* Standard input is a terminal only in an interactive shell: else write-protected files go without a question. */
static bool agreed(Proc *p, const Rm *o, const WalkEntry *e, bool descending)
{
    bool protected = !S_ISLNK(e->stat.mode) && proc_access(p, e->path, 2) != 0;
    if (o->ask == ASK_NEVER || (o->ask != ASK_ALWAYS && !(protected && !o->force && proc_isatty(p, 0))))
        return true;
    output_flush(p->out);
    if (descending)
        out_printf(p->err, "%s: descend into %s%s %s? ", p->name, protected ? "write-protected " : "", kind_of(&e->stat), quoteaf(p, e->path));
    else
        out_printf(p->err, "%s: remove %s%s %s? ", p->name, protected ? "write-protected " : "", kind_of(&e->stat), quoteaf(p, e->path));
    return ask(p);
}

static int failed(Proc *p, int error, const char *path)
{
    warn_errno(p, error, "cannot remove %s", quoteaf(p, path));
    return 1;
}

static int remove_one(Proc *p, const Rm *o, const char *path, bool directory)
{
    int r = directory ? proc_rmdir(p, path) : proc_unlink(p, path);
    if (r == -ENOENT && o->force)
        return 0;
    if (r)
        return failed(p, r, path);
    if (o->verbose)
        out_printf(p->out, directory ? "removed directory %s\n" : "removed %s\n", quoteaf(p, path));
    return 0;
}

static bool is_empty(Proc *p, const char *path)
{
    VDirent *list;
    size_t count = 1;
    return proc_list(p, path, &list, &count) == 0 && count == 0;
}

/* On the way down into a directory. */
static int visit_directory(Proc *p, const Rm *o, Walk *w, const WalkEntry *e)
{
    bool empty = is_empty(p, e->path);
    if (!o->recursive) {
        walk_skip(w);
        if (!o->directories)
            return failed(p, EISDIR, e->path);
        if (!empty)
            return failed(p, ENOTEMPTY, e->path);
        return agreed(p, o, e, false) ? remove_one(p, o, e->path, true) : 0;
    }
    if (!empty && o->ask == ASK_ALWAYS && !agreed(p, o, e, true))
        walk_skip(w);
    return 0;
}

static int remove_below(Proc *p, const Rm *o, const char *path)
{
    int status = 0;
    Walk *w = walk_open(p, path, o->one_device ? WALK_ONE_DEVICE : 0);
    for (WalkEntry e; walk_next(w, &e);) {
        MemMark mark = mem_mark(&p->mem);
        switch (e.kind) {
        case WALK_FILE:
            if (agreed(p, o, &e, false))
                status |= remove_one(p, o, e.path, false);
            break;
        case WALK_DIR: status |= visit_directory(p, o, w, &e); break;
        case WALK_DIR_DONE:
            if (is_empty(p, e.path) ? agreed(p, o, &e, false) : o->ask != ASK_ALWAYS && !status)
                status |= remove_one(p, o, e.path, true);
            break;
        case WALK_ERROR:
            if (e.stat_ok && is_empty(p, e.path))
                status |= remove_one(p, o, e.path, true);
            else if (!(e.error == -ENOENT && o->force) && !(e.error == -ENOTDIR && o->force && !e.stat_ok))
                status |= failed(p, e.error, e.path);
            break;
        }
        mem_reset(&p->mem, mark);
    }
    return status;
}

static bool is_root(Proc *p, const char *path)
{
    VStat st, root;
    return proc_stat(p, path, V_NOFOLLOW, &st) == 0 && proc_stat(p, "/", 0, &root) == 0 && st.ino == root.ino && st.dev == root.dev;
}

static int remove_operand(Proc *p, const Rm *o, const char *path)
{
    Slice base = base_name(path);
    if (o->recursive && is_dot(base)) {
        warn(p, "refusing to remove '.' or '..' directory: skipping %s", quoteaf(p, path));
        return 1;
    }
    if (o->recursive && o->preserve_root && is_root(p, path)) {
        if (strcmp(path, "/") == 0)
            warn(p, "it is dangerous to operate recursively on '/'");
        else
            warn(p, "it is dangerous to operate recursively on %s (same as '/')", quoteaf(p, path));
        warn(p, "use --no-preserve-root to override this failsafe");
        return 1;
    }
    return remove_below(p, o, path);
}

bool remove_tree(Proc *p, const char *path)
{
    const Rm o = {.force = true, .recursive = true, .ask = ASK_NEVER};
    return remove_below(p, &o, path) == 0;
}

static void set_option(Proc *p, Args *args, Rm *o, int id)
{
    switch (id) {
    case 'f': o->force = true; o->ask = ASK_NEVER; break;
    case 'i': o->force = false; o->ask = ASK_ALWAYS; break;
    case 'I': o->force = false; o->ask = ASK_ONCE; break;
    case INTERACTIVE:
        o->ask = args->value ? (AskWhen)choose(p, args, "--interactive", args->value, when_words) : ASK_ALWAYS;
        o->force = o->ask == ASK_NEVER ? o->force : false;
        break;
    case ONE_FILE_SYSTEM: o->one_device = true; break;
    case NO_PRESERVE_ROOT: o->preserve_root = false; break;
    case PRESERVE_ROOT:
        if (args->value && strcmp(args->value, "all") != 0)
            die(p, 1, "unrecognized --preserve-root argument: %s", quoteaf(p, args->value));
        o->preserve_root = true;
        break;
    case 'r':
    case 'R': o->recursive = true; break;
    case 'd': o->directories = true; break;
    case 'v': o->verbose = true; break;
    default: break;
    }
}

static int rm_main(Proc *p, Args *args)
{
    Rm o = {.preserve_root = true};
    int count, status = 0;
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(p, args, &o, id);
    char **names = args_operands(args, &count);
    if (!count) {
        if (o.force)
            return 0;
        usage_missing(p, args, NULL);
    }
    if (o.ask == ASK_ONCE && (o.recursive || count > 3)) {
        out_printf(p->err, "%s: remove %d %s%s? ", p->name, count, count == 1 ? "argument" : "arguments", o.recursive ? " recursively" : "");
        if (!ask(p))
            return 0;
    }
    for (int n = 0; n < count; n++)
        status |= remove_operand(p, &o, names[n]);
    return status;
}

COMMAND(rm, "rm [OPTION]... [FILE]...", "Remove (unlink) the FILE(s).", options, COMMAND_WRITES);
