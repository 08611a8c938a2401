"""libshell: a bash-compatible shell inside your own process.

    >>> import libshell
    >>> with libshell.Shell() as sh:
    ...     sh.run("echo hi | tr a-z A-Z").stdout
    'HI\\n'

A shell sees nothing of the host but what is bound. `run` never raises for a failing script: its status is in the Output. The GIL is
released while a script runs; one Shell is used by one thread at a time.
"""
from __future__ import annotations

import builtins
import ctypes
import os
import weakref

from . import _native as n

TYPE_CHECKING = False  # typing and dataclasses are not imported: they would double the time this takes
if TYPE_CHECKING:
    from typing import Callable, Iterable, List, Mapping, Optional, Sequence, Tuple, Union
    Text = Union[str, bytes]

__all__ = ["Shell", "Bind", "Limits", "Output", "Image", "Change", "FileInfo", "Stat", "Call", "ShellError", "ShellBusyError", "FileNotFoundError",
           "PermissionDeniedError", "FileExistsError", "NotADirectoryError", "IsADirectoryError", "FileTooLargeError", "NoSpaceError",
           "command_names", "version"]


# ---------- errors ----------

class ShellError(Exception):
    """Whatever a call on a shell met; `path` is the file concerned, or ''."""

    def __init__(self, message: str, *, path: str = ""):
        super().__init__(message)
        self.message = message
        self.path = path


class ShellBusyError(ShellError, RuntimeError):
    """The shell is running, or the call came from inside one of its callbacks."""


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


_ERRORS = {
    n.EINVAL: InvalidArgumentError, n.ENOMEM: OutOfMemoryError, n.EBUSY: ShellBusyError, n.ENOENT: FileNotFoundError,
    n.EACCES: PermissionDeniedError, n.EPERM: PermissionDeniedError, n.EEXIST: FileExistsError, n.ENOTDIR: NotADirectoryError,
    n.EISDIR: IsADirectoryError, n.EROFS: ReadOnlyError, n.ENOSPC: NoSpaceError, n.EFBIG: FileTooLargeError,
}


def _bytes(text: Union[Text, os.PathLike]) -> bytes:
    data = os.fspath(text) if isinstance(text, os.PathLike) else text
    return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)


def _path(text: Union[Text, os.PathLike]) -> bytes:
    data = _bytes(text)
    if b"\0" in data:
        raise InvalidArgumentError("embedded NUL in a name", path=data.decode("utf-8", "replace"))
    return data


def _strings(items: Iterable[bytes]) -> ctypes.Array:
    items = list(items)
    return (ctypes.c_char_p * (len(items) + 1))(*items, None)


def _environment(env: Optional[Mapping[str, str]]):
    if env is None:
        return None
    for name in env:
        if not name or "=" in name:
            raise InvalidArgumentError(f"bad variable name {name!r}")
    return _strings(_path(f"{k}={v}") for k, v in env.items())


# ---------- values ----------

class _Value:
    """Equality and a repr over the fields in __slots__."""
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(getattr(self, f) == getattr(other, f) for f in self.__slots__)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, f) for f in self.__slots__))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{f}={getattr(self, f)!r}' for f in self.__slots__)})"


class Bind(_Value):
    """A host file or directory shown in the shell. mode: "copy" (read once), "direct" (live) or "overlay"."""
    __slots__ = ("source", "destination", "mode", "readonly", "write_linked")

    def __init__(self, source: Union[str, os.PathLike], destination: str, mode: str = "copy", readonly: bool = False, write_linked: bool = False):
        self.source, self.destination, self.mode, self.readonly, self.write_linked = source, destination, mode, readonly, write_linked


class Limits(_Value):
    """Limits of a shell or of one run. None keeps the default, 0 is unlimited. time_ms in milliseconds, sizes in bytes."""
    __slots__ = n.LIMIT_NAMES

    def __init__(self, *, time_ms: Optional[int] = None, steps: Optional[int] = None, memory: Optional[int] = None, output: Optional[int] = None,
                 file_size: Optional[int] = None, file_bytes: Optional[int] = None, inodes: Optional[int] = None, fds: Optional[int] = None,
                 processes: Optional[int] = None, pipeline: Optional[int] = None, depth: Optional[int] = None, script: Optional[int] = None,
                 regex: Optional[int] = None, expansion: Optional[int] = None,
                 requests: Optional[int] = None, transfers: Optional[int] = None, redirects: Optional[int] = None,
                 download: Optional[int] = None, upload: Optional[int] = None):
        values = locals()
        for name in n.LIMIT_NAMES:
            setattr(self, name, values[name])

    def _native(self) -> n.Limits:
        out = n.Limits(size=ctypes.sizeof(n.Limits))
        for name in n.LIMIT_NAMES:
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 0 or value >= n.LIMIT_DEFAULT):
                raise InvalidArgumentError(f"limit {name}: {value!r}")
            setattr(out, name, n.LIMIT_DEFAULT if value is None else value)
        return out


