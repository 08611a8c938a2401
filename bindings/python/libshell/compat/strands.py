"""Strands Shell's names, defaults and errors: a program written for it changes its import line.

What differs: no URL is open by default, a read-only copy is read-only, credentials never leave their prefix, output that is not UTF-8 or too long
is kept (replaced, cut). max_bg_jobs bounds the processes at one time: (max_bg_jobs + 1) pipelines of max_pipeline stages, and max_depth subshells.
"""
from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field, fields
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import libshell
from libshell import FileNotFoundError, FileTooLargeError, PermissionDeniedError, ShellError

__all__ = ["Shell", "Bind", "Cred", "CredEntry", "Limits", "Output", "FileInfo", "ShellConfig", "ConfigBind", "ConfigCred", "ConfigLimits", "ShellError",
           "FileNotFoundError", "PermissionDeniedError", "FileTooLargeError"]

DEFAULT_TIMEOUT = 30.0


@dataclass(frozen=True)
class Bind:
    source: str
    destination: str
    mode: str = "direct"
    readonly: bool = False


@dataclass(frozen=True)
class Cred:
    """A bearer token for URLs below `url`: the token itself, or the name of the variable of this process that holds it."""
    url: str
    token: Optional[str] = field(default=None, repr=False)
    env_var: Optional[str] = None
    api_key_env: Optional[str] = field(default=None, repr=False)  # what env_var was called

    def __post_init__(self) -> None:
        if self.api_key_env is not None and self.env_var is None:
            object.__setattr__(self, "env_var", self.api_key_env)
        if (self.token is None) == (self.env_var is None):
            raise ValueError("Cred needs exactly one of token and env_var")


CredEntry = Cred


@dataclass(frozen=True)
class Limits:
    """0 is unlimited."""
    max_output: int = 1024 * 1024
    max_file_size: int = 10 * 1024 * 1024
    max_fds: int = 128
    max_bg_jobs: int = 8
    max_pipeline: int = 16
    max_input: int = 1024 * 1024
    max_inodes: int = 10000
    max_depth: int = 64

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{f.name} must be an integer of at least 0: {value!r}")


ConfigLimits = Limits


@dataclass(frozen=True)
class Output:
    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class FileInfo:
    name: str
    is_dir: bool
    size: int


@dataclass(frozen=True)
class ConfigBind:
    source: str
    destination: str
    mode: str
    readonly: bool


@dataclass(frozen=True)
class ConfigCred:
    """Never the secret: from_literal says that one was given."""
    url: str
    kind: str
    methods: Tuple[str, ...]
    param: Optional[str]
    env_var: Optional[str]
    from_literal: bool


@dataclass(frozen=True)
class ShellConfig:
    binds: Tuple[ConfigBind, ...]
    credentials: Tuple[ConfigCred, ...]
    allowed_urls: Tuple[str, ...]
    env: Mapping[str, str]
    umask: int
    timeout: float
    limits: ConfigLimits


# ---------- the file ----------

_KEYS = {"umask": str, "allowed_urls": list, "env": dict, "bind": list, "cred": list, "mcp": list, "limits": dict}
_BIND_KEYS = {"mode": str, "source": str, "destination": str, "readonly": bool}
_CRED_KEYS = {"url": str, "methods": list, "kind": str, "api_key": str, "api_key_env": str, "param": str}
_LIMIT_KEYS = {**{f.name: int for f in fields(Limits)}, "timeout": int}
_TYPE_NAMES = {str: "a string", list: "a list", dict: "a table", bool: "true or false", int: "an integer"}


