"""The Python binding, run from the installed wheel."""
import builtins
import gc
import tempfile
import threading
import time
import unittest
from pathlib import Path

import libshell
from libshell import Bind, Limits, Shell


class Running(unittest.TestCase):
    def test_output_and_status(self):
        with Shell() as sh:
            r = sh.run("echo out; echo err >&2; exit 3")
            self.assertEqual((r.stdout, r.stderr, r.status, r.end), ("out\n", "err\n", 3, "finished"))

    def test_exited(self):
        with libshell.Shell() as sh:
            for script in ("exit 3", "f() { exit; }; f", "set -e; false", "exec true", "kill $$", "trap : EXIT; exit"):
                self.assertTrue(sh.run(script, fresh=True).exited, script)
            for script in ("", "false", "(exit 3)", "${x?}", "echo $(exit 1)", "if", "trap 'exit 4' EXIT"):
                self.assertFalse(sh.run(script, fresh=True).exited, script)
            self.assertFalse(sh.run("while :; do :; done", timeout=0.02).exited)

    def test_state_lasts(self):
        with Shell() as sh:
            sh.run("x=5; cd /tmp; f() { echo \"f $1\"; }")
            self.assertEqual(sh.run("echo $x $PWD; f a").stdout, "5 /tmp\nf a\n")
            sh.reset()
            self.assertEqual(sh.run("echo ${x-unset} $PWD").stdout, "unset /home/agent\n")

    def test_bytes_stay_bytes(self):
        with Shell() as sh:
            self.assertEqual(sh.run(r"printf '\xff\x00a'").stdout_bytes, b"\xff\x00a")
            self.assertEqual(sh.run("cat", stdin=b"\xfe\x00").stdout_bytes, b"\xfe\x00")

    def test_env_cwd_args(self):
        with Shell(env={"A": "1"}) as sh:
            self.assertEqual(sh.run("echo $A $B $PWD $1", env={"B": "2"}, cwd="/tmp", args=["bash", "x"]).stdout, "1 2 /tmp x\n")
            self.assertEqual(sh.run("echo ${B-none} $PWD").stdout, "none /home/agent\n")

    def test_callbacks_add_up(self):
        parts, errors = [], []
        with Shell() as sh:
            r = sh.run("for i in 1 2 3; do echo $i; done; echo e >&2", on_stdout=parts.append, on_stderr=errors.append)
        self.assertEqual(b"".join(parts), b"1\n2\n3\n")
        self.assertEqual(b"".join(errors), b"e\n")
        self.assertEqual(r.stdout_bytes, b"1\n2\n3\n")

    def test_callback_exception(self):
        def fail(_data):
            raise KeyError("stop")
        with Shell() as sh:
            with self.assertRaises(KeyError):
                sh.run("yes", on_stdout=fail)
            self.assertEqual(sh.run("echo on").stdout, "on\n")

    def test_timeout(self):
        with Shell() as sh:
            start = time.monotonic()
            r = sh.run("echo before; while :; do :; done", timeout=0.1)
            self.assertLess(time.monotonic() - start, 2)
            self.assertEqual((r.status, r.end, r.limit, r.stdout), (124, "timeout", "time", "before\n"))
            self.assertEqual(sh.run("echo on").stdout, "on\n")

    def test_cancel_from_another_thread(self):
        with Shell() as sh:
            timer = threading.Timer(0.1, sh.cancel)
            timer.start()
            r = sh.run("sleep 20")
            timer.join()
            self.assertEqual(r.end, "cancelled")

    def test_limits(self):
        with Shell(limits=Limits(output=100)) as sh:
            r = sh.run("yes")
            self.assertEqual((r.status, r.limit, len(r.stdout), r.stdout_truncated), (137, "output", 100, True))
            self.assertEqual(sh.run("echo on").stdout, "on\n")

    def test_bad_arguments(self):
        with self.assertRaises(ValueError):
            Shell(timeout=-1)
        with self.assertRaises(ValueError):
            Shell(limits=Limits(memory=-5))
        with self.assertRaises(libshell.ShellError):
            Shell(binds=[Bind("/", "/workspace")])
        sh = Shell()
        sh.close()
        with self.assertRaises(libshell.ShellError):
            sh.run("echo")

    def test_threads(self):
        results = []

        def work(i):
            with Shell() as sh:
                results.append(sh.run(f"echo $(({i} * 2))").stdout)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sorted(results), sorted(f"{i * 2}\n" for i in range(16)))


