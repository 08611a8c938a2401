"""What a shell is granted and watched by: network, policy, audit. Values, and how each becomes C's struct."""
from __future__ import annotations

import ctypes

from . import _native as n
from . import _structs as s
from ._errors import InvalidArgumentError
from ._values import Value, strings, to_bytes, to_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Awaitable, Callable, Iterable, Mapping, Optional, Sequence, Tuple, Union


def _address(array) -> int:
    return ctypes.addressof(array)


def _methods(methods) -> Optional[bytes]:
    if not methods:
        return None
    return to_name(methods if isinstance(methods, str) else ",".join(methods))


# ---------- network ----------

class AllowUrl(Value):
    """A URL that may be reached: scheme, host or *.host, port, path prefix on a segment boundary. deny=True takes away instead, and wins.
    allow_private: addresses that are not public are meant."""
    __slots__ = ("url", "methods", "deny", "allow_private")

    def __init__(self, url: str, methods: Union[str, Sequence[str], None] = None, *, deny: bool = False, allow_private: bool = False):
        self.url, self.deny, self.allow_private = url, deny, allow_private
        self.methods = methods if methods is None or isinstance(methods, str) else tuple(methods)


_CRED_KINDS = {"bearer": 0, "basic": 1, "header": 2, "query": 3, "placeholder": 4, "sign": 5}
_NAMED = ("header", "query", "placeholder")


class Cred(Value):
    """A secret put into matching requests; the script never sees it, and it is no part of a repr. secret: text, bytes, or a function of (method,
    url) asked each time. kind "basic": user:password; "header" and "query" need `name`. "placeholder": the script has a variable `name` whose value
    means nothing elsewhere and is the secret where it is sent in a matching request. "sign": secret is a function of (method, url, body or None where
    it streams) that gives header names and values, asked each time. A secret of under 8 bytes needs redact=False."""
    __slots__ = ("url", "secret", "kind", "name", "methods", "redact")

    def __init__(self, url: str, secret: Union[str, bytes, Callable], *, kind: str = "bearer",
                 name: Optional[str] = None, methods: Union[str, Sequence[str], None] = None, redact: bool = True):
        if kind not in _CRED_KINDS:
            raise InvalidArgumentError(f"credential kind {kind!r}: one of {', '.join(_CRED_KINDS)}")
        if kind == "sign" and not callable(secret):
            raise InvalidArgumentError("a credential of kind sign has a function")
        if (kind in _NAMED) != (name is not None):
            raise InvalidArgumentError(f"a credential of kind {kind} {'needs' if name is None else 'has no'} name")
        self.url, self.secret, self.kind, self.name, self.redact = url, secret, kind, name, redact
        self.methods = methods if methods is None or isinstance(methods, str) else tuple(methods)

    def __repr__(self) -> str:
        return f"Cred(url={self.url!r}, kind={self.kind!r}, name={self.name!r}, methods={self.methods!r})"


class Request(Value):
    """What a transport is to send: headers are (name, value) pairs with the credential among them, but for Host and what frames the body; body is
    None or bytes; addresses those that `resolve` gave and that were let through (go to no other), or None."""
    __slots__ = ("method", "url", "headers", "body", "addresses", "timeout", "insecure")

    def __init__(self, method: str, url: str, headers: Sequence[Tuple[str, str]] = (), body: Optional[bytes] = None,
                 addresses: Optional[Sequence[str]] = None, timeout: Optional[float] = None, insecure: bool = False):
        self.method, self.url, self.headers, self.body = method, url, tuple(headers), body
        self.addresses, self.timeout, self.insecure = addresses, timeout, insecure

    def __repr__(self) -> str:
        return f"Request(method={self.method!r}, url={self.url!r})"  # headers hold credentials


class Response(Value):
    """A transport's answer. body: bytes, or an iterable of bytes that is taken as the script reads; without content coding."""
    __slots__ = ("status", "headers", "body", "reason")

    def __init__(self, status: int = 200, headers: Union[Mapping[str, str], Sequence[Tuple[str, str]]] = (), body: Union[bytes, Iterable[bytes]] = b"",
                 reason: str = ""):
        self.status, self.body, self.reason = status, body, reason
        self.headers = tuple(headers.items() if hasattr(headers, "items") else headers)


