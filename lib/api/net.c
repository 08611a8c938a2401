/* net: what may leave, taken from the embedder's struct and checked whole before anything changes; and its callbacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "lib/base/host.h"
#include "lib/kernel/http.h"

enum { MOST_ENTRIES = 4096 };

typedef struct Build {
    shell *sh;
    const shell_net *given;
    Mem mem;
    NetConfig *config;
} Build;

static shell_err bad(Build *b, const char *what, uint64_t index, const char *why)
{
    return api_fail(b->sh, SHELL_EINVAL, "%s %llu: %s", what, (unsigned long long)index, why);
}

static Slice text(const char *s) { return s ? slice_str(s) : slice("", 0); }

/* Element `i` of an array whose elements have the size that the first one says. */
static const void *element(const void *array, uint64_t i)
{
    uint64_t size;
    memcpy(&size, array, sizeof size);
    return (const char *)array + i * size;
}

static shell_err add_rule(Build *b, UrlRule *out, const shell_url_rule *given, uint64_t i)
{
    shell_url_rule r = {0};
    const char *why;
    if (!api_copy_struct(&r, sizeof r, given) || !r.url)
        return bad(b, "rule", i, "bad size or no URL");
    int err = url_rule_parse(&b->mem, text(r.url), text(r.methods), out, &why);
    if (err)
        return err == -ENOMEM ? SHELL_ENOMEM : bad(b, "rule", i, why);
    out->deny = r.deny != 0;
    out->allow_private = r.allow_private != 0;
    return SHELL_OK;
}

static const char *secret_wrong(const shell_credential *c, const shell_net *net)
{
    if (c->kind == SHELL_CRED_SIGN)
        return net->sign ? NULL : "no callback to sign with";
    if (!c->secret)
        return net->secret ? NULL : "no secret, and no callback to ask for one";
    if (!c->no_redaction && c->secret_len < REDACT_MIN)
        return "a secret of less than 8 bytes cannot be redacted";
    for (uint64_t i = 0; i < c->secret_len; i++)
        if (c->secret[i] == '\r' || c->secret[i] == '\n' || !c->secret[i])
            return "a secret holds no line break or NUL";
    return c->secret_len > 8192 ? "a secret has at most 8,192 bytes" : NULL;
}

static bool variable_name(const char *s)
{
    if (!s || !*s || (*s >= '0' && *s <= '9'))
        return false;
    for (; *s; s++)
        if (!((*s | 32) >= 'a' && (*s | 32) <= 'z') && !(*s >= '0' && *s <= '9') && *s != '_')
            return false;
    return true;
}

/* The one that the shell has for this variable already, so that what a script holds stays good; else a new one. */
static bool make_placeholder(Build *b, Credential *c)
{
    char text[64];
    uint64_t random[2];
    if (!kern_net_placeholder(b->sh->kernel, c->name, text)) {
        host_entropy(random, sizeof random);
        snprintf(text, sizeof text, "lsh_%016llx%016llx", (unsigned long long)random[0], (unsigned long long)random[1]);
    }
    char *copy = mem_strdup(&b->mem, text);
    c->placeholder = copy ? slice_str(copy) : slice("", 0);
    return copy != NULL;
}

