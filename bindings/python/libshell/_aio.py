"""asyncio: runs that are awaited, output as it comes, commands that are coroutine functions."""
from __future__ import annotations

import asyncio
import codecs
import ctypes
import os
import threading
import time
import weakref
from collections import deque
from inspect import iscoroutinefunction

from . import _native as n
from . import _threads
from ._errors import ShellError, error
from ._values import Value, to_bytes, to_name

# ---------- where coroutines run ----------

_loop = None
_loop_lock = threading.Lock()


def background() -> asyncio.AbstractEventLoop:
    """A loop of the binding's own, for async commands of a run that no loop awaits."""
    global _loop
    with _loop_lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="libshell loop", daemon=True).start()
        return _loop


def _after_fork() -> None:
    global _loop, _loop_lock
    _loop, _loop_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def spawn(shell, coroutine):
    """Starts a coroutine where the shell's run is awaited, else on the binding's own loop."""
    job = shell._job if shell is not None else None
    loop = getattr(job, "loop", None)
    return asyncio.run_coroutine_threadsafe(coroutine, loop if loop is not None and not loop.is_closed() else background())


# ---------- a run on a thread ----------

class Job:
    """One run, called by a thread of the pool. ended(output, exception) is called once, there."""

    def __init__(self, shell, script, options, loop, ended):
        self.shell, self.script, self.options, self.loop, self.ended = shell, script, options, loop, ended
        self.cancelled = self.done = False

    def __call__(self) -> None:
        output = failure = None
        try:
            if self.cancelled:
                raise ShellError("the run was cancelled before it began")
            output = self.shell._run(self.script, self, self.options)
        except BaseException as e:  # noqa: BLE001: it is raised where the run is awaited
            failure = e
        self.done = True
        ended, self.ended, self.options, self.script = self.ended, None, None, None
        ended(output, failure)

    def stop(self) -> None:
        """Cancels; to be called again until the job is done, for a cancel before the run's first step finds nothing to end."""
        self.cancelled = True
        if not self.done and self.shell._job is self:
            self.shell.cancel()


class Reaper:
    """Stops a job whose owner is gone."""

    def __init__(self, job):
        self.job = job

    def __call__(self) -> None:
        while not self.job.done:
            self.job.stop()
            time.sleep(0.002)


def _post(loop, function, *arguments) -> None:
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:  # the loop is closed: nobody waits
        pass


def _settle(future, output, failure) -> None:
    if future.cancelled() or future.done():
        return
    if failure is not None:
        future.set_exception(failure)
    else:
        future.set_result(output)


async def _stopped(job, future) -> None:
    while not future.done():
        job.stop()
        try:
            await asyncio.wait({future}, timeout=0.005)
        except asyncio.CancelledError:
            continue
    if not future.cancelled():
        future.exception()  # looked at: asyncio need not complain


async def arun(shell, script, options):
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    job = Job(shell, script, options, loop, lambda output, failure: _post(loop, _settle, future, output, failure))
    _threads.submit(job)
    try:
        await asyncio.wait({future})
    except asyncio.CancelledError:
        await _stopped(job, future)
        raise
    return future.result()


