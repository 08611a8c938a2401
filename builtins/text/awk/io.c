/* awk's files, pipes and coprocesses. Commands are ours: `sh -c` by spawn, at the other end of a pipe. */
#include "awk.h"

enum { OUT_BUFFER = 16 * 1024 };

void set_errno_text(Awk *w, const char *text)
{
    Value *v = &w->globals[G_ERRNO];
    value_release(w, v);
    *v = value_plain(w, slice_str(text));
}

void set_errno(Awk *w, int error) { set_errno_text(w, error_text(error)); }

/* ---------- starting commands ---------- */

/* What a child gets: the pipes' ends, and none of our other streams. In p->mem. */
static SpawnFd *child_fds(Awk *w, const SpawnFd *first, size_t *n, const int *more, size_t nmore)
{
    size_t cap = *n + nmore;
    for (const Redirect *r = w->redirects; r; r = r->next)
        cap += 2;
    SpawnFd *fds = mem_array(&w->p->mem, cap + 1, SpawnFd);
    size_t count = *n;
    if (count)
        memcpy(fds, first, count * sizeof *fds);
    for (size_t i = 0; i < nmore; i++)
        if (more[i] > 2)
            fds[count++] = (SpawnFd){more[i], -1};
    for (const Redirect *r = w->redirects; r; r = r->next) {
        if (r->writing && !r->standard)
            fds[count++] = (SpawnFd){r->out.fd, -1};
        if (r->reading && !r->standard)
            fds[count++] = (SpawnFd){r->in.fd, -1};
    }
    *n = count;
    return fds;
}

static pid_t start(Awk *w, const char *command, const SpawnFd *fds, size_t nfds)
{
    static char sh[] = "sh", c[] = "-c";
    char *argv[] = {sh, c, mem_strdup(&w->p->mem, command), NULL};
    SpawnAttr attr = {.fds = fds, .nfds = nfds};
    redirect_flush_all(w);
    return proc_spawn(w->p, argv, NULL, &attr);
}

/* What system() and close() return: the status, or 256 and the signal. */
static double status_value(int wstatus)
{
    if (wstatus & 127)
        return 256 + (wstatus & 127) + (wstatus & 128 ? 256 : 0);
    return (wstatus >> 8) & 255;
}

double run_system(Awk *w, String *command)
{
    static char sh[] = "sh", c[] = "-c";
    MemMark mark = mem_mark(&w->p->mem);
    char *argv[] = {sh, c, mem_strdup(&w->p->mem, command->data), NULL};
    redirect_flush_all(w);
    size_t n = 0;
    SpawnAttr attr = {.fds = child_fds(w, NULL, &n, NULL, 0)};
    attr.nfds = n;
    int status = proc_run(w->p, argv, NULL, &attr);
    mem_reset(&w->p->mem, mark);
    return status < 0 ? 127 : status_value(status);
}

static int pipe_command(Awk *w, Redirect *r)
{
    bool to = r->kind != RED_PIPE_IN, from = r->kind != RED_PIPE_OUT;
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    int err = to ? proc_pipe(w->p, out) : 0;
    if (!err && from)
        err = proc_pipe(w->p, in);
    if (err)
        return err;
    SpawnFd ends[2];
    size_t n = 0;
    if (to)
        ends[n++] = (SpawnFd){0, out[0]};
    if (from)
        ends[n++] = (SpawnFd){1, in[1]};
    int all[] = {out[0], out[1], in[0], in[1]};
    MemMark mark = mem_mark(&w->p->mem);
    const SpawnFd *fds = child_fds(w, ends, &n, all, 4);
    r->pid = start(w, r->name->data, fds, n);
    mem_reset(&w->p->mem, mark);
    if (to)
        proc_close(w->p, out[0]);
    if (from)
        proc_close(w->p, in[1]);
    if (r->pid < 0)
        return (int)r->pid;
    if (to) {
        r->writing = true;
        output_init(w->p, &r->out, out[1]);
    }
    if (from) {
        r->reading = true;
        reader_init(w, &r->in, in[0]);
    }
    return 0;
}

/* ---------- opening ---------- */

static Redirect *find(Awk *w, RedirectKind kind, Slice name)
{
    for (Redirect *r = w->redirects; r; r = r->next)
        if (r->kind == kind && slice_eq(string_slice(r->name), name))
            return r;
    return NULL;
}

static int special_fd(Slice name)
{
    if (slice_is(name, "/dev/stdin") || slice_is(name, "-"))
        return 0;
    if (slice_is(name, "/dev/stdout"))
        return 1;
    return slice_is(name, "/dev/stderr") ? 2 : -1;
}

