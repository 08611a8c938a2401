/* header: a member's headers decoded and encoded: v7, ustar, GNU's long names and big numbers, pax records, and sparse files of GNU and pax. */
#include "archive/tar/tar.h"

/* Offsets and lengths of the fields of a header block. */
enum {
    F_NAME = 0, F_MODE = 100, F_UID = 108, F_GID = 116, F_SIZE = 124, F_MTIME = 136, F_SUM = 148, F_TYPE = 156, F_LINK = 157, F_MAGIC = 257, F_UNAME = 265,
    F_GNAME = 297, F_MAJOR = 329, F_MINOR = 337, F_PREFIX = 345, F_ATIME = 345, F_CTIME = 357, F_SPARSE = 386, F_EXTENDED = 482, F_REAL_SIZE = 483,
    NAME_LEN = 100, PREFIX_LEN = 155, LONG_MOST = 1 << 20, SPANS_MOST = 1 << 20,
};

/* --- numbers --- */

/* Octal digits among blanks and NULs, or big-endian in base 256 when the first byte's high bit is set. */
bool parse_octal(const char *field, size_t n, uint64_t *out)
{
    const unsigned char *s = (const unsigned char *)field;
    uint64_t v = 0;
    size_t i = 0;
    if (s[0] & 0x80) {
        v = s[0] == 0xff ? ~0ull : s[0] & 0x3f;
        for (i = 1; i < n; i++)
            v = v << 8 | s[i];
        *out = v;
        return true;
    }
    while (i < n && (s[i] == ' ' || s[i] == 0))
        i++;
    size_t first = i;
    for (; i < n && s[i] >= '0' && s[i] <= '7'; i++)
        v = v << 3 | (uint64_t)(s[i] - '0');
    *out = v;
    return i > first;
}

static uint64_t number(const char *block, size_t at, size_t n)
{
    uint64_t v;
    parse_octal(block + at, n, &v);
    return v;
}

static void put_number(char *block, size_t at, size_t n, uint64_t v, bool negative)
{
    uint64_t most = n - 1 >= 21 ? UINT64_MAX : (1ull << 3 * (n - 1)) - 1;
    if (!negative && v <= most) {
        for (size_t i = n - 1; i-- > 0; v >>= 3)
            block[at + i] = (char)('0' + (v & 7));
        block[at + n - 1] = 0;
        return;
    }
    for (size_t i = n; i-- > 1; v = v >> 8 | (negative ? 0xffull << 56 : 0))
        block[at + i] = (char)(v & 255);
    block[at] = (char)(negative ? 0xff : 0x80);
}

static uint32_t checksum(const char *block)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= F_SUM && i < F_SUM + 8 ? ' ' : (unsigned char)block[i];
    return sum;
}

static bool all_zero(const char *block)
{
    for (size_t i = 0; i < BLOCK; i++)
        if (block[i])
            return false;
    return true;
}

static bool sum_right(const char *block)
{
    uint64_t stored;
    if (!parse_octal(block + F_SUM, 8, &stored))
        return false;
    int32_t alternative = 0; /* of signed bytes: some old writers */
    for (size_t i = 0; i < BLOCK; i++)
        alternative += i >= F_SUM && i < F_SUM + 8 ? ' ' : (signed char)block[i];
    return stored == checksum(block) || (int64_t)stored == alternative;
}

static char *field_text(Proc *p, const char *block, size_t at, size_t n) { return mem_copy(&p->mem, (Slice){block + at, strnlen(block + at, n)}); }

/* --- what stands before a member --- */

typedef struct Extra {
    char *name, *link, *uname, *gname;
    bool has_size, has_mtime, has_uid, has_gid, has_real;
    uint64_t size, uid, gid, real;
    int64_t mtime;
    uint32_t mtime_ns;
    char *sparse_name, *sparse_map;
    Slice dumpdir;
    int sparse_major, sparse_minor;
    Buf offsets; /* sparse 0.0: "offset,length," so far */
} Extra;

/* The data of an extension header, whole. */
static Slice whole_data(TarIn *in, uint64_t size)
{
    Tar *t = in->t;
    Buf b;
    Slice part;
    Member m = {.size = size, .left = size};
    if (size > LONG_MOST)
        tar_fatal(t, "Extended header length %llu is out of range", (unsigned long long)size);
    buf_init(&b, &t->p->mem, LONG_MOST + 1);
    while (in_data(in, &m, &part))
        buf_append(&b, part);
    return b.data ? buf_slice(&b) : (Slice){"", 0};
}

