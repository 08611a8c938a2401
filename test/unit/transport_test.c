/* The embedder's own transport: the request it is given, the answers it may give, and that every check holds over it. No socket is opened. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "include/shell.h"

/* ---------- a transport that answers from memory ---------- */

typedef struct Exchange {
    char url[1024], body[256 * 1024];
    size_t nbody, at;
    char *answer;
    size_t len;
    int patience; /* answers SHELL_EAGAIN so often */
} Exchange;

static struct {
    char log[8192];
    int open, most_open, asked;
    bool piecewise;
    shell *sh;
    size_t big;
} world;

static void note(const char *format, ...)
{
    va_list args;
    size_t n = strlen(world.log);
    va_start(args, format);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    vsnprintf(world.log + n, sizeof world.log - n, format, args);
#pragma GCC diagnostic pop
    va_end(args);
}

static int32_t on_transfer(void *user, const shell_transfer *t, void **handle, char *why, uint64_t why_size)
{
    (void)user;
    note("%s %s\n", t->method, t->url);
    for (const char *const *h = t->headers; *h; h++)
        note("%s\n", *h);
    if (t->addresses)
        note("to %s\n", t->addresses);
    if (t->body_len != -1)
        note("body %d\n", (int)t->body_len);
    if (strstr(t->url, "/refuses")) {
        snprintf(why, why_size, "the other side said no to s3cr3t-T0ken");
        return -1;
    }
    Exchange *e = calloc(1, sizeof *e);
    snprintf(e->url, sizeof e->url, "%s", t->url);
    *handle = e;
    world.open++;
    world.most_open = world.open > world.most_open ? world.open : world.most_open;
    return 0;
}

static int64_t on_send(void *user, void *handle, const char *data, uint64_t len)
{
    Exchange *e = handle;
    (void)user;
    size_t n = len < 1000 ? (size_t)len : 1000; /* what is not taken is offered again */
    if (strstr(e->url, "/hangs-up"))
        return -1;
    if (n > sizeof e->body - 1 - e->nbody)
        n = len ? 1 : 0;
    else if (n)
        memcpy(e->body + e->nbody, data, n);
    e->nbody += n > 1 || len == 1 ? n : 0;
    return (int64_t)n;
}

