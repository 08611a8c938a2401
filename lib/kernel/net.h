/* net: what may leave the machine. URLs, rules, addresses, the grammar of a request, credentials, redaction.
 *
 * Pure functions over bytes: nothing here opens a socket or asks a resolver. The request engine (http.h) calls them in order: url_parse,
 * net_decide, the grammar, credential_find; then for each address net_address_allowed, and for each answer a Redactor.
 *
 * Memory: results live in the Mem that is passed. Functions return 0 or -errno: -EINVAL for what is refused by its form, with *why (static)
 * in words, -EPERM for what a rule refuses, -ENOMEM; they never raise unless the Mem does.
 */
#ifndef LIBSHELL_NET_H
#define LIBSHELL_NET_H

#include "lib/base/guard.h"
#include "lib/base/mem.h"

/* ---------- addresses ---------- */

/* IPv4 as mapped: ::ffff:a.b.c.d. */
typedef struct NetAddress { uint8_t bytes[16]; } NetAddress;

NetAddress net_address_v4(uint8_t a, uint8_t b, uint8_t c, uint8_t d);
bool net_address_is_v4(const NetAddress *a);
/* Four decimal numbers without leading zeros / RFC 4291 text without a zone. */
bool net_parse_v4(Slice text, NetAddress *out);
bool net_parse_v6(Slice text, NetAddress *out);
void net_format_address(const NetAddress *a, char out[46]); /* RFC 5952, without brackets */

typedef enum {
    ADDRESS_PUBLIC,
    ADDRESS_PRIVATE,  /* anything else that is not globally reachable: only where a rule means private addresses */
    ADDRESS_METADATA, /* where clouds hand out credentials: only where that very address is named */
} AddressClass;

/* By the IANA registries of special-purpose addresses and the clouds' manuals; an address that carries an IPv4 one is judged by that too. */
AddressClass net_address_class(const NetAddress *a);

typedef struct NetRange {
    NetAddress base;
    unsigned bits;    /* of 128; an IPv4 /n is 96 + n */
} NetRange;
bool net_range_parse(Slice text, NetRange *out); /* "10.0.0.0/8", "fd00::/8", a single address */
bool net_range_has(const NetRange *r, const NetAddress *a);

/* ---------- URLs ---------- */

typedef enum { URL_NAME, URL_IPV4, URL_IPV6 } UrlHost;

/* In canonical form: lower-case scheme and host, no trailing dot, no userinfo, no fragment, no port that is the scheme's own, unreserved
 * characters decoded, dot segments removed, hexadecimal digits upper-case, other bytes above 0x7E encoded. */
typedef struct Url {
    Slice text;       /* the whole, NUL-terminated */
    Slice origin;     /* scheme://host[:port], a part of text */
    Slice path;       /* from "/", without the query; a part of text */
    Slice target;     /* path?query */
    Slice host;       /* without brackets */
    UrlHost kind;
    NetAddress address; /* of URL_IPV4 and URL_IPV6 */
    bool secure;      /* https */
    uint16_t port;
    bool odd_path;    /* holds %2f %5c %00 %25 \ ; or an empty segment: another server may read it as another path */
    bool has_user;    /* user and password were given, decoded below; they are not part of text */
    Slice user, password;
    bool unicode;     /* the host holds non-ASCII characters: net_url_ascii must be called before anything else */
} Url;

enum { URL_MAX = 65536 };

int url_parse(Mem *m, Slice text, Url *out, const char **why);
/* A reference (RFC 3986 5.2) against `base`, through url_parse. */
int url_resolve(Mem *m, const Url *base, Slice reference, Url *out, const char **why);
/* The same URL with a host that a resolver library made of a Unicode one. */
int url_with_host(Mem *m, const Url *u, Slice ascii, Url *out, const char **why);
bool url_same_origin(const Url *a, const Url *b);

/* ---------- rules ---------- */

