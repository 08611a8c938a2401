/* http: an exchange's life as its process sees it: asked for, allowed, resolved, begun, read, closed. */
#include <stdio.h>
#include <stdlib.h>

#include "exchange.h"
#include "lib/kernel/host.h"

/* ---------- questions to the embedder ---------- */

int http_ask(Proc *p, NetAsk *ask)
{
    Request r = {.kind = REQUEST_TRANSPORT, .ask = ask};
    return proc_request(p, &r);
}

/* ---------- being and ending ---------- */

static NetConfig *config_ref(Kernel *k)
{
    pthread_mutex_lock(&k->lock);
    NetConfig *c = k->net ? k->net->config : NULL;
    if (c)
        atomic_fetch_add(&c->holders, 1);
    pthread_mutex_unlock(&k->lock);
    return c;
}

void http_free(Http *h)
{
    Kernel *k = h->kernel;
    if (h->transfer)
        k->net->component->stop(h->transfer);
    if (h->resolution)
        k->net->component->resolve_free(h->resolution);
    secret_unref(h->secret);
    net_config_unref(h->config);
    mem_wipe(&h->mem);
    mem_drop(&h->mem);
    mem_drop(&h->bodies);
    budget_give(&k->memory, sizeof *h);
    free(h);
}

/* The process lets go; the next pump, on the caller's stack, frees it. */
static void abandon(Proc *p, void *thing)
{
    Http *h = thing;
    (void)p;
    h->abandoned = true;
    h->queue = (WaitQueue){0};
}

static Http *http_new(Proc *p)
{
    Kernel *k = p->kernel;
    if (!budget_take(&k->memory, sizeof(Http)))
        return NULL;
    Http *h = calloc(1, sizeof *h);
    if (!h) {
        budget_give(&k->memory, sizeof *h);
        return NULL;
    }
    h->kernel = k;
    mem_init(&h->mem, &k->memory, NULL, NULL);
    mem_init(&h->bodies, &k->memory, NULL, NULL);
    buf_init(&h->heads, &h->mem, BUF_MAX);
    h->most_heads = kern_limit(k, LIMIT_HEAD);
    buf_init(&h->trace, &h->mem, 4 * HEADS_MAX);
    h->next = k->net->exchanges;
    k->net->exchanges = h;
    proc_own(p, abandon, h);
    return h;
}

/* ---------- may it be? ---------- */

bool http_address_allowed(const Http *h, const uint8_t a[16])
{
    NetAddress address;
    memcpy(address.bytes, a, 16);
    bool own = net_address_class(&address) == ADDRESS_PUBLIC && h->kernel->net->component->own_address(a);
    return h->config->generation == h->kernel->net->generation && net_address_allowed(&h->config->policy, &h->decision, &h->url, &address, own);
}

static bool refused(Http *h, const char *after)
{
    http_fail(h, HTTP_NO_CONNECT, true, "Failed to connect to %.*s port %u after 0 ms: refused by policy%s", (int)h->url.host.len, h->url.host.data, h->url.port, after);
    return false;
}

static bool parse(Proc *p, Http *h, const HttpRequest *r)
{
    const char *why;
    int err = url_parse(&h->mem, r->url, &h->url, &why);
    if (!err && h->url.unicode) {
        char ascii[256];
        Url plain;
        const NetComponent *c = p->kernel->net->component;
        char *host = mem_copy(&h->mem, h->url.host);
        if (!host || !c->idn(host, ascii, sizeof ascii))
            err = -EINVAL;
        else
            err = url_with_host(&h->mem, &h->url, slice_str(ascii), &plain, &why);
        if (!err)
            h->url = plain;
    }
    if (err == -ENOMEM)
        http_fail(h, HTTP_NO_MEMORY, false, "Out of memory");
    else if (err)
        http_fail(h, HTTP_MALFORMED, false, "URL using bad/illegal format or missing URL");
    return !err;
}

