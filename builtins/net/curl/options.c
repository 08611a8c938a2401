/* options: curl's option grammar: unique beginnings of long names, --no-NAME for what is a switch, values glued to short letters. */
#include "curl.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    O_LONG = 256, O_BASIC, O_BODY_FAIL, O_BINARY, O_RAW_DATA, O_URLENCODE, O_JSON, O_FORM_STRING, O_MAX_REDIRS, O_POST301, O_POST302, O_POST303, O_CONNECT, O_RETRY, O_RETRY_ALL,
    O_RETRY_REFUSED, O_RETRY_DELAY, O_RETRY_MAX, O_COMPRESSED, O_URL, O_CREATE_DIRS, O_OUTPUT_DIR, O_HTTP11, O_HTTP2, O_HTTP2_PRIOR, O_STDERR, O_NO_METER, O_BEARER, O_MAX_SIZE,
    O_LIMIT_RATE, O_TRUSTED, O_URL_QUERY, O_REMOTE_ALL, O_FAIL_EARLY, O_TLS10, O_TLS11, O_TLS12, O_TLS13, O_ACCEPTED, O_REFUSED, O_REFUSED_VALUE, O_HTTP09, O_PARALLEL_MAX,
};

#define ROW(letter, name, kind, help, value, id) {letter, name, kind, help, value, id}
#define FLAG(letter, name, help) ROW(letter, name, OPT_FLAG, help, NULL, letter)
#define VALUE(letter, name, help, value) ROW(letter, name, OPT_VALUE, help, value, letter)
#define REFUSED(letter, name) ROW(letter, name, OPT_FLAG, NULL, NULL, O_REFUSED)
#define REFUSED_VALUE(letter, name) ROW(letter, name, OPT_VALUE, NULL, "X", O_REFUSED_VALUE)
#define ACCEPTED(letter, name) ROW(letter, name, OPT_FLAG, NULL, NULL, O_ACCEPTED)