typedef struct UrlRule {
    bool deny;
    bool allow_private;
    bool http, https;       /* which schemes it speaks of */
    enum { HOST_EXACT, HOST_BELOW, HOST_ANY } host_match; /* name, *.name, * */
    Slice host;             /* canonical */
    uint16_t port;          /* 0: the scheme's own */
    Slice path;             /* "/" or a prefix */
    Slice methods;          /* "GET,HEAD"; empty: every one */
} UrlRule;

// As "https://api.example.com/v1/", "https://*.example.com:8443" or "https://*"; without a scheme https. No methods: every one.
int url_rule_parse(Mem *m, Slice text, Slice methods, UrlRule *out, const char **why);
bool url_rule_matches(const UrlRule *r, const Url *u, Slice method);
/* Appends the rule in words: "https://api.example.com/v1/ (GET,HEAD; private addresses too)". */
void url_rule_print(const UrlRule *r, Buf *out);

typedef struct NetPolicy {
    const UrlRule *rules;
    size_t nrules;
    const NetRange *also_private, *also_metadata; /* the embedder's own */
    size_t nalso_private, nalso_metadata;
} NetPolicy;

typedef struct NetDecision {
    bool allowed;
    bool allow_private;
    bool named;             /* a rule that means private addresses names this very address */
    const UrlRule *rule;    /* that allowed or denied; NULL: none spoke */
} NetDecision;

/* Deny rules win; without an allow rule it is no. `u` is in canonical form and not unicode. */
NetDecision net_decide(const NetPolicy *policy, const Url *u, Slice method);
/* The address a name gave, or the peer's, for a request that `d` allowed to `u`. `own`: it is one of the host's interfaces. */
bool net_address_allowed(const NetPolicy *policy, const NetDecision *d, const Url *u, const NetAddress *a, bool own);

/* ---------- the grammar of a request ---------- */

bool net_token(Slice s);             /* RFC 9110 5.6.2 */
bool net_method_valid(Slice method); /* a token, at most 32 */
/* NULL, or why a script may not send it. Blanks around the name do not hide it. */
const char *net_header_refused(Slice name, Slice value);

/* ---------- credentials ---------- */

typedef enum { CREDENTIAL_BEARER, CREDENTIAL_BASIC, CREDENTIAL_HEADER, CREDENTIAL_QUERY, CREDENTIAL_PLACEHOLDER, CREDENTIAL_SIGN } CredentialKind;

/* Secrets live in memory of their own (host_secret.c): kept out of core dumps, locked where the host allows, wiped when freed. */
typedef struct Secret Secret;
Secret *secret_new(Slice bytes); /* NULL: no memory */
Slice secret_bytes(const Secret *s);
Secret *secret_ref(Secret *s);
void secret_unref(Secret *s);

typedef struct Credential {
    CredentialKind kind;
    UrlRule match;          /* origin, path, methods */
    Slice name;             /* of the header, the query parameter, or the placeholder's variable */
    Slice placeholder;      /* what the script sees: lsh_<random> */
    Secret *secret;         /* basic: user:password; sign and callbacks: NULL, made by the embedder for each request */
    bool no_redaction;
    uint64_t id;            /* for connection partitions and the callback */
} Credential;

/* The first that matches, or NULL. *refused: the URL is within a credential's origin but its path is odd, so nothing may be sent. */
const Credential *credential_find(const Credential *list, size_t n, const Url *u, Slice method, bool *refused);

/* ---------- redaction ---------- */

/* Replaces the forms of one or more secrets by "[redacted]" in a stream, across the borders of chunks. */
typedef struct Redactor Redactor;
enum { REDACT_MIN = 8 }; /* bytes that a secret must have */

/* In `m`. `secrets` are what must not come back: the secret and, where it differs, the whole header value. NULL: no memory. */
Redactor *redactor_new(Mem *m, const Slice *secrets, size_t n);
/* Feeds bytes; what may go on is given to emit, piece by piece. `last`: no more will come, nothing is held back. */
typedef void (*RedactEmit)(void *user, Slice bytes);
void redactor_feed(Redactor *r, Slice bytes, bool last, RedactEmit emit, void *user);
/* A short text at once: headers, messages. The result is `text` itself when nothing was found. */
Slice redact_text(Redactor *r, Mem *m, Slice text);

#endif
