/* component: asking the embedder for a table once, and the allocator that libraries get. */
#include "component.h"

#include <stdlib.h>

#include "internal.h"

const void *proc_component_why(Proc *p, const char *name, size_t size, int *error)
{
    size_t have;
    const void *table = kern_component(p->kernel, name, &have);
    *error = 0;
    if (!table) {
        Request r = {.kind = REQUEST_COMPONENT, .ask = name};
        *error = proc_request(p, &r);
        if (*error)
            return NULL;
        table = kern_component(p->kernel, name, &have);
    }
    if (table && have == size)
        return table;
    *error = table ? -ESTALE : -ENOENT;
    return NULL;
}

const void *proc_component(Proc *p, const char *name, size_t size)
{
    int error;
    return proc_component_why(p, name, size, &error);
}

int kern_component_set(Kernel *k, const char *name, const void *table, size_t size)
{
    Component *c = mem_alloc(&k->mem, sizeof *c);
    char *copy = c ? mem_strdup(&k->mem, name) : NULL;
    if (!copy)
        return -ENOMEM;
    *c = (Component){k->components, copy, table, size};
    k->components = c;
    return 0;
}

const void *kern_component(const Kernel *k, const char *name, size_t *size)
{
    for (const Component *c = k->components; c; c = c->next)
        if (strcmp(c->name, name) == 0) {
            *size = c->size;
            return c->table;
        }
    return NULL;
}

/* Blocks remember their size before them, at malloc's alignment. */
typedef union Header {
    size_t size;
    max_align_t align;
} Header;

static void *charged_alloc(void *user, size_t n)
{
    Budget *b = user;
    size_t total;
    if (__builtin_add_overflow(n, sizeof(Header), &total) || !budget_take(b, total))
        return NULL;
    Header *h = malloc(total);
    if (!h) {
        budget_give(b, total);
        return NULL;
    }
    h->size = total;
    return h + 1;
}

static void charged_free(void *user, void *block)
{
    if (!block)
        return;
    Header *h = (Header *)block - 1;
    budget_give(user, h->size);
    free(h);
}

const ComponentMem *proc_component_mem(Proc *p)
{
    ComponentMem *m = mem_alloc(&p->keep, sizeof *m);
    *m = (ComponentMem){charged_alloc, charged_free, kern_budget(p->kernel)};
    return m;
}
