/* event: what happened, queued by processes and told to the embedder on the caller's stack. */
#include <stdlib.h>

#include "internal.h"

enum { MOST_EVENTS = 1024 };

typedef struct EventNode {
    struct EventNode *next;
    Event event;
    char text[];
} EventNode;

bool events_wait(const Kernel *k) { return k->nevents >= MOST_EVENTS; }

void kern_event(Kernel *k, EventKind kind, pid_t pid, const char *subject, const char *detail, int value)
{
    if (!k->options.event)
        return;
    size_t ns = strlen(subject) + 1, nd = detail ? strlen(detail) + 1 : 0;
    EventNode *n = malloc(sizeof *n + ns + nd);
    if (!n)
        return;
    memcpy(n->text, subject, ns);
    if (detail)
        memcpy(n->text + ns, detail, nd);
    n->next = NULL;
    n->event = (Event){kind, pid, n->text, detail ? n->text + ns : NULL, value, 0, 0};
    n->event.seconds = kern_now(k, &n->event.nanosecond);
    EventNode **end = &k->events;
    if (k->events_end && k->events)
        end = k->events_end;
    *end = n;
    k->events_end = &n->next;
    k->nevents++;
    if (events_wait(k))
        kern_expire(k);
}

void proc_log(Proc *p, const char *tag, const char *text, int priority) { kern_event(p->kernel, EVENT_LOG, p->pid, tag, text, priority); }

void kern_events_set(Kernel *k, void (*event)(void *user, const Event *e), void *user)
{
    k->options.event = event;
    k->options.event_user = user;
    kern_guard_files(k);
}

void events_deliver(Kernel *k)
{
    while (k->events) {
        EventNode *n = k->events;
        k->events = n->next;
        k->nevents--;
        k->options.event(k->options.event_user, &n->event);
        free(n);
    }
    k->events_end = NULL;
}
