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
