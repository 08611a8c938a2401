/* redact_fuzz: a secret and a text that holds its forms, in pieces of any size: what comes out is what a plain replacement gives.
 *
 *   byte 0: the secret's length; byte 1: seed of the pieces' sizes; the secret; the text, where 0x1B and a byte stand for one of the forms
 *
 * The forms are made here a second time, by other code; the leftmost is replaced, of those that begin at one place the longest. */
#include <stdio.h>

#include "in_net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FORMS = 64, FORM_MOST = 512, TEXT_MOST = 16384 };

typedef struct Forms {
    char text[FORMS][FORM_MOST];
    size_t len[FORMS];
    bool fold[FORMS];
    int n;
} Forms;

static void put(Forms *f, const char *text, size_t n)
{
    must(f->len[f->n] + n <= FORM_MOST);
    memcpy(f->text[f->n] + f->len[f->n], text, n);
    f->len[f->n] += n;
}

static void next(Forms *f, bool any_case)
{
    f->fold[f->n++] = any_case;
    must(f->n < FORMS);
    f->len[f->n] = 0;
}

/* The whole characters of six bits that the secret fills when `phase` bytes lie before it. */
static void base64_form(Forms *f, Slice s, size_t phase, const char *last)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    for (size_t bit = (8 * phase + 5) / 6 * 6; bit + 6 <= 8 * (phase + s.len); bit += 6) {
        unsigned v = 0;
        for (size_t i = bit - 8 * phase; i < bit - 8 * phase + 6; i++)
            v = v << 1 | ((unsigned)(unsigned char)s.data[i / 8] >> (7 - i % 8) & 1u);
        put(f, v < 62 ? &digits[v] : &last[v - 62], 1);
    }
    next(f, false);
}

static void hex_form(Forms *f, Slice s, const char *before, const char *between)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < s.len; i++) {
        put(f, before, strlen(before));
        put(f, between, i ? strlen(between) : 0);
        put(f, (char[]){digits[(unsigned char)s.data[i] >> 4], digits[s.data[i] & 15]}, 2);
    }
    next(f, true);
}

static void percent_form(Forms *f, Slice s, const char *kept, bool plus)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr(kept, c));
        char code[4] = {'%', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15], 0};
        if (plain)
            put(f, &s.data[i], 1);
        else
            put(f, c == ' ' && plus ? "+" : code, c == ' ' && plus ? 1 : 3);
    }
    next(f, true);
}

/* Of a secret without bytes of 0x80 and more: with them JSON has further spellings, which the unit test knows. */
static void json_form(Forms *f, Slice s, bool slash, bool html, bool quote)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i], code[11];
        const char *at = c ? strchr("\"\"\\\\\bb\ff\nn\rr\tt", c) : NULL;
        bool special = at && (unsigned char)c < ' ';
        snprintf(code, sizeof code, "\\u%04x", (unsigned)(unsigned char)c);
        if (special || c == '"' || c == '\\')
            put(f, (char[]){'\\', special ? at[1] : c}, 2);
        else if (c == '/' && slash)
            put(f, "\\/", 2);
        else if (c < ' ' || c == 0x7f || (html && strchr("<>&", c)) || (quote && c == '\''))
            put(f, code, 6);
        else
            put(f, &c, 1);
    }
    next(f, true);
}

static void html_form(Forms *f, Slice s, const char *quote, const char *apostrophe)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        const char *as = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? quote : c == '\'' ? apostrophe : NULL;
        put(f, as ? as : &s.data[i], as ? strlen(as) : 1);
    }
    next(f, true);
}

