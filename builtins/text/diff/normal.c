/* normal: the normal form, ed scripts and RCS's. */
#include "diff.h"

static const char letters[] = {[OLD] = 'd', [NEW] = 'a', [CHANGED] = 'c'};

/* Numbers from 1; an empty range is the line before it. */
static void print_range(Diff *d, char separator, const Hunk *h, int f)
{
    Output *o = d->p->out;
    if (h->past[f] > h->first[f] + 1) {
        out_int(o, (int64_t)h->first[f] + 1);
        out_char(o, separator);
    }
    out_int(o, (int64_t)h->past[f]);
}

static void print_lines(Diff *d, ColorId color, const char *flag, const Hunk *h, int f)
{
    MemMark mark = mem_mark(&d->p->mem);
    for (size_t i = h->first[f]; i < h->past[f]; i++) {
        diff_colored_line(d, color, flag, f, i);
        mem_reset(&d->p->mem, mark);
    }
}

static void normal_hunk(Diff *d, Change *c)
{
    Hunk h = diff_hunk(d, c);
    if (!h.kind)
        return;
    diff_begin(d);
    Output *o = d->p->out;
    diff_color(d, COLOR_LINE);
    print_range(d, ',', &h, 0);
    out_char(o, letters[h.kind]);
    print_range(d, ',', &h, 1);
    diff_color(d, COLOR_RESET);
    out_char(o, '\n');
    if (h.kind & OLD)
        print_lines(d, COLOR_DELETE, "<", &h, 0);
    if (h.kind == CHANGED)
        out_str(o, "---\n");
    if (h.kind & NEW)
        print_lines(d, COLOR_ADD, ">", &h, 1);
}

void diff_normal(Diff *d, Change *script) { diff_each(d, script, normal_hunk); }

/* A line of a dot alone would end ed's input: it is entered as two dots and cut. */
static void ed_lines(Diff *d, const Hunk *h)
{
    Output *o = d->p->out;
    bool inserting = true;
    for (size_t i = h->first[1]; i < h->past[1]; i++) {
        if (!inserting)
            out_str(o, "a\n");
        inserting = true;
        if (slice_is(diff_line(d, 1, i), ".\n")) {
            out_str(o, "..\n.\ns/.//\n");
            inserting = false;
        } else {
            diff_print_line(d, "", 1, i, true);
        }
    }
    if (inserting)
        out_str(o, ".\n");
}

static void ed_hunk(Diff *d, Change *c)
{
    Hunk h = diff_hunk(d, c);
    if (!h.kind)
        return;
    diff_begin(d);
    print_range(d, ',', &h, 0);
    out_char(d->p->out, letters[h.kind]);
    out_char(d->p->out, '\n');
    if (h.kind != OLD)
        ed_lines(d, &h);
}

void diff_ed(Diff *d, Change *script) { diff_each(d, script, ed_hunk); }

static void forward_ed_hunk(Diff *d, Change *c)
{
    Hunk h = diff_hunk(d, c);
    if (!h.kind)
        return;
    diff_begin(d);
    out_char(d->p->out, letters[h.kind]);
    print_range(d, ' ', &h, 0);
    out_char(d->p->out, '\n');
    if (h.kind == OLD)
        return;
    for (size_t i = h.first[1]; i < h.past[1]; i++)
        diff_print_line(d, "", 1, i, true);
    out_str(d->p->out, ".\n");
}

void diff_forward_ed(Diff *d, Change *script) { diff_each(d, script, forward_ed_hunk); }

static void rcs_hunk(Diff *d, Change *c)
{
    Hunk h = diff_hunk(d, c);
    if (!h.kind)
        return;
    diff_begin(d);
    Output *o = d->p->out;
    if (h.kind & OLD)
        out_printf(o, "d%zu %zu\n", h.first[0] + 1, h.past[0] - h.first[0]);
    if (h.kind & NEW)
        out_printf(o, "a%zu %zu\n", h.past[0], h.past[1] - h.first[1]);
    for (size_t i = h.first[1]; i < h.past[1]; i++)
        diff_print_line(d, "", 1, i, true);
}

void diff_rcs(Diff *d, Change *script) { diff_each(d, script, rcs_hunk); }
