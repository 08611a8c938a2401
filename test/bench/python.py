"""Python: a run, a shell's life, the import and large output against what ctypes and memcpy alone would cost. One JSON object a line."""
import ctypes
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROUNDS = 15


def per_call(function, times):
    start = time.perf_counter()
    for _ in range(times):
        function()
    return (time.perf_counter() - start) / times


def report(name, pairs, scale, unit, against, target, most=True):
    """pairs: (ours, reference), measured side by side."""
    ratio = statistics.median(a / b for a, b in pairs)
    print(json.dumps({"name": name, "value": round(statistics.median(a for a, _ in pairs) * scale, 3), "unit": unit, "against": against,
                      "ratio": round(ratio, 3), "target": target, "ok": ratio <= target if most else ratio >= target}), flush=True)


def calls(libshell, nothing):
    shell = libshell.Shell()

    def life():
        libshell.Shell().run("echo hi")
    run, whole = [], []
    for _ in range(ROUNDS):
        empty = per_call(nothing, 20000)
        run.append((per_call(lambda: shell.run("echo hi"), 3000), empty))
        whole.append((per_call(life, 2000), empty))
    report("run.python", run, 1e6, "us", "ref.ctypes", 50)
    report("life.python", whole, 1e6, "us", "ref.ctypes", 50)


def imports(folder, empty):
    def seconds(code):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {folder!r}); {code}"], check=True)
        return time.perf_counter() - start
    ours, reference = "import libshell", f"import ctypes; ctypes.CDLL({empty!r})"
    seconds(ours)
    pairs = [(seconds(ours), seconds(reference)) for _ in range(3 * ROUNDS)]
    report("import.python", pairs, 1e3, "ms", "ref.import", 1.2)


def output(libshell):
    size = 50_000_000
    shell = libshell.Shell(limits=libshell.Limits(output=0, memory=0))
    shell.write_file("/tmp/large", b"x" * size)
    data = b"y" * size

    def copy():
        ctypes.string_at(data, size)

    def ours():
        assert len(shell.run("cat /tmp/large").stdout_bytes) == size
    pairs = [(1 / per_call(ours, 1), 1 / per_call(copy, 1)) for _ in range(ROUNDS)]
    report("output.python", pairs, size / 1e9, "GB/s", "ref.memcpy", 0.2, most=False)


def wheel(library):
    with tempfile.TemporaryDirectory() as folder:
        code = f"import sys; sys.path.insert(0, {ROOT + '/bindings/python'!r}); import backend; print(backend.build_wheel({folder!r}))"
        environment = {**os.environ, "LIBSHELL_LIBRARY": library, "LIBSHELL_COMPONENTS": "none"}
        subprocess.run([sys.executable, "-B", "-c", code], check=True, stdout=subprocess.DEVNULL, env=environment)
        (built,) = glob.glob(folder + "/*.whl")
        size = os.path.getsize(built)
    print(json.dumps({"name": "wheel.python", "value": round(size / 1e6, 3), "unit": "MB", "against": None, "ratio": None, "target": 3, "ok": size < 3e6}))


def main():
    library = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(ROOT, "bindings/python/libshell"), os.path.join(folder, "libshell"))
        shutil.copy(library, os.path.join(folder, "libshell"))
        sys.path.insert(0, folder)
        import libshell
        empty = os.path.join(folder, "empty.so")
        subprocess.run(["cc", "-shared", "-o", empty, "-x", "c", "-"], input=b"void nothing(void) {}", check=True)
        nothing = ctypes.CDLL(empty).nothing
        nothing.restype, nothing.argtypes = None, []
        calls(libshell, nothing)
        imports(folder, empty)
        output(libshell)
        wheel(library)


main()