static shell_err add_credential(Build *b, Credential *out, const shell_credential *given, uint64_t i)
{
    shell_credential c = {0};
    const char *why;
    if (!api_copy_struct(&c, sizeof c, given) || !c.url)
        return bad(b, "credential", i, "bad size or no URL");
    if (c.kind < SHELL_CRED_BEARER || c.kind > SHELL_CRED_SIGN)
        return bad(b, "credential", i, "unknown kind");
    if ((c.kind == SHELL_CRED_HEADER || c.kind == SHELL_CRED_QUERY) && (!c.name || net_header_refused(text(c.name), slice("", 0))))
        return bad(b, "credential", i, "needs the name of a header or parameter");
    if (c.kind == SHELL_CRED_PLACEHOLDER && !variable_name(c.name))
        return bad(b, "credential", i, "needs the name of a variable");
    if (GUARD(CREDENTIAL_SHORT, secret_wrong(&c, b->given) != NULL))
        return bad(b, "credential", i, secret_wrong(&c, b->given));
    int err = url_rule_parse(&b->mem, text(c.url), text(c.methods), &out->match, &why);
    if (err)
        return err == -ENOMEM ? SHELL_ENOMEM : bad(b, "credential", i, why);
    if (GUARD(CREDENTIAL_HOST, out->match.host_match == HOST_ANY))
        return bad(b, "credential", i, "a credential is for a host");
    out->kind = (CredentialKind)c.kind;
    out->no_redaction = c.no_redaction != 0;
    out->id = i;
    char *name = mem_copy(&b->mem, text(c.name));
    out->name = name ? slice_str(name) : slice("", 0);
    out->secret = c.secret ? secret_new(slice(c.secret, c.secret_len)) : NULL;
    if (name && out->kind == CREDENTIAL_PLACEHOLDER && !make_placeholder(b, out))
        return SHELL_ENOMEM;
    return name && (out->secret || !c.secret) ? SHELL_OK : SHELL_ENOMEM;
}

static shell_err add_rules(Build *b)
{
    uint64_t n = b->given->nrules;
    UrlRule *rules = mem_alloc_array(&b->mem, n + 1, sizeof *rules);
    if (!rules)
        return SHELL_ENOMEM;
    b->config->policy.rules = rules;
    for (uint64_t i = 0; i < n; i++) {
        shell_err err = add_rule(b, &rules[i], element(b->given->rules, i), i);
        if (err)
            return err;
        b->config->policy.nrules++;
    }
    return SHELL_OK;
}

static shell_err add_credentials(Build *b)
{
    uint64_t n = b->given->ncredentials;
    b->config->credentials = mem_alloc_array(&b->mem, n + 1, sizeof(Credential));
    if (!b->config->credentials)
        return SHELL_ENOMEM;
    for (uint64_t i = 0; i < n; i++) {
        b->config->ncredentials++;
        shell_err err = add_credential(b, &b->config->credentials[i], element(b->given->credentials, i), i);
        if (err)
            return err;
    }
    return SHELL_OK;
}

static shell_err add_ranges(Build *b, const char *const *list, const NetRange **out, size_t *count)
{
    size_t n = 0;
    while (list && n < MOST_ENTRIES && list[n])
        n++;
    NetRange *ranges = mem_alloc_array(&b->mem, n + 1, sizeof *ranges);
    if (!ranges)
        return SHELL_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!net_range_parse(text(list[i]), &ranges[i]))
            return bad(b, "range", i, "not an address or ADDRESS/BITS");
    *out = ranges;
    *count = n;
    return SHELL_OK;
}

static shell_err add_texts(Build *b)
{
    NetConfig *c = b->config;
    c->allow_insecure = b->given->allow_insecure != 0;
    c->asks = b->given->decide != NULL;
    c->resolves = b->given->resolve != NULL;
    c->transport = b->given->transfer ? &transport_component : NULL;
    c->ca_file = b->given->ca_file ? mem_strdup(&b->mem, b->given->ca_file) : NULL;
    c->proxy = b->given->proxy ? mem_strdup(&b->mem, b->given->proxy) : NULL;
    return (b->given->ca_file && !c->ca_file) || (b->given->proxy && !c->proxy) ? SHELL_ENOMEM : SHELL_OK;
}

