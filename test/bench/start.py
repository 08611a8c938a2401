"""Start-up: `libshell -c :` against `bash -c :`, and `import libshell` against ctypes with an empty library. One JSON object a line."""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def timed(argv, env=None):
    start = time.perf_counter()
    subprocess.run(argv, check=True, env=env)
    return time.perf_counter() - start


def compare(name, ours, theirs, against, target, rounds=41, env=None):
    a, b = [], []
    for _ in range(rounds):
        b.append(timed(theirs, env))
        a.append(timed(ours, env))
    ratio = statistics.median(x / y for x, y in zip(a, b))
    print(json.dumps({"name": name, "value": statistics.median(a) * 1e3, "unit": "ms", "against": against, "ratio": round(ratio, 3), "target": target,
                      "ok": ratio <= target}), flush=True)


def main():
    cli, library = map(os.path.abspath, sys.argv[1:])
    compare("start.cli", [cli, "-c", ":"], ["bash", "-c", ":"], "bash -c :", 1.2)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(root, "bindings/python/libshell"), os.path.join(folder, "libshell"))
        shutil.copy(library, os.path.join(folder, "libshell"))
        empty = os.path.join(folder, "empty.so")
        subprocess.run(["cc", "-shared", "-o", empty, "-x", "c", "/dev/null"], check=True)
        env = dict(os.environ, PYTHONPATH=folder)
        subprocess.run([sys.executable, "-c", "import libshell"], check=True, env=env)
        compare("start.python", [sys.executable, "-c", "import libshell"], [sys.executable, "-c", f"import ctypes; ctypes.CDLL({empty!r})"],
                "import ctypes", 1.2, env=env)


main()