static void make_answer(Exchange *e)
{
    char *a = malloc(16384);
    const char *to = strstr(e->url, "/to?");
    int n;
    if (to)
        n = sprintf(a, "HTTP/1.1 302 Found\r\nLocation: %s\r\n\r\nmoved\n", to + 4);
    else if (strstr(e->url, "/echo"))
        n = sprintf(a, "HTTP/1.1 200 OK\r\nX-Secret: s3cr3t-T0ken\r\nContent-Type: text/plain\r\n\r\nczNjcjN0LVQwa2Vu s3cr3t-T0ken %.4095s\n", e->body);
    else if (strstr(e->url, "/gzip"))
        n = sprintf(a, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nxxxx");
    else if (strstr(e->url, "/missing"))
        n = sprintf(a, "HTTP/2 404 \r\n\r\nnothing\n");
    else if (strstr(e->url, "/interim"))
        n = sprintf(a, "HTTP/1.1 103 Early Hints\nLink: x\n\nHTTP/1.1 200 OK\nA: b\n\nhello\n");
    else if (strstr(e->url, "/garbage"))
        n = sprintf(a, "not http\r\n\r\n");
    else if (strstr(e->url, "/nul"))
        n = (int)sizeof "HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\nx" - 1, memcpy(a, "HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\nx", (size_t)n);
    else if (strstr(e->url, "/nothing"))
        n = 0;
    else
        n = sprintf(a, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello\n");
    e->answer = a;
    e->len = (size_t)n;
}

static int64_t on_receive(void *user, void *handle, char *out, uint64_t size)
{
    Exchange *e = handle;
    (void)user;
    world.asked++;
    if (strstr(e->url, "/fails"))
        return -1;
    if (strstr(e->url, "/later") && e->patience++ < 3) {
        shell_wake(world.sh);
        return SHELL_EAGAIN;
    }
    if (strstr(e->url, "/never"))
        return SHELL_EAGAIN;
    if (!e->answer && strstr(e->url, "/streamed"))
        note("sent %s\n", e->body);
    if (!e->answer && strstr(e->url, "/counted"))
        note("%zu bytes, %.14s\n", e->nbody, strstr(e->body, "xs3cr3t") ? strstr(e->body, "xs3cr3t") : "");
    if (!e->answer)
        make_answer(e);
    if (strstr(e->url, "/big") && e->at == e->len) {
        size_t n = world.big < size ? world.big : (size_t)size;
        memset(out, 'x', n);
        world.big -= n;
        return (int64_t)n;
    }
    if (strstr(e->url, "/endless-head") && e->at == e->len)
        e->at = 17;
    size_t n = e->len - e->at;
    n = n > size ? (size_t)size : n;
    n = world.piecewise && n > 3 ? 3 : n;
    memcpy(out, e->answer + e->at, n);
    e->at += n;
    return (int64_t)n;
}

static void on_close(void *user, void *handle)
{
    Exchange *e = handle;
    (void)user;
    world.open--;
    free(e->answer);
    free(e);
}

/* ---------- shells ---------- */

static const shell_url_rule rules[] = {{.size = sizeof *rules, .url = "https://api.example.com/v1/"}, {.size = sizeof *rules, .url = "https://other.example.com"},
                                       {.size = sizeof *rules, .url = "https://api.example.com/v1/no/", .deny = 1}, {.size = sizeof *rules, .url = "http://*"}};
static const shell_credential credential = {.size = sizeof credential, .url = "https://api.example.com/v1/", .secret = "s3cr3t-T0ken", .secret_len = 12};

static shell_net net_of(void)
{
    return (shell_net){.size = sizeof(shell_net), .rules = rules, .nrules = 4, .credentials = &credential, .ncredentials = 1, .transfer = on_transfer, .transfer_send = on_send,
                       .transfer_receive = on_receive, .transfer_close = on_close};
}

static shell *open_with(const shell_net *net, uint64_t requests)
{
    shell_options o;
    shell_limits limits;
    shell *sh;
    shell_options_init(&o);
    shell_limits_init(&limits);
    limits.requests = requests;
    o.limits = &limits;
    o.net = net;
    memset(&world, 0, sizeof world);
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    world.sh = sh;
    return sh;
}

static char out[65536], err[4096];

static int run(shell *sh, const char *script)
{
    shell_result *r;
    world.log[0] = 0;
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    snprintf(out, sizeof out, "%s", r->out);
    snprintf(err, sizeof err, "%s", r->err);
    int status = r->status;
    shell_result_free(r);
    assert_int_equal(world.open, 0);
    return status;
}

static void test_answers(void **state)
{
    (void)state;
    shell_net net = net_of();
    shell *sh = open_with(&net, SHELL_LIMIT_DEFAULT);
    for (int i = 0; i < 2; i++, world.piecewise = true) {
        assert_int_equal(run(sh, "curl -s https://other.example.com/x"), 0);
        assert_string_equal(out, "hello\n");
        assert_string_equal(world.log, "GET https://other.example.com/x\nUser-Agent: curl/7.88.1\nAccept: */*\n");
        assert_int_equal(run(sh, "curl -si https://other.example.com/interim"), 0);
        assert_string_equal(out, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nhello\n");
        assert_int_equal(run(sh, "curl -sI https://other.example.com/"), 0);
        assert_string_equal(out, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
        assert_int_equal(run(sh, "curl -sf https://other.example.com/missing"), 22);
        assert_int_equal(run(sh, "curl -s -w '%{http_code} %{http_version} %{size_download}' https://other.example.com/missing"), 0);
        assert_string_equal(out, "nothing\n404 2 8");
        assert_int_equal(run(sh, "curl -s https://other.example.com/later"), 0);
        assert_string_equal(out, "hello\n");
    }
    static const struct { const char *path; int status; } bad[] = {{"garbage", 1}, {"nul", 8}, {"nothing", 52}, {"fails", 56}, {"refuses", 7}, {"hangs-up -d x", 55}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char script[128];
        snprintf(script, sizeof script, "curl -sS https://other.example.com/%s", bad[i].path);
        assert_int_equal(run(sh, script), bad[i].status);
    }
    assert_int_equal(run(sh, "curl -s -m 0.1 https://other.example.com/never"), 28);
    assert_int_equal(run(sh, "timeout 0.1 curl -s https://other.example.com/never"), 124);
    assert_int_equal(run(sh, "curl -sv -u me:pw -e ref -b a=b -H 'Accept:' -H 'X-Empty;' -H 'Y: z' https://other.example.com/ 2>&1 | grep '^[><]'"), 0);
    assert_string_equal(out, "> GET / HTTP/1.1\r\n> Host: other.example.com\r\n> Authorization: Basic bWU6cHc=\r\n> User-Agent: curl/7.88.1\r\n> Referer: ref\r\n> Cookie: a=b\r\n> X-Empty:\r\n> Y: z\r\n> \r\n"
                             "< HTTP/1.1 200 OK\r\n< Content-Type: text/plain\r\n< \r\n");
    shell_close(sh);
}

static void test_bodies(void **state)
{
    (void)state;
    shell_net net = net_of();
    shell *sh = open_with(&net, SHELL_LIMIT_DEFAULT);
    assert_int_equal(run(sh, "curl -s -d 'some data' https://other.example.com/echo | tail -c 10"), 0);
    assert_string_equal(out, "some data\n");
    assert_non_null(strstr(world.log, "Content-Type: application/x-www-form-urlencoded\nbody 9\n"));
    assert_int_equal(run(sh, "seq 600 | curl -s -T - https://other.example.com/echo | cksum; seq 600 | cksum"), 0);
    assert_non_null(strstr(world.log, "PUT https://other.example.com/echo\n"));
    assert_non_null(strstr(world.log, "body -2\n"));
    world.big = 300 << 20;
    assert_int_equal(run(sh, "curl -s https://other.example.com/big | wc -c"), 0);
    assert_string_equal(out, "314572806\n");
    world.big = 300 << 20;
    assert_int_equal(run(sh, "curl -s https://other.example.com/big | head -c 7"), 0);
    assert_string_equal(out, "hello\nx");
    assert_true(world.big > 290 << 20); /* it is pulled: what nobody reads is not fetched */
    shell_close(sh);
}

static void test_checks(void **state)
{
    (void)state;
    shell_net net = net_of();
    shell *sh = open_with(&net, SHELL_LIMIT_DEFAULT);
    static const char *const refused[] = {
        "https://api.example.com/", "https://api.example.com/v1/../x", "https://api.example.com/v1/%2e%2e/x", "https://api.example.com/v1/a%2fb", "https://api.example.com/v1/no/x", "http://127.0.0.1/", "http://[::1]/",
        "http://169.254.169.254/", "http://[::ffff:10.0.0.1]/", "http://10.0.0.1/", "https://nobody.example.com/",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char script[128];
        snprintf(script, sizeof script, "curl -sS '%s'", refused[i]);
        if (run(sh, script) != 7 || world.log[0] || !strstr(err, "refused by policy"))
            fail_msg("%s: %s%s", refused[i], err, world.log);
    }
    static const char *const grammar[] = {"-H 'Host: x'", "-H 'Content-Length: 0'", "-H $'A: b\\r\\nC: d'", "-X 'GE T'", "-A $'a\\nb'", "-H 'Connection: close'"};
    for (size_t i = 0; i < sizeof grammar / sizeof *grammar; i++) {
        char script[128];
        snprintf(script, sizeof script, "curl -sS %s https://other.example.com/", grammar[i]);
        if (run(sh, script) != 43 || world.log[0])
            fail_msg("%s: %s%s", grammar[i], err, world.log);
    }
    assert_int_not_equal(run(sh, "curl -sk https://other.example.com/"), 0);
    shell_close(sh);
}

static void test_credentials(void **state)
{
    (void)state;
    shell_net net = net_of();
    shell *sh = open_with(&net, SHELL_LIMIT_DEFAULT);
    for (int i = 0; i < 2; i++, world.piecewise = true) {
        assert_int_equal(run(sh, "curl -siv -H 'Authorization: mine' https://api.example.com/v1/echo 2>&1"), 0);
        assert_non_null(strstr(world.log, "Authorization: Bearer s3cr3t-T0ken\n"));
        assert_null(strstr(world.log, "mine"));
        if (strstr(out, "T0ken") || strstr(out, "czNjcjN0LVQwa2Vu") || !strstr(out, "X-Secret: [redacted]\r\n") || !strstr(out, "[redacted] [redacted] \n"))
            fail_msg("%s", out);
    }
    assert_int_equal(run(sh, "curl -sS https://api.example.com/v1/refuses"), 7);
    assert_null(strstr(err, "T0ken"));
    assert_int_equal(run(sh, "curl -sS https://api.example.com/v1/gzip"), 61);
    assert_int_equal(run(sh, "curl -sS -r 0-3 https://api.example.com/v1/"), 43);
    /* redirects: a hop is a request of its own */
    assert_int_equal(run(sh, "curl -sL -H 'X-Mine: 1' 'https://api.example.com/v1/to?https://other.example.com/echo'"), 0);
    assert_non_null(strstr(world.log, "GET https://other.example.com/echo\n"));
    const char *second = strstr(world.log, "GET https://other");
    assert_null(strstr(second, "X-Mine"));
    assert_null(strstr(second, "Authorization"));
    assert_int_equal(run(sh, "curl -sL 'https://api.example.com/v1/to?https://other.example.com/?s3cr3t-T0ken'"), 7);
    assert_int_equal(run(sh, "curl -sL 'https://other.example.com/to?http://169.254.169.254/'"), 7);
    assert_int_equal(run(sh, "curl -sL 'https://other.example.com/to?https://api.example.com/v1/echo'"), 0);
    assert_null(strstr(world.log, "Authorization"));
    shell_close(sh);
}

/* A placeholder in a body that comes from a pipe, in whatever pieces. */
static void test_streamed_placeholder(void **state)
{
    (void)state;
    static const shell_credential place = {.size = sizeof place, .url = "https://api.example.com/v1/", .kind = SHELL_CRED_PLACEHOLDER, .name = "TOKEN", .secret = "s3cr3t-T0ken", .secret_len = 12};
    shell_net net = net_of();
    net.credentials = &place;
    shell *sh = open_with(&net, SHELL_LIMIT_DEFAULT);
    static const struct { const char *body, *sent; } table[] = {
        {"printf \"a $TOKEN b\"", "a s3cr3t-T0ken b"}, {"printf \"$TOKEN$TOKEN\"", "s3cr3t-T0kens3cr3t-T0ken"}, {"printf lsh_lsh; sleep 0.01; printf _", "lsh_lsh_"}, {"printf 'l'; sleep 0.01; printf x", "lx"},
        {"for ((i = 0; i < ${#TOKEN}; i++)); do printf %s \"${TOKEN:i:1}\"; sleep 0.002; done; printf .", "s3cr3t-T0ken."}, {"printf 'ls'; sleep 0.01; printf \"$TOKEN\"; sleep 0.01; printf 'lsh'", "lss3cr3t-T0kenlsh"},
        {"printf \"${TOKEN:0:20}\"; sleep 0.01; printf \"${TOKEN:0:30}\"; sleep 0.01; printf \"${TOKEN:30}\"", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char script[512], wanted[128];
        snprintf(script, sizeof script, "{ %s; } | curl -s -o /dev/null -w '%%{size_upload}' -T - https://api.example.com/v1/streamed", table[i].body);
        assert_int_equal(run(sh, script), 0);
        snprintf(wanted, sizeof wanted, "sent %s\n", table[i].sent ? table[i].sent : "lsh_");
        if (!table[i].sent)
            wanted[9] = 0;
        if (!strstr(world.log, wanted) || (!table[i].sent && !strstr(world.log, "s3cr3t-T0ken\n")))
            fail_msg("%s: %s", script, world.log);
    }
    assert_int_equal(run(sh, "printf \"$TOKEN\" | curl -s -T - https://other.example.com/streamed"), 0);
    assert_null(strstr(world.log, "s3cr3t"));
    assert_non_null(strstr(world.log, "sent lsh_"));
    shell_close(sh);
}

/* The same in a body that is a file's: its length is told beforehand. */
static void test_placeholder_in_files(void **state)
{
    (void)state;
    static const shell_credential place = {.size = sizeof place, .url = "https://api.example.com/v1/", .kind = SHELL_CRED_PLACEHOLDER, .name = "TOKEN", .secret = "s3cr3t-T0ken", .secret_len = 12};
    shell_net net = net_of();
    net.credentials = &place;
    shell *sh = open_with(&net, SHELL_LIMIT_DEFAULT);
    assert_int_equal(run(sh, "printf '<%s>' \"$TOKEN\" > f; printf '<%s%s' \"$TOKEN\" \"$TOKEN\" > two; printf lsh_lsh > none; : > empty"), 0);
    static const struct { const char *options, *sent; } table[] = {
        {"-d @f", "sent <s3cr3t-T0ken>\n"}, {"--data-binary @two", "sent <s3cr3t-T0kens3cr3t-T0ken\n"}, {"-F x=@two", "<s3cr3t-T0kens3cr3t-T0ken\r\n"}, {"-F 'x=<f'", "<s3cr3t-T0ken>\r\n"},
        {"--json @f", "sent <s3cr3t-T0ken>\n"}, {"-T f", "sent <s3cr3t-T0ken>\n"}, {"-T two", "sent <s3cr3t-T0kens3cr3t-T0ken\n"}, {"-T none", "sent lsh_lsh\n"}, {"-T empty", "sent \n"},
        {"-X POST -T two", "sent <s3cr3t-T0kens3cr3t-T0ken\n"}, {"--data-urlencode \"a=$TOKEN\"", "sent a=s3cr3t-T0ken\n"}, {"-d \"$TOKEN\" -G", "/v1/streamed?s3cr3t-T0ken"},
        {"-u \"user:$TOKEN\"", "Basic dXNlcjpzM2NyM3QtVDBrZW4="}, {"-H \"Authorization: Basic $(printf 'user:%s' \"$TOKEN\" | base64 -w0)\"", "Basic dXNlcjpzM2NyM3QtVDBrZW4="},
        {"-H 'Authorization: Basic !!'", "Basic !!"}, {"-H 'Authorization: Basic dXNlcjpwYXNz'", "Basic dXNlcjpwYXNz"}, {"-b \"a=$TOKEN\"", "a=s3cr3t-T0ken"}, {"-A \"$TOKEN\"", "s3cr3t-T0ken"},
        {"-e \"$TOKEN\"", "s3cr3t-T0ken"}, {"--oauth2-bearer \"$TOKEN\"", "Bearer s3cr3t-T0ken"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char script[512];
        snprintf(script, sizeof script, "curl -s -o /dev/null %s https://api.example.com/v1/streamed", table[i].options);
        int status = run(sh, script);
        if (status || !strstr(world.log, table[i].sent))
            fail_msg("%s: %d: %s", script, status, world.log);
    }
    /* beyond one block, and across the border of two; sizes are the script's own */
    assert_int_equal(run(sh, "{ head -c 65520 /dev/zero | tr '\\0' x; printf %s \"$TOKEN\"; head -c 70000 /dev/zero | tr '\\0' y; } > f; wc -c < f; curl -s -o /dev/null -w '%{size_upload}\\n' -T f https://api.example.com/v1/counted"), 0);
    char *second = strchr(out, '\n');
    assert_non_null(second);
    assert_memory_equal(out, second + 1, (size_t)(second - out));
    assert_non_null(strstr(world.log, "135532 bytes, xs3cr3t-T0keny"));
    assert_int_equal(run(sh, "printf %s \"$TOKEN\" > f; curl -s -o /dev/null -T f https://other.example.com/streamed"), 0);
    assert_null(strstr(world.log, "s3cr3t"));
    shell_close(sh);
}

static int32_t to_private(void *user, const char *host, char *text, uint64_t size)
{
    (void)user;
    snprintf(text, size, "%s", strstr(host, "other") ? "10.0.0.1,93.184.216.34" : "10.0.0.1");
    return 0;
}

static void test_addresses_and_limits(void **state)
{
    (void)state;
    shell_net net = net_of();
    net.resolve = to_private;
    shell *sh = open_with(&net, 3);
    assert_int_equal(run(sh, "curl -s https://api.example.com/v1/x"), 7);
    assert_string_equal(world.log, "");
    assert_int_equal(run(sh, "curl -s https://other.example.com/x"), 0);
    assert_non_null(strstr(world.log, "to 93.184.216.34\n"));
    assert_int_equal(run(sh, "for i in 1 2 3 4; do curl -s https://other.example.com/$i; done"), 137);
    assert_non_null(strstr(world.log, "/3\n"));
    assert_null(strstr(world.log, "/4\n"));
    shell_close(sh);
}

/* The kill switch, forks, and a way out that changes. */
static void *kill_network(void *arg)
{
    usleep(100000);
    shell_set_net(arg, NULL);
    return NULL;
}

static void test_changes(void **state)
{
    (void)state;
    shell_net net = net_of(), half = net_of(), other = net_of();
    shell *sh = open_with(&net, SHELL_LIMIT_DEFAULT), *copy;
    pthread_t t;
    pthread_create(&t, NULL, kill_network, sh);
    assert_int_equal(run(sh, "curl -s https://other.example.com/never"), 7);
    pthread_join(t, NULL);
    assert_int_equal(run(sh, "curl -s https://other.example.com/"), 7);
    assert_string_equal(world.log, "");
    half.transfer_close = NULL;
    assert_int_equal(shell_set_net(sh, &half), SHELL_EINVAL);
    assert_int_equal(shell_set_net(sh, &net), SHELL_OK);
    assert_int_equal(shell_fork(sh, &copy), SHELL_OK);
    world.sh = copy;
    assert_int_equal(run(copy, "curl -s https://other.example.com/later & curl -s https://other.example.com/later; wait"), 0);
    assert_string_equal(out, "hello\nhello\n");
    assert_int_equal(world.most_open, 2);
    shell_close(copy);
    world.sh = sh;
    assert_int_equal(run(sh, "curl -s https://other.example.com/"), 0);
    other.transfer = NULL;
    other.transfer_send = NULL;
    other.transfer_receive = NULL;
    other.transfer_close = NULL;
    assert_int_equal(shell_set_net(sh, &other), SHELL_OK);
    assert_int_equal(run(sh, "curl -sS https://other.example.com/"), 7); /* there is no libshell-net here */
    assert_non_null(strstr(err, "libshell-net"));
    assert_int_equal(shell_set_net(sh, &net), SHELL_OK);
    assert_int_equal(run(sh, "curl -s https://other.example.com/"), 0);
    shell_close(sh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers), cmocka_unit_test(test_bodies), cmocka_unit_test(test_checks), cmocka_unit_test(test_credentials), cmocka_unit_test(test_streamed_placeholder), cmocka_unit_test(test_placeholder_in_files), cmocka_unit_test(test_addresses_and_limits),
                                       cmocka_unit_test(test_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
