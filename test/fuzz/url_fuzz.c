/* url_fuzz: bytes as a URL, a reference against it, what an IDN library might answer, and an address that a name resolved to.
 *
 * What is taken is in canonical form, parses to itself, and reads as an address where libc reads one; an address that this file's own tables
 * block, in whatever spelling or carried by whatever IPv6 form, passes no rule that does not mean private addresses. */
#include <arpa/inet.h>
#include <stdio.h>

#include "in_net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---------- a second opinion on addresses ---------- */

static bool in_v4(uint32_t a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned bits)
{
    return (a ^ (b << 24 | c << 16 | d << 8 | e)) >> (32 - bits) == 0;
}

static bool blocked_v4(const uint8_t *p)
{
    uint32_t a = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    return in_v4(a, 0, 0, 0, 0, 8) || in_v4(a, 10, 0, 0, 0, 8) || in_v4(a, 100, 64, 0, 0, 10) || in_v4(a, 127, 0, 0, 0, 8) || in_v4(a, 169, 254, 0, 0, 16) ||
           in_v4(a, 172, 16, 0, 0, 12) || in_v4(a, 192, 0, 0, 0, 24) || in_v4(a, 192, 0, 2, 0, 24) || in_v4(a, 192, 88, 99, 0, 24) || in_v4(a, 192, 168, 0, 0, 16) ||
           in_v4(a, 198, 18, 0, 0, 15) || in_v4(a, 198, 51, 100, 0, 24) || in_v4(a, 203, 0, 113, 0, 24) || a >= 0xe0000000u || in_v4(a, 168, 63, 129, 16, 32);
}

static bool zeros(const uint8_t *p, size_t n)
{
    while (n && !*p)
        p++, n--;
    return n == 0;
}

/* Where the IPv4 address is that the IPv6 one stands for, or -1. */
static int carried_at(const uint8_t *a)
{
    if (zeros(a, 10) && ((a[10] == 0xff && a[11] == 0xff) || (a[10] == 0 && a[11] == 0)))
        return 12;
    if (zeros(a, 8) && a[8] == 0xff && a[9] == 0xff && zeros(a + 10, 2))
        return 12;
    if (memcmp(a, "\0\x64\xff\x9b\0\0\0\0\0\0\0\0", 12) == 0)
        return 12;
    return a[0] == 0x20 && a[1] == 0x02 ? 2 : -1;
}

static bool isatap(const uint8_t *a) { return (a[8] & 0xfd) == 0 && a[9] == 0 && a[10] == 0x5e && a[11] == 0xfe; }

static bool blocked(const uint8_t *a)
{
    int at = carried_at(a);
    if (at >= 0)
        return blocked_v4(a + at);
    if (isatap(a) && blocked_v4(a + 12))
        return true;
    return a[0] >> 5 != 1 || (a[0] == 0x20 && a[1] == 0x01 && (a[2] < 2 || (a[2] == 0x0d && a[3] == 0xb8))) || (a[0] == 0x3f && a[1] == 0xff && a[2] >> 4 == 0);
}