async def acall(function, *arguments):
    """function(*arguments) on a thread of the pool: for calls that may read from the host."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def work():
        try:
            result, failure = function(*arguments), None
        except BaseException as e:  # noqa: BLE001
            result, failure = None, e
        _post(loop, _settle, future, result, failure)
    _threads.submit(work)
    try:
        await asyncio.wait({future})
    except asyncio.CancelledError:  # the shell is in use until the call has ended
        while not future.done():
            try:
                await asyncio.wait({future})
            except asyncio.CancelledError:
                continue
        future.exception()
        raise
    return future.result()


# ---------- streams ----------

class Chunk(Value):
    """Output as it came. stream: "stdout" or "stderr"; text: data decoded, a character cut in two by chunks comes with the second."""
    __slots__ = ("stream", "data", "text")

    def __init__(self, stream: str, data: bytes, text: str):
        self.stream, self.data, self.text = stream, data, text


class _Feed:
    """What lies between the thread that runs and who reads: at most HIGH bytes and one chunk, then the script waits."""
    HIGH = 1 << 20

    def __init__(self, shell):
        self.shell, self.chunks, self.size = shell, deque(), 0
        self.changed = threading.Condition()
        self.starved = self.closed = self.ended = False
        self.output = self.failure = None
        self.notify = None  # of an async reader
        decoder = codecs.getincrementaldecoder("utf-8")
        self.decoders = {1: decoder("replace"), 2: decoder("replace")}

    def deliver(self, stream, data) -> int:
        with self.changed:
            if self.closed:
                return n.EPIPE
            if self.size >= self.HIGH:
                self.starved = True
                return n.EAGAIN
            self.chunks.append((stream, data))
            self.size += len(data)
            self._tell()
        return 0

    def end(self, output, failure) -> None:
        with self.changed:
            self.output, self.failure, self.ended = output, failure, True
            self._tell()

    def _tell(self) -> None:
        self.changed.notify_all()
        if self.notify is not None:
            notify, self.notify = self.notify, None
            notify()

    def take(self):
        """A chunk; None: the run has ended; False: not yet. With `changed` held."""
        if not self.chunks:
            if not self.ended:
                return False
            if self.failure is not None:
                failure, self.failure = self.failure, None
                raise failure
            return None
        stream, data = self.chunks.popleft()
        self.size -= len(data)
        if self.starved and self.size <= self.HIGH // 2:
            self.starved = False
            self.shell._wake()
        return Chunk("stdout" if stream == 1 else "stderr", data, self.decoders[stream].decode(data))


class Stream:
    """A run whose output is read while it comes, by `for` or `async for`. It begins with the first read. Afterwards `output` is the Output. Dropping
    or closing it before its end cancels the run."""

    def __init__(self, shell, script, options):
        self._shell, self._script, self._options = shell, script, options
        self._feed, self._job = _Feed(shell), None

    @property
    def output(self):
        return self._feed.output

    def _begin(self, loop) -> None:
        if self._job is None:
            self._job = Job(self._shell, self._script, dict(self._options, _deliver=self._feed.deliver), loop, self._feed.end)
            _threads.submit(self._job)

    def __iter__(self):
        return self

    def __next__(self) -> Chunk:
        self._begin(None)
        feed = self._feed
        with feed.changed:
            while True:
                chunk = feed.take()
                if chunk is not False:
                    break
                feed.changed.wait()
        if chunk is None:
            raise StopIteration
        return chunk

    def __aiter__(self):
        return self

    async def __anext__(self) -> Chunk:
        loop, feed = asyncio.get_running_loop(), self._feed
        self._begin(loop)
        while True:
            with feed.changed:
                chunk = feed.take()
                if chunk is False:
                    future = loop.create_future()
                    feed.notify = lambda: _post(loop, _settle, future, None, None)
            if chunk is None:
                raise StopAsyncIteration
            if chunk is not False:
                return chunk
            try:
                await future
            except asyncio.CancelledError:
                await self.aclose()
                raise

    def _stop(self) -> bool:
        with self._feed.changed:
            self._feed.closed = True
        if self._job is None or self._job.done:
            return False
        self._job.stop()
        if self._feed.starved:
            self._shell._wake()
        return not self._job.done

    def close(self) -> None:
        """Ends the run if it is in progress, and waits for that."""
        while self._stop():
            time.sleep(0.001)

    async def aclose(self) -> None:
        while self._stop():
            try:
                await asyncio.sleep(0.001)
            except asyncio.CancelledError:
                continue

    def __enter__(self):
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exception) -> None:
        await self.aclose()

    def __del__(self) -> None:
        if self._job is not None and self._stop():
            _threads.submit(Reaper(self._job))


# ---------- commands that take their time ----------

_START, _INPUT, _INPUT_END, _WRITABLE, _KILLED = range(5)
_MORE, _LATER, _UNKNOWN = -1, -2, -3


class MachineCall:
    """One running command of the host's: argv, stdin, cwd, and where to write; as Call."""

    def __init__(self, command, pointer):
        self._command, self._pointer = command, pointer
        self.argv = [n.lib.shell_call_arg(pointer, i).decode("utf-8", "surrogateescape") for i in range(n.lib.shell_call_argc(pointer))]
        self.cwd = n.lib.shell_call_cwd(pointer).decode("utf-8", "surrogateescape")
        self._stdin, self._looked = b"", False
        self._lock = threading.Lock()
        self._parts, self._out, self._work = [], deque(), deque()
        self._waiting = self._closed = False
        self._status = self._future = None
        self._id = 0

    @property
    def stdin(self) -> bytes:
        self._looked = True
        return self._stdin

    def write(self, data) -> None:
        self._put(1, data)

    def write_error(self, data) -> None:
        self._put(2, data)

    def _put(self, stream, data) -> None:
        raw = to_bytes(data)
        with self._lock:
            if self._closed:
                raise error(n.EPIPE, "the command has ended")
            self._out.append((stream, raw))
            self._kick()

    def getenv(self, name):
        value = n.lib.shell_call_getenv(self._pointer, to_name(name))
        return None if value is None else value.decode("utf-8", "surrogateescape")

    def _kick(self) -> None:
        """Lets a waiting command have its turn. With the lock held: then the call is still there."""
        if self._waiting and not self._closed:
            self._waiting = False
            shell = self._command.shell()
            if shell is not None:
                shell._answer(self._id, _MORE)

    def _flush(self) -> bool:
        wrote, written = False, ctypes.c_uint64()
        while self._out:
            stream, raw = self._out[0]
            if n.lib.shell_call_write(self._pointer, stream, raw, len(raw), ctypes.byref(written)):
                self._out.clear()
                break
            wrote = True
            if written.value < len(raw):
                self._out[0] = (stream, raw[written.value:])
                break
            self._out.popleft()
        return wrote

    def turn(self) -> int:
        """What the command says to an event, on the thread that runs."""
        while True:
            with self._lock:
                work = self._work.popleft() if self._work else None
                if work is None:
                    return self._say(self._flush())
            work()

    def _say(self, wrote: bool) -> int:
        if self._status is not None and not self._out:
            self._closed = True
            if not self._looked:  # the script may read on from there
                n.lib.shell_call_unread(self._pointer)
            return self._status
        if wrote or self._out:
            return _MORE
        self._id, self._waiting = n.lib.shell_call_id(self._pointer), True
        return _LATER

    def finish(self, status) -> None:
        with self._lock:
            self._status = 0 if status is None else int(status) & 255
            self._kick()

    def fail(self, e) -> None:
        with self._lock:
            if not self._closed:
                self._out.append((2, f"{self.argv[0]}: {type(e).__name__}: {e}\n".encode("utf-8", "surrogateescape")))
        self.finish(1)

    def kill(self) -> None:
        with self._lock:
            self._closed = True
            future = self._future
        if future is not None:
            future.cancel()

    def start(self, function) -> None:
        try:
            self.finish(function(self))
        except BaseException as e:  # noqa: BLE001: nothing may cross into C
            self.fail(e)