static bool decimal(Slice s, uint64_t *out)
{
    uint64_t v = 0;
    if (!s.len)
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] < '0' || s.data[i] > '9' || __builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(s.data[i] - '0'), &v))
            return false;
    *out = v;
    return true;
}

static bool pax_time(Slice s, int64_t *seconds, uint32_t *ns)
{
    bool negative = s.len && s.data[0] == '-';
    size_t dot = slice_find(s, '.');
    uint64_t whole;
    uint32_t fraction = 0, scale = 100000000;
    if (!decimal(slice(s.data + negative, dot - negative), &whole) || whole > INT64_MAX / 2)
        return false;
    for (size_t i = dot + 1; i < s.len && scale; i++, scale /= 10)
        fraction += (uint32_t)(s.data[i] - '0') * scale;
    *seconds = negative ? -(int64_t)whole : (int64_t)whole;
    *ns = fraction;
    if (negative && fraction) {
        *seconds -= 1;
        *ns = 1000000000 - fraction;
    }
    return true;
}

static void pax_record(Tar *t, Extra *e, Slice key, Slice value)
{
    Mem *m = &t->p->mem;
    if (slice_is(key, "path"))
        e->name = mem_copy(m, value);
    else if (slice_is(key, "linkpath"))
        e->link = mem_copy(m, value);
    else if (slice_is(key, "uname"))
        e->uname = mem_copy(m, value);
    else if (slice_is(key, "gname"))
        e->gname = mem_copy(m, value);
    else if (slice_is(key, "size"))
        e->has_size = decimal(value, &e->size);
    else if (slice_is(key, "uid"))
        e->has_uid = decimal(value, &e->uid);
    else if (slice_is(key, "gid"))
        e->has_gid = decimal(value, &e->gid);
    else if (slice_is(key, "mtime"))
        e->has_mtime = pax_time(value, &e->mtime, &e->mtime_ns);
    else if (slice_is(key, "GNU.dumpdir"))
        e->dumpdir = slice(mem_copy(m, value), value.len);
    else if (slice_is(key, "GNU.sparse.name"))
        e->sparse_name = mem_copy(m, value);
    else if (slice_is(key, "GNU.sparse.map"))
        e->sparse_map = mem_copy(m, value);
    else if (slice_is(key, "GNU.sparse.major"))
        e->sparse_major = value.len ? value.data[0] - '0' : 0;
    else if (slice_is(key, "GNU.sparse.minor"))
        e->sparse_minor = value.len ? value.data[0] - '0' : 0;
    else if (slice_is(key, "GNU.sparse.size") || slice_is(key, "GNU.sparse.realsize"))
        e->has_real = decimal(value, &e->real);
    else if (slice_is(key, "GNU.sparse.offset") || slice_is(key, "GNU.sparse.numbytes")) {
        if (!e->offsets.mem)
            buf_init(&e->offsets, m, LONG_MOST);
        if (e->offsets.len)
            buf_char(&e->offsets, ',');
        buf_append(&e->offsets, value);
    }
}

/* Records are "LENGTH KEY=VALUE\n", the length counting all of it. */
static void pax_records(Tar *t, Extra *e, Slice data)
{
    while (data.len) {
        uint64_t n;
        size_t blank = slice_find(data, ' ');
        if (!decimal(slice(data.data, blank), &n) || n > data.len || n < blank + 2 || data.data[n - 1] != '\n') {
            tar_error(t, "Malformed extended header: missing %s", blank == data.len ? "blank after length" : "newline");
            return;
        }
        Slice record = slice(data.data + blank + 1, (size_t)n - blank - 2);
        size_t equals = slice_find(record, '=');
        if (equals == record.len) {
            tar_error(t, "Malformed extended header: missing equal sign");
            return;
        }
        pax_record(t, e, slice(record.data, equals), slice_from(record, equals + 1));
        data = slice_from(data, (size_t)n);
        proc_tick(t->p, 1);
    }
}

/* --- sparse maps --- */

static void add_span(Tar *t, Member *m, uint64_t offset, uint64_t length, size_t *cap)
{
    if (m->span_count >= SPANS_MOST)
        tar_fatal(t, "Unexpected EOF in archive");
    if (m->span_count == *cap) {
        size_t next = *cap ? *cap * 2 : 16;
        m->spans = mem_grow(&t->p->mem, m->spans, *cap * sizeof(Span), next * sizeof(Span));
        *cap = next;
    }
    m->spans[m->span_count++] = (Span){offset, length};
}

