/* chmod: change modes. */
#include "file.h"

enum { NO_PRESERVE_ROOT = 256, PRESERVE_ROOT, REFERENCE };

/* A mode such as -x looks like an option: these letters are collected into it. */
#define MODE_LETTER(c) {c, NULL, OPT_OPTIONAL, NULL, NULL, 0}

static const Option options[] = {
    {'c', "changes", OPT_FLAG, "like verbose but report only when a change is made", NULL, 0},
    {'f', "silent", OPT_FLAG, "suppress most error messages", NULL, 0},
    {0, "quiet", OPT_FLAG, NULL, NULL, 'f'},
    {'v', "verbose", OPT_FLAG, "output a diagnostic for every file processed", NULL, 0},
    {0, "no-preserve-root", OPT_FLAG, "do not treat '/' specially (the default)", NULL, NO_PRESERVE_ROOT},
    {0, "preserve-root", OPT_FLAG, "fail to operate recursively on '/'", NULL, PRESERVE_ROOT},
    {0, "reference", OPT_VALUE, "use RFILE's mode instead of MODE values", "RFILE", REFERENCE},
    {'R', "recursive", OPT_FLAG, "change files and directories recursively", NULL, 0},
    MODE_LETTER('r'), MODE_LETTER('w'), MODE_LETTER('x'), MODE_LETTER('X'), MODE_LETTER('s'), MODE_LETTER('t'),
    MODE_LETTER('u'), MODE_LETTER('g'), MODE_LETTER('o'), MODE_LETTER('a'), MODE_LETTER(','), MODE_LETTER('+'), MODE_LETTER('='),
    MODE_LETTER('0'), MODE_LETTER('1'), MODE_LETTER('2'), MODE_LETTER('3'), MODE_LETTER('4'), MODE_LETTER('5'), MODE_LETTER('6'), MODE_LETTER('7'),
    OPTIONS_END,
};

typedef struct {
    const ModeChange *change;
    bool recursive, changes, silent, verbose, preserve_root;
    bool option_mode; /* the mode came as an option: the umask may surprise */
} Chmod;

static void describe(Proc *p, const char *path, uint32_t before, uint32_t now, bool done)
{
    char a[11], b[11];
    format_mode(before, a);
    format_mode(now, b);
    if (!done)
        out_printf(p->out, "failed to change mode of %s from %04o (%s) to %04o (%s)\n", quoteaf(p, path), before & 07777, a + 1, now & 07777, b + 1);
    else if ((before & 07777) == (now & 07777))
        out_printf(p->out, "mode of %s retained as %04o (%s)\n", quoteaf(p, path), now & 07777, b + 1);
    else
        out_printf(p->out, "mode of %s changed from %04o (%s) to %04o (%s)\n", quoteaf(p, path), before & 07777, a + 1, now & 07777, b + 1);
}

static int surprise(Proc *p, const Chmod *o, const char *path, const VStat *st, uint32_t mode)
{
    char a[11], b[11];
    uint32_t naive = mode_apply(o->change, st->mode, S_ISDIR(st->mode), 0);
    if (!(mode & ~naive & 07777))
        return 0;
    format_mode(mode, a);
    format_mode(naive, b);
    warn(p, "%s: new permissions are %s, not %s", quotef(p, path), a + 1, b + 1);
    return 1;
}

static int change_one(Proc *p, const Chmod *o, const char *path, const VStat *st)
{
    uint32_t mode = mode_apply(o->change, st->mode, S_ISDIR(st->mode), p->cred.umask);
    int r = proc_chmod(p, path, 0, mode);
    if (r && !o->silent)
        warn_errno(p, r, "changing permissions of %s", quoteaf(p, path));
    bool changed = (mode & 07777) != (st->mode & 07777);
    if (o->verbose || (o->changes && changed && !r))
        describe(p, path, st->mode, mode, !r);
    if (r)
        return 1;
    return o->option_mode ? surprise(p, o, path, st, mode) : 0;
}

