/* pathchk: check whether file names are valid or portable. GNU coreutils 9.1. */
#include "file.h"

enum { PORTABILITY = 256, POSIX_PATH = 256, POSIX_NAME = 14, NAME_MOST = 255, PATH_MOST = 4096 };

static const Option options[] = {
    {'p', NULL, OPT_FLAG, "check for most POSIX systems", NULL, 0},
    {'P', NULL, OPT_FLAG, "check for empty names and leading \"-\"", NULL, 0},
    {0, "portability", OPT_FLAG, "check for all POSIX systems (equivalent to -p -P)", NULL, PORTABILITY},
    OPTIONS_END,
};

static bool leading_hyphen(const char *name)
{
    for (const char *s = name; *s; s++)
        if (*s == '-' && (s == name || s[-1] == '/'))
            return true;
    return false;
}

static bool portable_characters(Proc *p, const char *name)
{
    size_t n = strspn(name, "/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
    if (!name[n])
        return true;
    size_t len;
    utf8_decode(name + n, strlen(name + n), &len);
    warn(p, "nonportable character %s in file name %s", quote(p, mem_copy(&p->mem, slice(name + n, len))), quoteaf(p, name));
    return false;
}

static bool components_fit(Proc *p, const char *name, size_t most)
{
    for (const char *s = name; *s;) {
        size_t n = strcspn(s, "/");
        if (n > most) {
            warn(p, "limit %zu exceeded by length %zu of file name component %s", most, n, quote(p, mem_copy(&p->mem, slice(s, n))));
            return false;
        }
        s += n + (s[n] == '/');
    }
    return true;
}

static bool valid(Proc *p, const char *name, bool posix, bool extra)
{
    size_t len = strlen(name), most = posix ? POSIX_PATH : PATH_MOST;
    VStat st;
    if (extra && leading_hyphen(name)) {
        warn(p, "leading '-' in a component of file name %s", quoteaf(p, name));
        return false;
    }
    if ((posix || extra) && !len) {
        warn(p, "empty file name");
        return false;
    }
    if (posix && !portable_characters(p, name))
        return false;
    int r = posix ? -ENOENT : proc_stat(p, name, V_NOFOLLOW, &st);
    if (!posix && r && (r != -ENOENT || !len)) {
        warn_errno(p, r, "%s", quotef(p, name));
        return false;
    }
    if (len >= most) {
        warn(p, "limit %zu exceeded by length %zu of file name %s", most - 1, len, quoteaf(p, name));
        return false;
    }
    return components_fit(p, name, posix ? POSIX_NAME : NAME_MOST);
}

static int pathchk_main(Proc *p, Args *args)
{
    bool posix = false, extra = false, ok = true;
    for (int id; (id = args_next(p, args)) != -1;) {
        posix |= id == 'p' || id == PORTABILITY;
        extra |= id == 'P' || id == PORTABILITY;
    }
    int n;
    char **v = args_operands(args, &n);
    if (!n)
        usage_missing(p, args, NULL);
    for (int i = 0; i < n; i++)
        ok &= valid(p, v[i], posix, extra);
    return !ok;
}

COMMAND(pathchk, "pathchk [OPTION]... NAME...", "Diagnose invalid or unportable file names.", options, COMMAND_PURE | COMMAND_ORDERED);