static void old_sparse(TarIn *in, Member *m)
{
    Tar *t = in->t;
    size_t cap = 0;
    char block[BLOCK];
    memcpy(block, in->block, BLOCK);
    m->real_size = number(block, F_REAL_SIZE, 12);
    size_t at = F_SPARSE, count = 4, extended = F_EXTENDED;
    for (;;) {
        for (size_t i = 0; i < count && block[at + i * 24]; i++)
            add_span(t, m, number(block, at + i * 24, 12), number(block, at + i * 24 + 12, 12), &cap);
        if (!block[extended])
            break;
        if (!in_block(in))
            tar_fatal(t, "Unexpected EOF in archive");
        memcpy(block, in->block, BLOCK);
        at = 0;
        count = 21;
        extended = 504;
    }
    if (!m->spans)
        m->spans = mem_array(&t->p->mem, 1, Span);
}

static void map_from_text(Tar *t, Member *m, Slice text)
{
    size_t cap = 0;
    uint64_t offset = 0, v;
    for (bool second = false; text.len; second = !second) {
        size_t n = slice_find(text, ',');
        if (!decimal(slice(text.data, n), &v))
            break;
        if (second)
            add_span(t, m, offset, v, &cap);
        offset = v;
        text = slice_from(text, MIN(n + 1, text.len));
    }
    if (!m->spans)
        m->spans = mem_array(&t->p->mem, 1, Span);
}

/* Version 1.0: the map stands before the data, as decimal lines in whole blocks. */
static void map_from_data(TarIn *in, Member *m)
{
    Tar *t = in->t;
    size_t cap = 0, used = BLOCK;
    uint64_t v = 0, count = 0, offset = 0, at = 0;
    char digits[24];
    size_t n = 0;
    for (; at <= 2 * count;) {
        if (used == BLOCK) {
            if (m->left < BLOCK || !in_block(in))
                tar_fatal(t, "Unexpected EOF in archive");
            m->left -= BLOCK;
            m->size -= BLOCK;
            used = 0;
        }
        char c = in->block[used++];
        if (c != '\n' && n < sizeof digits) {
            digits[n++] = c;
            continue;
        }
        if (!decimal((Slice){digits, n}, &v) || (at == 0 && v > SPANS_MOST)) {
            tar_error(t, "%s: malformed sparse archive member", tar_quote(t, m->name));
            break;
        }
        n = 0;
        if (at == 0)
            count = v;
        else if (at % 2)
            offset = v;
        else
            add_span(t, m, offset, v, &cap);
        at++;
    }
    if (!m->spans)
        m->spans = mem_array(&t->p->mem, 1, Span);
}

/* The spans lie in order within the file, and the data is what they say. */
static void check_spans(Tar *t, Member *m)
{
    uint64_t end = 0, sum = 0, stop;
    bool ok = true;
    for (size_t i = 0; i < m->span_count; i++) {
        Span s = m->spans[i];
        ok = ok && s.offset >= end && !__builtin_add_overflow(s.offset, s.length, &stop) && stop <= m->real_size && !__builtin_add_overflow(sum, s.length, &sum);
        end = ok ? stop : end;
    }
    if (ok && sum <= m->left)
        return;
    tar_error(t, "%s: malformed sparse archive member", tar_quote(t, m->name));
    m->span_count = 0;
    m->real_size = 0;
}

static void apply_extra(TarIn *in, Member *m, Extra *e)
{
    if (e->name)
        m->name = e->name;
    if (e->link)
        m->link = e->link;
    if (e->uname)
        m->uname = e->uname;
    if (e->gname)
        m->gname = e->gname;
    if (e->dumpdir.data)
        m->dumpdir = e->dumpdir;
    if (e->has_uid)
        m->uid = e->uid;
    if (e->has_gid)
        m->gid = e->gid;
    if (e->has_mtime) {
        m->mtime = e->mtime;
        m->mtime_ns = e->mtime_ns;
    }
    if (e->has_size)
        m->size = m->left = m->real_size = e->size;
    if (e->sparse_name)
        m->name = e->sparse_name;
    if (e->sparse_map || e->offsets.len) {
        map_from_text(in->t, m, e->sparse_map ? slice_str(e->sparse_map) : buf_slice(&e->offsets));
        m->real_size = e->real;
        check_spans(in->t, m);
    } else if (e->sparse_major == 1) {
        m->real_size = e->real;
        map_from_data(in, m);
        check_spans(in->t, m);
    }
}

