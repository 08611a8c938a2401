#!/usr/bin/env python3
"""Real pipelines over real files: libshell, over a copy of the directory, against bash with the GNU tools in it. Bytes must be equal.

usage: pipelines.py LIBSHELL [--times]      ends with "N passed, N failed"
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
ENV = {"HOME": "/home/agent", "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def prepare(folder):
    gen = [sys.executable, os.path.join(HERE, "bench/gen.py")]
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "lib", "vfs", "builtins", "include", "README.md", "SECURITY.md", "LICENSE"],
                           capture_output=True, check=True).stdout.split(b"\0")
    for name in filter(None, names):
        source, target = os.path.join(os.fsencode(ROOT), name), os.path.join(os.fsencode(folder), b"repo", name)
        if os.path.exists(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(source, target)
    with open(os.path.join(folder, "access.log"), "w", encoding="utf-8") as f:
        subprocess.run(gen + ["log", "200000"], stdout=f, check=True)
    subprocess.run(gen + ["tree", "1000", os.path.join(folder, "tree")], check=True)


def run(argv, folder):
    start = time.perf_counter()
    done = subprocess.run(argv, cwd=folder, env=ENV, stdin=subprocess.DEVNULL, capture_output=True)
    return (done.stdout, done.stderr, done.returncode), time.perf_counter() - start


def main():
    shell = os.path.abspath(sys.argv[1])
    good = bad = 0
    with open(os.path.join(HERE, "pipelines.txt"), encoding="utf-8") as f:
        scripts = [line.rstrip("\n") for line in f if not line.startswith("#") and line.strip()]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        prepare(folder)
        for script in scripts:
            theirs, t = run(["bash", "-c", script], folder)
            ours, u = run([shell, "--bind", folder + ":/workspace", "--limit", "output=0", "-c", script], folder)
            if ours == theirs:
                good += 1
            else:
                bad += 1
                print("differs:", script)
                for name, a, b in zip(("stdout", "stderr", "status"), theirs, ours):
                    if a != b:
                        print("  %s bash     %r\n  %s libshell %r" % (name, a[:400] if isinstance(a, bytes) else a, name, b[:400] if isinstance(b, bytes) else b))
            if "--times" in sys.argv:
                print("%.3f %.3f %s" % (t, u, script))
    print("%d passed, %d failed" % (good, bad))
    sys.exit(1 if bad else 0)


main()
