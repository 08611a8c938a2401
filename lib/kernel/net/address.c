/* address: parsing, printing and classing IP addresses.
 *
 * Classes follow the IANA IPv4 and IPv6 special-purpose address registries (RFC 6890 and its updates), and for metadata the
 * addresses that AWS, Azure, Google, Oracle, Alibaba and OpenStack document. IPv6 is refused unless it is in 2000::/3.
 */
#include <stdio.h>

#include "lib/kernel/net.h"

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

NetAddress net_address_v4(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    NetAddress out;
    memcpy(out.bytes, mapped_prefix, sizeof mapped_prefix);
    memcpy(out.bytes + 12, (uint8_t[]){a, b, c, d}, 4);
    return out;
}

bool net_address_is_v4(const NetAddress *a) { return memcmp(a->bytes, mapped_prefix, sizeof mapped_prefix) == 0; }

/* ---------- text ---------- */

/* A decimal number of at most `most` without leading zeros, at the front of *s. */
static bool take_decimal(Slice *s, unsigned most, unsigned *out)
{
    size_t n = 0;
    unsigned v = 0;
    while (n < s->len && n < 3 && s->data[n] >= '0' && s->data[n] <= '9')
        v = v * 10 + (unsigned)(s->data[n++] - '0');
    if (!n || v > most || (n > 1 && s->data[0] == '0'))
        return false;
    *s = slice_from(*s, n);
    *out = v;
    return true;
}

bool net_parse_v4(Slice text, NetAddress *out)
{
    uint8_t part[4];
    for (int i = 0; i < 4; i++) {
        unsigned v;
        if (i && (!text.len || text.data[0] != '.'))
            return false;
        if (i)
            text = slice_from(text, 1);
        if (!take_decimal(&text, 255, &v))
            return false;
        part[i] = (uint8_t)v;
    }
    *out = net_address_v4(part[0], part[1], part[2], part[3]);
    return text.len == 0;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One to four hexadecimal digits at the front of *s. */
static bool take_group(Slice *s, uint16_t *out)
{
    size_t n = 0;
    unsigned v = 0;
    while (n < s->len && n < 4 && hex_value(s->data[n]) >= 0)
        v = v << 4 | (unsigned)hex_value(s->data[n++]);
    if (!n || (n < s->len && hex_value(s->data[n]) >= 0))
        return false;
    *s = slice_from(*s, n);
    *out = (uint16_t)v;
    return true;
}

typedef struct Groups {
    uint16_t value[8];
    unsigned n;
    int gap;    /* where :: stands, or -1 */
} Groups;

static bool take_tail_v4(Slice s, Groups *g)
{
    NetAddress v4;
    if (g->n > 6 || !net_parse_v4(s, &v4))
        return false;
    g->value[g->n++] = (uint16_t)(v4.bytes[12] << 8 | v4.bytes[13]);
    g->value[g->n++] = (uint16_t)(v4.bytes[14] << 8 | v4.bytes[15]);
    return true;
}

static bool take_groups(Slice s, Groups *g)
{
    if (slice_starts(s, SLICE("::"))) {
        g->gap = 0;
        s = slice_from(s, 2);
    }
    while (s.len) {
        if (slice_find(s, ':') == s.len && slice_find(s, '.') < s.len)
            return take_tail_v4(s, g);
        if (g->n == 8 || !take_group(&s, &g->value[g->n]))
            return false;
        g->n++;
        if (!s.len)
            break;
        if (s.data[0] != ':' || s.len == 1)
            return false;
        s = slice_from(s, 1);
        if (s.data[0] == ':') {
            if (g->gap >= 0)
                return false;
            g->gap = (int)g->n;
            s = slice_from(s, 1);
        }
    }
    return true;
}

bool net_parse_v6(Slice text, NetAddress *out)
{
    Groups g = {.gap = -1};
    if (!take_groups(text, &g) || (g.gap < 0 ? g.n != 8 : g.n > 7))
        return false;
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < g.n; i++) {
        unsigned at = g.gap >= 0 && i >= (unsigned)g.gap ? i + 8 - g.n : i;
        out->bytes[at * 2] = (uint8_t)(g.value[i] >> 8);
        out->bytes[at * 2 + 1] = (uint8_t)g.value[i];
    }
    return true;
}

