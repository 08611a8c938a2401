/* rules: what a URL rule says, whether it speaks of a URL, and what all of them come to. */
#include "lib/kernel/net.h"

static int refuse(const char **why, const char *text)
{
    *why = text;
    return -EINVAL;
}

/* A methods list is tokens with commas between them. */
static bool methods_valid(Slice s)
{
    while (s.len) {
        size_t n = slice_find(s, ',');
        if (!net_method_valid(slice(s.data, n)) || n + 1 == s.len)
            return false;
        s = slice_from(s, MIN(n + 1, s.len));
    }
    return true;
}

/* The host part with its star taken off; a star elsewhere is a byte that no host has, so url_parse refuses it. */
static Slice take_star(Slice host, UrlRule *out)
{
    out->host_match = HOST_EXACT;
    if (slice_starts(host, SLICE("*."))) {
        out->host_match = HOST_BELOW;
        return slice_from(host, 2);
    }
    if (slice_starts(host, SLICE("*")) && (host.len == 1 || host.data[1] == '/' || host.data[1] == ':')) {
        out->host_match = HOST_ANY;
        return slice_from(host, 1);
    }
    return host;
}

int url_rule_parse(Mem *m, Slice text, Slice methods, UrlRule *out, const char **why)
{
    memset(out, 0, sizeof *out);
    *why = NULL;
    Slice rest = text;
    size_t colon = slice_search(text, SLICE("://"));
    Slice scheme = colon == SIZE_MAX ? SLICE("https") : slice(text.data, colon);
    if (colon != SIZE_MAX)
        rest = slice_from(text, colon + 3);
    rest = take_star(rest, out);
    Buf b;
    buf_init(&b, m, 4 * URL_MAX);
    buf_append(&b, scheme);
    buf_append(&b, SLICE("://"));
    if (out->host_match == HOST_ANY)
        buf_char(&b, '_');
    buf_append(&b, rest);
    Url u;
    int err = b.failed ? -ENOMEM : url_parse(m, buf_slice(&b), &u, why);
    if (err)
        return err;
    if (u.unicode)
        return refuse(why, "a rule's host is written in its xn-- form");
    if (u.has_user || u.target.len != u.path.len || u.odd_path)
        return refuse(why, "a rule has no user, query or odd path");
    if (out->host_match == HOST_BELOW && u.kind != URL_NAME)
        return refuse(why, "a star stands before a name");
    if (!methods_valid(methods))
        return refuse(why, "bad list of methods");
    char *copy = mem_copy(m, methods);
    if (!copy)
        return -ENOMEM;
    out->http = !u.secure;
    out->https = u.secure;
    out->host = out->host_match == HOST_ANY ? slice(NULL, 0) : u.host;
    out->port = u.port;
    out->path = u.path;
    out->methods = slice(copy, methods.len);
    return 0;
}

static bool host_matches(const UrlRule *r, const Url *u)
{
    if (r->host_match == HOST_ANY)
        return true;
    if (r->host_match == HOST_EXACT)
        return slice_eq(r->host, u->host);
    if (u->kind != URL_NAME || u->host.len <= r->host.len + 1)
        return false;
    size_t at = u->host.len - r->host.len;
    return u->host.data[at - 1] == '.' && slice_eq(slice_from(u->host, at), r->host);
}

static bool method_matches(const UrlRule *r, Slice method)
{
    Slice s = r->methods;
    if (!s.len)
        return true;
    while (s.len) {
        size_t n = slice_find(s, ',');
        if (slice_eq(slice(s.data, n), method))
            return true;
        s = slice_from(s, MIN(n + 1, s.len));
    }
    return false;
}

/* On a segment boundary. A denial of /admin/ speaks of /admin as well. */
static bool path_matches(const UrlRule *r, const Url *u)
{
    Slice prefix = r->path;
    if (prefix.len && prefix.data[prefix.len - 1] == '/') {
        if (slice_starts(u->path, prefix))
            return true;
        prefix.len--;
        return r->deny && slice_eq(prefix, u->path);
    }
    return slice_starts(u->path, prefix) && (u->path.len == prefix.len || u->path.data[prefix.len] == '/');
}

