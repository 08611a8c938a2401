"""The MCP server, spoken to in bare JSON: every message it sends is checked against its revision's schema, on all three revisions.

usage: server.py LIBSHELL [--no-confine] [TEST...]; ends with "N passed, N failed".
"""
import base64
import json
import os
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
META = "io.modelcontextprotocol/"
EXTRA = [a for a in sys.argv[2:] if a.startswith("--")]  # a leak checker, for one, needs --no-confine


class Schema:
    """A revision's schema; what a message must be follows from what was asked."""

    RESULTS = {"initialize": "InitializeResult", "tools/list": "ListToolsResult", "tools/call": "CallToolResult", "server/discover": "DiscoverResult",
               "ping": "EmptyResult"}

    def __init__(self, revision):
        document = json.load(open(os.path.join(HERE, f"schema-{revision}.json"), encoding="utf-8"))
        self.revision = revision
        self.key = "$defs" if "$defs" in document else "definitions"
        self.document = document
        self.made = {}

    def check(self, name, value):
        if name not in self.made:
            cls = jsonschema.Draft202012Validator if self.key == "$defs" else jsonschema.Draft7Validator
            self.made[name] = cls({"$ref": f"#/{self.key}/{name}", self.key: self.document[self.key]})
        self.made[name].validate(value)

    def message(self, value, method):
        self.check("JSONRPCMessage", value)
        if "error" in value:
            specific = {-32022: "UnsupportedProtocolVersionError", -32700: "ParseError", -32602: "InvalidParamsError", -32601: "MethodNotFoundError"}
            self.check("JSONRPCError" if self.revision == "2025-06-18" else "JSONRPCErrorResponse", value)
            name = specific.get(value["error"]["code"])
            if name == "UnsupportedProtocolVersionError" and self.revision == "2026-07-28":
                self.check(name, value)
            elif name and self.revision == "2026-07-28":
                self.check(name, value["error"])
        elif "method" in value:
            self.check("ServerNotification", value)
        else:
            self.check(self.RESULTS[method], value["result"])


