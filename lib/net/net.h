/* net: what the files of the component share. A hub has one multi handle a partition, all in one epoll set. */
#ifndef LIBSHELL_NET_COMPONENT_H
#define LIBSHELL_NET_COMPONENT_H

#include <curl/curl.h>
#include <stdatomic.h>

#include "lib/kernel/component.h"

enum { PARTITIONS = 16 };

typedef struct Hub Hub;

typedef struct Partition {
    Hub *hub;
    CURLM *multi;
    uint64_t id;
    unsigned transfers;   /* in use */
    int64_t timer_ns;     /* monotonic; < 0: none */
    uint64_t used;        /* when, for the choice of one to close */
} Partition;

struct Hub {
    int epoll, event;     /* event: an eventfd that wakes poll */
    Partition *partitions[PARTITIONS];
    uint64_t clock;
};

typedef struct Transfer {
    Partition *partition;
    CURL *easy;
    CURLU *url;
    struct curl_slist *headers, *resolve;
    const NetSink *sink;
    void *user;
    bool refused, disagrees, ended, filtered;
    CURLcode code;
    char message[CURL_ERROR_SIZE];
} Transfer;

void *hub_new(void *owner);
void hub_free(void *hub);
Partition *hub_partition(Hub *h, uint64_t id); /* NULL: no memory */
void hub_drop_idle(void *hub, uint64_t but);
void hub_perform(void *hub);
void hub_poll(void *hub, int64_t nanoseconds);
void hub_wake(void *hub);

void *transfer_start(void *hub, const NetStart *s);
void transfer_resume(void *transfer);
void transfer_result(void *transfer, NetResult *out);
void transfer_stop(void *transfer);
void transfer_done(Transfer *t, CURLcode code);

void *resolve_start(void *hub, const char *host, int family);
int resolve_result(void *resolution, uint8_t out[][16], int most);
void resolve_free(void *resolution);
void memory_set_up(void); /* libcurl, with memory that is wiped when it is freed */
bool own_address(const uint8_t address[16]);
bool idn_ascii(const char *utf8, char *out, size_t size);

#endif
