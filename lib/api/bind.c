/* bind: what is bound and mounted: noted for those who ask, added to and taken from a shell that is idle. */
#include <stdlib.h>

#include "internal.h"

/* ---------- notes ---------- */

shell_err bind_note(shell *sh, int32_t mode, uint32_t flags, const char *destination)
{
    size_t n = strlen(destination) + 1;
    BindNote *b = malloc(sizeof *b + n);
    if (!b)
        return api_fail(sh, SHELL_ENOMEM, "out of memory");
    *b = (BindNote){NULL, mode, flags};
    memcpy(b->destination, destination, n);
    BindNote **end = &sh->binds;
    while (*end)
        end = &(*end)->next;
    *end = b;
    return SHELL_OK;
}

BindNote *bind_noted(const shell *sh, const char *destination)
{
    BindNote *last = NULL;
    for (BindNote *b = sh->binds; b; b = b->next)
        if (strcmp(b->destination, destination) == 0)
            last = b;
    return last;
}

void bind_forget(shell *sh, const char *destination)
{
    const BindNote *last = bind_noted(sh, destination);
    for (BindNote **at = &sh->binds; *at; at = &(*at)->next)
        if (*at == last) {
            BindNote *gone = *at;
            *at = gone->next;
            free(gone);
            return;
        }
}

shell_err bind_copy_notes(shell *to, const shell *from)
{
    shell_err err = SHELL_OK;
    for (const BindNote *b = from->binds; b && !err; b = b->next)
        err = bind_note(to, b->mode, b->flags, b->destination);
    return err;
}

void bind_free_notes(shell *sh)
{
    while (sh->binds) {
        BindNote *next = sh->binds->next;
        free(sh->binds);
        sh->binds = next;
    }
}

/* ---------- binding ---------- */

bool bind_read(VBind *out, shell_bind *b, const shell_bind *given)
{
    *b = (shell_bind){0};
    if (!api_copy_struct(b, sizeof *b, given) || !b->source || !b->destination || b->mode < SHELL_BIND_COPY || b->mode > SHELL_BIND_OVERLAY)
        return false;
    *out = (VBind){.source = b->source, .destination = b->destination, .mode = (VBindMode)b->mode, .readonly = b->flags & SHELL_BIND_READONLY,
                   .write_linked = b->flags & SHELL_BIND_WRITE_LINKED, .uid = 1000, .gid = 1000};
    return true;
}

/* What a mount may cover: not the devices, not the whole. */
int api_mountable(const char *destination)
{
    static const char *const fixed[] = {"/", "/dev", "/proc", "/proc/self"};
    if (destination[0] != '/')
        return -EINVAL;
    for (size_t n = 0; n < ARRAY_LEN(fixed); n++)
        if (strcmp(destination, fixed[n]) == 0)
            return -EACCES;
    return 0;
}

shell_err shell_bind_add(shell *sh, const shell_bind *given)
{
    VBind bind;
    shell_bind b;
    const char *message = NULL;
    shell_err err = given ? api_enter_idle(sh) : SHELL_EINVAL;
    if (err)
        return err;
    if (!bind_read(&bind, &b, given))
        return api_fail(sh, SHELL_EINVAL, "bind: bad size or missing path");
    int e = vfs_bind_live(kern_vfs(sh->kernel), &bind, &message);
    if (e) {
        err = api_error(sh, e, b.source);
        return api_fail(sh, err, "%s: %s", b.source, message ? message : shell_strerror(err));
    }
    err = bind_note(sh, b.mode, b.flags, b.destination);
    if (err)
        vfs_unbind(kern_vfs(sh->kernel), b.destination, b.mode == SHELL_BIND_DIRECT);
    return err;
}

shell_err shell_bind_remove(shell *sh, const char *destination)
{
    shell_err err = destination ? api_enter_idle(sh) : SHELL_EINVAL;
    if (err)
        return err;
    const BindNote *b = bind_noted(sh, destination);
    if (!b || b->mode == BIND_CALLBACK)
        return api_fail(sh, SHELL_ENOENT, "%s: nothing is bound there", destination);
    int e = vfs_unbind(kern_vfs(sh->kernel), destination, b->mode == SHELL_BIND_DIRECT);
    if (!e)
        bind_forget(sh, destination);
    return api_error(sh, e, destination);
}
