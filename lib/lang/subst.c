/* subst: command substitution by a plain call whose output is collected, and process substitution. */
#include <sys/stat.h>

#include "interp.h"

enum { FIRST_PROCSUB_FD = 63, LAST_PROCSUB_FD = 10 };

static Slice trim_newlines(Interp *in, Slice s)
{
    size_t zero = slice_find(s, 0), n = 0;
    if (zero == s.len) {
        while (s.len && s.data[s.len - 1] == '\n')
            s.len--;
        return slice(mem_copy(mem_of(in), s), s.len);
    }
    lang_error(in, "warning: command substitution: ignored null byte in input");
    char *out = mem_alloc(mem_of(in), s.len + 1);
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i])
            out[n++] = s.data[i];
    while (n && out[n - 1] == '\n')
        n--;
    out[n] = 0;
    return slice(out, n);
}

/* $(< file) reads the file without a process. */
static const Redir *only_input(const Node *body)
{
    while (body && body->kind == NODE_LIST && body->list.count == 1 && !body->list.items[0].background)
        body = body->list.items[0].node;
    if (!body || body->kind != NODE_SIMPLE || body->simple.nwords || body->simple.nassigns || !body->redirs || body->redirs->next)
        return NULL;
    const Redir *r = body->redirs;
    return r->kind == REDIR_IN && !r->var && r->fd == 0 ? r : NULL;
}

static Slice read_substitution(Interp *in, const Redir *r)
{
    Slice path, text;
    if (unlikely(OPT(in, VERBOSE))) { /* bash reads this text anew, and so shows it */
        out_printf(in->p->err, "< %.*s\n", (int)r->word->source.len, r->word->source.data);
        output_flush(in->p->err);
    }
    in->subst_status = in->status = 1;
    if (!expand_single(in, r->word, &path)) {
        ambiguous(in, r);
        return SLICE("");
    }
    int err = read_file(in->p, path.data, &text);
    if (err) {
        lang_report(in, "%s: %s", path.data, error_text(err));
        return SLICE("");
    }
    in->subst_status = in->status = 0;
    return trim_newlines(in, text);
}

/* Text that did not parse is parsed when it is run, for the message. */
static int substitution_body(Interp *in, void *arg)
{
    const WordPart *part = arg;
    if (!part->command.body)
        return run_units(in, part->command.source, in->dyn.line, "command substitution");
    in->no_fork = is_one_command(in, part->command.body);
    return exec_node(in, part->command.body);
}

static bool is_blank(Slice s)
{
    while (s.len && strchr(" \t\n", s.data[0]))
        s = slice_from(s, 1);
    return s.len == 0;
}

static int substitution_main(Proc *p, void *arg)
{
    return shell_body(interp_of(p), substitution_body, arg);
}

NORETURN static void cannot_fork(Interp *in, int error)
{
    lang_error(in, "fork: %s", error_text(error));
    lang_fatal(in, 254);
}

enum { FORK_TRIES = 16 };

Proc *fork_child(Interp *in)
{
    int error;
    Proc *child = proc_child(in->p, &error);
    /* With too many processes: those that have ended are collected, and others are let run, as bash does when fork fails. */
    for (int n = 0; !child && error == -EAGAIN && n < FORK_TRIES; n++) {
        if (n && proc_sleep(in->p, 0) != 0)
            break;
        jobs_reap(in);
        child = proc_child(in->p, &error);
    }
    if (!child) {
        if (error == -ENOMEM)
            lang_nomem(in);
        cannot_fork(in, error);
    }
    return child;
}

typedef struct CaptureUnwind {
    Unwind unwind;
    File *capture;
} CaptureUnwind;

static void release_capture(Interp *in, Unwind *u) { file_unref(in->p->kernel, ((CaptureUnwind *)u)->capture); }

