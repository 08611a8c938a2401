#!/usr/bin/env python3
"""Every command of the table has cases: at least five scripts of test/cases (or test/net, for what needs a network) run it.

usage: cases.py ROOT LIBSHELL
"""
import pathlib
import re
import subprocess
import sys

LEAST = 5
STARTS = r"(?:^|[\n;|&(){}`!]|\$\(|\b(?:do|then|else|if|while|until|time|exec|command|builtin|env|xargs|nice|nohup|timeout \d\S*|-exec|sudo)\s)\s*(?:\w+=\S*\s+)*"


def scripts(root):
    for path in sorted(pathlib.Path(root, "test/cases").rglob("*.case")) + sorted(pathlib.Path(root, "test/net").rglob("*.case")):
        if "pending" in path.parts:
            continue
        script = []
        for line in path.read_text(encoding="utf-8").split("\n") + [""]:
            if line.startswith("$ ") or line == "$":
                script.append(line[2:])
            elif script:
                yield "\n".join(script)
                script = []


def main():
    root, program = sys.argv[1:]
    names = subprocess.run([program, "--list-commands"], capture_output=True, text=True, check=True).stdout.split()
    counts = dict.fromkeys(names, 0)
    word = re.compile(STARTS + r"(\.|:|\[|[A-Za-z_][\w.+-]*)(?=[\s;|&()<>`]|$)")
    listed = re.compile(r"\bfor \w+ in ([^;\n]*)")  # for t in md5sum sha1sum; do $t ...
    for script in scripts(root):
        found = set(word.findall(script))
        if re.search(r"\$\{?\w+", script):
            found.update(w for words in listed.findall(script) for w in words.split())
        for name in found:
            if name in counts:
                counts[name] += 1
    few = sorted((n, name) for name, n in counts.items() if n < LEAST)
    for n, name in few:
        print("%s: %d cases, wants %d" % (name, n, LEAST))
    print("%d commands, %d with too few cases" % (len(names), len(few)))
    sys.exit(1 if few else 0)


if __name__ == "__main__":
    main()
