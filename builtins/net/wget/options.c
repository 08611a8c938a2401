/* options: GNU wget's, those that speak of one file over http. */
#include "wget.h"

#include <stdlib.h>

enum {
    O_HEADER = 256, O_POST_DATA, O_POST_FILE, O_METHOD, O_BODY_DATA, O_BODY_FILE, O_USER, O_PASSWORD, O_MAX_REDIRECT, O_NO_CHECK, O_DISPOSITION, O_PROGRESS, O_SPIDER, O_CONNECT, O_READ,
    O_DNS, O_CONTENT_ERROR, O_SAVE_HEADERS, O_NO_CACHE, O_EAGER_AUTH, O_REFERER, O_COMPRESSION, O_WAITRETRY, O_START, O_CUT_DIRS, O_LIMIT, O_LOAD_COOKIES, O_SAVE_COOKIES, O_KEEP_SESSION,
    O_NO_COOKIES, O_TRUST, O_REFUSED_RETRY, O_VERBOSE_OFF, O_SHOW_PROGRESS, O_IGNORE_LENGTH, O_IGNORED, O_IGNORED_VALUE, O_REFUSED, O_REFUSED_VALUE, O_NO_HOST, O_NO_DIRS, O_NO_CLOBBER,
};

#define REFUSED(name) {0, name, OPT_FLAG, NULL, NULL, O_REFUSED}
#define REFUSED_VALUE(name) {0, name, OPT_VALUE, NULL, "X", O_REFUSED_VALUE}
#define IGNORED(name) {0, name, OPT_FLAG, NULL, NULL, O_IGNORED}

