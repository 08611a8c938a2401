"""Many threads, a host that forks, ten thousand shells."""
import gc
import multiprocessing
import os
import random
import sys
import threading
import time
import unittest

import libshell
from libshell import Shell


def in_a_child(image, live, i):
    ok = Shell(image=image).run("cat /workspace/base").stdout == "base\n"
    ok = ok and live.run(f"echo {i} >> log; cat log; echo $x").stdout == f"start\n{i}\nx\n"
    ok = ok and live.fork().run("cat log").stdout == f"start\n{i}\n"
    sys.exit(0 if ok and live.run("echo $RANDOM$RANDOM").status == 0 else 1)


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Stress(unittest.TestCase):
    def test_sixteen_threads(self):
        base = Shell()
        base.run("mkdir d; for i in 1 2 3; do echo $i > d/$i; done")
        image, errors = base.image(), []

        def work(seed):
            try:
                self.one_thread(image, random.Random(seed))
            except BaseException as e:  # noqa: BLE001
                errors.append(e)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(120)
        self.assertEqual(errors, [])

    @staticmethod
    def one_thread(image, rng):
        shells = [Shell(image=image) for _ in range(3)]
        for i in range(60):
            k = rng.randrange(len(shells))
            sh, step = shells[k], rng.randrange(6)
            if step == 0:
                shells[k] = sh.fork()
            elif step == 1:
                data = sh.snapshot()
                shells[k] = Shell(image=image)
                shells[k].restore(data)
            elif step == 2:
                sh.command("c", lambda call: call.write(sh.read_file("/etc/hostname")))
                assert sh.run("c | cat").stdout == "libshell\n"
            elif step == 3:
                sh.write_file(f"f{i}", b"x" * rng.randrange(10000))
            elif step == 4:
                timer = threading.Timer(rng.random() * 0.002, sh.cancel)
                timer.start()
                sh.run("sleep 0.001; for i in 1 2 3; do cat d/$i; done")
                timer.join()  # else it would end a later run
            else:
                assert sh.run("cat d/* | sort -r | head -n 1").stdout == "3\n"

    def test_one_shell_in_two_threads_is_an_error_not_a_crash(self):
        sh, seen, stop = Shell(), set(), threading.Event()

        def work(seed):
            rng = random.Random(seed)
            calls = [lambda: sh.run("echo hi"), lambda: sh.read_file("/etc/hostname"), lambda: sh.write_file("f", b"1"), sh.fork, sh.changes,
                     lambda: sh.cwd, sh.snapshot, sh.cancel, lambda: sh.list_files("/"), lambda: sh.set_policy(None)]
            while not stop.is_set():
                try:
                    rng.choice(calls)()
                except libshell.ShellError as e:
                    seen.add(type(e))
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        time.sleep(0.7)
        while True:
            try:
                sh.close()
                break
            except libshell.ShellBusyError:
                pass
        time.sleep(0.2)
        stop.set()
        for t in threads:
            t.join(20)
        self.assertLessEqual(seen, {libshell.ShellBusyError, libshell.ShellError, libshell.FileNotFoundError})
        self.assertIn(libshell.ShellError, seen)

    def test_after_the_host_forks(self):
        with Shell() as sh:
            sh.write_file("/workspace/base", "base\n")
            image = sh.image()
        live = Shell()
        live.run("echo start > log; x=x")
        fork = multiprocessing.get_context("fork")
        children = [fork.Process(target=in_a_child, args=(image, live, i)) for i in range(8)]
        for child in children:
            child.start()
        for child in children:
            child.join(60)
        self.assertEqual([child.exitcode for child in children], [0] * 8)
        self.assertEqual(live.run("cat log").stdout, "start\n")

    def test_forked_while_a_thread_runs_it(self):
        sh = Shell()
        thread = threading.Thread(target=sh.run, args=("sleep 0.5",))
        thread.start()
        while not sh._lock.locked():
            pass
        pid = os.fork()
        if not pid:
            try:
                sh.run("echo")
                os._exit(1)
            except libshell.ShellBusyError:
                os._exit(0 if Shell().run("echo on").stdout == "on\n" else 2)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        thread.join()
        self.assertEqual(sh.run("echo on").stdout, "on\n")

    def test_asyncio_in_a_child(self):
        import asyncio
        sh = Shell()
        asyncio.run(sh.arun("echo x"))
        pid = os.fork()
        if not pid:
            os._exit(0 if asyncio.run(Shell().arun("echo y")).stdout == "y\n" else 1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_ten_thousand_shells_leave_nothing(self):
        def some(count):
            for i in range(count):
                sh = Shell()
                sh.command("c", lambda call: call.write(sh.cwd))
                sh.run("c; x=1", on_stdout=lambda data: None)
                if i % 10 == 0:
                    sh.mount("/m", {"a": b"1"})
                    sh.lazy_file("l", lambda: "x")
                    sh.set_policy(libshell.Policy(deny_commands=["rm"]))
                    sh.fork().run("c; cat /m/a l")
                sh.close()
        some(1000)
        gc.collect()
        from libshell import _callbacks
        before, handles = resident(), len(_callbacks._handles)
        some(9000)
        gc.collect()
        self.assertLessEqual(len(_callbacks._handles), handles)
        self.assertLess(resident() - before, 8 << 20)


if __name__ == "__main__":
    unittest.main()
