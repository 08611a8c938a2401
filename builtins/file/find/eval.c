/* eval: find's tests and actions on one entry. */
#include "find.h"

enum { BATCH_BYTES = 128 * 1024, BATCH_WORDS = 8192 };

static void complain(Find *f, int error, const char *path)
{
    warn_errno(f->p, error, "%s", quote(f->p, path));
    f->status = 1;
}

/* ---------- tests ---------- */

static bool within(const Bound *b, double v) { return b->sign > 0 ? v > b->value : b->sign < 0 ? v < b->value : v == b->value; }

static int64_t entry_time(const Node *n, const VStat *st, uint32_t *ns)
{
    switch (n->time) {
    case FIND_ATIME: *ns = st->atime_ns; return st->atime;
    case FIND_CTIME: *ns = st->ctime_ns; return st->ctime;
    case FIND_BTIME: *ns = st->btime_ns; return st->btime;
    default: *ns = st->mtime_ns; return st->mtime;
    }
}

static double age(const Find *f, const Node *n, const VStat *st, int64_t origin)
{
    uint32_t ns;
    int64_t t = entry_time(n, st, &ns);
    return (double)(origin - t) + ((double)f->now_ns - (double)ns) * 1e-9;
}

/* Whole days of age, rounded down. */
static bool days(const Find *f, const Node *n, const VStat *st)
{
    double d = age(f, n, st, n->seconds) / 86400, whole = (double)(int64_t)d;
    return within(&n->bound, whole > d ? whole - 1 : whole);
}

static bool minutes(const Find *f, const Node *n, const VStat *st)
{
    double a = age(f, n, st, f->now), bound = n->bound.value * 60;
    if (n->bound.sign)
        return n->bound.sign > 0 ? a > bound : a < bound;
    return bound - a > 0 && bound - a <= 60;
}

static bool newer(const Node *n, const VStat *st)
{
    uint32_t ns;
    int64_t t = entry_time(n, st, &ns);
    return t != n->seconds ? t > n->seconds : ns > n->ns;
}

static bool name_matches(Find *f, const Node *n, const WalkEntry *e)
{
    ReEnv env = proc_re_env(f->p);
    Slice base = base_name(e->path);
    return pat_match(&env, n->pattern, base);
}

static bool path_matches(Find *f, const Node *n, const char *path)
{
    ReEnv env = proc_re_env(f->p);
    return pat_match(&env, n->pattern, slice_str(path));
}

static bool link_matches(Find *f, const Node *n, const WalkEntry *e)
{
    Slice target;
    ReEnv env = proc_re_env(f->p);
    return S_ISLNK(e->stat.mode) && proc_readlink(f->p, e->path, &target) == 0 && pat_match(&env, n->pattern, target);
}

static bool regex_matches(Find *f, const Node *n, const WalkEntry *e)
{
    ReEnv env = proc_re_env(f->p);
    ReSpan span;
    return re_search(&env, n->regex, slice_str(e->path), 0, false, &span, 1) == RE_MATCHED;
}

static bool type_matches(const Node *n, uint32_t mode) { return n->mode >> ((mode & S_IFMT) >> 12) & 1; }

/* -xtype looks at what -type does not: the link's target, or under -L the link itself. */
static bool xtype_matches(Find *f, const Node *n, const WalkEntry *e)
{
    VStat st;
    int r = proc_stat(f->p, e->path, f->follow ? V_NOFOLLOW : 0, &st);
    return type_matches(n, r == 0 ? st.mode : e->stat.mode);
}

static bool size_matches(const Node *n, const VStat *st)
{
    uint64_t units = st->size / n->unit + (st->size % n->unit != 0);
    return within(&n->bound, (double)units);
}

static bool is_empty(Find *f, const WalkEntry *e)
{
    VDirent *list;
    size_t count = 1;
    if (S_ISREG(e->stat.mode))
        return e->stat.size == 0;
    if (!S_ISDIR(e->stat.mode))
        return false;
    int r = proc_list(f->p, e->path, &list, &count);
    if (r)
        complain(f, r, e->path);
    return r == 0 && count == 0;
}

static bool perm_matches(const Node *n, uint32_t mode)
{
    mode &= 07777;
    return n->match == MATCH_EXACT ? mode == n->mode : n->match == MATCH_ALL ? (mode & n->mode) == n->mode : !n->mode || (mode & n->mode);
}

