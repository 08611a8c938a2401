/* vfs_fuzz: sequences of file system calls over two file systems that fork from one another; every count is checked at
 * the end, and the input also chooses an allocation that fails. */
#include <stdint.h>
#include <stdlib.h>

#include "vfs/vfs.h"

typedef struct {
    const uint8_t *at, *end;
} Input;

static unsigned next(Input *in) { return in->at < in->end ? *in->at++ : 0; }

static const char *const paths[] = {
    "/a", "/b", "/a/b", "/a/b/c", "a/../b", "/l", "/l/x", "/b/.", "/b/..", "/d/", "//a//b", "", "/", ".", "..", "/e/f/g",
};

static const char *path(Input *in) { return paths[next(in) % ARRAY_LEN(paths)]; }

enum { FILES = 4 };

typedef struct {
    Budget budget;
    Gen *gen;
    Vfs *fs;
    VFile *file[FILES];
    VDir *cwd;
} Side;

static void side_close(Side *s)
{
    for (int n = 0; n < FILES; n++)
        vfs_file_unref(s->fs, s->file[n]);
    vfs_dir_unref(s->fs, s->cwd);
    const char *why;
    if (!vfs_check(s->fs, &why))
        abort();
    vfs_free(s->fs);
    gen_unref(s->gen);
}

static void side_fork(Side *from, Side *to)
{
    uint64_t fail_at = from->budget.fail_at;
    from->budget.fail_at = 0;
    side_close(to);
    *to = (Side){0};
    Gen *old = from->gen;
    gen_retire(old);
    from->gen = gen_new(&from->budget, &from->budget, old);
    to->gen = gen_new(&to->budget, &to->budget, old);
    to->fs = vfs_fork(from->fs, to->gen);
    vfs_move_to(from->fs, from->gen);
    for (int n = 0; n < FILES; n++)
        to->file[n] = from->file[n] ? vfs_file_fork(to->fs, from->file[n]) : NULL;
    to->cwd = from->cwd ? vfs_dir_fork(to->fs, from->cwd) : NULL;
    gen_unref(old);
    from->budget.fail_at = fail_at;
}

static void use_file(Side *s, Input *in, const VCred *c)
{
    static char bytes[70000];
    unsigned n = next(in) % FILES;
    VFile **f = &s->file[n];
    uint64_t off = next(in) * (uint64_t)(1 + next(in) * 7), at;
    size_t len = next(in) * (size_t)(1 + next(in));
    if (!*f) {
        (void)vfs_open(s->fs, c, s->cwd, path(in), (int)(next(in) & 127), 0644, f);
        return;
    }
    VStat st;
    Chunk *chunk;
    Slice out;
    switch (next(in) % 6) {
    case 0: vfs_file_unref(s->fs, *f); *f = NULL; break;
    case 1: (void)vfs_write(s->fs, *f, off, slice(bytes, len), NULL, &at); break;
    case 2:
        if (vfs_read(s->fs, *f, off, len, bytes, &chunk, &out) == 0) {
            VFile *to = s->file[next(in) % FILES];
            if (to)
                (void)vfs_write(s->fs, to, off, out, chunk, &at);
            chunk_unref(vfs_gen(s->fs), chunk);
        }
        break;
    case 3: (void)vfs_file_truncate(s->fs, *f, off); break;
    case 4: (void)vfs_file_stat(s->fs, *f, &st); break;
    default: {
        VFile *to = s->file[next(in) % FILES];
        if (to)
            (void)vfs_clone(s->fs, *f, to);
    }
    }
}

static void look(Side *s, Input *in, const VCred *c)
{
    Mem mem;
    VDirent *list;
    VChange *changes;
    size_t count;
    char *text;
    mem_init(&mem, NULL, NULL, NULL);
    (void)vfs_list(s->fs, c, s->cwd, path(in), &mem, &list, &count);
    (void)vfs_realpath(s->fs, c, s->cwd, path(in), (RealpathMode)(next(in) % 3), &mem, &text);
    (void)vfs_changes(s->fs, &mem, &changes, &count);
    mem_drop(&mem);
}

static void step(Side *s, Side *other, Input *in)
{
    const VCred c = {next(in) & 1 ? 0 : 1000, 1000, 022};
    VDir *d;
    switch (next(in) % 17) {
    case 0: (void)vfs_mkdir(s->fs, &c, s->cwd, path(in), 0777); break;
    case 1: (void)vfs_rmdir(s->fs, &c, s->cwd, path(in)); break;
    case 2: (void)vfs_unlink(s->fs, &c, s->cwd, path(in)); break;
    case 3: (void)vfs_rename(s->fs, &c, s->cwd, path(in), NULL, path(in), next(in) & 1); break;
    case 4: (void)vfs_link(s->fs, &c, s->cwd, path(in), NULL, path(in), (int)next(in) & 1); break;
    case 5: (void)vfs_symlink(s->fs, &c, path(in), s->cwd, path(in)); break;
    case 6: (void)vfs_mknod(s->fs, &c, s->cwd, path(in), next(in) << 12 | 0644, next(in)); break;
    case 7: (void)vfs_chmod(s->fs, &c, s->cwd, path(in), (int)next(in) & 1, next(in) << 4); break;
    case 8: (void)vfs_chown(s->fs, &c, s->cwd, path(in), 0, next(in), next(in)); break;
    case 9: (void)vfs_truncate(s->fs, &c, s->cwd, path(in), next(in) * 1000u); break;
    case 10: look(s, in, &c); break;
    case 11:
        if (vfs_dir_open(s->fs, &c, s->cwd, path(in), &d) == 0) {
            vfs_dir_unref(s->fs, s->cwd);
            s->cwd = d;
        }
        break;
    case 12: side_fork(s, other); break;
    case 13: (void)(next(in) & 1 ? vfs_set_base(s->fs) : vfs_to_base(s->fs)); break;
    case 14: vfs_set_quota(s->fs, (VQuota){next(in) * 1000u, next(in) * 500u, next(in)}); break;
    default: use_file(s, in, &c); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input in = {data, data + MIN(size, 4096)};
    Side side[2] = {0};
    const char *why;
    for (int n = 0; n < 2; n++) {
        side[n].gen = gen_new(&side[n].budget, &side[n].budget, NULL);
        side[n].fs = vfs_new(side[n].gen);
    }
    side[0].budget.fail_at = side[0].budget.takes + 1 + next(&in) * 4u;
    side[0].budget.fail_forever = false;
    vfs_set_base(side[0].fs);
    while (in.at < in.end) {
        unsigned n = next(&in) & 1;
        step(&side[n], &side[1 - n], &in);
    }
    for (int n = 0; n < 2; n++)
        if (!vfs_check(side[n].fs, &why))
            abort();
    for (int n = 0; n < 2; n++)
        side_close(&side[n]);
    return 0;
}
