/* grammar: what a script may put into a request. Framing headers are the kernel's (RFC 9110, 9112). */
#include "lib/kernel/net.h"

bool net_token(Slice s)
{
    static const char punctuation[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!alnum && (!c || !strchr(punctuation, c)))
            return false;
    }
    return s.len > 0;
}

bool net_method_valid(Slice method) { return !GUARD(METHOD_TOKEN, method.len > 32 || !net_token(method)); }

static bool same_name(Slice a, const char *b)
{
    if (a.len != strlen(b))
        return false;
    for (size_t i = 0; i < a.len; i++)
        if ((a.data[i] >= 'A' && a.data[i] <= 'Z' ? a.data[i] | 32 : a.data[i]) != b[i])
            return false;
    return true;
}

static bool owned(Slice name)
{
    static const char *const names[] = {"host", ":authority", "content-length", "transfer-encoding", "te", "trailer", "connection", "keep-alive",
                                        "upgrade", "expect", "http2-settings"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (same_name(name, names[i]))
            return true;
    return name.len >= 6 && same_name(slice(name.data, 6), "proxy-");
}

static Slice trim(Slice s)
{
    while (s.len && (unsigned char)s.data[0] <= ' ')
        s = slice_from(s, 1);
    while (s.len && (unsigned char)s.data[s.len - 1] <= ' ')
        s.len--;
    return s;
}

const char *net_header_refused(Slice name, Slice value)
{
    if (GUARD(HEADER_OWNED, owned(trim(name))))
        return "the header is set by the kernel";
    if (GUARD(HEADER_NAME, !net_token(name)))
        return "a header's name is a token";
    bool broken = slice_find(value, '\r') < value.len || slice_find(value, '\n') < value.len || slice_find(value, 0) < value.len;
    return GUARD(HEADER_VALUE, broken) ? "a header's value holds no line break or NUL" : NULL;
}
