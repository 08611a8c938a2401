/* fetch: one URL: tries, hops, the question who asks, and where the body goes. */
#include "wget.h"

typedef enum { DONE, AGAIN, GIVE_UP, NEXT_HOP } Outcome;

typedef struct Fetch {
    Wget *w;
    const char *given;       /* with a scheme */
    Url first, now;          /* of the command line; of this hop */
    HttpRequest request;
    Http *http;
    const char *file;        /* NULL: standard output */
    int fd;
    bool appends;
    int64_t have;            /* bytes of it that are there */
    VStat there;             /* of a file that -N compares with */
    bool compares, asked;
    int64_t total;           /* of the body, with what was there; < 0: unknown */
    Dots dots;
    double seconds;
    Outcome outcome;
} Fetch;

static void set_status(Wget *w, int status)
{
    if (!w->status || status < w->status)
        w->status = status;
}

static Outcome give_up(Fetch *f, int status)
{
    set_status(f->w, status);
    return f->outcome = GIVE_UP;
}

/* ---------- the request ---------- */

static void add(Fetch *f, List *l, const char *line) { list_add(&f->w->jar, l, slice_str(line)); }

/* A line of the user's stands in the place of ours. */
static void add_own(Fetch *f, List *l, const char *name, const char *value)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < f->w->headers.n; i++) {
        Slice h = f->w->headers.item[i];
        bool same = h.len > n && h.data[n] == ':';
        for (size_t k = 0; same && k < n; k++)
            same = (h.data[k] | 32) == (name[k] | 32);
        if (same) {
            list_add(&f->w->jar, l, h);
            return;
        }
    }
    if (value)
        add(f, l, mem_printf(&f->w->p->keep, "%s: %s", name, value));
}

static bool is_own(Slice line)
{
    static const char *const names[] = {"referer", "user-agent", "accept", "accept-encoding", "cache-control", "pragma", "content-type"};
    size_t n = slice_find(line, ':');
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        bool same = n == strlen(names[i]);
        for (size_t k = 0; same && k < n; k++)
            same = (line.data[k] | 32) == names[i][k];
        if (same)
            return true;
    }
    return false;
}

static const char *http_date(Fetch *f, int64_t when)
{
    CivilTime t;
    Buf b;
    buf_init(&b, &f->w->p->mem, BUF_MAX);
    if (!tz_civil(tz_parse(&f->w->p->mem, SLICE("UTC0")), when, 0, &t) || !tz_format(&b, SLICE("%a, %d %b %Y %H:%M:%S GMT"), &t, when))
        return "";
    return b.data;
}

static void set_headers(Fetch *f)
{
    Wget *w = f->w;
    List l = {0};
    if (f->compares)
        add(f, &l, mem_printf(&w->p->keep, "If-Modified-Since: %s", http_date(f, f->there.mtime)));
    add_own(f, &l, "Cache-Control", w->no_cache ? "no-cache" : NULL);
    add_own(f, &l, "Pragma", w->no_cache ? "no-cache" : NULL);
    add_own(f, &l, "Referer", w->referer);
    add_own(f, &l, "User-Agent", *w->agent ? w->agent : NULL);
    add_own(f, &l, "Accept", "*/*");
    add_own(f, &l, "Accept-Encoding", w->compression ? "gzip" : "identity");
    add_own(f, &l, "Content-Type", f->request.has_body ? "application/x-www-form-urlencoded" : NULL);
    for (size_t i = 0; i < w->headers.n; i++)
        if (!is_own(w->headers.item[i]))
            list_add(&w->jar, &l, w->headers.item[i]);
    const char *cookie = cookies_for(&w->jar, &w->cookies, &f->now, false);
    if (cookie)
        add(f, &l, mem_printf(&w->p->keep, "Cookie: %s", cookie));
    f->request.headers = l.item;
    f->request.nheaders = l.n;
}

