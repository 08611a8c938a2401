"""Start-up of the command line: `libshell -c :` against `bash -c :`. One JSON object. (Python's import is in python.py.)"""
import json
import os
import statistics
import subprocess
import sys
import time

ROUNDS = 41
TARGET = 1.2


def timed(argv):
    start = time.perf_counter()
    subprocess.run(argv, check=True)
    return time.perf_counter() - start


def main():
    ours, theirs = [], []
    for _ in range(ROUNDS):
        theirs.append(timed(["bash", "-c", ":"]))
        ours.append(timed([os.path.abspath(sys.argv[1]), "-c", ":"]))
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    print(json.dumps({"name": "start.cli", "value": round(statistics.median(ours) * 1e3, 3), "unit": "ms", "against": "bash -c :",
                      "ratio": round(ratio, 3), "target": TARGET, "ok": ratio <= TARGET}), flush=True)


main()