Slice command_substitute(Interp *in, const WordPart *part)
{
    const Node *body = part->command.body;
    const Redir *r = only_input(body);
    if (r)
        return read_substitution(in, r);
    if (!body && is_blank(part->command.source)) {
        in->subst_status = in->status = 0;
        return SLICE("");
    }
    Kernel *k = in->p->kernel;
    CaptureUnwind *u = mem_new(mem_of(in), CaptureUnwind);
    Unwind *mark = in->unwind;
    File *capture = u->capture = file_capture(k, 0);
    unwind_push(in, &u->unwind, release_capture);
    Proc *child = fork_child(in);
    if (!capture || proc_install(child, 1, capture) < 0)
        lang_nomem(in);
    Interp *ci = interp_child(in, child);
    ci->tracing = true;
    ci->trace_level++;
    ci->substituted = true;
    ci->subst = part;
    ci->subst_base = current_line(in);
    ci->subst_frame = ci->dyn.frame;
    if (unlikely(in->jobs != NULL))
        jobs_inherit(in, ci);
    if (!SHOPT(in, INHERIT_ERREXIT) && !OPT(in, POSIX))
        ci->st.options &= ~(UINT64_C(1) << OPT_ERREXIT);
    int wstatus = proc_call(child, substitution_main, (void *)(uintptr_t)part), status = WSTATUS_TO_SHELL(wstatus);
    proc_wait_sole_holder(in->p, capture); /* background jobs of the body may still write */
    Slice out = trim_newlines(in, file_captured(capture));
    unwind_to(in, mark);
    in->subst_status = in->status = status;
    return out;
}

/* ---------- <( ) and >( ) ---------- */

typedef struct ProcsubUnwind {
    Unwind unwind;
    int fd;
} ProcsubUnwind;

static void close_procsub(Interp *in, Unwind *u)
{
    int fd = ((ProcsubUnwind *)u)->fd;
    proc_close(in->p, fd);
    in->procsub_fds &= ~(UINT64_C(1) << fd);
}

/* bash hands them out from 63 downwards. */
static int high_fd(Interp *in, int fd, int highest)
{
    int to = highest;
    while (to > LAST_PROCSUB_FD && proc_fd_valid(in->p, to))
        to--;
    int err = proc_dup2(in->p, fd, to);
    proc_close(in->p, fd);
    return err < 0 ? err : to;
}

int move_high(Interp *in, int fd, int highest) { return high_fd(in, fd, highest); }

static int procsub_main(Proc *p, void *arg) { return shell_body(interp_of(p), substitution_body, arg); }

const char *process_substitute(Interp *in, const WordPart *part)
{
    int fds[2];
    int err = proc_pipe(in->p, fds);
    if (err) {
        lang_error(in, "cannot make pipe for process substitution: %s", error_text(err));
        lang_discard(in, 1);
    }
    bool reads = part->direction == '<'; /* the command reads what the process writes */
    Proc *child = fork_child(in);
    proc_dup2(child, reads ? fds[1] : fds[0], reads ? 1 : 0);
    proc_close(child, fds[0]);
    proc_close(child, fds[1]);
    Interp *ci = interp_child(in, child);
    ci->tracing = true;
    ci->trace_level++;
    for (int fd = LAST_PROCSUB_FD; fd <= FIRST_PROCSUB_FD; fd++)
        if (in->procsub_fds >> fd & 1)
            proc_close(child, fd);
    WordPart *own = mem_new(&child->keep, WordPart); /* a brace expansion's parts do not last */
    *own = *part;
    pid_t pid = proc_start(child, procsub_main, own, STACK_MEDIUM);
    proc_close(in->p, reads ? fds[1] : fds[0]);
    int fd = high_fd(in, reads ? fds[0] : fds[1], FIRST_PROCSUB_FD);
    if (pid < 0 || fd < 0)
        cannot_fork(in, pid < 0 ? (int)pid : fd);
    in->last_procsub = in->last_job = pid;
    in->procsub_fds |= UINT64_C(1) << fd;
    ProcsubUnwind *u = mem_new(mem_of(in), ProcsubUnwind);
    u->fd = fd;
    unwind_push(in, &u->unwind, close_procsub);
    return mem_printf(mem_of(in), "/dev/fd/%d", fd);
}
