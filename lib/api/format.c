/* format: a result as text for a model: what happened in words, then what was printed, cut where it is long.
 *
 * A stream that is too long keeps its head and its tail, cut at line ends where one is near, and between them a line that counts what
 * was left out and says how to see it. Bytes that are not UTF-8 become U+FFFD, for the text travels in JSON.
 */
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"
#include "lib/base/utf8.h"

enum { DEFAULT_CAP = 16000, LEAST_CAP = 200, LINE_REACH = 200 };

/* ---------- the status ---------- */

static const struct { const char *limit, *advice; } advice[] = {
    {"time", "do less at once, or ask for more time"},
    {"steps", "do less at once"},
    {"memory", "process the data in pieces"},
    {"output", "print less (head, tail, grep), or write to a file and read parts of it"},
    {"file_size", "write several smaller files"},
    {"file_bytes", "remove files that are not needed"},
    {"inodes", "remove files that are not needed, or put many into one"},
    {"fds", "close descriptors, or open fewer at a time"},
    {"processes", "run fewer jobs at a time"},
    {"pipeline", "use shorter pipelines"},
    {"depth", "recurse less deeply, or use a loop"},
    {"script", "send the script in parts, or put it into a file"},
    {"regex", "use a simpler pattern"},
    {"expansion", "expand fewer words at a time: find, xargs, or a loop over lines"},
};

static void limit_amount(const shell_result *r, char *out, size_t cap)
{
    enum { MIB = 1 << 20 };
    uint64_t v = r->limit_value;
    bool bytes = strcmp(r->limit, "memory") == 0 || strcmp(r->limit, "output") == 0 || strncmp(r->limit, "file_", 5) == 0 || strcmp(r->limit, "script") == 0;
    if (strcmp(r->limit, "time") == 0)
        snprintf(out, cap, " %g s", (double)v / 1000);
    else if (bytes && v >= MIB && v % MIB == 0)
        snprintf(out, cap, " %llu MiB", (unsigned long long)(v / MIB));
    else
        snprintf(out, cap, " %llu%s", (unsigned long long)v, bytes ? " bytes" : "");
}

static void stopped(const shell_result *r, Buf *b)
{
    char amount[48] = "";
    if (r->limit_value)
        limit_amount(r, amount, sizeof amount);
    buf_printf(b, "stopped, %s limit%s", r->limit, amount);
    for (size_t n = 0; n < ARRAY_LEN(advice); n++)
        if (strcmp(advice[n].limit, r->limit) == 0)
            buf_printf(b, "; %s", advice[n].advice);
}

static const char *signal_name(int n)
{
    static const struct { int number; const char *name; } names[] = {
        {1, "HUP"}, {2, "INT"}, {3, "QUIT"}, {6, "ABRT"}, {8, "FPE"}, {9, "KILL"}, {10, "USR1"}, {11, "SEGV"}, {12, "USR2"}, {13, "PIPE"},
        {14, "ALRM"}, {15, "TERM"},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].number == n)
            return names[i].name;
    return NULL;
}

static void status_line(const shell_result *r, Buf *b)
{
    buf_printf(b, "exit %d", r->status);
    const char *signal = r->status > 128 ? signal_name(r->status - 128) : NULL;
    size_t before = b->len;
    buf_append(b, SLICE(": "));
    if (r->limit)
        stopped(r, b);
    else if (r->end == SHELL_END_DEADLOCK)
        buf_append(b, SLICE("stopped, every process waited for another"));
    else if (r->end == SHELL_END_CANCELLED)
        buf_append(b, SLICE("cancelled"));
    else if (r->status == 126)
        buf_append(b, SLICE("a command was found but cannot be run"));
    else if (r->status == 127)
        buf_append(b, SLICE("command not found"));
    else if (signal)
        buf_printf(b, "ended by signal %s", signal);
    else
        b->len = before;
    buf_char(b, '\n');
}

/* ---------- a stream ---------- */

static size_t valid_prefix(Slice s)
{
    size_t at = 0, n;
    while (at < s.len && s.data[at] && utf8_decode(s.data + at, s.len - at, &n) != UTF8_BAD)
        at += n;
    return at;
}

/* Appends bytes as UTF-8; what is none, and NUL, becomes U+FFFD. */
static void append_text(Buf *b, Slice s)
{
    while (s.len) {
        size_t good = valid_prefix(s);
        buf_append(b, slice(s.data, good));
        s = slice_from(s, good);
        if (!s.len)
            break;
        buf_append(b, SLICE("\xef\xbf\xbd"));
        s = slice_from(s, 1);
    }
}

