/* cp: copy files and directories. */
#include "file.h"

enum { ATTRIBUTES_ONLY = 256, BACKUP_OPTION, COPY_CONTENTS, NO_PRESERVE, PARENTS, PRESERVE, REFLINK, REMOVE_DESTINATION, SPARSE, STRIP_SLASHES, PRESERVE_CONTEXT };
enum { KEEP_MODE = 1, KEEP_OWNER = 2, KEEP_TIMES = 4, KEEP_LINKS = 8, KEEP_CONTEXT = 16, KEEP_XATTR = 32, KEEP_ALL = 63 };

static const Option options[] = {
    {'a', "archive", OPT_FLAG, "same as -dR --preserve=all", NULL, 0},
    {0, "attributes-only", OPT_FLAG, "don't copy the file data, just the attributes", NULL, ATTRIBUTES_ONLY},
    {0, "backup", OPT_OPTIONAL, "make a backup of each existing destination file", "CONTROL", BACKUP_OPTION},
    {'b', NULL, OPT_FLAG, "like --backup but does not accept an argument", NULL, 0},
    {0, "copy-contents", OPT_FLAG, "copy contents of special files when recursive", NULL, COPY_CONTENTS},
    {'d', NULL, OPT_FLAG, "same as --no-dereference --preserve=links", NULL, 0},
    {'f', "force", OPT_FLAG, "if an existing destination file cannot be opened, remove it and try again", NULL, 0},
    {'i', "interactive", OPT_FLAG, "prompt before overwrite (overrides a previous -n option)", NULL, 0},
    {'H', NULL, OPT_FLAG, "follow command-line symbolic links in SOURCE", NULL, 0},
    {'l', "link", OPT_FLAG, "hard link files instead of copying", NULL, 0},
    {'L', "dereference", OPT_FLAG, "always follow symbolic links in SOURCE", NULL, 0},
    {'n', "no-clobber", OPT_FLAG, "do not overwrite an existing file (overrides a previous -i option)", NULL, 0},
    {'P', "no-dereference", OPT_FLAG, "never follow symbolic links in SOURCE", NULL, 0},
    {'p', NULL, OPT_FLAG, "same as --preserve=mode,ownership,timestamps", NULL, 0},
    {0, "preserve", OPT_OPTIONAL, "preserve the specified attributes", "ATTR_LIST", PRESERVE},
    {0, "no-preserve", OPT_VALUE, "don't preserve the specified attributes", "ATTR_LIST", NO_PRESERVE},
    {0, "parents", OPT_FLAG, "use full source file name under DIRECTORY", NULL, PARENTS},
    {'R', "recursive", OPT_FLAG, "copy directories recursively", NULL, 0},
    {'r', NULL, OPT_FLAG, "the same", NULL, 0},
    {0, "reflink", OPT_OPTIONAL, "control clone/CoW copies", "WHEN", REFLINK},
    {0, "remove-destination", OPT_FLAG, "remove each existing destination file before attempting to open it", NULL, REMOVE_DESTINATION},
    {0, "sparse", OPT_VALUE, "control creation of sparse files", "WHEN", SPARSE},
    {0, "strip-trailing-slashes", OPT_FLAG, "remove any trailing slashes from each SOURCE argument", NULL, STRIP_SLASHES},
    {'s', "symbolic-link", OPT_FLAG, "make symbolic links instead of copying", NULL, 0},
    {'S', "suffix", OPT_VALUE, "override the usual backup suffix", "SUFFIX", 0},
    {'t', "target-directory", OPT_VALUE, "copy all SOURCE arguments into DIRECTORY", "DIRECTORY", 0},
    {'T', "no-target-directory", OPT_FLAG, "treat DEST as a normal file", NULL, 0},
    {'u', "update", OPT_FLAG, "copy only when the SOURCE file is newer than the destination file or when the destination file is missing", NULL, 0},
    {'v', "verbose", OPT_FLAG, "explain what is being done", NULL, 0},
    {'x', "one-file-system", OPT_FLAG, "stay on this file system", NULL, 0},
    {'Z', "context", OPT_OPTIONAL, "(ignored: there are no security contexts)", "CTX", 0},
    OPTIONS_END,
};

typedef struct {
    CopyOptions copy;
    const char *target;
    bool no_target, parents, strip, backup, follow_given, follow_never;
    const char *backup_value;
} Cp;

