#!/usr/bin/env python3
"""Archives, compressed files and databases made by libshell open with the real tools, and the reverse.

usage: roundtrip.py LIBSHELL     ends with "N passed, N failed"
"""
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile


def make_tree(root):
    rng = random.Random(3)
    for folder in ("", "a", "a/b", "a/b/c", "empty", "name with blanks", "ünï"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    for i in range(40):
        folder = rng.choice(["", "a", "a/b", "a/b/c", "name with blanks", "ünï"])
        path = os.path.join(root, folder, "file%d%s" % (i, rng.choice(["", ".txt", " x", "é"])))
        size = rng.choice([0, 1, 511, 512, 513, 4096, 70000])
        with open(path, "wb") as f:
            f.write(rng.choice([bytes(size), rng.randbytes(size), b"text line\n" * (size // 10)]))
        os.chmod(path, rng.choice([0o644, 0o600, 0o755, 0o444]))
        os.utime(path, (1e9 + i * 1000, 1e9 + i * 1000))
    os.symlink("file0", os.path.join(root, "link"))
    os.symlink("../a", os.path.join(root, "a", "up"))
    long = os.path.join(root, "l" * 90, "m" * 90)
    os.makedirs(long)
    with open(os.path.join(long, "n" * 90), "w", encoding="ascii") as f:
        f.write("long\n")


def listing(root, times=True):
    found = []
    for folder, names, files in os.walk(root):
        names.sort()
        for name in sorted(names + files):
            path = os.path.join(folder, name)
            st = os.lstat(path)
            kind = stat.S_IFMT(st.st_mode)
            data = os.readlink(path) if kind == stat.S_IFLNK else open(path, "rb").read() if kind == stat.S_IFREG else b""
            mode = 0 if kind == stat.S_IFLNK else stat.S_IMODE(st.st_mode)
            found.append((os.path.relpath(path, root), kind, mode, data, int(st.st_mtime) if times and kind == stat.S_IFREG else 0))
    return found


class Bench:
    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.passed = self.failed = 0

    def ours(self, folder, script):
        return subprocess.run([self.program, "--bind", folder + ":/w:direct", "--cwd", "/w", "--env", "LC_ALL=C.UTF-8", "-c", script], capture_output=True, timeout=120)

    def real(self, folder, script):
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": "/tmp"}
        return subprocess.run(["bash", "-c", script], cwd=folder, env=env, capture_output=True, timeout=120)

    def check(self, title, good, detail=""):
        self.passed += good
        self.failed += not good
        if not good:
            print(title, detail)

    def archive(self, name, pack, unpack, times=True):
        for title, first, second in (("ours to real", self.ours, self.real), ("real to ours", self.real, self.ours)):
            with tempfile.TemporaryDirectory() as folder:
                make_tree(os.path.join(folder, "tree"))
                os.makedirs(os.path.join(folder, "out"))
                a = first(folder, pack)
                b = second(folder, "cd out && " + unpack)
                want, got = listing(os.path.join(folder, "tree"), times), listing(os.path.join(folder, "out", "tree"), times) if os.path.isdir(os.path.join(folder, "out", "tree")) else []
                self.check(f"{name}, {title}", want == got and a.returncode == 0 and b.returncode == 0, (a.stderr + b.stderr)[:300] or [x[:3] for x in set(want) ^ set(got)][:4])
                subprocess.run(["chmod", "-R", "u+w", folder], check=False)

    def stream(self, name, pack, unpack):
        for size in (0, 1, 100000, 3000000):
            data = random.Random(size).randbytes(size // 2) + b"abc" * (size // 6)
            for title, first, second in (("ours to real", self.ours, self.real), ("real to ours", self.real, self.ours)):
                with tempfile.TemporaryDirectory() as folder:
                    os.chmod(folder, 0o777)
                    with open(os.path.join(folder, "f"), "wb") as f:
                        f.write(data)
                    a, b = first(folder, f"{pack} < f > g"), second(folder, f"{unpack} < g > h")
                    with open(os.path.join(folder, "h"), "rb") as f:
                        self.check(f"{name} of {size}, {title}", f.read() == data and a.returncode == b.returncode == 0, (a.stderr + b.stderr)[:300])

    def database(self):
        fill = "sqlite3 x.db 'create table t(a integer primary key, b text, c blob, d real); create index i on t(b); insert into t select value, printf(\"row %d\", value), zeroblob(value % 50), value / 7.0 from generate_series(1, 2000);' 2>&1"
        fill = fill.replace("from generate_series(1, 2000)", "from (with recursive n(value) as (select 1 union all select value + 1 from n where value < 2000) select value from n)")
        ask = "sqlite3 x.db 'pragma integrity_check; select count(*), sum(a), sum(length(c)), sum(d), max(b) from t; update t set b = \"changed\" where a % 3 = 0; select count(*) from t where b = \"changed\"'"
        for title, first, second in (("ours to real", self.ours, self.real), ("real to ours", self.real, self.ours)):
            with tempfile.TemporaryDirectory() as folder:
                os.chmod(folder, 0o777)
                a, b, c = first(folder, fill), second(folder, ask), first(folder, "sqlite3 x.db 'pragma integrity_check; select count(*) from t where b = \"changed\"'")
                self.check("sqlite3, " + title, b.stdout.startswith(b"ok\n2000|2001000|") and b.stdout.endswith(b"\n666\n") and c.stdout == b"ok\n666\n", a.stdout + b.stdout + b.stderr + c.stderr)


def main():
    b = Bench(sys.argv[1])
    for name, letter in (("tar", ""), ("tar.gz", "z"), ("tar.bz2", "j"), ("tar.xz", "J")):
        b.archive(name, f"tar c{letter}f x tree", f"tar x{letter}pf ../x")
    for form in ("gnu", "pax", "posix"):
        b.archive("tar " + form, f"tar --format={form} -cf x tree", "tar xpf ../x")
    b.archive("tar.zst", "tar --zstd -cf x tree", "tar xpf ../x")
    b.archive("zip", "zip -qry x.zip tree", "unzip -q ../x.zip", times=False)
    for name, pack, unpack in (("gzip", "gzip", "gzip -d"), ("gzip -9", "gzip -9", "zcat"), ("bzip2", "bzip2", "bunzip2"), ("xz", "xz", "unxz"), ("xz -0", "xz -0", "xzcat"), ("zstd", "zstd -q", "zstd -dq"),
                               ("zstd -19", "zstd -q -19", "unzstd -q"), ("lzma", "xz --format=lzma", "xz -dc --format=lzma"), ("base64", "base64", "base64 -d"), ("xxd", "xxd", "xxd -r")):
        b.stream(name, pack, unpack)
    b.database()
    print(f"{b.passed} passed, {b.failed} failed")
    sys.exit(b.failed > 0)


main()