_ENDS = ("finished", "timeout", "cancelled", "limit", "deadlock")


class Output(_Value):
    """What a run gave. The text forms decode UTF-8 with replacement."""
    __slots__ = ("status", "stdout_bytes", "stderr_bytes", "end", "limit", "stdout_truncated", "stderr_truncated", "steps", "peak_memory", "wall_ns")

    def __init__(self, status: int, stdout_bytes: bytes, stderr_bytes: bytes, end: str = "finished", limit: Optional[str] = None,
                 stdout_truncated: bool = False, stderr_truncated: bool = False, steps: int = 0, peak_memory: int = 0, wall_ns: int = 0):
        self.status = status
        self.stdout_bytes = stdout_bytes
        self.stderr_bytes = stderr_bytes
        self.end = end
        self.limit = limit
        self.stdout_truncated = stdout_truncated
        self.stderr_truncated = stderr_truncated
        self.steps = steps
        self.peak_memory = peak_memory
        self.wall_ns = wall_ns

    @property
    def stdout(self) -> str:
        return self.stdout_bytes.decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        return self.stderr_bytes.decode("utf-8", "replace")


class FileInfo(_Value):
    __slots__ = ("name", "is_dir", "size")

    def __init__(self, name: str, is_dir: bool, size: int):
        self.name, self.is_dir, self.size = name, is_dir, size


class Stat(_Value):
    __slots__ = ("size", "mode", "uid", "gid", "nlink", "ino", "mtime_ns", "ctime_ns")

    def __init__(self, size: int, mode: int, uid: int, gid: int, nlink: int, ino: int, mtime_ns: int, ctime_ns: int):
        self.size, self.mode, self.uid, self.gid = size, mode, uid, gid
        self.nlink, self.ino, self.mtime_ns, self.ctime_ns = nlink, ino, mtime_ns, ctime_ns


class Change(_Value):
    """kind: "added", "modified" or "deleted"."""
    __slots__ = ("path", "kind", "mode", "size")

    def __init__(self, path: str, kind: str, mode: int, size: int):
        self.path, self.kind, self.mode, self.size = path, kind, mode, size


class Call:
    """One running custom command, for its function: argv, stdin, env, cwd, and where to write."""

    def __init__(self, pointer: int):
        self._pointer = pointer
        self.argv: List[str] = [n.lib.shell_call_arg(pointer, i).decode("utf-8", "surrogateescape") for i in range(n.lib.shell_call_argc(pointer))]
        self.cwd: str = n.lib.shell_call_cwd(pointer).decode("utf-8", "surrogateescape")

    @property
    def stdin(self) -> bytes:
        length = ctypes.c_uint64()
        data = n.lib.shell_call_input(self._pointer, ctypes.byref(length))
        return ctypes.string_at(data, length.value) if data and length.value else b""

    def getenv(self, name: str) -> Optional[str]:
        value = n.lib.shell_call_getenv(self._pointer, _path(name))
        return None if value is None else value.decode("utf-8", "surrogateescape")

    def write(self, data: Text) -> None:
        self._write(1, data)

    def write_error(self, data: Text) -> None:
        self._write(2, data)

    def _write(self, stream: int, data: Text) -> None:
        raw, written = _bytes(data), ctypes.c_uint64()
        err = n.lib.shell_call_write(self._pointer, stream, raw, len(raw), ctypes.byref(written))
        if err:
            raise _ERRORS.get(err, ShellError)(n.lib.shell_strerror(err).decode())


class Image:
    """A frozen file system that shells can start from, in constant time and from any thread."""

    def __init__(self, pointer: ctypes.c_void_p):
        self._pointer = pointer
        self._finalizer = weakref.finalize(self, n.lib.shell_image_free, pointer)


# ---------- the shell ----------

_MODES = {"copy": 0, "direct": 1, "overlay": 2}
_JOBS = {"wait": 0, "keep": 1, "kill": 2}


