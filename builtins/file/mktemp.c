/* mktemp: make a temporary file or directory with a name nobody had. */
#include "file.h"

enum { SUFFIX = 256, TMPDIR };

static const Option options[] = {
    {'d', "directory", OPT_FLAG, "create a directory, not a file", NULL, 0},
    {'u', "dry-run", OPT_FLAG, "do not create anything; merely print a name (unsafe)", NULL, 0},
    {'q', "quiet", OPT_FLAG, "suppress diagnostics about file/dir-creation failure", NULL, 0},
    {0, "suffix", OPT_VALUE, "append SUFF to TEMPLATE; SUFF must not contain a slash", "SUFF", SUFFIX},
    {'p', NULL, OPT_VALUE, "interpret TEMPLATE relative to DIR", "DIR", 0},
    {0, "tmpdir", OPT_OPTIONAL, "the same; if DIR is not specified, use $TMPDIR if set, else /tmp", "DIR", TMPDIR},
    {'t', NULL, OPT_FLAG, "interpret TEMPLATE as a single file name component, relative to a directory [deprecated]", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    bool directory, dry, quiet, in_tmp, deprecated;
    const char *suffix, *dir, *template;
} Mktemp;

static int make(Proc *p, const Mktemp *m, const char *path)
{
    VStat st;
    if (m->dry)
        return proc_stat(p, path, V_NOFOLLOW, &st) == 0 ? -EEXIST : 0;
    if (m->directory)
        return proc_mkdir(p, path, 0700);
    int fd = proc_open(p, path, V_READ | V_WRITE | V_CREATE | V_EXCL, 0600);
    if (fd >= 0)
        proc_close(p, fd);
    return fd < 0 ? fd : 0;
}

/* Fills the run of Xs that ends at `end` until a name is free. */
static int create(Proc *p, const Mktemp *m, char *path, size_t end, size_t count)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    int r = -EEXIST;
    for (int round = 0; r == -EEXIST && round < 1000; round++) {
        for (size_t n = end - count; n < end; n++) {
            unsigned char byte;
            do
                proc_random(p, &byte, 1);
            while (byte >= 248); /* 4 * 62: every letter as likely */
            path[n] = letters[byte % 62];
        }
        r = make(p, m, path);
    }
    return r;
}

/* The directory names are put into, or NULL. */
static const char *directory_of(Proc *p, const Mktemp *m)
{
    const char *env = proc_getenv(p, "TMPDIR");
    if (!m->in_tmp)
        return NULL;
    if (m->deprecated && env && *env)
        return env;
    if (m->dir && *m->dir)
        return m->dir;
    return env && *env && !m->deprecated ? env : "/tmp";
}

static int mktemp_run(Proc *p, const Mktemp *m)
{
    const char *template = m->template, *suffix = m->suffix;
    size_t len = strlen(template), end = len, count = 0;
    if (suffix) {
        if (!len || template[len - 1] != 'X')
            die(p, 1, "with --suffix, template %s must end in X", quote(p, template));
    } else {
        const char *last = strrchr(template, 'X');
        end = last ? (size_t)(last + 1 - template) : len;
        suffix = template + end;
    }
    while (count < end && template[end - 1 - count] == 'X')
        count++;
    if (strchr(suffix, '/'))
        die(p, 1, "invalid suffix %s, contains directory separator", quote(p, suffix));
    if (count < 3)
        die(p, 1, "too few X's in template %s", quote(p, template));
    const char *dir = directory_of(p, m);
    if (m->deprecated && base_name(template).len != len)
        die(p, 1, "invalid template, %s, contains directory separator", quote(p, template));
    if (m->in_tmp && !m->deprecated && *template == '/')
        die(p, 1, "invalid template, %s; with --tmpdir, it may not be absolute", quote(p, template));
    char *whole = mem_printf(&p->mem, "%.*s%s", (int)end, template, suffix);
    char *path = dir ? (char *)(uintptr_t)path_join(p, dir, slice_str(whole)) : whole;
    const char *shown = mem_strdup(&p->mem, path);
    size_t at = strlen(path) - strlen(suffix);
    int r = create(p, m, path, at, count);
    if (r && !m->quiet)
        warn_errno(p, r, m->directory ? "failed to create directory via template %s" : "failed to create file via template %s", quote(p, shown));
    if (r)
        return 1;
    out_printf(p->out, "%s\n", path);
    return 0;
}

static int mktemp_main(Proc *p, Args *args)
{
    Mktemp m = {0};
    int count;
    for (int id; (id = args_next(p, args)) != -1;)
        switch (id) {
        case 'd': m.directory = true; break;
        case 'u': m.dry = true; break;
        case 'q': m.quiet = true; break;
        case SUFFIX: m.suffix = args->value; break;
        case 't': m.in_tmp = m.deprecated = true; break;
        default:
            m.in_tmp = true;
            m.dir = args->value;
            break;
        }
    char **names = args_operands(args, &count);
    if (count > 1)
        usage_fail(p, args, "too many templates");
    m.template = count ? names[0] : "tmp.XXXXXXXXXX";
    m.in_tmp |= !count;
    return mktemp_run(p, &m);
}

COMMAND(mktemp, "mktemp [OPTION]... [TEMPLATE]", "Create a temporary file or directory, safely, and print its name.\nTEMPLATE must contain at least 3 consecutive 'X's in last component.",
        options, COMMAND_WRITES);
