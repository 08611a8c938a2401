/* image_dir: an image from a host directory, with patterns as in .gitignore files.
 *
 * Rules are kept in the order they were met, each with the directory it holds below; the last that matches decides. A directory that is left out
 * is not entered, so nothing below it can be taken back, as with git.
 */
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

/* ---------- matching ---------- */

enum { STEPS_MOST = 200000 }; /* a pattern of many stars gives up: no match */

/* [...] at p (behind the bracket): whether c is in it; *end behind the closing one, NULL: there is none. */
static bool in_class(const char *p, char c, const char **end)
{
    bool negated = *p == '!' || *p == '^', found = false;
    p += negated;
    for (const char *first = p; *p && (*p != ']' || p == first); p++) {
        char low = *p == '\\' && p[1] ? *++p : *p, high = low;
        if (p[1] == '-' && p[2] && p[2] != ']') {
            p += 2;
            high = *p == '\\' && p[1] ? *++p : *p;
        }
        found |= (unsigned char)c >= (unsigned char)low && (unsigned char)c <= (unsigned char)high;
    }
    *end = *p ? p + 1 : NULL;
    return c != '/' && found != negated;
}

/* One character of the text against one element of the pattern; *next is the pattern behind it. */
static bool match_one(const char *p, char c, const char **next)
{
    const char *end;
    *next = p + 1;
    if (*p == '?')
        return c != '/';
    if (*p == '[') {
        bool in = in_class(p + 1, c, &end);
        if (end) {
            *next = end;
            return in;
        }
    }
    if (*p == '\\' && p[1])
        *next = ++p + 1;
    return *p == c;
}

/* Recursion: one level a star, and the steps are bounded. */
static bool match(const char *p, const char *s, unsigned *steps)
{
    for (;;) {
        if (++*steps > STEPS_MOST)
            return false;
        if (*p == '*') {
            bool deep = p[1] == '*';
            const char *rest = p + (deep ? 2 : 1);
            while (*rest == '*')
                rest++;
            if (deep && *rest == '/' && match(rest + 1, s, steps)) /* no directory at all */
                return true;
            for (;; s++) {
                if (match(rest, s, steps))
                    return true;
                if (!*s || (!deep && *s == '/') || *steps > STEPS_MOST)
                    return false;
            }
        }
        if (!*p || !*s)
            return !*p && !*s;
        const char *next;
        if (!match_one(p, *s, &next))
            return false;
        p = next;
        s++;
    }
}

/* ---------- rules ---------- */

typedef struct {
    char *pattern;
    size_t below; /* length of the directory that it holds in, with its slash */
    bool negated, directory, anchored;
} Rule;

typedef struct {
    Rule *rules;
    size_t count, cap;
} Rules;

typedef struct {
    Rules ignore, include;
    size_t *levels; /* how many rules there were before each directory entered */
    size_t depth, levels_cap;
    bool gitignore;
} Filter;

static void rules_cut(Rules *r, size_t count)
{
    while (r->count > count)
        free(r->rules[--r->count].pattern);
}