class _State:
    """The handle and what must live as long as it; closed once, by close() or the collector."""

    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        self.commands: dict = {}

    def close(self) -> None:
        if self.handle:
            n.lib.shell_close(self.handle)
            self.handle = ctypes.c_void_p()


class Shell:
    """A shell. State (cwd, variables, functions, options, files) lasts from run to run."""

    def __init__(self, *, binds: Sequence[Bind] = (), env: Optional[Mapping[str, str]] = None, cwd: Optional[str] = None,
                 umask: Optional[int] = None, timeout: Optional[float] = None, limits: Optional[Limits] = None, image: Optional[Image] = None,
                 clock: Optional[float] = None, virtual_clock: bool = False, seed: Optional[int] = None):
        options = n.Options()
        n.lib.shell_options_init(ctypes.byref(options))
        message = ctypes.create_string_buffer(256)
        native = (n.Bind * max(len(binds), 1))()
        for i, bind in enumerate(binds):
            if bind.mode not in _MODES:
                raise InvalidArgumentError(f"bind mode {bind.mode!r}")
            native[i] = n.Bind(ctypes.sizeof(n.Bind), _path(bind.source), _path(bind.destination), _MODES[bind.mode],
                               (1 if bind.readonly else 0) | (2 if bind.write_linked else 0))
        options.binds, options.nbinds = native, len(binds)
        environment = _environment(env)
        if environment is not None:
            options.env = environment
        if cwd is not None:
            options.cwd = _path(cwd)
        if umask is not None:
            options.umask = umask
        self._timeout = _seconds(timeout)
        native_limits = limits._native() if limits else None
        if native_limits is not None:
            options.limits = ctypes.pointer(native_limits)
        if image is not None:
            options.image = image._pointer
        if clock is not None or virtual_clock:
            options.fixed_clock, options.clock_seconds = (2 if virtual_clock else 1), int(clock or 0)
        if seed is not None:
            options.seeded, options.seed = 1, seed & (2**64 - 1)
        options.message, options.message_size = ctypes.cast(message, ctypes.c_char_p), 256
        state = _State()
        err = n.lib.shell_open(ctypes.byref(options), ctypes.byref(state.handle))
        if err:
            raise _ERRORS.get(err, ShellError)(message.value.decode("utf-8", "replace"))
        self._adopt(state)

    def _adopt(self, state: _State) -> None:
        self._state = state
        self._finalizer = weakref.finalize(self, state.close)

    def __enter__(self) -> "Shell":
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def close(self) -> None:
        """Frees the shell; using it afterwards raises ShellError."""
        self._finalizer()

    @property
    def _handle(self) -> ctypes.c_void_p:
        if not self._state.handle:
            raise ShellError("the shell is closed")
        return self._state.handle

    def _check(self, err: int, path: Text = "") -> None:
        if err:
            name = path.decode("utf-8", "replace") if isinstance(path, bytes) else path
            raise _ERRORS.get(err, ShellError)(n.lib.shell_message(self._handle).decode("utf-8", "replace") or n.lib.shell_strerror(err).decode(), path=name)

    # ---------- running ----------

    def run(self, script: Text, *, stdin: Optional[Text] = None, timeout: Optional[float] = None, env: Optional[Mapping[str, str]] = None,
            cwd: Optional[str] = None, args: Optional[Sequence[str]] = None, limits: Optional[Limits] = None, jobs: str = "wait",
            on_stdout: Optional[Callable[[bytes], None]] = None, on_stderr: Optional[Callable[[bytes], None]] = None,
            merge: bool = False, fresh: bool = False) -> Output:
        """Runs `script` and waits for it. Callbacks get output as it comes; an exception in one ends the run and is raised here."""
        text = script.encode("utf-8", "surrogateescape") if type(script) is str else _bytes(script)
        result = _ResultPointer()
        handle = self._handle
        timeout = self._timeout if timeout is None else _seconds(timeout)
        if stdin is None and not timeout and env is None and cwd is None and args is None and limits is None and jobs == "wait" \
                and on_stdout is None and on_stderr is None and not merge and not fresh:
            err = _run(handle, text, len(text), None, _byref(result))
            if err:
                self._check(err)
            return _output(result)
        options = n.RunOptions(size=ctypes.sizeof(n.RunOptions), timeout=timeout or 0.0, jobs=_JOBS[jobs])
        keep: list = []
        if stdin is not None:
            data = _bytes(stdin)
            keep.append(data)
            options.input, options.input_len = data, len(data)
        if env is not None:
            options.env = _environment(env)
        if cwd is not None:
            options.cwd = _path(cwd)
        if args is not None:
            options.args = _strings(_path(a) for a in args)
        if limits is not None:
            native = limits._native()
            keep.append(native)
            options.limits = ctypes.pointer(native)
        options.flags = (1 if merge else 0) | (4 if fresh else 0)
        failed: list = []
        if on_stdout is not None or on_stderr is not None:
            options.flags |= 2
            options.on_output = n.ON_OUTPUT(_deliver(on_stdout, on_stderr, failed))
        self._check(n.lib.shell_run(handle, text, len(text), ctypes.byref(options), ctypes.byref(result)))
        output = _output(result)
        if failed:
            raise failed[0]
        return output

    def cancel(self) -> None:
        """Ends the run in progress, from any thread."""
        n.lib.shell_cancel(self._handle)

    def reset(self) -> None:
        """Back to the state after construction: files, variables, functions, options, cwd."""
        self._check(n.lib.shell_reset(self._handle))

    def fork(self) -> "Shell":
        """A copy of this idle shell in constant time: files and variables, no jobs."""
        state = _State()
        self._check(n.lib.shell_fork(self._handle, ctypes.byref(state.handle)))
        state.commands = dict(self._state.commands)
        other = Shell.__new__(Shell)
        other._timeout = self._timeout
        other._adopt(state)
        return other

    def image(self) -> Image:
        """Freezes the files as they are now."""
        pointer = ctypes.c_void_p()
        self._check(n.lib.shell_image_of(self._handle, ctypes.byref(pointer)))
        return Image(pointer)

    def command(self, name: str, function: Callable[[Call], Optional[int]]) -> None:
        """Makes a Python function a command: it gets a Call and returns the status (None: 0). An exception is printed on stderr, status 1."""
        def trampoline(_user, pointer):
            call = Call(pointer)
            try:
                status = function(call)
                return 0 if status is None else int(status) & 255
            except BaseException as e:  # noqa: BLE001: nothing may cross into C
                call.write_error(f"{name}: {type(e).__name__}: {e}\n")
                return 1
        callback = n.COMMAND(trampoline)
        self._check(n.lib.shell_command(self._handle, _path(name), callback, None), name)
        self._state.commands.setdefault(name, []).append(callback)  # one that was replaced may still run

    # ---------- variables ----------

    def set_env(self, name: str, value: str) -> None:
        self._check(n.lib.shell_setenv(self._handle, _path(name), _path(value)), name)

    def unset_env(self, name: str) -> None:
        self._check(n.lib.shell_unsetenv(self._handle, _path(name)), name)

    def get_env(self, name: str) -> Optional[str]:
        out = ctypes.c_void_p()
        err = n.lib.shell_getenv(self._handle, _path(name), ctypes.byref(out))
        if err == n.ENOENT:
            return None
        self._check(err, name)
        return _take_string(out)

    @property
    def cwd(self) -> str:
        out = ctypes.c_void_p()
        self._check(n.lib.shell_cwd(self._handle, ctypes.byref(out)))
        return _take_string(out)

    # ---------- files ----------

    def read_file(self, path: Union[Text, os.PathLike]) -> bytes:
        return self._read(path, lambda raw, out, length: n.lib.shell_read_file(self._handle, raw, out, length))

    def read_range(self, path: Union[Text, os.PathLike], offset: int, size: int) -> bytes:
        return self._read(path, lambda raw, out, length: n.lib.shell_read_range(self._handle, raw, offset, size, out, length))

    def _read(self, path, call) -> bytes:
        raw, out, length = _path(path), ctypes.c_void_p(), ctypes.c_uint64()
        self._check(call(raw, ctypes.byref(out), ctypes.byref(length)), raw)
        try:
            return ctypes.string_at(out, length.value)
        finally:
            n.lib.shell_free(out)

    def read_text(self, path: Union[Text, os.PathLike]) -> str:
        return self.read_file(path).decode("utf-8", "replace")

    def write_file(self, path: Union[Text, os.PathLike], content: Text, *, append: bool = False, exclusive: bool = False) -> None:
        """Writes the whole file; makes parent directories."""
        raw, data = _path(path), _bytes(content)
        self._check(n.lib.shell_write_file(self._handle, raw, data, len(data), 1 | (2 if append else 0) | (4 if exclusive else 0)), raw)

    def stat(self, path: Union[Text, os.PathLike], *, follow: bool = True) -> Stat:
        raw, info = _path(path), n.StatInfo(size=ctypes.sizeof(n.StatInfo))
        self._check(n.lib.shell_stat(self._handle, raw, 0 if follow else 1, ctypes.byref(info)), raw)
        return Stat(info.bytes, info.mode, info.uid, info.gid, info.nlink, info.ino, info.mtime_ns, info.ctime_ns)

    def exists(self, path: Union[Text, os.PathLike]) -> bool:
        raw, out = _path(path), ctypes.c_int32()
        self._check(n.lib.shell_exists(self._handle, raw, ctypes.byref(out)), raw)
        return bool(out.value)

    def list_files(self, path: Union[Text, os.PathLike] = ".") -> List[FileInfo]:
        raw, out, count = _path(path), ctypes.POINTER(n.Dirent)(), ctypes.c_uint64()
        self._check(n.lib.shell_list(self._handle, raw, ctypes.byref(out), ctypes.byref(count)), raw)
        try:
            return [FileInfo(out[i].name.decode("utf-8", "surrogateescape"), out[i].type & 0o170000 == 0o040000, out[i].bytes) for i in range(count.value)]
        finally:
            n.lib.shell_free(ctypes.cast(out, ctypes.c_void_p))

    def mkdir(self, path: Union[Text, os.PathLike], mode: int = 0o777, *, parents: bool = False) -> None:
        raw = _path(path)
        self._check(n.lib.shell_mkdir(self._handle, raw, mode, int(parents)), raw)

    def remove_file(self, path: Union[Text, os.PathLike], *, recursive: bool = False) -> None:
        raw = _path(path)
        self._check(n.lib.shell_remove(self._handle, raw, int(recursive)), raw)

    def rename(self, source: Union[Text, os.PathLike], destination: Union[Text, os.PathLike]) -> None:
        raw = _path(source)
        self._check(n.lib.shell_rename(self._handle, raw, _path(destination)), raw)

    def chmod(self, path: Union[Text, os.PathLike], mode: int) -> None:
        raw = _path(path)
        self._check(n.lib.shell_chmod(self._handle, raw, mode), raw)

    def changes(self) -> List[Change]:
        """What differs from the image the shell was made from, in path order."""
        out, count = ctypes.POINTER(n.Change)(), ctypes.c_uint64()
        self._check(n.lib.shell_changes(self._handle, ctypes.byref(out), ctypes.byref(count)))
        try:
            return [Change(out[i].path.decode("utf-8", "surrogateescape"), ("added", "modified", "deleted")[out[i].kind], out[i].mode, out[i].bytes)
                    for i in range(count.value)]
        finally:
            n.lib.shell_free(ctypes.cast(out, ctypes.c_void_p))