const Option wget_options_table[] = {
    {'q', "quiet", OPT_FLAG, "quiet (no output)", NULL, 0},
    {'v', "verbose", OPT_FLAG, "be verbose (this is the default)", NULL, 0},
    {'n', NULL, OPT_VALUE, "-nv: less verbose; -nc: no file is written twice; -nd: no directories; -nH: no host directories", "LETTERS", 0},
    {0, "no-verbose", OPT_FLAG, "turn off verboseness, without being quiet", NULL, O_VERBOSE_OFF},
    {'o', "output-file", OPT_VALUE, "log messages to FILE", "FILE", 0},
    {'a', "append-output", OPT_VALUE, "append messages to FILE", "FILE", 0},
    {'i', "input-file", OPT_VALUE, "download URLs found in FILE", "FILE", 0},
    {'e', "execute", OPT_VALUE, "execute a `.wgetrc'-style command", "COMMAND", 0},
    {'t', "tries", OPT_VALUE, "set number of retries to NUMBER (0 unlimits)", "NUMBER", 0},
    {0, "retry-connrefused", OPT_FLAG, "retry even if connection is refused", NULL, O_REFUSED_RETRY},
    {'O', "output-document", OPT_VALUE, "write documents to FILE", "FILE", 0},
    {0, "no-clobber", OPT_FLAG, "skip downloads that would download to existing files", NULL, O_NO_CLOBBER},
    {'c', "continue", OPT_FLAG, "resume getting a partially-downloaded file", NULL, 0},
    {0, "start-pos", OPT_VALUE, "start downloading from zero-based position OFFSET", "OFFSET", O_START},
    {0, "progress", OPT_VALUE, "select progress gauge type; dots are shown for both", "TYPE", O_PROGRESS},
    {0, "show-progress", OPT_FLAG, "display the progress bar in any verbosity mode", NULL, O_SHOW_PROGRESS},
    {'N', "timestamping", OPT_FLAG, "don't re-retrieve files unless newer than local", NULL, 0},
    {'S', "server-response", OPT_FLAG, "print server response", NULL, 0},
    {0, "spider", OPT_FLAG, "don't download anything", NULL, O_SPIDER},
    {'T', "timeout", OPT_VALUE, "set all timeout values to SECONDS", "SECONDS", 0},
    {0, "dns-timeout", OPT_VALUE, "set the DNS lookup timeout to SECS", "SECS", O_DNS},
    {0, "connect-timeout", OPT_VALUE, "set the connect timeout to SECS", "SECS", O_CONNECT},
    {0, "read-timeout", OPT_VALUE, "set the read timeout to SECS", "SECS", O_READ},
    {'w', "wait", OPT_VALUE, "wait SECONDS between retrievals", "SECONDS", 0},
    {0, "waitretry", OPT_VALUE, "wait 1..SECONDS between retries of a retrieval", "SECONDS", O_WAITRETRY},
    {'Q', "quota", OPT_VALUE, "set retrieval quota to NUMBER", "NUMBER", 0},
    {0, "limit-rate", OPT_VALUE, "limit download rate to RATE", "RATE", O_LIMIT},
    {'4', "inet4-only", OPT_FLAG, "connect only to IPv4 addresses", NULL, 0},
    {'6', "inet6-only", OPT_FLAG, "connect only to IPv6 addresses", NULL, 0},
    {0, "user", OPT_VALUE, "set both ftp and http user to USER", "USER", O_USER},
    {0, "password", OPT_VALUE, "set both ftp and http password to PASS", "PASS", O_PASSWORD},
    {0, "http-user", OPT_VALUE, "set http user to USER", "USER", O_USER},
    {0, "http-password", OPT_VALUE, "set http password to PASS", "PASS", O_PASSWORD},
    {'x', "force-directories", OPT_FLAG, "force creation of directories", NULL, 0},
    {0, "no-directories", OPT_FLAG, "don't create directories", NULL, O_NO_DIRS},
    {0, "no-host-directories", OPT_FLAG, "don't create host directories", NULL, O_NO_HOST},
    {'P', "directory-prefix", OPT_VALUE, "save files to PREFIX/..", "PREFIX", 0},
    {0, "cut-dirs", OPT_VALUE, "ignore NUMBER remote directory components", "NUMBER", O_CUT_DIRS},
    {0, "no-cache", OPT_FLAG, "disallow server-cached data", NULL, O_NO_CACHE},
    {0, "ignore-length", OPT_FLAG, "ignore 'Content-Length' header field", NULL, O_IGNORE_LENGTH},
    {0, "header", OPT_VALUE, "insert STRING among the headers", "STRING", O_HEADER},
    {0, "compression", OPT_VALUE, "choose compression, one of auto, gzip and none", "TYPE", O_COMPRESSION},
    {0, "max-redirect", OPT_VALUE, "maximum redirections allowed per page", "NUMBER", O_MAX_REDIRECT},
    {0, "referer", OPT_VALUE, "include 'Referer: URL' header in HTTP request", "URL", O_REFERER},
    {0, "save-headers", OPT_FLAG, "save the HTTP headers to file", NULL, O_SAVE_HEADERS},
    {'U', "user-agent", OPT_VALUE, "identify as AGENT instead of Wget/VERSION", "AGENT", 0},
    {0, "no-cookies", OPT_FLAG, "don't use cookies", NULL, O_NO_COOKIES},
    {0, "load-cookies", OPT_VALUE, "load cookies from FILE before session", "FILE", O_LOAD_COOKIES},
    {0, "save-cookies", OPT_VALUE, "save cookies to FILE after session", "FILE", O_SAVE_COOKIES},
    {0, "keep-session-cookies", OPT_FLAG, "load and save session (non-permanent) cookies", NULL, O_KEEP_SESSION},
    {0, "post-data", OPT_VALUE, "use the POST method; send STRING as the data", "STRING", O_POST_DATA},
    {0, "post-file", OPT_VALUE, "use the POST method; send contents of FILE", "FILE", O_POST_FILE},
    {0, "method", OPT_VALUE, "use method \"HTTPMethod\" in the request", "HTTPMethod", O_METHOD},
    {0, "body-data", OPT_VALUE, "send STRING as data. --method MUST be set", "STRING", O_BODY_DATA},
    {0, "body-file", OPT_VALUE, "send contents of FILE. --method MUST be set", "FILE", O_BODY_FILE},
    {0, "content-disposition", OPT_FLAG, "honor the Content-Disposition header when choosing local file names", NULL, O_DISPOSITION},
    {0, "content-on-error", OPT_FLAG, "output the received content on server errors", NULL, O_CONTENT_ERROR},
    {0, "auth-no-challenge", OPT_FLAG, "send Basic HTTP authentication information without first waiting for the server's challenge", NULL, O_EAGER_AUTH},
    {0, "trust-server-names", OPT_FLAG, "use the name specified by the redirection URL's last component", NULL, O_TRUST},
    {0, "no-check-certificate", OPT_FLAG, "don't validate the server's certificate; refused unless the embedder allows it", NULL, O_NO_CHECK},
    IGNORED("no-config"), IGNORED("no-proxy"), IGNORED("no-dns-cache"), IGNORED("no-http-keep-alive"), IGNORED("random-wait"), IGNORED("no-iri"), IGNORED("no-if-modified-since"),
    IGNORED("no-use-server-timestamps"), IGNORED("no-hsts"), IGNORED("no-netrc"), IGNORED("no-glob"), IGNORED("https-only"),
    {0, "restrict-file-names", OPT_VALUE, NULL, "MODE", O_IGNORED_VALUE}, {0, "secure-protocol", OPT_VALUE, NULL, "PR", O_IGNORED_VALUE}, {0, "prefer-family", OPT_VALUE, NULL, "F", O_IGNORED_VALUE},
    REFUSED_VALUE("ca-certificate"), REFUSED_VALUE("ca-directory"), REFUSED_VALUE("certificate"), REFUSED_VALUE("private-key"), REFUSED_VALUE("ciphers"), REFUSED_VALUE("pinnedpubkey"),
    REFUSED_VALUE("crl-file"), REFUSED_VALUE("bind-address"), REFUSED_VALUE("proxy-user"), REFUSED_VALUE("proxy-password"), REFUSED_VALUE("config"), REFUSED_VALUE("use-askpass"), REFUSED_VALUE("hsts-file"),
    REFUSED_VALUE("warc-file"), REFUSED("background"), REFUSED("no-hsts-file"),
    OPTIONS_END,
};

