/* print: values as JSON text, without recursion: containers that are open are on a list. */
#include "value.h"

/* ---------- sinks ---------- */

enum { SINK_WINDOW = 32 << 10 };

static void buf_full(Sink *s, size_t need)
{
    size_t used = (size_t)(s->at - s->start);
    size_t want = MAX(used + need, used * 2 + 64);
    char *grown = jmem(s->j, want);
    jmem_copy(s->j, grown, s->start, used);
    if (s->start)
        jmem_give(s->j, s->start, (size_t)(s->end - s->start));
    s->start = grown;
    s->at = grown + used;
    s->end = grown + want;
}

/* Into memory of the engine, from start to at; jsink_free gives it back. */
void jsink_memory(Sink *s, J *j)
{
    *s = (Sink){.full = buf_full, .j = j};
    s->start = s->at = jmem(j, 256);
    s->end = s->start + 256;
}

void jsink_free(Sink *s) { jmem_give(s->j, s->start, (size_t)(s->end - s->start)); }

static void output_full(Sink *s, size_t need)
{
    (void)need;
    char *at = s->at;
    s->at = s->start; /* first: a write that raises must not be repeated */
    out_write(s->out, (Slice){s->start, (size_t)(at - s->start)});
}

void jsink_output(Sink *s, J *j, Output *out)
{
    *s = (Sink){.full = output_full, .j = j, .out = out};
    s->start = s->at = jmem(j, SINK_WINDOW);
    s->end = s->start + SINK_WINDOW;
}

void jsink_done(Sink *s) { output_full(s, 0); }

void jsink_slow(Sink *s, Slice bytes)
{
    while (bytes.len > (size_t)(s->end - s->at)) {
        if (s->out) {
            size_t part = (size_t)(s->end - s->at);
            memcpy(s->at, bytes.data, part);
            s->at += part;
            bytes = slice_from(bytes, part);
        }
        s->full(s, bytes.len);
    }
    if (bytes.len)
        memcpy(s->at, bytes.data, bytes.len);
    s->at += bytes.len;
}

/* ---------- strings ---------- */

/* 0: as it is; 1: \uXXXX; else the letter after the backslash. */
static const char escapes[128] = {1, 1, 1, 1, 1, 1, 1, 1, 'b', 't', 'n', 1, 'f', 'r', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                  1, 1, 1, 1, 1, 1, 1, 1, ['"'] = '"', ['\\'] = '\\', [127] = 1};

static void print_unit(Sink *s, uint32_t unit)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]};
    jsink_write(s, (Slice){text, 6});
}

static void print_escape(Sink *s, unsigned char c)
{
    char kind = escapes[c];
    if (kind == 1) {
        print_unit(s, c);
    } else {
        sink_char(s, '\\');
        sink_char(s, kind);
    }
}

/* Bytes up to the next that needs an escape; eight at a time. */
static size_t plain_run(const char *at, size_t len, bool ascii)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        uint64_t w;
        memcpy(&w, at + i, 8);
        uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\'), del = w ^ (ones * 127);
        uint64_t low = (w - ones * 0x20) & ~w;
        uint64_t hit = low | ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | ((del - ones) & ~del);
        if ((hit | (ascii ? w : 0)) & highs)
            break;
    }
    for (; i < len; i++) {
        unsigned char c = (unsigned char)at[i];
        if (c < 128 ? escapes[c] : ascii)
            break;
    }
    return i;
}

/* Whether the window has room for it and nothing in it needs an escape: then it is there, copied as it was looked at. */
static inline bool print_plain(Sink *s, Slice text)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    char *to = s->at + 1;
    size_t i = 0;
    if ((size_t)(s->end - s->at) < text.len + 2)
        return false;
    for (; i + 8 <= text.len; i += 8) {
        uint64_t w;
        memcpy(&w, text.data + i, 8);
        uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\'), del = w ^ (ones * 127);
        if ((((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | ((del - ones) & ~del)) & highs)
            return false;
        memcpy(to + i, &w, 8);
    }
    for (; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 128 && escapes[c])
            return false;
        to[i] = (char)c;
    }
    s->at[0] = to[i] = '"';
    s->at += text.len + 2;
    return true;
}

