/* component: a table that a command cannot do without. */
#include "shared.h"

const void *need_component(Proc *p, const char *name, size_t size)
{
    int error;
    const void *table = proc_component_why(p, name, size, &error);
    if (error == -ESTALE)
        die(p, 1, "the component libshell-%s is of another version: it has to come with this libshell", name);
    if (!table)
        die(p, 1, "needs the component libshell-%s", name);
    return table;
}