class Net(Value):
    """What may leave. decide(method, url, hop, body_length or None) -> bool is asked before each request and redirect hop that the rules allow;
    resolve(host) -> addresses replaces the system's resolver. transport(Request) -> Response sends what passed every check, instead of
    libshell-net. All are called on the thread that runs the shell; an exception refuses."""
    __slots__ = ("allow", "credentials", "also_private", "also_metadata", "ca_file", "proxy", "allow_insecure", "decide", "resolve", "transport")

    def __init__(self, allow: Iterable[Union[str, AllowUrl]] = (), credentials: Iterable[Cred] = (), *, also_private: Sequence[str] = (),
                 also_metadata: Sequence[str] = (), ca_file: Optional[str] = None, proxy: Optional[str] = None, allow_insecure: bool = False,
                 decide: Optional[Callable[[str, str, int, Optional[int]], bool]] = None,
                 resolve: Optional[Callable[[str], Union[str, Sequence[str], None]]] = None,
                 transport: Optional[Callable[["Request"], "Response"]] = None):
        self.allow = tuple(rule if isinstance(rule, AllowUrl) else AllowUrl(rule) for rule in allow)
        self.credentials, self.also_private, self.also_metadata = tuple(credentials), tuple(also_private), tuple(also_metadata)
        self.ca_file, self.proxy, self.allow_insecure, self.decide, self.resolve = ca_file, proxy, allow_insecure, decide, resolve
        self.transport = transport

    def _rules(self):
        out = (s.UrlRule * max(len(self.allow), 1))()
        for i, rule in enumerate(self.allow):
            out[i] = s.UrlRule(ctypes.sizeof(s.UrlRule), to_name(rule.url), _methods(rule.methods), int(rule.deny), int(rule.allow_private))
        return out

    def _credentials(self):
        out = (s.Credential * max(len(self.credentials), 1))()
        for i, cred in enumerate(self.credentials):
            secret = None if callable(cred.secret) else to_bytes(cred.secret)
            out[i] = s.Credential(ctypes.sizeof(s.Credential), to_name(cred.url), _methods(cred.methods), _CRED_KINDS[cred.kind], int(not cred.redact),
                                  None if cred.name is None else to_name(cred.name), secret, len(secret or b""))
        return out

    def _native(self):
        """The struct and what must live while C looks at it; the Handle among it for as long as the shell asks."""
        from . import _callbacks as c
        rules, credentials, handle = self._rules(), self._credentials(), c.Handle(self)
        net = s.Net(size=ctypes.sizeof(s.Net), rules=_address(rules), nrules=len(self.allow), credentials=_address(credentials),
                    ncredentials=len(self.credentials), allow_insecure=int(self.allow_insecure), user=handle.number)
        lists = [strings(map(to_name, self.also_private)), strings(map(to_name, self.also_metadata))]
        net.also_private, net.also_metadata = map(_address, lists)
        net.ca_file = None if self.ca_file is None else to_name(self.ca_file)
        net.proxy = None if self.proxy is None else to_name(self.proxy)
        net.decide = c.address(c.on_decide) if self.decide else None
        net.resolve = c.address(c.on_resolve) if self.resolve else None
        if self.transport:
            net.transfer, net.transfer_send, net.transfer_receive, net.transfer_close = map(c.address, c.on_transport)
        net.secret = c.address(c.on_secret) if any(callable(cred.secret) for cred in self.credentials) else None
        net.sign = c.address(c.on_sign) if any(cred.kind == "sign" for cred in self.credentials) else None
        return net, handle, [rules, credentials, lists]


# ---------- policy ----------

_OPERATIONS = {"read": 1, "list": 2, "write": 4, "create": 8, "delete": 16, "chmod": 32}
_ASKS = {"delete": 1, "overwrite": 2, "direct_write": 4, "command": 8}
_ASK_NAMES = {bit: name for name, bit in _ASKS.items()}


def _bits(names, table) -> int:
    out = 0
    for name in (names.split(",") if isinstance(names, str) else names):
        if name not in table:
            raise InvalidArgumentError(f"{name!r}: one of {', '.join(table)}")
        out |= table[name]
    return out


class FileRule(Value):
    """operations: of read, list, write, create, delete, chmod. pattern: absolute, with * ? [...] within a component and ** for any number of them."""
    __slots__ = ("pattern", "operations", "deny")

    def __init__(self, pattern: str, operations: Union[str, Sequence[str]], *, deny: bool = False):
        self.pattern, self.deny = pattern, deny
        self.operations = tuple(operations.split(",")) if isinstance(operations, str) else tuple(operations)
        _bits(self.operations, _OPERATIONS)


class Question(Value):
    """kind: "delete", "overwrite", "direct_write" or "command"; subject: the path or the command's name."""
    __slots__ = ("kind", "subject")

    def __init__(self, kind: str, subject: str):
        self.kind, self.subject = kind, subject


