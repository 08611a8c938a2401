"""What users of agent shells report and ask for: a test for each thing that Python can answer."""
import asyncio
import builtins
import errno
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import libshell
from libshell import Bind, Limits, Shell


class RunningThings(unittest.TestCase):
    def test_session_reset_and_fresh(self):
        with Shell() as sh:
            sh.run("x=1; export y=2; f() { echo f; }; set -u; cd /tmp; echo a > kept")
            self.assertEqual(sh.run("echo $x $y $PWD; f; cat kept").stdout, "1 2 /tmp\nf\na\n")
            sh.reset()
            self.assertEqual(sh.run("echo ${x-} ${y-} $PWD; type f; cat /tmp/kept").stdout, "/home/agent\n")
            sh.run("trap 'echo left' EXIT; set -e; z=1; false; echo never", fresh=True)
            r = sh.run("false; echo ${z-unset}", fresh=True)
            self.assertEqual((r.stdout, r.stderr), ("unset\n", ""))

    def test_a_time_limit_ends_everything(self):
        scripts = ["sleep 100", "(sleep 100)", "echo x | sleep 100", "sleep 100 & wait", "while :; do :; done", "jq -n 'def f: f; f'",
                   "awk 'BEGIN { while (1) x++ }'", "seq 100000000 | wc -l", "yes | grep -c x", "x=$(sleep 100)", "cat < <(sleep 100)", "yes > /dev/null",
                   "yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | grep -E '(a+)+b'"]
        with Shell() as sh:
            for script in scripts:
                start = time.monotonic()
                r = sh.run(script, timeout=0.15)
                self.assertEqual((r.status, r.end), (124, "timeout"), script)
                self.assertLess(time.monotonic() - start, 0.6, script)

    def test_an_output_limit_counts_bytes_and_says_so(self):
        with Shell(limits=Limits(output=5000)) as sh:
            r = sh.run("echo first; for i in $(seq 100); do echo 0123456789; done; yes")
            self.assertEqual((len(r.stdout_bytes), r.stdout_truncated, r.limit, r.limit_value), (5000, True, "output", 5000))
            self.assertTrue(r.stdout.startswith("first\n"))
            self.assertIn("output limit", r.stderr)

    def test_output_while_it_runs(self):
        times, parts = [], []
        with Shell() as sh:
            r = sh.run("echo a; sleep 0.1; x=$(echo hidden); echo hidden | cat >/dev/null; echo b",
                       on_stdout=lambda data: (times.append(time.monotonic()), parts.append(data)))
            self.assertEqual(b"".join(parts), r.stdout_bytes)
            self.assertGreater(times[-1] - times[0], 0.05)

    def test_cancelling(self):
        with Shell() as sh:
            for script in ("while :; do :; done", "sleep 20"):
                threading.Timer(0.05, sh.cancel).start()
                start = time.monotonic()
                self.assertEqual(sh.run(script).end, "cancelled")
                self.assertLess(time.monotonic() - start, 1)

            async def main():
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(sh.arun("while :; do :; done"), 0.05)
            asyncio.run(main())

    def test_a_limit_is_named_and_can_be_set(self):
        cases = {"steps": (50, "while :; do :; done"), "memory": (8 << 20, "x=$(yes | head -c 100000000); echo ${#x}"), "output": (10, "yes"),
                 "time_ms": (50, "sleep 10")}
        for name, (value, script) in cases.items():
            limits = Limits(**{name: value})
            for r in (Shell(limits=limits).run(script), Shell().run(script, limits=limits)):
                self.assertEqual((r.limit or "").replace("time", "time_ms"), name, script)
        for name, (value, script, words) in {"file_size": (10, "seq 100 > f", "File too large"), "fds": (20, "for i in $(seq 3 40); do eval \"exec $i<>/tmp/f$i\"; done", "Too many open files"),
                                             "file_bytes": (1000, "seq 10000 > f", "No space left"), "inodes": (3, "touch a b c d e f", "")}.items():
            r = Shell(limits=Limits(**{name: value})).run(script)
            self.assertIn(words, r.stderr, name)
        for name in Limits().__slots__:
            self.assertEqual(Shell(limits=Limits(**{name: 1 << 40})).run("echo on").stdout, "on\n", name)

    def test_bytes_are_bytes(self):
        seen = []
        with Shell() as sh:
            r = sh.run(r"printf '\xff' | cat | tee f", on_stdout=seen.append)
            self.assertEqual((r.stdout_bytes, b"".join(seen), sh.read_file("f"), r.stdout), (b"\xff", b"\xff", b"\xff", "\ufffd"))
            self.assertEqual(sh.run("cat; cat f", stdin=b"\x00\xfe").stdout_bytes, b"\x00\xfe\xff")
            sh.write_file(b"/workspace/\xff", b"1")
            self.assertEqual(sh.read_file("/workspace/\udcff"), b"1")

    def test_wrong_is_never_successful(self):
        with Shell() as sh:
            for script in ("nosuchcommand", "grep --no-such-option x f", "ls --no-such-option", "sort --no-such-option"):
                r = sh.run(script)
                self.assertNotEqual(r.status, 0, script)
                self.assertNotEqual(r.stderr, "", script)


