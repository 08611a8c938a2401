/* glob: pathname expansion over the process's view of the file system.
 *
 * The pattern is taken component by component; literal ones are only appended, the others list a directory. Results are sorted as
 * whole paths by bytes.
 */
#include <sys/stat.h>

#include "interp.h"

typedef struct Glob {
    Interp *in;
    Slice *found;
    size_t count, cap;
    unsigned flags;
    ReEnv env;
} Glob;

enum { PATH_LIMIT = 4095, STACK_NEEDED = 16384 };

static void add_path(Glob *g, Slice path)
{
    if (g->count == g->cap) {
        size_t cap = g->cap ? g->cap * 2 : 32;
        g->found = mem_grow(mem_of(g->in), g->found, g->cap * sizeof(Slice), cap * sizeof(Slice));
        g->cap = cap;
    }
    uint64_t most = kern_limit(g->in->p->kernel, LIMIT_EXPANSION);
    if (most && g->count >= most)
        proc_limit(g->in->p, LIMIT_EXPANSION);
    g->found[g->count++] = path;
}

static Slice join_path(Glob *g, Slice dir, Slice name)
{
    char *p = mem_alloc(mem_of(g->in), dir.len + name.len + 2);
    memcpy(p, dir.data, dir.len);
    if (name.len)
        memcpy(p + dir.len, name.data, name.len);
    p[dir.len + name.len] = 0;
    return slice(p, dir.len + name.len);
}

static Slice unescaped(Mem *m, Slice s)
{
    char *out = mem_alloc(m, s.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == '\\' && i + 1 < s.len)
            i++;
        out[n++] = s.data[i];
    }
    out[n] = 0;
    return slice(out, n);
}

static bool is_directory(Glob *g, Slice path, bool follow)
{
    VStat st;
    return proc_stat(g->in->p, path.len ? path.data : ".", follow ? 0 : V_NOFOLLOW, &st) == 0 && S_ISDIR(st.mode);
}

/* `dir` is "" or ends in a slash. `rest` is what follows, without a leading slash; `more` tells that a slash came before it. */
static void walk(Glob *g, Slice dir, Slice rest, bool more);

static void reached(Glob *g, Slice path, bool more, Slice rest)
{
    VStat st;
    if (!more) {
        if (proc_stat(g->in->p, path.data, V_NOFOLLOW, &st) == 0)
            add_path(g, path);
        return;
    }
    if (is_directory(g, path, true))
        walk(g, join_path(g, path, SLICE("/")), rest, true);
}

static bool hidden(Slice name) { return name.len && name.data[0] == '.'; }

static void walk_below(Glob *g, Slice dir, Slice rest, bool more, bool first)
{
    VDirent *list;
    size_t n;
    if (!proc_stack_room(g->in->p, STACK_NEEDED) || dir.len > PATH_LIMIT)
        return;
    if (more && (!first || rest.len))
        walk(g, dir, rest, true);
    else if (first && dir.len)
        add_path(g, dir);
    if (proc_list(g->in->p, dir.len ? dir.data : ".", &list, &n))
        return;
    for (size_t i = 0; i < n; i++) {
        proc_tick(g->in->p, 1);
        if (hidden(list[i].name) && !SHOPT(g->in, DOTGLOB))
            continue;
        Slice path = join_path(g, dir, list[i].name);
        if (!more)
            add_path(g, path);
        if (list[i].type == S_IFDIR)
            walk_below(g, join_path(g, path, SLICE("/")), rest, more, false);
    }
}

static void walk_matching(Glob *g, Slice dir, Slice component, Slice rest, bool more)
{
    VDirent *list;
    size_t n;
    if (proc_list(g->in->p, dir.len ? dir.data : ".", &list, &n))
        return;
    unsigned flags = g->flags | PAT_PATHNAME | (SHOPT(g->in, DOTGLOB) ? 0u : (unsigned)PAT_PERIOD);
    Pat *pat = pat_compile(mem_of(g->in), component, flags);
    if (!pat)
        lang_nomem(g->in);
    for (size_t i = 0; i < n; i++) {
        proc_tick(g->in->p, 1);
        if (pat_match(&g->env, pat, list[i].name))
            reached(g, join_path(g, dir, list[i].name), more, rest);
    }
    if (SHOPT(g->in, GLOBSKIPDOTS))
        return;
    static const Slice dots[] = {{".", 1}, {"..", 2}};
    for (size_t i = 0; i < 2; i++)
        if (component.len && component.data[0] == '.' && pat_match(&g->env, pat, dots[i]))
            reached(g, join_path(g, dir, dots[i]), more, rest);
}

/* A component ends at a slash that no bracket or group holds back: bash's rule is simply the slash. */
static void walk(Glob *g, Slice dir, Slice rest, bool more)
{
    size_t slashes = 0;
    while (slashes < rest.len && rest.data[slashes] == '/')
        slashes++;
    dir = slashes ? join_path(g, dir, slice(rest.data, slashes)) : dir;
    rest = slice_from(rest, slashes);
    (void)more;
    if (!rest.len) { /* the pattern ended in a slash: directories only */
        add_path(g, dir);
        return;
    }
    size_t end = slice_find(rest, '/');
    Slice component = slice(rest.data, end), after = slice_from(rest, MIN(end + 1, rest.len));
    bool next = end < rest.len;
    if (slice_is(component, "**") && SHOPT(g->in, GLOBSTAR)) {
        while (next && (slice_is(after, "**") || slice_starts(after, SLICE("**/")))) { /* repeated ones are one */
            next = after.len > 2;
            after = slice_from(after, MIN((size_t)3, after.len));
        }
        walk_below(g, dir, after, next, true);
    } else if (pat_is_literal(component, g->flags)) {
        reached(g, join_path(g, dir, unescaped(mem_of(g->in), component)), next, after);
    } else {
        walk_matching(g, dir, component, after, next);
    }
}

/* Removes what GLOBIGNORE names. */
static void ignore_some(Glob *g)
{
    Slice list;
    Name name = name_of(SLICE("GLOBIGNORE"));
    if (!lang_get(g->in, &name, &list) || !list.len)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < g->count; i++) {
        bool ignored = false;
        for (Slice left = list; left.len && !ignored;) {
            size_t n = slice_find(left, ':');
            Pat *pat = pat_compile(mem_of(g->in), slice(left.data, n), g->flags);
            ignored = pat && pat_match(&g->env, pat, g->found[i]);
            left = slice_from(left, MIN(n + 1, left.len));
        }
        if (!ignored)
            g->found[kept++] = g->found[i];
    }
    g->count = kept;
}

Slice *glob_paths(Interp *in, Slice pattern, size_t *count)
{
    Glob g = {.in = in, .env = proc_re_env(in->p)};
    g.flags = (SHOPT(in, EXTGLOB) ? PAT_EXTGLOB : 0u) | (SHOPT(in, NOCASEGLOB) ? PAT_ICASE : 0u);
    if (!pat_is_literal(pattern, g.flags))
        walk(&g, SLICE(""), pattern, false);
    ignore_some(&g);
    merge_sort(mem_of(in), g.found, g.count, sizeof(Slice), compare_slices);
    *count = g.count;
    return g.found;
}

bool glob_expand(Interp *in, Slice pattern, Fields *out)
{
    size_t n;
    Slice *found = glob_paths(in, pattern, &n);
    for (size_t i = 0; i < n; i++)
        fields_add(in, out, (char *)(uintptr_t)found[i].data);
    return n > 0;
}