static NORETURN void bad_value(Wget *w, const char *option, const char *what, const char *value)
{
    die(w->p, WGET_PARSE, "--%s: Invalid %s %s", option, what, wget_quoted(w, value));
}

/* These have no name before them, and another status. */
static NORETURN void stop(Wget *w, const char *message)
{
    wget_tell(w, "%s", message);
    proc_exit(w->p, WGET_GENERIC);
}

static int64_t seconds(Wget *w, const char *option, const char *text)
{
    static const char units[] = "smhdw";
    static const double factor[] = {1, 60, 3600, 86400, 604800};
    char *end;
    double v = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : units;
    if (end == text || !unit || (*end && end[1]) || !(v >= 0) || v > 1e9)
        bad_value(w, option, "time period", text);
    return (int64_t)(v * factor[unit - units] * 1000 + 0.5);
}

static int64_t count_of(Wget *w, const char *option, const char *text)
{
    int64_t v;
    if (strcmp(text, "inf") == 0)
        return 0;
    if (parse_int(text, &v) || v < 0)
        die(w->p, WGET_PARSE, "--%s: Invalid number %s.", option, wget_quoted(w, text));
    return v;
}

static int64_t bytes(Wget *w, const char *option, const char *text)
{
    static const char units[] = "kmgt";
    char *end;
    double v = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end | 32) : NULL;
    if (strcmp(text, "inf") == 0)
        return 0;
    if (end == text || (*end && (!unit || end[1])) || !(v >= 0) || v > 1e15)
        die(w->p, WGET_PARSE, "--%s: Invalid byte value %s", option, wget_quoted(w, text));
    for (const char *u = units; unit && u <= unit; u++)
        v *= 1024;
    return (int64_t)v;
}

static void open_log(Wget *w, const char *file, int flag)
{
    int fd = strcmp(file, "-") == 0 ? 1 : proc_open(w->p, file, V_WRITE | V_CREATE | flag, 0666);
    if (fd < 0)
        die_errno(w->p, WGET_GENERIC, fd, "%s", file);
    w->log = fd;
}

