/* input: the patch's text: where a patch begins, of which form it is, and which file it is for. */
#include "patch.h"

#include "shared.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool begins(Slice s, const char *with) { return slice_starts(s, slice_str(with)); }
static char at(Slice s, size_t i) { return i < s.len ? s.data[i] : 0; }

/* A line as it stands, with a newline. */
static bool raw_line(Patch *t)
{
    if (t->at >= t->text.len)
        return false;
    Slice rest = slice_from(t->text, t->at);
    size_t end = slice_find(rest, '\n');
    t->line = slice(rest.data, MIN(end + 1, rest.len));
    if (end == rest.len) {
        char *copy = mem_alloc(&t->p->mem, rest.len + 1);
        memcpy(copy, rest.data, rest.len);
        copy[rest.len] = '\n';
        t->line = slice(copy, rest.len + 1);
    }
    t->at += MIN(end + 1, rest.len);
    t->line_number++;
    proc_tick(t->p, 1);
    return true;
}

bool patch_line(Patch *t)
{
    do {
        if (!raw_line(t))
            return false;
        size_t column = 0;
        while (column < t->indent && t->line.len && strchr(" \tX", t->line.data[0])) {
            column = t->line.data[0] == '\t' ? (column + 8) & ~(size_t)7 : column + 1;
            t->line = slice_from(t->line, 1);
        }
    } while (at(t->line, 0) == '#');
    if (t->strip_cr && t->line.len >= 2 && t->line.data[t->line.len - 2] == '\r') {
        char *copy = mem_copy(&t->p->mem, t->line);
        copy[t->line.len - 2] = '\n';
        t->line = slice(copy, t->line.len - 1);
    }
    return true;
}

void patch_skip_to(Patch *t, size_t where, int64_t line)
{
    t->at = where;
    t->line_number = line;
}

/* --- the search for a beginning --- */

typedef struct {
    size_t this_at, previous_at;
    int64_t this_line;
    Slice s;              /* the line behind its indentation */
    size_t indent;
    bool cr, last_cr, command, last_command, stars, last_stars, extended, ed;
    size_t first_command; /* SIZE_MAX: none */
    bool need_header;
} Search;

static bool is_command(Slice s)
{
    size_t i = 0;
    if (!is_digit(at(s, 0)))
        return false;
    while (is_digit(at(s, i)) || at(s, i) == ',')
        i++;
    if (!at(s, i) || !strchr("dca", at(s, i)))
        return false;
    i++;
    while (is_digit(at(s, i)) || at(s, i) == ',')
        i++;
    while (at(s, i) == ' ' || at(s, i) == '\t')
        i++;
    i += at(s, i) == '\r';
    return at(s, i) == '\n';
}

/* "5,7d" and the like: of an ed script. */
static bool is_ed_command(Slice s)
{
    size_t i = 0;
    while (is_digit(at(s, i)) || (i && at(s, i) == ','))
        i++;
    return i && at(s, i) && strchr("acdis", at(s, i)) && at(s, i + 1) == '\n';
}

static void measure(Patch *t, Search *q)
{
    Slice s = t->line;
    q->indent = 0;
    while (s.len && (s.data[0] == ' ' || s.data[0] == '\t' || s.data[0] == 'X')) {
        q->indent = s.data[0] == '\t' ? (q->indent + 8) & ~(size_t)7 : q->indent + 1;
        s = slice_from(s, 1);
    }
    q->s = s;
    q->last_cr = q->cr;
    q->cr = t->line.len >= 2 && t->line.data[t->line.len - 2] == '\r';
    q->last_command = q->command;
    q->last_stars = q->stars;
    q->command = is_command(s);
}

static uint32_t octal(Slice s)
{
    uint32_t v = 0;
    for (size_t i = 0; i < s.len && s.data[i] >= '0' && s.data[i] <= '7' && i < 8; i++)
        v = v * 8 + (uint32_t)(s.data[i] - '0');
    return v;
}

