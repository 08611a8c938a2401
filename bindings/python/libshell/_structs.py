"""The structs of shell.h that a plain run does not need."""
from __future__ import annotations

from ctypes import Structure, c_char, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p

from ._native import LIMIT_NAMES


class Limits(Structure):
    _fields_ = [("size", c_uint64)] + [(name, c_uint64) for name in LIMIT_NAMES]


class Bind(Structure):
    _fields_ = [("size", c_uint64), ("source", c_char_p), ("destination", c_char_p), ("mode", c_int32), ("flags", c_uint32)]


class StatInfo(Structure):
    _fields_ = [("size", c_uint64), ("bytes", c_uint64), ("mode", c_uint32), ("uid", c_uint32), ("gid", c_uint32), ("nlink", c_uint32),
                ("ino", c_uint64), ("mtime_ns", c_int64), ("ctime_ns", c_int64)]


class Dirent(Structure):
    _fields_ = [("name", c_char_p), ("type", c_uint32), ("bytes", c_uint64)]


class Change(Structure):
    _fields_ = [("size", c_uint64), ("path", c_char_p), ("kind", c_int32), ("mode", c_uint32), ("old_mode", c_uint32), ("nlink", c_uint32),
                ("ino", c_uint64), ("bytes", c_uint64), ("old_bytes", c_uint64), ("mtime_ns", c_int64), ("target", c_char_p),
                ("digest", c_char * 33), ("old_digest", c_char * 33)]


class UrlRule(Structure):
    _fields_ = [("size", c_uint64), ("url", c_char_p), ("methods", c_char_p), ("deny", c_int32), ("allow_private", c_int32)]


class Credential(Structure):
    _fields_ = [("size", c_uint64), ("url", c_char_p), ("methods", c_char_p), ("kind", c_int32), ("no_redaction", c_int32), ("name", c_char_p),
                ("secret", c_char_p), ("secret_len", c_uint64)]


class Net(Structure):
    _fields_ = [("size", c_uint64), ("rules", c_void_p), ("nrules", c_uint64), ("credentials", c_void_p), ("ncredentials", c_uint64),
                ("also_private", c_void_p), ("also_metadata", c_void_p), ("ca_file", c_char_p), ("proxy", c_char_p), ("allow_insecure", c_int32),
                ("decide", c_void_p), ("resolve", c_void_p), ("secret", c_void_p), ("user", c_void_p), ("sign", c_void_p),
                ("transfer", c_void_p), ("transfer_send", c_void_p), ("transfer_receive", c_void_p), ("transfer_close", c_void_p)]


class Transfer(Structure):
    _fields_ = [("size", c_uint64), ("method", c_char_p), ("url", c_char_p), ("headers", c_void_p), ("addresses", c_char_p), ("body_len", c_int64),
                ("timeout_ms", c_int64), ("connect_timeout_ms", c_int64), ("insecure", c_int32)]


class FileRule(Structure):
    _fields_ = [("size", c_uint64), ("pattern", c_char_p), ("operations", c_uint32), ("deny", c_int32)]


class Question(Structure):
    _fields_ = [("size", c_uint64), ("kind", c_int32), ("subject", c_char_p), ("id", c_uint64)]


class Policy(Structure):
    _fields_ = [("size", c_uint64), ("allow_commands", c_void_p), ("deny_commands", c_void_p), ("ask_commands", c_void_p), ("rules", c_void_p),
                ("nrules", c_uint64), ("scratch", c_void_p), ("asks", c_uint32), ("ask", c_void_p), ("user", c_void_p)]


class Audit(Structure):
    _fields_ = [("size", c_uint64), ("line", c_void_p), ("user", c_void_p), ("ring", c_uint64), ("output", c_uint64)]


class ImageDir(Structure):
    _fields_ = [("size", c_uint64), ("source", c_char_p), ("destination", c_char_p), ("include", c_void_p), ("exclude", c_void_p), ("flags", c_uint32),
                ("image", c_void_p), ("message", c_void_p), ("message_size", c_uint64)]


class FormatOptions(Structure):
    _fields_ = [("size", c_uint64), ("cap", c_uint64)]


MOUNT_METHODS = ("stat", "list", "read", "readlink", "create", "write", "truncate", "mkdir", "remove", "rename", "symlink", "chmod", "utimes")


class MountOps(Structure):
    _fields_ = [("size", c_uint64)] + [(name, c_void_p) for name in MOUNT_METHODS + ("release",)]