static char *plain_name(Proc *p, const char *block)
{
    bool ustar = memcmp(block + F_MAGIC, "ustar", 6) == 0;
    if (!ustar || !block[F_PREFIX])
        return field_text(p, block, F_NAME, NAME_LEN);
    return mem_printf(&p->mem, "%.*s/%.*s", (int)strnlen(block + F_PREFIX, PREFIX_LEN), block + F_PREFIX, (int)strnlen(block, NAME_LEN), block);
}

static void decode(TarIn *in, Member *m)
{
    const char *b = in->block;
    Proc *p = in->t->p;
    bool named = memcmp(b + F_MAGIC, "ustar", 5) == 0;
    m->name = plain_name(p, b);
    m->link = field_text(p, b, F_LINK, NAME_LEN);
    m->uname = named ? field_text(p, b, F_UNAME, 32) : mem_strdup(&p->mem, "");
    m->gname = named ? field_text(p, b, F_GNAME, 32) : mem_strdup(&p->mem, "");
    m->mode = (uint32_t)number(b, F_MODE, 8) & 07777;
    m->uid = number(b, F_UID, 8);
    m->gid = number(b, F_GID, 8);
    m->size = number(b, F_SIZE, 12);
    m->mtime = (int64_t)number(b, F_MTIME, 12);
    m->major = named ? (uint32_t)number(b, F_MAJOR, 8) : 0;
    m->minor = named ? (uint32_t)number(b, F_MINOR, 8) : 0;
    m->type = b[F_TYPE] ? b[F_TYPE] : '0';
    m->block = in->blocks - 1;
    if (m->size > INT64_MAX / 2)
        tar_fatal(in->t, "Archive value %llu is out of off_t range", (unsigned long long)m->size);
    if (strchr("1234 56", m->type) && m->type != ' ')
        m->size = m->type == '5' || m->type == '1' ? (m->type == '5' ? 0 : m->size) : 0;
    if (m->type == '1')
        m->size = 0;
    m->real_size = m->left = m->size;
}

typedef enum { HEAD_OK, HEAD_ZERO, HEAD_BAD, HEAD_END } Head;

static Head read_head(TarIn *in)
{
    if (!in_block(in))
        return HEAD_END;
    return sum_right(in->block) ? HEAD_OK : all_zero(in->block) ? HEAD_ZERO : HEAD_BAD;
}

/* Blocks up to the next real header; false at the end. */
static bool find_head(TarIn *in)
{
    Tar *t = in->t;
    for (bool skipping = false;;) {
        Head h = read_head(in);
        if (h == HEAD_OK)
            return in->seen_header = true;
        if (h == HEAD_END) {
            if (!in->seen_header && !skipping && in->blocks == 0 && !in->child_status)
                tar_error(t, "This does not look like a tar archive");
            return false;
        }
        if (h == HEAD_ZERO) {
            if (t->ignore_zeros)
                continue;
            uint64_t at = in->blocks;
            if (t->block_numbers)
                out_printf(t->list, "block %llu: ** Block of NULs **\n", (unsigned long long)(at - 1));
            Head next = read_head(in);
            if (next != HEAD_ZERO)
                warn(t->p, "A lone zero block at %llu", (unsigned long long)at);
            return false;
        }
        if (!skipping) {
            if (!in->seen_header)
                tar_error(t, "This does not look like a tar archive");
            tar_error(t, "Skipping to next header");
        }
        skipping = true;
        proc_tick(t->p, 1);
    }
}

bool in_member(TarIn *in, Member *m)
{
    Extra e = {0};
    uint64_t first = 0;
    for (bool any = false; find_head(in); any = true) {
        *m = (Member){0};
        decode(in, m);
        if (!any)
            first = m->block;
        char type = m->type;
        if (type == 'L' || type == 'K') {
            Slice text = whole_data(in, m->size);
            *(type == 'L' ? &e.name : &e.link) = mem_copy(&in->t->p->mem, slice(text.data, strnlen(text.data, text.len)));
        } else if (type == 'x' || type == 'X' || type == 'g') {
            pax_records(in->t, &e, whole_data(in, m->size));
        } else {
            if (type == 'S') {
                old_sparse(in, m);
                check_spans(in->t, m);
                m->type = '0';
            }
            apply_extra(in, m, &e);
            if ((m->type == '0' || m->type == '7') && !m->spans && *m->name && m->name[strlen(m->name) - 1] == '/')
                m->type = '5'; /* v7 had no other way to say it */
            if (m->type == 'D' && in->t->incremental) {
                m->dumpdir = whole_data(in, m->size);
                m->dumpdir.data = mem_copy(&in->t->p->mem, m->dumpdir);
                m->left = 0;
            }
            m->header_blocks = m->block - first + 1;
            m->block = first;
            return true;
        }
    }
    return false;
}