static bool git_header(Patch *t, Search *q)
{
    Slice s = q->s;
    static const struct { const char *text; int what; } heads[] = {
        {"index ", 0}, {"old mode ", 1}, {"new mode ", 2}, {"deleted file mode ", 3}, {"new file mode ", 4},
        {"rename from ", 5}, {"rename to ", 5}, {"copy from ", 6}, {"copy to ", 6},
    };
    for (unsigned i = 0; i < ARRAY_LEN(heads); i++) {
        if (!begins(s, heads[i].text))
            continue;
        Slice rest = slice_from(s, strlen(heads[i].text));
        q->extended |= heads[i].what > 0;
        switch (heads[i].what) {
        case 0: {
            size_t space = slice_find(rest, ' ');
            if (space < rest.len)
                t->modes[OLD_NAME] = t->modes[NEW_NAME] = octal(slice_from(rest, space + 1));
            break;
        }
        case 1: t->modes[OLD_NAME] = octal(rest); break;
        case 2: t->modes[NEW_NAME] = octal(rest); break;
        case 3:
            t->modes[OLD_NAME] = octal(rest);
            t->absent[NEW_NAME] = 2;
            break;
        case 4:
            t->modes[NEW_NAME] = octal(rest);
            t->absent[OLD_NAME] = 2;
            break;
        case 5: t->renames = true; break;
        default: t->copies = true; break;
        }
        return true;
    }
    return false;
}

/* Names in front of a patch. In a unified one they come in the wrong order for OLD and NEW: exchanged when its first hunk is seen. */
static void header_line(Patch *t, Search *q)
{
    Slice s = q->s, inner = s;
    if (!q->last_stars && begins(s, "*** ")) {
        patch_fetch_name(t, slice_from(s, 4), OLD_NAME, &t->epoch[OLD_NAME], &t->stamps[OLD_NAME]);
    } else if (begins(s, "+++ ")) {
        patch_fetch_name(t, slice_from(s, 4), OLD_NAME, &t->epoch[OLD_NAME], &t->stamps[OLD_NAME]);
        t->strip_cr = q->cr;
    } else if (begins(s, "Index:")) {
        patch_fetch_name(t, slice_from(s, 6), INDEX_NAME, NULL, NULL);
        t->strip_cr = q->cr;
    } else if (begins(s, "diff --git ")) {
        patch_git_names(t, slice_from(s, 11));
        t->git = true;
    } else if (!t->git || !git_header(t, q)) {
        while (begins(inner, "- "))
            inner = slice_from(inner, 2);
        if (!begins(inner, "--- "))
            return;
        patch_fetch_name(t, slice_from(inner, 4), NEW_NAME, &t->epoch[NEW_NAME], &t->stamps[NEW_NAME]);
        t->strip_cr = q->cr;
    }
    q->need_header = false;
}

static void swap_names(Patch *t)
{
    char *name = t->names[OLD_NAME];
    Slice stamp = t->stamps[OLD_NAME];
    bool epoch = t->epoch[OLD_NAME];
    t->names[OLD_NAME] = t->names[NEW_NAME];
    t->stamps[OLD_NAME] = t->stamps[NEW_NAME];
    t->epoch[OLD_NAME] = t->epoch[NEW_NAME];
    t->names[NEW_NAME] = name;
    t->stamps[NEW_NAME] = stamp;
    t->epoch[NEW_NAME] = epoch;
}

static void says_empty(Patch *t, int which, Slice number)
{
    if (at(number, 0) == '0' && !is_digit(at(number, 1)))
        t->absent[which] = MAX(t->absent[which], 1 + t->epoch[which]);
}

static Form found(Patch *t, const Search *q, Form form, bool previous)
{
    t->indent = q->indent;
    if (form != FORM_UNIFIED)
        t->strip_cr = form == FORM_NORMAL ? q->last_cr : q->cr;
    t->strip_cr &= !t->keep_cr;
    t->hunks_at = previous ? q->previous_at : q->this_at;
    t->hunks_line = q->this_line - previous;
    return form;
}

static Form unified_begins(Patch *t, Search *q)
{
    swap_names(t);
    Slice s = slice_from(q->s, 4);
    says_empty(t, OLD_NAME, s);
    size_t space = slice_find(s, ' ');
    while (at(s, space) == ' ')
        space++;
    if (at(s, space) == '+')
        says_empty(t, NEW_NAME, slice_from(s, space + 1));
    return found(t, q, FORM_UNIFIED, false);
}

static Form context_begins(Patch *t, Search *q)
{
    says_empty(t, OLD_NAME, slice_from(q->s, 4));
    size_t end = slice_find(q->s, '\n');
    end -= end && q->s.data[end - 1] == '\r';
    Form form = found(t, q, end && q->s.data[end - 1] == '*' ? FORM_NEW_CONTEXT : FORM_CONTEXT, true);
    /* The first hunk tells whether nothing is left of the file. */
    PatchHunk h;
    t->form = form;
    patch_skip_to(t, q->previous_at, q->this_line - 2);
    bool reverse = t->reverse;
    t->reverse = false;
    if (patch_hunk(t, &h) && h.side[1].count == 0 && h.side[1].first == 1)
        t->absent[NEW_NAME] = 1 + t->epoch[NEW_NAME];
    t->reverse = reverse;
    return form;
}

