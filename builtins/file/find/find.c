/* find: search for files in a directory hierarchy.
 *
 * GNU findutils 4.9. Entries of a directory come in name order.
 */
#include "find.h"

/* -D's flags are told about and otherwise left alone: there is nothing to see. */
static void debug_flags(Find *f, const char *flags)
{
    static const char *const known[] = {"exec", "opt", "rates", "search", "stat", "time", "tree", "all", "help"};
    for (const char *at = flags; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        bool is_known = false;
        for (unsigned i = 0; i < ARRAY_LEN(known); i++)
            is_known |= strlen(known[i]) == n && memcmp(known[i], at, n) == 0;
        if (!is_known)
            warn(f->p, "Ignoring unrecognised debug flag %s", quote(f->p, mem_copy(&f->p->mem, slice(at, n))));
        at += n;
    }
}

/* -H -L -P -D x -On, before the paths. */
static int leading_options(Find *f, char **argv, int argc)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
        const char *w = argv[at];
        if (strcmp(w, "--") == 0)
            return at + 1;
        if (strcmp(w, "-H") == 0 || strcmp(w, "-L") == 0 || strcmp(w, "-P") == 0) {
            f->follow = w[1] == 'L';
            f->follow_operands = w[1] == 'H';
        } else if (strcmp(w, "-D") == 0) {
            if (++at == argc) {
                warn(f->p, "Missing argument after the -D option.");
                out_str(f->p->err, "Try 'find --help' for more information.\n");
                proc_fail(f->p, 1);
            }
            debug_flags(f, argv[at]);
        } else if (w[1] == 'O') {
            if (!w[2] || w[2 + strspn(w + 2, "0123456789")])
                die(f->p, 1, "Please specify a decimal number immediately after -O");
        } else {
            break;
        }
    }
    return at;
}

/* ) and , cannot begin one: before it they are paths. */
static bool starts_expression(const char *w) { return (*w == '-' && w[1]) || strcmp(w, "(") == 0 || strcmp(w, "!") == 0; }

static void evaluate(Find *f, const WalkEntry *e)
{
    if ((int64_t)e->depth < f->min_depth)
        return;
    MemMark mark = mem_mark(&f->p->mem);
    (void)find_eval(f, f->root, e);
    mem_reset(&f->p->mem, mark);
}

/* A directory on the way down: not below the greatest depth, another device, or what was pruned. */
static void enter_directory(Find *f, Walk *w, const WalkEntry *e, uint32_t device)
{
    bool deep = f->max_depth >= 0 && (int64_t)e->depth >= f->max_depth, foreign = f->one_device && e->stat.dev != device;
    f->prune = false;
    if (!f->depth || deep || foreign)
        evaluate(f, e);
    if (deep || foreign || (f->prune && !f->depth))
        walk_skip(w);
}

static void complain(Find *f, const WalkEntry *e)
{
    if (e->error == -ELOOP && e->loop_len)
        warn(f->p, "File system loop detected; %s is part of the same file system loop as %s.", quote(f->p, e->path),
             quote(f->p, mem_copy(&f->p->mem, slice(e->path, e->loop_len))));
    else
        warn_errno(f->p, e->error, "%s", quote(f->p, e->path));
    f->status = 1;
}

static void search(Find *f, const char *operand)
{
    Walk *w = walk_open(f->p, operand, f->follow ? WALK_FOLLOW : f->follow_operands ? WALK_FOLLOW_OPERAND : 0);
    uint32_t device = 0;
    f->operand = operand;
    for (WalkEntry e; !f->quit && walk_next(w, &e);) {
        if (e.depth == 0)
            device = e.stat.dev;
        switch (e.kind) {
        case WALK_FILE: evaluate(f, &e); break;
        case WALK_DIR: enter_directory(f, w, &e, device); break;
        case WALK_DIR_DONE:
            if (f->depth)
                evaluate(f, &e);
            break;
        case WALK_ERROR:
            complain(f, &e);
            if (f->depth && e.stat_ok && e.error != -ELOOP)
                evaluate(f, &e);
            break;
        }
    }
}

/* The starting points of -files0-from, NUL-terminated each. */
static void search_listed(Find *f)
{
    Proc *p = f->p;
    bool is_stdin = strcmp(f->names_from, "-") == 0;
    int fd = is_stdin ? 0 : proc_open(p, f->names_from, V_READ, 0);
    if (fd < 0)
        die_errno(p, 1, fd, "cannot open %s for reading", quote(p, f->names_from));
    Slice all = read_all(p, fd);
    for (unsigned number = 1; all.len && !f->quit; number++) {
        size_t n = slice_find(all, 0);
        if (n) {
            search(f, mem_copy(&p->keep, slice(all.data, n)));
        } else {
            warn(p, "%s:%u: invalid zero-length file name", quote(p, is_stdin ? "(standard input)" : f->names_from), number);
            f->status = 1;
        }
        all = slice_from(all, MIN(n + 1, all.len));
    }
}

static void find_help(Proc *p)
{
    out_str(p->out, "Usage: find [-H] [-L] [-P] [-Olevel] [-D debugopts] [path...] [expression]\n\n"
                    "Default path is the current directory; default expression is -print.\n"
                    "Expression may consist of: operators, options, tests, and actions.\n");
}

static int find_files_main(Proc *p, Args *args)
{
    Find f = {.p = p, .args = args, .max_depth = -1, .min_depth = 0};
    f.now = proc_now(p, &f.now_ns);
    f.day_origin = f.now;
    if (args->argc == 2 && (strcmp(args->argv[1], "--help") == 0 || strcmp(args->argv[1], "-help") == 0)) {
        find_help(p);
        return 0;
    }
    if (args->argc == 2 && (strcmp(args->argv[1], "--version") == 0 || strcmp(args->argv[1], "-version") == 0)) {
        out_str(p->out, "find (libshell) 0.1.0\n");
        return 0;
    }
    int from = leading_options(&f, args->argv, args->argc), to = from;
    while (to < args->argc && !starts_expression(args->argv[to]))
        to++;
    find_parse(&f, args->argv + to, args->argc - to);
    if (f.names_from && from < to) {
        warn(p, "extra operand %s", quote(p, args->argv[from]));
        die(p, 1, "file operands cannot be combined with -files0-from");
    }
    if (f.names_from)
        search_listed(&f);
    else if (from == to)
        search(&f, ".");
    for (int n = from; n < to && !f.quit; n++)
        search(&f, args->argv[n]);
    find_finish_execs(&f);
    return f.status;
}

COMMAND_NAMED(find_files, "find", "find [-H] [-L] [-P] [-Olevel] [-D debugopts] [path...] [expression]", "Search for files in a directory hierarchy.", NULL,
        COMMAND_WRITES | COMMAND_SPAWNS | COMMAND_RAW, .package = "GNU findutils 4.9");
