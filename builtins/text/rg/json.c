/* json: rg --json. Bytes that are not UTF-8 are given in base64. */
#include "rg.h"

static void put(Rg *g, const char *s)
{
    g->total.printed += strlen(s);
    out_str(g->p->out, s);
}

static void base64(Buf *out, Slice s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < s.len; i += 3) {
        uint32_t v = 0;
        size_t n = MIN(s.len - i, 3);
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (k < n ? (unsigned char)s.data[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            buf_char(out, k <= n ? digits[v >> (18 - 6 * k) & 63] : '=');
    }
}

/* {"text":"..."} or {"bytes":"..."} */
static const char *data(Rg *g, Slice s)
{
    Buf out;
    buf_init(&out, &g->p->mem, BUF_MAX);
    if (!utf8_valid(s)) {
        buf_append(&out, SLICE("{\"bytes\":\""));
        base64(&out, s);
        buf_append(&out, SLICE("\"}"));
        return out.data;
    }
    buf_append(&out, SLICE("{\"text\":\""));
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        const char *at = c ? strchr("\"\\\b\f\n\r\t", c) : NULL;
        if (at) {
            buf_char(&out, '\\');
            buf_char(&out, "\"\\bfnrt"[at - "\"\\\b\f\n\r\t"]);
        } else if (c < 32) {
            buf_printf(&out, "\\u%04x", c);
        } else {
            buf_char(&out, (char)c);
        }
    }
    buf_append(&out, SLICE("\"}"));
    return out.data;
}

void rg_json_begin(Rg *g)
{
    g->out_before = g->total.printed;
    put(g, mem_printf(&g->p->mem, "{\"type\":\"begin\",\"data\":{\"path\":%s}}\n", data(g, slice_str(g->name))));
}

void rg_json_lines(Rg *g, Slice lines, uint64_t at, bool selected)
{
    MemMark mark = mem_mark(&g->p->mem);
    const char *path = data(g, slice_str(g->name)), *text = data(g, lines);
    put(g, mem_printf(&g->p->mem, "{\"type\":\"%s\",\"data\":{\"path\":%s,\"lines\":", selected ? "match" : "context", path));
    put(g, text);
    put(g, mem_printf(&g->p->mem, ",\"line_number\":%llu,\"absolute_offset\":%llu,\"submatches\":[", (unsigned long long)rg_line_number(g, at), (unsigned long long)at));
    Slice s = lines;
    if (!g->multiline && s.len && s.data[s.len - 1] == '\n')
        s.len--;
    ReSpan m;
    bool first = true;
    for (size_t from = 0; selected && !g->invert && from <= s.len && rg_match(g, s, from, &m, 1); from = m.end > m.start ? m.end : m.end + 1) {
        const char *what = data(g, slice(s.data + m.start, m.end - m.start));
        put(g, mem_printf(&g->p->mem, "%s{\"match\":%s,\"start\":%zu,\"end\":%zu}", first ? "" : ",", what, m.start, m.end));
        first = false;
    }
    put(g, "]}}\n");
    mem_reset(&g->p->mem, mark);
}

static const char *elapsed(Rg *g, int64_t ns)
{
    return mem_printf(&g->p->mem, "{\"secs\":%lld,\"nanos\":%lld,\"human\":\"%.6fs\"}", (long long)(ns / 1000000000), (long long)(ns % 1000000000), (double)ns / 1e9);
}

void rg_json_end(Rg *g, int64_t binary_at, int64_t nanoseconds)
{
    MemMark mark = mem_mark(&g->p->mem);
    const char *binary = binary_at < 0 ? "null" : mem_printf(&g->p->mem, "%lld", (long long)binary_at);
    out_printf(g->p->out,
               "{\"type\":\"end\",\"data\":{\"path\":%s,\"binary_offset\":%s,\"stats\":{\"elapsed\":%s,\"searches\":1,\"searches_with_match\":1,\"bytes_searched\":%zu,"
               "\"bytes_printed\":%llu,\"matched_lines\":%llu,\"matches\":%llu}}}\n",
               data(g, slice_str(g->name)), binary, elapsed(g, nanoseconds), g->whole.len, (unsigned long long)(g->total.printed - g->out_before),
               (unsigned long long)g->file_lines, (unsigned long long)g->file_matches);
    mem_reset(&g->p->mem, mark);
}

void rg_json_summary(Rg *g)
{
    int64_t ns = proc_monotonic(g->p) - g->started;
    out_printf(g->p->out,
               "{\"data\":{\"elapsed_total\":{\"human\":\"%.6fs\",\"nanos\":%lld,\"secs\":%lld},\"stats\":{\"bytes_printed\":%llu,\"bytes_searched\":%llu,"
               "\"elapsed\":{\"human\":\"%.6fs\",\"nanos\":%lld,\"secs\":%lld},\"matched_lines\":%llu,\"matches\":%llu,\"searches\":%llu,\"searches_with_match\":%llu}},"
               "\"type\":\"summary\"}\n",
               (double)ns / 1e9, (long long)(ns % 1000000000), (long long)(ns / 1000000000), (unsigned long long)g->total.printed, (unsigned long long)g->total.bytes,
               (double)ns / 1e9, (long long)(ns % 1000000000), (long long)(ns / 1000000000), (unsigned long long)g->total.lines, (unsigned long long)g->total.matches,
               (unsigned long long)g->total.searches, (unsigned long long)g->total.files);
}
