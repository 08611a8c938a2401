/* URLs, addresses, rules, the grammar of requests, credentials, redaction: tables and random streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/kernel/net.h"

static Mem mem;

static int set_up(void **state)
{
    (void)state;
    mem_init(&mem, NULL, NULL, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mem_drop(&mem);
    return 0;
}

static FILE *open_data(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/test/unit/data/%s", LIBSHELL_SOURCE, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    return f;
}

/* \xNN and \\ are bytes. */
static size_t unescape(char *s)
{
    char *to = s;
    for (char *at = s; *at; at++) {
        unsigned c;
        if (at[0] == '\\' && at[1] == 'x' && sscanf(at + 2, "%2x", &c) == 1) {
            *to++ = (char)c;
            at += 3;
        } else {
            *to++ = *at;
        }
    }
    *to = 0;
    return (size_t)(to - s);
}

static Url url_of(const char *text)
{
    Url u;
    const char *why;
    assert_int_equal(url_parse(&mem, slice_str(text), &u, &why), 0);
    return u;
}

static void test_url_table(void **state)
{
    (void)state;
    FILE *f = open_data("urls.txt");
    char line[4096];
    int wrong = 0, seen = 0;
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#')
            continue;
        line[strcspn(line, "\n")] = 0;
        char *url = strchr(line, '\t');
        char *canonical = strchr(url + 1, '\t');
        *url++ = *canonical++ = 0;
        char shown[4096];
        snprintf(shown, sizeof shown, "%s", url);
        size_t n = unescape(url);
        unescape(canonical);
        Url u;
        const char *why;
        int err = url_parse(&mem, slice(url, n), &u, &why);
        bool good = strcmp(line, "ok") == 0 ? !err && !u.unicode && slice_is(u.text, canonical) : err == -EINVAL && why;
        if (!good)
            printf("%s %s: got %s\n", line, shown, err ? why : u.text.data);
        wrong += !good;
        seen++;
    }
    fclose(f);
    assert_int_equal(wrong, 0);
    assert_true(seen > 600);
}

/* What several checks would refuse is refused by the one that is meant. */
static void test_reasons(void **state)
{
    (void)state;
    Mem m;
    Url u;
    const char *why = "";
    mem_init(&m, NULL, NULL, NULL);
    assert_int_equal(url_parse(&m, SLICE("http://./"), &u, &why), -EINVAL);
    assert_string_equal(why, "empty host");
    char *longest = mem_alloc(&m, URL_MAX + 64);
    memset(longest, 'a', URL_MAX + 64);
    memcpy(longest, "http://a/", 9);
    assert_int_equal(url_parse(&m, slice(longest, URL_MAX), &u, &why), 0);
    assert_int_equal(url_parse(&m, slice(longest, URL_MAX + 1), &u, &why), -EINVAL);
    assert_string_equal(why, "URL too long");
    mem_drop(&m);
}

static void test_address_table(void **state)
{
    (void)state;
    static const char *const names[] = {"public", "private", "metadata"};
    FILE *f = open_data("addresses.txt");
    char class[32], text[64];
    int wrong = 0, seen = 0;
    char line[256];
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#' || sscanf(line, "%31s %63s", class, text) != 2)
            continue;
        NetAddress a;
        assert_true(net_parse_v4(slice_str(text), &a) || net_parse_v6(slice_str(text), &a));
        const char *got = names[net_address_class(&a)];
        if (strcmp(got, class) != 0)
            printf("%s: %s, got %s\n", text, class, got);
        wrong += strcmp(got, class) != 0;
        seen++;
    }
    fclose(f);
    assert_int_equal(wrong, 0);
    assert_true(seen > 200);
}

static UrlRule rule_of(const char *text, const char *methods)
{
    UrlRule r;
    const char *why;
    assert_int_equal(url_rule_parse(&mem, slice_str(text), slice_str(methods), &r, &why), 0);
    return r;
}

