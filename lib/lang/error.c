/* error: the interpreter's messages and what `set -x` prints. */
#include "interp.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_MAX = 1 << 16 };

/* "bash: line 3: ", or the script's name in place of bash; posix mode and gnu_errfmt do not change it. */
void error_prefix(Interp *in, Buf *out, bool builtin)
{
    Slice name = in->dyn.source && in->dyn.source->len ? str_slice(in->dyn.source) : str_slice(in->st.zero);
    if (SHOPT(in, GNU_ERRFMT) && !builtin)
        buf_printf(out, "%.*s:%u: ", (int)name.len, name.data, current_line(in));
    else
        buf_printf(out, "%.*s: line %u: ", (int)name.len, name.data, current_line(in));
}

static void error_put(Interp *in, const char *name, const char *format, va_list args)
{
    Buf line;
    buf_init(&line, &in->p->mem, MESSAGE_MAX);
    error_prefix(in, &line, name != NULL);
    if (name)
        buf_printf(&line, "%s: ", name);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0 && buf_reserve(&line, (size_t)n)) {
        vsnprintf(line.data + line.len, (size_t)n + 1, format, again);
        line.len += (size_t)n;
    }
    va_end(again);
    buf_char(&line, '\n');
    output_flush(in->p->out);
    out_write(in->p->err, buf_slice(&line));
    output_flush(in->p->err);
}

void shell_error(Interp *in, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_put(in, name, format, args);
    va_end(args);
}

void lang_error(Interp *in, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_put(in, NULL, format, args);
    va_end(args);
}

void lang_report(Interp *in, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_put(in, NULL, format, args);
    va_end(args);
    if (OPT(in, ERREXIT))
        lang_fatal(in, in->status ? in->status : 1);
}

void lang_prefix(Proc *p, const char *name, Buf *out)
{
    Interp *in = interp_of(p);
    error_prefix(in, out, false);
    if (name)
        buf_printf(out, "%s: ", name);
}

void lang_nomem(Interp *in) { proc_raise(in->p, RAISE_MEMORY); }

void lang_discard(Interp *in, int status)
{
    in->status = status;
    in->discard = true;
    proc_raise(in->p, RAISE_LANG);
}

void lang_expand_failed(Interp *in)
{
    if (OPT(in, POSIX))
        lang_fatal(in, in->has_execution_string && !in->subshell_level ? 127 : 1);
    lang_discard(in, 1);
}

void lang_arith_discard(Interp *in)
{
    if (OPT(in, POSIX))
        lang_expand_failed(in);
    in->goes_on = true;
    lang_discard(in, 1);
}

void lang_arith_failed(Interp *in)
{
    if (in->has_execution_string)
        lang_fatal(in, 1);
    lang_discard(in, 1);
}

void lang_assign_failed(Interp *in)
{
    if (OPT(in, POSIX))
        lang_fatal(in, in->has_execution_string ? 127 : 1);
    lang_discard(in, 1);
}

void lang_fatal(Interp *in, int status)
{
    in->status = status;
    in->discard = false;
    proc_raise(in->p, RAISE_LANG);
}

/* ---------- set -x ---------- */

static int trace_fd(Interp *in)
{
    Slice text;
    int64_t fd;
    Name name = name_of(SLICE("BASH_XTRACEFD"));
    if (!lang_get(in, &name, &text) || parse_int(mem_copy(mem_of(in), text), &fd) || fd < 0 || fd > INT32_MAX ||
        !proc_fd_valid(in->p, (int)fd))
        return 2;
    return (int)fd;
}

/* PS4, its first character once for each level of substitution. */
void trace_begin(Interp *in, Buf *b)
{
    buf_init(b, mem_of(in), BUF_MAX);
    Slice ps4;
    Name name = name_of(SLICE("PS4"));
    if (!lang_get(in, &name, &ps4))
        return;
    int status = in->status;
    in->st.options &= ~(UINT64_C(1) << OPT_XTRACE);
    ps4 = prompt_expand(in, ps4);
    in->st.options |= UINT64_C(1) << OPT_XTRACE;
    in->status = status;
    size_t n = 0;
    if (ps4.len)
        utf8_decode(ps4.data, ps4.len, &n);
    for (unsigned i = 0; i < in->trace_level && i < 100; i++)
        buf_append(b, slice(ps4.data, n));
    buf_append(b, ps4);
}

void trace_end(Interp *in, Buf *b)
{
    buf_char(b, '\n');
    output_flush(in->p->out);
    int fd = trace_fd(in);
    if (fd == 2) {
        out_write(in->p->err, buf_slice(b));
        output_flush(in->p->err);
    } else {
        proc_write(in->p, fd, buf_slice(b));
    }
}

void trace_text(Interp *in, Slice text)
{
    Buf b;
    trace_begin(in, &b);
    buf_append(&b, text);
    trace_end(in, &b);
}

void trace_command(Interp *in, const char *const *words, uint32_t count, const char *prefix)
{
    Buf b;
    trace_begin(in, &b);
    if (prefix)
        buf_append(&b, slice_str(prefix));
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            buf_char(&b, ' ');
        quote_in(in, &b, slice_str(words[i]), quote_trace);
    }
    trace_end(in, &b);
}

/* A word as it was written, but for what $'...' means. */
void trace_word(Buf *b, const Word *w)
{
    if (w->source.len && memchr(w->source.data, '$', w->source.len - 1))
        print_word(b, w);
    else
        buf_append(b, w->source);
}

/* A word as messages show it: bash keeps the text of $( ) as it prints the commands in it. */
Slice word_shown(Interp *in, const Word *w)
{
    if (likely(!w->source.len || !memchr(w->source.data, '$', w->source.len - 1)))
        return w->source;
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    print_word(&b, w);
    return buf_slice(&b);
}

/* "for i in 1 2", each round. */
void trace_for(Interp *in, const Node *n)
{
    Buf b;
    trace_begin(in, &b);
    buf_printf(&b, "%s %.*s in%s", n->kind == NODE_FOR ? "for" : "select", (int)n->each.var.text.len, n->each.var.text.data,
               n->each.in_given && !n->each.count ? " " : "");
    if (!n->each.in_given)
        buf_append(&b, SLICE(" \"$@\""));
    for (uint32_t i = 0; i < n->each.count; i++) {
        buf_char(&b, ' ');
        trace_word(&b, n->each.words[i]);
    }
    trace_end(in, &b);
}
