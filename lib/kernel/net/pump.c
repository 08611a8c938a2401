/* pump: drives the net component on the caller's stack, between the processes' turns; and the configuration in force. */
#include <stdlib.h>

#include "exchange.h"
#include "lib/kernel/host.h"

/* ---------- configuration ---------- */

static void config_free(NetConfig *c)
{
    for (size_t i = 0; i < c->ncredentials; i++)
        secret_unref(c->credentials[i].secret);
    Mem mem = c->mem;
    mem_drop(&mem); /* c itself lies in it */
}

void net_config_unref(NetConfig *c)
{
    if (c && atomic_fetch_sub(&c->holders, 1) == 1)
        config_free(c);
}

void kern_net_owner(Kernel *k, void *shell) { k->owner = shell; }

void kern_net_set(Kernel *k, NetConfig *c)
{
    pthread_mutex_lock(&k->lock);
    NetConfig *old = k->net ? k->net->config : NULL;
    if (!k->net)
        k->net = calloc(1, sizeof *k->net);
    if (k->net) {
        k->net->config = c;
        k->net->generation++;
        k->net->changed = true;
        if (c)
            c->generation = k->net->generation;
    } else {
        old = c; /* no memory: nothing is allowed */
    }
    pthread_mutex_unlock(&k->lock);
    net_config_unref(old);
    kern_wake(k);
}

static NetConfig *config_in_force(Kernel *k)
{
    pthread_mutex_lock(&k->lock);
    NetConfig *c = k->net ? k->net->config : NULL;
    if (c)
        atomic_fetch_add(&c->holders, 1);
    pthread_mutex_unlock(&k->lock);
    return c;
}

void kern_net_placeholders(Kernel *k, void (*each)(void *user, const char *name, const char *value), void *user)
{
    NetConfig *c = config_in_force(k);
    for (size_t i = 0; c && i < c->ncredentials; i++)
        if (c->credentials[i].kind == CREDENTIAL_PLACEHOLDER)
            each(user, c->credentials[i].name.data, c->credentials[i].placeholder.data);
    net_config_unref(c);
}

bool kern_net_placeholder(Kernel *k, Slice name, char out[64])
{
    NetConfig *c = config_in_force(k);
    bool found = false;
    for (size_t i = 0; c && i < c->ncredentials && !found; i++) {
        const Credential *e = &c->credentials[i];
        found = e->kind == CREDENTIAL_PLACEHOLDER && slice_eq(e->name, name) && e->placeholder.len < 64;
        if (found)
            memcpy(out, e->placeholder.data, e->placeholder.len + 1);
    }
    net_config_unref(c);
    return found;
}

bool kern_net_describe(Kernel *k, Buf *out)
{
    NetConfig *c = config_in_force(k);
    size_t rules = c ? c->policy.nrules : 0, denied = 0;
    for (size_t i = 0; i < rules; i++) {
        const UrlRule *r = &c->policy.rules[i];
        buf_append(out, r->deny ? SLICE("  never ") : SLICE("  "));
        url_rule_print(r, out);
        buf_char(out, '\n');
        denied += r->deny;
    }
    if (c && c->asks)
        buf_append(out, SLICE("  what the host program says yes to, asked for each request\n"));
    bool any = rules > denied || (c && c->asks);
    net_config_unref(c);
    return any;
}

uint64_t kern_net_generation(Kernel *k)
{
    pthread_mutex_lock(&k->lock);
    uint64_t generation = k->net ? k->net->generation : 0;
    pthread_mutex_unlock(&k->lock);
    return generation;
}

bool kern_net_redactor(Kernel *k, Mem *m, Redactor **out)
{
    NetConfig *c = config_in_force(k);
    size_t n = 0, most = c ? c->ncredentials : 0;
    Slice *secrets = mem_alloc_array(m, most + 1, sizeof *secrets);
    for (size_t i = 0; secrets && i < most; i++)
        if (c->credentials[i].secret && secret_bytes(c->credentials[i].secret).len >= REDACT_MIN)
            secrets[n++] = secret_bytes(c->credentials[i].secret);
    *out = n ? redactor_new(m, secrets, n) : NULL;
    net_config_unref(c);
    return secrets && (!n || *out);
}

int net_fork(Kernel *to, Kernel *from)
{
    pthread_mutex_lock(&from->lock);
    NetConfig *c = from->net ? from->net->config : NULL;
    uint64_t generation = c ? from->net->generation : 0;
    if (c)
        atomic_fetch_add(&c->holders, 1);
    pthread_mutex_unlock(&from->lock);
    if (!c)
        return 0;
    to->net = calloc(1, sizeof *to->net);
    if (!to->net) {
        net_config_unref(c);
        return -ENOMEM;
    }
    to->net->config = c;
    to->net->generation = generation;
    return 0;
}

/* ---------- exchanges ---------- */

static void end(Http *h)
{
    if (h->state != HTTP_ENDED)
        h->state = HTTP_ENDED;
    queue_wake_all(&h->queue);
}

static void refuse(Http *h)
{
    http_fail(h, HTTP_NO_CONNECT, true, "Failed to connect to %.*s port %u after 0 ms: refused by policy", (int)h->url.host.len, h->url.host.data, h->url.port);
    if (h->transfer) {
        const NetResult *r = http_result(h);
        (void)r;
        h->kernel->net->component->stop(h->transfer);
        h->transfer = NULL;
    }
    h->body_len[h->fill] = 0;
    end(h);
}

