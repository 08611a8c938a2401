"""libshell: a bash-compatible shell inside your own process.

    >>> import libshell
    >>> with libshell.Shell() as sh:
    ...     sh.run("echo hi | tr a-z A-Z").stdout
    'HI\\n'

A shell sees nothing of the host but what is bound, mounted or allowed. `run` never raises for a failing script: its status is in the Output. The
GIL is released while a script runs. One Shell is used by one thread at a time (ShellBusyError else); cancel, set_net and set_policy may come
from any. `arun` and `stream` are for asyncio; cancelling the task cancels the run.
"""
from __future__ import annotations

import ctypes
from _thread import allocate_lock as _allocate_lock, get_ident as _get_ident

from . import _native as n
from ._errors import (FileExistsError, FileNotFoundError, FileTooLargeError, InvalidArgumentError, IsADirectoryError, NoSpaceError, NotADirectoryError,
                      OutOfMemoryError, PermissionDeniedError, ReadOnlyError, ShellBusyError, ShellError, UnsupportedError, error as _error)
from ._model import Bind, Call, Change, FileInfo, Image, Limits, Output, ShellConfig, Stat, output_from as _output, text_from
from ._values import environment as _environment, seconds as _seconds, strings as _strings, to_bytes as _bytes, to_name as _path

TYPE_CHECKING = False  # typing and dataclasses are not imported: they would double the time this takes
if TYPE_CHECKING:
    import os
    from typing import Any, Awaitable, Callable, Iterable, List, Mapping, Optional, Sequence, Tuple, Union
    from ._aio import AsyncCall, Chunk, Stream
    from ._grants import AllowUrl, Audit, AuditError, Cred, FileRule, Net, Policy, Question, Request, Response, audit_verify
    from ._mounts import DictMount
    Text = Union[str, bytes]
    PathLike = Union[str, bytes, os.PathLike]

_LATER = {"AllowUrl": "_grants", "Cred": "_grants", "Net": "_grants", "Request": "_grants", "Response": "_grants", "Policy": "_grants",
          "FileRule": "_grants", "Question": "_grants", "Audit": "_grants", "AuditError": "_grants", "audit_verify": "_grants", "DictMount": "_mounts", "AsyncCall": "_aio", "Chunk": "_aio", "Stream": "_aio"}

__all__ = ["Shell", "ShellConfig", "Bind", "Limits", "Output", "Image", "Change", "FileInfo", "Stat", "Call", "ShellError", "ShellBusyError",
           "FileNotFoundError", "PermissionDeniedError", "FileExistsError", "NotADirectoryError", "IsADirectoryError", "FileTooLargeError", "NoSpaceError",
           "ReadOnlyError", "OutOfMemoryError", "InvalidArgumentError", "UnsupportedError", "command_names", "version", "feature", "describe",
           "tools"] + list(_LATER)


def __getattr__(name: str):
    """What needs more modules is imported when it is first named."""
    if name not in _LATER:
        raise AttributeError(f"module 'libshell' has no attribute {name!r}")
    from importlib import import_module
    value = globals()[name] = getattr(import_module("." + _LATER[name], __name__), name)
    return value


# ---------- the shell ----------

_JOBS = {"wait": 0, "keep": 1, "kill": 2}
_RUN_DEFAULTS = {"stdin": None, "timeout": None, "env": None, "cwd": None, "args": None, "limits": None, "jobs": "wait", "on_stdout": None,
                 "on_stderr": None, "merge": False, "fresh": False, "syntax_only": False}


