/* hub: the event loop of one shell's transfers: libcurl's multi handles over one epoll set. */
#include "net.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static int64_t monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---------- what libcurl tells ---------- */

/* epoll hands back which partition a socket is of, and the socket: 16 bits would do for neither alone, so both share 64. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *known)
{
    Partition *p = user;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(p->hub->epoll, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    unsigned slot = 0;
    while (slot < PARTITIONS && p->hub->partitions[slot] != p)
        slot++;
    struct epoll_event e = {.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u),
                            .data.u64 = (uint64_t)slot << 32 | (uint32_t)fd};
    if (epoll_ctl(p->hub->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e) != 0)
        epoll_ctl(p->hub->epoll, known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &e);
    curl_multi_assign(p->multi, fd, p);
    return 0;
}

static int on_timer(CURLM *multi, long milliseconds, void *user)
{
    Partition *p = user;
    (void)multi;
    p->timer_ns = milliseconds < 0 ? -1 : monotonic() + (int64_t)milliseconds * 1000000;
    return 0;
}

/* ---------- partitions ---------- */

static void partition_free(Partition *p)
{
    curl_multi_cleanup(p->multi);
    free(p);
}

static Partition *partition_new(Hub *h, uint64_t id)
{
    Partition *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (Partition){.hub = h, .id = id, .timer_ns = -1, .multi = curl_multi_init()};
    if (!p->multi) {
        free(p);
        return NULL;
    }
    curl_multi_setopt(p->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(p->multi, CURLMOPT_SOCKETDATA, p);
    curl_multi_setopt(p->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(p->multi, CURLMOPT_TIMERDATA, p);
    curl_multi_setopt(p->multi, CURLMOPT_MAXCONNECTS, 16L);
    return p;
}

/* A free place, or that of the partition that has been idle longest; -1 when all are busy. */
static int place_for(Hub *h)
{
    int best = -1;
    for (int i = 0; i < PARTITIONS; i++) {
        Partition *p = h->partitions[i];
        if (!p)
            return i;
        if (!p->transfers && (best < 0 || p->used < h->partitions[best]->used))
            best = i;
    }
    return best;
}

Partition *hub_partition(Hub *h, uint64_t id)
{
    for (int i = 0; i < PARTITIONS; i++)
        if (h->partitions[i] && h->partitions[i]->id == id) {
            h->partitions[i]->used = ++h->clock;
            return h->partitions[i];
        }
    int place = place_for(h);
    Partition *p = place < 0 ? NULL : partition_new(h, id);
    if (!p)
        return NULL;
    if (h->partitions[place])
        partition_free(h->partitions[place]);
    h->partitions[place] = p;
    p->used = ++h->clock;
    return p;
}

void hub_drop_idle(void *hub, uint64_t but)
{
    Hub *h = hub;
    for (int i = 0; i < PARTITIONS; i++)
        if (h->partitions[i] && !h->partitions[i]->transfers && h->partitions[i]->id != but) {
            partition_free(h->partitions[i]);
            h->partitions[i] = NULL;
        }
}

void *hub_new(void *owner)
{
    (void)owner;
    Hub *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = UINT64_MAX};
    h->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    h->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (h->event >= 0 && h->epoll >= 0 && epoll_ctl(h->epoll, EPOLL_CTL_ADD, h->event, &e) == 0)
        return h;
    hub_free(h);
    return NULL;
}

void hub_free(void *hub)
{
    Hub *h = hub;
    for (int i = 0; i < PARTITIONS; i++)
        if (h->partitions[i])
            partition_free(h->partitions[i]);
    if (h->epoll >= 0)
        close(h->epoll);
    if (h->event >= 0)
        close(h->event);
    free(h);
}

/* ---------- the loop ---------- */

static void collect_done(Partition *p)
{
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(p->multi, &left));) {
        Transfer *t = NULL;
        if (m->msg == CURLMSG_DONE && curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t) == CURLE_OK && t)
            transfer_done(t, m->data.result);
    }
}

static void run_timers(Hub *h)
{
    int running;
    int64_t now = monotonic();
    for (int i = 0; i < PARTITIONS; i++) {
        Partition *p = h->partitions[i];
        if (p && p->timer_ns >= 0 && p->timer_ns <= now) {
            p->timer_ns = -1;
            curl_multi_socket_action(p->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        if (p)
            collect_done(p);
    }
}

static void serve(Hub *h, const struct epoll_event *e)
{
    int running, bits = 0;
    if (e->data.u64 == UINT64_MAX) {
        uint64_t count;
        ssize_t n = read(h->event, &count, sizeof count);
        (void)n;
        return;
    }
    unsigned slot = (unsigned)(e->data.u64 >> 32);
    Partition *p = slot < PARTITIONS ? h->partitions[slot] : NULL;
    bits |= e->events & EPOLLIN ? CURL_CSELECT_IN : 0;
    bits |= e->events & EPOLLOUT ? CURL_CSELECT_OUT : 0;
    bits |= e->events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0;
    if (p)
        curl_multi_socket_action(p->multi, (curl_socket_t)(e->data.u64 & 0xffffffffu), bits, &running);
}

void hub_perform(void *hub)
{
    Hub *h = hub;
    struct epoll_event events[32];
    run_timers(h);
    int n = epoll_wait(h->epoll, events, 32, 0);
    for (int i = 0; i < n; i++)
        serve(h, &events[i]);
    run_timers(h);
}

void hub_poll(void *hub, int64_t nanoseconds)
{
    Hub *h = hub;
    struct epoll_event e;
    int64_t now = monotonic(), until = nanoseconds < 0 ? INT64_MAX : now + nanoseconds;
    for (int i = 0; i < PARTITIONS; i++)
        if (h->partitions[i] && h->partitions[i]->timer_ns >= 0 && h->partitions[i]->timer_ns < until)
            until = h->partitions[i]->timer_ns;
    int64_t wait = until == INT64_MAX ? -1 : until <= now ? 0 : (until - now + 999999) / 1000000;
    epoll_wait(h->epoll, &e, 1, (int)(wait > 3600000 ? 3600000 : wait)); /* level-triggered: perform sees it again */
}

void hub_wake(void *hub)
{
    uint64_t one = 1;
    ssize_t n = write(((Hub *)hub)->event, &one, sizeof one);
    (void)n;
}
