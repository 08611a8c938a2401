/* transfer: one URL from its first request to its last: redirects, retries, output, what is told of it. */
#include "curl.h"

#include <stdio.h>
#include <sys/stat.h>

typedef struct Job {
    Curl *c;
    Operation *o;
    const UrlEntry *entry;
    const char *url;         /* with a scheme, -G data added */
    const char *given;
    HttpRequest request;
    List headers;
    Http *http;
    int fd;                  /* of the output; -1: not opened yet */
    const char *file;        /* NULL: standard output */
    bool to_stdout, wrote, header_file_open;
    bool quiet_end;          /* the head being traced is an interim one or an error: its empty line is not shown */
    bool goes_on;            /* the answer is a redirect that will be followed */
    uint64_t bytes;          /* of the output file, of this try */
    int header_fd;
    int64_t resume_from;
    const char *error;       /* of the job, when it is not the engine's */
    int upload_fd;
    int64_t upload_len;
    Meter meter;
    Report report;
    int64_t started_ns;
} Job;

static int fail(Job *j, int status, const char *message)
{
    j->error = message;
    return status;
}

/* ---------- verbose ---------- */

static void put_err(Job *j, Slice s)
{
    output_flush(j->c->p->out);
    proc_write(j->c->p, j->c->err, s);
}

/* The last line of the meter, once a try: before curl says what becomes of the connection. */
static void end_meter(Job *j)
{
    if (!j->meter.on || j->meter.ended)
        return;
    j->meter.ended = true;
    const NetResult *r = j->http ? http_result(j->http) : &j->report.r;
    int64_t up = j->request.has_body ? r->size_upload : 0;
    meter_end(j->c, &j->meter, r->size_download, r->size_download, up, up, j->report.before + r->total);
    put_err(j, SLICE("\n"));
}

/* The meter leaves its line open: curl's remarks go on in it. */
static void trace(Job *j)
{
    char kind;
    Slice text;
    if (!j->o->verbose || !j->http)
        return;
    while (http_trace(j->http, &kind, &text)) {
        while (text.len) {
            bool first = kind == '<' && slice_starts(text, SLICE("HTTP/"));
            size_t n = slice_find(text, '\n') + 1;
            Slice line = slice(text.data, MIN(n, text.len));
            if (kind == '*' && (slice_starts(line, SLICE("Connection #")) || slice_starts(line, SLICE("Closing connection"))))
                end_meter(j);
            size_t code = slice_find(line, ' ') + 1;
            if (first)
                j->quiet_end = code < line.len && (line.data[code] == '1' || (j->o->fail && line.data[code] >= '4'));
            if (kind != '<' || !j->quiet_end || !slice_is(line, "\r\n"))
                put_err(j, slice_str(mem_printf(&j->c->p->mem, "%c %.*s", kind, (int)line.len, line.data)));
            text = slice_from(text, line.len);
            if (j->goes_on && first && j->request.has_body)
                put_err(j, SLICE("* Please rewind output before next send\n"));
            if (kind == '<' && j->goes_on && slice_is(line, "\r\n"))
                put_err(j, SLICE("* Ignoring the response-body\n"));
        }
    }
}

/* ---------- where the output goes ---------- */

static const char *remote_name(Job *j)
{
    Proc *p = j->c->p;
    Slice s = slice_str(j->given);
    size_t scheme = slice_search(s, SLICE("://"));
    if (scheme != SIZE_MAX)
        s = slice_from(s, scheme + 3);
    s.len = MIN(s.len, MIN(slice_find(s, '?'), slice_find(s, '#')));
    size_t first = slice_find(s, '/');
    if (first == s.len)
        return NULL;
    size_t last = s.len;
    while (s.data[last - 1] != '/')
        last--;
    Slice name = slice(s.data + last, s.len - last);
    return name.len ? mem_copy(&p->keep, name) : NULL;
}

static const char *in_output_dir(Job *j, const char *name)
{
    if (!j->o->output_dir || !name)
        return name;
    return mem_printf(&j->c->p->keep, "%s/%s", j->o->output_dir, name);
}

static int make_parents(Job *j, const char *file)
{
    char *copy = mem_strdup(&j->c->p->mem, file);
    for (char *at = copy + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            int err = proc_mkdir(j->c->p, copy, 0750);
            *at = '/';
            if (err && err != -EEXIST)
                return err;
        }
    return 0;
}

