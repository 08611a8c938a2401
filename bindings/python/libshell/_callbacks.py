"""What C calls. There is one C function of each kind for the whole process, never freed, so that C can never call one that is gone; the `user`
pointer is the number of a Handle, which a shell keeps. A number whose Handle was dropped is answered with a refusal."""
from __future__ import annotations

import ctypes
import itertools
import os
import weakref
from ctypes import CFUNCTYPE, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p

from . import _native as n
from . import _structs as s
from ._errors import code_of

_numbers = itertools.count(1)
_handles: "weakref.WeakValueDictionary[int, Handle]" = weakref.WeakValueDictionary()


class Handle:
    """Keeps `thing` for C, which knows it by `number`."""
    __slots__ = ("number", "thing", "__weakref__")

    def __init__(self, thing):
        self.thing, self.number = thing, next(_numbers)
        _handles[self.number] = self


def thing_of(number):
    handle = _handles.get(number)
    return None if handle is None else handle.thing


def address(function) -> int:
    return ctypes.cast(function, c_void_p).value


# ---------- components ----------

_components: dict = {}


def _component_of(name: str) -> int:
    path = os.path.join(n.FOLDER, f"libshell-{name}.so")
    if not os.path.exists(path):
        return 0
    try:
        entry = getattr(ctypes.CDLL(path), f"libshell_{name}")
    except (OSError, AttributeError):
        return 0
    entry.restype, entry.argtypes = c_void_p, []
    return entry() or 0


@CFUNCTYPE(c_void_p, c_void_p, c_char_p)
def on_component(_user, name):
    try:
        if name not in _components:
            _components[name] = _component_of(name.decode())
        return _components[name]
    except Exception:  # noqa: BLE001: nothing may cross into C
        return 0


# ---------- output and input of a run ----------

@CFUNCTYPE(c_int32, c_void_p, c_int32, c_void_p, c_uint64)
def on_output(user, stream, data, length):
    function = thing_of(user)
    if function is None:
        return n.EPIPE
    return function(stream, ctypes.string_at(data, length))


@CFUNCTYPE(c_int64, c_void_p, c_void_p, c_uint64)
def on_input(user, buffer, size):
    function = thing_of(user)
    data = function(size) if function is not None else b""
    if isinstance(data, int):
        return data
    ctypes.memmove(buffer, data, len(data))
    return len(data)


# ---------- commands ----------

@CFUNCTYPE(c_int32, c_void_p, c_void_p)
def on_command(user, pointer):
    function = thing_of(user)
    return 126 if function is None else function(pointer)


@CFUNCTYPE(c_int32, c_void_p, c_void_p, c_int32, c_void_p, c_uint64)
def on_event(user, pointer, event, data, length):
    function = thing_of(user)
    return 126 if function is None else function(pointer, event, ctypes.string_at(data, length) if length else b"")


# ---------- policy, audit, network: an exception is a refusal ----------

@CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p, c_uint64)
def on_ask(user, question, reason, size):
    function = thing_of(user)
    if function is None:
        return n.EACCES
    q = s.Question.from_address(question)
    answer = function(q.kind, q.subject, q.id)
    if isinstance(answer, int):
        return answer
    put_string(reason, size, answer)
    return n.EACCES


def put_string(buffer: int, size: int, text: bytes) -> None:
    if size:
        text = text.replace(b"\0", b"")[:size - 1] + b"\0"
        ctypes.memmove(buffer, text, len(text))


@CFUNCTYPE(None, c_void_p, c_void_p, c_uint64)
def on_line(user, line, length):
    function = thing_of(user)
    if function is not None:
        try:
            function(ctypes.string_at(line, length))
        except Exception:  # noqa: BLE001: it is told, and the shell goes on
            import sys
            sys.excepthook(*sys.exc_info())


def _text(raw) -> str:
    return raw.decode("utf-8", "surrogateescape")


@CFUNCTYPE(c_int32, c_void_p, c_char_p, c_char_p, c_uint32, c_int64)
def on_decide(user, method, url, hop, length):
    net = thing_of(user)
    try:
        return 0 if net is not None and net.decide(_text(method), _text(url), hop, None if length < 0 else length) else 1
    except Exception:  # noqa: BLE001
        return 1


@CFUNCTYPE(c_int32, c_void_p, c_char_p, c_void_p, c_uint64)
def on_resolve(user, host, out, size):
    net = thing_of(user)
    try:
        found = net.resolve(_text(host))
        text = (found if isinstance(found, str) else ",".join(found or ())).encode()
    except Exception:  # noqa: BLE001
        return 1
    if not text or len(text) >= size:
        return 1
    put_string(out, size, text)
    return 0


def _put_secret(raw: bytes, out: int, size: int) -> int:
    if len(raw) > size:
        return -1
    ctypes.memmove(out, raw, len(raw))
    return len(raw)


@CFUNCTYPE(c_int64, c_void_p, c_uint64, c_char_p, c_char_p, c_void_p, c_uint64)
def on_secret(user, index, method, url, out, size):
    net = thing_of(user)
    try:
        secret = net.credentials[index].secret(_text(method), _text(url))
        return _put_secret(secret.encode() if isinstance(secret, str) else bytes(secret), out, size)
    except Exception:  # noqa: BLE001
        return -1


