/* component: a table that a command cannot do without. */
#include "shared.h"

const void *need_component(Proc *p, const char *name, size_t size)
{
    const void *table = proc_component(p, name, size);
    if (!table)
        die(p, 1, "needs the component libshell-%s", name);
    return table;
}