/* The name of Content-Disposition, without directories: for -J. */
static const char *disposition_name(Job *j)
{
    Slice v;
    if (!http_header(j->http, "content-disposition", &v))
        return NULL;
    size_t at = slice_search(v, SLICE("filename="));
    if (at == SIZE_MAX)
        return NULL;
    v = slice_from(v, at + 9);
    char quote = v.len && (v.data[0] == '"' || v.data[0] == '\'') ? v.data[0] : 0;
    v = quote ? slice(v.data + 1, slice_find(slice_from(v, 1), quote)) : slice(v.data, slice_find(v, ';'));
    for (size_t i = v.len; i-- > 0;)
        if (v.data[i] == '/' || v.data[i] == '\\') {
            v = slice_from(v, i + 1);
            break;
        }
    return v.len ? mem_copy(&j->c->p->keep, v) : NULL;
}

static int open_output(Job *j)
{
    Curl *c = j->c;
    if (j->to_stdout || j->fd >= 0)
        return 0;
    bool exclusive = false;
    if (j->o->header_name && j->entry->out == OUT_REMOTE_NAME) {
        const char *name = disposition_name(j);
        exclusive = name != NULL;
        if (name)
            j->file = in_output_dir(j, name);
    }
    if (j->o->create_dirs)
        make_parents(j, j->file);
    int flags = V_WRITE | V_CREATE | (j->resume_from ? V_APPEND : exclusive ? V_EXCL : V_TRUNC);
    j->fd = proc_open(c->p, j->file, flags, 0666);
    if (j->fd < 0) {
        int err = j->fd;
        j->fd = -1;
        curl_warn(c, j->o, "Failed to open the file %s: %s", j->file, error_text(err));
        return fail(j, CURL_WRITE_ERROR, exclusive ? "Failed writing header" : "Failure writing output to destination");
    }
    j->report.filename = j->file;
    return 0;
}

static int put(Job *j, Slice s)
{
    int err = open_output(j);
    if (err)
        return err;
    j->wrote = true;
    if (j->to_stdout) {
        output_flush(j->c->p->out);
        return proc_write(j->c->p, 1, s) < 0 ? fail(j, CURL_WRITE_ERROR, "Failed writing body") : 0;
    }
    j->bytes += s.len;
    return proc_write(j->c->p, j->fd, s) < 0 ? fail(j, CURL_WRITE_ERROR, "Failed writing body") : 0;
}

static int choose_output(Job *j, Glob *g)
{
    const UrlEntry *e = j->entry;
    j->fd = -1;
    j->to_stdout = e->out == OUT_STDOUT || (e->out == OUT_FILE && strcmp(e->file, "-") == 0);
    if (e->out == OUT_FILE)
        j->file = in_output_dir(j, glob_name(g, e->file));
    if (e->out == OUT_REMOTE_NAME) {
        j->file = in_output_dir(j, remote_name(j));
        if (!j->file)
            return fail(j, CURL_WRITE_ERROR, "Failed writing received data to disk/application");
    }
    return 0;
}

/* ---------- the request ---------- */

static void add_header(Job *j, const char *line) { list_add(j->c, &j->headers, slice_str(line)); }

static bool has_header(const Job *j, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < j->headers.n; i++) {
        Slice s = j->headers.item[i];
        bool same = s.len > n && (s.data[n] == ':' || s.data[n] == ';');
        for (size_t k = 0; same && k < n; k++)
            same = (s.data[k] | 32) == (name[k] | 32);
        if (same)
            return true;
    }
    return false;
}

static void set_user(Job *j)
{
    const char *user = j->o->user;
    if (!user)
        return;
    const char *colon = strchr(user, ':');
    j->request.user = colon ? mem_copy(&j->c->p->keep, slice(user, (size_t)(colon - user))) : user;
    j->request.password = colon ? colon + 1 : "";
}

