"""The command line: its options, called as bash and sh, what it refuses to start with, its confinement and its prompt.

usage: cli.py LIBSHELL LIBSHELL_DEBUG; ends with "N passed, N failed".
"""
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import http.server

CLI, DEBUG = (os.path.abspath(p) for p in sys.argv[1:3])
NO_CONFIGURATION = "libshell: LIBSHELL_CONFIG names no configuration: no host file is bound\n"


QUIET = {"ASAN_OPTIONS": "detect_leaks=0"} # of a build with ASan: its search for leaks is what confinement refuses


def run(*argv, env=None, stdin=b"", program=CLI, name=None):
    r = subprocess.run([name or program, *argv], executable=program, input=stdin, capture_output=True, env={**QUIET, **(env or {})}, timeout=60)
    return r.returncode, r.stdout.decode(), r.stderr.decode()


def expect(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def test_options(folder):
    expect(run("-c", "echo $0 $1", "a", "b"), (0, "a b\n", ""))
    expect(run("--umask", "027", "-c", "umask"), (0, "0027\n", ""))
    expect(run("--env-from-host", "X", "--env-from-host", "NONE", "-c", "echo $X $Y", env={"X": "1", "Y": "2"}), (0, "1\n", ""))
    expect(run("--deny-command", "ls", "-c", "cp /bin/ls ~/x; ~/x"), (126, "", "/home/agent/x: refused by policy\n"))
    expect(run("--umask", "9", "-c", ":"), (2, "", "libshell: an octal number up to 777 is expected: --umask: 9\n"))
    expect(run("--limit", "fd=1", "-c", ":"), (2, "", "libshell: unknown limit: --limit: fd=1\n"))
    expect(run("--nope"), (2, "", "libshell: unknown option: --nope\n"))
    expect(run("-s", "a", stdin=b"echo $0 $1"), (0, "bash a\n", ""))
    expect(run("-euc", "echo $x")[0], 1)
    help_text = run("--help")[1]
    for option in re.findall(r"--[a-z-]+", help_text):
        assert option in help_text


def test_one_output(folder):
    script = "echo a; nosuch; echo b; (cat nofile; echo c); echo d >&2; echo e"
    said = "a\nbash: line 1: nosuch: command not found\nb\ncat: nofile: No such file or directory\nc\nd\ne\n"
    both = subprocess.run([CLI, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=QUIET, timeout=60)
    expect(both.stdout.decode(), said)
    name = os.path.join(folder, "both")
    with open(name, "wb") as f:
        subprocess.run([CLI, "-c", script], stdout=f, stderr=f, env=QUIET, timeout=60)
    with open(name, encoding="utf-8") as f:
        expect(f.read(), said)


def test_command_line_wins(folder):
    c = write(os.path.join(folder, "c.toml"), 'umask = "077"\ncwd = "/tmp"\n[limits]\ntime_ms = 1\nfds = 40\n[env]\nA = "1"\n')
    expect(run("--umask", "022", "--config", c, "--limit", "time_ms=5000", "--env", "B=2", "-c", "umask; pwd; echo $A$B; ulimit -n 2>/dev/null | grep -c ."),
           (0, "0022\n/tmp\n12\n1\n", ""))
    expect(run("--config", c, "--config", c), (2, "", f"libshell: --config may be given once: {c}\n"))
    expect(run("--config", "/nope"), (2, "", "libshell: /nope: No such file or directory\n"))


def test_drop_in(folder):
    expect(run("-c", "echo $0; shopt -oq posix; echo $?", name="bash"), (0, "bash\n1\n", NO_CONFIGURATION))
    expect(run("-c", "echo $0; shopt -oq posix; echo $?", name="/bin/sh"), (0, "/bin/sh\n0\n", NO_CONFIGURATION))
    expect(run("-c", "foo", name="bash"), (127, "", NO_CONFIGURATION + "bash: line 1: foo: command not found\n"))
    write(os.path.join(folder, "seen"), "data\n")
    c = write(os.path.join(folder, "c.json"), json.dumps({"bind": [{"source": folder, "destination": "/w"}]}))
    expect(run("-c", "cat seen", name="-bash", env={"LIBSHELL_CONFIG": c}), (0, "data\n", ""))
    expect(run("-c", "env | grep -E 'SECRET|LIBSHELL|TERM'", name="bash", env={"LIBSHELL_CONFIG": c, "SECRET": "s", "TERM": "xterm"}), (1, "", ""))
    expect(run("-c", ":", name="libshell", env={"LIBSHELL_CONFIG": "/nope"}), (0, "", ""))
    expect(run("-c", ":", name="bash", env={"LIBSHELL_CONFIG": "/nope"}), (2, "", "libshell: /nope: No such file or directory\n"))


def test_guard(folder):
    os.mkdir(os.path.join(folder, "w"))
    os.mkdir(os.path.join(folder, "out"))
    w = os.path.join(folder, "w")
    c = write(os.path.join(w, "c.toml"), "")
    refused = re.compile(r"^libshell: (the configuration|the audit file|the file of certificate authorities|libshell itself) lies in .*, which scripts may write")
    bind = f"{w}:/w:direct"
    assert refused.match(run("--bind", bind, "--config", c, "-c", ":")[2])
    assert refused.match(run("--bind", bind, "--audit", os.path.join(w, "log"), "-c", ":")[2])
    assert not os.path.exists(os.path.join(w, "log"))
    assert refused.match(run("--bind", bind, "--ca-file", c, "-c", ":")[2])
    assert refused.match(run("--bind", os.path.dirname(CLI) + ":/b:direct", "-c", ":")[2])
    assert refused.match(run("--bind", f"{c}:/c:direct", "--config", c, "-c", ":")[2])
    os.symlink(w, os.path.join(folder, "link"))
    assert refused.match(run("--bind", f"{folder}/link:/w:direct", "--config", c, "-c", ":")[2])
    expect(run("--bind", bind + ":ro", "--config", c, "-c", ":")[0], 0)
    expect(run("--bind", f"{w}:/w", "--config", c, "-c", ":")[0], 0)
    expect(run("--bind", f"{folder}/out:/w:direct", "--config", c, "-c", ":")[0], 0)


def tries(*argv, name=None, env=None):
    status, out, err = run(*argv, "-c", "try-confinement", program=DEBUG, name=name, env=env)
    assert status == 0, err
    return dict(line.split() for line in out.splitlines())


def test_confinement(folder):
    free = tries()
    assert free["fork"] == free["socket-inet"] == free["read"] == "allowed", free
    for how in (dict(argv=["--confine"]), dict(argv=[], name="bash"), dict(argv=["--confine", "--bind", f"{folder}:/w:direct"])):
        got = tries(*how["argv"], name=how.get("name"))
        assert got.pop("thread") == "allowed"
        # reading needs Landlock, which a kernel may lack; the calls are refused in any case
        paths = {got.pop(k) for k in ("read", "list", "write", "self")}
        assert set(got.values()) == {"refused"}, got
        assert paths == ({"refused"} if landlock() else {"allowed"}), paths
    got = tries("--confine", "--allow-url", "https://example.com")
    assert got["socket-inet"] == "allowed" and got["socket-unix"] == got["execve"] == got["fork"] == "refused", got


def landlock():
    import ctypes
    return ctypes.CDLL(None, use_errno=True).syscall(444, None, 0, 1) > 0


def test_confined_work(folder):
    """What a script may do, it still can: live and overlay binds, compressed files, digests, threads of the resolver."""
    write(os.path.join(folder, "a"), "data\n")
    for mode in ("direct", "overlay", "copy"):
        expect(run("--confine", "--bind", f"{folder}:/w:{mode}", "-c", f"cat a; echo x > {mode}; mkdir -p d{mode}/e; mv {mode} d{mode}/f; ls -R d{mode}; ln -s a l{mode}; rm l{mode}")[:2],
               (0, f"data\nd{mode}:\ne\nf\n\nd{mode}/e:\n", ))
    assert os.path.exists(os.path.join(folder, "ddirect/f")) and not os.path.exists(os.path.join(folder, "doverlay"))
    expect(run("--confine", "--bind", f"{folder}:/w:direct:ro", "-c", "echo x > n")[0], 1)
    expect(run("--confine", "-c", "echo a | sha512sum | head -c 8; echo a | xz | xz -d; sqlite3 :memory: 'select 1'"),
           run("-c", "echo a | sha512sum | head -c 8; echo a | xz | xz -d; sqlite3 :memory: 'select 1'"))

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"served " + (self.headers.get("Authorization") or "-").encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://localhost:{server.server_port}/"
    c = write(os.path.join(folder, "net.toml"), f'private_urls = ["{url}"]\n[[cred]]\nurl = "{url}"\napi_key_env = "KEY"\n')
    status, out, err = run("--confine", "--config", c, "-c", f"curl -s {url}; env | grep -c sesame", env={"KEY": "sesame-open-123"})
    server.shutdown()
    assert out == "served [redacted]0\n", (status, out, err)


class Terminal:
    def __init__(self, *argv):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(CLI, ["libshell", *argv], {"TERM": "xterm", **QUIET})
        self.seen = b""

    def send(self, text):
        os.write(self.fd, text.encode())

    def until(self, text, timeout=15):
        end = time.monotonic() + timeout
        wanted = text.encode()
        while wanted not in self.seen:
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"no {text!r} in {self.seen!r}")
            try:
                self.seen += os.read(self.fd, 65536)
            except OSError:
                raise EOFError(f"no {text!r} in {self.seen!r}") from None
        at = self.seen.index(wanted) + len(wanted)
        before, self.seen = self.seen[:at], self.seen[at:]
        return before.decode(errors="replace")

    def end(self, timeout=15):
        until = time.monotonic() + timeout
        try:
            while select.select([self.fd], [], [], max(0, until - time.monotonic()))[0] and os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        if time.monotonic() >= until:
            os.kill(self.pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_prompt(folder):
    t = Terminal()
    t.until("$ ")
    t.send("x=5; echo v$((x*2))\n")
    t.until("\r\nv10")
    t.until("$ ")
    t.send("for i in 1 2; do\n")
    t.until("> ")
    t.send("echo n$((i+7))\n")
    t.until("> ")
    t.send("done\n")
    t.until("\r\nn8\r\nn9")
    t.until("$ ")
    t.send("cat <<E\n")
    t.until("> ")
    t.send("here $x\nE\n")
    t.until("\r\nhere 5")
    t.until("$ ")
    t.send("sleep 60\n")
    time.sleep(0.5)
    start = time.monotonic()
    t.send("\x03")
    t.until("$ ")
    assert time.monotonic() - start < 5
    t.send("while :; do :; done\n")
    time.sleep(0.5)
    t.send("\x03")
    t.until("$ ")
    t.send("echo still $((x+1))\n")
    t.until("\r\nstill 6")
    t.until("$ ")
    t.send("echo dropped\x03")
    t.until("^C")
    t.until("$ ")
    t.send("if )\n")
    t.until("syntax error near unexpected token")
    t.until("$ ")
    t.send("false | true; f() { return 3; }; f\n")
    t.until("$ ")
    t.send("exit\n")
    expect(t.end(), 3)


def test_prompt_editing(folder):
    t = Terminal()
    t.until("$ ")
    t.send("mkdir /tmp/some_directory; echo made$((1+1))\n")
    t.until("\r\nmade2")
    t.until("$ ")
    t.send("cd /tmp/some\t\n")
    t.until("libshell:/tmp/some_directory$ ")
    t.send("\x1b[A\x1b[A\n")
    t.until("\r\nmade2")
    t.until("$ ")
    t.send("\x04")
    expect(t.end(), 0)


def test_prompt_exit(folder):
    """Only what leaves the shell ends the prompt, and a background job does not hold it."""
    t = Terminal()
    t.until("$ ")
    for line, answer in (("(exit 5)", "5"), ("echo exit >/dev/null; false", "1"), ("f() { exit 4; }", "0"), ("exec 3</dev/null", "0"), ("sleep 60 &", "0")):
        t.send(line + "\n")
        t.until("$ ")
        t.send("echo now=$?\n")
        t.until("\r\nnow=" + answer)
        t.until("$ ")
    t.send("f\n")
    expect(t.end(), 4)
    for last, status in (("exec env true", 0), ("set -e; false", 1), ("kill -9 $$", 137)):
        t = Terminal()
        t.until("$ ")
        t.send(last + "\n")
        expect(t.end(), status)


def main():
    passed = failed = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_") or (sys.argv[3:] and name not in sys.argv[3:]):
            continue
        try:
            with tempfile.TemporaryDirectory() as folder:
                test(folder)
            passed += 1
        except Exception as e:
            failed += 1
            print(f"{name}, line {traceback.extract_tb(e.__traceback__)[1].lineno}: {type(e).__name__}: {str(e)[:1500]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
