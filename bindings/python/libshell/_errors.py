"""The exceptions, and which one a SHELL_E* is."""
from __future__ import annotations

import builtins
import errno

from . import _native as n


class ShellError(Exception):
    """Whatever a call on a shell met; `path` is the file concerned, or ''."""

    def __init__(self, message: str, *, path: str = ""):
        super().__init__(message)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return self.message


class ShellBusyError(ShellError, RuntimeError):
    """The shell is running, another thread uses it, or the call came from inside one of its callbacks."""


class FileNotFoundError(ShellError, builtins.FileNotFoundError):
    pass


class PermissionDeniedError(ShellError, builtins.PermissionError):
    pass


class FileExistsError(ShellError, builtins.FileExistsError):
    pass


class NotADirectoryError(ShellError, builtins.NotADirectoryError):
    pass


class IsADirectoryError(ShellError, builtins.IsADirectoryError):
    pass


class FileTooLargeError(ShellError, OSError):
    pass


class NoSpaceError(ShellError, OSError):
    pass


class ReadOnlyError(PermissionDeniedError):
    pass


class OutOfMemoryError(ShellError, MemoryError):
    pass


class InvalidArgumentError(ShellError, ValueError):
    pass


class UnsupportedError(ShellError, NotImplementedError):
    """Of another version, or of a kind that is not to be had here."""


_KINDS = {
    n.EINVAL: InvalidArgumentError, n.ENOMEM: OutOfMemoryError, n.EBUSY: ShellBusyError, n.ENOENT: FileNotFoundError,
    n.EACCES: PermissionDeniedError, n.EPERM: PermissionDeniedError, n.EEXIST: FileExistsError, n.ENOTDIR: NotADirectoryError,
    n.EISDIR: IsADirectoryError, n.EROFS: ReadOnlyError, n.ENOSPC: NoSpaceError, n.EFBIG: FileTooLargeError, n.ENOTSUP: UnsupportedError,
}
_ERRNO = {
    n.EINVAL: errno.EINVAL, n.ENOMEM: errno.ENOMEM, n.EBUSY: errno.EBUSY, n.ENOENT: errno.ENOENT, n.EACCES: errno.EACCES, n.EEXIST: errno.EEXIST,
    n.ENOTDIR: errno.ENOTDIR, n.EISDIR: errno.EISDIR, n.ENOTEMPTY: errno.ENOTEMPTY, n.EROFS: errno.EROFS, n.ENOSPC: errno.ENOSPC,
    n.EFBIG: errno.EFBIG, n.ELOOP: errno.ELOOP, n.ENAMETOOLONG: errno.ENAMETOOLONG, n.EXDEV: errno.EXDEV, n.EMFILE: errno.EMFILE, n.EIO: errno.EIO,
    n.ENOTSUP: errno.ENOTSUP, n.EPERM: errno.EPERM,
}
_BACK = {number: code for code, number in _ERRNO.items()}


def error(code: int, message: str = "", path: str = "") -> ShellError:
    """The exception for a SHELL_E*, with its errno where it is an OSError."""
    e = _KINDS.get(code, ShellError)(message or n.lib.shell_strerror(code).decode(), path=path)
    if isinstance(e, OSError):
        e.errno, e.strerror, e.filename = _ERRNO.get(code), e.message, path or None
    return e


def code_of(e: BaseException) -> int:
    """The SHELL_E* of an exception that a mount's method raised."""
    if isinstance(e, OSError) and e.errno in _BACK:
        return _BACK[e.errno]
    for kind, code in ((builtins.FileNotFoundError, n.ENOENT), (KeyError, n.ENOENT), (builtins.PermissionError, n.EACCES), (builtins.FileExistsError, n.EEXIST),
                       (builtins.NotADirectoryError, n.ENOTDIR), (builtins.IsADirectoryError, n.EISDIR), (NotImplementedError, n.EPERM),
                       (MemoryError, n.ENOMEM)):
        if isinstance(e, kind):
            return code
    return n.EIO