void jq_print_string(Sink *s, Slice text, bool ascii)
{
    if (!ascii && likely(print_plain(s, text)))
        return;
    sink_char(s, '"');
    while (text.len) {
        size_t run = plain_run(text.data, text.len, ascii);
        if (run) {
            jsink_write(s, (Slice){text.data, run});
            text = slice_from(text, run);
            continue;
        }
        unsigned char c = (unsigned char)*text.data;
        size_t n = 1;
        if (c < 128) {
            print_escape(s, c);
        } else {
            uint32_t ch = utf8_decode(text.data, text.len, &n);
            if (ch >= 0x10000 && ch != UTF8_BAD) {
                print_unit(s, 0xd800 + ((ch - 0x10000) >> 10));
                ch = 0xdc00 + ((ch - 0x10000) & 0x3ff);
            }
            print_unit(s, ch & 0xffff);
        }
        text = slice_from(text, n);
    }
    sink_char(s, '"');
}

/* ---------- values ---------- */

typedef struct {
    Val v;
    uint32_t at;
    JEntry **sorted;
} Open;

typedef struct {
    Sink *s;
    const PrintStyle *style;
    Open *open;
    uint32_t depth, cap;
} Printer;

enum { COLOR_NULL, COLOR_FALSE, COLOR_TRUE, COLOR_NUMBER, COLOR_STRING, COLOR_ARRAY, COLOR_OBJECT, COLOR_KEY };

static void color_on(Printer *p, int which)
{
    if (p->style->color)
        jsink_write(p->s, slice_str(p->style->colors[which]));
}

static void color_off(Printer *p)
{
    if (p->style->color)
        jsink_write(p->s, SLICE("\033[0m"));
}

static inline void colored(Printer *p, int which, const char *text)
{
    if (likely(!p->style->color)) {
        sink_char(p->s, text[0]);
        if (text[1])
            sink_char(p->s, text[1]);
        return;
    }
    color_on(p, which);
    jsink_write(p->s, slice_str(text));
    color_off(p);
}

static void line_break(Printer *p)
{
    static const char spaces[] = "                                                                ";
    size_t room = (size_t)(p->s->end - p->s->at), few = (size_t)p->style->indent * p->depth;
    if (likely(few <= 32 && room > 32 && !p->style->tab)) {
        *p->s->at = '\n';
        memcpy(p->s->at + 1, spaces, 32);
        p->s->at += 1 + few;
        return;
    }
    sink_char(p->s, '\n');
    if (p->style->tab) {
        for (uint32_t i = 0; i < p->depth; i++)
            sink_char(p->s, '\t');
        return;
    }
    for (size_t n = few; n;) {
        size_t part = MIN(n, sizeof spaces - 1);
        jsink_write(p->s, (Slice){spaces, part});
        n -= part;
    }
}

static void print_scalar(Printer *p, Val v)
{
    static const char *const words[] = {"<invalid>", "null", "false", "true"};
    char text[NUMBER_TEXT];
    color_on(p, v.kind - K_NULL);
    if (v.kind == K_STRING)
        jq_print_string(p->s, val_slice(v), p->style->ascii);
    else
        jsink_write(p->s, v.kind == K_NUMBER ? jq_number_text(v, text) : slice_str(words[v.kind & 3]));
    color_off(p);
}

static void open_container(Printer *p, Val v)
{
    J *j = p->s->j;
    if (p->depth == p->cap) {
        uint32_t cap = p->cap ? p->cap * 2 : 8;
        Open *grown = jmem(j, cap * sizeof *grown);
        if (p->cap) {
            memcpy(grown, p->open, p->depth * sizeof *grown);
            jmem_give(j, p->open, p->cap * sizeof *grown);
        }
        p->open = grown;
        p->cap = cap;
    }
    bool sort = v.kind == K_OBJECT && p->style->sorted;
    p->open[p->depth++] = (Open){v, 0, sort ? obj_sorted(j, v.obj) : NULL};
}