const Option curl_options[] = {
    VALUE('A', "user-agent", "Send User-Agent <name> to server", "name"),
    VALUE('b', "cookie", "Send cookies from string/file", "data|filename"),
    VALUE('c', "cookie-jar", "Write cookies to <filename> after operation", "filename"),
    VALUE('C', "continue-at", "Resumed transfer offset", "offset"),
    VALUE('d', "data", "HTTP POST data", "data"),
    ROW(0, "data-ascii", OPT_VALUE, "HTTP POST ASCII data", "data", 'd'),
    ROW(0, "data-binary", OPT_VALUE, "HTTP POST binary data", "data", O_BINARY),
    ROW(0, "data-raw", OPT_VALUE, "HTTP POST data, '@' allowed", "data", O_RAW_DATA),
    ROW(0, "data-urlencode", OPT_VALUE, "HTTP POST data URL encoded", "data", O_URLENCODE),
    VALUE('D', "dump-header", "Write the received headers to <filename>", "filename"),
    VALUE('e', "referer", "Referrer URL", "URL"),
    FLAG('f', "fail", "Fail fast with no output on HTTP errors"),
    ROW(0, "fail-early", OPT_FLAG, "Fail on first transfer error, do not continue", NULL, O_FAIL_EARLY),
    ROW(0, "fail-with-body", OPT_FLAG, "Fail on HTTP errors but save the body", NULL, O_BODY_FAIL),
    VALUE('F', "form", "Specify multipart MIME data", "name=content"),
    ROW(0, "form-string", OPT_VALUE, "Specify multipart MIME data", "name=string", O_FORM_STRING),
    FLAG('G', "get", "Put the post data in the URL and use GET"),
    FLAG('g', "globoff", "Disable URL sequences and ranges using {} and []"),
    VALUE('H', "header", "Pass custom header(s) to server", "header/@file"),
    FLAG('h', "help", "Get help for commands"),
    FLAG('I', "head", "Show document info only"),
    FLAG('i', "include", "Include protocol response headers in the output"),
    FLAG('J', "remote-header-name", "Use the header-provided filename"),
    FLAG('j', "junk-session-cookies", "Ignore session cookies read from file"),
    ROW(0, "json", OPT_VALUE, "HTTP POST JSON", "data", O_JSON),
    FLAG('k', "insecure", "Allow insecure server connections"),
    VALUE('K', "config", "Read config from a file", "file"),
    FLAG('L', "location", "Follow redirects"),
    ROW(0, "location-trusted", OPT_FLAG, "Like --location, and send auth to other hosts", NULL, O_TRUSTED),
    ROW(0, "limit-rate", OPT_VALUE, "Limit transfer speed to RATE", "speed", O_LIMIT_RATE),
    VALUE('m', "max-time", "Maximum time allowed for transfer", "fractional seconds"),
    ROW(0, "connect-timeout", OPT_VALUE, "Maximum time allowed for connection", "fractional seconds", O_CONNECT),
    ROW(0, "max-filesize", OPT_VALUE, "Maximum file size to download", "bytes", O_MAX_SIZE),
    ROW(0, "max-redirs", OPT_VALUE, "Maximum number of redirects allowed", "num", O_MAX_REDIRS),
    FLAG('N', "no-buffer", "Disable buffering of the output stream"),
    ROW(':', "next", OPT_FLAG, "Make next URL use its separate set of options", NULL, ':'),
    ROW(0, "no-progress-meter", OPT_FLAG, "Do not show the progress meter", NULL, O_NO_METER),
    ROW(0, "oauth2-bearer", OPT_VALUE, "OAuth 2 Bearer Token", "token", O_BEARER),
    VALUE('o', "output", "Write to file instead of stdout", "file"),
    ROW(0, "output-dir", OPT_VALUE, "Directory to save files in", "dir", O_OUTPUT_DIR),
    ROW(0, "create-dirs", OPT_FLAG, "Create necessary local directory hierarchy", NULL, O_CREATE_DIRS),
    FLAG('O', "remote-name", "Write output to a file named as the remote file"),
    ROW(0, "remote-name-all", OPT_FLAG, "Use the remote file name for all URLs", NULL, O_REMOTE_ALL),
    ROW(0, "post301", OPT_FLAG, "Do not switch to GET after following a 301", NULL, O_POST301),
    ROW(0, "post302", OPT_FLAG, "Do not switch to GET after following a 302", NULL, O_POST302),
    ROW(0, "post303", OPT_FLAG, "Do not switch to GET after following a 303", NULL, O_POST303),
    FLAG('Z', "parallel", "Take transfers at the same time; here one behind the other"),
    ROW(0, "parallel-immediate", OPT_FLAG, "Do not wait for multiplexing", NULL, O_ACCEPTED),
    ROW(0, "parallel-max", OPT_VALUE, "Maximum concurrency for parallel transfers", "num", O_PARALLEL_MAX),
    FLAG('#', "progress-bar", "Display transfer progress as a bar"),
    FLAG('q', "disable", "Disable .curlrc"),
    VALUE('r', "range", "Retrieve only the bytes within RANGE", "range"),
    FLAG('R', "remote-time", "Set the remote file's time on the local output"),
    VALUE('X', "request", "Specify request method to use", "method"),
    ROW(0, "retry", OPT_VALUE, "Retry request if transient problems occur", "num", O_RETRY),
    ROW(0, "retry-all-errors", OPT_FLAG, "Retry all errors (use with --retry)", NULL, O_RETRY_ALL),
    ROW(0, "retry-connrefused", OPT_FLAG, "Retry on connection refused (use with --retry)", NULL, O_RETRY_REFUSED),
    ROW(0, "retry-delay", OPT_VALUE, "Wait time between retries", "seconds", O_RETRY_DELAY),
    ROW(0, "retry-max-time", OPT_VALUE, "Retry only within this period", "seconds", O_RETRY_MAX),
    FLAG('S', "show-error", "Show error even when -s is used"),
    FLAG('s', "silent", "Silent mode"),
    VALUE('Y', "speed-limit", "Stop transfers slower than this", "speed"),
    VALUE('y', "speed-time", "Trigger 'speed-limit' abort after this time", "seconds"),
    ROW(0, "stderr", OPT_VALUE, "Where to redirect stderr", "file", O_STDERR),
    FLAG('1', "tlsv1", "Use TLSv1.0 or greater"),
    ROW(0, "tlsv1.0", OPT_FLAG, "Use TLSv1.0 or greater", NULL, O_TLS10),
    ROW(0, "tlsv1.1", OPT_FLAG, "Use TLSv1.1 or greater", NULL, O_TLS11),
    ROW(0, "tlsv1.2", OPT_FLAG, "Use TLSv1.2 or greater", NULL, O_TLS12),
    ROW(0, "tlsv1.3", OPT_FLAG, "Use TLSv1.3 or greater", NULL, O_TLS13),
    VALUE('T', "upload-file", "Transfer local FILE to destination", "file"),
    ROW(0, "url", OPT_VALUE, "URL to work with", "url", O_URL),
    ROW(0, "url-query", OPT_VALUE, "Add a URL query part", "data", O_URL_QUERY),
    VALUE('u', "user", "Server user and password", "user:password"),
    FLAG('v', "verbose", "Make the operation more talkative"),
    FLAG('V', "version", "Show version number and quit"),
    VALUE('w', "write-out", "Use output FORMAT after completion", "format"),
    ROW(0, "compressed", OPT_FLAG, "Request compressed response", NULL, O_COMPRESSED),
    FLAG('4', "ipv4", "Resolve names to IPv4 addresses"),
    FLAG('6', "ipv6", "Resolve names to IPv6 addresses"),
    FLAG('0', "http1.0", "Use HTTP 1.0"),
    ROW(0, "http0.9", OPT_FLAG, "Allow HTTP 0.9 responses", NULL, O_HTTP09),
    ROW(0, "http1.1", OPT_FLAG, "Use HTTP 1.1", NULL, O_HTTP11),
    ROW(0, "http2", OPT_FLAG, "Use HTTP 2", NULL, O_HTTP2),
    ROW(0, "http2-prior-knowledge", OPT_FLAG, "Use HTTP 2 without HTTP/1.1 Upgrade", NULL, O_HTTP2_PRIOR),
    ROW(0, "basic", OPT_FLAG, "Use HTTP Basic Authentication", NULL, O_BASIC),
    ACCEPTED(0, "keepalive"), ACCEPTED(0, "buffer"), ACCEPTED(0, "styled-output"), ACCEPTED(0, "tcp-nodelay"), ACCEPTED(0, "sessionid"), ACCEPTED(0, "alpn"), ACCEPTED(0, "ssl-reqd"),
    REFUSED_VALUE('x', "proxy"), REFUSED_VALUE('U', "proxy-user"), REFUSED_VALUE(0, "preproxy"), REFUSED_VALUE(0, "proxy1.0"), REFUSED_VALUE(0, "proxy-header"), REFUSED_VALUE(0, "noproxy"),
    REFUSED('p', "proxytunnel"), REFUSED(0, "proxy-insecure"), REFUSED_VALUE(0, "proxy-cacert"), REFUSED_VALUE(0, "socks4"), REFUSED_VALUE(0, "socks4a"), REFUSED_VALUE(0, "socks5"),
    REFUSED_VALUE(0, "socks5-hostname"), REFUSED_VALUE(0, "cacert"), REFUSED_VALUE(0, "capath"), REFUSED_VALUE('E', "cert"), REFUSED_VALUE(0, "key"), REFUSED_VALUE(0, "pinnedpubkey"),
    REFUSED_VALUE(0, "ciphers"), REFUSED_VALUE(0, "resolve"), REFUSED_VALUE(0, "connect-to"), REFUSED_VALUE(0, "interface"), REFUSED_VALUE(0, "unix-socket"),
    REFUSED_VALUE(0, "abstract-unix-socket"), REFUSED_VALUE(0, "dns-servers"), REFUSED_VALUE(0, "dns-interface"), REFUSED_VALUE(0, "dns-ipv4-addr"), REFUSED_VALUE(0, "dns-ipv6-addr"),
    REFUSED_VALUE(0, "doh-url"), REFUSED(0, "doh-insecure"), REFUSED('n', "netrc"), REFUSED(0, "netrc-optional"), REFUSED_VALUE(0, "netrc-file"), REFUSED(0, "negotiate"), REFUSED(0, "ntlm"),
    REFUSED(0, "digest"), REFUSED(0, "anyauth"), REFUSED_VALUE(0, "alt-svc"), REFUSED_VALUE(0, "hsts"), REFUSED_VALUE(0, "request-target"), REFUSED(0, "path-as-is"), REFUSED_VALUE(0, "libcurl"),
    REFUSED_VALUE(0, "engine"), REFUSED_VALUE(0, "local-port"), REFUSED_VALUE(0, "crlfile"), REFUSED_VALUE(0, "trace"), REFUSED_VALUE(0, "trace-ascii"),
    OPTIONS_END,
};