# ---------- helpers ----------

def _seconds(timeout: Optional[float]) -> float:
    if timeout is None:
        return 0.0
    value = float(timeout)
    if not 0 < value < float("inf"):
        raise InvalidArgumentError(f"timeout must be positive and finite: {timeout!r}")
    return value


def _take_string(pointer: ctypes.c_void_p) -> str:
    try:
        return ctypes.string_at(pointer).decode("utf-8", "surrogateescape")
    finally:
        n.lib.shell_free(pointer)


_ResultPointer = ctypes.POINTER(n.Result)
_byref, _string_at, _run, _free_result = ctypes.byref, ctypes.string_at, n.lib.shell_run, n.lib.shell_result_free


def _output(result) -> Output:
    r = result.contents
    try:
        limit = r.limit
        return Output(r.status, _string_at(r.out, r.out_len), _string_at(r.err, r.err_len) if r.err_len else b"", _ENDS[r.end], limit and limit.decode(),
                      bool(r.out_truncated), bool(r.err_truncated), r.steps, r.peak_memory, r.wall_ns)
    finally:
        _free_result(result)


def _deliver(on_stdout, on_stderr, failed: list):
    def deliver(_user, stream, data, length):
        function = on_stdout if stream == 1 else on_stderr
        if function is None or failed:
            return n.EPIPE if failed else 0
        try:
            function(ctypes.string_at(data, length))
            return 0
        except BaseException as e:  # noqa: BLE001: raised again by run()
            failed.append(e)
            return n.EPIPE
    return deliver


def command_names() -> Tuple[str, ...]:
    """The names of all built-in commands."""
    count = ctypes.c_uint64()
    names = n.lib.shell_command_names(ctypes.byref(count))
    return tuple(names[i].decode() for i in range(count.value))


def version() -> str:
    return n.lib.shell_version().decode()