static bool wanted(const Patch *t, Form form)
{
    Form asked = t->form_asked;
    return asked == FORM_NONE || asked == form || (asked == FORM_CONTEXT && form == FORM_NEW_CONTEXT);
}

static Form search(Patch *t)
{
    Search q = {.first_command = SIZE_MAX, .need_header = !t->first && !t->input_name};
    t->indent = 0;
    t->strip_cr = false;
    for (;;) {
        q.previous_at = q.this_at;
        q.this_at = t->at;
        if (!raw_line(t)) {
            t->hunks_at = t->at;
            t->hunks_line = t->line_number + 1;
            return q.extended ? FORM_UNIFIED : q.ed && wanted(t, FORM_ED) ? FORM_ED : FORM_NONE;
        }
        q.this_line = t->line_number;
        measure(t, &q);
        if (!q.need_header && !q.ed && q.first_command == SIZE_MAX && (q.command || is_ed_command(q.s))) {
            q.first_command = q.this_at;
            q.ed = is_ed_command(q.s);
        }
        if (q.extended && (begins(q.s, "diff --git ")))
            return found(t, &q, FORM_UNIFIED, false);
        header_line(t, &q);
        if (t->git && begins(q.s, "GIT binary patch"))
            return found(t, &q, FORM_GIT_BINARY, false);
        q.stars = begins(q.s, "********");
        if (q.need_header)
            continue;
        if (wanted(t, FORM_ED) && q.ed && slice_is(q.s, ".\n"))
            return FORM_ED;
        if (wanted(t, FORM_UNIFIED) && begins(q.s, "@@ -"))
            return unified_begins(t, &q);
        if (wanted(t, FORM_NEW_CONTEXT) && q.last_stars && begins(q.s, "*** "))
            return context_begins(t, &q);
        if (wanted(t, FORM_NORMAL) && q.last_command && (begins(q.s, "< ") || begins(q.s, "> ")))
            return found(t, &q, FORM_NORMAL, true);
    }
}

/* --- which file --- */

/* The patch says one thing of a file and the directory another: is it reversed? */
static bool maybe_reversed(Patch *t, const char *name, bool missing, bool empty)
{
    bool reversed = (!empty) < t->absent[t->reverse ^ empty];
    if (empty && t->absent[t->reverse ^ missing] == 1 && t->absent[!t->reverse ^ missing] == 2)
        return false;
    if (reversed) {
        const char *text = mem_printf(&t->p->mem, "The next patch%s would %s the file %s,\nwhich %s!", t->reverse ? ", when reversed," : "",
                                      missing ? "delete" : empty ? "empty out" : "create", quote_if_needed(t->p, name),
                                      missing ? "does not exist" : empty ? "is already empty" : "already exists");
        t->reverse ^= patch_may_reverse(t, text);
    }
    return reversed;
}

static int choose_name(Patch *t, VStat stats[NAMES], int64_t errors[NAMES])
{
    int last = -1;
    if (t->names[OLD_NAME] || t->names[NEW_NAME])
        t->names[INDEX_NAME] = NULL;
    for (int i = 0; i < NAMES; i++)
        if (t->names[i]) {
            errors[i] = proc_stat(t->p, t->names[i], t->follow ? 0 : V_NOFOLLOW, &stats[i]);
            last = i;
        }
    int i = patch_best_name(t, errors);
    bool empty = i < 0 || stats[i].size == 0;
    if (last >= 0 && maybe_reversed(t, t->names[i < 0 ? last : i], i < 0, empty) && i < 0)
        return last;
    if (i < 0 && t->absent[t->reverse]) {
        int64_t dirs[NAMES], least = INT64_MAX;
        for (int k = 0; k < NAMES; k++)
            if (t->names[k]) {
                dirs[k] = patch_new_dirs(t, t->names[k]);
                least = MIN(least, dirs[k]);
            }
        for (int k = 0; k < NAMES; k++)
            dirs[k] = t->names[k] ? dirs[k] - least : 1;
        i = patch_best_name(t, dirs);
    }
    return i;
}

