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

static size_t room(const char *s) { return s ? strlen(s) + 1 : 0; }

static const char *put(char **at, const char *s)
{
    char *begin = *at;
    if (!s)
        return NULL;
    memcpy(begin, s, room(s));
    *at += room(s);
    return begin;
}

void kern_event(Kernel *k, EventKind kind, pid_t pid, const char *subject, const char *detail, int value)
{
    kern_tell(k, &(Event){.kind = kind, .pid = pid, .subject = subject, .detail = detail, .value = value});
}

void kern_tell(Kernel *k, const Event *e)
{
    if (!k->options.event)
        return;
    EventNode *n = malloc(sizeof *n + room(e->subject) + room(e->detail) + room(e->partition));
    if (!n)
        return;
    char *at = n->text;
    n->next = NULL;
    n->event = *e;
    n->event.subject = put(&at, e->subject);
    n->event.detail = put(&at, e->detail);
    n->event.partition = put(&at, e->partition);
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
