/* chown, chgrp: change file owner and group. GNU coreutils 9.1. Only root gives files away; others may name what is so already. */
#include "file.h"

enum { FROM = 256, NO_PRESERVE_ROOT, PRESERVE_ROOT, REFERENCE, DEREFERENCE, QUIET };

#define KEEP UINT32_MAX

static const Option options[] = {
    {'c', "changes", OPT_FLAG, "like verbose but report only when a change is made", NULL, 0},
    {'f', "silent", OPT_FLAG, "suppress most error messages", NULL, 0},
    {0, "quiet", OPT_FLAG, "the same", NULL, QUIET},
    {'v', "verbose", OPT_FLAG, "output a diagnostic for every file processed", NULL, 0},
    {0, "dereference", OPT_FLAG, "affect the referent of each symbolic link (this is the default), rather than the symbolic link itself", NULL, DEREFERENCE},
    {'h', "no-dereference", OPT_FLAG, "affect symbolic links instead of any referenced file", NULL, 0},
    {0, "from", OPT_VALUE, "change the owner and/or group of each file only if its current owner and/or group match those specified here", "CURRENT_OWNER:CURRENT_GROUP", FROM},
    {0, "no-preserve-root", OPT_FLAG, "do not treat '/' specially (the default)", NULL, NO_PRESERVE_ROOT},
    {0, "preserve-root", OPT_FLAG, "fail to operate recursively on '/'", NULL, PRESERVE_ROOT},
    {0, "reference", OPT_VALUE, "use RFILE's owner and group rather than specifying values", "RFILE", REFERENCE},
    {'R', "recursive", OPT_FLAG, "operate on files and directories recursively", NULL, 0},
    {'H', NULL, OPT_FLAG, "if a command line argument is a symbolic link to a directory, traverse it", NULL, 0},
    {'L', NULL, OPT_FLAG, "traverse every symbolic link to a directory encountered", NULL, 0},
    {'P', NULL, OPT_FLAG, "do not traverse any symbolic links (default)", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    Proc *p;
    bool group_only, changes, silent, verbose, no_follow, recursive, preserve_root;
    int walk;
    uint32_t uid, gid, from_uid, from_gid;
    const char *reference;
} Chown;

static bool number_of(const char *text, uint32_t *id)
{
    int64_t v;
    if (parse_int(text, &v) || v < 0 || v >= UINT32_MAX)
        return false;
    *id = (uint32_t)v;
    return true;
}

static bool find_group(Proc *p, const char *name, uint32_t *gid)
{
    return group_find(p, slice_str(name), gid) || number_of(name, gid);
}

/* OWNER, OWNER:GROUP, :GROUP, OWNER: (the owner's login group). */
static void parse_owner(Proc *p, const char *text, uint32_t *uid, uint32_t *gid)
{
    size_t n = strcspn(text, ":");
    char *owner = mem_copy(&p->keep, slice(text, n));
    uint32_t login = KEEP;
    *uid = *gid = KEEP;
    if (*owner && !user_find(p, slice_str(owner), uid, &login)) {
        if (!number_of(owner, uid))
            die(p, 1, "invalid user: %s", quote(p, text));
        if (text[n] && !text[n + 1])
            die(p, 1, "invalid spec: %s", quote(p, text));
    }
    if (text[n] && !text[n + 1] && *owner)
        *gid = login;
    else if (text[n] && text[n + 1] && !find_group(p, text + n + 1, gid))
        die(p, 1, "invalid group: %s", quote(p, text));
}

static const char *spec_text(Proc *p, bool group_only, uint32_t uid, uint32_t gid)
{
    const char *user = user_name(p, uid), *group = group_name(p, gid);
    const char *u = user ? user : mem_printf(&p->mem, "%u", uid), *g = group ? group : mem_printf(&p->mem, "%u", gid);
    if (group_only || uid == KEEP)
        return group_only ? g : mem_printf(&p->mem, ":%s", g);
    return gid == KEEP ? u : mem_printf(&p->mem, "%s:%s", u, g);
}

static void tell(Chown *c, const char *name, const VStat *st, bool changed, int error)
{
    Proc *p = c->p;
    if (!c->verbose && !(c->changes && changed))
        return;
    const char *what = c->group_only ? "group" : c->uid == KEEP ? "group" : "ownership", *old = spec_text(p, c->group_only, c->uid == KEEP ? KEEP : st->uid, c->gid == KEEP ? KEEP : st->gid);
    const char *new = spec_text(p, c->group_only, c->uid, c->gid);
    if (c->group_only || c->uid == KEEP) {
        old = spec_text(p, true, 0, st->gid);
        new = spec_text(p, true, 0, c->gid);
    }
    if (error)
        out_printf(p->out, "failed to change %s of %s from %s to %s\n", what, quoteaf(p, name), old, new);
    else if (changed)
        out_printf(p->out, "changed %s of %s from %s to %s\n", what, quoteaf(p, name), old, new);
    else
        out_printf(p->out, "%s of %s retained as %s\n", what, quoteaf(p, name), old);
}

static bool change(Chown *c, const char *name, const VStat *st)
{
    Proc *p = c->p;
    if ((c->from_uid != KEEP && c->from_uid != st->uid) || (c->from_gid != KEEP && c->from_gid != st->gid))
        return true;
    bool differs = (c->uid != KEEP && c->uid != st->uid) || (c->gid != KEEP && c->gid != st->gid);
    int r = proc_chown(p, name, c->no_follow ? V_NOFOLLOW : 0, c->uid, c->gid);
    if (r && !c->silent)
        warn_errno(p, r, c->uid == KEEP ? "changing group of %s" : "changing ownership of %s", quoteaf(p, name));
    tell(c, name, st, differs, r);
    return r == 0;
}

static bool change_one(Chown *c, const char *name)
{
    VStat st;
    int r = proc_stat(c->p, name, c->no_follow ? V_NOFOLLOW : 0, &st);
    if (r == 0)
        return change(c, name, &st);
    VStat link;
    bool dangling = proc_stat(c->p, name, V_NOFOLLOW, &link) == 0;
    if (!c->silent)
        warn_errno(c->p, r, dangling ? "cannot dereference %s" : "cannot access %s", quoteaf(c->p, name));
    return false;
}

static bool change_tree(Chown *c, const char *root)
{
    bool ok = true;
    if (c->preserve_root && strcmp(root, "/") == 0) {
        warn(c->p, "it is dangerous to operate recursively on %s", quoteaf(c->p, root));
        warn(c->p, "use --no-preserve-root to override this failsafe");
        return false;
    }
    Walk *w = walk_open(c->p, root, c->walk);
    for (WalkEntry e; walk_next(w, &e);) {
        MemMark mark = mem_mark(&c->p->mem);
        if (e.kind == WALK_ERROR) {
            ok = false;
            if (!c->silent)
                warn_errno(c->p, e.error, e.stat_ok ? "cannot read directory %s" : "cannot access %s", quoteaf(c->p, e.path));
        } else if (e.kind == WALK_FILE || e.kind == WALK_DIR_DONE) {
            bool was = c->no_follow;
            c->no_follow |= S_ISLNK(e.stat.mode);
            ok &= change(c, e.path, &e.stat);
            c->no_follow = was;
        }
        mem_reset(&c->p->mem, mark);
    }
    return ok;
}

static void set_option(Chown *c, Args *args, int id)
{
    switch (id) {
    case 'c': c->changes = true; break;
    case 'f': case QUIET: c->silent = true; break;
    case 'v': c->verbose = true; break;
    case 'h': c->no_follow = true; break;
    case DEREFERENCE: c->no_follow = false; break;
    case FROM: parse_owner(c->p, args->value, &c->from_uid, &c->from_gid); break;
    case NO_PRESERVE_ROOT: c->preserve_root = false; break;
    case PRESERVE_ROOT: c->preserve_root = true; break;
    case REFERENCE: c->reference = args->value; break;
    case 'R': c->recursive = true; break;
    case 'H': c->walk = WALK_FOLLOW_OPERAND; break;
    case 'L': c->walk = WALK_FOLLOW; break;
    case 'P': c->walk = 0; break;
    default: break;
    }
}

static int run(Proc *p, Args *args, bool group_only)
{
    Chown c = {.p = p, .group_only = group_only, .uid = KEEP, .gid = KEEP, .from_uid = KEEP, .from_gid = KEEP};
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&c, args, id);
    int n;
    char **v = args_operands(args, &n);
    if (n < (c.reference ? 1 : 2))
        usage_missing(p, args, n ? v[n - 1] : NULL);
    if (c.reference) {
        VStat st;
        int r = proc_stat(p, c.reference, 0, &st);
        if (r)
            die_errno(p, 1, r, "failed to get attributes of %s", quoteaf(p, c.reference));
        c.uid = group_only ? KEEP : st.uid;
        c.gid = st.gid;
    } else {
        if (!group_only)
            parse_owner(p, v[0], &c.uid, &c.gid);
        else if (*v[0] && !find_group(p, v[0], &c.gid))
            die(p, 1, "invalid group: %s", quote(p, v[0]));
        v++;
        n--;
    }
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok &= c.recursive ? change_tree(&c, v[i]) : change_one(&c, v[i]);
    return !ok;
}

static int chown_main(Proc *p, Args *args) { return run(p, args, false); }
static int chgrp_main(Proc *p, Args *args) { return run(p, args, true); }

COMMAND(chown, "chown [OPTION]... [OWNER][:[GROUP]] FILE...\nchown [OPTION]... --reference=RFILE FILE...", "Change the owner and/or group of each FILE to OWNER and/or GROUP.", options, COMMAND_WRITES);
COMMAND(chgrp, "chgrp [OPTION]... GROUP FILE...\nchgrp [OPTION]... --reference=RFILE FILE...", "Change the group of each FILE to GROUP.", options, COMMAND_WRITES);
