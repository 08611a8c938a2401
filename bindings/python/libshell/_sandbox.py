"""A sandbox with the interface of the Strands Agents SDK over a shell, and stand-ins for that SDK's types, with which it works alone."""
from __future__ import annotations

import asyncio
import re
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any, AsyncIterator, Callable, Dict, List, Mapping, Optional

import libshell

from . import _aio

# ---------- stand-ins ----------


@dataclass
class StreamChunk:
    data: str
    stream_type: str = "stdout"


@dataclass
class FileInfo:
    name: str
    is_dir: Optional[bool] = None
    size: Optional[int] = None


@dataclass
class OutputFile:
    name: str
    content: bytes
    mime_type: str = "application/octet-stream"


@dataclass
class ExecutionResult:
    exit_code: int
    stdout: str
    stderr: str
    output_files: List[OutputFile] = field(default_factory=list)


@dataclass
class HttpResult:
    status: int
    status_text: str
    resolved_url: str
    headers: Dict[str, str]
    body: bytes


class SandboxTimeoutError(TimeoutError):
    def __init__(self, seconds: float, stdout: str = "", stderr: str = ""):
        super().__init__(f"timed out after {seconds:g} seconds")
        self.seconds, self.stdout, self.stderr = seconds, stdout, stderr


class SandboxPathNotFoundError(FileNotFoundError):
    def __init__(self, path: str):
        super().__init__(f"no such directory: {path}")
        self.path = path


class SandboxHttpError(Exception):
    pass


class Sandbox:
    """What the SDK's base class makes of the abstract methods."""

    async def execute(self, command: str, **kw: Any) -> ExecutionResult:
        return await self._last(self.execute_streaming(command, **kw))

    async def execute_code(self, code: str, language: str, **kw: Any) -> ExecutionResult:
        return await self._last(self.execute_code_streaming(code, language, **kw))

    @staticmethod
    async def _last(stream: AsyncIterator) -> ExecutionResult:
        result = None
        async for part in stream:
            result = part
        if not isinstance(result, ExecutionResult):
            raise RuntimeError("the stream ended without a result")
        return result

    async def read_text(self, path: str, encoding: str = "utf-8", **kw: Any) -> str:
        return (await self.read_file(path, **kw)).decode(encoding)

    async def write_text(self, path: str, content: str, encoding: str = "utf-8", **kw: Any) -> None:
        await self.write_file(path, content.encode(encoding), **kw)


# ---------- arrival order ----------

class Queue:
    """One at a time, in arrival order, for callers on several event loops: the SDK may run each turn on a loop of its own."""

    def __init__(self) -> None:
        self._lock, self._held, self._waiting = threading.Lock(), False, deque()

    async def __aenter__(self) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            if not self._held:
                self._held = True
                return
            future = loop.create_future()
            self._waiting.append((loop, future))
        try:
            await future
        except asyncio.CancelledError:
            with self._lock:
                waiting = (loop, future) in self._waiting
                if waiting:
                    self._waiting.remove((loop, future))
            if not waiting:  # it was this one's turn already
                self._next()
            raise

    def _next(self) -> None:
        with self._lock:
            while self._waiting:
                loop, future = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(lambda: future.done() or future.set_result(None))
                    return
                except RuntimeError:  # that loop is closed
                    continue
            self._held = False

    async def __aexit__(self, *exception: object) -> None:
        self._next()


# ---------- the sandbox ----------

# language: how its code is run; $1 is the code, which is standard input as well.
_BUILT_IN = {"bash": 'bash -c "$1" </dev/null', "sh": 'sh -c "$1" </dev/null', "awk": 'awk "$1" </dev/null', "jq": 'jq -n "$1" </dev/null',
             "sqlite3": "sqlite3 :memory:"}
_ALIASES = {"shell": "bash", "python": "python3", "py": "python3", "javascript": "node", "js": "node", "sqlite": "sqlite3", "sql": "sqlite3"}
_CODE_OPTION = {"node": "-e", "perl": "-e", "ruby": "-e"}
_REQUEST = ('d=$(mktemp -d) && curl -sS -L -X "$1" -D "$d/head" -o "$d/body" -w "%{http_code} %{url_effective}\\n" "${@:3}" "$2"; s=$?; '
            'echo "$d"; exit $s')