static bool decide(Proc *p, Http *h, const HttpRequest *r)
{
    bool odd;
    h->decision = net_decide(&h->config->policy, &h->url, r->method);
    if (!h->decision.allowed)
        return refused(h, "");
    h->credential = r->crossed ? NULL : credential_find(h->config->credentials, h->config->ncredentials, &h->url, r->method, &odd);
    if (!r->crossed && odd)
        return refused(h, "");
    if (!h->config->asks)
        return true;
    NetAsk ask = {.kind = NET_ASK_DECIDE, .method = mem_copy(&p->mem, r->method), .url = h->url.text.data, .hop = r->hops,
                  .body_len = r->has_body ? (r->streams ? r->body_len : (int64_t)r->body.len) : 0};
    return !GUARD(NET_DECIDE, http_ask(p, &ask) != 0) || refused(h, "");
}

static void count_upload(Proc *p, size_t n)
{
    Net *net = p->kernel->net;
    uint64_t most = kern_limit(p->kernel, LIMIT_UPLOAD);
    net->uploaded += n;
    if (GUARD(NET_UPLOAD, most && net->uploaded > most))
        proc_limit(p, LIMIT_UPLOAD);
}

static void count_request(Proc *p)
{
    Net *net = p->kernel->net;
    uint64_t most = kern_limit(p->kernel, LIMIT_REQUESTS), beside = kern_limit(p->kernel, LIMIT_TRANSFERS);
    net->requests++;
    if (GUARD(NET_REQUESTS, most && net->requests > most))
        proc_limit(p, LIMIT_REQUESTS);
    if (GUARD(NET_TRANSFERS, beside && net->active >= beside))
        proc_limit(p, LIMIT_TRANSFERS);
}

/* ---------- addresses ---------- */

static void keep_allowed(Http *h, bool *any)
{
    int n = 0;
    *any = h->naddresses > 0;
    for (int i = 0; i < h->naddresses; i++)
        if (http_address_allowed(h, h->addresses[i]))
            memmove(h->addresses[n++], h->addresses[i], 16);
    h->naddresses = n;
}

/* The embedder's answer: addresses with commas between them. */
static bool take_list(Http *h, Slice text)
{
    while (text.len && h->naddresses < ADDRESSES_MAX) {
        size_t n = slice_find(text, ',');
        NetAddress a;
        if (!net_parse_v4(slice(text.data, n), &a) && !net_parse_v6(slice(text.data, n), &a))
            return false;
        if (!h->family || (h->family == 4) == net_address_is_v4(&a))
            memcpy(h->addresses[h->naddresses++], a.bytes, 16);
        text = slice_from(text, MIN(n + 1, text.len));
    }
    return true;
}

static bool resolve(Proc *p, Http *h)
{
    if (h->config->resolves) {
        char text[2048];
        NetAsk ask = {.kind = NET_ASK_RESOLVE, .host = h->host, .out = text, .size = sizeof text};
        if (http_ask(p, &ask) == 0 && ask.len < sizeof text && take_list(h, slice(text, ask.len)))
            return true;
        h->naddresses = 0;
        return true;
    }
    h->state = HTTP_RESOLVING;
    p->kernel->net->active++;
    int64_t ms = h->start.connect_timeout_ms && (!h->start.timeout_ms || h->start.connect_timeout_ms < h->start.timeout_ms) ? h->start.connect_timeout_ms : h->start.timeout_ms;
    int64_t until = ms ? timer_now(h->kernel) + ms * 1000000 : -1;
    while (h->state == HTTP_RESOLVING)
        if (task_block(p, &h->queue, until) == WAKE_TIMER) {
            http_fail(h, 28, false, "Resolving timed out after %lld milliseconds", (long long)ms);
            return false;
        }
    return true;
}

/* "host:port:address,address" for the component. */
static bool put_resolve(Http *h)
{
    Buf b;
    buf_init(&b, &h->mem, HEADS_MAX);
    buf_printf(&b, "%s:%u:", h->host, h->url.port);
    for (int i = 0; i < h->naddresses; i++) {
        NetAddress a;
        char text[46];
        memcpy(a.bytes, h->addresses[i], 16);
        net_format_address(&a, text);
        bool v6 = !net_address_is_v4(&a);
        buf_printf(&b, "%s%s%s%s", i ? "," : "", v6 ? "[" : "", text, v6 ? "]" : "");
    }
    h->start.resolve = b.data;
    if (b.failed)
        http_fail(h, HTTP_NO_MEMORY, false, "Out of memory");
    return !b.failed;
}