static bool set_request(Fetch *f)
{
    Wget *w = f->w;
    f->request = (HttpRequest){.url = f->first.text, .method = w->spider ? SLICE("HEAD") : SLICE("GET"), .body_len = -1, .insecure = w->insecure, .family = w->family, .http_version = NET_HTTP_1_1,
                               .connect_timeout_ms = w->connect_ms, .low_speed_limit = w->timeout_ms ? 1 : 0, .low_speed_time = (w->timeout_ms + 999) / 1000, .max_receive_speed = w->rate, .http09 = true};
    if (w->method) {
        f->request.method = slice_str(w->method);
        f->request.has_body = f->request.post = w->body || w->body_file || strcmp(w->method, "POST") == 0;
        f->request.body = w->body ? slice_str(w->body) : SLICE("");
    }
    if (w->body_file) {
        Slice text;
        int err = read_file(w->p, w->body_file, &text);
        if (err) {
            wget_tell(w, "BODY data file %s missing: %s\n", wget_quoted(w, w->body_file), error_text(err));
            return false;
        }
        f->request.body = slice(mem_copy(&w->p->keep, text), text.len);
    }
    return true;
}

static void set_user(Fetch *f)
{
    Wget *w = f->w;
    if (!f->asked && !w->eager_auth) {
        f->request.user = f->request.password = NULL;
        return;
    }
    f->request.user = f->first.has_user ? f->first.user.data : w->user;
    f->request.password = f->first.has_user && f->first.password.len ? f->first.password.data : w->password ? w->password : f->request.user ? "" : NULL;
}

/* ---------- where it goes ---------- */

/* Before anything is sent: false when there is nothing to do. */
static bool choose_file(Fetch *f)
{
    Wget *w = f->w;
    VStat st;
    f->fd = -1;
    if (w->output) {
        f->file = strcmp(w->output, "-") == 0 ? NULL : w->output;
        f->fd = w->out_fd;
        f->have = w->go_on && f->fd >= 0 && proc_fstat(w->p, f->fd, &st) == 0 ? (int64_t)st.size : 0;
        return true;
    }
    f->file = wget_file_name(w, &f->first, slice(NULL, 0));
    bool there = proc_stat(w->p, f->file, 0, &st) == 0;
    if (there && w->no_clobber && !w->spider) {
        wget_say(w, "File %s already there; not retrieving.\n\n", wget_quoted(w, f->file));
        return false;
    }
    if (there && w->go_on)
        f->have = (int64_t)st.size;
    f->compares = there && w->newer;
    f->there = st;
    return true;
}

static void make_parents(Fetch *f)
{
    char *copy = mem_strdup(&f->w->p->mem, f->file);
    for (char *at = copy + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            proc_mkdir(f->w->p, copy, 0777);
            *at = '/';
        }
}

static bool open_file(Fetch *f, bool partial)
{
    Wget *w = f->w;
    Slice disposition = slice(NULL, 0);
    if (w->output || f->fd >= 0) {
        if (f->fd >= 0 && f->appends && !partial)
            proc_ftruncate(w->p, f->fd, 0);
        return true;
    }
    if (w->disposition)
        http_header(f->http, "content-disposition", &disposition);
    f->file = wget_file_name(w, w->trust_names ? &f->now : &f->first, disposition);
    if (!w->newer && !w->go_on && !(w->directories && !w->no_directories))
        f->file = wget_unique(w, f->file);
    make_parents(f);
    f->fd = proc_open(w->p, f->file, V_WRITE | V_CREATE | (partial ? V_APPEND : V_TRUNC), 0666);
    if (f->fd >= 0)
        return true;
    wget_tell(w, "%s: %s\n\nCannot write to %s (%s).\n", f->file, error_text(f->fd), wget_quoted(w, f->file), error_text(f->fd));
    f->fd = -1;
    return false;
}

static void set_time(Fetch *f)
{
    Slice v;
    int64_t when;
    if (f->fd < 0 || !http_header(f->http, "last-modified", &v) || !curl_date(f->w->p, v, &when))
        return;
    VTime t = {.seconds = when, .how = VTIME_SET};
    proc_futimes(f->w->p, f->fd, t, t);
}