/* The end of the head: behind a line's end not far before `at`, else not within a character. */
static size_t head_end(Slice s, size_t at)
{
    for (size_t n = at; n > 0 && at - n < LINE_REACH; n--)
        if (s.data[n - 1] == '\n')
            return n;
    while (at > 0 && ((unsigned char)s.data[at] & 0xc0) == 0x80)
        at--;
    return at;
}

static size_t tail_start(Slice s, size_t at)
{
    for (size_t n = at; n < s.len && n - at < LINE_REACH; n++)
        if (s.data[n - 1] == '\n')
            return n;
    while (at < s.len && ((unsigned char)s.data[at] & 0xc0) == 0x80)
        at++;
    return at;
}

static size_t count_lines(Slice s)
{
    size_t n = 0;
    for (size_t at; s.len && (at = slice_find(s, '\n')) < s.len; n++)
        s = slice_from(s, at + 1);
    return n + (s.len > 0);
}

static void end_line(Buf *b)
{
    if (b->len && b->data[b->len - 1] != '\n')
        buf_char(b, '\n');
}

static void left_out(Buf *b, Slice s, size_t from, size_t to, const char *stream)
{
    Slice gap = slice(s.data + from, to - from);
    end_line(b);
    size_t first = slice_count(slice(s.data, from), '\n') + 1, lines = count_lines(gap);
    buf_printf(b, "[... %zu bytes of %s left out here (%zu lines, from line %zu); to see them, run it again with its output in a file and print a part: "
                  "sed -n '%zu,%zup' FILE ...]\n",
               gap.len, stream, lines, first, first, first + MIN(lines, (size_t)100) - 1);
}

static void stream_text(Buf *b, Slice s, bool truncated, size_t cap, const char *stream)
{
    size_t head = s.len <= cap ? s.len : head_end(s, cap / 2), tail = s.len <= cap ? s.len : tail_start(s, s.len - cap / 2);
    append_text(b, slice(s.data, head));
    if (tail > head)
        left_out(b, s, head, tail, stream);
    append_text(b, slice_from(s, tail));
    end_line(b);
    if (truncated)
        buf_printf(b, "[the output limit was reached: %s ends here, what came after it is lost]\n", stream);
}

/* ---------- the whole ---------- */

shell_err api_give(const Buf *b, char **out, uint64_t *len)
{
    char *copy = b->failed ? NULL : malloc(b->len + 1);
    if (!copy)
        return SHELL_ENOMEM;
    if (b->len)
        memcpy(copy, b->data, b->len);
    copy[b->len] = 0;
    *out = copy;
    if (len)
        *len = b->len;
    return SHELL_OK;
}

static void format(const shell_result *r, size_t cap, Buf *b)
{
    Slice out = {r->out, (size_t)r->out_len}, err = {r->err, (size_t)r->err_len};
    bool failed = r->status != 0 || r->end != SHELL_END_FINISHED;
    if (failed)
        status_line(r, b);
    if (failed && err.len) {
        buf_append(b, SLICE("stderr:\n"));
        stream_text(b, err, r->err_truncated, cap, "stderr");
    }
    if (out.len) {
        if (failed)
            buf_append(b, SLICE("stdout:\n"));
        stream_text(b, out, r->out_truncated, cap, "stdout");
    }
    if (!failed && err.len) {
        buf_append(b, SLICE("stderr:\n"));
        stream_text(b, err, r->err_truncated, cap, "stderr");
    }
    if (!out.len && !err.len)
        buf_append(b, SLICE("(nothing was printed)\n"));
}

shell_err shell_format_result(const shell_result *result, const shell_format_opts *opts, char **out, uint64_t *len)
{
    shell_format_opts o = {.size = sizeof o};
    shell_result r = {.size = sizeof r};
    if (!result || !out || !api_copy_struct(&r, sizeof r, result) || (opts && !api_copy_struct(&o, sizeof o, opts)) || !r.out || !r.err)
        return SHELL_EINVAL;
    Mem mem;
    Buf b;
    mem_init(&mem, NULL, NULL, NULL);
    buf_init(&b, &mem, BUF_MAX);
    format(&r, o.cap == 0 ? DEFAULT_CAP : (size_t)MAX(o.cap, (uint64_t)LEAST_CAP), &b);
    shell_err err = api_give(&b, out, len);
    mem_drop(&mem);
    return err;
}