/* How often `text` is in the rest of the file that is sent; the file stands where it stood. */
static int64_t count_in_upload(Proc *p, void *user, Slice text)
{
    Job *j = user;
    int64_t begin = proc_seek(p, j->upload_fd, 0, SEEK_CUR), times = 0;
    size_t kept = 0;
    if (begin < 0)
        return -1;
    MemMark mark = mem_mark(&p->mem);
    char *block = mem_alloc(&p->mem, text.len + 65536);
    for (ssize_t n; (n = proc_read(p, j->upload_fd, block + kept, 65536)) > 0;) {
        Slice rest = slice(block, kept + (size_t)n);
        for (size_t at; (at = slice_search(rest, text)) != SIZE_MAX; times++)
            rest = slice_from(rest, at + text.len);
        kept = MIN(rest.len, text.len - 1);
        memmove(block, rest.data + rest.len - kept, kept);
        proc_tick(p, 64);
    }
    mem_reset(&p->mem, mark);
    return proc_seek(p, j->upload_fd, begin, SEEK_SET) < 0 ? -1 : times;
}

static int set_upload(Job *j)
{
    Proc *p = j->c->p;
    const char *file = j->entry->upload;
    j->upload_fd = -1;
    if (!file)
        return 0;
    if (strcmp(file, "-") == 0 || strcmp(file, ".") == 0) {
        j->upload_fd = 0;
        j->upload_len = -1;
    } else {
        VStat st;
        j->upload_fd = proc_open(p, file, V_READ, 0);
        if (j->upload_fd < 0) {
            curl_complain(j->c, "Can't open '%s'!", file);
            curl_usage(j->c);
            return fail(j, CURL_READ_ERROR, "Failed to open/read local data from file/application");
        }
        j->upload_len = proc_fstat(p, j->upload_fd, &st) == 0 && S_ISREG(st.mode) ? (int64_t)st.size : -1;
        Slice url = slice_str(j->url);
        const char *slash = strrchr(file, '/');
        size_t host = slice_search(url, SLICE("://")) + 3;
        bool bare = slice_find(slice_from(url, host), '/') == url.len - host;
        if (bare || url.data[url.len - 1] == '/')
            j->url = mem_printf(&p->keep, "%s%s%s", j->url, bare ? "/" : "", slash ? slash + 1 : file);
    }
    j->request.has_body = j->request.streams = true;
    j->request.body_len = j->upload_len;
    j->request.count = count_in_upload;
    j->request.count_user = j;
    j->request.method = SLICE("PUT");
    return 0;
}

/* curl sends one body, or asks for a head. */
static bool one_method(Job *j)
{
    const Operation *o = j->o;
    bool data = o->has_data && !o->get;
    const char *asked[3], *both = NULL;
    size_t n = 0;
    if (j->entry->upload)
        asked[n++] = "PUT (-T, --upload-file)";
    if (data)
        asked[n++] = "POST (-d, --data)";
    if (o->form)
        asked[n++] = "multipart formpost (-F, --form)";
    if (o->head && n)
        both = "HEAD (-I, --head)";
    if (!both && n < 2)
        return true;
    curl_warn(j->c, o, "You can only select one HTTP request method! You asked for both %s and %s.", asked[0], both ? both : asked[1]);
    return false;
}

static int set_body(Job *j)
{
    Operation *o = j->o;
    Buf b;
    const char *type;
    if (!one_method(j))
        return CURL_FAILED_INIT;
    if (o->form_unreadable)
        return fail(j, CURL_READ_ERROR, "Failed to open/read local data from file/application");
    if (o->form) {
        buf_init(&b, &j->c->p->keep, BUF_MAX);
        form_build(j->c, o, &b, &type);
        if (!has_header(j, "Content-Type"))
            add_header(j, mem_strdup(&j->c->p->keep, type));
        j->request.body = buf_slice(&b);
    } else if (o->has_data && !o->get) {
        j->request.body = slice(o->data.data ? o->data.data : "", o->data.len);
    } else {
        return set_upload(j);
    }
    j->request.has_body = j->request.post = true;
    j->request.method = SLICE("POST");
    return 0;
}

static int set_range(Job *j)
{
    Operation *o = j->o;
    VStat st;
    if (o->resume)
        j->resume_from = !o->resume_auto ? o->resume_at : j->file && proc_stat(j->c->p, j->file, 0, &st) == 0 ? (int64_t)st.size : 0;
    if (j->resume_from && j->request.streams)
        j->request.resume_from = j->resume_from;
    else if (j->resume_from)
        j->request.range = mem_printf(&j->c->p->keep, "%lld-", (long long)j->resume_from);
    else
        j->request.range = o->range;
    return 0;
}

