/* credential: which credential a request gets. */
#include "lib/kernel/net.h"

/* Origin, then method; the path is looked at by the caller, who must know whether it was that which failed. */
static bool origin_matches(const Credential *c, const Url *u)
{
    UrlRule anywhere = c->match;
    anywhere.path = SLICE("/");
    anywhere.methods = slice(NULL, 0);
    anywhere.deny = false;
    if (u->secure != anywhere.https && !GUARD(CREDENTIAL_PLAIN, true))
        anywhere.http = anywhere.https = true;
    return !GUARD(CREDENTIAL_ORIGIN, !url_rule_matches(&anywhere, u, slice(NULL, 0)));
}

static bool path_matches(const Credential *c, const Url *u)
{
    UrlRule path = c->match;
    path.methods = slice(NULL, 0);
    path.http = path.https = true;
    path.host_match = HOST_ANY;
    path.port = u->port;
    return !GUARD(CREDENTIAL_PATH, !url_rule_matches(&path, u, slice(NULL, 0)));
}

static bool method_matches(const Credential *c, const Url *u, Slice method)
{
    UrlRule rule = c->match;
    rule.path = SLICE("/");
    rule.http = rule.https = true;
    rule.host_match = HOST_ANY;
    rule.port = u->port;
    return !GUARD(CREDENTIAL_METHOD, !url_rule_matches(&rule, u, method));
}

const Credential *credential_find(const Credential *list, size_t n, const Url *u, Slice method, bool *refused)
{
    *refused = false;
    for (size_t i = 0; i < n; i++) {
        const Credential *c = &list[i];
        if (!origin_matches(c, u) || !method_matches(c, u, method))
            continue;
        if (c->match.path.len > 1 && GUARD(URL_ODD_PATH, u->odd_path)) {
            *refused = true;
            return NULL;
        }
        if (path_matches(c, u))
            return c;
    }
    return NULL;
}
