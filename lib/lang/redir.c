/* redir: redirections, done left to right in this process and put back by the unwind list. */
#include <sys/stat.h>

#include "interp.h"

enum { PIPE_SIZE = 65536 };

typedef struct RedirUnwind {
    Unwind unwind;
    File *saved; /* NULL: it was closed */
    int fd;
    bool keep;   /* exec: stays as it is now */
} RedirUnwind;

static void put_back(Interp *in, Unwind *u)
{
    RedirUnwind *r = (RedirUnwind *)u;
    Kernel *k = in->p->kernel;
    if (!r->keep) {
        if (r->saved)
            proc_install(in->p, r->fd, r->saved);
        else
            proc_close(in->p, r->fd);
    }
    if (r->saved)
        file_unref(k, r->saved);
}

static void save_fd(Interp *in, int fd)
{
    RedirUnwind *r = mem_new(mem_of(in), RedirUnwind);
    r->fd = fd;
    r->saved = proc_file(in->p, fd);
    if (r->saved)
        file_ref(r->saved);
    unwind_push(in, &r->unwind, put_back);
}

/* Everything the current command has redirected stays. */
void keep_redirections(Interp *in)
{
    for (Unwind *u = in->unwind; u && u != in->command_mark; u = u->outer)
        if (u->undo == put_back)
            ((RedirUnwind *)u)->keep = true;
}

/* ---------- opening ---------- */

static bool report(Interp *in, Slice what, int error)
{
    lang_error(in, "%.*s: %s", (int)what.len, what.data, error_text(error));
    return false;
}

static int open_noclobber(Interp *in, const char *path, bool *exists)
{
    VStat st;
    *exists = proc_stat(in->p, path, 0, &st) == 0 && S_ISREG(st.mode);
    if (*exists)
        return -EEXIST;
    return proc_open(in->p, path, V_WRITE | V_CREATE, 0666);
}

static int open_target(Interp *in, const Redir *r, const char *path, bool *exists)
{
    switch (r->kind) {
    case REDIR_IN: return proc_open(in->p, path, V_READ, 0);
    case REDIR_OUT: case REDIR_BOTH:
        if (OPT(in, NOCLOBBER))
            return open_noclobber(in, path, exists);
        return proc_open(in->p, path, V_WRITE | V_CREATE | V_TRUNC, 0666);
    case REDIR_CLOBBER: return proc_open(in->p, path, V_WRITE | V_CREATE | V_TRUNC, 0666);
    case REDIR_APPEND: case REDIR_BOTH_APPEND: return proc_open(in->p, path, V_WRITE | V_CREATE | V_APPEND, 0666);
    case REDIR_RDWR: return proc_open(in->p, path, V_READ | V_WRITE | V_CREATE, 0666);
    default: return -EINVAL;
    }
}

/* Moves an open descriptor to where the redirection wants it. */
static bool settle(Interp *in, int from, int to)
{
    if (from == to)
        return true;
    int err = proc_dup2(in->p, from, to);
    proc_close(in->p, from);
    return err >= 0;
}

static bool refuse_network(Interp *in, Slice path)
{
    if (!slice_starts(path, SLICE("/dev/tcp/")) && !slice_starts(path, SLICE("/dev/udp/")))
        return false;
    lang_error(in, "%.*s: network redirections are not allowed", (int)path.len, path.data);
    return true;
}

void ambiguous(Interp *in, const Redir *r)
{
    Slice shown = word_shown(in, r->word);
    lang_error(in, "%.*s: ambiguous redirect", (int)shown.len, shown.data);
}

static bool redirect_file(Interp *in, const Redir *r, int fd)
{
    Slice path;
    if (!expand_single(in, r->word, &path)) {
        ambiguous(in, r);
        return false;
    }
    if (refuse_network(in, path))
        return false;
    if (unlikely(in->st.options & OPTION_RESTRICTED) && r->kind != REDIR_IN) {
        lang_error(in, "%.*s: restricted: cannot redirect output", (int)path.len, path.data);
        return false;
    }
    bool exists = false;
    /* The descriptor itself must be free or saved before another takes its number. */
    int got = open_target(in, r, path.data, &exists);
    if (got < 0) {
        if (exists)
            lang_error(in, "%s: cannot overwrite existing file", r->var ? r->var->text.data : path.data);
        else
            report(in, path, got);
        return false;
    }
    if (!settle(in, got, fd))
        return report(in, path, -EBADF);
    if (r->kind == REDIR_BOTH || r->kind == REDIR_BOTH_APPEND)
        return proc_dup2(in->p, 1, 2) >= 0;
    return true;
}

/* >&word: digits duplicate, digits- moves, - closes, and >&file means &>file. */
static bool redirect_dup(Interp *in, const Redir *r, int fd, bool *opened_both)
{
    Slice text;
    *opened_both = false;
    if (!expand_single(in, r->word, &text)) {
        ambiguous(in, r);
        return false;
    }
    if (slice_is(text, "-")) {
        proc_close(in->p, fd);
        return true;
    }
    bool move = text.len > 1 && text.data[text.len - 1] == '-';
    int64_t from;
    char *digits = mem_copy(mem_of(in), slice(text.data, text.len - move));
    if (parse_int(digits, &from) || digits[0] == '-' || digits[0] == '+') {
        if (r->kind == REDIR_DUP_OUT && !r->fd_given && !r->var) {
            *opened_both = true;
            return true;
        }
        lang_error(in, "%.*s: ambiguous redirect", (int)text.len, text.data);
        return false;
    }
    if (from > INT32_MAX || !proc_fd_valid(in->p, (int)from)) {
        return report(in, slice(r->word->source.data, r->word->source.len - (move && r->word->source.len > 1)), -EBADF);
    }
    if (from != fd && proc_dup2(in->p, (int)from, fd) < 0)
        return report(in, text, -EBADF);
    if (move && from != fd) {
        save_fd(in, (int)from);
        proc_close(in->p, (int)from);
    }
    return true;
}