static int build_request(Job *j)
{
    Operation *o = j->o;
    j->request = (HttpRequest){.method = SLICE("GET"), .body_len = -1, .insecure = o->insecure, .family = o->family, .http_version = o->http_version, .connect_timeout_ms = o->connect_ms,
                               .max_file_size = o->max_size, .max_receive_speed = o->max_receive, .max_send_speed = o->max_send, .low_speed_limit = o->low_limit,
                               .low_speed_time = o->low_time, .tls_min = o->tls_min};
    for (size_t i = 0; i < o->headers.n; i++)
        list_add(j->c, &j->headers, o->headers.item[i]);
    if (o->json && !has_header(j, "Content-Type"))
        add_header(j, "Content-Type: application/json");
    if (o->json && !has_header(j, "Accept"))
        add_header(j, "Accept: application/json");
    j->request.bearer = has_header(j, "Authorization") ? NULL : o->bearer;
    int err = set_body(j);
    if (err)
        return err;
    set_range(j);
    if (o->head)
        j->request.method = SLICE("HEAD");
    j->request.no_body = o->head;
    j->request.fail = o->fail;
    j->request.http09 = o->http09;
    if (o->method)
        j->request.method = slice_str(o->method);
    j->request.user_agent = o->no_agent ? NULL : o->agent ? o->agent : CURL_AGENT;
    j->request.referer = o->referer;
    j->request.accept_encoding = o->compressed ? "" : NULL;
    set_user(j);
    j->request.url = slice_str(j->url);
    return 0;
}

/* ---------- heads ---------- */

static int put_heads(Job *j)
{
    Curl *c = j->c;
    Slice heads = http_heads(j->http);
    Operation *o = j->o;
    cookies_take(c, http_url(j->http), http_last_head(j->http));
    if (o->dump_header) {
        if (!j->header_file_open) {
            bool dash = strcmp(o->dump_header, "-") == 0;
            j->header_fd = dash ? 1 : proc_open(c->p, o->dump_header, V_WRITE | V_CREATE | (o == c->first && c->url_number <= 1 ? V_TRUNC : V_APPEND), 0666);
            if (j->header_fd < 0) {
                curl_complain(c, "Failed to open %s", o->dump_header);
                return CURL_WRITE_ERROR;
            }
            j->header_file_open = true;
        }
        if (j->header_fd == 1)
            out_write(c->p->out, heads);
        else
            proc_write(c->p, j->header_fd, heads);
    }
    return o->include || o->head ? put(j, heads) : 0;
}

static unsigned count_headers(Slice head)
{
    unsigned n = 0;
    while (head.len) {
        size_t end = slice_find(head, '\n');
        n += slice_find(slice(head.data, end), ':') < end;
        head = slice_from(head, MIN(end + 1, head.len));
    }
    return n;
}

/* ---------- one exchange ---------- */

static void send_upload(Job *j)
{
    Proc *p = j->c->p;
    char *block = mem_alloc(&p->mem, 65536);
    int64_t left = j->upload_len;
    for (;;) {
        ssize_t n = proc_read(p, j->upload_fd, block, left >= 0 ? (size_t)MIN(left, (int64_t)65536) : 65536);
        if (n <= 0 || !http_send(p, j->http, slice(block, (size_t)n)))
            break;
        left -= left >= 0 ? n : 0;
        if (left == 0)
            break;
    }
    http_send_end(j->http);
}

static int read_body(Job *j, bool discard)
{
    Slice part;
    int status = 0;
    while (http_read(j->c->p, j->http, &part, -1) > 0) {
        MemMark m = mem_mark(&j->c->p->mem);
        trace(j);
        if (!discard && !status)
            status = put(j, part);
        mem_reset(&j->c->p->mem, m);
        if (status)
            break;
    }
    return status;
}

