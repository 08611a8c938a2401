"""asyncio: arun, stream, cancelling, async commands; and the threads that runs wait on."""
import asyncio
import gc
import random
import time
import unittest

import libshell
from libshell import Limits, Shell


class Runs(unittest.IsolatedAsyncioTestCase):
    async def test_arun(self):
        async with Shell() as sh:
            r = await sh.arun("cat; echo $1 $A; exit 3", stdin="in\n", args=["bash", "x"], env={"A": "y"})
            self.assertEqual((r.stdout, r.status), ("in\nx y\n", 3))

    async def test_cancelling_the_task_cancels_the_run(self):
        with Shell() as sh:
            task = asyncio.create_task(sh.arun("echo a > f; sleep 20"))
            await asyncio.sleep(0.05)
            start = time.monotonic()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertLess(time.monotonic() - start, 1)
            self.assertEqual(sh.run("cat f").stdout, "a\n")  # idle at once

    async def test_cancelled_before_it_began(self):
        with Shell() as sh:
            for script in ("sleep 20", "while :; do :; done"):
                task = asyncio.create_task(sh.arun(script))
                await asyncio.sleep(0)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                self.assertEqual(sh.run("echo on").stdout, "on\n")

    async def test_wait_for(self):
        with Shell() as sh:
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(sh.arun("sleep 20"), 0.05)
            self.assertEqual((await sh.arun("echo on")).stdout, "on\n")

    async def test_cancelling_at_random(self):
        rng = random.Random(7)
        scripts = ["sleep 0.01", "yes | head -n 20000 | wc -l", "while :; do :; done", "sleep 5 | cat", "sleep 5 & wait", "echo hi"]

        async def one(sh):
            task = asyncio.create_task(sh.arun(rng.choice(scripts)))
            await asyncio.sleep(rng.random() * 0.01)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                pass
            self.assertEqual(sh.run("echo on").stdout, "on\n")
        shells = [Shell() for _ in range(8)]

        async def many(sh):
            for _ in range(25):
                await one(sh)
        await asyncio.gather(*map(many, shells))

    async def test_many_at_once(self):
        shells = [Shell() for _ in range(64)]
        start = time.monotonic()
        await asyncio.gather(*(sh.arun("sleep 1") for sh in shells))
        self.assertLess(time.monotonic() - start, 1.5)

    async def test_busy_is_an_error(self):
        with Shell() as sh:
            first = asyncio.create_task(sh.arun("sleep 0.2; echo done"))
            await asyncio.sleep(0.05)
            with self.assertRaises(libshell.ShellBusyError):
                await sh.arun("echo second")
            with self.assertRaises(libshell.ShellBusyError):
                sh.read_file("/etc/hostname")
            with self.assertRaises(libshell.ShellBusyError):
                sh.close()
            self.assertEqual((await first).stdout, "done\n")

    async def test_bad_options_are_raised_where_awaited(self):
        with Shell() as sh:
            with self.assertRaises(ValueError):
                await sh.arun("echo", timeout=-1)
            with self.assertRaises(ValueError):
                await sh.arun("echo", jobs="nonsense")


