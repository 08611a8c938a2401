#!/usr/bin/env python3
"""Cases of curl and wget against a server of our own: recorded from the real tools, run with libshell.

usage: cases.py [--record] [--requests] [-v] LIBSHELL FILE.case...

A case file reads as the others. In a script $U is the server, $S its TLS side, $O another origin on the same host, $H and $P nghttpd, which
speaks HTTP/2 alone, with TLS and without; $C is their CA (real tools only: libshell is told by --ca-file). Before they are compared outputs lose what differs from run to run: ports, times, dates, the bytes of a
multipart boundary, speeds. After each case the requests that arrived are compared with those that were approved (requests.py); --requests:
only they are. The credentials for /keyed and page.html must not be seen in any output. Ends with "N passed, N failed".
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from requests import KEY, Comparison, Raw, Two

HERE = os.path.dirname(os.path.abspath(__file__))
RULES = [
    (re.compile(r"-{20,}[0-9a-f]{16}"), "BOUNDARY"),
    (re.compile(r"(after|timed out after) \d+ m"), r"\1 N m"),
    (re.compile(r"\r[ \d]{3}[^\r\n]*?(?=[\r\n*<>{}]|$)"), "\rMETER"),
    (re.compile(r"0x[0-9a-f]{6,} \[serially\]"), "0xN [serially]"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "TIME"),
    (re.compile(r"\([\d.]+ [KMGT]?B/s\)"), "(RATE)"),
    (re.compile(r"^( *\d+K[ .,]{55})( *\d+%)? *[\d.]+[KMG]?[ =]\S+s$", re.M), r"\1\2 RATE"),
    (re.compile(r"(clock time:|files, \S+ in) \S+s"), r"\1 Ns"),
    (re.compile(r"^Connection: Keep-Alive\r\n", re.M), ""),
    (re.compile(r"^(Date|date): .*$", re.M), r"\1: DATE"),
]


class Server:
    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "server.py"), self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ports = self.process.stdout.readline().split()
        self.http2 = self.two()
        self.config()
        self.comparison = Comparison([Raw(os.path.join(self.folder, "requests")), *self.logs])
        return self

    def config(self):
        v = self.variables()
        with open(os.path.join(self.folder, "config.toml"), "w", encoding="ascii") as f:
            for url in v["U"] + "/keyed", v["S"] + "/keyed", v["H"] + "/page.html", v["P"] + "/page.html":
                f.write(f'[[cred]]\nurl = "{url}"\nkind = "header"\nparam = "X-Key"\napi_key = "{KEY}"\n')

    def two(self):
        root = os.path.join(self.folder, "two")
        os.mkdir(root)
        for name, data in [("hello", b"hello\n"), ("large", bytes(range(256)) * 12288), ("page.html", b"<p>page</p>\n"), ("empty", b"")]:
            with open(os.path.join(root, name), "wb") as f:
                f.write(data)
            os.utime(os.path.join(root, name), (1609556645, 1609556645))
        processes, self.logs = [], []
        for tls in (True, False):
            with socket.create_server(("127.0.0.1", 0)) as s:
                port = str(s.getsockname()[1])
            files = [os.path.join(self.folder, "server.key"), os.path.join(self.folder, "server.pem")] if tls else ["--no-tls"]
            log = os.path.join(self.folder, "two" + port)
            with open(log, "wb") as f:
                processes.append(subprocess.Popen(["nghttpd", "-v", "-a", "127.0.0.1", "-d", root, "--echo-upload", "--trailer=x-last: of all", port] + files, stdout=f, stderr=subprocess.DEVNULL))
            self.logs.append(Two(log, "two" + port))
            self.ports.append(port)
        for port in self.ports[3:]:
            for _ in range(200):
                try:
                    socket.create_connection(("127.0.0.1", int(port))).close()
                    break
                except OSError:
                    time.sleep(0.02)
        return processes

    def __exit__(self, *_):
        for p in self.http2:
            p.kill()
            p.wait()
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder)

    def variables(self):
        http, https, other, two, plain = self.ports
        return {"U": "http://127.0.0.1:" + http, "S": "https://localhost:" + https, "O": "http://127.0.0.1:" + other, "H": "https://localhost:" + two,
                "P": "http://127.0.0.1:" + plain}

    def plain(self, text):
        for port, name in zip(self.ports, ("PORT", "TLSPORT", "OTHERPORT", "TWOPORT", "PLAINPORT")):
            text = re.sub(r"\b%s\b" % port, name, text)
        for pattern, to in RULES:
            text = pattern.sub(to, text)
        return text


def parse(path):
    cases, title, current = [], "", None
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        for line in f.read().split("\n"):
            if line.startswith("#"):
                title, current = line[1:].strip(), None
            elif line.startswith("$"):
                current = {"title": title, "script": line[2:], "out": "", "err": "", "status": 0}
                cases.append(current)
            elif current is None:
                continue
            elif line.startswith("| "):
                current["script"] += "\n" + line[2:]
            elif line[:1] in (">", "!"):
                kind = "out" if line[0] == ">" else "err"
                text = line[3:] if line[1:2] == "-" else line[2:]
                current[kind] += re.sub(r"\\([r\\])", lambda m: "\r" if m[1] == "r" else "\\", text) + ("" if line[1:2] == "-" else "\n")
            elif line.startswith("?"):
                current["status"] = int(line[1:])
    return cases


def lines(mark, text):
    out = []
    for part in text.replace("\\", "\\\\").replace("\r", "\\r").splitlines(keepends=True):
        out.append(mark + " " + part[:-1] if part.endswith("\n") else mark + "- " + part)
    return out


def write(path, cases):
    out = []
    for c in cases:
        script = c["script"].split("\n")
        out += ["# " + c["title"], "$ " + script[0]] + ["| " + s for s in script[1:]]
        out += lines(">", c["out"]) + lines("!", c["err"]) + ["? %d" % c["status"], ""]
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write("\n".join(out))


def real(server, script):
    folder = tempfile.mkdtemp()
    env = {"PATH": "/usr/bin:/bin", "HOME": "/home/agent", "LC_ALL": "C.UTF-8", "TZ": "UTC", "CURL_CA_BUNDLE": os.path.join(server.folder, "ca.pem"), **server.variables()}
    os.chmod(folder, 0o777)
    # Never as root: a case may name a device or a directory of the system's.
    user = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"] if os.getuid() == 0 else []
    os.chmod(server.folder, 0o755)
    r = subprocess.run(user + ["bash", "-c", script], cwd=folder, env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
    shutil.rmtree(folder)
    return r


def ours(server, program, script):
    v = server.variables()
    args = [program, "--config", os.path.join(server.folder, "config.toml"), "--audit", os.path.join(server.folder, "audit"), "--cwd", "/tmp", "--ca-file", os.path.join(server.folder, "ca.pem"), "--timeout", "60", "--env", "LC_ALL=C.UTF-8"]
    for name, url in v.items():
        args += ["--env", name + "=" + url, "--allow-private-url", url]
    args += ["--allow-private-url", "http://127.0.0.1:1", "--allow-url", "http://nosuch.invalid"]
    r = subprocess.run(args + ["-c", script], capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
    wrong = server.comparison.after(os.path.join(server.folder, "audit"))
    os.remove(os.path.join(server.folder, "audit"))
    if KEY.encode() in r.stdout + r.stderr:
        wrong.append("the key is in the output")
    return r, wrong


def result(server, r):
    decode = lambda b: server.plain(b.decode("utf-8", "surrogateescape"))
    return {"out": decode(r.stdout), "err": decode(r.stderr), "status": r.returncode}


def main():
    args = sys.argv[1:]
    record, verbose, requests = "--record" in args, "-v" in args, "--requests" in args
    args = [a for a in args if a not in ("--record", "--requests", "-v")]
    passed = failed = arrived = connections = 0
    for path in args[1:]:
        cases = parse(path)
        with Server() as server:
            for c in cases:
                r, wrong = (real(server, c["script"]), []) if record else ours(server, args[0], c["script"])
                got = result(server, r)
                if record:
                    c.update(got)
                elif not wrong and (requests or all(got[k] == c[k] for k in got)):
                    passed += 1
                else:
                    failed += 1
                    print(f"{path}: {c['title']}\n    {c['script']}")
                    for line in wrong:
                        print(f"    {line}")
                    for k in [] if requests else got:
                        if got[k] != c[k]:
                            print(f"    {k} wanted {c[k]!r}\n    {k} got    {got[k]!r}")
                if verbose:
                    print(c["script"])
            arrived += server.comparison.arrived
            connections += server.comparison.connections
        if record:
            write(path, cases)
    if not record:
        print(f"{arrived} requests on {connections} connections, each approved and on a connection of its partition") if not failed else None
        print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