class Client:
    def __init__(self, cli, revision, *options):
        self.schema = Schema(revision)
        self.revision = revision
        self.process = subprocess.Popen([cli, "--mcp", *EXTRA, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.asked = {}
        self.answers = {}
        self.loose = []
        self.notes = []
        self.bad = []
        self.news = threading.Condition()
        self.next = 0
        self.outputs = {}
        threading.Thread(target=self.read, daemon=True).start()
        if revision != "2026-07-28":
            self.ask("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
            self.tell("notifications/initialized")

    def read(self):
        for line in self.process.stdout:
            try:
                value = json.loads(line)
                self.schema.message(value, self.asked.get(value.get("id")))
            except Exception as e:  # whatever it is, it must not be there
                self.bad.append((line[:300], str(e)[:400]))
                continue
            with self.news:
                if "method" in value:
                    self.notes.append(value)
                elif value.get("id") in self.asked:
                    self.answers[value["id"]] = value
                else:
                    self.loose.append(value)
                self.news.notify_all()

    def raw(self, data):
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def begin(self, method, params=None, meta=None):
        self.next += 1
        params = dict(params or {})
        if self.revision == "2026-07-28":
            meta = {META + "protocolVersion": self.revision, META + "clientCapabilities": {}, **(meta or {})}
        if meta:
            params["_meta"] = meta
        self.asked[self.next] = method
        self.raw(json.dumps({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}).encode())
        return self.next

    def wait(self, number, timeout=30):
        with self.news:
            if not self.news.wait_for(lambda: number in self.answers, timeout):
                raise TimeoutError(f"no answer to {self.asked[number]}; {self.bad}")
        return self.answers[number]

    def ask(self, method, params=None, meta=None):
        return self.wait(self.begin(method, params, meta))

    def tell(self, method, params=None):
        self.raw(json.dumps({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}).encode())

    def call(self, name, **arguments):
        return self.ask("tools/call", {"name": name, "arguments": arguments})["result"]

    def good(self, name, **arguments):
        result = self.call(name, **arguments)
        assert not result.get("isError"), result
        if not self.outputs:
            self.outputs = {t["name"]: t["outputSchema"] for t in self.ask("tools/list")["result"]["tools"]}
        jsonschema.Draft202012Validator(self.outputs[name]).validate(result["structuredContent"])
        return result["structuredContent"]

    def run(self, command, **more):
        return self.good("shell", command=command, **more)["stdout"]

    def error(self, name, **arguments):
        result = self.call(name, **arguments)
        assert result.get("isError"), result
        return result["content"][0]["text"]

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(30)
        assert status == 0, status
        assert not self.bad, self.bad
        assert self.process.stderr.read() == b""


def every_tool(cli, revision):
    c = Client(cli, revision)
    tools = c.ask("tools/list")["result"]["tools"]
    assert {t["name"] for t in tools} == {"shell", "read_file", "write_file", "edit_file", "list_dir", "search", "changes", "snapshot", "restore", "open_session",
                                          "close_session"}
    for t in tools:
        jsonschema.Draft202012Validator.check_schema(t["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(t["outputSchema"])
    assert "bash 5.2" in tools[0]["description"]
    assert c.run("read x; echo $x; cat", stdin="a\nb\0c") == "a\nb\0c"
    assert c.good("shell", command="echo é; exit 3")["status"] == 3
    assert c.good("shell", command="while :; do :; done", timeout_ms=50)["ended"] == "timeout"
    assert c.good("write_file", path="d/f.txt", content="one\ntwo\nthree\n")["bytes"] == 14
    read = c.good("read_file", path="d/f.txt", offset=4, limit=3)
    assert (read["content"], read["size"], read["encoding"]) == ("two", 14, "utf-8")
    assert c.good("write_file", path="bin", content=base64.b64encode(b"\xff\0\1").decode(), encoding="base64")["bytes"] == 3
    read = c.good("read_file", path="bin")
    assert (base64.b64decode(read["content"]), read["encoding"]) == (b"\xff\0\1", "base64")
    assert c.good("write_file", path="u", content="aé")["bytes"] == 3
    assert c.good("read_file", path="u", limit=2)["content"] == "a"
    edit = c.good("edit_file", path="d/f.txt", old_text="two", new_text="2")
    assert edit["diff"] == "--- d/f.txt\n+++ d/f.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", edit
    assert "2 times" in c.error("edit_file", path="d/f.txt", old_text="e\n", new_text="")
    assert c.good("edit_file", path="d/f.txt", old_text="e\n", new_text="E\n", replace_all=True)["replacements"] == 2
    assert "does not stand" in c.error("edit_file", path="d/f.txt", old_text="zzz", new_text="")
    assert [e["name"] for e in c.good("list_dir", path="d")["entries"]] == ["f.txt"]
    found = c.good("search", pattern="^on", path="d")
    assert found["matches"] == [{"path": "d/f.txt", "line": 1, "text": "onE"}], found
    assert c.good("search", pattern="[", fixed=True)["matches"] == []
    assert c.error("search", pattern="[").startswith("pattern: ")
    assert len(c.good("search", pattern=".", max_results=2)["matches"]) == 2
    kinds = {(x["kind"], x["path"]) for x in c.good("changes")["changes"]}
    assert ("added", "/home/agent/d/f.txt") in kinds
    kept = c.good("snapshot")["snapshot"]
    c.run("x=5; cd /tmp; rm -r ~/d")
    c.good("restore", snapshot=kept)
    assert c.run("echo $x$PWD; ls") == "a/home/agent\nbin\nd\nu\n"
    session = c.good("open_session")["session"]
    assert c.run("ls; pwd", session=session) == "/home/agent\n"
    c.good("restore", snapshot=kept, session=session)
    assert c.run("ls d", session=session) == "f.txt\n"
    c.good("close_session", session=session)
    assert c.error("shell", command=":", session=session) == c.error("shell", command=":", session="0" * 32) == c.error("close_session", session=session)
    assert "such snapshot" in c.error("restore", snapshot="0" * 32)
    c.end()


def bad_arguments(cli, revision):
    c = Client(cli, revision)
    for name, arguments, field in (
            ("shell", {}, "command"), ("shell", {"command": 1}, "command"), ("shell", {"command": ":", "timeout_ms": "1"}, "timeout_ms"),
            ("shell", {"command": ":", "timeout_ms": -1}, "timeout_ms"), ("shell", {"command": ":", "cmd": 1}, "cmd"), ("shell", {"command": None}, "command"),
            ("read_file", {"path": "a\0b"}, "path"), ("read_file", {"path": "nope"}, "nope"), ("write_file", {"path": "x"}, "content"),
            ("write_file", {"path": "x", "content": "?", "encoding": "base64"}, "content"), ("write_file", {"path": "x", "content": "?", "encoding": "x"}, "encoding"),
            ("edit_file", {"path": "x", "old_text": "a"}, "new_text"), ("search", {"pattern": "x", "ignore_case": "yes"}, "ignore_case"),
            ("restore", {}, "snapshot"), ("close_session", {}, "session"), ("open_session", {"x": 1}, "x"), ("list_dir", {"path": "/nope"}, "/nope")):
        assert c.error(name, **arguments).startswith(field + ":"), (name, arguments, c.error(name, **arguments))
    for params, code in (({"name": "nope"}, -32602), ({}, -32602), ({"name": "shell", "arguments": []}, -32602), ({"name": 5}, -32602)):
        assert c.ask("tools/call", params)["error"]["code"] == code
    assert c.ask("tools/list", {"cursor": "x"})["error"]["code"] == -32602
    assert c.ask("no/such")["error"]["code"] == -32601
    c.end()


def progress_and_cancel(cli, revision):
    c = Client(cli, revision)
    n = c.begin("tools/call", {"name": "shell", "arguments": {"command": "sleep 2.3; echo done"}}, {"progressToken": "t1"})
    other = c.good("open_session")["session"]
    start = time.monotonic()
    assert c.run("echo beside", session=other) == "beside\n"
    assert time.monotonic() - start < 1
    assert c.wait(n)["result"]["structuredContent"]["stdout"] == "done\n"
    told = [x["params"]["progress"] for x in c.notes]
    assert len(told) == 2 and told == sorted(set(told)), c.notes
    assert all(x["params"]["progressToken"] == "t1" for x in c.notes)
    for command in ("sleep 60", "while :; do :; done"):
        n = c.begin("tools/call", {"name": "shell", "arguments": {"command": command}})
        queued = c.begin("tools/call", {"name": "shell", "arguments": {"command": "touch /tmp/ran"}})
        time.sleep(0.2)
        c.tell("notifications/cancelled", {"requestId": queued})
        c.tell("notifications/cancelled", {"requestId": n, "reason": "test"})
        assert c.run("ls /tmp") == ""
        assert n not in c.answers and queued not in c.answers
    numbers = [c.begin("tools/call", {"name": "shell", "arguments": {"command": f"echo {i} >> log"}}) for i in range(50)]
    for n in numbers:
        c.wait(n)
    assert c.run("cat log").split() == [str(i) for i in range(50)]
    c.end()


def sessions_apart(cli, _):
    c = Client(cli, "2025-11-25")
    a, b = c.good("open_session")["session"], c.good("open_session")["session"]
    assert len(a) == 32 and a != b
    secret = "hunter2-of-a"
    c.run(f"S={secret}; export E={secret}; echo {secret} > ~/s; echo {secret} > /tmp/s; f() {{ echo {secret}; }}; alias al='echo {secret}'; mkfifo /tmp/p; cd /tmp; "
          f"trap 'echo {secret}' USR1; set -- {secret}; umask 0; ln -s /tmp/s /var/tmp/l; hash -p /tmp/s zz; readonly R={secret}; a=({secret}); shopt -s extglob", session=a)
    tries = ["echo $S", "echo $E", "cat ~/s", "cat /tmp/s", "f", "shopt -s expand_aliases; al", "env", "set", "declare -f", "alias", "trap", "echo $@", "cat /var/tmp/l",
             "hash", "echo $R", "echo ${a[@]}", "find / -type f 2>/dev/null | xargs cat 2>/dev/null", "grep -rs hunter2 / 2>/dev/null", "cat /proc/*/environ 2>/dev/null", "ls -R /tmp",
             "ls -R /home", "cat /dev/fd/* < /dev/null 2>/dev/null", "jobs", "history 2>/dev/null", "ps 2>/dev/null", "cat /tmp/p < /dev/null &", "pwd", "dirs -v",
             "compgen -v", "declare -p", "cat /proc/self/maps 2>/dev/null", "kill -USR1 1 2>/dev/null", "kill -USR1 -1 2>/dev/null", "wait", "shopt extglob", "umask",
             "echo ~-", "cat /var/log/* 2>/dev/null", "strings /proc/self/mem 2>/dev/null", "bind -P 2>/dev/null", "ls /var/tmp", "readlink /var/tmp/l"]
    assert len(tries) >= 40
    for command in tries:
        r = c.good("shell", command=command, session=b, timeout_ms=5000)
        assert "hunter2" not in r["stdout"] + r["stderr"].replace("grep -rs hunter2", ""), command
    assert "umask" and c.run("umask", session=b) == "0022\n"
    for wrong in (a[:-1], a + "0", a.upper() + " ", "", b[:16] + a[16:], a[:16] + b[16:]):
        assert c.error("shell", command=":", session=wrong).startswith("session: there is no such"), wrong
    assert c.run("echo $S", session=a) == secret + "\n"
    c.end()


def caps(cli, _):
    c = Client(cli, "2025-11-25", "--max-sessions", "2", "--session-idle", "1")
    a = c.good("open_session")["session"]
    c.good("open_session")
    assert "no more sessions" in c.error("open_session")
    time.sleep(2.2)
    assert "no such session" in c.error("shell", command=":", session=a)
    c.good("open_session")
    c.end()
    c = Client(cli, "2025-11-25", "--session-lifetime", "1")
    a = c.good("open_session")["session"]
    for _ in range(8):
        c.call("shell", command=":", session=a)
        time.sleep(0.25)
    assert "no such session" in c.error("shell", command=":", session=a)
    c.end()


def audited(cli, _):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        c = Client(cli, "2025-11-25", "--audit", log)
        c.run("echo first")
        c.run("echo second", session=c.good("open_session")["session"])
        c.end()
        for name, text in ((log, "first"), (log + ".1", "second")):
            assert text in open(name, encoding="utf-8").read()
            assert subprocess.run([cli, "--verify-audit", name], stdout=subprocess.DEVNULL).returncode == 0


def versions(cli, _):
    c = Client(cli, "2026-07-28")
    r = c.ask("server/discover")["result"]
    assert r["supportedVersions"] == ["2026-07-28", "2025-11-25", "2025-06-18"] and r["ttlMs"] > 0
    r = c.ask("tools/list", meta={META + "protocolVersion": "1999-01-01"})["error"]
    assert r["code"] == -32022 and r["data"] == {"supported": ["2026-07-28", "2025-11-25", "2025-06-18"], "requested": "1999-01-01"}
    assert c.ask("tools/list", meta={META + "clientCapabilities": None})["error"]["code"] == -32602
    assert c.ask("initialize")["error"]["code"] == -32601
    c.end()
    c = Client(cli, "2025-11-25")
    r = c.ask("initialize", {"protocolVersion": "2020-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})["result"]
    assert r["protocolVersion"] == "2025-11-25"
    assert c.ask("ping")["result"] == {}
    c.end()


def malformed():
    """200 kinds of input that is wrong."""
    good = {"jsonrpc": "2.0", "id": 900001, "method": "tools/call", "params": {"name": "shell", "arguments": {"command": ":"}}}
    text = json.dumps(good)
    kinds = [b"", b" ", b"{", b"}", b"[", b"]", b"[]", b"{}", b"null", b"true", b"1", b'"x"', b"nul", b"-", b"1e", b"01", b"\xff\xfe", b"\0", b"{\0}", b"\xef\xbb\xbf{}",
             b'{"a"}', b'{"a":}', b'{"a":1,}', b"{'a':1}", b'{"a":"\x01"}', b'{"a":"\\x"}', b'{"a":"\\u12"}', b'{"a":"\xc0\xaf"}', b'{"a":"\xed\xa0\x80"}', b"[" * 5000,
             b'{"a":' * 5000, b"[1," * 1000, b'"' + b"x" * 100000, b"// c", b"{} {}", b"NaN", b"Infinity", b"Content-Length: 12", b"GET / HTTP/1.1", b"\x1b[A"]
    kinds += [text[:n].encode() for n in range(1, len(text), 3)]
    odd = [None, True, 1, -1, 1.5, 1e400, "", "x", [], {}, [[]], {"a": 1}, 2**63, 2**70, "\0", "\ud800", "x" * 70000]
    for key in ("jsonrpc", "id", "method", "params"):
        kinds += [json.dumps({**good, key: v}).encode() for v in odd]
    for key in ("name", "arguments", "_meta"):
        kinds += [json.dumps({**good, "params": {**good["params"], key: v}}).encode() for v in odd]
    kinds += [json.dumps({**good, "params": {"name": "shell", "arguments": {"command": ":", k: v}}}).encode() for k in ("session", "timeout_ms", "stdin") for v in odd]
    kinds += [json.dumps([good, good]).encode(), json.dumps({"jsonrpc": "2.0", "result": {}, "id": 5}).encode(), json.dumps({"jsonrpc": "2.0", "error": 5, "id": 5}).encode()]
    kinds += [json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": p}).encode() for p in ({"requestId": v} for v in odd)]
    return kinds


def hostile(cli, revision):
    kinds = malformed()
    assert len(kinds) >= 200, len(kinds)
    c = Client(cli, revision)
    c.asked[900001] = "tools/call"
    generator = random.Random(5)
    for kind in kinds:
        if b"\n" not in kind:
            c.raw(kind)
    for _ in range(300):
        data = bytearray(json.dumps({"jsonrpc": "2.0", "id": 900001, "method": "ping" if revision != "2026-07-28" else "no/such", "params": {"a": [1, "b"]}}).encode())
        for _ in range(generator.randrange(1, 4)):
            data[generator.randrange(len(data))] = generator.randrange(256)
        if b"\n" not in data:
            c.asked[900001] = "tools/call"
            c.raw(bytes(data))
    c.asked["x"] = c.asked[""] = "tools/call"
    assert c.run("echo alive") == "alive\n"
    c.bad = [b for b in c.bad if "KeyError" not in b[1] and not b[1].startswith(("None", "'"))]
    assert sum(1 for x in c.loose + list(c.answers.values()) if x.get("error", {}).get("code") == -32700) > 60
    assert c.process.poll() is None
    c.process.stdin.close()
    assert c.process.wait(30) == 0 and not c.bad, c.bad[:3]


def main():
    cli = os.path.abspath(sys.argv[1])
    passed = failed = 0
    tests = [(t, r) for t in (every_tool, bad_arguments, progress_and_cancel, hostile) for r in REVISIONS]
    tests += [(t, "") for t in (sessions_apart, caps, audited, versions)]
    only = [a for a in sys.argv[2:] if not a.startswith("--")]
    for test, revision in tests:
        if only and test.__name__ not in only:
            continue
        try:
            test(cli, revision)
            passed += 1
        except Exception as e:
            failed += 1
            line = traceback.extract_tb(e.__traceback__)[1].lineno
            print(f"{test.__name__} {revision}, line {line}: {type(e).__name__}: {str(e)[:1500]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
