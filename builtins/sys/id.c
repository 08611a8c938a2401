/* id: print user and group identities. GNU coreutils 9.1. */
#include "command.h"
#include "shared.h"

static const Option options[] = {
    {'a', NULL, OPT_FLAG, "ignore, for compatibility with other versions", NULL, 0},
    {'Z', "context", OPT_FLAG, "refused: there are no security contexts", NULL, 0},
    {'g', "group", OPT_FLAG, "print only the effective group ID", NULL, 0},
    {'G', "groups", OPT_FLAG, "print all group IDs", NULL, 0},
    {'n', "name", OPT_FLAG, "print a name instead of a number, for -ugG", NULL, 0},
    {'r', "real", OPT_FLAG, "print the real ID instead of the effective ID, with -ugG", NULL, 0},
    {'u', "user", OPT_FLAG, "print only the effective user ID", NULL, 0},
    {'z', "zero", OPT_FLAG, "delimit entries with NUL characters, not whitespace", NULL, 0},
    OPTIONS_END,
};

static void print_id(Proc *p, uint32_t id, const char *name, bool by_name)
{
    if (by_name && name)
        out_str(p->out, name);
    else
        out_int(p->out, id);
}

static void print_long(Proc *p, uint32_t uid, uint32_t gid)
{
    const char *user = user_name(p, uid), *group = group_name(p, gid);
    out_printf(p->out, "uid=%u", uid);
    if (user)
        out_printf(p->out, "(%s)", user);
    out_printf(p->out, " gid=%u", gid);
    if (group)
        out_printf(p->out, "(%s)", group);
    out_printf(p->out, " groups=%u", gid);
    if (group)
        out_printf(p->out, "(%s)", group);
}

/* By name, or by number with an optional plus sign. */
static bool find_user(Proc *p, const char *who, uint32_t *uid, uint32_t *gid)
{
    int64_t number;
    if (user_find(p, slice_str(who), uid, gid))
        return true;
    if (*who == '-' || parse_int(who, &number) || number > UINT32_MAX)
        return false;
    const char *name = user_name(p, (uint32_t)number);
    return name && user_find(p, slice_str(name), uid, gid);
}

static int id_main(Proc *p, Args *args)
{
    bool user = false, group = false, groups = false, name = false, real = false, zero = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == 'Z')
            die(p, 1, "--context (-Z) works only on an SELinux-enabled kernel");
        user |= id == 'u';
        group |= id == 'g';
        groups |= id == 'G';
        name |= id == 'n';
        real |= id == 'r';
        zero |= id == 'z';
    }
    int n, status = 0;
    char **who = args_operands(args, &n);
    if (user + group + groups > 1)
        die(p, 1, "cannot print \"only\" of more than one choice");
    bool only = user || group || groups;
    if (!only && (name || real))
        die(p, 1, "cannot print only names or real IDs in default format");
    if (!only && zero)
        die(p, 1, "option --zero not permitted in default format");
    for (int i = 0; i < MAX(n, 1); i++) {
        uint32_t uid = p->cred.uid, gid = p->cred.gid;
        if (n && !find_user(p, who[i], &uid, &gid)) {
            if (*who[i])
                warn(p, "%s: no such user", quote(p, who[i]));
            else
                warn_errno(p, ENOENT, "%s: no such user", quote(p, who[i]));
            status = 1;
            continue;
        }
        if (user)
            print_id(p, uid, user_name(p, uid), name);
        else if (only)
            print_id(p, gid, group_name(p, gid), name);
        else
            print_long(p, uid, gid);
        out_char(p->out, zero ? 0 : '\n');
        if (zero && groups && n > 1) /* a list ends with two */
            out_char(p->out, 0);
    }
    return status;
}

COMMAND(id, "id [OPTION]... [USER]...", "Print user and group information for each specified USER, or (when USER omitted) for the current process.", options, COMMAND_PURE);
