/* walk: files below the operands, in the order of names. */
#include "rg.h"

static void search_file(Rg *g, const char *shown, bool explicit)
{
    if (g->show == SHOW_FILES) {
        g->name = shown;
        g->matched = true;
        if (g->quiet)
            return;
        rg_print_name(g, 0);
        out_char(g->p->out, g->null_name ? 0 : '\n');
        return;
    }
    int fd = proc_open(g->p, shown, V_READ | V_NONBLOCK, 0);
    if (fd < 0) {
        rg_complain(g, shown, fd);
        return;
    }
    rg_search(g, shown, fd, explicit);
    proc_close(g->p, fd);
}

static bool done(const Rg *g) { return g->quiet && g->matched && !g->stats; }

static const char *join(Rg *g, const char *dir, Slice name)
{
    size_t len = strlen(dir);
    return mem_printf(&g->p->mem, "%s%s%.*s", dir, len == 0 || dir[len - 1] == '/' ? "" : "/", (int)name.len, name.data);
}

typedef struct { const VDirent *entry; int64_t time; uint32_t ns; } Item;

static int64_t order(const Rg *g, const Item *a, const Item *b)
{
    if (g->sort == SORT_PATH)
        return slice_cmp(a->entry->name, b->entry->name);
    return a->time != b->time ? (a->time > b->time) - (a->time < b->time) : (int64_t)a->ns - (int64_t)b->ns;
}

static void sort_items(const Rg *g, Item *items, size_t count, Item *scratch)
{
    if (count < 2)
        return;
    size_t half = count / 2, i = 0, j = half, n = 0;
    sort_items(g, items, half, scratch);
    sort_items(g, items + half, count - half, scratch);
    while (i < half && j < count) {
        int64_t c = order(g, &items[i], &items[j]);
        scratch[n++] = (g->sort_reverse ? c >= 0 : c <= 0) ? items[i++] : items[j++];
    }
    while (i < half)
        scratch[n++] = items[i++];
    memcpy(items, scratch, n * sizeof *items);
}

static Item *sorted(Rg *g, const char *dir, const VDirent *list, size_t count)
{
    Item *items = mem_array(&g->p->mem, count + 1, Item);
    for (size_t i = 0; i < count; i++) {
        VStat st;
        items[i].entry = &list[i];
        if (g->sort == SORT_PATH || proc_stat(g->p, join(g, dir, list[i].name), 0, &st) != 0)
            continue;
        items[i].time = g->sort == SORT_MODIFIED ? st.mtime : g->sort == SORT_ACCESSED ? st.atime : st.btime;
        items[i].ns = g->sort == SORT_MODIFIED ? st.mtime_ns : g->sort == SORT_ACCESSED ? st.atime_ns : st.btime_ns;
    }
    sort_items(g, items, count, mem_array(&g->p->mem, count + 1, Item));
    return items;
}

static void walk(Rg *g, const char *dir, const char *shown, const RuleDir *above, int64_t depth, uint32_t device);

static void visit(Rg *g, const VDirent *entry, const char *dir, const char *shown, const RuleDir *rules, int64_t depth, uint32_t device)
{
    const char *path = join(g, dir, entry->name), *name = path + strlen(path) - entry->name.len, *out = join(g, shown, entry->name);
    VStat st;
    uint32_t mode = entry->type;
    bool link = S_ISLNK(mode);
    if (link && !g->follow)
        return;
    if (link || g->max_size >= 0 || g->one_device) {
        if (proc_stat(g->p, path, 0, &st) != 0)
            return;
        mode = st.mode;
        if ((g->one_device && st.dev != device) || (S_ISREG(mode) && g->max_size >= 0 && st.size > (uint64_t)g->max_size))
            return;
    }
    if (rg_ignored(g, rules, path, name, S_ISDIR(mode)))
        return;
    if (S_ISDIR(mode))
        walk(g, path, out, rules, depth + 1, device);
    else if (S_ISREG(mode))
        search_file(g, out, false);
}

static void check_link(Rg *g, const VDirent *entry, const char *dir, const char *shown)
{
    MemMark mark = mem_mark(&g->p->mem);
    VStat st;
    int err = S_ISLNK(entry->type) ? proc_stat(g->p, join(g, dir, entry->name), 0, &st) : 0;
    if (err) {
        const char *out = join(g, shown, entry->name);
        rg_complain(g, mem_printf(&g->p->mem, "%s: IO error for operation on %s", out, out), err);
    }
    mem_reset(&g->p->mem, mark);
}

/* `dir` is absolute; `shown` is how names below it are printed. */
static void walk(Rg *g, const char *dir, const char *shown, const RuleDir *above, int64_t depth, uint32_t device)
{
    if (g->max_depth >= 0 && depth > g->max_depth)
        return;
    if (!proc_stack_room(g->p, 32768)) {
        rg_complain(g, shown, ELOOP);
        return;
    }
    VDirent *list;
    size_t count;
    int err = proc_list(g->p, dir, &list, &count);
    if (err) {
        rg_complain(g, *shown ? shown : ".", err);
        return;
    }
    const RuleDir *rules = rg_rules_of(g, dir, above);
    Item *items = sorted(g, dir, list, count);
    for (size_t i = 0; i < count && g->follow; i++)
        check_link(g, items[i].entry, dir, shown);
    for (size_t i = 0; i < count && !done(g); i++) {
        MemMark mark = mem_mark(&g->p->mem);
        visit(g, items[i].entry, dir, shown, rules, depth, device);
        mem_reset(&g->p->mem, mark);
        proc_tick(g->p, 1);
    }
}

void rg_operand(Rg *g, const char *path, bool implicit)
{
    VStat st;
    if (done(g))
        return;
    if (strcmp(path, "-") == 0) {
        rg_search(g, "<stdin>", 0, true);
        return;
    }
    int err = proc_stat(g->p, path, 0, &st);
    if (err) {
        rg_complain(g, path, err);
        return;
    }
    if (!S_ISDIR(st.mode)) {
        search_file(g, path, true);
        return;
    }
    char *absolute;
    err = proc_realpath(g->p, path, REALPATH_EXISTING, &absolute);
    if (err) {
        rg_complain(g, path, err);
        return;
    }
    size_t n = strlen(absolute);
    const char *parent = strrchr(absolute, '/');
    const RuleDir *above = NULL;
    if (n > 1)
        above = rg_rules_above(g, parent == absolute ? "/" : mem_copy(&g->p->mem, slice(absolute, (size_t)(parent - absolute))));
    walk(g, absolute, implicit ? "" : path, above, 1, st.dev);
}