/* No spelling of a blocked address passes, whichever of them the parser takes. */
static void test_no_spelling_passes(void **state)
{
    (void)state;
    static const unsigned blocked[] = {0x7f000001, 0xa9fea9fe, 0x0a000001, 0xc0a80001, 0x64646464, 0xa83f8110, 0, 0xffffffff};
    static const char *const forms[] = {"%u", "0x%x", "0%o", "%u.%u", "%u.%u.%u.%u", "0x%x.0x%x.0x%x.0x%x", "[::ffff:%u.%u.%u.%u]", "[::%u.%u.%u.%u]", "[64:ff9b::%u.%u.%u.%u]", "%u.%u.%u.%u."};
    UrlRule any[] = {rule_of("http://*", ""), rule_of("https://*", "")};
    NetPolicy policy = {.rules = any, .nrules = 2};
    for (size_t i = 0; i < ARRAY_LEN(blocked); i++)
        for (size_t k = 0; k < ARRAY_LEN(forms); k++) {
            unsigned v = blocked[i], a = v >> 24, b = v >> 16 & 255, c = v >> 8 & 255, d = v & 255;
            char host[128], text[160];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
            if (k < 3)
                snprintf(host, sizeof host, forms[k], v);
            else if (k == 3)
                snprintf(host, sizeof host, forms[k], a, v & 0xffffff);
            else
                snprintf(host, sizeof host, forms[k], a, b, c, d);
#pragma GCC diagnostic pop
            snprintf(text, sizeof text, "http://%s/", host);
            Url u;
            const char *why;
            if (url_parse(&mem, slice_str(text), &u, &why))
                continue;
            assert_int_not_equal(u.kind, URL_NAME);
            NetDecision decision = net_decide(&policy, &u, SLICE("GET"));
            assert_false(net_address_allowed(&policy, &decision, &u, &u.address, false));
        }
}

static void expect_decision(const NetPolicy *policy, const char *method, const char *url, bool allowed)
{
    Url u = url_of(url);
    NetDecision d = net_decide(policy, &u, slice_str(method));
    if (d.allowed != allowed)
        fail_msg("%s %s", method, url);
}