static bool find_addresses(Proc *p, Http *h)
{
    bool any;
    if (h->config->proxy || (h->config->transport && !h->config->resolves && h->url.kind == URL_NAME))
        return true;
    if (h->url.kind != URL_NAME && h->family && (h->family == 4) != (h->url.kind == URL_IPV4)) {
        http_fail(h, HTTP_NO_CONNECT, false, "Couldn't connect to server");
        return false;
    }
    if (h->url.kind != URL_NAME) {
        memcpy(h->addresses[0], h->url.address.bytes, 16);
        h->naddresses = 1;
    } else if (!resolve(p, h)) {
        return false;
    }
    keep_allowed(h, &any);
    if (any && !h->naddresses)
        return refused(h, "");
    if (!any) {
        http_fail(h, HTTP_NO_HOST, false, "Could not resolve host: %s", h->host);
        return false;
    }
    return h->url.kind != URL_NAME || put_resolve(h);
}

/* ---------- opening ---------- */

/* Without user part and query values. */
static void tell_request(Proc *p, const Http *h, const char *decision, int value)
{
    Buf b;
    Slice query = slice_from(h->url.target, h->url.path.len);
    buf_init(&b, &p->mem, 4 * URL_MAX);
    buf_append(&b, h->method);
    buf_char(&b, ' ');
    buf_append(&b, h->url.origin);
    buf_append(&b, h->url.path);
    while (query.len) {
        size_t n = 1 + slice_find(slice_from(query, 1), '&'), eq = slice_find(slice(query.data, n), '=');
        buf_append(&b, slice(query.data, MIN(eq + 1, n)));
        query = slice_from(query, n);
    }
    Event e = {.kind = EVENT_REQUEST, .pid = p->pid, .subject = b.data ? b.data : "", .detail = decision, .value = value};
    char partition[64];
    if (!value) {
        snprintf(partition, sizeof partition, "policy %llu, credential %llu%s%s", (unsigned long long)h->config->generation, (unsigned long long)http_credential_number(h),
                 h->decision.allow_private ? ", private" : "", h->start.insecure ? ", unverified" : "");
        e.partition = partition;
    }
    kern_tell(p->kernel, &e);
}

static bool begin(Proc *p, Http *h, const HttpRequest *r)
{
    h->method = slice(mem_copy(&h->mem, r->method), r->method.len);
    h->family = r->family;
    if (!h->method.data) {
        http_fail(h, HTTP_NO_MEMORY, false, "Out of memory");
        return false;
    }
    if (!parse(p, h, r) || !decide(p, h, r) || !http_prepare(p, h, r) || !find_addresses(p, h))
        return false;
    count_request(p);
    if (r->has_body && !r->streams)
        count_upload(p, h->sending.len);
    h->state = HTTP_READY;
    p->kernel->net->active++;
    return true;
}

/* The component that the configuration in force wants: libshell-net's, or the embedder's transport. NULL: it is not there. */
static const NetComponent *wanted(Proc *p)
{
    NetConfig *c = config_ref(p->kernel);
    const NetComponent *own = c ? c->transport : NULL;
    net_config_unref(c);
    return own ? own : PROC_COMPONENT(p, "net", NetComponent);
}

/* A configuration that changed the way out waits for what still goes the old one. */
static void leave_component(Proc *p, const NetComponent *next)
{
    Net *net = p->kernel->net;
    WaitQueue nobody = {0};
    while (net->hub && net->component != next) {
        net->leaves = true;
        task_block(p, &nobody, timer_now(p->kernel) + 1000000);
    }
    net->component = next;
}

/* The component and what holds transfers, at a shell's first request. */
static bool net_ready(Proc *p, HttpError *e)
{
    Kernel *k = p->kernel;
    if (!k->net) {
        *e = (HttpError){HTTP_NO_CONNECT, true, "no URL is allowed: refused by policy"};
        return false;
    }
    const NetComponent *next = wanted(p);
    if (next && next != k->net->component)
        leave_component(p, next);
    if (!next) {
        *e = (HttpError){HTTP_NO_CONNECT, false, "needs the component libshell-net"};
        return false;
    }
    if (!k->net->hub) {
        void *hub = k->net->component->hub_new(k->owner);
        pthread_mutex_lock(&k->lock);
        k->net->hub = hub;
        pthread_mutex_unlock(&k->lock);
    }
    if (!k->net->hub)
        *e = (HttpError){HTTP_NO_MEMORY, false, "Out of memory"};
    return k->net->hub != NULL;
}

