/* The request engine against a raw-socket server on the loopback: rules, addresses, credentials, redirects, limits, the kill switch. */
#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "builtins/command.h"
#include "include/shell.h"
#include "lib/api/internal.h"
#include "lib/kernel/http.h"
#include "test/components.h"

/* ---------- the server: one thread a connection, requests logged whole ---------- */

static int listener;
static unsigned port;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[65536];
static int accepted;

static void log_add(const char *s)
{
    pthread_mutex_lock(&log_lock);
    if (strlen(log_text) + strlen(s) + 2 < sizeof log_text)
        strcat(log_text, s);
    pthread_mutex_unlock(&log_lock);
}

/* A copy, so that no assertion fails with the lock held; without a request whose process was killed and which may come late. */
static const char *log_copy(void)
{
    static char copy[sizeof log_text];
    pthread_mutex_lock(&log_lock);
    strcpy(copy, log_text);
    pthread_mutex_unlock(&log_lock);
    for (char *late; (late = strstr(copy, "GET /slow HTTP/1.1\n"));)
        memmove(late, late + 19, strlen(late + 19) + 1);
    return copy;
}

static void log_clear(void)
{
    pthread_mutex_lock(&log_lock);
    log_text[0] = 0;
    accepted = 0;
    pthread_mutex_unlock(&log_lock);
}

static void say(int fd, const char *text)
{
    size_t n = strlen(text);
    while (n) {
        ssize_t k = send(fd, text, n, MSG_NOSIGNAL);
        if (k <= 0)
            return;
        text += k;
        n -= (size_t)k;
    }
}

static void reply(int fd, const char *status, const char *headers, const char *body)
{
    char head[4096];
    snprintf(head, sizeof head, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n", status, headers, strlen(body));
    say(fd, head);
    say(fd, body);
}

static void answer(int fd, const char *request)
{
    char path[2048] = "", text[4096];
    sscanf(request, "%*s %2047s", path);
    const char *auth = strstr(request, "Authorization: ");
    if (strncmp(path, "/echo", 5) == 0) {
        snprintf(text, sizeof text, "X-Echo: %.*s\r\n", auth ? (int)strcspn(auth, "\r") : 4, auth ? auth : "none");
        reply(fd, "200 OK", text, request);
    } else if (strncmp(path, "/to/?", 5) == 0) {
        snprintf(text, sizeof text, "Location: %s\r\n", path + 5);
        reply(fd, "302 Found", text, "moved\n");
    } else if (strcmp(path, "/loop") == 0) {
        reply(fd, "302 Found", "Location: /loop\r\n", "moved\n");
    } else if (strcmp(path, "/slow") == 0) {
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nbeginning\n");
        usleep(3000000);
    } else if (strcmp(path, "/heads") == 0 || strcmp(path, "/interims") == 0) {
        static const char interim[] = "HTTP/1.1 103 Early Hints\r\nX-Pad: 0123456789012345678901234567890123456789\r\n\r\n";
        const char *piece = path[1] == 'h' ? "X-Pad: 0123456789012345678901234567890123456789\r\n" : interim;
        say(fd, path[1] == 'h' ? "HTTP/1.1 200 OK\r\n" : "");
        for (int i = 0; i < 200000; i++)
            say(fd, piece);
    } else if (strcmp(path, "/big") == 0) {
        char block[65537];
        memset(block, 'x', 65536);
        block[65536] = 0;
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n");
        for (int i = 0; i < 1024; i++)
            say(fd, block);
    } else {
        reply(fd, "200 OK", "", "hello\n");
    }
}

static void *connection(void *arg)
{
    int fd = (int)(intptr_t)arg;
    enum { ROOM = 2 << 20 };
    char *buf = malloc(ROOM);
    size_t n = 0;
    for (;;) {
        ssize_t k = recv(fd, buf + n, ROOM - n - 1, 0);
        if (k <= 0)
            break;
        n += (size_t)k;
        buf[n] = 0;
        char *end = strstr(buf, "\r\n\r\n");
        if (!end)
            continue;
        const char *length = strstr(buf, "Content-Length: ");
        size_t body = length && length < end ? (size_t)atol(length + 16) : 0, head = (size_t)(end - buf) + 4;
        if (n < head + body)
            continue;
        char line[256];
        snprintf(line, sizeof line, "%.*s\n", (int)MIN(strcspn(buf, "\r"), (size_t)200), buf);
        log_add(line);
        char kept = buf[head + body];
        buf[head + body] = 0;
        answer(fd, buf);
        buf[head + body] = kept;
        memmove(buf, buf + head + body, n - head - body);
        n -= head + body;
    }
    close(fd);
    free(buf);
    return NULL;
}

static void *serve(void *arg)
{
    (void)arg;
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            return NULL;
        pthread_mutex_lock(&log_lock);
        accepted++;
        pthread_mutex_unlock(&log_lock);
        pthread_t t;
        pthread_create(&t, NULL, connection, (void *)(intptr_t)fd);
        pthread_detach(t);
    }
}

