"""libshell as a sandbox of the Strands Agents SDK.

    from libshell.strands import ShellSandbox
    agent = Agent(tools=ShellSandbox(binds=[libshell.Bind("src", "/workspace", mode="overlay")]).get_tools())

Without the SDK (package strands-agents) LocalSandbox is the same with the types of this module: StreamChunk, ExecutionResult, OutputFile, FileInfo,
HttpResult, SandboxTimeoutError, SandboxPathNotFoundError, SandboxHttpError.
"""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Optional

from . import _sandbox
from ._sandbox import (ExecutionResult, FileInfo, HttpResult, OutputFile, SandboxHttpError, SandboxPathNotFoundError, SandboxTimeoutError,  # noqa: F401
                       StreamChunk)

LocalSandbox = _sandbox.make(_sandbox)

_TYPES = ("Sandbox", "StreamChunk", "FileInfo", "OutputFile", "ExecutionResult", "HttpResult", "SandboxTimeoutError", "SandboxPathNotFoundError", "SandboxHttpError")


def _sdk_tools(sandbox: Any, name: str, description: Optional[str]) -> list:
    from strands.vended_tools.file_editor import make_file_editor
    from strands.vended_tools.shell import make_shell
    return [make_shell(sandbox=sandbox, name=name, description=description or sandbox.shell.describe()), make_file_editor(sandbox=sandbox)]


_made: list = []


def _sdk_class() -> type:
    if not _made:
        try:
            import strands.sandbox as sdk
        except ImportError as e:
            raise ImportError("ShellSandbox needs the Strands Agents SDK: pip install strands-agents (LocalSandbox works without it)") from e
        api = SimpleNamespace(make_tools=_sdk_tools, **{name: getattr(sdk, name, getattr(_sandbox, name)) for name in _TYPES})
        _made.append(_sandbox.make(api))
    return _made[0]


class ShellSandbox:
    """Made on first use: a subclass of the SDK's Sandbox, with its types and errors. See LocalSandbox for the arguments."""

    def __new__(cls, *arguments: Any, **options: Any):
        return _sdk_class()(*arguments, **options)
