/* ignore: lists of what to leave out that lie in the directories themselves: --exclude-vcs-ignores, --exclude-ignore, --exclude-ignore-recursive.
 *
 * A list goes for the directory it lies in and all below: so real tar takes --exclude-ignore and a .cvsignore too. Its patterns are asked with the whole name, with the name behind
 * its "./" and with the last part: one that is to be left out by any of them is left out. Within a list the last pattern that matches decides.
 */
#include "archive/tar/tar.h"

typedef enum { LIST_PLAIN, LIST_CVS, LIST_GIT, LIST_BZR, LIST_HG } ListKind;

struct IgnoreFile {
    IgnoreFile *next;
    const char *name;
    ListKind kind;
};

typedef struct IgnorePattern {
    struct IgnorePattern *next; /* the one before it in the file */
    const char *text;
    Re *re;
    bool literal, leading, include;
} IgnorePattern;

typedef struct IgnoreList {
    struct IgnoreList *next;
    IgnorePattern *last;
    bool include_first, hg_regex;
} IgnoreList;

struct IgnoreScope {
    IgnoreScope *up;
    IgnoreList *lists;
};

void add_ignore_file(Tar *t, const char *name)
{
    static const struct { const char *name; ListKind kind; } known[] = {{".cvsignore", LIST_CVS}, {".gitignore", LIST_GIT}, {".bzrignore", LIST_BZR}, {".hgignore", LIST_HG}};
    IgnoreFile *f = mem_new(&t->p->keep, IgnoreFile), **end = &t->ignore_files;
    *f = (IgnoreFile){.name = mem_strdup(&t->p->keep, name)};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(known[i].name, name) == 0)
            f->kind = known[i].kind;
    while (*end)
        end = &(*end)->next;
    *end = f;
}

void add_vcs_ignores(Tar *t)
{
    add_ignore_file(t, ".cvsignore");
    add_ignore_file(t, ".gitignore");
    add_ignore_file(t, ".bzrignore");
    add_ignore_file(t, ".hgignore");
}

typedef enum { AS_GLOB, AS_REGEX } PatternForm;

/* Without a character that could mean more, either form is only text. */
static bool means_itself(const char *text, PatternForm form) { return !text[strcspn(text, form == AS_REGEX ? "?*[.{}()" : "?*[")]; }

static void add_pattern(Tar *t, IgnoreList *l, const char *text, PatternForm form, bool include, bool leading)
{
    IgnorePattern *n = mem_new(&t->p->mem, IgnorePattern);
    *n = (IgnorePattern){.next = l->last, .text = text, .include = include, .leading = leading, .literal = means_itself(text, form)};
    if (form == AS_REGEX && !n->literal) {
        ReError err;
        Slice whole = slice_str(leading ? mem_printf(&t->p->mem, "%s(/.*)?", text) : text);
        if (!(n->re = proc_regex(t->p, whole, RE_ERE, 0, &err)))
            return;
    }
    if (form == AS_GLOB)
        n->literal = false; /* it may have a quoted character */
    if (!l->last)
        l->include_first = include;
    l->last = n;
}

static char *skip_blanks(char *s) { return s + strspn(s, " \t\n\v\f\r"); }

static void cvs_line(Tar *t, IgnoreList *l, char *s)
{
    for (s = skip_blanks(s); *s; s = skip_blanks(s)) {
        size_t n = strcspn(s, " \t\n\v\f\r");
        add_pattern(t, l, mem_copy(&t->p->mem, slice(s, n)), AS_GLOB, false, false);
        s += n;
    }
}

static void git_line(Tar *t, IgnoreList *l, char *s)
{
    s = skip_blanks(s);
    if (*s && *s != '#')
        add_pattern(t, l, s[0] == '\\' && s[1] == '#' ? s + 1 : s, AS_GLOB, false, false);
}

