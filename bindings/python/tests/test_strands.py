"""libshell.compat.strands and the sandbox for the Strands Agents SDK, alone and over an SDK of the same shape."""
import asyncio
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import libshell
from libshell.compat import _toml, strands as compat
from libshell.strands import (ExecutionResult, LocalSandbox, SandboxHttpError, SandboxPathNotFoundError, SandboxTimeoutError, ShellSandbox, StreamChunk)


def python3(call):
    """An interpreter as a custom command: -c CODE, a file, or standard input."""
    if call.argv[1:2] == ["-c"]:
        code = call.argv[2]
    else:
        code = python3.shell.read_text(call.argv[1]) if len(call.argv) > 1 else call.stdin.decode()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {"__name__": "__main__"})
    call.write(out.getvalue())


class Interpreters(unittest.TestCase):
    """Two scripts that users reported: python is what the host says it is."""

    def setUp(self):
        self.shell = python3.shell = libshell.Shell()
        self.shell.command("python3", python3)

    def test_a_script_with_env_in_its_first_line(self):
        r = self.shell.run("printf '#!/usr/bin/env python3\\nprint(5)\\n' >p; chmod +x p; ./p")
        self.assertEqual((r.stdout, r.stderr, r.status), ("5\n", "", 0))

    def test_a_command(self):
        r = self.shell.run("python3 -c 'print(1)'")
        self.assertEqual((r.stdout, r.stderr, r.status), ("1\n", "", 0))

    def test_standard_input_and_a_failing_one(self):
        self.assertEqual(self.shell.run("echo 'print(2)' | python3 | cat").stdout, "2\n")
        r = self.shell.run("python3 -c '1/0'")
        self.assertEqual((r.status, r.stderr), (1, "python3: ZeroDivisionError: division by zero\n"))