static void make_forms(Forms *f, Slice s)
{
    f->n = 0;
    f->len[0] = 0;
    put(f, s.data, s.len);
    next(f, false);
    for (size_t phase = 0; phase < 3; phase++) {
        base64_form(f, s, phase, "+/");
        base64_form(f, s, phase, "-_");
    }
    static const char *const before[] = {"", "\\x", "%", "\\u00"};
    for (size_t i = 0; i < ARRAY_LEN(before); i++)
        hex_form(f, s, before[i], "");
    hex_form(f, s, "", ":");
    hex_form(f, s, "", " ");
    percent_form(f, s, "-._~", false);
    percent_form(f, s, "-._~", true);
    percent_form(f, s, "-._", false);
    percent_form(f, s, "-._", true);
    percent_form(f, s, "-._*", true);
    percent_form(f, s, "-._~!$&'()*+,;=:@/?", false);
    for (unsigned i = 0; i < 8; i++)
        json_form(f, s, i & 1, i & 2, i & 4);
    html_form(f, s, "&quot;", "&#39;");
    html_form(f, s, "&#34;", "&#39;");
    html_form(f, s, "&quot;", "&#x27;");
    html_form(f, s, "&quot;", "'");
    html_form(f, s, "\"", "'");
}

static bool stands_at(const Forms *f, int i, Slice text)
{
    bool same = f->len[i] <= text.len;
    for (size_t k = 0; same && k < f->len[i]; k++) {
        char a = f->text[i][k], b = text.data[k];
        if (f->fold[i]) {
            a = a >= 'A' && a <= 'Z' ? (char)(a + 32) : a;
            b = b >= 'A' && b <= 'Z' ? (char)(b + 32) : b;
        }
        same = a == b;
    }
    return same;
}

static size_t replace(const Forms *f, Slice text, char *out)
{
    size_t n = 0;
    while (text.len) {
        size_t best = 0;
        for (int i = 0; i < f->n; i++)
            if (f->len[i] > best && stands_at(f, i, text))
                best = f->len[i];
        memcpy(out + n, best ? "[redacted]" : text.data, best ? 10 : 1);
        n += best ? 10 : 1;
        text = slice_from(text, best ? best : 1);
    }
    return n;
}

static Slice expand(const Forms *f, Slice text, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len && n + FORM_MOST < TEXT_MOST; i++) {
        if (text.data[i] != 0x1b || i + 1 == text.len) {
            out[n++] = text.data[i];
            continue;
        }
        int form = (unsigned char)text.data[++i] % f->n;
        memcpy(out + n, f->text[form], f->len[form]);
        if (text.data[i] & 0x80 && f->fold[form] && n < TEXT_MOST)
            out[n] = out[n] >= 'a' && out[n] <= 'z' ? (char)(out[n] - 32) : out[n];
        n += f->len[form];
    }
    return slice(out, n);
}

typedef struct Out {
    char text[2 * TEXT_MOST];
    size_t n;
} Out;

static void collect(void *user, Slice bytes)
{
    Out *o = user;
    must(o->n + bytes.len <= sizeof o->text);
    if (bytes.len)
        memcpy(o->text + o->n, bytes.data, bytes.len);
    o->n += bytes.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Forms forms;
    static char expanded[TEXT_MOST], expected[2 * TEXT_MOST];
    static Out out;
    if (size < 2)
        return 0;
    size_t len = REDACT_MIN + data[0] % 56u;
    uint32_t seed = data[1];
    if (size < 2 + len || size > 4096)
        return 0;
    Slice secret = slice((const char *)data + 2, len);
    for (size_t i = 0; i < len; i++)
        if (secret.data[i] & 0x80)
            return 0;
    make_forms(&forms, secret);
    Slice text = expand(&forms, slice((const char *)data + 2 + len, size - 2 - len), expanded), rest = text;
    size_t n = replace(&forms, text, expected);
    Mem m;
    mem_init(&m, NULL, NULL, NULL);
    Redactor *r = redactor_new(&m, &secret, 1);
    must(r != NULL);
    out.n = 0;
    do {
        seed = seed * 1664525u + 1013904223u;
        size_t piece = MIN(rest.len, (size_t)(seed >> 16) % (seed & 0x8000 ? 8 : 300));
        redactor_feed(r, slice(rest.data, piece), piece == rest.len, collect, &out);
        rest = slice_from(rest, piece);
    } while (rest.len);
    must(out.n == n && memcmp(out.text, expected, n) == 0);
    Slice whole = redact_text(r, &m, text);
    must(whole.len == n && (!n || memcmp(whole.data, expected, n) == 0));
    mem_drop(&m);
    return 0;
}