static bool metadata(const uint8_t *a)
{
    uint8_t named[16];
    static const char *const names[] = {"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (inet_pton(AF_INET6, names[i], named) == 1 && memcmp(named, a, 16) == 0)
            return true;
    int at = carried_at(a);
    bool local = isatap(a) || memcmp(a, "\0\x64\xff\x9b\0\1", 6) == 0;
    const uint8_t *v4 = a + (at >= 0 ? at : 12);
    bool carried = (at >= 0 || local) && ((v4[0] == 169 && v4[1] == 254) || memcmp(v4, "\xc0\0\0\xc0", 4) == 0 || memcmp(v4, "\x64\x64\x64\xc8", 4) == 0 || memcmp(v4, "\xa8\x3f\x81\x10", 4) == 0);
    return carried || (a[0] == 0xfe && a[1] >> 6 == 2);
}

/* ---------- canonical form ---------- */

static void check_host(const Url *u)
{
    struct in_addr v4;
    uint8_t v6[16];
    must(u->host.len > 0 && u->host.data[u->host.len] != '\\');
    char *host = strndup(u->host.data, u->host.len);
    must(host && strlen(host) == u->host.len);
    for (const char *c = host; *c; c++)
        must(!(*c >= 'A' && *c <= 'Z') && !strchr("@%/\\?#[] ", *c));
    bool number = inet_aton(host, &v4) != 0;
    if (u->kind == URL_NAME)
        must(!number && !strchr(host, ':') && host[strlen(host) - 1] != '.');
    if (u->kind == URL_IPV4)
        must(number && net_address_is_v4(&u->address) && memcmp(&v4, u->address.bytes + 12, 4) == 0);
    if (u->kind == URL_IPV6)
        must(inet_pton(AF_INET6, host, v6) == 1 && memcmp(v6, u->address.bytes, 16) == 0);
    free(host);
}

static bool plain_code(Slice s, size_t i)
{
    char two[3] = {s.data[i + 1], s.data[i + 2], 0};
    int c = (int)strtol(two, NULL, 16);
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~", c));
}

static bool hex(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f'); }

static void check_bytes(Slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        must((unsigned char)s.data[i] > 0x20 && (unsigned char)s.data[i] < 0x7f && s.data[i] != '#');
        if (s.data[i] == '%' && i + 2 < s.len && hex(s.data[i + 1]) && hex(s.data[i + 2]))
            must((!plain_code(s, i) || (i && memchr(s.data + i - MIN(i, (size_t)2), '%', MIN(i, (size_t)2)))) && !(s.data[i + 1] >= 'a') && !(s.data[i + 2] >= 'a'));
    }
}

static void check_path(const Url *u)
{
    must(u->path.len && u->path.data[0] == '/');
    Slice rest = u->path;
    while (rest.len) {
        rest = slice_from(rest, 1);
        size_t n = slice_find(rest, '/');
        must(!slice_is(slice(rest.data, n), ".") && !slice_is(slice(rest.data, n), ".."));
        rest = slice_from(rest, n);
    }
    if (!u->odd_path)
        must(!contains(u->path, "//") && !contains(u->path, "\\") && !contains(u->path, ";") && !contains(u->path, "%2F") && !contains(u->path, "%5C") && !contains(u->path, "%00") && !contains(u->path, "%25"));
}

static void check_canonical(Mem *m, const Url *u)
{
    Url again;
    const char *why;
    must(u->text.data[u->text.len] == 0 && strlen(u->text.data) == u->text.len);
    must(u->port != 0 && slice_starts(u->text, u->secure ? SLICE("https://") : SLICE("http://")));
    must(u->origin.len + u->target.len == u->text.len && u->path.len <= u->target.len);
    check_bytes(slice_from(u->text, 8));
    check_host(u);
    check_path(u);
    must(url_parse(m, u->text, &again, &why) == 0);
    must(slice_eq(again.text, u->text) && slice_eq(again.origin, u->origin) && slice_eq(again.path, u->path) && slice_eq(again.target, u->target) && slice_eq(again.host, u->host));
    must(again.kind == u->kind && again.port == u->port && again.secure == u->secure && again.odd_path == u->odd_path && !again.has_user && !again.unicode);
    must(memcmp(&again.address, &u->address, sizeof u->address) == 0 && url_same_origin(&again, u));
}

/* ---------- may it be reached? ---------- */

static void check_address(const Url *u, const NetAddress *a)
{
    NetRange also = {*a, 128};
    UrlRule any = {.http = true, .https = true, .host_match = HOST_ANY, .port = u->port, .path = SLICE("/")};
    NetPolicy policy = {.rules = &any, .nrules = 1};
    NetDecision d = net_decide(&policy, u, SLICE("GET"));
    must(d.allowed && !d.named);
    bool other = u->kind != URL_NAME && memcmp(&u->address, a, sizeof *a) != 0;
    bool passes = net_address_allowed(&policy, &d, u, a, false);
    must(passes == (!other && !blocked(a->bytes) && !metadata(a->bytes)));
    must(!net_address_allowed(&policy, &d, u, a, true));
    any.allow_private = true;
    d = net_decide(&policy, u, SLICE("GET"));
    must(net_address_allowed(&policy, &d, u, a, false) == (!other && !metadata(a->bytes)));
    policy.also_metadata = &also;
    policy.nalso_metadata = 1;
    must(!net_address_allowed(&policy, &d, u, a, false));
    policy.also_private = &also;
    policy.nalso_private = 1;
    policy.nalso_metadata = 0;
    any.allow_private = false;
    d = net_decide(&policy, u, SLICE("GET"));
    must(!net_address_allowed(&policy, &d, u, a, false));
}

/* Our readers and printers of addresses against libc's. */
static void check_text(Slice text)
{
    NetAddress ours;
    uint8_t v4[4], v6[16];
    char copy[64], shown[46];
    NetRange r;
    if (net_range_parse(text, &r)) {
        must(r.bits <= 128 && net_range_has(&r, &r.base));
        NetAddress last = r.base;
        last.bytes[15] ^= 1;
        must(net_range_has(&r, &last) == (r.bits < 128));
    }
    if (text.len >= sizeof copy || memchr(text.data ? text.data : "", 0, text.len))
        return;
    snprintf(copy, sizeof copy, "%.*s", (int)text.len, text.data ? text.data : "");
    must(net_parse_v4(text, &ours) == (inet_pton(AF_INET, copy, v4) == 1));
    if (net_parse_v4(text, &ours))
        must(memcmp(ours.bytes + 12, v4, 4) == 0);
    if (!net_parse_v6(text, &ours)) {
        must(inet_pton(AF_INET6, copy, v6) != 1);
        return;
    }
    must(inet_pton(AF_INET6, copy, v6) == 1 && memcmp(ours.bytes, v6, 16) == 0);
    net_format_address(&ours, shown);
    NetAddress again;
    must(net_parse_v6(slice_str(shown), &again) || net_parse_v4(slice_str(shown), &again));
    must(memcmp(&again, &ours, sizeof ours) == 0);
}

static void one_url(Mem *m, Slice text, Slice reference, Slice ascii, Slice address, Slice raw)
{
    Url u, other;
    const char *why;
    NetAddress a;
    int err = url_parse(m, text, &u, &why);
    must(err == 0 || (err == -EINVAL && why));
    if (err)
        return;
    if (u.unicode && url_with_host(m, &u, ascii, &other, &why))
        return;
    u = u.unicode ? other : u;
    check_canonical(m, &u);
    check_address(&u, &u.address);
    if (net_parse_v6(address, &a) || net_parse_v4(address, &a))
        check_address(&u, &a);
    if (raw.len >= sizeof a) {
        memcpy(&a, raw.data, sizeof a);
        check_address(&u, &a);
    }
    if (url_resolve(m, &u, reference, &other, &why) == 0 && !other.unicode)
        check_canonical(m, &other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Slice rest = slice((const char *)data, size);
    Slice text = next_field(&rest), reference = next_field(&rest), ascii = next_field(&rest), address = next_field(&rest);
    Mem m;
    mem_init(&m, NULL, NULL, NULL);
    one_url(&m, text, reference, ascii, address, rest);
    one_url(&m, reference, text, ascii, text, rest);
    check_text(text);
    check_text(address);
    mem_drop(&m);
    return 0;
}