static void preserve(Proc *p, Args *args, CopyOptions *o, const char *list, bool on)
{
    static const Choice words[] = {
        {"mode", KEEP_MODE}, {"timestamps", KEEP_TIMES}, {"ownership", KEEP_OWNER}, {"links", KEEP_LINKS},
        {"context", KEEP_CONTEXT}, {"xattr", KEEP_XATTR}, {"all", KEEP_ALL}, {NULL, 0},
    };
    while (*list) {
        size_t n = strcspn(list, ",");
        int bits = choose(p, args, on ? "--preserve" : "--no-preserve", mem_copy(&p->mem, slice(list, n)), words);
        o->keep_mode = bits & KEEP_MODE ? on : o->keep_mode;
        o->plain_mode = bits & KEEP_MODE ? !on : o->plain_mode;
        o->keep_owner = bits & KEEP_OWNER ? on : o->keep_owner;
        o->keep_times = bits & KEEP_TIMES ? on : o->keep_times;
        o->keep_links = bits & KEEP_LINKS ? on : o->keep_links;
        list += n + (list[n] == ',');
    }
}

/* How a copy is stored is the file system's own affair; the words are checked. */
static const Choice sparse_words[] = {{"never", 0}, {"auto", 1}, {"always", 2}, {NULL, 0}};
static const Choice reflink_words[] = {{"auto", 0}, {"always", 1}, {"never", 2}, {NULL, 0}};

static void set_follow(Cp *c, Follow follow)
{
    c->follow_given = true;
    c->copy.follow = follow;
}

static void set_option(Proc *p, Args *args, Cp *c, int id)
{
    CopyOptions *o = &c->copy;
    switch (id) {
    case 'a': set_follow(c, FOLLOW_NEVER); o->recursive = true; preserve(p, args, o, "all", true); break;
    case ATTRIBUTES_ONLY: o->attributes_only = true; break;
    case BACKUP_OPTION: c->backup_value = args->value; c->backup = true; break;
    case 'b': c->backup = true; break;
    case 'd': set_follow(c, FOLLOW_NEVER); o->keep_links = true; break;
    case 'f': o->overwrite = o->overwrite == OVERWRITE_DEFAULT ? OVERWRITE_FORCE : o->overwrite; o->force = true; break;
    case 'i': o->overwrite = OVERWRITE_ASK; break;
    case 'n': o->overwrite = OVERWRITE_NEVER; break;
    case 'H': set_follow(c, FOLLOW_OPERAND); break;
    case 'L': set_follow(c, FOLLOW_ALWAYS); break;
    case 'P': set_follow(c, FOLLOW_NEVER); break;
    case 'l': o->hard_links = true; break;
    case 's': o->symlinks = true; break;
    case 'p': preserve(p, args, o, "mode,ownership,timestamps", true); break;
    case PRESERVE: preserve(p, args, o, args->value ? args->value : "mode,ownership,timestamps", true); break;
    case NO_PRESERVE: preserve(p, args, o, args->value, false); break;
    case PARENTS: c->parents = true; break;
    case 'R':
    case 'r': o->recursive = true; break;
    case REMOVE_DESTINATION: o->remove_destination = true; break;
    case SPARSE: choose(p, args, "--sparse", args->value, sparse_words); break;
    case REFLINK:
        if (args->value)
            choose(p, args, "--reflink", args->value, reflink_words);
        break;
    case STRIP_SLASHES: c->strip = true; break;
    case 'S': o->suffix = args->value; c->backup = true; break;
    case 't': c->target = args->value; break;
    case 'T': c->no_target = true; break;
    case 'u': o->update = true; break;
    case 'v': o->verbose = true; break;
    case 'x': o->one_device = true; break;
    default: break;
    }
}

static bool is_directory(Proc *p, const char *path, int *error)
{
    VStat st;
    *error = proc_stat(p, path, 0, &st);
    return *error == 0 && S_ISDIR(st.mode);
}

/* --parents: the directories of `path` below `target`. */
static bool make_parents(Proc *p, const Cp *c, const char *target, const char *path)
{
    for (size_t at = 1; path[at]; at++) {
        if (path[at] != '/' || path[at - 1] == '/' || !path[at + 1])
            continue;
        const char *from = mem_copy(&p->mem, slice(path, at)), *to = path_join(p, target, slice(path, at));
        VStat st;
        int r = proc_stat(p, from, 0, &st);
        if (r) {
            warn_errno(p, r, "failed to get attributes of %s", quoteaf(p, from));
            return false;
        }
        r = proc_mkdir(p, to, (st.mode & 0777) | 0300);
        if (r == 0 && c->copy.verbose)
            out_printf(p->out, "%s -> %s\n", from, to);
        if (r && r != -EEXIST) {
            warn_errno(p, r, "cannot make directory %s", quoteaf(p, to));
            return false;
        }
    }
    return true;
}