/* ---------- commands ---------- */

/* `word` with every {} replaced. */
static char *fill(Proc *p, const char *word, const char *path)
{
    Buf b;
    buf_init(&b, &p->mem, BUF_MAX);
    buf_reserve(&b, strlen(word));
    for (const char *at; (at = strstr(word, "{}")); word = at + 2) {
        buf_append(&b, slice(word, (size_t)(at - word)));
        buf_append(&b, slice_str(path));
    }
    buf_append(&b, slice_str(word));
    return b.data;
}

static bool run(Find *f, char **argv, const char *dir)
{
    Proc *p = f->p;
    int error = 0;
    SpawnAttr attr = {0};
    if (dir && !(attr.cwd = proc_dir_open(p, dir, &error))) {
        complain(f, error, dir);
        return false;
    }
    output_flush(p->out);
    int r = proc_run(p, argv, NULL, &attr);
    if (attr.cwd)
        proc_dir_close(p, attr.cwd);
    if (r < 0)
        warn_errno(p, r, "%s", quote(p, argv[0]));
    return r == 0;
}

static const char *in_dir_name(Proc *p, const char *path, const char **dir)
{
    Slice base = base_name(path);
    *dir = mem_copy(&p->mem, dir_name(path));
    if (*base.data == '/')
        return "/";
    return mem_printf(&p->mem, "./%.*s", (int)base.len, base.data);
}

static bool agreed(Find *f, const Exec *x, const WalkEntry *e)
{
    output_flush(f->p->out);
    out_printf(f->p->err, "< %s ... %s > ? ", x->words[0], e->path);
    return ask(f->p);
}

static bool exec_one(Find *f, const Exec *x, const WalkEntry *e)
{
    Proc *p = f->p;
    const char *dir = NULL, *path = x->in_dir ? in_dir_name(p, e->path, &dir) : e->path;
    char **argv = mem_alloc_array(&p->mem, x->count + 1, sizeof *argv);
    for (size_t n = 0; n < x->count; n++)
        argv[n] = fill(p, x->words[n], path);
    return (!x->ask || agreed(f, x, e)) && run(f, argv, dir);
}

static void run_batch(Find *f, Exec *x)
{
    size_t n = 0;
    if (!x->collected)
        return;
    MemMark mark = mem_mark(&f->p->mem);
    char **argv = mem_alloc_array(&f->p->mem, x->count + x->collected + 1, sizeof *argv);
    for (size_t w = 0; w < x->count; w++) {
        if (strcmp(x->words[w], "{}") != 0) {
            argv[n++] = x->words[w];
            continue;
        }
        for (size_t k = 0; k < x->collected; k++)
            argv[n++] = (char *)(uintptr_t)x->paths[k];
    }
    if (!run(f, argv, x->dir))
        f->status = 1;
    mem_reset(&f->p->mem, mark);
    mem_drop(x->mem);
    x->collected = x->bytes = 0;
    x->paths = NULL;
    x->dir = NULL;
}

static void collect(Find *f, Exec *x, const WalkEntry *e)
{
    const char *dir = NULL, *path = x->in_dir ? in_dir_name(f->p, e->path, &dir) : e->path;
    if (x->collected && (x->bytes > BATCH_BYTES || x->collected == BATCH_WORDS || (x->in_dir && strcmp(dir, x->dir) != 0)))
        run_batch(f, x);
    if (!x->paths)
        x->paths = mem_array(x->mem, BATCH_WORDS, const char *);
    if (x->in_dir && !x->dir)
        x->dir = mem_strdup(x->mem, dir);
    x->paths[x->collected++] = mem_strdup(x->mem, path);
    x->bytes += strlen(path) + 1 + sizeof(char *);
}

void find_finish_execs(Find *f)
{
    for (size_t n = 0; n < f->exec_count; n++)
        run_batch(f, f->execs[n]);
}

/* ---------- actions ---------- */

/* Text for -print, -printf or -ls, to standard output or the action's own file. */
void find_output(Find *f, const Node *n, Output *out, Slice text)
{
    if (n->fd == 1)
        out_write(out, text);
    else if (proc_write(f->p, n->fd, text) < 0)
        f->status = 1;
}

