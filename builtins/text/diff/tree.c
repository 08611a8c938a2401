/* tree: two names: files, directories, or one of each. */
#include "diff.h"

enum { TROUBLE = 2 };

typedef struct Pair {
    FileSide side[2];
    const struct Pair *parent;
} Pair;

static int compare_pair(Diff *d, const Pair *parent, const char *first, const char *second);

static int worse(int a, int b) { return MAX(a, b); }

static bool is_dir(const FileSide *s) { return s->state != SIDE_FAILED && S_ISDIR(s->stat.mode); }

static const char *shown(const Diff *d, const Pair *pair, int f) { return d->labels[f] ? d->labels[f] : pair->side[f].name; }

static const char *join(Diff *d, const char *dir, const char *name)
{
    size_t len = strlen(dir);
    while (len && *name == '/')
        name++;
    return mem_printf(&d->p->mem, "%s%s%s", dir, len == 0 || dir[len - 1] == '/' ? "" : "/", name);
}

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

/* --- two files --- */

static int say_differ(Diff *d, const Pair *pair, const char *what)
{
    out_printf(d->p->out, "%s %s and %s differ\n", what, shown(d, pair, 0), shown(d, pair, 1));
    return 1;
}

static bool any_change(Diff *d, Change *script)
{
    bool any = script && !d->ignore_blank && !d->ignore_re;
    for (Change *c = script; c && !any; c = c->next) {
        Change *rest = c->next;
        c->next = NULL;
        any = diff_hunk(d, c).kind != SAME;
        c->next = rest;
    }
    return any;
}

static void print_script(Diff *d, Change *script)
{
    switch (d->style) {
    case STYLE_CONTEXT:
    case STYLE_UNIFIED: diff_context(d, script, d->style == STYLE_UNIFIED); break;
    case STYLE_ED: diff_ed(d, script); break;
    case STYLE_FORWARD_ED: diff_forward_ed(d, script); break;
    case STYLE_RCS: diff_rcs(d, script); break;
    case STYLE_SIDE: diff_side_by_side(d, script); break;
    case STYLE_IFDEF: diff_ifdef(d, script); break;
    default: diff_normal(d, script); break;
    }
}

static int compare_files(Diff *d, Pair *pair)
{
    int kind = diff_read(d, pair->side);
    if (kind < 0)
        return TROUBLE;
    if (kind == 1)
        return slice_eq(pair->side[0].text, pair->side[1].text) ? 0 : say_differ(d, pair, d->brief ? "Files" : "Binary files");
    d->in_directory = pair->parent != NULL;
    d->begun = false;
    Change *script = diff_changes(d, d->style == STYLE_ED);
    bool differ = any_change(d, script);
    int status = differ;
    if (d->brief && differ)
        say_differ(d, pair, "Files");
    else if (!d->brief && (differ || !d->quiet_when_same))
        print_script(d, script);
    for (int f = 0; f < 2 && !style_robust(d); f++)
        if (pair->side[f].missing_newline) {
            warn(d->p, "%s: No newline at end of file\n", shown(d, pair, f));
            status = TROUBLE;
        }
    return status;
}

/* --- directories --- */

static bool is_excluded(Diff *d, const char *name)
{
    for (const Glob *g = d->excluded; g; g = g->next)
        if (pat_match(&d->env, g->pattern, slice_str(name)))
            return true;
    return false;
}

static int folded(char c) { return c >= 'A' && c <= 'Z' ? c + 32 : (unsigned char)c; }

static int compare_folded(const char *a, const char *b)
{
    while (*a && folded(*a) == folded(*b)) {
        a++;
        b++;
    }
    return folded(*a) - folded(*b);
}

static int compare_names(const Diff *d, const char *a, const char *b)
{
    int order = d->fold_names ? compare_folded(a, b) : 0;
    return order ? order : strcmp(a, b);
}

/* Names that differ in case only belong together under --ignore-file-name-case. */
static int match_names(const Diff *d, const char *a, const char *b) { return d->fold_names ? compare_folded(a, b) : strcmp(a, b); }

typedef struct { const char **names; size_t count; } Names;

static void sort_names(Diff *d, const char **names, size_t count, const char **scratch)
{
    if (count < 2)
        return;
    size_t half = count / 2;
    sort_names(d, names, half, scratch);
    sort_names(d, names + half, count - half, scratch);
    size_t i = 0, j = half, n = 0;
    while (i < half && j < count)
        scratch[n++] = compare_names(d, names[i], names[j]) <= 0 ? names[i++] : names[j++];
    while (i < half)
        scratch[n++] = names[i++];
    memcpy(names, scratch, n * sizeof *names);
}

