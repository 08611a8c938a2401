/* color: --colors, and the escape sequences that come of it. */
#include "rg.h"

typedef struct { enum { COLOR_NONE, COLOR_NAMED, COLOR_INDEXED, COLOR_RGB } kind; unsigned value[3]; } Color;

typedef struct RgStyle {
    Color fg, bg;
    bool bold, intense, underline;
} RgStyle;

static NORETURN void refuse(Rg *g, const char *text)
{
    output_flush(g->p->out);
    out_printf(g->p->err, "%s\n", text);
    output_flush(g->p->err);
    proc_fail(g->p, 2);
}

/* A number of a colour, decimal or hexadecimal; false: it is none up to 255. */
static bool component(Slice s, unsigned *value)
{
    unsigned base = slice_starts(s, SLICE("0x")) ? 16 : 10;
    size_t i = base == 16 ? 2 : 0;
    if (i == s.len)
        return false;
    for (*value = 0; i < s.len; i++) {
        unsigned c = (unsigned char)s.data[i], lower = c | 0x20;
        unsigned digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
        if (digit >= base)
            return false;
        *value = MIN(*value * base + digit, 256u);
    }
    return *value < 256;
}

static bool numeric(Slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!((s.data[i] >= '0' && s.data[i] <= '9') || ((s.data[i] | 0x20) >= 'a' && (s.data[i] | 0x20) <= 'f') || s.data[i] == 'x' || s.data[i] == ','))
            return false;
    return true;
}

static Color parse_color(Rg *g, Slice text)
{
    static const char *const names[] = {"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"};
    Color c = {.kind = COLOR_NAMED};
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (slice_is(text, names[i])) {
            c.value[0] = i;
            return c;
        }
    size_t commas = slice_count(text, ',');
    if (commas == 0 && component(text, &c.value[0])) {
        c.kind = COLOR_INDEXED;
        return c;
    }
    Slice rest = text;
    bool good = commas == 2;
    for (unsigned i = 0; good && i < 3; i++) {
        size_t n = slice_find(rest, ',');
        good = component(slice(rest.data, n), &c.value[i]);
        rest = slice_from(rest, MIN(n + 1, rest.len));
    }
    c.kind = COLOR_RGB;
    if (good)
        return c;
    int n = (int)MIN(text.len, 200u);
    if (!numeric(text))
        refuse(g, mem_printf(&g->p->mem, "unrecognized color name '%.*s'. Choose from: black, blue, green, red, cyan, magenta, yellow, white", n, text.data));
    if (commas)
        refuse(g, mem_printf(&g->p->mem, "unrecognized RGB color triple, should be '[0-255],[0-255],[0-255]' (or a hex triple), but is '%.*s'", n, text.data));
    refuse(g, mem_printf(&g->p->mem, "unrecognized ansi256 color number, should be '[0-255]' (or a hex number), but is '%.*s'", n, text.data));
}

static void set_style(Rg *g, RgStyle *style, Slice word)
{
    const struct { const char *name; bool *at; bool value; } known[] = {
        {"nobold", &style->bold, false}, {"bold", &style->bold, true}, {"nointense", &style->intense, false},
        {"intense", &style->intense, true}, {"nounderline", &style->underline, false}, {"underline", &style->underline, true},
    };
    for (unsigned i = 0; i < ARRAY_LEN(known); i++)
        if (slice_is(word, known[i].name)) {
            *known[i].at = known[i].value;
            return;
        }
    refuse(g, mem_printf(&g->p->mem, "unrecognized style attribute '%.*s'. Choose from: nobold, bold, nointense, intense, nounderline, underline.", (int)MIN(word.len, 200u), word.data));
}

static RgStyle *output_named(Rg *g, Slice name)
{
    static const char *const names[COLOR_OUTPUTS] = {"path", "line", "column", "match"};
    for (unsigned i = 0; i < COLOR_OUTPUTS; i++)
        if (slice_is(name, names[i]))
            return &g->styles[i];
    refuse(g, mem_printf(&g->p->mem, "unrecognized output type '%.*s'. Choose from: path, line, column, match.", (int)MIN(name.len, 200u), name.data));
}

static RgStyle *styles(Rg *g)
{
    if (!g->styles) {
        g->styles = mem_array(&g->p->keep, COLOR_OUTPUTS, RgStyle);
        g->styles[COLOR_PATH] = (RgStyle){.fg = {COLOR_NAMED, {5, 0, 0}}};
        g->styles[COLOR_LINE] = (RgStyle){.fg = {COLOR_NAMED, {2, 0, 0}}};
        g->styles[COLOR_COLUMN] = (RgStyle){.bold = false};
        g->styles[COLOR_MATCH] = (RgStyle){.fg = {COLOR_NAMED, {1, 0, 0}}, .bold = true};
    }
    return g->styles;
}

/* output:fg:color, output:bg:color, output:style:word or output:none; the words in whatever case. */
void rg_add_color(Rg *g, const char *spec)
{
    Slice parts[3], rest = slice_str(mem_strdup(&g->p->mem, spec));
    for (char *c = (char *)(uintptr_t)rest.data; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
    size_t count = 0;
    for (bool more = true; more; count++) {
        size_t n = slice_find(rest, ':');
        if (count < 3)
            parts[count] = slice(rest.data, n);
        more = n < rest.len;
        rest = slice_from(rest, MIN(n + 1, rest.len));
    }
    bool none = count == 2 && slice_is(parts[1], "none");
    if (count != 3 && !none)
        refuse(g, mem_printf(&g->p->mem, "invalid color spec format: '%s'. Valid format is '(path|line|column|match):(fg|bg|style):(value)'.", spec));
    styles(g);
    RgStyle *style = output_named(g, parts[0]);
    if (none)
        *style = (RgStyle){.bold = false};
    else if (slice_is(parts[1], "fg"))
        style->fg = parse_color(g, parts[2]);
    else if (slice_is(parts[1], "bg"))
        style->bg = parse_color(g, parts[2]);
    else if (slice_is(parts[1], "style"))
        set_style(g, style, parts[2]);
    else
        refuse(g, mem_printf(&g->p->mem, "unrecognized spec type '%.*s'. Choose from: fg, bg, style, none.", (int)MIN(parts[1].len, 200u), parts[1].data));
}

static void put_color(Buf *out, const Color *c, unsigned base, bool intense)
{
    switch (c->kind) {
    case COLOR_NONE: break;
    case COLOR_NAMED:
        if (intense)
            buf_printf(out, "\33[%u;5;%um", base + 8, c->value[0] + 8);
        else
            buf_printf(out, "\33[%um", base + c->value[0]);
        break;
    case COLOR_INDEXED: buf_printf(out, "\33[%u;5;%um", base + 8, c->value[0]); break;
    case COLOR_RGB: buf_printf(out, "\33[%u;2;%u;%u;%um", base + 8, c->value[0], c->value[1], c->value[2]); break;
    }
}

void rg_finish_colors(Rg *g)
{
    for (unsigned i = 0; i < COLOR_OUTPUTS; i++) {
        const RgStyle *style = &styles(g)[i];
        Buf out;
        buf_init(&out, &g->p->keep, 256);
        buf_printf(&out, "\33[0m%s%s", style->bold ? "\33[1m" : "", style->underline ? "\33[4m" : "");
        put_color(&out, &style->fg, 30, style->intense);
        put_color(&out, &style->bg, 40, style->intense);
        g->sgr[i] = out.data;
    }
    const RgStyle *match = &g->styles[COLOR_MATCH];
    g->match_plain = !match->bold && !match->underline && !match->fg.kind && !match->bg.kind;
}
