#!/usr/bin/env python3
"""grep, sed, awk, sort, find, uniq and diff against GNU's tools, awk also against mawk, one JSON object a line. usage: text.py PATH [ROW...]

A web log of 20 MB and a source tree of 1,000 files, bound into the shell. Each row is timed inside of the script that runs it, so neither side
counts its own start (the GNU tools' processes do count), in interleaved rounds; the quietest of each side are compared. Output goes to files.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

ROUNDS = 5
ROWS = (
    ("grep.literal", "grep -c 404 log", 4), ("grep.alternatives", "grep -c -E 'Firefox|bingbot|curl' log", 1.3), ("grep.icase", "grep -c -i googlebot log", 3), ("grep.number", "grep -n '.*' log | tail -1", 1.5),
    ("grep.invert", "grep -v GET log", 1.5), ("grep.only", "grep -o '\"[A-Z]* [^\"]*\"' log", 5), ("grep.tree", "grep -rn TODO tree", 3), ("sed.replace", "sed 's/foo/bar/g' log", 2), ("sed.print", "sed -n '/xyz/p' log", 2),
    ("sed.groups", "sed -E 's/^([0-9.]+) - - \\[([^]]*)\\].*/\\2 \\1/' log", 10), ("awk.sum", "awk '{s+=$10} END{print s}' log", 2), ("awk.count", "awk '{c[$1]++} END{for(k in c)n++; print n}' log", 2),
    ("awk.loop", "awk 'BEGIN{for(i=0;i<10000000;i++)s+=i; print s}'", 2), ("sort.plain", "sort --parallel=1 words", 2), ("sort.numeric", "sort -n --parallel=1 numbers", 2), ("sort.key", "sort -k2,2 -t, --parallel=1 table", 2),
    ("sort.unique", "sort -u --parallel=1 words", 2), ("sort.top", "cut -d' ' -f1 log | sort | uniq -c | sort -rn | head", 1.5), ("find.size", "find tree -name '*.c' -size +1k", 20), ("diff.50000", "diff one two", 1),
    ("awk.sum", "awk '{s+=$10} END{print s}' log", 1, "mawk"), ("awk.count", "awk '{c[$1]++} END{for(k in c)n++; print n}' log", 1, "mawk"),
    ("awk.loop", "awk 'BEGIN{for(i=0;i<10000000;i++)s+=i; print s}'", 1, "mawk"),
)


def make(directory):
    r = random.Random(7)
    agents = ["Mozilla/5.0 (X11; Linux x86_64) Firefox/115.0", "Mozilla/5.0 (compatible; Googlebot/2.1)", "curl/7.88.1", "Mozilla/5.0 (Windows NT 10.0) Chrome/120.0"]
    with open(f"{directory}/log", "w") as f:
        for i in range(200000):
            f.write(f"10.{r.randrange(4)}.{r.randrange(256)}.{r.randrange(256)} - - [10/Oct/2023:13:{i // 3600 % 60:02}:{i % 60:02} +0000] \"{r.choice(['GET', 'GET', 'POST'])} /{r.choice(['foo', 'index', 'api/v1'])}/{r.randrange(10000)} HTTP/1.1\" "
                    f"{r.choice([200, 200, 304, 404])} {r.randrange(50000)} \"-\" \"{r.choice(agents)}\"\n")
    with open(f"{directory}/words", "w") as f:
        f.writelines("".join(r.choice("abcdefghijklmnop") for _ in range(r.randint(3, 12))) + "\n" for _ in range(300000))
    with open(f"{directory}/numbers", "w") as f:
        f.writelines(f"{r.randrange(-10**9, 10**9)}\n" for _ in range(300000))
    with open(f"{directory}/table", "w") as f:
        f.writelines(f"{r.randrange(10**6)},k{r.randrange(10**5)},x\n" for _ in range(300000))
    lines = [" ".join(f"w{r.randrange(3000)}" for _ in range(8)) for _ in range(50000)]
    for name, change in (("one", 0), ("two", 0.04)):
        with open(f"{directory}/{name}", "w") as f:
            f.writelines(line + (" changed\n" if r.random() < change else "\n") for line in lines)
    for n in range(1000):
        os.makedirs(f"{directory}/tree/d{n % 20}", exist_ok=True)
        with open(f"{directory}/tree/d{n % 20}/f{n}.c", "w") as f:
            f.write("".join(f"int v{i} = {r.randrange(9999)};{' // TODO' if i % 97 == n % 97 else ''}\n" for i in range(150)))


def microseconds(argv, command):
    """What the second run of a command takes: the first warms caches."""
    script = f"{{ {command}; }} >out; a=$EPOCHREALTIME; {{ {command}; }} >out; b=$EPOCHREALTIME; echo $(( ${{b/./}} - ${{a/./}} ))"
    return int(subprocess.run(argv + ["-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)


def main():
    shell, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as directory:
        make(directory)
        os.chdir(directory)
        os.environ["LC_ALL"] = "C"
        ours = [shell, "--bind", f"{directory}:/b", "--cwd", "/b", "--env", "LC_ALL=C", "--timeout", "600", "--limit", "steps=0", "--limit", "memory=2000000000"]
        for name, command, target, *other in ROWS:
            if only and name not in only and name.split(".")[0] not in only:
                continue
            theirs = other[0] + command[3:] if other else command # mawk for awk
            rounds = [(microseconds(ours, command), microseconds(["bash"], theirs)) for _ in range(ROUNDS)]
            mine, theirs = (min(x) for x in zip(*rounds))
            ratio = theirs / max(mine, 1)
            print(json.dumps({"name": name, "value": round(mine / 1e3, 3), "unit": "ms", "against": other[0] if other else "GNU", "ratio": round(ratio, 2), "target": target, "ok": ratio >= target}), flush=True)


main()