/* ---------- what is told ---------- */

static const char *shown_url(Fetch *f)
{
    Proc *p = f->w->p;
    size_t at = slice_search(f->now.text, SLICE("://")) + 3;
    if (!f->now.has_user)
        return mem_copy(&p->mem, f->now.text);
    return mem_printf(&p->mem, "%.*s%.*s%s@%s", (int)at, f->now.text.data, (int)f->now.user.len, f->now.user.data, f->now.password.len ? ":*password*" : "", f->now.text.data + at);
}

static const char *host_of(Fetch *f)
{
    return mem_copy(&f->w->p->mem, f->now.host);
}

static void tell_connection(Fetch *f, const char *end)
{
    Wget *w = f->w;
    const NetResult *r = f->http ? http_result(f->http) : NULL;
    const char *host = host_of(f), *address = r && r->remote_ip[0] ? r->remote_ip : NULL;
    bool reused = r && !r->num_connects && address && !*end && slice_eq(w->connected, f->now.origin);
    w->connected = f->now.origin;
    if (reused) {
        wget_say(w, "Reusing existing connection to %s%s%s:%u.\n", f->now.kind == URL_IPV6 ? "[" : "", host, f->now.kind == URL_IPV6 ? "]" : "", f->now.port);
        return;
    }
    if (f->now.kind == URL_NAME && address)
        wget_say(w, "Resolving %s (%s)... %s\nConnecting to %s (%s)|%s|:%u... ", host, host, address, host, host, address, f->now.port);
    else
        wget_say(w, "Connecting to %s%s%s:%u... ", f->now.kind == URL_IPV6 ? "[" : "", host, f->now.kind == URL_IPV6 ? "]" : "", f->now.port);
    if (*end)
        wget_tell(w, "%s", end);
    else
        wget_say(w, "connected.\n");
}

static Slice status_line(Fetch *f)
{
    Slice head = http_last_head(f->http);
    head.len = slice_find(head, '\n');
    while (head.len && (unsigned char)head.data[head.len - 1] <= ' ')
        head.len--;
    return slice_from(head, MIN(slice_find(head, ' ') + 1, head.len));
}

static void tell_head(Fetch *f)
{
    Wget *w = f->w;
    Slice status = status_line(f), head = http_last_head(f->http);
    wget_say(w, "HTTP request sent, awaiting response... ");
    if (!w->server_response) {
        wget_say(w, "%.*s\n", (int)status.len, status.data);
        return;
    }
    wget_say(w, "\n");
    while (head.len) {
        size_t n = slice_find(head, '\n');
        Slice line = slice(head.data, n);
        head = slice_from(head, MIN(n + 1, head.len));
        if (line.len && line.data[line.len - 1] == '\r')
            line.len--;
        if (line.len)
            proc_write(w->p, w->log, slice_str(mem_printf(&w->p->mem, "  %.*s\n", (int)line.len, line.data))); /* -q or not */
    }
}

static void tell_length(Fetch *f)
{
    Wget *w = f->w;
    Slice type;
    bool typed = http_header(f->http, "content-type", &type);
    if (typed)
        type.len = MIN(type.len, slice_find(type, ';'));
    if (f->total < 0) {
        wget_say(w, "Length: %s", w->ignore_length ? "ignored" : "unspecified");
    } else {
        wget_say(w, "Length: %lld", (long long)f->total);
        if (f->total >= 1024)
            wget_say(w, " (%s)", wget_size(w->p, f->total));
        int64_t left = f->total - f->have;
        if (f->have && left >= 1024)
            wget_say(w, ", %lld (%s) remaining", (long long)left, wget_size(w->p, left));
        else if (f->have)
            wget_say(w, ", %lld remaining", (long long)left);
    }
    if (typed)
        wget_say(w, " [%.*s]", (int)type.len, type.data);
    wget_say(w, "\n");
}

