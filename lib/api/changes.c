/* changes: what a shell's files differ in from what it was opened with, briefly and in full. */
#include <stdlib.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "internal.h"

shell_err shell_changes(shell *sh, shell_change **out, uint64_t *count)
{
    Call c;
    shell_err err = out && count ? call_begin(&c, sh, "changes") : SHELL_EINVAL;
    if (err)
        return err;
    VChange *changes;
    size_t n, bytes = 1;
    int e = vfs_changes(c.fs, &c.mem, &changes, &n);
    if (e)
        return call_end(&c, e, "changes");
    for (size_t i = 0; i < n; i++)
        bytes += strlen(changes[i].path) + 1;
    shell_change *block = malloc(n * sizeof *block + bytes);
    if (!block)
        return call_end(&c, -ENOMEM, "changes");
    char *text = (char *)(block + n);
    for (size_t i = 0; i < n; i++) {
        block[i] = (shell_change){text, (int32_t)changes[i].kind, changes[i].stat.mode, changes[i].stat.size};
        text = stpcpy(text, changes[i].path) + 1;
    }
    *out = block;
    *count = n;
    return call_end(&c, 0, "changes");
}

/* ---------- in full ---------- */

static int add_part(void *user, Slice part)
{
    XXH3_128bits_update(user, part.data, part.len);
    return 0;
}

/* Of a regular file's bytes, in hexadecimal; empty for anything else. */
static int digest(Call *c, XXH3_state_t *state, const VStat *st, bool base, char out[33])
{
    XXH128_canonical_t sum;
    out[0] = 0;
    if ((st->mode & S_IFMT) != S_IFREG)
        return 0;
    XXH3_128bits_reset(state);
    int r = vfs_content(c->fs, st->ino, base, add_part, state);
    if (r)
        return r;
    XXH128_canonicalFromHash(&sum, XXH3_128bits_digest(state));
    for (int n = 0; n < 16; n++) {
        out[2 * n] = "0123456789abcdef"[sum.digest[n] >> 4];
        out[2 * n + 1] = "0123456789abcdef"[sum.digest[n] & 15];
    }
    out[32] = 0;
    return 0;
}

static int take_target(void *user, Slice part)
{
    Buf *b = user;
    return buf_append(b, part) ? 0 : -ENOMEM;
}

static int fill_info(Call *c, XXH3_state_t *state, const VChange *x, Buf *text, shell_change_info *out)
{
    bool there = x->kind != VCHANGE_DELETED;
    const VStat none = {0}, *now = there ? &x->stat : &none;
    int64_t ns;
    *out = (shell_change_info){
        .size = sizeof *out, .kind = (int32_t)x->kind, .mode = now->mode, .old_mode = x->old.mode, .nlink = now->nlink, .ino = now->ino,
        .bytes = now->size, .old_bytes = x->old.size,
    };
    if (!__builtin_mul_overflow(now->mtime, 1000000000, &ns) && !__builtin_add_overflow(ns, now->mtime_ns, &ns))
        out->mtime_ns = ns;
    int r = state ? digest(c, state, now, false, out->digest) : 0;
    if (r == 0 && state)
        r = digest(c, state, &x->old, true, out->old_digest);
    /* Texts lie behind one another; the pointers follow when the block does not move any more. */
    if (r == 0 && !(buf_append(text, slice_str(x->path)) && buf_char(text, 0)))
        r = -ENOMEM;
    if (r == 0 && (now->mode & S_IFMT) == S_IFLNK)
        r = vfs_content(c->fs, now->ino, false, take_target, text);
    return r ? r : buf_char(text, 0) ? 0 : -ENOMEM;
}

static int fill_all(Call *c, XXH3_state_t *state, const VChange *list, size_t n, shell_change_info **out)
{
    Buf text;
    buf_init(&text, &c->mem, BUF_MAX);
    shell_change_info *info = mem_array(&c->mem, n, shell_change_info);
    int r = info ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < n; i++)
        r = fill_info(c, state, &list[i], &text, &info[i]);
    shell_change_info *block = r ? NULL : malloc(n * sizeof *block + text.len + 1);
    if (!block)
        return r ? r : -ENOMEM;
    char *at = (char *)(block + n);
    if (text.len)
        memcpy(at, text.data, text.len);
    for (size_t i = 0; i < n; i++) {
        block[i] = info[i];
        block[i].path = at;
        block[i].target = at += strlen(at) + 1;
        at += strlen(at) + 1;
    }
    *out = block;
    return 0;
}

shell_err shell_changes_full(shell *sh, uint32_t flags, shell_change_info **out, uint64_t *count)
{
    Call c;
    shell_err err = out && count ? call_begin(&c, sh, "changes") : SHELL_EINVAL;
    if (err)
        return err;
    VChange *list;
    size_t n;
    XXH3_state_t *state = flags & SHELL_CHANGES_DIGESTS ? XXH3_createState() : NULL;
    int e = flags & SHELL_CHANGES_DIGESTS && !state ? -ENOMEM : vfs_changes(c.fs, &c.mem, &list, &n);
    if (!e)
        e = fill_all(&c, state, list, n, out);
    XXH3_freeState(state);
    if (!e)
        *count = n;
    return call_end(&c, e, "changes");
}
