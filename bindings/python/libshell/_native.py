"""The C interface of shell.h in ctypes: structs, constants, prototypes. Nothing here decides anything."""
from __future__ import annotations

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int32, c_int64, c_uint32, c_uint64, c_void_p

OK, EINVAL, ENOMEM, EBUSY, ENOENT, EACCES, EEXIST, ENOTDIR, EISDIR = 0, -1, -2, -3, -4, -5, -6, -7, -8
ENOTEMPTY, EROFS, ENOSPC, EFBIG, ELOOP, ENAMETOOLONG, EXDEV, EMFILE, EIO, ENOTSUP, EPERM, EAGAIN, EPIPE = range(-9, -22, -1)

LIMIT_DEFAULT = 2**64 - 1
LIMIT_NAMES = ("time_ms", "steps", "memory", "output", "file_size", "file_bytes", "inodes", "fds", "processes", "pipeline", "depth", "script",
               "regex", "expansion", "requests", "transfers", "redirects", "download", "upload")


class Limits(Structure):
    _fields_ = [("size", c_uint64)] + [(name, c_uint64) for name in LIMIT_NAMES]


class Bind(Structure):
    _fields_ = [("size", c_uint64), ("source", c_char_p), ("destination", c_char_p), ("mode", c_int32), ("flags", c_uint32)]


class Options(Structure):
    _fields_ = [("size", c_uint64), ("image", c_void_p), ("binds", POINTER(Bind)), ("nbinds", c_uint64), ("env", POINTER(c_char_p)),
                ("cwd", c_char_p), ("limits", POINTER(Limits)), ("umask", c_int32), ("fixed_clock", c_int32), ("clock_seconds", c_int64),
                ("seeded", c_int32), ("seed", c_uint64), ("message", c_char_p), ("message_size", c_uint64)]


ON_OUTPUT = CFUNCTYPE(c_int32, c_void_p, c_int32, c_void_p, c_uint64)
ON_INPUT = CFUNCTYPE(c_int64, c_void_p, c_void_p, c_uint64)
COMMAND = CFUNCTYPE(c_int32, c_void_p, c_void_p)


class RunOptions(Structure):
    _fields_ = [("size", c_uint64), ("input", c_char_p), ("input_len", c_uint64), ("env", POINTER(c_char_p)), ("cwd", c_char_p),
                ("timeout", c_double), ("limits", POINTER(Limits)), ("args", POINTER(c_char_p)), ("jobs", c_int32), ("flags", c_uint32),
                ("on_output", ON_OUTPUT), ("on_input", ON_INPUT), ("user", c_void_p)]


class Result(Structure):
    _fields_ = [("size", c_uint64), ("out", c_void_p), ("err", c_void_p), ("out_len", c_uint64), ("err_len", c_uint64), ("status", c_int32),
                ("end", c_int32), ("limit", c_char_p), ("out_truncated", c_int32), ("err_truncated", c_int32), ("steps", c_uint64),
                ("peak_memory", c_uint64), ("wall_ns", c_uint64)]


class StatInfo(Structure):
    _fields_ = [("size", c_uint64), ("bytes", c_uint64), ("mode", c_uint32), ("uid", c_uint32), ("gid", c_uint32), ("nlink", c_uint32),
                ("ino", c_uint64), ("mtime_ns", c_int64), ("ctime_ns", c_int64)]


class Dirent(Structure):
    _fields_ = [("name", c_char_p), ("type", c_uint32), ("bytes", c_uint64)]


class Change(Structure):
    _fields_ = [("path", c_char_p), ("kind", c_int32), ("mode", c_uint32), ("bytes", c_uint64)]


_PROTOTYPES = {
    "shell_version": (c_char_p, []),
    "shell_feature": (c_int32, [c_char_p]),
    "shell_strerror": (c_char_p, [c_int32]),
    "shell_message": (c_char_p, [c_void_p]),
    "shell_limits_init": (None, [POINTER(Limits)]),
    "shell_options_init": (None, [POINTER(Options)]),
    "shell_open": (c_int32, [POINTER(Options), POINTER(c_void_p)]),
    "shell_close": (c_int32, [c_void_p]),
    "shell_reset": (c_int32, [c_void_p]),
    "shell_fork": (c_int32, [c_void_p, POINTER(c_void_p)]),
    "shell_image_of": (c_int32, [c_void_p, POINTER(c_void_p)]),
    "shell_image_free": (None, [c_void_p]),
    "shell_run": (c_int32, [c_void_p, c_char_p, c_uint64, POINTER(RunOptions), POINTER(POINTER(Result))]),
    "shell_result_free": (None, [POINTER(Result)]),
    "shell_cancel": (c_int32, [c_void_p]),
    "shell_setenv": (c_int32, [c_void_p, c_char_p, c_char_p]),
    "shell_unsetenv": (c_int32, [c_void_p, c_char_p]),
    "shell_getenv": (c_int32, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "shell_cwd": (c_int32, [c_void_p, POINTER(c_void_p)]),
    "shell_free": (None, [c_void_p]),
    "shell_read_file": (c_int32, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(c_uint64)]),
    "shell_read_range": (c_int32, [c_void_p, c_char_p, c_uint64, c_uint64, POINTER(c_void_p), POINTER(c_uint64)]),
    "shell_write_file": (c_int32, [c_void_p, c_char_p, c_char_p, c_uint64, c_uint32]),
    "shell_stat": (c_int32, [c_void_p, c_char_p, c_uint32, POINTER(StatInfo)]),
    "shell_list": (c_int32, [c_void_p, c_char_p, POINTER(POINTER(Dirent)), POINTER(c_uint64)]),
    "shell_mkdir": (c_int32, [c_void_p, c_char_p, c_uint32, c_int32]),
    "shell_remove": (c_int32, [c_void_p, c_char_p, c_int32]),
    "shell_rename": (c_int32, [c_void_p, c_char_p, c_char_p]),
    "shell_chmod": (c_int32, [c_void_p, c_char_p, c_uint32]),
    "shell_exists": (c_int32, [c_void_p, c_char_p, POINTER(c_int32)]),
    "shell_changes": (c_int32, [c_void_p, POINTER(POINTER(Change)), POINTER(c_uint64)]),
    "shell_command": (c_int32, [c_void_p, c_char_p, COMMAND, c_void_p]),
    "shell_call_argc": (c_int32, [c_void_p]),
    "shell_call_arg": (c_char_p, [c_void_p, c_int32]),
    "shell_call_input": (c_void_p, [c_void_p, POINTER(c_uint64)]),
    "shell_call_getenv": (c_char_p, [c_void_p, c_char_p]),
    "shell_call_cwd": (c_char_p, [c_void_p]),
    "shell_call_write": (c_int32, [c_void_p, c_int32, c_char_p, c_uint64, POINTER(c_uint64)]),
    "shell_command_names": (POINTER(c_char_p), [POINTER(c_uint64)]),
}


def _load() -> ctypes.CDLL:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libshell.so")
    if not os.path.exists(path):
        raise ImportError("libshell.so is not beside the package; install it with: pip install ./bindings/python")
    library = ctypes.CDLL(path)
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()
