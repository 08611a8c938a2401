"""The values that go in and come out of a shell."""
from __future__ import annotations

import _struct
import ctypes

from . import _native as n
from ._errors import InvalidArgumentError, ShellError, error as _error
from ._values import Value, strings as _strings, to_bytes as _bytes, to_name as _path

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any, List, Optional, Sequence, Union
    Text = Union[str, bytes]

_MODES = {"copy": 0, "direct": 1, "overlay": 2}


class Bind(Value):
    """A host file or directory shown in the shell. mode: "copy" (read once), "direct" (live), or "overlay" (read when looked at, writes kept in the
    shell; `changes` tells them)."""
    __slots__ = ("source", "destination", "mode", "readonly", "write_linked")

    def __init__(self, source: Union[str, os.PathLike], destination: str, mode: str = "copy", readonly: bool = False, write_linked: bool = False):
        self.source, self.destination, self.mode, self.readonly, self.write_linked = source, destination, mode, readonly, write_linked

    def _fill(self, struct):
        if self.mode not in _MODES:
            raise InvalidArgumentError(f"bind mode {self.mode!r}: one of {', '.join(_MODES)}")
        struct.size, struct.source, struct.destination = ctypes.sizeof(struct), _path(self.source), _path(self.destination)
        struct.mode, struct.flags = _MODES[self.mode], (1 if self.readonly else 0) | (2 if self.write_linked else 0)
        return struct


class Limits(Value):
    """Limits of a shell or of one run. None keeps the default, 0 is unlimited. time_ms in milliseconds, sizes in bytes."""
    __slots__ = n.LIMIT_NAMES

    def __init__(self, *, time_ms: Optional[int] = None, steps: Optional[int] = None, memory: Optional[int] = None, output: Optional[int] = None,
                 file_size: Optional[int] = None, file_bytes: Optional[int] = None, inodes: Optional[int] = None, fds: Optional[int] = None,
                 processes: Optional[int] = None, pipeline: Optional[int] = None, depth: Optional[int] = None, script: Optional[int] = None,
                 regex: Optional[int] = None, expansion: Optional[int] = None, requests: Optional[int] = None, transfers: Optional[int] = None,
                 redirects: Optional[int] = None, download: Optional[int] = None, upload: Optional[int] = None,
                 head: Optional[int] = None, connect_ms: Optional[int] = None):
        values = locals()
        for name in n.LIMIT_NAMES:
            setattr(self, name, values[name])

    def _native(self):
        from . import _structs
        out = _structs.Limits(size=ctypes.sizeof(_structs.Limits))
        for name in n.LIMIT_NAMES:
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 0 or value >= n.LIMIT_DEFAULT):
                raise InvalidArgumentError(f"limit {name}: {value!r}")
            setattr(out, name, n.LIMIT_DEFAULT if value is None else value)
        return out


_new = object.__new__
ENDS = ("finished", "timeout", "cancelled", "limit", "deadlock")


