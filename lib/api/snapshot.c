/* snapshot: a shell as bytes, and back; images from directories and snapshots.
 *
 * A header (magic, version, length), the files, the language's state, cwd and umask, and a checksum over all before it. The
 * checksum finds damage; it is no defence against somebody who makes one: so nothing of the content is believed either.
 */
#include <stdlib.h>
#include <xxhash.h>

#include "internal.h"
#include "lib/base/guard.h"
#include "lib/base/pack.h"

static const char magic[8] = "libshell";
enum { VERSION = 1, HEADER = sizeof magic + 4 + 8, CHECKSUM = 16 };

static const char **bind_list(const shell *sh, size_t *count)
{
    size_t n = 0;
    for (const BindNote *b = sh->binds; b; b = b->next)
        n++;
    const char **list = malloc((n + 1) * sizeof *list);
    *count = 0;
    for (const BindNote *b = sh->binds; list && b; b = b->next)
        list[(*count)++] = b->destination;
    return list;
}

static void put_checksum(Buf *b)
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(b->data, b->len));
    buf_append(b, slice((const char *)sum.digest, CHECKSUM));
}

/* ---------- saving ---------- */

static int save_place(shell *sh, Buf *b, Mem *mem)
{
    Proc *p = kern_main(sh->kernel);
    char *path = NULL;
    int r = vfs_dir_path(kern_vfs(sh->kernel), p->cwd, mem, &path);
    if (r == -ENOMEM)
        return r;
    pack_bytes(b, slice_str(r ? "/" : path));
    pack_u32(b, p->cred.umask);
    return 0;
}

static int save(shell *sh, Buf *b, Mem *scratch)
{
    size_t n;
    const char **binds = bind_list(sh, &n);
    if (!binds)
        return -ENOMEM;
    buf_append(b, slice(magic, sizeof magic));
    pack_u32(b, VERSION);
    pack_u64(b, 0);
    int r = vfs_save(kern_vfs(sh->kernel), base_image(), binds, n, b);
    free(binds);
    if (r == 0)
        r = lang_save(sh->lang, sh->kernel, b);
    if (r == 0)
        r = save_place(sh, b, scratch);
    if (r || b->failed)
        return r ? r : -ENOMEM;
    uint64_t length = b->len - HEADER;
    for (unsigned i = 0; i < 8; i++)
        b->data[sizeof magic + 4 + i] = (char)(length >> (8 * i) & 255);
    put_checksum(b);
    return b->failed ? -ENOMEM : 0;
}

shell_err shell_snapshot(shell *sh, char **out, uint64_t *len)
{
    shell_err err = out && len ? api_enter_idle(sh) : SHELL_EINVAL;
    if (err)
        return err;
    Mem mem, scratch;
    Buf b;
    mem_init(&mem, NULL, NULL, NULL);
    mem_init(&scratch, NULL, NULL, NULL);
    buf_init(&b, &mem, BUF_MAX);
    sh->in_callback = true; /* lazy files may be asked for */
    int r = save(sh, &b, &scratch);
    sh->in_callback = false;
    err = r ? api_error(sh, r, "snapshot") : api_give(&b, out, len);
    mem_drop(&scratch);
    mem_drop(&mem);
    return err;
}

/* ---------- restoring ---------- */

static shell_err check(shell *sh, const char *data, uint64_t len, Unpack *in)
{
    *in = (Unpack){{data, (size_t)len}, false};
    if (len < HEADER + CHECKSUM || memcmp(data, magic, sizeof magic) != 0)
        return api_fail(sh, SHELL_EINVAL, "restore: not a snapshot");
    unpack_raw(in, sizeof magic);
    uint32_t version = unpack_u32(in);
    if (version != VERSION)
        return api_fail(sh, SHELL_ENOTSUP, "restore: the snapshot has version %u, this library reads %d", version, VERSION);
    if (unpack_u64(in) != len - HEADER - CHECKSUM)
        return api_fail(sh, SHELL_EINVAL, "restore: the snapshot is cut short or damaged");
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(data, (size_t)(len - CHECKSUM)));
    if (GUARD(SNAPSHOT_DAMAGE, memcmp(sum.digest, data + len - CHECKSUM, CHECKSUM) != 0))
        return api_fail(sh, SHELL_EINVAL, "restore: the snapshot is damaged: its checksum differs");
    in->left.len -= CHECKSUM;
    return SHELL_OK;
}

/* The saved directory, or home, or the root; without memory for any the shell stays where it was. */
static void enter(shell *sh, const char *path)
{
    Proc *p = kern_main(sh->kernel);
    Vfs *fs = kern_vfs(sh->kernel);
    const char *const places[] = {path, "/home/agent", "/"};
    VDir *d;
    for (size_t n = 0; n < ARRAY_LEN(places); n++)
        if (vfs_dir_open(fs, &p->cred, NULL, places[n], &d) == 0) {
            vfs_dir_unref(fs, p->cwd);
            p->cwd = d;
            return;
        }
}

typedef struct {
    VfsLoaded *files;
    LangLoaded *lang;
    Slice cwd;
    uint32_t umask;
} Loaded;

static int load(shell *sh, Unpack *in, Loaded *out)
{
    size_t n;
    const char **binds = bind_list(sh, &n);
    if (!binds)
        return -ENOMEM;
    int r = vfs_load(kern_vfs(sh->kernel), base_image(), binds, n, in, &out->files);
    free(binds);
    if (r == 0)
        r = lang_load(sh->lang, sh->kernel, in, &out->lang);
    out->cwd = unpack_bytes(in);
    out->umask = unpack_u32(in);
    if (r == 0 && (in->bad || in->left.len || out->umask > 0777 || !out->cwd.len || out->cwd.len > 4095 || out->cwd.data[0] != '/' ||
                   memchr(out->cwd.data, 0, out->cwd.len)))
        r = -EINVAL;
    return r;
}

static void commit(shell *sh, const Loaded *l)
{
    char cwd[4096];
    memcpy(cwd, l->cwd.data, l->cwd.len);
    cwd[l->cwd.len] = 0;
    vfs_load_commit(kern_vfs(sh->kernel), l->files);
    lang_load_commit(sh->lang, sh->kernel, l->lang);
    kern_main(sh->kernel)->cred.umask = l->umask;
    enter(sh, cwd);
}

shell_err shell_restore(shell *sh, const char *data, uint64_t len)
{
    Unpack in;
    Loaded l = {0};
    shell_err err = data ? api_enter_idle(sh) : SHELL_EINVAL;
    if (!err)
        err = check(sh, data, len, &in);
    if (err)
        return err;
    sh->in_callback = true;
    int r = load(sh, &in, &l);
    sh->in_callback = false;
    if (r == 0) {
        commit(sh, &l);
        return SHELL_OK;
    }
    if (l.files)
        vfs_load_drop(kern_vfs(sh->kernel), l.files);
    if (l.lang)
        lang_load_drop(sh->kernel, l.lang);
    if (r == -ENOENT)
        return api_fail(sh, SHELL_ENOENT, "restore: the snapshot needs a bind that this shell has not");
    return r == -EINVAL ? api_fail(sh, SHELL_EINVAL, "restore: the snapshot makes no sense") : api_error(sh, r, "restore");
}

shell_err shell_image_from_snapshot(const char *data, uint64_t len, shell_image **out)
{
    shell *sh;
    if (!out)
        return SHELL_EINVAL;
    *out = NULL;
    shell_err err = shell_open(NULL, &sh);
    if (err)
        return err;
    err = shell_restore(sh, data, len);
    if (!err)
        err = shell_image_of(sh, out);
    shell_close(sh);
    return err;
}