/* What fits into a pipe comes by one, as in bash. */
static bool redirect_pipe(Interp *in, Slice text, int fd)
{
    int fds[2], err = proc_pipe(in->p, fds);
    if (err)
        return report(in, SLICE("cannot create temp file for here-document"), err);
    proc_write(in->p, fds[1], text);
    proc_close(in->p, fds[1]);
    if (fds[0] != fd) {
        err = proc_dup2(in->p, fds[0], fd);
        proc_close(in->p, fds[0]);
    }
    return err >= 0 || report(in, SLICE("cannot create temp file for here-document"), err);
}

static bool redirect_text(Interp *in, const Redir *r, int fd)
{
    Slice text = !r->word ? SLICE("") : r->kind == REDIR_HERESTRING ? expand_value(in, r->word) : expand_string(in, r->word);
    if (r->kind == REDIR_HERESTRING)
        text = slice_str(mem_printf(mem_of(in), "%.*s\n", (int)text.len, text.data));
    if (text.len <= PIPE_SIZE)
        return redirect_pipe(in, text, fd);
    File *f = file_from_bytes(in->p->kernel, text, NULL);
    if (!f)
        lang_nomem(in);
    int err = proc_install(in->p, fd, f);
    file_unref(in->p->kernel, f);
    return err >= 0 || report(in, SLICE("cannot create temp file for here-document"), err);
}

static bool redirect_to(Interp *in, const Redir *r, int fd)
{
    switch (r->kind) {
    case REDIR_HEREDOC: case REDIR_HERESTRING:
        return redirect_text(in, r, fd);
    case REDIR_DUP_IN: case REDIR_DUP_OUT: {
        bool both;
        if (!redirect_dup(in, r, fd, &both))
            return false;
        if (!both)
            return true;
        Redir file = *r;
        file.kind = REDIR_BOTH;
        save_fd(in, 2);
        return redirect_file(in, &file, fd);
    }
    default:
        return redirect_file(in, r, fd);
    }
}

/* {name}>file: a new descriptor from 10 up, its number in the variable; it stays open. {name}>&- closes. */
static bool redirect_variable(Interp *in, const Redir *r)
{
    Slice index = r->var_index ? expand_string(in, r->var_index) : SLICE(""), text;
    Slice name = r->var->text;
    bool closes = (r->kind == REDIR_DUP_IN || r->kind == REDIR_DUP_OUT) && slice_is(r->word->source, "-");
    if (closes) {
        int64_t fd;
        Slice ref = r->var_index ? slice_str(mem_printf(mem_of(in), "%.*s[%.*s]", (int)name.len, name.data, (int)index.len, index.data)) : name;
        const Var *v = var_find(in, name);
        bool set = false;
        if (r->var_index && v) {
            int64_t i = 0;
            if (v->value.kind == VALUE_ARRAY && arith_eval_text(in, index, &i))
                text = cell_text(mem_of(in), array_get(v->value.a, i));
            else
                text = SLICE("");
            set = text.len > 0;
        } else {
            set = var_text(in, name, &text);
        }
        if (!set || parse_int(mem_copy(mem_of(in), text), &fd) || fd < 0 || fd > INT32_MAX) {
            lang_error(in, "%.*s: ambiguous redirect", (int)ref.len, ref.data);
            return false;
        }
        proc_close(in->p, (int)fd);
        return true;
    }
    int fd = 10;
    while (proc_fd_valid(in->p, fd))
        fd++;
    if (!redirect_to(in, r, fd))
        return false;
    if (SHOPT(in, VARREDIR_CLOSE)) {
        RedirUnwind *u = mem_new(mem_of(in), RedirUnwind);
        u->fd = fd;
        unwind_push(in, &u->unwind, put_back);
    }
    char buf[24];
    size_t len;
    char *number = format_int(fd, buf, &len);
    bool ok = r->var_index ? var_set_element(in, name, index, slice(number, len), false) : var_set(in, name, slice(number, len), false);
    if (!ok)
        proc_close(in->p, fd);
    return ok;
}

static bool redirect(Interp *in, const Redir *r, bool save)
{
    if (r->var)
        return redirect_variable(in, r);
    if (save) {
        save_fd(in, r->fd);
        if (r->kind == REDIR_BOTH || r->kind == REDIR_BOTH_APPEND)
            save_fd(in, 2);
    }
    return redirect_to(in, r, r->fd);
}

bool redirs_apply(Interp *in, const Redir *r)
{
    for (; r; r = r->next)
        if (!redirect(in, r, true))
            return false;
    return true;
}

bool redirs_apply_for_good(Interp *in, const Redir *r)
{
    for (; r; r = r->next)
        if (!redirect(in, r, false))
            return false;
    return true;
}
