"""What is common to the classes that only carry values, and to turning Python's values into C's."""
from __future__ import annotations

import ctypes
import os

from ._errors import InvalidArgumentError


class Value:
    """Equality and a repr over the fields in __slots__, or in _fields. dataclasses would double the time the import takes."""
    __slots__ = ()
    _fields: tuple = ()

    def _values(self) -> list:
        return [(f, getattr(self, f)) for f in self._fields or self.__slots__]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(tuple(self._values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{f}={v!r}' for f, v in self._values())})"


def to_bytes(text) -> bytes:
    data = os.fspath(text) if isinstance(text, os.PathLike) else text
    return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)


def to_name(text) -> bytes:
    data = to_bytes(text)
    if b"\0" in data:
        raise InvalidArgumentError("embedded NUL in a name", path=data.decode("utf-8", "replace"))
    return data


def strings(items):
    """char *const[], ended by NULL. Keep it for as long as C may look."""
    items = list(items)
    return (ctypes.c_char_p * (len(items) + 1))(*items, None)


def environment(env):
    if env is None:
        return None
    for name in env:
        if not name or "=" in name:
            raise InvalidArgumentError(f"bad variable name {name!r}")
    return strings(to_name(f"{k}={v}") for k, v in env.items())


def seconds(timeout) -> float:
    if timeout is None:
        return 0.0
    value = float(timeout)
    if not 0 < value < float("inf"):
        raise InvalidArgumentError(f"timeout must be positive and finite: {timeout!r}")
    return value