static void find_file(Patch *t)
{
    VStat stats[NAMES] = {0};
    int64_t errors[NAMES] = {-ENOENT, -ENOENT, -ENOENT};
    if (t->input_name) {
        t->name = t->input_name;
        t->name_error = proc_stat(t->p, t->name, t->follow ? 0 : V_NOFOLLOW, &t->stat);
        if (t->name_error)
            t->stat = (VStat){0};
        maybe_reversed(t, t->name, t->name_error != 0, t->name_error != 0 || t->stat.size == 0);
        return;
    }
    int i = (t->renames || t->copies) && t->names[t->reverse] && t->names[!t->reverse] && patch_name_valid(t, t->names[0]) && patch_name_valid(t, t->names[1]) ? t->reverse : -1;
    if (i >= 0)
        errors[i] = proc_stat(t->p, t->names[i], t->follow ? 0 : V_NOFOLLOW, &stats[i]);
    else
        i = choose_name(t, stats, errors);
    if (i < 0)
        return;
    t->name = t->names[i];
    t->name_error = (int)errors[i];
    t->stat = errors[i] ? (VStat){0} : stats[i];
}

static const char *form_name(Form form)
{
    switch (form) {
    case FORM_UNIFIED: return "a unified diff";
    case FORM_CONTEXT: return "a context diff";
    case FORM_NEW_CONTEXT: return "a new-style context diff";
    case FORM_NORMAL: return "a normal diff";
    case FORM_GIT_BINARY: return "a git binary diff";
    default: return "an ed script";
    }
}

static void show_leading(Patch *t, size_t from)
{
    if (from >= t->hunks_at)
        return;
    patch_say(t, "The text leading up to this was:\n--------------------------\n");
    for (Slice rest = slice(t->text.data + from, t->hunks_at - from); rest.len;) {
        size_t end = MIN(slice_find(rest, '\n') + 1, rest.len);
        out_char(t->messages, '|');
        out_write(t->messages, slice(rest.data, end));
        rest = slice_from(rest, end);
    }
    patch_say(t, "--------------------------\n");
}

static void nobody_knows(Patch *t)
{
    if (t->force || t->batch) {
        patch_say(t, "No file to patch.  Skipping patch.\n");
        t->skip = true;
        return;
    }
    patch_ask(t, "File to patch: ");
    patch_ask(t, "Skip this patch? [y] ");
    if (t->loud != LOUD_SILENT)
        patch_say(t, "Skipping patch.\n");
    t->skip = true;
}

static void begin_patch(Patch *t)
{
    for (int i = 0; i < NAMES; i++)
        t->names[i] = NULL;
    for (int i = 0; i < 2; i++) {
        t->stamps[i] = (Slice){"", 0};
        t->epoch[i] = false;
        t->absent[i] = 0;
        t->modes[i] = 0;
    }
    t->name = NULL;
    t->name_error = 0;
    t->stat = (VStat){0};
    t->renames = t->copies = t->git = t->skip = false;
    t->reverse = t->reverse_asked;
}

bool patch_next(Patch *t)
{
    begin_patch(t);
    patch_skip_to(t, t->resume, t->resume_line);
    size_t from = t->resume;
    if (!t->first && from >= t->text.len) {
        if (t->loud == LOUD_VERBOSE)
            patch_say(t, "done\n");
        return false;
    }
    if (t->loud == LOUD_VERBOSE)
        patch_say(t, "Hmm...");
    t->form = search(t);
    if (t->form == FORM_NONE) {
        if (t->loud == LOUD_VERBOSE)
            patch_say(t, t->first ? "  I can't seem to find a patch in there anywhere.\n" : "  Ignoring the trailing garbage.\ndone\n");
        if (t->first && t->text.len)
            patch_fatal(t, "Only garbage was found in the patch input.\n");
        return false;
    }
    if (t->loud == LOUD_VERBOSE)
        patch_say(t, "%sooks like %s to me...\n", t->first ? "  L" : "  The next patch l", form_name(t->form));
    if (t->form == FORM_ED)
        patch_fatal(t, "ed scripts are refused: there is no ed\n");
    find_file(t);
    if (t->loud != LOUD_SILENT) {
        if (t->indent)
            patch_say(t, "(Patch is indented %zu space%s.)\n", t->indent, t->indent == 1 ? "" : "s");
        if (t->strip_cr)
            patch_say(t, "(Stripping trailing CRs from patch; use --binary to disable.)\n");
        if (!t->name && !t->skip) {
            patch_say(t, "can't find file to patch at input line %lld\n", (long long)t->hunks_line);
            if (t->form != FORM_NORMAL)
                patch_say(t, "Perhaps you %s -p or --strip option?\n", t->strip == -1 ? "should have used the" : "used the wrong");
        }
    }
    if (t->loud == LOUD_VERBOSE || !t->name)
        show_leading(t, from);
    patch_skip_to(t, t->hunks_at, t->hunks_line - 1);
    if (!t->name)
        nobody_knows(t);
    return true;
}