@CFUNCTYPE(c_int64, c_void_p, c_uint64, c_char_p, c_char_p, c_void_p, c_uint64, c_void_p, c_uint64)
def on_sign(user, index, method, url, body, length, out, size):
    net = thing_of(user)
    try:
        answer = net.credentials[index].secret(_text(method), _text(url), None if body is None else ctypes.string_at(body, length))
        lines = [f"{name}: {value}" for name, value in (answer.items() if hasattr(answer, "items") else answer)]
        if not lines or any("\r" in line or "\n" in line for line in lines):
            return -1
        return _put_secret("\n".join(lines).encode("utf-8", "surrogateescape"), out, size)
    except Exception:  # noqa: BLE001
        return -1


# ---------- a transport ----------

class _Exchange:
    """Collects a body, asks the transport when the answer is wanted first, and hands it out piece by piece."""

    def __init__(self, net, request):
        self.net, self.request, self.sent, self.pieces, self.rest = net, request, bytearray(), None, b""

    def begin(self):
        from ._grants import Request, Response
        body = bytes(self.sent) if self.request.pop("has_body") else None
        answer = self.net.transport(Request(body=body, **self.request))
        if not isinstance(answer, Response):
            raise TypeError("a transport returns a Response")
        lines = [f"HTTP/1.1 {int(answer.status)} {answer.reason}"] + [f"{name}: {value}" for name, value in answer.headers]
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a header holds a line break")
        self.rest = ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")
        body = answer.body
        self.pieces = iter((bytes(body),) if isinstance(body, (bytes, bytearray, memoryview)) else body)

    def receive(self, size):
        if self.pieces is None:
            self.begin()
        while not self.rest:
            piece = next(self.pieces, None)
            if piece is None:
                return b""
            self.rest = bytes(piece)
        out, self.rest = self.rest[:size], self.rest[size:]
        return out

    def close(self):
        close = getattr(self.pieces, "close", None)
        if close:
            close()


def _header_pairs(pointer):
    pairs = []
    for i in itertools.count():
        line = c_char_p.from_address(pointer + i * ctypes.sizeof(c_void_p)).value
        if line is None:
            return pairs
        name, _, value = _text(line).partition(":")
        pairs.append((name, value.strip()))


@CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p, c_void_p, c_uint64)
def _on_transfer(user, request, out, why, why_size):
    net = thing_of(user)
    try:
        r = s.Transfer.from_address(request)
        handle = Handle(_Exchange(net, {
            "method": _text(r.method), "url": _text(r.url), "headers": _header_pairs(r.headers), "insecure": bool(r.insecure), "has_body": r.body_len != -1,
            "addresses": None if r.addresses is None else tuple(a.strip("[]") for a in _text(r.addresses).split(",")),
            "timeout": r.timeout_ms / 1000 if r.timeout_ms else None}))
        _exchanges[handle.number] = handle
        c_void_p.from_address(out).value = handle.number
    except Exception as e:  # noqa: BLE001
        put_string(why, why_size, str(e).encode("utf-8", "replace")[:why_size - 1])
        return 1
    return 0


_exchanges: dict = {}


@CFUNCTYPE(c_int64, c_void_p, c_void_p, c_void_p, c_uint64)
def _on_transfer_send(_user, number, data, length):
    try:
        thing_of(number).sent += ctypes.string_at(data, length)
    except Exception:  # noqa: BLE001
        return -1
    return length


@CFUNCTYPE(c_int64, c_void_p, c_void_p, c_void_p, c_uint64)
def _on_transfer_receive(_user, number, out, size):
    try:
        piece = thing_of(number).receive(size)
        ctypes.memmove(out, piece, len(piece))
    except Exception:  # noqa: BLE001: it is told, and the request fails
        import sys
        sys.excepthook(*sys.exc_info())
        return -1
    return len(piece)


@CFUNCTYPE(None, c_void_p, c_void_p)
def _on_transfer_close(_user, number):
    handle = _exchanges.pop(number, None)
    try:
        if handle is not None:
            handle.thing.close()
    except Exception:  # noqa: BLE001
        pass


on_transport = (_on_transfer, _on_transfer_send, _on_transfer_receive, _on_transfer_close)


# ---------- mounts ----------

def _answer(function, *arguments) -> int:
    try:
        return function(*arguments) or 0
    except Exception as e:  # noqa: BLE001
        return code_of(e)


_MOUNT_ARGUMENTS = {
    "stat": (), "list": (), "read": (c_uint64, c_uint64), "readlink": (), "create": (c_uint32,), "write": (c_uint64, c_void_p, c_uint64),
    "truncate": (c_uint64,), "mkdir": (c_uint32,), "remove": (c_int32,), "rename": (c_void_p, c_uint64, c_int32), "symlink": (c_void_p, c_uint64),
    "chmod": (c_uint32,), "utimes": (c_int64, c_int64),
}


def _mount_function(name, arguments):
    @CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p, c_uint64, *arguments)
    def serve(user, call, path, length, *rest):
        mount = thing_of(user)
        if mount is None:
            return n.EIO
        return _answer(mount.serve, name, call, _text(ctypes.string_at(path, length)), rest)
    return serve


_mount_functions: dict = {}


def mount_function(name) -> int:
    if name not in _mount_functions:
        _mount_functions[name] = _mount_function(name, _MOUNT_ARGUMENTS[name])
    return address(_mount_functions[name])


@CFUNCTYPE(c_int32, c_void_p, c_void_p)
def on_lazy(user, call):
    function = thing_of(user)
    return n.EIO if function is None else _answer(function, call)