static int start_server(void **state)
{
    (void)state;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(listener, 64) != 0)
        return -1;
    getsockname(listener, (struct sockaddr *)&a, &n);
    port = ntohs(a.sin_port);
    pthread_t t;
    pthread_create(&t, NULL, serve, NULL);
    pthread_detach(t);
    return 0;
}

/* ---------- a command that fetches: fetch [-L] [-X METHOD] [-d BODY] [-H LINE]... URL ---------- */

static void show(Proc *p, Http *h)
{
    if (http_head(p, h))
        out_write(p->out, http_last_head(h));
    ssize_t n;
    for (Slice part; (n = http_read(p, h, &part, -1)) > 0;)
        out_write(p->out, part);
}

static int fetch_main(Proc *p, Args *args)
{
    Slice headers[16];
    HttpRequest r = {.method = SLICE("GET"), .headers = headers, .body_len = -1};
    bool follow = false;
    for (int i = 1; i < args->argc; i++) {
        const char *a = args->argv[i];
        if (strcmp(a, "-L") == 0) {
            follow = true;
        } else if (strcmp(a, "-X") == 0) {
            r.method = slice_str(args->argv[++i]);
        } else if (strcmp(a, "-k") == 0) {
            r.insecure = true;
        } else if (strcmp(a, "-u") == 0) {
            r.user = args->argv[++i];
            r.password = "pass";
        } else if (strcmp(a, "-d") == 0) {
            r.method = SLICE("POST");
            r.has_body = r.post = true;
            r.body = slice_str(args->argv[++i]);
        } else if (strcmp(a, "-H") == 0) {
            headers[r.nheaders++] = slice_str(args->argv[++i]);
        } else {
            r.url = slice_str(a);
        }
    }
    for (;;) {
        HttpError e;
        Http *h = http_open(p, &r, &e);
        if (!h)
            die(p, e.code, "(%d) %s", e.code, e.message);
        HttpRequest next;
        http_head(p, h);
        if (follow && http_redirect(p, h, &r, 0, &next, &e)) {
            http_close(p, h);
            r = next;
            continue;
        }
        if (e.code)
            die(p, e.code, "(%d) %s", e.code, e.message);
        show(p, h);
        if (http_error(h)->code)
            die(p, http_error(h)->code, "(%d) %s", http_error(h)->code, http_error(h)->message);
        http_close(p, h);
        return 0;
    }
}

static const Command fetch = {.name = "fetch", .usage = "fetch", .summary = "", .main = fetch_main, .flags = COMMAND_RAW | COMMAND_NO_FILE};

/* ---------- shells ---------- */

static char rule_text[8][128];