class Extending(unittest.TestCase):
    def test_a_reentrant_run_is_an_error(self):
        with Shell() as sh:
            def again(call):
                try:
                    sh.run("echo")
                except libshell.ShellBusyError as e:
                    call.write(f"busy: {e}\n")
                for wrong in (sh.fork, sh.reset, sh.close, sh.snapshot, sh.image):
                    with self.assertRaises(libshell.ShellBusyError):
                        wrong()
                call.write(sh.read_file("/etc/hostname"))
            sh.command("again", again)
            r = sh.run("again")
            self.assertTrue(r.stdout.startswith("busy: "), r.stderr)
            self.assertTrue(r.stdout.endswith("libshell\n"), r.stderr)

    def test_every_wrapper_forwards_every_option(self):
        import inspect
        run = set(inspect.signature(Shell.run).parameters)
        self.assertEqual(set(inspect.signature(Shell.arun).parameters), run)
        self.assertEqual(set(inspect.signature(Shell.stream).parameters), run - {"on_stdout", "on_stderr"} - {"syntax_only"})

    def test_tools_without_a_shell(self):
        for shape in ("mcp", "openai", "anthropic"):
            self.assertTrue(libshell.tools(shape, files=True))

    def test_the_whole_file_system_in_and_out(self):
        with Shell() as sh:
            sh.run("mkdir d; echo 1 > d/f; ln -s f d/l; chmod 600 d/f")
            other = Shell()
            other.restore(sh.snapshot())
            self.assertEqual(other.run("cat d/l; stat -c %a d/f").stdout, "1\n600\n")

    def test_two_shells_over_one_file_system(self):
        files = {}
        a, b = Shell(), Shell()
        a.mount("/shared", files)
        b.mount("/shared", files)
        a.run("echo hi > /shared/f")
        self.assertEqual(b.run("cat /shared/f").stdout, "hi\n")


