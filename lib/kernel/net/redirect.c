/* redirect: the request of the next hop. Each hop is a new request through every check; what was meant for one origin stays there. */
#include <stdio.h>

#include "exchange.h"

static bool fail(HttpError *e, int code, const char *message)
{
    *e = (HttpError){.code = code, .refused = code == HTTP_NO_CONNECT};
    snprintf(e->message, sizeof e->message, "%s", message);
    return false;
}

/* What says nothing about who asks goes on to another origin; the rest does not. */
static bool crosses(Slice line)
{
    static const char *const names[] = {"accept", "accept-encoding", "accept-language", "content-type", "user-agent"};
    size_t n = MIN(slice_find(line, ':'), slice_find(line, ';'));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        bool same = n == strlen(names[i]);
        for (size_t k = 0; same && k < n; k++)
            same = (line.data[k] | 32) == names[i][k];
        if (same)
            return true;
    }
    return false;
}

static void leave_origin(Proc *p, HttpRequest *next)
{
    Slice *kept = mem_alloc_array(&p->mem, next->nheaders + 1, sizeof *kept);
    size_t n = 0;
    for (size_t i = 0; i < next->nheaders; i++)
        if (!GUARD(REDIRECT_HEADERS, !crosses(next->headers[i])))
            kept[n++] = next->headers[i];
    next->headers = kept;
    next->nheaders = n;
    if (GUARD(REDIRECT_HEADERS, true))
        next->user = next->password = next->cookie = next->bearer = NULL;
    if (GUARD(REDIRECT_CREDENTIAL, true))
        next->crossed = true;
}

/* curl's: a 303 is fetched, a POST becomes a GET behind 301 and 302 unless it is to stay one; HEAD stays. */
static void choose_method(int status, unsigned keep_post, HttpRequest *next)
{
    bool post = next->has_body && next->post; /* a form, whatever its method is called */
    bool turns = (status == 301 && post && !(keep_post & 1)) || (status == 302 && post && !(keep_post & 2)) ||
                 (status == 303 && !slice_is(next->method, "HEAD") && !(post && (keep_post & 4)));
    if (!turns)
        return;
    next->method = SLICE("GET");
    next->resume_from = 0;
    next->has_body = next->post = next->streams = false;
    next->body = slice(NULL, 0);
    next->body_len = -1;
}

static bool is_http(Slice scheme)
{
    char low[8] = "";
    for (size_t i = 0; i < scheme.len && i < 7; i++)
        low[i] = (char)(scheme.data[i] | 32);
    return strcmp(low, "http") == 0 || strcmp(low, "https") == 0;
}

/* Letters only, up to the colon. */
static bool scheme_alone(Slice s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((s.data[i] | 32) < 'a' || (s.data[i] | 32) > 'z')
            return false;
    return n > 0;
}

bool http_redirect(Proc *p, const Http *h, const HttpRequest *before, unsigned keep_post, HttpRequest *next, HttpError *e)
{
    int status = http_status(h);
    Slice location;
    Url to;
    const char *why;
    *e = (HttpError){0};
    if (status / 100 != 3 || status == 304 || status == 305 || status == 306 || status == 300 || !http_header(h, "location", &location) || !location.len)
        return false;
    *next = *before;
    uint64_t most = kern_limit(p->kernel, LIMIT_REDIRECTS);
    if (GUARD(NET_REDIRECTS, most && before->hops >= most))
        proc_limit(p, LIMIT_REDIRECTS);
    char *copy = mem_copy(&p->mem, location);
    int err = url_resolve(&p->mem, &h->url, slice(copy, location.len), &to, &why);
    size_t scheme = slice_search(location, SLICE("://"));
    if (err == -EINVAL && scheme < 32 && scheme_alone(location, scheme) && !is_http(slice(location.data, scheme))) {
        char text[96];
        snprintf(text, sizeof text, "Protocol \"%.*s\" not supported or disabled in libcurl", (int)scheme, location.data);
        return fail(e, HTTP_UNSUPPORTED, text);
    }
    if (err)
        return fail(e, HTTP_MALFORMED, "URL using bad/illegal format or missing URL");
    next->url = to.text;
    next->hops++;
    if (!url_same_origin(&h->url, &to)) {
        /* A head that was redacted here pointed at the secret: it does not leave its origin. */
        if (h->redactor && GUARD(REDIRECT_SECRET, slice_search(location, SLICE("[redacted]")) != SIZE_MAX))
            return fail(e, HTTP_NO_CONNECT, "a redirect to another origin with the credential in it: refused by policy");
        leave_origin(p, next);
    }
    choose_method(status, keep_post, next);
    return true;
}
