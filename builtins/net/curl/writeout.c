/* writeout: -w: %{variable}, %header{name}, escapes; json in one go. */
#include "curl.h"

#include <stdio.h>

typedef enum { TEXT, NUMBER, TIME } VarKind;

typedef struct Value {
    const char *text;    /* TEXT; NULL: null */
    int64_t number;
    double seconds;
} Value;

typedef struct Variable {
    const char *name;
    VarKind kind;
    Value (*get)(const Report *r);
} Variable;

static Value text(const char *s) { return (Value){.text = s}; }
static Value number(int64_t n) { return (Value){.number = n}; }
static Value time_of(const Report *r, double t) { return (Value){.seconds = t > 0 ? r->before + t : t}; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c; }

/* Value number `skip` of header `name` in the last head. */
static bool header(Slice head, Slice name, size_t skip, Slice *value)
{
    while (head.len) {
        size_t n = slice_find(head, '\n');
        Slice line = slice(head.data, n);
        head = slice_from(head, MIN(n + 1, head.len));
        bool same = line.len > name.len && line.data[name.len] == ':';
        for (size_t i = 0; same && i < name.len; i++)
            same = lower(line.data[i]) == lower(name.data[i]);
        if (!same || skip--)
            continue;
        line = slice_from(line, name.len + 1);
        while (line.len && (line.data[0] == ' ' || line.data[0] == '\t'))
            line = slice_from(line, 1);
        while (line.len && (unsigned char)line.data[line.len - 1] <= ' ')
            line.len--;
        *value = line;
        return true;
    }
    return false;
}

static const char *version_text(const Report *r)
{
    return r->r.http_version == 1 ? "1.0" : r->r.http_version == 2 ? "1.1" : r->r.http_version == 3 ? "2" : "0";
}

static int64_t rate(int64_t bytes, const Report *r)
{
    double s = r->before + r->r.total;
    return s > 0 ? (int64_t)((double)bytes / s) : 0;
}

#define GET(name, expression) static Value get_##name(const Report *r) { (void)r; return expression; }
GET(certs, text(""))
GET(content_type, text(r->content_type))
GET(errormsg, text(r->status ? r->error : NULL))
GET(exitcode, number(r->status))
GET(filename_effective, text(r->filename))
GET(ftp_entry_path, text(NULL))
GET(http_code, number(r->r.response))
GET(http_connect, number(0))
GET(http_version, text(version_text(r)))
GET(local_ip, text(r->r.local_ip))
GET(local_port, number(r->r.local_port))
GET(method, text(r->method))
GET(num_certs, number(0))
GET(num_connects, number(r->connects))
GET(num_headers, number(r->headers))
GET(num_redirects, number(r->redirects))
GET(proxy_ssl_verify_result, number(0))
GET(redirect_url, text(r->redirect_url))
GET(referer, text(r->referer))
GET(remote_ip, text(r->r.remote_ip))
GET(remote_port, number(r->r.remote_port))
GET(scheme, text(r->effective && strncmp(r->effective, "https", 5) == 0 ? "HTTPS" : r->r.http_version ? "HTTP" : NULL))
GET(size_download, number(r->r.size_download))
GET(size_header, number(r->header_bytes))
GET(size_request, number(r->request_bytes))
GET(size_upload, number(r->r.size_upload))
GET(speed_download, number(rate(r->r.size_download, r)))
GET(speed_upload, number(rate(r->r.size_upload, r)))
GET(ssl_verify_result, number(r->r.ssl_verify))
GET(time_appconnect, time_of(r, r->r.appconnect))
GET(time_connect, time_of(r, r->r.connect))
GET(time_namelookup, time_of(r, r->r.namelookup))
GET(time_pretransfer, time_of(r, r->r.pretransfer))
GET(time_redirect, ((Value){.seconds = r->before}))
GET(time_starttransfer, time_of(r, r->r.starttransfer))
GET(time_total, ((Value){.seconds = r->before + r->r.total}))
GET(url, text(r->url))
GET(url_effective, text(r->effective))
GET(urlnum, number((int64_t)r->number))

/* In the order of curl's JSON. */
static const Variable variables[] = {
    {"certs", TEXT, get_certs}, {"content_type", TEXT, get_content_type}, {"errormsg", TEXT, get_errormsg}, {"exitcode", NUMBER, get_exitcode},
    {"filename_effective", TEXT, get_filename_effective}, {"ftp_entry_path", TEXT, get_ftp_entry_path}, {"http_code", NUMBER, get_http_code},
    {"http_connect", NUMBER, get_http_connect}, {"http_version", TEXT, get_http_version}, {"local_ip", TEXT, get_local_ip}, {"local_port", NUMBER, get_local_port},
    {"method", TEXT, get_method}, {"num_certs", NUMBER, get_num_certs}, {"num_connects", NUMBER, get_num_connects}, {"num_headers", NUMBER, get_num_headers},
    {"num_redirects", NUMBER, get_num_redirects}, {"proxy_ssl_verify_result", NUMBER, get_proxy_ssl_verify_result}, {"redirect_url", TEXT, get_redirect_url},
    {"referer", TEXT, get_referer}, {"remote_ip", TEXT, get_remote_ip}, {"remote_port", NUMBER, get_remote_port}, {"response_code", NUMBER, get_http_code},
    {"scheme", TEXT, get_scheme}, {"size_download", NUMBER, get_size_download}, {"size_header", NUMBER, get_size_header}, {"size_request", NUMBER, get_size_request},
    {"size_upload", NUMBER, get_size_upload}, {"speed_download", NUMBER, get_speed_download}, {"speed_upload", NUMBER, get_speed_upload},
    {"ssl_verify_result", NUMBER, get_ssl_verify_result}, {"time_appconnect", TIME, get_time_appconnect}, {"time_connect", TIME, get_time_connect},
    {"time_namelookup", TIME, get_time_namelookup}, {"time_pretransfer", TIME, get_time_pretransfer}, {"time_redirect", TIME, get_time_redirect},
    {"time_starttransfer", TIME, get_time_starttransfer}, {"time_total", TIME, get_time_total}, {"url", TEXT, get_url}, {"url_effective", TEXT, get_url_effective},
    {"urlnum", NUMBER, get_urlnum},
};