/* What the answer's head alone decides. */
static int judge_head(Job *j, int code, bool *discard)
{
    if (j->o->fail && !j->o->fail_body && code >= 400) {
        *discard = true;
        return fail(j, CURL_HTTP_ERROR, mem_printf(&j->c->p->keep, "The requested URL returned error: %d", code));
    }
    if (j->resume_from && code == 416) {
        *discard = true;
        return 0;
    }
    if (j->resume_from && code / 100 == 2 && code != 206 && !j->entry->upload) {
        *discard = true;
        return fail(j, CURL_RANGE, "HTTP server doesn't seem to support byte ranges. Cannot resume.");
    }
    return 0;
}

static void remember(Job *j)
{
    Report *r = &j->report;
    NetResult now = *http_result(j->http);
    r->r = now;
    r->header_bytes += now.size_header;
    r->request_bytes += now.size_request;
    r->connects += now.num_connects;
    j->c->downloaded += now.size_download;
    j->c->uploaded += now.size_upload;
    Slice head = http_last_head(j->http), type;
    r->head = slice(mem_copy(&j->c->p->keep, head), head.len);
    r->headers = count_headers(head);
    r->effective = mem_copy(&j->c->p->keep, http_url(j->http)->text);
    r->method = mem_copy(&j->c->p->keep, j->request.method);
    r->content_type = http_header(j->http, "content-type", &type) ? mem_copy(&j->c->p->keep, type) : NULL;
    r->referer = j->request.referer;
}

static int engine_status(Job *j)
{
    const HttpError *e = http_error(j->http);
    return e->code ? fail(j, e->code, mem_strdup(&j->c->p->keep, e->message)) : 0;
}

/* Follows, or notes where it would go. *again: another hop is to be made. */
static int follow(Job *j, bool *again)
{
    HttpRequest next;
    HttpError e;
    *again = false;
    bool is = http_redirect(j->c->p, j->http, &j->request, j->o->keep_post, &next, &e);
    if (e.code)
        return j->o->follow ? fail(j, e.code, mem_strdup(&j->c->p->keep, e.message)) : 0;
    if (!is)
        return 0;
    if (!j->o->follow) {
        j->report.redirect_url = mem_copy(&j->c->p->keep, next.url);
        return 0;
    }
    if (j->o->max_redirs >= 0 && (int64_t)j->report.redirects >= j->o->max_redirs)
        return fail(j, CURL_TOO_MANY_REDIRECTS, mem_printf(&j->c->p->keep, "Maximum (%lld) redirects followed", (long long)j->o->max_redirs));
    if (j->o->method) /* -X stays, whatever the answer says: its manual warns of it */
        next.method = slice_str(j->o->method);
    if (j->o->auto_referer)
        next.referer = mem_copy(&j->c->p->keep, http_url(j->http)->text);
    next.url = slice(mem_copy(&j->c->p->keep, next.url), next.url.len);
    j->request = next;
    j->report.redirects++;
    *again = true;
    return 0;
}

static int64_t time_left(const Job *j)
{
    if (!j->o->max_ms)
        return 0;
    int64_t gone = (proc_monotonic(j->c->p) - j->started_ns) / 1000000;
    return MAX(j->o->max_ms - gone, (int64_t)1);
}

static int exchange(Job *j, bool *again)
{
    Proc *p = j->c->p;
    HttpError e;
    Url u;
    const char *why;
    *again = false;
    bool here = !j->request.crossed;
    if (url_parse(&p->mem, j->request.url, &u, &why) == 0)
        j->request.cookie = cookies_for(j->c, j->o, &u, here);
    j->request.headers = j->request.hops ? j->request.headers : j->headers.item;
    j->request.nheaders = j->request.hops ? j->request.nheaders : j->headers.n;
    j->request.timeout_ms = time_left(j);
    j->http = http_open(p, &j->request, &e);
    if (!j->http && e.code == HTTP_NO_HOST && j->o->verbose)
        put_err(j, slice_str(mem_printf(&p->mem, "* %s\n* Closing connection 0\n", e.message)));
    if (!j->http)
        return fail(j, e.code, mem_strdup(&p->keep, e.message));
    if (j->request.streams && j->upload_fd >= 0)
        send_upload(j);
    bool discard = false, came = http_head(p, j->http);
    int status = 0, code = came ? http_status(j->http) : 0;
    bool some = http_heads(j->http).len > 0;
    int judged = came ? judge_head(j, code, &discard) : 0;
    int redirect = !judged && came ? follow(j, again) : 0;
    j->goes_on = *again;
    trace(j);
    if (some)
        status = put_heads(j);
    status = status ? status : judged ? judged : redirect;
    if (!judged || !discard) {
        int read = read_body(j, *again || discard || redirect);
        status = status ? status : read;
    }
    trace(j);
    if (*again && j->o->verbose)
        put_err(j, slice_str(mem_printf(&p->mem, "* Issue another request to this URL: '%.*s'\n", (int)j->request.url.len, j->request.url.data)));
    remember(j);
    int ended = status ? 0 : engine_status(j);
    http_close(p, j->http);
    j->http = NULL;
    if (!status && !ended && j->o->fail_body && code >= 400)
        return fail(j, CURL_HTTP_ERROR, mem_printf(&p->keep, "The requested URL returned error: %d", code));
    if (ended)
        *again = false;
    return status ? status : ended;
}