Operation *operation_new(Curl *c)
{
    Operation *o = mem_alloc0(&c->p->keep, sizeof *o);
    o->max_redirs = 50;
    o->form_end = &o->form;
    buf_init(&o->data, &c->p->keep, BUF_MAX);
    if (c->last) { /* these are of the whole invocation */
        o->silent = c->last->silent;
        o->show_error = c->last->show_error;
        o->no_progress = c->last->no_progress;
        o->progress_bar = c->last->progress_bar;
        o->verbose = c->last->verbose;
        c->last->next = o;
    } else {
        c->first = o;
    }
    c->last = o;
    return o;
}

/* ---------- URLs and outputs, matched in their order ---------- */

static UrlEntry *entry_at(Curl *c, Operation *o, size_t i)
{
    if (i >= o->urls_cap) {
        size_t cap = o->urls_cap * 2 + 8;
        o->url = mem_grow(&c->p->keep, o->url, o->urls_cap * sizeof *o->url, cap * sizeof *o->url);
        memset(o->url + o->urls_cap, 0, (cap - o->urls_cap) * sizeof *o->url);
        o->urls_cap = cap;
    }
    o->nurls = MAX(o->nurls, i + 1);
    return &o->url[i];
}

static void add_url(Curl *c, Operation *o, const char *url)
{
    size_t i = 0;
    while (i < o->nurls && o->url[i].url)
        i++;
    UrlEntry *e = entry_at(c, o, i);
    e->url = url;
    if (!e->has_out && o->remote_all)
        e->out = OUT_REMOTE_NAME;
}

