/* name: file names out of headers, and the choice between them. */
#include "patch.h"

#include "shared.h"

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* "a\tb" as git writes odd names; the place behind it, or 0. */
static size_t quoted_name(Slice s, Buf *out)
{
    static const char letters[] = "abtnvfr", values[] = "\a\b\t\n\v\f\r";
    for (size_t i = 1; i < s.len; i++) {
        char c = s.data[i];
        if (c == '"')
            return i + 1;
        if (c == '\\' && i + 1 < s.len) {
            const char *known;
            c = s.data[++i];
            if (c >= '0' && c <= '3' && i + 2 < s.len) {
                c = (char)((s.data[i] - '0') << 6 | (s.data[i + 1] - '0') << 3 | (s.data[i + 2] - '0'));
                i += 2;
            } else if (c && (known = strchr(letters, c))) {
                c = values[known - letters];
            }
        }
        buf_char(out, c);
    }
    return 0;
}

/* Without its first `strip` components, or with the last one alone; NULL when there are not so many. */
static char *stripped(char *name, int64_t strip)
{
    int64_t left = strip;
    char *from = name;
    for (char *c = name; *c; c++)
        if (*c == '/') {
            while (c[1] == '/')
                c++;
            if (strip < 0 || --left >= 0)
                from = c + 1;
        }
    return (strip < 0 || left <= 0) && *from ? from : NULL;
}

/* One name at the beginning of `s`; what it takes of it. */
static size_t parse_name(Patch *t, Slice s, char **name)
{
    size_t begin = 0, end;
    *name = NULL;
    while (begin < s.len && is_space(s.data[begin]))
        begin++;
    s = slice_from(s, begin);
    if (s.len && s.data[0] == '"') {
        Buf text;
        buf_init(&text, &t->p->mem, BUF_MAX);
        size_t n = quoted_name(s, &text);
        if (n && text.len)
            *name = text.data;
        return n ? begin + n : 0;
    }
    for (end = 0; end < s.len && !is_space(s.data[end]);)
        end++;
    if (end)
        *name = mem_copy(&t->p->mem, slice(s.data, end));
    return begin + end;
}

bool patch_stamp(Patch *t, Slice stamp, int64_t *seconds, uint32_t *ns)
{
    const TimeZone *zone = t->set_times == TIMES_UTC ? tz_parse(&t->p->mem, SLICE("UTC0")) : proc_zone(t->p);
    while (stamp.len && is_space(stamp.data[0]))
        stamp = slice_from(stamp, 1);
    while (stamp.len && is_space(stamp.data[stamp.len - 1]))
        stamp.len--;
    return stamp.len && parse_date(t->p, stamp, 0, 0, zone, seconds, ns);
}

static bool is_epoch(Patch *t, Slice stamp)
{
    int64_t seconds;
    uint32_t ns;
    return patch_stamp(t, stamp, &seconds, &ns) && seconds > -25 * 3600 && seconds < 26 * 3600;
}

void patch_fetch_name(Patch *t, Slice text, int which, bool *epoch, Slice *stamp)
{
    while (text.len && is_space(text.data[0]))
        text = slice_from(text, 1);
    while (text.len && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\r'))
        text.len--;
    char *name;
    size_t end;
    if (text.len && text.data[0] == '"') {
        end = parse_name(t, text, &name);
    } else { /* a name may hold blanks when a tab ends it */
        end = slice_find(text, '\t');
        if (end == text.len)
            for (end = 0; end < text.len && !is_space(text.data[end]);)
                end++;
        name = mem_copy(&t->p->mem, slice(text.data, end));
    }
    Slice rest = slice_from(text, end);
    bool null = name && strcmp(name, "/dev/null") == 0;
    t->names[which] = null || !name ? NULL : stripped(name, t->strip);
    if (epoch)
        *epoch = null || is_epoch(t, rest);
    if (stamp)
        *stamp = rest;
}

void patch_git_names(Patch *t, Slice text)
{
    char *a, *b = NULL;
    size_t end = parse_name(t, text, &a);
    if (end)
        parse_name(t, slice_from(text, end), &b);
    t->names[OLD_NAME] = a && b ? stripped(a, t->strip) : NULL;
    t->names[NEW_NAME] = a && b ? stripped(b, t->strip) : NULL;
}

/* A name that leads out of the directory is not followed. */
bool patch_name_valid(Patch *t, const char *name)
{
    bool valid = *name != '/';
    for (const char *c = name; valid && *c;) {
        size_t n = strcspn(c, "/");
        valid = !(n == 2 && c[0] == '.' && c[1] == '.');
        c += n + (c[n] == '/');
    }
    if (!valid && !map_get(&t->reported, slice_str(name))) {
        map_put(&t->reported, slice_str(name));
        patch_say(t, "Ignoring potentially dangerous file name %s\n", quote_if_needed(t->p, name));
    }
    return valid;
}

static int64_t components(Patch *t, const char *name, bool existing)
{
    int64_t n = 0;
    for (const char *c = name; *c; c++)
        if (*c == '/' && c > name && c[-1] != '/') {
            VStat st;
            if (existing && proc_stat(t->p, mem_copy(&t->p->mem, slice(name, (size_t)(c - name))), 0, &st) != 0)
                return n;
            n++;
        }
    return n;
}

int64_t patch_new_dirs(Patch *t, const char *name) { return components(t, name, false) - components(t, name, true); }

/* Of the names that are not ignored: fewest components, then the shortest last one, then the shortest, then the first; -1: none. */
int patch_best_name(Patch *t, const int64_t ignored[NAMES])
{
    int best = -1;
    int64_t key[3] = {0, 0, 0};
    for (int i = 0; i < NAMES; i++) {
        const char *name = t->names[i];
        if (!name || ignored[i] || !patch_name_valid(t, name))
            continue;
        const char *slash = strrchr(name, '/');
        int64_t mine[3] = {components(t, name, false), (int64_t)strlen(slash ? slash + 1 : name), (int64_t)strlen(name)};
        int order = 0;
        for (int k = 0; k < 3 && !order; k++)
            order = (mine[k] > key[k]) - (mine[k] < key[k]);
        if (best < 0 || order < 0) {
            best = i;
            memcpy(key, mine, sizeof key);
        }
    }
    return best;
}
