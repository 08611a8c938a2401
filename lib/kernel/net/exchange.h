/* exchange: what the files of the request engine share. An Http belongs to the kernel; a process holds it by name and may die before it.
 * The net component is called on the caller's stack alone, by net_pump. */
#ifndef LIBSHELL_EXCHANGE_H
#define LIBSHELL_EXCHANGE_H

#include "lib/kernel/http.h"
#include "lib/kernel/internal.h"

enum { BODY_SMALL = 16 * 1024, BODY_ROOM = 512 * 1024, BODY_FULL = 256 * 1024, UPLOAD_ROOM = 128 * 1024, HEADS_MAX = 1024 * 1024 /* when there is no limit: of what is kept for -v, of a request line */, ADDRESSES_MAX = 32, PLACEHOLDER_MOST = 64 };

/* ASKING: the embedder, who may take steps to answer; the component has no part in it yet. */
typedef enum { HTTP_ASKING, HTTP_RESOLVING, HTTP_READY, HTTP_RUNNING, HTTP_ENDED } HttpState;

struct Http {
    Http *next;
    Kernel *kernel;
    Mem mem;                /* no handler: what the component calls must not raise. Wiped when it goes */
    Mem bodies;             /* what the script reads anyway: not wiped */
    WaitQueue queue;
    bool abandoned, wants_resume;
    HttpState state;
    NetConfig *config;      /* that it was allowed under; one reference */
    NetDecision decision;
    Url url;                /* as the script may see it */
    Slice method;
    const Credential *credential;
    Secret *secret;         /* that was put in; one reference */
    Redactor *redactor;
    int64_t hidden;         /* bytes that the credential added to the request */
    int64_t hidden_body;    /* and to its body */
    Slice sending;          /* the body as it goes out, when it does not stream */
    /* names */
    const char *host;
    int family;
    void *resolution;
    uint8_t addresses[ADDRESSES_MAX][16];
    int naddresses;
    /* the transfer */
    NetStart start;
    void *transfer;
    NetResult result;
    HttpError error;
    /* what came */
    Buf heads, trace;
    size_t last_head, traced;
    uint64_t most_heads;    /* 0: no limit */
    bool in_head, head_done;
    char last_trace;
    char *body[2];
    size_t body_len[2], body_room[2];
    int fill;               /* which of the two the transfer writes to */
    bool body_paused;
    /* what goes */
    char *upload;
    size_t upload_len, upload_at;
    bool upload_end, upload_paused;
    int64_t uploaded;       /* that the transfer has taken */
    char held[PLACEHOLDER_MOST];  /* the last bytes sent, where they may be a placeholder's beginning */
    size_t nheld;
    bool swaps;             /* the body streams, and placeholders in it are replaced */
};

typedef struct Net {
    NetConfig *config;      /* in force; behind the kernel's lock */
    uint64_t generation;
    const NetComponent *component;
    void *hub;
    Http *exchanges;
    unsigned active;
    uint64_t requests, downloaded, uploaded; /* of the run */
    bool changed;           /* the configuration did: exchanges are looked at again */
    bool leaves;            /* another component is wanted: the hub goes when its exchanges have gone */
} Net;

/* Builds h->start from what the script asks; false with h->error. May block (rotating secrets). */
bool http_prepare(Proc *p, Http *h, const HttpRequest *r);
/* Header lines as they go out, NULL behind them. */
typedef struct HttpLines {
    Http *h;
    const char **line;
    size_t n, cap;
} HttpLines;
bool http_add_line(HttpLines *l, Slice text);
bool http_same_name(Slice a, Slice b);
void http_put_base64(Buf *b, Slice s);
void http_put_percent(Buf *b, Slice s);
/* Puts the secret where the script put the placeholder; h->secret is there. False with h->error. */
bool http_put_placeholder(Http *h, HttpLines *l);
/* Adds what the embedder answers as header lines. False with h->error. May block. */
bool http_sign(Proc *p, Http *h, HttpLines *l);
void http_fail(Http *h, int code, bool refused, const char *format, ...) PRINTF_LIKE(4, 5);
extern const NetSink http_sink;
/* Is `a` one that this exchange may talk to? */
bool http_address_allowed(const Http *h, const uint8_t a[16]);
uint64_t http_credential_number(const Http *h); /* in the order they were given, from 1; 0: none */
void http_free(Http *h);
int http_ask(Proc *p, NetAsk *ask); /* 0, or what the embedder answered */

#endif