static shell_err fill(Build *b)
{
    const shell_net *g = b->given;
    int callbacks = (g->transfer != NULL) + (g->transfer_send != NULL) + (g->transfer_receive != NULL) + (g->transfer_close != NULL);
    if (callbacks % 4)
        return api_fail(b->sh, SHELL_EINVAL, "net: a transport has all four callbacks, or none");
    if (g->nrules > MOST_ENTRIES || g->ncredentials > MOST_ENTRIES || (g->nrules && !g->rules) || (g->ncredentials && !g->credentials))
        return api_fail(b->sh, SHELL_EINVAL, "net: too many entries, or none where some are counted");
    shell_err err = add_rules(b);
    err = err ? err : add_credentials(b);
    err = err ? err : add_ranges(b, g->also_private, &b->config->policy.also_private, &b->config->policy.nalso_private);
    err = err ? err : add_ranges(b, g->also_metadata, &b->config->policy.also_metadata, &b->config->policy.nalso_metadata);
    return err ? err : add_texts(b);
}

shell_err net_configure(shell *sh, const shell_net *net)
{
    shell_net given = {0};
    if (!net) {
        kern_net_set(sh->kernel, NULL);
        return SHELL_OK;
    }
    if (!api_copy_struct(&given, sizeof given, net))
        return api_fail(sh, SHELL_EINVAL, "net: bad size");
    Build b = {.sh = sh, .given = &given};
    mem_init(&b.mem, NULL, NULL, NULL);
    b.config = mem_new(&b.mem, NetConfig);
    shell_err err = b.config ? fill(&b) : SHELL_ENOMEM;
    if (!b.config)
        return err;
    b.config->mem = b.mem;
    b.config->holders = 1;
    if (err) {
        net_config_unref(b.config);
        return err == SHELL_ENOMEM ? api_fail(sh, err, "net: out of memory") : err;
    }
    pthread_mutex_lock(&sh->forks);
    sh->net = given;
    pthread_mutex_unlock(&sh->forks);
    kern_net_owner(sh->kernel, sh);
    kern_net_set(sh->kernel, b.config);
    return SHELL_OK;
}

shell_err shell_set_net(shell *sh, const shell_net *net)
{
    return sh ? net_configure(sh, net) : SHELL_EINVAL;
}

typedef struct Export {
    shell *sh;
    int err;
} Export;

static void export_one(void *user, const char *name, const char *value)
{
    Export *e = user;
    if (!e->err)
        e->err = lang_setenv(e->sh->lang, e->sh->kernel, name, value);
}

int net_export(shell *sh)
{
    Export e = {.sh = sh};
    kern_net_placeholders(sh->kernel, export_one, &e);
    return e.err;
}

/* ---------- callbacks ---------- */

static int answer(const shell_net *n, NetAsk *a)
{
    int64_t len = -1;
    switch (a->kind) {
    case NET_ASK_DECIDE:
        return n->decide && n->decide(n->user, a->method, a->url, a->hop, a->body_len) == 0 ? 0 : -EACCES;
    case NET_ASK_RESOLVE:
        if (!n->resolve || n->resolve(n->user, a->host, a->out, a->size))
            return -ENOENT;
        a->len = strnlen(a->out, a->size);
        return 0;
    case NET_ASK_SECRET:
        len = n->secret ? n->secret(n->user, a->credential, a->method, a->url, a->out, a->size) : -1;
        a->len = len < 0 ? 0 : (size_t)len;
        return len < REDACT_MIN || a->len > a->size ? -ENOENT : 0;
    case NET_ASK_SIGN:
        len = n->sign ? n->sign(n->user, a->credential, a->method, a->url, a->body, a->body_size, a->out, a->size) : -1;
        a->len = len < 0 ? 0 : (size_t)len;
        return len < 0 || a->len > a->size ? -ENOENT : 0;
    }
    return -ENOSYS;
}

void net_serve(shell *sh, const Request *r)
{
    pthread_mutex_lock(&sh->forks);
    shell_net net = sh->net;
    pthread_mutex_unlock(&sh->forks);
    sh->in_callback = true;
    int result = answer(&net, (NetAsk *)(uintptr_t)r->ask);
    sh->in_callback = false;
    kern_answer(sh->kernel, r->id, result);
}