static void take_addresses(Http *h)
{
    const NetComponent *c = h->kernel->net->component;
    if (!h->resolution)
        h->resolution = c->resolve(h->kernel->net->hub, h->host, h->family);
    int n = h->resolution ? c->resolved(h->resolution, h->addresses, ADDRESSES_MAX) : -3;
    if (n == -1)
        return;
    h->naddresses = MAX(n, 0);
    h->state = HTTP_ENDED; /* of this stage: the process goes on by itself */
    queue_wake_all(&h->queue);
}

static void start(Http *h)
{
    Net *net = h->kernel->net;
    h->state = HTTP_RUNNING;
    h->transfer = net->component->start(net->hub, &h->start);
    if (!h->transfer) {
        http_fail(h, HTTP_NO_MEMORY, false, "Out of memory");
        end(h);
        return;
    }
    http_result(h);
    if (h->result.code == NET_DISAGREE)
        refuse(h);
}

/* What the component ended with, in curl's words; the address is left out of a refusal. */
static void conclude(Http *h)
{
    if (h->state != HTTP_ENDED || h->error.code || !h->transfer)
        return;
    const NetResult *r = http_result(h);
    if (r->code == NET_REFUSED) {
        refuse(h);
    } else if (r->code) {
        Slice said = slice_str(r->message);
        if (h->redactor)
            said = redact_text(h->redactor, &h->mem, said);
        http_fail(h, r->code, false, "%.*s", (int)said.len, said.data);
    }
}

/* Under a new configuration a request in flight must pass again. */
static void recheck(Http *h, NetConfig *now)
{
    if ((h->state != HTTP_RUNNING && h->state != HTTP_READY) || !GUARD(POLICY_CHANGE, true))
        return;
    bool odd = false;
    NetDecision d = {0};
    if (now)
        d = net_decide(&now->policy, &h->url, h->method);
    const Credential *c = now ? credential_find(now->credentials, now->ncredentials, &h->url, h->method, &odd) : NULL;
    bool same_credential = (c != NULL) == (h->credential != NULL) && (!c || c->id == h->credential->id);
    if (!d.allowed || odd || !same_credential || (h->decision.allow_private && !d.allow_private)) {
        refuse(h);
        return;
    }
    net_config_unref(h->config);
    h->config = now;
    atomic_fetch_add(&now->holders, 1);
    h->decision = d;
    h->credential = c;
}

static void take_change(Kernel *k)
{
    pthread_mutex_lock(&k->lock);
    NetConfig *c = k->net->config;
    bool changed = k->net->changed;
    k->net->changed = false;
    if (c)
        atomic_fetch_add(&c->holders, 1);
    pthread_mutex_unlock(&k->lock);
    if (changed && k->net->hub) {
        for (Http *h = k->net->exchanges; h; h = h->next)
            recheck(h, c);
        k->net->component->drop_idle(k->net->hub, 0);
    }
    net_config_unref(c);
}

static void free_abandoned(Net *net)
{
    for (Http **link = &net->exchanges; *link;) {
        Http *h = *link;
        if (h->abandoned) {
            *link = h->next;
            http_free(h);
        } else {
            link = &h->next;
        }
    }
}

static void leave_hub(Kernel *k)
{
    void *hub = k->net->hub;
    pthread_mutex_lock(&k->lock);
    k->net->hub = NULL;
    pthread_mutex_unlock(&k->lock);
    k->net->leaves = false;
    k->net->component->hub_free(hub);
}

static unsigned advance(Net *net)
{
    unsigned active = 0;
    for (Http *h = net->exchanges; h; h = h->next) {
        if (h->wants_resume && h->transfer) {
            h->wants_resume = false;
            net->component->resume(h->transfer);
        }
        if (h->state == HTTP_RESOLVING)
            take_addresses(h);
        if (h->state == HTTP_READY)
            start(h);
        active += h->state == HTTP_RUNNING || h->state == HTTP_RESOLVING;
    }
    return active;
}

bool net_pump(Kernel *k)
{
    Net *net = k->net;
    if (!net || !net->hub)
        return false;
    if (net->changed)
        take_change(k);
    free_abandoned(net);
    if (net->leaves && !net->exchanges) {
        leave_hub(k);
        return k->ready_first != NULL;
    }
    net->active = advance(net);
    if (!net->active)
        return k->ready_first != NULL;
    net->component->perform(net->hub);
    for (Http *h = net->exchanges; h; h = h->next) {
        if (h->state == HTTP_RESOLVING)
            take_addresses(h);
        conclude(h);
    }
    return k->ready_first != NULL;
}

bool net_active(const Kernel *k) { return k->net && k->net->active; }

void net_poll(Kernel *k, int64_t nanoseconds) { k->net->component->poll(k->net->hub, nanoseconds); }

/* k->lock is held. */
void net_wake(Kernel *k)
{
    if (k->net && k->net->hub)
        k->net->component->wake(k->net->hub);
}

void net_end_run(Kernel *k)
{
    Net *net = k->net;
    if (!net)
        return;
    while (net->exchanges) {
        Http *h = net->exchanges;
        net->exchanges = h->next;
        http_free(h);
    }
    net->active = 0;
    net->requests = net->downloaded = net->uploaded = 0;
}

void net_free(Kernel *k)
{
    Net *net = k->net;
    if (!net)
        return;
    net_end_run(k);
    if (net->hub)
        net->component->hub_free(net->hub);
    net_config_unref(net->config);
    free(net);
    k->net = NULL;
}