static void add_output(Curl *c, Operation *o, OutKind kind, const char *file)
{
    size_t i = 0;
    while (i < o->nurls && o->url[i].has_out)
        i++;
    UrlEntry *e = entry_at(c, o, i);
    e->has_out = true;
    e->out = kind;
    e->file = file;
}

static void add_upload(Curl *c, Operation *o, const char *file)
{
    size_t i = 0;
    while (i < o->nurls && o->url[i].upload_set)
        i++;
    UrlEntry *e = entry_at(c, o, i);
    e->upload_set = true;
    e->upload = *file ? file : NULL;
}

/* ---------- values ---------- */

static ParseState bad_number(Curl *c, int id, const char *option, const char *text, int *status)
{
    int64_t n;
    if (id == O_MAX_SIZE)
        curl_warn(c, c->last, "invalid number specified for max-filesize");
    if (id == O_MAX_SIZE || id == O_LIMIT_RATE) {
        curl_complain(c, "option %s: is badly used here", option);
        return *status = curl_usage(c), PARSE_STOP;
    }
    if (id != O_MAX_REDIRS && parse_int(text, &n) == 0 && n < 0) {
        curl_complain(c, "option %s: expected a positive numerical parameter", option);
        return *status = curl_usage(c), PARSE_STOP;
    }
    curl_complain(c, "option %s: expected a proper numerical parameter", option);
    *status = curl_usage(c);
    return PARSE_STOP;
}

static bool take_count(const char *text, int64_t *out) { return parse_int(text, out) == 0 && *out >= 0; }

static bool take_seconds(const char *text, int64_t *ms)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v >= 0) || v > 9e12)
        return false;
    *ms = (int64_t)(v * 1000 + 0.5);
    return true;
}

static bool take_rate(const char *text, int64_t *out)
{
    static const char units[] = "bkmgtp";
    char *end;
    double v = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end | 32) : units;
    if (end == text || !unit || (*end && end[1]) || !(v >= 0))
        return false;
    for (const char *u = units; u < unit; u++)
        v *= 1024;
    *out = (int64_t)v;
    return true;
}

static int add_headers(Curl *c, Operation *o, const char *value)
{
    if (value[0] != '@') {
        list_add(c, &o->headers, slice_str(value));
        return 0;
    }
    Slice text;
    if (read_failure(c, value + 1, &text)) {
        curl_warn(c, o, "Failed to open %s!", value + 1);
        return 0;
    }
    while (text.len) {
        size_t n = slice_find(text, '\n');
        Slice line = slice(text.data, n);
        text = slice_from(text, MIN(n + 1, text.len));
        while (line.len && line.data[line.len - 1] == '\r')
            line.len--;
        if (line.len)
            list_add(c, &o->headers, line);
    }
    return 0;
}

static int set_stderr(Curl *c, const char *file)
{
    if (strcmp(file, "-") == 0) {
        c->err = 1;
        return 0;
    }
    int fd = proc_open(c->p, file, V_WRITE | V_CREATE | V_TRUNC, 0666);
    if (fd < 0)
        curl_warn(c, NULL, "Failed to open %s!", file);
    else
        c->err = fd;
    return 0;
}