static int rules_add(Rules *r, Slice line, size_t below)
{
    Rule rule = {.below = below};
    while (line.len && (line.data[line.len - 1] == '\r' || (line.data[line.len - 1] == ' ' && (line.len < 2 || line.data[line.len - 2] != '\\'))))
        line.len--;
    if (!line.len || line.data[0] == '#' || memchr(line.data, 0, line.len))
        return 0;
    if (line.data[0] == '!') {
        rule.negated = true;
        line = slice_from(line, 1);
    }
    if (line.len && line.data[line.len - 1] == '/') {
        rule.directory = true;
        line.len--;
    }
    rule.anchored = slice_find(line, '/') < line.len;
    if (line.len && line.data[0] == '/')
        line = slice_from(line, 1);
    if (!line.len)
        return 0;
    if (r->count == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 16;
        Rule *grown = realloc(r->rules, cap * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        r->rules = grown;
        r->cap = cap;
    }
    rule.pattern = malloc(line.len + 1);
    if (!rule.pattern)
        return -ENOMEM;
    memcpy(rule.pattern, line.data, line.len);
    rule.pattern[line.len] = 0;
    r->rules[r->count++] = rule;
    return 0;
}

static bool rule_matches(const Rule *r, const char *path, bool directory)
{
    unsigned steps = 0;
    if (r->directory && !directory)
        return false;
    const char *slash = strrchr(path, '/');
    return match(r->pattern, r->anchored ? path + r->below : slash ? slash + 1 : path, &steps);
}

static bool ignored(const Filter *f, const char *path, bool directory)
{
    for (size_t n = f->ignore.count; n-- > 0;)
        if (rule_matches(&f->ignore.rules[n], path, directory))
            return !f->ignore.rules[n].negated;
    return false;
}

/* It matches, or a directory above it does. */
static bool included(const Filter *f, const char *path)
{
    char head[4096];
    size_t len = strlen(path);
    if (len >= sizeof head)
        return false;
    for (size_t at = len; at > 0; at--) {
        if (at < len && path[at] != '/')
            continue;
        memcpy(head, path, at);
        head[at] = 0;
        for (size_t n = 0; n < f->include.count; n++)
            if (rule_matches(&f->include.rules[n], head, at < len))
                return true;
    }
    return false;
}

/* ---------- the filter ---------- */

static int filter_enter(void *user, const char *dir, Slice ignore)
{
    Filter *f = user;
    if (f->depth == f->levels_cap) {
        size_t cap = f->levels_cap ? f->levels_cap * 2 : 32;
        size_t *grown = realloc(f->levels, cap * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        f->levels = grown;
        f->levels_cap = cap;
    }
    f->levels[f->depth++] = f->ignore.count;
    size_t below = strlen(dir) + (*dir ? 1 : 0);
    for (Slice rest = ignore; f->gitignore && rest.len;) {
        size_t n = slice_find(rest, '\n');
        int r = rules_add(&f->ignore, slice(rest.data, n), below);
        if (r) {
            rules_cut(&f->ignore, f->levels[--f->depth]);
            return r;
        }
        rest = slice_from(rest, MIN(n + 1, rest.len));
    }
    return 0;
}

static void filter_leave(void *user)
{
    Filter *f = user;
    rules_cut(&f->ignore, f->levels[--f->depth]);
}

static bool filter_keep(void *user, const char *path, bool directory)
{
    const Filter *f = user;
    const char *slash = strrchr(path, '/');
    if (f->gitignore && strcmp(slash ? slash + 1 : path, ".git") == 0)
        return false;
    return !ignored(f, path, directory) && (directory || !f->include.count || included(f, path));
}

static void filter_free(Filter *f)
{
    rules_cut(&f->ignore, 0);
    rules_cut(&f->include, 0);
    free(f->ignore.rules);
    free(f->include.rules);
    free(f->levels);
}

static int filter_fill(Filter *f, const shell_image_dir *d)
{
    int r = 0;
    f->gitignore = d->flags & SHELL_IMAGE_GITIGNORE;
    for (size_t n = 0; r == 0 && d->exclude && d->exclude[n]; n++)
        r = rules_add(&f->ignore, slice_str(d->exclude[n]), 0);
    for (size_t n = 0; r == 0 && d->include && d->include[n]; n++)
        r = rules_add(&f->include, slice_str(d->include[n]), 0);
    return r;
}

/* ---------- the image ---------- */

static shell_err copy_in(shell *sh, const shell_image_dir *d, const char **why)
{
    Filter f = {0};
    VBindFilter filter = {filter_enter, filter_leave, filter_keep, &f};
    VBind bind = {.source = d->source, .destination = d->destination ? d->destination : "/workspace", .mode = VBIND_COPY, .uid = 1000, .gid = 1000, .filter = &filter};
    int r = filter_fill(&f, d);
    if (r == 0)
        r = vfs_bind(kern_vfs(sh->kernel), &bind, why);
    filter_free(&f);
    return api_error(sh, r, d->source);
}

shell_err shell_image_from_dir(const shell_image_dir *dir, shell_image **out)
{
    shell_image_dir d = {0};
    shell_options o;
    shell *sh;
    const char *why = NULL;
    if (!dir || !out || !api_copy_struct(&d, sizeof d, dir) || !d.source)
        return SHELL_EINVAL;
    *out = NULL;
    shell_options_init(&o);
    o.image = d.image;
    o.message = d.message;
    o.message_size = d.message_size;
    shell_err err = shell_open(&o, &sh);
    if (err)
        return err;
    err = copy_in(sh, &d, &why);
    if (!err)
        err = shell_image_of(sh, out);
    if (err && d.message && d.message_size)
        snprintf(d.message, (size_t)d.message_size, "%s: %s", d.source, why ? why : shell_strerror(err));
    shell_close(sh);
    return err;
}
