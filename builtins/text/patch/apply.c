/* apply: the place of a hunk in the file, and the text that comes out. */
#include "patch.h"

void patch_load(Patch *t)
{
    Proc *p = t->p;
    t->file = (Slice){"", 0};
    if (t->name && !t->name_error) {
        int err = read_file(p, t->name, &t->file);
        if (err)
            patch_fatal(t, "Can't open file %s : %s\n", quote_if_needed(p, t->name), error_text(-err));
    }
    t->lines = (int64_t)slice_count(t->file, '\n') + (t->file.len && t->file.data[t->file.len - 1] != '\n');
    t->starts = mem_array(&p->mem, (size_t)t->lines + 2, size_t);
    size_t at = 0;
    for (int64_t i = 1; i <= t->lines; i++) {
        t->starts[i] = at;
        at += MIN(slice_find(slice_from(t->file, at), '\n') + 1, t->file.len - at);
        proc_tick(p, 1);
    }
    t->starts[t->lines + 1] = at;
    t->frozen = t->in_offset = t->out_offset = 0;
    buf_clear(&t->out);
    buf_clear(&t->reject);
}

static Slice file_line(const Patch *t, int64_t n)
{
    if (n < 1 || n > t->lines)
        return (Slice){"", 0};
    return slice(t->file.data + t->starts[n], t->starts[n + 1] - t->starts[n]);
}

static bool blank(Slice s, size_t i) { return s.data[i] == ' ' || s.data[i] == '\t'; }

/* Equal but for the amount of blanks, and for blanks and a newline at the end. */
static bool similar(Slice a, Slice b)
{
    a.len -= a.len && a.data[a.len - 1] == '\n';
    b.len -= b.len && b.data[b.len - 1] == '\n';
    for (size_t i = 0, j = 0;;) {
        if (j < b.len && !blank(b, j)) {
            if (i == a.len || a.data[i++] != b.data[j++])
                return false;
            continue;
        }
        while (j < b.len && blank(b, j))
            j++;
        if (i < a.len && !blank(a, i))
            return false;
        while (i < a.len && blank(a, i))
            i++;
        if (i == a.len || j == b.len)
            return i == a.len && j == b.len;
    }
}

static bool matches(Patch *t, const PatchHunk *h, int64_t where, int64_t prefix, int64_t suffix)
{
    const HunkSide *old = &h->side[0];
    for (int64_t i = prefix; i < old->count - suffix; i++) {
        Slice line = file_line(t, where + i);
        if (t->loose_space ? !similar(line, old->lines[i].text) : !slice_eq(line, old->lines[i].text))
            return false;
    }
    return true;
}

static int64_t found(Patch *t, int64_t guess, int64_t offset)
{
    t->in_offset += offset;
    return guess + offset;
}

/* Less context before than behind means the file's first line, the reverse its last, as long as no fuzz is allowed for. */
int64_t patch_locate(Patch *t, const PatchHunk *h, int64_t fuzz)
{
    int64_t guess = h->side[0].first + t->in_offset, count = h->side[0].count, context = MAX(h->prefix, h->suffix);
    int64_t prefix = fuzz + h->prefix - context, suffix = fuzz + h->suffix - context;
    int64_t last = t->lines - (count - suffix) + 1, least = t->frozen + 1;
    int64_t forward = last - guess, back = guess - least, most = MAX(forward, back);
    if (!count)
        return guess;
    if (guess <= back)
        back = guess - 1;
    if (prefix < 0 && h->side[0].first <= 1) {
        if (suffix < 0 && (count != t->lines || h->prefix < t->frozen))
            return 0;
        int64_t offset = 1 - guess;
        return t->frozen <= h->prefix && offset <= forward && matches(t, h, 1, 0, suffix < 0 ? 0 : suffix) ? found(t, guess, offset) : 0;
    }
    prefix = MAX(prefix, 0);
    if (suffix < 0) {
        int64_t offset = guess - (t->lines - count + 1);
        return offset <= back && matches(t, h, guess - offset, prefix, 0) ? found(t, guess, -offset) : 0;
    }
    for (int64_t offset = forward < 0 ? -forward : back < 0 ? guess - least < 0 ? least - guess : 0 : 0; offset <= most; offset++) {
        if (offset <= forward && matches(t, h, guess + offset, prefix, suffix))
            return found(t, guess, offset);
        if (0 < offset && offset <= back && matches(t, h, guess - offset, prefix, suffix))
            return found(t, guess, -offset);
        proc_tick(t->p, 1);
    }
    return 0;
}

