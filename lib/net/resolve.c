/* resolve: getaddrinfo on a thread of its own, so that a deadline never waits for it; the host's own addresses; host names in Unicode. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <idn2.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net.h"

enum { MOST = 32 };

/* Held by the asker and by the thread. The hub may be gone when the thread ends, so it has a descriptor of its own to wake it by. */
typedef struct Resolution {
    _Atomic int holders;
    _Atomic bool done;
    int event, family, count;
    uint8_t found[MOST][16];
    char host[];
} Resolution;

static void leave(Resolution *r)
{
    if (atomic_fetch_sub(&r->holders, 1) != 1)
        return;
    close(r->event);
    free(r);
}

static void take(Resolution *r, const struct sockaddr *a)
{
    uint8_t *out = r->found[r->count];
    memset(out, 0, 16);
    if (a->sa_family == AF_INET) {
        out[10] = out[11] = 0xff;
        memcpy(out + 12, &((const struct sockaddr_in *)(const void *)a)->sin_addr, 4);
    } else if (a->sa_family == AF_INET6) {
        memcpy(out, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, 16);
    } else {
        return;
    }
    r->count++;
}

static void *look_up(void *arg)
{
    Resolution *r = arg;
    struct addrinfo hints = {.ai_family = r->family == 4 ? AF_INET : r->family == 6 ? AF_INET6 : AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *list = NULL;
    int err = getaddrinfo(r->host, NULL, &hints, &list);
    for (struct addrinfo *a = list; !err && a && r->count < MOST; a = a->ai_next)
        take(r, a->ai_addr);
    if (err)
        r->count = err == EAI_NONAME || err == EAI_NODATA ? -2 : -3;
    else
        freeaddrinfo(list);
    atomic_store(&r->done, true);
    uint64_t one = 1;
    ssize_t n = write(r->event, &one, sizeof one);
    (void)n;
    leave(r);
    return NULL;
}

void *resolve_start(void *hub, const char *host, int family)
{
    size_t n = strlen(host) + 1;
    Resolution *r = calloc(1, sizeof *r + n);
    if (!r)
        return NULL;
    memcpy(r->host, host, n);
    r->family = family;
    r->event = fcntl(((Hub *)hub)->event, F_DUPFD_CLOEXEC, 0);
    atomic_store(&r->holders, 2);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool started = r->event >= 0 && pthread_create(&thread, &attributes, look_up, r) == 0;
    pthread_attr_destroy(&attributes);
    if (started)
        return r;
    if (r->event >= 0)
        close(r->event);
    free(r);
    return NULL;
}

int resolve_result(void *resolution, uint8_t out[][16], int most)
{
    Resolution *r = resolution;
    if (!atomic_load(&r->done))
        return -1;
    int n = r->count < most ? r->count : most;
    if (n > 0)
        memcpy(out, r->found, (size_t)n * 16);
    return n;
}

void resolve_free(void *resolution) { leave(resolution); }

bool own_address(const uint8_t address[16])
{
    struct ifaddrs *list;
    bool found = false;
    static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
    if (getifaddrs(&list) != 0)
        return true; /* not known to be another's */
    for (struct ifaddrs *i = list; i; i = i->ifa_next) {
        if (!i->ifa_addr)
            continue;
        if (i->ifa_addr->sa_family == AF_INET)
            found |= memcmp(address, mapped, 12) == 0 && memcmp(address + 12, &((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr, 4) == 0;
        if (i->ifa_addr->sa_family == AF_INET6)
            found |= memcmp(address, &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr, 16) == 0;
    }
    freeifaddrs(list);
    return found;
}

bool idn_ascii(const char *utf8, char *out, size_t size)
{
    uint8_t *ascii = NULL;
    int err = idn2_lookup_u8((const uint8_t *)utf8, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    bool fits = err == IDN2_OK && strlen((char *)ascii) < size;
    if (fits)
        strcpy(out, (char *)ascii);
    idn2_free(ascii);
    return fits;
}