def _check(where: str, table: Any, keys: Mapping[str, type]) -> None:
    if not isinstance(table, dict):
        raise RuntimeError(f"{where}: expected a table")
    for name, value in table.items():
        if name not in keys:
            import difflib
            close = difflib.get_close_matches(name, list(keys), 1)
            raise RuntimeError(f"{where}: unknown key {name!r}" + (f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(keys)}"))
        if not isinstance(value, keys[name]) or (keys[name] is int and isinstance(value, bool)):
            raise RuntimeError(f"{where}: {name} must be {_TYPE_NAMES[keys[name]]}")


def _strings(where: str, items: list) -> tuple:
    for item in items:
        if not isinstance(item, str):
            raise RuntimeError(f"{where}: a list of strings")
    return tuple(items)


def _parse(path: str) -> dict:
    try:
        import tomllib as toml
    except ImportError:
        from . import _toml as toml
    try:
        with open(path, encoding="utf-8") as f:
            return toml.loads(f.read())
    except OSError as e:
        raise RuntimeError(f"{path}: {e.strerror}") from e
    except ValueError as e:
        raise RuntimeError(f"{path}: {e}") from e


@dataclass
class _Given:
    """What the file and the arguments add up to."""
    binds: List[Bind] = field(default_factory=list)
    creds: List[tuple] = field(default_factory=list)  # (ConfigCred, secret or None)
    urls: List[str] = field(default_factory=list)
    env: Dict[str, str] = field(default_factory=dict)
    umask: int = 0o022
    timeout: float = DEFAULT_TIMEOUT
    limits: Limits = Limits()


def _from_file(path: str) -> _Given:
    out, file = _Given(), _parse(path)
    _check(path, file, _KEYS)
    if "mcp" in file:
        raise RuntimeError(f"{path}: [[mcp]] names a server to be started as a process, and libshell starts none: give its tools as custom commands")
    if "umask" in file:
        out.umask = _umask(file["umask"], path)
    out.urls = list(_strings(f"{path}: allowed_urls", file.get("allowed_urls", [])))
    out.env = dict(file.get("env", {}))
    _strings(f"{path}: [env]", list(out.env.values()))
    for i, table in enumerate(file.get("bind", [])):
        where = f"{path}: [[bind]] {i + 1}"
        _check(where, table, _BIND_KEYS)
        for name in ("source", "destination"):
            if name not in table:
                raise RuntimeError(f"{where}: {name} is missing")
        out.binds.append(Bind(table["source"], table["destination"], _mode(table.get("mode", "copy"), where), table.get("readonly", False)))
    out.creds = [_cred_of(table, f"{path}: [[cred]] {i + 1}") for i, table in enumerate(file.get("cred", []))]
    limits = file.get("limits", {})
    _check(f"{path}: [limits]", limits, _LIMIT_KEYS)
    try:
        out.limits = Limits(**{name: value for name, value in limits.items() if name != "timeout"})
        out.timeout = _timeout(limits.get("timeout", DEFAULT_TIMEOUT))
    except ValueError as e:
        raise RuntimeError(f"{path}: [limits]: {e}") from e
    return out


def _mode(mode: str, where: str) -> str:
    if mode not in ("copy", "direct"):
        raise RuntimeError(f'{where}: mode must be "copy" or "direct": {mode!r}')
    return mode


def _cred_of(table: dict, where: str) -> tuple:
    _check(where, table, _CRED_KEYS)
    kind = table.get("kind", "bearer")
    if "url" not in table:
        raise RuntimeError(f"{where}: url is missing")
    if kind not in ("bearer", "query"):
        raise RuntimeError(f'{where}: kind must be "bearer" or "query": {kind!r}')
    if ("api_key" in table) == ("api_key_env" in table):
        raise RuntimeError(f"{where}: exactly one of api_key and api_key_env")
    if (kind == "query") != ("param" in table):
        raise RuntimeError(f"{where}: param belongs to kind \"query\"")
    return (ConfigCred(table["url"], kind, _strings(f"{where}: methods", table.get("methods", [])), table.get("param"), table.get("api_key_env"), "api_key" in table),
            table.get("api_key"))


def _umask(value: Any, where: str = "umask") -> int:
    if isinstance(value, str):
        if not re.fullmatch(r"(0o)?[0-7]{1,4}", value):
            raise RuntimeError(f"{where}: umask must be octal digits: {value!r}")
        value = int(value.replace("0o", ""), 8)
    if not isinstance(value, int) or not 0 <= value <= 0o777:
        raise RuntimeError(f"{where}: umask must lie between 0 and 0o777: {value!r}")
    return value


def _timeout(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
        raise ValueError(f"timeout must be positive and finite: {value!r}")
    return float(value)


# ---------- the shell ----------

class Shell:
    """`shell` is the libshell.Shell below, with all that it can do besides."""

    def __init__(self, *, binds: Optional[Sequence[Bind]] = None, credentials: Optional[Sequence[Cred]] = None, allowed_urls: Optional[Sequence[str]] = None,
                 env: Optional[Mapping[str, str]] = None, umask: Any = None, timeout: Optional[float] = None, limits: Optional[Limits] = None,
                 config_file: Any = None):
        given = _from_file(os.fspath(config_file)) if config_file is not None else _Given()
        given.binds += binds or ()
        given.creds += [(ConfigCred(c.url, "bearer", (), None, c.env_var, c.token is not None), c.token) for c in credentials or ()]
        given.urls += allowed_urls or ()
        given.env.update(env or {})
        given.umask = given.umask if umask is None else _umask(umask)
        given.timeout = given.timeout if timeout is None else _timeout(timeout)
        given.limits = given.limits if limits is None else limits
        try:
            self.shell = _open(given)
        except ShellError as e:
            raise RuntimeError(str(e)) from e
        self._config = ShellConfig(tuple(ConfigBind(str(b.source), b.destination, b.mode, b.readonly) for b in given.binds), tuple(c for c, _ in given.creds),
                                   tuple(given.urls), dict(given.env), given.umask, given.timeout, given.limits)

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *exception: object) -> None:
        self.shell.close()

    @property
    def config(self) -> ShellConfig:
        return self._config

    def run(self, command: str) -> Output:
        out = self.shell.run(command)
        return Output(out.status, out.stdout, out.stderr)

    def set_env(self, name: str, value: str) -> None:
        self.shell.set_env(name, value)

    def get_env(self, name: str) -> Optional[str]:
        return self.shell.get_env(name)

    def read_file(self, path: str, **_kw: Any) -> bytes:
        return self.shell.read_file(path)

    def write_file(self, path: str, content: Any, **_kw: Any) -> None:
        self.shell.write_file(path, content)

    def remove_file(self, path: str, **_kw: Any) -> None:
        if self.shell.stat(path, follow=False).mode & 0o170000 == 0o040000:
            raise ShellError(f"{path}: is a directory", path=path)
        self.shell.remove_file(path)

    def list_files(self, path: str = ".", **_kw: Any) -> List[FileInfo]:
        return [FileInfo(f.name, f.is_dir, f.size) for f in self.shell.list_files(path)]


def _meant_private(url: str) -> bool:
    """A host that is spelled as an address, or localhost, is meant as it stands."""
    host = re.sub(r"^[a-z]+://", "", url).split("/")[0]
    return bool(re.match(r"(\[|[0-9.]+(:|$)|localhost(:|$))", host))


def _open(given: _Given) -> libshell.Shell:
    creds = []
    for cred, secret in given.creds:
        if secret is None:
            secret = os.environ.get(cred.env_var)
            if secret is None:
                raise RuntimeError(f"the variable {cred.env_var} for {cred.url} is not set")
        creds.append(libshell.Cred(cred.url, secret, kind=cred.kind, name=cred.param, methods=cred.methods or None, redact=len(secret) >= 8))
    net = libshell.Net([libshell.AllowUrl(url, allow_private=_meant_private(url)) for url in given.urls], creds) if given.urls or creds else None
    binds = [libshell.Bind(b.source, b.destination, _mode(b.mode, "bind"), b.readonly) for b in given.binds]
    m = given.limits
    processes = (m.max_bg_jobs + 1) * m.max_pipeline + m.max_depth if m.max_bg_jobs and m.max_pipeline and m.max_depth else 0
    limits = libshell.Limits(output=m.max_output, file_size=m.max_file_size, fds=m.max_fds, pipeline=m.max_pipeline, script=m.max_input,
                             inodes=m.max_inodes, depth=m.max_depth, processes=processes)
    return libshell.Shell(binds=binds, env=given.env, umask=given.umask, timeout=given.timeout, limits=limits, net=net)