/* A scalar or an empty container is printed whole; another is begun. */
static void begin(Printer *p, Val v)
{
    if (v.kind < K_ARRAY) {
        print_scalar(p, v);
        return;
    }
    bool array = v.kind == K_ARRAY;
    int color = array ? COLOR_ARRAY : COLOR_OBJECT;
    if (p->depth > JQ_MAX_DEPTH) {
        jsink_write(p->s, SLICE("<skipped: too deep>"));
    } else if (array ? arr_len(v) == 0 : obj_len(v) == 0) {
        colored(p, color, array ? "[]" : "{}");
    } else {
        colored(p, color, array ? "[" : "{");
        open_container(p, v);
    }
}

static void end_container(Printer *p, Open *o)
{
    J *j = p->s->j;
    bool array = o->v.kind == K_ARRAY;
    if (o->sorted)
        jmem_give(j, o->sorted, MAX(o->v.obj->live, 1u) * sizeof *o->sorted);
    p->depth--;
    if (p->style->pretty)
        line_break(p);
    colored(p, array ? COLOR_ARRAY : COLOR_OBJECT, array ? "]" : "}");
}

static void separate(Printer *p, bool first, int color)
{
    if (!first)
        colored(p, color, ",");
    if (p->style->pretty)
        line_break(p);
}

static void step_object(Printer *p, Open *o)
{
    JObj *obj = o->v.obj;
    bool first = o->at == 0;
    uint32_t i = o->sorted ? o->at : obj_next(obj, o->at);
    if (i >= (o->sorted ? obj->live : obj->used)) {
        end_container(p, o);
        return;
    }
    JEntry *e = o->sorted ? o->sorted[i] : &obj->entries[i];
    o->at = i + 1;
    separate(p, first || (!o->sorted && obj_next(obj, 0) == i), COLOR_OBJECT);
    color_on(p, COLOR_KEY);
    jq_print_string(p->s, js_slice(e->key), p->style->ascii);
    color_off(p);
    colored(p, COLOR_OBJECT, ":");
    if (p->style->pretty)
        sink_char(p->s, ' ');
    begin(p, e->value);
}

static void step_array(Printer *p, Open *o)
{
    if (o->at >= arr_len(o->v)) {
        end_container(p, o);
        return;
    }
    uint32_t i = o->at++;
    Val item = o->v.arr->items[i];
    separate(p, i == 0, COLOR_ARRAY);
    begin(p, item);
}

void jq_print_value(Sink *s, Val v, const PrintStyle *style)
{
    Printer p = {.s = s, .style = style};
    begin(&p, v);
    for (unsigned turn = 0; p.depth; turn++) {
        Open *o = &p.open[p.depth - 1];
        if ((turn & 255) == 255)
            proc_tick(s->j->proc, 64);
        if (o->v.kind == K_ARRAY)
            step_array(&p, o);
        else
            step_object(&p, o);
    }
    if (p.cap)
        jmem_give(s->j, p.open, p.cap * sizeof *p.open);
}

static const PrintStyle compact;

Val val_printed(J *j, Val v, const PrintStyle *style)
{
    Sink s;
    jsink_memory(&s, j);
    jq_print_value(&s, v, style);
    Val out = val_string(j, (Slice){s.start, (size_t)(s.at - s.start)});
    jsink_free(&s);
    val_free(j, v);
    return out;
}

Val val_tojson(J *j, Val v) { return val_printed(j, v, &compact); }

Val val_tostring(J *j, Val v) { return v.kind == K_STRING ? v : val_tojson(j, v); }

/* jq cuts at a byte count, never inside a character, and ends with dots and what closes the value. */
const char *val_short(J *j, Val v, char *buf, size_t size)
{
    static const char *const tails[] = {[K_STRING] = "...\"", [K_ARRAY] = "...]", [K_OBJECT] = "...}"};
    Val text = val_tojson(j, val_copy(v));
    Slice s = val_slice(text), tail = {"", 0};
    size_t n = s.len;
    if (n > size - 1) {
        tail = slice_str(v.kind >= K_STRING ? tails[v.kind] : "...");
        n = size - 1 - tail.len;
        while (n && ((unsigned char)s.data[n] & 0xc0) == 0x80)
            n--;
    }
    memcpy(buf, s.data, n);
    memcpy(buf + n, tail.data, tail.len);
    buf[n + tail.len] = 0;
    val_free(j, text);
    return buf;
}
