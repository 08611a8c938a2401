/* reject: hunks that did not fit, as a unified or a context diff. */
#include "patch.h"

static void put_header(Patch *t, const char *mark, int which)
{
    buf_printf(&t->reject, "%s %s", mark, t->names[which] ? t->names[which] : "/dev/null");
    buf_append(&t->reject, t->stamps[which]);
    buf_char(&t->reject, '\n');
}

/* An incomplete line stays one, whatever follows: so GNU patch writes it. */
static void put_line(Patch *t, const char *mark, const HunkLine *line)
{
    buf_append(&t->reject, slice_str(mark));
    buf_append(&t->reject, line->text);
}

static void put_range(Patch *t, char sign, int64_t first, int64_t count)
{
    if (count == 1)
        buf_printf(&t->reject, "%c%lld", sign, (long long)first);
    else
        buf_printf(&t->reject, "%c%lld,%lld", sign, (long long)(count ? first : first - 1), (long long)count);
}

static void unified(Patch *t, const PatchHunk *h)
{
    const HunkSide *old = &h->side[0], *new = &h->side[1];
    buf_append(&t->reject, SLICE("@@ "));
    put_range(t, '-', old->first + t->out_offset, old->count);
    buf_char(&t->reject, ' ');
    put_range(t, '+', new->first + t->out_offset, new->count);
    buf_append(&t->reject, SLICE(" @@"));
    buf_append(&t->reject, h->function);
    buf_char(&t->reject, '\n');
    int64_t i = 0, j = 0;
    while (i < old->count || j < new->count) {
        if (i < old->count && old->lines[i].kind != ' ') {
            put_line(t, "-", &old->lines[i++]);
        } else if (j < new->count && new->lines[j].kind != ' ') {
            put_line(t, "+", &new->lines[j++]);
        } else {
            if (i < old->count)
                put_line(t, " ", &old->lines[i]);
            i++;
            j++;
        }
    }
}

/* In a context diff a run of lines taken away that has others put in its place is marked as changed. */
static void mark_changes(const PatchHunk *h)
{
    const HunkSide *old = &h->side[0], *new = &h->side[1];
    for (int64_t i = 0, j = 0; i < old->count || j < new->count;) {
        int64_t i0 = i, j0 = j;
        while (i < old->count && old->lines[i].kind != ' ')
            i++;
        while (j < new->count && new->lines[j].kind != ' ')
            j++;
        bool both = i > i0 && j > j0;
        for (; both && i0 < i; i0++)
            old->lines[i0].kind = '!';
        for (; both && j0 < j; j0++)
            new->lines[j0].kind = '!';
        i++;
        j++;
    }
}

static void half(Patch *t, const HunkSide *s, const char *mark, const char *end)
{
    int64_t first = s->first + t->out_offset, last = first + s->count - 1;
    if (last < first)
        buf_printf(&t->reject, "%s 0%s\n", mark, end);
    else if (last == first)
        buf_printf(&t->reject, "%s %lld%s\n", mark, (long long)first, end);
    else
        buf_printf(&t->reject, "%s %lld,%lld%s\n", mark, (long long)first, (long long)last, end);
    for (int64_t i = 0; i < s->count; i++)
        put_line(t, (char[]){s->lines[i].kind, ' ', 0}, &s->lines[i]);
}

void patch_reject(Patch *t, const PatchHunk *h, bool header)
{
    bool as_unified = t->unified_rejects || (t->form == FORM_UNIFIED && !t->context_rejects), fresh = t->form >= FORM_NEW_CONTEXT;
    if (header) {
        if (t->names[INDEX_NAME])
            buf_printf(&t->reject, "Index: %s\n", t->names[INDEX_NAME]);
        put_header(t, as_unified ? "---" : "***", t->reverse);
        put_header(t, as_unified ? "+++" : "---", !t->reverse);
    }
    if (as_unified) {
        unified(t, h);
        return;
    }
    if (t->form == FORM_UNIFIED)
        mark_changes(h);
    buf_append(&t->reject, SLICE("***************"));
    buf_append(&t->reject, h->function);
    buf_char(&t->reject, '\n');
    half(t, &h->side[0], "***", fresh ? " ****" : "");
    half(t, &h->side[1], "---", fresh ? " ----" : " -----");
}
