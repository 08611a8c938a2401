/* mv: move or rename files. */
#include "file.h"

enum { BACKUP_OPTION = 256, STRIP_SLASHES };

static const Option options[] = {
    {0, "backup", OPT_OPTIONAL, "make a backup of each existing destination file", "CONTROL", BACKUP_OPTION},
    {'b', NULL, OPT_FLAG, "like --backup but does not accept an argument", NULL, 0},
    {'f', "force", OPT_FLAG, "do not prompt before overwriting", NULL, 0},
    {'i', "interactive", OPT_FLAG, "prompt before overwrite", NULL, 0},
    {'n', "no-clobber", OPT_FLAG, "do not overwrite an existing file", NULL, 0},
    {0, "strip-trailing-slashes", OPT_FLAG, "remove any trailing slashes from each SOURCE argument", NULL, STRIP_SLASHES},
    {'S', "suffix", OPT_VALUE, "override the usual backup suffix", "SUFFIX", 0},
    {'t', "target-directory", OPT_VALUE, "move all SOURCE arguments into DIRECTORY", "DIRECTORY", 0},
    {'T', "no-target-directory", OPT_FLAG, "treat DEST as a normal file", NULL, 0},
    {'u', "update", OPT_FLAG, "move only when the SOURCE file is newer than the destination file or when the destination file is missing", NULL, 0},
    {'v', "verbose", OPT_FLAG, "explain what is being done", NULL, 0},
    {'Z', "context", OPT_FLAG, "(ignored: there are no security contexts)", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    CopyOptions copy;
    const char *target;
    bool no_target, strip, backup;
    const char *backup_value;
} Mv;

/* 1: leave it; 0: go on; -1: refused, and said so. */
static int check_target(Proc *p, const Mv *m, const char *from, const VStat *st, const char *to, const VStat *there)
{
    const CopyOptions *o = &m->copy;
    bool directory = S_ISDIR(st->mode);
    if (st->ino == there->ino && st->dev == there->dev && !directory) {
        warn(p, "%s and %s are the same file", quoteaf(p, from), quoteaf(p, to));
        return -1;
    }
    if (o->overwrite == OVERWRITE_NEVER)
        return 1;
    if (directory && !S_ISDIR(there->mode) && !o->backup) {
        warn(p, "cannot overwrite non-directory %s with directory %s", quoteaf(p, to), quoteaf(p, from));
        return -1;
    }
    if (!directory && S_ISDIR(there->mode)) {
        warn(p, "cannot overwrite directory %s with non-directory", quoteaf(p, to));
        return -1;
    }
    bool newer = st->mtime != there->mtime ? st->mtime > there->mtime : st->mtime_ns > there->mtime_ns;
    if (o->update && !directory && !newer)
        return 1;
    bool protected = !S_ISLNK(there->mode) && proc_access(p, to, 2) != 0;
    if (o->overwrite == OVERWRITE_ASK || (protected && o->overwrite == OVERWRITE_DEFAULT && proc_isatty(p, 0))) {
        char mode[11];
        format_mode(there->mode, mode);
        output_flush(p->out);
        if (protected)
            out_printf(p->err, "%s: replace %s, overriding mode %04o (%s)? ", p->name, quoteaf(p, to), there->mode & 07777, mode + 1);
        else
            out_printf(p->err, "%s: overwrite %s? ", p->name, quoteaf(p, to));
        return ask(p) ? 0 : 1;
    }
    return 0;
}

/* Onto another mount: a copy with everything kept, then the source goes. */
static bool move_by_copy(Proc *p, Mv *m, const char *from, const char *to)
{
    CopyOptions o = m->copy;
    o.moving = o.recursive = true;
    o.keep_mode = o.keep_owner = o.keep_times = o.keep_links = true;
    o.follow = FOLLOW_NEVER;
    o.overwrite = OVERWRITE_FORCE;
    o.remove_destination = true;
    o.update = false;
    o.verbose = false;
    copy_init(p, &o);
    if (!copy_operand(p, &o, from, to))
        return false;
    if (m->copy.verbose)
        out_printf(p->out, "copied %s -> %s\n", quoteaf(p, from), quoteaf(p, to));
    if (!remove_tree(p, from))
        return false;
    if (m->copy.verbose)
        out_printf(p->out, "removed %s\n", quoteaf(p, from));
    return true;
}

static bool move_failed(Proc *p, int r, const char *from, const char *to)
{
    if (r == -EINVAL)
        warn(p, "cannot move %s to a subdirectory of itself, %s", quoteaf(p, from), quoteaf(p, to));
    else
        warn_errno(p, r, "cannot move %s to %s", quoteaf(p, from), quoteaf(p, to));
    return false;
}

static bool move_one(Proc *p, Mv *m, const char *from, const char *to)
{
    VStat st, there;
    const char *backup = NULL;
    int r = proc_stat(p, from, V_NOFOLLOW, &st);
    if (r) {
        warn_errno(p, r, "cannot stat %s", quoteaf(p, from));
        return false;
    }
    r = proc_stat(p, to, V_NOFOLLOW, &there);
    if (r && r != -ENOENT && r != -ELOOP && r != -ENOTDIR) {
        warn_errno(p, r, "cannot stat %s", quoteaf(p, to));
        return false;
    }
    if (r == 0) {
        r = check_target(p, m, from, &st, to, &there);
        if (r)
            return r > 0;
        if (m->copy.backup) {
            backup = backup_name(p, to, m->copy.backup, m->copy.suffix);
            if ((r = proc_rename(p, to, backup, false))) {
                warn_errno(p, r, "cannot backup %s", quoteaf(p, to));
                return false;
            }
        }
    }
    r = proc_rename(p, from, to, false);
    if (r == -EXDEV)
        return move_by_copy(p, m, from, to);
    if (r)
        return move_failed(p, r, from, to);
    if (m->copy.verbose && backup)
        out_printf(p->out, "renamed %s -> %s (backup: %s)\n", quoteaf(p, from), quoteaf(p, to), quoteaf(p, backup));
    else if (m->copy.verbose)
        out_printf(p->out, "renamed %s -> %s\n", quoteaf(p, from), quoteaf(p, to));
    return true;
}

static bool is_directory(Proc *p, const char *path, int *error)
{
    VStat st;
    *error = proc_stat(p, path, 0, &st);
    return *error == 0 && S_ISDIR(st.mode);
}

static int move_all(Proc *p, Mv *m, char **names, int count, const char *target)
{
    int status = 0;
    for (int n = 0; n < count; n++)
        status |= !move_one(p, m, names[n], path_join(p, target, base_name(names[n])));
    return status;
}

static int move_operands(Proc *p, Args *args, Mv *m, char **names, int count)
{
    int error = 0;
    if (count == 0)
        usage_fail(p, args, "missing file operand");
    if (count == 1 && !m->target)
        usage_fail(p, args, "missing destination file operand after %s", quoteaf(p, names[0]));
    if (m->no_target && m->target)
        die(p, 1, "cannot combine --target-directory (-t) and --no-target-directory (-T)");
    if (m->no_target && count > 2)
        usage_fail(p, args, "extra operand %s", quoteaf(p, names[2]));
    for (int n = 0; m->strip && n < count; n++)
        strip_slashes(names[n]);
    if (m->target) {
        if (!is_directory(p, m->target, &error))
            die_errno(p, 1, error ? error : ENOTDIR, "target directory %s", quoteaf(p, m->target));
        return move_all(p, m, names, count, m->target);
    }
    if (!m->no_target && is_directory(p, names[count - 1], &error))
        return move_all(p, m, names, count - 1, names[count - 1]);
    if (count > 2)
        die_errno(p, 1, error ? error : ENOTDIR, "target %s", quoteaf(p, names[count - 1]));
    return !move_one(p, m, names[0], names[1]);
}

static int mv_main(Proc *p, Args *args)
{
    Mv m = {.copy.moving = true};
    int count;
    for (int id; (id = args_next(p, args)) != -1;)
        switch (id) {
        case BACKUP_OPTION: m.backup_value = args->value; m.backup = true; break;
        case 'b': m.backup = true; break;
        case 'f': m.copy.overwrite = OVERWRITE_FORCE; break;
        case 'i': m.copy.overwrite = OVERWRITE_ASK; break;
        case 'n': m.copy.overwrite = OVERWRITE_NEVER; break;
        case STRIP_SLASHES: m.strip = true; break;
        case 'S': m.copy.suffix = args->value; m.backup = true; break;
        case 't': m.target = args->value; break;
        case 'T': m.no_target = true; break;
        case 'u': m.copy.update = true; break;
        case 'v': m.copy.verbose = true; break;
        default: break;
        }
    if (m.backup && m.copy.overwrite == OVERWRITE_NEVER)
        usage_fail(p, args, "options --backup and --no-clobber are mutually exclusive");
    if (m.backup)
        m.copy.backup = backup_kind(p, args, m.backup_value);
    char **names = args_operands(args, &count);
    return move_operands(p, args, &m, names, count);
}

COMMAND(mv, "mv [OPTION]... [-T] SOURCE DEST\nmv [OPTION]... SOURCE... DIRECTORY\nmv [OPTION]... -t DIRECTORY SOURCE...",
        "Rename SOURCE to DEST, or move SOURCE(s) to DIRECTORY.", options, COMMAND_WRITES);