static int refuse(Proc *p, const Chmod *o, const char *path, int error)
{
    VStat st;
    bool dangling = error == -ENOENT && proc_stat(p, path, V_NOFOLLOW, &st) == 0;
    if (!o->silent) {
        if (dangling)
            warn(p, "cannot operate on dangling symlink %s", quoteaf(p, path));
        else
            warn_errno(p, error, "cannot access %s", quoteaf(p, path));
    }
    if (o->verbose)
        out_printf(p->out, "%s could not be accessed\n", quoteaf(p, path));
    return 1;
}

static int change_operand(Proc *p, const Chmod *o, const char *path)
{
    VStat st;
    int r = proc_stat(p, path, 0, &st), status = 0;
    if (r)
        return refuse(p, o, path, r);
    if (!o->recursive)
        return change_one(p, o, path, &st);
    Walk *w = walk_open(p, path, WALK_FOLLOW_OPERAND);
    for (WalkEntry e; walk_next(w, &e);) {
        MemMark mark = mem_mark(&p->mem);
        if (e.kind == WALK_ERROR && !o->silent)
            warn_errno(p, e.error, e.stat_ok ? "cannot read directory %s" : "cannot access %s", quoteaf(p, e.path));
        if (e.kind == WALK_ERROR)
            status = 1;
        else if (e.kind != WALK_DIR_DONE && !S_ISLNK(e.stat.mode))
            status |= change_one(p, o, e.path, &e.stat);
        mem_reset(&p->mem, mark);
    }
    return status;
}

static int chmod_main(Proc *p, Args *args)
{
    Chmod o = {0};
    const char *reference = NULL;
    Buf mode;
    int count, status = 0;
    buf_init(&mode, &p->keep, BUF_MAX);
    for (int id; (id = args_next(p, args)) != -1;)
        switch (id) {
        case 'c': o.changes = true; break;
        case 'f': o.silent = true; break;
        case 'v': o.verbose = true; break;
        case 'R': o.recursive = true; break;
        case NO_PRESERVE_ROOT: o.preserve_root = false; break;
        case PRESERVE_ROOT: o.preserve_root = true; break;
        case REFERENCE: reference = args->value; break;
        default:
            buf_printf(&mode, "%s-%c%s", mode.len ? "," : "", id, args->value ? args->value : "");
            o.option_mode = true;
            break;
        }
    char **names = args_operands(args, &count);
    if (!count && !(o.option_mode && reference))
        usage_missing(p, args, NULL);
    const char *text = mode.data;
    if (!reference && !o.option_mode) {
        text = *names++;
        if (--count == 0)
            usage_missing(p, args, text);
    }
    if (reference) {
        VStat st;
        int r = proc_stat(p, reference, 0, &st);
        if (r)
            die_errno(p, 1, r, "failed to get attributes of %s", quoteaf(p, reference));
        text = mem_printf(&p->keep, "0%04o", st.mode & 07777);
    }
    if (!(o.change = mode_parse(p, text)))
        usage_fail(p, args, "invalid mode: %s", quote(p, text));
    for (int n = 0; n < count; n++) {
        if (o.recursive && o.preserve_root && strcmp(names[n], "/") == 0) {
            warn(p, "it is dangerous to operate recursively on '/'");
            warn(p, "use --no-preserve-root to override this failsafe");
            status = 1;
        } else {
            status |= change_operand(p, &o, names[n]);
        }
    }
    return status;
}

COMMAND(chmod, "chmod [OPTION]... MODE[,MODE]... FILE...\nchmod [OPTION]... OCTAL-MODE FILE...\nchmod [OPTION]... --reference=RFILE FILE...",
        "Change the mode of each FILE to MODE.\nWith --reference, change the mode of each FILE to that of RFILE.", options, COMMAND_WRITES,
        .notes = "Each MODE is of the form '[ugoa]*([-+=]([rwxXst]*|[ugo]))+|[-+=][0-7]+'.");
