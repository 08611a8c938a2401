"""Python: run("echo hi") on a warm shell against an empty ctypes call. One JSON object a line."""
import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def per_call(function, times):
    start = time.perf_counter()
    for _ in range(times):
        function()
    return (time.perf_counter() - start) / times


def main():
    library = os.path.abspath(sys.argv[1])
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(root, "bindings/python/libshell"), os.path.join(folder, "libshell"))
        shutil.copy(library, os.path.join(folder, "libshell"))
        sys.path.insert(0, folder)
        import libshell
        empty = os.path.join(folder, "empty.so")
        subprocess.run(["cc", "-shared", "-o", empty, "-x", "c", "-"], input=b"void nothing(void) {}", check=True)
        nothing = ctypes.CDLL(empty).nothing
        nothing.restype, nothing.argtypes = None, []
        shell = libshell.Shell()
        ours, ratios = [], []
        for _ in range(15):
            ref = per_call(nothing, 20000)
            t = per_call(lambda: shell.run("echo hi"), 5000)
            ours.append(t)
            ratios.append(t / ref)
        ratio = statistics.median(ratios)
        print(json.dumps({"name": "run.python", "value": statistics.median(ours) * 1e6, "unit": "us", "against": "ref.ctypes", "ratio": round(ratio, 1),
                          "target": 50, "ok": ratio <= 50}))


main()
