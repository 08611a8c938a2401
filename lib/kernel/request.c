/* request: numbered questions to the host, events for it, custom commands. */
#include <stdlib.h>

#include "host.h"
#include "internal.h"

/* ---------- requests ---------- */

static void withdraw(Proc *p, void *thing)
{
    Kernel *k = p->kernel;
    pthread_mutex_lock(&k->lock);
    for (RequestNode **link = &k->requests; *link; link = &(*link)->next)
        if (*link == thing) {
            *link = (*link)->next;
            break;
        }
    pthread_mutex_unlock(&k->lock);
}

int proc_request(Proc *p, Request *r)
{
    Kernel *k = p->kernel;
    output_flush(p->out);
    RequestNode *n = mem_alloc0(&p->keep, sizeof *n);
    n->request = r;
    pthread_mutex_lock(&k->lock);
    r->id = ++k->next_request;
    RequestNode **link = &k->requests;
    while (*link)
        link = &(*link)->next;
    *link = n;
    pthread_mutex_unlock(&k->lock);
    atomic_store(&k->yields, true); /* others may never come to rest */
    proc_own(p, withdraw, n);
    while (!n->answered)
        task_block(p, &n->queue, -1);
    r->result = n->result;
    proc_disown(p, n);
    return r->result;
}

Request *kern_request(Kernel *k, uint64_t after)
{
    pthread_mutex_lock(&k->lock);
    RequestNode *n = k->requests;
    while (n && (n->answered || n->request->id <= after))
        n = n->next;
    pthread_mutex_unlock(&k->lock);
    return n ? n->request : NULL;
}

int kern_answer(Kernel *k, uint64_t id, int result)
{
    pthread_mutex_lock(&k->lock);
    RequestNode *n = k->requests;
    while (n && (n->answered || n->request->id != id))
        n = n->next;
    if (n) {
        n->answered = true;
        n->result = result;
        atomic_store(&k->woken, true);
        pthread_cond_broadcast(&k->wake);
        net_wake(k);
    }
    pthread_mutex_unlock(&k->lock);
    return n ? 0 : -ENOENT;
}

/* ---------- custom commands ---------- */

int kern_command_set(Kernel *k, const char *name, const struct Command *c, void *user)
{
    Custom **link = &k->customs;
    while (*link && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    if (*link) {
        Custom *old = *link;
        *link = old->next;
        free(old);
    }
    if (!c)
        return 0;
    size_t n = strlen(name) + 1;
    Custom *fresh = malloc(sizeof *fresh + n);
    if (!fresh)
        return -ENOMEM;
    *fresh = (Custom){k->customs, c, user};
    memcpy(fresh->name, name, n);
    k->customs = fresh;
    return 0;
}
