#!/usr/bin/env python3
"""Random scripts, each run by bash and by libshell; what differs is made as small as it goes and printed.

usage: lang_diff.py [--seed N] [--count N] [--seconds N] [--runner PATH] [--keep FILE.case]

A script is grown from the grammar of lang_grammar.py by a seeded generator: seed N always gives the same script, so a finding is repeated by its seed.
bash runs each script as the recorder of test/cases does (user agent, an empty /home/agent, a bare environment); libshell runs a whole
batch in test/cases/runner, whose case files carry what bash said. Must run as root. --keep appends the shrunk scripts as cases; --jobs N runs N generators side by side, each with seeds of its own.
"""
import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lang_grammar import FIXTURE, Script

HOME = "/home/agent"
ENV = {
    "HOME": HOME, "USER": "agent", "LOGNAME": "agent", "SHELL": "/bin/bash", "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC",
}
PASSWD = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/bash\n"
GROUP = "root:x:0:\nnogroup:x:65534:\nagent:x:1000:\n"
BATCH = 400
TIMES = re.compile(rb"^(real|user|sys) [0-9.]+$", re.M)  # what time -p says
PATIENCE = 0.5  # seconds; a script that takes longer is left out, and not counted


def enter_namespace():
    """A mount and host name space of its own with an empty home; then on as the user the scripts run as, so that starting one is cheap."""
    if os.environ.get("LANG_DIFF_INSIDE") != "1":
        if os.geteuid() != 0:
            sys.exit("lang_diff: must run as root")
        os.environ["LANG_DIFF_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--uts", sys.executable] + sys.argv)
    subprocess.run(["hostname", "libshell"], check=False)
    for name, text in (("passwd", PASSWD), ("group", GROUP)):
        with tempfile.NamedTemporaryFile("w", delete=False) as f:
            f.write(text)
        os.chmod(f.name, 0o644)
        subprocess.run(["mount", "--bind", f.name, "/etc/" + name], check=True)
        os.unlink(f.name)
    os.makedirs(HOME, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "uid=1000,gid=1000", "tmpfs", HOME], check=True)
    os.setgroups([])
    os.setgid(1000)
    os.setuid(1000)
    os.umask(0o022)
    os.chdir(HOME)


def empty_home():
    os.chmod(HOME, 0o755)
    with os.scandir(HOME) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)


class Watch:
    """Ends the process group that takes too long. No exception: it could come where nobody waits for it."""

    def __init__(self):
        self.pid, self.late = 0, False
        signal.signal(signal.SIGALRM, self.expired)

    def expired(self, *_):
        self.late = True
        try: # it may have ended in this very moment
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def wait(self, pid):
        self.pid, self.late = pid, False
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        _, status = os.waitpid(pid, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        return None if self.late else status


class Captured:
    """Where bash's output goes: two files without names, used again for every script."""

    def __init__(self):
        self.out, self.err, self.null = os.memfd_create("out"), os.memfd_create("err"), os.open("/dev/null", os.O_RDONLY)

    def take(self, fd):
        data = os.pread(fd, 1 << 24, 0)
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        return data


def make_fixture():
    """What FIXTURE does, so that bash need not start the tools for it."""
    os.mkdir("d")
    for name in ("f1", "f2", "d/g"):
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644))


def run_bash(script, captured=[]):  # noqa: B006 (made once, when it is first needed)
    """(stdout, stderr, status), or None when it takes too long."""
    if not captured:
        captured.extend((Captured(), Watch()))
    c = captured[0]
    empty_home()
    if FIXTURE in script:
        script = script.replace(FIXTURE, "hash -r", 1)
        make_fixture()
    actions = [(os.POSIX_SPAWN_DUP2, c.null, 0), (os.POSIX_SPAWN_DUP2, c.out, 1), (os.POSIX_SPAWN_DUP2, c.err, 2)]
    pid = os.posix_spawn("/bin/bash", ["bash", "-c", "--", script], ENV, file_actions=actions, setpgroup=0, setsigdef=[signal.SIGHUP, signal.SIGPIPE, signal.SIGINT, signal.SIGQUIT, signal.SIGXFSZ])
    status = captured[1].wait(pid)
    try: # what it left running
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    out, err = c.take(c.out), c.take(c.err)
    if status is None or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGSEGV, signal.SIGABRT)): # bash has crashed
        return None
    code = os.waitstatus_to_exitcode(status)
    return out, TIMES.sub(rb"\1 0.00", err), code if code >= 0 else 128 - code