static void test_rules(void **state)
{
    (void)state;
    UrlRule rules[] = {rule_of("https://api.example.com/v1/", ""), rule_of("https://*.cdn.example:8443", "GET,HEAD"), rule_of("http://plain.example", ""),
                       rule_of("bare.example/x", ""), rule_of("https://api.example.com/v1/admin/", ""), rule_of("https://port.example:8443", "")};
    rules[4].deny = true;
    NetPolicy p = {.rules = rules, .nrules = ARRAY_LEN(rules)};
    static const struct { const char *method, *url; bool allowed; } table[] = {
        {"GET", "https://api.example.com/v1/", true}, {"POST", "https://api.example.com/v1/x?y", true}, {"GET", "https://API.example.com./v1/x", true},
        {"GET", "https://api.example.com/v1", false}, {"GET", "https://api.example.com/v10/", false}, {"GET", "https://api.example.com/", false},
        {"GET", "http://api.example.com/v1/", false}, {"GET", "https://api.example.com:444/v1/", false}, {"GET", "https://evil-api.example.com/v1/", false},
        {"GET", "https://api.example.com.evil.example/v1/", false}, {"GET", "https://api.example.com@evil.example/v1/", false},
        {"GET", "https://api.example.com/v1/../admin", false}, {"GET", "https://api.example.com/v1/%2e%2e/admin", false},
        {"GET", "https://api.example.com/v1/..;/admin", false}, {"GET", "https://api.example.com/v1/x%2fy", false}, {"GET", "https://api.example.com/v1/x%5cy", false},
        {"GET", "https://api.example.com/v1/%252e%252e/x", false}, {"GET", "https://api.example.com/v1//x", false}, {"GET", "https://api.example.com/v1/a\\b", false},
        {"GET", "https://api.example.com/v1/%00", false},
        {"GET", "https://api.example.com/v1/%%32e%%32e/admin", false}, {"GET", "https://api.example.com/v1/%2%65./admin", false}, {"GET", "https://api.example.com/v1/a%20b", true},
        {"GET", "https://api.example.com/v1/admin", false}, {"GET", "https://api.example.com/v1/admin/", false}, {"GET", "https://api.example.com/v1/%61dmin/x", false},
        {"GET", "https://api.example.com/v1/administrators", true},
        {"GET", "https://a.cdn.example:8443/", true}, {"GET", "https://a.b.cdn.example:8443/", true}, {"GET", "https://cdn.example:8443/", false},
        {"HEAD", "https://a.cdn.example:8443/", true}, {"POST", "https://a.cdn.example:8443/", false}, {"get", "https://a.cdn.example:8443/", false},
        {"GET", "https://a.cdn.example/", false}, {"GET", "https://acdn.example:8443/", false},
        {"GET", "http://plain.example/any//thing", true}, {"GET", "https://plain.example/", false},
        {"GET", "https://port.example:8443/", true}, {"GET", "http://port.example:8443/", false},
        {"GET", "https://bare.example/x", true}, {"GET", "https://bare.example/x/y", true}, {"GET", "https://bare.example/xy", false}, {"GET", "http://bare.example/x", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        expect_decision(&p, table[i].method, table[i].url, table[i].allowed);
    NetPolicy none = {0};
    expect_decision(&none, "GET", "https://api.example.com/", false);
}

static void test_bad_rules(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "*", "https://", "ftp://x/", "https://a.*.example/", "https://*a.example", "https://u@a.example/", "https://a.example/?q", "https://a.example/v1//",
                                      "https://a.example/%2f", "https://b\xc3\xbc.example/", "https://*.1.2.3.4/", "https://a b/"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        UrlRule r;
        const char *why;
        int err = url_rule_parse(&mem, slice_str(bad[i]), SLICE(""), &r, &why);
        if (i == 1)
            assert_int_equal(err, 0); /* every https host, said in short */
        else if (err != -EINVAL)
            fail_msg("%s", bad[i]);
    }
    UrlRule r;
    const char *why;
    assert_int_equal(url_rule_parse(&mem, SLICE("https://a.example"), SLICE("GET,,PUT"), &r, &why), -EINVAL);
    assert_int_equal(url_rule_parse(&mem, SLICE("https://a.example"), SLICE("GET,"), &r, &why), -EINVAL);
    assert_int_equal(url_rule_parse(&mem, SLICE("https://a.example"), SLICE("GE T"), &r, &why), -EINVAL);
}

static bool reaches(const char *rule, bool private, const char *url, const char *address, bool own)
{
    UrlRule r = rule_of(rule, "");
    r.allow_private = private;
    NetRange also[2];
    assert_true(net_range_parse(SLICE("93.184.0.0/16"), &also[0]));
    assert_true(net_range_parse(SLICE("10.9.9.9"), &also[1]));
    NetPolicy p = {.rules = &r, .nrules = 1, .also_private = also, .nalso_private = 1, .also_metadata = also + 1, .nalso_metadata = 1};
    Url u = url_of(url);
    NetAddress a;
    assert_true(net_parse_v4(slice_str(address), &a) || net_parse_v6(slice_str(address), &a));
    NetDecision d = net_decide(&p, &u, SLICE("GET"));
    return d.allowed && net_address_allowed(&p, &d, &u, &a, own);
}

static void test_addresses_of_a_name(void **state)
{
    (void)state;
    assert_true(reaches("https://a.example", false, "https://a.example/", "8.8.8.8", false));
    assert_false(reaches("https://a.example", false, "https://a.example/", "8.8.8.8", true));
    assert_true(reaches("https://a.example", true, "https://a.example/", "8.8.8.8", true));
    assert_false(reaches("https://a.example", false, "https://a.example/", "10.0.0.1", false));
    assert_true(reaches("https://a.example", true, "https://a.example/", "10.0.0.1", false));
    assert_false(reaches("https://a.example", true, "https://a.example/", "169.254.169.254", false));
    assert_false(reaches("https://a.example", true, "https://a.example/", "::ffff:169.254.169.254", false));
    assert_false(reaches("https://a.example", true, "https://a.example/", "fd00:ec2::254", false));
    assert_false(reaches("http://*", true, "http://169.254.169.254/", "169.254.169.254", false));
    assert_true(reaches("http://169.254.169.254", true, "http://169.254.169.254/", "169.254.169.254", false));
    assert_false(reaches("http://169.254.169.254", false, "http://169.254.169.254/", "169.254.169.254", false));
    assert_false(reaches("https://a.example", false, "https://a.example/", "93.184.216.34", false));
    assert_true(reaches("https://a.example", true, "https://a.example/", "93.184.216.34", false));
    assert_false(reaches("https://a.example", true, "https://a.example/", "10.9.9.9", false));
    assert_false(reaches("http://8.8.8.8", false, "http://8.8.8.8/", "8.8.4.4", false));
}

static void test_references(void **state)
{
    (void)state;
    static const struct { const char *reference, *url; } table[] = {
        {"g", "http://a/b/c/g"}, {"./g", "http://a/b/c/g"}, {"g/", "http://a/b/c/g/"}, {"/g", "http://a/g"}, {"//g", "http://g/"}, {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"}, {"#s", "http://a/b/c/d;p?q"}, {"", "http://a/b/c/d;p?q"}, {"..", "http://a/b/"}, {"../g", "http://a/b/g"}, {"../..", "http://a/"},
        {"../../../g", "http://a/g"}, {"https://h/x", "https://h/x"}, {"g;x=1/../y", "http://a/b/c/y"}, {"//u@h:81/p", "http://h:81/p"}};
    Url base = url_of("http://a/b/c/d;p?q");
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        Url u;
        const char *why;
        assert_int_equal(url_resolve(&mem, &base, slice_str(table[i].reference), &u, &why), 0);
        assert_string_equal(u.text.data, table[i].url);
    }
    Url u;
    const char *why;
    assert_int_equal(url_resolve(&mem, &base, SLICE("file:///etc/passwd"), &u, &why), -EINVAL);
    assert_int_equal(url_resolve(&mem, &base, SLICE("///x"), &u, &why), -EINVAL);
    assert_int_equal(url_resolve(&mem, &base, SLICE("/x\r\nHost: y"), &u, &why), -EINVAL);
    assert_true(url_same_origin(&base, &(Url){.origin = SLICE("http://a")}));
}

static void test_unicode_hosts(void **state)
{
    (void)state;
    Url u = url_of("https://b\xc3\xbc" "cher.example:444/x"), ascii;
    const char *why;
    assert_true(u.unicode);
    assert_int_equal(url_with_host(&mem, &u, SLICE("xn--bcher-kva.example"), &ascii, &why), 0);
    assert_string_equal(ascii.text.data, "https://xn--bcher-kva.example:444/x");
    assert_int_equal(url_with_host(&mem, &u, SLICE("b\xc3\xbc.example"), &ascii, &why), -EINVAL);
    assert_int_equal(url_with_host(&mem, &u, SLICE("2130706433"), &ascii, &why), -EINVAL);
}

static void test_grammar(void **state)
{
    (void)state;
    static const char *const refused[] = {"Host", "host", " Host", "Host ", "\tHOST", "Content-Length", "content-LENGTH", "Transfer-Encoding", "TE", "Trailer", "Connection", "Keep-Alive",
                                          "Upgrade", "Expect", "Proxy-Authorization", "Proxy-Anything", "proxy-", ":authority", ":path", "", "a b", "a:b", "a\nb", "a\x01", "caf\xc3\xa9", "HTTP2-Settings"};
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (!net_header_refused(slice_str(refused[i]), SLICE("x")))
            fail_msg("%s", refused[i]);
    assert_null(net_header_refused(SLICE("X-Y"), SLICE("any \t thing \xff")));
    assert_null(net_header_refused(SLICE("Hosts"), SLICE("")));
    assert_non_null(net_header_refused(SLICE("X"), SLICE("a\rb")));
    assert_non_null(net_header_refused(SLICE("X"), SLICE("a\nb")));
    assert_non_null(net_header_refused(SLICE("X"), SLICE("a\0b")));
    assert_true(net_method_valid(SLICE("PROPFIND")));
    assert_false(net_method_valid(SLICE("")));
    assert_false(net_method_valid(SLICE("GET /")));
    assert_false(net_method_valid(SLICE("GET\r\nX")));
    assert_false(net_method_valid(SLICE("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")));
}

static void expect_credential(const Credential *list, size_t n, const char *method, const char *url, int wanted, bool odd)
{
    Url u = url_of(url);
    bool refused;
    const Credential *c = credential_find(list, n, &u, slice_str(method), &refused);
    if (refused != odd || (c ? (int)(c - list) : -1) != wanted)
        fail_msg("%s %s: %d", method, url, c ? (int)(c - list) : -1);
}

static void test_credentials(void **state)
{
    (void)state;
    Credential list[] = {{.match = rule_of("https://api.example.com/v1/", "GET")}, {.match = rule_of("api.example.com", "")}, {.match = rule_of("http://plain.example", "")}, {.match = rule_of("https://port.example:9443", "")}};
    size_t n = ARRAY_LEN(list);
    expect_credential(list, n, "GET", "https://api.example.com/v1/x", 0, false);
    expect_credential(list, n, "POST", "https://api.example.com/v1/x", 1, false);
    expect_credential(list, n, "GET", "https://api.example.com/v2/x", 1, false);
    expect_credential(list, n, "GET", "https://api.example.com/v1/..;/x", -1, true);
    expect_credential(list, n, "GET", "http://api.example.com/v1/x", -1, false);
    expect_credential(list, n, "GET", "https://api.example.com:8443/v1/x", -1, false);
    expect_credential(list, n, "GET", "https://sub.api.example.com/v1/x", -1, false);
    expect_credential(list, n, "GET", "https://api.example.com@evil.example/v1/x", -1, false);
    expect_credential(list, n, "GET", "http://plain.example/", 2, false);
    expect_credential(list, n, "GET", "https://plain.example/", -1, false);
    expect_credential(list, n, "GET", "https://port.example:9443/", 3, false);
    expect_credential(list, n, "GET", "http://port.example:9443/", -1, false);
    Secret *s = secret_new(SLICE("hush"));
    assert_true(slice_is(secret_bytes(s), "hush"));
    secret_unref(secret_ref(s));
    secret_unref(s);
}

/* ---------- redaction ---------- */

static void collect(void *user, Slice bytes) { buf_append(user, bytes); }

static Slice redacted(Redactor *r, Slice text, size_t piece)
{
    Buf out;
    buf_init(&out, &mem, BUF_MAX);
    for (size_t at = 0; at < text.len; at += piece)
        redactor_feed(r, slice(text.data + at, MIN(piece, text.len - at)), false, collect, &out);
    redactor_feed(r, slice(NULL, 0), true, collect, &out);
    return out.len ? buf_slice(&out) : SLICE("");
}

static const char secret[] = "s3cr3t/+Tok\"en=~ 9";

static void encode64(const char *s, size_t n, const char *digits, char *out)
{
    size_t o = 0;
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)(unsigned char)s[i] << 16 | (i + 1 < n ? (unsigned)(unsigned char)s[i + 1] << 8 : 0) | (i + 2 < n ? (unsigned char)s[i + 2] : 0u);
        for (int k = 0; k < 4; k++)
            out[o++] = (size_t)k > n - i ? '=' : digits[v >> (18 - 6 * k) & 63];
    }
    out[o] = 0;
}