class AsyncCall(MachineCall):
    """For a coroutine function. What must happen where the shell runs is awaited: getenv, and do(function, ...) for the shell's own file calls."""

    async def do(self, function, *arguments):
        """function(*arguments) between two steps of the shell: `await call.do(sh.read_file, "x")`."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def work():
            try:
                result, failure = function(*arguments), None
            except BaseException as e:  # noqa: BLE001
                result, failure = None, e
            _post(loop, _settle, future, result, failure)
        with self._lock:
            if self._closed:
                raise error(n.EPIPE, "the command has ended")
            self._work.append(work)
            self._kick()
        return await future

    async def getenv(self, name):
        return await self.do(MachineCall.getenv, self, name)

    async def drain(self) -> None:
        """Waits until what was written has left the command."""
        while self._out and not self._closed:
            await asyncio.sleep(0.001)

    def start(self, function) -> None:
        self._future = spawn(self._command.shell(), self._main(function))

    async def _main(self, function) -> None:
        try:
            self.finish(await function(self))
        except asyncio.CancelledError:
            self.finish(130)
            raise
        except BaseException as e:  # noqa: BLE001
            self.fail(e)


class Machine:
    """Events of one command, or of the hook for unknown ones, whose `lookup` finds a function by argv."""

    def __init__(self, shell, function=None, lookup=None):
        self.shell, self.function, self.lookup = weakref.ref(shell), function, lookup
        self.calls: dict = {}

    def __call__(self, pointer, event, data) -> int:
        try:
            status = self._event(pointer, event, data)
        except BaseException as e:  # noqa: BLE001: nothing may cross into C
            text = f"{type(e).__name__}: {e}\n".encode("utf-8", "surrogateescape")
            n.lib.shell_call_write(pointer, 2, text, len(text), None)
            status = 1
        if status not in (_MORE, _LATER):
            self.calls.pop(pointer, None)
        return status

    def _event(self, pointer, event, data) -> int:
        if event == _START:
            return self._begin(pointer)
        if event == _KILLED:
            if pointer in self.calls:
                self.calls[pointer][1].kill()
            return 0
        function, call = self.calls[pointer]
        if event == _INPUT:
            call._parts.append(data)
            return _MORE
        if event == _INPUT_END:
            call._stdin = b"".join(call._parts)
            call._parts.clear()
            call.start(function)
        return call.turn()

    def _begin(self, pointer) -> int:
        function = self.function
        if self.lookup is not None:
            function = self.lookup([n.lib.shell_call_arg(pointer, i).decode("utf-8", "surrogateescape") for i in range(n.lib.shell_call_argc(pointer))])
            if function is None:
                return _UNKNOWN
        kind = AsyncCall if iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None)) else MachineCall
        self.calls[pointer] = (function, kind(self, pointer))
        return _MORE