class Output(Value):
    """What a run gave. The text forms decode UTF-8 with replacement. end: "finished", "timeout", "cancelled", "limit" or "deadlock"; limit: the name of
    the one that was hit, limit_value what it allows. exited: the script left the shell (exit, exec, a failure under set -e)
    rather than come to its end."""
    __slots__ = ("status", "stdout_bytes", "stderr_bytes", "_rest")
    _fields = ("status", "stdout_bytes", "stderr_bytes", "end", "limit", "stdout_truncated", "stderr_truncated", "steps", "peak_memory", "wall_ns",
               "limit_value", "exited")

    def __init__(self, status: int, stdout_bytes: bytes, stderr_bytes: bytes, end: str = "finished", limit: Optional[str] = None,
                 stdout_truncated: bool = False, stderr_truncated: bool = False, steps: int = 0, peak_memory: int = 0, wall_ns: int = 0,
                 limit_value: int = 0, exited: bool = False):
        self.status, self.stdout_bytes, self.stderr_bytes = status, stdout_bytes, stderr_bytes
        self._rest = (ENDS.index(end), limit and limit.encode(), stdout_truncated, stderr_truncated, steps, peak_memory, wall_ns, limit_value, exited)

    end: str = property(lambda self: ENDS[self._rest[0]])
    limit: Optional[str] = property(lambda self: self._rest[1] and self._rest[1].decode())
    stdout_truncated: bool = property(lambda self: bool(self._rest[2]))
    stderr_truncated: bool = property(lambda self: bool(self._rest[3]))
    steps: int = property(lambda self: self._rest[4])
    peak_memory: int = property(lambda self: self._rest[5])
    wall_ns: int = property(lambda self: self._rest[6])
    limit_value: int = property(lambda self: self._rest[7])
    exited: bool = property(lambda self: bool(self._rest[8]))

    @property
    def stdout(self) -> str:
        return self.stdout_bytes.decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        return self.stderr_bytes.decode("utf-8", "replace")

    def format(self, cap: int = 0) -> str:
        """As text for a model: the status in words, head and tail of what is long, at most `cap` bytes of each stream (0: 16,000)."""
        from . import _structs
        keep = [ctypes.create_string_buffer(text, len(text) + 1) for text in (self.stdout_bytes, self.stderr_bytes)]
        result = n.Result(size=ctypes.sizeof(n.Result), out=ctypes.addressof(keep[0]), err=ctypes.addressof(keep[1]), out_len=len(self.stdout_bytes),
                          err_len=len(self.stderr_bytes), status=self.status, end=ENDS.index(self.end), limit=self.limit and self.limit.encode(),
                          out_truncated=self.stdout_truncated, err_truncated=self.stderr_truncated, steps=self.steps, peak_memory=self.peak_memory,
                          wall_ns=self.wall_ns, limit_value=self.limit_value)
        options = _structs.FormatOptions(ctypes.sizeof(_structs.FormatOptions), cap)
        return text_from(n.lib.shell_format_result, ctypes.byref(result), ctypes.byref(options))


def output_from(address: int, _string_at=getattr(ctypes, "_string_at", ctypes.string_at), _free=n.lib.shell_result_free,
                _unpack=_struct.Struct("=8xQQQQiiQiiQQQQi4x").unpack) -> Output:
    """An Output from a shell_result, which is freed. Made for speed: this is a good part of what a short run costs."""
    try:
        out, err, out_len, err_len, status, end, limit, out_cut, err_cut, steps, peak, wall, value, exited = _unpack(_string_at(address, 104))
        self = _new(Output)
        self.status, self.stdout_bytes, self.stderr_bytes = status, _string_at(out, out_len), _string_at(err, err_len) if err_len else b""
        self._rest = (end, _string_at(limit, -1) if limit else None, out_cut, err_cut, steps, peak, wall, value, exited)
        return self
    finally:
        _free(address)


class FileInfo(Value):
    __slots__ = ("name", "is_dir", "size")

    def __init__(self, name: str, is_dir: bool, size: int):
        self.name, self.is_dir, self.size = name, is_dir, size


class Stat(Value):
    __slots__ = ("size", "mode", "uid", "gid", "nlink", "ino", "mtime_ns", "ctime_ns")

    def __init__(self, size: int, mode: int, uid: int, gid: int, nlink: int, ino: int, mtime_ns: int, ctime_ns: int):
        self.size, self.mode, self.uid, self.gid = size, mode, uid, gid
        self.nlink, self.ino, self.mtime_ns, self.ctime_ns = nlink, ino, mtime_ns, ctime_ns


class Change(Value):
    """kind: "added", "modified" or "deleted". mode and size 0: it is not there now; old_mode 0: it was not there. target: of a symlink. Entries with
    one ino are links to one file. Digests (XXH3, 128 bits, hexadecimal) with changes(digests=True)."""
    __slots__ = ("path", "kind", "mode", "size", "old_mode", "old_size", "nlink", "ino", "mtime_ns", "target", "digest", "old_digest")

    def __init__(self, path: str, kind: str, mode: int, size: int, old_mode: int = 0, old_size: int = 0, nlink: int = 1, ino: int = 0,
                 mtime_ns: int = 0, target: str = "", digest: str = "", old_digest: str = ""):
        self.path, self.kind, self.mode, self.size, self.old_mode, self.old_size = path, kind, mode, size, old_mode, old_size
        self.nlink, self.ino, self.mtime_ns, self.target, self.digest, self.old_digest = nlink, ino, mtime_ns, target, digest, old_digest