static void tell_saved(Fetch *f)
{
    Wget *w = f->w;
    Proc *p = w->p;
    int64_t got = f->dots.done;
    const char *now = wget_now(w, "%Y-%m-%d %H:%M:%S"), *sum = f->total >= 0 ? mem_printf(&p->mem, "%lld/%lld", (long long)got, (long long)f->total) : mem_printf(&p->mem, "%lld", (long long)got);
    if (w->brief)
        wget_tell(w, "%s URL:%s [%s] -> \"%s\" [%u]\n", now, shown_url(f), sum, f->file ? f->file : "-", 1u);
    else if (f->file)
        wget_say(w, "%s (%s) - %s saved [%s]\n\n", now, wget_rate(p, got - f->have, f->seconds), wget_quoted(w, f->file), sum);
    else
        wget_say(w, "%s (%s) - written to stdout [%s]\n\n", now, wget_rate(p, got, f->seconds), sum);
}

/* ---------- bodies ---------- */

static bool put(Fetch *f, Slice s)
{
    Wget *w = f->w;
    if (!f->file)
        output_flush(w->p->out);
    return proc_write(w->p, f->file ? f->fd : 1, s) >= 0;
}

/* What was cut off is asked for again. */
static Outcome broken(Fetch *f, const HttpError *e)
{
    Wget *w = f->w;
    Proc *p = w->p;
    const char *now = wget_now(w, "%Y-%m-%d %H:%M:%S");
    const char *what = e->code == 28 ? mem_printf(&p->mem, "Read error at byte %lld/%lld (Connection timed out).", (long long)f->dots.done, (long long)f->total)
                                     : mem_printf(&p->mem, "Connection closed at byte %lld.", (long long)f->dots.done);
    wget_say(w, "%s (%s) - %s", now, wget_rate(p, f->dots.done - f->have, f->seconds), what);
    return f->outcome = AGAIN;
}

static Outcome take_body(Fetch *f, bool partial)
{
    Wget *w = f->w;
    Slice part;
    if (!open_file(f, partial))
        return give_up(f, WGET_FILE);
    tell_length(f);
    const char *where = f->file ? wget_quoted(w, f->file) : wget_quoted(w, "STDOUT");
    wget_say(w, "Saving to: %s\n", where);
    if (w->save_headers)
        put(f, http_last_head(f->http));
    dots_begin(&f->dots, w, f->total, f->have);
    int64_t begun = proc_monotonic(w->p);
    ssize_t n;
    while ((n = http_read(w->p, f->http, &part, w->timeout_ms ? proc_monotonic(w->p) + w->timeout_ms * 1000000 : -1)) > 0) {
        MemMark m = mem_mark(&w->p->mem);
        if (!put(f, part))
            return give_up(f, WGET_FILE);
        dots_add(&f->dots, (int64_t)part.len);
        mem_reset(&w->p->mem, m);
    }
    f->seconds = (double)(proc_monotonic(w->p) - begun) / 1e9;
    dots_end(&f->dots);
    const HttpError *e = http_error(f->http);
    bool short_is_fine = w->ignore_length && e->code == CURL_PARTIAL;
    HttpError late = {.code = 28};
    if (n == -ETIMEDOUT || (e->code && !short_is_fine))
        return broken(f, n < 0 ? &late : e);
    set_time(f);
    tell_saved(f);
    w->files++;
    w->bytes += f->dots.done - f->have;
    w->seconds += f->seconds;
    return f->outcome = DONE;
}

static void skip_body(Fetch *f)
{
    Slice part;
    while (http_read(f->w->p, f->http, &part, -1) > 0)
        ;
}

/* ---------- answers ---------- */

static int code_of(Fetch *f)
{
    Slice s = status_line(f);
    int v = 0;
    for (size_t i = 0; i < s.len && i < 3 && s.data[i] >= '0' && s.data[i] <= '9'; i++)
        v = v * 10 + (s.data[i] - '0');
    return v;
}

