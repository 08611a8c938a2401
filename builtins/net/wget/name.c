/* name: what an answer is stored as: the last part of its path, or what the server calls it, below the directories that were asked for. */
#include "wget.h"

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Percent-decoded; a slash and control characters stay encoded, so that no server chooses a directory. */
static void put_name(Buf *b, Slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (c == '%' && i + 2 < s.len && digit(s.data[i + 1]) >= 0 && digit(s.data[i + 2]) >= 0) {
            c = (unsigned char)(digit(s.data[i + 1]) << 4 | digit(s.data[i + 2]));
            i += 2;
        }
        if (c == '/' || c < 32 || c == 127)
            buf_printf(b, "%%%02X", c);
        else
            buf_char(b, (char)c);
    }
}

static Slice last_part(Slice path)
{
    size_t at = path.len;
    while (at && path.data[at - 1] != '/')
        at--;
    return slice_from(path, at);
}

static void put_directories(Wget *w, Buf *b, const Url *u)
{
    if (!w->no_host) {
        Slice host = slice_from(u->origin, slice_search(u->origin, SLICE("://")) + 3);
        put_name(b, host);
        buf_char(b, '/');
    }
    Slice rest = slice_from(u->path, 1);
    int64_t skip = w->cut_dirs;
    for (;;) {
        size_t n = slice_find(rest, '/');
        if (n == rest.len)
            return;
        Slice part = slice(rest.data, n);
        rest = slice_from(rest, n + 1);
        if (skip-- > 0 || !part.len || slice_is(part, ".") || slice_is(part, ".."))
            continue;
        put_name(b, part);
        buf_char(b, '/');
    }
}

/* filename="a b.txt" or filename=a; directories are left out. */
static Slice disposition_name(Slice v)
{
    size_t at = slice_search(v, SLICE("filename="));
    if (at == SIZE_MAX)
        return slice(NULL, 0);
    v = slice_from(v, at + 9);
    bool quoted = v.len && v.data[0] == '"';
    v = quoted ? slice(v.data + 1, slice_find(slice_from(v, 1), '"')) : slice(v.data, slice_find(v, ';'));
    v = last_part(v);
    return slice_is(v, ".") || slice_is(v, "..") ? slice(NULL, 0) : v;
}

const char *wget_file_name(Wget *w, const Url *u, Slice disposition)
{
    Buf b;
    buf_init(&b, &w->p->keep, BUF_MAX);
    if (w->prefix)
        buf_printf(&b, "%s/", w->prefix);
    Slice given = w->disposition ? disposition_name(disposition) : slice(NULL, 0);
    if (given.len) {
        put_name(&b, given);
        return b.data;
    }
    if (w->directories && !w->no_directories)
        put_directories(w, &b, u);
    Slice part = last_part(u->path);
    if (part.len && !slice_is(part, ".") && !slice_is(part, ".."))
        put_name(&b, part);
    else
        buf_append(&b, SLICE("index.html"));
    if (u->target.len > u->path.len)
        put_name(&b, slice_from(u->target, u->path.len));
    return b.data;
}

const char *wget_unique(Wget *w, const char *name)
{
    VStat st;
    const char *tried = name;
    for (unsigned i = 1; proc_stat(w->p, tried, 0, &st) == 0 && i < 1000000; i++)
        tried = mem_printf(&w->p->keep, "%s.%u", name, i);
    return tried;
}