static const char *here(int i, const char *format, ...)
{
    va_list args;
    va_start(args, format);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    vsnprintf(rule_text[i], sizeof rule_text[i], format, args);
#pragma GCC diagnostic pop
    va_end(args);
    return rule_text[i];
}

static shell *open_with(const shell_net *net)
{
    shell_options o;
    shell *sh;
    char message[256] = "";
    shell_options_init(&o);
    o.component = test_component;
    o.net = net;
    o.message = message;
    o.message_size = sizeof message;
    if (shell_open(&o, &sh) != SHELL_OK)
        fail_msg("%s", message);
    assert_int_equal(kern_command_set(sh->kernel, "fetch", &fetch, NULL), 0);
    return sh;
}

static char out[1 << 20], err[4096];

static int run(shell *sh, const char *format, ...)
{
    char script[2048];
    va_list args;
    va_start(args, format);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    vsnprintf(script, sizeof script, format, args);
#pragma GCC diagnostic pop
    va_end(args);
    shell_result *r;
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    snprintf(out, sizeof out, "%s", r->out);
    snprintf(err, sizeof err, "%s", r->err);
    int status = r->status;
    shell_result_free(r);
    return status;
}

#define NET(...) ((shell_net){.size = sizeof(shell_net), .rules = (shell_url_rule[]){__VA_ARGS__}, .nrules = sizeof((shell_url_rule[]){__VA_ARGS__}) / sizeof(shell_url_rule)})
#define RULE(u, ...) {.size = sizeof(shell_url_rule), .url = (u), __VA_ARGS__}

static void test_get(void **state)
{
    (void)state;
    shell_net net = NET(RULE(here(0, "http://127.0.0.1:%u", port), .allow_private = 1));
    shell *sh = open_with(&net);
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/x | tail -n 1; fetch -d abc http://127.0.0.1:%u/echo | tail -n 1", port, port), 0);
    assert_string_equal(out, "hello\nabc");
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/big | wc -c", port), 0);
    assert_string_equal(out, "67108909\n");
    log_clear();
    assert_int_equal(run(sh, "for i in {1..50}; do fetch http://127.0.0.1:%u/; done | grep -c hello", port), 0);
    assert_string_equal(out, "50\n");
    assert_int_equal(accepted, 0); /* kept alive from the first run on */
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/slow & fetch http://127.0.0.1:%u/ | tail -n 1; kill $!", port, port), 0);
    assert_string_equal(out, "hello\n");
    shell_close(sh);
}

