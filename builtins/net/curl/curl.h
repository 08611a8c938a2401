/* curl: what the files of the command share. An Operation is what the options between two --next say; a Job is one URL of it. */
#ifndef LIBSHELL_CURL_H
#define LIBSHELL_CURL_H

#include "command.h"
#include "lib/kernel/http.h"

#define CURL_VERSION "7.88.1"
#define CURL_AGENT "curl/" CURL_VERSION

/* curl's exit statuses that this file set gives. */
enum {
    CURL_UNSUPPORTED = 1, CURL_FAILED_INIT = 2, CURL_MALFORMED = 3, CURL_PARTIAL = 18, CURL_HTTP_ERROR = 22, CURL_WRITE_ERROR = 23, CURL_READ_ERROR = 26,
    CURL_TIMED_OUT = 28, CURL_RANGE = 33, CURL_RESUME = 36, CURL_TOO_MANY_REDIRECTS = 47
};

typedef struct List { Slice *item; size_t n, cap; } List;

typedef enum { OUT_STDOUT, OUT_FILE, OUT_REMOTE_NAME } OutKind;
typedef struct UrlEntry {
    const char *url;      /* NULL: only an output was given so far */
    OutKind out;
    const char *file;
    bool has_out, upload_set, no_body;
    const char *upload;   /* -T, or NULL */
} UrlEntry;

typedef struct FormPart FormPart;

typedef struct Operation {
    struct Operation *next;
    UrlEntry *url;
    size_t nurls, urls_cap;
    const char *method, *user, *agent, *referer, *range, *writeout, *cookie_jar, *dump_header, *output_dir, *bearer, *query;
    bool auto_referer, no_agent;
    List headers, cookies;     /* cookies: -b, strings and files */
    Buf data;
    bool has_data, json, get, head, include, remote_time, header_name, follow, follow_trusted, fail, fail_body, compressed, insecure, create_dirs, remote_all, globoff;
    bool silent, show_error, no_progress, progress_bar, verbose, retry_refused, retry_all, junk_cookies, http09, parallel;
    unsigned keep_post;
    FormPart *form, **form_end;
    bool form_unreadable;
    int64_t max_redirs, retries, retry_delay, retry_max, connect_ms, max_ms, max_size, max_receive, max_send, low_limit, low_time;
    bool resume, resume_auto;
    int64_t resume_at;
    int family, http_version, tls_min;
} Operation;

typedef struct Cookie {
    struct Cookie *next;
    Slice domain, path, name, value;
    bool subdomains, secure, http_only, expired;
    int64_t expires;      /* 0: with the session */
} Cookie;

typedef struct Curl {
    Proc *p;
    Operation *first, *last;
    Cookie *cookies, **cookies_end;
    bool fail_early, stderr_set;
    int err;              /* where messages go: 2, or what --stderr opened */
    unsigned files;       /* nesting of -K */
    size_t url_number;
    int64_t downloaded, uploaded; /* by all transfers */
} Curl;

/* options.c */
typedef enum { PARSE_OK, PARSE_STOP } ParseState; /* STOP: *status is the command's */
ParseState curl_parse(Curl *c, int argc, char **argv, int *status);
extern const Option curl_options[];
void curl_complain(Curl *c, const char *format, ...) PRINTF_LIKE(2, 3); /* "curl: ..." on the error stream */
void curl_warn(Curl *c, const Operation *o, const char *format, ...) PRINTF_LIKE(3, 4); /* "Warning: ...", unless silent */
int curl_usage(Curl *c); /* the line that says where help is; status 2 */
void list_add(Curl *c, List *l, Slice item);
Operation *operation_new(Curl *c);
bool operation_has_url(const Operation *o);

/* config.c */
int curl_config(Curl *c, const char *file); /* -K; 0, or -errno when it cannot be read, or a status of an option in it */
const char *curl_option_wrong(const char *name); /* NULL, or "is unknown" or "is ambiguous" */
ParseState curl_option(Curl *c, const char *name, char *value, bool *used, int *status); /* one option by its spelling, for -K */

/* data.c */
int data_add(Curl *c, Operation *o, const char *option, const char *value, int kind);
enum { DATA_ASCII, DATA_BINARY, DATA_RAW, DATA_URLENCODE, DATA_JSON };
const char *read_failure(Curl *c, const char *name, Slice *out); /* NULL, or what failed; "-" is standard input */
const char *append_query(Curl *c, const char *url, Slice query);
void put_encoded(Buf *b, Slice s);
void put_form_encoded(Buf *b, Slice s);
void put_without_lines(Buf *b, Slice s);

/* form.c */
int form_add(Curl *c, Operation *o, const char *text, bool plain);
int form_build(Curl *c, const Operation *o, Buf *body, const char **content_type);

/* glob.c */
typedef struct Glob Glob;
Glob *glob_open(Curl *c, const char *url, bool off, const char **error, size_t *at); /* NULL with *error for a bad pattern */
bool glob_next(Glob *g, const char **url);
const char *glob_name(Glob *g, const char *name); /* #1 ... replaced by what the current URL has there */

/* cookies.c */
void cookies_load(Curl *c, const Operation *o, const Url *u); /* u: whose cookies header lines in files are */
bool cookies_on(const Operation *o);
const char *cookies_for(Curl *c, const Operation *o, const Url *u, bool first_origin); /* NULL: none */
void cookies_take(Curl *c, const Url *u, Slice head);
int cookies_save(Curl *c, const char *file);
bool curl_date(Proc *p, Slice text, int64_t *seconds); /* an HTTP date */

/* A transfer as --write-out and the meter see it. */
typedef struct Report {
    const Operation *o;
    const char *url, *effective, *method, *filename, *error, *redirect_url, *referer, *content_type;
    Slice head;
    NetResult r;
    int status;
    unsigned redirects, headers;
    double before;      /* seconds that earlier hops took */
    int64_t header_bytes, request_bytes;
    long connects;
    size_t number;
} Report;

/* writeout.c */
void writeout(Curl *c, const Report *r, const char *format);

/* meter.c */
typedef struct Meter {
    bool on, bar, headed, ended;
    int64_t start_ns;
} Meter;
void meter_begin(Curl *c, Meter *m, const Operation *o);
void meter_parallel(Curl *c, bool begin); /* of -Z: what stands before all transfers and behind them */
void meter_first(Curl *c, Meter *m);
void meter_end(Curl *c, Meter *m, int64_t total, int64_t down, int64_t up_total, int64_t up, double seconds);

/* transfer.c */
int curl_run(Curl *c, Operation *o);

#endif