static bool print(Find *f, const Node *n, const WalkEntry *e)
{
    if (n->fd == 1) {
        out_str(f->p->out, e->path);
        out_char(f->p->out, n->end);
        return true;
    }
    Buf b;
    buf_init(&b, &f->p->mem, BUF_MAX);
    buf_append(&b, slice_str(e->path));
    buf_char(&b, n->end);
    find_output(f, n, NULL, buf_slice(&b));
    return true;
}

static bool print_shaped(Find *f, const Node *n, const WalkEntry *e)
{
    Output own, *out = f->p->out;
    if (n->fd != 1) {
        out = &own;
        output_init(f->p, out, n->fd);
    }
    if (n->kind == DO_LS)
        find_ls(f, out, e);
    else
        find_printf(f, out, n->text, e);
    if (n->fd != 1)
        output_flush(out);
    return true;
}

static bool delete(Find *f, const WalkEntry *e)
{
    if (strcmp(e->path, ".") == 0)
        return true;
    int r = S_ISDIR(e->stat.mode) ? proc_rmdir(f->p, e->path) : proc_unlink(f->p, e->path);
    if (r) {
        warn_errno(f->p, r, "cannot delete %s", quote(f->p, e->path));
        f->status = 1;
    }
    return r == 0;
}

static bool act(Find *f, const Node *n, const WalkEntry *e)
{
    switch (n->kind) {
    case DO_PRINT: return print(f, n, e);
    case DO_PRINTF:
    case DO_LS: return print_shaped(f, n, e);
    case DO_EXEC:
        if (!n->exec->batch)
            return exec_one(f, n->exec, e);
        collect(f, n->exec, e);
        return true;
    case DO_DELETE: return delete(f, e);
    case DO_PRUNE: f->prune = true; return true;
    case DO_QUIT:
        find_finish_execs(f);
        f->quit = true;
        return true;
    default: return false;
    }
}

static bool test(Find *f, const Node *n, const WalkEntry *e)
{
    const VStat *st = &e->stat;
    switch (n->kind) {
    case TEST_TRUE: return true;
    case TEST_NAME: return name_matches(f, n, e);
    case TEST_PATH: return path_matches(f, n, e->path);
    case TEST_LNAME: return link_matches(f, n, e);
    case TEST_REGEX: return regex_matches(f, n, e);
    case TEST_TYPE: return type_matches(n, st->mode);
    case TEST_XTYPE: return xtype_matches(f, n, e);
    case TEST_SIZE: return size_matches(n, st);
    case TEST_EMPTY: return is_empty(f, e);
    case TEST_DAYS: return days(f, n, st);
    case TEST_MINUTES: return minutes(f, n, st);
    case TEST_NEWER: return newer(n, st);
    case TEST_PERM: return perm_matches(n, st->mode);
    case TEST_UID: return within(&n->bound, st->uid);
    case TEST_GID: return within(&n->bound, st->gid);
    case TEST_NOUSER: return !user_name(f->p, st->uid);
    case TEST_NOGROUP: return !group_name(f->p, st->gid);
    case TEST_LINKS: return within(&n->bound, st->nlink);
    case TEST_INUM: return within(&n->bound, (double)st->ino);
    case TEST_SAMEFILE: return st->ino == n->ino && st->dev == n->dev;
    case TEST_ACCESS: return proc_access(f->p, e->path, n->rwx) == 0;
    case TEST_USED: return within(&n->bound, (double)((st->atime - st->ctime) / 86400));
    case TEST_FSTYPE: return strcmp(n->text, "tmpfs") == 0;
    default: return false;
    }
}

bool find_eval(Find *f, const Node *n, const WalkEntry *e)
{
    if (!proc_stack_room(f->p, 16384))
        die(f->p, 1, "the expression is nested too deeply");
    switch (n->kind) {
    case NODE_AND: return find_eval(f, n->left, e) && !f->quit && find_eval(f, n->right, e);
    case NODE_OR: return find_eval(f, n->left, e) || f->quit || find_eval(f, n->right, e);
    case NODE_COMMA:
        (void)find_eval(f, n->left, e);
        return !f->quit && find_eval(f, n->right, e);
    case NODE_NOT: return !find_eval(f, n->left, e);
    default: return n->kind >= DO_PRINT ? act(f, n, e) : test(f, n, e);
    }
}
