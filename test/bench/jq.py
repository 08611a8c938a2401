#!/usr/bin/env python3
"""jq against Debian's jq, one JSON object a line. usage: jq.py PATH-OF-libshell [ROW...]

A 20 MB array of objects and a 10 MB file of objects on lines, bound into the shell. Each row is timed inside of the script that runs it, so
neither side counts its own start (Debian's jq's process does count), in interleaved rounds; the quietest of each side are compared.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

ROUNDS = 3
ROWS = (
    ("jq.identity", "jq . array", 8, 1), ("jq.compact", "jq -c . array", 8, 1), ("jq.select", "jq '[.[]|select(.a>5)|.b]|length' array", 8, 1), ("jq.lines", "jq -c '{id,name}' lines", 8, 1),
    ("jq.group", "jq -c 'group_by(.k)|map({k:.[0].k,n:length})' array", 5, 1), ("jq.sort", "jq -c 'sort_by(.t)' array", 5, 1), ("jq.reduce", "jq -n 'reduce range(1000000) as $i (0; .+$i)'", 4, 1), ("jq.start", "jq -n 1", 2000, 200),
)


def record(r, i):
    return {"id": i, "name": r.choice(["Ada", "Grace", "Edsger", "Barbara"]) + f" {r.randrange(10**5)}", "a": r.randrange(11), "b": round(r.random() * 1000, 3), "k": f"k{r.randrange(500)}", "t": r.randrange(10**9), "ok": r.random() < 0.5,
            "tags": [r.choice(["red", "green", "blue", "caf\u00e9", "say \"hi\"\n"]) for _ in range(r.randrange(4))], "at": {"x": r.randrange(1000), "y": -r.random(), "note": None}}


def make(directory):
    r = random.Random(7)
    with open(f"{directory}/array", "w") as f:
        f.write("[" + ",\n".join(json.dumps(record(r, i)) for i in range(117000)) + "]\n")
    with open(f"{directory}/lines", "w") as f:
        f.writelines(json.dumps(record(r, i)) + "\n" for i in range(58000))


def microseconds(argv, command, times):
    """What the second run of a command takes, or the mean of many: the first warms caches."""
    script = f"{command} >out; a=$EPOCHREALTIME; for ((i = 0; i < {times}; i++)); do {command} >out; done; b=$EPOCHREALTIME; echo $(( ${{b/./}} - ${{a/./}} ))"
    return int(subprocess.run(argv + ["-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout) / times


def main():
    shell, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as directory:
        make(directory)
        os.chdir(directory)
        os.environ["LC_ALL"] = "C.UTF-8"
        ours = [shell, "--bind", f"{directory}:/b", "--cwd", "/b", "--env", "LC_ALL=C.UTF-8", "--timeout", "600", "--limit", "steps=0", "--limit", "memory=2000000000"]
        for name, command, target, times in ROWS:
            if only and name not in only and name.split(".")[0] not in only:
                continue
            rounds = [(microseconds(ours, command, times * (20 if times > 1 else 1)), microseconds(["bash"], command, min(times, 20))) for _ in range(ROUNDS)]
            mine, theirs = (min(x) for x in zip(*rounds))
            ratio = theirs / max(mine, 0.1)
            print(json.dumps({"name": name, "value": round(mine / 1e3, 3), "unit": "ms", "against": "jq 1.6", "ratio": round(ratio, 2), "target": target, "ok": ratio >= target}), flush=True)


main()