class Shell:
    """A shell. State (cwd, variables, functions, options, files) lasts from run to run."""

    _pointer = None
    _job = None      # the asyncio run that holds the shell
    _owner = 0       # the thread that is inside
    _timeout = 0.0
    _net = _policy = None

    def __init__(self, *, binds: Sequence[Bind] = (), env: Optional[Mapping[str, str]] = None, cwd: Optional[str] = None,
                 umask: Optional[int] = None, timeout: Optional[float] = None, limits: Optional[Limits] = None, image: Optional[Image] = None,
                 clock: Optional[float] = None, virtual_clock: bool = False, seed: Optional[int] = None, net: Optional[Net] = None,
                 allowed_urls: Iterable[Union[str, AllowUrl]] = (), credentials: Iterable[Cred] = (), policy: Optional[Policy] = None,
                 audit: Optional[Audit] = None):
        """allowed_urls and credentials are short for net=Net(...). The default timeout is the time limit of `limits`, 30 seconds."""
        options = _template()
        self._prepare()
        if timeout is not None:
            self._timeout = _seconds(timeout)
        if allowed_urls or credentials:
            if net is not None:
                raise InvalidArgumentError("give net, or allowed_urls and credentials")
            from ._grants import Net as make_net
            net = make_net(allowed_urls, credentials)
        keep: list = []
        message = None
        if binds or env is not None or cwd is not None or umask is not None or limits is not None or image is not None or net is not None \
                or policy is not None or audit is not None or clock is not None or virtual_clock or seed is not None:
            message = ctypes.create_string_buffer(256)
            options = type(options).from_buffer_copy(options)
            options.message, options.message_size = ctypes.addressof(message), 256
            self._fill(options, keep, binds, env, cwd, umask, limits, image)
            self._grant(options, keep, net, policy, audit)
            if clock is not None or virtual_clock:
                options.fixed_clock, options.clock_seconds = (2 if virtual_clock else 1), int(clock or 0)
            if seed is not None:
                options.seeded, options.seed = 1, seed & (2**64 - 1)
        self._given = (binds, env, umask, timeout, limits, clock, virtual_clock, seed)
        out = _c_void_p()
        err = _open(_byref(options), _byref(out))
        if err:
            raise _error(err, message.value.decode("utf-8", "replace") if message else "")
        self._pointer = out.value

    def _prepare(self) -> None:
        self._lock, self._life = _allocate_lock(), _allocate_lock()
        self._hooks: dict = {}     # Handles, by what set them
        self._commands: dict = {}  # functions, by name
        self._keep: list = []      # Handles of lazy files, which images share

    def _fill(self, options, keep, binds, env, cwd, umask, limits, image) -> None:
        if binds:
            from . import _structs
            native = (_structs.Bind * len(binds))()
            for i, bind in enumerate(binds):
                bind._fill(native[i])
            keep.append(native)
            options.binds, options.nbinds = ctypes.addressof(native), len(binds)
        if env is not None:
            keep.append(_environment(env))
            options.env = ctypes.addressof(keep[-1])
        if cwd is not None:
            options.cwd = _path(cwd)
        if umask is not None:
            options.umask = umask
        if limits is not None:
            keep.append(limits._native())
            options.limits = ctypes.addressof(keep[-1])
        if image is not None:
            options.image = image._pointer
            self._keep = list(image._keep)

    def _grant(self, options, keep, net, policy, audit) -> None:
        self._net, self._policy = net, policy
        for name, given in (("net", net), ("policy", policy), ("audit", audit)):
            if given is not None:
                native, handle, rest = given._native(self) if name == "policy" else given._native()
                keep += [native, rest]
                self._hooks[name] = handle
                setattr(options, name, ctypes.addressof(native))

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def __aenter__(self) -> Shell:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the shell; using it afterwards raises ShellError."""
        if self._pointer is None:
            return
        if not self._lock.acquire(False):
            raise ShellBusyError("the shell is running")
        self._free()

    def _free(self, _close=n.lib.shell_close) -> None:
        """With _lock held, which is given back."""
        with self._life:
            pointer, self._pointer = self._pointer, None
        try:
            if pointer:
                _close(pointer)
        finally:
            self._lock.release()

    def __del__(self) -> None:
        if self._pointer is not None and self._lock.acquire(False):
            self._free()

    # ---------- one thread at a time ----------

    def _take(self) -> bool:
        """Enters the shell; False: this thread is inside already, in a callback."""
        if self._lock.acquire(False):
            self._owner = _get_ident()
            if self._pointer is None:
                self._give()
                raise ShellError("the shell is closed")
            return True
        if self._owner == _get_ident():
            return False
        raise ShellBusyError("another thread is using the shell")

    def _give(self) -> None:
        self._owner = 0
        self._lock.release()

    def _call(self, function, *arguments, path: Text = "") -> None:
        mine = self._take()
        try:
            err = function(self._pointer, *arguments)
            if err:
                raise self._failure(err, path)
        finally:
            if mine:
                self._give()

    def _failure(self, err: int, path: Text = "") -> ShellError:
        if self._pointer is None:
            return ShellError("the shell is closed")
        name = path.decode("utf-8", "replace") if isinstance(path, bytes) else path
        return _error(err, n.lib.shell_message(self._pointer).decode("utf-8", "replace"), name)

    def _any_thread(self, function, *arguments) -> None:
        """For the calls that may come while another thread runs the shell."""
        with self._life:
            if self._pointer is None:
                raise ShellError("the shell is closed")
            err = function(self._pointer, *arguments)
            if err:
                raise self._failure(err)

    def _answer(self, number: int, result: int) -> None:
        with self._life:
            if self._pointer is not None:
                n.lib.shell_answer(self._pointer, number, result)

    def _wake(self) -> None:
        with self._life:
            if self._pointer is not None:
                n.lib.shell_wake(self._pointer)

    # ---------- running ----------

    def run(self, script: Text, *, stdin: Optional[Text] = None, timeout: Optional[float] = None, env: Optional[Mapping[str, str]] = None,
            cwd: Optional[str] = None, args: Optional[Sequence[str]] = None, limits: Optional[Limits] = None, jobs: str = "wait",
            on_stdout: Optional[Callable[[bytes], object]] = None, on_stderr: Optional[Callable[[bytes], object]] = None,
            merge: bool = False, fresh: bool = False, syntax_only: bool = False) -> Output:
        """Runs `script` and waits for it. Callbacks get output as it comes, on this thread; an exception in one ends the run and is raised here. env,
        cwd, args ($0 $1 ...) and limits are for this run only. jobs: "wait" for background jobs, "keep" or "kill" them. merge: stderr into stdout.
        fresh: nothing but files stays. syntax_only: as bash -n."""
        if stdin is None and timeout is None and not self._timeout and env is None and cwd is None and args is None and limits is None \
                and jobs == "wait" and on_stdout is None and on_stderr is None and not merge and not fresh and not syntax_only:
            text = script.encode("utf-8", "surrogateescape") if type(script) is str else _bytes(script)
            result, lock = _c_void_p(), self._lock
            if not lock.acquire(False):
                raise ShellBusyError("the shell is running")
            try:
                self._owner = _get_ident()
                err = _run(self._pointer, text, len(text), None, _byref(result))
                if err:
                    raise self._failure(err)
            finally:
                self._owner = 0
                lock.release()
            return _output(result.value)
        return self._run(script, None, {"stdin": stdin, "timeout": timeout, "env": env, "cwd": cwd, "args": args, "limits": limits, "jobs": jobs,
                                        "on_stdout": on_stdout, "on_stderr": on_stderr, "merge": merge, "fresh": fresh, "syntax_only": syntax_only})

    def _run_options(self, o, keep):
        timeout = self._timeout if o["timeout"] is None else _seconds(o["timeout"])
        if o["jobs"] not in _JOBS:
            raise InvalidArgumentError(f"jobs {o['jobs']!r}: one of {', '.join(_JOBS)}")
        options = n.RunOptions(size=ctypes.sizeof(n.RunOptions), timeout=timeout, jobs=_JOBS[o["jobs"]])
        if o["stdin"] is not None:
            options.input = data = _bytes(o["stdin"])
            options.input_len = len(data)
        if o["cwd"] is not None:
            options.cwd = _path(o["cwd"])
        for name, value in (("env", _environment(o["env"])), ("args", None if o["args"] is None else _strings(map(_path, o["args"]))),
                            ("limits", o["limits"] and o["limits"]._native())):
            if value is not None:
                keep.append(value)
                setattr(options, name, ctypes.addressof(value))
        options.flags = (1 if o["merge"] else 0) | (4 if o["fresh"] else 0) | (8 if o["syntax_only"] else 0)
        return options

    def _run(self, script: Text, job, given: Mapping[str, Any]) -> Output:
        deliver = given.get("_deliver")
        o = {**_RUN_DEFAULTS, **given}
        text, keep, failed, result = _bytes(script), [], [], ctypes.c_void_p()
        options = self._run_options(o, keep)
        if o["on_stdout"] is not None or o["on_stderr"] is not None:
            deliver = _deliver(o["on_stdout"], o["on_stderr"], failed)
        if deliver is not None:
            from . import _callbacks
            handle = _callbacks.Handle(deliver)
            options.flags |= 2
            options.on_output, options.user = _callbacks.address(_callbacks.on_output), handle.number
        mine = self._take()
        try:
            if mine:
                self._job = job
            err = n.lib.shell_run(self._pointer, text, len(text), ctypes.byref(options), ctypes.byref(result))
            if err:
                raise self._failure(err)
        finally:
            if mine:
                self._job = None
                self._give()
        output = _output(result.value)
        if failed:
            raise failed[0]
        return output

    async def arun(self, script: Text, *, stdin: Optional[Text] = None, timeout: Optional[float] = None, env: Optional[Mapping[str, str]] = None,
                   cwd: Optional[str] = None, args: Optional[Sequence[str]] = None, limits: Optional[Limits] = None, jobs: str = "wait",
                   on_stdout: Optional[Callable[[bytes], object]] = None, on_stderr: Optional[Callable[[bytes], object]] = None,
                   merge: bool = False, fresh: bool = False, syntax_only: bool = False) -> Output:
        """`run` for asyncio, on a thread of the binding's own. Cancelling the task cancels the run, and ends when it has ended. Output callbacks are
        called on that thread; async custom commands run on this loop."""
        from . import _aio
        return await _aio.arun(self, script, {"stdin": stdin, "timeout": timeout, "env": env, "cwd": cwd, "args": args, "limits": limits, "jobs": jobs,
                                              "on_stdout": on_stdout, "on_stderr": on_stderr, "merge": merge, "fresh": fresh, "syntax_only": syntax_only})

    def stream(self, script: Text, *, stdin: Optional[Text] = None, timeout: Optional[float] = None, env: Optional[Mapping[str, str]] = None,
               cwd: Optional[str] = None, args: Optional[Sequence[str]] = None, limits: Optional[Limits] = None, jobs: str = "wait",
               merge: bool = False, fresh: bool = False) -> Stream:
        """A run whose output is read as it comes: `async for chunk in sh.stream(...)`, or `for`. `output` of what this gives is then the Output."""
        from . import _aio
        return _aio.Stream(self, script, {"stdin": stdin, "timeout": timeout, "env": env, "cwd": cwd, "args": args, "limits": limits, "jobs": jobs,
                                          "merge": merge, "fresh": fresh})

    def cancel(self) -> None:
        """Ends the run in progress, from any thread."""
        self._any_thread(n.lib.shell_cancel)

    def reset(self) -> None:
        """Back to the state after construction: files, variables, functions, options, cwd."""
        self._call(n.lib.shell_reset)

    # ---------- copies ----------

    def fork(self) -> Shell:
        """A copy of this idle shell in constant time: files and variables, no jobs, no audit."""
        out = ctypes.c_void_p()
        self._call(n.lib.shell_fork, ctypes.byref(out))
        other = Shell.__new__(Shell)
        other._prepare()
        other._pointer, other._timeout, other._given = out.value, self._timeout, self._given
        other._net, other._keep = self._net, list(self._keep)
        other._hooks = {name: handle for name, handle in self._hooks.items() if name not in ("audit", "policy") and not isinstance(name, tuple)}
        if self._policy is not None:
            other.set_policy(self._policy)
        for name, function in self._commands.items():
            other._register(name, function)
        return other

    def image(self) -> Image:
        """Freezes the files as they are now."""
        pointer = ctypes.c_void_p()
        self._call(n.lib.shell_image_of, ctypes.byref(pointer))
        return Image(pointer.value, self._keep)

    def snapshot(self) -> bytes:
        """Files, variables, functions, options, cwd as bytes. Never credentials, policy, limits, binds, custom commands or mounts."""
        return self._take_bytes(n.lib.shell_snapshot)

    def restore(self, data: bytes) -> None:
        """Puts a snapshot's state in the place of this shell's, all or nothing. Policy, limits, binds and commands stay this shell's."""
        self._call(n.lib.shell_restore, data, len(data))

    # ---------- what it is given while it lives ----------

    @property
    def config(self) -> ShellConfig:
        """What the shell was given. No secret is in it."""
        binds, env, umask, timeout, limits, clock, virtual_clock, seed = self._given
        net = self._net
        return ShellConfig(binds=tuple(binds), env=dict(env or {}), umask=0o022 if umask is None else umask, timeout=timeout, limits=limits or Limits(),
                           allowed_urls=net.allow if net else (), policy=self._policy, clock=clock, virtual_clock=virtual_clock, seed=seed,
                           credentials=tuple((c.url, c.kind, c.name, c.methods) for c in net.credentials) if net else ())

    def add_bind(self, bind: Bind) -> None:
        from . import _structs
        self._call(n.lib.shell_bind_add, ctypes.byref(bind._fill(_structs.Bind())), path=bind.destination)
        self._given = (tuple(self._given[0]) + (bind,),) + self._given[1:]

    def remove_bind(self, destination: str) -> None:
        """Takes away the newest bind there, and what an overlay or copy had changed."""
        self._call(n.lib.shell_bind_remove, _path(destination), path=destination)
        binds = list(self._given[0])
        newest = max((i for i, b in enumerate(binds) if b.destination == destination), default=None)
        if newest is not None:
            del binds[newest]
        self._given = (tuple(binds),) + self._given[1:]

    def set_limits(self, limits: Limits) -> None:
        """From the next run on; a field of None keeps what holds now."""
        self._call(n.lib.shell_set_limits, ctypes.byref(limits._native()))
        old = self._given[4]
        merged = Limits(**{name: getattr(old, name) if old and getattr(limits, name) is None else getattr(limits, name) for name in n.LIMIT_NAMES})
        self._given = self._given[:4] + (merged,) + self._given[5:]

    def set_net(self, net: Optional[Net]) -> None:
        """Replaces what may leave, also while a run is in progress and from any thread. None: nothing."""
        native, handle, _keep = net._native() if net is not None else (None, None, None)
        self._any_thread(n.lib.shell_set_net, None if native is None else ctypes.byref(native))
        self._net, self._hooks["net"] = net, handle

    def set_policy(self, policy: Optional[Policy]) -> None:
        """Replaces the policy, also while a run is in progress and from any thread."""
        native, handle, _keep = policy._native(self) if policy is not None else (None, None, None)
        self._any_thread(n.lib.shell_set_policy, None if native is None else ctypes.byref(native))
        self._policy, self._hooks["policy"] = policy, handle

    def set_audit(self, audit: Optional[Audit]) -> None:
        native, handle, _keep = audit._native() if audit is not None else (None, None, None)
        self._call(n.lib.shell_set_audit, None if native is None else ctypes.byref(native))
        self._hooks["audit"] = handle

    def audit_take(self) -> Tuple[bytes, int]:
        """The ring's lines, which is then empty, and how many found no room since the last time."""
        lost = ctypes.c_uint64()
        return self._take_bytes(lambda sh, out, length: n.lib.shell_audit_take(sh, out, length, ctypes.byref(lost))), lost.value

    def mount(self, destination: str, target: object, *, readonly: bool = False) -> None:
        """Shows `target` as a directory (or, by its stat, a file): a mapping from paths to bytes, or any object with the methods stat(path) and
        list(path), and as far as it can: read(path, offset, size), readlink(path), create(path, mode), write(path, offset, data), truncate(path, size),
        mkdir(path, mode), remove(path, directory), rename(old, new, no_replace), symlink(path, target), chmod(path, mode), utimes(path, atime_ns, mtime_ns).
        "" is the root. stat gives a size, a dict or an object with size, mode or is_dir, mtime_ns, or None; list gives names ("sub/": a directory),
        (name, is_dir), or entries as os.scandir's. An exception is the errno of its kind."""
        from . import _callbacks, _mounts
        served = _mounts.served(target)
        handle, operations = _callbacks.Handle(served), served.operations()
        self._call(n.lib.shell_mount, _path(destination), ctypes.byref(operations), handle.number, int(readonly), path=destination)
        self._hooks["mount " + destination] = handle

    def unmount(self, destination: str) -> None:
        self._call(n.lib.shell_unmount, _path(destination), path=destination)
        self._hooks.pop("mount " + destination, None)

    def lazy_file(self, path: PathLike, read: Callable[[], Text], *, size: Optional[int] = None, mode: int = 0o644) -> None:
        """A file whose content read() gives when it is first opened; `size` is what stat says until then."""
        from . import _callbacks, _mounts
        raw, handle = _path(path), _callbacks.Handle(lambda call: _mounts.reply_data(call, read()))
        self._call(n.lib.shell_lazy_file, raw, -1 if size is None else size, mode, _callbacks.address(_callbacks.on_lazy), None, handle.number, path=raw)
        self._keep.append(handle)

    # ---------- commands ----------

    def command(self, name: str, function: Union[Callable[[Call], Optional[int]], Callable[[AsyncCall], Awaitable[Optional[int]]]]) -> None:
        """Makes a Python function a command: it gets a Call and returns the status (None: 0). An exception is printed on stderr, status 1. A coroutine
        function gets an AsyncCall and runs where the run is awaited (else on a loop of the binding's own) while the rest of the script goes on."""
        self._register(name, function)
        self._commands[name] = function

    def unknown_command(self, lookup: Optional[Callable[[List[str]], Optional[Callable]]]) -> None:
        """Asked for names nobody knows: lookup(argv) gives a command's function, or None for bash's "command not found"."""
        self._register(None, lookup)
        self._commands[None] = lookup

    def _register(self, name: Optional[str], function) -> None:
        from . import _callbacks
        if function is None:
            self._call(n.lib.shell_unknown_command, None, None)
            return
        if name is None or _is_async(function):
            from . import _aio
            machine = _aio.Machine(self, lookup=function) if name is None else _aio.Machine(self, function)
            handle, callback = _callbacks.Handle(machine), _callbacks.address(_callbacks.on_event)
        else:
            handle, callback = _callbacks.Handle(_blocking(name, function)), _callbacks.address(_callbacks.on_command)
        if name is None:
            self._call(n.lib.shell_unknown_command, callback, handle.number)
        else:
            call = n.lib.shell_command_machine if _is_async(function) else n.lib.shell_command
            self._call(call, _path(name), callback, handle.number, path=name)
        self._hooks.setdefault(("command", name), []).append(handle)  # a replaced one may still run in a job that was kept

    # ---------- for models ----------

    def describe(self, *, fresh: bool = False) -> str:
        """What a model should know about this shell."""
        return self._text(n.lib.shell_describe, int(fresh))

    def tools(self, shape: str = "mcp", *, files: bool = False, fresh: bool = False) -> List[dict]:
        """Tool definitions in the shape of "mcp", "openai" or "anthropic"; files=True: read_file, write_file and list_dir as well."""
        import json
        return json.loads(self._text(n.lib.shell_tools, _shape(shape), int(fresh) | (2 if files else 0)))

    def _text(self, function, *arguments) -> str:
        return self._take_bytes(lambda sh, out, length: function(sh, *arguments, out, length)).decode("utf-8", "replace")

    # ---------- variables ----------

    def set_env(self, name: str, value: str) -> None:
        self._call(n.lib.shell_setenv, _path(name), _path(value), path=name)

    def unset_env(self, name: str) -> None:
        self._call(n.lib.shell_unsetenv, _path(name), path=name)

    def get_env(self, name: str) -> Optional[str]:
        out = ctypes.c_void_p()
        try:
            self._call(n.lib.shell_getenv, _path(name), ctypes.byref(out), path=name)
        except FileNotFoundError:
            return None
        return _take_string(out)

    @property
    def cwd(self) -> str:
        out = ctypes.c_void_p()
        self._call(n.lib.shell_cwd, ctypes.byref(out))
        return _take_string(out)

    # ---------- files ----------

    def read_file(self, path: PathLike) -> bytes:
        raw = _path(path)
        return self._take_bytes(lambda sh, out, length: n.lib.shell_read_file(sh, raw, out, length), raw)

    def read_range(self, path: PathLike, offset: int, size: int) -> bytes:
        raw = _path(path)
        return self._take_bytes(lambda sh, out, length: n.lib.shell_read_range(sh, raw, offset, size, out, length), raw)

    def _take_bytes(self, function, path: Text = "") -> bytes:
        out, length = ctypes.c_void_p(), ctypes.c_uint64()
        self._call(lambda sh: function(sh, ctypes.byref(out), ctypes.byref(length)), path=path)
        try:
            return ctypes.string_at(out, length.value)
        finally:
            n.lib.shell_free(out)

    def read_text(self, path: PathLike) -> str:
        return self.read_file(path).decode("utf-8", "replace")

    def write_file(self, path: PathLike, content: Text, *, append: bool = False, exclusive: bool = False) -> None:
        """Writes the whole file; makes parent directories."""
        raw, data = _path(path), _bytes(content)
        self._call(n.lib.shell_write_file, raw, data, len(data), 1 | (2 if append else 0) | (4 if exclusive else 0), path=raw)

    def stat(self, path: PathLike, *, follow: bool = True) -> Stat:
        from . import _structs
        raw, info = _path(path), _structs.StatInfo(size=ctypes.sizeof(_structs.StatInfo))
        self._call(n.lib.shell_stat, raw, 0 if follow else 1, ctypes.byref(info), path=raw)
        return Stat(info.bytes, info.mode, info.uid, info.gid, info.nlink, info.ino, info.mtime_ns, info.ctime_ns)

    def exists(self, path: PathLike) -> bool:
        raw, out = _path(path), ctypes.c_int32()
        self._call(n.lib.shell_exists, raw, ctypes.byref(out), path=raw)
        return bool(out.value)

    def list_files(self, path: PathLike = ".") -> List[FileInfo]:
        from . import _structs
        raw, out, count = _path(path), ctypes.c_void_p(), ctypes.c_uint64()
        self._call(n.lib.shell_list, raw, ctypes.byref(out), ctypes.byref(count), path=raw)
        try:
            entries = (_structs.Dirent * count.value).from_address(out.value) if count.value else ()
            return [FileInfo(e.name.decode("utf-8", "surrogateescape"), e.type & 0o170000 == 0o040000, e.bytes) for e in entries]
        finally:
            n.lib.shell_free(out)

    def mkdir(self, path: PathLike, mode: int = 0o777, *, parents: bool = False) -> None:
        raw = _path(path)
        self._call(n.lib.shell_mkdir, raw, mode, int(parents), path=raw)

    def remove_file(self, path: PathLike, *, recursive: bool = False) -> None:
        raw = _path(path)
        self._call(n.lib.shell_remove, raw, int(recursive), path=raw)

    def rename(self, source: PathLike, destination: PathLike) -> None:
        raw = _path(source)
        self._call(n.lib.shell_rename, raw, _path(destination), path=raw)

    def chmod(self, path: PathLike, mode: int) -> None:
        raw = _path(path)
        self._call(n.lib.shell_chmod, raw, mode, path=raw)

    def readlink(self, path: PathLike) -> str:
        """Where a symlink points; ValueError when it is none."""
        raw = _path(path)
        return self._take_bytes(lambda sh, out, length: n.lib.shell_readlink(sh, raw, out, length), raw).decode("utf-8", "surrogateescape")

    def changes(self, *, digests: bool = False) -> List[Change]:
        """What differs from the image and the binds the shell was made from, in path order. Digests read the files."""
        from . import _structs
        out, count = ctypes.c_void_p(), ctypes.c_uint64()
        self._call(n.lib.shell_changes_full, int(digests), ctypes.byref(out), ctypes.byref(count))
        try:
            return [_change(e) for e in _entries(_structs.Change, out.value, count.value)]
        finally:
            n.lib.shell_free(out)