static void tell_no_network(Proc *p, const HttpRequest *r)
{
    Url u;
    const char *why;
    if (p->kernel->options.event && url_parse(&p->mem, r->url, &u, &why) == 0)
        kern_event(p->kernel, EVENT_REFUSAL, p->pid, mem_copy(&p->mem, u.origin), "request", HTTP_NO_CONNECT);
}

Http *http_open(Proc *p, const HttpRequest *r, HttpError *e)
{
    *e = (HttpError){0};
    if (!net_ready(p, e)) {
        if (e->refused)
            tell_no_network(p, r);
        return NULL;
    }
    output_flush(p->out);
    Http *h = http_new(p);
    if (!h) {
        *e = (HttpError){HTTP_NO_MEMORY, false, "Out of memory"};
        return NULL;
    }
    h->config = config_ref(p->kernel);
    if (!h->config) {
        *e = (HttpError){HTTP_NO_CONNECT, true, "no URL is allowed: refused by policy"};
        http_close(p, h);
        return NULL;
    }
    bool begun = begin(p, h, r);
    if (p->kernel->options.event && h->url.text.len)
        tell_request(p, h, begun ? "allowed" : h->error.refused ? "refused" : "failed", h->error.code);
    if (begun)
        return h;
    *e = h->error;
    if (e->refused) {
        char *url = mem_copy(&p->mem, h->url.origin.len ? h->url.origin : SLICE("URL"));
        kern_event(p->kernel, EVENT_REFUSAL, p->pid, url, "request", e->code);
    }
    http_close(p, h);
    return NULL;
}

void http_close(Proc *p, Http *h) { proc_disown(p, h); }

bool http_insecure_allowed(Proc *p)
{
    NetConfig *c = config_ref(p->kernel);
    bool allowed = c && c->allow_insecure;
    net_config_unref(c);
    return allowed;
}

/* ---------- bodies ---------- */

static void resume_upload(Http *h)
{
    h->wants_resume |= h->upload_paused;
    h->upload_paused = false;
}

static void send_bytes(Proc *p, Http *h, Slice data)
{
    while (data.len && h->state != HTTP_ENDED) {
        if (h->upload_at == h->upload_len)
            h->upload_at = h->upload_len = 0;
        size_t n = MIN(data.len, (size_t)UPLOAD_ROOM - h->upload_len);
        memcpy(h->upload + h->upload_len, data.data, n);
        h->upload_len += n;
        data = slice_from(data, n);
        resume_upload(h);
        if (!n)
            task_block(p, &h->queue, -1);
    }
}

/* How many bytes at the end of `s` are a beginning of the placeholder. */
static size_t begun(Slice s, Slice placeholder)
{
    size_t n = MIN(s.len, placeholder.len - 1);
    while (n && memcmp(s.data + s.len - n, placeholder.data, n) != 0)
        n--;
    return n;
}

static void send_swapped(Proc *p, Http *h, Slice data)
{
    MemMark mark = mem_mark(&p->mem);
    Slice secret = secret_bytes(h->secret), placeholder = slice(mem_copy(&p->mem, h->credential->placeholder), h->credential->placeholder.len);
    char *joint = mem_alloc(&p->mem, h->nheld + data.len + 1);
    memcpy(joint, h->held, h->nheld);
    memcpy(joint + h->nheld, data.data, data.len);
    Slice rest = slice(joint, h->nheld + data.len);
    h->nheld = 0;
    for (size_t at; (at = slice_search(rest, placeholder)) != SIZE_MAX; rest = slice_from(rest, at + placeholder.len)) {
        send_bytes(p, h, slice(rest.data, at));
        send_bytes(p, h, secret);
        h->hidden_body += (int64_t)secret.len - (int64_t)placeholder.len;
    }
    size_t keep = begun(rest, placeholder);
    send_bytes(p, h, slice(rest.data, rest.len - keep));
    memcpy(h->held, rest.data + rest.len - keep, keep);
    h->nheld = keep;
    mem_reset(&p->mem, mark);
}

