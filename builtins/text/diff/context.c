/* context: the context and the unified form. */
#include "diff.h"
#include "shared.h"

static void print_label(Diff *d, const char *mark, int f)
{
    Proc *p = d->p;
    const FileSide *s = &d->side[f];
    diff_color(d, COLOR_HEADER);
    if (d->labels[f]) {
        out_printf(p->out, "%s %s", mark, d->labels[f]);
    } else {
        CivilTime t;
        Buf text;
        buf_init(&text, &p->mem, 256);
        if (tz_civil(proc_zone(p), s->stat.mtime, s->stat.mtime_ns, &t))
            tz_format(&text, slice_str(d->time_format), &t, s->stat.mtime);
        out_printf(p->out, "%s %s\t%s", mark, diff_escape(d, s->name), text.data ? text.data : "");
    }
    diff_color(d, COLOR_RESET);
    out_char(p->out, '\n');
}

void diff_context_header(Diff *d, bool unified)
{
    print_label(d, unified ? "---" : "***", 0);
    print_label(d, unified ? "+++" : "---", 1);
}

/* The last line before `number` that -p or -F asks for. */
static bool find_function(Diff *d, size_t number, Slice *line)
{
    size_t last = d->function_last_search;
    d->function_last_search = number;
    for (size_t i = number; i > last;) {
        Slice s = diff_line(d, 0, --i);
        if (s.len && s.data[s.len - 1] == '\n')
            s.len--;
        if (re_search(&d->env, d->function_re, s, 0, false, NULL, 0) == RE_MATCHED) {
            d->function_last_match = i;
            break;
        }
        proc_tick(d->p, 1);
    }
    if (d->function_last_match == SIZE_MAX)
        return false;
    *line = diff_line(d, 0, d->function_last_match);
    return true;
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void print_function(Diff *d, Slice line)
{
    size_t i = 0, j;
    if (line.len && line.data[line.len - 1] == '\n')
        line.len--;
    while (i < line.len && is_space(line.data[i]))
        i++;
    j = MIN(i + 40, line.len);
    while (i < j && is_space(line.data[j - 1]))
        j--;
    out_char(d->p->out, ' ');
    out_write(d->p->out, slice(line.data + i, j - i));
}

/* The hunk with its context around it. */
static Hunk with_context(const Diff *d, Hunk h)
{
    size_t around = (size_t)d->context;
    for (int f = 0; f < 2; f++) {
        h.first[f] -= MIN(h.first[f], around);
        h.past[f] += MIN(d->side[f].count - h.past[f], around);
    }
    return h;
}

static void unified_range(Diff *d, size_t first, size_t past)
{
    if (past == first)
        out_printf(d->p->out, "%zu,0", past);
    else if (past == first + 1)
        out_printf(d->p->out, "%zu", past);
    else
        out_printf(d->p->out, "%zu,%zu", first + 1, past - first);
}

static void same_line(Diff *d, size_t number)
{
    Slice line = diff_line(d, 0, number);
    if (!(d->no_blank_prefix && line.data[0] == '\n'))
        out_char(d->p->out, d->initial_tab ? '\t' : ' ');
    diff_print_line(d, NULL, 0, number, true);
}

static void changed_line(Diff *d, char mark, int f, size_t number)
{
    Slice line = diff_line(d, f, number);
    diff_color(d, mark == '-' ? COLOR_DELETE : COLOR_ADD);
    out_char(d->p->out, mark);
    if (d->initial_tab && !(d->no_blank_prefix && line.data[0] == '\n'))
        out_char(d->p->out, '\t');
    diff_print_line(d, NULL, f, number, !d->color);
    diff_color(d, COLOR_RESET);
    if (d->color && line.data[line.len - 1] == '\n')
        out_char(d->p->out, '\n');
}

static void unified_lines(Diff *d, const Change *next, const Hunk *h)
{
    size_t i = h->first[0], j = h->first[1];
    while (i < h->past[0] || j < h->past[1]) {
        if (!next || i < next->line[0]) {
            same_line(d, i++);
            j++;
            continue;
        }
        for (size_t k = next->count[0]; k--;)
            changed_line(d, '-', 0, i++);
        for (size_t k = next->count[1]; k--;)
            changed_line(d, '+', 1, j++);
        next = next->next;
        proc_tick(d->p, 1);
    }
}

static void unified_hunk(Diff *d, Change *c)
{
    Hunk h = diff_hunk(d, c);
    if (!h.kind)
        return;
    h = with_context(d, h);
    Slice function;
    bool named = d->function_re && find_function(d, h.first[0], &function);
    diff_begin(d);
    Output *o = d->p->out;
    diff_color(d, COLOR_LINE);
    out_str(o, "@@ -");
    unified_range(d, h.first[0], h.past[0]);
    out_str(o, " +");
    unified_range(d, h.first[1], h.past[1]);
    out_str(o, " @@");
    diff_color(d, COLOR_RESET);
    if (named)
        print_function(d, function);
    out_char(o, '\n');
    unified_lines(d, c, &h);
}

static void context_range(Diff *d, const char *mark, const Hunk *h, int f, const char *end)
{
    Output *o = d->p->out;
    diff_color(d, COLOR_LINE);
    if (h->past[f] <= h->first[f] + 1)
        out_printf(o, "%s %zu %s", mark, h->past[f], end);
    else
        out_printf(o, "%s %zu,%zu %s", mark, h->first[f] + 1, h->past[f], end);
    diff_color(d, COLOR_RESET);
    out_char(o, '\n');
}

static void context_lines(Diff *d, const Change *next, const Hunk *h, int f)
{
    MemMark mark = mem_mark(&d->p->mem);
    for (size_t i = h->first[f]; i < h->past[f]; i++) {
        while (next && next->line[f] + next->count[f] <= i)
            next = next->next;
        const char *flag = " ";
        if (next && next->line[f] <= i)
            flag = next->count[1 - f] ? "!" : f == 0 ? "-" : "+";
        diff_colored_line(d, f == 0 ? COLOR_DELETE : COLOR_ADD, flag, f, i);
        mem_reset(&d->p->mem, mark);
    }
}

static void context_hunk(Diff *d, Change *c)
{
    Hunk h = diff_hunk(d, c);
    int kind = h.kind;
    if (!kind)
        return;
    h = with_context(d, h);
    Slice function;
    bool named = d->function_re && find_function(d, h.first[0], &function);
    diff_begin(d);
    out_str(d->p->out, "***************");
    if (named)
        print_function(d, function);
    out_char(d->p->out, '\n');
    context_range(d, "***", &h, 0, "****");
    if (kind & OLD)
        context_lines(d, c, &h, 0);
    context_range(d, "---", &h, 1, "----");
    if (kind & NEW)
        context_lines(d, c, &h, 1);
}

/* The last change that shares a hunk with `c`: where the context between them would touch. */
static Change *hunk_end(const Diff *d, Change *c)
{
    uint64_t apart = 2 * (uint64_t)d->context + 1;
    for (;; c = c->next) {
        if (!c->next)
            return c;
        uint64_t least = c->next->ignore ? (uint64_t)d->context : apart;
        if (least <= c->next->line[0] - (c->line[0] + c->count[0]))
            return c;
    }
}

static void mark_ignored(Diff *d, Change *script)
{
    for (Change *c = script; c; c = c->next) {
        Change *rest = c->next;
        c->next = NULL;
        c->ignore = diff_hunk(d, c).kind == SAME;
        c->next = rest;
    }
}

void diff_context(Diff *d, Change *script, bool unified)
{
    if (d->ignore_blank || d->ignore_re)
        mark_ignored(d, script);
    d->function_last_search = 0;
    d->function_last_match = SIZE_MAX;
    while (script) {
        Change *end = hunk_end(d, script), *rest = end->next;
        end->next = NULL;
        MemMark mark = mem_mark(&d->p->mem);
        if (unified)
            unified_hunk(d, script);
        else
            context_hunk(d, script);
        mem_reset(&d->p->mem, mark);
        script = rest;
        proc_tick(d->p, 1);
    }
}
