"""Mounts: directories that Python objects serve."""
from __future__ import annotations

import ctypes
import stat as st
from collections.abc import Mapping, MutableMapping

from . import _native as n
from . import _structs as s
from ._errors import error

DIRECTORY, FILE, LINK = st.S_IFDIR, st.S_IFREG, st.S_IFLNK
_TIME_KEEP, _TIME_NOW = -2**63, 2**63 - 1


def _bytes(data) -> bytes:
    return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)


def _info(found) -> s.StatInfo:
    """What an object's stat gave: a size, a dict, or anything with the attributes of os.stat_result."""
    info = s.StatInfo(size=ctypes.sizeof(s.StatInfo), mode=FILE | 0o644)
    if isinstance(found, int):
        info.bytes = found
        return info
    get = found.get if isinstance(found, Mapping) else lambda name, other=None: getattr(found, name, other)
    size, mode, mtime = get("size", get("st_size")), get("mode", get("st_mode")), get("mtime_ns", get("st_mtime_ns"))
    if mode is None:
        mode = DIRECTORY | 0o755 if get("is_dir") else FILE | 0o644
    elif not st.S_IFMT(mode):
        mode |= DIRECTORY if get("is_dir") else FILE
    info.bytes, info.mode, info.mtime_ns = size or 0, mode, mtime or 0
    return info


def _entry(found):
    """An entry of a listing: a name ('sub/' is a directory), (name, is_dir), or an object with name and is_dir, as os.scandir gives."""
    if isinstance(found, str):
        return (found[:-1], DIRECTORY) if found.endswith("/") else (found, FILE)
    if isinstance(found, tuple):
        name, kind = found
    else:
        name, kind = found.name, found.is_dir() if callable(found.is_dir) else found.is_dir
    return name, (DIRECTORY if kind else FILE) if isinstance(kind, bool) or kind is None else st.S_IFMT(kind)


class Served:
    """One mount: calls the object's methods and hands C what they give."""

    def __init__(self, target):
        self.target = target

    def operations(self) -> s.MountOps:
        from . import _callbacks as c
        ops = s.MountOps(size=ctypes.sizeof(s.MountOps))
        for name in s.MOUNT_METHODS:
            if callable(getattr(self.target, name, None)):
                setattr(ops, name, c.mount_function(name))
        if not ops.stat or not ops.list:
            raise TypeError("a mount needs the methods stat(path) and list(path)")
        return ops

    def serve(self, name, call, path, rest) -> int:
        method, reply = getattr(self.target, name), getattr(self, "_reply_" + name, None)
        if reply is not None:
            return reply(method, call, path, rest)
        method(path, *self._arguments(name, rest))
        return 0

    @staticmethod
    def _arguments(name, rest):
        if name == "write":
            return rest[0], ctypes.string_at(rest[1], rest[2])
        if name == "rename":
            return ctypes.string_at(rest[0], rest[1]).decode("utf-8", "surrogateescape"), bool(rest[2])
        if name == "symlink":
            return (ctypes.string_at(rest[0], rest[1]).decode("utf-8", "surrogateescape"),)
        if name == "utimes":
            return tuple({_TIME_KEEP: None, _TIME_NOW: "now"}.get(t, t) for t in rest)
        return (bool(rest[0]),) if name == "remove" else rest

    @staticmethod
    def _reply_stat(method, call, path, _rest) -> int:
        found = method(path)
        return n.ENOENT if found is None else n.lib.shell_mount_reply_stat(call, ctypes.byref(_info(found)))

    @staticmethod
    def _reply_list(method, call, path, _rest) -> int:
        for found in method(path):
            name, kind = _entry(found)
            raw = _bytes(name)
            err = n.lib.shell_mount_reply_entry(call, raw, len(raw), kind)
            if err:
                return err
        return 0

    @staticmethod
    def _reply_read(method, call, path, rest) -> int:
        return reply_data(call, method(path, *rest))

    @staticmethod
    def _reply_readlink(method, call, path, _rest) -> int:
        return reply_data(call, method(path))


def reply_data(call, data) -> int:
    raw = _bytes(data)
    return n.lib.shell_mount_reply_data(call, raw, len(raw))


class DictMount:
    """A mapping from paths ("a/b.txt") to bytes or text as a directory. Directories are there while something is in them, or after a mkdir."""

    def __init__(self, files: Mapping):
        self.files = files
        self._made: set = set()

    def _directories(self):
        out = {""} | self._made
        for path in self.files:
            while "/" in path:
                path = path.rpartition("/")[0]
                out.add(path)
        return out

    def _writable(self) -> MutableMapping:
        if not isinstance(self.files, MutableMapping):
            raise error(n.EROFS)
        return self.files

    def stat(self, path: str):
        if path in self.files:
            return len(_bytes(self.files[path]))
        if path in self._directories():
            return {"is_dir": True}
        raise error(n.ENOENT)

    def list(self, path: str):
        before = path + "/" if path else ""
        inside = [p[len(before):] for p in list(self.files) + list(self._made) if p.startswith(before) and p != path]
        directories = {p.partition("/")[0] for p in inside if "/" in p or before + p in self._made}
        return [(d, True) for d in directories] + [(p, False) for p in inside if "/" not in p and p not in directories]

    def read(self, path: str, offset: int, size: int) -> bytes:
        return _bytes(self.files[path])[offset:offset + size]

    def create(self, path: str, _mode: int) -> None:
        self._writable()[path] = b""

    def write(self, path: str, offset: int, data: bytes) -> None:
        old = _bytes(self.files[path]).ljust(offset, b"\0")
        self._writable()[path] = old[:offset] + data + old[offset + len(data):]

    def truncate(self, path: str, size: int) -> None:
        self._writable()[path] = _bytes(self.files[path])[:size].ljust(size, b"\0")

    def mkdir(self, path: str, _mode: int) -> None:
        self._writable()
        self._made.add(path)

    def remove(self, path: str, directory: bool) -> None:
        if not directory:
            del self._writable()[path]
            return
        if any(p.startswith(path + "/") for p in list(self.files) + list(self._made)):
            raise error(n.ENOTEMPTY)
        self._made.discard(path)

    def rename(self, old: str, new: str, no_replace: bool) -> None:
        files = self._writable()
        if no_replace and (new in files or new in self._directories()):
            raise error(n.EEXIST)
        if old in files:
            files[new] = files.pop(old)
            return
        for path in [p for p in files if p.startswith(old + "/")]:
            files[new + path[len(old):]] = files.pop(path)
        self._made = {new + p[len(old):] if p == old or p.startswith(old + "/") else p for p in self._made}

    def utimes(self, path: str, _atime, _mtime) -> None:
        """Times are not kept."""

    def chmod(self, path: str, _mode: int) -> None:
        """Modes are not kept."""


def served(target) -> Served:
    return Served(DictMount(target) if isinstance(target, Mapping) else target)
