/* quoting: GNU's quoting styles for names in messages, and error texts that do not ask the host. */
#include "command.h"

bool locale_utf8(Proc *p)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *v = proc_getenv(p, names[i]);
        if (v && *v)
            return strstr(v, "UTF-8") || strstr(v, "utf8") || strstr(v, "UTF8") || strstr(v, "utf-8");
    }
    return false;
}

/* A byte that cannot be shown as it is: control characters and what is not valid UTF-8. Its length in *n. */
static bool unprintable(Slice s, bool utf8, size_t *n)
{
    uint32_t c = utf8 ? utf8_decode(s.data, s.len, n) : (*n = 1, (unsigned char)s.data[0]);
    if (!utf8)
        return c < 32 || c >= 127;
    return c == UTF8_BAD || utf8_width(c) < 0;
}

static bool all_printable(Slice s, bool utf8)
{
    for (size_t n; s.len; s = slice_from(s, n))
        if (unprintable(s, utf8, &n))
            return false;
    return true;
}

static char escape_letter(unsigned char c)
{
    static const char from[] = "\a\b\f\n\r\t\v", to[] = "abfnrtv";
    const char *at = c ? strchr(from, c) : NULL;
    return at ? to[at - from] : 0;
}

static void append_escape(Buf *out, unsigned char c)
{
    char letter = escape_letter(c);
    if (letter)
        buf_printf(out, "\\%c", letter);
    else
        buf_printf(out, "\\%03o", c);
}

/* 'plain' with runs of what cannot be shown as $'\n', as shell-escape quoting does. */
static void shell_escape(Buf *out, Slice s, bool utf8)
{
    bool open = true;
    buf_char(out, '\'');
    for (size_t n; s.len; s = slice_from(s, n)) {
        bool bad = unprintable(s, utf8, &n);
        if (bad) {
            if (open)
                buf_append(out, SLICE("'$'"));
            open = false;
            for (size_t i = 0; i < n; i++)
                append_escape(out, (unsigned char)s.data[i]);
            continue;
        }
        if (!open)
            buf_append(out, SLICE("''"));
        open = true;
        if (s.data[0] == '\'')
            buf_append(out, SLICE("'\\''"));
        else
            buf_append(out, (Slice){s.data, n});
    }
    buf_char(out, '\'');
}

static bool needs_quotes(Slice s)
{
    if (s.len == 0)
        return true;
    for (size_t i = 0; i < s.len; i++)
        if (strchr("!\"$&()*;<=>?[\\^`|'", s.data[i]) || s.data[i] == ' ' || (i == 0 && strchr("#~", s.data[i])))
            return true;
    return s.len == 1 && strchr("{}", s.data[0]);
}

const char *quoteaf(Proc *p, const char *text)
{
    Buf out;
    Slice s = slice_str(text);
    bool utf8 = locale_utf8(p);
    buf_init(&out, &p->mem, BUF_MAX);
    if (slice_find(s, '\'') < s.len && all_printable(s, utf8) && !strpbrk(text, "\"$`\\!")) {
        buf_printf(&out, "\"%s\"", text);
        return out.data;
    }
    shell_escape(&out, s, utf8);
    return out.data;
}

const char *quote_if_needed(Proc *p, const char *text)
{
    Slice s = slice_str(text);
    return all_printable(s, locale_utf8(p)) && !needs_quotes(s) ? text : quoteaf(p, text);
}

const char *quotef(Proc *p, const char *text) { return strchr(text, ':') ? quoteaf(p, text) : quote_if_needed(p, text); }

const char *quote(Proc *p, const char *text)
{
    Buf out;
    Slice s = slice_str(text);
    bool utf8 = locale_utf8(p);
    buf_init(&out, &p->mem, BUF_MAX);
    buf_append(&out, utf8 ? SLICE("‘") : SLICE("'"));
    for (size_t n; s.len; s = slice_from(s, n)) {
        if (unprintable(s, utf8, &n)) {
            for (size_t i = 0; i < n; i++)
                append_escape(&out, (unsigned char)s.data[i]);
        } else if (s.data[0] == '\\' || (!utf8 && s.data[0] == '\'')) {
            buf_printf(&out, "\\%c", s.data[0]);
        } else {
            buf_append(&out, (Slice){s.data, n});
        }
    }
    buf_append(&out, utf8 ? SLICE("’") : SLICE("'"));
    return out.data;
}

const char *error_text(int error)
{
    static const struct { int number; const char *text; } texts[] = {
        {EPERM, "Operation not permitted"}, {ENOENT, "No such file or directory"}, {ESRCH, "No such process"},
        {EINTR, "Interrupted system call"}, {EIO, "Input/output error"}, {ENXIO, "No such device or address"},
        {E2BIG, "Argument list too long"}, {ENOEXEC, "Exec format error"}, {EBADF, "Bad file descriptor"},
        {ECHILD, "No child processes"}, {EAGAIN, "Resource temporarily unavailable"}, {ENOMEM, "Cannot allocate memory"},
        {EACCES, "Permission denied"}, {EBUSY, "Device or resource busy"}, {EEXIST, "File exists"},
        {EXDEV, "Invalid cross-device link"}, {ENODEV, "No such device"}, {ENOTDIR, "Not a directory"},
        {EISDIR, "Is a directory"}, {EINVAL, "Invalid argument"}, {ENFILE, "Too many open files in system"},
        {EMFILE, "Too many open files"}, {ENOTTY, "Inappropriate ioctl for device"}, {ETXTBSY, "Text file busy"},
        {EFBIG, "File too large"}, {ENOSPC, "No space left on device"}, {ESPIPE, "Illegal seek"},
        {EROFS, "Read-only file system"}, {EMLINK, "Too many links"}, {EPIPE, "Broken pipe"},
        {EDOM, "Numerical argument out of domain"}, {ERANGE, "Numerical result out of range"},
        {ENAMETOOLONG, "File name too long"}, {ENOSYS, "Function not implemented"}, {ENOTEMPTY, "Directory not empty"},
        {ELOOP, "Too many levels of symbolic links"}, {ETIMEDOUT, "Connection timed out"}, {ENOTSUP, "Operation not supported"},
        {EOVERFLOW, "Value too large for defined data type"}, {EILSEQ, "Invalid or incomplete multibyte or wide character"},
        {ENOBUFS, "No buffer space available"}, {ECANCELED, "Operation canceled"}, {EINPROGRESS, "Operation now in progress"},
    };
    int n = error < 0 ? -error : error;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].number == n)
            return texts[i].text;
    return n == 0 ? "Success" : "Unknown error";
}