static void put_json_text(Buf *b, Slice s, bool fold)
{
    buf_char(b, '"');
    for (size_t i = 0; i < s.len; i++) {
        static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
        char ch = fold ? lower(s.data[i]) : s.data[i];
        const char *at = ch ? strchr(special, ch) : NULL;
        if (at)
            buf_printf(b, "\\%c", letters[at - special]);
        else if ((unsigned char)ch < 32)
            buf_printf(b, "\\u%04x", ch);
        else
            buf_char(b, ch);
    }
    buf_char(b, '"');
}

static void put_value(Buf *b, const Variable *v, const Report *r, bool json)
{
    Value value = v->get(r);
    if (v->kind == TIME)
        buf_printf(b, "%.6f", value.seconds);
    else if (v->kind == NUMBER && !json && (strcmp(v->name, "http_code") == 0 || strcmp(v->name, "response_code") == 0 || strcmp(v->name, "http_connect") == 0))
        buf_printf(b, "%03lld", (long long)value.number);
    else if (v->kind == NUMBER)
        buf_printf(b, "%lld", (long long)value.number);
    else if (json && value.text)
        put_json_text(b, slice_str(value.text), false);
    else
        buf_append(b, slice_str(value.text ? value.text : json ? "null" : ""));
}

static void put_json(Buf *b, const Report *r)
{
    buf_char(b, '{');
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        buf_printf(b, "%s\"%s\":", i ? "," : "", variables[i].name);
        put_value(b, &variables[i], r, true);
    }
    buf_printf(b, ",\"curl_version\":\"libcurl/%s\"}", CURL_VERSION);
}

static bool seen_before(Slice head, const char *at, Slice name)
{
    Slice before = slice(head.data, (size_t)(at - head.data)), v;
    return header(before, name, 0, &v);
}

static void put_header_json(Buf *b, const Report *r)
{
    Slice rest = r->head;
    bool first = true;
    buf_char(b, '{');
    while (rest.len) {
        size_t n = slice_find(rest, '\n'), colon = slice_find(slice(rest.data, n), ':');
        Slice name = slice(rest.data, colon), v;
        const char *at = rest.data;
        rest = slice_from(rest, MIN(n + 1, rest.len));
        if (colon == n || seen_before(r->head, at, name))
            continue;
        buf_append(b, first ? SLICE("") : SLICE(",\n"));
        first = false;
        put_json_text(b, name, true);
        buf_append(b, SLICE(":["));
        for (size_t i = 0; header(r->head, name, i, &v); i++) {
            buf_append(b, i ? SLICE(",") : SLICE(""));
            put_json_text(b, v, false);
        }
        buf_char(b, ']');
    }
    buf_append(b, SLICE("\n}"));
}

typedef struct Where {
    Curl *c;
    Buf b;
    bool to_err;
} Where;

static void flush(Where *w)
{
    if (w->to_err)
        proc_write(w->c->p, w->c->err, buf_slice(&w->b));
    else
        out_write(w->c->p->out, buf_slice(&w->b));
    buf_clear(&w->b);
}

static void take_variable(Where *w, const Report *r, Slice name)
{
    Buf *b = &w->b;
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        if (slice_is(name, variables[i].name)) {
            put_value(b, &variables[i], r, false);
            return;
        }
    if (slice_is(name, "json")) {
        put_json(b, r);
    } else if (slice_is(name, "header_json")) {
        put_header_json(b, r);
    } else if (slice_is(name, "stderr") || slice_is(name, "stdout")) {
        flush(w);
        w->to_err = slice_is(name, "stderr");
        if (w->to_err)
            output_flush(w->c->p->out);
    } else if (!slice_is(name, "onerror")) {
        curl_complain(w->c, "unknown --write-out variable: '%.*s'", (int)name.len, name.data);
    }
}

static const char *take_percent(Where *w, const Report *r, const char *at, bool *stop)
{
    if (at[1] == '%') {
        buf_char(&w->b, '%');
        return at + 2;
    }
    const char *end = strchr(at, '}');
    bool is_header = strncmp(at, "%header{", 8) == 0;
    if (end && at[1] == '{') {
        Slice name = slice(at + 2, (size_t)(end - at - 2));
        *stop = slice_is(name, "onerror") && !r->status;
        take_variable(w, r, name);
        return end + 1;
    }
    if (end && is_header) {
        Slice v;
        if (header(r->head, slice(at + 8, (size_t)(end - at - 8)), 0, &v))
            buf_append(&w->b, v);
        return end + 1;
    }
    buf_char(&w->b, '%');
    return at + 1;
}

void writeout(Curl *c, const Report *r, const char *format)
{
    Where w = {.c = c};
    bool stop = false;
    buf_init(&w.b, &c->p->mem, BUF_MAX);
    for (const char *at = format; *at && !stop;) {
        if (*at == '%') {
            at = take_percent(&w, r, at, &stop);
        } else if (*at == '\\' && at[1]) {
            static const char from[] = "rnt", to[] = "\r\n\t";
            const char *k = strchr(from, at[1]);
            if (k)
                buf_char(&w.b, to[k - from]);
            else
                buf_append(&w.b, slice(at, 2));
            at += 2;
        } else {
            buf_char(&w.b, *at++);
        }
    }
    flush(&w);
}
