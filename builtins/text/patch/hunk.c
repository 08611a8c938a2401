/* hunk: the hunks of a patch, whatever its form, as lines that are and lines that are to be. */
#include "patch.h"

static bool begins(Slice s, const char *with) { return slice_starts(s, slice_str(with)); }
static char at(Slice s, size_t i) { return i < s.len ? s.data[i] : 0; }

enum { LINE_MOST = 1 << 28 /* of one side of a hunk */ };

static void grow(Patch *t, HunkSide *side, Slice text, char kind)
{
    int64_t n = side->count;
    if ((n & (n + 1)) == 0) /* the array is full: its size is a power of two less one */
        side->lines = mem_grow(&t->p->mem, side->lines, (size_t)n * sizeof(HunkLine), (2 * (size_t)n + 1) * sizeof(HunkLine));
    side->lines[side->count++] = (HunkLine){text, kind};
}

/* "\ No newline at end of file" behind a line. */
static Slice without_newline_if_told(Patch *t, Slice text)
{
    size_t here = t->at;
    int64_t number = t->line_number;
    Slice line = t->line;
    if (patch_line(t) && at(t->line, 0) == '\\' && at(t->line, 1) == ' ') {
        if (text.len && text.data[text.len - 1] == '\n')
            text.len--;
        return text;
    }
    patch_skip_to(t, here, number);
    t->line = line;
    return text;
}

static bool number(Slice s, size_t *i, int64_t *value)
{
    size_t start = *i;
    for (*value = 0; at(s, *i) >= '0' && at(s, *i) <= '9'; ++*i)
        *value = MIN(*value * 10 + (s.data[*i] - '0'), (int64_t)1 << 40);
    return *i > start;
}

static NORETURN void no_number(Patch *t)
{
    patch_fatal(t, "missing line number at line %lld: %.*s\n", (long long)t->line_number, (int)MIN(t->line.len, 900), t->line.data);
}

static void measure_context(PatchHunk *h)
{
    int64_t prefix[2], suffix[2];
    for (int f = 0; f < 2; f++) {
        const HunkSide *s = &h->side[f];
        for (prefix[f] = 0; prefix[f] < s->count && s->lines[prefix[f]].kind == ' ';)
            prefix[f]++;
        for (suffix[f] = 0; suffix[f] < s->count && s->lines[s->count - 1 - suffix[f]].kind == ' ';)
            suffix[f]++;
    }
    h->prefix = MIN(prefix[0], prefix[1]);
    h->suffix = MIN(suffix[0], suffix[1]);
}

/* --- unified --- */

static void unified_range(Patch *t, Slice s, size_t *i, int64_t *first, int64_t *count)
{
    *count = 1;
    if (!number(s, i, first) || (at(s, *i) == ',' && (++*i, !number(s, i, count))))
        no_number(t);
}

static void end_of_text(Patch *t, int64_t missing)
{
    if (missing >= 3)
        patch_fatal(t, "unexpected end of file in patch\n");
    t->line = SLICE(" \n");
}

static void unified_line(Patch *t, PatchHunk *h, const int64_t want[2])
{
    char kind = at(t->line, 0);
    Slice text = slice_from(t->line, 1);
    if (kind == '\t' || kind == '\n') { /* the blank was eaten on the way */
        text = t->line;
        kind = ' ';
    }
    bool old = kind == ' ' || kind == '-', new = kind == ' ' || kind == '+';
    if ((!old && !new) || (old && h->side[0].count >= want[0]) || (new && h->side[1].count >= want[1]))
        patch_malformed(t);
    text = without_newline_if_told(t, text);
    if (old)
        grow(t, &h->side[0], text, kind);
    if (new)
        grow(t, &h->side[1], text, kind);
}

static bool unified_hunk(Patch *t, PatchHunk *h)
{
    size_t i = 4;
    int64_t want[2];
    Slice s = t->line;
    unified_range(t, s, &i, &h->side[0].first, &want[0]);
    i += at(s, i) == ' ';
    if (at(s, i++) != '+')
        patch_malformed(t);
    unified_range(t, s, &i, &h->side[1].first, &want[1]);
    i += at(s, i) == ' ';
    if (at(s, i++) != '@' || want[0] > LINE_MOST || want[1] > LINE_MOST)
        patch_malformed(t);
    if (at(s, i++) == '@' && at(s, i) == ' ')
        h->function = slice(s.data + i, slice_find(s, '\n') - i);
    for (int f = 0; f < 2; f++)
        h->side[f].first += want[f] == 0;
    bool changed = false;
    while (h->side[0].count < want[0] || h->side[1].count < want[1]) {
        if (!patch_line(t))
            end_of_text(t, want[1] - h->side[1].count);
        changed |= at(t->line, 0) == '-' || at(t->line, 0) == '+';
        unified_line(t, h, want);
    }
    if (!changed)
        patch_malformed(t);
    measure_context(h);
    return true;
}

/* --- context --- */

static int64_t context_range(Patch *t, size_t i, int64_t *first)
{
    int64_t last;
    if (!number(t->line, &i, first))
        no_number(t);
    if (at(t->line, i) == ',') {
        i++;
        if (!number(t->line, &i, &last))
            no_number(t);
        if (last - *first >= LINE_MOST)
            patch_malformed(t);
        return MAX(last - *first + 1, 0);
    }
    if (*first)
        return 1;
    *first = 1;
    return 0;
}