class Streams(unittest.IsolatedAsyncioTestCase):
    async def test_chunks_add_up(self):
        with Shell() as sh:
            stream = sh.stream("echo a; echo e >&2; x=$(echo swallowed); echo swallowed | true; echo b")
            chunks = [chunk async for chunk in stream]
            self.assertEqual("".join(c.text for c in chunks if c.stream == "stdout"), "a\nb\n")
            self.assertEqual(b"".join(c.data for c in chunks if c.stream == "stderr"), b"e\n")
            self.assertEqual((stream.output.stdout, stream.output.status), ("a\nb\n", 0))

    async def test_while_it_runs(self):
        with Shell() as sh:
            times = [time.monotonic() async for _ in sh.stream("echo a; sleep 0.2; echo b")]
            self.assertGreater(times[1] - times[0], 0.1)

    async def test_capped(self):
        with Shell(limits=Limits(output=1000)) as sh:
            stream = sh.stream("yes")
            data = b"".join([c.data async for c in stream if c.stream == "stdout"])
            self.assertEqual((data, stream.output.limit, stream.output.stdout_truncated), (stream.output.stdout_bytes, "output", True))

    async def test_slow_reader_holds_the_script(self):
        with Shell(limits=Limits(output=0)) as sh:
            stream, count = sh.stream("head -c 20000000 /dev/zero"), 0
            async for chunk in stream:
                count += len(chunk.data)
                self.assertLess(stream._feed.size, 4 << 20)
                if count < 3 << 20:
                    await asyncio.sleep(0.01)
            self.assertEqual(count, 20000000)

    async def test_leaving_early_ends_the_run(self):
        with Shell() as sh:
            async with sh.stream("yes") as stream:
                async for _ in stream:
                    break
            self.assertEqual(sh.run("echo on").stdout, "on\n")
            async for _ in sh.stream("while :; do echo x; sleep 0.01; done"):
                break
            gc.collect()
            for _ in range(200):
                try:
                    self.assertEqual(sh.run("echo on").stdout, "on\n")
                    break
                except libshell.ShellBusyError:
                    await asyncio.sleep(0.01)
            else:
                self.fail("the run goes on")

    async def test_cancelled_while_reading(self):
        with Shell() as sh:
            async def read():
                async for _ in sh.stream("echo a; sleep 20"):
                    pass
            task = asyncio.create_task(read())
            await asyncio.sleep(0.05)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(sh.run("echo on").stdout, "on\n")

    def test_without_asyncio(self):
        with Shell() as sh:
            stream = sh.stream("echo a; echo b")
            self.assertEqual(b"".join(c.data for c in stream), b"a\nb\n")
            self.assertEqual(stream.output.status, 0)
            with sh.stream("yes") as stream:
                next(stream)
            self.assertEqual(sh.run("echo on").stdout, "on\n")

    async def test_a_failure_is_raised(self):
        sh = Shell()
        sh.close()
        with self.assertRaises(libshell.ShellError):
            async for _ in sh.stream("echo"):
                pass

    async def test_text_over_chunks(self):
        with Shell() as sh:
            stream = sh.stream(r"printf '\xc3'; sleep 0.05; printf '\xa9'")
            self.assertEqual("".join([c.text async for c in stream]), "é")


