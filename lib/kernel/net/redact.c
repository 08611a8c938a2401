/* redact: the forms of a secret, searched for all at once in a stream.
 *
 * Wu and Manber's search with blocks of two bytes: a table tells how far the window of the shortest form's length may move without passing
 * a beginning of any form. Bytes are folded by ASCII case for the table, and compared as the form asks.
 */
#include "lib/base/utf8.h"
#include "lib/kernel/net.h"

enum { NEEDLE_MAX = 64 * 1024 /* \u00XX of the longest secret */, CHAINS = 4096 };

typedef struct Form {
    Slice text;
    bool fold;    /* in any case */
    int next;     /* of the same block, or -1 */
} Form;

struct Redactor {
    Mem *mem;
    Form *forms;
    int nforms, cap;
    int of_secret; /* where those of the secret at hand begin */
    bool failed;
    size_t shortest, longest;
    uint8_t shift[65536];
    int first[CHAINS];
    char *tail;    /* what is held back: 2 * longest bytes of room */
    size_t ntail;
};

static const Slice mark = {"[redacted]", 10};

static unsigned char fold(char c) { return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 32 : c); }

static unsigned block(const char *at) { return (unsigned)fold(at[0]) << 8 | fold(at[1]); }
static unsigned chain(unsigned block) { return (block ^ block >> 4) % CHAINS; }

/* ---------- the forms ---------- */

static bool form_room(Redactor *r)
{
    if (r->nforms < r->cap)
        return true;
    int cap = r->cap * 2 + 32;
    Form *more = mem_grow(r->mem, r->forms, (size_t)r->cap * sizeof *more, (size_t)cap * sizeof *more);
    if (!more)
        return false;
    r->forms = more;
    r->cap = cap;
    return true;
}

static void add_form(Redactor *r, Slice text, bool any_case)
{
    for (int i = r->of_secret; i < r->nforms; i++)
        if (slice_eq(r->forms[i].text, text) && r->forms[i].fold == any_case)
            return;
    char *copy = text.len <= NEEDLE_MAX && form_room(r) ? mem_copy(r->mem, text) : NULL;
    if (!copy) {
        r->failed = true;
        return;
    }
    if (text.len >= 2)
        r->forms[r->nforms++] = (Form){slice(copy, text.len), any_case, -1};
}

static void finish_form(Redactor *r, Buf *b, bool any_case)
{
    r->failed |= b->failed;
    if (!b->failed)
        add_form(r, buf_slice(b), any_case);
    buf_clear(b);
}

/* The characters of base64 that `s` alone decides when it lies `phase` bytes behind a border of three. */
static void add_base64(Redactor *r, Buf *b, Slice s, unsigned phase, const char *digits)
{
    unsigned bits = 0, have = phase ? phase * 8 % 6 : 0; /* of the character that what lies before shares: it is left out */
    bool shared = have != 0;
    for (size_t at = 0; at < s.len; at++) {
        bits = bits << 8 | (unsigned char)s.data[at];
        have += 8;
        if (shared)
            have -= 6;
        shared = false;
        while (have >= 6) {
            have -= 6;
            buf_char(b, digits[bits >> have & 63]);
        }
    }
    finish_form(r, b, false);
}

static void add_hex(Redactor *r, Buf *b, Slice s, const char *before)
{
    for (size_t i = 0; i < s.len; i++)
        buf_printf(b, "%s%02x", before, (unsigned char)s.data[i]);
    finish_form(r, b, true);
}

/* As digests and dumps are written: 73:33:63, 73 33 63. */
static void add_listed_hex(Redactor *r, Buf *b, Slice s, char between)
{
    for (size_t i = 0; i < s.len; i++) {
        if (i)
            buf_char(b, between);
        buf_printf(b, "%02x", (unsigned char)s.data[i]);
    }
    finish_form(r, b, true);
}

static bool is_alnum(char c) { return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'); }

/* Percent-encoding leaves letters, digits and `kept` alone; a form's blank may be a plus. */
static void add_percent(Redactor *r, Buf *b, Slice s, const char *kept, bool plus)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        if (is_alnum(c) || (c && strchr(kept, c)))
            buf_char(b, c);
        else if (c == ' ' && plus)
            buf_char(b, '+');
        else
            buf_printf(b, "%%%02x", (unsigned char)c);
    }
    finish_form(r, b, true);
}