static void take_letters(Wget *w, Args *args, const char *letters)
{
    for (; *letters; letters++)
        switch (*letters) {
        case 'v': w->brief = true; break;
        case 'c': w->no_clobber = true; break;
        case 'd': w->no_directories = true; w->directories = false; break;
        case 'H': w->no_host = true; break;
        case 'p': case 'h': break;
        default: die(w->p, WGET_PARSE, "invalid option -- 'n%c'\n%s", *letters, args->command->hint);
        }
}

/* NAME = VALUE, of the names that mean something here or ask for less. */
static void take_command(Wget *w, const char *text)
{
    static const char *const harmless[] = {"robots", "use_proxy", "check_certificate", "http_keep_alive", "passive_ftp", "dns_cache", "hsts", "netrc", "iri"};
    Slice s = slice_str(text), name = slice(text, slice_find(s, '='));
    const char *value = name.len < s.len ? text + name.len + 1 : "";
    while (*value == ' ')
        value++;
    while (name.len && name.data[name.len - 1] == ' ')
        name.len--;
    if (slice_is(name, "check_certificate") && strcmp(value, "off") == 0 && !(w->insecure = http_insecure_allowed(w->p)))
        die(w->p, WGET_PARSE, "check_certificate: refused by policy");
    if (slice_is(name, "use_proxy") && strcmp(value, "off") != 0 && strcmp(value, "no") != 0)
        die(w->p, WGET_PARSE, "use_proxy: refused by policy");
    if (slice_is(name, "tries"))
        w->tries = count_of(w, "tries", value);
    else if (slice_is(name, "timeout"))
        w->timeout_ms = seconds(w, "timeout", value);
    else if (slice_is(name, "user_agent"))
        w->agent = value;
    else if (slice_is(name, "quiet"))
        w->quiet = strcmp(value, "on") == 0;
    else {
        for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
            if (slice_is(name, harmless[i]))
                return;
        die(w->p, WGET_PARSE, "Invalid --execute command %s", wget_quoted(w, text));
    }
}

static void take_header(Wget *w, const char *value)
{
    const char *colon = strchr(value, ':');
    if (!*value) {
        w->headers.n = 0;
        return;
    }
    if (!colon || colon == value)
        die(w->p, WGET_PARSE, "--header: Invalid header %s.", wget_quoted(w, value));
    list_add(&w->jar, &w->headers, slice_str(value));
}

static void take_body(Wget *w, int id, const char *value)
{
    bool post = id == O_POST_DATA || id == O_POST_FILE, data = id == O_POST_DATA || id == O_BODY_DATA;
    const char *kind = post ? "post" : "body";
    if (data ? w->body_file != NULL : w->body != NULL)
        stop(w, mem_printf(&w->p->mem, "You cannot specify both --%s-data and --%s-file.\n", kind, kind));
    if (post)
        w->method = "POST";
    if (data)
        w->body = value;
    else
        w->body_file = value;
}

static void check_progress(Wget *w, const char *type)
{
    size_t n = strcspn(type, ":");
    if (!(n == 3 && (memcmp(type, "dot", 3) == 0 || memcmp(type, "bar", 3) == 0)))
        die(w->p, WGET_PARSE, "--progress: Invalid progress type %s.", wget_quoted(w, type));
}