bool http_send(Proc *p, Http *h, Slice data)
{
    count_upload(p, data.len);
    if (h->swaps && h->secret && data.len)
        send_swapped(p, h, data);
    else
        send_bytes(p, h, data);
    return h->state != HTTP_ENDED;
}

void http_send_end(Http *h)
{
    if (h->nheld) /* behind UPLOAD_ROOM there is room for it */
        memcpy(h->upload + h->upload_len, h->held, h->nheld);
    h->upload_len += h->nheld;
    h->nheld = 0;
    h->upload_end = true;
    resume_upload(h);
}

bool http_head(Proc *p, Http *h)
{
    while (!h->head_done && h->state != HTTP_ENDED)
        task_block(p, &h->queue, -1);
    return h->head_done;
}

ssize_t http_read(Proc *p, Http *h, Slice *out, int64_t until)
{
    while (!h->body_len[h->fill]) {
        if (h->state == HTTP_ENDED) {
            *out = slice(NULL, 0);
            return 0;
        }
        if (task_block(p, &h->queue, until) == WAKE_TIMER)
            return -ETIMEDOUT;
    }
    *out = slice(h->body[h->fill], h->body_len[h->fill]);
    h->fill ^= 1;
    h->body_len[h->fill] = 0;
    h->wants_resume |= h->body_paused;
    h->body_paused = false;
    Net *net = p->kernel->net;
    uint64_t most = kern_limit(p->kernel, LIMIT_DOWNLOAD);
    net->downloaded += out->len;
    if (GUARD(NET_DOWNLOAD, most && net->downloaded > most))
        proc_limit(p, LIMIT_DOWNLOAD);
    return (ssize_t)out->len;
}

/* ---------- what is known ---------- */

const HttpError *http_error(const Http *h) { return &h->error; }

const NetResult *http_result(Http *h)
{
    if (h->transfer) {
        h->kernel->net->component->result(h->transfer, &h->result);
        h->result.size_request -= h->result.size_request ? h->hidden : 0;
        h->result.size_upload -= h->result.size_upload ? h->hidden_body : 0;
    }
    return &h->result;
}

const Url *http_url(const Http *h) { return &h->url; }
Slice http_heads(const Http *h) { return buf_slice(&h->heads); }
Slice http_last_head(const Http *h) { return slice_from(buf_slice(&h->heads), h->last_head); }

int http_status(const Http *h)
{
    Slice head = http_last_head(h);
    size_t at = slice_find(head, ' ') + 1;
    int status = 0;
    for (size_t i = 0; i < 3; i++) {
        if (at + i >= head.len || head.data[at + i] < '0' || head.data[at + i] > '9')
            return 0;
        status = status * 10 + (head.data[at + i] - '0');
    }
    return status;
}

bool http_header(const Http *h, const char *name, Slice *value)
{
    Slice head = http_last_head(h);
    size_t n = strlen(name);
    while (head.len) {
        size_t end = slice_find(head, '\n');
        Slice line = slice(head.data, end);
        head = slice_from(head, MIN(end + 1, head.len));
        bool same = line.len > n && line.data[n] == ':';
        for (size_t i = 0; same && i < n; i++)
            same = (line.data[i] | 32) == (name[i] | 32);
        if (!same)
            continue;
        line = slice_from(line, n + 1);
        while (line.len && (line.data[0] == ' ' || line.data[0] == '\t'))
            line = slice_from(line, 1);
        while (line.len && (unsigned char)line.data[line.len - 1] <= ' ')
            line.len--;
        *value = line;
        return true;
    }
    return false;
}

bool http_trace(Http *h, char *kind, Slice *text)
{
    Slice t = buf_slice(&h->trace);
    uint32_t n;
    if (t.len < h->traced + 1 + sizeof n)
        return false;
    memcpy(&n, t.data + h->traced + 1, sizeof n);
    if (t.len < h->traced + 1 + sizeof n + n)
        return false;
    *kind = t.data[h->traced];
    *text = slice(t.data + h->traced + 1 + sizeof n, n);
    h->traced += 1 + sizeof n + n;
    return true;
}
