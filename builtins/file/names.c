/* names: paths taken apart and put together, words that options take, questions. */
#include "file.h"

Slice base_name(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t from = end;
    if (end == 1 && path[0] == '/')
        return slice(path, 1);
    while (from && path[from - 1] != '/')
        from--;
    return slice(path + from, end - from);
}

Slice dir_name(const char *path)
{
    Slice base = base_name(path);
    size_t end = (size_t)(base.data - path);
    if (*path == '/' && end == 0)
        return slice(path, 1);
    while (end > 1 && path[end - 1] == '/')
        end--;
    return end ? slice(path, end) : SLICE(".");
}

const char *path_join(Proc *p, const char *dir, Slice name)
{
    size_t len = strlen(dir);
    return mem_printf(&p->mem, "%s%s%.*s", dir, len && dir[len - 1] == '/' ? "" : "/", (int)name.len, name.data);
}

void strip_slashes(char *path)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        path[--len] = 0;
}

bool is_dot(Slice name) { return slice_is(name, ".") || slice_is(name, ".."); }

bool ask(Proc *p)
{
    char c, first = 0;
    output_flush(p->err);
    for (bool start = true; proc_read(p, 0, &c, 1) == 1 && c != '\n'; start = false)
        if (start)
            first = c;
    return first == 'y' || first == 'Y';
}

static void list_words(Proc *p, const Word *words)
{
    const Word *before = NULL;
    out_str(p->err, "Valid arguments are:");
    for (const Word *w = words; w->word; before = w++)
        out_printf(p->err, before && before->value == w->value ? ", %s" : "\n  - %s", quote(p, w->word));
    out_char(p->err, '\n');
}

int choose(Proc *p, Args *args, const char *option, const char *value, const Word *words)
{
    const Word *found = NULL;
    bool several = false;
    size_t len = strlen(value);
    for (const Word *w = words; w->word; w++) {
        if (strncmp(w->word, value, len) != 0)
            continue;
        if (w->word[len] == 0)
            return w->value;
        several = several || (found && found->value != w->value);
        found = w;
    }
    if (found && !several)
        return found->value;
    warn(p, "%s argument %s for %s", several ? "ambiguous" : "invalid", quote(p, value), quote(p, option));
    list_words(p, words);
    out_printf(p->err, "Try '%s --help' for more information.\n", p->name);
    output_flush(p->err);
    (void)args;
    proc_fail(p, 1); /* also where a bad option gives 2 */
}