class Files(unittest.TestCase):
    def test_round_trip(self):
        with Shell() as sh:
            sh.write_file("/workspace/a/b.txt", b"hello\n")
            sh.write_file("/workspace/a/b.txt", "more\n", append=True)
            self.assertEqual(sh.read_file("/workspace/a/b.txt"), b"hello\nmore\n")
            self.assertEqual(sh.read_range("/workspace/a/b.txt", 2, 3), b"llo")
            self.assertEqual(sh.stat("/workspace/a/b.txt").size, 11)
            self.assertEqual([(f.name, f.is_dir, f.size) for f in sh.list_files("/workspace/a")], [("b.txt", False, 11)])
            self.assertEqual(sh.run("cat /workspace/a/b.txt | wc -l").stdout, "2\n")
            sh.rename("/workspace/a/b.txt", "/workspace/c")
            self.assertTrue(sh.exists("/workspace/c"))
            sh.remove_file("/workspace/a", recursive=True)
            self.assertFalse(sh.exists("/workspace/a"))

    def test_errors_are_both(self):
        with Shell() as sh:
            with self.assertRaises(builtins.FileNotFoundError) as caught:
                sh.read_file("/nope")
            self.assertIsInstance(caught.exception, libshell.ShellError)
            self.assertEqual(caught.exception.path, "/nope")
            with self.assertRaises(builtins.IsADirectoryError):
                sh.read_file("/tmp")
            with self.assertRaises(builtins.PermissionError):
                sh.write_file("/etc/passwd", "x")
            with self.assertRaises(libshell.FileTooLargeError):
                Shell(limits=Limits(file_size=3)).write_file("f", "12345")

    def test_names_are_never_code(self):
        with Shell() as sh:
            name = "/workspace/a'$(touch x)'b"
            sh.write_file(name, "1")
            self.assertEqual(sh.read_file(name), b"1")
            self.assertFalse(sh.exists("x"))

    def test_changes(self):
        with Shell() as sh:
            sh.run("echo hi > /workspace/new; rm /etc/hosts 2>/dev/null")
            self.assertEqual([(c.kind, c.path, c.size) for c in sh.changes()], [("added", "/workspace/new", 3)])

    def test_binds(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "f").write_text("host\n")
            with Shell(binds=[Bind(folder, "/c"), Bind(folder, "/d", mode="direct"), Bind(folder, "/r", mode="direct", readonly=True)]) as sh:
                self.assertEqual(sh.cwd, "/c")
                self.assertEqual(sh.run("cat f; echo copy > f; echo direct > /d/g; echo no > /r/h").status, 1)
            self.assertEqual(Path(folder, "f").read_text(), "host\n")
            self.assertEqual(Path(folder, "g").read_text(), "direct\n")
            self.assertFalse(Path(folder, "h").exists())


class Copies(unittest.TestCase):
    def test_fork(self):
        with Shell() as sh:
            sh.run("x=1; echo a > f")
            other = sh.fork()
            other.run("x=2; echo b > f")
            self.assertEqual(sh.run("echo $x; cat f").stdout, "1\na\n")
            self.assertEqual(other.run("echo $x; cat f").stdout, "2\nb\n")

    def test_image(self):
        with Shell() as sh:
            sh.write_file("/workspace/base", "1")
            image = sh.image()
        shells = [Shell(image=image) for _ in range(3)]
        for i, sh in enumerate(shells):
            sh.run(f"echo {i} >> /workspace/base")
        self.assertEqual([sh.read_text("/workspace/base") for sh in shells], ["10\n", "11\n", "12\n"])

    def test_collected(self):
        for _ in range(2000):
            Shell().run("echo x")
        gc.collect()


class Commands(unittest.TestCase):
    def test_in_a_pipeline(self):
        def shout(call):
            call.write(call.stdin.upper() + call.argv[1].encode() + b"\n")
            call.write_error("note\n")
            return 4
        with Shell() as sh:
            sh.command("shout", shout)
            r = sh.run("echo hi | shout there | cat; echo ${PIPESTATUS[1]}")
            self.assertEqual((r.stdout, r.stderr), ("HI\nthere\n4\n", "note\n"))

    def test_exception_and_files(self):
        with Shell() as sh:
            def look(call):
                call.write(sh.read_file("/etc/hostname"))
                with self.assertRaises(libshell.ShellBusyError):
                    sh.run("echo no")
                raise ValueError("bad")
            sh.command("look", look)
            r = sh.run("look; echo $?")
            self.assertEqual((r.stdout, r.stderr), ("libshell\n1\n", "look: ValueError: bad\n"))

    def test_names(self):
        self.assertIn("grep", libshell.command_names())


if __name__ == "__main__":
    unittest.main()