class AsyncCommands(unittest.IsolatedAsyncioTestCase):
    async def test_everything_a_call_has(self):
        async def look(call):
            await asyncio.sleep(0.01)
            call.write(f"{call.argv[1:]} {call.stdin!r} {call.cwd} {await call.getenv('A')} {await call.do(sh.read_file, '/etc/hostname')!r}\n")
            call.write_error("note\n")
            return 4
        with Shell() as sh:
            sh.command("look", look)
            r = await sh.arun("export A=1; cd /tmp; echo in | look x | cat; echo ${PIPESTATUS[1]}")
            self.assertEqual((r.stdout, r.stderr), ("['x'] b'in\\n' /tmp 1 b'libshell\\n'\n4\n", "note\n"))

    def test_in_a_synchronous_run(self):
        async def slow(call):
            await asyncio.sleep(0.02)
            call.write(b"done\n")
        with Shell() as sh:
            sh.command("slow", slow)
            self.assertEqual(sh.run("slow; slow").stdout, "done\ndone\n")

    async def test_the_rest_goes_on(self):
        async def slow(call):
            await asyncio.sleep(0.2)
        with Shell() as sh:
            sh.command("slow", slow)
            start = time.monotonic()
            r = await sh.arun("slow & slow & slow & echo first; wait; echo last")
            self.assertEqual(r.stdout, "first\nlast\n")
            self.assertLess(time.monotonic() - start, 0.5)

    async def test_large_output_waits_for_its_reader(self):
        async def flood(call):
            for _ in range(50):
                call.write(b"x" * 100000)
                await call.drain()
        with Shell() as sh:
            sh.command("flood", flood)
            self.assertEqual((await sh.arun("flood | wc -c")).stdout, "5000000\n")
            self.assertEqual((await sh.arun("flood | head -c 3")).stdout, "xxx")

    async def test_exception_and_kill(self):
        ended = asyncio.Event()

        async def fail(call):
            raise ValueError("bad")

        async def hang(call):
            try:
                await asyncio.sleep(30)
            finally:
                ended.set()
        with Shell() as sh:
            sh.command("fail", fail)
            sh.command("hang", hang)
            r = await sh.arun("fail; echo $?")
            self.assertEqual((r.stdout, r.stderr), ("1\n", "fail: ValueError: bad\n"))
            r = await sh.arun("hang", timeout=0.05)
            self.assertEqual(r.end, "timeout")
            await asyncio.wait_for(ended.wait(), 2)

    async def test_nested_eight_deep(self):
        shells = [Shell() for _ in range(9)]
        for i in range(8):
            async def deeper(call, other=shells[i + 1]):
                call.write((await other.arun("echo $((depth + 1)); deeper", env={"depth": str(int(await call.getenv("depth") or 0) + 1)})).stdout)
            shells[i].command("deeper", deeper)
        shells[8].command("deeper", lambda call: call.write("bottom\n"))
        r = await asyncio.wait_for(shells[0].arun("deeper"), 20)
        self.assertEqual(r.stdout.split(), [str(i) for i in range(2, 10)] + ["bottom"])

    def test_nested_without_asyncio(self):
        shells = [Shell() for _ in range(9)]
        for i in range(8):
            shells[i].command("deeper", lambda call, other=shells[i + 1]: call.write(other.run("echo x; deeper").stdout))
        shells[8].command("deeper", lambda call: call.write("bottom\n"))
        self.assertEqual(shells[0].run("deeper").stdout, "x\n" * 8 + "bottom\n")

    async def test_unknown_commands(self):
        async def later(call):
            call.write(f"later {call.argv} {call.stdin!r}\n")

        def lookup(argv):
            return {"now": lambda call: call.write(f"now {call.argv} {call.getenv('HOME')} {call.stdin!r}\n"), "later": later}.get(argv[0])
        with Shell() as sh:
            sh.unknown_command(lookup)
            r = await sh.arun("echo in | now a; later b < /dev/null; echo kept | { nosuch; cat; }; echo $?; nosuch; echo $?")
            self.assertEqual(r.stdout, "now ['now', 'a'] /home/agent b'in\\n'\nlater ['later', 'b'] b''\nkept\n0\n127\n")
            self.assertEqual(r.stderr, "bash: line 1: nosuch: command not found\n" * 2)
            fork = sh.fork()
            self.assertEqual(fork.run("now x </dev/null").stdout, "now ['now', 'x'] /home/agent b''\n")
            sh.unknown_command(None)
            self.assertEqual(sh.run("now").status, 127)

    async def test_input_that_was_not_looked_at_stays(self):
        async def blind(call):
            call.write(b"blind\n")
        with Shell() as sh:
            sh.command("blind", blind)
            r = await sh.arun("printf 'a\\nb\\n' > f; { blind; cat; } < f")
            self.assertEqual(r.stdout, "blind\na\nb\n")

    async def test_forks_have_their_own(self):
        async def name(call):
            await asyncio.sleep(0.01)
            call.write(b"ran\n")
        with Shell() as sh:
            sh.command("name", name)
            forks = [sh.fork() for _ in range(4)]
            outs = await asyncio.gather(*(f.arun("name") for f in forks))
            self.assertEqual([o.stdout for o in outs], ["ran\n"] * 4)


if __name__ == "__main__":
    unittest.main()
