/* ignore: which files count: -g globs, ignore files, file types, hidden names; in that order, the first that has an opinion. */
#include "rg.h"

/* --- gitignore's patterns --- */

static size_t class_end(Slice p, size_t i)
{
    size_t j = i + 1;
    j += j < p.len && (p.data[j] == '!' || p.data[j] == '^');
    j += j < p.len && p.data[j] == ']';
    while (j < p.len && p.data[j] != ']')
        j += p.data[j] == '\\' ? 2 : 1;
    return j < p.len ? j : SIZE_MAX;
}

static char folded(char c, bool fold) { return fold && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool in_class(Slice p, size_t i, size_t end, char c, bool fold)
{
    bool negated = p.data[i + 1] == '!' || p.data[i + 1] == '^', hit = false;
    for (size_t j = i + 1 + negated; j < end; j++) {
        char low = folded(p.data[j], fold), high = low;
        if (j + 2 < end && p.data[j + 1] == '-') {
            high = folded(p.data[j + 2], fold);
            j += 2;
        }
        hit |= (unsigned char)low <= (unsigned char)c && (unsigned char)c <= (unsigned char)high;
    }
    return hit != negated;
}

/* * and ? stop at a slash, ** does not; {a,b} are alternatives. steps bounds the work. */
static bool glob_match(Slice p, size_t i, Slice s, size_t j, bool fold, unsigned *steps)
{
    while (i < p.len) {
        if (++*steps > 100000)
            return false;
        char c = p.data[i];
        if (c == '*') {
            bool deep = i + 1 < p.len && p.data[i + 1] == '*' && (i == 0 || p.data[i - 1] == '/');
            size_t next = i;
            while (next < p.len && p.data[next] == '*')
                next++;
            deep = deep && next - i == 2 && (next == p.len || p.data[next] == '/');
            if (deep && next == p.len)
                return j < s.len;
            if (deep) { /* any number of directories */
                for (size_t k = j;; k++) {
                    if (glob_match(p, next + 1, s, k, fold, steps))
                        return true;
                    while (k < s.len && s.data[k] != '/')
                        k++;
                    if (k == s.len)
                        return false;
                }
            }
            for (size_t k = j;; k++) {
                if (glob_match(p, next, s, k, fold, steps))
                    return true;
                if (k == s.len || s.data[k] == '/')
                    return false;
            }
        }
        if (j == s.len)
            return false;
        char x = folded(s.data[j], fold);
        size_t end;
        if (c == '?') {
            if (x == '/')
                return false;
            size_t n;
            utf8_decode(s.data + j, s.len - j, &n);
            j += n;
            i++;
            continue;
        }
        if (c == '[' && (end = class_end(p, i)) != SIZE_MAX) {
            if (x == '/' || !in_class(p, i, end, x, fold))
                return false;
            i = end + 1;
        } else {
            if (c == '\\' && i + 1 < p.len)
                c = p.data[++i];
            if (folded(c, fold) != x)
                return false;
            i++;
        }
        j++;
    }
    return j == s.len;
}

/* `path` is relative to the directory of the rule. */
static bool rule_matches(const Rule *r, Slice path, bool is_dir)
{
    unsigned steps = 0;
    if (r->dirs_only && !is_dir)
        return false;
    if (!r->anchored) {
        const char *slash = memrchr(path.data, '/', path.len);
        if (slash)
            path = slice_from(path, (size_t)(slash + 1 - path.data));
    }
    return glob_match(r->pattern, 0, path, 0, r->fold, &steps);
}

static Rule *add_rule(Rg *g, Rule *list, Slice line, bool fold, bool keep_blanks)
{
    if (line.len && line.data[line.len - 1] == '\r')
        line.len--;
    while (!keep_blanks && line.len && line.data[line.len - 1] == ' ' && !(line.len > 1 && line.data[line.len - 2] == '\\'))
        line.len--;
    if (!line.len || (!keep_blanks && line.data[0] == '#'))
        return list;
    Rule *r = mem_new(&g->p->keep, Rule);
    r->next = list;
    r->fold = fold;
    r->negated = line.data[0] == '!';
    line = slice_from(line, r->negated);
    if (line.len && line.data[line.len - 1] == '/') {
        r->dirs_only = true;
        line.len--;
    }
    r->anchored = memchr(line.data, '/', line.len) != NULL;
    if (line.len && line.data[0] == '/')
        line = slice_from(line, 1);
    r->pattern = slice(mem_copy(&g->p->keep, line), line.len);
    for (size_t i = 0; fold && i < line.len; i++) {
        char *c = (char *)(uintptr_t)r->pattern.data + i;
        *c = folded(*c, true);
    }
    return line.len ? r : list;
}

/* {a,b} of a glob given as an option is one rule for each alternative. */
static void add_braced(Rg *g, Slice text, bool fold, unsigned depth)
{
    size_t open = slice_find(text, '{'), close = open;
    unsigned level = 0;
    for (; close < text.len; close++) {
        level += text.data[close] == '{';
        if (text.data[close] == '}' && --level == 0)
            break;
    }
    if (open >= text.len || close >= text.len || depth > 8) {
        g->globs = add_rule(g, g->globs, text, fold, true);
        return;
    }
    size_t from = open + 1;
    level = 0;
    for (size_t i = from; i <= close; i++) {
        char c = text.data[i];
        if ((c == ',' && level == 0) || i == close) {
            char *one = mem_printf(&g->p->keep, "%.*s%.*s%.*s", (int)open, text.data, (int)(i - from), text.data + from, (int)(text.len - close - 1), text.data + close + 1);
            add_braced(g, slice_str(one), fold, depth + 1);
            from = i + 1;
        }
        level += c == '{';
        level -= c == '}' && level > 0;
    }
}

void rg_add_glob(Rg *g, const char *text, bool fold)
{
    g->any_positive_glob |= *text != '!';
    add_braced(g, slice_str(text), fold, 0);
}

static Rule *read_rules(Rg *g, const char *path, Rule *list)
{
    Slice text;
    if (read_file(g->p, path, &text) != 0)
        return list;
    while (text.len) {
        size_t end = slice_find(text, '\n');
        list = add_rule(g, list, slice(text.data, end), false, false);
        text = slice_from(text, MIN(end + 1, text.len));
    }
    return list;
}

void rg_add_rule_file(Rg *g, const char *path)
{
    VStat st;
    int err = proc_stat(g->p, path, 0, &st);
    if (err) {
        bool failed = g->failed;
        rg_complain(g, path, err);
        g->failed = failed;
        return;
    }
    g->extra = read_rules(g, path, g->extra);
}

const RuleDir *rg_rules_of(Rg *g, const char *dir, const RuleDir *parent)
{
    Mem *m = &g->p->mem;
    RuleDir *d = mem_new(&g->p->keep, RuleDir);
    VStat st;
    d->path = strcmp(dir, "/") == 0 ? "" : mem_strdup(&g->p->keep, dir);
    d->parent = parent;
    d->repository = proc_stat(g->p, mem_printf(m, "%s/.git", d->path), 0, &st) == 0;
    if (!g->use_files)
        return d;
    if (g->use_dot) {
        d->rules[RULES_CUSTOM] = read_rules(g, mem_printf(m, "%s/.rgignore", d->path), NULL);
        d->rules[RULES_IGNORE] = read_rules(g, mem_printf(m, "%s/.ignore", d->path), NULL);
    }
    if (g->use_git)
        d->rules[RULES_GIT] = read_rules(g, mem_printf(m, "%s/.gitignore", d->path), NULL);
    if (g->use_git && g->use_exclude && d->repository)
        d->rules[RULES_EXCLUDE] = read_rules(g, mem_printf(m, "%s/.git/info/exclude", d->path), NULL);
    return d;
}

/* Of the directories above `dir`, an absolute path. */
const RuleDir *rg_rules_above(Rg *g, const char *dir)
{
    const RuleDir *d = NULL;
    if (!g->use_parents)
        return NULL;
    for (const char *c = dir; c; c = strchr(c + 1, '/'))
        d = rg_rules_of(g, c == dir ? "/" : mem_copy(&g->p->mem, slice(dir, (size_t)(c - dir))), d);
    return strcmp(dir, "/") == 0 ? d : rg_rules_of(g, dir, d);
}

/* 1: ignored, -1: wanted although, 0: no word of it. */
static int decide(const Rule *rules, Slice path, bool is_dir)
{
    for (const Rule *r = rules; r; r = r->next)
        if (rule_matches(r, path, is_dir))
            return r->negated ? -1 : 1;
    return 0;
}

static int by_files(const Rg *g, const RuleDir *dir, const char *path, bool is_dir)
{
    bool in_git = !g->need_git;
    for (const RuleDir *d = dir; d; d = d->parent)
        in_git |= d->repository;
    for (int kind = 0; kind < RULE_KINDS; kind++)
        for (const RuleDir *d = dir; d && (kind < RULES_GIT || in_git); d = d->parent) {
            int word = decide(d->rules[kind], slice_str(path + strlen(d->path) + 1), is_dir);
            if (word)
                return word;
            if (kind >= RULES_GIT && d->repository)
                break;
        }
    return 0;
}

static Slice inside(const Rg *g, const char *path)
{
    size_t n = strlen(g->cwd);
    bool under = strncmp(path, g->cwd, n) == 0 && path[n] == '/';
    return slice_str(under ? path + n + 1 : path + 1);
}

static int by_type(const Rg *g, const char *name)
{
    for (const TypeChoice *c = g->type_choices; c; c = c->next)
        for (const TypeDef *t = g->types; t; t = t->next) {
            unsigned steps = 0;
            if ((slice_eq(t->name, c->name) || slice_is(c->name, "all")) && glob_match(t->glob, 0, slice_str(name), 0, false, &steps))
                return c->negated ? 1 : -1;
        }
    return g->any_positive_type ? 1 : 0;
}

/* `path` is absolute. */
bool rg_ignored(Rg *g, const RuleDir *dir, const char *path, const char *name, bool is_dir)
{
    int word = -decide(g->globs, inside(g, path), is_dir);
    if (!word && g->any_positive_glob && !is_dir)
        word = 1;
    if (word)
        return word > 0;
    word = by_files(g, dir, path, is_dir);
    if (!word)
        word = decide(g->extra, inside(g, path), is_dir);
    if (word > 0)
        return true;
    if (!is_dir && g->type_choices) {
        int type = by_type(g, name);
        if (type > 0)
            return true;
        word = type ? type : word;
    }
    return !g->hidden && name[0] == '.' && word == 0;
}

/* --- types --- */

void rg_add_type(Rg *g, const char *text)
{
    const char *colon = strchr(text, ':');
    if (!colon || colon == text || !colon[1]) {
        output_flush(g->p->out);
        out_str(g->p->err, "invalid definition (format is type:glob, e.g., html:*.html)\n");
        output_flush(g->p->err);
        proc_fail(g->p, 2);
    }
    if (strncmp(colon, ":include:", 9) == 0) {
        for (const char *c = colon + 9; *c;) {
            size_t n = strcspn(c, ",");
            for (TypeDef *t = g->types; t; t = t->next)
                if (slice_eq(t->name, slice(c, n))) {
                    TypeDef *made = mem_new(&g->p->keep, TypeDef);
                    *made = (TypeDef){slice(text, (size_t)(colon - text)), t->glob, g->types};
                    g->types = made;
                }
            c += n + (c[n] == ',');
        }
        return;
    }
    TypeDef *t = mem_new(&g->p->keep, TypeDef);
    *t = (TypeDef){slice(text, (size_t)(colon - text)), slice_str(colon + 1), g->types};
    g->types = t;
}

void rg_choose_type(Rg *g, const char *name, bool negated)
{
    bool known = strcmp(name, "all") == 0;
    for (const TypeDef *t = g->types; t; t = t->next)
        known |= slice_is(t->name, name);
    if (!known) {
        output_flush(g->p->out);
        out_printf(g->p->err, "unrecognized file type: %s\n", name);
        output_flush(g->p->err);
        proc_fail(g->p, 2);
    }
    TypeChoice *c = mem_new(&g->p->keep, TypeChoice);
    *c = (TypeChoice){slice_str(name), negated, g->type_choices};
    g->type_choices = c;
    g->any_positive_type |= !negated;
}

/* In the order of names, globs in theirs. */
void rg_list_types(Rg *g)
{
    Slice last = {"", 0};
    for (;;) {
        const TypeDef *next = NULL;
        for (const TypeDef *t = g->types; t; t = t->next)
            if (slice_cmp(t->name, last) > 0 && (!next || slice_cmp(t->name, next->name) < 0))
                next = t;
        if (!next)
            return;
        last = next->name;
        out_write(g->p->out, last);
        out_str(g->p->out, ": ");
        Slice glob = {"", 0};
        for (bool first = true;; first = false) {
            const TypeDef *least = NULL;
            for (const TypeDef *t = g->types; t; t = t->next)
                if (slice_eq(t->name, last) && slice_cmp(t->glob, glob) > 0 && (!least || slice_cmp(t->glob, least->glob) < 0))
                    least = t;
            if (!least)
                break;
            glob = least->glob;
            out_str(g->p->out, first ? "" : ", ");
            out_write(g->p->out, glob);
        }
        out_char(g->p->out, '\n');
        proc_tick(g->p, 10);
    }
}