/* What JSON writers escape beyond what they must. */
enum { JSON_SLASH = 1, JSON_HTML = 2 /* < > & */, JSON_QUOTE = 4 /* ' */, JSON_ASCII = 8 };

static void put_unit(Buf *b, unsigned unit) { buf_printf(b, "\\u%04x", unit); }

static void put_code_point(Buf *b, uint32_t c)
{
    if (c >= 0x10000)
        put_unit(b, 0xd800 + ((c - 0x10000) >> 10));
    put_unit(b, c >= 0x10000 ? 0xdc00 + (c & 0x3ff) : c);
}

static void put_json(Buf *b, char c, unsigned also)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *special = c ? strchr(plain, c) : NULL;
    bool html = (also & JSON_HTML) && (c == '<' || c == '>' || c == '&');
    if (special)
        buf_printf(b, "\\%c", letters[special - plain]);
    else if (c == '/' && (also & JSON_SLASH))
        buf_append(b, SLICE("\\/"));
    else if ((unsigned char)c < 0x20 || c == 0x7f || html || (c == '\'' && (also & JSON_QUOTE)))
        put_unit(b, (unsigned char)c);
    else
        buf_char(b, c);
}

static void add_json(Redactor *r, Buf *b, Slice s, unsigned also)
{
    for (size_t i = 0, n; i < s.len; i += n) {
        uint32_t c = (unsigned char)s.data[i];
        n = 1;
        if ((also & JSON_ASCII) && c >= 0x80 && (c = utf8_decode(s.data + i, s.len - i, &n)) != UTF8_BAD) {
            put_code_point(b, c);
        } else {
            n = 1;
            put_json(b, s.data[i], also);
        }
    }
    finish_form(r, b, true);
}

static void add_html(Redactor *r, Buf *b, Slice s, const char *quote, const char *apostrophe)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        const char *entity = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? quote : c == '\'' ? apostrophe : NULL;
        buf_append(b, entity ? slice_str(entity) : slice(&c, 1));
    }
    finish_form(r, b, true);
}

static void add_secret(Redactor *r, Buf *b, Slice s)
{
    r->of_secret = r->nforms;
    static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    if (GUARD(REDACT_VERBATIM, true))
        add_form(r, s, false);
    for (unsigned phase = 0; phase < 3; phase++) {
        if (GUARD(REDACT_BASE64, true))
            add_base64(r, b, s, phase, standard);
        if (GUARD(REDACT_BASE64URL, true))
            add_base64(r, b, s, phase, url);
    }
    if (GUARD(REDACT_HEX, true)) {
        add_hex(r, b, s, "");
        add_listed_hex(r, b, s, ':');
        add_listed_hex(r, b, s, ' ');
        add_hex(r, b, s, "\\x");
    }
    if (GUARD(REDACT_URL, true)) {
        add_hex(r, b, s, "%");
        add_percent(r, b, s, "-._~", false);
        add_percent(r, b, s, "-._~", true);
        add_percent(r, b, s, "-._", false);
        add_percent(r, b, s, "-._", true);
        add_percent(r, b, s, "-._*", true);
        add_percent(r, b, s, "-._~!$&'()*+,;=:@/?", false);
    }
    if (GUARD(REDACT_JSON, true)) {
        add_hex(r, b, s, "\\u00");
        for (unsigned also = 0; also < 16; also++)
            add_json(r, b, s, also);
    }
    if (GUARD(REDACT_HTML, true)) {
        add_html(r, b, s, "&quot;", "&#39;");
        add_html(r, b, s, "&#34;", "&#39;");
        add_html(r, b, s, "&quot;", "&#x27;");
        add_html(r, b, s, "&quot;", "'");
        add_html(r, b, s, "\"", "'");
    }
}

/* ---------- tables ---------- */

static void build(Redactor *r)
{
    r->shortest = SIZE_MAX;
    for (int i = 0; i < r->nforms; i++) {
        r->shortest = MIN(r->shortest, r->forms[i].text.len);
        r->longest = MAX(r->longest, r->forms[i].text.len);
    }
    if (!r->nforms)
        return;
    r->shortest = MIN(r->shortest, (size_t)200);
    memset(r->shift, (int)(r->shortest - 1), sizeof r->shift);
    memset(r->first, -1, sizeof r->first);
    for (int i = 0; i < r->nforms; i++) {
        Form *f = &r->forms[i];
        for (size_t k = 0; k + 2 <= r->shortest; k++) {
            uint8_t *s = &r->shift[block(f->text.data + k)];
            *s = MIN(*s, (uint8_t)(r->shortest - 2 - k));
        }
        unsigned last = block(f->text.data + r->shortest - 2);
        f->next = r->first[chain(last)];
        r->first[chain(last)] = i;
    }
}