# ---------- helpers ----------

_byref, _c_void_p = ctypes.byref, ctypes.c_void_p
_run, _open = n.lib.shell_run, n.lib.shell_open
_options = None


def _template() -> n.Options:
    """Options with nothing but the defaults, and the components beside the library."""
    global _options
    if _options is None:
        from . import _callbacks
        options = n.Options()
        options.size, options.umask, options.component = ctypes.sizeof(n.Options), -1, _callbacks.address(_callbacks.on_component)
        _options = options
    return _options


def _entries(kind, address: int, count: int):
    """An array whose entries tell their size."""
    for _ in range(count):
        entry = kind.from_address(address)
        yield entry
        address += entry.size


def _change(e) -> Change:
    return Change(e.path.decode("utf-8", "surrogateescape"), ("added", "modified", "deleted")[e.kind], e.mode, e.bytes, e.old_mode, e.old_bytes, e.nlink,
                  e.ino, e.mtime_ns, e.target.decode("utf-8", "surrogateescape"), e.digest.decode(), e.old_digest.decode())


def _is_async(function) -> bool:
    """inspect.iscoroutinefunction without inspect: the flag of a function, of a bound one, of a partial, or of a class's __call__."""
    while hasattr(function, "func"):
        function = function.func
    code = getattr(function, "__code__", None) or getattr(getattr(type(function), "__call__", None), "__code__", None)
    return bool(code is not None and code.co_flags & 0x80)