static uint16_t group_of(const NetAddress *a, unsigned i) { return (uint16_t)(a->bytes[i * 2] << 8 | a->bytes[i * 2 + 1]); }

/* The longest run of zero groups, of two or more; the first of equals (RFC 5952 4.2). */
static unsigned longest_gap(const NetAddress *a, unsigned *len)
{
    unsigned best = 8;
    *len = 1;
    for (unsigned i = 0; i < 8; i++) {
        unsigned n = 0;
        while (i + n < 8 && group_of(a, i + n) == 0)
            n++;
        if (n > *len) {
            best = i;
            *len = n;
        }
        i += n;
    }
    return best;
}

void net_format_address(const NetAddress *a, char out[46])
{
    if (net_address_is_v4(a)) {
        snprintf(out, 46, "%u.%u.%u.%u", a->bytes[12], a->bytes[13], a->bytes[14], a->bytes[15]);
        return;
    }
    unsigned len, gap = longest_gap(a, &len);
    size_t at = 0;
    out[0] = 0;
    for (unsigned i = 0; i < 8; i++) {
        if (i == gap) {
            at += (size_t)snprintf(out + at, 46 - at, "::");
            i += len - 1;
        } else {
            at += (size_t)snprintf(out + at, 46 - at, "%s%x", i && i != gap + len ? ":" : "", group_of(a, i));
        }
    }
}

/* ---------- ranges ---------- */

bool net_range_has(const NetRange *r, const NetAddress *a)
{
    unsigned whole = r->bits / 8, rest = r->bits % 8;
    if (memcmp(r->base.bytes, a->bytes, whole) != 0)
        return false;
    uint8_t mask = (uint8_t)(0xff00u >> rest);
    return !rest || ((r->base.bytes[whole] ^ a->bytes[whole]) & mask) == 0;
}

bool net_range_parse(Slice text, NetRange *out)
{
    size_t slash = slice_find(text, '/');
    Slice address = slice(text.data, slash);
    bool v4 = net_parse_v4(address, &out->base);
    if (!v4 && !net_parse_v6(address, &out->base))
        return false;
    unsigned most = v4 ? 32 : 128, bits = most;
    if (slash < text.len) {
        Slice tail = slice_from(text, slash + 1);
        if (!take_decimal(&tail, most, &bits) || tail.len)
            return false;
    }
    out->bits = v4 ? 96 + bits : bits;
    return true;
}

/* ---------- classes ---------- */

typedef struct Block {
    uint8_t bytes[16];
    uint8_t bits;
} Block;

#define V4(a, b, c, d, n) {{a, b, c, d}, n}

static const Block private_v4[] = {
    V4(0, 0, 0, 0, 8),       V4(10, 0, 0, 0, 8),     V4(100, 64, 0, 0, 10),  V4(127, 0, 0, 0, 8),    V4(172, 16, 0, 0, 12),
    V4(192, 0, 0, 0, 24),    V4(192, 0, 2, 0, 24),   V4(192, 88, 99, 0, 24), V4(192, 168, 0, 0, 16), V4(198, 18, 0, 0, 15),
    V4(198, 51, 100, 0, 24), V4(203, 0, 113, 0, 24), V4(224, 0, 0, 0, 4),    V4(240, 0, 0, 0, 4),
};

static const Block metadata_v4[] = {
    V4(169, 254, 0, 0, 16), V4(192, 0, 0, 192, 32), V4(100, 100, 100, 200, 32), V4(168, 63, 129, 16, 32),
};

