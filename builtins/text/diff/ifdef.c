/* ifdef: output by formats for groups and lines: -D, --GTYPE-group-format, --LTYPE-line-format. */
#include "diff.h"

typedef struct { size_t from[2], past[2]; } Group;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* e f l m n of the old group, E F L M N of the new one; -1 for another letter. */
static int64_t group_value(const Group *g, char letter)
{
    int f = letter >= 'A' && letter <= 'Z';
    int64_t from = (int64_t)g->from[f], past = (int64_t)g->past[f];
    switch (letter | 32) {
    case 'e': return from;
    case 'f': return from + 1;
    case 'l': return past;
    case 'm': return past + 1;
    case 'n': return past - from;
    default: return -1;
    }
}

/* 'C' or '\OOO' after %c; the place behind it, or NULL. */
static const char *char_literal(const char *f, char *value)
{
    char c = *f++;
    if (c == 0 || c == '\'')
        return NULL;
    if (c == '\\') {
        unsigned v = 0;
        const char *start = f;
        for (; *f != '\''; f++) {
            if (*f < '0' || *f > '7')
                return NULL;
            v = 8 * v + (unsigned)(*f - '0');
        }
        if (f == start || f - start > 3)
            return NULL;
        c = (char)v;
    }
    *value = c;
    return *f == '\'' ? f + 1 : NULL;
}

/* %[-'0]*WIDTH.PRECISION{doxX}LETTER of a number, with `line` (from 1) for n, or a group's letters. */
static void print_number(Output *o, const char *spec, size_t len, int64_t value)
{
    char format[64];
    size_t n = 0;
    if (len > sizeof format - 8)
        return;
    for (size_t i = 0; i + 1 < len; i++)
        if (spec[i] != '\'')
            format[n++] = spec[i];
    memcpy(format + n, (char[]){'l', 'l', spec[len - 1], 0}, 4);
    char text[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int got = snprintf(text, sizeof text, format, (long long)value);
#pragma GCC diagnostic pop
    out_write(o, slice(text, (size_t)MIN(MAX(got, 0), (int)sizeof text - 1)));
}

/* What follows a % at `f`; the place behind it, or NULL when it is no specification. out NULL: nothing is printed. */
static const char *print_spec(Diff *d, Output *out, const char *f, const Group *g, int64_t line)
{
    const char *spec = f++;
    (void)d;
    while (*f == '-' || *f == '\'' || *f == '0')
        f++;
    while (is_digit(*f))
        f++;
    if (*f == '.')
        for (f++; is_digit(*f);)
            f++;
    char kind = *f;
    if (kind == 0 || f[1] == 0)
        return NULL;
    if (kind == 'c') {
        char value;
        if (f[1] != '\'')
            return NULL;
        f = char_literal(f + 2, &value);
        if (f && out)
            out_char(out, value);
        return f;
    }
    if (kind != 'd' && kind != 'o' && kind != 'x' && kind != 'X')
        return NULL;
    int64_t value = g ? group_value(g, f[1]) : f[1] == 'n' ? line : -1;
    if (value < 0)
        return NULL;
    if (out)
        print_number(out, spec, (size_t)(f + 1 - spec), value);
    return f + 2;
}

static void print_formatted(Diff *d, Output *out, const char *format, int f, size_t number)
{
    Slice line = diff_line(d, f, number), content = line;
    if (content.len && content.data[content.len - 1] == '\n')
        content.len--;
    for (const char *at = format; *at;) {
        if (*at != '%') {
            out_char(out, *at++);
            continue;
        }
        const char *next = at + 2;
        if (at[1] == '%') {
            out_char(out, '%');
        } else if (at[1] == 'l' || at[1] == 'L') {
            if (d->expand_tabs)
                diff_expand(d, at[1] == 'l' ? content : line, NULL);
            else
                out_write(out, at[1] == 'l' ? content : line);
        } else {
            next = print_spec(d, out, at, NULL, (int64_t)number + 1);
            if (!next) {
                out_char(out, '%');
                next = at + 1;
            }
        }
        at = next;
    }
}

static void print_lines(Diff *d, Output *out, const char *format, int f, const Group *g)
{
    for (size_t i = g->from[f]; out && i < g->past[f]; i++) {
        print_formatted(d, out, format, f, i);
        proc_tick(d->p, 1);
    }
}

static bool condition_value(const char **f, const Group *g, int64_t *value)
{
    if (!is_digit(**f)) {
        *value = group_value(g, **f);
        if (*value >= 0)
            ++*f;
        return *value >= 0;
    }
    for (*value = 0; is_digit(**f); ++*f)
        *value = MIN(*value * 10 + (**f - '0'), INT64_MAX / 20);
    return true;
}

static const char *print_group(Diff *d, Output *out, const char *f, char end, const Group *g);

/* (A=B?T:E) behind a %( ; NULL when it is not well formed. */
static const char *print_condition(Diff *d, Output *out, const char *f, const Group *g)
{
    int64_t value[2];
    for (int i = 0; i < 2; i++)
        if (!condition_value(&f, g, &value[i]) || *f++ != "=?"[i])
            return NULL;
    bool yes = value[0] == value[1];
    f = print_group(d, yes ? out : NULL, f, ':', g);
    if (*f) {
        f = print_group(d, yes ? NULL : out, f + 1, ')', g);
        f += *f != 0;
    }
    return f;
}

static const char *print_group(Diff *d, Output *out, const char *f, char end, const Group *g)
{
    if (!proc_stack_room(d->p, 16384))
        die(d->p, 2, "format is nested too deeply");
    while (*f && *f != end) {
        const char *next = NULL;
        if (*f == '%') {
            switch (f[1]) {
            case '(': next = print_condition(d, out, f + 2, g); break;
            case '<': print_lines(d, out, d->line_format[OLD], 0, g); break;
            case '=': print_lines(d, out, d->line_format[SAME], 0, g); break;
            case '>': print_lines(d, out, d->line_format[NEW], 1, g); break;
            case '%':
                if (out)
                    out_char(out, '%');
                break;
            default: next = print_spec(d, out, f, g, 0); break;
            }
            if (!next && strchr("<=>%", f[1]) && f[1])
                next = f + 2;
        }
        if (!next) {
            if (out)
                out_char(out, *f);
            next = f + 1;
        }
        f = next;
    }
    return f;
}

static void print_hunk(Diff *d, Group *done, const Change *c)
{
    Hunk h = diff_hunk(d, c);
    if (!h.kind)
        return;
    diff_begin(d);
    Group same = {{done->past[0], done->past[1]}, {h.first[0], h.first[1]}};
    if (same.from[0] < same.past[0] || same.from[1] < same.past[1])
        print_group(d, d->p->out, d->group_format[SAME], 0, &same);
    *done = (Group){{h.first[0], h.first[1]}, {h.past[0], h.past[1]}};
    print_group(d, d->p->out, d->group_format[h.kind], 0, done);
}

void diff_ifdef(Diff *d, Change *script)
{
    Group done = {{0, 0}, {0, 0}};
    for (Change *c = script; c; c = c->next) {
        Change *rest = c->next;
        c->next = NULL;
        print_hunk(d, &done, c);
        c->next = rest;
    }
    Group tail = {{done.past[0], done.past[1]}, {d->side[0].count, d->side[1].count}};
    if (tail.from[0] < tail.past[0] || tail.from[1] < tail.past[1]) {
        diff_begin(d);
        print_group(d, d->p->out, d->group_format[SAME], 0, &tail);
    }
}