static void set_referer(Curl *c, Operation *o, const char *value)
{
    size_t n = strlen(value);
    o->auto_referer = n >= 5 && strcmp(value + n - 5, ";auto") == 0;
    o->referer = mem_copy(&c->p->keep, slice(value, o->auto_referer ? n - 5 : n));
    if (!*o->referer)
        o->referer = NULL;
}

static const char *read_format(Curl *c, const char *value)
{
    Slice text;
    if (value[0] != '@')
        return value;
    if (read_failure(c, value + 1, &text))
        return NULL;
    Buf b;
    buf_init(&b, &c->p->keep, BUF_MAX);
    buf_reserve(&b, 1);
    put_without_lines(&b, text);
    return b.data ? b.data : "";
}

/* ---------- one option ---------- */

static ParseState stop(int *status, int with)
{
    *status = with;
    return PARSE_STOP;
}

static void set_switch(Operation *o, int id, bool on)
{
    switch (id) {
    case 'f': o->fail = on; break;
    case O_BODY_FAIL: o->fail_body = on; break;
    case 'G': o->get = on; break;
    case 'g': o->globoff = on; break;
    case 'I': o->head = on; break;
    case 'i': o->include = on; break;
    case 'J': o->header_name = on; break;
    case 'j': o->junk_cookies = on; break;
    case 'L': o->follow = on; break;
    case O_TRUSTED: o->follow = on; break; /* what is sent to other hosts is the kernel's to say */
    case 'R': o->remote_time = on; break;
    case 'S': o->show_error = on; break;
    case 's': o->silent = on; break;
    case 'v': o->verbose = on; break;
    case '#': o->progress_bar = on; break;
    case O_NO_METER: o->no_progress = on; break;
    case O_CREATE_DIRS: o->create_dirs = on; break;
    case O_REMOTE_ALL: o->remote_all = on; break;
    case O_RETRY_ALL: o->retry_all = on; break;
    case O_RETRY_REFUSED: o->retry_refused = on; break;
    case O_COMPRESSED: o->compressed = on; break;
    case O_POST301: o->keep_post = on ? o->keep_post | 1 : o->keep_post & ~1u; break;
    case O_POST302: o->keep_post = on ? o->keep_post | 2 : o->keep_post & ~2u; break;
    case O_POST303: o->keep_post = on ? o->keep_post | 4 : o->keep_post & ~4u; break;
    case '4': o->family = on ? 4 : 0; break;
    case '6': o->family = on ? 6 : 0; break;
    case '0': o->http_version = NET_HTTP_1_0; break;
    case O_HTTP11: o->http_version = NET_HTTP_1_1; break;
    case O_HTTP2: o->http_version = NET_HTTP_2; break;
    case O_HTTP2_PRIOR: o->http_version = NET_HTTP_2_PRIOR; break;
    case '1': case O_TLS10: o->tls_min = 10; break;
    case O_TLS11: o->tls_min = 11; break;
    case O_TLS12: o->tls_min = 12; break;
    case O_TLS13: o->tls_min = 13; break;
    case O_HTTP09: o->http09 = on; break;
    case 'Z': o->parallel = on; break;
    default: break;
    }
}

static ParseState take_switch(Curl *c, int id, bool on, const char *shown, int *status)
{
    Operation *o = c->last;
    switch (id) {
    case 'h':
        print_help(c->p, command_find("curl"));
        return stop(status, 0);
    case 'V':
        out_printf(c->p->out, "curl %s (libshell) libcurl/%s\nProtocols: http https\nFeatures: alt-svc AsynchDNS brotli HTTP2 HTTPS-proxy IDN IPv6 Largefile libz SSL\n", CURL_VERSION, CURL_VERSION);
        return stop(status, 0);
    case 'k':
        if (on && !http_insecure_allowed(c->p)) {
            curl_complain(c, "option %s: refused by policy", shown);
            return stop(status, curl_usage(c));
        }
        o->insecure = on;
        return PARSE_OK;
    case ':':
        if (operation_has_url(o))
            operation_new(c);
        return PARSE_OK;
    case 'O':
        add_output(c, o, on ? OUT_REMOTE_NAME : OUT_STDOUT, NULL);
        return PARSE_OK;
    case O_FAIL_EARLY:
        c->fail_early = on;
        return PARSE_OK;
    case O_REFUSED:
        curl_complain(c, "option %s: refused by policy", shown);
        return stop(status, curl_usage(c));
    case 'f':
    case O_BODY_FAIL:
        if (on && (id == 'f' ? o->fail_body : o->fail)) {
            curl_complain(c, "You must select either --fail or --fail-with-body, not both.");
            curl_complain(c, "option %s: is badly used here", shown);
            return stop(status, curl_usage(c));
        }
        set_switch(o, id, on);
        return PARSE_OK;
    case 'i':
    case 'J':
        if (on && (id == 'i' ? o->header_name : o->include)) {
            curl_complain(c, "showing headers and --remote-header-name cannot be combined");
            return stop(status, curl_usage(c));
        }
        set_switch(o, id, on);
        return PARSE_OK;
    default:
        set_switch(o, id, on);
        return PARSE_OK;
    }
}