static int list_side(Diff *d, const FileSide *s, Names *out)
{
    *out = (Names){NULL, 0};
    if (s->state == SIDE_ABSENT)
        return 0;
    VDirent *list;
    size_t count;
    int err = proc_list(d->p, s->name, &list, &count);
    if (err) {
        warn_errno(d->p, err, "%s", s->name);
        return TROUBLE;
    }
    out->names = mem_array(&d->p->mem, count + 1, const char *);
    for (size_t i = 0; i < count; i++) {
        const char *name = mem_copy(&d->p->mem, list[i].name);
        if (!is_excluded(d, name))
            out->names[out->count++] = name;
    }
    if (d->fold_names)
        sort_names(d, out->names, out->count, mem_array(&d->p->mem, count + 1, const char *));
    return 0;
}

static bool in_loop(const Pair *pair, int f)
{
    for (const Pair *up = pair->parent; up; up = up->parent)
        if (up->side[f].state == SIDE_OPEN && up->side[f].stat.ino == pair->side[f].stat.ino && up->side[f].stat.dev == pair->side[f].stat.dev)
            return true;
    return false;
}

static int compare_dirs(Diff *d, const Pair *pair)
{
    for (int f = 0; f < 2; f++)
        if (pair->side[f].state == SIDE_OPEN && in_loop(pair, f)) {
            warn(d->p, "%s: recursive directory loop", pair->side[f].name);
            return TROUBLE;
        }
    Names at[2];
    int status = 0;
    for (int f = 0; f < 2; f++)
        status = worse(status, list_side(d, &pair->side[f], &at[f]));
    if (status)
        return status;
    for (int f = 0; f < 2 && d->start_name && !pair->parent; f++)
        while (at[f].count && compare_names(d, at[f].names[0], d->start_name) < 0) {
            at[f].names++;
            at[f].count--;
        }
    while (at[0].count || at[1].count) {
        int order = !at[0].count ? 1 : !at[1].count ? -1 : match_names(d, at[0].names[0], at[1].names[0]);
        const char *name[2] = {NULL, NULL};
        for (int f = 0; f < 2; f++)
            if (f == 0 ? order <= 0 : order >= 0) {
                name[f] = *at[f].names++;
                at[f].count--;
            }
        MemMark mark = mem_mark(&d->p->mem);
        status = worse(status, compare_pair(d, pair, name[0], name[1]));
        mem_reset(&d->p->mem, mark);
        proc_tick(d->p, 1);
    }
    return status;
}

/* --- what the names are --- */

static int look(Diff *d, const char *path, VStat *st) { return proc_stat(d->p, path, d->no_dereference ? V_NOFOLLOW : 0, st); }

static void look_at(Diff *d, Pair *pair)
{
    for (int f = 0; f < 2; f++) {
        FileSide *s = &pair->side[f];
        if (s->state == SIDE_ABSENT)
            continue;
        bool dash = !pair->parent && strcmp(s->name, "-") == 0;
        int err = dash ? proc_fstat(d->p, 0, &s->stat) : look(d, s->name, &s->stat);
        s->state = dash ? SIDE_STDIN : SIDE_OPEN;
        if (dash && !err && !S_ISREG(s->stat.mode))
            s->stat.mtime = proc_now(d->p, &s->stat.mtime_ns);
        if (err) {
            s->state = SIDE_FAILED;
            s->error = err;
        }
    }
    /* With -N, what is not there is empty; so is a file without a mode, as patch leaves for one. */
    for (int f = 0; f < 2; f++) {
        FileSide *s = &pair->side[f];
        if (!(d->new_file || (f == 0 && d->new_first)))
            continue;
        if (s->state == SIDE_OPEN && S_ISREG(s->stat.mode) && !(s->stat.mode & 0777) && s->stat.size == 0)
            s->state = SIDE_ABSENT;
        else if (s->state == SIDE_FAILED && (s->error == -ENOENT || s->error == -EBADF) && !pair->parent && pair->side[1 - f].state == SIDE_OPEN)
            s->state = SIDE_ABSENT;
    }
    for (int f = 0; f < 2; f++)
        if (pair->side[f].state == SIDE_ABSENT)
            pair->side[f].stat = (VStat){.mode = pair->side[1 - f].stat.mode};
}

/* DIR FILE: the file of that name in the directory. */
static int into_directory(Diff *d, Pair *pair)
{
    int dir = is_dir(&pair->side[0]) ? 0 : 1;
    const char *file = pair->side[1 - dir].name;
    if (strcmp(file, "-") == 0)
        die(d->p, TROUBLE, "cannot compare '-' to a directory");
    const char *slash = strrchr(file, '/');
    pair->side[dir].name = join(d, pair->side[dir].name, slash ? slash + 1 : file);
    int err = look(d, pair->side[dir].name, &pair->side[dir].stat);
    if (err)
        warn_errno(d->p, err, "%s", pair->side[dir].name);
    return err ? TROUBLE : 0;
}