static const char *upper(Wget *w, const char *s)
{
    char *copy = mem_strdup(&w->p->keep, s);
    for (char *c = copy; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c;
    return copy;
}

static bool take_switch(Wget *w, int id)
{
    switch (id) {
    case 'q': w->quiet = true; break;
    case 'v': w->brief = w->quiet = false; break;
    case O_VERBOSE_OFF: w->brief = true; break;
    case 'c': w->go_on = true; break;
    case 'N': w->newer = true; break;
    case 'S': w->server_response = true; break;
    case 'x': w->directories = true; w->no_directories = false; break;
    case '4': w->family = 4; break;
    case '6': w->family = 6; break;
    case O_NO_DIRS: w->no_directories = true; w->directories = false; break;
    case O_NO_HOST: w->no_host = true; break;
    case O_NO_CLOBBER: w->no_clobber = true; break;
    case O_SPIDER: w->spider = true; break;
    case O_DISPOSITION: w->disposition = true; break;
    case O_CONTENT_ERROR: w->content_on_error = true; break;
    case O_SAVE_HEADERS: w->save_headers = true; break;
    case O_NO_CACHE: w->no_cache = true; break;
    case O_EAGER_AUTH: w->eager_auth = true; break;
    case O_TRUST: w->trust_names = true; break;
    case O_REFUSED_RETRY: w->retry_refused = true; break;
    case O_KEEP_SESSION: w->keep_session = true; break;
    case O_IGNORE_LENGTH: w->ignore_length = true; break;
    case O_NO_COOKIES: w->cookies.cookie_jar = NULL; break;
    case O_SHOW_PROGRESS: case O_IGNORED: break;
    default: return false;
    }
    return true;
}

static void take_value(Wget *w, Args *args, int id)
{
    const char *v = args->value;
    switch (id) {
    case 'n': take_letters(w, args, v); break;
    case 'o': open_log(w, v, V_TRUNC); break;
    case 'a': open_log(w, v, V_APPEND); break;
    case 'i': w->input = v; break;
    case 'e': take_command(w, v); break;
    case 't': w->tries = count_of(w, "tries", v); break;
    case 'O': w->output = v; break;
    case 'T': w->timeout_ms = w->connect_ms = seconds(w, "timeout", v); break;
    case 'w': w->wait = seconds(w, "wait", v); break;
    case 'Q': w->quota = bytes(w, "quota", v); break;
    case 'P': w->prefix = v; break;
    case 'U': w->agent = v; break;
    case O_START: w->start = bytes(w, "start-pos", v); break;
    case O_DNS: seconds(w, "dns-timeout", v); break;
    case O_CONNECT: w->connect_ms = seconds(w, "connect-timeout", v); break;
    case O_READ: w->timeout_ms = seconds(w, "read-timeout", v); break;
    case O_WAITRETRY: w->wait_retry = seconds(w, "waitretry", v) / 1000; break;
    case O_LIMIT: w->rate = bytes(w, "limit-rate", v); break;
    case O_USER: w->user = v; break;
    case O_PASSWORD: w->password = v; break;
    case O_CUT_DIRS: w->cut_dirs = count_of(w, "cut-dirs", v); break;
    case O_HEADER: take_header(w, v); break;
    case O_COMPRESSION: w->compression = strcmp(v, "none") != 0; break;
    case O_MAX_REDIRECT: w->max_redirects = count_of(w, "max-redirect", v); break;
    case O_REFERER: w->referer = v; break;
    case O_LOAD_COOKIES: list_add(&w->jar, &w->cookies.cookies, slice_str(v)); break;
    case O_SAVE_COOKIES: w->save_cookies = v; break;
    case O_METHOD: w->method = upper(w, v); break;
    case O_POST_DATA: case O_POST_FILE: case O_BODY_DATA: case O_BODY_FILE: take_body(w, id, v); break;
    case O_PROGRESS: check_progress(w, v); break;
    default: break;
    }
}

char **wget_options(Wget *w, Args *args, int *count)
{
    for (int id; (id = args_next(w->p, args)) != -1;) {
        const char *name = wget_options_table[args->option_index].name;
        if (id == O_REFUSED || id == O_REFUSED_VALUE || (id == O_NO_CHECK && !http_insecure_allowed(w->p)))
            die(w->p, WGET_PARSE, "--%s: refused by policy", name);
        if (id == O_NO_CHECK)
            w->insecure = true;
        else if (!take_switch(w, id))
            take_value(w, args, id);
    }
    if ((w->body || w->body_file) && !w->method)
        stop(w, "You must specify a method through --method=HTTPMethod to use with --body-data or --body-file.\n");
    return args_operands(args, count);
}
