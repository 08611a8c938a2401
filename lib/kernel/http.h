/* http: requests to other machines, in a process's name. The one road from a command to the network.
 *
 * http_open parses the URL, asks the rules, checks what the script put into the request, adds a credential, resolves the name, filters
 * the addresses and starts the transfer; the net component does the bytes. Bodies stream both ways through buffers of a fixed size. What
 * comes back passes the redaction of the secrets that went out.
 *
 * Codes and words of failures are curl's: the commands print them. Calls block the process and may raise; an exchange that its
 * process forgets is stopped when the process ends.
 */
#ifndef LIBSHELL_HTTP_H
#define LIBSHELL_HTTP_H

#include "component.h"
#include "kernel.h"
#include "net.h"

typedef struct Http Http;

enum { HTTP_UNSUPPORTED = 1, HTTP_MALFORMED = 3, HTTP_NO_HOST = 6, HTTP_NO_CONNECT = 7, HTTP_NO_MEMORY = 27, HTTP_READ_ERROR = 26, HTTP_BAD_OPTION = 43, HTTP_RECEIVE_ERROR = 56 };

typedef struct HttpError {
    int code;           /* curl's; 0: none */
    bool refused;       /* by policy */
    char message[320];
} HttpError;

typedef struct HttpRequest {
    Slice url;          /* as the script spells it, with a scheme */
    Slice method;
    const Slice *headers; /* lines: "Name: value"; "Name:" takes out one that would be sent by itself; "Name;" sends it empty */
    size_t nheaders;
    const char *user_agent, *referer, *cookie, *range, *accept_encoding, *user, *password, *bearer; /* NULL: none */
    bool no_body;         /* the answer has none, whatever the method says; so it is for HEAD */
    bool fail, http09;    /* as NetStart's */
    int64_t resume_from;  /* of an upload */
    bool has_body, post;  /* post: a form's unless a header says otherwise */
    bool streams;         /* the body comes by http_send; else it is `body`, which must stay until http_close */
    int64_t body_len;     /* of a body that streams; < 0: unknown */
    /* Of a body that streams with a known length: how often `text` is in it. NULL: placeholders in it stay. May block. */
    int64_t (*count)(Proc *p, void *user, Slice text);
    void *count_user;
    Slice body;
    bool insecure;
    int family;           /* 0, 4, 6 */
    int http_version;     /* NET_HTTP_* */
    int64_t connect_timeout_ms, timeout_ms, max_file_size, max_receive_speed, max_send_speed, low_speed_limit, low_speed_time; /* as NetStart's */
    int tls_min;
    bool crossed;         /* private: a redirect left the origin it began at */
    unsigned hops;        /* private */
} HttpRequest;

/* NULL with *e filled when nothing was sent. All strings may go after it returned, but for `body`. */
Http *http_open(Proc *p, const HttpRequest *r, HttpError *e);
/* Whether an unverified certificate may be asked for at all. */
bool http_insecure_allowed(Proc *p);
/* More of a body that streams: false when it is not wanted any more. */
bool http_send(Proc *p, Http *h, Slice data);
void http_send_end(Http *h);
/* Waits until the answer's head is complete (interim answers are passed over) or the exchange has ended; false: it ended without. */
bool http_head(Proc *p, Http *h);
/* Bytes of the body as they come, valid until the next call; 0 at the end, whether good or bad: http_error tells. Waits at most until the
 * monotonic time `until` (< 0: for ever): -ETIMEDOUT. */
ssize_t http_read(Proc *p, Http *h, Slice *out, int64_t until);
void http_close(Proc *p, Http *h);

const HttpError *http_error(const Http *h);     /* of an exchange that has ended */
const NetResult *http_result(Http *h);          /* so far, or of the end */
const Url *http_url(const Http *h);             /* canonical, without credentials */
Slice http_heads(const Http *h);                /* every head that came, redacted, blocks one behind the other */
Slice http_last_head(const Http *h);            /* the last of them */
int http_status(const Http *h);                 /* its three digits; 0: it has none */
bool http_header(const Http *h, const char *name, Slice *value); /* of the last head, trimmed; false: none */
/* What curl -v shows, in order: kind '*' remarks, '>' request lines, '<' answer lines, '{' and '}' bodies; redacted. False: no more for now. */
bool http_trace(Http *h, char *kind, Slice *text);

/* After a head with a redirect: the request of the next hop in *next (strings in p->mem), by curl's rules for method and body. False: it
 * is not one, or *e says why it is not followed. keep_post: bits 1, 2, 4 for 301, 302, 303. */
bool http_redirect(Proc *p, const Http *h, const HttpRequest *before, unsigned keep_post, HttpRequest *next, HttpError *e);

/* ---------- for api ---------- */

typedef struct NetConfig {
    _Atomic uint32_t holders;
    Mem mem;                   /* holds all of it */
    NetPolicy policy;
    Credential *credentials;
    size_t ncredentials;
    bool allow_insecure, asks, resolves;
    const NetComponent *transport; /* instead of libshell-net's */
    const char *ca_file, *proxy;
    uint64_t generation;       /* set by kern_net_set */
} NetConfig;

void net_config_unref(NetConfig *c);
/* The embedder's shell, which a transport of its own is told. */
void kern_net_owner(Kernel *k, void *shell);
/* Over every secret of the configuration in force, NULL when there is none; false: no memory, and nothing may be shown. */
bool kern_net_redactor(Kernel *k, Mem *m, Redactor **out);
/* What the shell exports before a run: placeholders by their variables' names. */
void kern_net_placeholders(Kernel *k, void (*each)(void *user, const char *name, const char *value), void *user);
/* The placeholder that the configuration in force has for `name`, into out; false: none. */
bool kern_net_placeholder(Kernel *k, Slice name, char out[64]);
/* Appends what may leave, a line a rule; false: there is no network. */
bool kern_net_describe(Kernel *k, Buf *out);
uint64_t kern_net_generation(Kernel *k); /* changes with the configuration */
/* Replaces what is allowed, also in the middle of a run and from any thread; takes the reference. NULL: no network. */
void kern_net_set(Kernel *k, NetConfig *c);

/* Requests to the embedder (kernel.h's Request; REQUEST_TRANSPORT): `ask` is one of these. */
typedef enum { NET_ASK_DECIDE, NET_ASK_RESOLVE, NET_ASK_SECRET, NET_ASK_SIGN } NetAskKind;
typedef struct NetAsk {
    NetAskKind kind;
    const char *method, *url;
    unsigned hop;
    int64_t body_len;
    const char *host;
    uint64_t credential;
    const char *body;          /* SIGN: of a body that does not stream */
    size_t body_size;
    char *out;                 /* RESOLVE: addresses with commas; SECRET: the secret; SIGN: header lines */
    size_t size, len;
} NetAsk;

#endif