/* All hops of one try. */
static int attempt(Job *j)
{
    bool again = true;
    int status = 0;
    j->started_ns = proc_monotonic(j->c->p);
    Url u;
    const char *why;
    if (url_parse(&j->c->p->mem, j->request.url, &u, &why) == -EINVAL)
        return fail(j, CURL_MALFORMED, "URL using bad/illegal format or missing URL");
    meter_begin(j->c, &j->meter, j->o);
    meter_first(j->c, &j->meter);
    while (again && !status) {
        status = exchange(j, &again);
        if (again && !status)
            j->report.before += j->report.r.total;
    }
    end_meter(j);
    return status;
}

/* ---------- retries ---------- */

static const char *transient(const Job *j, int status)
{
    long code = j->report.r.response;
    if (status == CURL_TIMED_OUT || status == HTTP_NO_HOST)
        return "timeout";
    if (status == HTTP_NO_CONNECT && j->o->retry_refused && j->report.r.code == HTTP_NO_CONNECT)
        return "connection refused";
    if ((!status || status == CURL_HTTP_ERROR) && (code == 408 || code == 429 || code == 500 || code == 502 || code == 503 || code == 504))
        return "HTTP error";
    return j->o->retry_all && status ? "(retrying all errors)" : NULL;
}

static void tell(Job *j, int status)
{
    if (status && j->error && (!j->o->silent || j->o->show_error))
        curl_complain(j->c, "(%d) %s", status, j->error);
}

static int with_retries(Job *j)
{
    int64_t left = j->o->retries, wait = 1, begun = proc_monotonic(j->c->p);
    for (;;) {
        int status = attempt(j);
        const char *why = left ? transient(j, status) : NULL;
        int64_t gone = (proc_monotonic(j->c->p) - begun) / 1000000000;
        int64_t pause = j->o->retry_delay ? j->o->retry_delay : wait;
        if (!why || (j->o->retry_max && gone >= j->o->retry_max))
            return status;
        tell(j, status);
        curl_warn(j->c, j->o, "Problem %s%s. Will retry in %lld seconds. %lld retries left.", why[0] == '(' ? "" : ": ", why, (long long)pause, (long long)left);
        left--;
        wait = MIN(wait * 2, (int64_t)600);
        if (proc_sleep(j->c->p, pause * 1000000000))
            return status;
        if (j->fd >= 0 && j->bytes && !j->o->silent)
            put_err(j, slice_str(mem_printf(&j->c->p->mem, "Throwing away %llu bytes\n", (unsigned long long)j->bytes)));
        j->bytes = 0;
        if (j->fd >= 0 && !j->resume_from) {
            proc_ftruncate(j->c->p, j->fd, 0);
            proc_seek(j->c->p, j->fd, 0, SEEK_SET);
        }
        if (j->upload_fd > 0)
            proc_seek(j->c->p, j->upload_fd, 0, SEEK_SET);
        j->error = NULL;
        j->report = (Report){.o = j->o, .url = j->report.url, .number = j->report.number, .filename = j->report.filename};
        j->request.url = slice_str(j->url);
        j->request.hops = 0;
        j->request.crossed = false;
    }
}

/* ---------- one URL ---------- */

