/* wget: what the files of the command share. A Wget is one invocation; a Fetch is one URL of it. */
#ifndef LIBSHELL_WGET_H
#define LIBSHELL_WGET_H

#include "net/curl/curl.h"

/* GNU wget's exit statuses. */
enum { WGET_GENERIC = 1, WGET_PARSE = 2, WGET_FILE = 3, WGET_NETWORK = 4, WGET_TLS = 5, WGET_AUTH = 6, WGET_PROTOCOL = 7, WGET_SERVER = 8 };

typedef struct Wget {
    Proc *p;
    int log;                 /* where messages go: 2, or what -o opened */
    bool quiet, brief, server_response, spider, go_on, newer, no_clobber, disposition, content_on_error, save_headers, insecure, no_cache, eager_auth;
    bool directories, no_host, no_directories, compression, trust_names, retry_refused, keep_session, ignore_length;
    const char *output, *prefix, *agent, *referer, *user, *password, *method, *body, *body_file, *input, *save_cookies;
    int64_t tries, timeout_ms, connect_ms, max_redirects, quota, rate, start, cut_dirs, wait, wait_retry;
    int family;
    List headers;
    Curl jar;                /* cookies of the run */
    Operation cookies;
    int out_fd;              /* of -O; -1 */
    int status;
    Slice connected;         /* the origin that was spoken to last */
    /* the run's sum */
    unsigned files;
    int64_t bytes;
    double seconds;
} Wget;

/* options.c */
char **wget_options(Wget *w, Args *args, int *count); /* the operands */
extern const Option wget_options_table[];

/* progress.c: rows of fifty dots, one a kibibyte. */
typedef struct Dots {
    Wget *w;
    int64_t total;           /* < 0: unknown */
    int64_t begun, done;     /* bytes: before this try, and so far */
    int64_t start_ns;
    int row, dots;
    bool on;
} Dots;
void dots_begin(Dots *d, Wget *w, int64_t total, int64_t begun);
void dots_add(Dots *d, int64_t bytes);
void dots_end(Dots *d);
const char *wget_rate(Proc *p, int64_t bytes, double seconds); /* "2.75 MB/s" */
const char *wget_size(Proc *p, int64_t bytes);                 /* "195K" */
const char *wget_seconds(Proc *p, double seconds);             /* "0.001s" */

/* wget.c */
void wget_say(Wget *w, const char *format, ...) PRINTF_LIKE(2, 3);      /* unless -q or -nv */
void wget_tell(Wget *w, const char *format, ...) PRINTF_LIKE(2, 3);     /* unless -q */
const char *wget_now(Wget *w, const char *format);
const char *wget_quoted(Wget *w, const char *s);

/* fetch.c */
void wget_fetch(Wget *w, const char *url);
/* name.c: what the answer is stored as. */
const char *wget_file_name(Wget *w, const Url *u, Slice disposition);
const char *wget_unique(Wget *w, const char *name);

#endif