static void test_off_until_allowed(void **state)
{
    (void)state;
    shell *sh = open_with(NULL);
    log_clear();
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/", port), 7);
    assert_non_null(strstr(err, "refused by policy"));
    shell_net net = NET(RULE(here(0, "http://127.0.0.1:%u/v1/", port), .allow_private = 1), RULE(here(1, "http://127.0.0.1:%u/v1/no", port), .deny = 1),
                        RULE("http://localhost:1"));
    assert_int_equal(shell_set_net(sh, &net), SHELL_OK);
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/v1/a >/dev/null", port), 0);
    static const char *const bad[] = {"/", "/v1", "/v1/../x", "/v1/%2e%2e/x", "/v1/..%2fx", "/v1/a;b", "/v1/no", "/v1/no/x", "/v1/%6eo"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(run(sh, "fetch 'http://127.0.0.1:%u%s'", port, bad[i]), 7);
    assert_int_equal(run(sh, "fetch http://127.1:%u/v1/a", port), 3);
    assert_int_equal(run(sh, "fetch http://[::ffff:127.0.0.1]:%u/v1/a", port), 7);
    assert_int_equal(run(sh, "fetch http://localhost:1/"), 7); /* resolves to a private address that no rule means */
    assert_null(strstr(err, "127.0.0.1"));
    assert_int_equal(shell_set_net(sh, NULL), SHELL_OK);
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/v1/a", port), 7);
    assert_string_equal(log_copy(), "GET /v1/a HTTP/1.1\n");
    shell_close(sh);
}

static int lookups;

static int32_t rebinding(void *user, const char *host, char *text, uint64_t size)
{
    (void)user;
    lookups++;
    if (strcmp(host, "gone.example") == 0)
        return -1;
    snprintf(text, size, "%s", strcmp(host, "both.example") == 0 ? "10.0.0.9,127.0.0.1" : lookups == 1 ? "93.184.216.34" : "127.0.0.1");
    return 0;
}

static void test_rebinding(void **state)
{
    (void)state;
    shell_net net = NET(RULE(here(0, "http://a.example:%u", port)), RULE(here(1, "http://gone.example:%u", port)), RULE(here(2, "http://both.example:%u", port)));
    net.resolve = rebinding;
    shell *sh = open_with(&net);
    log_clear();
    lookups = 1; /* the first answer was public, and led nowhere; this one is private */
    assert_int_equal(run(sh, "fetch http://a.example:%u/", port), 7);
    assert_non_null(strstr(err, "refused by policy"));
    assert_null(strstr(err, "127.0.0.1"));
    assert_int_equal(run(sh, "fetch http://both.example:%u/", port), 7);
    assert_int_equal(run(sh, "fetch http://gone.example:%u/", port), 6);
    assert_int_equal(run(sh, "fetch http://other.example:%u/", port), 7); /* a refused name causes no query */
    assert_int_equal(lookups, 4);
    net.rules = (shell_url_rule[]){RULE(here(0, "http://a.example:%u", port), .allow_private = 1)};
    net.nrules = 1;
    assert_int_equal(shell_set_net(sh, &net), SHELL_OK);
    assert_int_equal(run(sh, "fetch http://a.example:%u/ | tail -n 1", port), 0);
    assert_string_equal(out, "hello\n");
    net.rules = (shell_url_rule[]){RULE(here(0, "http://a.example:%u", port))}; /* private is not meant any more: the open connection is of no use */
    assert_int_equal(shell_set_net(sh, &net), SHELL_OK);
    assert_int_equal(run(sh, "fetch http://a.example:%u/", port), 7);
    assert_string_equal(log_copy(), "GET / HTTP/1.1\n");
    shell_close(sh);
}

/* threat HDR-23: a file that shrinks while it is sent; what the connection carries next would be the rest of its body. */
static void test_short_body(void **state)
{
    (void)state;
    shell_net net = NET(RULE(here(0, "http://127.0.0.1:%u", port), .allow_private = 1));
    shell *sh = open_with(&net);
    assert_int_equal(run(sh, "head -c 1000000 /dev/zero > f; (sleep 0.1; : > f) & curl -s -m 5 --limit-rate 200K -T f http://127.0.0.1:%u/", port), 26);
    log_clear();
    assert_int_equal(run(sh, "head -c 1000000 /dev/zero > f; (sleep 0.1; echo more >> f) & curl -s --limit-rate 2M -T f http://127.0.0.1:%u/x", port), 0);
    assert_string_equal(log_copy(), "PUT /x HTTP/1.1\n");
    shell_close(sh);
}

/* threat RUL-14: a connection is of one shell, credential and policy. */
static void test_partitions(void **state)
{
    (void)state;
    shell_net net = NET(RULE(here(0, "http://127.0.0.1:%u", port), .allow_private = 1));
    shell_credential creds[] = {{.size = sizeof(shell_credential), .url = here(1, "http://127.0.0.1:%u/keyed", port), .kind = SHELL_CRED_BEARER, .secret = "a-long-secret", .secret_len = 13}};
    net.credentials = creds;
    net.ncredentials = 1;
    shell *sh = open_with(&net), *other = open_with(&net);
    log_clear();
    for (int i = 0; i < 3; i++)
        assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/ >/dev/null && fetch http://127.0.0.1:%u/keyed >/dev/null", port, port), 0);
    assert_int_equal(accepted, 2);
    assert_int_equal(run(other, "fetch http://127.0.0.1:%u/ >/dev/null", port), 0);
    assert_int_equal(accepted, 3);
    assert_int_equal(shell_set_net(sh, &net), SHELL_OK);
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/ >/dev/null", port), 0);
    assert_int_equal(accepted, 4);
    shell_close(sh);
    shell_close(other);
}

static void test_credentials(void **state)
{
    (void)state;
    shell_net net = NET(RULE(here(0, "http://127.0.0.1:%u", port), .allow_private = 1), RULE(here(1, "http://localhost:%u", port), .allow_private = 1));
    shell_credential creds[] = {
        {.size = sizeof creds[0], .url = here(2, "http://127.0.0.1:%u/echo/b/", port), .kind = SHELL_CRED_BEARER, .secret = "s3cr3t-T0ken", .secret_len = 12},
        {.size = sizeof creds[0], .url = here(3, "http://127.0.0.1:%u/echo/u/", port), .kind = SHELL_CRED_BASIC, .secret = "me:s3cr3t-T0ken", .secret_len = 15},
        {.size = sizeof creds[0], .url = here(4, "http://127.0.0.1:%u/echo/h/", port), .kind = SHELL_CRED_HEADER, .name = "X-Key", .secret = "s3cr3t-T0ken", .secret_len = 12},
        {.size = sizeof creds[0], .url = here(5, "http://127.0.0.1:%u/echo/q/", port), .kind = SHELL_CRED_QUERY, .name = "key", .secret = "s3cr3t-T0ken", .secret_len = 12},
        {.size = sizeof creds[0], .url = here(6, "http://127.0.0.1:%u/to/", port), .kind = SHELL_CRED_BEARER, .secret = "s3cr3t-T0ken", .secret_len = 12}};
    net.credentials = creds;
    net.ncredentials = 5;
    shell *sh = open_with(&net);
    log_clear();
    static const char *const paths[] = {"b", "u", "h", "q"};
    static const char *const wanted[] = {"Authorization: [redacted]", "Authorization: [redacted]", "X-Key: [redacted]", "key=[redacted]"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(run(sh, "fetch -H 'Authorization: mine' -H 'x-key: mine' 'http://127.0.0.1:%u/echo/%s/x?a=b&key=mine'", port, paths[i]), 0);
        assert_non_null(strstr(out, wanted[i]));
        assert_null(strstr(out, "T0ken"));
        assert_null(strstr(out, "bWU6czNjcjN0"));
        static const char *const own[] = {"Authorization: mine", "Authorization: mine", "x-key: mine", "&key=mine"};
        assert_null(strstr(out, own[i]));
    }
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/echo/c | grep -c redacted", port), 1);
    assert_int_equal(run(sh, "fetch http://localhost:%u/echo/b/ | grep -c redacted", port), 1);
    assert_int_equal(run(sh, "fetch -H 'Range: bytes=0-1' http://127.0.0.1:%u/echo/b/", port), 43);
    /* a redirect at the same origin gets a credential again, another origin none, and none of the script's headers */
    assert_int_equal(run(sh, "fetch -L http://127.0.0.1:%u/to/?/echo/b/y", port), 0);
    assert_non_null(strstr(out, "Authorization: [redacted]"));
    assert_int_equal(run(sh, "fetch -L -u me -H 'X-Mine: 1' -H 'Accept: a/b' http://127.0.0.1:%u/to/?http://localhost:%u/echo/b/", port, port), 0);
    assert_null(strstr(out, "uthorization"));
    assert_null(strstr(out, "X-Mine"));
    assert_non_null(strstr(out, "Accept: a/b"));
    assert_int_equal(run(sh, "fetch -L -u me -H 'X-Mine: 1' http://localhost:%u/to/?http://127.0.0.1:%u/echo/b/", port, port), 0);
    assert_null(strstr(out, "uthorization"));
    assert_non_null(strstr(log_copy(), "?a=b&key=s3cr3t-T0ken"));
    shell_close(sh);
}

static void test_grammar(void **state)
{
    (void)state;
    shell_net net = NET(RULE(here(0, "http://127.0.0.1:%u", port), .allow_private = 1));
    shell *sh = open_with(&net);
    log_clear();
    static const char *const bad[] = {"-H 'Host: evil'", "-H ' host : evil'", "-H 'Content-Length: 0' -d 'GET /smuggled HTTP/1.1'", "-H 'Transfer-Encoding: chunked'", "-H 'Host;'", "-H 'Connection: close'",
                                      "-H $'X: a\\r\\nHost: evil'", "-X $'GET / HTTP/1.1\\r\\nX:'", "-X 'G ET'", "-u $'a\\nb'"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(run(sh, "fetch %s http://127.0.0.1:%u/", bad[i], port), 43);
    assert_int_equal(run(sh, "fetch -H 'Expect:' -H 'X-Fine: 1' http://127.0.0.1:%u/ok >/dev/null", port), 0);
    assert_string_equal(log_copy(), "GET /ok HTTP/1.1\n");
    shell_close(sh);
}

static void *kill_later(void *arg)
{
    usleep(200000);
    shell_set_net(arg, NULL);
    return NULL;
}

static void test_kill_switch(void **state)
{
    (void)state;
    shell_net net = NET(RULE(here(0, "http://127.0.0.1:%u", port), .allow_private = 1));
    shell *sh = open_with(&net);
    pthread_t t;
    pthread_create(&t, NULL, kill_later, sh);
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/slow", port), 7);
    pthread_join(t, NULL);
    assert_non_null(strstr(err, "refused by policy"));
    assert_int_equal(run(sh, "echo fine"), 0);
    shell_close(sh);
}

static void test_limits(void **state)
{
    (void)state;
    shell_net net = NET(RULE(here(0, "http://127.0.0.1:%u", port), .allow_private = 1));
    shell *sh = open_with(&net);
    shell_limits l;
    shell_limits_init(&l);
    l.download = 1000000;
    l.requests = 3;
    l.time_ms = 500;
    shell_run_opts o = {.size = sizeof o, .limits = &l};
    static const struct { const char *script; int end; const char *limit; } table[] = {
        {"fetch http://127.0.0.1:%u/big >/dev/null", SHELL_END_LIMIT, "download"},
        {"for i in 1 2 3 4 5; do fetch http://127.0.0.1:%u/; done", SHELL_END_LIMIT, "requests"},
        {"fetch http://127.0.0.1:%u/slow", SHELL_END_TIMEOUT, "time"}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        shell_result *r;
        const char *script = here(7, table[i].script, port);
        assert_int_equal(shell_run(sh, script, strlen(script), &o, &r), SHELL_OK);
        assert_int_equal(r->end, table[i].end);
        assert_string_equal(r->limit, table[i].limit);
        shell_result_free(r);
    }
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/ | tail -n 1", port), 0);
    assert_string_equal(out, "hello\n");
    shell *other;
    assert_int_equal(shell_fork(sh, &other), SHELL_OK);
    shell_close(sh);
    assert_int_equal(run(other, "fetch http://127.0.0.1:%u/ | tail -n 1", port), 0);
    assert_string_equal(out, "hello\n");
    shell_close(other);
}

static void hits(shell *sh, const char *script, shell_limits l, const char *limit)
{
    shell_result *r;
    shell_run_opts o = {.size = sizeof o, .limits = &l};
    assert_int_equal(shell_run(sh, script, strlen(script), &o, &r), SHELL_OK);
    if (r->end != SHELL_END_LIMIT || !r->limit || strcmp(r->limit, limit) != 0)
        fail_msg("%s: end %d, %s", script, r->end, r->err);
    shell_result_free(r);
}

/* What one run may take beyond requests and bytes: transfers at one time, heads, a connection that never comes about. */
static void test_net_limits(void **state)
{
    (void)state;
    shell_net net = NET(RULE(here(0, "http://127.0.0.1:%u", port), .allow_private = 1), RULE(here(1, "https://127.0.0.1:%u", port), .allow_private = 1));
    shell *sh = open_with(&net);
    shell_limits l;
    shell_limits_init(&l);
    l.transfers = 2;
    hits(sh, here(7, "for i in 1 2 3; do fetch http://127.0.0.1:%u/slow >/dev/null & done; wait", port), l, "transfers");
    shell_limits_init(&l);
    l.transfers = 3;
    shell_run_opts o = {.size = sizeof o, .limits = &l};
    shell_result *r;
    const char *script = here(7, "for i in 1 2 3; do fetch http://127.0.0.1:%u/ & done; wait", port);
    assert_int_equal(shell_run(sh, script, strlen(script), &o, &r), SHELL_OK);
    assert_int_equal(r->end, SHELL_END_FINISHED);
    shell_result_free(r);
    shell_limits_init(&l);
    l.upload = 10;
    hits(sh, here(7, "fetch -d 12345678901 http://127.0.0.1:%u/echo", port), l, "upload"); /* one that does not stream */
    hits(sh, here(7, "for i in 1 2 3; do fetch -d 12345 http://127.0.0.1:%u/echo >/dev/null; done", port), l, "upload");
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/heads >/dev/null", port), 56);
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/interims >/dev/null", port), 56);
    shell_limits_init(&l);
    l.head = 100;
    l.connect_ms = 1000;
    assert_int_equal(shell_set_limits(sh, &l), SHELL_OK);
    assert_int_equal(run(sh, "curl -sS http://127.0.0.1:%u/to/?0123456789012345678901234567890123456789012345678901234567890123456789", port), 56);
    assert_string_equal(err, "curl: (56) head limit of 100 bytes reached\n");
    assert_int_equal(run(sh, "curl -s http://127.0.0.1:%u/ >/dev/null && curl -s -m 5 https://127.0.0.1:%u/", port, port), 28);
    assert_int_equal(run(sh, "SECONDS=0; curl -s --connect-timeout 9 https://127.0.0.1:%u/; echo $((SECONDS < 7))", port), 0);
    assert_string_equal(out, "1\n");
    shell_limits_init(&l);
    l.head = 0;
    l.connect_ms = 0;
    assert_int_equal(shell_set_limits(sh, &l), SHELL_OK);
    assert_int_equal(run(sh, "curl -s http://127.0.0.1:%u/to/?0123456789012345678901234567890123456789012345678901234567890123456789", port), 0);
    assert_string_equal(out, "moved\n");
    assert_int_equal(run(sh, "curl -s --connect-timeout 0.3 https://127.0.0.1:%u/", port), 28); /* TLS with a server that waits for a head */
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/ | tail -n 1", port), 0);
    assert_string_equal(out, "hello\n");
    shell_close(sh);
}

/* threat CRD-9: a server that got the secret points at another origin with it. */
static void test_redirected_secret(void **state)
{
    (void)state;
    shell_net net = NET(RULE(here(0, "http://127.0.0.1:%u", port), .allow_private = 1), RULE(here(1, "http://localhost:%u", port), .allow_private = 1));
    shell_credential c = {.size = sizeof c, .url = here(2, "http://127.0.0.1:%u/to/", port), .kind = SHELL_CRED_BEARER, .secret = "s3cr3t-T0ken", .secret_len = 12};
    net.credentials = &c;
    net.ncredentials = 1;
    shell *sh = open_with(&net);
    log_clear();
    assert_int_equal(run(sh, "fetch -L http://127.0.0.1:%u/to/?http://localhost:%u/x?s3cr3t-T0ken", port, port), 7);
    assert_non_null(strstr(err, "refused by policy"));
    assert_null(strstr(log_copy(), "GET /x"));
    shell_close(sh);
}

static int32_t no_deletes(void *user, const char *method, const char *url, uint32_t hop, int64_t body_len)
{
    (void)user;
    (void)body_len;
    return strcmp(method, "DELETE") == 0 || (hop && strstr(url, "/no"));
}

/* What the embedder is asked, each hop; certificates; what goes up, and how many hops. */
static void test_more_refusals(void **state)
{
    (void)state;
    shell_net net = NET(RULE(here(0, "http://127.0.0.1:%u", port), .allow_private = 1));
    net.decide = no_deletes;
    shell *sh = open_with(&net);
    assert_int_equal(run(sh, "fetch http://127.0.0.1:%u/ >/dev/null", port), 0);
    assert_int_equal(run(sh, "fetch -X DELETE http://127.0.0.1:%u/", port), 7);
    assert_int_equal(run(sh, "fetch -L http://127.0.0.1:%u/to/?/no", port), 7);
    assert_int_equal(run(sh, "fetch -L http://127.0.0.1:%u/to/?/yes > /dev/null", port), 0);
    assert_int_equal(run(sh, "fetch -k http://127.0.0.1:%u/", port), 7);
    shell_limits l;
    shell_limits_init(&l);
    l.upload = 10;
    l.redirects = 3;
    shell_run_opts o = {.size = sizeof o, .limits = &l};
    static const struct { const char *script, *limit; } table[] = {{"echo 12345678901234567890 | curl -s -T - http://127.0.0.1:%u/", "upload"},
                                                                   {"fetch -L 'http://127.0.0.1:%u/loop'", "redirects"}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        shell_result *r;
        const char *script = here(7, table[i].script, port);
        assert_int_equal(shell_run(sh, script, strlen(script), &o, &r), SHELL_OK);
        assert_int_equal(r->end, SHELL_END_LIMIT);
        assert_string_equal(r->limit, table[i].limit);
        shell_result_free(r);
    }
    shell_close(sh);
}

static void test_bad_configuration(void **state)
{
    (void)state;
    shell *sh = open_with(NULL);
    shell_net net = NET(RULE("ftp://x"));
    assert_int_equal(shell_set_net(sh, &net), SHELL_EINVAL);
    assert_string_equal(shell_message(sh), "rule 0: scheme is not http or https");
    shell_credential c = {.size = sizeof c, .url = "https://x", .secret = "short", .secret_len = 5};
    net = (shell_net){.size = sizeof net, .credentials = &c, .ncredentials = 1};
    assert_int_equal(shell_set_net(sh, &net), SHELL_EINVAL);
    c.no_redaction = 1;
    assert_int_equal(shell_set_net(sh, &net), SHELL_OK);
    c.kind = SHELL_CRED_HEADER;
    assert_int_equal(shell_set_net(sh, &net), SHELL_EINVAL);
    c.name = "Host";
    assert_int_equal(shell_set_net(sh, &net), SHELL_EINVAL);
    c = (shell_credential){.size = sizeof c, .url = "https://*", .secret = "long enough", .secret_len = 11};
    assert_int_equal(shell_set_net(sh, &net), SHELL_EINVAL);
    shell_close(sh);
}

int main(void)
{
    if (!test_component(NULL, "net"))
        return 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_get), cmocka_unit_test(test_off_until_allowed), cmocka_unit_test(test_rebinding), cmocka_unit_test(test_partitions), cmocka_unit_test(test_short_body), cmocka_unit_test(test_credentials),
                                       cmocka_unit_test(test_grammar), cmocka_unit_test(test_kill_switch), cmocka_unit_test(test_limits), cmocka_unit_test(test_net_limits), cmocka_unit_test(test_more_refusals), cmocka_unit_test(test_redirected_secret), cmocka_unit_test(test_bad_configuration)};
    return cmocka_run_group_tests(tests, start_server, NULL);
}