def make(api: Any) -> type:
    """The class over one set of types: the SDK's, or the stand-ins here."""

    class ShellSandbox(api.Sandbox):
        """A sandbox of the Strands Agents SDK over one libshell.Shell. Calls queue in arrival order, each with its own deadline from its start.

        shell: one of yours; else one is made of shell_options (libshell.Shell's). output_directory: regular files that a call creates or changes
        below it are its output_files. interpreters: {"python3": function}, each a custom command of that name, which gets NAME -c CODE (-e for node,
        perl, ruby), NAME FILE, or the code as standard input."""

        def __init__(self, shell: Optional[libshell.Shell] = None, *, output_directory: Optional[str] = None,
                     interpreters: Optional[Mapping[str, Callable]] = None, name: str = "shell", description: Optional[str] = None, **shell_options: Any):
            if shell is not None and shell_options:
                raise ValueError("give a shell, or the options of a new one")
            super().__init__()
            self.shell = shell if shell is not None else libshell.Shell(**shell_options)
            self.output_directory, self.interpreters = output_directory, dict(interpreters or {})
            self._queue, self._name, self._description = Queue(), name, description
            for language, function in self.interpreters.items():
                self.shell.command(language, function)

        # ----- running -----

        async def execute_streaming(self, command: str, *, timeout: Optional[float] = None, cwd: Optional[str] = None,
                                    env: Optional[Mapping[str, str]] = None, **_kw: Any):
            async for part in self._stream(command, timeout, cwd, env):
                yield part

        async def execute_code_streaming(self, code: str, language: str, *, timeout: Optional[float] = None, cwd: Optional[str] = None,
                                         env: Optional[Mapping[str, str]] = None, **_kw: Any):
            script = self._script_for(language)
            if script is None:
                text = self._no_language(language)
                yield api.StreamChunk(data=text, stream_type="stderr")
                yield api.ExecutionResult(exit_code=127, stdout="", stderr=text, output_files=[])
                return
            async for part in self._stream(script, timeout, cwd, env, args=["bash", code], stdin=code):
                yield part

        def _languages(self) -> dict:
            there = set(libshell.command_names())
            scripts = {name: script for name, script in _BUILT_IN.items() if name in there}
            for name in self.interpreters:
                scripts[name] = f'{name} {_CODE_OPTION.get(name, "-c")} "$1" </dev/null'
            return scripts

        def _script_for(self, language: str) -> Optional[str]:
            scripts = self._languages()
            return scripts.get(language) or scripts.get(_ALIASES.get(language.lower(), language.lower()))

        def _no_language(self, language: str) -> str:
            return (f"{language}: no interpreter for it in this sandbox. Use one of {', '.join(sorted(self._languages()))}; "
                    f"the host can add one with interpreters={{{language!r}: function}}.\n")

        async def _stream(self, script, timeout, cwd, env, **options):
            for variable in env or {}:
                if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
                    raise ValueError(f"not the name of an environment variable: {variable!r}")
            async with self._queue:
                before = await self._outputs()
                async with self.shell.stream(script, timeout=timeout, cwd=cwd, env=env, **options) as stream:
                    async for chunk in stream:
                        if chunk.text:
                            yield api.StreamChunk(data=chunk.text, stream_type=chunk.stream)
                    output = stream.output
                files = await self._new_files(before)
            if output.end == "timeout":
                raise api.SandboxTimeoutError(timeout or output.limit_value / 1000, stdout=output.stdout, stderr=output.stderr)
            yield api.ExecutionResult(exit_code=output.status, stdout=output.stdout, stderr=output.stderr, output_files=files)

        # ----- files that a run made -----

        async def _outputs(self) -> dict:
            if self.output_directory is None:
                return {}
            below = self.output_directory.rstrip("/") + "/"
            changes = await _aio.acall(lambda: self.shell.changes(digests=True))
            return {c.path: c.digest for c in changes if c.kind != "deleted" and c.path.startswith(below) and c.mode & 0o170000 == 0o100000}

        async def _new_files(self, before: dict) -> list:
            import mimetypes
            files = []
            for path, digest in (await self._outputs()).items():
                if before.get(path) != digest:
                    content = await _aio.acall(self.shell.read_file, path)
                    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
                    files.append(api.OutputFile(name=path[len(self.output_directory.rstrip("/")) + 1:], content=content, mime_type=kind))
            return files

        # ----- files -----

        async def _file_call(self, function, *arguments):
            async with self._queue:
                return await _aio.acall(function, *arguments)

        async def read_file(self, path: str, **_kw: Any) -> bytes:
            return await self._file_call(self.shell.read_file, path)

        async def write_file(self, path: str, content: bytes, **_kw: Any) -> None:
            try:
                await self._file_call(self.shell.write_file, path, content)
            except libshell.ShellError as e:
                if isinstance(e, OSError):
                    raise
                raise OSError(str(e)) from e

        async def remove_file(self, path: str, **_kw: Any) -> None:
            await self._file_call(self.shell.remove_file, path)

        async def list_files(self, path: str = ".", **_kw: Any) -> list:
            try:
                found = await self._file_call(self.shell.list_files, path)
            except (FileNotFoundError, NotADirectoryError) as e:
                raise api.SandboxPathNotFoundError(path) from e
            return [api.FileInfo(name=f.name, is_dir=f.is_dir, size=f.size) for f in found]

        # ----- the network, under the shell's own rules and credentials -----

        async def request(self, method: str, url: str, *, headers: Optional[Mapping[str, str]] = None, body: Any = None,
                          timeout: Optional[float] = None, max_bytes: Optional[int] = None, **_kw: Any):
            args = ["bash", method, url]
            for name, value in (headers or {}).items():
                args += ["-H", f"{name}: {value}"]
            if body is not None:
                args += ["--data-binary", "@-"]
            async with self._queue:
                out = await self.shell.arun(f"({_REQUEST})", args=args, stdin=body, timeout=timeout)
                lines = out.stdout.splitlines()
                if not lines:
                    raise api.SandboxHttpError(out.stderr.strip() or "no answer")
                try:
                    if out.status:
                        raise api.SandboxHttpError(out.stderr.strip() or f"{method} {url}: {out.end}")
                    return await _aio.acall(self._response, lines, max_bytes)
                finally:
                    await _aio.acall(lambda: self.shell.remove_file(lines[-1], recursive=True))

        def _response(self, lines, max_bytes):
            folder = lines[-1]
            size = self.shell.stat(folder + "/body").size if self.shell.exists(folder + "/body") else 0
            if max_bytes is not None and size > max_bytes:
                raise api.SandboxHttpError(f"the body has {size} bytes, {max_bytes} are allowed")
            head = self.shell.read_file(folder + "/head").decode("latin-1").replace("\r\n", "\n").strip().split("\n\n")[-1].split("\n")
            found = {}
            for line in head[1:]:
                name, _, value = line.partition(":")
                key = name.strip().lower()
                found[key] = f"{found[key]}, {value.strip()}" if key in found else value.strip()
            status, _, resolved = lines[0].partition(" ")
            return api.HttpResult(status=int(status), status_text=(head[0].split(" ", 2) + ["", ""])[2], resolved_url=resolved, headers=found,
                                  body=self.shell.read_file(folder + "/body") if size else b"")

        def get_tools(self) -> list:
            return api.make_tools(self, self._name, self._description)

        def close(self) -> None:
            self.shell.close()

    return ShellSandbox


def make_tools(sandbox: Any, name: str, description: Optional[str]) -> list:
    """Without the SDK: the definition that the shell gives of itself."""
    (tool,) = [t for t in sandbox.shell.tools("mcp") if t["name"] == "shell"]
    return [{**tool, "name": name, "description": description or tool["description"]}]