static int only_in(Diff *d, const char *dir, const char *name)
{
    out_printf(d->p->out, "Only in %s: %s\n", dir, name);
    return 1;
}

static int say_kinds(Diff *d, const Pair *pair)
{
    out_printf(d->p->out, "File %s is a %s while file %s is a %s\n", shown(d, pair, 0), kind_of(&pair->side[0].stat), shown(d, pair, 1), kind_of(&pair->side[1].stat));
    return 1;
}

static int compare_links(Diff *d, const Pair *pair)
{
    Slice target[2] = {{"", 0}, {"", 0}};
    if (!S_ISLNK(pair->side[0].stat.mode) || !S_ISLNK(pair->side[1].stat.mode))
        return say_kinds(d, pair);
    for (int f = 0; f < 2; f++) {
        int err = pair->side[f].state == SIDE_ABSENT ? 0 : proc_readlink(d->p, pair->side[f].name, &target[f]);
        if (err < 0) {
            warn_errno(d->p, err, "%s", pair->side[f].name);
            return TROUBLE;
        }
    }
    if (slice_eq(target[0], target[1]))
        return 0;
    out_printf(d->p->out, "Symbolic links %s and %s differ\n", pair->side[0].name, pair->side[1].name);
    return 1;
}

static bool plain(const FileSide *s) { return S_ISREG(s->stat.mode) || S_ISLNK(s->stat.mode); }

static bool same_file(const Pair *pair)
{
    const VStat *a = &pair->side[0].stat, *b = &pair->side[1].stat;
    return pair->side[0].state != SIDE_ABSENT && pair->side[1].state != SIDE_ABSENT && a->ino == b->ino && a->dev == b->dev;
}

static int compare_known(Diff *d, Pair *pair, const char *name)
{
    FileSide *a = &pair->side[0], *b = &pair->side[1];
    bool absent = a->state == SIDE_ABSENT || b->state == SIDE_ABSENT;
    if ((a->state == SIDE_ABSENT && b->state == SIDE_ABSENT) || (same_file(pair) && d->quiet_when_same))
        return 0;
    if (is_dir(a) && is_dir(b)) {
        if (d->style == STYLE_IFDEF)
            die(d->p, TROUBLE, "-D option not supported with directories");
        if (!pair->parent || d->recursive)
            return compare_dirs(d, pair);
        out_printf(d->p->out, "Common subdirectories: %s and %s\n", a->name, b->name);
        return 0;
    }
    if (is_dir(a) || is_dir(b) || (pair->parent && !(plain(a) && plain(b)))) {
        if (!absent)
            return say_kinds(d, pair);
        return only_in(d, pair->parent ? pair->parent->side[a->state == SIDE_ABSENT].name : ".", name);
    }
    if (S_ISLNK(a->stat.mode) || S_ISLNK(b->stat.mode))
        return compare_links(d, pair);
    return compare_files(d, pair);
}

static int compare_pair(Diff *d, const Pair *parent, const char *first, const char *second)
{
    if (!proc_stack_room(d->p, 32768))
        die(d->p, TROUBLE, "directories are nested too deeply");
    bool both = first && second;
    if (!both && !(d->new_first && second) && !d->new_file)
        return only_in(d, parent->side[first ? 0 : 1].name, first ? first : second);
    Pair pair = {.parent = parent};
    const char *given[2] = {first, second};
    for (int f = 0; f < 2; f++) {
        const char *name = given[f] ? given[f] : given[1 - f];
        pair.side[f].name = parent ? join(d, parent->side[f].name, name) : name;
        pair.side[f].state = given[f] ? SIDE_OPEN : SIDE_ABSENT;
    }
    look_at(d, &pair);
    int status = 0;
    for (int f = 0; f < 2; f++)
        if (pair.side[f].state == SIDE_FAILED) {
            warn_errno(d->p, pair.side[f].error, "%s", pair.side[f].name);
            status = TROUBLE;
        }
    if (!status && !parent && is_dir(&pair.side[0]) != is_dir(&pair.side[1]))
        status = into_directory(d, &pair);
    if (!status)
        status = compare_known(d, &pair, first ? first : second);
    if (!status && d->report_identical && !is_dir(&pair.side[0]))
        out_printf(d->p->out, "Files %s and %s are identical\n", shown(d, &pair, 0), shown(d, &pair, 1));
    return status;
}

int diff_pair(Diff *d, const char *first, const char *second) { return compare_pair(d, NULL, first, second); }