Redactor *redactor_new(Mem *m, const Slice *secrets, size_t n)
{
    Redactor *r = mem_alloc0(m, sizeof *r);
    if (!r)
        return NULL;
    r->mem = m;
    Buf b;
    buf_init(&b, m, BUF_MAX);
    for (size_t i = 0; i < n; i++)
        if (secrets[i].len)
            add_secret(r, &b, secrets[i]);
    build(r);
    r->tail = mem_alloc(m, 2 * r->longest + 1);
    return r->failed || !r->tail ? NULL : r;
}

/* ---------- the search ---------- */

static bool form_at(const Form *f, const char *at, size_t room)
{
    if (f->text.len > room)
        return false;
    if (!f->fold)
        return memcmp(f->text.data, at, f->text.len) == 0;
    for (size_t i = 0; i < f->text.len; i++)
        if (fold(f->text.data[i]) != fold(at[i]))
            return false;
    return true;
}

/* The longest form that begins at text[at], or 0. `end` is the block's at the end of the window. */
static size_t longest_at(const Redactor *r, Slice text, size_t at, unsigned end)
{
    size_t best = 0;
    for (int i = r->first[chain(end)]; i >= 0; i = r->forms[i].next)
        if (r->forms[i].text.len > best && form_at(&r->forms[i], text.data + at, text.len - at))
            best = r->forms[i].text.len;
    return best;
}

/* Emits text up to `limit`, forms that begin before it replaced whole; how much of text is done with. */
static size_t scan(const Redactor *r, Slice text, size_t limit, RedactEmit emit, void *user)
{
    size_t done = 0, at = 0;
    while (at < limit && text.len - at >= r->shortest) {
        unsigned b = block(text.data + at + r->shortest - 2);
        size_t step = r->shift[b], n = step ? 0 : longest_at(r, text, at, b);
        if (n) {
            if (at > done)
                emit(user, slice(text.data + done, at - done));
            emit(user, mark);
            done = at += n;
        } else {
            at += step ? step : 1;
        }
    }
    if (limit > done) {
        emit(user, slice(text.data + done, limit - done));
        done = limit;
    }
    return done;
}

static size_t hold_back(const Redactor *r, bool last)
{
    return last || !GUARD(REDACT_BORDER, true) ? 0 : r->longest - 1;
}

/* What is held back together with the front of `bytes`; how many of `bytes` are done with. */
static size_t feed_tail(Redactor *r, Slice bytes, bool last, RedactEmit emit, void *user)
{
    size_t old = r->ntail, take = MIN(bytes.len, 2 * r->longest - old);
    if (take)
        memcpy(r->tail + old, bytes.data, take);
    Slice joint = slice(r->tail, old + take);
    size_t keep = hold_back(r, last && take == bytes.len);
    size_t done = scan(r, joint, joint.len > keep ? joint.len - keep : 0, emit, user);
    if (done >= old) {
        r->ntail = 0;
        return done - old;
    }
    memmove(r->tail, r->tail + done, joint.len - done);
    r->ntail = joint.len - done;
    return take;
}

void redactor_feed(Redactor *r, Slice bytes, bool last, RedactEmit emit, void *user)
{
    if (!r->nforms) {
        if (bytes.len)
            emit(user, bytes);
        return;
    }
    while (r->ntail) {
        bytes = slice_from(bytes, feed_tail(r, bytes, last, emit, user));
        if (!bytes.len && (r->ntail || !last))
            break;
    }
    if (r->ntail || !bytes.len)
        return;
    size_t keep = hold_back(r, last);
    size_t done = scan(r, bytes, bytes.len > keep ? bytes.len - keep : 0, emit, user);
    r->ntail = bytes.len - done;
    if (r->ntail)
        memcpy(r->tail, bytes.data + done, r->ntail);
}

static void collect(void *user, Slice bytes) { buf_append(user, bytes); }

Slice redact_text(Redactor *r, Mem *m, Slice text)
{
    Buf b;
    buf_init(&b, m, BUF_MAX);
    if (r->nforms)
        scan(r, text, text.len, collect, &b);
    return !r->nforms ? text : b.failed ? SLICE("[redacted]") : buf_slice(&b);
}
