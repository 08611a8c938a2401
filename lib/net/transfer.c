/* transfer: one request as a libcurl easy handle. Everything that libcurl would decide by itself is switched off: redirects, proxies,
 * .netrc, cookies on disk, other protocols, signals, its own resolver. */
#include "net.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---------- what libcurl asks and tells ---------- */

static bool ask(Transfer *t, const uint8_t address[16])
{
    t->refused = t->filtered && !t->sink->address(t->user, address);
    return !t->refused;
}

static bool address_of(const struct sockaddr *a, uint8_t out[16])
{
    memset(out, 0, 16);
    if (a->sa_family == AF_INET) {
        out[10] = out[11] = 0xff;
        memcpy(out + 12, &((const struct sockaddr_in *)(const void *)a)->sin_addr, 4);
    } else if (a->sa_family == AF_INET6) {
        memcpy(out, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, 16);
    }
    return a->sa_family == AF_INET || a->sa_family == AF_INET6;
}

static curl_socket_t on_open(void *user, curlsocktype purpose, struct curl_sockaddr *a)
{
    uint8_t bytes[16];
    bool tcp = purpose == CURLSOCKTYPE_IPCXN && a->socktype == SOCK_STREAM && address_of(&a->addr, bytes);
    if (!tcp || !ask(user, bytes))
        return CURL_SOCKET_BAD;
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* Before every request, on a reused connection too, where on_open was not called. */
static int on_request(void *user, char *peer, char *local, int peer_port, int local_port)
{
    uint8_t bytes[16] = {0};
    (void)local;
    (void)peer_port;
    (void)local_port;
    bool v6 = strchr(peer, ':') != NULL;
    if (!v6)
        bytes[10] = bytes[11] = 0xff;
    bool parsed = inet_pton(v6 ? AF_INET6 : AF_INET, peer, v6 ? bytes : bytes + 12) == 1;
    Transfer *t = user;
    if (!parsed)
        t->refused = t->filtered;
    return (!t->filtered || parsed) && ask(t, bytes) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static size_t on_header(char *data, size_t size, size_t count, void *user)
{
    Transfer *t = user;
    return t->sink->header(t->user, data, size * count) ? size * count : 0;
}

static size_t on_body(char *data, size_t size, size_t count, void *user)
{
    Transfer *t = user;
    ptrdiff_t n = t->sink->body(t->user, data, size * count);
    return n > 0 ? size * count : n == 0 ? CURL_WRITEFUNC_PAUSE : 0;
}

static size_t on_upload(char *out, size_t size, size_t count, void *user)
{
    Transfer *t = user;
    ptrdiff_t n = t->sink->upload(t->user, out, size * count);
    return n >= 0 ? (size_t)n : n == -2 ? CURL_READFUNC_PAUSE : CURL_READFUNC_ABORT;
}

static int on_debug(CURL *easy, curl_infotype type, char *data, size_t n, void *user)
{
    Transfer *t = user;
    (void)easy;
    if (type == CURLINFO_HEADER_OUT)
        t->sink->sent(t->user, data, n);
    else if (type == CURLINFO_TEXT)
        t->sink->info(t->user, data, n);
    else if (type == CURLINFO_DATA_IN || type == CURLINFO_DATA_OUT)
        t->sink->data(t->user, type == CURLINFO_DATA_OUT, n);
    return 0;
}

void transfer_done(Transfer *t, CURLcode code)
{
    if (t->ended)
        return;
    t->ended = true;
    t->code = code;
    t->sink->done(t->user);
}

/* ---------- setting up ---------- */

/* libcurl's own parser must read the canonical form as ours did. */
static bool agrees(CURLU *u, const NetStart *s)
{
    static const CURLUPart parts[] = {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT, CURLUPART_PATH, CURLUPART_QUERY, CURLUPART_USER, CURLUPART_FRAGMENT};
    char port[16];
    snprintf(port, sizeof port, "%u", s->port);
    const char *ours[] = {s->secure ? "https" : "http", s->host, port, s->path, s->query && s->query[0] ? s->query : NULL, NULL, NULL};
    if (curl_url_set(u, CURLUPART_URL, s->url, CURLU_PATH_AS_IS) != CURLUE_OK)
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *theirs = NULL;
        curl_url_get(u, parts[i], &theirs, CURLU_DEFAULT_PORT);
        bool same = (!theirs && !ours[i]) || (theirs && ours[i] && strcmp(theirs, ours[i]) == 0) || (theirs && !theirs[0] && !ours[i]);
        curl_free(theirs);
        if (!same)
            return false;
    }
    return true;
}

static bool add_headers(Transfer *t, const char *const *lines)
{
    for (; lines && *lines; lines++) {
        struct curl_slist *more = curl_slist_append(t->headers, *lines);
        if (!more)
            return false;
        t->headers = more;
    }
    return true;
}

static void set_fixed(CURL *e)
{
    const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(e, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(e, CURLOPT_BUFFERSIZE, 65536L);
    curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, 131072L);
    curl_easy_setopt(e, CURLOPT_NOPROGRESS, 1L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L);
    if (v->cainfo) /* named, so that the environment's SSL_CERT_FILE is not asked */
        curl_easy_setopt(e, CURLOPT_CAINFO, v->cainfo);
}

static void set_callbacks(CURL *e, Transfer *t)
{
    curl_easy_setopt(e, CURLOPT_PRIVATE, t);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->message);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, t);
    curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, on_request);
    curl_easy_setopt(e, CURLOPT_PREREQDATA, t);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(e, CURLOPT_READFUNCTION, on_upload);
    curl_easy_setopt(e, CURLOPT_READDATA, t);
    curl_easy_setopt(e, CURLOPT_DEBUGFUNCTION, on_debug);
    curl_easy_setopt(e, CURLOPT_DEBUGDATA, t);
    curl_easy_setopt(e, CURLOPT_VERBOSE, 1L);
}