static Outcome unauthorized(Fetch *f)
{
    Wget *w = f->w;
    Slice challenge;
    bool can = (w->user || f->first.has_user) && !f->asked && http_header(f->http, "www-authenticate", &challenge) && slice_starts(challenge, SLICE("Basic"));
    if (!can) {
        wget_say(w, "\n");
        wget_tell(w, "Username/Password Authentication Failed.\n");
        return give_up(f, WGET_AUTH);
    }
    wget_say(w, "Authentication selected: %.*s\n", (int)challenge.len, challenge.data);
    f->asked = true;
    return f->outcome = NEXT_HOP;
}

static Outcome server_error(Fetch *f, int code)
{
    Wget *w = f->w;
    Slice reason = status_line(f);
    reason = slice_from(reason, MIN((size_t)4, reason.len));
    if (w->spider) {
        wget_say(w, "Remote file does not exist -- broken link!!!\n\n");
        return give_up(f, WGET_SERVER);
    }
    if (w->content_on_error && open_file(f, false)) {
        Slice part;
        while (http_read(w->p, f->http, &part, -1) > 0)
            put(f, part);
    }
    if (w->brief)
        wget_tell(w, "%s:\n", shown_url(f));
    wget_tell(w, "%s ERROR %d: %s.\n", wget_now(w, "%Y-%m-%d %H:%M:%S"), code, reason.len ? mem_copy(&w->p->mem, reason) : "(no description)");
    wget_say(w, "\n");
    return give_up(f, WGET_SERVER);
}

static Outcome redirected(Fetch *f, bool *is)
{
    Wget *w = f->w;
    HttpRequest next;
    HttpError e;
    Slice location;
    const char *why;
    *is = http_redirect(w->p, f->http, &f->request, 0, &next, &e);
    if (!*is && !e.code)
        return DONE;
    http_header(f->http, "location", &location);
    wget_say(w, "Location: %.*s [following]\n", (int)location.len, location.data);
    if (e.code) {
        *is = true;
        wget_tell(w, "%s\n", e.message);
        return give_up(f, e.code == HTTP_NO_CONNECT ? WGET_NETWORK : WGET_GENERIC);
    }
    if ((int64_t)f->request.hops >= w->max_redirects) {
        wget_tell(w, "%lld redirections exceeded.\n", (long long)w->max_redirects);
        return give_up(f, WGET_SERVER);
    }
    skip_body(f);
    next.url = slice(mem_copy(&w->p->keep, next.url), next.url.len);
    f->request = next;
    if (url_parse(&w->p->keep, next.url, &f->now, &why))
        return give_up(f, WGET_GENERIC);
    wget_say(w, "--%s--  %s\n", wget_now(w, "%Y-%m-%d %H:%M:%S"), shown_url(f));
    return f->outcome = NEXT_HOP;
}

static Outcome spider_done(Fetch *f)
{
    Wget *w = f->w;
    Slice status = status_line(f), type;
    f->total = -1;
    Slice length;
    if (http_header(f->http, "content-length", &length))
        parse_int(mem_copy(&w->p->mem, length), &f->total);
    tell_length(f);
    bool html = http_header(f->http, "content-type", &type) && (slice_starts(type, SLICE("text/html")) || slice_starts(type, SLICE("application/xhtml+xml")));
    if (html)
        wget_say(w, "Remote file exists and could contain further links,\nbut recursion is disabled -- not retrieving.\n\n");
    else
        wget_say(w, "Remote file exists.\n\n");
    if (w->brief)
        wget_tell(w, "%s URL: %s %.*s\n", wget_now(w, "%Y-%m-%d %H:%M:%S"), shown_url(f), (int)status.len, status.data);
    return f->outcome = DONE;
}

/* -N: false when what is there is as new and as long. */
static bool is_newer(Fetch *f, int code)
{
    Wget *w = f->w;
    Slice v;
    int64_t when;
    if (!f->compares)
        return true;
    if (code == 304) {
        wget_say(w, "File %s not modified on server. Omitting download.\n\n", wget_quoted(w, f->file));
        return false;
    }
    bool old = http_header(f->http, "last-modified", &v) && curl_date(w->p, v, &when) && when <= f->there.mtime;
    if (!old || (f->total >= 0 && f->total != (int64_t)f->there.size))
        return true;
    wget_say(w, "Server ignored If-Modified-Since header for file %s.\nYou might want to add --no-if-modified-since option.\n\n", wget_quoted(w, f->file));
    return false;
}

