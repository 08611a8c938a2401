/* shred: overwrite a file to hide its contents, and optionally delete it. GNU coreutils 9.1. */
#include "shared.h"

static const Option options[] = {
    {'f', "force", OPT_FLAG, "change permissions to allow writing if necessary", NULL, 'f'},
    {'n', "iterations", OPT_VALUE, "overwrite N times instead of the default (3)", "N", 'n'},
    {0, "random-source", OPT_VALUE, "get random bytes from FILE", "FILE", 256},
    {'s', "size", OPT_VALUE, "shred this many bytes (suffixes like K, M, G accepted)", "N", 's'},
    {'u', NULL, OPT_FLAG, "deallocate and remove file after overwriting", NULL, 'u'},
    {0, "remove", OPT_OPTIONAL, "like -u but give control on HOW to delete", "HOW", 257},
    {'v', "verbose", OPT_FLAG, "show progress", NULL, 'v'},
    {'x', "exact", OPT_FLAG, "do not round file sizes up to the next full block", NULL, 'x'},
    {'z', "zero", OPT_FLAG, "add a final overwrite with zeros to hide shredding", NULL, 'z'},
    OPTIONS_END,
};

typedef struct Shred {
    Proc *p;
    int64_t passes;
    uint64_t size;
    int source;
    bool force, remove, wipe, verbose, exact, zero, sized;
} Shred;

static int write_pass(const Shred *s, int fd, uint64_t size, bool zero)
{
    char block[8192];
    memset(block, 0, sizeof block);
    if (proc_seek(s->p, fd, 0, SEEK_SET) < 0)
        return -ESPIPE;
    while (size) {
        size_t n = (size_t)MIN(size, (uint64_t)sizeof block);
        if (!zero && s->source >= 0) {
            ssize_t got = proc_read(s->p, s->source, block, n);
            if (got < 0)
                return (int)got;
            if (got == 0)
                return -ENODATA;
            n = (size_t)got;
        } else if (!zero) {
            proc_random(s->p, block, n);
        }
        ssize_t wrote = proc_write(s->p, fd, slice(block, n));
        if (wrote < 0)
            return (int)wrote;
        size -= n;
        proc_tick(s->p, 1 + n / 100);
    }
    return 0;
}

static int overwrite(const Shred *s, const char *name, int fd)
{
    VStat st;
    int err = proc_fstat(s->p, fd, &st);
    if (err || (st.mode & 0170000) != 0100000) {
        warn(s->p, "%s: invalid file type", quotef(s->p, name));
        return 1;
    }
    uint64_t size = s->sized ? s->size : s->exact ? st.size : (st.size + 4095) / 4096 * 4096;
    int64_t all = s->passes + s->zero;
    for (int64_t i = 0; i < all; i++) {
        bool zero = i >= s->passes;
        if (s->verbose)
            warn(s->p, "%s: pass %lld/%lld (%s)...", quotef(s->p, name), (long long)i + 1, (long long)all, zero ? "000000" : "random");
        err = write_pass(s, fd, size, zero);
        if (err) {
            warn_errno(s->p, err, "%s: error writing at offset 0", quotef(s->p, name));
            return 1;
        }
    }
    return 0;
}

/* The name is overwritten too: renamed to ever shorter ones made of zeros, then unlinked. */
static int unlink_file(const Shred *s, const char *name)
{
    Proc *p = s->p;
    const char *slash = strrchr(name, '/'), *now = name;
    size_t dir = slash ? (size_t)(slash + 1 - name) : 0, len = strlen(name + dir);
    if (s->verbose)
        warn(p, "%s: removing", quotef(p, name));
    for (size_t n = s->wipe ? len : 0; n > 0; n--) {
        char *next = mem_printf(&p->keep, "%.*s%0*d", (int)dir, name, (int)n, 0);
        if (proc_rename(p, now, next, true))
            continue;
        if (s->verbose)
            warn(p, "%s: renamed to %s", quotef(p, now), quotef(p, next));
        now = next;
    }
    int err = proc_unlink(p, now);
    if (err) {
        warn_errno(p, err, "%s: failed to remove", quotef(p, name));
        return 1;
    }
    if (s->verbose)
        warn(p, "%s: removed", quotef(p, name));
    return 0;
}

static int shred_file(const Shred *s, const char *name)
{
    Proc *p = s->p;
    if (strcmp(name, "-") == 0)
        return overwrite(s, name, 1);
    int fd = proc_open(p, name, V_READ | V_WRITE, 0);
    if (fd == -EACCES && s->force && proc_chmod(p, name, 0, 0200) == 0)
        fd = proc_open(p, name, V_WRITE, 0);
    if (fd < 0) {
        warn_errno(p, fd, "%s: failed to open for writing", quotef(p, name));
        return 1;
    }
    int status = overwrite(s, name, fd);
    if (!status && s->remove)
        proc_ftruncate(p, fd, 0);
    proc_close(p, fd);
    return status ? status : s->remove ? unlink_file(s, name) : 0;
}

static int shred_main(Proc *p, Args *args)
{
    static const Choice hows[] = {{"unlink", 0}, {"wipe", 1}, {"wipesync", 1}, {NULL, 0}};
    Shred s = {.p = p, .passes = 3, .source = -1, .wipe = true};
    for (int id; (id = args_next(p, args)) >= 0;) {
        switch (id) {
        case 'f': s.force = true; break;
        case 'n':
            if (parse_int(args->value, &s.passes) || s.passes < 0)
                die(p, 1, "invalid number of passes: %s", quote(p, args->value));
            break;
        case 's':
            if (parse_size(args->value, "cbBkKMGTPEZY0", &s.size))
                die(p, 1, "invalid file size: %s", quote(p, args->value));
            s.sized = true;
            break;
        case 'u': s.remove = true; break;
        case 257:
            s.remove = true;
            if (args->value)
                s.wipe = choose(p, args, "--remove", args->value, hows) != 0;
            break;
        case 256:
            s.source = proc_open(p, args->value, V_READ, 0);
            if (s.source < 0)
                die_errno(p, 1, s.source, "%s", quotef(p, args->value));
            break;
        case 'v': s.verbose = true; break;
        case 'x': s.exact = true; break;
        default: s.zero = true; break;
        }
    }
    int n, status = 0;
    char **v = args_operands(args, &n);
    if (!n)
        usage_fail(p, args, "missing file operand");
    for (int i = 0; i < n; i++)
        status |= shred_file(&s, v[i]);
    return status;
}

COMMAND(shred, "shred [OPTION]... FILE...", "Overwrite the specified FILE(s) repeatedly.", options, COMMAND_WRITES, .package = "GNU coreutils 9.1");