static void set_method(CURL *e, const NetStart *s)
{
    bool unknown = s->body_len == INT64_MAX;
    if (s->no_body) {
        curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
    } else if (s->body_len >= 0 && s->post) {
        curl_easy_setopt(e, CURLOPT_POST, 1L);
        curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, unknown ? (curl_off_t)-1 : (curl_off_t)s->body_len);
        curl_easy_setopt(e, CURLOPT_POSTFIELDS, s->body);
    } else if (s->body_len >= 0) {
        curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE, unknown ? (curl_off_t)-1 : (curl_off_t)s->body_len);
    }
    if (s->body_len >= 0 && !s->post && s->resume_from)
        curl_easy_setopt(e, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)s->resume_from);
    curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, s->method);
}

static void set_bounds(CURL *e, const NetStart *s)
{
    static const long tls[] = {CURL_SSLVERSION_TLSv1_0, CURL_SSLVERSION_TLSv1_1, CURL_SSLVERSION_TLSv1_2, CURL_SSLVERSION_TLSv1_3};
    curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)s->timeout_ms);
    curl_easy_setopt(e, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)s->max_file_size);
    curl_easy_setopt(e, CURLOPT_MAX_RECV_SPEED_LARGE, (curl_off_t)s->max_receive_speed);
    curl_easy_setopt(e, CURLOPT_MAX_SEND_SPEED_LARGE, (curl_off_t)s->max_send_speed);
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, (long)s->low_speed_limit);
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)s->low_speed_time);
    if (s->tls_min >= 10 && s->tls_min <= 13)
        curl_easy_setopt(e, CURLOPT_SSLVERSION, tls[s->tls_min - 10]);
}

static void set_request(CURL *e, Transfer *t, const NetStart *s)
{
    static const long versions[] = {CURL_HTTP_VERSION_NONE, CURL_HTTP_VERSION_1_0, CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_2_0, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE};
    curl_easy_setopt(e, CURLOPT_CURLU, t->url);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, t->headers);
    curl_easy_setopt(e, CURLOPT_RESOLVE, t->resolve);
    curl_easy_setopt(e, CURLOPT_USERAGENT, s->user_agent);
    curl_easy_setopt(e, CURLOPT_REFERER, s->referer);
    curl_easy_setopt(e, CURLOPT_COOKIE, s->cookie);
    curl_easy_setopt(e, CURLOPT_RANGE, s->range);
    curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, s->accept_encoding);
    curl_easy_setopt(e, CURLOPT_USERNAME, s->user);
    curl_easy_setopt(e, CURLOPT_PASSWORD, s->password);
    if (s->bearer) {
        curl_easy_setopt(e, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(e, CURLOPT_XOAUTH2_BEARER, s->bearer);
    }
    curl_easy_setopt(e, CURLOPT_FAILONERROR, (long)s->fail);
    curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, (long)s->http09);
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, versions[s->http_version]);
    if (s->http_version == NET_HTTP_2_PRIOR && !s->secure) /* libcurl 7.88 fails with 16 on such a connection's second request */
        curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)s->connect_timeout_ms);
    set_bounds(e, s);
    curl_easy_setopt(e, CURLOPT_PROXY, s->proxy ? s->proxy : ""); /* "": not the environment's */
    curl_easy_setopt(e, CURLOPT_NOPROXY, "");
    if (s->ca_file)
        curl_easy_setopt(e, CURLOPT_CAINFO, s->ca_file);
    if (s->insecure) {
        curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    set_method(e, s);
}