static int scheme_of(Job *j)
{
    Slice s = slice_str(j->url);
    size_t n = slice_search(s, SLICE("://"));
    if (n == SIZE_MAX) {
        j->url = mem_printf(&j->c->p->keep, "http://%s", j->url);
        return 0;
    }
    Url u;
    const char *why;
    if (!n)
        return fail(j, CURL_MALFORMED, "URL using bad/illegal format or missing URL");
    char *probe = mem_printf(&j->c->p->mem, "%.*s://a/", (int)n, s.data);
    if (url_parse(&j->c->p->mem, slice_str(probe), &u, &why) == 0)
        return 0;
    return fail(j, CURL_UNSUPPORTED, mem_printf(&j->c->p->keep, "Protocol \"%.*s\" not supported or disabled in libcurl", (int)n, s.data));
}

static void set_time(Job *j)
{
    Slice v;
    Slice head = j->report.head;
    static const char name[] = "last-modified:";
    while (head.len) {
        size_t n = slice_find(head, '\n');
        v = slice(head.data, n);
        head = slice_from(head, MIN(n + 1, head.len));
        bool same = v.len > sizeof name - 1;
        for (size_t i = 0; same && i < sizeof name - 1; i++)
            same = (v.data[i] == '-' ? '-' : v.data[i] | 32) == (name[i] == '-' ? '-' : name[i] | 32);
        int64_t when;
        if (same && curl_date(j->c->p, slice_from(v, sizeof name - 1), &when)) {
            VTime t = {.seconds = when, .how = VTIME_SET};
            proc_futimes(j->c->p, j->fd, t, t);
            return;
        }
    }
}

static int finish(Job *j, int status)
{
    Curl *c = j->c;
    if (!status && !j->to_stdout && j->fd < 0 && !j->error && j->report.r.response)
        status = open_output(j); /* an empty answer is an empty file */
    if (j->fd >= 0) {
        if (j->o->remote_time)
            set_time(j);
        proc_close(c->p, j->fd);
    }
    if (j->header_file_open && j->header_fd != 1)
        proc_close(c->p, j->header_fd);
    if (j->upload_fd > 0)
        proc_close(c->p, j->upload_fd);
    tell(j, status);
    j->report.status = status;
    j->report.error = j->error;
    if (j->o->writeout)
        writeout(c, &j->report, j->o->writeout);
    return status;
}

static int run_url(Curl *c, Operation *o, const UrlEntry *e, Glob *g, const char *url)
{
    Job *j = mem_alloc0(&c->p->keep, sizeof *j);
    *j = (Job){.c = c, .o = o, .entry = e, .url = url, .given = url, .fd = -1, .upload_fd = -1};
    j->report = (Report){.o = o, .url = url, .number = c->url_number++};
    int status = choose_output(j, g);
    status = status ? status : scheme_of(j);
    if (!status && o->get && o->has_data)
        j->url = append_query(c, j->url, buf_slice(&o->data));
    if (!status && o->query)
        j->url = append_query(c, j->url, slice_str(o->query));
    if (!status) {
        status = build_request(j);
        status = status ? status : with_retries(j);
    }
    return finish(j, status);
}

int curl_run(Curl *c, Operation *o)
{
    int status = 0;
    Url u = {.host = SLICE(""), .path = SLICE("/")};
    const char *why;
    for (size_t i = 0; i < o->nurls; i++)
        if (o->url[i].url && url_parse(&c->p->mem, slice_str(o->url[i].url), &u, &why) == 0)
            break;
    cookies_load(c, o, &u);
    for (size_t i = 0; i < o->nurls; i++) {
        const UrlEntry *e = &o->url[i];
        const char *error = NULL, *url = NULL;
        size_t at = 0;
        if (!e->url)
            continue;
        Glob *g = glob_open(c, e->url, o->globoff, &error, &at);
        if (!g) {
            curl_complain(c, "(3) %s in URL position %zu:\n%s\n%*s^", error, at, e->url, (int)at - 1, "");
            status = CURL_MALFORMED;
            continue;
        }
        while (glob_next(g, &url)) {
            status = run_url(c, o, e, g, url);
            if (status && c->fail_early)
                return status;
        }
    }
    if (o->cookie_jar && cookies_save(c, o->cookie_jar))
        curl_warn(c, o, "failed to save cookies in %s", o->cookie_jar);
    return status;
}
