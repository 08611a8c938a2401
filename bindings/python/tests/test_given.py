"""What a shell is given: mounts, lazy files, images, snapshots, network, policy, audit; and what it tells a model."""
import asyncio
import builtins
import contextlib
import gc
import http.server
import io
import json
import os
import stat
import tempfile
import threading
import time
import unittest
import weakref
from pathlib import Path

import libshell
from libshell import AllowUrl, Audit, Bind, Cred, FileRule, Image, InvalidArgumentError, Limits, Net, Policy, Request, Response, Shell


class Store:
    """An object with the methods, over a dict; says no to what is called "secret"."""

    def __init__(self, files):
        self.files = files
        self.calls = []

    def stat(self, path):
        self.calls.append(("stat", path))
        if path == "secret":
            raise PermissionError("no")
        if path == "":
            return os.stat_result((stat.S_IFDIR | 0o755,) + (0,) * 9)
        return {"size": len(self.files[path]), "mtime_ns": 5 * 10**9} if path in self.files else None

    def list(self, path):
        return sorted(self.files) + ["secret"]

    def read(self, path, offset, size):
        return self.files[path][offset:offset + size]


class Mounts(unittest.TestCase):
    def test_an_object(self):
        store = Store({"a": b"one\n", "b": b"two\n"})
        with Shell() as sh:
            sh.mount("/m", store)
            r = sh.run("ls /m; cat /m/a /m/b; stat -c %Y /m/a; cat /m/secret; cat /m/none; echo x > /m/a; rm /m/a")
            self.assertEqual(r.stdout, "a\nb\nsecret\none\ntwo\n5\n")
            self.assertEqual(r.stderr, "cat: /m/secret: Permission denied\ncat: /m/none: No such file or directory\n"
                                       "bash: line 1: /m/a: Operation not permitted\nrm: cannot remove '/m/a': Operation not permitted\n")
            self.assertEqual(sh.read_file("/m/a"), b"one\n")
            self.assertEqual([f.name for f in sh.list_files("/m")], ["a", "b", "secret"])
            self.assertEqual(sh.fork().run("cat /m/a").stdout, "one\n")
            sh.unmount("/m")
            self.assertFalse(sh.exists("/m/a"))

    def test_a_dict(self):
        files = {"a.txt": "text\n", "d/e/f": b"deep\n"}
        with Shell() as sh:
            sh.mount("/m", files)
            r = sh.run("cd /m && find . | sort && cat d/e/f && echo more >> a.txt && cp a.txt b && mkdir n && mv b n/c && rm d/e/f && find . -type f | sort")
            self.assertEqual(r.stderr, "")
            self.assertEqual(r.stdout, ".\n./a.txt\n./d\n./d/e\n./d/e/f\ndeep\n./a.txt\n./n/c\n")
        self.assertEqual(files, {"a.txt": b"text\nmore\n", "n/c": b"text\nmore\n"})

    def test_readonly(self):
        files = {"a": b"1"}
        with Shell() as sh:
            sh.mount("/m", files, readonly=True)
            self.assertEqual(sh.run("echo x > /m/a").stderr, "bash: line 1: /m/a: Read-only file system\n")
        self.assertEqual(files, {"a": b"1"})

    def test_what_an_object_raises(self):
        class Broken:
            def stat(self, path):
                if not path:
                    return {"is_dir": True}
                raise {"full": OSError(28, "full"), "key": KeyError("x")}.get(path, ValueError("y"))

            def list(self, path):
                raise NotImplementedError
        with Shell() as sh:
            sh.mount("/m", Broken())
            self.assertEqual(sh.run("cat /m/full /m/key /m/other; ls /m").stderr,
                             "cat: /m/full: No space left on device\ncat: /m/key: No such file or directory\ncat: /m/other: Input/output error\n"
                             "ls: cannot open directory '/m': Operation not permitted\n")
            with self.assertRaises(TypeError):
                sh.mount("/n", object())

    def test_lazy_files(self):
        asked = []

        def content():
            asked.append(1)
            return "lazy\n"
        with Shell() as sh:
            sh.lazy_file("/workspace/l", content, size=5)
            self.assertEqual(sh.run("stat -c %s /workspace/l").stdout, "5\n")
            self.assertEqual(asked, [])
            image, fork = sh.image(), sh.fork()
            self.assertEqual(sh.run("cat /workspace/l /workspace/l").stdout, "lazy\nlazy\n")
            self.assertEqual(asked, [1])
        gc.collect()
        self.assertEqual(fork.run("cat /workspace/l").stdout, "lazy\n")
        self.assertEqual(Shell(image=image).run("cat /workspace/l").stdout, "lazy\n")

        def fail():
            raise PermissionError("no")
        with Shell() as sh:
            sh.lazy_file("f", fail)
            self.assertEqual(sh.run("cat f").stderr, "cat: f: Permission denied\n")

    def test_nothing_is_kept_alive(self):
        store = Store({"a": b"1"})
        gone = weakref.ref(store)
        sh = Shell()
        sh.mount("/m", store)
        sh.command("c", lambda call: call.write(sh.read_file("/m/a")))
        shell_gone = weakref.ref(sh)
        self.assertEqual(sh.run("c").stdout, "1")
        del sh, store
        gc.collect()
        self.assertIsNone(shell_gone())
        self.assertIsNone(gone())