static bool copy_into(Proc *p, Cp *c, char *from, const char *target)
{
    if (c->strip)
        strip_slashes(from);
    if (c->parents) {
        while (*from == '/')
            from++;
        char *bare = mem_strdup(&p->mem, from);
        strip_slashes(bare);
        return make_parents(p, c, target, bare) && copy_operand(p, &c->copy, from, path_join(p, target, slice_str(bare)));
    }
    Slice base = base_name(from);
    return copy_operand(p, &c->copy, from, path_join(p, target, is_dot(base) ? SLICE(".") : base));
}

static bool seen_before(Proc *p, Map *seen, const char *name, const char **kind)
{
    VStat st;
    if (proc_stat(p, name, V_NOFOLLOW, &st) != 0)
        return false;
    *kind = S_ISDIR(st.mode) ? "directory" : "file";
    const uint64_t key[2] = {st.dev, st.ino};
    MapEntry *e = map_put(seen, slice((const char *)key, sizeof key));
    bool twice = e->value && strcmp(e->value, base_name(name).data) == 0;
    e->value = (void *)(uintptr_t)base_name(name).data;
    return twice;
}

static int copy_all(Proc *p, Cp *c, char **names, int count, const char *target)
{
    Map seen;
    const char *kind;
    int status = 0;
    map_init(&seen, &p->keep);
    for (int n = 0; n < count; n++) {
        if (count > 1 && !c->copy.backup && seen_before(p, &seen, names[n], &kind))
            warn(p, "warning: source %s %s specified more than once", kind, quoteaf(p, names[n]));
        else
            status |= !copy_into(p, c, names[n], target);
    }
    return status;
}

/* `cp --force --backup f f` makes the backup and nothing else. */
static bool back_up_itself(Proc *p, Cp *c, const char *name)
{
    const char *backup = backup_name(p, name, c->copy.backup, c->copy.suffix);
    c->copy.backup = BACKUP_NONE;
    return copy_operand(p, &c->copy, name, backup);
}

static int copy_operands(Proc *p, Args *args, Cp *c, char **names, int count)
{
    int error = 0;
    if (count == 0 || (count == 1 && !c->target)) {
        if (count)
            usage_fail(p, args, "missing destination file operand after %s", quoteaf(p, names[0]));
        usage_fail(p, args, "missing file operand");
    }
    if (c->no_target && c->target)
        die(p, 1, "cannot combine --target-directory (-t) and --no-target-directory (-T)");
    if (c->no_target && count > 2)
        usage_fail(p, args, "extra operand %s", quoteaf(p, names[2]));
    if (c->target) {
        if (!is_directory(p, c->target, &error))
            die_errno(p, 1, error ? error : ENOTDIR, "target directory %s", quoteaf(p, c->target));
        return copy_all(p, c, names, count, c->target);
    }
    char *last = names[count - 1];
    if (!c->no_target && is_directory(p, last, &error))
        return copy_all(p, c, names, count - 1, last);
    if (count > 2)
        die_errno(p, 1, error ? error : ENOTDIR, "target %s", quoteaf(p, last));
    if (c->parents)
        usage_fail(p, args, "with --parents, the destination must be a directory");
    if (c->copy.backup && c->copy.force && strcmp(names[0], last) == 0)
        return !back_up_itself(p, c, last);
    return !copy_operand(p, &c->copy, names[0], last);
}

static int cp_main(Proc *p, Args *args)
{
    Cp c = {0};
    int count;
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(p, args, &c, id);
    if (c.copy.hard_links && c.copy.symlinks)
        usage_fail(p, args, "cannot make both hard and symbolic links");
    if (c.backup && c.copy.overwrite == OVERWRITE_NEVER)
        usage_fail(p, args, "options --backup and --no-clobber are mutually exclusive");
    if (!c.follow_given)
        c.copy.follow = c.copy.recursive && !c.copy.hard_links ? FOLLOW_NEVER : FOLLOW_ALWAYS;
    if (c.backup)
        c.copy.backup = backup_kind(p, args, c.backup_value);
    copy_init(p, &c.copy);
    char **names = args_operands(args, &count);
    return copy_operands(p, args, &c, names, count);
}

COMMAND(cp, "cp [OPTION]... [-T] SOURCE DEST\ncp [OPTION]... SOURCE... DIRECTORY\ncp [OPTION]... -t DIRECTORY SOURCE...",
        "Copy SOURCE to DEST, or multiple SOURCE(s) to DIRECTORY.", options, COMMAND_WRITES);
