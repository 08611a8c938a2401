/* error: codes, words, struct versions. */
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

static const struct { shell_err code; int error; const char *text; } table[] = {
    {SHELL_OK, 0, "success"},
    {SHELL_EINVAL, EINVAL, "invalid argument"},
    {SHELL_ENOMEM, ENOMEM, "out of memory"},
    {SHELL_EBUSY, EBUSY, "the shell is in use"},
    {SHELL_ENOENT, ENOENT, "no such file or directory"},
    {SHELL_EACCES, EACCES, "permission denied"},
    {SHELL_EEXIST, EEXIST, "file exists"},
    {SHELL_ENOTDIR, ENOTDIR, "not a directory"},
    {SHELL_EISDIR, EISDIR, "is a directory"},
    {SHELL_ENOTEMPTY, ENOTEMPTY, "directory not empty"},
    {SHELL_EROFS, EROFS, "read-only file system"},
    {SHELL_ENOSPC, ENOSPC, "no space left"},
    {SHELL_EFBIG, EFBIG, "file too large"},
    {SHELL_ELOOP, ELOOP, "too many levels of symbolic links"},
    {SHELL_ENAMETOOLONG, ENAMETOOLONG, "file name too long"},
    {SHELL_EXDEV, EXDEV, "invalid cross-device link"},
    {SHELL_EMFILE, EMFILE, "too many open files"},
    {SHELL_ENOTSUP, ENOTSUP, "not supported"},
    {SHELL_EPERM, EPERM, "operation not permitted"},
    {SHELL_EAGAIN, EAGAIN, "try again"},
    {SHELL_EPIPE, EPIPE, "broken pipe"},
    {SHELL_EIO, EIO, "input/output error"},
};

const char *shell_strerror(shell_err err)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].code == err)
            return table[i].text;
    return "unknown error";
}

int api_errno(int result)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if ((int)table[i].code == result)
            return -table[i].error;
    return -EIO;
}

shell_err api_error(shell *sh, int error, const char *what)
{
    if (error >= 0)
        return SHELL_OK;
    shell_err code = SHELL_EIO;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].error == -error)
            code = table[i].code;
    return api_fail(sh, code, "%s: %s", what, shell_strerror(code));
}

shell_err api_fail(shell *sh, shell_err err, const char *format, ...)
{
    if (sh) {
        va_list args;
        va_start(args, format);
        pthread_mutex_lock(&sh->words);
        vsnprintf(sh->message, sizeof sh->message, format, args);
        pthread_mutex_unlock(&sh->words);
        va_end(args);
    }
    return err;
}

const char *shell_message(const shell *sh) { return sh ? sh->message : ""; }

bool api_copy_struct(void *ours, size_t our_size, const void *theirs)
{
    uint64_t size;
    memcpy(&size, theirs, sizeof size);
    if (size < sizeof size || size > 65536)
        return false;
    const char *bytes = theirs;
    for (uint64_t i = our_size; i < size; i++)
        if (bytes[i])
            return false;
    memcpy(ours, theirs, MIN((size_t)size, our_size));
    memcpy(ours, &(uint64_t){our_size}, sizeof(uint64_t));
    return true;
}

void shell_limits_init_sized(shell_limits *limits, uint64_t size)
{
    uint64_t *field = &limits->time_ms;
    size_t n = size < offsetof(shell_limits, time_ms) ? 0 : ((size_t)size - offsetof(shell_limits, time_ms)) / sizeof *field;
    limits->size = size;
    for (size_t i = 0; i < n; i++)
        field[i] = SHELL_LIMIT_DEFAULT;
}

Limits api_limits(const shell_limits *given, const Limits *base)
{
    Limits out = *base;
    shell_limits l;
    shell_limits_init(&l);
    if (!given || !api_copy_struct(&l, sizeof l, given))
        return out;
    const uint64_t values[LIMIT_COUNT] = {
        [LIMIT_TIME] = l.time_ms, [LIMIT_STEPS] = l.steps, [LIMIT_MEMORY] = l.memory, [LIMIT_OUTPUT] = l.output,
        [LIMIT_FILE_SIZE] = l.file_size, [LIMIT_FILE_BYTES] = l.file_bytes, [LIMIT_INODES] = l.inodes, [LIMIT_FDS] = l.fds,
        [LIMIT_PROCESSES] = l.processes, [LIMIT_PIPELINE] = l.pipeline, [LIMIT_DEPTH] = l.depth, [LIMIT_SCRIPT] = l.script,
        [LIMIT_REGEX] = l.regex, [LIMIT_EXPANSION] = l.expansion,
        [LIMIT_REQUESTS] = l.requests, [LIMIT_TRANSFERS] = l.transfers, [LIMIT_REDIRECTS] = l.redirects, [LIMIT_DOWNLOAD] = l.download,
        [LIMIT_UPLOAD] = l.upload, [LIMIT_HEAD] = l.head, [LIMIT_CONNECT] = l.connect_ms,
    };
    for (size_t i = 0; i < LIMIT_COUNT; i++)
        if (values[i] != SHELL_LIMIT_DEFAULT)
            out.value[i] = values[i];
    return out;
}