/* --- writing --- */

static void finish_block(char *block)
{
    uint32_t sum = checksum(block);
    for (size_t i = 6; i-- > 0; sum >>= 3)
        block[F_SUM + i] = (char)('0' + (sum & 7));
    block[F_SUM + 6] = 0;
    block[F_SUM + 7] = ' ';
}

static void put_text(char *block, size_t at, size_t n, const char *text) { memcpy(block + at, text, strnlen(text, n)); }

static bool ustar_split(const char *name, size_t *prefix)
{
    size_t len = strlen(name);
    *prefix = 0;
    if (len <= NAME_LEN)
        return true;
    for (size_t i = MIN(len - 1, (size_t)PREFIX_LEN + 1); i-- > 1;)
        if (name[i] == '/' && i + 1 < len && len - i - 1 <= NAME_LEN) {
            *prefix = i;
            return true;
        }
    return false;
}

bool member_storable(Tar *t, const Member *m)
{
    size_t prefix;
    if (t->format == FORMAT_V7 && strlen(m->name) > NAME_LEN - 1)
        tar_error(t, "%s: file name is too long (max %d); not dumped", tar_quote(t, m->name), NAME_LEN - 1);
    else if (t->format == FORMAT_USTAR && !ustar_split(m->name, &prefix))
        tar_error(t, strlen(m->name) > NAME_LEN + PREFIX_LEN + 1 ? "%s: file name is too long (max %d); not dumped" : "%s: file name is too long (cannot be split); not dumped", tar_quote(t, m->name),
                  NAME_LEN + PREFIX_LEN + 1);
    else if ((t->format == FORMAT_V7 || t->format == FORMAT_USTAR) && m->link && strlen(m->link) > NAME_LEN)
        tar_error(t, "%s: link name is too long; not dumped", tar_quote(t, m->link));
    else
        return true;
    return false;
}

static void long_text(TarOut *o, char type, const char *text)
{
    char block[BLOCK] = "././@LongLink";
    size_t n = strlen(text) + 1;
    put_number(block, F_MODE, 8, 0644, false);
    put_number(block, F_UID, 8, 0, false);
    put_number(block, F_GID, 8, 0, false);
    put_number(block, F_SIZE, 12, n, false);
    put_number(block, F_MTIME, 12, 0, false);
    block[F_TYPE] = type;
    memcpy(block + F_MAGIC, "ustar  ", 8);
    put_text(block, F_UNAME, 31, "root");
    put_text(block, F_GNAME, 31, "root");
    finish_block(block);
    out_bytes(o, (Slice){block, BLOCK});
    out_bytes(o, (Slice){text, n});
    out_zeros(o, (BLOCK - n % BLOCK) % BLOCK);
}

static void pax_add_slice(Buf *b, const char *key, Slice value)
{
    size_t body = strlen(key) + value.len + 3, total = body + 1;
    for (;;) {
        char digits[24];
        size_t n = (size_t)snprintf(digits, sizeof digits, "%zu", total);
        if (n + body == total)
            break;
        total = n + body;
    }
    buf_printf(b, "%zu %s=", total, key);
    buf_append(b, value);
    buf_char(b, '\n');
}

static void pax_add(Buf *b, const char *key, const char *value) { pax_add_slice(b, key, slice_str(value)); }

static void pax_add_time(Buf *b, const char *key, int64_t seconds, uint32_t ns)
{
    char text[48];
    int n = snprintf(text, sizeof text, "%lld", (long long)seconds);
    if (ns) {
        n = snprintf(text, sizeof text, "%lld.%09u", (long long)seconds, ns);
        while (text[n - 1] == '0')
            text[--n] = 0;
    }
    pax_add(b, key, text);
}