/* Lines of one half: `marks` are what they may begin with. None at all: the half was left out. */
static void context_lines(Patch *t, HunkSide *side, int64_t want, const char *marks)
{
    while (side->count < want) {
        size_t here = t->at;
        int64_t line = t->line_number;
        bool more = patch_line(t);
        char kind = more ? at(t->line, 0) : 0;
        Slice text = slice_from(t->line, MIN(t->line.len, 2));
        if (kind == '\n' && side->count) {
            kind = ' ';
            text = t->line;
        } else if (!kind || !strchr(marks, kind) || (at(t->line, 1) != ' ' && at(t->line, 1) != '\t' && at(t->line, 1) != '\n')) {
            if (side->count)
                patch_malformed(t);
            patch_skip_to(t, here, line);
            return;
        }
        if (at(t->line, 1) == '\n' && kind != '\n')
            text = slice_from(t->line, 1);
        grow(t, side, without_newline_if_told(t, text), kind);
    }
}

static void copy_context(Patch *t, const HunkSide *from, HunkSide *to)
{
    for (int64_t i = 0; i < from->count; i++)
        if (from->lines[i].kind == ' ')
            grow(t, to, from->lines[i].text, ' ');
}

static bool context_hunk(Patch *t, PatchHunk *h)
{
    size_t stars = 0;
    while (at(t->line, stars) == '*')
        stars++;
    if (at(t->line, stars) == ' ')
        h->function = slice(t->line.data + stars, slice_find(t->line, '\n') - stars);
    if (!patch_line(t) || !begins(t->line, "*** "))
        return false;
    int64_t want[2];
    want[0] = context_range(t, 4, &h->side[0].first);
    context_lines(t, &h->side[0], want[0], " -!");
    if (!patch_line(t) || !begins(t->line, "--- "))
        patch_malformed(t);
    want[1] = context_range(t, 4, &h->side[1].first);
    context_lines(t, &h->side[1], want[1], " +!");
    for (int f = 0; f < 2; f++)
        if (h->side[f].count == 0 && want[f])
            copy_context(t, &h->side[1 - f], &h->side[f]);
    for (int f = 0; f < 2; f++)
        if (h->side[f].count != want[f])
            patch_fatal(t, "replacement text or line numbers mangled in hunk at line %lld\n", (long long)t->line_number);
    for (int f = 0; f < 2; f++)
        h->side[f].first += want[f] == 0 && h->side[f].first > 1;
    measure_context(h);
    return true;
}

/* --- normal --- */

static void normal_lines(Patch *t, HunkSide *side, int64_t count, char mark)
{
    while (side->count < count) {
        if (!patch_line(t))
            patch_fatal(t, "unexpected end of file in patch at line %lld\n", (long long)t->line_number);
        if (at(t->line, 0) != mark || (at(t->line, 1) != ' ' && at(t->line, 1) != '\t'))
            patch_fatal(t, "'%c' followed by space or tab expected at line %lld of patch\n", mark, (long long)t->line_number);
        grow(t, side, without_newline_if_told(t, slice_from(t->line, 2)), mark == '<' ? '-' : '+');
    }
}

static bool normal_hunk(Patch *t, PatchHunk *h)
{
    Slice s = t->line;
    size_t i = 0;
    int64_t last[2];
    if (!number(s, &i, &h->side[0].first))
        return false;
    last[0] = h->side[0].first;
    if (at(s, i) == ',' && i++ && !number(s, &i, &last[0]))
        patch_malformed(t);
    char kind = at(s, i++);
    if (!kind || !strchr("acd", kind) || !number(s, &i, &h->side[1].first))
        patch_malformed(t);
    last[1] = h->side[1].first;
    if (at(s, i) == ',' && i++ && !number(s, &i, &last[1]))
        patch_malformed(t);
    int64_t count[2] = {last[0] - h->side[0].first + 1, last[1] - h->side[1].first + 1};
    if (kind == 'a' || kind == 'd') {
        int none = kind == 'd';
        count[none] = 0;
        h->side[none].first++;
    }
    if (MIN(count[0], count[1]) < 0 || MAX(count[0], count[1]) > LINE_MOST)
        patch_malformed(t);
    normal_lines(t, &h->side[0], count[0], '<');
    if (kind == 'c' && (!patch_line(t) || at(t->line, 0) != '-'))
        patch_fatal(t, "'---' expected at line %lld of patch\n", (long long)t->line_number);
    normal_lines(t, &h->side[1], count[1], '>');
    return true;
}

void patch_swap(PatchHunk *h)
{
    HunkSide old = h->side[0];
    h->side[0] = h->side[1];
    h->side[1] = old;
    for (int f = 0; f < 2; f++)
        for (int64_t i = 0; i < h->side[f].count; i++) {
            char *kind = &h->side[f].lines[i].kind;
            *kind = *kind == '-' ? '+' : *kind == '+' ? '-' : *kind;
        }
}

bool patch_hunk(Patch *t, PatchHunk *h)
{
    size_t here = t->at;
    int64_t line = t->line_number;
    *h = (PatchHunk){.function = {"", 0}};
    bool got = false;
    if (patch_line(t)) {
        if (t->form == FORM_UNIFIED)
            got = begins(t->line, "@@ -") && unified_hunk(t, h);
        else if (t->form == FORM_NORMAL)
            got = normal_hunk(t, h);
        else if (t->form == FORM_CONTEXT || t->form == FORM_NEW_CONTEXT)
            got = begins(t->line, "********") && context_hunk(t, h);
    }
    if (!got) {
        patch_skip_to(t, here, line);
        t->resume = here;
        t->resume_line = line;
        return false;
    }
    if (t->reverse)
        patch_swap(h);
    return true;
}