static int open_out(Awk *w, Redirect *r)
{
    int special = special_fd(string_slice(r->name));
    r->writing = true;
    if (special == 1 || special == 2 || (special == 0 && r->name->len == 1)) {
        r->standard = true;
        r->to = special == 2 ? w->p->err : &w->standard;
        return 0;
    }
    int fd = proc_open(w->p, r->name->data, V_WRITE | V_CREATE | (r->append ? V_APPEND : V_TRUNC), 0666);
    if (fd < 0)
        return fd;
    proc_cloexec(w->p, fd, true);
    output_init(w->p, &r->out, fd);
    return 0;
}

static int open_in(Awk *w, Redirect *r)
{
    int special = special_fd(string_slice(r->name));
    VStat st;
    int fd = special == 0 ? 0 : proc_open(w->p, r->name->data, V_READ, 0);
    if (fd < 0)
        return fd;
    if (fd && proc_fstat(w->p, fd, &st) == 0 && (st.mode & 0170000) == 0040000) {
        proc_close(w->p, fd);
        return -EISDIR;
    }
    if (fd)
        proc_cloexec(w->p, fd, true);
    r->reading = true;
    r->standard = special == 0;
    if (r->standard && w->stdin_reader) {
        r->shared_in = w->stdin_reader;
        return 0;
    }
    reader_init(w, &r->in, fd);
    return 0;
}

static Redirect *redirect_make(Awk *w, RedirectKind kind, Slice name)
{
    unsigned class = 0;
    Redirect *r = heap_alloc(&w->heap, sizeof *r, &class);
    memset(r, 0, sizeof *r);
    r->class = class;
    r->kind = kind;
    r->name = string_new(w, name);
    r->to = &r->out;
    return r;
}

static void redirect_drop(Awk *w, Redirect *r)
{
    string_release(w, r->name);
    heap_free(&w->heap, r, r->class);
}

Redirect *redirect_open(Awk *w, RedirectKind kind, bool append, const Value *name)
{
    String *s = value_string(w, name);
    Redirect *r = find(w, kind, string_slice(s));
    int err = 0;
    if (!r) {
        if (s->len == 0)
            awk_fatal(w, "expression for `%s' redirection has null string value",
                  kind == RED_FILE_IN ? "<" : kind == RED_FILE_OUT ? (append ? ">>" : ">") : kind == RED_TWO_WAY ? "|&" : "|");
        if (w->sandbox)
            awk_fatal(w, "redirection not allowed in sandbox mode");
        r = redirect_make(w, kind, string_slice(s));
        r->append = append;
        err = kind == RED_FILE_OUT ? open_out(w, r) : kind == RED_FILE_IN ? open_in(w, r) : pipe_command(w, r);
        if (err) {
            redirect_drop(w, r);
            set_errno(w, -err);
            if (kind == RED_FILE_OUT)
                awk_fatal(w, "cannot redirect to `%s': %s", s->data, error_text(err));
            r = NULL;
        } else {
            r->next = w->redirects;
            w->redirects = r;
        }
    }
    string_release(w, s);
    return r;
}

/* ---------- closing ---------- */

static void close_writing(Awk *w, Redirect *r)
{
    if (!r->writing)
        return;
    r->writing = false;
    output_flush(r->to);
    if (!r->standard)
        proc_close(w->p, r->out.fd);
}

static void close_reading(Awk *w, Redirect *r)
{
    if (!r->reading)
        return;
    r->reading = false;
    if (w->borrowed_from == &r->in) {
        if (!w->record.text_owner)
            record_pin(w);
        w->borrowed_from = NULL;
    }
    if (!r->standard)
        proc_close(w->p, r->in.fd);
}

static int close_whole(Awk *w, Redirect *r)
{
    close_writing(w, r);
    close_reading(w, r);
    int result = 0;
    if (r->pid > 0) {
        int wstatus = 0;
        if (proc_wait(w->p, r->pid, &wstatus, 0, -1) == r->pid)
            result = (int)status_value(wstatus);
    }
    for (Redirect **at = &w->redirects; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            break;
        }
    redirect_drop(w, r);
    return result;
}

int redirect_close(Awk *w, Slice name, const char *how)
{
    Redirect *r = w->redirects;
    while (r && !slice_eq(string_slice(r->name), name))
        r = r->next;
    if (!r)
        return -1;
    if (how && r->kind == RED_TWO_WAY) {
        if (how[0] == 't' || how[0] == 'T')
            close_writing(w, r);
        else
            close_reading(w, r);
        return r->writing || r->reading ? 0 : close_whole(w, r);
    }
    return close_whole(w, r);
}

void redirect_close_all(Awk *w)
{
    while (w->redirects)
        close_whole(w, w->redirects);
}

void redirect_flush_all(Awk *w)
{
    output_flush(&w->standard);
    for (Redirect *r = w->redirects; r; r = r->next)
        if (r->writing)
            output_flush(r->to);
}

bool redirect_flush(Awk *w, Slice name)
{
    bool found = false;
    for (Redirect *r = w->redirects; r; r = r->next)
        if (slice_eq(string_slice(r->name), name) && r->writing) {
            output_flush(r->to);
            found = true;
        }
    return found;
}
