/* component: taking what the embedder hands over. */
#include <string.h>

#include "internal.h"
#include "lib/base/guard.h"

static int take(shell *sh, const char *name)
{
    const shell_component *c = sh->component ? sh->component(sh->component_user, name) : NULL;
    if (!c || c->size < sizeof *c || strcmp(c->name, name) != 0)
        return -ENOENT;
    if (GUARD(COMPONENT_VERSION, strcmp(c->version, SHELL_VERSION) != 0))
        return -ESTALE;
    return kern_component_set(sh->kernel, name, c->table, (size_t)c->table_size);
}

void component_serve(shell *sh, const char *name, uint64_t request)
{
    sh->in_callback = true;
    int err = take(sh, name);
    sh->in_callback = false;
    kern_answer(sh->kernel, request, err);
}