/* An incomplete line that a hunk wrote is completed before the file goes on. */
static void put_text(Patch *t, Slice text)
{
    if (t->out.len && t->out.data[t->out.len - 1] != '\n')
        buf_char(&t->out, '\n');
    buf_append(&t->out, text);
}

/* Lines of the file before `line` that are not out yet. */
static bool copy_till(Patch *t, int64_t line)
{
    if (t->frozen > line - 1) {
        patch_say(t, "misordered hunks! output would be garbled\n");
        return false;
    }
    line = MIN(line - 1, t->lines);
    if (line > t->frozen)
        put_text(t, slice(t->file.data + t->starts[t->frozen + 1], t->starts[line + 1] - t->starts[t->frozen + 1]));
    t->frozen = MAX(t->frozen, line);
    return true;
}

/* -D: what is taken away stays, behind #ifndef, and what is put in comes behind #ifdef or #else. */
typedef enum { DEFINES_OUTSIDE, DEFINES_IFNDEF, DEFINES_IFDEF, DEFINES_ELSE } Defines;

static void put_directive(Patch *t, const char *text, const char *name)
{
    if (t->incomplete)
        buf_char(&t->out, '\n');
    buf_printf(&t->out, "%s%s\n", text, name);
}

/* An incomplete line is completed once more behind a directive: so GNU patch writes it. */
static void put_defined(Patch *t, Slice text)
{
    if (t->incomplete)
        buf_char(&t->out, '\n');
    buf_append(&t->out, text);
    t->incomplete = text.len && text.data[text.len - 1] != '\n';
}

static void put_taken(Patch *t, Slice text, Defines *state)
{
    if (*state == DEFINES_OUTSIDE)
        put_directive(t, "#ifndef ", t->define);
    if (*state == DEFINES_IFDEF)
        put_directive(t, "#else", "");
    *state = *state == DEFINES_OUTSIDE ? DEFINES_IFNDEF : *state == DEFINES_IFDEF ? DEFINES_ELSE : *state;
    put_defined(t, text);
}

static void put_new(Patch *t, Slice text, Defines *state)
{
    if (*state == DEFINES_OUTSIDE)
        put_directive(t, "#ifdef ", t->define);
    if (*state == DEFINES_IFNDEF)
        put_directive(t, "#else", "");
    *state = *state == DEFINES_OUTSIDE ? DEFINES_IFDEF : *state == DEFINES_IFNDEF ? DEFINES_ELSE : *state;
    put_defined(t, text);
}

static void end_defines(Patch *t, Defines *state)
{
    if (*state != DEFINES_OUTSIDE)
        put_directive(t, "#endif", "");
    *state = DEFINES_OUTSIDE;
}

/* Context stays as it is in the file; only what is taken away and put in comes from the hunk. */
bool patch_apply(Patch *t, const PatchHunk *h, int64_t where)
{
    const HunkSide *old = &h->side[0], *new = &h->side[1];
    int64_t i = 0, j = 0;
    Defines state = DEFINES_OUTSIDE;
    t->incomplete = false;
    while (i < old->count || j < new->count) {
        bool take = i < old->count && old->lines[i].kind != ' ', put = j < new->count && new->lines[j].kind != ' ';
        if ((take || put) && !copy_till(t, where + i))
            return false;
        if (take) {
            if (t->define)
                put_taken(t, file_line(t, where + i), &state);
            t->frozen++;
            i++;
        } else if (put && t->define) {
            put_new(t, new->lines[j++].text, &state);
        } else if (put) {
            buf_append(&t->out, new->lines[j++].text);
        } else {
            end_defines(t, &state);
            i++;
            j++;
        }
    }
    end_defines(t, &state);
    t->out_offset += new->count - old->count;
    return true;
}

static bool ends_in_cr(Slice line) { return line.len > 1 && line.data[line.len - 2] == '\r' && line.data[line.len - 1] == '\n'; }

bool patch_other_endings(const Patch *t, const PatchHunk *h, int64_t where)
{
    const HunkSide *old = &h->side[0];
    if (!old->count || !t->lines)
        return false;
    return ends_in_cr(old->lines[0].text) != ends_in_cr(file_line(t, MAX(MIN(where, t->lines), 1)));
}

void patch_finish(Patch *t) { copy_till(t, t->lines + 1); }