static Outcome judge(Fetch *f)
{
    Wget *w = f->w;
    Slice length;
    bool redirect;
    int code = code_of(f);
    tell_head(f);
    cookies_take(&w->jar, http_url(f->http), http_last_head(f->http));
    if (code == 401)
        return unauthorized(f);
    if (code / 100 == 3 && code != 304) {
        Outcome r = redirected(f, &redirect);
        if (redirect)
            return r;
    }
    bool partial = code == 206 && f->have;
    f->total = -1;
    if (!w->ignore_length && http_header(f->http, "content-length", &length) && parse_int(mem_copy(&w->p->mem, length), &f->total) == 0 && partial)
        f->total += f->have;
    bool whole = f->have && (code == 416 || (code == 200 && f->total == f->have));
    if (whole) {
        wget_say(w, "\n    The file is already fully retrieved; nothing to do.\n\n");
        skip_body(f);
        return f->outcome = DONE;
    }
    if (code != 304 && code / 100 != 2)
        return server_error(f, code);
    if (w->spider)
        return spider_done(f);
    if (!is_newer(f, code))
        return f->outcome = DONE;
    if (!partial)
        f->have = 0;
    return take_body(f, partial);
}

/* The exchange ended before a head. */
static Outcome no_head(Fetch *f, const HttpError *e)
{
    Wget *w = f->w;
    const char *host = host_of(f);
    switch (e->code) {
    case HTTP_NO_HOST:
        wget_say(w, "Resolving %s (%s)... ", host, host);
        wget_tell(w, "failed: Name or service not known.\n");
        wget_tell(w, "wget: unable to resolve host address %s\n", wget_quoted(w, host));
        return give_up(f, WGET_NETWORK);
    case HTTP_NO_CONNECT:
        tell_connection(f, e->refused ? "failed: refused by policy.\n" : "failed: Connection refused.\n");
        give_up(f, WGET_NETWORK);
        return f->outcome = w->retry_refused && !e->refused ? AGAIN : GIVE_UP;
    case HTTP_MALFORMED:
        wget_tell(w, "%s: Invalid host name.\n", f->given);
        return give_up(f, WGET_GENERIC);
    case HTTP_BAD_OPTION:
        wget_tell(w, "wget: %s\n", e->message);
        return give_up(f, WGET_GENERIC);
    case 35: case 51: case 58: case 60: case 77: case 83:
        tell_connection(f, "");
        wget_tell(w, "ERROR: cannot verify %s's certificate: %s\n", host, e->message);
        return give_up(f, WGET_TLS);
    case 28:
        tell_connection(f, http_result(f->http)->connect > 0 ? "" : "failed: Connection timed out.\n");
        if (http_result(f->http)->connect > 0)
            wget_tell(w, "HTTP request sent, awaiting response... Read error (Connection timed out) in headers.\n");
        return f->outcome = AGAIN;
    case 52:
        tell_connection(f, "");
        wget_say(w, "HTTP request sent, awaiting response... ");
        wget_tell(w, "No data received.\n");
        return f->outcome = AGAIN;
    default:
        tell_connection(f, "");
        wget_say(w, "HTTP request sent, awaiting response... ");
        wget_tell(w, "Read error (%s) in headers.\n", strstr(e->message, "reset") ? "Connection reset by peer" : "Success");
        return f->outcome = AGAIN;
    }
}

static Outcome no_headers_at_all(Fetch *f)
{
    wget_say(f->w, "HTTP request sent, awaiting response... 200 No headers, assuming HTTP/0.9\n");
    f->total = -1;
    f->have = 0;
    return take_body(f, false);
}