static void encode_each(const char *format, const char *s, char *out)
{
    for (; *s; s++)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        out += sprintf(out, format, (unsigned char)*s);
#pragma GCC diagnostic pop
}

static void test_redaction(void **state)
{
    (void)state;
    static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char header[64], forms[28][512];
    int n = 0;
    snprintf(header, sizeof header, "Bearer %s", secret);
    strcpy(forms[n++], secret);
    for (unsigned phase = 0; phase < 3; phase++) {
        char padded[64];
        snprintf(padded, sizeof padded, "%.*s%s!", (int)phase, "xy", secret);
        encode64(padded, strlen(padded), standard, forms[n++]);
        encode64(padded, strlen(padded), url, forms[n++]);
    }
    encode_each("%02x", secret, forms[n++]);
    encode_each("%02X", secret, forms[n++]);
    encode_each("%%%02x", secret, forms[n++]);
    encode_each("\\u%04X", secret, forms[n++]);
    strcpy(forms[n++], "s3cr3t%2F%2BTok%22en%3D~%209");
    strcpy(forms[n++], "s3cr3t%2f%2bTok%22en%3d%7e+9");
    strcpy(forms[n++], "s3cr3t/+Tok\\\"en=~ 9");
    strcpy(forms[n++], "s3cr3t\\/+Tok\\\"en=~ 9");
    strcpy(forms[n++], "s3cr3t/+Tok&quot;en=~ 9");
    strcpy(forms[n++], "s3cr3t/+Tok&#34;en=~ 9");
    strcpy(forms[n++], "73:33:63:72:33:74:2F:2B:54:6F:6B:22:65:6E:3D:7E:20:39");
    strcpy(forms[n++], "73 33 63 72 33 74 2f 2b 54 6f 6b 22 65 6e 3d 7e 20 39");
    Slice secrets[] = {slice_str(secret), slice_str(header)};
    for (int i = 0; i < n; i++)
        for (size_t piece = 1; piece < 64; piece += piece < 8 ? 1 : 13) {
            Redactor *r = redactor_new(&mem, secrets, 2);
            static char text[65536];
            snprintf(text, sizeof text, "before %s between %s%s after", forms[i], forms[i], forms[i]);
            Slice out = redacted(r, slice_str(text), piece);
            assert_int_equal(slice_search(out, SLICE("before ")), 0);
            assert_true(slice_search(out, SLICE(" after")) != SIZE_MAX);
            if (slice_search(out, SLICE("[redacted]")) == SIZE_MAX || slice_search(out, slice(forms[i] + 4, 9)) != SIZE_MAX)
                fail_msg("%s in pieces of %zu: %.*s", forms[i], piece, (int)out.len, out.data);
        }
}