def escaped(mark, data):
    if not data:
        return []
    parts = data.split(b"\n")
    ended = parts[-1] == b""
    if ended:
        parts.pop()
    out = []
    for i, part in enumerate(parts):
        text = "".join("\\\\" if b == 92 else chr(b) if 32 <= b < 127 else "\\x%02x" % b for b in part)
        out.append(mark + ("/ " if i == len(parts) - 1 and not ended else "\\ ") + text)
    return out


def case_text(title, script, result):
    out, err, status = result
    return "\n".join(["# " + title] + ["$ " + line if line else "$" for line in script.split("\n")] + escaped(">", out) + escaped("!", err) + ["? %d" % status, "", ""])


def parts(report):
    """What was wanted and what was got, of each stream that differs."""
    return {m.group(1): (m.group(2), m.group(3)) for m in re.finditer(r"^    (stdout|stderr|status) wanted(?:: | )(.*?)(?:\n    (?:stdout|stderr|status) got   : | got )(.*)$", report, re.M)}


def raced(report):
    """Whether only what nothing decides differs: the order of lines that come from things side by side, and whether a writer still finds its reader (141)."""
    found = parts(report)
    script = re.search(r"^    script: (.*)$", report, re.M)
    if not found or not script or not re.search(r"[|&]|[<>]\(|coproc", script.group(1)):
        return False

    def same(wanted, got):
        lines = [sorted(re.sub(r"\b141\b", "0", text).split("\\n")) for text in (wanted, got)]
        return lines[0] == lines[1]

    return all(same(*pair) for pair in found.values())


def other_machine(report):
    """Whether the difference comes from what is on this machine and not in libshell: tools, and directories above the home."""
    found = parts(report)
    wanted, got = found.get("stderr", ("", ""))
    for name in set(re.findall(r"(\S+): command not found", got)) - set(re.findall(r"(\S+): command not found", wanted)):
        if shutil.which(name):
            return True
    wanted, got = found.get("stdout", ("", ""))
    return any(re.search(r"\b%s\b" % re.escape(name), wanted) and not re.search(r"\b%s\b" % re.escape(name), got) for name in STRANGE)


OURS = {"bin", "dev", "etc", "home", "proc", "root", "sbin", "tmp", "usr", "var", "agent"}
STRANGE = {name for path in ("/", "/home") for name in os.listdir(path) if len(name) > 3} - OURS