static void bzr_line(Tar *t, IgnoreList *l, char *s)
{
    s = skip_blanks(s);
    if (!*s || *s == '#')
        return;
    bool include = s[0] == '!' && s[1] != '!';
    s += s[0] == '!' ? 2 - include : 0;
    bool regex = strncmp(s, "RE:", 3) == 0;
    add_pattern(t, l, regex ? s + 3 : s, regex ? AS_REGEX : AS_GLOB, include, false);
}

static void hg_line(Tar *t, IgnoreList *l, char *s)
{
    s = skip_blanks(s);
    if (!*s || *s == '#')
        return;
    if (strncmp(s, "syntax:", 7) == 0) {
        s = skip_blanks(s + 7);
        if (strcmp(s, "regexp") == 0)
            l->hg_regex = true;
        else if (strcmp(s, "glob") == 0)
            l->hg_regex = false;
        return;
    }
    size_t n = strlen(s);
    bool leading = s[n - 1] == '/';
    if (leading)
        s[n - 1] = 0;
    add_pattern(t, l, s, l->hg_regex ? AS_REGEX : AS_GLOB, false, leading);
}

static void take_line(Tar *t, IgnoreList *l, ListKind kind, char *s)
{
    switch (kind) {
    case LIST_CVS: cvs_line(t, l, s); break;
    case LIST_GIT: git_line(t, l, s); break;
    case LIST_BZR: bzr_line(t, l, s); break;
    case LIST_HG: hg_line(t, l, s); break;
    case LIST_PLAIN: add_pattern(t, l, s, AS_GLOB, false, false); break;
    }
}

static IgnoreList *read_list(Tar *t, const IgnoreFile *f, Slice text)
{
    IgnoreList *l = mem_new(&t->p->mem, IgnoreList);
    *l = (IgnoreList){.hg_regex = true};
    while (text.len) {
        size_t n = slice_find(text, '\n'), used = n;
        char *line = mem_copy(&t->p->mem, slice(text.data, n));
        while (used && strchr(" \t\v\f\r", line[used - 1]))
            line[--used] = 0;
        if (used)
            take_line(t, l, f->kind, line);
        text = slice_from(text, MIN(n + 1, text.len));
        proc_tick(t->p, 1);
    }
    return l;
}

void ignore_enter(Tar *t, const char *directory)
{
    IgnoreScope *scope = mem_new(&t->p->mem, IgnoreScope);
    *scope = (IgnoreScope){t->ignores, NULL};
    IgnoreList **end = &scope->lists;
    for (const IgnoreFile *f = t->ignore_files; f; f = f->next) {
        Slice text;
        const char *path = path_join(t->p, directory, slice_str(f->name));
        int err = read_file(t->p, path, &text);
        if (err && err != -ENOENT)
            tar_errno(t, err, "%s: Cannot open", tar_quote(t, f->name));
        if (err)
            continue;
        *end = read_list(t, f, text);
        end = &(*end)->next;
    }
    t->ignores = scope;
}

void ignore_leave(Tar *t) { t->ignores = t->ignores->up; }

static bool pattern_hits(Tar *t, const IgnorePattern *n, const char *name)
{
    if (n->re) {
        ReEnv env = proc_re_env(t->p);
        return re_search(&env, n->re, slice_str(name), 0, false, NULL, 0) == RE_MATCHED;
    }
    return glob_match(n->text, name, n->literal ? 0 : MATCH_WILDCARDS | MATCH_NO_SLASH, n->leading);
}

static bool left_out(Tar *t, const IgnoreList *l, const char *name)
{
    for (const IgnorePattern *n = l->last; n; n = n->next) {
        proc_tick(t->p, 1);
        if (pattern_hits(t, n, name))
            return !n->include;
    }
    return l->last && l->include_first;
}

bool ignored(Tar *t, const char *name)
{
    const char *relative = name;
    while (relative[0] == '.' && relative[1] == '/')
        relative += 2;
    const char *base = base_name(name).data;
    for (const IgnoreScope *s = t->ignores; s; s = s->up)
        for (const IgnoreList *l = s->lists; l; l = l->next)
            if (left_out(t, l, name) || left_out(t, l, relative) || left_out(t, l, base))
                return true;
    return false;
}
