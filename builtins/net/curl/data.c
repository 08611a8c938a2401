/* data: bodies and queries put together from -d and its kin. */
#include "curl.h"

const char *read_failure(Curl *c, const char *name, Slice *out)
{
    if (strcmp(name, "-") == 0) {
        Slice text = read_all(c->p, 0);
        *out = slice(mem_copy(&c->p->keep, text), text.len);
        return NULL;
    }
    Slice text;
    int err = read_file(c->p, name, &text);
    if (err)
        return error_text(err);
    *out = slice(mem_copy(&c->p->keep, text), text.len);
    return NULL;
}

void put_encoded(Buf *b, Slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.data[i];
        bool plain = (ch >= '0' && ch <= '9') || ((ch | 32) >= 'a' && (ch | 32) <= 'z') || (ch && strchr("-._~", ch));
        if (plain)
            buf_char(b, ch);
        else
            buf_printf(b, "%%%02X", (unsigned char)ch);
    }
}

/* curl's curl_easy_escape, but a blank is a plus. */
void put_form_encoded(Buf *b, Slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] == ' ')
            buf_char(b, '+');
        else
            put_encoded(b, slice(s.data + i, 1));
}

static int unreadable(Curl *c, const Operation *o, const char *name)
{
    curl_warn(c, o, "Couldn't read data from file \"%s\", this makes an empty POST.", name);
    return 0;
}

/* Each line ends at its first CR or NUL, as curl reads them. */
void put_without_lines(Buf *b, Slice s)
{
    while (s.len) {
        size_t n = slice_find(s, '\n');
        Slice line = slice(s.data, n);
        buf_append(b, slice(line.data, MIN(slice_find(line, '\r'), slice_find(line, 0))));
        s = slice_from(s, MIN(n + 1, s.len));
    }
}

/* "content", "=content", "name=content", "@file", "name@file". */
static int add_urlencoded(Curl *c, Operation *o, const char *value)
{
    Slice s = slice_str(value), text;
    size_t at = MIN(slice_find(s, '='), slice_find(s, '@'));
    bool whole = at == s.len, from_file = !whole && s.data[at] == '@';
    text = whole ? s : slice_from(s, at + 1);
    if (from_file && read_failure(c, value + at + 1, &text))
        return unreadable(c, o, value + at);
    if (!whole && at) {
        buf_append(&o->data, slice(s.data, at));
        buf_char(&o->data, '=');
    }
    put_form_encoded(&o->data, text);
    return 0;
}

int data_add(Curl *c, Operation *o, const char *option, const char *value, int kind)
{
    Slice text = slice_str(value);
    (void)option;
    if (o->has_data && kind != DATA_JSON)
        buf_char(&o->data, '&');
    o->has_data = true;
    o->json |= kind == DATA_JSON;
    if (kind == DATA_URLENCODE)
        return add_urlencoded(c, o, value);
    bool from_file = value[0] == '@' && kind != DATA_RAW;
    if (from_file && read_failure(c, value + 1, &text))
        return unreadable(c, o, value + 1);
    if (from_file && kind == DATA_ASCII)
        put_without_lines(&o->data, text);
    else
        buf_append(&o->data, text);
    return 0;
}

/* Before the fragment, behind ? or &. */
const char *append_query(Curl *c, const char *url, Slice query)
{
    Slice s = slice_str(url);
    size_t end = slice_find(s, '#');
    size_t mark = slice_find(slice(s.data, end), '?');
    size_t host = slice_search(slice(s.data, end), SLICE("://"));
    host = host == SIZE_MAX ? 0 : host + 3;
    bool has_path = slice_find(slice(s.data + host, end - host), '/') < end - host;
    Buf b;
    buf_init(&b, &c->p->mem, BUF_MAX);
    buf_append(&b, slice(s.data, end));
    if (mark == end && !has_path)
        buf_char(&b, '/');
    if (mark == end)
        buf_char(&b, '?');
    else if (mark + 1 < end)
        buf_char(&b, '&');
    buf_append(&b, query);
    buf_append(&b, slice_from(s, end));
    return b.data;
}
