"""The C interface of shell.h in ctypes: structs, constants, signatures. Nothing here decides anything.

Made for a quick import: pointers are plain addresses, a function gets its signature when it is first used, and the structs that a plain run does
not need are in _structs.
"""
from __future__ import annotations

import ctypes
import os
from ctypes import Structure, c_char_p, c_double, c_int32, c_int64, c_uint32, c_uint64, c_void_p

OK, EINVAL, ENOMEM, EBUSY, ENOENT, EACCES, EEXIST, ENOTDIR, EISDIR = 0, -1, -2, -3, -4, -5, -6, -7, -8
ENOTEMPTY, EROFS, ENOSPC, EFBIG, ELOOP, ENAMETOOLONG, EXDEV, EMFILE, EIO, ENOTSUP, EPERM, EAGAIN, EPIPE = range(-9, -22, -1)

LIMIT_DEFAULT = 2**64 - 1
LIMIT_NAMES = ("time_ms", "steps", "memory", "output", "file_size", "file_bytes", "inodes", "fds", "processes", "pipeline", "depth", "script",
               "regex", "expansion", "requests", "transfers", "redirects", "download", "upload", "head", "connect_ms")


class Options(Structure):
    _fields_ = [("size", c_uint64), ("image", c_void_p), ("binds", c_void_p), ("nbinds", c_uint64), ("env", c_void_p), ("cwd", c_char_p),
                ("limits", c_void_p), ("umask", c_int32), ("fixed_clock", c_int32), ("clock_seconds", c_int64), ("seeded", c_int32),
                ("seed", c_uint64), ("message", c_void_p), ("message_size", c_uint64), ("component", c_void_p), ("component_user", c_void_p),
                ("net", c_void_p), ("policy", c_void_p), ("audit", c_void_p)]


class RunOptions(Structure):
    _fields_ = [("size", c_uint64), ("input", c_char_p), ("input_len", c_uint64), ("env", c_void_p), ("cwd", c_char_p), ("timeout", c_double),
                ("limits", c_void_p), ("args", c_void_p), ("jobs", c_int32), ("flags", c_uint32), ("on_output", c_void_p), ("on_input", c_void_p),
                ("user", c_void_p)]


class Result(Structure):
    _fields_ = [("size", c_uint64), ("out", c_void_p), ("err", c_void_p), ("out_len", c_uint64), ("err_len", c_uint64), ("status", c_int32),
                ("end", c_int32), ("limit", c_char_p), ("out_truncated", c_int32), ("err_truncated", c_int32), ("steps", c_uint64),
                ("peak_memory", c_uint64), ("wall_ns", c_uint64), ("limit_value", c_uint64), ("exited", c_int32)]


# The result, then the arguments: p any pointer, s bytes with a NUL, i u q Q integers, - nothing.
SIGNATURES = {
    "shell_version": "s", "shell_feature": "is", "shell_strerror": "si", "shell_message": "sp", "shell_bind_add": "ipp",
    "shell_bind_remove": "ips", "shell_set_limits": "ipp", "shell_open": "ipp", "shell_close": "ip", "shell_reset": "ip", "shell_fork": "ipp",
    "shell_set_net": "ipp", "shell_set_policy": "ipp", "shell_set_audit": "ipp", "shell_audit_take": "ipppp", "shell_audit_verify": "isQpppQ",
    "shell_image_of": "ipp", "shell_image_from_dir": "ipp", "shell_image_free": "-p", "shell_snapshot": "ippp", "shell_restore": "ipsQ",
    "shell_image_from_snapshot": "isQp", "shell_run": "ipsQpp", "shell_result_free": "-p", "shell_format_result": "ipppp", "shell_wake": "ip",
    "shell_cancel": "ip", "shell_describe": "ipupp", "shell_tools": "ipiupp", "shell_setenv": "ipss", "shell_unsetenv": "ips", "shell_getenv": "ipsp",
    "shell_cwd": "ipp", "shell_free": "-p", "shell_read_file": "ipspp", "shell_read_range": "ipsQQpp", "shell_write_file": "ipssQu",
    "shell_stat": "ipsup", "shell_list": "ipspp", "shell_mkdir": "ipsui", "shell_remove": "ipsi", "shell_rename": "ipss", "shell_chmod": "ipsu",
    "shell_exists": "ipsp", "shell_readlink": "ipspp", "shell_changes_full": "ipupp", "shell_command": "ipspp", "shell_command_machine": "ipspp",
    "shell_unknown_command": "ippp", "shell_call_argc": "ip", "shell_call_arg": "spi", "shell_call_input": "ppp", "shell_call_getenv": "sps",
    "shell_call_cwd": "sp", "shell_call_write": "ipisQp", "shell_call_id": "Qp", "shell_call_unread": "-p", "shell_answer": "ipQi", "shell_mount": "ipsppu",
    "shell_unmount": "ips", "shell_mount_reply_stat": "ipp", "shell_mount_reply_entry": "ipsQu", "shell_mount_reply_data": "ipsQ",
    "shell_lazy_file": "ipsquppp", "shell_command_names": "pp",
}

# What the binding does without, and why.
LEFT_OUT = {
    "shell_limits_init_sized": "a Limits is filled in here",
    "shell_options_init_sized": "as shell_limits_init_sized: a longer struct of a newer library would not fit", "shell_changes": "shell_changes_full says the same and more",
    "shell_begin": "runs are whole: a thread of the binding waits in shell_run", "shell_step": "as shell_begin", "shell_end": "as shell_begin",
    "shell_pause": "as shell_begin", "shell_yield": "as shell_begin", "shell_mount_call_id": "a mount's methods answer at once", "libshell_crypto": "opened by name, see _component",
    "libshell_archive": "as libshell_crypto", "libshell_data": "as libshell_crypto", "libshell_net": "as libshell_crypto",
}

_TYPES = {"p": c_void_p, "s": c_char_p, "i": c_int32, "u": c_uint32, "q": c_int64, "Q": c_uint64, "-": None}

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Library:
    """The functions, each with its signature from its first use on."""

    def __init__(self, path: str):
        self._library = ctypes.CDLL(path)

    def __getattr__(self, name: str):
        function, signature = getattr(self._library, name), SIGNATURES[name]
        function.restype, function.argtypes = _TYPES[signature[0]], [_TYPES[c] for c in signature[1:]]
        setattr(self, name, function)
        return function


def _load() -> Library:
    path = os.path.join(FOLDER, "libshell.so")
    try:
        return Library(path)
    except OSError as e:
        if os.path.exists(path):
            raise ImportError(f"libshell.so cannot be loaded: {e}") from e
        raise ImportError("libshell.so is not beside the package; install it with: pip install ./bindings/python") from None


lib = _load()