class Copies(unittest.TestCase):
    def test_snapshot(self):
        with Shell() as sh:
            sh.run("x=1; f() { echo \"f $x\"; }; cd /tmp; echo a > g; ln -s g h")
            data = sh.snapshot()
        with Shell() as other:
            other.restore(data)
            self.assertEqual(other.run("f; cat h; pwd").stdout, "f 1\na\n/tmp\n")
            before = other.snapshot()
            for bad in (b"", b"nonsense", data[:-1], data[:50] + bytes([data[50] ^ 1]) + data[51:]):
                with self.assertRaises(libshell.ShellError):
                    other.restore(bad)
            self.assertEqual(other.snapshot(), before)
        self.assertEqual(Shell(image=Image.from_snapshot(data)).run("cat /tmp/g").stdout, "a\n")
        with self.assertRaises(ValueError):
            Image.from_snapshot(b"x")

    def test_image_of_a_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("a.py", "a"), ("b.txt", "b"), ("sub/c.py", "c"), ("out/d.py", "d"), (".gitignore", "out/\n")):
                Path(folder, name).parent.mkdir(exist_ok=True)
                Path(folder, name).write_text(text)
            all_of = lambda **o: Shell(image=Image.from_directory(folder, **o)).run("cd /workspace; find . -type f | sort").stdout.split()
            self.assertEqual(all_of(), ["./.gitignore", "./a.py", "./b.txt", "./out/d.py", "./sub/c.py"])
            self.assertEqual(all_of(include=["*.py"], exclude=["sub"]), ["./a.py", "./out/d.py"])
            self.assertEqual(all_of(gitignore=True), ["./.gitignore", "./a.py", "./b.txt", "./sub/c.py"])
            base = Image.from_directory(folder, "/src")
            both = Shell(image=Image.from_directory(folder, "/other", include=["a.py"], image=base))
            self.assertEqual(both.run("cat /src/b.txt /other/a.py").stdout, "ba")
        with self.assertRaises(builtins.FileNotFoundError):
            Image.from_directory(folder)

    def test_overlay_and_changes_in_full(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a").write_text("old\n")
            Path(folder, "gone").write_text("x")
            with Shell(binds=[Bind(folder, "/o", mode="overlay")]) as sh:
                sh.run("echo new > /o/a; rm /o/gone; ln -s a /o/link; chmod 700 /o/a")
                changes = {c.path: c for c in sh.changes(digests=True)}
                a = changes["/o/a"]
                self.assertEqual((a.kind, a.mode & 0o777, a.size, a.old_size), ("modified", 0o700, 4, 4))
                self.assertEqual((len(a.digest), len(a.old_digest)), (32, 32))
                self.assertNotEqual(a.digest, a.old_digest)
                self.assertEqual(changes["/o/gone"].kind, "deleted")
                self.assertEqual((changes["/o/link"].target, sh.readlink("/o/link")), ("a", "a"))
                with self.assertRaises(ValueError):
                    sh.readlink("/o/a")
            self.assertEqual(Path(folder, "a").read_text(), "old\n")

    def test_binds_and_limits_of_a_live_shell(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "f").write_text("host\n")
            with Shell() as sh:
                sh.add_bind(Bind(folder, "/b", readonly=True))
                self.assertEqual(sh.run("cat /b/f").stdout, "host\n")
                self.assertEqual([b.destination for b in sh.config.binds], ["/b"])
                sh.remove_bind("/b")
                self.assertFalse(sh.exists("/b/f"))
                self.assertEqual(sh.config.binds, ())
                with self.assertRaises(builtins.FileNotFoundError):
                    sh.remove_bind("/b")
                sh.set_limits(Limits(output=10))
                self.assertEqual(sh.run("yes").limit, "output")
                self.assertEqual(sh.config.limits.output, 10)


class Server(http.server.BaseHTTPRequestHandler):
    seen: list = []

    def do_GET(self):
        Server.seen.append((self.path, self.headers.get("Authorization")))
        if self.path == "/hop":
            self.send_response(302)
            self.send_header("Location", "/private")
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello %s\n" % (self.headers.get("Authorization") or "nobody").encode())

    do_POST = do_GET

    def log_message(self, *arguments):
        pass


@unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(libshell.__file__), "libshell-net.so")), "libshell-net was not built")
class Network(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.url = f"http://127.0.0.1:{cls.server.server_port}"

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()

    def test_off_until_allowed(self):
        with Shell() as sh:
            self.assertNotEqual(sh.run(f"curl -s {self.url}/").status, 0)
            sh.set_net(Net([AllowUrl(self.url, allow_private=True)]))
            self.assertEqual(sh.run(f"curl -s {self.url}/").stdout, "hello nobody\n")
            self.assertEqual([rule.url for rule in sh.config.allowed_urls], [self.url])
            sh.set_net(None)
            self.assertNotEqual(sh.run(f"curl -s {self.url}/").status, 0)

    def test_credentials_are_never_seen(self):
        cred = Cred(self.url, "top-secret-token")
        with Shell(allowed_urls=[AllowUrl(self.url, allow_private=True)], credentials=[cred]) as sh:
            r = sh.run(f"curl -sv {self.url}/; env")
            self.assertEqual(Server.seen[-1][1], "Bearer top-secret-token")
            for text in (r.stdout, r.stderr, repr(sh.config), repr(cred), repr(sh.config.credentials)):
                self.assertNotIn("top-secret-token", text)
            self.assertIn("[redacted]", r.stdout)
            self.assertEqual(sh.config.credentials, ((self.url, "bearer", None, None),))

    def test_callbacks(self):
        asked = []

        def decide(method, url, hop, body):
            asked.append((method, url.rpartition("/")[2], hop))
            return not url.endswith("/private")
        net = Net([AllowUrl("http://name.example:%d" % self.server.server_port, ["GET"], allow_private=True)],
                  [Cred("http://name.example:%d" % self.server.server_port, lambda method, url: "asked-for-each-time")],
                  decide=decide, resolve=lambda host: ["127.0.0.1"] if host == "name.example" else None)
        with Shell(net=net) as sh:
            url = "http://name.example:%d" % self.server.server_port
            self.assertEqual(sh.run(f"curl -s {url}/yes").stdout, "hello [redacted]\n")
            self.assertNotEqual(sh.run(f"curl -sL {url}/hop").status, 0)
            self.assertNotEqual(sh.run(f"curl -s -X POST {url}/yes").status, 0)
            self.assertEqual(asked, [("GET", "yes", 0), ("GET", "hop", 0), ("GET", "private", 1)])
            self.assertEqual(sh.fork().run(f"curl -s {url}/yes").status, 0)

    def test_bad_rules(self):
        with self.assertRaises(ValueError):
            Shell(allowed_urls=["nonsense://["])
        with self.assertRaises(ValueError):
            Cred("https://a", "secretsecret", kind="query")
        with self.assertRaises(ValueError):
            Cred("https://a", "secretsecret", kind="other")
        with Shell() as sh:
            with self.assertRaises(libshell.ShellError):
                sh.set_net(Net(["nonsense://["]))


class Transports(unittest.TestCase):
    """The embedder's own way out: no socket, and every check as ever."""

    def setUp(self):
        self.seen = []

    def transport(self, request):
        self.seen.append(request)
        path = request.url.rpartition("/")[2]
        if path == "raises":
            raise RuntimeError("not today")
        if path == "wrong":
            return "text"
        if path == "hop":
            return Response(302, {"Location": "https://other.example/x"})
        if path == "numbers":
            return Response(200, [("X-Token", dict(request.headers).get("Authorization", "none"))], (b"%d\n" % i for i in range(100000)))
        return Response(201, {"X-Path": path}, b"%s %s\n" % (request.method.encode(), request.body or b"-"), reason="Made")

    def shell(self, **more):
        return Shell(net=Net(["https://api.example/v1/", "https://other.example", "http://*"], [Cred("https://api.example/v1/", "top-secret-token")],
                             transport=self.transport, **more))

    def test_answers(self):
        with self.shell() as sh:
            self.assertEqual(sh.run("curl -si https://api.example/v1/a").stdout, "HTTP/1.1 201 Made\r\nX-Path: a\r\n\r\nGET -\n")
            self.assertEqual(sh.run("echo -n body | curl -s -T - https://other.example/").stdout, "PUT body\n")
            self.assertEqual([r.method for r in self.seen], ["GET", "PUT"])
            self.assertIn(("Authorization", "Bearer top-secret-token"), self.seen[0].headers)
            self.assertNotIn("top-secret", repr(self.seen[0]))
            self.assertEqual(sh.run("curl -s https://other.example/numbers | head -n 2").stdout, "0\n1\n")
            self.assertEqual(sh.run("curl -s https://other.example/numbers | wc -l").stdout, "100000\n")
            self.assertEqual(sh.fork().run("curl -s https://other.example/").stdout, "GET -\n")

    def test_failures(self):
        with self.shell() as sh:
            for path in ("raises", "wrong"):
                with contextlib.redirect_stderr(io.StringIO()) as told:
                    self.assertEqual(sh.run("curl -s https://other.example/" + path).status, 56)
                self.assertIn("Error", told.getvalue())

    def test_checks(self):
        with self.shell() as sh:
            for url in ("https://api.example/", "https://api.example/v1/../x", "http://169.254.169.254/", "http://127.0.0.1/"):
                self.assertEqual(sh.run(f"curl -s {url}").status, 7, url)
            self.assertEqual(sh.run("curl -s -H 'Host: x' https://other.example/").status, 43)
            self.assertEqual(self.seen, [])
            r = sh.run("curl -sv https://api.example/v1/numbers 2>&1 | grep -i -e token -e authorization")
            self.assertNotIn("top-secret", r.stdout)
            self.assertIn("X-Token: [redacted]", r.stdout)
            self.seen.clear()
            sh.run("curl -sL -H 'X-Mine: 1' https://api.example/v1/hop")
            self.assertEqual([dict(r.headers).get("X-Mine") for r in self.seen], ["1", None])
            self.assertEqual(["Authorization" in dict(r.headers) for r in self.seen], [True, False])

    def test_placeholders(self):
        net = Net(["https://*"], [Cred("https://api.example/", "top-secret-token", kind="placeholder", name="TOKEN")], transport=self.transport)
        with Shell(net=net) as sh:
            shown = sh.run("echo $TOKEN; curl -s -d \"$TOKEN\" https://api.example/; echo \"<$TOKEN>\" > f; curl -s -T f https://api.example/; curl -s -d \"$TOKEN\" https://other.example/")
            place, posted, put, elsewhere = shown.stdout.split("\n")[:4]
            self.assertTrue(place.startswith("lsh_"))
            self.assertEqual([r.body for r in self.seen], [b"top-secret-token", b"<top-secret-token>\n", place.encode()])
            self.assertNotIn("top-secret", shown.stdout)
        with self.assertRaises(InvalidArgumentError):
            Cred("https://api.example/", "top-secret-token", kind="placeholder")

    def test_signing(self):
        asked = []

        def sign(method, url, body):
            asked.append((method, url, body))
            return {"X-Signature": f"signature-of-{len(body or b'')}"} if "no" not in url else None
        with Shell(net=Net(["https://*"], [Cred("https://api.example/", sign, kind="sign")], transport=self.transport)) as sh:
            self.assertEqual(sh.run("curl -s -H 'X-Signature: mine' -d abc https://api.example/; curl -s https://api.example/; echo x | curl -s -T - https://api.example/").status, 0)
            self.assertEqual([dict(r.headers).get("X-Signature") for r in self.seen], ["signature-of-3", "signature-of-0", "signature-of-0"])
            self.assertEqual(asked, [("POST", "https://api.example/", b"abc"), ("GET", "https://api.example/", None), ("PUT", "https://api.example/", None)])
            self.assertEqual(sh.run("curl -s https://api.example/no").status, 7)
        for answer in ({"A": "b\r\nC: d"}, {}, 7):
            with Shell(net=Net(["https://*"], [Cred("https://api.example/", lambda *_: answer, kind="sign")], transport=self.transport)) as sh:
                self.assertEqual(sh.run("curl -s https://api.example/").status, 7)
        with self.assertRaises(InvalidArgumentError):
            Cred("https://api.example/", "text", kind="sign")

    def test_limits(self):
        with Shell(net=Net(["https://*"], transport=self.transport), limits=Limits(head=20, connect_ms=1000)) as sh:
            self.assertEqual(sh.run("curl -sS https://other.example/a").stderr, "curl: (56) head limit of 20 bytes reached\n")

    def test_addresses(self):
        with self.shell(resolve=lambda host: ["10.0.0.1", "93.184.216.34"] if host.startswith("other") else ["10.0.0.1"]) as sh:
            self.assertEqual(sh.run("curl -s https://other.example/").status, 0)
            self.assertEqual(self.seen[0].addresses, ("93.184.216.34",))
            self.assertEqual(sh.run("curl -s https://api.example/v1/").status, 7)
            self.assertEqual(len(self.seen), 1)


class Policies(unittest.TestCase):
    def test_commands_and_files(self):
        policy = Policy(deny_commands=["rm"], files=[FileRule("/workspace/keep/**", "write,delete,create", deny=True)])
        with Shell(policy=policy) as sh:
            self.assertEqual(sh.run("cp /bin/rm ./other; ./other x; rm x").status, 126)
            self.assertNotEqual(sh.run("mkdir -p /workspace/keep; echo x > /workspace/keep/f").status, 0)
            self.assertEqual(sh.config.policy, policy)
            sh.set_policy(None)
            self.assertEqual(sh.run("echo x > f; rm f").status, 0)
        with self.assertRaises(ValueError):
            Policy(asks=["delete"])
        with self.assertRaises(ValueError):
            FileRule("/x", "fly")

    def test_asked(self):
        questions = []

        def ask(question):
            questions.append((question.kind, question.subject))
            return {"/workspace/a": True, "/workspace/b": "not that one"}.get(question.subject, False)
        with Shell(policy=Policy(asks=["delete"], ask=ask)) as sh:
            sh.run("cd /workspace; touch a b c")
            r = sh.run("cd /workspace; rm a; rm b; rm c")
            self.assertEqual(questions, [("delete", f"/workspace/{x}") for x in "abc"])
            self.assertIn("not that one", r.stderr)
            self.assertEqual(sh.run("ls /workspace").stdout, "b\nc\n")

    def test_an_exception_is_a_no(self):
        def ask(question):
            raise ValueError("broken")
        with Shell(policy=Policy(asks=["delete"], ask=ask)) as sh:
            self.assertEqual(sh.run("touch a; rm a").status, 1)
            self.assertTrue(sh.exists("a"))

    def test_asked_in_the_middle_and_answered_later(self):
        async def ask(question):
            await asyncio.sleep(0.05)
            return question.subject.endswith("yes")

        async def main():
            with Shell(policy=Policy(asks=["delete"], ask=ask)) as sh:
                await sh.arun("touch yes no; rm yes; rm no")
                self.assertEqual(sh.run("ls").stdout.split(), ["no"])
                fork = sh.fork()
                await fork.arun("touch yes; rm yes; rm no")
                self.assertEqual(fork.run("ls").stdout.split(), ["no"])
        asyncio.run(main())
        with Shell(policy=Policy(asks=["delete"], ask=ask)) as sh:
            self.assertEqual(sh.run("touch yes; rm yes; ls").stdout, "")

    def test_changed_while_a_run_is_in_progress(self):
        with Shell() as sh:
            out = []
            thread = threading.Thread(target=lambda: out.append(sh.run("while touch /tmp/x 2>/dev/null; do sleep 0.01; done; echo stopped")))
            thread.start()
            time.sleep(0.1)
            sh.set_policy(Policy(deny_commands=["touch"]))
            thread.join(10)
            self.assertEqual(out[0].stdout, "stopped\n")


class Audits(unittest.TestCase):
    def test_lines_and_ring(self):
        lines = []
        with Shell(audit=Audit(lines.append, ring=1 << 16)) as sh:
            sh.run("echo hi > f")
            text, lost = sh.audit_take()
        self.assertEqual((b"".join(lines)[:len(text)], lost), (text, 0))
        count, head = libshell.audit_verify(text)
        self.assertEqual((count, len(head)), (len(text.splitlines()), 64))
        json.loads(text.splitlines()[0])
        with self.assertRaises(libshell.AuditError) as caught:
            libshell.audit_verify(text.replace(b"hi", b"ho", 1))
        self.assertGreaterEqual(caught.exception.line, 1)


class ForModels(unittest.TestCase):
    def test_format(self):
        with Shell(limits=Limits(memory=64 << 20)) as sh:
            self.assertEqual(sh.run("true").format(), "(nothing was printed)\n")
            self.assertIn("exit 3", sh.run("echo out; echo err >&2; exit 3").format())
            self.assertIn("memory limit 64 MiB", sh.run("x=$(yes | head -c 200000000); echo $x").format())
            self.assertLess(len(sh.run("seq 100000").format(1000)), 2000)

    def test_describe_and_tools(self):
        with Shell() as sh:
            sh.command("mine", lambda call: 0)
            self.assertIn("mine", sh.describe())
            for shape, key in (("mcp", "inputSchema"), ("openai", "function"), ("anthropic", "input_schema")):
                self.assertIn(key, sh.tools(shape)[0])
            self.assertGreater(len(sh.tools(files=True)), len(sh.tools()))
        self.assertTrue(libshell.describe())
        self.assertEqual(libshell.tools("mcp")[0]["name"], "shell")
        with self.assertRaises(ValueError):
            libshell.tools("other")

    def test_components(self):
        with Shell() as sh:
            present = os.path.exists(os.path.join(os.path.dirname(libshell.__file__), "libshell-data.so"))
            self.assertEqual(sh.run("sqlite3 :memory: 'select 1+1'").stdout, "2\n" if present else "")

    def test_config_cannot_be_changed(self):
        with Shell(env={"A": "1"}, umask=0o027, timeout=5) as sh:
            config = sh.config
            self.assertEqual((config.env, config.umask, config.timeout), ({"A": "1"}, 0o027, 5))
            with self.assertRaises(AttributeError):
                config.umask = 0


if __name__ == "__main__":
    unittest.main()