class Mounting(unittest.TestCase):
    def test_roots_must_be_named_and_kept_to(self):
        with tempfile.TemporaryDirectory() as folder:
            inside = Path(folder, "in")
            inside.mkdir()
            Path(folder, "secret").write_text("secret\n")
            os.symlink("../secret", inside / "out")
            os.symlink(os.path.join(folder, "secret"), inside / "abs")
            for source in ("/", ""):
                with self.assertRaises(libshell.ShellError):
                    Shell(binds=[Bind(source, "/d", mode="direct")])
            for mode in ("copy", "direct", "overlay"):
                with Shell(binds=[Bind(inside, "/d", mode=mode)]) as sh:
                    r = sh.run("cat /d/out /d/../secret; ln -s ../../secret /d/new; cat /d/new /d/abs")
                    self.assertNotIn("secret\n", r.stdout, mode)
                    if mode == "direct":
                        os.unlink(inside / "new") if os.path.lexists(inside / "new") else None

    def test_the_right_errno(self):
        sh = Shell(limits=Limits(file_size=10, file_bytes=100))
        for wrong, number in ((lambda: sh.write_file("f", b"x" * 11), errno.EFBIG), (lambda: [sh.write_file(f"f{i}", b"x" * 9) for i in range(20)], errno.ENOSPC),
                              (lambda: sh.read_file("/nope"), errno.ENOENT), (lambda: sh.read_file("/etc/hostname/x"), errno.ENOTDIR)):
            with self.assertRaises(OSError) as caught:
                wrong()
            self.assertEqual(caught.exception.errno, number)
        with tempfile.TemporaryDirectory() as folder:
            sh = Shell(binds=[Bind(folder, "/r", mode="direct", readonly=True)])
            with self.assertRaises(builtins.PermissionError) as caught:
                sh.write_file("/r/f", b"")
            self.assertEqual(caught.exception.errno, errno.EROFS)

    def test_threads_with_callbacks_and_a_free_gil(self):
        done = []

        def work(i):
            with Shell() as sh:
                sh.command("up", lambda call: call.write(call.stdin.upper()))
                for _ in range(30):
                    assert sh.run(f"echo a{i} | up | cat").stdout == f"A{i}\n"
            done.append(i)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
        self.assertEqual(sorted(done), list(range(16)))
        with Shell() as sh:
            thread, count = threading.Thread(target=sh.run, args=("sleep 0.2",)), 0
            thread.start()
            start = time.monotonic()
            while time.monotonic() - start < 0.1:
                count += 1
            self.assertGreater(count, 1000)
            thread.join()


class Packaging(unittest.TestCase):
    def test_a_missing_component_is_a_message(self):
        with tempfile.TemporaryDirectory() as folder:
            package = os.path.join(folder, "libshell")
            os.mkdir(package)
            for name in os.listdir(os.path.dirname(libshell.__file__)):
                source = os.path.join(os.path.dirname(libshell.__file__), name)
                if os.path.isfile(source) and not name.startswith("libshell-"):
                    os.symlink(source, os.path.join(package, name))
            code = "import libshell; r = libshell.Shell().run('sqlite3 :memory: \"select 1\"'); print(r.status, r.stderr)"
            out = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": folder})
            self.assertEqual(out.stderr, "")
            self.assertNotEqual(out.stdout.split()[0], "0")
            self.assertIn("libshell-data", out.stdout)

    def test_no_global_hooks(self):
        code = """
import signal, sys, threading, os
before = [signal.getsignal(s) for s in range(1, 65)], sys.excepthook, threading.excepthook, dict(os.environ), os.getcwd(), threading.active_count()
import libshell
sh = libshell.Shell()
sh.run("trap 'echo x' TERM; kill $$; cd /tmp; export A=1; umask 077")
assert before == ([signal.getsignal(s) for s in range(1, 65)], sys.excepthook, threading.excepthook, dict(os.environ), os.getcwd(), threading.active_count())
assert os.umask(0o22) != 0o77
os.environ["LIBSHELL_SURELY_NOT_READ"] = "1"
assert "SURELY" not in libshell.Shell().run("env").stdout
assert "asyncio" not in sys.modules and "typing" not in sys.modules
"""
        done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {os.path.dirname(os.path.dirname(libshell.__file__))!r})\n" + code],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_runs_that_repeat(self):
        script = "date +%s; echo $RANDOM $RANDOM; mktemp -u; sleep 5; date +%s; cat /dev/urandom | head -c 8 | od -An -tx1"
        outs = {Shell(virtual_clock=True, clock=1e9, seed=7).run(script).stdout for _ in range(3)}
        self.assertEqual(len(outs), 1)
        self.assertTrue(outs.pop().startswith("1000000000\n"))

    def test_forks_in_constant_time(self):
        with Shell() as sh:
            sh.run("for i in $(seq 2000); do echo $i > f$i; done")
            start = time.monotonic()
            forks = [sh.fork() for _ in range(500)]
            self.assertLess(time.monotonic() - start, 1)
            self.assertEqual(forks[-1].run("cat f2000").stdout, "2000\n")


if __name__ == "__main__":
    unittest.main()