static const Block private_v6[] = {
    {{0x20, 0x01}, 23},             /* IETF protocol assignments, Teredo among them */
    {{0x20, 0x01, 0x0d, 0xb8}, 32}, /* documentation */
    {{0x3f, 0xff}, 20},             /* documentation */
};

static const Block metadata_v6[] = {
    {{0xfe, 0x80}, 10},
    {{0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, 0x54}, 128},
    {{0xfd, 0x00, 0x0e, 0xc2, [15] = 0x23}, 128},
    {{0xfd, 0x20, 0x00, 0xce, [14] = 0x02, 0x54}, 128},
    {{0xfd, 0x00, 0x00, 0xc1, [12] = 0xa9, 0xfe, 0xa9, 0xfe}, 128},
    {{0xfd, 0x00, 0x00, 0x42, [15] = 0x42}, 128},
};

static bool in_blocks(const uint8_t *a, const Block *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned whole = list[i].bits / 8u, rest = list[i].bits % 8u;
        uint8_t mask = (uint8_t)(0xff00u >> rest);
        if (memcmp(a, list[i].bytes, whole) == 0 && (!rest || ((a[whole] ^ list[i].bytes[whole]) & mask) == 0))
            return true;
    }
    return false;
}

static AddressClass class_v4(const uint8_t *a)
{
    if (in_blocks(a, metadata_v4, ARRAY_LEN(metadata_v4)))
        return ADDRESS_METADATA;
    return in_blocks(a, private_v4, ARRAY_LEN(private_v4)) ? ADDRESS_PRIVATE : ADDRESS_PUBLIC;
}

/* Forms that stand for the IPv4 address they carry: what they reach is that address, whatever their prefix. */
static const struct { Block prefix; unsigned at; } carriers[] = {
    {{{[10] = 0xff, 0xff}, 96}, 12},                    /* mapped */
    {{{[8] = 0xff, 0xff}, 96}, 12},                     /* translated, RFC 2765 */
    {{{0x00, 0x64, 0xff, 0x9b}, 96}, 12},               /* NAT64, RFC 6052 */
    {{{0x20, 0x02}, 16}, 2},                            /* 6to4 */
    {{{0}, 96}, 12},                                    /* compatible, RFC 4291; ::1 and :: among them read as 0.0.0.x */
};

/* ISATAP (RFC 5214): the identifier is [02]00:5efe:a.b.c.d under any prefix, which is judged as well. */
static bool is_isatap(const uint8_t *a) { return (a[8] & 0xfd) == 0 && a[9] == 0 && a[10] == 0x5e && a[11] == 0xfe; }

static AddressClass worse(AddressClass a, AddressClass b) { return MAX(a, b); }

/* A NAT64 prefix of a network's own (RFC 8215): the suffix may be laid out in several ways, so it is never public. */
static AddressClass class_v6(const uint8_t *a)
{
    if (in_blocks(a, metadata_v6, ARRAY_LEN(metadata_v6)))
        return ADDRESS_METADATA;
    bool global = (a[0] & 0xe0) == 0x20;
    return global && !in_blocks(a, private_v6, ARRAY_LEN(private_v6)) ? ADDRESS_PUBLIC : ADDRESS_PRIVATE;
}

static bool carries_v4(const uint8_t *a, AddressClass *class)
{
    for (size_t i = 0; i < ARRAY_LEN(carriers); i++)
        if (in_blocks(a, &carriers[i].prefix, 1)) {
            *class = class_v4(a + carriers[i].at);
            return true;
        }
    return false;
}

AddressClass net_address_class(const NetAddress *address)
{
    const uint8_t *a = address->bytes;
    AddressClass class;
    static const Block local_nat64 = {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48};
    if (net_address_is_v4(address))
        return class_v4(a + 12);
    if (GUARD(ADDRESS_EMBEDDED, carries_v4(a, &class)))
        return class;
    class = class_v6(a);
    if (GUARD(ADDRESS_EMBEDDED, is_isatap(a) || in_blocks(a, &local_nat64, 1)))
        class = worse(class, class_v4(a + 12));
    return class;
}
