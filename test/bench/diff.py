#!/usr/bin/env python3
"""diff and rg against GNU diff and ripgrep -j1, one JSON object a line. usage: diff.py PATH-OF-libshell

Medians of interleaved rounds of five runs each; of each side's time that of a single run is taken off, so starting and binding do not count.
"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5


def make(directory):
    r = random.Random(7)
    lines = [" ".join(f"w{r.randrange(3000)}" for _ in range(8)) for _ in range(50000)]
    second = []
    for line in lines:
        x = r.random()
        if x >= 0.02:
            second.append(line if x < 0.96 else line + " changed")
        if r.random() < 0.02:
            second.append("new " + line[::-1])
    for name, text in (("one", lines), ("two", second)):
        with open(f"{directory}/{name}", "w") as f:
            f.write("\n".join(text) + "\n")
    for n in range(1000):
        os.makedirs(f"{directory}/tree/d{n % 20}", exist_ok=True)
        with open(f"{directory}/tree/d{n % 20}/f{n}.c", "w") as f:
            f.write("".join(f"int v{i} = {r.randrange(9999)};{' // TODO' if i % 97 == n % 97 else ''}\n" for i in range(150)))


def seconds(argv):
    start = time.monotonic()
    subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    return time.monotonic() - start


def main():
    shell = sys.argv[1]
    with tempfile.TemporaryDirectory() as directory:
        make(directory)
        for name, ours, real, against in (
            ("diff.50000", "diff one two >out", "diff one two >out", "GNU diff"),
            ("rg.todo", "rg -n TODO tree >out", "rg -j1 -n TODO tree >out", "ripgrep -j1"),
        ):
            def both(count):
                loop = f"i=0; while [ $i -lt {count} ]; do %s; i=$((i+1)); done"
                return (seconds([shell, "--bind", f"{directory}:/b", "--cwd", "/b", "-c", loop % ours]), seconds(["bash", "-c", f"cd {directory}; " + loop % real]))
            rounds = [[a - b for a, b in zip(both(6), both(1))] for _ in range(ROUNDS)]
            mine, theirs = (statistics.median(x) / 5 for x in zip(*rounds))
            ratio = theirs / mine
            print(json.dumps({"name": name, "value": round(mine * 1e3, 3), "unit": "ms", "against": against, "ratio": round(ratio, 2), "target": 1.0, "ok": ratio >= 1.0}))


main()
