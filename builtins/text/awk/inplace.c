/* -i inplace: what is printed while a file is read becomes the file. */
#include "run.h"

#include <sys/stat.h>

static NORETURN void failed(Awk *w, const char *what, const char *name, int error)
{
    awk_fatal(w, "inplace: %s `%s': %s", what, name, error_text(error));
}

void in_place_begin(Awk *w, Slice name)
{
    Proc *p = w->p;
    VStat st;
    char *path = mem_copy(&p->keep, name);
    w->out = &w->standard;
    w->in_place_name = NULL;
    if (w->input.fd == 0 || proc_fstat(p, w->input.fd, &st) || !S_ISREG(st.mode)) {
        awk_warning(w, "inplace: in-place editing is only done on regular files: `%s'", path);
        return;
    }
    uint32_t random;
    proc_random(p, &random, sizeof random);
    w->in_place_temporary = mem_printf(&p->keep, "%s.gawk.%06x", path, random & 0xFFFFFF);
    int fd = proc_open(p, w->in_place_temporary, V_WRITE | V_CREATE | V_EXCL, 0600);
    if (fd < 0)
        failed(w, "cannot create", w->in_place_temporary, fd);
    proc_fchmod(p, fd, st.mode & 07777);
    w->in_place_name = string_new(w, name);
    output_init(p, &w->in_place_out, fd);
    w->out = &w->in_place_out;
}

/* inplace::suffix would need namespaces; INPLACE_SUFFIX is the older name gawk still reads. */
static void back_up(Awk *w)
{
    MapEntry *e = map_get(&w->prog.global_names, SLICE("INPLACE_SUFFIX"));
    if (!e)
        e = map_get(&w->prog.global_names, SLICE("inplace::suffix"));
    if (!e)
        return;
    String *s = value_string(w, &w->globals[(uintptr_t)e->value - 1]);
    const char *name = w->in_place_name->data;
    if (s->len) {
        int err = proc_rename(w->p, name, mem_printf(&w->p->keep, "%s%s", name, s->data), false);
        if (err)
            failed(w, "cannot rename", name, err);
    }
    string_release(w, s);
}

void in_place_end(Awk *w)
{
    if (!w->in_place_name)
        return;
    w->out = &w->standard;
    output_flush(&w->in_place_out);
    proc_close(w->p, w->in_place_out.fd);
    back_up(w);
    int err = proc_rename(w->p, w->in_place_temporary, w->in_place_name->data, false);
    if (err)
        failed(w, "cannot rename", w->in_place_temporary, err);
    string_release(w, w->in_place_name);
    w->in_place_name = NULL;
}