class Compat(unittest.TestCase):
    def test_names_and_defaults(self):
        self.assertEqual(compat.Bind("a", "/b"), compat.Bind("a", "/b", "direct", False))
        limits = compat.Limits()
        self.assertEqual((limits.max_output, limits.max_file_size, limits.max_fds, limits.max_bg_jobs, limits.max_pipeline, limits.max_input, limits.max_inodes,
                          limits.max_depth), (1 << 20, 10 << 20, 128, 8, 16, 1 << 20, 10000, 64))
        for bad in (dict(), dict(token="a", env_var="b")):
            with self.assertRaises(ValueError):
                compat.Cred("https://x", **bad)
        self.assertEqual(compat.CredEntry("https://x", api_key_env="K").env_var, "K")
        with self.assertRaises(Exception):
            limits.max_fds = 3
        for bad in (0, -1, float("inf"), float("nan")):
            with self.assertRaises(ValueError):
                compat.Shell(timeout=bad)

    def test_a_program(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "in.txt").write_text("b\na\n")
            with compat.Shell(binds=[compat.Bind(folder, "/data")], env={"WHO": "me"}, umask="027", timeout=5) as sh:
                out = sh.run("cd /data; sort in.txt > out.txt; echo $WHO; umask; exit 3")
                self.assertEqual(out, compat.Output(3, "me\n0027\n", ""))
                self.assertEqual(Path(folder, "out.txt").read_text(), "a\nb\n")
                sh.write_file("/tmp/x/y", b"1", mode="whatever")
                self.assertEqual((sh.read_file("/tmp/x/y"), sh.list_files("/tmp/x")), (b"1", [compat.FileInfo("y", False, 1)]))
                sh.remove_file("/tmp/x/y")
                for wrong in (lambda: sh.read_file("/tmp/x/y"), lambda: sh.remove_file("/tmp/x/y")):
                    with self.assertRaises(compat.FileNotFoundError) as caught:
                        wrong()
                    self.assertEqual(caught.exception.path, "/tmp/x/y")
                with self.assertRaises(compat.ShellError):
                    sh.remove_file("/tmp/x")
                with self.assertRaises(compat.PermissionDeniedError):
                    sh.write_file("/etc/passwd", b"")
                sh.set_env("V", "1")
                self.assertEqual((sh.get_env("V"), sh.get_env("NONE")), ("1", None))
                self.assertEqual(sh.config.timeout, 5.0)
                self.assertEqual(sh.config.binds, (compat.ConfigBind(folder, "/data", "direct", False),))
            with compat.Shell(limits=compat.Limits(max_file_size=10)) as sh:
                with self.assertRaises(compat.FileTooLargeError):
                    sh.write_file("f", b"x" * 11)
        with self.assertRaises(RuntimeError):
            compat.Shell(binds=[compat.Bind("/nonexistent-directory", "/x")])

    CONFIG = """
umask = "077"
allowed_urls = ["https://api.example.com/v1"]
[env]
A = "file"
B = "file"
[[bind]]
source = "%s"
destination = "/data"
readonly = true
[[cred]]
url = "https://api.example.com/v1"
api_key = "long-enough-secret"
kind = "query"
param = "key"
[limits]
timeout = 7
max_fds = 64
"""

    def shell(self, text, **options):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as f:
            f.write(text)
            f.flush()
            return compat.Shell(config_file=f.name, **options)

    def test_the_file_and_what_wins(self):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["LIBSHELL_TEST_TOKEN"] = "another-secret-token"
            try:
                sh = self.shell(self.CONFIG % folder, env={"B": "given"}, timeout=9, credentials=[compat.Cred("https://b.example", env_var="LIBSHELL_TEST_TOKEN")])
            finally:
                del os.environ["LIBSHELL_TEST_TOKEN"]
        c = sh.config
        self.assertEqual((c.umask, c.timeout, c.env, c.limits.max_fds, c.allowed_urls), (0o077, 9.0, {"A": "file", "B": "given"}, 64, ("https://api.example.com/v1",)))
        self.assertEqual(c.binds[0].mode, "copy")
        self.assertEqual(c.credentials, (compat.ConfigCred("https://api.example.com/v1", "query", (), "key", None, True),
                                         compat.ConfigCred("https://b.example", "bearer", (), None, "LIBSHELL_TEST_TOKEN", False)))
        self.assertNotIn("secret", repr(c))

    def test_what_is_wrong_with_a_file(self):
        for text, words in (("umaks = '022'", "did you mean 'umask'"), ("[limits]\nmax_fd = 1", "did you mean 'max_fds'"), ("[[mcp]]\nname = 'x'", "starts none"),
                            ("[[bind]]\nsource = 'a'", "destination is missing"), ("umask = '9'", "octal"), ("[limits]\ntimeout = 0", "positive"),
                            ("[[cred]]\nurl = 'https://a'", "exactly one"), ("a = @", "line 1"), ("[[bind]]\nsource = 1\ndestination = '/x'", "must be a string"),
                            ("[[cred]]\nurl = 'https://a'\napi_key_env = 'SURELY_NOT_SET'", "SURELY_NOT_SET")):
            with self.assertRaises(RuntimeError, msg=text) as caught:
                self.shell(text)
            self.assertIn(words, str(caught.exception))
        with self.assertRaises(RuntimeError):
            compat.Shell(config_file="/nonexistent.toml")

    def test_our_own_toml(self):
        texts = [self.CONFIG, "a.b = 1\na.c = [1, 2.5, 'x',\n # c\n true,]\n[x.y]\nz = {p = \"q\\u00e9\\n\", r = {}}\n[[t]]\n[[t]]\nk = 0x1F\nm = -3\n", 's = """\na \\\n  b"""\nl = \'\'\'c:\\x\'\'\'\n',
                 "", "# only a comment", '"quoted key" = +1_000\n']
        bad = ["a", "a = 1\na = 2", "a = [1", "[a]\n[a]", "a = 'x", "a = 1 b = 2", "[a", 'a = "\\q"', "a = " + "[" * 5000, "a = 01", "= 1"]
        try:
            import tomllib
        except ImportError:
            tomllib = None
        for text in texts:
            found = _toml.loads(text)
            if tomllib:
                self.assertEqual(found, tomllib.loads(text))
        for text in bad:
            with self.assertRaises(_toml.TOMLDecodeError, msg=text[:20]):
                _toml.loads(text)