static bool has_path(const UrlRule *r) { return r->path.len > 1; }

static bool origin_matches(const UrlRule *r, const Url *u)
{
    if (GUARD(RULE_SCHEME, u->secure ? !r->https : !r->http))
        return false;
    if (GUARD(RULE_HOST, !host_matches(r, u)))
        return false;
    return !GUARD(RULE_PORT, r->port != u->port);
}

bool url_rule_matches(const UrlRule *r, const Url *u, Slice method)
{
    if (!origin_matches(r, u) || GUARD(RULE_METHOD, !method_matches(r, method)))
        return false;
    /* An odd path may be any path to the server: it is never within an allowed prefix, and within every denied one. */
    if (has_path(r) && u->odd_path && GUARD(URL_ODD_PATH, true))
        return r->deny;
    return !GUARD(RULE_PATH, !path_matches(r, u));
}

NetDecision net_decide(const NetPolicy *policy, const Url *u, Slice method)
{
    NetDecision d = {0};
    for (size_t i = 0; i < policy->nrules; i++) {
        const UrlRule *r = &policy->rules[i];
        if (!url_rule_matches(r, u, method))
            continue;
        if (GUARD(RULE_DENY, r->deny))
            return (NetDecision){.rule = r};
        if (r->deny)
            continue;
        d.allowed = true;
        d.rule = d.rule ? d.rule : r;
        d.allow_private |= r->allow_private;
        d.named |= r->allow_private && r->host_match == HOST_EXACT && u->kind != URL_NAME;
    }
    if (!GUARD(RULE_NONE, !d.allowed))
        d.allowed = true;
    return d;
}

static bool in_ranges(const NetRange *list, size_t n, const NetAddress *a)
{
    for (size_t i = 0; i < n; i++)
        if (net_range_has(&list[i], a))
            return true;
    return false;
}

bool net_address_allowed(const NetPolicy *policy, const NetDecision *d, const Url *u, const NetAddress *a, bool own)
{
    AddressClass class = net_address_class(a);
    if (u->kind != URL_NAME && memcmp(&u->address, a, sizeof *a) != 0)
        return false;
    if (in_ranges(policy->also_metadata, policy->nalso_metadata, a))
        class = ADDRESS_METADATA;
    else if (class == ADDRESS_PUBLIC && in_ranges(policy->also_private, policy->nalso_private, a))
        class = ADDRESS_PRIVATE;
    if (GUARD(ADDRESS_METADATA, class == ADDRESS_METADATA) && !d->named)
        return false;
    if (GUARD(ADDRESS_OWN, class == ADDRESS_PUBLIC && own && !d->allow_private))
        return false;
    return !GUARD(ADDRESS_PRIVATE, class == ADDRESS_PRIVATE && !d->allow_private);
}

void url_rule_print(const UrlRule *r, Buf *out)
{
    static const char *const hosts[] = {[HOST_EXACT] = "", [HOST_BELOW] = "*.", [HOST_ANY] = "*"};
    bool v6 = r->host_match == HOST_EXACT && memchr(r->host.data, ':', r->host.len);
    buf_append(out, r->http && r->https ? SLICE("http(s)") : r->http ? SLICE("http") : SLICE("https"));
    buf_printf(out, "://%s%s", hosts[r->host_match], v6 ? "[" : "");
    buf_append(out, r->host);
    if (v6)
        buf_char(out, ']');
    if (r->port && r->port != (r->https ? 443 : 80))
        buf_printf(out, ":%u", r->port);
    buf_append(out, r->path.len ? r->path : SLICE("/"));
    if (!r->methods.len && !r->allow_private)
        return;
    buf_append(out, SLICE(" ("));
    buf_append(out, r->methods);
    buf_append(out, r->allow_private ? r->methods.len ? SLICE("; private addresses too") : SLICE("private addresses too") : SLICE(""));
    buf_char(out, ')');
}