class ShellConfig(Value):
    """What a shell was given, without a secret: credentials are (url, kind, name, methods)."""
    __slots__ = ("binds", "env", "umask", "timeout", "limits", "allowed_urls", "credentials", "policy", "clock", "virtual_clock", "seed")

    def __init__(self, **fields: Any):
        for name in self.__slots__:
            object.__setattr__(self, name, fields[name])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a ShellConfig cannot be changed")


class Call:
    """One running custom command, for its function: argv, stdin, env, cwd, and where to write."""

    def __init__(self, pointer: int):
        self._pointer = pointer
        self.argv: List[str] = [n.lib.shell_call_arg(pointer, i).decode("utf-8", "surrogateescape") for i in range(n.lib.shell_call_argc(pointer))]
        self.cwd: str = n.lib.shell_call_cwd(pointer).decode("utf-8", "surrogateescape")

    @property
    def _live(self) -> int:
        if self._pointer is None:
            raise ShellError("the command has ended")
        return self._pointer

    @property
    def stdin(self) -> bytes:
        length = ctypes.c_uint64()
        data = n.lib.shell_call_input(self._live, ctypes.byref(length))
        return ctypes.string_at(data, length.value) if data and length.value else b""

    def getenv(self, name: str) -> Optional[str]:
        value = n.lib.shell_call_getenv(self._live, _path(name))
        return None if value is None else value.decode("utf-8", "surrogateescape")

    def write(self, data: Text) -> None:
        self._write(1, data)

    def write_error(self, data: Text) -> None:
        self._write(2, data)

    def _write(self, stream: int, data: Text) -> None:
        raw, written = _bytes(data), ctypes.c_uint64()
        err = n.lib.shell_call_write(self._live, stream, raw, len(raw), ctypes.byref(written))
        if err:
            raise _error(err)


class Image:
    """A frozen file system that shells can start from, in constant time and from any thread. The module's Image.from_* make one; so does Shell.image."""

    _pointer = None

    def __init__(self, pointer: int, keep: Sequence = ()):
        self._pointer, self._keep = pointer, list(keep)

    def __del__(self, _free=n.lib.shell_image_free) -> None:
        if self._pointer:
            _free(self._pointer)

    @classmethod
    def from_directory(cls, source: Union[str, os.PathLike], destination: str = "/workspace", *, include: Optional[Sequence[str]] = None,
                       exclude: Sequence[str] = (), gitignore: bool = False, image: Optional[Image] = None) -> Image:
        """A copy of a host directory. Patterns are those of .gitignore; gitignore=True leaves out what its .gitignore files say, and .git."""
        from . import _structs
        message, out = ctypes.create_string_buffer(256), ctypes.c_void_p()
        patterns = [None if include is None else _strings(map(_path, include)), _strings(map(_path, exclude))]
        arguments = _structs.ImageDir(size=ctypes.sizeof(_structs.ImageDir), source=_path(source), destination=_path(destination), flags=int(gitignore),
                                      exclude=ctypes.addressof(patterns[1]), message=ctypes.addressof(message), message_size=256)
        arguments.include = None if include is None else ctypes.addressof(patterns[0])
        arguments.image = image._pointer if image is not None else None
        err = n.lib.shell_image_from_dir(ctypes.byref(arguments), ctypes.byref(out))
        if err:
            raise _error(err, message.value.decode("utf-8", "replace"), str(source))
        return cls(out.value, image._keep if image is not None else ())

    @classmethod
    def from_snapshot(cls, data: bytes) -> Image:
        """The files of Shell.snapshot()."""
        out = ctypes.c_void_p()
        err = n.lib.shell_image_from_snapshot(data, len(data), ctypes.byref(out))
        if err:
            raise _error(err)
        return cls(out.value)


def text_from(function, *arguments) -> str:
    out, length = ctypes.c_void_p(), ctypes.c_uint64()
    err = function(*arguments, ctypes.byref(out), ctypes.byref(length))
    if err:
        raise _error(err)
    try:
        return ctypes.string_at(out, length.value).decode("utf-8", "replace")
    finally:
        n.lib.shell_free(out)