class Differ:
    def __init__(self, runner):
        self.runner = runner
        self.file = tempfile.mktemp(suffix=".case")

    def run(self, cases):
        """The indices of the (script, result) pairs that differ, and the runner's words about each."""
        lines, starts, at = [], {}, 1
        for i, (script, result) in enumerate(cases):
            text = case_text("s", script, result)
            starts[at + 1] = i
            lines.append(text)
            at += text.count("\n")
        with open(self.file, "w", encoding="utf-8", newline="\n") as f:
            f.write("".join(lines))
        try:
            done = subprocess.run([self.runner, self.file], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
            report, crashed = done.stdout.decode("utf-8", "replace"), done.returncode not in (0, 1)
        except subprocess.TimeoutExpired:
            report, crashed = "", True
        if crashed:
            if len(cases) == 1:
                return {0: "crashed or hangs"}
            half = len(cases) // 2
            found = self.run(cases[:half])
            found.update({k + half: v for k, v in self.run(cases[half:]).items()})
            return found
        found = {}
        for m in re.finditer(r"^%s:(\d+):.*\n((?:    .*\n)*)" % re.escape(self.file), report, re.M):
            if int(m.group(1)) in starts and not raced(m.group(2)) and not other_machine(m.group(2)):
                found[starts[int(m.group(1))]] = m.group(2)
        return found

    def differs(self, script, syntax_ok):
        result = run_bash(script)
        if result is None or (not syntax_ok and b"-c: line" in result[1]) or b"BASHOPTS=" in result[0] or run_bash(script) != result:
            return None
        found = self.run([(script, result)])
        return (result, found[0]) if found else None


def shrink(differ, script, deadline):
    syntax_ok = b"-c: line" in (run_bash(script) or (b"", b"", 0))[1]

    def reduce(parts, join):
        size = max(1, len(parts) // 2)
        while size >= 1:
            i = 0
            while i < len(parts) and time.time() < deadline:
                trial = parts[:i] + parts[i + size:]
                if trial and differ.differs(join(trial), syntax_ok):
                    parts = trial
                else:
                    i += size
            if size == 1:
                break
            size //= 2
        return parts

    script = "\n".join(reduce(script.split("\n"), "\n".join))
    script = "".join(reduce(re.split(r"(;|&&|\|\||\n)", script), "".join))
    return "".join(reduce(re.findall(r"\S+\s*", script), "".join))


def enter_namespace_of(args):
    """With --jobs, N processes, each in a namespace of its own."""
    if args.jobs > 1 and os.environ.get("LANG_DIFF_INSIDE") != "1":
        children = []
        for i in range(args.jobs):
            argv = [sys.executable] + sys.argv + ["--jobs", "1", "--seed", str(args.seed + i * 10**7), "--count", str(args.count // args.jobs)]
            children.append(subprocess.Popen(argv))
        sys.exit(max(c.wait() for c in children))
    enter_namespace()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=10**9)
    ap.add_argument("--seconds", type=float, default=60)
    ap.add_argument("--runner", default="build/release/test/runner")
    ap.add_argument("--keep")
    ap.add_argument("--jobs", type=int, default=1)
    ap.add_argument("--shrink", type=float, default=6, help="seconds for making a finding small")
    ap.add_argument("--show", action="store_true", help="print the script of --seed and stop")
    ap.add_argument("--progress", action="store_true", help="print the count after each batch")
    args = ap.parse_args()
    if args.show:
        print(Script(args.seed).text())
        return
    runner = os.path.abspath(args.runner)
    kept = open(args.keep, "a", encoding="utf-8") if args.keep else None
    enter_namespace_of(args)
    differ = Differ(runner)
    begin, end, done, ran, found = time.time(), time.time() + args.seconds, 0, 0, 0
    while time.time() < end and done < args.count:
        batch, seeds = [], []
        for seed in range(args.seed + done, args.seed + done + min(BATCH, args.count - done)):
            script = Script(seed).text()
            result = run_bash(script)
            if result is not None:
                batch.append((script, result))
                seeds.append(seed)
        done += BATCH
        ran += len(batch)
        for i in differ.run(batch):
            first = differ.differs(batch[i][0], True)
            if not first: # bash's own output varies
                continue
            found += 1
            small = shrink(differ, batch[i][0], time.time() + args.shrink)
            result, report = differ.differs(small, True) or first
            print("seed %d:\n%s\n%s" % (seeds[i], small, report), flush=True)
            if kept:
                kept.write(case_text("found by random scripts", small, result))
                kept.flush()
        if args.progress:
            print("-- %d scripts, %d differ, %.0f a second" % (ran, found, ran / (time.time() - begin)), flush=True)
    print("%d scripts, %d differ" % (ran, found))
    empty_home()
    sys.exit(1 if found else 0)


main()