static Outcome hop(Fetch *f)
{
    Wget *w = f->w;
    HttpError e;
    if (f->request.crossed) {
        f->request.cookie = cookies_for(&w->jar, &w->cookies, &f->now, false);
    } else {
        set_headers(f);
        set_user(f);
    }
    int64_t from = w->start >= 0 ? w->start : f->have;
    f->request.range = from ? mem_printf(&w->p->keep, "%lld-", (long long)from) : NULL;
    f->http = http_open(w->p, &f->request, &e);
    if (!f->http)
        return no_head(f, &e);
    bool came = http_head(w->p, f->http);
    Slice peek = http_heads(f->http);
    if (came) {
        tell_connection(f, "");
        judge(f);
    } else if (!http_error(f->http)->code && !peek.len) {
        tell_connection(f, "");
        no_headers_at_all(f);
    } else {
        no_head(f, http_error(f->http));
    }
    http_close(w->p, f->http);
    f->http = NULL;
    return f->outcome;
}

static bool start_try(Fetch *f, int64_t number)
{
    Wget *w = f->w;
    f->now = f->first;
    if (number == 1)
        wget_say(w, "--%s--  %s\n", wget_now(w, "%Y-%m-%d %H:%M:%S"), shown_url(f));
    else
        wget_say(w, "--%s--  (try:%2lld)  %s\n", wget_now(w, "%Y-%m-%d %H:%M:%S"), (long long)number, shown_url(f));
    return set_request(f);
}

static void tries(Fetch *f)
{
    Wget *w = f->w;
    for (int64_t n = 1;; n++) {
        if (!start_try(f, n)) {
            set_status(w, WGET_FILE);
            return;
        }
        do
            hop(f);
        while (f->outcome == NEXT_HOP);
        if (f->outcome != AGAIN)
            return;
        bool last = w->tries && n >= w->tries;
        wget_say(w, last ? "%sGiving up.\n\n" : "%sRetrying.\n\n", f->dots.done || f->total >= 0 ? " " : "");
        if (last) {
            set_status(w, WGET_NETWORK);
            return;
        }
        if (f->fd >= 0) {
            proc_ftruncate(w->p, f->fd, 0);
            proc_seek(w->p, f->fd, 0, SEEK_SET);
        }
        f->have = 0;
        f->dots = (Dots){0};
        f->total = -1;
        proc_sleep(w->p, MIN(n, w->wait_retry) * 1000000000);
    }
}

/* Blanks and control characters, which a URL has not. */
static const char *encoded(Wget *w, const char *url)
{
    Buf b;
    buf_init(&b, &w->p->keep, BUF_MAX);
    for (; *url; url++)
        if ((unsigned char)*url <= ' ' || *url == 127)
            buf_printf(&b, "%%%02X", (unsigned char)*url);
        else
            buf_char(&b, *url);
    return b.data ? b.data : "";
}

void wget_fetch(Wget *w, const char *url)
{
    Fetch f = {.w = w, .fd = -1, .total = -1};
    const char *why, *scheme = strstr(url, "://");
    f.given = scheme ? url : mem_printf(&w->p->keep, "http://%s", url);
    f.given = encoded(w, f.given);
    int err = url_parse(&w->p->keep, slice_str(f.given), &f.first, &why);
    if (err == -EINVAL && scheme && strncmp(url, "http", 4) != 0) {
        wget_tell(w, "%s: Unsupported scheme %s.\n", url, wget_quoted(w, mem_copy(&w->p->mem, slice(url, (size_t)(scheme - url)))));
        set_status(w, WGET_GENERIC);
        return;
    }
    if (err) {
        wget_tell(w, "%s: %s.\n", f.given, strstr(why, "port") ? "Bad port number" : "Invalid host name");
        set_status(w, WGET_GENERIC);
        return;
    }
    if (w->spider)
        wget_say(w, "Spider mode enabled. Check if remote file exists.\n");
    if (!choose_file(&f))
        return;
    tries(&f);
    if (f.fd >= 0 && f.fd != w->out_fd)
        proc_close(w->p, f.fd);
}