static bool set_up(Transfer *t, const NetStart *s)
{
    t->url = curl_url();
    t->easy = curl_easy_init();
    if (!t->url || !t->easy || !add_headers(t, s->headers))
        return false;
    if (s->resolve && !(t->resolve = curl_slist_append(NULL, s->resolve)))
        return false;
    t->disagrees = !agrees(t->url, s);
    t->filtered = !s->proxy;
    set_fixed(t->easy);
    set_callbacks(t->easy, t);
    set_request(t->easy, t, s);
    return true;
}

void *transfer_start(void *hub, const NetStart *s)
{
    Partition *p = hub_partition(hub, s->partition);
    Transfer *t = p ? calloc(1, sizeof *t) : NULL;
    if (!t)
        return NULL;
    t->sink = s->sink;
    t->user = s->user_data;
    if (!set_up(t, s)) {
        transfer_stop(t);
        return NULL;
    }
    t->partition = p;
    p->transfers++;
    if (t->disagrees)
        t->ended = true; /* the owner looks at the result at once */
    else if (curl_multi_add_handle(p->multi, t->easy) != CURLM_OK) {
        transfer_stop(t);
        return NULL;
    }
    return t;
}

void transfer_resume(void *transfer)
{
    Transfer *t = transfer;
    if (!t->ended)
        curl_easy_pause(t->easy, CURLPAUSE_CONT);
}

static double seconds(CURL *e, CURLINFO info)
{
    double v = 0;
    curl_easy_getinfo(e, info, &v);
    return v;
}

static int64_t count(CURL *e, CURLINFO info)
{
    curl_off_t v = 0;
    curl_easy_getinfo(e, info, &v);
    return v;
}

static long number(CURL *e, CURLINFO info)
{
    long v = 0;
    curl_easy_getinfo(e, info, &v);
    return v;
}

static void text(CURL *e, CURLINFO info, char out[48])
{
    char *v = NULL;
    curl_easy_getinfo(e, info, &v);
    snprintf(out, 48, "%s", v ? v : "");
}

void transfer_result(void *transfer, NetResult *out)
{
    Transfer *t = transfer;
    CURL *e = t->easy;
    *out = (NetResult){.code = t->disagrees ? NET_DISAGREE : t->refused ? NET_REFUSED : (int)t->code};
    snprintf(out->message, sizeof out->message, "%s", t->message[0] ? t->message : curl_easy_strerror(t->code));
    out->response = number(e, CURLINFO_RESPONSE_CODE);
    out->http_version = number(e, CURLINFO_HTTP_VERSION);
    out->num_connects = number(e, CURLINFO_NUM_CONNECTS);
    out->ssl_verify = number(e, CURLINFO_SSL_VERIFYRESULT);
    out->size_header = number(e, CURLINFO_HEADER_SIZE);
    out->size_request = number(e, CURLINFO_REQUEST_SIZE);
    out->size_upload = count(e, CURLINFO_SIZE_UPLOAD_T);
    out->size_download = count(e, CURLINFO_SIZE_DOWNLOAD_T);
    out->namelookup = seconds(e, CURLINFO_NAMELOOKUP_TIME);
    out->connect = seconds(e, CURLINFO_CONNECT_TIME);
    out->appconnect = seconds(e, CURLINFO_APPCONNECT_TIME);
    out->pretransfer = seconds(e, CURLINFO_PRETRANSFER_TIME);
    out->starttransfer = seconds(e, CURLINFO_STARTTRANSFER_TIME);
    out->total = seconds(e, CURLINFO_TOTAL_TIME);
    out->remote_port = number(e, CURLINFO_PRIMARY_PORT);
    out->local_port = number(e, CURLINFO_LOCAL_PORT);
    text(e, CURLINFO_PRIMARY_IP, out->remote_ip);
    text(e, CURLINFO_LOCAL_IP, out->local_ip);
}

void transfer_stop(void *transfer)
{
    Transfer *t = transfer;
    if (t->partition) {
        curl_multi_remove_handle(t->partition->multi, t->easy);
        t->partition->transfers--;
    }
    curl_easy_cleanup(t->easy);
    curl_slist_free_all(t->headers);
    curl_slist_free_all(t->resolve);
    curl_url_cleanup(t->url);
    free(t);
}