def _blocking(name: str, function):
    def serve(pointer):
        call = Call(pointer)
        try:
            status = function(call)
            return 0 if status is None else int(status) & 255
        except BaseException as e:  # noqa: BLE001: nothing may cross into C
            call.write_error(f"{name}: {type(e).__name__}: {e}\n")
            return 1
        finally:
            call._pointer = None
    return serve


def _take_string(pointer: ctypes.c_void_p) -> str:
    try:
        return ctypes.string_at(pointer).decode("utf-8", "surrogateescape")
    finally:
        n.lib.shell_free(pointer)


def _deliver(on_stdout, on_stderr, failed: list):
    def deliver(stream, data):
        function = on_stdout if stream == 1 else on_stderr
        if function is None or failed:
            return n.EPIPE if failed else 0
        try:
            function(data)
            return 0
        except BaseException as e:  # noqa: BLE001: raised again by run()
            failed.append(e)
            return n.EPIPE
    return deliver


def _shape(name: str) -> int:
    shapes = {"mcp": 0, "openai": 1, "anthropic": 2}
    if name not in shapes:
        raise InvalidArgumentError(f"shape {name!r}: one of {', '.join(shapes)}")
    return shapes[name]


def command_names() -> Tuple[str, ...]:
    """The names of all built-in commands."""
    count = ctypes.c_uint64()
    names = n.lib.shell_command_names(ctypes.byref(count))
    return tuple(name.decode() for name in (ctypes.c_char_p * count.value).from_address(names))


def version() -> str:
    return n.lib.shell_version().decode()


def feature(name: str) -> bool:
    """Whether the library was built with "direct", "overlay", "net", "pcre2-jit", "asan"."""
    return bool(n.lib.shell_feature(_path(name)))


def describe(*, fresh: bool = False) -> str:
    """Shell.describe for a shell with the defaults, without making one."""
    return text_from(n.lib.shell_describe, None, int(fresh))


def tools(shape: str = "mcp", *, files: bool = False, fresh: bool = False) -> List[dict]:
    """Shell.tools for a shell with the defaults, without making one."""
    import json
    return json.loads(text_from(n.lib.shell_tools, None, _shape(shape), int(fresh) | (2 if files else 0)))