static bool numeric(Operation *o, int id, const char *v, bool *known)
{
    int64_t ignored;
    *known = true;
    switch (id) {
    case 'm': return take_seconds(v, &o->max_ms);
    case O_CONNECT: return take_seconds(v, &o->connect_ms);
    case O_MAX_REDIRS: return strcmp(v, "-1") == 0 ? (o->max_redirs = -1, true) : take_count(v, &o->max_redirs);
    case O_RETRY: return take_count(v, &o->retries);
    case O_RETRY_DELAY: return take_count(v, &o->retry_delay);
    case O_RETRY_MAX: return take_count(v, &o->retry_max);
    case O_MAX_SIZE: return take_rate(v, &o->max_size);
    case O_PARALLEL_MAX: return take_count(v, &ignored);
    case O_LIMIT_RATE: return take_rate(v, &o->max_receive) && take_rate(v, &o->max_send);
    case 'Y': return take_count(v, &o->low_limit) && (o->low_time = o->low_time ? o->low_time : 30, true);
    case 'y': return take_count(v, &o->low_time) && (o->low_limit = o->low_limit ? o->low_limit : 1, true);
    case 'C':
        o->resume = true;
        o->resume_auto = strcmp(v, "-") == 0;
        return o->resume_auto || take_count(v, &o->resume_at);
    default: *known = false; return true;
    }
}

static int take_body(Curl *c, Operation *o, int id, const char *option, const char *v)
{
    switch (id) {
    case 'd': return data_add(c, o, option, v, DATA_ASCII);
    case O_BINARY: return data_add(c, o, option, v, DATA_BINARY);
    case O_RAW_DATA: return data_add(c, o, option, v, DATA_RAW);
    case O_URLENCODE: return data_add(c, o, option, v, DATA_URLENCODE);
    case O_JSON: return data_add(c, o, option, v, DATA_JSON);
    case 'F':
    case O_FORM_STRING: {
        int err = form_add(c, o, v, id == O_FORM_STRING);
        if (err != CURL_FAILED_INIT)
            return err;
        curl_complain(c, "option %s: is badly used here", option);
        return curl_usage(c);
    }
    case 'H': return add_headers(c, o, v);
    case 'K': return curl_config(c, v);
    case O_STDERR: return set_stderr(c, v);
    default: return -1;
    }
}

static void take_text(Curl *c, Operation *o, int id, const char *v)
{
    switch (id) {
    case 'A': o->agent = v; o->no_agent = !*v; break;
    case 'b': list_add(c, &o->cookies, slice_str(v)); break;
    case 'c': o->cookie_jar = v; break;
    case 'D': o->dump_header = v; break;
    case 'e': set_referer(c, o, v); break;
    case 'o': add_output(c, o, OUT_FILE, v); break;
    case 'r': o->range = v; break;
    case 'T': add_upload(c, o, v); break;
    case 'u': o->user = v; break;
    case 'w': o->writeout = read_format(c, v); break;
    case 'X': o->method = v; break;
    case O_BEARER: o->bearer = v; break;
    case O_OUTPUT_DIR: o->output_dir = v; break;
    case O_URL: add_url(c, o, v); break;
    case O_URL_QUERY: {
        Buf b;
        buf_init(&b, &c->p->keep, BUF_MAX);
        Slice s = slice_str(v), name = slice(v, slice_find(s, '='));
        if (o->query)
            buf_printf(&b, "%s&", o->query);
        if (v[0] == '+') {
            buf_append(&b, slice_from(s, 1));
        } else if (name.len < s.len) {
            buf_append(&b, name);
            buf_append(&b, name.len ? SLICE("=") : SLICE(""));
            put_form_encoded(&b, slice_from(s, name.len + 1));
        } else {
            put_form_encoded(&b, s);
        }
        o->query = b.data;
        break;
    }
    default: break;
    }
}