/* What writers of JSON and HTML make of other characters. */
static void test_redaction_escapes(void **state)
{
    (void)state;
    Slice one = SLICE("p<\xc3\xa4/&'x\xf0\x9d\x84\x9ey>z");
    static const char *const forms[] = {
        "p<\\u00e4/&'x\\uD834\\uDD1Ey>z", "p\\u003c\\u00e4/\\u0026'x\\ud834\\udd1ey\\u003ez", "p\\u003C\\u00E4\\/\\u0026\\u0027x\\uD834\\uDD1Ey\\u003Ez", "p\\u003c\xc3\xa4/\\u0026'x\xf0\x9d\x84\x9ey\\u003ez",
        "p&lt;\xc3\xa4/&amp;'x\xf0\x9d\x84\x9ey&gt;z", "p&lt;\xc3\xa4/&amp;&#39;x\xf0\x9d\x84\x9ey&gt;z", "p&lt;\xc3\xa4/&amp;&#x27;x\xf0\x9d\x84\x9ey&gt;z",
    };
    Redactor *r = redactor_new(&mem, &one, 1);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (!slice_is(redact_text(r, &mem, slice_str(forms[i])), "[redacted]"))
            fail_msg("%s", forms[i]);
}

/* The longest secret there may be, and more of them than a table has room for. */
static void test_redaction_sizes(void **state)
{
    (void)state;
    static char longest[8193], hex[6 * 8192 + 1], many[600][24];
    Slice secrets[600], one = slice(longest, 8192);
    for (size_t i = 0; i < 8192; i++) {
        longest[i] = (char)('!' + i * 7 % 90);
        snprintf(hex + 6 * i, 7, "\\u00%02x", (unsigned char)longest[i]);
    }
    Redactor *r = redactor_new(&mem, &one, 1);
    assert_non_null(r);
    assert_true(slice_is(redact_text(r, &mem, one), "[redacted]"));
    assert_true(slice_is(redacted(r, slice(hex, 6 * 8192), 100), "[redacted]"));
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        snprintf(many[i], sizeof many[i], "s3cr3t/<%zu>", i * 977);
        secrets[i] = slice_str(many[i]);
    }
    r = redactor_new(&mem, secrets, ARRAY_LEN(secrets));
    assert_non_null(r);
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
        assert_true(slice_is(redact_text(r, &mem, secrets[i]), "[redacted]"));
}