class SandboxTests(unittest.IsolatedAsyncioTestCase):
    async def test_streaming(self):
        box = LocalSandbox()
        parts = [part async for part in box.execute_streaming("echo a; echo e >&2; exit 2", unknown_option=1)]
        self.assertEqual(sorted((p.stream_type, p.data) for p in parts[:-1]), [("stderr", "e\n"), ("stdout", "a\n")])
        self.assertEqual(parts[-1], ExecutionResult(2, "a\n", "e\n"))
        self.assertIsInstance(parts[0], StreamChunk)

    async def test_options(self):
        box = LocalSandbox()
        r = await box.execute("pwd; env | grep ^A= | cat; sh -c 'echo $A'", cwd="/tmp", env={"A": "1"})
        self.assertEqual(r.stdout, "/tmp\nA=1\n1\n")
        for name in ("1A", "A-B", "", "A B"):
            with self.assertRaises(ValueError):
                await box.execute("true", env={name: "x"})

    async def test_calls_queue_in_arrival_order_with_their_own_deadlines(self):
        box = LocalSandbox()
        results = await asyncio.gather(*(box.execute(f"echo {i} >> log; sleep 0.1; cat log", timeout=0.5) for i in range(10)))
        self.assertEqual([r.stdout for r in results], ["".join(f"{j}\n" for j in range(i + 1)) for i in range(10)])

    async def test_deadline(self):
        box = LocalSandbox()
        with self.assertRaises(SandboxTimeoutError) as caught:
            await box.execute("echo before; sleep 20", timeout=0.1)
        self.assertEqual((caught.exception.seconds, caught.exception.stdout), (0.1, "before\n"))
        self.assertIsInstance(caught.exception, TimeoutError)
        self.assertEqual((await box.execute("echo on")).stdout, "on\n")

    async def test_cancelling(self):
        box = LocalSandbox()
        tasks = [asyncio.create_task(box.execute(f"sleep 5; echo {i}")) for i in range(3)]
        await asyncio.sleep(0.05)
        tasks[1].cancel()
        await asyncio.sleep(0.01)
        tasks[0].cancel()
        tasks[2].cancel()
        for task in tasks:
            with self.assertRaises(asyncio.CancelledError):
                await task
        self.assertEqual((await asyncio.wait_for(box.execute("echo on"), 2)).stdout, "on\n")
        stream = box.execute_streaming("yes")
        async for _ in stream:
            break
        await stream.aclose()
        self.assertEqual((await asyncio.wait_for(box.execute("echo on"), 2)).stdout, "on\n")

    async def test_code(self):
        box = LocalSandbox(interpreters={"python3": python3})
        python3.shell = box.shell
        for language, code, out in (("bash", "a=(1 2); echo ${#a[@]}", "2\n"), ("sh", "echo '$x'\"'\"", "$x'\n"), ("awk", "BEGIN { print 6 * 7 }", "42\n"),
                                    ("jq", "[1, 2] | add", "3\n"), ("python3", "print('it''s')", "its\n"), ("python", "print(2)", "2\n"),
                                    ("shell", "echo s", "s\n")):
            r = await box.execute_code(code, language)
            self.assertEqual((r.exit_code, r.stdout), (0, out), (language, r.stderr))
        if os.path.exists(os.path.join(os.path.dirname(libshell.__file__), "libshell-data.so")):
            self.assertEqual((await box.execute_code("select 1 + 1;", "sqlite3")).stdout, "2\n")
        r = await box.execute_code("1", "cobol")
        self.assertEqual(r.exit_code, 127)
        self.assertIn("awk, bash, jq, python3, sh", r.stderr)
        self.assertEqual((await box.execute_code("exit 5", "bash")).exit_code, 5)

    async def test_output_files(self):
        box = LocalSandbox(output_directory="/workspace/out")
        r = await box.execute("mkdir -p /workspace/out/d; echo '{}' > /workspace/out/d/a.json; echo x > /workspace/other")
        self.assertEqual([(f.name, f.content, f.mime_type) for f in r.output_files], [("d/a.json", b"{}\n", "application/json")])
        self.assertEqual((await box.execute("true")).output_files, [])
        self.assertEqual([f.name for f in (await box.execute("echo '{ }' > /workspace/out/d/a.json")).output_files], ["d/a.json"])

    async def test_files(self):
        box = LocalSandbox()
        name = "/workspace/a'$(touch /tmp/x)'b/c"
        await box.write_file(name, b"\x00\xff")
        self.assertEqual(await box.read_file(name), b"\x00\xff")
        await box.write_text("t", "é")
        self.assertEqual(await box.read_text("t"), "é")
        self.assertEqual([(f.name, f.is_dir, f.size) for f in await box.list_files(os.path.dirname(name))], [("c", False, 2)])
        await box.remove_file(name)
        for wrong in (box.read_file(name), box.remove_file(name)):
            with self.assertRaises(FileNotFoundError):
                await wrong
        for path in ("/nope", "/etc/hostname"):
            with self.assertRaises(SandboxPathNotFoundError):
                await box.list_files(path)
        with self.assertRaises(OSError):
            await box.write_file("/etc/hostname/x", b"")
        self.assertFalse(box.shell.exists("/tmp/x"))

    async def test_request(self):
        box = LocalSandbox()
        with self.assertRaises(SandboxHttpError):
            await box.request("GET", "http://127.0.0.1:9/")

    def test_over_several_loops(self):
        box = LocalSandbox()
        for i in range(3):
            self.assertEqual(asyncio.run(box.execute(f"echo {i}")).stdout, f"{i}\n")

    def test_without_the_sdk(self):
        with self.assertRaises(ImportError) as caught:
            ShellSandbox()
        self.assertIn("strands-agents", str(caught.exception))

    def test_with_an_sdk(self):
        code = '''
import abc, asyncio, dataclasses, sys, types
import libshell.strands as ours
sdk = types.ModuleType("strands.sandbox")
class Sandbox(abc.ABC):
    @abc.abstractmethod
    def execute_streaming(self, command, **kw): ...
    @abc.abstractmethod
    def execute_code_streaming(self, code, language, **kw): ...
    @abc.abstractmethod
    async def read_file(self, path, **kw): ...
    @abc.abstractmethod
    async def write_file(self, path, content, **kw): ...
    @abc.abstractmethod
    async def remove_file(self, path, **kw): ...
    @abc.abstractmethod
    async def list_files(self, path, **kw): ...
    async def execute(self, command, **kw):
        return [part async for part in self.execute_streaming(command, **kw)][-1]
sdk.Sandbox = Sandbox
for name in ("StreamChunk", "FileInfo", "OutputFile", "ExecutionResult", "HttpResult", "SandboxTimeoutError", "SandboxPathNotFoundError"):
    setattr(sdk, name, type(name, (getattr(ours, name),), {}))
strands = types.ModuleType("strands")
strands.sandbox = sdk
vended, shell, editor = types.ModuleType("strands.vended_tools"), types.ModuleType("strands.vended_tools.shell"), types.ModuleType("strands.vended_tools.file_editor")
shell.make_shell = lambda **kw: ("shell", kw)
editor.make_file_editor = lambda **kw: ("editor", kw)
sys.modules.update({"strands": strands, "strands.sandbox": sdk, "strands.vended_tools": vended, "strands.vended_tools.shell": shell,
                    "strands.vended_tools.file_editor": editor})
box = ours.ShellSandbox(name="sh")
assert isinstance(box, Sandbox)
r = asyncio.run(box.execute("echo hi"))
assert type(r) is sdk.ExecutionResult and r.stdout == "hi\\n"
try:
    asyncio.run(box.execute("sleep 5", timeout=0.05))
    raise SystemExit("no timeout")
except sdk.SandboxTimeoutError:
    pass
tools = box.get_tools()
assert [t[0] for t in tools] == ["shell", "editor"] and tools[0][1]["sandbox"] is box and tools[0][1]["name"] == "sh"
'''
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(libshell.__file__))})
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