static ParseState take_value(Curl *c, const Option *row, char *v, const char *shown, int *status)
{
    bool known;
    if (row->id == O_REFUSED_VALUE) {
        curl_complain(c, "option %s: refused by policy", shown);
        return stop(status, curl_usage(c));
    }
    if (!numeric(c->last, row->id, v, &known))
        return bad_number(c, row->id, shown, v, status);
    if (known)
        return PARSE_OK;
    int err = take_body(c, c->last, row->id, shown, v);
    if (err == -1)
        take_text(c, c->last, row->id, v);
    return err > 0 ? stop(status, err) : PARSE_OK;
}

/* ---------- spellings ---------- */

static const Option *by_letter(char letter)
{
    for (const Option *o = curl_options; o->name; o++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

/* The option of that name or unique beginning; *no: it was spelled --no-NAME. */
static const Option *by_name(const char *name, bool *no, bool *ambiguous)
{
    *no = *ambiguous = false;
    size_t n = strlen(name);
    const Option *found = NULL;
    for (const Option *o = curl_options; o->name; o++) {
        if (strcmp(o->name, name) == 0)
            return o;
        if (strncmp(o->name, name, n) == 0) {
            *ambiguous = found != NULL;
            found = o;
        }
    }
    if (found || strncmp(name, "no-", 3) != 0)
        return *ambiguous ? NULL : found;
    for (const Option *o = curl_options; o->name; o++)
        if (o->kind == OPT_FLAG && strcmp(o->name, name + 3) == 0) {
            *no = true;
            return o;
        }
    return NULL;
}

const char *curl_option_wrong(const char *name)
{
    bool no, ambiguous;
    if (name[1] != '-')
        return by_letter(name[1]) ? NULL : "is unknown";
    return by_name(name + 2, &no, &ambiguous) ? NULL : ambiguous ? "is ambiguous" : "is unknown";
}

static ParseState complain(Curl *c, const char *option, const char *what, int *status)
{
    curl_complain(c, "option %s: %s", option, what);
    return stop(status, curl_usage(c));
}

static ParseState take_long(Curl *c, const char *arg, char *value, bool *used, int *status)
{
    bool no, ambiguous;
    const Option *o = by_name(arg + 2, &no, &ambiguous);
    *used = false;
    if (!o)
        return complain(c, arg, ambiguous ? "is ambiguous" : "is unknown", status);
    if (o->kind == OPT_FLAG)
        return take_switch(c, o->id, !no, arg, status);
    if (!value)
        return complain(c, arg, "requires parameter", status);
    *used = true;
    return take_value(c, o, value, arg, status);
}

static ParseState take_cluster(Curl *c, const char *arg, char *value, bool *used, int *status)
{
    *used = false;
    for (const char *at = arg + 1; *at; at++) {
        const Option *o = by_letter(*at);
        if (!o)
            return complain(c, arg, "is unknown", status);
        if (o->kind == OPT_FLAG) {
            ParseState s = take_switch(c, o->id, true, arg, status);
            if (s != PARSE_OK)
                return s;
            continue;
        }
        *used = !at[1];
        if (!at[1] && !value)
            return complain(c, arg, "requires parameter", status);
        return take_value(c, o, at[1] ? mem_strdup(&c->p->keep, at + 1) : value, arg, status);
    }
    return PARSE_OK;
}

ParseState curl_option(Curl *c, const char *name, char *value, bool *used, int *status)
{
    return name[1] == '-' ? take_long(c, name, value, used, status) : take_cluster(c, name, value, used, status);
}

ParseState curl_parse(Curl *c, int argc, char **argv, int *status)
{
    bool options = true;
    for (int i = 1; i < argc; i++) {
        char *arg = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        bool used;
        if (!options || arg[0] != '-' || !arg[1]) {
            add_url(c, c->last, arg);
            continue;
        }
        if (strcmp(arg, "--") == 0) {
            options = false;
            continue;
        }
        if (curl_option(c, arg, next, &used, status) == PARSE_STOP)
            return PARSE_STOP;
        i += used;
    }
    return PARSE_OK;
}
