"""batch: many small scripts run by bash with the real tools and by libshell, for the *_diff.py of the text engines.

A generator gives one test from a seed: a script of a line or a few. A batch of them runs in one bash and in one libshell, over the same
files, stdout and stderr apart, with marks between the tests; what a test printed and its status must be the same bytes. A real tool that
uses up five seconds, or is killed, is left out, and counted. Seed N always gives the same test and its batch's files.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

MOST = 20000 # bytes of output
MARK = re.compile(rb"\n?\x1e(\d+) (\d+)\n")


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def joined(tests):
    lines = []
    for n, test in enumerate(tests):
        lines.append(f"{test}\nst=$?; printf '\\n\\036%d %d\\n' {n} $st; printf '\\n\\036%d %d\\n' {n} $st >&2\n")
    return "".join(lines).encode("utf-8", "surrogateescape")


def parts(data):
    """{number: (bytes, status)}"""
    found, at = {}, 0
    for m in MARK.finditer(data):
        found[int(m.group(1))] = (data[at:m.start()], int(m.group(2)))
        at = m.end()
    return found


class Batch:
    def __init__(self, libshell, files, env):
        self.libshell, self.env = os.path.abspath(libshell), env
        self.dir = tempfile.mkdtemp()
        for name, data in files.items():
            with open(os.path.join(self.dir, name), "wb") as f:
                f.write(data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape"))

    def close(self):
        shutil.rmtree(self.dir)

    def run(self, tests, real):
        with open(os.path.join(self.dir, ".tests"), "wb") as f:
            f.write(joined(tests))
        if real:
            env = dict(PATH="/usr/bin:/bin", **self.env)
            argv = ["bash", "-c", "ulimit -t 2; . ./.tests"]
        else:
            env = {}
            argv = [self.libshell, "--bind", f"{self.dir}:/w", "--cwd", "/w", "--timeout", "60", "--limit", "output=1000000000", "--limit", "steps=100000000000"]
            for name, value in self.env.items():
                argv += ["--env", f"{name}={value}"]
            argv += ["-c", ". ./.tests"]
        done = subprocess.run(argv, cwd=self.dir, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return parts(done.stdout), parts(done.stderr), done

    def compare(self, tests):
        """[(index, real, ours)], left out"""
        out, err, _ = self.run(tests, True)
        good = [n for n in range(len(tests)) if n in out and out[n][1] < 128 and len(out[n][0]) < MOST]
        found = self.compare_good([tests[n] for n in good], [(out[n][0], err.get(n, (b"", 0))[0], out[n][1]) for n in good])
        return [(good[i], a, b) for i, a, b in found], len(tests) - len(good)

    def compare_good(self, tests, expected):
        our_out, our_err, done = self.run(tests, False)
        found = []
        for n, real in enumerate(expected):
            if n not in our_out:
                found.append((n, real, (b"", b"ended here: " + done.stderr[-300:], done.returncode)))
                return found + [(n + 1 + i, a, b) for i, a, b in self.compare_good(tests[n + 1:], expected[n + 1:])] if n + 1 < len(tests) else found
            ours = (our_out[n][0], our_err.get(n, (b"", 0))[0], our_out[n][1])
            if ours != real:
                found.append((n, real, ours))
        return found


def show(name, result, other):
    """From a little before the first difference on."""
    out, err, status = result
    text = f"  {name} status {status}\n"
    for mark, data, than in ((">", out, other[0]), ("!", err, other[1])):
        same = len(os.path.commonprefix([data, than]))
        lines = data[data.rfind(b"\n", 0, max(same - 100, 0)) + 1:][:600].split(b"\n") if data and data != than else []
        for line in lines:
            text += f"    {mark} {line.decode('utf-8', 'backslashreplace')}\n"
    return text


def main(name, files, test, env=None, same=None):
    """files(r) -> {name: bytes}; test(r) -> script; same(script, real, ours): a difference that is none."""
    ap = argparse.ArgumentParser(description=f"{name} against the real tool on random input")
    ap.add_argument("libshell")
    ap.add_argument("--runs", type=int, default=2000)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--batch", type=int, default=500)
    ap.add_argument("--most", type=int, default=20, help="differences shown")
    o = ap.parse_args()
    env = env or {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
    done = differ = left = last = 0
    begin = time.time()
    while done < o.runs:
        count = min(o.batch, o.runs - done)
        first = o.seed + done
        batch = Batch(o.libshell, files(random.Random(first // o.batch)), env)
        tests = [test(random.Random(first * 7 + i * 1000003)) for i in range(count)]
        found, skipped = batch.compare(tests)
        for i, real, ours in found:
            if same and same(tests[i], real, ours):
                continue
            differ, last = differ + 1, done + i + 1
            if differ <= o.most:
                script = tests[i].encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
                print(f"-- run {done + i + 1}: {script}\n" + show("real", real, ours) + show("ours", ours, real), flush=True)
        batch.close()
        done, left = done + count, left + skipped
    print(f"{name} seed {o.seed}: {done} runs, {differ} differ (the last at {last}), {left} left out, {done / (time.time() - begin):.0f} a second")
    sys.exit(1 if differ else 0)