/* Against the plain way: every other byte comes through as it was, whatever the pieces. */
static void test_redaction_random(void **state)
{
    (void)state;
    srand(5);
    Slice one = SLICE("abababac");
    for (int round = 0; round < 3000; round++) {
        mem_drop(&mem);
        Redactor *r = redactor_new(&mem, &one, 1);
        char text[400];
        size_t n = (size_t)(rand() % 399), at = 0;
        for (size_t i = 0; i < n; i++)
            text[i] = "abc"[rand() % 8 < 4 ? 0 : rand() % 8 < 6 ? 1 : 2];
        Buf plain, out;
        buf_init(&plain, &mem, BUF_MAX);
        buf_init(&out, &mem, BUF_MAX);
        for (size_t i = 0; i < n;) {
            bool hit = n - i >= one.len && memcmp(text + i, one.data, one.len) == 0;
            buf_append(&plain, hit ? SLICE("[redacted]") : slice(text + i, 1));
            i += hit ? one.len : 1;
        }
        while (at < n) {
            size_t wish = (size_t)(rand() % 40), piece = MIN(wish, n - at);
            redactor_feed(r, slice(text + at, piece), at + piece == n, collect, &out);
            at += piece;
        }
        if (!n)
            redactor_feed(r, slice(NULL, 0), true, collect, &out);
        if (plain.len != out.len)
            fail_msg("%.*s\n%.*s\n%.*s", (int)n, text, (int)plain.len, plain.data, (int)out.len, out.data);
        assert_true(!out.len || memcmp(plain.data, out.data, out.len) == 0);
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {T(test_url_table), T(test_reasons), T(test_address_table), T(test_no_spelling_passes), T(test_rules), T(test_bad_rules), T(test_addresses_of_a_name), T(test_references),
                                       T(test_unicode_hosts), T(test_grammar), T(test_credentials), T(test_redaction), T(test_redaction_escapes), T(test_redaction_sizes), T(test_redaction_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