static void pax_header(TarOut *o, const Member *m, const VStat *st)
{
    Proc *p = o->t->p;
    Buf b;
    size_t prefix;
    buf_init(&b, &p->mem, LONG_MOST);
    if (!ustar_split(m->name, &prefix))
        pax_add(&b, "path", m->name);
    if (m->link && strlen(m->link) > NAME_LEN)
        pax_add(&b, "linkpath", m->link);
    if (m->uid > 07777777)
        pax_add(&b, "uid", mem_printf(&p->mem, "%llu", (unsigned long long)m->uid));
    if (m->gid > 07777777)
        pax_add(&b, "gid", mem_printf(&p->mem, "%llu", (unsigned long long)m->gid));
    if (m->size > 077777777777)
        pax_add(&b, "size", mem_printf(&p->mem, "%llu", (unsigned long long)m->size));
    if (m->mtime_ns || m->mtime < 0 || m->mtime > 077777777777)
        pax_add_time(&b, "mtime", m->mtime, m->mtime_ns);
    if (st) {
        pax_add_time(&b, "atime", st->atime, st->atime_ns);
        pax_add_time(&b, "ctime", st->ctime, st->ctime_ns);
    }
    if (m->dumpdir.data)
        pax_add_slice(&b, "GNU.dumpdir", m->dumpdir);
    if (!b.len)
        return;
    char block[BLOCK] = "";
    char *path = mem_strdup(&p->mem, m->name);
    strip_slashes(path);
    Slice dir = dir_name(path), base = base_name(path);
    const char *name = mem_printf(&p->mem, "%.*s/PaxHeaders/%.*s", (int)dir.len, dir.data, (int)base.len, base.data);
    put_text(block, F_NAME, NAME_LEN, name);
    put_number(block, F_MODE, 8, 0644, false);
    put_number(block, F_UID, 8, 0, false);
    put_number(block, F_GID, 8, 0, false);
    put_number(block, F_SIZE, 12, b.len, false);
    put_number(block, F_MTIME, 12, m->mtime > 0 ? (uint64_t)m->mtime : 0, false);
    block[F_TYPE] = 'x';
    memcpy(block + F_MAGIC, "ustar\00000", 8);
    finish_block(block);
    out_bytes(o, (Slice){block, BLOCK});
    out_bytes(o, buf_slice(&b));
    out_zeros(o, (BLOCK - b.len % BLOCK) % BLOCK);
}

void out_header(TarOut *o, const Member *m, const VStat *st)
{
    TarFormat f = o->t->format;
    bool gnu = f == FORMAT_GNU || f == FORMAT_OLDGNU;
    char block[BLOCK] = "";
    size_t prefix = 0;
    if (gnu && m->link && strlen(m->link) > NAME_LEN)
        long_text(o, 'K', m->link);
    if (gnu && strlen(m->name) > NAME_LEN)
        long_text(o, 'L', m->name);
    if (f == FORMAT_PAX)
        pax_header(o, m, st);
    if (f == FORMAT_USTAR || f == FORMAT_PAX)
        ustar_split(m->name, &prefix);
    if (prefix)
        put_text(block, F_PREFIX, prefix, m->name);
    put_text(block, F_NAME, NAME_LEN, m->name + (prefix ? prefix + 1 : 0));
    put_number(block, F_MODE, 8, m->mode & 07777, false);
    put_number(block, F_UID, 8, m->uid, false);
    put_number(block, F_GID, 8, m->gid, false);
    put_number(block, F_SIZE, 12, m->size, false);
    bool negative = m->mtime < 0;
    put_number(block, F_MTIME, 12, negative && f != FORMAT_GNU && f != FORMAT_OLDGNU ? 0 : (uint64_t)m->mtime, negative && gnu);
    block[F_TYPE] = f == FORMAT_V7 && (m->type == '0' || m->type == '5') ? 0 : m->type;
    if (m->link)
        put_text(block, F_LINK, NAME_LEN, m->link);
    if (gnu && o->t->incremental && st) {
        put_number(block, F_ATIME, 12, (uint64_t)st->atime, false);
        put_number(block, F_CTIME, 12, (uint64_t)st->ctime, false);
    }
    bool device = m->type == '3' || m->type == '4';
    if (f != FORMAT_V7) {
        memcpy(block + F_MAGIC, gnu ? "ustar  " : "ustar\00000", 8);
        put_text(block, F_UNAME, 31, m->uname);
        put_text(block, F_GNAME, 31, m->gname);
    }
    if (f == FORMAT_USTAR || f == FORMAT_PAX || f == FORMAT_V7 || device) {
        put_number(block, F_MAJOR, 8, m->major, false);
        put_number(block, F_MINOR, 8, m->minor, false);
    }
    finish_block(block);
    out_bytes(o, (Slice){block, BLOCK});
}