class Policy(Value):
    """Commands by identity, files by resolved path, and questions. ask(Question) -> True, False, or a reason as text, which the script is told; an
    async function, which gives True or False, may take its time while the rest of the script goes on. It is asked about `asks` (of delete, overwrite, direct_write, command)."""
    __slots__ = ("allow_commands", "deny_commands", "ask_commands", "files", "scratch", "asks", "ask")

    def __init__(self, *, allow_commands: Optional[Sequence[str]] = None, deny_commands: Sequence[str] = (), ask_commands: Sequence[str] = (),
                 files: Sequence[FileRule] = (), scratch: Sequence[str] = (), asks: Sequence[str] = (),
                 ask: Optional[Callable[[Question], Union[bool, str, Awaitable[bool]]]] = None):
        self.allow_commands = None if allow_commands is None else tuple(allow_commands)
        self.deny_commands, self.ask_commands, self.files, self.scratch = tuple(deny_commands), tuple(ask_commands), tuple(files), tuple(scratch)
        self.asks, self.ask = tuple(asks), ask
        if (self.asks or self.ask_commands) and ask is None:
            raise InvalidArgumentError("a policy that asks needs `ask`")

    def _native(self, shell):
        from . import _callbacks as c
        given = (self.allow_commands, self.deny_commands or None, self.ask_commands or None, self.scratch or None)
        lists = [None if names is None else strings(map(to_name, names)) for names in given]
        rules = (s.FileRule * max(len(self.files), 1))()
        for i, rule in enumerate(self.files):
            rules[i] = s.FileRule(ctypes.sizeof(s.FileRule), to_name(rule.pattern), _bits(rule.operations, _OPERATIONS), int(rule.deny))
        asks = _bits(self.asks, _ASKS) | (_ASKS["command"] if self.ask_commands else 0)
        policy = s.Policy(size=ctypes.sizeof(s.Policy), rules=_address(rules), nrules=len(self.files), asks=asks)
        policy.allow_commands, policy.deny_commands, policy.ask_commands, policy.scratch = [None if x is None else _address(x) for x in lists]
        handle = None
        if self.ask is not None:
            handle = c.Handle(Asker(self.ask, shell))
            policy.ask, policy.user = c.address(c.on_ask), handle.number
        return policy, handle, [lists, rules]


class Asker:
    """Asks Python; C gets 0, EAGAIN, or the reason as bytes."""

    def __init__(self, ask, shell):
        import weakref
        self.ask, self.shell = ask, weakref.ref(shell)

    def __call__(self, kind, subject, number):
        try:
            answer = self.ask(Question(_ASK_NAMES.get(kind, str(kind)), subject.decode("utf-8", "surrogateescape")))
            if hasattr(answer, "__await__"):
                self._later(answer, number)
                return n.EAGAIN
            return self._result(answer)
        except Exception as e:  # noqa: BLE001
            return f"{type(e).__name__}: {e}".encode("utf-8", "replace")

    @staticmethod
    def _result(answer):
        if isinstance(answer, str):
            return answer.encode("utf-8", "replace")
        return 0 if answer is True else n.EACCES

    def _later(self, awaitable, number):
        from . import _aio
        shell = self.shell()

        async def wait():
            answer = False
            try:
                answer = await awaitable
            finally:  # cancelled or failed: no
                shell._answer(number, 0 if answer is True else n.EACCES)
        _aio.spawn(shell, wait())


# ---------- audit ----------

class Audit(Value):
    """line(bytes): each line of JSON as it is written, on the thread that runs. ring: bytes of lines kept for Shell.audit_take. output: bytes of
    each stream that a run's end quotes."""
    __slots__ = ("line", "ring", "output")

    def __init__(self, line: Optional[Callable[[bytes], None]] = None, *, ring: int = 0, output: int = 0):
        self.line, self.ring, self.output = line, ring, output

    def _native(self):
        from . import _callbacks as c
        audit, handle = s.Audit(size=ctypes.sizeof(s.Audit), ring=self.ring, output=self.output), None
        if self.line is not None:
            handle = c.Handle(self.line)
            audit.line, audit.user = c.address(c.on_line), handle.number
        return audit, handle, []


class AuditError(InvalidArgumentError):
    """A log that is not what was written; `line` is the one that is wrong."""
    line = 0


def audit_verify(text: Union[str, bytes]) -> tuple:
    """Checks the chain of an audit's lines: their number and the head, to be compared with a copy kept elsewhere."""
    raw, lines, head, why = to_bytes(text), ctypes.c_uint64(), ctypes.create_string_buffer(65), ctypes.create_string_buffer(256)
    err = n.lib.shell_audit_verify(raw, len(raw), ctypes.byref(lines), head, why, 256)
    if err:
        e = AuditError(f"line {lines.value}: {why.value.decode('utf-8', 'replace')}")
        e.line = lines.value
        raise e
    return lines.value, head.value.decode()
